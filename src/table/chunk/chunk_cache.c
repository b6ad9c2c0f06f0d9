/* SPDX-License-Identifier: MIT
 *
 * chunk_cache.c: keeps decoded chunks, shuffled if their filters leave them so. Places are found by a hash of the chunk's number, and given
 * up in the order of a clock; one that is held stays.
 */
#include "table/chunk/chunk.h"

#include "core/base/alloc.h"

/* Chunks that were decoded are noted up to this count of the table's. */
enum { MOST_NOTED = 1 << 24, MOST_ROOM = 1 << 20 };

typedef struct kept_chunk {
  int64_t number; /* -1 = free */
  int64_t next;   /* in the chain of its hash; -1 = the last */
  char *bytes;
  int64_t raw_bytes, item_bytes;
  int32_t holders;
  bool used; /* since the hand passed */
} kept_chunk;

struct gather_chunk_cache {
  pthread_mutex_t lock;
  int64_t raw_bytes, count, room, len, hand;
  kept_chunk *kept;
  int64_t *heads; /* of the chains; -1 = empty */
  uint8_t *noted; /* a bit for each chunk: decoded before; NULL = none are noted */
};

static void empty(gather_chunk_cache *cache) {
  for (int64_t i = 0; i < cache->room; i++) cache->heads[i] = cache->kept[i].number = -1;
  cache->len = cache->hand = 0;
}

gather_chunk_cache *gather_chunk_cache_create(int64_t raw_bytes, int64_t count, int64_t bytes) {
  const int64_t each = raw_bytes + (int64_t)(sizeof(kept_chunk) + sizeof(int64_t));
  int64_t room = bytes / each < count ? bytes / each : count;
  if (room > MOST_ROOM) room = MOST_ROOM;
  if (room < 1) return NULL;
  gather_chunk_cache *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return NULL;
  made->raw_bytes = raw_bytes, made->count = count, made->room = room;
  made->kept = gather_alloc(room * (int64_t)sizeof *made->kept);
  made->heads = gather_alloc(room * (int64_t)sizeof *made->heads);
  if (count <= MOST_NOTED) made->noted = gather_alloc(count / 8 + 1);
  if (!made->kept || !made->heads || pthread_mutex_init(&made->lock, NULL) != 0) {
    gather_free(made->kept);
    gather_free(made->heads);
    gather_free(made->noted);
    gather_free(made);
    return NULL;
  }
  empty(made);
  return made;
}

static void free_chunks(gather_chunk_cache *cache) {
  for (int64_t i = 0; i < cache->room; i++) {
    gather_free(cache->kept[i].bytes);
    cache->kept[i] = (kept_chunk){0};
  }
}

void gather_chunk_cache_destroy(gather_chunk_cache *cache) {
  if (!cache) return;
  free_chunks(cache);
  (void)pthread_mutex_destroy(&cache->lock);
  gather_free(cache->kept);
  gather_free(cache->heads);
  gather_free(cache->noted);
  gather_free(cache);
}

void gather_chunk_cache_reset(gather_chunk_cache *cache) {
  (void)pthread_mutex_init(&cache->lock, NULL);
  free_chunks(cache);
  empty(cache);
}

int64_t gather_chunk_cache_room(const gather_chunk_cache *cache) { return cache->room; }

/* ---- places */

static int64_t *head_of(gather_chunk_cache *cache, int64_t number) { return &cache->heads[number % cache->room]; }

static int64_t find(gather_chunk_cache *cache, int64_t number) {
  int64_t i = *head_of(cache, number);
  while (i >= 0 && cache->kept[i].number != number) i = cache->kept[i].next;
  return i;
}

static void unlink_chunk(gather_chunk_cache *cache, int64_t i) {
  int64_t *link = head_of(cache, cache->kept[i].number);
  while (*link != i) link = &cache->kept[*link].next;
  *link = cache->kept[i].next;
  cache->kept[i].number = -1;
}

