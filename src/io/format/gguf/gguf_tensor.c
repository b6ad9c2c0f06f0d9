/* SPDX-License-Identifier: MIT
 *
 * gguf_tensor.c: the tensors of GGUF files. GGUF lists lengths innermost first, libgather (as NumPy) innermost last. A
 * quantised row is a row of blocks, undecoded: their numbers keep the byte order of the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/tensor.h"
#include "io/format/gguf/gguf.h"
#include "io/format/text/text.h"

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

static gather_status no_memory(const gather_gguf *gguf) {
  return gather_fail_file(gguf->error, GATHER_OUT_OF_MEMORY, gguf->name, -1, "no memory for what it holds");
}

static gather_status read_name(gather_gguf *gguf, gather_file_tensor *tensor) {
  int64_t bytes = 0;
  GATHER_TRY(gather_gguf_count(gguf, 1, "bytes of a tensor's name", &bytes));
  GATHER_TRY(gather_map_need(gguf->map, gguf->at, bytes, gguf->error));
  const char *text = (const char *)gguf->map->bytes + gguf->at;
  int64_t wrong = gather_utf8_check(text, bytes);
  if (wrong >= 0) return GATHER_GGUF_WRONG(gguf, gguf->at + wrong, "a tensor name is not UTF-8");
  const char *zero = memchr(text, '\0', (size_t)bytes);
  if (zero) return GATHER_GGUF_WRONG(gguf, gguf->at + (zero - text), "a tensor name contains a zero byte");
  tensor->name = gather_arena_text(&gguf->file->arena, text, (size_t)bytes);
  gguf->at += bytes;
  return tensor->name ? GATHER_OK : no_memory(gguf);
}

static gather_status read_shape(gather_gguf *gguf, gather_file_tensor *tensor) {
  uint32_t rank = 0;
  int64_t at = gguf->at;
  GATHER_TRY(gather_gguf_u32(gguf, &rank));
  if (rank > GATHER_MAX_RANK)
    return gather_fail_file(gguf->error, GATHER_UNSUPPORTED, gguf->name, at,
                            "the tensor '%.100s' has %" PRIu32 " dimensions; %d are supported", tensor->name, rank,
                            GATHER_MAX_RANK);
  int64_t *shape = gather_arena_take(&gguf->file->arena, rank, (int64_t)sizeof *shape);
  if (!shape) return no_memory(gguf);
  for (uint32_t d = rank; d-- > 0;) {
    uint64_t length = 0;
    at = gguf->at;
    GATHER_TRY(gather_gguf_u64(gguf, &length));
    if (length > INT64_MAX)
      return GATHER_GGUF_WRONG(gguf, at, "a length of the tensor '%.100s' is too large: %" PRIu64, tensor->name,
                               length);
    shape[d] = (int64_t)length;
  }
  tensor->tensor = (gather_tensor){.rank = (int32_t)rank, .shape = shape, .flags = GATHER_FILE_VIEW};
  return GATHER_OK;
}

/* A type of unknown size: the other tensors can still be read. */
static gather_status mark_unknown(const gather_gguf *gguf, int64_t at, uint32_t number, gather_file_tensor *tensor) {
  char name[24];
  gather_error why;
  (void)snprintf(name, sizeof name, "type %" PRIu32, number);
  tensor->tensor.type = GATHER_TYPE_OPAQUE;
  tensor->type_name = gather_arena_text(&gguf->file->arena, name, strlen(name));
  if (!tensor->type_name) return no_memory(gguf);
  (void)gather_fail_file(&why, GATHER_UNSUPPORTED, gguf->name, at, "the tensor '%.100s' has the unknown type %" PRIu32,
                         tensor->name, number);
  return gather_file_unreadable(gguf->file, &why, tensor, gguf->error);
}

