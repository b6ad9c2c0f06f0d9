# SPDX-License-Identifier: MIT
""".npz: what NumPy and Python's zipfile write is read, bit for bit, and what is packed is named."""
import io
import os
import struct
import subprocess
import sys
import zipfile

import ml_dtypes  # noqa: F401  (dtypes by name)
import numpy as np
import pytest
from support.dtypes import ALL, SHAPES, bytes_of, identify, random_array
from gather_files import content
from many import array, complaint, complaints, failure
from support.zip_files import FULL, Member, end, end64, zip_file
from tensor_files import opened
from test_npy import saved


def npz(packed: bool = False, **arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(buffer, allow_pickle=True, **arrays)
    return buffer.getvalue()


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_STORED, comment: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in members:
            file.writestr(name, data)
        file.comment = comment
    return buffer.getvalue()


NUMBERS = np.arange(12, dtype="<i4").reshape(3, 4)
NPY = saved(NUMBERS)


@pytest.mark.parametrize("dtype", ALL, ids=identify)
@pytest.mark.filterwarnings("ignore:Stored array")
def test_every_dtype_order_and_shape(dtype) -> None:
    arrays = {f"a{i}{order}": random_array(dtype, shape, order) for i, shape in enumerate(SHAPES) for order in "CF"}
    source = npz(**arrays)
    with opened(source) as file:
        assert file.format == "npz" and file.names == list(arrays)
        for name, made in arrays.items():
            tensor = file[name]
            assert (tensor.shape, tensor.bytes) == (made.shape, made.nbytes)
            assert bytes_of(tensor.array(made.dtype)) == bytes_of(made)
            assert tensor.bytes == 0 or source[tensor.offset:tensor.offset + tensor.bytes] == content(tensor)


def test_a_file_on_disk_is_like_numpy(tmp_path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, NUMBERS, weights=NUMBERS.T, **{"layer/0": NUMBERS * 2})
    with opened(path) as file, np.load(path) as theirs:
        assert file.names == theirs.files
        for name in theirs.files:
            assert (array(file[name], "<i4") == theirs[name]).all()


def test_types_of_ml_dtypes_are_as_in_npy() -> None:
    """NumPy writes them as opaque bytes."""
    made = np.arange(6).astype("bfloat16")
    with opened(npz(a=made)) as file:
        assert file["a"].tensor.item_bytes == 2 and content(file["a"]) == made.tobytes()


def test_packed_arrays_are_named() -> None:
    source = npz(packed=True, a=NUMBERS, b=NUMBERS)
    with opened(source) as file:
        assert file.names == ["a", "b"]
        for name, why in complaints(file).items():
            assert "np.savez, not np.savez_compressed" in why and f"'{name}'" in why
    assert complaint(source, "b").status == "unsupported"
    assert complaint(source, "b").offset == source.index(b"PK\3\4", 4)


def test_one_array_needs_no_name() -> None:
    with opened(npz(a=NUMBERS)) as file:
        assert (array(file[""], "<i4") == NUMBERS).all()


def test_no_arrays() -> None:
    for source in (npz(), npz() + b"behind"):
        with opened(source) as file:
            assert (file.names, file.format) == ([], "npz")


def test_objects_are_refused_and_their_neighbours_read() -> None:
    source = npz(a=NUMBERS, o=np.array([{}], dtype=object))
    with opened(source) as file:
        assert list(complaints(file)) == ["o"] and "pickle" in complaints(file)["o"]
        assert (array(file["a"], "<i4") == NUMBERS).all()


def test_a_stream_that_cannot_go_back() -> None:
    """To a pipe zipfile writes sizes behind the data: data descriptors."""
    program = f"import numpy, sys; numpy.savez(sys.stdout.buffer, a=numpy.arange(9.0), b=numpy.arange({1 << 17}))"
    source = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True).stdout
    assert struct.unpack_from("<H", source, 6)[0] & 8
    with opened(source) as file:
        assert file.names == ["a", "b"]
        assert (array(file["a"], "f8") == np.arange(9.0)).all()
        assert (array(file["b"], "i8") == np.arange(1 << 17)).all()


