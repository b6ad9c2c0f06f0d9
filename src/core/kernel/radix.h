/* SPDX-License-Identifier: MIT
 *
 * radix.h: radix partitioning, for elements of a table with more pages than the TLB covers. A block of indices is
 * partitioned by the high bits; the elements of a partition are then read from a few pages; finally the elements are
 * written to their places by reading the indices again: no positions are stored.
 */
#ifndef GATHER_KERNEL_RADIX_H
#define GATHER_KERNEL_RADIX_H

#include <stdint.h>

enum { GATHER_RADIX_PARTS = 64 /* maximum; more cost the caches more than they save */ };

/* One block of indices, dense, of 4 or 8 bytes. */
typedef struct gather_radix {
  const char *data;
  int64_t axis_step;
  const char *indices;
  int64_t count;                   /* below 2^32 */
  int64_t axis_len;                /* added to negative indices; 0 = none */
  int shift;                       /* rows [p << shift, (p + 1) << shift) are partition p */
  void *entries;                   /* room for `count` of them */
  uint32_t at[GATHER_RADIX_PARTS]; /* number of the next entry of each partition */
} gather_radix;

typedef struct gather_radix_kernel {
  int64_t entry_bytes;
  void (*part)(gather_radix *r);        /* writes the row numbers to the entries, by partition */
  void (*fetch)(const gather_radix *r); /* replaces the row numbers by the elements */
  /* Writes the elements of `count` indices from number `first` on, in order; calls must follow each other. */
  void (*join)(gather_radix *r, int64_t first, int64_t count, char *out);
} gather_radix_kernel;

/* For elements of row_bytes bytes and indices of 4 bytes (width 0) or 8 (width 1); NULL where there is none.
 * Entries of 4 bytes hold row numbers below 2^32. */
const gather_radix_kernel *gather_kernel_radix(int width, int64_t row_bytes);

#endif
