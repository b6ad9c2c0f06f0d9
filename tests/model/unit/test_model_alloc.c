/* SPDX-License-Identifier: MIT
 *
 * test_model_alloc.c: models when memory cannot be had. Every allocation, and every piece that an arena is asked for, fails once
 * while a model is opened, checked and run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gather/model.h"
#define MESSAGE_BYTES 4096
#include "support/fail_each.h"
#include "support/message.h"
#include "support/open_file.h"

/* ---- an ONNX model, made of messages in messages */

static void add_text(message *m, unsigned field, const char *text) { add_block(m, field, text, strlen(text)); }
static void add_message(message *m, unsigned field, const message *inner) { add_block(m, field, inner->bytes, inner->size); }

/* "a b c" as one text each. */
static void add_words(message *m, unsigned field, const char *words) {
  for (size_t len; *words; words += len + (words[len] == ' ')) {
    len = strcspn(words, " ");
    add_block(m, field, words, len);
  }
}

static message node_of(const char *op, const char *domain, const char *inputs, const char *outputs) {
  message node = {{0}, 0};
  add_words(&node, 1, inputs);
  add_words(&node, 2, outputs);
  add_text(&node, 3, outputs);
  add_text(&node, 4, op);
  if (*domain) add_text(&node, 7, domain);
  return node;
}

static void add_node(message *graph, unsigned field, const char *op, const char *inputs, const char *outputs) {
  message node = node_of(op, "", inputs, outputs);
  add_message(graph, field, &node);
}

static void add_int(message *node, const char *name, int64_t value) {
  message attribute = {{0}, 0};
  add_text(&attribute, 1, name);
  add_number(&attribute, 3, (uint64_t)value);
  add_number(&attribute, 20, 2);
  add_message(node, 5, &attribute);
}

static void add_graph(message *node, const char *name, const message *graph) {
  message attribute = {{0}, 0};
  add_text(&attribute, 1, name);
  add_message(&attribute, 6, graph);
  add_number(&attribute, 20, 5);
  add_message(node, 5, &attribute);
}

/* A value of that type: of any number of lines with three columns, or of no shape. */
static void add_value(message *graph, unsigned field, const char *name, unsigned type, bool shaped) {
  message value = {{0}, 0}, kind = {{0}, 0}, tensor = {{0}, 0}, shape = {{0}, 0}, named = {{0}, 0}, three = {{0}, 0};
  add_text(&named, 2, "N");
  add_number(&three, 1, 3);
  add_message(&shape, 1, &named);
  add_message(&shape, 1, &three);
  add_number(&tensor, 1, type);
  if (shaped) add_message(&tensor, 2, &shape);
  add_message(&kind, 1, &tensor);
  add_text(&value, 1, name);
  add_message(&value, 2, &kind);
  add_message(graph, field, &value);
}

static void add_ids(message *graph, const char *name, int64_t last) {
  message tensor = {{0}, 0};
  add_number(&tensor, 1, 2);
  add_number(&tensor, 2, 7);
  add_number(&tensor, 7, 0);
  add_number(&tensor, 7, (uint64_t)last);
  add_text(&tensor, 8, name);
  add_message(graph, 5, &tensor);
}

static message branch_of(const char *inputs) {
  message graph = {{0}, 0};
  add_node(&graph, 1, "Gather", inputs, "in_branch");
  add_text(&graph, 2, "branch");
  add_value(&graph, 12, "in_branch", 1, false);
  return graph;
}

/* A function with a call in it, and a gather node. */
static message function_of(void) {
  message function = {{0}, 0}, opset = {{0}, 0};
  add_text(&function, 1, "F");
  add_text(&function, 4, "a");
  add_text(&function, 5, "b");
  add_node(&function, 7, "Shape", "a", "k");
  add_node(&function, 7, "Gather", "a k", "t");
  add_node(&function, 7, "Relu", "a", "b");
  add_number(&opset, 2, 18);
  add_message(&function, 9, &opset);
  add_text(&function, 10, "local");
  return function;
}

static message model_of(const message *graph, bool with_function) {
  message model = {{0}, 0}, opset = {{0}, 0}, local = {{0}, 0};
  add_number(&model, 1, 8);
  add_message(&model, 7, graph);
  add_number(&opset, 2, 18);
  add_message(&model, 8, &opset);
  add_text(&local, 1, "local");
  add_number(&local, 2, 1);
  add_message(&model, 8, &local);
  const message function = function_of();
  if (with_function) add_message(&model, 25, &function);
  return model;
}

