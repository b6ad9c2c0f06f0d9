/* SPDX-License-Identifier: MIT
 *
 * gguf.c: reads GGUF files, versions 2 and 3, either byte order. Of the metadata, only the alignment and the number of files of a split
 * model concern tensors. GGUF lists lengths innermost first, libgather (as NumPy) innermost last. A quantised row is a row of blocks,
 * undecoded: their numbers keep the byte order of the file. The tensors of a model in several files, NAME-00001-of-00003.gguf, are those of
 * all files, whichever of them is opened. A part that is missing does not keep the others from being read.
 * Sources: the format's description (docs/gguf.md of ggml), and where it is open the gguf package 0.19 and ggml's reader; gguf-split of
 * llama.cpp (the keys split.no, from 0, and split.count; the names of the files).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "io/format/span.h"
#include "io/format/text/utf8.h"

/* The largest model has about a hundred. */
enum { MOST_PARTS = 1024 };

/* The state of reading one file. */
typedef struct gguf_file {
  gather_file *file;
  const gather_map *map; /* of the file, or of another part of a split model */
  const char *name;      /* for messages */
  gather_error *error;
  int64_t at;                    /* the next byte to read */
  bool big;                      /* numbers are big-endian, elements too */
  int64_t alignment;             /* of the tensors' offsets */
  int64_t split_no, split_count; /* of a split model: the number of this part, and of all; -1 = not given */
  gather_file_tensor *tensors;
  int64_t len;
  gather_file_span *spans;
  const gather_file_span **sorted;
} gguf_file;

/* Fails and reports a byte of the file. */
#define WRONG(gguf, offset, ...) gather_fail_file((gguf)->error, GATHER_FILE_MALFORMED, (gguf)->name, offset, __VA_ARGS__)

/* ---- numbers, in the file's byte order */

/* Reads an unsigned number of 1, 2, 4 or 8 bytes. */
static gather_status read_number(gguf_file *gguf, int bytes, uint64_t *value) {
  const gather_map *map = gguf->map;
  if (map->size - gguf->at < bytes)
    return WRONG(gguf, map->size, "the file is truncated: expected a number of %d bytes at byte %" PRId64, bytes, gguf->at);
  GATHER_TRY(gather_map_need(map, gguf->at, bytes, gguf->error));
  *value = 0;
  for (int i = 0; i < bytes; i++) *value = *value << 8 | map->bytes[gguf->at + (gguf->big ? i : bytes - 1 - i)];
  gguf->at += bytes;
  return GATHER_OK;
}

static gather_status read_u32(gguf_file *gguf, uint32_t *value) {
  uint64_t number = 0;
  GATHER_TRY(read_number(gguf, 4, &number));
  *value = (uint32_t)number;
  return GATHER_OK;
}

static gather_status read_u64(gguf_file *gguf, uint64_t *value) { return read_number(gguf, 8, value); }

/* Reads a count of bytes, elements or entries, each of at least `least` bytes; fails if they cannot fit in the bytes
 * left. */
static gather_status read_count(gguf_file *gguf, int64_t least, const char *what, int64_t *count) {
  int64_t at = gguf->at;
  uint64_t number = 0;
  GATHER_TRY(read_number(gguf, 8, &number));
  int64_t left = gguf->map->size - gguf->at;
  if (number > (uint64_t)(left / least))
    return WRONG(gguf, at, "%" PRIu64 " %s cannot fit in the %" PRId64 " bytes that are left", number, what, left);
  *count = (int64_t)number;
  return GATHER_OK;
}

/* ---- the tensors */

typedef struct gguf_type {
  uint32_t number;
  const char *name, *descr; /* descr: NumPy's for the bytes of a block */
  gather_type type;
  int64_t block_len, block_bytes;
} gguf_type;

