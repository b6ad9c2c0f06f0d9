# SPDX-License-Identifier: MIT
"""Other decoders, bit for bit: ONNX Runtime's GatherBlockQuantized, OpenVINO's decompression, torch's row-wise tables, bitsandbytes.

Those that are not installed are skipped by name. Where a reference is wrong, docs/extend/readings.md says so, and the test shows it.
"""
import ctypes
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import native
from support.skip import skip_test
from test_blocks import BLOCKS, random_blocks


def module(name: str):
    try:
        return __import__(name, fromlist=["x"])
    except ImportError as why:
        skip_test(name.split(".")[0], str(why))


# ---- ggml


def ggml() -> ctypes.CDLL:
    """The library that pywhispercpp and other packages carry."""
    for folder in sys.path:
        for path in sorted(Path(folder or ".").glob("libggml-base.so*")):
            return ctypes.CDLL(str(path))
    skip_test("ggml", "no package with libggml-base.so")


@pytest.mark.parametrize("name", BLOCKS)
def test_ggml_rows(name: str) -> None:
    """dequantize_row_* of a compiled ggml, row by row: it fuses nothing."""
    function = getattr(ggml(), "dequantize_row_" + name.lower().replace("_k", "_K"), None)
    if function is None:
        skip_test("ggml", f"this one has no {name}")
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64], None
    data = random_blocks(name, 200, 3, 9)
    theirs = np.empty((200, 3 * BLOCKS[name][0]), np.float32)
    for row, out in zip(data, theirs):
        function(row.ctypes.data, out.ctypes.data, out.size)
    assert native.same(native.dequantize(native.describe(name, data)), theirs)


# ---- ONNX Runtime

ONNX = {"uint8": 2, "int4": 22, "uint4": 21, "float8_e4m3fn": 17, "float8_e5m2": 19, "float32": 1, "float16": 10, "bfloat16": 16, "int64": 7}


def bytes_of(array, name: str) -> bytes:
    return native.Packed(name, 4, array).bytes.tobytes() if name in ("int4", "uint4") else array.tobytes()


def onnxruntime_gives(data, kind: str, indices, scales, scale_kind: str, zeros=None, **attributes):
    """One node, its output as the type of the scales."""
    onnx, ort = module("onnx"), module("onnxruntime")
    h = onnx.helper

    def constant(name, array, kind):
        return h.make_tensor(name, ONNX[kind], array.shape, bytes_of(array, kind), raw=True)

    initial = [constant("data", data, kind), constant("scales", scales, scale_kind)]
    if zeros is not None:
        initial.append(constant("zeros", zeros, kind))
    names = ["data", "indices", "scales"] + (["zeros"] if zeros is not None else [])
    node = h.make_node("GatherBlockQuantized", names, ["out"], domain="com.microsoft", **attributes)
    graph = h.make_graph(
        [node],
        "g",
        [h.make_tensor_value_info("indices", ONNX["int64"], indices.shape)],
        [h.make_tensor_value_info("out", ONNX[scale_kind], None)],
        initial,
    )
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 21), h.make_opsetid("com.microsoft", 1)], ir_version=10)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"indices": indices})[0]


def scales_of(rng, shape, kind: str) -> np.ndarray:
    return (rng.standard_normal(shape) * 3).astype(kind)


