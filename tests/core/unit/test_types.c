/* SPDX-License-Identifier: MIT
 *
 * test_types.c: the element types: ABI numbers, other libraries' numbers and names, and how many bytes elements take.
 * The numbers are those of onnx.proto and onnxruntime_c_api.h, and stand here apart from the table on purpose.
 */
#include "support/unit.h"

static const struct {
  gather_type type;
  int number;
  const char *name;
  int bits, onnx, onnxruntime;
} promised[] = {
    {GATHER_TYPE_BOOL, 1, "bool", 8, 9, 9},
    {GATHER_TYPE_INT8, 2, "int8", 8, 3, 3},
    {GATHER_TYPE_INT16, 3, "int16", 16, 5, 5},
    {GATHER_TYPE_INT32, 4, "int32", 32, 6, 6},
    {GATHER_TYPE_INT64, 5, "int64", 64, 7, 7},
    {GATHER_TYPE_UINT8, 6, "uint8", 8, 2, 2},
    {GATHER_TYPE_UINT16, 7, "uint16", 16, 4, 4},
    {GATHER_TYPE_UINT32, 8, "uint32", 32, 12, 12},
    {GATHER_TYPE_UINT64, 9, "uint64", 64, 13, 13},
    {GATHER_TYPE_FLOAT16, 10, "float16", 16, 10, 10},
    {GATHER_TYPE_BFLOAT16, 11, "bfloat16", 16, 16, 16},
    {GATHER_TYPE_FLOAT32, 12, "float32", 32, 1, 1},
    {GATHER_TYPE_FLOAT64, 13, "float64", 64, 11, 11},
    {GATHER_TYPE_COMPLEX64, 14, "complex64", 64, 14, 14},
    {GATHER_TYPE_COMPLEX128, 15, "complex128", 128, 15, 15},
    {GATHER_TYPE_STRING, 16, "string", (int)sizeof(gather_string) * 8, 8, 8},
    {GATHER_TYPE_FLOAT8_E4M3FN, 17, "float8_e4m3fn", 8, 17, 17},
    {GATHER_TYPE_FLOAT8_E4M3FNUZ, 18, "float8_e4m3fnuz", 8, 18, 18},
    {GATHER_TYPE_FLOAT8_E5M2, 19, "float8_e5m2", 8, 19, 19},
    {GATHER_TYPE_FLOAT8_E5M2FNUZ, 20, "float8_e5m2fnuz", 8, 20, 20},
    {GATHER_TYPE_FLOAT8_E8M0FNU, 21, "float8_e8m0fnu", 8, 24, 26},
    {GATHER_TYPE_FLOAT4_E2M1FN, 22, "float4_e2m1fn", 4, 23, 23},
    {GATHER_TYPE_INT4, 23, "int4", 4, 22, 22},
    {GATHER_TYPE_UINT4, 24, "uint4", 4, 21, 21},
    {GATHER_TYPE_INT2, 25, "int2", 2, 26, 25},
    {GATHER_TYPE_UINT2, 26, "uint2", 2, 25, 24},
    {GATHER_TYPE_UINT1, 27, "uint1", 1, 0, 0},
    {GATHER_TYPE_UINT3, 28, "uint3", 3, 0, 0},
    {GATHER_TYPE_UINT6, 29, "uint6", 6, 0, 0},
    {GATHER_TYPE_NF4, 30, "nf4", 4, 0, 0},
    {GATHER_TYPE_OPAQUE, 31, "opaque", 0, 0, 0},
    {GATHER_TYPE_FLOAT6_E2M3FN, 32, "float6_e2m3fn", 6, 27, 0},
    {GATHER_TYPE_FLOAT6_E3M2FN, 33, "float6_e3m2fn", 6, 28, 0},
};

static void types_keep_their_numbers(void **state) {
  for (size_t i = 0; i < COUNT(promised); i++) {
    const gather_type_info *info = gather_type_get(promised[i].type);
    assert_non_null(info);
    assert_int_equal(promised[i].type, promised[i].number);
    assert_int_equal(info->type, promised[i].number);
    assert_string_equal(info->name, promised[i].name);
    assert_int_equal(info->bits, promised[i].bits);
    assert_int_equal(info->onnx, promised[i].onnx);
    assert_int_equal(info->onnxruntime, promised[i].onnxruntime);
  }
  for (int number = (int)COUNT(promised) + 1; number < 1000; number++) assert_null(gather_type_get((gather_type)number));
  assert_null(gather_type_get(GATHER_TYPE_NONE));
  assert_null(gather_type_get((gather_type)-1));
}

