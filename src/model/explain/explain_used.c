/* SPDX-License-Identifier: MIT
 *
 * explain_used.c: which places of data any index gathers, whether it is drawn or not: used data must not appear unused
 * because the output cell it goes to is not drawn.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "model/explain/drawing.h"

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

/* Index number `number`; a tuple is one index. */
static void coordinates(const gather_explain *ex, int64_t number, int64_t *at) {
  for (int32_t d = ex->indices.rank - ex->tuples; d-- > 0;) {
    at[d] = number % ex->indices.shape[d];
    number /= ex->indices.shape[d];
  }
}

int64_t gather_explain_place(const gather_explain *ex, const int64_t *data) {
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
    return origin.has_source ? gather_explain_place(ex, origin.data) : -1;
  }
  for (int32_t d = 0; d < ex->data.rank; d++)
    if (ex->shared[d] >= 0) data[d] = at[ex->shared[d]];
  data[ex->axis] = ex->all_rows[number];
  return gather_explain_place(ex, data);
}

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
}

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

gather_status gather_explain_find_used(gather_explain *ex, gather_error *error) {
  gather_tensor out = {.type = GATHER_TYPE_INT8, .rank = ex->out_rank, .shape = ex->out_shape};
  int64_t count = gather_explain_index_count(ex), most = ex->iota ? MOST_AT_ONCE : MOST_ONE_BY_ONE, places = 0;
  if (gather_tensor_len(&out) == 0) count = 0;
  if (ex->iota && count <= most) GATHER_TRY(gather_explain_all_rows(ex, error));
  if (!ex->all_rows) most = MOST_ONE_BY_ONE;
  ex->used_more = count > most;
  if (count > most) count = most;
  ex->used = gather_alloc(count * (int64_t)sizeof *ex->used);
  if (!ex->used) return no_memory(error);
  for (int64_t i = 0; i < count; i++) {
    int64_t place = place_at(ex, i);
    if (place >= 0) ex->used[places++] = place;
  }
  ex->used_count = distinct(ex->used, places);
  return find_rows(ex, error);
}

bool gather_explain_is_used(const gather_explain *ex, const int64_t *data) {
  int64_t place = gather_explain_place(ex, data);
  return ex->used_count > 0 && bsearch(&place, ex->used, (size_t)ex->used_count, sizeof place, compare) != NULL;
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
    for (int32_t c = 0; drawn && c < ex->selected; c++)
      drawn = is_drawn(&ex->data_pick[ex->axis + c], row_of(ex, ex->used[i], c));
    left += !drawn;
  }
  return left;
}

static int64_t rows_left(const gather_explain *ex) {
  const gather_explain_pick *pick = &ex->data_pick[ex->axis];
  const int64_t *rows = ex->used_rows[0], count = ex->used_row_count[0];
  int64_t left = count;
  for (int i = 0; i < pick->count && count > 0; i++)
    left -= bsearch(&pick->at[i], rows, (size_t)count, sizeof *rows, compare) != NULL;
  return left;
}

bool gather_explain_left_out(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes) {
  if (part != GATHER_EXPLAIN_DATA) return false;
  const int64_t left = ex->tuples ? places_left(ex) : rows_left(ex);
  const bool one = left == 1 && !ex->used_more, cells = ex->tuples && ex->by_cell;
  if (left == 0 && !ex->used_more) return false;
  snprintf(text, bytes, "%s%" PRId64 " more used %s%s not drawn", ex->used_more ? "at least " : "", left,
           cells ? "cell" : "row", one ? " is" : "s are");
  return true;
}
