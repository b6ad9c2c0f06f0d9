/* SPDX-License-Identifier: MIT
 *
 * tuples.h: tuples of two to four indices: validated and folded into one offset each, all columns in one pass. Tuples are dense, of
 * signed or unsigned numbers of 4 or 8 bytes in this machine's byte order.
 */
#ifndef GATHER_KERNEL_TUPLES_H
#define GATHER_KERNEL_TUPLES_H

#include <stdbool.h>
#include <stdint.h>

enum { GATHER_TUPLE_MOST = 4, GATHER_TUPLE_LENS = GATHER_TUPLE_MOST - 1 /* slots: tuples of 2, 3 and 4 */ };

/* The axes of a tuple's numbers. Numbers of 4 bytes are read as signed ones, so an unsigned axis is at most 2^31 long. */
typedef struct gather_tuple_axes {
  int64_t len[GATHER_TUPLE_MOST];  /* 1 to 2^31 */
  int64_t back[GATHER_TUPLE_MOST]; /* len where negative numbers count from the end, else 0 */
  int64_t step[GATHER_TUPLE_MOST]; /* offset from one number to the next; above -2^31 and below 2^31 */
  int64_t base;                    /* the offset of a tuple of zeros */
} gather_tuple_axes;

/* Whether all numbers of `count` tuples are in range. */
typedef bool (*gather_tuples_within_fn)(const gather_tuple_axes *axes, const char *indices, int64_t count);
/* offsets[j] = base + the sum of number * step of tuple j; all numbers are in range. */
typedef void (*gather_tuples_fold_fn)(const gather_tuple_axes *axes, const char *indices, int64_t count,
                                      int64_t *offsets);

#endif
