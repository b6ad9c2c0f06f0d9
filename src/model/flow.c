/* SPDX-License-Identifier: MIT
 *
 * flow.c: If, Loop and Scan: how often their graphs run, what the inputs of these are, and the outputs of the nodes. What a file declares
 * of a body's inputs is no fact: a runtime passes the values that the node has, and a loop-carried value may change its shape in each
 * round. So the inputs are those of the node, made more general until the outputs of the body fit them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/tensor.h"
#include "model/model_check.h"

/* ---- how often graphs run */

/* The bounds of a value that is one of the two; NULL where nothing is known, and without memory: no_memory is then set. */
static const gather_dim *join_bounds(gather_step *step, const gather_known *a, const gather_known *b) {
  const gather_dim joined = gather_hull(gather_bounds_of(a), gather_bounds_of(b));
  if (joined.min == INT64_MIN && joined.max == INT64_MAX) return NULL;
  gather_dim *kept = gather_step_take(step, 1, sizeof *kept);
  if (kept) *kept = joined;
  return kept;
}

/* Whether the node has that rule in infer.def. */
static bool is_a(const gather_step *step, const gather_infer_fn *rule) { return step->row && step->row->shape == rule; }

/* The only element of input i, as an interval; false if nothing is known of it. */
static bool scalar(gather_step *step, int32_t i, gather_dim *value) {
  int64_t count;
  const gather_dim *parts = gather_step_elements(step, gather_step_in(step, i), &count);
  if (!parts || count != 1) return false;
  *value = *parts;
  return true;
}

/* Which of an If's graphs its condition takes, where that is known: 0 or 1; -1. */
static int branch_taken(gather_step *step) {
  gather_dim value;
  if (!is_a(step, &gather_rules_flow.branch) || !scalar(step, 0, &value) || !gather_is_exact(&value)) return -1;
  return value.min == 0;
}

/* How many inputs of a Scan are carried from round to round; -1: not known, or another node. */
static int64_t scan_carried(const gather_step *step) {
  int64_t scanned;
  if (!is_a(step, &gather_rules_flow.scan) || step->node->opset < 9 || !gather_step_integer(step, "num_scan_inputs", 0, &scanned) ||
      scanned < 1 || scanned > step->node->input_count)
    return -1;
  return step->node->input_count - scanned;
}

/* The axis of input i that a Scan goes along; false if not known. */
static bool scan_axis(gather_step *step, int64_t carried, int32_t i, int32_t *axis) {
  int64_t count = 0;
  const gather_known *in = gather_step_in(step, i);
  const int64_t *axes = gather_step_attribute(step, "scan_input_axes", &count);
  if ((!axes && gather_step_find(step, "scan_input_axes")) || in->rank < 1) return false;
  return gather_wrap_axis(axes && i - carried < count ? axes[i - carried] : 0, in->rank, axis);
}

/* All scanned inputs have the same length along their axes. */
static gather_dim scan_rounds(gather_step *step) {
  const int64_t carried = scan_carried(step);
  gather_dim rounds = gather_any_dim;
  int32_t axis;
  for (int32_t i = (int32_t)carried; carried >= 0 && i < step->node->input_count; i++) {
    if (!scan_axis(step, carried, i, &axis)) continue;
    const gather_dim *dim = &gather_step_in(step, i)->dims[axis];
    if (gather_is_exact(dim)) return *dim;
    if (!rounds.symbol) rounds = *dim;
  }
  return rounds;
}

/* A trip count that is not above 0 is none. */
static gather_dim loop_rounds(gather_step *step) {
  gather_dim rounds = gather_any_dim, count, goes_on;
  if (gather_step_has(step, 0) && scalar(step, 0, &count)) {
    rounds.min = count.min > 0 ? count.min : 0;
    rounds.max = count.max > 0 ? count.max : 0;
  } else if (!gather_step_has(step, 0)) {
    rounds.min = 1;
  }
  if (!gather_step_has(step, 1)) return rounds;
  if (!scalar(step, 1, &goes_on) || !gather_is_exact(&goes_on))
    rounds.min = 0;
  else if (goes_on.min == 0)
    rounds.min = rounds.max = 0;
  return rounds;
}

