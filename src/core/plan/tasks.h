/* SPDX-License-Identifier: MIT
 *
 * tasks.h: splitting [0, count) among the threads of an executor.
 */
#ifndef GATHER_PLAN_TASKS_H
#define GATHER_PLAN_TASKS_H

#include "gather/gather.h"

/* Calls body(argument, first, last) for ranges that cover [0, count) once. unit_bytes: about what one item moves. Small
 * work is one call on the calling thread, because waking a thread costs tens of microseconds, unless threads of the
 * built-in pool are awake. Ranges start at multiples
 * of `round` items. */
void gather_split(const gather_executor *executor, int64_t count, int64_t unit_bytes, int64_t round,
                  void (*body)(void *argument, int64_t first, int64_t last), void *argument);

/* Whether an executor, which may be NULL, can be used. */
gather_status gather_executor_check(const gather_executor *executor, gather_error *error);

#endif
