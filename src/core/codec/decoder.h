/* SPDX-License-Identifier: MIT
 *
 * decoder.h: a checked quantised tensor, ready to decode lines. A line is the elements of a row along the last axis; every gather
 * and every table becomes lines.
 *
 * The files of this folder, lowest first: codec_describe.c (the description), codec_line.c (decodes a line), codec_take.c (the exported
 * functions that gather, and decode rows that a caller has read).
 */
#ifndef GATHER_CODEC_DECODER_H
#define GATHER_CODEC_DECODER_H

#include "core/base/tensor.h"
#include "core/kernel/dispatch.h"
#include "gather/codec.h"

/* Numbers of a side tensor, by the group of each dimension. */
typedef struct gather_side {
  const char *data; /* NULL = absent */
  gather_type type; /* what an element is */
  bool swapped;
  int64_t first;                    /* packed types: number of the first element */
  int64_t strides[GATHER_MAX_RANK]; /* of one group; bytes, packed types: elements */
} gather_side;

struct gather_decoder {
  gather_codec_info info;
  int32_t rank; /* at least 1 */
  int64_t shape[GATHER_MAX_RANK];

  /* The codes. Positions of lines count bytes, or codes if `by_code`. */
  const unsigned char *data;
  bool by_code;
  int64_t first;                    /* position of the first line */
  int64_t strides[GATHER_MAX_RANK]; /* of all dimensions; the last counts codes of the line if packed, else bytes */
  int64_t step;                     /* CODES: from one code to the next, in codes; 1 = consecutive */
  int32_t bits;
  bool high_first;
  int32_t swap_bytes; /* words of this many bytes are reversed; 1 = none */
  gather_type code_type;
  bool wide; /* codes of more than 8 bits: floats, which are values already; wide_swapped: in reversed byte order */
  bool wide_swapped;
  int64_t code_bytes;         /* PACKED: bytes of the codes of a row */
  int64_t line_bytes;         /* of a line of data with all that is behind its codes; not for codes counted by number */
  int64_t row_bytes, row_len; /* of rows along the first axis: gather_decoder_create */

  /* What codes become: a table, or themselves minus a constant zero point. */
  bool has_table, has_constant_zero;
  float constant_zero;
  float table[256];

  /* Groups and side tensors. */
  bool flat;
  int64_t flat_len;
  int64_t groups[GATHER_MAX_RANK]; /* at least 1 */
  gather_side scale, zero, bias, scale2;
  bool scale2_divides, nested;
  gather_side scale_scale;
  int64_t scale_group_len;
  float scale_offset;
  float scale_table[256];

  /* The output and the kernels. */
  int type; /* GATHER_DECODE_... */
  int32_t out_bytes;
  gather_blocks_fn blocks, blocks_wide; /* to the output's type, NULL if there is none; to float32 */
  gather_codes_fn codes, codes_wide;
  gather_blocks_fn blocks_past; /* to float32 with non-temporal stores; NULL if there is none */
  gather_codes_fn codes_past;
  gather_narrow_fn narrow; /* float32: NULL */
};

/* Whether the library decodes it. If not, GATHER_UNSUPPORTED with the reason; GATHER_USAGE for a number that is no codec. */
GATHER_CHECKED gather_status gather_codec_check(gather_codec codec, gather_error *error);
/* Checks a description; out_type NONE: without kernels. Tables of numbers are not read: gather_decoder_prepare. */
GATHER_CHECKED gather_status gather_decoder_describe(const gather_quantized *quantized, gather_decoder *decoder, gather_error *error);
/* The rest: reads the tables, and finds the kernels for an output type. */
GATHER_CHECKED gather_status gather_decoder_prepare(const gather_quantized *quantized, gather_type out_type, gather_decoder *decoder,
                                                    gather_error *error);

/* The elements along the last axis. */
GATHER_INLINE int64_t gather_decoder_line_len(const gather_decoder *decoder) { return decoder->shape[decoder->rank - 1]; }
/* Where the codes of a line begin: an offset from `data` in bytes or codes. at: the coordinates; from: the first dimension that
 * counts (1: the offset within a row of the first axis). */
GATHER_INLINE int64_t gather_line_position(const gather_decoder *decoder, const int64_t *at, int32_t from) {
  int64_t position = 0;
  for (int32_t d = from; d < decoder->rank - 1; d++) position += at[d] * decoder->strides[d];
  return position;
}

/* Whether whole rows of codes with their scale and bias can be decoded by gather_packed_decode: a row of 256 codes takes 27 ns instead of
 * 34 by gather_line_decode, which has to find its place by coordinates. */
bool gather_decoder_is_packed(const gather_decoder *decoder);
/* Decodes such a row. */
void gather_packed_decode(const gather_decoder *decoder, const unsigned char *row, char *out);

/* Decodes elements [first, first + count) of the line with these coordinates (the last is ignored), to consecutive elements in
 * this machine's byte order. row: the packed row at[0] if it is not in `data`; else NULL. */
void gather_line_decode(const gather_decoder *decoder, const int64_t *at, const unsigned char *row, int64_t first, int64_t count,
                        char *out);

/* Sums the steps of the groups of a line; the last dimension does not count. */
GATHER_INLINE int64_t gather_side_position(const gather_decoder *decoder, const gather_side *side, const int64_t *at) {
  int64_t position = 0;
  for (int32_t d = 0; d < decoder->rank - 1; d++)
    if (side->strides[d]) position += at[d] / decoder->groups[d] * side->strides[d];
  return position;
}

#endif
