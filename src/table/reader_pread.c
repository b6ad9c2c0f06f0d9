/* SPDX-License-Identifier: MIT
 *
 * reader_pread.c: reads by pread. One read on the calling thread, by system calls that may be interrupted, read too little, or refuse
 * direct I/O: the other engines finish theirs so. And the engine of threads: each queue has threads of its own, so that a slow device does
 * not occupy those of another. Its first read starts them; if none can be started, its reads happen in gather_reader_finish.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "table/reader.h"

/* ---- one read, on the calling thread */

static bool is_refusal(int number) { return number == EINVAL || number == ENOTSUP || number == EOPNOTSUPP; }

bool gather_slot_advance(gather_slot *slot, int64_t answer) {
  const gather_table_source *source = slot->read.source;
  if (answer < 0 && is_refusal((int)-answer) && slot->fd != source->fd) {
    slot->fd = source->fd;
    slot->refused = true;
    return false;
  }
  if (answer <= 0) {
    slot->result = answer < 0 ? (int)-answer : GATHER_READ_SHORT;
    return true;
  }
  slot->done += answer;
  slot->result = GATHER_READ_FINE;
  if (slot->done >= slot->read.needed) return true;
  /* Direct reads begin at blocks. This one ended within a block: probably at the end of the file. */
  if (slot->done % source->block_bytes != 0) slot->fd = source->fd;
  return false;
}

