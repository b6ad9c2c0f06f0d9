/* SPDX-License-Identifier: MIT
 *
 * filter_bytes.h: filters that need no library. Lengths are in bytes; in and out do not overlap.
 */
#ifndef GATHER_FILTER_BYTES_H
#define GATHER_FILTER_BYTES_H

#include "core/base/compiler.h"
#include "gather/gather.h"

/* Bytes [from, from + bytes) of data that are shuffled: elements of item_bytes in planes, `all` bytes together; what fills no element is at
 * the end as it was. */
void gather_unshuffle(const char *shuffled, int64_t all, int64_t item_bytes, int64_t from, int64_t bytes, char *out);
/* Undoes bitshuffle of a block: a multiple of 8 elements. */
void gather_unshuffle_bits(const char *shuffled, int64_t bytes, int64_t item_bytes, char *out);
/* LZF: the length that was written, or -1: the input is corrupt, or gives more than out_bytes. */
int64_t gather_unlzf(const void *in, int64_t in_bytes, void *out, int64_t out_bytes);
/* The checksum of HDF5: of 16-bit words, big-endian as they are in memory. */
uint32_t gather_fletcher32(const void *bytes, int64_t count);
/* Sums of differences, in place; numbers of 1, 2, 4 or 8 bytes in this machine's byte order; is_float: float32 or float64. */
void gather_undelta(char *numbers, int64_t bytes, int64_t item_bytes, bool is_float);

#endif
