# SPDX-License-Identifier: MIT
"""What a first try gets wrong, and the hint that must help: never one about something else."""

import errno
import json
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from models import onnx_model
from support.skip import skip_test


BOOLS = """m (bool[2, 2] w, int64[N] ids) => (bool[N, 2] y) { [g] y = Gather (w, ids) }"""
FLOATS = """m (float[2] w, int64[N] ids) => (float[N] y) { [g] y = Gather (w, ids) }"""


def test_long_lists_of_tensors_end(gather):
    np.savez(gather.folder / "many.npz", **{f"layer.{i}.weight": np.zeros((1, 2), np.float32) for i in range(100)})
    message = gather.fails("name_not_found", "take", "many.npz", "0", "-o", "o.npy")["message"]
    assert "the file has 100 tensors" in message and "'layer.0.weight' float32 [1, 2]" in message
    assert message.endswith(" more") and len(message) < 500


def test_an_equals_sign_behind_a_letter(gather, table):
    assert gather("take", table, "0", "-o=o.npy").code == 0
    assert gather.names() == {table, "o.npy"}


def test_policies_by_their_names_in_python(gather, table):
    for also, name in (("clip", "clamp"), ("raise", "error")):
        given = gather("take", table, "[0, 9]", "--on-bad", also, "--dry-run", "--json")
        wanted = gather("take", table, "[0, 9]", "--on-bad", name, "--dry-run", "--json")
        assert given.code == wanted.code == (name == "error")
        assert b'"bad":1' in given.out or b'"index_out_of_range"' in given.out
    drawn = gather("explain", table, "[0, 9]", "--on-bad", "clip").text
    assert drawn == gather("explain", table, "[0, 9]", "--on-bad", "clamp").text


def test_truth_values(gather):
    """A bool is written and drawn as true and false, alone and in lists; 1 and 0 are read too."""
    onnx_model(gather.folder / "bools.onnx", BOOLS)
    onnx_model(gather.folder / "one.onnx", "m (bool w0, int64[N] ids) => (bool[N] y) "
               "<int64[1] one = {1}> { w = Reshape (w0, one) [g] y = Gather (w, ids) }")
    for text, value in (("true", True), ("false", False), ("1", True), ("0", False)):
        answer = gather("run", "one.onnx", "--input", f"w0={text}", "--input", "ids=[0]", "--output", "y=y.npy", "-f")
        assert answer.code == 0, answer
        assert gather.load("y.npy").tolist() == [value]
    lists = ("--input", "w=[[true, false], [0, 1]]", "--input", "ids=[1, 0]")
    assert gather("run", "bools.onnx", *lists, "--output", "y=z.npy").code == 0
    assert gather.load("z.npy").tolist() == [[False, True], [True, False]]
    drawn = gather("explain", "bools.onnx", "--node", "g", *lists).text
    assert "true  false" in drawn and "false   true" in drawn
    assert gather("check", "bools.onnx", *lists).code == 0
    for text in ("True", "yes", "[true, 2]", "[tru]"):
        assert gather("run", "bools.onnx", "--input", f"w={text}", "--input", "ids=[0]").code in (2, 3)
    gather.write("true", "1 0\n")  # a file of that name is written ./true
    assert gather("run", "one.onnx", "--input", "w0=true", "--input", "ids=[0]").code == 0


def test_numbers_of_float_inputs(gather):
    onnx_model(gather.folder / "f.onnx", FLOATS)
    answer = gather("run", "f.onnx", "--input", "w=1.5", "--input", "ids=[0]")
    assert answer.code == 1 and "rank" in answer.errors  # a literal of rank 0, not a file
    assert gather("run", "f.onnx", "--input", "w=[1.5, nan]", "--input", "ids=[0]").code == 0


