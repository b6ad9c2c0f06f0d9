/* SPDX-License-Identifier: MIT
 *
 * test_random.c: codes with side tensors, drawn by chance and gathered, against loops that read each code bit by bit and each number
 * by its coordinates. Every family of codecs has at least 20,000 cases; GATHER_TEST_ROUNDS=N runs others.
 */
#include <math.h>

#include "gather/codec.h"
#include "support/unit.h"

enum { CASES = 20000, RANK = 4, MOST = 4096, SIDE = 32768 };

static uint64_t state;
static uint64_t bits(void) {
  state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
static int64_t below(int64_t limit) { return limit <= 0 ? 0 : (int64_t)(bits() % (uint64_t)limit); }
static bool often(int percent) { return below(100) < percent; }

/* One case: the codes as numbers, and everything else as memory. */
static struct {
  int32_t rank;
  int64_t shape[RANK], groups[RANK], strides[RANK];
  int64_t len;
  bool flat;
  int64_t flat_len;
  int code_bits;
  gather_type code_type;
  unsigned char codes[MOST], data[MOST * 4], packed_row[MOST];
  float table[256];
  int32_t offset;
} c;

/* ---- numbers of side tensors */

struct side {
  bool present;
  gather_tensor tensor;
  int64_t shape[RANK], strides[RANK];
  unsigned char memory[SIDE];
  gather_type type;
};
static struct side scale, zero, bias, scale2;

static const gather_type NUMBERS[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16,       GATHER_TYPE_BFLOAT16,
                                      GATHER_TYPE_FLOAT64, GATHER_TYPE_FLOAT8_E4M3FN, GATHER_TYPE_FLOAT8_E8M0FNU,
                                      GATHER_TYPE_INT8,    GATHER_TYPE_UINT8,         GATHER_TYPE_INT32};

static bool big_endian(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 0;
}

/* Random bytes that are small numbers where the type has exponents, and sometimes anything. */
static void draw_number(gather_type type, unsigned char *at, bool swapped) {
  const int bytes = gather_type_get(type)->bits / 8;
  unsigned char number[8] = {0};
  uint64_t raw = bits();
  float small = (float)((int64_t)(raw % 2001) - 1000) / 64.0f;
  double wide = small;
  if (type == GATHER_TYPE_FLOAT32 && !often(3)) memcpy(&raw, &small, sizeof small), raw = big_endian() ? raw >> 32 : raw & 0xffffffffu;
  if (type == GATHER_TYPE_FLOAT64) memcpy(&raw, &wide, sizeof wide);
  if (type == GATHER_TYPE_FLOAT16 && !often(3)) raw = (raw & 0x8fff) | 0x3000;
  if (type == GATHER_TYPE_BFLOAT16 && !often(3)) raw = (raw & 0x83ff) | 0x3c00;
  if (type == GATHER_TYPE_INT32) raw = (uint64_t)(int64_t)(int32_t)((int64_t)(raw % 4001) - 2000);
  for (int i = 0; i < bytes; i++) number[i] = (unsigned char)(raw >> 8 * i); /* little-endian */
  const bool big = big_endian() != swapped;
  for (int i = 0; i < bytes; i++) at[i] = number[big ? bytes - 1 - i : i];
}

static float number_of(gather_type type, const unsigned char *at, bool swapped) {
  const int bytes = gather_type_get(type)->bits / 8;
  unsigned char own[8];
  for (int i = 0; i < bytes; i++) own[i] = at[swapped ? bytes - 1 - i : i];
  double value = 0;
  int32_t whole;
  if (gather_float_read(type, own, &value)) return (float)value;
  if (type == GATHER_TYPE_UINT8) return (float)own[0];
  if (type == GATHER_TYPE_INT8) return (float)(own[0] < 128 ? own[0] : own[0] - 256);
  memcpy(&whole, own, sizeof whole);
  return (float)whole;
}

/* A side tensor of the groups' shape, in which some dimensions may be shared, and trailing ones missing. */
static void draw_side(struct side *side, bool present) {
  memset(side, 0, sizeof *side);
  side->present = present;
  if (!present) return;
  side->type = NUMBERS[below(COUNT(NUMBERS))];
  const int64_t item = gather_type_get(side->type)->bits / 8;
  int64_t step = item;
  int32_t rank = c.rank;
  if (c.flat) {
    rank = 1;
    side->shape[0] = (c.len + c.flat_len - 1) / c.flat_len;
    if (often(5)) side->shape[0] = 1;
  } else {
    for (int32_t d = 0; d < rank; d++) {
      side->shape[d] = (c.shape[d] + c.groups[d] - 1) / c.groups[d];
      if (often(15)) side->shape[d] = 1;
    }
    while (rank > 0 && c.groups[rank - 1] >= c.shape[rank - 1] && c.shape[rank - 1] > 0 && often(30)) rank--;
    if (often(5)) {
      for (int32_t d = 0; d < rank; d++) side->shape[d] = 1;
      if (often(50)) rank = 0;
    }
  }
  for (int32_t d = rank - 1; d >= 0; d--) {
    side->strides[d] = step, step *= side->shape[d];
    if (!c.flat && often(10)) step += item;
  }
  assert_true(step <= SIDE);
  side->tensor = (gather_tensor){ITEMS(.data = side->memory, .type = side->type, .rank = rank, .shape = side->shape,
                                       .strides = side->strides, .flags = item > 1 && often(20) ? GATHER_TENSOR_BYTE_SWAPPED : 0u)};
  for (int64_t i = 0; i < (step + item - 1) / item; i++)
    draw_number(side->type, side->memory + i * item, side->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED);
}

static float side_at(const struct side *side, const int64_t *at, int64_t number) {
  const gather_tensor *t = &side->tensor;
  int64_t offset = 0;
  if (c.flat)
    offset = side->shape[0] == 1 ? 0 : number / c.flat_len * side->strides[0];
  else
    for (int32_t d = 0; d < t->rank; d++)
      if (side->shape[d] > 1) offset += at[d] / c.groups[d] * side->strides[d];
  return number_of(side->type, side->memory + offset, t->flags & GATHER_TENSOR_BYTE_SWAPPED);
}

/* ---- the case */

static void draw_shape(void) {
  do {
    c.rank = 1 + (int32_t)below(RANK), c.len = 1;
    for (int32_t d = 0; d < c.rank; d++) {
      c.shape[d] = often(3) ? 0 : 1 + below(d == c.rank - 1 ? 40 : 5);
      c.groups[d] = often(40) ? 1 : 1 + below(c.shape[d] + 2);
      c.len *= c.shape[d];
    }
  } while (c.len > MOST / 4);
  c.flat = often(15), c.flat_len = 1 + below(20);
}

/* Sets a run of bits from bit number `at` on, the lowest of a byte first. */
static void put_bits(unsigned char *memory, int64_t at, int count, unsigned value) {
  for (int i = 0; i < count; i++, at++)
    memory[at / 8] = (unsigned char)((memory[at / 8] & ~(1 << at % 8)) | (int)(value >> i & 1u) << at % 8);
}

static gather_tensor data_tensor;
static int64_t data_shape[RANK], data_strides[RANK];

/* Writes the codes into memory of a container of words, typed elements or bytes. */
static void store(gather_quantized *q) {
  static const gather_type WORDS[] = {GATHER_TYPE_UINT8, GATHER_TYPE_INT8,   GATHER_TYPE_UINT16,
                                      GATHER_TYPE_INT32, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64};
  const gather_type_info *type = gather_type_get(c.code_type);
  const int64_t line = c.shape[c.rank - 1], lines = line ? c.len / line : 0;
  memset(c.data, (int)below(256), sizeof c.data);
  memset(&data_tensor, 0, sizeof data_tensor);
  memcpy(data_shape, c.shape, sizeof data_shape);
  data_tensor.data = c.data, data_tensor.rank = c.rank, data_tensor.shape = data_shape;
  q->data = &data_tensor;
  if (c.code_bits == type->bits && often(50)) { /* an element is a code */
    data_tensor.type = c.code_type;
    if (type->bits < 8) {
      data_tensor.packed_offset = below(9);
      for (int64_t i = 0; i < c.len; i++) put_bits(c.data, (data_tensor.packed_offset + i) * type->bits, type->bits, c.codes[i]);
      return;
    }
    int64_t step = 1 + (often(30) ? below(3) : 0); /* gaps and strides of any kind */
    for (int32_t d = c.rank - 1; d >= 0; d--) data_strides[d] = step, step = step * (c.shape[d] ? c.shape[d] : 1) + (often(20) ? 1 : 0);
    data_tensor.strides = data_strides;
    if (step > (int64_t)sizeof c.data) { /* too large: dense */
      data_tensor.strides = NULL, step = 1;
      for (int32_t d = c.rank - 1; d >= 0; d--) data_strides[d] = step, step *= c.shape[d];
    }
    for (int64_t i = 0; i < c.len; i++) {
      int64_t rest = i, offset = 0;
      for (int32_t d = c.rank - 1; d >= 0; d--) offset += rest % c.shape[d] * data_strides[d], rest /= c.shape[d];
      c.data[offset] = c.codes[i];
    }
    return;
  }
  data_tensor.type = WORDS[below(COUNT(WORDS))];
  const int word = gather_type_get(data_tensor.type)->bits;
  const bool high = word == 8 && (c.code_bits == 4 || c.code_bits == 2 || c.code_bits == 1) && often(50);
  q->code_type = c.code_type, q->code_bits = c.code_bits == type->bits && often(50) ? 0 : c.code_bits;
  q->order = high ? GATHER_CODE_ORDER_HIGH_FIRST : GATHER_CODE_ORDER_LOW_FIRST;
  if (data_tensor.type == c.code_type && q->code_bits == 0 && type->bits == 8) q->code_bits = 0;
  const bool flat = often(25);
  const int64_t words = (line * c.code_bits + word - 1) / word, total = (c.len * c.code_bits + word - 1) / word;
  if (flat) { /* all codes one after the other */
    data_tensor.rank = 1, data_shape[0] = total + below(2);
    q->rank = c.rank, q->shape = c.shape;
    if (c.rank == 1) data_shape[0] = words;
  } else {
    data_shape[c.rank - 1] = words + (often(20) ? 1 : 0);
    q->rank = c.rank, q->shape = c.shape;
    if (data_shape[c.rank - 1] * word / c.code_bits == line && often(50)) q->rank = 0, q->shape = NULL;
  }
  const int64_t row_bits = flat ? line * c.code_bits : data_shape[c.rank - 1] * word;
  assert_true((lines * row_bits + word) / 8 <= (int64_t)sizeof c.data);
  const int each = 8 / c.code_bits;
  for (int64_t i = 0; i < c.len; i++) {
    int64_t at = i / line * row_bits + i % line * c.code_bits;
    if (high) {
      const int64_t byte = at / 8, k = at % 8 / c.code_bits;
      at = byte * 8 + (each - 1 - k) * c.code_bits;
    }
    put_bits(c.data, at, c.code_bits, c.codes[i]);
  }
  const bool swapped = word > 8 && often(30);
  if (swapped) data_tensor.flags = GATHER_TENSOR_BYTE_SWAPPED;
  if (word > 8 && swapped != big_endian())
    for (size_t i = 0; i + (size_t)word / 8 <= sizeof c.data; i += (size_t)word / 8)
      for (size_t k = 0; k < (size_t)word / 16; k++) {
        unsigned char *a = &c.data[i + k], *b = &c.data[i + (size_t)word / 8 - 1 - k], t = *a;
        *a = *b, *b = t;
      }
}

/* What a code is before zero point, scale and bias. */
static float code_value(gather_codec codec, unsigned code) {
  static const float fp4[8] = {0.0f, 0.0625f / 12, 8.0f / 12, 1.0f, 4.0f / 12, 0.5f, 2.0f / 12, 0.25f};
  const gather_type_info *type = gather_type_get(c.code_type);
  unsigned char byte = (unsigned char)code;
  double value = 0;
  if (codec == GATHER_CODEC_TABLE) return c.table[code];
  if (codec == GATHER_CODEC_FP4) return code & 8 ? 0.0f - fp4[code & 7] : fp4[code];
  if (gather_float_read(codec == GATHER_CODEC_NF4 ? GATHER_TYPE_NF4 : c.code_type, &byte, &value)) return (float)value;
  int whole = (int)code;
  if (type->kind == GATHER_KIND_INT && code >> (type->bits - 1)) whole -= 1 << type->bits;
  return (float)(whole - c.offset);
}

/* a * b + more, rounded once. */
#if defined(_WIN32)
/* The C library of mingw-w64 rounds twice. The product is exact in float64; a sum that is not gets an odd last bit there. */
static float fused(float a, float b, float more) {
  const double product = (double)a * (double)b, sum = product + (double)more, back = sum - product;
  const double rest = (product - (sum - back)) + ((double)more - back);
  int64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (isfinite(sum) && rest != 0 && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return (float)odd;
}
#else
static float fused(float a, float b, float more) { return fmaf(a, b, more); }
#endif

static float expected(gather_codec codec, bool divides, const int64_t *at) {
  int64_t number = 0;
  for (int32_t d = 0; d < c.rank; d++) number = number * c.shape[d] + at[d];
  volatile float v = code_value(codec, c.codes[number]);
  if (zero.present) v = v - side_at(&zero, at, number);
  if (scale.present) {
    volatile float s = side_at(&scale, at, number);
    if (scale2.present) s = divides ? s / side_at(&scale2, at, number) : s * side_at(&scale2, at, number);
    v = v * s;
  }
  if (bias.present) v = v + side_at(&bias, at, number);
  return v;
}

static int64_t compared;

static bool same(float a, float b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }

/* Gathers by chance and compares every element. In every other case tables are out of cache: rows are prefetched. */
static void gather_and_compare(const gather_quantized *q, bool divides, int64_t number) {
  static float out[MOST * 4];
  static int32_t indices[64];
  const gather_on_bad policies[] = {GATHER_ON_BAD_ERROR, GATHER_ON_BAD_ZERO, GATHER_ON_BAD_FILL, GATHER_ON_BAD_CLAMP, GATHER_ON_BAD_WRAP};
  const float fill = 12345.5f;
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error;
  assert_status(gather_tuning_set("cache_bytes", number % 2, NULL), GATHER_OK);
  const int32_t axis = (int32_t)below(c.rank), batch = often(20) ? (int32_t)below(axis + 1) : 0;
  const int64_t n = c.shape[axis], count = n == 0 ? 0 : below(6);
  int64_t index_shape[RANK + 1], batch_len = 1, out_shape[2 * RANK];
  for (int32_t d = 0; d < batch; d++) batch_len *= index_shape[d] = c.shape[d];
  if (batch_len * count > 64) return;
  index_shape[batch] = count;
  options.axis = often(50) ? axis : axis - c.rank, options.batch_dims = batch;
  options.on_bad = policies[below(COUNT(policies))], options.fill = &fill;
  const int64_t wild = options.on_bad == GATHER_ON_BAD_ERROR ? 0 : n + 2;
  for (int64_t i = 0; i < batch_len * count; i++) indices[i] = (int32_t)(below(2 * n + 2 * wild) - n - wild);
  int32_t out_rank = 0;
  for (int32_t d = 0; d < axis; d++) out_shape[out_rank++] = c.shape[d];
  out_shape[out_rank++] = count;
  for (int32_t d = axis + 1; d < c.rank; d++) out_shape[out_rank++] = c.shape[d];
  int64_t len = 1;
  for (int32_t d = 0; d < out_rank; d++) len *= out_shape[d];
  if (len > (int64_t)COUNT(out)) return;
  const gather_tensor index = tensor_of(GATHER_TYPE_INT32, indices, batch + 1, index_shape);
  const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out, out_rank, out_shape);
  memset(out, 0x5a, (size_t)len * sizeof *out);
  compared += len > 0;
  const gather_op *op = batch ? op_of("Gather", "openvino-8") : NULL; /* ONNX's has no batch_dims */
  if (gather_take_quantized(op, q, &index, &to, &options, &error) != GATHER_OK) fail_msg("case %lld: %s", (long long)number, error.message);
  for (int64_t i = 0; i < len; i++) {
    int64_t at[RANK], rest = i, slot = 0;
    for (int32_t d = c.rank - 1; d >= 0; d--) at[d] = rest % out_shape[d], rest /= out_shape[d];
    for (int32_t d = 0; d < batch; d++) slot = slot * c.shape[d] + at[d];
    int64_t row = indices[slot * count + at[axis]];
    float want;
    if (row < 0 && row >= -n) row += n;
    if (row < 0 || row >= n) {
      if (options.on_bad == GATHER_ON_BAD_WRAP) row = ((row % n) + n) % n;
      if (options.on_bad == GATHER_ON_BAD_CLAMP) row = row < 0 ? 0 : n - 1;
    }
    at[axis] = row;
    if (row < 0 || row >= n)
      want = options.on_bad == GATHER_ON_BAD_FILL ? fill : 0;
    else
      want = expected(q->codec, divides, at);
    if (!same(out[i], want)) fail_msg("case %lld, element %lld: %a, not %a", (long long)number, (long long)i, (double)out[i], (double)want);
  }
}

/* A few cases can have nothing to compare: at least so many run. */
static int64_t rounds(void) {
  enum { LEAST = 200 };
  const char *text = getenv("GATHER_TEST_ROUNDS");
  const char *sparse = getenv("GATHER_TEST_HOSTILE"); /* =n: one in n of what is drawn by chance */
  const int64_t asked = text ? strtoll(text, NULL, 10) : CASES / (sparse && atoi(sparse) > 1 ? atoi(sparse) : 1);
  return asked < LEAST ? LEAST : asked;
}

/* Most cases have something to compare. */
static void assert_compared(void) {
  assert_true(compared > rounds() / 2);
  compared = 0;
}

static void seed(uint64_t number) {
  const char *text = getenv("GATHER_TEST_SEED");
  state = number * 1000003 + (text ? strtoull(text, NULL, 10) : 0);
}

static void draw_codes(gather_type type, int code_bits) {
  c.code_type = type, c.code_bits = code_bits;
  for (int64_t i = 0; i < c.len; i++) c.codes[i] = (unsigned char)(bits() & ((1u << code_bits) - 1));
}

static void finish(gather_quantized *q, bool divides, int64_t number) {
  store(q);
  q->flat_groups = c.flat, q->group_len = c.flat_len;
  if (!c.flat) q->groups = c.groups;
  if (scale.present) q->scale = &scale.tensor;
  if (zero.present) q->zero_point = &zero.tensor;
  if (bias.present) q->bias = &bias.tensor;
  if (scale2.present) q->scale2 = &scale2.tensor, q->scale2_divides = divides;
  gather_and_compare(q, divides, number);
}

static void draw_sides(bool with_scale, bool with_zero, bool with_bias, bool with_scale2) {
  draw_side(&scale, with_scale);
  draw_side(&zero, with_zero);
  draw_side(&bias, with_bias);
  draw_side(&scale2, with_scale2);
}

static const gather_type WHOLE[] = {GATHER_TYPE_UINT8, GATHER_TYPE_INT8,  GATHER_TYPE_UINT4,
                                    GATHER_TYPE_INT4,  GATHER_TYPE_UINT2, GATHER_TYPE_INT2};

static void affine(void **unused) {
  for (int64_t i = 0; i < rounds(); i++) {
    gather_quantized q = GATHER_QUANTIZED_INIT;
    seed((uint64_t)i * 4);
    draw_shape();
    const bool biased = often(30), odd = often(20);
    q.codec = biased ? GATHER_CODEC_BIASED : GATHER_CODEC_AFFINE;
    const gather_type type = odd ? GATHER_TYPE_UINT8 : WHOLE[below(COUNT(WHOLE))];
    draw_codes(type, odd ? 1 + (int)below(8) : gather_type_get(type)->bits);
    c.offset = q.code_offset = often(30) ? (int32_t)below(300) - 100 : 0;
    const bool scaled = biased || often(90);
    draw_sides(scaled, !biased && often(50), biased, !biased && scaled && often(20));
    finish(&q, often(50), i);
  }
  assert_compared();
}

static void floats(void **unused) {
  static const gather_type TYPES[] = {GATHER_TYPE_FLOAT8_E4M3FN,   GATHER_TYPE_FLOAT8_E4M3FNUZ, GATHER_TYPE_FLOAT8_E5M2,
                                      GATHER_TYPE_FLOAT8_E5M2FNUZ, GATHER_TYPE_FLOAT8_E8M0FNU,  GATHER_TYPE_FLOAT4_E2M1FN,
                                      GATHER_TYPE_FLOAT6_E2M3FN,   GATHER_TYPE_FLOAT6_E3M2FN,   GATHER_TYPE_NF4};
  for (int64_t i = 0; i < rounds(); i++) {
    gather_quantized q = GATHER_QUANTIZED_INIT;
    seed((uint64_t)i * 4 + 1);
    draw_shape();
    q.codec = GATHER_CODEC_FLOAT, c.offset = 0;
    const gather_type type = TYPES[below(COUNT(TYPES))];
    draw_codes(type, gather_type_get(type)->bits);
    const bool scaled = often(80);
    draw_sides(scaled, false, false, scaled && often(40));
    finish(&q, often(50), i);
  }
  assert_compared();
}

static void tables(void **unused) {
  for (int64_t i = 0; i < rounds(); i++) {
    gather_quantized q = GATHER_QUANTIZED_INIT;
    gather_tensor table;
    int64_t len;
    seed((uint64_t)i * 4 + 2);
    draw_shape();
    c.offset = 0;
    q.codec = often(50) ? GATHER_CODEC_TABLE : often(50) ? GATHER_CODEC_NF4 : GATHER_CODEC_FP4;
    const bool own = q.codec == GATHER_CODEC_TABLE, odd = own && often(50);
    draw_codes(own && (odd || often(50)) ? GATHER_TYPE_UINT8 : GATHER_TYPE_UINT4, odd ? 1 + (int)below(8) : 4);
    if (own && !odd) c.code_bits = gather_type_get(c.code_type)->bits;
    for (int k = 0; k < 256; k++) c.table[k] = (float)((int64_t)below(4001) - 2000) / 64.0f;
    len = (int64_t)1 << c.code_bits;
    table = tensor_of(GATHER_TYPE_FLOAT32, c.table, 1, &len);
    if (own) q.table = &table;
    draw_sides(often(80), false, false, false);
    finish(&q, false, i);
  }
  assert_compared();
}

/* Rows with their scale and bias at the end. */
static void rows(void **unused) {
  static const gather_codec CODECS[] = {GATHER_CODEC_ROWWISE8, GATHER_CODEC_ROWWISE4, GATHER_CODEC_ROWWISE2};
  for (int64_t i = 0; i < rounds(); i++) {
    static float out[MOST];
    static int64_t indices[8];
    gather_quantized q = GATHER_QUANTIZED_INIT;
    gather_error error;
    seed((uint64_t)i * 4 + 3);
    const int64_t n = 1 + below(8), len = 1 + below(70), count = below(8);
    q.codec = CODECS[below(3)];
    const int code_bits = gather_codec_get(q.codec)->bits, each = 8 / code_bits, behind = code_bits == 8 ? 8 : 4;
    const int64_t used = (len + each - 1) / each, shape[2] = {n, used + behind}, values[2] = {n, len};
    for (int64_t k = 0; k < n * shape[1]; k++) c.data[k] = (unsigned char)bits();
    for (int64_t r = 0; r < n && code_bits == 8; r++)
      for (int k = 0; k < 2; k++) { /* little-endian float32 of moderate size, except sometimes */
        const int64_t at = r * shape[1] + used + 4 * k;
        if (!often(5)) c.data[at + 3] = (unsigned char)(often(50) ? 0x3e : 0xbf);
      }
    const gather_tensor data = tensor_of(GATHER_TYPE_UINT8, c.data, 2, shape);
    q.data = &data;
    if (used * each != len || often(50)) q.rank = 2, q.shape = values;
    for (int64_t k = 0; k < count; k++) indices[k] = below(2 * n) - n;
    const int64_t out_shape[2] = {count, len};
    const gather_tensor index = tensor_of(GATHER_TYPE_INT64, indices, 1, &count);
    const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out, 2, out_shape);
    if (gather_take_quantized(NULL, &q, &index, &to, NULL, &error) != GATHER_OK) fail_msg("case %lld: %s", (long long)i, error.message);
    for (int64_t k = 0; k < count * len; k++) {
      const int64_t row = (indices[k / len] + n) % n, e = k % len;
      const unsigned char *at = c.data + row * shape[1], *end = at + used;
      const unsigned code = (unsigned)at[e / each] >> e % each * code_bits & ((1u << code_bits) - 1);
      const gather_type type = code_bits == 8 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_FLOAT16;
      const float s = number_of(type, end, big_endian()), b = number_of(type, end + behind / 2, big_endian());
      const float want = fused((float)code, s, b);
      if (!same(out[k], want)) fail_msg("case %lld, element %lld: %a, not %a", (long long)i, (long long)k, (double)out[k], (double)want);
    }
  }
}

TESTS(affine, floats, tables, rows)
