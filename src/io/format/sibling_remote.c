/* SPDX-License-Identifier: MIT
 *
 * sibling_remote.c: files beside a remote file: each is opened by one request, the shards of a model many at once.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/substitute.h"
#include "io/remote/parallel.h"

/* Requests at once that open files: enough for a model of 60 shards in a few round trips, and no burden for a server. */
enum { OPEN_AT_ONCE = 16 };

static gather_status no_memory(const gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for a file beside it");
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
  if (!made || !made->location || (failed && !made->failure) || !gather_sibling_add(file, made)) {
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

gather_status gather_sibling_map_url(gather_file *file, const char *location, const gather_map **map,
                                     gather_error *error) {
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
    if (gather_file_check_location(file, locations[i], -1, NULL) != GATHER_OK) continue;
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
