/* SPDX-License-Identifier: MIT
 *
 * table_decode.h: tables that deliver rows which are not so in the file: decoded, or assembled from elements. Such a table has tables of
 * its own, one for the quantised rows of each part and one for each side tensor with numbers for its rows. A take reads a block of rows
 * through them into scratch memory, and decodes it.
 */
#ifndef GATHER_TABLE_TABLE_DECODE_H
#define GATHER_TABLE_TABLE_DECODE_H

#include "table/layout.h"
#include "table/table_internal.h"

/* The sides whose numbers belong to rows: they may be as long as the rows, and are read like them. */
enum { GATHER_ROW_SIDES = GATHER_SIDE_BIAS + 1 };

/* A side tensor. */
typedef struct gather_decode_side {
  gather_table *table;  /* its rows; NULL = a constant, or absent */
  void *constant;       /* the whole tensor in memory; NULL = read through the table, or absent */
  gather_tensor tensor; /* what a decoder is told: type and flags; shape[0] is that of a block, or of the whole tensor */
  int64_t shape[2];
  int64_t row_bytes; /* of a row of the table; 0 = not read by rows */
} gather_decode_side;

/* One part of a decoded table. */
typedef struct gather_piece {
  gather_layout layout;
  int64_t first, rows; /* in the whole table */
  gather_table *data;
  gather_decode_side side[GATHER_SIDE_COUNT];
  /* Not quantised: each row is assembled from its elements, which are the rows of `data` (open.c). by_columns: in Fortran order. */
  bool is_elements, by_columns;
} gather_piece;

/* What one take needs for a block of rows; idle ones are in a list. */
typedef struct gather_scratch {
  struct gather_scratch *next;
  char *memory;              /* one allocation for all that follows */
  int64_t *resolved;         /* the rows of a block, GATHER_ROW_FILL among them */
  int64_t *rows, *positions; /* of the rows of one piece: numbers in the piece, places in the output */
  int64_t *wanted, *numbers; /* row numbers for a side table, or of elements; 0, 1, 2, ... */
  char *packed, *side[GATHER_ROW_SIDES];
  float *scales;             /* decoded from codes, if scales are quantised themselves */
  gather_decoder **decoders; /* one for each piece, created when first needed; they read the memory above */
} gather_scratch;

typedef struct gather_decoded {
  gather_piece *pieces;
  int32_t count;
  int64_t block_rows; /* rows of a block */
  /* Protected by the table's lock. */
  gather_scratch *idle;
  int32_t scratch_count, scratch_most;
} gather_decoded;

/* ---- memory.c */

/* The bytes that a block of so many rows needs; INT64_MAX if they do not fit. */
int64_t gather_scratch_bytes(const gather_decoded *decoding, int64_t rows);
/* Allocates one; NULL: out of memory. */
gather_scratch *gather_scratch_create(const gather_decoded *decoding);
/* Frees the idle ones. After fork(), the others belong to threads of the parent. */
void gather_scratch_clear(gather_decoded *decoding);

/* ---- table_decode.c */

/* Takes decoded rows: gather_table.run. */
GATHER_CHECKED gather_status gather_decoding_run(const gather_taking *taking, gather_rows_count *rows, int64_t *bytes_useful,
                                                 gather_error *error);

#endif
