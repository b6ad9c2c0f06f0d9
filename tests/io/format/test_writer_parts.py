# SPDX-License-Identifier: MIT
"""Elements that come part by part: the file is that of elements written at once, and memory holds none of it."""
import ctypes as c
import os
import resource
import signal
import threading

import numpy as np
import pytest
from gather_files import LIB, P, Error, GatherError, check, create_writer, target_of, write, writing

MIB = 1 << 20

from support.outputs import being_written


def create(what, window: int = 0) -> P:
    what.parts, what.window_bytes = True, window
    return create_writer(what)


def append(writer, part: bytes, size: int | None = None) -> None:
    error, copy = Error(), c.create_string_buffer(part, len(part))  # it may be turned round where it is
    check(LIB.gather_writer_append(writer, copy if part else None, len(part) if size is None else size, c.byref(error)), error)


def commit(writer) -> None:
    error = Error()
    check(LIB.gather_writer_commit(writer, c.byref(error)), error)


def parts_of(content: bytes, step: int) -> list[bytes]:
    return [content[i : i + step] for i in range(0, len(content), step)]


@pytest.mark.parametrize("window", [0, 1, 4096, 3 * MIB])
@pytest.mark.parametrize("extension", ["npy", "bin", "pb"])
def test_the_file_is_that_of_one_piece(tmp_path, extension, window) -> None:
    content = np.random.default_rng(1).bytes(5 * MIB + 40)
    shape = (len(content) // 4,)
    for swapped in (False, True):
        whole, parts = tmp_path / f"whole{swapped}.{extension}", tmp_path / f"parts{swapped}.{extension}"
        write(writing(whole, "float32", shape, byte_swapped=swapped), content)
        writer = create(writing(parts, "float32", shape, byte_swapped=swapped), window)
        assert LIB.gather_writer_data_at(writer, 0) is None
        for part in parts_of(content, 999_996):
            append(writer, part)
        commit(writer)
        assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("extension", ["npy", "bin", "pb"])
def test_no_elements(tmp_path, extension) -> None:
    for name, write_parts in (("whole", False), ("parts", True)):
        what = writing(tmp_path / f"{name}.{extension}", "float32", (0, 3))
        commit(create(what)) if write_parts else write(what, b"")
    assert (tmp_path / f"parts.{extension}").read_bytes() == (tmp_path / f"whole.{extension}").read_bytes()


def test_plain_bytes(tmp_path) -> None:
    writer = create(target_of(tmp_path / "a.svg", bytes=5))
    append(writer, b"<sv")
    append(writer, b"g>")
    commit(writer)
    assert (tmp_path / "a.svg").read_bytes() == b"<svg>"


def test_a_descriptor_gets_each_part_at_once() -> None:
    ends = os.pipe()
    writer = create(writing(None, "int16", (6,), format="npy", fd=ends[1]))
    append(writer, bytes(range(4)))
    assert os.read(ends[0], 1000)[128:] == bytes(range(4))
    append(writer, bytes(range(4, 12)))
    assert os.read(ends[0], 1000) == bytes(range(4, 12))
    commit(writer)
    os.close(ends[1])
    assert os.read(ends[0], 1) == b""
    os.close(ends[0])


def test_a_pipe_that_is_read_slowly() -> None:
    content, got = np.random.default_rng(2).bytes(3 * MIB), []
    ends = os.pipe()

    def read() -> None:
        while piece := os.read(ends[0], 1 << 16):
            got.append(piece)

    thread = threading.Thread(target=read)
    thread.start()
    writer = create(writing(None, "uint8", (len(content),), format="raw", fd=ends[1]))
    for part in parts_of(content, MIB):
        append(writer, part)
    commit(writer)
    os.close(ends[1])
    thread.join()
    assert b"".join(got) == content


def test_missing_elements_are_no_file(tmp_path) -> None:
    writer = create(writing(tmp_path / "a.npy", "uint8", (8,)))
    append(writer, bytes(5))
    with pytest.raises(GatherError, match="usage: 5 of 8 bytes"):
        commit(writer)
    assert os.listdir(tmp_path) == []


def test_wrong_calls(tmp_path) -> None:
    writer = create(writing(tmp_path / "a.bin", "float32", (2,), byte_swapped=True))
    for part, size in ((bytes(9), 9), (bytes(3), 3), (bytes(4), -1), (b"", 4)):
        with pytest.raises(GatherError, match="usage"):
            append(writer, part, size)
    LIB.gather_writer_abort(writer)
    other = create_writer(writing(tmp_path / "a.bin", "uint8", (2,)))
    with pytest.raises(GatherError, match="usage"):
        append(other, bytes(2))
    LIB.gather_writer_abort(other)
    with pytest.raises(GatherError, match="usage"):
        create(writing(tmp_path / "a.bin", "uint8", (2,)), -1)
    with pytest.raises(GatherError, match="unsupported"):
        create(writing(tmp_path / "a.pb", "string", (2,)))
    assert os.listdir(tmp_path) == []


def test_a_file_that_may_not_grow_so_far(tmp_path) -> None:
    """Found before the first part, and nothing stays."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
    try:
        with pytest.raises(GatherError, match="io_error"):
            create(writing(tmp_path / "a.bin", "uint8", (2 * MIB,)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, old)
    assert os.listdir(tmp_path) == []


def resident_file_bytes(path) -> int:
    """How much of a file is in the page cache."""
    libc = c.CDLL(None, use_errno=True)
    size = os.path.getsize(path)
    libc.mmap.restype, libc.mmap.argtypes = P, [P, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]
    fd = os.open(path, os.O_RDONLY)
    address = libc.mmap(None, size, 1, 1, fd, 0)
    pages = (c.c_ubyte * ((size + 4095) // 4096))()
    assert libc.mincore(P(address), c.c_size_t(size), pages) == 0
    libc.munmap(P(address), c.c_size_t(size))
    os.close(fd)
    return 4096 * sum(page & 1 for page in pages)


def test_what_was_appended_leaves_the_page_cache(tmp_path) -> None:
    size = 16 * MIB
    writer = create(writing(tmp_path / "a.bin", "uint8", (size,)), 2 * MIB)
    for part in parts_of(bytes(size), MIB):
        append(writer, part)
    left = resident_file_bytes(being_written(tmp_path)[0])
    LIB.gather_writer_abort(writer)
    assert left <= 4 * MIB or is_in_memory(tmp_path)


def is_in_memory(path) -> bool:
    """Whether a folder is on a file system whose files are nowhere but in memory."""
    kinds = {}
    for line in open("/proc/mounts"):
        _, point, kind, *_ = line.split()
        if os.path.commonpath([point, str(path)]) == point:
            kinds[len(point)] = kind
    return bool(kinds) and kinds[max(kinds)] in ("tmpfs", "ramfs", "overlay")
