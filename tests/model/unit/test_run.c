/* SPDX-License-Identifier: MIT
 *
 * test_run.c: runs of graphs that are built here, without a file: what no reader would make stands here too.
 */
#include "support/unit.h"

#include "gather/model.h"
#include "io/format/graph.h"
#include "model/model_internal.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__})

static const int64_t FOUR[] = {4}, TWO[] = {2};
static const int64_t ROWS[] = {10, 11, 12, 13}, PICKED[] = {3, 0}, BAD[] = {1, 4};

static gather_constant constant(const char *name, const int64_t *values, const int64_t *shape) {
  gather_constant made = {.tensor = {.name = name}, .is_initializer = true};
  made.tensor.tensor = tensor_of(GATHER_TYPE_INT64, values, 1, shape);
  return made;
}

static gather_node node_of(const char *name, const char *op, const char *const *inputs, int32_t count,
                           const char *const *outputs, int32_t output_count) {
  return (gather_node){.name = name,
                       .op = op,
                       .domain = "",
                       .opset = 13,
                       .inputs = inputs,
                       .input_count = count,
                       .outputs = outputs,
                       .output_count = output_count,
                       .file_offset = -1};
}

#define NODE(name, op, inputs, outputs) \
  node_of(name, op, inputs, (int32_t)COUNT(inputs), outputs, (int32_t)COUNT(outputs))

/* A graph of everything that is here, and a model of it. */
typedef struct world {
  gather_graph graph;
  gather_graph_file file;
  gather_model *model;
  gather_model_result *result;
  gather_error error;
  const char *failed;
} world;

static void begin(world *w, const gather_node *nodes, int64_t node_count, const gather_value *outputs, int64_t count) {
  static gather_constant constants[3];
  constants[0] = constant("rows", ROWS, FOUR);
  constants[1] = constant("picked", PICKED, TWO);
  constants[2] = constant("bad", BAD, TWO);
  *w = (world){
      .graph = {.name = "", .nodes = nodes, .node_count = node_count, .outputs = outputs, .output_count = count}};
  w->graph.constants = constants;
  w->graph.constant_count = (int64_t)COUNT(constants);
  w->file = (gather_graph_file){.dialect = "onnx", .graph = &w->graph};
  w->error = dirty_error();
  assert_status(gather_model_from_graph(&w->file, &w->model, &w->error), GATHER_OK);
}

static gather_status run(world *w, const char *node, const gather_model_input *inputs, int64_t count) {
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  options.node = node;
  options.failed_node = &w->failed;
  w->error = dirty_error();
  w->failed = "untouched";
  return gather_model_run(w->model, inputs, count, &options, &w->result, &w->error);
}

static void end(world *w) {
  gather_model_result_destroy(w->result);
  gather_model_close(w->model);
}

/* Runs, and expects a failure at that node whose message has these words. */
static void fails(world *w, const char *node, gather_status status, const char *at, const char *words) {
  assert_status(run(w, node, NULL, 0), status);
  assert_error(&w->error, status);
  assert_null(w->result);
  assert_string_equal(w->failed, at);
  if (!strstr(w->error.message, words)) fail_msg("'%s' lacks '%s'", w->error.message, words);
  end(w);
}

static void gives(world *w, int64_t i, const char *name, const int64_t *values, int64_t len) {
  const gather_model_input *made = gather_model_result_at(w->result, i);
  assert_string_equal(made->name, name);
  assert_int_equal(made->tensor.type, GATHER_TYPE_INT64);
  assert_int_equal(made->tensor.rank, 1);
  assert_int_equal(made->tensor.shape[0], len);
  assert_true(made->tensor.flags & GATHER_TENSOR_READ_ONLY);
  assert_memory_equal(made->tensor.data, values, (size_t)len * sizeof *values);
}

#define OUT(value) ((const gather_value[]){{.name = value, .rank = -1}})

static void several_outputs_in_any_order(void **state) {
  static const int64_t wanted[] = {13, 10};
  const gather_node nodes[] = {NODE("late", "Identity", NAMES("y"), NAMES("z")),
                               NODE("g", "Gather", NAMES("rows", "picked"), NAMES("y"))};
  const gather_value outputs[] = {{.name = "z", .rank = -1}, {.name = "rows", .rank = -1}, {.name = "y", .rank = -1}};
  world w;
  (void)state;
  begin(&w, nodes, 2, outputs, 3);
  assert_status(run(&w, NULL, NULL, 0), GATHER_OK);
  assert_string_equal(w.failed, "");
  gives(&w, 0, "z", wanted, 2);
  gives(&w, 1, "rows", ROWS, 4);
  gives(&w, 2, "y", wanted, 2);
  assert_null(gather_model_result_at(w.result, 3));
  assert_null(gather_model_result_at(w.result, -1));
  end(&w);
}

