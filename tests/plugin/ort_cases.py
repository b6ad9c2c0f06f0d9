# SPDX-License-Identifier: MIT
"""Models of one gather node, of all types, shapes and opsets: what the built-in kernels and the plug-in are compared on.

A case that is known to differ names the reason (DIFFERENCES) and has the right output; the others must have the bytes of the built-in.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

IR = 8  # old enough for ONNX Runtime 1.17
# Opsets of each operator version, and one in which it has long been the newest.
OPSETS = {"Gather": (9, 11, 13, 21), "GatherElements": (11, 13, 21), "GatherND": (11, 12, 13, 21)}
FIXED = ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
TYPES = (*FIXED, "string", "bfloat16")
# data, indices, axis
GATHER = [([5], [3], 0), ([5], [], 0), ([5], [0], 0), ([0], [0], 0), ([4, 3], [2], 0), ([4, 3], [], 0), ([4, 3], [2, 2], 1), ([4, 3], [], 1),
          ([2, 3, 4], [2], -1), ([2, 3, 4], [1, 2], 1), ([3, 1], [2, 3], 1), ([7, 1], [64], 0), ([3, 0], [2], 0), ([0, 3], [0], 0),
          ([2, 2, 2, 2, 2], [3], 2), ([33, 5], [100], 0), ([6, 16], [9], -2), ([2, 300], [7], 1), ([1, 1], [1, 1], 0), ([40, 17], [33], 0)]  # fmt: skip
ELEMENTS = [([5], [3], 0), ([5], [9], 0), ([3, 4], [2, 4], 0), ([3, 4], [3, 7], 1), ([3, 4], [1, 1], 1), ([2, 3, 4], [2, 5, 4], 1),
            ([2, 3, 4], [1, 2, 9], -1), ([3, 4], [0, 4], 0), ([2, 2, 2, 2, 2], [2, 1, 2, 3, 1], 3), ([64, 64], [64, 64], 1),
            ([1, 1, 5], [1, 1, 3], 2), ([5, 1], [8, 1], 0), ([3, 4], [5, 4], -2), ([2, 0], [2, 0], 1), ([70, 3], [100, 2], 0)]  # fmt: skip
# data, indices, batch_dims
TUPLES = [([5], [3, 1], 0), ([4, 5], [3, 2], 0), ([4, 5], [3, 1], 0), ([2, 3, 4], [2, 2], 0), ([2, 3, 4], [2], 0), ([2, 3, 4], [1, 1, 3], 0),
          ([2, 3, 4], [0, 2], 0), ([3, 0, 2], [4, 1], 0), ([2, 3, 4], [2, 3, 1], 1), ([2, 3, 4], [2, 3, 2, 1], 2), ([2, 2, 2, 2], [2, 2, 2], 1),
          ([30, 5], [77, 2], 0), ([30, 5], [77, 1], 0), ([3, 9], [3, 20, 1], 1)]  # fmt: skip
SHAPES = {"Gather": GATHER, "GatherElements": ELEMENTS, "GatherND": TUPLES}
# Types that only an operator of ours takes, on request: those of ONNX Runtime's own have no such kernel, and its schema no such type.
WIDER = {"FLOAT8E4M3FN": 19, "FLOAT8E4M3FNUZ": 19, "FLOAT8E5M2": 19, "FLOAT8E5M2FNUZ": 19, "UINT4": 21, "INT4": 21}
NARROW = {"FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn, "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "FLOAT8E5M2": ml_dtypes.float8_e5m2,
          "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "UINT4": ml_dtypes.uint4, "INT4": ml_dtypes.int4}  # fmt: skip

# The operators of com.microsoft are replaced only where the option names them.
ALL_TYPES = {"gather.types": "all"}
ALSO_MICROSOFT = {"gather.operators": "Gather,GatherElements,GatherND,GatherBlockQuantized"}

DIFFERENCES = {"strings": "ONNX Runtime's own Gather leaves all strings of a row empty but the first (seen in 1.17.0 to 1.32.0)"}


@dataclass
class Case:
    name: str
    model: bytes
    feeds: dict[str, np.ndarray]
    op: str
    expected: np.ndarray  # by NumPy
    difference: str = ""
    folded: bool = False  # all is constant: ONNX Runtime may compute it with its own kernels when the model is loaded
    wider: bool = False  # a type that only the operators of ours take, on request
    nans: bool = False  # its NaNs may have another sign and payload than the built-in's: float8 to float differs there
    fault: str = ""  # what the message of an error must match; the built-in's text is another
    config: dict = field(default_factory=dict)  # entries of the session


# ---- what NumPy says


def gather_nd(data: np.ndarray, indices: np.ndarray, batch: int) -> np.ndarray:
    if batch:
        parts = [gather_nd(d, i, batch - 1) for d, i in zip(data, indices, strict=True)]
        return np.stack(parts) if parts else np.empty((0,), data.dtype)
    return data[tuple(np.moveaxis(indices, -1, 0))]


def gather_elements(data: np.ndarray, indices: np.ndarray, axis: int) -> np.ndarray:
    axis %= data.ndim
    cut = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))
    return np.take_along_axis(data[cut], indices, axis)


def oracle(op: str, data: np.ndarray, indices: np.ndarray, number: int) -> np.ndarray:
    if op == "Gather":
        return np.take(data, indices, axis=number)
    return gather_elements(data, indices, number) if op == "GatherElements" else gather_nd(data, indices, number)


# ---- the tensors


def values(rng, kind: str, shape) -> np.ndarray:
    if kind == "string":
        return np.array([f"word {n} ü" * int(rng.integers(1, 4)) for n in range(int(np.prod(shape)))], dtype=object).reshape(shape)
    if kind == "bfloat16":
        return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    size = np.dtype(kind).itemsize * int(np.prod(shape))
    array = np.frombuffer(rng.bytes(size), kind).reshape(shape)
    return np.nan_to_num(array) if kind.startswith("float") else array


def lengths(op: str, data, indices, number: int) -> np.ndarray:
    """The length that each index has to be below."""
    if op == "GatherND":
        return np.broadcast_to(np.array(data[number : number + indices[-1]], np.int64), indices)
    return np.full(indices, data[number])


def indices_for(rng, op: str, data, indices, number: int, kind: str) -> np.ndarray:
    limit = lengths(op, data, indices, number)
    if np.prod(indices) and (limit == 0).any():
        raise ValueError(f"no index is valid: {op} {data} {indices}")
    return np.asarray(rng.integers(-limit, np.maximum(limit, 1)), kind).reshape(indices)


def is_wrong_for_strings(op: str, data, indices, number: int) -> bool:
    """Whether a slice that one index selects has several strings, which ONNX Runtime's Gather does not copy."""
    return op == "Gather" and int(np.prod(data[number % len(data) + 1 :])) > 1 and int(np.prod(indices)) * int(np.prod(data)) > 0


