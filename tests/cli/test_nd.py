# SPDX-License-Identifier: MIT
"""What `nd` computes, with a loop over the tuples as the oracle; and its answers and errors."""

import numpy as np
import pytest
import safetensors.numpy
from command import gather_nd, one_object
from tables import ENGINES, make_cold
from test_take import DTYPES, RNG, same, some


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(gather, dtype):
    data = some(dtype, 4, 3, 2)
    gather.save("x.npy", data)
    indices = np.array([[[0, -1], [3, 1]], [[-4, 0], [2, 2]]])
    gather.save("i.npy", indices)
    answer = gather.json("nd", "x.npy", "i.npy", "-o", "o.npy")
    same(gather.load("o.npy"), gather_nd(data, indices))
    assert answer["shape"] == [2, 2, 2] and answer["bytes"] == gather.load("o.npy").nbytes


@pytest.mark.parametrize("rules", ["onnx-12", "onnx-13", "openvino-5", "openvino-8"])
@pytest.mark.parametrize("batch", [0, 1, 2])
@pytest.mark.parametrize("length", [1, 2])
def test_batch_dims(gather, rules, batch, length):
    data = RNG.integers(0, 99, (2, 3, 4, 5)).astype(np.int16)
    low = 0 if rules == "openvino-5" else -2
    indices = RNG.integers(low, 2, (2, 3, 2, length))
    gather.save("x.npy", np.asfortranarray(data))
    gather.save("i.npy", np.asfortranarray(indices))
    answer = gather.json("nd", "x.npy", "i.npy", "-o", "o.npy", "--rules", rules, "--batch-dims", batch)
    want = gather_nd(data, indices, batch, fused=rules == "openvino-5")
    same(gather.load("o.npy"), want)
    assert answer["rules"] == rules and answer["shape"] == list(want.shape)


@pytest.mark.parametrize("negative", ["on", "off"])
@pytest.mark.parametrize("policy", ["clamp", "wrap", "zero", "fill=-7"])
@pytest.mark.parametrize("dtype", ["i1", ">i2", "<i4", ">i8"])
def test_policies_of_each_component(gather, negative, policy, dtype):
    data = RNG.integers(0, 99, (5, 3, 2)).astype(dtype)
    indices = np.array([[0, 2], [4, 3], [5, 1], [-1, -3], [-6, 0], [99, -100], [4, 2]], dtype)
    gather.save("x.npy", data)
    gather.save("i.npy", indices)
    answer = gather.json("nd", "x.npy", "i.npy", "-o", "o.npy", "--on-bad", policy, "--negative", negative)
    name, _, fill = policy.partition("=")
    same(gather.load("o.npy"), gather_nd(data, indices, negative=negative == "on", policy=name, fill=int(fill or 0)))
    assert answer["indices"] == {"count": 14, "tuples": 7, "bad": 5 if negative == "on" else 7}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["<f4", ">i2", "V3", "S5"])
