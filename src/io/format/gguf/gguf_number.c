/* SPDX-License-Identifier: MIT
 *
 * gguf_number.c: reads the numbers of a GGUF file, in its byte order.
 */
#include <inttypes.h>

#include "io/format/gguf/gguf.h"

gather_status gather_gguf_number(gather_gguf *gguf, int bytes, uint64_t *value) {
  const gather_map *map = gguf->map;
  if (map->size - gguf->at < bytes)
    return GATHER_GGUF_WRONG(gguf, map->size, "the file is truncated: expected a number of %d bytes at byte %" PRId64,
                             bytes, gguf->at);
  GATHER_TRY(gather_map_need(map, gguf->at, bytes, gguf->error));
  *value = 0;
  for (int i = 0; i < bytes; i++) *value = *value << 8 | map->bytes[gguf->at + (gguf->big ? i : bytes - 1 - i)];
  gguf->at += bytes;
  return GATHER_OK;
}

gather_status gather_gguf_u32(gather_gguf *gguf, uint32_t *value) {
  uint64_t number = 0;
  GATHER_TRY(gather_gguf_number(gguf, 4, &number));
  *value = (uint32_t)number;
  return GATHER_OK;
}

gather_status gather_gguf_u64(gather_gguf *gguf, uint64_t *value) { return gather_gguf_number(gguf, 8, value); }

gather_status gather_gguf_count(gather_gguf *gguf, int64_t least, const char *what, int64_t *count) {
  int64_t at = gguf->at;
  uint64_t number = 0;
  GATHER_TRY(gather_gguf_number(gguf, 8, &number));
  int64_t left = gguf->map->size - gguf->at;
  if (number > (uint64_t)(left / least))
    return GATHER_GGUF_WRONG(gguf, at, "%" PRIu64 " %s cannot fit in the %" PRId64 " bytes that are left", number, what,
                             left);
  *count = (int64_t)number;
  return GATHER_OK;
}
