/* SPDX-License-Identifier: MIT
 *
 * copy.h: copies one row. No alignment is required, no byte outside the row is accessed. Each function handles a range
 * of sizes with the same instructions: a loop calls one of them, so no size is checked per row. memcpy with a size only
 * known at run time costs two to four times as much per row.
 */
#ifndef GATHER_KERNEL_COPY_H
#define GATHER_KERNEL_COPY_H

#include <stdint.h>
#include <string.h>

#include "core/base/compiler.h"

/* Copies `bytes` bytes; the range of sizes is in the name. */
typedef void (*gather_copy_fn)(char *restrict out, const char *restrict in, size_t bytes);

/* One load and one store. */
#define GATHER_COPY_EXACT(n)                                                                      \
  GATHER_INLINE void gather_copy_##n(char *restrict out, const char *restrict in, size_t bytes) { \
    (void)bytes;                                                                                  \
    memcpy(out, in, (n));                                                                         \
  }
GATHER_COPY_EXACT(1)
GATHER_COPY_EXACT(2)
GATHER_COPY_EXACT(4)
GATHER_COPY_EXACT(8)
GATHER_COPY_EXACT(16)
GATHER_COPY_EXACT(32)
GATHER_COPY_EXACT(64)

GATHER_INLINE void gather_copy_3(char *restrict out, const char *restrict in, size_t bytes) {
  (void)bytes;
  memcpy(out, in, 2);
  out[2] = in[2];
}

/* From n to 2n - 1 bytes by two moves of n that overlap in the middle. Both loads come first. */
#define GATHER_COPY_PAIR(name, n)                                                                    \
  GATHER_INLINE void gather_copy_##name(char *restrict out, const char *restrict in, size_t bytes) { \
    char head[n], tail[n];                                                                           \
    memcpy(head, in, (n));                                                                           \
    memcpy(tail, in + bytes - (n), (n));                                                             \
    memcpy(out, head, (n));                                                                          \
    memcpy(out + bytes - (n), tail, (n));                                                            \
  }
GATHER_COPY_PAIR(5_to_7, 4)
GATHER_COPY_PAIR(9_to_15, 8)
GATHER_COPY_PAIR(17_to_31, 16)
GATHER_COPY_PAIR(33_to_63, 32)

/* 65 bytes or more: lines, and a last one that overlaps. */
GATHER_INLINE void gather_copy_long(char *restrict out, const char *restrict in, size_t bytes) {
  for (size_t at = 0; at + 64 < bytes; at += 64) memcpy(out + at, in + at, 64);
  memcpy(out + bytes - 64, in + bytes - 64, 64);
}

/* The prefix of the copies of 32 bytes and more that kernels use. */
#define GATHER_WIDE gather_copy

/* Copies a row of any size. */
GATHER_INLINE void gather_copy_row(char *restrict out, const char *restrict in, size_t bytes) {
  if (bytes >= 16 && bytes < 32)
    gather_copy_17_to_31(out, in, bytes);
  else if (bytes >= 8 && bytes < 16)
    gather_copy_9_to_15(out, in, bytes);
  else if (bytes >= 4 && bytes < 8)
    gather_copy_5_to_7(out, in, bytes);
  else if (bytes == 1)
    *out = *in;
  else
    memcpy(out, in, bytes);
}

/* Prefetches the line of an address into L2. Never faults. L1 is too small for the prefetch distance; on two measured
 * CPUs, prefetching into it gained nothing. */
#if defined(__GNUC__)
#define GATHER_PREFETCH(address) __builtin_prefetch((address), 0, 2)
#else
#define GATHER_PREFETCH(address) ((void)(address))
#endif

/* Prefetches a row into L2: its first `lines` lines, at least one. */
GATHER_INLINE void gather_prefetch_row(const char *row, int64_t lines) {
  GATHER_PREFETCH(row);
  for (int64_t line = 1; line < lines; line++) GATHER_PREFETCH(row + line * 64);
}

/* The row that an index selects. */
GATHER_INLINE int64_t gather_row_u32(const char *index) {
  uint32_t value;
  memcpy(&value, index, sizeof value);
  return (int64_t)value;
}

GATHER_INLINE int64_t gather_row_u64(const char *index) {
  uint64_t value;
  memcpy(&value, index, sizeof value);
  return (int64_t)value;
}

/* The row of index number `at`, of 1, 4 or 8 bytes: the width is a constant where this is inlined. */
GATHER_INLINE int64_t gather_row(const char *indices, int width, int64_t at) {
  if (width == 1) return (uint8_t)indices[at];
  return width == 4 ? gather_row_u32(indices + at * 4) : gather_row_u64(indices + at * 8);
}

/* Prefetch distance of indices, in bytes. On an Emerald Rapids guest a gather of 4 bytes by indices that come from
 * memory took 0.65 ns without, 0.52 with 2 KiB, 0.41 with 4, and 0.38 to 0.42 with 8 and 16; with 8 bytes 1.04, 0.96,
 * 0.81, 0.73. */
enum { GATHER_INDEX_PREFETCH = 8192 };

#endif
