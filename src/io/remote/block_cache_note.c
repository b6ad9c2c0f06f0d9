/* SPDX-License-Identifier: MIT
 *
 * block_cache_note.c: what a cache says about itself, and its checksums.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/remote/block_cache_internal.h"

/* ---- checksums: words of 8 bytes, mixed by multiplication. Against damage, not against forgery: the file is the user's own */

static uint64_t mixed(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * 0x9fb21c651e98df25u;
  return sum ^ (sum >> 29);
}

static uint64_t word_at(const uint8_t *at) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) word |= (uint64_t)at[i] << (8 * i);
  return word;
}

uint64_t gather_block_sum(const void *data, int64_t bytes) {
  const uint8_t *at = data;
  uint64_t sum = mixed(0x243f6a8885a308d3u, (uint64_t)bytes);
  for (; bytes >= 8; at += 8, bytes -= 8) sum = mixed(sum, word_at(at));
  uint8_t rest[8] = {0};
  if (bytes > 0) memcpy(rest, at, (size_t)bytes);
  return mixed(mixed(sum, word_at(rest)), 0x13198a2e03707344u);
}

/* ---- why it is off */

void gather_block_cache_off(gather_block_cache *cache, const char *why) {
  (void)pthread_mutex_lock(&cache->why_mutex);
  if (!atomic_load(&cache->off)) (void)snprintf(cache->why, sizeof cache->why, "%s", why);
  atomic_store(&cache->off, true);
  (void)pthread_mutex_unlock(&cache->why_mutex);
}

void gather_block_cache_why(gather_block_cache *cache, int number) {
  char words[GATHER_SYSTEM_WORDS];
  (void)gather_system_words(number, words);
  (void)pthread_mutex_lock(&cache->why_mutex);
  if (!atomic_load(&cache->off)) (void)snprintf(cache->why, sizeof cache->why, "cannot write to the cache: %s", words);
  (void)pthread_mutex_unlock(&cache->why_mutex);
}

void gather_block_cache_state_get(const gather_block_cache *cache, gather_block_cache_state *state) {
  memset(state, 0, sizeof *state);
  if (!cache) return;
  gather_block_cache *open = (gather_block_cache *)(uintptr_t)cache; /* its mutex */
  state->hits = atomic_load(&open->hits);
  state->misses = atomic_load(&open->misses);
  state->stored = atomic_load(&open->stored);
  state->failures = atomic_load(&open->failures);
  state->damaged = atomic_load(&open->damaged);
  state->bytes = cache->fd >= 0 ? SET_FIRST + cache->sets * SET_BYTES : 0;
  (void)pthread_mutex_lock(&open->why_mutex);
  memcpy(state->why, open->why, sizeof state->why);
  (void)pthread_mutex_unlock(&open->why_mutex);
}
