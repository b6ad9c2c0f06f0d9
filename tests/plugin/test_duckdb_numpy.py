# SPDX-License-Identifier: MIT
"""The rows that SQL gets against NumPy: every dtype, every format, every kind of vector."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from duckdb_data import connection, save_safetensors  # noqa: F401
from table_files import save_raw

from support.quantised_files import MAKERS, NF4

ROWS, SHAPE = 257, (3, 5)
IDS = 2500  # of one query: more than a vector
FUNCTIONS = {"f": "take_row", "d": "take_row_double", "i": "take_row_bigint", "u": "take_row_ubigint"}
DTYPES = ["?", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c16"]
SMALL = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"]
SAFETENSORS = {"?": "BOOL", "i1": "I8", "u1": "U8", "<i2": "I16", "<u2": "U16", "<i4": "I32", "<i8": "I64", "<u8": "U64", "<f2": "F16",
               "<f4": "F32", "<f8": "F64", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
               "float8_e8m0fnu": "F8_E8M0"}  # fmt: skip


def dtype_of(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name)) if name in SMALL else np.dtype(name)


def table_of(name: str, seed: int) -> np.ndarray:
    """Random bytes, so that every value occurs, NaN and infinities too."""
    dtype = dtype_of(name)
    random = np.random.default_rng(seed)
    if name == "?":
        return random.integers(0, 2, (ROWS, *SHAPE)).astype(bool)
    memory = bytearray(random.bytes(ROWS * int(np.prod(SHAPE)) * dtype.itemsize))
    return np.frombuffer(memory, dtype).reshape(ROWS, *SHAPE)


def widened(x: np.ndarray) -> np.ndarray:
    """What the functions by type and rows() deliver, in this machine's byte order: a complex number is two."""
    if x.dtype.kind == "c":
        x = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("=")))
        return x.view(x.real.dtype).reshape(*x.shape, 2)
    if x.dtype.itemsize <= 2 and x.dtype.kind in "fV":
        return x.astype(np.float32)
    return x.astype(x.dtype.newbyteorder("="))


def functions_of(dtype: np.dtype) -> list[str]:
    """The functions whose type holds every value of a dtype."""
    if dtype.kind == "b":
        return ["take_row", "take_row_double", "take_row_bigint", "take_row_ubigint"]
    if dtype.kind in "iu":
        names = ["take_row"] * (dtype.itemsize <= 2) + ["take_row_double"] * (dtype.itemsize <= 4)
        names += ["take_row_bigint"] * (dtype.itemsize <= 4 or dtype.kind == "i")
        return names + ["take_row_ubigint"] * (dtype.kind == "u")
    return ["take_row_double"] + ["take_row"] * (dtype.itemsize == 4)


