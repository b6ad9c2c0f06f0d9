/* SPDX-License-Identifier: MIT
 *
 * test_scatter_errors.c: calls that are refused: what is said, and that data and the output are as they were. Indices out of range at any
 * place, for each operator, with one thread and many, by every method, between forbidden pages; memory that overlaps; the reductions
 * of each document.
 */
#include "core/scatter/written.h"
#include "support/machines.h"

static gather_pool *pool;

static int begin(void **state) {
  if (gather_pool_create(8, &pool, NULL) != GATHER_OK) return -1;
  return written_begin(state);
}
static int end(void **state) {
  gather_pool_destroy(pool);
  return written_end(state);
}

static void in_turns(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  for (int64_t i = 0; i < count; i++) task(argument, i);
}

/* ---- a call that is right: data [3, 4] of float32, two rows. Each case changes something. */

typedef struct {
  const gather_op *op;
  gather_tensor tensors[HOLDERS];
  const gather_tensor *given[HOLDERS]; /* what is passed on */
  int64_t shapes[HOLDERS][4], strides[HOLDERS][4];
  gather_scatter_options options;
  float data[24], updates[24], out[24];
  int64_t indices[8];
} call;

static void start(call *c) {
  memset(c, 0, sizeof *c);
  c->op = gather_scatter_op("scatter");
  c->options = (gather_scatter_options)GATHER_SCATTER_OPTIONS_INIT;
  for (int i = 0; i < 24; i++) c->data[i] = (float)i, c->updates[i] = (float)(100 + i);
  c->indices[0] = 2;
  void *const memory[HOLDERS] = {c->data, c->indices, c->updates, c->out};
  for (int i = 0; i < HOLDERS; i++) {
    c->shapes[i][0] = i == DATA || i == OUT ? 3 : 2, c->shapes[i][1] = 4;
    c->strides[i][0] = 16, c->strides[i][1] = 4;
    c->tensors[i] = tensor_of(i == INDICES ? GATHER_TYPE_INT64 : GATHER_TYPE_FLOAT32, memory[i], i == INDICES ? 1 : 2, c->shapes[i]);
    c->given[i] = &c->tensors[i];
  }
  memset(c->out, 0x5A, sizeof c->out);
}

static void set_type(call *c, gather_type type) {
  for (int i = 0; i < HOLDERS; i++)
    if (i != INDICES) c->tensors[i].type = type;
}
static void set_op(call *c, const char *name, const char *rules, gather_reduction reduction) {
  c->op = rules ? op_of(name, rules) : gather_scatter_op(name), c->options.reduction = reduction;
}

#define CHANGE(name, ...) \
  static void name(call *c) { __VA_ARGS__; }
CHANGE(no_op, c->op = NULL)
CHANGE(no_data, c->given[DATA] = NULL)
CHANGE(no_indices, c->given[INDICES] = NULL)
CHANGE(no_updates, c->given[UPDATES] = NULL)
CHANGE(no_out, c->given[OUT] = NULL)
CHANGE(no_data_memory, c->tensors[DATA].data = NULL)
CHANGE(no_index_memory, c->tensors[INDICES].data = NULL)
CHANGE(no_shared_memory, c->tensors[INDICES].data = NULL; c->tensors[INDICES].flags = GATHER_TENSOR_SHARED)
CHANGE(no_updates_memory, c->tensors[UPDATES].data = NULL)
CHANGE(no_out_memory, c->tensors[OUT].data = NULL)
CHANGE(reading_op, c->op = op_of("Gather", "onnx-13"))
CHANGE(bag_op, c->op = op_of("EmbeddingBagOffsets", "openvino-15"))
CHANGE(bad_reduction, c->options.reduction = (gather_reduction)7)
CHANGE(bad_accumulate, c->options.accumulate = (gather_accumulate)-1)
CHANGE(bad_policy, c->options.on_bad = GATHER_ON_BAD_FILL)
CHANGE(bad_negative, c->options.negative = (gather_negative)3)
CHANGE(size_of_nothing, c->options.size = 0)
CHANGE(size_of_much, c->options.size = 1 << 20)
CHANGE(no_parallel_for, static const gather_executor none = {NULL, NULL, 2}; c->options.executor = &none)
CHANGE(axis_of_none, c->options.axis = 2)
CHANGE(axis_below, c->options.axis = -3)
CHANGE(batch_dims, c->options.batch_dims = 1)
CHANGE(float_indices, c->tensors[INDICES].type = GATHER_TYPE_FLOAT32)
CHANGE(other_type, c->tensors[UPDATES].type = GATHER_TYPE_INT32)
CHANGE(other_out_type, c->tensors[OUT].type = GATHER_TYPE_INT32)
CHANGE(no_type, c->tensors[UPDATES].type = (gather_type)99)
CHANGE(other_order, c->tensors[UPDATES].flags = GATHER_TENSOR_BYTE_SWAPPED)
CHANGE(other_out_order, c->tensors[OUT].flags = GATHER_TENSOR_BYTE_SWAPPED)
CHANGE(other_items, set_type(c, GATHER_TYPE_OPAQUE); c->tensors[DATA].item_bytes = c->tensors[OUT].item_bytes = 4;
       c->tensors[UPDATES].item_bytes = 3)
