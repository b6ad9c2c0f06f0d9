/* SPDX-License-Identifier: MIT
 *
 * walk.c: walks a graph in the file's order: its declarations, what each node computes, and the graphs inside.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model_check.h"

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory to check a model");
}

/* Adds a declaration to what is known; inferred values have precedence. */
static gather_status add_declaration(gather_check *check, const gather_value *value, gather_known *known,
                                     gather_error *error) {
  if (known->type == GATHER_TYPE_NONE) known->type = value->type;
  if (value->rank < 0 || value->rank > GATHER_MAX_RANK || (known->rank >= 0 && known->rank != value->rank))
    return GATHER_OK;
  gather_dim *dims = gather_arena_take(&check->arena, value->rank, sizeof *dims);
  if (!dims) return no_memory(error);
  for (int32_t d = 0; d < value->rank; d++) {
    gather_dim declared = gather_check_dim(check, &value->dims[d]);
    dims[d] = known->rank < 0 ? declared : known->dims[d];
    if (dims[d].min != dims[d].max && declared.min == declared.max) dims[d] = declared;
    if (!dims[d].symbol) dims[d].symbol = declared.symbol;
  }
  known->rank = value->rank;
  known->dims = dims;
  return GATHER_OK;
}

/* The shape of a tensor that is known whole. */
static gather_status use_tensor(gather_check *check, const gather_tensor *tensor, gather_known *known,
                                gather_error *error) {
  gather_dim *dims = gather_arena_take(&check->arena, tensor->rank, sizeof *dims);
  if (!dims) return no_memory(error);
  for (int32_t d = 0; d < tensor->rank; d++) dims[d] = (gather_dim){tensor->shape[d], tensor->shape[d], NULL};
  if (known->type == GATHER_TYPE_NONE) known->type = tensor->type;
  known->rank = tensor->rank;
  known->dims = dims;
  known->tensor = tensor;
  known->parts = NULL;
  known->unreadable = NULL;
  return GATHER_OK;
}

static gather_status declare_constants(gather_check *check, gather_scope *scope, gather_error *error) {
  for (int64_t i = 0; i < scope->graph->constant_count; i++) {
    const gather_constant *constant = &scope->graph->constants[i];
    gather_known *known = gather_scope_make(scope, constant->tensor.name);
    if (!known) continue;
    known->source = constant->is_initializer ? GATHER_SOURCE_INITIALIZER : GATHER_SOURCE_CONSTANT;
    GATHER_TRY(use_tensor(check, &constant->tensor.tensor, known, error));
    if (!constant->tensor.unreadable) continue;
    known->tensor = NULL;
    known->unreadable = &constant->tensor;
  }
  return GATHER_OK;
}

/* Whether the file holds its elements, or should. */
static bool is_held(const gather_known *known) { return known->tensor || known->unreadable; }

static gather_status declare_inputs(gather_check *check, gather_scope *scope, bool is_main, gather_error *error) {
  for (int64_t i = 0; i < scope->graph->input_count; i++) {
    const gather_value *value = &scope->graph->inputs[i];
    gather_known *known = gather_scope_make(scope, value->name);
    if (!known) continue;
    const gather_model_input *given = is_main ? gather_check_input(check, value->name) : NULL;
    known->declared_input = true;
    if (given || (is_main && !is_held(known))) known->source = GATHER_SOURCE_INPUT;
    if (given) known->type = value->type;
    GATHER_TRY(given            ? use_tensor(check, &given->tensor, known, error)
               : is_held(known) ? GATHER_OK
                                : add_declaration(check, value, known, error));
  }
  return GATHER_OK;
}

/* Declares values that are known whole, in place of what nodes compute. */
static gather_status declare_overrides(gather_check *check, gather_scope *scope, gather_error *error) {
  for (int64_t i = 0; i < check->override_count; i++) {
    const gather_override *override = &check->overrides[i];
    gather_known *known = override->graph == scope->graph ? gather_scope_make(scope, override->name) : NULL;
    if (!known) continue;
    known->type = override->type;
    GATHER_TRY(use_tensor(check, &override->tensor, known, error));
  }
  return GATHER_OK;
}

/* Adds what the file declares of outputs of nodes, by name. A separate table would be as large as the scope. */
static gather_status add_declarations(gather_check *check, gather_scope *scope, const gather_value *values,
                                      int64_t count, gather_error *error) {
  for (int64_t i = 0; i < count; i++) {
    gather_known *known = gather_scope_make(scope, values[i].name);
    if (known && !is_held(known) && !known->declared_input)
      GATHER_TRY(add_declaration(check, &values[i], known, error));
  }
  return GATHER_OK;
}

