/* SPDX-License-Identifier: MIT
 *
 * disk.c: the parts of the benchmark of tables in files that Python is too slow for, and these functions for Python: what the files hold,
 * what of a file is in the page cache, what the disk gives by io_uring (written apart from the library's reader, which is measured against
 * it), and a plain pool of threads, the reader that people write for themselves. They give nanoseconds or bytes, or a negative errno;
 * memory is named by its address.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef GATHER_HAVE_LIBURING
#include <liburing.h>
#endif

#include "module.h"
#include "native.h"

/* ---- files */

enum { PIECE = 4 << 20, ALIGN = 4096 };

/* Word number i of what the files hold: a number of its own, in which every bit depends on every bit of i, so that any row can be checked
 * without reading it again. */
static uint64_t word(uint64_t i) {
  uint64_t x = i + 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static bool write_all(int fd, const char *from, int64_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t wrote = pwrite(fd, from, (size_t)bytes, offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    from += wrote, offset += wrote, bytes -= wrote;
  }
  return true;
}

static int64_t write_words(int fd, int64_t offset, int64_t bytes) {
  uint64_t *piece = aligned_alloc(ALIGN, PIECE);
  if (!piece) return -ENOMEM;
  int64_t start = bench_now(), result = 0;
  for (int64_t at = 0; at < bytes && result == 0; at += PIECE) {
    int64_t here = bytes - at < PIECE ? bytes - at : PIECE;
    for (int64_t i = 0; i < (here + 7) / 8; i++) piece[i] = word((uint64_t)(at / 8 + i));
    errno = ENOSPC; /* a write of nothing says no more */
    if (!write_all(fd, (const char *)piece, here, offset + at)) result = -errno;
  }
  free(piece);
  return result ? result : bench_now() - start;
}

/* The first of these rows that is not row number ids[i] of such data, -1 where all are right. Rows are whole words. */
static int64_t check_words(const char *rows, const int64_t *ids, int64_t count, int64_t row_bytes) {
  int64_t words = row_bytes / 8;
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < words; k++) {
      uint64_t found;
      memcpy(&found, rows + i * row_bytes + k * 8, 8);
      if (found != word((uint64_t)(ids[i] * words + k))) return i;
    }
  }
  return -1;
}

/* Asks page by page: for systems that cannot tell of a whole file at once. */
static int64_t resident_by_mincore(int fd, int64_t bytes) {
  int64_t page = sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, found = 0;
  void *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return -errno;
  unsigned char *there = malloc((size_t)pages);
  int64_t result = there && mincore(map, (size_t)bytes, (void *)there) == 0 ? 0 : -ENOMEM;
  for (int64_t i = 0; result == 0 && i < pages; i++) found += there[i] & 1;
  free(there);
  munmap(map, (size_t)bytes);
  return result ? result : found * page;
}

/* Bytes of the first `bytes` of a file that are in the page cache. */
static int64_t resident_bytes(int fd, int64_t bytes) {
  if (bytes == 0) return 0;
#ifdef __linux__
  enum { CACHESTAT = 451 }; /* the same number on every machine; older headers do not name it */
  struct {
    uint64_t offset, bytes;
  } range = {0, (uint64_t)bytes};
  struct {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } found = {0, 0, 0, 0, 0};
  if (syscall(CACHESTAT, fd, &range, &found, 0) == 0) return (int64_t)found.cached * sysconf(_SC_PAGESIZE);
#endif
  return resident_by_mincore(fd, bytes);
}

/* ---- the disk: `depth` reads in flight, and nothing else */

#ifdef GATHER_HAVE_LIBURING
typedef struct {
  struct io_uring ring;
  int fd;
  const int64_t *offsets;
  int64_t count, block_bytes, begun, done;
  char *buffers;
  bool fixed; /* the system knows the buffers already */
} ring_loop;

/* Buffer number `slot` gets the next block. */
static void begin_block(ring_loop *l, int64_t slot) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&l->ring);
  char *to = l->buffers + slot * l->block_bytes;
  uint64_t offset = (uint64_t)l->offsets[l->begun++];
  if (l->fixed)
    io_uring_prep_read_fixed(sqe, l->fd, to, (unsigned)l->block_bytes, offset, 0);
  else
    io_uring_prep_read(sqe, l->fd, to, (unsigned)l->block_bytes, offset);
  io_uring_sqe_set_data64(sqe, (uint64_t)slot);
}

/* Takes what is done, and begins as many. A short read is an error here: all blocks lie within the file. */
static int64_t take_done(ring_loop *l) {
  struct io_uring_cqe *cqe;
  unsigned head, seen = 0;
  int64_t result = 0;
  io_uring_for_each_cqe(&l->ring, head, cqe) {
    if (cqe->res != (int)l->block_bytes) result = cqe->res < 0 ? cqe->res : -EIO;
    if (l->begun < l->count) begin_block(l, (int64_t)io_uring_cqe_get_data64(cqe));
    seen++;
  }
  io_uring_cq_advance(&l->ring, seen);
  l->done += seen;
  return result;
}