def test_a_pointer_is_no_table(gather, table):
    """Whatever opens it says what it is; no hint leads to reading its text."""
    gather.write("tokens.bin", b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n")
    gather.write("rows.bin", bytes(16))
    words = "it is a Git LFS pointer, not the file itself, which has 12345 bytes: 'git lfs pull' downloads it"
    raw = ("--type", "uint16", "--shape", "-1")
    for line in (("take", "tokens.bin", "[0]", "-o", "o.npy"), ("take", table, "tokens.bin", "-o", "o.npy"), ("info", "tokens.bin"),
                 ("take", "tokens.bin:x", "[0]", "-o", "o.npy"), ("elements", "tokens.bin", "[0]", "-o", "o.npy"),
                 ("nd", "tokens.bin", "[[0]]", "-o", "o.npy"), ("check", "tokens.bin"), ("run", "tokens.bin"),
                 ("explain", "tokens.bin", "[0]"), ("shuffle", "tokens.bin", "-o", "o.bin"), ("bench", "tokens.bin")):  # fmt: skip
        error = gather.fails("unsupported", *line)
        assert words in error["message"] and "--type" not in error.get("hint", ""), (line, error)
    for line in (("take", "tokens.bin", "[0]", *raw, "-o", "o.npy"), ("elements", "tokens.bin", "[0]", *raw, "-o", "o.npy"),
                 ("take", "rows.bin", "[0]", *raw, "--part", "tokens.bin", "-o", "o.npy"), ("bench", "tokens.bin", *raw),
                 ("shuffle", "tokens.bin", *raw, "-o", "o.bin")):  # fmt: skip
        error = gather.fails("usage", *line)
        assert words in error["message"] and error["hint"] == "--raw reads the bytes anyway", (line, error)
    assert words in gather.fails("usage", "take", table, "[0]", "--part", "tokens.bin", "-o", "o.npy")["message"]
    error = gather.fails("usage", "take", table, "tokens.bin", "--indices-type", "uint8", "--indices-shape", "4", "-o", "o.npy")
    assert words in error["message"] and error["hint"] == "--indices-raw reads the bytes anyway"
    assert gather.result("take", "tokens.bin", "[0, 1]", *raw, "--raw").tobytes() == b"vers"


def test_an_output_that_cannot_be_written_gets_the_hint_of_its_error(gather):
    gather.save("x.npy", np.arange(4))
    os.mkfifo(gather.folder / "pipe.npy")
    (gather.folder / "folder.npy").mkdir()
    (gather.folder / "dangling.npy").symlink_to("none.npy")
    for name, words in (("pipe.npy", "not a regular file"), ("folder.npy", "not a regular file"), ("dangling.npy", "link to a file")):
        shown = gather("take", "x.npy", "0", "-o", name, "-f").err.decode()
        assert words in shown and "not writable" not in shown, (name, shown)


def test_a_full_disk_gets_its_hint(gather):
    from test_output import small_disk

    gather.save("x.npy", np.ones((4, 1 << 19), np.uint8))
    with small_disk(gather.folder / "disk"):
        for line in (("take", "x.npy", "[0, 1, 2]"), ("shuffle", "x.npy")):
            error = gather.fails("io_error", *line, "-o", "disk/o.npy")
            assert error["hint"] == "free space on the disk of disk, or write elsewhere", (line, error)


def test_a_read_only_file_system_gets_its_hint(gather):
    from test_output import small_disk

    gather.save("x.npy", np.arange(4))
    with small_disk(gather.folder / "disk"):
        if subprocess.run(["mount", "-o", "remount,ro", str(gather.folder / "disk")], capture_output=True).returncode != 0:
            skip_test("full_disk", "a disk cannot be made read-only here")
        for line in (("take", "x.npy", "[0]"), ("shuffle", "x.npy")):
            error = gather.fails("io_error", *line, "-o", "disk/o.npy")
            assert error["hint"] == "the file system of disk is read-only; write elsewhere", (line, error)


def test_too_many_files_get_their_hint(gather):
    """The hard limit: the command raises the soft one. Inputs and outputs."""
    gather.save("x.npy", np.arange(4))
    gather.save("ids.npy", np.arange(2))

    def run(most: int, *line: str):
        return gather(*line, "--json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))

    seen = 0
    for line in (("info", "x.npy"), ("take", "x.npy", "ids.npy", "-o", "o.npy", "-f"), ("elements", "x.npy", "ids.npy", "-o", "o.npy", "-f")):
        for most in range(4, 8):
            answer = run(most, *line)
            if answer.code == 0:
                continue
            error = json.loads(answer.out)["error"]
            assert error["hint"] == "raise the limit of open files: ulimit -n", (most, line, error)
            seen += 1
    assert seen > 0


# What the system answers to a call, and the hint that must follow. "": none, for nothing is known about what to do.
REFUSED = {
    errno.ENOSPC: "free space on the disk of out, or write elsewhere",
    errno.EDQUOT: "your quota on the disk of out is used up: remove files, or write elsewhere",
    errno.EFBIG: "the file system of out, or ulimit -f, does not allow a file of this size; write elsewhere",
    errno.EROFS: "the file system of out is read-only; write elsewhere",
    errno.EMFILE: "raise the limit of open files: ulimit -n",
    errno.ENFILE: "the whole system has too many open files (fs.file-max): end programs that hold them",
    errno.EACCES: "the folder out is not writable; write elsewhere",
    errno.EPERM: "the folder out is not writable; write elsewhere",
    errno.ELOOP: "symbolic links form a loop, or there are too many; name the file itself",
    errno.ENAMETOOLONG: "the name is too long (most systems allow 255 bytes for each part of a path)",
    errno.EIO: "",
}


@pytest.fixture(scope="module")
def other_words(tmp_path_factory):
    """An environment in which the system's words for its errors are others, as in another language or C library."""
    if os.environ.get("GATHER_SANITIZE"):
        return {}  # the sanitizer comes first
    folder = tmp_path_factory.mktemp("words")
    (folder / "words.c").write_text(
        "#include <stddef.h>\n#include <stdio.h>\nstatic char words[40];\n"
        'char *strerror(int number) { snprintf(words, sizeof words, "Fehler %d", number); return words; }\n'
        '#ifdef __GLIBC__\n#define strerror_r __xpg_strerror_r /* as the headers have it */\n#endif\n'
        'int strerror_r(int number, char *text, size_t room) { snprintf(text, room, "Fehler %d", number); return 0; }\n'
    )
    line = [os.environ.get("GATHER_CC", "cc"), "-shared", "-fPIC", "-o", str(folder / "words.so"), str(folder / "words.c")]
    subprocess.run(line, check=True)
    return {"LD_PRELOAD": str(folder / "words.so")}


@pytest.mark.parametrize("own_words", [True, False], ids=["own-words", "other-words"])
@pytest.mark.parametrize("line", ["take x.npy [0] -o out/o.npy", "shuffle x.npy -o out/o.npy", "explain x.npy [0] -o out/o.svg"])
def test_the_number_of_an_error_has_its_hint(gather, other_words, line, own_words):
    """Whatever call fails, and whatever the words of the system are."""
    trace = Path(os.environ.get("GATHER_BUILD", "")) / "tests/faults/gather_trace"
    if not trace.is_file():
        skip_test("faults", "no program here lets system calls fail")
    gather.save("x.npy", np.arange(1 << 14))
    fired = set()
    for number, hint in REFUSED.items():
        for calls in (["access", "faccessat"], ["mkdir", "mkdirat"], ["fallocate"]):
            for call in calls:
                shutil.rmtree(gather.folder / "out", ignore_errors=True)
                (gather.folder / "out").mkdir()
                words = [str(gather.folder / "report"), "fail", call, "1", str(number), gather.exe, *line.split(), "--json"]
                done = subprocess.run([trace, *words], cwd=gather.folder, capture_output=True, timeout=60, check=False,
                                      env=gather.environment(**({} if own_words else other_words)))  # fmt: skip
                if f"fired {call}" not in (gather.folder / "report").read_text() or done.returncode == 0:
                    continue
                fired.add(call)
                error = json.loads(done.stdout)["error"]
                assert error.get("hint", "") == hint, (errno.errorcode[number], call, error)
                if not own_words and other_words:
                    assert f"Fehler {number}" in error["message"]
    assert fired & {"fallocate", "access", "faccessat"} and (fired & {"mkdir", "mkdirat"} or "shuffle" not in line)


@pytest.mark.parametrize("own_words", [True, False], ids=["own-words", "other-words"])
def test_what_the_system_really_refuses_has_its_hint(gather, other_words, own_words):
    words = {} if own_words else other_words
    gather.save("x.npy", np.arange(1 << 16))
    gather.save("ids.npy", np.arange(2))
    (gather.folder / "folder.npy").mkdir()
    os.mkfifo(gather.folder / "pipe.npy")
    (gather.folder / "dangling.npy").symlink_to("none.npy")
    (gather.folder / "circle.npy").symlink_to("circle.npy")
    (gather.folder / "round").symlink_to("round")
    long = "n" * 300

    def hint(*line: str, **more) -> str:
        answer = gather(*line, "-f", "--json", env=words, **more)
        assert answer.code == 3, answer
        return json.loads(answer.out)["error"].get("hint", "")

    for command in (("take", "x.npy", "ids.npy"), ("shuffle", "x.npy"), ("explain", "x.npy", "[0]")):
        end = "svg" if command[0] == "explain" else "npy"
        for output, part in (
            ("pipe.npy", "pipe.npy is not a regular file; name another output"),
            ("folder.npy", "folder.npy is not a regular file; name another output"),
            ("dangling.npy", "dangling.npy is a link to a file that does not exist"),
            ("circle.npy", "symbolic links form a loop"),
            (f"round/o.{end}", "symbolic links form a loop"),
            (f"{long}.{end}", "name is too long"),
            (f"{long}/o.{end}", "name is too long"),
            (f"x.npy/o.{end}", "x.npy is a file, not a folder"),
            (f"x.npy/a/o.{end}", "x.npy is a file, not a folder"),
            (f"none/o.{end}", "no such folder: none; create it with mkdir -p"),
        ):
            if command[0] == "explain" and output.endswith(".npy"):
                continue  # the extension is refused first
            assert part in hint(*command, "-o", output), (command, output)

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for command in (("take", "x.npy", "0:60000"), ("shuffle", "x.npy")):
        assert "ulimit -f, does not allow a file of this size" in hint(*command, "-o", "o.npy", preexec_fn=small), command
    for line in (("take", "circle.npy", "[0]", "-o", "o.npy"), ("take", f"{long}.npy", "[0]", "-o", "o.npy")):
        shown = hint(*line)
        assert "symbolic links form a loop" in shown or "name is too long" in shown, (line, shown)
