# SPDX-License-Identifier: MIT
"""What test_openvino_models.py does in processes of their own: openvino_child.py SCENARIO [ARGUMENT...]. Prints "good" at the end."""

from __future__ import annotations

import doctest
import gc
import os
import re
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import libgather.openvino as door
import numpy as np
import openvino
import openvino_models as models

CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}


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


def filled(kind: str, shape: list[int], raw: np.ndarray) -> openvino.Tensor:
    """A tensor with these bytes."""
    tensor = openvino.Tensor(getattr(openvino.Type, kind), openvino.Shape(shape))
    tensor.data.reshape(-1).view(np.uint8)[: raw.size] = raw.reshape(-1)
    return tensor


def bytes_of(model, *tensors) -> np.ndarray:
    """The output's, of a model as it is."""
    request = openvino.Core().compile_model(model, "CPU", CONFIG).create_infer_request()
    for i, tensor in enumerate(tensors):
        request.set_input_tensor(i, tensor)
    request.infer()
    return np.array(request.get_output_tensor(0).data).view(np.uint8).reshape(-1)


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
            made.append(bytes_of(model, filled(kind, [6, 5], raw), openvino.Tensor(ids)))
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
        got = bytes_of(model, filled(kind, [6, 5], raw), openvino.Tensor(np.array([5, 0, 3], np.int32)))
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
        indices = op.parameter([4], np.int64)
        model = openvino.Model([op.gather(Constant(filled(kind, [16, 8], raw)), indices, op.constant(0))], [indices], kind)
        assert door.replace(model, force=True) == 1
        got = bytes_of(model, openvino.Tensor(ids))
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


# ---- tables that stay in their files, threads, loading again and again, real models

MODELS = Path(__file__).parents[2] / ".venv/models"


def resident() -> int:
    """MiB of memory of this process."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(text.partition("VmRSS:")[2].split()[0]) >> 10


def tables(folder: str) -> None:
    """A table of 1 GiB in external data and in a .bin file: compiling the model does not load it, and rows are those of the file."""
    rows, width = 1 << 18, 1024
    marked = {0: 3, 7: 5, rows - 1: 9}
    for kind in ("onnx", "ir"):
        path = models.write_table(Path(folder) / kind, kind, rows, width, marked)
        before = resident()
        core = core_of(memory="16M")
        model = core.read_model(path)
        assert "LibgatherTable" in kinds(model), kinds(model)
        request = core.compile_model(model, "CPU", CONFIG).create_infer_request()
        got = result(request, [np.array([7, rows - 1, 0, 1, -1])])
        assert got.shape == (5, width) and got[:, 0].tolist() == [5, 9, 3, 0, 9] and (got == got[:, :1]).all()
        request.infer({0: np.random.default_rng(1).integers(0, rows, 2000)})
        grown = resident() - before
        assert grown < 120, f"{kind}: {grown} MiB for a table of 1 GiB"
        facts = next(table for table in door.report().tables if table.path == str(path.parent / ("table.data" if kind == "onnx" else "table.bin")))
        assert facts.takes == 2 and facts.rows_taken == 2005 and facts.rows == rows, facts
        assert facts.memory_limit == 16 << 20 and facts.memory_peak <= 16 << 20, facts
        assert facts.bytes_read <= 16 * facts.bytes_useful, facts
        del request, model, core
        gc.collect()
        assert not door.report().tables
        for file in path.parent.iterdir():
            file.unlink()
    # What OpenVINO does with the same model, so that the limit above is known to mean something.
    path = models.write_table(Path(folder) / "own", "onnx", rows, width, marked)
    before, core = resident(), openvino.Core()
    compiled = core.compile_model(path, "CPU", CONFIG)
    assert resident() - before > 900, resident() - before
    del compiled


def compressed(folder: str) -> None:
    """Tables of float16, int8 and uint8, as OpenVINO and NNCF compress them: the same bytes as OpenVINO's own."""
    rows, width = 70_000, 256
    marked = {0: 1, 9: 5, rows - 1: 7}
    ids = np.array([[9, 0, rows - 1], [1, 9, 9]]).reshape(-1)
    for dtype in (np.float16, np.int8, np.uint8):
        path = models.write_table(Path(folder) / np.dtype(dtype).name, "ir", rows, width, marked, dtype)
        own = run(openvino.Core(), path, [ids])
        core = core_of(take_out="16M", on_bad="error")
        assert "LibgatherTable" in kinds(core.read_model(path)), np.dtype(dtype)
        same(run(core, path, [ids]), own, str(dtype))
        fails(lambda core=core, path=path: run(core, path, [np.array([rows])]), f"indices[0] = {rows} is outside")
        # With zeros for an index out of range, no table with a zero point: a row of zeros would be decoded.
        found = "LibgatherTable" in kinds(core_of(take_out="16M").read_model(path))
        assert found == (dtype != np.uint8), dtype
        if found:
            ids_out = np.array([rows, 9])
            # (OpenVINO's own node for int8 writes only the first number of such a row.)
            got = run(core_of(take_out="16M"), path, [ids_out])
            assert not got[0].any() and got[1].tobytes() == own[0].tobytes(), dtype


