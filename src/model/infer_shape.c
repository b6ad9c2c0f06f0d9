/* SPDX-License-Identifier: MIT
 *
 * infer_shape.c: operators that change shapes (Unsqueeze, Squeeze, Reshape, Flatten, Transpose, Concat, Pad, Resize, DepthToSpace,
 * SpaceToDepth), and operators that keep them. Elements that only move stay known.
 */
#include <string.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "model/infer.h"

/* ---- elements in another shape */

/* Gives the view the lengths of the output, if only axes of length 1 are added or removed. */
static bool same_axes(gather_view *view, int32_t rank, const int64_t *lengths) {
  int64_t strides[GATHER_MAX_RANK];
  int32_t from = 0;
  for (int32_t d = 0; d < rank; d++) {
    strides[d] = 0;
    if (lengths[d] == 1) continue;
    while (from < view->rank && view->lengths[from] == 1) from++;
    if (from == view->rank || view->lengths[from] != lengths[d]) return false;
    strides[d] = view->strides[from++];
  }
  while (from < view->rank && view->lengths[from] == 1) from++;
  if (from < view->rank) return false;
  view->rank = rank;
  if (rank > 0) memcpy(view->strides, strides, (size_t)rank * sizeof *strides);
  if (rank > 0) memcpy(view->lengths, lengths, (size_t)rank * sizeof *lengths);
  return true;
}

/* The same elements in another shape. */
static void follow_reshape(gather_step *step, const gather_tensor *from) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view;
  if (!gather_step_is_open(step, lengths) || !gather_tensor_view(from, &view)) return;
  if (same_axes(&view, step->out.rank, lengths))
    (void)gather_step_set_view(step, &view);
  else
    gather_step_copy_view(step, &view);
}

/* Whether a tensor is in row-major order, so that another shape is another view of it. */
static bool is_dense(const gather_tensor *tensor) { return tensor->strides == NULL; }

/* Sets the elements to those of `from` in the shape that is set, where that fits. */
static void alias(gather_step *step, const gather_known *from) {
  int64_t lengths[GATHER_MAX_RANK], len;
  step->out.unreadable = from->unreadable;
  if (!gather_known_lengths(&step->out, lengths) || !gather_shape_len(step->out.rank, lengths, &len)) return;
  if (from->parts && from->part_count == len) {
    step->out.parts = from->parts;
    step->out.part_count = len;
  }
  if (!from->tensor || gather_tensor_len(from->tensor) != len) return;
  if (!is_dense(from->tensor)) {
    follow_reshape(step, from->tensor);
    return;
  }
  gather_tensor *tensor = gather_step_take(step, 1, sizeof *tensor);
  int64_t *shape = gather_step_take(step, step->out.rank, sizeof *shape);
  if (!tensor || !shape) return;
  for (int32_t d = 0; d < step->out.rank; d++) shape[d] = lengths[d];
  *tensor = *from->tensor;
  tensor->rank = step->out.rank;
  tensor->shape = shape;
  step->out.tensor = tensor;
}

static void follow_transpose(gather_step *step, const int32_t *axes) {
  int64_t lengths[GATHER_MAX_RANK];
  gather_view view, turned;
  if (!gather_step_is_open(step, lengths) || !gather_step_input_view(step, 0, &view) || view.rank != step->out.rank) return;
  turned = view;
  for (int32_t d = 0; d < view.rank; d++) {
    turned.lengths[d] = view.lengths[axes[d]];
    turned.strides[d] = view.strides[axes[d]];
  }
  (void)gather_step_set_view(step, &turned);
}

static void follow_concat(gather_step *step, int32_t axis) {
  int64_t lengths[GATHER_MAX_RANK], at = 0;
  gather_view to, from;
  if (!gather_step_is_open(step, lengths)) return;
  for (int32_t i = 0; i < step->node->input_count; i++) /* before any memory is taken */
    if (!gather_step_input_view(step, i, &from) || from.rank != step->out.rank) return;
  if (!gather_step_new_view(step, &to)) return;
  for (int32_t i = 0; i < step->node->input_count; i++) {
    if (!gather_step_input_view(step, i, &from) || from.lengths[axis] > lengths[axis] - at) return;
    gather_view part = to;
    part.data += from.lengths[axis] > 0 ? at * to.strides[axis] : 0;
    part.lengths[axis] = from.lengths[axis];
    for (int32_t d = 0; d < to.rank; d++)
      if (part.lengths[d] != from.lengths[d]) return;
    if (!gather_step_each(step, &from, 1, NULL, &part)) return;
    at += from.lengths[axis];
  }
  if (at == lengths[axis]) (void)gather_step_set_view(step, &to);
}

