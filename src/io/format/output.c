/* SPDX-License-Identifier: MIT
 *
 * output.c: files that are written atomically (POSIX).
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include "io/format/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/path.h"
#include "io/format/map.h"

static char *copy_text(const char *text, size_t bytes) {
  char *copy = gather_alloc((int64_t)bytes + 1);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

/* Length of the folder part of a path, with its slash. */
static size_t folder_bytes(const char *path) {
  const char *slash = gather_path_slash(path);
  return slash ? (size_t)(slash + 1 - path) : 0;
}

/* A fault that is found without a call that fails, with the number that such a call would have. */
static gather_status fail_kind(const char *path, int number, const char *what, gather_error *error) {
  (void)gather_fail_file(error, GATHER_IO_ERROR, path, -1, "%s", what);
  if (error) error->system_error = (int16_t)number;
  return GATHER_IO_ERROR;
}

/* Fails if no file can be created in the folder of `path`. */
static gather_status check_folder(const char *path, gather_error *error) {
  size_t bytes = folder_bytes(path);
  char *folder = bytes ? copy_text(path, bytes) : copy_text(".", 1);
  if (!folder) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "no memory for its name");
  struct stat about;
  gather_status status = GATHER_OK;
  if (stat(folder, &about) != 0)
    status = gather_fail_system(error, path, errno, "write into its folder");
  else if (!S_ISDIR(about.st_mode))
    status = fail_kind(path, ENOTDIR, "its parent is not a directory", error);
  else if (access(folder, W_OK | X_OK) != 0)
    status = gather_fail_system(error, path, errno, "write into its folder");
  gather_free(folder);
  return status;
}

static gather_status fail_exists(const char *path, gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_EXISTS, path, -1, "the file exists already and is kept");
}

/* Checks whatever exists under the name. *replaces: a file will be replaced. */
static gather_status check_target(const char *path, bool replace, bool *replaces, gather_error *error) {
  struct stat about;
  *replaces = false;
  if (path[0] == '\0') return gather_fail(error, GATHER_USAGE, "the name of the output is empty");
  if (strchr(GATHER_PATH_SEPARATORS, path[strlen(path) - 1]))
    return gather_fail_file(error, GATHER_USAGE, path, -1, "the name of the output ends with a slash");
  GATHER_TRY(check_folder(path, error));
  if (lstat(path, &about) != 0)
    return errno == ENOENT ? GATHER_OK : gather_fail_system(error, path, errno, "find out whether it exists");
  if (S_ISDIR(about.st_mode)) return fail_kind(path, EISDIR, "is a directory", error);
  if (!replace) return fail_exists(path, error);
  if (stat(path, &about) != 0) return gather_fail_system(error, path, errno, "follow the link");
  /* Renaming over a device or a pipe would replace it by a file. */
  if (!S_ISREG(about.st_mode))
    return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is not a regular file, so it is not replaced");
  *replaces = true;
  return GATHER_OK;
}

gather_status gather_output_check(const char *path, bool replace, gather_error *error) {
  bool replaces;
  return check_target(path, replace, &replaces, error);
}

/* A link is kept; the file that it points to is replaced. */
static gather_status resolve(const char *path, bool replace, char **target, gather_error *error) {
  errno = 0;
  char *real = replace ? realpath(path, NULL) : NULL;
  if (replace && !real && errno != ENOENT) return gather_fail_system(error, path, errno, "resolve the link");
  *target = real ? copy_text(real, strlen(real)) : copy_text(path, strlen(path));
  free(real);
  if (*target) return GATHER_OK;
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "no memory for its name");
}

static gather_status open_output(gather_output *output, bool replaces, gather_error *error) {
  output->folder_bytes = folder_bytes(output->target);
  output->temporary = gather_alloc((int64_t)output->folder_bytes + GATHER_OUTPUT_NAME_BYTES);
  if (!output->temporary)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, output->target, -1, "no memory for its name");
  memcpy(output->temporary, output->target, output->folder_bytes);
  int number = gather_output_open(output, replaces ? S_IRUSR | S_IWUSR : 0666);
  if (number != 0) return gather_fail_system(error, output->target, number, "create a file beside it");
  return replaces ? gather_permissions_copy(output->target, output->fd, error) : GATHER_OK;
}

