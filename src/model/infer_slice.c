/* SPDX-License-Identifier: MIT
 *
 * infer_slice.c: parts of a tensor: Slice of ONNX and of OpenVINO, StridedSlice, Split, VariadicSplit.
 */
#include <string.h>

#include "core/base/checked.h"
#include "model/infer.h"

/* One axis' cut: of the elements start, start + by, ... before end. */
typedef struct {
  int64_t start, end, by;
} cut;

/* Start and end of a slice with step 1 or any other, resolved for a length. */
static int64_t clamp(int64_t value, int64_t len, int64_t low, int64_t high) {
  if (value < 0) value = value < -len ? low : value + len;
  return value < low ? low : value > high ? high : value;
}

static int64_t slice_len(int64_t *start, int64_t end, int64_t by, int64_t len) {
  *start = by > 0 ? clamp(*start, len, 0, len) : clamp(*start, len, -1, len - 1);
  end = by > 0 ? clamp(end, len, 0, len) : clamp(end, len, -1, len - 1);
  if (by > 0) return end > *start ? (end - *start - 1) / by + 1 : 0;
  return *start > end ? (*start - end - 1) / (by == INT64_MIN ? INT64_MAX : -by) + 1 : 0;
}

/* The length that a cut leaves; for a known length it also resolves the start. */
static gather_dim cut_dim(const gather_dim *dim, cut *c) {
  if (gather_is_exact(dim)) return gather_exact_dim(slice_len(&c->start, c->end, c->by, dim->min));
  if (c->start == 0 && c->by == 1 && c->end >= dim->max) return *dim; /* of it all */
  return (gather_dim){0, dim->max, NULL};
}

/* Slices one axis: len elements from start on, `by` apart. The slice must be inside the axis. */
static void cut_view(gather_view *view, int32_t axis, int64_t start, int64_t by, int64_t len) {
  if (len > 0) view->data += start * view->strides[axis];
  view->strides[axis] = len > 1 ? by * view->strides[axis] : 0;
  view->lengths[axis] = len;
}

static void slice_values(gather_step *step, const gather_known *in, const cut *c, int64_t len) {
  int64_t count;
  const gather_dim *parts = in->rank == 1 ? gather_step_elements(step, in, &count) : NULL;
  gather_dim *some = parts && len <= GATHER_MAX_PARTS ? gather_step_new_elements(step, len) : NULL;
  if (!some) return;
  for (int64_t i = 0; i < len; i++) some[i] = parts[c->start + i * c->by];
  gather_step_set_elements(step, some, len);
}

/* The operands of a Slice. Any list may be NULL: unknown, or (axes, steps) not given. */
typedef struct {
  const int64_t *starts, *ends, *axes, *steps;
  int64_t starts_count, ends_count, axes_count, steps_count;
  bool has_axes, has_steps;
} slice;

static bool is_readable(const slice *s, int32_t rank) {
  return s->starts && s->ends && s->starts_count == s->ends_count && (!s->has_axes || (s->axes && s->axes_count == s->starts_count)) &&
         (!s->has_steps || (s->steps && s->steps_count == s->starts_count)) && (s->has_axes || s->starts_count <= rank);
}

static slice read_slice(gather_step *step) {
  slice s = {NULL, NULL, NULL, NULL, 0, 0, 0, 0, false, false};
  bool given;
  int32_t axes = step->openvino ? 4 : 3, steps = step->openvino ? 3 : 4;
  s.starts = gather_step_axes(step, "starts", 1, &s.starts_count, &given);
  s.ends = gather_step_axes(step, "ends", 2, &s.ends_count, &given);
  s.axes = gather_step_axes(step, "axes", axes, &s.axes_count, &s.has_axes);
  s.has_steps = gather_step_has(step, steps);
  if (s.has_steps) s.steps = gather_step_integers(step, gather_step_in(step, steps), &s.steps_count);
  return s;
}

/* Some axes are cut in an unknown way: those that are given, else all. */
static void unknown_slice(gather_step *step, const slice *s) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  bool named = s->has_axes && s->axes;
  for (int32_t d = 0; d < in->rank; d++) {
    bool is_cut = !named;
    for (int64_t i = 0; named && i < s->axes_count; i++) {
      int32_t axis;
      is_cut |= gather_wrap_axis(s->axes[i], in->rank, &axis) && axis == d;
    }
    dims[d] = is_cut ? (gather_dim){0, in->dims[d].max, NULL} : in->dims[d];
  }
  gather_step_shape(step, in->rank, dims);
}

