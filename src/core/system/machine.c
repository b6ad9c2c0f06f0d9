/* SPDX-License-Identifier: MIT
 *
 * machine.c: what this process may use of the machine: CPUs, their caches, memory.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/system/cache_size.h"
#include "core/system/machine.h"
#include "gather/gather.h"

#if defined(__linux__)
#include <sched.h>
#endif

#if defined(__linux__)
int32_t gather_cpu_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return 1;
}
#elif defined(_SC_NPROCESSORS_ONLN)
int32_t gather_cpu_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 && count < INT32_MAX ? (int32_t)count : 1;
}
#else
int32_t gather_cpu_count(void) { return 1; }
#endif

/* As far as the C library knows. */
#if defined(_SC_LEVEL2_CACHE_SIZE)
int64_t gather_cache_size(void) { return sysconf(_SC_LEVEL2_CACHE_SIZE); }
#else
int64_t gather_cache_size(void) { return 0; }
#endif

/* ---- memory */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number in a file of the system; INT64_MAX if there is none ("max" means no limit). */
static int64_t number_in(const char *path) {
  long long number;
  FILE *file = fopen(path, "re");
  if (!file) return INT64_MAX;
  bool good = fscanf(file, "%lld", &number) == 1 && number > 0;
  (void)fclose(file);
  return good ? (int64_t)number : INT64_MAX;
}

/* The limit of a control group and of those above it, down to the root folder of `root` bytes. A container sees its own group at the
 * root. folder: shortened. */
static int64_t group_limit(char *folder, size_t root, const char *file) {
  char path[600];
  int64_t memory = INT64_MAX;
  for (;;) {
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    memory = least(memory, number_in(path));
    char *end = strrchr(folder, '/');
    if (!end || (size_t)(end - folder) < root) return memory;
    *end = '\0';
  }
}

/* The limit that a line of /proc/self/cgroup leads to: "4:memory:/a/b" (version 1), "0::/a/b" (version 2). */
static int64_t line_limit(char *line) {
  static const char v1[] = "/sys/fs/cgroup/memory", v2[] = "/sys/fs/cgroup";
  char folder[500];
  line[strcspn(line, "\n")] = '\0';
  char *old = strstr(line, ":memory:");
  if (old) {
    (void)snprintf(folder, sizeof folder, "%s%s", v1, old + 8);
    return group_limit(folder, sizeof v1 - 1, "memory.limit_in_bytes");
  }
  if (strncmp(line, "0::", 3) != 0) return INT64_MAX;
  (void)snprintf(folder, sizeof folder, "%s%s", v2, line + 3);
  return group_limit(folder, sizeof v2 - 1, "memory.max");
}

int64_t gather_usable_memory(void) {
  char line[400];
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  int64_t memory = pages > 0 && page > 0 ? (int64_t)pages * page : (int64_t)1 << 30;
  FILE *groups = fopen("/proc/self/cgroup", "re");
  if (!groups) { /* without /proc: the group that a container sees at the root */
    memory = least(memory, number_in("/sys/fs/cgroup/memory.max"));
    memory = least(memory, number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  }
  while (groups && fgets(line, sizeof line, groups)) memory = least(memory, line_limit(line));
  if (groups) (void)fclose(groups);
  return memory;
}
