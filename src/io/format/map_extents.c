/* SPDX-License-Identifier: MIT
 *
 * map_extents.c: which bytes of a remote file are loaded.
 */
#include "io/format/map_extents.h"

#include <string.h>

#include "core/base/alloc.h"

int64_t gather_map_extents_find(gather_map_extents *extents, int64_t offset) {
  int64_t low = 0, high = extents->len, last = extents->last;
  const gather_map_extent *at = extents->at;
  /* Readers mostly stay in one range. */
  if (last < extents->len && offset < at[last].end && (last == 0 || offset >= at[last - 1].end)) return last;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (at[middle].end > offset)
      high = middle;
    else
      low = middle + 1;
  }
  extents->last = low;
  return low;
}

bool gather_map_extents_has(gather_map_extents *extents, int64_t begin, int64_t end) {
  if (begin >= end) return true;
  int64_t i = gather_map_extents_find(extents, begin);
  return i < extents->len && extents->at[i].begin <= begin && end <= extents->at[i].end;
}

bool gather_map_extents_reserve(gather_map_extents *extents, int64_t more) {
  int64_t need = extents->len + more, room = 2 * extents->room;
  if (need <= extents->room) return true;
  if (room < need + 14) room = need + 14;
  gather_map_extent *made = gather_alloc(room * (int64_t)sizeof *made);
  if (!made) return false;
  if (extents->len > 0) memcpy(made, extents->at, (size_t)extents->len * sizeof *made);
  gather_free(extents->at);
  extents->at = made;
  extents->room = room;
  return true;
}

void gather_map_extents_add(gather_map_extents *extents, int64_t begin, int64_t end) {
  gather_map_extent *at = extents->at;
  if (begin >= end) return;
  int64_t first = begin > 0 ? gather_map_extents_find(extents, begin - 1) : 0, next = first;
  while (next < extents->len && at[next].begin <= end) { /* overlapping and touching ones become one */
    if (at[next].begin < begin) begin = at[next].begin;
    if (at[next].end > end) end = at[next].end;
    next++;
  }
  memmove(at + first + 1, at + next, (size_t)(extents->len - next) * sizeof *at);
  extents->len += first + 1 - next;
  at[first] = (gather_map_extent){begin, end};
  extents->last = first;
}

void gather_map_extents_clear(gather_map_extents *extents) {
  gather_free(extents->at);
  *extents = (gather_map_extents){0};
}