/* How often the body of a Loop or Scan runs. */
static gather_dim rounds_of(gather_step *step) {
  if (is_a(step, &gather_rules_flow.loop)) return loop_rounds(step);
  if (is_a(step, &gather_rules_flow.scan)) return scan_rounds(step);
  return gather_any_dim;
}

/* ---- words */

/* "Loop 'l'" */
static void who(const gather_step *step, char *text, size_t bytes) {
  const gather_node *node = step->node;
  (void)snprintf(text, bytes, "%.60s%s%.100s%s", node->op, *node->name ? " '" : "", node->name, *node->name ? "'" : "");
}

static void loop_words(gather_step *step, bool never, char *text, size_t bytes) {
  const bool has_count = gather_step_has(step, 0), has_condition = gather_step_has(step, 1);
  gather_dim count = {1, 1, NULL}, goes_on = {1, 1, NULL};
  const bool counted = !has_count || scalar(step, 0, &count);
  const bool decided = !has_condition || (scalar(step, 1, &goes_on) && gather_is_exact(&goes_on));
  const char *const *inputs = step->node->inputs;
  const bool by_condition = never ? !(counted && has_count && count.max <= 0) : counted && count.min > 0;
  if (never && by_condition)
    (void)snprintf(text, bytes, "the condition '%.100s' is false in", inputs[1]);
  else if (never)
    (void)snprintf(text, bytes, "the trip count '%.100s' is %" PRId64 " in", inputs[0], count.max);
  else if (by_condition || !has_count)
    (void)snprintf(text, bytes, "the condition '%.100s' of", inputs[1]);
  else if (!decided)
    (void)snprintf(text, bytes, "the trip count '%.100s' and the condition '%.100s' of", inputs[0], inputs[1]);
  else
    (void)snprintf(text, bytes, "the trip count '%.100s' of", inputs[0]);
}

/* A Loop of OpenVINO, whose letters may have any case. */
static bool is_openvino_loop(const gather_node *node) {
  static const char NAME[] = "loop";
  size_t i = 0;
  while (i < 4 && (node->op[i] | 0x20) == NAME[i]) i++;
  return i == 4 && !node->op[4] && strncmp(node->domain, "opset", 5) == 0;
}

/* A Loop of OpenVINO: a trip count below 0 is none, and of 0 no round runs. A TensorIterator runs once for each slice, of which it has at
 * least one. */
static gather_runs openvino_runs(gather_step *step, const char *name, char *text, size_t bytes) {
  gather_dim count = {1, 1, NULL}, goes_on = {1, 1, NULL};
  const char *const *inputs = step->node->inputs;
  if (!is_openvino_loop(step->node)) return GATHER_RUNS_SURELY;
  const bool counted = !gather_step_has(step, 0) || scalar(step, 0, &count);
  const bool decided = !gather_step_has(step, 1) || (scalar(step, 1, &goes_on) && gather_is_exact(&goes_on));
  const bool has_rounds = counted && (count.min > 0 || count.max < 0);
  const bool none = counted && count.min == 0 && count.max == 0, never = none || (decided && goes_on.min == 0);
  if (none)
    (void)snprintf(text, bytes, "not executed: the trip count '%.100s' is 0 in %s", inputs[0], name);
  else if (never)
    (void)snprintf(text, bytes, "not executed: the condition '%.100s' is false in %s", inputs[1], name);
  else if (has_rounds && decided)
    return GATHER_RUNS_SURELY;
  else if (has_rounds)
    (void)snprintf(text, bytes, "the condition '%.100s' of %s", inputs[1], name);
  else if (decided)
    (void)snprintf(text, bytes, "the trip count '%.100s' of %s", inputs[0], name);
  else
    (void)snprintf(text, bytes, "the trip count '%.100s' and the condition '%.100s' of %s", inputs[0], inputs[1], name);
  return never ? GATHER_RUNS_NEVER : GATHER_RUNS_PERHAPS;
}

