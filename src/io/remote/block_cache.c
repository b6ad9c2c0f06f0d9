/* SPDX-License-Identifier: MIT
 *
 * block_cache.c: finds, reads and replaces blocks (POSIX). block_cache_file.c opens the file.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/block_cache_internal.h"

/* CHECK_EVERY: how often a store looks whether the file still has a name. */
enum { CHECK_EVERY = 64 };

/* ---- entries: the same bytes on every machine */

static uint64_t word_at(const uint8_t *at) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) word |= (uint64_t)at[i] << (8 * i);
  return word;
}

static void put64(uint8_t *at, uint64_t value) {
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/* An entry as it is in the file: key, bytes, sums of the pieces, its own sum; then the stamp, which is written alone. */
enum { KEY_AT = 0, BYTES_AT = 32, SUMS_AT = 40, SUM_AT = 168, STAMP_AT = 176, ENTRY_USED = 184 };

static bool is_entry(const uint8_t *entry) {
  return word_at(entry + SUM_AT) == gather_block_sum(entry, SUM_AT) && word_at(entry + BYTES_AT) > 0 &&
         word_at(entry + BYTES_AT) <= GATHER_BLOCK_BYTES;
}

static void block_key(const gather_block_file *file, int64_t block, uint8_t key[GATHER_SHA256_BYTES]) {
  uint8_t text[GATHER_SHA256_BYTES + 8];
  memcpy(text, file->digest, GATHER_SHA256_BYTES);
  put64(text + GATHER_SHA256_BYTES, (uint64_t)block);
  gather_sha256_of(text, sizeof text, key);
}

void gather_block_file_set(gather_block_file *file, const char *address, const char *target, const char *version) {
  gather_sha256 hash;
  gather_sha256_begin(&hash);
  gather_block_address_add(&hash, address);
  gather_block_address_add(&hash, target);
  gather_sha256_add(&hash, version, strlen(version));
  gather_sha256_end(&hash, file->digest);
}

/* ---- a set */

static int64_t set_offset(const gather_block_cache *cache, const uint8_t *key) {
  return SET_FIRST + (int64_t)(word_at(key) % (uint64_t)cache->sets) * SET_BYTES;
}

static int64_t block_offset(int64_t set, int way) { return set + DIRECTORY_BYTES + (int64_t)way * GATHER_BLOCK_BYTES; }

static bool read_all(int fd, void *data, int64_t bytes, int64_t offset) {
  char *at = data;
  while (bytes > 0) {
    ssize_t got = pread(fd, at, (size_t)bytes, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got, offset += got, bytes -= got;
  }
  return true;
}

/* Reads the directory of a set; what the file does not have yet is empty. */
static void read_directory(const gather_block_cache *cache, int64_t set, uint8_t *directory) {
  if (!read_all(cache->fd, directory, DIRECTORY_BYTES, set)) memset(directory, 0, DIRECTORY_BYTES);
}

static uint8_t *entry_at(uint8_t *directory, int way) { return directory + (size_t)way * ENTRY_BYTES; }

static int find_way(uint8_t *directory, const uint8_t *key) {
  for (int way = 0; way < WAYS; way++) {
    uint8_t *entry = entry_at(directory, way);
    if (memcmp(entry + KEY_AT, key, GATHER_SHA256_BYTES) == 0 && is_entry(entry)) return way;
  }
  return -1;
}

/* The set has a clock of its own: the largest stamp in it. */
static uint64_t newest(uint8_t *directory) {
  uint64_t stamp = 0;
  for (int way = 0; way < WAYS; way++) {
    uint8_t *entry = entry_at(directory, way);
    if (is_entry(entry) && word_at(entry + STAMP_AT) > stamp) stamp = word_at(entry + STAMP_AT);
  }
  return stamp < UINT64_MAX ? stamp : 0; /* damaged stamps only change which block goes first */
}

static int oldest_way(uint8_t *directory) {
  int oldest = 0;
  for (int way = 0; way < WAYS; way++) {
    uint8_t *entry = entry_at(directory, way);
    if (!is_entry(entry)) return way;
    if (word_at(entry + STAMP_AT) < word_at(entry_at(directory, oldest) + STAMP_AT)) oldest = way;
  }
  return oldest;
}

/* ---- writing */

static bool write_all(gather_block_cache *cache, const void *data, int64_t bytes, int64_t offset) {
  const char *at = data;
  while (bytes > 0) {
    ssize_t put = pwrite(cache->fd, at, (size_t)bytes, (off_t)offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      gather_block_cache_why(cache, put < 0 ? errno : ENOSPC);
      return false;
    }
    at += put, offset += put, bytes -= put;
  }
  return true;
}

/* A write beyond the limit of file sizes would send a signal that ends the process. */
static bool within_limit(gather_block_cache *cache, int64_t end) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      (uint64_t)limit.rlim_cur >= (uint64_t)end)
    return true;
  gather_block_cache_why(cache, EFBIG);
  return false;
}

/* Blocks that are used stay: one in the older half of its set becomes its newest. */
static void touch(gather_block_cache *cache, int64_t set, uint8_t *directory, int way) {
  uint8_t stamp[8], *entry = entry_at(directory, way);
  int newer = 0;
  if (cache->read_only) return;
  for (int i = 0; i < WAYS; i++) newer += word_at(entry_at(directory, i) + STAMP_AT) > word_at(entry + STAMP_AT);
  if (newer < WAYS / 2) return;
  put64(stamp, newest(directory) + 1);
  (void)write_all(cache, stamp, sizeof stamp, set + (int64_t)way * ENTRY_BYTES + STAMP_AT);
}

