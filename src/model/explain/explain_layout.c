/* SPDX-License-Identifier: MIT
 *
 * explain_layout.c: what is shown, and what each shown cell holds. Small dimensions are shown whole; of large ones both ends, and what
 * matters: gathered rows, and the first bad index. Ranks above 2 are shown as 2-D slices. Gathered data has the same colour in all three
 * drawings.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "model/explain/drawing.h"

/* ---- one cell */

/* The key of a colour: the row within its batch (of tuples: the rows); if each index gives one cell and there are few, the cell
 * of data. */
static int64_t key_of(const gather_explain *ex, const int64_t *data) {
  const gather_explain_table *table = &ex->table[GATHER_EXPLAIN_DATA];
  if (ex->key_by_cell) return gather_explain_offset(table->rank, table->shape, data);
  int64_t key = gather_explain_offset(ex->batch, table->shape, data);
  for (int32_t d = ex->axis; d < ex->axis + ex->selected; d++) key = key * table->shape[d] + data[d];
  return key;
}

/* Every source has a colour, though there may be too many to give each its own. */
int gather_explain_colour(const gather_explain *ex, const int64_t *data) {
  const int64_t key = key_of(ex, data);
  for (int i = 0; i < ex->key_count; i++)
    if (ex->keys[i] == key) return i % GATHER_EXPLAIN_COLOURS;
  return (int)(key % GATHER_EXPLAIN_COLOURS);
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
  if (whole.has_source) cell->colour = gather_explain_colour(ex, whole.data);
  if (origin.has_source && (origin.bad || origin.row != origin.value)) cell->to = origin.row;
  /* A star behind the last number of a repeated index. */
  if (whole.has_source && (!ex->tuples || at[ex->indices.rank - 1] == ex->selected - 1) && gather_explain_is_repeated(ex, whole.data))
    snprintf(cell->text + strlen(cell->text), 2, "*");
}

/* "2,0": the rows that a tuple selects. */
static void tuple_text(const gather_explain *ex, const gather_explain_origin *origin, char *text) {
  size_t used = 0;
  for (int32_t c = 0; c < ex->selected && used + 24 < GATHER_EXPLAIN_CELL_BYTES; c++)
    used += (size_t)snprintf(text + used, GATHER_EXPLAIN_CELL_BYTES - used, "%s%" PRId64, c ? "," : "", origin->data[ex->axis + c]);
}

/* Of an operator that writes. */
static void updates_text(const gather_explain *ex, const int64_t *at, char *text) {
  if (ex->updates.data)
    gather_explain_value(&ex->updates, at, text, GATHER_EXPLAIN_CELL_BYTES);
  else
    snprintf(text, GATHER_EXPLAIN_CELL_BYTES, "%" PRId64, gather_explain_offset(ex->out_rank, ex->out_shape, at));
}

static void out_cell(const gather_explain *ex, const int64_t *at, gather_explain_shown *cell) {
  gather_explain_origin origin = gather_explain_out(ex, at);
  cell->bad = origin.bad;
  if (origin.has_source) cell->colour = gather_explain_colour(ex, origin.data);
  cell->to = origin.row;
  if (origin.has_source && ex->tuples) tuple_text(ex, &origin, cell->tuple);
  if (ex->writes)
    updates_text(ex, at, cell->text);
  else if (origin.has_source)
    data_text(ex, origin.data, cell->text);
  else if (ex->failed)
    snprintf(cell->text, sizeof cell->text, "?");
  else if (ex->on_bad == GATHER_ON_BAD_FILL)
    snprintf(cell->text, sizeof cell->text, "%.*s", gather_explain_fit(ex->fill_text, 20), ex->fill_text);
  else
    snprintf(cell->text, sizeof cell->text, ex->data.type == GATHER_TYPE_STRING ? "\"\"" : "0");
}

