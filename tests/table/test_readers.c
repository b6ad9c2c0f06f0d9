/* SPDX-License-Identifier: MIT
 *
 * test_readers.c: every engine, through the page cache and past it, on files of known bytes.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/skip.h"
#include "support/unit.h"
#include "table/known.h"
#include "table/reader.h"

enum { BLOCK = 4096, SIZE = (1 << 20) + 1234 };

/* TSan would end a child of fork() that starts threads. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }

static const struct way {
  gather_engine engine;
  bool direct;
} WAYS[] = {{GATHER_ENGINE_MMAP, false},
            {GATHER_ENGINE_PREAD, false},
            {GATHER_ENGINE_PREAD, true},
            {GATHER_ENGINE_URING, false},
            {GATHER_ENGINE_URING, true}};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

/* Whether a way works here; where not, that is printed once. */
static bool works(const struct way *way) {
  static bool told;
  gather_error error = {0};
  if (gather_engine_check(way->engine, &error) == GATHER_OK) return true;
  assert_int_equal(way->engine, GATHER_ENGINE_URING);
  assert_int_equal(error.status, GATHER_UNSUPPORTED);
  if (gather_test_required("io_uring")) fail_msg("required by GATHER_TEST_REQUIRE: io_uring: %s", error.message);
  if (!told) print_message("SKIPPED io_uring: %s\n", error.message);
  told = true;
  return false;
}

static void open_source(gather_table_source *source, const char *path, const struct way *way) {
  const gather_table_source_wishes wishes = {.direct = way->direct, .mapped = way->engine == GATHER_ENGINE_MMAP};
  gather_error error = {0};
  if (gather_table_source_open(path, &wishes, source, &error) != GATHER_OK) fail_msg("%s", error.message);
  static bool told;
  if (!way->direct || source->direct_fd >= 0) return;
  assert_int_not_equal(source->direct_errno, 0);
  if (gather_test_required("direct")) fail_msg("required by GATHER_TEST_REQUIRE: direct: %s", strerror(source->direct_errno));
  if (!told) print_message("SKIPPED direct: past the page cache: %s\n", strerror(source->direct_errno));
  told = true;
}

