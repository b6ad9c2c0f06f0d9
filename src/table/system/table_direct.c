/* SPDX-License-Identifier: MIT
 *
 * table_direct.c: direct I/O by O_DIRECT, where a system has it.
 */
#define _GNU_SOURCE /* O_DIRECT, statx */
#define _FILE_OFFSET_BITS 64
#include "table/system/table_system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/system/pages.h"

#if defined(O_DIRECT)

/* Asks the system for the alignment of direct reads. Returns an errno if it says that they are not possible. */
#if defined(STATX_DIOALIGN)
static int ask_block_bytes(gather_table_source *source) {
  struct statx about;
  memset(&about, 0, sizeof about);
  if (statx(source->direct_fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) != 0 || !(about.stx_mask & STATX_DIOALIGN)) return 0;
  int64_t block = about.stx_dio_offset_align, memory = about.stx_dio_mem_align;
  if (block <= 0 || memory <= 0 || memory > GATHER_TABLE_BLOCK_BYTES || block > GATHER_TABLE_MOST_BLOCK || (block & (block - 1)) != 0)
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
  return number == EINVAL || number == EOPNOTSUPP || number == ENOMEM ? number : 0; /* other errors are reported when rows are read */
}

int gather_direct_begin(gather_table_source *source) {
  const int number = ask_block_bytes(source);
  return number != 0 ? number : try_reading(source);
}

#else

int gather_direct_begin(gather_table_source *source) {
  (void)source;
  return ENOTSUP;
}

#endif
