/* SPDX-License-Identifier: MIT
 *
 * cpus_freebsd.c: how many CPUs this process may use, its jail's and its own set of them taken into account.
 */
#include <stdint.h>
#include <sys/param.h>

#include <sys/cpuset.h>

#include "gather/gather.h"

int32_t gather_cpu_count(void) {
  cpuset_t set;
  CPU_ZERO(&set);
  if (cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof set, &set) != 0) return 1;
  const int count = (int)CPU_COUNT(&set);
  return count > 0 ? (int32_t)count : 1;
}
