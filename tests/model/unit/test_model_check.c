/* SPDX-License-Identifier: MIT
 *
 * test_model_check.c: a check by the public functions, on graphs that are built here, without a file (what no reader would make stands
 * here too): what it says of a node, the node of a name, nodes that no check looks at, the check as text, and what to give so that unknown
 * nodes become known.
 */
#include <stdio.h>

#include "support/graph_text.h"
#include "support/tiny_model.h"
#include "support/wrapped.h"
static graph_text t;

/* Checks the graph and hands the first node to `look`. */
static void with_node(bool openvino, const char *graph, void (*look)(const gather_model_node *node)) {
  gather_model *model;
  gather_check *check;
  gather_error error = dirty_error();
  graph_text_read(&t, openvino, graph);
  assert_status(gather_model_from_graph(&t.file, &model, &error), GATHER_OK);
  assert_status(gather_model_check(model, NULL, &check, &error), GATHER_OK);
  assert_int_equal(gather_check_describe(check)->count, gather_model_describe(model)->node_count);
  assert_null(gather_check_at(check, gather_check_describe(check)->count));
  look(gather_check_at(check, 0));
  gather_check_destroy(check);
  gather_model_close(model);
}

static void is_bad_at_two(const gather_model_node *node) {
  assert_string_equal(gather_verdict_name(node->verdict), "bad");
  assert_int_equal(node->bad, 1);
  assert_int_equal(node->error->position[0], 2);
  assert_int_equal(node->error->value, 4);
  for (size_t i = 0; gather_runtime_name(i); i++) assert_true(*gather_runtime_behaviour(i, node) != 0);
}

static void a_bad_index(void **state) { with_node(false, "g: out = Gather([0,3,4,-4], [0,3,4,-4])", is_bad_at_two); }

/* Rules that fill with zeros: the node is ok, and what OpenVINO does is said all the same. */
typedef struct repaired {
  const char *graph, *reason, *openvino;
} repaired;

static const repaired REPAIRED[] = {
    {"g: out = Gather(float64[0,0,0,0], [0,4,-4,-5], 0)", "2 of 4 indices are out of range", "silently returns zeros"},
    {"g: out = Gather([0,0,0,0], [0,4,-4,3], 0)", "1 of 4 indices is out of range", "does not check"},
    {"g: out = Gather([0,0,0,0], [0,0x100000000,-4,3], 0)", "1 of 4 indices is out of range", "low 32 bits"},
    {"g: out = Gather([0,0,0,0], [0,3,-4,-1], 0)", "", ""},
};
static const repaired *wanted;

static void is_repaired(const gather_model_node *node) {
  assert_string_equal(gather_verdict_name(node->verdict), "ok");
  assert_null(node->error);
  assert_int_equal(strncmp(node->reason, wanted->reason, strlen(wanted->reason)), 0);
  assert_int_equal(*node->reason == 0, *wanted->reason == 0);
  for (size_t i = 0; gather_runtime_name(i); i++) {
    const char *said = gather_runtime_behaviour(i, node);
    assert_int_equal(*said == 0, *wanted->reason == 0);
    if (strcmp(gather_runtime_name(i), "openvino") == 0) assert_non_null(strstr(said, wanted->openvino));
  }
}

static void bad_indices_that_are_repaired(void **state) {
  for (wanted = REPAIRED; wanted < REPAIRED + COUNT(REPAIRED); wanted++) with_node(true, wanted->graph, is_repaired);
}

static void has_no_indices(const gather_model_node *node) {
  assert_string_equal(gather_verdict_name(node->verdict), "bad");
  assert_status(node->error->status, GATHER_FILE_MALFORMED);
}

static void a_node_without_indices(void **state) { with_node(false, "g: out = Gather(data)", has_no_indices); }

static void is_unknown(const gather_model_node *node) {
  assert_string_equal(gather_verdict_name(node->verdict), "unknown");
  assert_true(*node->reason != 0);
  assert_null(node->error);
  for (size_t i = 0; gather_runtime_name(i); i++) assert_string_equal(gather_runtime_behaviour(i, node), "");
}

