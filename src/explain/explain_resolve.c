/* SPDX-License-Identifier: MIT
 *
 * explain_resolve.c: where each cell comes from. The library itself resolves it, by gathering from a table of offsets,
 * so that the drawing cannot differ from the command `take`.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "explain/drawing.h"

/* Above these, coordinates are computed instead: the table of offsets would take more memory than a drawing is worth. */
enum { MOST_DATA = 1 << 20, MOST_OUT = 1 << 16, MOST_AXIS = 1 << 20 };

static const int64_t NONE = -1;

static int64_t *iota(int64_t len) {
  int64_t *numbers = gather_alloc(len * (int64_t)sizeof *numbers); /* of at most 2^20 */
  for (int64_t i = 0; numbers && i < len; i++) numbers[i] = i;
  return numbers;
}

static bool repairs(const gather_explain *ex) {
  return (ex->on_bad == GATHER_ON_BAD_CLAMP || ex->on_bad == GATHER_ON_BAD_WRAP) && ex->axis_len > 0;
}

/* The policy of the drawing: what is filled, or an error, leaves the mark NONE. */
static gather_options marking(const gather_explain *ex) {
  gather_options options = ex->options;
  options.on_bad = repairs(ex) ? ex->on_bad : GATHER_ON_BAD_FILL;
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
  if (ex->any_bad) memcpy(ex->bad_at, ex->error.position, sizeof ex->bad_at);
  run.indices = ex->indices.data;
  ex->failed = ex->any_bad && gather_plan_check(ex->plan, &run, &ex->error) != GATHER_OK;
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
    if (ex->sources[d].data >= 0) ex->shared[ex->sources[d].data] = ex->sources[d].indices;
    ex->by_cell = ex->by_cell && ex->sources[d].indices >= 0;
  }
  return gather_output_formula(ex->op, ex->data.rank, ex->indices.rank, tuple_len, &ex->options, ex->formula,
                               sizeof ex->formula, error);
}

/* Asks the library: which index is bad, where each output cell comes from. */
static gather_status resolve(gather_explain *ex, gather_error *error) {
  const gather_options *options = &ex->options;
  const gather_tensor *data = &ex->data;
  ex->axis = (int32_t)(options->axis < 0 ? options->axis + data->rank : options->axis);
  ex->axis_len = data->shape[ex->axis];
  int64_t batch = options->batch_dims;
  ex->batch = (int32_t)(batch < 0 ? batch + ex->indices.rank : batch);
  ex->on_bad = options->on_bad == GATHER_ON_BAD_DEFAULT ? ex->op->on_bad : options->on_bad;
  ex->negative =
      options->negative == GATHER_NEGATIVE_DEFAULT ? ex->op->negative : options->negative == GATHER_NEGATIVE_ON;
  GATHER_TRY(find_sources(ex, error));
  GATHER_TRY(find_bad(ex, error));
  if (ex->axis_len <= MOST_AXIS && !(ex->iota = iota(ex->axis_len)))
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  return ask_engine(ex, error);
}

gather_status gather_explain_resolve(gather_explain *ex, gather_error *error) {
  GATHER_TRY(gather_plan_create(ex->op, &ex->data, &ex->indices, NULL, &ex->options, &ex->plan, error));
  ex->out_rank = gather_plan_shape(ex->plan, ex->out_shape);
  return resolve(ex, error);
}

gather_status gather_explain_all_rows(gather_explain *ex, gather_error *error) {
  const gather_tensor *indices = &ex->indices;
  int64_t count = gather_tensor_len(indices);
  gather_options options = marking(ex);
  gather_tensor rows = {.data = ex->iota, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &ex->axis_len};
  gather_tensor out = {.type = GATHER_TYPE_INT64, .rank = indices->rank, .shape = indices->shape};
  options.axis = options.batch_dims = 0;
  options.negative = ex->negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  out.data = ex->all_rows = gather_alloc(count * (int64_t)sizeof *ex->all_rows);
  if (!ex->all_rows) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  return gather_apply(gather_op_find("Gather", "onnx-13"), &rows, indices, &out, &options, error);
}

