# SPDX-License-Identifier: MIT
"""The tables that the benchmark of remote rows takes rows of, as sparse files: only the rows that are taken are written."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CHUNK = 64  # rows of a zarr chunk


@dataclass
class Case:
    name: str
    rows: int  # of the table
    row_bytes: int
    count: int  # that are taken
    run: int = 1  # rows in a row
    what: str = ""

    @property
    def words(self) -> int:
        return self.row_bytes // 8

    def head(self) -> bytes:
        out = io.BytesIO()
        told = {"descr": "<u8", "fortran_order": False, "shape": (self.rows, self.words)}
        np.lib.format.write_array_header_1_0(out, told)
        return out.getvalue()

    def ids(self) -> np.ndarray:
        random = np.random.default_rng(17)
        starts = random.choice(self.rows // self.run, self.count // self.run, replace=False) * self.run
        return random.permutation((starts[:, None] + np.arange(self.run)).ravel()).astype(np.int64)

    def expected(self, ids: np.ndarray) -> np.ndarray:
        return (ids[:, None] * self.words + np.arange(self.words)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)

    def write(self, folder: Path) -> None:
        """<name>.npy, and <name>.zarr with the same rows."""
        ids, head = np.sort(self.ids()), self.head()
        rows = self.expected(ids)
        with open(folder / f"{self.name}.npy", "wb") as file:
            file.truncate(len(head) + self.rows * self.row_bytes)
            file.write(head)
            for row, values in zip(ids.tolist(), rows, strict=True):
                file.seek(len(head) + row * self.row_bytes)
                file.write(values.tobytes())
        self.write_chunks(folder / f"{self.name}.zarr", ids, rows)

    def write_chunks(self, folder: Path, ids: np.ndarray, rows: np.ndarray) -> None:
        folder.mkdir()
        grid = {"name": "regular", "configuration": {"chunk_shape": [CHUNK, self.words]}}
        keys = {"name": "default", "configuration": {"separator": "/"}}
        codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
        told = {"zarr_format": 3, "node_type": "array", "shape": [self.rows, self.words], "data_type": "uint64",
                "chunk_grid": grid, "chunk_key_encoding": keys, "fill_value": 0, "codecs": codecs, "attributes": {}}  # fmt: skip
        (folder / "zarr.json").write_text(json.dumps(told))
        for chunk in np.unique(ids // CHUNK).tolist():
            inside = ids // CHUNK == chunk
            path = folder / "c" / str(chunk) / "0"
            path.parent.mkdir(parents=True)
            with open(path, "wb") as file:
                file.truncate(CHUNK * self.row_bytes)
                for row, values in zip((ids[inside] % CHUNK).tolist(), rows[inside], strict=True):
                    file.seek(row * self.row_bytes)
                    file.write(values.tobytes())


def cases(quick: bool) -> list[Case]:
    count = 400 if quick else 2000
    found = [
        Case("sparse", 15_625_000, 512, count, what="random rows of 512 B of an 8 GB file"),
        Case("dense", count * 100, 512, count, what="one row of 100, 512 B each, at random"),
        Case("runs", 15_625_000, 512, count, 20, what="runs of 20 rows of 512 B of an 8 GB file"),
        Case("long", 32_768, 64 << 10, count // 10, what="random rows of 64 KiB of a 2 GiB file"),
    ]
    return found[:2] if quick else found
