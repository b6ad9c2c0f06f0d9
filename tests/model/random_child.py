# SPDX-License-Identifier: MIT
"""Runs one random model in ONNX Runtime, checks it, and compares: the program of a child process, since a crash is a finding.

Each line of stdin is a job: {"seed": N} (random_models.py) or {"saved": a pickled Model}, "stage": a file that says what is being done,
"doors": the plug-in's library, or "" to leave it out. The answer, a line of stdout, has "findings" and "counts".

What the host did with a node is read from its profile, which lists each kernel that ran to its end, with the shapes, and from its error,
which names the node that failed. So it is known of each node whether it ran, failed, or was not reached; that it is not executed is
known only of a run that ended well.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "plugin"))

FAMILY = ("Gather", "GatherElements", "GatherND")
LEVELS = ("DISABLE_ALL", "DISABLE_ALL", "ENABLE_BASIC", "ENABLE_ALL")
# What the load of a model says of a gather itself, and not of what is declared beside it.
AT_LOAD = re.compile(r"Node \((?:\w*_)?(n\d+)\) Op \((?:Gather|GatherElements|GatherND)\) \[ShapeInferenceError\] (?:axis must|data tensor must|Last dim)")
# A gather in a Scan whose rounds have different shapes, or another than the body declares, fails when it asks for its output.
OTHERS_FAULT = "OutputMLValue"
# GatherND of tuples of no numbers, which ONNX Runtime takes and the document does not (docs/measured/conformance.md): an output of a Loop that had
# no round has such a shape.
EMPTY_TUPLES = "the last dimension of indices, the numbers of a tuple, is 0"
OUT_OF_RANGE = re.compile(r"GatherND node. Name:'([^']*)'.* is outside \[")
HIDE = re.compile(r"'[^']*'|\d+")


# ---- what the host does


@dataclass
class Run:
    outputs: list | None = None
    error: str = ""
    loaded: bool = False
    failed: str = ""  # the node that failed by itself
    events: dict = field(default_factory=dict)  # of a gather's name: [data, indices, output], shapes, for each time that it ran
    types: dict = field(default_factory=dict)
    empty_tuples: bool = False  # which no document allows: what follows from the shapes is not so then


def own_name(name: str) -> str:
    """A node's name in the file: those of an inlined function begin with others."""
    return re.search(r"n\d+$", name)[0] if re.search(r"(^|_)n\d+$", name) else ""


def read_profile(path: str, run: Run) -> None:
    for event in json.loads(Path(path).read_text(encoding="utf-8")):
        said = event.get("args", {})
        if event.get("cat") != "Node" or said.get("op_name") not in FAMILY or not event["name"].endswith("_kernel_time"):
            continue
        name = own_name(event["name"][: -len("_kernel_time")])
        shapes = [list(one.values())[0] for one in (*said["input_type_shape"], *said["output_type_shape"])]
        run.events.setdefault(name, []).append(shapes)
        run.empty_tuples |= said["op_name"] == "GatherND" and len(shapes) == 3 and shapes[1][-1:] == [0]
        run.types[name] = list(said["input_type_shape"][0])[0]
    os.unlink(path)


def host_run(model: bytes, feeds: dict, profile: bool = True, level="DISABLE_ALL", door="built-in", library="") -> Run:
    import ort_child

    wanted = {"model": model, "door": door, "level": level}
    run = Run()
    with tempfile.TemporaryDirectory() as folder:
        if profile:
            wanted["profile"] = folder
        try:
            session = ort_child.open_session(library, wanted)
            run.loaded = True
        except Exception as error:  # noqa: BLE001  ONNX Runtime's exceptions have no common class
            run.error = str(error)
            found = AT_LOAD.findall(run.error)
            run.failed = found[-1] if found else ""
            return run
        try:
            run.outputs = session.run(None, feeds)
        except Exception as error:  # noqa: BLE001
            run.error = str(error)
            named = re.findall(r"Name:'([^']*)'", run.error)
            run.failed = own_name(named[-1]) if named and OTHERS_FAULT not in run.error else ""
        if profile:
            read_profile(session.end_profiling(), run)
        if OTHERS_FAULT in run.error:
            run.events.pop(own_name(named[-1]), None)
    return run


# ---- what the check says, beside it


def of_node(entries: list, verdict: str) -> bool:
    """A function's node has an entry for each call: they all must say so."""
    return all(entry.verdict == verdict for entry in entries)