static const gguf_type TYPES[] = {
#define GATHER_GGUF_TYPE(number, name, type, block_len, block_bytes) \
  {number, name, "'|V" #block_bytes "'", GATHER_TYPE_##type, block_len, block_bytes},
#include "io/format/gguf/gguf.def"
#undef GATHER_GGUF_TYPE
};

static const gguf_type *find_type(uint32_t number) {
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
    if (TYPES[i].number == number) return &TYPES[i];
  return NULL;
}

static gather_status no_memory(const gguf_file *gguf) {
  return gather_fail_file(gguf->error, GATHER_OUT_OF_MEMORY, gguf->name, -1, "out of memory for its contents");
}

static gather_status read_name(gguf_file *gguf, gather_file_tensor *tensor) {
  int64_t bytes = 0;
  GATHER_TRY(read_count(gguf, 1, "bytes of a tensor's name", &bytes));
  GATHER_TRY(gather_map_need(gguf->map, gguf->at, bytes, gguf->error));
  const char *text = (const char *)gguf->map->bytes + gguf->at;
  int64_t wrong = gather_utf8_check(text, bytes);
  if (wrong >= 0) return WRONG(gguf, gguf->at + wrong, "a tensor name is not UTF-8");
  const char *zero = memchr(text, '\0', (size_t)bytes);
  if (zero) return WRONG(gguf, gguf->at + (zero - text), "a tensor name contains a zero byte");
  tensor->name = gather_arena_text(&gguf->file->arena, text, (size_t)bytes);
  gguf->at += bytes;
  return tensor->name ? GATHER_OK : no_memory(gguf);
}

static gather_status read_shape(gguf_file *gguf, gather_file_tensor *tensor) {
  uint32_t rank = 0;
  int64_t at = gguf->at;
  GATHER_TRY(read_u32(gguf, &rank));
  if (rank > GATHER_MAX_RANK)
    return gather_fail_file(gguf->error, GATHER_UNSUPPORTED, gguf->name, at,
                            "the tensor '%.100s' has %" PRIu32 " dimensions; %d are supported", tensor->name, rank, GATHER_MAX_RANK);
  int64_t *shape = gather_arena_take(&gguf->file->arena, rank, (int64_t)sizeof *shape);
  if (!shape) return no_memory(gguf);
  for (uint32_t d = rank; d-- > 0;) {
    uint64_t length = 0;
    at = gguf->at;
    GATHER_TRY(read_u64(gguf, &length));
    if (length > INT64_MAX) return WRONG(gguf, at, "a length of the tensor '%.100s' is too large: %" PRIu64, tensor->name, length);
    shape[d] = (int64_t)length;
  }
  tensor->tensor = (gather_tensor){.rank = (int32_t)rank, .shape = shape, .flags = GATHER_FILE_VIEW};
  return GATHER_OK;
}

/* A type of unknown size: the other tensors can still be read. */
static gather_status mark_unknown(const gguf_file *gguf, int64_t at, uint32_t number, gather_file_tensor *tensor) {
  char name[24];
  gather_error why;
  (void)snprintf(name, sizeof name, "type %" PRIu32, number);
  tensor->tensor.type = GATHER_TYPE_OPAQUE;
  tensor->type_name = gather_arena_text(&gguf->file->arena, name, strlen(name));
  if (!tensor->type_name) return no_memory(gguf);
  (void)gather_fail_file(&why, GATHER_UNSUPPORTED, gguf->name, at, "the tensor '%.100s' has the unknown type %" PRIu32, tensor->name,
                         number);
  return gather_file_unreadable(gguf->file, &why, tensor, gguf->error);
}

/* The innermost length counts elements in the file, blocks here. */
static gather_status count_blocks(const gguf_file *gguf, int64_t at, const gguf_type *type, gather_file_tensor *tensor) {
  gather_tensor *t = &tensor->tensor;
  t->item_bytes = type->block_bytes;
  tensor->descr = type->descr;
  int64_t *inner = t->rank > 0 ? (int64_t *)(uintptr_t)&t->shape[t->rank - 1] : NULL;
  if (!inner || *inner % type->block_len != 0)
    return WRONG(gguf, at, "the tensor '%.100s' has rows of %" PRId64 " elements, not a multiple of the block length %" PRId64 " (%s)",
                 tensor->name, inner ? *inner : 1, type->block_len, type->name);
  *inner /= type->block_len;
  return GATHER_OK;
}

static gather_status read_type(gguf_file *gguf, gather_file_tensor *tensor) {
  gather_tensor *t = &tensor->tensor;
  int64_t at = gguf->at;
  uint32_t number = 0;
  GATHER_TRY(read_u32(gguf, &number));
  const gguf_type *type = find_type(number);
  if (!type) return mark_unknown(gguf, at, number, tensor);
  t->type = type->type;
  tensor->type_name = type->type == GATHER_TYPE_OPAQUE ? type->name : gather_type_get(type->type)->name;
  if (type->type == GATHER_TYPE_OPAQUE) return count_blocks(gguf, at, type, tensor);
  if (type->block_bytes > 1 && gguf->big != (GATHER_BIG_ENDIAN != 0)) t->flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return GATHER_OK;
}

/* The offset counts from the first byte of the data, which is not known yet. */
static gather_status read_tensor(gguf_file *gguf, gather_file_tensor *tensor, gather_file_span *span) {
  uint64_t place = 0;
  *span = (gather_file_span){.tensor = tensor, .said_at = gguf->at};
  GATHER_TRY(read_name(gguf, tensor));
  GATHER_TRY(read_shape(gguf, tensor));
  GATHER_TRY(read_type(gguf, tensor));
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return WRONG(gguf, span->said_at, "the lengths of the tensor '%.100s' are too large", tensor->name);
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  int64_t at = gguf->at;
  GATHER_TRY(read_u64(gguf, &place));
  if (place % (uint64_t)gguf->alignment != 0)
    return WRONG(gguf, at, "the tensor '%.100s' is at %" PRIu64 ", not a multiple of the alignment %" PRId64, tensor->name, place,
                 gguf->alignment);
  if (place > (uint64_t)gguf->map->size)
    return WRONG(gguf, at, "the tensor '%.100s' is at %" PRIu64 ", past the end of the file", tensor->name, place);
  tensor->offset = (int64_t)place;
  return GATHER_OK;
}

static gather_status place_tensor(const gguf_file *gguf, int64_t data_at, gather_file_tensor *tensor, gather_file_span *span) {
  const gather_map *map = gguf->map;
  tensor->offset += data_at; /* no overflow: both are at most about the file size */
  span->begin = tensor->offset;
  span->end = tensor->offset;
  if (tensor->bytes == 0) return GATHER_OK;
  if (tensor->offset > map->size || tensor->bytes > map->size - tensor->offset)
    return WRONG(gguf, map->size, "the file is truncated: the tensor '%.100s' needs %" PRId64 " bytes at byte %" PRId64, tensor->name,
                 tensor->bytes, tensor->offset);
  span->end += tensor->bytes;
  return gather_file_point(gguf->file, map, tensor->offset, tensor, gguf->error);
}

/* Tensors must not overlap. Gaps are allowed: the end of a tensor of unknown type is unknown. */
static gather_status check_places(const gguf_file *gguf, int64_t count) {
  gather_file_spans_by_place(gguf->sorted, count);
  for (int64_t i = 0, end = 0; i < count; i++) {
    const gather_file_span *span = gguf->sorted[i];
    if (span->begin < end && span->begin < span->end)
      return WRONG(gguf, span->said_at, "the tensor '%.100s' begins at byte %" PRId64 ", inside another", span->tensor->name, span->begin);
    if (span->end > end) end = span->end;
  }
  return GATHER_OK;
}

/* Reads the descriptions of `count` tensors; the data follow them. */
static gather_status read_tensors(gguf_file *gguf, int64_t count) {
  gather_file *file = gguf->file;
  gguf->tensors = gather_arena_take(&file->arena, count, (int64_t)sizeof *gguf->tensors);
  if (!gguf->tensors || !gather_file_spans_take(file, count, &gguf->spans, &gguf->sorted)) return no_memory(gguf);
  for (int64_t i = 0; i < count; i++) GATHER_TRY(read_tensor(gguf, &gguf->tensors[i], &gguf->spans[i]));
  int64_t over = gguf->at % gguf->alignment, data_at = gguf->at + (over ? gguf->alignment - over : 0);
  for (int64_t i = 0; i < count; i++) GATHER_TRY(place_tensor(gguf, data_at, &gguf->tensors[i], &gguf->spans[i]));
  GATHER_TRY(check_places(gguf, count));
  gather_file_spans_by_name(gguf->sorted, count);
  GATHER_TRY(gather_file_spans_differ(gguf->sorted, count, gguf->name, gguf->error));
  gguf->len = count;
  return GATHER_OK;
}

/* ---- the metadata and the file */

enum { VERSION_AT = 4, DEPTH_MAX = 16 };

/* Types of metadata values, and their sizes in bytes; 0: strings and arrays. */
enum { IS_UINT32 = 4, IS_FLOAT32 = 6, IS_BOOL = 7, IS_STRING = 8, IS_ARRAY = 9, IS_FLOAT64 = 12 };

static const int8_t VALUE_BYTES[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

enum { VALUE_TYPES = sizeof VALUE_BYTES };

static bool recognise(const gather_map *map) { return map->size >= 4 && memcmp(map->bytes, "GGUF", 4) == 0; }

/* ---- metadata */

static gather_status skip_text(gguf_file *gguf) {
  int64_t bytes = 0;
  GATHER_TRY(read_count(gguf, 1, "bytes of a string", &bytes));
  gguf->at += bytes;
  return GATHER_OK;
}

static gather_status check_type(gguf_file *gguf, int64_t at, uint32_t type) {
  if (type < VALUE_TYPES) return GATHER_OK;
  return WRONG(gguf, at, "unknown type %" PRIu32 " of a metadata value", type);
}

static gather_status skip_value(gguf_file *gguf, uint32_t type, int depth);

/* Each element takes a byte or more, so the file size bounds the loop. */
static gather_status skip_list(gguf_file *gguf, int depth) {
  int64_t at = gguf->at, count = 0;
  uint32_t type = 0;
  GATHER_TRY(read_u32(gguf, &type));
  GATHER_TRY(check_type(gguf, at, type));
  if (depth > DEPTH_MAX)
    return gather_fail_file(gguf->error, GATHER_UNSUPPORTED, gguf->name, at, "arrays in the metadata are nested deeper than %d levels",
                            DEPTH_MAX);
  int64_t least = type == IS_STRING ? 8 : type == IS_ARRAY ? 12 : VALUE_BYTES[type];
  GATHER_TRY(read_count(gguf, least, "elements of an array", &count));
  if (VALUE_BYTES[type] != 0) {
    gguf->at += count * VALUE_BYTES[type]; /* within the file: gguf_count checked it */
    return GATHER_OK;
  }
  for (int64_t i = 0; i < count; i++) GATHER_TRY(skip_value(gguf, type, depth + 1));
  return GATHER_OK;
}

static gather_status skip_value(gguf_file *gguf, uint32_t type, int depth) {
  if (type == IS_STRING) return skip_text(gguf);
  if (type == IS_ARRAY) return skip_list(gguf, depth);
  if (gguf->map->size - gguf->at < VALUE_BYTES[type]) return WRONG(gguf, gguf->map->size, "the file is truncated within its metadata");
  gguf->at += VALUE_BYTES[type];
  return GATHER_OK;
}

static gather_status read_alignment(gguf_file *gguf, int64_t at, uint32_t type) {
  uint32_t alignment = 0;
  if (gguf->alignment != 0) return WRONG(gguf, at, "the key 'general.alignment' is given twice");
  if (type != IS_UINT32) return WRONG(gguf, at, "'general.alignment' is not a uint32");
  GATHER_TRY(read_u32(gguf, &alignment));
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return WRONG(gguf, gguf->at - 4, "the alignment %" PRIu32 " is not a power of two", alignment);
  gguf->alignment = alignment;
  return GATHER_OK;
}

/* The number of a part or of all parts, which llama.cpp writes as uint16. */
static gather_status read_split(gguf_file *gguf, int64_t at, uint32_t type, int64_t *number) {
  const int bytes = type < VALUE_TYPES ? VALUE_BYTES[type] : 0;
  const bool is_integer = bytes > 0 && type != IS_FLOAT32 && type != IS_BOOL && type != IS_FLOAT64;
  uint64_t value = 0;
  if (*number >= 0) return WRONG(gguf, at, "a key of a split model is given twice");
  if (!is_integer) return WRONG(gguf, at, "the number of a part of a split model is not an integer");
  GATHER_TRY(read_number(gguf, bytes, &value));
  if (value > MOST_PARTS)
    return WRONG(gguf, gguf->at - bytes, "a split model of %" PRIu64 " parts; at most %d are supported", value, MOST_PARTS);
  *number = (int64_t)value;
  return GATHER_OK;
}

static gather_status read_value(gguf_file *gguf, const uint8_t *key, int64_t key_bytes, int64_t key_at, uint32_t type) {
  static const char *const KEYS[] = {"general.alignment", "split.no", "split.count"};
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
    if (key_bytes != (int64_t)strlen(KEYS[i])) continue;
    GATHER_TRY(gather_map_need(gguf->map, key_at + 8, key_bytes, gguf->error));
    if (memcmp(key, KEYS[i], (size_t)key_bytes) != 0) continue;
    return i == 0 ? read_alignment(gguf, key_at, type) : read_split(gguf, key_at, type, i == 1 ? &gguf->split_no : &gguf->split_count);
  }
  return skip_value(gguf, type, 1);
}

static gather_status read_pair(gguf_file *gguf) {
  int64_t key_at = gguf->at;
  uint32_t type = 0;
  GATHER_TRY(skip_text(gguf));
  int64_t key_bytes = gguf->at - key_at - 8, type_at = gguf->at;
  const uint8_t *key = gguf->map->bytes + key_at + 8;
  GATHER_TRY(read_u32(gguf, &type));
  GATHER_TRY(check_type(gguf, type_at, type));
  return read_value(gguf, key, key_bytes, key_at, type);
}

/* ---- the file */

/* The version also gives the byte order: it is a small number. */
static gather_status read_version(gguf_file *gguf) {
  uint32_t version = 0;
  gguf->at = VERSION_AT;
  GATHER_TRY(read_u32(gguf, &version));
  if (version != 0 && (version & 0xffff) == 0) {
    gguf->big = true;
    gguf->at = VERSION_AT;
    GATHER_TRY(read_u32(gguf, &version));
  }
  if (version == 2 || version == 3) return GATHER_OK;
  return gather_fail_file(gguf->error, GATHER_UNSUPPORTED, gguf->name, VERSION_AT,
                          "version %" PRIu32 " of GGUF is not supported; 2 and 3 are", version);
}

/* The minimum size of an entry. A tensor: length of its name, number of dimensions, type, offset. A metadata pair:
 * length of its key, type, one byte. */
enum { TENSOR_LEAST = 24, PAIR_LEAST = 13 };

/* Reads one file: file, map, name and error are set. */
static gather_status read_file(gguf_file *gguf) {
  int64_t tensors = 0, pairs = 0;
  gguf->split_no = gguf->split_count = -1;
  GATHER_TRY(read_version(gguf));
  GATHER_TRY(read_count(gguf, TENSOR_LEAST, "tensors", &tensors));
  GATHER_TRY(read_count(gguf, PAIR_LEAST, "keys of metadata", &pairs));
  for (int64_t i = 0; i < pairs; i++) GATHER_TRY(read_pair(gguf));
  if (gguf->alignment == 0) gguf->alignment = 32;
  return read_tensors(gguf, tensors);
}

/* ---- models in several files */

/* "-00001-of-00003.gguf" */
enum { DIGITS = 5, ENDING = 1 + DIGITS + 4 + DIGITS + 5 };

/* The parts of a model. */
typedef struct model {
  gguf_file *own;
  char *locations; /* of part i at i * location_bytes */
  int64_t location_bytes, count;
  int64_t number; /* of the own part, from 0 */
  gguf_file *part;
} model;

static gather_status no_memory_for_parts(const gguf_file *own) {
  return gather_fail_file(own->error, GATHER_OUT_OF_MEMORY, own->name, -1, "out of memory for the parts of the model");
}

static const char *location_of(const model *m, int64_t i) { return m->locations + i * m->location_bytes; }

/* ---- names */

/* Five digits; -1. */
static int64_t read_digits(const char *at) {
  int64_t number = 0;
  for (int i = 0; i < DIGITS; i++) {
    if (at[i] < '0' || at[i] > '9') return -1;
    number = number * 10 + at[i] - '0';
  }
  return number;
}

/* Whether the name is that of part `number` + 1 of `count`. */
static bool read_part_name(const char *base, int64_t count, int64_t *number) {
  const size_t length = strlen(base);
  if (length <= ENDING) return false;
  const char *ending = base + length - ENDING;
  if (ending[0] != '-' || strncmp(ending + 1 + DIGITS, "-of-", 4) != 0 || strcmp(ending + ENDING - 5, ".gguf") != 0) return false;
  *number = read_digits(ending + 1) - 1;
  return read_digits(ending + 1 + DIGITS + 4) == count && *number >= 0 && *number < count;
}

/* Writes the names of all parts. *named: false if the own name is not one of a part. */
static gather_status name_parts(model *m, bool *named) {
  gather_file *file = m->own->file;
  const char *base = gather_file_base(file);
  if (!base) return no_memory_for_parts(m->own);
  *named = read_part_name(base, m->count, &m->number);
  if (!*named) return GATHER_OK;
  const size_t stem = strlen(base) - ENDING;
  m->location_bytes = (int64_t)strlen(base) + 1;
  m->locations = gather_arena_take(&file->arena, m->count, m->location_bytes);
  if (!m->locations) return no_memory_for_parts(m->own);
  for (int64_t i = 0; i < m->count; i++)
    (void)snprintf(m->locations + i * m->location_bytes, (size_t)m->location_bytes, "%.*s-%05d-of-%05d.gguf", (int)stem, base, (int)(i + 1),
                   (int)m->count);
  return GATHER_OK;
}

/* ---- parts */

/* Notes that a part cannot be read. */
static gather_status miss(model *m, const gather_error *why) {
  gather_file *file = m->own->file;
  const gather_unreadable *kept = gather_unreadable_keep(file, why);
  if (!kept) return no_memory_for_parts(m->own);
  file->missing[file->missing_len++] = kept;
  return GATHER_OK;
}

static gather_status check_part(const model *m, int64_t i, const gguf_file *part, gather_error *why) {
  if (part->split_count >= 0 && part->split_count != m->count)
    return gather_fail_file(why, GATHER_FILE_MALFORMED, part->name, -1, "it is a part of a model of %" PRId64 " files, not of %" PRId64,
                            part->split_count, m->count);
  if (part->split_no >= 0 && part->split_no != i)
    return gather_fail_file(why, GATHER_FILE_MALFORMED, part->name, -1,
                            "its name says that it is part %" PRId64 ", its metadata that it is part %" PRId64, i + 1, part->split_no + 1);
  if (part->big != m->own->big)
    return gather_fail_file(why, GATHER_UNSUPPORTED, part->name, -1, "it is in another byte order than the other parts");
  return GATHER_OK;
}

/* Reads the header of part `i`. */
static gather_status read_part(model *m, int64_t i, gather_error *why) {
  gather_file *file = m->own->file;
  gguf_file *part = &m->part[i];
  *part = (gguf_file){.file = file, .error = why};
  GATHER_TRY(gather_file_sibling_open(file, location_of(m, i), -1, &part->map, why));
  part->name = gather_file_beside(file, location_of(m, i));
  if (!part->name) return gather_fail_file(why, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for the parts of the model");
  GATHER_TRY(gather_map_need(part->map, 0, part->map->size < GATHER_FORMAT_HEAD ? part->map->size : GATHER_FORMAT_HEAD, why));
  if (!recognise(part->map))
    return gather_fail_file(why, GATHER_UNSUPPORTED, part->name, 0,
                            "its name says that it is a part of a model, but it is not a GGUF file");
  GATHER_TRY(read_file(part));
  return check_part(m, i, part, why);
}

static gather_status read_parts(model *m) {
  for (int64_t i = 0; i < m->count; i++) {
    gather_error why;
    if (i == m->number) {
      m->part[i] = *m->own;
      continue;
    }
    const gather_status status = read_part(m, i, &why);
    if (status == GATHER_OK) continue;
    m->part[i].len = 0;
    if (status != GATHER_OUT_OF_MEMORY) {
      GATHER_TRY(miss(m, &why));
      continue;
    }
    if (m->own->error) *m->own->error = why;
    return status;
  }
  return GATHER_OK;
}

/* Parts of a remote model are opened at once. */
static gather_status open_parts(const model *m) {
  if (!m->own->file->client) return GATHER_OK;
  const char **others = gather_alloc(m->count * (int64_t)sizeof *others);
  int64_t len = 0;
  if (!others) return no_memory_for_parts(m->own);
  for (int64_t i = 0; i < m->count; i++)
    if (i != m->number) others[len++] = location_of(m, i);
  const gather_status status = gather_siblings_map_urls(m->own->file, others, len, NULL, m->own->error);
  gather_free((void *)others);
  return status;
}

/* ---- the model */

/* The tensors of all parts, in their order; a name may be given once. */
static gather_status join_tensors(model *m) {
  gather_file *file = m->own->file;
  gather_file_span *spans;
  const gather_file_span **sorted;
  int64_t len = 0;
  for (int64_t i = 0; i < m->count; i++) len += m->part[i].len;
  gather_file_tensor *tensors = gather_arena_take(&file->arena, len, (int64_t)sizeof *tensors);
  if (!tensors || !gather_file_spans_take(file, len, &spans, &sorted)) return no_memory_for_parts(m->own);
  int64_t at = 0;
  for (int64_t i = 0; i < m->count; i++)
    for (int64_t k = 0; k < m->part[i].len; k++, at++) {
      tensors[at] = m->part[i].tensors[k];
      spans[at] = (gather_file_span){.tensor = &tensors[at], .said_at = -1};
    }
  gather_file_spans_by_name(sorted, len);
  GATHER_TRY(gather_file_spans_differ(sorted, len, file->name, m->own->error));
  file->tensors = tensors;
  file->len = len;
  return GATHER_OK;
}

static gather_status join(gguf_file *own) {
  gather_file *file = own->file;
  model m = {.own = own, .count = own->split_count};
  bool named = false;
  file->missing = gather_arena_take(&file->arena, m.count, (int64_t)sizeof *file->missing);
  m.part = gather_arena_take(&file->arena, m.count, (int64_t)sizeof *m.part);
  if (!file->missing || !m.part) return no_memory_for_parts(own);
  GATHER_TRY(name_parts(&m, &named));
  if (!named) {
    gather_error why;
    (void)gather_fail_file(&why, GATHER_FILE_NOT_FOUND, file->name, -1,
                           "it is one of the %" PRId64
                           " files of a model, but its name does not end in -NNNNN-of-%05d.gguf, "
                           "so the others cannot be found",
                           m.count, (int)m.count);
    return miss(&m, &why);
  }
  GATHER_TRY(check_part(&m, m.number, own, own->error));
  GATHER_TRY(open_parts(&m));
  GATHER_TRY(read_parts(&m));
  return join_tensors(&m);
}

static gather_status open_model(gather_file *file, gather_error *error) {
  gguf_file gguf = {.file = file, .map = &file->map, .name = file->name, .error = error};
  GATHER_TRY(read_file(&gguf));
  file->blocks_swapped = gguf.big;
  file->tensors = gguf.tensors;
  file->len = gguf.len;
  return gguf.split_count > 1 ? join(&gguf) : GATHER_OK;
}

const gather_format_reader gather_gguf_reader = {recognise, open_model};
