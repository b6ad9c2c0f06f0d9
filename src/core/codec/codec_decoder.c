/* SPDX-License-Identifier: MIT
 *
 * codec_decoder.c: shapes, and decoders of rows that a caller has read.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/codec/decoder.h"

gather_status gather_quantized_shape(const gather_quantized *quantized, int64_t *shape, int32_t *rank,
                                     gather_error *error) {
  gather_decoder decoder;
  GATHER_TRY(gather_decoder_describe(quantized, &decoder, error));
  if (shape) memcpy(shape, decoder.shape, (size_t)decoder.rank * sizeof *shape);
  if (rank) *rank = decoder.rank;
  return GATHER_OK;
}

/* The step from one line to the next if there are no gaps, in the unit of the strides. */
static int64_t dense_step(const gather_decoder *decoder) {
  const gather_codec_info *info = &decoder->info;
  const int64_t len = gather_decoder_line_len(decoder);
  if (decoder->by_code) return len;
  if (info->kind == GATHER_CODEC_BLOCKS) return len / info->block_len * info->block_bytes;
  return decoder->line_bytes;
}

/* The bytes of a packed row; false if rows have gaps or do not begin on a byte (a word, if the bytes of words are reversed). */
static bool find_row_bytes(const gather_decoder *decoder, int64_t *bytes) {
  int64_t step = dense_step(decoder);
  if (decoder->step != 1 && gather_decoder_line_len(decoder) > 1) return false;
  for (int32_t d = decoder->rank - 2; d >= 1; d--) {
    if (decoder->shape[d] > 1 && decoder->strides[d] != step) return false;
    if (!gather_mul(step, decoder->shape[d], &step)) return false; /* only where another length is 0 */
  }
  *bytes = step;
  if (!decoder->by_code) return true;
  /* Codes of a row are less than 2^63 / 8: so are those of all rows, which are in memory or in a file. */
  const int64_t unit = 8 * (int64_t)decoder->swap_bytes, bits = decoder->bits;
  *bytes = step / 8 * bits + (step % 8 * bits + 7) / 8;
  if (decoder->shape[0] <= 1) return true;
  return decoder->strides[0] % unit * bits % unit == 0 && decoder->first % unit * bits % unit == 0;
}

static gather_status create(const gather_quantized *quantized, gather_type out_type, gather_decoder *decoder,
                            gather_error *error) {
  GATHER_TRY(gather_decoder_describe(quantized, decoder, error));
  if (decoder->rank < 2)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "rows need values of rank 2 or more, not 1");
  GATHER_TRY(gather_decoder_prepare(quantized, out_type, decoder, error));
  if (!find_row_bytes(decoder, &decoder->row_bytes))
    return gather_fail_input(error, GATHER_UNSUPPORTED, "data",
                             "the rows of data have gaps, or do not begin on whole bytes");
  decoder->row_len = 1;
  for (int32_t d = 1; d < decoder->rank; d++)
    decoder->row_len *= decoder->shape[d]; /* it fits unless another length is 0 */
  return GATHER_OK;
}

gather_status gather_decoder_create(const gather_quantized *quantized, gather_type out_type, gather_decoder **decoder,
                                    gather_error *error) {
  if (!decoder) return gather_fail(error, GATHER_USAGE, "`decoder` is NULL");
  *decoder = NULL;
  gather_decoder *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a decoder");
  const gather_status status = create(quantized, out_type, made, error);
  if (status == GATHER_OK)
    *decoder = made;
  else
    gather_free(made);
  return status;
}

void gather_decoder_destroy(gather_decoder *decoder) { gather_free(decoder); }

void gather_decoder_sizes(const gather_decoder *decoder, int64_t *rows, int64_t *row_bytes, int64_t *row_len) {
  if (rows) *rows = decoder->shape[0];
  if (row_bytes) *row_bytes = decoder->row_bytes;
  if (row_len) *row_len = decoder->row_len;
}

/* The lines of one row, each after the other. */
static void decode_row(const gather_decoder *decoder, const unsigned char *row, int64_t number, char *out) {
  const int64_t len = gather_decoder_line_len(decoder);
  int64_t at[GATHER_MAX_RANK] = {number};
  for (int64_t left = decoder->row_len; left > 0; left -= len, out += len * decoder->out_bytes) {
    gather_line_decode(decoder, at, row, 0, len, out);
    for (int32_t d = decoder->rank - 2; d >= 1 && ++at[d] == decoder->shape[d]; d--) at[d] = 0;
  }
}

void gather_decoder_rows(const gather_decoder *decoder, const void *packed, int64_t packed_step, const int64_t *rows,
                         int64_t count, void *out, int64_t out_step) {
  for (int64_t j = 0; j < count; j++)
    decode_row(decoder, (const unsigned char *)packed + j * packed_step, rows ? rows[j] : 0,
               (char *)out + j * out_step);
}
