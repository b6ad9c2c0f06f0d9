# SPDX-License-Identifier: MIT
"""Makes the small corpus that the fuzz targets start from: FOLDER/npy, FOLDER/raw and so on.

Standard library, corpus_*.py and tests/support only, and the same bytes every time. Good files and files that are wrong in one place.
"""
import pathlib
import struct
import sys

from corpus_choices import literal_files, scatter_files, table_files, take_files, text_files
from corpus_filter import filter_streams
from corpus_hdf5 import hdf5_files
from corpus_many import arrow_files, npz_files
from corpus_quantised import quantised_files
from corpus_quantised_models import quantised_model_files
from corpus_responses import responses
from corpus_s3 import aws_files, s3_files
from corpus_zarr import zarr_files

DESCRS = [
    "'<f4'", "'>i8'", "'|b1'", "'|S5'", "'<U3'", "'>U2'", "'|V12'", "'<M8[ns]'", "'>m8[25s]'", "'<c16'", "'<f2'",
    "'=f8'", "'<f16'", "'>c32'", "'|S0'", "'|O'", "'f4'", "'float32'", "\"<u2\"", "u'<u4'", "'<f5'", "''", "'<M8[x]'",
    "[]", "[('a', '<i4'), ('b', '>f8', (2, 3))]", "[('', '|V3'), ('b', '|u1')]", "[(('title', 'n'), '<i2')]",
    "[('a', [('b', '<i2'), ('c', [('d', '|S3')])]), ]", "[('a', ('<f4', (2,)))]", "[('a', '<i4', 7)]",
    "[('a', '<i4', (2L, 3L))]", "[('a', '|O')]", "[('it\\'s', '<i4')]", "[('a', '<i4', (9223372036854775807,))]",
    "[" * 70 + "]" * 70,
]
SHAPES = [
    "()", "(3,)", "(2, 3)", "(0, 5)", "(3L, 2L)", "(0x2, 1_0)", "(1, 1, 1, 1, 1, 1, 1, 1)", "(-1,)", "(3)", "(2, 3",
    "(9223372036854775807, 2)", "(99999999999999999999,)", "(0, 9223372036854775807, 9223372036854775807)",
    "(" + "1, " * 64 + ")", "(" + "1, " * 65 + ")", "[2]", "(2.0,)",
]
HEADERS = [
    "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
    "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
    '{"descr":"<f4","fortran_order":False,"shape":(2,)}',
    "{ 'descr' : '<f4' , # comment\n 'fortran_order' : False , 'shape' : ( 2 , ) , } ",
    "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
    "{'descr': '<f4', 'fortran_order': False}",
    "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
    "{'other': 1}", "{", "", "[]", "{'descr': '<f4",
]


def npy(header: str, version: int = 1, data: int = 256, encoding: str = "latin1", lie: int = 0) -> bytes:
    """A .npy file of that header; `lie` is added to the length it says it has."""
    text = header.encode(encoding)
    length = struct.pack("<H" if version == 1 else "<I", len(text) + lie)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + bytes(i & 255 for i in range(data))


def raw(type_name: str, shape: list[int], offset: int = 0, data: int = 64) -> bytes:
    """An input of fuzz_raw.c."""
    numbers = struct.pack(f"<{2 + len(shape)}q", len(shape), offset, *shape)
    return type_name.encode() + b"\0" + numbers + bytes(range(data))


def npy_files() -> list[bytes]:
    dictionary = "{{'descr': {}, 'fortran_order': False, 'shape': {}, }}\n"
    files = [npy(dictionary.format(descr, "(3,)")) for descr in DESCRS]
    files += [npy(dictionary.format("'<f4'", shape)) for shape in SHAPES]
    files += [npy(header) for header in HEADERS]
    plain = dictionary.format("'<f4'", "(3,)")
    files += [npy(plain, 2), npy(plain, 3), npy(plain, 4), npy(plain, lie=1000), npy(plain, lie=-3), npy(plain, data=11)]
    named = dictionary.format("[('gr\u00f6\u00dfe', '<f4'), ('\u00b5', '<i2')]", "(3,)")
    files += [npy(named), npy(named, 3, encoding="utf8"), npy(named, 3)]
    magics = [b"PK\x03\x04", b"\x80\x04\x95", b"\x89HDF\r\n\x1a\n", b"GGUF", b"\x08\x07\x12\x04", b"<?xml", b"\x1f\x8b"]
    return files + [b"\x93NUM"] + [magic + bytes(20) for magic in magics]


def raw_files() -> list[bytes]:
    types = ["float32", "FLOAT", "f32", "int4", "uint1", "u3", "u6", "<f4", ">f4", "|S5", "<U3", "|V12", ">M8[s]", "string",
             "bool", "nothing", "", "[('a', '<i4'), ('b', '>i2')]", "[('a', '<i4')] x", "|O", "<f16"]
    files = [raw(name, [2, 3]) for name in types]
    shapes = [[], [0], [1 << 62, 4], [0, 1 << 62, 1 << 62], [-1], [1000], [1] * 64, [1] * 65, [3, 5]]
    return files + [raw("u3", shape) for shape in shapes] + [raw("int8", [3], offset) for offset in (61, 62, -1, 1 << 62)]


