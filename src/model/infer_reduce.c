/* SPDX-License-Identifier: MIT
 *
 * infer_reduce.c: operators that go along an axis, and remove, shorten or add it: Reduce*, ArgMax, TopK, NonZero, OneHot. The results of
 * some are where elements are, by their order. Floats are compared too: each becomes an integer that has the same place in their order.
 * What is not a number makes the result unknown: runtimes differ.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/infer.h"

/* Removes the marked axes, or sets their length to 1. */
static void reduce_marked(gather_step *step, const bool *gone, bool keep) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < in->rank; d++) {
    if (gone[d] && keep) dims[rank++] = gather_exact_dim(1);
    if (!gone[d]) dims[rank++] = in->dims[d];
  }
  gather_step_shape(step, rank, dims);
}

/* For unknown axes, of which at most the number is known. */
static void reduce_unknown(gather_step *step, const gather_known *axes, bool keep) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t count = 0;
  if (!keep && (axes->rank != 1 || !gather_is_exact(&axes->dims[0]))) return;
  if (!keep) count = axes->dims[0].min;
  /* What an empty list means here is unknown, and an axis may be given twice. */
  if (count < 0 || (!keep && count != 1) || count > in->rank) return;
  for (int32_t d = 0; d < in->rank; d++) dims[d] = gather_any_dim;
  gather_step_shape(step, in->rank - (int32_t)count, dims);
}

static void infer_reduce(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  int32_t axis;
  bool given, keep, nothing, gone[GATHER_MAX_RANK] = {false};
  step->out.type = in->type;
  const int64_t *axes = gather_step_axes(step, "axes", 1, &count, &given);
  if (in->rank < 0 || !gather_step_flag(step, step->openvino ? "keep_dims" : "keepdims", !step->openvino, &keep) ||
      !gather_step_flag(step, "noop_with_empty_axes", false, &nothing))
    return;
  if (given && !axes) {
    reduce_unknown(step, gather_step_in(step, 1), keep);
    return;
  }
  if (count == 0 && !step->openvino && !nothing)
    for (int32_t d = 0; d < in->rank; d++) gone[d] = true;
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes[i], in->rank, &axis)) return;
    gone[axis] = true;
  }
  reduce_marked(step, gone, keep);
}

static void infer_arg(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t number;
  int32_t axis;
  bool keep, gone[GATHER_MAX_RANK] = {false};
  step->out.type = GATHER_TYPE_INT64;
  if (in->rank < 1 || !gather_step_integer(step, "axis", 0, &number) || !gather_step_flag(step, "keepdims", true, &keep) ||
      !gather_wrap_axis(number, in->rank, &axis))
    return;
  gone[axis] = true;
  reduce_marked(step, gone, keep);
}

/* k: an input, or an attribute before opset 10. Any length if it is unknown. */
static gather_dim top_count(gather_step *step) {
  int64_t count, k;
  if (!gather_step_has(step, 1)) {
    const bool is_there = gather_step_find(step, "k") != NULL;
    return is_there && gather_step_integer(step, "k", 0, &k) && k >= 0 ? gather_exact_dim(k) : gather_any_dim;
  }
  const gather_dim *parts = gather_step_elements(step, gather_step_in(step, 1), &count);
  return parts && count == 1 && parts[0].min >= 0 ? parts[0] : gather_any_dim;
}

static void infer_top(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t number;
  int32_t axis;
  if (in->rank < 1 || !gather_step_integer(step, "axis", -1, &number) || !gather_wrap_axis(number, in->rank, &axis)) return;
  memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
  dims[axis] = top_count(step);
  if (dims[axis].min > in->dims[axis].max) dims[axis] = gather_any_dim; /* refused, or cut: runtimes differ */
  for (int32_t i = 0; i < step->node->output_count && i < 2; i++) {
    gather_step_output(step, i);
    step->out.type = i == 0           ? in->type
                     : step->openvino ? gather_step_named_type(step, "index_element_type", GATHER_TYPE_INT32)
                                      : GATHER_TYPE_INT64;
    gather_step_shape(step, in->rank, dims);
  }
}

static void infer_non_zero(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  step->out.type = step->openvino ? gather_step_named_type(step, "output_type", GATHER_TYPE_INT64) : GATHER_TYPE_INT64;
  gather_dim dims[2] = {gather_any_dim, gather_any_dim};
  if (in->rank > 0) dims[0] = gather_exact_dim(in->rank);
  gather_step_shape(step, 2, dims);
}

