/* SPDX-License-Identifier: MIT
 *
 * ir_body.c: the port maps of If, Loop and TensorIterator: which outer value each input of a body gets, and which
 * output of the layer each of its outputs becomes. Ids are sorted, so the time is O(n log n) for any file.
 */
#include <string.h>

#include "core/base/error.h"
#include "io/format/ir/ir.h"

/* Items sorted by id. */
typedef struct ids {
  void **items;
  int64_t count;
} ids;

static int compare_ids(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_layers(const void *a, const void *b) {
  return compare_ids(((const ir_layer *)a)->id, ((const ir_layer *)b)->id);
}

static int compare_ports(const void *a, const void *b) {
  return compare_ids(((const ir_port *)a)->id, ((const ir_port *)b)->id);
}

static void *find(const ids *in, const void *wanted, int (*compare)(const void *a, const void *b)) {
  int64_t low = 0, high = in->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = compare(wanted, in->items[middle]);
    if (order == 0) return in->items[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

static bool take(ir_reader *reader, int64_t count, ids *made, void ***room) {
  made->items = gather_arena_take(&reader->tree, count, (int64_t)sizeof *made->items);
  *room = gather_arena_take(&reader->tree, count, (int64_t)sizeof **room);
  return made->items && *room;
}

/* A body's Parameter or Result layers. */
static gather_status sort_layers(ir_reader *reader, const ir_net *net, const char *op, ids *made) {
  void **room;
  if (!take(reader, net->layer_count, made, &room)) return GATHER_IR_NO_MEMORY(reader);
  for (ir_layer *layer = net->layers; layer; layer = layer->next)
    if (gather_ir_is(layer, op)) made->items[made->count++] = layer;
  gather_ir_sort(made->items, room, made->count, compare_layers);
  return GATHER_OK;
}

static gather_status sort_ports(ir_reader *reader, const ir_port *first, int64_t count, ids *made) {
  void **room;
  if (!take(reader, count, made, &room)) return GATHER_IR_NO_MEMORY(reader);
  for (const ir_port *port = first; port; port = port->next) made->items[made->count++] = (void *)(uintptr_t)port;
  gather_ir_sort(made->items, room, made->count, compare_ports);
  return GATHER_OK;
}

/* A body's input: the value that the layer's port gets. "" if it changes with each iteration or has two sources. */
static void map_input(const ir_mapping *mapping, const ids *layers, const ids *ports, const char **sources) {
  const ir_layer layer = {.id = mapping->internal};
  const ir_port port = {.id = mapping->external};
  const ir_layer *inside = find(layers, &layer, compare_layers);
  const ir_port *outside = mapping->changes ? NULL : find(ports, &port, compare_ports);
  if (!inside) return;
  const char **source = &sources[inside->number];
  *source = *source || !outside ? "" : outside->source->value;
}

static void map_output(const ir_mapping *mapping, const ids *layers, const ids *ports, int32_t *places) {
  const ir_layer layer = {.id = mapping->internal};
  const ir_port port = {.id = mapping->external};
  const ir_layer *inside = find(layers, &layer, compare_layers);
  const ir_port *outside = mapping->changes ? NULL : find(ports, &port, compare_ports);
  if (inside) places[inside->number] = outside ? outside->position : -1;
}

gather_status gather_ir_map_body(ir_reader *reader, const ir_layer *layer, const ir_body *body, gather_graph *graph) {
  ids parameters = {0}, results = {0}, inputs = {0}, outputs = {0};
  const char **sources = gather_arena_take(&reader->file->arena, graph->input_count, (int64_t)sizeof *sources);
  int32_t *places = gather_arena_take(&reader->file->arena, graph->output_count, (int64_t)sizeof *places);
  if (!sources || !places) return GATHER_IR_NO_MEMORY(reader);
  for (int64_t i = 0; i < graph->output_count; i++) places[i] = -1;
  GATHER_TRY(sort_layers(reader, body->net, "Parameter", &parameters));
  GATHER_TRY(sort_layers(reader, body->net, "Result", &results));
  GATHER_TRY(sort_ports(reader, layer->inputs, layer->input_count, &inputs));
  GATHER_TRY(sort_ports(reader, layer->outputs, layer->output_count, &outputs));
  for (const ir_mapping *mapping = layer->mappings; mapping; mapping = mapping->next) {
    if (strcmp(mapping->body, body->name) != 0) continue;
    if (mapping->is_output)
      map_output(mapping, &results, &outputs, places);
    else
      map_input(mapping, &parameters, &inputs, sources);
  }
  graph->sources = sources;
  graph->places = places;
  return GATHER_OK;
}