# ---- ONNX, written by hand: a field is its number, its kind and its content


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    content = b""
    while value > 127:
        content += bytes([value & 127 | 128])
        value >>= 7
    return content + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def block(field: int, content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(kind: int, dims: list[int], *values: bytes, name: str = "t") -> bytes:
    return b"".join(number(1, dim) for dim in dims) + number(2, kind) + b"".join(values) + block(8, name)


def attribute(name: str, kind: int, *values: bytes) -> bytes:
    return block(5, block(1, name) + b"".join(values) + number(20, kind))


def node(op: str, inputs: list[str], outputs: list[str], *attributes: bytes, name: str = "", domain: str = "") -> bytes:
    names = [block(1, text) for text in inputs] + [block(2, text) for text in outputs]
    return block(1, b"".join(names) + block(3, name) + block(4, op) + b"".join(attributes) + block(7, domain))


def value(field: int, name: str, kind: int, *dims: int | str) -> bytes:
    shape = b"".join(block(1, number(1, dim) if isinstance(dim, int) else block(2, dim)) for dim in dims)
    return block(field, block(1, name) + block(2, block(1, number(1, kind) + block(2, shape))))


def model(graph: bytes, *more: bytes) -> bytes:
    return number(1, 8) + block(2, "corpus") + block(7, graph) + block(8, block(1, "") + number(2, 13)) + b"".join(more)


def tensors() -> list[bytes]:
    floats, packed = struct.pack("<3f", 1, 2, 3), b"".join(varint(i) for i in (1, -1, 300))
    one_by_one = b"".join(varint(4 << 3 | 5) + struct.pack("<f", i) for i in range(3))
    files = [tensor(1, [3], block(9, floats)), tensor(1, [3], block(4, floats)), tensor(1, [3], one_by_one)]
    files += [tensor(kind, [3], block(5, packed)) for kind in (2, 3, 4, 5, 6, 9, 10, 16, 17, 24)]
    files += [tensor(kind, [5], block(5, packed)) for kind in (21, 22, 23)] + [tensor(25, [9], block(5, packed))]
    files += [tensor(7, [3], block(7, packed)), tensor(7, [3], *(number(7, i) for i in (1, -1, 5)))]
    files += [tensor(12, [3], block(11, packed)), tensor(13, [3], block(11, packed))]
    files += [tensor(14, [1], block(4, floats[:8])), tensor(15, [1], block(10, bytes(16))), tensor(11, [1], block(10, bytes(8)))]
    files += [tensor(8, [3], block(6, "a"), block(6, ""), block(6, b"\xff\0")), tensor(8, [1], block(9, "a"))]
    files += [tensor(1, [0], block(9, b"")), tensor(1, [0], block(9, floats)), tensor(1, [2**62, 4]), tensor(1, [-1])]
    files += [tensor(1, [3], block(9, floats), block(4, floats)), tensor(1, [3]), tensor(99, [3]), tensor(0, [3])]
    outside = [block(13, block(1, key) + block(2, text)) for key, text in (("location", "w.bin"), ("offset", "8"))]
    files += [tensor(1, [3], *outside, number(14, 1)), tensor(1, [3], number(14, 1)), tensor(1, [1] * 65, block(9, floats))]
    return files + [tensor(1, [3], block(3, number(1, 0))), block(1, varint(3)) + number(2, 1) + block(9, floats)]


def models() -> list[bytes]:
    table = block(5, tensor(1, [3], block(9, struct.pack("<3f", 1, 2, 3)), name="table"))
    index = attribute("value", 4, block(5, tensor(7, [2], block(7, b"\0\1"), name="i")))
    gather = node("Gather", ["table", "i"], ["out"], attribute("axis", 2, number(3, 0)), name="g")
    plain = block(2, "main") + node("Constant", [], ["i"], index) + gather + table + value(12, "out", 1, 2)
    body = table + node("Gather", ["table", "i"], ["b"]) + value(12, "b", 1, "N")
    branch = node("If", ["c"], ["x"], attribute("then_branch", 5, block(6, body)), attribute("else_branch", 5, block(6, body)))
    forms = [attribute("value_int", 2, number(3, -1)), attribute("value_ints", 7, block(8, b"\1\2")),
             attribute("value_float", 1, varint(2 << 3 | 5) + bytes(4)), attribute("value_floats", 6, block(7, bytes(8))),
             attribute("value_string", 3, block(4, "s")), attribute("value_strings", 8, block(9, "a"), block(9, "b")),
             attribute("sparse_value", 11, block(22, b"")), attribute("bodies", 10, block(11, body), block(11, body)),
             block(5, block(1, "axis") + block(21, "outer") + number(20, 2))]
    constants = b"".join(node("Constant", [], [f"c{i}"], form) for i, form in enumerate(forms))
    function = block(25, block(1, "f") + block(4, "a") + block(5, "b") + block(7, gather[2:]) + block(9, number(2, 11)) + block(10, "d"))
    sparse = block(15, block(1, tensor(1, [1], block(9, bytes(4)), name="s")) + number(3, 9))
    deep = b""
    for _ in range(70):
        deep = node("If", [], [], attribute("then_branch", 5, block(6, deep)))
    group = varint(99 << 3 | 3) + number(1, 1) + varint(99 << 3 | 4)
    return [model(plain), model(branch + value(11, "c", 9)), model(constants), model(plain, function), model(sparse), model(deep),
            model(plain, group), model(b""), number(1, 8) + block(8, b""), model(plain + value(13, "y", 1, -1, "N", 3))]


def ir_layer(number: int, kind: str, data: str = "", inputs: int = 0, outputs: int = 1, more: str = "", **attributes: str) -> str:
    """A layer of an OpenVINO model."""
    said = {"id": str(number), "name": f"l{number}", "type": kind, "version": "opset8"} | attributes
    begin = "".join(f' {key}="{value}"' for key, value in said.items())
    ports = "".join(f'<port id="{i}" precision="I64"><dim>3</dim><dim>-1</dim></port>' for i in range(inputs))
    results = "".join(f'<port id="{i + inputs}" precision="FP32" names="t{number}"><dim>2</dim></port>' for i in range(outputs))
    return f"<layer{begin}><data {data}/><input>{ports}</input><output>{results}</output>{more}</layer>"


def ir_net(layers: list[str], edges: list[tuple[int, int, int, int]], element: str = 'net name="n" version="11"') -> str:
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    return f"<{element}><layers>{''.join(layers)}</layers><edges>{lines}</edges></{element.split()[0]}>"


def ir_files() -> list[bytes]:
    def constant(number: int, kind: str, shape: str, offset: int, size: int) -> str:
        return ir_layer(number, "Const", f'element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"')

    table, ids, axis = constant(0, "f32", "3, 2", 14, 24), constant(1, "i32", "2", 3, 8), constant(2, "i64", "", 12, 8)
    gather, result = ir_layer(3, "Gather", 'batch_dims="0"', 3), ir_layer(4, "Result", "", 1, 0, output_names="r,s")
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0)]
    plain = ir_net([table, ids, axis, gather, result], edges)
    body = ir_net([table, result], [(0, 0, 4, 0)], "body")
    loop = ir_net([ir_layer(0, "Loop", "", 0, 2, "<port_map/>" + body), ir_layer(1, "If", more=body)], [])
    kinds = ["boolean", "bf16", "f64", "i4", "u1", "u2", "u3", "u6", "nf4", "f4e2m1", "f8e8m0", "string", "dynamic", "x", "FP16"]
    files = [plain, loop, '<?xml version="1.0"?><!-- x -->\n' + plain, plain.replace("11", "9", 1)]
    files += [ir_net([constant(0, kind, "1", 0, 256)], []) for kind in kinds]
    files += [ir_net([constant(0, "u8", "256", 1, 256)], []), ir_net([constant(0, "u8", "9223372036854775807,2", 0, 1)], [])]
    files += [ir_net([ir_layer(0, "Parameter", f'element_type="f32" shape="{shape}"')], [])
              for shape in ("", "3,2", "?, -1", "2..5,..3,4..", "...", "5..2", "-2")]
    files += [ir_net([ir_layer(0, "Relu", "", 1), ir_layer(1, "Relu", "", 1)], [(0, 1, 1, 0), (1, 1, 0, 0)])]
    files += [ir_net([table, table], []), ir_net([gather], edges), '<!DOCTYPE net [<!ENTITY a "b">]>' + plain]
    files += [ir_net([ir_layer(0, "Split", outputs=3), ir_layer(1, "Split", outputs=2, name="t0")], []), "<net" + " a" * 9 + ">"]
    return [text.encode() for text in files]


