/* SPDX-License-Identifier: MIT
 *
 * walk.c: walks a model in the order in which its nodes run: what a graph declares, what each node computes, the graphs inside, and the
 * model's own functions.
 *
 * What a file declares of shapes no runtime enforces, so no verdict rests on it; it is shown, and what contradicts it is reported.
 *
 * A function's body is walked again for each call, with what is known of that call's inputs, and its nodes are listed for each call.
 * Nested calls could make that work grow exponentially, so it is limited. Outputs of calls beyond the limit are unknown, and the
 * nodes of their functions are listed once more, unknown. So are those of functions that nothing calls: not executed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/model_check.h"

/* Limit of the work of all function calls, counted in values and 16 times nodes: far above what real models need. */
enum { GATHER_ALL_CALLS = 1 << 20 };

/* A function by its name. */
struct gather_callee {
  const gather_function *function;
  bool ambiguous;                  /* two have the name */
  bool reached;                    /* the nodes of a call are listed */
  bool cut;                        /* a call is beyond the limits and was not followed */
  bool shares_name, shares_domain; /* others differ only by the domain, or only by the overload */
};

/* How a graph is walked. */
typedef struct walking {
  const gather_scope *parent;
  const char *path;
  int depth;
  const gather_node *call; /* a function's body: the node that calls it, in the scope `caller`; NULL */
  const gather_function *function;
  const gather_scope *caller;
  const gather_known *inputs; /* of a body: what its inputs get; NULL */
  gather_known *results;      /* receives what is known of the graph's outputs; NULL */
} walking;

/* ---- what a file declares */

enum { MOST_CONTRADICTIONS = 64 };

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while checking the model");
}

/* "[3, n, ?]" */
static void shape_text(int32_t rank, const gather_dim *dims, char *text, size_t bytes) {
  size_t at = (size_t)snprintf(text, bytes, "[");
  for (int32_t d = 0; d < rank && at + 48 < bytes; d++) {
    const char *comma = d > 0 ? ", " : "";
    at += (size_t)(gather_is_exact(&dims[d]) ? snprintf(text + at, bytes - at, "%s%" PRId64, comma, dims[d].min)
                                             : snprintf(text + at, bytes - at, "%s%.30s", comma, dims[d].symbol ? dims[d].symbol : "?"));
  }
  (void)snprintf(text + at, bytes - at, "]");
}

static bool contradicts(const gather_check *check, const gather_known *known) {
  const gather_value *declared = known->declared;
  if (!declared || known->rank < 0) return false;
  if (known->rank != declared->rank) return true;
  for (int32_t d = 0; d < known->rank; d++) {
    const gather_dim dim = gather_check_dim(check, &declared->dims[d]);
    if (known->dims[d].max < dim.min || known->dims[d].min > dim.max) return true;
  }
  return false;
}

/* Records that a value contradicts its declaration. */
static gather_status note_contradiction(gather_check *check, const gather_scope *scope, const gather_known *known, gather_error *error) {
  char text[700], declared[160], found[160];
  gather_dim dims[GATHER_MAX_RANK];
  if (check->quiet || check->probe || check->contradiction_count >= MOST_CONTRADICTIONS || !contradicts(check, known)) return GATHER_OK;
  if (!check->contradictions) check->contradictions = gather_arena_take(&check->arena, MOST_CONTRADICTIONS, sizeof *check->contradictions);
  if (!check->contradictions) return no_memory(error);
  for (int32_t d = 0; d < known->declared->rank; d++) dims[d] = gather_check_dim(check, &known->declared->dims[d]);
  shape_text(known->declared->rank, dims, declared, sizeof declared);
  shape_text(known->rank, known->dims, found, sizeof found);
  (void)snprintf(text, sizeof text, "the value '%.100s' of %.200s is declared %s, but is %s", known->name, scope->path, declared, found);
  const char *kept = gather_arena_text(&check->arena, text, strlen(text));
  if (!kept) return no_memory(error);
  check->contradictions[check->contradiction_count++] = kept;
  return GATHER_OK;
}

