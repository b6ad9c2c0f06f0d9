/* SPDX-License-Identifier: MIT
 *
 * test_decode.c: memory. Packed rows, side tensors and outputs lie between pages that nobody may touch, at every alignment, in every
 * number; each way of decoding (a gather, the whole, rows that a caller has read) gives the same bits.
 */
#include "core/kernel/dispatch.h"
#include "gather/codec.h"
#include "support/guard.h"
#include "support/unit.h"

enum { ROWS = 7, MOST_BLOCKS = 9, AREA = 1 << 16 };
static const gather_type OUTPUTS[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16, GATHER_TYPE_BFLOAT16};
static struct guard packed, sides, outputs;
static float plain[ROWS * MOST_BLOCKS * 256];

static int setup(void **unused) {
  packed = guard_create(AREA), sides = guard_create(AREA), outputs = guard_create(AREA);
  return 0;
}

static int teardown(void **unused) {
  guard_destroy(packed), guard_destroy(sides), guard_destroy(outputs);
  return 0;
}

static unsigned noise(unsigned i) { return (i * 2654435761u) >> 11; }

/* Bytes of no particular kind. */
static unsigned char *drawn(struct guard area, size_t bytes, bool at_end, unsigned seed) {
  unsigned char *at = guard_place(area, bytes, at_end);
  for (size_t i = 0; i < bytes; i++) at[i] = (unsigned char)noise((unsigned)i + seed);
  return at;
}

static bool equal(gather_type type, const char *a, const float *wide) {
  float narrow;
  unsigned char copy[4];
  const size_t bytes = type == GATHER_TYPE_FLOAT32 ? 4 : 2;
  memcpy(copy, a, bytes);
  double got, want;
  assert_true(gather_float_read(type, copy, &got));
  memcpy(&narrow, wide, sizeof narrow);
  const char *isa;
  if (type != GATHER_TYPE_FLOAT32) { /* rounding by itself is tested against NumPy */
    uint16_t half;
    gather_kernel_narrow(type == GATHER_TYPE_FLOAT16 ? GATHER_DECODE_FLOAT16 : GATHER_DECODE_BFLOAT16, &isa)(&narrow, 1, &half);
    assert_true(gather_float_read(type, &half, &want));
  } else
    want = (double)narrow;
  return (got != got && want != want) || memcmp(&got, &want, sizeof got) == 0;
}

/* All ways to have the rows of a tensor of rank 2. */
static void try_all(gather_quantized *q, int64_t row_bytes, unsigned char *rows, int64_t len) {
  static const int64_t picked[] = {6, 0, -1, 3, 3, 2};
  const int64_t shape[2] = {ROWS, len}, out_shape[2] = {COUNT(picked), len}, count = COUNT(picked);
  gather_error error;
  const gather_tensor whole = tensor_of(GATHER_TYPE_FLOAT32, plain, 2, shape);
  const gather_tensor index = tensor_of(GATHER_TYPE_INT64, picked, 1, &count);
  if (gather_dequantize(q, &whole, NULL, &error) != GATHER_OK) fail_msg("%s", error.message);
  for (size_t o = 0; o < COUNT(OUTPUTS); o++) {
    const size_t item = OUTPUTS[o] == GATHER_TYPE_FLOAT32 ? 4 : 2;
    for (int at_end = 0; at_end < 2; at_end++) {
      char *out = (char *)guard_place(outputs, COUNT(picked) * (size_t)len * item, at_end != 0);
      const gather_tensor to = tensor_of(OUTPUTS[o], out, 2, out_shape);
      assert_status(gather_take_quantized(NULL, q, &index, &to, NULL, NULL), GATHER_OK);
      for (size_t i = 0; i < COUNT(picked) * (size_t)len; i++)
        assert_true(
            equal(OUTPUTS[o], out + i * item, plain + (size_t)((picked[i / (size_t)len] + ROWS) % ROWS) * (size_t)len + i % (size_t)len));
    }
    gather_decoder *decoder;
    int64_t has_rows, has_bytes, has_len;
    assert_status(gather_decoder_create(q, OUTPUTS[o], &decoder, NULL), GATHER_OK);
    gather_decoder_sizes(decoder, &has_rows, &has_bytes, &has_len);
    assert_int_equal(has_rows, ROWS);
    assert_int_equal(has_bytes, row_bytes);
    assert_int_equal(has_len, len);
    for (int64_t r = 0; r < ROWS; r++) { /* a row alone, flush against the forbidden page */
      unsigned char copy[8192];
      memcpy(copy, rows + r * row_bytes, (size_t)row_bytes);
      unsigned char *alone = guard_place(packed, (size_t)row_bytes, r % 2 != 0);
      unsigned char saved[8192];
      memcpy(saved, alone, (size_t)row_bytes);
      memcpy(alone, copy, (size_t)row_bytes);
      char *out = (char *)guard_place(outputs, (size_t)len * item, r % 2 == 0);
      gather_decoder_rows(decoder, alone, row_bytes, &r, 1, out, len * (int64_t)item);
      for (int64_t i = 0; i < len; i++) assert_true(equal(OUTPUTS[o], out + (size_t)i * item, plain + r * len + i));
      memcpy(alone, saved, (size_t)row_bytes);
    }
    gather_decoder_destroy(decoder);
  }
}

