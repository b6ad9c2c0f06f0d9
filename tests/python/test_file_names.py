# SPDX-License-Identifier: MIT
"""Names of files: an output that is an input, and the colon of a URL."""

import os
import pickle

import libgather
import numpy as np
import pytest
from support.refusal import refuses


def test_a_file_is_shuffled_onto_itself_only_if_asked_for(tmp_path):
    p = tmp_path / "x.npy"
    np.save(p, np.arange(100))
    before = p.read_bytes()
    refuses(OSError, libgather.shuffle, p, p, replace=True, says="in_place=True")
    assert p.read_bytes() == before
    libgather.shuffle(p, p, replace=True, in_place=True, seed=3)
    assert sorted(np.load(p)) == list(range(100)) and p.read_bytes() != before


# ---- where FILE:TENSOR and URL:TENSOR are split

SPLITS = {
    "https://h/x.csv:id?sig=a:b": ("https://h/x.csv?sig=a:b", "id"),
    "https://h/m.onnx:a/b:c": ("https://h/m.onnx", "a/b:c"),
    "s3://b/x:n": ("s3://b/x", "n"),
    "https://h?x:y": ("https://h?x:y", ""),
    "https://h": ("https://h", ""),
    "https://h/x.npy": ("https://h/x.npy", ""),
    "https://h:8080/m.safetensors:emb": ("https://h:8080/m.safetensors", "emb"),
    "https://h/m.npz:a:b": ("https://h/m.npz", "a:b"),
    "https://h/m.onnx:if_3/then_branch/w": ("https://h/m.onnx", "if_3/then_branch/w"),
    "https://h/m.ONNX:w.bin": ("https://h/m.ONNX", "w.bin"),
    "https://h/blob:emb": ("https://h/blob", "emb"),
    "https://h/13:51/blob:emb": ("https://h/13:51/blob", "emb"),
    "https://h/13:51.npy": ("https://h/13:51.npy", ""),
    "https://h/x.npy?se=2026-12-01T05:07:10Z&sig=S": ("https://h/x.npy?se=2026-12-01T05:07:10Z&sig=S", ""),
    "https://h/m.npz:emb?se=05:07&sig=S": ("https://h/m.npz?se=05:07&sig=S", "emb"),
    "https://h/x?f=m.npz:emb": ("https://h/x?f=m.npz:emb", ""),
    "https://h/x#m.npz:emb": ("https://h/x#m.npz:emb", ""),
    "https://h:80": ("https://h:80", ""),
    "https://user:p.npy:w@h/x": ("https://user:p.npy:w@h/x", ""),
    "https://h.npy:80/x.npy:w": ("https://h.npy:80/x.npy", "w"),
    "s3://b/2022-11-26T13:51:14+00:00/t.npy": ("s3://b/2022-11-26T13:51:14+00:00/t.npy", ""),
    "s3://b/2022-11-26T13:51:14.123+00:00/t.npy": ("s3://b/2022-11-26T13:51:14.123+00:00/t.npy", ""),
    "s3://b/2022-11-26T13:51:14.123+00:00/t.npz:a": ("s3://b/2022-11-26T13:51:14.123+00:00/t.npz", "a"),
    "s3://b/what?/t.npz:a?b": ("s3://b/what?/t.npz", "a?b"),
    "hf://o/r@v1.0/m.safetensors:wte": ("hf://o/r@v1.0/m.safetensors", "wte"),
    "hf://o/r/a?b#c.gguf:wte": ("hf://o/r/a?b#c.gguf", "wte"),
}


@pytest.mark.parametrize("path", SPLITS)
def test_where_a_url_is_split(path):
    """The same function splits for the command, for tables and for ids."""
    assert tuple(part.decode() for part in libgather._core._split_path(path.encode())) == SPLITS[path]