@pytest.mark.parametrize("components", [1, 2, 3])
def test_files_larger_than_memory(gather, engine, dtype, components):
    """Some hundred thousand bytes per part, so that there are many; warm and cold, dense and Fortran indices, parts of the table."""
    data = np.frombuffer(RNG.bytes(500 * 6 * 9 * np.dtype(dtype).itemsize), dtype).reshape(500, 6, 9)
    selected = int(np.prod(data.shape[components:])) * data.itemsize
    indices = np.stack([RNG.integers(-n, n, 1_500_000 // selected + 3) for n in (1000, 6, 9)[:components]], -1).astype("<i4")
    both = np.concatenate([data, data[::-1]]).astype(dtype)
    gather.save("x.npy", data)
    gather.save("y.npy", data[::-1].copy())
    for order in ("C", "F"):
        gather.save("i.npy", np.asarray(indices, order=order))
        if order == "F":
            make_cold(gather.folder / "x.npy")
        words = ("--memory", "4MiB", "--engine", engine, "--part", "y.npy", "-f")
        answer = gather.json("nd", "x.npy", "i.npy", "-o", "o.npy", *words)
        want = both[tuple(np.moveaxis(indices, -1, 0))]
        assert gather.load("o.npy").tobytes() == want.tobytes() and gather.load("o.npy").shape == want.shape
        table = answer["table"]
        assert table["rows"] == len(indices) and table["bytes_useful"] == want.nbytes and table["memory_peak"] <= 4 << 20
        assert answer["indices"] == {"count": indices.size, "tuples": len(indices), "bad": 0}


def test_one_tensor_of_many_through_a_table(gather):
    tensors = {"a": np.arange(9.0), "emb": np.arange(24, dtype=np.int16).reshape(2, 3, 4)}
    safetensors.numpy.save_file(tensors, gather.folder / "many.safetensors")
    answer = gather.json("nd", "many.safetensors:emb", "[[[1, 2]], [[0, -3]]]", "-o", "o.npy")
    assert "through a table" in answer["plan"] and answer["shape"] == [2, 1, 4]
    same(gather.load("o.npy"), np.arange(24, dtype=np.int16).reshape(2, 3, 4)[[1, 0], [2, -3]][:, None])


@pytest.mark.parametrize(("words", "why"), [
    (("--batch-dims", "1"), "batch_dims"),
    (("--rules", "openvino-8"), "without a number"),
], ids=str)  # fmt: skip
def test_what_tables_do_not_take(gather, table, words, why):
    gather.save("none.npy", np.zeros((3, 0) if why != "batch_dims" else (3, 1), np.int64))
    error = gather.fails("usage", "nd", table, "none.npy", "-o", "o.npy", "--memory", "8MiB", *words)
    assert why in error["message"]


def test_the_json_answer(gather, table):
    answer = gather.json("nd", table, "[[0, 2], [1, -1]]", "-o", "o.npy")
    assert 0 <= answer.pop("seconds") < 60
    assert answer.pop("plan").startswith("GatherND onnx-13: 2 of 12 rows x 4 B through a table; ")
    assert answer.pop("dry_run") is False and answer.pop("table")["rows"] == 2
    assert answer == {
        "command": "nd", "rules": "onnx-13", "type": "float32", "shape": [2], "bytes": 8, "output": "o.npy",
        "indices": {"count": 4, "tuples": 2, "bad": 0},
    }


def test_the_answer_as_text(gather, table):
    assert gather("nd", table, "[[0, 2], [1, -1]]", "-o", "o.npy").text == "o.npy: float32 [2], 8 bytes; 2 tuples of 2\n"
    assert gather("nd", table, "[1]", "-o", "p.npy").text == "p.npy: float32 [4], 16 bytes; 1 tuple of 1\n"
    text = gather("nd", table, "[[9, 2]]", "-o", "q.npy", "--on-bad", "clamp").text
    assert text == "q.npy: float32 [1], 4 bytes; 1 tuple of 2, 1 out of range and repaired\n"
    assert gather("nd", table, "[[0, 2]]", "--dry-run").text.startswith("result: would be float32 [1], 4 bytes; 1 tuple of 2\nplan: ")
    assert gather.names() == {"x.npy", "o.npy", "p.npy", "q.npy"}


def test_an_error_names_tuple_and_component(gather):
    gather.save("x.npy", np.zeros((2, 3, 4)))
    words = ("nd", "x.npy", "[[[0, 3], [2, -5]], [[1, 1], [-4, 4]]]", "-o", "o.npy", "--batch-dims", "1")
    answer = gather(*words, "--json")
    assert answer.code == 1 and answer.err == b""
    error = one_object(answer.out)["error"]
    assert error.pop("message") == (
        "indices[0, 1, 1] = -5, component 1 of tuple [0, 1], is outside [-4, 3] of axis 2 (GatherND onnx-13); "
        "3 of 8 indices are bad"
    )
    assert error == {
        "status": "index_out_of_range",
        "code": 5,
        "op": "GatherND",
        "rules": "onnx-13",
        "position": [0, 1, 1],
        "value": -5,
        "low": -4,
        "high": 3,
        "axis": 2,
        "bad_count": 3,
        "input": "indices",
        "hint": "--on-bad clamp, wrap, zero or fill=V repairs indices out of range",
    }
    text = gather(*words)
    assert text.code == 1 and b"component 1 of tuple [0, 1]" in text.err
    assert gather.names() == {"x.npy"}


def test_each_document_decides(gather, table):
    """Negative numbers, and tuples without a number."""
    assert gather.result("nd", table, "[[0, -1]]", "--rules", "openvino-5", "--negative", "on").tolist() == [3]
    gather.save("none.npy", np.zeros((2, 0), np.int64))
    for rules in ("onnx-11", "onnx-12", "onnx-13"):
        gather.fails("shape_mismatch", "nd", table, "none.npy", "-o", "p.npy", "--rules", rules)
    for rules in ("microsoft-1", "openvino-5", "openvino-8"):
        answer = gather("nd", table, "none.npy", "-o", f"{rules}.npy", "--rules", rules)
        assert answer.text == f"{rules}.npy: float32 [2, 3, 4], 96 bytes; 2 tuples of 0\n"
        same(gather.load(f"{rules}.npy"), np.stack([gather.load(table)] * 2))


def test_other_ways_to_name_tensors(gather):
    """Raw bytes, standard input and output, a type of less than a byte, and the formats of the output."""
    data = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    gather.write("x.bin", data.tobytes())
    gather.write("i.bin", np.array([[1, 2], [0, 1]], "<i2").tobytes())
    words = ("--type", "uint8", "--shape", "2x3x4", "--indices-type", "int16", "--indices-shape", "2x2")
    assert gather("nd", "x.bin", "i.bin", "-o", "o.bin", *words).code == 0
    assert (gather.folder / "o.bin").read_bytes() == data[[1, 0], [2, 1]].tobytes()
    gather.save("x.npy", data)
    done = gather("nd", "-", "[[1, 2, -1]]", "-o", "-", stdin=(gather.folder / "x.npy").read_bytes())
    assert done.code == 0 and done.out.endswith(bytes([23]))
    assert gather("nd", "x.bin", "[[1, 2]]", "-o", "n.bin", "--type", "int4", "--shape", "2x3x4").code == 0
    assert (gather.folder / "n.bin").read_bytes() == data.tobytes()[10:12]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads(gather, threads):
    data = RNG.integers(0, 255, (70, 80, 90), np.uint8)
    gather.save("x.npy", data)
    indices = RNG.integers(-70, 70, (40_000, 2))
    gather.save("i.npy", indices)
    same(gather.result("nd", "x.npy", "i.npy", "--threads", threads), data[indices[:, 0], indices[:, 1]])


@pytest.mark.parametrize("policy", ["clamp", "wrap", "error"])
@pytest.mark.parametrize("lengths, axis, bad", [((3, 0, 2), 1, 4), ((0, 3, 2), 0, 3)])
def test_the_error_names_the_axis_that_cannot_be_repaired(gather, policy, lengths, axis, bad):
    """Clamp and wrap repair an index of the axis of length 3; on the axis beside it there is nothing to take."""
    gather.save("x.npy", np.zeros(lengths, np.float32))
    gather.save("i.npy", np.array([[7, 8], [9, 1]]))
    axis = 0 if policy == "error" else axis
    for words in (["-o", "o.npy"], ["--dry-run"], ["-o", "o.npy", "--memory", "4MiB"]):
        error = gather.fails("index_out_of_range", "nd", "x.npy", "i.npy", *words, "--on-bad", policy)
        assert (error["axis"], error["position"], error["value"], error["bad_count"]) == (axis, [0, axis], 7 + axis, bad)
    drawn = gather("explain", "--nd", "x.npy", "i.npy", "--on-bad", policy)
    assert f"indices[0, {axis}] = {7 + axis}" in drawn.text + drawn.errors
