/* SPDX-License-Identifier: MIT
 *
 * test_describe.c: the table of codecs; shapes of values; every wrong description, with the argument that the error names; indices
 * out of range.
 */
#include "core/codec/decoder.h"
#include "gather/codec.h"
#include "support/unit.h"

static unsigned char memory[8192];

/* A table of 3 rows of 64 codes of 4 bits in bytes, with a scale for each 16. */
static const int64_t DATA[2] = {3, 32}, GROUPS[2] = {3, 4};
static gather_tensor data, scale;
static gather_quantized q;

static int fresh(void **unused) {
  data = tensor_of(GATHER_TYPE_UINT8, memory, 2, DATA);
  scale = tensor_of(GATHER_TYPE_FLOAT32, memory, 2, GROUPS);
  q = (gather_quantized)GATHER_QUANTIZED_INIT;
  q.codec = GATHER_CODEC_AFFINE, q.data = &data, q.code_type = GATHER_TYPE_UINT4, q.scale = &scale, q.group_len = 16;
  return 0;
}

/* The description is refused, and the error says so in these words. */
static void assert_refused(gather_status status, const char *input, const char *words) {
  gather_error error;
  int64_t shape[GATHER_MAX_RANK] = {-7};
  int32_t rank = -7;
  assert_status(gather_quantized_shape(&q, shape, &rank, &error), status);
  assert_error(&error, status);
  assert_int_equal(rank, -7);
  assert_int_equal(shape[0], -7);
  if (!strstr(error.message, words)) fail_msg("'%s' does not say '%s'", error.message, words);
  if (input)
    assert_string_equal(error.input, input);
  else
    assert_null(error.input);
}

/* The same, with one more change. */
#define REFUSED(change, ...) ((void)(change), assert_refused(__VA_ARGS__))

