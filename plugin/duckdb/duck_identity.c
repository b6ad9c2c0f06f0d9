/* SPDX-License-Identifier: MIT
 *
 * duck_identity.c: from the names in SQL to an open table.
 */
#define _POSIX_C_SOURCE 200809L
#include "duck_identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "remote_env.h"

/* ---- files as they were */

static bool look(duck_file *file) {
  struct stat about;
  if (stat(file->path, &about) != 0) return false;
  file->device = (uint64_t)about.st_dev;
  file->number = (uint64_t)about.st_ino;
  file->bytes = (int64_t)about.st_size;
  file->seconds = (int64_t)about.st_mtim.tv_sec;
  file->nanoseconds = (int64_t)about.st_mtim.tv_nsec;
  return true;
}

bool gather_duck_identity_holds(const duck_identity *identity) {
  for (int32_t i = 0; i < identity->len; i++) {
    const duck_file *was = &identity->files[i];
    duck_file is = *was;
    if (!look(&is) || is.device != was->device || is.number != was->number || is.bytes != was->bytes || is.seconds != was->seconds ||
        is.nanoseconds != was->nanoseconds)
      return false;
  }
  return true;
}

void gather_duck_identity_free(duck_identity *identity) {
  for (int32_t i = 0; i < identity->len; i++) free(identity->files[i].path);
  free(identity->files);
}

static bool add_file(duck_identity *identity, const char *path) {
  for (int32_t i = 0; i < identity->len; i++)
    if (strcmp(identity->files[i].path, path) == 0) return true;
  duck_file *file = &identity->files[identity->len];
  file->path = strdup(path);
  if (!file->path) return false;
  identity->len++;
  return look(file);
}

static gather_status remember(const char *file, const gather_table *table, duck_identity *identity, gather_error *error) {
  int32_t parts = gather_table_describe(table)->parts;
  identity->files = calloc((size_t)parts + 1, sizeof *identity->files);
  bool done = identity->files && add_file(identity, file);
  for (int32_t i = 0; done && i < parts; i++) {
    gather_table_part part;
    done = gather_table_part_at(table, i, &part) && add_file(identity, part.path);
  }
  if (done) return GATHER_OK;
  return gather_error_set_file(error, GATHER_IO_ERROR, file, -1, "the file has changed while it was opened");
}

/* ---- opening */

/* The file of FILE:TENSOR, whose tensor is known. Freed by the caller; NULL: out of memory. */
static char *file_of(const char *path, const char *tensor) {
  size_t bytes = strlen(path), tail = strlen(tensor) + 1;
  char *file = strdup(path);
  struct stat about;
  if (!file || tail == 1 || bytes <= tail || stat(path, &about) == 0) return file;
  if (path[bytes - tail] == ':' && strcmp(path + bytes - tail + 1, tensor) == 0) file[bytes - tail] = '\0';
  return file;
}

/* Whether the rows of a tensor can be decoded. */
static bool decodable(const char *path, const char *tensor, const gather_table_options *options) {
  gather_file *file = NULL;
  const gather_file_tensor *found = NULL;
  gather_file_codec codec;
  gather_error ignored;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  source.no_links = options->no_links;
  source.remote = options->remote;
  if (gather_file_open(&source, &file, &ignored) != GATHER_OK) return false;
  bool yes = gather_file_find(file, tensor, &found, &ignored) == GATHER_OK && gather_file_is_quantised(file, found) &&
             gather_file_codec_find(file, found, NULL, &codec, &ignored) == GATHER_OK;
  gather_file_close(file);
  return yes;
}

/* Opens `path` once more, decoded, if the table that is open is quantised. */
static gather_status open_decoded(const char *path, const char *file, const duck_options *options, const gather_table_options *how,
                                  gather_table **table, gather_error *error) {
  if (!options->decode || how->raw || how->codec || !decodable(file, gather_table_describe(*table)->name, how)) return GATHER_OK;
  gather_table_options decoded = *how;
  decoded.decode_as = GATHER_TYPE_FLOAT32;
  gather_table_close(*table);
  *table = NULL;
  return gather_table_open(path, &decoded, table, error);
}

static gather_status open_path(const char *path, const char *tensor, const duck_options *options, const gather_remote_options *remote,
                               gather_table **table, duck_identity *identity, gather_error *error) {
  gather_table_options how = options->table;
  how.remote = remote;
  how.tensor = *tensor ? tensor : NULL; /* then nothing of the path is split */
  if (how.codec) how.decode_as = GATHER_TYPE_FLOAT32;
  gather_status status = gather_table_open(path, &how, table, error);
  if (status != GATHER_OK) return status;
  char *file = *tensor ? strdup(path) : file_of(path, gather_table_describe(*table)->name);
  if (!file) return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory");
  status = open_decoded(path, file, options, &how, table, error);
  if (status == GATHER_OK && !remote) status = remember(file, *table, identity, error);
  free(file);
  return status;
}

/* The same by a URL, with what the environment says about its server. */
static gather_status open_url(const char *path, const char *tensor, const duck_options *options, gather_table **table,
                              duck_identity *identity, gather_error *error) {
  gather_remote_options remote = options->remote;
  gather_cli_servers servers = {0};
  if (remote.cache_bytes && !remote.cache_folder)
    return gather_error_set(error, GATHER_USAGE, "option disk_cache_bytes needs disk_cache, the folder");
  gather_status status = gather_cli_remote_environment(&path, 1, &servers, &remote, error);
  if (status == GATHER_OK) status = open_path(path, tensor, options, &remote, table, identity, error);
  gather_cli_servers_clear(&servers);
  return status;
}

gather_status gather_duck_open_table(const char *file, const char *tensor, const duck_options *options, gather_table **table,
                                     duck_identity *identity, gather_error *error) {
  gather_status status = GATHER_OK;
  if (gather_remote_is_url(file))
    status = open_url(file, tensor, options, table, identity, error);
  else if (options->for_urls)
    status = gather_error_set_file(error, GATHER_USAGE, file, -1,
                                   "connections, timeout, gap, whole, disk_cache, disk_cache_bytes, endpoint and region are "
                                   "options of URLs; this is a local file");
  else
    status = open_path(file, tensor, options, NULL, table, identity, error);
  return status;
}

gather_status gather_duck_open_file(const char *file, gather_file **opened, gather_error *error) {
  gather_remote_options remote = GATHER_REMOTE_OPTIONS_INIT;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  gather_cli_servers servers = {0};
  gather_status status = GATHER_OK;
  source.path = file;
  if (gather_remote_is_url(file)) {
    source.remote = &remote;
    status = gather_cli_remote_environment(&file, 1, &servers, &remote, error);
  }
  if (status == GATHER_OK) status = gather_file_open(&source, opened, error);
  gather_cli_servers_clear(&servers);
  return status;
}
