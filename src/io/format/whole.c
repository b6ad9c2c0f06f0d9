/* SPDX-License-Identifier: MIT
 *
 * whole.c: joins a tensor that a file has in chunks, such as a column in the record batches of an Arrow file.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "io/format/format.h"

/* Chunks of a remote file: downloads all at once. */
static gather_status fetch_pieces(const gather_file *file, const gather_file_tensor *first, int64_t count,
                                  const char *name, int64_t bytes, gather_error *error) {
  if (!file->map.remote) return GATHER_OK;
  GATHER_TRY(gather_file_check_download(file, name, bytes, error));
  gather_map_range *ranges = gather_alloc(count * (int64_t)sizeof *ranges);
  if (!ranges)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for the chunks of '%.100s'", name);
  for (int64_t i = 0; i < count; i++)
    if (gather_file_is_remote(&first[i])) ranges[i] = (gather_map_range){first[i].offset, first[i].bytes};
  gather_status status = gather_map_fetch_all(&file->map, ranges, count, error);
  gather_free(ranges);
  return status;
}

/* Concatenates the chunks. Each is dense, and all have the same strides within a row. */
static gather_status copy_pieces(gather_file *file, const gather_file_tensor *first, int64_t count, int64_t bytes,
                                 gather_file_tensor *whole, gather_error *error) {
  const gather_file_tensor *loaded;
  if (bytes == 0) return GATHER_OK;
  GATHER_TRY(fetch_pieces(file, first, count, whole->name, bytes, error));
  char *to = gather_arena_take(&file->arena, bytes, 1);
  if (!to)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1,
                            "no memory for the %" PRId64 " chunks of '%.100s'", count, whole->name);
  whole->tensor.data = to;
  for (int64_t i = 0; i < count; to += first[i++].bytes) {
    if (first[i].bytes == 0) continue;
    GATHER_TRY(gather_file_download(file, &first[i], &loaded, error));
    memcpy(to, loaded->tensor.data, (size_t)first[i].bytes);
    whole->tensor.strides = first[i].tensor.strides;
  }
  return GATHER_OK;
}

static gather_status join(gather_file *file, const char *name, const gather_file_tensor *first, int64_t count,
                          const gather_file_tensor **tensor, gather_error *error) {
  size_t rank = (size_t)first->tensor.rank;
  int64_t bytes = 0, rows = 0, *shape = gather_arena_take(&file->arena, (int64_t)rank, (int64_t)sizeof *shape);
  gather_file_tensor *whole = gather_arena_take(&file->arena, 1, (int64_t)sizeof *whole);
  if (!shape || !whole)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for the chunks of '%.100s'", name);
  for (int64_t i = 0; i < count; i++) {
    GATHER_TRY(gather_file_rows_check(&first[i], error));
    if (!gather_add(bytes, first[i].bytes, &bytes) || !gather_add(rows, first[i].tensor.shape[0], &rows))
      return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "the size of '%.100s' does not fit in 64 bits",
                              name);
  }
  memcpy(shape, first->tensor.shape, rank * sizeof *shape);
  shape[0] = rows;
  *whole = *first;
  whole->unreadable = NULL;
  whole->name = name;
  whole->bytes = bytes;
  whole->tensor.shape = shape;
  whole->tensor.data = NULL;
  *tensor = whole;
  return copy_pieces(file, first, count, bytes, whole, error);
}

gather_status gather_file_find_whole(gather_file *file, const char *name, const gather_file_tensor **tensor,
                                     gather_error *error) {
  gather_status status = gather_file_find(file, name, tensor, error);
  int64_t first = 0, count = status == GATHER_NAME_NOT_FOUND ? gather_file_pieces(file, name, &first) : 0;
  if (status == GATHER_OK) status = gather_file_download(file, *tensor, tensor, error);
  if (count == 0) {
    if (status != GATHER_OK) *tensor = NULL;
    return status;
  }
  for (int64_t i = 0; i < file->pieces_len; i++)
    if (file->pieces[i].first == first) name = file->pieces[i].name; /* valid as long as the file */
  status = join(file, name, &file->tensors[first], count, tensor, error);
  if (status != GATHER_OK) *tensor = NULL;
  return status;
}
