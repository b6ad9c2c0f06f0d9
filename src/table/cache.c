/* SPDX-License-Identifier: MIT
 *
 * cache.c: a set-associative table of rows. Eight rows share a set, whose keys are one line of the CPU's cache; the one that was not
 * wanted for longest, as ages of two bits tell, makes room.
 */
#include "table/cache.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "format/map.h"
#include "kernel/copy.h"

enum { WAYS = 8, LOCKS = 1024, OLDEST = 0, READ_ONCE = 1, WANTED = 3, LEAST_SETS = 8 };

typedef struct cache_set {
  _Atomic int64_t keys[WAYS]; /* row + 1; 0 = empty */
} cache_set;

struct gather_cache {
  int64_t row_bytes, set_count, page_bytes;
  cache_set *sets;
  uint8_t *ages;
  char *rows;
  atomic_flag locks[LOCKS];
};

static int64_t set_bytes(int64_t row_bytes) { return WAYS * (row_bytes + (int64_t)sizeof(int64_t) + 1); }

gather_cache *gather_cache_create(int64_t row_bytes, int64_t rows, int64_t bytes) {
  if (row_bytes <= 0 || row_bytes > bytes / 64) return NULL;
  int64_t sets = bytes / set_bytes(row_bytes), enough = rows / WAYS + 1;
  if (sets > enough + enough / 4) sets = enough + enough / 4; /* some more, since sets fill unevenly */
  if (sets > INT32_MAX) sets = INT32_MAX;
  if (sets < LEAST_SETS) return NULL;
  gather_cache *cache = gather_alloc((int64_t)sizeof *cache);
  if (!cache) return NULL;
  cache->row_bytes = row_bytes, cache->set_count = sets;
  cache->sets = gather_pages_create(sets * (int64_t)sizeof *cache->sets);
  cache->ages = gather_pages_create(sets * WAYS);
  cache->rows = gather_pages_create(sets * WAYS * row_bytes);
  for (int i = 0; i < LOCKS; i++) atomic_flag_clear(&cache->locks[i]);
  if (cache->sets && cache->ages && cache->rows) return cache;
  gather_cache_destroy(cache);
  return NULL;
}

void gather_cache_destroy(gather_cache *cache) {
  if (!cache) return;
  gather_pages_destroy(cache->sets, cache->set_count * (int64_t)sizeof *cache->sets);
  gather_pages_destroy(cache->ages, cache->set_count * WAYS);
  gather_pages_destroy(cache->rows, cache->set_count * WAYS * cache->row_bytes);
  gather_free(cache);
}

void gather_cache_reset(gather_cache *cache) {
  for (int64_t s = 0; s < cache->set_count; s++)
    for (int w = 0; w < WAYS; w++)
      if (atomic_load_explicit(&cache->sets[s].keys[w], memory_order_relaxed) != 0)
        atomic_store_explicit(&cache->sets[s].keys[w], 0, memory_order_relaxed);
  for (int i = 0; i < LOCKS; i++) atomic_flag_clear(&cache->locks[i]);
}

int64_t gather_cache_rows(const gather_cache *cache) { return cache->set_count * WAYS; }

/* Neighbours go to different sets: multiplied by an odd constant (2^64 over the golden ratio), the high bits are well mixed. The sets
 * are fewer than 2^32, so that a product says which, without a division. */
static int64_t set_of(const gather_cache *cache, int64_t row) {
  uint64_t mixed = (uint64_t)row * 0x9E3779B97F4A7C15u;
  return (int64_t)(((mixed >> 32) * (uint64_t)cache->set_count) >> 32);
}

static char *row_at(const gather_cache *cache, int64_t set, int way) {
  return cache->rows + (set * WAYS + way) * cache->row_bytes;
}

static int find(const gather_cache *cache, int64_t set, int64_t row) {
  for (int w = 0; w < WAYS; w++)
    if (atomic_load_explicit(&cache->sets[set].keys[w], memory_order_relaxed) == row + 1) return w;
  return -1;
}

static void lock(gather_cache *cache, int64_t set) {
  while (atomic_flag_test_and_set_explicit(&cache->locks[set % LOCKS], memory_order_acquire)) continue;
}

static void unlock(gather_cache *cache, int64_t set) {
  atomic_flag_clear_explicit(&cache->locks[set % LOCKS], memory_order_release);
}

void gather_cache_fetch_keys(const gather_cache *cache, int64_t row) {
  GATHER_PREFETCH((const char *)&cache->sets[set_of(cache, row)]);
}

/* Without the lock: what another thread changes meanwhile only makes the fetch useless. */
void gather_cache_fetch_row(const gather_cache *cache, int64_t row) {
  int64_t set = set_of(cache, row);
  int way = find(cache, set, row);
  if (way >= 0) gather_fetch_row(row_at(cache, set, way), cache->row_bytes >= 256 ? 4 : (cache->row_bytes + 63) / 64);
}

bool gather_cache_get(gather_cache *cache, int64_t row, char *out) {
  int64_t set = set_of(cache, row);
  if (find(cache, set, row) < 0) return false;
  lock(cache, set);
  int way = find(cache, set, row);
  if (way >= 0) {
    gather_copy_row(out, row_at(cache, set, way), (size_t)cache->row_bytes);
    cache->ages[set * WAYS + way] = WANTED;
  }
  unlock(cache, set);
  return way >= 0;
}

/* An empty place, or that of the row that was not wanted for longest. Sets *is_new for the first. */
static int choose(gather_cache *cache, int64_t set, bool *is_new) {
  uint8_t *ages = cache->ages + set * WAYS;
  int way = find(cache, set, -1);
  *is_new = way >= 0;
  while (way < 0) {
    for (int w = 0; w < WAYS && way < 0; w++)
      if (ages[w] == OLDEST) way = w;
    for (int w = 0; w < WAYS && way < 0; w++) ages[w]--;
  }
  return way;
}

int64_t gather_cache_put(gather_cache *cache, int64_t row, const char *data) {
  int64_t set = set_of(cache, row);
  bool is_new = false;
  lock(cache, set);
  if (find(cache, set, row) < 0) {
    int way = choose(cache, set, &is_new);
    gather_copy_row(row_at(cache, set, way), data, (size_t)cache->row_bytes);
    atomic_store_explicit(&cache->sets[set].keys[way], row + 1, memory_order_relaxed);
    cache->ages[set * WAYS + way] = READ_ONCE;
  }
  unlock(cache, set);
  return is_new ? set_bytes(cache->row_bytes) / WAYS : 0;
}
