/* SPDX-License-Identifier: MIT
 *
 * node_names.c: names: the paths of graphs and nodes, also of unnamed ones; the node that a name means, among the gather nodes of a check,
 * and in the main graph, in subgraphs and in functions; the values that OpenVINO knows by other names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "gather/model.h"
#include "model/model_check.h"
#include "model/model_internal.h"
#include "model/model_run.h"

/* ---- paths */

/* PATH/NODE/TAIL: the path of a graph in a node, as snprintf prints. */
static int path_print(char *text, size_t bytes, const char *path, const gather_node *node, int64_t number, const char *tail) {
  return *node->name ? snprintf(text, bytes, "%s/%s/%s", path, gather_path_name(node->name), tail)
                     : snprintf(text, bytes, "%s/%s_%" PRId64 "/%s", path, node->op, number, tail);
}

const char *gather_path_inner(gather_arena *arena, const char *path, const gather_node *node, int64_t number, const char *tail) {
  const size_t room = strlen(path) + strlen(node->name) + strlen(node->op) + strlen(tail) + 32;
  char *text = gather_arena_take(arena, (int64_t)room, 1);
  if (text) (void)path_print(text, room, path, node, number, tail);
  return text;
}

int gather_path_function(char *text, size_t bytes, const gather_function *function, bool domain, bool overload) {
  return snprintf(text, bytes, "function:%s%s%s%s%s", domain ? function->domain : "", domain && *function->domain ? "." : "",
                  function->name, overload && *function->overload ? ":" : "", overload ? function->overload : "");
}

/* What a name has after the path of a graph and a slash; NULL if it begins with another path. */
static const char *path_behind(const char *wanted, const char *path) {
  for (;; wanted++, path++) {
    if (*wanted == '/' && !*path) return wanted + 1;
    if (*wanted != *path || !*path) return NULL;
    if (*wanted == '/') wanted += strspn(wanted, "/") - 1; /* "main//x" is main/x */
  }
}

/* Whether two names are the same in a path. */
static bool path_same(const char *a, const char *b) { return strcmp(gather_path_name(a), gather_path_name(b)) == 0; }

size_t gather_model_node_path(const gather_model_node *node, char *text, size_t bytes) {
  int length = *node->name ? snprintf(text, bytes, "%s/%s", node->graph, gather_path_name(node->name))
                           : snprintf(text, bytes, "%s/%s_%" PRId64, node->graph, node->op, node->number);
  return length > 0 ? (size_t)length : 0;
}

/* ---- the gather node of a check that a name means */

/* How well a name matches a node: the more of the path it has, the better. */
typedef enum fit { FIT_NONE = 0, FIT_OUTPUT, FIT_NUMBER, FIT_NAME, FIT_PATH } fit;

/* The part of the name after the path of the graph. "function:NAME/g" is g in any call of that function. */
static const char *behind(const char *wanted, const char *path) {
  const char *rest = path_behind(wanted, path);
  for (const char *at = path; !rest && (at = strstr(at, "/function:")) != NULL; at++) rest = path_behind(wanted, at + 1);
  return rest;
}

static fit fit_of(const gather_model_node *node, const char *wanted) {
  const char *name = *node->name ? node->name : node->output.name, *rest = behind(wanted, node->graph);
  char number[64];
  (void)snprintf(number, sizeof number, "%s_%" PRId64, node->op, node->number);
  if (!*wanted) return FIT_NONE;
  if (rest && *rest && path_same(rest, name)) return FIT_PATH;
  if (strcmp(wanted, name) == 0) return FIT_NAME;
  if (rest && strcmp(rest, number) == 0) return FIT_NUMBER;
  return strcmp(rest ? rest : wanted, node->output.name) == 0 ? FIT_OUTPUT : FIT_NONE;
}

