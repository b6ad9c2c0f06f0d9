/* SPDX-License-Identifier: MIT
 *
 * safetensors_recognise.c: recognises safetensors files and shard indices by their bytes. Also built without Jansson,
 * so that the message can say what is missing.
 */
#include <string.h>

#include "io/format/format.h"

enum { HEADER_AT = 8 };

/* The header length in eight bytes, of which a valid one uses four, and the header's first byte. */
bool gather_safetensors_is_file(const gather_map *map) {
  const uint8_t *bytes = map->bytes;
  return map->size > HEADER_AT && bytes[HEADER_AT] == '{' && memcmp(bytes + 4, "\0\0\0\0", 4) == 0;
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Whether a byte of a remote file can be read. */
static bool has(const gather_map *map, int64_t at) { return gather_map_need(map, at, 1, NULL) == GATHER_OK; }

/* JSON with the key "weight_map", anywhere in the object: searches up to the size limit of an index. A longer remote file is none:
 * nobody wants to download that much of it to find out. */
bool gather_safetensors_is_index(const gather_map *map) {
  static const char KEY[] = "\"weight_map\"";
  const int64_t most = 100 * 1000 * 1000, key_bytes = (int64_t)sizeof KEY - 1;
  const uint8_t *bytes = map->bytes;
  int64_t at = 0, size = map->size;
  while (at < size && has(map, at) && is_blank(bytes[at])) at++;
  if (at == size || !has(map, at) || bytes[at] != '{') return false;
  if (size > most && map->remote) return false;
  if (size > most) size = most;
  if (gather_map_need(map, 0, size, NULL) != GATHER_OK) return false;
  for (const uint8_t *quote; at < size; at = quote - bytes + 1) {
    quote = memchr(bytes + at, '"', (size_t)(size - at));
    if (!quote || size - (quote - bytes) < key_bytes) return false;
    if (memcmp(quote, KEY, (size_t)key_bytes) == 0) return true;
  }
  return false;
}

bool gather_safetensors_recognise(const gather_map *map) {
  return gather_safetensors_is_file(map) || gather_safetensors_is_index(map);
}
