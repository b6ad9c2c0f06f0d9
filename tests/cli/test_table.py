# SPDX-License-Identifier: MIT
"""`take` of rows of files: the bytes are NumPy's whatever the engine, the ceiling and the cold or warm file are."""

import io
import os
import re
import struct
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from command import one_object, rows
from support.skip import skip_test
from tables import ENGINES, MIB, TABLE_KEYS, make_cold

RNG = np.random.default_rng(20)


def random_table(shape, dtype) -> np.ndarray:
    dtype = np.dtype(dtype)
    return np.frombuffer(RNG.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)


def same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("shape", "dtype", "index"),
    [
        ((3000, 7), "<f4", "<i8"),
        ((3000, 7), ">f8", "<u4"),
        ((60000,), "u1", ">i4"),
        ((100, 3, 5), "V12", "i1"),
        ((40, 9000), "<i2", "<u2"),
        ((200, 2), "S5", ">u8"),
    ],
)
def test_parts_of_the_output_make_the_whole(gather, shape, dtype, index, engine, cold):
    """Some hundred thousand bytes per part, so that there are many."""
    data = random_table(shape, dtype)
    row_bytes = data.nbytes // len(data)
    ids = RNG.integers(0, len(data), size=1_500_000 // row_bytes + 3).astype(index)
    gather.save("x.npy", data)
    gather.save("i.npy", ids)
    if cold:
        make_cold(gather.folder / "x.npy")
    answer = gather.json("take", "x.npy", "i.npy", "-o", "o.npy", "--memory", "4MiB", "--engine", engine, "--depth", 16)
    assert same_bytes(gather.load("o.npy"), data[ids])
    table = answer["table"]
    assert set(table) == TABLE_KEYS and table["rows"] == len(ids) and table["memory_ceiling"] == 4 * MIB
    assert table["rows_resident"] + table["rows_cached"] + table["rows_read"] == len(ids)
    assert table["bytes_useful"] == len(ids) * row_bytes and 0 < table["memory_peak"] <= 4 * MIB
    assert table["depth"] <= 16


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (1, 1), (7, 1, 3), (300, 2, 40)])
def test_indices_of_any_shape_and_order(gather, shape, order):
    data = random_table((500, 6), "<f4")
    ids = np.asarray(RNG.integers(-500, 500, size=shape), order=order)
    gather.save("x.npy", data)
    gather.save("i.npy", ids)
    for memory in ([], ["--memory", "2MiB"]):
        assert same_bytes(gather.result("take", "x.npy", "i.npy", *memory), data[ids])


def test_many_indices_in_fortran_order(gather):
    """More than a part holds: they are taken in the order of their coordinates."""
    data = random_table((500, 16), "<f4")
    ids = np.asfortranarray(RNG.integers(-500, 500, size=(300, 3, 40)))
    gather.save("x.npy", data)
    gather.save("i.npy", ids)
    assert same_bytes(gather.result("take", "x.npy", "i.npy", "--memory", "2MiB"), data[ids])


@pytest.mark.parametrize("shape", [(0, 4), (5, 0), (0,)])
def test_tables_without_bytes(gather, shape):
    data = np.zeros(shape, "<f4")
    gather.save("x.npy", data)
    ids = np.zeros((3, 0) if shape[0] == 0 else (3, 2), np.int64)
    gather.save("i.npy", ids)
    for memory in ([], ["--memory", "2MiB"]):
        assert same_bytes(gather.result("take", "x.npy", "i.npy", *memory), data[ids])
    gather.save("bad.npy", np.array([5]))
    gather.fails("index_out_of_range", "take", "x.npy", "bad.npy", "-o", "p.npy", "--memory", "2MiB")


