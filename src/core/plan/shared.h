/* SPDX-License-Identifier: MIT
 *
 * shared.h: indices in memory that others may write during a gather (GATHER_TENSOR_SHARED). Such memory is read once: a
 * private copy of a block or of all of it is validated and used. In the copy indices are dense and in this machine's
 * byte order.
 */
#ifndef GATHER_PLAN_SHARED_H
#define GATHER_PLAN_SHARED_H

#include <stdatomic.h>

#include "core/plan/plan.h"

/* Bytes of indices that are copied, validated and used at a time: on the stack, and they fit L1. */
enum { GATHER_COPY_BYTES = 16384 };

/* The indices out of range that the threads find. Empty: all zero, except `position`. */
typedef struct gather_bad {
  _Atomic int64_t count;
  atomic_flag busy;
  int64_t position, value; /* of the first in row-major order */
} gather_bad;

GATHER_INLINE void gather_bad_init(gather_bad *bad) {
  atomic_init(&bad->count, 0);
  atomic_flag_clear_explicit(&bad->busy, memory_order_relaxed);
  bad->position = INT64_MAX, bad->value = 0;
}
GATHER_INLINE int64_t gather_bad_count(const gather_bad *bad) { return atomic_load_explicit(&bad->count, memory_order_relaxed); }
/* Adds those among `count` dense indices in private memory; number: of the first index. */
void gather_bad_find(const gather_plan *plan, const char *indices, int64_t number, int64_t count, gather_bad *bad);

/* Copies indices number first to first + count - 1, counted in row-major order. */
void gather_shared_copy(const gather_plan *plan, const char *indices, int64_t first, int64_t count, char *copy);
/* The same for all of them, shared among threads. */
void gather_shared_copy_all(const gather_plan *plan, const char *indices, const gather_executor *executor, char *copy);

/* The place of index number `number` in memory with these strides, in their unit; *left: how many indices follow at *step. */
GATHER_INLINE int64_t gather_index_run(const gather_plan *plan, const int64_t *strides, int64_t number, int64_t *left, int64_t *step) {
  int64_t offset = 0;
  *left = 1, *step = 0;
  for (int32_t d = plan->index_rank - 1; d >= 0; d--) {
    int64_t len = plan->index_shape[d], at = number % len;
    if (d == plan->index_rank - 1) *left = len - at, *step = strides[d];
    offset += at * strides[d];
    number /= len;
  }
  return offset;
}

#endif
