/* SPDX-License-Identifier: MIT
 *
 * open.c: opening and closing a table; parts.c adds what each file holds.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/struct.h"
#include "format/format.h"
#include "format/format_open.h"
#include "table/engine.h"
#include "table/guard.h"
#include "table/table_internal.h"

/* ---- names */

/* Whether a file with that path exists. *failed: the errno if the system cannot tell; another path must not be tried
 * then. */
static bool is_file(const char *path, int *failed) {
  struct stat about;
  if (stat(path, &about) == 0) return !S_ISDIR(about.st_mode);
  if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG && errno != ELOOP)
    *failed = errno;
  return false;
}

/* Splits FILE or FILE:TENSOR. If no file has the whole name, it is split at the first colon after an existing file. */
static gather_status split_path(const char *path, char **file, const char **name, gather_error *error) {
  int failed = 0;
  *name = "";
  *file = gather_alloc((int64_t)strlen(path) + 1);
  if (!*file) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "no memory to open it");
  memcpy(*file, path, strlen(path));
  if (is_file(path, &failed)) return GATHER_OK;
  for (char *colon = strchr(*file, ':'); colon && !failed; colon = strchr(colon + 1, ':')) {
    *colon = '\0';
    if (is_file(*file, &failed)) {
      *name = path + (colon + 1 - *file);
      return GATHER_OK;
    }
    *colon = ':';
  }
  if (!failed) return GATHER_OK; /* opening reports the error */
  gather_free(*file);
  return gather_fail_system(error, path, failed, "open it");
}

/* ---- raw bytes: as many rows as the file has */

static gather_status count_rows(const char *path, const gather_raw *raw, int64_t *shape, gather_raw *counted,
                                gather_error *error) {
  struct stat about;
  *counted = *raw;
  if (raw->rank < 1 || raw->rank > GATHER_MAX_RANK || !raw->shape || raw->shape[0] != -1) return GATHER_OK;
  if (stat(path, &about) != 0) return gather_fail_system(error, path, errno, "open it");
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

static gather_status open_raw(const char *path, const gather_raw *raw, gather_file **file, gather_error *error) {
  gather_raw counted;
  int64_t shape[GATHER_MAX_RANK];
  GATHER_TRY(count_rows(path, raw, shape, &counted, error));
  return gather_file_open_raw(path, &counted, file, error);
}

static gather_status add_path(gather_table *table, const char *path, gather_error *error) {
  char *file_name;
  const char *name;
  gather_file **file = &table->files[table->file_count];
  gather_file_options options = GATHER_FILE_OPTIONS_INIT;
  options.no_links = table->options.no_links;
  GATHER_TRY(split_path(path, &file_name, &name, error));
  gather_status status = table->options.raw ? open_raw(file_name, table->options.raw, file, error)
                                            : gather_file_open_with(file_name, &options, file, error);
  gather_free(file_name);
  GATHER_TRY(status);
  table->file_count++;
  return gather_table_add(table, *file, name, error);
}

/* ---- the whole */

static gather_status read_options(const gather_table_options *given, gather_table_options *options,
                                  gather_error *error) {
  enum { MOST_DEPTH = 4096 };
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
  return GATHER_OK;
}

static gather_status make_residency(gather_table *table, gather_error *error) {
  bool mapped = false;
  table->map_use.most_bytes = table->budget.map_bytes;
  if (table->options.engine != GATHER_ENGINE_AUTO && table->options.engine != GATHER_ENGINE_MMAP) return GATHER_OK;
  table->residency = gather_alloc((int64_t)sizeof *table->residency * (table->source_count + 1));
  if (!table->residency) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  bool pages = table->budget.ceiling == 0 &&
               !table->options.keep_signals; /* under a limit, all that is mapped must be counted */
  for (int32_t i = 0; i < table->source_count; i++) {
    if (!gather_residency_open(&table->residency[i], &table->sources[i], &table->map_use, pages))
      return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
    mapped = mapped || table->sources[i].map;
  }
  return mapped ? gather_guard_install(error) : GATHER_OK;
}

static gather_status open_all(gather_table *table, const char *const *paths, int32_t count, gather_error *error) {
  table->files = gather_alloc(count * (int64_t)sizeof *table->files);
  table->sources = gather_alloc(count * (int64_t)sizeof *table->sources);
  if (!table->files || !table->sources) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  table->engine = gather_engine_choose(&table->options, table->why, sizeof table->why);
  GATHER_TRY(gather_budget_make(&table->options, table->engine, &table->budget, error));
  for (int32_t i = 0; i < count; i++) {
    if (!paths[i]) return gather_fail(error, GATHER_USAGE, "gather_table_open: a path is NULL");
    GATHER_TRY(add_path(table, paths[i], error));
  }
  for (int32_t i = 0; i < table->source_count; i++) /* devices with very long blocks */
    if (table->sources[i].block_bytes > table->budget.slot_bytes)
      table->budget.slot_bytes = table->sources[i].block_bytes;
  table->info.rows = table->shape[0];
  table->info.parts = table->part_count;
  table->cache = gather_cache_create(table->info.row_bytes, table->info.rows, table->budget.cache_bytes);
  return make_residency(table, error);
}

gather_status gather_table_open_parts(const char *const *paths, int32_t count, const gather_table_options *options,
                                      gather_table **table, gather_error *error) {
  gather_table_options full;
  if (!table) return gather_fail(error, GATHER_USAGE, "gather_table_open: table is NULL");
  *table = NULL;
  if (!paths || count < 1) return gather_fail(error, GATHER_USAGE, "gather_table_open: no path");
  GATHER_TRY(read_options(options, &full, error));
  gather_table *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  made->options = full;
  made->queue_end = &made->queue;
  atomic_init(&made->process, (int64_t)getpid());
  gather_table_init_waiting(made);
  gather_status status = open_all(made, paths, count, error);
  made->options.raw = NULL; /* the caller's */
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

void gather_table_close(gather_table *table) {
  if (!table) return;
  gather_table_enter(table);
  gather_table_end_jobs(table);
  for (gather_worker *worker = table->idle, *next; worker; worker = next) {
    next = worker->next;
    gather_worker_destroy(table, worker);
  }
  for (int32_t i = 0; i < table->source_count; i++) {
    if (table->residency) gather_residency_close(&table->residency[i]);
    gather_table_source_close(&table->sources[i]);
  }
  for (int32_t i = 0; i < table->file_count; i++) gather_file_close(table->files[i]);
  gather_cache_destroy(table->cache);
  gather_free(table->residency);
  gather_free(table->sources);
  gather_free(table->parts);
  gather_free(table->files);
  (void)pthread_cond_destroy(&table->changed);
  (void)pthread_mutex_destroy(&table->lock);
  gather_free(table);
}

const gather_table_info *gather_table_describe(const gather_table *table) { return &table->info; }