static void assert_shape(int32_t rank, const int64_t *shape) {
  int64_t has[GATHER_MAX_RANK];
  int32_t has_rank = 0;
  gather_error error;
  if (gather_quantized_shape(&q, has, &has_rank, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(has_rank, rank);
  for (int32_t d = 0; d < rank; d++) assert_int_equal(has[d], shape[d]);
}

#define SHAPED(change, ...) ((void)(change), assert_shape(__VA_ARGS__))

static void table(void **unused) {
  int codec = 1;
  for (; gather_codec_get((gather_codec)codec); codec++) {
    const gather_codec_info *info = gather_codec_get((gather_codec)codec);
    gather_error error;
    assert_int_equal(info->codec, codec);
    assert_int_equal(gather_codec_parse(info->name), codec);
    assert_true(info->block_len >= 1 && info->value[0] && info->source[0]);
    const gather_status status = gather_codec_check((gather_codec)codec, &error);
    assert_status(status, info->kind == GATHER_CODEC_REFUSED ? GATHER_UNSUPPORTED : GATHER_OK);
    if (status != GATHER_OK) assert_non_null(strstr(error.message, info->value));
  }
  assert_true(codec > 30);
  assert_null(gather_codec_get(GATHER_CODEC_NONE));
  assert_int_equal(gather_codec_parse("q4_k"), GATHER_CODEC_NONE);
  assert_int_equal(gather_codec_parse(NULL), GATHER_CODEC_NONE);
  assert_status(gather_codec_check((gather_codec)codec, NULL), GATHER_USAGE);
  assert_status(gather_codec_check(GATHER_CODEC_NONE, NULL), GATHER_USAGE);
}

static void shapes(void **unused) {
  assert_shape(2, DIMS(3, 64));
  SHAPED((q.rank = 2, q.shape = DIMS(3, 63)), 2, DIMS(3, 63));               /* the last code of a row is padding */
  SHAPED((q.shape = DIMS(6, 32), scale.shape = DIMS(6, 2)), 2, DIMS(6, 32)); /* the same codes in other rows */
  SHAPED((q.rank = 0, scale.shape = GROUPS, scale.rank = 0), 2, DIMS(3, 64));
  SHAPED((scale.rank = 1, scale.shape = DIMS(3), q.group_len = 0), 2, DIMS(3, 64)); /* one scale a row, without the dimension of length 1 */
  SHAPED((scale.rank = 2, scale.shape = DIMS(1, 4), q.group_len = 16), 2, DIMS(3, 64));
  SHAPED((scale.shape = DIMS(2, 2), q.groups = DIMS(2, 32)), 2, DIMS(3, 64));
  fresh(NULL);
  data.type = GATHER_TYPE_UINT32; /* 8 codes a word */
  SHAPED((q.group_len = 0, scale.rank = 0), 2, DIMS(3, 256));
  SHAPED((q.code_type = GATHER_TYPE_UINT8, q.code_bits = 3), 2, DIMS(3, 341));
}

static void blocks(void **unused) {
  q = (gather_quantized)GATHER_QUANTIZED_INIT;
  SHAPED((q.codec = GATHER_CODEC_Q4_0, q.data = &data, data.shape = DIMS(3, 36)), 2, DIMS(3, 64));
  SHAPED((data.type = GATHER_TYPE_OPAQUE, data.item_bytes = 18, data.shape = DIMS(3, 5)), 2, DIMS(3, 160));
  REFUSED(data.item_bytes = 20, GATHER_TYPE_MISMATCH, "data", "elements of 20 bytes; a block of Q4_0 has 18");
  data.type = GATHER_TYPE_UINT8, data.shape = DIMS(3, 35);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of 35 bytes, not a multiple of 18");
  REFUSED((data.type = GATHER_TYPE_FLOAT32, data.shape = DIMS(3, 36)), GATHER_TYPE_UNSUPPORTED, "data", "float32 data of the codec Q4_0");
  REFUSED((data.type = GATHER_TYPE_UINT8, data.strides = DIMS(72, 2)), GATHER_UNSUPPORTED, "data", "the rows of data must have no gaps");
  REFUSED((data.strides = NULL, q.scale = &scale), GATHER_USAGE, "scale", "the codec Q4_0 has no scale");
  q.scale = NULL, q.rank = 2, q.shape = DIMS(3, 63);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of 63 values are not whole blocks of Q4_0");
  q.rank = 0, q.codec = GATHER_CODEC_ROWWISE8, data.shape = DIMS(3, 7);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of 7 bytes; the scale and the bias of rowwise8 need 8");
  SHAPED(data.shape = DIMS(3, 8), 2, DIMS(3, 0));
  REFUSED(data.rank = 0, GATHER_RANK_MISMATCH, "data", "rank of at least 1");
}

/* Rows whose bytes can be counted and whose values cannot. */
static void rows_too_long(void **unused) {
  if (sizeof(void *) < 8) skip();        /* their bytes cannot be counted either */
  const int64_t many = INT64_C(1) << 55; /* times 256 values, in 50 bytes */
  q = (gather_quantized)GATHER_QUANTIZED_INIT;
  q.codec = GATHER_CODEC_IQ1_S, q.data = &data;
  data.type = GATHER_TYPE_OPAQUE, data.item_bytes = 50, data.shape = DIMS(1, many);
  assert_refused(GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
  SHAPED(data.shape = DIMS(1, many - 1), 2, DIMS(1, (many - 1) * 256));
  data.type = GATHER_TYPE_UINT8, data.item_bytes = 0, data.shape = DIMS(1, many * 50);
  assert_refused(GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
  q.codec = GATHER_CODEC_AFFINE, q.code_type = GATHER_TYPE_UINT4, data.shape = DIMS(1, many * 32);
  assert_refused(GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
}

static void refused_codecs(void **unused) {
  REFUSED(q.codec = GATHER_CODEC_Q8_1, GATHER_UNSUPPORTED, "data", "Q8_1 is not decoded: it holds activations during a multiplication");
  REFUSED(q.codec = GATHER_CODEC_GPTQ, GATHER_UNSUPPORTED, "data", "gptq is not decoded: a word holds codes of 8 rows");
  REFUSED(q.codec = (gather_codec)4711, GATHER_USAGE, NULL, "invalid codec 4711");
  REFUSED(q.codec = GATHER_CODEC_NONE, GATHER_USAGE, NULL, "invalid codec 0");
}

static void codes(void **unused) {
  REFUSED(q.code_type = GATHER_TYPE_FLOAT8_E4M3FN, GATHER_TYPE_UNSUPPORTED, "data", "codes of the codec affine cannot be float8_e4m3fn");
  REFUSED(q.code_type = GATHER_TYPE_UINT16, GATHER_TYPE_UNSUPPORTED, "data", "cannot be uint16");
  REFUSED(q.code_type = (gather_type)999, GATHER_USAGE, NULL, "invalid code_type 999");
  REFUSED((q.code_type = GATHER_TYPE_UINT4, q.code_bits = 3), GATHER_USAGE, NULL, "code_bits is 3, which does not fit codes of uint4");
  REFUSED((q.code_type = GATHER_TYPE_UINT8, q.code_bits = 9), GATHER_USAGE, NULL, "code_bits is 9");
  REFUSED(q.code_bits = -1, GATHER_USAGE, NULL, "code_bits is -1");
  REFUSED((q.code_bits = 3, q.order = GATHER_CODE_ORDER_HIGH_FIRST), GATHER_USAGE, NULL, "cannot be in the order high first");
  fresh(NULL);
  REFUSED(data.type = GATHER_TYPE_FLOAT32, GATHER_TYPE_UNSUPPORTED, "data", "float32 data");
  fresh(NULL);
  REFUSED((q.codec = GATHER_CODEC_NF4, q.code_type = GATHER_TYPE_UINT2), GATHER_USAGE, NULL, "codes of the codec nf4 have 4 bits, not 2");
  fresh(NULL);
  REFUSED(q.codec = GATHER_CODEC_FLOAT, GATHER_TYPE_UNSUPPORTED, "data", "cannot be uint4");
  fresh(NULL);
  REFUSED(data.strides = DIMS(64, 2), GATHER_UNSUPPORTED, "data", "must have no gaps");
  REFUSED(q.data = NULL, GATHER_USAGE, "data", "data is NULL");
}

static void given_shapes(void **unused) {
  q.rank = 2, q.shape = DIMS(3, 65);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of data hold 64 values; the shape of the values needs 65");
  REFUSED(q.shape = DIMS(4, 64), GATHER_SHAPE_MISMATCH, "data", "data holds 192 codes; the shape [4, 64] needs more");
  REFUSED(q.shape = DIMS(3, -1), GATHER_USAGE, NULL, "negative");
  REFUSED(q.shape = DIMS(INT64_MAX, INT64_MAX), GATHER_OVERFLOW, "data", "does not fit");
  REFUSED(q.shape = NULL, GATHER_USAGE, NULL, "their shape is NULL");
  REFUSED(q.rank = -1, GATHER_USAGE, NULL, "rank of the values is -1");
  REFUSED(q.rank = 65, GATHER_USAGE, NULL, "rank of the values is 65");
  q.rank = 2, q.shape = DIMS(5, 51), q.code_type = GATHER_TYPE_UINT8, q.code_bits = 3; /* 85 codes and a bit in each row */
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "the rows of data end with unused bits");
}

static void groups(void **unused) {
  REFUSED(q.group_axis = 2, GATHER_AXIS_OUT_OF_RANGE, NULL, "group_axis is 2; it must be in [-2, 1]");
  REFUSED((q.group_axis = -1, q.group_len = -3), GATHER_USAGE, NULL, "the group length -3 is negative");
  REFUSED((q.flat_groups = true, q.group_len = 0), GATHER_USAGE, NULL, "flat groups need at least 1");
  REFUSED(q.group_len = 32, GATHER_SHAPE_MISMATCH, "scale", "the scale has 12 elements; 192 elements in flat groups of 32 need 6");
  SHAPED(q.group_len = 16, 2, DIMS(3, 64));
}

static void side_tensors(void **unused) {
  REFUSED(scale.shape = DIMS(3, 5), GATHER_SHAPE_MISMATCH, "scale", "the scale has the shape [3, 5]; the groups need [3, 4]");
  REFUSED(scale.shape = DIMS(4, 4), GATHER_SHAPE_MISMATCH, "scale", "the scale has the shape [4, 4]; the groups need [3, 4]");
  REFUSED((scale.shape = DIMS(3, 4, 1), scale.rank = 3), GATHER_SHAPE_MISMATCH, "scale", "the groups need [3, 4]");
  scale.shape = DIMS(3), scale.rank = 1; /* four groups a row: the last dimension cannot be missing */
  assert_refused(GATHER_SHAPE_MISMATCH, "scale", "the groups need [3, 4]");
  fresh(NULL);
  REFUSED(scale.type = GATHER_TYPE_BOOL, GATHER_TYPE_UNSUPPORTED, "scale", "the scale cannot be bool");
  REFUSED((scale.type = GATHER_TYPE_FLOAT32, scale.data = NULL), GATHER_USAGE, "scale", "the data pointer of the scale is NULL");
  fresh(NULL);
  q.scale_type = GATHER_TYPE_FLOAT8_E8M0FNU;
  assert_refused(GATHER_TYPE_MISMATCH, "scale", "elements of the scale are float32, which cannot hold float8_e8m0fnu");
  SHAPED(scale.type = GATHER_TYPE_UINT8, 2, DIMS(3, 64));
  fresh(NULL);
  gather_tensor other = tensor_of(GATHER_TYPE_UINT8, memory, 2, DIMS(3, 3));
  REFUSED(q.zero_point = &other, GATHER_SHAPE_MISMATCH, "zero_point", "the zero_point has the shape [3, 3]; the groups need [3, 4]");
  REFUSED(q.zero_point_type = GATHER_TYPE_UINT4, GATHER_SHAPE_MISMATCH, "zero_point", "has the shape [3, 3]; the groups need [3, 2] bytes");
  SHAPED(other.shape = DIMS(3, 2), 2, DIMS(3, 64));
  q.zero_point_type = GATHER_TYPE_NONE, q.zero_point = NULL, q.bias = &other;
  assert_refused(GATHER_USAGE, "bias", "the codec affine has no bias");
  REFUSED((q.codec = GATHER_CODEC_BIASED, q.bias = NULL), GATHER_USAGE, "bias", "the codec biased needs a bias");
  REFUSED(q.codec = GATHER_CODEC_TABLE, GATHER_USAGE, "table", "the codec table needs a table");
  REFUSED(q.table = &other, GATHER_SHAPE_MISMATCH, "table", "the table has 6 elements; it must have 16");
  fresh(NULL);
  q.codec = GATHER_CODEC_FLOAT, q.code_type = GATHER_TYPE_FLOAT4_E2M1FN, q.scale = NULL, q.scale2 = &other;
  assert_refused(GATHER_USAGE, "scale", "scale2 needs a scale");
  fresh(NULL);
  REFUSED((q.codec = GATHER_CODEC_BIASED, q.bias = &scale, q.scale2 = &other), GATHER_USAGE, "scale2", "the codec biased has no scale2");
  fresh(NULL);
  REFUSED(q.scale_type = (gather_type)999, GATHER_TYPE_UNSUPPORTED, "scale", "the scale cannot be read as an unknown type");
}

/* Zero points of 4 bits in bytes, two of which are a row: what each length, and each stride, may be. */
static void packed_zero_points(void **unused) {
  static const struct {
    int64_t shape[2], strides[2];
    const char *words; /* NULL: it fits */
  } CASES[] = {{{3, 2}, {2, 1}, NULL},
               {{1, 2}, {2, 1}, NULL}, /* the same for all rows */
               {{3, 2}, {-2, 1}, NULL},
               {{3, 1}, {1, 1}, "the groups need [3, 2] bytes"}, /* along the last dimension a byte is not one for all */
               {{2, 2}, {2, 1}, "the groups need [3, 2] bytes"},
               {{3, 2}, {4, 2}, "the rows of the zero_point must have no gaps"}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    fresh(NULL);
    gather_tensor points = tensor_of(GATHER_TYPE_UINT8, memory + 64, 2, CASES[i].shape);
    points.strides = CASES[i].strides;
    q.zero_point = &points, q.zero_point_type = GATHER_TYPE_UINT4;
    if (CASES[i].words)
      assert_refused(strstr(CASES[i].words, "gaps") ? GATHER_UNSUPPORTED : GATHER_SHAPE_MISMATCH, "zero_point", CASES[i].words);
    else
      assert_shape(2, DIMS(3, 64));
  }
  gather_tensor points = tensor_of(GATHER_TYPE_UINT8, memory, 1, DIMS(6));
  REFUSED(q.zero_point = &points, GATHER_SHAPE_MISMATCH, "zero_point", "has the shape [6]; the groups need [3, 2] bytes");
  REFUSED(q.flat_groups = true, GATHER_UNSUPPORTED, "zero_point", "of flat groups must be in row-major order");
}

static void nested_scales(void **unused) {
  gather_tensor list = tensor_of(GATHER_TYPE_FLOAT32, memory, 1, DIMS(256));
  gather_tensor second = tensor_of(GATHER_TYPE_FLOAT32, memory, 1, DIMS(3));
  q.codec = GATHER_CODEC_NF4, q.code_type = GATHER_TYPE_NONE, q.scale_table = &list, q.scale_scale = &second;
  assert_refused(GATHER_USAGE, "scale_scale", "scale_group_len is 0");
  REFUSED(q.scale_group_len = 4, GATHER_TYPE_UNSUPPORTED, "scale", "must be uint8");
  SHAPED(scale.type = GATHER_TYPE_UINT8, 2, DIMS(3, 64));
  REFUSED(second.shape = DIMS(4), GATHER_SHAPE_MISMATCH, "scale_scale", "has 4 elements; it must have 3");
  REFUSED(q.scale_scale = NULL, GATHER_USAGE, "scale_scale", "the scale_scale is missing");
  q.scale_scale = &second, second.shape = DIMS(3), list.shape = DIMS(255);
  assert_refused(GATHER_SHAPE_MISMATCH, "scale_table", "has 255 elements; it must have 256");
  REFUSED((list.shape = DIMS(256), list.data = NULL), GATHER_USAGE, "scale_table", "the data pointer of the scale_table is NULL");
  REFUSED((list.data = memory, list.strides = DIMS(8)), GATHER_UNSUPPORTED, "scale_table", "must be whole bytes in row-major order");
  REFUSED((list.strides = NULL, scale.strides = DIMS(1, 3)), GATHER_TYPE_UNSUPPORTED, "scale", "must be uint8 in row-major order");
  REFUSED((scale.strides = NULL, q.scale_type = GATHER_TYPE_UINT8), GATHER_TYPE_UNSUPPORTED, "scale", "must be uint8 in row-major order");
  REFUSED((q.scale_type = GATHER_TYPE_NONE, q.scale = NULL), GATHER_USAGE, "scale", "scale_table needs a scale");
  REFUSED((q.scale = &scale, q.scale_table = NULL), GATHER_USAGE, "scale_table", "the scale_table is missing");
  q.codec = GATHER_CODEC_Q4_0, q.scale = NULL, q.scale_scale = NULL, q.scale_table = &list, data.shape = DIMS(3, 36);
  assert_refused(GATHER_USAGE, "scale_table", "the codec Q4_0 has no scale_table");
}

/* ---- gathering */

static const int64_t OUT[2] = {2, 64};
static float out[128];

static gather_status take(gather_type type, const void *indices, const gather_options *options, gather_error *error) {
  const int64_t two = 2;
  const gather_tensor index = tensor_of(GATHER_TYPE_INT64, indices, 1, &two);
  const gather_tensor to = tensor_of(type, out, 2, OUT);
  return gather_take_quantized(NULL, &q, &index, &to, options, error);
}

static void indices_out_of_range(void **unused) {
  const int64_t wrong[2] = {1, 3}, right[2] = {-3, 2};
  gather_error error;
  int64_t bad = -1;
  memset(out, 0x11, sizeof out);
  assert_status(take(GATHER_TYPE_FLOAT32, wrong, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.position[0], 1);
  assert_int_equal(error.position_rank, 1);
  assert_int_equal(error.value, 3);
  assert_int_equal(error.low, -3);
  assert_int_equal(error.high, 2);
  assert_int_equal(error.bad_count, 1);
  for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((unsigned char *)out)[i], 0x11); /* transactional */
  assert_status(take(GATHER_TYPE_FLOAT32, right, NULL, &error), GATHER_OK);
  gather_options options = GATHER_OPTIONS_INIT;
  const float seven = 7;
  options.on_bad = GATHER_ON_BAD_FILL, options.fill = &seven, options.bad_count = &bad;
  assert_status(take(GATHER_TYPE_FLOAT32, wrong, &options, &error), GATHER_OK);
  assert_int_equal(bad, 1);
  for (int i = 64; i < 128; i++) assert_true(out[i] == 7);
}

static void outputs(void **unused) {
  const int64_t right[2] = {0, 2};
  gather_error error;
  assert_status(take(GATHER_TYPE_FLOAT64, right, NULL, &error), GATHER_TYPE_UNSUPPORTED);
  assert_string_equal(error.input, "output");
  assert_non_null(strstr(error.message, "float32, float16 or bfloat16, not to float64"));
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, right, 1, DIMS(2)), to = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(2, 63));
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_SHAPE_MISMATCH);
  to.shape = OUT, to.data = NULL;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_USAGE);
  to.data = memory;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "overlaps"));
  to.data = out, to.flags = GATHER_TENSOR_READ_ONLY;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_USAGE);
  to.flags = 0;
  assert_status(gather_take_quantized(NULL, NULL, &index, &to, NULL, &error), GATHER_USAGE);
  assert_status(gather_take_quantized(NULL, &q, NULL, &to, NULL, &error), GATHER_USAGE);
  assert_status(gather_take_quantized(NULL, &q, &index, NULL, NULL, &error), GATHER_USAGE);
  index.type = GATHER_TYPE_FLOAT32;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_TYPE_UNSUPPORTED);
  index.type = GATHER_TYPE_INT64;
  assert_status(gather_take_quantized(op_of("GatherElements", "onnx-13"), &q, &index, &to, NULL, &error), GATHER_UNSUPPORTED);
  data.data = NULL;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_USAGE);
  assert_string_equal(error.input, "data");
  to.shape = DIMS(0, 64), index.shape = DIMS(0); /* nothing is read */
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_OK);
}

