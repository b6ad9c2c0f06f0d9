# SPDX-License-Identifier: MIT
"""Files that are no tables: what is saved in place of a file (pointers, web pages, error answers), and formats that are not supported.
Each is named, with what to do, wherever a file is opened; none is read as raw bytes unless that is asked for."""
import io
import json
import os
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import remote_files
from gather_files import GatherError, open_source, opened_raw, source_of
from onnx_files import graph, model
from support.http_server import HttpServer
from support.skip import skip_test
from tensor_files import complaint, formats, opened

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a" * 16 + b"\nsize 12345\n"
APPLE = b"\0\5\x16\7\0\2\0\0Mac OS X        \0\2\0\0\0\x09" + bytes(200)
SUBSTITUTES = {
    "lfs": (LFS, "Git LFS pointer, not the file itself, which has 12345 bytes: 'git lfs pull'"),
    "lfs-extension": (LFS.replace(b"\noid", b"\next-0-foo sha256:" + b"ab" * 32 + b"\noid"), "Git LFS pointer"),
    "lfs-no-size": (LFS.replace(b"\nsize 12345", b""), "not the file itself: 'git lfs pull' downloads it"),
    "lfs-size-0": (LFS.replace(b"12345", b"0"), "not the file itself: 'git lfs pull' downloads it"),
    "lfs-old": (LFS.replace(b"git-lfs", b"hawser"), "Git LFS pointer"),
    "annex": (b"/annex/objects/SHA256E-s10--" + b"ab" * 32 + b".npy\n", "git-annex pointer.*'git annex get'"),
    "annex-link": (b".git/annex/objects/Gw/11/MD5E-s1--a/MD5E-s1--a", "git-annex pointer"),
    "annex-link-below": (b"../../.git/annex/objects/Gw/11/MD5E-s1--a/MD5E-s1--a", "git-annex pointer"),
    "xet": (b"# xet version 0\nfilesize = 100\nhash = 'ab'\n", "Xet pointer"),
    "dvc": (b"outs:\n- md5: a304afb96060aad90176268345e10355\n  path: data.npy\n", "DVC pointer.*'dvc pull'"),
    "html": (b"<!DOCTYPE html>\n<html lang=\"en\"><head><title>x</title></head></html>", "web page"),
    "html-old": (b'<!doctype HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">\n<p>', "web page"),
    "html-blanks": (b"\xef\xbb\xbf\r\n\t <HTML><body>", "web page"),
    "html-comment": (b"<!-- made by hand -->\n<html>" + b"x" * 5000, "web page"),
    "xhtml": (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x" "y">\n<html xmlns="z"/>', "web page"),
    "s3": (b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message>'
           b"<AWSAccessKeyId>SECRET</AWSAccessKeyId></Error>", r"error.* \(XML: AccessDenied\)"),
    "azure": (b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?><Error><Code>BlobNotFound</Code></Error>', "XML: BlobNotFound"),
    "no-prolog": (b"<Error><Code>NoSuchKey</Code></Error>", "XML: NoSuchKey"),
    "json": (b'{"error":"Repository not found"}', r"error.* \(JSON: Repository not found\)"),
    "json-object": (b'{\n  "error": {\n    "code": 404,\n    "message": "No such object"\n  }\n}\n', "error.*JSON"),
    "github": (b'{"message": "Not Found", "documentation_url": "https://docs.github.com/rest"}', "JSON: Not Found"),
    "django": (b'{"detail":"Authentication credentials were not provided."}', "JSON: Authentication"),
    "apple-double": (APPLE, "AppleDouble"),
    "ds-store": (b"\0\0\0\1Bud1\0\0\x10\0" + bytes(60), ".DS_Store"),
}  # fmt: skip


@pytest.fixture(params=SUBSTITUTES)
def substitute(request) -> tuple[bytes, str]:
    return SUBSTITUTES[request.param]


def refused(error: GatherError, words: str, status: str = "unsupported") -> None:
    import re
    assert error.status == status and re.search(words, error.message), error
    assert "SECRET" not in error.message and "\n" not in error.message


def test_by_content(substitute, tmp_path) -> None:
    content, words = substitute
    for name in ("tokens.npy", "model.onnx", "ids.txt", "m.safetensors"):
        path = tmp_path / name
        path.write_bytes(content)
        error = complaint(path)
        refused(error, words)
        assert error.file == str(path)
    refused(complaint(content), words)  # in memory


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_raw(substitute, dtype, tmp_path) -> None:
    """`--type` gave their text as rows. Only as_is does so."""
    content, words = substitute
    path, count = tmp_path / "tokens.bin", len(content) // np.dtype(dtype).itemsize
    path.write_bytes(content)
    with pytest.raises(GatherError) as caught, opened_raw(path, dtype, (count,)):
        pass
    refused(caught.value, words, "usage")
    assert "not raw bytes" in caught.value.message
    with opened_raw(path, dtype, (count,), as_is=True) as t:
        assert t.array(np.dtype(dtype)).tobytes() == content[: count * np.dtype(dtype).itemsize]


@pytest.mark.parametrize("column", [b"", b"id"])
def test_as_text(substitute, column, tmp_path) -> None:
    content, words = substitute
    (tmp_path / "ids.csv").write_bytes(content)
    for from_memory in (False, True):
        source = content if from_memory else tmp_path / "ids.csv"
        with pytest.raises(GatherError) as caught:
            open_source(source_of(source, text=True, text_column=column))
        refused(caught.value, words)


def test_external_data(substitute, tmp_path) -> None:
    """The weights of a model: their text would be its first numbers."""
    if "onnx" not in formats():
        skip_test("nanopb", "this build reads no ONNX")
    from onnx import TensorProto

    content, words = substitute
    proto = TensorProto(data_type=TensorProto.UINT8, dims=[16], name="w", data_location=1)
    proto.external_data.add(key="location", value="w.bin")
    (tmp_path / "m.onnx").write_bytes(model(graph("m", [], [proto])).SerializeToString())
    (tmp_path / "w.bin").write_bytes(content)
    with opened(tmp_path / "m.onnx") as file:
        error = file.all[0].complaint
        assert error is not None and "'w'" in error.message and error.file.endswith("w.bin")
        refused(error, words)


def test_weights_of_ir(substitute, tmp_path) -> None:
    if "ir" not in formats():
        skip_test("expat", "this build reads no IR")
    content, words = substitute
    (tmp_path / "m.xml").write_text(
        '<net name="m" version="11"><layers><layer id="0" name="w" type="Const" version="opset1"><data element_type="u8" '
        'shape="16" offset="0" size="16"/><output><port id="0" precision="U8"><dim>16</dim></port></output></layer></layers>'
        "<edges/></net>"
    )
    (tmp_path / "m.bin").write_bytes(content)
    with opened(tmp_path / "m.xml") as file:
        error = file.all[0].complaint
        assert error is not None
        refused(error, words)


def test_shard(substitute, tmp_path) -> None:
    if "safetensors" not in formats():
        skip_test("jansson", "this build reads no safetensors")
    content, words = substitute
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"w": "model-00001-of-00001.safetensors"}}))
    (tmp_path / "model-00001-of-00001.safetensors").write_bytes(content)
    with opened(path) as file:
        error = file.all[0].complaint
        assert error is not None
        refused(error, words)