static void packings(void **state) {
  static const struct {
    gather_type type;
    gather_packing packing;
    int len, bytes;
  } rows[] = {
      {GATHER_TYPE_INT8, GATHER_PACKING_BYTES, 1, 1},           {GATHER_TYPE_COMPLEX128, GATHER_PACKING_BYTES, 1, 16},
      {GATHER_TYPE_INT4, GATHER_PACKING_LOW_FIRST, 2, 1},       {GATHER_TYPE_UINT4, GATHER_PACKING_LOW_FIRST, 2, 1},
      {GATHER_TYPE_NF4, GATHER_PACKING_LOW_FIRST, 2, 1},        {GATHER_TYPE_FLOAT4_E2M1FN, GATHER_PACKING_LOW_FIRST, 2, 1},
      {GATHER_TYPE_INT2, GATHER_PACKING_LOW_FIRST, 4, 1},       {GATHER_TYPE_UINT2, GATHER_PACKING_LOW_FIRST, 4, 1},
      {GATHER_TYPE_UINT1, GATHER_PACKING_HIGH_FIRST, 8, 1},     {GATHER_TYPE_UINT3, GATHER_PACKING_SPLIT_3, 8, 3},
      {GATHER_TYPE_UINT6, GATHER_PACKING_SPLIT_6, 4, 3},        {GATHER_TYPE_FLOAT6_E2M3FN, GATHER_PACKING_STREAM, 4, 3},
      {GATHER_TYPE_FLOAT6_E3M2FN, GATHER_PACKING_STREAM, 4, 3},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const gather_type_info *info = gather_type_get(rows[i].type);
    assert_int_equal(info->packing, rows[i].packing);
    assert_int_equal(info->group_len, rows[i].len);
    assert_int_equal(info->group_bytes, rows[i].bytes);
  }
}

static void names_are_found_again(void **state) {
  for (size_t i = 0; i < COUNT(promised); i++) {
    const gather_type_info *info = gather_type_get(promised[i].type);
    if (info->type == GATHER_TYPE_OPAQUE) continue;
    assert_int_equal(gather_type_parse(info->name), info->type);
    if (info->onnx_name) assert_int_equal(gather_type_parse(info->onnx_name), info->type);
    if (info->openvino_name) assert_int_equal(gather_type_parse(info->openvino_name), info->type);
    if (info->openvino_precision) assert_int_equal(gather_type_parse(info->openvino_precision), info->type);
  }
  assert_int_equal(gather_type_parse("DOUBLE"), GATHER_TYPE_FLOAT64);
  assert_int_equal(gather_type_parse("f32"), GATHER_TYPE_FLOAT32);
  assert_int_equal(gather_type_parse("FP16"), GATHER_TYPE_FLOAT16);
  assert_int_equal(gather_type_parse("boolean"), GATHER_TYPE_BOOL);
  assert_int_equal(gather_type_parse("BIN"), GATHER_TYPE_UINT1);
  assert_int_equal(gather_type_parse("u3"), GATHER_TYPE_UINT3);
}

static void names_that_are_none(void **state) {
  static const char *const none[] = {"opaque", "", "Float32", "FLOAT32", "float", "int", "float32 ", "f320", "u", "i128"};
  for (size_t i = 0; i < COUNT(none); i++) {
    if (gather_type_parse(none[i]) != GATHER_TYPE_NONE) fail_msg("'%s' was taken as a type", none[i]);
  }
}

static void bytes_of_elements(void **state) {
  static const struct {
    gather_type type;
    int64_t item_bytes, len, bytes;
  } rows[] = {
      {GATHER_TYPE_FLOAT32, 0, 3, 12},
      {GATHER_TYPE_FLOAT32, 99, 0, 0},
      {GATHER_TYPE_INT4, 0, 0, 0},
      {GATHER_TYPE_INT4, 0, 1, 1},
      {GATHER_TYPE_INT4, 0, 3, 2},
      {GATHER_TYPE_UINT2, 0, 5, 2},
      {GATHER_TYPE_UINT1, 0, 8, 1},
      {GATHER_TYPE_UINT1, 0, 9, 2},
      {GATHER_TYPE_UINT3, 0, 1, 3},
      {GATHER_TYPE_UINT3, 0, 8, 3},
      {GATHER_TYPE_UINT3, 0, 9, 6},
      {GATHER_TYPE_UINT6, 0, 4, 3},
      {GATHER_TYPE_UINT6, 0, 5, 6},
      {GATHER_TYPE_OPAQUE, 7, 3, 21},
      {GATHER_TYPE_OPAQUE, 0, INT64_MAX, 0},
      {GATHER_TYPE_INT8, 0, INT64_MAX, INT64_MAX},
      {GATHER_TYPE_STRING, 0, 2, 2 * (int64_t)sizeof(gather_string)},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    int64_t bytes = -1;
    assert_status(gather_type_bytes(rows[i].type, rows[i].item_bytes, rows[i].len, &bytes), GATHER_OK);
    assert_int_equal(bytes, rows[i].bytes);
  }
}

