/* SPDX-License-Identifier: MIT
 *
 * explain_create.c: the functions of explain.h: a drawing of one gather or scatter, or of one node of a model. The error for unknown
 * operands of a node says what to give.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "io/format/text/utf8.h"
#include "model/explain/drawing.h"
#include "model/model_check.h"
#include "model/writing_node.h"

/* ---- which gathers can be drawn */

/* Whether a drawing of one gather is true of this operator: each cell of the output comes from one cell of data, by one index. Fails
 * with GATHER_UNSUPPORTED. */
static gather_status can_draw(const gather_op *op, gather_error *error) {
  const gather_family_info *family = gather_family_get(op->family);
  if (gather_op_is_cache(op))
    return gather_fail(error, GATHER_UNSUPPORTED, "%s cannot be drawn: each index is where a run of several rows begins", op->name);
  if (gather_op_writes(op) && gather_inputs_of(op)->updates < 0)
    return gather_fail(error, GATHER_UNSUPPORTED, "%s cannot be drawn: each row of its output is a sum of several rows", op->name);
  if (family && family->function && !gather_op_writes(op))
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "%s cannot be drawn: each cell of its output comes from a chain of parents, not from one index", op->name);
  if (strcmp(op->dialect, "stablehlo") == 0)
    return gather_fail(error, GATHER_UNSUPPORTED, "StableHLO's %s cannot be drawn: its indices select windows, which may be moved",
                       op->name);
  return GATHER_OK;
}

/* ---- a node of a model */

/* What is missing, all of it in one sentence. */
typedef struct missing {
  char text[400];
} missing;

GATHER_PRINTF(2, 3)
static void add(missing *m, const char *format, ...) {
  va_list list;
  size_t at = strlen(m->text);
  if (at > 0) at += (size_t)snprintf(m->text + at, sizeof m->text - at, "; ");
  if (at >= sizeof m->text) return;
  va_start(list, format);
  (void)vsnprintf(m->text + at, sizeof m->text - at, format, list);
  va_end(list);
}

/* What is in a file that is missing or too short; NULL. */
static const gather_file_tensor *unreadable_of(const gather_model_node *node) {
  return node->indices.unreadable ? node->indices.unreadable : node->axis_unreadable ? node->axis_unreadable : node->data.unreadable;
}

static gather_status fail(const gather_explain *ex, const missing *m, gather_error *error) {
  char name[200], why[sizeof error->message] = "";
  gather_error unread;
  const gather_file_tensor *tensor = unreadable_of(ex->node);
  gather_status status = tensor ? gather_file_tensor_check(tensor, &unread) : GATHER_OK;
  (void)gather_model_node_path(ex->node, name, sizeof name);
  if (status == GATHER_OK) return gather_fail(error, GATHER_USAGE, "%.100s cannot be drawn: %s", name, m->text);
  memcpy(why, unread.message, sizeof why);
  (void)snprintf(unread.message, sizeof unread.message, "%.80s cannot be drawn: %.200s; %.200s", name, m->text, why);
  if (error) *error = unread;
  return status;
}

/* Without command-line syntax: "a tensor for 'x'". */
static void give_neutral(const gather_advice *advice, char *text, size_t bytes) {
  (void)snprintf(text, bytes, "give %s for '%.60s'", advice->kind == GATHER_ADVICE_DIMS ? "a length" : "a tensor", advice->names[0]);
}

/* What to give, in the syntax of the caller's users. */
static const char *give(const gather_explain *ex, gather_advice_kind kind, const char *name, char *text, size_t bytes) {
  char path[300];
  (void)gather_model_node_path(ex->node, path, sizeof path);
  const gather_advice advice = {kind, path, &name, 1};
  text[0] = '\0';
  if (ex->told.writer)
    ex->told.writer(ex->told.context, &advice, text, bytes);
  else
    give_neutral(&advice, text, bytes);
  return text;
}

enum { GIVE_BYTES = 120 };

static void need_axis(const gather_explain *ex, missing *m) {
  const gather_model_node *node = ex->node;
  char text[GIVE_BYTES];
  if (node->axis_unreadable)
    add(m, "the axis '%.60s' cannot be read: %s", node->axis_name, give(ex, GATHER_ADVICE_INPUTS, node->axis_name, text, sizeof text));
  else
    add(m, "the axis is known only when the model runs");
}

