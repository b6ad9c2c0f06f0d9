/* SPDX-License-Identifier: MIT
 *
 * model.c: opening a model, and what is in it.
 */
#include "model/model_internal.h"

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "model/model_check.h"

static gather_status count_nodes(gather_model *model, const gather_graph *graph, int depth, gather_error *error) {
  if (depth > GATHER_MAX_DEPTH)
    return gather_fail_file(error, GATHER_UNSUPPORTED, model->file ? model->file->name : "", -1,
                            "its graphs are nested more than %d levels deep", GATHER_MAX_DEPTH);
  for (int64_t i = 0; i < graph->node_count; i++) {
    const gather_node *node = &graph->nodes[i];
    model->node_count += gather_model_is_gather(model, node);
    gather_siblings_count(model, node);
    for (int32_t k = 0; k < node->attribute_count; k++)
      if (node->attributes[k].kind == GATHER_ATTRIBUTE_GRAPH && node->attributes[k].graph)
        GATHER_TRY(count_nodes(model, node->attributes[k].graph, depth + 1, error));
  }
  return GATHER_OK;
}

/* Inputs without an initializer. A hash table finds them: models may have thousands. */
static gather_status list_inputs(gather_model *model, gather_error *error) {
  const gather_graph *graph = model->graph_file->graph;
  gather_arena names = {NULL};
  gather_scope scope;
  gather_status status = gather_scope_open(&names, graph, NULL, "", &scope, error);
  model->input_names = gather_arena_take(&model->arena, graph->input_count, sizeof *model->input_names);
  if (status == GATHER_OK && !model->input_names)
    status = gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a model's inputs");
  for (int64_t i = 0; status == GATHER_OK && i < graph->constant_count; i++)
    (void)gather_scope_make(&scope, graph->constants[i].tensor.name);
  for (int64_t i = 0; status == GATHER_OK && i < graph->input_count; i++)
    if (!gather_scope_find(&scope, graph->inputs[i].name))
      model->input_names[model->input_count++] = graph->inputs[i].name;
  gather_arena_clear(&names);
  return status;
}

static gather_status fill(gather_model *model, gather_error *error) {
  const gather_graph_file *graph_file = model->graph_file;
  if (!graph_file || !graph_file->graph)
    return gather_fail_file(error, GATHER_UNSUPPORTED, model->file ? model->file->name : "", -1,
                            "it contains tensors, not a model");
  GATHER_TRY(gather_siblings_begin(model, error));
  GATHER_TRY(count_nodes(model, graph_file->graph, 0, error));
  for (int64_t i = 0; i < graph_file->function_count; i++)
    GATHER_TRY(count_nodes(model, graph_file->functions[i].graph, 0, error));
  gather_siblings_end(model);
  return list_inputs(model, error);
}

static gather_status create(const gather_file *file, const gather_graph_file *graph_file, gather_model **model,
                            gather_error *error) {
  gather_model *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a model");
  made->file = file;
  made->graph_file = graph_file;
  gather_status status = fill(made, error);
  if (status == GATHER_OK)
    *model = made;
  else
    gather_model_close(made);
  return status;
}

gather_status gather_model_from_graph(const gather_graph_file *graph_file, gather_model **model, gather_error *error) {
  *model = NULL;
  return create(NULL, graph_file, model, error);
}

gather_status gather_model_from_file(const gather_file *file, gather_model **model, gather_error *error) {
  if (!file || !model) return gather_fail(error, GATHER_USAGE, "the file or the place for the model is NULL");
  *model = NULL;
  return create(file, gather_file_graph(file), model, error);
}

gather_status gather_model_open(const char *path, gather_model **model, gather_error *error) {
  gather_file *file = NULL;
  if (!path || !model) return gather_fail(error, GATHER_USAGE, "the path or the place for the model is NULL");
  *model = NULL;
  GATHER_TRY(gather_file_open(path, &file, error));
  gather_status status = gather_model_from_file(file, model, error);
  if (status == GATHER_OK)
    (*model)->owned = file;
  else
    gather_file_close(file);
  return status;
}

void gather_model_close(gather_model *model) {
  if (!model) return;
  gather_arena_clear(&model->arena);
  gather_file_close(model->owned);
  gather_free(model);
}

gather_status gather_model_input_check(const gather_model_input *input, gather_error *error) {
  GATHER_TRY(gather_tensor_check_input(&input->tensor, "input", error));
  if (input->tensor.data || gather_tensor_len(&input->tensor) == 0) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "the input '%.80s' has no elements: its data pointer is NULL", input->name);
}

const gather_file *gather_model_file(const gather_model *model) { return model->file; }
const char *gather_model_dialect(const gather_model *model) {
  return gather_model_is_openvino(model) ? "openvino" : "onnx";
}
int64_t gather_model_node_count(const gather_model *model) { return model->node_count; }
int64_t gather_model_input_count(const gather_model *model) { return model->input_count; }
int64_t gather_model_output_count(const gather_model *model) { return model->graph_file->graph->output_count; }

const char *gather_model_input_name(const gather_model *model, int64_t i) {
  return i >= 0 && i < model->input_count ? model->input_names[i] : NULL;
}

const char *gather_model_output_name(const gather_model *model, int64_t i) {
  const gather_graph *graph = model->graph_file->graph;
  return i >= 0 && i < graph->output_count ? graph->outputs[i].name : NULL;
}