METHODS = {zipfile.ZIP_DEFLATED: "compressed", zipfile.ZIP_BZIP2: "compressed", zipfile.ZIP_LZMA: "compressed"}


@pytest.mark.parametrize("method", METHODS)
def test_every_way_to_pack(method) -> None:
    assert "is compressed" in complaint(zipped(("a.npy", NPY), method=method), "a").message


def test_packed_and_stored_together() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a.npy", NPY, zipfile.ZIP_DEFLATED)
        file.writestr("b.npy", NPY, zipfile.ZIP_STORED)
    with opened(buffer.getvalue()) as many:
        assert list(complaints(many)) == ["a"] and content(many["b"]) == NUMBERS.tobytes()


def test_other_members_stay_out_of_the_way() -> None:
    """NumPy tells arrays by their first bytes, whatever their names; a folder is nothing."""
    source = zipped(("folder/", b""), ("readme.txt", b"text"), ("folder/a.npy", NPY), ("bare", NPY), ("empty.npy", b""),
                    ("wrong.npy", b"text"), (".npy", NPY), ("cut.npy", NPY[:-1]))
    with opened(source) as file:
        assert file.names == ["readme.txt", "folder/a", "bare", "empty", "wrong", ".npy", "cut"]
        assert list(complaints(file)) == ["readme.txt", "empty", "wrong", "cut"]
        assert content(file["bare"]) == content(file["folder/a"]) == content(file[".npy"]) == NUMBERS.tobytes()
    cut = complaint(source, "cut")
    assert cut.status == "file_malformed" and "in array 'cut'" in cut.message
    assert source[:cut.offset].endswith(NPY[:-1])


def test_zip_files_without_arrays_are_refused() -> None:
    assert "without .npy files" in failure(zipped(("a.txt", b"x"))).message
    torch = zipped(("archive/data.pkl", b"\x80\x02"), ("archive/data/0", bytes(64)))
    assert failure(torch).status == "unsupported" and "pickle" in failure(torch).message


def with_name(raw: bytes, flags: int) -> bytes:
    """A zip file whose member has a name of just these bytes."""
    stand_in = "n" * len(raw)
    source = bytearray(zipped((stand_in, NPY)).replace(stand_in.encode(), raw))
    for signature, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = source.index(signature) + at
        source[place:place + 2] = struct.pack("<H", flags)
    return bytes(source)


def test_names() -> None:
    with opened(npz(**{"größe": NUMBERS, "表": NUMBERS, "a b/c": NUMBERS})) as file:
        assert file.names == ["größe", "表", "a b/c"]
    for byte in range(1, 256):
        source = with_name(b"n" + bytes([byte]) + b".npy", 0)
        with opened(source) as file, zipfile.ZipFile(io.BytesIO(source)) as theirs:
            assert file.names == [theirs.namelist()[0][:-4]] == [b"n".decode() + bytes([byte]).decode("cp437")]


def test_a_name_ends_where_a_zero_byte_is() -> None:
    source = with_name(b"ab.npy\0tail", 0)
    with opened(source) as file:
        assert file.names == ["ab"] and zipfile.ZipFile(io.BytesIO(source)).namelist() == ["ab.npy"]


