/* SPDX-License-Identifier: MIT
 *
 * usable_memory_bsd.c: how much memory this process may use: what the machine has, within the process's own limit.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sys/resource.h>
#include <sys/sysctl.h>

#include "gather/gather.h"

/* What macOS and FreeBSD call it. */
static const char *const NAMES[] = {"hw.memsize", "hw.physmem"};

static int64_t machine_memory(void) {
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    uint64_t bytes = 0;
    size_t size = sizeof bytes;
    if (sysctlbyname(NAMES[i], &bytes, &size, NULL, 0) == 0 && size == sizeof bytes && bytes > 0 && bytes < INT64_MAX)
      return (int64_t)bytes;
  }
  return (int64_t)1 << 30;
}

int64_t gather_usable_memory(void) {
  struct rlimit limit;
  const int64_t memory = machine_memory();
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return memory;
  return (uint64_t)limit.rlim_cur < (uint64_t)memory ? (int64_t)limit.rlim_cur : memory;
}
