# SPDX-License-Identifier: MIT
"""What docs/benchmarks-tables.md says in words; what stands in braces comes from the results."""

from __future__ import annotations

HEAD = """# Rows out of a file larger than memory

This page and its pictures are made by `script/bench tables --report` from
[benchmarks-tables.json](benchmarks-tables.json), the results of one run of `script/bench tables`: rows taken out of a
file of {file} by a program that may use {memory} of memory, by everybody in turns. Rows in which libgather loses are
rows like all others; a list of them stands [below](#what-is-not-reached).

Contents: [In short](#in-short) - [The machine](#the-machine) - [The limit of memory](#the-limit-of-memory) - [How to
run it](#how-to-run-it) - [How to read it](#how-to-read-it) - [The disk](#the-disk) - [Cold](#cold) - [Warm](#warm) -
[A file that fits](#a-file-that-fits) - [Memory over time](#memory-over-time) - [Reads in flight](#reads-in-flight) -
[What is not reached](#what-is-not-reached)
"""

RUN = """## How to run it

```sh
script/bench tables --quick                     # two sizes of rows, a smaller file: under two minutes
script/bench tables                             # all: about a quarter of an hour, and a file of 8 GiB in build/
script/bench tables --memory 8GiB --bytes 64GiB --folder /mnt/disk/try    # another disk, other sizes
script/bench tables --json docs/benchmarks-tables.json           # the results of this page
script/bench tables --json docs/benchmarks-tables.json --report  # and the page
```

The limit of memory needs root, or a session of systemd; without either it refuses, and says so. `script/bench tables
--help` tells the other options. Let the machine, and above all its disk, do nothing else meanwhile.
"""

READ = """## How to read it

One file serves everybody: its data is written once and begins at byte {head}, on a block; what stands before and
behind it is then made that of an npy file, of safetensors (both with blanks up to that byte), of contiguous HDF5 (what
h5py writes) and of Arrow IPC (what pyarrow writes) in turn. Every measurement is made in a process of its own, in an
order that changes; each starts with nothing but the file, puts its rows into memory that it has touched before, and is
then checked: every word of every row. Wrong rows are named and have no time.

- **Ids**: *random*; *sorted*, the same in rising order; *Zipf*, where the i-th most frequent row is drawn in
  proportion to 1 / i and the frequent rows lie anywhere; *clustered*, {run} neighbours at a time, anywhere. Other ids
  in every round, the same for everybody.
- **Cold**: the file is dropped from the page cache before each measurement, and the system is asked whether it is
  gone. Ways that are slow get {slow} s of each round, and their rows per second are of what they had done by then;
  their rows are the first ones of the same ids. They start cold as well, so that a read-ahead that will pay only
  later is not seen.
- **The disk** is its limit: io_uring past the page cache, blocks of 4 KiB (of a row, where that is longer) at random
  places, at the best of the depths [below](#the-disk), measured in the same turns, twice in each. The *limit* of a
  row of the tables is that rate for the different blocks that its ids name: a block that several rows share is read
  once. Neighbouring blocks that are read by one request may go beyond it: the limit is one of random reads.
- **Warm**: a working set of {working} of blocks, which fits into memory many times. Its rows are in the page cache,
  and everybody has taken them before; then they are asked for in a new order, {warm_rounds} times, in turns. The
  limit is a loop of memcpy in C, on one thread, out of the mapped file whose pages are mapped already. *own cache
  only*: nothing is in the page cache when the table is opened, so that what is warm is what the table has kept
  itself.
- Numbers are rows per second: medians of {rounds} rounds (cold) or {warm_rounds} (warm); the lowest and the highest
  stand in the JSON. *even*: the measurements of the two overlap.
- **read / useful**: bytes that the disk was asked for, as the system counts them, over bytes of rows delivered.

What each is given:

"""

MEMORY = """Rows of {row} by Zipf's law out of the cold file, {batch} at a time, for {seconds} s; a sample every 50 ms
of what the system counts for the process, private memory and mapped pages of files, less what it was before the table
was opened. The output is not in it. *With the page cache* is what the whole run uses more than before, as its limit
counts it: what the system keeps of a file after it was read belongs to no process, and is given up when somebody
needs the room.

"""
