/* SPDX-License-Identifier: MIT
 *
 * source.c: what FILE or FILE:NAME stands for on disk, and the bytes of what cannot be mapped.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "literal.h"
#include "report.h"

static bool is_dash(const char *path) { return strcmp(path, "-") == 0; }

/* Something that may hold tensors stands under that path. */
static bool is_source(const char *path) {
  struct stat status;
  return is_dash(path) || (stat(path, &status) == 0 && !S_ISDIR(status.st_mode));
}

gather_status gather_cli_source_split(const char *argument, char **path, const char **name, gather_error *error) {
  size_t len = strlen(argument);
  *name = "";
  *path = malloc(len + 1);
  if (!*path) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a file's name");
  memcpy(*path, argument, len + 1);
  if (is_source(argument)) return GATHER_OK;
  for (char *colon = strchr(*path, ':'); colon; colon = strchr(colon + 1, ':')) {
    *colon = 0;
    if (is_source(*path)) {
      *name = argument + (colon - *path) + 1;
      return GATHER_OK;
    }
    *colon = ':';
  }
  return GATHER_OK; /* no such file: opening it says so, by its whole name */
}

bool gather_cli_source_streams(const char *path) {
  struct stat status;
  if (is_dash(path)) return true;
  if (stat(path, &status) != 0) return false;
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return true;
  if (!S_ISCHR(status.st_mode)) return false;
  int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
  bool terminal = fd >= 0 && isatty(fd);
  if (fd >= 0) close(fd);
  return terminal;
}

static gather_status wrong(gather_error *error, const char *path, int number) {
  gather_status status = number == ENOENT || number == ENOTDIR ? GATHER_FILE_NOT_FOUND : GATHER_IO_ERROR;
  return gather_cli_fail_file(error, status, is_dash(path) ? "standard input" : path, -1, "%s", strerror(number));
}

static ssize_t read_some(int fd, char *to, size_t room) {
  ssize_t got;
  do got = read(fd, to, room);
  while (got < 0 && errno == EINTR);
  return got;
}

/* Reads to the end; one byte more than was read stays free. */
static gather_status read_all(int fd, const char *path, void **bytes, size_t *count, gather_error *error) {
  char *buffer = NULL;
  size_t len = 0, room = 0;
  for (;;) {
    if (len + 1 >= room) {
      room = room ? room * 2 : 1 << 16;
      char *more = room > len ? realloc(buffer, room) : NULL;
      if (!more) {
        free(buffer);
        return gather_cli_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "it does not fit in memory");
      }
      buffer = more;
    }
    ssize_t got = read_some(fd, buffer + len, room - len - 1);
    if (got < 0) {
      int number = errno;
      free(buffer);
      return wrong(error, path, number);
    }
    if (got == 0) break;
    len += (size_t)got;
  }
  buffer[len] = 0;
  *bytes = buffer;
  *count = len;
  return GATHER_OK;
}

gather_status gather_cli_source_read(const char *path, void **bytes, size_t *count, gather_error *error) {
  if (is_dash(path)) return read_all(STDIN_FILENO, "standard input", bytes, count, error);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return wrong(error, path, errno);
  gather_status status = read_all(fd, path, bytes, count, error);
  close(fd);
  return status;
}

bool gather_cli_source_is_text(const char *path) {
  char head[4096];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  ssize_t got = read_some(fd, head, sizeof head);
  close(fd);
  return got >= 0 && gather_cli_is_text(head, (size_t)got);
}
