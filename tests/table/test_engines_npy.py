# SPDX-License-Identifier: MIT
"""Tables in .npy files: every dtype, version, byte order and shape gives what NumPy gives; parts; what is no table."""

from __future__ import annotations

import numpy as np
import pytest
from support.dtypes import ALL, identify, random_array
from files import needs, noise, rows_of
from support.skip import skip_test
from tables import Setting, Table, TableError, engines, evict


def bytes_of_rows(array: np.ndarray) -> np.ndarray:
    """The rows' bytes, those between fields too."""
    size = array.nbytes // array.shape[0] if array.shape[0] else int(np.prod(array.shape[1:])) * array.itemsize
    return np.frombuffer(
        array.tobytes() if not array.dtype.names else array.view(f"V{array.itemsize}").tobytes(), np.uint8
    ).reshape(array.shape[0], size)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.itemsize], ids=identify)
def test_every_dtype(dtype, tmp_path):
    for shape in [(9,), (7, 3), (5, 2, 4), (0, 3), (4, 0)]:
        array = random_array(dtype, shape)
        np.save(tmp_path / "t.npy", array)
        ids = np.random.default_rng(1).integers(-shape[0], shape[0], 20) if shape[0] else np.arange(0)
        for engine in engines():
            with Table(tmp_path / "t.npy", Setting(engine)) as table:
                assert table.shape == shape
                assert np.array_equal(table.take(ids)[0], bytes_of_rows(array)[ids]), f"{engine} {shape}"


@pytest.mark.parametrize("engine", engines())
def test_every_length_of_a_row(engine, tmp_path):
    """Also where the file is in memory: short rows are copied in ways of their own."""
    chance = np.random.default_rng(7)
    for size in [*range(1, 20), 24, 31, 32, 33, 48, 63, 64, 65, 96, 127, 128, 129, 192, 256, 1000]:
        array = chance.integers(0, 256, (500, size), dtype=np.uint8)
        np.save(tmp_path / "t.npy", array)
        with Table(tmp_path / "t.npy", Setting(engine)) as table:
            for count in (3, 70, 400, 400, 400, 5000):
                ids = chance.integers(-500, 500, count)
                assert np.array_equal(table.take(ids)[0], array[ids]), f"{size} bytes, {count} rows"


def test_elements_without_a_place_in_the_file(tmp_path):
    """Protocol Buffers can hold elements as numbers of several lengths: they are decoded once, and the rows come from memory. Strings
    have no rows of one length."""
    onnx = needs("onnx", "onnx")
    from onnx import helper, numpy_helper

    kinds = onnx.TensorProto
    tensors = [
        helper.make_tensor("i", kinds.INT64, [40, 3], [i * i for i in range(120)]),
        helper.make_tensor("f", kinds.FLOAT, [40, 3], [i / 8 for i in range(120)]),
        helper.make_tensor("h", kinds.FLOAT16, [40, 3], [i / 8 for i in range(120)]),
        helper.make_tensor("s", kinds.STRING, [2, 2], [b"a", b"", b"cd", b"e"]),
    ]
    graph = helper.make_graph([], "g", [], [], tensors)
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    for engine in engines():
        for tensor in tensors[:3]:
            array, ids = numpy_helper.to_array(tensor), np.array([3, -1, 0, 39])
            with Table(f"{tmp_path / 'm.onnx'}:{tensor.name}", Setting(engine)) as table:
                assert np.array_equal(table.take(ids)[0], rows_of(array)[ids]), f"{engine} {tensor.name}"
                assert table.submit(ids)()[0].tobytes() == array[ids].tobytes()
        error = refusal(f"{tmp_path / 'm.onnx'}:s", Setting(engine))
        assert error.status == "unsupported" and "rows of strings" in str(error)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(version, tmp_path):
    array = np.arange(60, dtype=np.float32).reshape(20, 3)
    with open(tmp_path / "t.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    with Table(tmp_path / "t.npy") as table:
        assert np.array_equal(table.take(np.array([3, -1]))[0], rows_of(array)[[3, -1]])


def refusal(path, how: Setting = Setting(), raw=None) -> TableError:
    with pytest.raises(TableError) as caught, Table(path, how, raw):
        pass
    return caught.value


def test_what_is_no_table(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.float32(3))
    assert refusal(path).status == "rank_mismatch"
    np.save(path, np.array([None, 1], dtype=object), allow_pickle=True)
    assert refusal(path).status == "unsupported"
    assert refusal(tmp_path / "none.npy").status == "file_not_found"
    path.write_bytes(b"")
    assert refusal(path).status in ("file_malformed", "unsupported")
    np.save(path, np.ones((100, 4)))
    path.write_bytes(path.read_bytes()[:-1])
    assert refusal(path).status == "file_malformed"
    assert refusal(tmp_path).status in ("io_error", "file_not_found", "unsupported")
    assert refusal(path, raw=("uint8", (-1, -1), 0)).status != "ok"
    assert refusal(path, raw=("uint8", (-2, 4), 0)).status != "ok"


def test_fortran_order_of_one_column(tmp_path):
    """Its elements lie as in row-major order, so that it is a table."""
    array = np.asfortranarray(np.arange(12.0).reshape(12, 1))
    with open(tmp_path / "t.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": True, "shape": (12, 1)}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(array.tobytes())
    with Table(tmp_path / "t.npy") as table:
        assert np.array_equal(table.take(np.array([5, 0]))[0], rows_of(array)[[5, 0]])


def test_parts(tmp_path):
    """Of any lengths, one file twice, and parts without rows, at any place of the batch."""
    lengths, paths, arrays = [0, 1000, 1, 0, 77, 0], [], []
    for number, length in enumerate(lengths):
        arrays.append(noise(length, 36, seed=number).view(np.float32))
        paths.append(str(tmp_path / f"part{number}.npy"))
        np.save(paths[-1], arrays[-1])
    paths.append(paths[1])
    arrays.append(arrays[1])
    rows = rows_of(np.concatenate(arrays))
    for engine in engines():
        for memory in (0, 1 << 20):
            with Table(paths, Setting(engine, memory)) as table:
                assert table.shape == (2078, 9) and table.info.parts == 7
                assert [part.rows for part in table.parts] == [*lengths, 1000]
                for seed in range(3):
                    for path in paths:
                        evict(path)
                    ids = np.random.default_rng(seed).integers(-2078, 2078, 3000)
                    assert np.array_equal(table.take(ids)[0], rows[ids])
                assert np.array_equal(table.take(np.arange(2078))[0], rows)


def test_parts_that_do_not_fit(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 4), np.float32))
    np.save(tmp_path / "b.npy", np.ones((3, 5), np.float32))
    np.save(tmp_path / "c.npy", np.ones((3, 4), np.int32))
    np.save(tmp_path / "d.npy", np.ones((3, 4), ">f4"))
    np.save(tmp_path / "e.npy", np.ones((3, 2, 2), np.float32))
    first = str(tmp_path / "a.npy")
    assert refusal([first, str(tmp_path / "b.npy")]).status == "shape_mismatch"
    assert refusal([first, str(tmp_path / "c.npy")]).status == "type_mismatch"
    assert refusal([first, str(tmp_path / "d.npy")]).status == "type_mismatch"
    assert refusal([first, str(tmp_path / "e.npy")]).status == "shape_mismatch"
    error = refusal([first, str(tmp_path / "none.npy")])
    assert error.status == "file_not_found" and "none.npy" in str(error)
    assert refusal([]).status == "usage"


