# SPDX-License-Identifier: MIT
"""gather run beside OpenVINO's CPU device on generated IR models: what OpenVINO gives must come out, bit for bit.

REFUSED and SURVIVING are all the places where OpenVINO is no judge, each with its reason (OpenVINO 2026.4.1).
"""

from __future__ import annotations

import importlib.util

import numpy as np
import peers
import pytest
import run_models as models
from test_run_onnx import equal

from support.skip import skip_test

VERSIONS = [("Gather", "opset1"), ("Gather", "opset7"), ("Gather", "opset8"), ("GatherElements", "opset6")]
ROUNDS = 4

# What its CPU device does not run, or runs wrong: the types are compared with NumPy in test_run_ir.py.
REFUSED = {
    "u1": "refuses the type", "u3": "refuses the type", "u6": "refuses the type",
    "u2": "takes each element for a byte", "nf4": "takes each element for a byte",
    "f4e2m1": "takes each element for a byte",
    ("GatherElements", "string"): "refuses strings",
}  # fmt: skip
# Values that survive what the CPU device makes of the type.
SURVIVING = {
    "i64": "is computed in 32 bits", "u64": "is computed in 32 bits", "f64": "is computed as f32",
    "u32": "constants are cut to i32", "f16": "NaNs that signal become quiet",
    "f32": "NaNs that signal become quiet, and subnormal constants zero",
}  # fmt: skip
# Models of version 10 get and give these types only: the others are converted to them at their inputs and outputs.
VERSION_10 = ("f32", "i32")

CASES = [
    (*version, kind, turn)
    for version in VERSIONS
    for kind in models.IR_TYPES
    if kind not in REFUSED and (version[0], kind) not in REFUSED
    for turn in range(ROUNDS)
]


def data_of(rng, kind: str, shape) -> np.ndarray:
    if kind in ("i64", "u64", "u32"):
        return rng.integers(-(2**31) if kind == "i64" else 0, 2**31, shape).astype(models.BYTE_TYPES[models.IR_TYPES[kind][0]])
    if kind == "f64":
        return rng.standard_normal(shape).astype(np.float32).astype(np.float64)
    data = models.random_data(rng, models.IR_TYPES[kind][0], shape)
    if kind in ("f16", "f32"):
        floats = data.view(np.float16 if kind == "f16" else np.float32)
        bits = floats.view(np.uint16 if kind == "f16" else np.uint32)
        bits[np.isnan(floats)] |= np.array(1 << (9 if kind == "f16" else 22), bits.dtype)
        floats[np.abs(floats) < np.finfo(floats.dtype).tiny] = 1
    return data


