/* SPDX-License-Identifier: MIT
 *
 * counted_heap.h: the heap, counted, for one test program: the linker (gather_count_heap in CMake) puts the functions below in the place of
 * malloc and its kin, and lets any one of their calls fail.
 */
#ifndef GATHER_TESTS_SUPPORT_COUNTED_HEAP_H
#define GATHER_TESTS_SUPPORT_COUNTED_HEAP_H

#include <errno.h>

#include "support/unit.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void __real_free(void *memory);
char *__real_realpath(const char *path, char *room);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void __wrap_free(void *memory);
char *__wrap_realpath(const char *path, char *room);

static long asked, alive, fail_at = -1; /* allocations asked for; those not freed; the one that fails */

static int fails(void) { return asked++ == fail_at; }

static void *counted(void *memory) {
  if (memory) alive++;
  return memory;
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : counted(__real_malloc(bytes)); }

void *__wrap_calloc(size_t count, size_t bytes) { return fails() ? NULL : counted(__real_calloc(count, bytes)); }

void *__wrap_realloc(void *memory, size_t bytes) {
  if (fails()) return NULL;
  void *moved = __real_realloc(memory, bytes);
  if (!memory && moved) alive++;
  return moved;
}

void __wrap_free(void *memory) {
  if (memory) alive--;
  __real_free(memory);
}

/* realpath allocates inside the C library, where no wrapping reaches. */
char *__wrap_realpath(const char *path, char *room) {
  if (!room && fails()) {
    errno = ENOMEM;
    return NULL;
  }
  char *real = __real_realpath(path, room);
  return room ? real : counted(real);
}

/* Lets allocation 0, 1, 2 ... of `make` fail until none is left to fail. make returns its status and cleans up after success.
 * Returns how many there were. */
static long fail_each(gather_status (*make)(gather_error *error)) {
  for (long k = 0;; k++) {
    gather_error error = dirty_error();
    long before = alive;
    asked = 0;
    fail_at = k;
    gather_status status = make(&error);
    bool failed = asked > k;
    fail_at = -1;
    assert_int_equal(alive, before);
    if (!failed) {
      assert_status(status, GATHER_OK);
      return k;
    }
    assert_status(status, GATHER_OUT_OF_MEMORY);
    assert_error(&error, GATHER_OUT_OF_MEMORY);
    assert_true(k < 1000);
  }
}

#endif
