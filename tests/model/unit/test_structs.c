/* SPDX-License-Identifier: MIT
 *
 * test_structs.c: every public struct with a size follows one rule: shorter ones leave defaults, longer ones are zero behind what is
 * known, and other sizes are refused, by name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gather/explain.h"
#include "gather/model.h"
#include "gather/shuffle.h"
#include "gather/table.h"
#include "io/format/graph.h"
#include "model/model_internal.h"
#include "support/unit.h"

enum { ROOM = 8192, MOST = 4096 };

static float row[4] = {1, 2, 3, 4}, to[4];
static int64_t ids[4] = {3, 2, 1, 0};
static gather_tensor data, indices, out;
static gather_plan *plan;
static gather_table *table;
static gather_model *model;
static char path[] = "/tmp/gather-structs-XXXXXX";

/* ---- each function that takes one */

static gather_status call_apply(const void *options, gather_error *error) {
  return gather_apply(op_of("Gather", "onnx-13"), &data, &indices, &out, options, error);
}

static gather_status call_output_shape(const void *options, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  return gather_output_shape(op_of("Gather", "onnx-13"), &data, &indices, options, shape, &rank, error);
}

static gather_status call_plan_create(const void *options, gather_error *error) {
  gather_plan *made = NULL;
  gather_status status = gather_plan_create(op_of("Gather", "onnx-13"), &data, &indices, NULL, options, &made, error);
  gather_plan_destroy(made);
  return status;
}

static gather_status call_infer_shape(const void *options, gather_error *error) {
  gather_shape from = {1, {{4, 4, NULL}}}, by = {1, {{2, 2, NULL}}}, inferred;
  return gather_infer_shape(op_of("Gather", "onnx-13"), &from, &by, options, &inferred, error);
}

static gather_status call_infer_value(const void *options, gather_error *error) {
  static gather_dim dims[4], inferred[4];
  gather_tensor from = tensor_of(GATHER_TYPE_OPAQUE, dims, 1, DIMS(4)), made = tensor_of(GATHER_TYPE_OPAQUE, inferred, 1, DIMS(4));
  from.item_bytes = made.item_bytes = sizeof(gather_dim);
  return gather_infer_value(op_of("Gather", "onnx-13"), &from, &indices, &made, options, error);
}

static gather_status call_plan_run(const void *run, gather_error *error) { return gather_plan_run(plan, run, error); }
static gather_status call_plan_check(const void *run, gather_error *error) { return gather_plan_check(plan, run, error); }

static gather_status call_table_open(const void *options, gather_error *error) {
  gather_table *opened = NULL;
  gather_status status = gather_table_open(path, options, &opened, error);
  gather_table_close(opened);
  return status;
}

static gather_status call_table_take(const void *options, gather_error *error) {
  return gather_table_take(table, &indices, &out, options, error);
}

static gather_status call_table_submit(const void *options, gather_error *error) {
  gather_table_job *job = NULL;
  gather_status status = gather_table_submit(table, &indices, &out, options, &job, error);
  return status == GATHER_OK ? gather_table_wait(job, error) : status;
}

static gather_status call_model_check(const void *options, gather_error *error) {
  gather_check *check = NULL;
  gather_status status = gather_model_check(model, options, &check, error);
  gather_check_destroy(check);
  return status;
}

static gather_status call_operands(const void *options, gather_error *error) {
  gather_model_operands *operands = NULL;
  gather_status status = gather_model_operands_find(model, "g", options, &operands, error);
  gather_model_operands_destroy(operands);
  return status;
}

static gather_status call_model_run(const void *options, gather_error *error) {
  gather_model_result *result = NULL;
  gather_status status = gather_model_run(model, NULL, 0, options, &result, error);
  gather_model_result_destroy(result);
  return status;
}

static gather_status call_explain(const void *gather, const void *options, gather_explain **made, gather_error *error) {
  return gather_explain_create(op_of("Gather", "onnx-13"), &data, &indices, gather, options, made, error);
}

static gather_status call_explain_gather(const void *gather, gather_error *error) {
  gather_explain *made = NULL;
  gather_status status = call_explain(gather, NULL, &made, error);
  gather_explain_destroy(made);
  return status;
}

static gather_status call_explain_options(const void *options, gather_error *error) {
  gather_explain *made = NULL;
  gather_status status = call_explain(NULL, options, &made, error);
  gather_explain_destroy(made);
  return status;
}

static gather_status call_explain_text(const void *options, gather_error *error) {
  gather_explain *made = NULL;
  char *text = NULL;
  gather_status status = call_explain(NULL, NULL, &made, error);
  if (status == GATHER_OK) status = gather_explain_text(made, options, &text, NULL, error);
  gather_text_free(text);
  gather_explain_destroy(made);
  return status;
}

