/* SPDX-License-Identifier: MIT
 *
 * infer_layers.c: windows that move over the last axes: convolutions and pools.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/infer.h"

/* Lists of one number per moved axis; NULL: not given. */
typedef struct {
  int32_t axes;
  const int64_t *kernel, *strides, *dilations, *begins, *ends;
  bool same, valid; /* auto_pad */
  bool ceil;
} window;

enum { SMALL = 1 << 30 }; /* larger numbers are not followed, so that the sums below cannot overflow */

static bool read_list(gather_step *step, const char *name, int64_t wanted, int64_t low, const int64_t **list) {
  int64_t count;
  *list = NULL;
  if (!gather_step_find(step, name)) return true;
  *list = gather_step_attribute(step, name, &count);
  if (!*list || count != wanted) return false;
  for (int64_t i = 0; i < count; i++)
    if ((*list)[i] < low || (*list)[i] > SMALL) return false;
  return true;
}

static bool read_padding(gather_step *step, window *w) {
  static const char *const WORDS[] = {"notset", "explicit", "valid", "same_upper", "same_lower"};
  int32_t word;
  const int64_t *pads;
  if (!gather_step_word(step, "auto_pad", WORDS, 5, &word)) return false;
  w->valid = word == 2;
  w->same = word > 2;
  if (step->openvino)
    return read_list(step, "pads_begin", w->axes, -SMALL, &w->begins) &&
           read_list(step, "pads_end", w->axes, -SMALL, &w->ends);
  if (!read_list(step, "pads", 2 * (int64_t)w->axes, -SMALL, &pads)) return false;
  w->begins = pads;
  w->ends = pads ? pads + w->axes : NULL;
  return true;
}

static bool read_window(gather_step *step, int32_t axes, window *w) {
  static const char *const WORDS[] = {"floor", "floor"};
  int32_t word;
  memset(w, 0, sizeof *w);
  w->axes = axes;
  if (step->openvino)
    w->ceil = !gather_step_word(step, "rounding_type", WORDS, 2, &word);
  else if (!gather_step_flag(step, "ceil_mode", false, &w->ceil))
    return false;
  return read_list(step, step->openvino ? "kernel" : "kernel_shape", axes, 1, &w->kernel) &&
         read_list(step, "strides", axes, 1, &w->strides) && read_list(step, "dilations", axes, 1, &w->dilations) &&
         read_padding(step, w);
}

/* How many positions a window of `kernel` elements has along one axis. */
static gather_dim places(const window *w, int32_t i, const gather_dim *dim, const gather_dim *kernel) {
  int64_t by = w->strides ? w->strides[i] : 1, apart = w->dilations ? w->dilations[i] : 1;
  int64_t begin = w->begins && !w->valid ? w->begins[i] : 0, end = w->ends && !w->valid ? w->ends[i] : 0;
  if (!gather_is_exact(kernel) || kernel->min < 1 || kernel->min > SMALL) return gather_any_dim;
  int64_t reach = (kernel->min - 1) * apart + 1;
  if (by == 1 && begin + end == reach - 1 && !w->same && !w->ceil) return *dim;
  if (!gather_is_exact(dim) || dim->min > SMALL) return gather_any_dim;
  if (w->same) return apart != 1 || w->ceil ? gather_any_dim : gather_exact_dim(dim->min / by + (dim->min % by != 0));
  const int64_t room = dim->min + begin + end - reach;
  if (room < 0) return gather_any_dim;
  if (!w->ceil || room % by == 0) return gather_exact_dim(room / by + 1);
  /* A last, partial window counts everywhere if it begins in the data or before them. Runtimes differ on one that begins after their end
   * (a step longer than the window, or padding there), and on auto_pad "valid". */
  const int64_t last = (room / by + 1) * by;
  return w->valid || last >= dim->min + begin ? gather_any_dim : gather_exact_dim(room / by + 2);
}

/* The axes after the first two, under a moving window; the kernel is an attribute, or the shape of the weights from
 * `from` on. */
static bool move(gather_step *step, gather_dim *dims, const gather_known *weights, int32_t from) {
  const gather_known *in = gather_step_in(step, 0);
  window w;
  if (!read_window(step, in->rank - 2, &w) || (!weights && !w.kernel)) return false;
  for (int32_t i = 0; i < w.axes; i++) {
    gather_dim kernel = weights ? weights->dims[from + i] : gather_exact_dim(w.kernel[i]);
    if (w.kernel) kernel = gather_exact_dim(w.kernel[i]);
    dims[2 + i] = places(&w, i, &in->dims[2 + i], &kernel);
  }
  return true;
}