def test_rows_beyond_32_bits(tmp_path):
    """A file of 18 GB that is nearly all holes: its rows are found wherever they are."""
    path, rows, width, offset = tmp_path / "far.raw", 6_000_000_000, 3, 5
    chance = np.random.default_rng(1)
    numbers = np.unique([0, 2**31 - 1, 2**31, 2**32 - 1, 2**32, rows - 1, *chance.integers(0, rows, 200)])
    marks = chance.integers(1, 256, (len(numbers), width), dtype=np.uint8)
    try:
        with open(path, "wb") as file:
            file.truncate(offset + rows * width)
            for number, mark in zip(numbers.tolist(), marks):
                file.seek(offset + number * width)
                file.write(mark.tobytes())
    except OSError as error:
        skip_test("sparse", f"the file system has no sparse files of 18 GB: {error}")
    order = chance.permutation(len(numbers))
    small = numbers < 2**32
    for engine in engines():
        for memory in (0, 2 << 20):
            with Table(path, Setting(engine, memory), ("uint8", (-1, width), offset)) as table:
                assert table.info.rows == rows
                assert np.array_equal(table.take(numbers[order])[0], marks[order])
                assert np.array_equal(table.take(numbers[order] - rows)[0], marks[order])
                assert np.array_equal(table.take(numbers[small].astype(np.uint32))[0], marks[small])
                assert not table.take(np.setdiff1d(numbers[1:-1] + 1, numbers))[0].any()


def test_a_name_with_a_colon(tmp_path):
    """Where a file of the whole name exists, that one."""
    array = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "a:b.npy", array)
    with Table(tmp_path / "a:b.npy") as table:
        assert np.array_equal(table.take(np.array([2]))[0], rows_of(array)[[2]])
    assert refusal(tmp_path / "a:c.npy").status == "file_not_found"


@pytest.mark.parametrize("how", [
    Setting(memory=100),
    Setting(memory=-1),
    Setting(depth=5000),
    Setting(depth=-1),
    Setting(cache=-2),
    Setting(memory=1 << 20, cache=1 << 30),
], ids=str)
def test_options_that_make_no_sense(how, tmp_path):
    np.save(tmp_path / "t.npy", np.ones((3, 4)))
    if how.cache > 0:
        with Table(tmp_path / "t.npy", how) as table:  # a cache is bounded by the ceiling
            assert np.array_equal(table.take(np.array([2, 2, 1]))[0], rows_of(np.ones((3, 4))))
            assert table.statistics.memory_peak <= how.memory
        return
    error = refusal(tmp_path / "t.npy", how)
    assert error.status == "usage"
    if how.memory == 100:
        assert str(1 << 20) in str(error) or "1 MiB" in str(error)
