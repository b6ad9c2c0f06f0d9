/* SPDX-License-Identifier: MIT
 *
 * sys/file.h: locks of whole files.
 */
#ifndef GATHER_POSIX_SYS_FILE_H
#define GATHER_POSIX_SYS_FILE_H

#include <posix_names.h>

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

int flock(int fd, int operation) GATHER_POSIX(flock);

#endif
