# SPDX-License-Identifier: MIT
"""Takes through tables when something is scarce or goes wrong: memory, the disk, the file itself, signals, io_uring."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command import one_object
from support.outputs import temporary_names
from support.skip import skip_test
from tables import ENGINES, MIB, forbid_uring, has_uring, make_cold, peak_bytes, start_writing
from terminals import on_terminal, stop_for_a_while
from test_output import small_disk

BASE = 12 * MIB  # the program's own code, libraries and stacks


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table of 64 MiB in rows of 4 KiB with indices and an eighth of them, and a small one with 16 MiB of indices."""
    folder = tmp_path_factory.mktemp("large")
    table = np.arange(16 * MIB, dtype=np.uint32).reshape(-1, 1024)
    np.save(folder / "x.npy", table)
    np.save(folder / "i.npy", np.random.default_rng(1).integers(0, len(table), 1 << 14))
    np.save(folder / "some.npy", np.load(folder / "i.npy")[: 1 << 11])
    np.save(folder / "small.npy", np.arange(4096, dtype=np.float32).reshape(512, 8))
    np.save(folder / "many.npy", np.random.default_rng(2).integers(0, 512, 2 * MIB))
    return folder


def watched(gather, *words) -> tuple[int, bytes]:
    """The most memory a command had, and what it answered."""
    if "address" in os.environ.get("GATHER_SANITIZE", ""):
        skip_test("resident", "AddressSanitizer keeps freed memory")
    process = subprocess.Popen([gather.exe, *map(str, words), "--json"], stdout=subprocess.PIPE, cwd=gather.folder)
    peak = peak_bytes(process)
    out = process.stdout.read()
    assert process.wait() == 0, out
    return peak, out


@pytest.mark.parametrize("engine", ENGINES)
def test_the_ceiling_holds_for_a_large_table(gather, large, engine):
    """64 MiB of rows and 64 MiB of output, with 8 MiB; without a ceiling the same takes more, so the measure is one."""
    make_cold(large / "x.npy")
    words = ("take", large / "x.npy", large / "i.npy", "-o", "o.npy", "-f", "--engine", engine)
    peak, out = watched(gather, *words, "--memory", "8MiB")
    assert np.array_equal(gather.load("o.npy")[:, 0], np.load(large / "i.npy") * 1024)
    assert peak < 8 * MIB + BASE, f"{peak / MIB:.1f} MiB"
    assert one_object(out)["table"]["memory_peak"] <= 8 * MIB


def test_the_ceiling_holds_for_many_indices(gather, large):
    """16 MiB of indices and 64 MiB of output."""
    words = ("take", large / "small.npy", large / "many.npy", "-o", "o.npy", "-f", "--threads", "2")
    with_ceiling, _ = watched(gather, *words, "--memory", "4MiB")
    assert gather.load("o.npy").nbytes == 64 * MIB
    without, _ = watched(gather, *words)
    assert with_ceiling < 4 * MIB + BASE < without, (with_ceiling / MIB, without / MIB)


