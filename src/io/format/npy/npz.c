/* SPDX-License-Identifier: MIT
 *
 * npz.c: the arrays of .npz, a zip file of .npy files. Uncompressed ones (np.savez) are views of the file. Nothing is decompressed:
 * compressed ones (np.savez_compressed) are listed but cannot be read. Checksums are not verified, since that would read the whole file.
 * Sources: numpy.lib.npyio.NpzFile: what counts as an array and what it is called. APPNOTE 6.3.10 (signatures, fields, zip64); if the
 * document is ambiguous, the behaviour of Python's zipfile, since NumPy uses it to read .npz.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "io/format/format.h"
#include "io/format/span.h"
#include "io/format/text/utf8.h"
#include "io/format/zarr/zarr.h"

/* A member, as the central directory describes it. Offsets count from the file's first byte. */
typedef struct zip_member {
  const char *name;           /* UTF-8; in the file's arena */
  int64_t entry;              /* its entry in the directory */
  int64_t header;             /* its local header */
  int64_t data, packed_bytes; /* its stored bytes, all within the file */
  int64_t unpacked_bytes;     /* size when decompressed; not checked */
  int method;                 /* STORED, or another compression method */
  bool encrypted;
  const uint8_t *raw_name;        /* as stored */
  int64_t raw_name_bytes, number; /* number: its index in the directory */
  bool is_utf8;
} zip_member;

enum { STORED = 0 };

typedef struct zip_list {
  zip_member *members; /* in the order of the directory; in the file's arena */
  int64_t len;
} zip_list;

/* ---- names of members as UTF-8. Without the UTF-8 flag, a name is in code page 437 (MS-DOS). */

/* The characters 128 to 255. Source: the mapping of code page 437 that the Unicode Consortium publishes. */
static const uint16_t CODE_PAGE_437[128] = {
    0x00c7, 0x00fc, 0x00e9, 0x00e2, 0x00e4, 0x00e0, 0x00e5, 0x00e7, 0x00ea, 0x00eb, 0x00e8, 0x00ef, 0x00ee, 0x00ec, 0x00c4, 0x00c5,
    0x00c9, 0x00e6, 0x00c6, 0x00f4, 0x00f6, 0x00f2, 0x00fb, 0x00f9, 0x00ff, 0x00d6, 0x00dc, 0x00a2, 0x00a3, 0x00a5, 0x20a7, 0x0192,
    0x00e1, 0x00ed, 0x00f3, 0x00fa, 0x00f1, 0x00d1, 0x00aa, 0x00ba, 0x00bf, 0x2310, 0x00ac, 0x00bd, 0x00bc, 0x00a1, 0x00ab, 0x00bb,
    0x2591, 0x2592, 0x2593, 0x2502, 0x2524, 0x2561, 0x2562, 0x2556, 0x2555, 0x2563, 0x2551, 0x2557, 0x255d, 0x255c, 0x255b, 0x2510,
    0x2514, 0x2534, 0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f, 0x255a, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550, 0x256c, 0x2567,
    0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552, 0x2553, 0x256b, 0x256a, 0x2518, 0x250c, 0x2588, 0x2584, 0x258c, 0x2590, 0x2580,
    0x03b1, 0x00df, 0x0393, 0x03c0, 0x03a3, 0x03c3, 0x00b5, 0x03c4, 0x03a6, 0x0398, 0x03a9, 0x03b4, 0x221e, 0x03c6, 0x03b5, 0x2229,
    0x2261, 0x00b1, 0x2265, 0x2264, 0x2320, 0x2321, 0x00f7, 0x2248, 0x00b0, 0x2219, 0x00b7, 0x221a, 0x207f, 0x00b2, 0x25a0, 0x00a0};

/* Writes a character below 0x10000 as UTF-8; returns its length in bytes. */
static int64_t put(char *target, unsigned character) {
  if (character < 0x80) {
    target[0] = (char)character;
    return 1;
  }
  if (character < 0x800) {
    target[0] = (char)(unsigned char)(0xc0 | character >> 6);
    target[1] = (char)(unsigned char)(0x80 | (character & 0x3f));
    return 2;
  }
  target[0] = (char)(unsigned char)(0xe0 | character >> 12);
  target[1] = (char)(unsigned char)(0x80 | (character >> 6 & 0x3f));
  target[2] = (char)(unsigned char)(0x80 | (character & 0x3f));
  return 3;
}

