/* SPDX-License-Identifier: MIT
 *
 * all_engines.h: setup and teardown of tests that go through every engine on a system that fails. Include it behind cmocka.h.
 */
#ifndef GATHER_TESTS_TABLE_ALL_ENGINES_H
#define GATHER_TESTS_TABLE_ALL_ENGINES_H

#include "gather/table.h"
#include "support/skip.h"
#include "table/failing.h"
#include "table/known.h"

/* As known_enter; says once if io_uring is missing here. */
static int all_engines_enter(void **state) {
  static bool told;
  gather_error error = {0};
  if (!told && gather_engine_check(GATHER_ENGINE_URING, &error) != GATHER_OK) {
    if (gather_test_required("io_uring")) return -1;
    print_message("SKIPPED io_uring: %s\n", error.message);
  }
  told = true;
  return known_enter(state);
}

static int all_engines_leave(void **state) {
  failing_clear();
  return known_leave(state);
}

#endif
