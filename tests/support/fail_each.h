/* SPDX-License-Identifier: MIT
 *
 * fail_each.h: every allocation, and every piece that an arena is asked for, fails once: that is what is said, and nothing is left
 * behind. GATHER_TEST_HOSTILE=n, for slow emulators: every n-th piece. The linker puts the functions below in the place of the
 * library's own: gather_fail_allocations (tests/CMakeLists.txt). Where it cannot, what is tested runs once.
 */
#ifndef GATHER_TESTS_SUPPORT_FAIL_EACH_H
#define GATHER_TESTS_SUPPORT_FAIL_EACH_H

#include <stdlib.h>

#include "core/base/arena.h"
#include "support/unit.h"

#ifdef GATHER_TEST_WRAPS

void *__real_gather_alloc(int64_t bytes);
void __real_gather_free(void *memory);
void *__real_gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes);
char *__real_gather_arena_text(gather_arena *arena, const char *text, size_t bytes);
void *__wrap_gather_alloc(int64_t bytes);
void __wrap_gather_free(void *memory);
void *__wrap_gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes);
char *__wrap_gather_arena_text(gather_arena *arena, const char *text, size_t bytes);

static long asked, alive, fail_at = -1; /* pieces asked for; blocks not freed; the piece that fails */

static inline bool nothing_is_left(void) { return alive == 0; }

/* A piece that fails: the place for a debugger to stop at. */
static int fail_hit(void) { return 1; }

static int fails_now(void) { return asked++ == fail_at && fail_hit(); }

void *__wrap_gather_alloc(int64_t bytes) {
  void *memory = fails_now() ? NULL : __real_gather_alloc(bytes);
  if (memory) alive++;
  return memory;
}

void __wrap_gather_free(void *memory) {
  if (memory) alive--;
  __real_gather_free(memory);
}

void *__wrap_gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes) {
  return fails_now() ? NULL : __real_gather_arena_take(arena, count, bytes);
}

char *__wrap_gather_arena_text(gather_arena *arena, const char *text, size_t bytes) {
  return fails_now() ? NULL : __real_gather_arena_text(arena, text, bytes);
}

/* Lets piece 0, 1, 2 ... fail until none is left to fail; from 160 on every 13th. Returns how many there were. `use` frees what it makes; with no piece left
 * to fail it succeeds, or fails for another reason where wanted is not GATHER_OK. */
static long fail_each(gather_status (*use)(const void *context, gather_error *error), const void *context,
                      gather_status wanted) {
  const char *sparse = getenv("GATHER_TEST_HOSTILE");
  const long step = sparse && atol(sparse) > 0 ? atol(sparse) : 1;
  /* Of work that takes many pieces, those behind the first ones are much alike. */
  for (long k = 0;; k += k < 160 ? step : 13 * step) {
    gather_error error = dirty_error();
    const long before = alive;
    asked = 0;
    fail_at = k;
    const gather_status status = use(context, &error);
    const bool failed = asked > k;
    fail_at = -1;
    assert_int_equal(alive, before);
    if (!failed) {
      if (status != wanted) fail_msg("%s: %s", gather_status_name(status), status ? error.message : "");
      return k;
    }
    if (status != GATHER_OUT_OF_MEMORY) fail_msg("piece %ld: %s", k, gather_status_name(status));
    assert_error(&error, GATHER_OUT_OF_MEMORY);
    assert_true(k < 10000);
  }
}

#else

static inline bool nothing_is_left(void) { return true; }

/* Once, with all memory that it asks for. */
static long fail_each(gather_status (*use)(const void *context, gather_error *error), const void *context,
                      gather_status wanted) {
  gather_error error = dirty_error();
  assert_status(use(context, &error), wanted);
  return 10000;
}

#endif

#endif
