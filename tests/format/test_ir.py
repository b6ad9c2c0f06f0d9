# SPDX-License-Identifier: MIT
"""OpenVINO IR: files made by hand, and files that OpenVINO itself writes, where it is installed."""
from __future__ import annotations

import ctypes as c
import os
import time
from contextlib import contextmanager
from typing import Iterator

import gather_files as g
import numpy as np
import pytest
from gather_files import LIB, FileTensor, GatherError, P, String, check, content, handle
from support.skip import skip_test

try:
    import openvino as ov
except ImportError:
    ov = None

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


# ---- files made by hand


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


def test_a_model(tmp_path) -> None:
    with opened(put(tmp_path, GATHER)) as model:
        assert model.format == "ir" and model.names == ["l0", "l1", "l2"]
        table, ids, axis = model.tensors
        assert (table.shape, table.offset, table.bytes, table.type_name) == ((3, 2), 14, 24, b"float32")
        assert content(table) == bytes(range(14, 38)) and content(ids) == bytes(range(3, 11))
        assert axis.shape == () and content(axis) == bytes(range(12, 20))
        assert all(tensor.tensor.flags & 1 for tensor in model.tensors), "views of a file are read-only"


@pytest.mark.parametrize("before", ["\ufeff", '<?xml version="1.0"?>\n', " \n<!-- -- no -> end -->\n".replace(" -- ", " "),
                                    '<?xml version="1.0" encoding="UTF-8"?><!-- a --> <!-- b -->\r\n\t'])
def test_what_stands_before_it(before, tmp_path) -> None:
    with opened(put(tmp_path, before.encode() + GATHER)) as model:
        assert len(model.names) == 3


@pytest.mark.parametrize("xml", [b"<?xml version='1.0'?><svg/>", b"<?xml version='1.0'?><network/>", b"<?xml", b"<!-- <net>",
                                 b"<net"])
def test_other_xml(xml) -> None:
    assert refusal(xml).status == "unsupported"


def test_encodings_and_names(tmp_path) -> None:
    xml = '<?xml version="1.0" encoding="ISO-8859-1"?>'.encode() + net(
        [const(0, "u8", "1", 0, 1, name="gr\u00f6\u00dfe &lt;"), const(1, "u8", "1", 1, 1, names=r"a\,b,c"),
         const(2, "u8", "1", 2, 1, names=r"a\,b"), const(3, "u8", "1", 3, 1, name="l2"), const(4, "u8", "1", 4, 1, name="l2")],
    ).decode().encode("latin1")
    with opened(put(tmp_path, xml)) as model:
        assert model.names == ["gr\u00f6\u00dfe <", "a,b", "l2", "l2#3#2", "l2#4#2"]
        for i, name in enumerate(model.names):
            assert content(model.find(name)) == bytes([i])
        assert content(model.find("l1")) == b"\x01", "a layer's name finds its constant too"


def test_every_name_of_a_port(tmp_path) -> None:
    """A name may hold commas behind backslashes; the first is the tensor's own, the others find it too."""
    def body(kind: str) -> str:
        return "<body>" + net([const(0, kind, "1", 0 if kind == "u8" else 1, 1, names=f"first,only in {kind},both")]).decode().split(">", 1)[1][:-len("</net>")] + "</body>"

    xml = net([const(0, "u8", "1", 0, 1, names=r"a,b\,c,,d\,,own"), const(1, "u8", "1", 1, 1, names="own,a,e"),
               layer(2, "Loop", more=body("u8"), name="one"), layer(3, "Loop", more=body("i8"), name="two")])
    with opened(put(tmp_path, xml)) as model:
        assert model.names[:2] == ["a", "own"]
        for name, byte in (("a", 0), ("b,c", 0), ("d,", 0), ("l0", 0), ("own", 1), ("e", 1), ("l1", 1), ("only in i8", 1),
                           ("one/body/both", 0), ("two/body/both", 1), ("two/body/only in i8", 1)):
            assert content(model.find(name)) == bytes([byte]), name
        for name in ("", "c", "b", "first", "both", "b\\,c"):
            with pytest.raises(GatherError, match="tensor"):
                model.find(name)


