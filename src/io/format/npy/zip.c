/* SPDX-License-Identifier: MIT
 *
 * zip.c: finds a zip file's directory from its end, and the members from the directory. Nothing in the file is trusted.
 * Source: APPNOTE 6.3.10 (signatures, fields, zip64); if the document is ambiguous, the behaviour of Python's zipfile,
 * since NumPy uses it to read .npz.
 */
#include "io/format/npy/zip.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/bytes.h"
#include "io/format/sort.h"

/* The size of each record without the variable fields after it. */
enum { END_BYTES = 22, LOCATOR_BYTES = 20, END64_BYTES = 56, ENTRY_BYTES = 46, LOCAL_BYTES = 30 };
/* What is read first of a remote file: the end records with the longest comment. And what is read of each member: its local header,
 * and the header of the .npy in it, of which a few hundred bytes are usual. */
enum { TAIL_BYTES = END_BYTES + UINT16_MAX + LOCATOR_BYTES + END64_BYTES, MEMBER_BYTES = 512 };
#define END_SIGNATURE UINT32_C(0x06054b50)
#define LOCATOR_SIGNATURE UINT32_C(0x07064b50)
#define END64_SIGNATURE UINT32_C(0x06064b50)
#define ENTRY_SIGNATURE UINT32_C(0x02014b50)
#define LOCAL_SIGNATURE UINT32_C(0x04034b50)
/* Bits of a member's flags: encrypted, strongly or with its header; and a name in UTF-8. */
enum { ENCRYPTED = 1 | 1 << 6 | 1 << 13, UTF8_NAME = 1 << 11 };

#define WRONG(file, error, offset, ...) \
  gather_fail_file(error, GATHER_FILE_MALFORMED, (file)->name, offset, __VA_ARGS__)

/* ---- the end record */

/* Where the directory is. */
typedef struct directory {
  int64_t start, end;
  int64_t base; /* of all offsets: bytes before the zip file, as in a self-extracting program */
  uint64_t entries, entries_mask;
  uint64_t offset, bytes; /* as stored */
} directory;

static bool has_signature(const gather_file *file, int64_t at, int64_t bytes, uint32_t signature) {
  return at >= 0 && bytes <= file->map.size && at <= file->map.size - bytes &&
         gather_map_need(&file->map, at, bytes, NULL) == GATHER_OK &&
         gather_read_u32(file->map.bytes + at) == signature;
}

/* The last end record whose comment is complete; -1. */
static int64_t find_end(const gather_file *file) {
  int64_t last = file->map.size - END_BYTES;
  for (int64_t at = last; at >= 0 && at >= last - UINT16_MAX; at--)
    if (has_signature(file, at, END_BYTES, END_SIGNATURE) && gather_read_u16(file->map.bytes + at + 20) <= last - at)
      return at;
  return -1;
}

/* The zip64 end record, which precedes its locator; -1. It is searched for directly before the locator, and where
 * the locator says. */
static int64_t find_end64(const gather_file *file, int64_t locator) {
  uint64_t said = gather_read_u64(file->map.bytes + locator + 8);
  const int64_t places[] = {locator - END64_BYTES, said < (uint64_t)locator ? (int64_t)said : -1};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    int64_t at = places[i];
    if (at > locator - END64_BYTES || !has_signature(file, at, END64_BYTES, END64_SIGNATURE)) continue;
    if (gather_read_u64(file->map.bytes + at + 4) == (uint64_t)(locator - at - 12)) return at;
  }
  return -1;
}

static gather_status in_parts(const gather_file *file, int64_t offset, gather_error *error) {
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, offset, "multi-part zip files are not supported");
}