/* Shape arithmetic, an If, a call, several outputs, and a bad index. */
static message big_model(void) {
  message graph = {{0}, 0}, branch = branch_of("x ids"), other = branch_of("y ids");
  add_node(&graph, 1, "Shape", "x", "s");
  add_node(&graph, 1, "Gather", "s ids", "picked");
  message concat = node_of("Concat", "", "picked ids", "both");
  add_int(&concat, "axis", 0);
  add_message(&graph, 1, &concat);
  add_node(&graph, 1, "Add", "both both", "twice");
  add_node(&graph, 1, "Split", "ids", "first second");
  add_node(&graph, 1, "ConstantOfShape", "ids", "zeros");
  add_node(&graph, 1, "Equal", "twice twice", "same");
  message call = node_of("F", "local", "x", "y"), choice = node_of("If", "", "c", "z");
  add_message(&graph, 1, &call);
  add_graph(&choice, "then_branch", &branch);
  add_graph(&choice, "else_branch", &other);
  add_message(&graph, 1, &choice);
  add_node(&graph, 1, "Gather", "y bad", "g");
  add_text(&graph, 2, "main");
  add_ids(&graph, "ids", 1);
  add_ids(&graph, "bad", 77);
  add_value(&graph, 11, "x", 1, true);
  add_value(&graph, 11, "c", 9, false);
  add_value(&graph, 12, "g", 1, false);
  return model_of(&graph, true);
}

static message small_model(void) {
  message graph = {{0}, 0};
  add_node(&graph, 1, "Shape", "x", "s");
  add_node(&graph, 1, "Gather", "s ids", "picked");
  add_node(&graph, 1, "Reshape", "picked two", "g");
  add_node(&graph, 1, "Gather", "x ids", "h");
  add_text(&graph, 2, "main");
  add_ids(&graph, "ids", 1);
  add_ids(&graph, "two", -1);
  add_value(&graph, 11, "x", 1, true);
  add_value(&graph, 12, "g", 7, false);
  add_value(&graph, 12, "h", 1, false);
  return model_of(&graph, false);
}

/* ---- an IR model on disk */

static const char IR[] =
    "<?xml version=\"1.0\"?><net name=\"m\" version=\"11\"><layers><layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\"><data "
    "shape=\"?,3\" element_type=\"f32\"/><output><port id=\"0\" precision=\"FP32\" "
    "names=\"x\"><dim>-1</dim><dim>3</dim></port></output></layer><layer id=\"1\" name=\"k\" type=\"Const\" version=\"opset1\"><data "
    "element_type=\"i64\" shape=\"2\" offset=\"0\" size=\"16\"/><output><port id=\"0\" "
    "precision=\"I64\"><dim>2</dim></port></output></layer><layer id=\"2\" name=\"a\" type=\"Const\" version=\"opset1\"><data "
    "element_type=\"i64\" shape=\"\" offset=\"16\" size=\"8\"/><output><port id=\"0\" precision=\"I64\"/></output></layer><layer id=\"3\" "
    "name=\"g\" type=\"Gather\" version=\"opset8\"><data batch_dims=\"0\"/><input><port id=\"0\" "
    "precision=\"FP32\"><dim>-1</dim><dim>3</dim></port><port id=\"1\" precision=\"I64\"><dim>2</dim></port><port id=\"2\" "
    "precision=\"I64\"/></input><output><port id=\"3\" precision=\"FP32\"><dim>-1</dim><dim>2</dim></port></output></layer><layer "
    "id=\"4\" name=\"r\" type=\"Result\" version=\"opset1\"><input><port id=\"0\" "
    "precision=\"FP32\"><dim>-1</dim><dim>2</dim></port></input></layer></layers><edges><edge from-layer=\"0\" from-port=\"0\" "
    "to-layer=\"3\" to-port=\"0\"/><edge from-layer=\"1\" from-port=\"0\" to-layer=\"3\" to-port=\"1\"/><edge from-layer=\"2\" "
    "from-port=\"0\" to-layer=\"3\" to-port=\"2\"/><edge from-layer=\"3\" from-port=\"3\" to-layer=\"4\" to-port=\"0\"/></edges></net>";

static char xml_path[64], bin_path[64];

static int make_files(void **state) {
  static const uint8_t constants[3 * 8] = {[8] = 2, [16] = 1}; /* 0, 2 and 1 in 8 bytes each, little-endian as every .bin */
  char folder[] = "/tmp/gather-XXXXXX";
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(xml_path, sizeof xml_path, "%s/m.xml", folder);
  (void)snprintf(bin_path, sizeof bin_path, "%s/m.bin", folder);
  put_content(xml_path, IR, sizeof IR - 1);
  put_content(bin_path, constants, sizeof constants);
  return 0;
}

