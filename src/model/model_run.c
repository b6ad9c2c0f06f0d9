/* SPDX-License-Identifier: MIT
 *
 * model_run.c: runs a model: its nodes in sequence, each once its inputs are ready. One node: the table of operators, constants, and the
 * gathers themselves.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "gather/tree.h"
#include "model/infer.h"
#include "model/model_run.h"

/* ---- one node */

static gather_status identity(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *tensor = gather_run_operand(run, node, 0);
  (void)error;
  if (!gather_run_keep_dequantized(run, node, tensor)) gather_run_give(run, node, tensor);
  return GATHER_OK;
}

/* The reader knows all others: one whose value a function's body has from its call. */
static gather_status constant(gather_running *run, const gather_node *node, gather_error *error) {
  gather_run_value *value = node->output_count > 0 && *node->outputs[0] ? gather_run_find(run, node->outputs[0]) : NULL;
  if (!value || value->ready) return GATHER_OK;
  const gather_attribute *held = gather_constant_attribute(node);
  int64_t *shape = gather_arena_take(run->arena, 1, (int64_t)sizeof *shape);
  if (!shape) return gather_run_no_memory(error);
  if (!held || !gather_attribute_tensor(held, shape, &value->tensor))
    return gather_fail(error, GATHER_UNSUPPORTED, "this form of %s is not supported", node->op);
  value->unreadable = held->tensor && held->tensor->unreadable ? held->tensor : NULL;
  value->ready = true;
  return GATHER_OK;
}

/* The type is that of the inputs, or of an attribute. */
static gather_status dequantize(gather_running *run, const gather_node *node, gather_error *error) {
  return gather_run_dequantize(run, node, GATHER_TYPE_NONE, error);
}

static gather_status read_gather_options(gather_running *run, const gather_node *node, const gather_op *op, gather_options *options,
                                         gather_error *error) {
  GATHER_TRY(gather_node_options(run->model, NULL, node, options, error));
  options->executor = run->executor;
  if (op->axis_source != GATHER_AXIS_SOURCE_INPUT) return GATHER_OK;
  const gather_tensor *axis = gather_run_operand(run, node, 2);
  if (!axis) return gather_fail_input(error, GATHER_FILE_MALFORMED, "axis", "it has no axis");
  return gather_axis_read(axis, &options->axis, error);
}

