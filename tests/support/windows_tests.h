/* SPDX-License-Identifier: MIT
 *
 * windows_tests.h: what tests call besides the library's functions of POSIX (src/core/system/windows), on Windows. It is included in front
 * of each of them.
 */
#ifndef GATHER_TESTS_WINDOWS_TESTS_H
#define GATHER_TESTS_WINDOWS_TESTS_H

/* Makes a folder of a new name: the last six characters are replaced. NULL: that failed. */
char *mkdtemp(char *path) __asm__("gather_test_mkdtemp");

/* Makes a folder the current one. */
int chdir(const char *path) __asm__("gather_test_chdir");
/* Does nothing: ctest's time limit ends a test that takes too long. */
unsigned alarm(unsigned seconds) __asm__("gather_test_alarm");

/* Makes a file of a new name, as mkdtemp does a folder. The C library's shares its file with nobody. */
#define mkstemp gather_test_mkstemp
int gather_test_mkstemp(char *path);

#endif
