/* SPDX-License-Identifier: MIT
 *
 * test_explain.c: drawings of gathers by explain.h: text and facts to literal expectations, what they promise of memory, policies,
 * types and locales.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gather/explain.h"
#include "model/unit/explained.h"
#include "support/wrapped.h"

/* ---- another locale: the linker puts this in the place of snprintf */

static const char *point = ".";

WRAPPED(int, snprintf, (char *text, size_t bytes, const char *format, ...)) {
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

/* ---- making */

static const double TABLE[3][2] = {{0, 1}, {2, 3}, {4, 5.5}};

static gather_explain *explain_table(const int64_t *ids, const int64_t *count, const gather_options *gather) {
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT64, TABLE, 2, DIMS(3, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, count);
  return explain(op_of("Gather", "onnx-13"), &data, &indices, gather, NULL);
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
  assert_drawn(filled(GATHER_TYPE_FLOAT64, reals, &reals[2], 0, NULL), "gives -0.25\n");
  assert_drawn(filled(GATHER_TYPE_INT4, nibbles, minus_two, 0, NULL), "gives -2\n");
  assert_drawn(filled(GATHER_TYPE_UINT1, bits, bit, 0, NULL), "gives 1\n");
  assert_drawn(filled(GATHER_TYPE_FLOAT16, halves, &halves[2], 0, NULL), "gives -2.5\n");
  assert_drawn(filled(GATHER_TYPE_STRING, texts, &texts[2], 0, NULL), "gives \"fill\"\n");
  static const uint8_t swapped_two[8] = {0, 0, 0, 0, 0, 0, 0, 2}, native_two[8] = {2};
  static const int64_t numbers[2] = {0, 0};
  const uint16_t probe = 1;
  bool little = *(const unsigned char *)&probe == 1;
  assert_drawn(filled(GATHER_TYPE_INT64, numbers, little ? swapped_two : native_two, GATHER_TENSOR_BYTE_SWAPPED, NULL), "gives 2\n");
  options.fill_text = "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5";
  assert_drawn(filled(GATHER_TYPE_FLOAT64, reals, &reals[2], 0, &options), /* six of seven letters */
               "  \xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5 ");
  options.fill_text = "a quarter\x1b";
  assert_drawn(filled(GATHER_TYPE_FLOAT64, reals, &reals[2], 0, &options), "gives a quarter\\x1b\n");
}

/* Two elements of each kind, and the first one as the fill value of an index out of range. */
typedef struct {
  gather_type type;
  const void *elements;
  int64_t item_bytes;
  uint32_t flags;
  const char *first, *second; /* as cells */
} value_case;

/* The first row of cells of the data, with one space between them. */
static void data_row(const char *text, char *row, size_t bytes) {
  size_t used = 0;
  const char *at = strstr(text, "\ndata");
  while (at && *at != '|') at++;
  for (at = at ? at + 1 : ""; *at && *at != '|' && used + 1 < bytes; at++)
    if (*at != ' ' || (used > 0 && row[used - 1] != ' ')) row[used++] = *at;
  row[used] = 0;
}

static void values_of_every_type(void **state) {
  static const int16_t shorts[2] = {-300, 7}, turned[2] = {INT16_C(0x2c01), 0};
  static const int32_t ints[2] = {-70000, 7};
  static const uint64_t wide[2] = {UINT64_MAX, 7};
  static const uint8_t bools[2] = {1, 0}, bytes[2] = {0xf9, 1}, bits[1] = {0x80}, threes[3] = {0x40, 0, 0x80}, sixes[3] = {0x50, 0, 0xc0},
                       twos[1] = {0x0e}, nibbles[1] = {0x7e}, exponents[2] = {127, 128},
                       opaque[12] = {1, 2, 3, 0xab, 5, 6, 7, 8, 9, 10, 11, 12};
  static const uint16_t halves[2] = {0x3c00, 0x7e00}, brains[2] = {0xbf80, 0x7f80};
  static const float reals[2] = {1.5f, -2}, complexes[4] = {1, -2, 0.5f, 3};
  static const double doubles[4] = {1, 2, -3, -4};
  static const gather_string texts[2] = {{"a\x01long text", 11}, {"ten letter", 10}};
  unsigned char swapped[16];
  for (int i = 0; i < 16; i++) swapped[i] = ((const unsigned char *)complexes)[i / 4 * 4 + 3 - i % 4];
  const value_case CASES[] = {
      {GATHER_TYPE_BOOL, bools, 0, 0, "true", "false"},
      {GATHER_TYPE_INT8, bytes, 0, 0, "-7", "1"},
      {GATHER_TYPE_UINT8, bytes, 0, 0, "249", "1"},
      {GATHER_TYPE_INT16, shorts, 0, 0, "-300", "7"},
      {GATHER_TYPE_INT16, turned, 0, GATHER_TENSOR_BYTE_SWAPPED, "300", "0"},
      {GATHER_TYPE_INT32, ints, 0, 0, "-70000", "7"},
      {GATHER_TYPE_UINT64, wide, 0, 0, "18446744073709551615", "7"},
      {GATHER_TYPE_FLOAT16, halves, 0, 0, "1", "nan"},
      {GATHER_TYPE_BFLOAT16, brains, 0, 0, "-1", "inf"},
      {GATHER_TYPE_FLOAT32, reals, 0, 0, "1.5", "-2"},
      {GATHER_TYPE_FLOAT8_E8M0FNU, exponents, 0, 0, "1", "2"},
      {GATHER_TYPE_COMPLEX64, complexes, 0, 0, "1-2j", "0.5+3j"},
      {GATHER_TYPE_COMPLEX64, swapped, 0, GATHER_TENSOR_BYTE_SWAPPED, "1-2j", "0.5+3j"},
      {GATHER_TYPE_COMPLEX128, doubles, 0, 0, "1+2j", "-3-4j"},
      {GATHER_TYPE_STRING, texts, 0, 0, "\"a.long t..\"", "\"ten letter\""},
      {GATHER_TYPE_UINT1, bits, 0, 0, "1", "0"},
      {GATHER_TYPE_UINT2, twos, 0, 0, "2", "3"},
      {GATHER_TYPE_INT2, twos, 0, 0, "-2", "-1"},
      {GATHER_TYPE_UINT3, threes, 0, 0, "5", "0"},
      {GATHER_TYPE_UINT6, sixes, 0, 0, "53", "0"},
      {GATHER_TYPE_INT4, nibbles, 0, 0, "-2", "7"},
      {GATHER_TYPE_FLOAT4_E2M1FN, nibbles, 0, 0, "-4", "6"},
      {GATHER_TYPE_NF4, nibbles, 0, 0, "0.723", "0"},
      {GATHER_TYPE_OPAQUE, opaque, 3, 0, "0x010203", "0xab0506"},
      {GATHER_TYPE_OPAQUE, opaque, 6, 0, "0x010203ab..", "0x0708090a.."},
  };
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const value_case *c = &CASES[i];
    static const int64_t ids[3] = {0, 1, 9};
    gather_tensor data = tensor_of(c->type, c->elements, 1, DIMS(2));
    const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(3));
    gather_options gather = GATHER_OPTIONS_INIT;
    gather_explain_text_options drawing = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
    char row[200], wanted[200];
    data.item_bytes = c->item_bytes;
    data.flags = c->flags;
    gather.on_bad = GATHER_ON_BAD_FILL;
    gather.fill = c->elements;
    const gather_type_info *type = gather_type_get(c->type);
    if (type->bits < 8 && type->packing != GATHER_PACKING_BYTES) {
      /* A fill value is one element from the lowest bit on. */
      static uint8_t one;
      one = (uint8_t)(strtol(c->first, NULL, 10) & ((1 << type->bits) - 1));
      if (type->kind == GATHER_KIND_FLOAT) one = 0xe;
      gather.fill = &one;
    }
    gather_explain *made = explain(op_of("Gather", "onnx-13"), &data, &indices, &gather, NULL);
    drawing.ascii = true;
    char *text = text_of(made, &drawing);
    (void)snprintf(wanted, sizeof wanted, "one out of range gives %s\n", c->first);
    assert_in(text, wanted);
    (void)snprintf(wanted, sizeof wanted, "%s %s ", c->first, c->second);
    data_row(text, row, sizeof row);
    assert_string_equal(row, wanted);
    gather_text_free(text);
    gather_explain_destroy(made);
  }
}

