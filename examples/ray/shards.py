# SPDX-License-Identifier: MIT
#
# shards.py: rows of a table in several files for a Ray dataset of ids: map_batches, and one open table in each worker.
import os
import tempfile

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # or Ray reports its use to its makers

import numpy as np
import ray

import libgather


class Rows:
    """A worker: it opens the table once, with all parts as one table, and reads only the rows of each batch."""

    def __init__(self, paths: list[str]) -> None:
        self.table = libgather.open(paths, memory="64MiB")

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {**batch, "row": self.table.take(batch["data"])}


def main() -> None:
    folder = tempfile.mkdtemp()
    whole = np.arange(40_000 * 8, dtype=np.float32).reshape(-1, 8)
    paths = [os.path.join(folder, f"part{i}.npy") for i in range(4)]
    for path, part in zip(paths, np.array_split(whole, 4)):  # on a cluster: files that every node sees, or URLs
        np.save(path, part)

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
             object_store_memory=80 * 2**20, _node_ip_address="127.0.0.1", _temp_dir=os.environ.get("RAY_TMPDIR"))
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        ids = np.random.default_rng(1).integers(0, len(whole), 10_000)
        workers = ray.data.ActorPoolStrategy(size=2)
        rows = ray.data.from_numpy(np.array_split(ids, 4)).map_batches(Rows, fn_constructor_args=(paths,), batch_size=1000, compute=workers)
        found = {int(i): row for batch in rows.iter_batches() for i, row in zip(batch["data"], batch["row"])}
        same = all(np.array_equal(row, whole[i]) for i, row in found.items())
        print(f"{len(ids)} ids, {len(found)} different rows of {found[int(ids[0])].shape}, {'all right' if same else 'wrong'}")

        bad = ray.data.from_numpy(np.array([1, 40_000])).map_batches(Rows, fn_constructor_args=(paths,), compute=ray.data.ActorPoolStrategy(size=1))
        try:
            bad.materialize()
        except Exception as error:
            print(next(line for line in str(error).splitlines() if "is outside" in line).split("Error: ")[-1])
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main()
