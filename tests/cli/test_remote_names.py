# SPDX-License-Identifier: MIT
"""A tensor named by a URL, in every command that takes one: it works, or one sentence says why not."""

from __future__ import annotations

import json
import struct

import numpy as np
import onnx
import pytest
from models import onnx_model
from onnx import helper, numpy_helper
from support.http_faults import cut, garbage, redirect, status
from support.http_server import HttpServer
from support.numpy_files import npy, npz
from support.skip import skip_test

DATA = np.arange(100_000 * 8, dtype=np.float32).reshape(100_000, 8)


def model(rows: int) -> bytes:
    """A gather by constant indices."""
    table = numpy_helper.from_array(np.arange(rows * 4, dtype=np.float32).reshape(rows, 4), "emb")
    ids = numpy_helper.from_array(np.array([0, 2], np.int64), "ids")
    graph = helper.make_graph([helper.make_node("Gather", ["emb", "ids"], ["y"], "g")], "m", [],
                              [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 4])], [table, ids])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


@pytest.fixture(scope="module")
def server():
    files = {
        "/a.npy": npy(DATA), "/fortran.npy": npy(np.asfortranarray(DATA[:2000])), "/m.npz": npz(emb=DATA, other=np.arange(3)),
        "/ids.npy": npy(np.array([1, 2])), "/ids.txt": b"3\n4\n", "/ids.csv": b"a,b\n1,2\n3,4\n",
        "/steps.npy": npy(np.array([[[1, 2]], [[3, 4]]], np.int32)), "/parents.npy": npy(np.zeros((2, 1, 2), np.int32)),
        "/small.onnx": model(5), "/big.onnx": model(50_000), "/raw.bin": DATA.tobytes(), "/order.npy": npy(np.array([2, 0, 1])),
    }
    with HttpServer(files) as server:
        yield server


@pytest.fixture
def url(server, gather):
    answer = gather("info", server.url("/a.npy"))
    if answer.code == 4:
        skip_test("http", answer.errors)
    server.reset_counts()
    return lambda path: server.url("/")[:-1] + path


def test_info(gather, url, server) -> None:
    answer = gather.json("info", url("/a.npy"))
    assert answer["file"] == url("/a.npy") and answer["format"] == "npy"
    assert answer["tensors"] == [{"name": "", "type": "float32", "shape": [100_000, 8], "bytes": DATA.nbytes, "offset": 128,
                                  "row_bytes": 32, "remote": True}]  # fmt: skip
    assert server.requests == 1
    (tensor,) = gather.json("info", url("/m.npz:emb"))["tensors"]
    assert (tensor["name"], tensor["shape"]) == ("emb", [100_000, 8])
    assert "cannot be read" not in gather("info", url("/m.npz")).text


def test_a_query_is_sent_and_never_shown(gather, url, server) -> None:
    answer = gather("info", url("/a.npy?signature=SECRET"), "--json")
    assert answer.code == 0 and b"SECRET" not in answer.out + answer.err
    assert server.log[-1].request.query == "signature=SECRET"
    for words in (["info"], ["take", "-o", "o.npy"]):
        for path in ("/gone.npy?signature=SECRET", "/a.npy:nope?signature=SECRET", "/raw.bin?signature=SECRET"):
            error = gather.fails("file_not_found" if "gone" in path else "unsupported" if "raw" in path else "name_not_found",
                                 words[0], url(path), *(["[0]", *words[1:]] if words[1:] else []))  # fmt: skip
            assert "SECRET" not in str(error)
    for words in (["check"], ["run"], ["explain", "--node", "g"]):
        answer = gather(words[0], url("/small.onnx?signature=SECRET"), *words[1:])
        told = gather(words[0], url("/small.onnx?signature=SECRET"), *words[1:], "--json")
        assert (answer.code, told.code) == (0, 0) and b"SECRET" not in answer.out + answer.err + told.out + told.err
    text = gather("take", url("/a.npy?signature=SECRET"), "[1]", "-o", "p.npy", "--plan")
    assert "SECRET" not in text.text + text.errors


