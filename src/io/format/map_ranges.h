/* SPDX-License-Identifier: MIT
 *
 * map_ranges.h: which ranges of a remote file are to be read.
 */
#ifndef GATHER_FORMAT_MAP_RANGES_H
#define GATHER_FORMAT_MAP_RANGES_H

#include "io/format/map_extents.h"
#include "io/format/map_remote.h"

/* The parts of the ranges that are not loaded, sorted, without overlaps, within a file of `size` bytes; those with at most `gap` bytes
 * between them are one. `ranges` is sorted in place. gather_free frees *missing. False: out of memory. */
bool gather_map_ranges_missing(gather_map_extents *loaded, gather_map_range *ranges, int64_t count, int64_t size,
                               int64_t gap, gather_map_range **missing, int64_t *len);

#endif
