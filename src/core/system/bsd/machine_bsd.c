/* SPDX-License-Identifier: MIT
 *
 * machine_bsd.c: what this process may use of the machine, by the names that macOS and FreeBSD have for it: CPUs, their caches, memory
 * within the process's own limit.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/param.h>
#include <sys/types.h>

#include <sys/resource.h>
#include <sys/sysctl.h>

#if defined(__FreeBSD__)
#include <sys/cpuset.h>
#endif

#include "core/system/cache_size.h"
#include "core/system/machine.h"
#include "gather/gather.h"

/* A number of 4 or 8 bytes; 0 if there is none. Both byte orders that macOS has had would do, since the rest is zero: it is little. */
static int64_t number_of(const char *name) {
  uint64_t number = 0;
  size_t size = sizeof number;
  return sysctlbyname(name, &number, &size, NULL, 0) == 0 && number < INT64_MAX ? (int64_t)number : 0;
}

#if defined(__FreeBSD__)
/* Its jail's and its own set of them taken into account. */
int32_t gather_cpu_count(void) {
  cpuset_t set;
  CPU_ZERO(&set);
  if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof set, &set) != 0) return 1;
  const int count = (int)CPU_COUNT(&set);
  return count > 0 ? (int32_t)count : 1;
}
#else
/* All that are switched on, fast and economical ones alike. */
int32_t gather_cpu_count(void) {
  const int64_t count = number_of("hw.activecpu");
  return count > 0 && count < INT32_MAX ? (int32_t)count : 1;
}
#endif

/* Apple's processors have CPUs of two kinds, and several share a second cache: a fast one's part of it counts. FreeBSD says nothing. */
int64_t gather_cache_size(void) {
  const int64_t fast = number_of("hw.perflevel0.l2cachesize"), sharing = number_of("hw.perflevel0.cpusperl2");
  if (fast > 0) return sharing > 1 ? fast / sharing : fast;
  return number_of("hw.l2cachesize");
}

static int64_t machine_memory(void) {
  int64_t bytes = number_of("hw.memsize");
  if (bytes <= 0) bytes = number_of("hw.physmem");
  return bytes > 0 ? bytes : (int64_t)1 << 30;
}

int64_t gather_usable_memory(void) {
  struct rlimit limit;
  const int64_t memory = machine_memory();
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return memory;
  return (uint64_t)limit.rlim_cur < (uint64_t)memory ? (int64_t)limit.rlim_cur : memory;
}
