# SPDX-License-Identifier: MIT
"""Random models beside ONNX Runtime: `check` never says ok of a node that fails, nor bad of one that runs or is not executed, and no shape
that is not so; and both doors of the plug-in give the host's bytes, or fail where it fails.

GATHER_TEST_ROUNDS=N runs N models, GATHER_TEST_SEED=N begins with another one. A model that is wrong is made smaller, printed, and kept in
the test's folder. The last lines of a run say how often a gather's verdict was unknown.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import counted
import numpy as np
import pytest
from onnx import helper

import peers
import random_child
import random_models
import random_shrink
from support.sample import STEP
from support.skip import skip_test

ROUNDS = int(os.environ.get("GATHER_TEST_ROUNDS", "500" if STEP == 1 else "200"))
SEED = int(os.environ.get("GATHER_TEST_SEED", "0"))
MOST = 5  # findings that are made smaller
LIMIT = 60  # seconds that a model may take, on a busy machine
PROGRAM = random_child.__file__


@dataclass
class Worker:
    """A child that judges models, and the next one where it died."""

    folder: Path
    doors: str

    def __post_init__(self) -> None:
        self.child, self.stage = peers.Standing(PROGRAM), self.folder / "stage"

    def ask(self, **job) -> dict:
        said = self.child.ask(job | {"stage": str(self.stage), "doors": self.doors}, LIMIT)
        if "died" not in said:
            return said
        self.child = peers.Standing(PROGRAM)
        return {"findings": [[f"died with {said['died']}, {self.stage.read_text()}", "", ""]], "counts": {}}

    def findings_of(self, model, number: int) -> list:
        saved = self.folder / "model.pickle"
        saved.write_bytes(pickle.dumps(model))
        return self.ask(saved=str(saved), number=number)["findings"]


def plug_in() -> str:
    """The plug-in's library, or "" in a build without plug-ins."""
    try:
        from libgather import _plugins

        return _plugins.library("onnxruntime")
    except (ImportError, OSError, FileNotFoundError):
        return ""


def explained(worker: Worker, seed: int, kind: str, node: str, text: str) -> str:
    """The finding, and a small model that shows it; the model is kept."""
    model = random_models.model_of(seed)
    small = random_shrink.shrunk(model, lambda m: any(k == kind for k, *_ in worker.findings_of(m, seed)))
    (worker.folder / f"{seed}.onnx").write_bytes(small.proto.SerializeToString())
    texts = [t for k, _, t in worker.findings_of(small, seed) if k == kind]
    return f"seed {seed}: {kind} {node}\n{texts[0] if texts else text}\n{random_models.text_of(small)}"


def test_beside_onnxruntime(tmp_path):
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    worker, counts, found = Worker(tmp_path, plug_in()), Counter(), []
    for seed in range(SEED, SEED + ROUNDS):
        said = worker.ask(seed=seed)
        counts.update(said["counts"])
        found += [(seed, *finding) for finding in said["findings"]]
    counted.RANDOM.update(counts)
    first = {kind: (seed, kind, node, text) for seed, kind, node, text in reversed(found)}
    for finding in list(first.values())[:MOST]:
        print(explained(worker, *finding), end="\n\n")
    assert not found, Counter(kind for _, kind, *_ in found)
    if ROUNDS < 100:  # one that is looked at
        return
    assert counts["ran"] > 0.8 * ROUNDS  # models that fail say little
    assert counts["all: ok"] > counts["all: unknown"] and counts["all: bad"] and counts["all: not executed"]


# ---- the comparison can fail


class Said:
    """A node of a check, as far as it is compared."""

    def __init__(self, verdict="ok", executed=True, shape=(2, 3)):
        self.name, self.op, self.verdict, self.executed, self.rules = "n1", "GatherND", verdict, executed, "onnx-13"
        self.runtimes, self.reason = {}, ""
        self.data = self.indices = self.output = type("Operand", (), {"shape": shape, "name": "v"})


RAN = random_child.Run(outputs=[], loaded=True, events={"n1": [[[2, 3], [2, 3], [2, 3]]]})
SKIPPED = random_child.Run(outputs=[], loaded=True)
FAILED = random_child.Run(error="no", loaded=True, failed="n1")
ELSEWHERE = random_child.Run(error="no", loaded=True, failed="n2")
NO_ROUND = random_child.Run(outputs=[], loaded=True, events={"n1": [[[0], [2], [2]]]})
AFTER_EMPTY_TUPLES = random_child.Run(error="no", loaded=True, failed="n1", empty_tuples=True)


@pytest.mark.parametrize("said, run, kind", [
    (Said(), RAN, None),
    (Said(), FAILED, "ok, and fails"),
    (Said("bad"), RAN, "bad, and runs"),
    (Said("bad"), SKIPPED, "bad, and is not executed"),
    (Said("bad"), ELSEWHERE, None),
    (Said("bad"), FAILED, None),
    (Said("unknown", False), RAN, "not executed, and is"),
    (Said("unknown", False), FAILED, "not executed, and is"),
    (Said("unknown"), SKIPPED, None),
    (Said(shape=(2, "N")), RAN, None),
    (Said(shape=(2, 4)), RAN, "a shape"),
    (Said(shape=(2,)), RAN, "a shape"),
    (Said(shape=(None, "N")), NO_ROUND, None),
    (Said(shape=(None, 3)), NO_ROUND, "a shape"),
    (Said(shape=()), NO_ROUND, "a shape"),
    (Said(), AFTER_EMPTY_TUPLES, None),
])  # fmt: skip
def test_a_contradiction_is_seen(said, run, kind):
    assert {found for found, *_ in random_child.contradictions([said], [run], {})} == ({kind} if kind else set())
    if kind == "a shape":  # what the file declares is shown as it does
        assert not random_child.contradictions([said], [run], {"v": [list(said.data.shape)]})


