/* SPDX-License-Identifier: MIT
 *
 * check_json.c: the JSON object of `gather check`.
 */
#include "check.h"
#include "json.h"
#include "report.h"
#include "source.h"

static void integer(gather_cli_json *json, const char *key, int64_t value, bool is_unsigned) {
  if (is_unsigned)
    gather_cli_json_uint(json, key, (uint64_t)value);
  else
    gather_cli_json_int(json, key, value);
}

/* A known length, its name, or -1. */
static void json_shape(gather_cli_json *json, const gather_operand *operand) {
  if (operand->rank < 0) {
    gather_cli_json_string(json, "shape", NULL);
    return;
  }
  gather_cli_json_array(json, "shape");
  for (int32_t d = 0; d < operand->rank; d++) {
    const gather_dim *dim = &operand->dims[d];
    if (dim->min == dim->max)
      gather_cli_json_int(json, NULL, dim->min);
    else if (dim->symbol)
      gather_cli_json_string(json, NULL, dim->symbol);
    else
      gather_cli_json_int(json, NULL, -1);
  }
  gather_cli_json_array_end(json);
}

static void json_operand(gather_cli_json *json, const gather_operand *operand) {
  const gather_type_info *type = gather_type_get(operand->type);
  gather_cli_json_string(json, "name", operand->name);
  gather_cli_json_string(json, "type", type ? type->name : NULL);
  json_shape(json, operand);
  gather_error why;
  if (operand->unreadable && gather_file_tensor_check(operand->unreadable, &why) != GATHER_OK)
    gather_cli_json_string(json, "unreadable", why.message);
}

/* The numbers of a tuple, each with its axis; nothing if it is not known how many there are. */
static void json_components(gather_cli_json *json, const gather_model_node *node) {
  if (!node->rules || node->rules->tuples == GATHER_TUPLES_NONE || node->component_count < 0) return;
  gather_cli_json_array(json, "components");
  for (int32_t c = 0; c < node->component_count; c++) {
    const gather_model_component *component = &node->components[c];
    gather_cli_json_object(json, NULL);
    gather_cli_json_int(json, "axis", component->axis);
    gather_cli_json_int(json, "length", component->len);
    if (node->indices_known && node->index_count > 0) {
      integer(json, "min", component->min, node->value_is_unsigned);
      integer(json, "max", component->max, node->value_is_unsigned);
    }
    gather_cli_json_object_end(json);
  }
  gather_cli_json_array_end(json);
}

static void json_indices(gather_cli_json *json, const gather_model_node *node) {
  gather_cli_json_object(json, "indices");
  json_operand(json, &node->indices);
  gather_cli_json_string(json, "source", gather_source_name(node->indices.source));
  if (node->indices_known && node->index_count > 0) {
    integer(json, "min", node->min, node->value_is_unsigned);
    integer(json, "max", node->max, node->value_is_unsigned);
  }
  if (node->indices_known) gather_cli_json_int(json, "count", node->index_count);
  if (node->bad_known) gather_cli_json_int(json, "bad", node->bad);
  json_components(json, node);
  gather_cli_json_object_end(json);
}

void gather_cli_json_runtimes(gather_cli_json *json, const gather_model_node *node) {
  gather_cli_json_object(json, "runtimes");
  for (size_t i = 0; gather_runtime_name(i); i++) gather_cli_json_string(json, gather_runtime_name(i), gather_runtime_behaviour(i, node));
  gather_cli_json_object_end(json);
}

void gather_cli_json_not_checked(gather_cli_json *json, const gather_model *model) {
  gather_cli_json_array(json, "not_checked");
  const gather_model_info *info = gather_model_describe(model);
  for (int64_t i = 0; i < info->not_checked_count; i++) {
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "op", info->not_checked[i].op);
    gather_cli_json_int(json, "count", info->not_checked[i].nodes);
    gather_cli_json_object_end(json);
  }
  gather_cli_json_array_end(json);
}

void gather_cli_json_unreadable(gather_cli_json *json, const gather_file *file) {
  gather_error why;
  bool any = false;
  for (int64_t i = 0; i < gather_file_len(file); i++) {
    const gather_file_tensor *tensor = gather_file_at(file, i);
    if (gather_file_is_remote(tensor) || gather_file_tensor_check(tensor, &why) == GATHER_OK) continue;
    if (!any) gather_cli_json_array(json, "unreadable");
    any = true;
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "name", tensor->name);
    gather_cli_json_string(json, "message", why.message);
    gather_cli_json_object_end(json);
  }
  if (any) gather_cli_json_array_end(json);
}

