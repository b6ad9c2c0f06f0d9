# SPDX-License-Identifier: MIT
"""src/model/runtimes.def against the packages themselves: each row's code is measured again, and `gather check` must say its
sentence. A version of ONNX Runtime or OpenVINO that does otherwise turns this red: then the table is to be changed.

Tried: ONNX Runtime 1.31.1 and 1.32.0, and OpenVINO 2026.4.1, on their CPU devices.
"""

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

from support.command import asked
from support.sample import STEP
from support.skip import skip_test

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/model/runtimes.def"
TEXT = re.sub(r"/\*.*?\*/", "", SOURCE.read_text(), flags=re.S)
SENTENCES = dict(re.findall(r'GATHER_DOES\((\w+), "([^"]*)"\)', TEXT))
NAMES = {enum: name for enum, name in re.findall(r'GATHER_RUNTIME\((\w+), "(\w+)"', TEXT)}
VERSIONS = {enum: (family, rules) for enum, rules, family in re.findall(
    r'^GATHER_OP\((\w+), +"([\w-]+)", +"\w+", +"\w+", +\d+, +(\w+),', (ROOT / "src/core/op/ops.def").read_text(), flags=re.M)
            if family in ("GATHER", "ELEMENTS", "ND", "TREE")}  # those that write: test_runtimes_writing.py; no model is of StableHLO
ROWS = [(runtime, *VERSIONS[op], kind, code)
        for runtime, op, kind, code in re.findall(r"^GATHER_BEHAVIOUR\((\w+), (\w+), (\w+), (\w+)\)", TEXT, flags=re.M) if op in VERSIONS]
CODES = {row[:4]: row[4] for row in ROWS}
# Rows of quantised tables are measured in test_quantized_openvino.py, those of GatherTree in test_gather_tree.py.
QUANTISED = [row for row in ROWS if row[1:3] == ("GATHER", "microsoft-1") or row[3] == "DEQUANTIZED"]
TRIED = [row for row in ROWS if row[0] in ("ONNXRUNTIME", "OPENVINO") and row[1] != "TREE" and row not in QUANTISED]
ROW_LEN = 7  # of the tables whose rows have several elements
TYPES = {"float32": (1, "f32"), "int32": (6, "i32"), "int64": (7, "i64")}
OPS = {"GATHER": "Gather", "ELEMENTS": "GatherElements", "ND": "GatherND"}


@dataclass
class Ask:
    """One model with one bad index."""

    data: np.ndarray
    indices: np.ndarray
    at: int  # of the bad index, row-major
    threads: int
    family: str
    batch: int = 0
    job: dict = field(default_factory=dict)

    @property
    def is_tuple(self) -> bool:
        return self.family == "ND"

    @property
    def axis(self) -> int:
        """On which the bad index selects."""
        return self.batch + self.at % self.indices.shape[-1] if self.is_tuple else 0

    @property
    def length(self) -> int:
        return self.data.shape[self.axis]

    @property
    def out_shape(self) -> tuple:
        if self.is_tuple:
            return self.indices.shape[:-1] + self.data.shape[self.batch + self.indices.shape[-1] :]
        return (*self.indices.shape, *self.data.shape[1:]) if self.family == "GATHER" else self.indices.shape


def onnx_model(folder: Path, op: str, opset: int, ask: Ask, shape, domain: str = "") -> Path:
    values = [
        helper.make_tensor_value_info(name, TYPES[str(array.dtype)][0], array.shape)
        for name, array in (("x", ask.data), ("i", ask.indices))
    ]
    y = helper.make_tensor_value_info("y", TYPES[str(ask.data.dtype)][0], shape)
    batch = {"batch_dims": ask.batch} if ask.batch else {}
    graph = helper.make_graph([helper.make_node(op, ["x", "i"], ["y"], "g", domain=domain, **batch)], "g", values, [y])
    imports = [helper.make_opsetid("", 13 if domain else opset)] + ([helper.make_opsetid(domain, opset)] if domain else [])
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=models.IR_OF[13 if domain else opset]).SerializeToString())
    return path


