/* SPDX-License-Identifier: MIT
 *
 * test_errors.c: what gather_apply refuses, with what it says about it, and that a refused call writes nothing.
 */
#include "support/unit.h"

/* The three tensors of one call, with room, in one struct so that a test can change what it wants to break. */
struct call {
  const gather_op *op;
  float data_cells[12];
  int64_t index_cells[4];
  float out_cells[16];
  gather_tensor data, indices, out;
  gather_options options;
};

static struct call call;

static const int64_t data_shape[] = {4, 3}, indices_shape[] = {2, 2}, out_shape[] = {2, 2, 3};

/* A call that works. */
static void good_call(void) {
  call.op = op_of("Gather", "onnx-13");
  for (int i = 0; i < 12; i++) call.data_cells[i] = (float)i;
  for (int i = 0; i < 16; i++) call.out_cells[i] = -1;
  memcpy(call.index_cells, DIMS(1, 0, 3, -1), sizeof call.index_cells);
  call.data = tensor_of(GATHER_TYPE_FLOAT32, call.data_cells, 2, data_shape);
  call.indices = tensor_of(GATHER_TYPE_INT64, call.index_cells, 2, indices_shape);
  call.out = tensor_of(GATHER_TYPE_FLOAT32, call.out_cells, 3, out_shape);
  call.options = options_of(0, 0);
}

static gather_error last;

static gather_status apply(void) {
  last = dirty_error();
  return gather_apply(call.op, &call.data, &call.indices, &call.out, &call.options, &last);
}

/* The call fails with that status, also without an error to fill in, and writes nothing. */
static void refused(gather_status status, const char *input) {
  struct call before;
  memcpy(&before, &call, sizeof before);
  gather_status got = apply();
  if (got != status) fail_msg("%s (%s), not %s", gather_status_name(got), last.message, gather_status_name(status));
  assert_error(&last, status);
  if (input) assert_string_equal(last.input, input);
  assert_status(gather_apply(call.op, &call.data, &call.indices, &call.out, &call.options, NULL), status);
  assert_memory_equal(&before, &call, sizeof before);
}

/* A call that works but for these changes of `call` is refused. */
#define REFUSED(status, input, ...) (good_call(), __VA_ARGS__, refused(status, input))

static void a_good_call(void **state) {
  good_call();
  assert_status(apply(), GATHER_OK);
  static const float want[] = {3, 4, 5, 0, 1, 2, 9, 10, 11, 9, 10, 11, -1, -1, -1, -1};
  assert_memory_equal(call.out_cells, want, sizeof want);
  assert_int_equal(last.message[0], 0x5A); /* on success the error is not touched */
}

static void missing_arguments(void **state) {
  REFUSED(GATHER_USAGE, NULL, call.op = NULL);
  good_call();
  assert_status(gather_apply(call.op, NULL, &call.indices, &call.out, NULL, NULL), GATHER_USAGE);
  assert_status(gather_apply(call.op, &call.data, NULL, &call.out, NULL, NULL), GATHER_USAGE);
  assert_status(gather_apply(call.op, &call.data, &call.indices, NULL, NULL, NULL), GATHER_USAGE);
  call.data.data = NULL;
  refused(GATHER_USAGE, "data");
  REFUSED(GATHER_USAGE, "indices", call.indices.data = NULL);
  REFUSED(GATHER_USAGE, "output", call.out.data = NULL);
}

static void shape_complaints_come_through(void **state) {
  REFUSED(GATHER_TYPE_UNSUPPORTED, "indices", call.indices.type = GATHER_TYPE_FLOAT64);
  REFUSED(GATHER_RANK_MISMATCH, "data", call.data.rank = 0);
  REFUSED(GATHER_AXIS_OUT_OF_RANGE, "axis", call.options.axis = 2);
  REFUSED(GATHER_BATCH_DIMS_OUT_OF_RANGE, NULL, call.options.batch_dims = 1);
  call.op = op_of("Gather", "openvino-8");
  call.options.axis = 1;
  refused(GATHER_SHAPE_MISMATCH, NULL);
  call.op = op_of("GatherElements", "openvino-6");
  call.options = options_of(0, 0);
  refused(GATHER_SHAPE_MISMATCH, NULL);
}

