/* SPDX-License-Identifier: MIT
 *
 * test_mpi_schedule.c: the planner of libgather_mpi, which needs no MPI: every id's slot receives its row, each row is asked for once,
 * and no part of the output needs a row of a later round.
 */
#include "mpi/schedule.h"
#include "support/unit.h"

/* after the headers that it needs */
enum { MOST = 2000, RANKS = 9 };

static uint64_t state = 88172645463325252u;

static int64_t below(int64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)(state % (uint64_t)n);
}

/* A table of some rows over some ranks, some of them without rows. splits: room for RANKS + 1. */
static void random_spread(gather_mpi_spread *spread, int64_t *splits) {
  const int32_t ranks = 1 + (int32_t)below(RANKS);
  const int64_t kind = below(3), block = 1 + below(300);
  splits[0] = 0;
  for (int32_t p = 0; p < ranks; p++) splits[p + 1] = splits[p] + (kind == 0 ? block : below(4) ? below(300) : 0);
  if (kind == 0 && ranks > 1) splits[ranks] -= below(block + 1); /* a last block that is shorter, or empty */
  if (splits[ranks] == 0) splits[ranks] = 1;
  if (kind == 2) {
    gather_mpi_spread_stripes(spread, ranks, splits[ranks]);
  } else {
    gather_mpi_spread_splits(spread, ranks, splits);
    if (kind == 0 && splits[ranks] >= block) assert_int_equal(spread->block, block);
  }
}

/* The row that a rank has as number `local`, from the definition. */
static int64_t row_of(const gather_mpi_spread *spread, int32_t rank, int64_t local) {
  return spread->splits ? spread->splits[rank] + local : local * spread->ranks + rank;
}

static void finds_every_row(void **unused) {
  int64_t splits[RANKS + 1];
  for (int i = 0; i < 300; i++) {
    gather_mpi_spread spread;
    random_spread(&spread, splits);
    int64_t seen = 0;
    for (int32_t p = 0; p < spread.ranks; p++)
      for (int64_t k = 0; k < gather_mpi_spread_count(&spread, p); k++, seen++) {
        int64_t local;
        assert_int_equal(gather_mpi_spread_find(&spread, row_of(&spread, p, k), &local), p);
        assert_int_equal(local, k);
      }
    assert_int_equal(seen, spread.rows);
  }
}

/* Numbers at which a product of doubles may be one too low or too high, and those beyond doubles. */
static void finds_large_rows(void **unused) {
  static const int64_t blocks[] = {3, 7, 1000003, ((int64_t)1 << 31) - 1, ((int64_t)1 << 40) + 1, (int64_t)1 << 58};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    int64_t splits[4 + 1];
    for (int p = 0; p <= 4; p++) splits[p] = p * blocks[b];
    gather_mpi_spread spread, stripes;
    gather_mpi_spread_splits(&spread, 4, splits);
    gather_mpi_spread_stripes(&stripes, 3, splits[4]);
    for (int64_t near = 0; near < 5; near++)
      for (int64_t add = -1; add <= 1; add++) {
        const int64_t row = near * blocks[b] + add;
        if (row < 0 || row >= splits[4]) continue;
        int64_t local;
        assert_int_equal(gather_mpi_spread_find(&spread, row, &local), row / blocks[b]);
        assert_int_equal(local, row % blocks[b]);
        assert_int_equal(gather_mpi_spread_find(&stripes, row, &local), row % 3);
        assert_int_equal(local, row / 3);
      }
  }
}

/* Plays the exchange of one rank: the row that arrives in each slot; -2 where none does. */
static void play(const gather_mpi_schedule *schedule, const gather_mpi_spread *spread, int64_t *arrived) {
  int64_t id = 0, slot_of_cell[RANKS * GATHER_MPI_MAX_ROUNDS], slot = schedule->reserved;
  for (int32_t r = 0; r < schedule->rounds; r++) {
    assert_int_equal(slot - schedule->reserved, schedule->round_first[r]);
    for (int32_t p = 0; p < schedule->ranks; p++) {
      slot_of_cell[p * schedule->rounds + r] = slot;
      slot += schedule->counts[p * schedule->rounds + r];
    }
  }
  assert_int_equal(slot - schedule->reserved, schedule->unique);
  for (int32_t p = 0; p < schedule->ranks; p++)
    for (int32_t r = 0; r < schedule->rounds; r++)
      for (int64_t k = 0; k < schedule->counts[p * schedule->rounds + r]; k++) {
        const int64_t at = slot_of_cell[p * schedule->rounds + r] + k;
        assert_int_equal(arrived[at], -2);
        arrived[at] = row_of(spread, p, schedule->ids[id++]);
      }
  assert_int_equal(id, schedule->unique);
}

