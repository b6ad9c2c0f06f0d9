/* SPDX-License-Identifier: MIT
 *
 * source.c: resolves FILE or FILE:NAME, and reads files that cannot be mapped.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "gather/file.h"
#include "remote_arg.h"
#include "system.h"

static bool no_links;

void gather_cli_links_start(const gather_cli_args *args) { no_links = args->value[GATHER_CLI_NO_LINKS] != NULL; }
bool gather_cli_no_links(void) { return no_links; }

gather_status gather_cli_file_source(const char *path, gather_file_source *source, gather_error *error) {
  static const gather_file_source INIT = GATHER_FILE_SOURCE_INIT;
  *source = INIT;
  source->path = path;
  source->no_links = no_links;
  return gather_cli_remote(path, &source->remote, error);
}

gather_status gather_cli_file_open(const char *path, gather_file **file, gather_error *error) {
  gather_file_source source;
  GATHER_CLI_TRY(gather_cli_file_source(path, &source, error));
  return gather_file_open(&source, file, error);
}

static bool is_dash(const char *path) { return strcmp(path, "-") == 0; }

/* Whether an errno of a path means that there is no such file. */
static bool is_absent(int number) {
  return number == ENOENT || number == ENOTDIR || number == EACCES || number == ENAMETOOLONG || number == ELOOP;
}

static gather_status wrong(gather_error *error, const char *path, int number) {
  return gather_cli_fail_errno(error, gather_cli_status_of(number), number, is_dash(path) ? "standard input" : path, -1, "");
}

/* A name that is not a part of the argument; the program ends with it. */
typedef struct kept_name {
  struct kept_name *next;
  char text[];
} kept_name;
static kept_name *kept_names;

static char *keep_name(const char *text, size_t bytes) {
  kept_name *made = malloc(sizeof *made + bytes + 1);
  if (!made) return NULL;
  memcpy(made->text, text, bytes);
  made->text[bytes] = 0;
  made->next = kept_names;
  kept_names = made;
  return made->text;
}

/* A file of that whole name exists. */
static bool is_there(const char *path) {
  struct stat status;
  return stat(path, &status) == 0;
}

/* -:NAME is the tensor NAME of standard input. */
static gather_status split(const char *argument, char *path, const char **name, gather_error *error) {
  if (strncmp(argument, "-:", 2) != 0 || is_there(argument)) return gather_file_split(argument, true, path, name, error);
  memcpy(path, argument, strlen(argument) + 1);
  path[1] = 0;
  *name = path + 2;
  return GATHER_OK;
}

gather_status gather_cli_source_split(const char *argument, const char *tensor, char **path, const char **name, gather_error *error) {
  const size_t len = strlen(argument);
  const char *found = NULL;
  *name = tensor ? tensor : "";
  *path = malloc(len + 1);
  if (!*path) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a file's name");
  memcpy(*path, argument, len + 1);
  if (tensor || is_dash(argument)) return GATHER_OK;
  GATHER_CLI_TRY(split(argument, *path, &found, error));
  if (!found) return GATHER_OK;
  const size_t before = strlen(*path);
  if (memcmp(argument, *path, before) == 0 && argument[before] == ':' && strlen(found) == len - before - 1) {
    *name = argument + before + 1;
    return GATHER_OK;
  }
  *name = keep_name(found, strlen(found)); /* a query is behind it */
  return *name ? GATHER_OK : gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a tensor's name");
}

const char *gather_cli_shown_name(const gather_cli_args *args, const gather_file *file) {
  return gather_remote_is_url(args->argument[0]) ? gather_file_name(file) : args->argument[0];
}

bool gather_cli_source_streams(const char *path) {
  struct stat status;
  if (is_dash(path)) return true;
  if (stat(path, &status) != 0) return false;
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return true;
  if (!S_ISCHR(status.st_mode)) return false;
  int fd = gather_cli_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY);
  bool terminal = fd >= 0 && isatty(fd);
  if (fd >= 0) close(fd);
  return terminal;
}

static ssize_t read_some(int fd, char *to, size_t room) {
  ssize_t got;
  do got = read(fd, to, room);
  while (got < 0 && errno == EINTR);
  return got;
}

/* Reads to the end; the buffer has at least one more byte. */
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
  int fd = gather_cli_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY);
  if (fd < 0) return wrong(error, path, errno);
  gather_status status = read_all(fd, path, bytes, count, error);
  close(fd);
  return status;
}

gather_status gather_cli_source_is_text(const char *path, bool *text, gather_error *error) {
  char head[4096];
  *text = false;
  int fd = gather_cli_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY);
  ssize_t got = fd >= 0 ? read_some(fd, head, sizeof head) : -1;
  const int number = errno;
  if (fd >= 0) close(fd);
  if (got < 0 && (number == EISDIR || (is_absent(number) && number != EACCES))) return GATHER_OK;
  if (got < 0) return gather_cli_fail_errno(error, gather_cli_status_of(number), number, path, -1, "cannot open it");
  *text = gather_file_is_text(head, (size_t)got);
  return GATHER_OK;
}
