/* SPDX-License-Identifier: MIT
 *
 * explain_svg.c: the drawing as a self-contained SVG picture: no scripts, no embedded fonts, readable on light and on dark pages. Gathered
 * data has the same colour everywhere. If a whole row or column of the output comes from one place, a line leads to it from data; else
 * each cell of the output shows where it comes from.
 */
#include <inttypes.h>
#include <string.h>

#include "model/explain/drawing.h"

enum {
  HEAD = 22, /* coordinates above a box */
  MARGIN = 24,
  GAP = 22,  /* where coordinates are left out */
  FOOT = 20, /* a line under a table */
  TOP = 78   /* y of the first note */
};

/* How lines lead from data to the output: where one place gives a whole row, or a whole column, of it. Else each cell of the output
 * says where it comes from. */
typedef enum svg_flow { FLOW_NONE, FLOW_ACROSS, FLOW_DOWN } svg_flow;

/* One table and its place in the picture. */
typedef struct svg_spot {
  gather_explain_part part;
  const gather_explain_table *table;
  int x, y, wide, high; /* all of it */
  int cell, cell_high;  /* of one cell */
  int label, slices;    /* width of the coordinates on the left; how many slices are shown */
  int above;            /* height above the first slice: the title, unless it is below */
  bool origins;         /* cells say where they come from */
} svg_spot;

typedef struct svg_picture {
  const gather_explain *ex;
  gather_growing *to;
  svg_spot at[3]; /* indices, data, output */
  svg_flow flow;
  int wide, high, notes;
} svg_picture;

/* ---- places and sizes of the tables */

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

