/* SPDX-License-Identifier: MIT
 *
 * arrow_message.c: the metadata of Arrow files and streams: messages, and the FlatBuffers in which they are written.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "io/format/arrow/arrow.h"
#include "io/format/text/utf8.h"

/* ---- memory that an open Arrow file owns */

gather_status gather_arrow_take(gather_arrow *arrow, int64_t count, size_t bytes, void *memory) {
  void *taken = gather_arena_take(&arrow->file->arena, count, (int64_t)bytes);
  if (!taken) return GATHER_ARROW_NO_MEMORY(arrow);
  memcpy(memory, &taken, sizeof taken);
  return GATHER_OK;
}

/* ---- FlatBuffers */

static gather_status wrong(const gather_flat *flat, int64_t at, const char *what) {
  return gather_fail_file(flat->error, GATHER_FILE_MALFORMED, flat->file->name, at, "malformed metadata: %s", what);
}

/* Whether the buffer has so many bytes at that position. */
static bool holds(const gather_flat *flat, int64_t at, int64_t bytes) {
  return at >= flat->start && at <= flat->end && bytes <= flat->end - at;
}

/* Follows the offset at `at`, which is inside the buffer. */
static gather_status follow(const gather_flat *flat, int64_t at, int64_t *target) {
  uint32_t distance = gather_read_u32(flat->file->map.bytes + at);
  *target = at + distance;
  if (distance > 0 && holds(flat, *target, 4)) return GATHER_OK;
  return wrong(flat, at, "an offset points outside the buffer");
}

static gather_status open_table(const gather_flat *flat, int64_t at, gather_flat_table *table) {
  const uint8_t *bytes = flat->file->map.bytes;
  table->at = at;
  table->fields_at = at - gather_read_i32(bytes + at);
  if (!holds(flat, table->fields_at, 4)) return wrong(flat, at, "the field list of a table is outside the buffer");
  int64_t size = gather_read_u16(bytes + table->fields_at);
  table->bytes = gather_read_u16(bytes + table->fields_at + 2);
  if (size < 4 || !holds(flat, table->fields_at, size) || table->bytes < 4 || !holds(flat, at, table->bytes))
    return wrong(flat, table->fields_at, "a table extends past the end of the buffer");
  table->fields = (size - 4) / 2;
  return GATHER_OK;
}

/* The position of a field of so many bytes; 0 if it is absent. */
static gather_status find_field(const gather_flat *flat, const gather_flat_table *table, int field, int64_t bytes, int64_t *at) {
  *at = 0;
  if (field >= table->fields) return GATHER_OK;
  int64_t entry = table->fields_at + 4 + 2 * (int64_t)field;
  int64_t offset = gather_read_u16(flat->file->map.bytes + entry);
  if (offset == 0) return GATHER_OK;
  if (offset < 4 || offset + bytes > table->bytes) return wrong(flat, entry, "a field extends past the end of its table");
  *at = table->at + offset;
  return GATHER_OK;
}

gather_status gather_flat_root(const gather_flat *flat, gather_flat_table *table) {
  int64_t at;
  if (!holds(flat, flat->start, 4)) return wrong(flat, flat->start, "it is empty");
  GATHER_TRY(follow(flat, flat->start, &at));
  return open_table(flat, at, table);
}

gather_status gather_flat_inner(const gather_flat *flat, const gather_flat_table *table, int field, gather_flat_table *inner) {
  int64_t at;
  *inner = (gather_flat_table){0};
  GATHER_TRY(find_field(flat, table, field, 4, &at));
  if (at == 0) return GATHER_OK;
  GATHER_TRY(follow(flat, at, &at));
  return open_table(flat, at, inner);
}

