# SPDX-License-Identifier: MIT
#
# batches.py: batches in random order out of a table that stays on the disk: the next ones are read while Python works on one.
from collections import deque
from itertools import islice

import numpy as np

import libgather

AHEAD = 4

np.save("table.npy", np.arange(200_000, dtype=np.int64).reshape(-1, 8))  # a real one may be larger than the memory
with libgather.open("table.npy", memory="64MiB") as table:
    order = np.random.default_rng(1).permutation(len(table))
    batches = iter(order.reshape(-1, 1000))
    jobs = deque(table.submit(ids) for ids in islice(batches, AHEAD))
    total = count = 0
    while jobs:
        rows = jobs.popleft().wait()
        jobs.extend(table.submit(ids) for ids in islice(batches, 1))
        total += int(rows.sum())
        count += 1
    stats = table.stats()
    print(f"{count} batches of {rows.shape}, {stats.rows} rows, sum {total}")
    print("within the ceiling:", stats.memory_peak <= stats.memory_ceiling)

    try:
        table[order[:3] + len(table)]
    except libgather.GatherIndexError as error:
        print(f"{error.bad_count} bad indices, the first at {error.position}, valid are {error.low} to {error.high}")
