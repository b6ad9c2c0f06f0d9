/* SPDX-License-Identifier: MIT
 *
 * shared.h: indices in memory that others may write while a gather runs (GATHER_TENSOR_SHARED). Such memory is read once: what is
 * checked and used is a private copy, of a block or of all of it, in which indices are dense and in this machine's byte order.
 */
#ifndef GATHER_PLAN_SHARED_H
#define GATHER_PLAN_SHARED_H

#include <stdatomic.h>

#include "plan/plan.h"

/* Indices that are copied, checked and used at a time: well inside the first cache, and on the stack. */
enum { GATHER_COPY_BYTES = 16384 };

/* The out-of-range indices that several threads find as they go. All zero but `position` is none yet. */
typedef struct gather_bad {
  _Atomic int64_t count;
  atomic_flag busy;
  int64_t position, value; /* of the first in row-major order */
} gather_bad;

void gather_bad_init(gather_bad *bad);
/* Adds `count` of them; position, value: of the first of these. */
void gather_bad_add(gather_bad *bad, int64_t count, int64_t position, int64_t value);
int64_t gather_bad_count(const gather_bad *bad);
/* Adds those of `count` dense indices in private memory, of which the first has that number. */
void gather_bad_find(const gather_plan *plan, const char *indices, int64_t number, int64_t count, gather_bad *bad);

/* Copies indices number first to first + count - 1, counted in row-major order. */
void gather_shared_copy(const gather_plan *plan, const char *indices, int64_t first, int64_t count, char *copy);
/* The same for all of them, shared among threads. */
void gather_shared_copy_all(const gather_plan *plan, const char *indices, const gather_executor *executor, char *copy);
/* gather_plan_check_indices for shared ones: each is read once. */
gather_status gather_shared_check(const gather_plan *plan, const void *indices, const gather_executor *executor,
                                  int64_t *bad, gather_error *error);

#endif