def truncated(folder: str) -> None:
    """A file that is cut short while its model is used: an error, whether a table reads it or a node reads OpenVINO's mapping."""
    from openvino import opset13 as ops

    table, last = np.arange(3000 * 512, dtype=np.float32).reshape(3000, 512), np.array([2999])
    nodes = {
        "table": (lambda data, ids: ops.gather(data, ids, np.int64(0)), last, {"take_out": "1M"}),
        "Gather": (lambda data, ids: ops.gather(data, ids, np.int64(1)), np.array([511]), {"force": True}),
        "GatherElements": (lambda data, ids: ops.gather_elements(data, ids, 0), np.full((40, 512), 2999), {"force": True}),
        "GatherND": (lambda data, ids: ops.gather_nd(data, ids), np.array([[2999, 1]]), {"force": True}),
    }
    for name, (make, ids, options) in nodes.items():
        path = Path(folder) / f"{name}.xml"
        given = ops.parameter([-1, *ids.shape[1:]], np.int64)
        openvino.save_model(openvino.Model([make(ops.constant(table), given)], [given]), path, compress_to_fp16=False)
        core = core_of(**options)
        request = core.compile_model(core.read_model(path), "CPU", CONFIG).create_infer_request()
        request.infer([ids])
        os.truncate(path.with_suffix(".bin"), 4096)
        for _ in range(2):
            fails(lambda request=request, ids=ids: request.infer([ids]), "libgather", f"{name}.bin", "truncated")


def table_life(folder: str) -> None:
    """The file is removed, replaced or too small; the model is saved and read; the threshold; the end of the core."""
    rows, width = 70_000, 256
    path = models.write_table(Path(folder) / "life", "onnx", rows, width, {3: 4})
    for options in ({}, {"take_out": None}, {"take_out": "1G"}):
        assert "LibgatherTable" not in kinds(core_of(**options).read_model(path)), options
    core = core_of(take_out="64M", memory="8M", engine="pread")
    model = core.read_model(path)
    saved = Path(folder) / "saved.xml"
    openvino.save_model(model, str(saved))
    assert saved.with_suffix(".bin").stat().st_size < 1 << 20
    again = core_of().read_model(saved)
    assert result(core_of().compile_model(again, "CPU").create_infer_request(), [np.array([3])])[0, 0] == 4
    request = core.compile_model(model, "CPU").create_infer_request()
    del core, model
    gc.collect()
    shutil.rmtree(path.parent)
    assert result(request, [np.array([3, 0])])[:, 0].tolist() == [4, 0]
    del request, again
    gc.collect()
    fresh = core_of().read_model(saved)
    request = core_of().compile_model(fresh, "CPU").create_infer_request()
    fails(lambda: result(request, [np.array([3])]), "table.data")
    path.parent.mkdir()
    (path.parent / "table.data").write_bytes(b"short")
    fresh = core_of().read_model(saved)
    request = core_of().compile_model(fresh, "CPU").create_infer_request()
    fails(lambda: result(request, [np.array([3])]), "table.data")


def threads() -> None:
    """8 threads with a request each, of one compiled model, with more shapes than plans are kept for."""
    data = np.random.default_rng(2).random((500, 7), np.float32)
    case = models.Case("threads", "Gather", "onnx-13", data, np.zeros(1, np.int64), dynamic=True)
    core = core_of(force=True)
    compiled = core.compile_model(core.read_model(models.onnx_bytes(case)), "CPU", {"NUM_STREAMS": 2, "INFERENCE_PRECISION_HINT": "f32"})
    wrong = []

    def work(seed: int) -> None:
        request, rng = compiled.create_infer_request(), np.random.default_rng(seed)
        for _ in range(150):
            ids = rng.integers(-500, 500, rng.integers(1, 60))
            bad = rng.random() < 0.1
            if bad:
                ids[-1] = 500
            try:
                got = result(request, [data, ids])
            except RuntimeError as error:
                if not bad or f"indices[{len(ids) - 1}] = 500" not in str(error):
                    wrong.append(str(error))
                continue
            if bad or got.tobytes() != data[ids].tobytes():
                wrong.append((seed, ids, got))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong[:2]


