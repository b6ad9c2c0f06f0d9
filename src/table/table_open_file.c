/* SPDX-License-Identifier: MIT
 *
 * table_open_file.c: opens a table's file for reading.
 */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#include "table/table_open_file.h"

#include <errno.h>
#include <fcntl.h>

/* Windows: reads of one file, by several threads or overlapped, do not wait for each other. */
#if !defined(O_OVERLAPPED)
#define O_OVERLAPPED 0
#endif

/* O_NONBLOCK: else opening a pipe would wait for a writer. */
int gather_table_open_file(const char *path, int more) {
  int fd;
  do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_OVERLAPPED | more, 0);
  while (fd < 0 && errno == EINTR);
  return fd;
}

void gather_table_let_block(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}
