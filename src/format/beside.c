/* SPDX-License-Identifier: MIT
 *
 * beside.c: the name of a file beside another: in the same folder, or below the same part of a URL.
 */
#include <string.h>

#include "format/format.h"

/* The bytes of a name up to its last slash. Of a URL at least up to the end of its host: "https://host" has no slash there. */
static size_t folder_bytes(const gather_file *file, bool *needs_slash) {
  const char *slash = strrchr(file->name, '/'), *authority = file->client ? strstr(file->name, "://") : NULL;
  *needs_slash = authority && !strchr(authority + 3, '/');
  if (*needs_slash) return strlen(file->name);
  return slash ? (size_t)(slash + 1 - file->name) : 0;
}

/* In the path of a URL these need no encoding. Keys of S3 and names of the hub are written as they are. */
static bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != 0 && strchr("-._~/!$&'()*+,;=:@", c));
}

static bool is_encoded(const gather_file *file) { return file->client && strncmp(file->name, "http", 4) == 0; }

char *gather_file_beside(gather_file *file, const char *location) {
  static const char HEX[] = "0123456789ABCDEF";
  bool needs_slash, encode = is_encoded(file);
  size_t folder = folder_bytes(file, &needs_slash), length = strlen(location);
  char *path = gather_arena_take(&file->arena, (int64_t)(folder + (encode ? 3 : 1) * length) + 2, 1);
  if (!path) return NULL;
  memcpy(path, file->name, folder);
  char *at = path + folder;
  if (needs_slash) *at++ = '/';
  for (const char *from = location; *from; from++) {
    unsigned char c = (unsigned char)*from;
    if (!encode || is_plain(c)) {
      *at++ = *from;
      continue;
    }
    *at++ = '%';
    *at++ = HEX[c >> 4];
    *at++ = HEX[c & 15];
  }
  return path;
}