/* Whether the file still has its name: the space of a deleted one is invisible, and other processes do not see it. */
static bool still_there(gather_block_cache *cache) {
  struct stat about;
  if (atomic_fetch_add(&cache->writes, 1) % CHECK_EVERY != 0) return true;
  if (fstat(cache->fd, &about) == 0 && about.st_nlink > 0) return true;
  gather_block_cache_off(cache, "the cache was deleted while it was used");
  return false;
}

static void make_entry(uint8_t *entry, const uint8_t *key, const void *data, int64_t bytes, uint64_t stamp) {
  memset(entry, 0, ENTRY_USED);
  memcpy(entry + KEY_AT, key, GATHER_SHA256_BYTES);
  put64(entry + BYTES_AT, (uint64_t)bytes);
  for (int64_t at = 0; at < bytes; at += PIECE_BYTES) {
    int64_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
    put64(entry + SUMS_AT + at / PIECE_BYTES * 8, gather_block_sum((const char *)data + at, piece));
  }
  put64(entry + SUM_AT, gather_block_sum(entry, SUM_AT));
  put64(entry + STAMP_AT, stamp);
}

/* The entry is emptied before its bytes change, and written after them. Were the process killed in between, or did another one write the
 * same block, the checksums would tell. */
static bool replace(gather_block_cache *cache, int64_t set, int way, const uint8_t *entry, const void *data,
                    int64_t bytes) {
  static const uint8_t EMPTY[ENTRY_USED] = {0};
  int64_t entry_offset = set + (int64_t)way * ENTRY_BYTES;
  return within_limit(cache, set + SET_BYTES) && write_all(cache, EMPTY, ENTRY_USED, entry_offset) &&
         write_all(cache, data, bytes, block_offset(set, way)) && write_all(cache, entry, ENTRY_USED, entry_offset);
}

void gather_block_cache_write(gather_block_cache *cache, const gather_block_file *file, int64_t block, const void *data,
                              int64_t bytes) {
  uint8_t key[GATHER_SHA256_BYTES], directory[DIRECTORY_BYTES], entry[ENTRY_USED];
  if (!cache || atomic_load(&cache->off) || cache->read_only || bytes <= 0 || bytes > GATHER_BLOCK_BYTES) return;
  if (!still_there(cache)) return;
  block_key(file, block, key);
  int64_t set = set_offset(cache, key);
  read_directory(cache, set, directory);
  int way = find_way(directory, key);
  if (way < 0) way = oldest_way(directory);
  make_entry(entry, key, data, bytes, newest(directory) + 1);
  atomic_fetch_add(replace(cache, set, way, entry, data, bytes) ? &cache->stored : &cache->failures, 1);
}

/* ---- reading */

/* Reads the pieces that contain the range, and verifies each. The first and the last may be longer than what is wanted of them. */
static bool read_pieces(const gather_block_cache *cache, int64_t offset, const uint8_t *entry, int64_t from,
                        int64_t bytes, char *data) {
  int64_t whole = (int64_t)word_at(entry + BYTES_AT), end = from + bytes;
  char piece[PIECE_BYTES];
  for (int64_t at = from / PIECE_BYTES * PIECE_BYTES; at < end; at += PIECE_BYTES) {
    int64_t size = whole - at < PIECE_BYTES ? whole - at : PIECE_BYTES;
    int64_t first = at < from ? from : at, last = at + size < end ? at + size : end;
    bool inside = first == at && last == at + size;
    char *into = inside ? data + (at - from) : piece;
    if (!read_all(cache->fd, into, size, offset + at)) return false;
    if (gather_block_sum(into, size) != word_at(entry + SUMS_AT + at / PIECE_BYTES * 8)) return false;
    if (!inside) memcpy(data + (first - from), piece + (first - at), (size_t)(last - first));
  }
  return true;
}

static bool read_block(gather_block_cache *cache, const uint8_t *key, int64_t from, int64_t bytes, void *data) {
  uint8_t directory[DIRECTORY_BYTES];
  int64_t set = set_offset(cache, key);
  read_directory(cache, set, directory);
  int way = find_way(directory, key);
  if (way < 0) return false;
  uint8_t *entry = entry_at(directory, way);
  if (from < 0 || bytes < 0 || from > (int64_t)word_at(entry + BYTES_AT) - bytes) return false;
  if (!read_pieces(cache, block_offset(set, way), entry, from, bytes, data)) {
    atomic_fetch_add(&cache->damaged, 1);
    return false;
  }
  touch(cache, set, directory, way);
  return true;
}

bool gather_block_cache_read(gather_block_cache *cache, const gather_block_file *file, int64_t block, int64_t from,
                             int64_t bytes, void *data) {
  uint8_t key[GATHER_SHA256_BYTES];
  if (!cache || cache->fd < 0) return false;
  block_key(file, block, key);
  bool found = read_block(cache, key, from, bytes, data);
  atomic_fetch_add(found ? &cache->hits : &cache->misses, 1);
  return found;
}