/* What a gather is given, one part of it wrong: nothing is written. */
static void refused_calls(void **unused) {
  static const gather_executor none = {NULL, NULL, 1};
  static const gather_op foreign = {.name = "Other", .family = (gather_family)999};
  const int64_t right[2] = {0, 2};
  gather_error error;
  for (int wrong = 0; wrong < 7; wrong++) {
    static const gather_status WANT[] = {GATHER_USAGE, GATHER_USAGE, GATHER_USAGE,         GATHER_USAGE,
                                         GATHER_USAGE, GATHER_USAGE, GATHER_SHAPE_MISMATCH};
    static const char *const INPUT[] = {"indices", NULL, NULL, NULL, NULL, "output", "scale"};
    static const int64_t near[2] = {4, 4}, more[2] = {3, 5};
    gather_options options = GATHER_OPTIONS_INIT;
    gather_tensor index = tensor_of(GATHER_TYPE_INT64, right, 1, DIMS(2));
    gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out, 2, OUT);
    fresh(NULL);
    if (wrong == 0) index.data = NULL;
    if (wrong == 1) options.executor = &none;
    if (wrong == 2) options.size = 1;
    if (wrong == 3) q.size = 1;
    if (wrong == 5) to.strides = near;
    if (wrong == 6) scale.shape = more;
    memset(out, 0x11, sizeof out);
    error = dirty_error();
    const gather_status status = gather_take_quantized(wrong == 4 ? &foreign : NULL, &q, &index, &to, &options, &error);
    if (status != WANT[wrong]) fail_msg("call %d: %s: %s", wrong, gather_status_name(status), error.message);
    assert_error(&error, status);
    if (INPUT[wrong]) assert_string_equal(error.input, INPUT[wrong]);
    for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((unsigned char *)out)[i], 0x11);
  }
  fresh(NULL);
  gather_tensor whole = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(3, 64));
  whole.rank = -1;
  assert_status(gather_dequantize(&q, &whole, NULL, &error), GATHER_UNSUPPORTED);
  assert_string_equal(error.input, "output");
  assert_status(gather_dequantize(NULL, &whole, NULL, &error), GATHER_USAGE);
}