def test_a_tensor_of_any_name(tmp_path):
    """tensor=: nothing of a path is split, in open(), shuffle() and read_ids(), and a pickled table keeps it."""
    arrays = {"x:1": np.arange(6).reshape(3, 2), "?a#b": np.arange(6).reshape(3, 2) + 10}
    for file in ("m:a.npz", "m.npz:x:1"):
        np.savez(tmp_path / "made.npz", **arrays)
        os.rename(tmp_path / "made.npz", tmp_path / file)
    np.savez(tmp_path / "m.npz", **{"x:1": np.zeros((1, 2), np.int64)})
    for file in ("m:a.npz", "m.npz:x:1"):
        for name, rows in arrays.items():
            with libgather.open(tmp_path / file, tensor=name) as table:
                assert np.array_equal(table[[2, 0]], rows[[2, 0]])
                with pickle.loads(pickle.dumps(table)) as again:
                    assert np.array_equal(again[[1]], rows[[1]])
            with libgather.open([tmp_path / file, tmp_path / file], tensor=name) as table:
                assert np.array_equal(table[[5, 0]], rows[[2, 0]])
            libgather.shuffle(tmp_path / file, tmp_path / "o.npy", tensor=name, order=[1, 0], replace=True)
            assert np.array_equal(np.load(tmp_path / "o.npy"), rows[[1, 0]])
            assert np.array_equal(libgather.read_ids(tmp_path / file, tensor=name), rows)
        refuses(libgather.GatherNameError, libgather.open, tmp_path / file, tensor="none")
    (tmp_path / "c:d.csv").write_text("a:b,c\n2,1\n0,1\n")
    assert libgather.read_ids(tmp_path / "c:d.csv", tensor="a:b").tolist() == [2, 0]
    refuses(FileNotFoundError, libgather.open, f"{tmp_path / 'm:a.npz'}:x:1", tensor="x:1")
    for call in (libgather.open, libgather.read_ids, lambda path, tensor: libgather.shuffle(path, tmp_path / "p.npy", tensor=tensor)):
        refuses(TypeError, call, tmp_path / "m.npz", tensor=1, says="tensor must be a str, not int")


SECRET = "http://SECRETUSER:SECRETWORD@127.0.0.1:1/x.npy?se=05:07:10Z&sig=SECRET/SECRET:SECRET#SECRET"


@pytest.mark.parametrize(
    "call",
    [
        lambda path: libgather.open(path, remote={"timeout": 0.3, "retries": 0}),
        lambda path: libgather.open([path, "local.npy"]),
        lambda path: libgather.open(path, tensor="x", remote={"timeout": 0.3, "retries": 0}),
        lambda path: libgather.open(path, decode_as="float16", remote={"timeout": 0.3, "retries": 0}),
        lambda path: libgather.shuffle(path, "o.npy"),
        lambda path: libgather.shuffle("local.npy", path),
    ],
)
def test_secrets_of_a_url_are_in_no_error(call):
    error = refuses(Exception, call, SECRET)
    assert "SECRET" not in f"{error} {error!r} {vars(error)}"


@pytest.mark.parametrize("scheme", ["gs", "abfss", "http", "file"])
def test_secrets_of_an_output_are_in_no_error(tmp_path, scheme):
    np.save(tmp_path / "x.npy", np.zeros((4, 3)))
    for end in (".npy", ".xyz", ""):
        name = SECRET.replace("http", scheme).replace(".npy", end)
        for replace in (False, True):
            error = refuses(libgather.GatherError, libgather.shuffle, tmp_path / "x.npy", name, replace=replace)
            assert "SECRET" not in f"{error} {error!r} {vars(error)}"


def test_secrets_of_a_url_are_not_shown():
    assert libgather.remote.shown(SECRET) == "http://127.0.0.1:1/x.npy"
    assert libgather.remote.shown("https://h/m.npz?sig=a:b/SECRET") == "https://h/m.npz"
    assert libgather.remote.shown("s3://b/what?:k") == "s3://b/what?:k"
