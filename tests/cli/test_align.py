# SPDX-License-Identifier: MIT
"""--align: the elements begin at a block of the disk, other readers read the files, and rows are in fewer blocks."""

import json
import struct

import numpy as np
import pytest
from tables import make_cold

RNG = np.random.default_rng(17)
FORMATS = ["npy", "safetensors", "raw"]


def offset_of(gather, name: str) -> int:
    return 0 if name.endswith("raw") else gather.json("info", name)["tensors"][0]["offset"]


def load(gather, name: str, like: np.ndarray) -> np.ndarray:
    """By NumPy, and by the packages of the formats."""
    path = gather.folder / name
    if name.endswith("raw"):
        return np.fromfile(path, like.dtype).reshape(like.shape)
    if name.endswith("npy"):
        assert np.array_equal(np.load(path, mmap_mode="r"), np.load(path))
        return np.load(path)
    length = struct.unpack("<Q", path.read_bytes()[:8])[0]
    header = json.loads(path.read_bytes()[8 : 8 + length])
    assert header["data"]["data_offsets"] == [0, like.nbytes]
    try:
        from safetensors.numpy import load_file
    except ImportError:
        return np.frombuffer(path.read_bytes()[8 + length :], like.dtype).reshape(like.shape)
    return load_file(path)["data"]


@pytest.mark.parametrize("align", [1, 2, 64, 512, 4096, 8192])
@pytest.mark.parametrize("form", FORMATS)
def test_other_readers_read_it(gather, form, align):
    data = RNG.random((60, 33)).astype(np.float32)
    gather.save("x.npy", data)
    assert gather("take", "x.npy", "[5,1,1,59]", "-o", f"o.{form}", "--align", align).code == 0
    assert offset_of(gather, f"o.{form}") % align == 0
    assert np.array_equal(load(gather, f"o.{form}", data[:4]), data[[5, 1, 1, 59]])
    assert gather("shuffle", "x.npy", "-o", f"s.{form}", "--seed", 3, "--align", align).code == 0
    assert offset_of(gather, f"s.{form}") % align == 0
    assert np.array_equal(load(gather, f"s.{form}", data), gather.result("shuffle", "x.npy", "--seed", 3))


def test_without_it_the_bytes_are_as_before(gather):
    data = RNG.random((9, 5))
    gather.save("x.npy", data)
    assert gather("take", "x.npy", "[0,1,2,3,4,5,6,7,8]", "-o", "o.npy").code == 0
    assert (gather.folder / "o.npy").read_bytes() == (gather.folder / "x.npy").read_bytes()
    assert gather("take", "x.npy", "[0]", "-o", "-", "--align", "4KiB").code == 0


@pytest.mark.parametrize("command", [("elements", "[[0,1,2]]"), ("nd", "[[1],[2]]")])
def test_other_commands(gather, command):
    gather.save("x.npy", np.arange(12.0).reshape(4, 3))
    assert gather(command[0], "x.npy", command[1], "-o", "o.safetensors", "--align", "4096").code == 0
    assert offset_of(gather, "o.safetensors") == 4096


@pytest.mark.parametrize("width", [512, 1024, 4096, 8192, 3000])
def test_blocks_of_rows(gather, width):
    """The bytes read for scattered rows are those of the arithmetic in docs/use/tables.md."""
    rows = 4000 * 4096 // width
    data = RNG.integers(0, 256, (rows, width), np.uint8)
    gather.save("x.npy", data)
    ids = np.arange(7, rows, max(11, 40960 // width * 3))[::-1]
    gather.save("i.npy", ids)
    for align in (None, 4096):
        options = () if align is None else ("--align", align)
        assert gather("shuffle", "x.npy", "-o", "s.npy", "-f", "--seed", 1, *options).code == 0
        offset = offset_of(gather, "s.npy")
        make_cold(gather.folder / "s.npy")
        answer = gather.json("take", "s.npy", "i.npy", "-o", "o.npy", "-f", "--engine", "pread")
        blocks = sum((offset + (i + 1) * width - 1) // 4096 - (offset + i * width) // 4096 + 1 for i in ids.tolist())
        assert answer["table"]["reads"] == len(ids) and answer["table"]["bytes_read"] == blocks * 4096
        if align and (4096 % width == 0 or width % 4096 == 0):
            assert blocks == len(ids) * max(1, width // 4096)
        if not align and width % 4096 == 0:
            assert blocks == len(ids) * (width // 4096 + 1)


@pytest.mark.parametrize(
    ("shape", "dtype", "align", "padded"),
    [
        ((3000,), "u1", 4096, 4096),
        ((750,), "<f4", 4096, 4096),
        ((5000,), "u1", 4096, 8192),
        ((300,), "u1", 4096, 512),
        ((1024,), "<f4", 4096, 4096),
        ((64,), "<f4", 4096, 256),
        ((8,), "V12", 64, 192),
        ((2, 3, 700), "u1", 512, 4608),
        ((4, 250), "<f4", 4096, 4096),
        ((5, 0), "<f4", 4096, 0),
    ],
)
@pytest.mark.parametrize("memory", [(), ("--memory", "4MiB")])
def test_padded_rows(gather, shape, dtype, align, padded, memory):
    """Zeros at the end of the last axis, until rows divide a block or are a multiple of it."""
    dtype = np.dtype(dtype)
    data = np.frombuffer(RNG.bytes(200 * int(np.prod(shape)) * dtype.itemsize), dtype).reshape(200, *shape)
    gather.save("x.npy", data)
    ids = RNG.integers(-200, 200, (11, 70))
    gather.save("i.npy", ids)
    answer = gather.json("take", "x.npy", "i.npy", "-o", "o.npy", "--align", align, "--pad-rows", *memory)
    out, row = gather.load("o.npy"), data[0].nbytes
    assert out[0, 0].nbytes == padded and answer["bytes"] == out.nbytes and out.dtype == dtype
    assert out[..., : shape[-1]].tobytes() == data[ids].tobytes()
    assert not any(out[..., shape[-1] :].tobytes())
    assert gather.json("info", "o.npy")["tensors"][0]["offset"] % align == 0
    assert answer.get("padding") == (None if padded == row else {"row_bytes": row, "padded_bytes": padded})
    if padded != row:
        text = gather("take", "x.npy", "i.npy", "-o", "o.npy", "-f", "--align", align, "--pad-rows").text
        assert f"770 indices; rows padded with zeros from {row} to {padded} bytes\n" in text
        assert gather("shuffle", "o.npy", "-o", "s.npy", "--align", align).code in (0, 2)
