# SPDX-License-Identifier: MIT
"""ONNX files that are cut, changed, nested too deep, or something else."""
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_files import block, graph, model, onnx_is_read, outcome, table, varint  # noqa: F401

def small_model() -> bytes:
    body = graph("b", [helper.make_node("Gather", ["w", "i"], ["x"], axis=0)], [], ["x"])
    nodes = [helper.make_node("Constant", [], ["i"], value_ints=[0, 1]), helper.make_node("If", ["c"], ["y"], then_branch=body)]
    return model(graph("m", nodes, [table("w")], ["y"])).SerializeToString()


def test_cut_at_every_byte() -> None:
    source = small_model()
    assert isinstance(outcome(source), list)
    opening = [size for size in range(len(source)) if isinstance(outcome(source[:size]), list)]
    # Fields behind the graph may be missing; the graph is whole there.
    for size in opening:
        onnx.load_model_from_string(source[:size])
        assert outcome(source[:size]) == outcome(source)


def test_larger_model_cut_at_every_kilobyte() -> None:
    tables = [numpy_helper.from_array(np.arange(2000, dtype=np.float32), f"w{i}") for i in range(12)]
    source = model(graph("m", [], tables)).SerializeToString()
    whole = outcome(source)
    assert isinstance(whole, list) and len(whole) == 12
    for size in range(1024, len(source), 1024):
        assert outcome(source[:size]) == "file_malformed"


def as_onnx_reads(source: bytes) -> list[bytes] | None:
    """The numbers of the main graph's initializers; None where onnx cannot read them."""
    try:
        tables = onnx.load_model_from_string(source).graph.initializer
        return [numpy_helper.to_array(tensor).tobytes() for tensor in tables]
    except Exception:  # whatever onnx, protobuf and NumPy complain with
        return None


def test_every_byte_changed() -> None:
    """An error, or the answer that onnx gives: lengths, types, names, numbers."""
    source = model(graph("m", [], [table("w")])).SerializeToString()
    answers = 0
    for at in range(len(source)):
        for value in {0, 1, 8, 127, 128, 255, source[at] ^ 1, source[at] ^ 4, (source[at] + 1) & 255, (source[at] - 1) & 255}:
            changed = source[:at] + bytes([value]) + source[at + 1:]
            result = outcome(changed)
            if isinstance(result, list):
                theirs = as_onnx_reads(changed)
                assert theirs is None or result == theirs
                answers += 1
            else:
                assert result in ("file_malformed", "unsupported")
    assert answers > len(source)


@pytest.mark.parametrize("depth", [1, 63, 64, 70])
def test_depth_of_graphs(depth: int) -> None:
    inner = block(5, table("w").SerializeToString())
    for _ in range(depth):
        inner = block(1, block(4, b"If") + block(5, block(1, b"body") + block(6, inner) + varint(20 << 3) + varint(5)))
    result = outcome(b"\x08\x08" + block(7, inner))
    assert result == ("file_malformed" if depth >= 64 else [np.arange(4, dtype=np.float32).tobytes()])


def test_recognition() -> None:
    assert outcome(b"\x08\x08\x12\x04test") == "file_malformed"  # a model without a graph
    for other in (b"hello world", b"\x08", b"\x10\x01\x10", b"\x0a\x05abcde", bytes(64), b"\xff" * 64, b"1 2 3\n"):
        assert outcome(other) in ("unsupported", "file_malformed")


def attribute(kind: int, *fields: bytes) -> bytes:
    """A model of one node, whose attribute has this type."""
    named = block(1, b"body") + b"".join(fields) + varint(20 << 3) + varint(kind)
    return b"\x08\x08" + block(7, block(1, block(4, b"If") + block(5, named)))


def tensor(*fields: bytes) -> bytes:
    """A model of one tensor w, float32, of two numbers."""
    return b"\x08\x08" + block(7, block(5, b"\x08\x02\x10\x01" + block(8, b"w") + b"".join(fields)))


def sparse(rank: int) -> bytes:
    entry = onnx.SparseTensorProto(values=numpy_helper.from_array(np.ones(1, np.float32), "w"), dims=[1] * rank,
                                   indices=numpy_helper.from_array(np.zeros((1, rank), np.int64), "i"))
    return b"\x08\x08" + block(7, block(15, entry.SerializeToString()))


EXTERNAL = block(13, block(1, b"location") + block(2, b"w.bin")) + b"\x70\x01"
WRONG = {
    "a tensor that is none": (attribute(4), "file_malformed"), "a graph that is none": (attribute(5), "file_malformed"),
    "a number within": (tensor(block(4, bytes(7))), "file_malformed"), "numbers": (tensor(block(4, bytes(8))), [bytes(8)]),
    "values twice": (tensor(block(9, bytes(8)), EXTERNAL), "file_malformed"),
    "a sparse tensor of 64 axes": (sparse(64), [np.ones(1, np.float32).tobytes()]),
    "a sparse tensor of 65 axes": (sparse(65), "unsupported"),
    "no graphs": (attribute(10), []), "a graph of graphs without its end": (attribute(10, block(11, b"\x2a\x05")), "file_malformed"),
    "two graphs": (attribute(10, *(block(11, block(5, table("w", start).SerializeToString())) for start in (0, 9))),
                   [np.arange(start, start + 4, dtype=np.float32).tobytes() for start in (0, 9)]),
}


@pytest.mark.parametrize("case", WRONG)
def test_one_field(case: str) -> None:
    source, expected = WRONG[case]
    assert outcome(source) == expected
