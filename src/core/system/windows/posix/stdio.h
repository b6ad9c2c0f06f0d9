/* SPDX-License-Identifier: MIT
 *
 * stdio.h: renaming over a file, which the C library of Windows does not do, and names in UTF-8.
 */
#ifndef GATHER_POSIX_STDIO_H
#define GATHER_POSIX_STDIO_H
#pragma GCC system_header /* #include_next is not C11 */

#include <posix_names.h>
#include_next <stdio.h>

int gather_posix_rename(const char *from, const char *to);
int renameat(int folder, const char *from, int other, const char *to) GATHER_POSIX(renameat);
int gather_posix_remove(const char *path);
FILE *gather_posix_fopen(const char *path, const char *mode);
#define rename gather_posix_rename
#define remove gather_posix_remove
#define fopen gather_posix_fopen

#endif
