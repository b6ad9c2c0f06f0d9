/* SPDX-License-Identifier: MIT
 *
 * pool.h: what the rest of the library knows of the built-in pool, beside its being an executor.
 */
#ifndef GATHER_THREAD_POOL_H
#define GATHER_THREAD_POOL_H

#include "gather/gather.h"

/* Announces work that could be shared among threads, and returns how many workers of a built-in pool are awake: for
 * those small tasks pay. 0 for other executors. If the last work was less than spin_ns ago, workers spin that long for
 * the next after their tasks; if such work comes several times while all sleep, they are woken. spin_ns 0: never. A pool
 * with more threads than this process has CPUs does not spin. */
int32_t gather_pool_announce(const gather_executor *executor, int64_t spin_ns);

/* The name of the library of its threads; "none" if this build has none. */
const char *gather_pool_library(void);

#endif
