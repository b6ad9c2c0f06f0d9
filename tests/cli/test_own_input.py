# SPDX-License-Identifier: MIT
"""An output that is one of the inputs, under whatever name, is refused before anything is written, also with -f."""

import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

X = np.arange(60, dtype=np.float32).reshape(20, 3)


@pytest.fixture
def files(gather) -> Path:
    """Every kind of input; each is in a file that -o could name, too."""
    folder = gather.folder
    gather.save("x.npy", X)
    gather.save("i.npy", np.array([[1], [2]]))
    gather.save("more.npy", X)
    gather.save("sq.npy", np.zeros((2, 2), np.int64))
    (folder / "x.raw").write_bytes(X.tobytes())
    (folder / "i.raw").write_bytes(np.array([1, 2], np.int64).tobytes())
    (folder / "ids.txt").write_text("1\n2\n")
    (folder / "text.raw").symlink_to("ids.txt")
    save_file({"emb": X, "other": X}, folder / "m.safetensors")
    (folder / "link.npy").symlink_to("x.npy")
    os.link(folder / "x.npy", folder / "hard.npy")
    (folder / "sub").mkdir()
    (folder / "sub/up.npy").symlink_to("../link.npy")
    (folder / "folder").symlink_to(".")
    gather.save("ids.npy", np.array([1, 2]))
    gather.save("rows.npy", X[:2] + 1)
    gather.save("offsets.npy", np.array([0, 1]))
    gather.save("weights.npy", np.ones(2, X.dtype))
    for name in ("steps", "parents"):
        gather.save(f"{name}.npy", np.zeros((4, 1, 2), np.int32))
    gather.save("lens.npy", np.zeros(1, np.int32))
    gather.save("end.npy", np.int32(0))
    table = helper.make_tensor("t", TensorProto.FLOAT, X.shape, X.tobytes(), raw=True)
    node = helper.make_node("Gather", ["t", "ids"], ["y"], name="g")
    graph = helper.make_graph([node], "m", [helper.make_tensor_value_info("ids", TensorProto.INT64, [None])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [table])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), folder / "m.onnx",
              save_as_external_data=True, location="data.raw", size_threshold=0, convert_attribute=True)  # fmt: skip
    (folder / "m.pb").symlink_to("m.onnx")
    (folder / "t.pb").write_bytes(numpy_helper.from_array(np.array([1, 2])).SerializeToString())
    return folder


RAW = "--type float32 --shape 20x3"
CASES = [
    # the data, under each of its names
    *(f"take x.npy [1] -o {name}" for name in ("x.npy", "./x.npy", "link.npy", "hard.npy", "sub/up.npy", "folder/x.npy", "folder/hard.npy")),
    "take link.npy [1] -o x.npy", "take hard.npy [1] -o link.npy", "take x.npy [1] -o x.npy --dry-run", "take x.npy [1] --axis 1 -o x.npy",
    "take x.npy i.npy -o x.npy --memory 8MiB", "take m.safetensors:emb [1] -o m.safetensors", "take m.safetensors:emb [1] -o m.safetensors:new",
    f"take x.raw [1] -o x.raw {RAW}",
    # the indices
    "take x.npy i.npy -o i.npy", "take x.npy t.pb -o t.pb", "take x.npy i.raw -o i.raw --indices-type int64 --indices-shape 2",
    "take x.npy ids.txt -o text.raw", "elements sq.npy sq.npy -o sq.npy", "nd x.npy i.npy -o i.npy", "nd x.npy i.npy -o x.npy",
    # parts
    "take x.npy [21] --part more.npy -o more.npy", "nd x.npy [[21]] --part more.npy -o more.npy",
    "shuffle x.npy --part more.npy -o more.npy", "shuffle x.npy -o hard.npy", "shuffle x.npy -o sub/up.npy",
    "shuffle x.npy --order i.npy -o i.npy", "shuffle x.npy --order i.npy -o i.npy --in-place", "shuffle m.safetensors:emb -o m.safetensors",
    "shuffle x.raw -o x.raw --in-place --type float32 --shape 10x3", "shuffle x.raw -o x.raw --in-place --type float32 --shape -1x3 --offset 12",
    # scatters and bags
    *(f"scatter x.npy ids.npy rows.npy -o {name}.npy" for name in ("x", "ids", "rows", "hard")), "scatter x.npy ids.npy rows.npy -o x.npy --dry-run",
    *(f"bag x.npy ids.npy offsets.npy --weights weights.npy -o {name}.npy" for name in ("x", "ids", "offsets", "weights")),
    "bag x.npy ids.npy --segment-ids offsets.npy --segments 2 -o offsets.npy",
    # trees
    *(f"tree steps.npy parents.npy lens.npy end.npy -o {name}.npy" for name in ("steps", "parents", "lens", "end")),
    # models: the file, its data, inputs
    "run m.onnx --input ids=[1] --output y=m.pb", "run m.onnx --input ids=[1] --output y=data.raw",
    "run m.onnx --input ids=i.npy --output y=i.npy", "run m.onnx --input ids=t.pb --output t.pb", "run m.onnx --node g --input ids=i.npy --output y=i.npy",
]  # fmt: skip


