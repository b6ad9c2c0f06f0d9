/* SPDX-License-Identifier: MIT
 *
 * block_cache.c: the file of blocks: which block is where in it, how it is opened, written and read (POSIX).
 *
 *   header    4 KiB: "gather blocks 1\n", the number of sets and the checksum of both
 *   set       a directory of 16 entries of 256 bytes, then 16 blocks of 64 KiB
 *
 * Every process that uses the file holds a shared lock; who makes it anew, because it is damaged or another size is wanted, must have the
 * lock alone.
 */
#define _DEFAULT_SOURCE /* flock, which POSIX does not have: where it is asked for by name, some systems hide the rest */
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
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

static void put64(uint8_t *at, uint64_t value) {
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/* The checksum of blocks and of the header. */
static uint64_t sum_of(const void *data, int64_t bytes) {
  const uint8_t *at = data;
  uint64_t sum = mixed(0x243f6a8885a308d3u, (uint64_t)bytes);
  for (; bytes >= 8; at += 8, bytes -= 8) sum = mixed(sum, word_at(at));
  uint8_t rest[8] = {0};
  if (bytes > 0) memcpy(rest, at, (size_t)bytes);
  return mixed(mixed(sum, word_at(rest)), 0x13198a2e03707344u);
}

/* ---- why it is off */

/* Notes why nothing is written: a sentence that stays, or the number of an error, which later ones replace. */
static void turn_off(gather_block_cache *cache, const char *why) {
  (void)pthread_mutex_lock(&cache->why_mutex);
  if (!atomic_load(&cache->off)) (void)snprintf(cache->why, sizeof cache->why, "%s", why);
  atomic_store(&cache->off, true);
  (void)pthread_mutex_unlock(&cache->why_mutex);
}

static void note_failure(gather_block_cache *cache, int number) {
  char words[GATHER_SYSTEM_WORDS];
  (void)gather_system_words(number, words);
  (void)pthread_mutex_lock(&cache->why_mutex);
  if (!atomic_load(&cache->off)) (void)snprintf(cache->why, sizeof cache->why, "cannot write to the cache: %s", words);
  (void)pthread_mutex_unlock(&cache->why_mutex);
}

/* ---- keys: what of a URL names a file
 *
 * A query may choose the file, and then it is a part of its name. A query may also be a signature, which is a secret and is another one
 * each time: what signatures consist of is left out, if there is one. */

typedef struct parameter {
  const char *at;
  size_t name, bytes; /* of the name; of all of it */
} parameter;

static bool next(const char **query, parameter *p) {
  while (**query == '&') ++*query;
  if (!**query) return false;
  p->at = *query;
  p->bytes = strcspn(*query, "&");
  p->name = 0;
  while (p->name < p->bytes && p->at[p->name] != '=') p->name++;
  *query += p->bytes;
  return true;
}

static bool is(const parameter *p, const char *name) { return strlen(name) == p->name && memcmp(p->at, name, p->name) == 0; }

static bool begins(const parameter *p, const char *start) { return p->name >= strlen(start) && memcmp(p->at, start, strlen(start)) == 0; }

/* S3 and those who speak its protocol, Google's and Azure's storage, and CloudFront. */
static bool is_signature(const parameter *p) {
  return is(p, "X-Amz-Signature") || is(p, "X-Goog-Signature") || is(p, "Signature") || is(p, "sig");
}

static bool is_of_signature(const parameter *p) {
  static const char *const NAMES[] = {
      "AWSAccessKeyId", "GoogleAccessId", "Expires", "Key-Pair-Id", "Policy", "sv", "se", "st", "sp", "sr", "spr",
      "skoid",          "sktid",          "skt",     "ske",         "sks",    "skv"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (is(p, NAMES[i])) return true;
  return is_signature(p) || begins(p, "X-Amz-") || begins(p, "X-Goog-");
}

static void add_address(gather_sha256 *hash, const char *url) {
  size_t name = strcspn(url, "?#");
  const char *query = url[name] == '?' ? url + name + 1 : "";
  bool is_signed = false;
  parameter p;
  for (const char *at = query; next(&at, &p);) is_signed = is_signed || is_signature(&p);
  gather_sha256_add(hash, url, name);
  for (const char *at = query; next(&at, &p);) {
    if (is_signed && is_of_signature(&p)) continue;
    gather_sha256_add(hash, "&", 1);
    gather_sha256_add(hash, p.at, p.bytes);
  }
  gather_sha256_add(hash, "", 1); /* its zero: no other list of addresses has the same text */
}

static void block_key(const gather_block_file *file, int64_t block, uint8_t key[GATHER_SHA256_BYTES]) {
  uint8_t number[8];
  gather_sha256 hash = GATHER_SHA256_BEGUN;
  put64(number, (uint64_t)block);
  gather_sha256_add(&hash, file->digest, GATHER_SHA256_BYTES);
  gather_sha256_add(&hash, number, sizeof number);
  gather_sha256_end(&hash, key);
}

void gather_block_file_set(gather_block_file *file, const char *address, const char *target, const char *version) {
  gather_sha256 hash = GATHER_SHA256_BEGUN;
  add_address(&hash, address);
  add_address(&hash, target);
  gather_sha256_add(&hash, version, strlen(version));
  gather_sha256_end(&hash, file->digest);
}

/* ---- opening */

static const char NAME[] = "gather-blocks";
static const char MAGIC[16] = {'g', 'a', 't', 'h', 'e', 'r', ' ', 'b', 'l', 'o', 'c', 'k', 's', ' ', '1', '\n'};
static const int64_t DEFAULT_BYTES = INT64_C(1) << 30, LEAST_BYTES = INT64_C(1) << 21;
enum { HEADER_BYTES = 32, LOCK_TRIES = 100 };

static void off_system(gather_block_cache *cache, const char *what, int number) {
  char words[GATHER_SYSTEM_WORDS], why[160];
  (void)snprintf(why, sizeof why, "cannot %s: %s", what, gather_system_words(number, words));
  turn_off(cache, why);
}

/* Others must not be able to put blocks there: they would be rows. */
static bool is_own(const struct stat *about) { return about->st_uid == geteuid() && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0; }

static int open_folder(gather_block_cache *cache, const char *folder) {
  struct stat about;
  if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
    off_system(cache, "make the folder of the cache", errno);
    return -1;
  }
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    off_system(cache, "open the folder of the cache", errno);
  } else if (fstat(fd, &about) != 0 || !is_own(&about)) {
    turn_off(cache, "the folder of the cache belongs to another user, or others may write to it");
    (void)close(fd);
    fd = -1;
  }
  return fd;
}

