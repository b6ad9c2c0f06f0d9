/* SPDX-License-Identifier: MIT
 *
 * open.c: a table from the files that hold its rows.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/tensor.h"
#include "format/format.h"
#include "format/open.h"
#include "table/engine.h"
#include "table/guard.h"
#include "table/table.h"

/* ---- names */

/* FILE or FILE:TENSOR. Where no file has the whole name, the first colon behind which a name could begin parts it. */
static gather_status split_path(const char *path, char **file, const char **name, gather_error *error) {
  struct stat about;
  *name = "";
  *file = gather_alloc((int64_t)strlen(path) + 1);
  if (!*file) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "no memory to open it");
  memcpy(*file, path, strlen(path));
  if (stat(path, &about) == 0) return GATHER_OK;
  for (char *colon = strchr(*file, ':'); colon; colon = strchr(colon + 1, ':')) {
    *colon = '\0';
    if (stat(*file, &about) == 0 && !S_ISDIR(about.st_mode)) {
      *name = path + (colon + 1 - *file);
      return GATHER_OK;
    }
    *colon = ':';
  }
  return GATHER_OK; /* opening says what is wrong with it */
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
  int64_t room = (int64_t)about.st_size - raw->offset;
  /* A file of one row tells how long it is; a file that is shorter has none. */
  gather_status status = gather_file_open_raw(path, counted, &one, error);
  if (status == GATHER_FILE_MALFORMED) {
    shape[0] = 0;
    return raw->offset <= (int64_t)about.st_size ? GATHER_OK : status;
  }
  GATHER_TRY(status);
  int64_t row_bytes = gather_file_at(one, 0)->bytes;
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

/* ---- one tensor */

/* Whether its rows can be had one by one, and how long they are. */
static gather_status check_rows(const char *file, const gather_file_tensor *found, int64_t *row_bytes,
                                gather_error *error) {
  const gather_tensor *tensor = &found->tensor;
  const gather_type_info *type = gather_type_row(tensor->type);
  int64_t len;
  GATHER_TRY(gather_file_tensor_check(found, error));
  if (tensor->rank == 0)
    return gather_fail_file(error, GATHER_RANK_MISMATCH, file, -1, "a tensor of rank 0 has no rows");
  if (type->kind == GATHER_KIND_STRING)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file, -1, "rows of strings are not all of one length");
  if (!gather_tensor_is_row_major(tensor))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file, -1,
                            "its rows are scattered, since it is in Fortran order; take reads it in memory");
  if (!gather_shape_len(tensor->rank - 1, tensor->shape + 1, &len) || !gather_tensor_len_bytes(tensor, len, row_bytes))
    return gather_fail_file(error, GATHER_OVERFLOW, file, -1, "the length of a row does not fit in 63 bits");
  bool whole = !gather_type_is_packed(type) || (len * type->bits % 8 == 0 && len % type->group_len == 0);
  if (!whole || tensor->packed_offset != 0)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file, -1,
                            "rows of %" PRId64 " elements of %s do not end on a whole byte", len, type->name);
  return GATHER_OK;
}

