/* SPDX-License-Identifier: MIT
 *
 * bags.c: gather_embedding_bag: its operators, and what is checked before anything is written. bag_run.c sums the bags.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/kernel/dispatch.h"
#include "core/op/op.h"
#include "core/scatter/bag_job.h"
#include "core/scatter/scatter_plan.h"

/* ---- operators */

/* Their reductions are in scatter_rules.def. */
static const struct {
  const gather_op *op;
  gather_bag_form form;
} RULES[] = {
    {&gather_op_table[GATHER_OP_OPENVINO_BAG_OFFSETS_3], GATHER_BAGS_OFFSETS},
    {&gather_op_table[GATHER_OP_OPENVINO_BAG_OFFSETS_15], GATHER_BAGS_OFFSETS},
    {&gather_op_table[GATHER_OP_OPENVINO_BAG_PACKED_3], GATHER_BAGS_PACKED},
    {&gather_op_table[GATHER_OP_OPENVINO_BAG_PACKED_15], GATHER_BAGS_PACKED},
    {&gather_op_table[GATHER_OP_OPENVINO_SEGMENTS_3], GATHER_BAGS_SEGMENTS},
};

/* The operator of no document, whose name errors have. */
static const gather_op ANY = {.name = "embedding_bag", .on_bad = GATHER_ON_BAD_ERROR, .off_axis = GATHER_OFF_AXIS_NONE};

static const char *const FORM_NAMES[] = {"packed indices", "offsets", "segment_ids"};

/* Everything of a call. Tensors of shared memory are copies of the caller's. */
typedef struct bag_call {
  const gather_op *op; /* ANY for NULL */
  const gather_tensor *table, *out;
  gather_bags bags;
  gather_scatter_options options;
  gather_bag_form form;
  int64_t count; /* of bags */
  gather_size table_size, index_size, end_size, weight_size, out_size;
  gather_tensor own[3]; /* copies: of indices, offsets, segment_ids */
  int64_t own_shape[3][2];
  bool was_shared;
} bag_call;

/* Names the operator in a message. */
#define CALLED(c) (c)->op->name, GATHER_RULES_TEXT((c)->op)

/* ---- the bags */

static gather_status check_integers(const gather_tensor *tensor, const char *input, int32_t rank, gather_size *size, gather_error *error) {
  GATHER_TRY(gather_tensor_measure(tensor, input, size, error));
  if (!gather_type_is_index(tensor->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, input, "%s must be integers, not %s", input,
                             gather_type_get(tensor->type)->name);
  if (tensor->rank == rank) return GATHER_OK;
  return gather_fail_input(error, GATHER_RANK_MISMATCH, input, "%s has rank %" PRId32 "; its rank must be %" PRId32, input, tensor->rank,
                           rank);
}

static gather_status check_same_shape(const gather_tensor *tensor, const char *input, const gather_tensor *indices, gather_error *error) {
  char has[96], needs[96];
  if (tensor->rank == indices->rank && memcmp(tensor->shape, indices->shape, (size_t)indices->rank * sizeof *tensor->shape) == 0)
    return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "%s has the shape %s; it must be that of the indices, %s", input,
                           gather_shape_text(has, sizeof has, tensor->rank, tensor->shape),
                           gather_shape_text(needs, sizeof needs, indices->rank, indices->shape));
}

static gather_status count_offsets(bag_call *c, gather_error *error) {
  const gather_bags *b = &c->bags;
  GATHER_TRY(check_integers(b->offsets, "offsets", 1, &c->end_size, error));
  c->count = b->offsets->shape[0] - b->last_offset;
  if (c->count >= 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "offsets",
                           "offsets is empty; with last_offset it needs at least the end of the last bag");
}

static gather_status count_segments(bag_call *c, gather_error *error) {
  const gather_bags *b = &c->bags;
  GATHER_TRY(check_integers(b->segment_ids, "segment_ids", 1, &c->end_size, error));
  GATHER_TRY(check_same_shape(b->segment_ids, "segment_ids", b->indices, error));
  c->count = b->segments;
  if (c->count >= 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "segment_ids", "the number of segments is %" PRId64 ", which is negative",
                           c->count);
}