class Case:
    """One model, with what it is given and what OpenVINO says."""

    def __init__(self, folder, op, version, kind, turn, number):
        self.folder, self.rng, self.net, self.given = folder, np.random.default_rng(number), models.Net(), []
        self.number, self.answer = number, None
        self.version = 10 if kind in VERSION_10 and turn % 2 else 11
        folder.mkdir()
        batch = int(self.rng.integers(0, 3)) if version in ("opset7", "opset8") else 0
        shape = tuple(int(n) for n in self.rng.integers(2, 6, 3))
        axis = int(self.rng.integers(batch, 3))
        data = data_of(self.rng, kind, shape)
        plain = kind in ("string", "i4", "u4")  # only constants of these are fed here
        x = self.net.const("x", kind, data) if plain or turn % 2 else self.parameter("x", kind, data)
        ids, index_shape = self.indices(op, version, shape, axis, batch, number % 9)
        if op == "Gather":
            sign = -3 if number % 5 == 0 else 0
            form = np.array(axis + sign, np.int32) if number % 2 else np.array([axis + sign], np.int64)
            below = len(index_shape) if number % 7 == 0 else 0  # batch_dims counts from the rank of indices
            words = "" if version == "opset1" else f'<data batch_dims="{batch - below}"/>'
            where = self.net.const("axis", "i32" if number % 2 else "i64", form)
            y_shape = (*shape[:axis], *index_shape[batch:], *shape[axis + 1 :])
            y = self.net.node("g", op, version, words, [x, ids, where], kind, y_shape)
        else:
            y_shape = index_shape
            y = self.net.node("g", op, version, f'<data axis="{axis - (3 if number % 5 == 0 else 0)}"/>', [x, ids], kind, y_shape)
        self.net.result(y, "out")
        if number % 3 == 0:
            narrow = self.version == 10 or number % 2
            opset, words = ("opset3", '<data output_type="i32"/>') if narrow else ("opset1", "")
            of = self.net.node("shape", "ShapeOf", opset, words, [y], "i32" if narrow else "i64", (len(y_shape),))
            self.net.result(of, "shape_out")
        self.path = self.net.save(folder, self.version)

    def parameter(self, name, kind, array):
        self.given.append((kind, array))
        return self.net.parameter(name, kind, array.shape)

    def indices(self, op, version, shape, axis, batch, way):
        """The layers that give the indices, in one of nine ways."""
        wide = self.version == 11 and bool(self.rng.integers(0, 2))
        kind, dtype = ("i64", np.int64) if wide else ("i32", np.int32)
        low = -shape[axis] if version in ("opset8", "opset6") and way != 2 else 0
        index_shape = (*shape[:batch], 2, 3)[: batch + 1 + int(self.rng.integers(0, 2))]
        if op == "GatherElements":
            index_shape = (*shape[:axis], 4, *shape[axis + 1 :])
        ids = self.rng.integers(low, shape[axis], index_shape).astype(dtype)
        rank, net = ids.ndim, self.net
        axes = lambda *values: net.const("axes", "i64", np.array(values))  # noqa: E731
        if way == 0:
            return net.const("ids", kind, ids), ids.shape
        if way == 1:
            return self.parameter("ids", kind, ids), ids.shape
        if way == 2:
            given = self.parameter("ids", "u8", ids.astype(np.uint8))
            return net.node("c", "Convert", "opset1", f'<data destination_type="{kind}"/>', [given], kind, ids.shape), ids.shape
        if way == 3:  # the first length is kept, the others are merged and taken apart again
            flat = self.parameter("ids", kind, ids.reshape(ids.shape[0], -1))
            target = axes(*[0, -1, *ids.shape[2:]][:rank]) if rank > 1 else axes(-1)
            words = '<data special_zero="true"/>'
            return net.node("r", "Reshape", "opset1", words, [flat, target], kind, ids.shape), ids.shape
        if way == 4:
            given = self.parameter("ids", kind, ids[None, ..., None])
            return net.node("s", "Squeeze", "opset1", "", [given, axes(0, -1)], kind, ids.shape), ids.shape
        if way == 5:
            part = ids.reshape(ids.shape[1:]) if ids.shape[0] == 1 else ids
            given = self.parameter("ids", kind, part)
            if part is ids:
                return given, ids.shape
            return net.node("u", "Unsqueeze", "opset1", "", [given, axes(0)], kind, ids.shape), ids.shape
        if way == 6:  # another tensor has the shape
            like = self.parameter("like", "u8", np.zeros(ids.shape, np.uint8))
            flat = self.parameter("ids", kind, ids.reshape(-1))
            opset, words = ("opset3", f'<data output_type="{kind}"/>') if wide else ("opset1", "")
            of = net.node("of", "ShapeOf", opset, words, [like], kind if wide else "i64", (rank,))
            return net.node("r", "Reshape", "opset1", '<data special_zero="false"/>', [flat, of], kind, ids.shape), ids.shape
        if way == 7:  # an index is gathered itself
            table = net.const("table", kind, ids.reshape(-1))
            given = self.parameter("ids", "i32", np.arange(ids.size, dtype=np.int32).reshape(ids.shape))
            zero = net.const("zero", "i32", np.array(0, np.int32))
            return net.node("first", "Gather", "opset8", "", [table, given, zero], kind, ids.shape), ids.shape
        pair = [(ids, "i32", "a"), (ids[None], "i64", "b")]
        array, wire, name = pair[self.number % 2 if self.version == 11 else 0]
        given = self.parameter(name, wire, array.astype(np.int32 if wire == "i32" else np.int64))
        if wire == "i64":
            given = net.node("s", "Squeeze", "opset1", "", [given, axes(0)], wire, ids.shape)
        other = f'<data destination_type="{kind}"/>'
        return net.node("c", "Convert", "opset1", other, [given], kind, ids.shape), ids.shape

    def job(self) -> dict:
        inputs = []
        for i, (kind, array) in enumerate(self.given):
            file = self.folder / f"given{i}.raw"
            file.write_bytes(models.raw_bytes(models.IR_TYPES[kind][0], array))
            inputs.append({"file": str(file), "type": kind, "shape": list(array.shape)})
        return {"path": str(self.path), "inputs": inputs}

    def wanted(self) -> list:
        return [onnx_tensor(output) for output in self.answer["outputs"]]


