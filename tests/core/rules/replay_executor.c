/* SPDX-License-Identifier: MIT
 *
 * replay_executor.c: who runs the tasks: the built-in pool; the calling thread in another order; and each task on a copy of the output, so
 * that what two tasks write to one byte is seen whatever they write.
 */
#include <stdlib.h>

#include "core/rules/replay.h"

const char *const replay_mode_names[REPLAY_MODES] = {"alone",       "a pool of 1 thread", "a pool of 2",
                                                     "a pool of 3", "tasks shuffled",     "tasks apart"};
int64_t replay_tasks;

enum { POOLS = 3, PHASES = 6 /* calls of parallel_for in one run */, NOBODY = 0 };
static gather_pool *pools[POOLS];
static gather_executor own;

/* The output as tasks run apart see it. owner: for each phase and byte the task that wrote it, counted from 1. */
static struct {
  uint8_t *out, *before, *merged;
  uint32_t *owner;
  int64_t size, room, phase, conflict;
} apart;

void replay_executors_create(void) {
  for (int n = 0; n < POOLS; n++) assert_int_equal(gather_pool_create(n + 1, &pools[n], NULL), GATHER_OK);
}

void replay_executors_destroy(void) {
  for (int n = 0; n < POOLS; n++) gather_pool_destroy(pools[n]);
  free(apart.before);
  free(apart.owner);
  apart.before = NULL, apart.owner = NULL, apart.room = 0;
}

static int64_t common_divisor(int64_t a, int64_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/* From any task on, in steps that meet all of them. */
static void shuffled(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  const int64_t first = replay_below(count);
  int64_t step = 1 + replay_below(count);
  while (common_divisor(step, count) != 1) step++;
  replay_tasks += count;
  for (int64_t i = 0; i < count; i++) task(argument, (first + i * step) % count);
}

/* What task number i changed becomes part of the result, and is its own. Most of the output is as it was. */
static void keep_changes(uint32_t *owner, int64_t i) {
  enum { STEP = 64 };
  for (int64_t at = 0; at < apart.size; at++) {
    if (at % STEP == 0)
      while (apart.size - at >= STEP && memcmp(apart.out + at, apart.before + at, STEP) == 0) at += STEP;
    if (at == apart.size || apart.out[at] == apart.before[at]) continue;
    if (owner && owner[at] != NOBODY && owner[at] != (uint32_t)i + 1) apart.conflict = at;
    if (owner) owner[at] = (uint32_t)i + 1;
    apart.merged[at] = apart.out[at];
  }
}

/* Backwards; each begins with the output as it was before the first. */
static void each_apart(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  uint32_t *owner = apart.phase < PHASES ? apart.owner + apart.phase++ * apart.size : NULL;
  replay_tasks += count;
  if (apart.size == 0) {
    for (int64_t i = count - 1; i >= 0; i--) task(argument, i);
    return;
  }
  memcpy(apart.before, apart.out, (size_t)apart.size);
  memcpy(apart.merged, apart.out, (size_t)apart.size);
  for (int64_t i = count - 1; i >= 0; i--) {
    memcpy(apart.out, apart.before, (size_t)apart.size);
    task(argument, i);
    keep_changes(owner, i);
  }
  memcpy(apart.out, apart.merged, (size_t)apart.size);
}

void replay_apart_begin(uint8_t *out, int64_t size) {
  apart.out = out, apart.size = size, apart.conflict = -1;
  if (size > apart.room) {
    free(apart.before);
    free(apart.owner);
    apart.before = malloc(2 * (size_t)size);
    apart.owner = malloc((size_t)size * PHASES * sizeof *apart.owner);
    assert_true(apart.before != NULL && apart.owner != NULL);
    apart.room = size;
  }
  apart.merged = apart.before + size;
  if (size > 0) memset(apart.owner, NOBODY, (size_t)size * PHASES * sizeof *apart.owner);
}

int64_t replay_apart_conflict(void) { return apart.conflict; }

const gather_executor *replay_executor(replay_mode mode) {
  apart.phase = 0;
  switch (mode) {
    case REPLAY_ALONE:
      return NULL;
    case REPLAY_SHUFFLED:
      own = (gather_executor){NULL, shuffled, 1 + (int32_t)replay_below(5)};
      return &own;
    case REPLAY_APART:
      own = (gather_executor){NULL, each_apart, 3};
      return &own;
    default:
      return gather_pool_executor(pools[mode - REPLAY_POOL_1]);
  }
}
