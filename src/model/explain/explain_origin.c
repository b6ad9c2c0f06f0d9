/* SPDX-License-Identifier: MIT
 *
 * explain_origin.c: where one index, or one cell of the output, comes from.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "model/explain/drawing.h"

enum { MOST_PLACES = 1 << 20 };

static const int64_t NONE = -1;

int64_t gather_explain_index_count(const gather_explain *ex) {
  gather_tensor indices = ex->indices;
  if (ex->tuples) indices.rank--;
  return gather_tensor_len(&indices);
}

/* ---- all indices at once */

static gather_options marking(const gather_explain *ex) {
  gather_options options = ex->options;
  options.on_bad = ex->repairs ? ex->on_bad : GATHER_ON_BAD_FILL;
  options.fill = &NONE;
  options.negative = ex->negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  return options;
}

/* Each index gathers its row from a table of rows. */
static gather_status all_rows(gather_explain *ex, const gather_options *options, gather_error *error) {
  const gather_tensor *indices = &ex->indices;
  gather_options alone = *options;
  gather_tensor rows = {.data = ex->iota, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &ex->longest};
  gather_tensor out = {.data = ex->all_rows, .type = GATHER_TYPE_INT64, .rank = indices->rank, .shape = indices->shape};
  alone.axis = alone.batch_dims = 0;
  return gather_apply(gather_op_find("Gather", "onnx-13"), &rows, indices, &out, &alone, error);
}

/* Each tuple gathers its place from a table of places. */
static gather_status all_places(gather_explain *ex, const gather_options *options, int64_t places,
                                gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  gather_tensor out = {.data = ex->all_rows, .type = GATHER_TYPE_INT64, .shape = shape};
  gather_tensor table = {.type = GATHER_TYPE_INT64, .rank = ex->axis + ex->selected, .shape = ex->data.shape};
  int64_t *numbers = gather_alloc(places * (int64_t)sizeof *numbers);
  if (!numbers) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  for (int64_t i = 0; i < places; i++) numbers[i] = i;
  table.data = numbers;
  gather_status status = gather_output_shape(ex->op, &table, &ex->indices, options, shape, &out.rank, error);
  if (status == GATHER_OK) status = gather_apply(ex->op, &table, &ex->indices, &out, options, error);
  gather_free(numbers);
  return status;
}

gather_status gather_explain_all_rows(gather_explain *ex, gather_error *error) {
  const gather_options options = marking(ex);
  const gather_tensor table = {.type = GATHER_TYPE_INT8, .rank = ex->axis + ex->selected, .shape = ex->data.shape};
  const int64_t places = ex->tuples ? gather_tensor_len(&table) : 0;
  if (places > MOST_PLACES) return GATHER_OK;
  ex->all_rows = gather_alloc(gather_explain_index_count(ex) * (int64_t)sizeof *ex->all_rows);
  if (!ex->all_rows) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  return ex->tuples ? all_places(ex, &options, places, error) : all_rows(ex, &options, error);
}

/* ---- one number */

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
static int64_t ask_row(const gather_explain *ex, const gather_tensor *view, int64_t len, gather_on_bad on_bad) {
  static const int64_t still[1] = {0};
  static const int8_t zero = 0;
  gather_options options = GATHER_OPTIONS_INIT;
  int64_t row = NONE;
  int8_t found = -1;
  /* Without a table one byte stands for all rows: larger elements of such an axis may not fit a narrow pointer. */
  gather_tensor rows = {.data = ex->iota ? (void *)ex->iota : (void *)(uintptr_t)&zero,
                        .type = ex->iota ? GATHER_TYPE_INT64 : GATHER_TYPE_INT8,
                        .rank = 1,
                        .shape = &len,
                        .strides = ex->iota ? NULL : still};
  gather_tensor out = {.data = ex->iota ? (void *)&row : &found, .type = rows.type, .rank = 1, .shape = view->shape};
  options.negative = ex->negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  options.on_bad = on_bad;
  options.fill = &NONE;
  if (gather_apply(gather_op_find("Gather", "onnx-13"), &rows, view, &out, &options, NULL) != GATHER_OK) return NONE;
  return ex->iota ? row : found;
}

