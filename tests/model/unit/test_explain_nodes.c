/* SPDX-License-Identifier: MIT
 *
 * test_explain_nodes.c: drawings of the nodes of models, and why there is none.
 */
#include <stdio.h>

#include "model/unit/explained.h"
#include "support/graph_text.h"
#include "support/tiny_model.h"

static tiny parts;
static gather_model *model;

static int open_model(void **state) {
  gather_error error;
  return tiny_open(&parts, &model, &error) == GATHER_OK ? 0 : -1;
}

static int close_model(void **state) {
  gather_model_close(model);
  return 0;
}

static gather_status explain_node(const char *name, const gather_explain_options *options, gather_model_operands **operands,
                                  gather_explain **made, gather_error *error) {
  *made = NULL;
  *error = dirty_error();
  assert_status(gather_model_operands_find(model, name, NULL, operands, error), GATHER_OK);
  return gather_explain_create_node(*operands, NULL, options, made, error);
}

static void a_node(void **state) {
  gather_model_operands *operands;
  gather_explain *made;
  gather_error error;
  gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
  options.model_name = "m\x1b.onnx";
  assert_status(explain_node("near", &options, &operands, &made, &error), GATHER_OK);
  assert_string_equal(gather_explain_facts_of(made)->node->name, "near");
  assert_drawn(made, "main/near of m\\x1b.onnx: data is table, idx is near_ids, out is b\n");
  gather_model_operands_destroy(operands);
  assert_status(explain_node("far", NULL, &operands, &made, &error), GATHER_OK);
  assert_int_equal(gather_explain_facts_of(made)->error->value, 7);
  char *text = text_of(made, NULL);
  assert_in(text, "of the model: ");
  assert_in(text, "\nWhat each runtime does with this index out of range:\n");
  assert_in(text, "\n  onnxruntime  ");
  gather_text_free(text);
  gather_explain_destroy(made);
  gather_model_operands_destroy(operands);
}

/* The advice as a program of its own would say it. */
static void say(void *context, const gather_advice *advice, char *text, size_t bytes) {
  (void)snprintf(text, bytes, "%s %d: %s in %s", (const char *)context, (int)advice->kind, advice->names[0], advice->node);
}

static void a_node_that_is_not_known(void **state) {
  gather_model_operands *operands;
  gather_explain *made;
  gather_error error;
  gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
  assert_status(explain_node("free", NULL, &operands, &made, &error), GATHER_USAGE);
  assert_error(&error, GATHER_USAGE);
  assert_null(made);
  assert_string_equal(error.message, "main/free cannot be drawn: the indices 'ids' are not known: give a tensor for 'ids'");
  gather_model_operands_destroy(operands);
  options.writer = say;
  options.context = (void *)(uintptr_t) "kind";
  assert_status(explain_node("na\x1bmed", &options, &operands, &made, &error), GATHER_USAGE);
  assert_string_equal(error.message,
                      "main/na\x1bmed cannot be drawn: the length 'N' in dimension 0 of the data is not known: kind 2: N in main/na\x1bmed"
                      "");
  gather_model_operands_destroy(operands);
}

