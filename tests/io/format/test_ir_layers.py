# SPDX-License-Identifier: MIT
"""OpenVINO IR: layers, their names, bodies, versions, and what may stand before them."""
import os
import time

import pytest
from gather_files import GatherError, content
from ir_files import GATHER, const, layer, net, opened, put, refusal

def test_a_model(tmp_path) -> None:
    with opened(put(tmp_path, GATHER)) as model:
        assert model.format == "ir" and model.names == ["l0", "l1", "l2"]
        table, ids, axis = model.all
        assert (table.shape, table.offset, table.bytes, table.type_name) == ((3, 2), 14, 24, b"float32")
        assert content(table) == bytes(range(14, 38)) and content(ids) == bytes(range(3, 11))
        assert axis.shape == () and content(axis) == bytes(range(12, 20))
        assert all(tensor.tensor.flags & 1 for tensor in model.all), "views of a file are read-only"


@pytest.mark.parametrize("before", ["\ufeff", '<?xml version="1.0"?>\n', " \n<!-- -- no -> end -->\n".replace(" -- ", " "),
                                    '<?xml version="1.0" encoding="UTF-8"?><!-- a --> <!-- b -->\r\n\t'])
def test_what_stands_before_it(before, tmp_path) -> None:
    with opened(put(tmp_path, before.encode() + GATHER)) as model:
        assert len(model.names) == 3


@pytest.mark.parametrize("xml", [b"<?xml version='1.0'?><svg/>", b"<?xml version='1.0'?><network/>", b"<?xml", b"<!-- <net>", b"<net"])
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


@pytest.mark.parametrize("shape,good", [("", 1), ("3,2", 1), ("3, 2", 1), ("?", 1), ("-1", 1), ("2..5", 1), ("...", 1), ("2..", 1),
                                        ("..5", 1), ("5..2", 0), ("-2", 0), ("3,", 0), ("x", 0), ("3 2", 0), ("....", 0)])
def test_shapes_of_parameters(shape, good) -> None:
    xml = net([layer(0, "Parameter", f'element_type="FP32" shape="{shape}"')])
    if good:
        with opened(xml) as model:
            assert model.names == []
    else:
        assert refusal(xml).status == "file_malformed"


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
        assert model.all[0].bytes == size
    assert time.monotonic() - start < 0.2