/* The operand with what the file declares where nothing else is known, for people to see. Allocates in the check. */
static gather_status show_declared(gather_check *check, const gather_scope *scope, gather_operand *operand, gather_error *error) {
  const gather_known *known = gather_scope_find(scope, operand->name);
  const gather_value *declared = known && !operand->value ? known->declared : NULL;
  if (!declared || (operand->rank >= 0 && operand->rank != declared->rank)) return GATHER_OK;
  gather_dim *dims = gather_arena_take(&check->arena, declared->rank, sizeof *dims);
  if (!dims) return no_memory(error);
  for (int32_t d = 0; d < declared->rank; d++) {
    const gather_dim dim = gather_check_dim(check, &declared->dims[d]);
    dims[d] = operand->rank < 0 ? dim : operand->dims[d];
    if (!gather_is_exact(&dims[d]) && gather_is_exact(&dim) && dims[d].min <= dim.min && dim.max <= dims[d].max) dims[d] = dim;
    if (!dims[d].symbol) dims[d].symbol = dim.symbol;
  }
  operand->rank = declared->rank;
  operand->dims = dims;
  return GATHER_OK;
}

/* ---- functions */

static gather_status no_memory_for_functions(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the functions of a model");
}

static uint64_t hash_text(uint64_t h, const char *text) {
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
  return (h ^ ':') * 1099511628211u;
}

static bool same_function(const gather_function *a, const char *domain, const char *name, const char *overload) {
  return strcmp(a->name, name) == 0 && strcmp(a->domain, domain) == 0 && strcmp(a->overload, overload) == 0;
}

/* The slot of that function, or the empty slot for it. */
static gather_callee *find_slot(const gather_check *check, const char *domain, const char *name, const char *overload) {
  uint64_t h = hash_text(hash_text(hash_text(14695981039346656037u, domain), name), overload); /* FNV-1a */
  uint64_t at = (h ^ h >> 32) & check->callee_mask;
  for (;; at = (at + 1) & check->callee_mask) {
    const gather_function *function = check->callees[at].function;
    if (!function || same_function(function, domain, name, overload)) return &check->callees[at];
  }
}

static int compare_callees(const void *a, const void *b) {
  const gather_function *const x = (*(gather_callee *const *)a)->function, *const y = (*(gather_callee *const *)b)->function;
  const int names = strcmp(x->name, y->name), domains = strcmp(x->domain, y->domain);
  return names ? names : domains ? domains : strcmp(x->overload, y->overload);
}

/* Marks the functions that another one differs from only by the domain, or only by the overload: their paths say more. */
static gather_status compare_names(gather_check *check, gather_error *error) {
  int64_t count = 0, begin = 0;
  gather_callee **sorted = gather_arena_take(&check->arena, (int64_t)check->callee_mask + 1, sizeof *sorted);
  if (!sorted) return no_memory_for_functions(error);
  for (uint64_t i = 0; i <= check->callee_mask; i++)
    if (check->callees[i].function) sorted[count++] = &check->callees[i];
  qsort(sorted, (size_t)count, sizeof *sorted, compare_callees);
  for (int64_t i = 1; i <= count; i++) {
    const gather_function *a = sorted[i - 1]->function, *b = i < count ? sorted[i]->function : NULL;
    const bool same_name = b && strcmp(a->name, b->name) == 0;
    if (same_name && strcmp(a->domain, b->domain) == 0) sorted[i - 1]->shares_domain = sorted[i]->shares_domain = true;
    if (same_name) continue;
    const bool domains = strcmp(sorted[begin]->function->domain, a->domain) != 0;
    for (; begin < i; begin++) sorted[begin]->shares_name = domains;
  }
  return GATHER_OK;
}

static gather_status list_functions(gather_check *check, gather_error *error) {
  const gather_graph_file *file = check->model->graph_file;
  int64_t slots = 2;
  while (slots < file->function_count * 2) slots *= 2;
  check->callee_mask = (uint64_t)slots - 1;
  check->call_room = GATHER_ALL_CALLS;
  check->callees = gather_arena_take(&check->arena, slots, sizeof *check->callees);
  if (!check->callees) return no_memory_for_functions(error);
  for (int64_t i = 0; i < file->function_count; i++) {
    const gather_function *function = &file->functions[i];
    gather_callee *callee = find_slot(check, function->domain, function->name, function->overload);
    callee->ambiguous = callee->function != NULL;
    callee->function = function;
  }
  return compare_names(check, error);
}

