# SPDX-License-Identifier: MIT
"""What is written: formats, whole or not at all, existing files, full disks, and streams."""

import os
import resource
import shutil
import subprocess
import threading
from contextlib import contextmanager

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from command import one_object
from support.nobody import command_for_others
from support.skip import skip_test
from support.threads import together

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_the_summary(gather, table):
    answer = gather("take", table, "[[0, 9]]", "-o", "o.npy", "--on-bad", "clamp")
    assert answer.code == 0 and answer.err == b""
    assert answer.text == "o.npy: float32 [1, 2, 4], 32 bytes; 2 indices, 1 out of range and repaired\n"


@pytest.mark.parametrize("extension", ["bin", "raw"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", ">c8", "<i8", ">u2", "S3", ">U2", ">M8[s]"])
def test_raw_output_is_little_endian(gather, dtype, extension):
    data = np.arange(6).astype(dtype) if dtype[1] not in "USM" else np.array([1, 22, 3, 4, 5, 6], "i8").astype(dtype)
    gather.save("x.npy", data)
    assert gather("take", "x.npy", "[5, 0]", "-o", f"o.{extension}").code == 0
    expected = data[[5, 0]]
    little = expected.astype(expected.dtype.newbyteorder("<"))
    assert (gather.folder / f"o.{extension}").read_bytes() in (little.tobytes(),)


@pytest.mark.parametrize("dtype", ["f4", ">f4", "f8", "f2", "i1", "u1", ">i2", "u2", "i4", "u4", ">i8", "u8", "?", "c8", "c16"])
def test_pb_output(gather, dtype):
    data = np.arange(6).reshape(3, 2).astype(dtype)
    gather.save("x.npy", data)
    assert gather("take", "x.npy", "[[2, 0]]", "-o", "o.pb").code == 0
    tensor = onnx.TensorProto.FromString((gather.folder / "o.pb").read_bytes())
    array = onnx.numpy_helper.to_array(tensor)
    assert np.array_equal(array, data[[[2, 0]]]) and list(tensor.dims) == [1, 2, 2]
    assert array.dtype == data.dtype.newbyteorder("=")


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "int4", "uint4", "float4_e2m1fn"])
def test_pb_output_of_small_types(gather, name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    bits = 4 if name.endswith(("int4", "e2m1fn")) else 8 * dtype.itemsize
    codes = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.uint8 if bits <= 8 else np.uint16)
    flat = codes.ravel()
    packed = bytes((int(a) | int(b) << 4) for a, b in zip(flat[::2], [*flat[1::2], 0], strict=True)) if bits == 4 else flat.tobytes()
    gather.write("x.bin", packed)
    words = ("take", "x.bin", "[2, 0, 1]", "--type", name, "--shape", "3x3", "-o")
    assert gather(*words, "o.pb").code == 0
    array = onnx.numpy_helper.to_array(onnx.TensorProto.FromString((gather.folder / "o.pb").read_bytes()))
    assert array.dtype == dtype
    expected = codes[[2, 0, 1]] if bits != 4 else codes[[2, 0, 1]].astype(np.int8)
    got = array.view(codes.dtype)
    assert np.array_equal(got & 15, expected & 15) if bits == 4 else np.array_equal(got, expected)
    error = gather.fails("unsupported", *words, "o.npy")
    assert "pb" in error["message"] and "raw" in error["message"]
    gather.fails("unsupported", *words, "-")
    assert gather.names() == {"x.bin", "o.pb"}


@pytest.mark.parametrize("dtype", ["S3", "<U2", "V4", "<M8[s]", [("a", "i4")]])
def test_pb_cannot_carry_opaque_types(gather, dtype):
    gather.save("x.npy", np.zeros(3, dtype))
    error = gather.fails("unsupported", "take", "x.npy", "0", "-o", "o.pb")
    assert "npy" in error["message"]