@pytest.mark.parametrize("policy", ["clamp", "wrap", "zero", "fill=7", "promise"])
def test_bad_indices_that_are_repaired(gather, policy):
    data = RNG.integers(-9, 9, size=(100, 40)).astype("<i4")
    ids = RNG.integers(-150, 150, size=20000)
    gather.save("x.npy", data)
    gather.save("i.npy", ids)
    answer = gather.json("take", "x.npy", "i.npy", "-o", "o.npy", "--on-bad", policy, "--memory", "2MiB")
    name = {"promise": "clamp", "fill=7": "fill"}.get(policy, policy)
    where, bad = rows(ids, 100, True, name)
    expected = data[where]
    if name in ("zero", "fill"):
        expected[bad] = 7 if name == "fill" else 0
    assert same_bytes(gather.load("o.npy"), expected)
    assert answer["indices"] == {"count": 20000, "bad": int(bad.sum())}


def test_rules_and_negative(gather):
    gather.save("x.npy", np.arange(5.0))
    assert gather.result("take", "x.npy", "[1, -9]", "--rules", "openvino-8", "--memory", "2MiB").tolist() == [1, 0]
    words = ("take", "x.npy", "[1, -1]", "-o", "p.npy", "--memory", "2MiB", "--negative", "off")
    assert gather.fails("index_out_of_range", *words)["position"] == [1]


def test_a_bad_index_far_behind(gather):
    """It is found before there is an output, and its place is that in all indices."""
    data, ids = random_table((100, 64), "<f8"), np.zeros((500, 40), np.int64)
    ids[400, 7], ids[499, 39] = 100, -101
    gather.save("x.npy", data)
    gather.save("i.npy", ids)
    error = gather.fails("index_out_of_range", "take", "x.npy", "i.npy", "-o", "o.npy", "--memory", "2MiB")
    assert (error["position"], error["value"], error["bad_count"]) == ([400, 7], 100, 2)
    assert gather.names() == {"x.npy", "i.npy"}


@pytest.mark.parametrize("extension", ["bin", "pb"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", ">i8"])
def test_other_formats_of_the_output(gather, dtype, extension):
    data, ids = random_table((50, 25), dtype), RNG.integers(0, 50, 30000)
    gather.save("x.npy", data)
    gather.save("i.npy", ids)
    assert gather("take", "x.npy", "i.npy", "-o", f"o.{extension}", "--memory", "2MiB").code == 0
    content, little = (gather.folder / f"o.{extension}").read_bytes(), data[ids].astype(data.dtype.newbyteorder("<"))
    if extension == "pb":
        content = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(content)).tobytes()
    assert content == little.tobytes()


def test_a_pipe_gets_the_whole(gather):
    data, ids = random_table((500, 100), "<f4"), RNG.integers(0, 500, 30000)
    gather.save("x.npy", data)
    gather.save("i.npy", ids)
    answer = gather("take", "x.npy", "i.npy", "-o", "-", "--memory", "2MiB", "--json")
    assert answer.code == 0 and same_bytes(np.load(io.BytesIO(answer.out)), data[ids])
    assert one_object(answer.err)["table"]["rows"] == 30000


def test_a_pipe_that_nobody_reads_to_the_end(gather):
    """As with `| head`: no complaint."""
    gather.save("x.npy", np.zeros((4, 1 << 18)))
    gather.save("i.npy", np.zeros(64, np.int8))
    words = [str(gather.exe), "take", "x.npy", "i.npy", "-o", "-", "--memory", "64MiB"]
    process = subprocess.Popen(words, cwd=gather.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(1000)
    process.stdout.close()
    complaint = process.stderr.read()
    assert process.wait(60) == 3 and complaint.count(b"\n") <= 1


def test_a_member_of_an_archive(gather):
    data = random_table((3000, 9), "<f4")
    np.savez(gather.folder / "x.npz", a=data, b=data[::2])
    gather.save("i.npy", RNG.integers(0, 1500, 40000))
    answer = gather.json("take", "x.npz:b", "i.npy", "-o", "o.npy", "--memory", "2MiB")
    assert answer["table"]["rows"] == 40000
    assert same_bytes(gather.load("o.npy"), data[::2][gather.load("i.npy")])


def test_a_column_in_pieces(gather):
    """No single tensor of its file has its name: a take has it all the same, along any axis."""
    try:
        import pyarrow
    except ImportError:
        skip_test("pyarrow", "the package is not installed")
    data = random_table((1000, 4), "<i4")
    schema = pyarrow.schema([("emb", pyarrow.list_(pyarrow.int32(), 4)), ("id", pyarrow.int64())])
    with pyarrow.ipc.new_file(str(gather.folder / "x.arrow"), schema) as file:
        for first in range(0, 1000, 300):
            rows = data[first : first + 300]
            column = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel()), 4)
            ids = pyarrow.array(np.arange(first, first + len(rows)))
            file.write_batch(pyarrow.record_batch([column, ids], schema=schema))
    ids = RNG.integers(-1000, 1000, 90000)
    gather.save("i.npy", ids)
    for memory in ([], ["--memory", "2MiB"]):
        assert same_bytes(gather.result("take", "x.arrow:emb", "i.npy", *memory), data[ids])
    assert gather.result("take", "x.arrow:id", "[999, -1]").tolist() == [999, 999]
    assert gather.result("take", "x.arrow:emb", "-1001", "--on-bad", "fill=7").tolist() == [7] * 4
    gather.fails("index_out_of_range", "take", "x.arrow:emb", "1000", "-o", "o.npy", "-f")
    assert gather.result("take", "x.arrow:emb", "[3, 0]", "--axis", "1").tolist() == data[:, [3, 0]].tolist()
    for words in (("x.arrow:none", "0"), ("x.arrow", "0")):
        gather.fails("name_not_found", "take", *words, "-o", "p.npy")
    nulls = pyarrow.table({"n": pyarrow.chunked_array([[1, None], [3]], pyarrow.int32())})
    with pyarrow.ipc.new_file(str(gather.folder / "n.arrow"), nulls.schema) as file:
        file.write_table(nulls)
    assert "null" in gather.fails("unsupported", "take", "n.arrow:n", "0", "-o", "p.npy")["message"]
    assert gather.result("elements", "x.arrow:emb", "[[999, 0]]").tolist() == [[data[999, 0], data[0, 1]]]


