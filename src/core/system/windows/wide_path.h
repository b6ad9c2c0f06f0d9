/* SPDX-License-Identifier: MIT
 *
 * wide_path.h: paths in UTF-8 as Windows wants them.
 */
#ifndef GATHER_BASE_WIDE_PATH_H
#define GATHER_BASE_WIDE_PATH_H

#include <stddef.h>
#include <wchar.h>

/* The longest path of Windows has 32767 characters; each takes at most 3 bytes of UTF-8 (4 are a pair). */
enum { GATHER_WIDE_PATH = 32768, GATHER_NARROW_PATH = 3 * GATHER_WIDE_PATH };

/* A path in UTF-8 for the functions of Windows, to be freed with free(). A long one becomes absolute and gets the prefix \\?\, which
 * lifts the limit of 260 characters. NULL: errno says why. */
wchar_t *gather_wide_path(const char *path);
/* The same, of a name in the folder that the descriptor is of; AT_FDCWD: the current one. */
wchar_t *gather_wide_path_at(int folder, const char *path);
/* The path of an open file, with slashes and without the prefix; to be freed with free(). NULL: errno says why. */
char *gather_path_of_handle(void *handle);
/* The path from the root on, with slashes; links are not followed. For where the system does not tell more: Wine has no paths of handles of
 * more than 260 characters. To be freed with free(). NULL: errno says why. */
char *gather_whole_path(const char *path);
/* Text in UTF-8, to be freed with free(); NULL: out of memory. What is no valid text becomes U+FFFD. */
char *gather_narrow(const wchar_t *wide);

#endif
