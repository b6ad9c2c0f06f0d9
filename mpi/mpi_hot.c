/* SPDX-License-Identifier: MIT
 *
 * mpi_hot.c: finds the rows that are asked for most often, and keeps copies of them on every rank.
 *
 * Each rank counts in a sketch: sets of eight counters, in each of which the algorithm of Misra and Gries finds every row whose share of
 * the set's requests is above a ninth. A row counts once for each take that wants it, since a take asks for it once.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi_internal.h"

enum { WAYS = 8, LEAST_COUNT = 2 };

typedef struct gather_mpi_counter {
  int64_t row, count;
} gather_mpi_counter;

bool gather_mpi_hot_open(gather_mpi_hot_set *hot, int64_t most) {
  if (most == 0) return true;
  hot->sets = 16;
  while (hot->sets * WAYS < 4 * most) hot->sets *= 2;
  hot->counters = calloc((size_t)hot->sets * WAYS, sizeof *hot->counters);
  hot->rows = calloc((size_t)most, sizeof *hot->rows);
  hot->takes = calloc((size_t)most, sizeof *hot->takes);
  hot->most = most;
  return hot->counters && hot->rows && hot->takes;
}

void gather_mpi_hot_free(gather_mpi_hot_set *hot) {
  gather_mpi_distinct_free(&hot->slots);
  free(hot->counters);
  free(hot->rows);
  free(hot->takes);
  *hot = (gather_mpi_hot_set){0};
}

static void count_row(gather_mpi_hot_set *hot, int64_t row) {
  gather_mpi_counter *set = hot->counters + ((int64_t)(gather_mpi_hash(row) >> 32) & (hot->sets - 1)) * WAYS, *empty = NULL;
  for (int i = 0; i < WAYS; i++) {
    if (set[i].count == 0) {
      empty = &set[i];
    } else if (set[i].row == row) {
      set[i].count++;
      return;
    }
  }
  if (empty) {
    *empty = (gather_mpi_counter){row, 1};
    return;
  }
  for (int i = 0; i < WAYS; i++) set[i].count--;
}

void gather_mpi_hot_count(gather_mpi_plan *plan) {
  gather_mpi_hot_set *hot = &plan->hot;
  const gather_mpi_schedule *schedule = &plan->schedule;
  const int64_t take = plan->statistics.takes + 1;
  if (hot->most == 0) return;
  for (int64_t j = 0; j < schedule->len && hot->len > 0; j++) {
    const int64_t i = schedule->slots[j] - plan->fill_slots;
    if (i < 0 || i >= hot->len || hot->takes[i] == take) continue;
    hot->takes[i] = take;
    count_row(hot, hot->rows[i]);
  }
  int64_t id = 0;
  for (int32_t p = 0; p < schedule->ranks; p++)
    for (int32_t r = 0; r < schedule->rounds; r++)
      for (int64_t k = schedule->counts[(int64_t)p * schedule->rounds + r]; k > 0; k--, id++) {
        if (p == plan->link.rank) continue; /* its own rows travel nowhere */
        count_row(hot, plan->spread.splits ? plan->spread.splits[p] + schedule->ids[id] : schedule->ids[id] * schedule->ranks + p);
      }
}

