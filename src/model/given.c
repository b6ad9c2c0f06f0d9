/* SPDX-License-Identifier: MIT
 *
 * given.c: what a check is given beyond the file: tensors for inputs, and lengths for dimensions that have a name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "model/model_check.h"
#include "model/model_run.h"

const gather_model_input *gather_check_input(const gather_check *check, const char *name) {
  for (int64_t i = 0; i < check->options.input_count; i++)
    if (strcmp(check->options.inputs[i].name, name) == 0) return &check->options.inputs[i];
  return NULL;
}

gather_dim gather_check_dim(const gather_check *check, const gather_dim *dim) {
  for (int64_t i = 0; dim->symbol && i < check->dim_count; i++)
    if (strcmp(check->dims[i].name, dim->symbol) == 0)
      return (gather_dim){check->dims[i].len, check->dims[i].len, dim->symbol};
  return *dim;
}

static bool has_dim(const gather_value *values, int64_t count, const char *name) {
  for (int64_t i = 0; i < count; i++)
    for (int32_t d = 0; d < values[i].rank; d++)
      if (values[i].dims[d].symbol && strcmp(values[i].dims[d].symbol, name) == 0) return true;
  return false;
}

bool gather_check_names(const gather_check *check, const char *name) {
  const gather_graph *graph = check->model->graph_file->graph;
  for (int64_t i = 0; i < check->options.dim_count; i++)
    if (strcmp(check->options.dims[i].name, name) == 0) return !has_dim(graph->inputs, graph->input_count, name);
  return false;
}

bool gather_check_borrows(const gather_check *check, const gather_dim *dim) {
  for (int64_t i = 0; dim->symbol && i < check->options.dim_count; i++)
    if (strcmp(check->options.dims[i].name, dim->symbol) == 0) return false;
  return dim->symbol && gather_is_exact(dim);
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
  for (int64_t i = 0; i < model->input_count && at < sizeof names; i++) {
    int wrote = snprintf(names + at, sizeof names - at, "%s'%.60s'", i ? ", " : "", model->input_names[i]);
    at += wrote > 0 ? (size_t)wrote : 0;
  }
  return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no input '%.80s'; it has %s", name,
                     model->input_count ? names : "none");
}

static gather_status check_dim(const gather_check *check, const gather_model_dim *dim, gather_error *error) {
  const gather_graph *graph = check->model->graph_file->graph;
  if (dim->len < 0)
    return gather_fail(error, GATHER_SHAPE_MISMATCH, "the dimension '%.80s' cannot have the length %" PRId64, dim->name,
                       dim->len);
  if (!has_dim(graph->inputs, graph->input_count, dim->name) &&
      !has_dim(graph->outputs, graph->output_count, dim->name) && !has_dim(graph->infos, graph->info_count, dim->name))
    return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no dimension '%.80s'", dim->name);
  return GATHER_OK;
}

/* Records the length of a named dimension; fails if it has another length already. */
static gather_status bind(gather_check *check, const char *name, int64_t len, const char *where, gather_error *error) {
  for (int64_t i = 0; i < check->dim_count; i++) {
    if (strcmp(check->dims[i].name, name) != 0) continue;
    if (check->dims[i].len == len) return GATHER_OK;
    return gather_fail(error, GATHER_SHAPE_MISMATCH,
                       "the dimension '%.80s' is %" PRId64 " in %.80s, and %" PRId64 " elsewhere", name, len, where,
                       check->dims[i].len);
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
    if (strcmp(other->name, input->name) == 0)
      return gather_fail(error, GATHER_USAGE, "the input '%.80s' is given twice", input->name);
  if (value->type != GATHER_TYPE_NONE && value->type != tensor->type)
    return gather_fail(error, GATHER_TYPE_MISMATCH, "the input '%.80s' is declared as %s, but %s was given",
                       input->name, gather_type_get(value->type)->name, gather_type_get(tensor->type)->name);
  if (value->rank >= 0 && value->rank != tensor->rank)
    return gather_fail(error, GATHER_RANK_MISMATCH,
                       "the input '%.80s' has rank %" PRId32 ", but rank %" PRId32 " was given", input->name,
                       value->rank, tensor->rank);
  for (int32_t d = 0; d < value->rank; d++) {
    const gather_dim *dim = &value->dims[d];
    if (tensor->shape[d] < dim->min || tensor->shape[d] > dim->max)
      return gather_fail(error, GATHER_SHAPE_MISMATCH,
                         "the input '%.80s' has the length %" PRId64 " in dimension %" PRId32 ", and %" PRId64
                         " was given",
                         input->name, dim->min, d, tensor->shape[d]);
    if (dim->symbol) GATHER_TRY(bind(check, dim->symbol, tensor->shape[d], input->name, error));
  }
  return GATHER_OK;
}

gather_status gather_check_read_options(const gather_check_options *options, gather_check_options *full,
                                        gather_error *error) {
  *full = (gather_check_options)GATHER_CHECK_OPTIONS_INIT;
  GATHER_TRY(
      gather_struct_read(full, sizeof *full, options, "gather_check_options", "GATHER_CHECK_OPTIONS_INIT", error));
  if (full->input_count < 0 || full->dim_count < 0 || (full->input_count > 0 && !full->inputs) ||
      (full->dim_count > 0 && !full->dims))
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
  for (int64_t i = 0; i < check->options.input_count; i++)
    GATHER_TRY(bind_input(check, &check->options.inputs[i], error));
  return GATHER_OK;
}