/* Opens the file for writing, or, if that is not permitted, for reading. */
static int open_blocks(gather_block_cache *cache, int folder) {
  int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  int fd = openat(folder, NAME, O_RDWR | O_CREAT | flags, 0600);
  if (fd < 0 && (errno == EROFS || errno == EACCES || errno == EPERM)) {
    cache->read_only = true;
    note_failure(cache, errno);
    fd = openat(folder, NAME, O_RDONLY | flags);
  }
  if (fd < 0) off_system(cache, "open the file of the cache", errno);
  return fd;
}

/* A link would have it write to another file. */
static bool is_good_file(gather_block_cache *cache, int fd) {
  struct stat about;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && is_own(&about) && about.st_nlink <= 1) return true;
  turn_off(cache,
           "the file of the cache is not a regular file, belongs to another user, has several hard links, or others may write to it");
  return false;
}

/* ---- the header */

/* The number of sets of a file; 0 if it has no good header. */
static int64_t read_header(int fd) {
  uint8_t header[HEADER_BYTES];
  if (pread(fd, header, sizeof header, 0) != HEADER_BYTES || memcmp(header, MAGIC, sizeof MAGIC) != 0) return 0;
  uint64_t sets = word_at(header + 16);
  if (word_at(header + 24) != sum_of(header, 24)) return 0;
  return sets > 0 && sets < (uint64_t)INT64_MAX / SET_BYTES - 1 ? (int64_t)sets : 0;
}

/* Empties the file and begins it anew. */
static bool write_header(gather_block_cache *cache, int fd, int64_t sets) {
  uint8_t header[HEADER_BYTES];
  memcpy(header, MAGIC, sizeof MAGIC);
  put64(header + 16, (uint64_t)sets);
  put64(header + 24, sum_of(header, 24));
  if (ftruncate(fd, 0) == 0 && pwrite(fd, header, sizeof header, 0) == HEADER_BYTES) return true;
  off_system(cache, "write to the cache", errno);
  return false;
}

