/* SPDX-License-Identifier: MIT
 *
 * values.c: views of known tensors, and the loop over the elements of several of them.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/infer.h"

bool gather_tensor_view(const gather_tensor *tensor, gather_view *view) {
  if (!gather_type_is_index(tensor->type) && tensor->type != GATHER_TYPE_BOOL) return false;
  view->data = tensor->data;
  view->type = tensor->type;
  view->swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  view->rank = tensor->rank;
  for (int32_t d = 0; d < tensor->rank; d++) view->lengths[d] = tensor->shape[d];
  gather_tensor_strides(tensor, view->strides);
  return true;
}

bool gather_step_input_view(const gather_step *step, int32_t i, gather_view *view) {
  const gather_known *known = gather_step_in(step, i);
  return known->tensor && gather_tensor_view(known->tensor, view);
}

/* The lengths of the output and how many elements it has; false where that is not known. */
static bool out_lengths(const gather_step *step, int64_t lengths[GATHER_MAX_RANK], int64_t *len) {
  return gather_known_lengths(&step->out, lengths) && gather_shape_len(step->out.rank, lengths, len);
}

bool gather_step_set_view(gather_step *step, const gather_view *view) {
  int64_t lengths[GATHER_MAX_RANK], len;
  if (!out_lengths(step, lengths, &len) || step->out.rank != view->rank) return false;
  for (int32_t d = 0; d < view->rank; d++)
    if (lengths[d] != view->lengths[d]) return false;
  gather_tensor *tensor = gather_step_take(step, 1, sizeof *tensor);
  int64_t *shape = gather_step_take(step, view->rank, sizeof *shape);
  int64_t *strides = gather_step_take(step, view->rank, sizeof *strides);
  if (!tensor || !shape || !strides) return false;
  for (int32_t d = 0; d < view->rank; d++) {
    shape[d] = lengths[d];
    strides[d] = view->strides[d];
  }
  void *data;
  memcpy(&data, &view->data, sizeof data); /* a tensor says "not written" by a flag, not by its pointer */
  *tensor = (gather_tensor){.data = data,
                            .type = view->type,
                            .rank = view->rank,
                            .shape = shape,
                            .strides = strides,
                            .flags = GATHER_FILE_VIEW | (view->swapped ? GATHER_TENSOR_BYTE_SWAPPED : 0u)};
  if (gather_tensor_check(tensor, NULL) != GATHER_OK) return false;
  step->out.tensor = tensor;
  return true;
}

/* Large tensors may use only half of the limit; the rest is for shapes. */
static bool spend(const gather_step *step, int64_t count) {
  int64_t kept = count > GATHER_MAX_PARTS ? GATHER_ALL_PARTS / 2 : 0;
  if (count > *step->parts_left - kept) return false;
  *step->parts_left -= count;
  return true;
}

bool gather_step_new_view(gather_step *step, gather_view *view) {
  int64_t len;
  if (!out_lengths(step, view->lengths, &len) || !spend(step, len)) return false;
  view->type = step->out.type == GATHER_TYPE_BOOL || step->out.type == GATHER_TYPE_INT32 ? step->out.type : GATHER_TYPE_INT64;
  int64_t bytes = gather_type_get(view->type)->bits / 8;
  view->rank = step->out.rank;
  view->swapped = false;
  const gather_tensor shape = {.type = view->type, .rank = view->rank, .shape = view->lengths};
  gather_tensor_strides(&shape, view->strides);
  view->data = gather_step_take(step, len > 0 ? len : 1, (size_t)bytes);
  return view->data != NULL;
}

void gather_step_copy_view(gather_step *step, const gather_view *from) {
  gather_view to;
  if (!gather_step_new_view(step, &to)) return;
  gather_view flat = to;
  flat.rank = from->rank;
  memcpy(flat.lengths, from->lengths, sizeof flat.lengths);
  const gather_tensor shape = {.type = to.type, .rank = from->rank, .shape = flat.lengths};
  gather_tensor_strides(&shape, flat.strides);
  if (gather_step_each(step, from, 1, NULL, &flat)) (void)gather_step_set_view(step, &to);
}

/* Numbers above INT64_MAX are not followed. */
static bool load(const char *at, gather_type type, bool swapped, int64_t *value) {
  return gather_integer_load(at, type, swapped, value) && (type != GATHER_TYPE_UINT64 || *value >= 0);
}

static void store(char *at, gather_type type, int64_t value) {
  int32_t narrow = (int32_t)(type == GATHER_TYPE_INT32 ? value : 0);
  if (type == GATHER_TYPE_BOOL)
    *at = value != 0;
  else if (type == GATHER_TYPE_INT32)
    memcpy(at, &narrow, sizeof narrow);
  else
    memcpy(at, &value, sizeof value);
}

static bool fits(gather_type type, int64_t value) {
  const gather_dim part = {value, value, NULL};
  return type == GATHER_TYPE_BOOL ? value == 0 || value == 1 : gather_parts_fit(&part, 1, type);
}

void gather_view_put(const gather_view *view, int64_t i, int64_t value) {
  char *base;
  memcpy(&base, &view->data, sizeof base);
  store(base + i * view->strides[0], view->type, value);
}

enum { MOST_INPUTS = 8 };

/* The element at the current position of all views. */
static bool one(const gather_step *step, const gather_view *from, const char *const *at, int32_t count, gather_element_fn function,
                char *to, gather_type type) {
  int64_t in[MOST_INPUTS], value;
  for (int32_t i = 0; i < count; i++)
    if (!load(at[i], from[i].type, from[i].swapped, &in[i])) return false;
  if (!function)
    value = in[0];
  else if (!function(step, in, count, &value))
    return false;
  if (!fits(step->out.type, value)) return false;
  store(to, type, value);
  return true;
}

bool gather_step_each(const gather_step *step, const gather_view *from, int32_t count, gather_element_fn function, const gather_view *to) {
  int64_t place[GATHER_MAX_RANK] = {0};
  const char *at[MOST_INPUTS];
  if (count > MOST_INPUTS) return false;
  for (int32_t d = 0; d < to->rank; d++)
    if (to->lengths[d] == 0) return true;
  for (int32_t i = 0; i < count; i++) at[i] = from[i].data;
  int64_t offset = 0, start = 0;
  char *base;
  memcpy(&base, &to->data, sizeof base);
  for (int32_t d = 0; d >= 0;) {
    if (!one(step, from, at, count, function, base + offset + start, to->type)) return false;
    for (d = to->rank - 1; d >= 0; d--) {
      bool wraps = ++place[d] == to->lengths[d];
      int64_t by = wraps ? 1 - to->lengths[d] : 1;
      for (int32_t i = 0; i < count; i++) at[i] += by * from[i].strides[d];
      offset += by * to->strides[d];
      if (!wraps) break;
      place[d] = 0;
    }
  }
  return true;
}

bool gather_view_stretch(gather_view *view, int32_t rank, const int64_t *lengths) {
  int32_t more = rank - view->rank;
  if (more < 0) return false;
  for (int32_t d = rank - 1; d >= 0; d--) {
    int64_t len = d < more ? 1 : view->lengths[d - more];
    if (len != lengths[d] && len != 1) return false;
    view->strides[d] = len == lengths[d] && d >= more ? view->strides[d - more] : 0;
    view->lengths[d] = lengths[d];
  }
  view->rank = rank;
  return true;
}
