/* SPDX-License-Identifier: MIT
 *
 * miss_plan.c: the plan of the reads for rows that are not resident: sorts the rows, joins neighbours to one read, and says which read
 * comes next. Of files on other machines, a model of the network says how far apart rows may be for one request.
 */
#include "table/miss.h"

#include <string.h>

#include "core/kernel/tuning.h"
#include "io/remote/pace.h"

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

/* Sorts `count` entries by their rows, which are below `rows`; entries of one row keep their order. *entries and *spare may be swapped. */
static void sort_entries(gather_entry **entries, gather_entry **spare, int64_t count, int64_t rows) {
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

/* ---- how many bytes between rows are read, while the model of the network (pace.h) stands on few answers */

/* PROBE: one part of so many of a take's bytes is spent on gaps to find out whether the network is faster than its answers have told.
 * LEAST_GAP: a request and the headers of its answer are longer: such gaps are read without proof that the network is fast.
 * SURE: so many bytes came over the network and not out of one buffer on the way. TRUST: for so many times the bytes behind them a
 * bandwidth is believed. */
enum { LEAST_GAP = 512, SURE = 262144, TRUST = 8, PROBE = 8 };

/* While little has arrived, the bandwidth may be what a buffer on the way has given at once, and no more: gaps are read for as
 * many bytes as the figures stand on, and later, of a server far away, for many times what came since. Of a near one,
 * figures come so soon that none need be trusted. */
static int64_t proven_bytes(const gather_misses *m) {
  const gather_misses_remote *remote = &m->remote;
  const int64_t bytes = remote->costs.bytes + remote->arrived;
  if (remote->costs.guessed) return m->count * m->taking->row_bytes / PROBE;
  return bytes <= SURE || remote->costs.latency < GATHER_REMOTE_NEAR ? bytes : bytes + TRUST * (bytes - SURE);
}

/* Files of other machines: whether the row of an entry may share a request with the rows before it, over a gap; joined: the gaps that the
 * request has already. */
static bool may_join(const gather_misses *m, int64_t entry, int64_t gap, int64_t joined) {
  const gather_misses_remote *remote = &m->remote;
  if (m->worker->spare[entry].position != GATHER_MISS_FREE) return false;
  if (!remote->ordered || remote->costs.bytes == 0 || m->table->gap_given >= 0 || gap <= LEAST_GAP) return true;
  return gap <= proven_bytes(m) - remote->gaps - joined;
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
    if (m->table->client && !may_join(m, cursor->next, from - end, joined)) break;
    joined += from - end;
    end = to;
    cursor->next = skip_row(m, cursor->next, cursor->end);
  }
  return end;
}

