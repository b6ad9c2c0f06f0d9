/* SPDX-License-Identifier: MIT
 *
 * arrow_stream.c: Arrow's streaming format: the schema and then the record batches, each a message with its body. There is no index, so
 * the messages are read one after another.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/arrow/arrow.h"
#include "io/format/bytes.h"

enum { MARKER_BYTES = 4, HEAD_BYTES = 12 };
/* Each batch of a remote stream is a request that waits for the one before. */
enum { REMOTE_BATCHES = 256 };

/* A marker, the length of the metadata, whose root table is near, and what they are: the schema. */
bool gather_arrow_is_stream(const gather_map *map) {
  enum { ROOM = 16 };
  if (map->size < ROOM || gather_read_u32(map->bytes) != UINT32_MAX) return false;
  uint32_t length = gather_read_u32(map->bytes + MARKER_BYTES), root = gather_read_u32(map->bytes + HEAD_BYTES - 4);
  if (length % 8 != 0 || length > map->size - GATHER_ARROW_PREFIX_BYTES || root < 4 || root > length - 4) return false;
  char name[] = "";
  gather_file file = {.name = name, .map = *map};
  gather_arrow arrow = {.file = &file};
  gather_arrow_message message;
  gather_arrow_block block = {0, GATHER_ARROW_PREFIX_BYTES + (int64_t)length, 0};
  gather_status status = gather_arrow_message_read(&arrow, &block, map->size, "a schema", &message);
  return status == GATHER_OK && message.kind == GATHER_ARROW_SCHEMA;
}

/* The next message, which is at `at`; false at the end of the stream: a length of 0, or the end of the file. */
static gather_status next_block(gather_arrow *arrow, int64_t at, gather_arrow_block *block, bool *found) {
  const gather_map *map = &arrow->file->map;
  *found = at < map->size;
  if (!*found) return GATHER_OK;
  if (map->size - at < GATHER_ARROW_PREFIX_BYTES)
    return GATHER_ARROW_WRONG(arrow, at, "the stream is truncated: a message begins here");
  GATHER_TRY(gather_map_need(map, at, GATHER_ARROW_PREFIX_BYTES, arrow->error));
  const uint8_t *start = map->bytes + at;
  int64_t length = gather_read_i32(start + MARKER_BYTES);
  if (gather_read_u32(start) != UINT32_MAX)
    return GATHER_ARROW_WRONG(arrow, at, "a message of the stream does not begin with its marker");
  *found = length != 0;
  *block = (gather_arrow_block){at, GATHER_ARROW_PREFIX_BYTES + length, at};
  if (length >= 0 && block->bytes <= map->size - at) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, at,
                            "the stream is truncated, or a message is malformed: %" PRId64
                            " bytes of metadata, and %" PRId64 " are left",
                            length, map->size - at - GATHER_ARROW_PREFIX_BYTES);
}

/* The blocks found so far; on the heap while they grow. */
typedef struct found_blocks {
  gather_arrow_block *at;
  int64_t len, room;
} found_blocks;

static gather_status add_block(gather_arrow *arrow, found_blocks *found, const gather_arrow_block *block) {
  enum { FIRST_ROOM = 64 };
  if (arrow->file->map.remote && found->len == REMOTE_BATCHES)
    return GATHER_ARROW_REFUSE(arrow, block->at,
                               "a stream on a server has more than %d record batches, and no index of them; write it "
                               "as a file (pyarrow.ipc.new_file), or download it",
                               REMOTE_BATCHES);
  if (found->len == found->room) {
    int64_t room = found->room ? 2 * found->room : FIRST_ROOM;
    gather_arrow_block *at = gather_alloc(room * (int64_t)sizeof *at);
    if (!at) return gather_arrow_no_memory(arrow);
    if (found->len > 0) memcpy(at, found->at, (size_t)found->len * sizeof *at);
    gather_free(found->at);
    found->at = at;
    found->room = room;
  }
  found->at[found->len++] = *block;
  return GATHER_OK;
}

static gather_status read_schema(gather_arrow *arrow, int64_t *next) {
  gather_arrow_block block;
  gather_arrow_message message;
  bool found;
  GATHER_TRY(next_block(arrow, 0, &block, &found));
  if (!found) return GATHER_ARROW_WRONG(arrow, 0, "the stream has no schema");
  GATHER_TRY(gather_arrow_message_read(arrow, &block, arrow->file->map.size, "the schema", &message));
  arrow->version = message.version;
  GATHER_TRY(gather_arrow_version_check(arrow, message.table.at));
  if (message.kind != GATHER_ARROW_SCHEMA || message.header.at == 0)
    return GATHER_ARROW_WRONG(arrow, message.table.at, "the stream does not begin with its schema");
  GATHER_TRY(gather_arrow_schema(arrow, &message.flat, &message.header));
  *next = block.bytes + message.body_bytes;
  return GATHER_OK;
}

/* Dictionaries are passed over: their columns are not read. */
static gather_status find_batches(gather_arrow *arrow, int64_t at, found_blocks *batches) {
  for (bool found;;) {
    gather_arrow_block block;
    gather_arrow_message message;
    GATHER_TRY(next_block(arrow, at, &block, &found));
    if (!found) return GATHER_OK;
    GATHER_TRY(gather_arrow_message_read(arrow, &block, arrow->file->map.size, "a message", &message));
    if (message.kind == GATHER_ARROW_BATCH)
      GATHER_TRY(add_block(arrow, batches, &block));
    else if (message.kind != GATHER_ARROW_DICTIONARY)
      return GATHER_ARROW_WRONG(arrow, message.table.at,
                                "a message of the stream is no record batch (kind %" PRId64 ")", message.kind);
    at += block.bytes + message.body_bytes;
  }
}

gather_status gather_arrow_stream(gather_arrow *arrow, gather_arrow_block **blocks, int64_t *count) {
  found_blocks batches = {0};
  int64_t next = 0;
  GATHER_TRY(read_schema(arrow, &next));
  gather_status status = find_batches(arrow, next, &batches);
  if (status == GATHER_OK) status = gather_arrow_take(arrow, batches.len, sizeof **blocks, blocks);
  if (status == GATHER_OK && batches.len > 0) memcpy(*blocks, batches.at, (size_t)batches.len * sizeof *batches.at);
  *count = batches.len;
  gather_free(batches.at);
  return status;
}
