/* SPDX-License-Identifier: MIT
 *
 * codec_rows.h: decodes rows of one line each to a dense output.
 */
#ifndef GATHER_CODEC_CODEC_ROWS_H
#define GATHER_CODEC_CODEC_ROWS_H

#include "core/codec/decoder.h"
#include "core/kernel/kernel.h"

typedef struct gather_rows {
  const gather_decoder *decoder;
  int32_t axis;                /* the last but one: a row is a line */
  int64_t at[GATHER_MAX_RANK]; /* coordinates of a row; that of the axis changes */
  int64_t line_len, codes_bytes;
  const char *first; /* row 0 */
  int64_t step;      /* from row to row: bytes, or codes */
  gather_blocks_fn blocks;
  int64_t block_count;
  int64_t ahead;    /* rows */
  bool prefetches;  /* the table is out of a core's private cache */
  const void *fill; /* an element for rows that are filled; NULL = 0 */
} gather_rows;

/* Sets everything but prefetches and fill. at: of the first row. */
void gather_rows_start(gather_rows *r, const gather_decoder *decoder, const int64_t *at, int32_t axis);
/* Prefetches the first rows. */
void gather_rows_prefetch(gather_rows *r, const int64_t *rows, int64_t count);
/* Decodes `count` rows, whose numbers are checked or GATHER_ROW_FILL; the numbers of `more` rows that are decoded next follow in
 * memory. */
void gather_rows_decode(gather_rows *r, const int64_t *rows, int64_t count, int64_t more, char *out);

#endif
