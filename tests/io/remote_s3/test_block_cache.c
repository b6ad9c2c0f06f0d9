/* SPDX-License-Identifier: MIT
 *
 * test_block_cache.c: blocks on disk: what is read is what was stored, or it is a miss. Damage, two processes, killed ones, limits,
 * folders of others.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/remote/block_cache.h"
#include "support/unit.h"

/* The smallest cache has one set of 16 blocks. */
enum { BLOCK = GATHER_BLOCK_BYTES, SMALL = 2 * 1024 * 1024, WAYS = 16, DIRECTORY = 4096, SET_AT = 4096, ENTRY = 256 };

static char folder[64], path[96];
static gather_block_file usual; /* the file that most tests store */

static gather_block_file file_of(const char *address, const char *version) {
  gather_block_file file;
  gather_block_file_set(&file, address, "", version);
  return file;
}

static int make_folder(void **state) {
  usual = file_of("https://h/a", "\"v\"");
  (void)snprintf(folder, sizeof folder, "/tmp/gather-cache-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(path, sizeof path, "%s/gather-blocks", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)chmod(folder, 0700);
  (void)unlink(path);
  return rmdir(folder);
}

static gather_block_cache *open_cache(int64_t bytes) {
  gather_block_cache *cache;
  gather_error error;
  if (gather_block_cache_open(folder, bytes, &cache, &error) != GATHER_OK) fail_msg("%s", error.message);
  return cache;
}

static gather_block_cache_state state_of(const gather_block_cache *cache) {
  gather_block_cache_state state;
  gather_block_cache_state_get(cache, &state);
  return state;
}

/* The bytes of a block: each tells the file, the block and its place. */
static void fill(char *data, int seed, int64_t block, int64_t bytes) {
  uint64_t x = (uint64_t)seed * 1000003u + (uint64_t)block * 7919u + 1;
  for (int64_t i = 0; i < bytes; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    data[i] = (char)(x >> 56);
  }
}

static bool holds(gather_block_cache *cache, const gather_block_file *file, int seed, int64_t block, int64_t from, int64_t bytes) {
  static char want[BLOCK], got[BLOCK + 1];
  fill(want, seed, block, BLOCK);
  memset(got, 0x5a, sizeof got);
  if (!gather_block_cache_read(cache, file, block, from, bytes, got)) return false;
  assert_memory_equal(got, want + from, (size_t)bytes);
  assert_int_equal(got[bytes], 0x5a);
  return true;
}

static void store(gather_block_cache *cache, const gather_block_file *file, int seed, int64_t block, int64_t bytes) {
  static char data[BLOCK];
  fill(data, seed, block, BLOCK);
  gather_block_cache_write(cache, file, block, data, bytes);
}

/* ---- what is there */

static void reads_what_was_stored(void **state) {
  gather_block_cache *cache = open_cache(64 * 1024 * 1024);
  gather_block_file file = file_of("https://h/a", "\"v1\"");
  assert_false(holds(cache, &file, 1, 0, 0, 1));
  for (int64_t block = 0; block < 40; block++) store(cache, &file, 1, block, BLOCK);
  store(cache, &file, 1, 40, 5000); /* the last one */
  static const int64_t RANGES[][2] = {{0, BLOCK}, {0, 1},         {BLOCK - 1, 1}, {4095, 2}, {4096, 4096},
                                      {1, 65534}, {10000, 30000}, {0, 0},         {BLOCK, 0}};
  for (int64_t block = 0; block < 40; block++)
    for (size_t i = 0; i < COUNT(RANGES); i++) assert_true(holds(cache, &file, 1, block, RANGES[i][0], RANGES[i][1]));
  assert_true(holds(cache, &file, 1, 40, 0, 5000));
  assert_true(holds(cache, &file, 1, 40, 4999, 1));
  /* Beyond the end of a block, or outside all. */
  assert_false(holds(cache, &file, 1, 40, 4999, 2));
  assert_false(holds(cache, &file, 1, 40, 5001, 0));
  assert_false(holds(cache, &file, 1, 41, 0, 1));
  char byte;
  assert_false(gather_block_cache_read(cache, &file, 0, -1, 1, &byte));
  assert_false(gather_block_cache_read(cache, &file, 0, INT64_MAX, 1, &byte));
  assert_false(gather_block_cache_read(cache, &file, 0, 1, -1, &byte));
  assert_int_equal(state_of(cache).stored, 41);
  assert_int_equal(state_of(cache).failures, 0);
  assert_int_equal(state_of(cache).damaged, 0);
  assert_string_equal(state_of(cache).why, "");
  gather_block_cache_close(cache);
  /* They stay. */
  cache = open_cache(64 * 1024 * 1024);
  assert_true(holds(cache, &file, 1, 39, 0, BLOCK));
  gather_block_cache_close(cache);
}

/* Another version or address is another file; addresses and versions cannot be confused. */
static void keys(void **state) {
  gather_block_cache *cache = open_cache(SMALL);
  static const char *const NAMES[][2] = {{"https://h/a", "\"v1\""}, {"https://h/a", "\"v2\""}, {"https://h/b", "\"v1\""},
                                         {"https://h/a\"", "v1\""}, {"", "https://h/a\"v1\""}, {"https://h/", "a\"v1\""}};
  for (size_t i = 0; i < COUNT(NAMES); i++) {
    gather_block_file file = file_of(NAMES[i][0], NAMES[i][1]);
    assert_false(holds(cache, &file, (int)i, 0, 0, 1));
    store(cache, &file, (int)i, 0, BLOCK);
  }
  for (size_t i = 0; i < COUNT(NAMES); i++) {
    gather_block_file file = file_of(NAMES[i][0], NAMES[i][1]);
    assert_true(holds(cache, &file, (int)i, 0, 0, BLOCK));
  }
  gather_block_cache_close(cache);
}

/* A query may choose the file; what signs it, and is another one each time, is no part of its name. */
static void addresses(void **state) {
  static const struct {
    const char *one, *other;
    bool same;
  } CASES[] = {
      {"https://h/f", "https://h/f#part", true},
      {"https://h/f", "https://h/f?", true},
      {"https://h/f?v=1", "https://h/f?v=2", false},
      {"https://h/f?v=1", "https://h/f", false},
      {"https://h/f?v=1&w=2", "https://h/f?&v=1&&w=2&", true},
      {"https://h/f?v=1&w=2", "https://h/f?v=1w=2", false},
      {"https://h/f?Expires=1", "https://h/f?Expires=2", false}, /* no signature: it may name something */
      {"https://h/f?v=1&X-Amz-Signature=a&X-Amz-Date=1&X-Amz-Credential=k", "https://h/f?X-Amz-Signature=b&X-Amz-Date=2&v=1", true},
      {"https://h/f?v=1&X-Amz-Signature=a", "https://h/f?v=2&X-Amz-Signature=a", false},
      {"https://h/f?X-Amz-Signature=a", "https://h/f", true},
      {"https://h/f?X-Goog-Signature=a&X-Goog-Date=1&GoogleAccessId=x", "https://h/f?X-Goog-Signature=b&X-Goog-Date=2", true},
      {"https://h/f?AWSAccessKeyId=a&Signature=b&Expires=1", "https://h/f?AWSAccessKeyId=c&Signature=d&Expires=2", true},
      {"https://h/f?Policy=a&Signature=b&Key-Pair-Id=1", "https://h/f?Signature=d", true},
      {"https://h/f?sv=1&se=2&st=3&sp=r&sr=b&spr=https&sig=a", "https://h/f?sv=4&se=5&sr=b&sig=b", true},
      {"https://h/f?skoid=1&sktid=2&skt=3&ske=4&sks=5&skv=6&sig=a", "https://h/f?sig=b", true},
      {"https://h/f?sig=a&snapshot=1", "https://h/f?sig=a&snapshot=2", false},
      {"https://h/f?sig=a&s=1", "https://h/f?sig=a&s=2", false},
      {"https://h/f?sig", "https://h/f", true},
      {"https://h/f?signed=a&X-Amz-Date=1", "https://h/f?signed=a&X-Amz-Date=2", false},
  };
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const gather_block_file one = file_of(CASES[i].one, "\"v\""), other = file_of(CASES[i].other, "\"v\"");
    if ((memcmp(&one, &other, sizeof one) == 0) != CASES[i].same) fail_msg("%s and %s", CASES[i].one, CASES[i].other);
  }
}

