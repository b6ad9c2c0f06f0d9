# SPDX-License-Identifier: MIT
"""The corpus of models with quantised tables, for make_corpus.py: GatherBlockQuantized, DequantizeLinear, and OpenVINO's compressed
constants; good ones, and each with something that is wrong."""
import struct

# ONNX's numbers of types.
FLOAT, UINT8, INT8, INT64, HALF, F8, UINT4, INT4, F4 = 1, 2, 3, 7, 10, 17, 21, 22, 23
BYTES = {FLOAT: 4, INT64: 8, HALF: 2}


def onnx_files(m) -> list[bytes]:
    """m: make_corpus."""
    microsoft = m.block(8, m.block(1, "com.microsoft") + m.number(2, 1))

    def constant(name: str, kind: int, dims: list[int], size: int | None = None) -> bytes:
        count = 1
        for dim in dims:
            count *= dim
        whole = (count + 1) // 2 if kind in (UINT4, INT4, F4) else count * BYTES.get(kind, 1)
        content = bytes(i * 37 % 251 for i in range(min(whole, 4096) if size is None else size))
        if kind == FLOAT:
            content = struct.pack("<f", 0.5) * (len(content) // 4) + content[: len(content) % 4]
        return m.block(5, m.tensor(kind, dims, m.block(9, content), name=name))

    def ids(*numbers: int) -> bytes:
        return m.block(5, m.tensor(INT64, [len(numbers)], m.block(7, b"".join(m.varint(i) for i in numbers)), name="i"))

    def blocks(kind: int, dims, scales, points=None, scale_kind=FLOAT, inputs=("x", "i", "s", "z"), numbers=(0, -1, 9), **said: int) -> bytes:
        attributes = [m.attribute(name, 2, m.number(3, value)) for name, value in said.items()]
        parts = constant("x", kind, dims) + constant("s", scale_kind, scales) + ids(*numbers)
        parts += constant("z", kind, points) if points is not None else b""
        used = list(inputs) if points is not None or inputs != ("x", "i", "s", "z") else list(inputs[:3])
        node = m.node("GatherBlockQuantized", used, ["y"], *attributes, name="g", domain="com.microsoft")
        return m.model(parts + node + m.value(12, "y", scale_kind), microsoft)

    files = [blocks(INT4, [3, 20], [3, 2], block_size=16), blocks(UINT4, [3, 20], [3, 2], [3, 2], block_size=16),
             blocks(UINT8, [3, 20], [3, 3], [3, 2], block_size=16), blocks(UINT8, [3, 5], [3, 2], [3, 1], bits=2, block_size=16),
             blocks(UINT8, [3, 20], [3, 2], [3, 2], HALF, bits=8, block_size=16), blocks(F8, [3, 20], [1, 1], block_size=0),
             blocks(F4, [20, 3], [2, 1], quantize_axis=0, gather_axis=1, block_size=16), blocks(INT4, [20], [2], quantize_axis=0),
             blocks(INT4, [20, 3], [2, 3], [2, 3], quantize_axis=0, gather_axis=0, block_size=16)]
    files += [blocks(INT4, [3, 20], [3, 2], block_size=size) for size in (0, 1, 8, 24, -16, 1 << 62, -(1 << 63), (1 << 63) - 1)]
    files += [blocks(UINT8, [3, 20], [3, 3], bits=bits, block_size=16) for bits in (0, 1, 3, 16, -4, 1 << 40)]
    files += [blocks(INT4, [3, 20], [3, 2], block_size=16, **{name: value}) for name in ("quantize_axis", "gather_axis") for value in (2, -3, 1 << 40)]
    files += [blocks(INT4, [3, 20], scales, block_size=16) for scales in ([3, 1], [3, 3], [2, 2], [6], [3, 2, 1], [], [0, 2], [1, 2])]
    files += [blocks(UINT8, [3, 20], [3, 3], points, block_size=16) for points in ([3, 3], [3, 1], [3], [0, 2], [])]
    files += [blocks(INT4, [3, 20], [3, 2], inputs=inputs, block_size=16)
              for inputs in (("x", "i"), ("x", "i", ""), ("x", "i", "s", ""), ("x", "", "s"), ("", "i", "s"), ("x", "i", "s", "s"),
                             ("s", "i", "x"), ("x", "i", "i"), ("x", "i", "s", "z", "z"), ("x", "i", "y"))]
    files += [blocks(INT4, dims, scales, block_size=16) for dims, scales in (([0, 20], [0, 2]), ([3, 0], [3, 0]), ([], []), ([1 << 40, 20], [3, 2]))]
    files += [blocks(UINT8, [0, 1 << 62], [0, 1], bits=2, block_size=16), blocks(FLOAT, [3, 20], [3, 2], block_size=16)]

    def linear(kind: int, dims, scales, points=None, opset: int = 21, short: int | None = None, **said: int) -> bytes:
        attributes = [m.attribute(name, 2, m.number(3, value)) for name, value in said.items()]
        parts = constant("x", kind, dims, short) + constant("s", FLOAT, scales) + ids(0, -1)
        parts += constant("z", kind, points) if points is not None else b""
        nodes = m.node("DequantizeLinear", ["x", "s"] + (["z"] if points is not None else []), ["t"], *attributes, name="d")
        nodes += m.node("Gather", ["t", "i"], ["y"], name="g")
        return m.model(parts + nodes + m.value(12, "y", FLOAT) + m.value(12, "t", FLOAT)).replace(m.number(2, 13), m.number(2, opset))

    files += [linear(INT8, [3, 4], []), linear(UINT8, [3, 4], [3], [3], axis=0), linear(INT4, [3, 4], [3, 2], [3, 2], axis=1, block_size=2),
              linear(UINT8, [3, 4], [2], axis=0), linear(INT8, [3, 4], [3, 1], axis=1, block_size=2), linear(INT8, [3, 4], [], short=5),
              linear(INT8, [3, 4], [4], axis=9), linear(INT8, [3, 4], [3, 4], axis=0, block_size=-1), linear(FLOAT, [3, 4], []),
              linear(F8, [3, 4], [], []), linear(INT8, [3, 4], [], output_dtype=10), linear(INT8, [3, 4], [], output_dtype=99)]
    return files


def ir_files(m) -> list[bytes]:
    """A table at the beginning of the weights, scales behind it."""
    def constant(number: int, kind: str, shape: str, offset: int, size: int) -> str:
        return m.ir_layer(number, "Const", f'element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"')

    def net(kind="u8", shape="3,4", size=12, scale=("f32", "3,1", 12, 12), point=("u8", "1", 3, 1), middle="f32", version="opset8", reshape=None) -> bytes:
        layers = [constant(0, kind, shape, 0, size), m.ir_layer(1, "Convert", f'destination_type="{middle}"', 1),
                  constant(2, *point), m.ir_layer(3, "Convert", f'destination_type="{middle}"', 1), m.ir_layer(4, "Subtract", 'auto_broadcast="numpy"', 2),
                  constant(5, *scale), m.ir_layer(6, "Multiply", 'auto_broadcast="numpy"', 2), constant(7, "i64", "2", 40, 16),
                  constant(8, "i64", "", 0, 8), m.ir_layer(9, "Gather", 'batch_dims="0"', 3), m.ir_layer(10, "Result", "", 1, 0)]
        edges = [(0, 0, 1, 0), (1, 1, 4, 0), (2, 0, 3, 0), (3, 1, 4, 1), (4, 2, 6, 0), (5, 0, 6, 1), (7, 0, 9, 1), (8, 0, 9, 2), (9, 3, 10, 0)]
        if reshape:
            layers += [constant(11, "i64", reshape[0], reshape[1], reshape[2]), m.ir_layer(12, "Reshape", 'special_zero="false"', 2)]
            edges += [(6, 2, 12, 0), (11, 0, 12, 1), (12, 2, 9, 0)]
        else:
            edges += [(6, 2, 9, 0)]
        return m.ir_net(layers, edges).replace("opset8", version).encode()

    good = net()
    files = [good, net(version="opset7"), net("i4", "3,4", 6), net("nf4", "3,4", 6, middle="f16"), net("f8e4m3"), net("u3", "3,8", 9), net("u1", "3,8", 3)]
    files += [net(scale=(kind, shape, 12, size)) for kind, shape, size in (("f32", "4", 16), ("f32", "2,1", 8), ("f32", "3,1,1", 12),
                                                                          ("f16", "3,1", 6), ("i8", "3,1", 3), ("f32", "3,1", 400), ("f32", "0,1", 0))]
    files += [net(point=point) for point in (("f32", "3,1", 4, 12), ("u8", "5", 3, 5), ("u4", "3,1", 3, 2), ("u8", "1", 300, 1))]
    files += [net(middle=middle) for middle in ("f16", "bf16", "f64", "i32", "x", "f8e5m2")]
    files += [net(shape="3,2,2", reshape=("2", 60, 16)), net(shape="1048576,1048576", size=12), net(size=11)]
    return [*files, good.replace(b'"Subtract"', b'"Add"'), good.replace(b'"Multiply"', b'"Divide"'), good.replace(b'"Convert"', b'"Relu"')]


def quantised_model_files(m) -> list[bytes]:
    return onnx_files(m) + ir_files(m)