/* Names, a rule, and a node that is its own input. */
static void what_leads_nowhere(void **state) {
  with_node(false, "g: out = Gather(data, indices)", is_unknown);
  with_node(false, "g: out = Gather/0(data, indices)", is_unknown);
  with_node(false, "g: out = Gather(out, out)", is_unknown);
}

static void graphs_that_never_end(void **state) {
  gather_graph graph = {.name = ""};
  gather_attribute attribute = {.name = "body", .kind = GATHER_ATTRIBUTE_GRAPH, .graph = &graph};
  gather_node node = {.name = "", .op = "Loop", .domain = "", .attributes = &attribute, .attribute_count = 1};
  gather_graph_file file = {.dialect = "onnx", .graph = &graph};
  gather_model *model;
  gather_error error = dirty_error();
  graph.nodes = &node;
  graph.node_count = 1;
  assert_status(gather_model_from_graph(&file, &model, &error), GATHER_UNSUPPORTED);
  assert_error(&error, GATHER_UNSUPPORTED);
  assert_null(model);
}

static void wrong_calls(void **state) {
  gather_graph_file tensors = {.dialect = "onnx"};
  gather_model *model;
  gather_check *check;
  gather_error error = dirty_error();
  assert_status(gather_model_from_graph(&tensors, &model, &error), GATHER_UNSUPPORTED);
  assert_status(gather_model_open(NULL, &model, &error), GATHER_USAGE);
  assert_status(gather_model_check(NULL, NULL, &check, &error), GATHER_USAGE);
  gather_model_close(NULL);
  gather_check_destroy(NULL);
  assert_non_null(gather_runtime_name(3));
  assert_null(gather_runtime_name(4));
  assert_string_equal(gather_source_name((gather_source)99), "none");
}

static bool elements_have_a_function;

/* While the flag is set, GatherElements has a function of its own, as GatherTree does. */
WRAPPED(const gather_family_info *, gather_family_get, (gather_family family)) {
  static gather_family_info own;
  if (!elements_have_a_function || family != GATHER_FAMILY_ELEMENTS) return REAL(gather_family_get)(family);
  own = *REAL(gather_family_get)(family);
  own.function = "gather_other";
  return &own;
}

static void is_not_judged(const gather_model_node *node) {
  assert_string_equal(gather_verdict_name(node->verdict), "unknown");
  assert_string_equal(node->reason, "indices of this operator are not checked");
  assert_string_equal(node->cause, "");
  assert_null(node->error);
}

/* A family with a function of its own is not taken for GatherTree: its nodes are not judged, and do not run. */
static void another_family_with_a_function(void **state) {
  gather_model *model;
  gather_model_result *result;
  gather_error error = dirty_error();
  elements_have_a_function = true;
  with_node(false, "out out; g: out = GatherElements([0,3,4,-5], [0,3,4,-5])", is_not_judged);
  assert_status(gather_model_from_graph(&t.file, &model, &error), GATHER_OK);
  assert_status(gather_model_run(model, NULL, 0, NULL, &result, &error), GATHER_UNSUPPORTED);
  assert_non_null(strstr(error.message, "GatherElements, which cannot be run"));
  gather_model_close(model);
  elements_have_a_function = false;
  assert_status(gather_model_from_graph(&t.file, &model, &error), GATHER_OK);
  assert_status(gather_model_run(model, NULL, 0, NULL, &result, &error), GATHER_INDEX_OUT_OF_RANGE);
  gather_model_close(model);
}

/* ---- nodes that take indices and that no check looks at */
enum { ONNX, IR };

static gather_model *model_of(bool openvino, const char *graph) {
  gather_model *model;
  graph_text_read(&t, openvino, graph);
  assert_status(gather_model_from_graph(&t.file, &model, NULL), GATHER_OK);
  return model;
}