@pytest.mark.parametrize("version", [10, 11])
def test_versions(version, tmp_path) -> None:
    with opened(put(tmp_path, GATHER.replace(b'version="11"', f'version="{version}"'.encode()))) as model:
        assert len(model.names) == 3


@pytest.mark.parametrize("version", [7, 9, 12, 111])
def test_other_versions(version, tmp_path) -> None:
    error = refusal(put(tmp_path, GATHER.replace(b'version="11"', f'version="{version}"'.encode())))
    assert error.status == "unsupported" and str(version) in error.message and error.offset == 0


def test_bodies(tmp_path) -> None:
    """Ids repeat in bodies, all share the .bin, and names are known by their path."""
    body = net([const(0, "u8", "2", 7, 2, name="w"), layer(1, "Result", "", 1, 0)], [(0, 0, 1, 0)], "body").decode()
    other = net([const(0, "u8", "2", 9, 2, name="v")], (), "else_body").decode()
    then = body.replace("body>", "then_body>")
    inner = net([layer(0, "If", more=then + other, name="if_1")], (), "body").decode()
    xml = net([layer(0, "Loop", more=body, name="loop_3"), layer(1, "TensorIterator", more=inner, name="it"),
               const(2, "u8", "1", 0, 1, name="top")])
    with opened(put(tmp_path, xml)) as model:
        assert sorted(model.names) == ["it/body/if_1/else_body/v", "it/body/if_1/then_body/w", "loop_3/body/w", "top"]
        assert content(model.find("loop_3/body/w")) == b"\x07\x08"
        assert content(model.find("v")) == b"\x09\x0a"
        with pytest.raises(GatherError, match="name_not_found"):
            model.find("w")


@pytest.mark.parametrize("ov_name", WHOLE)
def test_whole_byte_types(ov_name, tmp_path) -> None:
    size = SIZES.get(ov_name, 1)
    with opened(put(tmp_path, net([const(0, ov_name, "3", 5, 3 * size)]))) as model:
        (tensor,) = model.tensors
        assert (tensor.type_name.decode(), tensor.shape, tensor.bytes) == (WHOLE[ov_name], (3,), 3 * size)
        assert content(tensor) == bytes(range(5, 5 + 3 * size))


