/* SPDX-License-Identifier: MIT
 *
 * lower.c: lowers an operator and its tensors to the nest that a plan runs. The operator's family writes the loops; the
 * rest is the same for all families.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/tensor.h"
#include "op/family.h"

/* The steps of a tensor whose lengths and strides fit. Strides of dimensions of length 1 are not checked, because they
 * are not used: those that no offset could have become 0. */
static void read_steps(const gather_tensor *tensor, int64_t *step) {
  gather_tensor_strides(tensor, step);
  for (int32_t d = 0; d < tensor->rank; d++)
    if (step[d] < -GATHER_OFFSET_MAX || step[d] > GATHER_OFFSET_MAX) step[d] = 0;
}

static void set_element(gather_plan *plan, const gather_tensor *data, const gather_tensor *out,
                        const gather_options *options) {
  const gather_type_info *type = gather_type_row(data->type);
  plan->packed = gather_type_is_packed(type);
  plan->layout.packing = type->packing, plan->layout.bits = type->bits;
  plan->layout.group_len = type->group_len, plan->layout.group_bytes = type->group_bytes;
  for (plan->layout.group_shift = 0; 1 << plan->layout.group_shift < type->group_len;) plan->layout.group_shift++;
  plan->row_bytes = plan->packed ? 1 : gather_tensor_item_bytes(data);
  plan->data_offset = plan->packed ? data->packed_offset : 0;
  plan->out_offset = plan->packed ? out->packed_offset : 0;
  plan->fill = plan->rule.on_bad == GATHER_ON_BAD_FILL ? options->fill : NULL;
  plan->fill_bytes = plan->row_bytes;
  plan->fill_value = 0;
  if (plan->packed && plan->fill) plan->fill_value = *(const unsigned char *)plan->fill & ((1u << type->bits) - 1);
}

/* Row-major without gaps, from the start of a byte. */
static bool is_dense(const gather_tensor *tensor) {
  if (tensor->packed_offset != 0) return false;
  if (!tensor->strides) return true;
  int64_t row_major[GATHER_MAX_RANK];
  gather_tensor plain = *tensor;
  plain.strides = NULL;
  gather_tensor_strides(&plain, row_major);
  for (int32_t d = 0; d < tensor->rank; d++)
    if (tensor->shape[d] > 1 && tensor->strides[d] != row_major[d]) return false;
  return true;
}

static gather_status check_out_shape(const gather_geometry *g, const gather_tensor *out, gather_error *error) {
  bool same = out->rank == g->rank;
  for (int32_t d = 0; same && d < g->rank; d++) same = out->shape[d] == g->shape[d];
  char has[128], needs[128];
  if (!same)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "output", "the output has the shape %s; it must be %s",
                             gather_shape_text(has, sizeof has, out->rank, out->shape),
                             gather_shape_text(needs, sizeof needs, g->rank, g->shape));
  return gather_output_check_strides(out, error);
}

/* The nest walks a copy. Shared indices are never unchecked: those out of range are clamped instead. */
static void set_shared(gather_plan *plan, const gather_tensor *indices) {
  gather_tensor copy = *indices;
  memcpy(plan->shared_strides, plan->index_strides, sizeof plan->shared_strides);
  plan->shared_dense = plan->index_dense, plan->shared_swapped = plan->rule.swapped;
  copy.strides = NULL;
  gather_tensor_strides(&copy, plan->index_strides);
  plan->index_dense = true, plan->rule.swapped = false;
  if (plan->rule.on_bad == GATHER_ON_BAD_PROMISE) plan->rule.on_bad = GATHER_ON_BAD_CLAMP;
}

