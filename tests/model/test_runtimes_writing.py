# SPDX-License-Identifier: MIT
"""Rows of src/model/runtimes.def about operators that write, and embedding bags, against ONNX Runtime and OpenVINO themselves, and what
`gather check` says of the same models: indices out of range, repeated ones, and offsets of bags. As test_runtimes.py for gathers."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import peers
import pytest
import run_models as models
from onnx import TensorProto, helper
from test_runtimes import NAMES, ROOT, SENTENCES, TEXT

from support.command import asked
from support.skip import skip_test

# The operator versions by their ENUM: dialect, name, first opset, family, whether negative indices count from the end.
OPS = {row[0]: row[1:] for row in re.findall(
    r'^GATHER_OP\((\w+), +"[\w-]+", +"(\w+)", +"(\w+)", +(\d+), +(SCATTER\w*|TENSOR_SCATTER|EMBEDDING_BAG), +(\w+),',
    (ROOT / "src/core/op/ops.def").read_text(encoding="utf-8"), flags=re.M) if row[1] != "stablehlo"}  # fmt: skip
ROWS = {row[:3]: row[3] for row in re.findall(r"^GATHER_BEHAVIOUR\((\w+), (\w+), (\w+), (\w+)\)", TEXT, flags=re.M) if row[1] in OPS}
TRIED = [row for row in ROWS if row[0] in ("ONNXRUNTIME", "OPENVINO")]
ROWS_OF_DATA, WIDTH = 7, 3
RACES, MANY = 3, 1 << 20  # of threads that write to one place: of the newest version of each operator
ROUNDS = 6  # of all of them, until one is seen
SOME, SOME_OF_BAGS = 20000, 4000  # enough for two threads; OpenVINO's time for bags by segments is the square of it
NEWEST = {max((op for op in OPS if OPS[op][1] == row[1]), key=lambda op: int(OPS[op][2])) for row in OPS.values()}


@dataclass
class Ask:
    """One model, its inputs, and the index that is wrong: inputs["i"].flat[at]."""

    op: str  # its ENUM
    inputs: dict[str, np.ndarray]
    at: int
    threads: int
    axis: int = 0
    job: dict = field(default_factory=dict)

    @property
    def value(self) -> int:
        return int(self.inputs["i"].flat[self.at])


# ---- models


def words_of(name: str) -> dict[str, object]:
    """Attributes, beside the defaults."""
    return {"TensorScatter": {"axis": 1}}.get(name, {})


def order_of(name: str, inputs) -> list[str]:
    """The inputs of a node in their order; a: the axis."""
    order = {"TensorScatter": "xui", "EmbeddingSegmentsSum": "xisn"}.get(name, "xio" if "Offsets" in name else "xi" if "Packed" in name else "xiu")
    return [*order, *("a" if name in ("ScatterUpdate", "ScatterElementsUpdate") else "")]


def onnx_model(path: Path, op: str, inputs) -> None:
    _, name, opset, *_ = OPS[op]
    values = [helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for key, a in inputs.items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, inputs["x"].shape)
    graph = helper.make_graph([helper.make_node(name, order_of(name, inputs), ["y"], "g", **words_of(name))], "g", values, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", int(opset))], ir_version=13 if int(opset) > 18 else 8)
    path.write_bytes(model.SerializeToString())


def ir_model(path: Path, op: str, inputs, shape) -> None:
    _, name, opset, *_ = OPS[op]
    net = models.Net()
    kinds = {"float32": "f32", "int64": "i64", "int32": "i32"}
    constants = {"a": np.array(0, np.int32), "n": np.array(shape[0], np.int64)}
    sources = [net.const(key, kinds[str(constants[key].dtype)], constants[key]) if key in constants
               else net.parameter(key, kinds[str(inputs[key].dtype)], inputs[key].shape) for key in order_of(name, inputs)]
    words = {"ScatterElementsUpdate-12": '<data reduction="none" use_init_val="true"/>', "ScatterNDUpdate-15": '<data reduction="none"/>',
             "EmbeddingBagOffsets-15": '<data reduction="sum"/>', "EmbeddingBagPacked-15": '<data reduction="sum"/>'}
    version = "opset4" if (name, opset) == ("ScatterNDUpdate", "3") else f"opset{opset}"
    net.result(net.node("g", name, version, words.get(f"{name}-{opset}", ""), sources, "f32", shape), "out")
    net.save(path.parent)


# ---- cases


def good(rng, op: str, count: int) -> dict[str, np.ndarray]:
    """Inputs without a fault: `count` updates, of different places as far as there are so many."""
    name, family = OPS[op][1], OPS[op][3]
    x = np.arange(1, ROWS_OF_DATA * WIDTH + 1, dtype=np.float32).reshape(ROWS_OF_DATA, WIDTH)
    tall = np.arange(1, (count + 1) * WIDTH + 1, dtype=np.float32).reshape(count + 1, WIDTH)
    if family == "TENSOR_SCATTER":
        cache = np.arange(1, count * 8 * WIDTH + 1, dtype=np.float32).reshape(count, 8, WIDTH)
        return {"x": cache, "u": -cache[:, :2], "i": rng.integers(0, 7, count)}
    if family == "EMBEDDING_BAG":
        ids = rng.integers(0, ROWS_OF_DATA, count)
        offsets = np.arange(0, count, 2)
        if "Packed" in name:
            return {"x": x, "i": ids[: count // 2 * 2].reshape(-1, 2)}
        return {"x": x, "i": ids, "s" if "Segments" in name else "o": np.arange(count) // 2 if "Segments" in name else offsets}
    places = rng.permutation(count + 1)[:count]
    if family == "SCATTER_ELEMENTS":
        indices = np.repeat(places[:, None], WIDTH, 1)
        return {"x": tall, "i": indices, "u": -np.arange(1, count * WIDTH + 1, dtype=np.float32).reshape(count, WIDTH)}
    indices = places[:, None] if family == "SCATTER_ND" else places
    return {"x": tall, "i": indices, "u": -np.arange(1, count * WIDTH + 1, dtype=np.float32).reshape(count, WIDTH)}


def many(op: str, count: int) -> dict[str, np.ndarray]:
    """Updates of one place, as many as there must be for threads to meet there."""
    x, u = np.arange(8, dtype=np.float32), -np.arange(1, count + 1, dtype=np.float32)
    indices = np.full(count, 5)
    return {"x": x, "i": indices[:, None] if OPS[op][3] == "SCATTER_ND" else indices, "u": u}


def length_of(ask_inputs, op: str) -> int:
    """One above the largest index in range."""
    family = OPS[op][3]
    return 7 if family == "TENSOR_SCATTER" else len(ask_inputs["x"])


def asks_of(row, seed: int):
    _, op, kind = row
    rng = np.random.default_rng(seed)
    races = kind == "REPEATED" and op in NEWEST
    some = SOME_OF_BAGS if OPS[op][3] == "EMBEDDING_BAG" else SOME
    for count, threads in itertools.product((4, MANY if races else some), (1, 2)):
        inputs = many(op, count) if kind == "REPEATED" else good(rng, op, count)
        n, at = length_of(inputs, op), inputs["i"].size // 2
        if kind == "REPEATED":
            for _ in range(RACES if races and threads > 1 and count > 4 else 1):
                yield Ask(op, inputs, 0, threads)
        elif kind == "OFFSETS":
            key = "s" if "s" in inputs else "o"
            for value in (count + 1, -1, *([0] if count > 4 else [])):  # the last one is below the one before
                wrong = {**inputs, key: inputs[key].copy()}
                wrong[key][len(wrong[key]) // 2] = value
                yield Ask(op, wrong, 0, threads)
        else:
            own = (row[0], op, "NEGATIVE") in ROWS or OPS[op][4] == "true"
            for value in (-1, -n) if kind == "NEGATIVE" else (n, n + 1000, -n - 1, *([] if own else [-1])):
                wrong = {**inputs, "i": inputs["i"].copy()}
                wrong["i"].flat[at] = value
                yield Ask(op, wrong, at, threads)


def shape_of(ask: Ask) -> tuple:
    x = ask.inputs["x"]
    if OPS[ask.op][3] != "EMBEDDING_BAG":
        return x.shape
    i = ask.inputs["i"]
    bags = len(ask.inputs["o"]) if "o" in ask.inputs else len(i) if i.ndim == 2 else (len(i) + 1) // 2
    return (bags, x.shape[1])


def prepare(folder: Path, number: int, row, ask: Ask) -> None:
    dialect = OPS[ask.op][0]
    shape = shape_of(ask)
    place = folder / "-".join(map(str, [ask.op, *ask.inputs["x"].shape, "by", *ask.inputs["i"].shape]))
    model = place / ("model.xml" if dialect == "openvino" else "model.onnx")
    if not model.exists():
        place.mkdir()
        ir_model(model, ask.op, ask.inputs, shape) if dialect == "openvino" else onnx_model(model, ask.op, ask.inputs)
    files = {}
    for key, array in ask.inputs.items():  # most asks of a row share theirs
        files[key] = str(folder / f"{id(array)}.npy")
        if not os.path.exists(files[key]):
            np.save(files[key], array)
    ask.job = {"peer": NAMES[row[0]], "path": str(model), "threads": ask.threads, "out": str(folder / f"{number}y.npy"), "inputs": files,
               "shape": shape, "dtype": "float32", "bytes": int(np.prod(shape)) * 4, "chain": row[0]}  # fmt: skip


# ---- what was seen


def expected(ask: Ask, indices: np.ndarray) -> np.ndarray | None:
    """The result by the document, of indices in range; NULL where there is none. An index of -2**40 is left out."""
    x, name, family = ask.inputs["x"], OPS[ask.op][1], OPS[ask.op][3]
    if family == "TENSOR_SCATTER":
        out = x.copy()
        for b, at in enumerate(indices):
            if at >= 0:
                out[b, at : at + 2] = ask.inputs["u"][b]
        return out
    if family == "EMBEDDING_BAG":
        return None
    out, indices = x.copy(), indices if family == "SCATTER_ELEMENTS" else indices.reshape(-1)
    kept = indices >= -len(x)  # of different places
    if family == "SCATTER_ELEMENTS":
        out[indices[kept], np.nonzero(kept)[1]] = ask.inputs["u"][kept]
    else:
        out[indices[kept]] = ask.inputs["u"][kept]
    return out


def changed(ask: Ask, value: int) -> np.ndarray:
    indices = ask.inputs["i"].copy()
    indices.flat[ask.at] = value
    return indices


def observe(row, ask: Ask, answer: dict) -> str:
    if "died" in answer:
        return "died"
    raw = np.load(ask.job["out"])
    stale = raw == peers.FILL
    if answer["error"]:
        n = length_of(ask.inputs, ask.op)
        has_value = row[2] != "OFFSETS" and re.search(rf"(?<![\d-]){ask.value}(?!\d)", answer["error"]) is not None
        has_range = re.search(rf"(?<!\d)-?{n}\b.*\b{n - 1}\b", answer["error"]) is not None
        said = "value and range" if has_value and has_range else "value" if has_value else "nothing"
        return f"raises with {said}, " + ("untouched" if stale.all() else "written")
    out = raw.view(np.float32).reshape(ask.job["shape"])
    if stale.all():
        return "stale"
    if OPS[ask.op][3] == "EMBEDDING_BAG":
        return "accepts"
    if row[2] == "REPEATED":
        x, u = ask.inputs["x"], ask.inputs["u"]
        others = np.array_equal(np.delete(out, 5), np.delete(x, 5))
        return "something else" if not others or out[5] not in u else "last" if out[5] == u[-1] else "one of them"
    n, value = len(ask.inputs["x"]), ask.value
    if -n <= value < 0 and np.array_equal(out, expected(ask, changed(ask, value + n))):
        return "from end"
    if np.array_equal(out, expected(ask, changed(ask, -(2**40)))):
        return "skips"
    return "partly stale" if stale.any() else "something else"


# What the observations amount to: those of one thread, those of two, and the code. The first line that has all of them counts.
CODES = [
    ({"raises with value and range, untouched"}, {"raises with value and range, untouched"}, "RAISES_UNTOUCHED"),
    ({"raises with value, written"}, {"raises with value, written"}, "RAISES_COPIED"),
    ({"raises with value, untouched"}, {"raises with value, untouched"}, "RAISES_VALUE"),
    ({"raises with nothing, untouched"}, {"raises with nothing, untouched"}, "REJECTS"),
    ({"from end"}, {"from end"}, "FROM_END"),
    ({"last"}, {"last"}, "LAST"),
    ({"last"}, {"last", "one of them"}, "ONE_OF_THEM"),
    ({"stale", "something else", "died"}, {"raises with nothing, untouched"}, "RAISES_OR_STALE"),
    ({"stale", "skips", "something else", "died"}, {"raises with nothing, untouched", "skips", "something else", "died"}, "WRITES_BEFORE"),
    ({"accepts", "died"}, {"accepts"}, "ACCEPTS"),
    ({"accepts", "died"}, {"raises with value, written"}, "RAISES_VALUE_OR_WRONG"),
    ({"accepts", "stale", "died"}, {"raises with nothing, untouched", "raises with nothing, written"}, "RAISES_OR_WRONG"),
]


def code_of(seen: dict[int, set[str]]) -> str:
    return next((code for one, more, code in CODES if seen[1] <= one and seen[2] <= more), str(seen))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """All that both packages are asked, at the same time, and what they did, by row. One thread comes last: an error with it leaves OpenVINO
    in a state that later runs may die of. Threads do not meet in each run: those that were to are asked again until some have."""
    asks = {row: list(asks_of(row, number)) for number, row in enumerate(TRIED) if importlib.util.find_spec(NAMES[row[0]])}
    folders = {enum: tmp_path_factory.mktemp(NAMES[enum]) for enum in {row[0] for row in asks}}
    everything = [(row, ask) for row in asks for ask in asks[row]]
    everything.sort(key=lambda pair: (pair[0][2] != "REPEATED", -pair[1].threads))
    for number, (row, ask) in enumerate(everything):
        prepare(folders[row[0]], number, row, ask)
    found: dict = {row: {1: set(), 2: set()} for row in asks}
    for _ in range(ROUNDS):
        for (row, ask), answer in zip(everything, peers.ask([ask.job for _, ask in everything]) if everything else [], strict=True):
            found[row][ask.threads].add(observe(row, ask, answer))
        met = {row[0] for row in found if "one of them" in found[row][2]}
        everything = [(row, ask) for row, ask in everything if ROWS[row] == "ONE_OF_THEM" and ask.threads == 2 and row[0] not in met]
    return asks, found


@pytest.fixture(scope="module", params=["ONNXRUNTIME", "OPENVINO"])
def runtime(request):
    """What one package was asked, and what it did."""
    package = NAMES[request.param]
    if importlib.util.find_spec(package) is None:
        skip_test(package, "the package is not installed")
    if len(os.sched_getaffinity(0)) < 2:
        skip_test("two CPUs", "OpenVINO takes one thread where there is one CPU")
    asks, found = request.getfixturevalue("seen")
    mine = [row for row in asks if row[0] == request.param]
    return request.param, {row: asks[row] for row in mine}, {row: found[row] for row in mine}


def test_codes(runtime):
    """What was measured is what the table says. Threads do not meet in each run, but they do in one of these."""
    _, _, seen = runtime
    measured = {row: code_of(seen[row]) for row in seen}
    races = [row for row in seen if ROWS[row] == "ONE_OF_THEM"]
    assert not races or "ONE_OF_THEM" in {measured[row] for row in races}
    assert {row: "ONE_OF_THEM" if row in races and measured[row] == "LAST" else measured[row] for row in seen} == {row: ROWS[row] for row in seen}


def test_sentences(runtime):
    """`gather check` says the sentence of the row that was measured, for the very model."""
    name, asks, _ = runtime
    for row, every in asks.items():
        for ask in every[:: max(1, len(every) // 3)]:
            given = [word for key, file in ask.job["inputs"].items() for word in ("--input", f"{key}={file}")]
            code, answer = asked("check", ask.job["path"], *given)
            node = answer["nodes"][0]
            assert node.get("runtimes", {}).get(NAMES[name]) == SENTENCES[ROWS[row]], (row, ask.value, node)
            if row[2] == "REPEATED":
                assert (code, node["verdict"], node["repeated"]["first_position"][0]) == (0, "ok", 0)
            else:
                assert (code, node["verdict"], node["error"]["status"]) == (1, "bad", "index_out_of_range"), (row, node)


def test_table():
    """Every operator has a row of the kind RANGE for each runtime that reads its dialect, and those that replace one of REPEATED for the
    runtimes that are tried."""
    for enum, (op, row) in itertools.product(NAMES, OPS.items()):
        reads = enum == "OPENVINO" or row[0] == "onnx"
        assert ((enum, op, "RANGE") in ROWS) == reads
        replaces = row[3].startswith("SCATTER") and enum in ("ONNXRUNTIME", "OPENVINO")
        assert ((enum, op, "REPEATED") in ROWS) == (reads and replaces)
