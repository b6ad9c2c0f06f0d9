/* SPDX-License-Identifier: MIT
 *
 * ir_graph.c: makes the graph of graph.h from the tree of an IR: orders and names what is in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/ir/ir.h"

/* ---- order: connects the layers and sorts them topologically. Ids are sorted, so the time is O(n log n) for any file. */

/* ---- sorting */

static void merge(void **from, void **to, int64_t low, int64_t middle, int64_t high, int (*compare)(const void *a, const void *b)) {
  int64_t left = low, right = middle;
  for (int64_t i = low; i < high; i++)
    to[i] = left < middle && (right >= high || compare(from[left], from[right]) <= 0) ? from[left++] : from[right++];
}

/* Sorts pointers, stable; room: scratch space for as many. */
static void sort(void **items, void **room, int64_t count, int (*compare)(const void *a, const void *b)) {
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

static int compare_layers(const void *a, const void *b) { return compare_numbers(((const ir_layer *)a)->id, ((const ir_layer *)b)->id); }

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
  sort(items, room, count, compare_layers);
  for (int64_t i = 1; i < count; i++) {
    const ir_layer *layer = items[i];
    if (compare_layers(items[i - 1], layer) == 0)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset, "the layer '%.100s' has the same id %" PRId64 " as another layer",
                            layer->name, layer->id);
  }
  return GATHER_OK;
}

static gather_status sort_ports(ir_reader *reader, const ir_net *net, void **items, void **room) {
  int64_t count = 0;
  for (ir_layer *layer = net->layers; layer; layer = layer->next) {
    for (ir_port *port = layer->inputs; port; port = port->next) items[count++] = port;
    for (ir_port *port = layer->outputs; port; port = port->next) items[count++] = port;
  }
  sort(items, room, count, compare_ports);
  for (int64_t i = 1; i < count; i++) {
    const ir_port *port = items[i];
    if (compare_ports(items[i - 1], port) == 0)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, port->offset, "two %s ports of the layer '%.100s' have the id %" PRId64,
                            port->is_output ? "output" : "input", port->layer->name, port->id);
  }
  return GATHER_OK;
}

static gather_status follow_edge(ir_reader *reader, const ir_edge *edge, void **ports, int64_t count) {
  ir_port *from = find_port(ports, count, edge->from_layer, true, edge->from_port);
  ir_port *to = find_port(ports, count, edge->to_layer, false, edge->to_port);
  if (!from || !to)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, edge->offset,
                          "an edge %s port %" PRId64 " of layer %" PRId64 ", which is not an %s of the graph", from ? "to" : "from",
                          from ? edge->to_port : edge->from_port, from ? edge->to_layer : edge->from_layer, from ? "input" : "output");
  if (to->source)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, edge->offset, "a second edge leads to port %" PRId64 " of the layer '%.100s'",
                          to->id, to->layer->name);
  to->source = from;
  return GATHER_OK;
}

/* Resolves the edges: sets every input's source. */
static gather_status connect(ir_reader *reader, ir_net *net) {
  int64_t most = net->port_count > net->layer_count ? net->port_count : net->layer_count;
  void **items = gather_arena_take(&reader->tree, most, (int64_t)sizeof *items);
  void **room = gather_arena_take(&reader->tree, most, (int64_t)sizeof *room);
  if (!items || !room) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(check_layer_ids(reader, net, items, room));
  GATHER_TRY(sort_ports(reader, net, items, room));
  for (const ir_edge *edge = net->edges; edge; edge = edge->next) GATHER_TRY(follow_edge(reader, edge, items, net->port_count));
  for (const ir_layer *layer = net->layers; layer; layer = layer->next)
    for (const ir_port *port = layer->inputs; port; port = port->next)
      if (!port->source)
        return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, port->offset, "no edge leads to port %" PRId64 " of the layer '%.100s'",
                              port->id, layer->name);
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
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, source->offset, "the layer '%.100s' depends on its own output", source->name);
    if (source->state == IR_DONE) continue;
    begin(source, top);
    top = source;
  }
  return GATHER_OK;
}