/* Finds the form and the number of bags. */
static gather_status read_bags(bag_call *c, const gather_bags *bags, gather_error *error) {
  gather_bags *b = &c->bags;
  *b = (gather_bags)GATHER_BAGS_INIT;
  if (!bags) return gather_fail_input(error, GATHER_USAGE, "indices", "the bags are NULL");
  GATHER_TRY(gather_struct_read(b, sizeof *b, bags, "gather_bags", "GATHER_BAGS_INIT", error));
  if (b->offsets && b->segment_ids)
    return gather_fail_input(error, GATHER_USAGE, "segment_ids", "bags have offsets or segment_ids, not both");
  if (b->last_offset && !b->offsets) return gather_fail_input(error, GATHER_USAGE, "offsets", "last_offset is set, but offsets is NULL");
  c->form = b->offsets ? GATHER_BAGS_OFFSETS : b->segment_ids ? GATHER_BAGS_SEGMENTS : GATHER_BAGS_PACKED;
  GATHER_TRY(check_integers(b->indices, "indices", c->form == GATHER_BAGS_PACKED ? 2 : 1, &c->index_size, error));
  if (c->form == GATHER_BAGS_OFFSETS) return count_offsets(c, error);
  if (c->form == GATHER_BAGS_SEGMENTS) return count_segments(c, error);
  c->count = b->indices->shape[0];
  return GATHER_OK;
}

gather_status gather_bags_count(const gather_bags *bags, int64_t *count, gather_error *error) {
  bag_call c;
  if (!count) return gather_fail(error, GATHER_USAGE, "`count` is NULL");
  GATHER_TRY(read_bags(&c, bags, error));
  *count = c.count;
  return GATHER_OK;
}

/* ---- options */

/* The form that a document's operator has. */
static gather_status check_form(const bag_call *c, gather_error *error) {
  for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
    if (RULES[i].op != c->op) continue;
    if (RULES[i].form != c->form)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "indices", "%s%s%s has %s, not %s", CALLED(c), FORM_NAMES[RULES[i].form],
                               FORM_NAMES[c->form]);
    if (!c->bags.last_offset) return GATHER_OK;
    return gather_fail_input(error, GATHER_UNSUPPORTED, "offsets", "%s%s%s has no last offset: its last bag ends with the indices",
                             CALLED(c));
  }
  return gather_fail(error, GATHER_UNSUPPORTED, "%s%s%s is not an operator of embedding bags", CALLED(c));
}

static gather_status check_rules(bag_call *c, gather_error *error) {
  gather_reduction *reduction = &c->options.reduction;
  if (c->op != &ANY) GATHER_TRY(check_form(c, error));
  if (*reduction == GATHER_REDUCTION_NONE) *reduction = GATHER_REDUCTION_ADD;
  const bool known = *reduction == GATHER_REDUCTION_ADD || *reduction == GATHER_REDUCTION_MEAN || *reduction == GATHER_REDUCTION_MAX;
  if (known && gather_scatter_op_reduces(c->op, *reduction)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "%s%s%s has no reduction \"%s\"", CALLED(c), gather_reduction_name(*reduction));
}

static gather_status read_options(bag_call *c, const gather_scatter_options *options, gather_error *error) {
  gather_scatter_options *o = &c->options;
  GATHER_TRY(gather_scatter_options_read(options, o, error));
  if (o->axis != 0)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "axis is %" PRId64 ", but embedding bags have no axis", o->axis);
  if (o->batch_dims != 0 || o->neutral || o->unique || o->whole_windows || o->numbers)
    return gather_fail(error, GATHER_USAGE, "embedding bags have no batch_dims, neutral, unique, whole_windows or numbers");
  return GATHER_OK;
}

/* ---- tensors */

/* The kernels' number of a type; -1: rows of this type are not summed. */
static int kind_of(gather_type type, gather_accumulate accumulate) {
  const bool steps = accumulate == GATHER_ACCUMULATE_STEPS;
  switch (type) {
    case GATHER_TYPE_FLOAT16:
      return steps ? GATHER_BAG_HALF_STEPS : GATHER_BAG_HALF;
    case GATHER_TYPE_BFLOAT16:
      return steps ? GATHER_BAG_BFLOAT_STEPS : GATHER_BAG_BFLOAT;
    case GATHER_TYPE_FLOAT32:
      return accumulate == GATHER_ACCUMULATE_WIDE ? GATHER_BAG_WIDE : GATHER_BAG_FLOAT32;
    case GATHER_TYPE_FLOAT64:
      return GATHER_BAG_FLOAT64;
    default:
      return gather_type_is_index(type) ? GATHER_BAG_INT8 + (int)type - (int)GATHER_TYPE_INT8 : -1;
  }
}

