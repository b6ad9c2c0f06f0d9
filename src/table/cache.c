/* SPDX-License-Identifier: MIT
 *
 * cache.c: a set-associative cache that grows by splitting its sets one by one (linear hashing), while other threads
 * use it. A set is two cache lines with the keys of up to eight rows; the rows themselves are stored in order of
 * arrival, so that they occupy few pages. The least recently used row, by ages of two bits, is evicted.
 */
#include "table/cache.h"

#include <stdatomic.h>

#include "core/base/alloc.h"
#include "core/kernel/copy.h"
#include "core/system/pages.h"

enum { WAYS = 8, OLDEST = 0, READ_ONCE = 1, WANTED = 3, LEAST_ROWS = 64, LINE = 64, TURN = 8 };
/* A row may be in either of two sets and goes to the emptier one, so that sets fill evenly: with six of eight places
 * used on average, hardly one row in ten thousand finds no place; with one choice it would be one in ten. */
enum { FIRST_SETS = 16, ROWS_PER_SET = 6, CHOICES = 2, BATCH = 128 };

/* Protected by its lock, except for the keys, which may be read without it. */
typedef struct cache_set {
  _Alignas(2 * LINE) _Atomic int64_t keys[WAYS]; /* row + 1; 0 = empty */
  _Atomic uint32_t places[WAYS];
  uint8_t ages[WAYS];
  atomic_flag lock;
} cache_set;

struct gather_cache {
  int64_t row_bytes, row_count, most_sets;
  cache_set *sets;
  char *rows;
  _Atomic uint64_t size; /* number of sets; in the upper half, the largest power of two not above it */
  _Atomic int64_t used;  /* places used or reserved */
  atomic_flag splitting;
  atomic_uint turn;
};

static int64_t sets_bytes(int64_t sets) { return sets * (int64_t)sizeof(cache_set); }
static uint64_t size_of(uint64_t sets, uint64_t power) { return power << 32 | sets; }

gather_cache *gather_cache_create(int64_t row_bytes, int64_t rows, int64_t bytes) {
  if (row_bytes <= 0 || row_bytes > bytes / LEAST_ROWS) return NULL;
  /* A power of two of sets has at least half of the rows of the next one. */
  int64_t fit = (bytes - sets_bytes(FIRST_SETS)) / (row_bytes + 2 * (int64_t)sizeof(cache_set) / ROWS_PER_SET + 1);
  if (fit > rows) fit = rows;
  if (fit > INT32_MAX) fit = INT32_MAX;
  if (fit < LEAST_ROWS) return NULL;
  gather_cache *cache = gather_alloc((int64_t)sizeof *cache);
  if (!cache) return NULL;
  cache->row_bytes = row_bytes, cache->row_count = fit, cache->most_sets = FIRST_SETS;
  while (cache->most_sets * ROWS_PER_SET < fit) cache->most_sets *= 2;
  cache->sets = gather_pages_create(sets_bytes(cache->most_sets));
  cache->rows = gather_pages_create(fit * row_bytes);
  if (!cache->sets || !cache->rows) {
    gather_cache_destroy(cache);
    return NULL;
  }
  /* No huge pages: if the page cache fills the memory, the system must free pages for each of them, and storing a
   * row of 64 KiB took ten times as long. */
  atomic_init(&cache->size, size_of(FIRST_SETS, FIRST_SETS));
  return cache;
}

void gather_cache_destroy(gather_cache *cache) {
  if (!cache) return;
  gather_pages_destroy(cache->sets, sets_bytes(cache->most_sets));
  gather_pages_destroy(cache->rows, cache->row_count * cache->row_bytes);
  gather_free(cache);
}

void gather_cache_reset(gather_cache *cache) {
  int64_t sets = (int64_t)(uint32_t)atomic_load(&cache->size);
  if (sets < cache->most_sets) sets++; /* one being created is not counted yet */
  for (int64_t s = 0; s < sets; s++) {
    for (int w = 0; w < WAYS; w++) atomic_store_explicit(&cache->sets[s].keys[w], 0, memory_order_relaxed);
    atomic_flag_clear(&cache->sets[s].lock);
  }
  atomic_store(&cache->size, size_of(FIRST_SETS, FIRST_SETS));
  atomic_flag_clear(&cache->splitting);
  atomic_store(&cache->used, 0);
}

int64_t gather_cache_rows(const gather_cache *cache) { return cache->row_count; }

/* A hash in which every bit of the row number affects every bit: two rounds of multiplying by odd constants and
 * folding. Each half selects one of the row's two sets. */
static uint64_t mix(int64_t row) {
  uint64_t mixed = (uint64_t)row * 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u;
  return mixed ^ mixed >> 32;
}

/* Sets already split are selected by one more bit. */
static uint64_t number_of(uint64_t size, uint64_t mixed, int choice) {
  uint64_t half = choice == 0 ? (uint32_t)mixed : mixed >> 32;
  uint64_t sets = (uint32_t)size, power = size >> 32, number = half & (2 * power - 1);
  return number < sets ? number : half & (power - 1);
}