def onnx_tensor(output: dict):
    """A TensorProto of what OpenVINO gave."""
    number = models.TensorProto.DataType.Value(models.IR_TYPES[output["type"]][0])
    tensor = models.TensorProto(name="", data_type=number, dims=output["shape"])
    if output["type"] == "string":
        tensor.string_data.extend(bytes.fromhex(word) for word in output["content"])
    else:
        tensor.raw_data = bytes.fromhex(output["content"])
    return tensor


@pytest.fixture(scope="module")
def cases(request, tmp_path_factory):
    """The models that are compared, by their numbers, run by OpenVINO in one process."""
    if importlib.util.find_spec("openvino") is None:
        skip_test("openvino", "the package is not installed")
    folder = tmp_path_factory.mktemp("ir")
    compared = sorted(item.callspec.params["number"] for item in request.session.items if getattr(item, "function", None) is test_models)
    made = {i: Case(folder / str(i), *CASES[i], i) for i in compared}
    for case, answer in zip(made.values(), peers.ask([case.job() for case in made.values()]), strict=True):
        case.answer = answer
    return made


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: "-".join(map(str, CASES[i])))
def test_models(cases, number):
    case = cases[number]
    assert not case.answer["error"] and "died" not in case.answer, case.answer
    given = [models.tensor_of("", models.IR_TYPES[kind][0], array) for kind, array in case.given]
    models.test_set(case.folder / "set", given, *case.wanted())
    equal(case.path, case.folder / "set", len(case.answer["outputs"]))


def test_enough():
    assert len(CASES) >= 150
    assert len({case[2] for case in CASES}) == len(models.IR_TYPES) - sum(kind in models.IR_TYPES for kind in REFUSED)


def lone(folder, op, kind, data, version=11):
    """A model whose table is given, and its answer."""
    net = models.Net()
    folder.mkdir()
    x = net.parameter("x", kind, data.shape)
    ids = net.const("ids", "i64", np.array([2, 0, 1]))
    sources = [x, ids, net.const("axis", "i64", np.array(0))] if op == "Gather" else [x, ids]
    words = "" if op == "Gather" else '<data axis="0"/>'
    net.result(net.node("g", op, "opset8", words, sources, kind, (3,)), "out")
    file = folder / "x.raw"
    file.write_bytes(models.raw_bytes(models.IR_TYPES[kind][0], data))
    inputs = [{"file": str(file), "type": kind, "shape": list(data.shape)}]
    return {"path": str(net.save(folder, version)), "inputs": inputs}


def test_deviations(tmp_path):
    """The tables say what is so; a version of OpenVINO that can more turns this red."""
    if importlib.util.find_spec("openvino") is None:
        skip_test("openvino", "the package is not installed")
    far = {"i64": 2**40 + 1, "u64": 2**40 + 1, "f64": 0.1}
    jobs = [
        lone(tmp_path / f"f{kind}", "Gather", kind, np.array([1, 2, far[kind]], models.BYTE_TYPES[models.IR_TYPES[kind][0]]))
        for kind in far
    ]
    jobs.append(lone(tmp_path / "v10", "Gather", "u8", np.arange(3, dtype=np.uint8), 10))
    wide, _, real, old = peers.ask(jobs)
    assert np.frombuffer(bytes.fromhex(wide["outputs"][0]["content"]), np.int64)[0] != far["i64"]
    assert np.frombuffer(bytes.fromhex(real["outputs"][0]["content"]))[0] != far["f64"]
    assert old["error"] or old["outputs"][0]["type"] == "f32"
