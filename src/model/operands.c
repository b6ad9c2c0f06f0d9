/* SPDX-License-Identifier: MIT
 *
 * operands.c: one gather node and its operands. A check gives what follows from the file. Values that the check does not follow are
 * computed as in a run, and given to a second check. And which inputs of the model would make a node known: those that lead to it are
 * tried, a check gets zeros for them.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/model_check.h"
#include "model/model_run.h"

/* ---- inputs that would make a node known */

/* Inputs of the main graph that were not given and lead to a node's indices. */
typedef struct leading {
  const gather_value *inputs[GATHER_MOST_LEADING];
  bool used[GATHER_MOST_LEADING];
  int32_t count;
  bool too_many;
} leading;

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a node's operands");
}

static void add_input(const gather_graph *graph, const char *name, leading *found) {
  for (int32_t k = 0; k < found->count; k++)
    if (strcmp(found->inputs[k]->name, name) == 0) return;
  const gather_value *input = gather_graph_input(graph, name);
  if (!input) return;
  found->too_many = found->too_many || found->count == GATHER_MOST_LEADING;
  if (!found->too_many) found->inputs[found->count++] = input;
}

static gather_status follow_back(gather_running *run, const char *indices, leading *found, gather_error *error) {
  const gather_graph *graph = run->graph;
  const gather_node **stack = gather_arena_take(run->arena, graph->node_count + 1, sizeof *stack);
  bool *seen = gather_arena_take(run->arena, graph->node_count, sizeof *seen);
  gather_node first = {.inputs = &indices, .input_count = 1};
  int64_t height = 0;
  if (!stack || !seen) return no_memory(error);
  for (stack[height++] = &first; height > 0;) {
    const gather_node *node = stack[--height];
    for (int32_t i = 0; i < node->input_count; i++) {
      const gather_run_value *value = *node->inputs[i] ? gather_run_find(run, node->inputs[i]) : NULL;
      if (!value || value->ready) continue;
      if (value->producer < 0)
        add_input(graph, value->name, found);
      else if (!seen[value->producer]) {
        seen[value->producer] = true;
        stack[height++] = &graph->nodes[value->producer];
      }
    }
  }
  return GATHER_OK;
}

/* Zeros that fit the input: one element in memory, repeated. */
static bool zeros(const gather_check *check, const gather_value *input, gather_arena *arena, gather_model_input *made) {
  static char ZEROS[64];
  int32_t rank = input->rank < 0 ? 1 : input->rank;
  int64_t *shape = gather_arena_take(arena, rank, sizeof *shape), *strides;
  strides = gather_arena_take(arena, rank, sizeof *strides);
  if (!shape || !strides) return false;
  for (int32_t d = 0; d < rank; d++) {
    const gather_dim any = {0, GATHER_DIM_UNBOUNDED, NULL};
    gather_dim dim = input->rank < 0 ? any : gather_check_dim(check, &input->dims[d]);
    shape[d] = dim.min > 1 || dim.max < 1 ? dim.min : 1;
    strides[d] = 0;
  }
  made->name = input->name;
  made->tensor = (gather_tensor){.data = ZEROS,
                                 .type = input->type == GATHER_TYPE_NONE ? GATHER_TYPE_INT64 : input->type,
                                 .rank = rank,
                                 .shape = shape,
                                 .strides = strides,
                                 .flags = GATHER_TENSOR_READ_ONLY};
  return true;
}

/* Whether zeros for the used ones make the indices known. */
static gather_status try_used(const gather_check *check, const gather_check_options *given, int64_t number, gather_goal goal,
                              const leading *found, gather_arena *arena, bool *known, gather_error *error) {
  gather_check_options options = *given;
  gather_model_input *inputs = gather_arena_take(arena, given->input_count + found->count, sizeof *inputs);
  *known = false;
  if (!inputs) return no_memory(error);
  for (int64_t i = 0; i < given->input_count; i++) inputs[i] = given->inputs[i];
  for (int32_t k = 0; k < found->count; k++)
    if (found->used[k] && !zeros(check, found->inputs[k], arena, &inputs[options.input_count++])) return no_memory(error);
  options.inputs = inputs;
  return gather_check_probe(check->model, &options, number, goal, known, error);
}