void gather_explain_show(const gather_explain *ex, gather_explain_part part, const int64_t *at, gather_explain_shown *cell) {
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA];
  *cell = (gather_explain_shown){.colour = -1, .to = -1};
  if (part == GATHER_EXPLAIN_INDICES) {
    index_cell(ex, at, cell);
  } else if (part == GATHER_EXPLAIN_OUT) {
    out_cell(ex, at, cell);
  } else {
    data_text(ex, at, cell->text);
    if (gather_explain_is_used(ex, at) || is_picked(ex, gather_explain_offset(data->rank, data->shape, at)))
      cell->colour = gather_explain_colour(ex, at);
  }
}

/* ---- which coordinates are shown */

static bool has(const gather_explain_pick *pick, int64_t at) {
  for (int i = 0; i < pick->count; i++)
    if (pick->at[i] == at) return true;
  return false;
}

/* Adds a coordinate to those shown, in its place, while there are fewer than `most`. Out of line: compiled into its callers it is 36 KB. */
GATHER_COLD static void pick_add(gather_explain_pick *pick, int64_t at, int64_t len, int most) {
  if (at < 0 || at >= len || pick->count >= most || has(pick, at)) return;
  int i = pick->count++;
  for (; i > 0 && pick->at[i - 1] > at; i--) pick->at[i] = pick->at[i - 1];
  pick->at[i] = at;
}

/* Fills up with the ends, then from the beginning. wanted: coordinates that must be shown; those already chosen
 * stay. */
static void choose(gather_explain_pick *pick, int64_t len, int most, const int64_t *wanted, int wanted_count) {
  pick->len = len;
  if (len > most) {
    for (int i = 0; i < wanted_count; i++) pick_add(pick, wanted[i], len, most);
    pick_add(pick, 0, len, most);
    pick_add(pick, len - 1, len, most);
  }
  for (int64_t i = 0; i < len && pick->count < most; i++) pick_add(pick, i, len, most);
}

/* How much of dimension d is shown: leading ones are slices. */
static int most_of(int32_t rank, int32_t d, int columns) {
  int most = rank > 2 && d < rank - 2 ? GATHER_EXPLAIN_SLICE_MAX : columns;
  return most < GATHER_EXPLAIN_PICK_MAX ? most : GATHER_EXPLAIN_PICK_MAX;
}

/* Goes to the next of the picked coordinates; false after the last. */
static bool next(const gather_explain_table *table, int32_t dims, int *at) {
  for (int32_t d = dims; d-- > 0;) {
    if (++at[d] < table->pick[d]->count) return true;
    at[d] = 0;
  }
  return false;
}

static bool any(const gather_explain_table *table) {
  for (int32_t d = 0; d < table->rank; d++)
    if (table->pick[d]->count == 0) return false;
  return true;
}

static void coordinates(const gather_explain_table *table, int32_t dims, const int *number, int64_t *at) {
  for (int32_t d = 0; d < dims; d++) at[d] = table->pick[d]->at[number[d]];
}

static void add_row(gather_explain *ex, int64_t row) {
  for (int i = 0; i < ex->row_count; i++)
    if (ex->rows[i] == row) return;
  if (row >= 0 && ex->row_count < GATHER_EXPLAIN_ROW_MAX) ex->rows[ex->row_count++] = row;
}

/* A colour per cell is useful only while there are few cells. */
static bool few(const gather_explain_table *table) {
  enum { FEW = 16 };
  int count = 1;
  for (int32_t d = 0; d < table->rank && count <= FEW; d++) count *= table->pick[d]->count;
  return count <= FEW;
}

static void add_key(gather_explain *ex, int64_t key) {
  for (int i = 0; i < ex->key_count; i++)
    if (ex->keys[i] == key) return;
  if (ex->key_count < GATHER_EXPLAIN_ROW_MAX) ex->keys[ex->key_count++] = key;
}

/* How many rows of data are shown on the axis of that component. A table drawn with its rows below each other may show
 * more rows than columns. */
static int most_rows(const gather_explain *ex, int32_t component, int columns) {
  const int32_t rank = ex->data.rank, axis = ex->axis + component;
  const int most = most_of(rank, axis, columns);
  int64_t used = ex->used_row_count[component];
  if (used > GATHER_EXPLAIN_PICK_MAX) used = GATHER_EXPLAIN_PICK_MAX;
  return axis == rank - 2 && used > most ? (int)used : most;
}

