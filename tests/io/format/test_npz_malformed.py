# SPDX-License-Identifier: MIT
""".npz files that lie: cut, changed, and with each number of a zip file wrong. Each is an error that says where."""
import struct

import numpy as np
import pytest
from gather_files import content
from many import assert_within, complaint, complaints, failure, outcome
from support.zip_files import FULL, Member, end, zip_file
from tensor_files import opened
from test_npy import saved

ARRAY = np.arange(5, dtype="<i4")
NPY = saved(ARRAY)
HEADER = 30 + len(b"a.npy")
FIRST = HEADER + len(NPY)  # bytes of the first member


def files(**lies) -> bytes:
    return zip_file(Member(b"a.npy", NPY), Member(b"b.npy", NPY, **lies))


def test_the_files_made_here_are_good() -> None:
    for source in (files(), zip_file(Member(b"a.npy", NPY), Member(b"b.npy", NPY), wide=True)):
        with opened(source) as file:
            assert file.names == ["a", "b"] and not complaints(file)
            assert content(file["b"]) == ARRAY.tobytes()


def test_cut_at_every_byte() -> None:
    source = files()
    for size in range(4, len(source)):
        failure(source[:size]).must_be("file_malformed", "truncated", size)


# What is wrong with the second of two members, and the byte of which record it is about.
DIRECTORY = 2 * FIRST
SECOND = DIRECTORY + 46 + len(b"a.npy")
WRONG_MEMBERS = [
    ({"signature": 0x02014b51}, SECOND, "incomplete entry"),
    ({"name_bytes": 6}, SECOND, "incomplete entry"),
    ({"extra_bytes": 1}, SECOND, "incomplete entry"),
    ({"comment_bytes": 65535}, SECOND, "incomplete entry"),
    ({"extra": b"\2\0\1\0"}, SECOND + 51, "extends past the end of its zip entry"),
    ({"extra": b"\2\0\0\0\1\0\5\0"}, SECOND + 55, "extends past the end of its zip entry"),
    ({"packed": FULL, "extra": b"\1\0\4\0" + bytes(4)}, SECOND + 51, "64-bit number is missing"),
    ({"packed": FULL, "unpacked": FULL, "extra": b"\1\0\10\0" + bytes(8)}, SECOND + 51, "64-bit number is missing"),
    ({"offset": DIRECTORY + 1}, SECOND, "extends past the end of the zip file"),
    ({"offset": FULL}, SECOND, "extends past the end of the zip file"),
    ({"packed": DIRECTORY + 1, "unpacked": DIRECTORY + 1}, SECOND, "extends past the end of the zip file"),
    ({"packed": FULL, "extra": b"\1\0\10\0" + b"\xff" * 8}, SECOND, "extends past the end of the zip file"),
    ({"offset": FIRST + 1}, FIRST + 1, "no local header"),
    ({"offset": DIRECTORY}, DIRECTORY, "no local header"),
    ({"offset": DIRECTORY - 29}, DIRECTORY - 29, "no local header"),
    ({"local_signature": 0x04034b51}, FIRST, "no local header"),
    ({"local_name_bytes": 65535}, FIRST, "overlaps the directory"),
    ({"local_extra_bytes": 65535}, FIRST, "overlaps the directory"),
    ({"packed": len(NPY) + 1, "unpacked": len(NPY) + 1}, FIRST, "overlaps the directory"),
    ({"local_name": b"c.npy"}, FIRST + 30, "another name"),
    ({"local_name": b"bb.npy"}, FIRST + 30, "another name"),
    ({"local_method": 8}, FIRST + 8, "another compression method"),
    ({"method": 8, "local_method": 0}, FIRST + 8, "another compression method"),
    ({"unpacked": len(NPY) + 1}, SECOND, "is not compressed"),
    ({"packed": len(NPY) - 1}, SECOND, "is not compressed"),
]


@pytest.mark.parametrize("lies, byte, words", WRONG_MEMBERS, ids=str)
def test_wrong_members(lies, byte, words) -> None:
    failure(files(**lies)).must_be("file_malformed", words, byte)


END = DIRECTORY + 2 * 51
WRONG_ENDS = [
    ({"size": END + 1}, END, "extends past its end"),
    ({"offset": DIRECTORY + 1}, END, "extends past its end"),
    ({"size": FULL, "offset": FULL}, END, "extends past its end"),
    ({"size": 2 * 51 - 1}, DIRECTORY + 1, "incomplete entry"),
    ({"size": 2 * 51 + 1, "offset": DIRECTORY - 1}, DIRECTORY - 1, "incomplete entry"),
    ({"size": 0}, END, "directory is 0, not 2"),
    ({"size": 51, "offset": DIRECTORY + 51}, END, "directory is 1, not 2"),
    ({"count": 1}, END, "directory is 2, not 1"),
    ({"count": 65535}, END, "directory is 2, not 65535"),
    ({"comment_bytes": 1}, END + 22, "truncated"),
]


