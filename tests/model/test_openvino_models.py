# SPDX-License-Identifier: MIT
"""gather check on IR files that OpenVINO writes: of real and exported ONNX models, and of models made in its own opsets."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import onnx
import pytest

import real
from support.openvino_package import needs_openvino, ov  # noqa: F401  the fixture holds for the whole file
from support.packed import unpacked

if ov:
    from openvino import Dimension, PartialShape, opset1, opset6, opset7, opset8

TORCH = unpacked(Path(__file__).parent / "data" / "torch.tar.xz")
EXPORTED = sorted(TORCH.glob("*.onnx"))
BODIES = {"If": ("then_body", "else_body"), "Loop": ("body",), "TensorIterator": ("body",)}


# ---- what OpenVINO says


@functools.cache
def core():
    return ov.Core()


def body_of(node, name):
    return {"then_body": lambda: node.get_then_body(), "else_body": lambda: node.get_else_body()}.get(
        name, lambda: node.get_function() if hasattr(node, "get_function") else node.get_body()
    )()


def port_of(port) -> dict:
    """Type and shape: a number, None for a length that is not known, None for a rank that is not."""
    shape, kind = port.get_partial_shape(), port.get_element_type()
    dims = None if shape.rank.is_dynamic else [d.get_length() if d.is_static else None for d in shape]
    return {"type": None if kind.is_dynamic() else kind.to_dtype().name, "shape": dims, "partial": shape}


GATHER = ("Gather", "GatherElements", "GatherND")
WRITE = ("ScatterUpdate", "ScatterElementsUpdate", "ScatterNDUpdate")


def axis_of(node, rank) -> int | None:
    """The axis, where a constant gives it; from the front where the rank is known."""
    if node.get_type_name() == "GatherND":  # the first one that tuples select on
        axis = node.get_attributes()["batch_dims"]
    elif node.get_type_name() == "ScatterNDUpdate":
        axis = 0
    elif node.get_type_name() == "GatherElements":
        axis = node.get_attributes()["axis"]
    else:
        source = node.input_value(3 if node.get_type_name() in WRITE else 2).get_node()
        if source.get_type_name() != "Constant":
            return None
        axis = int(source.get_data().reshape(-1)[0])
    return axis + rank if axis < 0 and rank is not None else axis


def openvino_says(model, path="main") -> list[dict]:
    """Every gather node of a model and of the bodies in it."""
    found = []
    for node in model.get_ops():
        kind, version = node.get_type_info().name, node.get_type_info().version_id
        if kind in GATHER or kind in WRITE:
            data, indices, output = port_of(node.input(0)), port_of(node.input(1)), port_of(node.output(0))
            found.append({"name": node.get_friendly_name(), "op": kind, "graph": path, "data": data, "indices": indices, "output": output})
            found[-1] |= {"domain": version}
            if kind in GATHER:  # a version may be of several operator sets
                found[-1] |= {"rules": f"openvino-{version.removeprefix('opset')}"}
            found[-1] |= {"axis": axis_of(node, None if data["shape"] is None else len(data["shape"]))}
            found[-1] |= {"batch_dims": node.get_attributes().get("batch_dims", 0), "names": node.output(0).get_names()}
        for name in BODIES.get(kind, ()):
            found += openvino_says(body_of(node, name), f"{path}/{node.get_friendly_name()}/{name}")
    return found


def place(node: dict) -> tuple:
    return node["graph"], node["name"]


def more_faults(ours: dict, theirs: dict) -> list[str]:
    """What the comparison with onnx does not look at."""
    keys = ("domain", "batch_dims")
    faults = [f"{key} is {ours[key]!r}, not {theirs[key]!r}" for key in keys if ours[key] != theirs[key]]
    if theirs["names"] and ours["output"]["name"] not in theirs["names"]:
        faults.append(f"the output is called {ours['output']['name']}, not {theirs['names']}")
    for role in ("data", "indices", "output"):
        partial, shape = theirs[role]["partial"], ours[role]["shape"]
        if shape is None or partial.rank.is_dynamic:
            continue
        for mine, other in zip(shape, partial, strict=True):
            if isinstance(mine, int) and mine >= 0 and not other.compatible(Dimension(mine)):
                faults.append(f"{role}: {mine} is not within {other}")
    return faults


def faults_of(path, model) -> list[str]:
    """Our answer for an IR file beside the model that OpenVINO reads there."""
    ours = sorted(real.check(path)["nodes"], key=place)
    theirs = sorted(openvino_says(model), key=place)
    if len(set(map(place, theirs))) != len(theirs):
        return ["two nodes of one name"]
    faults = real.compare(ours, theirs)
    if len(ours) == len(theirs):
        pairs = zip(ours, theirs, strict=True)
        faults += [f"{place(a)}: {fault}" for a, b in pairs for fault in more_faults(a, b)]
    return faults


def write(model, folder: Path, way: str) -> Path:
    path = folder / f"{way}.xml"
    if way == "serialize":
        ov.serialize(model, str(path), str(path.with_suffix(".bin")))
    else:
        ov.save_model(model, str(path), compress_to_fp16=way == "half")
    return path


WAYS = ["serialize", "save", "half"]


def beside_openvino(model, folder) -> int:
    """Writes it in each way, reads and compares; gives how many gather nodes it has."""
    count = len(openvino_says(model))
    for way in WAYS:
        path = write(model, folder, way)
        again = core().read_model(str(path))
        assert len(openvino_says(again)) == count, "OpenVINO writes what it does not read"
        faults = faults_of(path, again)
        assert not faults, f"{way}:\n" + "\n".join(faults)
    return count


# ---- ONNX models that went through it

# What OpenVINO does not take, and whose it is.
NOT_READ = {
    "silero_vad.onnx": "the rank after an If in an If is lost before Conv",
    "silero_vad_16k_op15.onnx": "the rank after an If in an If is lost before Conv",
    "silero_vad_half.onnx": "the rank after an If in an If is lost before Conv",
    "embeddingbag_dynamo18.onnx": "CastLike and a Loop whose types it does not find",
    "embeddingbag_dynamo23.onnx": "CastLike and a Loop whose types it does not find",
    "relativepositions_script11.onnx": "Clip of int64 with a float bound, as PyTorch exports it",
}


def read(path: Path):
    try:
        return core().read_model(str(path))
    except RuntimeError as error:
        if path.name in NOT_READ:
            return None
        raise AssertionError(f"OpenVINO does not read {path.name}: {error}") from error


@pytest.mark.parametrize("package", ["silero-vad", "magika", "rapidocr-onnxruntime"])
def test_real_models(package, tmp_path):
    models = {path.name: read(path) for path in real.files_of(package)}
    counts = {name: beside_openvino(model, tmp_path) for name, model in models.items() if model is not None}
    assert counts and (package != "silero-vad" or sum(counts.values()) > 5)


@pytest.mark.parametrize("path", EXPORTED, ids=[path.stem for path in EXPORTED])
def test_exported_models(path, tmp_path):
    model = read(path)
    if model is None:
        with pytest.raises(RuntimeError):
            core().read_model(str(path))
        return
    count = beside_openvino(model, tmp_path)
    assert count >= 1 or not real.onnx_says(onnx.load(path))


# ---- its own opsets

DATA = {
    "fixed": [4, 5, 6],
    "dynamic": [-1, 5, -1],
    "intervals": [(1, 8), 5, (2, -1)],
    "rank": None,
}


def partial(dims):
    if dims is None:
        return PartialShape.dynamic()
    return PartialShape([Dimension(*d) if isinstance(d, tuple) else Dimension(d) for d in dims])


def gather_of(version: str, data, indices, axis):
    if version == "6":
        return opset6.gather_elements(data, indices, axis, name="g")
    place = opset1.constant(np.int64(axis), np.int64)
    if version == "1":
        return opset1.gather(data, indices, place, name="g")
    return {"7": opset7, "8": opset8}[version].gather(data, indices, place, batch_dims=0 if axis == 0 else 1, name="g")


@pytest.mark.parametrize("shape", DATA)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("version", ["1", "6", "7", "8"])
def test_own_opsets(version, axis, shape, tmp_path):
    x = opset1.parameter(partial(DATA[shape]), np.float16, name="x")
    ids = opset1.parameter(partial(DATA[shape] if version == "6" else DATA[shape] and DATA[shape][:2]), np.int32, name="ids")
    x.output(0).set_names({"x"})
    ids.output(0).set_names({"ids"})
    model = ov.Model([gather_of(version, x, ids, axis)], [x, ids], "own")
    assert beside_openvino(model, tmp_path) == 1
    node = real.check(write(model, tmp_path, "serialize"))["nodes"][0]
    assert (node["rules"], node["axis"], node["batch_dims"]) == (f"openvino-{version}", axis, axis if version in "78" else 0)


def small_body(values):
    """A body that picks a row of what it is given."""
    x = opset1.parameter(PartialShape([-1, 3]), np.float32, name="x")
    indices = opset1.constant(np.array(values, np.int64))
    row = opset8.gather(x, indices, opset1.constant(np.int64(0)), name="inner")
    return x, row


def model_with_if():
    condition = opset1.parameter(PartialShape([]), np.bool_, name="condition")
    x = opset1.parameter(PartialShape([4, 3]), np.float32, name="x")
    branch = opset8.if_op(condition)
    branch.set_friendly_name("branch")
    bodies = []
    for values in ([0, 1], [2]):
        given, row = small_body(values)
        bodies.append((ov.Model([opset1.result(row)], [given]), given))
    (then_body, then_x), (else_body, else_x) = bodies
    branch.set_then_body(then_body)
    branch.set_else_body(else_body)
    branch.set_input(x.output(0), then_x, else_x)
    out = branch.set_output(then_body.get_results()[0], else_body.get_results()[0])
    return ov.Model([opset1.result(out)], [condition, x], "with_if")


def model_with_loop():
    x = opset1.parameter(PartialShape([4, 3]), np.float32, name="x")
    loop = opset8.loop(opset1.constant(np.int64(3)), opset1.constant(np.bool_(True)))
    loop.set_friendly_name("loop")
    given, row = small_body([0, -1])
    go_on = opset1.constant(np.array([True]))
    body = ov.Model([opset1.result(go_on), opset1.result(row)], [given])
    loop.set_function(body)
    loop.set_special_body_ports([-1, 0])
    loop.set_invariant_input(given, x.output(0))
    out = loop.get_iter_value(body.get_results()[1].input_value(0), -1)
    return ov.Model([opset1.result(out)], [x], "with_loop")


def model_with_iterator():
    x = opset1.parameter(PartialShape([4, 2, 3]), np.float32, name="x")
    iterator = opset8.tensor_iterator()
    iterator.set_friendly_name("iterator")
    given = opset1.parameter(PartialShape([1, 2, 3]), np.float32, name="slice")
    axis = opset1.constant(np.int64(2))
    row = opset8.gather(given, opset1.constant(np.array([2, 0], np.int64)), axis, name="inner")
    body = ov.Model([opset1.result(row)], [given])
    iterator.set_body(body)
    iterator.set_sliced_input(given, x.output(0), 0, 1, 1, -1, 0)
    out = iterator.get_concatenated_slices(row.output(0), 0, 1, 1, -1, 0)
    return ov.Model([opset1.result(out)], [x], "with_iterator")


@pytest.mark.parametrize("make, paths", [
    (model_with_if, {"main/branch/then_body", "main/branch/else_body"}),
    (model_with_loop, {"main/loop/body"}),
    (model_with_iterator, {"main/iterator/body"}),
])  # fmt: skip
def test_bodies(make, paths, tmp_path):
    assert beside_openvino(make(), tmp_path) == len(paths)
    nodes = real.check(write(make(), tmp_path, "serialize"))["nodes"]
    assert {node["graph"] for node in nodes} == paths


# ---- version 10, which OpenVINO reads and no longer writes

LAYER = '<layer id="{id}" name="{name}" type="{kind}" version="{version}">{data}{ports}</layer>'


def ports(given, made, precision) -> str:
    """Input ports and the output port of a layer, as version 10 has them."""
    def dims(shape):
        return "".join(f"<dim>{n}</dim>" for n in shape)

    taken = "".join(f'<port id="{i}">{dims(shape)}</port>' for i, shape in enumerate(given))
    taken = f"<input>{taken}</input>" if given else ""
    return f'{taken}<output><port id="{len(given)}" precision="{precision}">{dims(made)}</port></output>'


def version_10(folder: Path, kind: str, version: str, attributes: str, ids: list[int], out: list[int]) -> Path:
    """x [4, 5] by ids; Gather takes its axis from a constant."""
    axis = np.int64(1).tobytes()
    (folder / "ten.bin").write_bytes(axis)
    sources = [[4, 5], ids] + ([[]] if kind == "Gather" else [])
    layers = [
        LAYER.format(id=0, name="x", kind="Parameter", version="opset1",
                     data='<data shape="4,5" element_type="f32"/>', ports=ports([], [4, 5], "FP32")),
        LAYER.format(id=1, name="ids", kind="Parameter", version="opset1",
                     data=f'<data shape="{",".join(map(str, ids))}" element_type="i64"/>', ports=ports([], ids, "I64")),
    ]  # fmt: skip
    if kind == "Gather":
        data = '<data element_type="i64" shape="" offset="0" size="8"/>'
        layers.append(LAYER.format(id=2, name="axis", kind="Const", version="opset1", data=data, ports=ports([], [], "I64")))
    node = LAYER.format(id=3, name="g", kind=kind, version=version, data=attributes, ports=ports(sources, out, "FP32"))
    shape = "".join(f"<dim>{n}</dim>" for n in out)
    result = f'<layer id="4" name="y" type="Result" version="opset1"><input><port id="0">{shape}</port></input></layer>'
    edges = [(i, 0, 3, i) for i in range(len(sources))] + [(3, len(sources), 4, 0)]
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    path = folder / "ten.xml"
    text = f'<?xml version="1.0"?><net name="ten" version="10"><layers>{"".join(layers)}{node}{result}</layers><edges>{lines}</edges></net>'
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind, version, attributes, ids, out", [
    ("Gather", "opset1", "", [3], [4, 3]),
    ("Gather", "opset7", '<data batch_dims="1"/>', [4, 2], [4, 2]),
    ("Gather", "opset8", '<data batch_dims="0"/>', [2, 3], [4, 2, 3]),
    ("GatherElements", "opset6", '<data axis="1"/>', [4, 2], [4, 2]),
])  # fmt: skip
def test_version_10(kind, version, attributes, ids, out, tmp_path):
    path = version_10(tmp_path, kind, version, attributes, ids, out)
    model = core().read_model(str(path))
    theirs = openvino_says(model)
    assert len(theirs) == 1 and theirs[0]["output"]["shape"] == out
    assert not faults_of(path, model)
