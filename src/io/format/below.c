/* SPDX-License-Identifier: MIT
 *
 * below.c: opens a file below a directory without following symbolic links, name by name: each is opened relative to
 * the directory opened before, so that links created meanwhile are not followed either.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_PATH */
#endif
#define _DARWIN_C_SOURCE /* O_NOFOLLOW */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "io/format/map.h"

#if defined(O_PATH)
enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };
#else
enum { FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
#endif

static int open_at(int folder, const char *path, int flags) {
  int fd;
  do fd = openat(folder, path, flags);
  while (fd < 0 && errno == EINTR); /* network file systems may return EINTR */
  return fd;
}

/* Opens one name in a directory. With O_DIRECTORY alone, a link would be reported as ENOTDIR, not as a link. */
static int open_step(int folder, const char *name, int flags) {
  struct stat about;
  int fd = open_at(folder, name, flags | O_NOFOLLOW);
  if (fd >= 0) return fd;
  int number = errno;
  if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode)) number = ELOOP;
  errno = number;
  return -1;
}

/* Opens the name at `at`, up to the next slash, and closes its directory. *next: what follows the slashes. */
static int descend(int folder, char *at, char **next, int flags) {
  char *end = at + strcspn(at, GATHER_PATH_SEPARATORS), last = *end;
  *next = end + strspn(end, GATHER_PATH_SEPARATORS);
  *end = '\0';
  int fd = open_step(folder, at, **next || last ? FOLDER : flags), number = errno;
  *end = last;
  (void)close(folder);
  errno = number;
  return fd;
}

int gather_open_below(char *path, size_t folder_bytes, int flags) {
  char *at = path + folder_bytes, first = *at;
  *at = '\0';
  int fd = open_at(AT_FDCWD, folder_bytes > 0 ? path : ".", FOLDER);
  *at = first;
  while (fd >= 0 && *at) fd = descend(fd, at, &at, flags);
  return fd;
}
