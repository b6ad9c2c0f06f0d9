# SPDX-License-Identifier: MIT
#
# test_cases.py: the documents' examples through the library and through the oracle, so that the oracle itself is held to the
# documents; and ONNX's node tests of Gather, GatherElements and GatherND, made in memory by the onnx package.
"""Worked examples."""
import numpy as np
import pytest

import documents
import libgather_ctypes as g
import numpy_call
import oracle
import tables


def arrays(case: documents.Document) -> tuple[np.ndarray, np.ndarray]:
    dtype, data, index_dtype, indices = case.arguments[:4]
    return np.array(documents.value(data), dtype=dtype), np.array(documents.value(indices), dtype=index_dtype)


def oracle_answer(case: documents.Document, data: np.ndarray, indices: np.ndarray) -> oracle.Answer:
    op = numpy_call.find(case.op, case.rules).contents
    return oracle.gather(op, data.shape, indices.astype(object), case.axis, case.batch_dims)


@pytest.mark.parametrize("case", documents.read("GATHER_CASE"), ids=str)
def test_values(case):
    data, indices = arrays(case)
    want = np.array(documents.value(case.arguments[4]), dtype=data.dtype)
    got = numpy_call.apply(case.op, case.rules, data, indices, axis=case.axis, batch_dims=case.batch_dims)
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes()
    positions = oracle_answer(case, data, indices).positions
    by_oracle = np.append(data.ravel(), np.zeros(1, data.dtype))[positions]
    assert by_oracle.tobytes() == want.tobytes()


@pytest.mark.parametrize("case", documents.read("GATHER_BAD"), ids=str)
def test_bad_indices(case):
    data, indices = arrays(case)
    position, value, low, high, count = case.arguments[4:]
    position = tuple(documents.value(position))
    with pytest.raises(numpy_call.GatherError) as caught:
        numpy_call.apply(case.op, case.rules, data, indices, axis=case.axis, batch_dims=case.batch_dims)
    error = caught.value.error
    assert caught.value.status == "index_out_of_range"
    assert tuple(error.position[: error.position_rank]) == position
    assert (error.value, error.low, error.high, error.bad_count) == (value, low, high, count)
    answer = oracle_answer(case, data, indices)
    assert (answer.status, answer.first, answer.value) == ("index_out_of_range", position, value)
    assert error.axis == answer.axis
    assert (answer.low, answer.high, answer.bad_count) == (low, high, count)


@pytest.mark.parametrize("case", documents.read("GATHER_SHAPES") + documents.read("GATHER_SHAPE_ERROR"), ids=str)
def test_shapes_by_the_oracle(case):
    op = numpy_call.find(case.op, case.rules).contents
    data, indices = (tuple(documents.value(text)) for text in case.arguments[:2])
    status, shape = oracle.output_shape(op, data, indices, case.axis, case.batch_dims)
    if case.kind == "GATHER_SHAPES":
        assert (status, shape) == ("ok", tuple(documents.value(case.arguments[2])))
    else:
        assert status == case.arguments[2]


def test_every_row_has_cases():
    rows = {(case.op, case.rules) for case in documents.read("GATHER_CASE")}
    for op in g.all_ops():
        assert (op.name.decode(), op.rules.decode()) in rows, f"no case for {g.op_label(op)}"


def test_the_oracle_has_the_librarys_tables():
    """tables.py reads the .def files by itself."""
    types = [(t.type, t.name.decode(), t.kind, t.packing) for t in g.all_types()]
    assert types == [(t.type, t.name, t.kind, t.packing) for t in tables.TYPES]
    fields = "name", "rules", "family", "negative", "on_bad", "batch_dims", "off_axis", "tuples", "fused_batch"
    ops = [tuple(getattr(op, field) for field in fields) for op in g.all_ops()]
    assert ops == [(op.name.encode(), op.rules.encode(), *(getattr(op, field) for field in fields[2:])) for op in tables.OPS]


def node_tests() -> list:
    """ONNX's own node tests, made in memory; they seed the random numbers themselves."""
    from onnx.backend.test.case.node import _NodeTestCases, gather, gatherelements, gathernd  # noqa: F401  (their import lists the cases)

    found = []
    for case in _NodeTestCases:
        nodes = case.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in ("Gather", "GatherElements", "GatherND"):
            found.append(case)
    return found


def test_onnx_node_tests():
    cases = node_tests()
    names = {case.name for case in cases}
    wanted = {"test_gather_0", "test_gather_1", "test_gather_2d_indices", "test_gather_negative_indices"}
    wanted |= {"test_gather_elements_0", "test_gather_elements_1", "test_gather_elements_negative_indices"}
    wanted |= {"test_gathernd_example_int32", "test_gathernd_example_float32", "test_gathernd_example_int32_batch_dim1"}
    assert wanted <= names
    for case in cases:
        node = case.model.graph.node[0]
        attributes = {a.name: a.i for a in node.attribute}
        for inputs, outputs in case.data_sets:
            got = numpy_call.apply(node.op_type, "onnx-13", inputs[0], inputs[1], **attributes)
            assert got.shape == outputs[0].shape and got.tobytes() == outputs[0].tobytes(), case.name
