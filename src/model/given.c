/* SPDX-License-Identifier: MIT
 *
 * given.c: what a caller gives beyond the file, against what the model declares: to a check tensors for inputs, and lengths for dimensions
 * that have a name; to a run tensors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "model/model_check.h"
#include "model/model_run.h"

/* ---- to a check */

const gather_model_input *gather_check_input(const gather_check *check, const char *name) {
  for (int64_t i = 0; i < check->options.input_count; i++)
    if (strcmp(check->options.inputs[i].name, name) == 0) return &check->options.inputs[i];
  return NULL;
}

gather_dim gather_check_dim(const gather_check *check, const gather_dim *dim) {
  for (int64_t i = 0; dim->symbol && i < check->dim_count; i++)
    if (strcmp(check->dims[i].name, dim->symbol) == 0) return (gather_dim){check->dims[i].len, check->dims[i].len, dim->symbol};
  return *dim;
}

static bool has_dim(const gather_value *values, int64_t count, const char *name) {
  for (int64_t i = 0; i < count; i++)
    for (int32_t d = 0; d < values[i].rank; d++)
      if (values[i].dims[d].symbol && strcmp(values[i].dims[d].symbol, name) == 0) return true;
  return false;
}

gather_dim_giver gather_check_dim_giver(const gather_check *check, const char *name) {
  const gather_graph *graph = check->model->graph_file->graph;
  for (int64_t i = 0; i < check->options.dim_count; i++)
    if (strcmp(check->options.dims[i].name, name) == 0)
      return has_dim(graph->inputs, graph->input_count, name) ? GATHER_DIM_OF_INPUT : GATHER_DIM_OF_ITS_OWN;
  return GATHER_DIM_OF_OTHERS;
}

static const gather_value *find_input(const gather_check *check, const char *name) {
  return gather_graph_input(check->model->graph_file->graph, name);
}

/* The name of the input's value, if the caller used another name of it (OpenVINO IR). */
static const char *own_name(const gather_check *check, const char *name) {
  const char *other = find_input(check, name) ? NULL : gather_run_layer_input(check->model->graph_file->graph, name);
  return other && find_input(check, other) ? other : name;
}

static gather_status no_input(const gather_check *check, const char *name, gather_error *error) {
  char names[256] = "";
  size_t at = 0;
  const gather_model *model = check->model;
  for (int64_t i = 0; i < model->info.input_count && at < sizeof names; i++) {
    int wrote = snprintf(names + at, sizeof names - at, "%s'%.60s'", i ? ", " : "", model->info.inputs[i]);
    at += wrote > 0 ? (size_t)wrote : 0;
  }
  return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no input '%.80s'; it has %s", name,
                     model->info.input_count ? names : "none");
}

/* Appends the names that the text does not have yet; a long list is cut after a whole name. */
static void list_dims(const gather_value *values, int64_t count, char *names, size_t bytes) {
  for (int64_t i = 0; i < count; i++)
    for (int32_t d = 0; d < values[i].rank; d++) {
      char quoted[64];
      const char *symbol = values[i].dims[d].symbol;
      const size_t at = strlen(names);
      if (!symbol || !*symbol) continue;
      (void)snprintf(quoted, sizeof quoted, "'%.60s'", symbol);
      if (strstr(names, quoted) || at + strlen(quoted) + 3 > bytes) continue;
      (void)snprintf(names + at, bytes - at, "%s%s", at ? ", " : "", quoted);
    }
}

static gather_status no_dim(const gather_graph *graph, const char *name, gather_error *error) {
  char names[256] = "";
  list_dims(graph->inputs, graph->input_count, names, sizeof names);
  list_dims(graph->outputs, graph->output_count, names, sizeof names);
  list_dims(graph->infos, graph->info_count, names, sizeof names);
  return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no dimension '%.80s'; it has %s", name,
                     *names ? names : "none with a name");
}

