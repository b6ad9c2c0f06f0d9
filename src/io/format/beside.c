/* SPDX-License-Identifier: MIT
 *
 * beside.c: the name of a file beside another: in the same folder, or below the same part of a URL; never outside of it.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/path.h"
#include "io/format/format.h"

static const char *last_slash(const gather_file *file) {
  return file->client ? strrchr(file->name, '/') : gather_path_slash(file->name);
}

/* The bytes of a name up to its last slash. Of a URL at least up to the end of its host: "https://host" has no slash there. */
static size_t folder_bytes(const gather_file *file, bool *needs_slash) {
  const char *slash = last_slash(file), *authority = file->client ? strstr(file->name, "://") : NULL;
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

static int hex_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *gather_file_base(gather_file *file) {
  const char *slash = last_slash(file), *from = slash ? slash + 1 : file->name;
  char *base = gather_arena_text(&file->arena, from, strlen(from)), *to = base;
  if (!base || !is_encoded(file)) return base;
  for (; *from; to++) {
    const int high = *from == '%' ? hex_of(from[1]) : -1, low = high >= 0 ? hex_of(from[2]) : -1;
    const bool is_code = low >= 0 && 16 * high + low != 0;
    *to = is_code ? (char)(16 * high + low) : *from;
    from += is_code ? 3 : 1;
  }
  *to = '\0';
  return base;
}

/* ---- names that are refused */

static gather_status refuse(const gather_file *file, int64_t offset, const char *location, const char *why,
                            gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, offset,
                          "invalid location '%.200s' of tensor data: %s", location, why);
}

static bool has_parent_step(const char *location) {
  for (const char *at = location; (at = strstr(at, "..")) != NULL; at += 2) {
    bool starts = at == location || at[-1] == '/' || at[-1] == '\\';
    if (starts && (at[2] == '\0' || at[2] == '/' || at[2] == '\\')) return true;
  }
  return false;
}

gather_status gather_file_check_location(const gather_file *file, const char *location, int64_t offset,
                                         gather_error *error) {
  if (location[0] == '\0') return refuse(file, offset, location, "it is empty", error);
  if (gather_path_is_whole(location) || has_parent_step(location) || (file->client && gather_remote_is_url(location)))
    return refuse(file, offset, location, "it is not below the directory of the model", error);
  return GATHER_OK;
}
