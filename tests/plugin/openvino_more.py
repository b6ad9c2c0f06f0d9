# SPDX-License-Identifier: MIT
"""More scenarios of openvino_child.py: tables that stay in their files, threads, loading again and again, real models."""

from __future__ import annotations

import doctest
import gc
import os
import re
import shutil
import tempfile
import threading
from pathlib import Path

import numpy as np
import openvino
import openvino_child as child
import openvino_models as models

import libgather.openvino as door

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
        core = child.core_of(memory="16M")
        model = core.read_model(path)
        assert "LibgatherTable" in child.kinds(model), child.kinds(model)
        request = core.compile_model(model, "CPU", child.CONFIG).create_infer_request()
        got = child.result(request, [np.array([7, rows - 1, 0, 1, -1])])
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
    compiled = core.compile_model(path, "CPU", child.CONFIG)
    assert resident() - before > 900, resident() - before
    del compiled


def compressed(folder: str) -> None:
    """Tables of float16, int8 and uint8, as OpenVINO and NNCF compress them: the same bytes as OpenVINO's own."""
    rows, width = 70_000, 256
    marked = {0: 1, 9: 5, rows - 1: 7}
    ids = np.array([[9, 0, rows - 1], [1, 9, 9]]).reshape(-1)
    for dtype in (np.float16, np.int8, np.uint8):
        path = models.write_table(Path(folder) / np.dtype(dtype).name, "ir", rows, width, marked, dtype)
        own = child.run(openvino.Core(), path, [ids])
        core = child.core_of(take_out="16M", on_bad="error")
        assert "LibgatherTable" in child.kinds(core.read_model(path)), np.dtype(dtype)
        child.same(child.run(core, path, [ids]), own, str(dtype))
        child.fails(lambda core=core, path=path: child.run(core, path, [np.array([rows])]), f"indices[0] = {rows} is outside")
        # With zeros for an index out of range, no table with a zero point: a row of zeros would be decoded.
        found = "LibgatherTable" in child.kinds(child.core_of(take_out="16M").read_model(path))
        assert found == (dtype != np.uint8), dtype
        if found:
            ids_out = np.array([rows, 9])
            # (OpenVINO's own node for int8 writes only the first number of such a row.)
            got = child.run(child.core_of(take_out="16M"), path, [ids_out])
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
        core = child.core_of(**options)
        request = core.compile_model(core.read_model(path), "CPU", child.CONFIG).create_infer_request()
        request.infer([ids])
        os.truncate(path.with_suffix(".bin"), 4096)
        for _ in range(2):
            child.fails(lambda request=request, ids=ids: request.infer([ids]), "libgather", f"{name}.bin", "truncated")


def table_life(folder: str) -> None:
    """The file is removed, replaced or too small; the model is saved and read; the threshold; the end of the core."""
    rows, width = 70_000, 256
    path = models.write_table(Path(folder) / "life", "onnx", rows, width, {3: 4})
    for options in ({}, {"take_out": None}, {"take_out": "1G"}):
        assert "LibgatherTable" not in child.kinds(child.core_of(**options).read_model(path)), options
    core = child.core_of(take_out="64M", memory="8M", engine="pread")
    model = core.read_model(path)
    saved = Path(folder) / "saved.xml"
    openvino.save_model(model, str(saved))
    assert saved.with_suffix(".bin").stat().st_size < 1 << 20
    again = child.core_of().read_model(saved)
    assert child.result(child.core_of().compile_model(again, "CPU").create_infer_request(), [np.array([3])])[0, 0] == 4
    request = core.compile_model(model, "CPU").create_infer_request()
    del core, model
    gc.collect()
    shutil.rmtree(path.parent)
    assert child.result(request, [np.array([3, 0])])[:, 0].tolist() == [4, 0]
    del request, again
    gc.collect()
    fresh = child.core_of().read_model(saved)
    request = child.core_of().compile_model(fresh, "CPU").create_infer_request()
    child.fails(lambda: child.result(request, [np.array([3])]), "table.data")
    path.parent.mkdir()
    (path.parent / "table.data").write_bytes(b"short")
    fresh = child.core_of().read_model(saved)
    request = child.core_of().compile_model(fresh, "CPU").create_infer_request()
    child.fails(lambda: child.result(request, [np.array([3])]), "table.data")