static gather_status check_like_first(const gather_table *table, const char *file, const gather_file_tensor *found,
                                      gather_error *error) {
  const gather_tensor *first = &table->info.tensor, *next = &found->tensor;
  char a[200], b[200];
  bool swapped = ((first->flags ^ next->flags) & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  if (first->type != next->type || first->item_bytes != next->item_bytes || swapped)
    return gather_fail_file(error, GATHER_TYPE_MISMATCH, file, -1,
                            "its elements are %.60s%s, those of the first part %.60s", found->type_name,
                            swapped ? " in the other byte order" : "", table->info.type_name);
  if (first->rank == next->rank &&
      memcmp(first->shape + 1, next->shape + 1, (size_t)(first->rank - 1) * sizeof *first->shape) == 0)
    return GATHER_OK;
  return gather_fail_file(error, GATHER_SHAPE_MISMATCH, file, -1, "its rows are %s, those of the first part %s",
                          gather_shape_text(a, sizeof a, next->rank - 1, next->shape + 1),
                          gather_shape_text(b, sizeof b, first->rank - 1, first->shape + 1));
}

static void describe(gather_table *table, const gather_file *file, const gather_file_tensor *found, int64_t row_bytes) {
  gather_table_info *info = &table->info;
  info->format = gather_file_format(file);
  info->name = found->name;
  info->tensor = found->tensor;
  info->tensor.data = NULL, info->tensor.strides = NULL;
  info->tensor.shape = table->shape;
  memcpy(table->shape, found->tensor.shape, (size_t)found->tensor.rank * sizeof *table->shape);
  table->shape[0] = 0;
  info->descr = found->descr, info->type_name = found->type_name;
  info->row_bytes = row_bytes;
}

/* ---- where the rows lie */

/* Opened a second time by its name, a file may be another one by now. */
static gather_status check_same(const gather_source *source, const gather_map *map, gather_error *error) {
  struct stat about;
  if (fstat(source->fd, &about) != 0)
    return gather_fail_system(error, source->path, errno, "find out which file it is");
  if ((uint64_t)about.st_dev == map->device && (uint64_t)about.st_ino == map->inode && source->size >= map->size)
    return GATHER_OK;
  return gather_fail_file(error, GATHER_IO_ERROR, source->path, -1, "it was replaced or cut while it was opened");
}

static gather_status find_source(gather_table *table, const char *path, const gather_map *map, int32_t *number,
                                 gather_error *error) {
  const bool reads_maps = table->options.engine == GATHER_ENGINE_AUTO || table->options.engine == GATHER_ENGINE_MMAP;
  gather_source_wishes wishes = {.direct = table->engine != GATHER_ENGINE_MMAP && !table->options.buffered,
                                 .mapped = !table->options.keep_signals && reads_maps};
  for (*number = 0; *number < table->source_count; ++*number)
    if (strcmp(table->sources[*number].path, path) == 0) return check_same(&table->sources[*number], map, error);
  gather_source *made = &table->sources[*number];
  GATHER_TRY(gather_source_open(path, &wishes, made, error));
  table->source_count++;
  return check_same(made, map, error);
}

static gather_status add_part(gather_table *table, const gather_file *file, const gather_file_tensor *found,
                              gather_error *error) {
  gather_part *part = &table->parts[table->part_count];
  const gather_map *map;
  int64_t all;
  *part = (gather_part){.path = file->name, .offset = found->offset, .first = table->shape[0]};
  part->rows = found->tensor.shape[0];
  if (!gather_add(part->first, part->rows, &table->shape[0]) ||
      gather_tensor_check(&table->info.tensor, NULL) != GATHER_OK ||
      !gather_mul(table->shape[0], table->info.row_bytes, &all))
    return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "all parts together do not fit in 63 bits");
  table->part_count++;
  if (part->rows == 0 || table->info.row_bytes == 0) return GATHER_OK;
  const char *path = gather_file_place(file, found, &map, &part->offset);
  if (!path) {
    part->memory = found->tensor.data;
    part->path = "", part->offset = 0;
    return GATHER_OK;
  }
  part->path = path;
  return find_source(table, path, map, &part->source, error);
}

static gather_status add_tensor(gather_table *table, const gather_file *file, const gather_file_tensor *found,
                                gather_error *error) {
  int64_t row_bytes;
  GATHER_TRY(check_rows(file->name, found, &row_bytes, error));
  if (table->part_count == 0)
    describe(table, file, found, row_bytes);
  else
    GATHER_TRY(check_like_first(table, file->name, found, error));
  return add_part(table, file, found, error);
}

static gather_status add_path(gather_table *table, const char *path, gather_error *error) {
  char *file_name;
  const char *name;
  gather_file **file = &table->files[table->file_count];
  const gather_file_tensor *found;
  GATHER_TRY(split_path(path, &file_name, &name, error));
  gather_status status = table->options.raw ? open_raw(file_name, table->options.raw, file, error)
                                            : gather_file_open(file_name, file, error);
  gather_free(file_name);
  GATHER_TRY(status);
  table->file_count++;
  GATHER_TRY(gather_file_find(*file, name, &found, error));
  return add_tensor(table, *file, found, error);
}

