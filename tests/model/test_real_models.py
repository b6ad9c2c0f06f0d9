# SPDX-License-Identifier: MIT
"""gather check on the ONNX files of other people's packages: beside what onnx says of them, and when they are damaged."""

from __future__ import annotations

import json
import os

import onnx
import pytest

import real
from support.command import call

# How many gather nodes each file of each package has, subgraphs included.
COUNTS = {
    "silero-vad": {
        "silero_vad.onnx": 20,
        "silero_vad_16k_op15.onnx": 11,
        "silero_vad_16k_sequence.onnx": 0,
        "silero_vad_half.onnx": 10,
        "silero_vad_op18_ifless.onnx": 7,
        "silero_vad_openvino_16k.onnx": 2,
    },
    "magika": {"model.onnx": 0},
    "rapidocr-onnxruntime": {
        "ch_PP-OCRv4_det_infer.onnx": 0,
        "ch_PP-OCRv4_rec_infer.onnx": 0,
        "ch_ppocr_mobile_v2.0_cls_infer.onnx": 0,
    },
}


@pytest.mark.parametrize("package", COUNTS)
def test_every_gather_node_is_found(package):
    found = {path.name: len(real.check(path)["nodes"]) for path in real.files_of(package)}
    assert found == COUNTS[package]


@pytest.mark.parametrize("declarations", [True, False], ids=["declared", "bare"])
@pytest.mark.parametrize("package", COUNTS)
def test_beside_onnx(package, declarations, tmp_path):
    """Names, graphs, versions, axes, and all shapes and types that onnx infers."""
    faults = []
    for path in real.files_of(package):
        assert len(real.onnx_says(onnx.load(path))) == COUNTS[package][path.name]
        faults += real.beside_onnx(path, tmp_path, declarations)
    assert not faults, "\n".join(faults)


def test_no_gather_nodes_is_said():
    for path in [*real.files_of("magika"), *real.files_of("rapidocr-onnxruntime")]:
        done = call("check", path)
        assert (done.returncode, done.stdout) == (0, f"{path}: onnx, no gather nodes\n")


def test_verdicts():
    """What no input decides is verified: each silero model picks lengths out of shapes by constant indices."""
    for path in real.files_of("silero-vad"):
        for node in real.check(path)["nodes"]:
            known = "max" in node["indices"] and node["data"]["shape"][node["axis"]] not in (-1, None)
            known &= not isinstance(node["data"]["shape"][node["axis"]], str) and node.get("executed", True)
            assert node["verdict"] == ("ok" if known else "unknown"), node


# ---- damage


# A sanitized command starts slowly: then each damage is done at every fourth place only.
STEP = 4 if os.environ.get("GATHER_SANITIZE") else 1


def survives(path) -> int:
    """The command ends by itself, with one object, and with an error where it says that it failed."""
    done = call("check", path, "--json")
    assert done.returncode in (0, 1, 3, 4), (done.returncode, done.stderr)
    answer = json.loads(done.stdout)
    assert ("error" in answer) == (done.returncode >= 3) and done.stderr == ""
    return done.returncode


def smallest() -> bytes:
    """The smallest real model with more than a few gather nodes."""
    paths = [path for path in real.files_of("silero-vad") if COUNTS["silero-vad"][path.name] > 5]
    return min(paths, key=lambda path: path.stat().st_size).read_bytes()


def test_cut_at_every_kilobyte(tmp_path):
    content, path = smallest(), tmp_path / "cut.onnx"
    path.write_bytes(content)
    codes = set()
    with path.open("r+b") as file:
        for end in range((len(content) - 1) // 1024 * 1024, -1, -1024 * STEP):
            file.truncate(end)
            codes.add(survives(path))
    assert codes == {3}


def varint(content: bytes, at: int) -> tuple[int, int]:
    """The number at that place, and where it ends."""
    number = shift = 0
    while True:
        number |= (content[at] & 127) << shift
        shift += 7
        at += 1
        if content[at - 1] < 128:
            return number, at


def to_varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def lengths_of(content: bytes, at: int, end: int, path: tuple) -> list[tuple[int, int, tuple]]:
    """Where the lengths of a message's fields stand: begin, end, and the field numbers that lead there.

    It goes into the model's graph (7), and there into nodes (1), initializers (5) and declarations (11, 12, 13).
    """
    found = []
    while at < end:
        tag, at = varint(content, at)
        field, wire = tag >> 3, tag & 7
        begin = at
        if wire == 0:
            _, at = varint(content, at)
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            length, at = varint(content, at)
            found.append((begin, at, (*path, field)))
            if (*path, field) == (7,) or (path == (7,) and field in (1, 5, 11, 12, 13)):
                found += lengths_of(content, at, at + length, (*path, field))
            at += length
    return found


def test_every_length_changed(tmp_path):
    """One more, one less, as much as fits there, and more than any file has; of nodes and tensors, every third field."""
    content, path = smallest(), tmp_path / "damaged.onnx"
    places = lengths_of(content, 0, len(content), ())
    assert len(places) > 500
    codes = []
    path.write_bytes(content)
    with path.open("r+b", buffering=0) as file:
        for n, (begin, end, field) in enumerate(places):
            if len(field) > 2 and n % (3 * STEP):
                continue
            length, _ = varint(content, begin)
            widest = (1 << 7 * (end - begin)) - 1
            for other in sorted({length + 1, max(length - 1, 0), widest} - {length}):
                coded = to_varint(other)
                if len(coded) == end - begin:
                    file.seek(begin)
                    file.write(coded)
                    codes.append(survives(path))
            file.seek(begin)
            file.write(content[begin:end])
    assert path.read_bytes() == content and survives(path) == 0
    for n, (begin, end, _) in enumerate(places):
        if n % (8 * STEP) == 0:
            for huge in (1 << 31, (1 << 63) - 1, (1 << 64) - 1):
                path.write_bytes(content[:begin] + to_varint(huge) + content[end:])
                codes.append(survives(path))
    assert len(codes) > 500 / STEP and codes.count(3) > len(codes) * 0.8