static bool is_swapped(const gather_tensor *tensor) {
  return (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0 && gather_type_row(tensor->type)->bits > 8;
}

static gather_status check_order(const gather_tensor *tensor, const char *input, gather_error *error) {
  if (!is_swapped(tensor)) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, input, "%s is byte-swapped: it can be gathered, but not summed", input);
}

static gather_status check_table(bag_call *c, gather_error *error) {
  GATHER_TRY(gather_tensor_measure(c->table, "table", &c->table_size, error));
  if (c->table->rank == 0) return gather_fail_input(error, GATHER_RANK_MISMATCH, "table", "the table is 0-D; it has no rows");
  if (kind_of(c->table->type, GATHER_ACCUMULATE_DEFAULT) < 0)
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "table", "sums of rows of %s are not supported",
                             gather_type_get(c->table->type)->name);
  return check_order(c->table, "table", error);
}

static gather_status check_weights(bag_call *c, gather_error *error) {
  const gather_tensor *weights = c->bags.weights;
  if (!weights) return GATHER_OK;
  if (c->options.reduction != GATHER_REDUCTION_ADD)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "weights", "weights are for sums, not for means and maxima");
  GATHER_TRY(gather_tensor_measure(weights, "weights", &c->weight_size, error));
  if (weights->type != c->table->type)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "weights", "the weights are %s, the table is %s",
                             gather_type_get(weights->type)->name, gather_type_get(c->table->type)->name);
  GATHER_TRY(check_same_shape(weights, "weights", c->bags.indices, error));
  return check_order(weights, "weights", error);
}

static gather_status check_default(const bag_call *c, gather_error *error) {
  const int64_t index = c->bags.default_index, rows = c->table->shape[0];
  if (index == -1) return GATHER_OK;
  if (c->form == GATHER_BAGS_PACKED)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "default_index", "packed bags have no default_index");
  if (index >= 0 && index < rows) return GATHER_OK;
  const gather_status status =
      gather_fail_input(error, GATHER_INDEX_OUT_OF_RANGE, "default_index",
                        "default_index = %" PRId64 " is outside [-1, %" PRId64 "] (%s%s%s)", index, rows - 1, CALLED(c));
  if (error) error->axis = 0, error->position_rank = 0, error->value = index, error->low = -1, error->high = rows - 1, error->bad_count = 1;
  return status;
}

static gather_status check_out_shape(const bag_call *c, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  char has[128], needs[128];
  memcpy(shape, c->table->shape, (size_t)c->table->rank * sizeof *shape);
  shape[0] = c->count;
  if (c->out->rank == c->table->rank && memcmp(c->out->shape, shape, (size_t)c->table->rank * sizeof *shape) == 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "output", "the output has the shape %s; it must be %s",
                           gather_shape_text(has, sizeof has, c->out->rank, c->out->shape),
                           gather_shape_text(needs, sizeof needs, c->table->rank, shape));
}

static gather_status check_out(bag_call *c, gather_error *error) {
  if (!c->out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_tensor_measure(c->out, "output", &c->out_size, error));
  GATHER_TRY(gather_output_check_type(c->table, "the table", c->out, error));
  GATHER_TRY(check_out_shape(c, error));
  return gather_output_check_strides(c->out, error);
}

/* ---- memory */

static gather_status check_input_memory(const bag_call *c, const gather_tensor *tensor, const gather_size *size, const char *name,
                                        gather_error *error) {
  gather_extent written, read;
  if (!tensor || size->len == 0) return GATHER_OK;
  if (!tensor->data) return gather_fail_input(error, GATHER_USAGE, name, "%s: the data pointer is NULL", name);
  gather_tensor_extent(c->out, &c->out_size, &written.low, &written.high);
  gather_tensor_extent(tensor, size, &read.low, &read.high);
  if (!gather_extents_meet(c->out->data, &written, tensor->data, &read)) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", name);
}

static gather_status check_memory(const bag_call *c, gather_error *error) {
  const gather_bags *b = &c->bags;
  if (!c->out->data && c->out_size.len > 0) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  GATHER_TRY(check_input_memory(c, c->table, &c->table_size, "table", error));
  GATHER_TRY(check_input_memory(c, b->indices, &c->index_size, "indices", error));
  GATHER_TRY(check_input_memory(c, b->offsets, &c->end_size, "offsets", error));
  GATHER_TRY(check_input_memory(c, b->segment_ids, &c->end_size, "segment_ids", error));
  return check_input_memory(c, b->weights, &c->weight_size, "weights", error);
}

