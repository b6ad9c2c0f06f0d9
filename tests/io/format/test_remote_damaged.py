# SPDX-License-Identifier: MIT
"""Remote and local say the same: files of every format, good and damaged, opened from a server and locally. All that is said of their
tensors, and every error with its message and byte, must be equal. The files are those of the fuzz targets' corpus, with some of their
beginnings, and those that the other tests of this folder make."""
import importlib
import inspect
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import gather_files
import pytest
import remote_files
import tensor_files
from remote_files import Twins
from support.http_server import HttpServer
from support.skip import needs

FORMATS = ["npy", "npz", "arrow", "gguf", "safetensors", "ir", "onnx", "hdf5"]
BEGINNINGS = 5  # of each file of the corpus


needs_urls = needs("http", not remote_files.why_no_urls(), remote_files.why_no_urls())


@pytest.fixture(scope="module")
def twins():
    with HttpServer() as server:
        yield Twins(server)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    script = Path(__file__).parents[2] / "fuzz" / "make_corpus.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, timeout=120)
    return folder


def local(data: bytes):
    return lambda: tensor_files.opened(data)


@pytest.mark.parametrize("format", FORMATS)
def test_the_corpus(format: str, twins: Twins, corpus: Path) -> None:
    count, errors = twins.count, twins.errors
    files = sorted((corpus / format).iterdir())
    for number, path in enumerate(files):
        data = path.read_bytes()
        twins.compare(data, local(data))
        for i in range(1, BEGINNINGS):
            beginning = data[: len(data) * i // BEGINNINGS - number % 7]
            twins.compare(beginning, local(beginning))
    assert twins.count - count > len(files) and twins.errors > errors


# Tests that open many damaged files of bytes, and how many of these are compared: each n-th.
DAMAGED = [("test_gguf", "test_cut_at_every_byte", 3, {"order": ">"}),
           ("test_npz_malformed", "test_cut_at_every_byte", 3, {}),
           ("test_safetensors", "test_every_byte_changed", 23, {}),
           ("test_arrow_damaged", "test_cut_at_every_byte", 5, {}),
           ("test_hdf5_damaged", "test_cut_at_every_byte", 29, {"name": "dense"}),
           ("test_hdf5_damaged", "test_random_bytes_with_sums_mended", 3, {"seed": 0}),
           ("test_onnx_damaged", "test_cut_at_every_byte", 5, {})]  # fmt: skip


@pytest.mark.parametrize("module,test,every,given", DAMAGED)
def test_damaged_files(module: str, test: str, every: int, given: dict, twins: Twins, monkeypatch, tmp_path) -> None:
    """The test itself, with each n-th of its files also opened from the server."""
    if test not in (found := vars(importlib.import_module(module))):
        pytest.fail(f"{module} has no {test}: " + ", ".join(name for name in found if name.startswith("test_")))
    plain, seen = gather_files.handle, {"count": 0, "inside": False}
    before = twins.count

    @contextmanager
    def handle(source):
        if isinstance(source, bytes) and not seen["inside"]:
            seen["count"] += 1
            if seen["count"] % every == 0:
                seen["inside"] = True
                try:
                    twins.compare(source, local(source))
                finally:
                    seen["inside"] = False
        with plain(source) as file:
            yield file

    for name in ("gather_files", "tensor_files"):
        monkeypatch.setattr(importlib.import_module(name), "handle", handle)
    function = found[test]
    arguments = dict(given)
    if "tmp_path" in inspect.signature(function).parameters:
        arguments["tmp_path"] = tmp_path
    function(**arguments)
    assert twins.count - before >= 20
