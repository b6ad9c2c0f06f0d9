/* SPDX-License-Identifier: MIT
 *
 * scatter_lower.c: lowers an operator that writes, and its tensors, to a plan. What an index selects, and which shapes fit, is known to the
 * family that reads (core/op); here is what writing adds: reductions, the destination, and the order of its places.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/op/family.h"
#include "core/op/op.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

/* ---- rules of documents */

enum {
  NONE_ONLY = 1 << GATHER_REDUCTION_NONE,
  ADD = 1 << GATHER_REDUCTION_ADD,
  SUB = 1 << GATHER_REDUCTION_SUB,
  MUL = 1 << GATHER_REDUCTION_MUL,
  MIN = 1 << GATHER_REDUCTION_MIN,
  MAX = 1 << GATHER_REDUCTION_MAX,
  MEAN = 1 << GATHER_REDUCTION_MEAN,
  ALL = (1 << (GATHER_REDUCTION_MEAN + 1)) - 1
};

typedef struct {
  unsigned reductions;
  gather_accumulate accumulate;
  bool finite;
} scatter_rules;

static scatter_rules rules_of(const gather_op *op) {
  static const scatter_rules RULES[GATHER_OP_ROWS] = {
#define GATHER_SCATTER_RULES(ENUM, reductions, accumulate, finite) \
  [GATHER_OP_##ENUM] = {reductions, GATHER_ACCUMULATE_##accumulate, finite},
#include "core/scatter/scatter_rules.def"
#undef GATHER_SCATTER_RULES
  };
  const scatter_rules all = {ALL, GATHER_ACCUMULATE_HALVES, false};
  for (size_t i = 0; i < GATHER_OP_ROWS; i++)
    if (op == &gather_op_table[i]) return RULES[i].reductions ? RULES[i] : all;
  return all;
}

bool gather_scatter_op_reduces(const gather_op *op, gather_reduction reduction) {
  return op && (int)reduction >= 0 && reduction <= GATHER_REDUCTION_MEAN && (rules_of(op).reductions >> reduction & 1u) != 0;
}

/* ---- operators of no document */

static const gather_op OWN[] = {
    {.dialect = "gather",
     .name = "scatter",
     .version = 1,
     .family = GATHER_FAMILY_SCATTER,
     .negative = true,
     .on_bad = GATHER_ON_BAD_ERROR,
     .off_axis = GATHER_OFF_AXIS_NONE,
     .document = "scatter.h"},
    {.dialect = "gather",
     .name = "scatter_elements",
     .version = 1,
     .family = GATHER_FAMILY_SCATTER_ELEMENTS,
     .negative = true,
     .on_bad = GATHER_ON_BAD_ERROR,
     .off_axis = GATHER_OFF_AXIS_AT_MOST,
     .document = "scatter.h"},
    {.dialect = "gather",
     .name = "scatter_nd",
     .version = 1,
     .family = GATHER_FAMILY_SCATTER_ND,
     .negative = true,
     .on_bad = GATHER_ON_BAD_ERROR,
     .off_axis = GATHER_OFF_AXIS_NONE,
     .axis_source = GATHER_AXIS_SOURCE_NONE,
     .document = "scatter.h",
     .tuples = GATHER_TUPLES_ANY},
};

const gather_op *gather_scatter_op(const char *name) {
  for (size_t i = 0; name && i < sizeof OWN / sizeof *OWN; i++)
    if (strcmp(OWN[i].name, name) == 0) return &OWN[i];
  return NULL;
}

/* ---- options */

gather_status gather_scatter_options_read(const gather_scatter_options *options, gather_scatter_options *full, gather_error *error) {
  *full = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  GATHER_TRY(gather_struct_read(full, sizeof *full, options, "gather_scatter_options", "GATHER_SCATTER_OPTIONS_INIT", error));
  if ((int)full->reduction < 0 || full->reduction > GATHER_REDUCTION_MEAN)
    return gather_fail(error, GATHER_USAGE, "invalid options.reduction %d", (int)full->reduction);
  if ((int)full->accumulate < 0 || full->accumulate > GATHER_ACCUMULATE_WIDE)
    return gather_fail(error, GATHER_USAGE, "invalid options.accumulate %d", (int)full->accumulate);
  if ((int)full->on_bad < 0 || full->on_bad > GATHER_ON_BAD_SKIP || full->on_bad == GATHER_ON_BAD_FILL)
    return gather_fail(error, GATHER_USAGE, "invalid options.on_bad %d", (int)full->on_bad);
  if ((int)full->negative < 0 || full->negative > GATHER_NEGATIVE_OFF)
    return gather_fail(error, GATHER_USAGE, "invalid options.negative %d", (int)full->negative);
  return gather_executor_check(full->executor, error);
}

/* Those of the nest. An update that is skipped is a row that the reading family would fill. */
static gather_options options_of_nest(const gather_op *op, const gather_scatter_options *options) {
  gather_options nest = GATHER_OPTIONS_INIT;
  nest.axis = options->axis, nest.batch_dims = options->batch_dims, nest.negative = options->negative, nest.numbers = options->numbers;
  nest.on_bad = options->on_bad ? options->on_bad : op->on_bad;
  if (nest.on_bad == GATHER_ON_BAD_SKIP) nest.on_bad = GATHER_ON_BAD_ZERO;
  return nest;
}

/* ---- the reduction */

static gather_status set_reduction(gather_scatter_plan *plan, const gather_op *op, const gather_tensor *data,
                                   const gather_scatter_options *options, gather_error *error) {
  const gather_type_info *type = gather_type_row(data->type);
  const scatter_rules rules = rules_of(op);
  const gather_reduction reduction = options->reduction;
  if (!(rules.reductions >> reduction & 1u))
    return gather_fail(error, GATHER_UNSUPPORTED, "%s%s%s has no reduction \"%s\"", op->name, GATHER_RULES_TEXT(op),
                       gather_reduction_name(reduction));
  if (!gather_reduction_supports(reduction, data->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "data", "elements of type %s have no reduction \"%s\"", type->name,
                             gather_reduction_name(reduction));
  if (reduction && (data->flags & GATHER_TENSOR_BYTE_SWAPPED) && type->bits > 8)
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "data", "data in the other byte order can be replaced, but not reduced");
  const gather_accumulate accumulate = options->accumulate ? options->accumulate : rules.accumulate;
  const bool rounds = reduction == GATHER_REDUCTION_ADD || reduction == GATHER_REDUCTION_SUB || reduction == GATHER_REDUCTION_MUL ||
                      reduction == GATHER_REDUCTION_MEAN;
  const bool once = accumulate == GATHER_ACCUMULATE_WIDE || (accumulate == GATHER_ACCUMULATE_HALVES && type->bits == 16);
  plan->wide = rounds && once ? gather_kernel_wide(data->type) : NULL;
  plan->divide = reduction == GATHER_REDUCTION_MEAN ? gather_kernel_divide(data->type) : NULL;
  plan->finite = rules.finite;
  plan->options.neutral = options->neutral && reduction != GATHER_REDUCTION_NONE;
  plan->sorts = plan->wide || plan->divide || plan->options.neutral;
  return GATHER_OK;
}

/* ---- the destination */

static int64_t divisor(int64_t a, int64_t b) {
  a = a < 0 ? -a : a, b = b < 0 ? -b : b;
  while (b) {
    const int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

typedef struct {
  int64_t step, low, high; /* of the offsets of rows: what divides their differences, and their range */
} reach;

static void reach_along(reach *r, int64_t len, int64_t step) {
  if (len < 2 || step == 0) return;
  r->step = divisor(r->step, step);
  *(step < 0 ? &r->low : &r->high) += step * (len - 1);
}

/* The offsets of the rows of the destination. */
static reach reach_of(const gather_plan *nest) {
  reach r = {0, nest->data_offset, nest->data_offset};
  for (int32_t i = 0; i < nest->loop_count; i++) reach_along(&r, nest->loops[i].len, nest->loops[i].data);
  if (nest->column_count == 1) {
    reach_along(&r, nest->rule.axis_len, nest->axis_step);
    return r;
  }
  for (int32_t c = 0; c < nest->column_count; c++) {
    const gather_loop *column = gather_column(nest, c);
    if (column->len > 1) r.step = divisor(r.step, column->data * nest->axis_step);
  }
  r.high += (nest->rule.axis_len - 1) * nest->axis_step; /* no offset of a tuple is negative (build.c) */
  return r;
}

void gather_scatter_part_rows(gather_scatter_plan *plan, int64_t row_bytes) {
  gather_plan *nest = &plan->nest;
  if (nest->row_bytes == row_bytes) return;
  nest->loops[nest->loop_count++] = (gather_loop){nest->row_bytes / row_bytes, row_bytes, 0, row_bytes};
  nest->row_count *= nest->row_bytes / row_bytes;
  nest->row_bytes = row_bytes;
}

/* Rows of windows may overlap in part: then shorter ones become the rows, and another loop runs through them. */
static void keep_rows_apart(gather_scatter_plan *plan, reach *r) {
  const int64_t row = divisor(r->step, plan->nest.row_bytes);
  if (r->step == 0 || r->step >= plan->nest.row_bytes) return;
  gather_scatter_part_rows(plan, row % plan->item_bytes ? plan->item_bytes : row);
  *r = reach_of(&plan->nest);
}

static void set_places(gather_scatter_plan *plan) {
  gather_plan *nest = &plan->nest;
  if (nest->row_count == 0) return;
  reach r = reach_of(nest);
  if (!nest->packed) keep_rows_apart(plan, &r);
  plan->place_low = r.low;
  plan->place_step = r.step ? r.step : nest->row_bytes;
  plan->places = r.high < r.low ? 1 : (r.high - r.low) / plan->place_step + 1; /* the axis may have no place: then no index is used */
  plan->len = nest->packed ? nest->row_bytes : plan->item_bytes > 0 ? nest->row_bytes / plan->item_bytes : 1;
  if (nest->packed || plan->empty) return;
  plan->combine = gather_kernel_combine(plan->options.reduction, plan->type, plan->item_bytes, plan->len, &plan->isa);
}

/* The dimension of indices from which on they have the rounds of the innermost loop; 0: it is none. */
static int32_t dimension_of_rounds(const gather_plan *nest, int64_t len) {
  int64_t all = 1;
  for (int32_t d = nest->index_rank - 1; d > 0; d--) {
    all *= nest->index_shape[d];
    if (all == len) return d;
    if (all > len) return 0;
  }
  return 0;
}

bool gather_scatter_may_widen(const gather_scatter_plan *plan) {
  enum { SHORTEST = 4 /* elements that are worth a look at all indices */ };
  const gather_plan *nest = &plan->nest;
  if (nest->row_count == 0 || nest->packed || nest->column_count > 1 || nest->loop_count < 2) return false;
  const gather_loop *inner = &nest->loops[nest->loop_count - 1];
  if (inner->len < SHORTEST || inner->data != nest->row_bytes || inner->out != nest->row_bytes) return false;
  return inner->index == gather_type_row(nest->rule.type)->bits / 8 && dimension_of_rounds(nest, inner->len) > 0;
}

void gather_scatter_widen(const gather_scatter_plan *plan, gather_scatter_plan *wider) {
  *wider = *plan;
  gather_plan *nest = &wider->nest;
  const int64_t len = nest->loops[--nest->loop_count].len;
  for (int32_t d = dimension_of_rounds(nest, len); d < nest->index_rank; d++) nest->index_shape[d] = 1;
  nest->row_bytes *= len, nest->row_count /= len, nest->index_count /= len;
  nest->index_dense = false;
  set_places(wider);
}

/* The same for a packed nest that has become one of bytes (build.c), and for data that is only moved. */
static int64_t item_of(const gather_plan *nest, const gather_tensor *data) {
  if (gather_type_is_packed(gather_type_row(data->type))) return nest->packed ? 1 : nest->layout.group_bytes;
  return gather_tensor_item_bytes(data);
}

/* Whether two tensors of one shape have the same steps, where they are used. */
static bool same_steps(int32_t rank, const int64_t *shape, const int64_t *a, const int64_t *b) {
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] > 1 && a[d] != b[d]) return false;
  return true;
}

static bool same_shape(const gather_tensor *a, const gather_tensor *b) {
  bool same = a->rank == b->rank;
  for (int32_t d = 0; same && d < a->rank; d++) same = a->shape[d] == b->shape[d];
  return same;
}

static gather_status check_out(const gather_tensor *data, const gather_tensor *out, gather_error *error) {
  char has[128], needs[128];
  GATHER_TRY(gather_tensor_check_input(out, "output", error));
  GATHER_TRY(gather_output_check_type(data, "data", out, error));
  if (!same_shape(data, out))
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "output", "the output has the shape %s; it must be that of data, %s",
                             gather_shape_text(has, sizeof has, out->rank, out->shape),
                             gather_shape_text(needs, sizeof needs, data->rank, data->shape));
  return gather_output_check_strides(out, error);
}

