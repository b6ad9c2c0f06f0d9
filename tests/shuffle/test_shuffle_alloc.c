/* SPDX-License-Identifier: MIT
 *
 * test_shuffle_alloc.c: each allocation of a shuffle fails once: the status says so, nothing leaks, and nothing that is left is wrong.
 */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "shuffle/shuffled.h"

void *__real_gather_alloc(int64_t bytes);
void __real_gather_free(void *memory);
char *__real_realpath(const char *path, char *room);
void *__wrap_gather_alloc(int64_t bytes);
void __wrap_gather_free(void *memory);
char *__wrap_realpath(const char *path, char *room);

static atomic_long asked, alive, fail_at = -1; /* allocations asked for; those not freed; the one that fails */

static bool fails(void) { return atomic_fetch_add(&asked, 1) == atomic_load(&fail_at); }

void *__wrap_gather_alloc(int64_t bytes) {
  void *memory = fails() ? NULL : __real_gather_alloc(bytes);
  if (memory) atomic_fetch_add(&alive, 1);
  return memory;
}

void __wrap_gather_free(void *memory) {
  if (memory) atomic_fetch_sub(&alive, 1);
  __real_gather_free(memory);
}

char *__wrap_realpath(const char *path, char *room) {
  if (!room && fails()) {
    errno = ENOMEM;
    return NULL;
  }
  char *real = __real_realpath(path, room);
  if (real && !room) atomic_fetch_add(&alive, 1);
  return real;
}

/* Returns how many allocations there were. */
static long fail_each(const gather_shuffle_options *options, const gather_tensor *order, const int64_t *rows) {
  for (long k = 0;; k++) {
    gather_error error = dirty_error();
    atomic_store(&asked, 0);
    atomic_store(&fail_at, k);
    const long before = atomic_load(&alive);
    const gather_status status = shuffled_run(options, order, NULL, &error);
    const bool failed = atomic_load(&asked) > k;
    atomic_store(&fail_at, -1);
    assert_int_equal(atomic_load(&alive), before);
    if (status == GATHER_OK) { /* the last one, or one that can be done without */
      shuffled_check(rows, ROWS);
      assert_false(shuffled_exists(FOLDER));
      if (!failed) return k;
      continue;
    }
    assert_status(status, GATHER_OUT_OF_MEMORY);
    assert_error(&error, GATHER_OUT_OF_MEMORY);
    assert_false(shuffled_exists("o.npy"));
    if (!shuffled_exists(FOLDER)) continue;
    gather_shuffle_options again = *options;
    again.resume = true;
    assert_status(shuffled_run(&again, order, NULL, &error), GATHER_OK);
    shuffled_check(rows, ROWS);
    assert_false(shuffled_exists(FOLDER));
  }
}

static void allocations(void **state) {
  static int64_t rows[ROWS];
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  (void)state;
  assert_status(gather_shuffle_rows(4, ROWS, 0, ROWS, rows, NULL), GATHER_OK);
  for (int32_t passes = 1; passes <= 2; passes++) {
    gather_shuffle_options options = shuffled_options(4, passes);
    options.replace = true; /* which asks for the real path */
    assert_true(fail_each(&options, NULL, rows) > 10);
    options.seed = -1;
    assert_true(fail_each(&options, &order, rows) > 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(allocations)};
  return cmocka_run_group_tests(tests, shuffled_begin, shuffled_end);
}