/* An output in the memory of an input. It may follow it. */
static void overlapping_outputs(void **unused) {
  static unsigned char room[4096];
  static const int64_t zero = 0, second_shape = 12;
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, &zero, 1, DIMS(1)), table, list, second, points, bias;
  gather_tensor *const sides[] = {&data, &index, &scale, &points, &bias, &table, &list, &second};
  static const char *const NAMES[] = {"data", "indices", "scale", "zero_point", "bias", "table", "scale_table", "scale_scale"};
  for (size_t i = 0; i < COUNT(sides); i++)
    for (int apart = 0; apart < 2; apart++) {
      gather_error error;
      fresh(NULL);
      index.data = memory, points = bias = scale;
      table = tensor_of(GATHER_TYPE_FLOAT32, memory, 1, DIMS(16)), list = tensor_of(GATHER_TYPE_FLOAT32, memory, 1, DIMS(256));
      second = tensor_of(GATHER_TYPE_FLOAT32, memory, 1, &second_shape);
      memset(memory, 0, sizeof memory), memset(room, 0, sizeof room);
      if (i == 3) q.zero_point = &points;
      if (i == 4) q.codec = GATHER_CODEC_BIASED, q.bias = &bias;
      if (i == 5) q.codec = GATHER_CODEC_TABLE, q.table = &table;
      if (i > 5) scale.type = GATHER_TYPE_UINT8, q.codec = GATHER_CODEC_NF4, q.code_type = GATHER_TYPE_NONE;
      if (i > 5) q.scale_table = &list, q.scale_scale = &second, q.scale_group_len = 1;
      sides[i]->data = room + 256;
      /* The output's last byte is the input's first, or right before it. */
      const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, room + (apart ? 0 : 4), 2, DIMS(1, 64));
      const gather_status status = gather_take_quantized(NULL, &q, &index, &to, NULL, &error);
      if (apart) {
        if (status != GATHER_OK) fail_msg("%s: %s", NAMES[i], error.message);
        continue;
      }
      assert_status(status, GATHER_USAGE);
      assert_string_equal(error.input, "output");
      char words[80] = "the output overlaps ";
      assert_string_equal(error.message, strcat(strcat(words, NAMES[i]), " in memory"));
    }
}