/* What copies data to the destination, which passed its checks. */
static void set_copy(gather_scatter_plan *plan, const gather_tensor *data, const gather_size *size, const gather_tensor *out) {
  plan->rank = data->rank, plan->data_len = size->len;
  if (data->rank > 0) memcpy(plan->shape, data->shape, (size_t)data->rank * sizeof *data->shape);
  gather_tensor_strides(data, plan->data_strides);
  gather_tensor_strides(out, plan->out_strides);
  plan->data_offset = data->packed_offset, plan->out_offset = out->packed_offset;
  gather_tensor_extent(data, size, &plan->data_extent.low, &plan->data_extent.high);
  plan->same_layout = same_steps(plan->rank, plan->shape, plan->data_strides, plan->out_strides) && plan->data_offset == plan->out_offset;
  plan->dense = gather_tensor_is_row_major(data) && gather_tensor_is_row_major(out) && plan->data_offset == 0 && plan->out_offset == 0;
}

/* ---- rows without elements */

static bool fits(const gather_tensor *tensor, int64_t *len) {
  int64_t bytes;
  return gather_shape_len(tensor->rank, tensor->shape, len) && gather_tensor_len_fits(tensor, *len, &bytes);
}

/* Their places are compared in a nest whose rows have one byte, of data that has no memory. Sets plan->empty if there are such rows. */
static gather_status lower_empty(const gather_op *op, const gather_family_rules *rules, const gather_tensor *data,
                                 const gather_tensor *indices, const gather_options *options, gather_scatter_plan *plan,
                                 gather_error *error) {
  gather_plan *nest = &plan->nest;
  gather_attributes a = {.axis = -1, .batch_dims = -1, .tuple_len = -1};
  gather_dim_source sources[GATHER_MAX_RANK];
  int64_t places[GATHER_MAX_RANK], rows[GATHER_MAX_RANK], len;
  const int64_t tuple_len = indices->rank > 0 ? indices->shape[indices->rank - 1] : 0;
  const gather_tensor to = {.type = GATHER_TYPE_UINT8, .rank = data->rank, .shape = places};
  const gather_tensor from = {.type = GATHER_TYPE_UINT8, .rank = nest->out_rank, .shape = rows};
  GATHER_TRY(rules->attributes(op, data->rank, indices->rank, tuple_len, options, true, &a, error));
  (void)rules->sources(op, data->rank, indices->rank, &a, sources);
  for (int32_t d = 0; d < to.rank; d++) places[d] = data->shape[d];
  for (int32_t o = 0; o < from.rank; o++) {
    const bool in_row = sources[o].indices < 0;
    rows[o] = in_row ? 1 : nest->out_shape[o];
    if (in_row) places[sources[o].data] = 1;
  }
  const bool countable = fits(&from, &len);
  if (countable && len == 0) return GATHER_OK;
  if (!countable || !fits(&to, &len))
    return gather_fail_input(error, GATHER_OVERFLOW, countable ? "data" : "updates",
                             "%s too many rows without elements to search for repeated indices",
                             countable ? "data has" : "the updates have");
  gather_options checked = *options; /* unchecked indices would be used for places here, and for nothing before */
  if (checked.on_bad == GATHER_ON_BAD_PROMISE) checked.on_bad = GATHER_ON_BAD_CLAMP;
  plan->empty = true;
  GATHER_TRY(gather_lower_written(op, rules, &to, indices, &from, &checked, nest, error));
  nest->data_extent = nest->out_extent = (gather_extent){0, 0};
  return GATHER_OK;
}

