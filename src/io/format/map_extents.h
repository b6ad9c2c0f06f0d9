/* SPDX-License-Identifier: MIT
 *
 * map_extents.h: a set of bytes: sorted ranges that neither overlap nor touch.
 */
#ifndef GATHER_FORMAT_MAP_EXTENTS_H
#define GATHER_FORMAT_MAP_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gather_map_extent {
  int64_t begin, end;
} gather_map_extent;

/* All zero is the empty set. */
typedef struct gather_map_extents {
  gather_map_extent *at;
  int64_t len, room;
  int64_t last; /* the range that was found last */
} gather_map_extents;

/* The number of the first range that ends after `offset`. */
int64_t gather_map_extents_find(gather_map_extents *extents, int64_t offset);
/* Whether all bytes of [begin, end) are in it. */
bool gather_map_extents_has(gather_map_extents *extents, int64_t begin, int64_t end);
/* Makes room for one more range, so that the next gather_map_extents_add cannot fail. False: out of memory. */
bool gather_map_extents_reserve(gather_map_extents *extents, int64_t more);
/* Adds [begin, end), for which there is room. */
void gather_map_extents_add(gather_map_extents *extents, int64_t begin, int64_t end);
void gather_map_extents_clear(gather_map_extents *extents);

#endif
