/* SPDX-License-Identifier: MIT
 *
 * test_not_checked.c: nodes that take indices and that no check looks at, in graphs that are built here.
 */
#include "support/unit.h"

#include "gather/model.h"
#include "io/format/graph.h"
#include "model/model_internal.h"

static gather_node node_of(const char *domain, const char *op) {
  return (gather_node){.name = "n", .op = op, .domain = domain};
}

static gather_model *model_of(const gather_graph_file *file) {
  gather_model *model;
  gather_error error = dirty_error();
  assert_status(gather_model_from_graph(file, &model, &error), GATHER_OK);
  return model;
}

/* One operator with that many nodes; NULL: none. */
static void assert_only(const gather_graph_file *file, const char *op, int64_t nodes) {
  gather_model *model = model_of(file);
  assert_int_equal(gather_model_describe(model)->not_checked_count, op != NULL);
  if (op) assert_string_equal(gather_model_describe(model)->not_checked[0].op, op);
  assert_int_equal(gather_model_describe(model)->not_checked[0].nodes, nodes);
  gather_model_close(model);
}

static void one_node(const char *dialect, const char *domain, const char *op, const char *wanted) {
  gather_node node = node_of(domain, op);
  gather_graph graph = {.name = "", .nodes = &node, .node_count = 1};
  gather_graph_file file = {.dialect = dialect, .graph = &graph};
  assert_only(&file, wanted, wanted != NULL);
}

static void operators_of_each_domain(void **state) {
  (void)state;
  one_node("onnx", "", "ScatterND", "ScatterND");
  one_node("onnx", "ai.onnx.ml", "ArrayFeatureExtractor", "ArrayFeatureExtractor");
  one_node("onnx", "com.microsoft", "EmbedLayerNormalization", "EmbedLayerNormalization");
  one_node("onnx", "com.microsoft", "CropAndResize", "CropAndResize");
  one_node("onnx", "", "SequenceAt", "SequenceAt");
  one_node("onnx", "", "ReverseSequence", "ReverseSequence");
  one_node("openvino", "opset1", "ReverseSequence", "ReverseSequence");
  one_node("openvino", "opset3", "EmbeddingBagPackedSum", "EmbeddingBagPackedSum");
  one_node("openvino", "opset9", "ROIAlign", "RoiAlign");
  one_node("openvino", "opset3", "scatterupdate", "ScatterUpdate");
}

static void others(void **state) {
  (void)state;
  one_node("onnx", "", "Gather", NULL);
  one_node("onnx", "", "GatherND", NULL);
  one_node("onnx", "com.microsoft", "GatherND", NULL);
  one_node("openvino", "opset8", "GatherND", NULL);
  one_node("openvino", "opset1", "GatherTree", NULL);
  one_node("onnx", "", "Slice", NULL);
  one_node("onnx", "", "scatternd", NULL);
  one_node("onnx", "", "EmbedLayerNormalization", NULL);
  one_node("onnx", "", "ScatterUpdate", NULL);
  one_node("onnx", "somebody", "ScatterND", NULL);
  one_node("openvino", "somebody", "GatherTree", NULL);
  one_node("openvino", "opset8", "ScatterND", NULL);
}

/* The place in a sequence is an input that may be left out: then it is the end. */
static void places_that_are_optional(void **state) {
  static const char *const INPUTS[] = {"s", "t", "place"}, *const OMITTED[] = {"s", "t", ""},
                           *const FIRST[] = {"s", ""};
  static const struct {
    const char *op;
    const char *const *inputs;
    int32_t count;
    bool counted;
  } CASES[] = {{"SequenceInsert", INPUTS, 3, true},   {"SequenceInsert", INPUTS, 2, false},
               {"SequenceInsert", OMITTED, 3, false}, {"SequenceErase", INPUTS, 2, true},
               {"SequenceErase", INPUTS, 1, false},   {"SequenceErase", FIRST, 2, false}};
  (void)state;
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_node node = node_of("", CASES[i].op);
    node.inputs = CASES[i].inputs, node.input_count = CASES[i].count;
    gather_graph graph = {.name = "", .nodes = &node, .node_count = 1};
    gather_graph_file file = {.dialect = "onnx", .graph = &graph};
    assert_only(&file, CASES[i].counted ? CASES[i].op : NULL, CASES[i].counted);
  }
}

/* Counted in subgraphs and in functions; one list entry for each operator. */
static void nodes_in_every_graph(void **state) {
  gather_node inner[] = {node_of("", "ScatterND"), node_of("", "MaxUnpool")};
  gather_graph body = {.name = "", .nodes = inner, .node_count = 2};
  gather_attribute attribute = {.name = "body", .kind = GATHER_ATTRIBUTE_GRAPH, .graph = &body};
  gather_node nodes[] = {node_of("", "MaxUnpool"), node_of("", "Loop")};
  gather_graph graph = {.name = "", .nodes = nodes, .node_count = 2},
               called = {.name = "", .nodes = nodes, .node_count = 1};
  const gather_function function = {.domain = "mine", .name = "F", .graph = &called};
  gather_graph_file file = {.dialect = "onnx", .graph = &graph, .functions = &function, .function_count = 1};
  (void)state;
  nodes[1].attributes = &attribute;
  nodes[1].attribute_count = 1;
  gather_model *model = model_of(&file);
  assert_int_equal(gather_model_describe(model)->not_checked_count, 2);
  assert_string_equal(gather_model_describe(model)->not_checked[0].op, "MaxUnpool");
  assert_int_equal(gather_model_describe(model)->not_checked[0].nodes, 3);
  assert_string_equal(gather_model_describe(model)->not_checked[1].op, "ScatterND");
  assert_int_equal(gather_model_describe(model)->not_checked[1].nodes, 1);
  gather_model_close(model);
}

/* A function with the operator's name is meant, in its domain only. */
static void calls_of_functions(void **state) {
  gather_node nodes[] = {node_of("com.microsoft", "RotaryEmbedding"), node_of("", "RotaryEmbedding")};
  gather_graph graph = {.name = "", .nodes = nodes, .node_count = 2}, empty = {.name = ""};
  const gather_function function = {.domain = "com.microsoft", .name = "RotaryEmbedding", .graph = &empty};
  gather_graph_file file = {.dialect = "onnx", .graph = &graph, .functions = &function, .function_count = 1};
  (void)state;
  assert_only(&file, "RotaryEmbedding", 1);
  graph.node_count = 1;
  assert_only(&file, NULL, 0);
}

/* Likewise for an operator that is checked: the call of the function is no gather node. */
static void calls_that_are_no_gathers(void **state) {
  gather_node nodes[] = {node_of("com.microsoft", "GatherND"), node_of("", "GatherND")};
  gather_graph graph = {.name = "", .nodes = nodes, .node_count = 2}, empty = {.name = ""};
  const gather_function function = {.domain = "com.microsoft", .name = "GatherND", .graph = &empty};
  gather_graph_file file = {.dialect = "onnx", .graph = &graph};
  (void)state;
  for (int64_t functions = 0; functions < 2; functions++) {
    file.functions = &function;
    file.function_count = functions;
    gather_model *model = model_of(&file);
    assert_int_equal(gather_model_describe(model)->node_count, 2 - functions);
    gather_model_close(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_of_each_domain), cmocka_unit_test(others),
      cmocka_unit_test(places_that_are_optional), cmocka_unit_test(nodes_in_every_graph),
      cmocka_unit_test(calls_of_functions),       cmocka_unit_test(calls_that_are_no_gathers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
