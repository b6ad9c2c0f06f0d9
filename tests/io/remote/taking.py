# SPDX-License-Identifier: MIT
"""Tables whose rows are known without a file, and the two ways that take rows of them: the command and the Python package."""
import io
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from support.http_content import WORD, Made, words
from support.skip import skip_test


@dataclass
class Known:
    """A .npy of `rows` rows of `row_bytes` (a multiple of 8), made up as they are read."""

    rows: int
    row_bytes: int
    seed: int = 0
    content: Made = field(init=False)

    def __post_init__(self) -> None:
        head = io.BytesIO()
        shape = (self.rows, self.row_bytes // WORD)
        np.lib.format.write_array_header_1_0(head, {"descr": "<u8", "fortran_order": False, "shape": shape})
        self.content = Made(head.getvalue(), self.rows * self.row_bytes, self.seed)

    @property
    def head(self) -> int:
        return len(self.content.head)

    def expected(self, ids: np.ndarray) -> np.ndarray:
        each = self.row_bytes // WORD
        return words(ids[:, None] * each + np.arange(each), self.seed)

    def some(self, count: int, seed: int = 1, first: int = 0) -> np.ndarray:
        """Ids of rows, each once, in random order; none below `first`."""
        random = np.random.default_rng(seed)
        if self.rows - first < 4 * count:
            return random.permutation(np.arange(first, self.rows))[:count]
        ids = np.unique(random.integers(first, self.rows, count + count // 4 + 16))
        return random.permutation(ids)[:count]

    def ranges(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the distinct rows begin in the file, in order, and the gaps between them."""
        begins = self.head + np.unique(ids) * self.row_bytes
        return begins, begins[1:] - begins[:-1] - self.row_bytes


@dataclass
class Outcome:
    """Rows or an error; what the network did, as the library counts it."""

    rows: np.ndarray | None = None
    error: dict[str, Any] = field(default_factory=dict)  # status, message ...
    remote: dict[str, Any] = field(default_factory=dict)
    text: str = ""  # all that was printed, where something was

    @property
    def message(self) -> str:
        return self.error.get("message", "")


@dataclass
class Asked:
    """The options that both ways have."""

    connections: int | None = None
    timeout: int | None = None
    gap: int | None = None
    cache: Path | None = None
    memory: int | None = None


class Command:
    """`gather take URL ids -o rows --json`, in a folder of the test."""

    def __init__(self, executable: Path, folder: Path) -> None:
        self.executable, self.folder = executable, folder

    def words(self, url: str, ids: np.ndarray, asked: Asked) -> list[str]:
        np.save(self.folder / "ids.npy", ids)
        (self.folder / "rows.npy").unlink(missing_ok=True)
        found = [str(self.executable), "take", url, str(self.folder / "ids.npy"), "-o", str(self.folder / "rows.npy"), "--json"]
        for name in ("connections", "timeout", "gap", "cache", "memory"):
            if getattr(asked, name) is not None:
                found += [f"--{name}", str(getattr(asked, name))]
        return found

    def __call__(self, url: str, ids: np.ndarray, asked: Asked | None = None, seconds: float = 120,
                 environment: dict[str, str] | None = None) -> Outcome:  # fmt: skip
        out = self.folder / "rows.npy"
        done = subprocess.run(self.words(url, ids, asked or Asked()), capture_output=True, text=True, timeout=seconds,
                              env={**os.environ, **(environment or {})})  # fmt: skip
        answer = json.loads(done.stdout)
        text = done.stdout + done.stderr
        if done.returncode != 0:
            assert not out.exists(), "an output in spite of the error"
            return Outcome(error=answer["error"], text=text)
        return Outcome(np.load(out), remote=answer["remote"], text=text)


class Package:
    """libgather.open(URL).take(ids), in this process."""

    def __init__(self) -> None:
        try:
            import libgather
        except ImportError as missing:
            skip_test("libgather", f"the Python package is not built: {missing}")
        self.module = libgather

    def __call__(self, url: str, ids: np.ndarray, asked: Asked | None = None, seconds: float = 120,
                 environment: dict[str, str] | None = None) -> Outcome:  # fmt: skip
        asked = asked or Asked()
        remote = {name: getattr(asked, name) for name in ("connections", "timeout", "gap") if getattr(asked, name) is not None}
        if asked.cache is not None:
            remote["cache"] = os.fspath(asked.cache)
        if environment and "CURL_CA_BUNDLE" in environment:
            remote["authorities"] = environment["CURL_CA_BUNDLE"]
        try:
            with self.module.open(url, memory=asked.memory, remote=remote) as table:
                rows = np.asarray(table.take(ids))
                return Outcome(rows, remote=vars(table.stats().remote))
        except Exception as error:  # noqa: BLE001  (every error is an outcome; the test says which one it wants)
            status = getattr(error, "status", type(error).__name__)
            return Outcome(error={"status": status, "message": str(error)}, text=repr(error))


def optimum(known: Known, ids: np.ndarray, latency: float, bandwidth: float, connections: int) -> dict[str, float]:
    """The cost model of docs: the gap for which max(ceil(R/C) * (L + B / (R * b)), B / bandwidth) is least, of all gaps; b is a
    connection's share of the bandwidth. Written anew here, in NumPy: it is what the library's own choice is judged by."""
    begins, gaps = known.ranges(ids)
    gaps = np.sort(gaps)
    requests = np.arange(len(begins), 0, -1)  # with the k shortest gaps joined
    total = len(begins) * known.row_bytes + np.concatenate([[0], np.cumsum(gaps)])
    seconds = np.ceil(requests / connections) * (latency + total / requests * connections / bandwidth)
    seconds = np.maximum(seconds, total / bandwidth)
    best = int(np.argmin(seconds))
    return {"requests": int(requests[best]), "bytes": int(total[best]), "seconds": float(seconds[best]),
            "gap": int(gaps[best - 1]) if best else 0}  # fmt: skip
