/* SPDX-License-Identifier: MIT
 *
 * cache_size_macos.c: how large a CPU's second cache is. Apple's processors have CPUs of two kinds, and several share such a cache: a
 * fast one's part of it counts.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sys/sysctl.h>

#include "core/system/cache_size.h"

/* A number of 4 or 8 bytes; 0 if there is none. Both byte orders that macOS has had would do, since the rest is zero: it is little. */
static int64_t number_of(const char *name) {
  uint64_t number = 0;
  size_t size = sizeof number;
  return sysctlbyname(name, &number, &size, NULL, 0) == 0 && number < INT64_MAX ? (int64_t)number : 0;
}

int64_t gather_cache_size(void) {
  const int64_t fast = number_of("hw.perflevel0.l2cachesize"), sharing = number_of("hw.perflevel0.cpusperl2");
  if (fast > 0) return sharing > 1 ? fast / sharing : fast;
  return number_of("hw.l2cachesize");
}