/* The next character of UTF-8 text: its code point, 0xfffd if invalid; advances *text. */
static unsigned svg_next(const char **text) {
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

/* Columns that UTF-8 text takes in a monospace font. */
static int svg_columns(const char *text) {
  int columns = 0;
  while (*text) columns += svg_next(&text) >= 0x1100 ? 2 : 1; /* East Asian letters are twice as wide */
  return columns;
}

/* Sentence number i, cut where it is too long for a picture; false after the last. */
static bool svg_note(const gather_explain *ex, int i, char *text, size_t bytes) {
  enum { LONGEST = 110 };
  if (!gather_explain_note(ex, i, text, bytes)) return false;
  if (svg_columns(text) <= LONGEST) return true;
  const char *end = text;
  for (int columns = 0; columns < LONGEST - 5; columns += svg_next(&end) >= 0x1100 ? 2 : 1) {
  }
  size_t at = (size_t)(end - text);
  snprintf(text + at, bytes - at, " ...");
  return true;
}

/* ---- one table */

static int gap_before(const gather_explain_pick *pick, int i) { return gather_explain_gap(pick, i) ? GAP : 0; }

/* Where number i of a pick begins. */
static int begin_of(const gather_explain_pick *pick, int i, int size) {
  int at = gap_before(pick, 0);
  for (int k = 1; k <= i; k++) at += size + gap_before(pick, k);
  return at;
}

static int extent(const gather_explain_pick *pick, int size) {
  return pick->count ? begin_of(pick, pick->count - 1, size) + size + gap_before(pick, pick->count) : 0;
}

static int caption(const svg_spot *spot) { return spot->table->rank > 2 ? CAPTION : 0; }

static int slice_high(const svg_spot *spot) { return caption(spot) + HEAD + extent(gather_explain_rows(spot->table), spot->cell_high); }

/* The left end of column number c, and the top of row number r. */
static int svg_x(const svg_spot *spot, int c) {
  return spot->x + spot->label + begin_of(gather_explain_columns(spot->table), c, spot->cell);
}

/* The top of a slice's cells, with what is left out before the first row. */
static int svg_top(const svg_spot *spot, int slice) {
  return spot->y + spot->above + slice * (slice_high(spot) + BETWEEN) + caption(spot) + HEAD;
}

static int svg_y(const svg_spot *spot, int slice, int r) {
  return svg_top(spot, slice) + begin_of(gather_explain_rows(spot->table), r, spot->cell_high);
}

/* "[2, 0]" under a cell of the output: where it comes from; "" without a source. */
static void svg_origin(const gather_explain *ex, const int64_t *at, char *text, size_t bytes) {
  gather_explain_origin origin = gather_explain_out(ex, at);
  size_t used = 0;
  *text = 0;
  for (int32_t d = 0; origin.has_source && d < ex->table[GATHER_EXPLAIN_DATA].rank && used + 24 < bytes; d++)
    used += (size_t)snprintf(text + used, bytes - used, "%s%" PRId64, d ? ", " : "[", origin.data[d]);
  if (used) snprintf(text + used, bytes - used, "]");
}

/* The width of a cell's text. */
static int words_wide(const svg_picture *p, const svg_spot *spot, const int64_t *at) {
  char to[40] = "", origin[64] = "";
  gather_explain_shown cell;
  gather_explain_show(p->ex, spot->part, at, &cell);
  if (spot->part == GATHER_EXPLAIN_INDICES && cell.to >= 0) snprintf(to, sizeof to, " > %" PRId64, cell.to);
  if (spot->origins) svg_origin(p->ex, at, origin, sizeof origin);
  int wide = (int)(strlen(cell.text) + strlen(to)) * LETTER, below = (int)strlen(origin) * 6;
  return wide > below ? wide : below;
}

static void measure_cells(const svg_picture *p, svg_spot *spot) {
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
  if (spot->label && rows->count) last = snprintf(number, sizeof number, "%" PRId64, rows->at[rows->count - 1]) * 7 + 12;
  if (spot->label && rows->count && last > spot->label) spot->label = last;
}

static void measure(const svg_picture *p, svg_spot *spot) {
  char title[256];
  bool below = p->flow == FLOW_DOWN && spot->part == GATHER_EXPLAIN_OUT;
  spot->origins =
      spot->part == GATHER_EXPLAIN_OUT && p->flow == FLOW_NONE && (gather_explain_by(p->ex) != GATHER_EXPLAIN_BY_ROW || p->ex->tuples);
  spot->cell_high = spot->origins ? ORIGIN_HIGH : CELL_HIGH;
  spot->above = below ? 0 : TITLE;
  measure_cells(p, spot);
  int grid = spot->label + extent(gather_explain_columns(spot->table), spot->cell);
  gather_explain_title(p->ex, spot->part, title, sizeof title);
  int name = (int)strlen(title) * 17 / 2;
  spot->wide = grid > name ? grid : name;
  spot->high = TITLE + spot->slices * (slice_high(spot) + BETWEEN) +
               (spot->slices == 0 || gather_explain_more(spot->table) > 0 ? FOOT : 0) +
               (gather_explain_left_out(p->ex, spot->part, title, sizeof title) ? FOOT : 0);
}

/* ---- all of them */

static svg_flow flow_of(const gather_explain *ex) {
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA], *out = &ex->table[GATHER_EXPLAIN_OUT];
  const gather_explain_table *indices = &ex->table[GATHER_EXPLAIN_INDICES];
  int64_t at[GATHER_MAX_RANK];
  bool rows = gather_family_get(ex->op->family)->whole_rows && ex->batch == 0;
  if (!rows || !gather_explain_slice(out, 0, at) || out->rank > 2) return FLOW_NONE;
  if (data->rank == 2 && ex->axis == 0) return FLOW_ACROSS;
  if (ex->axis == data->rank - 1 && data->rank <= 2 && (indices->rank == 1 || data->rank == 1) && indices->rank <= 1) return FLOW_DOWN;
  return FLOW_NONE;
}

/* Side by side. */
static void in_a_row(svg_picture *p, int top) {
  int x = MARGIN, most = 0;
  for (int i = 0; i < 3; i++) {
    p->at[i].x = x;
    p->at[i].y = top;
    x += p->at[i].wide + SPACE;
    if (p->at[i].high > most) most = p->at[i].high;
  }
  p->wide = x - SPACE + MARGIN;
  p->high = top + most + MARGIN;
}

