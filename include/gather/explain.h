/* SPDX-License-Identifier: MIT
 *
 * explain.h: shows which cell of a gather's output comes from which cell of data, or where each update of a scatter goes. As text, as an
 * SVG picture, and as facts. Since 0.1.
 *
 * Contents: 1 one gather - 2 as text and as a picture - 3 as facts
 *
 * The rules of gather.h on errors, threads, memory and sizes apply. Nothing here prints or uses the terminal, the locale or the
 * environment: the caller sets the width of the text and whether it has colours.
 */
#ifndef GATHER_EXPLAIN_H
#define GATHER_EXPLAIN_H

#include "gather/gather.h"
#include "gather/model.h"
#include "gather/scatter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1 one gather ---------------------------------------------------------------------------------------------------- */

/* One resolved gather: the indices and output cells to show. Immutable: several threads may draw one. */
typedef struct gather_explain gather_explain;

/* The names in the drawing and in errors. Initialise with GATHER_EXPLAIN_OPTIONS_INIT. NULL in a call means the defaults. All strings are
 * copied. */
typedef struct gather_explain_options {
  size_t size;                 /* sizeof(gather_explain_options) */
  const char *data_type;       /* the names of the element types of data and indices; NULL = the library's names */
  const char *indices_type;    /* likewise */
  const char *fill_text;       /* the fill value as the user wrote it; NULL = as in a cell */
  const char *model_name;      /* gather_explain_create_node: the name of the model; NULL = "the model" */
  gather_advice_writer writer; /* gather_explain_create_node: words the advice in errors; NULL = neutral words */
  void *context;               /* for writer */
  /* gather_explain_create with an operator that writes (scatter.h): what is written, of the shape that gather_scatter_updates_shape gives.
   * NULL, or a `data` pointer of NULL: the values are made up, each cell shows its number. The elements are read. */
  const gather_tensor *updates;
  /* Likewise: the options of the scatter. NULL: axis, on_bad and negative of `gather`, no reduction. Otherwise `gather` is ignored. */
  const gather_scatter_options *scatter;
} gather_explain_options;

