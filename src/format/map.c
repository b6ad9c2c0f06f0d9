/* SPDX-License-Identifier: MIT
 *
 * map.c: maps files into memory (POSIX).
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "format/map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "format/map_remote.h"

gather_status gather_fail_system(gather_error *error, const char *path, int number, const char *doing) {
  char words[128] = "";
  if (strerror_r(number, words, sizeof words) != 0) words[0] = '\0';
  gather_status status = number == ENOENT || number == ENOTDIR ? GATHER_FILE_NOT_FOUND
                         : number == EEXIST                    ? GATHER_FILE_EXISTS
                         : number == ENOMEM                    ? GATHER_OUT_OF_MEMORY
                                                               : GATHER_IO_ERROR;
  /* The number of a process is a limit that its user can raise, and the library does not. */
  const char *more = number == EMFILE ? "; raise the limit of open files of a process (ulimit -n)" : "";
  return gather_fail_file(error, status, path, -1, "cannot %s: %s%s", doing, words, more);
}

static gather_status check_kind(const char *path, mode_t mode, gather_error *error) {
  if (S_ISREG(mode)) return GATHER_OK;
  if (S_ISDIR(mode)) return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is a directory, not a file");
  const char *kind = S_ISFIFO(mode) ? "a pipe" : S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "not a regular file";
  return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is %s; only regular files can be mapped", kind);
}

static gather_status map_descriptor(int fd, const char *path, gather_map *map, gather_error *error) {
  struct stat about;
  if (fstat(fd, &about) != 0) return gather_fail_system(error, path, errno, "find out its size");
  GATHER_TRY(check_kind(path, about.st_mode, error));
  *map = (gather_map){
      .size = (int64_t)about.st_size, .owned = true, .device = (uint64_t)about.st_dev, .inode = (uint64_t)about.st_ino};
  if (map->size == 0) return GATHER_OK; /* an empty file cannot be mapped */
  if ((uint64_t)map->size > PTRDIFF_MAX)
    return gather_fail_file(error, GATHER_OVERFLOW, path, -1, "is too large for the address space");
  void *pages = mmap(NULL, (size_t)map->size, PROT_READ, MAP_SHARED, fd, 0);
  if (pages == MAP_FAILED) return gather_fail_system(error, path, errno, "map it into memory");
  map->bytes = pages;
  return GATHER_OK;
}

/* Without O_NONBLOCK, opening a pipe would wait for a writer. */
enum { FOR_READING = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static gather_status map_opened(int fd, const char *path, gather_map *map, gather_error *error) {
  gather_status status = map_descriptor(fd, path, map, error);
  (void)close(fd); /* the mapping stays */
  return status;
}

int gather_open_file(const char *path, int flags, unsigned mode) {
  int fd;
  do fd = open(path, flags | O_CLOEXEC, (mode_t)mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

gather_status gather_map_open(const char *path, gather_map *map, gather_error *error) {
  int fd = gather_open_file(path, FOR_READING, 0);
  return fd < 0 ? gather_fail_system(error, path, errno, "open it") : map_opened(fd, path, map, error);
}

gather_status gather_map_open_below(char *path, size_t folder_bytes, gather_map *map, gather_error *error) {
  int fd = gather_open_below(path, folder_bytes, FOR_READING);
  if (fd >= 0) return map_opened(fd, path, map, error);
  if (errno == ELOOP)
    return gather_fail_file(error, GATHER_IO_ERROR, path, -1,
                            "is reached through a symbolic link, which the options forbid");
  return gather_fail_system(error, path, errno, "open it");
}

void gather_map_close(gather_map *map) {
  if (map->remote) {
    if (map->owned) gather_map_remote_close(map->remote);
  } else if (map->owned && map->bytes) {
    (void)munmap((void *)(uintptr_t)map->bytes, (size_t)map->size);
  }
  *map = (gather_map){0};
}
