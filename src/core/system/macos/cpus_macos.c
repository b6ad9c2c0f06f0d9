/* SPDX-License-Identifier: MIT
 *
 * cpus_macos.c: how many CPUs this process may use: all that are switched on, fast and economical ones alike.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sys/sysctl.h>

#include "gather/gather.h"

int32_t gather_cpu_count(void) {
  int count = 0;
  size_t size = sizeof count;
  return sysctlbyname("hw.activecpu", &count, &size, NULL, 0) == 0 && count > 0 ? (int32_t)count : 1;
}
