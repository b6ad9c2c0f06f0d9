/* SPDX-License-Identifier: MIT
 *
 * explain_svg.c: the drawing as a self-contained SVG picture: no scripts, no embedded fonts, readable on light and on dark pages, and on a
 * phone if the tables are narrow. Gathered data has the same colour everywhere. If a whole row or column of the output, or a cell
 * of tuples, comes from one place, a line leads to it from data; else each cell of the output shows where it comes from. An index out of
 * range is crossed out, and says so.
 */
#include <inttypes.h>
#include <string.h>

#include "model/explain/drawing.h"

enum {
  HEAD = 22, /* coordinates above a box */
  MARGIN = 16,
  GAP = 22,      /* where coordinates are left out */
  FOOT = 20,     /* a line under a table */
  LINE = 18,     /* a line of text */
  FIRST = 26,    /* y of the first one */
  PHONE = 390,   /* a picture is at least as wide, and not wider unless its tables are */
  CHARACTER = 7, /* width of a character of the text, at most */
  LONGEST = 150  /* columns of a sentence */
};

/* How lines lead from data to the output: from rows to rows, from columns to columns, or from cells to cells. Without lines each cell of
 * the output says where it comes from. */
typedef enum svg_flow { FLOW_NONE, FLOW_ACROSS, FLOW_DOWN, FLOW_CELLS } svg_flow;

/* One table and its place in the picture. */
typedef struct svg_spot {
  gather_explain_part part;
  const gather_explain_table *table;
  int x, y, wide, high; /* all of it */
  int cell, cell_high;  /* of one cell */
  int label, slices;    /* width of the coordinates on the left; how many slices are shown */
  int above;            /* height above the first slice: the title, unless it is below */
  bool origins;         /* cells say where they come from */
  bool bad;             /* of indices: one that is drawn is out of range */
} svg_spot;

typedef struct svg_picture {
  const gather_explain *ex;
  gather_growing *to;
  svg_spot at[3]; /* indices, data, output */
  svg_flow flow;
  int wide, high, columns; /* columns of a line of text */
  bool formula_below;      /* the formula has its own line */
} svg_picture;

/* ---- places and sizes of the tables */

enum {
  CELL_HIGH = 30,
  ORIGIN_HIGH = 40, /* a cell that says where it comes from */
  TITLE = 42,       /* the name of a table, and its type */
  CAPTION = 18,     /* the name of a slice */
  BETWEEN = 8,      /* slices */
  SPACE = 60,       /* tables, with room for the lines */
  DOWN_SPACE = 52,
  LETTER = 8, /* a letter of a cell, at most */
  MOST_WIDE = 480
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
  if (!gather_explain_note(ex, i, text, bytes)) return false;
  if (svg_columns(text) <= LONGEST) return true;
  const char *end = text;
  for (int columns = 0; columns < LONGEST - 5; columns += svg_next(&end) >= 0x1100 ? 2 : 1) {
  }
  size_t at = (size_t)(end - text);
  snprintf(text + at, bytes - at, " ...");
  return true;
}

