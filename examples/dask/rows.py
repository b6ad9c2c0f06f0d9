# SPDX-License-Identifier: MIT
#
# rows.py: a table that stays in its file as a dask.array, and rows by ids on a cluster: each worker opens the table once and reads the rows
# that are asked for, not the chunks that they are in.
import functools
import logging
import os
import tempfile

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import libgather


@functools.cache
def table(path: str) -> libgather.Table:
    """The table of this process."""
    return libgather.open(path, memory="64MiB", engine="pread")


def rows_of(ids: np.ndarray, path: str) -> np.ndarray:
    return table(path).take(ids)


def read(path: str) -> int:
    return table(path).stats().rows if table.cache_info().currsize else 0


def main() -> None:
    path = os.path.join(tempfile.mkdtemp(), "table.npy")  # on a cluster: a file that every node sees, or a URL
    whole = np.arange(100_000 * 16, dtype=np.float32).reshape(-1, 16)
    np.save(path, whole)

    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=logging.CRITICAL) as cluster, Client(cluster) as client:
        # Everything that dask computes by chunks: the table is its array.
        x = da.from_array(libgather.open(path), chunks=(25_000, 16), name=False)
        print("largest number:", float(x.max().compute()))

        # Rows by ids: chunks of ids, not of the table.
        ids = np.random.default_rng(1).integers(0, len(whole), 1000)
        chunks = da.from_array(ids, chunks=250)
        rows = da.map_blocks(rows_of, chunks, path, dtype=np.float32, new_axis=1, chunks=(chunks.chunks[0], (16,)), meta=np.empty((0, 16), np.float32))
        found = rows.compute()
        print("rows:", found.shape, "right" if np.array_equal(found, whole[ids]) else "wrong")
        print("taken by the workers:", sum(client.run(read, path).values()), "rows of", len(whole))

        try:
            da.map_blocks(rows_of, da.from_array(np.array([1, 100_000]), chunks=2), path, dtype=np.float32, new_axis=1, chunks=((2,), (16,))).compute()
        except libgather.GatherIndexError as error:  # with its fields, from another process
            print(error, error.position)


if __name__ == "__main__":
    main()