def contradictions(check, runs: list[Run], declared: dict) -> list[tuple[str, str, str]]:
    """What the check says that a run shows to be wrong: (kind, node, text)."""
    entries: dict[str, list] = {}
    for node in check:
        entries.setdefault(node.name, []).append(node)
    found = []
    for name, those in entries.items():
        for run in runs:
            found += [(kind, name, f"{those[0]!r} {text}") for kind, text in of_run(name, those, run, declared)]
    return found


def of_run(name: str, those: list, run: Run, declared: dict):
    ran, failed = name in run.events, name == run.failed
    if failed and of_node(those, "ok") and not run.empty_tuples:
        yield "ok, and fails", run.error
    if of_node(those, "bad") and not host_is_wider(those, run.events.get(name, ())):
        if ran and not failed:
            yield "bad, and runs", f"{run.events[name]}"
        elif run.outputs is not None and not ran:
            yield "bad, and is not executed", ""
    if (ran or (failed and run.loaded)) and not any(entry.executed for entry in those):
        yield "not executed, and is", run.error
    if ran and len(those) == 1 and not run.empty_tuples:
        yield from wrong_shapes(those[0], run.events[name], declared)


def host_is_wider(those: list, events) -> bool:
    """What the operator's document forbids and ONNX Runtime takes: negative indices of Gather-1; of GatherND, tuples of no numbers, and
    any index where slices are empty."""
    said = [entry.runtimes.get("onnxruntime", "") for entry in those if entry.rules == "onnx-1"]
    empty = any(EMPTY_TUPLES in entry.reason for entry in those) or any(0 in shapes[-1] for shapes in events)
    return any("counts from the end" in text for text in said) or (empty and those[0].op == "GatherND")


def wrong_shapes(node, events: list, declared: dict[str, list]):
    """Lengths that were not so. Those that the file declares are shown as it does where nothing else is known: they may be wrong. A name
    that it declares has the length that the inputs give it. ONNX Runtime gives what a Loop of no round stacks the shape [0] where it does not
    know the rank that the rows would have: nothing is said then of a node that reads it."""
    read = (node.data.shape, node.indices.shape)
    events = [shapes for shapes in events if len(shapes) != 3 or not any(map(lost_rank, read, shapes))]
    for role, at in (("data", 0), ("indices", 1), ("output", 2)):
        operand = getattr(node, role)
        said = operand.shape
        if said is None:
            continue
        for shapes in events:
            real = shapes[at] if len(shapes) == 3 else said  # the profile leaves some out
            stated = [shape for shape in declared.get(operand.name, ()) if len(shape) == len(said)]
            if len(said) == len(real):
                pairs = enumerate(zip(said, real))
                wrong = [d for d, (n, m) in pairs if isinstance(n, int) and n != m and all(shape[d] != n for shape in stated)]
            else:
                wrong = not stated
            if wrong:
                yield "a shape", f"{role} {said}; really {real}"
                return


def lost_rank(said, real: list) -> bool:
    return real == [0] and said is not None and len(said) > 1 and not any(isinstance(n, int) for n in said[1:])


def declared_shapes(holder, found: dict | None = None) -> dict[str, list]:
    """The shapes that a model declares of values by name, in whatever graph: of each dimension its length, its name or None."""
    found = {} if found is None else found
    graph = holder.graph if hasattr(holder, "graph") else holder
    for value in [*graph.value_info, *(v for v in (*getattr(graph, "input", ()), *getattr(graph, "output", ())) if not isinstance(v, str))]:
        found.setdefault(value.name, []).append([dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in value.type.tensor_type.shape.dim])
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                declared_shapes(attribute.g, found)
    for function in getattr(holder, "functions", ()):
        declared_shapes(function, found)
    return found


def with_lengths(declared: dict[str, list], known: dict[str, int]) -> dict[str, list]:
    """The same where the lengths of some names are known."""
    return {value: [[known.get(n, n) for n in shape] for shape in shapes] for value, shapes in declared.items()}


def lengths_of(model, inputs: dict) -> dict[str, int]:
    """The lengths that inputs give the names of their dimensions."""
    dims = ((value.type.tensor_type.shape.dim, inputs[value.name]) for value in model.proto.graph.input if value.name in inputs)
    return {dim.dim_param: n for shape, array in dims for dim, n in zip(shape, np.shape(array)) if dim.dim_param}


