/* SPDX-License-Identifier: MIT
 *
 * guard.h: memory between two pages that nobody may touch. A buffer lies flush against the end or against the start, so that one
 * byte too many is a crash and no luck. Inputs can be locked against writing.
 */
#ifndef GATHER_TESTS_SUPPORT_GUARD_H
#define GATHER_TESTS_SUPPORT_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
  uint8_t *first; /* of the usable bytes */
  size_t bytes;   /* whole pages */
};

/* At least `bytes` usable bytes with a forbidden page on both sides. Ends the program where that cannot be had. */
static inline struct guard guard_create(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  struct guard guard = {NULL, (bytes + page - 1) / page * page};
  uint8_t *whole = mmap(NULL, guard.bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED || mprotect(whole + page, guard.bytes, PROT_READ | PROT_WRITE) != 0) abort();
  guard.first = whole + page;
  return guard;
}

static inline void guard_destroy(struct guard guard) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  munmap(guard.first - page, guard.bytes + 2 * page);
}

/* Where a buffer of that size begins. */
static inline uint8_t *guard_place(struct guard guard, size_t bytes, bool at_end) {
  if (bytes > guard.bytes) abort();
  return at_end ? guard.first + guard.bytes - bytes : guard.first;
}

/* Forbids or allows writing. */
static inline void guard_lock(struct guard guard, bool locked) {
  if (mprotect(guard.first, guard.bytes, locked ? PROT_READ : PROT_READ | PROT_WRITE) != 0) abort();
}

#endif