void gather_slot_read(gather_slot *slot) {
  enum { MOST_TRIES = 100, MOST_BYTES = 1 << 30 };
  for (int tries = 0;;) {
    int64_t left = slot->read.bytes - slot->done;
    ssize_t got =
        pread(slot->fd, slot->data + slot->done, (size_t)(left < MOST_BYTES ? left : MOST_BYTES), (off_t)(slot->read.offset + slot->done));
    int number = errno;
    if (got < 0 && number == EINTR) continue;
    if (got < 0 && number == EAGAIN && tries++ < MOST_TRIES) {
      (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
      continue;
    }
    if (gather_slot_advance(slot, got < 0 ? -(int64_t)number : (int64_t)got)) return;
  }
}

/* ---- threads that read */

/* Of one queue at most MOST_THREADS; of all together at most ALL_THREADS, but LEAST_THREADS each. */
enum { MOST_THREADS = 64, ALL_THREADS = 256, LEAST_THREADS = 4, STACK_BYTES = 256 << 10 };

/* Slots in a ring of `room` places. */
typedef struct circle {
  int32_t *slots;
  int32_t room, first, count;
} circle;

struct pread_reader;

/* One queue and its threads. */
typedef struct pread_queue {
  struct pread_reader *own;
  int32_t thread_count;
  bool started;
  pthread_t threads[MOST_THREADS];
  pthread_cond_t work;
  /* Protected by the lock. */
  circle waiting;
  int32_t idle;   /* idle threads */
  int32_t flying; /* reads submitted to the threads and not taken back */
  int32_t ended;  /* of them completed */
  int32_t wanted; /* completions that the caller waits for; 0 = none */
} pread_queue;

/* Waking a thread costs as much as a read. So reads are passed to the threads, and taken back, many at a time. */
typedef struct pread_reader {
  gather_reader *reader;
  int32_t *places;      /* the memory of all circles */
  circle begun, ready;  /* the caller's: not submitted yet, and completed */
  circle by_hand;       /* of queues without threads */
  pthread_mutex_t lock; /* protects what follows */
  pthread_cond_t end;
  circle ended;
  bool stop;
  pread_queue *queues;
} pread_reader;

static void push(circle *c, int32_t slot) { c->slots[(c->first + c->count++) % c->room] = slot; }

static int32_t pop(circle *c) {
  int32_t slot = c->slots[c->first];
  c->first = (c->first + 1) % c->room;
  c->count--;
  return slot;
}

static pread_queue *queue_of(const pread_reader *own, int32_t slot) { return &own->queues[own->reader->slots[slot].read.source->queue]; }

/* ---- its life */

static void free_own(gather_reader *reader) {
  pread_reader *own = reader->own;
  gather_free(own->places);
  gather_free(own->queues);
  gather_free(own);
}

static void destroy_conditions(pread_reader *own, int32_t count) {
  while (count > 0) (void)pthread_cond_destroy(&own->queues[--count].work);
}

static bool make_conditions(pread_reader *own) {
  const int32_t count = own->reader->plan.queues;
  for (int32_t q = 0; q < count; q++)
    if (pthread_cond_init(&own->queues[q].work, NULL) != 0) {
      destroy_conditions(own, q);
      return false;
    }
  if (pthread_cond_init(&own->end, NULL) == 0) return true;
  destroy_conditions(own, count);
  return false;
}

static bool make_locks(pread_reader *own) {
  if (pthread_mutex_init(&own->lock, NULL) != 0) return false;
  if (make_conditions(own)) return true;
  (void)pthread_mutex_destroy(&own->lock);
  return false;
}

static void divide_places(pread_reader *own) {
  const gather_reader_plan *plan = &own->reader->plan;
  const int32_t count = own->reader->slot_count;
  circle *const all[] = {&own->begun, &own->ready, &own->by_hand, &own->ended};
  int32_t *place = own->places;
  for (size_t c = 0; c < sizeof all / sizeof *all; c++, place += count) *all[c] = (circle){.slots = place, .room = count};
  for (int32_t q = 0; q < plan->queues; q++, place += plan->depth) {
    own->queues[q].own = own;
    own->queues[q].waiting = (circle){.slots = place, .room = plan->depth};
  }
}

static gather_status create(gather_reader *reader, gather_error *error) {
  pread_reader *own = gather_alloc((int64_t)sizeof *own);
  if (own) {
    reader->own = own;
    own->reader = reader;
    own->places = gather_alloc(5 * (int64_t)reader->slot_count * (int64_t)sizeof *own->places);
    own->queues = gather_alloc(reader->plan.queues * (int64_t)sizeof *own->queues);
    if (own->places && own->queues) {
      divide_places(own);
      if (make_locks(own)) return GATHER_OK;
    }
    free_own(reader);
  }
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for reader threads");
}

static void destroy(gather_reader *reader) {
  pread_reader *own = reader->own;
  const int32_t count = reader->plan.queues;
  (void)pthread_mutex_lock(&own->lock);
  own->stop = true;
  for (int32_t q = 0; q < count; q++) (void)pthread_cond_broadcast(&own->queues[q].work);
  (void)pthread_mutex_unlock(&own->lock);
  for (int32_t q = 0; q < count; q++)
    for (int32_t i = 0; i < own->queues[q].thread_count; i++) (void)pthread_join(own->queues[q].threads[i], NULL);
  (void)pthread_cond_destroy(&own->end);
  destroy_conditions(own, count);
  (void)pthread_mutex_destroy(&own->lock);
  free_own(reader);
}

/* ---- its threads */

static void *read_until_stopped(void *argument) {
  pread_queue *queue = argument;
  pread_reader *own = queue->own;
  (void)pthread_mutex_lock(&own->lock);
  for (;;) {
    queue->idle++;
    while (queue->waiting.count == 0 && !own->stop) (void)pthread_cond_wait(&queue->work, &own->lock);
    queue->idle--;
    if (own->stop) break;
    int32_t i = pop(&queue->waiting);
    (void)pthread_mutex_unlock(&own->lock);
    gather_slot_read(&own->reader->slots[i]);
    (void)pthread_mutex_lock(&own->lock);
    push(&own->ended, i);
    if (++queue->ended == queue->wanted) (void)pthread_cond_signal(&own->end);
  }
  (void)pthread_mutex_unlock(&own->lock);
  return NULL;
}

/* With a small stack if the system supports it. */
static bool start_thread(pread_queue *queue, pthread_t *thread) {
  pthread_attr_t attributes;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started =
        pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 && pthread_create(thread, &attributes, read_until_stopped, queue) == 0;
    (void)pthread_attr_destroy(&attributes);
  }
  return started || pthread_create(thread, NULL, read_until_stopped, queue) == 0;
}

static int32_t most_threads(const gather_reader_plan *plan) {
  int32_t most = ALL_THREADS / plan->queues;
  if (most < LEAST_THREADS) most = LEAST_THREADS;
  if (most > MOST_THREADS) most = MOST_THREADS;
  return plan->depth < most ? plan->depth : most;
}

