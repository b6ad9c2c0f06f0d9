/* SPDX-License-Identifier: MIT
 *
 * ir_order.c: connects an IR's layers and sorts them topologically. Ids are sorted, so the time is O(n log n) for any
 * file.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "io/format/ir/ir.h"

/* ---- sorting */

static void merge(void **from, void **to, int64_t low, int64_t middle, int64_t high,
                  int (*compare)(const void *a, const void *b)) {
  int64_t left = low, right = middle;
  for (int64_t i = low; i < high; i++)
    to[i] = left < middle && (right >= high || compare(from[left], from[right]) <= 0) ? from[left++] : from[right++];
}

void gather_ir_sort(void **items, void **room, int64_t count, int (*compare)(const void *a, const void *b)) {
  void **from = items, **to = room;
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t low = 0; low < count; low += 2 * width) {
      int64_t middle = low + width < count ? low + width : count;
      int64_t high = low + 2 * width < count ? low + 2 * width : count;
      merge(from, to, low, middle, high, compare);
    }
    void **swap = from;
    from = to;
    to = swap;
  }
  for (int64_t i = 0; from != items && i < count; i++) items[i] = from[i];
}

/* ---- edges */

static int compare_numbers(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_layers(const void *a, const void *b) {
  return compare_numbers(((const ir_layer *)a)->id, ((const ir_layer *)b)->id);
}

static int compare_places(int64_t layer, bool is_output, int64_t id, const ir_port *port) {
  int order = compare_numbers(layer, port->layer->id);
  if (order == 0) order = compare_numbers(is_output, port->is_output);
  return order != 0 ? order : compare_numbers(id, port->id);
}

static int compare_ports(const void *a, const void *b) {
  const ir_port *port = a;
  return compare_places(port->layer->id, port->is_output, port->id, b);
}

static ir_port *find_port(void **ports, int64_t count, int64_t layer, bool is_output, int64_t id) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = compare_places(layer, is_output, id, ports[middle]);
    if (order == 0) return ports[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

static gather_status check_layer_ids(ir_reader *reader, const ir_net *net, void **items, void **room) {
  int64_t count = 0;
  for (ir_layer *layer = net->layers; layer; layer = layer->next) items[count++] = layer;
  gather_ir_sort(items, room, count, compare_layers);
  for (int64_t i = 1; i < count; i++) {
    const ir_layer *layer = items[i];
    if (compare_layers(items[i - 1], layer) == 0)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset,
                            "the layer '%.100s' has the same id %" PRId64 " as another layer", layer->name, layer->id);
  }
  return GATHER_OK;
}

static gather_status sort_ports(ir_reader *reader, const ir_net *net, void **items, void **room) {
  int64_t count = 0;
  for (ir_layer *layer = net->layers; layer; layer = layer->next) {
    for (ir_port *port = layer->inputs; port; port = port->next) items[count++] = port;
    for (ir_port *port = layer->outputs; port; port = port->next) items[count++] = port;
  }
  gather_ir_sort(items, room, count, compare_ports);
  for (int64_t i = 1; i < count; i++) {
    const ir_port *port = items[i];
    if (compare_ports(items[i - 1], port) == 0)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, port->offset,
                            "two %s ports of the layer '%.100s' have the id %" PRId64,
                            port->is_output ? "output" : "input", port->layer->name, port->id);
  }
  return GATHER_OK;
}

static gather_status follow_edge(ir_reader *reader, const ir_edge *edge, void **ports, int64_t count) {
  ir_port *from = find_port(ports, count, edge->from_layer, true, edge->from_port);
  ir_port *to = find_port(ports, count, edge->to_layer, false, edge->to_port);
  if (!from || !to)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, edge->offset,
                          "an edge %s port %" PRId64 " of layer %" PRId64 ", which is not an %s of the graph",
                          from ? "to" : "from", from ? edge->to_port : edge->from_port,
                          from ? edge->to_layer : edge->from_layer, from ? "input" : "output");
  if (to->source)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, edge->offset,
                          "a second edge leads to port %" PRId64 " of the layer '%.100s'", to->id, to->layer->name);
  to->source = from;
  return GATHER_OK;
}

gather_status gather_ir_connect(ir_reader *reader, ir_net *net) {
  int64_t most = net->port_count > net->layer_count ? net->port_count : net->layer_count;
  void **items = gather_arena_take(&reader->tree, most, (int64_t)sizeof *items);
  void **room = gather_arena_take(&reader->tree, most, (int64_t)sizeof *room);
  if (!items || !room) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(check_layer_ids(reader, net, items, room));
  GATHER_TRY(sort_ports(reader, net, items, room));
  for (const ir_edge *edge = net->edges; edge; edge = edge->next)
    GATHER_TRY(follow_edge(reader, edge, items, net->port_count));
  for (const ir_layer *layer = net->layers; layer; layer = layer->next)
    for (const ir_port *port = layer->inputs; port; port = port->next)
      if (!port->source)
        return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, port->offset,
                              "no edge leads to port %" PRId64 " of the layer '%.100s'", port->id, layer->name);
  return GATHER_OK;
}

/* ---- order */

static void begin(ir_layer *layer, ir_layer *waiting) {
  layer->state = IR_BEGUN;
  layer->followed = layer->inputs;
  layer->waiting = waiting;
}

/* Appends the layer to the order, after all its inputs. The chain of waiting layers is the stack. */
static gather_status place(ir_reader *reader, ir_layer *top, ir_layer **order, int64_t *count) {
  if (top->state == IR_DONE) return GATHER_OK;
  begin(top, NULL);
  while (top) {
    ir_port *port = top->followed;
    if (!port) {
      top->state = IR_DONE;
      order[(*count)++] = top;
      top = top->waiting;
      continue;
    }
    top->followed = port->next;
    ir_layer *source = port->source->layer;
    if (source->state == IR_BEGUN)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, source->offset,
                            "the layer '%.100s' depends on its own output", source->name);
    if (source->state == IR_DONE) continue;
    begin(source, top);
    top = source;
  }
  return GATHER_OK;
}

gather_status gather_ir_order(ir_reader *reader, const ir_net *net, ir_layer **order) {
  int64_t count = 0;
  for (ir_layer *layer = net->layers; layer; layer = layer->next)
    if (gather_ir_is(layer, "Result") || gather_ir_is(layer, "Assign")) GATHER_TRY(place(reader, layer, order, &count));
  for (ir_layer *layer = net->layers; layer; layer = layer->next) GATHER_TRY(place(reader, layer, order, &count));
  return GATHER_OK;
}
