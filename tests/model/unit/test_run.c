/* SPDX-License-Identifier: MIT
 *
 * test_run.c: runs of graphs without a file: what no reader would make stands here too.
 */
#include "support/graph_text.h"

#define ROWS "const rows int64[4] = 10,11,12,13; const picked int64[2] = 3,0; const bad int64[2] = 1,4; "

typedef struct world {
  graph_text text;
  gather_model *model;
  gather_model_result *result;
  gather_error error;
  const char *failed;
} world;

static world w;

static void begin(const char *graph) {
  char text[400] = ROWS;
  graph_text_read(&w.text, false, strcat(text, graph));
  w.result = NULL;
  assert_status(gather_model_from_graph(&w.text.file, &w.model, NULL), GATHER_OK);
}

static gather_status run(const char *node, const gather_model_input *inputs, int64_t count) {
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  options.node = node;
  options.failed_node = &w.failed;
  w.error = dirty_error();
  w.failed = "untouched";
  return gather_model_run(w.model, inputs, count, &options, &w.result, &w.error);
}

static void end(void) {
  gather_model_result_destroy(w.result);
  gather_model_close(w.model);
}

static void gives(const char *wanted) {
  char text[400] = "", *at = text;
  const gather_model_input *made;
  for (int64_t i = 0; (made = gather_model_result_at(w.result, i)); i++) {
    assert_true(made->tensor.flags & GATHER_TENSOR_READ_ONLY);
    at = graph_text_print(at + sprintf(at, "%s%s ", i ? "; " : "", made->name), &made->tensor);
  }
  assert_string_equal(text, wanted);
  assert_null(gather_model_result_at(w.result, -1));
}

/* Outputs in any order, graphs without nodes, and names that are left out. */
static void outputs(void **state) {
  static const char *const CASES[][2] = {
      {"out z; out rows; out y; late: z = Identity(y); g: y = Gather(rows, picked)",
       "z int64[2] = 13,10; rows int64[4] = 10,11,12,13; y int64[2] = 13,10"},
      {"out picked", "picked int64[2] = 3,0"},
      {"", ""},
      {"out rows; i: _ = Identity(rows)", "rows int64[4] = 10,11,12,13"},
      {"out y; s: y = Squeeze(rows, _)", "y int64[4] = 10,11,12,13"},
  };
  for (size_t i = 0; i < COUNT(CASES); i++) {
    begin(CASES[i][0]);
    assert_status(run(NULL, NULL, 0), GATHER_OK);
    assert_string_equal(w.failed, "");
    gives(CASES[i][1]);
    end();
  }
}

static const struct {
  const char *graph, *node; /* that is run; NULL: the model */
  gather_status status;
  const char *failed, *words; /* the node of the failure, and words of the message */
} FAILURES[] = {
    {"out nobody", NULL, GATHER_FILE_MALFORMED, "", "'nobody'"},
    {"out y; g: y = Gather(rows, y)", NULL, GATHER_FILE_MALFORMED, "g", "form a cycle"},
    {"out y; g: y = Gather(rows, y)", "g", GATHER_FILE_MALFORMED, "g", "form a cycle"},
    {"out z; a: x = Identity(z); b: y = Identity(x); c: z = Identity(y)", NULL, GATHER_FILE_MALFORMED, "b", "form a cycle"},
    {"out y; g: y = Gather(rows, nobody)", NULL, GATHER_FILE_MALFORMED, "g", "'nobody'"},
    {"out y; g: y = Gather(rows, nobody)", "g", GATHER_USAGE, "g", "'nobody'"},
    {"out y; a: y = Identity(rows); b: y = Identity(picked)", NULL, GATHER_FILE_MALFORMED, "", "two nodes produce the value 'y'"},
    /* before any work: the bad index is not reached */
    {"out y; g: m = Gather(rows, bad); y = Relu(m)", NULL, GATHER_UNSUPPORTED, "y", "Relu"},
    {"out y; g: m = Gather(rows, bad); y = Relu(m)", "y", GATHER_UNSUPPORTED, "y", "Relu"},
    {"out y; f: y = com.example.Gather(rows, picked)", NULL, GATHER_UNSUPPORTED, "f", "com.example"},
    {"out y; g: y = Gather(rows, _)", NULL, GATHER_FILE_MALFORMED, "g", "lacks its input 1"},
    {"out y; g: y = Gather(rows)", NULL, GATHER_FILE_MALFORMED, "g", "has 1 inputs"},
};

