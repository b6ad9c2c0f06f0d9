# SPDX-License-Identifier: MIT
"""libgather.gather_tree beside a loop from the document, OpenVINO's own cases, and OpenVINO where it is right."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import libgather
import numpy as np
import pytest
from libgather import GatherIndexError, GatherTypeError, GatherValueError

from support.beams import OPENVINO_CASES, draw, sequences
from support.refusal import refuses
from support.skip import skip_test

DTYPES = [np.int32, np.int64, np.float32, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64, np.float16]
MODES = {"raise": "error", "clip": "clamp", "wrap": "wrap", "zero": "zero", "fill": "fill", "promise": "clamp"}


def strided(rng, array):
    """The same numbers in another layout."""
    kind = rng.integers(4)
    if kind == 0:
        return array
    if kind == 1:
        return np.asfortranarray(array)
    if kind == 2:
        return array[::-1].copy()[::-1]
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
    wide[..., 1::2] = array
    return wide[..., 1::2]


@pytest.mark.parametrize("block", range(10))
def test_random_cases(block):
    """22,000 cases: every dtype, layout, byte order and policy; errors with their position, value and count."""
    rng = np.random.default_rng(1800 + block)
    failed = repaired = 0
    for number in range(2200):
        dtype = DTYPES[number % len(DTYPES)]
        mode = list(MODES)[int(rng.integers(len(MODES)))] if number % 2 else "raise"
        negative = bool(np.dtype(dtype).kind != "u" and rng.integers(3) == 0)
        steps, parents, lengths, end = draw(rng, dtype, faults=float(rng.choice([0, 0, 0.05, 0.4])))
        fill = 5 if mode == "fill" else 0
        want, bad = sequences(steps, parents, lengths, end, MODES[mode], negative, dtype(fill))
        if rng.integers(3) == 0 and np.dtype(dtype).itemsize > 1:
            parents, lengths = (a.astype(a.dtype.newbyteorder()) for a in (parents, lengths))
        options = {"mode": mode, "negative": negative, "fill_value": fill if mode == "fill" else None, "threads": 1 + number % 3}
        out = np.full_like(steps, 77) if number % 5 == 0 else None
        call = (strided(rng, steps), strided(rng, parents), lengths, end)
        if mode == "raise" and bad:
            failed += 1
            with pytest.raises(GatherIndexError) as caught:
                libgather.gather_tree(*call, out=out, **options)
            error, first, width = caught.value, min(bad), steps.shape[2]
            assert error.position == first and error.value == parents[first] and error.bad_count == len(bad)
            assert (error.low, error.high, error.axis, error.input) == (-width if negative else 0, width - 1, 2, "parent_ids")
            assert out is None or (out == 77).all()
            continue
        repaired += bool(bad)
        got = libgather.gather_tree(*call, out=out, **options)
        assert out is None or got is out
        assert got.dtype == steps.dtype and got.tobytes() == want.tobytes(), (dtype, mode, steps, parents, lengths, end)
    assert failed > 150 and repaired > 150


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("case", OPENVINO_CASES, ids=lambda case: case[0])
def test_openvinos_own_cases(case, dtype):
    _, shape, ids, lengths, end, want = case
    ids = np.array(ids, dtype).reshape(shape)
    got = libgather.gather_tree(ids, ids, np.array(lengths, dtype), dtype(end))
    assert got.tolist() == np.array(want).reshape(shape).tolist()


def openvino_tree(steps, parents, lengths, end):
    import openvino
    from openvino import opset1

    inputs = [opset1.parameter(a.shape, a.dtype) for a in (steps, parents, lengths, end)]
    model = openvino.Model([opset1.gather_tree(*inputs)], inputs, "m")
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 2, "INFERENCE_PRECISION_HINT": "f32"})
    return lambda *values: compiled(values)[0]


def test_beside_openvino():
    """In a process of its own: OpenVINO 2026.4.1 leaves the main thread a signal stack in memory that it has freed, so that the next
    signal ends the process."""
    if importlib.util.find_spec("openvino") is None:
        skip_test("openvino", "it is not installed")
    if os.environ.get("GATHER_SANITIZE"):
        skip_test("sanitizer", "the other package does not run in a process that gcc's sanitizer was loaded into")
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    code = "import test_gather_tree; print(test_gather_tree.compare_with_openvino())"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "240\n"), done.stderr


def compare_with_openvino() -> int:
    """How many calls agree. Parents in range, and lengths from 1: where none counts, OpenVINO leaves its output unwritten."""
    calls = 0
    rng = np.random.default_rng(4)
    for dtype in (np.int32, np.float32):
        for shape in ((1, 1, 1), (5, 3, 4), (9, 2, 17)):
            first = draw(rng, dtype, time=shape[0], batch=shape[1], width=shape[2])
            run = openvino_tree(*(np.asarray(a) for a in first))
            for _ in range(40):
                steps, parents, lengths, end = draw(rng, dtype, time=shape[0], batch=shape[1], width=shape[2])
                lengths = np.maximum(lengths, 1).astype(dtype)
                parents[0] = 99  # nobody follows these
                theirs = run(steps, parents, lengths, np.asarray(end))
                np.testing.assert_array_equal(libgather.gather_tree(steps, parents, lengths, end), theirs)
                calls += 1
    return calls


def test_large_and_many_threads():
    rng = np.random.default_rng(5)
    steps, parents, lengths, end = draw(rng, np.int32, time=40, batch=9, width=300)
    want, _ = sequences(steps, parents, lengths, end)
    for threads in (1, 2, 5):
        np.testing.assert_array_equal(libgather.gather_tree(steps, parents, lengths, end, threads=threads), want)


def test_numbers_and_lists_get_the_dtype_of_step_ids():
    steps = np.array([[[1, 2]], [[3, 4]]], np.int16)
    assert libgather.gather_tree(steps, [[[0, 0]], [[1, 0]]], [2], 9).tolist() == [[[2, 1]], [[3, 4]]]
    assert libgather.gather_tree([[[1, 2]]], [[[0, 0]]], (1,), np.int8(9)).dtype == np.int64
    refuses(GatherTypeError, libgather.gather_tree, steps, steps, [2], 70000, says="end_token 70000 does not fit int16")
    refuses(GatherTypeError, libgather.gather_tree, steps, steps, [2], 1.5, says="end_token 1.5 does not fit int16")
    refuses(GatherTypeError, libgather.gather_tree, steps, steps, np.array([2]), 9, says="max_seq_len is int64, step_ids is int16")
    assert np.isnan(libgather.gather_tree(np.ones((2, 1, 1), np.float32), np.zeros((2, 1, 1), np.float32), [1], float("nan")))[1, 0, 0]


def test_zeros_and_numbers_that_are_not_integers():
    steps, parents = np.array([1, -0.0, 3], np.float32).reshape(3, 1, 1), np.zeros((3, 1, 1), np.float32)
    got = libgather.gather_tree(steps, parents, [3], 0)
    assert got.ravel().tolist() == [1, 0, 0] and np.signbit(got.ravel()).tolist() == [False, True, False]
    parents[2] = 0.5
    with pytest.raises(GatherIndexError, match=r"parent_ids\[2, 0, 0\] = 0.5 is outside \[0, 0\] of axis 2"):
        libgather.gather_tree(steps, parents, [3], 0)
    refuses(GatherIndexError, libgather.gather_tree, steps, parents * 0, [2.5], 0, says=r"max_seq_len\[0\] = 2.5 is not an integer")


def test_what_does_not_fit():
    steps = np.zeros((2, 3, 4), np.int32)
    refuses(GatherValueError, libgather.gather_tree, steps, steps[:, :2], [1, 1, 1], 0, says="parent_ids has the shape")
    refuses(GatherValueError, libgather.gather_tree, steps, steps, [1, 1], 0, says="max_seq_len has 2 lengths, step_ids has 3 batches")
    refuses(GatherValueError, libgather.gather_tree, steps, steps, [1, 1, 1], [0], says="end_token has rank 1; its rank must be 0")
    refuses(GatherValueError, libgather.gather_tree, steps[0], steps, [1, 1, 1], 0, says="step_ids has rank 2")
    refuses(GatherTypeError, libgather.gather_tree, steps.astype(complex), steps, np.ones(3), np.zeros(()), says="integers or floats")
    refuses(GatherTypeError, libgather.gather_tree, np.ma.masked_array(steps), steps, [1, 1, 1], 0)
    refuses(ValueError, libgather.gather_tree, steps, steps, [1, 1, 1], 0, mode="fill", says="mode='fill' needs fill_value")
    refuses(ValueError, libgather.gather_tree, steps, steps, [1, 1, 1], 0, out=steps, says="overlaps")
    refuses(TypeError, libgather.gather_tree, steps, steps, [1, 1, 1])
    assert libgather.gather_tree(steps[:0], steps[:0], [1, 1, 1], 0).shape == (0, 3, 4)


def test_torch():
    if importlib.util.find_spec("torch") is None:
        skip_test("torch", "it is not installed")
    import torch

    steps = torch.tensor([[[1, 2]], [[3, 4]]], dtype=torch.int32)
    got = libgather.gather_tree(steps, torch.tensor([[[0, 0]], [[1, 0]]], dtype=torch.int32), [2], 9)
    assert isinstance(got, torch.Tensor) and got.tolist() == [[[2, 1]], [[3, 4]]]
