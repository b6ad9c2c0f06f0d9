# SPDX-License-Identifier: MIT
"""The corpus of fuzz_filter.c, for make_corpus.py: streams of each filter. What has no encoder in the standard library is not compressed:
one run of literals, or a block that says so."""
import gzip
import pathlib
import re
import struct
import zlib

RAW = bytes(i * 7 + i // 37 & 255 for i in range(600))
LONG = len(RAW).to_bytes(8, "little")
TABLE = pathlib.Path(__file__).parents[2] / "src/io/filter/filter.def"
KINDS = {name: i for i, name in enumerate(re.findall(r"^GATHER_FILTER\((\w+),", TABLE.read_text(), re.M))}


def lz4_block(data: bytes) -> bytes:
    left = len(data) - 15
    return bytes([min(len(data), 15) << 4]) + (b"\xff" * (left // 255) + bytes([left % 255]) if left >= 0 else b"") + data


def lz4_frame(data: bytes) -> bytes:
    """One block that is not compressed; the checksum of this header is 0x73."""
    return b"\x04\x22\x4d\x18\x60\x40\x82" + struct.pack("<I", len(data) | 1 << 31) + data + bytes(4)


def zstd_frame(data: bytes) -> bytes:
    return b"\x28\xb5\x2f\xfd\0\x58" + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def lzf(data: bytes) -> bytes:
    return b"".join(bytes([len(data[at:at + 32]) - 1]) + data[at:at + 32] for at in range(0, len(data), 32))


def blosc(flags: int, item: int, block: int, streams: int, data: bytes = RAW) -> bytes:
    """Blocks of LZ4 in so many streams each."""
    parts = []
    for at in range(0, len(data), block):
        part = data[at:at + block]
        count = streams if len(part) == block else 1
        wide = len(part) // count
        parts.append(b"".join(struct.pack("<I", len(one)) + one for one in (lz4_block(part[i * wide:(i + 1) * wide]) for i in range(count))))
    first = 16 + 4 * len(parts)
    starts = [first + sum(map(len, parts[:i])) for i in range(len(parts))]
    body = struct.pack(f"<{len(parts)}I", *starts) + b"".join(parts)
    return struct.pack("<4B3I", 2, 1, flags, item, len(data), block, 16 + len(body)) + body


def stream(stored: bytes, *filters, raw: int = len(RAW), skipped: int = 0) -> bytes:
    """filters: (kind, bytes of an element, value)."""
    described = b"".join(bytes([KINDS[kind], *(item - 1 for item in rest[:1]), *rest[1:]]).ljust(3, b"\0") for kind, *rest in filters)
    return bytes([len(filters)]) + described.ljust(9, b"\0") + struct.pack("<HB", raw, skipped) + stored


def filter_streams() -> list[bytes]:
    blocks = [RAW[at:at + 256] for at in range(0, 600, 256)]
    in_hdf5 = struct.pack(">QI", 600, 256) + b"".join(struct.pack(">I", len(lz4_block(b))) + lz4_block(b) for b in blocks)
    bits = [RAW[at:at + 160] for at in range(0, 576, 160)]  # 16 elements of 4 bytes at a time are not needed: any bytes are some elements
    shuffled = struct.pack(">QI", 600, 160) + b"".join(struct.pack(">I", len(lz4_block(b))) + lz4_block(b) for b in bits) + RAW[576:]
    summed = RAW + struct.pack("<I", 0)
    made = [
        stream(RAW), stream(zlib.compress(RAW), ("DEFLATE",)), stream(zlib.compress(RAW, 0), ("DEFLATE",)),
        stream(gzip.compress(RAW, mtime=0), ("GZIP",)), stream(zstd_frame(RAW), ("ZSTD",)), stream(lzf(RAW), ("LZF",)),
        stream(struct.pack("<I", 600) + lz4_block(RAW), ("LZ4_SIZED",)), stream(in_hdf5, ("LZ4_HDF5",)),
        stream(summed, ("FLETCHER32",)), stream(summed, ("CRC32C",)), stream(summed, ("CRC32C",), skipped=1),
        stream(LONG + zstd_frame(RAW), ("ARROW_ZSTD",)), stream(LONG + lz4_frame(RAW), ("ARROW_LZ4",)),
        stream(b"\xff" * 8 + RAW, ("ARROW_LZ4",)), stream(RAW, ("BITSHUFFLE", 4, 1)), stream(RAW, ("BITSHUFFLE", 4, 1 | 1 << 6)),
        stream(shuffled, ("BITSHUFFLE", 4, 2)), *(stream(RAW, ("DELTA", 1, i)) for i in range(4)),
        stream(blosc(1 | 0x10 | 1 << 5, 4, 256, 1), ("BLOSC",)), stream(blosc(4 | 0x10 | 1 << 5, 2, 256, 1), ("BLOSC",)),
        stream(blosc(1 | 1 << 5, 2, 256, 2), ("BLOSC",)), stream(struct.pack("<4B3I", 2, 1, 2, 4, 600, 600, 616) + RAW, ("BLOSC",)),
        stream(zlib.compress(RAW), ("SHUFFLE", 8), ("DEFLATE",)), stream(zlib.compress(RAW), ("DELTA", 1, 2), ("SHUFFLE", 4), ("DEFLATE",)),
        stream(zlib.compress(RAW), ("SHUFFLE", 4), ("DEFLATE",), raw=599), stream(RAW, ("SHUFFLE", 4), skipped=1), stream(b"", ("DEFLATE",), raw=0),
    ]
    return made