static gather_status check_dim(const gather_check *check, const gather_model_dim *dim, gather_error *error) {
  const gather_graph *graph = check->model->graph_file->graph;
  if (dim->len < 0)
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "the dimension '%.80s' cannot have the length %" PRId64, dim->name, dim->len);
  if (!has_dim(graph->inputs, graph->input_count, dim->name) && !has_dim(graph->outputs, graph->output_count, dim->name) &&
      !has_dim(graph->infos, graph->info_count, dim->name))
    return no_dim(graph, dim->name, error);
  return GATHER_OK;
}

/* Records the length of a named dimension; fails if it has another length already. */
static gather_status bind(gather_check *check, const char *name, int64_t len, const char *where, gather_error *error) {
  for (int64_t i = 0; i < check->dim_count; i++) {
    if (strcmp(check->dims[i].name, name) != 0) continue;
    if (check->dims[i].len == len) return GATHER_OK;
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "the dimension '%.80s' is %" PRId64 " in %.80s, and %" PRId64 " elsewhere", name, len,
                       where, check->dims[i].len);
  }
  check->dims[check->dim_count++] = (gather_model_dim){name, len};
  return GATHER_OK;
}

static gather_status bind_input(gather_check *check, const gather_model_input *input, gather_error *error) {
  const gather_value *value = find_input(check, input->name);
  const gather_tensor *tensor = &input->tensor;
  if (!value) return no_input(check, input->name, error);
  GATHER_TRY(gather_model_input_check(input, error));
  for (const gather_model_input *other = check->options.inputs; other != input; other++)
    if (strcmp(other->name, input->name) == 0) return gather_fail(error, GATHER_USAGE, "the input '%.80s' is given twice", input->name);
  if (value->type != GATHER_TYPE_NONE && value->type != tensor->type)
    return gather_fail(error, GATHER_TYPE_MISMATCH, "the input '%.80s' is declared as %s, but %s was given", input->name,
                       gather_type_get(value->type)->name, gather_type_get(tensor->type)->name);
  if (value->rank >= 0 && value->rank != tensor->rank)
    return gather_fail(error, GATHER_RANK_MISMATCH, "the input '%.80s' has rank %" PRId32 ", but rank %" PRId32 " was given", input->name,
                       value->rank, tensor->rank);
  for (int32_t d = 0; d < value->rank; d++) {
    const gather_dim *dim = &value->dims[d];
    if (tensor->shape[d] < dim->min || tensor->shape[d] > dim->max)
      return gather_fail(error, GATHER_SHAPE_MISMATCH,
                         "the input '%.80s' has the length %" PRId64 " in dimension %" PRId32 ", and %" PRId64 " was given", input->name,
                         dim->min, d, tensor->shape[d]);
    if (dim->symbol) GATHER_TRY(bind(check, dim->symbol, tensor->shape[d], input->name, error));
  }
  return GATHER_OK;
}

gather_status gather_check_read_options(const gather_check_options *options, gather_check_options *full, gather_error *error) {
  *full = (gather_check_options)GATHER_CHECK_OPTIONS_INIT;
  GATHER_TRY(gather_struct_read(full, sizeof *full, options, "gather_check_options", "GATHER_CHECK_OPTIONS_INIT", error));
  if (full->input_count < 0 || full->dim_count < 0 || (full->input_count > 0 && !full->inputs) || (full->dim_count > 0 && !full->dims))
    return gather_fail(error, GATHER_USAGE, "inputs or dims is NULL, but its count is above 0, or a count is below 0");
  for (int64_t i = 0; i < full->input_count; i++)
    if (!full->inputs[i].name) return gather_fail(error, GATHER_USAGE, "an input has no name");
  for (int64_t i = 0; i < full->dim_count; i++)
    if (!full->dims[i].name) return gather_fail(error, GATHER_USAGE, "a dimension has no name");
  return GATHER_OK;
}

