/* SPDX-License-Identifier: MIT
 *
 * native.h: the parts of the benchmark that Python is too slow for: memory on huge pages, the naive loop, the limits of the
 * machine, and a clock around work on several threads. module.c hands them to Python.
 */
#ifndef GATHER_BENCH_NATIVE_H
#define GATHER_BENCH_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the rows of a gather stand. Position (o, i, k) reads the index number o * index_outer + i * inner + k, and copies the
 * row at table + o * outer_step + index * axis_step + k * inner_step. Take has inner = 1; steps are in bytes. */
typedef struct {
  const char *table, *indices;
  char *out;
  int64_t outer, count, inner;
  int64_t outer_step, axis_step, inner_step, index_outer;
  int64_t row_bytes;
  int32_t index_bytes; /* 1, 4 or 8; unsigned */
  int32_t ahead;       /* limit_touch: rows fetched ahead, 0 = none */
  int32_t lines; /* limit_touch: how many lines of a row are fetched ahead; limit_stream: whether the table's are; copy_rows: vectors */
  int32_t past_caches; /* limit_copy, limit_stream: stores that go past the caches */
  int64_t in_bytes;    /* limit_stream: bytes of `indices` that are read; limit_copy: bytes */
  int64_t out_bytes;   /* limit_stream: bytes of `out` that are written */
  int64_t table_bytes; /* limit_stream: bytes of `table` that are read in order */
} job;

/* Does part number `part` of `parts` of a job. */
typedef void (*work_fn)(const job *j, int64_t part, int64_t parts);

/* Nanoseconds that `rounds` times the work takes on that many threads, from the moment at which all of them stand ready. */
int64_t bench_timed(work_fn work, const job *j, int32_t threads, int64_t rounds);
int64_t bench_now(void);

/* memory.c */
void *bench_map(size_t bytes, bool huge);
void bench_unmap(void *memory, size_t bytes);
bool bench_flush(const char *memory, size_t bytes); /* out of all caches; false where the CPU cannot */
void bench_fill(char *memory, size_t bytes, uint64_t seed);
void bench_shift(char *indices, int64_t count, int32_t index_bytes, uint64_t by, uint64_t rows);

/* naive.c: the loop anybody writes, with the size of the row known to the compiler and without a check of the indices. */
void bench_naive(const job *j, int64_t part, int64_t parts);
void bench_naive_int4(const job *j, int64_t part, int64_t parts);

/* limits.c */
void bench_copy(const job *j, int64_t part, int64_t parts);      /* table to out */
void bench_read(const job *j, int64_t part, int64_t parts);      /* reads indices in order */
void bench_stream(const job *j, int64_t part, int64_t parts);    /* reads indices (and table) in order, writes out */
void bench_copy_rows(const job *j, int64_t part, int64_t parts); /* reads indices in order, copies `table` to out */
/* Reads one word of every line of the rows, for inner = 1; writes nothing. */
void bench_touch(const job *j, int64_t part, int64_t parts);
void bench_touch_by_vector(const job *j, int64_t part, int64_t parts);
/* The sum of the bytes that the last touch on one thread read, by which a test knows where it read. */
uint64_t bench_touched(void);

#endif
