/* SPDX-License-Identifier: MIT
 *
 * format_open.c: the steps of opening and closing that all formats share.
 */
#include "format/format_open.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

gather_status gather_file_make(const char *name, gather_file **file, gather_error *error) {
  size_t length = strlen(name);
  gather_file *made = gather_alloc((int64_t)sizeof **file);
  if (made) made->name = gather_alloc((int64_t)length + 1);
  if (!made || !made->name) {
    gather_free(made);
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory to open it");
  }
  memcpy(made->name, name, length);
  *file = made;
  return GATHER_OK;
}

gather_status gather_file_finish(gather_status status, gather_file *opened, gather_file **file) {
  if (status == GATHER_OK)
    *file = opened;
  else
    gather_file_close(opened);
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
  if (tensor->bytes > 0) tensor->tensor.data = (void *)(uintptr_t)(file->map.bytes + offset);
  return GATHER_OK;
}

void gather_file_close(gather_file *file) {
  if (!file) return;
  gather_map_close(&file->map);
  for (gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next) gather_map_close(&sibling->map);
  gather_arena_clear(&file->arena);
  gather_free(file->single);
  gather_free(file->name);
  gather_free(file);
}
