/* SPDX-License-Identifier: MIT
 *
 * explain_cells.c: what each shown cell holds, and its colour: gathered data has the same one in all three drawings.
 */
#include <inttypes.h>
#include <string.h>

#include "model/explain/drawing.h"

int64_t gather_explain_key(const gather_explain *ex, const int64_t *data) {
  const gather_explain_table *table = &ex->table[GATHER_EXPLAIN_DATA];
  if (ex->key_by_cell) return gather_explain_offset(table->rank, table->shape, data);
  int64_t key = gather_explain_offset(ex->batch, table->shape, data);
  for (int32_t d = ex->axis; d < ex->axis + ex->selected; d++) key = key * table->shape[d] + data[d];
  return key;
}

/* Every source has a colour, though there may be too many to give each its own. */
int gather_explain_colour(const gather_explain *ex, int64_t key) {
  for (int i = 0; i < ex->key_count; i++)
    if (ex->keys[i] == key) return i % GATHER_EXPLAIN_COLOURS;
  return (int)(key % GATHER_EXPLAIN_COLOURS);
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

static bool is_picked(const gather_explain *ex, int64_t offset) {
  for (int64_t i = 0; i < ex->picked_count; i++)
    if (ex->picked[i] == offset) return true;
  return false;
}

/* The value of a cell of data. */
static void data_text(const gather_explain *ex, const int64_t *at, char *text) {
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA];
  if (ex->made_up)
    snprintf(text, GATHER_EXPLAIN_CELL_BYTES, "%" PRId64, gather_explain_offset(data->rank, data->shape, at));
  else
    gather_explain_value(&ex->data, at, text, GATHER_EXPLAIN_CELL_BYTES);
}

static void index_cell(const gather_explain *ex, const int64_t *at, gather_explain_shown *cell) {
  const gather_explain_origin origin = gather_explain_number(ex, at), whole = gather_explain_index(ex, at);
  if (origin.value_is_unsigned)
    snprintf(cell->text, sizeof cell->text, "%" PRIu64, (uint64_t)origin.value);
  else
    snprintf(cell->text, sizeof cell->text, "%" PRId64, origin.value);
  cell->bad = origin.bad;
  if (whole.has_source) cell->colour = gather_explain_colour(ex, gather_explain_key(ex, whole.data));
  if (origin.has_source && (origin.bad || origin.row != origin.value)) cell->to = origin.row;
}

/* "2,0": the rows that a tuple selects. */
static void tuple_text(const gather_explain *ex, const gather_explain_origin *origin, char *text) {
  size_t used = 0;
  for (int32_t c = 0; c < ex->selected && used + 24 < GATHER_EXPLAIN_CELL_BYTES; c++)
    used += (size_t)snprintf(text + used, GATHER_EXPLAIN_CELL_BYTES - used, "%s%" PRId64, c ? "," : "",
                             origin->data[ex->axis + c]);
}

static void out_cell(const gather_explain *ex, const int64_t *at, gather_explain_shown *cell) {
  gather_explain_origin origin = gather_explain_out(ex, at);
  cell->bad = origin.bad;
  if (origin.has_source) cell->colour = gather_explain_colour(ex, gather_explain_key(ex, origin.data));
  cell->to = origin.row;
  if (origin.has_source && ex->tuples) tuple_text(ex, &origin, cell->tuple);
  if (origin.has_source)
    data_text(ex, origin.data, cell->text);
  else if (ex->failed)
    snprintf(cell->text, sizeof cell->text, "?");
  else if (ex->on_bad == GATHER_ON_BAD_FILL)
    snprintf(cell->text, sizeof cell->text, "%.*s", gather_explain_fit(ex->fill_text, 20), ex->fill_text);
  else
    snprintf(cell->text, sizeof cell->text, ex->data.type == GATHER_TYPE_STRING ? "\"\"" : "0");
}

void gather_explain_show(const gather_explain *ex, gather_explain_part part, const int64_t *at,
                         gather_explain_shown *cell) {
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA];
  *cell = (gather_explain_shown){.colour = -1, .to = -1};
  if (part == GATHER_EXPLAIN_INDICES) {
    index_cell(ex, at, cell);
  } else if (part == GATHER_EXPLAIN_OUT) {
    out_cell(ex, at, cell);
  } else {
    data_text(ex, at, cell->text);
    if (gather_explain_is_used(ex, at) || is_picked(ex, gather_explain_offset(data->rank, data->shape, at)))
      cell->colour = gather_explain_colour(ex, gather_explain_key(ex, at));
  }
}
