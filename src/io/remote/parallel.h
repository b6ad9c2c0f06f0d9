/* SPDX-License-Identifier: MIT
 *
 * parallel.h: waits for several answers at once.
 */
#ifndef GATHER_REMOTE_PARALLEL_H
#define GATHER_REMOTE_PARALLEL_H

#include <stdint.h>

/* Calls task(argument, i) for each i below `count`, at most `threads` at once, in the calling thread and in others that end before it
 * returns. For tasks that wait for the network. If no thread can be started, the caller's runs them all. */
void gather_remote_parallel(int64_t count, int32_t threads, void (*task)(void *argument, int64_t i), void *argument);

#endif
