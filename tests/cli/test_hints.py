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
from models import IR, onnx_model
from support.skip import skip_test

ROWS = """m (int64[N] ids) => (float[N, 2] y) <float[3,2] w = {0,1, 10,11, 20,21}> { [g] y = Gather (w, ids) }"""
BOOLS = """m (bool[2, 2] w, int64[N] ids) => (bool[N, 2] y) { [g] y = Gather (w, ids) }"""
FLOATS = """m (float[2] w, int64[N] ids) => (float[N] y) { [g] y = Gather (w, ids) }"""


@pytest.fixture
def files(gather, table):
    (gather.folder / "folder").mkdir()
    gather.save("f.npy", np.array([1.5]))
    np.savez(gather.folder / "two.npz", emb=np.zeros((4, 3), np.float32), pos=np.zeros(2))
    onnx_model(gather.folder / "m.onnx", ROWS)
    onnx_model(gather.folder / "bools.onnx", BOOLS)
    ir = IR()
    data, ids, axis = ir.const("emb", np.zeros((3, 4), np.float32)), ir.parameter("ids", "int64", [2]), ir.const("axis", np.int64(0))
    node = ir.layer("g", "Gather", "opset8", inputs=[data, ids, axis], out=("float32", [2, 4]))
    ir.layer("r", "Result", "opset1", inputs=[node])
    ir.save(gather.folder / "bare.xml")
    (gather.folder / "bare.bin").unlink()
    return table


# The words after `gather`, the exit code, and parts of what is said.
TRIES = [
    ("take x.npy [1.5] -o o.npy", 2, ["'1.5'", "not an integer"]),
    ("take x.npy [1e3] -o o.npy", 2, ["'1e3'", "not an integer"]),
    ("take x.npy [true] -o o.npy", 2, ["'true'", "not an integer"]),
    ("take x.npy 1.5 -o o.npy", 3, ["indices are integers"]),
    ("take x.npy 1,2 -o o.npy", 3, ["'[0, 2]'"]),
    ("take x.npy (1,2) -o o.npy", 3, ["'[0, 2]'"]),
    ("take x.npy 0:3:1:1 -o o.npy", 3, ["'[0, 2]'"]),
    ("take x.npy ids.txt -o o.npy", 3, ["INDICES is a file"]),
    ("take x.npy 0 -o nodir/r.npy", 3, ["no such folder: nodir", "mkdir"]),
    ("tree two.npz two.npz two.npz 1 --tensor emb -o o.npy", 2, ["gather tree has no option --tensor", "hint: a tensor is named FILE:NAME"]),
    ("tree two.npz two.npz two.npz 1 --indices-tensor emb -o o.npy", 2, ["hint: a tensor is named FILE:NAME"]),
    ("run m.onnx --input ids=two.npz --tensor emb", 2, ["a tensor is named --input INPUT=FILE:NAME; FILE ends at the first colon"]),
    ("check m.onnx --input ids=two.npz --tensor emb", 2, ["a tensor is named --input INPUT=FILE:NAME; FILE ends at the first colon"]),
    ("explain m.onnx --node g --tensor emb", 2, ["--tensor needs DATA and INDICES that are files"]),
    ("take x.npy 0 -o x.npy/r.npy", 3, ["x.npy is a file, not a folder"]),
    ("run m.onnx --input ids=[0] --output y=nodir/r.npy", 3, ["no such folder: nodir"]),
    ("shuffle x.npy -o nodir/r.npy", 3, ["no such folder: nodir"]),
    ("explain x.npy 0 -o nodir/r.svg", 3, ["no such folder: nodir"]),
    ("take y.npy 0 -o o.npy", 3, ["name a tensor as"]),
    ("info two.nzp", 3, ["did you mean two.npz?"]),
    ("check n.onnx", 3, ["MODEL is an ONNX model"]),
    ("check bols.onnx", 3, ["did you mean bools.onnx?"]),
    ("info nodir/two.npz", 3, ["no such folder: nodir"]),
    ("take two.npz/emb 0 -o o.npy", 3, ["named two.npz:emb"]),
    ("take two.npz 0 -o o.npy", 3, ["2 tensors", "'emb' float32 [4, 3], 'pos' float64 [2]", "FILE:NAME"]),
    ("take two.npz:zzzzzz 0 -o o.npy", 3, ["the file has: 'emb' float32 [4, 3], 'pos' float64 [2]"]),
    ("take two.npz:embb 0 -o o.npy", 3, ["the nearest is 'emb'"]),
    ("bench two.npz", 3, ["'emb' float32 [4, 3], 'pos' float64 [2]"]),
    ("take x.npy f.npy -o o.npy", 1, ["indices are integers"]),
    ("elements x.npy [0] -o o.npy", 1, ["use gather take for whole rows"]),
    ("take x.npy 0 --dequantize float32 --dry-run", 2, ["did you mean --as?"]),
    ("take x.npy 0 --decode-as float32 --dry-run", 2, ["did you mean --as?"]),
    ("take x.npy 0 --on-bad clmp --dry-run", 2, ["did you mean 'clamp'?"]),
    ("take x.npy 0 --on-bad rise --dry-run", 2, ["did you mean 'raise'?"]),
    ("take x.npy 0 --on-bad fill --dry-run", 2, ["did you mean 'fill='?"]),
    ("take x.npy 0 --rules onnx13 --dry-run", 2, ["did you mean 'onnx-13'?"]),
    ("take x.npy 0 --rules ONNX-13 --dry-run", 2, ["did you mean 'onnx-13'?"]),
    ("take x.npy 0 --rules openvino-6 --dry-run", 2, ["openvino-6 is for GatherElements: gather elements"]),
    ("elements x.npy [[0,0,0,0]] --rules openvino-8 --dry-run", 2, ["openvino-8 is for Gather: gather take"]),
    ("take x.npy 0 --engine io_uring --dry-run", 2, ["did you mean 'uring'?"]),
    ("bench x.npy --engine nmap", 2, ["did you mean 'mmap'?"]),
    ("take x.npy 0 --type flaot32 --shape 3 --dry-run", 2, ["did you mean 'float32'?"]),
    ("take x.npy 0 --type float --shape 3 --dry-run", 2, ["did you mean one of float16, float32, float64, "]),
    ("take x.npy x.npy --indices-type itn64 --indices-shape 3 --dry-run", 2, ["did you mean 'int64'?"]),
    ("tkae x.npy 0", 2, ["did you mean 'take'?"]),
    ("help tkae", 2, ["did you mean 'take'?"]),
    ("x.npy 0", 2, ["the command comes first"]),
    ("version", 2, ["did you mean --version?"]),
    ("--axis 0", 2, ["without a command"]),
    ("check x.npy", 4, ["MODEL is an ONNX model"]),
    ("explain x.npy", 4, ["INDICES"]),
    ("run bare.xml --input ids=[0,1]", 3, [".bin beside .xml", "copy bare.bin"]),
    ("take bare.xml:emb 0 -o o.npy", 3, [".bin beside .xml", "copy bare.bin"]),
    ("run bools.onnx --input w=yes --input ids=[0]", 3, ["the input is bool: true, false"]),
    ("run bools.onnx --input w=2 --input ids=[0]", 2, ["a bool is true or false"]),
    ("take x.npy [0, 2] -o o.npy", 2, ["quote a literal that contains spaces: '[0, 2]'"]),
    ("take x.npy 0 2 -o o.npy", 2, ["one argument: '[0, 2]'"]),
    ("take x.npy 0 o.npy", 2, ["name the output with -o o.npy"]),
    ("shuffle x.npy o.npy", 2, ["name the output with -o o.npy"]),
    ("check m.onnx ids=[0]", 2, ["with --input ids=[0]"]),
    ("run m.onnx ids=[0]", 2, ["with --input ids=[0]"]),
    ("take x.npy 0", 2, ["-o - writes to standard output"]),
    ("take x.npy 0 --mode clip", 2, ["did you mean --on-bad?"]),
    ("take x.npy 0 --fill 3", 2, ["did you mean --on-bad?"]),
    ("take x.npy 0 --dtype int8", 2, ["did you mean --type?"]),
    ("take x.npy 0 --o o.npy", 2, ["did you mean --output?"]),
    ("run m.onnx --test-data nodir", 3, ["--test-data takes a folder"]),
    ("run m.onnx --test-data folder", 3, ["--test-data takes a folder"]),
    ("run m.onnx --input ids=0", 1, ["as many dimensions as brackets"]),
    ("explain m.onnx g", 3, ["--node NAME"]),
    ("check m.onnx --input ids=1.5", 2, ["'1.5'", "not an integer"]),
]


