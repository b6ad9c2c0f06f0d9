/* SPDX-License-Identifier: MIT
 *
 * explain_used.c: which places of data any index gathers, whether it is drawn or not: used data must not appear unused
 * because the output cell it goes to is not drawn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "explain/drawing.h"

/* How many indices are examined at most: with a table of rows, and one by one. */
enum { MOST_AT_ONCE = 1 << 20, MOST_ONE_BY_ONE = 1 << 16 };

static int compare(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

/* Sorts, and removes duplicates. */
static int64_t distinct(int64_t *numbers, int64_t count) {
  int64_t kept = 0;
  qsort(numbers, (size_t)count, sizeof *numbers, compare);
  for (int64_t i = 0; i < count; i++)
    if (kept == 0 || numbers[kept - 1] != numbers[i]) numbers[kept++] = numbers[i];
  return kept;
}

static void coordinates(const gather_tensor *indices, int64_t number, int64_t *at) {
  for (int32_t d = indices->rank; d-- > 0;) {
    at[d] = number % indices->shape[d];
    number /= indices->shape[d];
  }
}

/* The key of a place of data: the cell if each index gives one cell, else the row within its batch. */
static int64_t place_of(const gather_explain *ex, const int64_t *data) {
  const gather_tensor *tensor = &ex->data;
  if (ex->by_cell) return gather_explain_offset(tensor->rank, tensor->shape, data);
  return gather_explain_offset(ex->batch, tensor->shape, data) * ex->axis_len + data[ex->axis];
}

static int64_t row_of(const gather_explain *ex, int64_t place) {
  const gather_tensor *tensor = &ex->data;
  if (ex->by_cell)
    for (int32_t d = tensor->rank - 1; d > ex->axis; d--) place /= tensor->shape[d];
  return place % ex->axis_len;
}

/* The place that index number `number` gathers from; -1. */
static int64_t place_at(const gather_explain *ex, int64_t number) {
  const gather_tensor *indices = &ex->indices;
  int64_t at[GATHER_MAX_RANK] = {0}, data[GATHER_MAX_RANK] = {0};
  coordinates(indices, number, at);
  int64_t row = ex->all_rows ? ex->all_rows[number] : gather_explain_index(ex, at).row;
  if (row < 0) return -1;
  for (int32_t d = 0; d < ex->data.rank; d++)
    if (ex->shared[d] >= 0) data[d] = at[ex->shared[d]];
  data[ex->axis] = row;
  return place_of(ex, data);
}

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
}

gather_status gather_explain_find_used(gather_explain *ex, gather_error *error) {
  const gather_tensor *indices = &ex->indices;
  gather_tensor out = {.type = GATHER_TYPE_INT8, .rank = ex->out_rank, .shape = ex->out_shape};
  int64_t count = gather_tensor_len(indices), most = ex->iota ? MOST_AT_ONCE : MOST_ONE_BY_ONE, places = 0;
  if (gather_tensor_len(&out) == 0) count = 0;
  if (ex->iota && count <= most) GATHER_TRY(gather_explain_all_rows(ex, error));
  if (!ex->all_rows) most = MOST_ONE_BY_ONE;
  ex->used_more = count > most;
  if (count > most) count = most;
  ex->used = gather_alloc(count * (int64_t)sizeof *ex->used);
  ex->used_rows = gather_alloc(count * (int64_t)sizeof *ex->used_rows);
  if (!ex->used || !ex->used_rows) return no_memory(error);
  for (int64_t i = 0; i < count; i++) {
    int64_t place = place_at(ex, i);
    if (place >= 0) ex->used[places++] = place;
  }
  ex->used_count = distinct(ex->used, places);
  for (int64_t i = 0; i < ex->used_count; i++) ex->used_rows[i] = row_of(ex, ex->used[i]);
  ex->used_row_count = distinct(ex->used_rows, ex->used_count);
  return GATHER_OK;
}

bool gather_explain_is_used(const gather_explain *ex, const int64_t *data) {
  int64_t place = place_of(ex, data);
  return ex->used_count > 0 && bsearch(&place, ex->used, (size_t)ex->used_count, sizeof place, compare) != NULL;
}

bool gather_explain_left_out(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes) {
  const gather_explain_pick *pick = &ex->data_pick[ex->axis];
  int64_t left = ex->used_row_count;
  for (int i = 0; i < pick->count && ex->used_row_count > 0; i++)
    left -= bsearch(&pick->at[i], ex->used_rows, (size_t)ex->used_row_count, sizeof *ex->used_rows, compare) != NULL;
  if (part != GATHER_EXPLAIN_DATA || (left == 0 && !ex->used_more)) return false;
  snprintf(text, bytes, "%s%" PRId64 " more used %s not drawn", ex->used_more ? "at least " : "", left,
           left == 1 && !ex->used_more ? "row is" : "rows are");
  return true;
}
