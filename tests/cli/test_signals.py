# SPDX-License-Identifier: MIT
"""Ctrl-C and its kin: the exit code, and no partial file."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest
from command import one_object
from support.outputs import being_written, has_unnamed_files, temporary_names
from support.skip import skip_test
from tables import start_writing

LONG = 1 << 31


@pytest.fixture
def long_take(gather):
    """The words of a take that takes a second or more: 2 GiB from a small table."""
    gather.save("x.npy", np.ones((2, 1 << 20), np.uint8))
    gather.save("i.npy", np.zeros(LONG >> 20, np.uint8))
    return [str(gather.exe), "take", "x.npy", "i.npy", "-o", "o.npy", "--threads", "1"]


def temporary(gather) -> list[str]:
    return [name for name in gather.names() if name not in ("x.npy", "i.npy")]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_signal_leaves_nothing(gather, long_take, number, code, threads):
    process = start_writing([*long_take[:-1], threads], gather.folder)
    assert being_written(gather.folder, process.pid) and process.poll() is None, "the take must be at work"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", b"")
    assert temporary(gather) == []


def test_a_signal_keeps_the_old_file(gather, long_take):
    gather.write("o.npy", "precious")
    process = start_writing([*long_take, "-f"], gather.folder)
    assert being_written(gather.folder, process.pid)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert (gather.folder / "o.npy").read_text() == "precious" and temporary(gather) == ["o.npy"]


def test_signals_at_any_moment(gather):
    """From before main to after the end: 130 or a whole file, never a part of one."""
    gather.save("x.npy", np.ones((2, 1 << 20), np.uint8))
    gather.save("i.npy", np.zeros(24, np.uint8))
    words = [str(gather.exe), "take", "x.npy", "i.npy", "-o", "o.npy"]
    ends = set()
    for step in range(40):
        process = subprocess.Popen(words, cwd=gather.folder, stdout=subprocess.DEVNULL)
        time.sleep(step * 0.0004)
        process.send_signal(signal.SIGINT)
        ends.add(process.wait(60))
        for name in temporary(gather):
            assert name == "o.npy" and gather.load(name).shape == (24, 1 << 20)
            (gather.folder / name).unlink()
    assert ends <= {0, 130, -signal.SIGINT}  # -2: before the command had begun


def test_ignored_signals_stay_ignored(gather):
    """As under nohup."""
    gather.save("x.npy", np.ones((2, 1 << 20), np.uint8))
    gather.save("i.npy", np.zeros(64, np.uint8))
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = start_writing([str(gather.exe), "take", "x.npy", "i.npy", "-o", "o.npy"], gather.folder, preexec_fn=ignore)
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    assert gather.load("o.npy").shape == (64, 1 << 20)


@pytest.mark.parametrize("json", [False, True])
def test_an_input_that_is_cut_while_it_is_read(gather, json):
    """SIGBUS: an answer, exit code 3 and nothing left."""
    with open(gather.folder / "x.bin", "wb") as file:
        file.truncate(LONG)
    words = [str(gather.exe), "take", "x.bin", "i.npy", "-o", "o.npy", "--type", "uint8", "--shape", f"{LONG >> 20}x{1 << 20}"]
    gather.save("i.npy", np.arange(LONG >> 20))
    process = start_writing(words + ["--json"] * json, gather.folder)
    os.truncate(gather.folder / "x.bin", 4096)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, (process.returncode, out, err)
    assert set(temporary(gather)) == {"x.bin"}
    if json:
        answer = one_object(out)
        assert err == b"" and answer["command"] == "take"
        assert (answer["error"]["status"], answer["error"]["code"]) == ("io_error", 15)
    else:
        assert out == b"" and err.startswith(b"gather: error: ") and err.count(b"\n") == 1


KILLS = 60  # of each kind of output


@pytest.mark.parametrize("more", [(), ("-f",), ("--memory", "4MiB"), ("--no-sync", "-f")], ids=lambda more: more[0] if more else "new")
def test_kills_at_any_moment_leave_nothing(gather, more):
    """A process that is killed cannot clean up: there is nothing to clean up."""
    if not has_unnamed_files(gather.folder):
        skip_test("tmpfile", "this file system has no files without a name")
    gather.save("x.npy", np.ones((16, 1 << 18), np.uint8))
    gather.save("i.npy", np.zeros(48, np.uint8))
    words = [str(gather.exe), "take", "x.npy", "i.npy", "-o", "o.npy", "-q", *more]
    lengths = []
    for _ in range(5):
        if "-f" not in more:
            (gather.folder / "o.npy").unlink(missing_ok=True)
        begin = time.monotonic()
        assert subprocess.run(words, cwd=gather.folder, timeout=60).returncode == 0
        lengths.append(time.monotonic() - begin)
    seconds = min(lengths)  # others slow a run down, and most kills shall hit
    killed = 0
    for step in range(KILLS):
        if "-f" not in more:
            (gather.folder / "o.npy").unlink(missing_ok=True)
        process = subprocess.Popen(words, cwd=gather.folder)
        time.sleep(seconds * 1.2 * step / KILLS)
        process.kill()
        killed += process.wait(60) == -signal.SIGKILL
        assert len(temporary_names(gather.folder)) <= ("-f" in more)  # killed between the two steps of replacing a file
        if (gather.folder / "o.npy").exists():
            assert (gather.folder / "o.npy").stat().st_size == 128 + (48 << 18)
    assert killed > KILLS / 6
    (gather.folder / "o.npy").unlink(missing_ok=True)
    assert subprocess.run(words, cwd=gather.folder, timeout=60).returncode == 0
    assert temporary_names(gather.folder) == []


@pytest.mark.parametrize("old", [False, True])
def test_what_a_kill_left_goes_with_the_next_output(gather, table, old):
    """For the moment of a rename, an output that replaces another has a temporary name: whoever is killed just then leaves it."""
    hashed = 0xCBF29CE484222325
    for byte in b"o.npy":
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    if old:
        gather.write("o.npy", "old")
    gather.write(f".gather-{hashed:016x}-0.tmp", "left")
    assert gather("take", table, "0", "-o", "o.npy", "-f").code == 0
    assert temporary_names(gather.folder) == [] and gather.load("o.npy").shape == (4,)