gather_status gather_output_create(gather_output *output, const char *path, bool replace, gather_error *error) {
  bool replaces;
  *output = (gather_output)GATHER_OUTPUT_NONE;
  GATHER_TRY(check_target(path, replace, &replaces, error));
  output->replace = replace;
  gather_status status = resolve(path, replace, &output->target, error);
  if (status == GATHER_OK) status = open_output(output, replaces, error);
  if (status != GATHER_OK) gather_output_clear(output);
  return status;
}

/* Whether the disk has less than `size` bytes free. Checked first, since allocating until the disk is full would
 * hurt other programs, even if freed at once. A file system that does not know its size reports 0. */
static bool is_too_small(int fd, int64_t size) {
  struct statvfs room;
  if (fstatvfs(fd, &room) != 0 || room.f_blocks == 0 || room.f_frsize == 0) return false;
  return (uint64_t)size / room.f_frsize > (uint64_t)room.f_bavail;
}

/* Makes the file `size` bytes long and allocates its blocks; returns an errno. If the file system cannot allocate,
 * the file is sparse, and a full disk later kills the program that fills it (SIGBUS). */
static int reserve_room(int fd, int64_t size) {
#if defined(_POSIX_ADVISORY_INFO) && _POSIX_ADVISORY_INFO > 0
  int number;
  do number = posix_fallocate(fd, 0, (off_t)size);
  while (number == EINTR);
  if (number != EOPNOTSUPP && number != ENOTSUP && number != EINVAL && number != ENOSYS) return number;
#endif
  return ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
}

gather_status gather_output_reserve(gather_output *output, int64_t size, gather_error *error) {
  if (size == 0) return GATHER_OK;
  if ((uint64_t)size > PTRDIFF_MAX || (off_t)size != size)
    return gather_fail_file(error, GATHER_OVERFLOW, output->target, -1, "is too large for the address space");
  int number = is_too_small(output->fd, size) ? ENOSPC : reserve_room(output->fd, size);
  if (number != 0) return gather_fail_system(error, output->target, number, "reserve its size on the disk");
  output->size = size;
  return GATHER_OK;
}

gather_status gather_output_map(gather_output *output, gather_error *error) {
  if (output->size == 0) return GATHER_OK;
  void *pages = mmap(NULL, (size_t)output->size, PROT_READ | PROT_WRITE, MAP_SHARED, output->fd, 0);
  if (pages == MAP_FAILED) return gather_fail_system(error, output->target, errno, "map it into memory");
  output->bytes = pages;
  return GATHER_OK;
}

static void unmap(gather_output *output) {
  if (output->bytes) (void)munmap(output->bytes, (size_t)output->size);
  output->bytes = NULL;
}

/* Some file systems report write errors only on close, so a duplicate is closed. The file itself stays open: it
 * keeps its lock, and an unnamed file would be deleted. After EINTR the descriptor is closed on Linux, and nothing
 * is lost. */
static int flush(const gather_output *output) {
  int copy = dup(output->fd);
  if (copy < 0) return errno;
  return close(copy) == 0 || errno == EINTR ? 0 : errno;
}

static gather_status settle_bytes(const gather_output *output, gather_error *error) {
  int number = output->no_sync ? 0 : gather_output_sync(output);
  if (number == 0) number = flush(output);
  return number == 0 ? GATHER_OK : gather_fail_system(error, output->target, number, "write it to the disk");
}

gather_status gather_output_publish(gather_output *output, gather_error *error) {
  unmap(output);
  GATHER_TRY(settle_bytes(output, error));
  int number = gather_output_name(output);
  if (number == EEXIST) return fail_exists(output->target, error);
  if (number != 0) return gather_fail_system(error, output->target, number, "give the finished file its name");
  number = output->no_sync ? 0 : gather_output_sync_folder(output);
  if (number == 0) return GATHER_OK;
  return gather_fail_system(error, output->target, number, "sync its directory; the file is complete and has its name");
}

void gather_output_clear(gather_output *output) {
  unmap(output);
  if (output->named) (void)unlink(output->temporary); /* before its lock is released */
  if (output->fd >= 0) (void)close(output->fd);
  if (output->folder >= 0) (void)close(output->folder);
  gather_free(output->temporary);
  gather_free(output->target);
  *output = (gather_output)GATHER_OUTPUT_NONE;
}
