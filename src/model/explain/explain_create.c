/* SPDX-License-Identifier: MIT
 *
 * explain_create.c: the functions of explain.h.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "model/model_check.h"
#include "model/explain/drawing.h"

enum { LEAST_COLUMNS = 3, MOST_COLUMNS = 12, SVG_COLUMNS = 8 };

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a drawing");
}

/* ---- making one */

static gather_status read_options(gather_explain *ex, const gather_options *gather,
                                  const gather_explain_options *options, gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  static const gather_explain_options TOLD = GATHER_EXPLAIN_OPTIONS_INIT;
  ex->options = INIT;
  ex->told = TOLD;
  GATHER_TRY(
      gather_struct_read(&ex->options, sizeof ex->options, gather, "gather_options", "GATHER_OPTIONS_INIT", error));
  GATHER_TRY(gather_struct_read(&ex->told, sizeof ex->told, options, "gather_explain_options",
                                "GATHER_EXPLAIN_OPTIONS_INIT", error));
  ex->options.executor = NULL;
  ex->options.bad_count = NULL;
  ex->options.fresh_output = false;
  ex->promised = ex->options.on_bad == GATHER_ON_BAD_PROMISE;
  if (ex->promised) ex->options.on_bad = GATHER_ON_BAD_CLAMP;
  return GATHER_OK;
}

/* The caller's name, or the library's own. */
static void set_type(const char *told, gather_type type, char *name, size_t bytes) {
  const gather_type_info *info = gather_type_get(type);
  if (told)
    (void)snprintf(name, bytes, "%s", told);
  else if (!*name)
    (void)snprintf(name, bytes, "%s", info ? info->name : "of unknown type");
}

/* Copies shape and strides: the tensor's own may not live long enough. */
static void settle(gather_tensor *tensor, int64_t *shape, int64_t *strides) {
  const size_t bytes = (size_t)tensor->rank * sizeof *shape;
  if (bytes > 0 && tensor->shape != shape) memcpy(shape, tensor->shape, bytes);
  if (bytes > 0 && tensor->strides) memcpy(strides, tensor->strides, bytes);
  tensor->shape = shape;
  if (tensor->strides) tensor->strides = strides;
}

static void set_texts(gather_explain *ex) {
  const gather_explain_options *told = &ex->told;
  set_type(told->data_type, ex->data.type, ex->data_type, sizeof ex->data_type);
  set_type(told->indices_type, ex->indices.type, ex->indices_type, sizeof ex->indices_type);
  if (told->fill_text)
    (void)snprintf(ex->fill_text, sizeof ex->fill_text, "%.*s",
                   gather_explain_fit(told->fill_text, (int)sizeof ex->fill_text - 1), told->fill_text);
  else if (ex->options.on_bad == GATHER_ON_BAD_FILL && ex->options.fill)
    gather_explain_fill(&ex->data, ex->options.fill, ex->fill_text, sizeof ex->fill_text);
  gather_explain_shorten(told->model_name ? told->model_name : "the model", ex->model_name, sizeof ex->model_name);
}

/* The cells of a picture, which are those of the facts. */
static int64_t shown_cells(const gather_explain *ex) {
  const gather_explain_table *table = &ex->table[GATHER_EXPLAIN_OUT];
  int64_t at[GATHER_MAX_RANK], slices = 0;
  while (gather_explain_slice(table, (int)slices, at)) slices++;
  return slices * gather_explain_rows(table)->count * gather_explain_columns(table)->count;
}

