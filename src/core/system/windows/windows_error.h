/* SPDX-License-Identifier: MIT
 *
 * windows_error.h: errors of Windows as numbers of errno.
 */
#ifndef GATHER_BASE_WINDOWS_ERROR_H
#define GATHER_BASE_WINDOWS_ERROR_H

/* The errno for an error of Windows. */
int gather_windows_errno(unsigned long error);
/* Sets errno from GetLastError(); returns -1. */
int gather_windows_fail(void);
/* Sets errno; returns -1. */
int gather_windows_fail_as(int number);

#endif