static gather_sequence sequence_of(const gather_tensor *tensor, const gather_size *size) {
  int64_t steps[GATHER_MAX_RANK];
  gather_sequence s = {.at = tensor->data, .count = size->len, .len = 1};
  gather_tensor_strides(tensor, steps);
  if (size->len == 0) return s;
  /* Strides of dimensions of length 1 were not checked, and are not used. */
  const int32_t last = tensor->rank - 1;
  s.len = tensor->shape[last], s.step = s.len > 1 ? steps[last] : 0;
  if (tensor->rank == 2 && tensor->shape[0] > 1) s.round = steps[0];
  const int64_t width = gather_tensor_item_bytes(tensor);
  if (s.len == 1) s.len = s.count, s.step = s.round, s.round = 0; /* a column */
  if (s.count == 1) s.step = width;
  if (s.round == s.step * s.len || s.len == s.count) s.len = s.count, s.round = 0;
  return s;
}

static gather_index_rule rule_of(const gather_tensor *tensor, int64_t axis_len) {
  return (gather_index_rule){.type = tensor->type,
                             .swapped = is_swapped(tensor),
                             .on_bad = GATHER_ON_BAD_ERROR,
                             .axis_len = axis_len,
                             .within = gather_kernel_within(tensor->type),
                             .fold = gather_kernel_fold(tensor->type)};
}

/* Puts a copy in the place of a tensor that others may write, each of whose elements is read once. */
static gather_status make_own(bag_call *c, int number, const gather_tensor **tensor, const gather_size *size, gather_error *error) {
  const gather_tensor *from = *tensor;
  if (!from || !(from->flags & GATHER_TENSOR_SHARED) || size->len == 0) return GATHER_OK;
  const gather_sequence s = sequence_of(from, size);
  const size_t width = (size_t)gather_tensor_item_bytes(from);
  char *copy = gather_alloc_unset(size->bytes);
  if (!copy) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of shared indices");
  for (int64_t i = 0; i < s.count; i++) memcpy(copy + i * (int64_t)width, s.at + i / s.len * s.round + i % s.len * s.step, width);
  /* From here on the copy is read: the compiler must not read the original again. */
  atomic_signal_fence(memory_order_seq_cst);
  c->own[number] = *from;
  c->own[number].data = copy, c->own[number].strides = NULL;
  c->own[number].flags &= ~(uint32_t)GATHER_TENSOR_SHARED;
  *tensor = &c->own[number], c->was_shared = true;
  return GATHER_OK;
}

static gather_status make_all_own(bag_call *c, gather_error *error) {
  GATHER_TRY(make_own(c, 0, &c->bags.indices, &c->index_size, error));
  GATHER_TRY(make_own(c, 1, &c->bags.offsets, &c->end_size, error));
  return make_own(c, 2, &c->bags.segment_ids, &c->end_size, error);
}

/* ---- offsets and segment_ids */

/* Whether all are in [0, axis_len - 1] and none is below the one before it. */
static bool ascend(const gather_sequence *s, const gather_index_rule *rule) {
  enum { BLOCK = 256 };
  int64_t numbers[BLOCK], before = 0;
  for (int64_t at = 0, now; at < s->count; at += now) {
    bool fine = true;
    now = s->count - at < BLOCK ? s->count - at : BLOCK;
    gather_sequence_read(s, rule, at, now, numbers); /* clamped, where out of range */
    for (int64_t i = 0; i < now; i++) fine = fine && numbers[i] >= before, before = numbers[i];
    if (!fine) return false;
  }
  return true;
}

static bool all_in_range(const gather_sequence *s, const gather_index_rule *rule) {
  if (rule->axis_len == 0) return s->count == 0;
  if (gather_indices_cannot_fail(rule)) return true;
  return gather_indices_validate(rule, s->at, s->step, s->count) < GATHER_INDICES_BAD;
}

/* Numbers out of range: the first one, its range, and how many there are. */
typedef struct bad_number {
  int64_t position, value, low, high, count;
} bad_number;

