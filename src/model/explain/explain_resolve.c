/* SPDX-License-Identifier: MIT
 *
 * explain_resolve.c: where each cell comes from. The library itself resolves it, by gathering from a table of offsets,
 * so that the drawing cannot differ from the command `take`.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "model/explain/drawing.h"

/* Above these, coordinates are computed instead: the table of offsets would take more memory than a drawing is worth. */
enum { MOST_DATA = 1 << 20, MOST_OUT = 1 << 16, MOST_AXIS = 1 << 20 };

static const int64_t NONE = -1;

static int64_t *iota(int64_t len) {
  int64_t *numbers = gather_alloc(len * (int64_t)sizeof *numbers); /* of at most 2^20 */
  for (int64_t i = 0; numbers && i < len; i++) numbers[i] = i;
  return numbers;
}

/* The policy of the drawing: what is filled, or an error, leaves the mark NONE. */
static gather_options marking(const gather_explain *ex) {
  gather_options options = ex->options;
  options.on_bad = ex->repairs ? ex->on_bad : GATHER_ON_BAD_FILL;
  options.fill = &NONE;
  return options;
}

/* The offset in data of every output cell. */
static gather_status ask_engine(gather_explain *ex, gather_error *error) {
  const gather_tensor *data = &ex->data;
  gather_tensor offsets = {.type = GATHER_TYPE_INT64, .rank = data->rank, .shape = data->shape};
  gather_tensor out = {.type = GATHER_TYPE_INT64, .rank = ex->out_rank, .shape = ex->out_shape};
  int64_t data_len = gather_tensor_len(data), out_len = gather_tensor_len(&out);
  if (data_len > MOST_DATA || out_len > MOST_OUT) return GATHER_OK;
  gather_options options = marking(ex);
  offsets.data = iota(data_len);
  out.data = ex->engine = iota(out_len);
  gather_status status = GATHER_OUT_OF_MEMORY;
  if (!offsets.data || !out.data)
    (void)gather_fail(error, status, "out of memory for the drawing");
  else
    status = gather_apply(ex->op, &offsets, &ex->indices, &out, &options, error);
  gather_free(offsets.data);
  return status;
}

/* The first bad index, if there is one, and whether that is an error here. */
static gather_status find_bad(gather_explain *ex, gather_error *error) {
  gather_plan *plan = NULL;
  gather_run run = GATHER_RUN_INIT;
  gather_options options = ex->options;
  options.on_bad = GATHER_ON_BAD_ERROR;
  GATHER_TRY(gather_plan_create(ex->op, &ex->data, &ex->indices, NULL, &options, &plan, error));
  run.indices = ex->indices.data;
  ex->any_bad = gather_plan_check(plan, &run, &ex->error) != GATHER_OK;
  gather_plan_destroy(plan);
  if (ex->any_bad && ex->error.status != GATHER_INDEX_OUT_OF_RANGE) {
    if (error) *error = ex->error;
    return ex->error.status;
  }
  run.indices = ex->indices.data;
  /* A policy that repairs fails at the first index that it cannot repair, which need not be the first one out of range. */
  ex->failed = ex->any_bad && gather_plan_check(ex->plan, &run, &ex->error) != GATHER_OK;
  if (ex->any_bad) memcpy(ex->bad_at, ex->error.position, sizeof ex->bad_at);
  return GATHER_OK;
}

/* Where the output comes from, dimension by dimension, and the same as a formula. */
static gather_status find_sources(gather_explain *ex, gather_error *error) {
  int32_t rank;
  const int64_t tuple_len = ex->indices.rank > 0 ? ex->indices.shape[ex->indices.rank - 1] : 0;
  GATHER_TRY(gather_output_sources(ex->op, ex->data.rank, ex->indices.rank, tuple_len, &ex->options, ex->sources, &rank,
                                   error));
  ex->by_cell = true;
  for (int32_t d = 0; d < ex->data.rank; d++) ex->shared[d] = -1;
  for (int32_t d = 0; d < rank; d++) {
    const gather_dim_source *from = &ex->sources[d];
    for (int32_t k = 0; from->data >= 0 && k < from->count; k++)
      ex->shared[from->data + k] = from->indices >= 0 ? from->indices + k : -1;
    ex->by_cell = ex->by_cell && from->indices >= 0;
  }
  return gather_output_formula(ex->op, ex->data.rank, ex->indices.rank, tuple_len, &ex->options, ex->formula,
                               sizeof ex->formula, error);
}

/* The axes that an index selects on. */
static void find_axes(gather_explain *ex) {
  const gather_options *options = &ex->options;
  const gather_tensor *data = &ex->data;
  int64_t batch = options->batch_dims;
  ex->batch = (int32_t)(batch < 0 ? batch + ex->indices.rank : batch);
  ex->tuples = ex->op->tuples != GATHER_TUPLES_NONE;
  ex->axis = ex->tuples ? ex->batch : (int32_t)(options->axis < 0 ? options->axis + data->rank : options->axis);
  ex->selected = ex->tuples ? (int32_t)ex->indices.shape[ex->indices.rank - 1] : 1;
  ex->longest = 0;
  ex->repairs = ex->on_bad == GATHER_ON_BAD_CLAMP || ex->on_bad == GATHER_ON_BAD_WRAP;
  for (int32_t c = 0; c < ex->selected; c++) {
    const int64_t len = data->shape[ex->axis + c];
    if (len > ex->longest) ex->longest = len;
    ex->repairs = ex->repairs && len > 0;
  }
}

/* Asks the library: which index is bad, where each output cell comes from. */
static gather_status resolve(gather_explain *ex, gather_error *error) {
  const gather_options *options = &ex->options;
  ex->on_bad = options->on_bad == GATHER_ON_BAD_DEFAULT ? ex->op->on_bad : options->on_bad;
  ex->negative =
      options->negative == GATHER_NEGATIVE_DEFAULT ? ex->op->negative : options->negative == GATHER_NEGATIVE_ON;
  find_axes(ex);
  GATHER_TRY(find_sources(ex, error));
  GATHER_TRY(find_bad(ex, error));
  if (ex->longest <= MOST_AXIS && !(ex->iota = iota(ex->longest)))
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  return ask_engine(ex, error);
}

gather_status gather_explain_resolve(gather_explain *ex, gather_error *error) {
  GATHER_TRY(gather_plan_create(ex->op, &ex->data, &ex->indices, NULL, &ex->options, &ex->plan, error));
  ex->out_rank = gather_plan_shape(ex->plan, ex->out_shape);
  return resolve(ex, error);
}
