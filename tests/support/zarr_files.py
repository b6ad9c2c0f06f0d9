# SPDX-License-Identifier: MIT
"""Zarr stores, written byte by byte: directories of version 2, and of version 3 with and without shards."""
import gzip
import itertools
import json
import struct
import zlib
from pathlib import Path

import numpy as np

MISSING = 2**64 - 1
COMPRESSORS = {None: lambda data: data, "zlib": zlib.compress, "gzip": gzip.compress}


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def grid(shape, chunk) -> itertools.product:
    """The numbers of the chunks that a shape has."""
    return itertools.product(*(range(-(-length // of)) for length, of in zip(shape, chunk, strict=True)))


def box(array: np.ndarray, at, chunk) -> np.ndarray:
    """A chunk, whole: what is behind the array has other bytes than any element."""
    whole = np.frombuffer(b"\xee" * int(np.prod(chunk)) * array.itemsize, array.dtype).reshape(chunk).copy()
    part = array[tuple(slice(i * of, (i + 1) * of) for i, of in zip(at, chunk, strict=True))]
    whole[tuple(slice(0, length) for length in part.shape)] = part
    return whole


def put(folder: Path, name: str, content) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def described_2(array: np.ndarray, chunks, /, **changes) -> dict:
    made = {"zarr_format": 2, "shape": list(array.shape), "chunks": list(chunks), "dtype": array.dtype.str, "compressor": None,
            "filters": None, "fill_value": 0, "order": "C"}
    return {key: value for key, value in {**made, **changes}.items() if value is not ...}


def write_2(folder: Path, array: np.ndarray, chunks, compressor: str | None = None, left_out=(), **changes) -> dict:
    """left_out: numbers of chunks that are not stored."""
    described = described_2(array, chunks, **{"compressor": compressor and {"id": compressor}, **changes})
    put(folder, ".zarray", described)
    for number, at in enumerate(grid(array.shape, chunks)):
        if number not in left_out:
            key = described.get("dimension_separator", ".").join(map(str, at)) or "0"
            put(folder, key, COMPRESSORS[compressor](box(array, at, chunks).tobytes(described["order"])))
    return described


def codecs_of(array: np.ndarray, compressor: str | None = None, order=None, sums: bool = False) -> list[dict]:
    endian = {"configuration": {"endian": "big" if array.dtype.str[0] == ">" else "little"}} if array.itemsize > 1 else {}
    return [*([{"name": "transpose", "configuration": {"order": list(order)}}] if order else []), {"name": "bytes", **endian},
            *([{"name": compressor, "configuration": {"level": 1}}] if compressor else []), *([{"name": "crc32c"}] if sums else [])]


def encoded(array: np.ndarray, compressor: str | None, order, sums: bool) -> bytes:
    data = COMPRESSORS[compressor](np.transpose(array, order).tobytes() if order else array.tobytes())
    return data + struct.pack("<I", crc32c(data)) if sums else data


def shard_of(array: np.ndarray, chunk, encode, absent=(), at_start: bool = False, sums: bool = True) -> bytes:
    """A shard with all of an array's chunks but those absent; they are stored in the reverse order."""
    numbers = list(grid(array.shape, chunk))
    entries, data, before = {}, b"", (16 * len(numbers) + 4 * sums) * at_start
    for number in reversed(range(len(numbers))):
        if number in absent:
            continue
        stored = encode(box(array, numbers[number], chunk))
        entries[number] = (before + len(data), len(stored))
        data += stored
    index = b"".join(struct.pack("<QQ", *entries.get(number, (MISSING, MISSING))) for number in range(len(numbers)))
    index += struct.pack("<I", crc32c(index)) if sums else b""
    return index + data if at_start else data + index


def described_3(array: np.ndarray, chunks, codecs, /, **changes) -> dict:
    made = {"zarr_format": 3, "node_type": "array", "shape": list(array.shape), "data_type": array.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": codecs, "attributes": {"any": [1, {"x": None}]}}
    return {key: value for key, value in {**made, **changes}.items() if value is not ...}


def write_3(folder: Path, array: np.ndarray, chunks, shards=None, compressor: str | None = None, order=None, sums: bool = False,
            left_out=(), at_start: bool = False, index_sums: bool = True, **changes) -> dict:
    """left_out: numbers of chunks, with shards of shards, that are not stored; of every shard the second chunk is not, either."""
    codecs = codecs_of(array, compressor, order, sums)
    outer = shards or chunks
    if shards:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, *([{"name": "crc32c"}] if index_sums else [])]
        codecs = [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": list(chunks), "codecs": codecs, "index_codecs": index, **({"index_location": "start"} if at_start else {})}}]
    described = described_3(array, outer, codecs, **changes)
    put(folder, "zarr.json", described)
    keys = described["chunk_key_encoding"]
    default = keys["name"] == "default"
    separator = keys.get("configuration", {}).get("separator", "/" if default else ".")
    for number, at in enumerate(grid(array.shape, outer)):
        if number in left_out:
            continue
        whole = box(array, at, outer)
        data = (shard_of(whole, chunks, lambda part: encoded(part, compressor, order, sums), (1,), at_start, index_sums) if shards
                else encoded(whole, compressor, order, sums))
        put(folder, separator.join(["c"] * default + list(map(str, at))) or "0", data)
    return described


def filled(array: np.ndarray, outer, left_out, fill, chunks=None) -> np.ndarray:
    """What is read of an array of which these chunks are not stored; chunks: those of shards."""
    made = array.copy()
    for number, at in enumerate(grid(array.shape, outer)):
        part = made[tuple(slice(i * of, (i + 1) * of) for i, of in zip(at, outer, strict=True))]
        if number in left_out:
            part[...] = fill
        elif chunks and len(list(grid(outer, chunks))) > 1:
            inner = list(grid(outer, chunks))[1]
            part[tuple(slice(i * of, (i + 1) * of) for i, of in zip(inner, chunks, strict=True))] = fill
    return made
