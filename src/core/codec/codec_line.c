/* SPDX-License-Identifier: MIT
 *
 * codec_line.c: decodes a part of a line: finds its codes, reads the numbers of its groups, and calls a kernel. Before the first line, a
 * decoder gets its tables and kernels.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/codec/decoder.h"
#include "core/kernel/float_bits.h"

/* ---- numbers of side tensors as float32: any float type, any integer, packed ones too */

/* A float of 8 bits or less: the exponent's and the fraction's bits, and the value of the smallest subnormal. */
GATHER_INLINE float small_float(unsigned code, int exponent_bits, int fraction_bits, int bias) {
  const unsigned magnitude = code & ((1u << (exponent_bits + fraction_bits)) - 1), exponent = magnitude >> fraction_bits;
  const uint32_t sign = (uint32_t)(code >> (exponent_bits + fraction_bits) & 1u) << 31;
  const uint32_t unit = (uint32_t)(127 + 1 - bias - fraction_bits) << 23; /* of subnormal numbers */
  if (exponent == 0) return gather_float_of(gather_bits_of(gather_times((float)(int)magnitude, gather_float_of(unit))) | sign);
  return gather_float_of(sign | ((magnitude << (23 - fraction_bits)) + ((uint32_t)(127 - bias) << 23)));
}

static float not_a_number(void) { return gather_float_of(0x7fc00000u); }

/* The value of a code of 8 bits or less, in the low bits. */
static float small_number(gather_type type, unsigned code) {
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
      return small_number(type, (unsigned)bits);
  }
}

