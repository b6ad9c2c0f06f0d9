# SPDX-License-Identifier: MIT
"""Names from files: whatever they hold, a terminal gets text, and JSON the exact name."""

import re
import zipfile

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import pytest
import safetensors.numpy
from command import one_object

NASTY = "a\x1b[31m\x9b32m\u202ecba\u2066\u2069\u200e\u200f\u061c\u2028\u2029\x7f\r\nz"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SHOWN = r"a\x1b[31m\u009b32m\u202ecba\u2066\u2069\u200e\u200f\u061c\u2028\u2029\x7f\x0d\x0az"


def named(what: str) -> str:
    return what + NASTY


def nasty_model(path) -> str:
    """A model of which every name is one that plays with a terminal."""
    value = onnx.helper.make_tensor_value_info
    table = onnx.numpy_helper.from_array(np.arange(8, dtype=np.float32).reshape(4, 2), named("table"))
    bad = onnx.numpy_helper.from_array(np.array([1, 9]), named("bad"))
    nodes = [
        onnx.helper.make_node("Gather", [named("table"), named("ids")], [named("y")], name=named("node")),
        onnx.helper.make_node("Gather", [named("table"), named("bad")], [named("w")], name=named("wrong")),
        onnx.helper.make_node("GatherElements", [named("data"), named("ids2")], [named("z")], name=named("elements"), axis=1),
    ]
    inputs = [value(named("ids"), 7, [named("N")]), value(named("data"), 1, [named("R"), 3]), value(named("ids2"), 7, [named("R"), 3])]
    outputs = [value(named("y"), 1, None), value(named("w"), 1, None), value(named("z"), 1, None)]
    graph = onnx.helper.make_graph(nodes, named("graph"), inputs, outputs, [table, bad])
    path.write_bytes(onnx.helper.make_model(graph, producer_name=named("producer")).SerializeToString())
    return path.name


def says_nothing_unsafe(answer) -> str:
    text = answer.out.decode() + answer.err.decode()  # valid UTF-8 too
    assert not UNSAFE.search(text), (UNSAFE.search(text), text)
    return text


def test_a_model(gather):
    model = nasty_model(gather.folder / "m.onnx")
    i = f"{named('ids')}=[0, 1]"
    assert SHOWN in says_nothing_unsafe(gather("info", model))
    assert SHOWN in says_nothing_unsafe(gather("check", model))
    assert SHOWN in says_nothing_unsafe(gather("check", model, "--input", i, "--dim", f"{named('R')}=3"))
    for words in (
        ("check", model, "--input", f"{named('no')}=1"),
        ("check", model, "--input", i, "--input", i),
        ("check", model, "--dim", f"{named('no')}=1"),
        ("check", model, "--input", named("pair")),
        ("explain", model),
        ("explain", model, "--node", named("no")),
        ("explain", model, "--node", named("node")),
        ("explain", model, "--node", named("node"), "--input", i),
        ("explain", model, "--node", named("wrong")),
        ("explain", model, "--node", named("elements")),
        ("run", model),
        ("run", model, "--input", i),
        ("run", model, "--node", named("node"), "--input", i),
        ("run", model, "--node", named("wrong")),
        ("run", model, "--output", f"{named('no')}=o.npy"),
        ("run", model, "--output", f"{named('y')}=o.{NASTY}"),
        ("run", model, "--node", named("node"), "--input", i, "--output", f"{named('no')}=o.npy"),
        ("take", f"{model}:{named('no')}", "0", "-o", "o.npy"),
        ("take", f"{model}:{named('table')}", "9", "-o", "o.npy"),
        ("take", f"{model}:{named('table')}", named("1"), "-o", "o.npy"),
        ("take", f"{model}:{named('table')}", "1", "-o", named("o.")),
        ("take", f"{model}:{named('table')}", "1", "-o", named("o") + ".npy"),
        ("shuffle", f"{model}:{named('table')}", "-o", named("s") + ".npy"),
        ("bench", f"{model}:{named('no')}"),
        (named("command"),),
        ("take", named("--option")),
        ("take", model, "1", "--on-bad", named("x"), "-o", "p.npy"),
        ("take", model, "1", "--rules", named("x"), "-o", "p.npy"),
    ):
        says_nothing_unsafe(gather(*words))
        answer = gather(*words, "--json")
        says_nothing_unsafe(answer)


def test_json_is_exact(gather):
    model = nasty_model(gather.folder / "m.onnx")
    told = gather.json("info", model)
    assert {tensor["name"] for tensor in told["tensors"]} == {named("table"), named("bad")}
    nodes = one_object(gather("check", model, "--json").out)["nodes"]
    assert [node["name"] for node in nodes] == [named("node"), named("wrong"), named("elements")]
    assert nodes[0]["indices"]["name"] == named("ids") and nodes[0]["indices"]["shape"] == [named("N")]
    error = gather.fails("file_not_found", "info", named("x") + ".npy")
    assert error["file"] == named("x") + ".npy"


def test_other_files(gather):
    safetensors.numpy.save_file({named("t"): np.zeros((3, 2))}, gather.folder / (named("s") + ".safetensors"))
    np.savez(gather.folder / "x.npz", **{"plain": np.zeros((3, 2))})
    with zipfile.ZipFile(gather.folder / "x.npz", "a") as file:
        file.writestr(named("t") + ".npy", b"no array")
    for path in (named("s") + ".safetensors", "x.npz"):
        assert SHOWN in says_nothing_unsafe(gather("info", path))
        for name in (named("t"), named("no"), ""):
            says_nothing_unsafe(gather("take", f"{path}:{name}", "0", "-o", "o.npy", "-f"))
            says_nothing_unsafe(gather("info", f"{path}:{name}"))


def test_fields_of_a_dtype(gather):
    dtype = [(NASTY, "<i4")]
    np.save(gather.folder / "x.npy", np.zeros(3, dtype))
    for words in (("info", "x.npy"), ("take", "x.npy", "0", "-o", "o.npy"), ("take", "x.npy", "0", "-o", "o.pb"), ("explain", "x.npy", "0")):
        says_nothing_unsafe(gather(*words))


@pytest.mark.parametrize("raw", [b"\xff", b"\xc2", b"\xe2\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\x9b31m"])
def test_bytes_that_are_not_utf8(gather, raw):
    answer = gather("info", raw.decode(errors="surrogateescape") + "x")
    text = says_nothing_unsafe(answer)
    assert text.startswith("gather: error: " + "".join(f"\\x{b:02x}" if b > 0x7F else chr(b) for b in raw) + "x: ")
