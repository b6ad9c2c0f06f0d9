# SPDX-License-Identifier: MIT
"""What `take` and `elements` compute, with NumPy as the oracle."""

import numpy as np
import pytest
from command import elements, take

RNG = np.random.default_rng(7)
DTYPES = ["?", "i1", "<i2", ">i4", "<i8", "u1", ">u2", "<u4", "<u8", "<f2", ">f4", "<f8", "<c8", ">c16"]
DTYPES += ["S5", "<U3", ">U2", "V7", "<M8[ns]", ">m8[s]", [("a", "<i4"), ("b", ">f8"), ("c", "S3")]]


def some(dtype, *shape) -> np.ndarray:
    """Random bytes as elements: a gather moves bytes."""
    dtype = np.dtype(dtype)
    raw = RNG.integers(0, 2 if dtype == bool else 128, (*shape, dtype.itemsize), np.uint8)
    if dtype.kind == "U":
        return RNG.integers(32, 0x3FF, (*shape, dtype.itemsize // 4)).astype(dtype.byteorder + "u4").view(dtype)[..., 0]
    return np.ascontiguousarray(raw).view(dtype)[..., 0]


def same(a: np.ndarray, b: np.ndarray) -> None:
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_take_keeps_every_dtype(gather, dtype):
    data = some(dtype, 4, 3)
    gather.save("x.npy", data)
    answer = gather.json("take", "x.npy", "[[0, -1], [2, 2]]", "-o", "o.npy")
    out = gather.load("o.npy")
    same(out, data[[[0, -1], [2, 2]]])
    assert np.lib.format.dtype_to_descr(out.dtype) == np.lib.format.dtype_to_descr(data.dtype)
    assert answer["bytes"] == out.nbytes and answer["shape"] == [2, 2, 3]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_keeps_every_dtype(gather, dtype):
    data = some(dtype, 4, 3)
    gather.save("x.npy", data)
    indices = np.array([[0, -1, 3], [2, 2, -4]])
    gather.save("i.npy", indices)
    same(gather.result("elements", "x.npy", "i.npy"), elements(data, indices))


@pytest.mark.parametrize("axis", range(-3, 3))
@pytest.mark.parametrize("fortran", [False, True])
def test_take_axis(gather, axis, fortran):
    data = RNG.integers(0, 99, (3, 4, 5)).astype(np.int16)
    gather.save("x.npy", np.asfortranarray(data) if fortran else data)
    assert gather("take", "x.npy", "[[2, 0], [-1, 1]]", "-o", "o.npy", "--axis", axis).code == 0
    same(gather.load("o.npy"), np.take(data, [[2, 0], [-1, 1]], axis))
    assert not np.isfortran(gather.load("o.npy"))


@pytest.mark.parametrize("axis", range(-3, 3))
def test_elements_axis(gather, axis):
    data = RNG.integers(0, 99, (3, 4, 5)).astype(np.int16)
    gather.save("x.npy", np.asfortranarray(data))
    indices = RNG.integers(-3, 3, (3, 4, 5))
    gather.save("i.npy", np.asfortranarray(indices))
    same(gather.result("elements", "x.npy", "i.npy", f"--axis={axis}"), np.take_along_axis(data, indices, axis))


@pytest.mark.parametrize("batch", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("rules", ["openvino-7", "openvino-8"])
def test_batch_dims(gather, batch, rules):
    data = RNG.integers(0, 99, (2, 3, 4, 2)).astype(np.int32)
    indices = RNG.integers(0, 4, (2, 3, 2))
    gather.save("x.npy", data)
    gather.save("i.npy", indices)
    answer = gather.json("take", "x.npy", "i.npy", "-o", "o.npy", "--axis", 2, "--batch-dims", batch, "--rules", rules)
    same(gather.load("o.npy"), take(data, indices, 2, batch % 3))
    assert answer["rules"] == rules


@pytest.mark.parametrize("command", ["take", "elements"])
@pytest.mark.parametrize("negative", ["on", "off"])
@pytest.mark.parametrize("policy", ["clamp", "wrap", "zero", "fill=-7"])
@pytest.mark.parametrize("dtype", ["i1", ">i2", "<i4", ">i8"])
def test_policies(gather, command, negative, policy, dtype):
    data = RNG.integers(0, 99, (5, 3)).astype(dtype)
    indices = np.array([[0, 4, -1], [-5, 5, -6], [2, 99, -100]], dtype)
    gather.save("x.npy", data)
    gather.save("i.npy", indices)
    answer = gather.json(command, "x.npy", "i.npy", "-o", "o.npy", "--on-bad", policy, "--negative", negative)
    name, _, fill = policy.partition("=")
    oracle = take if command == "take" else elements
    same(gather.load("o.npy"), oracle(data, indices, negative=negative == "on", policy=name, fill=int(fill or 0)))
    assert answer["indices"] == {"count": 9, "bad": 4 if negative == "on" else 6}


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u4", "<u8"])
def test_unsigned_indices(gather, table, dtype):
    data = gather.load(table)
    indices = np.array([0, 2, np.iinfo(dtype).max], dtype)
    gather.save("i.npy", indices)
    same(gather.result("take", table, "i.npy", "--on-bad", "clamp"), data[[0, 2, 2]])
    error = gather.fails("index_out_of_range", "take", table, "i.npy", "-o", "p.npy")
    assert error["value"] == np.iinfo(dtype).max


DEFAULTS = {
    ("take", "onnx-1"): (False, "error"),
    ("take", "onnx-11"): (True, "error"),
    ("take", "onnx-13"): (True, "error"),
    ("take", "openvino-1"): (False, "error"),
    ("take", "openvino-7"): (False, "error"),
    ("take", "openvino-8"): (True, "zero"),
    ("elements", "onnx-11"): (True, "error"),
    ("elements", "onnx-13"): (True, "error"),
    ("elements", "openvino-6"): (True, "error"),
    ("nd", "onnx-11"): (True, "error"),
    ("nd", "onnx-12"): (True, "error"),
    ("nd", "onnx-13"): (True, "error"),
    ("nd", "microsoft-1"): (True, "error"),
    ("nd", "openvino-5"): (False, "error"),
    ("nd", "openvino-8"): (True, "error"),
}


@pytest.mark.parametrize(("command", "rules"), DEFAULTS)
def test_what_the_rules_say_by_default(gather, table, command, rules):
    negative, on_bad = DEFAULTS[command, rules]
    data = gather.load(table)
    for name, index in (("negative", -1), ("bad", 3)):
        indices = np.array([[index, 0, 0, 0]] * 3)[..., None] if command == "nd" else np.array([[index, 0, 0, 0]] * 3)
        gather.save("i.npy", indices)
        words = (command, table, "i.npy", "-o", f"{name}.npy", "--rules", rules)
        if on_bad == "error" and (name == "bad" or not negative):
            error = gather.fails("index_out_of_range", *words)
            assert [error["low"], error["high"], error["value"]] == [-3 if negative else 0, 2, index]
            assert error["rules"] == rules and error["bad_count"] == 3
            assert f"{name}.npy" not in gather.names()
        else:
            assert gather(*words).code == 0
            oracle = elements if command == "elements" else take
            indices = indices[..., 0] if command == "nd" else indices
            same(gather.load(f"{name}.npy"), oracle(data, indices, policy="zero"))


def test_promise_touches_no_memory_outside(gather, table):
    limits = np.iinfo(np.int64)
    gather.save("i.npy", np.array([limits.min, limits.max, -4, 3, 1 << 40]))
    answer = gather("take", table, "i.npy", "-o", "o.npy", "--on-bad", "promise")
    assert answer.code == 0
    assert set(gather.load("o.npy").ravel()) <= set(range(12))


@pytest.mark.parametrize("policy", ["clamp", "wrap", "error"])
def test_an_empty_axis_cannot_be_repaired(gather, policy):
    gather.save("x.npy", np.zeros((0, 2)))
    error = gather.fails("index_out_of_range", "take", "x.npy", "[0]", "-o", "o.npy", "--on-bad", policy)
    assert error["bad_count"] == 1
    assert gather.result("take", "x.npy", "[]", "--on-bad", policy).shape == (0, 2)
    assert gather.result("take", "x.npy", "[0]", "--on-bad", "fill=3").tolist() == [[3, 3]]


def test_an_output_without_elements(gather):
    gather.save("x.npy", np.zeros((3, 0)))
    assert gather.result("take", "x.npy", "[2]").shape == (1, 0)


def test_fewer_columns_than_the_data(gather, table):
    gather.save("i.npy", np.zeros((3, 2), np.int64))
    assert gather.result("elements", table, "i.npy").shape == (3, 2)


def test_rank_64(gather):
    data = np.arange(4).reshape((2,) + (1,) * 62 + (2,))
    gather.save("x.npy", data)
    assert gather.json("take", "x.npy", "[1]", "-o", "o.npy", "--axis", -1)["shape"] == [2] + [1] * 63
    assert gather.load("o.npy").ravel().tolist() == [1, 3]
    gather.fails("unsupported", "take", "x.npy", "[[1]]", "-o", "p.npy")
    literal = "[" * 64 + "1" + "]" * 64
    gather.save("v.npy", np.arange(3))
    assert gather.json("take", "v.npy", literal, "-o", "w.npy")["shape"] == [1] * 64


@pytest.mark.parametrize("threads", [1, 2, 3, 1024])
def test_the_answer_is_the_same_with_any_threads(gather, threads):
    data = RNG.integers(0, 255, (5000, 300), np.uint8)
    gather.save("x.npy", data)
    indices = RNG.integers(-5000, 5000, 9000)
    gather.save("i.npy", indices)
    same(gather.result("take", "x.npy", "i.npy", "--threads", threads), data[indices])


def test_sizes_that_do_not_fit(gather):
    gather.save("x.npy", np.zeros((1 << 32, 0), np.uint8))
    gather.write("raw.bin", b"")
    words = ("--indices-type", "uint8", "--indices-shape", f"0x{1 << 62}", "-o", "o.npy")
    assert gather("take", "x.npy", "raw.bin", *words).code in (0, 1)
