/* SPDX-License-Identifier: MIT
 *
 * map_ranges.c: sorts and joins the ranges that are to be read.
 */
#include "io/format/map_ranges.h"

#include <stdlib.h>

#include "core/base/alloc.h"

static int compare(const void *a, const void *b) {
  const gather_map_range *left = a, *right = b;
  if (left->offset != right->offset) return left->offset < right->offset ? -1 : 1;
  return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

/* Requests under construction; with `at` NULL they are only counted. */
typedef struct requests {
  gather_map_extents *loaded;
  gather_map_range *at;
  int64_t gap, len, begin, end; /* begin, end: of the last one */
} requests;

/* Bytes that are loaded are not written again: somebody may be reading them. */
static bool joins(const requests *to, int64_t begin) {
  if (to->len == 0 || begin - to->end > to->gap) return false;
  int64_t i = gather_map_extents_find(to->loaded, to->end);
  return i == to->loaded->len || to->loaded->at[i].begin >= begin;
}

static void put(requests *to, int64_t begin, int64_t end) {
  if (!joins(to, begin)) {
    to->len++;
    to->begin = begin;
  }
  to->end = end;
  if (to->at) to->at[to->len - 1] = (gather_map_range){to->begin, end - to->begin};
}

/* Adds what is not loaded of [begin, end). */
static void put_missing(int64_t begin, int64_t end, requests *to) {
  gather_map_extents *loaded = to->loaded;
  for (int64_t i = gather_map_extents_find(loaded, begin); begin < end; i++) {
    int64_t stop = i < loaded->len && loaded->at[i].begin < end ? loaded->at[i].begin : end;
    if (begin < stop) put(to, begin, stop);
    if (i >= loaded->len) return;
    if (loaded->at[i].end > begin) begin = loaded->at[i].end;
  }
}

static void put_all(const gather_map_range *ranges, int64_t count, int64_t size, requests *to) {
  int64_t done = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t begin = ranges[i].offset < done ? done : ranges[i].offset;
    if (begin >= size || ranges[i].bytes <= 0) continue;
    int64_t end = ranges[i].bytes < size - ranges[i].offset ? ranges[i].offset + ranges[i].bytes : size;
    if (end <= begin) continue;
    put_missing(begin, end, to);
    done = end;
  }
}

bool gather_map_ranges_missing(gather_map_extents *loaded, gather_map_range *ranges, int64_t count, int64_t size,
                               int64_t gap, gather_map_range **missing, int64_t *len) {
  requests counted = {.loaded = loaded, .gap = gap}, made = {.loaded = loaded, .gap = gap};
  if (count > 1) qsort(ranges, (size_t)count, sizeof *ranges, compare);
  while (count > 0 && ranges->offset < 0) ranges++, count--;
  put_all(ranges, count, size, &counted);
  *missing = NULL;
  *len = counted.len;
  if (counted.len == 0) return true;
  *missing = made.at = gather_alloc(counted.len * (int64_t)sizeof **missing);
  if (!made.at) return false;
  put_all(ranges, count, size, &made);
  return true;
}