CHANGE(read_only, c->tensors[OUT].flags = GATHER_TENSOR_READ_ONLY)
CHANGE(short_updates, c->shapes[UPDATES][0] = 1)
CHANGE(flat_updates, c->tensors[UPDATES].rank = 1)
CHANGE(long_out, c->shapes[OUT][0] = 4)
CHANGE(flat_out, c->tensors[OUT].rank = 1)
CHANGE(below_zero, c->shapes[UPDATES][1] = -1)
CHANGE(too_large, c->shapes[UPDATES][0] = INT64_MAX)
CHANGE(out_on_itself, c->strides[OUT][0] = 8; c->tensors[OUT].strides = c->strides[OUT])
CHANGE(scalar_data, c->tensors[DATA].rank = c->tensors[OUT].rank = 0)
CHANGE(no_such_sum, set_type(c, GATHER_TYPE_FLOAT8_E5M2); c->options.reduction = GATHER_REDUCTION_ADD)
CHANGE(sum_of_strings, set_type(c, GATHER_TYPE_STRING); c->options.reduction = GATHER_REDUCTION_MUL)
CHANGE(sum_of_packed, set_type(c, GATHER_TYPE_INT4); c->options.reduction = GATHER_REDUCTION_MAX)
CHANGE(sum_of_opaque, set_type(c, GATHER_TYPE_OPAQUE); c->options.reduction = GATHER_REDUCTION_ADD)
CHANGE(mean_of_bool, set_type(c, GATHER_TYPE_BOOL); c->options.reduction = GATHER_REDUCTION_MEAN)
CHANGE(least_of_complex, set_type(c, GATHER_TYPE_COMPLEX64); c->options.reduction = GATHER_REDUCTION_MIN)
CHANGE(sum_of_swapped, for (int i = 0; i < HOLDERS; i++) c->tensors[i].flags = GATHER_TENSOR_BYTE_SWAPPED;
       c->options.reduction = GATHER_REDUCTION_ADD)
CHANGE(sum_of_none, set_op(c, "ScatterUpdate", "openvino-3", GATHER_REDUCTION_ADD))
CHANGE(no_numbers, c->op = op_of("scatter", "stablehlo-1"))
CHANGE(in_indices, c->tensors[OUT].data = c->indices)
CHANGE(in_updates, c->tensors[OUT].data = c->updates + 4)
CHANGE(beside_data, c->tensors[OUT].data = c->data + 1)
CHANGE(turned_data, c->strides[DATA][0] = 4; c->strides[DATA][1] = 12; c->tensors[DATA].strides = c->strides[DATA];
       c->tensors[OUT].data = c->data)
CHANGE(updates_of_data, c->tensors[OUT].data = c->data; c->tensors[UPDATES].data = c->data)
CHANGE(many_columns, c->op = gather_scatter_op("scatter_elements"); c->tensors[INDICES].rank = 2; c->shapes[INDICES][1] = 5)
CHANGE(long_tuples, c->op = gather_scatter_op("scatter_nd"); c->shapes[INDICES][0] = 3)
CHANGE(scalar_tuples, c->op = gather_scatter_op("scatter_nd"); c->tensors[INDICES].rank = 0)
CHANGE(empty_tuples, c->op = op_of("ScatterND", "onnx-18"); c->shapes[INDICES][0] = 0)
CHANGE(negative_index, c->op = op_of("ScatterUpdate", "openvino-3"); c->indices[1] = -1)
CHANGE(lowest_index, c->indices[0] = INT64_MIN)
CHANGE(highest_index, c->indices[1] = INT64_MAX; c->tensors[INDICES].flags = GATHER_TENSOR_SHARED)
CHANGE(unsigned_index, c->tensors[INDICES].type = GATHER_TYPE_UINT64; c->indices[1] = -1)
CHANGE(twice, c->indices[1] = 2; c->options.unique = true)
CHANGE(twice_from_the_end, c->indices[1] = -1; c->options.unique = true; c->options.reduction = GATHER_REDUCTION_ADD)
CHANGE(no_cells, for (int i = 0; i < HOLDERS; i++) if (i != INDICES) c->shapes[i][1] = 0, c->tensors[i].data = NULL)
CHANGE(no_bytes, set_type(c, GATHER_TYPE_OPAQUE); for (int i = 0; i < HOLDERS; i++) if (i != INDICES) c->tensors[i].data = NULL)
CHANGE(no_cells_before, c->options.axis = 1; c->shapes[DATA][0] = c->shapes[OUT][0] = c->shapes[UPDATES][0] = 0; c->shapes[UPDATES][1] = 2)
CHANGE(no_cells_of_tuples, no_cells(c); c->op = gather_scatter_op("scatter_nd"); c->tensors[INDICES].rank = 2; c->shapes[INDICES][1] = 1)
CHANGE(no_numbers_or_cells, no_cells_of_tuples(c); c->shapes[INDICES][1] = 0; c->tensors[UPDATES].rank = 3; c->shapes[UPDATES][1] = 3;
       c->shapes[UPDATES][2] = 0)