/* ---- shapes */

/* The lengths themselves are shared: they never change. */
static void infer_like(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  step->out.rank = in->rank;
  step->out.dims = in->dims;
}

static void infer_same(gather_step *step) {
  infer_like(step);
  step->out.type = gather_step_in(step, 0)->type;
}

static void infer_like_bool(gather_step *step) {
  infer_like(step);
  step->out.type = GATHER_TYPE_BOOL;
}

static void infer_like_second(gather_step *step) {
  infer_like(step);
  step->out.type = gather_step_in(step, 1)->type;
}

static void infer_identity(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  infer_same(step);
  step->out.tensor = in->tensor;
  step->out.parts = in->parts;
  step->out.part_count = in->part_count;
  step->out.unreadable = in->unreadable;
}

static void infer_unsqueeze(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  bool given;
  const int64_t *axes = gather_step_axes(step, "axes", 1, &count, &given);
  step->out.type = in->type;
  if (in->rank < 0 || !axes || count > GATHER_MAX_RANK - in->rank) return;
  int32_t rank = in->rank + (int32_t)count, from = 0, axis;
  bool is_new[GATHER_MAX_RANK] = {false};
  gather_dim dims[GATHER_MAX_RANK];
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes[i], rank, &axis) || is_new[axis]) return;
    is_new[axis] = true;
  }
  for (int32_t d = 0; d < rank; d++) dims[d] = is_new[d] ? (gather_dim){1, 1, NULL} : in->dims[from++];
  gather_step_shape(step, rank, dims);
  alias(step, in);
}

static void infer_squeeze(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  bool given;
  int64_t count;
  const int64_t *axes = gather_step_axes(step, "axes", 1, &count, &given);
  step->out.type = in->type;
  /* To OpenVINO an empty list means no list; ONNX does not define it. */
  if (in->rank < 0 || (given && !axes) || (given && count == 0 && !step->openvino)) return;
  given = given && count > 0;
  bool gone[GATHER_MAX_RANK] = {false};
  gather_dim dims[GATHER_MAX_RANK];
  int32_t rank = 0, axis;
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes[i], in->rank, &axis) || in->dims[axis].min > 1 || in->dims[axis].max < 1) return;
    gone[axis] = true;
  }
  for (int32_t d = 0; d < in->rank; d++) {
    const gather_dim *dim = &in->dims[d];
    if (!given && dim->min <= 1 && dim->max >= 1 && dim->min != dim->max) return; /* it may be 1 or not */
    if (!(given ? gone[d] : dim->min == 1 && dim->max == 1)) dims[rank++] = *dim;
  }
  gather_step_shape(step, rank, dims);
  alias(step, in);
}

/* A product of lengths: the product of the known ones, and a list of the unknown ones. */
typedef struct {
  int64_t known;
  const gather_dim *others[GATHER_MAX_RANK];
  int32_t count;
  bool lost; /* the product does not fit */
} factors;

static void add_factor(factors *all, const gather_dim *dim) {
  if (!gather_is_exact(dim))
    all->others[all->count++] = dim;
  else if (!gather_mul(all->known, dim->min, &all->known))
    all->lost = true;
}

/* Removes one factor that is the same length: the same axis, or an axis of the same name. */
static bool take_factor(factors *all, const gather_dim *dim) {
  for (int32_t i = 0; i < all->count; i++)
    if (all->others[i] == dim || (dim->symbol && all->others[i]->symbol && strcmp(all->others[i]->symbol, dim->symbol) == 0)) {
      all->others[i] = all->others[--all->count];
      return true;
    }
  return false;
}

/* The one length that is -1, computed from the others. from: each other length, or the axis of the input that it
 * copies. */
static gather_dim rest_of(const gather_known *in, const gather_dim *const *from, int64_t count, int64_t at) {
  factors all = {.known = 1}, others = {.known = 1};
  if (in->rank < 0) return gather_any_dim;
  for (int32_t d = 0; d < in->rank; d++) add_factor(&all, &in->dims[d]);
  for (int64_t d = 0; d < count; d++) {
    if (d == at) continue;
    if (gather_is_exact(from[d]))
      add_factor(&others, from[d]);
    else if (!take_factor(&all, from[d]))
      return gather_any_dim;
  }
  if (all.lost || others.lost || others.known <= 0) return gather_any_dim;
  if (all.count == 1 && all.known == others.known) return *all.others[0];
  if (all.count > 0 || all.known % others.known != 0) return gather_any_dim;
  return gather_exact_dim(all.known / others.known);
}