/* Where a line of at most that many columns ends: behind a word, or within one that is longer. */
static const char *svg_line_end(const char *text, int most) {
  const char *space = NULL, *at = text;
  for (int columns = 0; *at;) {
    const char *next = at;
    columns += svg_next(&next) >= 0x1100 ? 2 : 1;
    if (columns > most) return space ? space : at > text ? at : next;
    if (*at == ' ') space = at;
    at = next;
  }
  return at;
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

static const char OUT_OF_RANGE[] = "out of range";

/* The width of a cell's text. */
static int words_wide(const svg_picture *p, const svg_spot *spot, const int64_t *at) {
  char to[40] = "", origin[64] = "";
  gather_explain_shown cell;
  gather_explain_show(p->ex, spot->part, at, &cell);
  if (spot->part == GATHER_EXPLAIN_INDICES && cell.to >= 0) snprintf(to, sizeof to, " > %" PRId64, cell.to);
  if (spot->origins) svg_origin(p->ex, at, origin, sizeof origin);
  int wide = (int)(strlen(cell.text) + strlen(to)) * LETTER;
  int below = (int)strlen(cell.bad && spot->bad ? OUT_OF_RANGE : origin) * 6;
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

/* Whether an index that is drawn is out of range. */
static bool any_bad(const svg_picture *p, const gather_explain_table *table) {
  const gather_explain_pick *rows = gather_explain_rows(table), *columns = gather_explain_columns(table);
  int64_t at[GATHER_MAX_RANK];
  gather_explain_shown cell;
  for (int s = 0; gather_explain_slice(table, s, at); s++)
    for (int i = 0; i < rows->count * columns->count; i++) {
      gather_explain_at(table, rows->at[i / columns->count], columns->at[i % columns->count], at);
      gather_explain_show(p->ex, GATHER_EXPLAIN_INDICES, at, &cell);
      if (cell.bad) return true;
    }
  return false;
}

static void measure(const svg_picture *p, svg_spot *spot) {
  char name[128], type[256], left[80] = "";
  const bool below = spot->part == GATHER_EXPLAIN_OUT && (p->flow == FLOW_DOWN || p->flow == FLOW_CELLS);
  spot->bad = spot->part == GATHER_EXPLAIN_INDICES && any_bad(p, spot->table);
  spot->origins =
      spot->part == GATHER_EXPLAIN_OUT && p->flow == FLOW_NONE && (gather_explain_by(p->ex) != GATHER_EXPLAIN_BY_ROW || p->ex->tuples);
  spot->cell_high = spot->origins || spot->bad ? ORIGIN_HIGH : CELL_HIGH;
  spot->above = below ? 0 : TITLE;
  measure_cells(p, spot);
  spot->wide = spot->label + extent(gather_explain_columns(spot->table), spot->cell);
  gather_explain_name_text(p->ex, spot->part, name, sizeof name);
  gather_explain_type_text(p->ex, spot->part, type, sizeof type);
  const bool more = gather_explain_left_out(p->ex, spot->part, left, sizeof left);
  const int lines[] = {(int)strlen(name) * 17 / 2, (int)strlen(type) * CHARACTER, (int)strlen(left) * CHARACTER};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (lines[i] > spot->wide) spot->wide = lines[i];
  spot->high = TITLE + spot->slices * (slice_high(spot) + BETWEEN) +
               (spot->slices == 0 || gather_explain_more(spot->table) > 0 ? FOOT : 0) + (more ? FOOT : 0);
}

/* ---- all of them */

static svg_flow flow_of(const gather_explain *ex) {
  const gather_explain_table *data = &ex->table[GATHER_EXPLAIN_DATA], *out = &ex->table[GATHER_EXPLAIN_OUT];
  const gather_explain_table *indices = &ex->table[GATHER_EXPLAIN_INDICES];
  int64_t at[GATHER_MAX_RANK];
  bool rows = (gather_family_get(ex->op->family)->whole_rows || ex->tuples) && ex->batch == 0;
  if (!rows || !gather_explain_slice(out, 0, at) || out->rank > 2) return FLOW_NONE;
  if (ex->tuples && (data->rank != 2 || indices->rank != 2 || ex->selected < 1)) return FLOW_NONE;
  if (ex->tuples && ex->selected == 2) return FLOW_CELLS;
  if (data->rank == 2 && ex->axis == 0) return FLOW_ACROSS;
  if (ex->axis == data->rank - 1 && data->rank <= 2 && (indices->rank == 1 || data->rank == 1) && indices->rank <= 1) return FLOW_DOWN;
  return FLOW_NONE;
}

/* Places a table; the picture becomes as wide and high as it needs. */
static void put_at(svg_picture *p, svg_spot *spot, int x, int y) {
  spot->x = x;
  spot->y = y;
  if (x + spot->wide + MARGIN > p->wide) p->wide = x + spot->wide + MARGIN;
  if (y + spot->high + MARGIN > p->high) p->high = y + spot->high + MARGIN;
}

/* The indices above; data and output side by side, or below each other if lines lead down, or if they are too wide. */
static void svg_place(svg_picture *p, int top) {
  svg_spot *indices = &p->at[0], *data = &p->at[1], *out = &p->at[2];
  const bool down = p->flow == FLOW_DOWN || p->flow == FLOW_CELLS;
  const bool beside = !down && 2 * MARGIN + data->wide + SPACE + out->wide <= MOST_WIDE;
  p->wide = p->high = 0;
  if (p->flow == FLOW_DOWN) data->label = out->label = data->label > out->label ? data->label : out->label; /* columns are aligned */
  put_at(p, indices, MARGIN, top);
  put_at(p, data, MARGIN, top + indices->high + 14);
  if (beside)
    put_at(p, out, MARGIN + data->wide + SPACE, data->y);
  else
    put_at(p, out, MARGIN, data->y + data->high + (down ? DOWN_SPACE : 14));
}

static int svg_lines(const svg_picture *p, const char *text) {
  int lines = 0;
  for (const char *at = text; *at; lines++) {
    at = svg_line_end(at, p->columns);
    while (*at == ' ') at++;
  }
  return lines;
}

/* Chooses the places. */
static void svg_arrange(svg_picture *p) {
  static const gather_explain_part ORDER[3] = {GATHER_EXPLAIN_INDICES, GATHER_EXPLAIN_DATA, GATHER_EXPLAIN_OUT};
  char text[1024];
  p->flow = flow_of(p->ex);
  for (int i = 0; i < 3; i++) {
    p->at[i] = (svg_spot){.part = ORDER[i], .table = &p->ex->table[ORDER[i]]};
    measure(p, &p->at[i]);
  }
  svg_place(p, 0);
  const int formula = (int)strlen(p->ex->formula) * 17 / 2, head = (int)strlen(p->ex->op->name) * 11 + 14;
  int wide = p->wide > PHONE ? p->wide : PHONE;
  if (formula + 2 * MARGIN > wide) wide = formula + 2 * MARGIN;
  p->formula_below = head + formula + 2 * MARGIN > wide;
  p->columns = (wide - 2 * MARGIN) / CHARACTER;
  gather_explain_rules(p->ex, text, sizeof text);
  int lines = svg_lines(p, text) + p->formula_below;
  for (int i = 0; svg_note(p->ex, i, text, sizeof text); i++) lines += svg_lines(p, text);
  svg_place(p, FIRST + LINE * lines + 20);
  p->wide = wide;
}

/* ---- drawing */

static const char STYLE[] =
    ".bg{fill:#ffffff;stroke:#d0d7de}text{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;fill:#"
    "1f2328}"
    ".h{font-family:system-ui,Helvetica,Arial,sans-serif;font-size:17px;font-weight:600}"
    ".s{font-family:system-ui,Helvetica,Arial,sans-serif;font-size:13px;fill:#59636e}"
    ".t{font-weight:600;font-size:14px}.l{font-size:11px;fill:#59636e}.o{font-size:10px;fill:#1f2328}.m{text-anchor:"
    "middle}.e{text-anchor:end}"
    ".c{fill:#f6f8fa;stroke:#d0d7de}rect.bad{fill:#ffffff;stroke:#b31d28;stroke-width:2;stroke-dasharray:4 3}"
    "text.bad{fill:#a40e26;font-weight:600}.x{stroke:#b31d28;stroke-width:1;opacity:.3}"
    ".r{fill:none;stroke-width:2.5}"
    ".c0{fill:#4d9cc9;stroke:#006ca9}.c1{fill:#ebb233;stroke:#c48700}.c2{fill:#dea8c6;stroke:#cc79a7}"
    ".c3{fill:#009e73;stroke:#008e68}.c4{fill:#b3ddf5;stroke:#2b5a74}.c5{fill:#faf7c6;stroke:#787221}"
    ".c6{fill:#868e96;stroke:#404448}.c7{fill:#e28e4d;stroke:#6a2f00}"
    "@media "
    "(prefers-color-scheme:dark){.bg{fill:#0d1117;stroke:#30363d}text{fill:#f0f6fc}.s,.l{fill:#9198a1}.o{fill:#f0f6fc}"
    ".c{fill:#151b23;stroke:#3d444d}rect.bad{fill:#0d1117;stroke:#ff7b72}text.bad{fill:#ffa198}.x{stroke:#ff7b72}"
    ".c0{fill:#0168a3;stroke:#0067a0}.c1{fill:#59430f;stroke:#f1ca73}.c2{fill:#463042;stroke:#e3b5cf}"
    ".c3{fill:#065f4a;stroke:#26ad88}.c4{fill:#2a526b;stroke:#4da2d2}.c5{fill:#73702a;stroke:#f2e755}"
    ".c6{fill:#636a72;stroke:#60666c}.c7{fill:#492810;stroke:#aa4b00}}"
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

/* A sentence, in lines below y; returns the y of the last. */
static int paragraph(const svg_picture *p, int y, const char *text) {
  char line[1024];
  while (*text) {
    const char *end = svg_line_end(text, p->columns);
    snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
    words(p, MARGIN, y += LINE, "s", line, "");
    for (text = end; *text == ' ';) text++;
  }
  return y;
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
  if (cell.bad && spot->bad) snprintf(origin, sizeof origin, "%s", OUT_OF_RANGE);
  words(p, x + wide / 2, y + (*origin ? 18 : high / 2 + 5), cell.bad ? "m bad" : "m", cell.text, after);
  if (*origin) words(p, x + wide / 2, y + 33, cell.bad ? "o m bad" : "o m", origin, "");
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
  gather_explain_name_text(p->ex, spot->part, text, sizeof text);
  const int name = spot->above ? spot->y + 12 : spot->y + spot->high - 18;
  words(p, spot->x, name, "t", text, "");
  gather_explain_type_text(p->ex, spot->part, text, sizeof text);
  words(p, spot->x, name + 17, "l", text, "");
  for (int s = 0; gather_explain_slice(spot->table, s, at); s++) one_slice(p, spot, s, at);
  snprintf(text, sizeof text, spot->slices ? "... and %" PRId64 " more" : "(no cells)", more);
  int foot = spot->y + spot->high - (spot->above ? 4 : TITLE);
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

/* From a cell of data to a cell of the output, around the cells between them. */
static void line_to_cell(const svg_picture *p, int column, int row, int source, int colour) {
  const svg_spot *data = &p->at[1], *out = &p->at[2];
  int x = svg_x(data, source) + data->cell / 2, y = svg_y(data, 0, row) + data->cell_high - 3;
  int end = svg_x(out, column) + out->cell / 2, to = svg_top(out, 0) - HEAD + 2, foot = data->y + data->high;
  gather_growing_print(p->to, "<path class=\"r c%d\" d=\"M%d %dC%d %d %d %d %d %dm-4 -6l4 6l4 -6\"/>\n", colour, x, y, x, foot, end, foot,
                       end, to);
}

/* One line for each row, column or cell of the output that has a source. */
static void lines(const svg_picture *p) {
  const gather_explain_table *data = p->at[1].table, *out = p->at[2].table;
  const bool across = p->flow == FLOW_ACROSS;
  const gather_explain_pick *rows = gather_explain_rows(out), *columns = gather_explain_columns(out);
  int64_t at[GATHER_MAX_RANK] = {0};
  if (p->flow == FLOW_NONE || (across && p->at[1].y != p->at[2].y)) return;
  for (int i = 0; i < (across ? rows : columns)->count; i++) {
    gather_explain_at(out, rows->at[across ? i : 0], columns->at[across ? 0 : i], at);
    gather_explain_origin origin = gather_explain_out(p->ex, at);
    if (!origin.has_source) continue;
    const int row = data->rank > 1 ? number_of(gather_explain_rows(data), origin.data[data->rank - 2]) : 0;
    const int column = data->rank > 0 ? number_of(gather_explain_columns(data), origin.data[data->rank - 1]) : 0;
    int colour = gather_explain_colour(p->ex, origin.data);
    if (colour < 0) colour = GATHER_EXPLAIN_COLOURS - 1;
    if (across && row >= 0) line_across(p, i, row, colour);
    if (p->flow == FLOW_DOWN && column >= 0) line_down(p, i, column, colour);
    if (p->flow == FLOW_CELLS && row >= 0 && column >= 0) line_to_cell(p, i, row, column, colour);
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
  int y = FIRST + LINE * p.formula_below;
  words(&p, MARGIN, FIRST, "h", ex->op->name, "");
  words(&p, MARGIN + (p.formula_below ? 0 : 11 * (int)strlen(ex->op->name) + 14), y, "t", ex->formula, "");
  y = paragraph(&p, y, rules);
  for (int i = 0; svg_note(ex, i, note, sizeof note); i++) y = paragraph(&p, y, note);
  for (int i = 0; i < 3; i++) one_table(&p, &p.at[i]);
  lines(&p);
  gather_growing_text(to, "</svg>\n");
}
