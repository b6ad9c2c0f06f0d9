/* SPDX-License-Identifier: MIT
 *
 * hdf5_header.c: the bytes of an HDF5 file and its object headers: fields, checksums, versions 1 and 2 with their continuation blocks,
 * shared messages. No length in the file is trusted, and the bytes that are read of all structures together are limited, so that a small
 * file that refers to the same bytes again and again takes no longer than its size allows.
 * Sources: the HDF5 File Format Specification, version 3; Bob Jenkins, "lookup3.c" (the hash function, public domain).
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/bytes.h"
#include "io/format/hdf5/hdf5.h"

/* ---- bytes */

/* What is loaded of a remote file with the bytes that are needed: structures that refer to each other are near each other, often a child
 * directly before its parent, and most have fewer bytes than LEAST. */
enum { BEFORE = 2048, LEAST = 1024 };

/* Notes a range that is not loaded. */
static gather_status note(gather_hdf5 *h, int64_t at, int64_t bytes) {
  if (h->noted_len == h->noted_room) {
    gather_map_range *made = gather_alloc_grown(h->noted, (int64_t)sizeof *made, &h->noted_room);
    if (!made) return GATHER_HDF5_NO_MEMORY(h);
    h->noted = made;
  }
  const int64_t begin = at / BEFORE * BEFORE;
  h->noted[h->noted_len++] = (gather_map_range){begin, at - begin + (bytes < LEAST ? LEAST : bytes)};
  return GATHER_OK;
}

gather_status gather_hdf5_need(gather_hdf5 *h, int64_t at, int64_t bytes, const char *what) {
  const gather_map *map = &h->file->map;
  if (at > map->size || bytes > map->size - at)
    return GATHER_HDF5_WRONG(h, map->size, "the file is truncated: %s needs %" PRId64 " bytes at byte %" PRId64, what, bytes, at);
  if (bytes > h->work) return GATHER_HDF5_WRONG(h, at, "too many of the file's structures refer to the same bytes");
  h->work -= bytes;
  if (!h->is_noting || gather_map_has(map, at, bytes)) return gather_map_need(map, at, bytes, h->error);
  h->lacks = true;
  GATHER_TRY(note(h, at, bytes));
  return GATHER_IO_ERROR;
}

gather_status gather_hdf5_begins(gather_hdf5 *h, int64_t at, int64_t bytes, const char *signature, int version, const char *what) {
  GATHER_TRY(gather_hdf5_need(h, at, bytes, what));
  const uint8_t *begin = h->file->map.bytes + at;
  if (memcmp(begin, signature, 4) != 0) return GATHER_HDF5_WRONG(h, at, "expected %s, which begins with '%s'", what, signature);
  if (version >= 0 && begin[4] != version) return GATHER_HDF5_REFUSE(h, at + 4, "version %d of %s is not supported", begin[4], what);
  return GATHER_OK;
}

void gather_hdf5_expect(gather_hdf5 *h, int64_t at, int64_t bytes) {
  const gather_map *map = &h->file->map;
  if (h->advises && at < map->size) gather_map_will_need(map, at, bytes);
  if (!h->is_noting || at >= map->size || gather_map_has(map, at, bytes < map->size - at ? bytes : map->size - at)) return;
  if (note(h, at, bytes) != GATHER_OK) return; /* it is loaded later, by itself */
}

void gather_hdf5_expect_children(gather_hdf5_fields fields, int64_t count, int64_t before, int64_t after, int64_t bytes) {
  gather_hdf5 *h = fields.h;
  gather_error *error = h->error;
  if (!h->is_noting && !h->advises) return;
  h->error = NULL; /* what is wrong is said when it is read, after what is wrong before it */
  for (int64_t i = 0; i < count; i++) {
    int64_t child = -1;
    if (gather_hdf5_skip(&fields, before) != GATHER_OK || gather_hdf5_take_address(&fields, &child) != GATHER_OK) break;
    if (child >= 0) gather_hdf5_expect(h, child, bytes);
    if (gather_hdf5_skip(&fields, after) != GATHER_OK) break;
  }
  h->error = error;
}

/* ---- checksums */

