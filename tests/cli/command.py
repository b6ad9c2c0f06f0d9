# SPDX-License-Identifier: MIT
"""Running the command, and NumPy's answer to what it was asked."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

EXIT = {
    "index_out_of_range": 1, "shape_mismatch": 1, "rank_mismatch": 1, "axis_out_of_range": 1, "batch_dims_out_of_range": 1,
    "type_unsupported": 1, "type_mismatch": 1, "overflow": 1, "mismatch": 1, "cancelled": 1, "usage": 2, "file_not_found": 3,
    "file_exists": 3, "file_malformed": 3, "io_error": 3, "name_not_found": 3, "out_of_memory": 3, "unsupported": 4,
}
CODE = {
    "shape_mismatch": 1, "rank_mismatch": 2, "axis_out_of_range": 3, "batch_dims_out_of_range": 4, "index_out_of_range": 5,
    "type_unsupported": 6, "type_mismatch": 7, "overflow": 8, "out_of_memory": 9, "unsupported": 10, "usage": 11, "file_not_found": 12,
    "file_exists": 13, "file_malformed": 14, "io_error": 15, "name_not_found": 16, "mismatch": 17, "cancelled": 18,
}


@dataclass
class Answer:
    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def errors(self) -> str:
        return self.err.decode(errors="replace")


class Gather:
    """The command in a folder of its own."""

    def __init__(self, exe: Path, folder: Path):
        self.exe, self.folder = exe, folder

    def environment(self, **extra: str) -> dict[str, str]:
        return {**os.environ, "LC_ALL": "C.UTF-8", **extra}

    def __call__(self, *words, stdin: bytes | int = subprocess.DEVNULL, env: dict[str, str] | None = None, **more) -> Answer:
        more["input" if isinstance(stdin, bytes) else "stdin"] = stdin
        done = subprocess.run(
            [str(self.exe), *map(str, words)], cwd=self.folder, env=self.environment(**(env or {})),
            stdout=more.pop("stdout", subprocess.PIPE), stderr=more.pop("stderr", subprocess.PIPE), timeout=300, **more,
        )
        return Answer(done.returncode, done.stdout or b"", done.stderr or b"")

    def json(self, *words, **more) -> dict:
        """The JSON answer of a command that must do well; stdout holds nothing else, stderr nothing at all."""
        answer = self(*words, "--json", **more)
        assert answer.code == 0, answer
        assert answer.err == b""
        return one_object(answer.out)

    def fails(self, status: str, *words, **more) -> dict:
        """The error of a command that must fail with that status, as text and as JSON."""
        text = self(*words, **more)
        assert text.code == EXIT[status], text
        assert text.errors.startswith("gather: error: "), text
        answer = self(*words, "--json", **more) if "--" not in words else self("--json", *words, **more)
        assert answer.code == EXIT[status], answer
        to_stdout = ("-o", "-") in zip(words, words[1:], strict=False)
        where = (answer.err, answer.out) if to_stdout else (answer.out, answer.err)
        assert where[1] == b""
        error = one_object(where[0])["error"]
        assert (error["status"], error["code"]) == (status, CODE[status]), error
        assert "\n" not in error["message"] and error["message"]
        return error

    def save(self, name: str, array) -> str:
        np.save(self.folder / name, np.asarray(array))
        return name

    def load(self, name: str) -> np.ndarray:
        return np.load(self.folder / name)

    def write(self, name: str, content: bytes | str) -> str:
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


def one_object(text: bytes) -> dict:
    """Exactly one JSON object on one line."""
    assert text.endswith(b"}\n") and text.count(b"\n") == 1, text
    return json.loads(text)


def rows(indices: np.ndarray, n: int, negative: bool, policy: str) -> tuple[np.ndarray, np.ndarray]:
    """Where each index goes, and which ones are filled."""
    exact = indices.astype(object)
    counted = np.where(negative & (exact < 0) & (exact >= -n), exact + n, exact)
    bad = (counted < 0) | (counted >= n)
    if policy == "wrap":
        counted = np.where(bad, exact % n, counted)
    elif policy == "clamp":
        counted = np.where(counted < 0, 0, np.where(counted >= n, n - 1, counted))
    else:
        counted = np.where(bad, 0, counted)
    return counted.astype(np.int64).reshape(indices.shape), bad.astype(bool).reshape(indices.shape)


def take(data, indices, axis=0, batch=0, negative=True, policy="error", fill=0) -> np.ndarray:
    """Gather, one index at a time."""
    axis += data.ndim if axis < 0 else 0
    where, bad = rows(indices, data.shape[axis], negative, policy)
    shape = data.shape[:axis] + indices.shape[batch:] + data.shape[axis + 1 :]
    out = np.zeros(shape, data.dtype)
    for at in np.ndindex(shape):
        outer, inner = at[:axis], at[axis + indices.ndim - batch :]
        spot = outer[:batch] + at[axis : axis + indices.ndim - batch]
        if bad[spot] and policy not in ("clamp", "wrap"):
            out[at] = fill
        else:
            out[at] = data[(*outer, where[spot], *inner)]
    return out


def elements(data, indices, axis=0, negative=True, policy="error", fill=0) -> np.ndarray:
    """GatherElements, one index at a time."""
    axis += data.ndim if axis < 0 else 0
    where, bad = rows(indices, data.shape[axis], negative, policy)
    out = np.zeros(indices.shape, data.dtype)
    for at in np.ndindex(indices.shape):
        if bad[at] and policy not in ("clamp", "wrap"):
            out[at] = fill
        else:
            out[at] = data[(*at[:axis], where[at], *at[axis + 1 :])]
    return out


def gather_nd(data, indices, batch=0, fused=False, negative=True, policy="error", fill=0) -> np.ndarray:
    """GatherND, one tuple at a time."""
    where, bad = np.zeros(indices.shape, np.int64), np.zeros(indices.shape, bool)
    for c in range(indices.shape[-1]):
        where[..., c], bad[..., c] = rows(indices[..., c], data.shape[batch + c], negative, policy)
    out = np.zeros(indices.shape[:-1] + data.shape[batch + indices.shape[-1] :], data.dtype)
    for at in np.ndindex(indices.shape[:-1]):
        filled = bad[at].any() and policy not in ("clamp", "wrap")
        out[at] = fill if filled else data[at[:batch] + tuple(where[at])]
    return out.reshape(-1, *out.shape[batch:]) if fused and batch else out