/* PATH/CALL/function:NAME, or without a call function:NAME; with domain and overload if others have the name. */
static const char *function_path(gather_check *check, const gather_scope *scope, const gather_node *node, int64_t number,
                                 const gather_callee *callee) {
  const gather_function *function = callee->function;
  char *name = NULL;
  const size_t room = strlen(function->domain) + strlen(function->name) + strlen(function->overload) + 16;
  if (!(name = gather_arena_take(&check->arena, (int64_t)room, 1))) return NULL;
  (void)gather_path_function(name, room, function, callee->shares_name, callee->shares_domain);
  return node ? gather_path_inner(&check->arena, scope->path, node, number, name) : name;
}

static gather_status walk_graph(gather_check *check, const gather_graph *graph, const walking *walk, gather_error *error);

static gather_status call(gather_check *check, const gather_scope *scope, gather_callee *callee, gather_step *step, int64_t number,
                          int depth, gather_error *error) {
  const gather_graph *body = callee->function->graph;
  gather_known *results = gather_arena_take(&check->arena, body->output_count, sizeof *results);
  const char *path = check->quiet ? scope->path : function_path(check, scope, step->node, number, callee);
  if (!results || !path) return no_memory_for_functions(error);
  const walking walk = {
      .path = path, .depth = depth + 1, .call = step->node, .function = callee->function, .caller = scope, .results = results};
  for (int64_t i = 0; i < body->output_count; i++) results[i].rank = -1;
  if (!check->quiet) {
    callee->reached = true;
    check->call_room -= (int64_t)strlen(path) + 16 * body->node_count;
  }
  GATHER_TRY(walk_graph(check, body, &walk, error));
  for (int32_t i = 0; i < step->node->output_count && i < body->output_count; i++) step->outs[i] = gather_body_output(step, &results[i]);
  return GATHER_OK;
}

/* Walks the function of the model that a node calls, and infers the node's outputs; does not change other nodes. number: of the node in
 * its graph. */
static gather_status walk_call(gather_check *check, const gather_scope *scope, gather_step *step, int64_t number, int depth,
                               gather_error *error) {
  const gather_node *node = step->node;
  if (step->openvino) return GATHER_OK;
  gather_callee *callee = find_slot(check, node->domain, node->op, node->overload ? node->overload : "");
  if (!callee->function) return GATHER_OK;
  /* A function may have the name of an operator; the function then has precedence. */
  for (int32_t i = 0; i < node->output_count; i++)
    step->outs[i] = (gather_known){.rank = -1, .source = GATHER_SOURCE_COMPUTED, .maker = node};
  if (callee->ambiguous || check->uncalled) return GATHER_OK;
  if (depth >= GATHER_MAX_DEPTH || check->call_room <= 0) {
    callee->cut = callee->cut || !check->quiet;
    return GATHER_OK;
  }
  return call(check, scope, callee, step, number, depth, error);
}

/* A function that was never walked, or a call of which could not be followed: its nodes, once. */
static gather_status walk_uncalled(gather_check *check, gather_error *error) {
  const gather_graph_file *file = check->model->graph_file;
  for (int64_t i = 0; i < file->function_count; i++) {
    gather_callee *callee = find_slot(check, file->functions[i].domain, file->functions[i].name, file->functions[i].overload);
    if (callee->reached && !callee->cut) continue;
    const gather_callee own = {.function = &file->functions[i], .shares_name = callee->shares_name, .shares_domain = callee->shares_domain};
    const walking walk = {.path = function_path(check, NULL, NULL, 0, &own), .depth = 1};
    if (!walk.path) return no_memory_for_functions(error);
    check->uncalled = callee->ambiguous ? "two functions of the model have this name"
                      : callee->cut     ? "the function is called too often, or too deeply, to follow each call"
                                        : NULL;
    check->not_executed = check->uncalled ? NULL : "not executed: no call leads to this function";
    if (!check->uncalled) check->uncalled = check->not_executed;
    GATHER_TRY(walk_graph(check, file->functions[i].graph, &walk, error));
    check->not_executed = check->uncalled = NULL;
  }
  return GATHER_OK;
}

/* ---- graphs */

/* Keeps what the file declares. No runtime enforces it, except for the inputs of the model: those are facts, unless the
 * length is that of another input with the same name for it. A length that the caller gives by a name of its own is one, too. */
