/* SPDX-License-Identifier: MIT
 *
 * scope.c: the values of a graph by name. The table finds each by its hash; it is never full: its size is fixed by the graph's own counts.
 * And what follows from names: whether each is that of one value, and the order in which the nodes run. ONNX demands that the file has
 * that order, but exporters write other files and runtimes accept them.
 */
#include <string.h>

#include "core/base/error.h"
#include "io/format/format.h"
#include "model/infer.h"

static uint64_t hash(const char *name) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
  return h ^ h >> 32;
}

gather_status gather_scope_open(gather_arena *arena, const gather_graph *graph, const gather_scope *parent, const char *path,
                                gather_scope *scope, gather_error *error) {
  int64_t names = graph->input_count + graph->output_count + graph->info_count + graph->constant_count, slots = 16;
  for (int64_t i = 0; i < graph->node_count; i++) names += graph->nodes[i].output_count;
  while (slots < names * 2) slots *= 2;
  *scope = (gather_scope){.parent = parent, .graph = graph, .path = path, .mask = (uint64_t)slots - 1};
  scope->slots = gather_arena_take(arena, slots, sizeof *scope->slots);
  if (!scope->slots) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the values of a graph");
  return GATHER_OK;
}

/* The slot of that name, or the empty slot for it. */
static gather_known *slot(const gather_scope *scope, const char *name) {
  uint64_t at = hash(name) & scope->mask;
  while (scope->slots[at].name && strcmp(scope->slots[at].name, name) != 0) at = (at + 1) & scope->mask;
  return &scope->slots[at];
}

gather_known *gather_scope_make(gather_scope *scope, const char *name) {
  if (!*name) return NULL;
  gather_known *known = slot(scope, name);
  if (!known->name) *known = (gather_known){.name = name, .source = GATHER_SOURCE_COMPUTED, .rank = -1};
  return known;
}

const gather_known *gather_scope_find(const gather_scope *scope, const char *name) {
  if (!*name) return NULL;
  for (; scope; scope = scope->parent) {
    const gather_known *known = slot(scope, name);
    if (known->name) return known;
  }
  return NULL;
}

/* ---- each name is that of one value */

/* A check of all names. */
typedef struct naming {
  const gather_model *model;
  gather_arena arena;
  gather_error *error;
} naming;

/* The value is one of node `at`, or of no node: NULL. */
static gather_status fail_name(const naming *n, const gather_node *at, const char *what, const char *name) {
  const char *file = n->model->file ? n->model->file->name : "the model";
  return gather_fail_file(n->error, GATHER_FILE_MALFORMED, file, at ? at->file_offset : -1, what, name);
}

/* Enters the name of an input or an initializer; *is_new: no value had it. */
static void enter(gather_scope *scope, const char *name, gather_source source, bool *is_new) {
  gather_known *known = *name ? slot(scope, name) : NULL;
  *is_new = !known || !known->name;
  if (known && *is_new) *known = (gather_known){.name = name, .source = source, .rank = -1};
}

/* A model may give an input a default by an initializer; a body may not. */
static gather_status enter_given(const naming *n, const gather_graph *graph, gather_scope *scope) {
  bool is_new;
  for (int64_t i = 0; i < graph->input_count; i++) {
    enter(scope, graph->inputs[i].name, GATHER_SOURCE_INPUT, &is_new);
    if (!is_new) return fail_name(n, NULL, "two inputs of a graph are called '%.100s'", graph->inputs[i].name);
  }
  for (int64_t i = 0; i < graph->constant_count; i++) {
    const gather_constant *constant = &graph->constants[i];
    if (!constant->is_initializer) continue;
    const gather_known *known = slot(scope, constant->tensor.name);
    if (graph->parent && known->name && known->source == GATHER_SOURCE_INPUT)
      return fail_name(n, NULL, "'%.100s' is both an input and an initializer of a subgraph", constant->tensor.name);
    if (known->name && known->source == GATHER_SOURCE_INITIALIZER)
      return fail_name(n, NULL, "two initializers of a graph are called '%.100s'", constant->tensor.name);
    enter(scope, constant->tensor.name, GATHER_SOURCE_INITIALIZER, &is_new);
  }
  return GATHER_OK;
}

/* A node's output may not have the name of an outer graph's input or initializer either. (Outputs of outer nodes: that depends on their
 * order.) */
static gather_status enter_outputs(const naming *n, const gather_node *node, gather_scope *scope) {
  for (int32_t k = 0; k < node->output_count; k++) {
    const char *name = node->outputs[k];
    const gather_known *known = gather_scope_find(scope, name);
    bool is_new;
    if (known && known->source != GATHER_SOURCE_COMPUTED)
      return fail_name(n, node, "a node produces the value '%.100s', which is an input or an initializer", name);
    enter(scope, name, GATHER_SOURCE_COMPUTED, &is_new);
    if (!is_new) return fail_name(n, node, "two nodes produce the value '%.100s'", name);
  }
  return GATHER_OK;
}

static gather_status check_names(naming *n, const gather_graph *graph, const gather_scope *parent) {
  gather_scope scope;
  GATHER_TRY(gather_scope_open(&n->arena, graph, parent, "", &scope, n->error));
  GATHER_TRY(enter_given(n, graph, &scope));
  for (int64_t i = 0; i < graph->node_count; i++) GATHER_TRY(enter_outputs(n, &graph->nodes[i], &scope));
  for (int64_t i = 0; i < graph->node_count; i++)
    for (int32_t k = 0; k < graph->nodes[i].attribute_count; k++) {
      const gather_attribute *attribute = &graph->nodes[i].attributes[k];
      if (attribute->kind == GATHER_ATTRIBUTE_GRAPH && attribute->graph) GATHER_TRY(check_names(n, attribute->graph, &scope));
    }
  return GATHER_OK;
}