static void outputs_that_do_not_fit(void **state) {
  REFUSED(GATHER_TYPE_MISMATCH, "output", call.out.type = GATHER_TYPE_INT32);
  REFUSED(GATHER_SHAPE_MISMATCH, "output", call.out.shape = DIMS(2, 3, 2));
  call.out.rank = 2;
  call.out.shape = DIMS(4, 3);
  refused(GATHER_SHAPE_MISMATCH, "output");
  REFUSED(GATHER_USAGE, "output", call.out.flags = GATHER_TENSOR_READ_ONLY);
  REFUSED(GATHER_TYPE_MISMATCH, "output", call.data.type = call.out.type = GATHER_TYPE_OPAQUE, call.data.item_bytes = 4,
          call.out.item_bytes = 3);
}

static void outputs_that_overlap_themselves(void **state) {
  REFUSED(GATHER_USAGE, "output", call.out.strides = DIMS(0, 12, 4));
  REFUSED(GATHER_USAGE, "output", call.out.strides = DIMS(24, 12, 2));
  REFUSED(GATHER_USAGE, "output", call.out.strides = DIMS(12, 12, 4));
  REFUSED(GATHER_USAGE, "output", call.out.strides = DIMS(24, 12, 3)); /* by a single byte */
  REFUSED(GATHER_USAGE, "output", call.out.strides = DIMS(-23, 12, -4));
  call.out.strides = DIMS(12, 24, 4);
  assert_status(apply(), GATHER_OK);
}

static void outputs_that_overlap_inputs(void **state) {
  REFUSED(GATHER_USAGE, "output", call.out.data = call.data_cells);
  REFUSED(GATHER_USAGE, "output", call.out.data = (char *)call.data_cells + sizeof call.data_cells - 1);
  REFUSED(GATHER_USAGE, "output", call.data.data = (char *)call.out_cells + 47); /* the last byte of 48 */
  REFUSED(GATHER_USAGE, "output", call.indices.data = call.out_cells + 11);
  REFUSED(GATHER_USAGE, "output", call.data.data = (char *)call.out_cells - 48 + 1); /* ends one byte inside */
  /* Without elements there is nothing to overlap. */
  good_call();
  call.indices.shape = DIMS(0, 2);
  call.out.shape = DIMS(0, 2, 3);
  call.out.data = call.data_cells;
  assert_status(apply(), GATHER_OK);
}

/* What counts are the bytes two tensors span, not whether the elements in between meet. */
static void outputs_between_the_data(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  int16_t cells[8] = {0, 10, 1, 11, 2, 12, 3, 13};
  int8_t index[3] = {3, 2, 1};
  gather_tensor data = tensor_of(GATHER_TYPE_INT16, cells, 1, DIMS(4)), out = tensor_of(GATHER_TYPE_INT16, cells + 1, 1, DIMS(3));
  gather_tensor by = tensor_of(GATHER_TYPE_INT8, index, 1, DIMS(3));
  data.strides = out.strides = DIMS(4);
  assert_status(gather_apply(op, &data, &by, &out, NULL, NULL), GATHER_USAGE);
  /* Side by side in one buffer is apart, also where a tensor runs backwards. */
  data.strides = NULL;
  data.shape = DIMS(4);
  out.data = cells + 6;
  out.strides = DIMS(-2);
  out.shape = DIMS(3);
  assert_status(gather_apply(op, &data, &by, &out, NULL, NULL), GATHER_OK);
  assert_memory_equal(cells, ((int16_t[]){0, 10, 1, 11, 10, 1, 11, 13}), sizeof cells);
}

/* Data and indices may share their bytes: both are only read. */
static void inputs_may_overlap(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  int64_t cells[3] = {2, 0, 1}, out[3] = {0};
  gather_tensor both = tensor_of(GATHER_TYPE_INT64, cells, 1, DIMS(3)), target = tensor_of(GATHER_TYPE_INT64, out, 1, DIMS(3));
  assert_status(gather_apply(op, &both, &both, &target, NULL, NULL), GATHER_OK);
  assert_memory_equal(out, DIMS(1, 2, 0), sizeof out);
}

/* Data in the other byte order is moved as it is, into an output that says the same of itself. */
static void swapped_data_stays_swapped(void **state) {
  REFUSED(GATHER_TYPE_MISMATCH, "output", call.data.flags = GATHER_TENSOR_BYTE_SWAPPED);
  call.out.flags = GATHER_TENSOR_BYTE_SWAPPED;
  assert_status(apply(), GATHER_OK);
  assert_true(call.out_cells[0] == 3 && call.out_cells[11] == 11);
  good_call();
  call.data.type = call.out.type = GATHER_TYPE_UINT8; /* single bytes have no order */
  call.data.flags = GATHER_TENSOR_BYTE_SWAPPED;
  assert_status(apply(), GATHER_OK);
}

