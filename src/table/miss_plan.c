/* SPDX-License-Identifier: MIT
 *
 * miss_remote.c: which rows of files on other machines share a request, and which request comes first. Both are chosen by the model of
 * remote_gap.h, and chosen again while answers tell more about the network: of what has no request yet.
 */
#include "core/kernel/tuning.h"
#include "table/miss.h"

/* A bandwidth that no long answer has told is a lower bound: reads are planned for so many times as much, and a few of them will tell. */
static const double PROBED = 4;

static int64_t mark_of(const gather_misses *m, int64_t entry) { return m->worker->spare[entry].position; }

/* The next entry without a request. */
static int64_t skip_begun(const gather_misses *m, int64_t entry) {
  while (entry < m->count && mark_of(m, entry) == GATHER_MISS_BEGUN) entry++;
  return entry;
}

/* ---- how rows are joined */

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

/* ---- their order */

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
    if (cursor->next == m->count || !gather_misses_form(m, 0, &read)) return false;
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

/* ---- one read after the other */

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
  if (!gather_misses_form(m, 0, read)) return false;
  settle(m, read);
  return true;
}

/* ---- files of all machines */

bool gather_misses_next(gather_misses *m, int32_t queue, gather_read *read) {
  return m->remote.ordered ? next_remote(m, read) : gather_misses_form(m, queue, read);
}

void gather_misses_order(gather_misses *m) {
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
