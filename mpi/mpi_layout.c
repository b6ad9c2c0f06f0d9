/* SPDX-License-Identifier: MIT
 *
 * mpi_layout.c: whether what the ranks bring fits together, and which rank has which rows.
 */
#include <inttypes.h>

#include "mpi_internal.h"

static const struct {
  gather_status status;
  const char *what;
} differences[RECORD_LEN] = {
    [RECORD_TYPE] = {GATHER_TYPE_MISMATCH, "another type of elements"},
    [RECORD_ITEM] = {GATHER_TYPE_MISMATCH, "elements of another size"},
    [RECORD_ORDER] = {GATHER_TYPE_MISMATCH, "another byte order"},
    [RECORD_ROW_RANK] = {GATHER_SHAPE_MISMATCH, "rows of another rank"},
    [RECORD_ROW_SHAPE] = {GATHER_SHAPE_MISMATCH, "rows of another shape"},
    [RECORD_LAYOUT] = {GATHER_MISMATCH, "another layout"},
    [RECORD_OPTIONS] = {GATHER_MISMATCH, "other options"},
    [RECORD_BUILD] = {GATHER_MISMATCH, "another build of libgather_mpi"},
};

/* The same error on every rank, since all have all records. */
gather_status gather_mpi_compare(const int64_t *records, int ranks, int32_t *failed, gather_error *error) {
  for (int what = RECORD_TYPE; what < RECORD_LEN; what++)
    for (int p = 1; p < ranks; p++)
      if (records[p * RECORD_LEN + what] != records[what]) {
        *failed = p;
        return gather_error_set_input(error, differences[what].status, what >= RECORD_LAYOUT ? "options" : "data",
                                      "rank %d: it has %s than rank 0", p, differences[what].what);
      }
  return GATHER_OK;
}

/* The rows of each rank as split points; all tables of one size where each rank has the whole. */
static gather_status add_up(gather_mpi_plan *plan, const int64_t *records, gather_mpi_layout layout, int32_t *failed, gather_error *error) {
  const int ranks = plan->link.ranks;
  plan->splits[0] = 0;
  for (int p = 0; p < ranks; p++) {
    const int64_t rows = records[p * RECORD_LEN + RECORD_ROWS];
    *failed = p;
    if (layout == GATHER_MPI_SAME) {
      if (rows != records[RECORD_ROWS])
        return gather_error_set_input(error, GATHER_SHAPE_MISMATCH, "data",
                                      "rank %d: its table has %" PRId64 " rows, that of rank 0 %" PRId64, p, rows, records[RECORD_ROWS]);
      plan->splits[p + 1] = rows;
      continue;
    }
    if (rows > INT64_MAX - plan->splits[p])
      return gather_error_set_input(error, GATHER_OVERFLOW, "data", "the rows of all ranks do not fit 63 bits");
    plan->splits[p + 1] = plan->splits[p] + rows;
  }
  *failed = -1;
  return GATHER_OK;
}

/* Whether each rank has as many rows as the layout says. */
static gather_status check_counts(const gather_mpi_plan *plan, const int64_t *records, const gather_mpi_spread *wanted, int32_t *failed,
                                  gather_error *error) {
  for (int p = 0; p < plan->link.ranks; p++) {
    const int64_t rows = records[p * RECORD_LEN + RECORD_ROWS], should = gather_mpi_spread_count(wanted, p);
    if (rows == should) continue;
    *failed = p;
    return gather_error_set_input(error, GATHER_SHAPE_MISMATCH, "data", "rank %d: it has %" PRId64 " rows; the layout needs %" PRId64, p,
                                  rows, should);
  }
  return GATHER_OK;
}

gather_status gather_mpi_lay_out(gather_mpi_plan *plan, const int64_t *records, const gather_mpi_options *options, int32_t *failed,
                                 gather_error *error) {
  const int ranks = plan->link.ranks;
  gather_mpi_layout layout = options->layout;
  bool same = true;
  for (int p = 0; p < ranks; p++)
    same = same && records[p * RECORD_LEN + RECORD_TABLE] && records[p * RECORD_LEN + RECORD_IDENTITY] == records[RECORD_IDENTITY];
  if (layout == GATHER_MPI_AUTO) layout = same && ranks > 1 ? GATHER_MPI_SAME : GATHER_MPI_BLOCKS;
  plan->info.layout = layout;
  gather_status status = add_up(plan, records, layout, failed, error);
  if (status != GATHER_OK) return status;
  const int64_t total = plan->splits[ranks];
  if (layout == GATHER_MPI_STRIPES) {
    gather_mpi_spread_stripes(&plan->spread, ranks, total);
    status = check_counts(plan, records, &plan->spread, failed, error);
  } else if (layout == GATHER_MPI_SAME) {
    plan->splits[1] = total; /* one party, which has everything */
    gather_mpi_spread_splits(&plan->spread, 1, plan->splits);
  } else if (layout == GATHER_MPI_SPLITS) {
    gather_mpi_spread wanted;
    gather_mpi_spread_splits(&wanted, ranks, options->splits);
    status = check_counts(plan, records, &wanted, failed, error);
  }
  if (layout == GATHER_MPI_BLOCKS || layout == GATHER_MPI_SPLITS) gather_mpi_spread_splits(&plan->spread, ranks, plan->splits);
  plan->info.rows = total;
  return status;
}
