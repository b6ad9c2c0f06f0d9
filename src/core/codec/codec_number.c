/* SPDX-License-Identifier: MIT
 *
 * codec_number.c: numbers of side tensors as float32: any float type, any integer, packed ones too.
 */
#include <string.h>

#include "core/codec/decoder.h"
#include "core/kernel/float_bits.h"

/* A float of 8 bits or less: the exponent's and the fraction's bits, and the value of the smallest subnormal. */
GATHER_INLINE float small_float(unsigned code, int exponent_bits, int fraction_bits, int bias) {
  const unsigned magnitude = code & ((1u << (exponent_bits + fraction_bits)) - 1),
                 exponent = magnitude >> fraction_bits;
  const uint32_t sign = (uint32_t)(code >> (exponent_bits + fraction_bits) & 1u) << 31;
  const uint32_t unit = (uint32_t)(127 + 1 - bias - fraction_bits) << 23; /* of subnormal numbers */
  if (exponent == 0)
    return gather_float_of(gather_bits_of(gather_times((float)(int)magnitude, gather_float_of(unit))) | sign);
  return gather_float_of(sign | ((magnitude << (23 - fraction_bits)) + ((uint32_t)(127 - bias) << 23)));
}

static float not_a_number(void) { return gather_float_of(0x7fc00000u); }

float gather_number_small(gather_type type, unsigned code) {
  switch (type) {
    case GATHER_TYPE_FLOAT8_E4M3FN:
      return (code & 127) == 127 ? not_a_number() : small_float(code, 4, 3, 7);
    case GATHER_TYPE_FLOAT8_E4M3FNUZ:
      return code == 128 ? not_a_number() : small_float(code, 4, 3, 8);
    case GATHER_TYPE_FLOAT8_E5M2:
      return gather_half_value((uint32_t)code << 8);
    case GATHER_TYPE_FLOAT8_E5M2FNUZ:
      return code == 128 ? not_a_number() : small_float(code, 5, 2, 16);
    case GATHER_TYPE_FLOAT8_E8M0FNU:
      return code == 255 ? not_a_number() : gather_float_of(code ? (uint32_t)code << 23 : 0x400000u);
    case GATHER_TYPE_FLOAT4_E2M1FN:
      return small_float(code & 15, 2, 1, 1);
    case GATHER_TYPE_FLOAT6_E2M3FN:
      return small_float(code & 63, 2, 3, 1);
    case GATHER_TYPE_FLOAT6_E3M2FN:
      return small_float(code & 63, 3, 2, 3);
    case GATHER_TYPE_INT8:
      return (float)((int)((code & 255) ^ 128) - 128);
    case GATHER_TYPE_INT4:
      return (float)((int)((code & 15) ^ 8) - 8);
    case GATHER_TYPE_INT2:
      return (float)((int)((code & 3) ^ 2) - 2);
    case GATHER_TYPE_NF4: {
      const unsigned char element = (unsigned char)(code & 15);
      double number = 0;
      (void)gather_float_read(type, &element, &number);
      return (float)number;
    }
    default:
      return (float)code;
  }
}

bool gather_number_readable(gather_type type) {
  const gather_type_info *t = gather_type_get(type);
  if (!t || t->bits > 64) return false;
  if (t->packing != GATHER_PACKING_BYTES) return t->packing == GATHER_PACKING_LOW_FIRST;
  return t->kind == GATHER_KIND_FLOAT || t->kind == GATHER_KIND_INT || t->kind == GATHER_KIND_UINT;
}

/* The bits of a number of 1 to 8 bytes. */
static uint64_t load(const char *at, int bytes, bool swapped) {
  uint64_t bits = 0;
  const bool big = swapped != (GATHER_BIG_ENDIAN != 0);
  for (int i = 0; i < bytes; i++) bits |= (uint64_t)(unsigned char)at[big ? bytes - 1 - i : i] << 8 * i;
  return bits;
}

static float value_of(gather_type type, uint64_t bits) {
  double wide;
  switch (type) {
    case GATHER_TYPE_FLOAT16:
      return gather_half_value((uint32_t)bits);
    case GATHER_TYPE_BFLOAT16:
      return gather_float_of((uint32_t)bits << 16);
    case GATHER_TYPE_FLOAT32:
      return gather_float_of((uint32_t)bits);
    case GATHER_TYPE_FLOAT64:
      memcpy(&wide, &bits, sizeof wide);
      return (float)wide;
    case GATHER_TYPE_INT16:
      return (float)((int32_t)(bits ^ 0x8000u) - 0x8000);
    case GATHER_TYPE_INT32:
      return (float)((int64_t)(bits ^ 0x80000000u) - INT64_C(0x80000000));
    case GATHER_TYPE_INT64:
      return (float)(bits >> 63 ? -(int64_t)(~bits) - 1 : (int64_t)bits);
    case GATHER_TYPE_UINT16:
    case GATHER_TYPE_UINT32:
    case GATHER_TYPE_UINT64:
      return (float)bits;
    default:
      return gather_number_small(type, (unsigned)bits);
  }
}

static void read_packed(const gather_side *side, int64_t position, int64_t step, int64_t count, float *out) {
  const int bits = gather_type_row(side->type)->bits, each = 8 / bits;
  for (int64_t i = 0; i < count; i++) {
    const int64_t number = side->first + position + i * step;
    const unsigned byte = (unsigned char)side->data[number >= 0 ? number / each : -((each - 1 - number) / each)];
    const int64_t at = ((number % each) + each) % each;
    out[i] = gather_number_small(side->type, byte >> bits * (int)at & ((1u << bits) - 1));
  }
}

static void read_halves(const char *at, int64_t count, bool brain, float *out) {
  uint16_t half;
  for (int64_t i = 0; brain && i < count; i++) {
    memcpy(&half, at + 2 * i, sizeof half);
    out[i] = gather_float_of((uint32_t)half << 16);
  }
  for (int64_t i = 0; !brain && i < count; i++) {
    memcpy(&half, at + 2 * i, sizeof half);
    out[i] = gather_half_value(half);
  }
}

void gather_numbers_read(const gather_side *side, int64_t position, int64_t step, int64_t count, float *out) {
  const gather_type_info *type = gather_type_row(side->type);
  if (type->packing != GATHER_PACKING_BYTES) {
    read_packed(side, position, step, count, out);
    return;
  }
  const int bytes = type->bits / 8;
  const char *at = side->data + position;
  if (side->type == GATHER_TYPE_FLOAT32 && !side->swapped) { /* the usual case */
    for (int64_t i = 0; i < count; i++) memcpy(&out[i], at + i * step, sizeof *out);
    return;
  }
  if (bytes == 2 && step == 2 && !side->swapped && type->kind == GATHER_KIND_FLOAT) { /* rows of 16-bit floats */
    read_halves(at, count, side->type == GATHER_TYPE_BFLOAT16, out);
    return;
  }
  for (int64_t i = 0; i < count; i++) out[i] = value_of(side->type, load(at + i * step, bytes, side->swapped));
}

int64_t gather_side_position(const gather_decoder *decoder, const gather_side *side, const int64_t *at) {
  int64_t position = 0;
  for (int32_t d = 0; d < decoder->rank - 1; d++)
    if (side->strides[d]) position += at[d] / decoder->groups[d] * side->strides[d];
  return position;
}