static void infer_slice(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  cut c = {0, 0, 1};
  gather_view view;
  bool whole = gather_step_input_view(step, 0, &view);
  step->out.type = in->type;
  if (in->rank < 1) return;
  slice s = read_slice(step);
  if (!is_readable(&s, in->rank)) {
    unknown_slice(step, &s);
    return;
  }
  memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
  for (int64_t i = 0; i < s.starts_count; i++) {
    int32_t axis;
    if (!gather_wrap_axis(s.axes ? s.axes[i] : i, in->rank, &axis)) return;
    c = (cut){s.starts[i], s.ends[i], s.steps ? s.steps[i] : 1};
    if (c.by == 0) return;
    dims[axis] = cut_dim(&dims[axis], &c);
    if (whole) cut_view(&view, axis, c.start, c.by, dims[axis].min);
  }
  gather_step_shape(step, in->rank, dims);
  if (s.starts_count == 1 && gather_is_exact(&in->dims[0])) slice_values(step, in, &c, dims[0].min);
  if (whole && !step->out.tensor) (void)gather_step_set_view(step, &view);
}

/* ---- StridedSlice: one entry of its lists after the other */

typedef struct {
  const int64_t *list;
  int64_t count;
} mask;

static mask read_mask(gather_step *step, const char *name) {
  mask m = {NULL, 0};
  m.list = gather_step_attribute(step, name, &m.count);
  return m;
}

static bool is_set(const mask *m, int64_t i) { return m->list && i < m->count && m->list[i] != 0; }

typedef struct {
  const int64_t *begin, *end, *by;
  int64_t count, end_count, by_count;
  mask begin_mask, end_mask, new_axis, shrink, ellipsis;
} strided;

static bool read_strided(gather_step *step, strided *s) {
  memset(s, 0, sizeof *s);
  s->begin = gather_step_integers(step, gather_step_in(step, 1), &s->count);
  s->end = gather_step_integers(step, gather_step_in(step, 2), &s->end_count);
  if (gather_step_has(step, 3)) s->by = gather_step_integers(step, gather_step_in(step, 3), &s->by_count);
  s->begin_mask = read_mask(step, "begin_mask");
  s->end_mask = read_mask(step, "end_mask");
  s->new_axis = read_mask(step, "new_axis_mask");
  s->shrink = read_mask(step, "shrink_axis_mask");
  s->ellipsis = read_mask(step, "ellipsis_mask");
  return s->begin && s->end && s->count == s->end_count && (!gather_step_has(step, 3) || (s->by && s->by_count == s->count));
}

/* How many axes of the data an ellipsis stands for. */
static int64_t ellipsis_len(const strided *s, int32_t rank) {
  int64_t others = 0;
  for (int64_t i = 0; i < s->count; i++) others += !is_set(&s->ellipsis, i) && !is_set(&s->new_axis, i);
  return rank - others;
}

static cut strided_cut(const strided *s, int64_t i, int64_t by) {
  cut c = {s->begin[i], s->end[i], by};
  if (is_set(&s->begin_mask, i)) c.start = by > 0 ? 0 : INT64_MAX;
  if (is_set(&s->end_mask, i)) c.end = by > 0 ? INT64_MAX : INT64_MIN;
  return c;
}

/* The shape of the cut; false if it is impossible. only: the last cut, with its start resolved. */
static bool strided_shape(const strided *s, const gather_known *in, gather_dim *dims, int32_t *rank, cut *only) {
  int32_t d = 0;
  bool dotted = false;
  *rank = 0;
  for (int64_t i = 0; i < s->count; i++) {
    int64_t skip = is_set(&s->ellipsis, i) ? ellipsis_len(s, in->rank) : 0;
    if (is_set(&s->ellipsis, i)) {
      if (dotted || skip < 0 || *rank + skip > GATHER_MAX_RANK) return false;
      dotted = true;
      for (; skip > 0; skip--) dims[(*rank)++] = in->dims[d++];
      continue;
    }
    if (*rank >= GATHER_MAX_RANK) return false;
    if (is_set(&s->new_axis, i)) {
      dims[(*rank)++] = gather_exact_dim(1);
      continue;
    }
    *only = strided_cut(s, i, s->by ? s->by[i] : 1);
    if (d >= in->rank || only->by == 0) return false;
    gather_dim len = cut_dim(&in->dims[d++], only);
    if (!is_set(&s->shrink, i)) dims[(*rank)++] = len;
  }
  while (d < in->rank && *rank < GATHER_MAX_RANK) dims[(*rank)++] = in->dims[d++];
  return d == in->rank;
}

