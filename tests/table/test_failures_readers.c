/* SPDX-License-Identifier: MIT
 *
 * test_failures_readers.c: readers on a system that fails, one call at a time, and all the time; files that are cut while they are read,
 * or have blocks that cannot be read; and the words for io_uring where it is refused. Each failure is said or overcome, and nothing stays
 * behind.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/unit.h"
#include "table/failing.h"
#include "table/known.h"
#include "table/reader.h"
#include "table/ways.h"
enum { BLOCK = 4096, BLOCKS = 24, SIZE = BLOCKS * BLOCK - 100, DEPTH = 5 };

/* What became of reading a whole file, block by block. */
typedef struct {
  gather_status opened, created;
  int good, bad;
  int number; /* of the last that failed */
  gather_error error;
} outcome;

static void finish(gather_reader *reader, outcome *all) {
  gather_read read;
  int number;
  gather_status status = gather_reader_finish(reader, &read, &number, &all->error);
  assert_int_equal(read.tag, read.offset);
  if (status == GATHER_OK) {
    assert_true(known_is(read.data, read.offset, read.needed));
    all->good++;
  } else {
    assert_int_equal(status, GATHER_IO_ERROR);
    all->number = number;
    all->bad++;
  }
  gather_reader_release(reader, &read);
}

static void begin_block(gather_reader *reader, const gather_table_source *source, int64_t n) {
  const int64_t left = SIZE - n * BLOCK;
  gather_read read = {.source = source, .offset = n * BLOCK, .bytes = BLOCK, .needed = left < BLOCK ? left : BLOCK, .tag = n * BLOCK};
  assert_int_equal(gather_reader_begin(reader, &read, NULL), GATHER_OK);
}

static void read_blocks(gather_reader *reader, const gather_table_source *source, outcome *all) {
  for (int64_t n = 0, ended = 0; ended < BLOCKS; ended++) {
    for (; n < BLOCKS && gather_reader_has_room(reader, 0); n++) begin_block(reader, source, n);
    finish(reader, all);
  }
}

static outcome read_file(int w, const char *path) {
  outcome all = {0};
  gather_table_source source;
  gather_reader *reader;
  int mappings = failing_mappings();
  const gather_table_source_wishes wishes = {.direct = w & DIRECT, .mapped = w == MAP};
  const gather_reader_plan plan = {engine_of(w), DEPTH, BLOCK, 1, NULL};
  all.opened = gather_table_source_open(path, &wishes, &source, &all.error);
  if (all.opened == GATHER_OK) {
    all.created = gather_reader_create(&plan, &reader, &all.error);
    if (all.created == GATHER_OK) read_blocks(reader, &source, &all);
    gather_reader_destroy(reader);
    gather_table_source_close(&source);
  }
  assert_int_equal(failing_mappings(), mappings);
  return all;
}

static void assert_all_good(const outcome *all) {
  if (all->opened != GATHER_OK || all->created != GATHER_OK || all->bad != 0) fail_msg("%s", all->error.message);
  assert_int_equal(all->good, BLOCKS);
}

/* ---- each call fails once, and always */

/* AFTER_FIRST: not made where the first call fails, which tries whether it works; overcome later. */
enum { FINE, NOT_OPENED, NOT_MADE, ONE_READ, AFTER_FIRST };

