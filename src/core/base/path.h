/* SPDX-License-Identifier: MIT
 *
 * path.h: the parts of a path. Windows separates folders by slashes of both kinds, and a drive by a colon.
 */
#ifndef GATHER_BASE_PATH_H
#define GATHER_BASE_PATH_H

#include <stdbool.h>
#include <string.h>

#include "core/base/compiler.h"

#if defined(_WIN32)
#define GATHER_PATH_SEPARATORS "/\\"
#define GATHER_PATH_ENDS_FOLDER "/\\:"
#define GATHER_PATH_ELSEWHERE(path) (strchr("/\\", (path)[0]) || strchr(path, ':'))
#else
#define GATHER_PATH_SEPARATORS "/"
#define GATHER_PATH_ENDS_FOLDER "/"
#define GATHER_PATH_ELSEWHERE(path) ((path)[0] == '/')
#endif

/* The end of the folder's name: its last separator, or NULL if the path has no folder. */
GATHER_INLINE const char *gather_path_slash(const char *path) {
  const char *last = NULL;
  for (const char *at = path; (at = strpbrk(at, GATHER_PATH_ENDS_FOLDER)) != NULL; at++) last = at;
  return last;
}

/* Whether a path that is not empty begins at the root of something, not in the folder that it is given in. */
GATHER_INLINE bool gather_path_is_whole(const char *path) { return GATHER_PATH_ELSEWHERE(path); }

#endif