/* ---- the whole */

gather_status gather_scatter_lower(const gather_op *op, const gather_family_rules *rules, const gather_tensor *data,
                                   const gather_tensor *indices, const gather_tensor *updates, const gather_tensor *out,
                                   const gather_scatter_options *options, gather_scatter_plan *plan, gather_error *error) {
  gather_size size;
  gather_tensor written, index;
  gather_window_sizes w;
  gather_options nest_options = options_of_nest(op, options);
  GATHER_TRY(gather_tensor_measure(data, "data", &size, error));
  GATHER_TRY(gather_tensor_check_input(indices, "indices", error));
  if (updates) GATHER_TRY(gather_tensor_check_input(updates, "updates", error));
  if (out) GATHER_TRY(check_out(data, out, error));
  written = out ? *out : *data;
  if (!out) written.strides = NULL, written.packed_offset = 0;
  index = *indices;
  /* The positions of repeated indices are told by their offsets: by those of a copy, where the tuples' numbers may be in another dimension
   * than the last. */
  if (options->unique && (options->numbers || !gather_tensor_is_row_major(indices))) index.flags |= GATHER_TENSOR_SHARED;
  /* Of a scatter, in contrast to a gradient, the updates say how long windows are; and its document skips what is outside. */
  const bool measures = options->numbers && updates && op->on_bad == GATHER_ON_BAD_SKIP;
  if (measures) {
    GATHER_TRY(gather_windows_measure(options->numbers, data, updates, &w, error));
    nest_options.numbers = &w.numbers;
  }
  GATHER_TRY(gather_lower_written(op, rules, &written, &index, updates, &nest_options, &plan->nest, error));
  plan->empty = false;
  if (options->unique && !options->numbers && plan->nest.row_count == 0)
    GATHER_TRY(lower_empty(op, rules, data, &index, &nest_options, plan, error));
  plan->options = *options, plan->type = data->type;
  plan->options.numbers = NULL;
  plan->windows.partial = false;
  if (measures && !options->whole_windows && nest_options.on_bad == GATHER_ON_BAD_ZERO)
    gather_windows_set(&plan->windows, &w.numbers, data, updates);
  plan->kept = plan->clears = false;
  plan->isa = "", plan->combine = NULL;
  GATHER_TRY(set_reduction(plan, op, data, options, error));
  plan->item_bytes = item_of(&plan->nest, data);
  plan->place_low = 0, plan->place_step = 1, plan->places = 0, plan->len = 1;
  set_places(plan);
  gather_plan_choose(&plan->nest);
  plan->linear = plan->nest.row_count > 0 && plan->nest.linear;
  set_copy(plan, data, &size, &written);
  return GATHER_OK;
}