/* The outputs of a node: what was inferred, then what was declared before. */
static gather_status keep(gather_check *check, gather_scope *scope, const gather_step *step, gather_error *error) {
  const gather_node *node = step->node;
  for (int32_t i = 0; i < node->output_count; i++) {
    gather_known *known = gather_scope_make(scope, node->outputs[i]);
    if (!known || is_held(known) || known->declared_input) continue;
    const gather_value declared = {.name = known->name, .type = known->type, .rank = known->rank, .dims = known->dims};
    *known = step->outs[i];
    known->name = declared.name;
    known->maker = node;
    GATHER_TRY(add_declaration(check, &declared, known, error));
  }
  return GATHER_OK;
}

static const char *subgraph_path(gather_check *check, const char *path, const gather_node *node, int64_t number,
                                 const char *attribute) {
  size_t room = strlen(path) + strlen(node->name) + strlen(node->op) + strlen(attribute) + 32;
  char *text = gather_arena_take(&check->arena, (int64_t)room, 1);
  if (text && *node->name)
    (void)snprintf(text, room, "%s/%s/%s", path, node->name, attribute);
  else if (text)
    (void)snprintf(text, room, "%s/%s_%" PRId64 "/%s", path, node->op, number, attribute);
  return text;
}

/* The results of a body in the order of its node's outputs, where the file has its own. */
static gather_status place_results(gather_check *check, const gather_node *node, const gather_graph *graph,
                                   gather_known **results, int64_t *count, gather_error *error) {
  if (!graph->places) return GATHER_OK;
  gather_known *placed = gather_arena_take(&check->arena, node->output_count, sizeof *placed);
  if (!placed) return no_memory(error);
  for (int32_t k = 0; k < node->output_count; k++) placed[k].rank = -1;
  for (int64_t i = 0; i < graph->output_count; i++)
    if (graph->places[i] >= 0) placed[graph->places[i]] = (*results)[i];
  *results = placed;
  *count = node->output_count;
  return GATHER_OK;
}

/* Why nothing in the branch is executed; NULL if out of memory. */
static const char *skipped_text(gather_check *check, const gather_node *node, int taken) {
  char text[400];
  (void)snprintf(text, sizeof text, "not executed: the condition '%.100s' of %.60s%s%.100s%s is %s", node->inputs[0],
                 node->op, *node->name ? " '" : "", node->name, *node->name ? "'" : "", taken == 0 ? "true" : "false");
  return gather_arena_text(&check->arena, text, strlen(text));
}

/* One graph of a node. */
static gather_status walk_body(gather_check *check, gather_step *step, const gather_check_walk *walk, int which,
                               const gather_graph *graph, gather_error *error) {
  const char *before = check->not_executed;
  int taken = gather_check_branch(step);
  if (taken >= 0 && taken != which && !before) {
    check->not_executed = skipped_text(check, step->node, taken);
    if (!check->not_executed) return no_memory(error);
  }
  gather_status status = gather_check_graph(check, graph, walk, error);
  check->not_executed = before;
  return status;
}

static gather_status walk_inner(gather_check *check, gather_scope *scope, gather_step *step, int64_t number, int depth,
                                gather_bodies *bodies, gather_error *error) {
  const gather_node *node = step->node;
  for (int32_t k = 0; k < node->attribute_count; k++) {
    const gather_attribute *attribute = &node->attributes[k];
    if (attribute->kind != GATHER_ATTRIBUTE_GRAPH || !attribute->graph) continue;
    const char *path = check->quiet ? scope->path : subgraph_path(check, scope->path, node, number, attribute->name);
    int64_t count = attribute->graph->output_count;
    gather_known *results = gather_arena_take(&check->arena, count, sizeof *results);
    if (!path || !results) return no_memory(error);
    for (int64_t i = 0; i < count; i++) results[i].rank = -1;
    const gather_check_walk walk = {.parent = scope, .path = path, .depth = depth + 1, .results = results};
    int which = strcmp(attribute->name, "else_branch") == 0 || strcmp(attribute->name, "else_body") == 0;
    GATHER_TRY(walk_body(check, step, &walk, which, attribute->graph, error));
    GATHER_TRY(place_results(check, node, attribute->graph, &results, &count, error));
    bodies->results[which] = results;
    bodies->counts[which] = count;
  }
  return GATHER_OK;
}

