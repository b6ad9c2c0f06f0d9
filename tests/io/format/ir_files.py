# SPDX-License-Identifier: MIT
"""OpenVINO IR made by hand for the tests, and how this library opens it."""
import pytest
from gather_files import GatherError
from tensor_files import opened, strings  # noqa: F401

WHOLE = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
         "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "boolean": "bool",
         "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu"}
# How many elements stand in how many bytes.
PACKED = {"i4": ("int4", 2, 1), "u4": ("uint4", 2, 1), "nf4": ("nf4", 2, 1), "f4e2m1": ("float4_e2m1fn", 2, 1),
          "u2": ("uint2", 4, 1), "u1": ("uint1", 8, 1), "u3": ("uint3", 8, 3), "u6": ("uint6", 4, 3)}
SIZES = {"i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8}


def refusal(source) -> GatherError:
    with pytest.raises(GatherError) as caught, opened(source):
        pass
    assert caught.value.file, "an error names its file"
    return caught.value


def unreadable(source) -> GatherError:
    """What keeps the elements of the first constant away; the model opens all the same."""
    with opened(source) as model:
        assert model.all[0].complaint
        return model.all[0].complaint


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