gather_runs gather_check_runs(gather_step *step, int which, char *text, size_t bytes) {
  char by[300] = "", name[200];
  const int taken = branch_taken(step);
  const char *const *inputs = step->node->inputs;
  who(step, name, sizeof name);
  if (is_a(step, &gather_rules_flow.branch)) {
    if (taken == which || step->node->input_count < 1) return GATHER_RUNS_SURELY;
    if (taken >= 0)
      (void)snprintf(text, bytes, "not executed: the condition '%.100s' of %s is %s", inputs[0], name, taken == 0 ? "true" : "false");
    else
      (void)snprintf(text, bytes, "the condition '%.100s' of %s", inputs[0], name);
    return taken >= 0 ? GATHER_RUNS_NEVER : GATHER_RUNS_PERHAPS;
  }
  if (step->openvino) return openvino_runs(step, name, text, bytes);
  if (!is_a(step, &gather_rules_flow.loop) && !is_a(step, &gather_rules_flow.scan)) {
    (void)snprintf(text, bytes, "what %s does with its graph", name);
    return GATHER_RUNS_PERHAPS;
  }
  const gather_dim rounds = rounds_of(step);
  if (rounds.min > 0) return GATHER_RUNS_SURELY;
  const bool never = rounds.max == 0;
  if (is_a(step, &gather_rules_flow.loop))
    loop_words(step, never, by, sizeof by);
  else
    (void)snprintf(by, sizeof by, never ? "the input '%.100s' has the length 0 in" : "the length of the input '%.100s' of",
                   inputs[step->node->input_count - 1]);
  (void)snprintf(text, bytes, "%s%s %s", never ? "not executed: " : "", by, name);
  return never ? GATHER_RUNS_NEVER : GATHER_RUNS_PERHAPS;
}

/* ---- the inputs of a body */

gather_known gather_body_input(const gather_known *outer) {
  gather_known known = *outer;
  known.source = GATHER_SOURCE_COMPUTED;
  known.maker = NULL;
  known.declared = NULL;
  known.producer = 0;
  known.declared_input = true;
  if (outer->source == GATHER_SOURCE_INPUT) known.origin = outer->name;
  return known;
}

gather_known gather_body_output(const gather_step *step, const gather_known *value) {
  gather_known out = *value;
  out.source = GATHER_SOURCE_COMPUTED;
  out.maker = step->node;
  out.declared_input = false;
  out.declared = NULL;
  out.producer = 0;
  return out;
}

static void forget_elements(gather_known *known) {
  known->tensor = NULL;
  known->parts = NULL;
  known->part_count = 0;
  known->bounds = NULL;
  known->origin = NULL;
  known->unreadable = NULL;
}

/* Inputs of a body before those that are carried, and the output where the carried ones begin. */
static int64_t before_carried(const gather_step *step) { return is_a(step, &gather_rules_flow.loop) ? 2 : 0; }

/* Which output of the body becomes input i in the next round; -1: none does. */
static int64_t returned_as(const gather_step *step, const gather_graph *graph, int64_t i) {
  const int64_t before = before_carried(step);
  const int64_t last = before > 0 ? step->node->input_count : scan_carried(step);
  const int64_t output = before > 0 ? i - 1 : i;
  return i >= before && i < last && output < graph->output_count ? output : -1;
}

/* Whether each round passes input i on as it is. */
static bool keeps_input(const gather_step *step, const gather_graph *graph, int64_t i) {
  const int64_t output = returned_as(step, graph, i);
  return output >= 0 && gather_graph_passes_on(graph, output, i);
}

/* The number of the round and the condition: each one element, of the rank 1 where the body declares that. */
static void set_single(gather_step *step, const gather_graph *graph, const gather_value *value, gather_type type, gather_known *known) {
  static const gather_dim ONE[1] = {{1, 1, NULL}};
  known->type = type;
  known->rank = value->rank == 1;
  known->dims = ONE;
  /* A round runs only while the condition is true. Without one, runtimes differ in whether they regard what the body returns. */
  const bool is_true =
      type == GATHER_TYPE_BOOL && graph->output_count > 0 && (gather_step_has(step, 1) || gather_graph_passes_on(graph, 0, 1));
  if (type == GATHER_TYPE_BOOL && !is_true) return;
  gather_dim *part = gather_step_new_elements(step, 1);
  const gather_dim rounds = rounds_of(step);
  if (!part) return;
  *part = (gather_dim){0, rounds.max == GATHER_DIM_UNBOUNDED || rounds.max < 1 ? rounds.max : rounds.max - 1, NULL};
  if (is_true) *part = gather_exact_dim(1);
  known->parts = part;
  known->part_count = 1;
}