/* Fills `order` with the net's layers in topological order. */
static gather_status order_layers(ir_reader *reader, const ir_net *net, ir_layer **order) {
  int64_t count = 0;
  for (ir_layer *layer = net->layers; layer; layer = layer->next)
    if (gather_ir_is(layer, "Result") || gather_ir_is(layer, "Assign")) GATHER_TRY(place(reader, layer, order, &count));
  for (ir_layer *layer = net->layers; layer; layer = layer->next) GATHER_TRY(place(reader, layer, order, &count));
  return GATHER_OK;
}

/* ---- names of values. A port may have tensor names; if it has none, or its first belongs to another port, its name is made from the
 * layer's. */

/* Longer layer names are not repeated for each port: otherwise a small file could need unlimited memory. */
enum { LONGEST_NAME = 1000, MOST_ROUNDS = 8 };

/* The name at *names, without its escapes; advances *names past it and its comma. NULL: out of memory. */
static char *next_name(ir_reader *reader, const char **names) {
  const char *start = *names;
  size_t length = 0, end = 0;
  while (start[end] != '\0' && start[end] != ',') end += start[end] == '\\' && start[end + 1] != '\0' ? 2 : 1;
  *names = start + end + (start[end] == ',');
  char *name = gather_arena_text(&reader->file->arena, start, end);
  for (size_t at = 0; name && at < end; at++) {
    if (name[at] == '\\' && name[at + 1] == ',') at++;
    name[length++] = name[at];
  }
  if (name) name[length] = '\0';
  return name;
}

/* Reads all of a port's names; the first that is not empty is its value's. */
static gather_status read_names(ir_reader *reader, ir_port *port) {
  gather_alias **tail = &port->others;
  port->value = "";
  for (const char *names = port->names; *names != '\0';) {
    const char *name = next_name(reader, &names);
    if (!name) return GATHER_IR_NO_MEMORY(reader);
    if (name[0] == '\0') continue;
    if (port->value[0] == '\0') {
      port->value = name;
      continue;
    }
    gather_alias *other = gather_arena_take(&reader->file->arena, 1, (int64_t)sizeof *other);
    if (!other) return GATHER_IR_NO_MEMORY(reader);
    other->name = name;
    *tail = other;
    tail = &other->next;
  }
  return GATHER_OK;
}

/* "layer", or "layer.1" if it has several outputs; from the second renaming on with the layer's id. NULL: out of
 * memory. */
static const char *lent_name(ir_reader *reader, const ir_port *port) {
  const ir_layer *layer = port->layer;
  size_t length = strlen(layer->name);
  bool is_long = length > LONGEST_NAME || length == 0;
  if (port->renamed < 2 && layer->output_count == 1 && length > 0) return layer->name;
  char text[LONGEST_NAME + 100], position[32] = "", more[64] = "";
  if (layer->output_count > 1) (void)snprintf(position, sizeof position, ".%" PRId32, port->position);
  if (port->renamed > 1) (void)snprintf(more, sizeof more, "#%" PRId64 "#%" PRId32, layer->id, port->renamed);
  if (is_long)
    (void)snprintf(text, sizeof text, "layer %" PRId64 "%s%s", layer->id, position, more);
  else
    (void)snprintf(text, sizeof text, "%s%s%s", layer->name, position, more);
  return gather_arena_text(&reader->file->arena, text, strlen(text));
}

/* By name; ports with their original name before renamed ones. */
static int compare_values(const void *a, const void *b) {
  const ir_port *left = a, *right = b;
  int order = strcmp(left->value, right->value);
  return order != 0 ? order : (left->renamed > right->renamed) - (left->renamed < right->renamed);
}

/* Renames every port whose name another port has first; *clashes: how many. */
static gather_status rename_doubles(ir_reader *reader, void **ports, int64_t count, int64_t *clashes) {
  *clashes = 0;
  const char *before = NULL;
  for (int64_t i = 0; i < count; i++) {
    ir_port *port = ports[i];
    bool is_double = before && strcmp(before, port->value) == 0;
    before = port->value;
    if (!is_double) continue;
    port->renamed++;
    port->value = lent_name(reader, port);
    if (!port->value) return GATHER_IR_NO_MEMORY(reader);
    ++*clashes;
  }
  return GATHER_OK;
}