def test_apple_double_names_its_file(tmp_path) -> None:
    path = tmp_path / "._emb.npy"
    path.write_bytes(APPLE)
    assert "open emb.npy" in complaint(path).message


# Bytes that are numbers, whatever they begin with.
NUMBERS = [
    b"<html>" + bytes(10), b"<html>\x01\x02", b"{" + bytes(range(64)), b'{"error":\x00', b"version https://example.org/spec/v1\n",
    b"\0\5\x16\7" + bytes(60), b"<error>x", b"<p>text</p>", b'{"text": "a corpus"}\n{"text": "of lines"}\n', b"<htmlx>",
    b'{"error_rate": 1}', b"/annex/other", b"# xet", np.arange(400, dtype="<f4").tobytes(), b"A plain text, as numbers of type uint8. " * 40,
    b'{"id": 1, "error": "no first key"}', LFS + b"x" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("content", NUMBERS, ids=range(len(NUMBERS)))
def test_bytes_are_numbers(content, tmp_path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(content)
    with opened_raw(path, "uint8", (len(content),)) as t:
        assert t.array(np.dtype("u1")).tobytes() == content


# ---- servers


@pytest.fixture(scope="module")
def server():
    if why := remote_files.why_no_urls():
        skip_test("http", why)
    with HttpServer() as server:
        yield server


def test_by_url(substitute, server) -> None:
    content, words = substitute
    server.put("/file", content)
    words = "web page" if "web page" in words else words
    for more in ({}, {"text_column": b""}):
        with pytest.raises(GatherError) as caught, remote_files.opened(server.url("/file"), **more):
            pass
        refused(caught.value, words)
        assert "web page" not in words or "the server answered with a web page" in caught.value.message
    raw = remote_files.g.Raw(b"uint8", 1, remote_files.g.lengths((8,)), 0, False)
    with pytest.raises(GatherError) as caught, remote_files.handle(server.url("/file"), raw):
        pass
    refused(caught.value, words, "usage")
    raw.as_is = True
    with remote_files.handle(server.url("/file"), raw):
        pass


def test_shard_by_url(substitute, server) -> None:
    if "safetensors" not in formats():
        skip_test("jansson", "this build reads no safetensors")
    content, words = substitute
    server.put("/model.safetensors.index.json", json.dumps({"weight_map": {"w": "a.safetensors", "v": "b.safetensors"}}).encode())
    for name in "ab":
        server.put(f"/{name}.safetensors", content)
    with remote_files.opened(server.url("/model.safetensors.index.json")) as file:
        for tensor in file.all:
            assert tensor.complaint is not None
            refused(tensor.complaint, words)


PAGE = SUBSTITUTES["html"][0]


@pytest.mark.parametrize("path, words", [
    ("/owner/repo/blob/main/a/m.safetensors", r"web page \(HTML\); an address with /blob/ is that of a web page: for the hub write hf://OWNER/REPO/FILE"),
    ("/owner/repo/resolve/main/m.safetensors", r"web page \(HTML\), not with the file"),
])  # fmt: skip
def test_page_address(path, words, server) -> None:
    server.put(path, PAGE)
    with pytest.raises(GatherError, match=words), remote_files.opened(server.url(path)):
        pass
    with pytest.raises(GatherError) as caught, remote_files.opened(server.url(path + ".none")):  # whatever a server says of a page
        pass
    assert ("hf://" in caught.value.message) == ("/blob/" in path)


# ---- formats that are not supported


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", "."), content)
    return out.getvalue()


TFRECORD = bytes.fromhex("1000000000000000") + bytes.fromhex("95fbfe18")
UNSUPPORTED = {
    **{f"netcdf-{i}": (b"CDF" + bytes([i]) + bytes(60), "NetCDF 3 is not supported; NetCDF 4 is: nccopy.*xarray") for i in (1, 2, 5)},
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(60), "TensorFlow Lite.*tf2onnx"),
    "ort": (b"\x18\0\0\0ORTM" + bytes(60), r"\(\.ort\).*\.onnx"),
    **{f"ggml-{magic.decode()}": (magic + bytes(60), "GGML.*llama.cpp") for magic in (b"lmgg", b"fmgg", b"tjgg", b"algg")},
    "parquet": (b"PAR1" + bytes(60), "Parquet"),
    "parquet-encrypted": (b"PARE" + bytes(60), "encrypted Parquet"),
    "feather-1": (b"FEA1" + bytes(60), "Feather"),
    "avro": (b"Obj\x01" + bytes(60), "Avro"),
    "sqlite": (b"SQLite format 3\0" + bytes(80), "SQLite"),
    "duckdb": (bytes(8) + b"DUCK" + bytes(60), "DuckDB"),
    "faiss": (b"IxF2" + bytes(60), "Faiss.*reconstruct_n"),
    "matlab": (b"MATLAB 5.0 MAT-file" + bytes(120), "MATLAB.*scipy"),
    "torch-old": (pickle.dumps(0x1950A86A20F9469CFC6C, 2) + bytes(40), "PyTorch.*weights_only=True.*safetensors"),
    "gzip": (b"\x1f\x8b\x08\0" + bytes(60), "gzip"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(60), "zstd"),
    "lz4": (b"\x04\x22\x4d\x18" + bytes(60), "lz4"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(60), "7z"),
    "tar": (b"emb.npy" + bytes(250) + b"ustar\x0000" + bytes(300), "tar archive"),
    "tfrecord": (TFRECORD + bytes(60), "TFRecord"),
    "torch": (zipped(archive__data_DOT_pkl=b"\x80\x02", archive__version=b"3"), "PyTorch.*weights_only=True.*safetensors"),
    "pt2": (zipped(m__archive_format=b"pt2", m__models__model_DOT_json=b"{}"), r"torch.export.*\.pt2"),
    "pt2-old": (zipped(serialized_exported_program_DOT_json=b"{}", version=b"1"), r"torch.export.*\.pt2"),
    "keras": (zipped(config_DOT_json=b"{}", model_DOT_weights_DOT_h5=b"\x89HDF"), "Keras.*safetensors"),
    "zarr-zip": (zipped(a__zarr_DOT_json=b"{}", a__c__0=b"x"), "Zarr"),
    "zip": (zipped(a_DOT_txt=b"x"), "zip file without .npy"),
}
BY_TWO_BYTES = ("gzip",)
FOLDERS = {
    "saved-model": ({"saved_model.pb": ""}, "SavedModel.*tf2onnx"),
    "safetensors": ({"model.safetensors.index.json": "{}", "model.safetensors": ""}, "model.safetensors.index.json"),
    "safetensors-one": ({"model.safetensors": ""}, "model.safetensors"),
    "datasets": ({"dataset_info.json": "{}", "state.json": "{}"}, r"data-\*\.arrow"),
    "coreml": ({"Manifest.json": "{}"}, "directory"),
    "any": ({}, "is a directory"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_formats(name, tmp_path) -> None:
    content, words = UNSUPPORTED[name]
    path = tmp_path / "emb.bin"
    path.write_bytes(content)
    refused(complaint(path), words)
    if name in BY_TWO_BYTES:
        return
    with pytest.raises(GatherError, match="not raw bytes") as caught, opened_raw(path, "uint8", (16,)):
        pass
    assert caught.value.status == "usage" and "npz" not in caught.value.message
    assert re.search(words, caught.value.message), caught.value.message  # the same as without a type
    with opened_raw(path, "uint8", (16,), as_is=True):
        pass


def test_tfrecord_needs_its_checksum(tmp_path) -> None:
    for at in range(12):
        content = bytearray(TFRECORD + bytes(60))
        content[at] ^= 1
        (tmp_path / "a.bin").write_bytes(content)
        with opened_raw(tmp_path / "a.bin", "uint8", (16,)):
            pass


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(name, tmp_path) -> None:
    files, words = FOLDERS[name]
    folder = tmp_path / "emb"
    folder.mkdir()
    for file, content in files.items():
        (folder / file).write_text(content)
    for path in (folder, Path(f"{folder}/")):
        refused(complaint(path), words, "io_error")


# ---- names of files that do not exist

READ = "; URLs that are read begin with https://, http://, s3:// or hf://"
NAMES = [
    ("file:///data/emb.npy", f"write the path without file://{READ}"),
    ("FILE:///data/emb.npy", f"write the path without file://{READ}"),
    ("gs://bucket/emb.npy", f"write https://storage.googleapis.com/BUCKET/OBJECT{READ}"),
    ("s3a://bucket/emb.npy", f"write s3:// for s3a://{READ}"),
    ("s3n://bucket/emb.npy", f"write s3:// for s3n://{READ}"),
    ("abfss://c@a.dfs.core.windows.net/x.npy", f"write https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB{READ}"),
    ("ftp://host/emb.npy", READ[1:]),
    ("https:/host/emb.npy", f"(pathlib.Path removes one){READ}"),
    ("C:/emb.npy", None),
    ("none/emb.npy", None),
    ("none:/emb.npy", None),
]


@pytest.mark.parametrize("name, words", NAMES)
def test_names_like_urls(name, words, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GatherError) as caught:
        open_source(source_of(name, text=True, text_column=b""))
    raw = pytest.raises(GatherError, opened_raw(name, "uint8", (3,)).__enter__)
    for error in (complaint(name), caught.value, raw.value):
        assert error.status == "file_not_found" and error.file == name.replace("c@", "")  # a user is not shown
        assert words in error.message if words else "URLs" not in error.message and ";" not in error.message


def test_links_to_nothing(tmp_path) -> None:
    link = tmp_path / "emb.npy"
    link.symlink_to("../blobs/abc")
    assert complaint(link).message.endswith("; it is a link to ../blobs/abc, which does not exist")
    link.unlink()
    link.symlink_to(".git/annex/objects/Gw/11/MD5E-s1--a/MD5E-s1--a")
    complaint(link).must_be("file_not_found", "'git annex get'")