/* Starts as many threads as reads may be in flight. They block the program's signals. */
static void start(pread_queue *queue) {
  const int32_t wanted = most_threads(&queue->own->reader->plan);
  sigset_t all, before;
  queue->started = true;
  (void)sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  while (queue->thread_count < wanted && start_thread(queue, &queue->threads[queue->thread_count])) queue->thread_count++;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- its reads */

static gather_status begin(gather_reader *reader, int32_t i, gather_error *error) {
  pread_reader *own = reader->own;
  pread_queue *queue = queue_of(own, i);
  (void)error;
  if (!queue->started) start(queue);
  push(queue->thread_count > 0 ? &own->begun : &own->by_hand, i);
  return GATHER_OK;
}

static void wake(pread_queue *queue) {
  int32_t count = queue->waiting.count < queue->idle ? queue->waiting.count : queue->idle;
  if (count > 0 && count == queue->idle) {
    (void)pthread_cond_broadcast(&queue->work);
    return;
  }
  for (; count > 0; count--) (void)pthread_cond_signal(&queue->work);
}

/* Submits begun reads to the threads. Call with the lock held. */
static void hand_over(pread_reader *own) {
  if (own->begun.count == 0) return;
  while (own->begun.count > 0) {
    int32_t i = pop(&own->begun);
    pread_queue *queue = queue_of(own, i);
    push(&queue->waiting, i);
    queue->flying++;
  }
  for (int32_t q = 0; q < own->reader->plan.queues; q++) wake(&own->queues[q]);
}

/* Whether a quarter of the reads of one queue have completed. A quarter of all reads might not complete for a long
 * time, while a fast device has nothing to do. */
static bool has_enough(pread_reader *own) {
  bool enough = false;
  for (int32_t q = 0; q < own->reader->plan.queues; q++) {
    pread_queue *queue = &own->queues[q];
    if (queue->flying == 0) continue;
    queue->wanted = queue->flying < 4 ? 1 : queue->flying / 4;
    enough = enough || queue->ended >= queue->wanted;
  }
  return enough;
}

/* Waits for them, and collects completed ones. Call with the lock held. */
static void take_back(pread_reader *own) {
  while (!has_enough(own)) (void)pthread_cond_wait(&own->end, &own->lock);
  for (int32_t q = 0; q < own->reader->plan.queues; q++) own->queues[q].wanted = own->queues[q].ended = 0;
  while (own->ended.count > 0) {
    int32_t i = pop(&own->ended);
    queue_of(own, i)->flying--;
    push(&own->ready, i);
  }
}

static int32_t finish(gather_reader *reader) {
  pread_reader *own = reader->own;
  const bool hand = own->ready.count == 0 && own->by_hand.count > 0; /* and meanwhile the threads read */
  if (own->ready.count == 0 || own->begun.count > reader->plan.depth / 8) {
    (void)pthread_mutex_lock(&own->lock);
    hand_over(own);
    if (own->ready.count == 0 && !hand) take_back(own);
    (void)pthread_mutex_unlock(&own->lock);
  }
  if (!hand) return pop(&own->ready);
  int32_t i = pop(&own->by_hand);
  gather_slot_read(&reader->slots[i]);
  return i;
}

static int32_t cancel(gather_reader *reader) {
  pread_reader *own = reader->own;
  (void)pthread_mutex_lock(&own->lock);
  int32_t count = own->begun.count + own->by_hand.count;
  for (int32_t q = 0; q < reader->plan.queues; q++) {
    count += own->queues[q].waiting.count;
    own->queues[q].flying -= own->queues[q].waiting.count;
    own->queues[q].waiting.count = 0;
  }
  own->begun.count = own->by_hand.count = 0;
  (void)pthread_mutex_unlock(&own->lock);
  return count;
}

/* A child of fork() has no such threads, and their locks stay locked: only frees the memory. */
const gather_reader_engine gather_reader_pread = {
    .buffers = true, .create = create, .destroy = destroy, .abandon = free_own, .begin = begin, .finish = finish, .cancel = cancel};
