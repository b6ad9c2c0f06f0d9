/* SPDX-License-Identifier: MIT
 *
 * explain_svg.c: the drawing as an SVG picture that stands alone: no scripts, no fonts of its own, readable on light and on
 * dark pages. A gathered row has the same colour wherever it is seen, and a line leads from its place in data to each row or
 * column of the output where one place gives it whole.
 */
#include <inttypes.h>
#include <string.h>

#include "explain.h"
#include "json.h"

enum {
  CELL_HIGH = 30,
  HEAD = 22,    /* coordinates above a box */
  TITLE = 26,   /* the name of a table */
  CAPTION = 18, /* the name of a slice */
  SPACE = 76,   /* between tables, for the lines */
  MARGIN = 24,
  GAP = 22,   /* where coordinates are left out */
  LETTER = 8, /* a letter of a cell, at most */
  MOST_WIDE = 900
};

/* One table and its place in the picture. */
typedef struct spot {
  gather_cli_part part;
  const gather_cli_table *table;
  int x, y, wide, high; /* all of it */
  int cell, label, slices;
} spot;

typedef struct picture {
  const gather_cli_explain *ex;
  FILE *to;
  spot at[3];
  int wide, high;
} picture;

static const char STYLE[] =
    ".bg{fill:#ffffff;stroke:#d0d7de}text{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;fill:#"
    "1f2328}"
    ".h{font-family:system-ui,Helvetica,Arial,sans-serif;font-size:17px;font-weight:600}"
    ".s{font-family:system-ui,Helvetica,Arial,sans-serif;font-size:13px;fill:#59636e}"
    ".t{font-weight:600;font-size:14px}.l{font-size:11px;fill:#59636e}.m{text-anchor:middle}.e{text-anchor:end}"
    ".c{fill:#f6f8fa;stroke:#d0d7de}rect.bad{fill:#ffebe9;stroke:#cf222e;stroke-width:1.5}"
    "text.bad{fill:#a40e26;font-weight:600}.x{stroke:#cf222e;stroke-width:1;opacity:.45}"
    ".r{fill:none;stroke-width:2;opacity:.85}"
    ".c0{fill:#b6dbff;stroke:#0969da}.c1{fill:#b4f1c4;stroke:#1a7f37}.c2{fill:#ffdf9e;stroke:#9a6700}"
    ".c3{fill:#e6ccff;stroke:#8250df}.c4{fill:#ffd0e6;stroke:#bf3989}.c5{fill:#b3f0ea;stroke:#0d7d74}"
    ".c6{fill:#ffd2b8;stroke:#bc4c00}.c7{fill:#dbe0e6;stroke:#59636e}"
    "@media (prefers-color-scheme:dark){.bg{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.s,.l{fill:#9198a1}"
    ".c{fill:#151b23;stroke:#3d444d}rect.bad{fill:#3d1518;stroke:#f85149}text.bad{fill:#ffa198}.x{stroke:#f85149}"
    ".c0{fill:#0c3a6b;stroke:#4493f8}.c1{fill:#124a22;stroke:#3fb950}.c2{fill:#523a06;stroke:#d29922}"
    ".c3{fill:#43217a;stroke:#ab7df8}.c4{fill:#5e1a43;stroke:#db61a2}.c5{fill:#0b4843;stroke:#2dd4bf}"
    ".c6{fill:#5c2b0a;stroke:#f0883e}.c7{fill:#33393f;stroke:#9198a1}}"
    /* The general rules above must not win over a cell's colour. */
    "path.r{fill:none!important}";

