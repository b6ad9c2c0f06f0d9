# SPDX-License-Identifier: MIT
"""Models: opening them from what there may be, and from what is none."""

import gc
import importlib.util
import os
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import onnx
import onnx.external_data_helper
import pytest
from model_files import BAD, EMBED, INSIDE, needs_onnx, one_node, parsed, saved  # noqa: F401
from support.refusal import refuses
from support.skip import skip_test

import libgather
from libgather import errors
from libgather.model import Model, check, run


def sources(tmp_path):
    proto = parsed(EMBED)
    path = saved(proto, tmp_path / "m.onnx")
    content = path.read_bytes()
    return [str(path), path, content, bytearray(content), memoryview(content), proto]


@pytest.mark.parametrize("number", range(6), ids=["str", "Path", "bytes", "bytearray", "memoryview", "ModelProto"])
def test_opens(tmp_path, number):
    source = sources(tmp_path)[number]
    model = Model(source)
    assert (model.dialect, model.format, model.node_count) == ("onnx", "onnx", 1)
    assert (model.inputs, model.outputs) == (("ids",), ("y",))
    assert model.not_checked == {}
    unpool = "unpool (float[1, 1, 1, 1] x, int64[1, 1, 1, 1] at) => (float[1, 1, 2, 2] y) { y = MaxUnpool <kernel_shape = [2, 2]> (x, at) }"
    assert Model(parsed(unpool)).not_checked == {"MaxUnpool": 1}
    assert model.value_type("ids") == "int64"
    assert model.value_type("nothing") is None
    assert model.name == (str(tmp_path / "m.onnx") if number < 2 else "<bytes>")
    assert repr(model) == f"<libgather.Model {model.name}: onnx, 1 gather node>"
    table = np.array([[0, 1], [10, 11], [20, 21], [30, 31]], np.float32)
    assert np.array_equal(run(source, {"ids": [[3, 0]]}, node="embed")["e"], table[[[3, 0]]])
    assert len(check(source)) == 1


def test_not_checked():
    model = Model(parsed(INSIDE))
    assert model.not_checked == {}
    unpool = "unpool (float[1, 1, 1, 1] x, int64[1, 1, 1, 1] at) => (float[1, 1, 2, 2] y) { y = MaxUnpool <kernel_shape = [2, 2]> (x, at) }"
    assert Model(parsed(unpool)).not_checked == {"MaxUnpool": 1}
    assert repr(model).endswith("onnx, 3 gather nodes>")


def test_bytes_may_go(tmp_path):
    """The memory of a model lives as long as the model and its outputs."""
    table = np.random.default_rng(1).random((1000, 3)).astype(np.float32)
    content = bytearray(given(table))
    model = Model(content)
    content[:] = bytes(len(content))
    outputs = model.run({"ids": [999, -1, 0]})
    del content, model
    gc.collect()
    assert np.array_equal(outputs["y"], table[[999, -1, 0]])


def given(table):
    model = one_node(data=table.shape, ids=(3,))
    model.graph.initializer.append(onnx.numpy_helper.from_array(table, "data"))
    del model.graph.input[0]
    return model.SerializeToString()


def test_goes_away():
    """Models, checks and runs hold nothing back once they are gone."""
    table, ids = np.zeros((4, 3), np.float32), np.array([1, 2])
    reference = weakref.ref(ids)
    model = Model(one_node())
    outputs = model.run({"data": table, "ids": ids})
    found = model.check({"ids": ids})
    gone = weakref.ref(model)
    del ids, model, outputs, found
    gc.collect()
    assert reference() is None
    assert gone() is None


def test_travels(tmp_path):
    """Another process opens it anew; a check goes along with its model."""
    for source in (saved(parsed(BAD), tmp_path / "m.onnx"), parsed(BAD)):
        found = check(source, {"free": [4, 5]})
        again = pickle.loads(pickle.dumps(found))
        assert repr(again) == repr(found)
        assert again.as_dict() == found.as_dict()
        assert again.model.inputs == ("x", "free")


def test_relative_path(tmp_path, monkeypatch):
    """A path is that of the moment at which the model was opened."""
    saved(parsed(BAD), tmp_path / "m.onnx")
    monkeypatch.chdir(tmp_path)
    model = Model("m.onnx")
    monkeypatch.chdir("/")
    assert model.name == str(tmp_path / "m.onnx")
    assert "✗" in str(model.explain("far"))


def test_name_of_any_bytes(tmp_path):
    path = os.fsencode(tmp_path) + b"/m \xff:x.onnx"
    try:
        with open(path, "wb") as file:
            file.write(parsed(EMBED).SerializeToString())
    except OSError:
        skip_test("file names", "this file system takes no such names")
    assert Model(os.fsdecode(path)).inputs == ("ids",)


# ---- what is no model ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [5, None, [], object(), 1.5])
def test_no_source(source):
    refuses(TypeError, Model, source, says="a model is a path, bytes")


def test_not_there(tmp_path):
    for raised in (errors.GatherFileNotFoundError, FileNotFoundError, libgather.GatherError):
        error = refuses(raised, Model, tmp_path / "none.onnx")
    assert error.status == "file_not_found"
    assert error.file.endswith("none.onnx")
    refuses(errors.GatherFileError, Model, tmp_path)
    refuses(ValueError, Model, "a\0b", says="null")


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"no model", b"<xml/>", b"\x08\x07", b"\xff" * 1000, b"\x93NUMPY"])
def test_no_model(content):
    error = refuses((errors.GatherFileFormatError, errors.GatherNotSupportedError), Model, content)
    assert "<bytes>" in error.message