CHANGE(no_cells_and_bad, no_cells(c); c->indices[1] = 3)
CHANGE(no_tuples_and_bad, no_cells_of_tuples(c); c->indices[1] = -4; c->options.unique = true)
CHANGE(no_cells_or_indices, no_cells(c); c->tensors[INDICES].data = NULL)
CHANGE(no_cells_twice, no_cells(c); twice(c))
CHANGE(no_cells_twice_in_shared, no_cells(c); twice(c); c->tensors[INDICES].flags = GATHER_TENSOR_SHARED)
CHANGE(no_cells_before_twice, no_cells_before(c); twice(c))
CHANGE(no_bytes_twice, no_bytes(c); twice(c))
CHANGE(no_packed_twice, no_cells(c); set_type(c, GATHER_TYPE_INT4); twice(c))
CHANGE(no_cells_of_sums_twice, no_cells(c); twice(c); c->options.reduction = GATHER_REDUCTION_MEAN)
CHANGE(no_tuples_twice, no_cells_of_tuples(c); twice(c))
CHANGE(no_numbers_or_cells_twice, no_numbers_or_cells(c); twice(c))
CHANGE(no_cells_of_too_many, no_cells_of_tuples(c); c->shapes[INDICES][1] = 2; c->tensors[DATA].rank = c->tensors[OUT].rank = 3;
       for (int i = DATA; i <= OUT; i += OUT - DATA) c->shapes[i][0] = c->shapes[i][1] = INT64_C(1) << 40, c->shapes[i][2] = 0; twice(c))
CHANGE(no_axis, c->shapes[DATA][0] = c->shapes[OUT][0] = 0)
CHANGE(no_axis_to_clamp, c->shapes[DATA][0] = c->shapes[OUT][0] = 0; c->options.on_bad = GATHER_ON_BAD_CLAMP)

typedef struct {
  void (*change)(call *c);
  gather_status status;
  const char *input, *message; /* message: its beginning */
} refusal;

