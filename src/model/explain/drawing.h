/* SPDX-License-Identifier: MIT
 *
 * drawing.h: one gather or scatter to be drawn: which cells are shown, what each one holds, and where it comes from. The text, the SVG
 * picture and the facts all read this one model.
 */
#ifndef GATHER_EXPLAIN_DRAWING_H
#define GATHER_EXPLAIN_DRAWING_H

#include <stdio.h>

#include "core/base/growing.h"
#include "gather/explain.h"

enum {
  GATHER_EXPLAIN_PICK_MAX = 16,  /* coordinates shown of one dimension */
  GATHER_EXPLAIN_SLICE_MAX = 4,  /* 2-D slices shown of one tensor */
  GATHER_EXPLAIN_ROW_MAX = 64,   /* gathered rows that are shown, and sources that get a colour */
  GATHER_EXPLAIN_COLOURS = 8,    /* how many there are */
  GATHER_EXPLAIN_CELL_BYTES = 64 /* the text of a cell */
};

/* The three drawings. */
typedef enum gather_explain_part { GATHER_EXPLAIN_DATA, GATHER_EXPLAIN_INDICES, GATHER_EXPLAIN_OUT } gather_explain_part;

/* The coordinates shown of one dimension, ascending. */
typedef struct gather_explain_pick {
  int count;
  int64_t len; /* of the dimension */
  int64_t at[GATHER_EXPLAIN_PICK_MAX];
} gather_explain_pick;

/* One of the three tensors. */
typedef struct gather_explain_table {
  const char *name; /* "data", "idx", "out" */
  int32_t rank;
  const int64_t *shape;
  gather_explain_pick *pick[GATHER_MAX_RANK]; /* per dimension; an output shares those of its sources */
} gather_explain_table;

/* Where the index of a cell points. */
typedef struct gather_explain_origin {
  int64_t value;                   /* the index as it is written; of a tuple the first bad number, else the first */
  bool value_is_unsigned;          /* read it as uint64_t */
  bool bad;                        /* outside the valid range */
  bool has_source;                 /* false: the cell is filled, or has no value */
  int64_t row;                     /* on the (first) axis; -1 without a source */
  int64_t data[GATHER_MAX_RANK];   /* the cell of data, with a source */
  int64_t values[GATHER_MAX_RANK]; /* the numbers of a tuple, as they are written */
} gather_explain_origin;

typedef struct gather_explain_shown {
  char text[GATHER_EXPLAIN_CELL_BYTES]; /* ASCII */
  int colour;                           /* of the gathered row; -1 = none */
  bool bad;
  int64_t to; /* INDICES: the row where it differs from the index as written; OUT: the row it comes from; else -1 */
  char tuple[GATHER_EXPLAIN_CELL_BYTES]; /* OUT of tuples: the rows it comes from, "2,0"; else "" */
} gather_explain_shown;

/* How the drawing shows the origin of output cells: once per row, once per column, or in each cell. */
typedef enum gather_explain_telling { GATHER_EXPLAIN_BY_ROW, GATHER_EXPLAIN_BY_COLUMN, GATHER_EXPLAIN_BY_CELL } gather_explain_telling;

