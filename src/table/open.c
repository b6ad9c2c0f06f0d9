/* SPDX-License-Identifier: MIT
 *
 * open.c: opening a table by its paths; parts.c adds what each file holds.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/struct.h"
#include "io/format/format.h"
#include "table/table_decode.h"

/* ---- names */

/* A name is a URL if the caller allows URLs. */
static bool is_url(const gather_table_options *options, const char *path) {
  return options->remote && gather_remote_is_url(path);
}

/* The file of a path, and the tensor behind it in the same memory, which the caller frees. */
static gather_status split(const gather_table *table, const char *path, char **file, const char **name,
                           gather_error *error) {
  const char *tensor = table->options.tensor;
  const size_t len = strlen(path), more = tensor ? strlen(tensor) + 1 : 0;
  *file = gather_alloc((int64_t)(len + 1 + more));
  if (!*file) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory to open a table");
  if (tensor) {
    memcpy(*file, path, len + 1);
    *name = memcpy(*file + len + 1, tensor, more);
    return GATHER_OK;
  }
  const gather_status status = gather_file_split(path, table->client != NULL, *file, name, error);
  if (!*name) *name = "";
  if (status != GATHER_OK) gather_free(*file);
  return status;
}

/* ---- raw bytes: as many rows as the file has */

static gather_status count_rows(const char *path, const gather_raw *raw, int64_t *shape, gather_raw *counted,
                                gather_error *error) {
  struct stat about;
  *counted = *raw;
  if (raw->rank < 1 || raw->rank > GATHER_MAX_RANK || !raw->shape || raw->shape[0] != -1) return GATHER_OK;
  if (stat(path, &about) != 0) return gather_fail_open(error, path, errno);
  memcpy(shape, raw->shape, (size_t)raw->rank * sizeof *shape);
  counted->shape = shape;
  shape[0] = 1;
  gather_file *one = NULL;
  /* Opening it as one row gives the row length; a shorter file has no rows. */
  gather_status status = gather_file_open_raw(path, counted, &one, error);
  if (status == GATHER_FILE_MALFORMED) {
    shape[0] = 0;
    return raw->offset <= (int64_t)about.st_size ? GATHER_OK : status;
  }
  GATHER_TRY(status);
  int64_t row_bytes = gather_file_at(one, 0)->bytes, room = (int64_t)about.st_size - raw->offset;
  gather_file_close(one);
  shape[0] = row_bytes > 0 ? room / row_bytes : 0;
  return GATHER_OK;
}

/* A URL has no size before it is open. */
static gather_status open_raw(const gather_table *table, const char *path, const gather_file_options *options,
                              gather_file **file, gather_error *error) {
  gather_raw counted;
  int64_t shape[GATHER_MAX_RANK];
  if (table->client) return gather_file_open_raw_by(table->client, path, table->options.raw, options, file, error);
  GATHER_TRY(count_rows(path, table->options.raw, shape, &counted, error));
  return gather_file_open_raw(path, &counted, file, error);
}

/* All parts are on other machines, or none is: one engine reads them. */
static gather_status check_place(const gather_table *table, const char *path, gather_error *error) {
  if (is_url(&table->options, path) == (table->client != NULL)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "the parts of one table are all URLs or all local files");
}

/* Adds a tensor in Fortran order. The parts before it were added as rows: they are added again. */
static gather_status add_columns(gather_table *table, const char *const *paths, const gather_file *file,
                                 const char *name, gather_error *error) {
  const int32_t before = table->decoding ? 0 : table->file_count - 1;
  table->part_count = 0;
  for (int32_t i = 0; i < before; i++) {
    char *file_name;
    const char *earlier;
    GATHER_TRY(split(table, paths[i], &file_name, &earlier, error));
    gather_free(file_name);
    GATHER_TRY(gather_columns_add(table, table->files[i], earlier, error));
  }
  return gather_columns_add(table, file, name, error);
}

