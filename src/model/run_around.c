/* SPDX-License-Identifier: MIT
 *
 * run_around.c: the graphs around the node that is run. A subgraph sees the values of the graphs that it is in; the body of a function
 * has those that its call passes, by other names, and its attributes.
 */
#include <string.h>

#include "core/base/error.h"
#include "model/model_run.h"

/* ---- attributes that a call gives */

/* What an attribute of a function's body stands for: that of the call, else the function's default, else nothing. */
static const gather_attribute *stands_for(const gather_running *run, const gather_attribute *attribute) {
  while (run && !run->call) run = run->outer;
  if (attribute->kind != GATHER_ATTRIBUTE_REFERENCE || !run) return attribute;
  return gather_function_attribute(run->function, run->call, attribute->text.text);
}

static bool has_references(const gather_node *node) {
  bool has = false;
  for (int32_t k = 0; k < node->attribute_count && !has; k++)
    has = node->attributes[k].kind == GATHER_ATTRIBUTE_REFERENCE;
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

/* ---- values of the graphs around */

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
      if (!gather_run_ensure(run->outer, value->name)) return gather_run_no_memory(error);
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
  return gather_run_values(run, error);
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

bool gather_run_is_called(const gather_running *run) {
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
  if (gather_run_is_called(run) && gather_graph_input(first->graph, name)) return named_here(first, name);
  for (; run; run = run->outer) {
    gather_run_value *value = named_here(run, name);
    *owner = run;
    if (value && (!value->source || run->call)) return value;
  }
  return NULL;
}

/* A search for values that nothing computes: nodes of one graph that lead to them, and values of the graph around it. */
typedef struct roots {
  gather_running *run;
  const gather_node **stack;
  bool *seen;
  int64_t height;
  const char **around;
  int32_t around_count;
  void (*add)(void *context, const char *name);
  void *context;
} roots;

static gather_status open_roots(roots *r, gather_error *error) {
  const gather_running *run = r->run;
  r->stack = gather_arena_take(run->arena, run->graph->node_count + 1, sizeof *r->stack);
  r->seen = gather_arena_take(run->arena, run->graph->node_count, sizeof *r->seen);
  r->around = gather_arena_take(run->arena, run->value_count, sizeof *r->around);
  r->height = r->around_count = 0;
  return r->stack && r->seen && r->around ? GATHER_OK : gather_run_no_memory(error);
}

/* Looks at a value that a node cannot use. */
static void look(roots *r, gather_run_value *value) {
  const gather_graph *graph = r->run->graph;
  if (value->asked) return;
  value->asked = true;
  if (!value->ready && value->source)
    r->around[r->around_count++] = value->source;
  else if (value->ready || value->producer < 0 || !gather_run_supports(r->run, &graph->nodes[value->producer]))
    r->add(r->context, value->name);
  else if (!r->seen[value->producer]) {
    r->seen[value->producer] = true;
    r->stack[r->height++] = &graph->nodes[value->producer];
  }
}

gather_status gather_run_roots(gather_running *run, const char *const *names, int32_t count,
                               void (*add)(void *context, const char *name), void *context, gather_error *error) {
  roots r = {.run = run, .add = add, .context = context};
  for (; r.run && count > 0; r.run = r.run->outer) {
    gather_node first = {.op = "", .domain = "", .inputs = names, .input_count = count};
    GATHER_TRY(open_roots(&r, error));
    for (r.stack[r.height++] = &first; r.height > 0;) {
      const gather_node *node = r.stack[--r.height];
      for (int32_t i = 0; i < node->input_count; i++) {
        gather_run_value *value = *node->inputs[i] ? gather_run_find(r.run, node->inputs[i]) : NULL;
        if (value && !gather_run_usable(r.run, node, value)) look(&r, value);
      }
    }
    names = r.around;
    count = r.around_count;
  }
  return GATHER_OK;
}
