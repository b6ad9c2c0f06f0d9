/* SPDX-License-Identifier: MIT
 *
 * skip.h: skipping a C test. The skip is printed, and GATHER_TEST_REQUIRE=name[,name] (or all) turns it into a failure, so that
 * no test passes by not running. Include it behind cmocka.h.
 */
#ifndef GATHER_TESTS_SUPPORT_SKIP_H
#define GATHER_TESTS_SUPPORT_SKIP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether `name` stands in GATHER_TEST_REQUIRE, a list with commas. */
static inline int gather_test_required(const char *name) {
  const char *list = getenv("GATHER_TEST_REQUIRE");
  size_t bytes = strlen(name);
  while (list && *list) {
    size_t word = strcspn(list, ",");
    if ((word == bytes && memcmp(list, name, bytes) == 0) || (word == 3 && memcmp(list, "all", 3) == 0)) return 1;
    list += word + (list[word] == ',');
  }
  return 0;
}

/* Ends the running test as skipped, or as failed where it is required. */
#define GATHER_TEST_SKIP(name, why)                                                                 \
  do {                                                                                              \
    if (gather_test_required(name)) fail_msg("required by GATHER_TEST_REQUIRE: %s: %s", name, why); \
    print_message("SKIPPED %s: %s\n", name, why);                                                   \
    skip();                                                                                         \
  } while (0)

#endif
