/* SPDX-License-Identifier: MIT
 *
 * reader_pread.c: threads that read. The first read starts them; if none can be started, reads happen in
 * gather_reader_finish.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "table/reader_engine.h"

enum { MOST_THREADS = 64, STACK_BYTES = 256 << 10 };

/* Slots in a ring of `depth` places. */
typedef struct circle {
  int32_t *slots;
  int32_t first, count;
} circle;

/* Waking a thread costs as much as a read. So reads are passed to the threads, and taken back, many at a time. */
typedef struct pread_reader {
  gather_reader *reader;
  circle begun, ready; /* the caller's: not submitted yet, and completed */
  int32_t thread_count;
  bool started;
  pthread_t threads[MOST_THREADS];
  pthread_mutex_t lock; /* protects all fields below */
  pthread_cond_t work, end;
  circle waiting, ended;
  int32_t idle, wanted; /* idle threads; completions that the caller waits for, 0 = none */
  bool stop;
} pread_reader;

static void push(circle *c, int32_t depth, int32_t slot) { c->slots[(c->first + c->count++) % depth] = slot; }

static int32_t pop(circle *c, int32_t depth) {
  int32_t slot = c->slots[c->first];
  c->first = (c->first + 1) % depth;
  c->count--;
  return slot;
}

static void move_all(circle *from, circle *to, int32_t depth) {
  while (from->count > 0) push(to, depth, pop(from, depth));
}

static void free_own(gather_reader *reader) {
  pread_reader *own = reader->own;
  gather_free(own->begun.slots);
  gather_free(own);
}

static bool make_locks(pread_reader *own) {
  if (pthread_mutex_init(&own->lock, NULL) != 0) return false;
  if (pthread_cond_init(&own->work, NULL) == 0) {
    if (pthread_cond_init(&own->end, NULL) == 0) return true;
    (void)pthread_cond_destroy(&own->work);
  }
  (void)pthread_mutex_destroy(&own->lock);
  return false;
}

static gather_status create(gather_reader *reader, gather_error *error) {
  int32_t depth = reader->plan.depth;
  pread_reader *own = gather_alloc((int64_t)sizeof *own);
  if (own) {
    reader->own = own;
    own->reader = reader;
    int32_t *slots = gather_alloc(4 * depth * (int64_t)sizeof *slots);
    own->begun.slots = slots;
    if (slots)
      own->ready.slots = slots + depth, own->waiting.slots = slots + 2 * depth, own->ended.slots = slots + 3 * depth;
    if (slots && make_locks(own)) return GATHER_OK;
    free_own(reader);
  }
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for threads that read");
}

static void *read_until_stopped(void *argument) {
  pread_reader *own = argument;
  int32_t depth = own->reader->plan.depth;
  (void)pthread_mutex_lock(&own->lock);
  for (;;) {
    own->idle++;
    while (own->waiting.count == 0 && !own->stop) (void)pthread_cond_wait(&own->work, &own->lock);
    own->idle--;
    if (own->stop) break;
    int32_t i = pop(&own->waiting, depth);
    (void)pthread_mutex_unlock(&own->lock);
    gather_slot_read(&own->reader->slots[i]);
    (void)pthread_mutex_lock(&own->lock);
    push(&own->ended, depth, i);
    if (own->ended.count == own->wanted) (void)pthread_cond_signal(&own->end);
  }
  (void)pthread_mutex_unlock(&own->lock);
  return NULL;
}

/* With a small stack if the system supports it. */
static bool start_thread(pread_reader *own, pthread_t *thread) {
  pthread_attr_t attributes;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
              pthread_create(thread, &attributes, read_until_stopped, own) == 0;
    (void)pthread_attr_destroy(&attributes);
  }
  return started || pthread_create(thread, NULL, read_until_stopped, own) == 0;
}

/* Starts as many threads as reads may be in flight. They block the program's signals. */
static void start(pread_reader *own) {
  int32_t wanted = own->reader->plan.depth < MOST_THREADS ? own->reader->plan.depth : MOST_THREADS;
  sigset_t all, before;
  own->started = true;
  (void)sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  while (own->thread_count < wanted && start_thread(own, &own->threads[own->thread_count])) own->thread_count++;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void destroy(gather_reader *reader) {
  pread_reader *own = reader->own;
  (void)pthread_mutex_lock(&own->lock);
  own->stop = true;
  (void)pthread_cond_broadcast(&own->work);
  (void)pthread_mutex_unlock(&own->lock);
  for (int32_t i = 0; i < own->thread_count; i++) (void)pthread_join(own->threads[i], NULL);
  (void)pthread_cond_destroy(&own->end);
  (void)pthread_cond_destroy(&own->work);
  (void)pthread_mutex_destroy(&own->lock);
  free_own(reader);
}

static gather_status begin(gather_reader *reader, int32_t i, gather_error *error) {
  pread_reader *own = reader->own;
  (void)error;
  if (!own->started) start(own);
  push(&own->begun, reader->plan.depth, i);
  return GATHER_OK;
}

/* Submits begun reads to the threads. Call with the lock held. */
static void hand_over(pread_reader *own) {
  int32_t count = own->begun.count < own->idle ? own->begun.count : own->idle;
  move_all(&own->begun, &own->waiting, own->reader->plan.depth);
  if (count > 0 && count == own->idle) {
    (void)pthread_cond_broadcast(&own->work);
    return;
  }
  for (; count > 0; count--) (void)pthread_cond_signal(&own->work);
}

/* Waits for a quarter of all reads, and collects completed ones. Call with the lock held. */
static void take_back(pread_reader *own) {
  const int32_t flying = own->reader->flying;
  own->wanted = flying < 4 ? 1 : flying / 4;
  while (own->ended.count < own->wanted) (void)pthread_cond_wait(&own->end, &own->lock);
  own->wanted = 0;
  move_all(&own->ended, &own->ready, own->reader->plan.depth);
}

static int32_t finish(gather_reader *reader) {
  pread_reader *own = reader->own;
  const int32_t depth = reader->plan.depth;
  if (own->thread_count == 0) {
    int32_t i = pop(&own->begun, depth);
    gather_slot_read(&reader->slots[i]);
    return i;
  }
  if (own->ready.count == 0 || own->begun.count > depth / 8) {
    (void)pthread_mutex_lock(&own->lock);
    hand_over(own);
    if (own->ready.count == 0) take_back(own);
    (void)pthread_mutex_unlock(&own->lock);
  }
  return pop(&own->ready, depth);
}

static int32_t cancel(gather_reader *reader) {
  pread_reader *own = reader->own;
  (void)pthread_mutex_lock(&own->lock);
  int32_t count = own->begun.count + own->waiting.count;
  own->begun.count = own->waiting.count = 0;
  (void)pthread_mutex_unlock(&own->lock);
  return count;
}

/* A child of fork() has no such threads, and their locks stay locked: only frees the memory. */
const gather_reader_engine gather_reader_pread = {.buffers = true,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .abandon = free_own,
                                                  .begin = begin,
                                                  .finish = finish,
                                                  .cancel = cancel};