static gather_status first_names(ir_reader *reader, const ir_net *net, void **ports, int64_t *count) {
  for (ir_layer *layer = net->layers; layer; layer = layer->next)
    for (ir_port *port = layer->outputs; port; port = port->next) {
      GATHER_TRY(read_names(reader, port));
      if (port->value[0] == '\0') {
        port->renamed = 1;
        port->value = lent_name(reader, port);
      }
      if (!port->value) return GATHER_IR_NO_MEMORY(reader);
      ports[(*count)++] = port;
    }
  return GATHER_OK;
}

/* Gives every output port the name of its value, and its other names. */
static gather_status name_values(ir_reader *reader, const ir_net *net) {
  void **ports = gather_arena_take(&reader->tree, net->port_count, (int64_t)sizeof *ports);
  void **room = gather_arena_take(&reader->tree, net->port_count, (int64_t)sizeof *room);
  int64_t count = 0, clashes = 1;
  if (!ports || !room) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(first_names(reader, net, ports, &count));
  for (int round = 0; clashes > 0; round++) {
    if (round == MOST_ROUNDS) return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, -1, "too many of its tensors have the same name");
    sort(ports, room, count, compare_values);
    GATHER_TRY(rename_doubles(reader, ports, count, &clashes));
  }
  return GATHER_OK;
}

/* ---- the port maps of If, Loop and TensorIterator: which outer value each input of a body gets, and which output of the layer each of its
 * outputs becomes */

/* Items sorted by id. */
typedef struct ids {
  void **items;
  int64_t count;
} ids;

static int compare_port_ids(const void *a, const void *b) { return compare_numbers(((const ir_port *)a)->id, ((const ir_port *)b)->id); }

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

static bool take_ids(ir_reader *reader, int64_t count, ids *made, void ***room) {
  made->items = gather_arena_take(&reader->tree, count, (int64_t)sizeof *made->items);
  *room = gather_arena_take(&reader->tree, count, (int64_t)sizeof **room);
  return made->items && *room;
}

/* A body's Parameter or Result layers. */
static gather_status sort_layers(ir_reader *reader, const ir_net *net, const char *op, ids *made) {
  void **room;
  if (!take_ids(reader, net->layer_count, made, &room)) return GATHER_IR_NO_MEMORY(reader);
  for (ir_layer *layer = net->layers; layer; layer = layer->next)
    if (gather_ir_is(layer, op)) made->items[made->count++] = layer;
  sort(made->items, room, made->count, compare_layers);
  return GATHER_OK;
}

static gather_status sort_ports_by_id(ir_reader *reader, const ir_port *first, int64_t count, ids *made) {
  void **room;
  if (!take_ids(reader, count, made, &room)) return GATHER_IR_NO_MEMORY(reader);
  for (const ir_port *port = first; port; port = port->next) made->items[made->count++] = (void *)(uintptr_t)port;
  sort(made->items, room, made->count, compare_port_ids);
  return GATHER_OK;
}

/* A body's input: the value that the layer's port gets. "" if it changes with each iteration or has two sources. */
static void map_input(const ir_mapping *mapping, const ids *layers, const ids *ports, const char **sources) {
  const ir_layer layer = {.id = mapping->internal};
  const ir_port port = {.id = mapping->external};
  const ir_layer *inside = find(layers, &layer, compare_layers);
  const ir_port *outside = mapping->changes ? NULL : find(ports, &port, compare_port_ids);
  if (!inside) return;
  const char **source = &sources[inside->number];
  *source = *source || !outside ? "" : outside->source->value;
}

static void map_output(const ir_mapping *mapping, const ids *layers, const ids *ports, int32_t *places) {
  const ir_layer layer = {.id = mapping->internal};
  const ir_port port = {.id = mapping->external};
  const ir_layer *inside = find(layers, &layer, compare_layers);
  const ir_port *outside = mapping->changes ? NULL : find(ports, &port, compare_port_ids);
  if (inside) places[inside->number] = outside ? outside->position : -1;
}

