/* SPDX-License-Identifier: MIT
 *
 * disk.h: the parts of the benchmark of tables in files that Python is too slow for. Functions return nanoseconds, or a negative
 * errno. disk_module.c hands them to Python.
 */
#ifndef GATHER_BENCH_DISK_H
#define GATHER_BENCH_DISK_H

#include <stdint.h>

/* What the files hold: word number i of the data is a number of its own, so that any row can be checked without reading it again. */
int64_t bench_words_write(int fd, int64_t offset, int64_t bytes);
/* The first of these rows that is not row number ids[i] of such data, -1 where all are right. Rows are whole words. */
int64_t bench_words_check(const char *rows, const int64_t *ids, int64_t count, int64_t row_bytes);

/* Bytes of the first `bytes` of a file that are in the page cache. */
int64_t bench_resident(int fd, int64_t bytes);

/* Reads blocks at these offsets, `depth` at a time, by io_uring. ENOSYS where it is not built in. */
int64_t bench_uring(int fd, const int64_t *offsets, int64_t count, int64_t block_bytes, int32_t depth);

typedef struct {
  int fd;
  int64_t offset, row_bytes; /* row number i stands at offset + i * row_bytes */
  const int64_t *ids;
  int64_t count;
  char *out;
  int32_t threads;
  int64_t align; /* 0 = buffered, else the unit in which the file is read past the page cache */
} bench_rows;

/* A plain pool of threads that read rows, one pread for each. The clock runs from when all stand ready to when all are done. */
int64_t bench_pread(const bench_rows *rows);

#endif
