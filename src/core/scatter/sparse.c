/* SPDX-License-Identifier: MIT
 *
 * sparse.c: gradients in sparse form, and sums of rows of equal ids: each different row once. Updates are sorted by their rows; then the
 * rows are numbered anew, without gaps, and summed as a scatter into these.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/op/family.h"
#include "core/op/op.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

struct gather_sparse {
  gather_scatter_plan plan; /* of rows without gaps, from updates without gaps */
  gather_sorted sorted;
  int64_t *ids;
  int64_t rows;
  gather_tensor grad; /* of the caller; its shape and strides follow */
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  bool dense; /* it has no gaps */
};

void gather_sparse_destroy(gather_sparse *sparse) {
  if (!sparse) return;
  gather_free(sparse->sorted.memory);
  gather_free(sparse->ids);
  gather_free(sparse);
}

int64_t gather_sparse_rows(const gather_sparse *sparse, int64_t *row_len) {
  if (row_len) *row_len = sparse->plan.len;
  return sparse->rows;
}

/* ---- the rows without gaps */

static void keep_grad(gather_sparse *sparse, const gather_tensor *grad) {
  sparse->grad = *grad, sparse->grad.data = NULL;
  memcpy(sparse->shape, grad->shape, (size_t)grad->rank * sizeof *grad->shape);
  gather_tensor_strides(grad, sparse->strides);
  sparse->dense = gather_tensor_is_row_major(grad);
}

/* Rows of the destination follow each other, and begin at zero. */
static void settle_plan(gather_scatter_plan *plan) {
  const char *isa;
  plan->place_low = 0, plan->place_step = plan->nest.row_bytes;
  plan->len = plan->nest.row_bytes / plan->item_bytes;
  plan->combine = gather_kernel_combine(GATHER_REDUCTION_ADD, plan->type, plan->item_bytes, plan->len, &isa);
  plan->sorts = plan->wide != NULL;
  plan->kept = true;
}

/* From the entries' places to numbers without gaps. */
static gather_status number_rows(gather_sparse *sparse, gather_error *error) {
  gather_sorted *sorted = &sparse->sorted;
  const uint64_t mask = (UINT64_C(1) << sorted->position_bits) - 1;
  int64_t rows = 0, bytes;
  for (int64_t i = 0; i < sorted->count; i = gather_sorted_end(sorted, i)) rows++;
  if (gather_mul(rows, (int64_t)sizeof *sparse->ids, &bytes)) sparse->ids = gather_alloc_unset(bytes > 0 ? bytes : 1);
  if (!sparse->ids) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the rows' numbers");
  for (int64_t i = 0, end; i < sorted->count; i = end) {
    end = gather_sorted_end(sorted, i);
    sparse->ids[sparse->rows] = (int64_t)(sorted->entries[i] >> sorted->position_bits);
    for (int64_t j = i; j < end; j++) sorted->entries[j] = (uint64_t)sparse->rows << sorted->position_bits | (sorted->entries[j] & mask);
    sparse->rows++;
  }
  sparse->plan.places = sparse->rows;
  return GATHER_OK;
}

/* ---- gradients of gathers */

/* The elements of a row: behind the last dimension of data that an index selects on, or that data and indices share. */
static gather_status measure_row(const gather_op *op, const gather_family_rules *rules, const gather_tensor *data,
                                 const gather_tensor *indices, const gather_options *options, int64_t *row_len, gather_error *error) {
  gather_attributes a = {.axis = -1, .batch_dims = -1, .tuple_len = -1};
  gather_dim_source sources[GATHER_MAX_RANK];
  const int64_t tuple_len = indices->rank > 0 ? indices->shape[indices->rank - 1] : -1;
  int32_t last = -1;
  GATHER_TRY(rules->attributes(op, data->rank, indices->rank, tuple_len, options, true, &a, error));
  const int32_t rank = rules->sources(op, data->rank, indices->rank, &a, sources);
  for (int32_t d = 0; d < data->rank; d++)
    if (rules->column(&a, d) >= 0) last = d;
  for (int32_t o = 0; o < rank; o++)
    if (sources[o].indices >= 0 && sources[o].data + sources[o].count - 1 > last) last = sources[o].data + sources[o].count - 1;
  *row_len = 1;
  for (int32_t d = last + 1; d < data->rank; d++)
    if (!gather_mul(*row_len, data->shape[d], row_len)) *row_len = 0; /* only where data has no elements */
  return GATHER_OK;
}