/* The most frequent first; of equal ones the lower row, so that all ranks have one order. */
static int by_count(const void *a, const void *b) {
  const gather_mpi_counter *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* This rank's candidates: `most` of them, those behind the last have count 0. */
static bool choose_own(const gather_mpi_hot_set *hot, gather_mpi_counter *best) {
  const size_t len = (size_t)hot->sets * WAYS;
  gather_mpi_counter *sorted = malloc(len * sizeof *sorted);
  if (!sorted) return false;
  memcpy(sorted, hot->counters, len * sizeof *sorted);
  qsort(sorted, len, sizeof *sorted, by_count);
  memcpy(best, sorted, (size_t)hot->most * sizeof *best); /* there are at least 4 * most counters */
  free(sorted);
  return true;
}

/* The counts of all ranks, added up in place. Returns how many rows there are; -1 without memory. */
static int64_t add_counts(gather_mpi_counter *all, int64_t len) {
  gather_mpi_distinct rows = {0};
  int64_t kept = 0;
  if (!gather_mpi_distinct_begin(&rows, len)) return -1;
  for (int64_t i = 0; i < len; i++) {
    if (all[i].count == 0) continue;
    bool found;
    const gather_mpi_distinct_entry *entry = gather_mpi_distinct_add(&rows, all[i].row, (int32_t)kept, &found);
    if (found) {
      all[entry->value].count += all[i].count;
    } else {
      all[kept++] = all[i];
    }
  }
  gather_mpi_distinct_free(&rows);
  return kept;
}

/* The hot rows of all ranks into hot->rows. Every rank finds the same ones. Returns how many. */
static gather_status choose(gather_mpi_plan *plan, int64_t *chosen, int32_t *failed, gather_error *error) {
  gather_mpi_hot_set *hot = &plan->hot;
  gather_mpi_link *link = &plan->link;
  gather_error own;
  const int64_t len = hot->most * link->ranks;
  gather_mpi_counter *all = calloc((size_t)len, sizeof *all), *best = calloc((size_t)hot->most, sizeof *best);
  gather_status status = GATHER_OK;
  if (!all || !best || !choose_own(hot, best))
    status = gather_error_set(&own, GATHER_OUT_OF_MEMORY, "out of memory for the choice of hot rows");
  status = gather_mpi_agree(link, status, &own, plan->op, failed, error);
  if (status == GATHER_OK) status = gather_mpi_link_gather(link, best, (int)((size_t)hot->most * sizeof *best), all, error);
  gather_mpi_link_free(link, best);
  *chosen = 0;
  if (status == GATHER_OK) {
    const int64_t rows = add_counts(all, len);
    gather_status own_status = GATHER_OK;
    if (rows < 0) {
      own_status = gather_error_set(&own, GATHER_OUT_OF_MEMORY, "out of memory for the choice of hot rows");
    } else {
      qsort(all, (size_t)rows, sizeof *all, by_count);
      while (*chosen < rows && *chosen < hot->most && all[*chosen].count >= LEAST_COUNT) {
        hot->rows[*chosen] = all[*chosen].row;
        ++*chosen;
      }
    }
    status = gather_mpi_agree(link, own_status, &own, plan->op, failed, error);
  }
  gather_mpi_link_free(link, all);
  return status;
}

/* The rows themselves, by separate exchanges. to: room for `len` rows. */
static gather_status fetch(gather_mpi_plan *plan, int64_t len, void *to, gather_status own_status, gather_error *own, int32_t *failed,
                           gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  for (int32_t d = 1; d < plan->owner.mine.rank; d++) shape[d] = plan->owner.shape[d];
  shape[0] = len;
  gather_tensor rows = plan->info.tensor;
  rows.data = to;
  rows.shape = shape;
  gather_mpi_part part = {.rows = &rows};
  const int64_t most = gather_mpi_most_ids(plan);
  bool any_more = true;
  gather_status status = GATHER_OK;
  while (status == GATHER_OK && any_more) {
    part.begin += part.len;
    part.len = len - part.begin < most ? len - part.begin : most;
    part.more = part.begin + part.len < len;
    status = gather_mpi_exchange(plan, &part, own_status, own, &any_more, failed, error);
  }
  return status;
}

/* Puts the hot rows into the reserved slots. */
static gather_status keep(gather_mpi_plan *plan, int64_t len, const void *rows, gather_error *own) {
  const int64_t row = plan->owner.row_bytes;
  gather_mpi_buffer grown = {0};
  if (!gather_mpi_distinct_begin(&plan->hot.slots, len) || !gather_mpi_reserve(&grown, plan->fill_slots + len, row))
    return gather_error_set(own, GATHER_OUT_OF_MEMORY, "out of memory for %lld hot rows", (long long)len);
  if (plan->fill_row) memcpy(grown.data, plan->fill_row, (size_t)row);
  memcpy((char *)grown.data + plan->fill_slots * row, rows, (size_t)(len * row));
  free(plan->arriving.data);
  plan->arriving = grown;
  for (int64_t i = 0; i < len; i++) {
    bool found;
    gather_mpi_distinct_add(&plan->hot.slots, plan->hot.rows[i], (int32_t)(plan->fill_slots + i), &found);
    plan->hot.takes[i] = 0;
  }
  return GATHER_OK;
}

gather_status gather_mpi_hot_renew(gather_mpi_plan *plan, int32_t *failed, gather_error *error) {
  const int64_t take = plan->statistics.takes + 1;
  if (plan->hot.most == 0) return GATHER_OK;
  if (take < 2 || (take & (take - 1)) != 0) return GATHER_OK;
  int64_t len;
  gather_error own;
  gather_status status = choose(plan, &len, failed, error);
  if (status != GATHER_OK) return status;
  const gather_mpi_statistics before = plan->statistics;
  plan->kept = false; /* slots and buffers change */
  plan->hot.len = 0;
  gather_mpi_buffer rows = {0};
  gather_status own_status = GATHER_OK;
  if (!gather_mpi_reserve(&rows, len, plan->owner.row_bytes) || !gather_mpi_reserve(&plan->rows, len, sizeof(int64_t))) {
    own_status = gather_error_set(&own, GATHER_OUT_OF_MEMORY, "out of memory for %lld hot rows", (long long)len);
  } else {
    memcpy(plan->rows.data, plan->hot.rows, (size_t)len * sizeof(int64_t));
  }
  status = fetch(plan, len, rows.data, own_status, &own, failed, error);
  if (status == GATHER_OK) {
    own_status = keep(plan, len, rows.data, &own);
    status = gather_mpi_agree(&plan->link, own_status, &own, plan->op, failed, error);
  }
  if (status == GATHER_OK) plan->hot.len = len;
  /* Only the callers' rows are counted. */
  plan->statistics = before;
  free(rows.data);
  return status;
}
