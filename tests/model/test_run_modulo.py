# SPDX-License-Identifier: MIT
"""gather run computes Mod of integers before a gather: by NumPy's remainders, and beside ONNX Runtime and OpenVINO."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from onnx import helper

import run_models as models
from support.command import inputs
from support.onnx_models import session
from support.skip import skip_test
from test_run_onnx import run

RANDOM = np.random.default_rng(18)
TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SHAPES = (((3, 4), ()), ((), ()), ((3, 4), (4,)), ((4,), (2, 3, 4)), ((2, 3, 4), (3, 1)), ((1, 1), (5,)), ((0, 3), (1,)))


def model(folder, dtype: str, a: tuple, b: tuple, fmod=0):
    """remainders = a mod b."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    node = helper.make_node("Mod", ["a", "b"], ["remainders"], "mod", **({"fmod": fmod} if fmod is not None else {}))
    return models.save(folder, [node], {"a": (kind, a), "b": (kind, b)}, {"remainders": kind}, [], 13)


def numbers(dtype: str, shape: tuple, zero: bool) -> np.ndarray:
    """Of the whole range and near 0, and the least and the largest ones."""
    info = np.iinfo(dtype)
    drawn = RANDOM.integers(info.min, info.max, shape, dtype, endpoint=True)
    small = RANDOM.integers(max(info.min, -4), 5, shape, dtype)
    ends = RANDOM.choice(np.array([info.min, info.max], dtype), shape)
    mixed = np.asarray(np.choose(RANDOM.integers(0, 4, shape), [drawn, small, small, ends])).astype(dtype)
    return mixed if zero else np.where(mixed == 0, np.array(1, dtype), mixed)


def answer(path, a: np.ndarray, b: np.ndarray, folder):
    return run(path, *inputs(folder, a=a, b=b), "--output", f"remainders={folder}/r.npy", "-f")


def cases():
    for dtype in TYPES:
        for a, b in SHAPES:
            for fmod in (0, 1):
                yield dtype, a, b, fmod


@pytest.mark.parametrize("dtype", TYPES)
def test_remainders(dtype, tmp_path):
    for kind, a, b, fmod in cases():
        if kind != dtype:
            continue
        path, dividends, divisors = model(tmp_path, dtype, a, b, fmod), numbers(dtype, a, True), numbers(dtype, b, False)
        code, said = answer(path, dividends, divisors, tmp_path)
        assert code == 0, said
        with np.errstate(all="ignore"):  # the least number by -1
            want = (np.fmod if fmod else np.mod)(dividends, divisors)
        got = np.load(tmp_path / "r.npy")
        assert got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want), (a, b, fmod)


def test_beside_onnxruntime(tmp_path):
    for dtype, a, b, fmod in list(cases())[::5]:
        path, dividends, divisors = model(tmp_path, dtype, a, b, fmod), numbers(dtype, a, True), numbers(dtype, b, False)
        if np.iinfo(dtype).min:  # it divides the least number by -1 as C does, which is undefined
            dividends = np.where(dividends == np.iinfo(dtype).min, np.array(7, dtype), dividends)
        theirs = session(path).run(None, {"a": dividends, "b": divisors})[0]
        code, said = answer(path, dividends, divisors, tmp_path)
        assert code == 0 and np.load(tmp_path / "r.npy").tobytes() == theirs.tobytes(), (dtype, a, b, fmod, said)


def test_beside_openvino(tmp_path):
    """Its Mod has the sign of the dividend."""
    if importlib.util.find_spec("openvino") is None:
        skip_test("openvino", "the package is not installed")
    import openvino as ov
    from openvino import opset8

    for dtype in ("int32", "int64"):
        a, b = RANDOM.integers(-50, 50, (40, 3)).astype(dtype), RANDOM.choice(np.array([-7, -1, 1, 2, 5], dtype), 3)
        left, right = (opset8.parameter(array.shape, array.dtype, name) for array, name in ((a, "a"), (b, "b")))
        left.output(0).set_names({"a"}), right.output(0).set_names({"b"})
        node = opset8.mod(left, right)
        node.output(0).set_names({"remainders"})
        made = ov.Model([node], [left, right])
        ov.save_model(made, tmp_path / "m.xml", compress_to_fp16=False)
        code, said = answer(tmp_path / "m.xml", a, b, tmp_path)
        theirs = ov.compile_model(made, "CPU")([a, b])[0]
        assert code == 0 and np.array_equal(np.load(tmp_path / "r.npy"), theirs) and np.array_equal(theirs, np.fmod(a, b)), said


def test_the_index_of_take_along_dim(tmp_path):
    """What PyTorch's exporter writes: an index modulo the length, then GatherElements."""
    nodes = [helper.make_node("Mod", ["i", "n"], ["m"]), helper.make_node("GatherElements", ["x", "m"], ["y"], axis=1)]
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    given, length = {"x": ("FLOAT", [3, 4]), "i": ("INT64", [3, 2])}, models.tensor_of("n", "INT64", np.array(4))
    path = models.save(tmp_path, nodes, given, {"y": "FLOAT"}, [length], 18)
    code, said = run(path, *inputs(tmp_path, x=x), "--input", "i=[[-1, 0], [2, -4], [3, 1]]", "--output", f"y={tmp_path}/y.npy")
    assert code == 0 and np.load(tmp_path / "y.npy").tolist() == [[3, 0], [6, 4], [11, 9]], said


REFUSED = [
    ("int64", (2,), (2,), 0, [[1, 2], [3, 0]], "unsupported", "node 'mod': element 1 is divided by 0"),
    ("float32", (2,), (2,), 1, [[1, 2], [3, 1]], "unsupported", "node 'mod': Mod of float32 is not supported; only of integers"),
    ("int64", (2, 1), (1, 3), 0, [[[1], [2]], [[1, 2, 3]]], "unsupported", "node 'mod': it repeats elements of both inputs"),
    ("int64", (2,), (3,), 0, [[1, 2], [1, 2, 3]], "shape_mismatch", "node 'mod': lengths 2 and 3 of its inputs differ"),
]


@pytest.mark.parametrize("dtype, a, b, fmod, values, status, message", REFUSED)
def test_refused(dtype, a, b, fmod, values, status, message, tmp_path):
    left, right = (np.array(value, dtype) for value in values)
    code, said = answer(model(tmp_path, dtype, a, b, fmod), left, right, tmp_path)
    assert code != 0 and (said["error"]["status"], said["error"]["message"]) == (status, message)
    assert not (tmp_path / "r.npy").exists()
