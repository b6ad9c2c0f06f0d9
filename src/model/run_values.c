/* SPDX-License-Identifier: MIT
 *
 * run_values.c: the values of a run: by name (constants of the file, outputs of nodes, and those of graphs around it), and their memory and
 * dense copies.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/system/machine.h"
#include "gather/file.h"
#include "model/model_run.h"

/* ---- memory and copies */

gather_status gather_run_no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while running the model");
}

gather_status gather_run_shape(gather_running *run, int32_t rank, const int64_t *lengths, const int64_t **shape, gather_error *error) {
  int64_t *copy = gather_arena_take(run->arena, rank, (int64_t)sizeof *copy);
  if (!copy) return gather_run_no_memory(error);
  if (rank > 0) memcpy(copy, lengths, (size_t)rank * sizeof *copy);
  *shape = copy;
  return GATHER_OK;
}

gather_status gather_run_limit(gather_running *run, int64_t memory_bytes, gather_error *error) {
  const int64_t most = INT64_C(512) << 20, usable = gather_usable_memory();
  if (memory_bytes < 0) return gather_fail(error, GATHER_USAGE, "memory_bytes is %" PRId64, memory_bytes);
  run->common->inner_left = memory_bytes > 0 ? memory_bytes : usable / 8 < most ? usable / 8 : most;
  run->common->all_left = usable > run->common->inner_left ? usable : run->common->inner_left;
  return GATHER_OK;
}

/* A few bytes are always granted: a shape, or a list of axes. */
static gather_status spend(gather_running *run, int64_t bytes, gather_error *error) {
  enum { FEW = 4096 };
  char needed[32], left[32];
  const bool is_output = run->for_output;
  const int64_t most = is_output || run->common->all_left < run->common->inner_left ? run->common->all_left : run->common->inner_left;
  if (bytes <= FEW) return GATHER_OK;
  if (bytes > most) {
    run->common->is_over = true;
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "it needs %s, but only %s of the memory limit%s are left",
                       gather_text_bytes(bytes, needed, sizeof needed), gather_text_bytes(most, left, sizeof left),
                       is_output ? "" : " for values between nodes");
  }
  run->common->all_left -= bytes;
  if (!is_output) run->common->inner_left -= bytes;
  return GATHER_OK;
}

gather_status gather_run_allocate(gather_running *run, gather_tensor *tensor, gather_error *error) {
  tensor->strides = NULL;
  tensor->packed_offset = 0;
  tensor->data = NULL;
  GATHER_TRY(gather_tensor_check(
      &(gather_tensor){.data = run, .type = tensor->type, .rank = tensor->rank, .shape = tensor->shape, .item_bytes = tensor->item_bytes},
      error));
  GATHER_TRY(spend(run, gather_tensor_bytes(tensor), error));
  tensor->data = gather_arena_take(run->arena, 1, gather_tensor_bytes(tensor));
  return tensor->data ? GATHER_OK : gather_run_no_memory(error);
}

static bool is_dense(const gather_tensor *tensor) {
  if (tensor->packed_offset != 0) return false;
  if (!tensor->strides) return true;
  int64_t own[GATHER_MAX_RANK], dense[GATHER_MAX_RANK];
  gather_tensor flat = *tensor;
  flat.strides = NULL;
  gather_tensor_strides(tensor, own);
  gather_tensor_strides(&flat, dense);
  for (int32_t d = 0; d < tensor->rank; d++)
    if (tensor->shape[d] != 1 && own[d] != dense[d]) return false;
  return true;
}

/* A gather by a tuple without numbers takes all of data: a copy, whatever the type and strides. A scalar becomes a row first. */
gather_status gather_run_copy(gather_running *run, const gather_tensor *tensor, const gather_tensor *out, gather_error *error) {
  static const int64_t ONE[1] = {1};
  gather_tensor from = *tensor, to = *out;
  if (from.rank == 0) from.rank = to.rank = 1, from.shape = to.shape = ONE, from.strides = NULL;
  int64_t none = 0;
  gather_tensor indices = {.data = &none, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &none};
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = run->executor;
  return gather_apply(gather_op_find("GatherND", "openvino-8"), &from, &indices, &to, &options, error);
}