/* What a Scan takes of input i in a round: without the axis that it goes along. */
static void set_slice(gather_step *step, int64_t carried, int32_t i, gather_known *known) {
  const gather_known *in = gather_step_in(step, i);
  int32_t axis;
  known->type = in->type;
  known->bounds = join_bounds(step, in, in);
  if (!scan_axis(step, carried, i, &axis)) return;
  gather_dim *dims = gather_step_take(step, in->rank, sizeof *dims);
  if (!dims) return;
  for (int32_t d = 0; d + 1 < in->rank; d++) dims[d] = in->dims[d + (d >= axis)];
  known->rank = in->rank - 1;
  known->dims = dims;
}

void gather_body_inputs(gather_step *step, const gather_graph *graph, gather_known *inputs) {
  const bool loop = is_a(step, &gather_rules_flow.loop);
  const int64_t carried = scan_carried(step);
  const bool once = rounds_of(step).max == 1;
  for (int64_t i = 0; i < graph->input_count; i++) {
    gather_known *known = &inputs[i];
    *known = (gather_known){.name = "", .rank = -1, .source = GATHER_SOURCE_COMPUTED, .declared_input = true};
    if (loop && i < 2)
      set_single(step, graph, &graph->inputs[i], i == 0 ? GATHER_TYPE_INT64 : GATHER_TYPE_BOOL, known);
    else if (loop || (carried >= 0 && i < carried))
      *known = gather_body_input(gather_step_in(step, (int32_t)i));
    else if (carried >= 0 && i < step->node->input_count)
      set_slice(step, carried, (int32_t)i, known);
    if ((loop ? i >= 2 : i < carried) && !once && !keeps_input(step, graph, i)) forget_elements(known);
  }
}

/* Whether the next round gets another value for input i. */
static bool carries_input(const gather_step *step, const gather_graph *graph, int64_t i) {
  return returned_as(step, graph, i) >= 0 && !keeps_input(step, graph, i);
}

bool gather_body_changes(gather_step *step, const gather_graph *graph, const gather_known *inputs) {
  bool changes = false;
  if (step->openvino || !step->row || rounds_of(step).max <= 1) return false;
  for (int64_t i = 0; i < graph->input_count; i++) changes = changes || (inputs[i].rank >= 0 && carries_input(step, graph, i));
  return changes;
}

/* Whether every value of b is one of a. */
static bool contains(const gather_dim *a, const gather_dim *b) {
  if (a->symbol && (!b->symbol || strcmp(a->symbol, b->symbol) != 0)) return false;
  return a->min <= b->min && b->max <= a->max;
}

bool gather_body_widen(gather_step *step, const gather_graph *graph, const gather_known *results, bool last, gather_known *inputs) {
  bool changed = false;
  if (rounds_of(step).max <= 1) return false;
  for (int64_t i = 0; i < graph->input_count; i++) {
    const int64_t output = returned_as(step, graph, i);
    gather_known *in = &inputs[i];
    if (in->rank < 0 || !carries_input(step, graph, i)) continue;
    const gather_known *out = &results[output];
    gather_dim *dims = gather_step_take(step, in->rank, sizeof *dims);
    const bool other_rank = !dims || out->rank != in->rank;
    bool differs = false;
    for (int32_t d = 0; !other_rank && d < in->rank; d++) {
      const bool fits = contains(&in->dims[d], &out->dims[d]);
      dims[d] = fits ? in->dims[d] : gather_any_dim;
      differs = differs || !fits;
    }
    if (!other_rank && !differs) continue;
    changed = true;
    in->dims = dims;
    if (other_rank || last) in->rank = -1;
  }
  return changed;
}

/* ---- outputs of bodies */

