/* SPDX-License-Identifier: MIT
 *
 * flow.c: nodes whose outputs are another graph's: If, Loop, Scan, and calls of the model's own functions.
 *
 * A function's body is walked again for each call, with what is known of that call's inputs, and its nodes are listed for each call.
 * Nested calls could make that work grow exponentially, so it is limited. Outputs of calls beyond the limit are unknown, and the
 * nodes of their functions are listed once more, unknown. So are those of functions that nothing calls: not executed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/bounds.h"
#include "model/model_check.h"

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the functions of a model");
}

/* ---- outputs of bodies */

/* A value of a body as an output of the node, with its elements. */
static gather_known as_output(const gather_step *step, const gather_known *value) {
  gather_known out = *value;
  out.source = GATHER_SOURCE_COMPUTED;
  out.maker = step->node;
  out.declared_input = false;
  out.declared = NULL;
  out.producer = 0;
  return out;
}

/* What is known of a value that is one of the two. */
static void set_either(gather_step *step, const gather_known *a, const gather_known *b) {
  gather_dim dims[GATHER_MAX_RANK];
  if (a->type == b->type) {
    step->out.type = a->type;
    step->out.bounds = gather_bounds_join(step, a, b);
  }
  if (a->rank < 0 || a->rank != b->rank) return;
  for (int32_t d = 0; d < a->rank; d++) dims[d] = gather_join_dims(&a->dims[d], &b->dims[d]);
  gather_step_shape(step, a->rank, dims);
}

/* A body's value of each iteration, stacked along a new axis. */
static void set_stacked(gather_step *step, const gather_known *value, int64_t at, gather_dim rounds, bool may_be_none) {
  gather_dim dims[GATHER_MAX_RANK];
  int32_t axis;
  step->out.type = value->type;
  step->out.bounds = gather_bounds_join(step, value, value);
  if (value->rank < 0 || value->rank >= GATHER_MAX_RANK || !gather_wrap_axis(at, value->rank + 1, &axis)) return;
  for (int32_t d = 0; d <= value->rank; d++) {
    dims[d] = d == axis ? rounds : value->dims[d - (d > axis)];
    /* Where no round has made a value, runtimes take a declared length, or 0. */
    if (d != axis && may_be_none) dims[d] = gather_any_dim;
  }
  gather_step_shape(step, value->rank + 1, dims);
}

void gather_infer_if(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  if (!bodies->results[0] || !bodies->results[1]) return;
  int taken = gather_check_branch(step);
  for (int32_t i = 0; i < step->node->output_count; i++) {
    if (i >= bodies->counts[0] || i >= bodies->counts[1]) return;
    gather_step_output(step, i);
    if (taken >= 0)
      step->out = as_output(step, &bodies->results[taken][i]);
    else
      set_either(step, &bodies->results[0][i], &bodies->results[1][i]);
  }
}

/* A carried value after all rounds: the initial one if there may be none, else one that the body returns. */
static void set_carried(gather_step *step, int32_t input, const gather_known *value, const gather_dim *rounds,
                        bool kept) {
  const gather_known *initial = gather_step_in(step, input);
  if (rounds->max == 0 || kept)
    step->out = as_output(step, initial);
  else if (rounds->min > 0)
    step->out = as_output(step, value);
  else
    set_either(step, initial, value);
}

static const gather_graph *body_of(const gather_step *step) {
  const gather_attribute *body = gather_node_attribute(step->node, "body");
  return body && body->kind == GATHER_ATTRIBUTE_GRAPH ? body->graph : NULL;
}

/* How many rounds a Loop stacks: the trip count if the body never ends it before. */
static gather_dim stacked_rounds(const gather_bodies *bodies, gather_dim rounds) {
  const gather_known *goes_on = &bodies->results[0][0];
  int64_t value = 0;
  const bool stored = bodies->counts[0] > 0 && goes_on->tensor && gather_tensor_len(goes_on->tensor) == 1 &&
                      gather_tensor_integer(goes_on->tensor, 0, &value) && value != 0;
  const bool always = stored || (bodies->counts[0] > 0 && goes_on->part_count == 1 && goes_on->parts &&
                                 gather_is_exact(goes_on->parts) && goes_on->parts->min == 1);
  if (!always && rounds.min > 1) rounds.min = 1;
  return rounds;
}

/* First the carried values, then the values stacked over the rounds. Runtimes differ in the shape of what no round has made. */
void gather_infer_loop(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  const gather_graph *body = body_of(step);
  const int32_t carried = step->node->input_count - 2;
  if (!body || !bodies->results[0]) return;
  const gather_dim rounds = gather_check_rounds(step), stacked = stacked_rounds(bodies, rounds);
  for (int32_t i = 0; i < step->node->output_count && i + 1 < bodies->counts[0]; i++) {
    const gather_known *value = &bodies->results[0][i + 1];
    gather_step_output(step, i);
    if (i < carried)
      set_carried(step, i + 2, value, &rounds, gather_body_keeps(step, body, i + 2));
    else if (rounds.max == 0)
      step->out.type = value->type;
    else
      set_stacked(step, value, 0, stacked, stacked.min == 0);
  }
}

