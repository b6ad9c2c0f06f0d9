/* SPDX-License-Identifier: MIT
 *
 * test_check_given.c: what the caller gives to a check, and may not give; one gather node and what it works on: which node a name means,
 * what is known of its operands, also where values in between are given, and what would have to be given.
 */
#include "core/base/error.h"
#include "support/fail_each.h"
#include "support/graph_text.h"
enum { ONNX, IR };

/* ---- what the caller may not give to a check */

static const struct {
  int dialect;
  const char *graph;
  gather_status status;
  const char *words;
} REFUSED[] = {
    {ONNX, "in x int8[N]; dim N -1", GATHER_SHAPE_MISMATCH, "the dimension 'N' cannot have the length -1"},
    {ONNX, "in x int8[N]; dim M 1", GATHER_NAME_NOT_FOUND, "'M'"},
    {ONNX, "in x int8[N]; info y int8[M]; out o int8[K]; dim M 1; dim K 1; dim L 1", GATHER_NAME_NOT_FOUND, "'L'"},
    {ONNX, "in x int8[N]; dim N 3; give x int8[2] = 1,2", GATHER_SHAPE_MISMATCH, "N"},
    {ONNX, "in x int8[N]; in y int8[N]; give y int8[3] = 1,2,3; give x int8[2] = 1,2", GATHER_SHAPE_MISMATCH, "N"},
    {ONNX, "in x int8[N]; dim N 3; dim N 4", GATHER_SHAPE_MISMATCH, "N"},
    {ONNX, "in x int8[2]; give x int8[3] = 1,2,3", GATHER_SHAPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2..4]; give x int8[1] = 1", GATHER_SHAPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2..4]; give x int8[5] = 1,2,3,4,5", GATHER_SHAPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2]; give x int8[] = 1", GATHER_RANK_MISMATCH, "'x'"},
    {ONNX, "in x int8[2]; give x int16[2] = 1,2", GATHER_TYPE_MISMATCH, "'x'"},
    {ONNX, "in x int8[2]; give y int8[2] = 1,2", GATHER_NAME_NOT_FOUND, "'x'"},
    {ONNX, "give y int8[2] = 1,2", GATHER_NAME_NOT_FOUND, "none"},
    {ONNX, "in x int8[2]; give x int8[2] = 1,2; give x int8[2] = 1,2", GATHER_USAGE, "'x'"},
    {ONNX, "in x int8[2]; give x int8[2] gone", GATHER_USAGE, "NULL"},
};

/* Lists that are not there, and names that are not. */
static void what_is_not_there(void **state) {
  static const gather_model_dim nameless_dim = {NULL, 1};
  const gather_model_input nameless = {NULL, tensor_of(GATHER_TYPE_INT8, "", 0, NULL)};
  const gather_check_options INIT = GATHER_CHECK_OPTIONS_INIT;
  gather_check_options wrong[6] = {INIT, INIT, INIT, INIT, INIT, INIT};
  static graph_text t;
  gather_model *model = NULL;
  wrong[0].input_count = 1;
  wrong[1].input_count = -1;
  wrong[2].dim_count = 1;
  wrong[3].dim_count = -1;
  wrong[4].inputs = &nameless, wrong[4].input_count = 1;
  wrong[5].dims = &nameless_dim, wrong[5].dim_count = 1;
  graph_text_read(&t, false, "in x int8[2]; const i int64[] = 0; g: _ = Gather(x, i)");
  assert_status(gather_model_from_graph(&t.file, &model, NULL), GATHER_OK);
  for (size_t i = 0; i < COUNT(wrong); i++) {
    gather_check *check = NULL;
    gather_model_operands *operands = NULL;
    gather_error error = dirty_error();
    assert_status(gather_model_check(model, &wrong[i], &check, &error), GATHER_USAGE);
    assert_error(&error, GATHER_USAGE);
    assert_status(gather_model_operands_find(model, "g", &wrong[i], &operands, &error), GATHER_USAGE);
    assert_null(check);
    assert_null(operands);
  }
  assert_int_equal(gather_model_describe(model)->input_count, 1);
  assert_int_equal(gather_model_describe(model)->output_count, 0);
  assert_string_equal(gather_model_describe(model)->inputs[0], "x");
  gather_model_close(model);
}

