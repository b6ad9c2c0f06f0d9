/* SPDX-License-Identifier: MIT
 *
 * miss_order.c: which rows share a read, and which read comes first.
 */
#include "kernel/tuning.h"
#include "table/miss.h"

int64_t gather_misses_offset(const gather_taking *taking, const gather_part *part, int64_t row) {
  return part->offset + gather_taking_offset(taking, part, row);
}

/* ---- one read after the other */

/* The entry after those of one row. */
static int64_t skip_row(const gather_misses *m, int64_t entry) {
  int64_t row = m->worker->entries[entry].row;
  do entry++;
  while (entry < m->count && m->worker->entries[entry].row == row);
  return entry;
}

/* Adds following rows of the same part that are near and short enough for the same read. Returns the end of the
 * read. */
static int64_t join(gather_misses *m, const gather_part *part, int64_t end, int64_t limit) {
  const gather_taking *taking = m->taking;
  while (m->next < m->count) {
    int64_t row = m->worker->entries[m->next].row;
    if (row - part->first * taking->fold >= part->rows * taking->fold) break;
    int64_t from = gather_misses_offset(taking, part, row), to = from + taking->row_bytes;
    if (from - end > m->join_bytes || to > limit) break;
    end = to;
    m->next = skip_row(m, m->next);
  }
  return end;
}

bool gather_misses_next(gather_misses *m, gather_read *read) {
  if (m->ordered && m->piece == 0)
    m->next = m->order_next < m->order_count ? m->worker->spare[m->order_next++].row : m->count;
  if (m->next >= m->count) return false;
  const gather_table *table = m->table;
  const int64_t first = m->next, row = m->worker->entries[first].row;
  const gather_part *part = gather_taking_find_part(m->taking, row);
  const gather_table_source *source = &table->sources[part->source];
  int64_t begin = gather_misses_offset(m->taking, part, row) + m->piece, end = begin - m->piece + m->taking->row_bytes;
  int64_t start = begin - begin % source->block_bytes, limit = start + m->read_bytes;
  int64_t behind = skip_row(m, first);
  if (end > limit) { /* a long row is read in several pieces */
    m->piece += limit - begin;
    end = limit;
  } else {
    m->piece = 0;
    m->next = behind;
    end = join(m, part, end, limit);
    behind = m->next;
  }
  *read = (gather_read){.source = source, .offset = start, .needed = end - start};
  read->bytes = (read->needed + source->block_bytes - 1) / source->block_bytes * source->block_bytes;
  read->tag = first << GATHER_MISS_TAG_BITS | (behind - first);
  return true;
}

/* ---- files of other machines */

static void sum_gaps(const gather_misses *m, gather_remote_gaps *gaps) {
  const gather_taking *taking = m->taking;
  const gather_part *before = NULL;
  int64_t end = 0;
  *gaps = (gather_remote_gaps){0};
  for (int64_t e = 0; e < m->count; e = skip_row(m, e)) {
    const int64_t row = m->worker->entries[e].row;
    const gather_part *part = gather_taking_find_part(taking, row);
    const int64_t from = gather_misses_offset(taking, part, row);
    gather_remote_gaps_add(gaps, taking->row_bytes, part == before ? from - end : -1);
    before = part;
    end = from + taking->row_bytes;
  }
}

static void choose_joining(gather_misses *m) {
  gather_table *table = m->table;
  gather_remote_joining joining;
  gather_remote_costs costs = {0};
  sum_gaps(m, m->worker->gaps);
  gather_remote_client_costs(table->client, &costs);
  if (table->gap_given >= 0)
    gather_remote_join_by(m->worker->gaps, &costs, m->read_bytes, table->gap_given, &joining);
  else
    gather_remote_join(m->worker->gaps, &costs, m->read_bytes, &joining);
  m->join_bytes = joining.gap_bytes;
  m->read_bytes = joining.part_bytes;
  atomic_store_explicit(&table->gap_bytes, joining.gap_bytes, memory_order_relaxed);
}

/* Reads by length, a quarter of an octave each, the longest class first. */
enum { LENGTH_STEPS = 4, LENGTH_CLASSES = 64 * LENGTH_STEPS };

static int length_class(int64_t bytes) {
  uint64_t value = (uint64_t)bytes * LENGTH_STEPS; /* a read fits into a buffer */
  int log = 0;
  for (; value >= 2 * LENGTH_STEPS; value >>= 1) log++;
  return LENGTH_CLASSES - 1 - (log * LENGTH_STEPS + (int)value - LENGTH_STEPS);
}

/* The next read that begins with a row; its first entry. The further pieces of a long row follow their first. */
static bool next_whole(gather_misses *m, int64_t *first, int *class) {
  gather_read read;
  bool further;
  do {
    further = m->piece > 0;
    if (!gather_misses_next(m, &read)) return false;
  } while (further);
  *first = read.tag >> GATHER_MISS_TAG_BITS;
  *class = length_class(read.needed);
  return true;
}

static void sort_longest_first(gather_misses *m) {
  int64_t places[LENGTH_CLASSES] = {0}, place = 0, first;
  int class;
  while (next_whole(m, &first, &class)) places[class]++;
  for (int c = 0; c < LENGTH_CLASSES; c++) {
    const int64_t reads = places[c];
    places[c] = place;
    place += reads;
  }
  m->next = 0;
  while (next_whole(m, &first, &class)) m->worker->spare[places[class]++].row = first;
  m->next = 0;
  m->order_count = place;
  m->ordered = true;
}

void gather_misses_order(gather_misses *m) {
  m->read_bytes = m->table->budget.slot_bytes;
  m->join_bytes = gather_tuned(GATHER_TUNING_table_join_bytes);
  if (!m->table->client) return;
  choose_joining(m);
  sort_longest_first(m);
}