static void infer_one_hot(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t number;
  int32_t axis;
  step->out.type = gather_step_in(step, 2)->type;
  if (in->rank < 0 || in->rank >= GATHER_MAX_RANK || !gather_step_integer(step, "axis", -1, &number) ||
      !gather_wrap_axis(number, in->rank + 1, &axis))
    return;
  for (int32_t d = 0; d <= in->rank; d++) dims[d] = d == axis ? top_count(step) : in->dims[d - (d > axis)];
  gather_step_shape(step, in->rank + 1, dims);
}

/* ---- elements by their order: ArgMax, ArgMin, TopK, NonZero */

/* Steps of a search through lines of elements, so that no file can exhaust the time. */
enum { MOST_STEPS = 1 << 24 };

/* Floats as the unsigned numbers of their bits, which without the sign are in the order of the numbers. infinity: the bits of that. */
static const struct {
  gather_type type, bits;
  int32_t width;
  uint64_t infinity;
} FLOATS[] = {{GATHER_TYPE_FLOAT64, GATHER_TYPE_UINT64, 64, UINT64_C(0x7ff0000000000000)},
              {GATHER_TYPE_FLOAT32, GATHER_TYPE_UINT32, 32, 0x7f800000},
              {GATHER_TYPE_FLOAT16, GATHER_TYPE_UINT16, 16, 0x7c00},
              {GATHER_TYPE_BFLOAT16, GATHER_TYPE_UINT16, 16, 0x7f80}};

static bool key_at(const char *at, gather_type type, bool swapped, int64_t *key) {
  for (size_t f = 0; f < sizeof FLOATS / sizeof *FLOATS; f++) {
    if (FLOATS[f].type != type) continue;
    const uint64_t sign = UINT64_C(1) << (FLOATS[f].width - 1);
    if (!gather_integer_load(at, FLOATS[f].bits, swapped, key)) return false;
    const uint64_t bits = (uint64_t)*key, magnitude = bits & (sign - 1);
    *key = bits & sign ? -(int64_t)magnitude : (int64_t)magnitude;
    return magnitude <= FLOATS[f].infinity;
  }
  return gather_integer_load(at, type, swapped, key) && (type != GATHER_TYPE_UINT64 || *key >= 0);
}

/* The elements of input 0 in row-major order, as integers in the same order; 0 is 0. NULL where they are not known, or too many. */
static const int64_t *keys_of(gather_step *step, int64_t *count) {
  const gather_tensor *tensor = gather_step_in(step, 0)->tensor;
  int64_t strides[GATHER_MAX_RANK], place[GATHER_MAX_RANK] = {0};
  if (!tensor || gather_step_in(step, 0)->rank != tensor->rank) return NULL;
  *count = gather_tensor_len(tensor);
  if (*count > *step->parts_left / 2) return NULL;
  *step->parts_left -= *count;
  int64_t *keys = gather_step_take(step, *count > 0 ? *count : 1, sizeof *keys);
  const bool swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  const char *at = tensor->data;
  gather_tensor_strides(tensor, strides);
  for (int64_t i = 0; keys && i < *count; i++) {
    if (!key_at(at, tensor->type, swapped, &keys[i])) return NULL;
    for (int32_t d = tensor->rank - 1; d >= 0; d--) {
      at += strides[d];
      if (++place[d] < tensor->shape[d]) break;
      at -= place[d] * strides[d];
      place[d] = 0;
    }
  }
  return keys;
}

/* The lines along an axis: elements `by` apart, in groups. */
typedef struct {
  const int64_t *keys;
  int64_t len, by, count;
} lines;

static bool lines_along(gather_step *step, int32_t axis, lines *along) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t lengths[GATHER_MAX_RANK], count;
  if (!gather_known_lengths(in, lengths)) return false;
  *along = (lines){.keys = keys_of(step, &count), .len = lengths[axis], .by = 1};
  if (!along->keys || along->len == 0) return false;
  for (int32_t d = axis + 1; d < in->rank; d++) along->by *= lengths[d];
  along->count = count / along->len;
  return true;
}

/* The first element of line i. */
static const int64_t *line_at(const lines *along, int64_t i) {
  return along->keys + (i / along->by * along->len * along->by + i % along->by);
}

static bool axis_of(gather_step *step, int64_t fallback, int32_t *axis) {
  int64_t number;
  const int32_t rank = gather_step_in(step, 0)->rank;
  return rank >= 1 && gather_step_integer(step, "axis", fallback, &number) && gather_wrap_axis(number, rank, axis);
}

/* Elements of a line in the order of their keys, ties by their place. sign: -1 for the smallest first. */
static bool is_before(const lines *along, const int64_t *line, int64_t a, int64_t b, int sign) {
  const int64_t left = line[a * along->by], right = line[b * along->by];
  return left != right ? (sign > 0) == (left > right) : a < b;
}

