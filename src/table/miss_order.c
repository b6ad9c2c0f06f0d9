/* SPDX-License-Identifier: MIT
 *
 * miss_order.c: which rows share a read.
 */
#include "table/miss.h"

/* PROBE: one part of so many of a take's bytes is spent on gaps to find out whether the network is faster than its answers have told.
 * LEAST_GAP: a request and the headers of its answer are longer: such gaps are read without proof that the network is fast.
 * SURE: so many bytes came over the network and not out of one buffer on the way. TRUST: for so many times the bytes behind them a
 * bandwidth is believed. */
enum { LEAST_GAP = 512, SURE = 262144, TRUST = 8, PROBE = 8 };

int64_t gather_misses_offset(const gather_taking *taking, const gather_part *part, int64_t row) {
  return part->offset + gather_taking_offset(taking, part, row);
}

/* ---- one read after the other */

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

/* A server nearer than that: noise is as large as what an answer's bytes take, and figures come so soon that no one need be trusted. */
static const double NEAR = 0.01;

/* While little has arrived, the bandwidth may be what a buffer on the way has given at once, and no more: gaps are read for as
 * many bytes as the figures stand on, and later, of a server far away, for many times what came since. */
static int64_t proven_bytes(const gather_misses *m) {
  const gather_misses_remote *remote = &m->remote;
  const int64_t bytes = remote->costs.bytes + remote->arrived;
  if (remote->costs.guessed) return m->count * m->taking->row_bytes / PROBE;
  return bytes <= SURE || remote->costs.latency < NEAR ? bytes : bytes + TRUST * (bytes - SURE);
}

/* joined: the gaps that the read has already. */
static bool may_join(const gather_misses *m, int64_t entry, int64_t gap, int64_t joined) {
  const gather_misses_remote *remote = &m->remote;
  if (!m->table->client) return true;
  if (m->worker->spare[entry].position != GATHER_MISS_FREE) return false;
  if (!remote->ordered || remote->costs.bytes == 0 || m->table->gap_given >= 0 || gap <= LEAST_GAP) return true;
  return gap <= proven_bytes(m) - remote->gaps - joined;
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
    if (from - end > m->join_bytes || to > limit || !may_join(m, cursor->next, from - end, joined)) break;
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
