# SPDX-License-Identifier: MIT
"""Models of one gather each, of OpenVINO (IR) and of ONNX, with inputs and what libgather computes of them.

openvino_models.py FOLDER writes all of them there, for other releases of OpenVINO to read: CASE.xml or CASE.onnx, CASE.npz.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import libgather


@dataclass
class Case:
    """A gather; `file` is its model once it is written."""

    name: str
    operator: str
    rules: str
    data: np.ndarray
    indices: np.ndarray
    axis: int = 0
    batch_dims: int = 0
    dynamic: bool = False
    shapes: tuple | None = None  # of the parameters, where neither the arrays' nor all unknown
    file: Path = field(default_factory=Path)

    def expected(self) -> np.ndarray:
        if self.operator == "Gather":
            return libgather.take(self.data, self.indices, axis=self.axis, batch_dims=self.batch_dims, rules=self.rules)
        if self.operator == "GatherElements":
            return libgather.gather_elements(self.data, self.indices, axis=self.axis, rules=self.rules)
        return libgather.gather_nd(self.data, self.indices, batch_dims=self.batch_dims, rules=self.rules)

    def parameter_shapes(self) -> list:
        if self.shapes:
            return list(self.shapes)
        return [[-1] * array.ndim if self.dynamic else list(array.shape) for array in (self.data, self.indices)]


FLOAT = np.arange(120, dtype=np.float32).reshape(4, 5, 6) - 7.5


def _gathers() -> list[Case]:
    ids = np.array([[1, 0, 3], [2, 2, 1]])
    cases = [
        Case("v8", "Gather", "openvino-8", FLOAT, np.array([[1, -1], [0, -4]]), axis=0),
        Case("v8_zeros", "Gather", "openvino-8", FLOAT, np.array([1, 4, -5, 3]), axis=0),
        Case("v8_last", "Gather", "openvino-8", FLOAT, np.array([5, -6, 2]), axis=-1),
        Case("v8_scalar", "Gather", "openvino-8", FLOAT, np.array(2), axis=1),
        Case("v8_batch", "Gather", "openvino-8", FLOAT, np.array([[0], [4], [2], [-1]]), axis=1, batch_dims=1),
        Case("v8_batch_back", "Gather", "openvino-8", FLOAT, np.array([[0], [4], [2], [1]]), axis=2, batch_dims=-1),
        Case("v7", "Gather", "openvino-7", FLOAT, ids, axis=1),
        Case("v7_batch", "Gather", "openvino-7", FLOAT, np.array([[0, 5], [4, 1], [2, 2], [3, 3]]), axis=2, batch_dims=1),
        Case("v1", "Gather", "openvino-1", FLOAT, ids, axis=-2),
        Case("v8_wide", "Gather", "openvino-8", np.arange(9000, dtype=np.float32).reshape(9, 1000), np.array([8, 0, 8, -1])),
        Case("v8_many", "Gather", "openvino-8", np.arange(9000, dtype=np.float32), np.arange(5000) % 9000),
    ]
    return cases


def _others() -> list[Case]:
    tuples = np.array([[[0, 1], [4, 5]], [[-1, 0], [2, -6]], [[3, 3], [1, 1]], [[0, 0], [0, 5]]])
    return [
        Case("elements", "GatherElements", "openvino-6", FLOAT, np.resize([4, 0, -5, 2], (4, 3, 6)), axis=1),
        Case("elements_last", "GatherElements", "openvino-6", FLOAT, np.resize([5, -1], (4, 5, 2)), axis=-1),
        Case("nd8", "GatherND", "openvino-8", FLOAT, np.array([[3, 4, 5], [0, -1, 0]])),
        Case("nd8_rows", "GatherND", "openvino-8", FLOAT, np.array([[[3], [0]], [[1], [-2]]])),
        Case("nd8_batch", "GatherND", "openvino-8", FLOAT, tuples, batch_dims=1),
        Case("nd8_batch_2", "GatherND", "openvino-8", FLOAT, np.resize([5, 0, 2], (4, 5, 1)), batch_dims=2),
        Case("nd5_batch_2", "GatherND", "openvino-5", FLOAT, np.resize([5, 0, 2], (4, 5, 3, 1)), batch_dims=2),
        Case("nd5", "GatherND", "openvino-5", FLOAT, np.array([[3, 4], [0, 2]])),
    ]


def _types() -> list[Case]:
    """Types that OpenVINO's CPU moves unchanged, or in 32 bits."""
    cases = []
    for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
        data = np.arange(24).reshape(6, 4).astype(name)
        cases.append(Case(f"type_{name}", "Gather", "openvino-8", data, np.array([5, -1, 0, 7])))
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        cases.append(Case(f"index_{name}", "Gather", "openvino-8", FLOAT, np.array([3, 0, 1]).astype(name)))
    cases.append(Case("text", "Gather", "openvino-8", np.array(["A", "B c", "", "d.Ef", " G h,i;"]), np.array([4, 0, 2, -2, 9])))
    return cases


