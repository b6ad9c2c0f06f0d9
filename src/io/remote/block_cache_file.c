/* SPDX-License-Identifier: MIT
 *
 * block_cache_file.c: opens and creates the file of blocks (POSIX). Every process that uses it holds a shared lock; who makes it anew,
 * because it is damaged or another size is wanted, must have the lock alone.
 */
#define _DEFAULT_SOURCE /* flock, which POSIX does not have: where it is asked for by name, some systems hide the rest */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/block_cache_internal.h"

static const char NAME[] = "gather-blocks";
static const char MAGIC[16] = {'g', 'a', 't', 'h', 'e', 'r', ' ', 'b', 'l', 'o', 'c', 'k', 's', ' ', '1', '\n'};
static const int64_t DEFAULT_BYTES = INT64_C(1) << 30, LEAST_BYTES = INT64_C(1) << 21;
enum { HEADER_BYTES = 32, LOCK_TRIES = 100 };

/* ---- why it is off */

static void off_system(gather_block_cache *cache, const char *what, int number) {
  char words[GATHER_SYSTEM_WORDS], why[160];
  (void)snprintf(why, sizeof why, "cannot %s: %s", what, gather_system_words(number, words));
  gather_block_cache_off(cache, why);
}

/* ---- folder and file */

/* Others must not be able to put blocks there: they would be rows. */
static bool is_own(const struct stat *about) {
  return about->st_uid == geteuid() && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

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
    gather_block_cache_off(cache, "the folder of the cache belongs to another user, or others may write to it");
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
    gather_block_cache_why(cache, errno);
    fd = openat(folder, NAME, O_RDONLY | flags);
  }
  if (fd < 0) off_system(cache, "open the file of the cache", errno);
  return fd;
}

/* A link would have it write to another file. */
static bool is_good_file(gather_block_cache *cache, int fd) {
  struct stat about;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && is_own(&about) && about.st_nlink <= 1) return true;
  gather_block_cache_off(cache, "the file of the cache is not a regular file of this user alone");
  return false;
}

/* ---- the header */

static void put64(uint8_t *at, uint64_t value) {
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get64(const uint8_t *at) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

/* The number of sets of a file; 0 if it has no good header. */
static int64_t read_header(int fd) {
  uint8_t header[HEADER_BYTES];
  if (pread(fd, header, sizeof header, 0) != HEADER_BYTES || memcmp(header, MAGIC, sizeof MAGIC) != 0) return 0;
  uint64_t sets = get64(header + 16);
  if (get64(header + 24) != gather_block_sum(header, 24)) return 0;
  return sets > 0 && sets < (uint64_t)INT64_MAX / SET_BYTES - 1 ? (int64_t)sets : 0;
}

/* Empties the file and begins it anew. */
static bool write_header(gather_block_cache *cache, int fd, int64_t sets) {
  uint8_t header[HEADER_BYTES];
  memcpy(header, MAGIC, sizeof MAGIC);
  put64(header + 16, (uint64_t)sets);
  put64(header + 24, gather_block_sum(header, 24));
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
    gather_block_cache_off(cache, "another process has locked the cache");
    return;
  }
  cache->sets = read_header(fd);
  if (cache->sets == 0)
    gather_block_cache_off(cache, "the file of the cache is not one");
  else if (cache->sets > wanted && !cache->read_only)
    gather_block_cache_off(cache, "another process is using the cache with a higher ceiling");
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

gather_status gather_block_cache_open(const char *folder, int64_t bytes, gather_block_cache **cache,
                                      gather_error *error) {
  *cache = NULL;
  if (bytes == 0) bytes = DEFAULT_BYTES;
  if (bytes < LEAST_BYTES)
    return gather_fail(error, GATHER_USAGE, "the ceiling of the cache is %lld bytes; at least %lld (2 MiB) are needed",
                       (long long)bytes, (long long)LEAST_BYTES);
  gather_block_cache *made = gather_alloc(sizeof *made);
  if (!made || pthread_mutex_init(&made->why_mutex, NULL) != 0) {
    gather_free(made);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a cache");
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
