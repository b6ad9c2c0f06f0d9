/* SPDX-License-Identifier: MIT
 *
 * test_failures_files.c: files that are cut while they are read, or have blocks that cannot be read, and the words for io_uring where it
 * is refused.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "support/unit.h"
#include "table/failing.h"
#include "table/ways.h"

enum { BLOCK = 4096, BLOCKS = 24, SIZE = BLOCKS * BLOCK - 100 };

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
  for (int64_t n = 0; n < BLOCKS; n++) {
    int64_t left = SIZE - n * BLOCK;
    gather_read read = {.source = &source, .offset = n * BLOCK, .bytes = BLOCK, .needed = left < BLOCK ? left : BLOCK, .tag = n * BLOCK};
    assert_int_equal(gather_reader_begin(reader, &read, NULL), GATHER_OK);
  }
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
static void test_bad_block(void **state) {
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
  const struct CMUnitTest tests[] = {TEST(test_cut), TEST(test_bad_block), TEST(test_short_direct), TEST(test_refusals)};
  return cmocka_run_group_tests(tests, find_out, NULL);
}
