# SPDX-License-Identifier: MIT
"""`gather explain MODEL`: one gather node of a model of either dialect, and what is said where it cannot be drawn."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from command import elements, one_object, take
from models import BRANCHES, COMPUTED, EMBED, ir_gather, onnx_model

SNAPSHOTS = Path(__file__).parent / "explain_model"
MODELS = {
    "embed.onnx": lambda path: onnx_model(path, EMBED), "computed.onnx": lambda path: onnx_model(path, COMPUTED),
    "branches.onnx": lambda path: onnx_model(path, BRANCHES), "pick.xml": ir_gather, "batch.xml": lambda path: ir_gather(path, batch=1),
    "pick7.xml": lambda path: ir_gather(path, "opset7"),
}
CASES = {
    "embed": (0, "embed.onnx", "--node", "embed", "--input", "ids=[[0, 3, -1]]"),
    "embed_bad": (1, "embed.onnx", "--input", "ids=[[0, 4], [-5, 1]]"),
    "embed_clamp": (0, "embed.onnx", "--node", "main/embed", "--input", "ids=[[0, 4]]", "--on-bad", "clamp"),
    "data_by_dims": (0, "computed.onnx", "--node", "y", "--input", "k=[2, 0, -1]", "--dim", "N=2", "--dim", "C=3"),
    "between": (1, "computed.onnx", "--node", "q", "--input", "best=[1, 5, 0]", "--dim", "N=2", "--dim", "C=3"),
    "constant": (0, "computed.onnx", "--node", "z", "--dim", "N=2", "--dim", "C=2"),
    "branch": (0, "branches.onnx", "--node", "main/if/else_branch/pick", "--input", "n=[2, 0]"),
    "function": (0, "branches.onnx", "--node", "inner", "--input", "v=[5, 6, 7]", "--input", "j=[0, 2]"),
    "ir": (0, "pick.xml", "--node", "pick", "--input", "ids=[[0, 9], [-1, 2]]"),
    "ir_batch": (0, "batch.xml", "--input", "ids=[[0, 3], [-1, 2]]"),
    "ir_negative": (1, "pick7.xml", "--input", "ids=[[0, 3], [-1, 2]]"),
}


@pytest.fixture
def models(gather):
    for name, make in MODELS.items():
        make(gather.folder / name)


@pytest.mark.parametrize("name", CASES)
def test_drawings(gather, models, name):
    code, *words = CASES[name]
    answer = gather("explain", *words, env={"COLUMNS": "100"})
    assert answer.code == code, answer
    drawing, _, runtimes = answer.text.partition("\nWhat each runtime does with this index out of range:\n")
    assert drawing == (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert bool(answer.err) == bool(runtimes) == (code != 0)


@pytest.mark.parametrize("words", [["embed.onnx", "--input", "ids=[[0, 4], [-5, 1]]"], ["pick7.xml", "--input", "ids=[[0, 3], [-1, 2]]"]])
def test_runtimes_are_those_of_check(gather, models, words):
    runtimes = gather("explain", *words).text.partition("this index out of range:\n")[2]
    node = one_object(gather("check", *words, "--json").out)["nodes"][0]
    assert "cause" not in node or f"\nLikely cause: {node['cause']}\n\nWhat each" in gather("explain", *words).text
    assert runtimes.splitlines() == [f"  {name:12} {said}" for name, said in node["runtimes"].items()]


def test_every_drawing_is_a_case():
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_pictures(gather, models, name):
    code, *words = CASES[name]
    answer = gather("explain", *words, "-o", "x.svg")
    assert (answer.code, answer.out) == (code, b"")
    root = ET.parse(gather.folder / "x.svg").getroot()
    text = " ".join(element.text or "" for element in root.iter())
    assert words[0] in text and int(root.get("width")) <= 900
    assert ("not known: each cell shows its number" in text) == (name in ("data_by_dims", "between", "constant", "branch"))


@pytest.mark.parametrize("seed", range(24))
def test_origins_are_numpys(gather, seed):
    """A model made of a line of the command's own: its cells come from where NumPy takes them."""
    random = np.random.default_rng(seed)
    shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 4)))
    axis, is_elements, known = int(random.integers(len(shape))), bool(seed % 2), bool(seed // 2 % 2)
    want = [int(random.integers(1, n + 1)) for n in shape] if is_elements else random.integers(1, 4, random.integers(1, 3)).tolist()
    indices = random.integers(-shape[axis], shape[axis], want)
    numbers = ", ".join(str(float(n)) for n in range(int(np.prod(shape))))
    lengths = ",".join(map(str, shape))
    given = f"<float[{lengths}] x = {{{numbers}}}>" if known else ""
    inputs = "" if known else f"float[{','.join(f'D{d}' for d in range(len(shape)))}] x, "
    op = "GatherElements" if is_elements else "Gather"
    onnx_model(gather.folder / "m.onnx",
               f"g ({inputs}int64[{','.join(f'K{d}' for d in range(indices.ndim))}] i) => (float y) {given} {{ y = {op} <axis = {axis}> (x, i) }}")
    gather.save("i.npy", indices)
    dims = [] if known else [w for d, n in enumerate(shape) for w in ("--dim", f"D{d}={n}")]
    answer = gather.json("explain", "m.onnx", "--node", "y", "--input", "i=i.npy", *dims)
    call = elements if is_elements else take
    expected = call(np.arange(np.prod(shape)).reshape(shape), indices, axis=axis)
    assert (answer["model"], answer["node"], answer["data_known"]) == ("m.onnx", f"main/{op}_0", known)
    assert answer["output_shape"] == list(expected.shape) and answer["cells"]
    for cell in answer["cells"]:
        assert cell["data"] == [int(c) for c in np.unravel_index(expected[tuple(cell["out"])], shape)]


def test_a_bad_index_in_json(gather, models):
    answer = gather("explain", "embed.onnx", "--input", "ids=[[0, 4]]", "--json")
    assert (answer.code, answer.err) == (1, b"")
    answer = one_object(answer.out)
    assert (answer["error"]["status"], answer["error"]["node"], answer["error"]["position"]) == ("index_out_of_range", "embed", [0, 1])
    checked = gather("check", "embed.onnx", "--input", "ids=[[0, 4]]", "--json")
    assert answer["runtimes"] == one_object(checked.out)["nodes"][0]["runtimes"]


def test_what_is_missing_is_said(gather, models):
    message = gather.fails("usage", "explain", "computed.onnx", "--node", "q", "--dim", "N=2", "--dim", "C=3")["message"]
    assert "--input x=TENSOR" in message and "--dim" not in message
    gather.save("x.npy", np.float32([[1, 5, 2], [3, 4, 9]]))
    assert gather("explain", "computed.onnx", "--node", "q", "--input", "x=x.npy").code == 0  # ArgMax of it is known


def test_names(gather, models):
    words = ("--input", "k=[0]", "--dim", "N=2", "--dim", "C=3")
    nodes = [gather.json("explain", "computed.onnx", "--node", name, *words)["node"] for name in ("y", "main/y", "main/Gather_2")]
    assert nodes == ["main/Gather_2"] * 3


def test_names_in_other_scripts(gather):
    """Names are shown as they are in a picture, escaped; what could turn a line round is a dot."""
    import onnx

    for name, shown in {"表<&>\"é": "表<&>\"é", "a\u202eb\x1bc\ud7ff": "a.b.c\ud7ff", "x" * 300: "..."}.items():
        model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]>\n{EMBED}')
        model.graph.node[0].name = name
        onnx.save(model, gather.folder / "m.onnx")
        assert gather("explain", "m.onnx", "--input", "ids=[[1]]", "-f", "-o", "x.svg").code == 0
        root = ET.parse(gather.folder / "x.svg").getroot()
        assert any(shown in (element.text or "") for element in root.iter() if element.tag.endswith("text"))
        assert int(root.get("width")) <= 900