/* Makes axis `from` of the view the next axis of the output, unless it is shrunk. */
static void take_axis(gather_view *to, const gather_view *view, int32_t from) {
  to->lengths[to->rank] = view->lengths[from];
  to->strides[to->rank++] = view->strides[from];
}

/* The elements of the cut, whose shape is set; false if it shrinks to an element that may not exist. */
static bool strided_view(const strided *s, gather_view view, gather_view *to) {
  int32_t d = 0, rank = view.rank;
  to->rank = 0;
  for (int64_t i = 0; i < s->count; i++) {
    if (is_set(&s->ellipsis, i)) {
      for (int64_t skip = ellipsis_len(s, rank); skip > 0; skip--) take_axis(to, &view, d++);
    } else if (is_set(&s->new_axis, i)) {
      to->lengths[to->rank] = 1;
      to->strides[to->rank++] = 0;
    } else if (is_set(&s->shrink, i)) {
      int64_t len = view.lengths[d], at = s->begin[i] < 0 ? s->begin[i] + len : s->begin[i];
      if (at < 0 || at >= len || is_set(&s->begin_mask, i) || (s->by && s->by[i] != 1)) return false;
      cut_view(&view, d++, at, 1, 1);
    } else {
      const gather_dim whole = gather_exact_dim(view.lengths[d]);
      cut c = strided_cut(s, i, s->by ? s->by[i] : 1);
      gather_dim len = cut_dim(&whole, &c);
      cut_view(&view, d, c.start, c.by, len.min);
      take_axis(to, &view, d++);
    }
  }
  while (d < rank) take_axis(to, &view, d++);
  to->data = view.data;
  to->type = view.type;
  to->swapped = view.swapped;
  return true;
}

static void follow_strided(gather_step *step, const strided *s) {
  gather_view view, to;
  if (!step->out.tensor && gather_step_input_view(step, 0, &view) && strided_view(s, view, &to)) (void)gather_step_set_view(step, &to);
}

static void infer_strided_slice(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  strided s;
  cut only = {0, 0, 1};
  int32_t rank;
  int64_t count;
  step->out.type = in->type;
  if (in->rank < 1 || !read_strided(step, &s) || !strided_shape(&s, in, dims, &rank, &only)) return;
  gather_step_shape(step, rank, dims);
  follow_strided(step, &s);
  if (step->out.tensor) return;
  if (in->rank != 1 || s.count != 1 || is_set(&s.ellipsis, 0) || is_set(&s.new_axis, 0) || !gather_is_exact(&in->dims[0])) return;
  if (!is_set(&s.shrink, 0)) {
    slice_values(step, in, &only, dims[0].min);
    return;
  }
  const gather_dim *parts = gather_step_elements(step, in, &count);
  int64_t at = s.begin[0] < 0 ? s.begin[0] + in->dims[0].min : s.begin[0];
  if (parts && at >= 0 && at < count && !is_set(&s.begin_mask, 0)) gather_step_fill(step, parts[at]);
}

/* ---- Split */

/* Sets every output: as the data, with its own length along the axis. */
static void split_at(gather_step *step, int32_t axis, const gather_dim *lens) {
  const gather_known *in = gather_step_in(step, 0);
  gather_dim dims[GATHER_MAX_RANK];
  cut c = {0, 0, 1};
  memcpy(dims, in->dims, (size_t)in->rank * sizeof *dims);
  gather_view view, part;
  bool follow = gather_is_exact(&in->dims[axis]), whole = gather_step_input_view(step, 0, &view);
  for (int32_t i = 0; i < step->node->output_count; i++) {
    gather_step_output(step, i);
    step->out.type = in->type;
    dims[axis] = lens[i];
    gather_step_shape(step, in->rank, dims);
    follow = follow && gather_is_exact(&lens[i]) && lens[i].min <= in->dims[axis].min - c.start;
    if (follow) slice_values(step, in, &c, lens[i].min);
    if (follow && whole && !step->out.tensor) {
      part = view;
      cut_view(&part, axis, c.start, 1, lens[i].min);
      (void)gather_step_set_view(step, &part);
    }
    if (follow) c.start += lens[i].min;
  }
}

