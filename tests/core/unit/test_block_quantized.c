/* SPDX-License-Identifier: MIT
 *
 * test_block_quantized.c: what the inputs of a GatherBlockQuantized node describe, and each thing that is wrong with them.
 */
#include "gather/codec.h"
#include "support/unit.h"

/* One description. Types and shapes; attributes at -99 are the defaults. */
struct description {
  const char *name;
  gather_type type;
  int32_t rank;
  int64_t data[3], scales[3], points[3];
  int32_t scales_rank, points_rank; /* -1: none */
  gather_type scales_type, points_type;
  int64_t bits, block_size, quantize_axis, gather_axis;
  gather_status status;
  const char *input, *message; /* of the error; or NULL and */
  int64_t last;                /* the last length of the values */
};

enum { DEFAULT = -99 };
#define PLAIN 2, -1, GATHER_TYPE_FLOAT32, GATHER_TYPE_NONE
#define POINTS(type) 2, 2, GATHER_TYPE_FLOAT32, GATHER_TYPE_##type
#define FITS(last) GATHER_OK, NULL, NULL, last

/* clang-format off */
static const struct description cases[] = {
    {"int4", GATHER_TYPE_INT4, 2, {3, 40}, {3, 3}, {0}, PLAIN, DEFAULT, 16, DEFAULT, DEFAULT, FITS(40)},
    {"the default block", GATHER_TYPE_UINT4, 2, {3, 129}, {3, 2}, {0}, PLAIN, DEFAULT, DEFAULT, -1, -2, FITS(129)},
    {"rank 1", GATHER_TYPE_INT4, 1, {40}, {3}, {0}, 1, -1, GATHER_TYPE_FLOAT16, GATHER_TYPE_NONE, 4, 16, 0, 0, FITS(40)},
    {"equal axes", GATHER_TYPE_INT4, 2, {40, 3}, {3, 3}, {3, 3}, POINTS(INT4), 4, 16, 0, 0, FITS(3)},
    {"uint8, 4 bits", GATHER_TYPE_UINT8, 2, {3, 20}, {3, 3}, {3, 2}, POINTS(UINT8), DEFAULT, 16, 1, 0, FITS(40)},
    {"uint8, 2 bits", GATHER_TYPE_UINT8, 2, {3, 20}, {3, 5}, {3, 2}, POINTS(UINT8), 2, 16, 1, 0, FITS(80)},
    {"uint8, 8 bits", GATHER_TYPE_UINT8, 2, {3, 20}, {3, 2}, {3, 2}, POINTS(UINT8), 8, 16, 1, 0, FITS(20)},
    {"float8, shared scales", GATHER_TYPE_FLOAT8_E5M2, 2, {3, 20}, {1, 2}, {0}, PLAIN, 77, 16, 1, 0, FITS(20)},
    {"float4, one block", GATHER_TYPE_FLOAT4_E2M1FN, 2, {3, 20}, {3, 1}, {0}, PLAIN, DEFAULT, 0, 1, 0, FITS(20)},
    {"no elements", GATHER_TYPE_FLOAT4_E2M1FN, 2, {3, 0}, {3, 0}, {0}, PLAIN, DEFAULT, 0, 1, 0, FITS(0)},
    {"the largest block", GATHER_TYPE_INT4, 2, {3, 40}, {3, 1}, {0}, PLAIN, 4, INT64_C(1) << 62, 1, 0, FITS(40)},
    {"bits of uint8", GATHER_TYPE_UINT8, 2, {3, 20}, {3, 1}, {0}, PLAIN, 3, 16, 1, 0, GATHER_USAGE, NULL, "bits is 3, not 2, 4 or 8", 0},
    {"bits of int4", GATHER_TYPE_INT4, 2, {3, 20}, {3, 2}, {0}, PLAIN, 8, 16, 1, 0, GATHER_USAGE, NULL, "bits is 8; for data of type int4 it is 4", 0},
    {"type", GATHER_TYPE_INT8, 2, {3, 20}, {3, 2}, {0}, PLAIN, 4, 16, 1, 0, GATHER_TYPE_UNSUPPORTED, "data", "data of type int8; GatherBlockQuantized takes int4, uint4, uint8, the float8 types and float4_e2m1fn", 0},
    {"block_size 0", GATHER_TYPE_INT4, 2, {3, 20}, {3, 1}, {0}, PLAIN, 4, 0, 1, 0, GATHER_USAGE, NULL, "block_size is 0, not a power of two of at least 16", 0},
    {"block_size 8", GATHER_TYPE_INT4, 2, {3, 20}, {3, 3}, {0}, PLAIN, 4, 8, 1, 0, GATHER_USAGE, NULL, "block_size is 8, not a power of two of at least 16", 0},
    {"block_size 24", GATHER_TYPE_FLOAT8_E4M3FN, 2, {3, 20}, {3, 1}, {0}, PLAIN, 4, 24, 1, 0, GATHER_USAGE, NULL, "block_size is 24, not a power of two of at least 16, nor 0", 0},
    {"block_size below 0", GATHER_TYPE_INT4, 2, {3, 20}, {3, 1}, {0}, PLAIN, 4, INT64_MIN, 1, 0, GATHER_USAGE, NULL, "block_size is -9223372036854775808, not a power of two of at least 16", 0},
    {"quantize_axis", GATHER_TYPE_INT4, 2, {3, 20}, {3, 2}, {0}, PLAIN, 4, 16, 2, 0, GATHER_AXIS_OUT_OF_RANGE, "axis", "quantize_axis 2 is outside [-2, 1]", 0},
    {"gather_axis", GATHER_TYPE_INT4, 2, {3, 20}, {3, 2}, {0}, PLAIN, 4, 16, 1, -3, GATHER_AXIS_OUT_OF_RANGE, "axis", "gather_axis -3 is outside [-2, 1]", 0},
    {"gather_axis of uint8", GATHER_TYPE_UINT8, 2, {3, 20}, {3, 2}, {0}, PLAIN, 8, 16, 1, 1, GATHER_AXIS_OUT_OF_RANGE, "axis", "gather_axis is 1; for data of type uint8 it is 0", 0},
    {"quantize_axis of uint8", GATHER_TYPE_UINT8, 2, {3, 20}, {1, 20}, {0}, PLAIN, 8, 16, 0, 0, GATHER_AXIS_OUT_OF_RANGE, "axis", "quantize_axis is 0; for data of type uint8 it is the last dimension, and not gather_axis", 0},
    {"rank 1 of uint8", GATHER_TYPE_UINT8, 1, {20}, {2}, {0}, 1, -1, GATHER_TYPE_FLOAT32, GATHER_TYPE_NONE, 8, 16, 0, 0, GATHER_AXIS_OUT_OF_RANGE, "axis", "quantize_axis is 0; for data of type uint8 it is the last dimension, and not gather_axis", 0},
    {"rank 0", GATHER_TYPE_INT4, 0, {0}, {0}, {0}, 0, -1, GATHER_TYPE_FLOAT32, GATHER_TYPE_NONE, 4, 16, 0, 0, GATHER_RANK_MISMATCH, "data", "data is 0-D; it needs a rank of at least 1", 0},
    {"scales absent", GATHER_TYPE_INT4, 2, {3, 20}, {0}, {0}, -1, -1, GATHER_TYPE_FLOAT32, GATHER_TYPE_NONE, 4, 16, 1, 0, GATHER_USAGE, "scales", "the scales are NULL", 0},
    {"type of scales", GATHER_TYPE_INT4, 2, {3, 20}, {3, 2}, {0}, 2, -1, GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 4, 16, 1, 0, GATHER_TYPE_UNSUPPORTED, "scales", "scales of type float64; GatherBlockQuantized takes float32, float16 and bfloat16", 0},
    {"rank of scales", GATHER_TYPE_INT4, 2, {3, 20}, {6}, {0}, 1, -1, GATHER_TYPE_FLOAT32, GATHER_TYPE_NONE, 4, 16, 1, 0, GATHER_RANK_MISMATCH, "scales", "scales of rank 1 for data of rank 2", 0},
    {"too few scales", GATHER_TYPE_INT4, 2, {3, 40}, {3, 2}, {0}, PLAIN, 4, 16, 1, 0, GATHER_SHAPE_MISMATCH, "scales", "scales [3, 2] for data [3, 40]: the length of dimension 1 must be 3", 0},
    {"shared scales of integers", GATHER_TYPE_INT4, 2, {3, 40}, {1, 3}, {0}, PLAIN, 4, 16, 1, 0, GATHER_SHAPE_MISMATCH, "scales", "scales [1, 3] for data [3, 40]: the length of dimension 0 must be 3", 0},
    {"one scale for all blocks", GATHER_TYPE_FLOAT8_E5M2, 2, {3, 40}, {3, 1}, {0}, PLAIN, 4, 16, 1, 0, GATHER_SHAPE_MISMATCH, "scales", "scales [3, 1] for data [3, 40]: the length of dimension 1 must be 3", 0},
    {"zero points of floats", GATHER_TYPE_FLOAT8_E5M2, 2, {3, 20}, {3, 2}, {3, 2}, POINTS(FLOAT8_E5M2), 4, 16, 1, 0, GATHER_USAGE, "zero_points", "data of type float8_e5m2 has no zero points", 0},
    {"type of zero points", GATHER_TYPE_INT4, 2, {3, 20}, {3, 2}, {3, 2}, POINTS(UINT4), 4, 16, 1, 0, GATHER_TYPE_MISMATCH, "zero_points", "zero_points of type uint4 for data of type int4", 0},
    {"zero points not packed", GATHER_TYPE_UINT8, 2, {3, 20}, {3, 3}, {3, 3}, POINTS(UINT8), 4, 16, 1, 0, GATHER_SHAPE_MISMATCH, "zero_points", "zero_points [3, 3] for data [3, 20]: the length of dimension 1 must be 2", 0},
    {"a row that does not fit", GATHER_TYPE_UINT8, 2, {0, INT64_MAX / 2}, {0, 1}, {0}, PLAIN, 2, 16, 1, 0, GATHER_OVERFLOW, "data", "the elements of a row of data do not fit in 63 bits", 0},
};
/* clang-format on */

