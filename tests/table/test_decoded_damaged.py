# SPDX-License-Identifier: MIT
"""Quantised tensors whose side tensors are missing, misshaped or lie: exact errors that name them, and nothing else."""

from __future__ import annotations

import json
import os
import random

import gguf
import numpy as np
import pytest
from support.quantised_files import MAKERS, Stored, fp8_blocks, fp8_rows, mlx4, mxfp4, nf4, nf4_nested, nvfp4, part
from tables import Setting, Table, TableError

SEED = int(os.environ.get("GATHER_TEST_SEED", 1))
ROUNDS = int(os.environ.get("GATHER_TEST_ROUNDS", 1))
F32 = np.float32
STATE = "c.weight.quant_state.bitsandbytes__nf4"
LAYOUTS = [maker for maker in MAKERS if not maker.__name__.startswith("rowwise")]


def refusal(stored: Stored, path) -> TableError:
    with pytest.raises(TableError) as error:
        Table(stored.write(path), Setting(decode_as="float32", codec=stored.given))
    return error.value


@pytest.mark.parametrize("maker", LAYOUTS, ids=lambda maker: maker.__name__)
def test_missing_sides(maker, tmp_path):
    """Each side tensor in turn: the error names it, unless nothing is left that shows a layout."""
    for name in maker(np.random.default_rng(SEED)).sides:
        stored = maker(np.random.default_rng(SEED))
        del stored.tensors[name]
        error = refusal(stored, tmp_path / "x.safetensors")
        if error.status == "unsupported":
            assert "the file does not describe how" in str(error) and len(stored.sides) == 1
        else:
            assert error.status == "name_not_found" and f"'{name.split('__')[0]}" in str(error), str(error)


@pytest.mark.parametrize("maker", LAYOUTS, ids=lambda maker: maker.__name__)
def test_misshaped_sides(maker, tmp_path):
    """Each side tensor with one row too many, and with another type."""
    for name in maker(np.random.default_rng(SEED)).sides:
        if ".quant_state." in name:
            continue
        stored = maker(np.random.default_rng(SEED))
        dtype, shape, content = stored.tensors[name]
        longer = (shape[0] + 1, *shape[1:]) if shape else (2,)
        stored.tensors[name] = dtype, longer, content + content[: len(content) // max(shape[0] if shape else 1, 1)]
        error = refusal(stored, tmp_path / "x.safetensors")
        assert error.status == "shape_mismatch" and f"'{name}'" in str(error), str(error)
        stored = maker(np.random.default_rng(SEED))
        count = int(np.prod(shape, dtype=np.int64))
        stored.tensors[name] = "I64", shape, bytes(8 * count)
        error = refusal(stored, tmp_path / "x.safetensors")
        assert error.status == "type_mismatch" and f"'{name}' is int64" in str(error), str(error)


@pytest.mark.parametrize("change, status, text", [
    ({"quant_type": "fp4"}, "file_malformed", "quant_type 'fp4', not 'nf4'"),
    ({"quant_type": 4}, "file_malformed", "quant_type"),
    ({"blocksize": 0}, "file_malformed", "no positive integer 'blocksize'"),
    ({"blocksize": -64}, "file_malformed", "no positive integer 'blocksize'"),
    ({"blocksize": 2**62}, "shape_mismatch", "absmax"),
    ({"blocksize": 64.0}, "file_malformed", "no positive integer 'blocksize'"),
    ({"shape": [40, 193]}, "shape_mismatch", "'c.weight' has the shape"),
    ({"shape": [40]}, "shape_mismatch", "'c.weight' has the shape"),
    ({"shape": [7680]}, "rank_mismatch", "1 dimension"),
    ({"shape": []}, "file_malformed", "no 'shape' of 1 to"),
    ({"shape": [1] * 65}, "file_malformed", "no 'shape' of 1 to"),
    ({"shape": [2**40, 2**40]}, "file_malformed", "does not fit in 63 bits"),
    ({"shape": [2**62, 3]}, "file_malformed", "does not fit in 63 bits"),
    ({"shape": [-40, -192]}, "file_malformed", "not a non-negative integer"),
    ({"shape": [7680, 1]}, "unsupported", "do not end on a whole byte"),
    ({"shape": "40x192"}, "file_malformed", "no 'shape' of 1 to"),
    ({"nested_blocksize": 256, "nested_offset": 0.5}, "name_not_found", "nested_absmax"),
    ({"nested_blocksize": 256}, "file_malformed", "nested_offset"),
    ({"nested_blocksize": 256, "nested_offset": 1e300}, "file_malformed", "nested_offset"),
    ({"nested_blocksize": 0}, "file_malformed", "nested_blocksize"),
])
def test_lying_state(tmp_path, change, status, text):
    stored = nf4(np.random.default_rng(SEED))
    state = json.loads(stored.tensors[STATE][2]) | change
    stored.tensors[STATE] = part(np.frombuffer(json.dumps(state).encode(), np.uint8))
    error = refusal(stored, tmp_path / "x.safetensors")
    assert error.status == status and text in str(error), str(error)
    if status == "file_malformed":
        assert error.offset > 0


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"{}", b"\xff", b'{"a":1,"a":2}', b"[" * 5000, b'"', b"{} x",
                                  b'{"quant_type":"nf4","blocksize":99999999999999999999}'])  # fmt: skip
