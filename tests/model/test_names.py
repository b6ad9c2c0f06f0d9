# SPDX-License-Identifier: MIT
"""The many names of a tensor in OpenVINO IR, whose commas stand behind backslashes: each finds it, whoever asks."""
from __future__ import annotations

import numpy as np
import pytest
import run_models as models
from support.command import answer, formats
from support.skip import needs

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


reads_ir = needs("expat", "ir" in formats(), "this build reads no OpenVINO IR")


@pytest.fixture
def path(tmp_path):
    net = models.Net()
    sources = [net.const("table", "f32", TABLE, r"x,the\,table,t"), net.parameter("ids layer", "i64", (2,), r"ids,id\,s,tokens"),
               net.const("axis", "i64", np.array(0))]
    net.result(net.node("g", "Gather", "opset7", '<data batch_dims="0"/>', sources, "f32", (2, 3), r"out,rows,r\,s"), "result")
    return net.save(tmp_path)


@pytest.mark.parametrize("name", ["ids", "id,s", "tokens", "ids layer"])
def test_inputs(path, name, tmp_path) -> None:
    np.save(tmp_path / "i.npy", np.array([0, 3]))
    given = f"{name}={tmp_path / 'i.npy'}"
    assert answer("check", path, "--input", given)["nodes"][0]["verdict"] == "ok"
    assert answer("check", path)["nodes"][0]["verdict"] == "unknown"
    answer("run", path, "--input", given, "--output", f"out={tmp_path / 'o.npy'}")
    assert (np.load(tmp_path / "o.npy") == TABLE[[0, 3]]).all()
    np.save(tmp_path / "i.npy", np.array([0, 4]))
    assert answer("check", path, "--input", given, code=1)["nodes"][0]["verdict"] == "bad"


@pytest.mark.parametrize("name", ["out", "rows", "r,s", "g", "result"])
def test_outputs(path, name, tmp_path) -> None:
    np.save(tmp_path / "i.npy", np.array([1, 2]))
    answer("run", path, "--input", f"ids={tmp_path / 'i.npy'}", "--output", f"{name}={tmp_path / 'o.npy'}")
    assert (np.load(tmp_path / "o.npy") == TABLE[[1, 2]]).all()


@pytest.mark.parametrize("name", ["x", "the,table", "t", "table"])
def test_tensors(path, name, tmp_path) -> None:
    answer("take", f"{path}:{name}", "[2]", "--output", tmp_path / "o.npy")
    assert (np.load(tmp_path / "o.npy") == TABLE[[2]]).all()


@pytest.mark.parametrize("name", ["the", "table,t", "s", "nothing"])
def test_what_is_no_name(path, name, tmp_path) -> None:
    np.save(tmp_path / "i.npy", np.array([1, 2]))
    for command in ("check", "run"):
        assert answer(command, path, "--input", f"{name}={tmp_path / 'i.npy'}", code=3)["error"]["status"] == "name_not_found"
    assert answer("take", f"{path}:{name}", "[2]", "--dry-run", code=3)["error"]["status"] == "name_not_found"
