/* SPDX-License-Identifier: MIT
 *
 * strings.h: comparing without regard to the case of ASCII letters.
 */
#ifndef GATHER_POSIX_STRINGS_H
#define GATHER_POSIX_STRINGS_H

#include <posix_names.h>
#include <stddef.h>

int strcasecmp(const char *a, const char *b) GATHER_POSIX(strcasecmp);
int strncasecmp(const char *a, const char *b, size_t most) GATHER_POSIX(strncasecmp);

#endif
