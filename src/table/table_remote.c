/* SPDX-License-Identifier: MIT
 *
 * table_remote.c: what a table of files on other machines does in other ways: its memory, which rows share a request and which request
 * comes first, and its statistics. A model of the network (pace.h) says how far apart rows may be for one request.
 */
#include "table/table_remote.h"

#include "io/remote/block_cache.h"
#include "io/remote/pace.h"
#include "table/miss.h"
#include "table/table_decode.h"

/* ---- the client of a table */

static void begin(gather_table *table) {
  const gather_remote_options *remote = table->options.remote;
  table->client = gather_remote_client_hold(table->client);
  table->kept_on_disk = remote && remote->cache_folder && remote->cache_folder[0];
  table->gap_given = remote ? remote->gap_bytes : -1;
  /* With blocks on disk the client joins by blocks. A gap could be a block that nobody needs, and that is not there the next time. */
  if (table->gap_given < 0 && table->kept_on_disk) table->gap_given = 0;
}

static void end(gather_table *table) { gather_remote_client_release(table->client); }

static void enter(gather_table *table) { gather_remote_client_enter(table->client); }

static void reset(gather_table *table) { gather_remote_client_statistics_reset(table->client); }

/* ---- memory */

enum {
  MOST_PART = 16 << 20, /* of a read: then a request costs next to nothing */
  LEAST_PART = 8 << 10,
  LEAST_DEPTH = 4,    /* of reads, which wait long */
  REMOTE_WORKERS = 4, /* they share the connections */
  CONNECTIONS = 64    /* that a client is asked for; it begins with fewer */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* What a request takes: its buffer, and with a cache on disk the client's buffer for the whole blocks around it. */
static int64_t request_memory(int64_t slot, bool cached) {
  return slot + (cached ? least(slot, GATHER_BLOCK_COVERED) + 2 * GATHER_BLOCK_BYTES : 0);
}

/* Reads from other machines wait long: as many as there are connections come before longer ones. A few more are begun, so that no
 * connection waits for the take. */
static void divide(gather_table *table, int64_t all) {
  enum { MORE = 4 };
  gather_budget *budget = &table->budget;
  const gather_remote_options *remote = table->options.remote;
  const int32_t connections = remote && remote->connections > 0 ? remote->connections : CONNECTIONS;
  const int32_t depth = table->options.depth;
  const bool cached = table->kept_on_disk;
  int64_t slot = MOST_PART;
  budget->workers = (int32_t)least(budget->workers, REMOTE_WORKERS);
  const int64_t bytes = all / 4 / budget->workers;
  budget->queues = 1;
  budget->depth = depth > 0 ? depth : connections + connections / MORE + 1;
  while (slot > LEAST_PART && request_memory(slot, cached) * budget->depth > bytes) slot /= 2;
  while (budget->depth > 1 && request_memory(slot, cached) * budget->depth > bytes) budget->depth = budget->depth * 3 / 4;
  budget->slot_bytes = slot;
  budget->cover_bytes = request_memory(slot, cached) - slot;
}

/* Makes reads from other machines longer and fewer, until a row is one read. */
static void fit(gather_table *table) {
  gather_budget *budget = &table->budget;
  const int64_t row_bytes = table->info.row_bytes;
  while (budget->slot_bytes < row_bytes && budget->slot_bytes < MOST_PART && budget->depth >= 2 * LEAST_DEPTH) {
    budget->depth /= 2;
    budget->slot_bytes *= 2;
  }
}

/* ---- what a worker keeps of its reads */

/* Of files on other machines, which have one queue. */
typedef struct misses_remote {
  bool ordered;
  int64_t order_next, order_count; /* the order of the reads, as numbers of their first entries: the worker's spare entries */
  gather_remote_costs costs;       /* by which rows were joined */
  int64_t arrived, gaps;           /* bytes that arrived; bytes of gaps that were asked for */
  int64_t answers, next_choice;    /* reads that are done; with so many of them, rows are joined anew */
  int64_t most_flying;             /* reads at once */
  bool held, cheap;                /* a gap was not read because too little has arrived; all planned ones are few bytes */
} misses_remote;

typedef struct worker_remote {
  misses_remote misses;
  gather_remote_gaps gaps; /* between the rows */
} worker_remote;

static misses_remote *remote_of(const gather_misses *m) { return &((worker_remote *)m->worker->network)->misses; }

/* ---- how many bytes between rows are read, while the model of the network (pace.h) stands on few answers */

/* LEAST_TOLD: shorter answers tell no bandwidth (pace.c). CHEAP: gaps of at most one part of so many of the rows' bytes are planned
 * again when more has arrived.
 * PROBE: one part of so many of a take's bytes is spent on gaps to find out whether the network is faster than its answers have told.
 * LEAST_GAP: a request and the headers of its answer are longer: such gaps are read without proof that the network is fast.
 * SURE: so many bytes came over the network and not out of one buffer on the way. TRUST: for so many times the bytes behind them a
 * bandwidth is believed. */
enum { LEAST_GAP = 512, SURE = 262144, TRUST = 8, PROBE = 8, LEAST_TOLD = 16384, CHEAP = 4 };

/* While little has arrived, the bandwidth may be what a buffer on the way has given at once, and no more: gaps are read for as
 * many bytes as the figures stand on, and later, of a server far away, for many times what came since. Of a near one,
 * figures come so soon that none need be trusted. */
static int64_t proven_bytes(const gather_misses *m) {
  const misses_remote *remote = remote_of(m);
  const int64_t bytes = remote->costs.bytes + remote->arrived;
  if (remote->costs.guessed) return m->count * m->taking->row_bytes / PROBE;
  return bytes <= SURE || remote->costs.latency < GATHER_REMOTE_NEAR ? bytes : bytes + TRUST * (bytes - SURE);
}

/* Files of other machines: whether the row of an entry may share a request with the rows before it, over a gap; joined: the gaps that the
 * request has already. */
static bool may_join(const gather_misses *m, int64_t entry, int64_t gap, int64_t joined) {
  misses_remote *remote = remote_of(m);
  if (m->worker->spare[entry].position != GATHER_MISS_FREE) return false;
  if (!remote->ordered || remote->costs.bytes == 0 || m->table->gap_given >= 0 || gap <= LEAST_GAP) return true;
  const bool proven = gap <= proven_bytes(m) - remote->gaps - joined;
  remote->held |= !proven;
  return proven;
}

/* A bandwidth that no long answer has told is a lower bound: reads are planned for so many times as much, and a few of them will tell. */
static const double PROBED = 4;

static int64_t mark_of(const gather_misses *m, int64_t entry) { return m->worker->spare[entry].position; }

/* The next entry without a request. */
static int64_t skip_begun(const gather_misses *m, int64_t entry) {
  while (entry < m->count && mark_of(m, entry) == GATHER_MISS_BEGUN) entry++;
  return entry;
}

/* ---- how rows are joined */

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

/* Reads that are part of the rounds to come: those that have begun and wait for a connection, and in the place of the connections that
 * are a round ahead, one each. */
static void add_begun(const gather_misses *m, gather_remote_gaps *gaps) {
  const misses_remote *remote = remote_of(m);
  const int64_t connections = remote->costs.connections, flying = m->flying - (remote->answers > 0); /* the latest is done */
  int64_t more = remote->answers % connections;
  if (flying > connections) more += flying - connections;
  while (more-- > 0) gather_remote_gaps_add(gaps, m->taking->row_bytes, -1);
}

/* If more bytes of gaps are planned than may be read so far, the shortest gaps are, unless their answers are too short to tell the
 * bandwidth: then the first ones. */
static void keep_proven(const gather_misses *m, const gather_remote_gaps *gaps, const gather_remote_costs *costs,
                        gather_remote_joining *joining) {
  const int64_t longest = m->table->budget.slot_bytes, most = proven_bytes(m) - remote_of(m)->gaps;
  int64_t low = LEAST_TOLD, high = joining->gap_bytes;
  gather_remote_joining found;
  if (joining->bytes - gaps->bytes <= most || high <= low) return;
  gather_remote_join_by(gaps, costs, longest, low, &found);
  if (found.bytes - gaps->bytes > most) return;
  while (low + low / 16 < high) { /* the widest, nearly */
    const int64_t middle = low + (high - low) / 2;
    gather_remote_join_by(gaps, costs, longest, middle, &found);
    *(found.bytes - gaps->bytes > most ? &high : &low) = middle;
  }
  gather_remote_join_by(gaps, costs, longest, low, joining);
}

static void choose_joining(gather_misses *m) {
  gather_table *table = m->table;
  misses_remote *remote = remote_of(m);
  gather_remote_gaps *gaps = &((worker_remote *)m->worker->network)->gaps;
  const int64_t longest = table->budget.slot_bytes;
  gather_remote_joining joining;
  gather_remote_costs probed = remote->costs;
  if (probed.guessed && remote->answers > 0) probed.bandwidth *= PROBED;
  sum_gaps(m, gaps);
  add_begun(m, gaps);
  if (table->gap_given >= 0)
    gather_remote_join_by(gaps, &remote->costs, longest, table->gap_given, &joining);
  else
    gather_remote_join(gaps, &probed, longest, &joining);
  remote->cheap = joining.bytes - gaps->bytes <= gaps->bytes / CHEAP;
  if (table->gap_given < 0 && remote->costs.bytes > 0) keep_proven(m, gaps, &probed, &joining);
  m->join_bytes = joining.gap_bytes;
  /* What is left is little, but connections are still busy with the rest: shorter parts would wait for them. */
  if (remote->answers == 0 || joining.part_bytes > m->read_bytes) m->read_bytes = joining.part_bytes;
  atomic_store_explicit(&table->gap_bytes, joining.gap_bytes, memory_order_relaxed);
}

/* ---- which request comes first */

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
  misses_remote *remote = remote_of(m);
  gather_entry *spare = m->worker->spare;
  remote->ordered = false;
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
  remote->order_next = 0;
  remote->order_count = place;
  remote->ordered = true;
}