def state(folder: Path) -> dict:
    return {path: (path.read_bytes(), path.stat().st_ino) for path in folder.rglob("*") if path.is_file()}


def test_refused(gather, files):
    """Nothing changes, so all of them may have one folder."""
    before = state(files)
    for line in CASES:
        for force in ("", " -f"):
            error = gather.fails("file_exists", *(line + force).split())
            assert "which is kept" in error["message"], (line, error["message"])
            assert state(files) == before, line


def test_standard_input_may_be_a_file(files):
    before = state(files)
    for line in ("take - [1] -o x.npy -f", "take /dev/stdin [1] -o hard.npy -f"):
        with open(files / "x.npy", "rb") as stream:
            done = subprocess.run([os.environ["GATHER_EXE"], *line.split()], cwd=files, stdin=stream, capture_output=True, text=True, check=False)
        assert done.returncode == 3 and "which is kept" in done.stderr, done.stderr
    assert state(files) == before


def test_no_hint_says_that_force_helps(gather, files):
    for line in ("take x.npy [1] -o hard.npy", "take x.npy i.npy -o i.npy -f", "run m.onnx --input ids=[1] --output y=m.pb",
                 "shuffle x.npy -o hard.npy -f", "shuffle x.npy --part more.npy -o more.npy --in-place"):  # fmt: skip
        assert "hint" not in gather(*line.split()).errors, line
    for line in ("take x.npy [1] -o more.npy", "shuffle x.npy -o more.npy"):
        assert "hint: -f replaces it" in gather(*line.split()).errors, line


def test_other_files_are_replaced(gather, files):
    """The same names and folders, but other files."""
    for line in ("take x.npy [1] -o more.npy -f", "take m.safetensors:emb [1] -o sub/m.safetensors", "shuffle x.npy -o more.npy -f",
                 "run m.onnx --input ids=[1] --output y=more.npy -f", "take x.npy i.npy -o sub/x.npy"):  # fmt: skip
        assert gather(*line.split()).code == 0, line


@pytest.mark.parametrize("names", [("a.npy", "./a.npy"), ("a.npy", "folder/a.npy"), ("x.npy", "hard.npy"), ("a.safetensors", "./a.safetensors")])
def test_two_outputs_that_are_one_file(gather, files, names):
    """Neither replaces the other."""
    nodes = [helper.make_node("Identity", ["ids"], [name]) for name in ("p", "q")]
    values = [helper.make_tensor_value_info(name, TensorProto.INT64, [None]) for name in ("p", "q")]
    graph = helper.make_graph(nodes, "m", [helper.make_tensor_value_info("ids", TensorProto.INT64, [None])], values)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), files / "two.onnx")
    before = gather.names()
    error = gather.fails("usage", "run", "two.onnx", "--input", "ids=[1]", "--output", f"p={names[0]}", "--output", f"q={names[1]}", "-f")
    assert "are one file" in error["message"] and gather.names() == before
