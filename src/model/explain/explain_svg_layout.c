/* SPDX-License-Identifier: MIT
 *
 * explain_svg_layout.c: the places and sizes of the picture's tables.
 */
#include <inttypes.h>
#include <string.h>

#include "model/explain/explain_svg.h"

enum {
  CELL_HIGH = 30,
  ORIGIN_HIGH = 40, /* a cell that says where it comes from */
  TITLE = 26,       /* the name of a table */
  CAPTION = 18,     /* the name of a slice */
  BETWEEN = 8,      /* slices */
  SPACE = 76,       /* tables, with room for the lines */
  DOWN_SPACE = 58,
  LETTER = 8, /* a letter of a cell, at most */
  MOST_WIDE = 900
};

/* ---- text */

unsigned gather_svg_next(const char **text) {
  const unsigned char *p = (const unsigned char *)*text;
  int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
  unsigned c = more ? *p & (0x3fu >> more) : *p;
  static const unsigned LEAST[4] = {0, 0x80, 0x800, 0x10000};
  *text += 1;
  if (*p >= 0xf8 || (*p >= 0x80 && *p < 0xc0)) return 0xfffd;
  for (int i = 1; i <= more; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0xfffd;
    c = c << 6 | (p[i] & 0x3fu);
  }
  *text += more;
  return c < LEAST[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
}

int gather_svg_columns(const char *text) {
  int columns = 0;
  while (*text) columns += gather_svg_next(&text) >= 0x1100 ? 2 : 1; /* East Asian letters are twice as wide */
  return columns;
}

bool gather_svg_note(const gather_explain *ex, int i, char *text, size_t bytes) {
  enum { LONGEST = 110 };
  if (!gather_explain_note(ex, i, text, bytes)) return false;
  if (gather_svg_columns(text) <= LONGEST) return true;
  const char *end = text;
  for (int columns = 0; columns < LONGEST - 5; columns += gather_svg_next(&end) >= 0x1100 ? 2 : 1) {
  }
  size_t at = (size_t)(end - text);
  snprintf(text + at, bytes - at, " ...");
  return true;
}

/* ---- one table */

static int gap_before(const gather_explain_pick *pick, int i) {
  return gather_explain_gap(pick, i) ? GATHER_SVG_GAP : 0;
}

/* Where number i of a pick begins. */
static int begin_of(const gather_explain_pick *pick, int i, int size) {
  int at = gap_before(pick, 0);
  for (int k = 1; k <= i; k++) at += size + gap_before(pick, k);
  return at;
}

static int extent(const gather_explain_pick *pick, int size) {
  return pick->count ? begin_of(pick, pick->count - 1, size) + size + gap_before(pick, pick->count) : 0;
}

static int caption(const gather_svg_spot *spot) { return spot->table->rank > 2 ? CAPTION : 0; }

static int slice_high(const gather_svg_spot *spot) {
  return caption(spot) + GATHER_SVG_HEAD + extent(gather_explain_rows(spot->table), spot->cell_high);
}

int gather_svg_x(const gather_svg_spot *spot, int c) {
  return spot->x + spot->label + begin_of(gather_explain_columns(spot->table), c, spot->cell);
}

int gather_svg_top(const gather_svg_spot *spot, int slice) {
  return spot->y + spot->above + slice * (slice_high(spot) + BETWEEN) + caption(spot) + GATHER_SVG_HEAD;
}

int gather_svg_y(const gather_svg_spot *spot, int slice, int r) {
  return gather_svg_top(spot, slice) + begin_of(gather_explain_rows(spot->table), r, spot->cell_high);
}

void gather_svg_origin(const gather_explain *ex, const int64_t *at, char *text, size_t bytes) {
  gather_explain_origin origin = gather_explain_out(ex, at);
  size_t used = 0;
  *text = 0;
  for (int32_t d = 0; origin.has_source && d < ex->table[GATHER_EXPLAIN_DATA].rank && used + 24 < bytes; d++)
    used += (size_t)snprintf(text + used, bytes - used, "%s%" PRId64, d ? ", " : "[", origin.data[d]);
  if (used) snprintf(text + used, bytes - used, "]");
}

/* The width of a cell's text. */
static int words_wide(const gather_svg_picture *p, const gather_svg_spot *spot, const int64_t *at) {
  char to[40] = "", origin[64] = "";
  gather_explain_shown cell;
  gather_explain_show(p->ex, spot->part, at, &cell);
  if (spot->part == GATHER_EXPLAIN_INDICES && cell.to >= 0) snprintf(to, sizeof to, " > %" PRId64, cell.to);
  if (spot->origins) gather_svg_origin(p->ex, at, origin, sizeof origin);
  int wide = (int)(strlen(cell.text) + strlen(to)) * LETTER, below = (int)strlen(origin) * 6;
  return wide > below ? wide : below;
}

static void measure_cells(const gather_svg_picture *p, gather_svg_spot *spot) {
  const gather_explain_pick *rows = gather_explain_rows(spot->table);
  const gather_explain_pick *columns = gather_explain_columns(spot->table);
  int64_t at[GATHER_MAX_RANK];
  char number[32];
  spot->cell = 40;
  for (spot->slices = 0; gather_explain_slice(spot->table, spot->slices, at); spot->slices++)
    for (int r = 0; r < rows->count; r++)
      for (int c = 0; c < columns->count; c++) {
        gather_explain_at(spot->table, rows->at[r], columns->at[c], at);
        int wide = words_wide(p, spot, at) + 14;
        if (wide > spot->cell) spot->cell = wide;
      }
  /* The coordinates are in a smaller font, and ascend. */
  int last = columns->count ? snprintf(number, sizeof number, "%" PRId64, columns->at[columns->count - 1]) * 7 + 6 : 0;
  if (last > spot->cell) spot->cell = last;
  spot->label = spot->table->rank < 2 ? 0 : 26;
  if (spot->label && rows->count)
    last = snprintf(number, sizeof number, "%" PRId64, rows->at[rows->count - 1]) * 7 + 12;
  if (spot->label && rows->count && last > spot->label) spot->label = last;
}

static void measure(const gather_svg_picture *p, gather_svg_spot *spot) {
  char title[256];
  bool below = p->flow == GATHER_SVG_FLOW_DOWN && spot->part == GATHER_EXPLAIN_OUT;
  spot->origins = spot->part == GATHER_EXPLAIN_OUT && p->flow == GATHER_SVG_FLOW_NONE &&
                  (gather_explain_by(p->ex) != GATHER_EXPLAIN_BY_ROW || p->ex->tuples);
  spot->cell_high = spot->origins ? ORIGIN_HIGH : CELL_HIGH;
  spot->above = below ? 0 : TITLE;
  measure_cells(p, spot);
  int grid = spot->label + extent(gather_explain_columns(spot->table), spot->cell);
  gather_explain_title(p->ex, spot->part, title, sizeof title);
  int name = (int)strlen(title) * 17 / 2;
  spot->wide = grid > name ? grid : name;
  spot->high = TITLE + spot->slices * (slice_high(spot) + BETWEEN) +
               (spot->slices == 0 || gather_explain_more(spot->table) > 0 ? GATHER_SVG_FOOT : 0) +
               (gather_explain_left_out(p->ex, spot->part, title, sizeof title) ? GATHER_SVG_FOOT : 0);
}

/* ---- all of them */

static gather_svg_flow flow_of(const gather_explain *ex) {
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA], *out = &ex->table[GATHER_EXPLAIN_OUT];
  const gather_explain_table *indices = &ex->table[GATHER_EXPLAIN_INDICES];
  int64_t at[GATHER_MAX_RANK];
  bool rows = gather_family_get(ex->op->family)->whole_rows && ex->batch == 0;
  if (!rows || !gather_explain_slice(out, 0, at) || out->rank > 2) return GATHER_SVG_FLOW_NONE;
  if (data->rank == 2 && ex->axis == 0) return GATHER_SVG_FLOW_ACROSS;
  if (ex->axis == data->rank - 1 && data->rank <= 2 && (indices->rank == 1 || data->rank == 1) && indices->rank <= 1)
    return GATHER_SVG_FLOW_DOWN;
  return GATHER_SVG_FLOW_NONE;
}

