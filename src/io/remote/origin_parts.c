/* SPDX-License-Identifier: MIT
 *
 * origin_parts.c: the parts of an address.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "io/remote/origin.h"

char gather_remote_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool gather_remote_begins(const char *text, const char *prefix) {
  for (; *prefix; text++, prefix++)
    if (gather_remote_lower(*text) != *prefix) return false;
  return true;
}

char *gather_remote_copy(const char *text, size_t bytes) {
  char *copy = gather_alloc((int64_t)bytes + 1);
  if (copy && bytes > 0) memcpy(copy, text, bytes);
  return copy;
}

/* ---- the parts of "scheme://authority/path?query" */

const char *gather_remote_authority(const char *url, const char **authority) {
  const char *colon = strstr(url, "://");
  *authority = colon ? colon + 3 : url;
  return *authority + strcspn(*authority, "/?#");
}

bool gather_remote_same_host(const char *url, const char *other) {
  const char *authority, *other_authority;
  size_t bytes = (size_t)(gather_remote_authority(url, &authority) - url);
  if (bytes != (size_t)(gather_remote_authority(other, &other_authority) - other)) return false;
  for (size_t i = 0; i < bytes; i++)
    if (gather_remote_lower(url[i]) != gather_remote_lower(other[i])) return false;
  return authority > url && other_authority > other;
}

bool gather_remote_is_base(const char *text) {
  if (!gather_remote_begins(text, "https://") && !gather_remote_begins(text, "http://")) return false;
  const char *authority, *end = gather_remote_authority(text, &authority);
  if (end == authority) return false;
  for (const char *at = text; *at; at++)
    if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr("@?#\"<>\\^`{|}", *at)) return false;
  return true;
}
