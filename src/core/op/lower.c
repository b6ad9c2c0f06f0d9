/* SPDX-License-Identifier: MIT
 *
 * lower.c: lowers an operator and its tensors to the nest that a plan runs. The operator's family has the rule for the shape of the output
 * and writes the loops; the rest is the same for all families.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/op/family.h"
#include "core/op/op.h"

/* ---- whether a tensor can be the output of a gather */

/* Whether the order of an element's bytes has a meaning. */
static bool order_matters(const gather_tensor *tensor) {
  const gather_type_info *type = gather_type_row(tensor->type);
  return type->bits > 8 && type->kind != GATHER_KIND_STRING;
}

gather_status gather_output_check_type(const gather_tensor *data, const char *name, const gather_tensor *out, gather_error *error) {
  if (out->type != data->type)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "output", "the output is %s, %s is %s", gather_type_get(out->type)->name, name,
                             gather_type_get(data->type)->name);
  if (data->type == GATHER_TYPE_OPAQUE && out->item_bytes != data->item_bytes)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "output", "the output has elements of %" PRId64 " bytes, %s of %" PRId64,
                             out->item_bytes, name, data->item_bytes);
  if (order_matters(data) && ((out->flags ^ data->flags) & GATHER_TENSOR_BYTE_SWAPPED))
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "output", "the output and %s have different byte orders", name);
  if (out->flags & GATHER_TENSOR_READ_ONLY) return gather_fail_input(error, GATHER_USAGE, "output", "the output is read-only");
  return GATHER_OK;
}

static int64_t magnitude(int64_t step) { return step < 0 ? -step : step; }

typedef struct {
  int64_t step, len;
} stride_of;

/* Keeps dims[0 .. count] sorted by step. Not qsort, which may use the heap. */
static void insert(stride_of *dims, int32_t count, int64_t step, int64_t len) {
  int32_t i = count;
  for (; i > 0 && dims[i - 1].step > step; i--) dims[i] = dims[i - 1];
  dims[i].step = step, dims[i].len = len;
}

/* Elements do not overlap if each step is at least the span of the finer dimensions. */
static bool overlaps_itself(const gather_tensor *out) {
  stride_of dims[GATHER_MAX_RANK];
  int32_t count = 0;
  if (!out->strides || gather_tensor_bytes(out) == 0) return false;
  for (int32_t d = 0; d < out->rank; d++)
    if (out->shape[d] > 1) insert(dims, count++, magnitude(out->strides[d]), out->shape[d]);
  int64_t span = gather_type_is_packed(gather_type_row(out->type)) ? 1 : gather_tensor_item_bytes(out);
  for (int32_t i = 0; i < count; i++) {
    if (dims[i].step < span) return true;
    span += dims[i].step * (dims[i].len - 1);
  }
  return false;
}

gather_status gather_output_check_strides(const gather_tensor *out, gather_error *error) {
  if (overlaps_itself(out)) return gather_fail_input(error, GATHER_USAGE, "output", "the output's strides make its elements overlap");
  return GATHER_OK;
}

/* ---- the shape of the output */

/* Everything about a gather except for its output, but for the last step: whether the size of that fits in memory. rules: of the operator's
 * family. The tensors were checked. */
static gather_status resolve_geometry(const gather_op *op, const gather_family_rules *rules, const gather_tensor *data,
                                      const gather_tensor *indices, const gather_options *options, bool writes, gather_geometry *geometry,
                                      gather_error *error) {
  gather_geometry *g = geometry;
  g->rank = 0, g->tuple_dim = -1, g->writes = writes;
  g->negative = options->negative ? options->negative == GATHER_NEGATIVE_ON : op->negative;
  g->on_bad = options->on_bad ? options->on_bad : op->on_bad;
  return rules->shape(op, data, indices, options, g, error);
}

/* This last step. */
static gather_status check_size(const gather_geometry *geometry, const gather_tensor *data, gather_error *error) {
  int64_t len, bytes;
  if (!gather_shape_len(geometry->rank, geometry->shape, &len) || !gather_tensor_len_fits(data, len, &bytes))
    return gather_fail_input(error, GATHER_OVERFLOW, "output", "the output's size does not fit in memory");
  return GATHER_OK;
}

