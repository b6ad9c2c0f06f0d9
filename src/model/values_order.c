/* SPDX-License-Identifier: MIT
 *
 * values_order.c: operators whose result is where elements are, by their order: ArgMax, ArgMin, TopK, NonZero. Floats are compared
 * too: each becomes an integer that has the same place in their order. What is not a number makes the result unknown: runtimes differ.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/values.h"

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
    if (j != last && (last < 0 || is_before(along, line, last, j, sign)) &&
        (best < 0 || is_before(along, line, j, best, sign)))
      best = j;
  return best;
}

/* The output's elements are written in row-major order: a view of one axis over them. */
static bool new_flat(gather_step *step, gather_view *whole, gather_view *flat, int64_t *count) {
  int64_t lengths[GATHER_MAX_RANK];
  if (step->out.tensor || !gather_known_lengths(&step->out, lengths) ||
      !gather_shape_len(step->out.rank, lengths, count) || !gather_step_new_view(step, whole))
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
  if (!axis_of(step, 0, &axis) || !gather_step_flag(step, "select_last_index", false, &last) || last ||
      !lines_along(step, axis, &along) || !new_flat(step, &whole, &flat, &count) || count != along.count)
    return;
  for (int64_t i = 0; i < count; i++) gather_view_put(&flat, i, next_in_order(&along, line_at(&along, i), -1, sign));
  (void)gather_step_set_view(step, &whole);
}

static void follow_arg_max(gather_step *step) { follow_arg(step, 1); }
static void follow_arg_min(gather_step *step) { follow_arg(step, -1); }
const gather_exact gather_exact_arg_max = {follow_arg_max, NULL, 1, GATHER_NUMBERS};
const gather_exact gather_exact_arg_min = {follow_arg_min, NULL, 1, GATHER_NUMBERS};

/* The indices; the values are followed by whoever gathers with them. `sorted` 0 leaves the order to the runtime. */
static void follow_top(gather_step *step) {
  int32_t axis;
  int64_t count, steps;
  bool largest, sorted;
  lines along;
  gather_view whole, flat;
  if (step->openvino || step->at != 1 || !axis_of(step, -1, &axis) ||
      !gather_step_flag(step, "largest", true, &largest) || !gather_step_flag(step, "sorted", true, &sorted) ||
      !sorted || step->out.rank < 1)
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
const gather_exact gather_exact_top = {follow_top, NULL, 1, GATHER_NUMBERS};

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
const gather_exact gather_exact_non_zero = {follow_non_zero, NULL, 1, GATHER_NUMBERS};
