# SPDX-License-Identifier: MIT
"""GGUF files that are cut, changed or say what cannot be, each with its byte."""
import struct

import gguf as theirs
import numpy as np
import pytest
from gguf_files import ARRAY, STRING, UINT8, UINT32, UINT64, Gguf
from tensor_files import complaint, outcome

HEAD = 24  # magic bytes, version, two counts


def good(order: str = "<") -> Gguf:
    return (Gguf(order).add("general.architecture", STRING, "t").add("list", ARRAY, (STRING, ["a", "bc"]))
            .add("general.alignment", UINT32, 8).tensor("emb", [3, 4], 0, 0).tensor("q", [32, 2], 2, 48))


@pytest.mark.parametrize("order", "<>")
def test_cut_at_every_byte(order: str) -> None:
    source = good(order).file(bytes(range(84)), 8)
    assert outcome(source) == {"emb": ((4, 3), bytes(range(48))), "q": ((2, 1), bytes(range(48, 84)))}
    for size in range(1, len(source)):
        error = complaint(source[:size])
        assert error.status == ("unsupported" if size < 4 else "file_malformed")
        assert size < 4 or "truncated" in error.message or "cannot fit" in error.message


def as_theirs(path) -> dict | None:
    """What their reader finds: shapes and bytes of tensors with types of whole numbers. None where it fails."""
    try:
        return {t.name: (tuple(reversed([int(n) for n in t.shape])), bytes(t.data)) for t in theirs.GGUFReader(path).tensors}
    except Exception:  # whatever the package and NumPy complain with
        return None


@pytest.mark.filterwarnings("ignore")
def test_every_byte_changed(tmp_path) -> None:
    """An error, or what their reader gives, wherever that finds anything."""
    source = Gguf().add("a.b", ARRAY, (UINT8, [1, 2])).add("general.alignment", UINT32, 8).tensor("emb", [3, 4], 0, 0).tensor(
        "b", [2, 2], 24, 48).file(bytes(range(52)), 8)
    data_at = len(source) - 52
    assert as_theirs_bytes(source, tmp_path) == outcome(source)
    answers = same = 0
    for at in range(data_at):
        for value in {0, 1, 2, 9, 127, 255, source[at] ^ 1, source[at] ^ 4, (source[at] + 1) & 255, (source[at] - 1) & 255}:
            changed = source[:at] + bytes([value]) + source[at + 1:]
            ours = outcome(changed)
            if isinstance(ours, str):
                assert ours in ("file_malformed", "unsupported")
                continue
            answers += 1
            expected = as_theirs_bytes(changed, tmp_path)
            if expected is None or any(data is None for _, data in ours.values()):
                continue
            same += 1
            assert {name: data for name, (_, data) in ours.items()} == {name: data for name, (_, data) in expected.items()}, at
    assert answers > data_at and same > answers / 2


def as_theirs_bytes(source: bytes, folder) -> dict | None:
    path = folder / "changed.gguf"
    path.write_bytes(source)
    return as_theirs(path)


@pytest.mark.parametrize("version", [0, 1, 4, 77, 1 << 16, 2 << 24 | 1])
def test_versions(version: int) -> None:
    for order in "<>":
        error = complaint(b"GGUF" + struct.pack(order + "IQQ", version, 0, 0))
        assert error.status == "unsupported" and error.offset == 4 and "version" in error.message


def test_counts_that_no_file_can_hold() -> None:
    for order in "<>":
        for tensors, pairs, offset in ((1 << 63, 0, 8), ((1 << 64) - 1, 0, 8), (3, 0, 8), (0, 1 << 62, 16), (0, 4, 16)):
            error = complaint(b"GGUF" + struct.pack(order + "IQQ", 3, tensors, pairs) + bytes(50))
            assert error.status == "file_malformed" and error.offset == offset and "cannot fit in" in error.message


def test_metadata_that_are_wrong() -> None:
    cases = [
        (Gguf().pack("Q", 1 << 60) + bytes(20), HEAD, "cannot fit in"),
        (Gguf().text("k") + Gguf().pack("I", 13) + bytes(9), HEAD + 9, "type 13"),
        (Gguf().text("k") + Gguf().pack("I", 1 << 31) + bytes(9), HEAD + 9, "type 2147483648"),
        (Gguf().text("k") + Gguf().pack("IQ", STRING, 100), HEAD + 13, "100 bytes of a string"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, 99, 0), HEAD + 13, "type 99"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, UINT64, 1 << 61) + bytes(40), HEAD + 17, "cannot fit in"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, STRING, 6) + bytes(40), HEAD + 17, "cannot fit in"),
        (Gguf().text("k") + Gguf().pack("IIQ", ARRAY, ARRAY, 4) + bytes(47), HEAD + 17, "cannot fit in"),
        (Gguf().text("k" * 20) + Gguf().pack("I", UINT64) + bytes(3), HEAD + 35, "truncated"),
    ]
    for pair, offset, words in cases:
        complaint(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + pair).must_be("file_malformed", words, offset)


