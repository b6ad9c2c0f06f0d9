/* SPDX-License-Identifier: MIT
 *
 * budget.c: how much memory a table may use, and for what.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "table/table_internal.h"

enum {
  MIB = 1 << 20,
  SLOT_BYTES = 64 << 10,
  MAPPED_SLOT = 128 << 10,
  LEAST_SLOT = 8 << 10,
  DEPTH = 128,
  MOST_ENTRIES = 1 << 20
};
enum { ENTRY_BYTES = 2 * (int)sizeof(gather_entry) /* it is sorted into a second place */ };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* A number in a file of the system's; INT64_MAX where there is none ("max" means no limit). */
static int64_t number_in(const char *path) {
  long long number;
  FILE *file = fopen(path, "re");
  if (!file) return INT64_MAX;
  bool good = fscanf(file, "%lld", &number) == 1 && number > 0;
  (void)fclose(file);
  return good ? (int64_t)number : INT64_MAX;
}

/* The limit of the control group that a line of /proc/self/cgroup names: "4:memory:/a/b" of the older kind, "0::/a/b" of the newer. */
static int64_t group_limit(char *line) {
  char path[512];
  line[strcspn(line, "\n")] = '\0';
  char *old = strstr(line, ":memory:");
  if (old)
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", old + 8);
  else if (strncmp(line, "0::", 3) == 0)
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
  else
    return INT64_MAX;
  return number_in(path);
}

/* The memory of the machine, or what the process's control group may use where that is less; in a container the group is seen at the
 * root. */
static int64_t usable_memory(void) {
  char line[400];
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  int64_t memory = pages > 0 && page > 0 ? (int64_t)pages * page : (int64_t)1 << 30;
  memory = least(memory, number_in("/sys/fs/cgroup/memory.max"));
  memory = least(memory, number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  FILE *groups = fopen("/proc/self/cgroup", "re");
  while (groups && fgets(line, sizeof line, groups)) memory = least(memory, group_limit(line));
  if (groups) (void)fclose(groups);
  return memory;
}

/* What one worker has for its reads: shorter ones first, then fewer. Read through a mapping, each brings the 64 KiB round it, and perhaps
 * the next, whatever its length. */
static void share_reads(gather_budget *budget, int64_t bytes, int32_t depth, bool maps) {
  int64_t slot_memory = maps ? MAPPED_SLOT : SLOT_BYTES;
  budget->depth = depth;
  while (!maps && slot_memory > LEAST_SLOT && slot_memory * budget->depth > bytes) slot_memory /= 2;
  while (budget->depth > 1 && slot_memory * budget->depth > bytes) budget->depth /= 2;
  budget->slot_bytes = maps ? SLOT_BYTES : slot_memory;
}

gather_status gather_budget_make(const gather_table_options *options, gather_engine engine, gather_budget *budget,
                                 gather_error *error) {
  int64_t ceiling = options->memory_bytes;
  if (ceiling != 0 && ceiling < GATHER_TABLE_LEAST_MEMORY)
    return gather_fail(error, GATHER_USAGE, "a ceiling of %" PRId64 " bytes; a table needs %d at least", ceiling,
                       (int)GATHER_TABLE_LEAST_MEMORY);
  int64_t bytes = ceiling ? ceiling : most(least(usable_memory() / 8, 2048 * (int64_t)MIB), 2 * MIB);
  budget->ceiling = ceiling;
  budget->workers = (int32_t)most(1, least(8, bytes / (64 * (int64_t)MIB)));
  const bool maps = engine == GATHER_ENGINE_MMAP;
  share_reads(budget, bytes / 4 / budget->workers, options->depth > 0 ? options->depth : DEPTH, maps);
  budget->entries = most(1024, least(MOST_ENTRIES, bytes / 8 / budget->workers / ENTRY_BYTES));
  int64_t taken =
      budget->workers * (budget->entries * ENTRY_BYTES + budget->depth * (maps ? MAPPED_SLOT : budget->slot_bytes));
  int64_t cache = maps ? 0 : bytes / 2;
  if (options->cache_bytes >= 0) cache = options->cache_bytes;
  budget->cache_bytes = most(0, least(cache, bytes - taken));
  budget->map_bytes = ceiling ? most(0, ceiling - taken - budget->cache_bytes) : INT64_MAX;
  return GATHER_OK;
}
