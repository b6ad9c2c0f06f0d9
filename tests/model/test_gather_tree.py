# SPDX-License-Identifier: MIT
"""GatherTree in OpenVINO IR files, written by OpenVINO: `gather check` and `gather run` beside a loop from the document and OpenVINO
itself; and what OpenVINO does with a parent out of range and with a batch of no steps."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from support.beams import OPENVINO_CASES, draw, sequences
from support.command import inputs as given
from support.skip import skip_test


@pytest.fixture(scope="module", autouse=True)
def package():
    if importlib.util.find_spec("openvino") is None:
        skip_test("openvino", "the package is not installed")


def gather(*words, code=0):
    done = subprocess.run([os.environ["GATHER_EXE"], *map(str, words)], capture_output=True, timeout=120)
    assert done.returncode == code, done
    return done


def model_of(path, *inputs, known=()):
    """A model whose inputs are those tensors, of which the ones in `known` are constants."""
    import openvino
    from openvino import opset1

    names = ("steps", "parents", "lengths", "end")
    nodes = [opset1.constant(np.asarray(a)) if name in known else opset1.parameter(np.shape(a), np.asarray(a).dtype, name=name)
             for name, a in zip(names, inputs, strict=True)]
    for node, name in zip(nodes, names, strict=True):
        node.output(0).set_names({name})
    result = opset1.gather_tree(*nodes, name="tree")
    result.output(0).set_names({"sequences"})
    model = openvino.Model([result], [n for name, n in zip(names, nodes, strict=True) if name not in known], "m")
    openvino.save_model(model, path, compress_to_fp16=False)
    return path


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float16])
@pytest.mark.parametrize("known", [(), ("parents", "lengths", "end"), ("parents",)])
def test_run(tmp_path, dtype, known):
    rng = np.random.default_rng(11)
    for _ in range(3):
        inputs = draw(rng, dtype, time=6, batch=2, width=4)
        path = model_of(tmp_path / "m.xml", *inputs, known=known)
        free = [(n, a) for n, a in zip(("steps", "parents", "lengths", "end"), inputs, strict=True) if n not in known]
        gather("run", path, *given(tmp_path, **dict(free)), "--output", f"sequences={tmp_path}/o.npy", "-f")
        want, _ = sequences(*inputs)
        got = np.load(tmp_path / "o.npy")
        assert got.dtype == want.dtype and got.tobytes() == want.tobytes()


def test_openvinos_own_cases(tmp_path):
    for _, shape, ids, lengths, end, want in OPENVINO_CASES:
        ids = np.array(ids, np.int32).reshape(shape)
        path = model_of(tmp_path / "m.xml", ids, ids, np.array(lengths, np.int32), np.int32(end), known=("parents", "lengths", "end"))
        gather("run", path, *given(tmp_path, steps=ids), "--output", f"{tmp_path}/o.npy", "-f")
        assert np.load(tmp_path / "o.npy").ravel().tolist() == want
        assert json.loads(gather("check", path, "--json").stdout)["ok"] == 1


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_check_finds_the_parents_that_are_followed(tmp_path, dtype):
    rng = np.random.default_rng(12)
    ok = bad = 0
    for _ in range(12):
        steps, parents, lengths, end = draw(rng, dtype, faults=0.08, time=5, batch=2, width=3)
        parents[0] = 50  # nobody follows these
        _, wrong = sequences(steps, parents, lengths, end)
        path = model_of(tmp_path / "m.xml", steps, parents, lengths, end, known=("parents", "lengths"))
        node = json.loads(gather("check", path, "--json", code=1 if wrong else 0).stdout)["nodes"][0]
        assert (node["op"], node["rules"], node["axis"]) == ("GatherTree", "openvino-1", 2)
        assert node["output"]["shape"] == [5, 2, 3] and node["type_listed"]
        ok, bad = ok + (not wrong), bad + bool(wrong)
        if not wrong:
            assert node["verdict"] == "ok"
            continue
        error, first = node["error"], min(wrong)
        assert node["verdict"] == "bad" and node["indices"]["bad"] == len(wrong)
        assert (error["position"], error["value"], error["input"]) == (list(first), parents[first], "parent_ids")
        assert node["runtimes"]["openvino"].startswith("fails on the CPU without the value; with one thread")
        assert node["runtimes"]["onnxruntime"] == "does not read OpenVINO IR" and "cause" not in node
        done = gather("run", path, *given(tmp_path, steps=steps, end=end), code=1)
        assert error["message"] in done.stderr.decode()
    assert ok > 1 and bad > 3


def test_check_without_parents_or_lengths(tmp_path):
    inputs = draw(np.random.default_rng(13), np.int32, time=3, batch=1, width=2)
    node = json.loads(gather("check", model_of(tmp_path / "m.xml", *inputs), "--json").stdout)["nodes"][0]
    assert node["verdict"] == "unknown" and "'parents', which was not given" in node["reason"]
    path = model_of(tmp_path / "m.xml", *inputs, known=("parents",))
    node = json.loads(gather("check", path, "--json").stdout)["nodes"][0]
    assert node["verdict"] == "unknown" and "max_seq_len 'lengths' is known when the model runs" in node["reason"]
    words = given(tmp_path, lengths=inputs[2])
    assert json.loads(gather("check", path, "--json", *words).stdout)["nodes"][0]["verdict"] == "ok"


def test_it_cannot_be_drawn(tmp_path):
    inputs = draw(np.random.default_rng(14), np.int32, time=3, batch=1, width=2)
    path = model_of(tmp_path / "m.xml", *inputs, known=("parents", "lengths", "end"))
    done = gather("explain", path, code=4)
    assert b"GatherTree cannot be drawn: each cell of its output comes from a chain of parents, not from one index" in done.stderr


PROGRAM = """
import json, sys
import numpy as np, openvino
threads, *names = sys.argv[1:]
inputs = [np.load(name) for name in names]
from openvino import opset1
nodes = [opset1.parameter(a.shape, a.dtype) for a in inputs]
model = openvino.Model([opset1.gather_tree(*nodes)], nodes, "m")
compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": int(threads), "INFERENCE_PRECISION_HINT": "f32"})
request = compiled.create_infer_request()
out = openvino.Tensor(np.full(inputs[0].shape, 77, inputs[0].dtype))
request.set_output_tensor(out)
try:
    request.infer(inputs)
    print(json.dumps({"out": out.data.tolist()}))
