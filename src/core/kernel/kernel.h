/* SPDX-License-Identifier: MIT
 *
 * kernel.h: kernels move bytes. They know row sizes and the integer types of indices; they know neither element types nor operators, and
 * they do not allocate, lock, or read a byte outside the rows they were given. dispatch.h chooses among them.
 */
#ifndef GATHER_KERNEL_KERNEL_H
#define GATHER_KERNEL_KERNEL_H

#include "core/base/compiler.h"
#include "core/kernel/bag.h"
#include "core/kernel/bits.h"
#include "core/kernel/decode.h"
#include "core/kernel/indices.h"
#include "gather/gather.h"

/* The two innermost loops of a nest: for i in [0, rounds), j in [0, count)
 *     out[i * out_round + j * out_step ..] =
 *         data[i * data_round + j * data_step + indices[i * index_round + j * index_step] * axis_step ..]  (row_bytes bytes)
 * All steps are in bytes and of either sign. Indices are unsigned, of 4 or 8 bytes, and in range. */
typedef struct gather_span {
  const char *data;
  const char *indices;
  char *out;
  int64_t count, rounds;
  int64_t data_step, index_step, out_step;
  int64_t data_round, index_round, out_round;
  int64_t axis_step; /* from one row of the data to the next */
  int64_t row_bytes;
  /* Prefetching: the row of the index `prefetch_rows` later is prefetched, `prefetch_lines` lines of it. 0 = no
   * prefetching. */
  int64_t prefetch_rows;
  int64_t prefetch_lines;
  int64_t table_bytes; /* of the whole table; for register tables and short rows */
  int64_t more;        /* indices that follow the last one in memory and are gathered next: kernels may read them */
  bool many;           /* more indices than a core's private cache holds: they are prefetched too */
  bool nontemporal;    /* vector kernels use non-temporal stores for whole lines; the `nontemporal` kernels always do */
} gather_span;

typedef void (*gather_rows_fn)(const gather_span *span);

/* The same by indices that nobody has validated. Within a round they are dense, and so is the output; `limit` is at most half of the
 * indices' range. Returns how many rows moved, counted over all rounds: it ends before the first index that is not below `limit`, at most
 * prefetch_rows + 128 rows and a round before it. It may return 0 for spans and limits that it does not support. The rows that follow those
 * that moved may hold anything. */
typedef int64_t (*gather_checked_fn)(const gather_span *span, uint64_t limit);

/* How many rows at the end of a round move without prefetching: the indices after them are unknown. */
GATHER_INLINE int64_t gather_span_stay(const gather_span *s) {
  return s->prefetch_rows <= 0 ? s->count : s->more >= s->prefetch_rows ? 0 : s->prefetch_rows - s->more;
}

/* Many short rounds with the same few indices, which are read once. */
enum { GATHER_FEW_AGAIN = 16 };
GATHER_INLINE bool gather_span_is_again(const gather_span *s) {
  return s->index_round == 0 && s->count <= GATHER_FEW_AGAIN && s->rounds > GATHER_FEW_AGAIN;
}

/* Widths of indices that kernels read; other types are widened to 8 bytes first. */
enum { GATHER_WIDTH_4 = 0, GATHER_WIDTH_8, GATHER_WIDTHS };
/* Register tables accept indices of one byte too. */
enum { GATHER_TABLE_WIDTH_1 = 0, GATHER_TABLE_WIDTH_4, GATHER_TABLE_WIDTH_8, GATHER_TABLE_WIDTHS };

/* Rows by size: 1, 2, 3, 4, 5-7, 8, 9-15, 16, 17-31, 32, 33-63, 64, more bytes. */
enum { GATHER_ROW_CLASSES = 13 };

/* rows[j] = index j, plus axis_len where it is negative. Indices are dense, of the type of the slot. */
typedef void (*gather_widen_fn)(const char *restrict indices, int64_t count, int64_t axis_len, int64_t *restrict rows);