/* Nodes of other models: what is above the drawing, or why there is none. */
static const struct {
  bool openvino;
  const char *graph, *node;
  gather_status status;
  const char *text, *picture; /* or words of the error */
} NODES[] = {
    {false,
     "const a uint4[2,16] = 1,2,3,4,5,6,7,8,1,1,1,1,1,1,1,1,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9; const s float32[2,1] = 1,2; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, [1], s) block_size=16",
     "g", GATHER_OK, "The cells show data as it is stored; the model decodes it with its scales.", "as it is stored"},
    {false,
     "const a uint8[2,8] = 1,2,3,4,5,6,7,8,1,1,1,1,1,1,1,1; const s float32[2,1] = 1,2; "
     "g: y = com.microsoft.GatherBlockQuantized/1(a, [1], s) block_size=16",
     "g", GATHER_OK, "as it is stored, a byte each; the model", "a byte each"},
    {false, "const a float32[2,2] gone; g: y = Gather(a, [1])", "g", GATHER_OK, "The data cannot be read: ", "the elements are gone"},
    {false, "const a float32[2,2] gone; const i int64[1] gone; g: y = Gather(a, i)", "g", GATHER_FILE_NOT_FOUND,
     "main/g cannot be drawn: the indices 'i' cannot be read: ", ""},
    {false, "in a float32[2,2]; g: y = Gather(a, [1])", "g", GATHER_OK, "The values of data are not known", "row-major order"},
    {false, "in a float32*; g: y = Gather(a, [1])", "g", GATHER_USAGE, "the shape of the data is not known: give a tensor for 'a'", ""},
    {false, "in a float32[?,N,N]; g: y = Gather(a, [1])", "g", GATHER_USAGE,
     "the length of the data in dimension 0 is not known: give a tensor for 'a'; "
     "the length 'N' in dimension 1 of the data is not known: give a length for 'N'",
     ""},
    {false, "in a float32[M,N]; g: y = Gather(a, [1])", "g", GATHER_USAGE, "the length 'N' in dimension 1", ""},
    {false, "g: y = Gather(float32[1,2], [1]) axis=3", "g", GATHER_AXIS_OUT_OF_RANGE, "main/g: axis 3 is outside", ""},
    {false, "g: y = Gather/0(float32[1,2], [1])", "g", GATHER_UNSUPPORTED, "main/g: ", ""},
    {false,
     "const c bool[] = 0; const a float32[2] = 1,2; const i int64[1] = 1; f: y = If(c) then_branch={ out t; g: t = Gather(a, i) } "
     "else_branch={ out u; h: u = Gather(a, i) }",
     "g", GATHER_OK, "In the model it is not executed: the condition 'c' of If 'f' is false", "not executed"},
    {true, "const a float32[2,2] = 1,2,3,4; in x int64[]; g: y = Gather(a, [1], x)", "g", GATHER_USAGE,
     "the axis is known only when the model runs", ""},
    {true, "const a float32[2,2] = 1,2,3,4; const x int64[] gone; g: y = Gather(a, [1], x)", "g", GATHER_FILE_NOT_FOUND,
     "the axis 'x' cannot be read: give a tensor for 'x'", ""},
    {true, "const a float32[2,2] = 1,2,3,4; in x int64[]; give x int64[] = 1; g: y = Gather(a, [1], x)", "g", GATHER_OK, "axis 1: across",
     "<svg"},
    /* operators that write: the gather that reads there, with its sides exchanged */
    {false, "in x float32[2,3]; in u float32[1,2]; const i int64[1,2] = 0,1; g: y = ScatterElements/18(x, i, u) axis=1", "g", GATHER_OK,
     "ScatterElements: out[i, idx[i, j]] = updates[i, j]", "of the updates, each in the colour of the place that it is written to"},
    {false, "in x float32[4,2]; const u float32[1,2] = 7,8; const i int64[1,1] = 3; g: y = ScatterND/18(x, i, u) reduction='add'", "g",
     GATHER_OK, "ScatterND: out[idx[i, 0], j] += updates[i, j]", "is combined with"},
    {true, "in x int32[4]; const u int32[2] = 7,8; const i int32[2] = 3,0; g: y = ScatterElementsUpdate/12(x, i, u, 0) reduction='max'",
     "g", GATHER_OK, "ScatterElementsUpdate: out[idx[i]] = max(out[idx[i]], updates[i])", "row-major order"},
    {false, "in x float32[2]; in u float32[1]; in i int64[1]; g: y = ScatterElements/18(x, i, u) reduction='foo'", "g", GATHER_UNSUPPORTED,
     "g: ScatterElements onnx-18 has no reduction 'foo'; it has 'none', 'add', 'mul', 'min', 'max'", ""},
    {true, "in x float32[4,2]; const i int32[2] = 0,1; g: y = EmbeddingBagOffsetsSum/3(x, i, [0])", "g", GATHER_UNSUPPORTED,
     "EmbeddingBagOffsetsSum cannot be drawn: each row of its output is a sum", ""},
    {false, "in x float32[2,4,1]; in u float32[2,1,1]; const i int64[2] = 0,1; g: y = TensorScatter/24(x, u, i)", "g", GATHER_UNSUPPORTED,
     "TensorScatter cannot be drawn: each index is where a run", ""},
    {true, "const s int32[2,1,2] = 1,2,3,4; const p int32[2,1,2] = 0,0,1,0; g: y = GatherTree/1(s, p, int32[2], int32 9)", "g",
     GATHER_UNSUPPORTED, "GatherTree cannot be drawn", ""},
    /* names: what is no UTF-8, turns the text, or is too long */
    {false,
     "const a\x80\xc0\x80\xe0\x80\x80\xf0\x80\x80\x80\xed\xa0\x80\xf4\x90\x80\x80\xf8z float32[2] = 1,2; "
     "const i int64[1] = 1;g: y = Gather(a\x80\xc0\x80\xe0\x80\x80\xf0\x80\x80\x80\xed\xa0\x80\xf4\x90\x80\x80\xf8z, i)",
     "g", GATHER_OK, "data is a", "data is a.......z, idx"},
    {false,
     "const a\xe2\x80\x8f\xe2\x80\xae\xe2\x81\xa0\xef\xbb\xbf\xef\xbf\xbe\xef\xbf\xbf\xc2\x80\x7f&\"z float32[2] = 1,2; "
     "const i int64[1] = 1;g: y = Gather(a\xe2\x80\x8f\xe2\x80\xae\xe2\x81\xa0\xef\xbb\xbf\xef\xbf\xbe\xef\xbf\xbf\xc2\x80\x7f&\"z, i)",
     "g", GATHER_OK, "data is a", "data is a........&amp;&quot;z, idx"},
    {false,
     "const "
     "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5"
     "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5xx float32[2] = 1,2; "
     "const a_name_of_more_than_forty_letters_that_is_written_whole int64[1] = 1; "
     "another_name_of_more_than_forty_letters_that_is_written: y = "
     "Gather(\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6"
     "\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5xx, "
     "a_name_of_more_than_forty_letters_that_is_written_whole)",
     NULL, GATHER_OK, "data is ...\xe6\x97\xa5", " ...</text>"},
};

