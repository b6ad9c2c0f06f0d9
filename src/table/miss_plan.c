/* SPDX-License-Identifier: MIT
 *
 * miss_plan.c: the plan of the reads for rows that are not resident: sorts the rows, joins neighbours to one read, and says which read
 * comes next. Of files on other machines table_remote.c says how far apart rows may be for one request.
 */
#include "table/miss.h"

#include <string.h>

#include "core/kernel/tuning.h"

/* ---- sorting: LSD radix sort; insertion sort for few entries */

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

void gather_entries_sort(gather_entry **entries, gather_entry **spare, int64_t count, int64_t rows) {
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

/* ---- which rows share a read */

/* The entry after those of one row. */
static int64_t skip_row(const gather_misses *m, int64_t entry, int64_t end) {
  int64_t row = m->worker->entries[entry].row;
  do entry++;
  while (entry < end && m->worker->entries[entry].row == row);
  return entry;
}

/* The first entry from `low` on of this row or a later one. */
static int64_t find_entry(const gather_misses *m, int64_t low, int64_t row) {
  int64_t high = m->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (m->worker->entries[middle].row < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Moves a queue's cursor to its next entries; false if it has no more. A part is on one device. */
static bool seek(const gather_misses *m, int32_t queue, gather_cursor *at) {
  const gather_table *table = m->table;
  while (at->next == at->end && at->end < m->count) {
    const gather_part *part = gather_taking_find_part(m->taking, m->worker->entries[at->end].row);
    const int64_t behind = find_entry(m, at->end, (part->first + part->rows) * m->taking->fold);
    if (table->sources[part->source].queue != queue) at->next = behind;
    at->end = behind;
  }
  return at->next < at->end;
}

/* Adds following rows of the same part that are near and short enough for the same read. Returns the end of the
 * read. */
static int64_t join(gather_misses *m, gather_cursor *cursor, const gather_part *part, int64_t end, int64_t limit) {
  const gather_taking *taking = m->taking;
  int64_t joined = 0;
  while (cursor->next < cursor->end) {
    int64_t row = m->worker->entries[cursor->next].row;
    if (row - part->first * taking->fold >= part->rows * taking->fold) break;
    int64_t from = gather_misses_offset(taking, part, row), to = from + taking->row_bytes;
    if (from - end > m->join_bytes || to > limit) break;
    if (m->table->client && !m->table->network->may_join(m, cursor->next, from - end, joined)) break;
    joined += from - end;
    end = to;
    cursor->next = skip_row(m, cursor->next, cursor->end);
  }
  return end;
}

bool gather_misses_form(gather_misses *m, int32_t queue, gather_read *read) {
  gather_cursor *cursor = &m->cursors[queue];
  if (cursor->next == cursor->end && !seek(m, queue, cursor)) return false;
  const gather_table *table = m->table;
  const int64_t first = cursor->next, row = m->worker->entries[first].row;
  const gather_part *part = gather_taking_find_part(m->taking, row);
  const gather_table_source *source = &table->sources[part->source];
  int64_t begin = gather_misses_offset(m->taking, part, row) + cursor->piece;
  int64_t end = begin - cursor->piece + m->taking->row_bytes;
  int64_t start = begin - begin % source->block_bytes, limit = start + m->read_bytes;
  int64_t behind = skip_row(m, first, cursor->end);
  if (end > limit) { /* a long row is read in several pieces */
    cursor->piece += limit - begin;
    end = limit;
  } else {
    cursor->piece = 0;
    cursor->next = behind;
    end = join(m, cursor, part, end, limit);
    behind = cursor->next;
  }
  *read = (gather_read){.source = source, .offset = start, .needed = end - start};
  read->bytes = (read->needed + source->block_bytes - 1) / source->block_bytes * source->block_bytes;
  read->tag = first << GATHER_MISS_TAG_BITS | (behind - first);
  return true;
}

/* ---- one read after the other */

bool gather_misses_next(gather_misses *m, int32_t queue, gather_read *read) {
  return m->table->client ? m->table->network->next(m, read) : gather_misses_form(m, queue, read);
}

void gather_misses_order(gather_misses *m) {
  gather_entries_sort(&m->worker->entries, &m->worker->spare, m->count, m->table->info.rows * m->taking->fold);
  m->read_bytes = m->table->budget.slot_bytes;
  m->join_bytes = gather_tuned(GATHER_TUNING_table_join_bytes);
  if (m->table->budget.queues == 1) m->cursors[0].end = m->count; /* no other queue has a part of them */
  if (m->table->client) m->table->network->order(m);
}

void gather_misses_answered(gather_misses *m, int64_t bytes) {
  if (m->table->client) m->table->network->answered(m, bytes);
}
