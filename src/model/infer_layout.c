/* SPDX-License-Identifier: MIT
 *
 * infer_layout.c: axes that grow, shrink or trade places: Pad, Resize, DepthToSpace, SpaceToDepth.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/infer.h"

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

void gather_infer_pad(gather_step *step) {
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
  if (scales->type != GATHER_TYPE_FLOAT32 || scales->strides || (scales->flags & GATHER_TENSOR_BYTE_SWAPPED))
    return gather_any_dim;
  memcpy(&scale, (const char *)scales->data + i * (int64_t)sizeof scale, sizeof scale);
  if (scale >= 1.0f && scale <= 1.0f) return *dim;
  if (!gather_is_exact(dim) || dim->min > 1 << 20 || !(scale > 0.0f && scale < 1048576.0f)) return gather_any_dim;
  double len = (double)dim->min * (double)scale;
  int64_t whole = (int64_t)len;
  return len > (double)whole || len < (double)whole ? gather_any_dim : gather_exact_dim(whole);
}

/* Sets the axes that are named (all where none is) to the sizes, or to the lengths that the scales give. */
static bool resize_axes(gather_step *step, gather_dim *dims, const gather_dim *sizes, const gather_tensor *scales,
                        int64_t count) {
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

void gather_infer_resize(gather_step *step) {
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

void gather_infer_depth_to_space(gather_step *step) {
  move_blocks(step, step->openvino ? "block_size" : "blocksize", true);
}

void gather_infer_space_to_depth(gather_step *step) {
  move_blocks(step, step->openvino ? "block_size" : "blocksize", false);
}
