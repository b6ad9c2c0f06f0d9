/* SPDX-License-Identifier: MIT
 *
 * ir_names.c: the names of an IR's values. A port may have tensor names; if it has none, or its first belongs to
 * another port, its name is made from the layer's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/ir/ir.h"

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

gather_status gather_ir_name_values(ir_reader *reader, const ir_net *net) {
  void **ports = gather_arena_take(&reader->tree, net->port_count, (int64_t)sizeof *ports);
  void **room = gather_arena_take(&reader->tree, net->port_count, (int64_t)sizeof *room);
  int64_t count = 0, clashes = 1;
  if (!ports || !room) return GATHER_IR_NO_MEMORY(reader);
  GATHER_TRY(first_names(reader, net, ports, &count));
  for (int round = 0; clashes > 0; round++) {
    if (round == MOST_ROUNDS)
      return GATHER_IR_FAIL(reader, GATHER_FILE_MALFORMED, -1, "too many of its tensors have the same name");
    gather_ir_sort(ports, room, count, compare_values);
    GATHER_TRY(rename_doubles(reader, ports, count, &clashes));
  }
  return GATHER_OK;
}
