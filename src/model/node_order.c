/* SPDX-License-Identifier: MIT
 *
 * node_order.c: the order in which the nodes of a graph run. ONNX demands that the file has it, but exporters write other files and
 * runtimes accept them.
 */
#include <string.h>

#include "core/base/error.h"
#include "model/model_check.h"

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

gather_status gather_check_order(gather_check *check, gather_scope *scope, const int64_t **order, gather_error *error) {
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
  int64_t *made = gather_arena_take(&check->arena, nodes, sizeof *made);
  s.begin = gather_arena_take(&check->arena, nodes + 1, sizeof *s.begin);
  s.waits = gather_arena_take(&check->arena, nodes, sizeof *s.waits);
  if (!made || !s.begin || !s.waits) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory to sort the nodes");
  each_node(scope, &s, count);
  for (int64_t i = 0; i < nodes; i++) s.begin[i + 1] += s.begin[i];
  s.ends = gather_arena_take(&check->arena, s.begin[nodes], sizeof *s.ends);
  if (!s.ends) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory to sort the nodes");
  each_node(scope, &s, list); /* now begin[i] is where the edges of node i end */
  place(&s, nodes, made);
  *order = made;
  return GATHER_OK;
}