@pytest.mark.parametrize("scale_kind", ["float32", "float16"])
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("with_zeros", [False, True])
def test_onnxruntime_bytes(bits: int, with_zeros: bool, scale_kind: str) -> None:
    """uint8: packed along the last axis; the default zero point is 2^(bits-1); zero points are packed, each row to whole bytes."""
    rng = np.random.default_rng(bits)
    for block, blocks, short in ((16, 3, 0), (32, 5, 8), (128, 1, 0)):
        k = block * blocks - short
        data = rng.integers(0, 256, (9, k * bits // 8), dtype=np.uint8)
        scales = scales_of(rng, (9, blocks), scale_kind)
        zeros = rng.integers(0, 256, (9, -(-blocks * bits // 8)), dtype=np.uint8) if with_zeros else None
        indices = rng.integers(-9, 9, (4, 3))
        theirs = onnxruntime_gives(
            data, "uint8", indices, scales, scale_kind, zeros, bits=bits, block_size=block, gather_axis=0, quantize_axis=1
        )
        small = {2: "uint2", 4: "uint4", 8: "uint8"}[bits]
        ours = native.describe(
            "affine",
            data,
            code_type=small,
            scale=scales,
            group_len=block,
            zero_point=zeros,
            zero_point_type=small if with_zeros else None,
            code_offset=0 if with_zeros else 1 << (bits - 1),
        )
        assert native.same(native.take(ours, indices, 0, scale_kind), theirs), (block, blocks)


@pytest.mark.parametrize("kind", ["int4", "uint4"])
def test_onnxruntime_typed(kind: str) -> None:
    """int4 and uint4: every gather axis, every quantize axis, with and without zero points (default 0), rows of an odd length."""
    rng = np.random.default_rng(5)
    low = -8 if kind == "int4" else 0
    for shape in ((5, 33), (3, 4, 18), (2, 35, 3)):
        for gather_axis in range(len(shape)):
            for quantize_axis in range(len(shape)):
                for with_zeros in (False, True):
                    data = rng.integers(low, low + 16, shape).astype(np.int8)
                    groups = tuple(-(-n // 16) if d == quantize_axis else n for d, n in enumerate(shape))
                    scales = scales_of(rng, groups, "float32")
                    zeros = rng.integers(low, low + 16, groups).astype(np.int8) if with_zeros else None
                    indices = rng.integers(-shape[gather_axis], shape[gather_axis], (2, 3))
                    theirs = onnxruntime_gives(
                        data, kind, indices, scales, "float32", zeros, bits=4, block_size=16, gather_axis=gather_axis, quantize_axis=quantize_axis
                    )
                    ours = native.describe(
                        "affine",
                        native.Packed(kind, 4, data),
                        scale=scales,
                        zero_point=None if zeros is None else native.Packed(kind, 4, zeros),
                        group_axis=quantize_axis,
                        group_len=16,
                    )
                    assert native.same(native.take(ours, indices, gather_axis), theirs), (shape, gather_axis, quantize_axis)


def test_onnxruntime_out_of_range_is_zeros() -> None:
    """Its rule for an index out of range is the policy `zero`; negative indices count from the end."""
    rng = np.random.default_rng(6)
    data, scales = rng.integers(0, 256, (4, 16), dtype=np.uint8), scales_of(rng, (4, 2), "float32")
    indices = np.array([[0, 4], [-5, -4]])
    theirs = onnxruntime_gives(data, "uint8", indices, scales, "float32", bits=4, block_size=16, gather_axis=0, quantize_axis=1)
    ours = native.describe("affine", data, code_type="uint4", scale=scales, group_len=16, code_offset=8)
    with pytest.raises(native.GatherFailed, match=r"indices\[0, 1\] = 4 is outside \[-4, 3\]"):
        native.take(ours, indices)
    assert native.same(native.take(ours, indices, on_bad=4), theirs)


# ---- OpenVINO


@pytest.mark.parametrize("kind", ["u8", "i8", "u4", "i4"])
def test_openvino_decompression(kind: str) -> None:
    """(Convert(codes) - Convert(zero point)) * scale, in groups, as its constants are compressed."""
    ov = module("openvino")
    ops = module("openvino.opset13")
    rng = np.random.default_rng(7)
    n, groups, each = 6, 3, 16
    low, high = {"u8": (0, 256), "i8": (-128, 128), "u4": (0, 16), "i4": (-8, 8)}[kind]
    codes = rng.integers(low, high, (n, groups, each)).astype(np.int16)
    zeros = rng.integers(low, high, (n, groups, 1)).astype(np.int16)
    scales = scales_of(rng, (n, groups, 1), "float32")
    mine = {"u8": "uint8", "i8": "int8", "u4": "uint4", "i4": "int4"}[kind]

    def stored(values):
        return native.Packed(mine, 4, values) if kind[1] == "4" else values.astype(mine)

    def constant(values):
        ov_type = getattr(ov.Type, kind)
        if kind[1] == "4":
            t = ov.Tensor(ov_type, ov.Shape(values.shape))
            t.data[:] = native.Packed(mine, 4, values).bytes.view(t.data.dtype)[: t.data.size].reshape(t.data.shape)
            return ops.constant(t)
        return ops.constant(values.astype(mine), ov_type)

    difference = ops.subtract(ops.convert(constant(codes), "f32"), ops.convert(constant(zeros), "f32"))
    table = ops.reshape(ops.multiply(difference, ops.constant(scales)), np.array([n, groups * each]), False)
    indices = rng.integers(0, n, (5,)).astype(np.int64)
    parameter = ops.parameter([5], ov.Type.i64)
    model = ov.Model([ops.gather(table, parameter, np.int64(0))], [parameter])
    theirs = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([indices])[0]
    ours = native.describe("affine", stored(codes), zero_point=stored(zeros), scale=scales, groups=(1, 1, 0))
    assert native.same(native.take(ours, indices).reshape(5, -1), theirs)


# ---- torch


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_torch_rows(bits: int) -> None:
    """Rows with their scale and bias at the end, as torch packs them. It and FBGEMM fuse the product and the sum."""
    torch = module("torch")
    name = "byte" if bits == 8 else f"{bits}bit"
    ops = torch.ops.quantized
    torch.manual_seed(bits)
    table = torch.randn(40, 96) * torch.rand(40, 1) * 50
    packed = getattr(ops, f"embedding_bag_{name}_prepack")(table)
    theirs = getattr(ops, f"embedding_bag_{name}_unpack")(packed).numpy()
    ours = native.describe(f"rowwise{bits}", packed.numpy())
    assert native.same(native.dequantize(ours), theirs)
    indices = torch.randint(0, 40, (50,))
    bags = getattr(ops, f"embedding_bag_{name}_rowwise_offsets")(packed, indices, torch.arange(50))
    assert native.same(native.take(ours, indices.numpy()), bags.numpy())


# ---- bitsandbytes


def bitsandbytes_state(rows: int, columns: int, kind: str, nested: bool, dtype: str):
    functional, torch = module("bitsandbytes.functional"), module("torch")
    torch.manual_seed(columns)
    table = torch.randn(rows, columns).to(getattr(torch, dtype))
    packed, state = functional.quantize_4bit(table, blocksize=64, compress_statistics=nested, quant_type=kind)
    nested_fields = {}
    if nested:
        inner = state.state2
        nested_fields = {
            "scale_table": inner.code.numpy(),
            "scale_scale": inner.absmax.numpy(),
            "scale_group_len": inner.blocksize,
            "scale_offset": float(state.offset),
        }
    ours = native.describe(
        kind,
        packed.numpy(),
        order=1,
        shape=(rows, columns),
        scale=state.absmax.numpy(),
        flat_groups=True,
        group_len=64,
        **nested_fields,
    )
    return functional, packed, state, ours


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("kind", ["nf4", "fp4"])
def test_bitsandbytes(kind: str, nested: bool, dtype: str) -> None:
    """Blocks of 64 across rows, high nibble first; scales by themselves or as codes of a table."""
    torch = module("torch")
    for rows, columns in ((33, 64), (40, 128), (31, 100)):
        functional, packed, state, ours = bitsandbytes_state(rows, columns, kind, nested, dtype)
        # As one long row: its kernel for CPUs takes the wrong block where a row is not whole blocks (docs/extend/readings.md).
        state.shape = torch.Size([rows * columns])
        theirs = functional.dequantize_4bit(packed, state).reshape(rows, columns)
        if kind == "fp4":  # code 8 is -0 in its fallback, 0 in its kernel and its table (docs/extend/readings.md)
            theirs = theirs + 0
        as_bits = theirs.view(torch.int32 if dtype == "float32" else torch.int16).numpy()
        kinds = {"bfloat16": ml_dtypes.bfloat16}
        assert native.same(native.dequantize(ours, dtype), as_bits.view(kinds.get(dtype, dtype)))
        indices = np.random.default_rng(1).integers(-rows, rows, 20)
        assert native.same(native.take(ours, indices), native.dequantize(ours)[indices])


def test_bitsandbytes_of_rows_that_are_not_whole_blocks() -> None:
    """The reading: the kernel for CPUs of 0.50 decodes other numbers for a table of 96 columns than for the same codes in one row."""
    torch = module("torch")
    functional, packed, state, ours = bitsandbytes_state(33, 96, "nf4", False, "float32")
    whole = functional.QuantState(
        absmax=state.absmax, shape=torch.Size([33 * 96]), code=state.code, blocksize=64, quant_type="nf4", dtype=torch.float32
    )
    assert native.same(native.dequantize(ours), functional.dequantize_4bit(packed, whole).reshape(33, 96).numpy())


# ---- MLX


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_mlx_affine(bits: int) -> None:
    """Words of 32 bits with codes across their borders; (q * scale) + bias in float32."""
    mx = module("mlx.core")
    mx.set_default_device(mx.cpu)
    table = np.random.default_rng(bits).standard_normal((9, 256)).astype(np.float32)
    for each in (32, 64, 128):
        words, scales, biases = mx.quantize(mx.array(table), group_size=each, bits=bits)
        theirs = np.array(mx.dequantize(words, scales, biases, group_size=each, bits=bits))
        ours = native.describe(
            "biased", np.array(words), code_type="uint8", code_bits=bits, scale=np.array(scales), bias=np.array(biases), group_len=each
        )
        assert native.same(native.dequantize(ours), theirs)


@pytest.mark.parametrize(("mode", "each", "code", "scale"), [("mxfp4", 32, "float4_e2m1fn", "float8_e8m0fnu"), ("mxfp8", 32, "float8_e4m3fn", "float8_e8m0fnu"), ("nvfp4", 16, "float4_e2m1fn", "float8_e4m3fn")])
def test_mlx_floats(mode: str, each: int, code: str, scale: str) -> None:
    """Blocks of small floats, scaled by a power of two or by an E4M3: value * scale."""
    mx = module("mlx.core")
    mx.set_default_device(mx.cpu)
    table = np.random.default_rng(1).standard_normal((9, 256)).astype(np.float32)
    bits = 8 if mode == "mxfp8" else 4
    words, scales = mx.quantize(mx.array(table), group_size=each, bits=bits, mode=mode)
    theirs = np.array(mx.dequantize(words, scales, group_size=each, bits=bits, mode=mode).astype(mx.float32))
    ours = native.describe("float", np.array(words), code_type=code, scale=np.array(scales), scale_type=scale, group_len=each)
    assert native.same(native.dequantize(ours), theirs)