@pytest.mark.parametrize("ov_name", PACKED)
@pytest.mark.parametrize("length", [0, 1, 2, 7, 8, 9, 24])
def test_packed_types(ov_name, length, tmp_path) -> None:
    name, group, group_bytes = PACKED[ov_name]
    size = -(-length // group) * group_bytes
    with opened(put(tmp_path, net([const(0, ov_name, str(length), 5, size)]))) as model:
        (tensor,) = model.tensors
        assert (tensor.type_name.decode(), tensor.bytes, content(tensor)) == (name, size, bytes(range(5, 5 + size)))
    if size:
        assert f"its shape needs {size}" in refusal(put(tmp_path, net([const(0, ov_name, str(length), 5, size - 1)]))).message


def table_of(texts: list[bytes]) -> bytes:
    ends = np.cumsum([0] + [len(text) for text in texts])
    return np.array([len(texts), *ends], "<i4").tobytes() + b"".join(texts)


def test_strings(tmp_path) -> None:
    texts = [b"A", b"B c", b"", b"d.Ef"]
    table = table_of(texts)
    assert table.startswith(bytes.fromhex("0400000000000000010000000400000004000000 08000000"))
    with opened(put(tmp_path, net([const(0, "string", "2,2", 3, len(table))]), b"xyz" + table)) as model:
        assert strings(model.tensors[0]) == texts and model.tensors[0].type_name == b"string"


@pytest.mark.parametrize("place", range(0, 16, 4))
@pytest.mark.parametrize("value", [-1, 5, 2**31 - 1, -(2**31)])
def test_wrong_string_tables(place, value, tmp_path) -> None:
    table = bytearray(table_of([b"ab", b"c"]))
    table[place:place + 4] = value.to_bytes(4, "little", signed=True)
    error = unreadable(put(tmp_path, net([const(0, "string", "2", 0, len(table))]), bytes(table)))
    assert error.status == "file_malformed" and "l0" in error.message


# ---- what is wrong with it

WRONG = {
    "no id": ('id="0" ', "", "no id"), "no name": ('name="l0" ', "", "no name"), "no type": ('type="Const" ', "", "no type"),
    "no version": (' version="opset8"', "", "no version"), "no net version": (' version="11"', "", "no version"),
    "an id that is none": ('id="0" name', 'id="x" name', "'x'"), "a negative id": ('id="0" name', 'id="-1" name', "'-1'"),
    "a double id": ('id="1" name', 'id="0" name', "another layer"),
    "an id of 2^64": ('id="0" name', 'id="18446744073709551616" name', "18446744073709551616"),
    "an edge from nowhere": ('from-layer="0"', 'from-layer="9"', "layer 9"),
    "an edge from no port": ('from-port="3"', 'from-port="0"', "port 0 of layer 3"),
    "an edge to nowhere": ('to-layer="4"', 'to-layer="7"', "layer 7"), "two edges": ('to-port="1"', 'to-port="0"', "second edge"),
    "a missing edge": ('<edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>', "", "no edge"),
    "a cycle": ('from-layer="0" from-port="0"', 'from-layer="3" from-port="3"', "its own output"),
    "a double port": ('<port id="1"', '<port id="0"', "two input ports"), "no port id": ('<port id="1"', "<port", "no id"),
    "an unknown type": ('"f32"', '"float32"', "'float32'"), "no type there": ('"f32"', '"dynamic"', "'dynamic'"),
    "an unknown precision": ('precision="FP32"', 'precision="FP33"', "FP33"), "a length -2": ("<dim>2<", "<dim>-2<", "'-2'"),
    "no length": ("<dim>2<", "<dim>two<", "'two'"), "a long length": ("<dim>2<", f"<dim>{'2' * 99}<", "too long"),
    "a negative offset": ('offset="14"', 'offset="-1"', "'-1'"), "no offset": ('offset="14" ', "", "no offset"),
    "no size": ('size="24"', "", "no size"),
    "a small size": ('size="24"', 'size="23"', "24"),
    "an open shape": ('"3, 2"', '"3, ?"', "not known"),
    "no rank": ('"3, 2"', '"..."', "is none"), "a wrong shape": ('"3, 2"', '"3; 2"', "is none"),
    "a negative shape": ('"3, 2"', '"3,-2"', "is none"), "a huge shape": ('"3, 2"', f'"{2**62},{2**62}"', "more elements"),
    "a rank of 65": ('"3, 2"', '"' + ",".join(["1"] * 65) + '"', "is none"), "no shape": ('shape="3, 2" ', "", "no shape"),
    "another root": ("<net ", "<net><a/></net><net ", "version"), "tags that cross": ("</layers>", "</edges>", "XML"),
    "an entity": ('name="l0"', 'name="&a;"', "XML"), "a double attribute": ('id="0" name', 'id="0" id="0" name', "XML"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_in_one_place(case, tmp_path) -> None:
    old, new, words = WRONG[case]
    assert old in GATHER.decode()
    error = refusal(put(tmp_path, GATHER.decode().replace(old, new, 1).encode()))
    assert error.status == "file_malformed" and words in error.message and error.file.endswith("m.xml")
    assert 0 <= error.offset <= len(GATHER) + 200


@pytest.mark.parametrize("old, new", [('offset="14"', 'offset="233"'), ('offset="14"', f'offset="{2**63 - 1}"'),
                                      ('size="24"', f'size="{2**63 - 1}"')])
def test_a_bin_that_is_too_short(old, new, tmp_path) -> None:
    error = unreadable(put(tmp_path, GATHER.decode().replace(old, new, 1).encode()))
    assert error.status == "file_malformed" and "256" in error.message and error.file.endswith("m.xml") and error.offset > 0


def test_a_link_to_the_bin(tmp_path) -> None:
    """As download caches lay files out."""
    for folder in ("blobs", "snapshot"):
        (tmp_path / folder).mkdir()
    (tmp_path / "blobs" / "abc").write_bytes(GATHER)
    (tmp_path / "blobs" / "def").write_bytes(bytes(range(256)))
    (tmp_path / "snapshot" / "m.xml").symlink_to("../blobs/abc")
    (tmp_path / "snapshot" / "m.bin").symlink_to("../blobs/def")
    with opened(str(tmp_path / "snapshot" / "m.xml")) as model:
        assert content(model.tensors[0]) == bytes(range(14, 38))


def test_billion_laughs_and_nesting(tmp_path) -> None:
    laughs = b'<!DOCTYPE net [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + GATHER.replace(b"l0", b"&b;")
    error = refusal(put(tmp_path, laughs))
    assert error.status == "unsupported" and "DOCTYPE" in error.message
    deep = b'<net version="11">' + b"<a>" * 100000
    assert "nested" in refusal(put(tmp_path, deep)).message


def test_the_bin(tmp_path) -> None:
    error = unreadable(put(tmp_path, GATHER, None))
    assert error.status == "file_not_found" and error.file.endswith("m.bin") and "'l0'" in error.message
    assert unreadable(GATHER).status == "unsupported", "bytes in memory have nothing beside them"
    empty = net([const(0, "f32", "0,3", 0, 0), layer(1, "Parameter", 'element_type="f32" shape="?,2..5"')])
    with opened(put(tmp_path, empty, None, "e")) as model:
        assert model.tensors[0].shape == (0, 3) and not model.tensors[0].tensor.data
    with opened(empty) as model:
        assert model.names == ["l0"]


@pytest.mark.parametrize("shape,good", [("", 1), ("3,2", 1), ("3, 2", 1), ("?", 1), ("-1", 1), ("2..5", 1), ("...", 1), ("2..", 1),
                                        ("..5", 1), ("5..2", 0), ("-2", 0), ("3,", 0), ("x", 0), ("3 2", 0), ("....", 0)])
def test_shapes_of_parameters(shape, good) -> None:
    xml = net([layer(0, "Parameter", f'element_type="FP32" shape="{shape}"')])
    if good:
        with opened(xml) as model:
            assert model.names == []
    else:
        assert refusal(xml).status == "file_malformed"


def test_every_beginning(tmp_path) -> None:
    for end in range(len(GATHER)):
        assert refusal(put(tmp_path, GATHER[:end])).status in ("file_malformed", "unsupported"), end


def test_every_number_changed(tmp_path) -> None:
    """Each digit by each other one: a right answer or an error, never more than the .bin."""
    text = GATHER.decode()
    answers = 0
    for at in (i for i, letter in enumerate(text) if letter.isdigit()):
        for digit in "0579":
            try:
                with opened(put(tmp_path, (text[:at] + digit + text[at + 1:]).encode())) as model:
                    assert all(tensor.offset + tensor.bytes <= 256 for tensor in model.tensors)
                    answers += len([content(tensor) for tensor in model.tensors])
            except GatherError as error:
                assert error.status in ("file_malformed", "unsupported")
    assert answers > 0


def test_more_than_one_piece(tmp_path) -> None:
    """expat is fed 64 MiB at a time."""
    xml = GATHER.replace(b"<edges>", b"<!--" + b" " * (65 << 20) + b"--><edges>")
    with opened(put(tmp_path, xml)) as model:
        assert len(model.names) == 3
    wrong = xml.replace(b'to-layer="4"', b'to-layer="5"')
    assert refusal(put(tmp_path, wrong)).offset > 65 << 20


def test_a_large_bin_costs_nothing(tmp_path) -> None:
    size = 10 << 30
    path = put(tmp_path, net([const(0, "f32", f"{size // 4}", 0, size)]), b"")
    os.truncate(tmp_path / "m.bin", size)
    start = time.monotonic()
    with opened(path) as model:
        assert model.tensors[0].bytes == size
    assert time.monotonic() - start < 0.2


# ---- files that OpenVINO writes


def saved(tmp_path, tensor):
    """Saves a model whose result is a constant; the constant's name, and its tensor as OpenVINO itself reads it."""
    constant = ov.op.Constant(tensor, shared_memory=False)
    ov.save_model(ov.Model([ov.opset8.result(constant)], [], "m"), tmp_path / "m.xml", compress_to_fp16=False)
    read = ov.Core().read_model(tmp_path / "m.xml")
    (node,) = [node for node in read.get_ordered_ops() if node.get_type_name() == "Constant"]
    view = node.get_tensor_view()
    if tensor.element_type == ov.Type.string:
        return node.get_friendly_name(), view.str_data.ravel().tolist()
    return node.get_friendly_name(), c.string_at(view.data.ctypes.data, view.byte_size)


@pytest.mark.parametrize("name", sorted(WHOLE | PACKED))
def test_types_as_openvino_writes_them(name, tmp_path) -> None:
    if ov is None:
        skip_test("openvino", "the package is not installed")
    length = 24
    group, size = (PACKED[name][1:] if name in PACKED else (1, SIZES.get(name, 1)))
    raw = np.arange(1, 1 + length // group * size, dtype=np.uint8) & (1 if name == "boolean" else 255)
    tensor = ov.Tensor(getattr(ov.Type, name), ov.Shape([2, 12]))
    c.memmove(tensor.data.ctypes.data, raw.ctypes.data, raw.nbytes)
    layer_name, known = saved(tmp_path, tensor)
    with opened(tmp_path / "m.xml") as model:
        assert len(model.names) == 1
        found = model.find(layer_name)
        assert (found.shape, found.bytes) == ((2, 12), raw.nbytes)
        assert found.type_name.decode() == (WHOLE | {key: row[0] for key, row in PACKED.items()})[name]
        assert content(found) == raw.tobytes() == known


def test_strings_as_openvino_writes_them(tmp_path) -> None:
    if ov is None:
        skip_test("openvino", "the package is not installed")
    texts = ["A", "B c", "", "d.Ef", "\u00e4", "x" * 1000]
    layer_name, known = saved(tmp_path, ov.Tensor(np.array(texts).reshape(2, 3)))
    assert known == texts
    with opened(tmp_path / "m.xml") as model:
        found = model.find(layer_name)
        assert [text.decode() for text in strings(found)] == texts and found.shape == (2, 3)


def test_a_model_as_openvino_writes_it(tmp_path) -> None:
    if ov is None:
        skip_test("openvino", "the package is not installed")
    ops = ov.opset8
    data = ops.parameter(ov.PartialShape([-1, ov.Dimension(2, 5)]), np.float32, name="x")
    ids, axis = ops.constant(np.array([[0, 2], [1, -1]], np.int32), name="ids"), ops.constant(np.int64(0), name="axis")
    ov.save_model(ov.Model([ops.result(ops.gather(data, ids, axis), name="y")], [data], "m"), tmp_path / "m.xml")
    with opened(tmp_path / "m.xml") as model:
        assert sorted(model.names) == ["axis", "ids"]
        assert np.frombuffer(content(model.find("ids")), "<i4").tolist() == [0, 2, 1, -1]
        assert np.frombuffer(content(model.find("axis")), "<i8").tolist() == [0]