def ways_to_give(model, seed: int) -> list[tuple[str, dict, dict, list[int]]]:
    """Name, inputs and dims of a check, and the runs that it must hold for: 0 with feeds, 1 with others."""
    rng = random.Random(seed)
    some = {name: array for name, array in model.feeds.items() if rng.random() < 0.5}
    named: dict[str, set] = {}
    for value in model.proto.graph.input:
        for dim, n in zip(value.type.tensor_type.shape.dim, np.shape(model.feeds.get(value.name))):
            if dim.dim_param:
                named.setdefault(dim.dim_param, set()).add(n)
    dims = {name: list(lengths)[0] for name, lengths in named.items() if len(lengths) == 1}
    ways = [("nothing", {}, {}, [0, 1]), ("all", model.feeds, {}, [0]), ("others", model.more, {}, [1]), ("dims", {}, dims, [0])]
    # Where inputs break what equal names say, a part of them says what is not so of the others.
    return ways + ([("some", some, {}, [0])] if consistent(model, model.feeds) else [])


def consistent(model, feeds: dict) -> bool:
    """Equal names of the inputs' dimensions have equal lengths: the check refuses others, ONNX Runtime does not."""
    lengths: dict[str, set] = {}
    for value in model.proto.graph.input:
        for dim, n in zip(value.type.tensor_type.shape.dim, np.shape(feeds.get(value.name))):
            if dim.dim_param:
                lengths.setdefault(dim.dim_param, set()).add(n)
    return all(len(found) == 1 for found in lengths.values())


def judge(model, seed: int, doors: str, stage) -> dict:
    import libgather

    findings, counts, declared = [], Counter(), declared_shapes(model.proto)
    content = model.proto.SerializeToString()
    stage("host")
    runs = [host_run(content, model.feeds), host_run(content, model.more)]
    counts["loaded" if runs[0].loaded else "refused by the host"] += 1
    counts["ran"] += runs[0].outputs is not None
    stage("open")
    try:
        opened = libgather.Model(content)
    except libgather.GatherError as error:
        if runs[0].loaded:
            findings.append(("refused", "", str(error)))
        opened = None
    for name, inputs, dims, which in ways_to_give(model, seed) if opened else []:
        stage(f"check, given {name}")
        try:
            check = opened.check(inputs, dims)
        except libgather.GatherError as error:
            if runs[which[0]].loaded and consistent(model, inputs):
                findings.append((f"no check, given {name}", "", str(error)))
            continue
        counted, stated = [runs[i] for i in which], with_lengths(declared, lengths_of(model, inputs) | dims)
        findings += [(f"{kind}, given {name}", node, text) for kind, node, text in contradictions(check, counted, stated)]
        findings += [(f"advice, given {name}", node, text) for node, text in wrong_advice(model, opened, check, {*inputs, *dims})]
        if name in ("nothing", "all") and runs[0].loaded:
            count(check, name, counts)
        if name == "all" and seed % 4 == 0:
            stage("explain")
            explain(check)
    if doors and runs[0].loaded:
        findings += doors_of(model, content, runs[0], seed, doors, stage)
    return {"findings": findings, "counts": counts}


def wrong_advice(model, opened, check, given: set[str]):
    """Advice to give what the model does not have, or what was given."""
    for node in check:
        kind, names = node.advice
        if kind in ("inputs", "dims") and given & set(names):
            yield node.name, f"{node!r}: {names}; was given: {sorted(given)}"
        if kind == "inputs" and not set(names) <= {v.name for v in model.proto.graph.input}:
            yield node.name, f"{node!r}: {names}"
        if kind == "dims" and any(is_refused(opened, name) for name in names):
            yield node.name, f"{node!r}: {names}"


def is_refused(opened, dim: str) -> bool:
    import libgather

    try:
        opened.check({}, {dim: 1})
    except libgather.GatherError as error:
        return "name_not_found" in str(getattr(error, "status", "")).lower()
    return False


def explain(check) -> None:
    """A picture, or an error that the documents promise, of the first nodes."""
    import libgather

    for node in check[:2]:
        try:
            node.explain()
        except libgather.GatherError:
            continue


def count(check, given: str, counts: Counter) -> None:
    for node in check:
        verdict = node.verdict if node.executed else "not executed"
        counts[f"{given}: {verdict}"] += 1
        if verdict == "unknown":
            counts[f"{given}, why: " + HIDE.sub("#", node.reason)] += 1


# ---- both doors of the plug-in


def strings_differ(model, run: Run) -> bool:
    """Whether a Gather of strings has slices of several: ONNX Runtime's own leaves all but the first empty."""
    axes = {node.name: axis_of(node) for node in every_node(model.proto)}
    for name, kind in run.types.items():
        for data, *_ in run.events[name] if kind == "string" else ():
            axis = axes.get(name)
            if axis is None or int(np.prod(data[axis % len(data) + 1 :])) > 1:
                return True
    return False