static void check_schedule(const gather_mpi_schedule *schedule, const gather_mpi_spread *spread, const int64_t *rows, int64_t len,
                           const gather_mpi_distinct *hot) {
  static int64_t arrived[2 * MOST], times[4 * MOST];
  for (int64_t i = 0; i < schedule->reserved + schedule->unique; i++) arrived[i] = -2;
  memset(times, 0, sizeof times);
  play(schedule, spread, arrived);
  for (int64_t s = schedule->reserved; s < schedule->reserved + schedule->unique; s++)
    assert_int_equal(++times[arrived[s]], 1); /* no row twice */
  for (int32_t r = 0; r < schedule->rounds; r++)
    for (int64_t j = gather_mpi_round_begin(len, schedule->rounds, r); j < gather_mpi_round_begin(len, schedule->rounds, r + 1); j++) {
      const int64_t slot = schedule->slots[j];
      assert_true(slot < schedule->reserved + schedule->round_first[r + 1]);
      if (rows[j] < 0) {
        assert_int_equal(slot, 0);
      } else if (slot < schedule->reserved) {
        assert_int_equal(gather_mpi_distinct_get(hot, rows[j]), slot);
      } else {
        assert_int_equal(arrived[slot], rows[j]);
        assert_int_equal(gather_mpi_distinct_get(hot, rows[j]), -1);
      }
    }
}

static void plans_every_list(void **unused) {
  gather_mpi_schedule schedule = {0};
  gather_mpi_distinct hot = {0};
  static int64_t rows[MOST];
  int64_t splits[RANKS + 1];
  for (int i = 0; i < 3000; i++) {
    gather_mpi_spread spread;
    random_spread(&spread, splits);
    const int64_t len = below(8) ? below(i % 10 ? 60 : MOST) : 0, few = 1 + below(spread.rows);
    const int32_t rounds = 1 + (int32_t)below(GATHER_MPI_MAX_ROUNDS);
    const int64_t hot_rows = below(2) ? below(1 + (spread.rows < 50 ? spread.rows : 50)) : 0;
    assert_true(gather_mpi_distinct_begin(&hot, hot_rows));
    for (int64_t k = 0; k < hot_rows; k++) {
      bool found;
      gather_mpi_distinct_add(&hot, k, (int32_t)(1 + k), &found);
      assert_false(found);
    }
    for (int64_t j = 0; j < len; j++) rows[j] = below(20) ? below(few) : -1;
    assert_true(gather_mpi_schedule_build(&schedule, &spread, rows, len, rounds, 1 + hot_rows, &hot));
    assert_int_equal(schedule.len, len);
    check_schedule(&schedule, &spread, rows, len, &hot);
  }
  gather_mpi_schedule_free(&schedule);
  gather_mpi_distinct_free(&hot);
}

/* Stamps that go round must not bring back the rows of an earlier list. */
static void forgets_rows(void **unused) {
  gather_mpi_distinct set = {0};
  bool found;
  assert_true(gather_mpi_distinct_begin(&set, 10));
  gather_mpi_distinct_add(&set, 5, 1, &found);
  set.stamp = UINT32_MAX;
  gather_mpi_distinct_add(&set, 6, 1, &found);
  assert_true(gather_mpi_distinct_begin(&set, 10));
  assert_int_equal(gather_mpi_distinct_get(&set, 5), -1);
  assert_int_equal(gather_mpi_distinct_get(&set, 6), -1);
  gather_mpi_distinct_free(&set);
}

TESTS(finds_every_row, finds_large_rows, plans_every_list, forgets_rows)
