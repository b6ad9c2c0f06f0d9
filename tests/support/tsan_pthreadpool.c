/* SPDX-License-Identifier: MIT
 *
 * tsan_pthreadpool.c: tells TSan what pthreadpool promises. The installed library is not built with TSan, which therefore does
 * not see that a task begins after pthreadpool_parallelize_1d was called, and ends before that returns. In the TSan build the
 * linker sends that call here (--wrap). Everything that the tasks do among themselves is still checked.
 */
#include <pthreadpool.h>

void __tsan_acquire(void *place);
void __tsan_release(void *place);
void __real_pthreadpool_parallelize_1d(pthreadpool_t pool, pthreadpool_task_1d_t task, void *context, size_t range,
                                       uint32_t flags);
void __wrap_pthreadpool_parallelize_1d(pthreadpool_t pool, pthreadpool_task_1d_t task, void *context, size_t range,
                                       uint32_t flags);

typedef struct {
  pthreadpool_task_1d_t task;
  void *context;
  char begun, ended; /* only their addresses matter */
} wrapped;

static void run_one(void *context, size_t i) {
  wrapped *w = context;
  __tsan_acquire(&w->begun);
  w->task(w->context, i);
  __tsan_release(&w->ended);
}

void __wrap_pthreadpool_parallelize_1d(pthreadpool_t pool, pthreadpool_task_1d_t task, void *context, size_t range,
                                       uint32_t flags) {
  wrapped w = {task, context, 0, 0};
  __tsan_release(&w.begun);
  __real_pthreadpool_parallelize_1d(pool, run_one, &w, range, flags);
  __tsan_acquire(&w.ended);
}
