/* SPDX-License-Identifier: MIT
 *
 * tensor_scatter.c: gather_tensor_scatter, which writes the next entries of caches of keys and values. Those of one sequence are
 * consecutive: one or, where the cache is circular and its end is passed, two blocks, each of which is copied as a whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/indices.h"
#include "core/op/op.h"
#include "core/plan/plan.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

#define TENSOR_SCATTER (&gather_op_table[GATHER_OP_ONNX_TENSOR_SCATTER_24])

typedef struct cache_call {
  const gather_tensor *data, *updates, *write_indices, *out;
  gather_scatter_options options;
  gather_size data_size, updates_size, index_size, out_size;
  int32_t axis;
  bool circular;
  int64_t batches, len, updates_len; /* S and L */
} cache_call;

/* ---- copies */

/* A gather by one tuple without numbers, which selects the whole: a copy of a tensor to one of its shape. */
typedef struct whole_copy {
  gather_plan plan;
  int64_t len; /* of blocks: entries; 0: there is no plan yet */
} whole_copy;

/* Makes `view` the part [first, first + len) of a tensor along the axis, of one batch. lengths, steps: room for its own. */
static void set_view(const cache_call *c, const gather_tensor *tensor, int64_t batch, int64_t first, int64_t len, gather_tensor *view,
                     int64_t *lengths, int64_t *steps) {
  gather_tensor_strides(tensor, steps);
  memcpy(lengths, tensor->shape, (size_t)tensor->rank * sizeof *lengths);
  lengths[0] = 1, lengths[c->axis] = len;
  /* Steps of dimensions of length 1 were not checked, and are not used. */
  const int64_t offset = (batch > 0 ? batch * steps[0] : 0) + (first > 0 ? first * steps[c->axis] : 0);
  *view = *tensor;
  view->shape = lengths, view->strides = steps;
  if (gather_type_is_packed(gather_type_row(tensor->type)))
    view->packed_offset += offset;
  else
    view->data = (char *)tensor->data + offset;
}

/* Entries [from, from + len) of the updates of one batch, to [to, to + len) of the cache. Blocks of one length differ in where they are,
 * and share a plan; packed ones, whose plan says where within a byte they begin, do not. */
static gather_status write_block(const cache_call *c, int64_t batch, int64_t from, int64_t to, int64_t len, whole_copy *copy,
                                 gather_error *error) {
  int64_t lengths[2][GATHER_MAX_RANK], steps[2][GATHER_MAX_RANK];
  gather_tensor read, written;
  if (len == 0) return GATHER_OK;
  set_view(c, c->updates, batch, from, len, &read, lengths[0], steps[0]);
  set_view(c, c->out, batch, to, len, &written, lengths[1], steps[1]);
  if (copy->len != len || gather_type_is_packed(gather_type_row(c->out->type))) {
    GATHER_TRY(gather_whole_lower(&read, &written, &copy->plan, error));
    copy->plan.out_dense = false; /* bits of other elements in the last byte are kept */
    copy->len = len;
  }
  return gather_whole_run(&copy->plan, &read, &written, c->options.executor, error);
}

/* places: of the first entry of each batch, in [0, S - 1]. */
static gather_status write_all(const cache_call *c, const int64_t *places, gather_error *error) {
  if (c->data->data != c->out->data && c->data_size.bytes > 0) GATHER_TRY(gather_whole_copy(c->data, c->out, c->options.executor, error));
  whole_copy copy;
  copy.len = 0;
  for (int64_t batch = 0; batch < c->batches && c->updates_size.len > 0; batch++) {
    const int64_t room = c->len - places[batch], first = c->updates_len < room ? c->updates_len : room;
    GATHER_TRY(write_block(c, batch, 0, places[batch], first, &copy, error));
    GATHER_TRY(write_block(c, batch, first, 0, c->updates_len - first, &copy, error));
  }
  return GATHER_OK;
}

/* ---- write_indices */

/* Reads a number, which an unsigned type may have above INT64_MAX. Returns whether it is below 0. */
static bool read_number(const gather_tensor *tensor, int64_t i, int64_t *value) {
  const gather_index_rule rule = {.type = tensor->type, .swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0};
  int64_t steps[GATHER_MAX_RANK];
  gather_tensor_strides(tensor, steps);
  *value = gather_index_value(&rule, (const char *)tensor->data + (i > 0 ? i * steps[0] : 0));
  return tensor->type <= GATHER_TYPE_INT64 && *value < 0;
}

/* Numbers out of range: the first one, and how many there are. */
typedef struct bad_index {
  int64_t position, value, count;
} bad_index;

