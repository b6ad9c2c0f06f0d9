# SPDX-License-Identifier: MIT
#
# test_large.py: gathers large enough for blocks, wide loops and several threads, against NumPy; among them bad indices wherever
# a block may begin or end, in every index type.
"""Large gathers."""
import ctypes as c

import numpy as np
import pytest

import elements
import libgather_ctypes as g
import numpy_call

INDEX_TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.fixture(scope="module")
def pool():
    handle = c.c_void_p()
    assert g.lib.gather_pool_create(2, handle, None) == g.OK
    yield g.lib.gather_pool_executor(handle)
    g.lib.gather_pool_destroy(handle)


def random_indices(rng, dtype: str, n: int, shape) -> np.ndarray:
    """Valid indices, negative ones too where the type has them."""
    low = -n if np.dtype(dtype).kind == "i" else 0
    bounds = np.iinfo(dtype)
    return rng.integers(max(low, bounds.min), min(n - 1, bounds.max) + 1, size=shape).astype(dtype)


@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "pool"])
@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 12, 16, 17, 32, 33, 64, 100, 256, 1031])
def test_rows_of_bytes(dtype, width, parallel, pool):
    rng = np.random.default_rng(width)
    data = rng.integers(0, 256, size=(117, width), dtype=np.uint8)
    indices = random_indices(rng, dtype, 117, 1 + 300_000 // width)
    got = numpy_call.apply("Gather", "onnx-13", data, indices, executor=pool if parallel else None)
    assert (got == np.take(data, indices.astype(np.int64), axis=0)).all()


@pytest.mark.parametrize("item", ["u1", "u2", "u4", "u8", "c16", "V3", "V24"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_elements(item, axis, pool):
    rng = np.random.default_rng(axis)
    shape = (61, 43, 37)
    raw = rng.integers(0, 256, size=(*shape, np.dtype(item).itemsize), dtype=np.uint8)
    data = raw.view(item).reshape(shape)
    for dtype in INDEX_TYPES:
        indices = random_indices(rng, dtype, shape[axis], shape)
        positions = np.arange(data.size).reshape(shape)
        picked = np.take_along_axis(positions, indices.astype(np.int64) % shape[axis], axis=axis)
        want = raw.reshape(-1, raw.shape[-1])[picked.ravel()].tobytes()
        for executor in (None, pool):
            got = numpy_call.apply("GatherElements", "onnx-13", data, indices, axis=axis, executor=executor)
            assert got.tobytes() == want, dtype


@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "pool"])
@pytest.mark.parametrize("dtype", INDEX_TYPES)
def test_one_bad_index_anywhere(dtype, parallel, pool):
    """The first bad one is found wherever it is, and all are counted."""
    rng = np.random.default_rng(5)
    n, count = 100, 70_001
    data = np.arange(n, dtype=np.float32)
    good = rng.integers(0, n, size=count).astype(dtype)
    places = [0, 1, 15, 16, 31, 32, 63, 64, 65, 1023, 1024, 4095, 4096, 16383, 16384, 65535, 65536, 69_999, 70_000]
    for place in places + list(rng.integers(0, count, size=10)):
        indices = good.copy()
        others = place + 1 + rng.integers(0, max(1, count - place - 1), size=3)
        others = {int(o) for o in others if o < count}
        indices[[place, *others]] = n + 1
        with pytest.raises(numpy_call.GatherError) as caught:
            numpy_call.apply("Gather", "onnx-13", data, indices, executor=pool if parallel else None)
        error = caught.value.error
        assert (error.position[0], error.value, error.bad_count) == (place, n + 1, 1 + len(others))


def test_fill_and_wrap_at_length():
    rng = np.random.default_rng(11)
    data = rng.standard_normal((50, 9)).astype(np.float32)
    indices = rng.integers(-500, 500, size=20_000)
    bad, fill = c.c_int64(), c.c_float(7.5)
    outside = (indices < -50) | (indices > 49)
    got = numpy_call.apply("Gather", "onnx-13", data, indices, on_bad=g.BAD_WRAP, bad_count=c.pointer(bad))
    assert (got == data[indices % 50]).all() and bad.value == outside.sum()
    got = numpy_call.apply("Gather", "onnx-13", data, indices, on_bad=g.BAD_FILL, fill=c.addressof(fill), bad_count=c.pointer(bad))
    assert (got == np.where(outside[:, None], 7.5, data[indices % 50])).all() and bad.value == outside.sum()


@pytest.mark.parametrize("width", [4, 8, 16, 24, 40])
@pytest.mark.parametrize("name", ["int4", "uint2", "uint1", "uint3", "uint6", "nf4"])
def test_packed_rows_of_whole_bytes(name, width, pool):
    """Rows that end on a group move as bytes: filled ones too, from a table whose rows are padded or not."""
    info, fill = numpy_call.BY_NAME[name], c.c_uint8(2 if name == "uint2" else 1)
    rng = np.random.default_rng(width)
    indices = rng.integers(-9, 15, size=200, dtype=np.int8)
    rows = np.where(indices < 0, indices.astype(int) + 7, indices)
    for pitch in (width, width + 1, width + 8):
        memory = rng.integers(0, 256, size=elements.bytes_for(info, 0, 7 * pitch), dtype=np.uint8)
        out = np.full(elements.bytes_for(info, 0, 200 * width), 0xEE, dtype=np.uint8)
        data = g.tensor(info.type, (7, width), memory.ctypes.data, (pitch, 1))
        target = g.tensor(info.type, (200, width), out.ctypes.data)
        options = g.options(on_bad=g.BAD_FILL, fill=c.addressof(fill), executor=pool)
        row = numpy_call.find("Gather", "onnx-13")
        assert g.lib.gather_apply(row, data, numpy_call.describe(indices), target, options, None) == g.OK
        want = np.zeros_like(out)
        for i, j in enumerate(rows):
            for k in range(width):
                good = 0 <= j < 7
                value = elements.get(info, memory, 0, j * pitch + k) if good else fill.value
                elements.put(info, want, 0, i * width + k, value)
        assert (out == want).all()


@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "pool"])
@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("lens", [(29,), (29, 31), (7, 11, 13), (3, 5, 7, 9)], ids=str)
def test_tuples(dtype, lens, parallel, pool):
    """Slices of every length by tuples of one to four numbers."""
    rng = np.random.default_rng(len(lens))
    for width in (1, 3, 4, 8, 16, 33, 100):
        data = rng.integers(0, 256, size=(*lens, width), dtype=np.uint8)
        indices = np.stack([random_indices(rng, dtype, n, 1 + 100_000 // width) for n in lens], axis=-1)
        got = numpy_call.apply("GatherND", "onnx-13", data, indices, executor=pool if parallel else None)
        assert (got == data[tuple(indices.astype(np.int64)[:, c] for c in range(len(lens)))]).all(), width


@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "pool"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16"])
def test_one_bad_component_anywhere(dtype, parallel, pool):
    """The first bad number is found in whatever tuple and component it is, and all are counted; fresh outputs too."""
    rng = np.random.default_rng(6)
    lens, count = (100, 90, 80), 30_001
    data = np.zeros(lens, np.uint8)
    good = np.stack([rng.integers(0, n, size=count) for n in lens], axis=-1).astype(dtype)
    for place in (0, 1, 63, 64, 255, 256, 341, 1023, 1024, 4095, 4096, 10_922, 16_384, 30_000):
        for component in range(3):
            indices = good.copy()
            indices[place, component:] = 100
            later = [place + 1 + int(n) for n in rng.integers(0, count, size=3) if place + 1 + n < count]
            indices[later, 0] = 101
            for fresh in (False, True):
                with pytest.raises(numpy_call.GatherError) as caught:
                    executor = pool if parallel else None
                    numpy_call.apply("GatherND", "onnx-13", data, indices, executor=executor, fresh_output=fresh)
                error = caught.value.error
                assert tuple(error.position[: error.position_rank]) == (place, component)
                assert (error.axis, error.value) == (component, 100)
                assert (error.low, error.high) == (-lens[component], lens[component] - 1)
                assert error.bad_count == 3 - component + len(set(later))


@pytest.mark.parametrize("batch", [1, 2])
def test_tuples_in_batches(batch, pool):
    rng = np.random.default_rng(batch)
    data = rng.integers(0, 1 << 40, size=(40, 30, 20, 10))
    lens = data.shape[batch : batch + 2]
    indices = np.stack([rng.integers(-n, n, size=(*data.shape[:batch], 50)) for n in lens], axis=-1)
    grid = np.ogrid[tuple(slice(n) for n in data.shape[:batch])] if batch > 1 else [np.arange(data.shape[0])]
    where = tuple(np.expand_dims(of, -1) for of in grid) + (indices[..., 0], indices[..., 1])
    for rules in ("onnx-13", "openvino-8", "openvino-5"):
        settings = {"negative": g.NEGATIVE_ON, "batch_dims": batch, "executor": pool}
        got = numpy_call.apply("GatherND", rules, data, indices, **settings)
        want = data[where]
        assert (got == (want.reshape(-1, *want.shape[batch:]) if rules == "openvino-5" else want)).all()
        assert got.ndim == want.ndim - (batch - 1) * (rules == "openvino-5")
