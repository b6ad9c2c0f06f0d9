/* SPDX-License-Identifier: MIT
 *
 * sibling.c: files with a model's external data. The names in a model must stay in its folder; what the folder's owner
 * put under such a name, even a link out of the folder, is the owner's choice.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/substitute.h"

static gather_status no_memory(const gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for a file beside it");
}

/* Only mapped files are kept: for the next tensor of a missing file, the system is asked again. */
static gather_status map_file(gather_file *file, const char *location, int64_t offset, const gather_map **map,
                              gather_error *error) {
  gather_map mapped;
  if ((!file->map.owned || file->map.remote) && file->map.size > 0)
    return gather_fail_file(
        error, GATHER_UNSUPPORTED, file->name, offset,
        "its tensor data are in '%.200s', but a model in memory has no directory; open it from a file", location);
  char *path = gather_file_beside(file, location);
  if (!path) return no_memory(file, error);
  GATHER_TRY(file->no_links ? gather_map_open_below(path, strlen(path) - strlen(location), &mapped, error)
                            : gather_map_open(path, &mapped, error));
  const gather_status status = gather_substitute_refuse(&mapped, path, false, error);
  if (status != GATHER_OK) {
    gather_map_close(&mapped);
    return status;
  }
  gather_sibling *made = gather_arena_take(&file->arena, 1, sizeof *made);
  if (made) *made = (gather_sibling){.path = path, .map = mapped};
  if (made) made->location = gather_arena_text(&file->arena, location, strlen(location));
  if (!made || !made->location || !gather_sibling_add(file, made)) {
    gather_map_close(&mapped);
    return no_memory(file, error);
  }
  *map = &made->map;
  return GATHER_OK;
}

gather_status gather_file_sibling_open(gather_file *file, const char *location, int64_t file_offset,
                                       const gather_map **map, gather_error *error) {
  const gather_sibling *known = gather_sibling_find(file, location);
  *map = known && !known->failure ? &known->map : NULL;
  if (*map) return GATHER_OK;
  return file->client ? gather_sibling_map_url(file, location, map, error)
                      : map_file(file, location, file_offset, map, error);
}

gather_status gather_file_sibling(gather_file *file, const char *location, int64_t file_offset, const char *name,
                                  gather_file_tensor *tensor, const gather_map **map, gather_error *error) {
  gather_error why;
  *map = NULL;
  if (!gather_sibling_find(file, location)) GATHER_TRY(gather_file_check_location(file, location, file_offset, error));
  gather_status status = gather_file_sibling_open(file, location, file_offset, map, &why);
  if (status == GATHER_OK) return GATHER_OK;
  if (status == GATHER_OUT_OF_MEMORY) {
    if (error) *error = why;
    return status;
  }
  size_t length = strlen(why.message);
  (void)snprintf(why.message + length, sizeof why.message - length, "; the data of tensor '%.100s' are in it", name);
  return gather_file_unreadable(file, &why, tensor, error);
}
