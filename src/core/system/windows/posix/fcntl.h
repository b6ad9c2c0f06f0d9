/* SPDX-License-Identifier: MIT
 *
 * fcntl.h: opening files. O_OVERLAPPED, which POSIX does not have: several reads by position may be in flight.
 */
#ifndef GATHER_POSIX_FCNTL_H
#define GATHER_POSIX_FCNTL_H

#include <posix_names.h>
#include <sys/types.h>

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_ACCMODE 3
#define O_CREAT 0x100
#define O_EXCL 0x200
#define O_TRUNC 0x400
#define O_DIRECTORY 0x1000
#define O_NOFOLLOW 0x2000
#define O_DIRECT 0x4000
#define O_OVERLAPPED 0x8000
/* Files do not block here, are no terminals, and are not inherited. */
#define O_NONBLOCK 0
#define O_NOCTTY 0
#define O_CLOEXEC 0

#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_SYMLINK_FOLLOW 0x400

#define F_GETFD 1
#define F_GETFL 3
#define F_SETFL 4
#define F_SETLK 6
#define F_WRLCK 1

struct flock {
  short l_type, l_whence;
  off_t l_start, l_len;
};

int open(const char *path, int flags, ...) GATHER_POSIX(open);
int openat(int folder, const char *path, int flags, ...) GATHER_POSIX(openat);
int fcntl(int fd, int command, ...) GATHER_POSIX(fcntl);
int posix_fallocate(int fd, off_t offset, off_t bytes) GATHER_POSIX(posix_fallocate);

#endif