static gather_status call_check_text(const void *options, gather_error *error) {
  gather_check *check = NULL;
  char *text = NULL;
  gather_status status = gather_model_check(model, NULL, &check, error);
  if (status == GATHER_OK) status = gather_check_text(check, options, &text, NULL, error);
  gather_text_free(text);
  gather_check_destroy(check);
  return status;
}

static gather_status call_shuffle_create(const void *options, gather_error *error) {
  static const char *const paths[] = {path};
  gather_shuffle *shuffle = NULL;
  gather_status status = gather_shuffle_create(paths, 1, NULL, options, &shuffle, error);
  gather_shuffle_close(shuffle);
  return status;
}

static const gather_options OPTIONS = GATHER_OPTIONS_INIT;
static const gather_run RUN = GATHER_RUN_INIT;
static const gather_table_options TABLE = GATHER_TABLE_OPTIONS_INIT;
static const gather_table_take_options TAKE = GATHER_TABLE_TAKE_INIT;
static const gather_shuffle_options SHUFFLE = GATHER_SHUFFLE_OPTIONS_INIT;
static const gather_check_options CHECK = GATHER_CHECK_OPTIONS_INIT;
static const gather_explain_options EXPLAIN = GATHER_EXPLAIN_OPTIONS_INIT;
static const gather_explain_text_options EXPLAIN_TEXT = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
static const gather_check_text_options CHECK_TEXT = GATHER_CHECK_TEXT_OPTIONS_INIT;
static const gather_model_run_options MODEL_RUN = GATHER_MODEL_RUN_OPTIONS_INIT;