static void no_nodes(void **state) {
  world w;
  (void)state;
  begin(&w, NULL, 0, OUT("picked"), 1);
  assert_status(run(&w, NULL, NULL, 0), GATHER_OK);
  gives(&w, 0, "picked", PICKED, 2);
  end(&w);
  begin(&w, NULL, 0, NULL, 0);
  assert_status(run(&w, NULL, NULL, 0), GATHER_OK);
  assert_null(gather_model_result_at(w.result, 0));
  end(&w);
  begin(&w, NULL, 0, OUT("nobody"), 1);
  fails(&w, NULL, GATHER_FILE_MALFORMED, "", "'nobody'");
}

static void circles(void **state) {
  const gather_node alone[] = {NODE("g", "Gather", NAMES("rows", "y"), NAMES("y"))};
  const gather_node three[] = {NODE("a", "Identity", NAMES("z"), NAMES("x")),
                               NODE("b", "Identity", NAMES("x"), NAMES("y")),
                               NODE("c", "Identity", NAMES("y"), NAMES("z"))};
  world w;
  (void)state;
  begin(&w, alone, 1, OUT("y"), 1);
  fails(&w, NULL, GATHER_FILE_MALFORMED, "g", "form a cycle");
  begin(&w, alone, 1, OUT("y"), 1);
  fails(&w, "g", GATHER_FILE_MALFORMED, "g", "form a cycle");
  begin(&w, three, 3, OUT("z"), 1);
  fails(&w, NULL, GATHER_FILE_MALFORMED, "b", "form a cycle");
}

static void values_that_nothing_gives(void **state) {
  const gather_node nodes[] = {NODE("g", "Gather", NAMES("rows", "nobody"), NAMES("y"))};
  world w;
  (void)state;
  begin(&w, nodes, 1, OUT("y"), 1);
  fails(&w, NULL, GATHER_FILE_MALFORMED, "g", "'nobody'");
  begin(&w, nodes, 1, OUT("y"), 1);
  fails(&w, "g", GATHER_USAGE, "g", "'nobody'");
}

static void two_producers(void **state) {
  const gather_node nodes[] = {NODE("a", "Identity", NAMES("rows"), NAMES("y")),
                               NODE("b", "Identity", NAMES("picked"), NAMES("y"))};
  world w;
  (void)state;
  begin(&w, nodes, 2, OUT("y"), 1);
  assert_status(run(&w, NULL, NULL, 0), GATHER_FILE_MALFORMED);
  assert_non_null(strstr(w.error.message, "two nodes produce the value 'y'"));
  assert_null(w.result);
  end(&w);
}

static void other_operators(void **state) {
  const gather_node nodes[] = {NODE("g", "Gather", NAMES("rows", "bad"), NAMES("m")),
                               NODE("", "Relu", NAMES("m"), NAMES("y"))};
  gather_node foreign = NODE("f", "Gather", NAMES("rows", "picked"), NAMES("y"));
  world w;
  (void)state;
  foreign.domain = "com.example";
  begin(&w, nodes, 2, OUT("y"), 1); /* before any work: the bad index is not reached */
  fails(&w, NULL, GATHER_UNSUPPORTED, "y", "Relu");
  begin(&w, nodes, 2, OUT("y"), 1);
  fails(&w, "y", GATHER_UNSUPPORTED, "y", "Relu");
  begin(&w, &foreign, 1, OUT("y"), 1);
  fails(&w, NULL, GATHER_UNSUPPORTED, "f", "com.example");
}