static void read_packed(const gather_side *side, int64_t position, int64_t step, int64_t count, float *out) {
  const int bits = gather_type_row(side->type)->bits, each = 8 / bits;
  for (int64_t i = 0; i < count; i++) {
    const int64_t number = side->first + position + i * step;
    const unsigned byte = (unsigned char)side->data[number >= 0 ? number / each : -((each - 1 - number) / each)];
    const int64_t at = ((number % each) + each) % each;
    out[i] = small_number(side->type, byte >> bits * (int)at & ((1u << bits) - 1));
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

/* Reads `count` numbers from a position (the unit of strides), `step` apart, as float32. A float64 and a large integer round. */
static void read_numbers(const gather_side *side, int64_t position, int64_t step, int64_t count, float *out) {
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

/* ---- what a decoder needs besides its description: the tables that codes become numbers by, and kernels */

/* Twelve times the magnitudes of bitsandbytes' FP4 (functional.py, get_4bit_type). Bit 3 is the sign; there is no negative zero. */
static const float FP4_TIMES_12[8] = {0, 0.0625f, 8, 12, 4, 6, 2, 3};

static float fp4_value(unsigned code) {
  const float magnitude = FP4_TIMES_12[code & 7] / 12.0f;
  return code > 8 ? -magnitude : magnitude;
}

static void read_list(const gather_tensor *tensor, int64_t len, float *out) {
  gather_side side;
  memset(&side, 0, sizeof side);
  side.data = tensor->data, side.type = tensor->type;
  side.swapped = (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  read_numbers(&side, 0, gather_tensor_item_bytes(tensor), len, out);
}

/* The value of a code before zero point, scale and bias. */
static float code_value(const gather_decoder *decoder, unsigned code, int32_t offset) {
  switch (decoder->info.codec) {
    case GATHER_CODEC_NF4:
      return small_number(GATHER_TYPE_NF4, code);
    case GATHER_CODEC_FP4:
      return fp4_value(code);
    case GATHER_CODEC_FLOAT:
      return small_number(decoder->code_type, code);
    default:
      return gather_minus(small_number(decoder->code_type, code), (float)offset);
  }
}

static void fill_table(const gather_quantized *q, gather_decoder *decoder) {
  const gather_codec_info *info = &decoder->info;
  const bool whole = decoder->bits == 8 && gather_type_row(decoder->code_type)->kind != GATHER_KIND_FLOAT;
  decoder->has_table = true;
  if (q->table) {
    read_list(q->table, (int64_t)1 << decoder->bits, decoder->table);
    return;
  }
  if (whole && (q->code_offset == 0 || !q->zero_point || info->kind == GATHER_CODEC_PACKED)) {
    decoder->has_table = false;
    decoder->has_constant_zero = q->code_offset != 0;
    decoder->constant_zero = (float)q->code_offset;
    return;
  }
  for (unsigned code = 0; code < 1u << decoder->bits; code++) decoder->table[code] = code_value(decoder, code, q->code_offset);
}

/* The kind of its codes, GATHER_CODES_...; those that are not consecutive are made single bytes first. */
static int kind_of(const gather_decoder *decoder) {
  const bool single = decoder->step != 1 || decoder->swap_bytes > 1;
  if (decoder->info.codec == GATHER_CODEC_ROWWISE8) return GATHER_CODES_F8;
  if (!decoder->has_table) return decoder->code_type == GATHER_TYPE_INT8 ? GATHER_CODES_S8 : GATHER_CODES_U8;
  if (single || decoder->bits == 8) return GATHER_CODES_T8;
  return decoder->bits == 4 ? GATHER_CODES_T4 : decoder->bits == 2 ? GATHER_CODES_T2 : GATHER_CODES_ANY;
}

static void find_kernels(gather_decoder *decoder) {
  const char *isa;
  const int type = decoder->type;
  decoder->blocks_past = NULL, decoder->codes_past = NULL;
  if (decoder->info.kind == GATHER_CODEC_BLOCKS) {
    decoder->blocks = gather_kernel_blocks(decoder->info.codec, type, &isa);
    decoder->blocks_wide = gather_kernel_blocks(decoder->info.codec, GATHER_DECODE_FLOAT32, &isa);
    if (type == GATHER_DECODE_FLOAT32) decoder->blocks_past = gather_kernel_blocks(decoder->info.codec, GATHER_DECODE_FLOAT32_PAST, &isa);
  } else if (!decoder->wide) {
    const int kind = kind_of(decoder);
    decoder->codes = gather_kernel_codes(kind, type, &isa);
    decoder->codes_wide = gather_kernel_codes(kind, GATHER_DECODE_FLOAT32, &isa);
    if (type == GATHER_DECODE_FLOAT32) decoder->codes_past = gather_kernel_codes(kind, GATHER_DECODE_FLOAT32_PAST, &isa);
  }
  decoder->narrow = gather_kernel_narrow(type, &isa);
}

gather_status gather_decoder_prepare(const gather_quantized *quantized, gather_type out_type, gather_decoder *decoder,
                                     gather_error *error) {
  gather_quantized full = GATHER_QUANTIZED_INIT;
  GATHER_TRY(gather_struct_read(&full, sizeof full, quantized, "gather_quantized", "GATHER_QUANTIZED_INIT", error));
  if (out_type != GATHER_TYPE_FLOAT32 && out_type != GATHER_TYPE_FLOAT16 && out_type != GATHER_TYPE_BFLOAT16) {
    const gather_type_info *type = gather_type_get(out_type);
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "output", "values can be decoded to float32, float16 or bfloat16, not to %s",
                             type ? type->name : "an unknown type");
  }
  decoder->type = out_type == GATHER_TYPE_FLOAT32   ? GATHER_DECODE_FLOAT32
                  : out_type == GATHER_TYPE_FLOAT16 ? GATHER_DECODE_FLOAT16
                                                    : GATHER_DECODE_BFLOAT16;
  decoder->out_bytes = out_type == GATHER_TYPE_FLOAT32 ? 4 : 2;
  if (decoder->info.kind != GATHER_CODEC_BLOCKS && !decoder->wide) fill_table(&full, decoder);
  if (decoder->nested) read_list(full.scale_table, 256, decoder->scale_table);
  find_kernels(decoder);
  return GATHER_OK;
}

/* ---- lines */

/* Elements that are decoded at a time on their way to halves, or from codes that are not consecutive: they stay in L1. Groups whose numbers
 * are read at a time. */
enum { PIECE = 1024, GROUPS = 128 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- blocks */

/* Elements [first, first + count) of consecutive blocks, through float32 in L1. count is at most PIECE. */
static void decode_piece(const gather_decoder *decoder, const unsigned char *in, int64_t first, int64_t count, char *out) {
  float wide[PIECE + 256];
  decoder->blocks_wide(in, (first + count - 1) / decoder->info.block_len + 1, wide);
  if (decoder->narrow)
    decoder->narrow(wide + first, count, out);
  else
    memcpy(out, wide + first, (size_t)count * sizeof *wide);
}

static void decode_blocks(const gather_decoder *decoder, const unsigned char *in, int64_t first, int64_t count, char *out) {
  const int64_t len = decoder->info.block_len, bytes = decoder->info.block_bytes;
  in += first / len * bytes, first %= len;
  while (count > 0) {
    int64_t now = least(count, PIECE - first);
    if (first == 0 && count >= len && decoder->blocks) {
      now = count / len * len;
      decoder->blocks(in, now / len, out);
    } else
      decode_piece(decoder, in, first, now, out);
    in += (first + now) / len * bytes, first = (first + now) % len;
    count -= now, out += now * decoder->out_bytes;
  }
}

/* ---- the numbers of groups */

/* A line's numbers: where its groups begin in each side tensor. */
typedef struct code_line {
  const gather_decoder *decoder;
  int64_t group_len, flat_first; /* flat: the number of the line's first element */
  int64_t scale, zero, bias, scale2;
  float own_scale, own_bias; /* PACKED */
} code_line;

typedef struct group_numbers {
  float scale[GROUPS], zero[GROUPS], bias[GROUPS];
} group_numbers;

static void start_line(code_line *l, const gather_decoder *decoder, const int64_t *at) {
  l->decoder = decoder;
  l->flat_first = 0;
  l->group_len = decoder->flat ? decoder->flat_len : decoder->groups[decoder->rank - 1];
  if (decoder->flat) {
    for (int32_t d = 0; d < decoder->rank - 1; d++) l->flat_first = l->flat_first * decoder->shape[d] + at[d];
    l->flat_first *= gather_decoder_line_len(decoder);
    l->scale = l->zero = l->bias = l->scale2 = 0;
    return;
  }
  l->scale = gather_side_position(decoder, &decoder->scale, at);
  l->zero = gather_side_position(decoder, &decoder->zero, at);
  l->bias = gather_side_position(decoder, &decoder->bias, at);
  l->scale2 = gather_side_position(decoder, &decoder->scale2, at);
}

static void read_side(const gather_decoder *decoder, const gather_side *side, int64_t base, int64_t group, int64_t count, float *out) {
  const int64_t step = side->strides[decoder->rank - 1];
  read_numbers(side, base + group * step, step, count, out);
}

/* Scales that are codes: see gather_quantized.scale_table. */
static void resolve_nested(const gather_decoder *decoder, int64_t number, int64_t step, int64_t count, float *scale) {
  for (int64_t i = 0; i < count; i++, number += step) {
    float factor;
    read_numbers(&decoder->scale_scale, number / decoder->scale_group_len * decoder->scale_scale.strides[0], 0, 1, &factor);
    const unsigned char code = (unsigned char)decoder->scale.data[number];
    scale[i] = gather_plus(gather_times(decoder->scale_table[code], factor), decoder->scale_offset);
  }
}

static void read_scales(const code_line *l, int64_t group, int64_t count, group_numbers *n) {
  const gather_decoder *decoder = l->decoder;
  const int64_t step = decoder->scale.strides[decoder->rank - 1];
  if (decoder->nested)
    resolve_nested(decoder, l->scale + group * step, step, count, n->scale);
  else
    read_side(decoder, &decoder->scale, l->scale, group, count, n->scale);
  if (!decoder->scale2.data) return;
  float second[GROUPS];
  read_side(decoder, &decoder->scale2, l->scale2, group, count, second);
  for (int64_t i = 0; i < count; i++)
    n->scale[i] = decoder->scale2_divides ? n->scale[i] / second[i] : gather_times(n->scale[i], second[i]);
}

/* The numbers of a side tensor where they are, from group 0 on; NULL if they have to be read. */
static const float *numbers_in_place(const gather_decoder *decoder, const gather_side *side, int64_t base) {
  if (side->type != GATHER_TYPE_FLOAT32 || side->swapped) return NULL;
  if (side->strides[decoder->rank - 1] != (int64_t)sizeof(float)) return NULL;
  const char *first = side->data + base;
  return (uintptr_t)first % sizeof(float) == 0 ? (const float *)(const void *)first : NULL;
}

/* Sets the arrays of a run of codes whose numbers are a scale, where it is; false if they are not. */
static bool find_in_place(const code_line *l, int64_t group, gather_codes *codes) {
  const gather_decoder *decoder = l->decoder;
  if (!decoder->scale.data || decoder->zero.data || decoder->bias.data || decoder->has_constant_zero) return false;
  if (decoder->nested || decoder->scale2.data) return false;
  const float *scale = numbers_in_place(decoder, &decoder->scale, l->scale);
  if (scale) codes->scale = scale + group;
  return scale != NULL;
}

/* Sets the arrays of a run of codes that begins at an element and ends before the groups do; returns its length. */
static int64_t find_numbers(const code_line *l, int64_t element, int64_t count, group_numbers *n, gather_codes *codes) {
  const gather_decoder *decoder = l->decoder;
  if (decoder->info.kind == GATHER_CODEC_PACKED) {
    codes->group_len = INT64_MAX, codes->skip = 0;
    codes->scale = &l->own_scale, codes->bias = &l->own_bias;
    return count;
  }
  const int64_t number = l->flat_first + element, group = number / l->group_len;
  codes->group_len = l->group_len, codes->skip = number % l->group_len;
  if (find_in_place(l, group, codes)) return count;
  const int64_t room = l->group_len > INT64_MAX / GROUPS ? INT64_MAX : l->group_len * GROUPS;
  const int64_t now = least(count, room - codes->skip), groups = (codes->skip + now - 1) / l->group_len + 1;
  if (decoder->scale.data) read_scales(l, group, groups, n), codes->scale = n->scale;
  if (decoder->zero.data) read_side(decoder, &decoder->zero, l->zero, group, groups, n->zero), codes->zero = n->zero;
  if (decoder->bias.data) read_side(decoder, &decoder->bias, l->bias, group, groups, n->bias), codes->bias = n->bias;
  if (!decoder->has_constant_zero) return now;
  for (int64_t i = 0; i < groups; i++) n->zero[i] = decoder->constant_zero;
  codes->zero = n->zero;
  return now;
}

/* ---- codes */

/* Code number k of memory whose words may be reversed. */
static unsigned pick_code(const gather_decoder *decoder, const unsigned char *in, int64_t k) {
  const int64_t bit = k * decoder->bits, byte = bit >> 3, mask = decoder->swap_bytes - 1;
  unsigned shift = (unsigned)(bit & 7), word = in[byte ^ mask];
  if (decoder->high_first) shift = 8 - shift - (unsigned)decoder->bits;
  if (shift + (unsigned)decoder->bits > 8) word |= (unsigned)in[(byte + 1) ^ mask] << 8;
  return word >> shift & ((1u << decoder->bits) - 1);
}

/* The same through float32 in L1, or from single bytes. */
static void decode_by_piece(const gather_decoder *decoder, gather_codes *codes, bool scattered, char *out) {
  float wide[PIECE];
  unsigned char single[PIECE];
  if (scattered) {
    for (int64_t i = 0; i < codes->count; i++) single[i] = (unsigned char)pick_code(decoder, codes->in, codes->first + i * decoder->step);
    codes->in = single, codes->first = 0, codes->bits = 8, codes->high_first = false;
  }
  if (decoder->codes) {
    codes->out = out;
    decoder->codes(codes);
    return;
  }
  codes->out = wide;
  decoder->codes_wide(codes);
  decoder->narrow(wide, codes->count, out);
}

static void decode_codes(const code_line *l, const unsigned char *in, int64_t first_code, int64_t first, int64_t count, char *out) {
  const gather_decoder *decoder = l->decoder;
  const bool scattered = decoder->step != 1 || decoder->swap_bytes > 1, by_piece = scattered || !decoder->codes;
  group_numbers n;
  while (count > 0) {
    gather_codes codes = {.in = in,
                          .first = first_code + first * decoder->step,
                          .table = decoder->has_table ? decoder->table : NULL,
                          .bits = decoder->bits,
                          .high_first = decoder->high_first,
                          .out = out};
    codes.count = find_numbers(l, first, by_piece ? least(count, PIECE) : count, &n, &codes);
    if (by_piece)
      decode_by_piece(decoder, &codes, scattered, out);
    else
      decoder->codes(&codes);
    first += codes.count, count -= codes.count, out += codes.count * decoder->out_bytes;
  }
}

/* Floats of more than 8 bits: read as float32, in pieces that stay in L1, and multiplied by their scales. */
static void decode_wide(const code_line *l, const unsigned char *in, int64_t first, int64_t count, char *out) {
  const gather_decoder *decoder = l->decoder;
  const int64_t step = decoder->step * (decoder->bits / 8);
  const gather_side from = {.data = (const char *)in, .type = decoder->code_type, .swapped = decoder->wide_swapped};
  group_numbers n;
  while (count > 0) {
    float wide[PIECE];
    gather_codes codes = {.count = 0};
    const int64_t now = find_numbers(l, first, least(count, PIECE), &n, &codes);
    read_numbers(&from, first * step, step, now, wide);
    for (int64_t i = 0; codes.scale && i < now; i++) wide[i] = gather_times(wide[i], codes.scale[(codes.skip + i) / codes.group_len]);
    if (decoder->narrow)
      decoder->narrow(wide, now, out);
    else
      memcpy(out, wide, (size_t)now * sizeof *wide);
    first += now, count -= now, out += now * decoder->out_bytes;
  }
}

/* The scale and the bias behind the codes of a row: float32 for codes of 8 bits, else float16. */
static void read_own(code_line *l, const unsigned char *behind) {
  const bool wide = l->decoder->bits == 8;
  l->own_scale = wide ? gather_float_of(gather_little32(behind)) : gather_half_at(behind);
  l->own_bias = wide ? gather_float_of(gather_little32(behind + 4)) : gather_half_at(behind + 2);
}

bool gather_decoder_is_packed(const gather_decoder *decoder) {
  return decoder->info.kind == GATHER_CODEC_PACKED && decoder->codes && decoder->step == 1 && decoder->swap_bytes <= 1 && !decoder->wide &&
         !decoder->by_code;
}

void gather_packed_decode(const gather_decoder *decoder, const unsigned char *row, char *out) {
  code_line l;
  l.decoder = decoder;
  read_own(&l, row + decoder->code_bytes);
  const gather_codes codes = {.in = row,
                              .count = gather_decoder_line_len(decoder),
                              .group_len = INT64_MAX,
                              .table = decoder->has_table ? decoder->table : NULL,
                              .scale = &l.own_scale,
                              .bias = &l.own_bias,
                              .bits = decoder->bits,
                              .high_first = decoder->high_first,
                              .out = out};
  decoder->codes(&codes);
}

void gather_line_decode(const gather_decoder *decoder, const int64_t *at, const unsigned char *row, int64_t first, int64_t count,
                        char *out) {
  const int64_t position = gather_line_position(decoder, at, row ? 1 : 0) + (row ? 0 : decoder->first);
  const unsigned char *in = row ? row : decoder->data;
  code_line l;
  int64_t first_code = 0;
  if (decoder->by_code) { /* the first code is near `in`, which stays on a word; positions may be negative */
    const int64_t words = position >= 0 ? position / 64 : -((63 - position) / 64);
    in += words * 8 * decoder->bits, first_code = position - words * 64;
  } else
    in += position;
  if (decoder->info.kind == GATHER_CODEC_BLOCKS) {
    decode_blocks(decoder, in, first, count, out);
    return;
  }
  if (decoder->info.kind == GATHER_CODEC_PACKED) {
    l.decoder = decoder;
    read_own(&l, in + decoder->code_bytes);
  } else
    start_line(&l, decoder, at);
  if (decoder->wide)
    decode_wide(&l, in, first, count, out);
  else
    decode_codes(&l, in, first_code, first, count, out);
}
