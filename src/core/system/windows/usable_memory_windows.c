/* SPDX-License-Identifier: MIT
 *
 * usable_memory_windows.c: how much memory this process may use: what the machine has, within the limit of its job object.
 */
#include <stdint.h>
#include <windows.h>

#include "gather/gather.h"

/* The limit of the job object that holds the process, as a container does; INT64_MAX without one. */
static int64_t job_limit(void) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
  int64_t least = INT64_MAX;
  if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &limits, sizeof limits, NULL)) return least;
  const DWORD set = limits.BasicLimitInformation.LimitFlags;
  if (set & JOB_OBJECT_LIMIT_JOB_MEMORY) least = (int64_t)limits.JobMemoryLimit;
  if (set & JOB_OBJECT_LIMIT_PROCESS_MEMORY && (int64_t)limits.ProcessMemoryLimit < least)
    least = (int64_t)limits.ProcessMemoryLimit;
  return least > 0 ? least : INT64_MAX;
}

int64_t gather_usable_memory(void) {
  MEMORYSTATUSEX about = {.dwLength = sizeof about};
  const int64_t memory = GlobalMemoryStatusEx(&about) ? (int64_t)about.ullTotalPhys : (int64_t)1 << 30,
                limit = job_limit();
  return memory < limit ? memory : limit;
}
