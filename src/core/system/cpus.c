/* SPDX-License-Identifier: MIT
 *
 * cpus.c: how many CPUs this process may use.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "gather/gather.h"

#if defined(__linux__)
#include <sched.h>
#elif defined(__unix__) || defined(__APPLE__) || defined(_WIN32)
#include <unistd.h>
#endif

int32_t gather_cpu_count(void) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return 1;
#elif defined(__unix__) || defined(__APPLE__) || defined(_WIN32)
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 && count < INT32_MAX ? (int32_t)count : 1;
#else
  return 1;
#endif
}