/* ---- where cells come from on axes of any length, by each policy */

typedef struct {
  gather_type type;
  uint64_t index; /* its bits */
  int64_t len;    /* of the axis */
  gather_on_bad on_bad;
  int64_t row; /* -1: none */
  bool bad;
} origin_case;

static void rows_of_far_indices(void **state) {
  static const int64_t LONG = INT64_C(1) << 30;
  static const origin_case CASES[] = {
      {GATHER_TYPE_INT64, 5, LONG, GATHER_ON_BAD_CLAMP, 5, false},
      {GATHER_TYPE_INT64, (uint64_t)-1, LONG, GATHER_ON_BAD_CLAMP, LONG - 1, false},
      {GATHER_TYPE_INT64, LONG + 3, LONG, GATHER_ON_BAD_CLAMP, LONG - 1, true},
      {GATHER_TYPE_INT64, (uint64_t)(-LONG - 3), LONG, GATHER_ON_BAD_CLAMP, 0, true},
      {GATHER_TYPE_INT64, LONG + 3, LONG, GATHER_ON_BAD_WRAP, 3, true},
      {GATHER_TYPE_INT64, (uint64_t)(-LONG - 3), LONG, GATHER_ON_BAD_WRAP, LONG - 3, true},
      {GATHER_TYPE_UINT64, UINT64_MAX, LONG, GATHER_ON_BAD_CLAMP, LONG - 1, true},
      {GATHER_TYPE_UINT64, UINT64_MAX, LONG, GATHER_ON_BAD_WRAP, LONG - 1, true},
      {GATHER_TYPE_UINT64, UINT64_MAX - 1, 7, GATHER_ON_BAD_WRAP, 0, true},
      {GATHER_TYPE_UINT64, UINT64_MAX, 7, GATHER_ON_BAD_CLAMP, 6, true},
      {GATHER_TYPE_INT64, LONG + 3, LONG, GATHER_ON_BAD_ERROR, -1, true},
      {GATHER_TYPE_INT64, LONG + 3, LONG, GATHER_ON_BAD_ZERO, -1, true},
      {GATHER_TYPE_INT64, 9, 7, GATHER_ON_BAD_ERROR, -1, true},
  };
  for (size_t i = 0; i < COUNT(CASES); i++)
    for (int swapped = 0; swapped < 2; swapped++) {
      const origin_case *c = &CASES[i];
      unsigned char index[8], turned[8];
      memcpy(index, &c->index, sizeof index);
      for (int k = 0; k < 8; k++) turned[k] = index[7 - k];
      gather_tensor data = tensor_of(GATHER_TYPE_INT8, NULL, 1, &c->len); /* of 1 GiB: also where pointers are narrow */
      gather_tensor indices = tensor_of(c->type, swapped ? turned : index, 1, DIMS(1));
      gather_options gather = GATHER_OPTIONS_INIT;
      gather_explain_cell cell;
      if (swapped) indices.flags = GATHER_TENSOR_BYTE_SWAPPED;
      gather.on_bad = c->on_bad;
      gather_explain *made = explain(op_of("Gather", "onnx-13"), &data, &indices, &gather, NULL);
      assert_true(gather_explain_cell_at(made, 0, &cell));
      assert_int_equal(cell.row, c->row);
      assert_int_equal(cell.bad, c->bad);
      assert_int_equal(cell.value, (int64_t)c->index);
      gather_explain_destroy(made);
    }
}