@pytest.mark.parametrize(("line", "code", "parts"), TRIES, ids=lambda x: x if isinstance(x, str) else "")
def test_a_first_try(gather, files, line, code, parts):
    answer = gather(*line.split())
    assert answer.code == code, answer
    for part in parts:
        assert part in answer.errors, answer.errors
    assert answer.errors.count("\n") <= 2 and answer.out == b""


def test_hints_are_in_the_json_answer(gather, files):
    assert "no such folder" in gather.fails("file_not_found", "take", "x.npy", "0", "-o", "nodir/r.npy")["hint"]
    assert gather.fails("usage", "take", "x.npy", "0", "--rules", "openvino-6", "--dry-run")["hint"].endswith("gather elements")


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
    gather.fails("usage", "take", table, "0", "--on-bad", "CLIP", "--dry-run")


def test_truth_values(gather, files):
    """A bool is written and drawn as true and false, alone and in lists; 1 and 0 are read too."""
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
    assert gather("take", "tokens.bin", "[0, 1]", *raw, "--raw", "-o", "o.npy").code == 0
    assert gather.load("o.npy").tobytes() == b"vers"


def test_an_output_that_cannot_be_written_gets_the_hint_of_its_error(gather):
    import os

    import numpy as np

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
    errno.EFBIG: "the file system of out, or ulimit -f, allows no file of this size; write elsewhere",
    errno.EROFS: "the file system of out is read-only; write elsewhere",
    errno.EMFILE: "raise the limit of open files: ulimit -n",
    errno.ENFILE: "the whole system has too many open files (fs.file-max): end programs that hold them",
    errno.EACCES: "the folder out is not writable; write elsewhere",
    errno.EPERM: "the folder out is not writable; write elsewhere",
    errno.ELOOP: "links lead in a circle, or there are too many; name the file that is meant",
    errno.ENAMETOOLONG: "the system allows no name of this length (most allow 255 bytes for each part of a path)",
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
            ("circle.npy", "links lead in a circle"),
            (f"round/o.{end}", "links lead in a circle"),
            (f"{long}.{end}", "no name of this length"),
            (f"{long}/o.{end}", "no name of this length"),
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
        assert "ulimit -f, allows no file of this size" in hint(*command, "-o", "o.npy", preexec_fn=small), command
    for line in (("take", "circle.npy", "[0]", "-o", "o.npy"), ("take", f"{long}.npy", "[0]", "-o", "o.npy")):
        shown = hint(*line)
        assert "links lead in a circle" in shown or "no name of this length" in shown, (line, shown)
