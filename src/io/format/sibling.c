/* SPDX-License-Identifier: MIT
 *
 * sibling.c: files beside a file: a model's external data, the shards of an index, the .bin of an .xml. The names in a model must stay in
 * its folder; what the folder's owner put under such a name, even a link out of the folder, is the owner's choice.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/path.h"
#include "io/format/format.h"
#include "io/remote/parallel.h"

/* ---- names: in the same folder, or below the same part of a URL; never outside of it */

static const char *last_slash(const gather_file *file) { return file->client ? strrchr(file->name, '/') : gather_path_slash(file->name); }

/* The bytes of a name up to its last slash. Of a URL at least up to the end of its host: "https://host" has no slash there. */
static size_t folder_bytes(const gather_file *file, bool *needs_slash) {
  const char *slash = last_slash(file), *authority = file->client ? strstr(file->name, "://") : NULL;
  *needs_slash = authority && !strchr(authority + 3, '/');
  if (*needs_slash) return strlen(file->name);
  return slash ? (size_t)(slash + 1 - file->name) : 0;
}

/* In the path of a URL these need no encoding. Keys of S3 and names of the hub are written as they are. */
static bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c != 0 && strchr("-._~/!$&'()*+,;=:@", c));
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

static gather_status refuse(const gather_file *file, int64_t offset, const char *location, const char *why, gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, offset, "invalid location '%.200s' of tensor data: %s", location, why);
}

static bool has_parent_step(const char *location) {
  for (const char *at = location; (at = strstr(at, "..")) != NULL; at += 2) {
    bool starts = at == location || at[-1] == '/' || at[-1] == '\\';
    if (starts && (at[2] == '\0' || at[2] == '/' || at[2] == '\\')) return true;
  }
  return false;
}

/* Fails for a name that is not in or below the file's folder. */
static gather_status check_location(const gather_file *file, const char *location, int64_t offset, gather_error *error) {
  if (location[0] == '\0') return refuse(file, offset, location, "it is empty", error);
  if (gather_path_is_whole(location) || has_parent_step(location) || (file->client && gather_remote_is_url(location)))
    return refuse(file, offset, location, "it is not below the directory of the model", error);
  return GATHER_OK;
}

/* ---- known files, found by their names. The names are in a crit-bit tree (a binary tree by the first bit that differs): a search takes
 * time linear in the length of the name. */

/* Splits the names below it by one bit. */
struct gather_sibling_branch {
  struct gather_sibling_branch *child[2]; /* NULL: leaf */
  gather_sibling *leaf[2];
  size_t byte;
  uint8_t others; /* the bits of that byte except the splitting one */
};

typedef struct gather_sibling_branch branch;

/* 0 or 1: the bit of a name. */
static int side_of(const branch *at, const char *name, size_t length) {
  uint8_t byte = at->byte < length ? (uint8_t)name[at->byte] : 0;
  return (1 + (at->others | byte)) >> 8;
}

/* The leaf that has this name, if any does. */
static gather_sibling *nearest(const gather_file *file, const char *name, size_t length) {
  gather_sibling *found = file->siblings;
  for (const branch *at = file->sibling_root; at;) {
    int side = side_of(at, name, length);
    found = at->leaf[side];
    at = at->child[side];
  }
  return found;
}

gather_sibling *gather_sibling_find(const gather_file *file, const char *location) {
  gather_sibling *found = nearest(file, location, strlen(location));
  return found && strcmp(found->location, location) == 0 ? found : NULL;
}

/* Sets the first bit in which the two names differ. */
static void part(branch *made, const char *a, const char *b) {
  size_t byte = 0;
  while (a[byte] == b[byte]) byte++;
  uint8_t bits = (uint8_t)(a[byte] ^ b[byte]);
  while (bits & (bits - 1)) bits &= (uint8_t)(bits - 1); /* the highest bit */
  made->byte = byte;
  made->others = (uint8_t)~bits;
}

static bool is_above(const branch *at, const branch *made) {
  return at->byte < made->byte || (at->byte == made->byte && at->others < made->others);
}

/* Adds a file whose name is new. False: out of memory. */
static bool add_sibling(gather_file *file, gather_sibling *added) {
  const char *name = added->location;
  size_t length = strlen(name);
  gather_sibling *beside = nearest(file, name, length);
  if (beside) {
    branch *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made), **link = &file->sibling_root, *above = NULL;
    if (!made) return false;
    part(made, name, beside->location);
    int side = side_of(made, name, length), last = 0;
    while (*link && is_above(*link, made)) {
      above = *link;
      last = side_of(above, name, length);
      link = &above->child[last];
    }
    made->leaf[side] = added;
    made->child[!side] = *link;
    if (!*link) made->leaf[!side] = above ? above->leaf[last] : file->siblings;
    *link = made;
  }
  added->next = file->siblings;
  file->siblings = added;
  return true;
}

/* ---- beside a remote file: each is opened by one request, the shards of a model many at once */

/* Requests at once that open files: enough for a model of 60 shards in a few round trips, and no burden for a server. */
enum { OPEN_AT_ONCE = 16 };

static gather_status no_memory(const gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for a file beside it");
}

/* A file that is being opened. */
typedef struct url_opening {
  const char *location, *path;
  gather_map map;
  gather_status status;
  gather_error why;
} url_opening;

/* Keeps what was opened, or why not; the map is the file's from now on. */
static gather_status keep(gather_file *file, url_opening *opened, gather_sibling **kept, gather_error *error) {
  gather_sibling *made = gather_arena_take(&file->arena, 1, sizeof *made);
  bool failed = opened->status != GATHER_OK;
  if (made) *made = (gather_sibling){.path = opened->path, .map = opened->map};
  if (made) made->location = gather_arena_text(&file->arena, opened->location, strlen(opened->location));
  if (made && failed) made->failure = gather_unreadable_keep(file, &opened->why);
  if (!made || !made->location || (failed && !made->failure) || !add_sibling(file, made)) {
    gather_map_close(&opened->map);
    return no_memory(file, error);
  }
  *kept = made;
  return GATHER_OK;
}

