/* SPDX-License-Identifier: MIT
 *
 * uring.c: what the disk gives: a loop that keeps `depth` reads in flight and does nothing else. It is written apart from the
 * library's reader, which is measured against it.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "disk.h"

#ifdef GATHER_HAVE_LIBURING
#include <liburing.h>
#include <stdbool.h>
#include <stdlib.h>

#include "native.h"

enum { ALIGN = 4096 };

typedef struct {
  struct io_uring ring;
  int fd;
  const int64_t *offsets;
  int64_t count, block_bytes, begun, done;
  char *buffers;
  bool fixed; /* the system knows the buffers already */
} loop;

/* Buffer number `slot` gets the next block. */
static void begin(loop *l, int64_t slot) {
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
static int64_t take_done(loop *l) {
  struct io_uring_cqe *cqe;
  unsigned head, seen = 0;
  int64_t result = 0;
  io_uring_for_each_cqe(&l->ring, head, cqe) {
    if (cqe->res != (int)l->block_bytes) result = cqe->res < 0 ? cqe->res : -EIO;
    if (l->begun < l->count) begin(l, (int64_t)io_uring_cqe_get_data64(cqe));
    seen++;
  }
  io_uring_cq_advance(&l->ring, seen);
  l->done += seen;
  return result;
}

static int64_t run(loop *l, int32_t depth) {
  int64_t result = 0, start = bench_now();
  while (l->begun < depth && l->begun < l->count) begin(l, l->begun);
  while (l->done < l->count) {
    int waited = io_uring_submit_and_wait(&l->ring, 1);
    if (waited < 0 && waited != -EINTR) return waited;
    int64_t took = take_done(l);
    if (took < 0) result = took, l->count = l->begun; /* what has begun is waited for, nothing is added */
  }
  return result ? result : bench_now() - start;
}

int64_t bench_uring(int fd, const int64_t *offsets, int64_t count, int64_t block_bytes, int32_t depth) {
  loop l = {.fd = fd, .offsets = offsets, .count = count, .block_bytes = block_bytes};
  size_t bytes = (size_t)depth * (size_t)block_bytes;
  int failed = io_uring_queue_init((unsigned)depth, &l.ring, 0);
  if (failed) return failed;
  l.buffers = aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
  struct iovec all = {l.buffers, bytes};
  l.fixed = l.buffers && io_uring_register_buffers(&l.ring, &all, 1) == 0;
  int64_t result = l.buffers ? run(&l, depth) : -ENOMEM;
  io_uring_queue_exit(&l.ring);
  free(l.buffers);
  return result;
}

#else
int64_t bench_uring(int fd, const int64_t *offsets, int64_t count, int64_t block_bytes, int32_t depth) {
  (void)fd, (void)offsets, (void)count, (void)block_bytes, (void)depth;
  return -ENOSYS;
}
#endif
