/* SPDX-License-Identifier: MIT
 *
 * tuning.h: the tuning parameters of tuning.def.
 */
#ifndef GATHER_KERNEL_TUNING_H
#define GATHER_KERNEL_TUNING_H

#include <stdint.h>

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
int64_t gather_cache_bytes(void);

#endif