/* The next read of a queue at its cursor, in file order. */
static bool form(gather_misses *m, int32_t queue, gather_read *read) {
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

/* A bandwidth that no long answer has told is a lower bound: reads are planned for so many times as much, and a few of them will tell. */
static const double PROBED = 4;

static int64_t mark_of(const gather_misses *m, int64_t entry) { return m->worker->spare[entry].position; }

/* The next entry without a request. */
static int64_t skip_begun(const gather_misses *m, int64_t entry) {
  while (entry < m->count && mark_of(m, entry) == GATHER_MISS_BEGUN) entry++;
  return entry;
}

/* ---- files on other machines: how rows are joined */

/* Chosen by the model, and chosen again while answers tell more about the network: of what has no request yet. */

/* A row that has a request already is between others as if it were in another file. */
static void sum_gaps(const gather_misses *m, gather_remote_gaps *gaps) {
  const gather_taking *taking = m->taking;
  const gather_entry *entries = m->worker->entries;
  const gather_part *before = NULL;
  int64_t end = 0;
  *gaps = (gather_remote_gaps){0};
  for (int64_t e = 0; e < m->count; e++) {
    if (e > 0 && entries[e].row == entries[e - 1].row) continue;
    if (mark_of(m, e) == GATHER_MISS_BEGUN) {
      before = NULL;
      continue;
    }
    const gather_part *part = gather_taking_find_part(taking, entries[e].row);
    const int64_t from = gather_misses_offset(taking, part, entries[e].row);
    gather_remote_gaps_add(gaps, taking->row_bytes, part == before ? from - end : -1);
    before = part;
    end = from + taking->row_bytes;
  }
}

static void choose_joining(gather_misses *m) {
  gather_table *table = m->table;
  const int64_t longest = table->budget.slot_bytes;
  gather_remote_joining joining;
  gather_remote_costs probed = m->remote.costs;
  if (probed.guessed && m->remote.answers > 0) probed.bandwidth *= PROBED;
  sum_gaps(m, m->worker->gaps);
  if (table->gap_given >= 0)
    gather_remote_join_by(m->worker->gaps, &m->remote.costs, longest, table->gap_given, &joining);
  else
    gather_remote_join(m->worker->gaps, &probed, longest, &joining);
  m->join_bytes = joining.gap_bytes;
  /* What is left is little, but connections are still busy with the rest: shorter parts would wait for them. */
  if (m->remote.answers == 0 || joining.part_bytes > m->read_bytes) m->read_bytes = joining.part_bytes;
  atomic_store_explicit(&table->gap_bytes, joining.gap_bytes, memory_order_relaxed);
}

/* ---- files on other machines: which request comes first */

/* Reads by length, a quarter of an octave each, the longest class first. */
enum { LENGTH_STEPS = 4, LENGTH_CLASSES = 64 * LENGTH_STEPS };

static int length_class(int64_t bytes) {
  uint64_t value = (uint64_t)bytes * LENGTH_STEPS; /* a read fits into a buffer */
  int log = 0;
  for (; value >= 2 * LENGTH_STEPS; value >>= 1) log++;
  return LENGTH_CLASSES - 1 - (log * LENGTH_STEPS + (int)value - LENGTH_STEPS);
}

/* The next read that begins with a row; its first entry. The further pieces of a long row follow their first. */
static bool next_whole(gather_misses *m, int64_t *first, int *number) {
  gather_cursor *cursor = &m->cursors[0];
  gather_read read;
  bool further;
  do {
    further = cursor->piece > 0;
    if (!further) cursor->next = skip_begun(m, cursor->next);
    if (cursor->next == m->count || !form(m, 0, &read)) return false;
  } while (further);
  *first = read.tag >> GATHER_MISS_TAG_BITS;
  *number = length_class(read.needed);
  return true;
}

static void sort_longest_first(gather_misses *m) {
  int64_t places[LENGTH_CLASSES] = {0}, place = 0, first;
  int number;
  gather_entry *spare = m->worker->spare;
  m->remote.ordered = false;
  m->cursors[0].next = 0;
  for (int64_t e = 0; e < m->count; e++)
    if (spare[e].position == GATHER_MISS_FIRST) spare[e].position = GATHER_MISS_FREE;
  while (next_whole(m, &first, &number)) places[number]++;
  for (int c = 0; c < LENGTH_CLASSES; c++) {
    const int64_t reads = places[c];
    places[c] = place;
    place += reads;
  }
  m->cursors[0].next = 0;
  while (next_whole(m, &first, &number)) {
    spare[places[number]++].row = first;
    spare[first].position = GATHER_MISS_FIRST;
  }
  m->remote.order_next = 0;
  m->remote.order_count = place;
  m->remote.ordered = true;
}

static void order_remote(gather_misses *m) {
  gather_remote_client_costs(m->table->client, &m->remote.costs);
  m->remote.next_choice = 1;
  m->remote.most_flying = m->remote.costs.bytes > 0 ? m->remote.costs.connections : INT32_MAX;
  for (int64_t e = 0; e < m->count; e++) m->worker->spare[e].position = GATHER_MISS_FREE;
  choose_joining(m);
  sort_longest_first(m);
}

/* ---- files on other machines: one read after the other */

static int64_t gaps_in(const gather_misses *m, const gather_read *read, int64_t first, int64_t behind) {
  const gather_entry *entries = m->worker->entries;
  int64_t rows = 0;
  for (int64_t e = first; e < behind; e++) rows += e == first || entries[e].row != entries[e - 1].row;
  return read->needed - rows * m->taking->row_bytes;
}

/* The rows of a read have their request. Rows that were planned for it and did not come into it are the next one. */
static void settle(gather_misses *m, const gather_read *read) {
  gather_misses_remote *remote = &m->remote;
  gather_entry *spare = m->worker->spare;
  const int64_t first = read->tag >> GATHER_MISS_TAG_BITS,
                behind = first + (read->tag & ((1 << GATHER_MISS_TAG_BITS) - 1));
  if (m->cursors[0].piece > 0) return;
  if (behind > first + 1) remote->gaps += gaps_in(m, read, first, behind);
  for (int64_t e = first; e < behind; e++) spare[e].position = GATHER_MISS_BEGUN;
  if (behind < m->count && spare[behind].position == GATHER_MISS_FREE) {
    spare[behind].position = GATHER_MISS_FIRST;
    spare[remote->order_next].row = behind;
  } else {
    remote->order_next++;
  }
}

static bool next_remote(gather_misses *m, gather_read *read) {
  gather_misses_remote *remote = &m->remote;
  if (m->flying >= remote->most_flying) return false;
  if (m->cursors[0].piece == 0) {
    if (remote->order_next == remote->order_count) return false;
    m->cursors[0].next = m->worker->spare[remote->order_next].row;
  }
  if (!form(m, 0, read)) return false;
  settle(m, read);
  return true;
}

/* ---- files of all machines */

bool gather_misses_next(gather_misses *m, int32_t queue, gather_read *read) {
  return m->remote.ordered ? next_remote(m, read) : form(m, queue, read);
}

void gather_misses_order(gather_misses *m) {
  sort_entries(&m->worker->entries, &m->worker->spare, m->count, m->table->info.rows * m->taking->fold);
  m->read_bytes = m->table->budget.slot_bytes;
  m->join_bytes = gather_tuned(GATHER_TUNING_table_join_bytes);
  if (m->table->budget.queues == 1) m->cursors[0].end = m->count; /* no other queue has a part of them */
  if (m->table->client) order_remote(m);
}

/* ---- what answers tell */

static bool differs(double a, double b) { return a > 1.05 * b || b > 1.05 * a; }

/* The first answer tells the latency of a connection that is in use, the others tell how fast the network is: after a quarter more of
 * them, it is asked again. */
void gather_misses_answered(gather_misses *m, int64_t bytes) {
  gather_misses_remote *remote = &m->remote;
  gather_remote_costs now;
  if (!remote->ordered) return;
  remote->arrived += bytes;
  remote->most_flying = INT32_MAX;
  if (++remote->answers < remote->next_choice || m->cursors[0].piece > 0 || m->table->gap_given >= 0) return;
  remote->next_choice = remote->answers + 1 + remote->answers / 4;
  gather_remote_client_costs(m->table->client, &now);
  if (!differs(now.latency, remote->costs.latency) && !differs(now.bandwidth, remote->costs.bandwidth) &&
      now.connections == remote->costs.connections && now.guessed == remote->costs.guessed)
    return;
  now.bytes = remote->costs.bytes; /* what has arrived since is counted here */
  remote->costs = now;
  choose_joining(m);
  sort_longest_first(m);
}
