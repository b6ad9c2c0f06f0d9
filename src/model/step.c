/* SPDX-License-Identifier: MIT
 *
 * step.c: what the inference of every operator needs: inputs, shapes, and the elements of small integer tensors.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "core/kernel/index_types.h"
#include "model/infer.h"

const gather_dim gather_any_dim = {0, GATHER_DIM_UNBOUNDED, NULL};

gather_dim gather_exact_dim(int64_t len) { return (gather_dim){len, len, NULL}; }

bool gather_is_exact(const gather_dim *dim) { return dim->min == dim->max; }

gather_dim gather_join_dims(const gather_dim *a, const gather_dim *b) {
  bool same_name = a->symbol && b->symbol && strcmp(a->symbol, b->symbol) == 0;
  return (gather_dim){a->min < b->min ? a->min : b->min, a->max > b->max ? a->max : b->max,
                      same_name ? a->symbol : NULL};
}

gather_dim gather_add_dims(const gather_dim *a, const gather_dim *b) {
  gather_dim both = {a->min, a->max, NULL};
  if (a->min == 0 && a->max == 0) return *b;
  if (b->min == 0 && b->max == 0) return *a;
  if (!gather_add(a->min, b->min, &both.min)) both.min = 0;
  if (a->max == GATHER_DIM_UNBOUNDED || b->max == GATHER_DIM_UNBOUNDED || !gather_add(a->max, b->max, &both.max))
    both.max = GATHER_DIM_UNBOUNDED;
  return both;
}

void gather_step_output(gather_step *step, int32_t i) {
  step->outs[step->at] = step->out;
  step->at = i;
  step->out = step->outs[i];
}

const gather_known *gather_step_in(const gather_step *step, int32_t i) {
  static const gather_known NOTHING = {.name = "", .rank = -1};
  const gather_known *known =
      i < step->node->input_count ? gather_scope_find(step->scope, step->node->inputs[i]) : NULL;
  return known ? known : &NOTHING;
}

bool gather_step_has(const gather_step *step, int32_t i) {
  return i < step->node->input_count && *step->node->inputs[i] != '\0';
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
  return gather_integer_load((const char *)tensor->data + offset, tensor->type,
                             (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0, value);
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
  if (!gather_known_lengths(&step->out, lengths) || !gather_shape_len(step->out.rank, lengths, &len) || len != count)
    return;
  if (!spend(step, count)) return;
  step->out.parts = parts;
  step->out.part_count = count;
  for (int64_t i = 0; i < count; i++)
    if (parts[i].min != parts[i].max) return;
  make_tensor(step, parts, count, lengths);
}

bool gather_wrap_axis(int64_t axis, int32_t rank, int32_t *wrapped) {
  if (axis < -rank || axis >= rank) return false;
  *wrapped = (int32_t)(axis < 0 ? axis + rank : axis);
  return true;
}
