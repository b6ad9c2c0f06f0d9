/* SPDX-License-Identifier: MIT
 *
 * sibling.c: files with a model's external data. The names in a model must stay in its folder; what the folder's owner
 * put under such a name, even a link out of the folder, is the owner's choice.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/format.h"

/* ---- names */

static gather_status refuse(const gather_file *file, int64_t offset, const char *location, const char *why,
                            gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, offset,
                          "invalid location '%.200s' of tensor data: %s", location, why);
}

static bool has_parent_step(const char *location) {
  for (const char *at = location; (at = strstr(at, "..")) != NULL; at += 2) {
    bool starts = at == location || at[-1] == '/' || at[-1] == '\\';
    if (starts && (at[2] == '\0' || at[2] == '/' || at[2] == '\\')) return true;
  }
  return false;
}

gather_status gather_file_check_location(const gather_file *file, const char *location, int64_t offset,
                                         gather_error *error) {
  if (location[0] == '\0') return refuse(file, offset, location, "it is empty", error);
  if (location[0] == '/' || has_parent_step(location) || (file->client && gather_remote_is_url(location)))
    return refuse(file, offset, location, "it is not below the directory of the model", error);
  return GATHER_OK;
}

/* ---- mapping */

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

gather_status gather_file_sibling(gather_file *file, const char *location, int64_t file_offset, const char *name,
                                  gather_file_tensor *tensor, const gather_map **map, gather_error *error) {
  gather_error why;
  const gather_sibling *known = gather_sibling_find(file, location);
  *map = known && !known->failure ? &known->map : NULL;
  if (*map) return GATHER_OK;
  GATHER_TRY(gather_file_check_location(file, location, file_offset, error));
  gather_status status = file->client ? gather_sibling_map_url(file, location, map, &why)
                                      : map_file(file, location, file_offset, map, &why);
  if (status == GATHER_OK) return GATHER_OK;
  if (status == GATHER_OUT_OF_MEMORY) {
    if (error) *error = why;
    return status;
  }
  size_t length = strlen(why.message);
  (void)snprintf(why.message + length, sizeof why.message - length, "; the data of tensor '%.100s' are in it", name);
  return gather_file_unreadable(file, &why, tensor, error);
}

/* ---- unreadable tensors */

const gather_unreadable *gather_unreadable_keep(gather_file *file, const gather_error *why) {
  gather_unreadable *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  if (!made) return NULL;
  *made = (gather_unreadable){.status = why->status, .file = file->name, .file_offset = why->file_offset};
  made->message = gather_arena_text(&file->arena, why->message, strlen(why->message));
  if (strcmp(why->file, file->name) != 0) made->file = gather_arena_text(&file->arena, why->file, strlen(why->file));
  return made->message && made->file ? made : NULL;
}

gather_status gather_file_unreadable(gather_file *file, const gather_error *why, gather_file_tensor *tensor,
                                     gather_error *error) {
  tensor->unreadable = gather_unreadable_keep(file, why);
  return tensor->unreadable ? GATHER_OK : no_memory(file, error);
}

static gather_status fail_remote(const gather_file_tensor *tensor, gather_error *error) {
  char size[32];
  return gather_fail_file(
      error, GATHER_UNSUPPORTED, tensor->unreadable->file, -1,
      "the elements of '%.100s' (%s) are remote and were not downloaded; read rows of it as a table "
      "(gather take), or download the file",
      tensor->name, gather_text_bytes(tensor->bytes, size, sizeof size));
}

gather_status gather_unreadable_recall(const gather_unreadable *why, gather_error *error) {
  (void)gather_fail_file(error, why->status, why->file, why->file_offset, " ");
  if (error) (void)snprintf(error->message, sizeof error->message, "%s", why->message);
  return why->status;
}

gather_status gather_file_tensor_check(const gather_file_tensor *tensor, gather_error *error) {
  const gather_unreadable *why = tensor->unreadable;
  if (!why) return GATHER_OK;
  return why->map ? fail_remote(tensor, error) : gather_unreadable_recall(why, error);
}
