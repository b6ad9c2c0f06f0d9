/* SPDX-License-Identifier: MIT
 *
 * arrow.c: Arrow's file format, also known as Feather version 2, in which a footer gives the positions of the record batches, and its
 * streaming format, which has no footer. Each column of fixed size is a tensor; a column in several batches is one tensor per batch:
 * NAME@0, NAME@1 and so on. Source: the document "Arrow Columnar Format" and the descriptions that it names.
 */
#include "io/format/arrow/arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "io/format/chunks.h"

enum { VERSION_LOWEST = 3, VERSION_HIGHEST = 4 }; /* of the metadata: V4 (Arrow 0.8) and V5 (1.0) */

/* Fails for versions of the metadata that are not supported; at: of the version. */
static gather_status check_version(const gather_arrow *arrow, int64_t at) {
  if (arrow->version >= VERSION_LOWEST && arrow->version <= VERSION_HIGHEST) return GATHER_OK;
  return GATHER_ARROW_REFUSE(arrow, at, "version V%" PRId64 " of Arrow's metadata is not supported; V4 and V5 are", arrow->version + 1);
}

/* ---- the streaming format: the schema and then the record batches, each a message with its body. There is no index, so the messages are
 * read one after another. */

enum { MARKER_BYTES = 4, HEAD_BYTES = 12 };

/* Each batch of a remote stream is a request that waits for the one before. */
enum { REMOTE_BATCHES = 256 };

/* A marker, the length of the metadata, whose root table is near, and what they are: the schema. */
static bool is_stream(const gather_map *map) {
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
  if (map->size - at < GATHER_ARROW_PREFIX_BYTES) return GATHER_ARROW_WRONG(arrow, at, "the stream is truncated: a message begins here");
  GATHER_TRY(gather_map_need(map, at, GATHER_ARROW_PREFIX_BYTES, arrow->error));
  const uint8_t *start = map->bytes + at;
  int64_t length = gather_read_i32(start + MARKER_BYTES);
  if (gather_read_u32(start) != UINT32_MAX) return GATHER_ARROW_WRONG(arrow, at, "a message of the stream does not begin with its marker");
  *found = length != 0;
  *block = (gather_arrow_block){at, GATHER_ARROW_PREFIX_BYTES + length, at};
  if (length >= 0 && block->bytes <= map->size - at) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, at,
                            "the stream is truncated, or a message is malformed: %" PRId64 " bytes of metadata, and %" PRId64 " are left",
                            length, map->size - at - GATHER_ARROW_PREFIX_BYTES);
}

/* The blocks found so far; on the heap while they grow. */
typedef struct found_blocks {
  gather_arrow_block *at;
  int64_t len, room;
} found_blocks;

static gather_status add_block(gather_arrow *arrow, found_blocks *found, const gather_arrow_block *block) {
  if (arrow->file->map.remote && found->len == REMOTE_BATCHES)
    return GATHER_ARROW_REFUSE(arrow, block->at,
                               "a stream on a server has more than %d record batches, and no index of them; write it "
                               "as a file (pyarrow.ipc.new_file), or download it",
                               REMOTE_BATCHES);
  if (found->len == found->room) {
    gather_arrow_block *at = gather_alloc_grown(found->at, (int64_t)sizeof *at, &found->room);
    if (!at) return GATHER_ARROW_NO_MEMORY(arrow);
    found->at = at;
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
  GATHER_TRY(check_version(arrow, message.table.at));
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
      return GATHER_ARROW_WRONG(arrow, message.table.at, "a message of the stream is not a record batch (kind %" PRId64 ")", message.kind);
    at += block.bytes + message.body_bytes;
  }
}

/* Reads the schema of a stream, and finds its batches: *blocks has *count, in the arena. */
static gather_status read_stream(gather_arrow *arrow, gather_arrow_block **blocks, int64_t *count) {
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

/* ---- the file format */

static const char MAGIC[] = "ARROW1";

enum { MAGIC_BYTES = 6, START_BYTES = 8, LENGTH_BYTES = 4, END_BYTES = LENGTH_BYTES + MAGIC_BYTES };

enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };

/* A Block of the footer: offset, metadata length (4 bytes, then 4 unused), body length. */
enum { BLOCK_BYTES = 24, BLOCK_METADATA = 8 };

/* What is read first of a remote file: most footers are shorter. */
enum { TAIL_BYTES = 1 << 16 };

static bool recognise(const gather_map *map) {
  return (map->size >= MAGIC_BYTES && memcmp(map->bytes, MAGIC, MAGIC_BYTES) == 0) || is_stream(map);
}

/* ---- the footer */