static void need_indices(const gather_explain *ex, const gather_model_operands *operands, missing *m) {
  char given[200] = "", text[GIVE_BYTES];
  const gather_model_operands_info *info = gather_model_operands_describe(operands);
  for (int64_t i = 0; i < info->missing_count; i++) {
    const char *name = info->missing[i];
    if (strcmp(name, ex->node->axis_name) == 0 && strcmp(name, ex->node->indices.name) != 0) continue;
    size_t at = strlen(given);
    if (at + 80 < sizeof given)
      (void)snprintf(given + at, sizeof given - at, "%s%s", at ? " and " : "", give(ex, GATHER_ADVICE_INPUTS, name, text, sizeof text));
  }
  add(m, "the indices '%.60s' %s: %s", ex->node->indices.name, ex->node->indices.unreadable ? "cannot be read" : "are not known",
      *given ? given : "no input determines them");
}

static void need_length(const gather_explain *ex, int32_t d, missing *m) {
  const gather_operand *data = &ex->node->data;
  const char *symbol = data->dims[d].symbol;
  char text[GIVE_BYTES];
  if (symbol)
    add(m, "the length '%.60s' in dimension %" PRId32 " of the data is not known: %s", symbol, d,
        give(ex, GATHER_ADVICE_DIMS, symbol, text, sizeof text));
  else
    add(m, "the length of the data in dimension %" PRId32 " is not known: %s", d,
        give(ex, GATHER_ADVICE_INPUTS, data->name, text, sizeof text));
}

/* The shape of data that has no value. */
static void data_shape(gather_explain *ex, missing *m) {
  const gather_operand *data = &ex->node->data;
  char text[GIVE_BYTES];
  if (data->rank < 0) add(m, "the shape of the data is not known: %s", give(ex, GATHER_ADVICE_INPUTS, data->name, text, sizeof text));
  for (int32_t d = 0; d < data->rank; d++) {
    bool known = data->dims[d].min == data->dims[d].max;
    bool said = false; /* a name has the same length everywhere */
    for (int32_t k = 0; k < d && data->dims[d].symbol; k++)
      said = said || (data->dims[k].symbol && strcmp(data->dims[k].symbol, data->dims[d].symbol) == 0);
    ex->data_shape[d] = data->dims[d].min;
    if (!known && !said) need_length(ex, d, m);
  }
}

static const char *type_name(gather_type type) {
  const gather_type_info *info = gather_type_get(type);
  return info ? info->name : "of unknown type";
}

static void take_data(gather_explain *ex, missing *m) {
  const gather_operand *data = &ex->node->data;
  (void)snprintf(ex->data_type, sizeof ex->data_type, "%s", type_name(data->type));
  if (data->value) {
    ex->data = *data->value;
    return;
  }
  ex->made_up = true;
  data_shape(ex, m);
  ex->data = (gather_tensor){.type = data->type != GATHER_TYPE_NONE ? data->type : GATHER_TYPE_INT64,
                             .rank = data->rank > 0 ? data->rank : 0,
                             .shape = ex->data_shape};
}

/* The first error of a check that is not about an index. */
static gather_status check_node(const gather_explain *ex, gather_error *error) {
  char name[200];
  const gather_model_node *node = ex->node;
  (void)gather_model_node_path(node, name, sizeof name);
  if (!node->rules) return gather_fail(error, GATHER_UNSUPPORTED, "%s: %.200s", name, node->reason);
  if (gather_op_writes(node->rules) && !gather_op_is_cache(node->rules) && !*node->reduction && !node->error)
    return gather_fail(error, GATHER_UNSUPPORTED, "%s: %.350s", name,
                       node->not_executed ? "its reduction is not supported, and it is not executed" : node->reason);
  if (!node->error || node->error->status == GATHER_INDEX_OUT_OF_RANGE) return GATHER_OK;
  if (!error) return node->error->status;
  *error = *node->error;
  (void)snprintf(error->message, sizeof error->message, "%.150s: %.350s", name, node->error->message);
  return error->status;
}

/* What an operator that writes draws is the gather that reads there. */
static void set_operator(gather_explain *ex, const gather_op *op) {
  static const gather_scatter_options INIT = GATHER_SCATTER_OPTIONS_INIT;
  ex->op = gather_reading_rules(op, &ex->reads);
  ex->writes = gather_op_writes(op) ? op : NULL;
  ex->scatter = INIT;
}