static gather_status blame(const cache_call *c, const bad_index *bad, gather_error *error) {
  char number[32], range[64];
  const bool is_unsigned = c->write_indices->type >= GATHER_TYPE_UINT8;
  const int64_t high = c->circular ? INT64_MAX : c->len - c->updates_len;
  (void)snprintf(number, sizeof number, is_unsigned ? "%" PRIu64 : "%" PRId64, (uint64_t)bad->value);
  if (c->circular)
    (void)snprintf(range, sizeof range, "below 0");
  else
    (void)snprintf(range, sizeof range, "outside [0, %" PRId64 "]", high);
  const gather_status status = gather_fail_input(
      error, GATHER_INDEX_OUT_OF_RANGE, "write_indices",
      "write_indices[%" PRId64 "] = %s is %s: %" PRId64 " of %" PRId64 " entries of axis %" PRId32
      " are written (TensorScatter onnx-24); %" PRId64 " of %" PRId64 " %s bad",
      bad->position, number, range, c->updates_len, c->len, c->axis, bad->count, c->batches, bad->count == 1 ? "is" : "are");
  if (!error) return status;
  error->axis = c->axis, error->position_rank = 1, error->position[0] = bad->position;
  error->value = bad->value, error->value_is_unsigned = is_unsigned;
  error->low = 0, error->high = high, error->bad_count = bad->count;
  return status;
}

/* Each number is read once: others may write them. */
static gather_status find_places(const cache_call *c, int64_t *places, gather_error *error) {
  bad_index bad = {0, 0, 0};
  for (int64_t i = 0; i < c->batches; i++) {
    int64_t value = 0;
    const bool below = c->write_indices && read_number(c->write_indices, i, &value);
    const bool above = !c->circular && (uint64_t)value > (uint64_t)(c->len - c->updates_len);
    places[i] = c->circular && c->len > 0 ? (int64_t)((uint64_t)value % (uint64_t)c->len) : value;
    if (!below && !above) continue;
    if (bad.count++ == 0) bad.position = i, bad.value = value;
  }
  return bad.count ? blame(c, &bad, error) : GATHER_OK;
}

/* ---- arguments */

static gather_status check_options(cache_call *c, const gather_scatter_options *options, gather_error *error) {
  gather_scatter_options *o = &c->options;
  GATHER_TRY(gather_scatter_options_read(options, o, error));
  if (o->reduction == GATHER_REDUCTION_NONE && (o->on_bad == GATHER_ON_BAD_DEFAULT || o->on_bad == GATHER_ON_BAD_ERROR) &&
      o->negative != GATHER_NEGATIVE_ON)
    return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "TensorScatter has no reduction, no repair policy and no negative indices");
}

static gather_status check_axis(cache_call *c, int64_t axis, gather_error *error) {
  const int32_t rank = c->data->rank;
  if (rank < 2)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "data has rank %" PRId32 "; TensorScatter needs a batch and an axis",
                             rank);
  if (axis < -rank || axis >= rank || axis == 0 || axis == -rank)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis",
                             "axis %" PRId64 " is outside [%" PRId32 ", %" PRId32
                             "], or is 0, the axis of the batch (TensorScatter of data of rank %" PRId32 ")",
                             axis, -rank, rank - 1, rank);
  c->axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return GATHER_OK;
}

static gather_status check_updates(cache_call *c, gather_error *error) {
  const gather_tensor *data = c->data, *updates = c->updates;
  char has[128], needs[128];
  const bool same_item = data->type != GATHER_TYPE_OPAQUE || data->item_bytes == updates->item_bytes;
  const bool same_order = gather_type_row(data->type)->bits <= 8 || !((data->flags ^ updates->flags) & GATHER_TENSOR_BYTE_SWAPPED);
  if (data->type != updates->type || !same_item || !same_order)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "updates", "the updates are %s, data is %s%s",
                             gather_type_get(updates->type)->name, gather_type_get(data->type)->name,
                             data->type == updates->type ? ", in another byte order or size" : "");
  bool fits = data->rank == updates->rank;
  for (int32_t d = 0; fits && d < data->rank; d++)
    fits = d == c->axis ? updates->shape[d] <= data->shape[d] : updates->shape[d] == data->shape[d];
  if (!fits)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "updates",
                             "the updates have the shape %s; it must be that of data, %s, or shorter on axis %" PRId32,
                             gather_shape_text(has, sizeof has, updates->rank, updates->shape),
                             gather_shape_text(needs, sizeof needs, data->rank, data->shape), c->axis);
  c->batches = data->shape[0], c->len = data->shape[c->axis], c->updates_len = updates->shape[c->axis];
  return GATHER_OK;
}

