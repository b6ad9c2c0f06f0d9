/* SPDX-License-Identifier: MIT
 *
 * test_stress_mapped.c: mapped memory that is no table: what cannot be read is an error, in the call and in its tasks.
 */
#include "table/test_stress.h"

enum { PAGE = 4096, PAGES = 64, BYTES = PAGE * PAGES };

static known_file file;
static gather_pool *pool;

static int prepare(void **unused) {
  file = make_file("mapped", BYTES);
  return gather_pool_create(4, &pool, NULL) == GATHER_OK ? 0 : -1;
}

static int finish(void **unused) {
  gather_pool_destroy(pool);
  remove_file(&file);
  return 0;
}

/* What a body does with the mapping. */
typedef struct reading {
  const volatile unsigned char *memory;
  int64_t first, pages; /* pages that it reads */
  bool tasks;           /* one for each page, if it has an executor */
  atomic_int read;
  bool called, with_executor;
  gather_status says;
} reading;

static void read_page(void *argument, int64_t i) {
  reading *r = argument;
  (void)r->memory[(r->first + i) * PAGE];
  atomic_fetch_add(&r->read, 1);
}

static gather_status body(void *argument, const gather_executor *executor, gather_error *error) {
  reading *r = argument;
  r->called = true, r->with_executor = executor != NULL;
  if (r->tasks && executor)
    executor->parallel_for(executor->context, r->pages, read_page, r);
  else
    for (int64_t i = 0; i < r->pages; i++) read_page(r, i);
  if (r->says != GATHER_OK) return gather_error_set(error, r->says, "the body's own error");
  return GATHER_OK;
}

static char *map_file(void) {
  write_whole(file.path, file.data, file.bytes);
  int fd = open(file.path, O_RDONLY);
  char *map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  assert_true(map != MAP_FAILED);
  return map;
}

static bool bus_is_blocked(void) {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  return sigismember(&now, SIGBUS) == 1;
}

/* ---- rows of a table: which pages are read, and what comes of it, once the file has 8 pages left */

typedef struct row {
  int64_t first, pages;
  bool executor, tasks;
  gather_status says, wanted;
} row;

static const row rows[] = {
    {0, 8, false, false, GATHER_OK, GATHER_OK},
    {0, 8, true, true, GATHER_OK, GATHER_OK},
    {0, 8, true, false, GATHER_RANK_MISMATCH, GATHER_RANK_MISMATCH},
    {0, 0, false, false, GATHER_INDEX_OUT_OF_RANGE, GATHER_INDEX_OUT_OF_RANGE},
    {20, 1, false, false, GATHER_OK, GATHER_IO_ERROR},
    {0, PAGES, false, false, GATHER_OK, GATHER_IO_ERROR},
    {0, PAGES, true, false, GATHER_OK, GATHER_IO_ERROR},
    {0, PAGES, true, true, GATHER_OK, GATHER_IO_ERROR},
    {63, 1, true, true, GATHER_RANK_MISMATCH, GATHER_IO_ERROR},
};

static void what_cannot_be_read_is_an_error(void **unused) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *map = map_file();
    assert_int_equal(truncate(file.path, 8 * PAGE), 0);
    reading r = {.memory = (unsigned char *)map, .first = rows[i].first, .pages = rows[i].pages};
    r.tasks = rows[i].tasks, r.says = rows[i].says;
    const gather_mapped mapped[2] = {{file.data, file.bytes, "elsewhere", 0}, {map, BYTES, file.path, 100}};
    gather_error error;
    for (int again = 0; again < 3; again++) {
      const gather_status status = gather_mapped_call(mapped, 2, rows[i].executor ? gather_pool_executor(pool) : NULL, body, &r, &error);
      assert_int_equal(status, rows[i].wanted);
      assert_true(r.called && r.with_executor == rows[i].executor && !bus_is_blocked());
      if (status == GATHER_OK) continue;
      if (status != GATHER_IO_ERROR) {
        assert_string_equal(error.message, "the body's own error");
        continue;
      }
      assert_string_equal(error.file, file.path);
      assert_true(error.file_offset >= 100 + 8 * PAGE && (error.file_offset - 100) % PAGE == 0);
      if (!rows[i].tasks && !rows[i].first) assert_int_equal(error.file_offset, 100 + 8 * PAGE);
    }
    munmap(map, BYTES);
  }
}

static void counts(void **unused) {
  gather_error error;
  reading r = {.pages = 0};
  const gather_mapped mapped[GATHER_MAPPED_MOST + 1] = {{file.data, 1, NULL, 0}};
  assert_int_equal(gather_mapped_call(mapped, GATHER_MAPPED_MOST, NULL, body, &r, &error), GATHER_OK);
  r.called = false;
  assert_int_equal(gather_mapped_call(mapped, 0, NULL, body, &r, &error), GATHER_USAGE);
  assert_int_equal(gather_mapped_call(mapped, GATHER_MAPPED_MOST + 1, NULL, body, &r, &error), GATHER_USAGE);
  assert_int_equal(gather_mapped_call(NULL, 1, NULL, body, &r, &error), GATHER_USAGE);
  assert_false(r.called);
}

/* A fault that is not in the ranges ends the process, as without the call. */
static void others_end_the_process(void **unused) {
  char *map = map_file();
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    become_child(30);
    if (truncate(file.path, PAGE) != 0) _exit(1);
    reading r = {.memory = (unsigned char *)map, .first = 9, .pages = 1};
    const gather_mapped mapped = {map, 8 * PAGE, file.path, 0};
    (void)!gather_mapped_call(&mapped, 1, NULL, body, &r, NULL);
    _exit(2);
  }
  assert_int_equal(end_of(child), 1000 + SIGBUS);
  munmap(map, BYTES);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_read_is_an_error), cmocka_unit_test(counts),
                                     cmocka_unit_test(others_end_the_process)};
  return cmocka_run_group_tests(tests, prepare, finish);
}
