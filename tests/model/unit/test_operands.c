/* SPDX-License-Identifier: MIT
 *
 * test_operands.c: one gather node and what it works on, on a graph that is built here: which node a name means, what is known of
 * its operands, and what would have to be given.
 */
#include "support/unit.h"

#include "gather/model.h"
#include "io/format/graph.h"
#include "model/model_internal.h"

static const int64_t THREE[] = {3}, TWO[] = {2};
static const int64_t NUMBERS[] = {10, 11, 12}, PICKS[] = {2, 3};

/* same = Identity(ids); wide = Identity(same); a = Gather(data, wide) "g"; free = Own(ids); b = Gather(data, free) */
static const char *const IDS[] = {"ids"}, *const SAME[] = {"same"}, *const WIDE[] = {"wide"}, *const FREE[] = {"free"};
static const char *const FIRST[] = {"data", "wide"}, *const SECOND[] = {"data", "free"};
static const char *const A[] = {"a"}, *const B[] = {"b"};

static gather_node node_of(const char *name, const char *op, const char *const *inputs, int32_t count,
                           const char *const *output) {
  return (gather_node){.name = name,
                       .op = op,
                       .domain = "",
                       .opset = 13,
                       .inputs = inputs,
                       .input_count = count,
                       .outputs = output,
                       .output_count = 1};
}

static gather_node nodes[5];
static gather_constant data;
static const gather_dim dims[] = {{0, GATHER_DIM_UNBOUNDED, "N"}};
static const gather_value input = {.name = "ids", .type = GATHER_TYPE_INT64, .rank = 1, .dims = dims};
static gather_graph graph;
static gather_graph_file file;
static gather_model *model;

static int open_model(void **state) {
  gather_error error;
  (void)state;
  nodes[0] = node_of("", "Identity", IDS, 1, SAME);
  nodes[1] = node_of("", "Identity", SAME, 1, WIDE);
  nodes[2] = node_of("g", "Gather", FIRST, 2, A);
  nodes[3] = node_of("", "Own", IDS, 1, FREE);
  nodes[4] = node_of("", "Gather", SECOND, 2, B);
  data = (gather_constant){.tensor = {.name = "data"}, .is_initializer = true};
  data.tensor.tensor = tensor_of(GATHER_TYPE_INT64, NUMBERS, 1, THREE);
  graph = (gather_graph){.name = "",
                         .nodes = nodes,
                         .node_count = 5,
                         .inputs = &input,
                         .input_count = 1,
                         .constants = &data,
                         .constant_count = 1};
  file = (gather_graph_file){.dialect = "onnx", .graph = &graph};
  return gather_model_from_graph(&file, &model, &error) == GATHER_OK ? 0 : -1;
}

static int close_model(void **state) {
  (void)state;
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
  (void)state;
  assert_ptr_equal(node->data.value->data, NUMBERS);
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
  (void)state;
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
  (void)state;
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
  (void)state;
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(indices_are_computed),
      cmocka_unit_test(what_is_missing),
      cmocka_unit_test(a_value_in_between),
      cmocka_unit_test(failures),
  };
  return cmocka_run_group_tests(tests, open_model, close_model);
}
