/* SPDX-License-Identifier: MIT
 *
 * onnx_graph.c: reads graphs and functions, and lists all their constants.
 */
#include <stdio.h>
#include <string.h>

#include "io/format/onnx/onnx.h"

#ifdef GATHER_HAVE_NANOPB

enum { NODE = 1, NAME = 2, INITIALIZER = 5, INPUT = 11, OUTPUT = 12, INFO = 13, SPARSE = 15 };

/* The lists of a graph under construction. */
typedef struct graph_lists {
  gather_value *inputs, *outputs, *infos;
  gather_constant *constants;
} graph_lists;

static gather_status read_field(gather_onnx *onnx, const gather_proto_field *field, gather_graph *graph,
                                const graph_lists *l) {
  if (field->number == NAME) return gather_onnx_text(onnx, field, &graph->name);
  if (field->number != INITIALIZER && field->number != INPUT && field->number != OUTPUT && field->number != INFO &&
      field->number != SPARSE)
    return GATHER_OK;
  GATHER_TRY(gather_onnx_is(onnx, field, GATHER_PROTO_BYTES));
  gather_constant *constant;
  switch (field->number) {
    case INPUT:
      return gather_onnx_value(onnx, field->inner, &l->inputs[graph->input_count++]);
    case OUTPUT:
      return gather_onnx_value(onnx, field->inner, &l->outputs[graph->output_count++]);
    case INFO:
      return gather_onnx_value(onnx, field->inner, &l->infos[graph->info_count++]);
    default:
      constant = &l->constants[graph->constant_count++];
      constant->is_initializer = true;
      return field->number == SPARSE ? gather_onnx_sparse(onnx, field->inner, &constant->tensor)
                                     : gather_onnx_tensor(onnx, field->inner, &constant->tensor);
  }
}

static gather_status make_lists(gather_onnx *onnx, gather_proto message, gather_graph *graph, graph_lists *l) {
  int64_t counts[16];
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, counts[INPUT], sizeof *l->inputs, &l->inputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[OUTPUT], sizeof *l->outputs, &l->outputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[INFO], sizeof *l->infos, &l->infos));
  GATHER_TRY(gather_onnx_take(onnx, counts[INITIALIZER] + counts[SPARSE], sizeof *l->constants, &l->constants));
  graph->inputs = l->inputs;
  graph->outputs = l->outputs;
  graph->infos = l->infos;
  graph->constants = l->constants;
  return GATHER_OK;
}

gather_status gather_onnx_graph(gather_onnx *onnx, gather_proto message, gather_graph *parent, const char *path,
                                int depth, gather_graph **graph) {
  graph_lists l;
  gather_proto rest = message;
  if (depth > GATHER_ONNX_DEPTH_MAX)
    return GATHER_ONNX_WRONG(onnx, message.at, "graphs are nested deeper than %d levels", GATHER_ONNX_DEPTH_MAX);
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof **graph, graph));
  (*graph)->name = "";
  (*graph)->parent = parent;
  GATHER_TRY(gather_onnx_scope_add(onnx, *graph, path));
  GATHER_TRY(make_lists(onnx, message, *graph, &l));
  GATHER_TRY(gather_onnx_external_open(onnx, message, INITIALIZER));
  for (;;) {
    gather_proto_field field;
    GATHER_TRY(gather_onnx_next(onnx, &rest, &field));
    if (field.number == 0) break;
    GATHER_TRY(read_field(onnx, &field, *graph, &l));
  }
  return gather_onnx_nodes(onnx, message, NODE, *graph, path, depth);
}

/* ---- functions */

enum {
  FUNCTION_INPUT = 4,
  FUNCTION_OUTPUT = 5,
  FUNCTION_NODE = 7,
  FUNCTION_IMPORT = 9,
  FUNCTION_DOMAIN = 10,
  FUNCTION_DEFAULT = 11,
  FUNCTION_INFO = 12,
  FUNCTION_OVERLOAD = 13
};

static gather_status read_names(gather_onnx *onnx, gather_proto message, gather_function *function,
                                const graph_lists *l) {
  gather_graph *graph = function->graph;
  for (;;) {
    gather_proto_field field;
    gather_value *value = NULL;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number == 1) GATHER_TRY(gather_onnx_text(onnx, &field, &function->name));
    if (field.number == FUNCTION_OVERLOAD) GATHER_TRY(gather_onnx_text(onnx, &field, &function->overload));
    if (field.number == FUNCTION_DOMAIN) GATHER_TRY(gather_onnx_domain(onnx, &field, &function->domain));
    if (field.number == FUNCTION_INPUT) value = &l->inputs[graph->input_count++];
    if (field.number == FUNCTION_OUTPUT) value = &l->outputs[graph->output_count++];
    if (field.number == FUNCTION_INFO) {
      GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
      GATHER_TRY(gather_onnx_value(onnx, field.inner, &l->infos[graph->info_count++]));
    }
    if (!value) continue;
    *value = (gather_value){.name = "", .type = GATHER_TYPE_NONE, .rank = -1};
    GATHER_TRY(gather_onnx_text(onnx, &field, &value->name));
  }
}

