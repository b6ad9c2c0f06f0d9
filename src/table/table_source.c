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
#include "table/system/table_system.h"

/* Windows: reads of one file, by several threads or overlapped, do not wait for each other. */
#if defined(O_OVERLAPPED)
enum { OVERLAPPED_FLAG = O_OVERLAPPED };
#else
enum { OVERLAPPED_FLAG = 0 };
#endif

/* Systems that have none read past the page cache in other ways, or not at all: gather_direct_begin. */
#if defined(O_DIRECT)
enum { DIRECT_FLAG = O_DIRECT };
#else
enum { DIRECT_FLAG = 0 };
#endif

/* open() for reading, with more flags. Returns -1 and sets errno on failure. O_NONBLOCK: else opening a pipe would wait for a writer. */
static int open_file(const char *path, int more) {
  int fd;
  do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | OVERLAPPED_FLAG | more, 0);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* Reads of it may wait from now on. Regular files do not block, but with the flag io_uring may return EAGAIN. */
static void let_block(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

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

/* Why the second descriptor, just opened, cannot be read directly; an errno. */
static int check_direct(gather_table_source *source, const struct stat *first) {
  struct stat about;
  if (fstat(source->direct_fd, &about) != 0) return errno;
  if (about.st_dev != first->st_dev || about.st_ino != first->st_ino) return ESTALE; /* the name now belongs to another file */
  let_block(source->direct_fd);
  return gather_direct_begin(source);
}

/* A second descriptor, whose reads bypass the page cache. first: what the one through the page cache said of the file. */
static void open_direct(gather_table_source *source, const struct stat *first) {
  source->direct_fd = open_file(source->path, DIRECT_FLAG);
  source->direct_errno = source->direct_fd < 0 ? errno : check_direct(source, first);
  if (source->direct_errno == 0 || source->direct_fd < 0) return;
  (void)close(source->direct_fd);
  source->direct_fd = -1;
  source->block_bytes = GATHER_TABLE_BLOCK_BYTES;
}

static gather_status open_local(const gather_table_source_wishes *wishes, gather_table_source *source, gather_error *error) {
  source->fd = open_file(source->path, 0);
  if (source->fd < 0) return gather_fail_system(error, source->path, errno, "open it");
  struct stat about;
  if (fstat(source->fd, &about) != 0) return gather_fail_system(error, source->path, errno, "find out its size");
  GATHER_TRY(check_kind(source->path, about.st_mode, error));
  source->size = (int64_t)about.st_size;
  source->device_number = (uint64_t)about.st_dev;
  let_block(source->fd);
#if defined(POSIX_FADV_RANDOM)
  (void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_RANDOM);
#endif
  if (wishes->direct) open_direct(source, &about);
  return wishes->mapped ? map_file(source, error) : GATHER_OK;
}

gather_status gather_table_source_look(const char *path, uint64_t *device, uint64_t *inode, int64_t *size, gather_error *error) {
  struct stat about;
  const int fd = open_file(path, 0);
  if (fd < 0) return gather_fail_system(error, path, errno, "open it");
  const int number = fstat(fd, &about) == 0 ? 0 : errno;
  (void)close(fd);
  if (number != 0) return gather_fail_system(error, path, number, "find out its size");
  *device = (uint64_t)about.st_dev, *inode = (uint64_t)about.st_ino;
  *size = (int64_t)about.st_size;
  return check_kind(path, about.st_mode, error);
}

static gather_status begin(const char *path, gather_table_source *source, gather_error *error) {
  *source = (gather_table_source){.fd = -1, .direct_fd = -1, .block_bytes = GATHER_TABLE_BLOCK_BYTES};
  size_t bytes = strlen(path) + 1;
  source->path = gather_alloc((int64_t)bytes);
  if (!source->path) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "out of memory for its name");
  memcpy(source->path, path, bytes);
  return GATHER_OK;
}

gather_status gather_table_source_open(const char *path, const gather_table_source_wishes *wishes, gather_table_source *source,
                                       gather_error *error) {
  GATHER_TRY(begin(path, source, error));
  if (wishes->object) {
    source->object = wishes->object;
    source->block_bytes = 1; /* ranges of bytes begin and end anywhere */
    source->size = wishes->object_bytes;
    return GATHER_OK;
  }
  gather_status status = open_local(wishes, source, error);
  if (status != GATHER_OK) gather_table_source_close(source);
  return status;
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
  return gather_fail_file(error, GATHER_IO_ERROR, source->path, size, "the file ends at byte %lld: it was truncated while it was open",
                          (long long)size);
}
