/* SPDX-License-Identifier: MIT
 *
 * failing_uring.c: lets io_uring fail. What is handed over is waited for at once, so that its answers can be replaced before the library
 * sees them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "support/wrapped.h"
#include "table/failing.h"

enum { RINGS = 16, SLOTS = 4096 };

/* What is known of a ring: how many entries it has taken since it was made, and what the read of each slot was. */
typedef struct {
  struct io_uring *ring;
  unsigned taken, seen;
  struct {
    int fd;
    uint64_t offset, data;
    unsigned bytes;
  } reads[SLOTS];
} known_ring;

static known_ring rings[RINGS];

/* What is known of `ring` is from now on known of `now`. */
static known_ring *find(struct io_uring *ring, struct io_uring *now) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  (void)pthread_mutex_lock(&lock);
  int i = 0;
  while (i < RINGS && rings[i].ring != ring) i++;
  if (i == RINGS) abort();
  rings[i].ring = now;
  (void)pthread_mutex_unlock(&lock);
  return &rings[i];
}

WRAPPED(int, io_uring_queue_init_params, (unsigned entries, struct io_uring *ring, struct io_uring_params *params)) {
  int number = failing_now("io_uring_queue_init_params");
  if (number != 0) return -number;
  int answer = REAL(io_uring_queue_init_params)(entries, ring, params);
  if (answer < 0) return answer;
  known_ring *known = find(NULL, ring);
  known->taken = known->seen = 0;
  return answer;
}

WRAPPED(void, io_uring_queue_exit, (struct io_uring * ring)) {
  (void)find(ring, NULL);
  REAL(io_uring_queue_exit)(ring);
}

WRAPPED(struct io_uring_probe *, io_uring_get_probe_ring, (struct io_uring * ring)) {
  return failing_now("io_uring_get_probe_ring") != 0 ? NULL : REAL(io_uring_get_probe_ring)(ring);
}

/* Notes the reads that stand in the queue. */
static void note_reads(known_ring *known) {
  const struct io_uring_sq *queue = &known->ring->sq;
  for (unsigned at = *queue->khead; at != queue->sqe_tail; at++) {
    const struct io_uring_sqe *entry = &queue->sqes[at & *queue->kring_mask];
    if (entry->user_data >= SLOTS) continue;
    known->reads[entry->user_data].fd = entry->fd;
    known->reads[entry->user_data].offset = entry->off;
    known->reads[entry->user_data].data = entry->addr;
    known->reads[entry->user_data].bytes = entry->len;
  }
}

static unsigned answers_come(const struct io_uring *ring) { return __atomic_load_n(ring->cq.ktail, __ATOMIC_ACQUIRE); }

static void replace_answers(known_ring *known) {
  struct io_uring_cq *queue = &known->ring->cq;
  while (answers_come(known->ring) != known->taken) (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  for (; known->seen != known->taken; known->seen++) {
    struct io_uring_cqe *entry = &queue->cqes[known->seen & *queue->kring_mask];
    if (entry->user_data >= SLOTS) continue;
    char *data = (char *)(uintptr_t)known->reads[entry->user_data].data;
    entry->res = (int)failing_answer("answer", known->reads[entry->user_data].fd, (int64_t)known->reads[entry->user_data].offset, data,
                                     known->reads[entry->user_data].bytes, entry->res);
  }
}

static int submit(struct io_uring *ring, const char *name, int (*real)(struct io_uring *ring)) {
  known_ring *known = find(ring, ring);
  int number = failing_interrupted() ? EINTR : failing_now(name);
  if (number != 0) return -number;
  unsigned before = *ring->sq.khead;
  note_reads(known);
  int answer = real(ring);
  known->taken += *ring->sq.khead - before;
  replace_answers(known);
  return answer;
}

WRAPPED(int, io_uring_submit, (struct io_uring * ring)) { return submit(ring, "io_uring_submit", REAL(io_uring_submit)); }

int REAL(io_uring_submit_and_wait)(struct io_uring *ring, unsigned count);

static int submit_and_wait_for_one(struct io_uring *ring) { return REAL(io_uring_submit_and_wait)(ring, 1); }

WRAPPED(int, io_uring_submit_and_wait, (struct io_uring * ring, unsigned count)) {
  if (count != 1) abort();
  return submit(ring, "io_uring_submit_and_wait", submit_and_wait_for_one);
}
