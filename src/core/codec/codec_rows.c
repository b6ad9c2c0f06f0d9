/* SPDX-License-Identifier: MIT
 *
 * codec_rows.c: decodes many rows of one line each, while the rows to come are prefetched.
 */
#include <string.h>

#include "core/codec/codec_rows.h"
#include "core/kernel/copy.h"
#include "core/kernel/tuning.h"

enum {
  LINE = 64,
  AHEAD_ROWS = 32, /* prefetched at most */
  MOST_LINES = 128 /* of a row */
};

/* Where row 0 of the axis begins. */
static const char *codes_at(const gather_decoder *decoder, int64_t *at, int32_t axis) {
  at[axis] = 0;
  const int64_t position = gather_line_position(decoder, at, 0) + decoder->first;
  return (const char *)decoder->data + (decoder->by_code ? position / 8 * decoder->bits : position);
}

void gather_rows_start(gather_rows *r, const gather_decoder *decoder, const int64_t *at, int32_t axis) {
  r->decoder = decoder, r->axis = axis;
  memcpy(r->at, at, (size_t)decoder->rank * sizeof *at);
  r->line_len = gather_decoder_line_len(decoder);
  r->codes_bytes = decoder->by_code ? (r->line_len * decoder->bits + 7) / 8 : decoder->line_bytes;
  r->first = decoder->data ? codes_at(decoder, r->at, axis) : NULL, r->step = decoder->strides[axis];
  r->blocks = decoder->info.kind == GATHER_CODEC_BLOCKS && decoder->blocks ? decoder->blocks : NULL;
  r->block_count = r->line_len / decoder->info.block_len;
  const int64_t rows = gather_tuned(GATHER_TUNING_prefetch_bytes) / (r->codes_bytes + LINE) + 1;
  r->ahead = rows < 1 ? 1 : rows > AHEAD_ROWS ? AHEAD_ROWS : rows;
}

/* The lines of memory that hold `bytes` bytes from `first` on. */
static void prefetch_bytes(const char *first, int64_t bytes) {
  const int64_t lines = ((int64_t)((uintptr_t)first & (LINE - 1)) + bytes + LINE - 1) / LINE;
  gather_prefetch_row(first, lines < MOST_LINES ? lines : MOST_LINES);
}

static void prefetch_side(const gather_decoder *decoder, const gather_side *side, const int64_t *at) {
  const int64_t last = decoder->rank - 1, step = side->data ? side->strides[last] : 0;
  if (!side->data || decoder->flat || gather_type_row(side->type)->packing != GATHER_PACKING_BYTES) return;
  const int64_t groups = (decoder->shape[last] - 1) / decoder->groups[last] + 1;
  prefetch_bytes(side->data + gather_side_position(decoder, side, at), step > 0 ? groups * step : 1);
}

static void prefetch(gather_rows *r, int64_t row) {
  if (row < 0) return;
  const int64_t position = row * r->step;
  prefetch_bytes(r->first + (r->decoder->by_code ? position / 8 * r->decoder->bits : position), r->codes_bytes);
  if (r->decoder->info.kind != GATHER_CODEC_CODES) return;
  r->at[r->axis] = row;
  prefetch_side(r->decoder, &r->decoder->scale, r->at);
  prefetch_side(r->decoder, &r->decoder->zero, r->at);
  prefetch_side(r->decoder, &r->decoder->bias, r->at);
}

static void decode_row(gather_rows *r, int64_t row, char *out) {
  if (r->blocks) {
    r->blocks((const unsigned char *)r->first + row * r->step, r->block_count, out);
    return;
  }
  r->at[r->axis] = row;
  gather_line_decode(r->decoder, r->at, NULL, 0, r->line_len, out);
}

static void fill_row(const gather_rows *r, char *out) {
  static const char zero[sizeof(float)];
  const char *element = r->fill ? r->fill : zero;
  for (int64_t i = 0; i < r->line_len; i++)
    memcpy(out + i * r->decoder->out_bytes, element, (size_t)r->decoder->out_bytes);
}

void gather_rows_decode(gather_rows *r, const int64_t *rows, int64_t count, int64_t more, char *out) {
  const int64_t step = r->line_len * r->decoder->out_bytes;
  for (int64_t j = 0; j < count; j++, out += step) {
    if (r->prefetches && j + r->ahead < count + more) prefetch(r, rows[j + r->ahead]);
    if (rows[j] < 0)
      fill_row(r, out);
    else
      decode_row(r, rows[j], out);
  }
}

void gather_rows_prefetch(gather_rows *r, const int64_t *rows, int64_t count) {
  for (int64_t j = 0; r->prefetches && j < r->ahead && j < count; j++) prefetch(r, rows[j]);
}
