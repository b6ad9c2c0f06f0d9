# SPDX-License-Identifier: MIT
"""OpenVINO in a process of its own, since some inputs end it: cases go in by a pipe, answers come back, and a death is
an answer too.
"""

from __future__ import annotations

import functools
import multiprocessing
from dataclasses import dataclass

import numpy as np
from cases import ELEMENTS, ND, Case

FILL = 0xA5
SECONDS = 120  # for one case
# The names of OpenVINO's element types, by ours.
NAMES = {
    "bool": "boolean", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32",
    "int64": "i64", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "float8_e8m0fnu": "f8e8m0", "int4": "i4", "uint4": "u4",
    "string": "string",
}  # fmt: skip
OPSETS = {"openvino-1": "opset1", "openvino-5": "opset5", "openvino-6": "opset6", "openvino-7": "opset7", "openvino-8": "opset8"}
SETTINGS = {"INFERENCE_NUM_THREADS": 2, "EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_PRECISION_HINT": "f32"}


@dataclass
class Theirs:
    """What OpenVINO did. `out` is the output's memory as it was when the call ended."""

    result: np.ndarray | None = None
    error: str = ""
    out: np.ndarray | None = None
    died: int | None = None


@functools.lru_cache(maxsize=1)
def core():
    import openvino

    return openvino.Core()


@functools.lru_cache(maxsize=64)
def compiled(op: str, rules: str, type_: str, index_type: str, data: tuple, indices: tuple, axis: int, batch_dims: int):
    """A model of one node; a shape holds -1 where the model shall not know a length."""
    import importlib

    import openvino as ov

    opset = importlib.import_module(f"openvino.{OPSETS[rules]}")
    x = opset.parameter(ov.PartialShape(list(data)), getattr(ov.Type, NAMES[type_]))
    i = opset.parameter(ov.PartialShape(list(indices)), getattr(ov.Type, NAMES[index_type]))
    if op == ELEMENTS:
        node = opset.gather_elements(x, i, axis)
    elif op == ND:
        node = opset.gather_nd(x, i, batch_dims)
    else:
        extra = [batch_dims] if rules != "openvino-1" else []
        node = opset.gather(x, i, opset.constant(axis, np.int64), *extra)
    model = ov.Model([opset.result(node)], [x, i], "one_node")
    return core().compile_model(model, "CPU", SETTINGS)


def packed(array: np.ndarray) -> np.ndarray:
    """Four-bit numbers two in a byte, the first one in the low half."""
    nibbles = array.reshape(-1).view(np.uint8) & 15
    nibbles = np.append(nibbles, np.zeros(nibbles.size % 2, np.uint8))
    return nibbles[::2] | nibbles[1::2] << 4


def unpacked(raw: np.ndarray, dtype: np.dtype, shape: tuple) -> np.ndarray:
    nibbles = np.stack([raw & 15, raw >> 4], axis=-1).reshape(-1)[: int(np.prod(shape))]
    values = nibbles.astype(np.int8)
    if dtype.name == "int4":
        values = np.where(values > 7, values - 16, values).astype(np.int8)
    return values.astype(dtype).reshape(shape)


def tensor(raw: np.ndarray, type_: str, shape: tuple):
    """A tensor on these bytes."""
    import openvino as ov

    return ov.Tensor(raw, ov.Shape(list(shape)), getattr(ov.Type, NAMES[type_]))


def run(case: Case, static: bool) -> Theirs:
    """One case."""
    import openvino as ov

    shapes = [array.shape if static else (-1,) * array.ndim for array in (case.data, case.indices)]
    if case.op == ND:  # which must know the length of its tuples
        shapes[1] = (*shapes[1][:-1], case.indices.shape[-1])
    words = (case.op, case.rules, case.type, str(case.indices.dtype), *shapes, case.axis, case.batch_dims)
    out = None
    try:
        request = compiled(*words).create_infer_request()
        request.set_input_tensor(1, ov.Tensor(np.array(case.indices, order="C")))
        if case.type == "string":
            request.set_input_tensor(0, ov.Tensor(case.data.astype(str)))
            request.infer()
            return Theirs(request.get_output_tensor(0).str_data.astype(object))
        four_bits = case.type in ("int4", "uint4")
        raw = packed(case.data) if four_bits else np.ascontiguousarray(case.data).reshape(-1).view(np.uint8)
        elements = int(np.prod(case.out_shape))
        out = np.full((elements + 1) // 2 if four_bits else elements * case.data.itemsize, FILL, np.uint8)
        request.set_input_tensor(0, tensor(raw, case.type, case.data.shape))
        request.set_output_tensor(0, tensor(out, case.type, case.out_shape))
        request.infer()
        if four_bits:
            return Theirs(unpacked(out, case.data.dtype, case.out_shape), out=out)
        return Theirs(out.view(case.data.dtype).reshape(case.out_shape), out=out)
    except Exception as error:  # whatever it raises is what we ask for
        lines = [line for line in str(error).splitlines() if line.strip()]
        return Theirs(error=lines[-1] if lines else type(error).__name__, out=out)


def serve(pipe) -> None:
    while True:
        job = pipe.recv()
        if job is None:
            return
        pipe.send(run(*job))


class Child:
    """Answers cases; a new process follows one that died."""

    def __init__(self) -> None:
        self.process = None
        self.deaths = 0

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, case: Case, static: bool) -> Theirs:
        if self.process is None:
            self.start()
        try:
            self.pipe.send((case, static))
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
        except (EOFError, ConnectionError):
            pass
        self.process.kill()
        self.process.join()
        code, self.process = self.process.exitcode, None
        self.deaths += 1
        return Theirs(died=code)

    def close(self) -> None:
        if self.process is not None:
            self.pipe.send(None)
            self.process.join(10)
            self.process.kill()