static const struct {
  const char *name;
  int number;
  int ways;    /* that make this call */
  int outcome; /* when one call fails */
  gather_status status;
} CALLS[] = {
    {"open", EACCES, ALL, NOT_OPENED, GATHER_IO_ERROR},
    {"open", ENOENT, ALL, NOT_OPENED, GATHER_FILE_NOT_FOUND},
    {"open", EMFILE, ALL, NOT_OPENED, GATHER_IO_ERROR},
    {"open direct", EINVAL, DIRECT, FINE, GATHER_OK},
    {"open direct", EMFILE, DIRECT, FINE, GATHER_OK},
    {"statx", ENOSYS, DIRECT, FINE, GATHER_OK},
    {"posix_fadvise", EINVAL, ALL, FINE, GATHER_OK},
    {"mmap", ENOMEM, MAP, NOT_OPENED, GATHER_OUT_OF_MEMORY},
    {"mmap", ENODEV, MAP, NOT_OPENED, GATHER_IO_ERROR},
    {"madvise random", EINVAL, MAP, FINE, GATHER_OK},
    {"madvise willneed", EIO, MAP, FINE, GATHER_OK},
    {"madvise willneed", EAGAIN, MAP, FINE, GATHER_OK},
    {"madvise populate", EINVAL, MAP, FINE, GATHER_OK},
    {"madvise populate", EINTR, MAP, FINE, GATHER_OK},
    {"madvise populate", EFAULT, MAP, ONE_READ, GATHER_IO_ERROR},
    {"madvise dontfork", EINVAL, THREADS | RINGS, FINE, GATHER_OK},
    {"pthread_mutex_init", EAGAIN, THREADS, NOT_MADE, GATHER_OUT_OF_MEMORY},
    {"pthread_cond_init", ENOMEM, THREADS, NOT_MADE, GATHER_OUT_OF_MEMORY},
    {"pthread_create", EAGAIN, THREADS, FINE, GATHER_OK},
    {"pread", EIO, PREAD, ONE_READ, GATHER_IO_ERROR},
    {"pread", EINTR, THREADS, FINE, GATHER_OK},
    {"pread", EAGAIN, THREADS, FINE, GATHER_OK},
    {"pread direct", EINVAL, PREAD_DIRECT, FINE, GATHER_OK},
    {"pread direct", EOPNOTSUPP, PREAD_DIRECT, FINE, GATHER_OK},
    {"answer", EIO, RINGS, ONE_READ, GATHER_IO_ERROR},
    {"answer", ENOMEM, RINGS, ONE_READ, GATHER_IO_ERROR},
    {"answer", EINTR, RINGS, FINE, GATHER_OK},
    {"answer", EAGAIN, RINGS, FINE, GATHER_OK},
    {"answer", ECANCELED, RINGS, FINE, GATHER_OK},
    {"answer direct", EINVAL, URING_DIRECT, FINE, GATHER_OK},
    {"io_uring_queue_init_params", EINVAL, RINGS, FINE, GATHER_OK}, /* a kernel that lacks a flag */
    {"io_uring_queue_init_params", ENOMEM, RINGS, NOT_MADE, GATHER_UNSUPPORTED},
    {"io_uring_get_probe_ring", EINVAL, RINGS, NOT_MADE, GATHER_UNSUPPORTED},
    {"io_uring_submit_and_wait", EAGAIN, RINGS, AFTER_FIRST, GATHER_UNSUPPORTED},
    {"io_uring_submit_and_wait", EBUSY, RINGS, AFTER_FIRST, GATHER_UNSUPPORTED},
    {"io_uring_submit_and_wait", EINTR, RINGS, FINE, GATHER_OK},
    {"io_uring_submit_and_wait", ENOMEM, RINGS, AFTER_FIRST, GATHER_UNSUPPORTED},
    {"io_uring_submit", EAGAIN, RINGS, FINE, GATHER_OK},
};
enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

/* The system does not have these at hand everywhere. */
static bool may_be_missing(const char *name) { return strcmp(name, "statx") == 0 || strncmp(name, "madvise ", 8) == 0; }

static void assert_outcome(int c, int n, const outcome *all) {
  switch (CALLS[c].outcome) {
    case FINE:
      assert_all_good(all);
      break;
    case NOT_OPENED:
      assert_int_equal(all->opened, CALLS[c].status);
      break;
    case AFTER_FIRST:
      if (n == 0)
        assert_int_equal(all->created, CALLS[c].status);
      else
        assert_all_good(all);
      break;
    case NOT_MADE:
      assert_int_equal(all->created, CALLS[c].status);
      break;
    default:
      if (all->bad != 1) fail_msg("%s, number %d: %d reads failed", CALLS[c].name, n, all->bad);
      assert_int_equal(all->good, BLOCKS - 1);
      assert_int_equal(all->number, CALLS[c].number == EFAULT ? EIO : CALLS[c].number);
      assert_true(all->error.file_offset >= 0);
      assert_non_null(strstr(all->error.message, "cannot read "));
  }
}

