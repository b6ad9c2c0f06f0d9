/* SPDX-License-Identifier: MIT
 *
 * reader_pread.c: threads that read. They are started by the first read; where none can be had, reads happen when they are waited for.
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

/* Slots in a circle of `depth` places. */
typedef struct circle {
  int32_t *slots;
  int32_t first, count;
} circle;

typedef struct pread_reader {
  gather_reader *reader;
  pthread_mutex_t lock; /* holds for all below but the threads, which are the caller's */
  pthread_cond_t work, end;
  circle waiting, ended;
  bool stop;
  bool started;
  int32_t thread_count;
  pthread_t threads[MOST_THREADS];
} pread_reader;

static void push(circle *c, int32_t depth, int32_t slot) { c->slots[(c->first + c->count++) % depth] = slot; }

static int32_t pop(circle *c, int32_t depth) {
  int32_t slot = c->slots[c->first];
  c->first = (c->first + 1) % depth;
  c->count--;
  return slot;
}

static void free_own(gather_reader *reader) {
  pread_reader *own = reader->own;
  gather_free(own->waiting.slots);
  gather_free(own->ended.slots);
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
    own->waiting.slots = gather_alloc(depth * (int64_t)sizeof *own->waiting.slots);
    own->ended.slots = gather_alloc(depth * (int64_t)sizeof *own->ended.slots);
    if (own->waiting.slots && own->ended.slots && make_locks(own)) return GATHER_OK;
    free_own(reader);
  }
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for threads that read");
}

static void *read_until_stopped(void *argument) {
  pread_reader *own = argument;
  int32_t depth = own->reader->plan.depth;
  (void)pthread_mutex_lock(&own->lock);
  for (;;) {
    while (own->waiting.count == 0 && !own->stop) (void)pthread_cond_wait(&own->work, &own->lock);
    if (own->stop) break;
    int32_t i = pop(&own->waiting, depth);
    (void)pthread_mutex_unlock(&own->lock);
    gather_slot_read(&own->reader->slots[i]);
    (void)pthread_mutex_lock(&own->lock);
    push(&own->ended, depth, i);
    (void)pthread_cond_signal(&own->end);
  }
  (void)pthread_mutex_unlock(&own->lock);
  return NULL;
}

/* With a small stack where the system lets a thread have one. */
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

/* As many threads as there may be reads. Signals are for the program's own threads. */
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
  (void)pthread_mutex_lock(&own->lock);
  push(&own->waiting, reader->plan.depth, i);
  (void)pthread_cond_signal(&own->work);
  (void)pthread_mutex_unlock(&own->lock);
  return GATHER_OK;
}

static int32_t finish(gather_reader *reader) {
  pread_reader *own = reader->own;
  int32_t depth = reader->plan.depth, i;
  if (own->thread_count == 0) {
    i = pop(&own->waiting, depth);
    gather_slot_read(&reader->slots[i]);
    return i;
  }
  (void)pthread_mutex_lock(&own->lock);
  while (own->ended.count == 0) (void)pthread_cond_wait(&own->end, &own->lock);
  i = pop(&own->ended, depth);
  (void)pthread_mutex_unlock(&own->lock);
  return i;
}

static int32_t cancel(gather_reader *reader) {
  pread_reader *own = reader->own;
  (void)pthread_mutex_lock(&own->lock);
  int32_t count = own->waiting.count;
  own->waiting.count = 0;
  (void)pthread_mutex_unlock(&own->lock);
  return count;
}

/* In a child of fork() there are no such threads, and what they held locked stays so: only the memory is given back. */
const gather_reader_engine gather_reader_pread = {.buffers = true,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .abandon = free_own,
                                                  .begin = begin,
                                                  .finish = finish,
                                                  .cancel = cancel};
