# SPDX-License-Identifier: MIT
"""wheel_chunks.py FOLDER: writes one table in the ways that the libraries inside a wheel decompress, and prints their names; for
script/wheels.py, script/wheels-cross and script/release-archives. wanted.bin has the bytes of rows 63 and 2. Standard library only.
"""

import base64
import gzip
import json
import struct
import sys
import zlib
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests/support"))
from arrow_files import arrow_file, chunk, fixed_list, integer

SHAPE = (64, 4)
TABLE = [[i**2 % 61 % 17 for i in range(row * 4, row * 4 + 4)] for row in range(64)]
ROWS = [63, 2]


def bytes_of(rows: list[list[int]]) -> bytes:
    return b"".join(struct.pack("<4h", *row) for row in rows)


RAW = bytes_of(TABLE)
# The table's bytes as a frame of Zstandard, whose literals are Huffman codes, and as a block of LZ4.
ZSTD = base64.b85decode("D77#BU;qK_0RS=w3<VJQavoE`5q;0l6$Q(ls~VEGrJ1^<3AXFnf+p#vX4y`L>Uy#)iISq|hUbfp-~s>!`%oc_+z<r")
LZ4 = base64.b85decode("@lF5$0RRL52>=iP2mk^A4*&xI0{{g82>=BE4FC-Q2mlNK3jhKD1poj54gdxK2LK8H4*&%K2LJ&84gd@Q3;+%Q0RRU81pp5K3IGQH1^^BK"
                       "000F50sspD3;+m300K?`09XL;4*&uH2mlZO2>=8D0RVac|8GzL1po;E")
LZ4_FRAME = bytes.fromhex("04224d18604082") + struct.pack("<I", len(LZ4)) + LZ4 + bytes(4)


def zarr_2(compressor: str, content: bytes) -> dict[str, bytes]:
    described = {"zarr_format": 2, "shape": SHAPE, "chunks": SHAPE, "dtype": "<i2", "compressor": {"id": compressor}, "filters": None,
                 "fill_value": 0, "order": "C"}
    return {".zarray": json.dumps(described).encode(), "0.0": content}


def zarr_3(compressor: str, content: bytes) -> dict[str, bytes]:
    described = {"zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "int16",
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHAPE}}, "chunk_key_encoding": {"name": "default"},
                 "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                                             {"name": compressor, "configuration": {"level": 1}}]}
    return {"zarr.json": json.dumps(described).encode(), "c/0/0": content}


def arrow(method: int, frame: bytes) -> bytes:
    """A column of lists of 4, of one batch."""
    batch = chunk(struct.pack("<q", len(RAW)) + frame, rows=64)
    batch.nodes, batch.buffers = [(64, 0), (256, 0)], [b"", *batch.buffers]
    batch.compression = method
    return arrow_file([fixed_list("rows", 4, integer("item", 16))], [batch])


FILES = {
    "zlib.zarr": zarr_2("zlib", zlib.compress(RAW)),
    "gzip.zarr": zarr_3("gzip", gzip.compress(RAW)),
    "zstd.zarr": zarr_3("zstd", ZSTD),
    "lz4.zarr": zarr_2("lz4", struct.pack("<I", len(RAW)) + LZ4),
    "zstd.arrow": {"": arrow(1, ZSTD)},
    "lz4.arrow": {"": arrow(0, LZ4_FRAME)},
}


def write(folder: Path) -> list[Path]:
    for name, files in FILES.items():
        for inner, content in files.items():
            path = folder / name / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    (folder / "wanted.bin").write_bytes(bytes_of([TABLE[row] for row in ROWS]))
    return [folder / name for name in FILES]


if __name__ == "__main__":
    print(*(path.name for path in write(Path(sys.argv[1]))), sep="\n")
