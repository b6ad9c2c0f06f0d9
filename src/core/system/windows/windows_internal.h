/* SPDX-License-Identifier: MIT
 *
 * windows_internal.h: what the files of this folder share: handles of descriptors, paths in UTF-8, and errors as numbers of errno.
 */
#ifndef GATHER_SYSTEM_WINDOWS_INTERNAL_H
#define GATHER_SYSTEM_WINDOWS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* ---- the handle behind a descriptor. Descriptors are those of the C library, so that a caller's may be given. */

/* INVALID_HANDLE_VALUE if there is none, with errno EBADF. */
void *gather_handle_of(int fd);

/* ---- paths */

/* The longest path of Windows has 32767 characters. */
enum { GATHER_WIDE_PATH = 32768 };

/* A path in UTF-8 for the functions of Windows, to be freed with free(). A long one becomes absolute and gets the prefix \\?\, which
 * lifts the limit of 260 characters. NULL: errno says why. */
wchar_t *gather_wide_path(const char *path);
/* The same, of a name in the folder that the descriptor is of; AT_FDCWD: the current one. */
wchar_t *gather_wide_path_at(int folder, const char *path);
/* The path of an open file, with slashes and without the prefix; to be freed with free(). NULL: errno says why. */
char *gather_path_of_handle(void *handle);

/* ---- errors */

/* The errno for an error of Windows. */
int gather_windows_errno(unsigned long error);
/* Sets errno from GetLastError(); returns -1. */
int gather_windows_fail(void);
/* Sets errno; returns -1. */
int gather_windows_fail_as(int number);

#endif