@pytest.mark.parametrize("lies, byte, words", WRONG_ENDS, ids=str)
def test_wrong_ends(lies, byte, words) -> None:
    failure(zip_file(Member(b"a.npy", NPY), Member(b"b.npy", NPY), **lies)).must_be("file_malformed", words, byte)


LOCATOR = END + 56
WRONG_WIDE_ENDS = [
    ({"signature64": 1}, LOCATOR, "no end record"),
    ({"bytes64": 43}, LOCATOR, "no end record"),
    ({"bytes64": 2**64 - 1}, LOCATOR, "no end record"),
    ({"size64": 2**63}, END, "extends past its end"),
    ({"offset64": 2**64 - 1}, END, "extends past its end"),
    ({"size64": 2 * 51, "offset64": DIRECTORY + 1}, END, "extends past its end"),
    ({"count64": 2 + 65536}, END, "directory is 2, not 65538"),
    ({"count64": 2**64 - 1}, END, "directory is 2, not"),
]


@pytest.mark.parametrize("lies, byte, words", WRONG_WIDE_ENDS, ids=str)
def test_wrong_ends_of_64_bits(lies, byte, words) -> None:
    failure(zip_file(Member(b"a.npy", NPY), Member(b"b.npy", NPY), wide=True, **lies)).must_be("file_malformed", words, byte)


@pytest.mark.parametrize("locator", [0, END, END - 1, 2**64 - 1])
def test_the_end_of_64_bits_is_found_where_it_belongs(locator) -> None:
    """Bytes before the zip file shift what the locator says."""
    with opened(zip_file(Member(b"a.npy", NPY), Member(b"b.npy", NPY), wide=True, locator=locator)) as file:
        assert file.names == ["a", "b"]


@pytest.mark.parametrize("lies", [{"disk": 1}, {"first_disk": 7}, {"wide": True, "disk64": 1}], ids=str)
def test_zip_files_in_parts(lies) -> None:
    assert failure(zip_file(Member(b"a.npy", NPY), **lies)).status == "unsupported"
    assert failure(files(disk=1)).status == "unsupported"


def test_members_that_overlap() -> None:
    """A small file could hold as much as anybody likes otherwise."""
    second = Member(b"b.npy", NPY)
    inside = Member(b"a.npy", second.local() + NPY)
    source = bytearray(inside.local() + inside.data)
    directory = inside.entry(0) + second.entry(len(inside.local()))
    error = failure(bytes(source) + directory + end(2, len(directory), len(source)))
    assert (error.status, error.offset) == ("file_malformed", len(source) + 51)
    assert "'a.npy' and 'b.npy' overlap" in error.message
    twice = Member(b"a.npy", NPY)
    directory = 2 * twice.entry(0)
    failure(twice.local() + NPY + directory + end(2, len(directory), FIRST)).must_be("file_malformed", offset=FIRST + 51)


def test_an_array_that_reaches_into_its_neighbour() -> None:
    """The shape is of more elements than the member has, though the file has as many bytes."""
    longer = NPY.replace(b"(5,), }", b"(6,), }")
    source = zip_file(Member(b"a.npy", longer), Member(b"b.npy", NPY))
    complaint(source, "a").must_be("file_malformed", "24 bytes are needed at byte 128, it has 148 bytes", FIRST)
    header = NPY[:8] + struct.pack("<H", len(NPY)) + NPY[10:]
    assert complaint(zip_file(Member(b"a.npy", header), Member(b"b.npy", NPY)), "a").offset == FIRST


def test_every_byte_changed() -> None:
    """An error, or the same arrays, or one of them cannot be read: never bytes of something else."""
    source = files()
    good = outcome(source)
    answers = 0
    for at in list(range(HEADER + 10)) + list(range(FIRST, FIRST + HEADER + 10)) + list(range(DIRECTORY, len(source))):
        for value in {0, 1, 8, 127, 255, source[at] ^ 1, source[at] ^ 128, (source[at] + 1) & 255}:
            result = outcome(source[:at] + bytes([value]) + source[at + 1:])
            if isinstance(result, list):
                answers += 1
                assert {row.split(" ", 1)[1] for row in result} <= {row.split(" ", 1)[1] for row in good} | {
                    "() unsupported", "() file_malformed"}
    assert answers > len(source)


@pytest.mark.parametrize("seed", range(10))
def test_flipped_bytes_never_read_beyond_the_file(seed) -> None:
    source = bytearray(zip_file(Member(b"a.npy", NPY), Member(b"b.npy", NPY), wide=seed % 2 == 1))
    rng = np.random.default_rng(seed)
    for _ in range(200):
        changed = bytearray(source)
        for at in rng.integers(0, len(source), 3):
            changed[at] = rng.integers(0, 256)
        outcome(bytes(changed))


def test_beginnings_alone() -> None:
    for source in (b"PK\3\4", b"PK\5\6", b"PK\5\6" + bytes(17)):
        assert failure(source).status == "file_malformed"
    with opened(b"PK\5\6" + bytes(18)) as file:
        assert file.all == []
        assert_within(file, 22)
