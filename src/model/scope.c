/* SPDX-License-Identifier: MIT
 *
 * scope.c: a table of names, each found by its hash. It is never full: its size is fixed by the graph's own counts.
 */
#include "model/scope.h"

#include <string.h>

#include "base/error.h"

static uint64_t hash(const char *name) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
  return h ^ h >> 32;
}

gather_status gather_scope_open(gather_arena *arena, const gather_graph *graph, const gather_scope *parent,
                                const char *path, gather_scope *scope, gather_error *error) {
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
