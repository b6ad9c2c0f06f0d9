/* SPDX-License-Identifier: MIT
 *
 * codes.tmpl.h: decodes codes whose scales are elsewhere (gather_codes of decode.h) and rounds float32 to halves. Included by the
 * instruction sets that compile it for themselves, after blocks.tmpl.h.
 */

GATHER_INLINE float value_of(step_numbers n, float code) { return gather_plus(gather_times(gather_minus(code, n.zero), n.scale), n.bias); }

/* fma(code, scale, bias): the product is exact in float64; the sum is rounded there to an odd last bit where it is not exact, so that
 * rounding it again to float32 gives what rounding once would. */
GATHER_INLINE float fused_of(float code, float scale, float bias) {
  const double product = (double)code * (double)scale, addend = (double)bias;
  const double sum = product + addend;
  const double part = sum - product, error = (product - (sum - part)) + (addend - part);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (!(error > 0 || error < 0) || (bits & 1) != 0) return (float)sum;
  bits = (error > 0) == (sum > 0) ? bits | 1 : bits - 1;
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return (float)odd;
}

GATHER_INLINE float fused_value(step_numbers n, float code) { return fused_of(code, n.scale, n.bias); }

/* Defines codes_NAME: CODE(c, k) is the value of code number k. */
#define CODES(NAME, CODE, VALUE)                                                               \
  static void codes_##NAME(const gather_codes *c) {                                            \
    char *out = c->out;                                                                        \
    int64_t left = c->group_len - c->skip;                                                     \
    for (int64_t i = 0, group = 0; i < c->count; group++) {                                    \
      const step_numbers n = numbers_of(c, group);                                             \
      const int64_t end = c->count - i < left ? c->count : i + left;                           \
      for (; i < end; i++, out += sizeof(float)) put(out, 0, VALUE(n, CODE(c, c->first + i))); \
      left = c->group_len;                                                                     \
    }                                                                                          \
  }

#define CODE_U8(c, k) ((float)(c)->in[k])
#define CODE_S8(c, k) ((float)signed8((c)->in[k]))
#define CODE_T8(c, k) ((c)->table[(c)->in[k]])
#define CODE_T2(c, k) ((c)->table[(c)->in[(k) >> 2] >> 2 * (((k) ^ ((c)->high_first ? 3 : 0)) & 3) & 3])

/* Code number k of any width. A byte that has none of its bits is not read. */
GATHER_INLINE unsigned code_any(const gather_codes *c, int64_t k) {
  const int64_t bit = k * c->bits;
  unsigned shift = (unsigned)(bit & 7), word = c->in[bit >> 3];
  if (c->high_first) shift = 8 - shift - (unsigned)c->bits;
  if (shift + (unsigned)c->bits > 8) word |= (unsigned)c->in[(bit >> 3) + 1] << 8;
  return word >> shift & ((1u << c->bits) - 1);
}
#define CODE_ANY(c, k) ((c)->table ? (c)->table[code_any(c, k)] : (float)code_any(c, k))

CODES(u8, CODE_U8, value_of)
CODES(s8, CODE_S8, value_of)
CODES(t8, CODE_T8, value_of)
CODES(t2, CODE_T2, value_of)
CODES(any, CODE_ANY, value_of)

/* Four bits: the values of a group are a table. */
GATHER_INLINE void group_t4(const gather_codes *c, int64_t first, int64_t count, const float *values, char *out) {
  const unsigned turn = c->high_first ? 4 : 0;
  int64_t k = first;
  if (k & 1) { /* the second code of a byte */
    put(out, 0, values[c->in[k >> 1] >> (4 - turn) & 15]);
    k++, out += sizeof(float);
  }
  for (; k + 2 <= first + count; k += 2, out += 2 * sizeof(float)) {
    put(out, 0, values[c->in[k >> 1] >> turn & 15]);
    put(out, 1, values[c->in[k >> 1] >> (4 - turn) & 15]);
  }
  if (k < first + count) put(out, 0, values[c->in[k >> 1] >> turn & 15]);
}

static void codes_t4(const gather_codes *c) {
  char *out = c->out;
  int64_t left = c->group_len - c->skip;
  for (int64_t i = 0, group = 0, now; i < c->count; i += now, group++, left = c->group_len) {
    const step_numbers n = numbers_of(c, group);
    float values[16];
    for (int q = 0; q < 16; q++) values[q] = value_of(n, c->table[q]);
    now = c->count - i < left ? c->count - i : left;
    group_t4(c, c->first + i, now, values, out + (size_t)i * sizeof(float));
  }
}

/* Many codes of one group are picked from their 256 values: a fused operation takes long here. */
static void codes_f8(const gather_codes *c) {
  enum { WORTH_A_TABLE = 512 };
  float values[256];
  char *out = c->out;
  int64_t left = c->group_len - c->skip;
  for (int64_t i = 0, group = 0; i < c->count; group++, left = c->group_len) {
    const step_numbers n = numbers_of(c, group);
    const int64_t now = c->count - i < left ? c->count - i : left;
    const unsigned char *in = c->in + c->first + i;
    if (now >= WORTH_A_TABLE)
      for (int q = 0; q < 256; q++) values[q] = fused_value(n, (float)q);
    for (int64_t j = 0; j < now; j++, out += sizeof(float))
      put(out, 0, now >= WORTH_A_TABLE ? values[in[j]] : fused_value(n, (float)in[j]));
    i += now;
  }
}

static void narrow_float16(const float *in, int64_t count, void *to) {
  char *out = to;
  for (int64_t i = 0; i < count; i++) {
    float number;
    memcpy(&number, (const char *)in + (size_t)i * sizeof number, sizeof number);
    const uint16_t half = gather_half_nearest(number);
    memcpy(out + (size_t)i * sizeof half, &half, sizeof half);
  }
}

static void narrow_bfloat16(const float *in, int64_t count, void *to) {
  char *out = to;
  for (int64_t i = 0; i < count; i++) {
    float number;
    memcpy(&number, (const char *)in + (size_t)i * sizeof number, sizeof number);
    const uint16_t half = gather_bfloat_nearest(number);
    memcpy(out + (size_t)i * sizeof half, &half, sizeof half);
  }
}

/* In the order of the kinds. */
#define CODES_SLOTS                                                                       \
  {                                                                                       \
    {codes_any}, {codes_u8}, {codes_s8}, {codes_t8}, {codes_t4}, {codes_t2}, { codes_f8 } \
  }
#define NARROW_SLOTS \
  { NULL, narrow_float16, narrow_bfloat16 }
