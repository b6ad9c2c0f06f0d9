# SPDX-License-Identifier: MIT
"""ONNX models: the names of their tensors, constants of every form, and what the reader has to pass over."""
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


def sparse_of(dense: np.ndarray, places: bool, name: str = "s") -> onnx.SparseTensorProto:
    """Of its elements that are not 0: with their numbers in row-major order, or their coordinates."""
    chosen = np.argwhere(dense) if places else np.flatnonzero(dense)
    values = dense[tuple(np.argwhere(dense).T)] if dense.ndim else dense.reshape(1)
    return onnx.SparseTensorProto(values=numpy_helper.from_array(values, name), indices=numpy_helper.from_array(chosen.astype(np.int64)), dims=dense.shape)


@pytest.mark.parametrize("places", [False, True])
@pytest.mark.parametrize("shape", [(9,), (4, 3), (2, 1, 5), (3, 0), (0,)])
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8, np.float16, np.bool_, np.complex128])
def test_sparse_values(kind, shape: tuple, places: bool) -> None:
    """They are read as the dense tensors that they stand for."""
    dense = (np.arange(np.prod(shape), dtype=np.int64).reshape(shape) * 7 % 4 % 3).astype(kind)
    main = graph("m", [helper.make_node("Constant", [], ["k"], sparse_value=sparse_of(dense, places))], [table("w")], ["k"])
    main.sparse_initializer.append(sparse_of(dense, places))
    with opened(model(main).SerializeToString()) as file:
        assert file.names == ["w", "s", "k"]
        for name in ("s", "k"):
            assert content(file.find(name)) == dense.tobytes() and file.find(name).shape == dense.shape


def test_sparse_values_that_cannot_be_dense() -> None:
    """A few bytes stand for many zeros: too many are said to be so, and the rest of the model is read."""
    huge = sparse_of(np.ones(1, np.float32), False)
    huge.dims[:] = [1 << 20, 1 << 10]
    packed = onnx.SparseTensorProto(values=helper.make_tensor("p", onnx.TensorProto.INT4, [2], [1, 2]), indices=numpy_helper.from_array(np.arange(2)), dims=[9])
    main = graph("m", [], [table("w")], [])
    main.sparse_initializer.extend([huge, packed])
    with opened(model(main).SerializeToString()) as file:
        assert file.names == ["w", "s", "p"] and file.find("s").shape == (1 << 20, 1 << 10)
        assert "sparse tensor: it would take 4.00 GiB" in file.find("s").complaint.message
        assert "sparse tensor of type int4" in file.find("p").complaint.message
    # What cannot be read itself says why, of the values as of the indices.
    for part in ("values", "indices"):
        absent = sparse_of(np.arange(3, dtype=np.float32), False, "absent")
        tensor = getattr(absent, part)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="not_there.bin")
        alone = graph("m", [], [table("w")], [])
        alone.sparse_initializer.append(absent)
        with opened(model(alone).SerializeToString()) as file:
            assert file.names == ["w", "absent"] and content(file.find("w")) == np.arange(4, dtype=np.float32).tobytes()
            assert file.find("absent").shape == (3,) and "not_there.bin" in file.find("absent").complaint.message
    # Each alone is allowed, all of them are not.
    many = [sparse_of(np.ones(1, np.float32), False, f"s{i}") for i in range(5)]
    for one in many:
        one.dims[:] = [5 << 20]
    main.sparse_initializer.extend(many)
    with opened(model(main).SerializeToString()) as file:
        assert [file.find(f"s{i}").complaint is None for i in range(5)] == [True] * 3 + [False] * 2


@pytest.mark.parametrize("change, why", [
    (lambda s: s.ClearField("values"), "no values"),
    (lambda s: s.ClearField("indices"), "no indices of type int64"),
    (lambda s: s.indices.CopyFrom(numpy_helper.from_array(np.arange(3, dtype=np.int32))), "no indices of type int64"),
    (lambda s: s.indices.CopyFrom(numpy_helper.from_array(np.arange(2))), "do not fit"),
    (lambda s: s.indices.CopyFrom(numpy_helper.from_array(np.zeros((3, 1), np.int64))), "do not fit"),
    (lambda s: s.indices.CopyFrom(numpy_helper.from_array(np.array([0, 1, 6]))), "index 2 of the sparse tensor 's' is outside"),
    (lambda s: s.indices.CopyFrom(numpy_helper.from_array(np.array([0, -1, 5]))), "index 1 of the sparse tensor 's' is outside"),
    (lambda s: s.indices.CopyFrom(numpy_helper.from_array(np.array([[0, 0], [1, 2], [0, 3]]))), "index 2 of"),
    (lambda s: s.values.CopyFrom(numpy_helper.from_array(np.zeros((3, 1), np.float32), "s")), "rank 2, not 1"),
    (lambda s: s.dims.__setitem__(slice(None), [2, -3]), "negative"),
    (lambda s: s.dims.__setitem__(slice(None), [0, 3]), "outside"),
    (lambda s: s.dims.__setitem__(slice(None), [1 << 62, 1 << 62]), "too large"),
])  # fmt: skip
def test_sparse_values_that_are_malformed(change, why: str) -> None:
    sparse = sparse_of(np.array([[1, 1, 0], [0, 0, 1]], np.float32), False)
    change(sparse)
    main = graph("m", [], [], [])
    main.sparse_initializer.append(sparse)
    with pytest.raises(GatherError, match=why) as caught, opened(model(main).SerializeToString()):
        pass
    assert caught.value.status == "file_malformed" and caught.value.offset > 0


def test_unknown_fields_groups_and_order() -> None:
    main = model(graph("m", [], [table("w")]))
    extra = varint(99 << 3 | 3) + varint(5 << 3) + b"\1" + varint(99 << 3 | 4) + varint(1000 << 3 | 2) + b"\3abc"
    with opened(main.SerializeToString() + extra) as file:
        assert file.names == ["w"]
    head = main.graph.SerializeToString()
    turned = varint(7 << 3 | 2) + varint(len(head)) + head + b"\x08\x03" + b"\x08\x0a"
    with opened(turned) as file:
        assert file.format == "onnx" and file.names == ["w"]
