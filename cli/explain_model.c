/* SPDX-License-Identifier: MIT
 *
 * explain_model.c: one gather node of a model as what is drawn. What is not known of it is said, with what would tell.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "check.h"
#include "explain.h"
#include "report.h"

/* What the model says cannot be said again. */
static gather_status check_line(const gather_cli_args *args, gather_error *error) {
  static const gather_cli_option_id THE_MODELS[] = {
      GATHER_CLI_AXIS,  GATHER_CLI_BATCH,  GATHER_CLI_RULES,  GATHER_CLI_ELEMENTS, GATHER_CLI_TYPE,
      GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, GATHER_CLI_I_TYPE, GATHER_CLI_I_SHAPE,  GATHER_CLI_I_OFFSET};
  for (size_t i = 0; i < sizeof THE_MODELS / sizeof *THE_MODELS; i++)
    if (args->value[THE_MODELS[i]])
      return gather_cli_fail(error, GATHER_USAGE, "--%s goes with DATA and INDICES; a MODEL says this itself",
                             gather_cli_option_at(THE_MODELS[i])->name);
  return GATHER_OK;
}

/* What is missing, all of it in one sentence. */
typedef struct missing {
  char text[400];
} missing;

GATHER_CLI_PRINTF(2, 3)
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

static gather_status fail(const gather_cli_explain *ex, const missing *m, gather_error *error) {
  char name[200];
  const gather_file_tensor *tensor = unreadable_of(ex->node);
  gather_status status = tensor ? gather_file_tensor_check(tensor, error) : GATHER_OK;
  gather_cli_node_text(ex->node, name, sizeof name);
  if (status == GATHER_OK) return gather_cli_fail(error, GATHER_USAGE, "%.100s cannot be drawn: %s", name, m->text);
  char why[sizeof error->message];
  memcpy(why, error->message, sizeof why);
  snprintf(error->message, sizeof error->message, "%.80s cannot be drawn: %.200s; %.200s", name, m->text, why);
  return status;
}

static void need_axis(const gather_model_node *node, missing *m) {
  if (node->axis_unreadable)
    add(m, "the axis '%.60s' cannot be read: --input %.60s=TENSOR", node->axis_name, node->axis_name);
  else
    add(m, "the axis is known only when the model runs");
}

static void need_indices(const gather_cli_explain *ex, missing *m) {
  char given[200] = "";
  const char *name;
  for (int64_t i = 0; (name = gather_model_operands_missing(ex->operands, i)) != NULL; i++) {
    if (strcmp(name, ex->node->axis_name) == 0 && strcmp(name, ex->node->indices.name) != 0) continue;
    size_t at = strlen(given);
    if (at + 80 < sizeof given)
      snprintf(given + at, sizeof given - at, "%s--input %.60s=TENSOR", at ? " and " : "", name);
  }
  add(m, "the indices '%.60s' %s: %s", ex->node->indices.name,
      ex->node->indices.unreadable ? "cannot be read" : "are not known",
      *given ? given : "nothing that could be given leads to them");
}

static void need_length(const gather_operand *data, int32_t d, missing *m) {
  if (data->dims[d].symbol)
    add(m, "the length '%.60s' in dimension %" PRId32 " of the data is not known: --dim %.60s=LENGTH",
        data->dims[d].symbol, d, data->dims[d].symbol);
  else
    add(m, "the length of the data in dimension %" PRId32 " is not known: --input %.60s=TENSOR", d, data->name);
}

/* The shape of data that has no value. */
static void data_shape(gather_cli_explain *ex, missing *m) {
  const gather_operand *data = &ex->node->data;
  if (data->rank < 0) add(m, "the shape of the data is not known: --input %.60s=TENSOR", data->name);
  for (int32_t d = 0; d < data->rank; d++) {
    bool known = data->dims[d].min == data->dims[d].max;
    bool said = false; /* a name stands for one length wherever it is */
    for (int32_t k = 0; k < d && data->dims[d].symbol; k++)
      said = said || (data->dims[k].symbol && strcmp(data->dims[k].symbol, data->dims[d].symbol) == 0);
    ex->data_shape[d] = data->dims[d].min;
    if (!known && !said) need_length(data, d, m);
  }
}

static void take_data(gather_cli_explain *ex, missing *m) {
  const gather_operand *data = &ex->node->data;
  gather_file_tensor *made = &ex->job.data.tensor;
  const gather_type_info *type = gather_type_get(data->type);
  made->type_name = type ? type->name : "of unknown type";
  if (data->value) {
    made->tensor = *data->value;
    return;
  }
  ex->made_up = true;
  data_shape(ex, m);
  made->tensor = (gather_tensor){
      .type = type ? data->type : GATHER_TYPE_INT64, .rank = data->rank > 0 ? data->rank : 0, .shape = ex->data_shape};
}

/* The first of all complaints of a check that no index is to blame for. */
static gather_status check_node(gather_cli_explain *ex, gather_error *error) {
  char name[200];
  const gather_model_node *node = ex->node;
  gather_cli_node_text(node, name, sizeof name);
  if (!node->rules) return gather_cli_fail(error, GATHER_UNSUPPORTED, "%s: %.200s", name, node->reason);
  if (!node->error || node->error->status == GATHER_INDEX_OUT_OF_RANGE) return GATHER_OK;
  *error = *node->error;
  snprintf(error->message, sizeof error->message, "%.150s: %.350s", name, node->error->message);
  return error->status;
}

gather_status gather_cli_explain_operands(gather_cli_explain *ex, gather_error *error) {
  missing m = {""};
  const gather_model_node *node = ex->node = gather_model_operands_node(ex->operands);
  GATHER_CLI_TRY(check_node(ex, error));
  ex->job.op = node->rules;
  ex->job.options.axis = node->axis;
  ex->job.options.batch_dims = node->batch_dims;
  if (node->indices.value)
    ex->job.indices.tensor.tensor = *node->indices.value;
  else
    need_indices(ex, &m);
  if (!node->axis_known) need_axis(node, &m);
  take_data(ex, &m);
  const gather_type_info *type = gather_type_get(node->indices.type);
  ex->job.indices.tensor.type_name = type ? type->name : "of unknown type";
  return *m.text ? fail(ex, &m, error) : GATHER_OK;
}

gather_status gather_cli_explain_model(gather_cli_explain *ex, gather_error *error) {
  const gather_cli_args *args = ex->job.args;
  gather_check_options options;
  GATHER_CLI_TRY(check_line(args, error));
  GATHER_CLI_TRY(gather_cli_job_options(&ex->job, error));
  GATHER_CLI_TRY(gather_cli_model_open(args, &ex->model, &options, error));
  GATHER_CLI_TRY(
      gather_model_operands_find(ex->model.model, args->value[GATHER_CLI_NODE], &options, &ex->operands, error));
  GATHER_CLI_TRY(gather_cli_explain_operands(ex, error));
  return gather_cli_job_fill(&ex->job, error);
}
