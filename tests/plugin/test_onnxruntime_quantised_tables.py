# SPDX-License-Identifier: MIT
"""The execution provider: GatherBlockQuantized, whose codes, scales and zero points are in external data."""

import numpy as np
import provider_models as models
import pytest
from onnx import TensorProto, helper
from provider_sessions import onnxruntime, opened, provider, ways  # noqa: F401

RANDOM = np.random.default_rng(17)



def quantised(folder, kind, rank=2, zero_points=True, **attributes):
    """A model of one GatherBlockQuantized, whose codes, scales and zero points are in one file; and the same without external data."""
    values = (3000, 64) if rank == 2 else (3000, 5, 64)
    codes = RANDOM.integers(0, 256, int(np.prod(values)) // 2, dtype=np.uint8)
    scales = RANDOM.random((*values[:-1], values[-1] // 16), np.float32)
    points = RANDOM.integers(0, 256, scales.size // 2, dtype=np.uint8)
    stored = (*values[:-1], values[-1] // 2) if kind == TensorProto.UINT8 else values
    stored_points = (*scales.shape[:-1], scales.shape[-1] // 2) if kind == TensorProto.UINT8 else scales.shape
    parts = [("codes", kind, stored, codes), ("scales", TensorProto.FLOAT, scales.shape, scales), ("points", kind, stored_points, points)]
    parts, offset, outside, inside = parts[: 3 if zero_points else 2], 0, [], []
    with (folder / "table.data").open("wb") as file:
        for name, type_, shape, array in parts:
            tensor = TensorProto(name=name, data_type=type_, dims=shape, data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "table.data"), ("offset", str(offset)), ("length", str(array.nbytes))):
                tensor.external_data.add(key=key, value=value)
            outside.append(tensor)
            inside.append(helper.make_tensor(name, type_, shape, array.tobytes(), raw=True))
            offset += file.write(array.tobytes())
    attributes = {"block_size": 16, "quantize_axis": len(values) - 1, "bits": 4} | attributes
    node = helper.make_node(
        "GatherBlockQuantized", ["codes", "ids", *(part[0] for part in parts[1:])], ["y"], name="q", domain="com.microsoft", **attributes
    )
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, None)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    made = [models.model_of([node], inputs, outputs, tensors, 21, True).SerializeToString() for tensors in (outside, inside)]
    (folder / "model.onnx").write_bytes(made[0])
    return made[1]


@pytest.mark.parametrize("zero_points", [True, False])
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("kind", [TensorProto.UINT4, TensorProto.INT4, TensorProto.UINT8])
def test_quantised_rows(provider, tmp_path, kind, rank, zero_points):
    inside = quantised(tmp_path, kind, rank, zero_points)
    session = opened(provider, tmp_path / "model.onnx")
    assert ways(provider, session) == ["table"]
    plain = onnxruntime.InferenceSession(inside, providers=["CPUExecutionProvider"])
    for ids in (RANDOM.integers(-3000, 3000, (4, 50)), np.array(2999), np.zeros((0,), np.int64), RANDOM.integers(0, 3000, 20000)):
        got, wanted = session.run(None, {"ids": ids})[0], plain.run(None, {"ids": ids})[0]
        assert got.shape == wanted.shape and got.tobytes() == wanted.tobytes()
    tables = provider.report(session)["tables"]
    assert [table["data"] for table in tables] == ["codes", "scales", "points"][: 3 if zero_points else 2]
    assert {table["rows"] for table in tables} == {200 + 1 + 20000}


def test_quantised_rows_out_of_range(provider, tmp_path):
    """Zeros, or an error before ONNX Runtime 1.31: as the host has it."""
    inside = quantised(tmp_path, TensorProto.UINT8)
    session, plain = opened(provider, tmp_path / "model.onnx"), onnxruntime.InferenceSession(inside)
    for ids in ([5, 3000, 6, -3001], [3000]):
        try:
            wanted = plain.run(None, {"ids": np.array(ids)})[0]
        except Exception:
            with pytest.raises(Exception, match=r"= 3000 is outside \[-3000, 2999\]"):
                session.run(None, {"ids": np.array(ids)})
            continue
        assert session.run(None, {"ids": np.array(ids)})[0].tobytes() == wanted.tobytes()
        assert ways(provider, session) == ["table"]


def test_quantised_along_another_axis_runs_plainly(provider, tmp_path):
    inside = quantised(tmp_path, TensorProto.UINT4, gather_axis=1, quantize_axis=0)
    with pytest.raises(Exception, match="scales"):  # the model is wrong for these axes, and both say so
        onnxruntime.InferenceSession(inside).run(None, {"ids": np.array([1])})
    inside = quantised(tmp_path, TensorProto.UINT4, gather_axis=1)
    session = opened(provider, tmp_path / "model.onnx")
    assert ways(provider, session) == ["plain"]
    wanted = onnxruntime.InferenceSession(inside).run(None, {"ids": np.array([1, 63])})[0]
    assert session.run(None, {"ids": np.array([1, 63])})[0].tobytes() == wanted.tobytes()
