/* SPDX-License-Identifier: MIT
 *
 * explain_origin.c: where each index, and each cell of the output, comes from, and which places of data any index gathers. The library
 * itself resolves it, by gathering from a table of offsets, so that the drawing cannot differ from the command `take`.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/op/op.h"
#include "model/explain/drawing.h"

enum { MOST_PLACES = 1 << 20 };

static const int64_t NONE = -1;

/* The number of all indices; a tuple is one. */
static int64_t index_count(const gather_explain *ex) {
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
static gather_status all_places(gather_explain *ex, const gather_options *options, int64_t places, gather_error *error) {
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

/* Fills in all_rows by one gather. */
static gather_status find_all_rows(gather_explain *ex, gather_error *error) {
  const gather_options options = marking(ex);
  const gather_tensor table = {.type = GATHER_TYPE_INT8, .rank = ex->axis + ex->selected, .shape = ex->data.shape};
  const int64_t places = ex->tuples ? gather_tensor_len(&table) : 0;
  if (places > MOST_PLACES || table.rank == 0) return GATHER_OK; /* a tuple without numbers selects all */
  ex->all_rows = gather_alloc(index_count(ex) * (int64_t)sizeof *ex->all_rows);
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
  for (int32_t k = from->count; k-- > 1; at /= ex->data.shape[from->data + k]) to[first + k] = at % ex->data.shape[from->data + k];
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

/* ---- the whole gather */

/* Above these, coordinates are computed instead: the table of offsets would take more memory than a drawing is worth. */
enum { MOST_DATA = 1 << 20, MOST_OUT = 1 << 16, MOST_AXIS = 1 << 20 };

static int64_t *iota(int64_t len) {
  int64_t *numbers = gather_alloc(len * (int64_t)sizeof *numbers); /* of at most 2^20 */
  for (int64_t i = 0; numbers && i < len; i++) numbers[i] = i;
  return numbers;
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

/* "out[i, j] = data[idx[i], j]" becomes "out[idx[i], j] = updates[i, j]": what is read is written. */
static void exchange_sides(gather_explain *ex) {
  static const char *const SIGNS[] = {
      [GATHER_REDUCTION_NONE] = "=", [GATHER_REDUCTION_ADD] = "+=", [GATHER_REDUCTION_SUB] = "-=", [GATHER_REDUCTION_MUL] = "*="};
  const size_t reduction = (size_t)ex->scatter.reduction;
  char left[sizeof ex->formula], *right = strstr(ex->formula, " = data");
  if (!right) return;
  (void)snprintf(left, sizeof left, "%.*s", (int)(right - ex->formula) - 3, ex->formula + 3); /* behind "out" */
  char place[sizeof ex->formula];
  (void)snprintf(place, sizeof place, "%s", right + 7);
  if (reduction < sizeof SIGNS / sizeof *SIGNS)
    (void)snprintf(ex->formula, sizeof ex->formula, "out%.240s %s updates%.240s", place, SIGNS[reduction], left);
  else
    (void)snprintf(ex->formula, sizeof ex->formula, "out%.150s = %s(out%.150s, updates%.150s)", place,
                   gather_reduction_name(ex->scatter.reduction), place, left);
}

/* Where the output comes from, dimension by dimension, and the same as a formula. */
static gather_status find_sources(gather_explain *ex, gather_error *error) {
  int32_t rank;
  const int64_t tuple_len = ex->indices.rank > 0 ? ex->indices.shape[ex->indices.rank - 1] : 0;
  GATHER_TRY(gather_output_sources(ex->op, ex->data.rank, ex->indices.rank, tuple_len, &ex->options, ex->sources, &rank, error));
  ex->by_cell = true;
  for (int32_t d = 0; d < ex->data.rank; d++) ex->shared[d] = -1;
  for (int32_t d = 0; d < rank; d++) {
    const gather_dim_source *from = &ex->sources[d];
    for (int32_t k = 0; from->data >= 0 && k < from->count; k++) ex->shared[from->data + k] = from->indices >= 0 ? from->indices + k : -1;
    ex->by_cell = ex->by_cell && from->indices >= 0;
  }
  GATHER_TRY(
      gather_output_formula(ex->op, ex->data.rank, ex->indices.rank, tuple_len, &ex->options, ex->formula, sizeof ex->formula, error));
  if (ex->writes) exchange_sides(ex);
  return GATHER_OK;
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

/* Asks the library whether two updates of a scatter go to one place, which may be an error. Without values of updates, too. */
static gather_status find_repeated(gather_explain *ex, gather_error *error) {
  gather_scatter_plan *plan = NULL;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  gather_scatter_options options = ex->scatter;
  options.unique = true;
  if (ex->failed) options.on_bad = GATHER_ON_BAD_SKIP; /* the others may be repeated */
  GATHER_TRY(gather_scatter_plan_create(ex->writes, &ex->data, &ex->indices, &ex->updates, NULL, &options, &plan, error));
  run.indices = ex->indices.data;
  const gather_status status = gather_scatter_plan_check(plan, &run, &ex->repeat);
  gather_scatter_plan_destroy(plan);
  ex->any_repeated = status == GATHER_INDEX_REPEATED;
  if (status == GATHER_OUT_OF_MEMORY) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  if (!ex->any_repeated || !ex->scatter.unique || ex->failed) return GATHER_OK;
  ex->failed = true;
  ex->error = ex->repeat;
  return GATHER_OK;
}

/* Asks the library: which index is bad, where each output cell comes from. */
static gather_status resolve(gather_explain *ex, gather_error *error) {
  const gather_options *options = &ex->options;
  ex->on_bad = options->on_bad == GATHER_ON_BAD_DEFAULT ? ex->op->on_bad : options->on_bad;
  ex->negative = options->negative == GATHER_NEGATIVE_DEFAULT ? ex->op->negative : options->negative == GATHER_NEGATIVE_ON;
  find_axes(ex);
  GATHER_TRY(find_sources(ex, error));
  GATHER_TRY(find_bad(ex, error));
  if (ex->writes) GATHER_TRY(find_repeated(ex, error));
  if (ex->longest <= MOST_AXIS && !(ex->iota = iota(ex->longest)))
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  return ask_engine(ex, error);
}

/* ---- the places of data that any index gathers, drawn or not: used data must not appear unused because the output cell it goes to is not
 * drawn */

/* How many indices are examined at most: with a table of rows, and one by one. */
enum { MOST_AT_ONCE = 1 << 20, MOST_ONE_BY_ONE = 1 << 16 };

static int compare(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

/* The numbers that a sorted array has more than once, ascending, each once; *found: their count. NULL without memory. */
static int64_t *duplicates(const int64_t *numbers, int64_t count, int64_t *found) {
  int64_t *twice = gather_alloc(count * (int64_t)sizeof *twice);
  for (int64_t i = 1; twice && i < count; i++)
    if (numbers[i] == numbers[i - 1] && (*found == 0 || twice[*found - 1] != numbers[i])) twice[(*found)++] = numbers[i];
  return twice;
}

/* Sorts, and removes duplicates. */
static int64_t distinct(int64_t *numbers, int64_t count) {
  int64_t kept = 0;
  qsort(numbers, (size_t)count, sizeof *numbers, compare);
  for (int64_t i = 0; i < count; i++)
    if (kept == 0 || numbers[kept - 1] != numbers[i]) numbers[kept++] = numbers[i];
  return kept;
}

/* Index number `number`; a tuple is one index. */
static void coordinates(const gather_explain *ex, int64_t number, int64_t *at) {
  for (int32_t d = ex->indices.rank - ex->tuples; d-- > 0;) {
    at[d] = number % ex->indices.shape[d];
    number /= ex->indices.shape[d];
  }
}

/* The place of data that an index gathers from: the cell if each index gives one cell, else the row within its batch. */
static int64_t place_of(const gather_explain *ex, const int64_t *data) {
  const gather_tensor *tensor = &ex->data;
  if (ex->by_cell) return gather_explain_offset(tensor->rank, tensor->shape, data);
  int64_t place = gather_explain_offset(ex->batch, tensor->shape, data);
  for (int32_t d = ex->axis; d < ex->axis + ex->selected; d++) place = place * tensor->shape[d] + data[d];
  return place;
}

/* The row of a place on one of the axes that an index selects on. */
static int64_t row_of(const gather_explain *ex, int64_t place, int32_t component) {
  const gather_tensor *tensor = &ex->data;
  const int32_t axis = ex->axis + component, last = ex->by_cell ? tensor->rank : ex->axis + ex->selected;
  for (int32_t d = last - 1; d > axis; d--) place /= tensor->shape[d];
  return place % tensor->shape[axis];
}

/* The place that index number `number` gathers from; -1. */
static int64_t place_at(const gather_explain *ex, int64_t number) {
  int64_t at[GATHER_MAX_RANK] = {0}, data[GATHER_MAX_RANK] = {0};
  if (ex->all_rows && (ex->tuples || ex->all_rows[number] < 0)) return ex->all_rows[number];
  coordinates(ex, number, at);
  if (!ex->all_rows) {
    gather_explain_origin origin = gather_explain_index(ex, at);
    return origin.has_source ? place_of(ex, origin.data) : -1;
  }
  for (int32_t d = 0; d < ex->data.rank; d++)
    if (ex->shared[d] >= 0) data[d] = at[ex->shared[d]];
  data[ex->axis] = ex->all_rows[number];
  return place_of(ex, data);
}

static gather_status no_memory(gather_error *error) { return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing"); }

/* The rows of the used places, axis by axis. */
static gather_status find_rows(gather_explain *ex, gather_error *error) {
  for (int32_t c = 0; c < ex->selected; c++) {
    int64_t *rows = ex->used_rows[c] = gather_alloc(ex->used_count * (int64_t)sizeof *rows);
    if (!rows) return no_memory(error);
    for (int64_t i = 0; i < ex->used_count; i++) rows[i] = row_of(ex, ex->used[i], c);
    ex->used_row_count[c] = distinct(rows, ex->used_count);
  }
  return GATHER_OK;
}

static gather_status find_used(gather_explain *ex, gather_error *error) {
  gather_tensor out = {.type = GATHER_TYPE_INT8, .rank = ex->out_rank, .shape = ex->out_shape};
  int64_t count = index_count(ex), most = ex->iota ? MOST_AT_ONCE : MOST_ONE_BY_ONE, places = 0;
  if (gather_tensor_len(&out) == 0) count = 0;
  if (ex->iota && count <= most) GATHER_TRY(find_all_rows(ex, error));
  if (!ex->all_rows) most = MOST_ONE_BY_ONE;
  ex->used_more = count > most;
  if (count > most) count = most;
  ex->used = gather_alloc(count * (int64_t)sizeof *ex->used);
  if (!ex->used) return no_memory(error);
  for (int64_t i = 0; i < count; i++) {
    int64_t place = place_at(ex, i);
    if (place >= 0) ex->used[places++] = place;
  }
  if (ex->writes) {
    qsort(ex->used, (size_t)places, sizeof *ex->used, compare);
    if (!(ex->repeated = duplicates(ex->used, places, &ex->repeated_count))) return no_memory(error);
  }
  ex->used_count = distinct(ex->used, places);
  return find_rows(ex, error);
}

bool gather_explain_is_used(const gather_explain *ex, const int64_t *data) {
  int64_t place = place_of(ex, data);
  return ex->used_count > 0 && bsearch(&place, ex->used, (size_t)ex->used_count, sizeof place, compare) != NULL;
}

bool gather_explain_is_repeated(const gather_explain *ex, const int64_t *data) {
  if (ex->repeated_count == 0) return false;
  const int64_t place = place_of(ex, data);
  return bsearch(&place, ex->repeated, (size_t)ex->repeated_count, sizeof place, compare) != NULL;
}

static bool is_drawn(const gather_explain_pick *pick, int64_t row) {
  for (int i = 0; i < pick->count; i++)
    if (pick->at[i] == row) return true;
  return false;
}

/* How many used places of tuples have a row that is not drawn, on any axis. */
static int64_t places_left(const gather_explain *ex) {
  int64_t left = 0;
  for (int64_t i = 0; i < ex->used_count; i++) {
    bool drawn = true;
    for (int32_t c = 0; drawn && c < ex->selected; c++) drawn = is_drawn(&ex->data_pick[ex->axis + c], row_of(ex, ex->used[i], c));
    left += !drawn;
  }
  return left;
}

static int64_t rows_left(const gather_explain *ex) {
  const gather_explain_pick *pick = &ex->data_pick[ex->axis];
  const int64_t *rows = ex->used_rows[0], count = ex->used_row_count[0];
  int64_t left = count;
  for (int i = 0; i < pick->count && count > 0; i++) left -= bsearch(&pick->at[i], rows, (size_t)count, sizeof *rows, compare) != NULL;
  return left;
}

bool gather_explain_left_out(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes) {
  if (part != GATHER_EXPLAIN_DATA) return false;
  const int64_t left = ex->tuples ? places_left(ex) : rows_left(ex);
  const bool one = left == 1 && !ex->used_more, cells = ex->tuples && ex->by_cell;
  if (left == 0 && !ex->used_more) return false;
  snprintf(text, bytes, "%s%" PRId64 " more used %s%s not drawn", ex->used_more ? "at least " : "", left, cells ? "cell" : "row",
           one ? " is" : "s are");
  return true;
}

/* The drawing of the output shows the origin once if one index gives a whole row, or a whole column. */
gather_explain_telling gather_explain_by(const gather_explain *ex) {
  int32_t rank = ex->table[GATHER_EXPLAIN_OUT].rank;
  bool of[2] = {false, false};
  for (int i = 0; i < 2; i++) {
    int32_t d = rank - 2 + i;
    of[i] = d >= 0 && ex->sources[d].indices >= 0;
  }
  if (!of[1]) return GATHER_EXPLAIN_BY_ROW;
  return of[0] || ex->tuples ? GATHER_EXPLAIN_BY_CELL : GATHER_EXPLAIN_BY_COLUMN;
}

gather_status gather_explain_resolve(gather_explain *ex, gather_error *error) {
  GATHER_TRY(gather_plan_create(ex->op, &ex->data, &ex->indices, NULL, &ex->options, &ex->plan, error));
  ex->out_rank = gather_plan_shape(ex->plan, ex->out_shape);
  GATHER_TRY(resolve(ex, error));
  return find_used(ex, error);
}