/* Indices and data side by side, the output under the data. */
static void in_an_angle(svg_picture *p, int top) {
  svg_spot *indices = &p->at[0], *data = &p->at[1], *out = &p->at[2];
  in_a_row(p, top);
  out->x = data->x;
  out->y = top + (indices->high > data->high ? indices->high : data->high) + DOWN_SPACE;
  /* One label for both, and one cell, so that columns are aligned. */
  data->label = out->label = data->label > out->label ? data->label : out->label;
  int wide = out->wide > data->wide ? out->wide : data->wide;
  p->wide = data->x + wide + 8 + MARGIN;
  p->high = out->y + out->high + MARGIN / 2;
}

/* Below each other, where the page is too narrow. */
static void in_a_column(svg_picture *p, int top) {
  p->wide = 0;
  for (int i = 0; i < 3; i++) {
    bool lines = i == 2 && p->flow == FLOW_DOWN;
    p->at[i].x = MARGIN;
    p->at[i].y = i ? p->at[i - 1].y + p->at[i - 1].high + (lines ? DOWN_SPACE : 30) : top;
    if (p->at[i].wide + 2 * MARGIN > p->wide) p->wide = p->at[i].wide + 2 * MARGIN;
  }
  p->high = p->at[2].y + p->at[2].high + MARGIN;
}

/* Makes the picture wide enough for its lines of text; monospace characters are wider than others. */
static void widen(svg_picture *p) {
  char text[1024];
  int wide, head = (int)strlen(p->ex->op->name) * 11 + 14;
  gather_explain_rules(p->ex, text, sizeof text);
  if ((wide = svg_columns(text) * 7 + 2 * MARGIN) > p->wide) p->wide = wide;
  for (int i = 0; svg_note(p->ex, i, text, sizeof text); i++)
    if ((wide = svg_columns(text) * 7 + 2 * MARGIN) > p->wide) p->wide = wide;
  if ((wide = (int)strlen(p->ex->formula) * 17 / 2 + head + 2 * MARGIN) > p->wide) p->wide = wide;
}

/* Chooses the places. */
static void svg_arrange(svg_picture *p) {
  static const gather_explain_part ORDER[3] = {GATHER_EXPLAIN_INDICES, GATHER_EXPLAIN_DATA, GATHER_EXPLAIN_OUT};
  char text[1024];
  p->flow = flow_of(p->ex);
  for (p->notes = 0; svg_note(p->ex, p->notes, text, sizeof text);) p->notes++;
  for (int i = 0; i < 3; i++) {
    p->at[i] = (svg_spot){.part = ORDER[i], .table = &p->ex->table[ORDER[i]]};
    measure(p, &p->at[i]);
  }
  int top = TOP + 14 + 20 * p->notes;
  (p->flow == FLOW_DOWN ? in_an_angle : in_a_row)(p, top);
  if (p->wide > MOST_WIDE) in_a_column(p, top);
  widen(p);
}

/* ---- drawing */

