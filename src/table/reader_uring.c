/* SPDX-License-Identifier: MIT
 *
 * reader_uring.c: reads by Linux's io_uring. Begun reads are only prepared; they are submitted many at a time, when
 * the caller waits. Reads that io_uring does not complete at once are finished by pread. The queues of all devices
 * share one ring, so that one wait sees whichever read completes first.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "core/base/alloc.h"
#include "core/base/error.h"
#include "table/reader.h"

#if defined(GATHER_HAVE_LIBURING)
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct uring_reader {
  struct io_uring ring;
  int32_t *prepared; /* slots whose reads are in the submission queue, not known to be consumed by the kernel */
  int32_t prepared_count;
  int32_t *by_hand; /* a stack of those that the kernel did not accept, to be read by pread */
  int32_t by_hand_count;
} uring_reader;

/* Marks a queue entry whose read was done by pread. */
#define NO_SLOT (~(__u64)0)

/* The value of kernel.io_uring_disabled; 0 if the setting does not exist. */
static int forbidden_by_kernel(void) {
  char digit = '0';
  int fd = open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  if (read(fd, &digit, 1) != 1) digit = '0';
  (void)close(fd);
  return digit >= '1' && digit <= '9' ? digit - '0' : 0;
}

static gather_status fail_setup(gather_error *error, int number) {
  int forbidden = number == EPERM ? forbidden_by_kernel() : 0;
  if (forbidden) return gather_fail(error, GATHER_UNSUPPORTED, "io_uring is forbidden: kernel.io_uring_disabled is %d", forbidden);
  if (number == EPERM || number == EACCES)
    return gather_fail(error, GATHER_UNSUPPORTED, "io_uring is forbidden to this process, probably by a seccomp filter of its container");
  if (number == ENOSYS) return gather_fail(error, GATHER_UNSUPPORTED, "the kernel has no io_uring, or hides it from this process");
  if (number == ENOMEM)
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "io_uring has no memory for its queues; the limit on locked memory (ulimit -l) may be too low");
  if (number == EMFILE || number == ENFILE)
    return gather_fail(error, GATHER_UNSUPPORTED, "io_uring gets no file descriptor: too many files are open");
  return gather_fail(error, GATHER_UNSUPPORTED, "io_uring cannot start (errno %d)", number);
}

/* The kernel may lack flags that only save work. No flag binds the ring to one thread: several threads use it in
 * turn. */
static int start_ring(struct io_uring *ring, unsigned entries) {
  unsigned flags = 0;
#if defined(IORING_SETUP_COOP_TASKRUN)
  flags |= IORING_SETUP_COOP_TASKRUN;
#endif
#if defined(IORING_SETUP_SUBMIT_ALL)
  flags |= IORING_SETUP_SUBMIT_ALL;
#endif
  struct io_uring_params params = {.flags = flags};
  int answer = io_uring_queue_init_params(entries, ring, &params);
  if (answer != -EINVAL || flags == 0) return answer;
  params = (struct io_uring_params){0};
  return io_uring_queue_init_params(entries, ring, &params);
}

/* Linux 5.1 to 5.5 have io_uring without IORING_OP_READ. */
static gather_status check_operations(struct io_uring *ring, gather_error *error) {
  struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
  bool reads = probe && io_uring_opcode_supported(probe, IORING_OP_READ);
  if (probe) io_uring_free_probe(probe);
  if (reads) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "the io_uring of this kernel is too old: it has no IORING_OP_READ (Linux 5.6)");
}

/* If a ring could be created but not used, every read would fall back to pread. */
static gather_status check_use(struct io_uring *ring, gather_error *error) {
  struct io_uring_sqe *entry = io_uring_get_sqe(ring);
  int answer = -EBUSY;
  if (entry) {
    io_uring_prep_nop(entry);
    entry->user_data = NO_SLOT;
    do answer = io_uring_submit_and_wait(ring, 1);
    while (answer == -EINTR);
  }
  return answer < 0 ? fail_setup(error, -answer) : GATHER_OK;
}

static gather_status open_ring(struct io_uring *ring, int32_t entries, gather_error *error) {
  int answer = start_ring(ring, (unsigned)entries);
  if (answer < 0) return fail_setup(error, -answer);
  gather_status status = check_operations(ring, error);
  if (status == GATHER_OK) status = check_use(ring, error);
  if (status != GATHER_OK) io_uring_queue_exit(ring);
  return status;
}

static gather_status probe(gather_error *error) {
  struct io_uring ring;
  GATHER_TRY(open_ring(&ring, 1, error));
  io_uring_queue_exit(&ring);
  return GATHER_OK;
}

static void free_own(gather_reader *reader) {
  uring_reader *own = reader->own;
  gather_free(own->prepared);
  gather_free(own->by_hand);
  gather_free(own);
}

/* In a child of fork() this closes and unmaps the child's copy; the parent's ring is not affected. */
static void destroy(gather_reader *reader) {
  uring_reader *own = reader->own;
  io_uring_queue_exit(&own->ring);
  free_own(reader);
}

/* Buffers and files are not registered with the ring: that saved no measurable time, and locks the buffers in
 * memory. */
