/* SPDX-License-Identifier: MIT
 *
 * file.c: opens a file by its content, and finds its tensors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/format.h"
#include "io/format/format_open.h"
#include "io/format/nearest.h"
#include "io/format/substitute.h"

/* ---- opening */

static gather_status read_content(gather_file *file, gather_error *error) {
  const gather_format *format;
  enum { TEXT_HEAD = 4096 };
  GATHER_TRY(gather_substitute_refuse(&file->map, file->name, file->client != NULL, error));
  if (file->text_column) {
    const int64_t head = file->map.size < TEXT_HEAD ? file->map.size : TEXT_HEAD;
    GATHER_TRY(gather_map_need(&file->map, 0, head, error));
    if (gather_file_is_text(file->map.bytes, (size_t)head)) return gather_text_open_map(file, file->text_column, error);
  }
  GATHER_TRY(gather_map_need(&file->map, 0, GATHER_FORMAT_HEAD, error));
  if (gather_format_is_tfrecord(&file->map)) return gather_format_unknown(file, error);
  for (size_t i = 0; (format = gather_format_at(i)) != NULL; i++) {
    if (!format->recognise || !format->recognise(&file->map)) continue;
    file->format = format->name;
    return format->open(file, error);
  }
  return gather_format_unknown(file, error);
}

static gather_status open_by_content(gather_file *file, gather_error *error) {
  gather_error failed;
  gather_status status = read_content(file, error), settled = gather_file_settle(file, &failed);
  if (settled == GATHER_OK) return status;
  if (error) *error = failed;
  return settled;
}

gather_status gather_file_open(const char *path, gather_file **file, gather_error *error) {
  return gather_file_open_with(path, NULL, file, error);
}