static void options_that_are_wrong(void **state) {
  REFUSED(GATHER_USAGE, NULL, call.options.on_bad = (gather_on_bad)7);
  REFUSED(GATHER_USAGE, NULL, call.options.on_bad = (gather_on_bad)-1);
  REFUSED(GATHER_USAGE, NULL, call.options.negative = (gather_negative)3);
  REFUSED(GATHER_USAGE, NULL, call.options.on_bad = GATHER_ON_BAD_FILL);
  REFUSED(GATHER_USAGE, NULL, call.options.size = 0);
}

static void broken_tensors(void **state) {
  REFUSED(GATHER_OVERFLOW, "data", call.data.shape = DIMS(INT64_C(1) << 40, INT64_C(1) << 40));
  call.data.shape = DIMS(4, -3);
  assert_true(apply() != GATHER_OK);
  call.data.shape = data_shape;
  call.data.rank = GATHER_MAX_RANK + 1;
  assert_true(apply() != GATHER_OK);
  good_call();
  call.data.type = GATHER_TYPE_NONE;
  assert_true(apply() != GATHER_OK);
}

static void the_fields_of_a_bad_index(void **state) {
  good_call();
  call.options.axis = -2;
  call.index_cells[2] = 4;
  call.index_cells[3] = INT64_MIN;
  refused(GATHER_INDEX_OUT_OF_RANGE, "indices");
  assert_string_equal(last.op, "Gather");
  assert_string_equal(last.rules, "onnx-13");
  assert_int_equal(last.axis, 0);
  assert_int_equal(last.position_rank, 2);
  assert_int_equal(last.position[0], 1);
  assert_int_equal(last.position[1], 0);
  assert_false(last.value_is_unsigned);
  assert_int_equal(last.value, 4);
  assert_int_equal(last.low, -4);
  assert_int_equal(last.high, 3);
  assert_int_equal(last.bad_count, 2);
  assert_non_null(strstr(last.message, "4"));
}

static void a_bad_scalar_index(void **state) {
  good_call();
  call.indices.rank = 0;
  call.index_cells[0] = -5;
  call.out.rank = 1;
  call.out.shape = DIMS(3);
  refused(GATHER_INDEX_OUT_OF_RANGE, "indices");
  assert_int_equal(last.position_rank, 0);
  assert_int_equal(last.value, -5);
  assert_int_equal(last.bad_count, 1);
}

static void the_two_short_calls(void **state) {
  good_call();
  assert_status(gather_take(&call.data, &call.indices, 0, &call.out, NULL), GATHER_OK);
  assert_true(call.out_cells[0] == 3);
  assert_status(gather_take(&call.data, &call.indices, 2, &call.out, &last), GATHER_AXIS_OUT_OF_RANGE);
  assert_string_equal(last.rules, "onnx-13");
  call.out.rank = 2;
  call.out.shape = indices_shape;
  assert_status(gather_elements(&call.data, &call.indices, 0, &call.out, NULL), GATHER_OK);
  static const float want[] = {3, 1, 9, 10};
  assert_memory_equal(call.out_cells, want, sizeof want);
}

/* ---- errors that a program fills in itself */

static void errors_of_a_program(void **state) {
  gather_error error = dirty_error();
  assert_status(gather_error_set(&error, GATHER_UNSUPPORTED, "%s %d", "answer", 42), GATHER_UNSUPPORTED);
  assert_error(&error, GATHER_UNSUPPORTED);
  assert_string_equal(error.message, "answer 42");
  assert_null(error.op);
  assert_null(error.rules);
  assert_null(error.input);
  assert_string_equal(error.file, "");
  assert_int_equal(error.file_offset, -1);
  assert_int_equal(error.row, -1);
  assert_int_equal(error.system_error, 0);
  assert_int_equal(error.bad_count, 0);
  assert_false(error.value_is_unsigned);
  assert_status(gather_error_set_input(&error, GATHER_USAGE, "axis", "no such axis"), GATHER_USAGE);
  assert_string_equal(error.input, "axis");
  assert_status(gather_error_set(NULL, GATHER_USAGE, "nobody reads this"), GATHER_USAGE);
  assert_status(gather_error_set_input(NULL, GATHER_USAGE, NULL, "nor this"), GATHER_USAGE);
  assert_status(gather_error_set_file(NULL, GATHER_IO_ERROR, "file", 1, "nor this"), GATHER_IO_ERROR);
}