/* Whether a 0 copies the input's length; false where that is not known. */
static bool zero_rule(const gather_step *step, bool *copies) {
  bool flag;
  if (!gather_step_flag(step, step->openvino ? "special_zero" : "allowzero", false, &flag)) return false;
  *copies = step->openvino ? flag : !flag;
  return true;
}

static void infer_reshape(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0), *wanted = gather_step_in(step, 1);
  int64_t count, rest = -1;
  bool copies;
  gather_dim dims[GATHER_MAX_RANK];
  const gather_dim *from[GATHER_MAX_RANK];
  step->out.type = in->type;
  const gather_dim *target = gather_step_elements(step, wanted, &count);
  if (!target && wanted->rank == 1 && gather_is_exact(&wanted->dims[0]))
    count = wanted->dims[0].min;
  else if (!target)
    return;
  if (count > GATHER_MAX_RANK || !zero_rule(step, &copies)) return;
  for (int64_t d = 0; d < count; d++) {
    bool is_zero = target && target[d].min == 0 && target[d].max == 0 && copies;
    bool is_rest = target && target[d].min == -1 && target[d].max == -1;
    from[d] = is_zero && d < in->rank ? &in->dims[d] : is_zero || !target || target[d].min < 0 ? &gather_any_dim : &target[d];
    dims[d] = *from[d];
    if (is_rest) rest = d;
    if (target && target[d].max < 0 && !is_rest) return;
  }
  if (rest >= 0) dims[rest] = rest_of(in, from, count, rest);
  gather_step_shape(step, (int32_t)count, dims);
  alias(step, in);
}

static gather_dim product(const gather_known *in, int32_t from, int32_t to) {
  gather_dim all = {1, 1, NULL};
  for (int32_t d = from; d < to; d++) {
    if (in->dims[d].min != in->dims[d].max || !gather_mul(all.min, in->dims[d].min, &all.min)) {
      if (to - from == 1) return in->dims[d];
      return gather_any_dim;
    }
  }
  all.max = all.min;
  return all;
}

static void infer_flatten(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t axis;
  step->out.type = in->type;
  if (!gather_step_integer(step, "axis", 1, &axis) || in->rank < 0 || axis < -in->rank || axis > in->rank) return;
  int32_t cut = (int32_t)(axis < 0 ? axis + in->rank : axis);
  gather_dim dims[2] = {product(in, 0, cut), product(in, cut, in->rank)};
  gather_step_shape(step, 2, dims);
  alias(step, in);
}

static void infer_transpose(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  bool given;
  int32_t axes[GATHER_MAX_RANK];
  const int64_t *order = gather_step_axes(step, "perm", step->openvino ? 1 : INT32_MAX, &count, &given);
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (in->rank < 0 || (given && !order)) return;
  bool reversed = !order || (step->openvino && count == 0);
  if (!reversed && count != in->rank) return;
  for (int32_t d = 0; d < in->rank; d++) {
    int64_t from = reversed ? in->rank - 1 - d : order[d];
    if (from < 0 || from >= in->rank) return;
    dims[d] = in->dims[from];
    axes[d] = (int32_t)from;
  }
  gather_step_shape(step, in->rank, dims);
  follow_transpose(step, axes);
}

/* The elements of all inputs, concatenated. */
static void concat_parts(gather_step *step) {
  const gather_dim *len = &step->out.dims[0];
  if (len->min != len->max || len->min > GATHER_MAX_PARTS) return;
  gather_dim *parts = gather_step_new_elements(step, len->min);
  int64_t at = 0;
  for (int32_t i = 0; parts && i < step->node->input_count; i++) {
    int64_t count;
    const gather_dim *some = gather_step_elements(step, gather_step_in(step, i), &count);
    if (!some || count > len->min - at) return;
    if (count > 0) memcpy(parts + at, some, (size_t)count * sizeof *some);
    at += count;
  }
  if (parts) gather_step_set_elements(step, parts, at);
}

