# SPDX-License-Identifier: MIT
"""Writing files: whole or not at all, permissions, links, descriptors; part by part; plain bytes."""
import ctypes as c
import errno
import fcntl
import os
import resource
import signal
import stat
import struct
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from gather_files import LIB, P, Error, GatherError, check, create_writer, fails_to_check, target_of, write, writing
from support.outputs import being_written, has_unnamed_files, temporary_names
from support.refusal import refuses
from support.skip import skip_test
from unprivileged import unprivileged_folder

CONTENT = np.arange(3, dtype="<f4").tobytes()


def complaint_of(what, content: bytes = CONTENT) -> GatherError:
    with pytest.raises(GatherError) as caught:
        write(what, content)
    return caught.value


def create(what) -> tuple[P, int]:
    writer = create_writer(what)
    return writer, LIB.gather_writer_data_at(writer, 0)


def test_nothing_is_seen_before_commit_and_nothing_stays_after_abort(tmp_path) -> None:
    writer, data = create(writing(tmp_path / "a.npy", "float32", (3,)))
    temporary = LIB.gather_writer_temporary(writer).decode()
    assert os.listdir(tmp_path) == ([os.path.basename(temporary)] if temporary else [])
    assert os.path.dirname(temporary) == (str(tmp_path) if temporary else "")
    assert has_unnamed_files(tmp_path) == (temporary == "")
    assert [os.path.getsize(path) for path in being_written(tmp_path)] == [128 + 12]
    c.memmove(data, CONTENT, 12)
    LIB.gather_writer_abort(writer)
    assert os.listdir(tmp_path) == []


def test_data_is_aligned_as_in_numpys_files(tmp_path) -> None:
    writer, data = create(writing(tmp_path / "a.npy", "float32", (3,)))
    assert data % 64 == 0
    LIB.gather_writer_abort(writer)


def test_room_is_taken_from_the_disk_at_once(tmp_path) -> None:
    writer, _ = create(writing(tmp_path / "a.bin", "int8", (1 << 20,)))
    about = os.stat(being_written(tmp_path)[0])
    LIB.gather_writer_abort(writer)
    assert about.st_size == 1 << 20 and about.st_blocks * 512 >= 1 << 20


def test_a_disk_that_is_too_small(tmp_path) -> None:
    """No room is taken from a disk that has too little, not even for a moment: others need it."""
    room = os.statvfs(tmp_path)
    complaint_of_create(writing(tmp_path / "a.bin", "int8", (room.f_blocks * room.f_frsize * 2,))).must_be("io_error", "reserve")
    assert os.listdir(tmp_path) == []


def complaint_of_create(what) -> GatherError:
    with pytest.raises(GatherError) as caught:
        create(what)
    return caught.value


def test_existing_file_is_kept(tmp_path) -> None:
    (tmp_path / "a.npy").write_text("old")
    assert complaint_of(writing(tmp_path / "a.npy", "float32", (3,))).status == "file_exists"
    assert (tmp_path / "a.npy").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.npy"]


def test_file_that_appears_meanwhile_is_kept(tmp_path) -> None:
    writer, _ = create(writing(tmp_path / "a.npy", "float32", (3,)))
    (tmp_path / "a.npy").write_text("somebody else's")
    error = Error()
    assert LIB.gather_writer_commit(writer, c.byref(error)) == error.status
    assert GatherError(error).status == "file_exists"
    assert (tmp_path / "a.npy").read_text() == "somebody else's"
    assert os.listdir(tmp_path) == ["a.npy"]


