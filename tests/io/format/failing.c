/* SPDX-License-Identifier: MIT
 *
 * failing.c: the functions that the linker's --wrap puts before those of the system.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_TMPFILE, syncfs */
#endif
#define _POSIX_C_SOURCE 200809L
#include "io/format/failing.h"

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

/* glibc gives functions that know file offsets another name where these have 64 bits. */
#if defined(__GLIBC__)
#define REAL(name) __real_##name##64
#define WRAP(name) __wrap_##name##64
#else
#define REAL(name) __real_##name
#define WRAP(name) __wrap_##name
#endif

void *__real_gather_alloc(int64_t bytes);
void *__wrap_gather_alloc(int64_t bytes);
void *__wrap_gather_alloc(int64_t bytes) { return fails("gather_alloc") ? NULL : __real_gather_alloc(bytes); }

#if defined(O_TMPFILE)
static bool has_no_name(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }
#else
static bool has_no_name(int flags) { return flags < 0; }
#endif

int REAL(open)(const char *path, int flags, ...);
int WRAP(open)(const char *path, int flags, ...);
int WRAP(open)(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  bool unnamed = has_no_name(flags);
  unsigned mode = flags & O_CREAT || unnamed ? va_arg(more, unsigned) : 0;
  va_end(more);
  if (unnamed && all_named) {
    errno = all_named == 1 ? EOPNOTSUPP : all_named;
    return -1;
  }
  return fails("open") ? -1 : REAL(open)(path, flags, mode);
}

int REAL(fstat)(int fd, struct stat *about);
int WRAP(fstat)(int fd, struct stat *about);
int WRAP(fstat)(int fd, struct stat *about) {
  const int result = fails("fstat") ? -1 : REAL(fstat)(fd, about);
  if (result == 0 && other_group) about->st_gid++;
  return result;
}

int REAL(stat)(const char *path, struct stat *about);
int WRAP(stat)(const char *path, struct stat *about);
int WRAP(stat)(const char *path, struct stat *about) { return fails("stat") ? -1 : REAL(stat)(path, about); }

int REAL(lstat)(const char *path, struct stat *about);
int WRAP(lstat)(const char *path, struct stat *about);
int WRAP(lstat)(const char *path, struct stat *about) { return fails("lstat") ? -1 : REAL(lstat)(path, about); }

void *REAL(mmap)(void *at, size_t bytes, int access, int flags, int fd, off_t offset);
void *WRAP(mmap)(void *at, size_t bytes, int access, int flags, int fd, off_t offset);
void *WRAP(mmap)(void *at, size_t bytes, int access, int flags, int fd, off_t offset) {
  return fails("mmap") ? MAP_FAILED : REAL(mmap)(at, bytes, access, flags, fd, offset);
}

/* This one returns its error. */
int REAL(posix_fallocate)(int fd, off_t start, off_t bytes);
int WRAP(posix_fallocate)(int fd, off_t start, off_t bytes);
int WRAP(posix_fallocate)(int fd, off_t start, off_t bytes) {
  return fails("posix_fallocate") ? error_number : REAL(posix_fallocate)(fd, start, bytes);
}

int REAL(ftruncate)(int fd, off_t bytes);
int WRAP(ftruncate)(int fd, off_t bytes);
int WRAP(ftruncate)(int fd, off_t bytes) { return fails("ftruncate") ? -1 : REAL(ftruncate)(fd, bytes); }

/* Never fails, but is counted. */
int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes) {
  (void)fails("munmap");
  return __real_munmap(at, bytes);
}

int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode) { return fails("fchmod") ? -1 : __real_fchmod(fd, mode); }

int __real_fchown(int fd, uid_t owner, gid_t group);
int __wrap_fchown(int fd, uid_t owner, gid_t group);
int __wrap_fchown(int fd, uid_t owner, gid_t group) { return fails("fchown") ? -1 : __real_fchown(fd, owner, group); }

int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);
int __wrap_flock(int fd, int how) { return fails("flock") ? -1 : __real_flock(fd, how); }

#if defined(__linux__)
/* With EEXIST the file has a list, which no file system gives here. */
ssize_t __real_getxattr(const char *path, const char *name, void *value, size_t bytes);
ssize_t __wrap_getxattr(const char *path, const char *name, void *value, size_t bytes);
ssize_t __wrap_getxattr(const char *path, const char *name, void *value, size_t bytes) {
  if (!fails("getxattr")) return __real_getxattr(path, name, value, bytes);
  if (errno != EEXIST) return -1;
  if (bytes > 0) memset(value, 0, bytes);
  return 28;
}

int __real_fremovexattr(int fd, const char *name);
int __wrap_fremovexattr(int fd, const char *name);
int __wrap_fremovexattr(int fd, const char *name) { return fails("fremovexattr") ? -1 : __real_fremovexattr(fd, name); }

int __real_fsetxattr(int fd, const char *name, const void *value, size_t bytes, int flags);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t bytes, int flags);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t bytes, int flags) {
  return fails("fsetxattr") ? -1 : __real_fsetxattr(fd, name, value, bytes, flags);
}

int __real_syncfs(int fd);
int __wrap_syncfs(int fd);
int __wrap_syncfs(int fd) { return fails("syncfs") ? -1 : __real_syncfs(fd); }
#endif

/* A close that fails has closed all the same. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
  int failed = fails("close");
  int number = errno, result = __real_close(fd);
  if (failed) errno = number;
  return failed ? -1 : result;
}

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to) {
  if (no_links) {
    errno = EPERM;
    return -1;
  }
  return fails("link") ? -1 : __real_link(from, to);
}

int __real_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  return fails("linkat") ? -1 : __real_linkat(from_folder, from, to_folder, to, flags);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) { return fails("fsync") ? -1 : __real_fsync(fd); }

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) { return fails("rename") ? -1 : __real_rename(from, to); }

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size) {
  static int turn;
  if (fails("write")) return -1;
  if (slow_writes && turn++ % 3 == 0) {
    errno = EINTR;
    return -1;
  }
  return __real_write(fd, bytes, slow_writes && size > 7 ? 7 : size);
}
