# SPDX-License-Identifier: MIT
"""Models in several GGUF files (NAME-00001-of-00003.gguf): one namespace, from any part, with and without a server; parts that are
missing, renamed, or of another model."""
import ctypes as c
import json
from pathlib import Path

import gguf as theirs
import numpy as np
import pytest
import remote_files
from gather_files import LIB, Error, GatherError, P, content
from gguf_files import FLOAT32, INT32, STRING, UINT16, UINT32, Gguf
from support.command import call
from support.http_server import HttpServer
from support.skip import skip_test
from tensor_files import complaint, opened

ARRAYS = {f"t{i}": np.arange(12, dtype=np.float32).reshape(4, 3) + 100 * i for i in range(5)}
NAMES = [f"m-{i + 1:05}-of-00003.gguf" for i in range(3)]


def save(folder: Path) -> list[Path]:
    """As llama.cpp's package splits a model."""
    writer = theirs.GGUFWriter(folder / "m.gguf", "test", split_max_tensors=2)
    for name, array in ARRAYS.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert sorted(path.name for path in folder.glob("*.gguf")) == NAMES
    return [folder / name for name in NAMES]


def missing(file) -> list[GatherError]:
    found, error = [], Error()
    while LIB.gather_file_missing_at(file, len(found), c.byref(error)):
        found.append(GatherError(error))
    assert LIB.gather_file_missing_at(file, -1, None) is False
    assert LIB.gather_file_missing_at(file, 0, None) == bool(found)
    return found


