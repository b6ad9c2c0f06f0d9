/* SPDX-License-Identifier: MIT
 *
 * sibling.c: files that a model keeps its tensors in. They must lie in the model's folder or below it.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/format.h"

static gather_status refuse(const gather_file *file, int64_t offset, const char *location, const char *why,
                            gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, offset, "it keeps tensors in '%.200s', %s",
                          location, why);
}

static bool has_parent_step(const char *location) {
  for (const char *at = location; (at = strstr(at, "..")) != NULL; at += 2) {
    bool starts = at == location || at[-1] == '/' || at[-1] == '\\';
    if (starts && (at[2] == '\0' || at[2] == '/' || at[2] == '\\')) return true;
  }
  return false;
}

/* The file's folder with its slash, then the location. */
static char *join(gather_file *file, const char *location) {
  const char *slash = strrchr(file->name, '/');
  size_t folder = slash ? (size_t)(slash + 1 - file->name) : 0, length = strlen(location);
  char *path = gather_arena_take(&file->arena, (int64_t)(folder + length) + 1, 1);
  if (!path) return NULL;
  memcpy(path, file->name, folder);
  memcpy(path + folder, location, length);
  return path;
}

/* Whether the file behind all links lies in the folder behind all links. */
static bool is_inside(gather_file *file, const char *path) {
  const char *slash = strrchr(file->name, '/');
  char *folder =
      gather_arena_text(&file->arena, slash ? file->name : ".", slash ? (size_t)(slash + 1 - file->name) : 1);
  char *real_folder = folder ? realpath(folder, NULL) : NULL, *real_path = realpath(path, NULL);
  size_t length = real_folder ? strlen(real_folder) : 0;
  bool inside = real_folder && real_path && strncmp(real_folder, real_path, length) == 0 &&
                (real_path[length] == '/' || real_folder[length - 1] == '/');
  free(real_folder);
  free(real_path);
  return inside;
}

static gather_status map_sibling(gather_file *file, const char *location, int64_t offset, gather_sibling *sibling,
                                 gather_error *error) {
  char *path = join(file, location);
  if (!path) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, offset, "no memory for a file's name");
  GATHER_TRY(gather_map_open(path, &sibling->map, error));
  if (is_inside(file, path)) return GATHER_OK;
  gather_map_close(&sibling->map);
  return refuse(file, offset, location, "which a link leads out of its folder", error);
}

gather_status gather_file_sibling(gather_file *file, const char *location, int64_t file_offset, const gather_map **map,
                                  gather_error *error) {
  for (gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next)
    if (strcmp(sibling->location, location) == 0) {
      *map = &sibling->map;
      return GATHER_OK;
    }
  if (location[0] == '\0') return refuse(file, file_offset, location, "a name that is empty", error);
  if (location[0] == '/' || has_parent_step(location))
    return refuse(file, file_offset, location, "which is not below its own folder", error);
  if (!file->map.owned && file->map.size > 0)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, file_offset,
                            "it keeps tensors in another file, which bytes in memory have no place for");
  gather_sibling *made = gather_arena_take(&file->arena, 1, sizeof *made);
  if (made) made->location = gather_arena_text(&file->arena, location, strlen(location));
  if (!made || !made->location)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, file_offset, "no memory for a file beside it");
  GATHER_TRY(map_sibling(file, made->location, file_offset, made, error));
  made->next = file->siblings;
  file->siblings = made;
  *map = &made->map;
  return GATHER_OK;
}