static gather_status add_path(gather_table *table, const char *const *paths, int32_t number, gather_error *error) {
  char *file_name;
  const char *name, *path = paths[number];
  gather_file **file = &table->files[table->file_count];
  gather_file_options options = GATHER_FILE_OPTIONS_INIT;
  options.no_links = table->options.no_links;
  options.remote = table->options.remote;
  GATHER_TRY(check_place(table, path, error));
  GATHER_TRY(split(table, path, &file_name, &name, error));
  gather_status status = table->options.raw ? open_raw(table, file_name, &options, file, error)
                         : table->client    ? gather_file_open_by(table->client, file_name, &options, file, error)
                                            : gather_file_open_with(file_name, &options, file, error);
  if (status == GATHER_OK) {
    table->file_count++;
    status = table->options.decode_as                    ? gather_decoding_add(table, *file, name, error)
             : gather_columns_wanted(table, *file, name) ? add_columns(table, paths, *file, name, error)
                                                         : gather_table_add(table, *file, name, error);
  }
  gather_free(file_name); /* the name may be in it */
  return status;
}

/* ---- the whole */

static gather_status read_options(const gather_table_options *given, gather_table_options *options,
                                  gather_error *error) {
  enum { MOST_DEPTH = 4096 };
  static const gather_type DECODED[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16, GATHER_TYPE_BFLOAT16};
  *options = (gather_table_options)GATHER_TABLE_OPTIONS_INIT;
  GATHER_TRY(
      gather_struct_read(options, sizeof *options, given, "gather_table_options", "GATHER_TABLE_OPTIONS_INIT", error));
  if (!gather_engine_name(options->engine))
    return gather_fail(error, GATHER_USAGE, "no such engine: number %d", (int)options->engine);
  if (options->depth < 0 || options->depth > MOST_DEPTH)
    return gather_fail(error, GATHER_USAGE, "invalid depth %d; 1 to %d reads, or 0 to choose automatically",
                       (int)options->depth, (int)MOST_DEPTH);
  if (options->memory_bytes < 0 || options->cache_bytes < -1)
    return gather_fail(error, GATHER_USAGE, "memory_bytes or cache_bytes is negative");
  if (options->keep_signals && options->engine == GATHER_ENGINE_MMAP)
    return gather_fail(error, GATHER_USAGE, "the engine mmap needs a SIGBUS handler, which keep_signals forbids");
  if (options->codec && options->codec[0] && options->decode_as == GATHER_TYPE_NONE)
    return gather_fail(error, GATHER_USAGE, "a codec needs decode_as, the type to decode to");
  if (options->decode_as == GATHER_TYPE_NONE) return GATHER_OK;
  for (size_t i = 0; i < sizeof DECODED / sizeof *DECODED; i++)
    if (options->decode_as == DECODED[i]) return GATHER_OK;
  return gather_fail(error, GATHER_TYPE_UNSUPPORTED,
                     "quantised rows are decoded to float32, float16 or bfloat16, not to type number %d",
                     (int)options->decode_as);
}

static gather_status open_all(gather_table *table, const char *const *paths, int32_t count, gather_error *error) {
  for (int32_t i = 0; i < count; i++) {
    if (!paths[i]) return gather_fail(error, GATHER_USAGE, "gather_table_open: a path is NULL");
    GATHER_TRY(add_path(table, paths, i, error));
  }
  return table->decoding ? gather_decoding_complete(table, error) : gather_table_complete(table, error);
}

gather_status gather_table_open_parts(const char *const *paths, int32_t count, const gather_table_options *options,
                                      gather_table **table, gather_error *error) {
  gather_table_options full;
  gather_table *made;
  if (!table) return gather_fail(error, GATHER_USAGE, "gather_table_open: table is NULL");
  *table = NULL;
  if (!paths || count < 1) return gather_fail(error, GATHER_USAGE, "gather_table_open: no path");
  GATHER_TRY(read_options(options, &full, error));
  gather_remote_client *client = NULL;
  if (paths[0] && is_url(&full, paths[0])) GATHER_TRY(gather_remote_client_create(full.remote, &client, error));
  gather_status status = gather_table_create(&full, client, count, &made, error);
  gather_remote_client_release(client);
  GATHER_TRY(status);
  status = open_all(made, paths, count, error);
  made->options.raw = NULL, made->options.codec = NULL, made->options.remote = NULL, made->options.tensor = NULL;
  /* the caller's */
  if (status == GATHER_OK)
    *table = made;
  else
    gather_table_close(made);
  return status;
}

gather_status gather_table_open(const char *path, const gather_table_options *options, gather_table **table,
                                gather_error *error) {
  return gather_table_open_parts(&path, 1, options, table, error);
}

const gather_table_info *gather_table_describe(const gather_table *table) { return &table->info; }