static uint32_t turn(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

/* Up to four bytes as a number, those of the hole as zeros. */
static uint32_t word_at(const uint8_t *bytes, int64_t at, int64_t end, int64_t hole) {
  uint32_t word = 0;
  for (int i = 0; i < 4 && at + i < end; i++)
    if (hole < 0 || at + i < hole || at + i >= hole + 4) word |= (uint32_t)bytes[at + i] << 8 * i;
  return word;
}

/* hashlittle(bytes, 0) of lookup3. */
static uint32_t hash(const uint8_t *bytes, int64_t count, int64_t hole) {
  uint32_t a = UINT32_C(0xdeadbeef) + (uint32_t)count, b = a, c = a;
  int64_t at = 0;
  for (; count - at > 12; at += 12) {
    a += word_at(bytes, at, count, hole), b += word_at(bytes, at + 4, count, hole), c += word_at(bytes, at + 8, count, hole);
    a -= c, a ^= turn(c, 4), c += b;
    b -= a, b ^= turn(a, 6), a += c;
    c -= b, c ^= turn(b, 8), b += a;
    a -= c, a ^= turn(c, 16), c += b;
    b -= a, b ^= turn(a, 19), a += c;
    c -= b, c ^= turn(b, 4), b += a;
  }
  if (at == count) return c;
  a += word_at(bytes, at, count, hole), b += word_at(bytes, at + 4, count, hole), c += word_at(bytes, at + 8, count, hole);
  c ^= b, c -= turn(b, 14);
  a ^= c, a -= turn(c, 11);
  b ^= a, b -= turn(a, 25);
  c ^= b, c -= turn(b, 16);
  a ^= c, a -= turn(c, 4);
  b ^= a, b -= turn(a, 14);
  c ^= b, c -= turn(b, 24);
  return c;
}

gather_status gather_hdf5_verify(gather_hdf5 *h, int64_t at, int64_t bytes, int64_t zero_at, int64_t sum_at, const char *what) {
  const uint8_t *map = h->file->map.bytes;
  const uint32_t computed = hash(map + at, bytes, zero_at < 0 ? -1 : zero_at - at), stored = gather_read_u32(map + sum_at);
  if (computed == stored) return GATHER_OK;
  return GATHER_HDF5_WRONG(h, sum_at, "%s at byte %" PRId64 " is damaged: its checksum is %08" PRIx32 ", not %08" PRIx32, what, at,
                           computed, stored);
}

/* ---- fields */

gather_status gather_hdf5_skip(gather_hdf5_fields *fields, int64_t bytes) {
  if (bytes > fields->end - fields->at)
    return GATHER_HDF5_WRONG(fields->h, fields->at, "%s ends at byte %" PRId64 ", within a field of %" PRId64 " bytes", fields->what,
                             fields->end, bytes);
  fields->at += bytes;
  return GATHER_OK;
}

gather_status gather_hdf5_take(gather_hdf5_fields *fields, int64_t bytes, uint64_t *value) {
  const uint8_t *from = fields->h->file->map.bytes + fields->at;
  GATHER_TRY(gather_hdf5_skip(fields, bytes));
  *value = 0;
  for (int64_t i = bytes; i-- > 0;) *value = *value << 8 | from[i];
  return GATHER_OK;
}

gather_status gather_hdf5_take_address(gather_hdf5_fields *fields, int64_t *position) {
  const gather_hdf5 *h = fields->h;
  const int64_t at = fields->at, size = h->file->map.size;
  uint64_t address = 0;
  GATHER_TRY(gather_hdf5_take(fields, h->offset_bytes, &address));
  *position = -1;
  if (address == UINT64_MAX >> (64 - 8 * h->offset_bytes)) return GATHER_OK;
  if (address > (uint64_t)(size - h->base))
    return GATHER_HDF5_WRONG(h, at, "the address %" PRIu64 " in %s is past the end of the file", address, fields->what);
  *position = h->base + (int64_t)address;
  return GATHER_OK;
}

/* ---- object headers */

/* Real headers have a handful of blocks. */
enum { MOST_BLOCKS = 4096 };

static bool is_wanted(unsigned type) {
  return type == GATHER_HDF5_DATASPACE || type == GATHER_HDF5_LINK_INFO || type == GATHER_HDF5_DATATYPE || type == GATHER_HDF5_LINK ||
         type == GATHER_HDF5_EXTERNAL_FILES || type == GATHER_HDF5_FILL || type == GATHER_HDF5_OLD_FILL || type == GATHER_HDF5_LAYOUT ||
         type == GATHER_HDF5_PIPELINE || type == GATHER_HDF5_CONTINUATION || type == GATHER_HDF5_SYMBOL_TABLE;
}

static gather_status add_message(gather_hdf5 *h, gather_hdf5_messages *messages, const gather_hdf5_message *message) {
  if (messages->len == messages->room) {
    gather_hdf5_message *made = gather_alloc_grown(messages->at, (int64_t)sizeof *made, &messages->room);
    if (!made) return GATHER_HDF5_NO_MEMORY(h);
    messages->at = made;
  }
  messages->at[messages->len++] = *message;
  return GATHER_OK;
}

/* Adds the messages of a block. What is left at its end is too short for a message. head_bytes: 8 in version 1. */
static gather_status read_block(gather_hdf5 *h, int64_t at, int64_t bytes, int64_t head_bytes, gather_hdf5_messages *messages) {
  enum { SHARED = 1 << 1, FAIL_IF_UNKNOWN = 1 << 7 };
  const int64_t end = at + bytes;
  while (end - at >= head_bytes) {
    const uint8_t *head = h->file->map.bytes + at;
    const bool is_first = head_bytes == 8;
    const unsigned type = is_first ? gather_read_u16(head) : head[0], flags = is_first ? head[4] : head[3];
    const gather_hdf5_message message = {.at = at + head_bytes,
                                         .bytes = gather_read_u16(head + (is_first ? 2 : 1)),
                                         .type = (uint16_t)type,
                                         .shared = (flags & SHARED) != 0};
    if (message.bytes > end - message.at)
      return GATHER_HDF5_WRONG(h, at, "a message of %" PRId64 " bytes extends past its object header's block, which ends at byte %" PRId64,
                               message.bytes, end);
    if (type > GATHER_HDF5_LAST_TYPE && (flags & FAIL_IF_UNKNOWN) != 0)
      return GATHER_HDF5_REFUSE(h, at, "the object header has a message of the unknown type %u, which a reader must understand", type);
    if (is_wanted(type)) GATHER_TRY(add_message(h, messages, &message));
    at = message.at + message.bytes;
  }
  return GATHER_OK;
}

static gather_status begin_first(gather_hdf5 *h, int64_t at, gather_hdf5_messages *messages) {
  enum { PREFIX = 16 };
  GATHER_TRY(gather_hdf5_need(h, at, PREFIX, "an object header"));
  const uint8_t *prefix = h->file->map.bytes + at;
  if (prefix[0] != 1) return GATHER_HDF5_WRONG(h, at, "expected an object header, which begins with 1 or 'OHDR'");
  const int64_t bytes = gather_read_u32(prefix + 8);
  GATHER_TRY(gather_hdf5_need(h, at + PREFIX, bytes, "an object header"));
  return read_block(h, at + PREFIX, bytes, 8, messages);
}

/* Version 2. *head_bytes: before each message. */
static gather_status begin_second(gather_hdf5 *h, int64_t at, int64_t *head_bytes, gather_hdf5_messages *messages) {
  enum { WIDTH = 3, ORDERED = 1 << 2, PHASES = 1 << 4, TIMES = 1 << 5, SUM = 4 };
  static const char WHAT[] = "an object header";
  GATHER_TRY(gather_hdf5_begins(h, at, 6, "OHDR", 2, WHAT));
  const unsigned flags = h->file->map.bytes[at + 5];
  const int width = 1 << (flags & WIDTH);
  const int64_t prefix = 6 + ((flags & TIMES) != 0 ? 16 : 0) + ((flags & PHASES) != 0 ? 4 : 0);
  uint64_t bytes = 0;
  GATHER_TRY(gather_hdf5_need(h, at, prefix + width, WHAT));
  gather_hdf5_fields fields = {h, at + prefix, at + prefix + width, WHAT};
  GATHER_TRY(gather_hdf5_take(&fields, width, &bytes));
  if (bytes > (uint64_t)h->file->map.size)
    return GATHER_HDF5_WRONG(h, at + prefix, "an object header of %" PRIu64 " bytes is longer than the file", bytes);
  GATHER_TRY(gather_hdf5_need(h, at, prefix + width + (int64_t)bytes + SUM, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, prefix + width + (int64_t)bytes, -1, fields.at + (int64_t)bytes, WHAT));
  *head_bytes = (flags & ORDERED) != 0 ? 6 : 4;
  return read_block(h, fields.at, (int64_t)bytes, *head_bytes, messages);
}

static gather_status go_on(gather_hdf5 *h, const gather_hdf5_message *message, int64_t head_bytes, gather_hdf5_messages *messages) {
  enum { FRAME = 8 };
  static const char WHAT[] = "a continuation block";
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a continuation message");
  int64_t at = 0;
  uint64_t bytes = 0;
  GATHER_TRY(gather_hdf5_take_address(&fields, &at));
  if (at < 0) return GATHER_HDF5_WRONG(h, message->at, "a continuation block of an object header has no address");
  const int64_t length_at = fields.at;
  GATHER_TRY(gather_hdf5_take(&fields, h->length_bytes, &bytes));
  if (bytes > (uint64_t)(h->file->map.size - at))
    return GATHER_HDF5_WRONG(h, length_at, "a continuation block of %" PRIu64 " bytes extends past the end of the file", bytes);
  if (head_bytes == 8) {
    GATHER_TRY(gather_hdf5_need(h, at, (int64_t)bytes, WHAT));
    return read_block(h, at, (int64_t)bytes, head_bytes, messages);
  }
  if (bytes < FRAME) return GATHER_HDF5_WRONG(h, length_at, "a continuation block of %" PRIu64 " bytes is too short", bytes);
  GATHER_TRY(gather_hdf5_begins(h, at, (int64_t)bytes, "OCHK", -1, WHAT));
  GATHER_TRY(gather_hdf5_verify(h, at, (int64_t)bytes - 4, -1, at + (int64_t)bytes - 4, WHAT));
  return read_block(h, at + 4, (int64_t)bytes - FRAME, head_bytes, messages);
}

gather_status gather_hdf5_header(gather_hdf5 *h, int64_t at, gather_hdf5_messages *messages) {
  int64_t head_bytes = 8;
  messages->len = 0;
  GATHER_TRY(gather_hdf5_need(h, at, 4, "an object header"));
  if (memcmp(h->file->map.bytes + at, "OHDR", 4) == 0)
    GATHER_TRY(begin_second(h, at, &head_bytes, messages));
  else
    GATHER_TRY(begin_first(h, at, messages));
  for (int64_t i = 0, blocks = 1; i < messages->len; i++) {
    const gather_hdf5_message message = messages->at[i]; /* the list may move */
    if (message.type != GATHER_HDF5_CONTINUATION) continue;
    if (blocks++ == MOST_BLOCKS) return GATHER_HDF5_WRONG(h, at, "an object header has more than %d blocks", MOST_BLOCKS);
    GATHER_TRY(go_on(h, &message, head_bytes, messages));
  }
  return GATHER_OK;
}

/* ---- shared messages */

/* Where the header is that has the message. Version 1 has, before the address, a field of the symbol table entry that it is part of. */
static gather_status find_shared(gather_hdf5 *h, const gather_hdf5_message *message, int64_t *at) {
  enum { COMMITTED = 2, ENTRY = 24 };
  gather_hdf5_fields fields = gather_hdf5_fields_of(h, message, "a shared message");
  uint64_t version = 0, kind = 0;
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  GATHER_TRY(gather_hdf5_take(&fields, 1, &kind));
  if (version < 1 || version > 3)
    return GATHER_HDF5_REFUSE(h, message->at, "version %" PRIu64 " of a shared message is not supported", version);
  if (version == 3 && kind != COMMITTED)
    return GATHER_HDF5_REFUSE(h, message->at + 1,
                              "messages in a shared heap are not supported; write the file without them: h5repack IN OUT");
  if (version == 1)
    GATHER_TRY(gather_hdf5_skip(&fields, 6 + (message->bytes >= 8 + h->length_bytes + h->offset_bytes + ENTRY ? h->length_bytes : 0)));
  const int64_t address_at = fields.at;
  GATHER_TRY(gather_hdf5_take_address(&fields, at));
  return *at >= 0 ? GATHER_OK : GATHER_HDF5_WRONG(h, address_at, "a shared message has no address");
}

gather_status gather_hdf5_unshare(gather_hdf5 *h, gather_hdf5_message *message) {
  gather_hdf5_messages messages = {0};
  int64_t at = 0;
  if (!message->shared) return GATHER_OK;
  GATHER_TRY(find_shared(h, message, &at));
  gather_status status = gather_hdf5_header(h, at, &messages);
  const gather_hdf5_message *found = NULL;
  for (int64_t i = 0; i < messages.len && !found; i++)
    if (messages.at[i].type == message->type) found = &messages.at[i];
  if (status == GATHER_OK && (!found || found->shared))
    status = GATHER_HDF5_WRONG(h, at, "the object header here has no message of type %u, which is shared at byte %" PRId64,
                               (unsigned)message->type, message->at);
  if (status == GATHER_OK) *message = *found;
  gather_free(messages.at);
  return status;
}