static void blocks(void **unused) {
  for (int codec = 1; gather_codec_get((gather_codec)codec); codec++) {
    const gather_codec_info *info = gather_codec_get((gather_codec)codec);
    if (info->kind != GATHER_CODEC_BLOCKS) continue;
    for (int64_t count = 1; count <= MOST_BLOCKS; count++)
      for (int at_end = 0; at_end < 2; at_end++) {
        gather_quantized q = GATHER_QUANTIZED_INIT;
        const int64_t row_bytes = count * info->block_bytes, shape[2] = {ROWS, count};
        unsigned char *rows = drawn(packed, (size_t)(ROWS * row_bytes), at_end != 0, (unsigned)codec);
        gather_tensor data = tensor_of(GATHER_TYPE_OPAQUE, rows, 2, shape);
        data.item_bytes = info->block_bytes;
        q.codec = info->codec, q.data = &data;
        try_all(&q, row_bytes, rows, count * info->block_len);
      }
  }
}

static void rows_with_their_scale(void **unused) {
  for (int codec = GATHER_CODEC_ROWWISE8; codec <= GATHER_CODEC_ROWWISE2; codec++) {
    const gather_codec_info *info = gather_codec_get((gather_codec)codec);
    for (int64_t bytes = 0; bytes <= 70; bytes++)
      for (int at_end = 0; at_end < 2; at_end++) {
        gather_quantized q = GATHER_QUANTIZED_INIT;
        const int64_t shape[2] = {ROWS, bytes + info->block_bytes};
        unsigned char *rows = drawn(packed, (size_t)(ROWS * shape[1]), at_end != 0, (unsigned)codec);
        const gather_tensor data = tensor_of(GATHER_TYPE_UINT8, rows, 2, shape);
        q.codec = info->codec, q.data = &data;
        try_all(&q, shape[1], rows, bytes * 8 / info->bits);
      }
  }
}

/* Codes of each width in bytes, groups of 32 and whole rows; scales at the end of their area. */
static void codes(void **unused) {
  for (int bits = 1; bits <= 8; bits++)
    for (int64_t bytes = bits; bytes <= 80; bytes += bits)
      for (int variant = 0; variant < 4; variant++) {
        gather_quantized q = GATHER_QUANTIZED_INIT;
        const int64_t len = bytes * 8 / bits, each = variant & 1 ? 32 : len, groups = (len + each - 1) / each;
        const int64_t shape[2] = {ROWS, bytes}, side_shape[2] = {ROWS, groups};
        unsigned char *rows = drawn(packed, (size_t)(ROWS * bytes), variant > 1, (unsigned)bits);
        float *numbers = (float *)(void *)guard_place(sides, (size_t)(ROWS * groups) * sizeof(float), variant > 1);
        for (int64_t i = 0; i < ROWS * groups; i++) numbers[i] = (float)(int)(noise((unsigned)i) % 1000) / 7.0f - 60.0f;
        const gather_tensor data = tensor_of(GATHER_TYPE_UINT8, rows, 2, shape);
        const gather_tensor side = tensor_of(GATHER_TYPE_FLOAT32, numbers, 2, side_shape);
        q.codec = variant & 1 ? GATHER_CODEC_AFFINE : GATHER_CODEC_BIASED;
        q.data = &data, q.code_type = GATHER_TYPE_UINT8, q.code_bits = bits, q.group_len = each;
        q.order = bits == 4 && variant == 3 ? GATHER_CODE_ORDER_HIGH_FIRST : GATHER_CODE_ORDER_LOW_FIRST;
        q.scale = &side;
        if (variant & 1)
          q.zero_point = &side;
        else
          q.bias = &side;
        try_all(&q, bytes, rows, len);
      }
}