/* Lists the nodes that match so well, each by a name that selects it. */
static void list(const gather_check *check, const char *wanted, fit best, char *text, size_t bytes) {
  size_t at = 0;
  int64_t left = 0;
  for (int64_t i = 0; i < check->count; i++) {
    char one[200];
    const gather_model_node *node = &check->nodes[i];
    const char *name = *node->name ? node->name : node->output.name;
    if (best != FIT_NONE && fit_of(node, wanted) != best) continue;
    int len = *name && best != FIT_PATH ? snprintf(one, sizeof one, "%s/%s", node->graph, gather_path_name(name))
                                        : snprintf(one, sizeof one, "%s/%s_%" PRId64, node->graph, node->op, node->number);
    if (len < 0 || (size_t)len >= sizeof one || at + (size_t)len + 32 > bytes)
      left++;
    else
      at += (size_t)snprintf(text + at, bytes - at, "%s'%s'", at ? ", " : "", one);
  }
  if (left) (void)snprintf(text + at, bytes - at, "%s%" PRId64 " more", at ? " and " : "", left);
}

gather_status gather_check_choose(const gather_check *check, const char *name, int64_t *number, gather_error *error) {
  char names[400] = "";
  fit best = FIT_NONE;
  int64_t count = name ? 0 : check->count;
  *number = 0;
  for (int64_t i = 0; name && i < check->count; i++) {
    fit one = fit_of(&check->nodes[i], name);
    if (one == FIT_NONE || one < best) continue;
    count = one == best ? count + 1 : 1;
    best = one;
    *number = i;
  }
  if (count == 1) return GATHER_OK;
  if (check->count == 0) return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no gather node");
  list(check, name ? name : "", best, names, sizeof names);
  if (name && count == 0) return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no gather node '%.80s'; it has %s", name, names);
  if (!name) return gather_fail(error, GATHER_USAGE, "the model has %" PRId64 " gather nodes; name one of them: %s", count, names);
  return gather_fail(error, GATHER_USAGE, "'%.80s' is ambiguous: it matches %" PRId64 " gather nodes: %s", name, count, names);
}

/* ---- the node of a model that a name means, in the main graph, in subgraphs and in functions */

enum { DEEPEST = GATHER_RUN_DEEPEST, PATH_BYTES = 1024 };

/* How well a name matches a node: the more of the path it has, the better. */
typedef enum match_kind { MATCH_NONE = 0, MATCH_NUMBER, MATCH_NAME, MATCH_PATH } match_kind;

typedef struct search {
  const char *wanted;
  gather_run_way at, found; /* the node being compared, and the best one */
  int64_t number;           /* of that one in its graph */
  char path[PATH_BYTES];    /* of its graph */
  match_kind best;
  int64_t count;     /* how many nodes match the name so well */
  int64_t calls;     /* how many more calls of functions are followed */
  char nearest[300]; /* names of gather nodes, for the message */
  const gather_model *model;
} search;

/* Compares a name with PATH/NAME. */
static bool is_path(const char *wanted, const char *path, const char *name) {
  const char *rest = path_behind(wanted, path);
  return rest && path_same(rest, name);
}

static void note(search *s, const gather_node *node) {
  size_t at = strlen(s->nearest);
  if (!*gather_run_name(node) || at + 70 > sizeof s->nearest || !gather_model_is_gather(s->model, node)) return;
  (void)snprintf(s->nearest + at, sizeof s->nearest - at, "%s'%.60s'", at ? ", " : "; its gather nodes are ", gather_run_name(node));
}

/* A node without a name is found by its output's name, and by operator and number as a check prints it:
 * "main/Gather_5". */
static match_kind match_of(const char *wanted, const gather_node *node, const char *path, int64_t number) {
  char text[128];
  const char *name = gather_run_name(node);
  if (*name && is_path(wanted, path, name)) return MATCH_PATH;
  if (*name && strcmp(name, wanted) == 0) return MATCH_NAME;
  if (*node->name) return MATCH_NONE;
  (void)snprintf(text, sizeof text, "%.96s_%" PRId64, node->op, number);
  return is_path(wanted, path, text) ? MATCH_NUMBER : MATCH_NONE;
}

/* The node at the end of a way; NULL before any is found. */
static const gather_node *end_of(const gather_run_way *way) { return way->count > 0 ? way->places[way->count - 1].node : NULL; }

