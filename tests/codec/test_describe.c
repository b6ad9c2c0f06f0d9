/* SPDX-License-Identifier: MIT
 *
 * test_describe.c: the table of codecs; shapes of values; every wrong description, with the argument that the error names; indices
 * out of range.
 */
#include "gather/codec.h"
#include "unit/support.h"

static unsigned char memory[8192];

/* A table of 3 rows of 64 codes of 4 bits in bytes, with a scale for each 16. */
static const int64_t DATA[2] = {3, 32}, GROUPS[2] = {3, 4};
static gather_tensor data, scale;
static gather_quantized q;

static int fresh(void **unused) {
  (void)unused;
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

static void assert_shape(int32_t rank, const int64_t *shape) {
  int64_t has[GATHER_MAX_RANK];
  int32_t has_rank = 0;
  gather_error error;
  if (gather_quantized_shape(&q, has, &has_rank, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(has_rank, rank);
  for (int32_t d = 0; d < rank; d++) assert_int_equal(has[d], shape[d]);
}

static void table(void **unused) {
  (void)unused;
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
  (void)unused;
  assert_shape(2, DIMS(3, 64));
  q.rank = 2, q.shape = DIMS(3, 63); /* the last code of a row is padding */
  assert_shape(2, DIMS(3, 63));
  q.shape = DIMS(6, 32), scale.shape = DIMS(6, 2); /* the same codes in other rows */
  assert_shape(2, DIMS(6, 32));
  q.rank = 0, scale.shape = GROUPS, scale.rank = 0;
  assert_shape(2, DIMS(3, 64));
  scale.rank = 1, scale.shape = DIMS(3), q.group_len = 0; /* one scale a row, without the dimension of length 1 */
  assert_shape(2, DIMS(3, 64));
  scale.rank = 2, scale.shape = DIMS(1, 4), q.group_len = 16;
  assert_shape(2, DIMS(3, 64));
  scale.shape = DIMS(2, 2), q.groups = DIMS(2, 32);
  assert_shape(2, DIMS(3, 64));
  fresh(NULL);
  data.type = GATHER_TYPE_UINT32; /* 8 codes a word */
  q.group_len = 0, scale.rank = 0;
  assert_shape(2, DIMS(3, 256));
  q.code_type = GATHER_TYPE_UINT8, q.code_bits = 3;
  assert_shape(2, DIMS(3, 341));
}

static void blocks(void **unused) {
  (void)unused;
  q = (gather_quantized)GATHER_QUANTIZED_INIT;
  q.codec = GATHER_CODEC_Q4_0, q.data = &data, data.shape = DIMS(3, 36);
  assert_shape(2, DIMS(3, 64));
  data.type = GATHER_TYPE_OPAQUE, data.item_bytes = 18, data.shape = DIMS(3, 5);
  assert_shape(2, DIMS(3, 160));
  data.item_bytes = 20;
  assert_refused(GATHER_TYPE_MISMATCH, "data", "elements of 20 bytes; a block of Q4_0 has 18");
  data.type = GATHER_TYPE_UINT8, data.shape = DIMS(3, 35);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of 35 bytes, not a multiple of the 18");
  data.type = GATHER_TYPE_FLOAT32, data.shape = DIMS(3, 36);
  assert_refused(GATHER_TYPE_UNSUPPORTED, "data", "float32 data of the codec Q4_0");
  data.type = GATHER_TYPE_UINT8, data.strides = DIMS(72, 2);
  assert_refused(GATHER_UNSUPPORTED, "data", "the rows of data must have no gaps");
  data.strides = NULL, q.scale = &scale;
  assert_refused(GATHER_USAGE, "scale", "the codec Q4_0 has no scale");
  q.scale = NULL, q.rank = 2, q.shape = DIMS(3, 63);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of 63 values are not whole blocks of Q4_0");
  q.rank = 0, q.codec = GATHER_CODEC_ROWWISE8, data.shape = DIMS(3, 7);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of 7 bytes; the scale and the bias of rowwise8 need 8");
  data.shape = DIMS(3, 8);
  assert_shape(2, DIMS(3, 0));
  data.rank = 0;
  assert_refused(GATHER_RANK_MISMATCH, "data", "rank of at least 1");
}

static void refused_codecs(void **unused) {
  (void)unused;
  q.codec = GATHER_CODEC_Q8_1;
  assert_refused(GATHER_UNSUPPORTED, "data", "Q8_1 is not decoded: it holds activations during a multiplication");
  q.codec = GATHER_CODEC_GPTQ;
  assert_refused(GATHER_UNSUPPORTED, "data", "gptq is not decoded: a word holds codes of 8 rows");
  q.codec = (gather_codec)4711;
  assert_refused(GATHER_USAGE, NULL, "4711 is no codec");
  q.codec = GATHER_CODEC_NONE;
  assert_refused(GATHER_USAGE, NULL, "0 is no codec");
}

static void codes(void **unused) {
  (void)unused;
  q.code_type = GATHER_TYPE_FLOAT8_E4M3FN;
  assert_refused(GATHER_TYPE_UNSUPPORTED, "data", "codes of the codec affine cannot be float8_e4m3fn");
  q.code_type = GATHER_TYPE_UINT16;
  assert_refused(GATHER_TYPE_UNSUPPORTED, "data", "cannot be uint16");
  q.code_type = (gather_type)999;
  assert_refused(GATHER_USAGE, NULL, "code_type is 999");
  q.code_type = GATHER_TYPE_UINT4, q.code_bits = 3;
  assert_refused(GATHER_USAGE, NULL, "code_bits is 3, which codes of uint4 cannot have");
  q.code_type = GATHER_TYPE_UINT8, q.code_bits = 9;
  assert_refused(GATHER_USAGE, NULL, "code_bits is 9");
  q.code_bits = -1;
  assert_refused(GATHER_USAGE, NULL, "code_bits is -1");
  q.code_bits = 3, q.order = GATHER_CODE_ORDER_HIGH_FIRST;
  assert_refused(GATHER_USAGE, NULL, "no order high first");
  fresh(NULL);
  data.type = GATHER_TYPE_FLOAT32;
  assert_refused(GATHER_TYPE_UNSUPPORTED, "data", "float32 data");
  fresh(NULL);
  q.codec = GATHER_CODEC_NF4, q.code_type = GATHER_TYPE_UINT2;
  assert_refused(GATHER_USAGE, NULL, "codes of the codec nf4 have 4 bits, not 2");
  fresh(NULL);
  q.codec = GATHER_CODEC_FLOAT;
  assert_refused(GATHER_TYPE_UNSUPPORTED, "data", "cannot be uint4");
  fresh(NULL);
  data.strides = DIMS(64, 2);
  assert_refused(GATHER_UNSUPPORTED, "data", "must have no gaps");
  q.data = NULL;
  assert_refused(GATHER_USAGE, "data", "data is NULL");
}

static void given_shapes(void **unused) {
  (void)unused;
  q.rank = 2, q.shape = DIMS(3, 65);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "rows of data hold 64 values; the shape of the values needs 65");
  q.shape = DIMS(4, 64);
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "data holds 192 codes; the shape [4, 64] needs more");
  q.shape = DIMS(3, -1);
  assert_refused(GATHER_USAGE, NULL, "negative");
  q.shape = DIMS(INT64_MAX, INT64_MAX);
  assert_refused(GATHER_OVERFLOW, "data", "does not fit");
  q.shape = NULL;
  assert_refused(GATHER_USAGE, NULL, "their shape is NULL");
  q.rank = -1;
  assert_refused(GATHER_USAGE, NULL, "rank of the values is -1");
  q.rank = 65;
  assert_refused(GATHER_USAGE, NULL, "rank of the values is 65");
  q.rank = 2, q.shape = DIMS(5, 51), q.code_type = GATHER_TYPE_UINT8,
  q.code_bits = 3; /* 85 codes and a bit in each row */
  assert_refused(GATHER_SHAPE_MISMATCH, "data", "its rows end with bits of no code");
}

static void groups(void **unused) {
  (void)unused;
  q.group_axis = 2;
  assert_refused(GATHER_AXIS_OUT_OF_RANGE, NULL, "group_axis is 2; it must be in [-2, 1]");
  q.group_axis = -1, q.group_len = -3;
  assert_refused(GATHER_USAGE, NULL, "the group length -3 is negative");
  q.flat_groups = true, q.group_len = 0;
  assert_refused(GATHER_USAGE, NULL, "flat groups need at least 1");
  q.group_len = 32;
  assert_refused(GATHER_SHAPE_MISMATCH, "scale", "the scale has 12 elements; 192 elements in flat groups of 32 need 6");
  q.group_len = 16;
  assert_shape(2, DIMS(3, 64));
}

static void side_tensors(void **unused) {
  (void)unused;
  scale.shape = DIMS(3, 5);
  assert_refused(GATHER_SHAPE_MISMATCH, "scale", "the scale has the shape [3, 5]; the groups need [3, 4]");
  scale.shape = DIMS(4, 4);
  assert_refused(GATHER_SHAPE_MISMATCH, "scale", "the scale has the shape [4, 4]; the groups need [3, 4]");
  scale.shape = DIMS(3, 4, 1), scale.rank = 3;
  assert_refused(GATHER_SHAPE_MISMATCH, "scale", "the groups need [3, 4]");
  scale.shape = DIMS(3), scale.rank = 1; /* four groups a row: the last dimension cannot be missing */
  assert_refused(GATHER_SHAPE_MISMATCH, "scale", "the groups need [3, 4]");
  fresh(NULL);
  scale.type = GATHER_TYPE_BOOL;
  assert_refused(GATHER_TYPE_UNSUPPORTED, "scale", "the scale cannot be bool");
  scale.type = GATHER_TYPE_FLOAT32, scale.data = NULL;
  assert_refused(GATHER_USAGE, "scale", "the data pointer of the scale is NULL");
  fresh(NULL);
  q.scale_type = GATHER_TYPE_FLOAT8_E8M0FNU;
  assert_refused(GATHER_TYPE_MISMATCH, "scale", "elements of the scale are float32, which cannot hold float8_e8m0fnu");
  scale.type = GATHER_TYPE_UINT8;
  assert_shape(2, DIMS(3, 64));
  fresh(NULL);
  gather_tensor other = tensor_of(GATHER_TYPE_UINT8, memory, 2, DIMS(3, 3));
  q.zero_point = &other;
  assert_refused(GATHER_SHAPE_MISMATCH, "zero_point", "the zero_point has the shape [3, 3]; the groups need [3, 4]");
  q.zero_point_type = GATHER_TYPE_UINT4;
  assert_refused(GATHER_SHAPE_MISMATCH, "zero_point", "has the shape [3, 3]; the groups need [3, 2] bytes");
  other.shape = DIMS(3, 2);
  assert_shape(2, DIMS(3, 64));
  q.zero_point_type = GATHER_TYPE_NONE, q.zero_point = NULL, q.bias = &other;
  assert_refused(GATHER_USAGE, "bias", "the codec affine has no bias");
  q.codec = GATHER_CODEC_BIASED, q.bias = NULL;
  assert_refused(GATHER_USAGE, "bias", "the codec biased needs a bias");
  q.codec = GATHER_CODEC_TABLE;
  assert_refused(GATHER_USAGE, "table", "the codec table needs a table");
  q.table = &other;
  assert_refused(GATHER_SHAPE_MISMATCH, "table", "the table has 6 elements; it must have 16");
  fresh(NULL);
  q.codec = GATHER_CODEC_FLOAT, q.code_type = GATHER_TYPE_FLOAT4_E2M1FN, q.scale = NULL, q.scale2 = &other;
  assert_refused(GATHER_USAGE, "scale", "scale2 needs a scale");
}

static void nested_scales(void **unused) {
  (void)unused;
  gather_tensor list = tensor_of(GATHER_TYPE_FLOAT32, memory, 1, DIMS(256));
  gather_tensor second = tensor_of(GATHER_TYPE_FLOAT32, memory, 1, DIMS(3));
  q.codec = GATHER_CODEC_NF4, q.code_type = GATHER_TYPE_NONE, q.scale_table = &list, q.scale_scale = &second;
  assert_refused(GATHER_USAGE, "scale_scale", "scale_group_len is 0");
  q.scale_group_len = 4;
  assert_refused(GATHER_TYPE_UNSUPPORTED, "scale", "must be uint8");
  scale.type = GATHER_TYPE_UINT8;
  assert_shape(2, DIMS(3, 64));
  second.shape = DIMS(4);
  assert_refused(GATHER_SHAPE_MISMATCH, "scale_scale", "has 4 elements; it must have 3");
  q.scale_scale = NULL;
  assert_refused(GATHER_USAGE, "scale_scale", "the scale_scale is missing");
  q.scale_scale = &second, second.shape = DIMS(3), list.shape = DIMS(255);
  assert_refused(GATHER_SHAPE_MISMATCH, "scale_table", "has 255 elements; it must have 256");
  q.scale_table = NULL;
  assert_refused(GATHER_USAGE, "scale_table", "the scale_table is missing");
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
  (void)unused;
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
  (void)unused;
  const int64_t right[2] = {0, 2};
  gather_error error;
  assert_status(take(GATHER_TYPE_FLOAT64, right, NULL, &error), GATHER_TYPE_UNSUPPORTED);
  assert_string_equal(error.input, "output");
  assert_non_null(strstr(error.message, "float32, float16 or bfloat16, not to float64"));
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, right, 1, DIMS(2)),
                to = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(2, 63));
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
  assert_status(gather_take_quantized(op_of("GatherElements", "onnx-13"), &q, &index, &to, NULL, &error),
                GATHER_UNSUPPORTED);
  data.data = NULL;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_USAGE);
  assert_string_equal(error.input, "data");
  to.shape = DIMS(0, 64), index.shape = DIMS(0); /* nothing is read */
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_OK);
}

