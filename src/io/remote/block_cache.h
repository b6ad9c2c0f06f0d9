/* SPDX-License-Identifier: MIT
 *
 * block_cache.h: blocks of remote files on local disk, shared by any number of processes.
 *
 * One file of fixed size, "gather-blocks", in a folder of the user's. It is divided into sets of 16 blocks of 64 KiB; the digest of a
 * block's key (address, version, number) chooses the set, and within a set the block that was not used for the longest time is
 * replaced. So the ceiling holds by construction, whatever processes do or die of. Whatever a block contains is verified when it is
 * read: the key's digest (SHA-256), and a checksum for each 4 KiB. A block that is torn by a killed process or by two that write it at
 * once, or damaged, is a miss.
 *
 * A cache that cannot be used never fails a read: it is off, and its state says why. No function here allocates after the open.
 */
#ifndef GATHER_REMOTE_BLOCK_CACHE_H
#define GATHER_REMOTE_BLOCK_CACHE_H

#include "gather/gather.h"
#include "io/remote/signature.h"

/* GATHER_BLOCK_COVERED: a range of so many bytes or more is not widened to whole blocks. */
enum { GATHER_BLOCK_BYTES = 65536, GATHER_BLOCK_COVERED = 4 * GATHER_BLOCK_BYTES };

typedef struct gather_block_cache gather_block_cache;

/* Which file of which version: the digest of both. */
typedef struct gather_block_file {
  uint8_t digest[GATHER_SHA256_BYTES];
} gather_block_file;

typedef struct gather_block_cache_state {
  int64_t hits, misses; /* blocks that a read found, or did not */
  int64_t stored;       /* blocks written */
  int64_t failures;     /* blocks that could not be written */
  int64_t damaged;      /* blocks found damaged or torn; misses count them too */
  int64_t bytes;        /* the ceiling as it is used: the file never grows beyond it */
  char why[160];        /* why the cache is off, or only read; "" if it is used */
} gather_block_cache_state;

/* Opens a cache in a folder, which is made (mode 0700) if its parent exists. bytes: the ceiling; 0 = 1 GiB. A folder that cannot be
 * used gives a cache that is off. Returns GATHER_USAGE (bytes below 0 or below 2 MiB), GATHER_OUT_OF_MEMORY. Threads: any number may use
 * one cache. */
GATHER_CHECKED gather_status gather_block_cache_open(const char *folder, int64_t bytes, gather_block_cache **cache, gather_error *error);
/* NULL does nothing. */
void gather_block_cache_close(gather_block_cache *cache);

/* address: a URL, whose signature does not count; target: where it redirects to, of which the same is true; "" = nowhere. version: a
 * strong ETag. */
void gather_block_file_set(gather_block_file *file, const char *address, const char *target, const char *version);

/* Reads bytes [from, from + bytes) of a block. Returns false if it is not there, or not whole; then data has anything. NULL is an empty
 * cache. */
bool gather_block_cache_read(gather_block_cache *cache, const gather_block_file *file, int64_t block, int64_t from, int64_t bytes,
                             void *data);
/* Stores a block: 64 KiB, fewer at the end of a file. A failure is counted only. */
void gather_block_cache_write(gather_block_cache *cache, const gather_block_file *file, int64_t block, const void *data, int64_t bytes);

void gather_block_cache_state_get(const gather_block_cache *cache, gather_block_cache_state *state);

#endif
