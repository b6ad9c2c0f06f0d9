/* SPDX-License-Identifier: MIT
 *
 * test_machine.c: what the library says of the machine, and the built-in pool.
 */
#include "unit/support.h"

static void the_machine(void **state) {
  (void)state;
  assert_true(gather_cpu_count() >= 1);
  assert_non_null(gather_cpu_features());
  assert_null(strstr(gather_cpu_features(), "  "));
  assert_true(gather_isa_name()[0] != 0);
  assert_true(gather_pool_library()[0] != 0);
  assert_ptr_equal(gather_isa_name(), gather_isa_name());
}

/* Counts how often each task ran. */
static void count_task(void *argument, int64_t i) {
  int *counts = argument;
  counts[i]++;
}

static void every_task_runs_once(void **state) {
  static const int64_t task_counts[] = {0, 1, 2, 3, 7, 8, 9, 1000};
  (void)state;
  for (int32_t threads = 0; threads <= 8; threads++) {
    gather_pool *pool = NULL;
    gather_error error;
    if (gather_pool_create(threads, &pool, &error) != GATHER_OK) fail_msg("%s", error.message);
    const gather_executor *executor = gather_pool_executor(pool);
    assert_non_null(executor);
    assert_true(executor->threads >= 1);
    if (strcmp(gather_pool_library(), "none") == 0)
      assert_int_equal(executor->threads, 1);
    else
      assert_int_equal(executor->threads, threads ? threads : gather_cpu_count());
    for (size_t n = 0; n < COUNT(task_counts); n++) {
      int counts[1000] = {0};
      executor->parallel_for(executor->context, task_counts[n], count_task, counts);
      for (int64_t i = 0; i < 1000; i++) assert_int_equal(counts[i], i < task_counts[n]);
    }
    gather_pool_destroy(pool);
  }
  gather_pool_destroy(NULL);
}

static void pools_that_cannot_be(void **state) {
  gather_pool *pool = NULL;
  gather_error error = dirty_error();
  (void)state;
  assert_status(gather_pool_create(-1, &pool, &error), GATHER_USAGE);
  assert_error(&error, GATHER_USAGE);
  assert_status(gather_pool_create(2, NULL, NULL), GATHER_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_machine),
      cmocka_unit_test(every_task_runs_once),
      cmocka_unit_test(pools_that_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