def test_colons(gather, url, server) -> None:
    """NAME begins at the first colon behind the host and its port; a colon of the path is %3A."""
    server.put("/a%3Ab.npy", npy(DATA[:3]))
    server.put("/x/y.npz", npz(**{"a:b": np.arange(3), "c": np.arange(2)}))
    assert gather.json("info", url("/a%3Ab.npy"))["tensors"][0]["shape"] == [3, 8]
    (tensor,) = gather.json("info", url("/x/y.npz:a:b"))["tensors"]
    assert (tensor["name"], tensor["shape"]) == ("a:b", [3])
    assert "no such tensor 'nope'" in gather.fails("name_not_found", "info", url("/x/y.npz:nope"))["message"]
    assert gather.fails("file_not_found", "info", url(""))["file"].rstrip("/") == url("")


def test_take(gather, url, server) -> None:
    for data in ("/a.npy", "/m.npz:emb"):
        for ids, expected in ((url("/ids.npy"), [1, 2]), (url("/ids.txt"), [3, 4]), (url("/ids.csv:b"), [2, 4]), ("[5, -1]", [5, -1])):
            assert np.array_equal(gather.result("take", url(data), ids), DATA[expected])
    assert server.body_bytes < DATA.nbytes  # in all
    assert np.array_equal(gather.result("take", url("/raw.bin"), "[7]", "--type", "f32", "--shape", "-1x8"), DATA[[7]])
    assert gather.fails("index_out_of_range", "take", url("/a.npy"), "[100000]", "-o", "x.npy")["axis"] == 0
    assert gather.fails("file_malformed", "take", url("/a.npy"), url("/raw.bin"), "-o", "x.npy", "--indices-type", "i64",
                        "--indices-shape", "99999999")["file"] == url("/raw.bin")  # fmt: skip


def test_take_without_a_table_downloads(gather, url, server) -> None:
    assert np.array_equal(gather.result("take", url("/a.npy"), "[1]", "--axis", "1"), DATA[:, [1]])
    assert server.body_bytes > DATA.nbytes
    assert np.array_equal(gather.result("take", url("/fortran.npy"), "[1]"), DATA[[1]])


def test_the_siblings(gather, url) -> None:
    assert np.array_equal(gather.result("elements", url("/a.npy"), "[[1, 2, 3, 4, 5, 6, 7, 8]]"), DATA[range(1, 9), range(8)][None])
    assert np.array_equal(gather.result("nd", url("/a.npy"), "[[1, 2]]"), DATA[[1], [2]])
    traced = gather.result("tree", url("/steps.npy"), url("/parents.npy"), "[2]", "0")
    assert np.array_equal(traced, gather.result("tree", "[[[1, 2]], [[3, 4]]]", "[[[0, 0]], [[0, 0]]]", "[2]", "0"))


def test_models(gather, url) -> None:
    for name in ("/small.onnx", "/big.onnx"):
        answer = gather.json("check", url(name))
        (node,) = answer["nodes"]
        assert (node["verdict"], node["indices"]["max"]) == ("ok", 2) and "unreadable" not in answer
    gather.json("run", url("/small.onnx"), "--output", "y=y.npy")
    assert np.array_equal(gather.load("y.npy"), np.arange(20, dtype=np.float32).reshape(5, 4)[[0, 2]])
    error = gather.fails("unsupported", "run", url("/big.onnx"), "--output", "y=z.npy")
    assert "the elements of the tensor 'emb' (781 KiB) are remote and were not downloaded" in error["message"]
    assert not (gather.folder / "z.npy").exists()
    assert "hint" not in gather("run", url("/big.onnx"), "--output", "y=z.npy").errors
    assert "MODEL is an ONNX model" not in gather("check", url("/a.npy")).errors


def test_explain(gather, url, server) -> None:
    """Shapes are enough for a drawing."""
    assert gather("explain", url("/a.npy"), "[1, 2]").code == 0
    assert server.body_bytes <= 1 << 16
    for name in ("/small.onnx", "/big.onnx"):
        assert "data is emb, idx is ids" in gather("explain", url(name), "--node", "g").text