# ---- the models


def onnx_type(array: np.ndarray) -> int:
    return TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)


def constant(name: str, array: np.ndarray):
    if array.dtype == object:
        return helper.make_tensor(name, TensorProto.STRING, array.shape, [text.encode() for text in array.ravel()])
    return helper.make_tensor(name, onnx_type(array), array.shape, array.tobytes(), raw=True)


def attribute_of(op: str, opset: int, number: int) -> dict:
    if op != "GatherND":
        return {"axis": number}
    return {"batch_dims": number} if opset >= 12 else {}


def model_of(op: str, opset: int, data: np.ndarray, indices: np.ndarray, number: int, constants: str, domain: str = "", name="the_node") -> tuple[bytes, dict]:
    """The model and what is fed. `constants` has "d" where the data is in the model, "i" where the indices are. What NumPy has no
    type for leaves the model as float32."""
    tensors = {"data": data, "indices": indices}
    fixed = [key for key in tensors if key[0] in constants]
    inputs = [helper.make_tensor_value_info(key, onnx_type(array), array.shape) for key, array in tensors.items() if key not in fixed]
    initializers = [constant(key, tensors[key]) for key in fixed]
    foreign = data.dtype != object and not isinstance(data.dtype.type(0), (np.number, np.bool_)) or data.dtype.name == "bfloat16"
    nodes = [helper.make_node(op, ["data", "indices"], ["y"], name=name, domain=domain, **attribute_of(op, opset if not domain else 13, number))]
    if foreign:
        nodes.append(helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT))
    output = helper.make_tensor_value_info("z" if foreign else "y", TensorProto.FLOAT if foreign else onnx_type(data), None)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    version = IR if opset < 19 else 10
    graph = helper.make_graph(nodes, "g", inputs, [output], initializers)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=version)
    return model.SerializeToString(), {key: array for key, array in tensors.items() if key not in fixed}


def case_of(rng, op: str, opset: int, kind: str, index_kind: str, shapes, constants: str, domain: str = "") -> Case:
    data_shape, index_shape, number = shapes
    data = values(rng, kind, data_shape)
    indices = indices_for(rng, op, data_shape, index_shape, number, index_kind)
    if kind == "bfloat16" and "d" not in constants:
        constants += "d"  # NumPy cannot hand it over
    model, feeds = model_of(op, opset, data, indices, number, constants, domain)
    expected = np.asarray(oracle(op, data, indices, number), data.dtype)
    name = f"{domain + '.' if domain else ''}{op}-{opset} {kind}{data_shape} {index_kind}{index_shape} at {number} {constants or 'fed'}"
    difference = "strings" if kind == "string" and is_wrong_for_strings(op, *shapes) else ""
    found = Case(name, model, feeds, op, expected.astype(np.float32) if kind == "bfloat16" else expected, difference)
    found.folded, found.config = "d" in constants and "i" in constants, ALSO_MICROSOFT if domain else {}
    return found