static void try_case(const struct description *c) {
  const char byte = 0;
  gather_tensor data = tensor_of(c->type, &byte, c->rank, c->data);
  gather_tensor scales = tensor_of(c->scales_type, &byte, c->scales_rank, c->scales);
  gather_tensor points = tensor_of(c->points_type, &byte, c->points_rank, c->points);
  gather_block_quantized attributes = GATHER_BLOCK_QUANTIZED_INIT;
  gather_quantized quantized;
  gather_error error;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  if (c->bits != DEFAULT) attributes.bits = c->bits;
  if (c->block_size != DEFAULT) attributes.block_size = c->block_size;
  if (c->quantize_axis != DEFAULT) attributes.quantize_axis = c->quantize_axis;
  if (c->gather_axis != DEFAULT) attributes.gather_axis = c->gather_axis;
  gather_status status = gather_block_quantized_describe(&data, c->scales_rank < 0 ? NULL : &scales, c->points_rank < 0 ? NULL : &points,
                                                         &attributes, &quantized, &error);
  print_message("%s\n", c->name);
  if (status != c->status) fail_msg("%s: %s", c->name, status == GATHER_OK ? "no error" : error.message);
  if (status != GATHER_OK) {
    assert_error(&error, status);
    assert_string_equal(error.message, c->message);
    assert_true(c->input ? error.input && strcmp(error.input, c->input) == 0 : !error.input);
    return;
  }
  assert_status(gather_quantized_shape(&quantized, shape, &rank, &error), GATHER_OK);
  assert_int_equal(rank, c->rank);
  assert_int_equal(shape[rank - 1], c->last);
}

