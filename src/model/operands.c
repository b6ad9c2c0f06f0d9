/* SPDX-License-Identifier: MIT
 *
 * operands.c: one gather node and its operands. A check gives what follows from the file. Values that the check does
 * not follow are computed as in a run, and given to a second check.
 */
#include "model/operands.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"

enum { MOST_MISSING = 8 };

struct gather_model_operands {
  gather_arena arena;
  gather_check *check;
  const gather_model_node *node;
  const char *missing[MOST_MISSING];
  int64_t missing_count;
};

/* The state of a search. */
typedef struct finding {
  const gather_model *model;
  gather_model_operands *made;
  gather_check_options options; /* inputs: those of the main graph */
  gather_model_input *inner;    /* intermediate values */
  int64_t inner_count;
  int64_t number; /* of the gather node in the check */
  gather_running run;
  gather_run_common common;
  const gather_graph *graph; /* of the node */
  gather_override *overrides;
  int64_t override_count;
} finding;

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a node's operands");
}

/* Separates inputs of the model, which a check accepts, from other values. */
static gather_status sort_inputs(finding *f, const gather_check_options *options, gather_error *error) {
  const gather_graph *graph = f->model->graph_file->graph;
  GATHER_TRY(gather_check_read_options(options, &f->options, error));
  int64_t count = f->options.input_count;
  gather_model_input *main_inputs = gather_arena_take(&f->made->arena, count, sizeof *main_inputs);
  f->inner = gather_arena_take(&f->made->arena, count, sizeof *f->inner);
  if (!main_inputs || !f->inner) return no_memory(error);
  f->options.input_count = 0;
  for (int64_t i = 0; i < count; i++) {
    gather_model_input input = f->options.inputs[i];
    const char *layer = gather_graph_input(graph, input.name) ? NULL : gather_run_layer_input(graph, input.name);
    if (layer) input.name = layer;
    if (gather_graph_input(graph, input.name))
      main_inputs[f->options.input_count++] = input;
    else
      f->inner[f->inner_count++] = input;
  }
  f->options.inputs = main_inputs;
  return GATHER_OK;
}

/* The graph that a name belongs to, seen from `graph`; NULL. */
static const gather_graph *owner_of(const gather_graph *graph, const char *name) {
  for (int depth = 0; graph && depth <= GATHER_MAX_DEPTH; graph = graph->parent, depth++) {
    for (int64_t i = 0; i < graph->node_count; i++)
      for (int32_t k = 0; k < graph->nodes[i].output_count; k++)
        if (strcmp(graph->nodes[i].outputs[k], name) == 0) return graph;
    for (int64_t i = 0; i < graph->constant_count; i++)
      if (strcmp(graph->constants[i].tensor.name, name) == 0) return graph;
    if (gather_graph_input(graph, name)) return graph;
  }
  return NULL;
}

/* A type that the model declares must be that one. Where it only follows from other values, any integer type will do: a literal
 * has no type of its own then. */
static gather_status check_fit(const finding *f, const gather_operand *operand, const gather_tensor *tensor,
                               gather_error *error) {
  gather_type declared = gather_graph_value_type(f->graph, operand->name);
  gather_type wanted = declared != GATHER_TYPE_NONE ? declared : operand->type;
  bool integers = declared == GATHER_TYPE_NONE && gather_type_is_index(wanted) && gather_type_is_index(tensor->type);
  if (wanted != GATHER_TYPE_NONE && wanted != tensor->type && !integers)
    return gather_fail(error, GATHER_TYPE_MISMATCH, "the value '%.80s' has type %s, but %s was given", operand->name,
                       gather_type_get(wanted)->name, gather_type_get(tensor->type)->name);
  if (operand->rank >= 0 && operand->rank != tensor->rank)
    return gather_fail(error, GATHER_RANK_MISMATCH,
                       "the value '%.80s' has rank %" PRId32 ", but rank %" PRId32 " was given", operand->name,
                       operand->rank, tensor->rank);
  for (int32_t d = 0; d < operand->rank; d++)
    if (tensor->shape[d] < operand->dims[d].min || tensor->shape[d] > operand->dims[d].max)
      return gather_fail(error, GATHER_SHAPE_MISMATCH,
                         "the value '%.80s' does not have the length %" PRId64 " in dimension %" PRId32, operand->name,
                         tensor->shape[d], d);
  return GATHER_OK;
}

static const gather_operand *operand_named(const gather_model_node *node, const char *name) {
  return strcmp(node->indices.name, name) == 0 ? &node->indices
         : strcmp(node->data.name, name) == 0  ? &node->data
                                               : NULL;
}

static void add_override(finding *f, const gather_graph *owner, const char *root, const char *name,
                         const gather_tensor *tensor) {
  const gather_operand *operand = operand_named(f->made->node, name);
  if (owner)
    f->overrides[f->override_count++] =
        (gather_override){owner, root, name, operand ? operand->type : GATHER_TYPE_NONE, *tensor};
}

