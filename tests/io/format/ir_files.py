# SPDX-License-Identifier: MIT
"""OpenVINO IR made by hand for the tests, and how this library opens it."""
from __future__ import annotations

import ctypes as c
from contextlib import contextmanager
from typing import Iterator

import gather_files as g
import numpy as np
import pytest
from gather_files import LIB, FileTensor, GatherError, P, String, check, handle

LIB.gather_file_len.restype, LIB.gather_file_len.argtypes = c.c_int64, [P]
LIB.gather_file_find.restype = c.c_int
LIB.gather_file_find.argtypes = [P, c.c_char_p, c.POINTER(c.POINTER(FileTensor)), c.POINTER(g.Error)]

WHOLE = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "boolean": "bool",
         "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu"}
# How many elements stand in how many bytes.
PACKED = {"i4": ("int4", 2, 1), "u4": ("uint4", 2, 1), "nf4": ("nf4", 2, 1), "f4e2m1": ("float4_e2m1fn", 2, 1),
          "u2": ("uint2", 4, 1), "u1": ("uint1", 8, 1), "u3": ("uint3", 8, 3), "u6": ("uint6", 4, 3)}
SIZES = {"i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8}


class Model:
    """An open file's tensors by name."""

    def __init__(self, file) -> None:
        self.file = file
        self.format = LIB.gather_file_format(file).decode()
        self.tensors = [LIB.gather_file_at(file, i).contents for i in range(LIB.gather_file_len(file))]
        self.names = [tensor.name.decode() for tensor in self.tensors]

    def find(self, name: str) -> FileTensor:
        found, error = c.POINTER(FileTensor)(), g.Error()
        check(LIB.gather_file_find(self.file, name.encode(), c.byref(found), c.byref(error)), error)
        return found.contents


@contextmanager
def opened(source) -> Iterator[Model]:
    """A path, or the XML's bytes in memory."""
    with handle(source) as file:
        yield Model(file)


def strings(tensor: FileTensor) -> list[bytes]:
    views = (String * int(np.prod(tensor.shape))).from_address(tensor.tensor.data)
    return [c.string_at(c.cast(view.text, P), view.bytes) for view in views]


def refusal(source) -> GatherError:
    with pytest.raises(GatherError) as caught, opened(source):
        pass
    assert caught.value.file, "an error names its file"
    return caught.value


def unreadable(source) -> GatherError:
    """What keeps the elements of the first constant away; the model opens all the same."""
    with opened(source) as model:
        assert model.tensors[0].complaint
        return model.tensors[0].complaint


def layer(number: int, kind: str, data: str = "", inputs: int = 0, outputs: int = 1, name: str | None = None, more: str = "",
          names: str = "") -> str:
    said = f' names="{names}"' if names else ""
    ins = "".join(f'<port id="{i}" precision="I64"><dim>3</dim><dim>-1</dim></port>' for i in range(inputs))
    outs = "".join(f'<port id="{i + inputs}" precision="FP32"{said}><dim>2</dim></port>' for i in range(outputs))
    name = f"l{number}" if name is None else name
    return (f'<layer id="{number}" name="{name}" type="{kind}" version="opset8"><data {data}/>'
            f"<input>{ins}</input><output>{outs}</output>{more}</layer>")


def const(number: int, kind: str, shape: str, offset: int, size: int, **more) -> str:
    return layer(number, "Const", f'element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"', **more)


def net(layers: list[str], edges=(), element: str = 'net name="n" version="11"') -> bytes:
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{e}" to-port="{d}"/>' for a, b, e, d in edges)
    return f"<{element}><layers>{''.join(layers)}</layers><edges>{lines}</edges></{element.split()[0]}>".encode()


def put(folder, xml: bytes, binary: bytes | None = bytes(range(256)), name: str = "m") -> str:
    (folder / f"{name}.xml").write_bytes(xml)
    if binary is not None:
        (folder / f"{name}.bin").write_bytes(binary)
    return str(folder / f"{name}.xml")


GATHER = net([layer(4, "Result", "", 1, 0), layer(3, "Gather", 'batch_dims="0"', 3), const(0, "f32", "3, 2", 14, 24),
              const(1, "i32", "2", 3, 8), const(2, "i64", "", 12, 8)],
             [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0)])
