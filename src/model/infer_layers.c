/* SPDX-License-Identifier: MIT
 *
 * infer_layers.c: operators of networks: convolutions and pools, products of matrices, attention, recurrent layers.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/infer.h"

/* ---- windows that move over the last axes */

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
    return read_list(step, "pads_begin", w->axes, -SMALL, &w->begins) && read_list(step, "pads_end", w->axes, -SMALL, &w->ends);
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
         read_list(step, "strides", axes, 1, &w->strides) && read_list(step, "dilations", axes, 1, &w->dilations) && read_padding(step, w);
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

static void infer_conv(gather_step *step) { convolve(step, false); }

static void infer_group_conv(gather_step *step) { convolve(step, true); }

static void infer_pool(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = in->type;
  if (in->rank < 3) return;
  dims[0] = in->dims[0];
  dims[1] = in->dims[1];
  if (move(step, dims, NULL, 0)) gather_step_shape(step, in->rank, dims);
}

/* The second output has the positions of the largest elements. */
static void infer_max_pool(gather_step *step) {
  infer_pool(step);
  const gather_known values = step->out;
  if (values.rank < 0 || step->node->output_count < 2) return;
  gather_step_output(step, 1);
  step->out.type = step->openvino ? GATHER_TYPE_NONE : GATHER_TYPE_INT64;
  step->out.rank = values.rank;
  step->out.dims = values.dims;
}

static void infer_global_pool(gather_step *step) {
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
  if (w->same || !gather_is_exact(dim) || !gather_is_exact(kernel) || dim->min < 1 || dim->min > SMALL || kernel->min < 1 ||
      kernel->min > SMALL)
    return gather_any_dim;
  int64_t len = by * (dim->min - 1) + extra + (kernel->min - 1) * apart + 1 - begin - end;
  return len < 0 ? gather_any_dim : gather_exact_dim(len);
}

