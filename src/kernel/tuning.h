/* SPDX-License-Identifier: MIT
 *
 * tuning.h: the numbers of tuning.def, read by everything that decides how to run.
 */
#ifndef GATHER_KERNEL_TUNING_H
#define GATHER_KERNEL_TUNING_H

#include <stdint.h>

enum {
#define GATHER_TUNING(name, value, meaning) GATHER_TUNING_##name,
#include "kernel/tuning.def"
#undef GATHER_TUNING
  GATHER_TUNING_COUNT
};

/* The value in force. Any thread may ask at any time. */
int64_t gather_tuned(int which);
void gather_tuned_set(int which, int64_t value);
/* Keeps what was found out where `asked` still says that nobody knows. Returns the value in force afterwards: the found one, or the
 * one that somebody set meanwhile, which is not overwritten. */
int64_t gather_tuned_keep(int which, int64_t asked, int64_t found);
/* The size of a core's own (second-level) cache: the tuned one, else the system's, else 1 MiB. */
int64_t gather_cache_bytes(void);

#endif
