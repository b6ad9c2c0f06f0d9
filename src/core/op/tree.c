/* SPDX-License-Identifier: MIT
 *
 * tree.c: gather_tree: the checks of its arguments, and the call.
 */
#include "gather/tree.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/op/op.h"
#include "core/op/tree_internal.h"
#include "core/plan/tasks.h"

/* ---- types and shapes */

static gather_status check_type(const gather_tensor *step_ids, const gather_tensor *tensor, const char *input,
                                gather_error *error) {
  if (!gather_beams_have_type(tensor->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, input,
                             "%s must be integers or floats of whole bytes, not %s", input,
                             gather_type_get(tensor->type)->name);
  if (tensor->type == step_ids->type) return GATHER_OK;
  return gather_fail_input(error, GATHER_TYPE_MISMATCH, input, "%s is %s, step_ids is %s", input,
                           gather_type_get(tensor->type)->name, gather_type_get(step_ids->type)->name);
}

static gather_status check_input(const gather_tensor *step_ids, const gather_tensor *tensor, const char *input,
                                 gather_size *size, gather_error *error) {
  GATHER_TRY(gather_tensor_measure(tensor, input, size, error));
  return check_type(step_ids, tensor, input, error);
}

static gather_status check_rank(int32_t rank, int32_t needed, const char *input, gather_error *error) {
  if (rank == needed) return GATHER_OK;
  return gather_fail_input(error, GATHER_RANK_MISMATCH, input, "%s has rank %" PRId32 "; its rank must be %" PRId32,
                           input, rank, needed);
}

/* Whether a tensor, an input or the output, has the shape of step_ids. */
static gather_status check_same_shape(const gather_tensor *step_ids, const gather_tensor *tensor, const char *input,
                                      gather_error *error) {
  char has[128], needs[128];
  if (tensor->rank == 3 && memcmp(tensor->shape, step_ids->shape, 3 * sizeof *tensor->shape) == 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "%s has the shape %s, step_ids %s", input,
                           gather_shape_text(has, sizeof has, tensor->rank, tensor->shape),
                           gather_shape_text(needs, sizeof needs, 3, step_ids->shape));
}

static gather_status check_shapes(const gather_tree_inputs *in, gather_error *error) {
  GATHER_TRY(check_rank(in->step_ids->rank, 3, "step_ids", error));
  GATHER_TRY(check_rank(in->parent_ids->rank, 3, "parent_ids", error));
  GATHER_TRY(check_rank(in->max_seq_len->rank, 1, "max_seq_len", error));
  GATHER_TRY(check_rank(in->end_token->rank, 0, "end_token", error));
  GATHER_TRY(check_same_shape(in->step_ids, in->parent_ids, "parent_ids", error));
  if (in->max_seq_len->shape[0] == in->step_ids->shape[1]) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "max_seq_len",
                           "max_seq_len has %" PRId64 " lengths, step_ids has %" PRId64 " batches",
                           in->max_seq_len->shape[0], in->step_ids->shape[1]);
}

static gather_status check_inputs(const gather_tree_inputs *in, gather_size sizes[4], gather_error *error) {
  GATHER_TRY(gather_tensor_measure(in->step_ids, "step_ids", &sizes[0], error));
  GATHER_TRY(check_type(in->step_ids, in->step_ids, "step_ids", error));
  GATHER_TRY(check_input(in->step_ids, in->parent_ids, "parent_ids", &sizes[1], error));
  GATHER_TRY(check_input(in->step_ids, in->max_seq_len, "max_seq_len", &sizes[2], error));
  GATHER_TRY(check_input(in->step_ids, in->end_token, "end_token", &sizes[3], error));
  return check_shapes(in, error);
}

static gather_status check_out(const gather_tensor *step_ids, const gather_tensor *out, gather_size *size,
                               gather_error *error) {
  if (!out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_tensor_measure(out, "output", size, error));
  GATHER_TRY(gather_output_check_type(step_ids, "step_ids", out, error));
  GATHER_TRY(check_same_shape(step_ids, out, "output", error));
  return gather_output_check_strides(out, error);
}

/* ---- memory */

/* The output must not overlap an input. */
static gather_status check_overlap(const gather_tree_inputs *in, const gather_size sizes[4], const gather_tensor *out,
                                   const gather_size *size, gather_error *error) {
  static const char *const NAMES[4] = {"step_ids", "parent_ids", "max_seq_len", "end_token"};
  const gather_tensor *const tensors[4] = {in->step_ids, in->parent_ids, in->max_seq_len, in->end_token};
  gather_extent written;
  gather_tensor_extent(out, size, &written.low, &written.high);
  for (int i = 0; i < 4; i++) {
    gather_extent read;
    gather_tensor_extent(tensors[i], &sizes[i], &read.low, &read.high);
    if (gather_extents_meet(out->data, &written, tensors[i]->data, &read))
      return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", NAMES[i]);
  }
  return GATHER_OK;
}

static gather_status check_pointer(const gather_tensor *tensor, const char *input, gather_error *error) {
  if (tensor->data) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, input, "%s: the data pointer is NULL", input);
}

/* ---- the job */

static void read_steps(const gather_tensor *tensor, int64_t steps[3]) {
  int64_t all[GATHER_MAX_RANK] = {0};
  gather_tensor_strides(tensor, all);
  /* Strides of dimensions of length 1 were not checked, and are not used. */
  for (int32_t d = 0; d < 3; d++) steps[d] = d < tensor->rank && tensor->shape[d] > 1 ? all[d] : 0;
}