/* clang-format off */
static const refusal REFUSALS[] = {
    {no_op, GATHER_USAGE, NULL, "the operator is NULL"},
    {no_data, GATHER_USAGE, "data", "data is NULL"},
    {no_indices, GATHER_USAGE, "indices", "indices is NULL"},
    {no_updates, GATHER_USAGE, "updates", "the updates are NULL"},
    {no_out, GATHER_USAGE, "output", "the output is NULL"},
    {no_data_memory, GATHER_USAGE, "data", "the data pointer is NULL"},
    {no_index_memory, GATHER_USAGE, "indices", "the indices' data pointer is NULL"},
    {no_shared_memory, GATHER_USAGE, "indices", "the indices' data pointer is NULL"},
    {no_updates_memory, GATHER_USAGE, "updates", "the updates' data pointer is NULL"},
    {no_out_memory, GATHER_USAGE, "output", "the output's data pointer is NULL"},
    {reading_op, GATHER_USAGE, NULL, "Gather does not write: call gather_apply"},
    {bag_op, GATHER_USAGE, NULL, "EmbeddingBagOffsets does not write: call gather_embedding_bag"},
    {bad_reduction, GATHER_USAGE, NULL, "invalid options.reduction 7"},
    {bad_accumulate, GATHER_USAGE, NULL, "invalid options.accumulate -1"},
    {bad_policy, GATHER_USAGE, NULL, "invalid options.on_bad 5"},
    {bad_negative, GATHER_USAGE, NULL, "invalid options.negative 3"},
    {size_of_nothing, GATHER_USAGE, NULL, "gather_scatter_options.size is 0; start from GATHER_SCATTER_OPTIONS_INIT"},
    {size_of_much, GATHER_USAGE, NULL, "gather_scatter_options.size is 1048576; start from GATHER_SCATTER_OPTIONS_INIT"},
    {no_parallel_for, GATHER_USAGE, NULL, "the executor has no parallel_for"},
    {axis_of_none, GATHER_AXIS_OUT_OF_RANGE, "axis", "axis 2 is outside [-2, 1]"},
    {axis_below, GATHER_AXIS_OUT_OF_RANGE, "axis", "axis -3 is outside [-2, 1]"},
    {batch_dims, GATHER_BATCH_DIMS_OUT_OF_RANGE, NULL, ""},
    {float_indices, GATHER_TYPE_UNSUPPORTED, "indices", "indices must be integers, not float32"},
    {other_type, GATHER_TYPE_MISMATCH, "updates", "the updates are int32, data is float32"},
    {other_out_type, GATHER_TYPE_MISMATCH, "output", "the output is int32, data is float32"},
    {no_type, GATHER_TYPE_UNSUPPORTED, "updates", "updates: invalid element type 99"},
    {other_order, GATHER_TYPE_MISMATCH, "updates", "the updates and data have different byte orders"},
    {other_out_order, GATHER_TYPE_MISMATCH, "output", "the output and data have different byte orders"},
    {other_items, GATHER_TYPE_MISMATCH, "updates", "the updates have elements of 3 bytes, data of 4"},
    {read_only, GATHER_USAGE, "output", "the output is read-only"},
    {short_updates, GATHER_SHAPE_MISMATCH, "updates", "the updates have the shape [1, 4]; they must be [2, 4]"},
    {flat_updates, GATHER_SHAPE_MISMATCH, "updates", "the updates have the shape [2]; they must be [2, 4]"},
    {long_out, GATHER_SHAPE_MISMATCH, "output", "the output has the shape [4, 4]; it must be that of data, [3, 4]"},
    {flat_out, GATHER_SHAPE_MISMATCH, "output", "the output has the shape [3]; it must be that of data, [3, 4]"},
    {below_zero, GATHER_SHAPE_MISMATCH, "updates", "updates: dimension 1 is -1"},
    {too_large, GATHER_OVERFLOW, "updates", "updates: its size does not fit in memory"},
    {out_on_itself, GATHER_USAGE, "output", "the output's strides make its elements overlap"},
    {scalar_data, GATHER_RANK_MISMATCH, "data", "data is 0-D; scatter needs a rank of at least 1"},
    {no_such_sum, GATHER_TYPE_UNSUPPORTED, "data", "elements of type float8_e5m2 have no reduction \"add\""},
    {sum_of_strings, GATHER_TYPE_UNSUPPORTED, "data", "elements of type string have no reduction \"mul\""},
    {sum_of_packed, GATHER_TYPE_UNSUPPORTED, "data", "elements of type int4 have no reduction \"max\""},
    {sum_of_opaque, GATHER_TYPE_UNSUPPORTED, "data", "elements of type opaque have no reduction \"add\""},
    {mean_of_bool, GATHER_TYPE_UNSUPPORTED, "data", "elements of type bool have no reduction \"mean\""},
    {least_of_complex, GATHER_TYPE_UNSUPPORTED, "data", "elements of type complex64 have no reduction \"min\""},
    {sum_of_swapped, GATHER_TYPE_UNSUPPORTED, "data", "data in the other byte order can be replaced, but not reduced"},
    {sum_of_none, GATHER_UNSUPPORTED, NULL, "ScatterUpdate openvino-3 has no reduction \"add\""},
    {no_numbers, GATHER_USAGE, NULL, "options.numbers is NULL"},
    {in_indices, GATHER_USAGE, "output", "the output overlaps indices in memory"},
    {in_updates, GATHER_USAGE, "output", "the output overlaps updates in memory"},
    {beside_data, GATHER_USAGE, "output", "the output overlaps data in memory"},
    {turned_data, GATHER_USAGE, "output", "the output overlaps data in memory"},
    {updates_of_data, GATHER_USAGE, "output", "the output overlaps updates in memory"},
    {many_columns, GATHER_SHAPE_MISMATCH, "indices", ""},
    {long_tuples, GATHER_SHAPE_MISMATCH, "indices", ""},
    {scalar_tuples, GATHER_RANK_MISMATCH, "indices", ""},
    {empty_tuples, GATHER_SHAPE_MISMATCH, "indices", ""},
    {negative_index, GATHER_INDEX_OUT_OF_RANGE, "indices",
     "indices[1] = -1 is outside [0, 2] of axis 0 (ScatterUpdate openvino-3); 1 of 2 indices is bad"},
    {lowest_index, GATHER_INDEX_OUT_OF_RANGE, "indices",
     "indices[0] = -9223372036854775808 is outside [-3, 2] of axis 0 (scatter); 1 of 2 indices is bad"},
    {highest_index, GATHER_INDEX_OUT_OF_RANGE, "indices",
     "indices[1] = 9223372036854775807 is outside [-3, 2] of axis 0 (scatter); 1 of 2 indices is bad"},
    {unsigned_index, GATHER_INDEX_OUT_OF_RANGE, "indices", "indices[1] = 18446744073709551615 is outside [-3, 2] of axis 0 (scatter)"},
    {twice, GATHER_INDEX_REPEATED, "indices", "indices[1] = 2 selects the same place as indices[0] (scatter)"},
    {twice_from_the_end, GATHER_INDEX_REPEATED, "indices", "indices[1] = -1 selects the same place as indices[0] (scatter)"},
    {no_cells_and_bad, GATHER_INDEX_OUT_OF_RANGE, "indices", "indices[1] = 3 is outside [-3, 2] of axis 0 (scatter); 1 of 2 indices is bad"},
    {no_tuples_and_bad, GATHER_INDEX_OUT_OF_RANGE, "indices",
     "indices[1, 0] = -4, component 0 of tuple [1], is outside [-3, 2] of axis 0 (scatter_nd); 1 of 2 indices is bad"},
    {no_cells_or_indices, GATHER_USAGE, "indices", "the indices' data pointer is NULL"},
    {no_cells_twice, GATHER_INDEX_REPEATED, "indices", "indices[1] = 2 selects the same place as indices[0] (scatter)"},
    {no_cells_twice_in_shared, GATHER_INDEX_REPEATED, "indices", "indices[1] = 2 selects the same place as indices[0] (scatter)"},
    {no_cells_before_twice, GATHER_INDEX_REPEATED, "indices", "indices[1] = 2 selects the same place as indices[0] (scatter)"},
    {no_bytes_twice, GATHER_INDEX_REPEATED, "indices", "indices[1] = 2 selects the same place as indices[0] (scatter)"},
    {no_packed_twice, GATHER_INDEX_REPEATED, "indices", "indices[1] = 2 selects the same place as indices[0] (scatter)"},
    {no_cells_of_sums_twice, GATHER_INDEX_REPEATED, "indices", "indices[1] = 2 selects the same place as indices[0] (scatter)"},
    {no_tuples_twice, GATHER_INDEX_REPEATED, "indices", "tuple [1] selects the same place as tuple [0] (scatter_nd)"},
    {no_numbers_or_cells_twice, GATHER_INDEX_REPEATED, "indices", "tuple [1] selects the same place as tuple [0] (scatter_nd)"},
    {no_cells_of_too_many, GATHER_OVERFLOW, "data", "data has too many rows without elements to search for repeated indices"},
    {no_axis, GATHER_INDEX_OUT_OF_RANGE, "indices",
     "indices[0] = 2 cannot be in range: axis 0 has length 0 (scatter); 2 of 2 indices are bad"},
    {no_axis_to_clamp, GATHER_INDEX_OUT_OF_RANGE, "indices", "indices[0] = 2 cannot be in range: axis 0 has length 0"},
};
/* clang-format on */