/* The value of an index; uint64 above the signed range is kept as its bits. */
static void read_index(const gather_tensor *view, gather_explain_origin *origin) {
  unsigned char bytes[8], swapped[8];
  origin->value_is_unsigned = gather_type_get(view->type)->kind == GATHER_KIND_UINT;
  if (gather_axis_read(view, &origin->value, NULL) == GATHER_OK) return;
  memcpy(bytes, view->data, sizeof bytes);
  for (int i = 0; i < 8; i++) swapped[i] = bytes[7 - i];
  memcpy(&origin->value, view->flags & GATHER_TENSOR_BYTE_SWAPPED ? swapped : bytes, sizeof origin->value);
}

/* Resolves one index on an axis of that length: the row, or NONE. Without a table of rows it finds only whether the
 * index is bad. */
static int64_t ask_row(const gather_explain *ex, const gather_tensor *view, gather_on_bad on_bad) {
  static const int64_t zero = 0, still[1] = {0};
  gather_options options = GATHER_OPTIONS_INIT;
  int64_t row = NONE;
  gather_tensor rows = {.data = ex->iota ? ex->iota : (void *)(uintptr_t)&zero,
                        .type = GATHER_TYPE_INT64,
                        .rank = 1,
                        .shape = &ex->axis_len,
                        .strides = ex->iota ? NULL : still};
  gather_tensor out = {.data = &row, .type = GATHER_TYPE_INT64, .rank = 1, .shape = view->shape};
  options.negative = ex->negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  options.on_bad = on_bad;
  options.fill = &NONE;
  return gather_apply(gather_op_find("Gather", "onnx-13"), &rows, view, &out, &options, NULL) == GATHER_OK ? row : NONE;
}

/* The row of an index on an axis that is too long for a table of rows. */
static int64_t far_row(const gather_explain *ex, const gather_explain_origin *origin) {
  int64_t n = ex->axis_len, value = origin->value;
  bool huge = origin->value_is_unsigned && value < 0;
  bool within = !huge && value >= -n && value < n; /* also where the memory of the indices has just changed */
  if (!origin->bad && within) return value < 0 ? value + n : value;
  if (ex->on_bad == GATHER_ON_BAD_CLAMP) return value < 0 && !huge ? 0 : n - 1;
  if (huge) return (int64_t)((uint64_t)value % (uint64_t)n);
  return (value % n + n) % n;
}

gather_explain_origin gather_explain_index(const gather_explain *ex, const int64_t *at) {
  gather_explain_origin origin = {.row = NONE};
  gather_tensor view = gather_explain_view(&ex->indices, at);
  read_index(&view, &origin);
  origin.row = ask_row(ex, &view, GATHER_ON_BAD_FILL);
  origin.bad = origin.row == NONE;
  origin.has_source = !origin.bad || repairs(ex);
  if (!origin.has_source) return origin;
  if (!ex->iota)
    origin.row = far_row(ex, &origin);
  else if (origin.bad)
    origin.row = ask_row(ex, &view, ex->on_bad);
  return origin;
}

/* The coordinates in data by the definition of the operators. */
static void by_definition(const gather_explain *ex, const int64_t *at, int64_t row, int64_t *data) {
  for (int32_t d = 0; d < ex->out_rank; d++)
    if (ex->sources[d].data >= 0) data[ex->sources[d].data] = at[d];
  data[ex->axis] = row;
}

static void from_offset(const gather_tensor *data, int64_t offset, int64_t *at) {
  for (int32_t d = data->rank; d-- > 0;) {
    at[d] = offset % data->shape[d];
    offset /= data->shape[d];
  }
}

gather_explain_origin gather_explain_out(const gather_explain *ex, const int64_t *at) {
  int64_t index[GATHER_MAX_RANK] = {0};
  for (int32_t d = 0; d < ex->out_rank; d++)
    if (ex->sources[d].indices >= 0) index[ex->sources[d].indices] = at[d];
  gather_explain_origin origin = gather_explain_index(ex, index);
  if (!ex->engine) {
    if (origin.has_source) by_definition(ex, at, origin.row, origin.data);
    return origin;
  }
  int64_t offset = ex->engine[gather_explain_offset(ex->out_rank, ex->out_shape, at)];
  origin.has_source = offset != NONE;
  if (origin.has_source) from_offset(&ex->data, offset, origin.data);
  origin.row = origin.has_source ? origin.data[ex->axis] : NONE;
  return origin;
}
