/* SPDX-License-Identifier: MIT
 *
 * test_machine.c: what the library says of the machine, and the built-in pool.
 */
#if defined(__linux__)
#include <unistd.h>
#endif

#include "core/kernel/dispatch.c"
#include "core/system/machine.h"
#include "core/thread/pool.h"
#include "support/machines.h"
#include "support/unit.h"

static void the_machine(void **state) {
  assert_true(gather_cpu_count() >= 1);
  assert_true(gather_usable_memory() >= 1 << 20); /* test_onnxruntime_table_files.py tries a control group */
  assert_non_null(gather_cpu_features());
  assert_null(strstr(gather_cpu_features(), "  "));
  assert_true(gather_isa_name()[0] != 0);
  assert_true(gather_pool_library()[0] != 0);
  assert_ptr_equal(gather_isa_name(), gather_isa_name());
  gather_machine machine = GATHER_MACHINE_INIT, shorter = {.size = offsetof(gather_machine, usable_memory), .isa = "kept"};
  gather_machine_describe(&machine);
  assert_int_equal(machine.size, sizeof machine);
  assert_int_equal(machine.cpus, gather_cpu_count());
  assert_true(machine.usable_memory >= 1 << 20);
  assert_string_equal(machine.cpu_features, gather_cpu_features());
  assert_string_equal(machine.isa, gather_isa_name());
  assert_string_equal(machine.pool, gather_pool_library());
  gather_machine_describe(&shorter);
  assert_int_equal(shorter.cpus, machine.cpus);
  assert_string_equal(shorter.isa, "kept");
}

/* Each row of isa.def can be made the strongest one; rows that do not run here leave it to a weaker one. What is said of the
 * number that limits it names every row. */
static void instruction_sets(void **state) {
  bool built = false, runs = false;
  const char *name, *strongest = "portable";
  int count = 0;
  assert_string_equal(gather_tuning_at(0)->name, "isa");
  for (; (name = machine_isa_at(count, &built, &runs)); count++) {
    char text[40];
    assert_true(built || !runs);
    if (runs) strongest = name;
    assert_status(gather_tuning_set("isa", count, NULL), GATHER_OK);
    assert_string_equal(gather_isa_name(), strongest);
    snprintf(text, sizeof text, " %d %s", count, name);
    assert_non_null(strstr(gather_tuning_at(0)->meaning, text));
  }
  assert_true(count > 1);
  assert_string_equal(machine_isa_at(0, &built, &runs), "portable");
  assert_true(runs);
  assert_null(machine_isa_at(-1, &built, &runs));
  assert_status(gather_tuning_set("isa", gather_tuning_at(0)->initial, NULL), GATHER_OK);
  assert_string_equal(gather_isa_name(), strongest);
}

/* The words of CPUs: each kind is used only if it has all of what its kernels need, and the system keeps its registers. */
static void x86_words(void **state) {
  enum { AVX = 1 << 28, FMA = 1 << 12, F16C = 1 << 29, SSE42 = 1 << 20, ALL_C = AVX | FMA | F16C | SSE42 };
  enum { AVX2 = 1 << 5, F = 1 << 16, DQ = 1 << 17, BW = 1 << 30, VBMI = 1 << 1 };
  const uint32_t vl = UINT32_C(1) << 31, all_b = AVX2 | F | DQ | BW | vl;
#if defined(__APPLE__)
  const char *const without_512 = "sse4.2 avx2 avx512 avx512vbmi"; /* it keeps them from their first use on */
#else
  const char *const without_512 = "sse4.2 avx2";
#endif
  const struct {
    uint32_t one_c, seven_b, seven_c, kept;
    const char *features;
  } CPUS[] = {{0, 0, 0, 0, ""},
              {SSE42, 0, 0, 0x07, "sse4.2"},
              {ALL_C, all_b, VBMI, 0xe7, "sse4.2 avx2 avx512 avx512vbmi"},
              {ALL_C, all_b, 0, 0xe7, "sse4.2 avx2 avx512"},
              {ALL_C, AVX2, VBMI, 0xe7, "sse4.2 avx2"},
              {ALL_C, AVX2, 0, 0x07, "sse4.2 avx2"},
              {ALL_C & ~FMA, all_b, VBMI, 0xe7, "sse4.2"},
              {ALL_C & ~F16C, all_b, VBMI, 0xe7, "sse4.2"},
              {ALL_C & ~AVX, all_b, VBMI, 0xe7, "sse4.2"},
              {ALL_C, all_b & ~(uint32_t)AVX2, VBMI, 0xe7, "sse4.2"},
              {ALL_C, all_b & ~(uint32_t)F, VBMI, 0xe7, "sse4.2 avx2"},
              {ALL_C, all_b & ~(uint32_t)DQ, VBMI, 0xe7, "sse4.2 avx2"},
              {ALL_C, all_b & ~(uint32_t)BW, VBMI, 0xe7, "sse4.2 avx2"},
              {ALL_C, all_b & ~vl, VBMI, 0xe7, "sse4.2 avx2"},
              {ALL_C, all_b, VBMI, 0, "sse4.2"},    /* the system cannot be asked, or keeps none */
              {ALL_C, all_b, VBMI, 0x03, "sse4.2"}, /* those of SSE alone */
              {ALL_C, all_b, VBMI, 0x07, without_512}};
  for (size_t i = 0; i < COUNT(CPUS); i++) {
    const uint32_t bits = bits_of_x86(CPUS[i].one_c, CPUS[i].seven_b, CPUS[i].seven_c, CPUS[i].kept);
    if (strcmp(features_of(bits), CPUS[i].features)) fail_msg("CPU %d: '%s', not '%s'", (int)i, features_of(bits), CPUS[i].features);
  }
  assert_string_equal(features_of(GATHER_CPU_NEON), "neon");
  assert_string_equal(features_of(GATHER_CPU_NEON | GATHER_CPU_SVE), "neon sve");
  assert_string_equal(gather_cpu_features(), features_of(gather_cpu_bits()));
}

