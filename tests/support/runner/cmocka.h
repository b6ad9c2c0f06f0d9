/* SPDX-License-Identifier: MIT
 *
 * cmocka.h: what the core's tests use of cmocka, for builds of the core alone (GATHER_COMPONENTS=core), which need nothing but a C
 * compiler. The same tests run on cmocka itself in every other build. One program includes it in one or several files; only the one with
 * main runs groups.
 */
#ifndef GATHER_TESTS_SUPPORT_RUNNER_CMOCKA_H
#define GATHER_TESTS_SUPPORT_RUNNER_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

typedef struct CMUnitTest {
  const char *name;
  CMUnitTestFunction test_func;
  CMFixtureFunction setup_func, teardown_func;
} CMUnitTest;

#define cmocka_unit_test_setup_teardown(test, setup, teardown) \
  { #test, test, setup, teardown }
#define cmocka_unit_test_setup(test, setup) cmocka_unit_test_setup_teardown(test, setup, NULL)
#define cmocka_unit_test_teardown(test, teardown) cmocka_unit_test_setup_teardown(test, NULL, teardown)
#define cmocka_unit_test(test) cmocka_unit_test_setup_teardown(test, NULL, NULL)

/* ---- how a test ends. Where no test runs, as in a group's setup, a failure ends the program. */

enum { CMOCKA_PASSED, CMOCKA_FAILED, CMOCKA_SKIPPED };

/* One for each program: files that include this header share it. */
struct cmocka_running {
  jmp_buf end;
  int runs;
};
__attribute__((weak)) struct cmocka_running cmocka_running;

__attribute__((noreturn, unused)) static void cmocka_end(int how) {
  (void)fflush(stdout), (void)fflush(stderr);
  if (!cmocka_running.runs) exit(EXIT_FAILURE);
  longjmp(cmocka_running.end, how);
}

__attribute__((format(printf, 1, 2), unused)) static void print_message(const char *text, ...) {
  va_list more;
  va_start(more, text);
  (void)vprintf(text, more);
  va_end(more);
  (void)fflush(stdout);
}
#define print_error print_message

__attribute__((format(printf, 3, 4), noreturn, unused)) static void cmocka_fail(const char *file, int line, const char *text, ...) {
  va_list more;
  va_start(more, text);
  (void)printf("%s:%d: ", file, line);
  (void)vprintf(text, more);
  (void)printf("\n");
  va_end(more);
  cmocka_end(CMOCKA_FAILED);
}

#define fail_msg(...) cmocka_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail() cmocka_fail(__FILE__, __LINE__, "failed")
#define skip() cmocka_end(CMOCKA_SKIPPED)

/* ---- assertions. Integers of all types are compared as uintmax_t, as cmocka does. */

__attribute__((unused)) static void cmocka_true(int truth, const char *what, const char *file, int line) {
  if (!truth) cmocka_fail(file, line, "not so: %s", what);
}
__attribute__((unused)) static void cmocka_equal(uintmax_t a, uintmax_t b, int wanted, const char *file, int line) {
  if ((a == b) != wanted) cmocka_fail(file, line, "%jd %s %jd", (intmax_t)a, wanted ? "!=" : "==", (intmax_t)b);
}
__attribute__((unused)) static void cmocka_in_range(uintmax_t a, uintmax_t low, uintmax_t high, const char *file, int line) {
  if (a < low || a > high) cmocka_fail(file, line, "%ju is not in [%ju, %ju]", a, low, high);
}
__attribute__((unused)) static void cmocka_string(const char *a, const char *b, const char *file, int line) {
  if (strcmp(a, b) != 0) cmocka_fail(file, line, "\"%s\" != \"%s\"", a, b);
}
__attribute__((unused)) static void cmocka_memory(const void *a, const void *b, size_t bytes, const char *file, int line) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < bytes; i++)
    if (x[i] != y[i]) cmocka_fail(file, line, "byte %zu of %zu: 0x%02x != 0x%02x", i, bytes, x[i], y[i]);
}

#define assert_true(truth) cmocka_true(!!(truth), #truth, __FILE__, __LINE__)
#define assert_false(truth) cmocka_true(!(truth), "!(" #truth ")", __FILE__, __LINE__)
#define assert_null(pointer) cmocka_true((pointer) == NULL, #pointer " == NULL", __FILE__, __LINE__)
#define assert_non_null(pointer) cmocka_true((pointer) != NULL, #pointer " != NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b) cmocka_true((const void *)(a) == (const void *)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b) cmocka_equal((uintmax_t)(a), (uintmax_t)(b), 1, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) cmocka_equal((uintmax_t)(a), (uintmax_t)(b), 0, __FILE__, __LINE__)
#define assert_in_range(a, low, high) cmocka_in_range((uintmax_t)(a), (uintmax_t)(low), (uintmax_t)(high), __FILE__, __LINE__)
#define assert_string_equal(a, b) cmocka_string(a, b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, bytes) cmocka_memory(a, b, bytes, __FILE__, __LINE__)

/* ---- groups */

/* Runs a test with its setup and teardown; the teardown also after a failure. */
__attribute__((unused)) static int cmocka_run(const CMUnitTest *test, void **state) {
  static int how; /* not a local: it lives through longjmp */
  how = CMOCKA_PASSED;
  if (test->setup_func && test->setup_func(state) != 0) return CMOCKA_FAILED;
  cmocka_running.runs = 1;
  const int ended = setjmp(cmocka_running.end);
  if (ended)
    how = ended;
  else
    test->test_func(state);
  cmocka_running.runs = 0;
  if (test->teardown_func && test->teardown_func(state) != 0) how = CMOCKA_FAILED;
  return how;
}

/* Returns how many tests failed. */
__attribute__((unused)) static int _cmocka_run_group_tests(const char *group, const CMUnitTest *tests, size_t count,
                                                           CMFixtureFunction setup, CMFixtureFunction teardown) {
  static const char *const ENDS[] = {"      OK", " FAILED ", "SKIPPED "};
  void *shared = NULL;
  int failed = 0, ends[3] = {0};
  print_message("[==========] %s: %zu tests\n", group, count);
  if (setup && setup(&shared) != 0) return print_message("[ FAILED ] %s: its setup\n", group), (int)count;
  for (size_t i = 0; i < count; i++) {
    void *state = shared;
    print_message("[ RUN      ] %s\n", tests[i].name);
    const int how = cmocka_run(&tests[i], &state);
    print_message("[ %s ] %s\n", ENDS[how], tests[i].name);
    ends[how]++;
  }
  failed = ends[CMOCKA_FAILED];
  if (teardown && teardown(&shared) != 0) failed++, print_message("[ FAILED ] %s: its teardown\n", group);
  print_message("[==========] %s: %d passed, %d failed, %d skipped\n", group, ends[CMOCKA_PASSED], failed, ends[CMOCKA_SKIPPED]);
  return failed;
}

#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
  _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)

#endif