/* A negative batch_dims counts from the rank of the indices. */
static void negative_batch_dims(void **unused) {
  const int64_t picked[6] = {1, 0, 0, 0, 1, 1};
  float other[384];
  gather_options options = GATHER_OPTIONS_INIT;
  for (size_t i = 0; i < sizeof memory; i++) memory[i] = (unsigned char)(i * 11 % 63);
  data.rank = 3, data.shape = DIMS(3, 2, 16), scale.rank = 0;
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, picked, 2, DIMS(3, 2));
  gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, other, 3, DIMS(3, 2, 32));
  float whole[192];
  const gather_tensor all = tensor_of(GATHER_TYPE_FLOAT32, whole, 3, DIMS(3, 2, 32));
  q.group_len = 0;
  assert_status(gather_dequantize(&q, &all, NULL, NULL), GATHER_OK);
  options.axis = 1;
  for (int64_t batch = 1; batch >= -1; batch -= 2) {
    memset(other, 0x11, sizeof other);
    options.batch_dims = batch;
    assert_status(gather_take_quantized(op_of("Gather", "openvino-8"), &q, &index, &to, &options, NULL), GATHER_OK);
    for (int r = 0; r < 6; r++) assert_memory_equal(other + 32 * r, whole + 64 * (r / 2) + 32 * picked[r], 32 * sizeof *whole);
  }
}