def possible(op: str, opset: int, kind: str, index_kind: str, shapes) -> bool:
    if kind == "bfloat16" and opset < 13:
        return False
    if op == "GatherND" and (index_kind != "int64" or (opset < 12 and shapes[2])):
        return False
    return True


def random_cases(seed: int, count: int | None = None) -> list[Case]:
    """All types, index types, shapes and opsets of each operator; of these `count` chosen at random, or all."""
    rng = np.random.default_rng(seed)
    wanted = [(op, opset, kind, index_kind, shapes) for op in OPSETS for opset in OPSETS[op] for kind in TYPES for index_kind in ("int64", "int32")
              for shapes in SHAPES[op] if possible(op, opset, kind, index_kind, shapes)]
    if count is not None:
        wanted = [wanted[n] for n in sorted(rng.choice(len(wanted), count, replace=False))]
    found = [case_of(rng, *row, str(rng.choice(["", "d", "i", "di"]))) for row in wanted]
    if count is None:
        found += [case_of(rng, "GatherND", 13, kind, "int32", shapes, "", "com.microsoft") for kind in TYPES for shapes in TUPLES if not shapes[2]]
    return found


# ---- types of our own, and faults


def wider_cases(seed: int) -> list[Case]:
    rng, found = np.random.default_rng(seed), []
    for kind, opset in WIDER.items():
        for op, (data_shape, index_shape, number) in (("Gather", ([5, 4], [3], 0)), ("Gather", ([3, 5], [2], 1)), ("GatherElements", ([4, 6], [3, 6], 0)),
                                                      ("GatherND", ([4, 6], [5, 2], 0))):
            data = rng.integers(0, 8, data_shape).astype(NARROW[kind])
            indices = indices_for(rng, op, data_shape, index_shape, number, "int64")
            expected = np.asarray(oracle(op, data.astype(np.float32), indices, number))
            model, feeds = wider_model(op, opset, kind, data, indices, number)
            found.append(Case(f"{op}-{opset} {kind}{data_shape} int64{index_shape} at {number}", model, feeds, op, expected, wider=True, config=ALL_TYPES))
    return found


def wider_model(op: str, opset: int, kind: str, data: np.ndarray, indices: np.ndarray, number: int) -> tuple[bytes, dict]:
    """The data comes from a Cast, for NumPy has no such arrays, and leaves through one."""
    to = getattr(TensorProto, kind)
    nodes = [helper.make_node("Cast", ["x"], ["data"], to=to),
             helper.make_node(op, ["data", "indices"], ["y"], name="the_node", **attribute_of(op, opset, number)),
             helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, data.shape), helper.make_tensor_value_info("indices", TensorProto.INT64, indices.shape)]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return model.SerializeToString(), {"x": data.astype(np.float32), "indices": indices}


def fault_cases(seed: int) -> list[Case]:
    """One index out of range, on either side; a message must have the node, the position, the index and the range."""
    rng, found = np.random.default_rng(seed), []
    places = [("Gather", ([4, 3], [2, 5], 0), (1, 2), 4), ("Gather", ([2, 7], [6], 1), (4,), 7), ("GatherElements", ([3, 4], [3, 2], 1), (2, 1), 4),
              ("GatherND", ([4, 5], [6, 2], 0), (3, 1), 5), ("GatherND", ([2, 3, 4], [2, 5, 1], 1), (1, 4, 0), 3)]
    for op, (data_shape, index_shape, number), place, length in places:
        for index in (length, -length - 1, 2**31 - 1, -(2**40)):
            data = values(rng, "float32", data_shape)
            indices = indices_for(rng, op, data_shape, index_shape, number, "int64")
            indices[place] = index
            model, feeds = model_of(op, 13, data, indices, number, "")
            at = r",\s*".join(str(n) for n in place)
            text = rf"(?s)(?=.*the_node)(?=.*\[{at}\])(?=.*(?<![\d-]){index}(?!\d))(?=.*\[-{length}, {length - 1}\])"
            found.append(Case(f"{op} {data_shape} {index_shape} with {index} at {place}", model, feeds, op, data, fault=text))
    return found


# ---- quantised tables


def quantised_cases(seed: int, count: int) -> list[Case]:
    """Random nodes of com.microsoft GatherBlockQuantized; quantized_cases.py of tests/model draws them."""
    sys.path.append(str(Path(__file__).parents[1] / "model"))
    import quantized_cases as quantised

    rng, found = np.random.default_rng(seed), []
    for n in range(count):
        case = quantised.draw(rng, bad=False)
        model = quantised.model_of(case, indices_given=True, opset=21)
        model.ir_version = 10
        expected = np.asarray(quantised.expected(case))
        name = f"GatherBlockQuantized {n}: {case.kind} {case.scale_kind} {case.data.shape} {case.indices.shape} {case.attributes}"
        found.append(Case(name, model.SerializeToString(), {"indices": case.indices}, "GatherBlockQuantized", expected, config=ALSO_MICROSOFT, nans=bool(np.isnan(expected.astype(np.float32)).any())))
    return found
