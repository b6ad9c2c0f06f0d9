# SPDX-License-Identifier: MIT
"""gather run --test-data: folders as ONNX's own tests have them, whole ones and broken ones."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import run_models as models
from onnx import TensorProto, helper, numpy_helper
from test_run_onnx import run

IDS = np.array([2, 0])
TABLE = np.arange(8, dtype=np.float32).reshape(4, 2)
WORDS = np.array([b"a", b"", b"\xff\x00"], object)


@pytest.fixture
def two(tmp_path):
    """Two inputs, three outputs: numbers, strings, a shape."""
    inputs = [helper.make_tensor_value_info(n, t, None) for n, t in (("x", TensorProto.FLOAT), ("ids", TensorProto.INT64))]
    outputs = [
        helper.make_tensor_value_info(n, t, None)
        for n, t in (("y", TensorProto.FLOAT), ("words", TensorProto.STRING), ("shape", TensorProto.INT64))
    ]
    nodes = [
        helper.make_node("Gather", ["x", "ids"], ["y"], "g"),
        helper.make_node("Gather", ["dictionary", "ids"], ["words"], "w"),
        helper.make_node("Shape", ["y"], ["shape"], "s"),
    ]
    path = models.save(tmp_path, nodes, inputs, outputs, [models.tensor_of("dictionary", "STRING", WORDS)], 13)
    brought = [models.tensor_of("", "FLOAT", TABLE), numpy_helper.from_array(IDS)]
    wanted = [
        models.tensor_of("", "FLOAT", TABLE[IDS]), models.tensor_of("", "STRING", WORDS[IDS]), numpy_helper.from_array(np.array([2, 2]))
    ]  # fmt: skip
    models.test_set(tmp_path / "set", brought, *wanted)
    return path, tmp_path / "set"


def put(folder, name: str, tensor) -> None:
    (folder / f"{name}.pb").write_bytes(tensor.SerializeToString())


def failure(code_and_answer):
    code, answer = code_and_answer
    return code, answer["error"]["status"]


def test_several_outputs(two):
    path, folder = two
    code, answer = run(path, "--test-data", folder)
    assert code == 0 and [(c["name"], c["equal"]) for c in answer["compared"]] == [("y", True), ("words", True), ("shape", True)]


def test_names_in_the_files_do_not_matter(two):
    path, folder = two
    put(folder, "input_0", models.tensor_of("ids", "FLOAT", TABLE))
    assert run(path, "--test-data", folder)[0] == 0


def test_strings_that_differ(two):
    path, folder = two
    put(folder, "output_1", models.tensor_of("", "STRING", np.array([b"\xff\x00", b"b"], object)))
    code, answer = run(path, "--test-data", folder)
    assert code == 1 and answer["error"]["status"] == "mismatch"
    assert [c["mismatches"] for c in answer["compared"]] == [0, 1, 0]
    assert answer["compared"][1]["position"] == [1]


@pytest.mark.parametrize(
    "tensor, mismatches",
    [
        (models.tensor_of("", "DOUBLE", TABLE[IDS].astype(np.float64)), 4),
        (models.tensor_of("", "FLOAT", TABLE[[2, 0, 0]]), 6),
        (models.tensor_of("", "FLOAT", TABLE[IDS].reshape(4)), 4),
        (models.tensor_of("", "FLOAT", -0.0 * TABLE[IDS]), 4),
        (models.tensor_of("", "FLOAT", TABLE[[2, 1]]), 2),
    ],
)
def test_outputs_that_differ(two, tensor, mismatches):
    """In type, in shape, in bits."""
    path, folder = two
    put(folder, "output_0", tensor)
    code, answer = run(path, "--test-data", folder)
    assert code == 1 and answer["error"]["status"] == "mismatch" and "'y'" in answer["error"]["message"]
    assert answer["compared"][0]["mismatches"] == mismatches and answer["compared"][0]["reason"]
    assert all(entry["equal"] for entry in answer["compared"][1:])


def test_signs_and_payloads(two):
    """Equal numbers of other bits differ, and NaNs of the same bits do not."""
    path, folder = two
    nan = np.array([0x7FC01234, 0xFFC00001], np.uint32).view(np.float32)
    table = np.array([nan, [0.0, -0.0], nan[::-1]], np.float32)
    put(folder, "input_0", models.tensor_of("", "FLOAT", table))
    put(folder, "output_0", models.tensor_of("", "FLOAT", table[IDS]))
    assert run(path, "--test-data", folder)[0] == 0
    put(folder, "input_0", models.tensor_of("", "FLOAT", np.zeros((3, 2), np.float32)))
    put(folder, "output_0", models.tensor_of("", "FLOAT", -np.zeros((2, 2), np.float32)))
    assert failure(run(path, "--test-data", folder)) == (1, "mismatch")


@pytest.mark.parametrize("name", ["input_0", "input_1", "output_0", "output_2"])
def test_missing_files(two, name):
    path, folder = two
    (folder / f"{name}.pb").unlink()
    code, answer = run(path, "--test-data", folder)
    assert (code, answer["error"]["status"]) == (3, "file_not_found") and f"{name}.pb" in answer["error"]["file"]


@pytest.mark.parametrize("name", ["input_2", "output_3"])
def test_files_too_many(two, name):
    path, folder = two
    put(folder, name, numpy_helper.from_array(IDS))
    code, answer = run(path, "--test-data", folder)
    assert (code, answer["error"]["status"]) == (3, "file_malformed") and f"{name}.pb" in answer["error"]["file"]


@pytest.mark.parametrize("content", [b"", b"\x00", b"\x08", b"no tensor", b"\x08\x02\x10\x07\x4a\x08" + bytes(8)])
@pytest.mark.parametrize("name", ["input_1", "output_0"])
def test_broken_files(two, name, content):
    path, folder = two
    (folder / f"{name}.pb").write_bytes(content)
    code, answer = run(path, "--test-data", folder)
    assert code in (3, 4) and f"{name}.pb" in answer["error"]["file"], answer


def test_inputs_of_another_type(two):
    path, folder = two
    put(folder, "input_1", numpy_helper.from_array(IDS.astype(np.int32)))
    assert failure(run(path, "--test-data", folder)) == (1, "type_mismatch")
    put(folder, "input_1", numpy_helper.from_array(np.array([2, 4])))
    code, answer = run(path, "--test-data", folder)
    assert failure((code, answer)) == (1, "index_out_of_range") and answer["error"]["node"] == "g"


def test_sets_go_by_number(two, tmp_path):
    path, folder = two
    for number in (10, 9, 0):
        shutil.copytree(folder, tmp_path / f"test_data_set_{number}")
    code, answer = run(path, "--test-data", tmp_path)
    assert code == 0
    assert [c["set"] for c in answer["compared"]] == [f"test_data_set_{n}" for n in (0, 0, 0, 9, 9, 9, 10, 10, 10)]


def container(folder, kind):
    """A model whose input is a sequence of tensors, or an optional one."""
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    proto = helper.make_sequence_type_proto(inner) if kind == "sequence" else helper.make_optional_type_proto(inner)
    x = helper.make_value_info("x", proto)
    i = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("SequenceAt", ["x", "i"], ["y"], "at") if kind == "sequence" else helper.make_node("OptionalGetElement", ["x"], ["y"], "at")
    return models.save(folder, [node], [x, i], [y], [], 18)


@pytest.mark.parametrize("kind", ["sequence", "optional"])
def test_no_tensors(kind, tmp_path):
    """Said plainly, whatever the folder holds."""
    path, folder = container(tmp_path, kind), tmp_path / "set"
    folder.mkdir()
    values = [TABLE, TABLE[:1]]
    proto = numpy_helper.from_list(values) if kind == "sequence" else numpy_helper.from_optional(TABLE)
    put(folder, "input_0", proto)
    put(folder, "input_1", numpy_helper.from_array(np.array(0)))
    put(folder, "output_0", models.tensor_of("", "FLOAT", TABLE))
    assert failure(run(path, "--test-data", folder)) == (4, "unsupported")


@pytest.mark.parametrize("kind", ["sequence", "optional"])
def test_no_tensors_that_pass_through(kind, tmp_path):
    """Operators that are run could hand them on: the file is no tensor."""
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    proto = helper.make_sequence_type_proto(inner) if kind == "sequence" else helper.make_optional_type_proto(inner)
    x, y = helper.make_value_info("x", proto), helper.make_value_info("y", proto)
    path, folder = models.save(tmp_path, [helper.make_node("Identity", ["x"], ["y"])], [x], [y], [], 18), tmp_path / "set"
    folder.mkdir()
    given = numpy_helper.from_list([TABLE]) if kind == "sequence" else numpy_helper.from_optional(TABLE)
    put(folder, "input_0", given)
    put(folder, "output_0", given)
    assert failure(run(path, "--test-data", folder)) == (4, "unsupported")
    np.save(tmp_path / "x.npy", TABLE)
    assert failure(run(path, "--input", f"x={tmp_path}/x.npy")) == (4, "unsupported")
