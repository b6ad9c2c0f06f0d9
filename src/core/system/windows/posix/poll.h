/* SPDX-License-Identifier: MIT
 *
 * poll.h: descriptors here never ask to be tried again, so nothing waits for them.
 */
#ifndef GATHER_POSIX_POLL_H
#define GATHER_POSIX_POLL_H

#include <posix_names.h>

#define POLLOUT 4

struct pollfd {
  int fd;
  short events, revents;
};

int poll(struct pollfd *files, unsigned long count, int timeout) GATHER_POSIX(poll);

#endif
