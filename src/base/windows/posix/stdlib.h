/* SPDX-License-Identifier: MIT
 *
 * stdlib.h: the whole name of a file.
 */
#ifndef GATHER_POSIX_STDLIB_H
#define GATHER_POSIX_STDLIB_H

#include <posix_names.h>
#include_next <stdlib.h>

char *realpath(const char *path, char *whole) GATHER_POSIX(realpath);
int setenv(const char *name, const char *value, int replace) GATHER_POSIX(setenv);
int unsetenv(const char *name) GATHER_POSIX(unsetenv);
char *mkdtemp(char *path) GATHER_POSIX(mkdtemp);
int mkstemp(char *path) GATHER_POSIX(mkstemp);

#endif
