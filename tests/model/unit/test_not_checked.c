/* SPDX-License-Identifier: MIT
 *
 * test_not_checked.c: nodes that take indices and that no check looks at.
 */
#include "support/graph_text.h"

enum { ONNX, IR };

static gather_model *model_of(bool openvino, const char *graph) {
  static graph_text t;
  gather_model *model;
  graph_text_read(&t, openvino, graph);
  assert_status(gather_model_from_graph(&t.file, &model, NULL), GATHER_OK);
  return model;
}

/* op: the only operator that is not checked, of one node; NULL: none. */
static const struct {
  int dialect;
  const char *graph, *op;
} CASES[] = {
    {ONNX, "_ = ScatterND()", "ScatterND"},
    {ONNX, "_ = ai.onnx.ml.ArrayFeatureExtractor()", "ArrayFeatureExtractor"},
    {ONNX, "_ = com.microsoft.EmbedLayerNormalization()", "EmbedLayerNormalization"},
    {ONNX, "_ = com.microsoft.CropAndResize()", "CropAndResize"},
    {ONNX, "_ = SequenceAt()", "SequenceAt"},
    {ONNX, "_ = ReverseSequence()", "ReverseSequence"},
    {IR, "_ = ReverseSequence/1()", "ReverseSequence"},
    {IR, "_ = EmbeddingBagPackedSum/3()", "EmbeddingBagPackedSum"},
    {IR, "_ = ROIAlign/9()", "RoiAlign"},
    {IR, "_ = scatterupdate/3()", "ScatterUpdate"},
    /* others */
    {ONNX, "_ = Gather()", NULL},
    {ONNX, "_ = GatherND()", NULL},
    {ONNX, "_ = com.microsoft.GatherND()", NULL},
    {IR, "_ = GatherND()", NULL},
    {IR, "_ = GatherTree/1()", NULL},
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

static void operators(void **state) {
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_model *model = model_of(CASES[i].dialect == IR, CASES[i].graph);
    const gather_model_info *info = gather_model_describe(model);
    const char *op = info->not_checked_count > 0 ? info->not_checked[0].op : NULL;
    if ((op == NULL) != (CASES[i].op == NULL)) fail_msg("%s: %s", CASES[i].graph, op ? op : "none");
    assert_int_equal(info->not_checked_count, op != NULL);
    if (op) assert_int_equal(info->not_checked[0].nodes, 1);
    if (op) assert_string_equal(op, CASES[i].op);
    gather_model_close(model);
  }
}

/* Counted in subgraphs and in functions; one list entry for each operator. */
static void nodes_in_every_graph(void **state) {
  gather_model *model =
      model_of(false, "_ = MaxUnpool(); _ = Loop() body={ _ = ScatterND(); _ = MaxUnpool() };fun mine.F { _ = MaxUnpool() }");
  const gather_model_info *info = gather_model_describe(model);
  assert_int_equal(info->not_checked_count, 2);
  assert_string_equal(info->not_checked[0].op, "MaxUnpool");
  assert_int_equal(info->not_checked[0].nodes, 3);
  assert_string_equal(info->not_checked[1].op, "ScatterND");
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators), cmocka_unit_test(nodes_in_every_graph),
                                     cmocka_unit_test(calls_that_are_no_gathers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
