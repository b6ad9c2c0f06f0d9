/* SPDX-License-Identifier: MIT
 *
 * table_sort.c: LSD radix sort; insertion sort for few entries.
 */
#include "table/table_sort.h"

#include <stdbool.h>
#include <string.h>

enum { FEW = 48, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static bool is_sorted(const gather_entry *entries, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (entries[i].row < entries[i - 1].row) return false;
  return true;
}

static void insert(gather_entry *entries, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    gather_entry moving = entries[i];
    int64_t to = i;
    for (; to > 0 && entries[to - 1].row > moving.row; to--) entries[to] = entries[to - 1];
    entries[to] = moving;
  }
}

static void sort_digit(const gather_entry *from, gather_entry *to, int64_t count, int shift) {
  int64_t places[DIGITS], place = 0;
  memset(places, 0, sizeof places);
  for (int64_t i = 0; i < count; i++) places[(from[i].row >> shift) & (DIGITS - 1)]++;
  for (int d = 0; d < DIGITS; d++) {
    int64_t entries = places[d];
    places[d] = place;
    place += entries;
  }
  for (int64_t i = 0; i < count; i++) to[places[(from[i].row >> shift) & (DIGITS - 1)]++] = from[i];
}

void gather_sort_entries(gather_entry **entries, gather_entry **spare, int64_t count, int64_t rows) {
  if (is_sorted(*entries, count)) return;
  if (count <= FEW) {
    insert(*entries, count);
    return;
  }
  for (int shift = 0; shift < 63 && (rows - 1) >> shift > 0; shift += DIGIT_BITS) {
    sort_digit(*entries, *spare, count, shift);
    gather_entry *sorted = *spare;
    *spare = *entries;
    *entries = sorted;
  }
}