static gather_status walk_node(gather_check *check, gather_scope *scope, int64_t number, int depth,
                               gather_error *error) {
  const gather_node *node = &scope->graph->nodes[number];
  gather_step step = {.arena = &check->arena,
                      .model = check->model,
                      .scope = scope,
                      .node = node,
                      .parts_left = &check->parts_left,
                      .openvino = strcmp(check->model->graph_file->dialect, "openvino") == 0};
  gather_bodies bodies = {{NULL, NULL}, {0, 0}};
  step.bodies = &bodies;
  step.row = gather_infer_row(&step);
  GATHER_TRY(walk_inner(check, scope, &step, number, depth, &bodies, error));
  GATHER_TRY(gather_infer_node(&step, error));
  GATHER_TRY(gather_check_call(check, scope, &step, depth, error));
  GATHER_TRY(keep(check, scope, &step, error));
  if (!check->quiet && gather_model_is_gather(check->model, node) && check->count < check->model->node_count) {
    check->graphs[check->count] = scope->graph;
    gather_model_node *out = &check->nodes[check->count++];
    out->graph = scope->path;
    out->number = number;
    const gather_op *rules = gather_model_rules(check->model, node);
    const bool own = rules && gather_family_get(rules->family)->function; /* GatherTree */
    GATHER_TRY((own ? gather_check_tree : gather_check_node)(check, scope, node, out, error));
  }
  return GATHER_OK;
}

static void find_results(const gather_scope *scope, gather_known *results) {
  for (int64_t i = 0; results && i < scope->graph->output_count; i++) {
    const gather_known *known = gather_scope_find(scope, scope->graph->outputs[i].name);
    if (known) results[i] = *known;
  }
}

/* The inputs of an IR body are values of the enclosing graph, as its port map says. */
static gather_status take_sources(gather_check *check, gather_scope *scope, gather_error *error) {
  const gather_graph *graph = scope->graph;
  for (int64_t i = 0; graph->sources && scope->parent && i < graph->input_count; i++) {
    const gather_value *value = &graph->inputs[i];
    gather_known *known = gather_scope_make(scope, value->name);
    const gather_known *outer = known && graph->sources[i] ? gather_scope_find(scope->parent, graph->sources[i]) : NULL;
    if (!outer) continue;
    const char *name = known->name;
    *known = *outer;
    known->name = name;
    known->source = GATHER_SOURCE_COMPUTED;
    known->declared_input = true;
    if (outer->source == GATHER_SOURCE_INPUT) known->origin = outer->name;
    GATHER_TRY(add_declaration(check, value, known, error));
  }
  return GATHER_OK;
}

/* The inputs of a function's body are those of the node that calls it. */
static void pass_inputs(gather_scope *scope) {
  for (int64_t i = 0; i < scope->graph->input_count; i++) {
    const char *name = scope->graph->inputs[i].name;
    gather_known *known = gather_scope_make(scope, name);
    const gather_known *given =
        known && i < scope->call->input_count ? gather_scope_find(scope->caller, scope->call->inputs[i]) : NULL;
    if (given) *known = *given;
    if (!known) continue;
    known->name = name;
    known->declared_input = true;
  }
}

/* What the file says before any node; inferred values have precedence (add_declaration). Declarations in a function do
 * not hold for a particular call. */
static gather_status declare(gather_check *check, gather_scope *scope, gather_error *error) {
  const gather_graph *graph = scope->graph;
  GATHER_TRY(declare_constants(check, scope, error));
  if (scope->call) {
    pass_inputs(scope);
    return GATHER_OK;
  }
  GATHER_TRY(declare_inputs(check, scope, graph == check->model->graph_file->graph, error));
  GATHER_TRY(take_sources(check, scope, error));
  if (!check->quiet) GATHER_TRY(declare_overrides(check, scope, error));
  GATHER_TRY(add_declarations(check, scope, graph->infos, graph->info_count, error));
  return add_declarations(check, scope, graph->outputs, graph->output_count, error);
}

/* Whether a call may be walked; charges it to the limit of all calls. */
static bool may_go_on(gather_check *check, const gather_scope *scope) {
  if (!check->quiet) return true;
  check->call_room -= (int64_t)scope->mask + 16 * scope->graph->node_count;
  return check->call_room > 0;
}

gather_status gather_check_graph(gather_check *check, const gather_graph *graph, const gather_check_walk *walk,
                                 gather_error *error) {
  gather_scope scope;
  if (check->quiet && (walk->depth > GATHER_MAX_DEPTH || check->call_room <= 0)) return GATHER_OK;
  if (walk->depth > GATHER_MAX_DEPTH) return gather_fail(error, GATHER_UNSUPPORTED, "graphs are nested too deeply");
  /* A graph without a parent in the file sees no values of the graph around it. */
  const gather_scope *parent = graph->parent ? walk->parent : NULL;
  GATHER_TRY(gather_scope_open(&check->arena, graph, parent, walk->path, &scope, error));
  scope.call = walk->call;
  scope.caller = walk->caller;
  if (!may_go_on(check, &scope)) return GATHER_OK;
  GATHER_TRY(declare(check, &scope, error));
  for (int64_t i = 0; i < graph->node_count; i++) GATHER_TRY(walk_node(check, &scope, i, walk->depth, error));
  find_results(&scope, walk->results);
  return GATHER_OK;
}