/* What a shown index gathers. The rows of a tuple are shown together. */
static void collect_row(gather_explain *ex, const int64_t *at, int columns) {
  gather_explain_origin origin = gather_explain_index(ex, at);
  if (!origin.has_source) return;
  add_key(ex, key_of(ex, origin.data));
  if (!ex->tuples) add_row(ex, origin.row);
  for (int32_t c = 0; ex->tuples && c < ex->selected; c++)
    pick_add(&ex->data_pick[ex->axis + c], origin.data[ex->axis + c], ex->data.shape[ex->axis + c], most_rows(ex, c, columns));
}

/* The rows that the shown indices gather. */
static void collect_rows(gather_explain *ex, int columns) {
  const gather_explain_table *table = &ex->table[GATHER_EXPLAIN_INDICES];
  const int32_t dims = table->rank - ex->tuples;
  int number[GATHER_MAX_RANK] = {0}, *found = ex->tuples ? &ex->key_count : &ex->row_count;
  int64_t at[GATHER_MAX_RANK];
  ex->row_count = ex->key_count = 0;
  if (!any(table)) return;
  ex->key_by_cell = ex->by_cell && few(table);
  do {
    coordinates(table, dims, number, at);
    collect_row(ex, at, columns);
  } while (*found < GATHER_EXPLAIN_ROW_MAX && next(table, dims, number));
}

static void name_tables(gather_explain *ex) {
  const gather_tensor *data = &ex->data, *indices = &ex->indices;
  ex->table[GATHER_EXPLAIN_DATA] = (gather_explain_table){.name = "data", .rank = data->rank, .shape = data->shape};
  ex->table[GATHER_EXPLAIN_INDICES] = (gather_explain_table){.name = "idx", .rank = indices->rank, .shape = indices->shape};
  ex->table[GATHER_EXPLAIN_OUT] =
      (gather_explain_table){.name = ex->writes ? "updates" : "out", .rank = ex->out_rank, .shape = ex->out_shape};
  for (int32_t d = 0; d < data->rank; d++) ex->table[GATHER_EXPLAIN_DATA].pick[d] = &ex->data_pick[d];
  for (int32_t d = 0; d < indices->rank; d++) ex->table[GATHER_EXPLAIN_INDICES].pick[d] = &ex->index_pick[d];
}

/* The coordinates of one dimension of the output that several sources are: those of the shown coordinates of each. */
static void choose_fused(gather_explain *ex, const gather_dim_source *from, int64_t len, int most) {
  const gather_explain_table part = {.rank = from->count, .shape = ex->data.shape + from->data};
  gather_explain_table all = part;
  int number[GATHER_MAX_RANK] = {0};
  int64_t at[GATHER_MAX_RANK];
  for (int32_t k = 0; k < from->count; k++) all.pick[k] = &ex->index_pick[from->indices + k];
  ex->fused_pick.count = 0;
  if (len > most && any(&all)) do {
      coordinates(&all, all.rank, number, at);
      pick_add(&ex->fused_pick, gather_explain_offset(all.rank, all.shape, at), len, most);
    } while (ex->fused_pick.count < most && next(&all, all.rank, number));
  choose(&ex->fused_pick, len, most, NULL, 0);
}

/* A dimension of the output shows the coordinates of its source in data, or in indices if their lengths differ. */
static void share_picks(gather_explain *ex, int columns) {
  gather_explain_table *out = &ex->table[GATHER_EXPLAIN_OUT];
  for (int32_t d = 0; d < out->rank; d++) {
    const gather_dim_source *from = &ex->sources[d];
    if (from->count > 1) {
      choose_fused(ex, from, out->shape[d], most_of(out->rank, d, columns));
      out->pick[d] = &ex->fused_pick;
      continue;
    }
    bool of_data = from->data >= 0 && out->shape[d] == ex->data.shape[from->data];
    out->pick[d] = of_data ? &ex->data_pick[from->data] : &ex->index_pick[from->indices];
  }
}

