/* SPDX-License-Identifier: MIT
 *
 * unreadable.c: tensors whose elements cannot be read, and why.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/format.h"

static gather_status no_memory(const gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for what it holds");
}

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
      "the elements of the tensor%s%.100s%s (%s) are remote and were not downloaded; read rows of it as a table "
      "(gather take), or download the file",
      GATHER_CALLED(tensor->name), gather_text_bytes(tensor->bytes, size, sizeof size));
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
