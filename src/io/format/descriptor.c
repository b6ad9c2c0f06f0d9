/* SPDX-License-Identifier: MIT
 *
 * descriptor.c: writes to a descriptor of the caller's (POSIX).
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/error.h"
#include "io/format/map.h"
#include "io/format/output.h"

/* Some systems refuse a write of 2 GiB or more. */
enum { WRITE_AT_MOST = 1 << 30 };

gather_status gather_descriptor_check(int fd, gather_error *error) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return gather_fail_system(error, "output", errno, "write to the descriptor");
  if ((flags & O_ACCMODE) == O_RDONLY) return gather_fail_system(error, "output", EBADF, "write to the descriptor");
  return GATHER_OK;
}

/* After a failed write: 0 = try again, else the errno. Waits for a non-blocking descriptor. */
static int retry(int fd, int number) {
  if (number == EINTR) return 0;
  if (number != EAGAIN && number != EWOULDBLOCK) return number;
  struct pollfd waiting = {.fd = fd, .events = POLLOUT};
  return poll(&waiting, 1, -1) >= 0 || errno == EINTR ? 0 : errno;
}

gather_status gather_descriptor_write(int fd, const void *bytes, int64_t size, gather_error *error) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t wrote = write(fd, at, size > WRITE_AT_MOST ? (size_t)WRITE_AT_MOST : (size_t)size);
    if (wrote < 0) {
      int number = retry(fd, errno);
      if (number != 0) return gather_fail_system(error, "output", number, "write to the descriptor");
    } else {
      at += wrote;
      size -= wrote;
    }
  }
  return GATHER_OK;
}