/* The attributes with a default. Nodes of the body are not read yet: a graph among them is one of its own. */
static gather_status read_defaults(gather_onnx *onnx, gather_proto message, int64_t count, const char *path,
                                   gather_function *function) {
  gather_attribute *defaults = NULL;
  if (count > INT32_MAX) return GATHER_ONNX_WRONG(onnx, message.at, "a function has too many attributes");
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *defaults, &defaults));
  function->defaults = defaults;
  for (;;) {
    gather_proto_field field;
    int32_t places = 0;
    GATHER_TRY(gather_onnx_next(onnx, &message, &field));
    if (field.number == 0) return GATHER_OK;
    if (field.number != FUNCTION_DEFAULT) continue;
    GATHER_TRY(gather_onnx_is(onnx, &field, GATHER_PROTO_BYTES));
    GATHER_TRY(gather_onnx_attribute(onnx, field.inner, NULL, path, 1, NULL, &places));
    if (places != 1) continue; /* a list of graphs: nothing here uses one */
    places = 0;
    GATHER_TRY(gather_onnx_attribute(onnx, field.inner, function->graph, path, 1, &defaults[function->default_count],
                                     &places));
    function->default_count += places;
  }
}

gather_status gather_onnx_function(gather_onnx *onnx, gather_proto message, gather_function *function) {
  int64_t counts[16];
  graph_lists l;
  gather_graph *graph = NULL;
  GATHER_TRY(gather_onnx_count(onnx, message, 16, counts));
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *graph, &graph));
  *function = (gather_function){.domain = "", .name = "", .overload = "", .graph = graph};
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION_INPUT], sizeof *l.inputs, &l.inputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION_OUTPUT], sizeof *l.outputs, &l.outputs));
  GATHER_TRY(gather_onnx_take(onnx, counts[FUNCTION_INFO], sizeof *l.infos, &l.infos));
  graph->inputs = l.inputs;
  graph->outputs = l.outputs;
  graph->infos = l.infos;
  GATHER_TRY(read_names(onnx, message, function, &l));
  GATHER_TRY(gather_onnx_imports_read(onnx, message, FUNCTION_IMPORT));
  graph->name = function->name;
  char path[256];
  int length =
      snprintf(path, sizeof path, "%s%s%s/", function->domain, function->domain[0] != '\0' ? "." : "", function->name);
  if (length < 0 || (size_t)length >= sizeof path) (void)snprintf(path, sizeof path, "%.100s/", function->name);
  const char *kept = gather_arena_text(&onnx->file->arena, path, strlen(path));
  if (!kept)
    return gather_fail_file(onnx->error, GATHER_OUT_OF_MEMORY, onnx->file->name, -1, "no memory for a function's name");
  GATHER_TRY(gather_onnx_scope_add(onnx, graph, kept));
  GATHER_TRY(read_defaults(onnx, message, counts[FUNCTION_DEFAULT], kept, function));
  return gather_onnx_nodes(onnx, message, FUNCTION_NODE, graph, kept, 1);
}

/* ---- the file's tensors */

gather_status gather_onnx_scope_add(gather_onnx *onnx, const gather_graph *graph, const char *path) {
  gather_onnx_scope *scope = NULL;
  GATHER_TRY(gather_onnx_take(onnx, 1, sizeof *scope, &scope));
  *scope = (gather_onnx_scope){.graph = graph, .path = path};
  *onnx->last = scope;
  onnx->last = &scope->next;
  onnx->scopes++;
  return GATHER_OK;
}

static gather_status full_name(gather_onnx *onnx, const char *path, const char *name, const char **full) {
  size_t before = strlen(path), length = strlen(name);
  char *text = NULL;
  *full = name;
  if (before == 0) return GATHER_OK;
  GATHER_TRY(gather_onnx_take(onnx, (int64_t)(before + length) + 1, 1, &text));
  memcpy(text, path, before);
  memcpy(text + before, name, length);
  *full = text;
  return GATHER_OK;
}

gather_status gather_onnx_list_tensors(gather_onnx *onnx) {
  gather_file *file = onnx->file;
  int64_t count = 0;
  const char **plain = NULL;
  for (const gather_onnx_scope *scope = onnx->first; scope; scope = scope->next) count += scope->graph->constant_count;
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *file->tensors, &file->tensors));
  GATHER_TRY(gather_onnx_take(onnx, count, sizeof *plain, &plain));
  file->plain_names = plain;
  for (const gather_onnx_scope *scope = onnx->first; scope; scope = scope->next)
    for (int64_t i = 0; i < scope->graph->constant_count; i++) {
      gather_file_tensor *tensor = &file->tensors[file->len];
      *tensor = scope->graph->constants[i].tensor;
      plain[file->len++] = tensor->name;
      GATHER_TRY(full_name(onnx, scope->path, tensor->name, &tensor->name));
    }
  return GATHER_OK;
}

#endif
