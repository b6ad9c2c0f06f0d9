/* SPDX-License-Identifier: MIT
 *
 * test_explain.c: drawings of gathers by explain.h: text and facts to literal expectations, what they promise of memory, policies,
 * types and locales, and a model's nodes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gather/explain.h"
#include "support/tiny_model.h"

/* ---- another locale: the linker puts this in the place of snprintf */

int __wrap_snprintf(char *text, size_t bytes, const char *format, ...);
static const char *point = ".";

int __wrap_snprintf(char *text, size_t bytes, const char *format, ...) {
  char written[64];
  va_list list;
  va_start(list, format);
  if (strcmp(format, "%.*g") != 0 || strcmp(point, ".") == 0) {
    int length = vsnprintf(text, bytes, format, list);
    va_end(list);
    return length;
  }
  (void)vsnprintf(written, sizeof written, format, list);
  va_end(list);
  char *dot = strchr(written, '.');
  if (dot) *dot = '\0';
  (void)strncpy(text, written, bytes);
  if (dot) (void)strcat(strcat(text, point), dot + 1);
  return (int)strlen(text);
}

/* ---- making and drawing */

static const double TABLE[3][2] = {{0, 1}, {2, 3}, {4, 5.5}};

static gather_explain *explain(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                               const gather_options *gather, const gather_explain_options *options) {
  gather_explain *made = NULL;
  gather_error error = dirty_error();
  if (gather_explain_create(op, data, indices, gather, options, &made, &error) != GATHER_OK)
    fail_msg("%s", error.message);
  return made;
}

static gather_explain *explain_table(const int64_t *ids, const int64_t *count, const gather_options *gather) {
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT64, TABLE, 2, DIMS(3, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, count);
  return explain(op_of("Gather", "onnx-13"), &data, &indices, gather, NULL);
}

