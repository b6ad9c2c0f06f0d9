# SPDX-License-Identifier: MIT
"""Branches of If: one that a known condition does not take is not judged; what leads to the others is said and followed, in both dialects."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from support.command import asked, call, formats
from support.skip import needs

reads_models = needs("models", {"onnx", "ir"} <= formats(), "this build does not read both kinds of models")


def nodes_of(path: Path, *arguments) -> tuple[int, dict[str, dict]]:
    code, check = asked("check", path, *arguments)
    return code, {f"{node['graph']}/{node['name']}": node for node in check["nodes"]}


BAD_ELSE = ('<ir_version: 8, opset_import: ["" : 13]> m (bool flag, float[3] t) => (float[n] y) <int64[1] good = {2}, int64[1] bad = {3}> '
            "{ [if] y = If (flag) <then_branch = a () => (float[n] p) { [g] p = Gather (t, good) }, "
            "else_branch = b () => (float[n] q) { [g] q = Gather (t, bad) }> }")  # fmt: skip


def save(folder: Path, text: str) -> Path:
    onnx.save(onnx.parser.parse_model(text), folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize("flag, skipped", [("1", "else"), ("0", "then"), ("true", "else")])
def test_a_known_condition(flag, skipped, tmp_path) -> None:
    path = save(tmp_path, BAD_ELSE)
    if flag == "true":
        np.save(tmp_path / "flag.npy", np.array(True))
        flag = str(tmp_path / "flag.npy")
    code, nodes = nodes_of(path, "--input", f"flag={flag}")
    node = nodes[f"main/if/{skipped}_branch/g"]
    assert (node["verdict"], node["executed"]) == ("unknown", False) and "give" not in node and "error" not in node
    assert node["reason"] == f"not executed: the condition 'flag' of If 'if' is {'true' if skipped == 'else' else 'false'}"
    taken = nodes[f"main/if/{'then' if skipped == 'else' else 'else'}_branch/g"]
    assert "executed" not in taken and taken["verdict"] == ("ok" if skipped == "else" else "bad")
    assert code == (0 if skipped == "else" else 1)
    text = call("check", path, "--input", f"flag={flag}").stdout
    assert "1 unknown (1 not executed)" in text and "why      not executed: the condition 'flag'" in text and " give  " not in text


def test_an_unknown_condition_judges_what_is_right_in_any_case(tmp_path) -> None:
    code, nodes = nodes_of(save(tmp_path, BAD_ELSE))
    node = nodes["main/if/else_branch/g"]
    assert code == 0 and node["verdict"] == "unknown" and nodes["main/if/then_branch/g"]["verdict"] == "ok"
    assert "the condition 'flag' of If 'if' decides" in node["reason"] and "outside [-3, 2]" in node["reason"] and node["give"] == "--input flag=TENSOR"


def test_a_computed_condition_and_what_is_inside(tmp_path) -> None:
    inner = "[in] p = If (flag) <then_branch = c () => (float[n] r) { [g] r = Gather (t, bad) }, else_branch = d () => (float[n] s) { [h] s = Gather (t, bad) }>"
    text = BAD_ELSE.replace("[g] q = Gather (t, bad)", inner.replace("p = If", "q = If")).replace("If (flag) <then_branch = a", "If (sure) <then_branch = a")
    text = text.replace("{ [if]", "{ no = Not (maybe) sure = Identity (yes) [if]").replace("<int64[1] good", "<bool yes = {1}, bool maybe = {0}, int64[1] good")
    code, nodes = nodes_of(save(tmp_path, text))
    assert code == 0 and [node["verdict"] for node in nodes.values()].count("ok") == 1
    assert sum(node.get("executed") is False for node in nodes.values()) == 2


def test_explain_draws_it_and_says_so(tmp_path) -> None:
    path = save(tmp_path, BAD_ELSE)
    done = call("explain", path, "--node", "main/if/else_branch/g", "--input", "flag=1")
    assert "In the model it is not executed: the condition 'flag' of If 'if' is true" in done.stdout and done.returncode == 1


def test_what_is_to_be_given(tmp_path) -> None:
    """Indices of a branch that outer nodes compute from an input."""
    text = ('<ir_version: 8, opset_import: ["" : 13]> m (bool flag, int64[2] i, float[3] t, float[9] other) => (float[n] y, float[n] z) { n = Neg (i) '
            "[if] y = If (flag) <then_branch = a () => (float[n] p) { [g] p = Gather (t, n) }, else_branch = b () => (float[n] q) { q = Identity (t) }> "
            "k = If (flag) <then_branch = c () => (int64[2] r) { r = Identity (i) }, else_branch = d () => (int64[2] s) { s = Neg (i) }> [h] z = Gather (t, k) }")  # fmt: skip
    path = save(tmp_path, text)
    _, nodes = nodes_of(path)
    assert nodes["main/if/then_branch/g"]["give"] == "--input i=TENSOR"
    assert nodes["main/h"]["give"] == "--input flag=TENSOR --input i=TENSOR"
    code, nodes = nodes_of(path, "--input", "i=[0, 3]", "--input", "flag=1")
    assert code == 1 and nodes["main/h"]["verdict"] == "bad" and nodes["main/if/then_branch/g"]["verdict"] == "ok"


# ---- IR


def layer(number: int, name: str, kind: str, version: str, data: str = "", inputs: int = 0, out: str | None = None, more: str = "") -> str:
    ports = "".join(f'<port id="{i}"/>' for i in range(inputs))
    made = "" if out is None else f'<output><port id="{inputs}" names="{name}" {out}</port></output>'
    return f'<layer id="{number}" name="{name}" type="{kind}" version="{version}">{data}{more}<input>{ports}</input>{made}</layer>'


X = 'precision="FP32"><dim>4</dim><dim>3</dim>'
I = 'precision="I64"><dim>2</dim>'


def body(tag: str, rows: str) -> str:
    """y = Gather(a, b, 0) with a Parameter for the data, and for the indices, or bad constants."""
    b = layer(7, "b", "Parameter", "opset1", '<data shape="2" element_type="i64"/>', out=I) if rows == "given" else \
        layer(7, "b", "Const", "opset1", '<data element_type="i64" shape="2" offset="8" size="16"/>', out=I)
    layers = layer(5, "a", "Parameter", "opset1", '<data shape="4,3" element_type="f32"/>', out=X) + b
    layers += layer(2, "axis", "Const", "opset1", '<data element_type="i64" shape="" offset="0" size="8"/>', out='precision="I64">')
    layers += layer(3, "g", "Gather", "opset7", '<data batch_dims="0"/>', 3, 'precision="FP32">') + layer(9, "r", "Result", "opset1", "", 1)
    edges = [(5, 0, 3, 0), (7, 0, 3, 1), (2, 0, 3, 2), (3, 3, 9, 0)]
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    return f"<{tag}><layers>{layers}</layers><edges>{lines}</edges></{tag}>"


def ir_if(folder: Path, then: str = "given", other: str = "constant", extra: str = "") -> Path:
    def port_map(name: str, rows: str) -> str:
        b = '<input external_port_id="2" internal_layer_id="7"/>' if rows == "given" else ""
        return f'<{name}><input external_port_id="1" internal_layer_id="5"/>{b}<output external_port_id="3" internal_layer_id="9"/></{name}>'
    maps = port_map("then_port_map", then) + port_map("else_port_map", other) + extra
    layers = layer(0, "c", "Parameter", "opset1", '<data shape="" element_type="boolean"/>', out='precision="BOOL">')
    layers += layer(1, "x", "Parameter", "opset1", '<data shape="4,3" element_type="f32"/>', out=X)
    layers += layer(2, "i", "Parameter", "opset1", '<data shape="2" element_type="i64"/>', out=I)
    layers += layer(3, "if", "If", "opset8", "", 3, 'precision="FP32">', maps + body("then_body", then) + body("else_body", other))
    layers += layer(4, "r", "Result", "opset1", "", 1)
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0)]
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    (folder / "m.xml").write_text(f'<net name="m" version="11"><layers>{layers}</layers><edges>{lines}</edges></net>')
    (folder / "m.bin").write_bytes(np.array([0, 3, 4]).tobytes())
    return folder / "m.xml"


def test_ir_branches(tmp_path) -> None:
    path = ir_if(tmp_path)
    code, nodes = nodes_of(path)
    then, other = nodes["main/if/then_body/g"], nodes["main/if/else_body/g"]
    assert code == 0 and other["verdict"] == "unknown" and then["verdict"] == "unknown"
    assert "the condition 'c' of If 'if' decides" in other["reason"] and "= 4 is outside" in other["reason"]
    assert then["reason"] == "the indices 'b' come from the input 'i', which was not given" and then["give"] == "--input i=TENSOR"
    code, nodes = nodes_of(path, "--input", "c=1", "--input", "i=[0, 3]")
    assert code == 0 and nodes["main/if/then_body/g"]["verdict"] == "ok"
    assert nodes["main/if/else_body/g"]["executed"] is False and "the condition 'c' of If 'if' is true" in nodes["main/if/else_body/g"]["reason"]
    code, nodes = nodes_of(path, "--input", "c=1", "--input", "i=[0, 4]")
    assert code == 1 and nodes["main/if/then_body/g"]["error"]["value"] == 4
    code, nodes = nodes_of(path, "--input", "c=0", "--input", "i=[0, 4]")
    assert code == 1 and nodes["main/if/then_body/g"]["executed"] is False and nodes["main/if/else_body/g"]["verdict"] == "bad"


def ir_loop(folder: Path, kind: str, count: int | None, condition: bool | None) -> Path:
    """A body that takes the rows 3 and 4 of 4, so many times; None: an input of the model says how often, or whether."""
    maps = '<port_map><input external_port_id="2" internal_layer_id="5"/><output external_port_id="3" internal_layer_id="9"/></port_map>'
    parameter, const = "Parameter", "Const"
    layers = layer(0, "n", parameter if count is None else const, "opset1",
                   '<data shape="" element_type="i64"' + ("/>" if count is None else ' offset="24" size="8"/>'), out='precision="I64">')
    layers += layer(1, "c", parameter if condition is None else const, "opset1",
                    '<data shape="" element_type="boolean"' + ("/>" if condition is None else ' offset="32" size="1"/>'), out='precision="BOOL">')
    layers += layer(2, "x", parameter, "opset1", '<data shape="4,3" element_type="f32"/>', out=X)
    layers += layer(3, "l", kind, "opset5", "", 3, 'precision="FP32">', maps + body("body", "constant"))
    layers += layer(4, "r", "Result", "opset1", "", 1)
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0)]
    lines = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    (folder / "l.xml").write_text(f'<net name="l" version="11"><layers>{layers}</layers><edges>{lines}</edges></net>')
    (folder / "l.bin").write_bytes(np.array([0, 3, 4, count or 0]).tobytes() + bytes([bool(condition)]))
    return folder / "l.xml"


@pytest.mark.parametrize("kind", ["Loop", "loop"])
def test_ir_loops_that_do_not_run(tmp_path, kind) -> None:
    """A count of 0 or a false condition, constant or given: not executed. A count below 0 is none. What is not known decides."""
    for count, condition, why in (
        (0, True, "the trip count 'n' is 0 in"), (0, False, "the trip count 'n' is 0 in"), (3, False, "the condition 'c' is false in"),
        (-1, False, "the condition 'c' is false in"), (0, None, "the trip count 'n' is 0 in"), (None, False, "the condition 'c' is false in"),
    ):  # fmt: skip
        code, nodes = nodes_of(ir_loop(tmp_path, kind, count, condition))
        node = nodes["main/l/body/g"]
        assert code == 0 and node["verdict"] == "unknown" and node["executed"] is False, (count, condition, node)
        assert node["reason"] == f"not executed: {why} {kind} 'l'"
    for count, condition in ((1, True), (-1, True), (7, True)):
        code, nodes = nodes_of(ir_loop(tmp_path, kind, count, condition))
        assert code == 1 and nodes["main/l/body/g"]["error"]["value"] == 4, (count, condition)
    for count, condition, who in ((None, True, "the trip count 'n' of"), (2, None, "the condition 'c' of"), (-1, None, "the condition 'c' of"),
                                  (None, None, "the trip count 'n' and the condition 'c' of")):  # fmt: skip
        code, nodes = nodes_of(ir_loop(tmp_path, kind, count, condition))
        node = nodes["main/l/body/g"]
        assert code == 0 and node["verdict"] == "unknown" and f"{who} {kind} 'l' decides" in node["reason"], (count, condition, node)
    path = ir_loop(tmp_path, kind, None, None)
    for count, condition, code, executed in (("0", "1", 0, False), ("2", "0", 0, False), ("2", "1", 1, True), ("-1", "1", 1, True)):
        told, nodes = nodes_of(path, "--input", f"n={count}", "--input", f"c={condition}")
        assert told == code and nodes["main/l/body/g"].get("executed", True) is executed, (count, condition)


def test_ir_explain_of_a_branch(tmp_path) -> None:
    path = ir_if(tmp_path)
    code, drawn = asked("explain", path, "--node", "main/if/then_body/g", "--input", "i=[3, 0]")
    assert code == 0 and [cell["row"] for cell in drawn["cells"]] == [3] * 3 + [0] * 3
    code, drawn = asked("explain", path, "--node", "main/if/then_body/g", "--input", "b=[2, 0]")
    assert code == 0 and drawn["cells"][0]["row"] == 2


def test_ir_maps_that_say_nothing(tmp_path) -> None:
    """A second source for a Parameter, ids that are none: its value is not known."""
    for extra in ('<then_port_map><input external_port_id="0" internal_layer_id="7"/></then_port_map>', '<back_edges><edge from-layer="9" to-layer="7"/></back_edges>'):
        path = ir_if(tmp_path, extra=extra)
        _, nodes = nodes_of(path, "--input", "i=[0, 3]")
        known = nodes["main/if/then_body/g"]["verdict"] == "ok"
        assert known == ("back_edges" in extra)  # which are of a loop's body
    path = ir_if(tmp_path)
    for wrong in ("99", "-1", "x", ""):
        path.write_text(path.read_text().replace('external_port_id="2"', f'external_port_id="{wrong}"'))
        node = nodes_of(path, "--input", "i=[0, 3]")[1]["main/if/then_body/g"]
        assert node["verdict"] == "unknown" and "--input b=TENSOR" in node["give"]
        path = ir_if(tmp_path)


def test_ir_output_of_the_branch_taken(tmp_path) -> None:
    """What an If gives follows the branch: a gather from it knows the length."""
    path = ir_if(tmp_path, "constant", "given")
    code, info = asked("check", path, "--input", "c=0", "--input", "i=[0, 1]")
    assert code == 0 and info["ok"] == 1


def test_python(tmp_path) -> None:
    libgather = pytest.importorskip("libgather")
    check = libgather.check(ir_if(tmp_path), {"c": True, "i": [0, 3]})
    assert [node.executed for node in check] == [True, False] and [node.verdict for node in check] == ["ok", "unknown"]
    assert "1 unknown (1 not executed)" in str(check) and check[1].missing == () and check[1].as_dict()["executed"] is False
    assert libgather.check(ir_if(tmp_path))[0].missing == ("i",)
