/* SPDX-License-Identifier: MIT
 *
 * combine.h: kernels that write updates into rows of a tensor: replaced, or reduced with what is there. In contrast to those of kernel.h
 * they know element types. They do not allocate or lock; they run through the updates in order, so that of several updates of one row the
 * last is left, and sums have the order of the updates.
 */
#ifndef GATHER_KERNEL_COMBINE_H
#define GATHER_KERNEL_COMBINE_H

#include "core/kernel/kernel.h"
#include "gather/scatter.h"

/* For j in [0, count), k in [0, len):
 *     out[rows[j] * axis_step + j * out_step + k * item] =
 *         reduce(that, updates[(places ? places[j] : j * update_step) + k * item])
 * Steps and places are in bytes and of either sign; rows of a tensor may have any alignment, and updates do not overlap them. Rows are in
 * range. len is at least 1. combine_number.h says what each reduction gives.
 * Without places the row of the update that is prefetch_rows later is prefetched; 0 = none. `more`: rows that follow the last one in memory
 * and come next, so that they are known. With places the caller fetches a span while the one before it is combined. */
typedef struct gather_combine_span {
  char *out;
  const char *updates;
  const int64_t *rows;
  const int64_t *places;
  int64_t count, more;
  int64_t axis_step, out_step, update_step;
  int64_t len;       /* elements of a row */
  int64_t row_bytes; /* their bytes */
  int64_t prefetch_rows, prefetch_lines;
} gather_combine_span;

typedef void (*gather_combine_fn)(const gather_combine_span *span);

/* Prefetches prefetch_lines lines of each row, and of each update too, of a span with places and an out_step of 0. */
void gather_combine_fetch(const gather_combine_span *span, bool updates);

/* Rows whose sums are rounded once: an accumulator of `len` numbers, float for halves and double for float32.
 * load: acc = the row; add, sub, mul: acc = acc op each of `count` rows of updates, in order, at updates + places[j] or, if places is
 * NULL, updates + j * step; store: the row = acc, rounded to nearest, ties to even; divide: acc = acc / number, for means. */
typedef struct gather_wide {
  int64_t acc_bytes; /* of one number: 4 or 8 */
  void (*load)(void *acc, const char *row, int64_t len);
  void (*fold[GATHER_REDUCTION_MUL + 1])(void *acc, const char *updates, const int64_t *places, int64_t step, int64_t count, int64_t len);
  void (*set)(void *acc, double number, int64_t len);
  void (*divide)(void *acc, int64_t number, int64_t len);
  void (*store)(const void *acc, char *row, int64_t len);
} gather_wide;

/* row = row / number, as a mean in the type's own precision: integers are rounded down, floats to nearest; complex numbers by parts. */
typedef void (*gather_divide_fn)(char *row, int64_t number, int64_t len);

/* The slots of gather_isa that combine. Types are numbered from GATHER_TYPE_BOOL on. NULL = the kernel of a weaker instruction set; if none
 * has one, there is no such reduction. */
enum { GATHER_COMBINE_TYPES = GATHER_TYPE_COMPLEX128, GATHER_WIDE_TYPES = 3, GATHER_REDUCTION_KERNELS = GATHER_REDUCTION_MAX };
typedef struct gather_combining {
  gather_combine_fn none[GATHER_ROW_CLASSES];                                 /* by the bytes of the row */
  gather_combine_fn elements[GATHER_REDUCTION_KERNELS][GATHER_COMBINE_TYPES]; /* from ADD on; rows of one element */
  gather_combine_fn rows[GATHER_REDUCTION_KERNELS][GATHER_COMBINE_TYPES];
  gather_wide wide[GATHER_WIDE_TYPES]; /* from float16 on */
  gather_divide_fn divide[GATHER_COMBINE_TYPES];
} gather_combining;
/* Those of the instruction sets; of other CPU families they are empty. */
extern const gather_combining gather_combining_portable, gather_combining_avx2, gather_combining_avx512, gather_combining_neon;

/* The kernel of a reduction that gather_reduction_supports; of GATHER_REDUCTION_MEAN that of the sum. item_bytes: of one element, which
 * counts for NONE only: then type is not read. *isa: the name of its instruction set. */
gather_combine_fn gather_kernel_combine(gather_reduction reduction, gather_type type, int64_t item_bytes, int64_t len, const char **isa);
/* NULL for types without one: all but float16, bfloat16 and float32. */
const gather_wide *gather_kernel_wide(gather_type type);
gather_divide_fn gather_kernel_divide(gather_type type);
/* Writes the neutral number of a reduction, one element, to `element`: 0, 1, the largest or the lowest (of floats the infinities; `finite`:
 * the finite ones). */
void gather_neutral_number(gather_reduction reduction, gather_type type, bool finite, void *element);

#endif