/* Reads the end record at `at`. */
static gather_status read_end(const gather_file *file, int64_t at, directory *found, gather_error *error) {
  const uint8_t *end = file->map.bytes + at;
  uint16_t disk = gather_read_u16(end + 4), first_disk = gather_read_u16(end + 6);
  if ((disk != 0 && disk != UINT16_MAX) || (first_disk != 0 && first_disk != UINT16_MAX))
    return in_parts(file, at + 4, error);
  *found = (directory){.end = at, .entries = gather_read_u16(end + 10), .entries_mask = UINT16_MAX};
  found->bytes = gather_read_u32(end + 12);
  found->offset = gather_read_u32(end + 16);
  return GATHER_OK;
}

/* Replaces the 16-bit and 32-bit numbers by the 64-bit ones, if the file has them. */
static gather_status read_end64(const gather_file *file, directory *found, gather_error *error) {
  int64_t locator = found->end - LOCATOR_BYTES;
  bool needed = found->entries == UINT16_MAX || found->bytes == UINT32_MAX || found->offset == UINT32_MAX;
  if (!has_signature(file, locator, LOCATOR_BYTES, LOCATOR_SIGNATURE)) return GATHER_OK; /* they may be real values */
  int64_t at = find_end64(file, locator);
  if (at < 0)
    return needed ? WRONG(file, error, locator, "the zip file has no end record at the position given here")
                  : GATHER_OK;
  const uint8_t *end = file->map.bytes + at;
  if (gather_read_u32(end + 16) != 0 || gather_read_u32(end + 20) != 0) return in_parts(file, at + 16, error);
  *found = (directory){.end = at, .entries = gather_read_u64(end + 32), .entries_mask = UINT64_MAX};
  found->bytes = gather_read_u64(end + 40);
  found->offset = gather_read_u64(end + 48);
  return GATHER_OK;
}

static gather_status find_directory(const gather_file *file, directory *found, gather_error *error) {
  gather_map_expect(&file->map, file->map.size - TAIL_BYTES, TAIL_BYTES);
  int64_t end = find_end(file);
  GATHER_TRY(gather_map_failure(&file->map, error));
  if (end < 0) return WRONG(file, error, file->map.size, "the file is truncated: a zip file ends with its directory");
  GATHER_TRY(read_end(file, end, found, error));
  GATHER_TRY(read_end64(file, found, error));
  GATHER_TRY(gather_map_failure(&file->map, error));
  /* The directory directly precedes its end record: extra bytes before it shift all offsets. */
  if (found->bytes > (uint64_t)found->end || found->offset > (uint64_t)found->end - found->bytes)
    return WRONG(file, error, found->end,
                 "the zip file's directory of %" PRIu64 " bytes at byte %" PRIu64 " extends past its end", found->bytes,
                 found->offset);
  found->start = found->end - (int64_t)found->bytes;
  found->base = found->start - (int64_t)found->offset;
  return GATHER_OK;
}

/* ---- the directory */

/* The size of the entry at `at`; 0 if it is not complete. */
static int64_t entry_bytes(const gather_file *file, const directory *where, int64_t at) {
  const uint8_t *entry = file->map.bytes + at;
  if (where->end - at < ENTRY_BYTES || gather_read_u32(entry) != ENTRY_SIGNATURE) return 0;
  int64_t bytes = ENTRY_BYTES + gather_read_u16(entry + 28) + gather_read_u16(entry + 30) + gather_read_u16(entry + 32);
  return bytes <= where->end - at ? bytes : 0;
}

static gather_status count_entries(const gather_file *file, const directory *where, int64_t *count,
                                   gather_error *error) {
  *count = 0;
  GATHER_TRY(gather_map_need(&file->map, where->start, where->end - where->start, error));
  for (int64_t at = where->start; at < where->end; ++*count) {
    int64_t bytes = entry_bytes(file, where, at);
    if (bytes == 0) return WRONG(file, error, at, "incomplete entry in the zip file's directory");
    at += bytes;
  }
  if (((uint64_t)*count & where->entries_mask) == where->entries) return GATHER_OK;
  return WRONG(file, error, where->end, "entries in the zip file's directory: %" PRId64 ", not %" PRIu64, *count,
               where->entries);
}

