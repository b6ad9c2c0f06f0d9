# SPDX-License-Identifier: MIT
"""Large files, other locales, and terminals."""

import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from support.skip import skip_test
from terminals import on_terminal, shown_at_work, stop_for_a_while


def sparse_npy(path, rows: int, row: int) -> None:
    """A .npy of float32 with holes for elements, but for a mark at the start of some rows."""
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, row)})
        start = file.tell()
        for number in (0, 7, rows // 2, rows - 1):
            file.seek(start + number * row * 4)
            file.write(np.float32(number + 0.5).tobytes())
        file.truncate(start + rows * row * 4)


def test_ten_rows_of_100_gigabytes(gather):
    """Opening costs the header, and a row costs a row."""
    rows, row = 25_000_000, 1000
    try:
        sparse_npy(gather.folder / "big.npy", rows, row)
    except OSError as error:
        skip_test("sparse_file", f"this file system has no room for a sparse file of 100 GB: {error}")
    assert (gather.folder / "big.npy").stat().st_size > 100e9
    picked = [0, 7, rows // 2, -1, 3, 99, 12345, rows - 1, -rows, 0]
    # A small program in between: what Python itself takes would count as the command's.
    small = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
    small += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    words = [sys.executable, "-S", "-c", small, gather.exe, "take", "big.npy", str(picked), "-o", "o.npy", "-q"]
    begin = time.monotonic()
    done = subprocess.run(words, cwd=gather.folder, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100 * 1024, "KiB; 10 rows are 40 kB, the rest are programs"
    assert time.monotonic() - begin < 10
    expected = [n % rows + 0.5 if n % rows in (0, 7, rows // 2, rows - 1) else 0 for n in picked]
    assert np.array_equal(gather.load("o.npy")[:, 0], np.array(expected, np.float32))
    assert gather.json("info", "big.npy")["tensors"][0]["bytes"] == rows * row * 4


def test_starting_is_quick(gather, table):
    """No threads for small work: ten starts in well under ten seconds, also on a busy machine."""
    begin = time.monotonic()
    for i in range(10):
        assert gather("take", table, "1", "-o", f"{i}.npy").code == 0
    assert time.monotonic() - begin < 10


TUNINGS = ("isa=0", "isa=0,variant=2", "isa=1,variant=1,nontemporal_bytes=1,calibration_bytes=1", "variant=-1", "isa=+99", "")


@pytest.mark.parametrize("tuning", TUNINGS)
def test_tuning_changes_no_answer(gather, tuning):
    rng = np.random.default_rng(7)
    x, i = rng.integers(0, 99, (50, 3), np.int16), rng.integers(-50, 50, 400)
    gather.save("x.npy", x)
    gather.save("i.npy", i)
    answer = gather("take", "x.npy", "i.npy", "-o", "o.npy", "-f", env={"GATHER_TUNING": tuning})
    assert answer.code == 0 and np.array_equal(gather.load("o.npy"), x[i])


def test_the_plan_names_the_fastest_variant_after_the_run(gather):
    gather.save("x.npy", np.zeros((5000, 64), np.uint8))
    gather.save("i.npy", np.random.default_rng(7).integers(0, 64, 2000))
    env = {"GATHER_TUNING": "calibration_bytes=1,cache_bytes=1"}
    words = ("take", "x.npy", "i.npy", "--axis", "1", "-o", "o.npy", "-f")  # along axis 0 it would be rows of a table
    assert "; fastest" in gather(*words, "--plan", env=env).text
    assert "; fastest" in gather.json(*words, env=env)["plan"]
    assert "; fastest" not in gather(*words, "--dry-run", env=env).text


def test_tuning_limits_the_instruction_set(gather):
    def kernels(**env):
        return gather.json("info", env=env)["kernels"]

    assert kernels(GATHER_TUNING="isa=0") == "portable"
    assert kernels(GATHER_TUNING="isa=99") == kernels()
    features = gather.json("info")["cpu_features"]
    if not {"avx2", "neon"} & set(features):
        skip_test("avx2", "this CPU has the portable kernels only")
    assert kernels() in features and kernels() != "portable"
    if "avx2" in features:
        assert kernels(GATHER_TUNING="isa=1") == "avx2"


@pytest.mark.parametrize("tuning", ["isa", "isa=", "=1", "isa=x", "isa=1.5", "isa=1 ", "isa=1,,variant=0", ",", "isa=1;variant=0", "ISA=1",
                                    "isa=99999999999999999999", "nonsense=1", "x" * 500 + "=1", "variant=0,nonsense=1"])
def test_tuning_that_cannot_be_understood(gather, table, tuning):
    for words in (("info",), ("take", table, "0", "-o", "o.npy"), ()):
        answer = gather(*words, env={"GATHER_TUNING": tuning})
        assert answer.code == 2 and b"GATHER_TUNING" in answer.err, answer
    assert not (gather.folder / "o.npy").exists()


def test_tuning_in_the_help(gather, gather_source):
    names = re.findall(r"^GATHER_TUNING\((\w+), (-?\d+)", (gather_source / "src/core/kernel/tuning.def").read_text(), re.MULTILINE)
    assert len(names) > 5
    for page in (gather("help", "tuning").text, gather("--man").text.replace("\\-", "-")):
        for name, initial in names:
            assert f" {name}={initial}" in page
        assert max(map(len, page.splitlines())) <= 80


@pytest.fixture
def german(gather):
    """An environment with commas for points. To make one for UTF-8 takes five times as long."""
    if shutil.which("localedef"):
        words = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(gather.folder / "de_DE.ISO-8859-1")]
        subprocess.run(words, capture_output=True, check=False)
    if not (gather.folder / "de_DE.ISO-8859-1").is_dir():
        skip_test("locale", "the German locale cannot be made here")
    environment = {"LOCPATH": str(gather.folder), "LC_ALL": "de_DE.ISO-8859-1"}
    check = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"
    found = subprocess.run(["python3", "-c", check], env={**os.environ, **environment}, capture_output=True, text=True)
    assert found.stdout == ",\n", found
    return environment


def test_other_locales_change_nothing(gather, table, german):
    words = ("take", table, "[0, 9]", "-o", "o.npy", "--on-bad", "fill=1.5", "-f")
    assert isinstance(gather.json(*words, env=german)["seconds"], float)
    assert gather.load("o.npy")[1].tolist() == [1.5] * 4
    assert gather("take", table, "0", "-o", "p.npy", "--on-bad", "fill=1,5", env=german).code == 2
    assert gather("ops", env=german).out == gather("ops").out
    answers = [gather("take", table, "9", "-o", "p.npy", env=env) for env in (german, {"LC_ALL": "C"}, {})]
    assert answers[0] == answers[1] == answers[2]


def test_progress_on_a_terminal_after_a_second(gather, table):
    """The command is stopped for a second while it works: its next task finds that it takes long."""
    assert on_terminal(gather, "take", table, "1", "-o", "o.npy", stdout=False)[2] == b""
    gather.save("x.npy", np.ones((2, 1 << 20), np.uint8))
    words = ("take", "x.npy", "i.npy", "-o", "big.npy", "--no-sync")
    for threads in ("1", "2"):
        code, shown = shown_at_work(gather, *words, "--threads", threads)
        assert code == 0, shown
        assert b"%, " in shown and b"MB/s" in shown and b"left" in shown
        assert shown.endswith(b"\r\x1b[K"), "the line is wiped at the end"
        (gather.folder / "big.npy").unlink()
    assert on_terminal(gather, *words, "-f", "-q", stdout=False, pause=stop_for_a_while)[2] == b""
    answer = gather(*words, "-f")
    assert answer.code == 0 and answer.err == b""
