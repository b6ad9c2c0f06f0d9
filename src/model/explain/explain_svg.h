/* SPDX-License-Identifier: MIT
 *
 * explain_svg.h: the picture's layout: the place of each table. explain_svg_layout.c makes it, explain_svg.c draws it.
 */
#ifndef GATHER_EXPLAIN_SVG_H
#define GATHER_EXPLAIN_SVG_H

#include "model/explain/drawing.h"

enum {
  GATHER_SVG_HEAD = 22, /* coordinates above a box */
  GATHER_SVG_MARGIN = 24,
  GATHER_SVG_GAP = 22,  /* where coordinates are left out */
  GATHER_SVG_FOOT = 20, /* a line under a table */
  GATHER_SVG_TOP = 78   /* y of the first note */
};

/* How lines lead from data to the output: where one place gives a whole row, or a whole column, of it. Else each cell of the output
 * says where it comes from. */
typedef enum gather_svg_flow { GATHER_SVG_FLOW_NONE, GATHER_SVG_FLOW_ACROSS, GATHER_SVG_FLOW_DOWN } gather_svg_flow;

/* One table and its place in the picture. */
typedef struct gather_svg_spot {
  gather_explain_part part;
  const gather_explain_table *table;
  int x, y, wide, high; /* all of it */
  int cell, cell_high;  /* of one cell */
  int label, slices;    /* width of the coordinates on the left; how many slices are shown */
  int above;            /* height above the first slice: the title, unless it is below */
  bool origins;         /* cells say where they come from */
} gather_svg_spot;

typedef struct gather_svg_picture {
  const gather_explain *ex;
  gather_growing *to;
  gather_svg_spot at[3]; /* indices, data, output */
  gather_svg_flow flow;
  int wide, high, notes;
} gather_svg_picture;

/* Chooses the places. */
void gather_svg_arrange(gather_svg_picture *picture);
/* The left end of column number c, and the top of row number r. */
int gather_svg_x(const gather_svg_spot *spot, int c);
int gather_svg_y(const gather_svg_spot *spot, int slice, int r);
/* The top of a slice's cells, with what is left out before the first row. */
int gather_svg_top(const gather_svg_spot *spot, int slice);
/* "[2, 0]" under a cell of the output: where it comes from; "" without a source. */
void gather_svg_origin(const gather_explain *ex, const int64_t *at, char *text, size_t bytes);
/* Sentence number i, cut where it is too long for a picture; false after the last. */
bool gather_svg_note(const gather_explain *ex, int i, char *text, size_t bytes);
/* Columns that UTF-8 text takes in a monospace font. */
int gather_svg_columns(const char *text);
/* The next character of UTF-8 text: its code point, 0xfffd if invalid; advances *text. */
unsigned gather_svg_next(const char **text);

#endif