gather_status gather_model_check_names(const gather_model *model, gather_error *error) {
  naming n = {.model = model, .error = error};
  const gather_graph_file *file = model->graph_file;
  if (gather_model_is_openvino(model)) return GATHER_OK; /* its values are ports, whose names the reader makes */
  gather_status status = check_names(&n, file->graph, NULL);
  for (int64_t i = 0; i < file->function_count && status == GATHER_OK; i++) status = check_names(&n, file->functions[i].graph, NULL);
  gather_arena_clear(&n.arena);
  return status;
}

/* ---- the order of nodes */

/* Calls `use` with the number of each node whose output a node reads, also in its inner graphs. Inner graphs cannot repeat a name
 * of the graphs around them. */
typedef void (*use_fn)(void *context, int64_t producer);

static void each_needed(gather_scope *scope, const gather_node *node, int depth, use_fn use, void *context) {
  const gather_scope own = {.slots = scope->slots, .mask = scope->mask};
  for (int32_t i = 0; i < node->input_count; i++) {
    const gather_known *known = gather_scope_find(&own, node->inputs[i]);
    if (known && known->producer > 0) use(context, known->producer - 1);
  }
  for (int32_t k = 0; k < node->attribute_count && depth < GATHER_MAX_DEPTH; k++) {
    const gather_graph *graph = node->attributes[k].kind == GATHER_ATTRIBUTE_GRAPH ? node->attributes[k].graph : NULL;
    if (!graph || !graph->parent) continue;
    for (int64_t n = 0; n < graph->node_count; n++) each_needed(scope, &graph->nodes[n], depth + 1, use, context);
    for (int64_t n = 0; n < graph->output_count; n++) {
      const gather_known *known = gather_scope_find(&own, graph->outputs[n].name);
      if (known && known->producer > 0) use(context, known->producer - 1);
    }
  }
}

/* The first pass: whether all needed nodes are before the node; the others: how many edges begin at each, and where they end. */
typedef struct sorting {
  int64_t at; /* the node that needs others */
  bool sorted;
  int64_t *begin, *ends, *waits;
} sorting;

static void compare(void *context, int64_t producer) {
  sorting *s = context;
  if (producer >= s->at) s->sorted = false;
}

static void count(void *context, int64_t producer) {
  sorting *s = context;
  s->begin[producer + 1]++;
  s->waits[s->at]++;
}

static void list(void *context, int64_t producer) {
  sorting *s = context;
  s->ends[s->begin[producer]++] = s->at;
}

static void each_node(gather_scope *scope, sorting *s, use_fn use) {
  for (s->at = 0; s->at < scope->graph->node_count; s->at++) each_needed(scope, &scope->graph->nodes[s->at], 0, use, s);
}

/* Nodes that wait for no other first; nodes of a cycle are last, in the order of the file. */
static void place(const sorting *s, int64_t nodes, int64_t *order) {
  int64_t placed = 0;
  for (int64_t i = 0; i < nodes; i++)
    if (s->waits[i] == 0) order[placed++] = i;
  for (int64_t next = 0; next < placed; next++) {
    const int64_t node = order[next];
    for (int64_t e = node > 0 ? s->begin[node - 1] : 0; e < s->begin[node]; e++)
      if (--s->waits[s->ends[e]] == 0) order[placed++] = s->ends[e];
  }
  for (int64_t i = 0; placed < nodes && i < nodes; i++)
    if (s->waits[i] > 0) order[placed++] = i;
}

gather_status gather_scope_order(gather_arena *arena, gather_scope *scope, const int64_t **order, gather_error *error) {
  const gather_graph *graph = scope->graph;
  const int64_t nodes = graph->node_count;
  sorting s = {.sorted = true};
  *order = NULL;
  for (int64_t i = 0; i < nodes; i++)
    for (int32_t k = 0; k < graph->nodes[i].output_count; k++) {
      gather_known *known = gather_scope_make(scope, graph->nodes[i].outputs[k]);
      if (known && known->producer == 0) known->producer = i + 1;
    }
  each_node(scope, &s, compare);
  if (s.sorted) return GATHER_OK;
  int64_t *made = gather_arena_take(arena, nodes, sizeof *made);
  s.begin = gather_arena_take(arena, nodes + 1, sizeof *s.begin);
  s.waits = gather_arena_take(arena, nodes, sizeof *s.waits);
  if (!made || !s.begin || !s.waits) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while sorting the nodes");
  each_node(scope, &s, count);
  for (int64_t i = 0; i < nodes; i++) s.begin[i + 1] += s.begin[i];
  s.ends = gather_arena_take(arena, s.begin[nodes], sizeof *s.ends);
  if (!s.ends) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while sorting the nodes");
  each_node(scope, &s, list); /* now begin[i] is where the edges of node i end */
  place(&s, nodes, made);
  *order = made;
  return GATHER_OK;
}

/* Whether an output of a body is its input i, through Identity nodes or none. */
bool gather_graph_passes_on(const gather_graph *graph, int64_t output, int64_t i) {
  const char *name = graph->outputs[output].name;
  for (int hops = 0; hops < GATHER_MAX_DEPTH; hops++) {
    const char *from = NULL;
    if (strcmp(name, graph->inputs[i].name) == 0) return true;
    for (int64_t n = 0; !from && n < graph->node_count; n++) {
      const gather_node *node = &graph->nodes[n];
      if (strcmp(node->op, "Identity") == 0 && !*node->domain && node->input_count == 1 && node->output_count == 1 &&
          strcmp(node->outputs[0], name) == 0)
        from = node->inputs[0];
    }
    if (!from) return false;
    name = from;
  }
  return false;
}
