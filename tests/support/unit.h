/* SPDX-License-Identifier: MIT
 *
 * unit.h: cmocka with what it needs, and short ways to describe tensors. For all C tests.
 */
#ifndef GATHER_TESTS_SUPPORT_UNIT_H
#define GATHER_TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gather/gather.h"

/* ---- programs of tests */

/* Runs the functions that a list with commas names, within a set-up of all and of each (NULL = none). Returns how many failed. */
static inline int run_named(char *names, const CMUnitTestFunction *functions, size_t count, CMFixtureFunction begin, CMFixtureFunction end,
                            CMFixtureFunction begin_each, CMFixtureFunction end_each) {
  static struct CMUnitTest tests[64];
  assert_true(count <= sizeof tests / sizeof *tests);
  for (size_t i = 0; i < count; i++) {
    tests[i].name = strtok(i ? NULL : names, ", ");
    tests[i].test_func = functions[i];
    tests[i].setup_func = begin_each;
    tests[i].teardown_func = end_each;
  }
  return _cmocka_run_group_tests("tests", tests, count, begin, end);
}

#define RUN_TESTS_IN(begin, end, begin_each, end_each, ...)                    \
  run_named((char[]){#__VA_ARGS__}, (const CMUnitTestFunction[]){__VA_ARGS__}, \
            sizeof((CMUnitTestFunction[]){__VA_ARGS__}) / sizeof(CMUnitTestFunction), begin, end, begin_each, end_each)

/* Runs tests in this order; within a set-up of all; of each. Returns how many failed. */
#define RUN_TESTS(...) RUN_TESTS_IN(NULL, NULL, NULL, NULL, __VA_ARGS__)
#define RUN_TESTS_WITHIN(begin, end, ...) RUN_TESTS_IN(begin, end, NULL, NULL, __VA_ARGS__)
#define RUN_TESTS_EACH(begin, end, ...) RUN_TESTS_IN(NULL, NULL, begin, end, __VA_ARGS__)

/* A program that does nothing but that. */
#define MAIN_IS(run) \
  int main(void) { return run; }
#define TESTS(...) MAIN_IS(RUN_TESTS(__VA_ARGS__))
#define TESTS_WITHIN(begin, end, ...) MAIN_IS(RUN_TESTS_WITHIN(begin, end, __VA_ARGS__))
#define TESTS_EACH(begin, end, ...) MAIN_IS(RUN_TESTS_EACH(begin, end, __VA_ARGS__))

/* ---- tensors */

/* The lengths of a tensor as an array: DIMS(3, 4). */
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

/* How many elements an array has. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The same items: for a list whose items are of different lengths, which the formatter would give a line each. */
#define ITEMS(...) __VA_ARGS__

/* The status, by name, so that a failure can be read. */
#define assert_status(got, want) assert_string_equal(gather_status_name(got), gather_status_name(want))

/* Writes a file with this content. */
static inline void put_content(const char *path, const void *content, size_t bytes) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(content, 1, bytes, file), bytes);
  assert_int_equal(fclose(file), 0);
}

static inline gather_tensor tensor_of(gather_type type, const void *data, int32_t rank, const int64_t *shape) {
  union {
    const void *from;
    void *to;
  } pointer = {data};
  gather_tensor tensor = {pointer.to, type, rank, 0, shape, NULL, 0, 0};
  return tensor;
}

static inline const gather_op *op_of(const char *name, const char *rules) {
  const gather_op *op = gather_op_find(name, rules);
  if (!op) fail_msg("no row %s %s", name, rules);
  return op;
}

/* Whether gather_apply and plans accept an operator without more than an axis and batch_dims: it has no function of its own, and
 * needs no dimension numbers. */
static inline bool is_generic(const gather_op *op) {
  return !gather_family_get(op->family)->function && op->family != GATHER_FAMILY_STABLEHLO;
}

static inline gather_options options_of(int64_t axis, int64_t batch_dims) {
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = axis;
  options.batch_dims = batch_dims;
  return options;
}

/* What every failure promises: the status, one line of text, and all fields reset. */
static inline void assert_error(const gather_error *error, gather_status status) {
  assert_status(error->status, status);
  assert_true(memchr(error->message, 0, sizeof error->message) != NULL);
  assert_true(error->message[0] != 0);
  assert_null(strchr(error->message, '\n'));
  assert_true(memchr(error->file, 0, sizeof error->file) != NULL);
  if (status == GATHER_INDEX_OUT_OF_RANGE) return;
  assert_int_equal(error->axis, -1);
  assert_int_equal(error->position_rank, -1);
}

/* Fills an error with what no function leaves there. */
static inline gather_error dirty_error(void) {
  gather_error error;
  memset(&error, 0x5A, sizeof error);
  return error;
}

#endif
