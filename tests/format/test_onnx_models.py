# SPDX-License-Identifier: MIT
"""ONNX models: the names of their tensors, constants of every form, and what the reader has to pass over."""
from __future__ import annotations

import numpy as np
import onnx
import pytest
from gather_files import GatherError, content
from onnx import helper, numpy_helper
from onnx_files import graph, model, onnx_is_read, opened, strings, table, varint  # noqa: F401

def test_names_of_all_graphs() -> None:
    then_branch = graph("then", [helper.make_node("Identity", ["w"], ["a"])], [table("w", 1), table("both", 2)], ["a"])
    else_branch = graph("else", [helper.make_node("Constant", [], ["b"], value=table("", 3))], [table("both", 4)], ["b"])
    branch = helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)
    named = helper.make_node("If", ["c"], ["z"], name="my if", then_branch=then_branch, else_branch=else_branch)
    main = graph("main", [helper.make_node("Constant", [], ["k"], value_int=7), branch, named], [table("emb", 5)], ["y"])
    function = helper.make_function("d", "f", [], ["o"], [helper.make_node("Constant", [], ["o"], value_floats=[1.5, 2])],
                                    [helper.make_opsetid("", 21)])
    with opened(model(main, functions=[function]).SerializeToString()) as file:
        assert file.format == "onnx"
        assert file.names[:2] == ["emb", "k"]
        assert set(file.names[2:]) == {
            f"{node}/{rest}" for node in ("if_1", "my if")
            for rest in ("then_branch/w", "then_branch/both", "else_branch/both", "else_branch/b")} | {"d.f/o"}
        assert content(file.find("my if/else_branch/both")) == np.arange(4, 8, dtype=np.float32).tobytes()
        assert content(file.find("o")) == np.array([1.5, 2], np.float32).tobytes()  # it stands once in the file
        assert content(file.find("k")) == np.int64(7).tobytes() and file.find("k").shape == ()
        with pytest.raises(GatherError, match="no such tensor 'w'"):
            file.find("w")


@pytest.mark.parametrize(
    ("form", "array"),
    [
        ({"value": numpy_helper.from_array(np.array([[1, 2]], np.int16))}, np.array([[1, 2]], np.int16)),
        ({"value_int": -5}, np.array(-5, np.int64)),
        ({"value_ints": [1, -2, 3]}, np.array([1, -2, 3], np.int64)),
        ({"value_float": 0.5}, np.array(0.5, np.float32)),
        ({"value_floats": [0.5, -1]}, np.array([0.5, -1], np.float32)),
        ({"value_string": "text"}, [b"text"]),
        ({"value_strings": ["a", "bc"]}, [b"a", b"bc"]),
    ],
)
def test_every_form_of_constant(form: dict, array) -> None:
    with opened(model(graph("m", [helper.make_node("Constant", [], ["k"], **form)], [], ["k"])).SerializeToString()) as file:
        assert file.names == ["k"]
        if isinstance(array, list):
            assert strings(file.all[0]) == array
        else:
            assert content(file.all[0]) == array.tobytes() and file.all[0].shape == array.shape


def test_sparse_values_are_no_constants() -> None:
    sparse = onnx.SparseTensorProto(values=table("s"), indices=numpy_helper.from_array(np.arange(4)), dims=[9])
    main = graph("m", [helper.make_node("Constant", [], ["k"], sparse_value=sparse)], [table("w")], ["k"])
    main.sparse_initializer.append(sparse)
    with opened(model(main).SerializeToString()) as file:
        assert file.names == ["w"]


def test_unknown_fields_groups_and_order() -> None:
    main = model(graph("m", [], [table("w")]))
    extra = varint(99 << 3 | 3) + varint(5 << 3) + b"\1" + varint(99 << 3 | 4) + varint(1000 << 3 | 2) + b"\3abc"
    with opened(main.SerializeToString() + extra) as file:
        assert file.names == ["w"]
    head = main.graph.SerializeToString()
    turned = varint(7 << 3 | 2) + varint(len(head)) + head + b"\x08\x03" + b"\x08\x0a"
    with opened(turned) as file:
        assert file.format == "onnx" and file.names == ["w"]