static void bad_indices(void **state) {
  const gather_node nodes[] = {NODE("g", "Gather", NAMES("rows", "bad"), NAMES("y"))};
  world w;
  (void)state;
  begin(&w, nodes, 1, OUT("y"), 1);
  assert_status(run(&w, NULL, NULL, 0), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(w.failed, "g");
  assert_int_equal(w.error.value, 4);
  assert_int_equal(w.error.position[0], 1);
  assert_non_null(strstr(w.error.message, "'g'"));
  end(&w);
}

static void left_out_names(void **state) {
  const gather_node unused[] = {NODE("i", "Identity", NAMES("rows"), NAMES(""))};
  const gather_node lacking[] = {NODE("g", "Gather", NAMES("rows", ""), NAMES("y"))};
  const gather_node short_one[] = {NODE("g", "Gather", NAMES("rows"), NAMES("y"))};
  const gather_node no_axes[] = {NODE("s", "Squeeze", NAMES("rows", ""), NAMES("y"))};
  world w;
  (void)state;
  begin(&w, unused, 1, OUT("rows"), 1);
  assert_status(run(&w, NULL, NULL, 0), GATHER_OK);
  end(&w);
  begin(&w, no_axes, 1, OUT("y"), 1);
  assert_status(run(&w, NULL, NULL, 0), GATHER_OK);
  gives(&w, 0, "y", ROWS, 4);
  end(&w);
  begin(&w, lacking, 1, OUT("y"), 1);
  fails(&w, NULL, GATHER_FILE_MALFORMED, "g", "lacks its input 1");
  begin(&w, short_one, 1, OUT("y"), 1);
  fails(&w, NULL, GATHER_FILE_MALFORMED, "g", "has 1 inputs");
}

static gather_model_input input_of(const char *name, const int64_t *values, const int64_t *shape) {
  return (gather_model_input){name, tensor_of(GATHER_TYPE_INT64, values, 1, shape)};
}

static void inputs_of_the_caller(void **state) {
  static const int64_t last[] = {13, 13};
  static const int64_t threes[] = {3, 3};
  const gather_dim two = {2, 2, NULL};
  const gather_value declared[] = {{.name = "i", .type = GATHER_TYPE_INT64, .rank = 1, .dims = &two}};
  const gather_node nodes[] = {NODE("g", "Gather", NAMES("rows", "i"), NAMES("y"))};
  const gather_model_input good[] = {input_of("i", threes, TWO), input_of("i", threes, TWO)};
  const gather_model_input strange = input_of("nobody", threes, TWO), longer = input_of("i", ROWS, FOUR);
  const gather_model_input nameless = input_of(NULL, threes, TWO);
  world w;
  (void)state;
  begin(&w, nodes, 1, OUT("y"), 1);
  w.graph.inputs = declared;
  w.graph.input_count = 1;
  assert_status(run(&w, NULL, good, 1), GATHER_OK);
  gives(&w, 0, "y", last, 2);
  gather_model_result_destroy(w.result);
  assert_status(run(&w, NULL, good, 2), GATHER_USAGE);
  assert_status(run(&w, NULL, &nameless, 1), GATHER_USAGE);
  assert_status(run(&w, NULL, &strange, 1), GATHER_NAME_NOT_FOUND);
  assert_status(run(&w, NULL, &longer, 1), GATHER_SHAPE_MISMATCH);
  assert_int_equal(gather_model_value_type(w.model, NULL, "i"), GATHER_TYPE_INT64);
  assert_int_equal(gather_model_value_type(w.model, "g", "rows"), GATHER_TYPE_INT64);
  assert_int_equal(gather_model_value_type(w.model, NULL, "nobody"), GATHER_TYPE_NONE);
  assert_int_equal(gather_model_value_type(w.model, "nobody", "i"), GATHER_TYPE_INT64);
  fails(&w, NULL, GATHER_USAGE, "", "'i'");
}

static void wrong_calls(void **state) {
  gather_model_run_options options = {0};
  world w;
  (void)state;
  begin(&w, NULL, 0, NULL, 0);
  assert_status(gather_model_run(w.model, NULL, 0, &options, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(w.model, NULL, 1, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(w.model, NULL, -1, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(NULL, NULL, 0, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_null(w.result);
  assert_status(gather_model_run(w.model, NULL, 0, NULL, &w.result, NULL), GATHER_OK);
  end(&w);
  gather_model_result_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_outputs_in_any_order),
      cmocka_unit_test(no_nodes),
      cmocka_unit_test(circles),
      cmocka_unit_test(values_that_nothing_gives),
      cmocka_unit_test(two_producers),
      cmocka_unit_test(other_operators),
      cmocka_unit_test(bad_indices),
      cmocka_unit_test(left_out_names),
      cmocka_unit_test(inputs_of_the_caller),
      cmocka_unit_test(wrong_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
