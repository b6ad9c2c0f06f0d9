# SPDX-License-Identifier: MIT
"""OpenVINO IR that is wrong in one place, cut, changed or hostile."""
import pytest
from gather_files import GatherError, content
from ir_files import GATHER, const, layer, net, opened, put, refusal, unreadable

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
    "an open shape": ('"3, 2"', '"3, ?"', "not static"),
    "no rank": ('"3, 2"', '"..."', "invalid shape"), "a wrong shape": ('"3, 2"', '"3; 2"', "invalid shape"),
    "a negative shape": ('"3, 2"', '"3,-2"', "invalid shape"), "a huge shape": ('"3, 2"', f'"{2**62},{2**62}"', "too many elements"),
    "a rank of 65": ('"3, 2"', '"' + ",".join(["1"] * 65) + '"', "invalid shape"), "no shape": ('shape="3, 2" ', "", "no shape"),
    "another root": ("<net ", "<net><a/></net><net ", "version"), "tags that cross": ("</layers>", "</edges>", "XML"),
    "two data": ("<input>", "<data/><input>", "two <data>"),
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


def test_billion_laughs_and_nesting(tmp_path) -> None:
    laughs = b'<!DOCTYPE net [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + GATHER.replace(b"l0", b"&b;")
    refusal(put(tmp_path, laughs)).must_be("unsupported", "DOCTYPE")
    deep = b'<net version="11">' + b"<a>" * 100000
    assert "nested" in refusal(put(tmp_path, deep)).message


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
                    assert all(tensor.offset + tensor.bytes <= 256 for tensor in model.all)
                    answers += len([content(tensor) for tensor in model.all])
            except GatherError as error:
                assert error.status in ("file_malformed", "unsupported")
    assert answers > 0


PARAMETER = 'element_type="f32" shape="3,2"'


@pytest.mark.parametrize("data, outputs, words", [
    (PARAMETER, 1, ""), (PARAMETER, 0, "one output"), (PARAMETER, 2, "one output"), ('element_type="f32"', 1, "a shape"),
    ('shape="3,2"', 1, "an element_type"), ('element_type="f31" shape="3,2"', 1, "'f31'"), ('element_type="f32" shape="3;2"', 1, "shape")])
def test_a_parameter(data, outputs, words, tmp_path) -> None:
    result = [layer(1, "Result", "", 1, 0)] * (outputs > 0)
    path = put(tmp_path, net([layer(0, "Parameter", data, 0, outputs), *result], [(0, 0, 1, 0)] * len(result)))
    if words:
        error = refusal(path)
        assert error.status == "file_malformed" and words in error.message and "'l0'" in error.message
    else:
        with opened(path) as model:
            assert not list(model.all)


CONST = const(0, "f32", "3, 2", 14, 24)
LAYERS = {
    "a constant with an input": ([CONST, const(1, "f32", "2", 0, 8, inputs=1)], [(0, 0, 1, 0)], "file_malformed", "one output and no input"),
    "a constant of two outputs": ([const(0, "f32", "2", 0, 8, outputs=2)], [], "file_malformed", "one output and no input"),
    "a result of two inputs": ([CONST, layer(1, "Result", "", 2, 0)], [(0, 0, 1, 0), (0, 0, 1, 1)], "file_malformed", "one input"),
    "a result of none": ([CONST, layer(1, "Result", "", 0, 0)], [], "file_malformed", "one input"),
    "a port of 65 lengths": ([CONST.replace("<dim>2<", "<dim>1</dim>" * 64 + "<dim>2<")], [], "unsupported", "more than 64 dimensions"),
}


@pytest.mark.parametrize("case", LAYERS)
def test_layers(case, tmp_path) -> None:
    layers, edges, status, words = LAYERS[case]
    refusal(put(tmp_path, net(layers, edges))).must_be(status, words)