/* Of the node's own graph, or one around it in the file. */
static void add_own(finding *f, const char *name, const gather_tensor *tensor) {
  add_override(f, owner_of(f->graph, name), f->made->check->places[f->number].root, name, tensor);
}

/* Whether no call is between the node's graph and that one. */
static bool is_near(const finding *f, const gather_running *run) {
  const gather_running *at = &f->run;
  while (at != run && !at->call && at->outer) at = at->outer;
  return at == run;
}

/* The caller's values become values of the run, and of the next check. */
static gather_status give_inner(finding *f, gather_error *error) {
  for (int64_t i = 0; i < f->inner_count; i++) {
    const gather_model_input *input = &f->inner[i];
    gather_running *owner;
    gather_run_value *value = gather_run_named(&f->run, input->name, &owner);
    const bool near = value && is_near(f, owner);
    const gather_operand *operand = near ? operand_named(f->made->node, input->name) : NULL;
    const gather_graph *graph = value ? owner_of(owner->as_stored, value->name) : NULL;
    if (!graph)
      return gather_fail(error, GATHER_NAME_NOT_FOUND,
                         "the model has no input '%.80s', nor a value of that name in %.80s", input->name,
                         f->made->node->graph);
    if (value->given) return gather_fail(error, GATHER_USAGE, "the input '%.80s' is given twice", input->name);
    GATHER_TRY(gather_model_input_check(input, error));
    if (operand) GATHER_TRY(check_fit(f, operand, &input->tensor, error));
    gather_run_set(value, &input->tensor);
    if (near)
      add_own(f, value->name, &value->tensor);
    else if (graph == f->model->graph_file->graph)
      add_override(f, graph, "main", value->name, &value->tensor);
  }
  return GATHER_OK;
}

/* The values that a check has accepted. */
static void give_main(finding *f) {
  gather_running *whole = &f->run;
  while (whole->outer) whole = whole->outer;
  for (int64_t i = 0; whole->graph == f->model->graph_file->graph && i < f->options.input_count; i++) {
    gather_run_value *value = gather_run_find(whole, f->options.inputs[i].name);
    if (value) gather_run_set(value, &f->options.inputs[i].tensor);
  }
}

/* The axis where it is an input that is not known yet; "". */
static const char *unknown_axis(const finding *f) { return f->made->node->axis_known ? "" : f->made->node->axis_name; }

static gather_status compute(finding *f, const char *name, gather_error *error) {
  gather_run_value *value = *name ? gather_run_find(&f->run, name) : NULL;
  if (!value || value->given || f->common.is_over) return GATHER_OK;
  gather_status status = gather_run_compute(&f->run, value, error);
  if (f->common.is_over) return GATHER_OK; /* too large: not known */
  if (status == GATHER_OK && value->ready && !value->unreadable && !value->dequantized)
    add_own(f, value->name, &value->tensor);
  return status;
}

static void add_missing(void *context, const char *name) {
  gather_model_operands *made = context;
  for (int64_t i = 0; i < made->missing_count; i++)
    if (strcmp(made->missing[i], name) == 0) return;
  if (made->missing_count < MOST_MISSING) made->missing[made->missing_count++] = name;
}

/* Goes from the indices, and from an axis that is an input, back to the values that must be given. */
static gather_status list_missing(finding *f, gather_error *error) {
  const gather_model_node *of = f->made->node;
  const char *const names[] = {of->indices.value ? "" : of->indices.name, unknown_axis(f)};
  return gather_run_roots(&f->run, names, 2, add_missing, f->made, error);
}

/* Inputs of the model are easier to give than intermediate values: lists the inputs that a check needs, if it can
 * follow them. */
static gather_status prefer_inputs(finding *f, gather_error *error) {
  gather_model_operands *made = f->made;
  const char *names[MOST_MISSING];
  int64_t count;
  bool inner = made->missing_count > 1;
  for (int64_t i = 0; i < made->missing_count; i++)
    inner = inner || !gather_graph_input(f->model->graph_file->graph, made->missing[i]);
  if (!inner || f->inner_count > 0) return GATHER_OK;
  GATHER_TRY(gather_operands_inputs(made->check, &f->options, f->number, &f->run, names, &count, error));
  if (count == 0) return GATHER_OK;
  made->missing_count = count;
  for (int64_t i = 0; i < count; i++) made->missing[i] = names[i];
  return GATHER_OK;
}

/* The way to the node: its path names it. A node of a function that nothing calls, or whose calls are not followed, is in no other graph. */
static void find_way(const finding *f, gather_run_way *way) {
  char path[1024];
  gather_error error;
  const gather_place *place = &f->made->check->places[f->number];
  const size_t bytes = gather_model_node_path(f->made->node, path, sizeof path);
  const bool found = bytes < sizeof path && gather_run_find_node(f->model, path, false, way, &error) == GATHER_OK;
  if (found && way->places[way->count - 1].graph == place->graph) return;
  way->places[0] = (gather_run_place){place->graph, NULL, NULL};
  way->count = 1;
}