/* Converts a member's name to UTF-8, from UTF-8 or code page 437. Like in Python's zipfile, a zero byte ends it. */
static gather_status set_name(gather_file *file, zip_member *member, gather_error *error) {
  const uint8_t *raw = member->raw_name, *zero = memchr(raw, 0, (size_t)member->raw_name_bytes);
  int64_t bytes = zero ? zero - raw : member->raw_name_bytes;
  if (member->is_utf8) {
    int64_t wrong = gather_utf8_check((const char *)raw, bytes);
    if (wrong >= 0)
      return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, raw - file->map.bytes + wrong,
                              "the name of a zip member is not UTF-8");
    member->name = gather_arena_text(&file->arena, (const char *)raw, (size_t)bytes);
  } else {
    char *name = gather_arena_take(&file->arena, 3 * bytes + 1, 1);
    int64_t used = 0;
    for (int64_t i = 0; name && i < bytes; i++) used += put(name + used, raw[i] < 0x80 ? raw[i] : CODE_PAGE_437[raw[i] - 0x80]);
    member->name = name;
  }
  if (member->name) return GATHER_OK;
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its directory");
}

/* ---- the zip file: its directory is found from its end, and the members from the directory. Nothing in the file is trusted. */

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

#define WRONG(file, error, offset, ...) gather_fail_file(error, GATHER_FILE_MALFORMED, (file)->name, offset, __VA_ARGS__)

/* ---- the end record */

/* Where the directory is. */
typedef struct directory {
  int64_t start, end;
  int64_t base; /* of all offsets: bytes before the zip file, as in a self-extracting program */
  uint64_t entries, entries_mask;
  uint64_t offset, bytes; /* as stored */
} directory;

static bool has_signature(const gather_file *file, int64_t at, int64_t bytes, uint32_t signature) {
  return at >= 0 && bytes <= file->map.size && at <= file->map.size - bytes && gather_map_need(&file->map, at, bytes, NULL) == GATHER_OK &&
         gather_read_u32(file->map.bytes + at) == signature;
}

