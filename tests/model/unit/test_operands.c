/* SPDX-License-Identifier: MIT
 *
 * test_operands.c: one gather node and what it works on, on a graph without a file: which node a name means, what is known of
 * its operands, and what would have to be given.
 */
#include "support/graph_text.h"

static const int64_t TWO[] = {2}, NUMBERS[] = {10, 11, 12}, PICKS[] = {2, 3};

static graph_text text;
static gather_model *model;

static int open_model(void **state) {
  graph_text_read(&text, false,
                  "in ids int64[N]; const data int64[3] = 10,11,12; same = Identity(ids); wide = Identity(same);"
                  "g: a = Gather(data, wide); free = Own(ids); b = Gather(data, free)");
  return gather_model_from_graph(&text.file, &model, NULL) == GATHER_OK ? 0 : -1;
}

static int close_model(void **state) {
  gather_model_close(model);
  return 0;
}

static gather_model_operands *find(const char *name, const char *given) {
  const gather_model_input tensor = {given, tensor_of(GATHER_TYPE_INT64, PICKS, 1, TWO)};
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  gather_model_operands *operands = NULL;
  gather_error error = dirty_error();
  options.inputs = &tensor;
  options.input_count = given ? 1 : 0;
  gather_status status = gather_model_operands_find(model, name, &options, &operands, &error);
  if (status != GATHER_OK) fail_msg("%s", error.message);
  return operands;
}

static void indices_are_computed(void **state) {
  gather_model_operands *operands = find("g", "ids");
  const gather_model_node *node = gather_model_operands_describe(operands)->node;
  assert_memory_equal(node->data.value->data, NUMBERS, sizeof NUMBERS);
  assert_ptr_equal(node->data.value->data, text.file.graph->constants[0].tensor.tensor.data); /* not copied */
  assert_int_equal(gather_tensor_len(node->indices.value), 2);
  assert_memory_equal(node->indices.value->data, PICKS, sizeof PICKS);
  assert_string_equal(node->rules->rules, "onnx-13");
  assert_int_equal(node->bad, 1);
  assert_int_equal(node->error->position[0], 1);
  assert_int_equal(gather_model_operands_describe(operands)->missing_count, 0);
  gather_model_operands_destroy(operands);
}

static void what_is_missing(void **state) {
  gather_model_operands *operands = find("g", NULL);
  assert_null(gather_model_operands_describe(operands)->node->indices.value);
  assert_string_equal(gather_model_operands_describe(operands)->missing[0], "ids");
  assert_int_equal(gather_model_operands_describe(operands)->missing_count, 1);
  gather_model_operands_destroy(operands);
  operands = find("b", "ids"); /* what no operator of ours makes must be given itself */
  assert_string_equal(gather_model_operands_describe(operands)->missing[0], "free");
  gather_model_operands_destroy(operands);
}

static void a_value_in_between(void **state) {
  static const char *const NAMES[][2] = {{"b", "free"}, {"main/Gather_4", "free"}, {"main/g", "same"}, {"a", "wide"}};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    gather_model_operands *operands = find(NAMES[i][0], NAMES[i][1]);
    const gather_model_node *node = gather_model_operands_describe(operands)->node;
    assert_memory_equal(node->indices.value->data, PICKS, sizeof PICKS);
    assert_int_equal(node->verdict, GATHER_VERDICT_BAD);
    gather_model_operands_destroy(operands);
  }
}

static gather_status failure(const char *name, const gather_model_input *given, gather_error *error) {
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  gather_model_operands *operands = (gather_model_operands *)&options;
  *error = dirty_error();
  options.inputs = given;
  options.input_count = given ? 1 : 0;
  gather_status status = gather_model_operands_find(model, name, &options, &operands, error);
  assert_null(operands);
  return status;
}

static void failures(void **state) {
  static const float halves[] = {0, 0.5F};
  const gather_model_input nowhere = {"nowhere", tensor_of(GATHER_TYPE_INT64, PICKS, 1, TWO)};
  const gather_model_input no_name = {NULL, nowhere.tensor};
  const gather_model_input floats = {"ids", tensor_of(GATHER_TYPE_FLOAT32, halves, 1, TWO)};
  gather_error error;
  assert_status(failure(NULL, NULL, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "'main/g'"));
  assert_non_null(strstr(error.message, "'main/b'"));
  assert_status(failure("nope", NULL, &error), GATHER_NAME_NOT_FOUND);
  assert_status(failure("", NULL, &error), GATHER_NAME_NOT_FOUND);
  assert_status(failure("g", &nowhere, &error), GATHER_NAME_NOT_FOUND);
  assert_status(failure("g", &no_name, &error), GATHER_USAGE);
  assert_status(failure("g", &floats, &error), GATHER_TYPE_MISMATCH);
  gather_model_operands_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(indices_are_computed), cmocka_unit_test(what_is_missing),
                                     cmocka_unit_test(a_value_in_between), cmocka_unit_test(failures)};
  return cmocka_run_group_tests(tests, open_model, close_model);
}