static const char STYLE[] =
    ".bg{fill:#ffffff;stroke:#d0d7de}text{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;fill:#"
    "1f2328}"
    ".h{font-family:system-ui,Helvetica,Arial,sans-serif;font-size:17px;font-weight:600}"
    ".s{font-family:system-ui,Helvetica,Arial,sans-serif;font-size:13px;fill:#59636e}"
    ".t{font-weight:600;font-size:14px}.l{font-size:11px;fill:#59636e}.o{font-size:10px;fill:#424a53}.m{text-anchor:"
    "middle}.e{text-anchor:end}"
    ".c{fill:#f6f8fa;stroke:#d0d7de}rect.bad{fill:#ffebe9;stroke:#cf222e;stroke-width:1.5}"
    "text.bad{fill:#a40e26;font-weight:600}.x{stroke:#cf222e;stroke-width:1;opacity:.45}"
    ".r{fill:none;stroke-width:2;opacity:.85}"
    ".c0{fill:#b6dbff;stroke:#0969da}.c1{fill:#b4f1c4;stroke:#1a7f37}.c2{fill:#ffdf9e;stroke:#9a6700}"
    ".c3{fill:#e6ccff;stroke:#8250df}.c4{fill:#ffd0e6;stroke:#bf3989}.c5{fill:#b3f0ea;stroke:#0d7d74}"
    ".c6{fill:#ffd2b8;stroke:#bc4c00}.c7{fill:#dbe0e6;stroke:#59636e}"
    "@media "
    "(prefers-color-scheme:dark){.bg{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.s,.l{fill:#9198a1}.o{fill:#c3cbd3}"
    ".c{fill:#151b23;stroke:#3d444d}rect.bad{fill:#3d1518;stroke:#f85149}text.bad{fill:#ffa198}.x{stroke:#f85149}"
    ".c0{fill:#0c3a6b;stroke:#4493f8}.c1{fill:#124a22;stroke:#3fb950}.c2{fill:#523a06;stroke:#d29922}"
    ".c3{fill:#43217a;stroke:#ab7df8}.c4{fill:#5e1a43;stroke:#db61a2}.c5{fill:#0b4843;stroke:#2dd4bf}"
    ".c6{fill:#5c2b0a;stroke:#f0883e}.c7{fill:#33393f;stroke:#9198a1}}"
    /* The general rules above must not override a cell's colour. */
    "path.r{fill:none!important}";

/* Characters that change the text direction, or that XML forbids, become dots. */
static bool shown(unsigned c) {
  return c >= 0x20 && (c < 0x7f || c >= 0xa0) && c != 0xfffe && c != 0xffff && !(c >= 0x200b && c <= 0x200f) &&
         !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff;
}

static void put(gather_growing *to, const char *text) {
  while (*text) {
    const char *begin = text;
    unsigned c = svg_next(&text);
    if (c == '<')
      gather_growing_text(to, "&lt;");
    else if (c == '>')
      gather_growing_text(to, "&gt;");
    else if (c == '&')
      gather_growing_text(to, "&amp;");
    else if (c == '"')
      gather_growing_text(to, "&quot;");
    else if (c == 0xfffd || !shown(c))
      gather_growing_char(to, '.');
    else
      gather_growing_write(to, begin, (size_t)(text - begin));
  }
}

/* after: an entity, appended without escaping. */
static void words(const svg_picture *p, int x, int y, const char *classes, const char *text, const char *after) {
  gather_growing_print(p->to, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, classes);
  put(p->to, text);
  gather_growing_print(p->to, "%s</text>\n", after);
}

static void one_cell(const svg_picture *p, const svg_spot *spot, int x, int y, const int64_t *at) {
  gather_explain_shown cell;
  char colour[24] = "", after[64] = "", origin[64] = "";
  int wide = spot->cell, high = spot->cell_high;
  gather_explain_show(p->ex, spot->part, at, &cell);
  if (cell.colour >= 0) snprintf(colour, sizeof colour, " c%d", cell.colour);
  gather_growing_print(p->to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"c%s\"/>\n", x + 1, y + 1, wide - 2,
                       high - 2, cell.bad ? " bad" : colour);
  if (cell.bad)
    gather_growing_print(p->to, "<path class=\"x\" d=\"M%d %dL%d %dM%d %dL%d %d\"/>\n", x + 4, y + 4, x + wide - 4, y + high - 4,
                         x + wide - 4, y + 4, x + 4, y + high - 4);
  if (spot->part == GATHER_EXPLAIN_INDICES && cell.to >= 0) snprintf(after, sizeof after, " &#8594; %" PRId64, cell.to);
  if (spot->origins) svg_origin(p->ex, at, origin, sizeof origin);
  words(p, x + wide / 2, y + (*origin ? 18 : high / 2 + 5), cell.bad ? "m bad" : "m", cell.text, after);
  if (*origin) words(p, x + wide / 2, y + 33, "o m", origin, "");
}

/* The end of the last column or row, with a gap. */
static int end_of_columns(const svg_spot *spot) { return svg_x(spot, gather_explain_columns(spot->table)->count - 1) + spot->cell + GAP; }

static int end_of_rows(const svg_spot *spot, int slice) {
  int last = gather_explain_rows(spot->table)->count - 1;
  return svg_y(spot, slice, last) + spot->cell_high + GAP;
}