def check_files() -> list[bytes]:
    """Models whose indices can be checked, are bad, are computed, or come from inputs and through shapes."""
    def ints(name: str, *numbers: int, rank: int = 1) -> bytes:
        dims = [len(numbers)] if rank == 1 else []
        return block(5, tensor(7, dims, block(7, b"".join(varint(i) for i in numbers)), name=name))

    table = block(5, tensor(1, [4, 3], block(9, bytes(48)), name="table"))
    axis = attribute("axis", 2, number(3, 1))
    graphs = []
    for numbers in ((0, 3, -4), (4,), (-5, 2), ()):
        graphs.append(table + ints("i", *numbers) + node("Gather", ["table", "i"], ["out"]))
    graphs.append(table + ints("i", 0, 1, 2) + node("Gather", ["table", "i"], ["out"], axis))
    graphs.append(value(11, "x", 1, "N", "T", 5) + value(11, "ids", 7, "N", 2) + node("Gather", ["x", "ids"], ["out"], axis)
                  + node("GatherElements", ["x", "ids"], ["o2"]) + value(12, "out", 1))
    shape = node("Shape", ["x"], ["s"]) + node("Gather", ["s", "one"], ["n"]) + node("Sub", ["n", "one"], ["last"])
    graphs.append(value(11, "x", 1, 4, "T") + ints("one", 1, rank=0) + shape + node("Gather", ["x", "last"], ["out"], axis))
    chain = (node("Cast", ["i"], ["c"], attribute("to", 2, number(3, 6))) + node("Unsqueeze", ["c", "zero"], ["u"])
             + node("Concat", ["u", "u"], ["k"], attribute("axis", 2, number(3, 0))) + node("Slice", ["k", "zero", "one"], ["sl"])
             + node("Reshape", ["sl", "minus"], ["r"]) + node("Range", ["a", "b", "a1"], ["g"]) + node("Identity", ["r"], ["id"]))
    constants = ints("i", 0, 7) + ints("zero", 0) + ints("one", 1) + ints("minus", -1)
    constants += ints("a", 0, rank=0) + ints("b", 9, rank=0) + ints("a1", 1, rank=0)
    graphs.append(table + constants + chain + node("Gather", ["table", "id"], ["out"]) + node("Gather", ["table", "g"], ["out2"]))
    ops = b"".join(node(op, ["one", "minus"], [op]) + node("Gather", ["table", op], ["of" + op])
                   for op in ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Equal", "Expand", "MatMul", "Transpose", "Flatten"))
    graphs.append(table + constants + ops)
    inner = node("Gather", ["table", "i"], ["b"]) + value(12, "b", 1, 2)
    both = attribute("then_branch", 5, block(6, inner)) + attribute("else_branch", 5, block(6, inner))
    graphs.append(table + ints("i", 5) + value(11, "c", 9) + node("If", ["c"], ["x"], both)
                  + node("Loop", ["m", "c"], ["y"], attribute("body", 5, block(6, inner + value(11, "t", 7)))))
    call = node("f", ["table", "i"], ["out"], domain="d")
    function = block(25, block(1, "f") + block(4, "p") + block(4, "q") + block(5, "r")
                     + block(7, node("Gather", ["p", "q"], ["r"])[2:]) + block(9, number(2, 13)) + block(10, "d"))
    files = [model(graph) for graph in graphs] + [model(table + ints("i", 1) + call, function, block(8, block(1, "d") + number(2, 1)))]
    outside = tensor(7, [2], block(13, block(1, "location") + block(2, "w")), number(14, 1), name="i")
    files.append(model(table + block(5, outside) + node("Gather", ["table", "i"], ["out"])))
    layers = [ir_layer(0, "Const", 'element_type="f32" shape="3, 2" offset="14" size="24"'),
              ir_layer(1, "Const", 'element_type="u8" shape="2" offset="14" size="2"'),
              ir_layer(2, "Const", 'element_type="i64" shape="" offset="200" size="8"'), ir_layer(3, "Gather", 'batch_dims="0"', 3)]
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2)]
    files += [ir_net(layers, edges).encode(), ir_net(layers, edges).replace("opset8", "opset7").encode()]
    asked = ir_layer(1, "Parameter", 'element_type="i64" shape="?,2"')
    files += [ir_net([layers[0], asked, *layers[2:]], edges).encode()]
    files += [ir_net([layers[0], asked, ir_layer(3, "GatherElements", 'axis="1"', 2)], edges[:2]).replace("opset8", "opset6").encode()]
    return files