static void test_each_call(void **state) {
  char path[512];
  (void)strcpy(path, known_file("a", SIZE));
  for (int c = 0; c < CALL_COUNT; c++)
    for (int w = MAP; w <= URING_DIRECT; w *= 2) {
      if (!(CALLS[c].ways & w) || !works(w)) continue;
      for (int n = 0;; n++) {
        failing_set(CALLS[c].name, n, CALLS[c].number == EFAULT ? 2 : 1, CALLS[c].number); /* pages are looked at twice */
        outcome all = read_file(w, path);
        bool failed = failing_calls() > n;
        failing_clear();
        if (n == 0 && !failed && !may_be_missing(CALLS[c].name)) fail_msg("%s is not called", CALLS[c].name);
        if (!failed) break; /* there are not so many calls */
        if (!(w & DIRECT) || strcmp(CALLS[c].name, "open") != 0 || n == 0)
          assert_outcome(c, n, &all);
        else /* the second open is for reads past the page cache */
          assert_all_good(&all);
        all = read_file(w, path); /* and nothing is remembered */
        assert_all_good(&all);
      }
    }
}

/* A ring that takes nothing more once it was made. */
static void test_ring_that_stops(void **state) {
  static const int NUMBERS[] = {EPERM, EBADF, EAGAIN};
  const char *path = known_file("a", SIZE);
  for (int w = URING; w <= URING_DIRECT; w *= 2)
    for (int n = 0; works(w) && n < 3; n++)
      for (int after = 1; after < 4; after++) {
        failing_set("io_uring_submit_and_wait", after, INT_MAX, NUMBERS[n]);
        outcome all = read_file(w, path);
        failing_clear();
        assert_all_good(&all);
      }
}

/* Calls that fail each time, and are not needed. */
static void test_without(void **state) {
  const char *path = known_file("a", SIZE);
  for (int c = 0; c < CALL_COUNT; c++)
    for (int w = MAP; w <= URING_DIRECT; w *= 2) {
      bool needed = CALLS[c].outcome != FINE || CALLS[c].number == EINTR || strncmp(CALLS[c].name, "pread", 6) == 0 ||
                    strcmp(CALLS[c].name, "io_uring_queue_init_params") == 0;
      if (needed || !(CALLS[c].ways & w) || !works(w)) continue;
      failing_set(CALLS[c].name, 0, INT_MAX, CALLS[c].number);
      outcome all = read_file(w, path);
      failing_clear();
      assert_all_good(&all);
    }
}

/* Memory that cannot be had is said, wherever it is asked for. */
static void test_memory(void **state) {
  const char *path = known_file("a", SIZE);
  static const char *const NAMES[] = {"gather_alloc", "mmap"};
  for (int k = 0; k < 2; k++)
    for (int w = MAP; w <= URING_DIRECT; w *= 2) {
      if (!works(w)) continue;
      failing_set(NAMES[k], INT_MAX, 0, 0);
      outcome all = read_file(w, path);
      int calls = failing_calls();
      assert_true(calls > 0);
      assert_all_good(&all);
      for (int n = 0; n < calls; n++) {
        failing_set(NAMES[k], n, 1, ENOMEM);
        all = read_file(w, path);
        failing_clear();
        if (k == 1 && (w & DIRECT) && n == 0) /* for a first read past the page cache, which is then not tried */
          assert_all_good(&all);
        else
          assert_int_equal(all.opened != GATHER_OK ? all.opened : all.created, GATHER_OUT_OF_MEMORY);
      }
    }
}

/* ---- reads that read little, are interrupted, or fail somewhere */

static void test_short_reads(void **state) {
  const char *path = known_file("a", SIZE);
  for (int w = PREAD; w <= URING_DIRECT; w *= 2)
    for (int64_t bytes = 1; works(w) && bytes <= BLOCK; bytes += bytes < 16 ? 1 : bytes % 512 > 509 || bytes % 512 < 3 ? 1 : 53) {
      failing_short(bytes);
      outcome all = read_file(w, path);
      failing_clear();
      assert_all_good(&all);
    }
}

static void test_storms(void **state) {
  const char *path = known_file("a", SIZE);
  for (int w = MAP; w <= URING_DIRECT; w *= 2)
    for (int times = 1; works(w) && times <= 1000; times *= 10) {
      failing_storm(times);
      failing_short(w == MAP ? INT64_MAX : 1000);
      outcome all = read_file(w, path);
      failing_clear();
      assert_all_good(&all);
    }
}

