/* SPDX-License-Identifier: MIT
 *
 * system.h: system calls that several commands use.
 */
#ifndef GATHER_CLI_SYSTEM_H
#define GATHER_CLI_SYSTEM_H

#include "gather/gather.h"

/* The status of an errno: GATHER_FILE_NOT_FOUND, GATHER_OUT_OF_MEMORY, and GATHER_IO_ERROR for all others. */
gather_status gather_cli_status_of(int number);
/* The exit code of a status (0 to 4). Async-signal-safe. */
int gather_cli_exit_code(gather_status status);

/* Fills in an error for a call of the system that failed with an errno: the message is "FILE: WHAT: " and the system's words (what "":
 * without it), and system_error is set. offset: as for gather_error_set_file. Returns `status`. */
gather_status gather_cli_fail_errno(gather_error *error, gather_status status, int number, const char *file, int64_t offset,
                                    const char *what);

/* openat() with O_CLOEXEC, retried if a signal interrupts it (network file systems). folder: a descriptor, or AT_FDCWD. A
 * file created with O_CREAT has the permissions of the umask. Returns a descriptor, or -1 with errno set. */
int gather_cli_open(int folder, const char *path, int flags);

/* Reads exactly `size` bytes from byte `offset` on. file: its name, for the error. Returns GATHER_IO_ERROR, also if the file ends
 * before that, or GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_read_at(int fd, const char *file, void *bytes, int64_t size, int64_t offset, gather_error *error);

#endif