static void other_nodes(void **state) {
  for (size_t i = 0; i < COUNT(NODES); i++) {
    static graph_text t;
    gather_model *other = NULL;
    gather_model_operands *operands = NULL;
    gather_explain *made = NULL;
    gather_error error = dirty_error();
    gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
    graph_text_read(&t, NODES[i].openvino, NODES[i].graph);
    options.inputs = t.given, options.input_count = t.given_count;
    assert_status(gather_model_from_graph(&t.file, &other, &error), GATHER_OK);
    if (gather_model_operands_find(other, NODES[i].node, &options, &operands, &error) != GATHER_OK)
      fail_msg("%s: %s", NODES[i].graph, error.message);
    const gather_status status = gather_explain_create_node(operands, NULL, NULL, &made, &error);
    if (status != NODES[i].status) fail_msg("%s: %s", NODES[i].graph, status ? error.message : "drawn");
    if (status == GATHER_OK) {
      assert_pictured(made, NODES[i].text, NODES[i].picture);
    } else {
      assert_in(error.message, NODES[i].text);
      assert_status(gather_explain_create_node(operands, NULL, NULL, &made, NULL), status);
    }
    gather_model_operands_destroy(operands);
    gather_model_close(other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_node), cmocka_unit_test(a_node_that_is_not_known), cmocka_unit_test(other_nodes)};
  return cmocka_run_group_tests(tests, open_model, close_model);
}
