/* SPDX-License-Identifier: MIT
 *
 * failing.c: the functions that the linker's --wrap puts before those of the system. failing_uring.c has those of io_uring.
 */
#define _GNU_SOURCE /* O_DIRECT */
#include "table/failing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "support/wrapped.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  const char *name;
  int after, times, number, calls;
  int64_t most_bytes; /* INT64_MAX = all */
  int64_t bad_offset; /* -1 = none */
  int bad_number;
  int devices;
  int until, made, gave_up; /* of failing_hold */
  int storm, wind;          /* wind: interrupted calls since the last that was not */
} rule = {.most_bytes = INT64_MAX, .bad_offset = -1};
static pthread_cond_t read_made = PTHREAD_COND_INITIALIZER;
static int mappings;

static void enter(void) { (void)pthread_mutex_lock(&lock); }
static void leave(void) { (void)pthread_mutex_unlock(&lock); }

void failing_set(const char *name, int after, int times, int number) {
  enter();
  rule.name = name, rule.after = after, rule.times = times, rule.number = number, rule.calls = 0;
  leave();
}

int failing_calls(void) {
  enter();
  int calls = rule.calls;
  leave();
  return calls;
}

void failing_short(int64_t bytes) {
  enter();
  rule.most_bytes = bytes;
  leave();
}

void failing_at(int64_t offset, int number) {
  enter();
  rule.bad_offset = offset, rule.bad_number = number;
  leave();
}

void failing_storm(int times) {
  enter();
  rule.storm = times, rule.wind = 0;
  leave();
}

void failing_devices(int on) {
  enter();
  rule.devices = on;
  leave();
}

void failing_hold(int until) {
  enter();
  rule.until = until, rule.made = rule.gave_up = 0;
  (void)pthread_cond_broadcast(&read_made);
  leave();
}

int failing_gave_up(void) {
  enter();
  int count = rule.gave_up;
  leave();
  return count;
}

void failing_clear(void) {
  failing_set(NULL, 0, 0, 0);
  failing_short(INT64_MAX);
  failing_at(-1, 0);
  failing_storm(0);
  failing_devices(0);
  failing_hold(0);
}

int failing_mappings(void) {
  enter();
  int count = mappings;
  leave();
  return count;
}

int failing_now(const char *name) {
  int number = 0;
  enter();
  if (rule.name && strcmp(name, rule.name) == 0) {
    if (rule.calls >= rule.after && rule.calls - rule.after < rule.times) number = rule.number;
    rule.calls++;
  }
  leave();
  return number;
}

int failing_interrupted(void) {
  enter();
  int now = rule.wind < rule.storm;
  rule.wind = now ? rule.wind + 1 : 0;
  leave();
  return now;
}

int64_t failing_answer(const char *name, int fd, int64_t offset, char *data, int64_t asked, int64_t answer) {
  char direct[32];
  int flags = fcntl(fd, F_GETFL), number = failing_now(name);
  if (number == 0 && flags >= 0 && (flags & O_DIRECT)) number = failing_now(strcat(strcpy(direct, name), " direct"));
  enter();
  if (number == 0 && rule.bad_offset >= offset && rule.bad_offset - offset < asked) number = rule.bad_number;
  int64_t most = rule.most_bytes;
  leave();
  if (number != 0) return -number;
  if (answer <= most) return answer;
  memset(data + most, 0x5a, (size_t)(answer - most));
  return most;
}

static int fails(const char *name) {
  int number = failing_now(name);
  if (number != 0) errno = number;
  return number != 0;
}

WRAPPED(void *, gather_alloc, (int64_t bytes)) { return fails("gather_alloc") ? NULL : REAL(gather_alloc)(bytes); }

WRAPPED64(int, open, (const char *path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
  va_end(more);
  if (failing_interrupted()) {
    errno = EINTR;
    return -1;
  }
  return fails("open") || ((flags & O_DIRECT) && fails("open direct")) ? -1 : REAL64(open)(path, flags, mode);
}

/* The last digit of the name of an open file, and one more; 0 = it has none. */
static int last_digit(int fd) {
  char link[64], name[PATH_MAX];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, name, sizeof name);
  char last = length > 0 ? name[length - 1] : 'x';
  return last >= '0' && last <= '9' ? last - '0' + 1 : 0;
}