def every_node(holder):
    graph = holder.graph if hasattr(holder, "graph") else holder
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from every_node(attribute.g)
    for function in getattr(holder, "functions", ()):
        yield from every_node(function)


def axis_of(node) -> int | None:
    if node.op_type != "Gather":
        return -1
    found = [a for a in node.attribute if a.name == "axis"]
    return None if found and found[0].ref_attr_name else found[0].i if found else 0


def same(a, b) -> bool:
    if isinstance(a, list) or isinstance(b, list):
        return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return list(a.ravel()) == list(b.ravel()) if a.dtype == object else a.tobytes() == b.tobytes()


def first_difference(host: list, ours: list) -> str:
    for number, (a, b) in enumerate(zip(host, ours)):
        if not same(a, b):
            return f"output {number}: {np.asarray(b).dtype}{np.shape(b)} {str(b)[:200]}; the host: {np.asarray(a).dtype}{np.shape(a)} {str(a)[:200]}"
    return ""


def is_steady(content: bytes, feeds: dict, level: str, outputs: list) -> bool:
    """Whether the host gives the same each time; what it leaves unwritten is no part of its answer."""
    return all(all(map(same, outputs, host_run(content, feeds, False, level).outputs)) for _ in range(2))


def no_if_in_if(model) -> bool:
    """Where a branch has an If, or calls a function that may, ONNX Runtime 1.32's ConstantFolding reads memory that InlineIfSubgraph freed
    (valgrind shows it without libgather, too, for seed 4170): the process may die before it asks a provider for its nodes."""
    functions = {function.name for function in model.proto.functions}
    branches = [a.g for node in every_node(model.proto) if node.op_type == "If" for a in node.attribute]
    return not any(inner.op_type in {"If", *functions} for graph in branches for inner in every_node(graph))


def is_wider(run: Run, plain: Run) -> bool:
    """A GatherND that the host runs and the documents forbid: see host_is_wider()."""
    outside = OUT_OF_RANGE.search(run.error)
    empty = any(0 in shapes[-1] for shapes in plain.events.get(own_name(outside[1]), ())) if outside else False
    return empty or (plain.empty_tuples and EMPTY_TUPLES in run.error)


def doors_of(model, content: bytes, plain: Run, seed: int, library: str, stage) -> list:
    level = LEVELS[seed % len(LEVELS)] if no_if_in_if(model) else "DISABLE_ALL"
    if level != "DISABLE_ALL":
        stage(f"host at {level}")
        plain_here = host_run(content, model.feeds, False, level)
    else:
        plain_here = plain
    found = []
    for door in ("operators", "provider"):
        stage(f"{door} at {level}")
        run = host_run(content, model.feeds, False, level, door, library)
        if run.outputs is not None and plain_here.outputs is None:
            plain_here = plain  # what fails at a level may run without its optimisations
        if is_wider(run, plain):
            continue
        if (run.outputs is None) != (plain_here.outputs is None):
            found.append((f"{door}: fails or does not", "", f"at {level}: {run.error or 'runs'}; the host: {plain_here.error or 'runs'}"))
        elif run.outputs is not None and not strings_differ(model, plain):
            if not all(map(same, plain_here.outputs, run.outputs)) and is_steady(content, model.feeds, level, plain_here.outputs):
                found.append((f"{door}: other bytes", "", f"at {level}: {first_difference(plain_here.outputs, run.outputs)}"))
    return found


# ---- the program


def answer(job: dict) -> dict:
    import random_models

    def stage(text: str) -> None:
        Path(job["stage"]).write_text(text)

    stage("generator")
    seed = job.get("seed", 0)
    model = pickle.loads(Path(job["saved"]).read_bytes()) if "saved" in job else random_models.model_of(seed)
    try:
        return judge(model, job.get("number", seed), job["doors"], stage)
    except Exception:  # noqa: BLE001  whatever the check raises that it does not promise is a finding
        return {"findings": [("an exception, " + Path(job["stage"]).read_text(), "", traceback.format_exc()[-1500:])], "counts": {}}


def main() -> None:
    """Answers go to the stdout that the caller gave; what the host prints there goes to stderr."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    mine = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        mine.write(json.dumps(answer(json.loads(line))) + "\n")
        mine.flush()


if __name__ == "__main__":
    main()
