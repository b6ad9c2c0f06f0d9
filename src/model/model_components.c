/* SPDX-License-Identifier: MIT
 *
 * model_components.c: what each number of an index selects on: its axis, the length of that axis, and the smallest and the
 * largest of these numbers. An index has one number, or is a tuple of them (GatherND).
 */
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/index_types.h"
#include "model/bounds.h"
#include "model/model_check.h"

/* The smallest and the largest of one row of indices. */
#define GATHER_SCAN(ctype, suffix, ENUM, is_signed)                                                       \
  static void scan_##suffix(const char *at, int64_t step, int64_t count, bool swapped, bool first,        \
                            gather_model_component *to) {                                                 \
    ctype low = first ? load_##suffix(at, swapped) : (ctype)to->min, high = first ? low : (ctype)to->max; \
    for (int64_t i = 0; i < count; i++) {                                                                 \
      ctype value = load_##suffix(at + i * step, swapped);                                                \
      low = value < low ? value : low;                                                                    \
      high = value > high ? value : high;                                                                 \
    }                                                                                                     \
    to->min = (int64_t)low;                                                                               \
    to->max = (int64_t)high;                                                                              \
  }
GATHER_INDEX_TYPES_LIST(GATHER_SCAN)

static void scan_row(const gather_tensor *tensor, const char *at, int64_t step, int64_t count, bool first,
                     gather_model_component *to) {
  bool swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  switch (tensor->type) {
#define GATHER_SCAN_CASE(ctype, suffix, ENUM, is_signed) \
  case GATHER_TYPE_##ENUM:                               \
    scan_##suffix(at, step, count, swapped, first, to);  \
    break;
    GATHER_INDEX_TYPES_LIST(GATHER_SCAN_CASE)
#undef GATHER_SCAN_CASE
    default:
      break;
  }
}

/* min and max of a tensor that is not empty, row by row along the last dimension. */
static void scan(const gather_tensor *tensor, gather_model_component *to) {
  int64_t strides[GATHER_MAX_RANK], at[GATHER_MAX_RANK] = {0};
  int32_t last = tensor->rank - 1;
  const char *base = tensor->data;
  gather_tensor_strides(tensor, strides);
  int64_t count = last < 0 ? 1 : tensor->shape[last], step = last < 0 ? 0 : strides[last];
  for (bool first = true, more = true; more; first = false) {
    scan_row(tensor, base, step, count, first, to);
    int32_t d = last - 1;
    for (; d >= 0; d--) {
      base += strides[d];
      if (++at[d] < tensor->shape[d]) break;
      base -= strides[d] * tensor->shape[d];
      at[d] = 0;
    }
    more = d >= 0;
  }
}

/* The numbers of one component: without the last dimension, which has all of a tuple. */
static void scan_component(const gather_tensor *tensor, int32_t component, gather_model_component *to) {
  int64_t strides[GATHER_MAX_RANK];
  gather_tensor view = *tensor;
  gather_tensor_strides(tensor, strides);
  view.rank--;
  view.strides = strides;
  view.data = (char *)tensor->data + component * strides[view.rank];
  scan(&view, to);
}

static bool is_below(const gather_model_node *out, int64_t a, int64_t b) {
  return out->value_is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static void scan_all(gather_model_node *out, gather_model_component *components, int32_t count, bool tuples) {
  const gather_tensor *tensor = out->indices.value;
  out->index_count = gather_tensor_len(tensor);
  out->value_is_unsigned = tensor->type == GATHER_TYPE_UINT64;
  for (int32_t c = 0; out->index_count > 0 && c < count; c++) {
    gather_model_component *to = &components[c];
    if (tuples)
      scan_component(tensor, c, to);
    else
      scan(tensor, to);
    if (c == 0 || is_below(out, to->min, out->min)) out->min = to->min;
    if (c == 0 || is_below(out, out->max, to->max)) out->max = to->max;
  }
}

/* How many numbers an index has; -1 if not known. */
static int64_t tuple_len(const gather_model_node *out) {
  const gather_operand *indices = &out->indices;
  if (!out->rules || out->rules->tuples == GATHER_TUPLES_NONE) return 1;
  if (indices->rank < 1 || !gather_is_exact(&indices->dims[indices->rank - 1])) return -1;
  return indices->dims[indices->rank - 1].min;
}

/* Whether that many axes of data exist from the node's axis on. */
static bool fits(const gather_model_node *out, int64_t count) {
  return out->axis_known && count >= 0 && out->data.rank >= 1 && out->axis >= 0 && out->axis <= out->data.rank &&
         count <= out->data.rank - out->axis;
}

gather_status gather_check_components(gather_check *check, gather_model_node *out, gather_error *error) {
  const int64_t len = tuple_len(out);
  const bool tuples = out->rules && out->rules->tuples != GATHER_TUPLES_NONE && len <= GATHER_MAX_RANK;
  const int32_t count = !tuples ? 1 : len < 0 ? 0 : (int32_t)len;
  gather_model_component *components = gather_arena_take(&check->arena, count, sizeof *components);
  if (!components) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory to check a model");
  out->component_count = -1;
  if (fits(out, len)) {
    out->components = components;
    out->component_count = count;
    for (int32_t c = 0; c < count; c++) {
      const gather_dim *dim = &out->data.dims[out->axis + c];
      components[c].axis = out->axis + c;
      components[c].len = gather_is_exact(dim) ? dim->min : -1;
    }
  }
  if (out->indices_known && !check->probe) scan_all(out, components, count, tuples);
  return GATHER_OK;
}

/* The dimensions that data and indices share: all but the axis, or the first ones of a batch. */
static bool is_shared(const gather_model_node *out, int32_t d) {
  return out->rules->off_axis == GATHER_OFF_AXIS_NONE ? d < out->batch_dims : d != out->axis;
}

bool gather_check_lengths_fit(const gather_model_node *out) {
  const gather_operand *data = &out->data, *indices = &out->indices;
  const bool shorter = out->rules->off_axis == GATHER_OFF_AXIS_AT_MOST;
  if (data->rank < 0 || (out->rules->off_axis != GATHER_OFF_AXIS_NONE && indices->rank != data->rank)) return false;
  for (int32_t d = 0; d < data->rank; d++) {
    if (!is_shared(out, d)) continue;
    if (d >= indices->rank) return false;
    const gather_dim *a = &indices->dims[d], *b = &data->dims[d];
    if (!(shorter ? a->max <= b->min : gather_is_exact(a) && gather_is_exact(b) && a->min == b->min)) return false;
  }
  return true;
}

bool gather_check_stays_in_range(const gather_scope *scope, const gather_model_node *out, gather_dim *bounds) {
  const gather_known *known = gather_scope_find(scope, out->indices.name);
  if (!known || known->unreadable || !gather_type_is_index(known->type) || !out->axis_known ||
      out->component_count < 1 || out->rules->on_bad != GATHER_ON_BAD_ERROR || !gather_check_lengths_fit(out))
    return false;
  *bounds = gather_bounds_of(known);
  for (int32_t c = 0; c < out->component_count; c++) {
    const int64_t least = out->data.dims[out->components[c].axis].min;
    if (bounds->max >= least || bounds->min < (out->rules->negative ? -least : 0)) return false;
  }
  return true;
}