/* The cells of data that shown output cells come from. */
static gather_status collect_cells(gather_explain *ex, gather_error *error) {
  enum { MOST = 4096 };
  const gather_explain_table *table = &ex->table[GATHER_EXPLAIN_OUT], *data = &ex->table[GATHER_EXPLAIN_DATA];
  int64_t at[GATHER_MAX_RANK];
  ex->picked_count = 0;
  if (!ex->picked) ex->picked = gather_alloc(MOST * (int64_t)sizeof *ex->picked);
  if (!ex->picked) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the drawing");
  if (!any(table)) return GATHER_OK;
  for (int s = 0; gather_explain_slice(table, s, at); s++) {
    const gather_explain_pick *rows = gather_explain_rows(table), *columns = gather_explain_columns(table);
    for (int r = 0; r < rows->count; r++)
      for (int c = 0; c < columns->count; c++) {
        gather_explain_at(table, rows->at[r], columns->at[c], at);
        gather_explain_origin origin = gather_explain_out(ex, at);
        if (origin.has_source && ex->picked_count < MOST)
          ex->picked[ex->picked_count++] = gather_explain_offset(data->rank, data->shape, origin.data);
      }
  }
  return GATHER_OK;
}

/* The rows of data: those that shown indices gather, then others that are used, then what there is room for. */
static void choose_rows(gather_explain *ex, int32_t component, int columns) {
  const int32_t axis = ex->axis + component;
  gather_explain_pick *pick = &ex->data_pick[axis];
  const int64_t len = ex->data.shape[axis], *used = ex->used_rows[component];
  const int most = most_rows(ex, component, columns);
  for (int i = 0; i < ex->row_count; i++) pick_add(pick, ex->rows[i], len, most);
  for (int64_t i = 0; i < ex->used_row_count[component] && pick->count < most; i++) pick_add(pick, used[i], len, most);
  choose(pick, len, most, NULL, 0);
}

gather_status gather_explain_layout(gather_explain *ex, int columns, gather_error *error) {
  name_tables(ex);
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA], *indices = &ex->table[GATHER_EXPLAIN_INDICES];
  for (int32_t d = 0; d < GATHER_MAX_RANK; d++) ex->data_pick[d].count = ex->index_pick[d].count = 0;
  for (int32_t d = 0; d < indices->rank; d++)
    choose(&ex->index_pick[d], indices->shape[d], most_of(indices->rank, d, columns), &ex->bad_at[d], ex->any_bad);
  collect_rows(ex, columns);
  for (int32_t d = 0; d < data->rank; d++) {
    const gather_explain_pick *shared = ex->shared[d] >= 0 ? &ex->index_pick[ex->shared[d]] : NULL;
    if (d >= ex->axis && d < ex->axis + ex->selected)
      choose_rows(ex, d - ex->axis, columns);
    else
      choose(&ex->data_pick[d], data->shape[d], most_of(data->rank, d, columns), shared ? shared->at : NULL, shared ? shared->count : 0);
  }
  share_picks(ex, columns);
  return collect_cells(ex, error);
}

bool gather_explain_slice(const gather_explain_table *table, int i, int64_t *at) {
  int32_t dims = table->rank > 2 ? table->rank - 2 : 0;
  int number[GATHER_MAX_RANK] = {0};
  if (i >= GATHER_EXPLAIN_SLICE_MAX || !any(table)) return false;
  for (int k = 0; k < i; k++)
    if (!next(table, dims, number)) return false;
  coordinates(table, dims, number, at);
  return true;
}

int64_t gather_explain_more(const gather_explain_table *table) {
  int64_t all = 1, shown = 0, at[GATHER_MAX_RANK];
  for (int32_t d = 0; d + 2 < table->rank; d++)
    all = table->shape[d] && all > INT64_MAX / table->shape[d] ? INT64_MAX : all * table->shape[d];
  while (shown < GATHER_EXPLAIN_SLICE_MAX && gather_explain_slice(table, (int)shown, at)) shown++;
  return all - shown;
}
