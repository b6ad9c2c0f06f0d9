# SPDX-License-Identifier: MIT
"""The files that the .test files name, and the host."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from support.skip import skip_test
from table_files import save_gguf, save_safetensors  # noqa: F401  (of tests/python)


def host():
    """The module duckdb, with libgather's extension at hand; skips the test without it."""
    try:
        import duckdb
    except ImportError:
        skip_test("duckdb", "the Python package duckdb is not installed")
    import libgather.duckdb

    try:
        libgather.duckdb.extension_path()
    except FileNotFoundError as error:
        skip_test("duckdb", str(error))
    return duckdb


@pytest.fixture
def connection():
    host()
    import libgather.duckdb

    with libgather.duckdb.connect() as opened:
        yield opened


def write_npy(folder: Path) -> None:
    """emb: 10 rows of 4; others by their types."""
    np.save(folder / "emb.npy", np.arange(40, dtype=np.float32).reshape(10, 4) / 4)
    np.save(folder / "cube.npy", np.arange(24, dtype=np.int64).reshape(4, 3, 2) - 5)
    np.save(folder / "scalars.npy", np.arange(7, dtype=">f8") / 3)
    np.save(folder / "half.npy", np.array([[0.5, -2, np.inf], [65504, 6e-8, np.nan]], np.float16))
    np.save(folder / "unsigned.npy", np.array([[2**64 - 1, 0], [1, 2]], np.uint64))
    np.save(folder / "flags.npy", np.array([[True, False], [False, True]]))
    np.save(folder / "complex.npy", np.array([[1 + 2j, -3j]], np.complex64))
    np.save(folder / "words.npy", np.array([["a", "zß"], ["", "\U0001f600x"]]))
    np.save(folder / "bytes.npy", np.array([[b"a", b"bcd"], [b"", b"\xff"]]))
    np.save(folder / "empty.npy", np.zeros((0, 4), np.float32))
    np.save(folder / "narrow.npy", np.zeros((3, 0), np.float32))
    np.save(folder / "zero_d.npy", np.float32(1))
    np.save(folder / "long.npy", np.arange(40000, dtype=np.int16).reshape(2, 20000))


def write_others(folder: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    bfloat = (x.view(np.uint32) >> 16).astype(np.uint16)
    save_safetensors(folder / "model.safetensors", {"emb": ("F32", x), "it's: odd": ("I32", x.astype(np.int32)),
                                                    "bf": ("BF16", bfloat), "f8": ("F8_E4M3", np.array([[56, 64], [126, 184]], np.uint8))})
    np.savez(folder / "two.npz", a=x, b=x.astype(np.int8))
    x.tofile(folder / "rows.raw")
    (folder / "q4.raw").write_bytes(bytes([0x21, 0x43, 0xF0, 0x8F]))
    block = struct.pack("<e", 0.5) + bytes(range(16))  # Q4_0: 32 codes of 4 bits, low halves first
    save_gguf(folder / "q.gguf", "w", 2, (2, 32), block * 2)
    shards = {"metadata": {}, "weight_map": {"emb": "model.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(shards))
    (folder / "text.txt").write_text("not a tensor\n")


def write_all(folder: Path) -> str:
    write_npy(folder)
    write_others(folder)
    return str(folder)