/* What to give, as options of the line. */
static void json_give(gather_cli_json *json, const gather_advice *advice) {
  char text[600];
  if (advice->kind == GATHER_ADVICE_NONE) return;
  gather_cli_advice_write(NULL, advice, text, sizeof text);
  gather_cli_json_string(json, "give", text);
}

void gather_cli_json_repeated(gather_cli_json *json, const gather_error *repeated) {
  gather_cli_json_object(json, "repeated");
  gather_cli_json_ints(json, "position", repeated->position_rank, repeated->position);
  gather_cli_json_ints(json, "first_position", repeated->position_rank, repeated->first_position);
  integer(json, "value", repeated->value, repeated->value_is_unsigned);
  gather_cli_json_int(json, "axis", repeated->axis);
  gather_cli_json_object_end(json);
}

static void json_updates(gather_cli_json *json, const gather_operand *updates) {
  if (!*updates->name) return;
  gather_cli_json_object(json, "updates");
  json_operand(json, updates);
  gather_cli_json_string(json, "source", gather_source_name(updates->source));
  gather_cli_json_object_end(json);
}

static void json_node(gather_cli_json *json, const gather_advice *advice, const gather_model_node *node) {
  gather_cli_json_object(json, NULL);
  gather_cli_json_string(json, "name", node->name);
  gather_cli_json_string(json, "op", node->op);
  gather_cli_json_string(json, "domain", node->domain);
  gather_cli_json_string(json, "rules", node->rules ? node->rules->rules : NULL);
  gather_cli_json_string(json, "graph", node->graph);
  gather_cli_json_int(json, "number", node->number);
  if (node->axis_known)
    gather_cli_json_int(json, "axis", node->axis);
  else
    gather_cli_json_string(json, "axis", NULL);
  gather_cli_json_int(json, "batch_dims", node->batch_dims);
  if (*node->reduction) gather_cli_json_string(json, "reduction", node->reduction);
  gather_cli_json_object(json, "data");
  json_operand(json, &node->data);
  gather_cli_json_string(json, "source", gather_source_name(node->data.source));
  gather_cli_json_object_end(json);
  json_indices(json, node);
  json_updates(json, &node->updates);
  gather_cli_json_object(json, "output");
  json_operand(json, &node->output);
  gather_cli_json_object_end(json);
  gather_cli_json_bool(json, "type_listed", node->type_listed);
  gather_cli_json_string(json, "verdict", gather_verdict_name(node->verdict));
  if (node->not_executed) gather_cli_json_bool(json, "executed", false);
  if (*node->reason) gather_cli_json_string(json, "reason", node->reason);
  json_give(json, advice);
  if (node->error) gather_cli_json_error(json, node->error, "", "");
  if (node->repeated) gather_cli_json_repeated(json, node->repeated);
  if (node->error || node->bad > 0 || node->repeated) gather_cli_json_runtimes(json, node);
  if (*node->cause) gather_cli_json_string(json, "cause", node->cause);
  gather_cli_json_object_end(json);
}

/* How many nodes have a verdict: of all, or of the only one that is shown. */
static int64_t count_of(int64_t all, const gather_check *check, int64_t only, gather_verdict verdict) {
  return only < 0 ? all : gather_check_at(check, only)->verdict == verdict;
}

void gather_cli_check_json(const gather_cli_args *args, const gather_model *model, const gather_check *check,
                           const gather_check_advice *advice, int64_t only) {
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "check");
  gather_cli_json_string(&json, "model", gather_cli_shown_name(args, gather_model_describe(model)->file));
  gather_cli_json_string(&json, "format", gather_file_format(gather_model_describe(model)->file));
  gather_cli_json_array(&json, "nodes");
  for (int64_t i = 0; i < gather_check_describe(check)->count; i++)
    if (only < 0 || only == i) json_node(&json, gather_check_advice_at(advice, i), gather_check_at(check, i));
  gather_cli_json_array_end(&json);
  const gather_check_info *info = gather_check_describe(check);
  gather_cli_json_int(&json, "ok", count_of(info->ok, check, only, GATHER_VERDICT_OK));
  gather_cli_json_int(&json, "unknown", count_of(info->unknown, check, only, GATHER_VERDICT_UNKNOWN));
  gather_cli_json_int(&json, "bad", count_of(info->bad, check, only, GATHER_VERDICT_BAD));
  gather_cli_json_not_checked(&json, model);
  gather_cli_json_unreadable(&json, gather_model_describe(model)->file);
  if (info->contradiction_count > 0) {
    gather_cli_json_array(&json, "contradictions");
    for (int64_t i = 0; i < info->contradiction_count; i++) gather_cli_json_string(&json, NULL, info->contradictions[i]);
    gather_cli_json_array_end(&json);
  }
  gather_cli_json_finish(&json);
}