static void test_bad_block(void **state) {
  const char *path = known_file("a", SIZE);
  for (int w = PREAD; w <= URING_DIRECT; w *= 2)
    for (int64_t block = w & DIRECT ? 1 : 0; works(w) && block < BLOCKS; block++) {
      failing_at(block * BLOCK + 7, EIO);
      outcome all = read_file(w, path);
      failing_clear();
      assert_int_equal(all.good, BLOCKS - 1);
      assert_int_equal(all.bad, 1);
      assert_int_equal(all.number, EIO);
      assert_int_equal(all.error.file_offset, block * BLOCK);
      assert_string_equal(all.error.file, path);
      char words[80];
      (void)snprintf(words, sizeof words, "cannot read %d bytes: %s", block == BLOCKS - 1 ? BLOCK - 100 : BLOCK, strerror(EIO));
      assert_non_null(strstr(all.error.message, words));
    }
}

/* A system that never gives an answer but "again" is given up. */
static void test_never(void **state) {
  const char *path = known_file("a", SIZE);
  gather_table_source source;
  gather_reader *reader;
  gather_error error = {0};
  int number;
  assert_int_equal(gather_table_source_open(path, &(gather_table_source_wishes){0}, &source, NULL), GATHER_OK);
  assert_int_equal(gather_reader_create(&(gather_reader_plan){GATHER_ENGINE_PREAD, 1, BLOCK, 1, NULL}, &reader, NULL), GATHER_OK);
  failing_set("pread", 0, INT_MAX, EAGAIN);
  gather_read read = {.source = &source, .bytes = BLOCK, .needed = BLOCK};
  assert_int_equal(gather_reader_begin(reader, &read, NULL), GATHER_OK);
  assert_int_equal(gather_reader_finish(reader, &read, &number, &error), GATHER_IO_ERROR);
  assert_int_equal(number, EAGAIN);
  gather_reader_destroy(reader);
  gather_table_source_close(&source);
}

/* ---- files that change */

/* Cut to `size` when all reads have begun. Without threads, and where the ring waits, nothing was read before. */
static void cut(int w, int64_t size) {
  gather_table_source source;
  gather_reader *reader;
  gather_error error = {0};
  const char *path = known_file("a", SIZE);
  const gather_table_source_wishes wishes = {.direct = w & DIRECT, .mapped = w == MAP};
  failing_set("pthread_create", 0, INT_MAX, EAGAIN);
  assert_int_equal(gather_table_source_open(path, &wishes, &source, NULL), GATHER_OK);
  assert_int_equal(gather_reader_create(&(gather_reader_plan){engine_of(w), BLOCKS, BLOCK, 1, NULL}, &reader, NULL), GATHER_OK);
  for (int64_t n = 0; n < BLOCKS; n++) begin_block(reader, &source, n);
  assert_int_equal(truncate(path, (off_t)size), 0);
  for (int n = 0; n < BLOCKS; n++) {
    gather_read read;
    int number = -1;
    gather_status status = gather_reader_finish(reader, &read, &number, &error);
    bool there = read.offset + read.needed <= size;
    assert_int_equal(status, there ? GATHER_OK : GATHER_IO_ERROR);
    assert_int_equal(number, 0);
    if (there) {
      assert_true(known_is(read.data, read.offset, read.needed));
      continue;
    }
    char words[100];
    (void)snprintf(words, sizeof words, "the file ends at byte %lld: it was truncated while it was open", (long long)size);
    if (!strstr(error.message, words)) fail_msg("way %d, cut at %lld: %s", w, (long long)size, error.message);
    assert_int_equal(error.file_offset, size);
  }
  gather_reader_drain(reader);
  gather_reader_destroy(reader);
  gather_table_source_close(&source);
  failing_clear();
}

static void test_cut(void **state) {
  static const int64_t CUTS[] = {0, 1, 511, 512, BLOCK - 1, BLOCK, BLOCK + 1, 7 * BLOCK + 100, SIZE - 1, SIZE};
  for (int w = MAP; w <= URING_DIRECT; w *= 2)
    for (size_t k = 0; works(w) && k < sizeof CUTS / sizeof *CUTS; k++) cut(w, CUTS[k]);
}

/* ---- blocks that cannot be read */

static gather_status read_whole(gather_reader *reader, const gather_table_source *source, gather_error *error) {
  gather_read read = {.source = source, .bytes = BLOCKS * BLOCK, .needed = SIZE};
  int number;
  assert_int_equal(gather_reader_begin(reader, &read, NULL), GATHER_OK);
  gather_status status = gather_reader_finish(reader, &read, &number, error);
  assert_int_equal(number, status == GATHER_OK ? 0 : EIO);
  if (status == GATHER_OK) assert_true(known_is(read.data, 0, SIZE));
  gather_reader_release(reader, &read);
  return status;
}

