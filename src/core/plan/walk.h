/* SPDX-License-Identifier: MIT
 *
 * walk.h: advances through a nest of loops from any position, so that tasks can share it.
 */
#ifndef GATHER_PLAN_WALK_H
#define GATHER_PLAN_WALK_H

#include "core/plan/plan.h"

/* A position in the nest: the coordinates, and the offset of each tensor. */
typedef struct gather_walk {
  const gather_loop *loops;
  int32_t count;
  int64_t at[GATHER_MAX_RANK];
  int64_t data, index, out;
} gather_walk;

GATHER_INLINE void gather_walk_move(gather_walk *walk, int32_t loop, int64_t steps) {
  walk->at[loop] += steps;
  walk->data += steps * walk->loops[loop].data;
  walk->index += steps * walk->loops[loop].index;
  walk->out += steps * walk->loops[loop].out;
}

/* Starts at iteration number `start`, counted with the last loop fastest. */
GATHER_INLINE void gather_walk_start(gather_walk *walk, const gather_loop *loops, int32_t count, int64_t start) {
  walk->loops = loops, walk->count = count;
  walk->data = walk->index = walk->out = 0;
  for (int32_t i = 0; i < count; i++) walk->at[i] = 0;
  for (int32_t i = count - 1; i >= 0 && start > 0; i--) {
    gather_walk_move(walk, i, start % loops[i].len);
    start /= loops[i].len;
  }
}

/* How many iterations of the innermost loop are left in its current round. */
GATHER_INLINE int64_t gather_walk_left(const gather_walk *walk) {
  return walk->loops[walk->count - 1].len - walk->at[walk->count - 1];
}

/* Advances by `steps`, at most to the end of the round; then the outer loops advance. */
GATHER_INLINE void gather_walk_next(gather_walk *walk, int64_t steps) {
  int32_t i = walk->count - 1;
  gather_walk_move(walk, i, steps);
  while (i > 0 && walk->at[i] == walk->loops[i].len) {
    gather_walk_move(walk, i, -walk->loops[i].len);
    gather_walk_move(walk, --i, 1);
  }
}

/* Whole rounds of the innermost loop that its outer loop has left; 0 within a round, and if there is no outer loop. */
GATHER_INLINE int64_t gather_walk_rounds_left(const gather_walk *walk) {
  if (walk->count < 2 || walk->at[walk->count - 1] != 0) return 0;
  return walk->loops[walk->count - 2].len - walk->at[walk->count - 2];
}

/* Advances by whole rounds, at most as many as are left. */
GATHER_INLINE void gather_walk_next_rounds(gather_walk *walk, int64_t rounds) {
  int32_t i = walk->count - 2;
  gather_walk_move(walk, i, rounds);
  while (i > 0 && walk->at[i] == walk->loops[i].len) {
    gather_walk_move(walk, i, -walk->loops[i].len);
    gather_walk_move(walk, --i, 1);
  }
}

#endif