/* Adds all inputs that were not given: any may lead to the indices. */
static void add_all(const gather_check *check, leading *found) {
  const gather_model *model = check->model;
  for (int64_t i = 0; i < model->info.input_count && !found->too_many; i++)
    if (!gather_check_input(check, model->info.inputs[i])) add_input(model->graph_file->graph, model->info.inputs[i], found);
}

/* Chooses those of the found inputs that are needed to make the indices known. */
static gather_status choose(const gather_check *check, const gather_check_options *given, int64_t number, gather_goal goal, leading *found,
                            gather_arena *arena, bool *known, gather_error *error) {
  bool still;
  *known = false;
  if (found->too_many || found->count == 0) return GATHER_OK;
  for (int round = 0; !*known && round < 2; round++) { /* integers only, then any type */
    for (int32_t k = 0; k < found->count; k++) found->used[k] = round == 1 || gather_type_is_index(found->inputs[k]->type);
    GATHER_TRY(try_used(check, given, number, goal, found, arena, known, error));
  }
  for (int32_t k = 0; *known && k < found->count; k++) {
    if (!found->used[k]) continue;
    found->used[k] = false;
    GATHER_TRY(try_used(check, given, number, goal, found, arena, &still, error));
    found->used[k] = !still;
  }
  return GATHER_OK;
}

/* The further inputs of the model that a check needs to know the node's indices: at most 8, in names. None if inputs
 * are not enough, or if the node is in an inner graph. */
static gather_status inputs_for_indices(const gather_check *check, const gather_check_options *given, int64_t number, gather_running *run,
                                        const char **names, int64_t *count, gather_error *error) {
  bool known = false, is_main = run->graph == check->model->graph_file->graph;
  leading found = {.count = 0};
  *count = 0;
  if (is_main) {
    GATHER_TRY(follow_back(run, check->nodes[number].indices.name, &found, error));
    GATHER_TRY(choose(check, given, number, GATHER_GOAL_INDICES, &found, run->arena, &known, error));
  }
  if (!known) { /* values that the graphs of an If use are not among its inputs */
    found = (leading){.count = 0};
    add_all(check, &found);
    GATHER_TRY(choose(check, given, number, GATHER_GOAL_INDICES, &found, run->arena, &known, error));
  }
  for (int32_t k = 0; known && k < found.count; k++)
    if (found.used[k]) names[(*count)++] = found.inputs[k]->name;
  return GATHER_OK;
}

gather_status gather_operands_reach(const gather_check *check, int64_t number, gather_goal goal, gather_arena *arena, const char **names,
                                    int64_t *count, gather_error *error) {
  leading found = {.count = 0};
  bool known;
  *count = 0;
  add_all(check, &found);
  GATHER_TRY(choose(check, &check->options, number, goal, &found, arena, &known, error));
  for (int32_t k = 0; known && k < found.count; k++)
    if (found.used[k]) names[(*count)++] = found.inputs[k]->name;
  return GATHER_OK;
}

/* ---- the operands of a node */

enum { MOST_MISSING = 8 };