static gather_status create(gather_reader *reader, gather_error *error) {
  const int32_t count = reader->slot_count;
  uring_reader *own = gather_alloc((int64_t)sizeof *own);
  if (!own) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a ring");
  reader->own = own;
  own->prepared = gather_alloc(count * (int64_t)sizeof *own->prepared);
  own->by_hand = gather_alloc(count * (int64_t)sizeof *own->by_hand);
  gather_status status = own->prepared && own->by_hand ? open_ring(&own->ring, count, error)
                                                       : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a ring");
  if (status != GATHER_OK) free_own(reader);
  return status;
}

static gather_status begin(gather_reader *reader, int32_t i, gather_error *error) {
  enum { MOST_BYTES = 1 << 30 };
  (void)error;
  uring_reader *own = reader->own;
  const gather_slot *slot = &reader->slots[i];
  struct io_uring_sqe *entry = io_uring_get_sqe(&own->ring);
  if (!entry) { /* the queue still has entries that were read by pread */
    own->by_hand[own->by_hand_count++] = i;
    return GATHER_OK;
  }
  unsigned bytes = (unsigned)(slot->read.bytes < MOST_BYTES ? slot->read.bytes : MOST_BYTES);
  io_uring_prep_read(entry, slot->fd, slot->data, bytes, (uint64_t)slot->read.offset);
  entry->user_data = (__u64)i;
  own->prepared[own->prepared_count++] = i;
  return GATHER_OK;
}

/* Drops the prepared reads that the kernel has consumed: it consumes the oldest first. */
static void count_taken(uring_reader *own) {
  int32_t left = (int32_t)io_uring_sq_ready(&own->ring);
  if (left >= own->prepared_count) return;
  memmove(own->prepared, own->prepared + own->prepared_count - left, (size_t)left * sizeof *own->prepared);
  own->prepared_count = left;
}

/* Takes back reads that the kernel does not accept: their queue entries become no-ops. */
static void take_back(uring_reader *own) {
  count_taken(own);
  struct io_uring_sq *queue = &own->ring.sq;
  for (int32_t n = 0; n < own->prepared_count; n++) {
    struct io_uring_sqe *entry = &queue->sqes[(queue->sqe_tail - 1 - (unsigned)n) & *queue->kring_mask];
    io_uring_prep_nop(entry);
    entry->user_data = NO_SLOT;
  }
  for (; own->prepared_count > 0; own->prepared_count--) own->by_hand[own->by_hand_count++] = own->prepared[own->prepared_count - 1];
}

/* Submits the prepared reads and waits for a completion. If the kernel has no resources or refuses to wait, reads
 * that it did not accept are done by pread; accepted ones complete anyway. */
static void submit_and_wait(uring_reader *own) {
  int answer = io_uring_submit_and_wait(&own->ring, 1);
  count_taken(own);
  if (answer >= 0 || answer == -EINTR) return;
  take_back(own);
  if (own->by_hand_count == 0) (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* The next completion, in *i and *answer. */
static bool take_answer(uring_reader *own, int32_t *i, int32_t *answer) {
  struct io_uring_cqe *entry;
  while (io_uring_peek_cqe(&own->ring, &entry) == 0) {
    __u64 slot = entry->user_data;
    *answer = entry->res;
    io_uring_cqe_seen(&own->ring, entry);
    if (slot == NO_SLOT) continue;
    *i = (int32_t)slot;
    return true;
  }
  return false;
}

static int32_t finish(gather_reader *reader) {
  uring_reader *own = reader->own;
  int32_t i, answer;
  /* Submits many at a time: nothing while completions are available, unless many reads are waiting. */
  bool much = own->prepared_count > reader->plan.depth / 8 && io_uring_cq_ready(&own->ring) > 0;
  if (much && io_uring_submit(&own->ring) >= 0) count_taken(own);
  while (!take_answer(own, &i, &answer)) {
    if (own->by_hand_count > 0) {
      i = own->by_hand[--own->by_hand_count];
      gather_slot_read(&reader->slots[i]);
      return i;
    }
    submit_and_wait(own);
  }
  gather_slot *slot = &reader->slots[i];
  bool again = answer == -EINTR || answer == -EAGAIN || answer == -ECANCELED;
  if (again || !gather_slot_advance(slot, answer)) gather_slot_read(slot);
  return i;
}

static int32_t cancel(gather_reader *reader) {
  uring_reader *own = reader->own;
  take_back(own);
  int32_t count = own->by_hand_count;
  own->by_hand_count = 0;
  return count;
}

const gather_reader_engine gather_reader_uring = {.buffers = true,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .abandon = destroy,
                                                  .begin = begin,
                                                  .finish = finish,
                                                  .cancel = cancel,
                                                  .probe = probe};

#else

static gather_status probe(gather_error *error) {
  return gather_fail(error, GATHER_UNSUPPORTED, "io_uring is not supported in this build");
}

static gather_status create(gather_reader *reader, gather_error *error) {
  (void)reader;
  return probe(error);
}

const gather_reader_engine gather_reader_uring = {.create = create, .probe = probe};

#endif