/* The range begins with the number before, of those that are in range. */
static bad_number find_bad(const gather_sequence *s, const gather_index_rule *rule) {
  bad_number found = {0};
  int64_t before = 0;
  for (int64_t i = 0; i < s->count; i++) {
    const char *at = s->at + i * s->step;
    const int64_t value = gather_index_value(rule, at);
    if (value >= before && value < rule->axis_len) {
      before = value;
      continue;
    }
    if (found.count == 0) found = (bad_number){i, value, before, rule->axis_len - 1, 0};
    found.count++;
  }
  return found;
}

static gather_status check_ascending(const bag_call *c, const char *input, const gather_sequence *s, const gather_index_rule *rule,
                                     gather_error *error) {
  char number[32];
  if (s->count == 0 || (all_in_range(s, rule) && ascend(s, rule))) return GATHER_OK;
  const bad_number bad = find_bad(s, rule);
  const bool is_unsigned = rule->type >= GATHER_TYPE_UINT8;
  (void)snprintf(number, sizeof number, is_unsigned ? "%" PRIu64 : "%" PRId64, (uint64_t)bad.value);
  const gather_status status =
      gather_fail_input(error, GATHER_INDEX_OUT_OF_RANGE, input,
                        "%s[%" PRId64 "] = %s is outside [%" PRId64 ", %" PRId64 "]%s (%s%s%s); %" PRId64 " of %" PRId64 " %s bad", input,
                        bad.position, number, bad.low, bad.high, bad.low > 0 ? ", whose lower end is the value before it" : "", CALLED(c),
                        bad.count, s->count, bad.count == 1 ? "is" : "are");
  if (!error) return status;
  error->position_rank = 1, error->position[0] = bad.position;
  error->value = bad.value, error->value_is_unsigned = is_unsigned;
  error->low = bad.low, error->high = bad.high, error->bad_count = bad.count;
  return status;
}

/* ---- indices: those of a gather of the same rows */

static gather_status check_indices(const bag_call *c, gather_bag_job *job, int64_t *bad, gather_error *error) {
  gather_plan plan;
  gather_index_state state;
  gather_op op = *c->op;
  gather_options options = GATHER_OPTIONS_INIT;
  op.family = GATHER_FAMILY_GATHER;
  const gather_on_bad on_bad = c->options.on_bad ? c->options.on_bad : op.on_bad;
  options.on_bad = on_bad == GATHER_ON_BAD_SKIP ? GATHER_ON_BAD_ZERO : on_bad;
  if (c->was_shared && on_bad == GATHER_ON_BAD_PROMISE) options.on_bad = GATHER_ON_BAD_CLAMP;
  options.negative = c->options.negative;
  GATHER_TRY(gather_lower_nest(&op, c->table, c->bags.indices, NULL, &options, &plan, error));
  plan.rule.within = gather_kernel_within(plan.rule.type), plan.rule.fold = gather_kernel_fold(plan.rule.type);
  GATHER_TRY(gather_plan_check_indices(&plan, c->bags.indices->data, false, c->options.executor, &state, bad, error));
  job->rule = plan.rule;
  job->leaves_out = *bad > 0 && options.on_bad == GATHER_ON_BAD_ZERO;
  const gather_sequence *s = &job->indices;
  if (state < GATHER_INDICES_BAD && !job->rule.swapped && s->len == s->count && s->step == gather_tensor_item_bytes(c->bags.indices))
    job->widen = gather_kernel_widen(job->rule.type);
  const bool wide = job->rule.type == GATHER_TYPE_INT64 || job->rule.type == GATHER_TYPE_UINT64;
  if (job->widen && wide && state == GATHER_INDICES_PLAIN && (uintptr_t)s->at % _Alignof(int64_t) == 0) job->rows = (const void *)s->at;
  return GATHER_OK;
}

/* ---- the job */

/* The loops of a row, merged where both tensors allow it; what is dense in both is its innermost part. */
static void set_row(gather_bag_job *job, const gather_tensor *table, const gather_tensor *out) {
  int64_t data[GATHER_MAX_RANK], to[GATHER_MAX_RANK];
  gather_tensor_strides(table, data), gather_tensor_strides(out, to);
  job->item_bytes = gather_tensor_item_bytes(table);
  job->axis_step = table->shape[0] > 1 ? data[0] : 0, job->out_step = out->shape[0] > 1 ? to[0] : 0;
  job->len = 1, job->loop_rounds = 1, job->loop_count = 0;
  for (int32_t d = table->rank - 1; d > 0; d--) {
    const int64_t len = table->shape[d], dense = job->len * job->item_bytes;
    if (len == 1) continue;
    gather_loop *inner = job->loop_count > 0 ? &job->loops[job->loop_count - 1] : NULL;
    if (!inner && data[d] == dense && to[d] == dense)
      job->len *= len;
    else if (inner && data[d] == inner->data * inner->len && to[d] == inner->out * inner->len)
      inner->len *= len;
    else
      job->loops[job->loop_count++] = (gather_loop){len, data[d], 0, to[d]};
  }
  for (int32_t i = 0; i < job->loop_count; i++) job->loop_rounds *= job->loops[i].len;
}

