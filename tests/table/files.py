# SPDX-License-Identifier: MIT
"""Tables as other libraries write them: a file, the tensor in it, and the bytes of its rows as that library has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np
from support.skip import skip_test
from tables import formats

ROWS, WIDTH = 700, 24


@dataclass(frozen=True)
class Made:
    """path: FILE or FILE:TENSOR; rows: uint8 [rows, row_bytes]."""

    path: str
    rows: np.ndarray
    format: str
    files: tuple[Path, ...]
    raw: tuple | None = None


def noise(rows: int = ROWS, row_bytes: int = WIDTH, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (rows, row_bytes), dtype=np.uint8)


def needs(package: str, format_name: str):
    """The library that writes a format, in a build that reads it."""
    if format_name not in formats():
        skip_test(format_name, "this build does not read the format")
    try:
        return __import__(package)
    except ImportError:
        return skip_test(package, "the package is not installed")


def rows_of(array: np.ndarray) -> np.ndarray:
    """An array's rows as bytes."""
    array = np.ascontiguousarray(array)
    return array.view(np.uint8).reshape(array.shape[0], -1)


def npy(folder: Path) -> Made:
    rows = noise()
    np.save(folder / "t.npy", rows.view(np.float32).reshape(ROWS, 2, 3))
    return Made(str(folder / "t.npy"), rows, "npy", (folder / "t.npy",))


def npy_swapped(folder: Path) -> Made:
    rows = noise(seed=2)
    np.save(folder / "s.npy", rows.view(">f8").reshape(ROWS, 3))
    return Made(str(folder / "s.npy"), rows, "npy", (folder / "s.npy",))


def npy_structured(folder: Path) -> Made:
    rows = noise(row_bytes=17, seed=3)
    np.save(folder / "v.npy", rows.view([("a", "<i4"), ("b", "S5"), ("c", ">f8")]).reshape(ROWS))
    return Made(str(folder / "v.npy"), rows, "npy", (folder / "v.npy",))


def raw(folder: Path) -> Made:
    rows = noise(row_bytes=14, seed=4)
    (folder / "t.raw").write_bytes(b"odd" + rows.tobytes() + b"behind")
    return Made(str(folder / "t.raw"), rows, "raw", (folder / "t.raw",), ("uint16", (ROWS, 7), 3))


def safetensors(folder: Path) -> Made:
    needs("safetensors", "safetensors")
    from safetensors.numpy import save_file

    rows, path = noise(seed=5), folder / "t.safetensors"
    save_file({"a": np.arange(3, dtype=np.uint8), "emb": rows.view(np.float16), "z": np.ones(5)}, path)
    return Made(f"{path}:emb", rows, "safetensors", (path,))


def safetensors_sharded(folder: Path) -> Made:
    """As the large models come: an index beside the files that it names."""
    needs("safetensors", "safetensors")
    import json

    from safetensors.numpy import save_file

    rows = noise(seed=6)
    tensors = {"model.head": np.zeros((4, 4), np.float32), "model.emb": rows.view(np.float32)}
    names = {name: f"model-{i:05}-of-00002.safetensors" for i, name in enumerate(tensors, 1)}
    for name, tensor in tensors.items():
        save_file({name: tensor}, folder / names[name])
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": names}), encoding="utf-8")
    return Made(f"{index}:model.emb", rows, "safetensors", (folder / names["model.emb"],))


def gguf_file(folder: Path, quantised: bool) -> Made:
    gguf = needs("gguf", "gguf")
    path = folder / f"t{quantised}.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("answer", 42)
    numbers = np.random.default_rng(7).standard_normal((ROWS, 64)).astype(np.float32)
    kind = gguf.GGMLQuantizationType.Q8_0
    rows = gguf.quants.quantize(numbers, kind) if quantised else numbers
    writer.add_tensor("other", np.zeros(7, np.float32))
    writer.add_tensor("token_embd.weight", rows, **({"raw_dtype": kind} if quantised else {}))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Made(f"{path}:token_embd.weight", rows_of(rows), "gguf", (path,))


def gguf(folder: Path) -> Made:
    return gguf_file(folder, False)


def gguf_quantised(folder: Path) -> Made:
    return gguf_file(folder, True)