/* Equal lengths; ONNX lets the last be shorter from opset 18 on. */
static bool equal_lens(const gather_step *step, const gather_dim *dim, gather_dim *lens) {
  int32_t n = step->node->output_count;
  bool uneven = !step->openvino && step->node->opset >= 18;
  for (int32_t i = 0; i < n; i++) lens[i] = n == 1 ? *dim : (gather_dim){0, dim->max, NULL};
  if (!gather_is_exact(dim) || n == 1) return true;
  int64_t len = dim->min / n + (dim->min % n != 0);
  if (dim->min % n != 0 && (!uneven || len > dim->min / (n - 1))) return false;
  for (int32_t i = 0; i < n; i++) lens[i] = gather_exact_dim(i < n - 1 ? len : dim->min - len * (n - 1));
  return true;
}

/* Lengths that are given; in OpenVINO one may be -1, which means the rest. */
static bool given_lens(const gather_step *step, const gather_dim *dim, const gather_dim *parts, int64_t count, gather_dim *lens) {
  int64_t sum = 0, rest = -1;
  if (count != step->node->output_count) return false;
  for (int64_t i = 0; i < count; i++) {
    lens[i] = parts[i].min < 0 ? gather_any_dim : parts[i];
    if (step->openvino && parts[i].min == -1 && parts[i].max == -1 && rest < 0)
      rest = i;
    else if (!gather_is_exact(&parts[i]) || parts[i].min < 0 || !gather_add(sum, parts[i].min, &sum))
      rest = count;
  }
  if (rest >= 0 && rest < count && gather_is_exact(dim) && sum <= dim->min) lens[rest] = gather_exact_dim(dim->min - sum);
  return true;
}

/* The lengths that an input or an attribute gives. told: whether there is one. NULL if they are unknown. */
static const gather_dim *split_sizes(gather_step *step, int64_t *count, bool *told) {
  int32_t i = step->openvino ? 2 : 1;
  *told = gather_step_has(step, i);
  if (*told) return gather_step_elements(step, gather_step_in(step, i), count);
  *told = gather_step_find(step, "split") != NULL;
  const int64_t *sizes = gather_step_attribute(step, "split", count);
  if (sizes && *count != step->node->output_count) return NULL;
  gather_dim *parts = sizes ? gather_step_new_elements(step, *count) : NULL;
  for (int64_t k = 0; parts && k < *count; k++) parts[k] = gather_exact_dim(sizes[k]);
  return parts;
}

static bool split_axis(gather_step *step, int32_t *axis) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t number = 0, count = 0;
  if (step->openvino) {
    const int64_t *given = gather_step_integers(step, gather_step_in(step, 1), &count);
    if (!given || count != 1) return false;
    number = *given;
  } else if (!gather_step_integer(step, "axis", 0, &number)) {
    return false;
  }
  return in->rank >= 1 && gather_wrap_axis(number, in->rank, axis);
}

static void infer_split(gather_step *step) {
  const gather_known *in = gather_step_in(step, 0);
  int64_t count;
  int32_t axis;
  bool told, fits = true;
  if (!split_axis(step, &axis)) return;
  gather_dim *lens = gather_step_take(step, step->node->output_count, sizeof *lens);
  if (!lens) return;
  for (int32_t i = 0; i < step->node->output_count; i++) lens[i] = (gather_dim){0, in->dims[axis].max, NULL};
  const gather_dim *parts = split_sizes(step, &count, &told);
  if (parts)
    fits = given_lens(step, &in->dims[axis], parts, count, lens);
  else if (!told)
    fits = equal_lens(step, &in->dims[axis], lens);
  if (fits) split_at(step, axis, lens);
}

/* ---- the table */

const struct gather_rules_of_slice gather_rules_slice = {
    .slice = infer_slice,
    .strided_slice = infer_strided_slice,
    .split = infer_split,
};