/* The zip64 extra field of an entry; NULL if there is none. */
static gather_status find_wide(const gather_file *file, int64_t at, int64_t end, const uint8_t **block, int64_t *bytes,
                               gather_error *error) {
  *block = NULL;
  *bytes = 0;
  while (end - at >= 4) {
    const uint8_t *field = file->map.bytes + at;
    int64_t length = gather_read_u16(field + 2);
    if (length > end - at - 4) return WRONG(file, error, at, "an extra field extends past the end of its zip entry");
    if (gather_read_u16(field) == 1) {
      *block = field + 4;
      *bytes = length;
      return GATHER_OK;
    }
    at += 4 + length;
  }
  return GATHER_OK;
}

/* Size, compressed size and offset of an entry: the 64-bit ones if the 32-bit ones overflow. */
static gather_status read_numbers(const gather_file *file, int64_t at, uint64_t numbers[3], gather_error *error) {
  static const int PLACES[] = {24, 20, 42};
  const uint8_t *entry = file->map.bytes + at, *wide = NULL;
  int64_t extra = at + ENTRY_BYTES + gather_read_u16(entry + 28), wide_bytes = 0, used = 0;
  GATHER_TRY(find_wide(file, extra, extra + gather_read_u16(entry + 30), &wide, &wide_bytes, error));
  for (int i = 0; i < 3; i++) {
    numbers[i] = gather_read_u32(entry + PLACES[i]);
    if (numbers[i] != UINT32_MAX || !wide) continue;
    if (wide_bytes - used < 8) return WRONG(file, error, extra, "a 64-bit number is missing in the zip entry");
    numbers[i] = gather_read_u64(wide + used);
    used += 8;
  }
  return GATHER_OK;
}

static gather_status read_entry(gather_file *file, const directory *where, int64_t at, gather_zip_member *member,
                                gather_error *error) {
  const uint8_t *entry = file->map.bytes + at;
  uint64_t numbers[3] = {0}, room = (uint64_t)(where->start - where->base);
  GATHER_TRY(read_numbers(file, at, numbers, error));
  uint16_t flags = gather_read_u16(entry + 8), disk = gather_read_u16(entry + 34);
  if (disk != 0 && disk != UINT16_MAX) return in_parts(file, at + 34, error);
  if (numbers[2] > room || numbers[1] > room)
    return WRONG(file, error, at, "a member extends past the end of the zip file: %" PRIu64 " bytes at byte %" PRIu64,
                 numbers[1], numbers[2]);
  member->entry = at;
  member->header = where->base + (int64_t)numbers[2];
  member->packed_bytes = (int64_t)numbers[1];
  member->unpacked_bytes = numbers[0] > INT64_MAX ? INT64_MAX : (int64_t)numbers[0];
  member->method = gather_read_u16(entry + 10);
  member->encrypted = (flags & ENCRYPTED) != 0;
  member->is_utf8 = (flags & UTF8_NAME) != 0;
  member->raw_name = entry + ENTRY_BYTES;
  member->raw_name_bytes = gather_read_u16(entry + 28);
  return gather_zip_name(file, member, error);
}

/* ---- the members */

