/* SPDX-License-Identifier: MIT
 *
 * handle_of.h: the handle behind a descriptor. Descriptors are those of the C library, so that a caller's may be given.
 */
#ifndef GATHER_BASE_HANDLE_OF_H
#define GATHER_BASE_HANDLE_OF_H

#include <stdbool.h>

/* INVALID_HANDLE_VALUE if there is none, with errno EBADF. */
void *gather_handle_of(int fd);
/* Locks the file exclusively for this handle, without waiting; 0, or -1 with errno EACCES. */
int gather_handle_lock(void *handle);
/* Whether the file was opened for writing. */
bool gather_handle_writes(void *handle);

#endif