/* Every number of blocks starts where the last one ended, at every alignment of the output. */
static void outputs_of_any_alignment(void **unused) {
  static char out[4 * 1024 + 64];
  for (int codec = 1; gather_codec_get((gather_codec)codec); codec++) {
    const gather_codec_info *info = gather_codec_get((gather_codec)codec);
    if (info->kind != GATHER_CODEC_BLOCKS) continue;
    for (int64_t shift = 0; shift < 17; shift++) {
      gather_quantized q = GATHER_QUANTIZED_INIT;
      static const int64_t zero = 0;
      const int64_t one = 1, shape[2] = {1, 2}, wide_shape[2] = {1, 2 * info->block_len};
      unsigned char *rows = drawn(packed, (size_t)(2 * info->block_bytes + shift), true, 5) + shift;
      gather_tensor data = tensor_of(GATHER_TYPE_OPAQUE, rows, 2, shape);
      data.item_bytes = info->block_bytes;
      q.codec = info->codec, q.data = &data;
      const gather_tensor index = tensor_of(GATHER_TYPE_INT64, &zero, 1, &one);
      const gather_tensor aligned = tensor_of(GATHER_TYPE_FLOAT32, plain, 2, wide_shape);
      const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out + shift, 2, wide_shape);
      memset(out, 0x77, sizeof out);
      assert_status(gather_dequantize(&q, &aligned, NULL, NULL), GATHER_OK);
      assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, NULL), GATHER_OK);
      assert_memory_equal(out + shift, plain, (size_t)(2 * info->block_len) * sizeof(float));
      for (int64_t i = 0; i < shift; i++) assert_int_equal(out[i], 0x77);
      assert_int_equal(out[shift + 2 * info->block_len * 4], 0x77);
    }
  }
}

/* Threads and one thread give the same bits; so do outputs with gaps and in the other byte order. */
static void threads_and_strides(void **unused) {
  enum { MANY = 300, LEN = 512 };
  static unsigned char rows[MANY * LEN / 256 * 144];
  static float one[MANY * LEN], other[MANY * LEN], gaps[MANY * LEN * 2];
  static int32_t indices[MANY];
  gather_quantized q = GATHER_QUANTIZED_INIT;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_pool *pool;
  const int64_t count = MANY, shape[2] = {MANY, LEN / 256 * 144}, out_shape[2] = {MANY, LEN}, strides[2] = {8 * LEN, 8};
  for (size_t i = 0; i < sizeof rows; i++) rows[i] = (unsigned char)noise((unsigned)i);
  for (int i = 0; i < MANY; i++) indices[i] = (int32_t)(noise((unsigned)i) % MANY);
  const gather_tensor data = tensor_of(GATHER_TYPE_UINT8, rows, 2, shape);
  const gather_tensor index = tensor_of(GATHER_TYPE_INT32, indices, 1, &count);
  gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, one, 2, out_shape);
  q.codec = GATHER_CODEC_Q4_K, q.data = &data;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, NULL), GATHER_OK);
  assert_status(gather_pool_create(4, &pool, NULL), GATHER_OK);
  options.executor = gather_pool_executor(pool);
  to.data = other;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, &options, NULL), GATHER_OK);
  assert_memory_equal(one, other, sizeof one);
  gather_pool_destroy(pool);
  to.data = gaps, to.strides = strides, to.flags = GATHER_TENSOR_BYTE_SWAPPED;
  assert_status(gather_take_quantized(NULL, &q, &index, &to, NULL, NULL), GATHER_OK);
  for (size_t i = 0; i < COUNT(one); i++)
    for (size_t b = 0; b < 4; b++) assert_int_equal(((unsigned char *)&gaps[2 * i])[b], ((unsigned char *)&one[i])[3 - b]);
}