def operand_files() -> list[bytes]:
    """Models for their operands and for running them: data that is missing or short, hostile attributes, names that could move a
    cursor, branches, chains of what is run."""
    def ints(name: str, *numbers: int, dims: list[int] | None = None) -> bytes:
        return block(5, tensor(7, [len(numbers)] if dims is None else dims, block(7, b"".join(varint(i) for i in numbers)), name=name))

    def outside(name: str, kind: int, *dims: int, location: str = "w", **more: str) -> bytes:
        keys = {"location": location} | more
        return block(5, tensor(kind, list(dims), *(block(13, block(1, k) + block(2, v)) for k, v in keys.items()), number(14, 1), name=name))

    table = block(5, tensor(1, [4, 3], block(9, bytes(range(48))), name="t"))
    gather, out = node("Gather", ["t", "i"], ["y"], name="g"), value(12, "y", 1)
    graphs = []
    chains = [("same", "Identity", ["i"]), ("sum", "Add", ["i", "i"]), ("cut", "Slice", ["i", "i", "i"]), ("wide", "Expand", ["i", "i"]),
              ("shaped", "Reshape", ["i", "i"]), ("picked", "Gather", ["i", "i"]), ("thin", "Squeeze", ["i"]), ("big", "Unsqueeze", ["i", "i"]),
              ("n", "Shape", ["t"]), ("filled", "ConstantOfShape", ["i"])]
    for missing in (outside("i", 7, 1), outside("i", 7, 1, offset="8", length="8"), ints("i", 1), outside("i", 7, 1, location="../w")):
        for name, op, inputs in chains:
            graphs.append(table + missing + node(op, inputs, [name]) + node("Gather", ["t", name], ["y"], name="g") + out)
    graphs.append(outside("t", 1, 4, 3) + ints("i", 3) + gather + out)
    graphs.append(outside("t", 8, 2) + outside("i", 6) + gather + out)
    fill = attribute("value", 4, block(5, outside("v", 7, 1)[3:]))
    graphs.append(table + ints("n", 2) + node("ConstantOfShape", ["n"], ["i"], fill) + gather + out)
    values = [number(3, 1), block(4, "1"), varint(2 << 3 | 5) + bytes(4), block(5, tensor(7, [], block(7, b"\1"))), block(6, b""), block(8, b"\1"),
              block(9, "1"), block(7, bytes(4)), block(11, b""), block(21, "a"), b""]
    for op, name in (("Gather", "axis"), ("GatherElements", "axis"), ("Cast", "to"), ("Unsqueeze", "axes"), ("Reshape", "allowzero"), ("Shape", "start")):
        for kind in (0, 1, 2, 3, 4, 5, 7, 8, 11, 99):
            hostile = node(op, ["t", "i"], ["y"], attribute(name, kind, values[kind % len(values)]), name="g")
            graphs.append(table + ints("i", 1, 0, 1, dims=[3]) + hostile + out)
        for both in (values[0] + values[1], values[3] + values[7]):
            graphs.append(table + ints("i", 1) + node(op, ["i", "i"], ["y"], *2 * [attribute(name, 2, both)], name="g") + out)
    strange = "\x1b[2J\n\r\x9b\u202e\x07\u0085" + "x" * 70
    graphs.append(block(5, tensor(1, [2, 2], block(9, bytes(16)), name=strange)) + value(11, strange + "i", 7, strange)
                  + node("Gather", [strange, strange + "i"], [strange + "y"], name=strange) + value(12, strange + "y", 1))
    long = "n" * 5000
    graphs.append(table + ints("i", 4) + node("Gather", ["t", "i"], ["y"], name=long) + out)
    inner = node("Gather", ["t", "k"], ["b"], name="g") + value(12, "b", 1)
    both = attribute("then_branch", 5, block(6, inner)) + attribute("else_branch", 5, block(6, inner))
    for flag in (value(11, "c", 9), block(5, tensor(9, [], block(5, b"\1"), name="c")), outside("c", 9)):
        graphs.append(table + flag + value(11, "i", 7, 2) + node("Neg", ["i"], ["k"]) + node("If", ["c"], ["y"], both, name="if") + out)
    chain = b"".join(node("Gather", [f"s{i}", f"s{i}"], [f"s{i + 1}"]) for i in range(4))
    graphs.append(ints("s0", 0, 1, 1) + chain + value(12, "s4", 7))
    ring = node("Identity", ["a"], ["b"]) + node("Identity", ["b"], ["a"]) + node("Gather", ["t", "a"], ["y"], name="g")
    graphs.append(table + ring + out)
    files = [model(graph) for graph in graphs]
    layers = [ir_layer(0, "Const", 'element_type="f32" shape="3, 2" offset="14" size="24"'),
              ir_layer(1, "Const", 'element_type="u8" shape="2" offset="14" size="2"'),
              ir_layer(2, "Const", 'element_type="i64" shape="" offset="200" size="8"'), ir_layer(3, "Gather", 'batch_dims="0"', 3),
              ir_layer(4, "Result", "", 1, 0)]
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0)]
    plain = ir_net(layers, edges)
    texts = [plain, plain + "<!--missing-->", plain.replace('offset="14" size="2"', 'offset="255" size="2"'),
             plain.replace('offset="200"', 'offset="900"'), plain.replace('offset="14" size="24"', 'offset="999" size="24"')]
    texts += [plain.replace('batch_dims="0"', f'batch_dims="{text}"') for text in ("x", "1.5", "", "99999999999999999999", "-1", "1x")]
    asked = ir_layer(1, "Parameter", 'element_type="i64" shape="2"')
    body = "".join([ir_layer(5, "Parameter", 'element_type="i64" shape="2"'), layers[0], layers[2], layers[3], layers[4]])
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in [(5, 0, 3, 1), *edges[:1], *edges[2:]])
    inside = f"<layers>{body}</layers><edges>{lines}</edges>"
    maps = '<input external_port_id="1" internal_layer_id="5"/><output external_port_id="2" internal_layer_id="4"/>'
    for kind, names in (("If", ("then_", "else_")), ("Loop", ("",)), ("TensorIterator", ("", ""))):
        more = "".join(f"<{name}port_map>{maps}</{name}port_map><{name}body>{inside}</{name}body>" for name in names)
        for extra in ("", '<back_edges><edge from-layer="4" to-layer="5"/></back_edges>', "<port_map><input/><output/></port_map>"):
            flag = ir_layer(0, "Parameter", 'element_type="boolean" shape=""')
            texts.append(ir_net([flag, asked, ir_layer(2, kind, "", 2, 1, extra + more), ir_layer(3, "Result", "", 1, 0)],
                                [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)]))
    return files + [text.encode() for text in texts]