static void match(search *s, int64_t number, const char *path) {
  const gather_node *node = end_of(&s->at);
  match_kind one = match_of(s->wanted, node, path, number);
  if (one == MATCH_NONE) note(s, node);
  if (one == MATCH_NONE || one < s->best) return;
  if (one == s->best && end_of(&s->found) == node) return; /* a function's node is the same in each call */
  s->count = one != s->best ? 1 : s->count + 1;
  s->best = one;
  s->found = s->at;
  s->number = number;
  (void)snprintf(s->path, sizeof s->path, "%s", path);
}

static void walk(search *s, const gather_graph *graph, const gather_function *function, const char *path, int depth);

static bool calls(const gather_node *node, const gather_function *function) {
  const char *overload = node->overload ? node->overload : "";
  return strcmp(function->name, node->op) == 0 && strcmp(function->domain, node->domain) == 0 && strcmp(function->overload, overload) == 0;
}

/* What follows function:NAME, DOMAIN.NAME or NAME:OVERLOAD, from its slash on; NULL: the text names another function. */
static const char *behind_function(const char *text, const gather_function *function) {
  const size_t domain = strlen(function->domain), name = strlen(function->name), overload = strlen(function->overload);
  for (int with = 0; with < 2; with++) {
    const char *at = text + strlen("function:");
    if (with && (strncmp(at, function->domain, domain) != 0 || at[domain] != '.')) continue;
    if (with) at += domain + 1;
    if (strncmp(at, function->name, name) != 0) continue;
    at += name;
    if (overload > 0 && *at == ':' && strncmp(at + 1, function->overload, overload) == 0) at += 1 + overload;
    if (*at == '/') return at;
  }
  return NULL;
}

/* The path of the call ends as the wanted name does: with the function's name, and with domain or overload where that is needed. */
static void walk_call(search *s, const gather_node *node, int64_t number, const char *path, int depth) {
  char call[PATH_BYTES], inner[PATH_BYTES];
  const gather_graph_file *file = s->model->graph_file;
  for (int64_t i = 0; i < file->function_count && depth < DEEPEST && s->calls > 0; i++) {
    const gather_function *function = &file->functions[i];
    if (!calls(node, function)) continue;
    int length = *node->name ? snprintf(call, sizeof call, "%s/%s", path, gather_path_name(node->name))
                             : snprintf(call, sizeof call, "%s/%s_%" PRId64, path, node->op, number);
    const char *rest = length < 0 ? NULL : path_behind(s->wanted, call);
    if (!rest || strncmp(rest, "function:", 9) != 0) continue;
    s->calls--;
    const char *end = behind_function(rest, function);
    if (!end) continue;
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
      if (path_print(inner, sizeof inner, path, node, i, attribute->name) < 0) continue;
      walk(s, attribute->graph, NULL, inner, depth + 1);
    }
  }
}

/* ---- nodes of functions, by their calls */

enum { MOST_SHOWN = 3 };

/* The calls of a function that lead to a node in it. */
typedef struct call_list {
  const gather_graph_file *file;
  const gather_function *function;
  const char *tail; /* the path of the node in the function, with its slash */
  char text[400];
  int64_t count, left; /* calls found; how many more of any function are followed */
} call_list;

/* "function:NAME", with domain and overload where only they tell it from another, as a check writes it. */
static int function_name(const gather_graph_file *file, const gather_function *function, char *text, size_t bytes) {
  bool domain = false, overload = false;
  for (int64_t i = 0; i < file->function_count; i++) {
    const gather_function *other = &file->functions[i];
    if (other == function || strcmp(other->name, function->name) != 0) continue;
    if (strcmp(other->domain, function->domain) == 0)
      overload = true;
    else
      domain = true;
  }
  return gather_path_function(text, bytes, function, domain, overload);
}

/* PATH/NODE/TAIL; false if it does not fit. */
static bool inner_path(char *text, const char *path, const gather_node *node, int64_t number, const char *tail) {
  const int length = path_print(text, PATH_BYTES, path, node, number, tail);
  return length > 0 && length < PATH_BYTES;
}

