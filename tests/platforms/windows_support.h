/* SPDX-License-Identifier: MIT
 *
 * windows_support.h: the parts of the tests of Windows.
 */
#ifndef GATHER_TESTS_PLATFORMS_WINDOWS_SUPPORT_H
#define GATHER_TESTS_PLATFORMS_WINDOWS_SUPPORT_H

#include "support/unit.h"

/* test_windows_names.c */
void windows_replaces_an_open_file(void **state);
void windows_deletes_an_open_file(void **state);
void windows_knows_every_character(void **state);
void windows_knows_long_paths(void **state);
void windows_takes_both_slashes(void **state);
void windows_locks_for_one(void **state);

/* Writes int32 numbers 0, 1, ... as a .npy file; fails the test if that fails. */
void windows_write(const char *path, bool replace, int32_t first);
/* The first element of a .npy file of such numbers. */
int32_t windows_first(const char *path);

#endif
