/* SPDX-License-Identifier: MIT
 *
 * table_source.c: opens a file to read rows from: through the page cache, by direct I/O, and by mapping.
 */
#define _GNU_SOURCE /* O_DIRECT, statx */
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#include "table/table_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pages.h"
#include "format/map.h"

/* MOST_BLOCK: sources with longer blocks are read through the page cache. */
enum { BLOCK_BYTES = 4096, MOST_BLOCK = 1 << 20 };

/* Windows: reads of one file, by several threads or overlapped, do not wait for each other. */
#if !defined(O_OVERLAPPED)
#define O_OVERLAPPED 0
#endif

/* O_NONBLOCK: else opening a pipe would wait for a writer. */
static int open_file(const char *path, int more) {
  int fd;
  do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_OVERLAPPED | more);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* Regular files do not block, but with the flag io_uring may return EAGAIN. */
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

#if defined(O_DIRECT)

/* Asks the system for the alignment of direct reads. Returns an errno if it says that they are not possible. */
static int ask_block_bytes(gather_table_source *source) {
#if defined(STATX_DIOALIGN)
  struct statx about;
  memset(&about, 0, sizeof about);
  if (statx(source->direct_fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) != 0 || !(about.stx_mask & STATX_DIOALIGN))
    return 0;
  int64_t block = about.stx_dio_offset_align, memory = about.stx_dio_mem_align;
  if (block <= 0 || memory <= 0 || memory > BLOCK_BYTES || block > MOST_BLOCK || (block & (block - 1)) != 0)
    return EOPNOTSUPP;
  if (block > BLOCK_BYTES) source->block_bytes = block;
#endif
  (void)source;
  return 0;
}

/* Some file systems accept O_DIRECT on open, but then refuse to read. */
static int try_reading(const gather_table_source *source) {
  char *block = gather_pages_create(source->block_bytes);
  if (!block) return ENOMEM;
  ssize_t got;
  do got = pread(source->direct_fd, block, (size_t)source->block_bytes, 0);
  while (got < 0 && errno == EINTR);
  int number = got < 0 ? errno : 0;
  gather_pages_destroy(block, source->block_bytes);
  return number == EINVAL || number == EOPNOTSUPP || number == ENOMEM
             ? number
             : 0; /* other errors are reported when rows are read */
}

static int check_direct(gather_table_source *source, const struct stat *first) {
  struct stat about;
  if (fstat(source->direct_fd, &about) != 0) return errno;
  if (about.st_dev != first->st_dev || about.st_ino != first->st_ino)
    return ESTALE; /* the name now belongs to another file */
  let_block(source->direct_fd);
  int number = ask_block_bytes(source);
  return number != 0 ? number : try_reading(source);
}

static void open_direct(gather_table_source *source, const struct stat *first) {
  source->direct_fd = open_file(source->path, O_DIRECT);
  source->direct_errno = source->direct_fd < 0 ? errno : check_direct(source, first);
  if (source->direct_errno == 0 || source->direct_fd < 0) return;
  (void)close(source->direct_fd);
  source->direct_fd = -1;
  source->block_bytes = BLOCK_BYTES;
}

#elif defined(F_NOCACHE)

static void open_direct(gather_table_source *source, const struct stat *first) {
  (void)first;
  source->direct_fd = dup(source->fd);
  if (source->direct_fd >= 0 && fcntl(source->direct_fd, F_NOCACHE, 1) != -1) return;
  source->direct_errno = errno;
  if (source->direct_fd >= 0) (void)close(source->direct_fd);
  source->direct_fd = -1;
}

#else

static void open_direct(gather_table_source *source, const struct stat *first) {
  (void)first;
  source->direct_errno = ENOTSUP;
}

#endif

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

static gather_status begin(const char *path, gather_table_source *source, gather_error *error) {
  *source = (gather_table_source){.fd = -1, .direct_fd = -1, .block_bytes = BLOCK_BYTES};
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
  *source = (gather_table_source){.fd = -1, .direct_fd = -1, .block_bytes = BLOCK_BYTES};
}

gather_status gather_table_source_check(const gather_table_source *source, gather_error *error) {
  struct stat about;
  if (fstat(source->fd, &about) != 0) return gather_fail_system(error, source->path, errno, "find out its size");
  int64_t size = (int64_t)about.st_size;
  if (size >= source->size) return GATHER_OK;
  return gather_fail_file(error, GATHER_IO_ERROR, source->path, size,
                          "the file ends at byte %lld: it was truncated while it was open", (long long)size);
}