static void open_one(const gather_file *file, url_opening *to) {
  to->status = gather_map_open_url(file->client, to->path, &to->map, &to->why);
  if (to->status != GATHER_OK) return;
  to->status = gather_substitute_refuse(&to->map, to->path, true, &to->why);
  if (to->status != GATHER_OK) gather_map_close(&to->map);
}

/* Maps a file beside a remote file, or recalls why that failed. */
static gather_status map_url(gather_file *file, const char *location, const gather_map **map, gather_error *error) {
  gather_sibling *known = gather_sibling_find(file, location);
  url_opening to = {.location = location, .map = {0}};
  *map = NULL;
  if (!known) {
    to.path = gather_file_beside(file, location);
    if (!to.path) return no_memory(file, error);
    open_one(file, &to);
    if (to.status == GATHER_OUT_OF_MEMORY) {
      if (error) *error = to.why;
      return to.status;
    }
    GATHER_TRY(keep(file, &to, &known, error));
  }
  if (known->failure) return gather_unreadable_recall(known->failure, error);
  *map = &known->map;
  return GATHER_OK;
}

/* ---- several */

typedef struct openings {
  const gather_file *file;
  url_opening *at;
  void (*header)(const gather_map *map);
} openings;

static void open_task(void *argument, int64_t i) {
  const openings *all = argument;
  open_one(all->file, &all->at[i]);
  if (all->at[i].status == GATHER_OK && all->header) all->header(&all->at[i].map);
}

static gather_status keep_all(gather_file *file, url_opening *opened, int64_t len, gather_error *error) {
  gather_status status = GATHER_OK;
  for (int64_t i = 0; i < len; i++) {
    gather_sibling *kept;
    if (status == GATHER_OK && opened[i].status == GATHER_OUT_OF_MEMORY) status = no_memory(file, error);
    if (status == GATHER_OK)
      status = keep(file, &opened[i], &kept, error);
    else
      gather_map_close(&opened[i].map);
  }
  return status;
}

gather_status gather_siblings_map_urls(gather_file *file, const char *const *locations, int64_t count,
                                       void (*header)(const gather_map *map), gather_error *error) {
  if (!file->client || count < 2) return GATHER_OK;
  url_opening *made = gather_alloc(count * (int64_t)sizeof *made);
  openings all = {file, made, header};
  int64_t len = 0;
  gather_status status = made ? GATHER_OK : no_memory(file, error);
  for (int64_t i = 0; i < count && status == GATHER_OK; i++) {
    if (check_location(file, locations[i], -1, NULL) != GATHER_OK) continue;
    made[len] = (url_opening){.location = locations[i], .path = gather_file_beside(file, locations[i])};
    if (!made[len++].path) status = no_memory(file, error);
  }
  if (status == GATHER_OK) {
    gather_remote_parallel(len, OPEN_AT_ONCE, open_task, &all);
    status = keep_all(file, made, len, error);
  }
  gather_free(made);
  return status;
}

/* ---- beside a local file */

/* Only mapped files are kept: for the next tensor of a missing file, the system is asked again. */
static gather_status map_file(gather_file *file, const char *location, int64_t offset, const gather_map **map, gather_error *error) {
  gather_map mapped;
  if ((!file->map.owned || file->map.remote) && file->map.size > 0)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, offset,
                            "its tensor data are in '%.200s', but a model in memory has no directory; open it from a file", location);
  char *path = gather_file_beside(file, location);
  if (!path) return no_memory(file, error);
  GATHER_TRY(file->no_links ? gather_map_open_below(path, strlen(path) - strlen(location), &mapped, error)
                            : gather_map_open(path, &mapped, error));
  const gather_status status = gather_substitute_refuse(&mapped, path, false, error);
  if (status != GATHER_OK) {
    gather_map_close(&mapped);
    return status;
  }
  gather_sibling *made = gather_arena_take(&file->arena, 1, sizeof *made);
  if (made) *made = (gather_sibling){.path = path, .map = mapped};
  if (made) made->location = gather_arena_text(&file->arena, location, strlen(location));
  if (!made || !made->location || !add_sibling(file, made)) {
    gather_map_close(&mapped);
    return no_memory(file, error);
  }
  *map = &made->map;
  return GATHER_OK;
}

gather_status gather_file_sibling_open(gather_file *file, const char *location, int64_t file_offset, const gather_map **map,
                                       gather_error *error) {
  const gather_sibling *known = gather_sibling_find(file, location);
  *map = known && !known->failure ? &known->map : NULL;
  if (*map) return GATHER_OK;
  return file->client ? map_url(file, location, map, error) : map_file(file, location, file_offset, map, error);
}

gather_status gather_file_sibling(gather_file *file, const char *location, int64_t file_offset, const char *name,
                                  gather_file_tensor *tensor, const gather_map **map, gather_error *error) {
  gather_error why;
  *map = NULL;
  if (!gather_sibling_find(file, location)) GATHER_TRY(check_location(file, location, file_offset, error));
  gather_status status = gather_file_sibling_open(file, location, file_offset, map, &why);
  if (status == GATHER_OK) return GATHER_OK;
  if (status == GATHER_OUT_OF_MEMORY) {
    if (error) *error = why;
    return status;
  }
  size_t length = strlen(why.message);
  (void)snprintf(why.message + length, sizeof why.message - length, "; the data of tensor '%.100s' are in it", name);
  return gather_file_unreadable(file, &why, tensor, error);
}
