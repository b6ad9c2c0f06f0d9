# SPDX-License-Identifier: MIT
"""Tables quantised and written by the packages that define the layouts: bitsandbytes and PyTorch; their own decoders are the judge."""

from __future__ import annotations

import os

import numpy as np
import pytest
from support.skip import skip_test
from tables import Setting, Table, engines

SEED = int(os.environ.get("GATHER_TEST_SEED", 1))


def package(name: str):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        skip_test(name, "the package is not installed")


def save(path, tensors) -> None:
    package("safetensors.torch").save_file({name: t.contiguous() for name, t in tensors.items()}, path)


def bits(tensor) -> np.ndarray:
    """The bits of a tensor of floats."""
    torch = package("torch")
    kinds = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}
    return tensor.contiguous().view(kinds[tensor.dtype]).numpy()


def compare(path, want, kind: str, codec: str = "") -> None:
    """All rows and some, by each engine: bit for bit."""
    want = bits(want)
    ids = np.random.default_rng(SEED).integers(-len(want), len(want), 300)
    for engine in engines():
        with Table(path, Setting(engine, decode_as=kind, codec=codec)) as table:
            assert table.shape == want.shape
            for take in (np.arange(len(want)), ids):
                rows = table.take(take)[0].reshape(-1).view(want.dtype).reshape(len(take), *want.shape[1:])
                assert np.array_equal(rows, want[take]), (engine, kind)


@pytest.mark.parametrize("nested", [False, True], ids=["plain", "nested"])
@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("block, length", [(64, 192), (64, 90), (128, 128), (256, 4096), (64, 2)])
def test_bitsandbytes(tmp_path, kind, block, length, nested):
    torch, functional = package("torch"), package("bitsandbytes.functional")
    torch.manual_seed(SEED)
    for dtype in ("float32", "bfloat16", "float16"):
        table = torch.randn(257, length, dtype=getattr(torch, dtype))
        codes, state = functional.quantize_4bit(table, blocksize=block, quant_type=kind, compress_statistics=nested)
        shape, described = state.shape, state.as_dict(packed=True)
        if length % block:  # its kernel for CPUs begins such rows with the wrong block (docs/extend/readings.md): as one row
            state.shape = torch.Size([1, table.numel()])
        want = functional.dequantize_4bit(codes, state).reshape(shape)
        if kind == "fp4":  # code 8: its vector code has +0, its scalar code -0 (docs/extend/readings.md)
            want = want + 0
        packed = {f"emb.weight.{name}": t for name, t in described.items()}
        save(tmp_path / "x.safetensors", {"emb.weight": codes, **packed})
        compare(f"{tmp_path}/x.safetensors:emb.weight", want, dtype)


@pytest.mark.parametrize("width", [8, 4, 2])
def test_rowwise(tmp_path, width):
    """What FBGEMM and torch call row-wise: the codes of a row, then its scale and its bias."""
    torch = package("torch")
    torch.manual_seed(SEED)
    name = {8: "byte", 4: "4bit", 2: "2bit"}[width]
    table = torch.randn(300, 64) * torch.rand(300, 1) * 5
    packed = getattr(torch.ops.quantized, f"embedding_bag_{name}_prepack")(table)
    save(tmp_path / "x.safetensors", {"emb": packed})
    want = getattr(torch.ops.quantized, f"embedding_bag_{name}_unpack")(packed)
    compare(f"{tmp_path}/x.safetensors:emb", want, "float32", f"rowwise{width}")


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float16"])
def test_float8(tmp_path, kind):
    torch = package("torch")
    torch.manual_seed(SEED)
    codes = torch.randn(300, 200).to(torch.float8_e4m3fn)
    blocks = torch.rand(3, 2) + 0.01
    each = blocks.repeat_interleave(128, 0)[:300].repeat_interleave(128, 1)[:, :200]
    path = f"{tmp_path}/x.safetensors:w.weight"
    for scale, name, wide in [(blocks, "weight_scale_inv", each), (torch.rand(300, 1), "weight_scale", None),
                              (torch.rand(300), "weight_scale", None), (torch.rand(()), "weight_scale", None),
                              (torch.rand(300, 1).bfloat16(), "weight_scale", None)]:  # fmt: skip
        save(tmp_path / "x.safetensors", {"w.weight": codes, f"w.{name}": scale})
        wide = scale.float().reshape(-1, 1) if wide is None else wide
        compare(path, (codes.float() * wide).to(getattr(torch, kind)), kind)