def test_shuffle_reads_local_files(gather, url) -> None:
    gather.save("t.npy", DATA[:3])
    for words in ((url("/a.npy"),), ("t.npy", "--part", url("/a.npy"))):
        error = gather.fails("unsupported", "shuffle", *words, "-o", "s.npy")
        assert "local files only" in error["message"]
    gather.json("shuffle", "t.npy", "--order", url("/order.npy"), "-o", "s.npy")
    assert np.array_equal(gather.load("s.npy"), DATA[[2, 0, 1]])


def test_missing_files(gather, url) -> None:
    for words in (["info"], ["take", "[0]", "-o", "o.npy"], ["check"], ["run"], ["explain", "[0]"]):
        answer = gather(words[0], url("/gone.npy"), *words[1:])
        assert answer.code == 3 and "404" in answer.errors and "no such folder" not in answer.errors, answer


def test_a_folder_without_its_slash(gather, server) -> None:
    env = {"AWS_ENDPOINT_URL": server.url("/")[:-1], "AWS_ACCESS_KEY_ID": "", "HOME": str(gather.folder)}
    error = gather.fails("file_not_found", "info", "s3://bucket/models", env=env)
    assert error["hint"] == "a folder has a slash at its end: gather info s3://bucket/models/ lists it"
    assert "hint" not in gather.fails("file_not_found", "info", server.url("/models"))


def test_what_is_no_url_is_a_file(gather, url) -> None:
    for name in ("ftp://127.0.0.1/x.npy", "file:///x.npy", "http:/x", "gopher://127.0.0.1/"):
        error = gather.fails("file_not_found", "info", name)
        assert "404" not in error["message"] and "URLs that are read begin with" in error["message"] and "hint" not in error


def test_no_output_is_a_url(gather, url, server) -> None:
    gather.save("t.npy", DATA[:3])
    for words in (("take", "t.npy", "[0]", "-o", url("/o.npy")), ("shuffle", "t.npy", "-o", "s3://bucket/o.npy"),
                  ("run", url("/small.onnx"), "--output", f"y={url('/o.npy')}")):  # fmt: skip
        assert "only local files are written" in gather.fails("unsupported", *words)["message"]


def test_a_cache_that_does_not_work_is_noted(gather, url) -> None:
    """The take goes on without it; one line says so, unless --quiet asks for none."""
    gather.save("t.npy", DATA[:3])
    line = ("take", url("/a.npy"), "[5]", "-o", "o.npy", "-f", "--cache", "t.npy")
    answer = gather(*line)
    assert answer.code == 0 and answer.errors.startswith("gather: note: --cache: nothing is kept on disk: "), answer
    assert np.array_equal(gather.load("o.npy"), DATA[[5]])
    assert gather(*line, "--plan").errors.count("nothing is kept on disk") == 1
    assert gather(*line, "-q").errors == "" and gather(*line[:-1], "cache").errors == ""


def shards(prefix: str) -> dict[str, bytes]:
    """A model in two files and its index."""
    files, weights = {}, {}
    for i in range(2):
        header = json.dumps({f"w{i}": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, 32]}}).encode()
        data = np.arange(8, dtype=np.float32) + 10 * i
        files[f"{prefix}/part {i}.safetensors"] = struct.pack("<Q", len(header)) + header + data.tobytes()
        weights[f"w{i}"] = f"part {i}.safetensors"
    return files | {f"{prefix}/index.json": json.dumps({"weight_map": weights}).encode()}


@pytest.mark.parametrize("name,prefix,variable", [("hf://owner/repo/index.json", "/owner/repo/resolve/main", "HF_ENDPOINT"),
                                                  ("s3://bucket/deep/index.json", "/bucket/deep", "AWS_ENDPOINT_URL")])  # fmt: skip
