# SPDX-License-Identifier: MIT
"""plugin_ray.py [FILE.json]: rows by ids in Ray: its RandomAccessDataset, map_batches and actors with an open table; the same ids, in turns.

RandomAccessDataset has the table in Ray's object store, sorted by key; libgather has a file (in the page cache here), which each worker opens.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # 127.0.0.1 only, as on those systems

import numpy as np  # noqa: E402
import ray  # noqa: E402

import libgather  # noqa: E402

ROWS, WIDTH, IDS, ROUNDS, WORKERS = 100_000, 128, 10_000, 7, 2


class Rows:
    def __init__(self, path: str) -> None:
        self.table = libgather.open(path)

    def take(self, ids: np.ndarray) -> np.ndarray:
        return self.table.take(ids)

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"row": self.table.take(batch["data"])}


def contenders(path: str, whole: np.ndarray) -> dict:
    """name: a function of the ids that returns their rows."""
    blocks = [{"key": np.arange(i, i + ROWS // 8), "row": whole[i : i + ROWS // 8]} for i in range(0, ROWS, ROWS // 8)]
    import pyarrow as pa

    tables = [pa.table({"key": b["key"], "row": pa.FixedSizeListArray.from_arrays(pa.array(b["row"].reshape(-1)), WIDTH)}) for b in blocks]
    random_access = ray.data.from_arrow(tables).to_random_access_dataset("key", num_workers=WORKERS)
    actors = [ray.remote(Rows).options(num_cpus=0.1).remote(path) for _ in range(WORKERS)]
    local = libgather.open(path)

    def by_actors(ids):
        return np.concatenate(ray.get([actor.take.remote(part) for actor, part in zip(actors, np.array_split(ids, WORKERS))]))

    def by_batches(ids):
        found = ray.data.from_numpy(np.array_split(ids, WORKERS)).map_batches(
            Rows, fn_constructor_args=(path,), batch_size=IDS // WORKERS, num_cpus=0.1, compute=ray.data.ActorPoolStrategy(size=WORKERS))  # fmt: skip
        return sorted((tuple(row[:1]) for batch in found.iter_batches() for row in batch["row"]))

    return {
        "RandomAccessDataset.multiget": lambda ids: np.array([record["row"] for record in random_access.multiget(ids.tolist())]),
        "actors with an open table": by_actors,
        "map_batches, workers started for it": by_batches,
        "take() in the driver": local.take,
    }


def measure(ways: dict, whole: np.ndarray) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS + 1):
        ids = np.random.default_rng(turn).integers(0, ROWS, IDS)
        for name, way in ways.items():
            if name.startswith("map_batches") and turn > 3:
                continue
            start = time.perf_counter()
            rows = way(ids)
            taken = time.perf_counter() - start
            right = np.array_equal(rows, whole[ids]) if isinstance(rows, np.ndarray) else rows == sorted((v,) for v in whole[ids, 0])
            assert right, name
            if turn:  # the first is for warming up
                times[name].append(taken)
    return times


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    whole = np.random.default_rng(0).standard_normal((ROWS, WIDTH)).astype(np.float32)
    np.save(folder / "table.npy", whole)
    ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False, object_store_memory=256 * 2**20,
             _node_ip_address="127.0.0.1", _temp_dir=str(folder / "ray"))  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        times = measure(contenders(str(folder / "table.npy"), whole), whole)
    finally:
        ray.shutdown()
    (folder / "table.npy").unlink()
    medians = {name: float(np.median(taken)) for name, taken in times.items()}
    base = medians["RandomAccessDataset.multiget"]
    print(f"{IDS} random ids, rows of {4 * WIDTH} bytes, {WORKERS} workers, medians of {ROUNDS} turns (3 of map_batches); Ray {ray.__version__}")
    print("| way | ms | rows/s | of RandomAccessDataset |\n| --- | ---: | ---: | ---: |")
    for name, median in medians.items():
        print(f"| {name} | {median * 1e3:,.1f} | {IDS / median:,.0f} | {base / median:,.1f}x |")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps({"ids": IDS, "row_bytes": 4 * WIDTH, "workers": WORKERS, "ray": ray.__version__, "seconds": times}, indent=1) + "\n")


if __name__ == "__main__":
    main()