/* What is known of a value that is one of the two. */
static void set_either(gather_step *step, const gather_known *a, const gather_known *b) {
  gather_dim dims[GATHER_MAX_RANK];
  if (a->type == b->type) {
    step->out.type = a->type;
    step->out.bounds = join_bounds(step, a, b);
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
  step->out.bounds = join_bounds(step, value, value);
  if (value->rank < 0 || value->rank >= GATHER_MAX_RANK || !gather_wrap_axis(at, value->rank + 1, &axis)) return;
  for (int32_t d = 0; d <= value->rank; d++) {
    dims[d] = d == axis ? rounds : value->dims[d - (d > axis)];
    /* Where no round has made a value, runtimes take a declared length, or 0. */
    if (d != axis && may_be_none) dims[d] = gather_any_dim;
  }
  gather_step_shape(step, value->rank + 1, dims);
}

static void infer_if(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  if (!bodies->results[0] || !bodies->results[1]) return;
  int taken = branch_taken(step);
  for (int32_t i = 0; i < step->node->output_count; i++) {
    if (i >= bodies->counts[0] || i >= bodies->counts[1]) return;
    gather_step_output(step, i);
    if (taken >= 0)
      step->out = gather_body_output(step, &bodies->results[taken][i]);
    else
      set_either(step, &bodies->results[0][i], &bodies->results[1][i]);
  }
}

/* A carried value after all rounds: the initial one if there may be none, else one that the body returns. */
static void set_carried(gather_step *step, int32_t input, const gather_known *value, const gather_dim *rounds, bool kept) {
  const gather_known *initial = gather_step_in(step, input);
  if (rounds->max == 0 || kept)
    step->out = gather_body_output(step, initial);
  else if (rounds->min > 0)
    step->out = gather_body_output(step, value);
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
  const bool always = stored || (bodies->counts[0] > 0 && goes_on->part_count == 1 && goes_on->parts && gather_is_exact(goes_on->parts) &&
                                 goes_on->parts->min == 1);
  if (!always && rounds.min > 1) rounds.min = 1;
  return rounds;
}

/* First the carried values, then the values stacked over the rounds. Runtimes differ in the shape of what no round has made. */
static void infer_loop(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  const gather_graph *body = body_of(step);
  const int32_t carried = step->node->input_count - 2;
  if (!body || !bodies->results[0]) return;
  const gather_dim rounds = rounds_of(step), stacked = stacked_rounds(bodies, rounds);
  for (int32_t i = 0; i < step->node->output_count && i + 1 < bodies->counts[0]; i++) {
    const gather_known *value = &bodies->results[0][i + 1];
    gather_step_output(step, i);
    if (i < carried)
      set_carried(step, i + 2, value, &rounds, keeps_input(step, body, i + 2));
    else if (rounds.max == 0)
      step->out.type = value->type;
    else
      set_stacked(step, value, 0, stacked, stacked.min == 0);
  }
}

static void infer_scan(gather_step *step) {
  const gather_bodies *bodies = step->bodies;
  const gather_graph *body = body_of(step);
  const int64_t carried = scan_carried(step);
  int64_t axis_count = 0;
  if (!body || carried < 0) return;
  const int64_t *axes = gather_step_attribute(step, "scan_output_axes", &axis_count);
  const bool readable = axes || !gather_step_find(step, "scan_output_axes");
  const gather_dim rounds = rounds_of(step);
  for (int32_t i = 0; bodies->results[0] && i < step->node->output_count && i < bodies->counts[0]; i++) {
    const gather_known *value = &bodies->results[0][i];
    gather_step_output(step, i);
    if (i < carried)
      set_carried(step, i, value, &rounds, keeps_input(step, body, i));
    else if (readable && rounds.max > 0)
      set_stacked(step, value, i - carried < axis_count ? axes[i - carried] : 0, rounds,
                  false); /* ONNX Runtime refuses a Scan of length 0 */
    else
      step->out.type = value->type;
  }
}

const struct gather_rules_of_flow gather_rules_flow = {
    .branch = infer_if,
    .loop = infer_loop,
    .scan = infer_scan,
};