static char *text_of(const gather_explain *made, const gather_explain_text_options *options) {
  char *text = NULL;
  size_t bytes = 0;
  gather_error error = dirty_error();
  if (gather_explain_text(made, options, &text, &bytes, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(strlen(text), bytes);
  assert_int_equal(text[bytes - 1], '\n');
  return text;
}

static void assert_in(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

/* Draws, frees the drawing, and holds its text to a part of it. */
static void assert_drawn(gather_explain *made, const char *part) {
  char *text = text_of(made, NULL);
  assert_in(text, part);
  gather_text_free(text);
  gather_explain_destroy(made);
}

/* ---- what is drawn */

static void a_drawing(void **state) {
  static const int64_t ids[2] = {2, -3};
  static const char WANT[] =
      "Gather: out[i, j] = data[idx[i], j]\n"
      "onnx-13: an index below 0 counts from the end, one out of range is an error\n"
      "\n"
      "data  float64 [3, 2]  axis 0: down\n"
      "       0    1\n"
      "  +-----------+\n"
      "0 |    0    1 |\n"
      "1 |    2    3 |\n"
      "2 |    4  5.5 |\n"
      "  +-----------+\n"
      "\n"
      "idx  int64 [2]\n"
      "          0        1\n"
      " +-------------------+\n"
      " |        2  -3 -> 0 |\n"
      " +-------------------+\n"
      "\n"
      "out  float64 [2, 2]\n"
      "       0    1\n"
      "  +-----------+\n"
      "0 |    4  5.5 | <- data[2, :]\n"
      "1 |    0    1 | <- data[0, :]\n"
      "  +-----------+\n";
  gather_explain_text_options options = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
  gather_explain *made = explain_table(ids, DIMS(2), NULL);
  (void)state;
  options.ascii = true;
  char *text = text_of(made, &options);
  assert_string_equal(text, WANT);
  gather_text_free(text);
  options.colour = true;
  text = text_of(made, &options);
  assert_in(text, "    \033[34m4\033[0m  \033[34m5.5\033[0m |");
  gather_text_free(text);
  gather_explain_destroy(made);
}

static void a_picture(void **state) {
  static const int64_t ids[2] = {2, 9};
  gather_explain *made = explain_table(ids, DIMS(2), NULL);
  char *text = NULL;
  size_t bytes = 0;
  (void)state;
  assert_status(gather_explain_svg(made, &text, &bytes, NULL), GATHER_OK);
  assert_int_equal(strlen(text), bytes);
  assert_memory_equal(text, "<svg ", 5);
  assert_string_equal(text + bytes - 7, "</svg>\n");
  assert_in(text, "class=\"c bad\"");
  gather_text_free(text);
  assert_status(gather_explain_svg(made, &text, NULL, NULL), GATHER_OK);
  gather_text_free(text);
  gather_text_free(NULL);
  gather_explain_destroy(made);
}

static void facts(void **state) {
  static const int64_t ids[3] = {2, 9, -1};
  gather_explain *made = explain_table(ids, DIMS(3), NULL);
  const gather_explain_facts *found = gather_explain_facts_of(made);
  gather_explain_cell cell;
  (void)state;
  assert_ptr_equal(found->op, op_of("Gather", "onnx-13"));
  assert_null(found->node);
  assert_string_equal(found->formula, "out[i, j] = data[idx[i], j]");
  assert_int_equal(found->output_rank, 2);
  assert_int_equal(found->output_shape[0], 3);
  assert_int_equal(found->on_bad, GATHER_ON_BAD_ERROR);
  assert_true(found->negative && found->complete && !found->made_up);
  assert_int_equal(found->cell_count, 6);
  assert_int_equal(found->error->status, GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(found->error->position[0], 1);
  for (int64_t i = 0; i < 6; i++) {
    assert_true(gather_explain_cell_at(made, i, &cell));
    assert_int_equal(cell.out[0] * 2 + cell.out[1], i);
    assert_int_equal(cell.value, ids[i / 2]);
    assert_int_equal(cell.bad, i / 2 == 1);
    assert_int_equal(cell.has_source, i / 2 != 1);
    assert_int_equal(cell.row, i / 2 == 1 ? -1 : 2);
    if (cell.has_source) assert_int_equal(cell.data[0] * 2 + cell.data[1], 4 + i % 2);
  }
  assert_false(gather_explain_cell_at(made, 6, &cell));
  assert_false(gather_explain_cell_at(made, -1, &cell));
  gather_explain_destroy(made);
  gather_explain_destroy(NULL);
}

/* The facts that only a shape is known, and that not all cells are shown. */
static void made_up_data(void **state) {
  static const uint8_t ids[2] = {200, 255};
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(300, 500));
  gather_tensor indices = tensor_of(GATHER_TYPE_UINT8, ids, 1, DIMS(2));
  gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
  (void)state;
  options.data_type = "half \x1b of it";
  gather_explain *made = explain(op_of("Gather", "onnx-13"), &data, &indices, NULL, &options);
  assert_true(gather_explain_facts_of(made)->made_up);
  assert_false(gather_explain_facts_of(made)->complete);
  char *text = text_of(made, NULL);
  assert_in(text, "data  half . of it [300, 500]");
  assert_in(text, "100000");
  gather_text_free(text);
  gather_explain_destroy(made);
}

static int widest(const char *text) {
  int most = 0, columns = 0;
  for (text = strstr(text, "\n\n"); *text; text++) {
    columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xc0) != 0x80);
    if (columns > most) most = columns;
  }
  return most;
}

static void widths(void **state) {
  static const int64_t ids[2] = {9999, 5};
  static const int32_t WIDTHS[] = {1, 60, 80, 120};
  int before = 0;
  gather_tensor data = tensor_of(GATHER_TYPE_INT64, NULL, 2, DIMS(10000, 10000));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(2));
  gather_explain *made = explain(op_of("Gather", "onnx-13"), &data, &indices, NULL, NULL);
  (void)state;
  for (size_t i = 0; i < COUNT(WIDTHS); i++) {
    gather_explain_text_options options = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
    options.width = WIDTHS[i];
    char *text = text_of(made, &options);
    assert_true(widest(text) >= before && widest(text) > 20);
    if (i > 0) assert_true(widest(text) <= WIDTHS[i]);
    before = widest(text);
    gather_text_free(text);
  }
  gather_explain_destroy(made);
}

/* ---- policies and values */