gather_status gather_flat_number(const gather_flat *flat, const gather_flat_table *table, int field, int bytes, int64_t *value) {
  int64_t at;
  GATHER_TRY(find_field(flat, table, field, bytes, &at));
  if (at == 0) return GATHER_OK;
  const uint8_t *number = flat->file->map.bytes + at;
  if (bytes == 1)
    *value = (int8_t)number[0];
  else if (bytes == 2)
    *value = (int16_t)gather_read_u16(number);
  else if (bytes == 4)
    *value = gather_read_i32(number);
  else
    *value = gather_read_i64(number);
  return GATHER_OK;
}

gather_status gather_flat_list(const gather_flat *flat, const gather_flat_table *table, int field, int64_t item_bytes,
                               gather_flat_vector *vector) {
  int64_t at;
  *vector = (gather_flat_vector){0};
  GATHER_TRY(find_field(flat, table, field, 4, &at));
  if (at == 0) return GATHER_OK;
  GATHER_TRY(follow(flat, at, &at));
  vector->len = gather_read_u32(flat->file->map.bytes + at);
  vector->at = at + 4;
  if (vector->len <= (flat->end - vector->at) / item_bytes) return GATHER_OK;
  return wrong(flat, at, "a vector extends past the end of the buffer");
}

gather_status gather_flat_item(const gather_flat *flat, const gather_flat_vector *vector, int64_t i, gather_flat_table *table) {
  int64_t at;
  GATHER_TRY(follow(flat, vector->at + 4 * i, &at));
  return open_table(flat, at, table);
}

gather_status gather_flat_string(const gather_flat *flat, const gather_flat_table *table, int field, gather_flat_text *text) {
  gather_flat_vector letters;
  *text = (gather_flat_text){0};
  GATHER_TRY(gather_flat_list(flat, table, field, 1, &letters));
  if (letters.at == 0) return GATHER_OK;
  *text = (gather_flat_text){(const char *)flat->file->map.bytes + letters.at, letters.at, letters.len};
  const char *zero = memchr(text->text, 0, (size_t)text->bytes);
  if (zero) return wrong(flat, text->at + (zero - text->text), "a string contains a zero byte");
  int64_t bad = gather_utf8_check(text->text, text->bytes);
  return bad < 0 ? GATHER_OK : wrong(flat, text->at + bad, "a string is not UTF-8");
}

enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_BYTES };

/* ---- messages */

/* The metadata follow their length; since 0.15 a marker precedes the length. */
static gather_status open_message(gather_arrow *arrow, const gather_arrow_block *block, int64_t end, const char *what, gather_flat *flat) {
  int64_t at = block->at, bytes = block->bytes;
  if (at < 0 || bytes < GATHER_ARROW_PREFIX_BYTES || at > end || bytes > end - at)
    return GATHER_ARROW_WRONG(arrow, block->said_at, "%s is outside the file: %" PRId64 " bytes at byte %" PRId64, what, bytes, at);
  GATHER_TRY(gather_map_need(&arrow->file->map, at, GATHER_ARROW_PREFIX_BYTES, arrow->error));
  const uint8_t *start = arrow->file->map.bytes + at;
  int64_t prefix = gather_read_u32(start) == UINT32_MAX ? GATHER_ARROW_PREFIX_BYTES : GATHER_ARROW_PREFIX_BYTES / 2;
  int64_t length = gather_read_i32(start + prefix - 4);
  *flat = (gather_flat){arrow->file, arrow->error, at + prefix, at + prefix + length};
  if (length > 0 && length <= bytes - prefix) return gather_map_need(&arrow->file->map, at + prefix, length, arrow->error);
  return GATHER_ARROW_WRONG(arrow, at, "the metadata of %s has %" PRId64 " bytes; there is room for %" PRId64, what, length,
                            bytes - prefix);
}

gather_status gather_arrow_message_read(gather_arrow *arrow, const gather_arrow_block *block, int64_t end, const char *what,
                                        gather_arrow_message *message) {
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
  return GATHER_ARROW_WRONG(arrow, message->table.at, "%s of %" PRId64 " bytes at byte %" PRId64 " is outside the file", what,
                            message->body_bytes, body);
}