static gather_status lower_gradient(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *grad,
                                    const gather_scatter_options *options, gather_sparse *sparse, gather_error *error) {
  gather_scatter_plan *plan = &sparse->plan;
  const gather_family_rules *rules;
  int64_t row_len;
  gather_options nest_options = GATHER_OPTIONS_INIT;
  gather_tensor to = *data, from = *grad;
  GATHER_TRY(gather_family_find(op, &rules, error));
  if (options->numbers)
    return gather_fail(error, GATHER_UNSUPPORTED, "%s has no gradient in sparse form: its windows may overlap", op->name);
  GATHER_TRY(gather_tensor_check_input(data, "data", error));
  GATHER_TRY(gather_tensor_check_input(indices, "indices", error));
  GATHER_TRY(gather_tensor_check_input(grad, "grad", error));
  to.strides = NULL, to.type = grad->type, to.data = NULL, to.flags = 0, from.strides = NULL;
  GATHER_TRY(gather_scatter_lower(op, rules, &to, indices, &from, NULL, options, plan, error));
  nest_options.axis = options->axis, nest_options.batch_dims = options->batch_dims;
  GATHER_TRY(measure_row(op, rules, data, indices, &nest_options, &row_len, error));
  if (plan->nest.row_count > 0 && !plan->empty) {
    gather_scatter_part_rows(plan, row_len * plan->item_bytes);
    plan->place_low = 0, plan->place_step = plan->nest.row_bytes, plan->places = plan->data_len / row_len;
    if (plan->places == 0) plan->places = 1; /* the axis has none: all indices are skipped */
  }
  plan->len = row_len;
  return GATHER_OK;
}

static gather_status create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *grad,
                            const gather_scatter_options *options, gather_sparse *sparse, gather_error *error) {
  gather_scatter_options full;
  int64_t bad = 0;
  GATHER_TRY(gather_scatter_options_read(options, &full, error));
  if (!data || !indices || !grad) return gather_fail(error, GATHER_USAGE, "data, indices or grad is NULL");
  full.reduction = GATHER_REDUCTION_ADD;
  GATHER_TRY(lower_gradient(op, data, indices, grad, &full, sparse, error));
  keep_grad(sparse, grad);
  GATHER_TRY(gather_scatter_sort(&sparse->plan, indices->data, full.executor, false, &sparse->sorted, &bad, error));
  if (full.bad_count) *full.bad_count = bad;
  GATHER_TRY(number_rows(sparse, error));
  if (sparse->plan.nest.row_count > 0 && !sparse->plan.empty) settle_plan(&sparse->plan);
  return GATHER_OK;
}