static int remove_files(void **state) {
  (void)unlink(xml_path);
  (void)unlink(bin_path);
  *strrchr(xml_path, '/') = '\0';
  return rmdir(xml_path);
}

/* ---- what is done with them */

static const float lines[2][3] = {{0, 1, 2}, {3, 4, 5}};
static const int64_t lengths[2] = {2, 3};

static gather_model_input input_of(void) { return (gather_model_input){"x", tensor_of(GATHER_TYPE_FLOAT32, lines, 2, lengths)}; }

static gather_status check_and_run(const gather_model *model, bool whole, int64_t wanted_bad, gather_error *error) {
  const gather_model_input input = input_of();
  gather_check *check = NULL;
  gather_model_result *result = NULL;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  options.inputs = &input;
  options.input_count = 1;
  gather_status status = gather_model_check(model, &options, &check, error);
  if (status == GATHER_OK) assert_int_equal(gather_check_describe(check)->bad, wanted_bad);
  gather_check_destroy(check);
  if (status != GATHER_OK || !whole) return status;
  status = gather_model_run(model, &input, 1, NULL, &result, error);
  if (status == GATHER_OK) assert_non_null(gather_model_result_at(result, 0));
  gather_model_result_destroy(result);
  return status;
}

static gather_status use_bytes(const message *bytes, bool whole, int64_t wanted_bad, gather_error *error) {
  gather_file *file = NULL;
  gather_model *model = NULL;
  gather_status status = file_open(file_in(bytes->bytes, bytes->size, "model.onnx"), &file, error);
  if (status == GATHER_OK) status = gather_model_from_file(file, &model, error);
  if (status == GATHER_OK) status = check_and_run(model, whole, wanted_bad, error);
  gather_model_close(model);
  gather_file_close(file);
  return status;
}

/* One node with a value in between, which computes nothing; another whose indices are computed. */
static gather_status find_operands(const gather_model *model, gather_error *error) {
  const gather_model_input inner[] = {input_of(), {"y", tensor_of(GATHER_TYPE_FLOAT32, lines, 2, lengths)}};
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  gather_model_operands *operands = NULL;
  options.inputs = inner;
  options.input_count = 2;
  gather_status status = gather_model_operands_find(model, "g", &options, &operands, error);
  if (status == GATHER_OK) assert_int_equal(gather_model_operands_describe(operands)->node->bad, 1);
  gather_model_operands_destroy(operands);
  if (status != GATHER_OK) return status;
  status = gather_model_operands_find(model, "main/picked", NULL, &operands, error);
  if (status == GATHER_OK) assert_int_equal(gather_model_operands_describe(operands)->missing_count, 0);
  gather_model_operands_destroy(operands);
  return status;
}

static message big, small;

/* Bad: the node g, and the one of the function, with the values of its call. */
static gather_status use_big(const void *context, gather_error *error) { return use_bytes(context, false, 2, error); }
static gather_status use_small(const void *context, gather_error *error) { return use_bytes(context, true, 0, error); }

static gather_status use_ir(const void *context, gather_error *error) {
  (void)context;
  gather_model *model = NULL;
  const gather_file_source source = file_at(xml_path);
  gather_status status = gather_model_open(&source, &model, error);
  if (status == GATHER_OK) status = check_and_run(model, true, 0, error);
  gather_model_close(model);
  return status;
}

static gather_status use_operands(const void *context, gather_error *error) {
  (void)context;
  gather_file *file = NULL;
  gather_model *model = NULL;
  gather_status status = file_open(file_in(big.bytes, big.size, "model.onnx"), &file, error);
  if (status == GATHER_OK) status = gather_model_from_file(file, &model, error);
  if (status == GATHER_OK) status = find_operands(model, error);
  gather_model_close(model);
  gather_file_close(file);
  return status;
}

static void an_onnx_model_with_everything(void **state) {
  big = big_model();
  assert_true(fail_each(use_big, &big, GATHER_OK) > 200);
  assert_true(fail_each(use_operands, NULL, GATHER_OK) > 400);
}

static void an_onnx_model_that_runs(void **state) {
  small = small_model();
  assert_true(fail_each(use_small, &small, GATHER_OK) > 50);
}

static void an_ir_model_on_disk(void **state) { assert_true(fail_each(use_ir, NULL, GATHER_OK) > 50); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_onnx_model_with_everything), cmocka_unit_test(an_onnx_model_that_runs),
                                     cmocka_unit_test_setup_teardown(an_ir_model_on_disk, make_files, remove_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