/* Side by side. */
static void in_a_row(gather_svg_picture *p, int top) {
  int x = GATHER_SVG_MARGIN, most = 0;
  for (int i = 0; i < 3; i++) {
    p->at[i].x = x;
    p->at[i].y = top;
    x += p->at[i].wide + SPACE;
    if (p->at[i].high > most) most = p->at[i].high;
  }
  p->wide = x - SPACE + GATHER_SVG_MARGIN;
  p->high = top + most + GATHER_SVG_MARGIN;
}

/* Indices and data side by side, the output under the data. */
static void in_an_angle(gather_svg_picture *p, int top) {
  gather_svg_spot *indices = &p->at[0], *data = &p->at[1], *out = &p->at[2];
  in_a_row(p, top);
  out->x = data->x;
  out->y = top + (indices->high > data->high ? indices->high : data->high) + DOWN_SPACE;
  /* One label for both, and one cell, so that columns are aligned. */
  data->label = out->label = data->label > out->label ? data->label : out->label;
  int wide = out->wide > data->wide ? out->wide : data->wide;
  p->wide = data->x + wide + 8 + GATHER_SVG_MARGIN;
  p->high = out->y + out->high + GATHER_SVG_MARGIN / 2;
}

/* Below each other, where the page is too narrow. */
static void in_a_column(gather_svg_picture *p, int top) {
  p->wide = 0;
  for (int i = 0; i < 3; i++) {
    bool lines = i == 2 && p->flow == GATHER_SVG_FLOW_DOWN;
    p->at[i].x = GATHER_SVG_MARGIN;
    p->at[i].y = i ? p->at[i - 1].y + p->at[i - 1].high + (lines ? DOWN_SPACE : 30) : top;
    if (p->at[i].wide + 2 * GATHER_SVG_MARGIN > p->wide) p->wide = p->at[i].wide + 2 * GATHER_SVG_MARGIN;
  }
  p->high = p->at[2].y + p->at[2].high + GATHER_SVG_MARGIN;
}