/* Lengths whose product only fits because one of them is 0. */
static void long_and_empty(void **unused) {
  (void)unused;
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
      gather_tensor index = tensor_of(GATHER_TYPE_INT64, &none, 1, &ids),
                    to = tensor_of(GATHER_TYPE_FLOAT32, out, 3, taken);
      assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, &error), GATHER_OK);
      to.shape = lengths;
      assert_status(gather_dequantize(&q, &to, NULL, &error), GATHER_OK);
      if (gather_decoder_create(&q, GATHER_TYPE_FLOAT32, &decoder, &error) == GATHER_OK)
        gather_decoder_destroy(decoder);
    }
}

static void shared_indices(void **unused) {
  (void)unused;
  const int64_t right[2] = {-3, 2};
  float again[128];
  gather_tensor index = tensor_of(GATHER_TYPE_INT64, right, 1, DIMS(2)),
                to = tensor_of(GATHER_TYPE_FLOAT32, again, 2, OUT);
  for (size_t i = 0; i < sizeof memory; i++) memory[i] = (unsigned char)(i * 7 % 61);
  assert_status(take(GATHER_TYPE_FLOAT32, right, NULL, NULL), GATHER_OK);
  index.flags = GATHER_TENSOR_SHARED;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, NULL), GATHER_OK);
  assert_memory_equal(again, out, sizeof out);
}