def ir_cases() -> list[Case]:
    known = _gathers() + _others()
    unknown = [Case(**{**vars(case), "name": f"{case.name}_dynamic", "dynamic": True}) for case in known if case.name != "nd5_batch_2"]
    for case in unknown:  # of tuples the length must be known
        if case.operator == "GatherND":
            case.shapes = ([-1] * case.data.ndim, [*[-1] * (case.indices.ndim - 1), case.indices.shape[-1]])
    empty = [
        Case("empty_dynamic", "Gather", "openvino-8", FLOAT, np.zeros((0, 2), np.int64), dynamic=True),
        Case("empty", "Gather", "openvino-8", FLOAT, np.zeros((0,), np.int64)),
        Case("empty_row", "Gather", "openvino-8", np.zeros((3, 0), np.float32), np.array([1])),
    ]
    return known + unknown + empty + _types()


def onnx_cases() -> list[Case]:
    return [
        Case("onnx", "Gather", "onnx-13", FLOAT, np.array([[1, -1], [0, -4]])),
        Case("onnx_axis", "Gather", "onnx-13", FLOAT, np.array([5, -6]), axis=-1),
        Case("onnx_dynamic", "Gather", "onnx-13", FLOAT, np.array([0, -1, 3]), axis=1, dynamic=True),
        Case("onnx_int32", "Gather", "onnx-13", np.arange(12, dtype=np.uint8).reshape(4, 3), np.array([3, 0], dtype=np.int32)),
        Case("onnx_elements", "GatherElements", "onnx-13", FLOAT, np.resize([4, 0, -5, 2], (4, 3, 6)), axis=1),
        # Fewer rows than data off the axis: ONNX allows it, and OpenVINO's own importer refuses it.
        Case("onnx_elements_less", "GatherElements", "onnx-13", FLOAT, np.resize([4, 0, -5, 2], (2, 3, 6)), axis=1),
        Case("onnx_nd", "GatherND", "onnx-13", FLOAT, np.array([[3, 4], [0, -5]])),
        Case("onnx_nd_batch", "GatherND", "onnx-13", FLOAT, np.array([[[0], [-1]], [[2], [2]], [[1], [4]], [[3], [0]]]), batch_dims=1),
    ]


def model_of(case: Case):
    """The openvino.Model of a case of IR."""
    import openvino

    try:
        opset = importlib.import_module(f"openvino.opset{case.rules.rpartition('-')[2]}")
    except ImportError:
        opset = importlib.import_module(f"openvino.runtime.opset{case.rules.rpartition('-')[2]}")
    shapes = case.parameter_shapes()
    kind = openvino.Type.string if case.data.dtype.kind == "U" else case.data.dtype
    data, indices = opset.parameter(shapes[0], kind), opset.parameter(shapes[1], case.indices.dtype)
    if case.operator == "Gather":
        axis = opset.constant(case.axis, dtype=np.int64)
        node = opset.gather(data, indices, axis) if case.rules == "openvino-1" else opset.gather(data, indices, axis, case.batch_dims)
    elif case.operator == "GatherElements":
        node = opset.gather_elements(data, indices, case.axis)
    else:
        node = opset.gather_nd(data, indices, case.batch_dims)
    node.set_friendly_name("the_node")
    return openvino.Model([node], [data, indices], case.name)


def write_ir(case: Case, folder: Path) -> Path:
    import openvino

    case.file = folder / f"{case.name}.xml"
    openvino.serialize(model_of(case), str(case.file), str(case.file.with_suffix(".bin")))
    return case.file