static const struct {
  const char *name, *start;
  const void *init;
  size_t bytes;
  gather_status (*call)(const void *given, gather_error *error);
} STRUCTS[] = {
#define ROW(name, START, init, call) \
  { #name, #START, &init, sizeof(name), call }
    ROW(gather_options, GATHER_OPTIONS_INIT, OPTIONS, call_apply),
    ROW(gather_options, GATHER_OPTIONS_INIT, OPTIONS, call_output_shape),
    ROW(gather_options, GATHER_OPTIONS_INIT, OPTIONS, call_plan_create),
    ROW(gather_options, GATHER_OPTIONS_INIT, OPTIONS, call_infer_shape),
    ROW(gather_options, GATHER_OPTIONS_INIT, OPTIONS, call_infer_value),
    ROW(gather_run, GATHER_RUN_INIT, RUN, call_plan_run),
    ROW(gather_run, GATHER_RUN_INIT, RUN, call_plan_check),
    ROW(gather_table_options, GATHER_TABLE_OPTIONS_INIT, TABLE, call_table_open),
    ROW(gather_table_take_options, GATHER_TABLE_TAKE_INIT, TAKE, call_table_take),
    ROW(gather_table_take_options, GATHER_TABLE_TAKE_INIT, TAKE, call_table_submit),
    ROW(gather_shuffle_options, GATHER_SHUFFLE_OPTIONS_INIT, SHUFFLE, call_shuffle_create),
    ROW(gather_check_options, GATHER_CHECK_OPTIONS_INIT, CHECK, call_model_check),
    ROW(gather_check_options, GATHER_CHECK_OPTIONS_INIT, CHECK, call_operands),
    ROW(gather_model_run_options, GATHER_MODEL_RUN_OPTIONS_INIT, MODEL_RUN, call_model_run),
    ROW(gather_options, GATHER_OPTIONS_INIT, OPTIONS, call_explain_gather),
    ROW(gather_explain_options, GATHER_EXPLAIN_OPTIONS_INIT, EXPLAIN, call_explain_options),
    ROW(gather_explain_text_options, GATHER_EXPLAIN_TEXT_OPTIONS_INIT, EXPLAIN_TEXT, call_explain_text),
    ROW(gather_check_text_options, GATHER_CHECK_TEXT_OPTIONS_INIT, CHECK_TEXT, call_check_text),
};

/* A struct of that size: the defaults, behind them `rest`. */
static bool is_refused(size_t s, size_t size, size_t filled, int rest, gather_error *error) {
  static _Alignas(64) unsigned char given[ROOM];
  char field[64];
  memset(given, rest, sizeof given);
  memcpy(given, STRUCTS[s].init, filled);
  memcpy(given, &size, sizeof size);
  *error = dirty_error();
  gather_status status = STRUCTS[s].call(given, error);
  snprintf(field, sizeof field, "%s", STRUCTS[s].name);
  return status == GATHER_USAGE && strncmp(error->message, field, strlen(field)) == 0;
}

static void shorter_ones_leave_defaults(void **state) {
  gather_error error;
  for (size_t s = 0; s < COUNT(STRUCTS); s++)
    for (size_t size = sizeof size; size <= STRUCTS[s].bytes; size += _Alignof(size_t))
      if (is_refused(s, size, size, 0xFF, &error)) fail_msg("%s of %zu bytes: %s", STRUCTS[s].name, size, error.message);
}

static void longer_ones_are_zero_there(void **state) {
  gather_error error;
  for (size_t s = 0; s < COUNT(STRUCTS); s++) {
    const size_t bytes = STRUCTS[s].bytes;
    const size_t sizes[] = {bytes + _Alignof(size_t), bytes + 64, MOST};
    for (size_t n = 0; n < COUNT(sizes); n++) {
      if (is_refused(s, sizes[n], bytes, 0, &error)) fail_msg("%s of %zu bytes: %s", STRUCTS[s].name, sizes[n], error.message);
      assert_true(is_refused(s, sizes[n], bytes, 1, &error));
      assert_error(&error, GATHER_USAGE);
      assert_non_null(strstr(error.message, "is not zero"));
    }
  }
}

static void other_sizes_are_refused(void **state) {
  gather_error error;
  for (size_t s = 0; s < COUNT(STRUCTS); s++) {
    const size_t bytes = STRUCTS[s].bytes;
    const size_t sizes[] = {0, 1, sizeof(size_t) - 1, bytes - 1, bytes + 1, MOST + _Alignof(size_t), SIZE_MAX / 2 + 1, SIZE_MAX};
    for (size_t n = 0; n < COUNT(sizes); n++) {
      assert_true(is_refused(s, sizes[n], bytes, 0, &error));
      assert_error(&error, GATHER_USAGE);
      assert_non_null(strstr(error.message, STRUCTS[s].start));
    }
  }
}

/* What lies behind a shorter struct is not looked at, and what lies in it is. */
static void fields_of_shorter_ones_count(void **state) {
  gather_options options = GATHER_OPTIONS_INIT;
  int64_t bad = -1;
  options.axis = 7, options.bad_count = &bad;
  options.size = offsetof(gather_options, batch_dims);
  assert_status(call_apply(&options, NULL), GATHER_AXIS_OUT_OF_RANGE);
  options.axis = 0;
  assert_status(call_apply(&options, NULL), GATHER_OK);
  assert_int_equal(bad, -1);
  options.size = sizeof options;
  assert_status(call_apply(&options, NULL), GATHER_OK);
  assert_int_equal(bad, 0);
  gather_table_take_options take = GATHER_TABLE_TAKE_INIT;
  bad = -1;
  take.bad_count = &bad, take.size = offsetof(gather_table_take_options, bad_count);
  assert_status(call_table_take(&take, NULL), GATHER_OK);
  assert_status(call_table_submit(&take, NULL), GATHER_OK);
  assert_int_equal(bad, -1);
}

static void make_file(void) {
  static const char HEADER[] = "{'descr': '=f4', 'fortran_order': False, 'shape': (4,), }"; /* in this machine's order */
  unsigned char bytes[80 + sizeof row] = "\x93NUMPY\x01";
  int fd = mkstemp(path);
  bytes[8] = 70;
  memset(bytes + 10, ' ', 70);
  memcpy(bytes + 10, HEADER, sizeof HEADER - 1);
  bytes[79] = '\n';
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
  assert_int_equal(close(fd), 0);
}

static int set_up(void **state) {
  static gather_graph graph = {.name = ""};
  static const gather_graph_file file = {.dialect = "onnx", .graph = &graph};
  gather_error error;
  data = tensor_of(GATHER_TYPE_FLOAT32, row, 1, DIMS(4));
  indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(4));
  out = tensor_of(GATHER_TYPE_FLOAT32, to, 1, DIMS(4));
  static int64_t four[1] = {4};
  data.shape = indices.shape = out.shape = four;
  make_file();
  if (gather_plan_create(op_of("Gather", "onnx-13"), &data, &indices, NULL, NULL, &plan, &error) != GATHER_OK ||
      gather_table_open(path, NULL, &table, &error) != GATHER_OK || gather_model_from_graph(&file, &model, &error) != GATHER_OK)
    fail_msg("%s", error.message);
  return 0;
}

static int tear_down(void **state) {
  gather_plan_destroy(plan);
  gather_table_close(table);
  gather_model_close(model);
  return remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shorter_ones_leave_defaults), cmocka_unit_test(longer_ones_are_zero_there),
                                     cmocka_unit_test(other_sizes_are_refused), cmocka_unit_test(fields_of_shorter_ones_count)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
