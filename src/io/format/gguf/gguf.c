/* SPDX-License-Identifier: MIT
 *
 * gguf.c: reads GGUF files, versions 2 and 3, either byte order: the header and the metadata, of which only the
 * alignment and the number of files of a split model (gguf_split.c) concern tensors.
 * Source: the format's description (docs/gguf.md of ggml), and where it is open the gguf package 0.19 and ggml's
 * reader.
 */
#include "io/format/gguf/gguf.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION_AT = 4, DEPTH_MAX = 16 };

/* Types of metadata values, and their sizes in bytes; 0: strings and arrays. */
enum { IS_UINT32 = 4, IS_FLOAT32 = 6, IS_BOOL = 7, IS_STRING = 8, IS_ARRAY = 9, IS_FLOAT64 = 12 };
static const int8_t VALUE_BYTES[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
enum { VALUE_TYPES = sizeof VALUE_BYTES };

bool gather_gguf_recognise(const gather_map *map) { return map->size >= 4 && memcmp(map->bytes, "GGUF", 4) == 0; }

/* ---- metadata */

static gather_status skip_text(gather_gguf *gguf) {
  int64_t bytes = 0;
  GATHER_TRY(gather_gguf_count(gguf, 1, "bytes of a string", &bytes));
  gguf->at += bytes;
  return GATHER_OK;
}

static gather_status check_type(gather_gguf *gguf, int64_t at, uint32_t type) {
  if (type < VALUE_TYPES) return GATHER_OK;
  return GATHER_GGUF_WRONG(gguf, at, "unknown type %" PRIu32 " of a metadata value", type);
}

static gather_status skip_value(gather_gguf *gguf, uint32_t type, int depth);

/* Each element takes a byte or more, so the file size bounds the loop. */
static gather_status skip_list(gather_gguf *gguf, int depth) {
  int64_t at = gguf->at, count = 0;
  uint32_t type = 0;
  GATHER_TRY(gather_gguf_u32(gguf, &type));
  GATHER_TRY(check_type(gguf, at, type));
  if (depth > DEPTH_MAX)
    return gather_fail_file(gguf->error, GATHER_UNSUPPORTED, gguf->name, at,
                            "arrays in the metadata are nested deeper than %d levels", DEPTH_MAX);
  int64_t least = type == IS_STRING ? 8 : type == IS_ARRAY ? 12 : VALUE_BYTES[type];
  GATHER_TRY(gather_gguf_count(gguf, least, "elements of an array", &count));
  if (VALUE_BYTES[type] != 0) {
    gguf->at += count * VALUE_BYTES[type]; /* within the file: gather_gguf_count checked it */
    return GATHER_OK;
  }
  for (int64_t i = 0; i < count; i++) GATHER_TRY(skip_value(gguf, type, depth + 1));
  return GATHER_OK;
}

static gather_status skip_value(gather_gguf *gguf, uint32_t type, int depth) {
  if (type == IS_STRING) return skip_text(gguf);
  if (type == IS_ARRAY) return skip_list(gguf, depth);
  if (gguf->map->size - gguf->at < VALUE_BYTES[type])
    return GATHER_GGUF_WRONG(gguf, gguf->map->size, "the file is truncated within its metadata");
  gguf->at += VALUE_BYTES[type];
  return GATHER_OK;
}

static gather_status read_alignment(gather_gguf *gguf, int64_t at, uint32_t type) {
  uint32_t alignment = 0;
  if (gguf->alignment != 0) return GATHER_GGUF_WRONG(gguf, at, "the key 'general.alignment' is given twice");
  if (type != IS_UINT32) return GATHER_GGUF_WRONG(gguf, at, "'general.alignment' is not a uint32");
  GATHER_TRY(gather_gguf_u32(gguf, &alignment));
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return GATHER_GGUF_WRONG(gguf, gguf->at - 4, "the alignment %" PRIu32 " is not a power of two", alignment);
  gguf->alignment = alignment;
  return GATHER_OK;
}

/* The number of a part or of all parts, which llama.cpp writes as uint16. */
static gather_status read_split(gather_gguf *gguf, int64_t at, uint32_t type, int64_t *number) {
  const int bytes = type < VALUE_TYPES ? VALUE_BYTES[type] : 0;
  const bool is_integer = bytes > 0 && type != IS_FLOAT32 && type != IS_BOOL && type != IS_FLOAT64;
  uint64_t value = 0;
  if (*number >= 0) return GATHER_GGUF_WRONG(gguf, at, "a key of a split model is given twice");
  if (!is_integer) return GATHER_GGUF_WRONG(gguf, at, "the number of a part of a split model is not an integer");
  GATHER_TRY(gather_gguf_number(gguf, bytes, &value));
  if (value > GATHER_GGUF_MOST_PARTS)
    return GATHER_GGUF_WRONG(gguf, gguf->at - bytes, "a split model of %" PRIu64 " parts; at most %d are supported",
                             value, GATHER_GGUF_MOST_PARTS);
  *number = (int64_t)value;
  return GATHER_OK;
}

static gather_status read_value(gather_gguf *gguf, const uint8_t *key, int64_t key_bytes, int64_t key_at,
                                uint32_t type) {
  static const char *const KEYS[] = {"general.alignment", "split.no", "split.count"};
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
    if (key_bytes != (int64_t)strlen(KEYS[i])) continue;
    GATHER_TRY(gather_map_need(gguf->map, key_at + 8, key_bytes, gguf->error));
    if (memcmp(key, KEYS[i], (size_t)key_bytes) != 0) continue;
    return i == 0 ? read_alignment(gguf, key_at, type)
                  : read_split(gguf, key_at, type, i == 1 ? &gguf->split_no : &gguf->split_count);
  }
  return skip_value(gguf, type, 1);
}