/* More groups in a line than are read at a time, across lines, with every kind of number. */
static void many_groups(void **unused) {
  enum { LINES = 7, LEN = 1001, EACH = 3, ALL = LINES * LEN, NUMBERS = (ALL + EACH - 1) / EACH };
  static unsigned char all[ALL];
  static int16_t scales[NUMBERS], zeros[NUMBERS]; /* not float32: they are converted */
  static float out[ALL];
  gather_quantized q = GATHER_QUANTIZED_INIT;
  gather_error error;
  const gather_tensor data = tensor_of(GATHER_TYPE_UINT8, all, 2, DIMS(LINES, LEN));
  const gather_tensor scale = tensor_of(GATHER_TYPE_INT16, scales, 1, DIMS(NUMBERS));
  const gather_tensor zero = tensor_of(GATHER_TYPE_INT16, zeros, 1, DIMS(NUMBERS));
  const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out, 2, DIMS(LINES, LEN));
  for (unsigned i = 0; i < ALL; i++) all[i] = (unsigned char)noise(i);
  for (unsigned i = 0; i < NUMBERS; i++) scales[i] = (int16_t)(i % 301), zeros[i] = (int16_t)(i % 17);
  q.codec = GATHER_CODEC_AFFINE, q.data = &data, q.scale = &scale, q.zero_point = &zero;
  q.flat_groups = true, q.group_len = EACH;
  if (gather_dequantize(&q, &to, NULL, &error) != GATHER_OK) fail_msg("%s", error.message);
  for (int i = 0; i < ALL; i++) assert_true(out[i] == (float)((all[i] - zeros[i / EACH]) * scales[i / EACH]));
}

/* Floats of more than 8 bits by scales: each as float32, rounded once more to an output of 16 bits. */
static void wide_floats(void **unused) {
  enum { LEN = 1100 };
  static const gather_type TYPES[] = {GATHER_TYPE_FLOAT64, GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16, GATHER_TYPE_BFLOAT16};
  static double numbers[LEN];
  static float scales[LEN / 10], whole[LEN];
  static char out[LEN * sizeof(float)];
  for (unsigned i = 0; i < LEN / 10; i++) scales[i] = (float)(i % 5) + 0.5f;
  for (size_t t = 0; t < COUNT(TYPES); t++)
    for (int scaled = 0; scaled < 2; scaled++) {
      gather_quantized q = GATHER_QUANTIZED_INIT;
      const size_t item = (size_t)gather_type_get(TYPES[t])->bits / 8;
      for (unsigned i = 0; i < LEN; i++) { /* no NaN: exponents of moderate size */
        const uint64_t exponent = TYPES[t] == GATHER_TYPE_FLOAT64 ? 0x3FEu : TYPES[t] == GATHER_TYPE_FLOAT16 ? 0xEu : 0x7Eu;
        const int digits = TYPES[t] == GATHER_TYPE_FLOAT64   ? 52
                           : TYPES[t] == GATHER_TYPE_FLOAT32 ? 23
                           : TYPES[t] == GATHER_TYPE_FLOAT16 ? 10
                                                             : 7;
        const uint64_t bits = (exponent << digits) | (((uint64_t)noise(i) << 32 | noise(i + 7)) & ((UINT64_C(1) << digits) - 1));
        for (size_t b = 0; b < item; b++)
          ((unsigned char *)numbers)[i * item + (GATHER_BIG_ENDIAN ? item - 1 - b : b)] = (unsigned char)(bits >> 8 * b);
      }
      const gather_tensor data = tensor_of(TYPES[t], numbers, 2, DIMS(1, LEN));
      const gather_tensor scale = tensor_of(GATHER_TYPE_FLOAT32, scales, 2, DIMS(1, LEN / 10));
      q.codec = GATHER_CODEC_FLOAT, q.data = &data, q.group_len = 10;
      if (scaled) q.scale = &scale;
      gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, whole, 2, DIMS(1, LEN));
      assert_status(gather_dequantize(&q, &to, NULL, NULL), GATHER_OK);
      for (int i = 0; i < LEN; i++) {
        double value;
        assert_true(gather_float_read(TYPES[t], (unsigned char *)numbers + (size_t)i * item, &value));
        const float product = (float)value * (scaled ? scales[i / 10] : 1.0f); /* rounded; expressions may be wider */
        assert_true(whole[i] == product);
      }
      for (size_t o = 1; o < COUNT(OUTPUTS); o++) {
        to = tensor_of(OUTPUTS[o], out, 2, DIMS(1, LEN));
        assert_status(gather_dequantize(&q, &to, NULL, NULL), GATHER_OK);
        for (int i = 0; i < LEN; i++) assert_true(equal(OUTPUTS[o], out + 2 * i, whole + i));
      }
    }
}

TESTS_WITHIN(setup, teardown, blocks, rows_with_their_scale, codes, wide_floats, many_groups, outputs_of_any_alignment, threads_and_strides)
