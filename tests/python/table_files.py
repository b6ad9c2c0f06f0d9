# SPDX-License-Identifier: MIT
#
# table_files.py: files with tables for the tests: every dtype that NumPy can write, as .npy and as raw bytes.
"""Tables in files."""
from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

from arrays import DTYPES, REGISTERED, raw

ENGINES = ["auto", "mmap", "pread", "uring"]
ROWS, INNER = 37, (3, 2)
LESS_THAN_A_BYTE = [dtype for dtype in REGISTERED if dtype.name.lstrip("u")[:4] in ("int4", "int2", "int1") or "float4" in dtype.name
                    or "float6" in dtype.name]
RAW_DTYPES = [dtype for dtype in DTYPES if dtype not in LESS_THAN_A_BYTE]
NPY_DTYPES = [dtype for dtype in DTYPES if dtype not in REGISTERED]


def table_of(dtype: np.dtype, shape: tuple = (ROWS, *INNER), seed: int = 1) -> np.ndarray:
    """Random bytes; of bool, str and dates what they can be."""
    random = np.random.default_rng(seed)
    array = np.frombuffer(bytearray(random.bytes(int(np.prod(shape)) * dtype.itemsize)), np.dtype(("V", dtype.itemsize)))
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind == "U":
        return random.choice(["", "a", "zß", "\U0001f600x"], shape).astype(dtype)
    return array.view(dtype).reshape(shape)


def same(result: np.ndarray, wanted: np.ndarray) -> bool:
    """Type, byte order, shape, class and every byte."""
    return (type(result) is np.ndarray and result.dtype == wanted.dtype and result.shape == wanted.shape
            and raw(result).tobytes() == raw(wanted).tobytes())


def rows_of(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Every byte of x[ids]: of structures NumPy may leave the gaps out."""
    return raw(x)[ids].view(x.dtype).reshape(np.shape(ids) + x.shape[1:])


def save(folder: Path, array: np.ndarray, name: str = "table.npy") -> str:
    path = folder / name
    np.save(path, array)
    return str(path)


def save_raw(folder: Path, array: np.ndarray, before: bytes = b"", name: str = "table.raw") -> str:
    path = folder / name
    path.write_bytes(before + raw(array).tobytes())
    return str(path)


def save_safetensors(path: Path, tensors: dict[str, tuple[str, np.ndarray]]) -> str:
    """As the format has it: a JSON header, then the elements. Each tensor comes with the format's name of its type."""
    header, data = {}, b""
    for name, (kind, array) in tensors.items():
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += raw(array).tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return str(path)


def save_gguf(path: Path, name: str, kind: int, shape: tuple, data: bytes) -> str:
    """One tensor, of GGUF's type number `kind`; shape as NumPy has it, in elements."""
    text = name.encode()
    head = b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, len(text)) + text
    head += struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, 0)
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return str(path)
