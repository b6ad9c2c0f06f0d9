/* SPDX-License-Identifier: MIT
 *
 * test_clock.c: the time of day may be set while something is measured, and a tuning may be set while it is measured.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "core/plan/variants.c"
#include "core/system/clock.h"
#include "support/unit.h"
#include "support/wrapped.h"

static int64_t back;           /* seconds that the time of day has gone back so far */
static const char *set_tuning; /* the tuning that somebody else sets while the clock is read; NULL */
static const char *const WHEN[] = {"gather_instruction_4", "gather_instruction_8"};

/* The time of day steps back by an hour each time it is read. */
static void step(struct timespec *t) { t->tv_sec -= (time_t)(back += 3600); }

static void hook(void) {
  const char *name = set_tuning;
  set_tuning = NULL;
  if (name) assert_status(gather_tuning_set(name, 7, NULL), GATHER_OK);
}

WRAPPED(int, timespec_get, (struct timespec * t, int base)) {
  hook();
  int got = REAL(timespec_get)(t, base);
  step(t);
  return got;
}

WRAPPED(int, clock_gettime, (clockid_t clock, struct timespec *t)) {
  hook();
  int got = REAL(clock_gettime)(clock, t);
  if (clock == CLOCK_REALTIME) step(t);
  return got;
}

static void no_clock_goes_back(void **state) {
  int64_t (*const clocks[])(void) = {gather_clock, gather_clock_coarse, gather_thread_clock};
  for (size_t c = 0; c < COUNT(clocks); c++) {
    int64_t before = clocks[c]();
    for (int i = 0; i < 1000; i++) {
      int64_t now = clocks[c]();
      assert_true(now >= before);
      before = now;
    }
  }
}

static void a_tuning_that_is_set_while_it_is_measured_stays(void **state) {
  static const int64_t bytes[] = {4, 8};
  for (size_t i = 0; i < COUNT(WHEN); i++) {
    const char *isa;
    int64_t value;
    assert_status(gather_tuning_set(WHEN[i], -1, NULL), GATHER_OK);
    set_tuning = WHEN[i];
    bool pays = instruction_pays(bytes[i]);
    if (set_tuning) { /* nothing to measure */
      assert_null(gather_kernel_instruction(GATHER_WIDTH_4, bytes[i], &isa));
      set_tuning = NULL;
      continue;
    }
    assert_true(pays);
    assert_status(gather_tuning_get(WHEN[i], &value, NULL), GATHER_OK);
    assert_int_equal(value, 7);
  }
}

/* Back to "measure": whoever sets that meanwhile gets a measurement. */
static void a_measurement_is_kept(void **state) {
  int64_t value;
  assert_status(gather_tuning_set("gather_instruction_4", -1, NULL), GATHER_OK);
  bool pays = instruction_pays(4);
  assert_status(gather_tuning_get("gather_instruction_4", &value, NULL), GATHER_OK);
  assert_int_equal(value, pays);
}

TESTS(no_clock_goes_back, a_tuning_that_is_set_while_it_is_measured_stays, a_measurement_is_kept)