/* Sets the graph's sources and places from the layer's port maps. Without these they are unknown. */
static gather_status map_body(ir_reader *reader, const ir_layer *layer, const ir_body *body, gather_graph *graph) {
  ids parameters = {0}, results = {0}, inputs = {0}, outputs = {0};
  const char **sources = gather_arena_take(&reader->file->arena, graph->input_count, (int64_t)sizeof *sources);
  int32_t *places = gather_arena_take(&reader->file->arena, graph->output_count, (int64_t)sizeof *places);
  if (!sources || !places) return GATHER_IR_NO_MEMORY(reader);
  for (int64_t i = 0; i < graph->output_count; i++) places[i] = -1;
  GATHER_TRY(sort_layers(reader, body->net, "Parameter", &parameters));
  GATHER_TRY(sort_layers(reader, body->net, "Result", &results));
  GATHER_TRY(sort_ports_by_id(reader, layer->inputs, layer->input_count, &inputs));
  GATHER_TRY(sort_ports_by_id(reader, layer->outputs, layer->output_count, &outputs));
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

/* ---- the graph of graph.h, and the list of the file's tensors */

/* Longer paths use a layer's id instead of its name: otherwise a small file could need unlimited memory. */
enum { LONGEST_PATH = 1000 };

/* No layer has more; the time grows with their number times that of the ports. */
enum { MOST_BODIES = 2 };

/* A graph under construction. */
typedef struct ir_draft {
  ir_reader *reader;
  const char *path;
  gather_graph *graph;
  gather_node *nodes;
  gather_value *inputs, *outputs, *infos;
  gather_constant *constants;
  gather_alias *first_alias, **alias_tail;
} ir_draft;

static void *take(ir_reader *reader, int64_t count, size_t bytes) { return gather_arena_take(&reader->file->arena, count, (int64_t)bytes); }

/* ---- declarations */

static gather_status set_dims(ir_reader *reader, const gather_dim *dims, int32_t rank, gather_value *value) {
  value->rank = rank;
  if (rank <= 0) return GATHER_OK;
  gather_dim *copy = take(reader, rank, sizeof *copy);
  if (!copy) return GATHER_IR_NO_MEMORY(reader);
  memcpy(copy, dims, (size_t)rank * sizeof *copy);
  value->dims = copy;
  return GATHER_OK;
}

/* The port's declaration; OpenVINO itself infers it again. */
static gather_status declare_port(ir_reader *reader, const ir_port *port, gather_value *value) {
  bool known;
  *value = (gather_value){.name = port->value, .type = gather_ir_type(port->precision, &known)};
  if (!known)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, port->offset, "invalid precision '%.40s' of a port of the layer '%.100s'",
                          port->precision, port->layer->name);
  gather_dim dims[GATHER_MAX_RANK];
  for (int32_t d = 0; d < port->rank; d++) {
    bool is_known = port->dims[d] >= 0;
    dims[d] = (gather_dim){.min = is_known ? port->dims[d] : 0, .max = is_known ? port->dims[d] : GATHER_DIM_UNBOUNDED};
  }
  return set_dims(reader, dims, port->rank, value);
}

static gather_status declare_parameter(ir_reader *reader, const ir_layer *layer, gather_value *value) {
  const char *type = gather_ir_attribute(layer, "element_type"), *text = gather_ir_attribute(layer, "shape");
  gather_shape shape;
  bool known;
  if (layer->output_count != 1 || !type || !text)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset,
                          "the parameter '%.100s' needs an element_type, a shape and one output", layer->name);
  *value = (gather_value){.name = layer->outputs->value, .type = gather_ir_type(type, &known)};
  if (!known)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset, "invalid element_type '%.40s' of the parameter '%.100s'", type,
                          layer->name);
  if (!gather_ir_shape(text, &shape))
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset, "invalid shape '%.80s' of the parameter '%.100s'", text,
                          layer->name);
  return set_dims(reader, shape.dims, shape.rank, value);
}

/* Appends a value's other names to the graph's aliases. */
static void add_aliases(ir_draft *draft, const ir_port *port) {
  for (gather_alias *other = port->others, *next; other; other = next) {
    next = other->next;
    other->next = NULL;
    other->value = port->value;
    *draft->alias_tail = other;
    draft->alias_tail = &other->next;
  }
}

/* ---- constants */

/* Path and name. NULL: out of memory. */
static const char *full_name(ir_draft *draft, const char *name) {
  size_t path = strlen(draft->path), length = strlen(name);
  if (path == 0) return name;
  char *full = take(draft->reader, (int64_t)(path + length) + 1, 1);
  if (!full) return NULL;
  memcpy(full, draft->path, path);
  memcpy(full + path, name, length);
  return full;
}