def test_blocks_of_quantised_numbers(gather):
    """They go as bytes: |V in .npy."""
    blocks = RNG.integers(0, 256, (64, 4, 34), dtype=np.uint8)
    name = b"q"
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
    head += struct.pack("<Q", len(name)) + name
    head += struct.pack("<I2QIQ", 2, 4 * 32, 64, 8, 0)  # Q8_0: 32 numbers in 34 bytes
    gather.write("x.gguf", head + bytes(-len(head) % 32) + blocks.tobytes())
    assert same_bytes(gather.result("take", "x.gguf:q", "[63, 0]"), blocks[[63, 0]].view("V34")[..., 0])
    assert gather("take", "x.gguf:q", "[63, 0]", "-o", "o.bin").code == 0
    assert (gather.folder / "o.bin").read_bytes() == blocks[[63, 0]].tobytes()
    gather.fails("unsupported", "take", "x.gguf:q", "[63, 0]", "-o", "o.pb")


def test_packed_rows_that_are_whole_bytes(gather):
    """Rows of 6 four-bit numbers."""
    data = RNG.integers(0, 256, size=(16, 3), dtype=np.uint8)
    ids = RNG.integers(0, 16, size=200_000)
    gather.write("x.bin", data.tobytes())
    gather.save("i.npy", ids)
    words = ["--type", "uint4", "--shape", "16x6", "-o", "o.bin", "--memory", "2MiB"]
    assert gather("take", "x.bin", "i.npy", *words).code == 0
    assert (gather.folder / "o.bin").read_bytes() == data[ids].tobytes()