def test_shards_beside_an_index_of_the_hub_and_of_s3(gather, url, name: str, prefix: str, variable: str) -> None:
    with HttpServer(shards(prefix)) as server:
        env = {variable: server.url("/")[:-1], "HF_TOKEN": "", "AWS_ACCESS_KEY_ID": "", "HOME": str(gather.folder)}
        answer = gather.json("info", name, env=env)
        assert [tensor["name"] for tensor in answer["tensors"]] == ["w0", "w1"] and answer["file"] == name
        assert all("unreadable" not in tensor for tensor in answer["tensors"]), answer
        assert server.requests == 3
        gather.json("take", f"{name}:w1", "[3]", "-o", "o.npy", "-f", env=env)
        assert gather.load("o.npy").tolist() == [[16, 17]]


# ---- secrets: a query, a user and a password are sent, and never shown

SECRET = "se=2026-12-01T05:07:10Z&sig=SECRET:more/SECRET?x.npz:SECRET#SECRET"
LINES = {  # URL stands for a good one, BAD for one whose request fails, MODEL, TEXT and WRONG for other files
    "info": ("info", "URL"),
    "info of a name": ("info", "URL", "--tensor", "none"),
    "info of a page": ("info", "PAGE"),
    "take": ("take", "URL", "[1]", "-o", "o.npy", "-f", "--plan"),
    "take, dry": ("take", "URL", "[1]", "--dry-run"),
    "take by memory": ("take", "URL", "[1]", "-o", "o.npy", "-f", "--memory", "64MiB"),
    "take of an axis": ("take", "URL", "[1]", "-o", "o.npy", "-f", "--axis", "1"),
    "take out of range": ("take", "URL", "[100000]", "-o", "o.npy", "-f"),
    "take of parts": ("take", "URL", "[1]", "-o", "o.npy", "-f", "--part", "URL"),
    "take of parts of two kinds": ("take", "URL", "[1]", "-o", "o.npy", "-f", "--part", "local.npy"),
    "take of a local part": ("take", "local.npy", "[1]", "-o", "o.npy", "-f", "--part", "URL"),
    "take as": ("take", "URL", "[1]", "-o", "o.npy", "-f", "--as", "float16"),
    "take, raw": ("take", "URL", "[1]", "-o", "o.npy", "-f", "--type", "f32", "--shape", "4x4"),
    "ids": ("take", "local.npy", "IDS", "-o", "o.npy", "-f"),
    "ids, wrong": ("take", "local.npy", "URL", "-o", "o.npy", "-f"),
    "ids, text": ("take", "local.npy", "TEXT", "-o", "o.npy", "-f"),
    "ids, column": ("take", "local.npy", "TEXT", "-o", "o.npy", "-f", "--indices-tensor", "none"),
    "elements": ("elements", "URL", "[[1]]", "-o", "o.npy", "-f"),
    "nd": ("nd", "URL", "[[1]]", "-o", "o.npy", "-f"),
    "scatter": ("scatter", "URL", "[1]", "URL", "-o", "o.npy", "-f"),
    "bag": ("bag", "URL", "[1]", "[0]", "-o", "o.npy", "-f"),
    "tree": ("tree", "URL", "URL", "[1]", "0", "-o", "o.npy", "-f"),
    "shuffle": ("shuffle", "URL", "-o", "o.npy", "-f"),
    "shuffle by": ("shuffle", "local.npy", "--order", "URL", "-o", "o.npy", "-f"),
    "bench": ("bench", "URL", "--rows", "4"),
    "explain": ("explain", "URL", "[1]"),
    "explain a model": ("explain", "MODEL", "--node", "g"),
    "explain no node": ("explain", "MODEL", "--node", "none"),
    "check": ("check", "MODEL"),
    "check of a table": ("check", "URL"),
    "check with": ("check", "MODEL", "--input", "emb=URL"),
    "check with nothing": ("check", "MODEL", "--input", "URL"),
    "run": ("run", "MODEL", "--output", "o.npy", "-f"),
    "run of a table": ("run", "URL", "--output", "o.npy", "-f"),
    "run to": ("run", "MODEL", "--output", "URL"),
    "run to a name": ("run", "MODEL", "--output", "y=URL"),
    "a length": ("check", "MODEL", "--dim", "URL"),
    "a policy": ("take", "local.npy", "[1]", "-o", "o.npy", "--on-bad", "URL"),
    "a threshold": ("take", "local.npy", "[1]", "-o", "o.npy", "--threads", "URL"),
    "an output": ("take", "local.npy", "[1]", "-o", "URL"),
    "an extra word": ("take", "URL", "[1]", "URL", "-o", "o.npy"),
    "an unknown option": ("take", "URL", "[1]", "--tensr=URL"),
    "a command": ("URL",),
}
FILES_OF = {"URL": "/a.npy", "IDS": "/ids.npy", "TEXT": "/ids.csv", "MODEL": "/small.onnx", "PAGE": "/page.npy"}
FAILURES = {
    "good": None,
    "gone": "gone",
    "refused": status(403),
    "redirected": redirect("/other/SECRET.npy?sig=SECRET#SECRET".replace("/SECRET", "/lost")),
    "page": garbage(),
    "broken": status(500),
    "cut": cut(10),
    "no server": "port",
}
TRIED_AGAIN = ("redirected", "page", "broken", "cut", "no server")  # each command waits for --timeout
SOME = ("info", "take of an axis", "ids", "check")