/* The constant's other names also find it in the file's list. */
static gather_status list_names(ir_draft *draft, const ir_port *port) {
  gather_file *file = draft->reader->file;
  for (const gather_alias *other = port->others; other; other = other->next) {
    gather_other_name *listed = take(draft->reader, 1, sizeof *listed);
    const char *full = full_name(draft, other->name);
    if (!listed || !full) return GATHER_IR_NO_MEMORY(draft->reader);
    *listed = (gather_other_name){file->others, full, other->name, draft->reader->tensor_count};
    file->others = listed;
  }
  return GATHER_OK;
}

static gather_status add_constant(ir_draft *draft, const ir_layer *layer) {
  ir_reader *reader = draft->reader;
  if (layer->output_count != 1 || layer->input_count != 0)
    return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset, "the constant '%.100s' must have one output and no input",
                          layer->name);
  gather_constant *constant = &draft->constants[draft->graph->constant_count];
  GATHER_TRY(gather_ir_constant(reader, layer, &constant->tensor));
  constant->tensor.name = layer->outputs->value;
  gather_file_tensor *listed = &reader->file->tensors[reader->tensor_count];
  *listed = constant->tensor;

  /* Another name that finds it: in the main graph the layer's name, in a body the name without the path. */
  bool is_main = draft->path[0] == '\0';
  reader->plain_names[reader->tensor_count] = is_main ? layer->name : constant->tensor.name;
  listed->name = full_name(draft, constant->tensor.name);
  if (!listed->name) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(list_names(draft, layer->outputs));
  draft->graph->constant_count++;
  reader->tensor_count++;
  return GATHER_OK;
}

/* ---- nodes */

static gather_status port_names(ir_reader *reader, const ir_layer *layer, gather_node *node) {
  const char **inputs = take(reader, layer->input_count, sizeof *inputs);
  const char **outputs = take(reader, layer->output_count, sizeof *outputs);
  if (!inputs || !outputs) return GATHER_IR_NO_MEMORY(reader);
  for (const ir_port *port = layer->inputs; port; port = port->next) inputs[port->position] = port->source->value;
  for (const ir_port *port = layer->outputs; port; port = port->next) outputs[port->position] = port->value;
  node->inputs = inputs;
  node->outputs = outputs;
  node->input_count = layer->input_count;
  node->output_count = layer->output_count;
  return GATHER_OK;
}

static gather_attribute text_attribute(const char *name, const char *text) {
  return (gather_attribute){.name = name, .kind = GATHER_ATTRIBUTE_TEXT, .text = {text, strlen(text)}};
}

static gather_status body_graph(ir_draft *draft, const ir_layer *layer, const ir_body *body, gather_graph **graph) {
  char path[3 * LONGEST_PATH];
  bool fits = strlen(draft->path) + strlen(layer->name) + strlen(body->name) < LONGEST_PATH && layer->name[0] != '\0';
  if (fits)
    (void)snprintf(path, sizeof path, "%s%s/%s/", draft->path, layer->name, body->name);
  else
    (void)snprintf(path, sizeof path, "%.*s/%" PRId64 "/%s/", LONGEST_PATH, draft->path, layer->id, body->name);
  return gather_ir_build(draft->reader, body->net, path, draft->graph, graph);
}

static gather_status add_attributes(ir_draft *draft, const ir_layer *layer, gather_node *node) {
  bool has_names = layer->output_names[0] != '\0';
  gather_attribute *attributes = take(draft->reader, (int64_t)layer->pair_count + layer->body_count + has_names, sizeof *attributes);
  int32_t count = 0;
  if (!attributes) return GATHER_IR_NO_MEMORY(draft->reader);
  for (const ir_pair *pair = layer->pairs; pair; pair = pair->next) attributes[count++] = text_attribute(pair->name, pair->text);
  if (has_names) attributes[count++] = text_attribute("output_names", layer->output_names);
  for (const ir_body *body = layer->bodies; body; body = body->next) {
    gather_attribute *attribute = &attributes[count++];
    *attribute = (gather_attribute){.name = body->name, .kind = GATHER_ATTRIBUTE_GRAPH};
    GATHER_TRY(body_graph(draft, layer, body, &attribute->graph));
    if (layer->body_count <= MOST_BODIES) GATHER_TRY(map_body(draft->reader, layer, body, attribute->graph));
  }
  node->attributes = attributes;
  node->attribute_count = count;
  return GATHER_OK;
}