def tuple_files() -> list[bytes]:
    """GatherND: tuples of every length, in range and not, batch dimensions that fit and do not, chains of shapes."""
    def ints(name: str, dims: list[int], *numbers: int, kind: int = 7) -> bytes:
        return block(5, tensor(kind, dims, block(7 if kind == 7 else 5, b"".join(varint(i) for i in numbers)), name=name))

    def nd(*inputs: str, batch: int | None = None, out: str = "y", **more: str) -> bytes:
        attributes = [attribute("batch_dims", 2, number(3, batch))] if batch is not None else []
        return node("GatherND", list(inputs), [out], *attributes, name="g", **more)

    data = block(5, tensor(1, [2, 3, 2], block(9, bytes(range(48))), name="t"))
    tuples = [([1, 3], 1, -1, 0), ([1, 3], 2, 3, -9), ([2, 2], 0, 0, 1, 7), ([2, 1], -2, 1), ([2], 1, 2), ([0, 2],), ([2, 0],), ([1, 4], 0, 0, 0, 0),
              ([],), ([1, 1], -1 << 63), ([2, 2, 1], 2, 0, -4, 1), ([2, 3, 1], 0, 1, 0, 1, 0, 2), ([1, 65], *[0] * 65)]
    graphs = [data + ints("i", *made) + nd("t", "i", batch=b) for made in tuples for b in (None, 1, 2, -1, 1 << 40)]
    graphs += [data + ints("i", dims, *numbers) + nd("t", "i", domain="com.microsoft") for dims, *numbers in tuples]
    graphs += [data + ints("i", [1, 2], 1, 2, kind=6) + nd("t", "i", domain="com.microsoft"), data + nd("t", "t"), data + nd("t"), data + nd("", "t")]
    asked = value(11, "x", 1, "A", "B", 4) + value(11, "i", 7, "N", 2)
    graphs += [asked + nd("x", "i", batch=b) for b in (0, 1)] + [value(11, "x", 1, "A") + value(11, "i", 7, "N", "K") + nd("x", "i")]
    graphs += [data + block(5, tensor(1, [2] * 40, name="w")) + ints("k", [1] * 40, 0) + nd("w", "k")]
    joined = (node("Unsqueeze", ["a", "last"], ["a1"]) + node("Unsqueeze", ["b", "last"], ["b1"])
              + node("Concat", ["a1", "b1"], ["i"], attribute("axis", 2, number(3, -1))) + node("Transpose", ["t"], ["tt"]))
    given = value(11, "a", 7, "N") + value(11, "b", 7, "N") + ints("last", [1], -1)
    graphs += [data + given + joined + nd("tt", "i") + value(12, "y", 1), data + ints("last", [1], -1) + ints("a", [2], 1, 0) + ints("b", [2], 2, -3) + joined + nd("tt", "i")]
    for perm in ([1, 0, 2], [0, 0, 1], [2, 1], [5, 0, 1], [1 << 40, 0, 1]):
        order = attribute("perm", 7, b"".join(number(8, p) for p in perm))
        graphs.append(data + ints("i", [1, 1], 1) + node("Transpose", ["t"], ["tt"], order) + nd("tt", "i") + value(12, "y", 1))
    for axis in (0, -1, 3, -4):
        both = node("Concat", ["t", "t"], ["tt"], attribute("axis", 2, number(3, axis)))
        graphs.append(data + ints("i", [1, 1], 3) + both + nd("tt", "i") + value(12, "y", 1))
    shapes = (node("Shape", ["x"], ["s"]) + nd("s", "pick", out="n") + nd("s", "pick", out="m", domain="com.microsoft")
              + node("ConstantOfShape", ["n"], ["z"]) + nd("z", "n"))
    graphs.append(value(11, "x", 1, "A", 3) + ints("pick", [2, 1], 1, -2) + shapes)
    graphs.append(ints("s0", [2, 1], 1, 0) + b"".join(nd(f"s{i}", f"s{i}", out=f"s{i + 1}") for i in range(4)) + value(12, "s4", 7))
    imports = block(8, block(1, "com.microsoft") + number(2, 1))
    caller = (node("F", ["t", "i"], ["y"], attribute("b", 2, number(3, 1)), domain="d"))
    inner = node("GatherND", ["p", "q"], ["r"], block(5, block(1, "batch_dims") + block(21, "b") + number(20, 2)))
    function = block(25, block(1, "F") + block(4, "p") + block(4, "q") + block(5, "r") + block(7, inner[2:]) + block(9, number(2, 13)) + block(10, "d"))
    files = [model(graph + value(12, "y", 1), imports) for graph in graphs]
    files.append(model(data + ints("i", [2, 1], 1, 2) + caller, function, block(8, block(1, "d") + number(2, 1))))
    for kind, shape, size in (("u8", "2,1,1", 2), ("i32", "1,3", 12), ("i64", "1", 8), ("u64", "2,1,1", 16), ("i16", "2,3,2,1", 24), ("u8", "2,0", 0)):
        for b, opset in ((0, "opset8"), (1, "opset8"), (2, "opset5"), (9, "opset5"), (-1, "opset8")):
            layers = [ir_layer(0, "Const", 'element_type="f32" shape="2,3,2" offset="14" size="48"', version="opset1"),
                      ir_layer(1, "Const", f'element_type="{kind}" shape="{shape}" offset="62" size="{size}"', version="opset1"),
                      ir_layer(2, "GatherND", f'batch_dims="{b}"', 2, version=opset), ir_layer(3, "Result", "", 1, 0, version="opset1")]
            files.append(ir_net(layers, [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)]).encode())
    return files


