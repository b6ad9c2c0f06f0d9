/* SPDX-License-Identifier: MIT
 *
 * struct.c: one rule for all public structs that have a size (gather.h says it at its beginning).
 *
 * A field that is added goes behind the end of the struct as it was, never into padding at its end: that is not zero in older programs.
 */
#include "core/base/struct.h"

#include <stdalign.h>
#include <string.h>

#include "core/base/error.h"

enum { MOST_BYTES = 4096 /* a larger size is uninitialised memory */ };

gather_status gather_struct_read(void *full, size_t bytes, const void *given, const char *name, const char *init,
                                 gather_error *error) {
  size_t size;
  if (!given) return GATHER_OK;
  memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > MOST_BYTES || size % alignof(size_t) != 0)
    return gather_fail(error, GATHER_USAGE, "%s.size is %zu; start from %s", name, size, init);
  const unsigned char *at = given;
  for (size_t i = bytes; i < size; i++)
    if (at[i] != 0)
      return gather_fail(
          error, GATHER_USAGE,
          "%s has %zu bytes, %zu are known here, and byte %zu is not zero: it asks for what this version of the "
          "library does not have",
          name, size, bytes, i);
  memcpy(full, given, size < bytes ? size : bytes);
  memcpy(full, &bytes, sizeof bytes);
  return GATHER_OK;
}
