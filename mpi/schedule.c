/* SPDX-License-Identifier: MIT
 *
 * schedule.c: distinct rows, owners, rounds and slots.
 */
#include "schedule.h"

#include <stdlib.h>

/* An array of `len` items instead of `old`; the content is lost. */
static void *renew(void *old, size_t item, int64_t len) {
  free(old);
  if ((uint64_t)len > SIZE_MAX / item) return NULL;
  return malloc(len > 0 ? (size_t)len * item : 1);
}

static bool make_room(gather_mpi_schedule *schedule, int64_t len, int64_t cells) {
  if (len > schedule->room || !schedule->slots) {
    schedule->room = len;
    schedule->slots = renew(schedule->slots, sizeof *schedule->slots, len);
    schedule->ids = renew(schedule->ids, sizeof *schedule->ids, len);
    schedule->locals = renew(schedule->locals, sizeof *schedule->locals, len);
    schedule->owners = renew(schedule->owners, sizeof *schedule->owners, len);
  }
  if (cells > schedule->room_counts || !schedule->counts) {
    schedule->room_counts = cells;
    schedule->counts = renew(schedule->counts, sizeof *schedule->counts, cells);
    schedule->at = renew(schedule->at, sizeof *schedule->at, 2 * cells);
  }
  return schedule->slots && schedule->ids && schedule->locals && schedule->owners && schedule->counts && schedule->at &&
         gather_mpi_distinct_begin(&schedule->distinct, len);
}

/* One round's part of the list: numbers its new rows, finds their owners, and counts. slots[j] becomes the number of the row, or
 * ~slot where the slot is known. */
static void number_rows(gather_mpi_schedule *schedule, const gather_mpi_spread *spread, const int64_t *rows, int32_t round,
                        const gather_mpi_distinct *hot) {
  const int64_t end = gather_mpi_round_begin(schedule->len, schedule->rounds, round + 1);
  for (int64_t j = gather_mpi_round_begin(schedule->len, schedule->rounds, round); j < end; j++) {
    const int64_t row = rows[j];
    if (row < 0) {
      schedule->slots[j] = ~0;
      continue;
    }
    const int32_t next = (int32_t)schedule->unique;
    bool found;
    gather_mpi_distinct_entry *entry = gather_mpi_distinct_add(&schedule->distinct, row, next, &found);
    if (!found) {
      const int32_t slot = hot ? gather_mpi_distinct_get(hot, row) : -1;
      if (slot >= 0) {
        entry->value = ~slot;
        schedule->hot++;
      } else {
        const int32_t owner = gather_mpi_spread_find(spread, row, &schedule->locals[next]);
        schedule->owners[next] = owner;
        schedule->counts[(int64_t)owner * schedule->rounds + round]++;
        schedule->unique++;
      }
    }
    schedule->slots[j] = entry->value;
  }
}

/* Counting sort: the place of each row in the ids, and its slot, which replaces its owner in `owners`. */
static void place_rows(gather_mpi_schedule *schedule) {
  const int32_t ranks = schedule->ranks, rounds = schedule->rounds;
  int64_t *id_at = schedule->at, *slot_at = schedule->at + (int64_t)ranks * rounds, next = 0;
  for (int64_t cell = 0; cell < (int64_t)ranks * rounds; cell++) {
    id_at[cell] = next;
    next += schedule->counts[cell];
  }
  next = 0;
  for (int32_t r = 0; r < rounds; r++)
    for (int32_t p = 0; p < ranks; p++) {
      slot_at[(int64_t)p * rounds + r] = next;
      next += schedule->counts[(int64_t)p * rounds + r];
    }
  for (int32_t r = 0; r < rounds; r++)
    for (int64_t u = schedule->round_first[r]; u < schedule->round_first[r + 1]; u++) {
      const int64_t cell = (int64_t)schedule->owners[u] * rounds + r;
      schedule->ids[id_at[cell]++] = schedule->locals[u];
      schedule->owners[u] = (int32_t)(schedule->reserved + slot_at[cell]++);
    }
}

bool gather_mpi_schedule_build(gather_mpi_schedule *schedule, const gather_mpi_spread *spread, const int64_t *rows, int64_t len,
                               int32_t rounds, int64_t reserved, const gather_mpi_distinct *hot) {
  const int64_t cells = (int64_t)spread->ranks * rounds;
  schedule->ranks = spread->ranks;
  schedule->rounds = rounds;
  schedule->len = schedule->unique = schedule->hot = 0;
  schedule->reserved = reserved;
  if (!make_room(schedule, len, cells)) {
    gather_mpi_schedule_free(schedule);
    return false;
  }
  schedule->len = len;
  for (int64_t cell = 0; cell < cells; cell++) schedule->counts[cell] = 0;
  for (int32_t r = 0; r < rounds; r++) {
    schedule->round_first[r] = schedule->unique;
    number_rows(schedule, spread, rows, r, hot);
  }
  schedule->round_first[rounds] = schedule->unique;
  place_rows(schedule);
  for (int64_t j = 0; j < len; j++) {
    const int32_t number = schedule->slots[j];
    schedule->slots[j] = number < 0 ? ~number : schedule->owners[number];
  }
  return true;
}

void gather_mpi_schedule_free(gather_mpi_schedule *schedule) {
  free(schedule->slots);
  free(schedule->ids);
  free(schedule->counts);
  free(schedule->locals);
  free(schedule->at);
  free(schedule->owners);
  gather_mpi_distinct_free(&schedule->distinct);
  *schedule = (gather_mpi_schedule){0};
}

int32_t gather_mpi_schedule_rounds(int64_t bytes) {
  const int64_t wanted = bytes / ((int64_t)4 << 20);
  return wanted < 1 ? 1 : wanted > GATHER_MPI_MAX_ROUNDS ? GATHER_MPI_MAX_ROUNDS : (int32_t)wanted;
}