/* Checks the header before a member's bytes against the directory, and finds the bytes. */
static gather_status read_local(const gather_file *file, const directory *where, gather_zip_member *member,
                                gather_error *error) {
  int64_t at = member->header;
  GATHER_TRY(gather_map_need(&file->map, at, LOCAL_BYTES, error));
  if (where->start - at < LOCAL_BYTES || gather_read_u32(file->map.bytes + at) != LOCAL_SIGNATURE)
    return WRONG(file, error, at, "no local header here for the zip file's member '%.100s'", member->name);
  const uint8_t *local = file->map.bytes + at;
  int64_t name_bytes = gather_read_u16(local + 26);
  member->data = at + LOCAL_BYTES + name_bytes + gather_read_u16(local + 28);
  if (member->data > where->start || member->packed_bytes > where->start - member->data)
    return WRONG(file, error, at, "the zip file's member '%.100s' of %" PRId64 " bytes overlaps the directory",
                 member->name, member->packed_bytes);
  GATHER_TRY(gather_map_need(&file->map, at + LOCAL_BYTES, name_bytes, error));
  if (name_bytes != member->raw_name_bytes || memcmp(local + LOCAL_BYTES, member->raw_name, (size_t)name_bytes) != 0)
    return WRONG(file, error, at + LOCAL_BYTES, "the zip file's member '%.100s' has another name here", member->name);
  if (gather_read_u16(local + 8) != member->method)
    return WRONG(file, error, at + 8, "the zip file's member '%.100s' has another compression method here",
                 member->name);
  if ((gather_read_u16(local + 6) & ENCRYPTED) != 0) member->encrypted = true;
  if (member->method == GATHER_ZIP_STORED && !member->encrypted && member->packed_bytes != member->unpacked_bytes)
    return WRONG(file, error, member->entry,
                 "the zip file's member '%.100s' is not compressed, but has %" PRId64 " and %" PRId64 " bytes",
                 member->name, member->packed_bytes, member->unpacked_bytes);
  return GATHER_OK;
}

/* The local headers of all members of a remote file, by requests at once. Entries with wrong numbers are reported later. */
static void expect_locals(const gather_file *file, const directory *where, int64_t len) {
  gather_map_range *ranges = gather_map_wants_hints(&file->map) ? gather_alloc(len * (int64_t)sizeof *ranges) : NULL;
  for (int64_t i = 0, at = where->start; ranges && i < len; i++) {
    uint64_t numbers[3] = {0}, room = (uint64_t)(where->start - where->base);
    if (read_numbers(file, at, numbers, NULL) == GATHER_OK && numbers[2] <= room)
      ranges[i] = (gather_map_range){where->base + (int64_t)numbers[2], MEMBER_BYTES};
    at += entry_bytes(file, where, at);
  }
  if (ranges) gather_map_expect_all(&file->map, ranges, len);
  gather_free(ranges);
}

static bool comes_before(const void *a, const void *b) {
  const gather_zip_member *first = a, *second = b;
  return first->header != second->header ? first->header < second->header : first->number < second->number;
}

/* Overlapping members are a sign of an attack (a zip bomb): a small file that is expensive to read. */
static gather_status check_overlap(gather_file *file, const gather_zip *zip, gather_error *error) {
  const void **sorted = gather_arena_take(&file->arena, zip->len, sizeof *sorted);
  if (!sorted) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for its directory");
  for (int64_t i = 0; i < zip->len; i++) sorted[i] = &zip->members[i];
  gather_sort_pointers(sorted, zip->len, comes_before);
  for (int64_t i = 1; i < zip->len; i++) {
    const gather_zip_member *first = sorted[i - 1], *second = sorted[i];
    if (second->header < first->data + first->packed_bytes)
      return WRONG(file, error, second->entry, "the zip file's members '%.60s' and '%.60s' overlap", first->name,
                   second->name);
  }
  return GATHER_OK;
}

gather_status gather_zip_read(gather_file *file, gather_zip *zip, gather_error *error) {
  directory where = {0};
  GATHER_TRY(find_directory(file, &where, error));
  GATHER_TRY(count_entries(file, &where, &zip->len, error));
  zip->members = gather_arena_take(&file->arena, zip->len, sizeof *zip->members);
  if (!zip->members)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for its directory");
  int64_t at = where.start;
  expect_locals(file, &where, zip->len);
  for (int64_t i = 0; i < zip->len; i++) {
    gather_zip_member *member = &zip->members[i];
    member->number = i;
    GATHER_TRY(read_entry(file, &where, at, member, error));
    GATHER_TRY(read_local(file, &where, member, error));
    at += entry_bytes(file, &where, at);
  }
  return check_overlap(file, zip, error);
}
