/* SPDX-License-Identifier: MIT
 *
 * format_open.c: the steps of opening and closing that all formats share.
 */
#include "io/format/format_open.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/substitute.h"

/* The default of gather_file_options.download_bytes. */
#define DOWNLOAD_BYTES (INT64_C(1) << 30)

/* The name without the query of a URL, which may be a secret. */
static gather_status rename_file(gather_file *file, const char *name, gather_error *error) {
  size_t length = strlen(name);
  char *copy = gather_alloc((int64_t)length + 1);
  if (!copy) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory to open it");
  memcpy(copy, name, length);
  gather_free(file->name);
  file->name = copy;
  return GATHER_OK;
}

gather_status gather_file_make(const char *name, gather_file **file, gather_error *error) {
  size_t length = strlen(name);
  gather_file *made = gather_alloc((int64_t)sizeof **file);
  if (made) made->name = gather_alloc((int64_t)length + 1);
  if (!made || !made->name) {
    gather_free(made);
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory to open it");
  }
  made->download_bytes = DOWNLOAD_BYTES;
  memcpy(made->name, name, length);
  *file = made;
  return GATHER_OK;
}

/* ---- tensors by name */

static uint64_t hash(const char *name) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
  return h ^ h >> 32;
}

/* The place of that name, or the empty one for it. */
static int64_t *slot_of(const gather_file *file, const char *name) {
  const uint64_t mask = (uint64_t)file->name_slot_count - 1;
  uint64_t at = hash(name) & mask;
  while (file->name_slots[at] > 0 && strcmp(file->tensors[file->name_slots[at] - 1].name, name) != 0)
    at = (at + 1) & mask;
  return &file->name_slots[at];
}

/* Side tensors are looked up for each tensor. Without memory for the table, a search takes longer. */
static void index_names(gather_file *file) {
  enum { FEW = 16 };
  if (file->len <= FEW) return;
  for (file->name_slot_count = FEW; file->name_slot_count / 2 < file->len;) file->name_slot_count *= 2;
  file->name_slots = gather_arena_take(&file->arena, file->name_slot_count, (int64_t)sizeof *file->name_slots);
  for (int64_t i = 0; file->name_slots && i < file->len; i++) {
    int64_t *slot = slot_of(file, file->tensors[i].name);
    if (*slot == 0) *slot = i + 1;
  }
}

const gather_file_tensor *gather_file_named(const gather_file *file, const char *name) {
  if (file->name_slots) {
    const int64_t number = *slot_of(file, name);
    return number > 0 ? &file->tensors[number - 1] : NULL;
  }
  for (int64_t i = 0; i < file->len; i++)
    if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i];
  return NULL;
}

/* ---- the end of opening */

gather_status gather_file_finish(gather_status status, gather_file *opened, gather_file **file) {
  if (status == GATHER_OK) index_names(opened);
  if (status == GATHER_OK)
    *file = opened;
  else
    gather_file_close(opened);
  return status;
}

/* Fields that this version does not know must be zero; fields that the program does not know get their defaults. */
gather_status gather_file_options_read(const gather_file_options *given, gather_file_options *options,
                                       gather_error *error) {
  *options = (gather_file_options)GATHER_FILE_OPTIONS_INIT;
  if (!given) return GATHER_OK;
  size_t known = given->size < sizeof *options ? given->size : sizeof *options;
  if (known < sizeof given->size)
    return gather_fail(error, GATHER_USAGE, "options.size is %zu; start from GATHER_FILE_OPTIONS_INIT", given->size);
  for (size_t i = sizeof *options; i < given->size; i++)
    if (((const char *)given)[i] != 0)
      return gather_fail(error, GATHER_USAGE, "the options have a field that this version does not support");
  memcpy(options, given, known);
  if (options->download_bytes >= 0) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "options.download_bytes is negative");
}

static void use_options(gather_file *file, const gather_file_options *options) {
  file->no_links = options->no_links;
  file->text_column = options->text_column;
  if (options->download_bytes > 0) file->download_bytes = options->download_bytes;
}

gather_status gather_file_use_client(gather_file *file, gather_remote_client *client, const char *url,
                                     const gather_file_options *options, gather_error *error) {
  use_options(file, options);
  file->client = gather_remote_client_hold(client);
  const gather_status status = gather_map_open_url(client, url, &file->map, error);
  if (status != GATHER_OK) {
    gather_substitute_advise(url, error);
    return status;
  }
  return rename_file(file, gather_remote_object_name(gather_map_object(&file->map)), error);
}

gather_status gather_file_use_path(gather_file *file, const char *path, const gather_file_options *options,
                                   gather_error *error) {
  gather_remote_client *client = NULL;
  use_options(file, options);
  if (!options->remote || !gather_remote_is_url(path)) return gather_map_open(path, &file->map, error);
  GATHER_TRY(gather_remote_client_create(options->remote, &client, error));
  gather_status status = gather_file_use_client(file, client, path, options, error);
  gather_remote_client_release(client);
  return status;
}

gather_status gather_file_use_memory(gather_file *file, const void *memory, size_t bytes, gather_error *error) {
  if (bytes > PTRDIFF_MAX) return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "its size does not fit");
  if (bytes > 0 && !memory) return gather_fail_file(error, GATHER_USAGE, file->name, -1, "memory is NULL");
  file->map = (gather_map){.bytes = memory, .size = (int64_t)bytes};
  return GATHER_OK;
}

gather_status gather_single_create(gather_file *file, int64_t text_bytes, gather_single **single, gather_error *error) {
  *single = gather_alloc((int64_t)sizeof **single + text_bytes);
  if (!*single) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for its header");
  (*single)->tensor.name = "";
  (*single)->tensor.tensor.shape = (*single)->shape;
  (*single)->tensor.tensor.flags = GATHER_FILE_VIEW;
  file->tensors = &(*single)->tensor;
  file->single = *single;
  file->len = 1;
  return GATHER_OK;
}

gather_status gather_single_place(gather_file *file, gather_single *single, int64_t offset, gather_error *error) {
  gather_file_tensor *tensor = &single->tensor;
  tensor->offset = offset;
  if (!tensor->type_name) tensor->type_name = gather_type_get(tensor->tensor.type)->name; /* else set by the format */
  /* In this order nothing can overflow. */
  if (offset > file->map.size || tensor->bytes > file->map.size - offset)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, file->map.size,
                            "the file is truncated: %" PRId64 " bytes are needed at byte %" PRId64 ", it has %" PRId64
                            " bytes in all",
                            tensor->bytes, offset, file->map.size);
  return gather_file_point(file, &file->map, offset, tensor, error);
}

void gather_file_close(gather_file *file) {
  if (!file) return;
  gather_map_close(&file->map);
  for (gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next) gather_map_close(&sibling->map);
  gather_remote_client_release(file->client);
  gather_arena_clear(&file->arena);
  gather_free(file->single);
  gather_free(file->name);
  gather_free(file);
}