static void descriptions(void **state) {
  for (size_t i = 0; i < COUNT(cases); i++) try_case(&cases[i]);
}

/* uint8 data of 4 bits with three blocks of 16: rows of zero points are padded to whole bytes. */
static void values(void **state) {
  static const uint8_t codes[2][24] = {{0x21, 0x43}, {0xff, [8] = 0x21, [16] = 0x0f}}, zeros[2][2] = {{0x10, 0x02}, {0x3f, 0x05}};
  static const float factors[2][3] = {{1, 2, 4}, {0.5f, 8, 16}};
  const int64_t ids[3] = {-1, 2, 0};
  float result[3][48];
  gather_tensor data = tensor_of(GATHER_TYPE_UINT8, codes, 2, DIMS(2, 24));
  gather_tensor scales = tensor_of(GATHER_TYPE_FLOAT32, factors, 2, DIMS(2, 3));
  gather_tensor points = tensor_of(GATHER_TYPE_UINT8, zeros, 2, DIMS(2, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(3));
  gather_tensor out = tensor_of(GATHER_TYPE_FLOAT32, result, 2, DIMS(3, 48));
  gather_block_quantized attributes = GATHER_BLOCK_QUANTIZED_INIT;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_quantized quantized;
  int64_t bad = 7;
  attributes.block_size = 16;
  options.bad_count = &bad;
  assert_status(gather_block_quantized_describe(&data, &scales, &points, &attributes, &quantized, NULL), GATHER_OK);
  assert_status(gather_take_quantized(op_of("GatherBlockQuantized", "microsoft-1"), &quantized, &indices, &out, &options, NULL), GATHER_OK);
  assert_int_equal(bad, 1);
  /* row 1: 15 - 15, then 0 - 15, times 0.5; then 1 - 3, 2 - 3 times 8; then 15 - 5, 0 - 5 times 16 */
  assert_true(result[0][0] == 0 && result[0][1] == 0 && result[0][2] == -7.5f);
  assert_true(result[0][16] == -16 && result[0][17] == -8 && result[0][18] == -24);
  assert_true(result[0][32] == 160 && result[0][33] == -80);
  for (int i = 0; i < 48; i++) assert_true(result[1][i] == 0);
  /* row 0: zero points 0, 1, 2 */
  assert_true(result[2][0] == 1 && result[2][1] == 2 && result[2][3] == 4 && result[2][4] == 0);
  assert_true(result[2][16] == -2 && result[2][47] == -8);
}

/* Without zero points: 0 for int4 and uint4, half of the range for uint8. */
static void default_zero_points(void **state) {
  static const struct {
    gather_type type;
    int64_t bits;
    uint8_t code;
    float value;
  } all[] = {{GATHER_TYPE_INT4, 4, 0x0f, -1},
             {GATHER_TYPE_UINT4, 4, 0x0f, 15},
             {GATHER_TYPE_UINT8, 2, 0x03, 1},
             {GATHER_TYPE_UINT8, 4, 0x0f, 7},
             {GATHER_TYPE_UINT8, 8, 0x0f, -113}};
  const float one[1][1] = {{1}};
  const int32_t id = 0;
  for (size_t i = 0; i < COUNT(all); i++) {
    const uint8_t codes[2] = {all[i].code, 0};
    float result[8];
    gather_tensor data = tensor_of(all[i].type, codes, 2, DIMS(1, 2));
    gather_tensor scales = tensor_of(GATHER_TYPE_FLOAT32, one, 2, DIMS(1, 1));
    gather_tensor indices = tensor_of(GATHER_TYPE_INT32, &id, 0, NULL);
    const int64_t len = all[i].type == GATHER_TYPE_UINT8 ? 16 / all[i].bits : 2;
    gather_tensor out = tensor_of(GATHER_TYPE_FLOAT32, result, 1, &len);
    gather_block_quantized attributes = GATHER_BLOCK_QUANTIZED_INIT;
    gather_quantized quantized;
    attributes.bits = all[i].bits;
    assert_status(gather_block_quantized_describe(&data, &scales, NULL, &attributes, &quantized, NULL), GATHER_OK);
    assert_status(gather_take_quantized(op_of("GatherBlockQuantized", "microsoft-1"), &quantized, &indices, &out, NULL, NULL), GATHER_OK);
    assert_true(result[0] == all[i].value);
  }
}

static void wrong_calls(void **state) {
  gather_block_quantized attributes = GATHER_BLOCK_QUANTIZED_INIT;
  gather_quantized quantized;
  gather_error error;
  gather_tensor data = tensor_of(GATHER_TYPE_INT4, "", 2, DIMS(1, -2));
  assert_status(gather_block_quantized_describe(NULL, NULL, NULL, &attributes, &quantized, &error), GATHER_USAGE);
  assert_status(gather_block_quantized_describe(&data, NULL, NULL, NULL, &quantized, &error), GATHER_SHAPE_MISMATCH);
  assert_string_equal(error.input, "data");
  attributes.size = 2; /* not even itself */
  assert_status(gather_block_quantized_describe(&data, NULL, NULL, &attributes, &quantized, &error), GATHER_USAGE);
}

TESTS(descriptions, values, default_zero_points, wrong_calls)