static gather_explain *filled(gather_type type, const void *table, const void *fill, uint32_t flags,
                              const gather_explain_options *options) {
  static const int64_t ids[2] = {0, 9};
  gather_tensor data = tensor_of(type, table, 1, DIMS(2)), indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(2));
  gather_options gather = GATHER_OPTIONS_INIT;
  gather.on_bad = GATHER_ON_BAD_FILL;
  gather.fill = fill;
  data.flags = flags;
  return explain(op_of("Gather", "onnx-13"), &data, &indices, &gather, options);
}

/* The fill value is shown as a cell with that value, unless it is told how it was written. */
static void fill_values(void **state) {
  static const double reals[3] = {1, 2, -0.25};
  static const uint8_t nibbles[1] = {0x21}, minus_two[1] = {0x0e}, bit[1] = {1}, bits[1] = {0};
  static const uint16_t halves[3] = {0x3c00, 0x4000, 0xc100};
  static const gather_string texts[3] = {{"a", 1}, {"b", 1}, {"fill", 4}};
  gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
  (void)state;
  assert_drawn(filled(GATHER_TYPE_FLOAT64, reals, &reals[2], 0, NULL), "gives -0.25\n");
  assert_drawn(filled(GATHER_TYPE_INT4, nibbles, minus_two, 0, NULL), "gives -2\n");
  assert_drawn(filled(GATHER_TYPE_UINT1, bits, bit, 0, NULL), "gives 1\n");
  assert_drawn(filled(GATHER_TYPE_FLOAT16, halves, &halves[2], 0, NULL), "gives -2.5\n");
  assert_drawn(filled(GATHER_TYPE_STRING, texts, &texts[2], 0, NULL), "gives \"fill\"\n");
  static const uint8_t swapped_two[8] = {0, 0, 0, 0, 0, 0, 0, 2}, native_two[8] = {2};
  static const int64_t numbers[2] = {0, 0};
  const uint16_t probe = 1;
  bool little = *(const unsigned char *)&probe == 1;
  assert_drawn(filled(GATHER_TYPE_INT64, numbers, little ? swapped_two : native_two, GATHER_TENSOR_BYTE_SWAPPED, NULL),
               "gives 2\n");
  options.fill_text = "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5";
  assert_drawn(filled(GATHER_TYPE_FLOAT64, reals, &reals[2], 0, &options), /* six of seven letters */
               "  \xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5 ");
  options.fill_text = "a quarter\x1b";
  assert_drawn(filled(GATHER_TYPE_FLOAT64, reals, &reals[2], 0, &options), "gives a quarter\\x1b\n");
}

static void a_promise_is_shown_as_one(void **state) {
  static const int64_t ids[2] = {1, 9};
  gather_options gather = GATHER_OPTIONS_INIT;
  (void)state;
  gather.on_bad = GATHER_ON_BAD_PROMISE;
  gather_explain *made = explain_table(ids, DIMS(2), &gather);
  assert_int_equal(gather_explain_facts_of(made)->on_bad, GATHER_ON_BAD_CLAMP);
  assert_null(gather_explain_facts_of(made)->error);
  assert_drawn(made, "is not checked");
}

/* "%g" writes the point of the program's locale; a drawing has a point in each. */
static void a_point_in_every_locale(void **state) {
  static const char *const POINTS[] = {".", ",", "\xd9\xab"};
  static const int64_t ids[1] = {2};
  (void)state;
  for (size_t i = 0; i < COUNT(POINTS); i++) {
    point = POINTS[i];
    gather_explain *made = explain_table(ids, DIMS(1), NULL);
    char *text = text_of(made, NULL);
    point = ".";
    assert_in(text, "2 │    4  5.5 │");
    gather_text_free(text);
    gather_explain_destroy(made);
  }
}

/* ---- memory and mistakes */

static void shapes_and_texts_are_copied(void **state) {
  int64_t shape[2] = {3, 2}, strides[2] = {16, 8}, count[1] = {2}, step[1] = {8}, ids[2] = {2, 0};
  char type[] = "real";
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT64, TABLE, 2, shape);
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, count);
  gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
  (void)state;
  data.strides = strides;
  indices.strides = step;
  options.data_type = type;
  gather_explain *made = explain(op_of("Gather", "onnx-13"), &data, &indices, NULL, &options);
  shape[0] = shape[1] = strides[0] = strides[1] = count[0] = step[0] = INT64_MAX;
  memset(type, 'x', sizeof type);
  memset(&options, 0xFF, sizeof options);
  assert_drawn(made, "data  real [3, 2]");
}