/* Many blocks in one read: the error names the one that cannot be read. What can be read when it is tried again is no error. */
static void test_bad_block_of_many(void **state) {
  const char *path = known_file("a", SIZE);
  for (int w = PREAD; w <= URING_DIRECT; w *= 2) {
    gather_table_source source;
    gather_reader *reader;
    if (!works(w)) continue;
    assert_int_equal(gather_table_source_open(path, &(gather_table_source_wishes){.direct = w & DIRECT}, &source, NULL), GATHER_OK);
    assert_int_equal(gather_reader_create(&(gather_reader_plan){engine_of(w), 2, BLOCKS * BLOCK, 1, NULL}, &reader, NULL), GATHER_OK);
    for (int64_t block = 0; block < BLOCKS; block++) {
      gather_error error = {0};
      failing_at(block * BLOCK + 50, EIO);
      assert_int_equal(read_whole(reader, &source, &error), GATHER_IO_ERROR);
      assert_int_equal(error.file_offset, block * BLOCK);
      assert_non_null(strstr(error.message, block < BLOCKS - 1 ? "cannot read 4096 bytes" : "cannot read 3996 bytes"));
      failing_clear();
    }
    failing_set(w & THREADS ? "pread" : "answer", 0, 1, EIO);
    assert_int_equal(read_whole(reader, &source, NULL), GATHER_OK);
    failing_clear();
    gather_reader_destroy(reader);
    gather_table_source_close(&source);
  }
}

/* A read past the page cache that ends within a block goes on through it; that is no reason to read so from then on. */
static void test_short_direct(void **state) {
  const char *path = known_file("a", SIZE);
  for (int w = PREAD_DIRECT; w <= URING_DIRECT; w *= 4) {
    gather_table_source source;
    gather_reader *reader;
    if (!works(w)) continue;
    assert_int_equal(gather_table_source_open(path, &(gather_table_source_wishes){.direct = true}, &source, NULL), GATHER_OK);
    assert_int_equal(gather_reader_create(&(gather_reader_plan){engine_of(w), 2, BLOCKS * BLOCK, 1, NULL}, &reader, NULL), GATHER_OK);
    failing_short(1000);
    assert_int_equal(read_whole(reader, &source, NULL), GATHER_OK);
    failing_clear();
    failing_set(w == PREAD_DIRECT ? "pread direct" : "answer direct", INT_MAX, 0, 0);
    assert_int_equal(read_whole(reader, &source, NULL), GATHER_OK);
    assert_int_equal(failing_calls(), 1);
    gather_reader_destroy(reader);
    gather_table_source_close(&source);
    failing_clear();
  }
}

/* ---- the words for a ring that is refused */

static void test_refusals(void **state) {
  static const struct {
    int number;
    const char *words;
  } REFUSALS[] = {{ENOSYS, "the kernel has no io_uring, or hides it from this process"},
                  {EPERM, "io_uring is forbidden"},
                  {EACCES, "seccomp"},
                  {ENOMEM, "the limit on locked memory"},
                  {EMFILE, "too many files are open"},
                  {EXDEV, "errno 18"}};
  for (size_t n = 0; has_uring && n < sizeof REFUSALS / sizeof *REFUSALS; n++) {
    gather_error error = {0};
    gather_reader *reader;
    failing_set("io_uring_queue_init_params", 0, INT_MAX, REFUSALS[n].number);
    assert_int_equal(gather_engine_check(GATHER_ENGINE_URING, &error), GATHER_UNSUPPORTED);
    if (!strstr(error.message, REFUSALS[n].words)) fail_msg("%s", error.message);
    error.message[0] = '\0';
    assert_int_equal(gather_reader_create(&(gather_reader_plan){GATHER_ENGINE_URING, 1, BLOCK, 1, NULL}, &reader, &error),
                     GATHER_UNSUPPORTED);
    assert_non_null(strstr(error.message, REFUSALS[n].words));
    assert_null(reader);
  }
}

static int leave(void **state) {
  failing_clear();
  return known_leave(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, known_enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_each_call),    TEST(test_ring_that_stops), TEST(test_without), TEST(test_memory), TEST(test_short_reads),
      TEST(test_storms),       TEST(test_bad_block),       TEST(test_never),   TEST(test_cut),    TEST(test_bad_block_of_many),
      TEST(test_short_direct), TEST(test_refusals)};
  return cmocka_run_group_tests(tests, find_out, NULL);
}