static void assert_refused(const gather_error *error, gather_status status, const refusal *r, int which) {
  if (status != r->status || strncmp(error->message, r->message, strlen(r->message)) != 0)
    fail_msg("refusal %d: %s: \"%s\", not \"%s\"", which, gather_status_name(status), error->message, r->message);
  if (status != GATHER_INDEX_REPEATED) assert_error(error, r->status);
  if (!r->input && error->input) fail_msg("refusal %d is about %s", which, error->input);
  if (r->input) assert_string_equal(error->input, r->input);
}

/* The indices of a plan: what is wrong with them is found when they are only checked, and when they are kept. */
static void refused_by_plan(const call *c, const refusal *r, int which) {
  gather_scatter_plan *plan = NULL;
  gather_scatter_run run = GATHER_SCATTER_RUN_INIT;
  gather_error error = dirty_error();
  run.indices = c->tensors[INDICES].data;
  assert_status(gather_scatter_plan_create(c->op, c->given[DATA], c->given[INDICES], c->given[UPDATES], NULL, &c->options, &plan, NULL),
                GATHER_OK);
  const gather_status checked = gather_scatter_plan_check(plan, &run, &error);
  assert_refused(&error, checked, r, which);
  const gather_status kept = gather_scatter_plan_keep(plan, run.indices, NULL, &error);
  assert_refused(&error, kept, r, which);
  gather_scatter_plan_destroy(plan);
}