@pytest.mark.parametrize("dims, claimed, kind", [
    ([4], 4, None),  # shown as the file declares it
    (["N"], 4, None),  # N is 4 by the inputs
    (["N"], 5, "a shape"),
    (["M"], 4, "a shape"),  # nothing says what M is
    ([None], 0, "a shape"),
    ([0], 0, None),
])  # fmt: skip
def test_a_declared_name_has_the_length_of_the_inputs(dims, claimed, kind):
    graph = helper.make_graph([], "g", [helper.make_tensor_value_info("x", 1, ["N", 2])], [helper.make_tensor_value_info("v", 1, [2, *dims])])
    model = type("Model", (), {"proto": helper.make_model(graph)})
    stated = random_child.with_lengths(random_child.declared_shapes(model.proto), random_child.lengths_of(model, {"x": np.zeros((4, 2))}))
    found = random_child.contradictions([Said(shape=(2, claimed))], [RAN], stated)
    assert {found for found, *_ in found} == ({kind} if kind else set())


RANGE = "running GatherND node. Name:'n1' Status Message: indices[0, 0] = 5, component 0 of tuple [0], is outside [-4, 3] of axis 0"
TUPLES = f"running GatherND node. Name:'n1' Status Message: {random_child.EMPTY_TUPLES}"


@pytest.mark.parametrize("error, output, empty_tuples, wider", [
    (RANGE, [1, 3, 0], False, True),
    (RANGE, [1, 3, 1], False, False),
    (RANGE, [1, 3, 1], True, False),
    (RANGE.replace("n1", "n2"), [1, 3, 0], False, False),
    (RANGE.replace("GatherND", "Gather"), [1, 3, 0], False, False),
    (TUPLES, [1, 3], True, True),
    (TUPLES, [1, 3], False, False),
    ("", [0], True, False),
])  # fmt: skip
def test_where_the_host_is_wider(error, output, empty_tuples, wider):
    plain = random_child.Run(outputs=[], events={"n1": [[[4, 3, 0], [1, 1], output]]}, empty_tuples=empty_tuples)
    assert random_child.is_wider(random_child.Run(error=error), plain) == wider


def calls_an_overload(nested: bool) -> bytes:
    """A Gather along axis 1 of what the second of two functions of one name gives; it is of rank 1 by the first."""
    opsets, name = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)], "outer" if nested else "f"
    zero = helper.make_node("Constant", [], ["z"], value=helper.make_tensor("", 7, [1], [0]))
    first = helper.make_function("local", "f", ["p"], ["q"], [helper.make_node("Identity", ["p"], ["q"])], opsets)
    second = helper.make_function("local", "f", ["p"], ["q"], [zero, helper.make_node("Unsqueeze", ["p", "z"], ["q"])], opsets, overload="o")
    inner = helper.make_node("f", ["p"], ["q"], domain="local", overload="o")
    outer = helper.make_function("local", "outer", ["p"], ["q"], [inner], opsets)
    called = helper.make_node(name, ["x"], ["y"], domain="local", overload="" if nested else "o")
    graph = helper.make_graph([called, zero, helper.make_node("Gather", ["y", "z"], ["w"], name="n1", axis=1)], "g",
                              [helper.make_tensor_value_info("x", 1, [3])], [helper.make_tensor_value_info("w", 1, None)])  # fmt: skip
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=[first, second, outer]).SerializeToString()


def test_an_overload_in_a_function():
    """Why the random models have none: the host loses it."""
    if importlib.util.find_spec("onnxruntime") is None:
        skip_test("onnxruntime", "the package is not installed")
    libgather = pytest.importorskip("libgather")
    feeds = {"x": np.ones(3, np.float32)}
    for nested in (False, True):
        (node,) = libgather.Model(calls_an_overload(nested)).check(feeds)
        assert (node.verdict, node.data.shape) == ("ok", (1, 3))
    assert random_child.host_run(calls_an_overload(False), feeds).outputs is not None
    assert random_child.host_run(calls_an_overload(True), feeds).failed == "n1"  # where it runs, let random_models.defined() do so


def test_a_death_is_a_finding(tmp_path):
    """And the next model is judged by another child."""
    worker = Worker(tmp_path, "")
    (tmp_path / "broken").write_bytes(b"not a model")
    assert worker.ask(saved=str(tmp_path / "broken"))["findings"][0][0].startswith("died with")
    assert worker.findings_of(random_models.model_of(0), 0) is not None


def test_a_model_is_made_smaller():

    def gathers(model) -> bool:
        return any(node.op_type == "Gather" for node in model.proto.graph.node)

    model = next(m for m in map(random_models.model_of, range(100)) if len(m.proto.graph.node) > 8 and gathers(m))
    small = random_shrink.shrunk(model, gathers)
    assert len(small.proto.graph.node) <= 2 and len(small.proto.graph.output) == 1


def test_models_are_the_same_each_time():
    for seed in range(20):
        first, second = random_models.model_of(seed), random_models.model_of(seed)
        assert first.proto == second.proto
        assert all(random_child.same(first.feeds[name], second.feeds[name]) for name in first.feeds)
