# SPDX-License-Identifier: MIT
"""gather run on OpenVINO IR: element types that only OpenVINO has, and the operators beside the gathers, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import run_models as models
from test_run_onnx import run

VERSIONS = [("Gather", "opset1"), ("Gather", "opset7"), ("Gather", "opset8"), ("GatherElements", "opset6")]
BITS = {"u1": 1, "u3": 3, "u6": 6, "nf4": 4, "u2": 2, "f4e2m1": 4, "u4": 4, "i4": 4}
PRECISION = {"u1": "BIN"}


def bits_to_bytes(bits) -> bytes:
    """The first bit on top."""
    return np.packbits(np.asarray(bits, np.uint8).reshape(-1)).tobytes()


def planes(numbers, low: int, group: int) -> bytes:
    """Groups of 3 bytes: two of the low bits, first value on top, and one of the bits above them."""
    padded = np.zeros(-(-numbers.size // group) * group, np.uint8)
    padded[: numbers.size] = numbers.reshape(-1)
    out = bytearray()
    high = 8 // group
    for block in padded.reshape(-1, group):
        for half in (block[: group // 2], block[group // 2 :]):
            out += bits_to_bytes([n >> k & 1 for n in half for k in reversed(range(low))])
        out += bits_to_bytes([n >> low + k & 1 for n in block for k in reversed(range(high))])
    return bytes(out)


def packed(kind: str, numbers: np.ndarray) -> bytes:
    if kind == "u1":
        return bits_to_bytes(numbers)
    if kind == "u3":
        return planes(numbers, 2, 8)
    return planes(numbers, 4, 4) if kind == "u6" else models.packed_bytes(numbers, BITS[kind])


def test_packing():
    """Worked out by hand."""
    assert packed("u1", np.array([0, 0, 0, 0, 0, 0, 0, 1])) == b"\x01"
    assert packed("u3", np.array([7, 0, 0, 0, 0, 0, 0, 1])) == b"\xc0\x01\x80"
    assert packed("u6", np.array([0x3F, 0, 0, 0x12])) == b"\xf0\x02\xc1"
    assert packed("nf4", np.array([1, 2])) == b"\x21"


def const(net, name, kind, numbers):
    """A constant of a type that run_models has not."""
    content = packed(kind, numbers)
    begin = len(net.bin) + 1
    net.bin += b"\x55" + content
    shape = ",".join(map(str, numbers.shape))
    data = f'<data element_type="{kind}" shape="{shape}" offset="{begin}" size="{len(content)}"/>'
    return net.layer(name, "Const", "opset1", data, [], net.ports(numbers.shape, PRECISION.get(kind, kind.upper()), 0)), 0


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("op, version", VERSIONS)
@pytest.mark.parametrize("turn", range(3))
def test_packed_types(op, version, kind, turn, tmp_path):
    rng = np.random.default_rng(turn * 100 + len(kind))
    data = rng.integers(0, 1 << BITS[kind], ((5, 3), (3, 7), (2, 8, 3))[turn]).astype(np.uint8)
    axis, net = turn % data.ndim, models.Net()
    low = -data.shape[axis] if version in ("opset8", "opset6") else 0
    shape = (4,) if op == "Gather" else (*data.shape[:axis], 4, *data.shape[axis + 1 :])
    ids = rng.integers(low, data.shape[axis], shape)
    x = const(net, "x", kind, data)
    sources = [x, net.const("ids", "i64", ids)]
    if op == "Gather":
        sources.append(net.const("axis", "i32", np.array(axis, np.int32)))
    wanted = models.take(data, ids, axis) if op == "Gather" else models.take_along(data, ids, axis)
    words = "" if op == "Gather" else f'<data axis="{axis}"/>'
    ports = net.ports(wanted.shape, PRECISION.get(kind, kind.upper()), len(sources))
    net.result((net.layer("g", op, version, words, sources, ports), len(sources)), "out")
    out = tmp_path / "y.bin"
    code, answer = run(net.save(tmp_path), "--output", f"g={out}")
    assert code == 0, answer
    assert answer["outputs"][0]["shape"] == list(wanted.shape)
    assert out.read_bytes() == packed(kind, wanted)


def test_zeros_of_packed_types(tmp_path):
    """Gather-8 fills with zero bits where an index is out of range, between others that stay."""
    for kind in BITS:
        net, data = models.Net(), np.full((3, 3), (1 << BITS[kind]) - 1, np.uint8)
        sources = [const(net, "x", kind, data), net.const("ids", "i64", np.array([0, 3, 2, -4])), net.const("a", "i32", np.array(0, np.int32))]
        wanted = np.stack([data[0], 0 * data[0], data[0], 0 * data[0]])
        net.result((net.layer("g", "Gather", "opset8", "", sources, net.ports((4, 3), "U4", 3)), 3), "out")
        folder = tmp_path / kind
        folder.mkdir()
        assert run(net.save(folder), "--output", f"g={folder}/y.bin")[0] == 0
        assert (folder / "y.bin").read_bytes() == packed(kind, wanted), kind


def plumbing(folder, op, version, words, data, others, kind="i64", version_of_net=11):
    """A model of one operator whose data is given; others: constants. Gives the answer and the output."""
    folder.mkdir(exist_ok=True)
    net = models.Net()
    sources = [net.parameter("x", "i64", data.shape)]
    sources += [net.const(f"c{i}", "i64", np.array(other)) for i, other in enumerate(others)]
    net.result(net.node("n", op, version, words, sources, kind, ()), "out")
    np.save(folder / "x.npy", data)
    out = folder / "y.npy"
    out.unlink(missing_ok=True)
    code, answer = run(net.save(folder, version_of_net), "--input", f"x={folder}/x.npy", "--output", f"n={out}")
    return code, answer, np.load(out) if code == 0 else None


X = np.arange(24).reshape(1, 4, 1, 6)
ZERO, NO_ZERO = '<data special_zero="true"/>', '<data special_zero="false"/>'
RIGHT = [
    ("Reshape", "opset1", ZERO, [[0, -1]], X.reshape(1, 24)),
    ("Reshape", "opset1", ZERO, [[0, 0, 6]], X.reshape(1, 4, 6)),
    ("Reshape", "opset1", NO_ZERO, [[2, -1]], X.reshape(2, 12)),
    ("Reshape", "opset1", NO_ZERO, [[24]], X.reshape(24)),
    ("Squeeze", "opset1", "", [[0]], X.reshape(4, 1, 6)),
    ("Squeeze", "opset1", "", [[0, -2]], X.reshape(4, 6)),
    ("Squeeze", "opset1", "", [-2], X.reshape(1, 4, 6)),
    ("Squeeze", "opset15", "", [[0, 2]], X.reshape(4, 6)),
    ("Squeeze", "opset1", "", [], X.reshape(4, 6)),
    ("Unsqueeze", "opset1", "", [[0]], X[None]),
    ("Unsqueeze", "opset1", "", [[-1, 1]], X.reshape(1, 1, 4, 1, 6, 1)),
    ("Unsqueeze", "opset1", "", [2], X.reshape(1, 4, 1, 1, 6)),
    ("Transpose", "opset1", "", [[3, 0, 1, 2]], X.transpose(3, 0, 1, 2)),
    ("Transpose", "opset1", "", [np.zeros(0, np.int64)], X.transpose()),
    ("Concat", "opset1", '<data axis="1"/>', [X[:, :2], X[:, 1:]], np.concatenate([X, X[:, :2], X[:, 1:]], 1)),
    ("Concat", "opset1", '<data axis="-1"/>', [X[..., :1]], np.concatenate([X, X[..., :1]], -1)),
    ("Concat", "opset1", '<data axis="0"/>', [], X),
    ("ShapeOf", "opset1", "", [], np.array([1, 4, 1, 6])),
    ("ShapeOf", "opset3", '<data output_type="i64"/>', [], np.array([1, 4, 1, 6])),
    ("ShapeOf", "opset3", '<data output_type="i32"/>', [], np.array([1, 4, 1, 6], np.int32)),
    ("Convert", "opset1", '<data destination_type="u8"/>', [], X.astype(np.uint8)),
    ("Convert", "opset1", '<data destination_type="i32"/>', [], X.astype(np.int32)),
    ("Convert", "opset1", '<data destination_type="i64"/>', [], X),
]
WRONG = [
    ("Reshape", "opset1", ZERO, [[0, 0, 0, 0, 0]], "shape_mismatch"),
    ("Reshape", "opset1", NO_ZERO, [[0, -1]], "shape_mismatch"),
    ("Reshape", "opset1", ZERO, [[-1, -1]], "shape_mismatch"),
    ("Reshape", "opset1", ZERO, [[5, -1]], "shape_mismatch"),
    ("Reshape", "opset1", ZERO, [], "file_malformed"),
    ("Squeeze", "opset1", "", [[4]], "axis_out_of_range"),
    ("Unsqueeze", "opset1", "", [[6]], "axis_out_of_range"),
    ("Unsqueeze", "opset1", "", [[1, 1]], "shape_mismatch"),
    ("Unsqueeze", "opset1", "", [], "file_malformed"),
    ("Convert", "opset1", '<data destination_type="f32"/>', [], "unsupported"),
    ("Convert", "opset1", "", [], "unsupported"),
    ("Reverse", "opset1", "", [[0]], "unsupported"),
    ("Transpose", "opset1", "", [[0, 1, 1, 2]], "shape_mismatch"),
    ("Transpose", "opset1", "", [[0, 1]], "shape_mismatch"),
    ("Transpose", "opset1", "", [], "file_malformed"),
    ("Concat", "opset1", "", [], "file_malformed"),
    ("Concat", "opset1", '<data axis="9"/>', [], "axis_out_of_range"),
]


@pytest.mark.parametrize("op, version, words, others, wanted", RIGHT, ids=lambda v: str(v)[:24] if isinstance(v, (str, list)) else "")
@pytest.mark.parametrize("net_version", [10, 11])
def test_beside_gathers(op, version, words, others, wanted, net_version, tmp_path):
    code, answer, made = plumbing(tmp_path, op, version, words, X, others, version_of_net=net_version)
    assert code == 0, answer
    assert made.dtype == wanted.dtype and made.shape == wanted.shape and np.array_equal(made, wanted)


@pytest.mark.parametrize("op, version, words, others, status", WRONG, ids=lambda v: str(v)[:24])
def test_wrong_ones_beside_gathers(op, version, words, others, status, tmp_path):
    code, answer, _ = plumbing(tmp_path, op, version, words, X, others)
    assert answer["error"]["status"] == status and answer["error"].get("node", "n") == "n", answer
    assert code == {"file_malformed": 3, "unsupported": 4}.get(status, 1)


@pytest.mark.parametrize("version", ["opset1", "opset7", "opset8"])
def test_strings(version, tmp_path):
    """String constants of an IR: gathered, written as a TensorProto, and empty where Gather-8 fills."""
    words = np.array([b"", b"a", b"\xff\x00z", "ä".encode()], object).reshape(2, 2)
    net, bad = models.Net(), version == "opset8"
    sources = [net.const("x", "string", words), net.parameter("ids", "i32", (2,)), net.const("axis", "i64", np.array(1))]
    net.result(net.node("g", "Gather", version, "", sources, "string", (2, 2)), "out")
    out = tmp_path / "y.pb"
    code, answer = run(net.save(tmp_path), "--input", "ids=[1, 2]" if bad else "ids=[1, 0]", "--output", f"g={out}")
    assert code == 0, answer
    tensor = models.onnx.TensorProto.FromString(out.read_bytes())
    right = words[:, [1, 0]]
    if bad:
        right[:, 1] = b""
    assert list(tensor.dims) == [2, 2] and list(tensor.string_data) == right.reshape(-1).tolist()
    code, answer = run(tmp_path / "model.xml", "--input", "ids=[1, 0]", "--output", f"g={tmp_path}/y.npy")
    assert (code, answer["error"]["status"]) == (4, "unsupported") and not (tmp_path / "y.npy").exists()
