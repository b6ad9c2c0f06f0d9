/* SPDX-License-Identifier: MIT
 *
 * sys/statvfs.h: how much room a disk has.
 */
#ifndef GATHER_POSIX_SYS_STATVFS_H
#define GATHER_POSIX_SYS_STATVFS_H

#include <posix_names.h>

struct statvfs {
  unsigned long long f_frsize, f_blocks, f_bavail;
};

int fstatvfs(int fd, struct statvfs *room) GATHER_POSIX(fstatvfs);

#endif