static gather_status output_shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                  const gather_options *options, gather_geometry *geometry, gather_error *error) {
  gather_options full;
  const gather_family_rules *rules;
  GATHER_TRY(gather_options_read(options, &full, error));
  GATHER_TRY(gather_family_find(op, &rules, error));
  GATHER_TRY(gather_tensor_check_input(data, "data", error));
  GATHER_TRY(gather_tensor_check_input(indices, "indices", error));
  if (!gather_type_is_index(indices->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "indices", "indices must be integers, not %s",
                             gather_type_get(indices->type)->name);
  GATHER_TRY(resolve_geometry(op, rules, data, indices, &full, false, geometry, error));
  return check_size(geometry, data, error);
}

gather_status gather_output_shape(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                  const gather_options *options, int64_t *shape, int32_t *rank, gather_error *error) {
  gather_geometry geometry;
  if (!op) return gather_fail(error, GATHER_USAGE, "the operator is NULL");
  gather_status status = output_shape(op, data, indices, options, &geometry, error);
  if (status != GATHER_OK) return gather_fail_op(error, op, status);
  for (int32_t d = 0; d < geometry.rank; d++) shape[d] = geometry.shape[d];
  *rank = geometry.rank;
  return GATHER_OK;
}

/* ---- the nest */

/* A tensor that passed its checks. plain: gather_tensor_measure_plain found its steps, else they are still to be read. */
typedef struct {
  gather_size size;
  bool plain;
} measured;

/* steps: of a plain tensor. */
static gather_status measure(const gather_tensor *tensor, const char *input, measured *m, int64_t *steps, gather_error *error) {
  m->plain = gather_tensor_measure_plain(tensor, &m->size, steps);
  return m->plain ? GATHER_OK : gather_tensor_measure(tensor, input, &m->size, error);
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

/* The steps of a tensor whose lengths and strides fit, and whether it is dense. Strides of dimensions of length 1 are not
 * checked, because they are not used: those that no offset could have become 0. */
static bool read_steps(const gather_tensor *tensor, const measured *m, int64_t *step) {
  if (m->plain) return true;
  gather_tensor_strides(tensor, step);
  for (int32_t d = 0; d < tensor->rank; d++)
    if (step[d] < -GATHER_OFFSET_MAX || step[d] > GATHER_OFFSET_MAX) step[d] = 0;
  return is_dense(tensor);
}

static void set_element(gather_plan *plan, const gather_tensor *data, const gather_tensor *out, const gather_options *options) {
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

static bool has_shape(const gather_tensor *out, const gather_geometry *g) {
  bool same = out->rank == g->rank;
  for (int32_t d = 0; same && d < g->rank; d++) same = out->shape[d] == g->shape[d];
  return same;
}

static gather_status fail_out_shape(const gather_geometry *g, const gather_tensor *out, bool writes, gather_error *error) {
  char has[128], needs[128];
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, writes ? "updates" : "output", "the %s the shape %s; %s must be %s",
                           writes ? "updates have" : "output has", gather_shape_text(has, sizeof has, out->rank, out->shape),
                           writes ? "they" : "it", gather_shape_text(needs, sizeof needs, g->rank, g->shape));
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
                        const gather_geometry *g, const measured *m) {
  plan->op = op, plan->type = data->type, plan->axis = g->at.axis;
  plan->out_rank = g->rank, plan->tuple_dim = g->tuple_dim;
  if (g->rank > 0) memcpy(plan->out_shape, g->shape, (size_t)g->rank * sizeof *g->shape);
  plan->rule.type = indices->type;
  plan->rule.swapped = (indices->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0 && order_matters(indices);
  plan->rule.negative = g->negative, plan->rule.on_bad = g->on_bad;
  plan->index_rank = indices->rank, plan->index_count = m->size.len;
  if (indices->rank > 0) memcpy(plan->index_shape, indices->shape, (size_t)indices->rank * sizeof *indices->shape);
  plan->rule.many = plan->index_count > GATHER_MANY_INDEX_BYTES / (gather_type_row(indices->type)->bits / 8);
  plan->index_dense = read_steps(indices, m, plan->index_strides);
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

/* The three tensors, in the order of the checks. */
typedef struct {
  measured data, indices, out;
} sizes;

#if !defined(GATHER_ONLY_GATHER)
/* Of what is written into data. */
static gather_status check_updates_type(const gather_tensor *data, const gather_tensor *updates, gather_error *error) {
  if (updates->type != data->type)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "updates", "the updates are %s, data is %s", gather_type_get(updates->type)->name,
                             gather_type_get(data->type)->name);
  if (data->type == GATHER_TYPE_OPAQUE && updates->item_bytes != data->item_bytes)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "updates", "the updates have elements of %" PRId64 " bytes, data of %" PRId64,
                             updates->item_bytes, data->item_bytes);
  if (order_matters(data) && ((updates->flags ^ data->flags) & GATHER_TENSOR_BYTE_SWAPPED))
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "updates", "the updates and data have different byte orders");
  return GATHER_OK;
}
#endif

static gather_status check_types(const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out, sizes *m,
                                 gather_plan *plan, gather_steps *s, gather_error *error) {
  GATHER_TRY(measure(data, "data", &m->data, s->data, error));
  GATHER_TRY(measure(indices, "indices", &m->indices, plan->index_strides, error));
  if (!gather_type_is_index(indices->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "indices", "indices must be integers, not %s",
                             gather_type_get(indices->type)->name);
  if (!out) return GATHER_OK;
#if !defined(GATHER_ONLY_GATHER)
  if (plan->writes) {
    GATHER_TRY(measure(out, "updates", &m->out, s->out, error));
    return check_updates_type(data, out, error);
  }
#endif
  GATHER_TRY(measure(out, "output", &m->out, s->out, error));
  return gather_output_check_type(data, "data", out, error);
}

/* An output of this shape passed the check of its size. Updates may overlap themselves: they are only read. */
static gather_status check_shape(const gather_geometry *g, const gather_tensor *data, const gather_tensor *out, bool writes,
                                 gather_error *error) {
  if (out && has_shape(out, g)) return out->strides && !writes ? gather_output_check_strides(out, error) : GATHER_OK;
  GATHER_TRY(check_size(g, data, error));
  return out ? fail_out_shape(g, out, writes, error) : GATHER_OK;
}

static gather_extent extent_of(const gather_tensor *tensor, const measured *m) {
  gather_extent found = {0, m->size.bytes};
  if (!m->plain) gather_tensor_extent(tensor, &m->size, &found.low, &found.high);
  return found;
}

static gather_status lower(const gather_op *op, const gather_family_rules *rules, const gather_tensor *data, const gather_tensor *indices,
                           const gather_tensor *out, const gather_options *options, gather_plan *plan, gather_error *error) {
  gather_geometry g;
  gather_steps s;
  sizes m;
  turned other;
  gather_tensor row_major;
  GATHER_TRY(check_types(data, indices, out, &m, plan, &s, error));
  GATHER_TRY(resolve_geometry(op, rules, data, indices, options, plan->writes, &g, error));
  GATHER_TRY(check_shape(&g, data, out, plan->writes, error));
  if (!out) {
    row_major = (gather_tensor){.type = data->type, .rank = g.rank, .item_bytes = data->item_bytes, .shape = g.shape};
    GATHER_TRY(measure(out = &row_major, "output", &m.out, s.out, error));
  }
  if (g.tuple_dim >= 0) indices = turn(indices, g.tuple_dim, &other), m.indices.plain = false;
  set_meaning(plan, op, data, indices, &g, &m.indices);
  set_element(plan, data, out, options);
  plan->out_len = m.out.size.len;
  plan->data_extent = extent_of(data, &m.data);
  plan->index_extent = extent_of(indices, &m.indices);
  plan->out_extent = extent_of(out, &m.out);
  (void)read_steps(data, &m.data, s.data);
  /* Data without elements is never read, and its strides were not checked. */
  if (m.data.size.len == 0) memset(s.data, 0, sizeof s.data);
  s.indices = plan->index_strides;
  plan->out_dense = read_steps(out, &m.out, s.out);
  rules->nest(plan, &g, data, indices, &s);
  gather_plan_simplify(plan);
  return GATHER_OK;
}

gather_status gather_lower_nest(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_tensor *out,
                                const gather_options *options, gather_plan *plan, gather_error *error) {
  const gather_family_rules *rules;
  GATHER_TRY(gather_family_find(op, &rules, error));
  plan->writes = false;
  return lower(op, rules, data, indices, out, options, plan, error);
}

#if !defined(GATHER_ONLY_GATHER)
gather_status gather_lower_written(const gather_op *op, const gather_family_rules *rules, const gather_tensor *written,
                                   const gather_tensor *indices, const gather_tensor *updates, const gather_options *options,
                                   gather_plan *plan, gather_error *error) {
  plan->writes = true;
  return lower(op, rules, written, indices, updates, options, plan, error);
}
#endif
