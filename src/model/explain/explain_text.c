/* SPDX-License-Identifier: MIT
 *
 * explain_text.c: the drawing in a terminal: each 2-D slice is a box with its coordinates above and to the left.
 */
#include <inttypes.h>
#include <string.h>

#include "io/format/text/utf8.h"
#include "model/explain/drawing.h"

/* The signs of a drawing, all one column wide except those of ASCII. */
typedef struct signs {
  const char *top_left, *top_right, *bottom_left, *bottom_right, *across, *down, *dots, *below, *arrow, *from, *bad;
} signs;
static const signs BOX = {"┌", "┐", "└", "┘", "─", "│", "…", "⋮", " → ", "← ", "✗"};
static const signs ASCII = {"+", "+", "+", "+", "-", "|", "..", ":", " -> ", "<- ", "!"};

typedef struct drawing {
  const gather_explain *ex;
  const gather_explain_table *table;
  const signs *sign;
  gather_explain_part part;
  bool colour;
  gather_growing *to;
  int width, label; /* columns of a cell, and of the coordinates on the left */
} drawing;

static const char *const COLOURS[GATHER_EXPLAIN_COLOURS] = {"34", "32", "35", "36", "33", "94", "92", "95"};

/* Columns on a screen: everything drawn here is one column wide. */
static int columns_of(const char *text) {
  int columns = 0;
  for (; *text; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
  return columns;
}

static void pad(gather_growing *to, int columns) {
  if (columns > 0) gather_growing_print(to, "%*s", columns, "");
}

static void right(gather_growing *to, const char *text, int width) {
  pad(to, width - columns_of(text));
  gather_growing_text(to, text);
}

/* Between a cell of the output and the place that it comes from, or that an update goes to. */
static const char *origin_sign(const drawing *d) { return d->ex->writes ? d->sign->arrow + 1 : d->sign->from; }

/* The text of a cell: an index with its resolved row, an output cell with its source row unless a side of the box shows
 * it. */
static void words_of(const drawing *d, const gather_explain_shown *cell, char *text, size_t bytes) {
  char to[40] = "";
  bool by_cell = d->part == GATHER_EXPLAIN_OUT && gather_explain_by(d->ex) == GATHER_EXPLAIN_BY_CELL;
  if (d->part == GATHER_EXPLAIN_INDICES && cell->to >= 0)
    snprintf(to, sizeof to, "%s%" PRId64, d->sign->arrow, cell->to);
  else if (by_cell && *cell->tuple)
    snprintf(to, sizeof to, " %s%.30s", origin_sign(d), cell->tuple);
  else if (by_cell && cell->to >= 0)
    snprintf(to, sizeof to, " %s%" PRId64, origin_sign(d), cell->to);
  bool mark = cell->bad && (d->part == GATHER_EXPLAIN_INDICES || cell->to < 0);
  snprintf(text, bytes, "%s%s%s%s", cell->text, mark ? " " : "", mark ? d->sign->bad : "", to);
}

static void measure(drawing *d, int64_t *at) {
  const gather_explain_pick *rows = gather_explain_rows(d->table), *columns = gather_explain_columns(d->table);
  char text[160];
  gather_explain_shown cell;
  for (int r = 0; r < rows->count; r++)
    for (int c = 0; c < columns->count; c++) {
      gather_explain_at(d->table, rows->at[r], columns->at[c], at);
      gather_explain_show(d->ex, d->part, at, &cell);
      words_of(d, &cell, text, sizeof text);
      if (columns_of(text) > d->width) d->width = columns_of(text);
    }
  for (int c = 0; c < columns->count && d->table->rank; c++) {
    int len = snprintf(text, sizeof text, "%" PRId64, columns->at[c]);
    if (len > d->width) d->width = len;
  }
  for (int r = 0; r < rows->count && d->table->rank >= 2; r++) {
    int len = snprintf(text, sizeof text, "%" PRId64, rows->at[r]);
    if (len > d->label) d->label = len;
  }
}

static void border(const drawing *d, const char *left, const char *end) {
  const gather_explain_pick *columns = gather_explain_columns(d->table);
  int width = 1; /* a blank before the right side */
  for (int c = 0; c < columns->count; c++) width += d->width + 2 + (gather_explain_gap(columns, c) ? columns_of(d->sign->dots) + 1 : 0);
  pad(d->to, d->label + 1);
  gather_growing_text(d->to, left);
  if (gather_explain_gap(columns, columns->count)) width += columns_of(d->sign->dots) + 1;
  for (int i = 0; i < width; i++) gather_growing_text(d->to, d->sign->across);
  gather_growing_print(d->to, "%s\n", end);
}

/* Columns that are left out after the last. */
static void tail(const drawing *d) {
  const gather_explain_pick *columns = gather_explain_columns(d->table);
  if (gather_explain_gap(columns, columns->count)) gather_growing_print(d->to, " %s", d->sign->dots);
}

static void header(const drawing *d) {
  const gather_explain_pick *columns = gather_explain_columns(d->table);
  if (d->table->rank == 0) return;
  pad(d->to, d->label + 2);
  for (int c = 0; c < columns->count; c++) {
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, columns->at[c]);
    if (gather_explain_gap(columns, c)) gather_growing_print(d->to, " %s", d->sign->dots);
    gather_growing_text(d->to, "  ");
    right(d->to, number, d->width);
  }
  tail(d);
  gather_growing_char(d->to, '\n');
}