/* ---- the whole */

static gather_status read_options(const gather_table_options *given, gather_table_options *options,
                                  gather_error *error) {
  enum { MOST_DEPTH = 4096 };
  *options = given ? *given : (gather_table_options)GATHER_TABLE_OPTIONS_INIT;
  if (options->size < sizeof *options)
    return gather_fail(error, GATHER_USAGE, "options.size is %zu; start from GATHER_TABLE_OPTIONS_INIT", options->size);
  if (!gather_engine_name(options->engine))
    return gather_fail(error, GATHER_USAGE, "no engine has the number %d", (int)options->engine);
  if (options->depth < 0 || options->depth > MOST_DEPTH)
    return gather_fail(error, GATHER_USAGE, "a depth of %d reads; 1 to %d are possible, 0 chooses", (int)options->depth,
                       (int)MOST_DEPTH);
  if (options->memory_bytes < 0 || options->cache_bytes < -1)
    return gather_fail(error, GATHER_USAGE, "a ceiling or a cache of less than no bytes");
  if (options->keep_signals && options->engine == GATHER_ENGINE_MMAP)
    return gather_fail(error, GATHER_USAGE, "the engine mmap reads through a mapping, which keep_signals forbids");
  return GATHER_OK;
}

static gather_status make_residency(gather_table *table, gather_error *error) {
  bool mapped = false;
  table->map_use.most_bytes = table->budget.map_bytes;
  if (table->options.engine != GATHER_ENGINE_AUTO && table->options.engine != GATHER_ENGINE_MMAP) return GATHER_OK;
  table->residency = gather_alloc((int64_t)sizeof *table->residency * (table->source_count + 1));
  if (!table->residency) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  bool pages = table->engine == GATHER_ENGINE_MMAP && table->budget.ceiling == 0;
  for (int32_t i = 0; i < table->source_count; i++) {
    if (!gather_residency_open(&table->residency[i], &table->sources[i], &table->map_use, pages))
      return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
    mapped = mapped || table->sources[i].map;
  }
  return mapped ? gather_guard_install(error) : GATHER_OK;
}

static gather_status open_all(gather_table *table, const char *const *paths, int32_t count, gather_error *error) {
  table->files = gather_alloc(count * (int64_t)sizeof *table->files);
  table->parts = gather_alloc(count * (int64_t)sizeof *table->parts);
  table->sources = gather_alloc(count * (int64_t)sizeof *table->sources);
  if (!table->files || !table->parts || !table->sources)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  table->engine = gather_engine_choose(&table->options, table->why, sizeof table->why);
  GATHER_TRY(gather_budget_make(&table->options, table->engine, &table->budget, error));
  for (int32_t i = 0; i < count; i++) {
    if (!paths[i]) return gather_fail(error, GATHER_USAGE, "gather_table_open: a path is NULL");
    GATHER_TRY(add_path(table, paths[i], error));
  }
  for (int32_t i = 0; i < table->source_count; i++) /* devices of very long blocks */
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
  (void)pthread_mutex_init(&made->lock, NULL);
  (void)pthread_cond_init(&made->changed, NULL);
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
    gather_source_close(&table->sources[i]);
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

bool gather_table_part_at(const gather_table *table, int32_t i, gather_table_part *part) {
  if (i < 0 || i >= table->part_count) return false;
  const gather_part *from = &table->parts[i];
  *part = (gather_table_part){from->path, from->offset, from->first, from->rows};
  return true;
}

const gather_part *gather_table_find_part(const gather_table *table, int64_t row) {
  int32_t low = 0, high = table->part_count - 1;
  while (low < high) {
    int32_t middle = low + (high - low + 1) / 2;
    if (table->parts[middle].first <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return &table->parts[low];
}