/* What is known of the sum of two lengths. */
static gather_dim add_dims(const gather_dim *a, const gather_dim *b) {
  gather_dim both = {a->min, a->max, NULL};
  if (a->min == 0 && a->max == 0) return *b;
  if (b->min == 0 && b->max == 0) return *a;
  if (!gather_add(a->min, b->min, &both.min)) both.min = 0;
  if (a->max == GATHER_DIM_UNBOUNDED || b->max == GATHER_DIM_UNBOUNDED || !gather_add(a->max, b->max, &both.max))
    both.max = GATHER_DIM_UNBOUNDED;
  return both;
}

static void infer_concat(gather_step *step) {
  const gather_known *first = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t attribute;
  int32_t axis;
  step->out.type = first->type;
  if (first->rank < 1 || !gather_step_find(step, "axis") || !gather_step_integer(step, "axis", 0, &attribute) ||
      !gather_wrap_axis(attribute, first->rank, &axis))
    return;
  memcpy(dims, first->dims, (size_t)first->rank * sizeof *dims);
  for (int32_t i = 1; i < step->node->input_count; i++) {
    const gather_known *in = gather_step_in(step, i);
    if (in->rank >= 0 && in->rank != first->rank) return;
    for (int32_t d = 0; in->rank >= 0 && d < in->rank; d++)
      if (d != axis && dims[d].min != dims[d].max && in->dims[d].min == in->dims[d].max) dims[d] = in->dims[d];
    dims[axis] = add_dims(&dims[axis], in->rank < 0 ? &gather_any_dim : &in->dims[axis]);
  }
  gather_step_shape(step, first->rank, dims);
  if (step->out.rank == 1) concat_parts(step);
  follow_concat(step, axis);
}

/* ---- axes that grow, shrink or trade places */

/* The numbers of elements added before and after each axis; both NULL where they are not known. */
static void read_pads(gather_step *step, const int64_t **begins, const int64_t **ends, int64_t *count) {
  int64_t end_count;
  bool given;
  *ends = NULL;
  if (step->openvino) {
    *begins = gather_step_integers(step, gather_step_in(step, 1), count);
    *ends = gather_step_integers(step, gather_step_in(step, 2), &end_count);
    if (!*begins || !*ends || *count != end_count) *begins = NULL;
    return;
  }
  *begins = gather_step_axes(step, "pads", 1, count, &given);
  if (*begins && *count % 2 != 0) *begins = NULL;
  *count /= 2;
  if (*begins) *ends = *begins + *count;
}

static bool pad_dim(gather_dim *dim, int64_t begin, int64_t end) {
  int64_t both;
  if (!gather_add(begin, end, &both)) return false;
  if (both == 0) return true;
  if (!gather_is_exact(dim)) {
    *dim = gather_any_dim;
    return true;
  }
  if (!gather_add(dim->min, both, &dim->min) || dim->min < 0) return false;
  *dim = gather_exact_dim(dim->min);
  return true;
}

static void infer_pad(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t count = 0, axes_count = 0;
  const int64_t *begins, *ends;
  int32_t axis;
  step->out.type = in->type;
  if (in->rank < 0) return;
  read_pads(step, &begins, &ends, &count);
  bool named = !step->openvino && gather_step_has(step, 3);
  const int64_t *axes = named ? gather_step_integers(step, gather_step_in(step, 3), &axes_count) : NULL;
  bool known = begins && (named ? axes && axes_count == count : count == in->rank);
  for (int32_t d = 0; d < in->rank; d++) dims[d] = known ? in->dims[d] : gather_any_dim;
  for (int64_t i = 0; known && i < count; i++)
    if (!gather_wrap_axis(named ? axes[i] : i, in->rank, &axis) || !pad_dim(&dims[axis], begins[i], ends[i])) return;
  gather_step_shape(step, in->rank, dims);
}

/* ---- Resize */

/* A length times a float32 scale, where that is whole: else the runtimes may round differently. */
static gather_dim scale_dim(const gather_dim *dim, const gather_tensor *scales, int64_t i) {
  float scale;
  if (scales->type != GATHER_TYPE_FLOAT32 || scales->strides || (scales->flags & GATHER_TENSOR_BYTE_SWAPPED)) return gather_any_dim;
  memcpy(&scale, (const char *)scales->data + i * (int64_t)sizeof scale, sizeof scale);
  if (scale >= 1.0f && scale <= 1.0f) return *dim;
  if (!gather_is_exact(dim) || dim->min > 1 << 20 || !(scale > 0.0f && scale < 1048576.0f)) return gather_any_dim;
  double len = (double)dim->min * (double)scale;
  int64_t whole = (int64_t)len;
  return len > (double)whole || len < (double)whole ? gather_any_dim : gather_exact_dim(whole);
}

