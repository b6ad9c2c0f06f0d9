/* SPDX-License-Identifier: MIT
 *
 * pread.c: a plain pool of threads, the reader that people write for themselves: each thread reads one row after another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"
#include "native.h"

enum { MAX_THREADS = 256, RUN = 16 };

typedef struct {
  const bench_rows *rows;
  atomic_llong next;
  atomic_int ready, go;
  atomic_int error;
} pool;

static int read_all(int fd, char *to, int64_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t got = pread(fd, to, (size_t)bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    to += got, offset += got, bytes -= got;
  }
  return 0;
}

/* Past the page cache only whole units can be read; bounce holds the units that a row touches. */
static int read_row(const bench_rows *r, int64_t i, char *bounce) {
  int64_t from = r->offset + r->ids[i] * r->row_bytes;
  char *to = r->out + i * r->row_bytes;
  if (!r->align) return read_all(r->fd, to, r->row_bytes, from);
  int64_t first = from / r->align * r->align, end = (from + r->row_bytes + r->align - 1) / r->align * r->align;
  if (first == from && end - first == r->row_bytes && (uintptr_t)to % (uintptr_t)r->align == 0)
    return read_all(r->fd, to, r->row_bytes, from);
  int failed = read_all(r->fd, bounce, end - first, first);
  if (!failed) memcpy(to, bounce + (from - first), (size_t)r->row_bytes);
  return failed;
}

static void read_runs(pool *p, char *bounce) {
  const bench_rows *r = p->rows;
  for (;;) {
    int64_t from = atomic_fetch_add(&p->next, RUN), to = from + RUN < r->count ? from + RUN : r->count;
    if (from >= r->count) return;
    for (int64_t i = from; i < to; i++) {
      int failed = read_row(r, i, bounce);
      if (failed) atomic_store(&p->error, failed);
    }
  }
}

static void *reader(void *argument) {
  pool *p = argument;
  int64_t align = p->rows->align;
  /* A row that begins within a unit ends within another. */
  char *bounce = align ? aligned_alloc((size_t)align, (size_t)((p->rows->row_bytes + align - 1) / align * align + align)) : NULL;
  if (align && !bounce) atomic_store(&p->error, ENOMEM);
  atomic_fetch_add(&p->ready, 1);
  while (!atomic_load_explicit(&p->go, memory_order_acquire)) sched_yield();
  if (bounce || !align) read_runs(p, bounce);
  free(bounce);
  return NULL;
}

int64_t bench_pread(const bench_rows *rows) {
  pthread_t threads[MAX_THREADS];
  pool p = {.rows = rows};
  int32_t wanted = rows->threads < MAX_THREADS ? rows->threads : MAX_THREADS, started = 0;
  while (started < wanted && pthread_create(&threads[started], NULL, reader, &p) == 0) started++;
  while (atomic_load(&p.ready) < started) sched_yield();
  int64_t start = bench_now();
  atomic_store_explicit(&p.go, 1, memory_order_release);
  for (int32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  int64_t end = bench_now();
  int error = started == wanted ? atomic_load(&p.error) : EAGAIN;
  return error ? -error : end - start;
}