/* A place for a further chunk: a new one, or that of a chunk that was not used for long; -1: all are held. */
static int64_t find_room(gather_chunk_cache *cache) {
  if (cache->len < cache->room) return cache->len++;
  for (int64_t tries = 0; tries < 2 * cache->room; tries++) {
    const int64_t i = cache->hand;
    kept_chunk *kept = &cache->kept[i];
    cache->hand = (cache->hand + 1) % cache->room;
    if (kept->holders > 0) continue;
    if (kept->used && kept->number >= 0) {
      kept->used = false;
      continue;
    }
    if (kept->number >= 0) unlink_chunk(cache, i);
    return i;
  }
  return -1;
}

bool gather_chunk_cache_hold(gather_chunk_cache *cache, int64_t number, gather_plain *plain, int64_t *held) {
  (void)pthread_mutex_lock(&cache->lock);
  *held = find(cache, number);
  if (*held >= 0) {
    kept_chunk *kept = &cache->kept[*held];
    kept->holders++, kept->used = true;
    *plain = (gather_plain){kept->bytes, kept->raw_bytes, kept->item_bytes};
  }
  (void)pthread_mutex_unlock(&cache->lock);
  return *held >= 0;
}

bool gather_chunk_cache_has(gather_chunk_cache *cache, int64_t number) {
  (void)pthread_mutex_lock(&cache->lock);
  const bool has = find(cache, number) >= 0;
  (void)pthread_mutex_unlock(&cache->lock);
  return has;
}

void gather_chunk_cache_release(gather_chunk_cache *cache, int64_t held) {
  (void)pthread_mutex_lock(&cache->lock);
  cache->kept[held].holders--;
  (void)pthread_mutex_unlock(&cache->lock);
}

/* Whether a chunk is worth a place now; notes that it was decoded. */
static bool is_wanted(gather_chunk_cache *cache, int64_t number, bool eager) {
  if (!cache->noted) return eager;
  const uint8_t bit = (uint8_t)(1u << number % 8);
  const bool before = cache->noted[number / 8] & bit;
  cache->noted[number / 8] |= bit;
  return before || eager;
}

/* A place of its own for the chunk, which nobody finds yet, held by the caller; -1: none. */
static int64_t claim(gather_chunk_cache *cache, int64_t number, bool eager, int64_t *grown) {
  if (!is_wanted(cache, number, eager) || find(cache, number) >= 0) return -1;
  const int64_t i = find_room(cache);
  if (i < 0) return -1;
  kept_chunk *kept = &cache->kept[i];
  kept->number = -1, kept->holders = 1;
  if (!kept->bytes) {
    kept->bytes = gather_alloc_unset(cache->raw_bytes);
    *grown = kept->bytes ? cache->raw_bytes : 0;
  }
  if (kept->bytes) return i;
  kept->holders = 0;
  return -1;
}

int64_t gather_chunk_cache_put(gather_chunk_cache *cache, int64_t number, const gather_plain *plain, bool eager) {
  int64_t grown = 0;
  (void)pthread_mutex_lock(&cache->lock);
  const int64_t i = claim(cache, number, eager, &grown);
  (void)pthread_mutex_unlock(&cache->lock);
  if (i < 0) return grown;
  kept_chunk *kept = &cache->kept[i];
  memcpy(kept->bytes, plain->bytes, (size_t)plain->raw_bytes);
  kept->raw_bytes = plain->raw_bytes, kept->item_bytes = plain->item_bytes;
  (void)pthread_mutex_lock(&cache->lock);
  kept->holders = 0;
  if (find(cache, number) < 0) { /* another take may have put it meanwhile */
    kept->number = number, kept->used = true;
    int64_t *head = head_of(cache, number);
    kept->next = *head;
    *head = i;
  }
  (void)pthread_mutex_unlock(&cache->lock);
  return grown;
}
