/* SPDX-License-Identifier: MIT
 *
 * string.h: words for errors, and copies.
 */
#ifndef GATHER_POSIX_STRING_H
#define GATHER_POSIX_STRING_H
#pragma GCC system_header /* #include_next is not C11 */

#include <posix_names.h>
#include_next <string.h>

int strerror_r(int number, char *text, size_t bytes) GATHER_POSIX(strerror_r);
char *strdup(const char *text) GATHER_POSIX(strdup);
char *strndup(const char *text, size_t most) GATHER_POSIX(strndup);
char *gather_posix_strerror(int number);
#define strerror gather_posix_strerror

#endif