static void one_cell(const drawing *d, const int64_t *at) {
  gather_explain_shown cell;
  char text[160];
  gather_explain_show(d->ex, d->part, at, &cell);
  words_of(d, &cell, text, sizeof text);
  pad(d->to, d->width + 2 - columns_of(text));
  const char *colour = cell.bad ? "1;31" : cell.colour >= 0 ? COLOURS[cell.colour] : NULL;
  if (d->colour && colour) gather_growing_print(d->to, "\033[%sm", colour);
  gather_text_put(d->to, text);
  if (d->colour && colour) gather_growing_text(d->to, "\033[0m");
}

/* Adds to text, as much as fits. */
static void append(char *text, size_t bytes, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, bytes - used, "%s", more);
}

/* A cell's coordinates in data, with colons for those that run along the row or column of the output. */
static void from_text(const gather_explain *ex, const int64_t *at, char *text, size_t bytes) {
  gather_explain_origin origin = gather_explain_out(ex, at);
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA];
  int32_t out_rank = ex->table[GATHER_EXPLAIN_OUT].rank;
  gather_explain_telling by = gather_explain_by(ex);
  int32_t running = by == GATHER_EXPLAIN_BY_ROW ? out_rank - 1 : by == GATHER_EXPLAIN_BY_COLUMN ? out_rank - 2 : -1;
  if (!origin.has_source) {
    snprintf(text, bytes, ex->writes ? "nowhere" : ex->failed ? "no value" : "filled");
    return;
  }
  snprintf(text, bytes, "%s", "data[");
  for (int32_t d = 0; d < data->rank; d++) {
    char number[32];
    bool runs = running >= 0 && ex->sources[running].data == d;
    snprintf(number, sizeof number, "%s", d ? ", " : "");
    append(text, bytes, number);
    snprintf(number, sizeof number, "%" PRId64, origin.data[d]);
    append(text, bytes, runs ? ":" : number);
  }
  append(text, bytes, "]");
}

static void one_row(const drawing *d, int r, int64_t *at) {
  const gather_explain_pick *rows = gather_explain_rows(d->table), *columns = gather_explain_columns(d->table);
  char text[160] = "";
  if (d->table->rank >= 2) snprintf(text, sizeof text, "%" PRId64, rows->at[r]);
  right(d->to, text, d->label);
  gather_growing_print(d->to, " %s", d->sign->down);
  for (int c = 0; c < columns->count; c++) {
    gather_explain_at(d->table, rows->at[r], columns->at[c], at);
    if (gather_explain_gap(columns, c)) gather_growing_print(d->to, " %s", d->sign->dots);
    one_cell(d, at);
  }
  tail(d);
  gather_growing_print(d->to, " %s", d->sign->down);
  if (d->part == GATHER_EXPLAIN_OUT && gather_explain_by(d->ex) == GATHER_EXPLAIN_BY_ROW) {
    from_text(d->ex, at, text, sizeof text);
    gather_growing_print(d->to, " %s%s", origin_sign(d), text);
  }
  gather_growing_char(d->to, '\n');
}

