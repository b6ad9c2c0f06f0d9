/* SPDX-License-Identifier: MIT
 *
 * codec_line.c: decodes a part of a line: finds its codes, reads the numbers of its groups, and calls a kernel.
 */
#include <string.h>

#include "core/codec/decoder.h"
#include "core/kernel/float_bits.h"

enum {
  PIECE =
      1024, /* elements that are decoded at a time on their way to halves, or from codes that are not consecutive: in L1 */
  GROUPS = 128 /* groups whose numbers are read at a time */
};

int64_t gather_line_position(const gather_decoder *decoder, const int64_t *at, int32_t from) {
  int64_t position = 0;
  for (int32_t d = from; d < decoder->rank - 1; d++) position += at[d] * decoder->strides[d];
  return position;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- blocks */

/* Elements [first, first + count) of consecutive blocks, through float32 in L1. count is at most PIECE. */
static void decode_piece(const gather_decoder *decoder, const unsigned char *in, int64_t first, int64_t count,
                         char *out) {
  float wide[PIECE + 256];
  decoder->blocks_wide(in, (first + count - 1) / decoder->info.block_len + 1, wide);
  if (decoder->narrow)
    decoder->narrow(wide + first, count, out);
  else
    memcpy(out, wide + first, (size_t)count * sizeof *wide);
}

static void decode_blocks(const gather_decoder *decoder, const unsigned char *in, int64_t first, int64_t count,
                          char *out) {
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

static void read_side(const gather_decoder *decoder, const gather_side *side, int64_t base, int64_t group,
                      int64_t count, float *out) {
  const int64_t step = side->strides[decoder->rank - 1];
  gather_numbers_read(side, base + group * step, step, count, out);
}

/* Scales that are codes: see gather_quantized.scale_table. */
static void resolve_nested(const gather_decoder *decoder, int64_t number, int64_t step, int64_t count, float *scale) {
  for (int64_t i = 0; i < count; i++, number += step) {
    float factor;
    gather_numbers_read(&decoder->scale_scale, number / decoder->scale_group_len * decoder->scale_scale.strides[0], 0,
                        1, &factor);
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
    for (int64_t i = 0; i < codes->count; i++)
      single[i] = (unsigned char)pick_code(decoder, codes->in, codes->first + i * decoder->step);
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

static void decode_codes(const code_line *l, const unsigned char *in, int64_t first_code, int64_t first, int64_t count,
                         char *out) {
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
    gather_numbers_read(&from, first * step, step, now, wide);
    for (int64_t i = 0; codes.scale && i < now; i++)
      wide[i] = gather_times(wide[i], codes.scale[(codes.skip + i) / codes.group_len]);
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

void gather_line_decode(const gather_decoder *decoder, const int64_t *at, const unsigned char *row, int64_t first,
                        int64_t count, char *out) {
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