gather_status gather_check_given(gather_check *check, const gather_check_options *options, gather_error *error) {
  GATHER_TRY(gather_check_read_options(options, &check->options, error));
  gather_model_input *inputs = gather_arena_take(&check->arena, check->options.input_count, sizeof *inputs);
  if (!inputs) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the inputs");
  for (int64_t i = 0; i < check->options.input_count; i++) {
    inputs[i] = check->options.inputs[i];
    inputs[i].name = own_name(check, inputs[i].name);
  }
  check->options.inputs = inputs;
  int64_t room = check->options.dim_count;
  for (int64_t i = 0; i < check->options.input_count; i++) {
    const gather_value *value = find_input(check, check->options.inputs[i].name);
    if (value && value->rank > 0) room += value->rank;
  }
  check->dims = gather_arena_take(&check->arena, room, sizeof *check->dims);
  if (!check->dims) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the dimensions");
  for (int64_t i = 0; i < check->options.dim_count; i++) {
    const gather_model_dim *dim = &check->options.dims[i];
    GATHER_TRY(check_dim(check, dim, error));
    GATHER_TRY(bind(check, dim->name, dim->len, "what was given", error));
  }
  for (int64_t i = 0; i < check->options.input_count; i++) GATHER_TRY(bind_input(check, &check->options.inputs[i], error));
  return GATHER_OK;
}

/* ---- to a run */

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

static gather_status check_symbol(symbols *known, const char *name, const char *input, int64_t len, gather_error *error) {
  for (int64_t i = 0; i < known->count; i++) {
    if (strcmp(known->at[i].name, name) != 0) continue;
    if (known->at[i].len == len) return GATHER_OK;
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                             "input '%.100s': the dimension %.60s is %" PRId64 " here and %" PRId64 " in the input '%.100s'", input, name,
                             len, known->at[i].len, known->at[i].input);
  }
  known->at[known->count++] = (symbol){name, input, len};
  return GATHER_OK;
}

static gather_status check_shape(const gather_value *value, const gather_tensor *tensor, symbols *known, gather_error *error) {
  char shape[160];
  if (value->rank < 0) return GATHER_OK;
  gather_shape_text(shape, sizeof shape, tensor->rank, tensor->shape);
  if (value->rank != tensor->rank)
    return gather_fail(error, GATHER_RANK_MISMATCH, "input '%.100s': the model declares rank %" PRId32 ", got %s", value->name, value->rank,
                       shape);
  for (int32_t d = 0; d < value->rank; d++) {
    const gather_dim *dim = &value->dims[d];
    if (tensor->shape[d] < dim->min || tensor->shape[d] > dim->max)
      return gather_fail(error, GATHER_SHAPE_MISMATCH, "input '%.100s': the model declares %" PRId64 "%s for dimension %" PRId32 ", got %s",
                         value->name, tensor->shape[d] < dim->min ? dim->min : dim->max,
                         dim->min == dim->max          ? ""
                         : tensor->shape[d] < dim->min ? " or more"
                                                       : " or less",
                         d, shape);
    if (dim->symbol && dim->symbol[0]) GATHER_TRY(check_symbol(known, dim->symbol, value->name, tensor->shape[d], error));
  }
  return GATHER_OK;
}

static gather_status check_declared(const gather_value *value, const gather_tensor *tensor, symbols *known, gather_error *error) {
  const gather_type_info *wanted = gather_type_get(value->type), *is = gather_type_get(tensor->type);
  if (wanted && wanted != is)
    return gather_fail(error, GATHER_TYPE_MISMATCH, "input '%.100s': the model declares %s, got %s", value->name, wanted->name, is->name);
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

static gather_status take_input(gather_running *run, const gather_model_input *input, symbols *known, gather_error *error) {
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

gather_status gather_run_inputs(gather_running *run, const gather_model_input *inputs, int64_t count, gather_error *error) {
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