gather_status gather_sparse_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *grad,
                                   const gather_scatter_options *options, gather_sparse **sparse, gather_error *error) {
  if (!op || !sparse) return gather_fail(error, GATHER_USAGE, "the operator or `sparse` is NULL");
  *sparse = NULL;
  gather_sparse *made = gather_alloc(sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a gradient");
  const gather_status status = create(op, data, indices, grad, options, made, error);
  if (status == GATHER_OK)
    *sparse = made;
  else
    gather_sparse_destroy(made);
  return gather_fail_op(error, op, status);
}

/* ---- ids of any value: sorted by all their bits, with their numbers */

typedef struct {
  uint64_t id; /* in the order of signed numbers */
  uint64_t number;
} numbered_id;

/* Stable; digits that all ids share are passed over. Returns the array with the result. */
static numbered_id *sort_ids(numbered_id *from, numbered_id *to, int64_t count) {
  for (int shift = 0; shift < 64; shift += 8) {
    int64_t at[257] = {0};
    for (int64_t i = 0; i < count; i++) at[(from[i].id >> shift & 255) + 1]++;
    bool one = false;
    for (int digit = 1; digit <= 256; digit++) one |= at[digit] == count;
    if (one) continue;
    for (int digit = 1; digit <= 256; digit++) at[digit] += at[digit - 1];
    for (int64_t i = 0; i < count; i++) to[at[from[i].id >> shift & 255]++] = from[i];
    numbered_id *other = from;
    from = to, to = other;
  }
  return from;
}

enum { SIGN = 63 };

/* Whether each is below 2^63. */
static bool read_ids(const gather_scatter_plan *plan, const char *indices, numbered_id *ids) {
  const gather_plan *nest = &plan->nest;
  int64_t signs = 0;
  gather_walk walk;
  gather_walk_start(&walk, nest->loops, nest->loop_count, 0);
  for (int64_t at = 0; at < nest->row_count; at++) {
    const int64_t value = gather_index_value(&nest->rule, indices + walk.index);
    signs |= value;
    ids[at] = (numbered_id){(uint64_t)value ^ UINT64_C(1) << SIGN, (uint64_t)at};
    gather_walk_next(&walk, 1);
  }
  return signs >= 0 || nest->rule.type != GATHER_TYPE_UINT64;
}

/* Entries and ids from sorted ids. */
static gather_status take_ids(gather_sparse *sparse, const numbered_id *ids, int64_t count, gather_error *error) {
  gather_sorted *sorted = &sparse->sorted;
  for (int64_t most = count - 1; most > 0; most >>= 1) sorted->position_bits++;
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) rows += i == 0 || ids[i].id != ids[i - 1].id;
  sorted->memory = sorted->entries = gather_alloc_unset(count > 0 ? count * (int64_t)sizeof *sorted->entries : 1);
  sparse->ids = gather_alloc_unset(rows > 0 ? rows * (int64_t)sizeof *sparse->ids : 1);
  if (!sorted->entries || !sparse->ids) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for sorted ids");
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || ids[i].id != ids[i - 1].id) sparse->ids[sparse->rows++] = (int64_t)(ids[i].id ^ UINT64_C(1) << SIGN);
    sorted->entries[i] = (uint64_t)(sparse->rows - 1) << sorted->position_bits | ids[i].number;
  }
  sorted->count = count, sparse->plan.places = rows;
  return GATHER_OK;
}

static gather_status sort_all_ids(gather_sparse *sparse, const char *indices, gather_error *error) {
  const int64_t count = sparse->plan.nest.row_count;
  int64_t bytes;
  numbered_id *ids = gather_mul(count, 2 * (int64_t)sizeof *ids, &bytes) ? gather_alloc_unset(bytes > 0 ? bytes : 1) : NULL;
  if (!ids) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for sorted ids");
  gather_status status = GATHER_OK;
  if (!read_ids(&sparse->plan, indices, ids))
    status = gather_fail_input(error, GATHER_USAGE, "ids", "an id is 2^63 or more");
  else
    status = take_ids(sparse, sort_ids(ids, ids + count, count), count, error);
  gather_free(ids);
  return status;
}

/* The nest of ids that others may write walks a copy of them. */
static gather_status sort_given_ids(gather_sparse *sparse, const char *indices, gather_error *error) {
  const gather_plan *nest = &sparse->plan.nest;
  if (nest->row_count > 0 && !indices) return gather_fail_input(error, GATHER_USAGE, "ids", "the ids' data pointer is NULL");
  if (!nest->shared || nest->row_count == 0) return sort_all_ids(sparse, indices, error);
  char *copy = gather_alloc_unset(nest->index_count * (gather_type_row(nest->rule.type)->bits / 8));
  if (!copy) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the ids");
  gather_shared_copy_all(nest, indices, NULL, copy);
  const gather_status status = sort_all_ids(sparse, copy, error);
  gather_free(copy);
  return status;
}

/* The shape of rows: that of ids, then that of a row. */
static gather_status check_rows(const gather_tensor *ids, const gather_tensor *rows, gather_error *error) {
  GATHER_TRY(gather_tensor_check_input(ids, "ids", error));
  GATHER_TRY(gather_tensor_check_input(rows, "rows", error));
  if (!gather_type_is_index(ids->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "ids", "ids must be integers, not %s", gather_type_get(ids->type)->name);
  bool same = rows->rank >= ids->rank && rows->rank < GATHER_MAX_RANK;
  for (int32_t d = 0; same && d < ids->rank; d++) same = rows->shape[d] == ids->shape[d];
  char has[128], needs[128];
  if (same) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "rows", "rows have the shape %s; it must begin with that of ids, %s",
                           gather_shape_text(has, sizeof has, rows->rank, rows->shape),
                           gather_shape_text(needs, sizeof needs, ids->rank, ids->shape));
}