def test_raw_bytes_from_an_offset(gather):
    data = random_table((1000, 33), "<u2")
    gather.write("x.bin", b"12345" + data.tobytes() + b"more")
    ids = RNG.integers(0, 1000, 30000)
    gather.save("i.npy", ids)
    words = ("--type", "uint16", "--shape", "1000x33", "--offset", "5", "--memory", "2MiB")
    assert same_bytes(gather.result("take", "x.bin", "i.npy", *words), data[ids])


def test_as_many_rows_as_the_file_has(gather):
    data = random_table((10, 3), "<i4")
    gather.write("a.bin", b"head" + data[:7].tobytes() + b"rest")
    gather.write("b.bin", b"head" + data[7:].tobytes())
    words = ("--type", "int32", "--shape", "-1x3", "--offset", "4")
    assert same_bytes(gather.result("take", "a.bin", "[6, -1, 0]", *words), data[[6, 6, 0]])
    assert same_bytes(gather.result("take", "a.bin", "[9, -1, 0]", *words, "--part", "b.bin"), data[[9, 9, 0]])
    assert same_bytes(gather.result("take", "a.bin", "[2]", "--axis", "1", *words), data[:7, [2]])
    assert gather.result("elements", "b.bin", "[[2, 0, 1]]", *words).tolist() == [[data[9, 0], data[7, 1], data[8, 2]]]
    assert gather.json("info", "a.bin", *words)["tensors"][0]["shape"] == [7, 3]
    assert gather.json("bench", "a.bin", *words, "--rows", "2", "--engine", "pread")["shape"] == [7, 3]
    gather.fails("usage", "take", "-", "0", "-o", "p.npy", *words, stdin=data.tobytes())
    gather.fails("file_not_found", "take", "none.bin", "0", "-o", "p.npy", *words)
    for shape in ("-1x", "-1x-1", "3x-1", "-2x3", "-1y3", "-1 x3", "-1x3x"):
        error = gather.fails("usage", "take", "a.bin", "0", "-o", "p.npy", "--type", "int32", f"--shape={shape}")
        assert error["message"].startswith("--shape takes lengths such as 3x4, not ")
    of_indices = ("--indices-type", "int8", "--indices-shape=-1")
    gather.fails("usage", "take", "a.bin", "b.bin", "-o", "p.npy", *words, *of_indices)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_parts_of_the_table(gather, count):
    data = random_table((1000, 6), ">i4")
    pieces = np.array_split(data, [13 * (i + 1) for i in range(count)])
    names = [gather.save(f"x{i}.npy", piece) for i, piece in enumerate(pieces)]
    more = [word for name in names[1:] for word in ("--part", name)]
    ids = RNG.integers(-1000, 1000, (200, 9))
    gather.save("i.npy", ids)
    answer = gather.json("take", names[0], "i.npy", "-o", "o.npy", *more)
    assert same_bytes(gather.load("o.npy"), data[ids])
    assert f"of 1000 rows x 24 B in {count + 1} files" in answer["plan"]
    error = gather.fails("index_out_of_range", "take", names[0], "1000", "-o", "p.npy", *more)
    assert (error["low"], error["high"]) == (-1000, 999)


def test_parts_of_raw_bytes(gather):
    data = random_table((20, 6), "<i4")
    gather.write("a.bin", data[:10].tobytes())
    gather.write("b.bin", data[10:].tobytes())
    words = ("--type", "int32", "--shape", "10x6", "--part", "b.bin")
    assert same_bytes(gather.result("take", "a.bin", "[0, 19, -11]", *words), data[[0, 19, 9]])


def test_parts_that_do_not_fit(gather):
    gather.save("a.npy", np.zeros((3, 4), "f4"))
    for name, status, array in (
        ("type.npy", "type_mismatch", np.zeros((3, 4), "i4")), ("shape.npy", "shape_mismatch", np.zeros((3, 5), "f4"))
    ):
        gather.save(name, array)
        assert name in gather.fails(status, "take", "a.npy", "0", "-o", "o.npy", "--part", name)["message"]
    gather.fails("file_not_found", "take", "a.npy", "0", "-o", "o.npy", "--part", "none.npy")
    gather.write("bad.npy", b"\x93NUMPY\x01\x00")
    gather.fails("file_malformed", "take", "a.npy", "0", "-o", "o.npy", "--part", "bad.npy")
    assert "o.npy" not in gather.names()