/* op: the only operator that is not checked, of one node; NULL: none. */
static const struct {
  int dialect;
  const char *graph, *op;
} NOT_CHECKED[] = {
    {ONNX, "_ = MaxUnpool()", "MaxUnpool"},
    {ONNX, "_ = ai.onnx.ml.ArrayFeatureExtractor()", "ArrayFeatureExtractor"},
    {ONNX, "_ = com.microsoft.EmbedLayerNormalization()", "EmbedLayerNormalization"},
    {ONNX, "_ = com.microsoft.CropAndResize()", "CropAndResize"},
    {ONNX, "_ = SequenceAt()", "SequenceAt"},
    {ONNX, "_ = ReverseSequence()", "ReverseSequence"},
    {IR, "_ = ReverseSequence/1()", "ReverseSequence"},
    {IR, "_ = ROIAlign/9()", "RoiAlign"},
    {IR, "_ = roialign/9()", "RoiAlign"},
    /* others */
    {ONNX, "_ = Gather()", NULL},
    {ONNX, "_ = GatherND()", NULL},
    {ONNX, "_ = com.microsoft.GatherND()", NULL},
    {IR, "_ = GatherND()", NULL},
    {IR, "_ = GatherTree/1()", NULL},
    {ONNX, "_ = ScatterND()", NULL},
    {IR, "_ = EmbeddingBagPackedSum/3()", NULL},
    {IR, "_ = scatterupdate/3()", NULL},
    {ONNX, "_ = Slice()", NULL},
    {ONNX, "_ = scatternd()", NULL},
    {ONNX, "_ = EmbedLayerNormalization()", NULL},
    {ONNX, "_ = ScatterUpdate()", NULL},
    {ONNX, "_ = somebody.ScatterND()", NULL},
    {IR, "_ = somebody.GatherTree()", NULL},
    {IR, "_ = ScatterND()", NULL},
    /* the place in a sequence is an input that may be left out: then it is the end */
    {ONNX, "_ = SequenceInsert(s, t, place)", "SequenceInsert"},
    {ONNX, "_ = SequenceInsert(s, t)", NULL},
    {ONNX, "_ = SequenceInsert(s, t, _)", NULL},
    {ONNX, "_ = SequenceErase(s, t)", "SequenceErase"},
    {ONNX, "_ = SequenceErase(s)", NULL},
    {ONNX, "_ = SequenceErase(s, _)", NULL},
    /* a function with the operator's name is meant, in its domain only */
    {ONNX, "_ = com.microsoft.RotaryEmbedding(); _ = RotaryEmbedding(); fun com.microsoft.RotaryEmbedding { }", "RotaryEmbedding"},
    {ONNX, "_ = com.microsoft.RotaryEmbedding(); fun com.microsoft.RotaryEmbedding { }", NULL},
};

static void operators_not_checked(void **state) {
  for (size_t i = 0; i < COUNT(NOT_CHECKED); i++) {
    gather_model *model = model_of(NOT_CHECKED[i].dialect == IR, NOT_CHECKED[i].graph);
    const gather_model_info *info = gather_model_describe(model);
    const char *op = info->not_checked_count > 0 ? info->not_checked[0].op : NULL;
    if ((op == NULL) != (NOT_CHECKED[i].op == NULL)) fail_msg("%s: %s", NOT_CHECKED[i].graph, op ? op : "none");
    assert_int_equal(info->not_checked_count, op != NULL);
    if (op) assert_int_equal(info->not_checked[0].nodes, 1);
    if (op) assert_string_equal(op, NOT_CHECKED[i].op);
    gather_model_close(model);
  }
}

/* Counted in subgraphs and in functions; one list entry for each operator. */
static void nodes_in_every_graph(void **state) {
  gather_model *model =
      model_of(false, "_ = MaxUnpool(); _ = Loop() body={ _ = SequenceAt(); _ = MaxUnpool() };fun mine.F { _ = MaxUnpool() }");
  const gather_model_info *info = gather_model_describe(model);
  assert_int_equal(info->not_checked_count, 2);
  assert_string_equal(info->not_checked[0].op, "MaxUnpool");
  assert_int_equal(info->not_checked[0].nodes, 3);
  assert_string_equal(info->not_checked[1].op, "SequenceAt");
  assert_int_equal(info->not_checked[1].nodes, 1);
  gather_model_close(model);
}