def test_check_says_what_to_give(gather, models):
    """What is advised makes the node known."""
    nodes = gather.json("check", "computed.onnx")["nodes"]
    assert [node["verdict"] for node in nodes] == ["unknown"] * 3
    assert nodes[0]["give"] == "--input k=TENSOR"
    assert nodes[1]["give"] == "--input x=TENSOR"
    assert nodes[2]["give"] == "--dim C=LENGTH"
    nodes = gather.json("check", "computed.onnx", "--dim", "C=3", "--dim", "N=2", "--input", "k=[1, 2]")["nodes"]  # z has two rows
    assert [node["verdict"] for node in nodes] == ["ok"] * 3  # best counts rows, of which x has fewer than columns


def test_check_has_one_line_for_each_node(gather, models):
    answer = gather("check", "computed.onnx", "--dim", "C=3", "--input", "k=[1, 3]")
    assert answer.code == 1
    head, empty, *lines = answer.text.splitlines()
    assert head == "computed.onnx: onnx, 3 gather nodes: 0 ok, 2 unknown, 1 bad" and empty == ""
    assert lines[0] == "contradiction: the value 'q' of main is declared [3], but is [N, 3]"
    nodes = [line for line in lines[1:] if not line.startswith(" ")]
    assert [(line.split()[0], line.split()[-1]) for line in nodes] == [
        ("bad", "main/Gather_2"), ("unknown", "main/Gather_4"), ("unknown", "main/GatherElements_6")]
    assert len({line.index("main/") for line in nodes}) == 1 and len({line.index("axis") for line in nodes}) == 1
