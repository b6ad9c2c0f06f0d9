# SPDX-License-Identifier: MIT
#
# test_infer_shape.py: shapes where not everything is known: by hand, against real calls, and against ONNX's shape inference.
"""infer_shape."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import libgather
from libgather import infer_shape
from support.refusal import refuses
from support.skip import skip_test

ANY = None
TAKE = [
    # x, indices, keywords, result
    ((1000, 64), (2, 3), {"axis": 0}, (2, 3, 64)),
    ((1000, 64), (), {"axis": 1}, (1000,)),
    ((1000, 64), ("batch", ANY), {"axis": 0}, ("batch", ANY, 64)),
    (("rows", "cols"), (4,), {"axis": -1}, ("rows", 4)),
    (((2, 5), 8), (3,), {"axis": 1}, ((2, 5), 3)),
    (((2, ANY), 8), (3,), {"axis": 1}, ((2, ANY), 3)),
    ((ANY, 8), ((1, 4),), {"axis": 0}, ((1, 4), 8)),
    (ANY, (3,), {"axis": 0}, ANY),
    ((4, 5), ANY, {"axis": 0}, ANY),
    ((4, 5), (3,), {"axis": ANY}, (ANY, ANY)),
    ((4, 5, 6), (3, 7), {"axis": ANY}, (ANY, ANY, ANY, ANY)),
    ((2, 5), (2, 3), {"axis": 1, "batch_dims": 1}, (2, 3)),
    ((ANY, 5), (2, 3), {"axis": 1, "batch_dims": 1}, (2, 3)),
    (((1, 4), 5), ((3, 9), 3), {"axis": 1, "batch_dims": 1}, ((3, 4), 3)),
    ((2, 5), (2, 3), {"axis": 1, "batch_dims": -1}, (2, 3)),
    ((0, 5), (3,), {"axis": 0}, (3, 5)),
    ([4, 5], [3], {"axis": 0}, (3, 5)),
]
ELEMENTS = [
    ((4, 5), (2, 5), {"axis": 0}, (2, 5)),
    ((4, 5), ("n", (1, 3)), {"axis": 0}, ("n", (1, 3))),
    (ANY, (2, 5), {"axis": 0}, (2, 5)),
    (ANY, ANY, {"axis": 0}, ANY),
]


@pytest.mark.parametrize("x, indices, keywords, wanted", TAKE, ids=repr)
def test_take(x, indices, keywords, wanted):
    assert infer_shape(x, indices, **keywords) == wanted


@pytest.mark.parametrize("x, indices, keywords, wanted", ELEMENTS, ids=repr)
def test_gather_elements(x, indices, keywords, wanted):
    assert infer_shape(x, indices, op="gather_elements", **keywords) == wanted


def test_an_unknown_rank_of_x_for_elements():
    """The rank is that of indices, and so is every length."""
    assert infer_shape((4, 5), ANY, axis=0, op="gather_elements") in (ANY, (ANY, 5), (ANY, (0, 5)))


@pytest.mark.parametrize("x, indices, keywords, error", [
    ((), (1,), {"axis": 0}, libgather.GatherValueError),
    ((4,), (1,), {"axis": 1}, libgather.GatherAxisError),
    ((4,), (1,), {"axis": -2}, libgather.GatherAxisError),
    ((2, 3), (4, 3), {"axis": 1, "batch_dims": 1}, libgather.GatherValueError),
    (((1, 2), 3), ((3, 4), 3), {"axis": 1, "batch_dims": 1}, libgather.GatherValueError),
    ((2, 3), (2, 3), {"axis": 0, "batch_dims": 1}, libgather.GatherValueError),
    ((2, 3), (2, 3), {"axis": 1, "batch_dims": 5}, libgather.GatherValueError),
    ((2, 3), (2,), {"axis": 0, "op": "gather_elements"}, libgather.GatherValueError),
    ((2, 3), (2, 4), {"axis": 0, "op": "gather_elements"}, libgather.GatherValueError),
    ((2, 3), (2, 2), {"axis": 0, "op": "gather_elements", "rules": "openvino-6"}, libgather.GatherValueError),
    ((2, 3), (2, 3), {"axis": 1, "batch_dims": 1, "rules": "onnx-13"}, libgather.GatherValueError),
    ((-1,), (1,), {"axis": 0}, libgather.GatherValueError),
    (((5, 2),), (1,), {"axis": 0}, libgather.GatherValueError),
    (((-1, 2),), (1,), {"axis": 0}, libgather.GatherValueError),
    ((1,) * 65, (1,), {"axis": 0}, libgather.GatherValueError),
], ids=repr)
def test_what_no_input_could_make_legal(x, indices, keywords, error):
    refuses(error, infer_shape, x, indices, **keywords)


@pytest.mark.parametrize("x, indices, keywords, error, words", [
    ((4,), (1,), {}, TypeError, "needs axis="),
    ((4,), (1,), {"axis": 0.5}, TypeError, "axis must be an integer"),
    ((4.5,), (1,), {"axis": 0}, TypeError, "a length must be an integer"),
    (((1, 2, 3),), (1,), {"axis": 0}, TypeError, "an interval must be"),
    ((("a", 2),), (1,), {"axis": 0}, TypeError, "a length must be an integer"),
    (4, (1,), {"axis": 0}, TypeError, "int"),
    ((4,), (1,), {"axis": 0, "op": "put"}, ValueError, "op must be"),
    ((4,), (1,), {"op": "scatter"}, TypeError, "needs axis="),
    ((4,), (1, 1), {"axis": 0, "op": "scatter_nd"}, TypeError, "no axis"),
    ((4,), (1,), {"axis": 0, "updates": (1,)}, TypeError, "no updates="),
    ((4,), (1,), {"axis": 0, "op": "scatter", "updates": 3}, TypeError, "int"),
    ((4,), (1,), {"axis": 0, "op": "scatter", "updates": (1.5,)}, TypeError, "a length must be"),
    ((4,), (1,), {"axis": 0, "op": "scatter", "rules": "onnx-13"}, ValueError, "rules for scatter are one of openvino-3"),
    ((4,), (1,), {"axis": 0, "op": 3}, TypeError, "op must be"),
    ((4,), (1,), {"axis": 0, "rules": "onnx-99"}, ValueError, "rules for Gather"),
    ((4,), (1,), {"axis": 0, "mode": "clip"}, TypeError, "unexpected keyword"),
], ids=repr)
def test_arguments(x, indices, keywords, error, words):
    refuses(error, infer_shape, x, indices, says=words, **keywords)


WRITTEN = [
    # op, data, indices, updates, keywords; the result has the shape of data
    ("scatter", ("rows", 64), ("k",), ("k", 64), {"axis": 0}),
    ("scatter", ("rows", 64), ("k",), ANY, {"axis": 1}),
    ("scatter", (ANY, (2, 5)), (3, 2), ((1, 4), ANY, "n"), {"axis": 1, "rules": "openvino-3"}),
    ("scatter", (4, 5), (3, 2), (3, 2, 5), {"axis": ANY}),
    ("scatter", (4, 5), ANY, (3, 2, 5), {"axis": 0}),
    ("scatter", ANY, (3,), (3,), {"axis": 0}),
    ("scatter_elements", (4, "n"), ("k", 1), ("k", ANY), {"axis": 0, "rules": "onnx-18"}),
    ("scatter_nd", ("n", 4, 8), ("k", 2), ("k", 8), {"rules": "onnx-11"}),
    ("scatter_nd", ("n", 4), ("k", ANY), (3,), {}),
]


@pytest.mark.parametrize("op, data, indices, updates, keywords", WRITTEN, ids=repr)
def test_scatters(op, data, indices, updates, keywords):
    assert infer_shape(data, indices, op=op, updates=updates, **keywords) == data


@pytest.mark.parametrize("op, data, indices, updates, keywords", [
    ("scatter", ("rows", 64), ("k",), ("k", 32), {"axis": 0}),
    ("scatter", (4, 5), (3, 2), (3, 2), {"axis": ANY}),
    ("scatter", (4, (2, 5)), (3,), (3, (6, 9)), {"axis": 0}),
    ("scatter", (4, 5), (3,), (3, 5), {"axis": 0, "batch_dims": 1}),
    ("scatter_elements", (4, 5), (3, 6), ANY, {"axis": 0, "rules": "onnx-18"}),
    ("scatter_elements", (4, 5), (3, 5), (4, 5), {"axis": 0}),
    ("scatter_nd", (4, 5), ("k", 3), ANY, {}),
    ("scatter_nd", (4, 5), (2, 1), (2, 5, 1), {}),
], ids=repr)
def test_what_no_updates_could_make_legal(op, data, indices, updates, keywords):
    refuses(libgather.GatherValueError, infer_shape, data, indices, op=op, updates=updates, **keywords)


def test_known_shapes_of_scatters_are_those_of_calls():
    shapes = [shape for rank in range(3) for shape in itertools.product((0, 1, 2), repeat=rank)]
    count = 0
    for x, indices, updates in itertools.product(shapes, shapes, [s for s in shapes if s]):  # a single update is repeated
        for op, axis in (("scatter", 0), ("scatter", -1), ("scatter_elements", 1), ("scatter_nd", ANY)):
            keywords = {} if op == "scatter_nd" else {"axis": axis}
            call = lambda: getattr(libgather, op)(np.zeros(x), np.zeros(indices, int), np.zeros(updates), mode="skip", **keywords)  # noqa: B023, E731
            count += agree(lambda: infer_shape(x, indices, op=op, updates=updates, **keywords), call)  # noqa: B023
    assert count > 100


def test_known_shapes_are_those_of_calls():
    """All shapes of up to three small dimensions: as a call has it, or an error where a call has one."""
    shapes = [shape for rank in range(4) for shape in itertools.product((0, 1, 2), repeat=rank)]
    count = 0
    for x, indices in itertools.product(shapes, [s for s in shapes if len(s) < 3]):
        for axis, batch_dims in ((0, 0), (-1, 0), (1, 1)):
            call = lambda: libgather.take(np.zeros(x), np.zeros(indices, int), axis=axis, batch_dims=batch_dims, mode="zero")  # noqa: B023, E731
            infer = lambda: infer_shape(x, indices, axis=axis, batch_dims=batch_dims)  # noqa: B023, E731
            count += agree(infer, call)
        count += agree(lambda: infer_shape(x, indices, axis=0, op="gather_elements"),  # noqa: B023
                       lambda: libgather.gather_elements(np.zeros(x), np.zeros(indices, int), mode="zero"))  # noqa: B023
    assert count > 300


def agree(infer, call) -> bool:
    try:
        shape = np.shape(call())
    except libgather.GatherError as error:
        with pytest.raises(type(error)) as caught:
            infer()
        assert caught.value.status == error.status
        return False
    assert infer() == shape
    return True


def by_onnx(op: str, x: tuple, indices: tuple, axis: int) -> tuple | None:
    """The shape that ONNX infers; None where it finds the model wrong."""
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError:
        skip_test("onnx", "the package is not installed")
    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph([helper.make_node(op, ["x", "i"], ["y"], axis=axis)], "g",
                              [value("x", TensorProto.FLOAT, x), value("i", TensorProto.INT64, indices)],
                              [value("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    try:
        made = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    except onnx.shape_inference.InferenceError:
        return None
    dims = made.graph.output[0].type.tensor_type.shape.dim
    return tuple(d.dim_value if d.HasField("dim_value") else None if d.dim_param.startswith("unk__") else d.dim_param or None for d in dims)


@pytest.mark.parametrize("x", [(4, 5), ("n", 5), (None, None), (3,), (2, "n", "m")], ids=repr)
@pytest.mark.parametrize("indices", [(), (2,), ("k",), ("n", None), (2, 5)], ids=repr)
@pytest.mark.parametrize("axis", [0, 1, -1, 3])
@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
def test_beside_onnx(x, indices, axis, op):
    """What ONNX infers is inferred; an interval or a finding of ours beyond it is a gain."""
    wanted = by_onnx(op, x, indices, axis)
    try:
        got = infer_shape(x, indices, axis=axis, op="take" if op == "Gather" else "gather_elements", rules="onnx-13")
    except libgather.GatherError:
        assert wanted is None or op == "GatherElements"  # of which ONNX checks neither ranks nor lengths
        return
    assert wanted is not None and len(got) == len(wanted)
    for ours, theirs in zip(got, wanted):
        assert theirs is None or ours == theirs