def test_tensor_is_no_model(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    refuses(errors.GatherNotSupportedError, Model, tmp_path / "x.npy")


def test_truncated():
    """Every cut is an error that says so, or leaves a model that opens: never more."""
    whole = given(np.random.default_rng(2).random((20, 3)).astype(np.float32))
    failed = 0
    for length in range(len(whole)):
        try:
            check(whole[:length])
        except errors.GatherFileFormatError as error:
            failed += 1
            assert error.offset is None or 0 <= error.offset <= length
        except errors.GatherError:
            failed += 1
    assert failed > len(whole) * 3 // 4


def test_changed_bytes():
    whole = bytearray(given(np.zeros((20, 3), np.float32)))
    random = np.random.default_rng(3)
    for _ in range(2000):
        at = int(random.integers(len(whole)))
        before, whole[at] = whole[at], int(random.integers(256))
        try:
            run(whole, {"ids": [1, 2, 3]})
            repr(check(whole))
        except (errors.GatherError, ValueError):
            pass
        whole[at] = before
    assert np.array_equal(run(whole, {"ids": [1, 2, 3]})["y"], np.zeros((3, 3)))


# ---- external data ---------------------------------------------------------------------------------------------------


def external(tmp_path: Path) -> Path:
    proto = onnx.load_from_string(given(np.arange(60, dtype=np.float32).reshape(20, 3)))
    onnx.save(proto, tmp_path / "e.onnx", save_as_external_data=True, location="e.data", size_threshold=0)
    return tmp_path / "e.onnx"


def test_external_data(tmp_path):
    path = external(tmp_path)
    assert run(path, {"ids": [19, 0, 1]})["y"].tolist() == [[57, 58, 59], [0, 1, 2], [3, 4, 5]]
    with open(tmp_path / "e.data", "r+b") as file:
        file.truncate(100)
    refuses(errors.GatherFileFormatError, run, path, {"ids": [19, 0, 1]}, says=r"e\.data")
    (tmp_path / "e.data").unlink()
    refuses(errors.GatherFileNotFoundError, run, path, {"ids": [19, 0, 1]}, says=r"e\.data")
    assert check(path, {"ids": [19, 0, 1]})[0].verdict == "ok"  # the shape is enough


def test_links_beside_a_model(tmp_path):
    path = external(tmp_path)
    (tmp_path / "away").mkdir()
    (tmp_path / "e.data").rename(tmp_path / "away" / "e.data")
    (tmp_path / "e.data").symlink_to(tmp_path / "away" / "e.data")
    for model in (path, libgather.Model(path)):
        assert run(model, {"ids": [19, 0, 1]})["y"].tolist() == [[57, 58, 59], [0, 1, 2], [3, 4, 5]]
    model = libgather.Model(path, links=False)
    for unlinked in (model, pickle.loads(pickle.dumps(model))):
        refuses(errors.GatherFileError, unlinked.run, {"ids": [19, 0, 1]}, says="symbolic link")


def test_external_data_in_memory(tmp_path):
    refuses(errors.GatherNotSupportedError, run, external(tmp_path).read_bytes(), {"ids": [1, 2, 3]}, says="memory")


# ---- OpenVINO IR -----------------------------------------------------------------------------------------------------


# In a process of its own: what it loads does not go with sanitizers.
OPENVINO = """
import sys
import numpy as np
import openvino as ov
from openvino import opset13 as op
table = np.arange(12, dtype=np.float32).reshape(4, 3)
ids = op.parameter([2], dtype=np.int64, name="ids")
node = op.gather(op.constant(table), ids, op.constant(np.int64(0)))
node.set_friendly_name("g")
ov.save_model(ov.Model([node], [ids], "m"), sys.argv[1] + "/m.xml", compress_to_fp16=False)
compiled = ov.Core().compile_model(sys.argv[1] + "/m.xml", "CPU")
np.save(sys.argv[1] + "/wanted.npy", compiled({"ids": np.array([3, 9])})[0])
"""


def test_openvino(tmp_path):
    if "ir" not in libgather.info()["formats"]:
        skip_test("expat", "this build reads no OpenVINO IR")
    if importlib.util.find_spec("openvino") is None:
        skip_test("openvino", "the package is not installed")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run([sys.executable, "-c", OPENVINO, str(tmp_path)], env=environment, check=True)
    wanted = np.load(tmp_path / "wanted.npy")
    model = Model(tmp_path / "m.xml")
    assert (model.dialect, model.inputs, model.node_count) == ("openvino", ("ids",), 1)
    (output,) = model.run({"ids": [3, 9]}).values()
    assert np.array_equal(output, wanted)
    assert output.tolist() == [[9, 10, 11], [0, 0, 0]]  # its rules fill with zeros
    found = model.check({"ids": np.array([3, 9])})
    assert (found[0].rules, found[0].verdict, found[0].indices.bad, found[0].is_bad) == ("openvino-8", "ok", 1, True)
    assert set(found[0].runtimes) >= {"openvino", "onnxruntime"}
    assert "openvino-8" in str(found[0].explain())
