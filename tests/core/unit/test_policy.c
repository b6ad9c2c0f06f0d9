/* SPDX-License-Identifier: MIT
 *
 * test_policy.c: every policy for an index out of range, with the most extreme values each index type can hold.
 */
#include "support/unit.h"

enum { LEN = 5 };

static const uint16_t table[LEN] = {10, 11, 12, 13, 14};
static const uint16_t filling = 77;

static gather_status gather_one(const gather_tensor *index, gather_on_bad on_bad, gather_negative negative, uint16_t *out,
                                int64_t *bad_count, gather_error *error) {
  const gather_op *op = op_of("Gather", "onnx-13");
  gather_tensor data = tensor_of(GATHER_TYPE_UINT16, table, 1, DIMS(LEN));
  gather_tensor target = tensor_of(GATHER_TYPE_UINT16, out, 0, NULL);
  gather_options options = GATHER_OPTIONS_INIT;
  options.on_bad = on_bad;
  options.negative = negative;
  options.fill = &filling;
  options.bad_count = bad_count;
  return gather_apply(op, &data, index, &target, &options, error);
}

/* One index value: what each policy gives. */
static void check(const gather_tensor *index, gather_negative negative, bool good, uint16_t row, uint16_t clamp, uint16_t wrap) {
  const struct {
    gather_on_bad on_bad;
    uint16_t want;
  } policies[] = {{GATHER_ON_BAD_CLAMP, clamp},
                  {GATHER_ON_BAD_WRAP, wrap},
                  {GATHER_ON_BAD_ZERO, good ? row : 0},
                  {GATHER_ON_BAD_FILL, good ? row : filling}};
  gather_error error;
  uint16_t out = 999;
  int64_t bad = -1;
  assert_status(gather_one(index, GATHER_ON_BAD_ERROR, negative, &out, NULL, &error), good ? GATHER_OK : GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(out, good ? row : 999);
  if (!good) assert_int_equal(error.bad_count, 1);
  for (size_t i = 0; i < COUNT(policies); i++) {
    assert_status(gather_one(index, policies[i].on_bad, negative, &out, &bad, NULL), GATHER_OK);
    assert_int_equal(out, policies[i].want);
    assert_int_equal(bad, good ? 0 : 1);
  }
}

static uint16_t at(int64_t row) { return (uint16_t)(10 + row); }

/* v modulo LEN, never below 0, without trusting the machine's division of negative numbers. */
static int64_t modulo(int64_t v) {
  int64_t rest = v % LEN;
  return rest < 0 ? rest + LEN : rest;
}

static void check_signed(gather_type type, const void *memory, int64_t value) {
  gather_tensor index = tensor_of(type, memory, 0, NULL);
  bool in_front = value >= 0 && value < LEN, counted = value < 0 && value >= -LEN;
  uint16_t clamp = value < 0 ? at(0) : at(LEN - 1), row = at(modulo(value));
  check(&index, GATHER_NEGATIVE_ON, in_front || counted, row, in_front || counted ? row : clamp, row);
  check(&index, GATHER_NEGATIVE_OFF, in_front, row, in_front ? row : clamp, row);
}

static void signed_values(void **state) {
  static const int64_t values[] = {ITEMS(0, 1, 4, 5, 6, -1, -4, -5, -6, 127, -128, 32767, -32768, INT32_MAX, INT32_MIN, INT64_MAX,
                                         INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_C(1) << 32, -(INT64_C(1) << 32))};
  for (size_t i = 0; i < COUNT(values); i++) {
    int64_t v = values[i];
    int8_t i8 = (int8_t)v;
    int16_t i16 = (int16_t)v;
    int32_t i32 = (int32_t)v;
    if (i8 == v) check_signed(GATHER_TYPE_INT8, &i8, v);
    if (i16 == v) check_signed(GATHER_TYPE_INT16, &i16, v);
    if (i32 == v) check_signed(GATHER_TYPE_INT32, &i32, v);
    check_signed(GATHER_TYPE_INT64, &v, v);
  }
}

static void check_unsigned(gather_type type, const void *memory, uint64_t value) {
  gather_tensor index = tensor_of(type, memory, 0, NULL);
  uint16_t row = at((int64_t)(value % LEN));
  check(&index, GATHER_NEGATIVE_ON, value < LEN, row, value < LEN ? row : at(LEN - 1), row);
  check(&index, GATHER_NEGATIVE_OFF, value < LEN, row, value < LEN ? row : at(LEN - 1), row);
}

/* UINT64_MAX is no -1, and INT64_MAX + 1 is no negative number. */
static void unsigned_values(void **state) {
  static const uint64_t values[] = {
      0,         4, 5, 127, 128, 255, 32768, 65535, 2147483648, 4294967295, 4294967296, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 4,
      UINT64_MAX};
  for (size_t i = 0; i < COUNT(values); i++) {
    uint64_t v = values[i];
    uint8_t u8 = (uint8_t)v;
    uint16_t u16 = (uint16_t)v;
    uint32_t u32 = (uint32_t)v;
    if (u8 == v) check_unsigned(GATHER_TYPE_UINT8, &u8, v);
    if (u16 == v) check_unsigned(GATHER_TYPE_UINT16, &u16, v);
    if (u32 == v) check_unsigned(GATHER_TYPE_UINT32, &u32, v);
    check_unsigned(GATHER_TYPE_UINT64, &v, v);
  }
}

static void a_huge_unsigned_index_is_told_as_it_is(void **state) {
  uint64_t value = UINT64_MAX - 1;
  uint16_t out = 0;
  gather_error error = dirty_error();
  gather_tensor index = tensor_of(GATHER_TYPE_UINT64, &value, 0, NULL);
  assert_status(gather_one(&index, GATHER_ON_BAD_ERROR, GATHER_NEGATIVE_ON, &out, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_true(error.value_is_unsigned);
  assert_true((uint64_t)error.value == value);
  assert_non_null(strstr(error.message, "18446744073709551614"));
}

/* Elements without bytes are elements: what was wrong with their indices is counted. */
static void elements_without_bytes(void **state) {
  int32_t indices[3] = {0, 9, -9};
  char data[1] = {1}, out[1] = {1};
  int64_t bad = -1;
  gather_tensor source = tensor_of(GATHER_TYPE_OPAQUE, data, 1, DIMS(2));
  gather_tensor index = tensor_of(GATHER_TYPE_INT32, indices, 1, DIMS(3));
  gather_tensor target = tensor_of(GATHER_TYPE_OPAQUE, out + 1, 1, DIMS(3));
  gather_options options = GATHER_OPTIONS_INIT;
  options.on_bad = GATHER_ON_BAD_CLAMP;
  options.bad_count = &bad;
  assert_status(gather_apply(op_of("Gather", "onnx-13"), &source, &index, &target, &options, NULL), GATHER_OK);
  assert_int_equal(bad, 2);
}

static void an_axis_without_elements(void **state) {
  static const gather_on_bad cannot[] = {GATHER_ON_BAD_ERROR, GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_WRAP};
  const gather_op *op = op_of("Gather", "onnx-13");
  int32_t indices[2] = {0, -1};
  uint16_t out[2] = {5, 5}, zero[2] = {0, 0}, filled[2] = {77, 77};
  int64_t bad = -1;
  gather_tensor data = tensor_of(GATHER_TYPE_UINT16, NULL, 1, DIMS(0));
  gather_tensor index = tensor_of(GATHER_TYPE_INT32, indices, 1, DIMS(2));
  gather_tensor target = tensor_of(GATHER_TYPE_UINT16, out, 1, DIMS(2));
  gather_options options = GATHER_OPTIONS_INIT;
  options.fill = &filling;
  options.bad_count = &bad;
  for (size_t i = 0; i < COUNT(cannot); i++) {
    gather_error error = dirty_error();
    options.on_bad = cannot[i];
    assert_status(gather_apply(op, &data, &index, &target, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
    assert_int_equal(error.bad_count, 2);
    assert_int_equal(error.position[0], 0);
    assert_true(error.low > error.high);
    assert_int_equal(out[0], 5);
  }
  options.on_bad = GATHER_ON_BAD_ZERO;
  assert_status(gather_apply(op, &data, &index, &target, &options, NULL), GATHER_OK);
  assert_memory_equal(out, zero, sizeof out);
  assert_int_equal(bad, 2);
  options.on_bad = GATHER_ON_BAD_FILL;
  assert_status(gather_apply(op, &data, &index, &target, &options, NULL), GATHER_OK);
  assert_memory_equal(out, filled, sizeof out);
}

/* Writes the low bits of a value as any of the eight types. */
static void put_index(uint8_t to[8], gather_type type, uint64_t value) {
  int64_t bytes = gather_type_get(type)->bits / 8;
  uint8_t u8 = (uint8_t)value;
  uint16_t u16 = (uint16_t)value;
  uint32_t u32 = (uint32_t)value;
  memcpy(to, bytes == 1 ? (void *)&u8 : bytes == 2 ? (void *)&u16 : bytes == 4 ? (void *)&u32 : (void *)&value, (size_t)bytes);
}

/* An axis just shorter than, as long as and longer than what an index type can say: the type's own ends are good or bad. */
static void check_ends(gather_type type, int64_t len, bool negative) {
  static uint8_t long_table[65540];
  const gather_type_info *info = gather_type_get(type);
  bool is_signed = info->kind == GATHER_KIND_INT;
  int64_t high = is_signed ? (INT64_C(1) << (info->bits - 1)) - 1 : (INT64_C(1) << info->bits) - 1;
  const int64_t values[] = {is_signed ? -high - 1 : 0, is_signed ? -1 : 1, is_signed ? -high : 2, high, high - 1};
  for (size_t i = 0; i < COUNT(long_table); i++) long_table[i] = (uint8_t)(i * 167 >> 3);
  for (size_t i = 0; i < COUNT(values); i++) {
    int64_t row = values[i] < 0 && negative ? values[i] + len : values[i];
    bool good = row >= 0 && row < len;
    uint8_t memory[8], out = 0xEE;
    put_index(memory, type, (uint64_t)values[i]);
    gather_tensor data = tensor_of(GATHER_TYPE_UINT8, long_table, 1, &len), target = tensor_of(GATHER_TYPE_UINT8, &out, 0, NULL);
    gather_tensor index = tensor_of(type, memory, 0, NULL);
    gather_options options = GATHER_OPTIONS_INIT;
    options.negative = negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
    assert_status(gather_apply(op_of("Gather", "onnx-13"), &data, &index, &target, &options, NULL),
                  good ? GATHER_OK : GATHER_INDEX_OUT_OF_RANGE);
    assert_int_equal(out, good ? long_table[row] : 0xEE);
  }
}

static void axes_as_long_as_the_index_type(void **state) {
  static const int64_t lengths[] = {1,   126,   127,   128,   129,   130,   254,   255,   256,  257,
                                    258, 32766, 32767, 32768, 32769, 65534, 65535, 65536, 65537};
  static const gather_type types[] = {GATHER_TYPE_INT8, GATHER_TYPE_UINT8, GATHER_TYPE_INT16, GATHER_TYPE_UINT16};
  for (size_t l = 0; l < COUNT(lengths); l++)
    for (size_t t = 0; t < COUNT(types); t++)
      for (int negative = 0; negative < 2; negative++) check_ends(types[t], lengths[l], negative);
}

/* Nothing is read and nothing written, but a bad index is still an error where the policy says so. */
static void an_output_without_elements(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  int32_t indices[2] = {0, 9};
  gather_error error = dirty_error();
  gather_tensor data = tensor_of(GATHER_TYPE_UINT16, NULL, 2, DIMS(3, 0));
  gather_tensor index = tensor_of(GATHER_TYPE_INT32, indices, 1, DIMS(2));
  gather_tensor target = tensor_of(GATHER_TYPE_UINT16, NULL, 2, DIMS(2, 0));
  gather_options options = GATHER_OPTIONS_INIT;
  assert_status(gather_apply(op, &data, &index, &target, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.position[0], 1);
  assert_int_equal(error.value, 9);
  options.on_bad = GATHER_ON_BAD_ZERO;
  assert_status(gather_apply(op, &data, &index, &target, &options, &error), GATHER_OK);
}

static void the_empty_string(void **state) {
  const gather_op *op = op_of("Gather", "openvino-8");
  gather_string words[2] = {{"one", 3}, {"two", 3}}, out[3];
  int8_t indices[3] = {1, 2, -3};
  memset(out, 0x55, sizeof out);
  gather_tensor data = tensor_of(GATHER_TYPE_STRING, words, 1, DIMS(2)), target = tensor_of(GATHER_TYPE_STRING, out, 1, DIMS(3));
  gather_tensor index = tensor_of(GATHER_TYPE_INT8, indices, 1, DIMS(3));
  assert_status(gather_apply(op, &data, &index, &target, NULL, NULL), GATHER_OK);
  assert_ptr_equal(out[0].text, words[1].text);
  assert_int_equal(out[0].bytes, 3);
  assert_null(out[1].text);
  assert_int_equal(out[1].bytes, 0);
  assert_int_equal(out[2].bytes, 0);
}

TESTS(signed_values, unsigned_values, a_huge_unsigned_index_is_told_as_it_is, elements_without_bytes, an_axis_without_elements,
      axes_as_long_as_the_index_type, an_output_without_elements, the_empty_string)
