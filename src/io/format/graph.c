/* SPDX-License-Identifier: MIT
 *
 * graph.c: finds aliases and attributes in a model's graph.
 */
#include "io/format/graph.h"

#include <string.h>

#include "core/base/error.h"
#include "io/format/format.h"

const gather_graph_file *gather_file_graph(const gather_file *file) { return file->graph; }

static const gather_attribute attribute_twice = {.name = "", .kind = GATHER_ATTRIBUTE_OTHER, .text = {"", 0}};

const gather_attribute *gather_node_attribute(const gather_node *node, const char *name) {
  const gather_attribute *found = NULL;
  for (int32_t i = 0; i < node->attribute_count; i++) {
    const gather_attribute *attribute = &node->attributes[i];
    if (strcmp(attribute->name, name) != 0) continue;
    if (found && attribute->kind != GATHER_ATTRIBUTE_GRAPH) return &attribute_twice;
    if (!found) found = attribute;
  }
  return found;
}

const gather_attribute *gather_function_attribute(const gather_function *function, const gather_node *call, const char *name) {
  const gather_attribute *given = gather_node_attribute(call, name);
  for (int32_t i = 0; function && !given && i < function->default_count; i++)
    if (strcmp(function->defaults[i].name, name) == 0) given = &function->defaults[i];
  return given;
}

const gather_attribute *gather_constant_attribute(const gather_node *node) {
  static const char *const FORMS[] = {"value",        "value_int",    "value_ints",    "value_float",
                                      "value_floats", "value_string", "value_strings", "sparse_value"};
  const gather_attribute *found = NULL;
  for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS && !found; i++) found = gather_node_attribute(node, FORMS[i]);
  return found;
}

bool gather_attribute_tensor(const gather_attribute *attribute, int64_t shape[1], gather_tensor *tensor) {
  const bool list = attribute->kind == GATHER_ATTRIBUTE_INTS;
  gather_type type = GATHER_TYPE_INT64;
  const void *data = &attribute->integer;
  if (attribute->tensor) {
    *tensor = attribute->tensor->tensor;
    return true;
  }
  if (list)
    data = attribute->integers;
  else if (attribute->kind == GATHER_ATTRIBUTE_FLOAT)
    type = GATHER_TYPE_FLOAT32, data = &attribute->number;
  else if (attribute->kind == GATHER_ATTRIBUTE_TEXT && attribute->type) /* in IR every attribute is text */
    type = GATHER_TYPE_STRING, data = &attribute->text;
  else if (attribute->kind != GATHER_ATTRIBUTE_INT)
    return false;
  shape[0] = attribute->count;
  *tensor = (gather_tensor){
      .data = (void *)(uintptr_t)data, .type = type, .rank = list ? 1 : 0, .shape = list ? shape : NULL, .flags = GATHER_TENSOR_READ_ONLY};
  return true;
}

/* A decimal integer that fits; blanks around it are allowed, as in OpenVINO. */
static bool parse_integer(gather_string text, int64_t *value) {
  size_t at = 0, end = text.bytes;
  while (at < end && text.text[at] == ' ') at++;
  while (end > at && text.text[end - 1] == ' ') end--;
  bool negative = at < end && text.text[at] == '-';
  if (at < end && (text.text[at] == '-' || text.text[at] == '+')) at++;
  if (at == end) return false;
  int64_t number = 0; /* negative: INT64_MIN has no positive counterpart */
  for (; at < end; at++) {
    int digit = text.text[at] - '0';
    if (digit < 0 || digit > 9 || number < (INT64_MIN + digit) / 10) return false;
    number = number * 10 - digit;
  }
  if (!negative && number == INT64_MIN) return false;
  *value = negative ? number : -number;
  return true;
}

bool gather_attribute_integer(const gather_attribute *attribute, int64_t *value) {
  if (attribute->kind == GATHER_ATTRIBUTE_TEXT && !attribute->type) return parse_integer(attribute->text, value);
  if (attribute->kind != GATHER_ATTRIBUTE_INT) return false;
  *value = attribute->integer;
  return true;
}

static bool is_word(gather_string text, const char *word) {
  size_t at = 0;
  while (at < text.bytes && word[at] && (text.text[at] | 32) == (word[at] | 32)) at++;
  return at == text.bytes && !word[at];
}

bool gather_attribute_flag(const gather_attribute *attribute, bool *value) {
  int64_t number;
  if (attribute->kind == GATHER_ATTRIBUTE_TEXT && !attribute->type) {
    *value = is_word(attribute->text, "true") || is_word(attribute->text, "1");
    return *value || is_word(attribute->text, "false") || is_word(attribute->text, "0");
  }
  if (!gather_attribute_integer(attribute, &number)) return false;
  *value = number != 0;
  return true;
}

gather_status gather_attribute_wrong(const gather_attribute *attribute, const char *name, const char *wanted, const char *words,
                                     gather_error *error) {
  if (attribute->kind == GATHER_ATTRIBUTE_REFERENCE)
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "attribute '%.60s' refers to attribute '%.60s' of the calling node, which is not known here", name,
                       attribute->text.text);
  if (attribute == &attribute_twice) return gather_fail(error, GATHER_FILE_MALFORMED, "attribute '%.60s' is given twice", name);
  if (attribute->type)
    return gather_fail(error, GATHER_FILE_MALFORMED, "attribute '%.60s' must have type %s, not %s", name, wanted, attribute->type);
  return gather_fail(error, GATHER_FILE_MALFORMED, "attribute '%.60s' must be %s, not '%.60s'", name, words, attribute->text.text);
}