def test_packed_padding_is_zero(gather):
    gather.write("x.bin", b"\xff\xff\xff")
    for index, size, last in (("[0, 1, 2]", 2, 0x0F), ("[0, 1]", 1, 0xFF), ("0", 1, 0x0F)):
        assert gather("take", "x.bin", index, "--type", "int4", "--shape", "5", "-o", "o.bin", "-f").code == 0
        content = (gather.folder / "o.bin").read_bytes()
        assert len(content) == size and content[-1] == last


def test_an_existing_file_is_kept(gather, table):
    gather.write("o.npy", "precious")
    gather.fails("file_exists", "take", table, "0", "-o", "o.npy")
    assert (gather.folder / "o.npy").read_text() == "precious"
    assert gather("take", table, "0", "-o", "o.npy", "-f").code == 0
    assert np.array_equal(gather.load("o.npy"), DATA[0])
    assert gather("take", table, "[1]", "-o", "o.npy", "--force").code == 0
    assert gather.names() == {"x.npy", "o.npy"}


def test_with_force_a_failure_keeps_the_old_file(gather, table):
    gather.write("o.npy", "precious")
    gather.fails("index_out_of_range", "take", table, "7", "-o", "o.npy", "-f")
    assert (gather.folder / "o.npy").read_text() == "precious"
    assert gather.names() == {"x.npy", "o.npy"}


def test_the_output_is_not_the_input(gather, table):
    before = (gather.folder / table).read_bytes()
    for force in ((), ("-f",)):
        error = gather.fails("file_exists", "take", table, "[2, 1]", "-o", table, *force)
        assert "which is kept" in error["message"]
        assert (gather.folder / table).read_bytes() == before


def test_folders_that_are_none(gather, table):
    (gather.folder / "folder.npy").mkdir()
    for name in ("none/o.npy", "folder.npy", "x.npy/o.npy"):
        for more in ((), ("--dry-run",)):
            answer = gather("take", table, "0", "-o", name, "-f", *more)
            assert answer.code == 3 and answer.err.startswith(b"gather: error: ")
    assert gather.names() == {"x.npy", "folder.npy"}


def test_a_result_on_stdout(gather, table):
    answer = gather("take", table, "[2]", "-o", "-", "--on-bad", "zero")
    assert answer.code == 0 and answer.err == b""
    gather.write("o.npy", answer.out)
    assert np.array_equal(gather.load("o.npy"), DATA[[2]])
    answer = gather("take", table, "[2]", "-o", "-", "--plan")
    assert answer.err.startswith(b"plan: ") and answer.out.startswith(b"\x93NUMPY")
    first = subprocess.Popen([gather.exe, "take", table, "[2, 0]", "-o-"], cwd=gather.folder, stdout=subprocess.PIPE)
    second = gather("take", "-", "1", "-o", "p.npy", stdin=first.stdout.fileno())
    first.stdout.close()
    assert first.wait() == 0 and second.code == 0
    assert np.array_equal(gather.load("p.npy"), DATA[0])


def test_dry_run_with_stdout_writes_nothing_there(gather, table):
    answer = gather("take", table, "[2]", "-o", "-", "--dry-run")
    assert answer.code == 0 and answer.out == b"" and b"float32" in answer.err


@pytest.fixture
def full_device():
    if not os.path.exists("/dev/full"):
        skip_test("full_device", "there is no /dev/full")
    with open("/dev/full", "wb") as device:
        yield device


def test_a_full_stdout_is_an_error(gather, table, full_device):
    answer = gather("take", table, "[2]", "-o", "-", stdout=full_device)
    assert answer.code == 3 and b"gather: error: " in answer.err
    answer = gather("take", table, "[2]", "-o", "-", "--json", stdout=full_device)
    assert answer.code == 3 and one_object(answer.err)["error"]["status"] == "io_error"
    for line in (["ops"], ["info"], ["--help"], ["info", table, "--json"]):
        answer = gather(*line, stdout=full_device)
        assert answer.code == 3 and b"standard output" in answer.err


