# SPDX-License-Identifier: MIT
"""Plain bytes as a file that appears whole or not at all."""
import ctypes as c
import os
import stat

import pytest
from gather_files import LIB, Error, GatherError, check, create_writer, target_of

from support.outputs import being_written


def create(path, size: int, replace: bool = False):
    return create_writer(target_of(path, replace=replace, bytes=size))


def write(path, content: bytes, replace: bool = False) -> None:
    writer, error = create(path, len(content), replace), Error()
    assert [os.path.getsize(file) for file in being_written(path.parent)] == [len(content)]
    data = LIB.gather_writer_data_at(writer, 0)
    assert bool(data) == bool(content)
    if content:
        assert c.string_at(data, len(content)) == bytes(len(content))
        c.memmove(data, content, len(content))
    check(LIB.gather_writer_commit(writer, c.byref(error)), error)


@pytest.mark.parametrize("content", [b"", b"x", b"<svg/>\n", bytes(range(256)) * 999])
def test_it_holds_what_was_written(content, tmp_path) -> None:
    write(tmp_path / "a.svg", content)
    assert (tmp_path / "a.svg").read_bytes() == content and os.listdir(tmp_path) == ["a.svg"]


def test_an_existing_file(tmp_path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o604)
    (tmp_path / "link").symlink_to("real")
    for name in ("real", "link"):
        with pytest.raises(GatherError) as caught:
            create(tmp_path / name, 3)
        assert caught.value.status == "file_exists" and (tmp_path / "real").read_text() == "old"
    write(tmp_path / "link", b"new", replace=True)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o604
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_nothing_stays_of_what_is_given_up(tmp_path) -> None:
    LIB.gather_writer_abort(create(tmp_path / "a", 1000))
    assert os.listdir(tmp_path) == []


def test_wrong_calls(tmp_path) -> None:
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    for path, size, status in ((tmp_path / "a", -1, "usage"), ("", 1, "usage"), (tmp_path / "no" / "a", 1, "file_not_found"),
                               (tmp_path, 1, "io_error"), (tmp_path / "a", free + (1 << 40), "io_error")):
        with pytest.raises(GatherError) as caught:
            create(path, size, replace=True)
        assert caught.value.status == status, (path, size)
    with pytest.raises(GatherError, match="io_error"):
        create(None, 1)  # neither a path nor a descriptor
    assert LIB.gather_writer_create(c.byref(target_of(tmp_path / "a", bytes=1)), None, c.byref(error := Error())) == error.status
    assert os.listdir(tmp_path) == []