def test_hostile_state(tmp_path, text):
    stored = nf4(np.random.default_rng(SEED))
    stored.tensors[STATE] = part(np.frombuffer(text, np.uint8))
    error = refusal(stored, tmp_path / "x.safetensors")
    assert error.status == "file_malformed", str(error)


def test_nested_scales(tmp_path):
    for name, wrong in (("c.weight.nested_absmax", np.zeros(9, F32)), ("c.weight.nested_quant_map", np.zeros(16, F32))):
        stored = nf4_nested(np.random.default_rng(SEED))
        stored.tensors[name] = part(wrong)
        error = refusal(stored, tmp_path / "x.safetensors")
        assert error.status == "shape_mismatch" and f"'{name}'" in str(error)


def test_exact_messages(tmp_path):
    path = tmp_path / "x.safetensors"
    stored = fp8_blocks(np.random.default_rng(SEED))
    stored.tensors["b.weight_scale_inv"] = part(np.zeros((3, 3), F32))
    assert str(refusal(stored, path)) == (
        f"{path}: the tensor 'b.weight_scale_inv' has the shape [3, 3], but FP8 needs one scale, one a row, or [3, 2] for "
        "blocks of 128 x 128")  # fmt: skip
    stored = nvfp4(np.random.default_rng(SEED))
    stored.tensors["a.weight_scale"] = part(np.zeros((40, 5), np.uint8), "F8_E4M3")
    assert str(refusal(stored, path)) == (f"{path}: the tensor 'a.weight_scale' has the shape [40, 5], but NVFP4 (ModelOpt) needs [40, 6]")
    stored = mxfp4(np.random.default_rng(SEED))
    del stored.tensors["w_scales"]
    assert str(refusal(stored, path)) == (
        f"{path}: the tensor 'w_blocks' is quantised as MXFP4 (gpt-oss), but its side tensor 'w_scales' is missing")
    stored = mlx4(np.random.default_rng(SEED))
    stored.given = ""
    assert str(refusal(stored, path)) == (
        f"{path}: the shapes of the tensor 'd.weight' do not determine the bits of a code: give the codec as biased:2 or "
        "biased:4 or biased:8")  # fmt: skip
    stored.given = "biased:3"
    assert refusal(stored, path).status == "unsupported"


@pytest.mark.parametrize("sides, name", [(["scales", "qzeros", "g_idx"], "gptq"), (["scales", "qzeros"], "awq")])
def test_columns_are_refused(tmp_path, sides, name):
    tensors = {"q.qweight": part(np.zeros((8, 4), np.int32))}
    tensors |= {f"q.{side}": part(np.zeros(4, F32)) for side in sides}
    error = refusal(Stored("q.qweight", tensors, np.zeros(0), name), tmp_path / "x.safetensors")
    assert error.status == "unsupported" and f"quantised as {name}, which is not decoded: " in str(error)


