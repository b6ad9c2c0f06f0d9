/* SPDX-License-Identifier: MIT
 *
 * run_find.c: the node that a name means, in the main graph, in subgraphs and in functions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model_run.h"
#include "model/node_path.h"

enum { DEEPEST = GATHER_RUN_DEEPEST, PATH_BYTES = 1024 };

/* How well a name matches a node: the more of the path it has, the better. */
typedef enum match_kind { FIT_NONE = 0, FIT_NUMBER, FIT_NAME, FIT_PATH } match_kind;

typedef struct search {
  const char *wanted;
  gather_run_way at, found; /* the node being compared, and the best one */
  match_kind best;
  int64_t count;     /* how many nodes match the name so well */
  int64_t calls;     /* how many more calls of functions are followed */
  char nearest[300]; /* names of gather nodes, for the message */
  const gather_model *model;
} search;

/* Compares a name with PATH/NAME. */
static bool is_path(const char *wanted, const char *path, const char *name) {
  const char *rest = gather_path_behind(wanted, path);
  return rest && gather_path_same(rest, name);
}

const char *gather_run_name(const gather_node *node) {
  return !*node->name && node->output_count > 0 ? node->outputs[0] : node->name;
}

static void note(search *s, const gather_node *node) {
  size_t at = strlen(s->nearest);
  if (!*gather_run_name(node) || at + 70 > sizeof s->nearest || !gather_model_is_gather(s->model, node)) return;
  (void)snprintf(s->nearest + at, sizeof s->nearest - at, "%s'%.60s'", at ? ", " : "; its gather nodes are ",
                 gather_run_name(node));
}

/* A node without a name is found by its output's name, and by operator and number as a check prints it:
 * "main/Gather_5". */
static match_kind fit_of(const char *wanted, const gather_node *node, const char *path, int64_t number) {
  char text[128];
  const char *name = gather_run_name(node);
  if (*name && is_path(wanted, path, name)) return FIT_PATH;
  if (*name && strcmp(name, wanted) == 0) return FIT_NAME;
  if (*node->name) return FIT_NONE;
  (void)snprintf(text, sizeof text, "%.96s_%" PRId64, node->op, number);
  return is_path(wanted, path, text) ? FIT_NUMBER : FIT_NONE;
}

/* The node at the end of a way; NULL before any is found. */
static const gather_node *end_of(const gather_run_way *way) {
  return way->count > 0 ? way->places[way->count - 1].node : NULL;
}

static void match(search *s, int64_t number, const char *path) {
  const gather_node *node = end_of(&s->at);
  match_kind one = fit_of(s->wanted, node, path, number);
  if (one == FIT_NONE) note(s, node);
  if (one == FIT_NONE || one < s->best) return;
  if (one == s->best && end_of(&s->found) == node) return; /* a function's node is the same in each call */
  s->count = one != s->best ? 1 : s->count + 1;
  s->best = one;
  s->found = s->at;
}

static void walk(search *s, const gather_graph *graph, const gather_function *function, const char *path, int depth);

/* The path of the call ends as the wanted name does: with the function's name, and with domain or overload where that is needed. */
static void walk_call(search *s, const gather_node *node, int64_t number, const char *path, int depth) {
  char call[PATH_BYTES], inner[PATH_BYTES];
  const gather_graph_file *file = s->model->graph_file;
  const char *overload = node->overload ? node->overload : "";
  for (int64_t i = 0; i < file->function_count && depth < DEEPEST && s->calls > 0; i++) {
    const gather_function *function = &file->functions[i];
    if (strcmp(function->name, node->op) != 0 || strcmp(function->domain, node->domain) != 0 ||
        strcmp(function->overload, overload) != 0)
      continue;
    int length = *node->name ? snprintf(call, sizeof call, "%s/%s", path, gather_path_name(node->name))
                             : snprintf(call, sizeof call, "%s/%s_%" PRId64, path, node->op, number);
    const char *rest = length < 0 ? NULL : gather_path_behind(s->wanted, call);
    if (!rest || strncmp(rest, "function:", 9) != 0) continue;
    s->calls--;
    const char *named = strstr(rest, function->name), *end = named ? named + strlen(function->name) : NULL;
    if (end && *end == ':' && strncmp(end + 1, overload, strlen(overload)) == 0) end += 1 + strlen(overload);
    if (!end || *end != '/') continue;
    length = snprintf(inner, sizeof inner, "%s/%.*s", call, (int)(end - rest), rest);
    if (length < 0 || (size_t)length >= sizeof inner) continue;
    walk(s, function->graph, function, inner, depth + 1);
  }
}