def onnx_file(folder: Path, external: bool) -> Made:
    onnx = needs("onnx", "onnx")
    from onnx import TensorProto, helper, numpy_helper

    rows, path = noise(seed=8), folder / f"m{external}.onnx"
    initialisers = [numpy_helper.from_array(np.arange(5.0), "first"), numpy_helper.from_array(rows.view(np.int32), "emb")]
    node = helper.make_node("Gather", ["emb", "ids"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [None])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        initialisers,
    )
    model = helper.make_model(graph)
    data = folder / "weights.bin"
    if external:
        onnx.save_model(model, path, save_as_external_data=True, location=data.name, size_threshold=16)
    else:
        onnx.save_model(model, path)
    return Made(f"{path}:emb", rows, "onnx", (data if external else path,))


def onnx_inside(folder: Path) -> Made:
    return onnx_file(folder, False)


def onnx_external(folder: Path) -> Made:
    return onnx_file(folder, True)


def openvino(folder: Path) -> Made:
    ov = needs("openvino", "ir")
    rows, path = noise(seed=9), folder / "m.xml"
    first = ov.op.Constant(np.arange(3, dtype=np.int64))
    constant = ov.op.Constant(rows.view(np.float32).copy())
    constant.set_friendly_name("emb")
    ov.save_model(ov.Model([ov.opset8.result(first), ov.opset8.result(constant)], [], "m"), path, compress_to_fp16=False)
    return Made(f"{path}:emb", rows, "ir", (folder / "m.bin",))


def npz(folder: Path) -> Made:
    needs("numpy", "npz")
    rows, path = noise(seed=10), folder / "t.npz"
    np.savez(path, first=np.arange(4), emb=rows.view(np.uint64), last=np.ones((2, 2)))
    return Made(f"{path}:emb", rows, "npz", (path,))


def arrow_file(folder: Path, batches: int) -> Made:
    pa = needs("pyarrow", "arrow")
    rows, path = noise(row_bytes=8, seed=11), folder / f"t{batches}.arrow"
    columns = {"id": pa.array(np.arange(ROWS, dtype=np.int32)), "value": pa.array(rows.view(np.float64).ravel())}
    table = pa.table(columns)
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=-(-ROWS // batches))
    return Made(f"{path}:value", rows, "arrow", (path,))


def arrow_one_batch(folder: Path) -> Made:
    return arrow_file(folder, 1)


def arrow_many_batches(folder: Path) -> Made:
    return arrow_file(folder, 9)


def arrow_lists(folder: Path) -> Made:
    """Vectors as Arrow keeps them: lists of one length."""
    pa = needs("pyarrow", "arrow")
    rows, path = noise(row_bytes=20, seed=12), folder / "l.arrow"
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.view(np.float32).ravel()), 5)
    table = pa.table({"vector": column})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=333)
    return Made(f"{path}:vector", rows, "arrow", (path,))


def arrow_variable_lists(folder: Path) -> Made:
    """Vectors as Parquet and pandas give them: lists of variable size, which all have one length; as a stream."""
    pa = needs("pyarrow", "arrow")
    rows, path = noise(row_bytes=20, seed=14), folder / "s.arrows"
    ends = pa.array(range(0, 5 * len(rows) + 1, 5), pa.int64())
    column = pa.LargeListArray.from_arrays(ends, pa.array(rows.view(np.float32).ravel()))
    table = pa.table({"vector": column})
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=333)
    return Made(f"{path}:vector", rows, "arrow", (path,))


def feather(folder: Path) -> Made:
    pa = needs("pyarrow", "arrow")
    import pyarrow.feather

    rows, path = noise(row_bytes=4, seed=13), folder / "t.feather"
    pa.feather.write_feather(pa.table({"value": pa.array(rows.view(np.int32).ravel())}), path, compression="uncompressed")
    return Made(f"{path}:value", rows, "arrow", (path,))


def hdf5(folder: Path, libver: str = "earliest", user: int = 0) -> Made:
    h5py = needs("h5py", "hdf5")
    rows, path = noise(seed=15), folder / f"t{libver}.h5"
    with h5py.File(path, "w", libver=libver, userblock_size=user) as file:
        file["first"] = np.arange(4)
        file["group/emb"] = rows.view(np.uint64)
        file["packed"] = np.ones((2, 2))
    return Made(f"{path}:group/emb", rows, "hdf5", (path,))


def hdf5_latest(folder: Path) -> Made:
    return hdf5(folder, "latest", 512)


MAKERS: list[Callable[[Path], Made]] = [
    npy, npy_swapped, npy_structured, raw, safetensors, safetensors_sharded, gguf, gguf_quantised, onnx_inside, onnx_external, openvino,
    npz, arrow_one_batch, arrow_many_batches, arrow_lists, arrow_variable_lists, feather, hdf5, hdf5_latest,
]
