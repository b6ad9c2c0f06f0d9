/* SPDX-License-Identifier: MIT
 *
 * tsan_uring.c: tells TSan that a ring of io_uring is made after the one that had its addresses is gone. liburing maps and unmaps by
 * system calls of its own, which TSan does not see. In the TSan build the linker sends these two calls here (--wrap). What threads do
 * with a ring between them is still checked.
 */
#include <liburing.h>

void __tsan_acquire(void *place);
void __tsan_release(void *place);
int __real_io_uring_queue_init_params(unsigned entries, struct io_uring *ring, struct io_uring_params *params);
int __wrap_io_uring_queue_init_params(unsigned entries, struct io_uring *ring, struct io_uring_params *params);
void __real_io_uring_queue_exit(struct io_uring *ring);
void __wrap_io_uring_queue_exit(struct io_uring *ring);

static char addresses; /* only its address matters */

int __wrap_io_uring_queue_init_params(unsigned entries, struct io_uring *ring, struct io_uring_params *params) {
  int answer = __real_io_uring_queue_init_params(entries, ring, params);
  __tsan_acquire(&addresses);
  return answer;
}

void __wrap_io_uring_queue_exit(struct io_uring *ring) {
  __tsan_release(&addresses);
  __real_io_uring_queue_exit(ring);
}