/* Whether the padding bits after the last element of a row-major packed tensor are 0; in a view of a file they may be
 * anything. */
static bool ends_clean(const gather_tensor *tensor) {
  static const int64_t NUMBERS[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const gather_type_info *type = gather_type_get(tensor->type);
  int64_t rest = gather_tensor_len(tensor) % type->group_len, groups = gather_tensor_len(tensor) / type->group_len;
  unsigned char clean[4] = {0};
  if (!gather_type_is_packed(type) || rest == 0) return true;
  const unsigned char *last = (const unsigned char *)tensor->data + groups * type->group_bytes;
  gather_tensor from = {.data = (void *)(uintptr_t)last, .type = tensor->type, .rank = 1, .shape = &rest};
  gather_tensor to = {.data = clean, .type = tensor->type, .rank = 1, .shape = &rest};
  gather_tensor all = {.data = (void *)(uintptr_t)NUMBERS, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &rest};
  return gather_take(&from, &all, 0, &to, NULL) == GATHER_OK && memcmp(clean, last, (size_t)type->group_bytes) == 0;
}

gather_status gather_run_dense(gather_running *run, const gather_tensor *tensor, gather_tensor *dense, gather_error *error) {
  *dense = *tensor;
  dense->strides = NULL;
  if (gather_tensor_len(tensor) == 0 || (is_dense(tensor) && ends_clean(tensor))) return GATHER_OK;
  dense->flags = tensor->flags & GATHER_TENSOR_BYTE_SWAPPED;
  GATHER_TRY(gather_run_allocate(run, dense, error));
  return gather_run_copy(run, tensor, dense, error);
}

/* ---- the values of a graph by name */

static int64_t hash(const char *name, int64_t buckets) {
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
  return (int64_t)((h ^ h >> 32) & (uint64_t)(buckets - 1));
}

gather_run_value *gather_run_find(const gather_running *run, const char *name) {
  for (gather_run_value *value = run->buckets[hash(name, run->bucket_count)]; value; value = value->next)
    if (strcmp(value->name, name) == 0) return value;
  return NULL;
}

const gather_tensor *gather_run_operand(const gather_running *run, const gather_node *node, int32_t i) {
  if (i >= node->input_count || !*node->inputs[i]) return NULL;
  gather_run_value *value = gather_run_find(run, node->inputs[i]);
  return value && value->ready ? &value->tensor : NULL;
}

void gather_run_give(gather_running *run, const gather_node *node, const gather_tensor *tensor) {
  if (node->output_count < 1 || !*node->outputs[0]) return;
  gather_run_value *value = gather_run_find(run, node->outputs[0]);
  if (value->given) return;
  value->tensor = *tensor;
  value->ready = true;
}

/* The value of that name, added if missing; NULL without memory. */
static gather_run_value *ensure(gather_running *run, const char *name) {
  gather_run_value *value = gather_run_find(run, name);
  if (value) return value;
  value = gather_arena_take(run->arena, 1, (int64_t)sizeof *value);
  if (!value) return NULL;
  value->name = name;
  value->producer = -1;
  gather_run_value **bucket = &run->buckets[hash(name, run->bucket_count)];
  value->next = *bucket;
  *bucket = value;
  run->value_count++;
  return value;
}

static gather_status add_constants(gather_running *run, const gather_graph *graph, gather_error *error) {
  for (int64_t i = 0; i < graph->constant_count; i++) {
    const gather_constant *constant = &graph->constants[i];
    gather_run_value *value = ensure(run, constant->tensor.name);
    if (!value) return gather_run_no_memory(error);
    if (value->ready) continue;
    value->tensor = constant->tensor.tensor;
    value->unreadable = constant->tensor.unreadable ? &constant->tensor : NULL;
    value->ready = true;
  }
  return GATHER_OK;
}

static gather_status add_outputs(gather_running *run, int64_t number, gather_error *error) {
  const gather_node *node = &run->graph->nodes[number];
  for (int32_t k = 0; k < node->output_count; k++) {
    if (!*node->outputs[k]) continue;
    gather_run_value *value = ensure(run, node->outputs[k]);
    if (!value) return gather_run_no_memory(error);
    if (value->producer >= 0)
      return gather_fail_file(error, GATHER_FILE_MALFORMED, "the model", node->file_offset, "two nodes produce the value '%.100s'",
                              node->outputs[k]);
    if (strcmp(node->op, "Parameter") != 0) value->producer = number; /* the caller gives the value of a Parameter */
  }
  return GATHER_OK;
}

/* Every input of a node has a value too, so that the caller may give it. */
static gather_status add_inputs(gather_running *run, const gather_node *node, gather_error *error) {
  for (int32_t k = 0; k < node->input_count; k++)
    if (*node->inputs[k] && !ensure(run, node->inputs[k])) return gather_run_no_memory(error);
  return GATHER_OK;
}

static int64_t count_names(const gather_graph *graph) {
  int64_t count = graph->input_count + graph->constant_count;
  for (int64_t i = 0; i < graph->node_count; i++) count += (int64_t)graph->nodes[i].output_count + graph->nodes[i].input_count;
  return count;
}

/* Makes the table: constants, and which node produces which value. */
static gather_status make_table(gather_running *run, gather_error *error) {
  const gather_graph *graph = run->graph;
  int64_t names = count_names(graph);
  for (run->bucket_count = 16; run->bucket_count < names; run->bucket_count *= 2) {
  }
  run->buckets = gather_arena_take(run->arena, run->bucket_count, (int64_t)sizeof(gather_run_value *));
  run->states = gather_arena_take(run->arena, graph->node_count, 1);
  if (!run->buckets || !run->states) return gather_run_no_memory(error);
  GATHER_TRY(add_constants(run, graph, error));
  for (int64_t i = 0; i < graph->node_count; i++) {
    GATHER_TRY(add_outputs(run, i, error));
    GATHER_TRY(add_inputs(run, &graph->nodes[i], error));
  }
  for (int64_t i = 0; i < graph->input_count; i++)
    if (!ensure(run, graph->inputs[i].name)) return gather_run_no_memory(error);
  return GATHER_OK;
}

/* ---- the graphs around the node that is run. A subgraph sees the values of the graphs that it is in; the body of a function has those
 * that its call passes, by other names, and its attributes */

/* What an attribute of a function's body stands for: that of the call, else the function's default, else nothing. */
static const gather_attribute *stands_for(const gather_running *run, const gather_attribute *attribute) {
  while (run && !run->call) run = run->outer;
  if (attribute->kind != GATHER_ATTRIBUTE_REFERENCE || !run) return attribute;
  return gather_function_attribute(run->function, run->call, attribute->text.text);
}

static bool has_references(const gather_node *node) {
  bool has = false;
  for (int32_t k = 0; k < node->attribute_count && !has; k++) has = node->attributes[k].kind == GATHER_ATTRIBUTE_REFERENCE;
  return has;
}

static gather_status resolve_node(const gather_running *run, gather_node *node, gather_error *error) {
  const gather_node stored = *node;
  gather_attribute *made = gather_arena_take(run->arena, stored.attribute_count, sizeof *made);
  if (!made) return gather_run_no_memory(error);
  node->attributes = made;
  node->attribute_count = 0;
  for (int32_t k = 0; k < stored.attribute_count; k++) {
    const gather_attribute *given = stands_for(run, &stored.attributes[k]);
    if (!given) continue;
    made[node->attribute_count] = *given;
    made[node->attribute_count++].name = stored.attributes[k].name;
  }
  return GATHER_OK;
}

/* The run's graph: that of the file, or a copy where nodes have attributes from a call. */
static gather_status resolve_graph(gather_running *run, gather_error *error) {
  const gather_graph *stored = run->as_stored;
  const gather_running *called = run;
  int64_t first = 0;
  run->graph = stored;
  while (called && !called->call) called = called->outer;
  while (first < stored->node_count && !has_references(&stored->nodes[first])) first++;
  if (!called || first == stored->node_count) return GATHER_OK;
  gather_graph *made = gather_arena_take(run->arena, 1, (int64_t)sizeof *made);
  gather_node *nodes = gather_arena_take(run->arena, stored->node_count, sizeof *nodes);
  if (!made || !nodes) return gather_run_no_memory(error);
  *made = *stored;
  made->nodes = nodes;
  memcpy(nodes, stored->nodes, (size_t)stored->node_count * sizeof *nodes);
  for (int64_t i = first; i < stored->node_count; i++)
    if (has_references(&nodes[i])) GATHER_TRY(resolve_node(run, &nodes[i], error));
  run->graph = made;
  return GATHER_OK;
}

/* The inputs of a function's body are those of its call. */
static void link_call(gather_running *run) {
  for (int64_t i = 0; i < run->graph->input_count && i < run->call->input_count; i++) {
    gather_run_value *value = gather_run_find(run, run->graph->inputs[i].name);
    if (value && value->producer < 0 && *run->call->inputs[i]) value->source = run->call->inputs[i];
  }
}

/* The names that a subgraph does not define are those of the graph around it. */
static gather_status link_names(gather_running *run, gather_error *error) {
  for (int64_t b = 0; b < run->bucket_count; b++)
    for (gather_run_value *value = run->buckets[b]; value; value = value->next) {
      if (value->ready || value->producer >= 0 || gather_graph_input(run->graph, value->name)) continue;
      if (!ensure(run->outer, value->name)) return gather_run_no_memory(error);
      value->source = value->name;
    }
  return GATHER_OK;
}

void gather_run_inherit(gather_run_value *value, const gather_run_value *outer) {
  if (value->given || !outer || !outer->ready) return;
  value->tensor = outer->tensor;
  value->unreadable = outer->unreadable;
  value->dequantized = outer->dequantized;
  value->ready = true;
}

/* From the outermost graph inward, since a value may be passed on by several. */
void gather_run_pass(gather_running *run) {
  const gather_running *done = NULL;
  while (done != run) {
    gather_running *next = run;
    while (next->outer != done) next = next->outer;
    for (int64_t b = 0; next->outer && b < next->bucket_count; b++)
      for (gather_run_value *value = next->buckets[b]; value; value = value->next)
        if (value->source) gather_run_inherit(value, gather_run_find(next->outer, value->source));
    done = next;
  }
}

/* Opens the graph of a place, inside of that of `outer`. */
static gather_status open_place(gather_running *run, const gather_run_place *place, gather_running *outer, int64_t call,
                                gather_error *error) {
  run->as_stored = place->graph;
  run->outer = outer && (place->function || place->graph->parent) ? outer : NULL;
  run->call = run->outer && place->function ? &run->outer->graph->nodes[call] : NULL;
  run->function = place->function;
  GATHER_TRY(resolve_graph(run, error));
  return make_table(run, error);
}

gather_status gather_run_open(gather_running *run, const gather_run_way *way, gather_error *error) {
  gather_running *outer = NULL;
  int64_t call = 0;
  for (int32_t i = 0; i < way->count; i++) {
    const gather_run_place *place = &way->places[i];
    gather_running *next = i + 1 < way->count ? gather_arena_take(run->arena, 1, (int64_t)sizeof *next) : run;
    if (!next) return gather_run_no_memory(error);
    *next = *run;
    GATHER_TRY(open_place(next, place, outer, call, error));
    outer = next;
    if (next != run) call = place->node - place->graph->nodes;
  }
  for (gather_running *inner = run; inner->outer; inner = inner->outer) {
    if (inner->call)
      link_call(inner);
    else
      GATHER_TRY(link_names(inner, error));
  }
  gather_run_pass(run);
  return GATHER_OK;
}

/* ---- what the caller gives, and what is missing */

/* Whether a function's body is on the way, as the body of one call. */
static bool is_called(const gather_running *run) {
  while (run && !run->call) run = run->outer;
  return run != NULL;
}

static gather_run_value *named_here(const gather_running *run, const char *name) {
  gather_run_value *value = gather_run_find(run, name);
  const char *layer = value ? NULL : gather_run_layer_input(run->graph, name);
  return layer ? gather_run_find(run, layer) : value;
}

gather_run_value *gather_run_named(gather_running *run, const char *name, gather_running **owner) {
  gather_running *first = run;
  while (first->outer) first = first->outer;
  *owner = first;
  if (is_called(run) && gather_graph_input(first->graph, name)) return named_here(first, name);
  for (; run; run = run->outer) {
    gather_run_value *value = named_here(run, name);
    *owner = run;
    if (value && (!value->source || run->call)) return value;
  }
  return NULL;
}