static void set_meaning(gather_plan *plan, const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                        const gather_geometry *g, int64_t index_count) {
  plan->op = op, plan->type = data->type, plan->axis = g->at.axis;
  plan->out_rank = g->rank, plan->tuple_dim = g->tuple_dim;
  if (g->rank > 0) memcpy(plan->out_shape, g->shape, (size_t)g->rank * sizeof *g->shape);
  plan->rule.type = indices->type;
  plan->rule.swapped = (indices->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0 && gather_order_matters(indices);
  plan->rule.negative = g->negative, plan->rule.on_bad = g->on_bad;
  plan->rule.within = gather_kernel_within(indices->type), plan->rule.fold = gather_kernel_fold(indices->type);
  plan->index_rank = indices->rank, plan->index_count = index_count;
  if (indices->rank > 0) memcpy(plan->index_shape, indices->shape, (size_t)indices->rank * sizeof *indices->shape);
  plan->rule.many = plan->index_count > GATHER_MANY_INDEX_BYTES / (gather_type_row(indices->type)->bits / 8);
  read_steps(indices, plan->index_strides);
  plan->index_dense = is_dense(indices);
  plan->shared = (indices->flags & GATHER_TENSOR_SHARED) != 0;
  if (plan->shared) set_shared(plan, indices);
}

/* Indices with the dimension of the tuples' numbers last, in the same memory. */
typedef struct {
  gather_tensor tensor;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
} turned;

static const gather_tensor *turn(const gather_tensor *indices, int32_t tuple_dim, turned *t) {
  int64_t strides[GATHER_MAX_RANK];
  gather_tensor_strides(indices, strides);
  t->tensor = *indices;
  t->tensor.shape = t->shape, t->tensor.strides = t->strides;
  for (int32_t d = 0; d < indices->rank; d++) {
    const int32_t from = d == indices->rank - 1 ? tuple_dim : d < tuple_dim ? d : d + 1;
    t->shape[d] = indices->shape[from], t->strides[d] = strides[from];
  }
  return &t->tensor;
}

/* The sizes of the three tensors. */
typedef struct {
  gather_size data, indices, out;
} sizes;

static gather_status check_types(const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                                 sizes *size, gather_error *error) {
  GATHER_TRY(gather_tensor_measure(data, "data", &size->data, error));
  GATHER_TRY(gather_tensor_measure(indices, "indices", &size->indices, error));
  if (!gather_type_is_index(indices->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "indices", "indices must be integers, not %s",
                             gather_type_get(indices->type)->name);
  if (!out) return GATHER_OK;
  GATHER_TRY(gather_tensor_measure(out, "output", &size->out, error));
  return gather_output_check_type(data, "data", out, error);
}

static void set_extents(gather_plan *plan, const gather_tensor *data, const gather_tensor *indices,
                        const gather_tensor *out, const sizes *size) {
  gather_tensor_extent(data, &size->data, &plan->data_extent.low, &plan->data_extent.high);
  gather_tensor_extent(indices, &size->indices, &plan->index_extent.low, &plan->index_extent.high);
  gather_tensor_extent(out, &size->out, &plan->out_extent.low, &plan->out_extent.high);
}

gather_status gather_lower(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                           const gather_tensor *out, const gather_options *options, gather_plan *plan,
                           gather_error *error) {
  gather_geometry g;
  sizes size;
  turned other;
  const gather_family_rules *rules;
  GATHER_TRY(gather_family_find(op, &rules, error));
  GATHER_TRY(check_types(data, indices, out, &size, error));
  GATHER_TRY(gather_geometry_find(op, rules, data, indices, options, &g, error));
  gather_tensor row_major = {.type = data->type, .rank = g.rank, .item_bytes = data->item_bytes, .shape = g.shape};
  if (!out) GATHER_TRY(gather_tensor_measure(out = &row_major, "output", &size.out, error));
  GATHER_TRY(check_out_shape(&g, out, error));
  if (g.tuple_dim >= 0) indices = turn(indices, g.tuple_dim, &other);
  set_meaning(plan, op, data, indices, &g, size.indices.len);
  set_element(plan, data, out, options);
  plan->out_dense = is_dense(out);
  plan->out_len = size.out.len;
  set_extents(plan, data, indices, out, &size);
  gather_steps s;
  read_steps(data, s.data);
  /* Data without elements is never read, and its strides were not checked. */
  if (size.data.len == 0) memset(s.data, 0, sizeof s.data);
  s.indices = plan->index_strides;
  read_steps(out, s.out);
  rules->nest(plan, &g, data, indices, &s);
  gather_plan_build(plan);
  return GATHER_OK;
}