static gather_reader *make_reader(gather_engine engine, int32_t depth, int64_t slot_bytes) {
  gather_error error = {0};
  gather_reader *reader;
  const gather_reader_plan plan = {engine, depth, slot_bytes, 1, NULL};
  if (gather_reader_create(&plan, &reader, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(gather_reader_memory(reader), engine == GATHER_ENGINE_MMAP ? 0 : depth * slot_bytes);
  return reader;
}

static void begin(gather_reader *reader, const gather_table_source *source, int64_t offset, int64_t bytes, int64_t tag) {
  gather_error error = {0};
  int64_t left = source->size - offset;
  gather_read read = {.source = source, .offset = offset, .bytes = bytes, .needed = bytes < left ? bytes : left, .tag = tag};
  assert_true(gather_reader_has_room(reader, 0));
  if (gather_reader_begin(reader, &read, &error) != GATHER_OK) fail_msg("%s", error.message);
}

/* Finishes a read, whose bytes have to be right; its tag is its offset. */
static gather_read finish(gather_reader *reader) {
  gather_error error = {0};
  gather_read read;
  int number;
  if (gather_reader_finish(reader, &read, &number, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(number, 0);
  assert_int_equal(read.tag, read.offset);
  assert_true(known_is(read.data, read.offset, read.needed));
  return read;
}

static int64_t random_block(const gather_table_source *source) { return known_random((source->size + BLOCK - 1) / BLOCK) * BLOCK; }

/* Keeps as many reads in flight as there may be, and counts what comes against what was begun. */
static void read_many(gather_reader *reader, const gather_table_source *source, int32_t depth, int64_t slot_bytes, int count) {
  int64_t begun = 0, ended = 0;
  for (int n = 0, done = 0; done < count; done++) {
    for (; n < count && gather_reader_has_room(reader, 0); n++) {
      int64_t offset = random_block(source);
      begin(reader, source, offset, (known_random(slot_bytes / BLOCK) + 1) * BLOCK, offset);
      begun += offset;
    }
    assert_int_equal(gather_reader_has_room(reader, 0), n - done < depth);
    gather_read read = finish(reader);
    ended += read.offset;
    gather_reader_release(reader, &read);
  }
  assert_int_equal(begun, ended);
}

static void test_random(void **state) {
  const char *path = known_file("a", SIZE);
  static const int32_t DEPTHS[] = {1, 2, 7, 64, 300};
  for (int w = 0; w < WAY_COUNT; w++) {
    if (!works(&WAYS[w])) continue;
    gather_table_source source;
    open_source(&source, path, &WAYS[w]);
    for (int d = 0; d < 5; d++)
      for (int64_t slot_bytes = BLOCK; slot_bytes <= 8 * BLOCK; slot_bytes *= 8) {
        gather_reader *reader = make_reader(WAYS[w].engine, DEPTHS[d], slot_bytes);
        read_many(reader, &source, DEPTHS[d], slot_bytes, 400);
        gather_reader_destroy(reader);
      }
    gather_table_source_close(&source);
  }
}

/* Sizes about the edges of blocks; the whole file in one read, and each block. */
static void test_edges(void **state) {
  static const int64_t SIZES[] = {1, 2, 511, 512, 513, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, 3 * BLOCK - 1};
  for (int w = 0; w < WAY_COUNT; w++) {
    if (!works(&WAYS[w])) continue;
    gather_reader *reader = make_reader(WAYS[w].engine, 4, 4 * BLOCK);
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
      gather_table_source source;
      open_source(&source, known_file("a", SIZES[s]), &WAYS[w]);
      begin(reader, &source, 0, 4 * BLOCK, 0);
      gather_read whole = finish(reader);
      assert_int_equal(whole.needed, SIZES[s]);
      for (int64_t offset = 0; offset < SIZES[s]; offset += BLOCK) {
        begin(reader, &source, offset, BLOCK, offset);
        gather_read read = finish(reader);
        assert_int_equal((uintptr_t)read.data % BLOCK, 0);
        gather_reader_release(reader, &read);
      }
      assert_true(known_is(whole.data, 0, whole.needed)); /* it was not released */
      gather_reader_release(reader, &whole);
      gather_table_source_close(&source);
    }
    gather_reader_destroy(reader);
  }
}

/* What was read stays until it is released, in any order, whatever is read meanwhile. */
static void test_held(void **state) {
  enum { DEPTH = 16, ROUNDS = 50 };
  const char *path = known_file("a", SIZE);
  for (int w = 0; w < WAY_COUNT; w++) {
    if (!works(&WAYS[w])) continue;
    gather_table_source source;
    open_source(&source, path, &WAYS[w]);
    gather_reader *reader = make_reader(WAYS[w].engine, DEPTH, BLOCK);
    gather_read held[DEPTH];
    for (int n = 0; n < DEPTH; n++) begin(reader, &source, n * BLOCK, BLOCK, n * BLOCK);
    assert_false(gather_reader_has_room(reader, 0));
    for (int n = 0; n < DEPTH; n++) held[n] = finish(reader);
    assert_false(gather_reader_has_room(reader, 0));
    for (int n = 0; n < ROUNDS; n++) {
      int out = (int)known_random(DEPTH);
      gather_reader_release(reader, &held[out]);
      int64_t offset = random_block(&source);
      begin(reader, &source, offset, BLOCK, offset);
      held[out] = finish(reader);
      for (int k = 0; k < DEPTH; k++) assert_true(known_is(held[k].data, held[k].offset, held[k].needed));
    }
    gather_reader_drain(reader);                                             /* also what is held, */
    for (int n = 0; n < DEPTH; n++) gather_reader_release(reader, &held[n]); /* so that this does nothing */
    for (int n = 0; n < DEPTH; n++) begin(reader, &source, n * BLOCK, BLOCK, n * BLOCK);
    assert_false(gather_reader_has_room(reader, 0));
    gather_reader_drain(reader);
    read_many(reader, &source, DEPTH, BLOCK, 40);
    gather_reader_destroy(reader);
    gather_table_source_close(&source);
  }
}

/* A reader reads from several files at a time, and is not bound to the thread that made it. */
typedef struct {
  gather_reader *reader;
  const gather_table_source *sources;
} user;

static void *use(void *argument) {
  const user *u = argument;
  for (int n = 0; n < 60; n++) {
    while (gather_reader_has_room(u->reader, 0)) {
      const gather_table_source *source = &u->sources[known_random(2)];
      int64_t offset = random_block(source);
      begin(u->reader, source, offset, BLOCK, offset);
    }
    gather_read read = finish(u->reader);
    gather_reader_release(u->reader, &read);
  }
  gather_reader_drain(u->reader);
  return NULL;
}

static void test_threads_in_turn(void **state) {
  (void)known_file("b", 77777);
  (void)known_file("a", SIZE);
  for (int w = 0; w < WAY_COUNT; w++) {
    if (!works(&WAYS[w])) continue;
    gather_table_source sources[2];
    open_source(&sources[0], known_path("a"), &WAYS[w]);
    open_source(&sources[1], known_path("b"), &WAYS[w]);
    user u = {make_reader(WAYS[w].engine, 9, BLOCK), sources};
    for (int t = 0; t < 3; t++) {
      pthread_t thread;
      assert_int_equal(pthread_create(&thread, NULL, use, &u), 0);
      assert_int_equal(pthread_join(thread, NULL), 0);
    }
    (void)use(&u);
    gather_reader_destroy(u.reader);
    gather_table_source_close(&sources[0]);
    gather_table_source_close(&sources[1]);
  }
}

/* In a child of fork(): 0 where the reader can be forgotten, and another one made that reads. */
static int be_child(gather_reader *reader, const gather_table_source *source, gather_engine engine) {
  int open_before = known_open_descriptors();
  gather_reader_abandon(reader);
  if (known_open_descriptors() != open_before - (engine == GATHER_ENGINE_URING)) return 1;
#if defined(GATHER_TEST_EMULATED) /* qemu's processes crash where a child of fork() starts a thread */
  if (engine == GATHER_ENGINE_PREAD) return 0;
#endif
  const gather_reader_plan plan = {engine, 4, BLOCK, 1, NULL};
  gather_reader *own;
  if (gather_reader_create(&plan, &own, NULL) != GATHER_OK) return 2;
  gather_read read = {.source = source, .offset = BLOCK, .bytes = BLOCK, .needed = BLOCK};
  int number;
  if (gather_reader_begin(own, &read, NULL) != GATHER_OK) return 3;
  if (gather_reader_finish(own, &read, &number, NULL) != GATHER_OK) return 4;
  if (!known_is(read.data, BLOCK, BLOCK)) return 5;
  gather_reader_destroy(own);
  return 0;
}

/* The parent has reads in flight, and does not notice. */
static void test_fork(void **state) {
  const char *path = known_file("a", SIZE);
  for (int w = 0; w < WAY_COUNT; w++) {
    if (!works(&WAYS[w])) continue;
    gather_table_source source;
    open_source(&source, path, &WAYS[w]);
    gather_reader *reader = make_reader(WAYS[w].engine, 32, BLOCK);
    read_many(reader, &source, 32, BLOCK, 100);
    for (int64_t n = 0; n < 32; n++) begin(reader, &source, n * BLOCK, BLOCK, n * BLOCK);
    gather_read first = finish(reader);
    gather_reader_release(reader, &first);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(be_child(reader, &source, WAYS[w].engine));
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    for (int n = 1; n < 32; n++) {
      gather_read read = finish(reader);
      gather_reader_release(reader, &read);
    }
    read_many(reader, &source, 32, BLOCK, 100);
    gather_reader_destroy(reader);
    gather_table_source_close(&source);
  }
}

/* Offsets that do not fit 32 bits. */
static void test_far(void **state) {
  const int64_t far = ((int64_t)1 << 32) + 7 * BLOCK;
  const char *path = known_path("far");
  known_write(path, far, 3 * BLOCK);
  for (int w = 0; w < WAY_COUNT; w++) {
    if (!works(&WAYS[w])) continue;
    gather_table_source source;
    gather_error error = {0};
    if (WAYS[w].engine == GATHER_ENGINE_MMAP && sizeof(void *) == 4) {
      const gather_table_source_wishes wishes = {.mapped = true};
      assert_int_equal(gather_table_source_open(path, &wishes, &source, &error), GATHER_OVERFLOW);
      continue;
    }
    open_source(&source, path, &WAYS[w]);
    assert_int_equal(source.size, far + 3 * BLOCK);
    gather_reader *reader = make_reader(WAYS[w].engine, 2, 2 * BLOCK);
    begin(reader, &source, far + BLOCK, 2 * BLOCK, far + BLOCK);
    gather_read read = finish(reader);
    gather_reader_release(reader, &read);
    gather_reader_destroy(reader);
    gather_table_source_close(&source);
  }
}

/* What a caller does wrong is refused. */
static void test_misuse(void **state) {
  gather_table_source source;
  open_source(&source, known_file("a", SIZE), &WAYS[1]);
  gather_reader *reader;
  const gather_reader_plan bad[] = {{GATHER_ENGINE_AUTO, 1, BLOCK, 1, NULL},
                                    {GATHER_ENGINE_PREAD, 0, BLOCK, 1, NULL},
                                    {GATHER_ENGINE_PREAD, 1, 0, 1, NULL},
                                    {(gather_engine)9, 1, BLOCK, 1, NULL}};
  for (int n = 0; n < 4; n++) {
    assert_int_equal(gather_reader_create(&bad[n], &reader, NULL), GATHER_USAGE);
    assert_null(reader);
  }
  const gather_reader_plan huge = {GATHER_ENGINE_PREAD, 4096, INT64_MAX / BLOCK * BLOCK, 1, NULL};
  assert_int_equal(gather_reader_create(&huge, &reader, NULL), GATHER_OUT_OF_MEMORY);
  assert_int_equal(gather_engine_check((gather_engine)9, NULL), GATHER_USAGE);
  assert_int_equal(gather_engine_check(GATHER_ENGINE_AUTO, NULL), GATHER_OK);
  gather_reader_destroy(NULL);
  gather_reader_abandon(NULL);

  reader = make_reader(GATHER_ENGINE_PREAD, 1, BLOCK);
  gather_read read = {.source = &source, .bytes = 2 * BLOCK, .needed = 1};
  int number;
  assert_int_equal(gather_reader_finish(reader, &read, &number, NULL), GATHER_USAGE);
  assert_int_equal(gather_reader_begin(reader, &read, NULL), GATHER_USAGE);
  read.bytes = read.needed = BLOCK;
  assert_int_equal(gather_reader_begin(reader, &read, NULL), GATHER_OK);
  assert_int_equal(gather_reader_begin(reader, &read, NULL), GATHER_USAGE);
  gather_reader_drain(reader);
  gather_reader_destroy(reader);

  gather_error error = {0};
  reader = make_reader(GATHER_ENGINE_MMAP, 1, BLOCK);
  assert_int_equal(gather_reader_begin(reader, &read, &error), GATHER_IO_ERROR); /* it is not mapped */
  assert_true(gather_reader_has_room(reader, 0));
  gather_reader_destroy(reader);
  gather_table_source_close(&source);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, known_enter, known_leave)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_random), TEST(test_edges), TEST(test_held),  TEST(test_threads_in_turn),
                                     TEST(test_fork),   TEST(test_far),   TEST(test_misuse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
