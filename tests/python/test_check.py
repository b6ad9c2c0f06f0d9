# SPDX-License-Identifier: MIT
"""Checks of models: the same fields and values as the command's, the same text, and errors with every field."""

import re

import numpy as np
import pytest
from model_files import (  # noqa: F401
    BAD,
    CHAIN,
    EMBED,
    INSIDE,
    NAMED,
    command,
    command_json,
    needs_onnx,
    one_node,
    parsed,
    saved,
)

from libgather import errors, take
from libgather.check_report import Check, NodeCheck
from libgather.model import Model, check
from support.refusal import refuses

MODELS = {"embed": EMBED, "bad": BAD, "named": NAMED, "inside": INSIDE, "chain": CHAIN}


@pytest.fixture(params=MODELS)
def path(request, tmp_path):
    return saved(parsed(MODELS[request.param]), tmp_path / "m.onnx")


def test_fields_are_the_commands(path):
    assert check(path).as_dict() == command_json("check", path)


def test_text_is_the_commands(path):
    """But for what to give, which here is said as arguments."""
    said = command("check", path).stdout.decode().splitlines()
    ours = repr(check(path)).splitlines()
    assert [line for line in said if line and " give " not in line] == [line for line in ours if " give " not in line]
    assert len([line for line in said if " give " in line]) == len([line for line in ours if " give " in line])


@pytest.mark.parametrize(
    ("text", "inputs", "dims"),
    [
        (EMBED, {"ids": [[0, 3], [4, -1]]}, {}),
        (EMBED, {"ids": [[0, 3], [2, -4]]}, {}),
        (BAD, {"free": [4, -5]}, {}),
        (NAMED, {}, {"N": 8}),
        (NAMED, {}, {"N": 7}),
        (NAMED, {"table": np.zeros((3, 2), np.float32)}, {}),
        (INSIDE, {"ids": [1, 2]}, {}),
        (CHAIN, {"ids": [1, 2]}, {}),
    ],
)
def test_what_is_given(tmp_path, text, inputs, dims):
    path = saved(parsed(text), tmp_path / "m.onnx")
    arguments = []
    for name, given in inputs.items():
        array = np.asarray(given)
        np.save(tmp_path / f"{name}.npy", array)
        arguments += ["--input", f"{name}={tmp_path / name}.npy"]
    arguments += [word for name, length in dims.items() for word in ("--dim", f"{name}={length}")]
    found = check(path, inputs, dims)
    assert found.as_dict() == command_json("check", path, *arguments)
    assert len(found) == found.ok + found.bad + found.unknown == command_json("check", path)["nodes"].__len__()
    assert (found.inputs, found.dims) == (inputs, dims)


def test_sequence():
    found = check(parsed(BAD))
    assert isinstance(found, Check)
    assert len(found) == 3
    assert [node.name for node in found] == ["far", "near", "free"]
    assert (found.ok, found.bad, found.unknown) == (1, 1, 1)
    assert found[-1].name == "free"
    assert [node.name for node in found[:2]] == ["far", "near"]
    assert found[0] in found
    with pytest.raises(IndexError):
        found[3]


def test_bad_node():
    node = check(parsed(BAD))[0]
    assert isinstance(node, NodeCheck)
    assert (node.verdict, node.is_bad, node.path, node.op, node.rules, node.axis) == ("bad", True, "main/far", "Gather", "onnx-13", 0)
    assert (node.indices.min, node.indices.max, node.indices.count, node.indices.bad) == (1, 9, 2, 1)
    assert (node.data.shape, node.data.type, node.data.source) == ((5, 2), "float32", "input")
    assert node.indices.source == "initializer"
    assert node.output.source is None
    assert set(node.runtimes) >= {"onnxruntime", "openvino", "tensorrt", "directml"}
    assert "another vocabulary" in node.cause
    assert node.error is not None
    assert isinstance(node.error, IndexError)
    error = refuses(errors.GatherIndexError, take, np.zeros((5, 2), np.float32), [1, 9], axis=0, rules="onnx-13")
    for name in errors.FIELDS:
        assert getattr(node.error, name) == getattr(error, name), name
    assert (node.error.position, node.error.value, node.error.low, node.error.high) == ((1,), 9, -5, 4)


def test_shapes():
    """A length is a number, a name, or not known; so is the rank."""
    node = check(parsed(EMBED))[0]
    assert node.indices.shape == ("batch", "words")
    assert node.as_dict()["output"]["shape"] == ["batch", "words", 2]
    open_model = parsed("m (float[?, 2] x, int64[k] ids) => (float[k, 2] y) { y = Gather (x, ids) }")
    assert check(open_model)[0].data.shape == (None, 2)
    assert check(open_model).as_dict()["nodes"][0]["data"]["shape"] == [-1, 2]
    open_model.graph.input[0].type.tensor_type.ClearField("shape")
    assert check(open_model)[0].data.shape is None
    assert "[?...] by [k]" in repr(check(open_model))