def test_lists_too_deep() -> None:
    def nested(depth: int) -> tuple:
        value = (UINT8, [1])
        for _ in range(depth - 1):
            value = (ARRAY, [value])
        return value

    assert outcome(Gguf().add("k", ARRAY, nested(16)).file()) == {}
    error = complaint(Gguf().add("k", ARRAY, nested(17)).file())
    assert error.status == "unsupported" and error.offset == HEAD + 13 + 15 * 12 + 12 and "deep" in error.message
    assert complaint(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + Gguf().text("k") + struct.pack("<I", ARRAY)
                     + struct.pack("<IQ", ARRAY, 1) * 100000).status == "unsupported"


def test_the_alignment() -> None:
    key = "general.alignment"
    for value in (0, 3, 12, (1 << 32) - 1):
        error = complaint(Gguf().add(key, UINT32, value).file())
        assert error.status == "file_malformed" and str(value) in error.message and error.offset == HEAD + 8 + len(key) + 4
    error = complaint(Gguf().add(key, UINT64, 32).file())
    assert error.status == "file_malformed" and error.offset == HEAD and "uint32" in error.message
    error = complaint(Gguf().add(key, UINT32, 32).add(key, UINT32, 32).file())
    assert error.status == "file_malformed" and error.offset == HEAD + 8 + len(key) + 8 and "twice" in error.message
    assert outcome(Gguf().add(key, UINT32, 1 << 31).tensor("t", [0], 0, 0).file()) == {"t": ((0,), b"")}
    assert complaint(Gguf().add(key, UINT32, 1 << 31).tensor("t", [1], 24, 0).file(b"x")).status == "file_malformed"


@pytest.mark.parametrize("order", "<>")
def test_tensors_that_are_wrong(order: str) -> None:
    cases = [
        (("a\0b", [1], 24, 0), 9, "zero byte"),
        ((b"ab\xff", [1], 24, 0), 10, "UTF-8"),
        (("t", [1 << 63], 24, 0), 13, "too large"),
        (("t", [2, (1 << 64) - 1], 24, 0), 21, "too large"),
        (("t", [1 << 62, 1 << 62], 24, 0), 0, "too large"),
        (("t", [1 << 61], 28, 0), 0, "too large"),
        (("t", [31], 2, 0), 21, "a multiple of the block length 32 (Q4_0)"),
        (("t", [], 8, 0), 13, "a multiple of the block length 32 (Q8_0)"),
        (("t", [128, 2], 12, 0), 29, "a multiple of the block length 256 (Q4_K)"),
        (("t", [1], 24, 1), 25, "not a multiple of the alignment 32"),
        (("t", [1], 24, 1 << 63), 25, "past the end"),
        (("t", [1], 24, 64), None, "truncated"),
        (("t", [33], 24, 0), None, "truncated"),
        (("t", [1 << 60], 24, 0), None, "truncated"),
    ]
    for tensor, offset, words in cases:
        source = Gguf(order).tensor(*tensor).file(bytes(32))
        complaint(source).must_be("file_malformed", words, len(source) if offset is None else HEAD + offset)


def test_ranks() -> None:
    assert outcome(Gguf().tensor("t", [1] * 64, 24, 0).file(b"x")) == {"t": ((1,) * 64, b"x")}
    error = complaint(Gguf().tensor("t", [1] * 65, 24, 0).file(b"x"))
    assert error.status == "unsupported" and error.offset == HEAD + 9 and "65" in error.message
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + Gguf().text("t") + struct.pack("<I", (1 << 32) - 1) + bytes(20)
    assert complaint(head).status == "unsupported"


def test_names_that_stand_twice() -> None:
    source = Gguf().tensor("a", [1], 24, 0).tensor("b", [1], 24, 32).tensor("a", [1], 24, 64).file(bytes(65))
    error = complaint(source)
    assert error.status == "file_malformed" and "'a' is given twice" in error.message and error.offset == HEAD + 2 * 33


def test_tensors_that_overlap() -> None:
    for lengths in ([33], [64], [65]):
        source = Gguf().tensor("b", [1], 24, 32).tensor("a", lengths, 24, 0).file(bytes(65))
        error = complaint(source)
        assert error.status == "file_malformed" and "inside another" in error.message and error.offset == HEAD
    apart = Gguf().tensor("b", [1], 24, 32).tensor("a", [32], 24, 0).tensor("e", [0], 24, 0)
    assert isinstance(outcome(apart.file(bytes(65))), dict)


def test_many_tensors() -> None:
    """Names that stand twice are looked for, but not by comparing each with each."""
    file = Gguf().add("general.alignment", UINT32, 1)
    for i in range(20000):
        file.tensor(f"blk.{i * 7919 % 20000}", [1], 24, i)
    found = outcome(file.file(bytes(i & 255 for i in range(20000)), 1))
    assert len(found) == 20000 and found["blk.7919"] == ((1,), b"\x01")


def test_errors_name_the_file(tmp_path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(Gguf().tensor("t", [33], 2, 0).file())
    assert complaint(path).file == str(path)
    assert np.frombuffer(path.read_bytes()[:4], np.uint8).tobytes() == b"GGUF"