@pytest.fixture
def long_take(gather):
    """The words of a take of 2 GiB, from a file with holes."""
    with open(gather.folder / "x.bin", "wb") as file:
        file.truncate(1 << 31)
    gather.save("i.npy", np.arange(1 << 15)[::-1])
    return [str(gather.exe), "take", "x.bin", "i.npy", "-o", "o.npy", "--type", "uint8", "--shape", "32768x65536"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("more", [[], ["--memory", "64MiB"], ["--engine", "pread"]], ids=str)
def test_a_signal_in_the_middle_leaves_nothing(gather, long_take, number, code, more):
    process = start_writing([*long_take, *more], gather.folder)
    time.sleep(0.03)
    assert process.poll() is None, "the take must be at work"
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"") and process.returncode == code
    assert gather.names() == {"x.bin", "i.npy"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("json", [False, True])
def test_a_file_that_is_cut_while_it_is_read(gather, long_take, engine, json):
    """Rows are taken from the end: the cut takes those away that come next."""
    process = start_writing([*long_take, "--engine", engine, "--memory", "64MiB", *["--json"] * json], gather.folder)
    os.truncate(gather.folder / "x.bin", 70000)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3 and gather.names() == {"x.bin", "i.npy"}
    if json:
        error = one_object(out)["error"]
        assert error["status"] == "io_error" and err == b""
        assert error["file"] == "x.bin" and error["offset"] >= 65536 and 0 < error["row"] < 32768
    else:
        assert out == b"" and err.startswith(b"gather: error: x.bin: ") and b"row" in err and b"byte" in err


def limit_files(size: int):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_a_file_that_may_not_grow_so_far(gather, large):
    words = ("take", large / "x.npy", large / "i.npy", "-o", "o.npy", "--memory", "8MiB")
    error = gather.fails("io_error", *words, preexec_fn=limit_files(MIB))
    assert error["file"] == "o.npy" and gather.names() == set()


def test_a_full_disk(gather, large):
    with small_disk(gather.folder / "disk"):
        gather.fails("io_error", "take", large / "x.npy", large / "i.npy", "-o", "disk/o.npy", "--memory", "8MiB")
        assert os.listdir(gather.folder / "disk") == []


def test_a_device_that_is_full(gather, large):
    """A descriptor has no room that could be reserved: the error comes in the middle."""
    with open("/dev/full", "wb") as full:
        answer = gather("take", large / "x.npy", large / "i.npy", "-o", "-", "--memory", "8MiB", stdout=full)
    assert answer.code == 3 and b"gather: error: " in answer.err


def test_two_at_once(gather, large):
    """For one output: one of them makes it, the other finds it. For two: both do."""
    words = [gather.exe, "take", large / "x.npy", large / "some.npy", "--memory", "16MiB", "-o"]
    for outputs, codes in ((["a.npy", "a.npy"], [0, 3]), (["b.npy", "c.npy"], [0, 0])):
        both = [subprocess.Popen([*words, name], cwd=gather.folder, stdout=-3, stderr=-3) for name in outputs]
        assert sorted(process.wait(60) for process in both) == codes
    expected = np.load(large / "x.npy")[np.load(large / "some.npy")]
    assert all(np.array_equal(gather.load(name), expected) for name in ("a.npy", "b.npy", "c.npy"))
    assert temporary_names(gather.folder) == []


@pytest.fixture
def without_uring(gather):
    """What a command is started with where a container forbids io_uring."""
    if not has_uring(gather):
        skip_test("io_uring", "it is not here anyway")
    probe = subprocess.run(["true"], preexec_fn=forbid_uring)
    assert probe.returncode == 0
    return {"preexec_fn": forbid_uring}


def test_io_uring_forbidden(gather, large, without_uring):
    engines = {row["name"]: row for row in gather.json("info", **without_uring)["engines"]}
    assert not engines["uring"]["works"] and "seccomp" in engines["uring"]["why"]
    assert f"engine uring is not available: {engines['uring']['why']}\n" in gather("info", **without_uring).text
    words = ("take", large / "x.npy", large / "some.npy", "-o", "o.npy", "-f")
    for asked in ("auto", "uring"):
        make_cold(large / "x.npy")
        table = gather.json(*words, "--engine", asked, **without_uring)["table"]
        assert table["engine"] == "pread" and table["why"]
        text = gather(*words, "--engine", asked, **without_uring)
        assert text.code == 0 and text.err.startswith(b"gather: note: using pread, not uring: ") == (asked == "uring")
        assert (text.err == b"") == (asked == "auto")
        assert gather(*words, "--engine", asked, "-q", **without_uring).err == b""
    assert np.array_equal(gather.load("o.npy")[:, 0], np.load(large / "some.npy") * 1024)


def test_progress_on_a_terminal(gather, large):
    words = ("take", large / "x.npy", large / "i.npy", "-o", "o.npy", "--memory", "8MiB")
    code, _, shown = on_terminal(gather, *words, columns=120, stdout=False, pause=stop_for_a_while)
    assert code == 0
    for part in (b"%, ", b" rows/s, ", b" of 67.1 MB", b" MB read for ", b" s left"):
        assert part in shown, shown
    assert shown.endswith(b"\r\x1b[K")


@pytest.mark.parametrize("more", [[], ["--memory", "64MiB"]], ids=str)
def test_indices_that_are_cut_or_changed_meanwhile(gather, long_take, more):
    """Both are noticed: what was checked before is not trusted for ever."""
    indices = gather.folder / "i.npy"
    for change in ("cut", "changed"):
        gather.save("i.npy", np.arange(1 << 15)[::-1])
        process = start_writing([*long_take, *more], gather.folder)
        process.send_signal(signal.SIGSTOP)
        if change == "cut":
            os.truncate(indices, 128)
        else:
            with open(indices, "r+b") as file:
                file.seek(128)
                file.write(np.full(1 << 15, 1 << 40).tobytes())
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 3 and out == b"", (change, err)
        assert err.startswith(b"gather: error: ") and err.count(b"\n") == 1, err
        assert gather.names() == {"x.bin", "i.npy"}


def few_descriptors(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("kind", ["parts", "index"])
@pytest.mark.parametrize("engine", ENGINES)
def test_more_files_than_descriptors(gather_exe, tmp_path, kind, engine):
    """The soft limit is raised to the hard one; if that is too few, the message says what to raise."""
    count, rows = 60, np.arange(120, dtype=np.float32).reshape(60, 2)
    for i in range(count):
        np.save(tmp_path / f"{i}.npy", rows[i : i + 1])
        header = json.dumps({f"t{i}": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}).encode()
        (tmp_path / f"{i}.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + rows[i].tobytes())
    (tmp_path / "m.safetensors.index.json").write_text(json.dumps({"weight_map": {f"t{i}": f"{i}.safetensors" for i in range(count)}}))
    parts = [word for i in range(1, count) for word in ("--part", f"{i}.npy")]
    data, more, ids = ("0.npy", parts, "[59, 0, 30]") if kind == "parts" else ("m.safetensors.index.json:t59", [], "[0]")
    line = [gather_exe, "take", data, ids, "-o", "o.npy", "-f", *more, "--engine", engine]
    for soft, hard, code in ((24, 400, 0), (24, 24, 3)):
        if kind == "index" and code:
            continue  # whether shards stay open is not promised
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, preexec_fn=few_descriptors(soft, hard), timeout=60)
        assert done.returncode == code, (soft, hard, done.stderr)
        assert code == 0 or "ulimit -n" in done.stderr
    assert np.array_equal(np.load(tmp_path / "o.npy"), rows[[59, 0, 30]] if kind == "parts" else rows[[59]])


def test_the_package_leaves_the_limit_of_descriptors(tmp_path):
    """It is the host's: the message says what to raise."""
    for i in range(60):
        np.save(tmp_path / f"{i}.npy", np.zeros((2, 2)))
    code = f"""
import libgather, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 400))
paths = [f"{tmp_path}/{{i}}.npy" for i in range(60)]
try:
    libgather.open(paths, engine="pread")
except libgather.GatherError as error:
    print("ulimit -n" in str(error), resource.getrlimit(resource.RLIMIT_NOFILE))
resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
print(libgather.open(paths, engine="pread")[[119, 0]].shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("True (24, 400)\n(2, 2)\n", 0), done.stderr