/* Likewise for an operator that is checked: the call of the function is no gather node. */
static void calls_that_are_no_gathers(void **state) {
  static const char *const GRAPHS[] = {"_ = com.microsoft.GatherND(); _ = GatherND()",
                                       "_ = com.microsoft.GatherND(); _ = GatherND(); fun com.microsoft.GatherND { }"};
  for (int functions = 0; functions < 2; functions++) {
    gather_model *model = model_of(false, GRAPHS[functions]);
    assert_int_equal(gather_model_describe(model)->node_count, 2 - functions);
    gather_model_close(model);
  }
}

/* ---- ranks */

static gather_check *check_of(bool openvino, const char *text, gather_model **model) {
  gather_check *check;
  *model = model_of(openvino, text);
  assert_status(gather_model_check(*model, NULL, &check, NULL), GATHER_OK);
  return check;
}

/* A Reshape may have as many dimensions as a tensor has, and no more. */
static void the_largest_rank(void **state) {
  for (int rank = GATHER_MAX_RANK - 1; rank <= GATHER_MAX_RANK + 1; rank++) {
    char text[300] = "in x int64[1]; y = Reshape(x, [1";
    gather_model *model;
    for (int i = 1; i < rank; i++) strcat(text, ",1");
    gather_check *check = check_of(false, strcat(text, "]); g: _ = Gather(y, [0])"), &model);
    assert_int_equal(gather_check_at(check, 0)->data.rank, rank <= GATHER_MAX_RANK ? rank : -1);
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

/* ---- the node of a name */

#define INPUTS "in x int64[4]; in at int64[4]; "
#define NODE(name, output) name output " = Gather(x, at); "
#define FIRST NODE("first: ", "a")
#define SECOND NODE("second: ", "b")

static const struct {
  const char *graph, *name;
  gather_status status;
  int number;
  const char *words; /* of the error */
} NAMED[] = {
    {INPUTS FIRST SECOND, "first", GATHER_OK, 0, ""},
    {INPUTS FIRST SECOND, "second", GATHER_OK, 1, ""},
    {INPUTS FIRST, NULL, GATHER_OK, 0, ""},
    {INPUTS FIRST, "second", GATHER_NAME_NOT_FOUND, 0, "first"},
    {INPUTS FIRST SECOND, "firs", GATHER_NAME_NOT_FOUND, 0, "first"},
    {INPUTS FIRST SECOND, NULL, GATHER_NAME_NOT_FOUND, 0, "first"},
    {INPUTS NODE("", "a") NODE("", "b"), "first", GATHER_NAME_NOT_FOUND, 0, ""},
    {INPUTS, NULL, GATHER_NAME_NOT_FOUND, 0, ""},
    {INPUTS FIRST SECOND NODE("first: ", "c"), "first", GATHER_USAGE, 0, "first"},
    {INPUTS FIRST SECOND NODE("first: ", "c"), "second", GATHER_OK, 1, ""},
};

static void nodes_by_name(void **state) {
  for (size_t i = 0; i < COUNT(NAMED); i++) {
    gather_model *model;
    gather_check *check = check_of(false, NAMED[i].graph, &model);
    const gather_model_node *node = (const gather_model_node *)&t;
    gather_error error = dirty_error();
    assert_status(gather_check_find(check, NAMED[i].name, &node, &error), NAMED[i].status);
    assert_ptr_equal(node, NAMED[i].status == GATHER_OK ? gather_check_at(check, NAMED[i].number) : NULL);
    if (NAMED[i].status != GATHER_OK) assert_non_null(strstr(error.message, NAMED[i].words));
    assert_status(gather_check_find(check, NAMED[i].name, &node, NULL), NAMED[i].status);
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

/* ---- GatherTree */

/* Of operands whose ranks are unknown, and of one without dimensions, no lengths are read. */
static void a_tree_without_ranks(void **state) {
  static const char *const SHAPES[] = {"[3,2,4]", "[3,2,4]", "[2]", "[]"};
  for (int known = 0; known < 16; known++) {
    char text[200];
    const char *s[4];
    gather_model *model;
    for (int i = 0; i < 4; i++) s[i] = known >> i & 1 ? SHAPES[i] : "*";
    (void)snprintf(text, sizeof text, "in s int32%s; in p int32%s; in l int32%s; in e int32%s; t: _ = GatherTree/1(s, p, l, e)", s[0], s[1],
                   s[2], s[3]);
    gather_check *check = check_of(true, text, &model);
    assert_string_equal(gather_verdict_name(gather_check_at(check, 0)->verdict), "unknown");
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

/* ---- a check as text */
static tiny parts;
static gather_model *tiny_model;
static gather_check *tiny_check;
static gather_check_advice *advice;

static int open_model(void **state) {
  gather_error error;
  if (tiny_open(&parts, &tiny_model, &error) != GATHER_OK) return -1;
  if (gather_model_check(tiny_model, NULL, &tiny_check, &error) != GATHER_OK) return -1;
  return gather_check_advise(tiny_check, &advice, &error) == GATHER_OK ? 0 : -1;
}

static int close_model(void **state) {
  gather_check_advice_destroy(advice);
  gather_check_advice_destroy(NULL);
  gather_check_destroy(tiny_check);
  gather_model_close(tiny_model);
  return 0;
}

static char *text_of(const gather_check_text_options *options) {
  char *text = NULL;
  size_t bytes = 99;
  gather_error error = dirty_error();
  if (gather_check_text(tiny_check, options, &text, &bytes, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(strlen(text), bytes);
  return text;
}

static void assert_text(const gather_check_text_options *options, const char *want) {
  char *text = text_of(options);
  assert_string_equal(text, want);
  gather_text_free(text);
}

static void what_to_give(void **state) {
  static const struct {
    gather_advice_kind kind;
    const char *node, *name;
  } WANT[] = {{GATHER_ADVICE_NONE, "main/far", NULL},
              {GATHER_ADVICE_NONE, "main/near", NULL},
              {GATHER_ADVICE_INPUTS, "main/free", "ids"},
              {GATHER_ADVICE_NODE, "main/Gather_4", "own"},
              {GATHER_ADVICE_DIMS, "main/na\x1bmed", "N"}};
  for (size_t i = 0; i < COUNT(WANT); i++) {
    const gather_advice *found = gather_check_advice_at(advice, (int64_t)i);
    assert_int_equal(found->kind, WANT[i].kind);
    assert_string_equal(found->node, WANT[i].node);
    assert_int_equal(found->count, WANT[i].name ? 1 : 0);
    if (WANT[i].name) assert_string_equal(found->names[0], WANT[i].name);
  }
  assert_null(gather_check_advice_at(advice, 5));
  assert_null(gather_check_advice_at(advice, -1));
}

static const char HEAD[] = "model: onnx, 5 gather nodes: 1 ok, 3 unknown, 1 bad\n";

static void the_head(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  options.node = GATHER_CHECK_TEXT_HEAD;
  options.compact = true;
  assert_text(&options, HEAD);
  options.name = "a\x1b.onnx";
  assert_text(&options, "a\\x1b.onnx: onnx, 5 gather nodes: 1 ok, 3 unknown, 1 bad\n");
}

static void one_node(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  options.node = 2;
  assert_text(&options,
              "unknown  Gather onnx-13  axis 0  [3, 2] by [K]  main/free\n"
              "         why      the indices come from the input 'ids', which was not given\n");
  options.node = 1;
  assert_text(&options, "ok       Gather onnx-13  axis 0  [3, 2] by [2]  main/near\n");
}

/* The advice in neutral words, and in a program's own. */
static void say(void *context, const gather_advice *given, char *text, size_t bytes) {
  (void)snprintf(text, bytes, "%s %d %s", (const char *)context, (int)given->kind, given->names[0]);
}

static void advice_in_words(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  options.node = 4;
  options.advice = advice;
  assert_text(&options,
              "unknown  Gather onnx-13  axis 0  [N, 2] by [2]  main/na\\x1bmed\n"
              "         why      the data 'x' has the length 'N' along axis 0, a dimension that was not given\n"
              "         give     a length for 'N'\n");
  options.writer = say;
  options.context = (void *)(uintptr_t) "say";
  char *text = text_of(&options);
  assert_non_null(strstr(text, "         give     say 2 N\n"));
  gather_text_free(text);
}

static void all_of_it(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  char *whole = text_of(NULL), *only = NULL, *at;
  assert_memory_equal(whole, HEAD, sizeof HEAD - 1);
  at = whole + sizeof HEAD - 1;
  assert_int_equal(*at, '\n');
  assert_memory_equal(at, "\nbad      Gather onnx-13  axis 0  [3, 2] by [2]", 47);
  assert_non_null(strstr(at, "  main/far\n         data     table float32 [3, 2], initializer\n"));
  assert_non_null(strstr(at, "indices  far_ids int64 [2], initializer: 2 from 1 to 7, 1 out of range\n"));
  assert_non_null(strstr(at, "         onnxruntime  "));
  options.only_bad = true;
  only = text_of(&options);
  assert_non_null(strstr(only, "main/far\n"));
  assert_null(strstr(only, "main/near"));
  gather_text_free(whole);
  gather_text_free(only);
}

static void wrong_calls_for_text(void **state) {
  static const int64_t NONE[] = {5, -3, INT64_MAX, INT64_MIN};
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  gather_error error = dirty_error();
  gather_check_advice *made = NULL;
  char *text = NULL;
  for (size_t i = 0; i < COUNT(NONE); i++) {
    options.node = NONE[i];
    assert_status(gather_check_text(tiny_check, &options, &text, NULL, &error), GATHER_USAGE);
    assert_error(&error, GATHER_USAGE);
  }
  assert_status(gather_check_text(NULL, NULL, &text, NULL, &error), GATHER_USAGE);
  assert_status(gather_check_text(tiny_check, NULL, NULL, NULL, &error), GATHER_USAGE);
  assert_status(gather_check_advise(NULL, &made, &error), GATHER_USAGE);
  assert_null(text);
}

static void paths(void **state) {
  char text[8];
  assert_int_equal(gather_model_node_path(gather_check_at(tiny_check, 3), NULL, 0), strlen("main/Gather_4"));
  assert_int_equal(gather_model_node_path(gather_check_at(tiny_check, 3), text, sizeof text), strlen("main/Gather_4"));
  assert_string_equal(text, "main/Ga");
}

#define OF_TINY(name) cmocka_unit_test_setup_teardown(name, open_model, close_model)

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_bad_index),
                                     cmocka_unit_test(bad_indices_that_are_repaired),
                                     cmocka_unit_test(a_node_without_indices),
                                     cmocka_unit_test(what_leads_nowhere),
                                     cmocka_unit_test(graphs_that_never_end),
                                     cmocka_unit_test(wrong_calls),
                                     cmocka_unit_test(another_family_with_a_function),
                                     cmocka_unit_test(operators_not_checked),
                                     cmocka_unit_test(nodes_in_every_graph),
                                     cmocka_unit_test(calls_that_are_no_gathers),
                                     cmocka_unit_test(the_largest_rank),
                                     cmocka_unit_test(nodes_by_name),
                                     cmocka_unit_test(a_tree_without_ranks),
                                     OF_TINY(what_to_give),
                                     OF_TINY(the_head),
                                     OF_TINY(one_node),
                                     OF_TINY(advice_in_words),
                                     OF_TINY(all_of_it),
                                     OF_TINY(wrong_calls_for_text),
                                     OF_TINY(paths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
