/* SPDX-License-Identifier: MIT
 *
 * table_source.c: opens a file to read rows from: through the page cache, by direct I/O, and by mapping.
 */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#include "table/table_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/map.h"
#include "table/system/table_direct.h"
#include "table/table_open_file.h"

static gather_status check_kind(const char *path, mode_t mode, gather_error *error) {
  if (S_ISREG(mode)) return GATHER_OK;
  const char *kind = S_ISDIR(mode)                    ? "a directory"
                     : S_ISFIFO(mode)                 ? "a pipe"
                     : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                                      : "not a regular file";
  return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is %s; tables are read from regular files", kind);
}

static gather_status map_file(gather_table_source *source, gather_error *error) {
  if (source->size == 0) return GATHER_OK; /* an empty file cannot be mapped */
  if ((uint64_t)source->size > PTRDIFF_MAX)
    return gather_fail_file(error, GATHER_OVERFLOW, source->path, -1, "is too large for the address space");
  void *pages = mmap(NULL, (size_t)source->size, PROT_READ, MAP_SHARED, source->fd, 0);
  if (pages == MAP_FAILED) return gather_fail_system(error, source->path, errno, "map it into memory");
  source->map = pages;
  (void)madvise(pages, (size_t)source->size, MADV_RANDOM);
  return GATHER_OK;
}

static gather_status open_all(const gather_table_source_wishes *wishes, gather_table_source *source,
                              gather_error *error) {
  source->fd = gather_table_open_file(source->path, 0);
  if (source->fd < 0) return gather_fail_system(error, source->path, errno, "open it");
  struct stat about;
  if (fstat(source->fd, &about) != 0) return gather_fail_system(error, source->path, errno, "find out its size");
  GATHER_TRY(check_kind(source->path, about.st_mode, error));
  source->size = (int64_t)about.st_size;
  source->device_number = (uint64_t)about.st_dev;
  gather_table_let_block(source->fd);
#if defined(POSIX_FADV_RANDOM)
  (void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_RANDOM);
#endif
  if (wishes->direct) gather_table_source_open_direct(source, &about);
  return wishes->mapped ? map_file(source, error) : GATHER_OK;
}

static gather_status begin(const char *path, gather_table_source *source, gather_error *error) {
  *source = (gather_table_source){.fd = -1, .direct_fd = -1, .block_bytes = GATHER_TABLE_BLOCK_BYTES};
  size_t bytes = strlen(path) + 1;
  source->path = gather_alloc((int64_t)bytes);
  if (!source->path) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "no memory for its name");
  memcpy(source->path, path, bytes);
  return GATHER_OK;
}

/* Ranges of bytes begin and end anywhere. */
gather_status gather_table_source_open_remote(const char *path, struct gather_remote_object *object, int64_t size,
                                              gather_table_source *source, gather_error *error) {
  GATHER_TRY(begin(path, source, error));
  source->object = object;
  source->block_bytes = 1;
  source->size = size;
  return GATHER_OK;
}

gather_status gather_table_source_open(const char *path, const gather_table_source_wishes *wishes,
                                       gather_table_source *source, gather_error *error) {
  GATHER_TRY(begin(path, source, error));
  gather_status status = open_all(wishes, source, error);
  if (status != GATHER_OK) gather_table_source_close(source);
  return status;
}

int gather_table_source_fd(const gather_table_source *source) {
  return source->direct_fd >= 0 ? source->direct_fd : source->fd;
}

void gather_table_source_close(gather_table_source *source) {
  if (source->map) (void)munmap(source->map, (size_t)source->size);
  if (source->direct_fd >= 0) (void)close(source->direct_fd);
  if (source->fd >= 0) (void)close(source->fd);
  gather_free(source->path);
  *source = (gather_table_source){.fd = -1, .direct_fd = -1, .block_bytes = GATHER_TABLE_BLOCK_BYTES};
}

gather_status gather_table_source_check(const gather_table_source *source, gather_error *error) {
  struct stat about;
  if (fstat(source->fd, &about) != 0) return gather_fail_system(error, source->path, errno, "find out its size");
  int64_t size = (int64_t)about.st_size;
  if (size >= source->size) return GATHER_OK;
  return gather_fail_file(error, GATHER_IO_ERROR, source->path, size,
                          "the file ends at byte %lld: it was truncated while it was open", (long long)size);
}
