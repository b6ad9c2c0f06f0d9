/* SPDX-License-Identifier: MIT
 *
 * uses.c: whether a path names a file that is open, by the file's identity: through any link, under any name. Writers ask before they
 * replace a file.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <string.h>
#include <sys/stat.h>

#include "format/format.h"

static bool is_map(const gather_map *map, const struct stat *about) {
  const bool known = map->owned && !map->remote && map->inode != 0;
  return known && map->device == (uint64_t)about->st_dev && map->inode == (uint64_t)about->st_ino;
}

/* Text is read into memory: only its name is left. */
static bool is_text(const gather_file *file, const struct stat *about) {
  struct stat read;
  const bool text = file->format && (strcmp(file->format, "text") == 0 || strcmp(file->format, "csv") == 0);
  return text && !file->client && !file->map.bytes && stat(file->name, &read) == 0 && read.st_dev == about->st_dev &&
         read.st_ino == about->st_ino;
}

bool gather_file_uses(const gather_file *file, const char *path) {
  struct stat about;
  if (!file || !path || stat(path, &about) != 0) return false;
  if (is_map(&file->map, &about) || is_text(file, &about)) return true;
  for (const gather_sibling *at = file->siblings; at; at = at->next)
    if (is_map(&at->map, &about)) return true;
  return false;
}
