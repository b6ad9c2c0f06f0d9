/* SPDX-License-Identifier: MIT
 *
 * place.c: where the elements of tensors are: in a mapping, or in a remote file that is not loaded; and why those of some cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/format.h"

/* ---- why elements cannot be read */

static gather_status no_memory(const gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its contents");
}

const gather_unreadable *gather_unreadable_keep(gather_file *file, const gather_error *why) {
  gather_unreadable *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  if (!made) return NULL;
  *made = (gather_unreadable){.status = why->status, .file = file->name, .file_offset = why->file_offset};
  made->message = gather_arena_text(&file->arena, why->message, strlen(why->message));
  if (strcmp(why->file, file->name) != 0) made->file = gather_arena_text(&file->arena, why->file, strlen(why->file));
  return made->message && made->file ? made : NULL;
}

gather_status gather_file_unreadable(gather_file *file, const gather_error *why, gather_file_tensor *tensor, gather_error *error) {
  tensor->unreadable = gather_unreadable_keep(file, why);
  return tensor->unreadable ? GATHER_OK : no_memory(file, error);
}

static gather_status fail_remote(const gather_file_tensor *tensor, gather_error *error) {
  char size[32];
  return gather_fail_file(error, GATHER_UNSUPPORTED, tensor->unreadable->file, -1,
                          "the elements of the tensor%s%.100s%s (%s) are remote and were not downloaded; read rows of it as a table "
                          "(gather take), or download the file",
                          GATHER_CALLED(tensor->name), gather_text_bytes(tensor->bytes, size, sizeof size));
}

static gather_status fail_chunked(const gather_file_tensor *tensor, gather_error *error) {
  return gather_fail_file(error, GATHER_UNSUPPORTED, tensor->unreadable->file, -1,
                          "the elements of the tensor%s%.100s%s are stored in chunks, and were not decoded; read rows of it as a table "
                          "(gather take)",
                          GATHER_CALLED(tensor->name));
}

gather_status gather_unreadable_recall(const gather_unreadable *why, gather_error *error) {
  (void)gather_fail_file(error, why->status, why->file, why->file_offset, " ");
  if (error) (void)snprintf(error->message, sizeof error->message, "%s", why->message);
  return why->status;
}

gather_status gather_file_tensor_check(const gather_file_tensor *tensor, gather_error *error) {
  const gather_unreadable *why = tensor->unreadable;
  if (!why) return GATHER_OK;
  if (why->chunks) return fail_chunked(tensor, error);
  return why->map ? fail_remote(tensor, error) : gather_unreadable_recall(why, error);
}

/* ---- where elements are */

/* Tensors of models up to this size are loaded when the model is opened: shapes, indices, scalars. */
enum { SMALL_BYTES = 1 << 14 };

static bool is_model(const gather_file *file) { return strcmp(file->format, "onnx") == 0 || strcmp(file->format, "ir") == 0; }

/* The name of the file that is mapped there. */
static const char *name_of(const gather_file *file, const gather_map *map) {
  for (const gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next)
    if (&sibling->map == map) return sibling->path;
  return file->name;
}

gather_status gather_file_point(gather_file *file, const gather_map *map, int64_t offset, gather_file_tensor *tensor, gather_error *error) {
  bool loads = !map->remote || (is_model(file) && tensor->bytes <= SMALL_BYTES);
  if (tensor->bytes == 0) return GATHER_OK;
  if (loads && (!map->remote || gather_map_later(map, offset, tensor->bytes))) {
    tensor->tensor.data = (void *)(uintptr_t)(map->bytes + offset);
    return GATHER_OK;
  }
  gather_unreadable *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  if (!made) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its contents");
  *made = (gather_unreadable){.status = GATHER_UNSUPPORTED, .file = name_of(file, map), .file_offset = offset, .map = map};
  tensor->tensor.data = NULL;
  tensor->unreadable = made;
  return GATHER_OK;
}

static bool is_in(const gather_map *map, const void *data, int64_t *offset) {
  const uint8_t *at = data;
  if (!map->owned || !map->bytes || at < map->bytes || at - map->bytes >= map->size) return false;
  *offset = at - map->bytes;
  return true;
}

const char *gather_file_place(const gather_file *file, const gather_file_tensor *tensor, const gather_map **map, int64_t *offset) {
  if (gather_file_is_remote(tensor)) {
    *map = tensor->unreadable->map;
    *offset = tensor->unreadable->file_offset;
    return tensor->unreadable->file;
  }
  *map = &file->map;
  if (is_in(*map, tensor->tensor.data, offset)) return file->name;
  for (const gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next) {
    *map = &sibling->map;
    if (is_in(*map, tensor->tensor.data, offset)) return sibling->path;
  }
  return NULL;
}

bool gather_file_is_remote(const gather_file_tensor *tensor) { return tensor->unreadable && tensor->unreadable->map; }

gather_status gather_file_check_download(const gather_file *file, const char *name, int64_t bytes, gather_error *error) {
  char size[32], most[32];
  if (bytes <= file->download_bytes) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1,
                          "%s%.100s%s has %s, more than the %s that are downloaded at once; read rows of it as a table "
                          "(gather take), or download the file",
                          *name ? "'" : "the tensor", name, *name ? "'" : "", gather_text_bytes(bytes, size, sizeof size),
                          gather_text_bytes(file->download_bytes, most, sizeof most));
}