def test_a_name_that_is_no_utf8() -> None:
    source = with_name(b"\xff.npy", 1 << 11)
    failure(source).must_be("file_malformed", offset=source.rindex(b"\xff.npy"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_of_one_name_the_last_counts() -> None:
    source = zipped(("a.npy", NPY), ("b.npy", NPY), ("a.npy", saved(NUMBERS * 2)))
    with opened(source) as file:
        assert file.names == ["b", "a"]
        assert (array(file["a"], "<i4") == np.load(io.BytesIO(source))["a"]).all()


def test_a_whole_name_goes_before_one_without_npy() -> None:
    source = zipped(("a.npy", NPY), ("a", saved(NUMBERS * 2)), ("b.npy.npy", NPY), ("b.npy", saved(NUMBERS * 3)))
    with opened(source) as file:
        theirs = np.load(io.BytesIO(source))
        assert file.names == ["a.npy", "a", "b.npy.npy", "b"]
        assert all((array(file[name], "<i4") == theirs[name]).all() for name in file.names)


@pytest.mark.parametrize("comment", [b"", b"a comment", b"PK\5\6" + b"\xff" * 30, b"x" * 65535], ids=len)
def test_comments(comment) -> None:
    with opened(zipped(("a.npy", NPY), comment=comment)) as file:
        assert content(file["a"]) == NUMBERS.tobytes()


def test_a_comment_that_is_a_zip_file() -> None:
    """The last end record counts, as to zipfile: what NumPy does not see is not seen."""
    source = zipped(("a.npy", NPY), comment=zipped() + b"behind")
    with opened(source) as file:
        assert file.names == zipfile.ZipFile(io.BytesIO(source)).namelist() == []


def test_bytes_before_and_behind() -> None:
    source = zipped(("a.npy", NPY))
    before = zipped(("old.npy", NPY)) + source  # both begin as a zip file does; the last one counts
    for made in (before, source + b"behind"):
        with opened(made) as file:
            assert file.names == ["a"] and content(file["a"]) == NUMBERS.tobytes()
            assert zipfile.ZipFile(io.BytesIO(made)).namelist() == ["a.npy"]


def test_encrypted_members() -> None:
    source = bytearray(zipped(("a.npy", NPY), ("b.npy", NPY)))
    source[source.index(b"PK\1\2") + 8] |= 1
    with opened(bytes(source)) as file:
        assert list(complaints(file)) == ["a"] and "is encrypted" in complaints(file)["a"]
    for lies in ({"local_flags": 1}, {"flags": 1 << 6}, {"local_flags": 1 << 13}):
        assert "is encrypted" in complaint(zip_file(Member(b"a.npy", NPY, **lies)), "a").message


def test_more_members_than_16_bits_count() -> None:
    count = 66_000
    source = zip_file(*[Member(b"%d.npy" % i, NPY) for i in range(count)], wide=True)
    with opened(source) as file:
        assert len(file.all) == count and file.names[-1] == str(count - 1)
        assert content(file.all[-1]) == NUMBERS.tobytes() and not file.all[0].unreadable
    assert len(zipfile.ZipFile(io.BytesIO(source)).namelist()) == count


def test_a_member_beyond_4_gib(tmp_path) -> None:
    """5 GiB without a byte on the disk, with sizes and places of 64 bits: zipfile would write all of them."""
    path, size = tmp_path / "large.npz", 5 << 30
    header = saved(np.zeros(0, "i1")).replace(b"(0,), }" + b" " * 20, f"({size},), }}".encode().ljust(27))
    large = len(header) + size
    first = Member(b"a.npy", b"", packed=FULL, unpacked=FULL, extra=struct.pack("<HHQQ", 1, 16, large, large))
    behind = len(first.local()) + large
    second = Member(b"b.npy", NPY, extra=struct.pack("<HHQ", 1, 8, behind), offset=FULL)
    directory, at = first.entry(0) + second.entry(0), behind + len(second.local() + NPY)
    with open(path, "wb") as file:
        file.write(first.local() + header)
        file.seek(behind)
        file.write(second.local() + NPY + directory)
        file.write(end64(2, len(directory), at, at + len(directory)) + end(2, FULL, FULL))
    with zipfile.ZipFile(path) as theirs:
        assert [info.file_size for info in theirs.infolist()] == [large, len(NPY)]
    if sys.maxsize < 2**32:
        assert failure(path).status == "overflow"
        return
    with opened(path) as many:
        assert many["a"].shape == (size,) and many["a"].offset == len(first.local()) + len(header)
        assert (array(many["b"], "<i4") == NUMBERS).all()
    assert os.stat(path).st_blocks * 512 < 1 << 20