static void decoders(void **unused) {
  (void)unused;
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
  } CASES[] = {{5, 14, 0, true},  {5, 14, 1, false}, {5, 14, 2, true}, {5, 14, 3, false},
               {5, 13, 0, false}, {5, 13, 1, false}, {1, 14, 1, true}, {1, 13, 0, true},
               {5, 16, 1, false}, {5, 16, 8, true},  {5, 16, 9, false}};
  (void)unused;
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
  (void)unused;
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
  q.size = offsetof(gather_quantized, table); /* an older header: no table and what follows */
  assert_shape(2, DIMS(3, 64));
  q.size = 1;
  assert_refused(GATHER_USAGE, NULL, "gather_quantized.size is 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table),
      cmocka_unit_test_setup(shapes, fresh),
      cmocka_unit_test_setup(blocks, fresh),
      cmocka_unit_test_setup(refused_codecs, fresh),
      cmocka_unit_test_setup(codes, fresh),
      cmocka_unit_test_setup(given_shapes, fresh),
      cmocka_unit_test_setup(groups, fresh),
      cmocka_unit_test_setup(side_tensors, fresh),
      cmocka_unit_test_setup(nested_scales, fresh),
      cmocka_unit_test_setup(indices_out_of_range, fresh),
      cmocka_unit_test_setup(outputs, fresh),
      cmocka_unit_test_setup(long_and_empty, fresh),
      cmocka_unit_test_setup(shared_indices, fresh),
      cmocka_unit_test_setup(decoders, fresh),
      cmocka_unit_test_setup(rows_on_whole_bytes, fresh),
      cmocka_unit_test_setup(older_and_newer_structs, fresh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