/* grouped: the weights have a leading axis of groups. */
static void convolve(gather_step *step, bool grouped) {
  const gather_known *in = gather_step_in(step, 0), *weights = gather_step_in(step, 1);
  gather_dim dims[GATHER_MAX_RANK];
  int32_t from = grouped ? 3 : 2;
  int64_t channels;
  step->out.type = in->type;
  if (weights->rank < 3 + grouped || (in->rank >= 0 && weights->rank != in->rank + grouped)) return;
  dims[0] = in->rank < 0 ? gather_any_dim : in->dims[0];
  dims[1] = weights->dims[0];
  if (grouped) {
    bool known = gather_is_exact(&weights->dims[0]) && gather_is_exact(&weights->dims[1]) &&
                 gather_mul(weights->dims[0].min, weights->dims[1].min, &channels);
    dims[1] = known ? gather_exact_dim(channels) : gather_any_dim;
  }
  for (int32_t d = 2; d < weights->rank - grouped; d++) dims[d] = gather_any_dim;
  if (in->rank < 0 || move(step, dims, weights, from)) gather_step_shape(step, weights->rank - grouped, dims);
}

void gather_infer_conv(gather_step *step) { convolve(step, false); }

void gather_infer_group_conv(gather_step *step) { convolve(step, true); }

void gather_infer_pool(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (in->rank < 3) return;
  dims[0] = in->dims[0];
  dims[1] = in->dims[1];
  if (move(step, dims, NULL, 0)) gather_step_shape(step, in->rank, dims);
}

/* The second output has the positions of the largest elements. */
void gather_infer_max_pool(gather_step *step) {
  gather_infer_pool(step);
  const gather_known values = step->out;
  if (values.rank < 0 || step->node->output_count < 2) return;
  gather_step_output(step, 1);
  step->out.type = step->openvino ? GATHER_TYPE_NONE : GATHER_TYPE_INT64;
  step->out.rank = values.rank;
  step->out.dims = values.dims;
}

void gather_infer_global_pool(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (in->rank < 2) return;
  for (int32_t d = 0; d < in->rank; d++) dims[d] = d < 2 ? in->dims[d] : gather_exact_dim(1);
  gather_step_shape(step, in->rank, dims);
}

/* ---- ConvTranspose */

static gather_dim spread(const window *w, int32_t i, const gather_dim *dim, const gather_dim *kernel, int64_t extra) {
  int64_t by = w->strides ? w->strides[i] : 1, apart = w->dilations ? w->dilations[i] : 1;
  int64_t begin = w->begins && !w->valid ? w->begins[i] : 0, end = w->ends && !w->valid ? w->ends[i] : 0;
  if (w->same || !gather_is_exact(dim) || !gather_is_exact(kernel) || dim->min < 1 || dim->min > SMALL ||
      kernel->min < 1 || kernel->min > SMALL)
    return gather_any_dim;
  int64_t len = by * (dim->min - 1) + extra + (kernel->min - 1) * apart + 1 - begin - end;
  return len < 0 ? gather_any_dim : gather_exact_dim(len);
}

void gather_infer_conv_transpose(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0), *weights = gather_step_in(step, 1);
  gather_dim dims[GATHER_MAX_RANK];
  const int64_t *extra, *shape;
  int64_t group, channels;
  window w;
  step->out.type = in->type;
  if (in->rank < 3 || weights->rank != in->rank || !read_window(step, in->rank - 2, &w) ||
      !read_list(step, "output_padding", w.axes, 0, &extra) || !read_list(step, "output_shape", w.axes, 1, &shape) ||
      !gather_step_integer(step, "group", 1, &group))
    return;
  bool known = gather_is_exact(&weights->dims[1]) && group > 0 && gather_mul(weights->dims[1].min, group, &channels);
  dims[0] = in->dims[0];
  dims[1] = known ? gather_exact_dim(channels) : gather_any_dim;
  for (int32_t i = 0; i < w.axes; i++) {
    gather_dim kernel = w.kernel ? gather_exact_dim(w.kernel[i]) : weights->dims[2 + i];
    dims[2 + i] = shape ? gather_exact_dim(shape[i]) : spread(&w, i, &in->dims[2 + i], &kernel, extra ? extra[i] : 0);
  }
  gather_step_shape(step, in->rank, dims);
}