static gather_status read_pair(gather_gguf *gguf) {
  int64_t key_at = gguf->at;
  uint32_t type = 0;
  GATHER_TRY(skip_text(gguf));
  int64_t key_bytes = gguf->at - key_at - 8, type_at = gguf->at;
  const uint8_t *key = gguf->map->bytes + key_at + 8;
  GATHER_TRY(gather_gguf_u32(gguf, &type));
  GATHER_TRY(check_type(gguf, type_at, type));
  return read_value(gguf, key, key_bytes, key_at, type);
}

/* ---- the file */

/* The version also gives the byte order: it is a small number. */
static gather_status read_version(gather_gguf *gguf) {
  uint32_t version = 0;
  gguf->at = VERSION_AT;
  GATHER_TRY(gather_gguf_u32(gguf, &version));
  if (version != 0 && (version & 0xffff) == 0) {
    gguf->big = true;
    gguf->at = VERSION_AT;
    GATHER_TRY(gather_gguf_u32(gguf, &version));
  }
  if (version == 2 || version == 3) return GATHER_OK;
  return gather_fail_file(gguf->error, GATHER_UNSUPPORTED, gguf->name, VERSION_AT,
                          "version %" PRIu32 " of GGUF is not supported; 2 and 3 are", version);
}

/* The minimum size of an entry. A tensor: length of its name, number of dimensions, type, offset. A metadata pair:
 * length of its key, type, one byte. */
enum { TENSOR_LEAST = 24, PAIR_LEAST = 13 };

gather_status gather_gguf_read(gather_gguf *gguf) {
  int64_t tensors = 0, pairs = 0;
  gguf->split_no = gguf->split_count = -1;
  GATHER_TRY(read_version(gguf));
  GATHER_TRY(gather_gguf_count(gguf, TENSOR_LEAST, "tensors", &tensors));
  GATHER_TRY(gather_gguf_count(gguf, PAIR_LEAST, "keys of metadata", &pairs));
  for (int64_t i = 0; i < pairs; i++) GATHER_TRY(read_pair(gguf));
  if (gguf->alignment == 0) gguf->alignment = 32;
  return gather_gguf_tensors(gguf, tensors);
}
