/* SPDX-License-Identifier: MIT
 *
 * run_given.c: the tensors that the caller gives to a run, against what the graphs declare.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "model/model_run.h"

static const gather_value *declaration(const gather_graph *graph, const char *name, bool infos) {
  const gather_value *input = gather_graph_input(graph, name);
  if (input) return input;
  for (int64_t i = 0; infos && i < graph->info_count; i++)
    if (strcmp(graph->infos[i].name, name) == 0) return &graph->infos[i];
  return NULL;
}

/* The lengths of named dimensions, from the inputs so far. */
typedef struct symbol {
  const char *name, *input;
  int64_t len;
} symbol;

typedef struct symbols {
  symbol *at;
  int64_t count;
} symbols;

static gather_status check_symbol(symbols *known, const char *name, const char *input, int64_t len,
                                  gather_error *error) {
  for (int64_t i = 0; i < known->count; i++) {
    if (strcmp(known->at[i].name, name) != 0) continue;
    if (known->at[i].len == len) return GATHER_OK;
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                             "input '%.100s': the dimension %.60s is %" PRId64 " here and %" PRId64
                             " in the input '%.100s'",
                             input, name, len, known->at[i].len, known->at[i].input);
  }
  known->at[known->count++] = (symbol){name, input, len};
  return GATHER_OK;
}

static gather_status check_shape(const gather_value *value, const gather_tensor *tensor, symbols *known,
                                 gather_error *error) {
  char shape[160];
  if (value->rank < 0) return GATHER_OK;
  gather_shape_text(shape, sizeof shape, tensor->rank, tensor->shape);
  if (value->rank != tensor->rank)
    return gather_fail(error, GATHER_RANK_MISMATCH, "input '%.100s': the model declares rank %" PRId32 ", got %s",
                       value->name, value->rank, shape);
  for (int32_t d = 0; d < value->rank; d++) {
    const gather_dim *dim = &value->dims[d];
    if (tensor->shape[d] < dim->min || tensor->shape[d] > dim->max)
      return gather_fail(error, GATHER_SHAPE_MISMATCH,
                         "input '%.100s': the model declares %" PRId64 "%s for dimension %" PRId32 ", got %s",
                         value->name, tensor->shape[d] < dim->min ? dim->min : dim->max,
                         dim->min == dim->max          ? ""
                         : tensor->shape[d] < dim->min ? " or more"
                                                       : " or less",
                         d, shape);
    if (dim->symbol && dim->symbol[0])
      GATHER_TRY(check_symbol(known, dim->symbol, value->name, tensor->shape[d], error));
  }
  return GATHER_OK;
}

static gather_status check_declared(const gather_value *value, const gather_tensor *tensor, symbols *known,
                                    gather_error *error) {
  const gather_type_info *wanted = gather_type_get(value->type), *is = gather_type_get(tensor->type);
  if (wanted && wanted != is)
    return gather_fail(error, GATHER_TYPE_MISMATCH, "input '%.100s': the model declares %s, got %s", value->name,
                       wanted->name, is->name);
  return check_shape(value, tensor, known, error);
}

static gather_status unknown_name(const gather_running *run, const char *name, gather_error *error) {
  char known[300] = "";
  size_t at = 0;
  while (run->outer) run = run->outer;
  const gather_graph *graph = run->graph;
  for (int64_t i = 0; i < graph->input_count && at + 70 < sizeof known; i++)
    at += (size_t)snprintf(known + at, sizeof known - at, "%s'%.60s'", i ? ", " : "; it has ", graph->inputs[i].name);
  return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no input '%.100s'%s", name, known);
}

static gather_status take_input(gather_running *run, const gather_model_input *input, symbols *known,
                                gather_error *error) {
  gather_running *owner = run;
  gather_run_value *value = gather_run_named(run, input->name, &owner);
  const gather_value *declared = value ? declaration(owner->graph, value->name, run->one_node) : NULL;
  if (!value || (!run->one_node && !declared)) return unknown_name(run, input->name, error);
  if (value->given) return gather_fail(error, GATHER_USAGE, "the input '%.100s' is given twice", input->name);
  GATHER_TRY(gather_model_input_check(input, error));
  if (declared) GATHER_TRY(check_declared(declared, &input->tensor, known, error));
  gather_run_set(value, &input->tensor);
  value->tensor.flags |= GATHER_TENSOR_READ_ONLY;
  return GATHER_OK;
}

gather_status gather_run_inputs(gather_running *run, const gather_model_input *inputs, int64_t count,
                                gather_error *error) {
  int64_t ranks = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!inputs[i].name) return gather_fail(error, GATHER_USAGE, "an input has no name");
    ranks += inputs[i].tensor.rank > 0 ? inputs[i].tensor.rank : 0;
  }
  symbols known = {gather_arena_take(run->arena, ranks, (int64_t)sizeof(symbol)), 0};
  if (!known.at) return gather_run_no_memory(error);
  for (int64_t i = 0; i < count; i++) GATHER_TRY(take_input(run, &inputs[i], &known, error));
  gather_run_pass(run);
  return GATHER_OK;
}