static void refusals(void **state) {
  static call c, before;
  for (int i = 0; i < (int)COUNT(REFUSALS); i++)
    for (int threads = 0; threads < 2; threads++) {
      gather_error error = dirty_error();
      start(&c);
      if (threads) c.options.executor = gather_pool_executor(pool);
      REFUSALS[i].change(&c);
      memcpy(&before, &c, sizeof c);
      const gather_status status =
          gather_scatter_apply(c.op, c.given[DATA], c.given[INDICES], c.given[UPDATES], c.given[OUT], &c.options, &error);
      assert_refused(&error, status, &REFUSALS[i], i);
      assert_memory_equal(&c, &before, sizeof c);
      if (status == GATHER_INDEX_OUT_OF_RANGE || status == GATHER_INDEX_REPEATED) refused_by_plan(&c, &REFUSALS[i], i);
      assert_status(gather_scatter_apply(c.op, c.given[DATA], c.given[INDICES], c.given[UPDATES], c.given[OUT], &c.options, NULL), status);
    }
}

/* What begins as a refusal, and is none. */
CHANGE(in_place, c->tensors[OUT].data = c->data)
CHANGE(short_options, c->options.size = offsetof(gather_scatter_options, neutral))
CHANGE(updates_are_data, c->tensors[UPDATES].data = c->data)
CHANGE(once, c->options.unique = true)
CHANGE(skipped, c->shapes[DATA][0] = c->shapes[OUT][0] = 0; c->options.on_bad = GATHER_ON_BAD_SKIP)
CHANGE(nothing_to_read, c->shapes[INDICES][0] = c->shapes[UPDATES][0] = 0; c->tensors[INDICES].data = NULL; c->tensors[UPDATES].data = NULL)
CHANGE(once_without_cells, no_cells(c); once(c))
CHANGE(once_without_bytes, no_bytes(c); once(c))
CHANGE(skipped_without_cells, no_cells(c); c->indices[0] = c->indices[1] = 9; once(c); c->options.on_bad = GATHER_ON_BAD_SKIP)
CHANGE(unchecked_without_cells, no_cells(c); c->indices[0] = INT64_MIN; c->indices[1] = INT64_MAX; once(c);
       c->options.on_bad = GATHER_ON_BAD_PROMISE)
CHANGE(nothing_to_read_of_too_many, no_cells_of_too_many(c); c->shapes[INDICES][0] = c->shapes[UPDATES][0] = 0)

static void not_refused(void **state) {
  static void (*const CHANGES[])(call *) = {in_place,
                                            short_options,
                                            updates_are_data,
                                            once,
                                            skipped,
                                            nothing_to_read,
                                            no_cells,
                                            no_bytes,
                                            no_numbers_or_cells,
                                            no_cells_before,
                                            once_without_cells,
                                            once_without_bytes,
                                            skipped_without_cells,
                                            unchecked_without_cells,
                                            nothing_to_read_of_too_many};
  static call c;
  for (size_t i = 0; i < COUNT(CHANGES); i++)
    for (int threads = 0; threads < 2; threads++) {
      gather_error error;
      int64_t bad = -1;
      start(&c);
      c.options.bad_count = &bad;
      if (threads) c.options.executor = gather_pool_executor(pool);
      CHANGES[i](&c);
      if (gather_scatter_apply(c.op, c.given[DATA], c.given[INDICES], c.given[UPDATES], c.given[OUT], &c.options, &error))
        fail_msg("change %d: %s", (int)i, error.message);
      if (bad != -1 && CHANGES[i] != skipped) assert_int_equal(bad, 0); /* short options have none */
    }
}