/* N of "opsetN", 0 for other texts. */
static int64_t opset_of(const char *version) {
  static const char WORD[] = "opset";
  size_t at = 0;
  for (; WORD[at]; at++)
    if ((version[at] | 0x20) != WORD[at]) return 0;
  int64_t number;
  bool is_digit = version[at] >= '0' && version[at] <= '9';
  return is_digit && gather_ir_integer(version + at, &number) ? number : 0;
}

static gather_status add_node(ir_draft *draft, const ir_layer *layer) {
  gather_node *node = &draft->nodes[draft->graph->node_count++];
  *node = (gather_node){.name = layer->name,
                        .op = gather_ir_op(layer),
                        .domain = layer->version,
                        .opset = opset_of(layer->version),
                        .file_offset = layer->offset};
  GATHER_TRY(port_names(draft->reader, layer, node));
  return add_attributes(draft, layer, node);
}

static gather_status add_values(ir_draft *draft, ir_layer *layer) {
  ir_reader *reader = draft->reader;
  gather_graph *graph = draft->graph;
  layer->number = gather_ir_is(layer, "Parameter") ? graph->input_count : graph->output_count;
  if (gather_ir_is(layer, "Parameter")) return declare_parameter(reader, layer, &draft->inputs[graph->input_count++]);
  if (gather_ir_is(layer, "Constant")) return add_constant(draft, layer);
  if (gather_ir_is(layer, "Result")) {
    if (layer->input_count != 1)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, layer->offset, "the result '%.100s' must have one input", layer->name);
    return declare_port(reader, layer->inputs->source, &draft->outputs[graph->output_count++]);
  }
  for (const ir_port *port = layer->outputs; port; port = port->next)
    GATHER_TRY(declare_port(reader, port, &draft->infos[graph->info_count++]));
  return GATHER_OK;
}

/* ---- the graph */

static int64_t count_layers(const ir_net *net, const char *op) {
  int64_t count = 0;
  for (const ir_layer *layer = net->layers; layer; layer = layer->next) count += gather_ir_is(layer, op);
  return count;
}

static gather_status begin_graph(ir_draft *draft, const ir_net *net, gather_graph *parent) {
  ir_reader *reader = draft->reader;
  draft->graph = take(reader, 1, sizeof *draft->graph);
  draft->nodes = take(reader, net->layer_count, sizeof *draft->nodes);
  draft->inputs = take(reader, count_layers(net, "Parameter"), sizeof *draft->inputs);
  draft->outputs = take(reader, count_layers(net, "Result"), sizeof *draft->outputs);
  draft->constants = take(reader, count_layers(net, "Constant"), sizeof *draft->constants);
  draft->infos = take(reader, net->port_count, sizeof *draft->infos);
  if (!draft->graph || !draft->nodes || !draft->inputs || !draft->outputs || !draft->constants || !draft->infos)
    return GATHER_IR_NO_MEMORY(reader);
  *draft->graph = (gather_graph){.name = net->name,
                                 .parent = parent,
                                 .nodes = draft->nodes,
                                 .inputs = draft->inputs,
                                 .outputs = draft->outputs,
                                 .infos = draft->infos,
                                 .constants = draft->constants};
  return GATHER_OK;
}

/* Inputs and outputs keep the file's order; nodes are sorted topologically. */
gather_status gather_ir_build(ir_reader *reader, ir_net *net, const char *path, gather_graph *parent, gather_graph **graph) {
  ir_draft draft = {.reader = reader, .path = path};
  ir_layer **order = gather_arena_take(&reader->tree, net->layer_count, (int64_t)sizeof *order);
  if (!order) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(connect(reader, net));
  GATHER_TRY(order_layers(reader, net, order));
  GATHER_TRY(name_values(reader, net));
  GATHER_TRY(begin_graph(&draft, net, parent));
  draft.alias_tail = &draft.first_alias;
  for (ir_layer *layer = net->layers; layer; layer = layer->next) {
    GATHER_TRY(add_values(&draft, layer));
    for (const ir_port *port = layer->outputs; port; port = port->next) add_aliases(&draft, port);
  }
  draft.graph->aliases = draft.first_alias;
  for (int64_t i = 0; i < net->layer_count; i++) GATHER_TRY(add_node(&draft, order[i]));
  *graph = draft.graph;
  return GATHER_OK;
}
