/* SPDX-License-Identifier: MIT
 *
 * test_explain_alloc.c: drawings and texts of checks when memory cannot be had. Every allocation, and every piece that an arena is asked
 * for, fails once: that is what is said, and nothing is left behind. The linker puts the functions below in the place of the library's.
 */
#include <stdio.h>

#include "gather/explain.h"
#include "support/fail_each.h"
#include "support/tiny_model.h"

/* ---- what is done */

static gather_status draw(const gather_explain *made, gather_error *error) {
  char *text = NULL;
  gather_status status = gather_explain_text(made, NULL, &text, NULL, error);
  if (status == GATHER_OK) assert_non_null(strstr(text, gather_explain_facts_of(made)->scatter ? "\nupdates  " : "\nout  "));
  gather_text_free(text);
  if (status != GATHER_OK) return status;
  text = NULL;
  status = gather_explain_svg(made, &text, NULL, error);
  if (status == GATHER_OK) assert_non_null(strstr(text, "</svg>\n"));
  gather_text_free(text);
  return status;
}

/* A table that is wide, so that it is drawn again and again with fewer columns. */
static gather_status use_tensors(const void *context, gather_error *error) {
  (void)context;
  static const int64_t ids[3] = {40, -1, 99};
  gather_tensor data = tensor_of(GATHER_TYPE_INT64, NULL, 2, DIMS(50, 400000));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(3));
  gather_explain *made = NULL;
  gather_status status = gather_explain_create(op_of("Gather", "onnx-13"), &data, &indices, NULL, NULL, &made, error);
  assert_int_equal(status == GATHER_OK, made != NULL);
  if (status == GATHER_OK) status = draw(made, error);
  gather_explain_destroy(made);
  return status;
}

static gather_status use_scatter(const void *context, gather_error *error) {
  (void)context;
  static const int64_t ids[3] = {40, -1, 40};
  gather_tensor data = tensor_of(GATHER_TYPE_INT64, NULL, 2, DIMS(50, 4));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(3));
  gather_explain *made = NULL;
  gather_status status = gather_explain_create(gather_scatter_op("scatter"), &data, &indices, NULL, NULL, &made, error);
  assert_int_equal(status == GATHER_OK, made != NULL);
  if (status == GATHER_OK) status = draw(made, error);
  gather_explain_destroy(made);
  return status;
}

static gather_model *model;

static gather_status use_node(const void *context, gather_error *error) {
  (void)context;
  gather_model_operands *operands = NULL;
  gather_explain *made = NULL;
  gather_status status = gather_model_operands_find(model, "far", NULL, &operands, error);
  if (status == GATHER_OK) status = gather_explain_create_node(operands, NULL, NULL, &made, error);
  if (status == GATHER_OK) status = draw(made, error);
  gather_explain_destroy(made);
  gather_model_operands_destroy(operands);
  return status;
}

static gather_status write_check(const gather_check *check, gather_error *error) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  gather_check_advice *advice = NULL;
  char *text = NULL;
  gather_status status = gather_check_advise(check, &advice, error);
  options.advice = advice;
  if (status == GATHER_OK) status = gather_check_text(check, &options, &text, NULL, error);
  if (status == GATHER_OK) assert_non_null(strstr(text, "give     a length for 'N'\n"));
  gather_text_free(text);
  gather_check_advice_destroy(advice);
  return status;
}

static gather_status use_check(const void *context, gather_error *error) {
  (void)context;
  gather_check *check = NULL;
  gather_status status = gather_model_check(model, NULL, &check, error);
  if (status == GATHER_OK) status = write_check(check, error);
  gather_check_destroy(check);
  return status;
}

static void drawings(void **state) {
  assert_true(fail_each(use_tensors, NULL, GATHER_OK) > 8);
  assert_true(fail_each(use_scatter, NULL, GATHER_OK) > 8);
  assert_true(fail_each(use_node, NULL, GATHER_OK) > 20);
}

static void checks(void **state) { assert_true(fail_each(use_check, NULL, GATHER_OK) > 40); }

static tiny parts;

static int open_model(void **state) {
  gather_error error;
  return tiny_open(&parts, &model, &error) == GATHER_OK ? 0 : -1;
}

static int close_model(void **state) {
  gather_model_close(model);
  return nothing_is_left() ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(drawings), cmocka_unit_test(checks)};
  return cmocka_run_group_tests(tests, open_model, close_model);
}