struct gather_model_operands {
  gather_arena arena;
  gather_check *check;
  const gather_model_node *node;
  const char *missing[MOST_MISSING];
  int64_t missing_count;
  gather_model_operands_info info; /* when they are found */
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

static gather_type type_in(const gather_graph *graph, const char *name) {
  const gather_value *input = gather_graph_input(graph, name);
  if (input) return input->type;
  for (int64_t i = 0; i < graph->info_count; i++)
    if (strcmp(graph->infos[i].name, name) == 0) return graph->infos[i].type;
  for (int64_t i = 0; i < graph->constant_count; i++)
    if (strcmp(graph->constants[i].tensor.name, name) == 0) return graph->constants[i].tensor.tensor.type;
  return GATHER_TYPE_NONE;
}

/* The type that a graph, or an enclosing one, declares for a value; GATHER_TYPE_NONE. */
static gather_type declared_type(const gather_graph *graph, const char *name) {
  gather_type type = GATHER_TYPE_NONE;
  for (int depth = 0; graph && type == GATHER_TYPE_NONE && depth < GATHER_RUN_DEEPEST; graph = graph->parent, depth++) {
    const char *layer = gather_run_layer_input(graph, name);
    type = type_in(graph, name);
    if (type == GATHER_TYPE_NONE && layer) type = type_in(graph, layer);
  }
  return type;
}

/* A type that the model declares must be that one. Where it only follows from other values, any integer type will do: a literal
 * has no type of its own then. */
static gather_status check_fit(const finding *f, const gather_operand *operand, const gather_tensor *tensor, gather_error *error) {
  gather_type declared = declared_type(f->graph, operand->name);
  gather_type wanted = declared != GATHER_TYPE_NONE ? declared : operand->type;
  bool integers = declared == GATHER_TYPE_NONE && gather_type_is_index(wanted) && gather_type_is_index(tensor->type);
  if (wanted != GATHER_TYPE_NONE && wanted != tensor->type && !integers)
    return gather_fail(error, GATHER_TYPE_MISMATCH, "the value '%.80s' has type %s, but %s was given", operand->name,
                       gather_type_get(wanted)->name, gather_type_get(tensor->type)->name);
  if (operand->rank >= 0 && operand->rank != tensor->rank)
    return gather_fail(error, GATHER_RANK_MISMATCH, "the value '%.80s' has rank %" PRId32 ", but rank %" PRId32 " was given", operand->name,
                       operand->rank, tensor->rank);
  for (int32_t d = 0; d < operand->rank; d++)
    if (tensor->shape[d] < operand->dims[d].min || tensor->shape[d] > operand->dims[d].max)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "the value '%.80s' does not have the length %" PRId64 " in dimension %" PRId32,
                         operand->name, tensor->shape[d], d);
  return GATHER_OK;
}

static const gather_operand *operand_named(const gather_model_node *node, const char *name) {
  return strcmp(node->indices.name, name) == 0 ? &node->indices : strcmp(node->data.name, name) == 0 ? &node->data : NULL;
}

static void add_override(finding *f, const gather_graph *owner, const char *root, const char *name, const gather_tensor *tensor) {
  const gather_operand *operand = operand_named(f->made->node, name);
  if (owner) f->overrides[f->override_count++] = (gather_override){owner, root, name, operand ? operand->type : GATHER_TYPE_NONE, *tensor};
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
      return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no input '%.80s', nor a value of that name in %.80s", input->name,
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
  if (status == GATHER_OK && value->ready && !value->unreadable && !value->dequantized) add_own(f, value->name, &value->tensor);
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
  for (int64_t i = 0; i < made->missing_count; i++) inner = inner || !gather_graph_input(f->model->graph_file->graph, made->missing[i]);
  if (!inner || f->inner_count > 0) return GATHER_OK;
  GATHER_TRY(inputs_for_indices(made->check, &f->options, f->number, &f->run, names, &count, error));
  if (count == 0) return GATHER_OK;
  made->missing_count = count;
  for (int64_t i = 0; i < count; i++) made->missing[i] = names[i];
  return GATHER_OK;
}

/* The way to the node: its path names it. A node of a function that nothing calls, or whose calls are not followed, is in no other
 * graph. */
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
  GATHER_TRY(gather_check_choose(made->check, name, &f->number, error));
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

gather_status gather_model_operands_find(const gather_model *model, const char *node, const gather_check_options *options,
                                         gather_model_operands **operands, gather_error *error) {
  if (!model || !operands) return gather_fail(error, GATHER_USAGE, "the model or the place for the operands is NULL");
  *operands = NULL;
  gather_model_operands *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return no_memory(error);
  finding f = {.model = model, .made = made};
  gather_status status = find_all(&f, node, options, error);
  made->info = (gather_model_operands_info){made->node, made->missing, made->missing_count};
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
  if (gather_check_choose(check, node, &number, NULL) == GATHER_OK) {
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
  gather_type type = declared_type(graph, name);
  if (type == GATHER_TYPE_NONE && graph != whole) type = type_in_call(model, node, name);
  /* A node of a function is drawn with inputs of the model, too. */
  return type != GATHER_TYPE_NONE ? type : declared_type(whole, name);
}

const gather_model_operands_info *gather_model_operands_describe(const gather_model_operands *operands) { return &operands->info; }

void gather_model_operands_destroy(gather_model_operands *operands) {
  if (!operands) return;
  gather_check_destroy(operands->check);
  gather_arena_clear(&operands->arena);
  gather_free(operands);
}