/* Under an output whose columns each have one index: which. */
static void footer(const drawing *d, int64_t *at) {
  const gather_explain_pick *rows = gather_explain_rows(d->table), *columns = gather_explain_columns(d->table);
  char text[160];
  if (d->part != GATHER_EXPLAIN_OUT || gather_explain_by(d->ex) != GATHER_EXPLAIN_BY_COLUMN) return;
  pad(d->to, d->label + 2);
  for (int c = 0; c < columns->count; c++) {
    gather_explain_shown cell;
    gather_explain_at(d->table, rows->at[0], columns->at[c], at);
    gather_explain_show(d->ex, d->part, at, &cell);
    snprintf(text, sizeof text, cell.to < 0 ? "%s" : "%.0s%" PRId64, d->sign->bad, cell.to);
    if (gather_explain_gap(columns, c)) gather_growing_print(d->to, " %s", d->sign->dots);
    gather_growing_text(d->to, "  ");
    right(d->to, text, d->width);
  }
  gather_growing_print(d->to, "  %sdata, axis %d\n", origin_sign(d), (int)d->ex->axis);
}

static void one_slice(drawing *d, int64_t *at) {
  const gather_explain_pick *rows = gather_explain_rows(d->table);
  header(d);
  border(d, d->sign->top_left, d->sign->top_right);
  for (int r = 0; r <= rows->count; r++) {
    if (gather_explain_gap(rows, r)) {
      right(d->to, d->sign->below, d->label);
      gather_growing_print(d->to, " %s\n", d->sign->below);
    }
    if (r < rows->count) one_row(d, r, at);
  }
  border(d, d->sign->bottom_left, d->sign->bottom_right);
  footer(d, at);
}

static void one_table(const gather_explain *ex, gather_growing *to, gather_explain_part part, bool ascii, bool colour) {
  char text[256];
  int64_t at[GATHER_MAX_RANK] = {0}, more;
  drawing d = {ex, &ex->table[part], ascii ? &ASCII : &BOX, part, colour, to, 1, 0};
  gather_explain_title(ex, part, text, sizeof text);
  gather_growing_print(to, "\n%s\n", text);
  for (int s = 0; gather_explain_slice(d.table, s, at); s++) measure(&d, at);
  for (int s = 0; gather_explain_slice(d.table, s, at); s++) {
    if (d.table->rank > 2) {
      gather_explain_slice_text(d.table, at, text, sizeof text);
      gather_growing_print(to, "%s\n", text);
    }
    one_slice(&d, at);
  }
  if (!gather_explain_slice(d.table, 0, at))
    gather_growing_text(to, "  (no cells)\n");
  else if ((more = gather_explain_more(d.table)) > 0)
    gather_growing_print(to, "%s and %" PRId64 " more\n", ascii ? "..." : "…", more);
  if (gather_explain_left_out(ex, part, text, sizeof text)) gather_growing_print(to, "%s %s\n", ascii ? "..." : "…", text);
}

void gather_explain_draw_text(const gather_explain *ex, gather_growing *to, bool ascii, bool colour) {
  char text[1024];
  gather_growing_print(to, "%s: %s\n", ex->op->name, ex->formula);
  gather_explain_rules(ex, text, sizeof text);
  gather_text_put(to, text);
  gather_growing_char(to, '\n');
  for (int i = 0; gather_explain_note(ex, i, text, sizeof text); i++) {
    gather_text_put(to, text);
    gather_growing_char(to, '\n');
  }
  one_table(ex, to, GATHER_EXPLAIN_DATA, ascii, colour);
  one_table(ex, to, GATHER_EXPLAIN_INDICES, ascii, colour);
  one_table(ex, to, GATHER_EXPLAIN_OUT, ascii, colour);
}
