# SPDX-License-Identifier: MIT
"""The corpus of fuzz_zarr.c, for make_corpus.py: a byte for the version, a description, and the index of a shard behind a zero byte."""
import json
import struct


BASE_2 = {"zarr_format": 2, "shape": [6, 3], "chunks": [4, 3], "dtype": "<f4", "compressor": None, "filters": None, "fill_value": 0,
    "order": "C"}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
BASE_3 = {"zarr_format": 3, "node_type": "array", "shape": [6, 3], "data_type": "float32",
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 3]}}, "chunk_key_encoding": {"name": "default"},
          "fill_value": 0, "codecs": [BYTES]}
CHANGES_2 = [
    {}, {"dtype": ">i2", "fill_value": -1}, {"dtype": "|S3", "fill_value": "YWI="}, {"dtype": "<U2", "fill_value": "\u20ac"},
        {"dtype": "<M8[ns]"},
    {"dtype": "<c8", "fill_value": [1, "NaN"]}, {"dtype": "|b1", "fill_value": True}, {"dtype": "|O"}, {"dtype": [["a", "<i4"]]},
    {"compressor": {"id": "blosc", "cname": "lz4"}, "filters": [{"id": "shuffle", "elementsize": 4}, {"id": "delta", "dtype": "<f4"}]},
    {"order": "F", "dimension_separator": "/", "fill_value": "-Infinity"}, {"shape": [], "chunks": []}, {"shape": [0, 3]},
        {"chunks": [2**40, 2**40]},
    {"shape": [2**62, 2**62]}, {"fill_value": 2**64 - 1, "dtype": "<u8"}, {"x": [[[]]]},
]


def shards(chunk, **changes) -> dict:
    return {"name": "sharding_indexed", "configuration": {"chunk_shape": chunk, "codecs": [BYTES], "index_codecs": [BYTES,
        {"name": "crc32c"}], **changes}}


CHANGES_3 = [
    {}, {"data_type": "bfloat16", "fill_value": "0x7fc0"}, {"data_type": "r16", "fill_value": [1, 2]}, {"data_type": {"name": "string"}},
    {"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, BYTES, {"name": "zstd"}, {"name": "crc32c"}]},
    {"codecs": [shards([2, 3])]}, {"codecs": [shards([1, 1], index_location="start", index_codecs=[BYTES])]}, {"codecs": [shards([3, 3])]},
    {"codecs": [shards([2, 3], codecs=[shards([1, 1])])]}, {"new": {"must_understand": False}}, {"new": 1}, {"storage_transformers": [1]},
    {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}},
        {"shape": [], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}}},
    {"codecs": [shards([2, 3], index_codecs=[BYTES])]},
]


def zarr_files() -> list[bytes]:
    index = b"\0" + b"".join(struct.pack("<QQ", *entry) for entry in [(0, 24), (2**64 - 1, 2**64 - 1), (4090, 7), *[(0, 1)] * 9]) + bytes(4)
    files = [b"2" + json.dumps({**BASE_2, **changes}).encode() for changes in CHANGES_2]
    files += [b"3" + json.dumps({**BASE_3, **changes}).encode() + index for changes in CHANGES_3]
    return [*files, b"", b"2", b"3{", b"3" + b"[" * 40]