static gather_status gather_it(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_op *op = gather_model_rules(run->model, node);
  gather_options options;
  int64_t shape[GATHER_MAX_RANK];
  bool done;
  GATHER_TRY(read_gather_options(run, node, op, &options, error));
  GATHER_TRY(gather_run_gather_decoded(run, node, op, &options, &done, error));
  if (done) return GATHER_OK;
  GATHER_TRY(gather_run_decode(run, gather_run_find(run, node->inputs[0]), error));
  const gather_tensor *data = gather_run_operand(run, node, 0), *indices = gather_run_operand(run, node, 1);
  gather_tensor out = {.type = data->type, .item_bytes = data->item_bytes};
  GATHER_TRY(gather_output_shape(op, data, indices, &options, shape, &out.rank, error));
  GATHER_TRY(gather_run_shape(run, out.rank, shape, &out.shape, error));
  GATHER_TRY(gather_run_allocate(run, &out, error));
  out.flags = data->flags & GATHER_TENSOR_BYTE_SWAPPED;
  options.fresh_output = true; /* discarded after an error */
  GATHER_TRY(gather_apply(op, data, indices, &out, &options, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

static gather_status tree_it(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *in[4];
  gather_options options = GATHER_OPTIONS_INIT;
  for (int32_t i = 0; i < 4; i++) in[i] = gather_run_operand(run, node, i);
  gather_tensor out = {.type = in[0]->type, .rank = in[0]->rank, .shape = in[0]->shape};
  options.executor = run->executor;
  options.fresh_output = true; /* discarded after an error */
  GATHER_TRY(gather_run_allocate(run, &out, error));
  out.flags = in[0]->flags & GATHER_TENSOR_BYTE_SWAPPED;
  GATHER_TRY(gather_tree(in[0], in[1], in[2], in[3], &out, &options, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

static const gather_run_operation OPERATIONS[] = {
    {"Constant", 0, 0, constant, 0},   {"Const", 0, 0, NULL, 0},
    {"Parameter", 0, 0, NULL, 0},      {"Result", 1, 1, identity, 1},
    {"Identity", 1, 1, identity, 1},   {"Subtract", 2, 2, dequantize, 2},
    {"Multiply", 2, 2, dequantize, 2}, {"DequantizeLinear", 2, 3, dequantize, 0},
};

/* Operators that are computed only where they dequantise constants. */
static bool is_dequantization(const gather_run_operation *found) { return found->compute == dequantize; }

/* Operators with a function of their own, by its name. */
static const gather_run_operation *find_own(const gather_op *rules) {
  static const gather_run_operation OWN[] = {
      {"gather_tree", 4, 4, tree_it, 0},
      {"gather_scatter_apply", 3, 4, gather_run_scatter, 0},
      {"gather_tensor_scatter", 2, 3, gather_run_tensor_scatter, 0},
      {"gather_embedding_bag", 2, 6, gather_run_embedding_bag, 0},
  };
  const char *function = gather_family_get(rules->family)->function;
  for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
    if (strcmp(OWN[i].op, function) == 0) return &OWN[i];
  return NULL;
}

/* The operators of ops.def. The axis is the third input where a version of the operator takes it as one. */
static const gather_run_operation *find_gather(const gather_model *model, const gather_node *node) {
  static const gather_run_operation GATHERS[] = {{"", 2, 2, gather_it, 1}, {"", 2, 3, gather_it, 1}}, QUANTIZED = {"", 3, 4, gather_it, 0};
  const gather_run_operation *found = NULL;
  if (!gather_model_is_gather(model, node)) return NULL;
  const gather_op *rules = gather_model_rules(model, node);
  if (gather_op_is_quantized(rules)) return &QUANTIZED;
  if (gather_op_has_function(rules)) return find_own(rules);
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    bool is_input = op->axis_source == GATHER_AXIS_SOURCE_INPUT;
    if (strcmp(op->name, node->op) == 0 && (!found || is_input)) found = &GATHERS[is_input];
  }
  return found;
}

/* ONNX Runtime's DequantizeLinear differs from ONNX's in its types only. */
static bool is_microsoft_linear(const gather_model *model, const gather_node *node) {
  return !gather_model_is_openvino(model) && strcmp(node->domain, "com.microsoft") == 0 && strcmp(node->op, "DequantizeLinear") == 0;
}

static const gather_run_operation *find_operation(const gather_model *model, const gather_node *node) {
  const bool own = gather_run_is_own(model, node) || is_microsoft_linear(model, node);
  for (size_t i = 0; own && i < sizeof OPERATIONS / sizeof *OPERATIONS; i++)
    if (strcmp(OPERATIONS[i].op, node->op) == 0) return &OPERATIONS[i];
  for (const gather_run_operation *found = gather_run_operators; own && found->op; found++)
    if (strcmp(found->op, node->op) == 0) return found;
  return find_gather(model, node);
}

/* Whether a node can be computed here: by its operator; an arithmetic one only if it dequantises constants. */
static bool supports(const gather_running *run, const gather_node *node) {
  const gather_run_operation *found = find_operation(run->model, node);
  if (!found || (found->compute == gather_it && !gather_model_rules(run->model, node))) return false;
  return !is_dequantization(found) || gather_run_dequantizes(run, node);
}

/* Whether the node needs only the shapes of its inputs. */
static bool needs_shape(const gather_model *model, const gather_node *node) {
  return gather_run_is_own(model, node) && (strcmp(node->op, "Shape") == 0 || strcmp(node->op, "ShapeOf") == 0);
}

/* Checks that a value's elements can be read; fails as gather_file_tensor_check does. */
static gather_status check_elements(const gather_run_value *value, gather_error *error) {
  return value->unreadable ? gather_file_tensor_check(value->unreadable, error) : GATHER_OK;
}

/* Puts the node's name before the message. */
static gather_status name_node(const gather_node *node, gather_error *error, gather_status status) {
  char message[sizeof error->message];
  if (!error) return status;
  memcpy(message, error->message, sizeof message);
  int room = (int)sizeof message - 160;
  (void)snprintf(error->message, sizeof error->message, "node '%.100s': %.*s", gather_run_name(node), room, message);
  return status;
}

/* The elements of a node's inputs must be readable, unless it needs only their shapes. */
static gather_status check_readable(const gather_running *run, const gather_node *node, gather_error *error) {
  if (needs_shape(run->model, node)) return GATHER_OK;
  for (int32_t i = 0; i < node->input_count; i++) {
    const gather_run_value *value = *node->inputs[i] ? gather_run_find(run, node->inputs[i]) : NULL;
    if (value) GATHER_TRY(check_elements(value, error));
  }
  return GATHER_OK;
}

/* Checks that node number i can read its constants from the file. */
static gather_status check_constants(gather_running *run, int64_t i, gather_error *error) {
  const gather_node *node = &run->graph->nodes[i];
  gather_status status = check_readable(run, node, error);
  if (status == GATHER_OK) return GATHER_OK;
  run->common->at = node;
  return name_node(node, error, status);
}

static gather_status compute(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_run_operation *found = find_operation(run->model, node);
  if (node->input_count < found->least || node->input_count > found->most)
    return gather_fail(error, GATHER_FILE_MALFORMED, "%s has %d inputs", node->op, (int)node->input_count);
  for (int32_t i = 0; i < found->least; i++)
    if (!gather_run_operand(run, node, i)) return gather_fail(error, GATHER_FILE_MALFORMED, "%s lacks its input %d", node->op, (int)i);
  GATHER_TRY(check_readable(run, node, error));
  for (int32_t i = found->dequantized; i < node->input_count; i++)
    if (*node->inputs[i]) GATHER_TRY(gather_run_decode(run, gather_run_find(run, node->inputs[i]), error));
  if (found->compute) return found->compute(run, node, error);
  for (int32_t i = 0; i < node->output_count; i++) {
    gather_run_value *value = gather_run_find(run, node->outputs[i]);
    if (value && !value->ready) return gather_fail(error, GATHER_UNSUPPORTED, "this form of %s is not supported", node->op);
  }
  return GATHER_OK;
}

static bool makes_output(const gather_running *run, const gather_node *node) {
  bool wanted = false;
  for (int32_t i = 0; i < node->output_count && !wanted; i++) {
    const gather_run_value *value = *node->outputs[i] ? gather_run_find(run, node->outputs[i]) : NULL;
    wanted = value && value->wanted;
  }
  return wanted;
}

/* Computes a node whose inputs are all ready. */
static gather_status run_node(gather_running *run, const gather_node *node, gather_error *error) {
  run->common->at = node;
  run->for_output = makes_output(run, node);
  gather_status status = compute(run, node, error);
  return status == GATHER_OK ? GATHER_OK : name_node(node, error, status);
}

/* ---- values that nothing computes */

/* A search for values that nothing computes: nodes of one graph that lead to them, and values of the graph around it. */
typedef struct roots {
  gather_running *run;
  const gather_node **stack;
  bool *seen;
  int64_t height;
  const char **around;
  int32_t around_count;
  void (*add)(void *context, const char *name);
  void *context;
} roots;

static gather_status open_roots(roots *r, gather_error *error) {
  const gather_running *run = r->run;
  r->stack = gather_arena_take(run->arena, run->graph->node_count + 1, sizeof *r->stack);
  r->seen = gather_arena_take(run->arena, run->graph->node_count, sizeof *r->seen);
  r->around = gather_arena_take(run->arena, run->value_count, sizeof *r->around);
  r->height = r->around_count = 0;
  return r->stack && r->seen && r->around ? GATHER_OK : gather_run_no_memory(error);
}

/* Whether a node can use the value: with skips_unreadable, of one whose elements cannot be read, only the shape is
 * usable. */
static bool is_usable(const gather_running *run, const gather_node *node, const gather_run_value *value) {
  if (!value->ready) return false;
  return !run->skips_unreadable || !value->unreadable || needs_shape(run->model, node);
}

/* Looks at a value that a node cannot use. */
static void look(roots *r, gather_run_value *value) {
  const gather_graph *graph = r->run->graph;
  if (value->asked) return;
  value->asked = true;
  if (!value->ready && value->source)
    r->around[r->around_count++] = value->source;
  else if (value->ready || value->producer < 0 || !supports(r->run, &graph->nodes[value->producer]))
    r->add(r->context, value->name);
  else if (!r->seen[value->producer]) {
    r->seen[value->producer] = true;
    r->stack[r->height++] = &graph->nodes[value->producer];
  }
}

gather_status gather_run_roots(gather_running *run, const char *const *names, int32_t count, void (*add)(void *context, const char *name),
                               void *context, gather_error *error) {
  roots r = {.run = run, .add = add, .context = context};
  for (; r.run && count > 0; r.run = r.run->outer) {
    gather_node first = {.op = "", .domain = "", .inputs = names, .input_count = count};
    GATHER_TRY(open_roots(&r, error));
    for (r.stack[r.height++] = &first; r.height > 0;) {
      const gather_node *node = r.stack[--r.height];
      for (int32_t i = 0; i < node->input_count; i++) {
        gather_run_value *value = *node->inputs[i] ? gather_run_find(r.run, node->inputs[i]) : NULL;
        if (value && !is_usable(r.run, node, value)) look(&r, value);
      }
    }
    names = r.around;
    count = r.around_count;
  }
  return GATHER_OK;
}

/* ---- options and results */

static gather_status read_options(const gather_model_run_options *options, gather_model_run_options *full, gather_error *error) {
  static const gather_model_run_options INIT = GATHER_MODEL_RUN_OPTIONS_INIT;
  *full = INIT;
  return gather_struct_read(full, sizeof *full, options, "gather_model_run_options", "GATHER_MODEL_RUN_OPTIONS_INIT", error);
}

void gather_model_result_destroy(gather_model_result *result) {
  if (!result) return;
  gather_arena_clear(&result->arena);
  gather_free(result);
}

const gather_model_input *gather_model_result_at(const gather_model_result *result, int64_t i) {
  return i >= 0 && i < result->output_count ? &result->outputs[i] : NULL;
}

/* ---- the order of nodes */

/* A value of the graph around this one is computed there. */
static gather_status inherit(gather_running *run, gather_run_value *value, gather_error *error) {
  if (value->ready || !value->source) return GATHER_OK;
  gather_run_value *outer = gather_run_find(run->outer, value->source);
  if (outer) GATHER_TRY(gather_run_compute(run->outer, outer, error));
  gather_run_inherit(value, outer);
  return GATHER_OK;
}

/* The first input of a node that waits for another node: its number; -1 = none. A value that nothing produces is an
 * error, or is marked missing. */
static gather_status next_needed(gather_running *run, const gather_node *node, int64_t *needed, gather_error *error) {
  *needed = -1;
  for (int32_t i = 0; i < node->input_count; i++) {
    gather_run_value *value = *node->inputs[i] ? gather_run_find(run, node->inputs[i]) : NULL;
    if (value && value->source && !value->missing) GATHER_TRY(inherit(run, value, error));
    if (!value || value->ready || value->missing) continue;
    if (value->producer >= 0 && run->states[value->producer] == GATHER_RUN_WAITING && supports(run, &run->graph->nodes[value->producer])) {
      *needed = value->producer;
      return GATHER_OK;
    }
    run->common->at = node;
    if (value->producer >= 0 && run->states[value->producer] == GATHER_RUN_OPEN)
      return gather_fail(error, GATHER_FILE_MALFORMED, "the nodes around '%.100s' form a cycle", value->name);
    value->missing = true;
    if (!run->one_node) return gather_fail(error, GATHER_FILE_MALFORMED, "nothing in the model produces the value '%.100s'", value->name);
  }
  return GATHER_OK;
}

static bool lacks_inputs(const gather_running *run, const gather_node *node) {
  for (int32_t i = 0; i < node->input_count; i++) {
    const gather_run_value *value = *node->inputs[i] ? gather_run_find(run, node->inputs[i]) : NULL;
    if (value && !is_usable(run, node, value)) return true;
  }
  return false;
}

/* Computes a node. If only one node is wanted, the outputs of nodes that lack inputs are missing. */
static gather_status finish_node(gather_running *run, int64_t number, gather_error *error) {
  const gather_node *node = &run->graph->nodes[number];
  run->states[number] = GATHER_RUN_DONE;
  if (!lacks_inputs(run, node)) return run_node(run, node, error);
  for (int32_t i = 0; i < node->output_count; i++) {
    gather_run_value *value = *node->outputs[i] ? gather_run_find(run, node->outputs[i]) : NULL;
    if (value && !value->ready) value->missing = true;
  }
  return GATHER_OK;
}

/* Computes a node, after the nodes that it needs. stack: an entry per node of the graph; a node is on it once. */
static gather_status run_from(gather_running *run, int64_t number, int64_t *stack, gather_error *error) {
  int64_t height = 0, needed;
  if (run->states[number] == GATHER_RUN_DONE) return GATHER_OK;
  stack[height++] = number;
  while (height > 0) {
    number = stack[height - 1];
    run->states[number] = GATHER_RUN_OPEN;
    GATHER_TRY(next_needed(run, &run->graph->nodes[number], &needed, error));
    if (needed >= 0) {
      stack[height++] = needed;
      continue;
    }
    height--;
    GATHER_TRY(finish_node(run, number, error));
  }
  return GATHER_OK;
}

gather_status gather_run_compute(gather_running *run, gather_run_value *value, gather_error *error) {
  GATHER_TRY(inherit(run, value, error));
  if (value->ready || value->producer < 0 || !supports(run, &run->graph->nodes[value->producer])) return GATHER_OK;
  int64_t *stack = gather_arena_take(run->arena, run->graph->node_count + 1, (int64_t)sizeof *stack);
  return stack ? run_from(run, value->producer, stack, error) : gather_run_no_memory(error);
}

/* ---- what is to be run */

/* A gather node of an unknown version. */
static gather_status fail_version(gather_running *run, const gather_node *node, gather_error *error) {
  char text[400];
  gather_model_version_text(run->model, node, text, sizeof text);
  run->common->at = node;
  return gather_fail(error, GATHER_UNSUPPORTED, "node '%.100s' is %.60s, which cannot be run: %s", gather_run_name(node), node->op, text);
}

static bool lacks_version(const gather_running *run, const gather_node *node) {
  return gather_model_is_gather(run->model, node) && !gather_model_rules(run->model, node);
}

/* Rejects an unsupported operator, before any work. */
static gather_status check_operators(gather_running *run, gather_error *error) {
  for (int64_t i = 0; i < run->graph->node_count; i++) {
    const gather_node *node = &run->graph->nodes[i];
    if (supports(run, node)) continue;
    if (lacks_version(run, node)) return fail_version(run, node, error);
    run->common->at = node;
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "node '%.100s' is %.60s%s%.60s, which cannot be run: only gather nodes and some operators around them can; "
                       "a single gather node can be run: name it (--node NAME, node=)",
                       gather_run_name(node), node->op, *node->domain ? " of " : "", node->domain);
  }
  return GATHER_OK;
}

/* Sequences and similar values could pass through, and are not tensors. */
static gather_status check_tensors(const gather_value *values, int64_t count, const char *what, gather_error *error) {
  for (int64_t i = 0; i < count; i++)
    if (values[i].no_tensor)
      return gather_fail(error, GATHER_UNSUPPORTED, "the %s '%.100s' of the model is not a tensor", what, values[i].name);
  return GATHER_OK;
}

static gather_status add_name(char *list, size_t bytes, const char *name) {
  size_t at = strlen(list);
  if (at + 8 < bytes) (void)snprintf(list + at, bytes - at, "%s'%.80s'", at ? ", " : "", name);
  return GATHER_OK;
}

/* Says which inputs of the model were not given. */
static gather_status check_inputs(const gather_running *run, gather_error *error) {
  char missing[300] = "";
  for (int64_t i = 0; i < run->graph->input_count; i++)
    if (!gather_run_find(run, run->graph->inputs[i].name)->ready) (void)add_name(missing, sizeof missing, run->graph->inputs[i].name);
  if (!*missing) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "missing inputs of the model: %s", missing);
}

static gather_status collect(gather_running *run, gather_model_result *result, int64_t i, const char *name, gather_error *error) {
  gather_run_value *value = gather_run_find(run, name);
  run->for_output = true;
  if (!value || !value->ready) return gather_fail(error, GATHER_FILE_MALFORMED, "nothing in the model produces the output '%.100s'", name);
  GATHER_TRY(check_elements(value, error));
  GATHER_TRY(gather_run_decode(run, value, error));
  result->outputs[i].name = name;
  GATHER_TRY(gather_run_dense(run, &value->tensor, &result->outputs[i].tensor, error));
  result->outputs[i].tensor.flags |= GATHER_TENSOR_READ_ONLY;
  return GATHER_OK;
}

static gather_status take_room(gather_running *run, gather_model_result *result, int64_t outputs, int64_t **stack, gather_error *error) {
  result->output_count = outputs;
  result->outputs = gather_arena_take(run->arena, outputs, (int64_t)sizeof *result->outputs);
  *stack = gather_arena_take(run->arena, run->graph->node_count + 1, (int64_t)sizeof **stack);
  return result->outputs && *stack ? GATHER_OK : gather_run_no_memory(error);
}

/* Says which node needs elements that cannot be read, before any work. */
static gather_status check_files(gather_running *run, gather_error *error) {
  for (int64_t i = 0; i < run->graph->node_count; i++) GATHER_TRY(check_constants(run, i, error));
  return GATHER_OK;
}

static void want(const gather_running *run, const char *name) {
  gather_run_value *value = *name ? gather_run_find(run, name) : NULL;
  if (value) value->wanted = true;
}

static gather_status run_graph(gather_running *run, gather_model_result *result, gather_error *error) {
  const gather_graph *graph = run->graph;
  int64_t *stack;
  for (int64_t i = 0; i < graph->output_count; i++) want(run, graph->outputs[i].name);
  GATHER_TRY(check_files(run, error));
  GATHER_TRY(check_inputs(run, error));
  GATHER_TRY(take_room(run, result, graph->output_count, &stack, error));
  for (int64_t i = 0; i < graph->node_count; i++) GATHER_TRY(run_from(run, i, stack, error));
  run->common->at = NULL;
  for (int64_t i = 0; i < graph->output_count; i++) GATHER_TRY(collect(run, result, i, graph->outputs[i].name, error));
  return GATHER_OK;
}

enum { MISSING_BYTES = 300 };

static void add_missing(void *context, const char *name) { (void)add_name(context, MISSING_BYTES, name); }

/* Says which of the missing values are inputs of a function that its call leaves out. */
static void say_omitted(const gather_running *run, char *text, size_t bytes) {
  text[0] = '\0';
  for (; run && run->outer; run = run->outer)
    for (int64_t i = 0; run->call && i < run->graph->input_count && !*text; i++) {
      const gather_run_value *value = gather_run_find(run, run->graph->inputs[i].name);
      if (!value || !value->asked || value->ready || value->source || value->producer >= 0) continue;
      (void)snprintf(text, bytes, "; '%.60s' is an input of the function '%.60s' that the call '%.60s' omits", value->name,
                     run->function->name, gather_run_name(run->call));
    }
}

static gather_status run_one(gather_running *run, const gather_node *node, gather_model_result *result, gather_error *error) {
  char missing[MISSING_BYTES] = "";
  int64_t *stack;
  for (int32_t i = 0; i < node->output_count; i++) want(run, node->outputs[i]);
  GATHER_TRY(take_room(run, result, node->output_count, &stack, error));
  GATHER_TRY(check_constants(run, node - run->graph->nodes, error));
  GATHER_TRY(run_from(run, node - run->graph->nodes, stack, error));
  GATHER_TRY(gather_run_roots(run, node->inputs, node->input_count, add_missing, missing, error));
  run->common->at = node;
  if (*missing) {
    char omitted[260];
    say_omitted(run, omitted, sizeof omitted);
    return gather_fail(error, GATHER_USAGE, "node '%.100s': missing inputs: %s%s", gather_run_name(node), missing, omitted);
  }
  for (int32_t i = 0; i < node->output_count; i++) GATHER_TRY(collect(run, result, i, node->outputs[i], error));
  return GATHER_OK;
}

static gather_status check_node(gather_running *run, const gather_node *node, gather_error *error) {
  if (supports(run, node)) return GATHER_OK;
  if (lacks_version(run, node)) return fail_version(run, node, error);
  run->common->at = node;
  return gather_fail(error, GATHER_UNSUPPORTED, "node '%.100s' is %.60s, which is not supported", gather_run_name(node), node->op);
}

static gather_status run_what(gather_running *run, const char *name, const gather_model_input *inputs, int64_t count,
                              gather_model_result *result, gather_error *error) {
  gather_run_way way = {.places = {{run->model->graph_file->graph, NULL, NULL}}, .count = 1};
  const gather_node *node = NULL;
  if (name) {
    GATHER_TRY(gather_run_find_node(run->model, name, true, &way, error));
    run->one_node = true;
  }
  const gather_run_place *last = &way.places[way.count - 1];
  GATHER_TRY(gather_run_open(run, &way, error));
  if (name) {
    node = &run->graph->nodes[last->node - last->graph->nodes];
    GATHER_TRY(check_node(run, node, error));
  } else {
    GATHER_TRY(check_operators(run, error));
    run->common->at = NULL;
    GATHER_TRY(check_tensors(run->graph->inputs, run->graph->input_count, "input", error));
    GATHER_TRY(check_tensors(run->graph->outputs, run->graph->output_count, "output", error));
  }
  GATHER_TRY(gather_run_inputs(run, inputs, count, error));
  return node ? run_one(run, node, result, error) : run_graph(run, result, error);
}

gather_status gather_model_run(const gather_model *model, const gather_model_input *inputs, int64_t input_count,
                               const gather_model_run_options *options, gather_model_result **result, gather_error *error) {
  gather_model_run_options full;
  *result = NULL;
  if (!model || input_count < 0 || (input_count > 0 && !inputs))
    return gather_fail(error, GATHER_USAGE, "the model is NULL, or the inputs are NULL but their count is above 0");
  GATHER_TRY(read_options(options, &full, error));
  gather_model_result *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_run_no_memory(error);
  gather_run_common common = {.at = NULL};
  gather_running run = {.model = model, .arena = &made->arena, .executor = full.executor, .common = &common};
  gather_status status = gather_run_limit(&run, full.memory_bytes, error);
  if (status == GATHER_OK) status = gather_model_check_names(model, error);
  if (status == GATHER_OK) status = run_what(&run, full.node, inputs, input_count, made, error);
  if (full.failed_node) *full.failed_node = status != GATHER_OK && common.at ? gather_run_name(common.at) : "";
  if (status == GATHER_OK)
    *result = made;
  else
    gather_model_result_destroy(made);
  return status;
}
