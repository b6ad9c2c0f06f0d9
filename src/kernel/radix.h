/* SPDX-License-Identifier: MIT
 *
 * radix.h: elements from a table that is too large for the CPU to know its pages' addresses. A block of indices is put into
 * parts by their high bits; element after element of one part is then fetched from a few pages only; at last the elements go
 * back to where their indices stood, which reading the indices once more tells: no positions are kept.
 */
#ifndef GATHER_KERNEL_RADIX_H
#define GATHER_KERNEL_RADIX_H

#include <stdint.h>

enum { GATHER_RADIX_PARTS = 64 /* the most; more of them cost the caches more than they save */ };

/* One block of indices, dense, of 4 or 8 bytes. */
typedef struct gather_radix {
  const char *data;
  int64_t axis_step;
  const char *indices;
  int64_t count;                   /* below 2^32 */
  int64_t axis_len;                /* what is added to negative indices; 0: there are none */
  int shift;                       /* rows [p << shift, (p + 1) << shift) are part p */
  void *entries;                   /* room for `count` of them */
  uint32_t at[GATHER_RADIX_PARTS]; /* number of the entry of each part that comes next */
} gather_radix;

typedef struct gather_radix_kernel {
  int64_t entry_bytes;
  void (*part)(gather_radix *r);        /* entries become the rows' numbers, part by part */
  void (*fetch)(const gather_radix *r); /* entries become the rows' elements */
  /* Elements of the next `count` indices from number `first` on, in their order; calls follow one another. */
  void (*join)(gather_radix *r, int64_t first, int64_t count, char *out);
} gather_radix_kernel;

/* For elements of row_bytes bytes and indices of 4 bytes (width 0) or 8 (width 1); NULL where there is none.
 * Entries of 4 bytes hold row numbers below 2^32. */
const gather_radix_kernel *gather_kernel_radix(int width, int64_t row_bytes);

#endif