def ir_model(folder: Path, op: str, opset: int, ask: Ask, shape) -> Path:
    net = models.Net()
    kinds = [TYPES[str(array.dtype)][1] for array in (ask.data, ask.indices)]
    sources = [net.parameter("x", kinds[0], ask.data.shape), net.parameter("i", kinds[1], ask.indices.shape)]
    if op == "Gather":
        sources.append(net.const("axis", "i32", np.array(0, np.int32)))
    words = {"Gather": "", "GatherND": f'<data batch_dims="{ask.batch}"/>'}.get(op, '<data axis="0"/>')
    y = net.node("g", op, f"opset{opset}", words, sources, kinds[0], shape)
    net.layer("out", "Result", "opset1", "", [y], "")
    return net.save(folder)


def prepare(folder: Path, number: int, row, ask: Ask) -> None:
    """Its files; one model serves all that differ in their indices only."""
    runtime, family, rules, _, _ = row
    dialect, opset = rules.split("-")
    op, shape = OPS[family], ask.out_shape
    words = [op, rules, *ask.data.shape, ask.data.dtype, "by", *ask.indices.shape, ask.indices.dtype, ask.batch]
    place = folder / "-".join(map(str, words))
    model = place / ("model.xml" if dialect == "openvino" else "model.onnx")
    if not model.exists():
        place.mkdir()
        if dialect == "openvino":
            ir_model(place, op, int(opset), ask, shape)
        else:
            onnx_model(place, op, int(opset), ask, shape, "com.microsoft" if dialect == "microsoft" else "")
        np.save(place / "x.npy", ask.data)
    files = {"x": str(place / "x.npy"), "i": str(folder / f"{number}i.npy")}
    np.save(files["i"], ask.indices)
    ask.job = {
        "peer": NAMES[runtime], "path": str(model), "threads": ask.threads, "out": str(folder / f"{number}y.npy"),
        "inputs": files, "shape": shape, "dtype": str(ask.data.dtype),
        "bytes": int(np.prod(shape)) * ask.data.itemsize,
    }  # fmt: skip


def tables(row):
    """(shape of data, its type, shape of indices): small, and larger than what a runtime gives to one thread. Of tuples with the
    batch dimensions behind."""
    _, family, rules, kind, _ = row
    if family == "ND":
        plain = [((7, 3), "float32", (9, 2), 0), ((ROW_LEN, 3), "float32", (9, 1), 0), ((70, 50), "int32", (40000, 2), 0)]
        return plain + ([((4, 7, 3), "float32", (4, 5, 2), 1)] if rules not in ("onnx-11", "microsoft-1") else [])
    if kind.startswith("SHORT"):
        return [((n,), dtype, shape) for n, shape in ((5, (3,)), (64, (64,)), (5, ())) for dtype in ("int32", "int64")]
    if family == "ELEMENTS":
        return [((ROW_LEN, 3), "float32", (9, 3)), ((ROW_LEN, 3), "float32", (40000, 3))]
    wide = [((ROW_LEN, 3), "float32", (9,)), ((ROW_LEN, 3), "float32", (40000,)), ((ROW_LEN, 2), "int32", (2,))]
    return [*wide, ((5,), "float32", (3,)), ((5,), "int32", (2, 2)), ((65,), "int32", (3,)), ((65,), "int64", (64,)), ((5,), "int32", (65,))]


def bad_values(row, n: int, dtype: str):
    kind = row[3]
    if kind in ("NEGATIVE", "SHORT_NEGATIVE"):
        return [-1, -n]
    wide = [2**32 + 2, -(2**32) + 2] if dtype == "int64" else []
    if kind == "WIDE":
        return wide
    near = [n, 1000, -n - 1] if kind == "RANGE" else [n, n + 1, -n - 1]
    return near + (wide if (*row[:3], "WIDE") not in CODES and kind == "RANGE" else [])


def good_indices(rng, family: str, shape, index_shape, index_type, batch: int) -> np.ndarray:
    if family != "ND":
        return rng.integers(0, shape[0], index_shape).astype(index_type).reshape(index_shape)
    numbers = [rng.integers(0, shape[batch + c], index_shape[:-1]) for c in range(index_shape[-1])]
    return np.stack(numbers, -1).astype(index_type)