/* Lengths whose product only fits because one of them is 0. */
static void long_and_empty(void **unused) {
  const int64_t far = INT64_C(1) << (sizeof(void *) == 8 ? 40 : 24); /* as many indices fit in memory */
  static const int64_t none = 0;
  gather_error error;
  gather_decoder *decoder;
  for (int zero = 0; zero < 3; zero++)
    for (int flat = 0; flat < 2; flat++) {
      int64_t lengths[3] = {far, far, far};
      lengths[zero] = 0;
      data.rank = 3, data.shape = lengths, data.type = GATHER_TYPE_UINT8, q.code_type = GATHER_TYPE_NONE;
      scale.rank = 0, q.flat_groups = flat != 0, q.group_len = 16;
      int64_t taken[3] = {lengths[0] ? 1 : 0, lengths[1], lengths[2]};
      const int64_t ids = taken[0];
      gather_tensor index = tensor_of(GATHER_TYPE_INT64, &none, 1, &ids), to = tensor_of(GATHER_TYPE_FLOAT32, out, 3, taken);
      assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_OK);
      to.shape = lengths;
      assert_status(gather_dequantize(&q, &to, NULL, &error), GATHER_OK);
      if (gather_decoder_create(&q, GATHER_TYPE_FLOAT32, &decoder, &error) == GATHER_OK) gather_decoder_destroy(decoder);
    }
}

