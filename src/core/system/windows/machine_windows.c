/* SPDX-License-Identifier: MIT
 *
 * machine_windows.c: what the machine has: CPUs, caches, and memory that this process may use; the number of the process.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <windows.h>

#include "core/system/cache_size.h"
#include "core/system/machine.h"
#include "gather/gather.h"

/* In more than one group of up to 64 CPUs, a process may use all of Windows 11, and those of one group before. */
int32_t gather_cpu_count(void) {
  DWORD_PTR mine = 0, all = 0;
  int32_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all))
    for (; mine; mine &= mine - 1) count++;
  return count > 0 ? count : (int32_t)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

/* The largest of the caches of level 2, which is that of a fast core. */
static int64_t largest_cache(const char *rows, DWORD bytes) {
  int64_t largest = 0;
  for (DWORD at = 0; at < bytes;) {
    const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *row = (const void *)(rows + at);
    const bool level2 = row->Relationship == RelationCache && row->Cache.Level == 2;
    if (level2 && (int64_t)row->Cache.CacheSize > largest) largest = (int64_t)row->Cache.CacheSize;
    if (row->Size == 0) break;
    at += row->Size;
  }
  return largest;
}

int64_t gather_cache_size(void) {
  DWORD bytes = 0;
  (void)GetLogicalProcessorInformationEx(RelationCache, NULL, &bytes);
  char *rows = bytes > 0 ? malloc(bytes) : NULL;
  int64_t largest = 0;
  if (rows && GetLogicalProcessorInformationEx(RelationCache, (void *)rows, &bytes)) largest = largest_cache(rows, bytes);
  free(rows);
  return largest;
}

/* ---- memory */

/* The limit of the job object that holds the process, as a container does; INT64_MAX without one. */
static int64_t job_limit(void) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
  int64_t least = INT64_MAX;
  if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &limits, sizeof limits, NULL)) return least;
  const DWORD set = limits.BasicLimitInformation.LimitFlags;
  if (set & JOB_OBJECT_LIMIT_JOB_MEMORY) least = (int64_t)limits.JobMemoryLimit;
  if (set & JOB_OBJECT_LIMIT_PROCESS_MEMORY && (int64_t)limits.ProcessMemoryLimit < least) least = (int64_t)limits.ProcessMemoryLimit;
  return least > 0 ? least : INT64_MAX;
}

int64_t gather_usable_memory(void) {
  MEMORYSTATUSEX about = {.dwLength = sizeof about};
  const int64_t memory = GlobalMemoryStatusEx(&about) ? (int64_t)about.ullTotalPhys : (int64_t)1 << 30, limit = job_limit();
  return memory < limit ? memory : limit;
}

/* ---- what POSIX tells of a machine and a process */

long sysconf(int name) {
  SYSTEM_INFO about;
  if (name != _SC_PAGESIZE) return -1;
  GetSystemInfo(&about);
  return (long)about.dwPageSize;
}

pid_t getpid(void) { return (pid_t)GetCurrentProcessId(); }

int sched_yield(void) {
  (void)SwitchToThread();
  return 0;
}