WRAPPED64(int, fstat, (int fd, struct stat *about)) {
  if (fails("fstat")) return -1;
  int answer = REAL64(fstat)(fd, about);
  enter();
  int devices = rule.devices;
  leave();
  if (answer == 0 && devices) about->st_dev += (dev_t)last_digit(fd);
  return answer;
}

FAILING(int, statx, (int folder, const char *path, int flags, unsigned mask, void *about), (folder, path, flags, mask, about))

static void count_mapping(int by) {
  enter();
  mappings += by;
  leave();
}

WRAPPED64(void *, mmap, (void *at, size_t bytes, int access, int flags, int fd, off_t offset)) {
  if (fails("mmap")) return MAP_FAILED;
  void *pages = REAL64(mmap)(at, bytes, access, flags, fd, offset);
  count_mapping(pages != MAP_FAILED);
  return pages;
}

WRAPPED(int, munmap, (void *at, size_t bytes)) {
  count_mapping(-1);
  return REAL(munmap)(at, bytes);
}

static const char *advice_name(int advice) {
  switch (advice) {
    case MADV_RANDOM:
      return "madvise random";
    case MADV_WILLNEED:
      return "madvise willneed";
#if defined(MADV_DONTFORK)
    case MADV_DONTFORK:
      return "madvise dontfork";
#endif
#if defined(MADV_POPULATE_READ)
    case MADV_POPULATE_READ:
      return "madvise populate";
#endif
    default:
      return "madvise";
  }
}

WRAPPED(int, madvise, (void *at, size_t bytes, int advice)) {
  if (failing_interrupted()) {
    errno = EINTR;
    return -1;
  }
  return fails(advice_name(advice)) ? -1 : REAL(madvise)(at, bytes, advice);
}

/* This one returns its error. */
WRAPPED64(int, posix_fadvise, (int fd, off_t start, off_t bytes, int advice)) {
  int number = failing_now("posix_fadvise");
  return number != 0 ? number : REAL64(posix_fadvise)(fd, start, bytes, advice);
}

/* Waits, or counts for those that wait. */
static void hold_back(int fd) {
  enum { SECONDS = 20, LAST = 10 };
  struct timespec end;
  (void)clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += SECONDS;
  enter();
  const bool counts = rule.until > 0 && last_digit(fd) == LAST;
  if (counts) rule.made++, (void)pthread_cond_broadcast(&read_made);
  int number = 0;
  while (!counts && rule.made < rule.until && number == 0) number = pthread_cond_timedwait(&read_made, &lock, &end);
  rule.gave_up += number != 0;
  leave();
}

WRAPPED64(ssize_t, pread, (int fd, void *bytes, size_t size, off_t offset)) {
  if (failing_interrupted()) {
    errno = EINTR;
    return -1;
  }
  hold_back(fd);
  ssize_t got = REAL64(pread)(fd, bytes, size, offset);
  if (got < 0) return got;
  int64_t answer = failing_answer("pread", fd, (int64_t)offset, bytes, (int64_t)size, (int64_t)got);
  if (answer >= 0) return (ssize_t)answer;
  errno = (int)-answer;
  return -1;
}

#if defined(__linux__)
#if defined(__GLIBC__)
#define REAL_PREADV2 __real_preadv64v2
#define WRAP_PREADV2 __wrap_preadv64v2
#else
#define REAL_PREADV2 __real_preadv2
#define WRAP_PREADV2 __wrap_preadv2
#endif
WRAPPED_AS(ssize_t, REAL_PREADV2, WRAP_PREADV2, (int fd, const struct iovec *parts, int count, off_t offset, int flags)) {
  return fails("preadv2") ? -1 : REAL_PREADV2(fd, parts, count, offset, flags);
}
#endif

/* These return their errors. */
WRAPPED(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)) {
  int number = failing_now("pthread_create");
  return number != 0 ? number : REAL(pthread_create)(thread, attributes, start, argument);
}

WRAPPED(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes)) {
  int number = failing_now("pthread_mutex_init");
  return number != 0 ? number : REAL(pthread_mutex_init)(mutex, attributes);
}

WRAPPED(int, pthread_cond_init, (pthread_cond_t * condition, const pthread_condattr_t *attributes)) {
  int number = failing_now("pthread_cond_init");
  return number != 0 ? number : REAL(pthread_cond_init)(condition, attributes);
}