static void put(FILE *to, const char *text) {
  for (; *text; text++)
    if (*text == '<')
      fputs("&lt;", to);
    else if (*text == '>')
      fputs("&gt;", to);
    else if (*text == '&')
      fputs("&amp;", to);
    else if (*text == '"')
      fputs("&quot;", to);
    else
      fputc((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f ? '.' : *text, to);
}

/* after: what stands behind the words as it is, an entity. */
static void words(const picture *p, int x, int y, const char *classes, const char *text, const char *after) {
  fprintf(p->to, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, classes);
  put(p->to, text);
  fprintf(p->to, "%s</text>\n", after);
}

static bool gap(const gather_cli_pick *pick, int i) { return i > 0 && pick->at[i] != pick->at[i - 1] + 1; }

/* Where number i of a pick begins, counted from the first. */
static int begin_of(const gather_cli_pick *pick, int i, int size) {
  int at = 0;
  for (int k = 0; k < i; k++) at += size + (gap(pick, k + 1) && k + 1 < pick->count ? GAP : 0);
  return at;
}

static int extent(const gather_cli_pick *pick, int size) {
  return pick->count ? begin_of(pick, pick->count - 1, size) + size : 0;
}

static int slice_high(const spot *place) {
  return HEAD + extent(gather_cli_explain_rows(place->table), CELL_HIGH) + (place->table->rank > 2 ? CAPTION : 0);
}

static int letters_of(const gather_cli_cell *cell, gather_cli_part part) {
  char to[40] = "";
  if (part == GATHER_CLI_PART_INDICES && cell->to >= 0) snprintf(to, sizeof to, " > %" PRId64, cell->to);
  return (int)(strlen(cell->text) + strlen(to));
}

static void measure(const picture *p, spot *place) {
  const gather_cli_pick *rows = gather_cli_explain_rows(place->table);
  const gather_cli_pick *columns = gather_cli_explain_columns(place->table);
  int64_t at[GATHER_MAX_RANK];
  gather_cli_cell cell;
  char title[256];
  place->cell = 40;
  place->slices = 0;
  for (; gather_cli_explain_slice(place->table, place->slices, at); place->slices++)
    for (int r = 0; r < rows->count; r++)
      for (int c = 0; c < columns->count; c++) {
        gather_cli_explain_at(place->table, rows->at[r], columns->at[c], at);
        gather_cli_explain_cell(p->ex, place->part, at, &cell);
        int wide = letters_of(&cell, place->part) * LETTER + 14;
        if (wide > place->cell) place->cell = wide;
      }
  place->label = place->table->rank >= 2 ? 26 : 0;
  int grid = place->label + extent(columns, place->cell);
  gather_cli_explain_title(p->ex, place->part, title, sizeof title);
  int name = (int)strlen(title) * LETTER;
  place->wide = grid > name ? grid : name;
  place->high = TITLE + place->slices * (slice_high(place) + 8) +
                (place->slices == 0 || gather_cli_explain_more(place->table) > 0 ? 20 : 0);
}

/* Beside each other where there is room, else below each other. */
static void arrange(picture *p) {
  static const gather_cli_part ORDER[3] = {GATHER_CLI_PART_INDICES, GATHER_CLI_PART_DATA, GATHER_CLI_PART_OUT};
  int top = 92, x = MARGIN, most = 0;
  char text[512];
  for (int i = 0; gather_cli_explain_note(p->ex, i, text, sizeof text); i++) top += 20;
  for (int i = 0; i < 3; i++) {
    p->at[i] = (spot){.part = ORDER[i], .table = &p->ex->table[ORDER[i]]};
    measure(p, &p->at[i]);
    p->at[i].x = x;
    p->at[i].y = top;
    x += p->at[i].wide + SPACE;
    if (p->at[i].high > most) most = p->at[i].high;
  }
  p->wide = x - SPACE + MARGIN;
  p->high = top + most + 30;
  if (p->wide > MOST_WIDE) {
    p->wide = 0;
    for (int i = 0; i < 3; i++) {
      p->at[i].x = MARGIN;
      p->at[i].y = i ? p->at[i - 1].y + p->at[i - 1].high + 44 : top;
      if (p->at[i].wide + 2 * MARGIN > p->wide) p->wide = p->at[i].wide + 2 * MARGIN;
    }
    p->high = p->at[2].y + p->at[2].high + 30;
  }
  gather_cli_explain_rules(p->ex, text, sizeof text);
  int least = (int)strlen(text) * 7 + 2 * MARGIN;
  if (p->wide < least) p->wide = least;
}

static int cell_x(const spot *place, int c) {
  return place->x + place->label + begin_of(gather_cli_explain_columns(place->table), c, place->cell);
}

static int cell_y(const spot *place, int slice, int r) {
  return place->y + TITLE + slice * (slice_high(place) + 8) + (place->table->rank > 2 ? CAPTION : 0) + HEAD +
         begin_of(gather_cli_explain_rows(place->table), r, CELL_HIGH);
}

static void one_cell(const picture *p, const spot *place, int x, int y, const int64_t *at) {
  gather_cli_cell cell;
  char colour[24] = "", after[64] = "";
  gather_cli_explain_cell(p->ex, place->part, at, &cell);
  if (cell.colour >= 0) snprintf(colour, sizeof colour, " c%d", cell.colour);
  bool bad = cell.bad;
  fprintf(p->to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"c%s\"/>\n", x + 1, y + 1,
          place->cell - 2, CELL_HIGH - 2, bad ? " bad" : colour);
  if (bad)
    fprintf(p->to, "<path class=\"x\" d=\"M%d %dL%d %dM%d %dL%d %d\"/>\n", x + 4, y + 4, x + place->cell - 4,
            y + CELL_HIGH - 4, x + place->cell - 4, y + 4, x + 4, y + CELL_HIGH - 4);
  if (place->part == GATHER_CLI_PART_INDICES && cell.to >= 0)
    snprintf(after, sizeof after, " &#8594; %" PRId64, cell.to);
  words(p, x + place->cell / 2, y + CELL_HIGH / 2 + 5, bad ? "m bad" : "m", cell.text, after);
}

static void labels(const picture *p, const spot *place, int slice) {
  const gather_cli_pick *rows = gather_cli_explain_rows(place->table);
  const gather_cli_pick *columns = gather_cli_explain_columns(place->table);
  char text[32];
  for (int c = 0; c < columns->count && place->table->rank >= 1; c++) {
    snprintf(text, sizeof text, "%" PRId64, columns->at[c]);
    words(p, cell_x(place, c) + place->cell / 2, cell_y(place, slice, 0) - 7, "l m", text, "");
    if (gap(columns, c)) words(p, cell_x(place, c) - GAP / 2, cell_y(place, slice, 0) - 7, "l m", "", "&#8943;");
  }
  for (int r = 0; r < rows->count && place->table->rank >= 2; r++) {
    snprintf(text, sizeof text, "%" PRId64, rows->at[r]);
    words(p, place->x + place->label - 7, cell_y(place, slice, r) + CELL_HIGH / 2 + 4, "l e", text, "");
    if (gap(rows, r)) words(p, place->x + place->label - 10, cell_y(place, slice, r) - 6, "l m", "", "&#8942;");
  }
}

static void one_table(const picture *p, const spot *place) {
  const gather_cli_pick *rows = gather_cli_explain_rows(place->table);
  const gather_cli_pick *columns = gather_cli_explain_columns(place->table);
  int64_t at[GATHER_MAX_RANK];
  char text[256];
  gather_cli_explain_title(p->ex, place->part, text, sizeof text);
  words(p, place->x, place->y + 12, "t", text, "");
  for (int s = 0; gather_cli_explain_slice(place->table, s, at); s++) {
    if (place->table->rank > 2) {
      gather_cli_explain_slice_text(place->table, at, text, sizeof text);
      words(p, place->x, cell_y(place, s, 0) - HEAD - 2, "l", text, "");
    }
    labels(p, place, s);
    for (int r = 0; r < rows->count; r++)
      for (int c = 0; c < columns->count; c++) {
        gather_cli_explain_at(place->table, rows->at[r], columns->at[c], at);
        one_cell(p, place, cell_x(place, c), cell_y(place, s, r), at);
      }
  }
  int64_t more = gather_cli_explain_more(place->table);
  snprintf(text, sizeof text, place->slices ? "... and %" PRId64 " more" : "(no cells)", more);
  if (!place->slices || more > 0) words(p, place->x, place->y + place->high - 4, "l", text, "");
}

static int number_of(const gather_cli_pick *pick, int64_t at) {
  for (int i = 0; i < pick->count; i++)
    if (pick->at[i] == at) return i;
  return -1;
}

/* From the end of a row of data to the row of the output that it gives: where both are drawn as rows of one slice, side by
 * side. */
static void lines(const picture *p) {
  const spot *data = &p->at[1], *out = &p->at[2];
  const gather_cli_pick *rows = gather_cli_explain_rows(out->table);
  int64_t at[GATHER_MAX_RANK] = {0};
  bool flat = data->table->rank == 2 && out->table->rank <= 2 && p->ex->axis == 0 && data->y == out->y;
  if (!flat || gather_cli_explain_by(p->ex) != GATHER_CLI_BY_ROW || !out->slices) return;
  int from = cell_x(data, gather_cli_explain_columns(data->table)->count - 1) + data->cell + 3;
  int to = out->x + (out->label ? 4 : -3);
  for (int r = 0; r < rows->count; r++) {
    gather_cli_explain_at(out->table, rows->at[r], gather_cli_explain_columns(out->table)->at[0], at);
    gather_cli_origin origin = gather_cli_explain_out(p->ex, at);
    int source = origin.has_source ? number_of(gather_cli_explain_rows(data->table), origin.row) : -1;
    if (source < 0) continue;
    int y = cell_y(data, 0, source) + CELL_HIGH / 2, end = cell_y(out, 0, r) + CELL_HIGH / 2, middle = (from + to) / 2;
    fprintf(p->to, "<path class=\"r c%d\" d=\"M%d %dC%d %d %d %d %d %dm-6 -4l6 4l-6 4\"/>\n",
            gather_cli_explain_colour(p->ex, gather_cli_explain_key(p->ex, origin.data)), from, y, middle, y, middle,
            end, to, end);
  }
}

void gather_cli_explain_svg(const gather_cli_explain *ex, FILE *to) {
  picture p = {.ex = ex, .to = to};
  char formula[512], rules[512], batches[512];
  arrange(&p);
  gather_cli_explain_formula(ex, formula, sizeof formula);
  gather_cli_explain_rules(ex, rules, sizeof rules);
  int formula_wide = (int)strlen(formula) * LETTER + 24 + 11 * (int)strlen(ex->job.op->name) + MARGIN;
  if (p.wide < formula_wide) p.wide = formula_wide;
  fprintf(to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
          "aria-labelledby=\"title desc\">\n<title id=\"title\">%s: ",
          p.wide, p.high, p.wide, p.high, ex->job.op->name);
  put(to, formula);
  fputs(
      "</title>\n<desc id=\"desc\">The cells of data, the indices, and the cells of the output with the colour of the "
      "row "
      "they come from. ",
      to);
  put(to, rules);
  fprintf(to,
          "</desc>\n<style>%s</style>\n<rect class=\"bg\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n",
          STYLE, p.wide - 1, p.high - 1);
  words(&p, MARGIN, 34, "h", ex->job.op->name, "");
  words(&p, MARGIN + 11 * (int)strlen(ex->job.op->name) + 14, 34, "t", formula, "");
  words(&p, MARGIN, 58, "s", rules, "");
  for (int i = 0; gather_cli_explain_note(ex, i, batches, sizeof batches); i++)
    words(&p, MARGIN, 78 + 20 * i, "s", batches, "");
  lines(&p);
  for (int i = 0; i < 3; i++) one_table(&p, &p.at[i]);
  fputs("</svg>\n", to);
}
