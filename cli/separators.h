/* SPDX-License-Identifier: MIT
 *
 * separators.h: where the folder's name ends in a path. Windows separates folders by slashes of both kinds, and a drive by a colon.
 */
#ifndef GATHER_CLI_SEPARATORS_H
#define GATHER_CLI_SEPARATORS_H

#include <stddef.h>
#include <string.h>

#if defined(_WIN32)
#define GATHER_CLI_SEPARATORS "/\\"
#else
#define GATHER_CLI_SEPARATORS "/"
#endif

/* The last separator of a path, or NULL. */
static inline const char *gather_cli_slash(const char *path) {
  const char *last = NULL;
  for (const char *at = path; (at = strpbrk(at, GATHER_CLI_SEPARATORS)) != NULL; at++) last = at;
  return last;
}

#endif
