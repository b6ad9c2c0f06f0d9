# SPDX-License-Identifier: MIT
"""What the page of `script/bench tables` says in words; what stands in braces comes from the results."""

from __future__ import annotations

HEAD = """# Rows of a file larger than memory

This page and its pictures are made from [{name}.json](../{name}.json), the results of one run of `script/bench tables`:
rows taken from a file of {file} by a program that may use {memory} of memory, by each library in turn. Rows in which libgather is slower
than a peer are included; [a list of them is below](#goals-not-reached).

Contents: [Summary](#summary) - [The machine](#the-machine) - [The memory limit](#the-memory-limit) - [How to run
it](#how-to-run-it) - [How to read it](#how-to-read-it) - [The disk](#the-disk) - [Cold](#cold) - [Warm](#warm) - [A
file that fits](#a-file-that-fits) - [Memory over time](#memory-over-time) - [Queue depth](#queue-depth) - [Goals not
reached](#goals-not-reached)
"""

RUN = """## How to run it

```sh
script/bench tables --quick                     # two row sizes, a smaller file: under two minutes
script/bench tables                             # all: about a quarter of an hour, and a file of 8 GiB in build/
script/bench tables --memory 8GiB --bytes 64GiB --folder /mnt/disk/try    # another disk, other sizes
script/bench tables --report                    # the pages of what is in build/results
```

The memory limit needs root or a systemd session; without either the script stops and says so. `script/bench tables
--help` describes the other options. Run nothing else on the machine, and in particular on its disk.
"""

READ = """## How to read it

All libraries read the same file. Its data is written once and begins at byte {head}, on a block boundary. The bytes
before and after it are then changed in turn to those of an npy file, of safetensors (both padded with blanks up to that
byte), of contiguous HDF5 (as h5py writes it) and of Arrow IPC (as pyarrow writes it). Every measurement runs in a
process of its own, in a varying order. Each starts with only the file, puts its rows into memory that it has touched
before, and is then verified: every word of every row. Wrong rows are reported and have no time.

- **Ids**: *random*; *sorted*, the same in ascending order; *Zipf*, with the i-th most frequent row drawn in proportion
  to 1 / i and the frequent rows anywhere; *clustered*, {run} neighbours at a time, anywhere. Each round has other ids,
  the same for everybody.
- **Cold**: the file is dropped from the page cache before each measurement, and the system is asked whether it is gone.
  Slow methods get {slow} s of each round, and their rows per second are those of what they completed; their rows are
  the first ones of the same ids. They also start cold, so readahead that would pay off only later has no effect.
- **The disk** is its own limit: io_uring with direct I/O, blocks of 4 KiB (of a row, if that is longer) at random
  offsets, at the best of the depths [below](#the-disk), measured in the same rounds, twice in each. The *limit* of a
  row of the tables is that rate for the distinct blocks that its ids name: a block that several rows share is read
  once. Adjacent blocks that one request reads may exceed it: it is a limit for random reads.
- **Warm**: a working set of {working} of blocks, which fits into memory many times. Its rows are in the page cache, and
  everybody has taken them before; then they are requested in a new order, {warm_rounds} times, alternating. The limit
  is a loop of memcpy in C, on one thread, from the mapped file whose pages are already mapped. *own cache only*: the
  page cache is empty when the table is opened, so only the table's own row cache is warm.
- Numbers are rows per second: medians of {rounds} rounds (cold) or {warm_rounds} (warm); minimum and maximum are in the
  JSON. *even*: the measurements of the two overlap.
- **read / useful**: bytes requested from the disk, as the system counts them, over bytes of rows delivered.

How each is called:

"""

MEMORY = """Rows of {row} by Zipf's law from the cold file, {batch} at a time, for {seconds} s. Every 50 ms, a sample of what the
system counts for the process: private memory and mapped pages of files, minus what it was before the table was opened.
The output is not included. *With the page cache* is how much more the whole run uses than before, as its limit counts
it: pages of a file that the system keeps after reading belong to no process, and are dropped when somebody needs the
memory.

"""