static void order(gather_misses *m) {
  misses_remote *remote = remote_of(m);
  *remote = (misses_remote){.next_choice = 1};
  gather_remote_client_costs(m->table->client, &remote->costs);
  remote->most_flying = remote->costs.bytes > 0 ? remote->costs.connections : INT32_MAX;
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
  misses_remote *remote = remote_of(m);
  gather_entry *spare = m->worker->spare;
  const int64_t first = read->tag >> GATHER_MISS_TAG_BITS, behind = first + (read->tag & ((1 << GATHER_MISS_TAG_BITS) - 1));
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

static bool next(gather_misses *m, gather_read *read) {
  misses_remote *remote = remote_of(m);
  if (m->flying >= remote->most_flying) return false;
  if (m->cursors[0].piece == 0) {
    if (remote->order_next == remote->order_count) return false;
    m->cursors[0].next = m->worker->spare[remote->order_next].row;
  }
  if (!gather_misses_form(m, 0, read)) return false;
  settle(m, read);
  return true;
}

/* ---- what answers tell */

static bool differs(double a, double b) { return a > 1.05 * b || b > 1.05 * a; }

/* The first answer tells the latency of a connection that is in use, the others tell how fast the network is: after a quarter more of
 * them, it is asked again. */
static void answered(gather_misses *m, int64_t bytes) {
  misses_remote *remote = remote_of(m);
  gather_remote_costs now;
  remote->arrived += bytes;
  remote->most_flying = INT32_MAX;
  if (++remote->answers < remote->next_choice || m->cursors[0].piece > 0 || m->table->gap_given >= 0) return;
  remote->next_choice = remote->answers + 1 + remote->answers / 4;
  gather_remote_client_costs(m->table->client, &now);
  if (!differs(now.latency, remote->costs.latency) && !differs(now.bandwidth, remote->costs.bandwidth) &&
      now.connections == remote->costs.connections && now.guessed == remote->costs.guessed && !(remote->held && remote->cheap))
    return;
  remote->held = false;
  now.bytes = remote->costs.bytes; /* what has arrived since is counted here */
  remote->costs = now;
  choose_joining(m);
  sort_longest_first(m);
}

/* ---- statistics */

/* The gap of the rows that were read last; of a table with decoded rows, the quantised ones. */
static int64_t gap_of(const gather_table *table) {
  const gather_table *reads = table->decoding ? table->decoding->pieces[0].data : table;
  return atomic_load_explicit(&reads->gap_bytes, memory_order_relaxed);
}

bool gather_table_remote_statistics(const gather_table *table, gather_remote_statistics *statistics) {
  *statistics = (gather_remote_statistics){0};
  gather_table *locked = (gather_table *)(uintptr_t)table;
  gather_table_enter(locked);
  if (!table->client) return false;
  gather_remote_client_statistics(table->client, statistics);
  statistics->bytes_useful = atomic_load_explicit(&locked->counts.bytes_useful, memory_order_relaxed);
  statistics->gap_bytes = gap_of(table);
  return true;
}

const gather_table_network gather_table_remote = {.begin = begin,
                                                  .end = end,
                                                  .enter = enter,
                                                  .reset = reset,
                                                  .divide = divide,
                                                  .fit = fit,
                                                  .worker_bytes = (int64_t)sizeof(worker_remote),
                                                  .order = order,
                                                  .next = next,
                                                  .answered = answered,
                                                  .may_join = may_join};