static void shapes_of_updates(void **state) {
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_error error = dirty_error();
  const gather_op *op = gather_scatter_op("scatter");
  const gather_tensor data = tensor_of(GATHER_TYPE_INT8, NULL, 2, DIMS(1 << 20, 1 << 20)),
                      by = tensor_of(GATHER_TYPE_INT8, NULL, 1, DIMS(5));
  const gather_tensor many = tensor_of(GATHER_TYPE_INT8, NULL, 2, ((const int64_t[]){INT64_C(1) << 30, INT64_C(1) << 12}));
  const gather_tensor floats = tensor_of(GATHER_TYPE_FLOAT32, NULL, 1, DIMS(5));
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  options.batch_dims = 1;
  assert_status(gather_scatter_updates_shape(op, &by, &by, &options, shape, &rank, NULL), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  options.axis = -1, options.batch_dims = 0;
  if (sizeof(void *) < 8) return; /* data itself would not fit */
  assert_status(gather_scatter_updates_shape(op, &data, &by, &options, shape, &rank, NULL), GATHER_OK);
  assert_int_equal(rank, 2);
  assert_memory_equal(shape, DIMS(1 << 20, 5), 16);
  assert_status(gather_scatter_updates_shape(op, &data, &many, NULL, shape, &rank, &error), GATHER_OVERFLOW);
  assert_error(&error, GATHER_OVERFLOW);
  assert_status(gather_scatter_updates_shape(op, &data, &floats, NULL, shape, &rank, NULL), GATHER_TYPE_UNSUPPORTED);
  assert_status(gather_scatter_updates_shape(op, NULL, &by, NULL, shape, &rank, NULL), GATHER_USAGE);
  assert_status(gather_scatter_updates_shape(NULL, &data, &by, NULL, shape, &rank, NULL), GATHER_USAGE);
  assert_status(gather_scatter_updates_shape(op_of("Gather", "onnx-13"), &data, &by, NULL, shape, &rank, NULL), GATHER_USAGE);
}

/* More threads than there are numbers of bytes. */
static void impossible_threads(void **state) {
  static const gather_executor executor = {NULL, in_turns, INT32_MAX};
  static call c;
  for (int method = 0; method < 7; method++) {
    start(&c);
    tune("scatter_method", method);
    c.options.executor = &executor;
    assert_status(gather_scatter_apply(c.op, c.given[DATA], c.given[INDICES], c.given[UPDATES], c.given[OUT], &c.options, NULL), GATHER_OK);
    assert_memory_equal(c.out, c.updates + 4, 16);
    assert_memory_equal(c.out + 4, c.data + 4, 16);
    assert_memory_equal(c.out + 8, c.updates, 16);
  }
  tune("scatter_method", 0);
}

/* ---- indices out of range */

enum { CELLS = 40, MANY = 3000 };

/* MANY updates of rows of data [CELLS, 2]; two indices are wrong, the first one at `place`. */
typedef struct {
  const gather_op *op;
  bool tuples, elements, in_place, shared;
  int64_t place;
} bad_case;

static void make_bad(const bad_case *b, holder *t) {
  const int64_t columns = b->elements ? 2 : 1;
  t[DATA].shape[0] = CELLS, t[DATA].shape[1] = 2;
  t[INDICES].shape[0] = MANY, t[INDICES].shape[1] = columns;
  t[UPDATES].shape[0] = MANY, t[UPDATES].shape[1] = 2;
  place(&t[DATA], DATA, GATHER_TYPE_FLOAT32, 2, ROW_MAJOR);
  place(&t[INDICES], INDICES, GATHER_TYPE_INT32, b->tuples || b->elements ? 2 : 1, ROW_MAJOR);
  place(&t[UPDATES], UPDATES, GATHER_TYPE_FLOAT32, 2, ROW_MAJOR);
  t[OUT] = t[DATA];
  t[OUT].tensor.shape = t[OUT].shape;
  if (!b->in_place) place(&t[OUT], OUT, GATHER_TYPE_FLOAT32, 2, ROW_MAJOR);
  fill_random(&t[DATA]), fill_random(&t[UPDATES]);
  if (!b->in_place) memset(t[OUT].first, 0x5A, (size_t)t[OUT].bytes);
  for (int64_t i = 0; i < MANY * columns; i++) put_integer(&t[INDICES], i, i * 7 % CELLS);
  put_integer(&t[INDICES], MANY * columns - 1, CELLS + 9), put_integer(&t[INDICES], b->place, CELLS + 5);
  if (b->shared) t[INDICES].tensor.flags = GATHER_TENSOR_SHARED;
}

static void check_bad(const bad_case *b, const gather_executor *executor) {
  static holder t[HOLDERS];
  static unsigned char before[CELLS * 8];
  gather_error error = dirty_error();
  gather_scatter_options options = GATHER_SCATTER_OPTIONS_INIT;
  const int64_t columns = b->elements ? 2 : 1, last = MANY * columns - 1;
  options.executor = executor;
  make_bad(b, t);
  memcpy(before, t[OUT].first, sizeof before);
  for (int i = 0; i < HOLDERS; i++) guard_lock(written_memory[i], true); /* no byte is written */
  const gather_status status =
      gather_scatter_apply(b->op, &t[DATA].tensor, &t[INDICES].tensor, &t[UPDATES].tensor, &t[OUT].tensor, &options, &error);
  for (int i = 0; i < HOLDERS; i++) guard_lock(written_memory[i], false);
  assert_status(status, GATHER_INDEX_OUT_OF_RANGE);
  assert_error(&error, GATHER_INDEX_OUT_OF_RANGE);
  assert_memory_equal(t[OUT].first, before, sizeof before);
  assert_string_equal(error.op, b->op->name);
  assert_string_equal(error.input, "indices");
  assert_int_equal(error.position_rank, b->tuples || b->elements ? 2 : 1);
  assert_int_equal(error.position[0], b->place / columns);
  if (b->elements) assert_int_equal(error.position[1], b->place % columns);
  assert_int_equal(error.axis, 0);
  assert_int_equal(error.value, CELLS + 5);
  assert_int_equal(error.high, CELLS - 1);
  assert_int_equal(error.low, b->op->negative ? -CELLS : 0);
  assert_int_equal(error.bad_count, b->place == last ? 1 : 2);
}

static void check_bad_of(const gather_op *op) {
  const bool tuples = op->family == GATHER_FAMILY_SCATTER_ND, elements = op->family == GATHER_FAMILY_SCATTER_ELEMENTS;
  const int64_t places[] = {0, MANY / 2 + 1, MANY * (elements ? 2 : 1) - 1};
  static int method;
  for (size_t p = 0; p < COUNT(places); p++)
    for (int how = 0; how < 4; how++) {
      const bad_case b = {op, tuples, elements, how & 1, how & 2, places[p]};
      tune("scatter_method", method++ % 7);
      check_bad(&b, NULL), check_bad(&b, gather_pool_executor(pool));
    }
}

static void bad_indices(void **state) {
  static const char *const OWN[] = {"scatter", "scatter_elements", "scatter_nd"};
  tune("task_bytes", 64), tune("awake_task_bytes", 64);
  for (size_t i = 0; i < COUNT(OWN); i++) check_bad_of(gather_scatter_op(OWN[i]));
  for (size_t row = 0; gather_op_at(row); row++) {
    const gather_family family = gather_op_at(row)->family;
    if (family == GATHER_FAMILY_SCATTER || family == GATHER_FAMILY_SCATTER_ELEMENTS || family == GATHER_FAMILY_SCATTER_ND)
      check_bad_of(gather_op_at(row));
  }
  machine_reset();
}

/* ---- the reductions of documents */

static void reductions(void **state) {
  static const struct {
    const char *name, *rules, *reductions;
  } ROWS[] = {{"Scatter", "onnx-9", "none"},
              {"ScatterElements", "onnx-11", "none"},
              {"ScatterElements", "onnx-13", "none"},
              {"ScatterElements", "onnx-16", "none add mul"},
              {"ScatterElements", "onnx-18", "none add mul min max"},
              {"ScatterND", "onnx-11", "none"},
              {"ScatterND", "onnx-13", "none"},
              {"ScatterND", "onnx-16", "none add mul"},
              {"ScatterND", "onnx-18", "none add mul min max"},
              {"ScatterUpdate", "openvino-3", "none"},
              {"ScatterElementsUpdate", "openvino-3", "none"},
              {"ScatterElementsUpdate", "openvino-12", "none add mul min max mean"},
              {"ScatterNDUpdate", "openvino-3", "none"},
              {"ScatterNDUpdate", "openvino-15", "none add sub mul min max"},
              {"scatter", NULL, "none add sub mul min max mean"},
              {"scatter_elements", NULL, "none add sub mul min max mean"},
              {"scatter_nd", NULL, "none add sub mul min max mean"}};
  static call c;
  for (size_t i = 0; i < COUNT(ROWS); i++)
    for (int r = 0; r <= GATHER_REDUCTION_MEAN; r++) {
      const bool has = strstr(ROWS[i].reductions, gather_reduction_name((gather_reduction)r)) != NULL;
      start(&c);
      set_op(&c, ROWS[i].name, ROWS[i].rules, (gather_reduction)r);
      c.tensors[INDICES].rank = c.op->family == GATHER_FAMILY_SCATTER ? 1 : 2;
      c.shapes[INDICES][1] = c.op->family == GATHER_FAMILY_SCATTER_ND ? 1 : 4;
      assert_int_equal(gather_scatter_op_reduces(c.op, (gather_reduction)r), has);
      assert_status(gather_scatter_apply(c.op, c.given[DATA], c.given[INDICES], c.given[UPDATES], c.given[OUT], &c.options, NULL),
                    has ? GATHER_OK : GATHER_UNSUPPORTED);
    }
  assert_false(gather_scatter_op_reduces(NULL, GATHER_REDUCTION_NONE));
  assert_false(gather_scatter_op_reduces(gather_scatter_op("scatter"), (gather_reduction)7));
  assert_false(gather_scatter_op_reduces(gather_scatter_op("scatter"), (gather_reduction)-1));
}

TESTS_WITHIN(begin, end, refusals, not_refused, shapes_of_updates, impossible_threads, bad_indices, reductions)
