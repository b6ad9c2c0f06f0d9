# SPDX-License-Identifier: MIT
"""The files that the scenarios read: one small table in every format, models, indices."""

import json
import struct
from pathlib import Path

import numpy as np
import onnx
from cli.models import IR, onnx_model
from onnx import TensorProto, helper
from support import hdf5_files
from support.arrow_files import arrow_file, chunk, fixed_list, integer
from support.hdf5_files import Hdf5
from support.quantised_files import nf4_nested

ROWS, WIDTH = 600, 6
TABLE = np.arange(ROWS * WIDTH, dtype=np.int32).reshape(ROWS, WIDTH)
IDS = np.array([[3, 599, 0], [77, 3, 598]], np.int64)
SHUFFLED_ROWS, SHUFFLED_WIDTH = 200, 10_000
MIB = 1 << 20


def safetensors(path: Path, **tensors: np.ndarray) -> None:
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "I32", "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def hdf5(path: Path) -> None:
    """The ids in a group with so many members that its links are in a heap."""
    file = Hdf5(2)
    table = file.dataset("t", TABLE.shape, hdf5_files.integer(4), TABLE.tobytes(), 2, split=2)
    ids = file.dataset("i", IDS.shape, hdf5_files.integer(8), IDS.tobytes(), 1)
    links = {name: hdf5_files.link(name, ids) for name in [b"i", *[b"same%d" % i for i in range(9)]]}
    group = file.dense_group("g", links)
    path.write_bytes(file.finished(file.old_group("root", {b"t": table, b"g": group})))


def shards(folder: Path) -> None:
    """A table in two files, and the index that says so; b is in the second."""
    safetensors(folder / "model-00001-of-00002.safetensors", t=TABLE)
    safetensors(folder / "model-00002-of-00002.safetensors", b=TABLE[::-1].copy())
    names = {"t": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    text = json.dumps({"metadata": {"total_size": 2 * TABLE.nbytes}, "weight_map": names})
    (folder / "model.safetensors.index.json").write_text(text)


def gguf(path: Path) -> None:
    int32 = 26
    head = b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, 1) + b"t" + struct.pack("<IQQIQ", 2, WIDTH, ROWS, int32, 0)
    path.write_bytes(head + bytes(-len(head) % 32) + TABLE.tobytes())


def quantised(folder: Path) -> None:
    """A table of blocks, and one whose scales are in other tensors, quantised themselves."""
    kind, blocks = 2, np.random.default_rng(4).integers(0, 60, (ROWS, 18), np.uint8)
    head = b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, 1) + b"t" + struct.pack("<IQQIQ", 2, 32, ROWS, kind, 0)
    (folder / "q.gguf").write_bytes(head + bytes(-len(head) % 32) + blocks.tobytes())
    nf4_nested(np.random.default_rng(4), ROWS, 64).write(folder / "q.safetensors")


def arrow(path: Path) -> None:
    """A column in two batches, as its writers make them."""
    column = fixed_list("t", WIDTH, integer(None, 32))
    halves = TABLE[:250], TABLE[250:]
    batches = [chunk(b"", half.tobytes(), rows=len(half)) for half in halves]
    for batch, half in zip(batches, halves):
        batch.nodes = [(len(half), 0), (half.size, 0)]
        batch.buffers = [b"", b"", half.tobytes()]
    path.write_bytes(arrow_file([column], batches))


def external(path: Path) -> None:
    """An ONNX model whose table lies in a file beside it, with a bad index in a second node."""
    weights = helper.make_tensor("t", TensorProto.INT32, TABLE.shape, TABLE.tobytes(), raw=True)
    few = helper.make_tensor("few", TensorProto.INT64, [2], [1, -1])
    graph = helper.make_graph(
        [helper.make_node("Gather", ["t", "ids"], ["y"], name="pick", axis=0),
         helper.make_node("Gather", ["t", "few"], ["z"], name="fixed", axis=1)],
        "g", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None), helper.make_tensor_value_info("z", TensorProto.INT32, None)],
        [weights, few])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=64)


def openvino(path: Path) -> None:
    net = IR()
    table = net.const("table", TABLE[:, 0].astype(np.float32))
    ids = net.parameter("ids", "int64", (2, -1))
    axis = net.const("axis", np.array(0))
    y = net.layer("pick", "Gather", "opset8", "", (table, ids, axis), ("float32", (2, -1)))
    net.layer("out", "Result", "opset1", "", (y,))
    net.save(path)


def test_data(folder: Path) -> None:
    """What ONNX's own tests have beside a model: inputs and outputs of external()."""
    (folder / "data").mkdir()
    for name, array in [("input_0", IDS), ("output_0", TABLE[IDS]), ("output_1", TABLE[:, [1, -1]])]:
        tensor = helper.make_tensor("x", helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.tobytes(), raw=True)
        (folder / "data" / f"{name}.pb").write_bytes(tensor.SerializeToString())


def make(folder: Path) -> None:
    np.save(folder / "x.npy", TABLE)
    np.save(folder / "fortran.npy", np.asfortranarray(TABLE.astype(">i4")))
    np.save(folder / "i.npy", IDS)
    np.save(folder / "e.npy", (np.arange(ROWS * WIDTH) % ROWS).reshape(ROWS, WIDTH))
    np.savez(folder / "x.npz", t=TABLE, i=IDS)
    hdf5(folder / "x.h5")
    (folder / "x.raw").write_bytes(TABLE.tobytes())
    (folder / "i.txt").write_text("3, 599\n0 77\n")
    (folder / "i.csv").write_text('name,row\n"a, b",3\nc,599\n')
    safetensors(folder / "x.safetensors", t=TABLE, b=TABLE[:5])
    shards(folder)
    gguf(folder / "x.gguf")
    quantised(folder)
    arrow(folder / "x.arrow")
    external(folder / "m.onnx")
    onnx_model(folder / "bad.onnx", "g () => (float[2] y) <float[3] t = {1, 2, 3}, int64[2] i = {0, 3}> { [pick] y = Gather(t, i) }")
    openvino(folder / "m.xml")
    test_data(folder)
    big = np.random.default_rng(1).integers(0, 256, (SHUFFLED_ROWS, SHUFFLED_WIDTH), np.uint8)
    np.save(folder / "s.npy", big)
    np.save(folder / "order.npy", np.random.default_rng(2).integers(0, SHUFFLED_ROWS, SHUFFLED_ROWS))
    np.save(folder / "large.npy", np.arange(4 * MIB, dtype=np.int32).reshape(-1, 64))
    np.save(folder / "l.npy", np.random.default_rng(3).integers(0, 65536, 8192))
    np.save(folder / "y.npy", TABLE[:7])