static void refused(void **state) {
  for (size_t i = 0; i < COUNT(REFUSED); i++) {
    static graph_text t;
    gather_model *model = NULL;
    gather_check *check = NULL;
    gather_error error = dirty_error();
    gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
    graph_text_read(&t, REFUSED[i].dialect == IR, REFUSED[i].graph);
    options.inputs = t.given, options.input_count = t.given_count;
    options.dims = t.dims, options.dim_count = t.dim_count;
    assert_status(gather_model_from_graph(&t.file, &model, &error), GATHER_OK);
    const gather_status status = gather_model_check(model, &options, &check, &error);
    if (status != REFUSED[i].status || !strstr(error.message, REFUSED[i].words))
      fail_msg("%s: %s: %s", REFUSED[i].graph, gather_status_name(status), status ? error.message : "");
    assert_error(&error, status);
    assert_null(check);
    gather_model_close(model);
  }
}

/* ---- the operands of a node, where the caller gives values in between */

/* wanted: data and indices as they are known, and the names of what is missing; or words of the error. */
static const struct {
  int dialect;
  const char *graph, *node;
  gather_status status;
  const char *wanted;
} FOUND[] = {
    {ONNX, "in x int64[3]; in i int64[2]; g: _ = Gather(x, i)", "g", GATHER_OK, "[3]; [2]; needs i"},
    {ONNX, "in x int64[3]; in i int64[2]; g: _ = Gather(x, i); give i int64[2] = 1,0", "g", GATHER_OK, "[3]; [2] = 1,0; needs"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[2] = 1,0", "g", GATHER_OK,
     "[3]; [2] = 1,0; needs"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j)", "g", GATHER_OK, "[3]; [2]; needs j"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int32[2] = 1,0", "g", GATHER_OK,
     "[3]; [2] = 1,0; needs"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j float32[2] = 1,0", "g", GATHER_TYPE_MISMATCH,
     "the value 'j' has type int64, but float32 was given"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); info j int64[2]; g: _ = Gather(x, j); give j int32[2] = 1,0", "g",
     GATHER_TYPE_MISMATCH, "the value 'j' has type int64, but int32 was given"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[] = 1", "g", GATHER_RANK_MISMATCH,
     "the value 'j' has rank 1, but rank 0 was given"},
    {ONNX, "in x int64[3]; in i int64[2..3]; j = Relu(i); g: _ = Gather(x, j); give j int64[1] = 1", "g", GATHER_SHAPE_MISMATCH,
     "the value 'j' does not have the length 1 in dimension 0"},
    {ONNX, "in x int64[3]; in i int64[2..3]; j = Relu(i); g: _ = Gather(x, j); give j int64[4] = 1,2,1,2", "g", GATHER_SHAPE_MISMATCH,
     "the value 'j' does not have the length 4 in dimension 0"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give k int64[2] = 1,0", "g", GATHER_NAME_NOT_FOUND,
     "the model has no input 'k', nor a value of that name in main"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[2] = 1,0; give j int64[2] = 1,0", "g",
     GATHER_USAGE, "the input 'j' is given twice"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); g: _ = Gather(x, j); give j int64[2] gone", "g", GATHER_USAGE, "NULL"},
    {ONNX, "in x int64[3]; in i int64[2]; j = Relu(i); k = Own(j, i, x); g: _ = Gather(x, k); give j int64[2] = 1,0", "g", GATHER_OK,
     "[3]; none; needs k"},
    {ONNX, "in x int64[3]; in i int64[2]; in k int64[2]; j = Concat(i, k) axis=0; r = Reshape(j, [2]); g: _ = Gather(x, r)", "g", GATHER_OK,
     "[3]; [2]; needs i,k"},
    {ONNX,
     "in x int64[3]; in i int64[4]; in s int64[2]; r = Reshape(i, s); g: _ = Gather(x, r); give i int64[4] = 0,1,2,0; "
     "give s int64[2] = 2,2",
     "g", GATHER_OK, "[3]; [2,2] = 0,1,2,0; needs"},
    {ONNX,
     "in a int64[3]; in b int64[1]; in c int64[1]; in d int64[1]; in e int64[1]; in f int64[1]; in h int64[1]; in k int64[1]; in l "
     "int64[1]; in m int64[1]; n = Own(b, c); o = Own(d, e); p = Concat(b, c, d, e, f, h, k, l, m,n, o, a) axis=0; g: _ = Gather(a, p)",
     "g", GATHER_OK, "[3]; [12..]; needs b,c,d,e,f,h,k,l"},
    {ONNX,
     "in c bool[]; in x int64[3]; in i int64[2]; y = If(c) then_branch={ out a; j = Relu(i); g: a = Gather(x, j) }else_branch={ out i }; "
     "give j int64[2] = 2,0",
     "g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in c bool[]; in x int64[3]; in i int64[2]; j = Relu(i); y = If(c) then_branch={ out a; g: a = Gather(x, j) }else_branch={ out i }; "
     "give j int64[2] = 2,0",
     "g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX, "in c bool[]; in x int64[3]; in i int64[2]; y = If(c) then_branch={ out a; g: a = Gather(x, i) }else_branch={ out i }", "g",
     GATHER_OK, "[3]; [2]; needs i"},
    {ONNX,
     "in x int64[3]; in i int64[2]; j = Relu(i); f: y = local.F(x, j); fun local.F { in p; in q; out r;g: r = Gather(p, q) }; "
     "give j int64[2] = 2,0",
     "main/f/function:F/g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in x int64[3]; in i int64[2]; j = Relu(i); f: y = local.F(x, j); fun local.F { in p; in q; out r;k = Relu(q); "
     "g: r = Gather(p, k) }; give k int64[2] = 2,0",
     "main/f/function:F/g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX,
     "in x int64[3]; in i int64[2]; f: y = local.F(x, i); fun local.F { in p; in q; out r; s: r = local.G(p, q) }; fun local.G { in p; "
     "in q; out r; g: r = Gather(p, q) }; give i int64[2] = 2,0",
     "main/f/function:F/s/function:G/g", GATHER_OK, "[3]; [2] = 2,0; needs"},
    {ONNX, "in x int64[3]; g: _ = Gather(x, x); fun local.F { in p; in q; out r; h: r = Gather(p, q) }; give q int64[2] = 2,0",
     "function:F/h", GATHER_OK, "none; [2] = 2,0; needs"},
    {IR, "in x int64[3]; in i int64[2]; in a int64[]; b = Own(a); g: _ = Gather(x, i, b); give b int64[] = 0; give i int64[2] = 1,0", "g",
     GATHER_OK, "[3]; [2] = 1,0; needs"},
    {IR, "in x int64[3]; in i int64[2]; in a int64[]; b = Negative(a); g: _ = Gather(x, i, b)", "g", GATHER_OK, "[3]; [2]; needs i,a"},
    {IR, "in v int64[2]; in x int64[3]; i: v = Parameter(); g: _ = Gather(x, v, 0); give i int64[2] = 1,0", "g", GATHER_OK,
     "[3]; [2] = 1,0; needs"},
    {ONNX, "const x int64[3] gone; in i int64[2]; g: _ = Gather(x, i); give i int64[2] = 0,1", "g", GATHER_OK, "[3]; [2] = 0,1; needs"},
    {ONNX, "in x int64[3]; j = Gather([1,2,0], [7]); g: _ = Gather(x, j)", "g", GATHER_INDEX_OUT_OF_RANGE, "indices[0] = 7"},
    {ONNX, "in x int64[3]; const i int64[1] = 0; g: _ = Gather(x, i); g: _ = Gather(x, i)", "g", GATHER_USAGE, "'g'"},
    {ONNX, "in x int64[3]; const i int64[1] = 0; g: _ = Gather(x, i); h: _ = Gather(x, i)", NULL, GATHER_USAGE,
     "name one of them: 'main/g', 'main/h'"},
    {ONNX, "in x int64[3]; g: _ = Gather(x, [0])", NULL, GATHER_OK, "[3]; [1] = 0; needs"},
    {ONNX, "in x int64[3]; const i int64[1] = 0; _ = Gather(x, i); y = Gather(x, i)", "main/Gather_0", GATHER_OK, "[3]; [1] = 0; needs"},
    {ONNX, "in x int64[3]; y = Gather(x, [0])", "h", GATHER_NAME_NOT_FOUND, "it has 'main/y'"},
};