/* The row of an index on an axis that is too long for a table of rows. */
static int64_t far_row(const gather_explain *ex, const gather_explain_origin *origin, int64_t n) {
  int64_t value = origin->value;
  bool huge = origin->value_is_unsigned && value < 0;
  bool within = !huge && value >= -n && value < n; /* also where the memory of the indices has just changed */
  if (!origin->bad && within) return value < 0 ? value + n : value;
  if (ex->on_bad == GATHER_ON_BAD_CLAMP) return value < 0 && !huge ? 0 : n - 1;
  if (huge) return (int64_t)((uint64_t)value % (uint64_t)n);
  return (value % n + n) % n;
}

gather_explain_origin gather_explain_number(const gather_explain *ex, const int64_t *at) {
  gather_explain_origin origin = {.row = NONE};
  const int64_t component = ex->tuples ? at[ex->indices.rank - 1] : 0, len = ex->data.shape[ex->axis + component];
  gather_tensor view = gather_explain_view(&ex->indices, at);
  read_index(&view, &origin);
  origin.row = ask_row(ex, &view, len, GATHER_ON_BAD_FILL);
  origin.bad = origin.row == NONE;
  origin.has_source = !origin.bad || ex->repairs;
  if (!origin.has_source) return origin;
  if (!ex->iota)
    origin.row = far_row(ex, &origin, len);
  else if (origin.bad)
    origin.row = ask_row(ex, &view, len, ex->on_bad);
  return origin;
}

/* ---- an index, a cell of the output */

/* Adds one number of a tuple. */
static void add_number(const gather_explain *ex, int32_t component, const int64_t *at, gather_explain_origin *all) {
  gather_explain_origin one = gather_explain_number(ex, at);
  if (component == 0 || (one.bad && !all->bad)) all->value = one.value;
  all->value_is_unsigned = one.value_is_unsigned;
  all->bad = all->bad || one.bad;
  all->has_source = all->has_source && one.has_source;
  all->values[component] = one.value;
  all->data[ex->axis + component] = one.row;
}

gather_explain_origin gather_explain_index(const gather_explain *ex, const int64_t *at) {
  gather_explain_origin origin = {.row = NONE, .has_source = true};
  int64_t number[GATHER_MAX_RANK];
  memcpy(number, at, (size_t)ex->indices.rank * sizeof *number);
  for (int32_t c = 0; c < ex->selected; c++) {
    if (ex->tuples) number[ex->indices.rank - 1] = c;
    add_number(ex, c, number, &origin);
  }
  for (int32_t d = 0; d < ex->data.rank; d++)
    if (ex->shared[d] >= 0) origin.data[d] = at[ex->shared[d]];
  if (origin.has_source && ex->selected > 0) origin.row = origin.data[ex->axis];
  return origin;
}

/* Puts a coordinate of the output into the dimensions from `first` on, of which it may be several. */
static void spread(const gather_explain *ex, int32_t d, int64_t at, int32_t first, int64_t *to) {
  const gather_dim_source *from = &ex->sources[d];
  for (int32_t k = from->count; k-- > 1; at /= ex->data.shape[from->data + k])
    to[first + k] = at % ex->data.shape[from->data + k];
  to[first] = at;
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
    if (ex->sources[d].indices >= 0) spread(ex, d, at[d], ex->sources[d].indices, index);
  gather_explain_origin origin = gather_explain_index(ex, index);
  if (!ex->engine) { /* by the definition of the operators */
    for (int32_t d = 0; d < ex->out_rank && origin.has_source; d++)
      if (ex->sources[d].data >= 0) spread(ex, d, at[d], ex->sources[d].data, origin.data);
    return origin;
  }
  int64_t offset = ex->engine[gather_explain_offset(ex->out_rank, ex->out_shape, at)];
  origin.has_source = offset != NONE;
  if (origin.has_source) from_offset(&ex->data, offset, origin.data);
  origin.row = origin.has_source && ex->axis < ex->data.rank ? origin.data[ex->axis] : NONE;
  return origin;
}