def test_it_is_used_by_itself_and_said(gather):
    gather.save("x.npy", np.zeros((3, 4)))
    assert "table" in gather.json("take", "x.npy", "0", "-o", "o.npy")
    assert "table" in gather.json("take", "x.npy", "0", "-o", "o.npy", "-f", "--axis", "-2")
    gather.save("i.npy", np.zeros((3, 1), int))
    for words in ((), ("--rules", "openvino-8", "--batch-dims", "1")):
        assert "table" not in gather.json("take", "x.npy", "i.npy", "-o", "o.npy", "-f", "--axis", "1", *words)
    fortran = gather.save("f.npy", np.asfortranarray(np.arange(12.0).reshape(3, 4)))
    assert "table" not in gather.json("take", fortran, "[2]", "-o", "o.npy", "-f")
    assert gather.load("o.npy").tolist() == [[8, 9, 10, 11]]
    content = (gather.folder / "x.npy").read_bytes()
    assert "table" not in gather.json("take", "-", "0", "-o", "o.npy", "-f", stdin=content)


def test_the_plan(gather, table):
    text = gather("take", table, "[0, 1]", "-o", "o.npy", "--plan", "--engine", "pread")
    plan = text.text.splitlines()[1]
    assert plan.startswith("plan: Gather onnx-13: 2 of 3 rows x 16 B through a table; ") and "by pread" in plan
    assert re.match(r"table: \d rows resident, \d cached, \d read; ", text.errors)
    assert text.errors.count("\n") == 1
    dry = gather.json("take", table, "[0, 1]", "--dry-run", "--engine", "pread")
    assert dry["plan"] == plan.removeprefix("plan: ")
    assert gather("take", table, "[0, 1]", "-o", "o.npy", "-f").err == b""


def test_dry_run(gather, table):
    answer = gather.json("take", table, "[0, 1]", "--dry-run", "--memory", "8MiB")
    assert answer["dry_run"] is True and answer["table"]["rows"] == 0 and gather.names() == {"x.npy"}
    gather.fails("index_out_of_range", "take", table, "[0, 3]", "--dry-run", "--memory", "8MiB")


def test_an_existing_output_is_complained_of_before_the_indices(gather, table):
    gather.write("o.npy", "old")
    gather.fails("file_exists", "take", table, "99", "-o", "o.npy", "--memory", "8MiB")
    gather.fails("index_out_of_range", "take", table, "99", "-o", "o.npy", "--memory", "8MiB", "-f")
    assert (gather.folder / "o.npy").read_text() == "old"


def test_elements_of_a_page_are_read_together(gather):
    """Rows in Fortran order are assembled from elements: those of a page that is in memory cost one call, not one each."""
    trace = Path(os.environ.get("GATHER_BUILD", "")) / "tests/faults/gather_trace"
    if not trace.is_file():
        skip_test("faults", "no program here counts system calls")
    rng = np.random.default_rng(31)
    table = np.asfortranarray(rng.standard_normal((65536, 32)).astype(np.float32))
    ids = rng.integers(-65536, 65536, 8192)
    gather.save("f.npy", table)
    gather.save("ids.npy", ids)
    report = gather.folder / "report"
    words = ["take", "f.npy", "ids.npy", "-o", "o.npy", "--memory", "4MiB", "-q"]
    subprocess.run([trace, report, "count", "-", "0", "-", gather.exe, *words], cwd=gather.folder, check=True, timeout=120)
    assert np.array_equal(gather.load("o.npy"), table[ids])
    calls = [line for line in report.read_text().splitlines() if line in ("preadv2", "preadv", "pread64", "read", "io_uring_enter")]
    assert len(calls) < 8192 * 32 / 8, len(calls)