/* The last end record whose comment is complete; -1. */
static int64_t find_end(const gather_file *file) {
  int64_t last = file->map.size - END_BYTES;
  for (int64_t at = last; at >= 0 && at >= last - UINT16_MAX; at--)
    if (has_signature(file, at, END_BYTES, END_SIGNATURE) && gather_read_u16(file->map.bytes + at + 20) <= last - at) return at;
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
  if ((disk != 0 && disk != UINT16_MAX) || (first_disk != 0 && first_disk != UINT16_MAX)) return in_parts(file, at + 4, error);
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
  if (at < 0) return needed ? WRONG(file, error, locator, "the zip file has no end record at the position given here") : GATHER_OK;
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
    return WRONG(file, error, found->end, "the zip file's directory of %" PRIu64 " bytes at byte %" PRIu64 " extends past its end",
                 found->bytes, found->offset);
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

static gather_status count_entries(const gather_file *file, const directory *where, int64_t *count, gather_error *error) {
  *count = 0;
  GATHER_TRY(gather_map_need(&file->map, where->start, where->end - where->start, error));
  for (int64_t at = where->start; at < where->end; ++*count) {
    int64_t bytes = entry_bytes(file, where, at);
    if (bytes == 0) return WRONG(file, error, at, "incomplete entry in the zip file's directory");
    at += bytes;
  }
  if (((uint64_t)*count & where->entries_mask) == where->entries) return GATHER_OK;
  return WRONG(file, error, where->end, "the number of entries in the zip file's directory is %" PRId64 ", not %" PRIu64, *count,
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

static gather_status read_entry(gather_file *file, const directory *where, int64_t at, zip_member *member, gather_error *error) {
  const uint8_t *entry = file->map.bytes + at;
  uint64_t numbers[3] = {0}, room = (uint64_t)(where->start - where->base);
  GATHER_TRY(read_numbers(file, at, numbers, error));
  uint16_t flags = gather_read_u16(entry + 8), disk = gather_read_u16(entry + 34);
  if (disk != 0 && disk != UINT16_MAX) return in_parts(file, at + 34, error);
  if (numbers[2] > room || numbers[1] > room)
    return WRONG(file, error, at, "a member extends past the end of the zip file: %" PRIu64 " bytes at byte %" PRIu64, numbers[1],
                 numbers[2]);
  member->entry = at;
  member->header = where->base + (int64_t)numbers[2];
  member->packed_bytes = (int64_t)numbers[1];
  member->unpacked_bytes = numbers[0] > INT64_MAX ? INT64_MAX : (int64_t)numbers[0];
  member->method = gather_read_u16(entry + 10);
  member->encrypted = (flags & ENCRYPTED) != 0;
  member->is_utf8 = (flags & UTF8_NAME) != 0;
  member->raw_name = entry + ENTRY_BYTES;
  member->raw_name_bytes = gather_read_u16(entry + 28);
  return set_name(file, member, error);
}

/* ---- the members */

/* Checks the header before a member's bytes against the directory, and finds the bytes. */
static gather_status read_local(const gather_file *file, const directory *where, zip_member *member, gather_error *error) {
  int64_t at = member->header;
  GATHER_TRY(gather_map_need(&file->map, at, LOCAL_BYTES, error));
  if (where->start - at < LOCAL_BYTES || gather_read_u32(file->map.bytes + at) != LOCAL_SIGNATURE)
    return WRONG(file, error, at, "no local header here for the zip file's member '%.100s'", member->name);
  const uint8_t *local = file->map.bytes + at;
  int64_t name_bytes = gather_read_u16(local + 26);
  member->data = at + LOCAL_BYTES + name_bytes + gather_read_u16(local + 28);
  if (member->data > where->start || member->packed_bytes > where->start - member->data)
    return WRONG(file, error, at, "the zip file's member '%.100s' of %" PRId64 " bytes overlaps the directory", member->name,
                 member->packed_bytes);
  GATHER_TRY(gather_map_need(&file->map, at + LOCAL_BYTES, name_bytes, error));
  if (name_bytes != member->raw_name_bytes || memcmp(local + LOCAL_BYTES, member->raw_name, (size_t)name_bytes) != 0)
    return WRONG(file, error, at + LOCAL_BYTES, "the zip file's member '%.100s' has another name here", member->name);
  if (gather_read_u16(local + 8) != member->method)
    return WRONG(file, error, at + 8, "the zip file's member '%.100s' has another compression method here", member->name);
  if ((gather_read_u16(local + 6) & ENCRYPTED) != 0) member->encrypted = true;
  if (member->method == STORED && !member->encrypted && member->packed_bytes != member->unpacked_bytes)
    return WRONG(file, error, member->entry, "the zip file's member '%.100s' is not compressed, but has %" PRId64 " and %" PRId64 " bytes",
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
  const zip_member *first = a, *second = b;
  return first->header != second->header ? first->header < second->header : first->number < second->number;
}

/* Overlapping members are a sign of an attack (a zip bomb): a small file that is expensive to read. */
static gather_status check_overlap(gather_file *file, const zip_list *zip, gather_error *error) {
  const void **sorted = gather_arena_take(&file->arena, zip->len, sizeof *sorted);
  if (!sorted) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its directory");
  for (int64_t i = 0; i < zip->len; i++) sorted[i] = &zip->members[i];
  gather_sort_pointers(sorted, zip->len, comes_before);
  for (int64_t i = 1; i < zip->len; i++) {
    const zip_member *first = sorted[i - 1], *second = sorted[i];
    if (second->header < first->data + first->packed_bytes)
      return WRONG(file, error, second->entry, "the zip file's members '%.60s' and '%.60s' overlap", first->name, second->name);
  }
  return GATHER_OK;
}

/* Reads the directory and all local headers. Members do not overlap. */
static gather_status read_zip(gather_file *file, zip_list *zip, gather_error *error) {
  directory where = {0};
  GATHER_TRY(find_directory(file, &where, error));
  GATHER_TRY(count_entries(file, &where, &zip->len, error));
  zip->members = gather_arena_take(&file->arena, zip->len, sizeof *zip->members);
  if (!zip->members) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its directory");
  int64_t at = where.start;
  expect_locals(file, &where, zip->len);
  for (int64_t i = 0; i < zip->len; i++) {
    zip_member *member = &zip->members[i];
    member->number = i;
    GATHER_TRY(read_entry(file, &where, at, member, error));
    GATHER_TRY(read_local(file, &where, member, error));
    at += entry_bytes(file, &where, at);
  }
  return check_overlap(file, zip, error);
}

/* ---- the arrays */

static bool recognise(const gather_map *map) {
  const uint8_t *bytes = map->bytes;
  return map->size >= 4 && (memcmp(bytes, "PK\x03\x04", 4) == 0 || memcmp(bytes, "PK\x05\x06", 4) == 0);
}

/* The state of reading one file: its members by name; of two with the same name the later one comes first and
 * counts. */
typedef struct npz_reading {
  gather_file *file;
  zip_list zip;
  const void **by_name /* gather_zip_member */;
} npz_reading;

static gather_status no_memory(const npz_reading *npz, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, npz->file->name, -1, "out of memory for its list of arrays");
}

/* ---- names */

static bool npz_comes_before(const void *a, const void *b) {
  const zip_member *first = a, *second = b;
  int order = strcmp(first->name, second->name);
  return order != 0 ? order < 0 : first->number > second->number;
}

static gather_status sort_names(npz_reading *npz, gather_error *error) {
  int64_t len = npz->zip.len;
  npz->by_name = gather_arena_take(&npz->file->arena, len, sizeof *npz->by_name);
  if (!npz->by_name) return no_memory(npz, error);
  for (int64_t i = 0; i < len; i++) npz->by_name[i] = &npz->zip.members[i];
  gather_sort_pointers(npz->by_name, len, npz_comes_before);
  return GATHER_OK;
}

static const zip_member *at_name(const npz_reading *npz, int64_t i) { return npz->by_name[i]; }

/* The last member of that name; NULL. */
static const zip_member *find_member(const npz_reading *npz, const char *name) {
  int64_t low = 0, high = npz->zip.len;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (strcmp(at_name(npz, middle)->name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < npz->zip.len && strcmp(at_name(npz, low)->name, name) == 0 ? at_name(npz, low) : NULL;
}

static bool ends_in(const char *name, const char *end) {
  size_t length = strlen(name), wanted = strlen(end);
  return length >= wanted && strcmp(name + length - wanted, end) == 0;
}

/* The array's name is the member's without .npy, unless that is empty or another member's name. */
static gather_status name_of(const npz_reading *npz, const zip_member *member, const char **name, gather_error *error) {
  *name = member->name;
  if (!ends_in(member->name, ".npy") || strlen(member->name) == 4) return GATHER_OK;
  char *plain = gather_arena_text(&npz->file->arena, member->name, strlen(member->name) - 4);
  if (!plain) return no_memory(npz, error);
  if (!find_member(npz, plain)) *name = plain;
  return GATHER_OK;
}

/* ---- arrays */

/* Why a member cannot be read, from its directory entry; NULL. */
static const char *refuse(const zip_member *member) {
  if (member->encrypted) return "is encrypted, which is not supported";
  if (member->method == STORED) return NULL;
  if (!ends_in(member->name, ".npy")) return "is compressed and not named .npy";
  return "is compressed; save it with np.savez, not np.savez_compressed";
}

static gather_status read_stored(npz_reading *npz, const zip_member *member, const char *name, gather_file_tensor *tensor,
                                 gather_error *error) {
  const gather_file *file = npz->file;
  const char *why = refuse(member);
  int64_t at = member->data, end = member->data + member->packed_bytes;
  if (why) return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, member->header, "array '%.100s' %s", name, why);
  GATHER_TRY(gather_map_need(&file->map, at, GATHER_FORMAT_HEAD, error));
  if (!gather_npy_begins(file->map.bytes + at, member->packed_bytes))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, at, "array '%.100s' does not begin with the magic bytes of .npy", name);
  gather_status status = gather_npy_read(npz->file, at, end, tensor, error);
  if (status == GATHER_OK || status == GATHER_OUT_OF_MEMORY) return status;
  size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length, ", in array '%.100s'", name);
  return status;
}

/* An error in one member concerns only that member; the others can be read. */
static gather_status read_member(npz_reading *npz, const zip_member *member, gather_file_tensor *tensor, gather_error *error) {
  gather_error why;
  const char *name;
  GATHER_TRY(name_of(npz, member, &name, error));
  gather_status status = read_stored(npz, member, name, tensor, &why);
  if (status == GATHER_OUT_OF_MEMORY) {
    if (error) *error = why;
    return status;
  }
  if (status == GATHER_OK) {
    tensor->name = name;
    return GATHER_OK;
  }
  *tensor = (gather_file_tensor){.name = name, .type_name = "unknown", .offset = member->data};
  tensor->tensor = (gather_tensor){.type = GATHER_TYPE_OPAQUE, .flags = GATHER_FILE_VIEW};
  return gather_file_unreadable(npz->file, &why, tensor, error);
}

/* Whether it is the last of its name, and not a folder. */
static bool counts(const npz_reading *npz, const zip_member *member) {
  return !ends_in(member->name, "/") && find_member(npz, member->name) == member;
}

/* Zip files of other programs, by the end of a member's name; of two that fit, the first row counts. */
static const struct {
  const char *member, *sentence;
} OTHERS[] = {
    {"archive_format",
     "a model of torch.export (.pt2) is not supported; save its tensors: "
     "safetensors.torch.save_file(torch.export.load('FILE').state_dict, 'out.safetensors')"},
    {"serialized_exported_program.json",
     "a model of torch.export (.pt2) is not supported; save its tensors: "
     "safetensors.torch.save_file(torch.export.load('FILE').state_dict, 'out.safetensors')"},
    {"data.pkl",
     "a PyTorch file is refused, because it holds a Python pickle, and reading that can run any code; save the "
     "tensors: "
     "safetensors.torch.save_file(torch.load('FILE', weights_only=True), 'out.safetensors')"},
    {"model.weights.h5",
     "a Keras model is not supported; save its weights: safetensors.numpy.save_file({w.path: w.numpy() for w in "
     "keras.models.load_model('FILE').weights}, 'out.safetensors')"},
    {"zarr.json", "a Zarr store in a zip file is supported only at the root of the zip file, not in a folder"},
    {".zgroup", "a Zarr store in a zip file is supported only at the root of the zip file, not in a folder"},
    {".zarray", "a Zarr store in a zip file is supported only at the root of the zip file, not in a folder"},
};

static bool is_member(const char *name, const char *member) {
  const char *slash = strrchr(name, '/');
  return strcmp(slash ? slash + 1 : name, member) == 0;
}

static const char *find_other(const npz_reading *npz) {
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
    for (int64_t k = 0; k < npz->zip.len; k++)
      if (is_member(npz->zip.members[k].name, OTHERS[i].member)) return OTHERS[i].sentence;
  return "a zip file without .npy files is not supported";
}

static bool has_arrays(const npz_reading *npz) {
  bool has_array = npz->file->len == 0;
  for (int64_t i = 0; i < npz->zip.len; i++) has_array = has_array || ends_in(npz->zip.members[i].name, ".npy");
  for (int64_t i = 0; i < npz->file->len && !has_array; i++) has_array = gather_file_rows_check(&npz->file->tensors[i], NULL) == GATHER_OK;
  return has_array;
}

/* ---- a zip file that is a store of Zarr */

static bool is_store(const npz_reading *npz) {
  bool is_marked = false;
  for (int64_t i = 0; i < npz->zip.len; i++) {
    if (ends_in(npz->zip.members[i].name, ".npy")) return false;
    is_marked = is_marked || gather_zarr_is_mark(npz->zip.members[i].name);
  }
  return is_marked;
}

static gather_status open_store(npz_reading *npz, gather_error *error) {
  gather_arena *arena = &npz->file->arena;
  gather_zarr_zip *list = gather_arena_take(arena, 1, (int64_t)sizeof *list);
  gather_zarr_entry *entries = gather_arena_take(arena, npz->zip.len, (int64_t)sizeof *entries);
  if (!list || !entries) return no_memory(npz, error);
  *list = (gather_zarr_zip){.entries = entries};
  for (int64_t i = 0; i < npz->zip.len; i++) {
    const zip_member *member = at_name(npz, i);
    if (!counts(npz, member)) continue;
    const char *why = member->encrypted ? "is encrypted, which is not supported"
                                        : "is compressed, which is not supported; write the zip file with stored members";
    entries[list->len++] =
        (gather_zarr_entry){member->name, member->data, member->packed_bytes, member->encrypted || member->method != STORED ? why : NULL};
  }
  return gather_zarr_open_zip(npz->file, list, error);
}

/* ---- the file */

static gather_status read_names(npz_reading *npz, gather_error *error) {
  GATHER_TRY(read_zip(npz->file, &npz->zip, error));
  return sort_names(npz, error);
}

static gather_status read_members(npz_reading *npz, gather_error *error) {
  gather_file *file = npz->file;
  file->tensors = gather_arena_take(&file->arena, npz->zip.len, sizeof *file->tensors);
  if (!file->tensors) return no_memory(npz, error);
  for (int64_t i = 0; i < npz->zip.len; i++)
    if (counts(npz, &npz->zip.members[i])) GATHER_TRY(read_member(npz, &npz->zip.members[i], &file->tensors[file->len++], error));
  return GATHER_OK;
}

/* A zip file without arrays is refused. */
static gather_status open_file(gather_file *file, gather_error *error) {
  npz_reading npz = {.file = file};
  GATHER_TRY(read_names(&npz, error));
  if (is_store(&npz)) return open_store(&npz, error);
  GATHER_TRY(read_members(&npz, error));
  if (has_arrays(&npz)) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "%s", find_other(&npz));
}

const char *gather_npz_other(gather_file *file) {
  npz_reading npz = {.file = file};
  if (read_names(&npz, NULL) != GATHER_OK) return NULL;
  if (is_store(&npz)) return "a Zarr store has its own types and shapes";
  return read_members(&npz, NULL) == GATHER_OK && !has_arrays(&npz) ? find_other(&npz) : NULL;
}

const gather_format_reader gather_npz_reader = {recognise, open_file};