static gather_status open_footer(gather_arrow *arrow, gather_flat *flat) {
  const gather_map *map = &arrow->file->map;
  int64_t end = map->size - END_BYTES;
  gather_map_expect(map, map->size - TAIL_BYTES, TAIL_BYTES);
  if (end >= START_BYTES) GATHER_TRY(gather_map_need(map, end, END_BYTES, arrow->error));
  if (end < START_BYTES || memcmp(map->bytes + end + LENGTH_BYTES, MAGIC, MAGIC_BYTES) != 0)
    return GATHER_ARROW_WRONG(arrow, map->size, "it is truncated, or its writer was not closed: an Arrow file ends with %s", MAGIC);
  int64_t bytes = gather_read_i32(map->bytes + end);
  *flat = (gather_flat){arrow->file, arrow->error, end - bytes, end};
  if (bytes > 0 && bytes <= end - START_BYTES) return gather_map_need(map, end - bytes, bytes, arrow->error);
  return GATHER_ARROW_WRONG(arrow, end, "the footer length is %" PRId64 "; only %" PRId64 " bytes are left in the file", bytes,
                            end - START_BYTES);
}

static gather_status read_footer(gather_arrow *arrow, const gather_flat *flat, gather_flat_vector *blocks) {
  gather_flat_table footer, schema;
  GATHER_TRY(gather_flat_root(flat, &footer));
  GATHER_TRY(gather_flat_number(flat, &footer, FOOTER_VERSION, 2, &arrow->version));
  GATHER_TRY(check_version(arrow, footer.at));
  GATHER_TRY(gather_flat_inner(flat, &footer, FOOTER_SCHEMA, &schema));
  if (schema.at == 0) return GATHER_ARROW_WRONG(arrow, footer.at, "the footer has no schema");
  GATHER_TRY(gather_arrow_schema(arrow, flat, &schema));
  return gather_flat_list(flat, &footer, FOOTER_BATCHES, BLOCK_BYTES, blocks);
}

/* Where the footer says that the batches are. */
static gather_status list_blocks(gather_arrow *arrow, const gather_flat_vector *said, gather_arrow_block **blocks) {
  GATHER_TRY(gather_arrow_take(arrow, said->len, sizeof **blocks, blocks));
  for (int64_t i = 0; i < said->len; i++) {
    int64_t at = said->at + BLOCK_BYTES * i;
    const uint8_t *block = arrow->file->map.bytes + at;
    (*blocks)[i] = (gather_arrow_block){gather_read_i64(block), gather_read_i32(block + BLOCK_METADATA), at};
  }
  return GATHER_OK;
}

/* The metadata of all batches of a remote file, by requests at once. */
static void expect_batches(const gather_arrow *arrow, const gather_arrow_block *blocks, int64_t len) {
  const gather_map *map = &arrow->file->map;
  gather_map_range *ranges = gather_map_wants_hints(map) ? gather_alloc(len * (int64_t)sizeof *ranges) : NULL;
  for (int64_t i = 0; ranges && i < len; i++) ranges[i] = (gather_map_range){blocks[i].at, blocks[i].bytes};
  if (ranges) gather_map_expect_all(map, ranges, len);
  gather_free(ranges);
}

static gather_status open_file(gather_arrow *arrow, gather_arrow_block **blocks, int64_t *count, int64_t *end) {
  gather_flat flat;
  gather_flat_vector said;
  GATHER_TRY(open_footer(arrow, &flat));
  GATHER_TRY(read_footer(arrow, &flat, &said));
  GATHER_TRY(list_blocks(arrow, &said, blocks));
  expect_batches(arrow, *blocks, said.len);
  *count = said.len;
  *end = flat.start;
  return GATHER_OK;
}

static gather_status read_all(gather_file *file, gather_error *error) {
  int64_t size = file->map.size, count = 0, end = size;
  enum { DECODED = 64 << 20, DECODED_TIMES = 8 }; /* offsets of lists alike are much shorter when compressed */
  gather_arrow arrow = {
      .file = file, .error = error, .codec = -1, .search_room = size, .offsets_room = size, .remote_room = GATHER_MAP_METADATA_MAX / 4};
  gather_arrow_block *blocks = NULL;
  arrow.decoded_room = size < GATHER_CHUNK_BYTES_MAX / DECODED_TIMES ? size * DECODED_TIMES + DECODED : GATHER_CHUNK_BYTES_MAX;
  if (is_stream(&file->map))
    GATHER_TRY(read_stream(&arrow, &blocks, &count));
  else
    GATHER_TRY(open_file(&arrow, &blocks, &count, &end));
  const gather_status status = gather_arrow_tensors(&arrow, end, blocks, count);
  gather_unfilter_destroy(arrow.unfilter);
  return status;
}

/* The metadata of each batch stand before its data. */
static gather_status open_any(gather_file *file, gather_error *error) {
  gather_map_read_ahead(&file->map, false);
  const gather_status status = read_all(file, error);
  gather_map_read_ahead(&file->map, true);
  return status;
}

const gather_format_reader gather_arrow_reader = {recognise, open_any};