/* One gather; opaque in the public header. Starts as all zero. */
struct gather_explain {
  const gather_op *op; /* of an operator that writes: of the gather that reads there, in `reads` */
  gather_op reads;
  const gather_op *writes;        /* then that operator; NULL: it is a gather */
  gather_scatter_options scatter; /* of it; executor and bad_count are NULL */
  gather_tensor updates;          /* of it, drawn in place of the output; `data` is NULL: their values are not known */
  bool has_updates;               /* the caller or the model has them */
  gather_options options;         /* executor and bad_count are NULL */
  gather_tensor data, indices;    /* their shapes and strides are below */
  int64_t data_shape[GATHER_MAX_RANK], data_strides[GATHER_MAX_RANK];
  int64_t updates_shape[GATHER_MAX_RANK], updates_strides[GATHER_MAX_RANK];
  int64_t indices_shape[GATHER_MAX_RANK], indices_strides[GATHER_MAX_RANK];
  char data_type[48], indices_type[48], fill_text[48], model_name[80];
  gather_explain_options told;   /* only writer and context are used after the start */
  const gather_model_node *node; /* of a model; else NULL */
  gather_plan *plan;
  int32_t out_rank;
  int64_t out_shape[GATHER_MAX_RANK];
  gather_explain_facts facts;
  char formula[512];
  bool promised; /* indices are unchecked (promise) */
  bool made_up;  /* the values of data are not known: 0, 1, 2, ... are drawn */
  int32_t axis, batch;
  bool tuples;                                /* the numbers of an index are a tuple: the last dimension of indices */
  int32_t selected;                           /* how many axes, from `axis` on, an index selects on: 1, or the numbers of a tuple */
  bool repairs;                               /* the policy clamps or wraps, and the axes have elements */
  gather_dim_source sources[GATHER_MAX_RANK]; /* of each dimension of the output */
  int32_t shared[GATHER_MAX_RANK];            /* of each dimension of data: that of indices with the same coordinate; -1 = none */
  bool by_cell;                               /* each index gives one cell of the output, not a row of cells */
  int64_t longest;                            /* of the axes that an index selects on */
  gather_on_bad on_bad;                       /* never default */
  bool negative;
  bool failed; /* an index is out of range, or repeated, and that is an error: `error` says which */
  gather_error error;
  bool any_bad, any_repeated;
  gather_error repeat;             /* of the first index that selects the place of an earlier one */
  int64_t bad_at[GATHER_MAX_RANK]; /* the first bad index */
  int64_t *iota;                   /* 0 .. longest-1 where that is short */
  int64_t *engine;                 /* for each output cell the offset in data, -1 = none; NULL where there are too many */
  gather_explain_pick data_pick[GATHER_MAX_RANK], index_pick[GATHER_MAX_RANK];
  gather_explain_pick fused_pick; /* of the one dimension of the output that several of its sources are */
  gather_explain_table table[3];
  int row_count;
  int64_t rows[GATHER_EXPLAIN_ROW_MAX]; /* the gathered ones in the order of the indices; not of tuples */
  int key_count;
  int64_t keys[GATHER_EXPLAIN_ROW_MAX]; /* what has a colour: see key_of in explain_layout.c */
  bool key_by_cell;
  int64_t *all_rows; /* of each index, -1 = none; of tuples the place. NULL where there are too many */
  int64_t *used;     /* places that any index gathers from, ascending */
  int64_t used_count;
  int64_t *repeated; /* of them those that several updates go to, ascending */
  int64_t repeated_count;
  int64_t *used_rows[GATHER_MAX_RANK]; /* on each axis that an index selects on, ascending */
  int64_t used_row_count[GATHER_MAX_RANK];
  bool used_more;  /* there are too many indices to know all */
  int64_t *picked; /* offsets in data of the shown output cells */
  int64_t picked_count;
};

/* Whether the output has that cell of data, drawn or not. */
bool gather_explain_is_used(const gather_explain *ex, const int64_t *data);
/* Whether several updates go to that cell of data. */
bool gather_explain_is_repeated(const gather_explain *ex, const int64_t *data);
/* How many used rows a drawing of data leaves out, as a line; false where it has all. */
bool gather_explain_left_out(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes);

/* The origin of one number of indices; of the whole index there, which a tuple is; of an output cell. With a source, the two
 * last also fill in `data`: all coordinates that the index determines. */
gather_explain_origin gather_explain_number(const gather_explain *ex, const int64_t *at);
gather_explain_origin gather_explain_index(const gather_explain *ex, const int64_t *at);
gather_explain_origin gather_explain_out(const gather_explain *ex, const int64_t *at);

/* Chooses what is shown: at most `columns` coordinates of a dimension. */
GATHER_CHECKED gather_status gather_explain_layout(gather_explain *ex, int columns, gather_error *error);

