/* SPDX-License-Identifier: MIT
 *
 * table_direct.c: direct I/O by O_DIRECT, where a system has it.
 */
#define _GNU_SOURCE /* O_DIRECT, statx */
#define _FILE_OFFSET_BITS 64
#include "table/system/table_direct.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/system/pages.h"
#include "table/table_open_file.h"

#if defined(O_DIRECT)

/* Asks the system for the alignment of direct reads. Returns an errno if it says that they are not possible. */
#if defined(STATX_DIOALIGN)
static int ask_block_bytes(gather_table_source *source) {
  struct statx about;
  memset(&about, 0, sizeof about);
  if (statx(source->direct_fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) != 0 || !(about.stx_mask & STATX_DIOALIGN))
    return 0;
  int64_t block = about.stx_dio_offset_align, memory = about.stx_dio_mem_align;
  if (block <= 0 || memory <= 0 || memory > GATHER_TABLE_BLOCK_BYTES || block > GATHER_TABLE_MOST_BLOCK ||
      (block & (block - 1)) != 0)
    return EOPNOTSUPP;
  if (block > GATHER_TABLE_BLOCK_BYTES) source->block_bytes = block;
  return 0;
}
#else
static int ask_block_bytes(const gather_table_source *source) {
  (void)source;
  return 0;
}
#endif

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
  gather_table_let_block(source->direct_fd);
  int number = ask_block_bytes(source);
  return number != 0 ? number : try_reading(source);
}

void gather_table_source_open_direct(gather_table_source *source, const struct stat *first) {
  source->direct_fd = gather_table_open_file(source->path, O_DIRECT);
  source->direct_errno = source->direct_fd < 0 ? errno : check_direct(source, first);
  if (source->direct_errno == 0 || source->direct_fd < 0) return;
  (void)close(source->direct_fd);
  source->direct_fd = -1;
  source->block_bytes = GATHER_TABLE_BLOCK_BYTES;
}

#else

void gather_table_source_open_direct(gather_table_source *source, const struct stat *first) {
  (void)first;
  source->direct_errno = ENOTSUP;
}

#endif
