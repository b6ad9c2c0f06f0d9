/* SPDX-License-Identifier: MIT
 *
 * scale_planner.c: libgather_mpi's planner for bench/scale_planner.py, which compiles this with mpi/schedule.c, distinct.c and spread.c.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

/* What is kept between plans, as libgather_mpi keeps it. */
typedef struct scale_planner {
  gather_mpi_schedule schedule;
  gather_mpi_distinct hot;
  int64_t hot_len;
} scale_planner;

scale_planner *scale_open(void) { return calloc(1, sizeof(scale_planner)); }

void scale_close(scale_planner *planner) {
  if (!planner) return;
  gather_mpi_schedule_free(&planner->schedule);
  gather_mpi_distinct_free(&planner->hot);
  free(planner);
}

/* The rows that every rank has. Returns false without memory. */
bool scale_hot(scale_planner *planner, const int64_t *rows, int64_t len) {
  if (!gather_mpi_distinct_begin(&planner->hot, len)) return false;
  planner->hot_len = len;
  for (int64_t i = 0; i < len; i++) {
    bool found;
    gather_mpi_distinct_add(&planner->hot, rows[i], (int32_t)i, &found);
  }
  return true;
}

/* Plans one rank's take. splits: as gather_mpi_spread_splits, NULL = stripes; counts: [ranks * rounds], rows asked of each rank in each
 * round; totals: [2] distinct rows asked for, distinct hot rows. Returns false without memory, or if the slots do not fit the counts. */
bool scale_plan(scale_planner *planner, int32_t ranks, int64_t rows, const int64_t *splits, const int64_t *ids, int64_t len, int32_t rounds,
                int64_t *counts, int64_t *totals) {
  gather_mpi_spread spread;
  if (splits) {
    gather_mpi_spread_splits(&spread, ranks, splits);
  } else {
    gather_mpi_spread_stripes(&spread, ranks, rows);
  }
  gather_mpi_schedule *schedule = &planner->schedule;
  if (!gather_mpi_schedule_build(schedule, &spread, ids, len, rounds, planner->hot_len, planner->hot_len ? &planner->hot : NULL))
    return false;
  int64_t sum = 0;
  for (int64_t cell = 0; cell < (int64_t)ranks * rounds; cell++) sum += schedule->counts[cell];
  if (sum != schedule->unique) return false;
  for (int64_t j = 0; j < len; j++)
    if (schedule->slots[j] < 0 || schedule->slots[j] >= planner->hot_len + schedule->unique) return false;
  memcpy(counts, schedule->counts, (size_t)ranks * (size_t)rounds * sizeof *counts);
  totals[0] = schedule->unique;
  totals[1] = schedule->hot;
  return true;
}

int32_t scale_rounds(int64_t bytes) { return gather_mpi_schedule_rounds(bytes); }
