/* SPDX-License-Identifier: MIT
 *
 * fail_each.h: the one allocator that fails. Each piece of memory that a work asks for is refused once: that is what is said, and nothing
 * is left behind. The linker puts the functions below in the place of the library's own, pieces of arenas included, or of the C
 * library's: gather_fail_allocations (tests/CMakeLists.txt). Where it cannot, what is tested runs once.
 */
#ifndef GATHER_TESTS_SUPPORT_FAIL_EACH_H
#define GATHER_TESTS_SUPPORT_FAIL_EACH_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/unit.h"
#include "support/wrapped.h"

enum {
  FAIL_EVERY = 1,      /* every piece; else, of work that takes many, from 160 on every 13th: those behind are much alike */
  FAIL_OR_WITHOUT = 2, /* the work may do without what it does not get */
  FAIL_ANY_END = 4     /* with all memory it may end with any status */
};

/* Works once, and frees what it made. */
typedef gather_status failing_work(const void *context, gather_error *error);

#if defined(GATHER_TEST_WRAPS) || defined(GATHER_TEST_WRAPS_HEAP)

static atomic_long asked, alive, fail_at = -1; /* pieces asked for; blocks not freed; the piece that fails */
static atomic_bool has_failed;
static long told_failures; /* of the last fail_each: how many ended as out of memory */

static inline bool nothing_is_left(void) { return alive == 0; }

/* Work that goes on to look at what there is gets all memory from here on. */
static inline void fail_no_more(void) { atomic_store(&fail_at, -1); }

/* A piece that fails: the place for a debugger to stop at. */
static void fail_hit(void) { atomic_store(&has_failed, true); }

static bool fails_now(void) {
  const bool fails = atomic_fetch_add(&asked, 1) == atomic_load(&fail_at);
  if (fails) fail_hit();
  return fails;
}

static void *counted(void *memory) {
  if (memory) atomic_fetch_add(&alive, 1);
  return memory;
}

#if defined(GATHER_TEST_WRAPS)
#include "core/base/arena.h"

WRAPPED(void *, gather_alloc, (int64_t bytes)) { return fails_now() ? NULL : counted(REAL(gather_alloc)(bytes)); }

WRAPPED(void *, gather_alloc_unset, (int64_t bytes)) { return fails_now() ? NULL : counted(REAL(gather_alloc_unset)(bytes)); }

WRAPPED(void, gather_free, (void *memory)) {
  if (memory) atomic_fetch_sub(&alive, 1);
  REAL(gather_free)(memory);
}

WRAPPED(void *, gather_arena_take, (gather_arena * arena, int64_t count, int64_t bytes)) {
  return fails_now() ? NULL : REAL(gather_arena_take)(arena, count, bytes);
}

WRAPPED(char *, gather_arena_text, (gather_arena * arena, const char *text, size_t bytes)) {
  return fails_now() ? NULL : REAL(gather_arena_text)(arena, text, bytes);
}

#else

WRAPPED(void *, malloc, (size_t bytes)) { return fails_now() ? NULL : counted(REAL(malloc)(bytes)); }

WRAPPED(void *, calloc, (size_t count, size_t bytes)) { return fails_now() ? NULL : counted(REAL(calloc)(count, bytes)); }

WRAPPED(void *, realloc, (void *memory, size_t bytes)) {
  if (fails_now()) return NULL;
  void *moved = REAL(realloc)(memory, bytes);
  return memory ? moved : counted(moved);
}

WRAPPED(void, free, (void *memory)) {
  if (memory) atomic_fetch_sub(&alive, 1);
  REAL(free)(memory);
}

#endif

#if defined(GATHER_TEST_WRAPS_REALPATH)
/* It allocates inside the C library, where no wrapping reaches. */
WRAPPED(char *, realpath, (const char *path, char *room)) {
  if (room) return REAL(realpath)(path, room);
  if (!fails_now()) return counted(REAL(realpath)(path, room));
  errno = ENOMEM;
  return NULL;
}
#endif

/* Lets piece 0, 1, 2 ... fail until none is left to fail. Returns how many there were. Then the work ends with `wanted`.
 * GATHER_TEST_HOSTILE=n, for slow emulators: every n-th piece, without FAIL_EVERY. */
static long fail_each_as(failing_work *work, const void *context, gather_status wanted, int how) {
  const char *sparse = getenv("GATHER_TEST_HOSTILE");
  const long step = sparse && atol(sparse) > 0 && !(how & FAIL_EVERY) ? atol(sparse) : 1;
  told_failures = 0;
  for (long k = 0;; k += k < 160 || (how & FAIL_EVERY) ? step : 13 * step) {
    gather_error error = dirty_error();
    const long before = alive;
    atomic_store(&asked, 0);
    atomic_store(&has_failed, false);
    atomic_store(&fail_at, k);
    const gather_status status = work(context, &error);
    fail_no_more();
    assert_int_equal(alive, before);
    if (has_failed && status == GATHER_OUT_OF_MEMORY) {
      assert_error(&error, GATHER_OUT_OF_MEMORY);
      told_failures++;
    } else if (has_failed && !(how & FAIL_OR_WITHOUT)) {
      fail_msg("piece %ld: %s", k, gather_status_name(status));
    } else if (status != wanted && !(how & FAIL_ANY_END)) {
      fail_msg("%s: %s", gather_status_name(status), status ? error.message : "");
    }
    if (!has_failed) return k;
    assert_true(k < 10000);
  }
}

#else

static inline bool nothing_is_left(void) { return true; }
static inline void fail_no_more(void) {}

/* Once, with all memory that it asks for. */
static long fail_each_as(failing_work *work, const void *context, gather_status wanted, int how) {
  gather_error error = dirty_error();
  const gather_status status = work(context, &error);
  if (!(how & FAIL_ANY_END)) assert_status(status, wanted);
  return 10000;
}

#endif

static inline long fail_each(failing_work *work, const void *context, gather_status wanted) {
  return fail_each_as(work, context, wanted, 0);
}

/* The same, of every piece, for works that need no context. */
static inline gather_status fail_call(const void *make, gather_error *error) {
  gather_status (*const *work)(gather_error *) = make;
  return (*work)(error);
}
static inline long fail_making(gather_status (*make)(gather_error *error)) { return fail_each_as(fail_call, &make, GATHER_OK, FAIL_EVERY); }

#endif
