/* SPDX-License-Identifier: MIT
 *
 * failing.c: the functions that the linker's --wrap puts before those of the system.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_TMPFILE, syncfs */
#endif
#define _POSIX_C_SOURCE 200809L
#include "io/format/failing.h"
#include "support/wrapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const char *failing_name, *also_name;
static int calls_left, calls, error_number, also_number, slow_writes, all_named, no_links, other_group;

void failing_set(const char *name, int after, int number) {
  failing_name = name;
  calls_left = after;
  calls = 0;
  error_number = number;
}

int failing_clear(void) {
  failing_name = also_name = NULL;
  return calls;
}

void failing_always(const char *name, int number) {
  also_name = name;
  also_number = number;
}

void failing_slow_writes(int on) { slow_writes = on; }
void failing_unnamed(int on) { all_named = on; }
void failing_links(int on) { no_links = on; }
void failing_group(int on) { other_group = on; }

/* Is this the call that fails? Then errno is set. */
static int fails(const char *name) {
  if (also_name && strcmp(name, also_name) == 0) {
    errno = also_number;
    return 1;
  }
  if (!failing_name || strcmp(name, failing_name) != 0) return 0;
  calls++;
  if (calls_left-- != 0) return 0;
  errno = error_number;
  return 1;
}

WRAPPED(void *, gather_alloc, (int64_t bytes)) { return fails("gather_alloc") ? NULL : REAL(gather_alloc)(bytes); }

#if defined(O_TMPFILE)
static bool has_no_name(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }
#else
static bool has_no_name(int flags) { return flags < 0; }
#endif

WRAPPED64(int, open, (const char *path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  bool unnamed = has_no_name(flags);
  unsigned mode = flags & O_CREAT || unnamed ? va_arg(more, unsigned) : 0;
  va_end(more);
  if (unnamed && all_named) {
    errno = all_named == 1 ? EOPNOTSUPP : all_named;
    return -1;
  }
  return fails("open") ? -1 : REAL64(open)(path, flags, mode);
}

WRAPPED64(int, fstat, (int fd, struct stat *about)) {
  const int result = fails("fstat") ? -1 : REAL64(fstat)(fd, about);
  if (result == 0 && other_group) about->st_gid++;
  return result;
}

FAILING64(int, stat, (const char *path, struct stat *about), (path, about))
FAILING64(int, lstat, (const char *path, struct stat *about), (path, about))

WRAPPED64(void *, mmap, (void *at, size_t bytes, int access, int flags, int fd, off_t offset)) {
  return fails("mmap") ? MAP_FAILED : REAL64(mmap)(at, bytes, access, flags, fd, offset);
}

/* This one returns its error. */
WRAPPED64(int, posix_fallocate, (int fd, off_t start, off_t bytes)) {
  return fails("posix_fallocate") ? error_number : REAL64(posix_fallocate)(fd, start, bytes);
}

FAILING64(int, ftruncate, (int fd, off_t bytes), (fd, bytes))

/* Never fails, but is counted. */
WRAPPED(int, munmap, (void *at, size_t bytes)) {
  (void)fails("munmap");
  return REAL(munmap)(at, bytes);
}

FAILING(int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group))
FAILING(int, flock, (int fd, int how), (fd, how))

#if defined(__linux__)
/* With EEXIST the file has a list, which no file system gives here. */
WRAPPED(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t bytes)) {
  if (!fails("getxattr")) return REAL(getxattr)(path, name, value, bytes);
  if (errno != EEXIST) return -1;
  if (bytes > 0) memset(value, 0, bytes);
  return 28;
}

FAILING(int, fremovexattr, (int fd, const char *name), (fd, name))
FAILING(int, fsetxattr, (int fd, const char *name, const void *value, size_t bytes, int flags), (fd, name, value, bytes, flags))
FAILING(int, syncfs, (int fd), (fd))
#endif

/* A close that fails has closed all the same. */
WRAPPED(int, close, (int fd)) {
  int failed = fails("close");
  int number = errno, result = REAL(close)(fd);
  if (failed) errno = number;
  return failed ? -1 : result;
}

WRAPPED(int, link, (const char *from, const char *to)) {
  if (no_links) {
    errno = EPERM;
    return -1;
  }
  return fails("link") ? -1 : REAL(link)(from, to);
}

FAILING(int, linkat, (int from_folder, const char *from, int to_folder, const char *to, int flags),
        (from_folder, from, to_folder, to, flags))
FAILING(int, fsync, (int fd), (fd))
FAILING(int, rename, (const char *from, const char *to), (from, to))

WRAPPED(ssize_t, write, (int fd, const void *bytes, size_t size)) {
  static int turn;
  if (fails("write")) return -1;
  if (slow_writes && turn++ % 3 == 0) {
    errno = EINTR;
    return -1;
  }
  return REAL(write)(fd, bytes, slow_writes && size > 7 ? 7 : size);
}
