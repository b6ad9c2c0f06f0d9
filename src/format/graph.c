/* SPDX-License-Identifier: MIT
 *
 * graph.c: looking things up in a model's graph.
 */
#include "format/graph.h"

#include <string.h>

#include "format/format.h"

const gather_graph_file *gather_file_graph(const gather_file *file) { return file->graph; }

const char *gather_graph_alias(const gather_graph *graph, const char *name) {
  for (const gather_alias *alias = graph->aliases; alias; alias = alias->next)
    if (strcmp(alias->name, name) == 0) return alias->value;
  return NULL;
}

const gather_attribute *gather_node_attribute(const gather_node *node, const char *name) {
  for (int32_t i = 0; i < node->attribute_count; i++)
    if (strcmp(node->attributes[i].name, name) == 0) return &node->attributes[i];
  return NULL;
}

/* A whole decimal number that fits; blanks round it are allowed, as OpenVINO's own reader does. */
static bool parse_integer(gather_string text, int64_t *value) {
  size_t at = 0, end = text.bytes;
  while (at < end && text.text[at] == ' ') at++;
  while (end > at && text.text[end - 1] == ' ') end--;
  bool negative = at < end && text.text[at] == '-';
  if (at < end && (text.text[at] == '-' || text.text[at] == '+')) at++;
  if (at == end) return false;
  int64_t number = 0; /* kept negative: INT64_MIN has no positive twin */
  for (; at < end; at++) {
    int digit = text.text[at] - '0';
    if (digit < 0 || digit > 9 || number < (INT64_MIN + digit) / 10) return false;
    number = number * 10 - digit;
  }
  if (!negative && number == INT64_MIN) return false;
  *value = negative ? number : -number;
  return true;
}

bool gather_node_integer(const gather_node *node, const char *name, int64_t *value) {
  const gather_attribute *attribute = gather_node_attribute(node, name);
  if (!attribute) return false;
  if (attribute->kind == GATHER_ATTRIBUTE_TEXT) return parse_integer(attribute->text, value);
  *value = attribute->integer;
  return attribute->kind == GATHER_ATTRIBUTE_INT;
}