def test_one_of_many_writers_wins(tmp_path) -> None:
    writers = [create(writing(tmp_path / "a.npy", "float32", (3,)))[0] for _ in range(20)]
    results: list[int] = []
    threads = [threading.Thread(target=lambda w=w: results.append(LIB.gather_writer_commit(w, None))) for w in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count(0) == 1 and len(set(results)) == 2
    assert os.listdir(tmp_path) == ["a.npy"]


def test_replacing_keeps_permissions_and_readers(tmp_path) -> None:
    path = tmp_path / "a.npy"
    path.write_text("old")
    path.chmod(0o640)
    with open(path) as reader:
        write(writing(path, "float32", (3,), replace=True), CONTENT)
        assert reader.read() == "old"
    assert np.load(path).tolist() == [0, 1, 2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.npy"]


def mode_of(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o604, 0o777, 0o000])
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_the_new_file_is_never_more_readable_than_the_old_one(mode, mask, tmp_path) -> None:
    (tmp_path / "a.npy").write_text("old")
    (tmp_path / "a.npy").chmod(mode)
    before = os.umask(mask)
    try:
        writer, data = create(writing(tmp_path / "a.npy", "float32", (3,), replace=True))
        assert [mode_of(path) for path in being_written(tmp_path)] == [mode]
        c.memmove(data, CONTENT, 12)
        check(LIB.gather_writer_commit(writer, None), Error())
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a.npy") == mode and os.listdir(tmp_path) == ["a.npy"]


def test_owner_and_group_are_kept_where_that_is_permitted(tmp_path) -> None:
    if os.geteuid() != 0:
        skip_test("root", "only root may give files away")
    (tmp_path / "a.npy").write_text("old")
    os.chown(tmp_path / "a.npy", 12345, 23456)
    write(writing(tmp_path / "a.npy", "float32", (3,), replace=True), CONTENT)
    about = os.stat(tmp_path / "a.npy")
    assert (about.st_uid, about.st_gid) == (12345, 23456)


def test_another_group_gets_no_more_than_others() -> None:
    if os.geteuid() != 0:
        skip_test("root", "only root may give files away")
    with unprivileged_folder() as folder:
        (folder / "a.npy").write_text("old")
        os.setresuid(0, 0, 0)
        os.chown(folder / "a.npy", 12345, 23456)
        (folder / "a.npy").chmod(0o664)
        os.setresuid(65534, 65534, 0)
        writer, _ = create(writing(folder / "a.npy", "float32", (3,), replace=True))
        (path,) = being_written(folder)
        assert os.stat(path).st_gid != 23456 and mode_of(path) == 0o644
        LIB.gather_writer_abort(writer)


def acl(*entries: tuple[int, int, int]) -> bytes:
    """An access control list as Linux has it: (tag, permissions, id) each."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


USER_OBJ, USER, GROUP_OBJ, MASK, OTHER, NOBODY_ID = 1, 2, 4, 16, 32, 2**32 - 1
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"


def set_acl(path, name: str, named_user: int) -> None:
    ids = [(USER_OBJ, 6, NOBODY_ID), (USER, 4, named_user), (GROUP_OBJ, 0, NOBODY_ID), (MASK, 4, NOBODY_ID), (OTHER, 0, NOBODY_ID)]
    try:
        os.setxattr(path, name, acl(*ids))
    except (AttributeError, OSError) as error:
        if getattr(error, "errno", errno.ENOTSUP) != errno.ENOTSUP:
            raise
        skip_test("acl", "this file system has no access control lists")


def test_the_access_control_list_is_kept(tmp_path) -> None:
    (tmp_path / "a.npy").write_text("old")
    set_acl(tmp_path / "a.npy", ACCESS, 12345)
    kept = os.getxattr(tmp_path / "a.npy", ACCESS)
    write(writing(tmp_path / "a.npy", "float32", (3,), replace=True), CONTENT)
    assert os.getxattr(tmp_path / "a.npy", ACCESS) == kept and mode_of(tmp_path / "a.npy") == 0o640


def test_the_folders_access_control_list_adds_no_reader(tmp_path) -> None:
    (tmp_path / "a.npy").write_text("old")
    (tmp_path / "a.npy").chmod(0o640)
    set_acl(tmp_path, DEFAULT, 12345)
    write(writing(tmp_path / "a.npy", "float32", (3,), replace=True), CONTENT)
    assert ACCESS not in os.listxattr(tmp_path / "a.npy") and mode_of(tmp_path / "a.npy") == 0o640
    write(writing(tmp_path / "new.npy", "float32", (3,)), CONTENT)
    assert ACCESS in os.listxattr(tmp_path / "new.npy")


def test_new_file_has_the_umasks_permissions(tmp_path) -> None:
    for mask in (0o022, 0o077, 0o002):
        before = os.umask(mask)
        write(writing(tmp_path / f"{mask}.npy", "float32", (3,)), CONTENT)
        os.umask(before)
        assert stat.S_IMODE((tmp_path / f"{mask}.npy").stat().st_mode) == 0o666 & ~mask


def test_a_link_stays_and_its_file_is_replaced(tmp_path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real.npy").write_text("old")
    (tmp_path / "link.npy").symlink_to("folder/real.npy")
    assert complaint_of(writing(tmp_path / "link.npy", "float32", (3,))).status == "file_exists"
    write(writing(tmp_path / "link.npy", "float32", (3,), replace=True), CONTENT)
    assert (tmp_path / "link.npy").is_symlink()
    assert np.load(tmp_path / "folder" / "real.npy").tolist() == [0, 1, 2]


def test_a_link_to_nothing_is_an_existing_file(tmp_path) -> None:
    (tmp_path / "link.npy").symlink_to("nothing.npy")
    assert complaint_of(writing(tmp_path / "link.npy", "float32", (3,))).status == "file_exists"
    assert complaint_of(writing(tmp_path / "link.npy", "float32", (3,), replace=True)).status == "file_not_found"


@pytest.mark.parametrize("replace", [False, True])
def test_targets_that_are_no_files(replace, tmp_path) -> None:
    (tmp_path / "d.npy").mkdir()
    os.mkfifo(tmp_path / "p.npy")
    assert complaint_of(writing(tmp_path / "d.npy", "float32", (3,), replace=replace)).status == "io_error"
    expected = "io_error" if replace else "file_exists"
    assert complaint_of(writing(tmp_path / "p.npy", "float32", (3,), replace=replace)).status == expected
    assert sorted(os.listdir(tmp_path)) == ["d.npy", "p.npy"]


def test_folders_that_cannot_be_used(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    assert complaint_of(writing(tmp_path / "none" / "a.npy", "float32", (3,))).status == "file_not_found"
    assert complaint_of(writing(tmp_path / "file" / "a.npy", "float32", (3,))).status == "file_not_found"
    assert complaint_of(writing(tmp_path / ("n" * 300 + ".npy"), "float32", (3,))).status == "io_error"


def test_a_folder_that_cannot_be_read() -> None:
    with unprivileged_folder() as folder:
        folder.chmod(0o333)
        write(writing(folder / "a.npy", "float32", (3,)), CONTENT)
        write(writing(folder / "a.npy", "float32", (3,), replace=True), CONTENT)
        assert np.load(folder / "a.npy").tolist() == [0, 1, 2]


def test_in_memory_and_without_waiting_for_a_disk() -> None:
    if not os.path.isdir("/dev/shm"):
        skip_test("tmpfs", "there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for sync in (True, False):
            for replace in (False, True):
                what = writing(Path(folder) / f"{sync}.npy", "float32", (3,), replace=replace, no_sync=not sync)
                writer, data = create(what)
                c.memmove(data, CONTENT, 12)
                check(LIB.gather_writer_commit(writer, None), Error())
                assert np.load(Path(folder) / f"{sync}.npy").tolist() == [0, 1, 2]
        assert temporary_names(folder) == []


def test_a_folder_without_permission() -> None:
    with unprivileged_folder() as folder:
        folder.chmod(0o555)
        assert complaint_of(writing(folder / "a.npy", "float32", (3,))).status == "io_error"


def test_the_longest_name(tmp_path) -> None:
    path = tmp_path / ("n" * 251 + ".npy")
    write(writing(path, "float32", (3,)), CONTENT)
    assert np.load(path).tolist() == [0, 1, 2]


def test_in_the_working_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(writing("a.npy", "float32", (3,)), CONTENT)
    assert os.listdir(".") == ["a.npy"]


def test_names_of_other_leavings(tmp_path) -> None:
    """Files of that name that a process holds locked stay; one that nobody holds was left by a process that is gone."""
    hashed = 0xCBF29CE484222325
    for byte in b"a.npy":
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    held = []
    for i in range(6):
        held.append(open(tmp_path / f".gather-{hashed:016x}-{i}.tmp", "wb"))
        if i < 5:
            fcntl.flock(held[-1], fcntl.LOCK_EX)
    (tmp_path / "a.npy").write_text("old")
    write(writing(tmp_path / "a.npy", "float32", (3,), replace=True), CONTENT)
    assert np.load(tmp_path / "a.npy").tolist() == [0, 1, 2]
    assert len(temporary_names(tmp_path)) == 5


@pytest.mark.parametrize("name", ["a.txt", "a", "npy", ".hidden/a", "a.npy ", "a.bin raw", "a."])
def test_extensions_that_say_nothing(name, tmp_path) -> None:
    complaint_of(writing(tmp_path / name, "float32", (3,))).must_be("usage", ".npy .bin .raw .safetensors .pb")


def test_format_by_name_wins_over_the_extension(tmp_path) -> None:
    write(writing(tmp_path / "a.npy", "float32", (3,), format="raw"), CONTENT)
    assert (tmp_path / "a.npy").read_bytes() == CONTENT
    assert complaint_of(writing(tmp_path / "b.npy", "float32", (3,), format="zip")).status == "usage"


@pytest.mark.parametrize("shape, status", [((-1,), "shape_mismatch"), ((2**62, 4), "overflow"), ((1,) * 65, "unsupported")])
def test_shapes_that_cannot_be(shape, status, tmp_path) -> None:
    fails_to_check(writing(tmp_path / "a.bin", "float32", shape)).must_be(status)


def test_descriptor(tmp_path) -> None:
    with open(tmp_path / "a", "wb") as file:
        write(writing(None, "float32", (3,), fd=file.fileno(), format="npy"), CONTENT)
        write(writing(None, "float32", (3,), fd=file.fileno(), format="raw"), CONTENT)
    content = (tmp_path / "a").read_bytes()
    assert len(content) == 128 + 12 + 12 and content[128:] == 2 * CONTENT


def test_descriptor_of_a_slow_pipe_that_does_not_wait() -> None:
    reader, sender = os.pipe()
    os.set_blocking(sender, False)
    received = bytearray()

    def drain() -> None:
        while part := os.read(reader, 10_000):
            received.extend(part)

    thread = threading.Thread(target=drain)
    thread.start()
    content = np.random.default_rng(0).bytes(1 << 20)
    write(writing(None, "uint8", (1 << 20,), fd=sender, format="raw"), content)
    os.close(sender)
    thread.join()
    os.close(reader)
    assert bytes(received) == content


def test_descriptors_that_cannot_be_written(tmp_path) -> None:
    with open("/dev/full", "wb") as full:
        refuses(GatherError, write, writing(None, "float32", (3,), fd=full.fileno(), format="npy"), CONTENT).must_be("io_error", "space")
    with open("/dev/null", "rb") as read_only:
        assert complaint_of(writing(None, "float32", (3,), fd=read_only.fileno(), format="npy")).status == "io_error"
    assert complaint_of(writing(None, "float32", (3,), fd=-1, format="npy")).status == "io_error"
    assert complaint_of(writing(None, "float32", (3,), fd=1)).status == "usage"


def test_pipe_without_a_reader() -> None:
    reader, sender = os.pipe()
    os.close(reader)
    assert complaint_of(writing(None, "float32", (3,), fd=sender, format="npy")).status == "io_error"
    os.close(sender)


OPAQUE = {"type_name": "opaque", "shape": (3,), "item_bytes": 4}
FLOATS = {"type_name": "float32", "shape": (3,)}


@pytest.mark.parametrize("format, what, status, words", [
    ("npy", FLOATS | {"align_bytes": -64}, "usage", "a power of two, not -64"),
    ("npy", FLOATS | {"align_bytes": 48}, "usage", "a power of two, not 48"),
    ("npy", FLOATS | {"align_bytes": 8192}, None, ""),
    ("npy", FLOATS | {"align_bytes": 16384}, "unsupported", "NumPy reads at most 10000"),
    ("pb", FLOATS | {"align_bytes": 64}, "unsupported", "a pb file cannot be padded"),
    ("raw", FLOATS | {"align_bytes": 64}, None, ""),
    ("safetensors", FLOATS | {"align_bytes": 4096}, None, ""),
    ("safetensors", FLOATS | {"align_bytes": 2**40}, "unsupported", f"cannot be aligned to {2**40}"),
    ("raw", OPAQUE | {"descr": "'<i4'"}, None, ""), ("raw", OPAQUE | {"descr": "'<i8'"}, "usage", "another size"),
    ("raw", OPAQUE | {"descr": "'<i4"}, "usage", "the descr '<i4"),
])
def test_alignment_and_descr(format, what, status, words, tmp_path) -> None:
    path = tmp_path / "a"
    made = writing(path, format=format, **what)
    if status:
        error = complaint_of(made)
        assert error.status == status and words in error.message and os.listdir(tmp_path) == []
        return
    write(made, CONTENT)
    content = path.read_bytes()
    assert content[-12:] == CONTENT and (len(content) - 12) % what.get("align_bytes", 1) == 0


@pytest.mark.parametrize("name, status, words", [
    ("", "usage", "empty"), ("a.npy/", "usage", "ends with a slash"), ("file/a.npy", "file_not_found", "file/a.npy"),
    ("none/a.npy", "file_not_found", "none/a.npy")])
def test_names_of_outputs(name, status, words, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"kept")
    complaint_of(writing(Path(name) if name and name[-1] != "/" else name, "float32", (3,), format="npy")).must_be(status, words)
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"kept"


# ---- Elements that come part by part: the file is that of elements written at once, and memory holds none of it.

MIB = 1 << 20


def create_parts(what, window: int = 0) -> P:
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
        writer = create_parts(writing(parts, "float32", shape, byte_swapped=swapped), window)
        assert LIB.gather_writer_data_at(writer, 0) is None
        for part in parts_of(content, 999_996):
            append(writer, part)
        commit(writer)
        assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("extension", ["npy", "bin", "pb"])
def test_no_elements(tmp_path, extension) -> None:
    for name, write_parts in (("whole", False), ("parts", True)):
        what = writing(tmp_path / f"{name}.{extension}", "float32", (0, 3))
        commit(create_parts(what)) if write_parts else write(what, b"")
    assert (tmp_path / f"parts.{extension}").read_bytes() == (tmp_path / f"whole.{extension}").read_bytes()


def test_plain_bytes(tmp_path) -> None:
    writer = create_parts(target_of(tmp_path / "a.svg", bytes=5))
    append(writer, b"<sv")
    append(writer, b"g>")
    commit(writer)
    assert (tmp_path / "a.svg").read_bytes() == b"<svg>"


def test_a_descriptor_gets_each_part_at_once() -> None:
    ends = os.pipe()
    writer = create_parts(writing(None, "int16", (6,), format="npy", fd=ends[1]))
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
    writer = create_parts(writing(None, "uint8", (len(content),), format="raw", fd=ends[1]))
    for part in parts_of(content, MIB):
        append(writer, part)
    commit(writer)
    os.close(ends[1])
    thread.join()
    assert b"".join(got) == content


def test_missing_elements_are_no_file(tmp_path) -> None:
    writer = create_parts(writing(tmp_path / "a.npy", "uint8", (8,)))
    append(writer, bytes(5))
    with pytest.raises(GatherError, match="usage: 5 of 8 bytes"):
        commit(writer)
    assert os.listdir(tmp_path) == []


def test_wrong_calls_of_parts(tmp_path) -> None:
    writer = create_parts(writing(tmp_path / "a.bin", "float32", (2,), byte_swapped=True))
    for part, size in ((bytes(9), 9), (bytes(3), 3), (bytes(4), -1), (b"", 4)):
        with pytest.raises(GatherError, match="usage"):
            append(writer, part, size)
    LIB.gather_writer_abort(writer)
    other = create_writer(writing(tmp_path / "a.bin", "uint8", (2,)))
    with pytest.raises(GatherError, match="usage"):
        append(other, bytes(2))
    LIB.gather_writer_abort(other)
    with pytest.raises(GatherError, match="usage"):
        create_parts(writing(tmp_path / "a.bin", "uint8", (2,)), -1)
    with pytest.raises(GatherError, match="unsupported"):
        create_parts(writing(tmp_path / "a.pb", "string", (2,)))
    assert os.listdir(tmp_path) == []


def test_a_file_that_may_not_grow_so_far(tmp_path) -> None:
    """Found before the first part, and nothing stays."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
    try:
        with pytest.raises(GatherError, match="io_error"):
            create_parts(writing(tmp_path / "a.bin", "uint8", (2 * MIB,)))
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
    writer = create_parts(writing(tmp_path / "a.bin", "uint8", (size,)), 2 * MIB)
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


# ---- Plain bytes as a file that appears whole or not at all.


def create_bytes(path, size: int, replace: bool = False):
    return create_writer(target_of(path, replace=replace, bytes=size))


def write_bytes(path, content: bytes, replace: bool = False) -> None:
    writer, error = create_bytes(path, len(content), replace), Error()
    assert [os.path.getsize(file) for file in being_written(path.parent)] == [len(content)]
    data = LIB.gather_writer_data_at(writer, 0)
    assert bool(data) == bool(content)
    if content:
        assert c.string_at(data, len(content)) == bytes(len(content))
        c.memmove(data, content, len(content))
    check(LIB.gather_writer_commit(writer, c.byref(error)), error)


@pytest.mark.parametrize("content", [b"", b"x", b"<svg/>\n", bytes(range(256)) * 999])
def test_it_holds_what_was_written(content, tmp_path) -> None:
    write_bytes(tmp_path / "a.svg", content)
    assert (tmp_path / "a.svg").read_bytes() == content and os.listdir(tmp_path) == ["a.svg"]


def test_an_existing_file(tmp_path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o604)
    (tmp_path / "link").symlink_to("real")
    for name in ("real", "link"):
        with pytest.raises(GatherError) as caught:
            create_bytes(tmp_path / name, 3)
        assert caught.value.status == "file_exists" and (tmp_path / "real").read_text() == "old"
    write_bytes(tmp_path / "link", b"new", replace=True)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o604
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_nothing_stays_of_what_is_given_up(tmp_path) -> None:
    LIB.gather_writer_abort(create_bytes(tmp_path / "a", 1000))
    assert os.listdir(tmp_path) == []


def test_wrong_calls_of_bytes(tmp_path) -> None:
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    for path, size, status in ((tmp_path / "a", -1, "usage"), ("", 1, "usage"), (tmp_path / "no" / "a", 1, "file_not_found"),
                               (tmp_path, 1, "io_error"), (tmp_path / "a", free + (1 << 40), "io_error")):
        with pytest.raises(GatherError) as caught:
            create_bytes(path, size, replace=True)
        assert caught.value.status == status, (path, size)
    with pytest.raises(GatherError, match="io_error"):
        create_bytes(None, 1)  # neither a path nor a descriptor
    assert LIB.gather_writer_create(c.byref(target_of(tmp_path / "a", bytes=1)), None, c.byref(error := Error())) == error.status
    assert os.listdir(tmp_path) == []
