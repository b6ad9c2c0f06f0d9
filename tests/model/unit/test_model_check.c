/* SPDX-License-Identifier: MIT
 *
 * test_model_check.c: a check on graphs that are built here, without a file: what no reader would make stands here too.
 */
#include "support/graph_text.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_bad_index),
                                     cmocka_unit_test(bad_indices_that_are_repaired),
                                     cmocka_unit_test(a_node_without_indices),
                                     cmocka_unit_test(what_leads_nowhere),
                                     cmocka_unit_test(graphs_that_never_end),
                                     cmocka_unit_test(wrong_calls),
                                     cmocka_unit_test(another_family_with_a_function)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