def same(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Equal numbers, NaN where NaN is, zeros of the same sign."""
    wanted = np.asarray(wanted)
    if wanted.dtype.kind != "f":
        return np.array_equal(found, wanted)
    return np.array_equal(found, wanted, equal_nan=True) and np.array_equal(np.signbit(found) & (found == 0), np.signbit(wanted) & (wanted == 0))


def check(connection, path: str, tensor: str, x: np.ndarray, options: str = "", count: int = IDS) -> int:
    """Every function for the type, with ids in no order and NULLs, and rows(). Returns how many rows were compared."""
    wanted = widened(x)
    i = np.arange(count)
    ids, null = (i * 7919 + 5) % len(x), i % 11 == 3
    connection.execute(f"CREATE OR REPLACE TEMP TABLE ids AS SELECT i, CASE WHEN i % 11 <> 3 THEN (i * 7919 + 5) % {len(x)} END AS id FROM range({count}) t(i)")
    names = functions_of(wanted.dtype)
    for name in names:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE taken AS SELECT i, {name}('{path}', '{tensor}', id, '{options}') AS v FROM ids")
        missing = connection.execute("SELECT i FROM taken WHERE v IS NULL ORDER BY i").fetchnumpy()["i"]
        found = connection.execute("SELECT unnest(v) AS e FROM (SELECT v FROM taken ORDER BY i)").fetchnumpy()["e"]
        assert np.array_equal(missing, np.flatnonzero(null)), (name, path, tensor)
        assert same(found.reshape(-1, *wanted.shape[1:]), wanted[ids[~null]]), (name, path, tensor)
    some = ids[:40].tolist()
    rows = connection.execute(f"FROM rows('{path}', '{tensor}', {some}, options => '{options}')").fetchall()
    assert [row[0] for row in rows] == some and same(np.array([row[1] for row in rows], wanted.dtype), wanted[some])
    return count * len(names) + len(some)


@pytest.mark.parametrize("name", DTYPES)
def test_npy(connection, tmp_path, name):  # noqa: F811
    np.save(tmp_path / "x.npy", table_of(name, 1))
    assert check(connection, tmp_path / "x.npy", "", table_of(name, 1)) >= IDS


@pytest.mark.parametrize("name", list(SAFETENSORS))
def test_safetensors(connection, tmp_path, name):  # noqa: F811
    x = table_of(name, 2)
    path = save_safetensors(tmp_path / "x.safetensors", {"a": ("U8", np.zeros(3, np.uint8)), "b": (SAFETENSORS[name], x)})
    check(connection, path, "b", x)


@pytest.mark.parametrize("name", SMALL + ["<f2", ">i4", "u1"])
def test_raw(connection, tmp_path, name):  # noqa: F811
    x = table_of(name, 3)
    path = save_raw(tmp_path, x, before=b"head...")
    kind = dtype_of(name).str if name not in SMALL else name
    check(connection, path, "", x, f"type={kind}, row=3x5, offset=7")


def test_raw_of_what_is_no_table(connection, tmp_path):  # noqa: F811
    """The text of a pointer is rows only if that is asked for."""
    text = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"
    (tmp_path / "x.bin").write_bytes(text)
    with pytest.raises(Exception, match="Git LFS pointer"):
        connection.execute(f"FROM rows('{tmp_path / 'x.bin'}', '', [0], options => 'type=uint8, row=8')").fetchall()
    x = np.frombuffer(text[: len(text) // 8 * 8], np.uint8).reshape(-1, 8)
    check(connection, tmp_path / "x.bin", "", x, "type=uint8, row=8, raw=true")
    with pytest.raises(Exception, match="raw files need"):
        connection.execute(f"FROM rows('{tmp_path / 'x.bin'}', '', [0], options => 'raw=true')").fetchall()


def test_fortran_order(connection, tmp_path):  # noqa: F811
    x = np.arange(60, dtype=np.int16).reshape(20, 3)
    np.save(tmp_path / "x.npy", np.asfortranarray(x))
    check(connection, tmp_path / "x.npy", "", x)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "int4", "uint4", "int2", "uint2", "float4_e2m1fn"])
def test_onnx(connection, tmp_path, name):  # noqa: F811
    """TensorProto, packed types included: rows of whole bytes."""
    kind = np.dtype(getattr(ml_dtypes, name, name))
    random = np.random.default_rng(4)
    x = random.integers(-2 if name.startswith(("i", "f", "b")) else 0, 2, (40, 4, 2)).astype(np.float32).astype(kind)
    (tmp_path / "x.pb").write_bytes(onnx.numpy_helper.from_array(x, "w").SerializeToString())
    plain = x.astype(np.float32 if "float" in name else np.int8 if name.startswith("i") else np.uint8)
    check(connection, tmp_path / "x.pb", "w", plain)


def unpacked(kind: str, memory: bytes) -> np.ndarray:
    """The elements of packed bytes, by what type.def says of each type."""
    data = np.frombuffer(memory, np.uint8).astype(np.uint32)
    if kind == "uint1":
        return np.unpackbits(data.astype(np.uint8))
    if kind == "nf4":
        return NF4[np.stack([data & 15, data >> 4], 1).ravel()]
    three = data.reshape(-1, 3)
    if kind == "uint3":
        pairs = np.stack([three[:, i // 4] >> (6 - i % 4 * 2) & 3 | (three[:, 2] >> (7 - i) & 1) << 2 for i in range(8)], 1)
        return pairs.ravel()
    if kind == "uint6":
        return np.stack([three[:, i // 2] >> (4 - i % 2 * 4) & 15 | (three[:, 2] >> (6 - i * 2) & 3) << 4 for i in range(4)], 1).ravel()
    words = three[:, 0] | three[:, 1] << 8 | three[:, 2] << 16
    codes = np.stack([words >> 6 * i & 63 for i in range(4)], 1).ravel().astype(np.uint8)
    return codes.view(getattr(ml_dtypes, kind)).astype(np.float32)


@pytest.mark.parametrize("kind, codes", [("uint3", 8), ("uint6", 4), ("uint1", 8), ("nf4", 2), ("float6_e2m3fn", 4), ("float6_e3m2fn", 4)])
def test_packed(connection, tmp_path, kind, codes):  # noqa: F811
    """Types that no other format of the tests has, as raw bytes: every code."""
    memory = np.random.default_rng(6).bytes(3 * codes * 64)
    (tmp_path / "x.raw").write_bytes(memory)
    x = unpacked(kind, memory)
    check(connection, tmp_path / "x.raw", "", x.astype(np.uint8 if kind[0] == "u" else np.float32).reshape(-1, codes), f"type={kind}, row={codes}")


def test_vectors(connection, tmp_path):  # noqa: F811
    """Constant, filtered, joined, sorted and repeated ids; 100,000 rows by several threads."""
    x = np.random.default_rng(7).random((5000, 8), np.float32)
    np.save(tmp_path / "x.npy", x)
    connection.execute("SET threads = 4")
    connection.execute("CREATE TABLE big AS SELECT i, (i * 7919) % 5000 AS id, i % 10 AS bucket FROM range(100000) t(i)")
    call = f"take_row('{tmp_path}/x.npy', id)"
    sums = connection.execute(f"SELECT bucket, sum(({call})[3]::DOUBLE) FROM big GROUP BY bucket ORDER BY bucket").fetchall()
    i = np.arange(100000)
    for bucket, found in sums:
        assert found == pytest.approx(x[(i * 7919) % 5000, 2][i % 10 == bucket].astype(float).sum(), rel=1e-12)
    joined = connection.execute(f"SELECT b.i, {call} FROM big b JOIN (SELECT unnest([3, 77, 99999]) AS i) USING (i) ORDER BY b.i").fetchall()
    assert [row[0] for row in joined] == [3, 77, 99999] and same(np.array([row[1] for row in joined], np.float32), x[np.array([3, 77, 99999]) * 7919 % 5000])
    assert connection.execute(f"SELECT count(DISTINCT {call}) FROM big").fetchone() == (len(np.unique(x, axis=0)),)
    filtered = connection.execute(f"SELECT id FROM big WHERE i < 5000 AND ({call})[1] > 0.99 ORDER BY id").fetchall()
    assert [row[0] for row in filtered] == np.flatnonzero(x[:, 0] > np.float32(0.99)).tolist()
    arrays = connection.execute(f"SELECT {call}::FLOAT[8] AS v FROM big WHERE i < 2000 ORDER BY i").fetchnumpy()["v"]
    assert same(np.array(arrays.tolist(), np.float32), x[i[:2000] * 7919 % 5000])


def test_quantised(connection, tmp_path):  # noqa: F811
    """Every layout of side tensors that tables decode: the values of tests/support/quantised_files.py."""
    compared = 0
    for number, make in enumerate(MAKERS):
        stored = make(np.random.default_rng(number))
        path = tmp_path / f"{number}.safetensors"
        stored.write(path)
        given = f"codec={stored.given}" if stored.given else ""
        compared += check(connection, path, stored.name, stored.values.astype(np.float32), given, 100)
    assert compared > 3000