def threads() -> None:
    """8 threads with a request each, of one compiled model, with more shapes than plans are kept for."""
    data = np.random.default_rng(2).random((500, 7), np.float32)
    case = models.Case("threads", "Gather", "onnx-13", data, np.zeros(1, np.int64), dynamic=True)
    core = child.core_of(force=True)
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
                got = child.result(request, [data, ids])
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
        core = child.core_of(force=True)
        child.same(child.run(core, content, [case.data, case.indices]), case.data[case.indices], "loading")
        del core
        gc.collect()
        if turn in (15, int(turns) - 1):
            sizes.append(resident())
            tasks.append(len(os.listdir("/proc/self/task")))
    assert sizes[1] - sizes[0] < 30 and tasks[1] <= tasks[0] + 2, (sizes, tasks)


def lifetime() -> None:
    """A request outlives its core and model; the core is deleted first."""
    case = models.Case("life", "Gather", "onnx-13", np.ones((50, 8), np.float32), np.array([1, 49]))
    core = child.core_of(force=True)
    model = core.read_model(models.onnx_bytes(case))
    request = core.compile_model(model, "CPU").create_infer_request()
    del core, model
    gc.collect()
    child.same(child.result(request, [case.data, case.indices]), case.data[case.indices], "lifetime")


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
    found = taken = 0
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
            core = child.core_of(**options)
            before = door.report()
            core.read_model(path)
            after = door.report()
            taken += after.taken - before.taken
            print(path.name, options, after.taken - before.taken, "taken,", after.left - before.left, "left")
            for a, b in zip(own, outputs(core, path, inputs), strict=True):
                assert a.tobytes() == b.tobytes(), (path, options)
        found += 1
    assert found >= 3 and taken >= 9, (found, taken)


def outputs(core: openvino.Core, path: Path, inputs: list[np.ndarray]) -> list[np.ndarray]:
    request = core.compile_model(core.read_model(path), "CPU", child.CONFIG).create_infer_request()
    request.infer(dict(enumerate(inputs)))
    return [np.array(request.get_output_tensor(i).data) for i in range(len(request.model_outputs))]


def files(folder: str) -> None:
    """Models that openvino_models.py has written, for releases of OpenVINO that have nothing else installed."""
    count = 0
    for arrays in sorted(Path(folder).glob("*.npz")):
        given = np.load(arrays)
        path = next(path for path in (arrays.with_suffix(".xml"), arrays.with_suffix(".onnx")) if path.is_file())
        core = child.core_of(force=True)
        child.taken(core.read_model(path), arrays.stem)
        child.same(child.run(core, path, [given["data"], given["indices"]]), given["expected"], arrays.stem)
        count += 1
    with tempfile.TemporaryDirectory():
        for kind in ("onnx/table.onnx", "ir/table.xml"):
            core = child.core_of(take_out="16M")
            assert "LibgatherTable" in child.kinds(core.read_model(Path(folder) / kind)), kind
            assert child.run(core, Path(folder) / kind, [np.array([69_999, 0, 5])])[:, 0].tolist() == [2, 1, 0], kind
    wide = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert count > 40, count
    child.fails(lambda: child.run(child.core_of(force=True, on_bad="error"), Path(folder) / "v8_zeros.xml", [np.load(Path(folder) / "v8_zeros.npz")["data"], np.array([1, 4, -5, 3])]), "indices[1] = 4 is outside [-4, 3]", "2 of 4")
    print(openvino.__version__, count, "models", wide.size)


def page() -> None:
    """The examples of docs/plugin-openvino.md print what stands there."""
    text = (Path(__file__).parents[2] / "docs/plugin-openvino.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", text, re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "page", "page", 0)
    assert len(test.examples) > 8 and doctest.DocTestRunner().run(test).failed == 0
