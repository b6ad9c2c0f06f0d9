/* SPDX-License-Identifier: MIT
 *
 * tsan_uring.c: tells TSan that a ring of io_uring is made after the one that had its addresses is gone. liburing maps and unmaps by
 * system calls of its own, which TSan does not see. In the TSan build the linker sends these two calls here (--wrap). What threads do
 * with a ring between them is still checked.
 */
#include <liburing.h>

#include "support/wrapped.h"

void __tsan_acquire(void *place);
void __tsan_release(void *place);

static char addresses; /* only its address matters */

WRAPPED(int, io_uring_queue_init_params, (unsigned entries, struct io_uring *ring, struct io_uring_params *params)) {
  int answer = REAL(io_uring_queue_init_params)(entries, ring, params);
  __tsan_acquire(&addresses);
  return answer;
}

WRAPPED(void, io_uring_queue_exit, (struct io_uring * ring)) {
  __tsan_release(&addresses);
  REAL(io_uring_queue_exit)(ring);
}