# ---- safetensors and GGUF: files of many tensors


def safetensors(header: str | bytes, data: int = 0, lie: int = 0) -> bytes:
    text = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(text) + lie) + text + bytes(i & 255 for i in range(data))


def described(dtype: str, shape: str, begin: int, end: int) -> str:
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}'


def safetensors_files() -> list[bytes]:
    dtypes = [("BOOL", 1), ("U8", 1), ("F8_E4M3", 1), ("BF16", 2), ("I32", 4), ("C64", 8), ("F4", 0.5), ("F6_E2M3", 0.75), ("X", 3)]
    files = [safetensors(f'{{"a":{described(d, "[2,4]", 0, int(8 * size))}}}', int(8 * size)) for d, size in dtypes]
    one = described("U8", "[1]", 0, 1)
    shapes = ["[]", "[1,1,1]", "[-1]", "[1.0]", "[9223372036854775807,2]", "[99999999999999999999]", "[1e999]", "[[1]]", "{}", "[0]"]
    files += [safetensors(f'{{"a":{described("U8", shape, 0, 1)}}}', 1) for shape in shapes]
    headers = ["{}", "{ }  ", "", "[]", '{"a":1}', f'{{"a":{one},"a":{one}}}', f'{{"__metadata__":{{"k":"v\\u00e9"}},"a":{one}}}',
               f'{{"a":{one[:-1]},"more":[null,true,{{}}]}}}}', f'{{"\\ud83d\\ude00\\"":{one}}}', f'{{"\\u0000":{one}}}',
               '{"a":{"x":' + "[" * 40 + "]" * 40 + "}}", f'{{"a":{one},"b":{described("I4", "[3]", 1, 3)}}}',
               f'{{"b":{described("I8", "[3]", 1, 4)},"a":{one}}}', f'{{"a":{described("U8", "[1]", 1, 0)}}}', f'{{"a":{one},}}']
    files += [safetensors(header, size) for header in headers for size in (0, 1, 4)]
    files += [safetensors(f'{{"a":{one}}}', 1, lie) for lie in (-1, 1, 1 << 20, 1 << 31)] + [safetensors(b'{"a\xff":1}')]
    maps = ['{"a":"s","b":"s"}', '{"b":"s","a":"t","c":"s"}', '{"a":"../s"}', '{"a":"/s"}', '{"a":""}', '{"a":"s","a":"s"}',
            '{"a":1}', "[]"]
    files += [f'{{"metadata":{{"total_size":7}},"weight_map":{weights}}}\n'.encode() for weights in maps]
    files += quantised_files()
    return files + [b' {"weight_map":{"a":"s"', b'{"weight_map":{},"weight_map":{}}', b'{"weight_map":{"\xff":"s"}}']