static void bytes_that_cannot_be(void **state) {
  int64_t bytes;
  assert_status(gather_type_bytes(GATHER_TYPE_INT16, 0, INT64_MAX / 2 + 1, &bytes), GATHER_OVERFLOW);
  assert_status(gather_type_bytes(GATHER_TYPE_OPAQUE, INT64_MAX, 2, &bytes), GATHER_OVERFLOW);
  assert_status(gather_type_bytes(GATHER_TYPE_COMPLEX128, 0, INT64_C(1) << 60, &bytes), GATHER_OVERFLOW);
  assert_status(gather_type_bytes(GATHER_TYPE_NONE, 0, 1, &bytes), GATHER_TYPE_UNSUPPORTED);
  assert_status(gather_type_bytes((gather_type)77, 0, 1, &bytes), GATHER_TYPE_UNSUPPORTED);
  /* Packed elements of a length close to the limit: the rounding up must not run over. */
  assert_status(gather_type_bytes(GATHER_TYPE_INT4, 0, INT64_MAX, &bytes), GATHER_OK);
  assert_int_equal(bytes, INT64_MAX / 2 + 1);
  assert_status(gather_type_bytes(GATHER_TYPE_UINT6, 0, INT64_MAX, &bytes), GATHER_OK);
  assert_int_equal(bytes, (INT64_MAX / 4 + 1) * 3);
}

/* One element of each float type with a fraction; other types are none. */
static void values_of_floats(void **state) {
  static const double real = -1234.5;
  static const float single = 0.375F;
  static const struct {
    gather_type type;
    uint16_t bits;
    double value;
  } ROWS[] = {{GATHER_TYPE_FLOAT16, 0xc100, -2.5},
              {GATHER_TYPE_FLOAT16, 0x0001, 5.9604644775390625e-8},
              {GATHER_TYPE_BFLOAT16, 0x3fc0, 1.5},
              {GATHER_TYPE_FLOAT8_E4M3FN, 0x39, 1.125},
              {GATHER_TYPE_FLOAT8_E5M2, 0x3d, 1.25},
              {GATHER_TYPE_FLOAT8_E8M0FNU, 0x7e, 0.5},
              {GATHER_TYPE_FLOAT6_E2M3FN, 0x29, -1.125},
              {GATHER_TYPE_FLOAT4_E2M1FN, 0x3, 1.5},
              {GATHER_TYPE_NF4, 0xf, 1},
              {GATHER_TYPE_NF4, 0, -1},
              {GATHER_TYPE_FLOAT8_E4M3FNUZ, 0x41, 1.125},
              {GATHER_TYPE_FLOAT6_E3M2FN, 0x0d, 1.25},
              {GATHER_TYPE_FLOAT8_E5M2FNUZ, 0x41, 1.25}};
  double number = 0;
  for (size_t i = 0; i < COUNT(ROWS); i++) {
    const uint8_t low = (uint8_t)ROWS[i].bits;
    const bool wide = ROWS[i].type == GATHER_TYPE_FLOAT16 || ROWS[i].type == GATHER_TYPE_BFLOAT16;
    assert_true(gather_float_read(ROWS[i].type, wide ? (const void *)&ROWS[i].bits : &low, &number));
    if (number != ROWS[i].value) fail_msg("%s 0x%x", gather_type_get(ROWS[i].type)->name, ROWS[i].bits);
  }
  assert_true(gather_float_read(GATHER_TYPE_FLOAT64, &real, &number) && number == real);
  assert_true(gather_float_read(GATHER_TYPE_FLOAT32, &single, &number) && number == 0.375);
  for (int t = 1; gather_type_get((gather_type)t); t++)
    if (gather_type_get((gather_type)t)->kind != GATHER_KIND_FLOAT) assert_false(gather_float_read((gather_type)t, &real, &number));
  assert_true(number == 0.375);
}

TESTS(values_of_floats, types_keep_their_numbers, packings, names_are_found_again, names_that_are_none, bytes_of_elements,
      bytes_that_cannot_be)
