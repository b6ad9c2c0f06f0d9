/* SPDX-License-Identifier: MIT
 *
 * flow.c: nodes whose outputs are another graph's: If, Loop, Scan, and calls of the model's own functions.
 *
 * A function's body is walked again for each call, with what is known of that call's inputs; its nodes are not listed
 * again. Nested calls could make that work grow exponentially, so it is limited; outputs of calls beyond the limit are
 * unknown.
 */
#include <string.h>

#include "base/error.h"
#include "model/bounds.h"
#include "model/model_check.h"

/* ---- outputs of bodies */

/* A value of a body as an output of the node, with its elements. */
static gather_known as_output(const gather_step *step, const gather_known *value) {
  gather_known out = *value;
  out.source = GATHER_SOURCE_COMPUTED;
  out.maker = step->node;
  out.declared_input = false;
  return out;
}

/* What is known of a value that is one of the two. */
static void set_either(gather_step *step, const gather_known *a, const gather_known *b) {
  gather_dim dims[GATHER_MAX_RANK];
  if (a->type == b->type) {
    step->out.type = a->type;
    step->out.bounds = gather_bounds_join(step->arena, a, b);
  }
  if (a->rank < 0 || a->rank != b->rank) return;
  for (int32_t d = 0; d < a->rank; d++) dims[d] = gather_join_dims(&a->dims[d], &b->dims[d]);
  gather_step_shape(step, a->rank, dims);
}

/* A body's value of each iteration, stacked along a new axis. */
static void set_stacked(gather_step *step, const gather_known *value, int64_t at, gather_dim rounds) {
  gather_dim dims[GATHER_MAX_RANK];
  int32_t axis;
  step->out.type = value->type;
  if (value->rank < 0 || value->rank >= GATHER_MAX_RANK || !gather_wrap_axis(at, value->rank + 1, &axis)) return;
  for (int32_t d = 0; d <= value->rank; d++) dims[d] = d == axis ? rounds : value->dims[d - (d > axis)];
  gather_step_shape(step, value->rank + 1, dims);
}

int gather_check_branch(gather_step *step) {
  int64_t count;
  if (!step->row || step->row->shape != gather_infer_if) return -1;
  const gather_dim *parts = gather_step_elements(step, gather_step_in(step, 0), &count);
  return parts && count == 1 && gather_is_exact(parts) ? parts->min == 0 : -1;
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

/* First the loop-carried values: the initial ones if there is no iteration, else those that the body returns. Then the
 * values stacked over the iterations. */
void gather_infer_loop(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  int32_t carried = step->node->input_count - 2;
  for (int32_t i = 0; bodies->results[0] && i < step->node->output_count && i + 1 < bodies->counts[0]; i++) {
    const gather_known *value = &bodies->results[0][i + 1];
    gather_step_output(step, i);
    if (i < carried)
      set_either(step, gather_step_in(step, i + 2), value);
    else
      set_stacked(step, value, 0, gather_any_dim);
  }
}

static gather_dim scan_rounds(gather_step *step, int32_t first) {
  int64_t count = 0;
  int32_t axis;
  const gather_known *in = gather_step_in(step, first);
  const int64_t *axes = gather_step_attribute(step, "scan_input_axes", &count);
  int64_t at = axes && count > 0 ? axes[0] : 0;
  if ((!axes && gather_step_find(step, "scan_input_axes")) || in->rank < 1 || !gather_wrap_axis(at, in->rank, &axis))
    return gather_any_dim;
  return in->dims[axis];
}

void gather_infer_scan(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  int64_t scanned, axis_count = 0;
  if (step->node->opset < 9 || !gather_step_integer(step, "num_scan_inputs", 0, &scanned) || scanned < 1 ||
      scanned > step->node->input_count)
    return;
  int32_t carried = step->node->input_count - (int32_t)scanned;
  const int64_t *axes = gather_step_attribute(step, "scan_output_axes", &axis_count);
  bool readable = axes || !gather_step_find(step, "scan_output_axes");
  for (int32_t i = 0; bodies->results[0] && i < step->node->output_count && i < bodies->counts[0]; i++) {
    const gather_known *value = &bodies->results[0][i];
    gather_step_output(step, i);
    if (i < carried)
      set_either(step, gather_step_in(step, i), value);
    else if (readable)
      set_stacked(step, value, i - carried < axis_count ? axes[i - carried] : 0, scan_rounds(step, carried));
  }
}

/* ---- functions */

static uint64_t hash(const char *domain, const char *name) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (; *domain; domain++) h = (h ^ (unsigned char)*domain) * 1099511628211u;
  h = (h ^ ':') * 1099511628211u;
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
  return h ^ h >> 32;
}

/* The slot of the function of that name, or the empty slot for it. */
static gather_callee *find_slot(const gather_check *check, const char *domain, const char *name) {
  uint64_t at = hash(domain, name) & check->callee_mask;
  for (;; at = (at + 1) & check->callee_mask) {
    const gather_function *function = check->callees[at].function;
    if (!function || (strcmp(function->name, name) == 0 && strcmp(function->domain, domain) == 0))
      return &check->callees[at];
  }
}

gather_status gather_check_functions(gather_check *check, gather_error *error) {
  const gather_graph_file *file = check->model->graph_file;
  int64_t slots = 2;
  while (slots < file->function_count * 2) slots *= 2;
  check->callee_mask = (uint64_t)slots - 1;
  check->call_room = GATHER_ALL_CALLS;
  check->callees = gather_arena_take(&check->arena, slots, sizeof *check->callees);
  if (!check->callees) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the functions of a model");
  for (int64_t i = 0; i < file->function_count; i++) {
    gather_callee *callee = find_slot(check, file->functions[i].domain, file->functions[i].name);
    callee->ambiguous = callee->function != NULL;
    callee->function = &file->functions[i];
  }
  return GATHER_OK;
}

static gather_status call(gather_check *check, const gather_scope *scope, const gather_graph *body, gather_step *step,
                          int depth, gather_error *error) {
  gather_known *results = gather_arena_take(&check->arena, body->output_count, sizeof *results);
  if (!results) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the outputs of a function");
  const gather_check_walk walk = {
      .path = scope->path, .depth = depth + 1, .call = step->node, .caller = scope, .results = results};
  for (int64_t i = 0; i < body->output_count; i++) results[i].rank = -1;
  check->quiet++;
  gather_status status = gather_check_graph(check, body, &walk, error);
  check->quiet--;
  for (int32_t i = 0; i < step->node->output_count && i < body->output_count; i++)
    step->outs[i] = as_output(step, &results[i]);
  return status;
}

gather_status gather_check_call(gather_check *check, const gather_scope *scope, gather_step *step, int depth,
                                gather_error *error) {
  const gather_node *node = step->node;
  if (node->output_count == 0 || step->openvino) return GATHER_OK;
  const gather_callee *callee = find_slot(check, node->domain, node->op);
  if (!callee->function) return GATHER_OK;
  /* A function may have the name of an operator; the function then has precedence. */
  for (int32_t i = 0; i < node->output_count; i++)
    step->outs[i] = (gather_known){.rank = -1, .source = GATHER_SOURCE_COMPUTED, .maker = node};
  if (callee->ambiguous || depth >= GATHER_MAX_DEPTH || check->call_room <= 0) return GATHER_OK;
  return call(check, scope, callee->function->graph, step, depth, error);
}