static void failures(void **state) {
  for (size_t i = 0; i < COUNT(FAILURES); i++) {
    begin(FAILURES[i].graph);
    assert_status(run(FAILURES[i].node, NULL, 0), FAILURES[i].status);
    assert_error(&w.error, FAILURES[i].status);
    assert_null(w.result);
    assert_string_equal(w.failed, FAILURES[i].failed);
    if (!strstr(w.error.message, FAILURES[i].words)) fail_msg("'%s' lacks '%s'", w.error.message, FAILURES[i].words);
    end();
  }
}

static void bad_indices(void **state) {
  begin("out y; g: y = Gather(rows, bad)");
  assert_status(run(NULL, NULL, 0), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(w.failed, "g");
  assert_int_equal(w.error.value, 4);
  assert_int_equal(w.error.position[0], 1);
  assert_non_null(strstr(w.error.message, "'g'"));
  end();
}

static gather_model_input input_of(const char *name, const int64_t *values, const int64_t *shape) {
  return (gather_model_input){name, tensor_of(GATHER_TYPE_INT64, values, 1, shape)};
}

static void inputs_of_the_caller(void **state) {
  static const int64_t threes[4] = {3, 3}, two[] = {2}, four[] = {4};
  const gather_model_input good[] = {input_of("i", threes, two), input_of("i", threes, two)};
  const gather_model_input strange = input_of("nobody", threes, two), longer = input_of("i", threes, four);
  const gather_model_input nameless = input_of(NULL, threes, two);
  begin("in i int64[2]; out y; g: y = Gather(rows, i)");
  assert_status(run(NULL, good, 1), GATHER_OK);
  gives("y int64[2] = 13,13");
  gather_model_result_destroy(w.result);
  assert_status(run(NULL, good, 2), GATHER_USAGE);
  assert_status(run(NULL, &nameless, 1), GATHER_USAGE);
  assert_status(run(NULL, &strange, 1), GATHER_NAME_NOT_FOUND);
  assert_status(run(NULL, &longer, 1), GATHER_SHAPE_MISMATCH);
  assert_int_equal(gather_model_value_type(w.model, NULL, "i"), GATHER_TYPE_INT64);
  assert_int_equal(gather_model_value_type(w.model, "g", "rows"), GATHER_TYPE_INT64);
  assert_int_equal(gather_model_value_type(w.model, NULL, "nobody"), GATHER_TYPE_NONE);
  assert_int_equal(gather_model_value_type(w.model, "nobody", "i"), GATHER_TYPE_INT64);
  assert_status(run(NULL, NULL, 0), GATHER_USAGE);
  assert_non_null(strstr(w.error.message, "'i'"));
  assert_null(w.result);
  end();
}

static void wrong_calls(void **state) {
  gather_model_run_options options = {0};
  begin("");
  assert_status(gather_model_run(w.model, NULL, 0, &options, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(w.model, NULL, 1, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(w.model, NULL, -1, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_status(gather_model_run(NULL, NULL, 0, NULL, &w.result, &w.error), GATHER_USAGE);
  assert_null(w.result);
  assert_status(gather_model_run(w.model, NULL, 0, NULL, &w.result, NULL), GATHER_OK);
  end();
  gather_model_result_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs), cmocka_unit_test(failures), cmocka_unit_test(bad_indices),
                                     cmocka_unit_test(inputs_of_the_caller), cmocka_unit_test(wrong_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