/* The innermost length counts elements in the file, blocks here. */
static gather_status count_blocks(const gather_gguf *gguf, int64_t at, const gguf_type *type,
                                  gather_file_tensor *tensor) {
  gather_tensor *t = &tensor->tensor;
  t->item_bytes = type->block_bytes;
  tensor->descr = type->descr;
  int64_t *inner = t->rank > 0 ? (int64_t *)(uintptr_t)&t->shape[t->rank - 1] : NULL;
  if (!inner || *inner % type->block_len != 0)
    return GATHER_GGUF_WRONG(gguf, at,
                             "the tensor '%.100s' has rows of %" PRId64
                             " elements, not a multiple of the block length %" PRId64 " (%s)",
                             tensor->name, inner ? *inner : 1, type->block_len, type->name);
  *inner /= type->block_len;
  return GATHER_OK;
}

static gather_status read_type(gather_gguf *gguf, gather_file_tensor *tensor) {
  gather_tensor *t = &tensor->tensor;
  int64_t at = gguf->at;
  uint32_t number = 0;
  GATHER_TRY(gather_gguf_u32(gguf, &number));
  const gguf_type *type = find_type(number);
  if (!type) return mark_unknown(gguf, at, number, tensor);
  t->type = type->type;
  tensor->type_name = type->type == GATHER_TYPE_OPAQUE ? type->name : gather_type_get(type->type)->name;
  if (type->type == GATHER_TYPE_OPAQUE) return count_blocks(gguf, at, type, tensor);
  if (type->block_bytes > 1 && gguf->big != (GATHER_BIG_ENDIAN != 0)) t->flags |= GATHER_TENSOR_BYTE_SWAPPED;
  return GATHER_OK;
}

/* The offset counts from the first byte of the data, which is not known yet. */
static gather_status read_tensor(gather_gguf *gguf, gather_file_tensor *tensor, gather_file_span *span) {
  uint64_t place = 0;
  *span = (gather_file_span){.tensor = tensor, .said_at = gguf->at};
  GATHER_TRY(read_name(gguf, tensor));
  GATHER_TRY(read_shape(gguf, tensor));
  GATHER_TRY(read_type(gguf, tensor));
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK)
    return GATHER_GGUF_WRONG(gguf, span->said_at, "the lengths of the tensor '%.100s' are too large", tensor->name);
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  int64_t at = gguf->at;
  GATHER_TRY(gather_gguf_u64(gguf, &place));
  if (place % (uint64_t)gguf->alignment != 0)
    return GATHER_GGUF_WRONG(gguf, at,
                             "the tensor '%.100s' is at %" PRIu64 ", not a multiple of the alignment %" PRId64,
                             tensor->name, place, gguf->alignment);
  if (place > (uint64_t)gguf->map->size)
    return GATHER_GGUF_WRONG(gguf, at, "the tensor '%.100s' is at %" PRIu64 ", past the end of the file", tensor->name,
                             place);
  tensor->offset = (int64_t)place;
  return GATHER_OK;
}

static gather_status place_tensor(const gather_gguf *gguf, int64_t data_at, gather_file_tensor *tensor,
                                  gather_file_span *span) {
  const gather_map *map = gguf->map;
  tensor->offset += data_at; /* no overflow: both are at most about the file size */
  span->begin = tensor->offset;
  span->end = tensor->offset;
  if (tensor->bytes == 0) return GATHER_OK;
  if (tensor->offset > map->size || tensor->bytes > map->size - tensor->offset)
    return GATHER_GGUF_WRONG(gguf, map->size,
                             "the file is truncated: the tensor '%.100s' needs %" PRId64 " bytes at byte %" PRId64,
                             tensor->name, tensor->bytes, tensor->offset);
  span->end += tensor->bytes;
  return gather_file_point(gguf->file, map, tensor->offset, tensor, gguf->error);
}

/* Tensors must not overlap. Gaps are allowed: the end of a tensor of unknown type is unknown. */
static gather_status check_places(const gather_gguf *gguf, int64_t count) {
  gather_file_spans_by_place(gguf->sorted, count);
  for (int64_t i = 0, end = 0; i < count; i++) {
    const gather_file_span *span = gguf->sorted[i];
    if (span->begin < end && span->begin < span->end)
      return GATHER_GGUF_WRONG(gguf, span->said_at, "the tensor '%.100s' begins at byte %" PRId64 ", inside another",
                               span->tensor->name, span->begin);
    if (span->end > end) end = span->end;
  }
  return GATHER_OK;
}

gather_status gather_gguf_tensors(gather_gguf *gguf, int64_t count) {
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