gather_status gather_file_open_with(const char *path, const gather_file_options *options, gather_file **file,
                                    gather_error *error) {
  gather_file_options full;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open: file is NULL");
  *file = NULL;
  if (!path) return gather_fail(error, GATHER_USAGE, "gather_file_open: path is NULL");
  GATHER_TRY(gather_file_options_read(options, &full, error));
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(path, &made, error));
  gather_status status = gather_file_use_path(made, path, &full, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_open_by(gather_remote_client *client, const char *url, const gather_file_options *options,
                                  gather_file **file, gather_error *error) {
  gather_file *made = NULL;
  *file = NULL;
  GATHER_TRY(gather_file_make(url, &made, error));
  gather_status status = gather_file_use_client(made, client, url, options, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_from_source(const gather_map_source *source, const char *name, gather_file **file,
                                      gather_error *error) {
  gather_file *made = NULL;
  *file = NULL;
  gather_status status = gather_file_make(name, &made, error);
  if (status != GATHER_OK) {
    source->close(source->context);
    return status;
  }
  status = gather_map_open_source(source, name, &made->map, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_from_memory(const void *memory, size_t bytes, const char *name, gather_file **file,
                                      gather_error *error) {
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_from_memory: file is NULL");
  *file = NULL;
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(name ? name : "memory", &made, error));
  gather_status status = gather_file_use_memory(made, memory, bytes, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

/* ---- which files it reads */

bool gather_file_reads(const gather_file *file, const char *path) {
  gather_map there;
  if (!file || !path || !gather_map_identify(path, &there)) return false;
  bool same = gather_map_is_same(&file->map, &there);
  for (const gather_sibling *other = file->siblings; other && !same; other = other->next)
    same = gather_map_is_same(&other->map, &there);
  return same;
}

/* ---- what is in it */

bool gather_file_missing_at(const gather_file *file, int64_t i, gather_error *why) {
  if (i < 0 || i >= file->missing_len) return false;
  return gather_unreadable_recall(file->missing[i], why) != GATHER_OK;
}

/* A name that is not found in a model of which parts are missing. */
static gather_status fail_in_missing(const gather_file *file, const char *name, gather_error *error) {
  const gather_status status = gather_unreadable_recall(file->missing[0], error);
  const size_t length = error ? strlen(error->message) : 0;
  if (!error) return status;
  if (file->missing_len > 1)
    (void)snprintf(error->message + length, sizeof error->message - length,
                   "; '%.100s' may be in it, or in %" PRId64 " more parts that are missing", name,
                   file->missing_len - 1);
  else
    (void)snprintf(error->message + length, sizeof error->message - length, "; '%.100s' may be in it", name);
  return status;
}

const char *gather_file_format(const gather_file *file) { return file->format; }
const char *gather_file_name(const gather_file *file) { return file->name; }
int64_t gather_file_len(const gather_file *file) { return file->len; }
const gather_file_tensor *gather_file_at(const gather_file *file, int64_t i) {
  return i >= 0 && i < file->len ? &file->tensors[i] : NULL;
}

/* The tensor of that name, if all graphs of a model have only one; NULL. */
static const gather_file_tensor *find_plain(const gather_file *file, const char *name) {
  const gather_file_tensor *found = NULL;
  for (int64_t i = 0; i < file->len; i++) {
    if (strcmp(file->plain_names[i], name) != 0) continue;
    if (found) return NULL;
    found = &file->tensors[i];
  }
  return found;
}

/* The tensor that has this as one of its other names; a name without its graphs must be unique. */
static const gather_file_tensor *find_other(const gather_file *file, const char *name) {
  int64_t found = -1;
  bool is_only = true;
  for (const gather_other_name *other = file->others; other; other = other->next) {
    if (strcmp(other->full, name) == 0) return &file->tensors[other->tensor];
    if (strcmp(other->plain, name) != 0) continue;
    is_only = found < 0 || found == other->tensor;
    found = other->tensor;
  }
  return found >= 0 && is_only ? &file->tensors[found] : NULL;
}

int64_t gather_file_pieces(const gather_file *file, const char *name, int64_t *first) {
  bool unnamed = !name || name[0] == '\0';
  for (int64_t i = 0; i < file->pieces_len; i++) {
    if (unnamed ? file->pieces_len > 1 : strcmp(file->pieces[i].name, name) != 0) continue;
    *first = file->pieces[i].first;
    return file->pieces[i].count;
  }
  return 0;
}

static gather_status fail_in_pieces(const gather_file *file, const char *name, int64_t count, gather_error *error) {
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                          "'%.100s' is not a single tensor: it has %" PRId64 " chunks, '%.100s@0' to '%.100s@%" PRId64
                          "', one for each record batch; a table takes all of '%.100s'",
                          name, count, name, name, count - 1, name);
}

static gather_status fail_unnamed(const gather_file *file, gather_error *error) {
  char names[300];
  if (file->len == 0) return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1, "the file has no tensors");
  gather_first_names(file, names, sizeof names);
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                          "the file has %" PRId64 " tensors; name one: %s", file->len, names);
}

gather_status gather_file_find(const gather_file *file, const char *name, const gather_file_tensor **tensor,
                               gather_error *error) {
  *tensor = NULL;
  bool unnamed = !name || name[0] == '\0';
  if (!unnamed) *tensor = gather_file_named(file, name);
  if (unnamed && file->len == 1) *tensor = file->tensors;
  if (!*tensor && !unnamed && file->plain_names) *tensor = find_plain(file, name);
  if (!*tensor && !unnamed) *tensor = find_other(file, name);
  if (*tensor) return GATHER_OK;
  if (unnamed) return fail_unnamed(file, error);
  if (file->len == 1 && file->tensors[0].name[0] == '\0')
    return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                            "no such tensor '%.100s'; the file has one tensor, without a name", name);
  if (file->missing_len > 0) return fail_in_missing(file, name, error);
  int64_t first = 0, pieces = gather_file_pieces(file, name, &first);
  if (pieces > 0) return fail_in_pieces(file, name, pieces, error);
  static const char FIRST[] = "; the file has: ";
  char nearest[300];
  gather_nearest_names(file, name, nearest, sizeof nearest);
  if (!*nearest && file->len > 0) {
    memcpy(nearest, FIRST, sizeof FIRST);
    gather_first_names(file, nearest + sizeof FIRST - 1, sizeof nearest - sizeof FIRST + 1);
  }
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1, "no such tensor '%.100s' among %" PRId64 "%s",
                          name, file->len, nearest);
}