static void shared_indices(void **unused) {
  const int64_t right[2] = {-3, 2};
  float again[128];
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, right, 1, DIMS(2)), to = tensor_of(GATHER_TYPE_FLOAT32, again, 2, OUT);
  for (size_t i = 0; i < sizeof memory; i++) memory[i] = (unsigned char)(i * 7 % 61);
  assert_status(take(GATHER_TYPE_FLOAT32, right, NULL, NULL), GATHER_OK);
  index.flags = GATHER_TENSOR_SHARED;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, NULL), GATHER_OK);
  assert_memory_equal(again, out, sizeof out);
  /* More of them than a copy on the stack holds; none at all. */
  enum { MANY = 300 };
  static int64_t ids[MANY];
  static float rows[MANY * 64];
  for (int i = 0; i < MANY; i++) ids[i] = i % 2 ? 2 : -3;
  index = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(MANY)), index.flags = GATHER_TENSOR_SHARED;
  to = tensor_of(GATHER_TYPE_FLOAT32, rows, 2, DIMS(MANY, 64));
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, NULL), GATHER_OK);
  for (int i = 0; i < MANY; i++) assert_memory_equal(rows + 64 * i, out + 64 * (i % 2), 64 * sizeof *out);
  index.shape = DIMS(0), to.shape = DIMS(0, 64);
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, NULL), GATHER_OK);
}

