/* SPDX-License-Identifier: MIT
 *
 * explain_svg.c: the drawing as a self-contained SVG picture: no scripts, no embedded fonts, readable on light and on
 * dark pages. Gathered data has the same colour everywhere. If a whole row or column of the output comes from one
 * place, a line leads to it from data; else each cell of the output shows where it comes from.
 */
#include "model/explain/explain_svg.h"

#include <inttypes.h>
#include <string.h>

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
    unsigned c = gather_svg_next(&text);
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
static void words(const gather_svg_picture *p, int x, int y, const char *classes, const char *text, const char *after) {
  gather_growing_print(p->to, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, classes);
  put(p->to, text);
  gather_growing_print(p->to, "%s</text>\n", after);
}

static void one_cell(const gather_svg_picture *p, const gather_svg_spot *spot, int x, int y, const int64_t *at) {
  gather_explain_shown cell;
  char colour[24] = "", after[64] = "", origin[64] = "";
  int wide = spot->cell, high = spot->cell_high;
  gather_explain_show(p->ex, spot->part, at, &cell);
  if (cell.colour >= 0) snprintf(colour, sizeof colour, " c%d", cell.colour);
  gather_growing_print(p->to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"c%s\"/>\n", x + 1,
                       y + 1, wide - 2, high - 2, cell.bad ? " bad" : colour);
  if (cell.bad)
    gather_growing_print(p->to, "<path class=\"x\" d=\"M%d %dL%d %dM%d %dL%d %d\"/>\n", x + 4, y + 4, x + wide - 4,
                         y + high - 4, x + wide - 4, y + 4, x + 4, y + high - 4);
  if (spot->part == GATHER_EXPLAIN_INDICES && cell.to >= 0) snprintf(after, sizeof after, " &#8594; %" PRId64, cell.to);
  if (spot->origins) gather_svg_origin(p->ex, at, origin, sizeof origin);
  words(p, x + wide / 2, y + (*origin ? 18 : high / 2 + 5), cell.bad ? "m bad" : "m", cell.text, after);
  if (*origin) words(p, x + wide / 2, y + 33, "o m", origin, "");
}

/* The end of the last column or row, with a gap. */
static int end_of_columns(const gather_svg_spot *spot) {
  return gather_svg_x(spot, gather_explain_columns(spot->table)->count - 1) + spot->cell + GATHER_SVG_GAP;
}

static int end_of_rows(const gather_svg_spot *spot, int slice) {
  int last = gather_explain_rows(spot->table)->count - 1;
  return gather_svg_y(spot, slice, last) + spot->cell_high + GATHER_SVG_GAP;
}

static void labels(const gather_svg_picture *p, const gather_svg_spot *spot, int slice) {
  const gather_explain_pick *rows = gather_explain_rows(spot->table);
  const gather_explain_pick *columns = gather_explain_columns(spot->table);
  int head = gather_svg_top(spot, slice) - 7;
  char text[32];
  for (int c = 0; c <= columns->count && spot->table->rank >= 1; c++) {
    int x = c < columns->count ? gather_svg_x(spot, c) : end_of_columns(spot);
    if (gather_explain_gap(columns, c)) words(p, x - GATHER_SVG_GAP / 2, head, "l m", "", "&#8943;");
    if (c == columns->count) break;
    snprintf(text, sizeof text, "%" PRId64, columns->at[c]);
    words(p, x + spot->cell / 2, head, "l m", text, "");
  }
  for (int r = 0; r <= rows->count && spot->table->rank >= 2; r++) {
    int y = r < rows->count ? gather_svg_y(spot, slice, r) : end_of_rows(spot, slice);
    if (gather_explain_gap(rows, r)) words(p, spot->x + spot->label - 10, y - 6, "l m", "", "&#8942;");
    if (r == rows->count) break;
    snprintf(text, sizeof text, "%" PRId64, rows->at[r]);
    words(p, spot->x + spot->label - 7, y + spot->cell_high / 2 + 4, "l e", text, "");
  }
}

static void one_slice(const gather_svg_picture *p, const gather_svg_spot *spot, int slice, int64_t *at) {
  const gather_explain_pick *rows = gather_explain_rows(spot->table);
  const gather_explain_pick *columns = gather_explain_columns(spot->table);
  char text[256];
  if (spot->table->rank > 2) {
    gather_explain_slice_text(spot->table, at, text, sizeof text);
    words(p, spot->x, gather_svg_top(spot, slice) - GATHER_SVG_HEAD - 2, "l", text, "");
  }
  labels(p, spot, slice);
  for (int r = 0; r < rows->count; r++)
    for (int c = 0; c < columns->count; c++) {
      gather_explain_at(spot->table, rows->at[r], columns->at[c], at);
      one_cell(p, spot, gather_svg_x(spot, c), gather_svg_y(spot, slice, r), at);
    }
}

static void one_table(const gather_svg_picture *p, const gather_svg_spot *spot) {
  int64_t at[GATHER_MAX_RANK], more = gather_explain_more(spot->table);
  char text[256], left[80];
  gather_explain_title(p->ex, spot->part, text, sizeof text);
  words(p, spot->x, spot->above ? spot->y + 12 : spot->y + spot->high - 6, "t", text, "");
  for (int s = 0; gather_explain_slice(spot->table, s, at); s++) one_slice(p, spot, s, at);
  snprintf(text, sizeof text, spot->slices ? "... and %" PRId64 " more" : "(no cells)", more);
  int foot = spot->y + spot->high - 4;
  if (gather_explain_left_out(p->ex, spot->part, left, sizeof left)) {
    words(p, spot->x, foot, "l", left, "");
    foot -= GATHER_SVG_FOOT;
  }
  if (!spot->slices || more > 0) words(p, spot->x, foot, "l", text, "");
}