def loading(turns: str = "40") -> None:
    """Many cores and models; no memory and no threads are left behind."""
    case = models.Case("load", "Gather", "onnx-13", np.ones((50, 8), np.float32), np.array([1, 49]))
    content, sizes, tasks = models.onnx_bytes(case), [], []
    for turn in range(int(turns)):
        core = core_of(force=True)
        same(run(core, content, [case.data, case.indices]), case.data[case.indices], "loading")
        del core
        gc.collect()
        if turn in (15, int(turns) - 1):
            sizes.append(resident())
            tasks.append(len(os.listdir("/proc/self/task")))
    assert sizes[1] - sizes[0] < 30 and tasks[1] <= tasks[0] + 2, (sizes, tasks)


def lifetime() -> None:
    """A request outlives its core and model; the core is deleted first."""
    case = models.Case("life", "Gather", "onnx-13", np.ones((50, 8), np.float32), np.array([1, 49]))
    core = core_of(force=True)
    model = core.read_model(models.onnx_bytes(case))
    request = core.compile_model(model, "CPU").create_infer_request()
    del core, model
    gc.collect()
    same(result(request, [case.data, case.indices]), case.data[case.indices], "lifetime")


def real_inputs(model, rng: np.random.Generator) -> list[np.ndarray] | None:
    """Random inputs, with 1 for each unknown length but the last, which is 256."""
    inputs = []
    for value in model.inputs:
        shape = value.get_partial_shape()
        if shape.rank.is_dynamic:
            return None
        lengths = [dim.get_length() if dim.is_static else 1 for dim in shape]
        if len(lengths) == 2 and shape[1].is_dynamic:
            lengths[1] = 512
        if len(lengths) == 4:
            lengths = [1, 3, 48, 320] if shape[2].is_dynamic or shape[3].is_dynamic else lengths
        kind = value.get_element_type()
        if kind.is_integral():
            array = np.asarray(16000 if not lengths else rng.integers(0, 256, lengths))
        else:
            array = rng.random(lengths)
        inputs.append(array.astype(kind.to_dtype()))
    return inputs


def real() -> None:
    """Real models, unmodified: the same bytes with the extension and without, where OpenVINO loads them."""
    found = count = 0
    for path in sorted(MODELS.rglob("*.onnx")):
        try:
            model = openvino.Core().read_model(path)
            inputs = real_inputs(model, np.random.default_rng(7))
            if inputs is None:
                print("not run:", path.name, "an input of unknown rank")
                continue
            own = outputs(openvino.Core(), path, inputs)
        except RuntimeError as error:
            print("OpenVINO does not run", path.name, str(error)[-400:])
            continue
        for options in ({"force": True, "on_bad": "rules"}, {}):
            core = core_of(**options)
            before = door.report()
            core.read_model(path)
            after = door.report()
            count += after.taken - before.taken
            print(path.name, options, after.taken - before.taken, "taken,", after.left - before.left, "left")
            for a, b in zip(own, outputs(core, path, inputs), strict=True):
                assert a.tobytes() == b.tobytes(), (path, options)
        found += 1
    assert found >= 3 and count >= 9, (found, count)


def outputs(core: openvino.Core, path: Path, inputs: list[np.ndarray]) -> list[np.ndarray]:
    request = core.compile_model(core.read_model(path), "CPU", CONFIG).create_infer_request()
    request.infer(dict(enumerate(inputs)))
    return [np.array(request.get_output_tensor(i).data) for i in range(len(request.model_outputs))]


def files(folder: str) -> None:
    """Models that openvino_models.py has written, for releases of OpenVINO that have nothing else installed."""
    count = 0
    for arrays in sorted(Path(folder).glob("*.npz")):
        given = np.load(arrays)
        path = next(path for path in (arrays.with_suffix(".xml"), arrays.with_suffix(".onnx")) if path.is_file())
        core = core_of(force=True)
        taken(core.read_model(path), arrays.stem)
        same(run(core, path, [given["data"], given["indices"]]), given["expected"], arrays.stem)
        count += 1
    with tempfile.TemporaryDirectory():
        for kind in ("onnx/table.onnx", "ir/table.xml"):
            core = core_of(take_out="16M")
            assert "LibgatherTable" in kinds(core.read_model(Path(folder) / kind)), kind
            assert run(core, Path(folder) / kind, [np.array([69_999, 0, 5])])[:, 0].tolist() == [2, 1, 0], kind
    wide = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert count > 40, count
    fails(lambda: run(core_of(force=True, on_bad="error"), Path(folder) / "v8_zeros.xml", [np.load(Path(folder) / "v8_zeros.npz")["data"], np.array([1, 4, -5, 3])]), "indices[1] = 4 is outside [-4, 3]", "2 of 4")
    print(openvino.__version__, count, "models", wide.size)


def page() -> None:
    """The examples of docs/embed/openvino.md print what stands there."""
    text = (Path(__file__).parents[2] / "docs/embed/openvino.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", text, re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "page", "page", 0)
    assert len(test.examples) > 8 and doctest.DocTestRunner().run(test).failed == 0


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
    print("good")
