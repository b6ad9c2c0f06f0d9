# SPDX-License-Identifier: MIT
"""What test_openvino_*.py do in processes of their own: openvino_child.py SCENARIO [ARGUMENT...]. Prints "good" at the end."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import openvino
import openvino_models as models

import libgather.openvino as door

CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}
EIGHT_BYTES = ("int64", "uint64", "float64")


def core_of(**options) -> openvino.Core:
    core = openvino.Core()
    door.add_to(core, **options)
    return core


def kinds(model) -> list[str]:
    return [op.get_type_name() for op in model.get_ops()]


def run(core: openvino.Core, path, inputs, **config) -> np.ndarray:
    request = core.compile_model(core.read_model(path), "CPU", {**CONFIG, **config}).create_infer_request()
    return result(request, inputs)


def result(request, inputs) -> np.ndarray:
    request.infer(dict(enumerate(inputs)))
    tensor = request.get_output_tensor(0)
    return np.array(tensor.str_data if tensor.element_type == openvino.Type.string else tensor.data)


def fails(do, *words: str) -> str:
    """The message of the error that `do` ends with, which has all words."""
    try:
        got = do()
    except (RuntimeError, ValueError) as error:
        text = str(error)
    else:
        raise AssertionError(f"no error, but {got}")
    for word in words:
        assert word in text, (word, text)
    return text


def same(got: np.ndarray, wanted: np.ndarray, name: str) -> None:
    assert got.shape == wanted.shape, (name, got.shape, wanted.shape)
    if wanted.dtype.kind in "U":
        assert got.tolist() == wanted.tolist(), (name, got, wanted)
    else:
        assert got.dtype == wanted.dtype and got.tobytes() == np.ascontiguousarray(wanted).tobytes(), (name, got.dtype, wanted.dtype, np.argwhere(got != wanted)[:3], got.ravel()[:9], wanted.ravel()[:9])


def taken(model, name: str) -> None:
    assert "LibgatherGather" in kinds(model), (name, kinds(model))
    assert not {"Gather", "GatherElements", "GatherND"} & set(kinds(model)), (name, kinds(model))


def ir() -> None:
    """Every operator, attribute, type and kind of shape: as libgather computes it, and as OpenVINO does where that is defined."""
    core, stock = core_of(force=True), openvino.Core()
    with tempfile.TemporaryDirectory() as folder:
        for case in models.ir_cases():
            path = models.write_ir(case, Path(folder))
            taken(core.read_model(path), case.name)
            got = run(core, path, [case.data, case.indices])
            same(got, case.expected(), case.name)
            # OpenVINO: a static shape without elements ends the process; texts out of range are "" in both.
            if not case.name.startswith("empty") and case.rules not in ("openvino-5",):
                same(got, run(stock, path, [case.data, case.indices]), case.name)


def onnx() -> None:
    core, stock = core_of(force=True), openvino.Core()
    for case in models.onnx_cases():
        content = models.onnx_bytes(case)
        taken(core.read_model(content), case.name)
        got = run(core, content, [case.data, case.indices])
        same(got, case.expected(), case.name)
        if case.name == "onnx_elements_less":
            fails(lambda content=content: stock.read_model(content))
        else:
            same(got, run(stock, content, [case.data, case.indices]), case.name)


def errors() -> None:
    """Position, value, range, count and node, where OpenVINO gives zeros, or nothing at all with one thread."""
    core, stock = core_of(force=True), openvino.Core()
    wide = np.arange(12, dtype=np.float32).reshape(4, 3)
    bad = models.Case("bad", "Gather", "onnx-13", wide, np.array([1, 7, -5]))
    content = models.onnx_bytes(bad)
    assert run(stock, content, [wide, bad.indices])[1].tolist() == [0, 0, 0]
    fails(lambda: run(core, content, [wide, bad.indices]), "indices[1] = 7 is outside [-4, 3] of axis 0", "2 of 3 indices", "the_node")
    with tempfile.TemporaryDirectory() as folder:
        for rules in ("openvino-1", "openvino-7"):
            path = models.write_ir(models.Case(rules, "Gather", rules, wide, np.array([0, -1])), Path(folder))
            fails(lambda path=path: run(core, path, [wide, np.array([0, -1])]), "indices[1] = -1 is outside [0, 3]", rules)
        path = models.write_ir(models.Case("eight", "Gather", "openvino-8", wide, np.array([0, 4])), Path(folder))
        assert run(core, path, [wide, np.array([0, 4])])[1].tolist() == [0, 0, 0]
        fails(lambda: run(core_of(force=True, on_bad="error"), path, [wide, np.array([0, 4])]), "indices[1] = 4 is outside [-4, 3]")
        assert run(core_of(force=True, on_bad="clamp"), path, [wide, np.array([-9, 4])]).tolist() == [[0, 1, 2], [9, 10, 11]]
        path = models.write_ir(models.Case("e", "GatherElements", "openvino-6", wide, np.array([[0, 3, 2], [0, 4, 0]]), axis=0), Path(folder))
        fails(lambda: run(core, path, [wide, np.array([[0, 3, 2], [0, 4, 0]])]), "indices[1, 1] = 4 is outside [-4, 3]")
        # With one thread, infer() loses the errors of all nodes, OpenVINO's too; a request in the background does not.
        request = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_NUM_THREADS": 1}).create_infer_request()
        request.start_async({0: wide, 1: np.array([[0, 3, 2], [0, 4, 0]])})
        fails(request.wait, "indices[1, 1] = 4 is outside [-4, 3]")
        assert not request.get_output_tensor(0).data.any()
        path = models.write_ir(models.Case("nd", "GatherND", "openvino-8", wide, np.array([[0, 0], [3, 3]])), Path(folder))
        fails(lambda: run(core, path, [wide, np.array([[0, 0], [3, 3]])]), "indices[1, 1] = 3, component 1 of tuple [1], is outside [-3, 2] of axis 1")


def constant_indices() -> None:
    """An index out of range that the model itself has is found when it is compiled."""
    from openvino import opset8 as op

    node = op.gather(op.constant(np.ones((4, 2), np.float32)), op.constant(np.array([0, 9])), op.constant(0))
    model = openvino.Model([node], [], "m")
    assert door.replace(model, force=True, on_bad="error") == 1
    fails(lambda: openvino.Core().compile_model(model, "CPU"), "indices[1] = 9 is outside [-4, 3]")


def shapes() -> None:
    """Shapes of which something is unknown are inferred as OpenVINO does it."""
    core, stock = core_of(force=True), openvino.Core()
    interval = openvino.PartialShape
    pairs = [
        ("Gather", "openvino-8", "[2..6,3..7,?]", "[4..8,?]", 1, 0),
        ("Gather", "openvino-8", "[1..7,5]", "[7..10,3]", 1, 1),
        ("Gather", "openvino-7", "[?,5,6]", "[2,3]", -1, 1),
        ("Gather", "openvino-1", "[5..,6]", "[]", 0, 0),
        ("GatherElements", "openvino-6", "[?,2..4,1..5,?,4..8,2..4]", "[?,3..6,6..10,4..8,?,4..6]", 2, 0),
        ("GatherND", "openvino-8", "[2..6,3..7,8..10,12..14]", "[4..8,6..10,2]", 0, 1),
        ("GatherND", "openvino-5", "[2..6,3..7,8..10,12..14]", "[4..8,6..10,2]", 0, 1),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for number, (operator, rules, data, indices, axis, batch_dims) in enumerate(pairs):
            case = models.Case(f"shape{number}", operator, rules, np.float32(0), np.int64(0), axis=axis, batch_dims=batch_dims)
            case.data, case.indices = np.zeros(1, np.float32), np.zeros(1, np.int64)
            case.shapes = (interval(data), interval(indices))
            path = models.write_ir(case, Path(folder))
            mine, own = core.read_model(path), stock.read_model(path)
            taken(mine, case.name)
            assert mine.output(0).get_partial_shape() == own.output(0).get_partial_shape(), (case, mine, own)
            same_after = mine.clone() if hasattr(mine, "clone") else mine
            assert same_after.output(0).get_partial_shape() == own.output(0).get_partial_shape()
        wrong = models.Case("wrong", "Gather", "openvino-8", np.zeros((2, 3), np.float32), np.zeros(1, np.int64), axis=0)
        path = models.write_ir(wrong, Path(folder))
        path.write_text(path.read_text().replace('batch_dims="0"', 'batch_dims="2"'))
        fails(lambda: core.read_model(path), "batch_dims")


def packed() -> None:
    """Types of less than a byte, as OpenVINO's own node moves them."""
    from openvino import opset8 as op

    rng = np.random.default_rng(3)
    for kind, per_byte in (("u4", 2), ("i4", 2)):
        raw = rng.integers(0, 256, 6 * 5 // per_byte, dtype=np.uint8)
        ids = np.array([5, 0, 3], np.int32)
        made = []
        for ours in (False, True):
            data = op.parameter([6, 5], getattr(openvino.Type, kind))
            indices = op.parameter([3], np.int32)
            model = openvino.Model([op.gather(data, indices, op.constant(0))], [data, indices], kind)
            if ours:
                assert door.replace(model, force=True) == 1
            request = openvino.Core().compile_model(model, "CPU", CONFIG).create_infer_request()
            tensor = openvino.Tensor(getattr(openvino.Type, kind), openvino.Shape([6, 5]))
            tensor.data.reshape(-1).view(np.uint8)[:] = raw
            request.set_input_tensor(0, tensor)
            request.set_input_tensor(1, openvino.Tensor(ids))
            request.infer()
            made.append(np.array(request.get_output_tensor(0).data).view(np.uint8).reshape(-1))
        nibbles = [np.stack([bytes_ & 15, bytes_ >> 4], 1).reshape(-1)[:15] for bytes_ in made]
        wanted = np.stack([raw & 15, raw >> 4], 1).reshape(6, 5)[ids].reshape(-1)
        assert np.array_equal(nibbles[1], wanted), (kind, nibbles, wanted)
        assert np.array_equal(nibbles[0], nibbles[1]), (kind, nibbles)
    for kind in ("bf16", "f8e4m3", "f8e5m2"):
        bytes_ = 2 if kind == "bf16" else 1
        raw = rng.integers(0, 60, 6 * 5 * bytes_, dtype=np.uint8)
        data, indices = op.parameter([6, 5], getattr(openvino.Type, kind)), op.parameter([3], np.int32)
        model = openvino.Model([op.gather(data, indices, op.constant(0))], [data, indices], kind)
        assert door.replace(model, force=True) == 1
        request = openvino.Core().compile_model(model, "CPU", CONFIG).create_infer_request()
        tensor = openvino.Tensor(getattr(openvino.Type, kind), openvino.Shape([6, 5]))
        tensor.data.reshape(-1).view(np.uint8)[:] = raw
        request.set_input_tensor(0, tensor)
        request.set_input_tensor(1, openvino.Tensor(np.array([5, 0, 3], np.int32)))
        request.infer()
        got = np.array(request.get_output_tensor(0).data).view(np.uint8).reshape(-1)
        assert got.tobytes() == raw.reshape(6, -1)[[5, 0, 3]].tobytes(), kind


def packed_constants() -> None:
    """Types of less than a byte that OpenVINO's own node moves as if they were bytes: rows of whole bytes of a constant."""
    from openvino import opset8 as op
    from openvino.op import Constant

    rng = np.random.default_rng(4)
    ids = np.array([3, 0, 15, 7])
    known = [(kind, bits) for kind, bits in (("u2", 2), ("u3", 3), ("nf4", 4), ("f4e2m1", 4), ("u6", 6)) if hasattr(openvino.Type, kind)]
    assert len(known) >= 2, known  # older releases lack some
    for kind, bits in known:
        raw = rng.integers(0, 256, (16, bits), dtype=np.uint8)  # 16 rows of 8 elements
        table = openvino.Tensor(getattr(openvino.Type, kind), openvino.Shape([16, 8]))
        table.data.reshape(-1).view(np.uint8)[: raw.size] = raw.reshape(-1)
        indices = op.parameter([4], np.int64)
        model = openvino.Model([op.gather(Constant(table), indices, op.constant(0))], [indices], kind)
        assert door.replace(model, force=True) == 1
        request = openvino.Core().compile_model(model, "CPU", CONFIG).create_infer_request()
        request.infer({0: ids})
        got = np.array(request.get_output_tensor(0).data).view(np.uint8).reshape(-1)
        assert got[: 4 * bits].tobytes() == raw[ids].tobytes(), kind


def tree() -> None:
    """GatherTree, and its parents, which OpenVINO does not check."""
    from openvino import opset1 as op

    rng = np.random.default_rng(5)
    steps, parents = rng.integers(0, 9, (5, 2, 3)).astype(np.float32), rng.integers(0, 3, (5, 2, 3)).astype(np.float32)
    lengths, end = np.array([5, 3], np.float32), np.float32(8)
    with tempfile.TemporaryDirectory() as folder:
        inputs = [op.parameter(list(np.shape(array)), np.float32) for array in (steps, parents, lengths, end)]
        path = Path(folder) / "tree.xml"
        openvino.serialize(openvino.Model([op.gather_tree(*inputs)], inputs, "m"), str(path), str(path.with_suffix(".bin")))
        core = core_of()
        assert "LibgatherGatherTree" in kinds(core.read_model(path))
        given = [steps, parents, lengths, np.array(end)]
        same(run(core, path, given), run(openvino.Core(), path, given), "tree")
        parents[2, 1, 0] = 3
        parents[:, :, 1:] = parents[:, :, :1] = 3
        fails(lambda: run(core, path, given), "parent_ids", "= 3 is outside [0, 2]")


def saving() -> None:
    """A model with the library's nodes is written, read, cached and cloned."""
    core = core_of(force=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in (models.ir_cases()[4], models.ir_cases()[11], models.ir_cases()[15]):
            model = core.read_model(models.write_ir(case, Path(folder)))
            again = Path(folder) / f"{case.name}_again.xml"
            openvino.save_model(model, str(again), compress_to_fp16=False)
            assert 'version="libgather"' in again.read_text()
            taken(core.read_model(again), case.name)
            taken(core_of().read_model(again), case.name)
            same(run(core, again, [case.data, case.indices]), case.expected(), case.name)
            fails(lambda again=again: openvino.Core().read_model(again), "libgather")
            core.set_property({"CACHE_DIR": str(Path(folder) / "cache")})
            for _ in range(2):
                compiled = core.compile_model(str(models.write_ir(case, Path(folder))), "CPU", CONFIG)
                same(result(compiled.create_infer_request(), [case.data, case.indices]), case.expected(), case.name)


def rule() -> None:
    """Little work, values of shapes and what comes from NonMaxSuppression are left to OpenVINO."""
    from openvino import opset8 as op

    def replaced(rows: int, width: int, count: int, **options) -> int:
        data, ids = op.parameter([rows, width], np.float32), op.parameter([count], np.int32)
        return door.replace(openvino.Model([op.gather(data, ids, op.constant(0))], [data, ids], "m"), **options)

    assert replaced(1000, 64, 1) == 0 and replaced(1000, 64, 1, force=True) == 1
    assert replaced(1_000_000, 16, 200_000) == 1
    data, ids = op.parameter([-1, -1], np.float32), op.parameter([1], np.int32)
    model = openvino.Model([op.gather(op.shape_of(data), ids, op.constant(0))], [data, ids], "m")
    assert door.replace(model, force=True) == 0
    boxes, scores = op.parameter([1, 50, 4], np.float32), op.parameter([1, 2, 50], np.float32)
    found = openvino.opset9.non_max_suppression(boxes, scores, op.constant(np.int64(10)), op.constant(np.float32(0.5)), op.constant(np.float32(0.1)))
    column = op.gather(found.output(0), op.constant(np.array([2])), op.constant(1))
    chosen = op.gather(op.squeeze(boxes, op.constant(0)), op.squeeze(column, op.constant(1)), op.constant(0))
    model = openvino.Model([chosen], [boxes, scores], "m")
    assert door.replace(model, force=True) == 1 and kinds(model).count("Gather") == 1, kinds(model)


def bodies() -> None:
    """Gathers within the body of an If."""
    from openvino import opset8 as op

    data, ids, flag = op.parameter([5, 3], np.float32), op.parameter([4], np.int32), op.parameter([], np.bool_)
    branches = []
    for axis in (0, 1):
        inner = [op.parameter([5, 3], np.float32), op.parameter([4], np.int32)]
        node = op.gather(inner[0], inner[1], op.constant(axis))
        branches.append(openvino.Model([op.reduce_sum(node, op.constant(0))] if axis else [op.reduce_sum(node, op.constant(1))], inner, f"b{axis}"))
    choice = op.if_op(flag)
    choice.set_then_body(branches[0])
    choice.set_else_body(branches[1])
    choice.set_input(data.output(0), branches[0].get_parameters()[0], branches[1].get_parameters()[0])
    choice.set_input(ids.output(0), branches[0].get_parameters()[1], branches[1].get_parameters()[1])
    out = choice.set_output(branches[0].get_results()[0], branches[1].get_results()[0])
    model = openvino.Model([out], [data, ids, flag], "m")
    assert door.replace(model, force=True) == 2
    x, i = np.arange(15, dtype=np.float32).reshape(5, 3), np.array([2, 0, 1, 2], np.int32)
    request = openvino.Core().compile_model(model, "CPU", CONFIG).create_infer_request()
    same(result(request, [x, i, np.array(True)]), x[i].sum(1), "then")
    same(result(request, [x, i, np.array(False)]), x[:, i].sum(0), "else")


def options() -> None:
    """Options in words, by Python and by the environment, and each wrong one."""
    import os

    core = openvino.Core()
    for wrong in ({"memory": 5}, {"engine": "x"}, {"on_bad": "q"}, {"take_out": "1X"}, {"take_out": -1}, {"take_out": "1,force=1"}):
        fails(lambda wrong=wrong: door.add_to(core, **wrong))
    os.environ["GATHER_OPENVINO"] = "force=2"
    fails(lambda: openvino.Core().add_extension(door.extension_path()), "force=2 must be 0 or 1")
    os.environ["GATHER_OPENVINO"] = "force=1,on_bad=clamp"
    core = openvino.Core()
    core.add_extension(door.extension_path())
    small = models.Case("s", "Gather", "onnx-13", np.arange(4, dtype=np.float32), np.array([9]))
    assert run(core, models.onnx_bytes(small), [small.data, small.indices]).tolist() == [3]
    # The options of add_to hold for its core alone.
    fails(lambda: run(core_of(force=True), models.onnx_bytes(small), [small.data, small.indices]), "indices[0] = 9")


if __name__ == "__main__":
    import openvino_more  # noqa: F401  scenarios with files, threads and real models

    scenario = globals().get(sys.argv[1]) or getattr(openvino_more, sys.argv[1])
    scenario(*sys.argv[2:])
    print("good")