/* ---- pictures of all forms */

static void shapes_of_pictures(void **state) {
  static const int64_t zeros[64] = {0};
  static const struct {
    const char *op, *rules;
    int32_t data_rank, indices_rank;
    int64_t data[12], indices[12];
    int64_t axis, batch;
    const char *text, *picture;
  } CASES[] = {
      {"Gather", "onnx-13", 2, 1, {3, 4}, {2}, 0, 0, "\xe2\x86\x90 data[0, :]", "path class=\"r c"},
      {"Gather", "onnx-13", 2, 1, {3, 4}, {2}, 1, 0, "axis 1: across", "path class=\"r c"},
      {"Gather", "onnx-13", 2, 1, {30, 400}, {20}, 1, 0, "axis 1: across", "&#8943;"},
      {"Gather", "onnx-13", 2, 1, {300, 4}, {20}, 0, 0, "axis 0: down", "&#8942;"},
      {"Gather", "onnx-13", 1, 0, {3}, {0}, 0, 0, "out  float32 []", "path class=\"r c"},
      {"Gather", "onnx-13", 1, 1, {300}, {4}, 0, 0, "axis 0: across", "path class=\"r c"},
      {"Gather", "onnx-13", 1, 2, {3}, {2, 2}, 0, 0, "idx[i, j]", "<svg"},
      {"Gather", "onnx-13", 3, 1, {2, 3, 4}, {2}, 0, 0, "over the slices", "out[0, :, :]"},
      {"Gather", "onnx-13", 4, 1, {2, 2, 3, 4}, {2}, 0, 0, "over the slices", "out[0, 0, :, :]"},
      {"Gather", "onnx-13", 2, 1, {3, 4}, {0}, 0, 0, "out  float32 [0, 4]", "(no cells)"},
      {"Gather", "onnx-13", 3, 1, {9, 9, 9}, {60}, 0, 0, "and 5", "and 5"},
      {"Gather", "onnx-13", 12, 1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1}, 0, 0, "s, i10, i11]", "i11"},
      {"Gather", "openvino-8", 6, 6, {1, 1, 1, 1, 1, 2}, {1, 1, 1, 1, 1, 2}, 5, 5, "batch_dims 5: idx[i, j, k, l, ...]", "batch_dims 5"},
      {"GatherElements", "onnx-13", 2, 2, {3, 4}, {2, 4}, 0, 0, "axis 0: down", "<svg"},
      {"GatherElements", "onnx-13", 2, 2, {3, 4}, {3, 2}, 1, 0, "axis 1: across", "<svg"},
      {"GatherND", "onnx-13", 2, 2, {3, 4}, {5, 2}, 0, 0, "axis 1: across", "path class=\"r c"},
      {"GatherND", "onnx-13", 2, 2, {3, 4}, {5, 1}, 0, 0, "axis 0: down", "<svg"},
      {"GatherND", "openvino-5", 3, 3, {2, 2, 3}, {2, 2, 1}, 0, 2, "in out they are one dimension", "batch_dims 2"},
  };
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const gather_options gather = options_of(CASES[i].axis, CASES[i].batch);
    gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, NULL, CASES[i].data_rank, CASES[i].data);
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, zeros, CASES[i].indices_rank, CASES[i].indices);
    assert_pictured(explain(op_of(CASES[i].op, CASES[i].rules), &data, &indices, &gather, NULL), CASES[i].text, CASES[i].picture);
  }
}

static void a_promise_is_shown_as_one(void **state) {
  static const int64_t ids[2] = {1, 9};
  gather_options gather = GATHER_OPTIONS_INIT;
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_drawing),
                                     cmocka_unit_test(a_picture),
                                     cmocka_unit_test(facts),
                                     cmocka_unit_test(made_up_data),
                                     cmocka_unit_test(widths),
                                     cmocka_unit_test(fill_values),
                                     cmocka_unit_test(values_of_every_type),
                                     cmocka_unit_test(rows_of_far_indices),
                                     cmocka_unit_test(shapes_of_pictures),
                                     cmocka_unit_test(a_promise_is_shown_as_one),
                                     cmocka_unit_test(a_point_in_every_locale),
                                     cmocka_unit_test(shapes_and_texts_are_copied),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