static void errors_of_files(void **state) {
  char name[600];
  gather_error error = dirty_error();
  assert_status(gather_error_set_file(&error, GATHER_FILE_MALFORMED, "a.bin", 7, "it has no %s", "end"), GATHER_FILE_MALFORMED);
  assert_error(&error, GATHER_FILE_MALFORMED);
  assert_string_equal(error.message, "a.bin: it has no end (at byte 7)");
  assert_int_equal(error.file_offset, 7);
  assert_string_equal(error.file, "a.bin");
  (void)gather_error_set_file(&error, GATHER_FILE_NOT_FOUND, "a.bin", -1, "it is missing");
  assert_string_equal(error.message, "a.bin: it is missing");
  memset(name, 'x', sizeof name);
  memcpy(name + sizeof name - 5, ".npy", 5);
  (void)gather_error_set_file(&error, GATHER_IO_ERROR, name, 9, "%s", name); /* all too long: the place stays */
  assert_error(&error, GATHER_IO_ERROR);
  assert_int_equal(strlen(error.file), sizeof error.file - 1);
  assert_string_equal(error.file + strlen(error.file) - 4, ".npy");
  assert_non_null(strstr(error.message, " (at byte 9)"));
}

/* Whoever reports a name that may be a URL: nothing secret of it is in the error. */
static void errors_of_urls(void **state) {
  static const struct {
    const char *name, *shown;
  } CASES[] = {
      {"https://user:pw@host/a.npy?sig=S#f", "https://host/a.npy"},
      {"https://host/a@b.npy?sig=a@b", "https://host/a@b.npy"},
      {"gs://u@bucket/o.npy?sig=S", "gs://bucket/o.npy"},
      {"HTTP://u:p@w@[::1]:80?sig=S", "HTTP://[::1]:80"},
      {"https:/user:pw@host/a.npy?sig=S", "https:/host/a.npy"},
      {"s3://bucket/a?b#c.npy", "s3://bucket/a?b#c.npy"},
      {"S3://bucket/a?b.npy", "S3://bucket/a?b.npy"},
      {"hf://owner/repo/a?b@c", "hf://owner/repo/a?b@c"},
      {"C:/folder/a?b.npy", "C:/folder/a?b.npy"},
      {"folder/https://u@h/a?b", "folder/https://u@h/a?b"},
      {"a?b@c#d:/e", "a?b@c#d:/e"},
      {"", ""},
      {"https://", "https://"},
  };
  char name[2000], shown[900];
  gather_error error;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    (void)gather_error_set_file(&error, GATHER_IO_ERROR, CASES[i].name, -1, "fails");
    assert_string_equal(error.file, CASES[i].shown);
    (void)snprintf(shown, sizeof shown, "%s: fails", CASES[i].shown);
    assert_string_equal(error.message, shown);
  }
  for (size_t length = 200; length < 300; length++) { /* the end of what may be shown */
    memset(shown, 'x', length);
    shown[length] = 0;
    (void)snprintf(name, sizeof name, "https://user:pw@h/%s.npy?sig=%s", shown, shown);
    (void)snprintf(shown + length, sizeof shown - length, ".npy");
    (void)gather_error_set_file(&error, GATHER_IO_ERROR, name, -1, "fails");
    const size_t given = strlen(error.file);
    assert_true(given >= sizeof error.file - 1 - strlen("https://h/") || given == length + strlen("https://h/.npy"));
    assert_null(strpbrk(error.file, "?@"));
    assert_string_equal(error.file + given - 4, ".npy");
  }
}

TESTS(errors_of_urls, errors_of_a_program, errors_of_files, a_good_call, missing_arguments, shape_complaints_come_through,
      outputs_that_do_not_fit, outputs_that_overlap_themselves, outputs_that_overlap_inputs, outputs_between_the_data, inputs_may_overlap,
      swapped_data_stays_swapped, options_that_are_wrong, broken_tensors, the_fields_of_a_bad_index, a_bad_scalar_index,
      the_two_short_calls)