static gather_status add_declaration(gather_check *check, const gather_value *value, bool is_fact, gather_known *known,
                                     gather_error *error) {
  if (known->type == GATHER_TYPE_NONE) known->type = value->type;
  if (value->rank < 0 || value->rank > GATHER_MAX_RANK) return GATHER_OK;
  if (!is_fact && !known->declared) known->declared = value;
  if (known->rank >= 0 ? known->rank != value->rank : !is_fact) return GATHER_OK;
  gather_dim *dims = gather_arena_take(&check->arena, value->rank, sizeof *dims);
  if (!dims) return no_memory(error);
  for (int32_t d = 0; d < value->rank; d++) {
    gather_dim declared = gather_check_dim(check, &value->dims[d]);
    const gather_dim_giver giver = declared.symbol ? gather_check_dim_giver(check, declared.symbol) : GATHER_DIM_OF_OTHERS;
    if (is_fact && declared.symbol && gather_is_exact(&declared) && giver == GATHER_DIM_OF_OTHERS) {
      declared = value->dims[d];
      known->declared = value;
    }
    dims[d] = known->rank < 0 ? declared : known->dims[d];
    const bool holds = is_fact || giver == GATHER_DIM_OF_ITS_OWN;
    if (holds && !gather_is_exact(&dims[d]) && gather_is_exact(&declared)) dims[d] = declared;
    if (is_fact && !dims[d].symbol) dims[d].symbol = declared.symbol;
  }
  known->rank = value->rank;
  known->dims = dims;
  return GATHER_OK;
}