static int64_t bytes_on_disk(void) {
  struct stat about;
  return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

/* The ceiling holds, whatever is stored; blocks that are used stay, others go. */
static void ceiling(void **state) {
  gather_block_cache *cache = open_cache(SMALL);
  for (int64_t block = 0; block < 200; block++) {
    store(cache, &usual, 1, block, BLOCK);
    assert_true(block == 0 || holds(cache, &usual, 1, 0, 0, 512));
    assert_true(holds(cache, &usual, 1, block, 0, 512));
    assert_true(bytes_on_disk() <= SMALL);
  }
  int found = 0;
  for (int64_t block = 0; block < 200; block++) found += holds(cache, &usual, 1, block, 0, 1);
  assert_int_equal(found, WAYS);
  gather_block_cache_close(cache);
}

static void usage(void **state) {
  gather_block_cache *cache;
  gather_error error;
  static const int64_t BYTES[] = {-1, 1, SMALL - 1, INT64_MIN};
  for (size_t i = 0; i < COUNT(BYTES); i++) {
    assert_status(gather_block_cache_open(folder, BYTES[i], &cache, &error), GATHER_USAGE);
    assert_error(&error, GATHER_USAGE);
    assert_null(cache);
  }
  assert_status(gather_block_cache_open(folder, INT64_MAX, &cache, &error), GATHER_OK);
  gather_block_file file = file_of("a", "b");
  store(cache, &file, 1, 0, BLOCK); /* beyond what a file may have: no crash */
  gather_block_cache_close(cache);
  gather_block_cache_close(NULL);
  assert_false(gather_block_cache_read(NULL, &file, 0, 0, 1, &error));
  gather_block_cache_write(NULL, &file, 0, &error, 1);
}

/* ---- damage */

static void poke(int64_t offset, int flip) {
  unsigned char byte;
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
  byte = (unsigned char)(byte ^ flip);
  assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
  close(fd);
}

/* Where the only block of a small cache is: it has way 0. */
static void every_byte_of_an_entry(void **state) {
  gather_block_cache *cache = open_cache(SMALL);
  for (int at = 0; at < ENTRY; at++) {
    store(cache, &usual, 1, 0, BLOCK);
    poke(SET_AT + at, 0x40);
    /* The stamp, and the rest of the entry, may be anything; the bytes are right or missing. */
    bool found = holds(cache, &usual, 1, 0, 0, BLOCK);
    assert_true(found == (at >= 176));
    poke(SET_AT + at, 0x40);
  }
  gather_block_cache_close(cache);
}

static void damaged_bytes(void **state) {
  gather_block_cache *cache = open_cache(SMALL);
  store(cache, &usual, 1, 0, BLOCK);
  for (int64_t at = 0; at < BLOCK; at += at % 4096 == 0 ? 4095 : 1 + at % 700) {
    poke(SET_AT + DIRECTORY + at, 1);
    assert_false(holds(cache, &usual, 1, 0, at, 1));
    assert_false(holds(cache, &usual, 1, 0, 0, BLOCK));
    /* Of the other pieces nothing is wrong. */
    assert_true(holds(cache, &usual, 1, 0, at < 4096 ? 4096 : 0, 4096));
    poke(SET_AT + DIRECTORY + at, 1);
  }
  assert_true(state_of(cache).damaged > 100);
  assert_true(holds(cache, &usual, 1, 0, 0, BLOCK));
  gather_block_cache_close(cache);
}

/* A file that is cut off at any place, or whose beginning is damaged, is empty or smaller, and can be used again. */
static void cut_off(void **state) {
  static const int64_t ENDS[] = {0, 1, 15, 16, 31, 32, 4095, 4096, 4097, 8191, 8192, 8193, 50000, SET_AT + DIRECTORY + BLOCK - 1};
  for (size_t i = 0; i < COUNT(ENDS); i++) {
    gather_block_cache *cache = open_cache(SMALL);
    store(cache, &usual, 1, 0, BLOCK);
    assert_int_equal(truncate(path, (off_t)ENDS[i]), 0);
    assert_false(holds(cache, &usual, 1, 0, 0, BLOCK));
    gather_block_cache_close(cache);
    cache = open_cache(SMALL);
    assert_string_equal(state_of(cache).why, "");
    assert_false(holds(cache, &usual, 1, 0, 0, BLOCK));
    store(cache, &usual, 1, 0, BLOCK);
    assert_true(holds(cache, &usual, 1, 0, 0, BLOCK));
    gather_block_cache_close(cache);
  }
  for (int at = 0; at < 32; at++) {
    poke(at, 0x10);
    gather_block_cache *cache = open_cache(SMALL);
    assert_false(holds(cache, &usual, 1, 0, 0, 1)); /* begun anew */
    store(cache, &usual, 1, 0, BLOCK);
    assert_true(holds(cache, &usual, 1, 0, 0, 1));
    gather_block_cache_close(cache);
  }
}

/* ---- sizes */

static void another_ceiling(void **state) {
  gather_block_cache *cache = open_cache(64 * 1024 * 1024);
  store(cache, &usual, 1, 0, BLOCK);
  /* While it is used, its size stays: for a lower ceiling that is too much, for a higher one it is enough. */
  gather_block_cache *lower = open_cache(SMALL), *higher = open_cache(128 * 1024 * 1024);
  assert_non_null(strstr(state_of(lower).why, "higher ceiling"));
  assert_false(holds(lower, &usual, 1, 0, 0, 1));
  assert_true(holds(higher, &usual, 1, 0, 0, 1));
  assert_true(state_of(higher).bytes <= 64 * 1024 * 1024);
  gather_block_cache_close(lower);
  gather_block_cache_close(higher);
  gather_block_cache_close(cache);
  cache = open_cache(SMALL);
  assert_string_equal(state_of(cache).why, "");
  assert_false(holds(cache, &usual, 1, 0, 0, 1));
  assert_true(bytes_on_disk() <= SMALL);
  gather_block_cache_close(cache);
}

/* ---- folders and files that cannot be used, or must not be */

static void assert_off(const char *words) {
  gather_block_cache *cache = open_cache(SMALL);
  store(cache, &usual, 1, 0, BLOCK);
  assert_false(holds(cache, &usual, 1, 0, 0, 1));
  if (!strstr(state_of(cache).why, words)) fail_msg("not '%s': %s", words, state_of(cache).why);
  gather_block_cache_close(cache);
}

static void links(void **state) {
  char other[96], text[8] = {0};
  (void)snprintf(other, sizeof other, "%s/precious", folder);
  int fd = open(other, O_CREAT | O_RDWR, 0600);
  assert_int_equal(write(fd, "precious", 8), 8);
  assert_int_equal(symlink(other, path), 0);
  assert_off("open the file of the cache");
  assert_int_equal(unlink(path), 0);
  assert_int_equal(link(other, path), 0);
  assert_off("not a regular file, belongs to another user");
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_off("");
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_off("");
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(pread(fd, text, 8, 0), 8);
  assert_memory_equal(text, "precious", 8);
  close(fd);
  assert_int_equal(unlink(other), 0);
}

static void permissions(void **state) {
  struct stat about;
  gather_block_cache_close(open_cache(SMALL));
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0600);
  assert_int_equal(chmod(path, 0666), 0);
  assert_off("not a regular file, belongs to another user");
  assert_int_equal(unlink(path), 0);
  assert_int_equal(chmod(folder, 0777), 0);
  assert_off("others may write");
  assert_int_equal(chmod(folder, 0700), 0);
  /* A folder that is made is the user's own. */
  char before[sizeof folder];
  memcpy(before, folder, sizeof before);
  (void)snprintf(folder, sizeof folder, "%.40s/new", before);
  gather_block_cache_close(open_cache(SMALL));
  assert_int_equal(stat(folder, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0700);
  char inside[96];
  (void)snprintf(inside, sizeof inside, "%.60s/gather-blocks", folder);
  assert_int_equal(unlink(inside), 0);
  assert_int_equal(rmdir(folder), 0);
  (void)snprintf(folder, sizeof folder, "%.40s/a/b", before);
  assert_off("make the folder of the cache: No such file");
  memcpy(folder, before, sizeof before);
}

/* Deleted while it is used: the blocks are still read; after a while nothing is stored any more, and the state says why. */
static void deleted(void **state) {
  gather_block_cache *cache = open_cache(SMALL);
  store(cache, &usual, 1, 0, BLOCK);
  assert_int_equal(unlink(path), 0);
  assert_true(holds(cache, &usual, 1, 0, 0, BLOCK));
  for (int64_t block = 1; block < 100; block++) store(cache, &usual, 1, block, BLOCK);
  assert_non_null(strstr(state_of(cache).why, "deleted"));
  assert_true(state_of(cache).stored < 70);
  gather_block_cache_close(cache);
}

/* Another process has the whole file for itself, and does not end. */
static void locked(void **state) {
  gather_block_cache_close(open_cache(SMALL));
  int fd = open(path, O_RDWR);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  assert_off("another process has locked the cache");
  close(fd);
}

/* What a child does with a limit on the size of files: no signal, no block, and the state says why. */
static int limited_child(void) {
  struct rlimit limit = {100 * 1024, 100 * 1024};
  gather_block_cache *cache;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 10;
  if (gather_block_cache_open(folder, SMALL, &cache, NULL) != GATHER_OK) return 11;
  store(cache, &usual, 1, 0, BLOCK);
  gather_block_cache_state state = state_of(cache);
  char byte;
  if (gather_block_cache_read(cache, &usual, 0, 0, 1, &byte)) return 12;
  if (state.failures != 1 || state.stored != 0) return 13;
  return strstr(state.why, "cannot write to the cache: File too large") ? 0 : 14;
}

static void assert_child(int (*run)(void)) {
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(run());
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void file_size_limit(void **state) { assert_child(limited_child); }

/* A folder that may only be read: blocks that are there are used. */
static int unprivileged_child(void) {
  if (geteuid() == 0 && setuid(65534) != 0) return 10;
  gather_block_cache *cache;
  if (gather_block_cache_open(folder, SMALL, &cache, NULL) != GATHER_OK) return 11;
  if (strncmp(state_of(cache).why, "cannot write to the cache: ", 27) != 0) return 12;
  store(cache, &usual, 1, 1, BLOCK);
  bool there = holds(cache, &usual, 1, 0, 0, BLOCK), stored = holds(cache, &usual, 1, 1, 0, 1);
  gather_block_cache_close(cache);
  return there && !stored ? 0 : 13;
}

static void read_only(void **state) {
  gather_block_cache *cache = open_cache(SMALL);
  store(cache, &usual, 1, 0, BLOCK);
  gather_block_cache_close(cache);
  assert_int_equal(chmod(path, 0400), 0);
  if (geteuid() == 0) {
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(chown(folder, 65534, 65534), 0);
  }
  assert_child(unprivileged_child);
  /* Another user's. */
  if (geteuid() == 0) assert_off("another user");
  assert_int_equal(chown(folder, geteuid(), getegid()), 0);
}

/* ---- several processes */

enum { FILES = 3, BLOCKS = 60, ROUNDS = 400 };

/* Stores and reads blocks at random; a wrong byte is a failure. */
static int busy_child(void) {
  gather_block_file files[FILES];
  gather_block_cache *cache;
  static char want[BLOCK], got[BLOCK];
  if (gather_block_cache_open(folder, 2 * SMALL, &cache, NULL) != GATHER_OK) return 10;
  for (int i = 0; i < FILES; i++) files[i] = file_of("https://h/a", i == 0 ? "\"0\"" : i == 1 ? "\"1\"" : "\"2\"");
  uint32_t x = (uint32_t)getpid() * 2654435761u + 1;
  for (int i = 0; i < ROUNDS; i++) {
    x = x * 1664525u + 1013904223u;
    int seed = (int)(x >> 16) % FILES;
    int64_t block = (x >> 20) % BLOCKS, from = (int64_t)(x >> 8) % 60000;
    fill(want, seed, block, BLOCK);
    if (gather_block_cache_read(cache, &files[seed], block, from, 5000, got)) {
      if (memcmp(got, want + from, 5000) != 0) return 11;
    } else {
      gather_block_cache_write(cache, &files[seed], block, want, BLOCK);
    }
  }
  gather_block_cache_state state = state_of(cache);
  return state.failures == 0 && state.stored > 0 && state.why[0] == '\0' ? 0 : 12;
}

static void processes(void **state) {
  pid_t children[4];
  for (int i = 0; i < 4; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0) _exit(busy_child());
  }
  for (int i = 0; i < 4; i++) {
    int status;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    assert_int_equal(status, 0);
  }
  assert_true(bytes_on_disk() <= 2 * SMALL);
  assert_child(busy_child);
}

/* Processes that are killed while they write: the next ones find whole blocks or none. */
static void killed(void **state) {
  for (int i = 0; i < 30; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
      for (;;)
        if (busy_child() != 0) _exit(1);
    (void)usleep((useconds_t)(500 + 700 * i));
    assert_int_equal(kill(child, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    gather_block_cache *cache = open_cache(2 * SMALL);
    for (int seed = 0; seed < FILES; seed++) {
      gather_block_file file = file_of("https://h/a", seed == 0 ? "\"0\"" : seed == 1 ? "\"1\"" : "\"2\"");
      for (int64_t block = 0; block < BLOCKS; block++) (void)holds(cache, &file, seed, block, 0, BLOCK);
    }
    assert_string_equal(state_of(cache).why, "");
    gather_block_cache_close(cache);
  }
  assert_true(bytes_on_disk() <= 2 * SMALL);
}

/* No name and no secret is in the folder: addresses are digested. */
static void nothing_readable(void **state) {
  gather_block_cache *cache = open_cache(SMALL);
  gather_block_file file = file_of("https://bucket.example.org/private-key", "\"v\"");
  static char data[BLOCK];
  gather_block_cache_write(cache, &file, 0, data, BLOCK);
  gather_block_cache_close(cache);
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(entries));) count += entry->d_name[0] != '.';
  (void)closedir(entries);
  assert_int_equal(count, 1);
  static char bytes[SMALL];
  int fd = open(path, O_RDONLY);
  ssize_t size = read(fd, bytes, sizeof bytes);
  close(fd);
  assert_true(size > BLOCK);
  for (ssize_t i = 0; i + 6 < size; i++) assert_true(memcmp(bytes + i, "bucket", 6) != 0);
}

TESTS_EACH(make_folder, remove_folder, reads_what_was_stored, keys, addresses, ceiling, usage, every_byte_of_an_entry, damaged_bytes,
           cut_off, links, permissions, another_ceiling, deleted, locked, read_only, processes, killed, file_size_limit, nothing_readable)
