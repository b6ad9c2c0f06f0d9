/* SPDX-License-Identifier: MIT
 *
 * step.c: what the inference of every operator needs of a node: inputs, shapes, attributes (ONNX has numbers, OpenVINO IR texts, a
 * function's body has them from the node that calls it), the elements of small integer tensors, and the interval of all elements.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "core/kernel/index_types.h"
#include "model/infer.h"

const gather_dim gather_any_dim = {0, GATHER_DIM_UNBOUNDED, NULL};
const gather_dim gather_any_number = {INT64_MIN, GATHER_DIM_UNBOUNDED, NULL};

gather_dim gather_join_dims(const gather_dim *a, const gather_dim *b) {
  bool same_name = a->symbol && b->symbol && strcmp(a->symbol, b->symbol) == 0;
  return (gather_dim){a->min < b->min ? a->min : b->min, a->max > b->max ? a->max : b->max, same_name ? a->symbol : NULL};
}

const gather_known *gather_step_in(const gather_step *step, int32_t i) {
  static const gather_known NOTHING = {.name = "", .rank = -1};
  const gather_known *known = i < step->node->input_count ? gather_scope_find(step->scope, step->node->inputs[i]) : NULL;
  return known ? known : &NOTHING;
}

void *gather_step_take(gather_step *step, int64_t count, size_t bytes) {
  void *memory = gather_arena_take(step->arena, count, (int64_t)bytes);
  if (!memory) step->no_memory = true;
  return memory;
}

void gather_step_shape(gather_step *step, int32_t rank, const gather_dim *dims) {
  if (rank < 0 || rank > GATHER_MAX_RANK) return;
  gather_dim *copy = gather_step_take(step, rank, sizeof *copy);
  if (!copy) return;
  if (rank > 0) memcpy(copy, dims, (size_t)rank * sizeof *dims);
  step->out.rank = rank;
  step->out.dims = copy;
}

bool gather_known_lengths(const gather_known *known, int64_t lengths[GATHER_MAX_RANK]) {
  for (int32_t d = 0; d < known->rank; d++) {
    if (known->dims[d].min != known->dims[d].max) return false;
    lengths[d] = known->dims[d].min;
  }
  return known->rank >= 0;
}

int32_t gather_integer_bits(gather_type type) {
  if (type == GATHER_TYPE_BOOL) return 1;
  return gather_type_is_index(type) ? gather_type_get(type)->bits : 0;
}

bool gather_parts_fit(const gather_dim *parts, int64_t count, gather_type to) {
  int32_t bits = gather_integer_bits(to);
  if (bits < 8) return false;
  bool is_signed = gather_type_get(to)->kind == GATHER_KIND_INT;
  int64_t high = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  int64_t low = !is_signed ? 0 : bits == 64 ? INT64_MIN : -high - 1;
  for (int64_t i = 0; i < count; i++)
    if (parts[i].min < low || (parts[i].min == parts[i].max && parts[i].max > high)) return false;
  return true;
}

bool gather_integer_load(const char *at, gather_type type, bool swapped, int64_t *value) {
  switch (type) {
#define GATHER_LOAD_CASE(ctype, suffix, ENUM, is_signed) \
  case GATHER_TYPE_##ENUM:                               \
    *value = (int64_t)load_##suffix(at, swapped);        \
    return true;
    GATHER_INDEX_TYPES_LIST(GATHER_LOAD_CASE)
#undef GATHER_LOAD_CASE
    case GATHER_TYPE_BOOL:
      *value = *at != 0;
      return true;
    default:
      return false;
  }
}

bool gather_tensor_integer(const gather_tensor *tensor, int64_t i, int64_t *value) {
  int64_t strides[GATHER_MAX_RANK], offset = 0;
  if (!gather_type_is_index(tensor->type) && tensor->type != GATHER_TYPE_BOOL) return false;
  gather_tensor_strides(tensor, strides);
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    offset += i % tensor->shape[d] * strides[d];
    i /= tensor->shape[d];
  }
  return gather_integer_load((const char *)tensor->data + offset, tensor->type, (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0, value);
}

static bool spend(gather_step *step, int64_t count) {
  if (count > *step->parts_left) return false;
  *step->parts_left -= count;
  return true;
}

gather_dim *gather_step_new_elements(gather_step *step, int64_t count) {
  return spend(step, count) ? gather_step_take(step, count, sizeof(gather_dim)) : NULL;
}

const gather_dim *gather_step_elements(gather_step *step, const gather_known *known, int64_t *count) {
  if (known->parts) {
    *count = known->part_count;
    return known->parts;
  }
  if (!known->tensor || gather_tensor_len(known->tensor) > GATHER_MAX_PARTS) return NULL;
  *count = gather_tensor_len(known->tensor);
  gather_dim *parts = gather_step_new_elements(step, *count);
  for (int64_t i = 0; parts && i < *count; i++) {
    if (!gather_tensor_integer(known->tensor, i, &parts[i].min)) return NULL;
    if (known->tensor->type == GATHER_TYPE_UINT64 && parts[i].min < 0) return NULL; /* too large to be a length */
    parts[i].max = parts[i].min;
  }
  return parts;
}

