/* SPDX-License-Identifier: MIT
 *
 * block_cache_internal.h: the file of blocks.
 *
 *   header    4 KiB: "gather blocks 1\n", the number of sets and the checksum of both
 *   set       a directory of 16 entries of 256 bytes, then 16 blocks of 64 KiB
 */
#ifndef GATHER_REMOTE_BLOCK_CACHE_INTERNAL_H
#define GATHER_REMOTE_BLOCK_CACHE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "io/remote/block_cache.h"

enum {
  WAYS = 16,
  ENTRY_BYTES = 256,
  DIRECTORY_BYTES = WAYS * ENTRY_BYTES,
  PIECE_BYTES = 4096,
  SET_BYTES = DIRECTORY_BYTES + WAYS * GATHER_BLOCK_BYTES,
  SET_FIRST = 4096
};

struct gather_block_cache {
  int fd; /* -1: none */
  int64_t sets;
  bool read_only;
  _Atomic bool off; /* nothing is written any more */
  _Atomic int64_t hits, misses, stored, failures, damaged, writes;
  pthread_mutex_t why_mutex;
  char why[160];
};

/* The checksum of blocks and of the header. */
uint64_t gather_block_sum(const void *data, int64_t bytes);
/* Notes why nothing is written: a sentence that stays, or the number of an error, which later ones replace. */
void gather_block_cache_off(gather_block_cache *cache, const char *why);
void gather_block_cache_why(gather_block_cache *cache, int number);

#endif