static char *print_value(char *text, const gather_operand *operand) {
  char value[2000];
  text = graph_text_print_operand(text, operand);
  if (!operand->value || gather_tensor_len(operand->value) > 64) return text;
  (void)graph_text_print(value, operand->value);
  const char *elements = strstr(value, " =");
  return text + sprintf(text, "%s", elements ? elements : "");
}

static gather_status use_found(const void *context, gather_error *error) {
  static graph_text t;
  static char text[4000];
  const size_t i = *(const size_t *)context;
  gather_model *model = NULL;
  gather_model_operands *operands = NULL;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  graph_text_read(&t, FOUND[i].dialect == IR, FOUND[i].graph);
  options.inputs = t.given, options.input_count = t.given_count;
  gather_status status = gather_model_from_graph(&t.file, &model, error);
  if (status == GATHER_OK) status = gather_model_operands_find(model, FOUND[i].node, &options, &operands, error);
  if (status == GATHER_OK) {
    const gather_model_node *node = gather_model_operands_describe(operands)->node;
    char *at = print_value(text, &node->data);
    at = print_value(at + sprintf(at, "; "), &node->indices);
    at += sprintf(at, "; needs");
    for (int64_t k = 0; k < gather_model_operands_describe(operands)->missing_count; k++)
      at += sprintf(at, "%s%s", k ? "," : " ", gather_model_operands_describe(operands)->missing[k]);
    if (strcmp(text, FOUND[i].wanted) != 0) status = gather_fail(error, GATHER_OVERFLOW, "%s", text);
  }
  gather_model_operands_destroy(operands);
  gather_model_close(model);
  return status;
}

static void operands_with_values_in_between(void **state) {
  int wrong = 0;
  for (size_t i = 0; i < COUNT(FOUND); i++) {
    gather_error error = dirty_error();
    const gather_status status = use_found(&i, &error);
    const bool fits = status == FOUND[i].status && (status == GATHER_OK || strstr(error.message, FOUND[i].wanted));
    if (!fits)
      print_error("%s:\n%s: '%s', not '%s'\n", FOUND[i].graph, gather_status_name(status), status ? error.message : "", FOUND[i].wanted);
    wrong += !fits;
  }
  assert_int_equal(wrong, 0);
  for (size_t i = 0; i < COUNT(FOUND); i++) assert_true(fail_each(use_found, &i, FOUND[i].status) > 10);
}

/* ---- the same of a graph with several nodes */
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

#define OF_MODEL(name) cmocka_unit_test_setup_teardown(name, open_model, close_model)

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refused),
                                     cmocka_unit_test(what_is_not_there),
                                     cmocka_unit_test(operands_with_values_in_between),
                                     OF_MODEL(indices_are_computed),
                                     OF_MODEL(what_is_missing),
                                     OF_MODEL(a_value_in_between),
                                     OF_MODEL(failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
