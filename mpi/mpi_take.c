/* SPDX-License-Identifier: MIT
 *
 * mpi_take.c: one take: validate, exchange, or take one's own rows.
 */
#include <stdint.h>

#include "mpi_internal.h"

/* Whether rows are written at consecutive places. */
static bool is_flat(const gather_tensor *rows) {
  if (rows->packed_offset != 0) return false;
  if (!rows->strides) return true;
  const gather_type_info *type = gather_type_get(rows->type);
  int64_t step = type->bits % 8 != 0 ? 1 : type->kind == GATHER_KIND_OPAQUE ? rows->item_bytes : type->bits / 8;
  for (int32_t d = rows->rank - 1; d >= 0; d--) {
    if (rows->shape[d] == 0) return true;
    if (rows->shape[d] != 1 && rows->strides[d] != step) return false;
    step *= rows->shape[d];
  }
  return true;
}

/* This rank has all rows, in memory or in a table: no row is copied twice. */
static gather_status take_alone(gather_mpi_plan *plan, const gather_tensor *ids, const gather_tensor *rows, gather_error *error) {
  const gather_mpi_owner *owner = &plan->owner;
  const double start = gather_mpi_now();
  /* Ids were validated; they are those that were validated, even if the caller's change. */
  const gather_tensor numbers = {.data = plan->rows.data, .type = GATHER_TYPE_INT64, .rank = ids->rank, .shape = ids->shape};
  const gather_op *op = gather_op_find("Gather", "onnx-13");
  gather_on_bad on_bad = GATHER_ON_BAD_ERROR;
  if (plan->fill_slots > 0) on_bad = plan->fill_element ? GATHER_ON_BAD_FILL : GATHER_ON_BAD_ZERO; /* of rows -1 */
  gather_status status;
  if (owner->table) {
    gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
    options.op = op;
    options.executor = owner->executor;
    options.negative = GATHER_NEGATIVE_OFF;
    options.on_bad = on_bad;
    options.fill = plan->fill_element;
    status = gather_table_take(owner->table, &numbers, rows, &options, error);
  } else {
    gather_options options = GATHER_OPTIONS_INIT;
    options.executor = owner->executor;
    options.fresh_output = true;
    options.negative = GATHER_NEGATIVE_OFF;
    options.on_bad = on_bad;
    options.fill = plan->fill_element;
    status = gather_apply(op, &owner->mine, &numbers, rows, &options, error);
  }
  plan->statistics.seconds_gather += gather_mpi_now() - start;
  plan->statistics.rows_own += plan->raw_len;
  plan->statistics.unique += plan->raw_len;
  return status;
}

/* Everything about the arguments of this rank. */
static gather_status check_own(gather_mpi_plan *plan, const gather_tensor *ids, const gather_tensor *rows, bool *same, int64_t *repaired,
                               gather_error *own) {
  const double start = gather_mpi_now();
  gather_status status = gather_mpi_ids_read(plan, ids, rows, same, repaired, own);
  if (status == GATHER_OK && !is_flat(rows))
    status = gather_error_set_input(own, GATHER_UNSUPPORTED, "output", "rows that are not row-major without gaps are not supported");
  if (status == GATHER_OK && rows->flags & GATHER_TENSOR_READ_ONLY)
    status = gather_error_set_input(own, GATHER_USAGE, "output", "rows are read-only");
  plan->statistics.seconds_plan += gather_mpi_now() - start;
  return status;
}

static gather_status exchange_all(gather_mpi_plan *plan, const gather_tensor *rows, gather_status own_status, bool same, gather_error *own,
                                  int32_t *failed, gather_error *error) {
  const int64_t most = gather_mpi_most_ids(plan), len = own_status == GATHER_OK ? plan->raw_len : 0;
  gather_mpi_part part = {.rows = rows};
  bool any_more = true;
  gather_status status = GATHER_OK;
  int64_t exchanges = 0;
  while (status == GATHER_OK && any_more) {
    part.begin += part.len;
    part.len = len - part.begin < most ? len - part.begin : most;
    part.more = part.begin + part.len < len;
    part.same = same && exchanges == 0;
    status = gather_mpi_exchange(plan, &part, own_status, own, &any_more, failed, error);
    if (status == GATHER_OK) gather_mpi_hot_count(plan);
    exchanges++;
  }
  /* The schedule is that of all ids only if there was one exchange, which is known to all. */
  plan->kept = status == GATHER_OK ? exchanges == 1 : false;
  return status;
}

gather_status gather_mpi_take(gather_mpi_plan *plan, const gather_tensor *ids, const gather_tensor *rows, gather_error *error) {
  gather_error own;
  bool same = false;
  int32_t failed = -1;
  int64_t repaired = 0;
  if (!plan) return gather_error_set(error, GATHER_USAGE, "plan is NULL");
  if (plan->failed_rank) *plan->failed_rank = -1;
  if (plan->link.broken)
    return gather_error_set(error, GATHER_IO_ERROR,
                            "rank %d: an earlier call failed while rows were in flight: "
                            "this plan cannot be used any more",
                            plan->link.rank);
  gather_status status = check_own(plan, ids, rows, &same, &repaired, &own);
  if (plan->alone) {
    status = gather_mpi_agree(&plan->link, status, &own, plan->op, &failed, error);
    if (status == GATHER_OK) {
      status = take_alone(plan, ids, rows, &own);
      plan->kept = true;
      status = gather_mpi_agree(&plan->link, status, &own, plan->op, &failed, error);
    }
  } else {
    status = exchange_all(plan, rows, status, same, &own, &failed, error);
    if (status == GATHER_OK) status = gather_mpi_hot_renew(plan, &failed, error);
  }
  if (plan->failed_rank) *plan->failed_rank = failed;
  if (status != GATHER_OK) return status;
  plan->statistics.takes++;
  plan->statistics.takes_kept += same;
  plan->statistics.ids += gather_tensor_len(ids);
  plan->statistics.repaired += repaired;
  return GATHER_OK;
}