def gguf(tensors: list[tuple[str, list[int], int, int]], pairs: list[tuple[str, bytes]] = (), data: int = 128, order: str = "<",
         version: int = 3) -> bytes:
    """pairs: a key, and its value with its type."""
    def text(content: str) -> bytes:
        return struct.pack(order + "Q", len(content)) + content.encode()

    head = b"GGUF" + struct.pack(order + "IQQ", version, len(tensors), len(pairs))
    head += b"".join(text(key) + value for key, value in pairs)
    for name, lengths, kind, offset in tensors:
        head += text(name) + struct.pack(f"{order}I{len(lengths)}QIQ", len(lengths), *lengths, kind, offset)
    return head + bytes(-len(head) % 32) + bytes(i & 255 for i in range(data))


def gguf_files() -> list[bytes]:
    files = []
    for order in "<>":
        def value(form: str, *numbers, order=order) -> bytes:
            return struct.pack(order + form, *numbers)

        pairs = [(f"k{kind}", value("I", kind) + bytes(size)) for kind, size in enumerate((1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8))]
        lists = [("texts", value("IIQQ", 9, 8, 2, 1) + b"a" + value("Q", 0)),
                 ("lists", value("IIQIQ", 9, 9, 1, 9, 1) + value("IQH", 2, 1, 7))]
        aligned = [("general.alignment", value("II", 4, 8))]
        both = [("emb", [3, 4], 0, 0), ("q", [32, 2], 2, 64)]
        files += [gguf(both, pairs + lists, order=order), gguf(both, aligned, order=order), gguf([], pairs, 0, order)]
        files += [gguf([("t", [4, 2], kind, 0)], order=order) for kind in (1, 24, 26, 28, 30, 4, 99)]
        files += [gguf([("t", [256], kind, 0)], data=300, order=order) for kind in (12, 29, 39, 40)]
        files += [gguf([("t", shape, 24, 0)], order=order) for shape in ([], [0, 5], [1] * 6, [1 << 62, 4], [129], [33])]
        for places in ([("a", [1], 24, 32), ("b", [33], 24, 0)], [("a", [1], 24, 0), ("a", [1], 24, 32)]):
            files.append(gguf(places, order=order))
        files += [gguf([("t", [1], 24, 1)], order=order), gguf([], [("general.alignment", value("II", 4, 3))], order=order)]
        files += [gguf(both, order=order, version=2), gguf(both, order=order, version=1), gguf(both, data=10, order=order)]
    return files


