/* SPDX-License-Identifier: MIT
 *
 * safetensors_recognise.c: recognises safetensors files and shard indices by their bytes. Also built without Jansson,
 * so that the message can say what is missing.
 */
#include <string.h>

#include "format/format.h"

enum { HEADER_AT = 8 };

/* The header length in eight bytes, of which a valid one uses four, and the header's first byte. */
bool gather_safetensors_is_file(const uint8_t *bytes, int64_t size) {
  return size > HEADER_AT && bytes[HEADER_AT] == '{' && memcmp(bytes + 4, "\0\0\0\0", 4) == 0;
}

/* JSON with the key "weight_map", anywhere in the object: searches up to the size limit of an index. */
bool gather_safetensors_is_index(const uint8_t *bytes, int64_t size) {
  static const char KEY[] = "\"weight_map\"";
  const int64_t most = 100 * 1000 * 1000, key_bytes = (int64_t)sizeof KEY - 1;
  int64_t at = 0;
  while (at < size && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r')) at++;
  if (at == size || bytes[at] != '{') return false;
  if (size > most) size = most;
  for (const uint8_t *quote; at < size; at = quote - bytes + 1) {
    quote = memchr(bytes + at, '"', (size_t)(size - at));
    if (!quote || size - (quote - bytes) < key_bytes) return false;
    if (memcmp(quote, KEY, (size_t)key_bytes) == 0) return true;
  }
  return false;
}

bool gather_safetensors_recognise(const uint8_t *bytes, int64_t size) {
  return gather_safetensors_is_file(bytes, size) || gather_safetensors_is_index(bytes, size);
}
