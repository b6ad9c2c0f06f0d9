/* SPDX-License-Identifier: MIT
 *
 * arrow_buffers.c: the buffers of a record batch, and those that are compressed as a whole: then a tensor is in one chunk (chunks.h).
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "io/format/arrow/arrow.h"

/* Each buffer of a compressed batch begins with its length; -1 means not compressed. */
static gather_status look_into(const gather_arrow *arrow, gather_arrow_contents *contents) {
  const uint8_t *prefix = arrow->file->map.bytes + contents->start;
  if (contents->bytes < GATHER_ARROW_LENGTH_BYTES)
    return GATHER_ARROW_WRONG(arrow, contents->start, "a compressed buffer is too short: %" PRId64 " bytes", contents->bytes);
  GATHER_TRY(gather_map_need(&arrow->file->map, contents->start, GATHER_ARROW_LENGTH_BYTES, arrow->error));
  contents->raw_bytes = gather_read_i64(prefix);
  if (contents->raw_bytes < -1)
    return GATHER_ARROW_WRONG(arrow, contents->start, "the length of a compressed buffer is %" PRId64, contents->raw_bytes);
  if (contents->raw_bytes >= 0) return GATHER_OK;
  contents->start += GATHER_ARROW_LENGTH_BYTES;
  contents->bytes -= GATHER_ARROW_LENGTH_BYTES;
  return GATHER_OK;
}

gather_status gather_arrow_find_buffer(const gather_arrow *arrow, const gather_arrow_batch *batch, int64_t number, const char *name,
                                       int64_t *start, int64_t *bytes) {
  int64_t offset = gather_arrow_pair(arrow, batch->buffers, number, 0);
  *bytes = gather_arrow_pair(arrow, batch->buffers, number, 1);
  const bool is_inside = offset >= 0 && *bytes >= 0 && offset <= batch->body_bytes && *bytes <= batch->body_bytes - offset;
  *start = batch->body + (is_inside ? offset : 0);
  if (is_inside) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, batch->buffers + GATHER_ARROW_PAIR_BYTES * number,
                            "a buffer of column '%.100s' is outside its record batch: %" PRId64 " bytes at byte %" PRId64 " of the batch",
                            name, *bytes, offset);
}

gather_status gather_arrow_open_buffer(const gather_arrow *arrow, const gather_arrow_batch *batch, int64_t number, const char *name,
                                       gather_arrow_contents *contents) {
  contents->raw_bytes = -1;
  GATHER_TRY(gather_arrow_find_buffer(arrow, batch, number, name, &contents->start, &contents->bytes));
  return batch->compression >= 0 ? look_into(arrow, contents) : GATHER_OK;
}

/* ---- elements in a chunk */

gather_status gather_arrow_unreadable(gather_arrow *arrow, const gather_arrow_column *column, gather_file_tensor *tensor, int64_t at,
                                      const char *why) {
  gather_error error;
  tensor->tensor.data = NULL;
  (void)gather_fail_file(&error, GATHER_UNSUPPORTED, arrow->file->name, at, "column '%.100s' %s", column->name, why);
  return gather_file_unreadable(arrow->file, &error, tensor, arrow->error);
}

void gather_arrow_strides(const gather_arrow_column *column, int64_t *strides) {
  int64_t step = column->item_bytes, stored[GATHER_ARROW_DEPTH_MAX], steps[GATHER_ARROW_DEPTH_MAX];
  for (int32_t i = 0; i < column->rank; i++) stored[column->order[i]] = column->shape[i];
  for (int32_t i = column->rank - 1; i >= 0; step *= stored[i], i--) steps[i] = step; /* at most the tensor's bytes */
  strides[0] = step;
  for (int32_t i = 0; i < column->rank; i++) strides[i + 1] = steps[column->order[i]];
}

/* A tensor whose elements are one chunk. */
typedef struct arrow_stored {
  gather_chunks chunks;
  gather_chunk_place place;
} arrow_stored;

static gather_status find_stored(const gather_chunks *chunks, const int64_t *numbers, int64_t count, gather_chunk_place *places,
                                 gather_error *error) {
  const arrow_stored *stored = chunks->from;
  (void)numbers, (void)error;
  for (int64_t i = 0; i < count; i++) places[i] = stored->place;
  return GATHER_OK;
}

static gather_status stored_sizes(const gather_chunks *chunks, int64_t *longest, int64_t *all, gather_error *error) {
  const arrow_stored *stored = chunks->from;
  (void)error;
  *longest = stored->place.bytes;
  if (all) *all = stored->place.bytes;
  return GATHER_OK;
}

gather_status gather_arrow_set_chunk(gather_arrow *arrow, const gather_arrow_column *column, gather_file_tensor *tensor,
                                     const gather_chunk_place *place, int64_t raw_bytes) {
  const gather_filter filter = {.kind = arrow->codec == 0 ? GATHER_FILTER_ARROW_LZ4 : GATHER_FILTER_ARROW_ZSTD};
  arrow_stored *stored = NULL;
  gather_error why;
  GATHER_TRY(gather_arrow_take(arrow, 1, sizeof *stored, &stored));
  stored->place = *place;
  stored->chunks = (gather_chunks){.file = arrow->file,
                                   .map = &arrow->file->map,
                                   .rank = tensor->tensor.rank,
                                   .item_bytes = column->item_bytes,
                                   .pipeline = {1, {filter}},
                                   .find = find_stored,
                                   .sizes = stored_sizes,
                                   .from = stored};
  memcpy(stored->chunks.shape, tensor->tensor.shape, (size_t)tensor->tensor.rank * sizeof *tensor->tensor.shape);
  memcpy(stored->chunks.chunk, tensor->tensor.shape, (size_t)tensor->tensor.rank * sizeof *tensor->tensor.shape);
  const gather_status status = gather_chunks_measure(&stored->chunks, column->name, place->offset, &why);
  if (status != GATHER_OK) return gather_file_unreadable(arrow->file, &why, tensor, arrow->error);
  if (raw_bytes > GATHER_CHUNK_BYTES_MAX)
    return gather_arrow_unreadable(arrow, column, tensor, place->offset,
                                   "has a compressed buffer of more than 1 GiB, which is not supported");
  stored->chunks.raw_bytes = raw_bytes;
  if (column->order) gather_arrow_strides(column, stored->chunks.strides);
  tensor->tensor.strides = NULL;
  tensor->offset = place->offset;
  return gather_file_set_chunks(arrow->file, &stored->chunks, tensor, arrow->error);
}