def test_unsigned_indices():
    model = parsed("m (float[3, 2] x) => (float[2, 2] y) { t = Constant <value = uint64[2] {1, 2}> () y = Gather (x, t) }")
    model.graph.node[0].attribute[0].t.raw_data = np.array([1, 2**64 - 1], np.uint64).tobytes()
    model.graph.node[0].attribute[0].t.ClearField("uint64_data")
    node = check(model)[0]
    assert (node.indices.min, node.indices.max) == (1, 2**64 - 1)
    assert node.error is not None
    assert node.error.value == 2**64 - 1


# ---- what would make a node known ------------------------------------------------------------------------------------


def test_missing():
    assert check(parsed(EMBED))[0].missing == ("ids",)
    assert check(parsed(EMBED))[0].give == "--input ids=TENSOR"
    assert "inputs={'ids': TENSOR}" in repr(check(parsed(EMBED)))
    named = check(parsed(NAMED))[0]
    assert (named.missing, named.give) == (("N",), "--dim N=LENGTH")
    assert "dims={'N': LENGTH}" in repr(named)
    assert check(parsed(NAMED), dims={"N": 8})[0].missing == ()
    assert check(parsed(NAMED), dims={"N": 8})[0].give is None
    chain = check(parsed(CHAIN))[0]
    assert chain.missing == ("other",)
    assert "Model.explain('main/g', inputs={'other': TENSOR})" in repr(chain)


def test_many_nodes():
    """Advice is not asked for without end, and the command stops at the same node."""
    nodes = " ".join(f"y{i} = Gather (x, i{i})" for i in range(70))
    ids = ", ".join(f"int64[2] i{i}" for i in range(70))
    outputs = ", ".join(f"float[2, 2] y{i}" for i in range(70))
    found = check(parsed(f"m (float[5, 2] x, {ids}) => ({outputs}) {{ {nodes} }}"))
    assert [bool(node.missing) for node in found] == [True] * 64 + [False] * 6


# ---- what is wrong with the call -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "dims", "kind", "said"),
    [
        ({"nothing": [1]}, {}, errors.GatherNameError, "nothing"),
        ({}, {"nothing": 1}, errors.GatherNameError, "nothing"),
        ({"ids": np.zeros((1, 1), np.float32)}, {}, errors.GatherTypeError, "float32"),
        ({"ids": np.zeros(1, np.int64)}, {}, errors.GatherValueError, "rank|dimension"),
        ({"ids": np.zeros((1, 1), np.int64)}, {"batch": 2}, errors.GatherValueError, "batch"),
        ({"ids": [[1.5]]}, {}, errors.GatherTypeError, "fit int64"),
        ({"ids": [[1], [2, 3]]}, {}, ValueError, "inhomogeneous"),
        ({"ids": [["a"]]}, {}, errors.GatherTypeError, "string"),
        ({"ids": object()}, {}, errors.GatherTypeError, "object"),
        ({}, {"batch": -1}, ValueError, "at least 0"),
        ({}, {"batch": 2**63}, ValueError, "at least 0"),
        ({}, {"batch": "two"}, TypeError, "integer"),
        ({5: [[1]]}, {}, ValueError, "name"),
        ({"a\0b": [[1]]}, {}, ValueError, "null"),
    ],
)
def test_wrong(inputs, dims, kind, said):
    refuses(kind, check, parsed(EMBED), inputs, dims, says=said)


def test_wrong_threads():
    refuses(ValueError, check, parsed(EMBED), threads=0, says="at least 1")
    refuses(TypeError, check, parsed(EMBED), threads="two")
    assert check(parsed(EMBED), threads=3).unknown == 1


# ---- for people ------------------------------------------------------------------------------------------------------


def test_html_escapes():
    model = one_node(ids=(2,))
    model.graph.node[0].name = "<script>alert('1')</script>&"
    model.graph.input[1].name = model.graph.node[0].input[1] = "<b>"
    page = check(model, {"<b>": [1, 9]})._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt; int64 [2]" in page
    assert page.count("<tr>") == page.count("</tr>") == 3
    assert re.fullmatch(r"<div><p>.*</p><table>.*</table></div>", page, re.S)


def test_control_characters():
    model = one_node()
    model.graph.node[0].name = "a\x1b[2Jb\nc"
    assert "\x1b" not in repr(check(model))
    assert "a\\x1b[2Jb\\x0ac" in repr(check(model))
    assert "\x1b" not in check(model)._repr_html_()
    assert check(model)[0].name == "a\x1b[2Jb\nc"


def test_no_nodes():
    found = check(parsed("m (float[2] x) => (float[2] y) { y = Relu (x) }"))
    assert repr(found) == "<bytes>: onnx, no gather nodes"
    assert len(found) == 0
    assert "<table>" not in found._repr_html_()


def test_explain():
    picture = check(parsed(BAD), {"x": np.arange(10, dtype=np.float32).reshape(5, 2)})[0].explain()
    assert picture.error is not None
    assert picture.error.value == 9
    assert "not known" not in str(picture)  # the table was given
    assert "not known" in str(check(parsed(BAD))[0].explain())


def test_model_is_shared():
    model = Model(parsed(BAD))
    assert check(model).model is model
    assert model.check({"free": [0, 1]}).ok == 2