static gather_status create_unique(const gather_tensor *ids, const gather_tensor *rows, const gather_scatter_options *options,
                                   gather_sparse *sparse, gather_error *error) {
  gather_scatter_options full;
  const gather_op *op = gather_scatter_op("scatter");
  const gather_family_rules *rules;
  int64_t shape[GATHER_MAX_RANK] = {1};
  gather_tensor to = *rows, from = *rows;
  GATHER_TRY(gather_scatter_options_read(options, &full, error));
  GATHER_TRY(check_rows(ids, rows, error));
  GATHER_TRY(gather_family_find_written(op, &rules, error));
  to.rank = rows->rank - ids->rank + 1, to.shape = shape, to.strides = NULL, to.data = NULL, to.flags = 0, from.strides = NULL;
  int64_t row_len = 1;
  for (int32_t d = 1; d < to.rank; d++) {
    shape[d] = rows->shape[ids->rank + d - 1];
    if (!gather_mul(row_len, shape[d], &row_len)) row_len = 0;
  }
  full.axis = 0, full.batch_dims = 0, full.unique = false, full.numbers = NULL, full.reduction = GATHER_REDUCTION_ADD;
  full.on_bad = GATHER_ON_BAD_PROMISE, full.negative = GATHER_NEGATIVE_OFF;
  GATHER_TRY(gather_scatter_lower(op, rules, &to, ids, &from, NULL, &full, &sparse->plan, error));
  if (sparse->plan.nest.row_count > 0) gather_scatter_part_rows(&sparse->plan, row_len * sparse->plan.item_bytes);
  sparse->plan.len = row_len;
  keep_grad(sparse, rows);
  GATHER_TRY(sort_given_ids(sparse, ids->data, error));
  if (sparse->plan.nest.row_count > 0) settle_plan(&sparse->plan);
  return GATHER_OK;
}

gather_status gather_unique_rows(const gather_tensor *ids, const gather_tensor *rows, const gather_scatter_options *options,
                                 gather_sparse **sparse, gather_error *error) {
  if (!ids || !rows || !sparse) return gather_fail(error, GATHER_USAGE, "ids, rows or `sparse` is NULL");
  *sparse = NULL;
  gather_sparse *made = gather_alloc(sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for sorted ids");
  const gather_status status = create_unique(ids, rows, options, made, error);
  if (status == GATHER_OK)
    *sparse = made;
  else
    gather_sparse_destroy(made);
  return status;
}

/* ---- sums */

/* A copy of gradients that have gaps, without them. */
static gather_status copy_grad(const gather_sparse *sparse, const void *grad, const gather_executor *executor, char **copy,
                               gather_error *error) {
  gather_tensor from = sparse->grad, to = sparse->grad;
  from.data = (void *)(uintptr_t)grad, from.shape = to.shape = sparse->shape, from.strides = sparse->strides, to.strides = NULL;
  to.flags = 0;
  *copy = gather_alloc_unset(gather_tensor_bytes(&to));
  if (!*copy) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the gradients");
  to.data = *copy;
  return gather_whole_copy(&from, &to, executor, error);
}

gather_status gather_sparse_write(const gather_sparse *sparse, const void *grad, int64_t *ids, void *rows, const gather_executor *executor,
                                  gather_error *error) {
  if (!sparse) return gather_fail(error, GATHER_USAGE, "`sparse` is NULL");
  GATHER_TRY(gather_executor_check(executor, error));
  if (sparse->rows == 0) return GATHER_OK;
  if (!grad || !ids || !rows) return gather_fail(error, GATHER_USAGE, "grad, ids or rows is NULL");
  char *copy = NULL;
  gather_status status = sparse->dense ? GATHER_OK : copy_grad(sparse, grad, executor, &copy, error);
  if (status == GATHER_OK) {
    const gather_scatter_plan *plan = &sparse->plan;
    gather_scattering s = {.plan = plan, .out = rows, .updates = copy ? copy : grad, .executor = executor};
    memcpy(ids, sparse->ids, (size_t)sparse->rows * sizeof *ids);
    gather_whole_clear(rows, sparse->rows * plan->place_step, executor);
    gather_scatter_sorted(&s, &sparse->sorted);
  }
  gather_free(copy);
  return status;
}