static void decoders(void **unused) {
  gather_decoder *decoder = (gather_decoder *)(void *)memory;
  gather_error error;
  assert_status(gather_decoder_create(&q, GATHER_TYPE_INT8, &decoder, &error), GATHER_TYPE_UNSUPPORTED);
  assert_null(decoder);
  assert_status(gather_decoder_create(&q, GATHER_TYPE_FLOAT32, NULL, &error), GATHER_USAGE);
  assert_status(gather_decoder_create(NULL, GATHER_TYPE_FLOAT32, &decoder, &error), GATHER_USAGE);
  q.rank = 2, q.shape = DIMS(5, 13), scale.rank = 0; /* rows of 13 codes begin within bytes */
  assert_status(gather_decoder_create(&q, GATHER_TYPE_FLOAT32, &decoder, &error), GATHER_UNSUPPORTED);
  assert_non_null(strstr(error.message, "do not begin on whole bytes"));
  q.shape = DIMS(5, 14);
  assert_status(gather_decoder_create(&q, GATHER_TYPE_FLOAT32, &decoder, &error), GATHER_OK);
  int64_t rows = 0, row_bytes = 0, row_len = 0;
  gather_decoder_sizes(decoder, &rows, NULL, NULL), gather_decoder_sizes(decoder, NULL, &row_bytes, NULL);
  gather_decoder_sizes(decoder, NULL, NULL, &row_len);
  assert_true(rows == 5 && row_bytes == 7 && row_len == 14);
  gather_decoder_destroy(decoder);
  q.rank = 1, q.shape = DIMS(5);
  assert_status(gather_decoder_create(&q, GATHER_TYPE_FLOAT32, &decoder, &error), GATHER_RANK_MISMATCH);
  gather_decoder_destroy(NULL);
}

/* Codes of 4 bits: each row must begin on a whole byte, so both the first one and the step count. */
static void rows_on_whole_bytes(void **unused) {
  static const struct {
    int64_t rows, len;
    int32_t first;
    bool whole;
  } CASES[] = {{5, 14, 0, true}, {5, 14, 1, false}, {5, 14, 2, true},  {5, 14, 3, false}, {5, 13, 0, false}, {5, 13, 1, false},
               {1, 14, 1, true}, {1, 13, 0, true},  {5, 16, 1, false}, {5, 16, 8, true},  {5, 16, 9, false}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_decoder *decoder;
    gather_error error;
    q = (gather_quantized)GATHER_QUANTIZED_INIT;
    data = tensor_of(GATHER_TYPE_UINT4, memory, 2, DIMS(CASES[i].rows, CASES[i].len));
    data.packed_offset = CASES[i].first;
    q.codec = GATHER_CODEC_AFFINE, q.data = &data;
    const gather_status status = gather_decoder_create(&q, GATHER_TYPE_FLOAT32, &decoder, &error);
    assert_status(status, CASES[i].whole ? GATHER_OK : GATHER_UNSUPPORTED);
    if (status == GATHER_OK) gather_decoder_destroy(decoder);
  }
}

static void older_and_newer_structs(void **unused) {
  struct {
    gather_quantized known;
    int64_t more[2];
  } newer = {q, {0, 0}};
  gather_error error;
  int32_t rank;
  newer.known.size = sizeof newer;
  assert_status(gather_quantized_shape(&newer.known, NULL, &rank, &error), GATHER_OK);
  newer.more[1] = 1;
  assert_status(gather_quantized_shape(&newer.known, NULL, &rank, &error), GATHER_USAGE);
  SHAPED(q.size = offsetof(gather_quantized, table), 2, DIMS(3, 64)); /* an older header: no table and what follows */
  REFUSED(q.size = 1, GATHER_USAGE, NULL, "gather_quantized.size is 1");
}

TESTS_EACH(fresh, NULL, table, shapes, blocks, rows_too_long, refused_codecs, codes, given_shapes, groups, side_tensors, packed_zero_points,
           nested_scales, indices_out_of_range, outputs, refused_calls, overlapping_outputs, negative_batch_dims, long_and_empty,
           shared_indices, decoders, rows_on_whole_bytes, older_and_newer_structs)
