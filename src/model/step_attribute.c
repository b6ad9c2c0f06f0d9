/* SPDX-License-Identifier: MIT
 *
 * step_attribute.c: the attributes of a node being inferred: ONNX has numbers, OpenVINO IR texts, a function's body has them
 * from the node that calls it.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/infer.h"

const gather_attribute *gather_scope_attribute(const gather_scope *scope, const gather_node *node, const char *name) {
  const gather_attribute *attribute = gather_node_attribute(node, name);
  while (attribute && attribute->kind == GATHER_ATTRIBUTE_REFERENCE) {
    while (scope && !scope->call) scope = scope->parent;
    if (!scope) return attribute;
    attribute = gather_function_attribute(scope->function, scope->call, attribute->text.text);
    scope = scope->caller;
  }
  return attribute;
}

const gather_attribute *gather_step_find(const gather_step *step, const char *name) {
  return gather_scope_attribute(step->scope, step->node, name);
}

bool gather_step_integer(const gather_step *step, const char *name, int64_t fallback, int64_t *value) {
  const gather_attribute *attribute = gather_step_find(step, name);
  *value = fallback;
  return !attribute || gather_attribute_integer(attribute, value);
}

bool gather_step_flag(const gather_step *step, const char *name, bool fallback, bool *value) {
  const gather_attribute *attribute = gather_step_find(step, name);
  *value = fallback;
  return !attribute || gather_attribute_flag(attribute, value);
}

gather_type gather_step_named_type(const gather_step *step, const char *name, gather_type fallback) {
  const gather_attribute *attribute = gather_step_find(step, name);
  if (!attribute) return fallback;
  return attribute->kind == GATHER_ATTRIBUTE_TEXT ? gather_type_parse(attribute->text.text) : GATHER_TYPE_NONE;
}

static bool same_word(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if ((*a | 32) != (*b | 32)) return false;
  return *a == *b;
}

bool gather_step_word(const gather_step *step, const char *name, const char *const *words, int32_t count,
                      int32_t *word) {
  const gather_attribute *attribute = gather_step_find(step, name);
  *word = 0;
  if (!attribute) return true;
  if (attribute->kind != GATHER_ATTRIBUTE_TEXT) return false;
  for (; *word < count; ++*word)
    if (same_word(attribute->text.text, words[*word])) return true;
  return false;
}

const int64_t *gather_step_axes(gather_step *step, const char *name, int32_t i, int64_t *count, bool *given) {
  *count = 0;
  *given = gather_step_has(step, i) || gather_step_find(step, name);
  if (gather_step_has(step, i)) return gather_step_integers(step, gather_step_in(step, i), count);
  return gather_step_attribute(step, name, count);
}

/* "1,2" of an IR layer. */
static const int64_t *parse_list(gather_step *step, gather_string text, int64_t *count) {
  int64_t *numbers = gather_step_take(step, (int64_t)text.bytes / 2 + 1, sizeof *numbers);
  *count = 0;
  for (size_t at = 0; numbers && at < text.bytes;) {
    bool minus = text.text[at] == '-', any = false;
    int64_t number = 0;
    for (at += minus; at < text.bytes && text.text[at] >= '0' && text.text[at] <= '9'; at++, any = true)
      if (!gather_mul(number, 10, &number) || !gather_add(number, text.text[at] - '0', &number)) return NULL;
    if (!any) return NULL;
    numbers[(*count)++] = minus ? -number : number;
    while (at < text.bytes && (text.text[at] == ',' || text.text[at] == ' ')) at++;
  }
  return numbers;
}

const int64_t *gather_step_attribute(gather_step *step, const char *name, int64_t *count) {
  const gather_attribute *attribute = gather_step_find(step, name);
  if (!attribute) return NULL;
  if (attribute->kind == GATHER_ATTRIBUTE_TEXT && !attribute->type) return parse_list(step, attribute->text, count);
  if (attribute->kind != GATHER_ATTRIBUTE_INTS) return NULL;
  *count = attribute->count;
  static const int64_t NONE[1] = {0};
  return attribute->integers ? attribute->integers : NONE;
}