static void set_facts(gather_explain *ex) {
  gather_tensor out = {.type = GATHER_TYPE_INT8, .rank = ex->out_rank, .shape = ex->out_shape};
  int64_t cells = shown_cells(ex);
  ex->facts = (gather_explain_facts){.op = ex->op,
                                     .node = ex->node,
                                     .made_up = ex->made_up,
                                     .axis = ex->axis,
                                     .batch_dims = ex->batch,
                                     .on_bad = ex->on_bad,
                                     .negative = ex->negative,
                                     .formula = ex->formula,
                                     .data_rank = ex->data.rank,
                                     .indices_rank = ex->indices.rank,
                                     .output_rank = ex->out_rank,
                                     .data_shape = ex->data.shape,
                                     .indices_shape = ex->indices.shape,
                                     .output_shape = ex->out_shape,
                                     .tuples = ex->tuples,
                                     .selected = ex->selected,
                                     .error = ex->failed ? &ex->error : NULL,
                                     .cell_count = cells,
                                     .complete = cells == gather_tensor_len(&out)};
}

/* Shared by both ways to make a drawing, once the tensors are set. */
static gather_status finish(gather_explain *ex, gather_error *error) {
  GATHER_TRY(gather_tensor_check(&ex->data, error));
  GATHER_TRY(gather_tensor_check(&ex->indices, error));
  settle(&ex->data, ex->data_shape, ex->data_strides);
  settle(&ex->indices, ex->indices_shape, ex->indices_strides);
  set_texts(ex);
  GATHER_TRY(gather_explain_resolve(ex, error));
  GATHER_TRY(gather_explain_find_used(ex, error));
  GATHER_TRY(gather_explain_layout(ex, SVG_COLUMNS, error));
  set_facts(ex);
  return GATHER_OK;
}

/* Hands over what was made, or frees it. */
static gather_status hand_over(gather_explain *ex, gather_status status, gather_explain **explain) {
  if (status != GATHER_OK)
    gather_explain_destroy(ex);
  else
    *explain = ex;
  return status;
}

static gather_status take_tensors(gather_explain *ex, const gather_op *op, const gather_tensor *data,
                                  const gather_tensor *indices, gather_error *error) {
  GATHER_TRY(gather_explain_can_draw(op, error));
  ex->op = op;
  ex->data = *data;
  ex->indices = *indices;
  ex->made_up = !data->data && (gather_tensor_check(data, NULL) != GATHER_OK || gather_tensor_len(data) > 0);
  return finish(ex, error);
}

gather_status gather_explain_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                    const gather_options *gather, const gather_explain_options *options,
                                    gather_explain **explain, gather_error *error) {
  if (!op || !data || !indices || !explain)
    return gather_fail(error, GATHER_USAGE, "the operator, a tensor or the place for the drawing is NULL");
  *explain = NULL;
  gather_explain *ex = gather_alloc((int64_t)sizeof *ex);
  if (!ex) return no_memory(error);
  gather_status status = read_options(ex, gather, options, error);
  if (status == GATHER_OK) status = take_tensors(ex, op, data, indices, error);
  return hand_over(ex, status, explain);
}

gather_status gather_explain_create_node(const gather_model_operands *operands, const gather_options *gather,
                                         const gather_explain_options *options, gather_explain **explain,
                                         gather_error *error) {
  if (!operands || !explain)
    return gather_fail(error, GATHER_USAGE, "the operands or the place for the drawing is NULL");
  *explain = NULL;
  gather_explain *ex = gather_alloc((int64_t)sizeof *ex);
  if (!ex) return no_memory(error);
  gather_status status = read_options(ex, gather, options, error);
  if (status == GATHER_OK) status = gather_explain_take_node(ex, operands, error);
  if (status == GATHER_OK) status = finish(ex, error);
  return hand_over(ex, status, explain);
}

void gather_explain_destroy(gather_explain *ex) {
  if (!ex) return;
  gather_plan_destroy(ex->plan);
  gather_free(ex->iota);
  gather_free(ex->engine);
  gather_free(ex->picked);
  gather_free(ex->all_rows);
  gather_free(ex->used);
  for (int32_t c = 0; c < GATHER_MAX_RANK; c++) gather_free(ex->used_rows[c]);
  gather_free(ex);
}

/* ---- facts */

const gather_explain_facts *gather_explain_facts_of(const gather_explain *ex) { return &ex->facts; }