static void what_is_refused(void **state) {
  static const int64_t ids[1] = {0};
  static const float real = 0;
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT64, TABLE, 2, DIMS(3, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(1));
  gather_tensor floats = tensor_of(GATHER_TYPE_FLOAT32, &real, 0, NULL), broken = data;
  gather_explain_text_options narrow = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_options axis = options_of(7, 0);
  gather_explain *made = NULL;
  gather_error error = dirty_error();
  char *text = NULL;
  (void)state;
  broken.rank = 99;
  assert_status(gather_explain_create(op, &data, &indices, &axis, NULL, &made, &error), GATHER_AXIS_OUT_OF_RANGE);
  assert_error(&error, GATHER_AXIS_OUT_OF_RANGE);
  assert_null(made);
  assert_status(gather_explain_create(op, &data, &floats, NULL, NULL, &made, NULL), GATHER_TYPE_UNSUPPORTED);
  assert_status(gather_explain_create(op, &broken, &indices, NULL, NULL, &made, NULL), GATHER_UNSUPPORTED);
  assert_status(gather_explain_create(NULL, &data, &indices, NULL, NULL, &made, &error), GATHER_USAGE);
  assert_status(gather_explain_create(op, &data, &indices, NULL, NULL, NULL, &error), GATHER_USAGE);
  assert_status(gather_explain_create_node(NULL, NULL, NULL, &made, &error), GATHER_USAGE);
  made = explain(op, &data, &indices, NULL, NULL);
  narrow.width = 0;
  assert_status(gather_explain_text(made, &narrow, &text, NULL, &error), GATHER_USAGE);
  assert_error(&error, GATHER_USAGE);
  assert_status(gather_explain_text(NULL, NULL, &text, NULL, &error), GATHER_USAGE);
  assert_status(gather_explain_svg(made, NULL, NULL, &error), GATHER_USAGE);
  gather_explain_destroy(made);
}

/* ---- nodes of a model */

static tiny parts;
static gather_model *model;

static int open_model(void **state) {
  gather_error error;
  (void)state;
  return tiny_open(&parts, &model, &error) == GATHER_OK ? 0 : -1;
}

static int close_model(void **state) {
  (void)state;
  gather_model_close(model);
  return 0;
}

static gather_status explain_node(const char *name, const gather_explain_options *options,
                                  gather_model_operands **operands, gather_explain **made, gather_error *error) {
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
  (void)state;
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
  (void)snprintf(text, bytes, "%s %d: %s in %s", (const char *)context, (int)advice->kind, advice->names[0],
                 advice->node);
}

static void a_node_that_is_not_known(void **state) {
  gather_model_operands *operands;
  gather_explain *made;
  gather_error error;
  gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
  (void)state;
  assert_status(explain_node("free", NULL, &operands, &made, &error), GATHER_USAGE);
  assert_error(&error, GATHER_USAGE);
  assert_null(made);
  assert_string_equal(error.message,
                      "main/free cannot be drawn: the indices 'ids' are not known: give a tensor for 'ids'");
  gather_model_operands_destroy(operands);
  options.writer = say;
  options.context = (void *)(uintptr_t) "kind";
  assert_status(explain_node("na\x1bmed", &options, &operands, &made, &error), GATHER_USAGE);
  assert_string_equal(error.message,
                      "main/na\x1bmed cannot be drawn: the length 'N' in dimension 0 of the data is not known: "
                      "kind 2: N in main/na\x1bmed");
  gather_model_operands_destroy(operands);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drawing),
      cmocka_unit_test(a_picture),
      cmocka_unit_test(facts),
      cmocka_unit_test(made_up_data),
      cmocka_unit_test(widths),
      cmocka_unit_test(fill_values),
      cmocka_unit_test(a_promise_is_shown_as_one),
      cmocka_unit_test(a_point_in_every_locale),
      cmocka_unit_test(shapes_and_texts_are_copied),
      cmocka_unit_test(what_is_refused),
      cmocka_unit_test(a_node),
      cmocka_unit_test(a_node_that_is_not_known),
  };
  return cmocka_run_group_tests(tests, open_model, close_model);
}