static cache_set *set_of(const gather_cache *cache, int64_t row, int choice) {
  return &cache->sets[number_of(atomic_load_explicit(&cache->size, memory_order_acquire), mix(row), choice)];
}

static char *row_at(const gather_cache *cache, const cache_set *set, int way) {
  return cache->rows + (int64_t)atomic_load_explicit(&set->places[way], memory_order_relaxed) * cache->row_bytes;
}

static int find(const cache_set *set, int64_t key) {
  for (int w = 0; w < WAYS; w++)
    if (atomic_load_explicit(&set->keys[w], memory_order_relaxed) == key) return w;
  return -1;
}

static void lock(cache_set *set) {
  while (atomic_flag_test_and_set_explicit(&set->lock, memory_order_acquire)) continue;
}

static void unlock(cache_set *set) { atomic_flag_clear_explicit(&set->lock, memory_order_release); }

/* Locks one of the two sets of a row. The set may be split while waiting for the lock. */
static cache_set *lock_set_of(gather_cache *cache, int64_t row, int choice) {
  for (;;) {
    cache_set *set = set_of(cache, row, choice);
    lock(set);
    if (set == set_of(cache, row, choice)) return set;
    unlock(set);
  }
}

/* Which of its two sets seems to have the row, checked without a lock; -1. */
static int choice_of(const gather_cache *cache, int64_t row) {
  for (int choice = 0; choice < CHOICES; choice++)
    if (find(set_of(cache, row, choice), row + 1) >= 0) return choice;
  return -1;
}

static void fetch_set(const cache_set *set) {
  GATHER_PREFETCH((const char *)set);
  GATHER_PREFETCH((const char *)set + LINE);
}

static bool get(gather_cache *cache, cache_set *set, int64_t row, char *out) {
  lock(set);
  int way = find(set, row + 1);
  if (way >= 0) {
    gather_copy_row(out, row_at(cache, set, way), (size_t)cache->row_bytes);
    set->ages[way] = WANTED;
  }
  unlock(set);
  return way >= 0;
}

/* Rows searched for together, so that prefetching overlaps. */
typedef struct batch {
  cache_set *sets[BATCH][CHOICES];
} batch;

static void fetch_sets(const gather_cache *cache, batch *b, const int64_t *rows, int64_t count) {
  const uint64_t size = atomic_load_explicit(&cache->size, memory_order_acquire);
  for (int64_t j = 0; j < count; j++) {
    const uint64_t mixed = mix(rows[j]);
    for (int choice = 0; choice < CHOICES; choice++) {
      b->sets[j][choice] = &cache->sets[number_of(size, mixed, choice)];
      fetch_set(b->sets[j][choice]);
    }
  }
}

/* Finds the set of each row, without a lock, and prefetches the row. */
static void fetch_rows(const gather_cache *cache, batch *b, const int64_t *rows, int64_t count) {
  const int64_t lines = cache->row_bytes >= 4 * LINE ? 4 : cache->row_bytes / LINE + 1;
  for (int64_t j = 0; j < count; j++) {
    int choice = 0, way = find(b->sets[j][0], rows[j] + 1);
    if (way < 0) choice = 1, way = find(b->sets[j][1], rows[j] + 1);
    b->sets[j][0] = way < 0 ? NULL : b->sets[j][choice];
    if (way < 0) continue;
    uint32_t place = atomic_load_explicit(&b->sets[j][0]->places[way], memory_order_relaxed);
    gather_prefetch_row(cache->rows + (int64_t)place * cache->row_bytes, lines);
  }
}

int64_t gather_cache_get(gather_cache *cache, int64_t *rows, int64_t count, char *out, int64_t found) {
  batch b;
  int64_t hits = 0;
  if (atomic_load_explicit(&cache->used, memory_order_relaxed) == 0) return 0;
  for (int64_t first = 0; first < count; first += BATCH) {
    const int64_t now = count - first < BATCH ? count - first : BATCH;
    int64_t *of = rows + first;
    fetch_sets(cache, &b, of, now);
    fetch_rows(cache, &b, of, now);
    for (int64_t j = 0; j < now; j++) {
      if (of[j] < 0 || !b.sets[j][0]) continue;
      if (!get(cache, b.sets[j][0], of[j], out + (first + j) * cache->row_bytes)) continue;
      of[j] = found;
      hits++;
    }
  }
  return hits;
}

/* ---- growing */