/* Makes the picture wide enough for its lines of text; monospace characters are wider than others. */
static void widen(gather_svg_picture *p) {
  char text[1024];
  int wide, head = (int)strlen(p->ex->op->name) * 11 + 14;
  gather_explain_rules(p->ex, text, sizeof text);
  if ((wide = gather_svg_columns(text) * 7 + 2 * GATHER_SVG_MARGIN) > p->wide) p->wide = wide;
  for (int i = 0; gather_svg_note(p->ex, i, text, sizeof text); i++)
    if ((wide = gather_svg_columns(text) * 7 + 2 * GATHER_SVG_MARGIN) > p->wide) p->wide = wide;
  gather_explain_formula(p->ex, text, sizeof text);
  if ((wide = (int)strlen(text) * 17 / 2 + head + 2 * GATHER_SVG_MARGIN) > p->wide) p->wide = wide;
}

void gather_svg_arrange(gather_svg_picture *p) {
  static const gather_explain_part ORDER[3] = {GATHER_EXPLAIN_INDICES, GATHER_EXPLAIN_DATA, GATHER_EXPLAIN_OUT};
  char text[1024];
  p->flow = flow_of(p->ex);
  for (p->notes = 0; gather_svg_note(p->ex, p->notes, text, sizeof text);) p->notes++;
  for (int i = 0; i < 3; i++) {
    p->at[i] = (gather_svg_spot){.part = ORDER[i], .table = &p->ex->table[ORDER[i]]};
    measure(p, &p->at[i]);
  }
  int top = GATHER_SVG_TOP + 14 + 20 * p->notes;
  (p->flow == GATHER_SVG_FLOW_DOWN ? in_an_angle : in_a_row)(p, top);
  if (p->wide > MOST_WIDE) in_a_column(p, top);
  widen(p);
}
