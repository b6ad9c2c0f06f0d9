# SPDX-License-Identifier: MIT
"""Running the command, and NumPy's answer to what it was asked."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# The number of each status, and with which number the command then exits.
STATUSES = {
    "shape_mismatch": (1, 1),
    "rank_mismatch": (2, 1),
    "axis_out_of_range": (3, 1),
    "batch_dims_out_of_range": (4, 1),
    "index_out_of_range": (5, 1),
    "type_unsupported": (6, 1),
    "type_mismatch": (7, 1),
    "overflow": (8, 1),
    "out_of_memory": (9, 3),
    "unsupported": (10, 4),
    "usage": (11, 2),
    "file_not_found": (12, 3),
    "file_exists": (13, 3),
    "file_malformed": (14, 3),
    "io_error": (15, 3),
    "name_not_found": (16, 3),
    "mismatch": (17, 1),
    "cancelled": (18, 1),
    "index_repeated": (19, 1),
}
CODE = {name: code for name, (code, _) in STATUSES.items()}
EXIT = {name: code for name, (_, code) in STATUSES.items()}


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
        self.said = ""  # what the last command that failed said as text

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

    def result(self, *words, **more) -> np.ndarray:
        """The array that a command which must do well writes into a file of its own, which does not stay."""
        self.json(words[0], "-o", "result.npy", *words[1:], **more)
        array = self.load("result.npy")
        (self.folder / "result.npy").unlink()
        return array

    def fails(self, status: str, *words, **more) -> dict:
        """The error of a command that must fail with that status, as text and as JSON."""
        text = self(*words, **more)
        assert text.code == EXIT[status], text
        assert text.errors.startswith("gather: error: ") and (text.out == b"" or status == "index_out_of_range"), text
        self.said = text.errors
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
