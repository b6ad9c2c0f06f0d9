/* SPDX-License-Identifier: MIT
 *
 * explain_model.c: a drawing of one gather node of a model. The error for unknown operands says what to give.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/error.h"
#include "model/explain/drawing.h"

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
  return node->indices.unreadable ? node->indices.unreadable
         : node->axis_unreadable  ? node->axis_unreadable
                                  : node->data.unreadable;
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
  (void)snprintf(text, bytes, "give %s for '%.60s'", advice->kind == GATHER_ADVICE_DIMS ? "a length" : "a tensor",
                 advice->names[0]);
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
    add(m, "the axis '%.60s' cannot be read: %s", node->axis_name,
        give(ex, GATHER_ADVICE_INPUTS, node->axis_name, text, sizeof text));
  else
    add(m, "the axis is known only when the model runs");
}

static void need_indices(const gather_explain *ex, const gather_model_operands *operands, missing *m) {
  char given[200] = "", text[GIVE_BYTES];
  const char *name;
  for (int64_t i = 0; (name = gather_model_operands_missing(operands, i)) != NULL; i++) {
    if (strcmp(name, ex->node->axis_name) == 0 && strcmp(name, ex->node->indices.name) != 0) continue;
    size_t at = strlen(given);
    if (at + 80 < sizeof given)
      (void)snprintf(given + at, sizeof given - at, "%s%s", at ? " and " : "",
                     give(ex, GATHER_ADVICE_INPUTS, name, text, sizeof text));
  }
  add(m, "the indices '%.60s' %s: %s", ex->node->indices.name,
      ex->node->indices.unreadable ? "cannot be read" : "are not known", *given ? given : "no input determines them");
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
  if (data->rank < 0)
    add(m, "the shape of the data is not known: %s", give(ex, GATHER_ADVICE_INPUTS, data->name, text, sizeof text));
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
  if (!node->error || node->error->status == GATHER_INDEX_OUT_OF_RANGE) return GATHER_OK;
  if (!error) return node->error->status;
  *error = *node->error;
  (void)snprintf(error->message, sizeof error->message, "%.150s: %.350s", name, node->error->message);
  return error->status;
}

gather_status gather_explain_take_node(gather_explain *ex, const gather_model_operands *operands, gather_error *error) {
  missing m = {""};
  const gather_model_node *node = ex->node = gather_model_operands_node(operands);
  if (node->rules) GATHER_TRY(gather_explain_can_draw(node->rules, error));
  GATHER_TRY(check_node(ex, error));
  ex->op = node->rules;
  ex->options.axis = node->rules->axis_source != GATHER_AXIS_SOURCE_NONE ? node->axis : 0;
  ex->options.batch_dims = node->batch_dims;
  if (node->indices.value)
    ex->indices = *node->indices.value;
  else
    need_indices(ex, operands, &m);
  if (!node->axis_known) need_axis(ex, &m);
  take_data(ex, &m);
  (void)snprintf(ex->indices_type, sizeof ex->indices_type, "%s", type_name(node->indices.type));
  return *m.text ? fail(ex, &m, error) : GATHER_OK;
}