/* The one after `last` in that order, the first of all for -1; -1 if there is none. */
static int64_t next_in_order(const lines *along, const int64_t *line, int64_t last, int sign) {
  int64_t best = -1;
  for (int64_t j = 0; j < along->len; j++)
    if (j != last && (last < 0 || is_before(along, line, last, j, sign)) && (best < 0 || is_before(along, line, j, best, sign))) best = j;
  return best;
}

/* The output's elements are written in row-major order: a view of one axis over them. */
static bool new_flat(gather_step *step, gather_view *whole, gather_view *flat, int64_t *count) {
  int64_t lengths[GATHER_MAX_RANK];
  if (step->out.tensor || !gather_known_lengths(&step->out, lengths) || !gather_shape_len(step->out.rank, lengths, count) ||
      !gather_step_new_view(step, whole))
    return false;
  *flat = *whole;
  flat->rank = 1;
  flat->strides[0] = gather_type_get(whole->type)->bits / 8;
  return true;
}

static void follow_arg(gather_step *step, int sign) {
  int32_t axis;
  int64_t count;
  bool last;
  lines along;
  gather_view whole, flat;
  if (!axis_of(step, 0, &axis) || !gather_step_flag(step, "select_last_index", false, &last) || last || !lines_along(step, axis, &along) ||
      !new_flat(step, &whole, &flat, &count) || count != along.count)
    return;
  for (int64_t i = 0; i < count; i++) gather_view_put(&flat, i, next_in_order(&along, line_at(&along, i), -1, sign));
  (void)gather_step_set_view(step, &whole);
}

static void follow_arg_max(gather_step *step) { follow_arg(step, 1); }

static void follow_arg_min(gather_step *step) { follow_arg(step, -1); }

/* The indices; the values are followed by whoever gathers with them. `sorted` 0 leaves the order to the runtime. */
static void follow_top(gather_step *step) {
  int32_t axis;
  int64_t count, steps;
  bool largest, sorted;
  lines along;
  gather_view whole, flat;
  if (step->openvino || step->at != 1 || !axis_of(step, -1, &axis) || !gather_step_flag(step, "largest", true, &largest) ||
      !gather_step_flag(step, "sorted", true, &sorted) || !sorted || step->out.rank < 1)
    return;
  const gather_dim *k = &step->out.dims[axis];
  if (!gather_is_exact(k) || !lines_along(step, axis, &along) || k->min > along.len) return;
  if (!gather_mul(along.count * along.len, k->min, &steps) || steps > MOST_STEPS) return;
  if (!new_flat(step, &whole, &flat, &count) || count != along.count * k->min) return;
  for (int64_t i = 0; i < along.count; i++) {
    int64_t place = -1, first = i / along.by * k->min * along.by + i % along.by;
    for (int64_t j = 0; j < k->min; j++) {
      place = next_in_order(&along, line_at(&along, i), place, largest ? 1 : -1);
      gather_view_put(&flat, first + j * along.by, place);
    }
  }
  (void)gather_step_set_view(step, &whole);
}

/* A row for each axis: the coordinates of the elements that are not 0, in row-major order. */
static void follow_non_zero(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t lengths[GATHER_MAX_RANK], count, found = 0, len, at = 0;
  gather_view whole, flat;
  if (in->rank < 1 || !gather_known_lengths(in, lengths)) return;
  const int64_t *keys = keys_of(step, &count);
  if (!keys) return;
  for (int64_t i = 0; i < count; i++) found += keys[i] != 0;
  const gather_dim dims[2] = {gather_exact_dim(in->rank), gather_exact_dim(found)};
  gather_step_shape(step, 2, dims);
  if (!new_flat(step, &whole, &flat, &len)) return;
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i;
    if (keys[i] == 0) continue;
    for (int32_t d = in->rank - 1; d >= 0; d--) {
      gather_view_put(&flat, d * found + at, rest % lengths[d]);
      rest /= lengths[d];
    }
    at++;
  }
  (void)gather_step_set_view(step, &whole);
}

/* ---- the tables */

const struct gather_rules_of_reduce gather_rules_reduce = {
    .reduce = infer_reduce,
    .arg = infer_arg,
    .top = infer_top,
    .non_zero = infer_non_zero,
    .one_hot = infer_one_hot,
};

const struct gather_exact_of_reduce gather_exact_reduce = {
    .arg_max = {follow_arg_max, NULL, 1, GATHER_NUMBERS},
    .arg_min = {follow_arg_min, NULL, 1, GATHER_NUMBERS},
    .top = {follow_top, NULL, 1, GATHER_NUMBERS},
    .non_zero = {follow_non_zero, NULL, 1, GATHER_NUMBERS},
};