static void walk(search *s, const gather_graph *graph, const gather_function *function, const char *path, int depth) {
  char inner[PATH_BYTES];
  for (int64_t i = 0; i < graph->node_count; i++) {
    const gather_node *node = &graph->nodes[i];
    s->at.places[depth] = (gather_run_place){graph, node, function};
    s->at.count = depth + 1;
    match(s, i, path);
    walk_call(s, node, i, path, depth);
    for (int32_t k = 0; k < node->attribute_count && depth < DEEPEST; k++) {
      const gather_attribute *attribute = &node->attributes[k];
      if (attribute->kind != GATHER_ATTRIBUTE_GRAPH || !attribute->graph) continue;
      int length = *node->name
                       ? snprintf(inner, sizeof inner, "%s/%s/%s", path, gather_path_name(node->name), attribute->name)
                       : snprintf(inner, sizeof inner, "%s/%s_%" PRId64 "/%s", path, node->op, i, attribute->name);
      if (length < 0) continue;
      walk(s, attribute->graph, NULL, inner, depth + 1);
    }
  }
}

gather_status gather_run_find_node(const gather_model *model, const char *name, gather_run_way *way,
                                   gather_error *error) {
  search s = {.wanted = name, .model = model, .calls = 1024};
  char path[PATH_BYTES];
  walk(&s, model->graph_file->graph, NULL, "main", 0);
  for (int64_t i = 0; i < model->graph_file->function_count; i++) {
    const gather_function *function = &model->graph_file->functions[i];
    (void)snprintf(path, sizeof path, "function:%s", function->name);
    walk(&s, function->graph, function, path, 0);
  }
  if (s.count == 0)
    return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no node '%.100s'%s", name, s.nearest);
  if (s.count > 1)
    return gather_fail(error, GATHER_USAGE, "%d nodes are named '%.100s': write the path of the graph before the name",
                       (int)s.count, name);
  *way = s.found;
  return GATHER_OK;
}

const char *gather_run_layer_input(const gather_graph *graph, const char *name) {
  const char *other = gather_graph_alias(graph, name);
  if (other) return other;
  for (int64_t i = 0; i < graph->node_count; i++) {
    const gather_node *node = &graph->nodes[i];
    if (strcmp(node->op, "Parameter") == 0 && strcmp(node->name, name) == 0 && node->output_count == 1)
      return node->outputs[0];
  }
  return NULL;
}

/* Whether a layer of that name produces the value, or is the Result that takes it. */
static bool layer_has(const gather_node *node, const char *name, const char *value) {
  if (strcmp(node->name, name) != 0) return false;
  if (strcmp(node->op, "Result") == 0 && node->input_count == 1 && strcmp(node->inputs[0], value) == 0) return true;
  for (int32_t k = 0; k < node->output_count; k++)
    if (strcmp(node->outputs[k], value) == 0) return true;
  return false;
}

static bool output_is(const gather_graph *graph, bool layers, int64_t output, const char *name) {
  const char *other = layers ? gather_graph_alias(graph, name) : NULL;
  if (other && strcmp(graph->outputs[output].name, other) == 0) return true;
  for (int64_t i = 0; layers && i < graph->node_count; i++)
    if (layer_has(&graph->nodes[i], name, graph->outputs[output].name)) return true;
  return strcmp(graph->outputs[output].name, name) == 0;
}

gather_status gather_model_output_find(const gather_model *model, const char *name, int64_t *i, gather_error *error) {
  const gather_graph *graph = model->graph_file->graph;
  char known[300] = "";
  for (int layers = 0; layers <= (strcmp(model->graph_file->dialect, "openvino") == 0 ? 1 : 0); layers++)
    for (int64_t k = 0; k < graph->output_count; k++)
      if (output_is(graph, layers == 1, k, name)) {
        *i = k;
        return GATHER_OK;
      }
  for (int64_t k = 0; k < graph->output_count && strlen(known) + 70 < sizeof known; k++)
    (void)snprintf(known + strlen(known), sizeof known - strlen(known), "%s'%.60s'", k ? ", " : "; it has ",
                   graph->outputs[k].name);
  return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no output '%.100s'%s", name, known);
}

static gather_type type_in(const gather_graph *graph, const char *name) {
  const gather_value *input = gather_graph_input(graph, name);
  if (input) return input->type;
  for (int64_t i = 0; i < graph->info_count; i++)
    if (strcmp(graph->infos[i].name, name) == 0) return graph->infos[i].type;
  for (int64_t i = 0; i < graph->constant_count; i++)
    if (strcmp(graph->constants[i].tensor.name, name) == 0) return graph->constants[i].tensor.tensor.type;
  return GATHER_TYPE_NONE;
}

gather_type gather_graph_value_type(const gather_graph *graph, const char *name) {
  gather_type type = GATHER_TYPE_NONE;
  for (int depth = 0; graph && type == GATHER_TYPE_NONE && depth < DEEPEST; graph = graph->parent, depth++) {
    const char *layer = gather_run_layer_input(graph, name);
    type = type_in(graph, name);
    if (type == GATHER_TYPE_NONE && layer) type = type_in(graph, layer);
  }
  return type;
}