static void labels(const svg_picture *p, const svg_spot *spot, int slice) {
  const gather_explain_pick *rows = gather_explain_rows(spot->table);
  const gather_explain_pick *columns = gather_explain_columns(spot->table);
  int head = svg_top(spot, slice) - 7;
  char text[32];
  for (int c = 0; c <= columns->count && spot->table->rank >= 1; c++) {
    int x = c < columns->count ? svg_x(spot, c) : end_of_columns(spot);
    if (gather_explain_gap(columns, c)) words(p, x - GAP / 2, head, "l m", "", "&#8943;");
    if (c == columns->count) break;
    snprintf(text, sizeof text, "%" PRId64, columns->at[c]);
    words(p, x + spot->cell / 2, head, "l m", text, "");
  }
  for (int r = 0; r <= rows->count && spot->table->rank >= 2; r++) {
    int y = r < rows->count ? svg_y(spot, slice, r) : end_of_rows(spot, slice);
    if (gather_explain_gap(rows, r)) words(p, spot->x + spot->label - 10, y - 6, "l m", "", "&#8942;");
    if (r == rows->count) break;
    snprintf(text, sizeof text, "%" PRId64, rows->at[r]);
    words(p, spot->x + spot->label - 7, y + spot->cell_high / 2 + 4, "l e", text, "");
  }
}

static void one_slice(const svg_picture *p, const svg_spot *spot, int slice, int64_t *at) {
  const gather_explain_pick *rows = gather_explain_rows(spot->table);
  const gather_explain_pick *columns = gather_explain_columns(spot->table);
  char text[256];
  if (spot->table->rank > 2) {
    gather_explain_slice_text(spot->table, at, text, sizeof text);
    words(p, spot->x, svg_top(spot, slice) - HEAD - 2, "l", text, "");
  }
  labels(p, spot, slice);
  for (int r = 0; r < rows->count; r++)
    for (int c = 0; c < columns->count; c++) {
      gather_explain_at(spot->table, rows->at[r], columns->at[c], at);
      one_cell(p, spot, svg_x(spot, c), svg_y(spot, slice, r), at);
    }
}

static void one_table(const svg_picture *p, const svg_spot *spot) {
  int64_t at[GATHER_MAX_RANK], more = gather_explain_more(spot->table);
  char text[256], left[80];
  gather_explain_title(p->ex, spot->part, text, sizeof text);
  words(p, spot->x, spot->above ? spot->y + 12 : spot->y + spot->high - 6, "t", text, "");
  for (int s = 0; gather_explain_slice(spot->table, s, at); s++) one_slice(p, spot, s, at);
  snprintf(text, sizeof text, spot->slices ? "... and %" PRId64 " more" : "(no cells)", more);
  int foot = spot->y + spot->high - 4;
  if (gather_explain_left_out(p->ex, spot->part, left, sizeof left)) {
    words(p, spot->x, foot, "l", left, "");
    foot -= FOOT;
  }
  if (!spot->slices || more > 0) words(p, spot->x, foot, "l", text, "");
}

static int number_of(const gather_explain_pick *pick, int64_t at) {
  for (int i = 0; i < pick->count; i++)
    if (pick->at[i] == at) return i;
  return -1;
}

/* From the end of a row of data to the row of the output that it gives. */
static void line_across(const svg_picture *p, int row, int source, int colour) {
  const svg_spot *data = &p->at[1], *out = &p->at[2];
  int last = gather_explain_columns(data->table)->count - 1;
  int from = svg_x(data, last) + data->cell + 3, to = out->x + (out->label ? out->label - 22 : -3);
  int y = svg_y(data, 0, source) + data->cell_high / 2;
  int end = svg_y(out, 0, row) + out->cell_high / 2, middle = (from + to) / 2;
  gather_growing_print(p->to, "<path class=\"r c%d\" d=\"M%d %dC%d %d %d %d %d %dm-6 -4l6 4l-6 4\"/>\n", colour, from, y, middle, y, middle,
                       end, to, end);
}

