/* SPDX-License-Identifier: MIT
 *
 * shuffle_system.h: plain reading and writing of files by descriptors.
 */
#ifndef GATHER_SHUFFLE_SHUFFLE_SYSTEM_H
#define GATHER_SHUFFLE_SHUFFLE_SYSTEM_H

#include "gather/shuffle.h"

/* The status of an errno: GATHER_FILE_NOT_FOUND, GATHER_OUT_OF_MEMORY, and GATHER_IO_ERROR for all others. */
gather_status gather_shuffle_status_of(int number);
/* The same where a name that is missing is a fault of its own: GATHER_OUT_OF_MEMORY or GATHER_IO_ERROR. */
gather_status gather_shuffle_failure_of(int number);

/* openat() with O_CLOEXEC, tried again where a signal interrupts it (network file systems). folder: a descriptor, or AT_FDCWD. A
 * file that O_CREAT makes has what the umask leaves of `mode`. Returns a descriptor, or -1 with errno set. */
int gather_shuffle_open_at(int folder, const char *path, int flags, unsigned mode);
/* Of the journal and the other files beside the rows, which nobody else is to read: the journal gets a name beside the output at the end. */
enum { GATHER_SHUFFLE_PRIVATE = 0600 };

/* Reads exactly `size` bytes from byte `offset` on, in pieces, until the shuffle is cancelled. file: its name, for the
 * error. Returns GATHER_IO_ERROR, also where the file ends before that, GATHER_OUT_OF_MEMORY or GATHER_CANCELLED. */
GATHER_CHECKED gather_status gather_shuffle_read_at(const gather_shuffle *job, int fd, const char *file, void *bytes,
                                                    int64_t size, int64_t offset, gather_error *error);
/* Writes bytes at an offset of a file, and starts their write-back. Returns GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_shuffle_write_at(int fd, const char *file, const void *bytes, int64_t size,
                                                     int64_t offset, gather_error *error);

#endif