/* The shape of a tensor that is known whole. */
static gather_status use_tensor(gather_check *check, const gather_tensor *tensor, gather_known *known, gather_error *error) {
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

static gather_status declare_inputs(gather_check *check, gather_scope *scope, const walking *walk, gather_error *error) {
  const bool is_main = scope->graph == check->model->graph_file->graph;
  for (int64_t i = 0; i < scope->graph->input_count; i++) {
    const gather_value *value = &scope->graph->inputs[i];
    gather_known *known = gather_scope_make(scope, value->name);
    if (!known) continue;
    const gather_model_input *given = is_main ? gather_check_input(check, value->name) : NULL;
    if (walk->inputs && !is_held(known)) {
      const char *name = known->name;
      *known = walk->inputs[i];
      known->name = name;
    }
    known->declared_input = true;
    if (given || (is_main && !is_held(known))) known->source = GATHER_SOURCE_INPUT;
    if (given) known->type = value->type;
    GATHER_TRY(given                             ? use_tensor(check, &given->tensor, known, error)
               : is_held(known) && !walk->inputs ? GATHER_OK
                                                 : add_declaration(check, value, is_main, known, error));
    if (!is_main) GATHER_TRY(note_contradiction(check, scope, known, error));
  }
  return GATHER_OK;
}

/* Declares values that are known whole, in place of what nodes compute. */
static gather_status declare_overrides(gather_check *check, gather_scope *scope, gather_error *error) {
  for (int64_t i = 0; i < check->override_count; i++) {
    const gather_override *override = &check->overrides[i];
    const bool here = override->graph == scope->graph && strcmp(override->root, scope->root) == 0;
    gather_known *known = here ? gather_scope_make(scope, override->name) : NULL;
    if (!known) continue;
    known->type = override->type;
    GATHER_TRY(use_tensor(check, &override->tensor, known, error));
  }
  return GATHER_OK;
}

/* Adds what the file declares of outputs of nodes, by name. A separate table would be as large as the scope. */
static gather_status add_declarations(gather_check *check, gather_scope *scope, const gather_value *values, int64_t count,
                                      gather_error *error) {
  for (int64_t i = 0; i < count; i++) {
    gather_known *known = gather_scope_make(scope, values[i].name);
    if (known && !is_held(known) && !known->declared_input) GATHER_TRY(add_declaration(check, &values[i], false, known, error));
  }
  return GATHER_OK;
}

/* The outputs of a node: what was inferred, then what was declared before. */
static gather_status keep(gather_check *check, gather_scope *scope, const gather_step *step, gather_error *error) {
  const gather_node *node = step->node;
  for (int32_t i = 0; i < node->output_count; i++) {
    gather_known *known = gather_scope_make(scope, node->outputs[i]);
    if (!known || is_held(known) || known->declared_input) continue;
    const gather_known before = *known;
    *known = step->outs[i];
    known->name = before.name;
    known->maker = node;
    known->producer = before.producer;
    known->declared = before.declared;
    if (known->type == GATHER_TYPE_NONE) known->type = before.type;
    if (!known->declared) continue;
    GATHER_TRY(add_declaration(check, known->declared, false, known, error));
    GATHER_TRY(note_contradiction(check, scope, known, error));
  }
  return GATHER_OK;
}

/* The results of a body in the order of its node's outputs, where the file has its own. */
static gather_status place_results(gather_check *check, const gather_node *node, const gather_graph *graph, gather_known **results,
                                   int64_t *count, gather_error *error) {
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

/* Walks a body until its outputs fit its inputs, without listing its nodes. */
static gather_status settle(gather_check *check, gather_step *step, const walking *walk, const gather_graph *graph, gather_known *inputs,
                            gather_error *error) {
  enum { PASSES = 3 };
  gather_known *results = gather_arena_take(&check->arena, graph->output_count, sizeof *results);
  if (!results) return no_memory(error);
  bool changed = gather_body_changes(step, graph, inputs);
  walking quiet = *walk;
  quiet.results = results;
  for (int pass = 0; changed && pass < PASSES; pass++) {
    for (int64_t i = 0; i < graph->output_count; i++) results[i] = (gather_known){.rank = -1};
    check->quiet++;
    gather_status status = walk_graph(check, graph, &quiet, error);
    check->quiet--;
    if (status != GATHER_OK) return status;
    changed = gather_body_widen(step, graph, results, pass + 1 == PASSES, inputs);
  }
  return GATHER_OK;
}

/* One graph of a node. */
static gather_status walk_body(gather_check *check, gather_step *step, walking *walk, int which, const gather_graph *graph,
                               gather_error *error) {
  char text[600] = "";
  const char *never = check->not_executed, *perhaps = check->perhaps;
  const gather_runs runs = gather_check_runs(step, which, text, sizeof text);
  const char *kept = runs == GATHER_RUNS_SURELY ? "" : gather_arena_text(&check->arena, text, strlen(text));
  gather_known *inputs = gather_arena_take(&check->arena, graph->input_count, sizeof *inputs);
  if (!kept || !inputs) return no_memory(error);
  if (!graph->sources) {
    gather_body_inputs(step, graph, inputs);
    walk->inputs = inputs;
    GATHER_TRY(settle(check, step, walk, graph, inputs, error));
  }
  if (step->no_memory) return no_memory(error); /* of the condition, too */
  if (runs == GATHER_RUNS_NEVER && !never) check->not_executed = kept;
  if (runs == GATHER_RUNS_PERHAPS && !perhaps) check->perhaps = kept;
  gather_status status = walk_graph(check, graph, walk, error);
  check->not_executed = never;
  check->perhaps = perhaps;
  return status;
}

static gather_status walk_inner(gather_check *check, gather_scope *scope, gather_step *step, int64_t number, int depth,
                                gather_bodies *bodies, gather_error *error) {
  const gather_node *node = step->node;
  for (int32_t k = 0; k < node->attribute_count; k++) {
    const gather_attribute *attribute = &node->attributes[k];
    if (attribute->kind != GATHER_ATTRIBUTE_GRAPH || !attribute->graph) continue;
    const char *path = check->quiet ? scope->path : gather_path_inner(&check->arena, scope->path, node, number, attribute->name);
    int64_t count = attribute->graph->output_count;
    gather_known *results = gather_arena_take(&check->arena, count, sizeof *results);
    if (!path || !results) return no_memory(error);
    for (int64_t i = 0; i < count; i++) results[i].rank = -1;
    walking walk = {.parent = scope, .path = path, .depth = depth + 1, .results = results};
    int which = strcmp(attribute->name, "else_branch") == 0 || strcmp(attribute->name, "else_body") == 0;
    GATHER_TRY(walk_body(check, step, &walk, which, attribute->graph, error));
    GATHER_TRY(place_results(check, node, attribute->graph, &results, &count, error));
    bodies->results[which] = results;
    bodies->counts[which] = count;
  }
  return GATHER_OK;
}

/* Room for one more node. Pointers into the old list end here. */
static gather_status more_room(gather_check *check, gather_error *error) {
  if (check->count < check->room) return GATHER_OK;
  const int64_t room = check->room * 2 + 16;
  gather_model_node *nodes = gather_arena_take(&check->arena, room, sizeof *nodes);
  gather_place *places = gather_arena_take(&check->arena, room, sizeof *places);
  if (!nodes || !places) return no_memory(error);
  if (check->count > 0) {
    memcpy(nodes, check->nodes, (size_t)check->count * sizeof *nodes);
    memcpy(places, check->places, (size_t)check->count * sizeof *places);
  }
  check->nodes = nodes;
  check->places = places;
  check->room = room;
  return GATHER_OK;
}

static gather_status list_node(gather_check *check, gather_scope *scope, int64_t number, gather_error *error) {
  const gather_node *node = &scope->graph->nodes[number];
  if (check->quiet || !gather_model_is_gather(check->model, node)) return GATHER_OK;
  GATHER_TRY(more_room(check, error));
  check->places[check->count] = (gather_place){scope->graph, scope->root, check->not_executed != NULL, check->perhaps != NULL, false};
  gather_model_node *out = &check->nodes[check->count++];
  out->graph = scope->path;
  out->number = number;
  GATHER_TRY(gather_check_node(check, scope, node, out, error));
  GATHER_TRY(show_declared(check, scope, &out->data, error));
  GATHER_TRY(show_declared(check, scope, &out->indices, error));
  return show_declared(check, scope, &out->output, error);
}

static gather_status walk_node(gather_check *check, gather_scope *scope, int64_t number, int depth, gather_error *error) {
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
  GATHER_TRY(walk_call(check, scope, &step, number, depth, error));
  GATHER_TRY(keep(check, scope, &step, error));
  return list_node(check, scope, number, error);
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
    *known = gather_body_input(outer);
    known->name = name;
    GATHER_TRY(add_declaration(check, value, false, known, error));
  }
  return GATHER_OK;
}

/* The inputs of a function's body are those of the node that calls it. */
static void pass_inputs(gather_scope *scope) {
  for (int64_t i = 0; i < scope->graph->input_count; i++) {
    const char *name = scope->graph->inputs[i].name;
    gather_known *known = gather_scope_make(scope, name);
    const gather_known *given = known && i < scope->call->input_count ? gather_scope_find(scope->caller, scope->call->inputs[i]) : NULL;
    if (!known) continue;
    if (given) *known = gather_body_input(given);
    known->name = name;
    known->declared_input = true;
  }
}

/* What the file says before any node; inferred values have precedence (add_declaration). Declarations in a function do
 * not hold for a particular call. */
static gather_status declare(gather_check *check, gather_scope *scope, const walking *walk, gather_error *error) {
  const gather_graph *graph = scope->graph;
  GATHER_TRY(declare_constants(check, scope, error));
  if (scope->call) {
    pass_inputs(scope);
    return check->quiet ? GATHER_OK : declare_overrides(check, scope, error);
  }
  GATHER_TRY(declare_inputs(check, scope, walk, error));
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

static gather_status walk_graph(gather_check *check, const gather_graph *graph, const walking *walk, gather_error *error) {
  const int64_t *order;
  gather_scope scope;
  if (check->quiet && (walk->depth > GATHER_MAX_DEPTH || check->call_room <= 0)) return GATHER_OK;
  if (walk->depth > GATHER_MAX_DEPTH) return gather_fail(error, GATHER_UNSUPPORTED, "graphs are nested too deeply");
  /* A graph without a parent in the file sees no values of the graph around it. */
  const gather_scope *parent = graph->parent ? walk->parent : NULL;
  GATHER_TRY(gather_scope_open(&check->arena, graph, parent, walk->path, &scope, error));
  scope.root = parent ? parent->root : walk->path;
  scope.call = walk->call;
  scope.function = walk->function;
  scope.caller = walk->caller;
  if (!may_go_on(check, &scope)) return GATHER_OK;
  GATHER_TRY(declare(check, &scope, walk, error));
  GATHER_TRY(gather_scope_order(&check->arena, &scope, &order, error));
  for (int64_t i = 0; i < graph->node_count; i++) GATHER_TRY(walk_node(check, &scope, order ? order[i] : i, walk->depth, error));
  find_results(&scope, walk->results);
  return GATHER_OK;
}

gather_status gather_check_walk(gather_check *check, gather_error *error) {
  const walking whole = {.path = "main"};
  GATHER_TRY(list_functions(check, error));
  GATHER_TRY(walk_graph(check, check->model->graph_file->graph, &whole, error));
  return walk_uncalled(check, error);
}
