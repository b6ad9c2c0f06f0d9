/* SPDX-License-Identifier: MIT
 *
 * tuning.h: the tuning parameters of tuning.def.
 */
#ifndef GATHER_KERNEL_TUNING_H
#define GATHER_KERNEL_TUNING_H

#include <stdint.h>

#include "core/base/compiler.h"
#include "core/system/cache_size.h"

enum {
#define GATHER_TUNING(name, value, meaning) GATHER_TUNING_##name,
#include "core/kernel/tuning.def"
#undef GATHER_TUNING
  GATHER_TUNING_COUNT
};

/* The current value. Threads: any, at any time. */
int64_t gather_tuned(int which);
/* Stores a measured value if the parameter is still `asked` (unknown). Returns the current value: the measured one, or
 * one that was set in the meantime, which is not overwritten. */
int64_t gather_tuned_keep(int which, int64_t asked, int64_t found);
/* The size of a core's private cache (L2): the tuned one, else the system's, else 1 MiB. */
GATHER_INLINE int64_t gather_cache_bytes(void) {
  enum { USUAL = 1 << 20 };
  const int64_t tuned = gather_tuned(GATHER_TUNING_cache_bytes);
  int64_t bytes = tuned;
  if (bytes > 0) return bytes;
  bytes = gather_cache_size();
  if (bytes <= 0) bytes = USUAL;
  /* Queried once: the result is stored in place of a tuned value. */
  const int64_t kept = gather_tuned_keep(GATHER_TUNING_cache_bytes, tuned, bytes);
  return kept > 0 ? kept : bytes;
}

#endif