static void set_kernel(const bag_call *c, gather_bag_job *job) {
  const char *name;
  const gather_reduction reduction = c->options.reduction;
  const bool max = reduction == GATHER_REDUCTION_MAX;
  /* The largest element is exact in any type. */
  job->kind = kind_of(c->table->type, max ? GATHER_ACCUMULATE_DEFAULT : c->options.accumulate);
  job->fold = max ? GATHER_BAG_MAX : c->bags.weights ? GATHER_BAG_WEIGHTED : GATHER_BAG_SUM;
  job->mean = reduction == GATHER_REDUCTION_MEAN;
  job->kernel = gather_kernel_bag(job->kind, job->fold, &name);
  const int64_t bytes = job->len * job->item_bytes, rows = gather_tuned(GATHER_TUNING_prefetch_bytes) / bytes;
  const int64_t tuned = gather_tuned(GATHER_TUNING_prefetch_rows), most = tuned < GATHER_BAG_AHEAD ? tuned : GATHER_BAG_AHEAD;
  job->prefetch_rows = c->table_size.bytes <= gather_cache_bytes() ? 0 : rows < 1 ? 1 : rows < most ? rows : most;
}

static gather_status set_bags(const bag_call *c, gather_bag_job *job, gather_error *error) {
  const gather_bags *b = &c->bags;
  job->form = c->form, job->bags = c->count, job->count = c->index_size.len;
  job->indices = sequence_of(b->indices, &c->index_size);
  if (b->weights) job->weights = sequence_of(b->weights, &c->weight_size);
  job->default_row = b->default_index;
  if (c->form == GATHER_BAGS_PACKED) {
    job->packed_len = b->indices->shape[1];
    return GATHER_OK;
  }
  const gather_tensor *ends = b->offsets ? b->offsets : b->segment_ids;
  job->ends = sequence_of(ends, &c->end_size);
  job->end_rule = rule_of(ends, b->offsets ? job->count + 1 : b->segments);
  return check_ascending(c, b->offsets ? "offsets" : "segment_ids", &job->ends, &job->end_rule, error);
}

static gather_status run(bag_call *c, gather_error *error) {
  gather_bag_job job = {0};
  int64_t bad = 0;
  GATHER_TRY(make_all_own(c, error));
  GATHER_TRY(set_bags(c, &job, error));
  GATHER_TRY(check_indices(c, &job, &bad, error));
  if (c->options.bad_count) *c->options.bad_count = bad;
  if (c->out_size.len == 0) return GATHER_OK;
  job.table = c->table->data, job.out = c->out->data;
  set_row(&job, c->table, c->out);
  set_kernel(c, &job);
  gather_bags_run(&job, c->options.executor);
  return GATHER_OK;
}

static gather_status check(bag_call *c, const gather_bags *bags, const gather_scatter_options *options, gather_error *error) {
  GATHER_TRY(read_options(c, options, error));
  GATHER_TRY(read_bags(c, bags, error));
  GATHER_TRY(check_rules(c, error));
  GATHER_TRY(check_table(c, error));
  GATHER_TRY(check_weights(c, error));
  GATHER_TRY(check_out(c, error));
  GATHER_TRY(check_default(c, error));
  return check_memory(c, error);
}

gather_status gather_embedding_bag(const gather_op *op, const gather_tensor *table, const gather_bags *bags, const gather_tensor *out,
                                   const gather_scatter_options *options, gather_error *error) {
  bag_call c = {.op = op ? op : &ANY, .table = table, .out = out};
  gather_status status = check(&c, bags, options, error);
  if (status == GATHER_OK) status = run(&c, error);
  for (int i = 0; i < 3; i++) gather_free(c.own[i].data);
  return gather_fail_op(error, c.op, status);
}