def test_refused_blocks(tmp_path, name="Q8_1"):
    """A block of it has 36 bytes in ggml; gguf's Python, which says 40, writes rows of nine for rows of ten."""
    kind = gguf.GGMLQuantizationType[name]
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_tensor("t", np.zeros((3, 10 * 36), np.uint8), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(TableError, match=f"'t' is quantised as {name}, which is not decoded: ") as error:
        Table(f"{tmp_path}/m.gguf:t", Setting(decode_as="float32"))
    assert error.value.status == "unsupported"
    with Table(f"{tmp_path}/m.gguf:t") as table:  # the raw rows remain
        assert table.take(np.array([2]))[0].shape == (1, 9 * 36)


def test_big_endian_blocks(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama", endianess=gguf.GGUFEndian.BIG)
    writer.add_tensor("t", np.zeros((3, 18), np.uint8), raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(TableError, match="big-endian") as error:
        Table(f"{tmp_path}/m.gguf:t", Setting(decode_as="float32"))
    assert error.value.status == "unsupported"


def test_rank(tmp_path):
    """A tensor of one dimension has no rows."""
    stored = nvfp4(np.random.default_rng(SEED), 1, 96)
    stored.tensors = {name: (dtype, shape[1:] if len(shape) > 1 else shape, content)
                      for name, (dtype, shape, content) in stored.tensors.items()}  # fmt: skip
    error = refusal(stored, tmp_path / "x.safetensors")
    assert error.status == "shape_mismatch" and "rank 2 or more" in str(error)
    stored = fp8_rows(np.random.default_rng(SEED))
    stored.tensors["b.weight"] = "F8_E4M3", (40, 5, 10), stored.tensors["b.weight"][2]
    assert refusal(stored, tmp_path / "x.safetensors").status == "shape_mismatch"


def test_flipped_bytes(tmp_path):
    """One byte of the header or the state changed, or the file cut: an error, or a table whose rows can be taken."""
    chance, path = random.Random(SEED), tmp_path / "x.safetensors"
    outcomes = set()
    for _ in range(1500 * ROUNDS):
        stored = chance.choice(LAYOUTS)(np.random.default_rng(SEED))
        name = stored.write(path)
        whole = bytearray(path.read_bytes())
        if chance.random() < 0.2:
            del whole[chance.randrange(len(whole)) :]
        else:
            at = chance.randrange(8 + int.from_bytes(whole[:8], "little"))
            whole[at] = chance.choice([whole[at] ^ 1 << chance.randrange(8), chance.randrange(256)])
        path.write_bytes(whole)
        try:
            with Table(name, Setting(decode_as="float32", codec=stored.given)) as table:
                table.take(np.arange(min(table.shape[0], 50)))
                outcomes.add("ok")
        except TableError as error:
            outcomes.add(error.status)
    assert {"ok", "file_malformed", "name_not_found"} <= outcomes
    assert outcomes <= {"ok", "file_malformed", "name_not_found", "shape_mismatch", "type_mismatch", "unsupported", "usage",
                        "rank_mismatch", "overflow"}, outcomes  # fmt: skip


@pytest.mark.parametrize("maker, name, dtype, shape, text", [
    (mxfp4, "w_blocks", "U8", (40, 3, 4, 8), "needs a last length of 16"),
    (mxfp4, "w_blocks", "U8", (240, 16), "needs rank 3 or more"),
    (nvfp4, "a.weight", "U8", (40, 12), "needs a last length that is a multiple of 8"),
    (nvfp4, "a.weight", "U8", (20, 96), "needs [20, 12]"),
    (mlx4, "d.weight", "U32", (40, 2), "needs a last length that divides the words of a row"),
])
def test_misshaped_codes(tmp_path, maker, name, dtype, shape, text):
    stored = maker(np.random.default_rng(SEED))
    size = int(np.prod(shape)) * {"U8": 1, "U32": 4}[dtype]
    stored.tensors[name] = dtype, shape, bytes(size)
    if maker is mxfp4 and len(shape) == 4:
        stored.tensors["w_scales"] = part(np.zeros(shape[:-1], np.uint8))
    if maker is mlx4:
        stored.tensors |= {side: part(np.zeros((40, 3), np.float16)) for side in ("d.scales", "d.biases")}
    error = refusal(stored, tmp_path / "x.safetensors")
    assert error.status == "shape_mismatch" and text in str(error), str(error)


def test_packed_rows_have_two_dimensions(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 3, 20), np.uint8))
    with pytest.raises(TableError, match="needs rank 2") as error:
        Table(tmp_path / "x.npy", Setting(decode_as="float32", codec="rowwise8"))
    assert error.value.status == "shape_mismatch"