static void infer_conv_transpose(gather_step *step) {
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

/* ---- products of matrices: MatMul, Gemm, Einsum, attention */

static void infer_matmul(gather_step *step) {
  const gather_known *a = gather_step_in(step, 0), *b = gather_step_in(step, 1);
  gather_dim dims[GATHER_MAX_RANK], ones[2][2];
  bool turn_a, turn_b;
  step->out.type = a->type;
  if (a->rank < 1 || b->rank < 1 || !gather_step_flag(step, "transpose_a", false, &turn_a) ||
      !gather_step_flag(step, "transpose_b", false, &turn_b))
    return;
  /* A vector on the left is a row, on the right a column; that axis is removed afterwards. */
  gather_known left = *a, right = *b;
  if (a->rank == 1) {
    ones[0][0] = gather_exact_dim(1), ones[0][1] = a->dims[0];
    left.rank = 2, left.dims = ones[0], turn_a = false;
  }
  if (b->rank == 1) {
    ones[1][0] = b->dims[0], ones[1][1] = gather_exact_dim(1);
    right.rank = 2, right.dims = ones[1], turn_b = false;
  }
  int32_t rank = gather_broadcast_shapes(&left, &right, 2, dims);
  if (a->rank > 1) dims[rank++] = left.dims[left.rank - (turn_a ? 1 : 2)];
  if (b->rank > 1) dims[rank++] = right.dims[right.rank - (turn_b ? 2 : 1)];
  gather_step_shape(step, rank, dims);
}

static void infer_gemm(gather_step *step) {
  const gather_known *a = gather_step_in(step, 0), *b = gather_step_in(step, 1);
  bool turn_a, turn_b;
  step->out.type = a->type;
  if (!gather_step_flag(step, "transA", false, &turn_a) || !gather_step_flag(step, "transB", false, &turn_b)) return;
  const gather_dim dims[2] = {a->rank == 2 ? a->dims[turn_a] : gather_any_dim, b->rank == 2 ? b->dims[!turn_b] : gather_any_dim};
  gather_step_shape(step, 2, dims);
}

/* ---- Einsum without dots: each letter is a length */

typedef struct {
  gather_dim lens[128];
  bool seen[128];
} letters;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* One operand's letters, until a comma or the arrow. */
static const char *read_term(const gather_known *in, const char *text, letters *all) {
  int32_t d = 0;
  for (; *text && *text != ',' && *text != '-'; text++) {
    if (*text == ' ') continue;
    if (!is_letter(*text) || d >= in->rank) return NULL;
    gather_dim *len = &all->lens[(unsigned char)*text];
    bool *seen = &all->seen[(unsigned char)*text];
    if (!*seen || (!gather_is_exact(len) && gather_is_exact(&in->dims[d])) || (len->min == 1 && len->max == 1)) *len = in->dims[d];
    *seen = true;
    d++;
  }
  return d == in->rank ? text : NULL;
}

static void infer_einsum(gather_step *step) {
  const gather_attribute *equation = gather_step_find(step, "equation");
  gather_dim dims[GATHER_MAX_RANK];
  letters all;
  int32_t rank = 0;
  memset(&all, 0, sizeof all);
  step->out.type = gather_step_in(step, 0)->type;
  if (!equation || equation->kind != GATHER_ATTRIBUTE_TEXT) return;
  const char *text = equation->text.text;
  for (int32_t i = 0; i < step->node->input_count; i++) {
    if (i > 0 && *text++ != ',') return;
    text = read_term(gather_step_in(step, i), text, &all);
    if (!text) return;
  }
  if (text[0] != '-' || text[1] != '>') return;
  for (text += 2; *text; text++) {
    if (*text == ' ') continue;
    if (!is_letter(*text) || !all.seen[(unsigned char)*text] || rank == GATHER_MAX_RANK) return;
    dims[rank++] = all.lens[(unsigned char)*text];
  }
  gather_step_shape(step, rank, dims);
}

/* As the query, with the value's last length. With heads folded into the last axis (rank 3 in ONNX) the shape is left
 * unknown. */
static void infer_attention(gather_step *step) {
  const gather_known *query = gather_step_in(step, 0), *value = gather_step_in(step, 2);
  gather_dim dims[GATHER_MAX_RANK];
  step->out.type = query->type;
  if (query->rank < (step->openvino ? 2 : 4) || query->rank != value->rank) return;
  memcpy(dims, query->dims, (size_t)query->rank * sizeof *dims);
  dims[query->rank - 1] = value->dims[value->rank - 1];
  for (int32_t d = 0; step->openvino && d < query->rank - 2; d++) {
    const gather_dim *same = &value->dims[d];
    bool equal = gather_is_exact(same) && gather_is_exact(&dims[d]) && same->min == dims[d].min;
    if (!equal) dims[d] = gather_any_dim; /* batches may be stretched */
  }
  gather_step_shape(step, query->rank, dims);
}

/* ---- recurrent layers: LSTM, GRU, RNN of ONNX, and OpenVINO's sequences */

/* How many directions; 0 = not known. */
static int64_t directions(const gather_step *step) {
  static const char *const WORDS[] = {"forward", "reverse", "bidirectional"};
  int32_t word;
  if (!gather_step_word(step, "direction", WORDS, 3, &word)) return 0;
  return word == 2 ? 2 : 1;
}

/* The attribute, or the last length of the recurrent weights. */
static gather_dim hidden(const gather_step *step) {
  int64_t size;
  const gather_known *weights = gather_step_in(step, 2);
  if (gather_step_find(step, "hidden_size"))
    return gather_step_integer(step, "hidden_size", 0, &size) && size > 0 ? gather_exact_dim(size) : gather_any_dim;
  return !step->openvino && weights->rank == 3 ? weights->dims[2] : gather_any_dim;
}

/* Output 0 has every step, the others the last one. */
static void set_outputs(gather_step *step, const gather_dim all[4], const gather_dim last[3]) {
  gather_type type = gather_step_in(step, 0)->type;
  for (int32_t i = 0; i < step->node->output_count && i < 3; i++) {
    gather_step_output(step, i);
    step->out.type = type;
    gather_step_shape(step, i == 0 ? 4 : 3, i == 0 ? all : last);
  }
}

static void infer_rnn(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t layout, count = directions(step);
  if ((in->rank >= 0 && in->rank != 3) || count == 0 || !gather_step_integer(step, "layout", 0, &layout)) return;
  const gather_dim h = hidden(step), n = gather_exact_dim(count);
  const gather_dim steps = in->rank < 0 ? gather_any_dim : in->dims[layout != 0];
  const gather_dim batch = in->rank < 0 ? gather_any_dim : in->dims[layout == 0];
  if (layout != 0) {
    const gather_dim all[4] = {batch, steps, n, h}, last[3] = {batch, n, h};
    set_outputs(step, all, last);
  } else {
    const gather_dim all[4] = {steps, n, batch, h}, last[3] = {n, batch, h};
    set_outputs(step, all, last);
  }
}

static void infer_sequence(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count = directions(step);
  if (in->rank != 3 || count == 0) return;
  const gather_dim h = hidden(step), n = gather_exact_dim(count);
  const gather_dim all[4] = {in->dims[0], n, in->dims[1], h}, last[3] = {in->dims[0], n, h};
  set_outputs(step, all, last);
}

/* ---- the table */

const struct gather_rules_of_layers gather_rules_layers = {
    .matmul = infer_matmul,
    .gemm = infer_gemm,
    .einsum = infer_einsum,
    .attention = infer_attention,
    .rnn = infer_rnn,
    .sequence = infer_sequence,
    .conv = infer_conv,
    .group_conv = infer_group_conv,
    .pool = infer_pool,
    .max_pool = infer_max_pool,
    .global_pool = infer_global_pool,
    .conv_transpose = infer_conv_transpose,
};
