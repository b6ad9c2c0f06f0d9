/* SPDX-License-Identifier: MIT
 *
 * explain_file.c: a small file that appears whole or not at all: written beside its place, then linked or renamed there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explain.h"
#include "report.h"
#include "signals.h"

static int write_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t put = write(fd, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes += put;
    count -= (size_t)put;
  }
  return 0;
}

/* The rights that any new file gets. */
static int usual_rights(int fd) {
  mode_t mask = umask(0);
  umask(mask);
  return fchmod(fd, 0666 & ~mask) == 0 ? 0 : errno;
}

/* link() refuses an existing name, rename() replaces it. */
static int put_in_place(const char *temporary, const char *path, bool replace) {
  if (replace) return rename(temporary, path) == 0 ? 0 : errno;
  if (link(temporary, path) == 0) return unlink(temporary) == 0 ? 0 : errno;
  struct stat there;
  if (errno == EEXIST || lstat(path, &there) == 0) return EEXIST;
  return rename(temporary, path) == 0 ? 0 : errno; /* a file system without links */
}

static int write_there(const char *path, char *temporary, bool replace, const char *bytes, size_t count) {
  gather_cli_signals_hold();
  int fd = mkstemp(temporary), number = fd < 0 ? errno : 0;
  if (fd >= 0) gather_cli_signals_temporary(temporary);
  gather_cli_signals_release();
  if (fd < 0) return number;
  number = write_all(fd, bytes, count);
  if (!number) number = usual_rights(fd);
  if (close(fd) != 0 && !number) number = errno;
  if (!number) number = put_in_place(temporary, path, replace);
  if (number) unlink(temporary);
  gather_cli_signals_temporary(NULL);
  return number;
}

gather_status gather_cli_explain_write(const char *path, bool replace, const char *bytes, size_t count,
                                       gather_error *error) {
  size_t room = strlen(path) + sizeof ".XXXXXX";
  char *temporary = malloc(room);
  if (!temporary) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a file's name");
  snprintf(temporary, room, "%s.XXXXXX", path);
  int number = write_there(path, temporary, replace, bytes, count);
  free(temporary);
  if (number == EEXIST)
    return gather_cli_fail_file(error, GATHER_FILE_EXISTS, path, -1, "the file exists already and is kept");
  if (number) return gather_cli_fail_file(error, GATHER_IO_ERROR, path, -1, "%s", strerror(number));
  return GATHER_OK;
}