/* Computes the values that the first check left unknown. */
static gather_status find_values(finding *f, gather_error *error) {
  gather_error why;
  gather_run_way way;
  const gather_model_node *node = f->made->node;
  find_way(f, &way);
  f->graph = way.places[way.count - 1].graph;
  f->run = (gather_running){.model = f->model,
                            .arena = &f->made->arena,
                            .executor = f->options.executor,
                            .one_node = true,
                            .skips_unreadable = true,
                            .common = &f->common};
  GATHER_TRY(gather_run_limit(&f->run, f->options.memory_bytes, error));
  f->overrides = gather_arena_take(&f->made->arena, f->inner_count + 3, sizeof *f->overrides);
  if (!f->overrides) return no_memory(error);
  GATHER_TRY(gather_run_open(&f->run, &way, error));
  give_main(f);
  GATHER_TRY(give_inner(f, error));
  gather_run_pass(&f->run);
  if (!node->indices.value) GATHER_TRY(compute(f, node->indices.name, error));
  GATHER_TRY(compute(f, unknown_axis(f), error));
  if (node->data.value) return GATHER_OK;
  gather_status status = compute(f, node->data.name, &why); /* can do without: the shape says enough */
  return status == GATHER_OUT_OF_MEMORY ? no_memory(error) : GATHER_OK;
}

static gather_status find_all(finding *f, const char *name, const gather_check_options *options, gather_error *error) {
  gather_model_operands *made = f->made;
  GATHER_TRY(sort_inputs(f, options, error));
  GATHER_TRY(gather_model_check(f->model, &f->options, &made->check, error));
  GATHER_TRY(gather_operands_choose(made->check, name, &f->number, error));
  made->node = &made->check->nodes[f->number];
  if (made->node->data.value && made->node->indices.value && !*unknown_axis(f) && f->inner_count == 0) return GATHER_OK;
  GATHER_TRY(find_values(f, error));
  if (f->override_count > 0) {
    gather_check *second;
    GATHER_TRY(gather_check_create(f->model, &f->options, f->overrides, f->override_count, &second, error));
    gather_check_destroy(made->check);
    made->check = second;
    made->node = &second->nodes[f->number];
  }
  if (made->node->indices.value && !*unknown_axis(f)) return GATHER_OK;
  GATHER_TRY(list_missing(f, error));
  return prefer_inputs(f, error);
}

gather_status gather_model_operands_find(const gather_model *model, const char *node,
                                         const gather_check_options *options, gather_model_operands **operands,
                                         gather_error *error) {
  if (!model || !operands) return gather_fail(error, GATHER_USAGE, "the model or the place for the operands is NULL");
  *operands = NULL;
  gather_model_operands *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return no_memory(error);
  finding f = {.model = model, .made = made};
  gather_status status = find_all(&f, node, options, error);
  if (status == GATHER_OK)
    *operands = made;
  else
    gather_model_operands_destroy(made);
  return status;
}

/* The type of a value of a function's body is that of the values that the call passes; only operands of the node are known. */
static gather_type type_in_call(const gather_model *model, const char *node, const char *name) {
  gather_check *check = NULL;
  gather_type type = GATHER_TYPE_NONE;
  int64_t number;
  if (gather_model_check(model, NULL, &check, NULL) != GATHER_OK) return type;
  if (gather_operands_choose(check, node, &number, NULL) == GATHER_OK) {
    const gather_operand *operand = operand_named(&check->nodes[number], name);
    if (operand) type = operand->type;
  }
  gather_check_destroy(check);
  return type;
}

gather_type gather_model_value_type(const gather_model *model, const char *node, const char *name) {
  const gather_graph *const whole = model->graph_file->graph, *graph = whole;
  gather_run_way way;
  gather_error error;
  bool is_called = false;
  if (node && gather_run_find_node(model, node, false, &way, &error) == GATHER_OK) {
    graph = way.places[way.count - 1].graph;
    for (int32_t i = 1; i < way.count; i++) is_called = is_called || way.places[i].function;
  }
  if (is_called && gather_graph_input(whole, name)) graph = whole; /* as gather_run_named does */
  gather_type type = gather_graph_value_type(graph, name);
  if (type == GATHER_TYPE_NONE && graph != whole) type = type_in_call(model, node, name);
  /* A node of a function is drawn with inputs of the model, too. */
  return type != GATHER_TYPE_NONE ? type : gather_graph_value_type(whole, name);
}

const gather_model_node *gather_model_operands_node(const gather_model_operands *operands) { return operands->node; }

const char *gather_model_operands_missing(const gather_model_operands *operands, int64_t i) {
  return i >= 0 && i < operands->missing_count ? operands->missing[i] : NULL;
}

void gather_model_operands_destroy(gather_model_operands *operands) {
  if (!operands) return;
  gather_check_destroy(operands->check);
  gather_arena_clear(&operands->arena);
  gather_free(operands);
}