void gather_infer_scan(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  const gather_graph *body = body_of(step);
  const int64_t carried = gather_scan_carried(step);
  int64_t axis_count = 0;
  if (!body || carried < 0) return;
  const int64_t *axes = gather_step_attribute(step, "scan_output_axes", &axis_count);
  const bool readable = axes || !gather_step_find(step, "scan_output_axes");
  const gather_dim rounds = gather_check_rounds(step);
  for (int32_t i = 0; bodies->results[0] && i < step->node->output_count && i < bodies->counts[0]; i++) {
    const gather_known *value = &bodies->results[0][i];
    gather_step_output(step, i);
    if (i < carried)
      set_carried(step, i, value, &rounds, gather_body_keeps(step, body, i));
    else if (readable && rounds.max > 0)
      set_stacked(step, value, i - carried < axis_count ? axes[i - carried] : 0, rounds,
                  false); /* ONNX Runtime refuses a Scan of length 0 */
    else
      step->out.type = value->type;
  }
}

/* ---- functions */

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
  const gather_function *const x = (*(gather_callee *const *)a)->function, *const y =
                                                                               (*(gather_callee *const *)b)->function;
  const int names = strcmp(x->name, y->name), domains = strcmp(x->domain, y->domain);
  return names ? names : domains ? domains : strcmp(x->overload, y->overload);
}

/* Marks the functions that another one differs from only by the domain, or only by the overload: their paths say more. */
static gather_status compare_names(gather_check *check, gather_error *error) {
  int64_t count = 0, begin = 0;
  gather_callee **sorted = gather_arena_take(&check->arena, (int64_t)check->callee_mask + 1, sizeof *sorted);
  if (!sorted) return no_memory(error);
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

gather_status gather_check_functions(gather_check *check, gather_error *error) {
  const gather_graph_file *file = check->model->graph_file;
  int64_t slots = 2;
  while (slots < file->function_count * 2) slots *= 2;
  check->callee_mask = (uint64_t)slots - 1;
  check->call_room = GATHER_ALL_CALLS;
  check->callees = gather_arena_take(&check->arena, slots, sizeof *check->callees);
  if (!check->callees) return no_memory(error);
  for (int64_t i = 0; i < file->function_count; i++) {
    const gather_function *function = &file->functions[i];
    gather_callee *callee = find_slot(check, function->domain, function->name, function->overload);
    callee->ambiguous = callee->function != NULL;
    callee->function = function;
  }
  return compare_names(check, error);
}

/* PATH/CALL/function:NAME, or without a call function:NAME; with domain and overload if others have the name. */
static const char *function_path(gather_check *check, const gather_scope *scope, const gather_node *node,
                                 int64_t number, const gather_callee *callee) {
  const gather_function *function = callee->function;
  char *name = NULL;
  const size_t room = strlen(function->domain) + strlen(function->name) + strlen(function->overload) + 16;
  if (!(name = gather_arena_take(&check->arena, (int64_t)room, 1))) return NULL;
  (void)gather_path_function(name, room, function, callee->shares_name, callee->shares_domain);
  return node ? gather_path_inner(&check->arena, scope->path, node, number, name) : name;
}

static gather_status call(gather_check *check, const gather_scope *scope, gather_callee *callee, gather_step *step,
                          int64_t number, int depth, gather_error *error) {
  const gather_graph *body = callee->function->graph;
  gather_known *results = gather_arena_take(&check->arena, body->output_count, sizeof *results);
  const char *path = check->quiet ? scope->path : function_path(check, scope, step->node, number, callee);
  if (!results || !path) return no_memory(error);
  const gather_check_walk walk = {.path = path,
                                  .depth = depth + 1,
                                  .call = step->node,
                                  .function = callee->function,
                                  .caller = scope,
                                  .results = results};
  for (int64_t i = 0; i < body->output_count; i++) results[i].rank = -1;
  if (!check->quiet) {
    callee->reached = true;
    check->call_room -= (int64_t)strlen(path) + 16 * body->node_count;
  }
  GATHER_TRY(gather_check_graph(check, body, &walk, error));
  for (int32_t i = 0; i < step->node->output_count && i < body->output_count; i++)
    step->outs[i] = as_output(step, &results[i]);
  return GATHER_OK;
}

gather_status gather_check_call(gather_check *check, const gather_scope *scope, gather_step *step, int64_t number,
                                int depth, gather_error *error) {
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
gather_status gather_check_uncalled(gather_check *check, gather_error *error) {
  const gather_graph_file *file = check->model->graph_file;
  for (int64_t i = 0; i < file->function_count; i++) {
    gather_callee *callee =
        find_slot(check, file->functions[i].domain, file->functions[i].name, file->functions[i].overload);
    if (callee->reached && !callee->cut) continue;
    const gather_callee own = {
        .function = &file->functions[i], .shares_name = callee->shares_name, .shares_domain = callee->shares_domain};
    const gather_check_walk walk = {.path = function_path(check, NULL, NULL, 0, &own), .depth = 1};
    if (!walk.path) return no_memory(error);
    check->uncalled = callee->ambiguous ? "two functions of the model have this name"
                      : callee->cut     ? "the function is called too often, or too deeply, to follow each call"
                                        : NULL;
    check->not_executed = check->uncalled ? NULL : "not executed: no call leads to this function";
    if (!check->uncalled) check->uncalled = check->not_executed;
    GATHER_TRY(gather_check_graph(check, file->functions[i].graph, &walk, error));
    check->not_executed = check->uncalled = NULL;
  }
  return GATHER_OK;
}