/* Parameters by name and by number; a name that is none changes nothing. */
static void tuning_parameters(void **state) {
  static const char *const UNKNOWN[] = {NULL, "", "is", "isa ", "ISA", "no_such_parameter"};
  gather_error error;
  int64_t value = 7;
  for (int32_t i = 0; gather_tuning_at(i); i++) {
    const gather_tuning *tuning = gather_tuning_at(i);
    assert_status(gather_tuning_set(tuning->name, 1000 + i, &error), GATHER_OK);
    assert_status(gather_tuning_get(tuning->name, &value, &error), GATHER_OK);
    assert_int_equal(value, 1000 + i);
    assert_status(gather_tuning_set(tuning->name, tuning->initial, &error), GATHER_OK);
  }
  assert_null(gather_tuning_at(-1));
  for (size_t i = 0; i < COUNT(UNKNOWN); i++) {
    value = 7, error = dirty_error();
    assert_status(gather_tuning_get(UNKNOWN[i], &value, &error), GATHER_NAME_NOT_FOUND);
    assert_error(&error, GATHER_NAME_NOT_FOUND);
    assert_int_equal(value, 7);
    error = dirty_error();
    assert_status(gather_tuning_set(UNKNOWN[i], 1, &error), GATHER_NAME_NOT_FOUND);
    assert_error(&error, GATHER_NAME_NOT_FOUND);
    assert_non_null(strstr(error.message, UNKNOWN[i] ? UNKNOWN[i] : "gather_tuning_set: name is NULL"));
  }
  assert_status(gather_tuning_get(NULL, &value, &error), GATHER_NAME_NOT_FOUND);
  assert_string_equal(error.message, "gather_tuning_get: name is NULL");
  assert_status(gather_tuning_get(gather_tuning_at(0)->name, NULL, &error), GATHER_USAGE); /* that one exists */
  assert_string_equal(error.message, "gather_tuning_get: value is NULL");
}

/* Counts how often each task ran. */
static void count_task(void *argument, int64_t i) {
  int *counts = argument;
  counts[i]++;
}

static void every_task_runs_once(void **state) {
  static const int64_t task_counts[] = {0, 1, 2, 3, 7, 8, 9, 1000};
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
  assert_status(gather_pool_create(-1, &pool, &error), GATHER_USAGE);
  assert_error(&error, GATHER_USAGE);
  assert_status(gather_pool_create(2, NULL, NULL), GATHER_USAGE);
}

/* What memory holds stays; memory round it is left alone, however it lies. */
static void huge_pages(void **state) {
  enum { BYTES = 8 << 20 };
  char *memory = malloc(BYTES);
  assert_non_null(memory);
  memset(memory, 0x5A, BYTES);
  gather_status status = gather_advise_huge_pages(memory, BYTES);
  if (status != GATHER_OK) assert_status(status, GATHER_UNSUPPORTED);
#if defined(__linux__)
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0) assert_status(status, GATHER_OK);
#endif
  for (size_t skip = 0; skip < 3; skip++)
    for (size_t bytes = 0; bytes < 9000; bytes += 1000) assert_status(gather_advise_huge_pages(memory + skip, bytes), status);
  assert_status(gather_advise_huge_pages(NULL, 0), status);
  for (size_t i = 0; i < BYTES; i++) assert_int_equal(memory[i], 0x5A);
  free(memory);
}

TESTS(the_machine, instruction_sets, huge_pages, every_task_runs_once, pools_that_cannot_be, x86_words, tuning_parameters)