/* Waits a little for a lock: who makes the file has it for a moment only. */
static bool lock(int fd, int how) {
  struct timespec pause = {0, 10 * 1000 * 1000};
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (flock(fd, how | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return true; /* a file system without locks: checksums must do */
    (void)nanosleep(&pause, NULL);
  }
  return false;
}

static bool lock_alone(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

/* Finds or makes the header, and leaves the file with a shared lock. */
static void prepare(gather_block_cache *cache, int fd, int64_t wanted) {
  if (!cache->read_only && lock_alone(fd) && read_header(fd) != wanted) (void)write_header(cache, fd, wanted);
  if (!lock(fd, LOCK_SH)) {
    turn_off(cache, "another process has locked the cache");
    return;
  }
  cache->sets = read_header(fd);
  if (cache->sets == 0)
    turn_off(cache, "the file of the cache has no valid header");
  else if (cache->sets > wanted && !cache->read_only)
    turn_off(cache, "another process is using the cache with a higher ceiling");
}

static void open_all(gather_block_cache *cache, const char *path, int64_t sets) {
  int folder = open_folder(cache, path);
  if (folder < 0) return;
  int fd = open_blocks(cache, folder);
  (void)close(folder);
  if (fd < 0) return;
  if (is_good_file(cache, fd)) prepare(cache, fd, sets);
  if (atomic_load(&cache->off))
    (void)close(fd);
  else
    cache->fd = fd;
}

gather_status gather_block_cache_open(const char *folder, int64_t bytes, gather_block_cache **cache, gather_error *error) {
  *cache = NULL;
  if (bytes == 0) bytes = DEFAULT_BYTES;
  if (bytes < LEAST_BYTES)
    return gather_fail(error, GATHER_USAGE, "the ceiling of the cache is %lld bytes; at least %lld (2 MiB) are needed", (long long)bytes,
                       (long long)LEAST_BYTES);
  gather_block_cache *made = gather_alloc(sizeof *made);
  if (!made || pthread_mutex_init(&made->why_mutex, NULL) != 0) {
    gather_free(made);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a cache");
  }
  made->fd = -1;
  open_all(made, folder, (bytes - SET_FIRST) / SET_BYTES);
  *cache = made;
  return GATHER_OK;
}

void gather_block_cache_close(gather_block_cache *cache) {
  if (!cache) return;
  if (cache->fd >= 0) (void)close(cache->fd);
  (void)pthread_mutex_destroy(&cache->why_mutex);
  gather_free(cache);
}

/* CHECK_EVERY: how often a store looks whether the file still has a name. */
enum { CHECK_EVERY = 64 };

/* ---- entries: the same bytes on every machine */

/* An entry as it is in the file: key, bytes, sums of the pieces, its own sum; then the stamp, which is written alone. */
enum { KEY_AT = 0, BYTES_AT = 32, SUMS_AT = 40, SUM_AT = 168, STAMP_AT = 176, ENTRY_USED = 184 };

static bool is_entry(const uint8_t *entry) {
  return word_at(entry + SUM_AT) == sum_of(entry, SUM_AT) && word_at(entry + BYTES_AT) > 0 &&
         word_at(entry + BYTES_AT) <= GATHER_BLOCK_BYTES;
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
      note_failure(cache, put < 0 ? errno : ENOSPC);
      return false;
    }
    at += put, offset += put, bytes -= put;
  }
  return true;
}

/* A write beyond the limit of file sizes would send a signal that ends the process. */
static bool within_limit(gather_block_cache *cache, int64_t end) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || (uint64_t)limit.rlim_cur >= (uint64_t)end) return true;
  note_failure(cache, EFBIG);
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
  turn_off(cache, "the cache was deleted while it was used");
  return false;
}

static void make_entry(uint8_t *entry, const uint8_t *key, const void *data, int64_t bytes, uint64_t stamp) {
  memset(entry, 0, ENTRY_USED);
  memcpy(entry + KEY_AT, key, GATHER_SHA256_BYTES);
  put64(entry + BYTES_AT, (uint64_t)bytes);
  for (int64_t at = 0; at < bytes; at += PIECE_BYTES) {
    int64_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
    put64(entry + SUMS_AT + at / PIECE_BYTES * 8, sum_of((const char *)data + at, piece));
  }
  put64(entry + SUM_AT, sum_of(entry, SUM_AT));
  put64(entry + STAMP_AT, stamp);
}

/* The entry is emptied before its bytes change, and written after them. Were the process killed in between, or did another one write the
 * same block, the checksums would tell. */
static bool replace(gather_block_cache *cache, int64_t set, int way, const uint8_t *entry, const void *data, int64_t bytes) {
  static const uint8_t EMPTY[ENTRY_USED] = {0};
  int64_t entry_offset = set + (int64_t)way * ENTRY_BYTES;
  return within_limit(cache, set + SET_BYTES) && write_all(cache, EMPTY, ENTRY_USED, entry_offset) &&
         write_all(cache, data, bytes, block_offset(set, way)) && write_all(cache, entry, ENTRY_USED, entry_offset);
}

void gather_block_cache_write(gather_block_cache *cache, const gather_block_file *file, int64_t block, const void *data, int64_t bytes) {
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
static bool read_pieces(const gather_block_cache *cache, int64_t offset, const uint8_t *entry, int64_t from, int64_t bytes, char *data) {
  int64_t whole = (int64_t)word_at(entry + BYTES_AT), end = from + bytes;
  char piece[PIECE_BYTES];
  for (int64_t at = from / PIECE_BYTES * PIECE_BYTES; at < end; at += PIECE_BYTES) {
    int64_t size = whole - at < PIECE_BYTES ? whole - at : PIECE_BYTES;
    int64_t first = at < from ? from : at, last = at + size < end ? at + size : end;
    bool inside = first == at && last == at + size;
    char *into = inside ? data + (at - from) : piece;
    if (!read_all(cache->fd, into, size, offset + at)) return false;
    if (sum_of(into, size) != word_at(entry + SUMS_AT + at / PIECE_BYTES * 8)) return false;
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

bool gather_block_cache_read(gather_block_cache *cache, const gather_block_file *file, int64_t block, int64_t from, int64_t bytes,
                             void *data) {
  uint8_t key[GATHER_SHA256_BYTES];
  if (!cache || cache->fd < 0) return false;
  block_key(file, block, key);
  bool found = read_block(cache, key, from, bytes, data);
  atomic_fetch_add(found ? &cache->hits : &cache->misses, 1);
  return found;
}

/* ---- what it says about itself */

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