const int64_t *gather_step_integers(gather_step *step, const gather_known *known, int64_t *count) {
  const gather_dim *parts = gather_step_elements(step, known, count);
  int64_t *integers = parts && spend(step, *count) ? gather_step_take(step, *count, sizeof *integers) : NULL;
  for (int64_t i = 0; integers && i < *count; i++) {
    if (parts[i].min != parts[i].max) return NULL;
    integers[i] = parts[i].min;
  }
  return integers;
}

/* Exact elements as a tensor, of int32 where the output is and every element fits, else of int64. */
static void make_tensor(gather_step *step, const gather_dim *parts, int64_t count, const int64_t *lengths) {
  bool narrow = step->out.type == GATHER_TYPE_INT32;
  for (int64_t i = 0; i < count; i++) narrow = narrow && parts[i].min >= INT32_MIN && parts[i].min <= INT32_MAX;
  gather_tensor *tensor = gather_step_take(step, 1, sizeof *tensor);
  int64_t *shape = gather_step_take(step, step->out.rank, sizeof *shape);
  char *values = gather_step_take(step, count, narrow ? sizeof(int32_t) : sizeof(int64_t));
  if (!tensor || !shape || !values) return;
  for (int32_t d = 0; d < step->out.rank; d++) shape[d] = lengths[d];
  for (int64_t i = 0; i < count; i++) {
    int32_t small = (int32_t)(narrow ? parts[i].min : 0);
    if (narrow)
      memcpy(values + i * (int64_t)sizeof small, &small, sizeof small);
    else
      memcpy(values + i * (int64_t)sizeof parts[i].min, &parts[i].min, sizeof parts[i].min);
  }
  *tensor = (gather_tensor){.data = values,
                            .type = narrow ? GATHER_TYPE_INT32 : GATHER_TYPE_INT64,
                            .rank = step->out.rank,
                            .shape = shape,
                            .flags = GATHER_TENSOR_READ_ONLY};
  step->out.tensor = tensor;
}

void gather_step_set_elements(gather_step *step, const gather_dim *parts, int64_t count) {
  int64_t lengths[GATHER_MAX_RANK], len;
  if (!gather_known_lengths(&step->out, lengths) || !gather_shape_len(step->out.rank, lengths, &len) || len != count) return;
  if (!spend(step, count)) return;
  step->out.parts = parts;
  step->out.part_count = count;
  for (int64_t i = 0; i < count; i++)
    if (parts[i].min != parts[i].max) return;
  make_tensor(step, parts, count, lengths);
}

void gather_step_fill(gather_step *step, gather_dim part) {
  int64_t lengths[GATHER_MAX_RANK], len = 1;
  if (!gather_known_lengths(&step->out, lengths)) return;
  for (int32_t d = 0; d < step->out.rank; d++)
    if (!gather_mul(len, lengths[d], &len)) return;
  gather_dim *parts = len <= GATHER_MAX_PARTS ? gather_step_new_elements(step, len) : NULL;
  for (int64_t i = 0; parts && i < len; i++) parts[i] = part;
  if (parts) gather_step_set_elements(step, parts, len);
}

/* ---- attributes */

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

bool gather_step_word(const gather_step *step, const char *name, const char *const *words, int32_t count, int32_t *word) {
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

/* ---- the interval of all elements */

/* What a type can hold; unsigned numbers of 64 bits are not followed. */
static gather_dim room_of(gather_type type) {
  const int32_t bits = gather_integer_bits(type);
  if (bits == 1) return (gather_dim){0, 1, NULL};
  if (bits == 0 || bits == 64) return gather_any_number;
  const int64_t half = (int64_t)1 << (bits - 1);
  return gather_type_get(type)->kind == GATHER_KIND_INT ? (gather_dim){-half, half - 1, NULL} : (gather_dim){0, 2 * half - 1, NULL};
}

/* Of the elements of a known tensor; they may be many. */
static bool bounds_of_tensor(const gather_tensor *tensor, gather_dim *bounds) {
  const int64_t len = gather_tensor_len(tensor);
  int64_t value;
  if (len < 1 || len > GATHER_MAX_PARTS) return false;
  for (int64_t i = 0; i < len; i++) {
    if (!gather_tensor_integer(tensor, i, &value) || (tensor->type == GATHER_TYPE_UINT64 && value < 0)) return false;
    const gather_dim one = gather_exact_dim(value);
    *bounds = i == 0 ? one : gather_hull(*bounds, one);
  }
  return true;
}

gather_dim gather_bounds_of(const gather_known *known) {
  gather_dim bounds;
  const gather_dim room = room_of(known->type);
  if (known->tensor && bounds_of_tensor(known->tensor, &bounds)) return bounds;
  if (known->parts && known->part_count > 0) {
    bounds = known->parts[0];
    for (int64_t i = 1; i < known->part_count; i++) bounds = gather_hull(bounds, known->parts[i]);
    bounds.symbol = NULL;
    return bounds;
  }
  return known->bounds ? *known->bounds : room;
}