bool gather_explain_cell_at(const gather_explain *ex, int64_t i, gather_explain_cell *cell) {
  const gather_explain_table *table = &ex->table[GATHER_EXPLAIN_OUT];
  const gather_explain_pick *rows = gather_explain_rows(table), *columns = gather_explain_columns(table);
  if (i < 0 || i >= ex->facts.cell_count) return false;
  int64_t slice = (int64_t)rows->count * columns->count;
  memset(cell, 0, sizeof *cell);
  (void)gather_explain_slice(table, (int)(i / slice), cell->out);
  gather_explain_at(table, rows->at[i % slice / columns->count], columns->at[i % columns->count], cell->out);
  gather_explain_origin origin = gather_explain_out(ex, cell->out);
  cell->value = origin.value;
  cell->value_is_unsigned = origin.value_is_unsigned;
  cell->bad = origin.bad;
  cell->has_source = origin.has_source;
  cell->row = origin.has_source ? origin.row : -1;
  memcpy(cell->values, origin.values, sizeof cell->values);
  memcpy(cell->data, origin.data, sizeof cell->data);
  return true;
}

/* ---- drawings */

gather_status gather_explain_svg(const gather_explain *ex, char **text, size_t *bytes, gather_error *error) {
  gather_growing to = {0};
  if (!ex || !text) return gather_fail(error, GATHER_USAGE, "the drawing or the place for its text is NULL");
  gather_explain_draw_svg(ex, &to);
  return gather_growing_finish(&to, "a drawing", text, bytes, error);
}

/* The longest line of the boxes on a screen; the sentences above them may wrap. Colour codes have no width. */
static int widest(const char *text) {
  int most = 0, columns = 0;
  const char *boxes = strstr(text, "\n\n");
  for (text = boxes ? boxes : text; *text; text++) {
    if (*text == '\033') {
      text += strcspn(text, "m");
      continue;
    }
    columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xc0) != 0x80);
    if (columns > most) most = columns;
  }
  return most;
}

/* Draws with fewer and fewer columns until the screen is wide enough. `copy` has a layout of its own. */
static gather_status draw_narrower(gather_explain *copy, const gather_explain_text_options *options, gather_growing *to,
                                   gather_error *error) {
  for (int columns = MOST_COLUMNS;; columns--) {
    GATHER_TRY(gather_explain_layout(copy, columns, error));
    gather_explain_draw_text(copy, to, options->ascii, options->colour);
    if (to->failed || columns == LEAST_COLUMNS || widest(to->text) <= options->width) return GATHER_OK;
    gather_growing_clear(to);
  }
}

/* What runtimes do with the index out of range; only for a node of a model. */
static void put_runtimes(const gather_explain *ex, gather_growing *to) {
  if (!ex->node || !ex->failed) return;
  gather_growing_text(to, "\nWhat each runtime does with this index out of range:\n");
  gather_model_bad_text(ex->node, 2, to);
}

gather_status gather_explain_text(const gather_explain *ex, const gather_explain_text_options *options, char **text,
                                  size_t *bytes, gather_error *error) {
  gather_explain_text_options full = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
  gather_growing to = {0};
  if (!ex || !text) return gather_fail(error, GATHER_USAGE, "the drawing or the place for its text is NULL");
  GATHER_TRY(gather_struct_read(&full, sizeof full, options, "gather_explain_text_options",
                                "GATHER_EXPLAIN_TEXT_OPTIONS_INIT", error));
  if (full.width < 1) return gather_fail(error, GATHER_USAGE, "a drawing cannot be %d columns wide", (int)full.width);
  gather_explain *copy = gather_alloc((int64_t)sizeof *copy);
  if (!copy) return no_memory(error);
  *copy = *ex;
  copy->picked = NULL;
  gather_status status = draw_narrower(copy, &full, &to, error);
  gather_free(copy->picked);
  gather_free(copy);
  if (status == GATHER_OK) put_runtimes(ex, &to);
  if (status == GATHER_OK) return gather_growing_finish(&to, "a drawing", text, bytes, error);
  gather_growing_clear(&to);
  return status;
}
