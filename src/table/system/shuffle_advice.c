/* SPDX-License-Identifier: MIT
 *
 * shuffle_advice.c: advice to the system, where it accepts any.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "table/system/table_system.h"

#include <fcntl.h>

void gather_shuffle_read_ahead(int fd, int64_t size, int64_t offset) {
#if defined(POSIX_FADV_WILLNEED)
  if (size > 0) (void)posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
#else
  (void)fd, (void)size, (void)offset;
#endif
}

void gather_shuffle_read_in_order(int fd) {
#if defined(POSIX_FADV_SEQUENTIAL)
  (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#else
  (void)fd;
#endif
}