@pytest.mark.parametrize("part", range(3))
def test_any_part_is_the_model(part, tmp_path) -> None:
    path = save(tmp_path)[part]
    with opened(path) as file:
        assert file.format == "gguf" and file.names == list(ARRAYS) and missing(file.file) == []
        for number, (name, array) in enumerate(ARRAYS.items()):
            source = (tmp_path / NAMES[number // 2]).read_bytes()
            tensor = file[name]
            assert tensor.shape == array.shape and content(tensor) == array.tobytes() and tensor.complaint is None
            assert source[tensor.offset:tensor.offset + tensor.bytes] == array.tobytes()


@pytest.mark.parametrize("part", range(3))
def test_rows_of_any_part(part, tmp_path) -> None:
    save(tmp_path)
    for name, array in ARRAYS.items():
        for more in ([], ["--memory", "64MiB"], ["--engine", "pread"]):
            done = call("take", f"{NAMES[part]}:{name}", "[3, 0]", "-o", "o.npy", "-f", *more, cwd=tmp_path)
            assert done.returncode == 0, done
            assert (np.load(tmp_path / "o.npy") == array[[3, 0]]).all()
    listed = json.loads(call("info", NAMES[part], "--json", cwd=tmp_path).stdout)
    assert [tensor["name"] for tensor in listed["tensors"]] == list(ARRAYS) and "missing" not in listed


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("gone", [[0], [1], [2], [0, 1], [1, 2]])
def test_a_missing_part_is_named(part, gone, tmp_path) -> None:
    """The others are read all the same."""
    path = save(tmp_path)[part]
    if part in gone:
        return
    for number in gone:
        (tmp_path / NAMES[number]).unlink()
    there = [name for i, name in enumerate(ARRAYS) if i // 2 not in gone]
    first = str(tmp_path / NAMES[gone[0]])
    with opened(path) as file:
        assert file.names == there and [content(file[name]) for name in there] == [ARRAYS[name].tobytes() for name in there]
        assert [(error.status, error.file) for error in missing(file.file)] == [
            ("file_not_found", str(tmp_path / NAMES[number])) for number in gone]
        for name in ("none", f"t{2 * gone[0]}"):
            with pytest.raises(GatherError, match=f"'{name}' may be in it") as caught:
                file[name]
            assert (caught.value.status, caught.value.file) == ("file_not_found", first)
            assert ("1 more parts" in caught.value.message) == (len(gone) > 1)
    done = call("info", path, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("missing: ") == len(gone) and f"missing: {first}: cannot open it" in done.stdout
    listed = json.loads(call("info", path, "--json", cwd=tmp_path).stdout)["missing"]
    assert [(part["status"], part["file"]) for part in listed] == [("file_not_found", str(tmp_path / NAMES[number])) for number in gone]
    done = call("take", f"{path}:t{2 * gone[0]}", "[0]", "-o", "o.npy", cwd=tmp_path)
    assert done.returncode == 3 and NAMES[gone[0]] in done.stderr


def part(number: int | None, count: int | None, name: str = "t", order: str = "<", kind: int = UINT16) -> bytes:
    made = Gguf(order)
    if number is not None:
        made.add("split.no", kind, number)
    if count is not None:
        made.add("split.count", kind, count)
    return made.tensor(name, [3], 0, 0).file(np.arange(3, dtype=order + "f4").tobytes())


WRONG = {
    "another number": (part(0, 2, "b"), "file_malformed", "its name says that it is part 2, its metadata that it is part 1"),
    "another count": (part(1, 3, "b"), "file_malformed", "a model of 3 files, not of 2"),
    "another byte order": (part(1, 2, "b", ">"), "unsupported", "byte order"),
    "another format": (b"no GGUF at all", "unsupported", "not a GGUF file"),
    "truncated": (part(1, 2, "b")[:60], "file_malformed", "truncated|cannot fit"),
    "empty": (b"", "unsupported", "not a GGUF file"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 9\n", "unsupported", "Git LFS pointer"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_other_files_under_the_name_of_a_part(name, tmp_path) -> None:
    other, status, words = WRONG[name]
    (tmp_path / "m-00001-of-00002.gguf").write_bytes(part(0, 2, "a"))
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(other)
    with opened(tmp_path / "m-00001-of-00002.gguf") as file:
        assert file.names == ["a"]
        (error,) = missing(file.file)
        import re

        assert (error.status, error.file) == (status, str(tmp_path / "m-00002-of-00002.gguf")) and re.search(words, error.message)
        with pytest.raises(GatherError, match=words):
            file["b"]


def test_a_name_in_two_parts(tmp_path) -> None:
    for number in range(2):
        (tmp_path / f"m-{number + 1:05}-of-00002.gguf").write_bytes(part(number, 2, "same"))
    complaint(tmp_path / "m-00001-of-00002.gguf").must_be("file_malformed", "'same'")


@pytest.mark.parametrize("kind", [UINT16, INT32, UINT32])
def test_keys_of_other_widths(kind, tmp_path) -> None:
    for number in range(2):
        (tmp_path / f"m-{number + 1:05}-of-00002.gguf").write_bytes(part(number, 2, f"t{number}", kind=kind))
    with opened(tmp_path / "m-00002-of-00002.gguf") as file:
        assert file.names == ["t0", "t1"] and missing(file.file) == []


@pytest.mark.parametrize("name", ["model.gguf", "m-00001-of-00003.gguf", "m-00003-of-00002.gguf", "m-00000-of-00002.gguf", "-00001-of-00002.gguf",
                                  "m-0001-of-00002.gguf", "m-00001-of-00002.bin"])  # fmt: skip
def test_a_name_that_is_no_parts(name, tmp_path) -> None:
    (tmp_path / name).write_bytes(part(0, 2, "a"))
    with opened(tmp_path / name) as file:
        assert file.names == ["a"]
        (error,) = missing(file.file)
        assert error.status == "file_not_found" and "its name does not end in" in error.message


def test_a_part_that_was_renamed(tmp_path) -> None:
    """Its own metadata says another number than its name."""
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(part(0, 2, "a"))
    assert "its name says that it is part 2" in complaint(tmp_path / "m-00002-of-00002.gguf").message


@pytest.mark.parametrize("content, words", [
    (part(0, 2000), "2000 parts; at most 1024"),
    (Gguf().add("split.count", STRING, "2").file(), "not an integer"),
    (Gguf().add("split.count", FLOAT32, 2.0).file(), "not an integer"),
    (Gguf().add("split.no", INT32, -1).file(), "parts"),
    (Gguf().add("split.count", UINT16, 2).add("split.count", UINT16, 2).file(), "twice"),
])  # fmt: skip
def test_malformed_keys(content, words) -> None:
    complaint(content).must_be("file_malformed", words)


@pytest.mark.parametrize("content", [part(None, None), part(0, None), part(0, 1), part(0, 0), part(None, 1)])
def test_files_by_themselves(content, tmp_path) -> None:
    for name in ("m.gguf", "m-00001-of-00002.gguf"):
        (tmp_path / name).write_bytes(content)
        with opened(tmp_path / name) as file:
            assert file.names == ["t"] and missing(file.file) == []


def test_in_memory() -> None:
    with opened(part(0, 2, "a")) as file:
        assert file.names == ["a"] and len(missing(file.file)) == 1


def test_links_out_of_the_folder(tmp_path) -> None:
    """As model hubs keep files."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshot").mkdir()
    for number, path in enumerate(save(tmp_path)):
        path.rename(tmp_path / "blobs" / f"{number}abc")
        (tmp_path / "snapshot" / path.name).symlink_to(f"../blobs/{number}abc")
    with opened(tmp_path / "snapshot" / NAMES[1]) as file:
        assert file.names == list(ARRAYS) and missing(file.file) == []
    done = call("info", f"snapshot/{NAMES[1]}", "--no-links", cwd=tmp_path)
    assert done.stdout.count("missing: ") == 2 and "symbolic link" in done.stdout


@pytest.mark.parametrize("given", [NAMES[2], NAMES[2].replace("m-", "%6d%2D"), NAMES[2].replace("m-", "%6D%2d")])
@pytest.mark.parametrize("gone", [None, 0])
def test_by_url(gone, given: str, tmp_path) -> None:
    if why := remote_files.why_no_urls():
        skip_test("http", why)
    paths = save(tmp_path)
    with HttpServer() as server:
        for number, path in enumerate(paths):
            if number != gone:
                server.put(f"/a b/{path.name}", path.read_bytes())
        server.reset_counts()
        with remote_files.opened(server.url(f"/a%20b/{given}")) as file:
            assert file.names == [name for i, name in enumerate(ARRAYS) if i // 2 != gone]
            assert server.requests == 3
            errors = missing(file.file)
            assert [(e.status, e.file) for e in errors] == ([] if gone is None else [("file_not_found", server.url(f"/a%20b/{NAMES[0]}"))])
            for name in file.names:
                assert content(remote_files.whole(file.file, name)) == ARRAYS[name].tobytes()
        done = call("take", f"{server.url('/a%20b/' + given)}:t2", "[1]", "-o", "o.npy", cwd=tmp_path)
        assert done.returncode == 0 and (np.load(tmp_path / "o.npy") == ARRAYS["t2"][[1]]).all()