@pytest.mark.parametrize("failure", FAILURES)
def test_a_query_and_a_password_are_never_shown(gather, url, server, failure):
    """Every command by every kind of failure, as text and as JSON."""
    gather.save("local.npy", DATA[:4])
    server.put("/page.npy", b"<!DOCTYPE html><html>SECRET is not in the answer</html>".replace(b"SECRET", b"it"))
    how = FAILURES[failure]
    if callable(how):
        server.fault(how)

    def secret(word: str) -> str:
        path = FILES_OF[word] if how != "gone" else "/gone" + FILES_OF[word]
        there = url(path) if how != "port" else "http://127.0.0.1:1" + path
        return there.replace("//", "//SECRETUSER:SECRETWORD@") + "?" + SECRET

    try:
        for name, line in LINES.items():
            if failure in TRIED_AGAIN and name not in SOME:
                continue
            words = [word.replace(word.split("=")[-1], secret(word.split("=")[-1])) if word.split("=")[-1] in FILES_OF else word for word in line]
            for more in ([], ["--json"]):
                answer = gather(*words, *more, "--timeout=1") if line[0] not in ("shuffle", "URL") else gather(*words, *more)
                said = answer.out + answer.err
                assert b"SECRET" not in said and b"05:07" not in said, (failure, name, said)
                assert said or answer.code == 0
    finally:
        server.no_faults()


@pytest.mark.parametrize("scheme", ["gs:", "azure:", "ABFSS:", "ftp:", "file:", "x+y.z-1:", "https:/"])
def test_addresses_that_are_not_read_hide_them_too(gather, scheme):
    gather.save("local.npy", DATA[:4])
    onnx_model(gather.folder / "m.onnx", "m (int64[N] ids) => (float[N, 2] y) <float[3,2] w = {0,1, 10,11, 20,21}> { [g] y = Gather (w, ids) }")
    name = scheme + ("" if scheme.endswith("/") else "//") + "SECRETUSER:SECRETWORD@host/x.npy?" + SECRET
    files = ("info URL", "take URL [1] -o o.npy", "take local.npy URL -o o.npy", "take local.npy [1] -o o.npy --part URL", "check URL", "run URL",
             "run m.onnx --input ids=URL", "shuffle URL -o o.npy", "shuffle local.npy --order URL -o o.npy", "explain URL [1]", "bench URL")  # fmt: skip
    words = ("take local.npy [1] -o URL", "take local.npy [1] -o o.npy --axis URL", "take local.npy [1] URL -o o.npy", "URL")
    for line in (*files, *(() if scheme.endswith("/") else words)):
        for more in ((), ("--json",)):
            answer = gather(*line.replace("URL", name).split(), *more)
            said = answer.out + answer.err
            assert answer.code and b"SECRET" not in said and b"05:07" not in said, (line, said)
    assert b"host/x.npy: cannot open it" in gather("info", name).err