static bool is_swapped(const gather_tensor *tensor) { return (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0; }

static void copy_element(const gather_tensor *tensor, bool swap, unsigned char *to) {
  const int width = gather_type_row(tensor->type)->bits / 8;
  const unsigned char *from = tensor->data;
  for (int i = 0; i < width; i++) to[i] = from[swap ? width - 1 - i : i];
}

/* The elements that equal the end token: of floats both zeros equal each other, and NaN equals nothing. */
static void set_ends(gather_beams *beams, bool swapped) {
  const int width = gather_type_row(beams->type)->bits / 8;
  unsigned char own[8];
  double number;
  for (int i = 0; i < width; i++) own[i] = beams->end[swapped ? width - 1 - i : i];
  memcpy(beams->ends[0], beams->end, sizeof beams->end);
  beams->end_count = 1;
  if (!gather_float_read(beams->type, own, &number)) return;
  if (number != number) beams->end_count = 0;
  if (number != 0) return;
  /* The other zero has the other sign; types without a second zero have NaN there. */
  own[GATHER_BIG_ENDIAN ? 0 : width - 1] ^= 0x80;
  if (!gather_float_read(beams->type, own, &number) || number != 0) return;
  for (int i = 0; i < width; i++) beams->ends[1][i] = own[swapped ? width - 1 - i : i];
  beams->end_count = 2;
}

static void set_beams(gather_beams *beams, const gather_op *op, const gather_tree_inputs *in,
                      const gather_options *options) {
  const gather_tensor *lens = in->max_seq_len;
  int64_t len_steps[3];
  *beams = (gather_beams){.type = in->step_ids->type,
                          .time = in->step_ids->shape[0],
                          .batch = in->step_ids->shape[1],
                          .width = in->step_ids->shape[2],
                          .steps = in->step_ids->data,
                          .parents = in->parent_ids->data,
                          .lens = lens->data,
                          .parents_swapped = is_swapped(in->parent_ids),
                          .lens_swapped = is_swapped(lens),
                          .on_bad = options->on_bad ? options->on_bad : op->on_bad,
                          .negative = options->negative ? options->negative == GATHER_NEGATIVE_ON : op->negative};
  read_steps(in->step_ids, beams->step);
  read_steps(in->parent_ids, beams->parent);
  read_steps(lens, len_steps);
  beams->len = len_steps[0];
}

static gather_status read_options(const gather_op *op, const gather_options *options, gather_options *full,
                                  gather_error *error) {
  GATHER_TRY(gather_options_read(options, full, error));
  if (full->axis != 0)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "axis is %" PRId64 ", but %s has no axis",
                             full->axis, op->name);
  if (full->batch_dims != 0)
    return gather_fail(error, GATHER_BATCH_DIMS_OUT_OF_RANGE, "batch_dims is %" PRId64 ", but %s has no such attribute",
                       full->batch_dims, op->name);
  return gather_executor_check(full->executor, error);
}

static void trace(void *argument, int64_t first, int64_t last) { gather_beams_trace(argument, first, last); }

/* check_only: `out` is ignored. */
static gather_status tree(const gather_op *op, const gather_tree_inputs *in, const gather_tensor *out, bool check_only,
                          const gather_options *options, gather_error *error) {
  gather_options full;
  gather_beams beams;
  gather_size sizes[4], out_size;
  int64_t bad = 0;
  GATHER_TRY(read_options(op, options, &full, error));
  GATHER_TRY(check_inputs(in, sizes, error));
  if (!check_only) {
    GATHER_TRY(check_out(in->step_ids, out, &out_size, error));
    GATHER_TRY(check_overlap(in, sizes, out, &out_size, error));
  }
  if (sizes[0].len == 0) {
    if (full.bad_count) *full.bad_count = 0;
    return GATHER_OK;
  }
  GATHER_TRY(check_pointer(in->parent_ids, "parent_ids", error));
  GATHER_TRY(check_pointer(in->max_seq_len, "max_seq_len", error));
  set_beams(&beams, op, in, &full);
  if (!check_only) {
    GATHER_TRY(check_pointer(in->step_ids, "step_ids", error));
    GATHER_TRY(check_pointer(in->end_token, "end_token", error));
    GATHER_TRY(check_pointer(out, "output", error));
  }
  GATHER_TRY(gather_tree_validate(op, &beams, full.executor, &bad, error));
  if (full.bad_count) *full.bad_count = bad;
  if (check_only) return GATHER_OK;
  beams.out = out->data;
  read_steps(out, beams.to);
  copy_element(in->end_token, is_swapped(in->end_token) != is_swapped(out), beams.end);
  set_ends(&beams, is_swapped(out));
  if (beams.on_bad == GATHER_ON_BAD_FILL) memcpy(beams.fill, full.fill, (size_t)gather_tensor_item_bytes(out));
  gather_split(full.executor, beams.batch * beams.width, 3 * beams.time * gather_tensor_item_bytes(out), 16, trace,
               &beams);
  return GATHER_OK;
}

gather_status gather_tree(const gather_tensor *step_ids, const gather_tensor *parent_ids,
                          const gather_tensor *max_seq_len, const gather_tensor *end_token, const gather_tensor *out,
                          const gather_options *options, gather_error *error) {
  const gather_tree_inputs in = {step_ids, parent_ids, max_seq_len, end_token};
  return gather_fail_op(error, gather_op_tree, tree(gather_op_tree, &in, out, false, options, error));
}

gather_status gather_tree_check(const gather_tensor *step_ids, const gather_tensor *parent_ids,
                                const gather_tensor *max_seq_len, const gather_tensor *end_token,
                                const gather_options *options, gather_error *error) {
  const gather_tree_inputs in = {step_ids, parent_ids, max_seq_len, end_token};
  return gather_fail_op(error, gather_op_tree, tree(gather_op_tree, &in, NULL, true, options, error));
}
