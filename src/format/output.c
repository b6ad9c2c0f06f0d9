/* SPDX-License-Identifier: MIT
 *
 * output.c: files that appear whole or not at all, by POSIX.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include "format/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/map.h"

/* Other programs' leavings may have our names; so many are tried. */
enum { NAMES_TRIED = 10000, NAME_BYTES = 64 };

static char *copy_text(const char *text, size_t bytes) {
  char *copy = gather_alloc((int64_t)bytes + 1);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

/* Length of the folder's part of a path, with its slash. */
static size_t folder_bytes(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash + 1 - path) : 0;
}

/* Says whether a file may be made in the folder of `path`. */
static gather_status check_folder(const char *path, gather_error *error) {
  size_t bytes = folder_bytes(path);
  char *folder = bytes ? copy_text(path, bytes) : copy_text(".", 1);
  if (!folder) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "no memory for its name");
  struct stat about;
  gather_status status = GATHER_OK;
  if (stat(folder, &about) != 0)
    status = gather_fail_system(error, path, errno, "write into its folder");
  else if (!S_ISDIR(about.st_mode))
    status = gather_fail_file(error, GATHER_IO_ERROR, path, -1, "its folder is none");
  else if (access(folder, W_OK | X_OK) != 0)
    status = gather_fail_system(error, path, errno, "write into its folder");
  gather_free(folder);
  return status;
}

static gather_status fail_exists(const char *path, gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_EXISTS, path, -1, "the file exists already and is kept");
}

/* Checks what has the name already. mode: the permissions of the file to be replaced, else 0. */
static gather_status check_target(const char *path, bool replace, mode_t *mode, gather_error *error) {
  struct stat about;
  *mode = 0;
  if (path[0] == '\0') return gather_fail(error, GATHER_USAGE, "the name of the output is empty");
  if (path[strlen(path) - 1] == '/')
    return gather_fail_file(error, GATHER_USAGE, path, -1, "the name of the output is a folder's");
  GATHER_TRY(check_folder(path, error));
  if (lstat(path, &about) != 0)
    return errno == ENOENT ? GATHER_OK : gather_fail_system(error, path, errno, "find out whether it exists");
  if (S_ISDIR(about.st_mode)) return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is a directory");
  if (!replace) return fail_exists(path, error);
  if (stat(path, &about) != 0) return gather_fail_system(error, path, errno, "follow the link");
  /* Renaming over a device or a pipe would put a file in its place. */
  if (!S_ISREG(about.st_mode))
    return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is not a regular file, so it is not replaced");
  *mode = about.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  return GATHER_OK;
}

gather_status gather_output_check(const char *path, bool replace, gather_error *error) {
  mode_t mode;
  return check_target(path, replace, &mode, error);
}

/* A link that may be replaced stays, and the file behind it is replaced. */
static gather_status resolve(const char *path, bool replace, char **target, gather_error *error) {
  errno = 0;
  char *real = replace ? realpath(path, NULL) : NULL;
  if (replace && !real && errno != ENOENT) return gather_fail_system(error, path, errno, "find out what it stands for");
  *target = real ? copy_text(real, strlen(real)) : copy_text(path, strlen(path));
  free(real);
  if (*target) return GATHER_OK;
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "no memory for its name");
}

static gather_status open_temporary(gather_output *output, gather_error *error) {
  size_t folder = folder_bytes(output->target);
  output->temporary = gather_alloc((int64_t)folder + NAME_BYTES);
  if (!output->temporary)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, output->target, -1, "no memory for its name");
  memcpy(output->temporary, output->target, folder);
  for (int i = 0; i < NAMES_TRIED && output->fd < 0; i++) {
    (void)snprintf(output->temporary + folder, NAME_BYTES, ".gather-%ld-%d.tmp", (long)getpid(), i);
    output->fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (output->fd >= 0) return GATHER_OK;
  int number = errno == EEXIST ? EIO : errno; /* it is the temporary name that exists, not the target's */
  output->temporary[0] = '\0';
  return gather_fail_system(error, output->target, number, "create a file beside it");
}

gather_status gather_output_create(gather_output *output, const char *path, bool replace, gather_error *error) {
  mode_t mode;
  *output = (gather_output)GATHER_OUTPUT_NONE;
  GATHER_TRY(check_target(path, replace, &mode, error));
  output->replace = replace;
  gather_status status = resolve(path, replace, &output->target, error);
  if (status == GATHER_OK) status = open_temporary(output, error);
  if (status == GATHER_OK && mode != 0 && fchmod(output->fd, mode) != 0)
    status = gather_fail_system(error, path, errno, "keep its permissions");
  if (status != GATHER_OK) gather_output_clear(output);
  return status;
}

/* Has the disk no room for `size` bytes? Asked first, since taking room until there is none would leave none for others,
 * even if it is given back. A file system that does not know its size says 0. */
static bool is_too_small(int fd, int64_t size) {
  struct statvfs room;
  if (fstatvfs(fd, &room) != 0 || room.f_blocks == 0 || room.f_frsize == 0) return false;
  return (uint64_t)size / room.f_frsize > (uint64_t)room.f_bavail;
}

/* Makes the file `size` bytes long and takes the room from the disk; an errno. Where the file system cannot do that, the file
 * is only made long, and a full disk then ends the program that fills it (SIGBUS). */
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
    return gather_fail_file(error, GATHER_OVERFLOW, output->target, -1, "is too big for the addresses of this program");
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

/* Names the file where nothing may have the name: a second name for it can be made only if the name is free. Where a file
 * system has no second names, the name is first taken by an empty file, which the rename then replaces. */
static int name_exclusively(const gather_output *output) {
  if (link(output->temporary, output->target) == 0) {
    (void)unlink(output->temporary); /* the file has its name, whatever becomes of the other */
    return 0;
  }
  int fd = open(output->target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  (void)close(fd);
  if (rename(output->temporary, output->target) == 0) return 0;
  int number = errno;
  (void)unlink(output->target);
  return number;
}

gather_status gather_output_publish(gather_output *output, gather_error *error) {
  unmap(output);
  int fd = output->fd;
  output->fd = -1;
  /* After EINTR the descriptor is closed on Linux, and nothing was lost. */
  if (close(fd) != 0 && errno != EINTR) return gather_fail_system(error, output->target, errno, "write it");
  int number = 0;
  if (!output->replace)
    number = name_exclusively(output);
  else if (rename(output->temporary, output->target) != 0)
    number = errno;
  if (number == EEXIST) return fail_exists(output->target, error);
  if (number != 0) return gather_fail_system(error, output->target, number, "give the finished file its name");
  output->temporary[0] = '\0';
  return GATHER_OK;
}

void gather_output_clear(gather_output *output) {
  unmap(output);
  if (output->fd >= 0) (void)close(output->fd);
  if (output->temporary && output->temporary[0] != '\0') (void)unlink(output->temporary);
  gather_free(output->temporary);
  gather_free(output->target);
  *output = (gather_output)GATHER_OUTPUT_NONE;
}