void gather_explain_show(const gather_explain *ex, gather_explain_part part, const int64_t *at, gather_explain_shown *cell);
gather_explain_telling gather_explain_by(const gather_explain *ex);
/* The leading coordinates of shown slice number i; false after the last. */
bool gather_explain_slice(const gather_explain_table *table, int i, int64_t *at);
/* How many slices there are in all, and are not shown. */
int64_t gather_explain_more(const gather_explain_table *table);

/* The colour of a cell of data that is gathered. */
int gather_explain_colour(const gather_explain *ex, const int64_t *data);
/* The coordinates shown along the rows and columns of a slice; a single one if there is no such dimension. */
GATHER_INLINE const gather_explain_pick *gather_explain_rows(const gather_explain_table *table) {
  static const gather_explain_pick ONE = {1, 1, {0}};
  return table->rank >= 2 ? table->pick[table->rank - 2] : &ONE;
}
GATHER_INLINE const gather_explain_pick *gather_explain_columns(const gather_explain_table *table) {
  static const gather_explain_pick ONE = {1, 1, {0}};
  return table->rank >= 1 ? table->pick[table->rank - 1] : &ONE;
}
/* Whether something is left out before number i; i = count: after the last. */
GATHER_INLINE bool gather_explain_gap(const gather_explain_pick *pick, int i) {
  if (pick->count == 0) return false;
  if (i == pick->count) return pick->at[i - 1] < pick->len - 1;
  return pick->at[i] != (i > 0 ? pick->at[i - 1] + 1 : 0);
}
/* Puts row and column into at. */
GATHER_INLINE void gather_explain_at(const gather_explain_table *table, int64_t row, int64_t column, int64_t *at) {
  if (table->rank >= 2) at[table->rank - 2] = row;
  if (table->rank >= 1) at[table->rank - 1] = column;
}

/* An element as short ASCII text. */
void gather_explain_value(const gather_tensor *tensor, const int64_t *at, char *text, size_t bytes);
/* gather_options.fill for that tensor likewise. */
void gather_explain_fill(const gather_tensor *tensor, const void *fill, char *text, size_t bytes);
/* A view of one element, of shape [1]. */
gather_tensor gather_explain_view(const gather_tensor *tensor, const int64_t *at);
GATHER_INLINE int64_t gather_explain_offset(int32_t rank, const int64_t *shape, const int64_t *at) {
  int64_t offset = 0;
  for (int32_t d = 0; d < rank; d++) offset = offset * shape[d] + at[d];
  return offset;
}

/* Makes the plan, resolves the indices and what they gather, and finds the places of data that any index gathers from. */
GATHER_CHECKED gather_status gather_explain_resolve(gather_explain *ex, gather_error *error);
/* How many bytes of UTF-8 text fit into `most` bytes without splitting a character. */
int gather_explain_fit(const char *text, int most);
/* The end of a long name, which identifies it better than its beginning. */
void gather_explain_shorten(const char *name, char *text, size_t bytes);

/* Lines of text, without a line break. */
void gather_explain_rules(const gather_explain *ex, char *text, size_t bytes);
/* Further notes: sentence number i; false after the last. */
bool gather_explain_note(const gather_explain *ex, int i, char *text, size_t bytes);
/* The name of a table with the axes that an index selects on; its type and shape; all of it. */
void gather_explain_name_text(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes);
void gather_explain_type_text(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes);
void gather_explain_title(const gather_explain *ex, gather_explain_part part, char *text, size_t bytes);

/* "[0, 2, :, :]" for a slice. */
void gather_explain_slice_text(const gather_explain_table *table, const int64_t *at, char *text, size_t bytes);

/* The drawings. ascii: only ASCII is used. */
void gather_explain_draw_text(const gather_explain *ex, gather_growing *to, bool ascii, bool colour);
void gather_explain_draw_svg(const gather_explain *ex, gather_growing *to);

#endif