def onnx_bytes(case: Case) -> bytes:
    kinds = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in (case.data, case.indices)]
    given = {} if case.operator == "GatherND" else {"axis": case.axis}
    if case.operator == "GatherND":
        given = {"batch_dims": case.batch_dims}
    shapes = [[None if n < 0 else n for n in shape] for shape in case.parameter_shapes()]
    graph = helper.make_graph(
        [helper.make_node(case.operator, ["data", "ids"], ["the_node"], name="the_node", **given)],
        "g",
        [helper.make_tensor_value_info("data", kinds[0], shapes[0]), helper.make_tensor_value_info("ids", kinds[1], shapes[1])],
        [helper.make_tensor_value_info("the_node", kinds[0], None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10).SerializeToString()


def write_onnx(case: Case, folder: Path) -> Path:
    case.file = folder / f"{case.name}.onnx"
    case.file.write_bytes(onnx_bytes(case))
    return case.file


def write_table(folder: Path, kind: str, rows: int, width: int, marked: dict[int, float], dtype=np.float32) -> Path:
    """A model with a sparse table of rows x width, in an ONNX model's external data or in a .bin file, of which only the rows in
    `marked` are not zeros. Returns the file that core.read_model reads."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "onnx":
        return _table_onnx(folder, rows, width, marked, np.dtype(dtype))
    return _table_ir(folder, rows, width, marked, np.dtype(dtype))


def _fill(path: Path, at: int, rows: int, width: int, marked: dict[int, float], dtype: np.dtype, before: bytes = b"") -> None:
    with path.open("wb") as file:
        file.write(before)
        file.truncate(at + rows * width * dtype.itemsize)
        for row, value in marked.items():
            file.seek(at + row * width * dtype.itemsize)
            file.write(np.full(width, value, dtype).tobytes())


def _table_onnx(folder: Path, rows: int, width: int, marked: dict[int, float], dtype: np.dtype) -> Path:
    table = TensorProto(name="table", data_type=helper.np_dtype_to_tensor_dtype(dtype), dims=[rows, width], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "table.data"), ("offset", "4096"), ("length", str(rows * width * dtype.itemsize))):
        entry = table.external_data.add()
        entry.key, entry.value = key, value
    _fill(folder / "table.data", 4096, rows, width, marked, dtype)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["the_node"], name="the_node")],
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("the_node", table.data_type, ["n", width])],
        initializer=[table],
    )
    path = folder / "table.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10).SerializeToString())
    return path


def _table_ir(folder: Path, rows: int, width: int, marked: dict[int, float], dtype: np.dtype) -> Path:
    """A small model is written by OpenVINO, and its table made longer: the new one lies behind the others in the file.
    Types other than float32 are compressed as OpenVINO and NNCF do it: float16 with a Convert, int8 with a scale per row, uint8 with a
    zero point too."""
    import openvino
    import openvino.opset8 as op

    ids = op.parameter([-1], np.int64, name="ids")
    table = value = op.constant(np.arange(2 * width).reshape(2, width).astype(dtype))
    if dtype != np.float32:
        value = op.convert(value, "f32")
    if dtype == np.uint8:
        value = op.subtract(value, op.constant(np.float32(3)))
    if dtype in (np.int8, np.uint8):
        value = op.multiply(value, op.constant(np.full((1, 1), 0.5, np.float32)))
    small = folder / "small.xml"
    node = op.gather(value, ids, op.constant(0, dtype=np.int64))
    node.set_friendly_name("the_node")
    openvino.serialize(openvino.Model([node], [ids], "table"), str(small), str(small.with_suffix(".bin")))
    element, size = table.get_element_type().get_type_name(), 2 * width * dtype.itemsize
    before = small.with_suffix(".bin").read_bytes()
    at = (len(before) + 63) // 64 * 64
    xml, path = small.read_text(encoding="utf-8"), folder / "table.xml"
    old = [part for part in xml.split("<data ") if part.startswith(f'element_type="{element}" shape="2, {width}"') and f'size="{size}"' in part]
    assert len(old) == 1, xml
    words = old[0].partition("/>")[0]
    new = f'element_type="{element}" shape="{rows}, {width}" offset="{at}" size="{rows * width * dtype.itemsize}" '
    path.write_text(xml.replace(words, new), encoding="utf-8")
    _fill(path.with_suffix(".bin"), at, rows, width, marked, dtype, before)
    return path


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for case in [write_case for write_case in ir_cases() if write_case.data.dtype.kind != "U"]:
        write_ir(case, folder)
        np.savez(folder / f"{case.name}.npz", data=case.data, indices=case.indices, expected=case.expected())
    for case in onnx_cases():
        write_onnx(case, folder)
        np.savez(folder / f"{case.name}.npz", data=case.data, indices=case.indices, expected=case.expected())
    onnx.checker.check_model(onnx.load(write_table(folder / "onnx", "onnx", 70_000, 256, {0: 1, 69_999: 2})))
    write_table(folder / "ir", "ir", 70_000, 256, {0: 1, 69_999: 2}, np.float16)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
