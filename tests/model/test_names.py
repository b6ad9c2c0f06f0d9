# SPDX-License-Identifier: MIT
"""The many names of a tensor in OpenVINO IR, whose commas stand behind backslashes: each finds it, whoever asks."""
from __future__ import annotations

import numpy as np
import pytest
from support.command import answer, formats
from support.skip import needs

XML = r"""<net name="n" version="11"><layers>
<layer id="0" name="table" type="Const" version="opset1"><data element_type="f32" shape="4,3" offset="8" size="48"/>
<output><port id="0" precision="FP32" names="x,the\,table,t"><dim>4</dim><dim>3</dim></port></output></layer>
<layer id="1" name="ids layer" type="Parameter" version="opset1"><data shape="2" element_type="i64"/>
<output><port id="0" precision="I64" names="ids,id\,s,tokens"><dim>2</dim></port></output></layer>
<layer id="2" name="axis" type="Const" version="opset1"><data element_type="i64" shape="" offset="0" size="8"/>
<output><port id="0" precision="I64"/></output></layer>
<layer id="3" name="g" type="Gather" version="opset7"><data batch_dims="0"/>
<input><port id="0"><dim>4</dim><dim>3</dim></port><port id="1"><dim>2</dim></port><port id="2"/></input>
<output><port id="3" precision="FP32" names="out,rows,r\,s"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="4" name="result" type="Result" version="opset1"><input><port id="0"><dim>2</dim><dim>3</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/><edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>"""
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


reads_ir = needs("expat", "ir" in formats(), "this build reads no OpenVINO IR")


@pytest.fixture
def path(tmp_path):
    (tmp_path / "m.xml").write_text(XML, encoding="utf-8")
    (tmp_path / "m.bin").write_bytes(bytes(8) + TABLE.tobytes())
    return tmp_path / "m.xml"


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