static int64_t run_ring(ring_loop *l, int32_t depth) {
  int64_t result = 0, start = bench_now();
  while (l->begun < depth && l->begun < l->count) begin_block(l, l->begun);
  while (l->done < l->count) {
    int waited = io_uring_submit_and_wait(&l->ring, 1);
    if (waited < 0 && waited != -EINTR) return waited;
    int64_t took = take_done(l);
    if (took < 0) result = took, l->count = l->begun; /* what has begun is waited for, nothing is added */
  }
  return result ? result : bench_now() - start;
}

static int64_t read_blocks(int fd, const int64_t *offsets, int64_t count, int64_t block_bytes, int32_t depth) {
  ring_loop l = {.fd = fd, .offsets = offsets, .count = count, .block_bytes = block_bytes};
  size_t bytes = (size_t)depth * (size_t)block_bytes;
  int failed = io_uring_queue_init((unsigned)depth, &l.ring, 0);
  if (failed) return failed;
  l.buffers = aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
  struct iovec all = {l.buffers, bytes};
  l.fixed = l.buffers && io_uring_register_buffers(&l.ring, &all, 1) == 0;
  int64_t result = l.buffers ? run_ring(&l, depth) : -ENOMEM;
  io_uring_queue_exit(&l.ring);
  free(l.buffers);
  return result;
}

#else
static int64_t read_blocks(int fd, const int64_t *offsets, int64_t count, int64_t block_bytes, int32_t depth) {
  (void)fd, (void)offsets, (void)count, (void)block_bytes, (void)depth;
  return -ENOSYS;
}
#endif

/* ---- a pool of threads, a pread for each row */

enum { MAX_THREADS = 256, RUN = 16 };

typedef struct {
  int fd;
  int64_t offset, row_bytes; /* row number i stands at offset + i * row_bytes */
  const int64_t *ids;
  int64_t count;
  char *out;
  int32_t threads;
  int64_t align; /* 0 = buffered, else the unit in which the file is read past the page cache */
} rows_job;

typedef struct {
  const rows_job *rows;
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
static int read_row(const rows_job *r, int64_t i, char *bounce) {
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
  const rows_job *r = p->rows;
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

/* The clock runs from when all stand ready to when all are done. */
static int64_t read_rows(const rows_job *rows) {
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

/* ---- for Python */

static void *pointer(unsigned long long address) { return (void *)(uintptr_t)address; }

/* Nanoseconds or bytes; a negative one is an error of the system. */
static PyObject *number(int64_t found) {
  if (found >= 0) return PyLong_FromLongLong(found);
  errno = (int)-found;
  return PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *words_write(PyObject *self, PyObject *args) {
  int fd;
  long long offset, bytes;
  int64_t ns;
  (void)self;
  if (!PyArg_ParseTuple(args, "iLL", &fd, &offset, &bytes)) return NULL;
  Py_BEGIN_ALLOW_THREADS ns = write_words(fd, offset, bytes);
  Py_END_ALLOW_THREADS return number(ns);
}

static PyObject *words_check(PyObject *self, PyObject *args) {
  unsigned long long rows, ids;
  long long count, row_bytes;
  (void)self;
  if (!PyArg_ParseTuple(args, "KKLL", &rows, &ids, &count, &row_bytes)) return NULL;
  return PyLong_FromLongLong(check_words(pointer(rows), pointer(ids), count, row_bytes));
}

static PyObject *resident(PyObject *self, PyObject *args) {
  int fd;
  long long bytes;
  (void)self;
  if (!PyArg_ParseTuple(args, "iL", &fd, &bytes)) return NULL;
  return number(resident_bytes(fd, bytes));
}

static PyObject *uring(PyObject *self, PyObject *args) {
  int fd, depth;
  unsigned long long offsets;
  long long count, block_bytes;
  int64_t ns;
  (void)self;
  if (!PyArg_ParseTuple(args, "iKLLi", &fd, &offsets, &count, &block_bytes, &depth)) return NULL;
  Py_BEGIN_ALLOW_THREADS ns = read_blocks(fd, pointer(offsets), count, block_bytes, depth);
  Py_END_ALLOW_THREADS return number(ns);
}

static PyObject *pread_rows(PyObject *self, PyObject *args) {
  int fd, threads;
  unsigned long long ids, out;
  long long offset, row_bytes, count, align;
  int64_t ns;
  (void)self;
  if (!PyArg_ParseTuple(args, "iLLKLKiL", &fd, &offset, &row_bytes, &ids, &count, &out, &threads, &align)) return NULL;
  const rows_job rows = {fd, offset, row_bytes, pointer(ids), count, pointer(out), threads, align};
  Py_BEGIN_ALLOW_THREADS ns = read_rows(&rows);
  Py_END_ALLOW_THREADS return number(ns);
}

PyMethodDef bench_disk_functions[] = {
    {"words_write", words_write, METH_VARARGS, "words_write(fd, offset, bytes): the data of the files; nanoseconds"},
    {"words_check", words_check, METH_VARARGS, "words_check(rows, ids, count, row_bytes): the first wrong row, or -1"},
    {"resident", resident, METH_VARARGS, "resident(fd, bytes): how many of them are in the page cache"},
    {"uring", uring, METH_VARARGS, "uring(fd, offsets, count, block_bytes, depth): reads blocks; nanoseconds"},
    {"pread", pread_rows, METH_VARARGS, "pread(fd, offset, row_bytes, ids, count, out, threads, align): reads rows; nanoseconds"},
    {NULL, NULL, 0, NULL}};
