/* SPDX-License-Identifier: MIT
 *
 * ir_text.c: numbers, types, shapes and operator names as OpenVINO IR writes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/format/ir/ir.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static const char *skip_blanks(const char *text) {
  while (is_blank(*text)) text++;
  return text;
}

/* Reads the number at *text and advances *text past it. */
static bool take_integer(const char **text, int64_t *value) {
  const char *start = skip_blanks(*text);
  char *end = NULL;
  errno = 0;
  long long number = strtoll(start, &end, 10);
  if (end == start || errno == ERANGE) return false;
  *value = number;
  *text = skip_blanks(end);
  return true;
}

bool gather_ir_integer(const char *text, int64_t *value) { return take_integer(&text, value) && *text == '\0'; }

const char *gather_ir_attribute(const ir_layer *layer, const char *name) {
  for (const ir_pair *pair = layer->pairs; pair; pair = pair->next)
    if (strcmp(pair->name, name) == 0) return pair->text;
  return NULL;
}

/* ---- operators */

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static bool same_letters(const char *a, const char *b) {
  while (*a && lower(*a) == lower(*b)) a++, b++;
  return lower(*a) == lower(*b);
}

const char *gather_ir_op(const ir_layer *layer) {
  static const char *const OLD_AND_NEW[][2] = {
      {"Const", "Constant"}, {"ReLU", "Relu"}, {"PReLU", "PRelu"}, {"SoftMax", "Softmax"}};
  for (size_t i = 0; i < sizeof OLD_AND_NEW / sizeof *OLD_AND_NEW; i++)
    if (strcmp(layer->type, OLD_AND_NEW[i][0]) == 0) return OLD_AND_NEW[i][1];
  return layer->type;
}

bool gather_ir_is(const ir_layer *layer, const char *op) {
  return same_letters(gather_ir_op(layer), op) || (strcmp(op, "Constant") == 0 && same_letters(layer->type, "Const"));
}

int64_t gather_ir_opset(const char *version) {
  static const char WORD[] = "opset";
  size_t at = 0;
  for (; WORD[at]; at++)
    if (lower(version[at]) != WORD[at]) return 0;
  int64_t number;
  bool is_digit = version[at] >= '0' && version[at] <= '9';
  return is_digit && gather_ir_integer(version + at, &number) ? number : 0;
}

/* ---- types */

gather_type gather_ir_type(const char *name, bool *known) {
  static const char *const NONE[] = {"", "dynamic", "undefined", "UNSPECIFIED"};
  *known = true;
  for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++)
    if (strcmp(name, NONE[i]) == 0) return GATHER_TYPE_NONE;
  for (int number = 1;; number++) {
    const gather_type_info *info = gather_type_get((gather_type)number);
    if (!info) break;
    if (!info->openvino_name) continue;
    if (strcmp(name, info->openvino_name) == 0 || strcmp(name, info->openvino_precision) == 0) return info->type;
  }
  *known = false;
  return GATHER_TYPE_NONE;
}

/* ---- shapes */

/* "5", "-1", "?", "2..5", "2..", "..5"; advances *at past it and the blanks after it. */
static bool take_dim(const char **at, gather_dim *dim) {
  *dim = (gather_dim){.min = 0, .max = GATHER_DIM_UNBOUNDED};
  *at = skip_blanks(*at);
  if (**at == '?') {
    *at = skip_blanks(*at + 1);
    return true;
  }
  bool has_low = strncmp(*at, "..", 2) != 0;
  if (has_low && !take_integer(at, &dim->min)) return false;
  if (dim->min == -1) {
    dim->min = 0;
    return strncmp(*at, "..", 2) != 0;
  }
  if (strncmp(*at, "..", 2) != 0) {
    dim->max = dim->min;
    return dim->min >= 0;
  }
  *at = skip_blanks(*at + 2);
  bool has_high = **at != ',' && **at != '\0';
  if (has_high && !take_integer(at, &dim->max)) return false;
  return dim->min >= 0 && dim->max >= dim->min;
}

bool gather_ir_shape(const char *text, gather_shape *shape) {
  const char *at = skip_blanks(text);
  shape->rank = 0;
  if (*at == '\0') return true;
  if (strncmp(at, "...", 3) == 0) {
    shape->rank = -1;
    return *skip_blanks(at + 3) == '\0';
  }
  for (;; at++) {
    if (shape->rank == GATHER_MAX_RANK || !take_dim(&at, &shape->dims[shape->rank++])) return false;
    if (*at != ',') return *at == '\0';
  }
}
