/* SPDX-License-Identifier: MIT
 *
 * operands_inputs.c: which inputs of the model would make a node's indices known. It follows the indices back to inputs
 * and tries them: a check gets zeros for them.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/operands.h"

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
static gather_status try_used(const gather_check *check, const gather_check_options *given, int64_t number,
                              gather_goal goal, const leading *found, gather_arena *arena, bool *known,
                              gather_error *error) {
  gather_check_options options = *given;
  gather_model_input *inputs = gather_arena_take(arena, given->input_count + found->count, sizeof *inputs);
  *known = false;
  if (!inputs) return no_memory(error);
  for (int64_t i = 0; i < given->input_count; i++) inputs[i] = given->inputs[i];
  for (int32_t k = 0; k < found->count; k++)
    if (found->used[k] && !zeros(check, found->inputs[k], arena, &inputs[options.input_count++]))
      return no_memory(error);
  options.inputs = inputs;
  return gather_check_probe(check->model, &options, number, goal, known, error);
}

/* Adds all inputs that were not given: any may lead to the indices. */
static void add_all(const gather_check *check, leading *found) {
  const gather_model *model = check->model;
  for (int64_t i = 0; i < model->input_count && !found->too_many; i++)
    if (!gather_check_input(check, model->input_names[i]))
      add_input(model->graph_file->graph, model->input_names[i], found);
}

/* Chooses those of the found inputs that are needed to make the indices known. */
static gather_status choose(const gather_check *check, const gather_check_options *given, int64_t number,
                            gather_goal goal, leading *found, gather_arena *arena, bool *known, gather_error *error) {
  bool still;
  *known = false;
  if (found->too_many || found->count == 0) return GATHER_OK;
  for (int round = 0; !*known && round < 2; round++) { /* integers only, then any type */
    for (int32_t k = 0; k < found->count; k++)
      found->used[k] = round == 1 || gather_type_is_index(found->inputs[k]->type);
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

gather_status gather_operands_inputs(const gather_check *check, const gather_check_options *given, int64_t number,
                                     gather_running *run, const char **names, int64_t *count, gather_error *error) {
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

gather_status gather_operands_reach(const gather_check *check, int64_t number, gather_goal goal, gather_arena *arena,
                                    const char **names, int64_t *count, gather_error *error) {
  leading found = {.count = 0};
  bool known;
  *count = 0;
  add_all(check, &found);
  GATHER_TRY(choose(check, &check->options, number, goal, &found, arena, &known, error));
  for (int32_t k = 0; known && k < found.count; k++)
    if (found.used[k]) names[(*count)++] = found.inputs[k]->name;
  return GATHER_OK;
}