except Exception as error:
    print(json.dumps({"error": str(error), "out": out.data.tolist()}))
"""


def openvino_does(folder, threads, *inputs):
    names = []
    for number, array in enumerate(inputs):
        names.append(str(folder / f"{number}.npy"))
        np.save(names[-1], array)
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # no sanitizer
    words = [sys.executable, "-c", PROGRAM, str(threads), *names]
    done = subprocess.run(words, env=environment, capture_output=True, timeout=120, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_what_openvino_does(tmp_path, dtype):
    """The row OPENVINO, OPENVINO_TREE_1 of runtimes.def; and that it leaves the batches of no steps unwritten (docs/extend/readings.md)."""
    if len(os.sched_getaffinity(0)) < 2:
        skip_test("two CPUs", "OpenVINO takes one thread where there is one CPU")
    steps = np.arange(32).reshape(4, 2, 4).astype(dtype)
    parents = np.zeros((4, 2, 4), dtype)
    parents[2, 1, 0] = 9  # the whole of batch 1 passes there
    lengths = np.array([4, 4], dtype)
    several = openvino_does(tmp_path, 2, steps, parents, lengths, dtype(99))
    assert "Wrong parent index" in several["error"] and "9" not in several["error"].split("Wrong parent index")[1]
    one = openvino_does(tmp_path, 1, steps, parents, lengths, dtype(99))
    assert "error" not in one and np.array(one["out"])[0, 1].tolist() == [77] * 4  # stale
    none = openvino_does(tmp_path, 2, steps, parents * 0, np.array([0, 4], dtype), dtype(99))
    assert np.array(none["out"])[:, 0].ravel().tolist() == [77] * 16  # the document says 99
