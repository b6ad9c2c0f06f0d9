/* SPDX-License-Identifier: MIT
 *
 * ep_mapping.c: which file is mapped at an address, from Linux's list of the mappings of a process.
 */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/sysmacros.h>
#endif

#include "ep_external.h"

/* Reads "7f00-7f10 rw-p 00001000 fd:00 1234   /a/b". Returns whether the address is in it and it is of a file. */
static bool read_line(const char *line, uintptr_t address, ort_mapping *mapping) {
  uint64_t start, end, offset;
  int name = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %" SCNx64 ":%" SCNx64 " %" SCNu64 " %n", &start, &end, &offset,
             &mapping->device_major, &mapping->device_minor, &mapping->inode, &name) < 6)
    return false;
  if (address < start || address >= end || mapping->inode == 0) return false;
  mapping->offset = (int64_t)(offset + (address - start));
  (void)snprintf(mapping->path, sizeof mapping->path, "%s", name > 0 ? line + name : "");
  mapping->path[strcspn(mapping->path, "\n")] = '\0';
  return true;
}

bool gather_ort_mapping_at(const void *address, ort_mapping *mapping) {
  char line[4096 + 128];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) return false;
  while (!found && fgets(line, sizeof line, maps)) found = read_line(line, (uintptr_t)address, mapping);
  (void)fclose(maps);
  return found;
}

/* Some file systems (overlays) show other numbers in the list than stat does; then the path decides. */
bool gather_ort_mapping_is(const ort_mapping *mapping, const char *path, int64_t offset) {
  struct stat file;
  if (mapping->offset != offset || stat(path, &file) != 0) return false;
#if defined(__linux__)
  if (major(file.st_dev) == mapping->device_major && minor(file.st_dev) == mapping->device_minor && (uint64_t)file.st_ino == mapping->inode)
    return true;
#endif
  char *real = realpath(path, NULL);
  const bool same = real && strcmp(real, mapping->path) == 0;
  free(real);
  return same;
}