def test_a_closed_stdout_is_an_error(gather, table):
    for line in (["ops"], ["take", table, "0", "-o", "-"], ["info", table]):
        answer = gather(*line, preexec_fn=lambda: os.close(1))
        assert answer.code == 3, answer
    # No file that is written may get the number of stdout or stderr, and messages end in it.
    answer = gather("take", table, "[0, 7]", "-o", "o.npy", "--on-bad", "zero", preexec_fn=lambda: os.closerange(0, 3))
    assert answer.code == 3
    assert np.array_equal(gather.load("o.npy"), [DATA[0], np.zeros(4)])


def test_a_reader_that_left(gather, table):
    """Text: quiet, as when paging; a result that could not be written: an error."""
    for line, code in ((["ops"], 0), (["take", table, "0", "-o", "-"], 3)):
        read, write = os.pipe()
        os.close(read)
        answer = gather(*line, stdout=write)
        os.close(write)
        assert answer.code == code and (answer.err == b"") == (code == 0)


@contextmanager
def small_disk(folder):
    """A disk of one MiB, where this user may mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode != 0:
        skip_test("full_disk", "a small disk cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_an_error_and_leaves_nothing(gather):
    disk = gather.folder / "disk"
    with small_disk(disk):
        gather.save("y.npy", np.ones((4, 1 << 19), np.uint8))
        error = gather.fails("io_error", "take", "y.npy", "[0, 1, 2]", "-o", "disk/o.npy")
        assert error["file"].endswith("disk/o.npy")
        assert list(disk.iterdir()) == []
        assert gather("take", "y.npy", "[3]", "-o", "disk/o.npy").code == 0
        gather.fails("io_error", "take", "y.npy", "[3]", "-o", "disk/o.npy", "-f")
        assert [path.name for path in disk.iterdir()] == ["o.npy"]
        assert (np.load(disk / "o.npy") == 1).all()


def test_a_file_size_limit_is_an_error_and_leaves_nothing(gather):
    gather.save("x.npy", np.ones((4, 1 << 19), np.uint8))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))  # noqa: E731
    answer = gather("take", "x.npy", "[0, 1]", "-o", "o.npy", preexec_fn=limit)
    assert answer.code == 3 and gather.names() == {"x.npy"}


def test_a_folder_that_may_not_be_written(gather, table):
    (gather.folder / "closed").mkdir(mode=0o555)
    words = [str(gather.exe), "take", table, "0", "-o", "closed/o.npy", "--json"]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            skip_test("read_only_folder", "root may write everywhere, and there is no setpriv to be somebody else")
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        words = [*nobody, *words]
        paths = [gather.folder, *gather.folder.parents]
        if any(path.stat().st_mode & 0o5 != 0o5 for path in paths):
            # pytest's folders are the user's alone: a copy of all lies where everybody may look.
            import tempfile

            with tempfile.TemporaryDirectory() as place:
                os.chmod(place, 0o755)
                shutil.copy(gather.folder / table, place)
                os.mkdir(f"{place}/closed", 0o555)
                command = str(command_for_others(gather.exe, place))
                check_closed([*nobody, command, *words[len(nobody) + 1 :]], place)
            return
    check_closed(words, gather.folder)


def check_closed(words, folder):
    answer = subprocess.run(words, cwd=folder, capture_output=True)
    assert answer.returncode == 3, answer
    assert one_object(answer.stdout)["error"]["status"] == "io_error"
    assert os.listdir(f"{folder}/closed") == []


def test_two_at_once_and_one_wins(gather, table):
    gather.save("big.npy", np.arange(1 << 21, dtype=np.int32).reshape(4, -1))

    def start(i: int, answers: list) -> threading.Thread:
        run = lambda: answers.append((i, gather("take", "big.npy", f"[{i}, {i}]", "-o", "o.npy")))  # noqa: E731
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    for _ in range(8):
        answers = []
        for thread in [start(i, answers) for i in range(3)]:
            thread.join()
        assert sorted(answer.code for _, answer in answers) == [0, 3, 3]
        winner = next(i for i, answer in answers if answer.code == 0)
        assert np.array_equal(gather.load("o.npy"), np.load(gather.folder / "big.npy")[[winner] * 2])
        assert all(b"exists" in answer.err for _, answer in answers if answer.code)
        assert gather.names() == {"x.npy", "big.npy", "o.npy"}
        (gather.folder / "o.npy").unlink()


def test_two_at_once_with_force(gather, table):
    together(lambda i: gather("take", table, f"[{i % 3}]", "-o", "o.npy", "-f"), range(8))
    assert gather.load("o.npy").shape == (1, 4) and gather.names() == {"x.npy", "o.npy"}


@pytest.mark.parametrize("door", ["same", "symbolic link", "hard link"])
@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("take", "emb.npy", "ids.npy", "-o"), "emb.npy"),
        (("take", "emb.npy", "ids.npy", "-o"), "ids.npy"),
        (("take", "emb.npy", "ids.npy", "--part", "part.npy", "-o"), "part.npy"),
        (("take", "emb.npy", "ids.npy", "--memory", "64MiB", "-o"), "emb.npy"),
        (("take", "two.safetensors:a", "ids.npy", "-o"), "two.safetensors"),
        (("elements", "emb.npy", "cells.npy", "-o"), "emb.npy"),
        (("elements", "emb.npy", "cells.npy", "-o"), "cells.npy"),
        (("nd", "emb.npy", "cells.npy", "-o"), "emb.npy"),
        (("shuffle", "emb.npy", "-o"), "emb.npy"),
        (("shuffle", "emb.npy", "--order", "ids.npy", "-o"), "ids.npy"),
    ],
    ids=str,
)
def test_an_output_that_is_an_input_is_refused(gather, words, kept, door):
    from safetensors.numpy import save_file

    gather.save("emb.npy", np.arange(8.0).reshape(4, 2))
    gather.save("part.npy", np.arange(8.0).reshape(4, 2))
    gather.save("ids.npy", np.array([1, 0]))
    gather.save("cells.npy", np.zeros((1, 2), np.int64))
    save_file({"a": np.zeros((4, 2)), "b": np.ones((4, 2))}, gather.folder / "two.safetensors")
    target = kept
    if door != "same":
        target = "other" + os.path.splitext(kept)[1]
        (os.symlink if door == "symbolic link" else os.link)(gather.folder / kept, gather.folder / target)
    before, names = (gather.folder / kept).read_bytes(), gather.names()
    for force in ((), ("-f",)):
        gather.fails("file_exists", *words, target, *force)
        assert (gather.folder / kept).read_bytes() == before and gather.names() == names


def test_external_data_and_inputs_of_a_model_are_kept(gather):
    weights = onnx.numpy_helper.from_array(np.arange(400, dtype=np.float32).reshape(100, 4), "w")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gather", ["w", "ids"], ["y"], name="g")], "m", [value("ids", 7, ["N"])], [value("y", 1, None)], [weights]
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    onnx.save(model, gather.folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    gather.save("ids.npy", np.array([1]))
    os.symlink(gather.folder / "m.onnx", gather.folder / "m.svg")
    before = {name: (gather.folder / name).read_bytes() for name in ("m.onnx", "w.bin", "ids.npy")}
    for words in (
        ("run", "m.onnx", "--input", "ids=ids.npy", "--output", "y=w.bin"),
        ("run", "m.onnx", "--input", "ids=ids.npy", "--output", "y=ids.npy"),
        ("take", "m.onnx:w", "[1]", "-o", "w.bin"),
        ("take", "m.onnx:w", "[1]", "-o", "w.bin", "--memory", "64MiB"),
        ("explain", "m.onnx", "--node", "g", "--input", "ids=ids.npy", "-o", "m.svg"),
    ):
        gather.fails("file_exists", *words, "-f")
    assert before == {name: (gather.folder / name).read_bytes() for name in before}
    usage = gather.fails("usage", "run", "m.onnx", "--input", "ids=ids.npy", "--output", "y=a.npy", "--output", "y=./a.npy")
    assert "are one file" in usage["message"]