#define GATHER_EXPLAIN_OPTIONS_INIT \
  { sizeof(gather_explain_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* Resolves a gather: checks it as gather_plan_create does, and finds the source of each output cell to show. For this it gathers a table
 * of offsets with the library itself, so a drawing cannot differ from a gather.
 * op, gather: as for gather_apply (gather: NULL = GATHER_OPTIONS_INIT; its executor, bad_count and fresh_output are ignored).
 * GATHER_ON_BAD_PROMISE is shown as GATHER_ON_BAD_CLAMP.
 * data: any tensor. If its `data` pointer is NULL, only its shape is used: the values are made up, each cell shows its number in
 * row-major order. indices: any tensor of integers; its memory is read.
 * op may be an operator that writes rows, elements or tuples: of ONNX, of OpenVINO, or of gather_scatter_op. Then it is checked as
 * gather_scatter_plan_create does, and the drawing shows each update with the place of data that it goes to. That is where the gather of
 * the same indices reads. An index that selects the place of an earlier one is marked. An index out of range is not a failure of this call,
 * even if the policy is error: it is shown, and gather_explain_facts.error is the error of the gather. The same is true of a repeated index
 * with `unique`.
 * Memory: freed by gather_explain_destroy. Up to 8 bytes for each element of data (of up to 2^20 elements), for each element of the output
 * (up to 2^16) and for each row of the axis (up to 2^20), and 32 bytes for each index (up to 2^20). A scatter takes 8 more, and during the
 * call 24 for each index. Shapes and strides are copied. The elements of data and indices must be valid and unchanged as long as the
 * gather_explain.
 * Returns as gather_plan_create or gather_scatter_plan_create, GATHER_USAGE (invalid options), GATHER_OUT_OF_MEMORY, and GATHER_UNSUPPORTED
 * for other operators that write (bags, caches, windows). */
GATHER_API GATHER_CHECKED gather_status gather_explain_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                              const gather_options *gather, const gather_explain_options *options,
                                                              gather_explain **explain, gather_error *error);
/* The same for a gather node of a model: rules, axis, batch_dims, data and indices are the node's. Of `gather`, only on_bad, negative and
 * fill are used. If the elements of data are not known or cannot be read, their values are made up. The operands must outlive the
 * gather_explain.
 * Also returns GATHER_UNSUPPORTED (unknown version of the node), GATHER_USAGE if indices, axis or the shape of data are not known (the
 * message names the missing inputs), GATHER_FILE_NOT_FOUND and similar if a file of the model cannot be read, and the error of a check of
 * the node, except for an index out of range. */
GATHER_API GATHER_CHECKED gather_status gather_explain_create_node(const gather_model_operands *operands, const gather_options *gather,
                                                                   const gather_explain_options *options, gather_explain **explain,
                                                                   gather_error *error);
/* Frees it. NULL does nothing. */
GATHER_API void gather_explain_destroy(gather_explain *explain);

/* ---- 2 as text and as a picture --------------------------------------------------------------------------------------- */

/* The layout of the text. Initialise with GATHER_EXPLAIN_TEXT_OPTIONS_INIT. NULL in a call means the defaults. */
typedef struct gather_explain_text_options {
  size_t size;   /* sizeof(gather_explain_text_options) */
  int32_t width; /* width in columns; the boxes show fewer cells to fit, but at least 3 columns of cells */
  bool ascii;    /* only ASCII characters; else boxes and arrows are Unicode in UTF-8 */
  bool colour;   /* ANSI escape sequences for colours */
} gather_explain_text_options;

#define GATHER_EXPLAIN_TEXT_OPTIONS_INIT \
  { sizeof(gather_explain_text_options), 80, false, false }

/* Draws data, indices and output as boxes of cells, with the formula and the rules above them. Large tensors are abridged: both
 * ends, the gathered rows, and the first index out of range. Ranks above 2 are shown as 2-D slices. If a node of a model has indices
 * out of range and this is an error, lines below state what each runtime does.
 * Lines end with '\n'. Names from files are escaped (gather_text_visible), so they cannot control a terminal. The wording and the layout
 * may change. Programs use the facts (section 3).
 * text: receives the text, zero-terminated. bytes: its length without the zero, or NULL.
 * Returns GATHER_USAGE (invalid options, a width below 1), GATHER_OUT_OF_MEMORY. Threads: any. Memory: freed by gather_text_free. */
GATHER_API GATHER_CHECKED gather_status gather_explain_text(const gather_explain *explain, const gather_explain_text_options *options,
                                                            char **text, size_t *bytes, gather_error *error);
/* Draws it as an SVG picture: UTF-8, self-contained (no scripts, fonts or links), for light and dark pages, with a description for screen
 * readers. Otherwise as gather_explain_text. */
GATHER_API GATHER_CHECKED gather_status gather_explain_svg(const gather_explain *explain, char **text, size_t *bytes, gather_error *error);

/* ---- 3 as facts ------------------------------------------------------------------------------------------------------- */

/* The properties of the gather. All pointers are valid as long as the gather_explain. */
typedef struct gather_explain_facts {
  const gather_op *op;
  const gather_model_node *node; /* of a model; else NULL */
  bool made_up;                  /* the values of data are not known */
  int32_t axis, batch_dims;      /* counted from 0; of GatherND the axis is batch_dims, the first one that tuples select on */
  gather_on_bad on_bad;          /* the policy in effect; never GATHER_ON_BAD_DEFAULT */
  bool negative;                 /* negative indices count from the end */
  const char *formula;           /* "out[i, j] = data[idx[i], j]" */
  int32_t data_rank, indices_rank, output_rank;
  const int64_t *data_shape, *indices_shape, *output_shape;
  const gather_error *error; /* if an index is out of range, or repeated, and this is an error: what the call returns; else NULL */
  int64_t cell_count;        /* of gather_explain_cell_at */
  bool complete;             /* every cell of the output is among them */
  bool tuples;               /* an index is a tuple of numbers (GatherND) */
  int32_t selected;          /* how many axes, from `axis` on, an index selects on: 1, or the numbers of a tuple */
  /* The options of an operator that writes, else NULL. For it, output_rank, output_shape and the cells are those of updates, and the source
   * of a cell is the place that it is written to. */
  const gather_scatter_options *scatter;
  const gather_error *repeated; /* of it: the first index that selects the place of an earlier one (first_position); else NULL */
} gather_explain_facts;

/* One cell of the output. Coordinates have the ranks of the facts. */
typedef struct gather_explain_cell {
  int64_t out[GATHER_MAX_RANK];    /* its coordinates */
  int64_t value;                   /* the index as given; of a tuple the first number out of range, else the first number */
  bool value_is_unsigned;          /* read `value` as uint64_t */
  bool bad;                        /* the index is out of range */
  bool has_source;                 /* false: the cell is filled or has no value, and row is -1; or it is not written */
  bool repeated;                   /* of an operator that writes: another update goes to the same place */
  int64_t row;                     /* on the axis of data, counted from 0; of a tuple on its first axis */
  int64_t data[GATHER_MAX_RANK];   /* with a source: its coordinates in data */
  int64_t values[GATHER_MAX_RANK]; /* the numbers of the index as given: `selected` of the facts; unsigned as `value` is */
} gather_explain_cell;

/* The facts, valid as long as the gather_explain. */
GATHER_API const gather_explain_facts *gather_explain_facts_of(const gather_explain *explain);
/* The cells of the output that a picture shows, in row-major order. Writes number i to *cell. Returns false, without writing, for any other
 * i. */
GATHER_API bool gather_explain_cell_at(const gather_explain *explain, int64_t i, gather_explain_cell *cell);

#ifdef __cplusplus
}
#endif

#endif