typedef struct gather_isa {
  const char *name;
  /* NULL = the kernel of a weaker instruction set; if none has one, it is not available. */
  gather_rows_fn rows[GATHER_WIDTHS][GATHER_ROW_CLASSES];
  /* Elements of 4 and 8 bytes by the CPU's own gather instruction; offsets from data + data_step * j stay below 2^31 bytes.
   * Indices and output are dense. Whether this is faster differs from CPU to CPU. */
  gather_rows_fn gather_instruction[GATHER_WIDTHS][2];
  gather_checked_fn checked_instruction[GATHER_WIDTHS][2];
  /* The same for many rounds of at most 16 elements; indices and output are dense from round to round. */
  gather_rows_fn gather_instruction_rounds[GATHER_WIDTHS][2];
  /* Register tables: elements of 1, 2, 4 and 8 bytes from a dense table of at most `table_bytes`, by dense indices to a
   * dense output. */
  gather_rows_fn table[GATHER_TABLE_WIDTHS][4];
  gather_checked_fn checked_table[GATHER_WIDTHS][4];
  int64_t table_bytes[4];
  /* Register tables of rounds: the same from a dense table of at most `round_table_bytes` for each round, or, where data_step is
   * not 0, for each row of the only round. Indices and output are dense from round to round. */
  gather_rows_fn round_table[GATHER_TABLE_WIDTHS][4];
  gather_checked_fn checked_round_table[GATHER_WIDTHS][4];
  int64_t round_table_bytes[4];
  /* Rows to a dense output with non-temporal stores for whole lines; call `fence` afterwards. interleaved: several long
   * rows at a time, line by line. */
  gather_rows_fn nontemporal[GATHER_WIDTHS][GATHER_ROW_CLASSES], interleaved[GATHER_WIDTHS];
  /* Rows that are validated as they move, with ordinary stores and with non-temporal ones; then the output is dense from round to round. */
  gather_checked_fn checked[GATHER_WIDTHS][GATHER_ROW_CLASSES], checked_nontemporal[GATHER_WIDTHS][GATHER_ROW_CLASSES];
  bool vectors_nontemporal; /* gather_instruction and tables support `nontemporal` */
  /* Rows of any size, mostly in runs; all is dense. nontemporal_runs: with non-temporal stores. */
  gather_rows_fn runs[GATHER_WIDTHS], nontemporal_runs[GATHER_WIDTHS];
  void (*nontemporal_copy)(char *out, const char *in, int64_t bytes); /* out on a line, bytes of whole lines */
  void (*fence)(void);
  gather_within_fn within[4]; /* by width: 1, 2, 4, 8 bytes */
  gather_narrow_indices_fn narrow_indices;
  gather_fold_fn fold[4];              /* likewise */
  gather_widen_fn widen[8];            /* by type, from GATHER_TYPE_INT8 on */
  gather_pick_fn pick[GATHER_LAYOUTS]; /* packed elements */
  /* Tuples of 2, 3 and 4 numbers. */
  gather_tuples_within_fn tuples_within[GATHER_WIDTHS][GATHER_TUPLE_LENS];
  gather_tuples_fold_fn tuples_fold[GATHER_WIDTHS][GATHER_TUPLE_LENS];
  const gather_decoding *decode;          /* quantised rows; NULL = none */
  const struct gather_combining *combine; /* reductions (combine.h); NULL = none */
  const gather_bagging *bag;              /* embedding bags; NULL = none */
} gather_isa;

/* The class of a row of this size. */
GATHER_INLINE int gather_row_class(int64_t row_bytes) {
  static const unsigned char CLASSES[65] = {0,  0,  1,  2,  3,  4,  4,  4,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  8,  8,  8,  8,
                                            8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  9,  10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
                                            10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11};
  return row_bytes <= 64 ? CLASSES[row_bytes] : GATHER_ROW_CLASSES - 1;
}

#endif
