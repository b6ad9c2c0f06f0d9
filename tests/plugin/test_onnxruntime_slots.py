# SPDX-License-Identifier: MIT
"""The rows of plugin/onnxruntime/ort_slots.def, each by a known behaviour of ONNX Runtime itself: a wrong slot is a crash, so each
check is a child. What only an execution provider can call is listed below: test_onnxruntime_ep_* and the tests of models call it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import ort_slot_checks as checks
import ort_slots as slots
from support.skip import skip_test

PROGRAM = Path(checks.__file__)
# Functions on objects that an execution provider alone is given: a graph, a device. A provider that takes nodes over called them.
PROVIDER = re.compile(r"^(Graph_|Node_|ValueInfo_|GetValueInfo|ExternalInitializerInfo_|ReleaseExternalInitializerInfo|HardwareDevice_|EpDevice_|Value_)")
CALLED: set[str] = set()


def libonnxruntime() -> Path:
    found = importlib.util.find_spec("onnxruntime")
    if found is None:
        skip_test("onnxruntime", "the package is not installed")
    libraries = sorted(Path(found.origin).parent.glob("capi/libonnxruntime.so.*"))
    if not libraries:
        skip_test("onnxruntime", "the package has no libonnxruntime.so")
    return libraries[0]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    node = helper.make_node("Probe", ["x"], ["y"], name="the_node", domain="test.probe", axis=-7, share=0.25)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    path = tmp_path_factory.mktemp("slots") / "probe.onnx"
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("test.probe", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def run_check(name: str, model: Path, program=PROGRAM) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, program, libonnxruntime(), model, name], capture_output=True, text=True, timeout=120)


@pytest.mark.all_cases
@pytest.mark.parametrize("name", checks.CHECKS)
def test_behaviour(name, model):
    done = run_check(name, model)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}"
    CALLED.update(done.stdout.splitlines()[-1].split()[1:])


def test_log_line_arrives(model):
    assert "a line of the probe" in run_check("custom_operator", model).stderr


def test_every_row_is_checked():
    """A new row of the table needs a check above, or a call by the provider."""
    names = set(slots.declared())
    assert len(names) > 60, "the table was not read"
    unchecked = {name for name in names - CALLED if not PROVIDER.match(name)}
    if not CALLED:
        pytest.fail("run together with test_behaviour")
    assert not unchecked


def test_since_is_the_version_of_the_slot():
    """Rows in the order of their slots have versions that never fall: the table of functions is append-only."""
    found = sorted((slot, since, name) for name, (slot, since, _, _) in slots.declared().items())
    for (_, before, _), (slot, since, name) in zip(found, found[1:], strict=False):
        assert since >= before, f"{name} at slot {slot} is said to be of version {since}, a slot before it of {before}"


def test_version_string():
    code = ("import sys, ort_slots; host = ort_slots.Host(sys.argv[1]); import onnxruntime; "
            "assert host.base.GetVersionString().decode() == onnxruntime.__version__; assert all(host.base.GetApi(n) for n in (17, 22, 24))")
    done = subprocess.run([sys.executable, "-c", code, libonnxruntime()], capture_output=True, text=True, timeout=120, cwd=PROGRAM.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["GetDimensionsCount", "GetTensorMutableData", "GetKeyValue"])
def test_a_wrong_slot_is_seen(name, model, tmp_path):
    """The checks can fail: with a neighbour's slot they do, by a crash or in words."""
    for path in PROGRAM.parent.glob("ort_slot*.py"):
        (tmp_path / path.name).write_text(path.read_text().replace("parents[2] / \"plugin/onnxruntime/ort_slots.def\"", "parent / \"ort_slots.def\""))
    slot = slots.declared()[name][0]
    text = re.sub(rf"^(ORT_SLOT\({name},\s*){slot},", rf"\g<1>{slot + 1},", slots.SOURCE.read_text(), flags=re.M)
    (tmp_path / "ort_slots.def").write_text(text)
    check = {"GetDimensionsCount": "shapes", "GetTensorMutableData": "tensor", "GetKeyValue": "pairs"}[name]
    assert run_check(check, model, tmp_path / PROGRAM.name).returncode != 0