static gather_status check_indices(cache_call *c, gather_error *error) {
  const gather_tensor *indices = c->write_indices;
  char has[128];
  if (!indices) return GATHER_OK;
  GATHER_TRY(gather_tensor_measure(indices, "write_indices", &c->index_size, error));
  if (!gather_type_is_index(indices->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "write_indices", "write_indices must be integers, not %s",
                             gather_type_get(indices->type)->name);
  if (indices->rank == 1 && indices->shape[0] == c->batches) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "write_indices", "write_indices has the shape %s; it must be [%" PRId64 "]",
                           gather_shape_text(has, sizeof has, indices->rank, indices->shape), c->batches);
}

static gather_status check_out(cache_call *c, gather_error *error) {
  char has[128], needs[128];
  if (!c->out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_tensor_measure(c->out, "output", &c->out_size, error));
  GATHER_TRY(gather_output_check_type(c->data, "data", c->out, error));
  if (c->out->rank != c->data->rank || memcmp(c->out->shape, c->data->shape, (size_t)c->data->rank * sizeof *c->out->shape) != 0)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "output", "the output has the shape %s; it must be %s",
                             gather_shape_text(has, sizeof has, c->out->rank, c->out->shape),
                             gather_shape_text(needs, sizeof needs, c->data->rank, c->data->shape));
  return gather_output_check_strides(c->out, error);
}

/* Whether data is the output itself. */
static bool is_in_place(const cache_call *c) {
  int64_t data[GATHER_MAX_RANK], out[GATHER_MAX_RANK];
  if (c->data->data != c->out->data || c->data->packed_offset != c->out->packed_offset) return false;
  gather_tensor_strides(c->data, data), gather_tensor_strides(c->out, out);
  for (int32_t d = 0; d < c->data->rank; d++)
    if (c->data->shape[d] > 1 && data[d] != out[d]) return false;
  return true;
}

static gather_status check_input_memory(const cache_call *c, const gather_tensor *tensor, const gather_size *size, const char *name,
                                        gather_error *error) {
  gather_extent written, read;
  if (!tensor || size->bytes == 0) return GATHER_OK;
  if (!tensor->data) return gather_fail_input(error, GATHER_USAGE, name, "%s: the data pointer is NULL", name);
  gather_tensor_extent(c->out, &c->out_size, &written.low, &written.high);
  gather_tensor_extent(tensor, size, &read.low, &read.high);
  if (!gather_extents_meet(c->out->data, &written, tensor->data, &read)) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", name);
}

static gather_status check_memory(const cache_call *c, gather_error *error) {
  if (!c->out->data && c->out_size.bytes > 0) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  if (!is_in_place(c)) GATHER_TRY(check_input_memory(c, c->data, &c->data_size, "data", error));
  GATHER_TRY(check_input_memory(c, c->updates, &c->updates_size, "updates", error));
  return check_input_memory(c, c->write_indices, &c->index_size, "write_indices", error);
}

static gather_status check(cache_call *c, int64_t axis, const gather_scatter_options *options, gather_error *error) {
  GATHER_TRY(check_options(c, options, error));
  GATHER_TRY(gather_tensor_measure(c->data, "data", &c->data_size, error));
  GATHER_TRY(gather_tensor_measure(c->updates, "updates", &c->updates_size, error));
  GATHER_TRY(check_axis(c, axis, error));
  GATHER_TRY(check_updates(c, error));
  GATHER_TRY(check_indices(c, error));
  GATHER_TRY(check_out(c, error));
  return check_memory(c, error);
}

static gather_status run(const cache_call *c, gather_error *error) {
  enum { FEW = 256 };
  int64_t few[FEW], *places = few;
  if (c->batches > FEW) places = gather_alloc_unset(c->batches * (int64_t)sizeof *places);
  if (!places) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the places of %" PRId64 " batches", c->batches);
  gather_status status = find_places(c, places, error);
  if (status == GATHER_OK) status = write_all(c, places, error);
  if (places != few) gather_free(places);
  return status;
}

gather_status gather_tensor_scatter(const gather_tensor *data, const gather_tensor *updates, const gather_tensor *write_indices,
                                    int64_t axis, bool circular, const gather_tensor *out, const gather_scatter_options *options,
                                    gather_error *error) {
  cache_call c = {.data = data, .updates = updates, .write_indices = write_indices, .out = out, .circular = circular};
  gather_status status = check(&c, axis, options, error);
  if (status == GATHER_OK) status = run(&c, error);
  if (status == GATHER_OK && c.options.bad_count) *c.options.bad_count = 0;
  return gather_fail_op(error, TENSOR_SCATTER, status);
}