/* Sets the axes that are named (all where none is) to the sizes, or to the lengths that the scales give. */
static bool resize_axes(gather_step *step, gather_dim *dims, const gather_dim *sizes, const gather_tensor *scales, int64_t count) {
  const gather_known *in = gather_step_in(step, 0);
  bool given = gather_step_find(step, "axes") != NULL;
  int64_t axes_count = in->rank;
  const int64_t *axes = given ? gather_step_attribute(step, "axes", &axes_count) : NULL;
  int32_t axis;
  if ((given && !axes) || axes_count != count) return false;
  for (int64_t i = 0; i < count; i++) {
    if (!gather_wrap_axis(axes ? axes[i] : i, in->rank, &axis)) return false;
    dims[axis] = sizes ? sizes[i] : scale_dim(&in->dims[axis], scales, i);
    if (dims[axis].min < 0) dims[axis] = gather_any_dim;
  }
  return true;
}

static void infer_resize(gather_step *step) {
  static const char *const WORDS[] = {"stretch"};
  const gather_known *in = gather_step_in(step, 0);
  bool old = step->node->opset < 11; /* Upsample, and the first Resize: data and scales */
  const gather_known *by = gather_step_in(step, old ? 1 : 2);
  const gather_tensor *scales = by->tensor && by->tensor->rank == 1 ? by->tensor : NULL;
  gather_dim dims[GATHER_MAX_RANK];
  int64_t count = 0;
  int32_t word;
  bool done = false;
  step->out.type = in->type;
  if (in->rank < 1) return;
  memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
  const gather_dim *sizes = old ? NULL : gather_step_elements(step, gather_step_in(step, 3), &count);
  if (sizes && gather_step_word(step, "keep_aspect_ratio_policy", WORDS, 1, &word))
    done = resize_axes(step, dims, sizes, NULL, count);
  else if (!sizes && scales && (old || !gather_step_has(step, 3)))
    done = resize_axes(step, dims, NULL, scales, scales->shape[0]);
  for (int32_t d = 0; !done && d < in->rank; d++) dims[d] = gather_any_dim;
  gather_step_shape(step, in->rank, dims);
}

/* ---- blocks of depth */

static gather_dim times(const gather_dim *dim, int64_t block, bool divide) {
  int64_t len;
  if (!gather_is_exact(dim)) return gather_any_dim;
  if (divide) return dim->min % block == 0 ? gather_exact_dim(dim->min / block) : gather_any_dim;
  return gather_mul(dim->min, block, &len) ? gather_exact_dim(len) : gather_any_dim;
}

static void move_blocks(gather_step *step, const char *name, bool to_space) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  int64_t block, all = 1;
  step->out.type = in->type;
  if (in->rank < 3 || !gather_step_integer(step, name, step->openvino, &block) || block < 1) return;
  dims[0] = in->dims[0];
  for (int32_t d = 2; d < in->rank; d++) {
    dims[d] = times(&in->dims[d], block, !to_space);
    if (!gather_mul(all, block, &all)) return;
  }
  dims[1] = times(&in->dims[1], all, to_space);
  gather_step_shape(step, in->rank, dims);
}

static void infer_depth_to_space(gather_step *step) { move_blocks(step, step->openvino ? "block_size" : "blocksize", true); }

static void infer_space_to_depth(gather_step *step) { move_blocks(step, step->openvino ? "block_size" : "blocksize", false); }

/* ---- the table */

const struct gather_rules_of_shape gather_rules_shape = {
    .like = infer_like,
    .same = infer_same,
    .like_bool = infer_like_bool,
    .like_second = infer_like_second,
    .identity = infer_identity,
    .unsqueeze = infer_unsqueeze,
    .squeeze = infer_squeeze,
    .reshape = infer_reshape,
    .flatten = infer_flatten,
    .transpose = infer_transpose,
    .concat = infer_concat,
    .pad = infer_pad,
    .resize = infer_resize,
    .depth_to_space = infer_depth_to_space,
    .space_to_depth = infer_space_to_depth,
};