/* Of a scatter, the options of that gather: it reads nothing where an update is skipped. */
static gather_status set_reading(gather_explain *ex, gather_error *error) {
  gather_scatter_options *scatter = &ex->scatter;
  if (scatter->on_bad == GATHER_ON_BAD_FILL)
    return gather_fail(error, GATHER_USAGE, "%s has no fill value: an update out of range is an error, skipped or repaired",
                       ex->writes->name);
  scatter->executor = NULL;
  scatter->bad_count = NULL;
  scatter->numbers = NULL;
  if (scatter->on_bad == GATHER_ON_BAD_DEFAULT) scatter->on_bad = ex->writes->on_bad;
  ex->promised = scatter->on_bad == GATHER_ON_BAD_PROMISE;
  if (ex->promised) scatter->on_bad = GATHER_ON_BAD_CLAMP;
  if (scatter->on_bad == GATHER_ON_BAD_ZERO) scatter->on_bad = GATHER_ON_BAD_SKIP;
  ex->options.axis = scatter->axis;
  ex->options.batch_dims = 0;
  ex->options.on_bad = scatter->on_bad == GATHER_ON_BAD_SKIP ? GATHER_ON_BAD_ZERO : scatter->on_bad;
  ex->options.negative = scatter->negative;
  return GATHER_OK;
}

/* Of a node. What it does is not known where its reduction is not. */
static gather_status set_writing(gather_explain *ex, gather_error *error) {
  const gather_model_node *node = ex->node;
  (void)gather_reduction_parse(node->reduction, &ex->scatter.reduction);
  ex->scatter.axis = ex->options.axis;
  ex->scatter.on_bad = ex->options.on_bad;
  ex->scatter.negative = ex->options.negative;
  ex->has_updates = *node->updates.name && node->updates.value;
  if (ex->has_updates) ex->updates = *node->updates.value;
  return set_reading(ex, error);
}

/* Takes the node of a model. */
static gather_status take_node(gather_explain *ex, const gather_model_operands *operands, gather_error *error) {
  missing m = {""};
  const gather_model_node *node = ex->node = gather_model_operands_describe(operands)->node;
  if (node->rules) GATHER_TRY(can_draw(node->rules, error));
  GATHER_TRY(check_node(ex, error));
  set_operator(ex, node->rules);
  ex->options.axis = node->rules->axis_source != GATHER_AXIS_SOURCE_NONE ? node->axis : 0;
  ex->options.batch_dims = node->batch_dims;
  if (ex->writes) GATHER_TRY(set_writing(ex, error));
  if (node->indices.value)
    ex->indices = *node->indices.value;
  else
    need_indices(ex, operands, &m);
  if (!node->axis_known) need_axis(ex, &m);
  take_data(ex, &m);
  (void)snprintf(ex->indices_type, sizeof ex->indices_type, "%s", type_name(node->indices.type));
  return *m.text ? fail(ex, &m, error) : GATHER_OK;
}

enum { LEAST_COLUMNS = 3, MOST_COLUMNS = 12, SVG_COLUMNS = 8 };