static void add_call(call_list *list, const char *path) {
  const size_t used = strlen(list->text), room = sizeof list->text - used;
  if (++list->count > MOST_SHOWN) return;
  const int length = snprintf(list->text + used, room, "%s'%s%s'", used ? ", " : "", path, list->tail);
  if (length < 0 || (size_t)length >= room) list->text[used] = '\0';
}

static void list_calls(call_list *list, const gather_graph *graph, const char *path, int depth) {
  char inner[PATH_BYTES], name[PATH_BYTES];
  for (int64_t n = 0; n < graph->node_count && depth < DEEPEST; n++) {
    const gather_node *node = &graph->nodes[n];
    for (int64_t i = 0; i < list->file->function_count; i++) {
      const gather_function *function = &list->file->functions[i];
      if (!calls(node, function) || list->left <= 0) continue;
      list->left--;
      if (function_name(list->file, function, name, sizeof name) >= PATH_BYTES || !inner_path(inner, path, node, n, name)) continue;
      if (function == list->function) add_call(list, inner);
      list_calls(list, function->graph, inner, depth + 1);
    }
    for (int32_t k = 0; k < node->attribute_count; k++) {
      const gather_attribute *attribute = &node->attributes[k];
      if (attribute->kind == GATHER_ATTRIBUTE_GRAPH && attribute->graph && inner_path(inner, path, node, n, attribute->name))
        list_calls(list, attribute->graph, inner, depth + 1);
    }
  }
}

/* A function runs in its calls: without one its nodes have no values. Only of a function that nothing calls the values may be given. */
static gather_status want_call(const search *s, gather_error *error) {
  const gather_run_place *first = &s->found.places[0];
  char tail[PATH_BYTES];
  if (!first->function) return GATHER_OK;
  const gather_node *node = end_of(&s->found);
  const char *rest = strchr(s->path, '/'); /* behind "function:NAME" */
  const int length = *node->name ? snprintf(tail, sizeof tail, "%s/%s", rest ? rest : "", gather_path_name(node->name))
                                 : snprintf(tail, sizeof tail, "%s/%s_%" PRId64, rest ? rest : "", node->op, s->number);
  call_list list = {.file = s->model->graph_file, .function = first->function, .left = 1024};
  list.tail = length > 0 && (size_t)length < sizeof tail ? tail : "";
  list_calls(&list, s->model->graph_file->graph, "main", 0);
  if (list.count == 0) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "the node '%.100s' is in the function '%.60s': name a call of it: %s%s", s->wanted,
                     first->function->name, list.text, list.count > MOST_SHOWN ? ", ..." : "");
}

gather_status gather_run_find_node(const gather_model *model, const char *name, bool by_call, gather_run_way *way, gather_error *error) {
  search s = {.wanted = name, .model = model, .calls = 1024};
  char path[PATH_BYTES];
  walk(&s, model->graph_file->graph, NULL, "main", 0);
  for (int64_t i = 0; i < model->graph_file->function_count; i++) {
    const gather_function *function = &model->graph_file->functions[i];
    (void)snprintf(path, sizeof path, "function:%s", function->name);
    walk(&s, function->graph, function, path, 0);
  }
  if (s.count == 0) return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no node '%.100s'%s", name, s.nearest);
  if (s.count > 1)
    return gather_fail(error, GATHER_USAGE, "%d nodes are named '%.100s': write the path of the graph before the name", (int)s.count, name);
  if (by_call) GATHER_TRY(want_call(&s, error));
  *way = s.found;
  return GATHER_OK;
}

const char *gather_run_layer_input(const gather_graph *graph, const char *name) {
  const char *other = gather_graph_alias(graph, name);
  if (other) return other;
  for (int64_t i = 0; i < graph->node_count; i++) {
    const gather_node *node = &graph->nodes[i];
    if (strcmp(node->op, "Parameter") == 0 && strcmp(node->name, name) == 0 && node->output_count == 1) return node->outputs[0];
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
    (void)snprintf(known + strlen(known), sizeof known - strlen(known), "%s'%.60s'", k ? ", " : "; it has ", graph->outputs[k].name);
  return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no output '%.100s'%s", name, known);
}
