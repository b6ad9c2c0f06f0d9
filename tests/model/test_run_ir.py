# SPDX-License-Identifier: MIT
"""gather run on OpenVINO IR: every version and element type, with batch_dims, against NumPy; element types that only OpenVINO has, and the
operators beside the gathers."""

from __future__ import annotations

import itertools

import numpy as np
from onnx import numpy_helper
import pytest
import run_models as models
from test_run_onnx import equal, run


VERSIONS = [("Gather", "opset1"), ("Gather", "opset7"), ("Gather", "opset8"), ("GatherElements", "opset6")]
WAYS = ["const", "parameter", "convert", "reshape", "squeeze-last", "squeeze"]
CASES = [
    (*version, kind, WAYS[(n + k) % len(WAYS)])
    for (n, version), (k, kind) in itertools.product(enumerate(VERSIONS), enumerate(models.IR_TYPES))
]


def index_layers(net, way, indices):
    """The layers that give the indices, and what the test set brings."""
    kind = "i32" if indices.dtype == np.int32 else "i64"
    if way == "const":
        return net.const("ids", kind, indices), []
    inner = {"reshape": indices.reshape(-1), "squeeze-last": indices[:, None], "squeeze": indices[None]}.get(way, indices)
    if way == "convert":
        inner = inner.astype(np.uint8)
    given = net.parameter("ids", {"uint8": "u8", "int32": "i32", "int64": "i64"}[str(inner.dtype)], inner.shape)
    if way == "parameter":
        return given, [inner]
    if way == "convert":
        data = f'<data destination_type="{kind}"/>'
        return net.node("c", "Convert", "opset1", data, [given], kind, indices.shape), [inner]
    if way == "reshape":
        to = net.const("to", "i64", np.array([0 if indices.ndim == 1 else -1, *indices.shape[1:]]))
        return net.node("r", "Reshape", "opset1", '<data special_zero="true"/>', [given, to], kind, indices.shape), [inner]
    axis = net.const("to", "i64", np.array([1 if way == "squeeze-last" else 0]))
    name = "Squeeze"
    return net.node("s", name, "opset1", "", [given, axis], kind, indices.shape), [inner]


def make(folder, op, version, kind, way, seed):
    rng = np.random.default_rng(seed)
    data = models.random_data(rng, models.IR_TYPES[kind][0], (3, 4, 5))
    batch = int(rng.integers(0, 3)) if version in ("opset7", "opset8") else 0
    axis = int(rng.integers(batch, 3))
    shape = (*data.shape[:batch], 2, 3)[: max(batch + 1, 2)] if op == "Gather" else (*data.shape[:axis], 2, *data.shape[axis + 1 :])
    low = -data.shape[axis] if version in ("opset8", "opset6") and way != "convert" else 0
    indices = rng.integers(low, data.shape[axis], shape).astype(np.int32 if seed % 2 else np.int64)
    wanted = models.take(data, indices, axis, batch) if op == "Gather" else models.take_along(data, indices, axis)
    net = models.Net()
    in_file = seed % 3 != 0
    x = net.const("x", kind, data) if in_file else net.parameter("x", kind, data.shape)
    ids, brought = index_layers(net, way, indices)
    if op == "Gather":
        sources = [x, ids, net.const("axis", "i32", np.array(axis - 3 if seed % 5 == 0 else axis, np.int32))]
        words = "" if version == "opset1" else f'<data batch_dims="{batch}"/>'
    else:
        sources, words = [x, ids], f'<data axis="{axis}"/>'
    y = net.node("g", op, version, words, sources, kind, wanted.shape)
    net.layer("r_out", "Result", "opset1", "", [y], "")
    onnx_name = models.IR_TYPES[kind][0]
    tensors = [] if in_file else [models.tensor_of("x", onnx_name, data)]
    tensors += [numpy_helper.from_array(array) for array in brought]
    models.test_set(folder / "set", tensors, models.tensor_of("y", onnx_name, wanted))
    return net.save(folder)


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: "-".join(CASES[i]))
def test_models(case, tmp_path):
    path = make(tmp_path, *CASES[case], case)
    equal(path, tmp_path / "set")


def small(folder, op="Gather", version="opset8"):
    net = models.Net()
    x = net.const("x", "f32", np.arange(1, 13, dtype=np.float32).reshape(4, 3))
    ids = net.parameter("ids", "i64", (2,))
    axis = net.const("axis", "i64", np.array(0))
    net.layer("out", "Result", "opset1", "", [net.node("g", op, version, "", [x, ids, axis], "f32", (2, 3))], "")
    return net.save(folder)


@pytest.mark.parametrize("name", ["g", "out"])
def test_output_names(name, tmp_path):
    """Outputs go by the layer's name, or by the Result's."""
    code, answer = run(small(tmp_path), "--input", "ids=[0, -1]", "--output", f"{name}={tmp_path}/y.npy")
    assert code == 0, answer
    assert np.load(tmp_path / "y.npy").tolist() == [[1, 2, 3], [10, 11, 12]]


def test_bad_indices(tmp_path):
    """Gather-8 fills with zeros; Gather-7 has an error, which names the node."""
    path = small(tmp_path)
    assert run(path, "--input", "ids=[4, 0]", "--output", f"g={tmp_path}/y.npy")[0] == 0
    assert np.load(tmp_path / "y.npy").tolist() == [[0, 0, 0], [1, 2, 3]]
    code, answer = run(small(tmp_path, version="opset7"), "--input", "ids=[0, -1]")
    assert (code, answer["error"]["status"], answer["error"]["node"]) == (1, "index_out_of_range", "g")
    assert answer["error"]["rules"] == "openvino-7"


def test_one_node(tmp_path):
    """The axis comes from the file, so only the indices are asked for."""
    path = small(tmp_path)
    code, answer = run(path, "--node", "g")
    assert (code, answer["error"]["status"]) == (2, "usage") and "'ids'" in answer["error"]["message"]
    assert "'axis'" not in answer["error"]["message"]
    assert run(path, "--node", "g", "--input", "ids=[0, 1]")[0] == 0


# ---- types of OpenVINO's own, and other operators

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