def asks_of(row, seed: int):
    rng = np.random.default_rng(seed)
    family, rules = row[1:3]
    index_types = ("int64",) if family == "ND" and rules.startswith("onnx") else ("int32", "int64")
    for (shape, data_type, index_shape, *batch), index_type, threads in itertools.product(tables(row), index_types, (1, 2)):
        data = np.arange(1, int(np.prod(shape)) + 1).astype(data_type).reshape(shape)
        count = int(np.prod(index_shape))
        places = sorted({0, count // 2, count - 1}) if count < 1000 else [count // 2, count - 1]
        if STEP > 1:
            places = [places[len(places) // 2]]
        for at in places:
            length = Ask(data, np.empty(index_shape, index_type), at, threads, family, *batch).length
            for value in bad_values(row, length, index_type):
                indices = good_indices(rng, family, shape, index_shape, index_type, *(batch or [0]))
                indices.reshape(-1)[at] = value
                yield Ask(data, indices, at, threads, family, *batch)


def raised(ask: Ask, text: str, out: np.ndarray) -> str:
    """What an error says of value and range, and whether some of the output was written and some was not."""
    value, n = int(ask.indices.reshape(-1)[ask.at]), ask.length
    has_value = re.search(rf"(?<![\d-]){value}(?!\d)", text) is not None
    has_range = re.search(rf"(?<!\d)-{n}\b.*\b{n - 1}\b", text) is not None
    if ask.at > 100 and str(ask.at) in text:
        return "raises with position"
    if has_value and has_range:
        return "raises with value"
    stale = out == peers.FILL
    if has_value and stale.all():
        return "raises with value alone"
    if has_value or has_range:
        return "raises with half of it"
    return "raises, partly written" if stale.any() and not stale.all() else "raises"


def select(ask: Ask, indices: np.ndarray) -> np.ndarray:
    """What tuples in range select."""
    lead = indices.shape[:-1]
    batches = [np.arange(n).reshape([-1 if d == k else 1 for k in range(len(lead))]) for d, n in enumerate(lead[: ask.batch])]
    return ask.data[(*batches, *np.moveaxis(indices, -1, 0))]


def pick(ask: Ask, value: int) -> np.ndarray:
    """What the bad place holds where the runtime takes that row."""
    if ask.is_tuple:
        indices = ask.indices.copy()
        indices.reshape(-1)[ask.at] = value
        tuples = indices.reshape(-1, indices.shape[-1])
        return select(ask, indices).reshape(len(tuples), -1)[ask.at // indices.shape[-1]]
    if ask.data.ndim == 2 and ask.indices.ndim == 2:
        return ask.data[value, ask.at % ask.data.shape[1]]
    return ask.data[value]


def written(ask: Ask, out: np.ndarray) -> str:
    """What stands at the bad place, where the call went well; the other places must be right but for old bytes."""
    value, n = int(ask.indices.reshape(-1)[ask.at]), ask.length
    elements = ask.family == "ELEMENTS" and ask.data.ndim == 2 and ask.indices.ndim == 2
    repaired = ask.indices.copy()
    if not -n <= value < n:
        repaired.reshape(-1)[ask.at] = 0
    if ask.is_tuple:
        right, count, at = select(ask, repaired), ask.indices.size // ask.indices.shape[-1], ask.at // ask.indices.shape[-1]
    else:
        right = models.take_along(ask.data, repaired, 0) if elements else np.take(ask.data, repaired, 0)
        count, at = ask.indices.size, ask.at
    flat = (-1,) if elements else (count, -1)
    cell, rest, right = out.reshape(flat)[at], np.delete(out.reshape(flat), at, 0), np.delete(right.reshape(flat), at, 0)
    old = np.full(out.itemsize, peers.FILL, np.uint8).view(out.dtype)[0]
    if np.all(cell == old) and np.all((rest == right) | (rest == old)):
        return "stale"
    if not np.array_equal(rest, right):
        return "others wrong"
    low = (value + 2**31) % 2**32 - 2**31
    if low != value and 0 <= low < n and np.all(cell == pick(ask, low)):
        return "low half"
    if -n <= value < 0 and np.all(cell == pick(ask, value)):
        return "from end"
    return "zeros" if np.all(cell == 0) else "something else"


def observe(ask: Ask, answer: dict) -> str:
    if "died" in answer:
        return "died"
    raw = np.load(ask.job["out"])
    if answer["error"]:
        return raised(ask, answer["error"], raw)
    return written(ask, raw.view(ask.data.dtype).reshape(ask.job["shape"]))


def code_of(seen: dict[int, set[str]], family: str) -> str:
    """The code that the observations (by the number of threads) amount to; the observations themselves where it is none."""
    one, more = seen[1], seen[2]
    every = one | more
    if more <= {"raises", "raises, partly written"} and "raises, partly written" in more:
        if one <= {"raises", "raises, partly written"}:
            return "RAISES_HALF_WRITTEN"
        if one == {"stale"}:
            return "RAISES_OR_STALE"
    # Memory beside the table may hold anything by chance: zeros, what another copy of the table ends with, an earlier output.
    if every & {"died", "something else"} and every <= {"died", "something else", "zeros", "from end", "stale"}:
        return "UNCHECKED_TUPLE" if family == "ND" else "UNCHECKED"
    alone = {"raises with value": "RAISES_WITH_VALUE", "raises with value alone": "RAISES_WITH_VALUE_ALONE", "from end": "FROM_END", "zeros": "ZEROS", "low half": "LOW_HALF"}
    return alone.get(next(iter(every)), str(seen)) if len(every) == 1 else str(seen)


@pytest.fixture(scope="module", params=["ONNXRUNTIME", "OPENVINO"])
def runtime(request, tmp_path_factory):
    """All that one package is asked, and what it did: row -> (its models, what was seen by number of threads)."""
    package = NAMES[request.param]
    if importlib.util.find_spec(package) is None:
        skip_test(package, "the package is not installed")
    if len(os.sched_getaffinity(0)) < 2:
        skip_test("two CPUs", "OpenVINO takes one thread where there is one CPU")
    folder = tmp_path_factory.mktemp(package)
    asked = {row: list(asks_of(row, number)) for number, row in enumerate(TRIED) if row[0] == request.param}
    everything = [(row, ask) for row, asks in asked.items() for ask in asks]
    for number, (row, ask) in enumerate(everything):
        prepare(folder, number, row, ask)
    answers = peers.ask([ask.job for _, ask in everything])
    seen: dict = {row: {1: set(), 2: set()} for row in asked}
    for (row, ask), answer in zip(everything, answers, strict=True):
        seen[row][ask.threads].add(observe(ask, answer))
    print(f"{package}: {len(everything)} models with a bad index")
    return request.param, asked, seen


def check(ask: Ask) -> dict:
    code, answer = asked("check", ask.job["path"], "--input", f"i={ask.job['inputs']['i']}")
    node = answer["nodes"][0]
    assert code == (node["verdict"] == "bad"), answer
    return node


def test_codes(runtime):
    """What was measured is what the table says."""
    name, _, seen = runtime
    measured = {row[:4]: code_of(seen[row], row[1]) for row in seen}
    assert measured == {row[:4]: row[4] for row in TRIED if row[0] == name}


def sentence(enum: str, row) -> str:
    """What the table says of a runtime, for the kind of that row or the one that it belongs to."""
    _, family, rules, kind, _ = row
    if rules.startswith("openvino") and enum != "OPENVINO":
        return "does not read OpenVINO IR"
    general = "NEGATIVE" if "NEGATIVE" in kind else "RANGE"
    return SENTENCES[CODES.get((enum, family, rules, kind)) or CODES[enum, family, rules, general]]


def test_sentences(runtime):
    """`gather check` says the sentence of the row that was measured, for the very model, and what the others would do."""
    name, asked, _ = runtime
    for row, asks in asked.items():
        verdict = "ok" if row[1:3] == ("GATHER", "openvino-8") else "bad"  # its rules want zeros
        for ask in asks[:: max(1, len(asks) // 4)]:
            node = check(ask)
            assert node["rules"] == row[2] and node["verdict"] == verdict and node["indices"]["bad"] > 0
            assert node["runtimes"][NAMES[name]] == SENTENCES[row[4]], (row, ask)
            for enum in NAMES:  # OpenVINO has the finer kinds
                assert enum == "OPENVINO" or node["runtimes"][NAMES[enum]] == sentence(enum, row), (row, ask)


def test_table():
    """Every code has a sentence, every sentence a row, and every rules a row for each runtime that reads its dialect."""
    assert set(SENTENCES) == set(re.findall(r"^GATHER_BEHAVIOUR\(\w+, \w+, \w+, (\w+)\)", TEXT, flags=re.M)) and len(CODES) == len(ROWS)
    rules = {(row[1], row[2]) for row in ROWS}
    assert rules == set(VERSIONS.values())
    for enum, (family, name) in itertools.product(NAMES, rules):
        assert ((enum, family, name, "RANGE") in CODES) == (enum == "OPENVINO" or not name.startswith("openvino"))
    for enum, family, name, kind in CODES:
        assert (enum, family, name, "NEGATIVE" if "NEGATIVE" in kind else "RANGE") in CODES
