/* SPDX-License-Identifier: MIT
 *
 * version.c: the version as text, from the numbers of gather.h.
 */
#include "gather/gather.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *gather_version(void) {
  return TEXT(GATHER_VERSION_MAJOR) "." TEXT(GATHER_VERSION_MINOR) "." TEXT(GATHER_VERSION_PATCH);
}