static void move_way(cache_set *from, int way, cache_set *to, int to_way) {
  uint32_t place = atomic_load_explicit(&from->places[way], memory_order_relaxed);
  atomic_store_explicit(&to->places[to_way], place, memory_order_relaxed);
  to->ages[to_way] = from->ages[way];
  atomic_store_explicit(&to->keys[to_way], atomic_load_explicit(&from->keys[way], memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&from->keys[way], 0, memory_order_relaxed);
}

/* Whether a row moves from the split set to the new one: decided by the choice that put it there. */
static bool moves(uint64_t size, uint64_t grown, uint64_t mixed) {
  const uint64_t sets = (uint32_t)size, old = sets - (size >> 32);
  int choice = number_of(size, mixed, 0) == old ? 0 : 1;
  return number_of(grown, mixed, choice) == sets;
}

/* Splits the next set in line: rows whose next hash bit is set move to a new set at the end. It is invisible until
 * the size includes it, and threads that wait for the old set check again. Returns by how many bytes the memory
 * grew. */
static int64_t split(gather_cache *cache) {
  uint64_t size = atomic_load_explicit(&cache->size, memory_order_relaxed), sets = (uint32_t)size, power = size >> 32;
  cache_set *old = &cache->sets[sets - power], *made = &cache->sets[sets];
  uint64_t grown = size_of(sets + 1, sets + 1 == 2 * power ? 2 * power : power);
  int made_ways = 0;
  lock(old);
  for (int w = 0; w < WAYS; w++) {
    int64_t key = atomic_load_explicit(&old->keys[w], memory_order_relaxed);
    if (key != 0 && moves(size, grown, mix(key - 1))) move_way(old, w, made, made_ways++);
  }
  atomic_store_explicit(&cache->size, grown, memory_order_release);
  unlock(old);
  return (int64_t)sizeof(cache_set);
}

/* Doubles the sets if they are full enough and no other thread is doing so. */
static int64_t grow(gather_cache *cache) {
  int64_t sets = (int64_t)(uint32_t)atomic_load_explicit(&cache->size, memory_order_relaxed), grown = 0;
  if (sets >= cache->most_sets || atomic_load_explicit(&cache->used, memory_order_relaxed) <= sets * ROWS_PER_SET) return 0;
  if (atomic_flag_test_and_set_explicit(&cache->splitting, memory_order_acquire)) return 0;
  sets = (int64_t)(uint32_t)atomic_load_explicit(&cache->size, memory_order_relaxed); /* another thread may just have done it */
  bool full = sets < cache->most_sets && atomic_load_explicit(&cache->used, memory_order_relaxed) > sets * ROWS_PER_SET;
  for (int64_t i = 0; full && i < sets; i++) grown += split(cache);
  atomic_flag_clear_explicit(&cache->splitting, memory_order_release);
  return grown;
}

/* ---- storing */

/* An empty way with a reserved place; -1. */
static int take_place(gather_cache *cache, cache_set *set) {
  int way = find(set, 0);
  if (way < 0 || atomic_load_explicit(&cache->used, memory_order_relaxed) >= cache->row_count) return -1;
  int64_t place = atomic_fetch_add_explicit(&cache->used, 1, memory_order_relaxed);
  if (place >= cache->row_count) return -1;
  atomic_store_explicit(&set->places[way], (uint32_t)place, memory_order_relaxed);
  return way;
}

/* The way of the least recently used row; -1 if the set is empty. */
static int choose(cache_set *set) {
  int way = -1;
  for (int round = 0; round <= WANTED && way < 0; round++) {
    for (int w = 0; w < WAYS && way < 0; w++)
      if (atomic_load_explicit(&set->keys[w], memory_order_relaxed) != 0 && set->ages[w] == OLDEST) way = w;
    for (int w = 0; w < WAYS && way < 0; w++) set->ages[w] = set->ages[w] > OLDEST ? set->ages[w] - 1 : OLDEST;
  }
  return way;
}

/* Stores a row that is not in the set; returns by how many bytes the memory grew. */
static int64_t put_new(gather_cache *cache, cache_set *set, int64_t row, const char *data, bool eager) {
  int way = take_place(cache, set);
  const bool grows = way >= 0;
  if (way < 0 && (eager || atomic_fetch_add_explicit(&cache->turn, 1, memory_order_relaxed) % TURN == 0)) way = choose(set);
  if (way < 0) return 0;
  gather_copy_row(row_at(cache, set, way), data, (size_t)cache->row_bytes);
  atomic_store_explicit(&set->keys[way], row + 1, memory_order_relaxed);
  set->ages[way] = READ_ONCE;
  return grows ? cache->row_bytes : 0;
}

static int count_empty(const cache_set *set) {
  int empty = 0;
  for (int w = 0; w < WAYS; w++) empty += atomic_load_explicit(&set->keys[w], memory_order_relaxed) == 0;
  return empty;
}

int64_t gather_cache_put(gather_cache *cache, int64_t row, const char *data, bool eager) {
  if (choice_of(cache, row) >= 0) return 0;
  bool second = count_empty(set_of(cache, row, 1)) > count_empty(set_of(cache, row, 0));
  cache_set *set = lock_set_of(cache, row, second ? 1 : 0);
  int64_t grown = find(set, row + 1) < 0 ? put_new(cache, set, row, data, eager) : 0;
  unlock(set);
  return grown > 0 ? grown + grow(cache) : 0;
}
