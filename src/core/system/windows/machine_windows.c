/* SPDX-License-Identifier: MIT
 *
 * machine_windows.c: what the machine has: CPUs and caches; and the number of the process.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <windows.h>

#include "gather/gather.h"

/* In more than one group of up to 64 CPUs, a process may use all of Windows 11, and those of one group before. */
static long count_cpus(void) {
  DWORD_PTR mine = 0, all = 0;
  long count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all))
    for (; mine; mine &= mine - 1) count++;
  return count > 0 ? count : (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

/* The largest of the caches of level 2, which is that of a fast core. */
static long largest_cache(const char *rows, DWORD bytes) {
  long largest = 0;
  for (DWORD at = 0; at < bytes;) {
    const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *row = (const void *)(rows + at);
    const bool level2 = row->Relationship == RelationCache && row->Cache.Level == 2;
    if (level2 && (long)row->Cache.CacheSize > largest) largest = (long)row->Cache.CacheSize;
    if (row->Size == 0) break;
    at += row->Size;
  }
  return largest;
}

static long cache_bytes(void) {
  DWORD bytes = 0;
  (void)GetLogicalProcessorInformationEx(RelationCache, NULL, &bytes);
  char *rows = bytes > 0 ? malloc(bytes) : NULL;
  long largest = 0;
  if (rows && GetLogicalProcessorInformationEx(RelationCache, (void *)rows, &bytes))
    largest = largest_cache(rows, bytes);
  free(rows);
  return largest;
}

long sysconf(int name) {
  SYSTEM_INFO about;
  switch (name) {
    case _SC_PAGESIZE:
      GetSystemInfo(&about);
      return (long)about.dwPageSize;
    case _SC_NPROCESSORS_ONLN:
      return count_cpus();
    case _SC_LEVEL2_CACHE_SIZE:
      return cache_bytes();
    default:
      return -1;
  }
}

pid_t getpid(void) { return (pid_t)GetCurrentProcessId(); }

int sched_yield(void) {
  (void)SwitchToThread();
  return 0;
}
