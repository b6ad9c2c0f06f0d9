/* SPDX-License-Identifier: MIT
 *
 * test_machine.c: what the library says of the machine, and the built-in pool.
 */
#if defined(__linux__)
#include <unistd.h>
#endif
#include <stdio.h>
#include <stdlib.h>

#include "kernel/kernel.h"
#include "unit/support.h"

static void the_machine(void **state) {
  (void)state;
  assert_true(gather_cpu_count() >= 1);
  assert_true(gather_usable_memory() >= 1 << 20); /* test_onnxruntime_table_files.py tries a control group */
  assert_non_null(gather_cpu_features());
  assert_null(strstr(gather_cpu_features(), "  "));
  assert_true(gather_isa_name()[0] != 0);
  assert_true(gather_pool_library()[0] != 0);
  assert_ptr_equal(gather_isa_name(), gather_isa_name());
}

/* Each row of isa.def can be made the strongest one; rows that do not run here leave it to a weaker one. What is said of the
 * number that limits it names every row. */
static void instruction_sets(void **state) {
  bool built, runs;
  const char *name, *strongest = "portable";
  int count = 0;
  (void)state;
  assert_string_equal(gather_tuning_at(0)->name, "isa");
  for (; (name = gather_isa_at(count, &built, &runs)); count++) {
    char text[40];
    assert_true(built || !runs);
    if (runs) strongest = name;
    assert_status(gather_tuning_set("isa", count, NULL), GATHER_OK);
    assert_string_equal(gather_isa_name(), strongest);
    snprintf(text, sizeof text, " %d %s", count, name);
    assert_non_null(strstr(gather_tuning_at(0)->meaning, text));
  }
  assert_true(count > 1);
  assert_string_equal(gather_isa_at(0, &built, &runs), "portable");
  assert_true(runs);
  assert_null(gather_isa_at(-1, &built, &runs));
  assert_status(gather_tuning_set("isa", gather_tuning_at(0)->initial, NULL), GATHER_OK);
  assert_string_equal(gather_isa_name(), strongest);
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

/* What memory holds stays; memory round it is left alone, however it lies. */
static void huge_pages(void **state) {
  enum { BYTES = 8 << 20 };
  char *memory = malloc(BYTES);
  (void)state;
  assert_non_null(memory);
  memset(memory, 0x5A, BYTES);
  gather_status status = gather_advise_huge_pages(memory, BYTES);
  if (status != GATHER_OK) assert_status(status, GATHER_UNSUPPORTED);
#if defined(__linux__)
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0) assert_status(status, GATHER_OK);
#endif
  for (size_t skip = 0; skip < 3; skip++)
    for (size_t bytes = 0; bytes < 9000; bytes += 1000)
      assert_status(gather_advise_huge_pages(memory + skip, bytes), status);
  assert_status(gather_advise_huge_pages(NULL, 0), status);
  for (size_t i = 0; i < BYTES; i++) assert_int_equal(memory[i], 0x5A);
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_machine),          cmocka_unit_test(instruction_sets),     cmocka_unit_test(huge_pages),
      cmocka_unit_test(every_task_runs_once), cmocka_unit_test(pools_that_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