static gather_status no_memory(gather_error *error) { return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a drawing"); }

/* ---- making one */

static gather_status read_options(gather_explain *ex, const gather_options *gather, const gather_explain_options *options,
                                  gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  static const gather_explain_options TOLD = GATHER_EXPLAIN_OPTIONS_INIT;
  ex->options = INIT;
  ex->told = TOLD;
  GATHER_TRY(gather_struct_read(&ex->options, sizeof ex->options, gather, "gather_options", "GATHER_OPTIONS_INIT", error));
  GATHER_TRY(gather_struct_read(&ex->told, sizeof ex->told, options, "gather_explain_options", "GATHER_EXPLAIN_OPTIONS_INIT", error));
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

/* Updates without values have the shape that they must have. */
static gather_status settle_updates(gather_explain *ex, gather_error *error) {
  gather_tensor *updates = &ex->updates;
  if (ex->has_updates) {
    GATHER_TRY(gather_tensor_check(updates, error));
    settle(updates, ex->updates_shape, ex->updates_strides);
    return GATHER_OK;
  }
  *updates = ex->data;
  updates->data = NULL;
  updates->strides = NULL;
  updates->packed_offset = 0;
  updates->flags &= GATHER_TENSOR_BYTE_SWAPPED;
  updates->shape = ex->updates_shape;
  return gather_scatter_updates_shape(ex->writes, &ex->data, &ex->indices, &ex->scatter, ex->updates_shape, &updates->rank, error);
}

static void set_texts(gather_explain *ex) {
  const gather_explain_options *told = &ex->told;
  set_type(told->data_type, ex->data.type, ex->data_type, sizeof ex->data_type);
  set_type(told->indices_type, ex->indices.type, ex->indices_type, sizeof ex->indices_type);
  if (told->fill_text)
    (void)snprintf(ex->fill_text, sizeof ex->fill_text, "%.*s", gather_explain_fit(told->fill_text, (int)sizeof ex->fill_text - 1),
                   told->fill_text);
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
  ex->facts = (gather_explain_facts){.op = ex->writes ? ex->writes : ex->op,
                                     .node = ex->node,
                                     .made_up = ex->made_up,
                                     .axis = ex->axis,
                                     .batch_dims = ex->batch,
                                     .on_bad = ex->writes ? ex->scatter.on_bad : ex->on_bad,
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
                                     .scatter = ex->writes ? &ex->scatter : NULL,
                                     .repeated = ex->any_repeated ? &ex->repeat : NULL,
                                     .cell_count = cells,
                                     .complete = cells == gather_tensor_len(&out)};
}

/* Shared by both ways to make a drawing, once the tensors are set. */
static gather_status finish(gather_explain *ex, gather_error *error) {
  GATHER_TRY(gather_tensor_check(&ex->data, error));
  GATHER_TRY(gather_tensor_check(&ex->indices, error));
  settle(&ex->data, ex->data_shape, ex->data_strides);
  settle(&ex->indices, ex->indices_shape, ex->indices_strides);
  if (ex->writes) GATHER_TRY(settle_updates(ex, error));
  set_texts(ex);
  GATHER_TRY(gather_explain_resolve(ex, error));
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

/* The caller's options of a scatter, or those of a gather that it has too. */
static gather_status read_scatter(gather_explain *ex, gather_error *error) {
  const gather_options *options = &ex->options;
  ex->has_updates = ex->told.updates != NULL;
  if (ex->has_updates) ex->updates = *ex->told.updates;
  ex->scatter.axis = options->axis;
  ex->scatter.on_bad = options->on_bad;
  ex->scatter.negative = options->negative;
  GATHER_TRY(gather_struct_read(&ex->scatter, sizeof ex->scatter, ex->told.scatter, "gather_scatter_options", "GATHER_SCATTER_OPTIONS_INIT",
                                error));
  return set_reading(ex, error);
}

static gather_status take_tensors(gather_explain *ex, const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                  gather_error *error) {
  GATHER_TRY(can_draw(op, error));
  set_operator(ex, op);
  if (ex->writes) GATHER_TRY(read_scatter(ex, error));
  ex->data = *data;
  ex->indices = *indices;
  ex->made_up = !data->data && (gather_tensor_check(data, NULL) != GATHER_OK || gather_tensor_len(data) > 0);
  return finish(ex, error);
}

gather_status gather_explain_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                    const gather_options *gather, const gather_explain_options *options, gather_explain **explain,
                                    gather_error *error) {
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
                                         const gather_explain_options *options, gather_explain **explain, gather_error *error) {
  if (!operands || !explain) return gather_fail(error, GATHER_USAGE, "the operands or the place for the drawing is NULL");
  *explain = NULL;
  gather_explain *ex = gather_alloc((int64_t)sizeof *ex);
  if (!ex) return no_memory(error);
  gather_status status = read_options(ex, gather, options, error);
  if (status == GATHER_OK) status = take_node(ex, operands, error);
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
  gather_free(ex->repeated);
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
  cell->repeated = origin.has_source && gather_explain_is_repeated(ex, origin.data);
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
  if (!ex->node || !ex->failed || ex->error.status != GATHER_INDEX_OUT_OF_RANGE) return;
  if (*ex->node->cause) {
    gather_growing_text(to, "\nLikely cause: ");
    gather_text_put(to, ex->node->cause);
    gather_growing_char(to, '\n');
  }
  gather_growing_text(to, "\nWhat each runtime does with this index out of range:\n");
  gather_model_bad_text(ex->node, 2, to);
}

gather_status gather_explain_text(const gather_explain *ex, const gather_explain_text_options *options, char **text, size_t *bytes,
                                  gather_error *error) {
  gather_explain_text_options full = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
  gather_growing to = {0};
  if (!ex || !text) return gather_fail(error, GATHER_USAGE, "the drawing or the place for its text is NULL");
  GATHER_TRY(gather_struct_read(&full, sizeof full, options, "gather_explain_text_options", "GATHER_EXPLAIN_TEXT_OPTIONS_INIT", error));
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