/* From the foot of a column of data to the head of the column of the output that it gives. */
static void line_down(const svg_picture *p, int column, int source, int colour) {
  const svg_spot *data = &p->at[1], *out = &p->at[2];
  int last = gather_explain_rows(data->table)->count - 1;
  int from = svg_y(data, 0, last) + data->cell_high + 3;
  int to = svg_top(out, 0) - (out->table->rank ? HEAD - 2 : 4), middle = (from + to) / 2;
  int x = svg_x(data, source) + data->cell / 2, end = svg_x(out, column) + out->cell / 2;
  gather_growing_print(p->to, "<path class=\"r c%d\" d=\"M%d %dC%d %d %d %d %d %dm-4 -6l4 6l4 -6\"/>\n", colour, x, from, x, middle, end,
                       middle, end, to);
}

/* One line for each row or column of the output that has a source. */
static void lines(const svg_picture *p) {
  const gather_explain_table *data = p->at[1].table, *out = p->at[2].table;
  bool down = p->flow == FLOW_DOWN;
  const gather_explain_pick *rows = gather_explain_rows(out), *columns = gather_explain_columns(out);
  const gather_explain_pick *sources = down ? gather_explain_columns(data) : gather_explain_rows(data);
  int64_t at[GATHER_MAX_RANK] = {0};
  if (p->flow == FLOW_NONE || (!down && p->at[1].y != p->at[2].y)) return;
  for (int i = 0; i < (down ? columns : rows)->count; i++) {
    gather_explain_at(out, rows->at[down ? 0 : i], columns->at[down ? i : 0], at);
    gather_explain_origin origin = gather_explain_out(p->ex, at);
    int source = origin.has_source ? number_of(sources, origin.row) : -1;
    if (source < 0) continue;
    int colour = gather_explain_colour(p->ex, origin.data);
    (down ? line_down : line_across)(p, i, source, colour < 0 ? GATHER_EXPLAIN_COLOURS - 1 : colour);
  }
}

/* The description for screen readers. */
static void describe(const svg_picture *p, const char *formula, const char *rules) {
  char text[1024];
  gather_growing_print(p->to, "<title id=\"title\">%s: ", p->ex->op->name);
  put(p->to, formula);
  gather_growing_print(p->to, "</title>\n<desc id=\"desc\">The cells of data, the indices, and the cells of %s. ",
                       p->ex->writes ? "the updates, each in the colour of the place that it is written to"
                                     : "the output, each in the colour of the data that it comes from");
  put(p->to, rules);
  for (int i = 0; gather_explain_note(p->ex, i, text, sizeof text); i++) {
    gather_growing_text(p->to, ". ");
    put(p->to, text);
  }
  if (p->ex->failed) {
    gather_growing_text(p->to, ". Out of range: ");
    put(p->to, p->ex->error.message);
  }
  gather_growing_text(p->to, "</desc>\n");
}

void gather_explain_draw_svg(const gather_explain *ex, gather_growing *to) {
  svg_picture p = {.ex = ex, .to = to};
  char rules[512], note[1024];
  svg_arrange(&p);
  gather_explain_rules(ex, rules, sizeof rules);
  gather_growing_print(to,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
                       "aria-labelledby=\"title desc\">\n",
                       p.wide, p.high, p.wide, p.high);
  describe(&p, ex->formula, rules);
  gather_growing_print(to, "<style>%s</style>\n<rect class=\"bg\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n", STYLE,
                       p.wide - 1, p.high - 1);
  words(&p, MARGIN, 34, "h", ex->op->name, "");
  words(&p, MARGIN + 11 * (int)strlen(ex->op->name) + 14, 34, "t", ex->formula, "");
  words(&p, MARGIN, 58, "s", rules, "");
  for (int i = 0; svg_note(ex, i, note, sizeof note); i++) words(&p, MARGIN, TOP + 20 * i, "s", note, "");
  for (int i = 0; i < 3; i++) one_table(&p, &p.at[i]);
  lines(&p);
  gather_growing_text(to, "</svg>\n");
}