def shuffle_journals() -> list[bytes]:
    """Inputs of fuzz_shuffle.c: two passes or one, whose job it is, whether the sum is right; its files; the journal."""
    one, two, ours, right, there, none, last = 0, 1, 2, 4, 8, 16, 32
    absent, link, name, empty, numbers, wrong, whole = 0, 1, 2, 3, 4, 5, 6

    def journal(how: int, text: bytes, rows: int = whole, places: int = numbers, pairs: int = absent) -> bytes:
        return bytes([how]) + struct.pack("<H", rows | places << 3 | pairs << 6) + text

    good = two | ours | right
    states = [b"step spread\nat 0\nfills 0 0 0\n", b"step spread\nat 144\nfills 44 50 50\n", b"step collect\nat 0\nfills 0\n",
              b"step collect\nat 2\nfills 0\n", b"step publish\nat 0\nfills 0\n", b"step take\nat 7\nfills 0\n",
              b"step pairs\nat 0\nfills 0\n", b"step nothing\nat 0\nfills 0\n", b"step collect\nat 4\nfills 0\n",
              b"step collect\nat -1\nfills 0\n", b"step collect\nat 99999999999999999999\nfills 0\n",
              b"step spread\nat 9\nfills 9\n", b"step spread\nat 500\nfills 144 144 212\n", b"step spread\n", b"", b"\0"]
    files = [journal(good, state) for state in states] + [journal(one | ours | right, state) for state in states]
    collect, spread = states[2], states[1]
    files += [journal(good, collect, rows=kind) for kind in (absent, link, name, empty, numbers)]
    files += [journal(good, collect, places=kind) for kind in (absent, link, name, empty, wrong, whole)]
    files += [journal(good, spread, pairs=kind) for kind in (link, whole)]
    files += [journal(good, states[4], rows=kind) for kind in (link, name)]
    files += [journal(good | there, state) for state in states[2:5]]
    files += [journal(good | last | more, states[4]) for more in (0, there)]
    files += [journal(two | ours, collect), journal(two | right, collect), journal(two, collect), journal(two, b"")]
    files += [journal(how | none, b"", rows=rows, places=places) for how, rows, places in ((one, absent, absent), (two, link, name))]
    files += [journal(two | right, b"gather shuffle, journal 1\nseed 9\npasses 7\nmemory 1\n" + collect)]
    return files


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    quantized = quantised_model_files(sys.modules[__name__])
    formats = [npy_files(), gguf_files(), safetensors_files(), npz_files(), arrow_files(), tensors(), models()]
    for name, files in (("text", text_files()), ("literal", literal_files()), ("take", take_files([*formats, ir_files()])), ("scatter", scatter_files()),
                        ("table", table_files(formats)), ("npy", npy_files()), ("raw", raw_files()),
                        ("onnx", tensors() + models()), ("ir", ir_files()),
                        ("check", check_files() + tuple_files() + models() + quantized),
                        ("explain", check_files() + operand_files() + tuple_files() + quantized),
                        ("run", check_files() + operand_files() + tuple_files() + quantized),
                        ("safetensors", safetensors_files()), ("gguf", gguf_files()), ("npz", npz_files()),
                        ("arrow", arrow_files()), ("hdf5", hdf5_files()), ("filter", filter_streams()), ("zarr", zarr_files()), ("shuffle", shuffle_journals()), ("s3", s3_files()),
                        ("aws_files", aws_files()), ("response", responses())):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for i, content in enumerate(files):
            (folder / name / f"{i:03}").write_bytes(content)


if __name__ == "__main__":
    main()
