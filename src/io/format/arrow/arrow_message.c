/* SPDX-License-Identifier: MIT
 *
 * arrow_message.c: the messages of Arrow files and streams, and the buffers of record batches.
 */
#include <inttypes.h>

#include "io/format/arrow/arrow.h"
#include "io/format/bytes.h"

enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_BYTES };
enum { VERSION_LOWEST = 3, VERSION_HIGHEST = 4 }; /* of the metadata: V4 (Arrow 0.8) and V5 (1.0) */
enum { PAIR_BYTES = 16 };

/* ---- messages */

/* The metadata follow their length; since 0.15 a marker precedes the length. */
static gather_status open_message(gather_arrow *arrow, const gather_arrow_block *block, int64_t end, const char *what,
                                  gather_flat *flat) {
  int64_t at = block->at, bytes = block->bytes;
  if (at < 0 || bytes < GATHER_ARROW_PREFIX_BYTES || at > end || bytes > end - at)
    return GATHER_ARROW_WRONG(arrow, block->said_at, "%s is outside the file: %" PRId64 " bytes at byte %" PRId64, what,
                              bytes, at);
  GATHER_TRY(gather_map_need(&arrow->file->map, at, GATHER_ARROW_PREFIX_BYTES, arrow->error));
  const uint8_t *start = arrow->file->map.bytes + at;
  int64_t prefix = gather_read_u32(start) == UINT32_MAX ? GATHER_ARROW_PREFIX_BYTES : GATHER_ARROW_PREFIX_BYTES / 2;
  int64_t length = gather_read_i32(start + prefix - 4);
  *flat = (gather_flat){arrow->file, arrow->error, at + prefix, at + prefix + length};
  if (length > 0 && length <= bytes - prefix)
    return gather_map_need(&arrow->file->map, at + prefix, length, arrow->error);
  return GATHER_ARROW_WRONG(arrow, at, "the metadata of %s are %" PRId64 " bytes long; there is room for %" PRId64,
                            what, length, bytes - prefix);
}

gather_status gather_arrow_message_read(gather_arrow *arrow, const gather_arrow_block *block, int64_t end,
                                        const char *what, gather_arrow_message *message) {
  *message = (gather_arrow_message){0};
  GATHER_TRY(open_message(arrow, block, end, what, &message->flat));
  const gather_flat *flat = &message->flat;
  GATHER_TRY(gather_flat_root(flat, &message->table));
  GATHER_TRY(gather_flat_number(flat, &message->table, MESSAGE_VERSION, 2, &message->version));
  GATHER_TRY(gather_flat_number(flat, &message->table, MESSAGE_HEADER_TYPE, 1, &message->kind));
  GATHER_TRY(gather_flat_number(flat, &message->table, MESSAGE_BODY_BYTES, 8, &message->body_bytes));
  GATHER_TRY(gather_flat_inner(flat, &message->table, MESSAGE_HEADER, &message->header));
  int64_t body = block->at + block->bytes;
  if (message->body_bytes >= 0 && message->body_bytes <= end - body) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, message->table.at, "%s of %" PRId64 " bytes at byte %" PRId64 " is outside the file",
                            what, message->body_bytes, body);
}

gather_status gather_arrow_version_check(const gather_arrow *arrow, int64_t at) {
  if (arrow->version >= VERSION_LOWEST && arrow->version <= VERSION_HIGHEST) return GATHER_OK;
  return GATHER_ARROW_REFUSE(arrow, at, "version V%" PRId64 " of Arrow's metadata is not supported; V4 and V5 are",
                             arrow->version + 1);
}

/* ---- buffers */

#define UNPACKED "write it with compression='uncompressed' (Feather) or compression=None (IPC)"

/* Each buffer of a compressed batch begins with its length; -1 means not compressed. */
static gather_status look_into(const gather_arrow *arrow, const gather_arrow_batch *batch, int64_t *start,
                               int64_t *bytes, const char **packed) {
  const uint8_t *prefix = arrow->file->map.bytes + *start;
  if (*bytes < 8)
    return GATHER_ARROW_WRONG(arrow, *start, "a compressed buffer is too short: %" PRId64 " bytes", *bytes);
  GATHER_TRY(gather_map_need(&arrow->file->map, *start, 8, arrow->error));
  *start += 8;
  *bytes -= 8;
  if (gather_read_i64(prefix) == -1) return GATHER_OK;
  *packed = batch->compression == 0 ? "is compressed (lz4); " UNPACKED : "is compressed (zstd); " UNPACKED;
  return GATHER_OK;
}

gather_status gather_arrow_buffer_find(const gather_arrow *arrow, const gather_arrow_batch *batch, int64_t number,
                                       const char *name, int64_t *start, int64_t *bytes) {
  int64_t offset = gather_arrow_pair(arrow, batch->buffers, number, 0);
  *bytes = gather_arrow_pair(arrow, batch->buffers, number, 1);
  *start = batch->body + offset;
  if (offset >= 0 && *bytes >= 0 && offset <= batch->body_bytes && *bytes <= batch->body_bytes - offset)
    return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, batch->buffers + PAIR_BYTES * number,
                            "a buffer of column '%.100s' is outside its record batch: %" PRId64
                            " bytes at byte %" PRId64 " of the batch",
                            name, *bytes, offset);
}

gather_status gather_arrow_buffer(const gather_arrow *arrow, const gather_arrow_batch *batch, int64_t number,
                                  const char *name, int64_t *start, int64_t *bytes, const char **packed) {
  *packed = NULL;
  GATHER_TRY(gather_arrow_buffer_find(arrow, batch, number, name, start, bytes));
  return batch->compression >= 0 ? look_into(arrow, batch, start, bytes, packed) : GATHER_OK;
}

/* ---- positions */

int64_t gather_arrow_pair(const gather_arrow *arrow, int64_t at, int64_t i, int which) {
  return gather_read_i64(arrow->file->map.bytes + at + PAIR_BYTES * i + 8 * which);
}

void gather_arrow_pass_views(const gather_arrow *arrow, gather_arrow_batch *batch, const gather_arrow_column *column) {
  for (; batch->passed < column->views; batch->passed++)
    batch->passed_buffers += gather_read_i64(arrow->file->map.bytes + batch->buffers_of_views + 8 * batch->passed);
}
