# SPDX-License-Identifier: MIT
"""Pictures: what the command draws of the same tensors, for every kind of input, and nothing left behind."""

import pickle
import subprocess
import sys
import xml.etree.ElementTree

import ml_dtypes
import numpy as np
import onnx
import pytest
from model_files import BAD, CHAIN, EMBED, NAMED, command, needs_onnx, one_node, parsed, saved  # noqa: F401
from support.refusal import refuses
from support.skip import skip_test

import libgather
from libgather import errors, take
from libgather.explain_picture import Picture, explain
from libgather.model import Model

# TensorProto.DataType of types that .npy files have not.
ONNX_TYPES = {
    **{"string": 8, "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19},
    **{"float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24},
    **{"uint2": 25, "int2": 26, "float6_e2m3fn": 27, "float6_e3m2fn": 28},
}
X = np.arange(12, dtype=np.float64).reshape(4, 3)


@pytest.fixture(autouse=True)
def narrow(monkeypatch, tmp_path):
    """One width for the command and for us; a folder for temporary files that must end up empty."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    assert list(temporary.iterdir()) == []


def drawn(tmp_path, x, indices, *options):
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "i.npy", np.asarray(indices))
    text = command("explain", tmp_path / "x.npy", tmp_path / "i.npy", *options).stdout.decode()
    svg = command("explain", tmp_path / "x.npy", tmp_path / "i.npy", *options, "-o", "-").stdout.decode()
    return text.rstrip("\n"), svg


@pytest.mark.parametrize(
    ("indices", "given", "options"),
    [
        ([1, -1], {}, []),
        ([[0, 2], [1, 5]], {}, []),
        ([2, 0], {"axis": 1}, ["--axis=1"]),
        ([2, -3], {"axis": -1}, ["--axis=-1"]),
        ([[1, 2, 0]], {"elements": True}, ["--elements"]),
        ([[1, 2], [3, -1]], {"nd": True}, ["--nd"]),
        ([[1], [4]], {"nd": True, "mode": "zero"}, ["--nd", "--on-bad=zero"]),
        ([1, 7], {"mode": "clip"}, ["--on-bad=clamp"]),
        ([1, 7, -9], {"mode": "wrap"}, ["--on-bad=wrap"]),
        ([1, 7], {"mode": "zero"}, ["--on-bad=zero"]),
        ([1, 7], {"mode": "raise"}, ["--on-bad=error"]),
        ([1, 2], {"mode": "promise"}, ["--on-bad=promise"]),
        ([1, 7], {"mode": "fill", "fill_value": -0.5}, ["--on-bad=fill=-0.5"]),
        ([1, -1], {"negative": False}, ["--negative=off"]),
        ([1, -1], {"negative": True}, ["--negative=on"]),
        ([1, 9], {"rules": "openvino-8"}, ["--rules=openvino-8"]),
        (3, {}, []),
    ],
)
def test_is_the_commands(tmp_path, indices, given, options):
    picture = explain(X, indices, **given)
    text, svg = drawn(tmp_path, X, indices, *options)
    assert str(picture) == repr(picture) == text
    assert picture.svg == picture._repr_svg_() == svg
    assert xml.etree.ElementTree.fromstring(picture.svg).tag.endswith("svg")


def test_batch_dims(tmp_path):
    x = X.reshape(2, 2, 3)
    picture = explain(x, [[1], [5]], axis=1, batch_dims=1)
    assert str(picture) == drawn(tmp_path, x, [[1], [5]], "--axis=1", "--batch-dims=1", "--rules=openvino-8", "--on-bad=error")[0]
    assert picture.error is not None
    assert (picture.error.value, picture.error.position) == (5, (1, 0))


def test_cells():
    picture = explain(X, [[3, -4]])
    assert isinstance(picture, Picture)
    assert picture.complete
    assert picture.error is None
    assert picture.formula == "out[i, j, k] = data[idx[i, j], k]"
    result = take(X, [[3, -4]], axis=0)
    assert len(picture.cells) == result.size
    for cell in picture.cells:
        assert result[tuple(cell["out"])] == X[tuple(cell["data"])]
    assert not explain(np.zeros((1000, 3)), np.arange(1000)).complete


def test_bad_index_is_drawn():
    picture = explain(X, [1, 9, 12])
    error = refuses(errors.GatherIndexError, take, X, [1, 9, 12], axis=0, rules="onnx-13")
    assert isinstance(picture.error, errors.GatherIndexError)
    for name in errors.FIELDS:
        assert getattr(picture.error, name) == getattr(error, name), name
    assert "✗" in str(picture)
    assert [cell["bad"] for cell in picture.cells[::3]] == [False, True, True]


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"axis": 7}, errors.GatherAxisError, "axis 7"),
        ({"axis": "one"}, TypeError, "integer"),
        ({"batch_dims": 5}, errors.GatherValueError, "batch_dims"),
        ({"batch_dims": 1, "rules": "onnx-13"}, errors.GatherValueError, "has no batch_dims;"),
        ({"nd": True, "axis": 1}, errors.GatherValueError, "gather_nd has no axis"),
        ({"nd": True, "elements": True}, errors.GatherValueError, "give one of them"),
        ({"rules": "onnx-99"}, errors.GatherValueError, "onnx-99"),
        ({"mode": "fill"}, errors.GatherValueError, "fill_value"),
        ({"fill_value": 1}, errors.GatherValueError, "fill_value"),
        ({"mode": "eror"}, errors.GatherValueError, "did you mean 'error'"),
        ({"mode": "fill", "fill_value": "text"}, errors.GatherValueError, "text"),
        ({"elements": True}, errors.GatherValueError, "rank"),
    ],
)
def test_wrong(arguments, kind, said):
    refuses(kind, explain, X, [0, 1], says=said, **arguments)


@pytest.mark.parametrize("indices", [[0.5], ["a"], [[1], [2, 3]], [None]])
def test_wrong_indices(indices):
    refuses((TypeError, ValueError), explain, X, indices)


# ---- types -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float16", "complex128", ">f4", "U3", "S3", "M8[s]", "V3"])
def test_types_of_npy(tmp_path, name):
    x = X.astype(np.int64).astype("V3" if name == "V3" else name) if name != "V3" else np.zeros((4, 3), "V3")
    picture = explain(x, [1, 2])
    if x.dtype.kind in "US":
        assert '"4"' in str(picture)
        assert "string" in str(picture)
    else:
        assert str(picture) == drawn(tmp_path, x, [1, 2])[0]


@pytest.mark.parametrize("name", sorted(ONNX_TYPES))
def test_types_of_onnx(name):
    """Types that NumPy has not, and strings."""
    if name == "string":
        x = np.array([["0", "1"], ["2", "ü"]], object)
    else:
        x = np.array([[0, 1], [1, 0], [1, 1]]).astype(getattr(ml_dtypes, name))
    picture = explain(x, [1, -1])
    assert f"data  {name} [{len(x)}, 2]" in str(picture)
    assert picture.cells[0]["data"] == [1, 0]


def test_wrong_types():
    refuses(errors.GatherTypeError, explain, np.array([[1, None]], object), [0], says="str or bytes")
    refuses(errors.GatherTypeError, explain, X, np.array([0.5]))
    assert "✗" not in str(explain(X, np.array([1, 3]).astype(ml_dtypes.int4)))
    assert "out  float64 [0, 3]" in str(explain(X, []))


def test_torch():
    try:
        import torch
    except ImportError:
        skip_test("torch", "the package is not installed")
    x = torch.tensor([[1.5, 2], [3, 4]], dtype=torch.bfloat16, requires_grad=True)
    assert "data  bfloat16 [2, 2]" in str(explain(x.t(), torch.tensor([1])))
    assert str(explain(x.float(), [0])) == str(explain(np.array([[1.5, 2], [3, 4]], np.float32), [0]))


# ---- what is large ---------------------------------------------------------------------------------------------------


def test_large():
    """Nothing is copied to be drawn."""
    large = np.broadcast_to(np.int8(7), (1 << 20, 1 << 10))
    assert f"data  int8 [{1 << 20}, 1024]" in str(explain(large, [1]))
    assert explain(X, np.broadcast_to(np.int64(2), 1 << 30)).cells[0]["data"] == [2, 0]
    picture = explain(large, [1, 1 << 20], made_up=True)
    assert f"data  int64 [{1 << 20}, 1024]" in str(picture)
    assert picture.error is not None
    assert (picture.error.value, picture.error.high) == (1 << 20, (1 << 20) - 1)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_save(tmp_path):
    picture = explain(X, [1, 2])
    picture.save(tmp_path / "p.svg")
    picture.save(str(tmp_path / "p.txt"))
    assert (tmp_path / "p.svg").read_text(encoding="utf-8") == picture.svg
    assert (tmp_path / "p.txt").read_text(encoding="utf-8") == str(picture)
    (tmp_path / "p.svg").write_text("kept")
    error = refuses(errors.GatherFileError, picture.save, tmp_path / "p.svg", says="exists")
    assert error.status == "file_exists"
    assert (tmp_path / "p.svg").read_text() == "kept"
    picture.save(tmp_path / "p.svg", replace=True)
    assert (tmp_path / "p.svg").read_text(encoding="utf-8") == picture.svg
    refuses(errors.GatherValueError, picture.save, tmp_path / "p.png", says="svg")
    for name in ("https://u:pw@h/p.npy?sig=SECRET", "https://u:pw@h/p.svg?sig=SECRET", "https://u:pw@h/p?sig=SECRET.svg"):
        error = refuses(errors.GatherError, picture.save, name)
        assert "SECRET" not in repr(error) and "pw" not in repr(error) and "SECRET" not in (error.file or "")
    refuses(FileNotFoundError, picture.save, tmp_path / "nowhere" / "p.svg")
    (tmp_path / "p.svg").chmod(0o600)
    picture.save(tmp_path / "p.svg", replace=True, sync=False)
    assert (tmp_path / "p.svg").stat().st_mode & 0o777 == 0o600
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".gather-")]


def test_save_keeps_the_inputs(tmp_path):
    """Also with replace=True, by whatever name: models, their external data, mapped arrays, tables."""
    model = parsed(BAD)
    given = onnx.helper.make_node("Gather", ["W", "free"], ["extra"], name="extra")
    model.graph.node.append(given)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(4096, dtype=np.float32).reshape(1024, 4), "W"))
    onnx.save(model, tmp_path / "model.txt", save_as_external_data=True, location="weights.txt", size_threshold=1024)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "i.npy", np.array([1, 2]))
    (tmp_path / "x.npy").rename(tmp_path / "x.svg")
    (tmp_path / "i.npy").rename(tmp_path / "i.txt")
    (tmp_path / "link.svg").symlink_to("x.svg")
    (tmp_path / "hard.svg").hardlink_to(tmp_path / "x.svg")
    of_model = Model(tmp_path / "model.txt").explain("far")
    mapped = explain(np.load(tmp_path / "x.svg", mmap_mode="r"), np.load(tmp_path / "i.txt", mmap_mode="r")[:1])
    with libgather.open(tmp_path / "x.svg") as table:
        of_table = explain(table, [0])
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    for picture, names in ((of_model, ("model.txt", "weights.txt")), (mapped, ("x.svg", "link.svg", "hard.svg", "i.txt")),
                           (of_table, ("x.svg", "link.svg", "hard.svg"))):  # fmt: skip
        for name in names:
            with pytest.raises(errors.GatherFileError, match="which is kept; write to another file") as caught:
                picture.save(tmp_path / name, replace=True)
            assert caught.value.status == "file_exists" and caught.value.file == str(tmp_path / name)
    assert kept == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    mapped.save(tmp_path / "model.txt", replace=True)
    copied = pickle.loads(pickle.dumps(of_model))
    assert (str(copied), copied.svg, copied.cells) == (str(of_model), of_model.svg, of_model.cells)


# ---- models ----------------------------------------------------------------------------------------------------------


def test_model(tmp_path):
    path = saved(parsed(BAD), tmp_path / "a model; $(x) 'q'.onnx")
    picture = Model(path).explain("far")
    assert str(picture) == command("explain", path, "--node", "far").stdout.decode().rstrip("\n")
    assert isinstance(picture.error, errors.GatherIndexError)
    assert picture.error.node == "far"
    assert "What each runtime does with this index out of range" in str(picture)
    assert Model(path).explain("main/near").error is None


def test_model_with_inputs(tmp_path):
    x = np.arange(10, dtype=np.float32).reshape(5, 2)
    picture = Model(parsed(BAD)).explain("free", {"x": x, "free": [4, 0]})
    assert [cell["data"] for cell in picture.cells] == [[4, 0], [4, 1], [0, 0], [0, 1]]
    assert "main/free of model" in str(picture)
    assert "not known" not in str(picture)
    assert [cell["row"] for cell in Model(parsed(CHAIN)).explain("g", {"other": [3, 1]}).cells] == [3, 3, 1, 1]
    assert "data  float32 [8, 2]" in str(Model(parsed(NAMED)).explain(dims={"N": 8}))


@pytest.mark.parametrize("name", sorted(ONNX_TYPES))
def test_model_with_inputs_of_any_type(name):
    if name == "string":
        x = [["a", "b"], ["c", "d"]]
    else:
        x = np.array([[0, 1], [1, 0]]).astype(getattr(ml_dtypes, name))
    picture = Model(one_node(ONNX_TYPES[name], (2, 2))).explain(None, {"data": x, "ids": [1, 0]})
    assert f"data  {name} [2, 2]" in str(picture)


def test_model_wrong(tmp_path):
    model = Model(parsed(NAMED))
    for call, kind, said in [
        (lambda: model.explain("nothing"), errors.GatherNameError, "main/g"),
        (lambda: model.explain(), errors.GatherValueError, r"dims=\{'N': LENGTH\}"),
        (lambda: model.explain(inputs={"nothing": [1]}), errors.GatherNameError, "nothing"),
        (lambda: model.explain(dims={"nothing": 1}), errors.GatherNameError, "nothing"),
        (lambda: model.explain(dims={"N": -1}), errors.GatherValueError, "length -1"),
        (lambda: model.explain(dims={"N=1": 1}), errors.GatherNameError, "N=1"),
        (lambda: model.explain(inputs={"a=b": [1]}), errors.GatherNameError, "a=b"),
        (lambda: Model(parsed(BAD)).explain(), errors.GatherError, "main/far"),
        (lambda: Model(parsed(EMBED)).explain(), errors.GatherValueError, r"inputs=\{'ids': TENSOR\}"),
        (lambda: Model(parsed(EMBED)).explain(inputs={"ids": np.zeros((1, 1), np.float32)}), errors.GatherTypeError, "float32"),
        (lambda: Model(parsed(EMBED)).explain(inputs={"ids": [[None]]}), errors.GatherTypeError, "int64"),
    ]:
        refuses(kind, call, says=said)


def test_no_heavy_imports():
    """What only pictures need is imported where one is drawn."""
    program = "import {}, sys; print(sorted({{'subprocess', 'onnx', 'torch', 'json', 'tempfile'}} & set(sys.modules)))"
    said = [
        subprocess.run([sys.executable, "-c", program.format(name)], capture_output=True, check=True).stdout
        for name in ("numpy", "libgather")
    ]
    assert said[0] == said[1]
