/* SPDX-License-Identifier: MIT
 *
 * stdlib.h: the whole name of a file.
 */
#ifndef GATHER_POSIX_STDLIB_H
#define GATHER_POSIX_STDLIB_H
#pragma GCC system_header /* #include_next is not C11 */

#include <posix_names.h>
#include_next <stdlib.h>

char *realpath(const char *path, char *whole) GATHER_POSIX(realpath);

#endif