static int number_of(const gather_explain_pick *pick, int64_t at) {
  for (int i = 0; i < pick->count; i++)
    if (pick->at[i] == at) return i;
  return -1;
}

/* From the end of a row of data to the row of the output that it gives. */
static void line_across(const gather_svg_picture *p, int row, int source, int colour) {
  const gather_svg_spot *data = &p->at[1], *out = &p->at[2];
  int last = gather_explain_columns(data->table)->count - 1;
  int from = gather_svg_x(data, last) + data->cell + 3, to = out->x + (out->label ? out->label - 22 : -3);
  int y = gather_svg_y(data, 0, source) + data->cell_high / 2;
  int end = gather_svg_y(out, 0, row) + out->cell_high / 2, middle = (from + to) / 2;
  gather_growing_print(p->to, "<path class=\"r c%d\" d=\"M%d %dC%d %d %d %d %d %dm-6 -4l6 4l-6 4\"/>\n", colour, from,
                       y, middle, y, middle, end, to, end);
}

/* From the foot of a column of data to the head of the column of the output that it gives. */
static void line_down(const gather_svg_picture *p, int column, int source, int colour) {
  const gather_svg_spot *data = &p->at[1], *out = &p->at[2];
  int last = gather_explain_rows(data->table)->count - 1;
  int from = gather_svg_y(data, 0, last) + data->cell_high + 3;
  int to = gather_svg_top(out, 0) - (out->table->rank ? GATHER_SVG_HEAD - 2 : 4), middle = (from + to) / 2;
  int x = gather_svg_x(data, source) + data->cell / 2, end = gather_svg_x(out, column) + out->cell / 2;
  gather_growing_print(p->to, "<path class=\"r c%d\" d=\"M%d %dC%d %d %d %d %d %dm-4 -6l4 6l4 -6\"/>\n", colour, x,
                       from, x, middle, end, middle, end, to);
}

/* One line for each row or column of the output that has a source. */
static void lines(const gather_svg_picture *p) {
  const gather_explain_table *data = p->at[1].table, *out = p->at[2].table;
  bool down = p->flow == GATHER_SVG_FLOW_DOWN;
  const gather_explain_pick *rows = gather_explain_rows(out), *columns = gather_explain_columns(out);
  const gather_explain_pick *sources = down ? gather_explain_columns(data) : gather_explain_rows(data);
  int64_t at[GATHER_MAX_RANK] = {0};
  if (p->flow == GATHER_SVG_FLOW_NONE || (!down && p->at[1].y != p->at[2].y)) return;
  for (int i = 0; i < (down ? columns : rows)->count; i++) {
    gather_explain_at(out, rows->at[down ? 0 : i], columns->at[down ? i : 0], at);
    gather_explain_origin origin = gather_explain_out(p->ex, at);
    int source = origin.has_source ? number_of(sources, origin.row) : -1;
    if (source < 0) continue;
    int colour = gather_explain_colour(p->ex, gather_explain_key(p->ex, origin.data));
    (down ? line_down : line_across)(p, i, source, colour < 0 ? GATHER_EXPLAIN_COLOURS - 1 : colour);
  }
}

/* The description for screen readers. */
static void describe(const gather_svg_picture *p, const char *formula, const char *rules) {
  char text[1024];
  gather_growing_print(p->to, "<title id=\"title\">%s: ", p->ex->op->name);
  put(p->to, formula);
  gather_growing_text(p->to,
                      "</title>\n<desc id=\"desc\">The cells of data, the indices, and the cells of the output, each "
                      "in the colour of the "
                      "data that it comes from. ");
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
  gather_svg_picture p = {.ex = ex, .to = to};
  char formula[512], rules[512], note[1024];
  gather_svg_arrange(&p);
  gather_explain_formula(ex, formula, sizeof formula);
  gather_explain_rules(ex, rules, sizeof rules);
  gather_growing_print(
      to,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
      "aria-labelledby=\"title desc\">\n",
      p.wide, p.high, p.wide, p.high);
  describe(&p, formula, rules);
  gather_growing_print(
      to, "<style>%s</style>\n<rect class=\"bg\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n", STYLE,
      p.wide - 1, p.high - 1);
  words(&p, GATHER_SVG_MARGIN, 34, "h", ex->op->name, "");
  words(&p, GATHER_SVG_MARGIN + 11 * (int)strlen(ex->op->name) + 14, 34, "t", formula, "");
  words(&p, GATHER_SVG_MARGIN, 58, "s", rules, "");
  for (int i = 0; gather_svg_note(ex, i, note, sizeof note); i++)
    words(&p, GATHER_SVG_MARGIN, GATHER_SVG_TOP + 20 * i, "s", note, "");
  for (int i = 0; i < 3; i++) one_table(&p, &p.at[i]);
  lines(&p);
  gather_growing_text(to, "</svg>\n");
}
