/* SPDX-License-Identifier: MIT
 *
 * table.c: an open table: created, its parts added (tensors whose rows can be read one by one, each in its file), completed, closed. open.c
 * opens it by paths.
 */
#define _POSIX_C_SOURCE 200809L
#include "table/table_decode.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "table/system/table_system.h"

/* ---- parts: what rows are */

/* Fails if its rows cannot be read one by one; sets their length. */
static gather_status check_rows(const gather_stored *stored, int64_t *row_bytes, gather_error *error) {
  const char *file = stored->file;
  const gather_tensor *tensor = &stored->tensor;
  const gather_type_info *type = gather_type_row(tensor->type);
  int64_t len;
  if (tensor->rank == 0) return gather_fail_file(error, GATHER_RANK_MISMATCH, file, -1, "a tensor of rank 0 has no rows");
  if (type->kind == GATHER_KIND_STRING)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file, -1, "rows of strings have no fixed length");
  if (!gather_tensor_is_row_major(tensor)) return gather_fail_file(error, GATHER_UNSUPPORTED, file, -1, "its rows are not contiguous");
  if (!gather_shape_len(tensor->rank - 1, tensor->shape + 1, &len) || !gather_tensor_len_bytes(tensor, len, row_bytes))
    return gather_fail_file(error, GATHER_OVERFLOW, file, -1, "the length of a row does not fit in 63 bits");
  bool whole = !gather_type_is_packed(type) || (len * type->bits % 8 == 0 && len % type->group_len == 0);
  if (!whole || tensor->packed_offset != 0)
    return gather_fail_file(error, GATHER_UNSUPPORTED, file, -1, "rows of %" PRId64 " elements of %s do not end on a whole byte", len,
                            type->name);
  return GATHER_OK;
}

static gather_status check_like_first(const gather_table *table, const gather_stored *stored, gather_error *error) {
  const char *file = stored->file;
  const gather_tensor *first = &table->info.tensor, *next = &stored->tensor;
  char a[200], b[200];
  bool swapped = ((first->flags ^ next->flags) & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  const bool longer = first->type == GATHER_TYPE_OPAQUE && first->item_bytes != next->item_bytes; /* others ignore it */
  if (first->type != next->type || longer || swapped)
    return gather_fail_file(error, GATHER_TYPE_MISMATCH, file, -1, "its element type is %.60s%s, that of the first part is %.60s",
                            stored->type_name, swapped ? " in the other byte order" : "", table->info.type_name);
  if (first->rank == next->rank && memcmp(first->shape + 1, next->shape + 1, (size_t)(first->rank - 1) * sizeof *first->shape) == 0)
    return GATHER_OK;
  return gather_fail_file(error, GATHER_SHAPE_MISMATCH, file, -1, "its rows have the shape %s, those of the first part %s",
                          gather_shape_text(a, sizeof a, next->rank - 1, next->shape + 1),
                          gather_shape_text(b, sizeof b, first->rank - 1, first->shape + 1));
}

static void describe(gather_table *table, const gather_stored *stored, int64_t row_bytes) {
  gather_table_info *info = &table->info;
  info->format = stored->format;
  info->name = stored->name;
  info->tensor = stored->tensor;
  info->tensor.data = NULL, info->tensor.strides = NULL;
  info->tensor.shape = table->shape;
  memcpy(table->shape, stored->tensor.shape, (size_t)stored->tensor.rank * sizeof *table->shape);
  table->shape[0] = 0;
  info->descr = stored->descr, info->type_name = stored->type_name;
  info->row_bytes = row_bytes;
}

gather_status gather_table_set_rows(gather_table *table, bool first, const gather_stored *stored, int64_t row_bytes, gather_error *error) {
  if (!first) return check_like_first(table, stored, error);
  describe(table, stored, row_bytes);
  return GATHER_OK;
}

/* ---- where its rows are */

/* The file was opened by name again and may have been replaced. */
static gather_status check_same(const gather_table_source *source, const gather_stored *stored, gather_error *error) {
  struct stat about;
  if (fstat(source->fd, &about) != 0) return gather_fail_system(error, source->path, errno, "get its device and inode");
  if ((uint64_t)about.st_dev == stored->device && (uint64_t)about.st_ino == stored->inode && source->size >= stored->size) return GATHER_OK;
  return gather_fail_file(error, GATHER_IO_ERROR, source->path, -1, "it was replaced or truncated while it was opened");
}

/* Opens a further file. All that are on other machines are one device, which reads are counted by. */
static gather_status add_source(gather_table *table, const char *path, const gather_table_source_wishes *wishes, gather_error *error) {
  gather_table_source *made = &table->sources[table->source_count];
  GATHER_TRY(gather_table_source_open(path, wishes, made, error));
  table->source_count++;
  for (made->device = 0; made->device < table->device_count; made->device++)
    if (table->devices[made->device].number == made->device_number) return GATHER_OK;
  table->devices[table->device_count++].number = made->device_number;
  return GATHER_OK;
}

/* A file on another machine. It is not opened again: requests name its version. */
static gather_status find_remote(gather_table *table, const gather_stored *stored, int32_t *number, gather_error *error) {
  const gather_table_source_wishes wishes = {.object = stored->object, .object_bytes = stored->size};
  for (*number = 0; *number < table->source_count; ++*number)
    if (table->sources[*number].object == stored->object) return GATHER_OK;
  return add_source(table, stored->path, &wishes, error);
}

/* Whether resident rows are copied from mappings of local files. */
static bool reads_maps(const gather_table *table) {
  return table->options.engine == GATHER_ENGINE_AUTO || table->options.engine == GATHER_ENGINE_MMAP;
}

static gather_status find_source(gather_table *table, const gather_stored *stored, int32_t *number, gather_error *error) {
  const char *path = stored->path;
  if (stored->object) return find_remote(table, stored, number, error);
  const gather_table_source_wishes wishes = {.direct = table->engine != GATHER_ENGINE_MMAP && !table->options.buffered,
                                             .mapped = !table->options.keep_signals && reads_maps(table)};
  for (*number = 0; *number < table->source_count; ++*number)
    if (strcmp(table->sources[*number].path, path) == 0) return check_same(&table->sources[*number], stored, error);
  GATHER_TRY(add_source(table, path, &wishes, error));
  return check_same(&table->sources[*number], stored, error);
}

/* Chunks are read in a way of their own: all parts are in chunks, or none is. */
static gather_status check_chunks(const gather_table *table, const gather_stored *stored, gather_error *error) {
  if ((stored->chunks != NULL) == (table->chunked != NULL)) return GATHER_OK;
  return gather_fail_file(
      error, GATHER_UNSUPPORTED, stored->file, -1,
      "its elements are %sin chunks, and those of another part are %s; all parts of a table must be stored the same way",
      stored->chunks ? "" : "not ", stored->chunks ? "not" : "in chunks");
}

static gather_status add_part(gather_table *table, const gather_stored *stored, gather_error *error) {
  gather_part *part = &table->parts[table->part_count];
  int64_t all;
  *part = (gather_part){.path = stored->path, .offset = stored->offset, .first = table->shape[0]};
  part->rows = stored->tensor.shape[0];
  if (!gather_add(part->first, part->rows, &table->shape[0]) || gather_tensor_check(&table->info.tensor, NULL) != GATHER_OK ||
      !gather_mul(table->shape[0], table->info.row_bytes, &all))
    return gather_fail_file(error, GATHER_OVERFLOW, stored->file, -1, "the row count of all parts does not fit in 63 bits");
  table->part_count++;
  if (part->rows == 0 || table->info.row_bytes == 0) return GATHER_OK;
  if (part->first > 0) GATHER_TRY(check_chunks(table, stored, error));
  if (stored->chunks) {
    part->chunks = stored->chunks;
    GATHER_TRY(table->chunker->add(table, part, error));
    part->offset = 0;
    if (!part->path) part->path = "";
    return stored->path ? find_source(table, stored, &part->source, error) : GATHER_OK;
  }
  if (!stored->path) {
    part->memory = stored->tensor.data;
    part->path = "", part->offset = 0;
    return GATHER_OK;
  }
  return find_source(table, stored, &part->source, error);
}

/* Reserves space for `more` parts. */
static gather_status make_room(gather_table *table, int64_t more, gather_error *error) {
  int64_t need = table->part_count + more, room = 2 * (int64_t)table->part_count;
  if (need <= table->part_room) return GATHER_OK;
  if (room < need) room = need;
  gather_part *made = room > INT32_MAX ? NULL : gather_alloc(room * (int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the parts of the table");
  if (table->part_count > 0) memcpy(made, table->parts, (size_t)table->part_count * sizeof *made);
  gather_free(table->parts);
  table->parts = made;
  table->part_room = (int32_t)room;
  return GATHER_OK;
}

gather_status gather_table_add(gather_table *table, const gather_stored *stored, int64_t more, gather_error *error) {
  int64_t row_bytes;
  GATHER_TRY(make_room(table, 1 + more, error));
  GATHER_TRY(check_rows(stored, &row_bytes, error));
  GATHER_TRY(gather_table_set_rows(table, table->part_count == 0, stored, row_bytes, error));
  return add_part(table, stored, error);
}

gather_status gather_table_add_bytes(gather_table *table, const gather_stored *stored, int64_t rows, int64_t row_bytes,
                                     gather_error *error) {
  const int64_t shape[2] = {rows, row_bytes};
  gather_stored bytes = *stored;
  bytes.tensor = (gather_tensor){.data = stored->tensor.data, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = shape};
  return gather_table_add(table, &bytes, 0, error);
}

/* ---- the life of a table: created without parts, completed after the last one, closed */

static gather_status make_residency(gather_table *table, gather_error *error) {
  bool mapped = false;
  table->map_use.most_bytes = table->budget.map_bytes;
  if (table->client || !reads_maps(table)) return GATHER_OK;
  table->residency = gather_alloc((int64_t)sizeof *table->residency * (table->source_count + 1));
  if (!table->residency) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
  bool pages = table->budget.ceiling == 0 && !table->options.keep_signals; /* under a limit, all that is mapped must be counted */
  for (int32_t i = 0; i < table->source_count; i++) {
    if (!gather_residency_open(&table->residency[i], &table->sources[i], &table->map_use, pages))
      return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
    mapped = mapped || table->sources[i].map;
  }
  return mapped ? gather_guard_install(error) : GATHER_OK;
}

static gather_status allocate(gather_table *table, int32_t count, gather_error *error) {
  table->kept = gather_alloc(count * (int64_t)sizeof *table->kept);
  table->sources = gather_alloc(count * (int64_t)sizeof *table->sources);
  if (!table->kept || !table->sources) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
  table->devices = gather_alloc(count * (int64_t)sizeof *table->devices);
  if (!table->devices) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
  gather_engine engine;
  GATHER_TRY(gather_engine_choose(table->options.engine, table->client != NULL, &engine, table->why, sizeof table->why, error));
  table->engine = engine;
  return gather_table_divide_memory(table, error);
}

gather_status gather_table_create(const gather_table_options *options, struct gather_remote_client *client,
                                  const gather_table_network *network, int32_t count, gather_table **table, gather_error *error) {
  gather_table *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
  gather_table_enter(made); /* nobody has entered it yet: this makes its locks and lists */
  made->options = *options;
  made->client = client;
  made->network = network;
  made->gap_given = -1;
  if (client) network->begin(made);
  gather_status status = allocate(made, count, error);
  if (status == GATHER_OK)
    *table = made;
  else
    gather_table_close(made);
  return status;
}

gather_status gather_table_complete(gather_table *table, gather_error *error) {
  GATHER_TRY(gather_table_divide_memory(table, error));
  table->options.remote = NULL; /* the caller's */
  table->info.rows = table->shape[0];
  table->info.parts = table->part_count;
  table->cache = gather_cache_create(table->info.row_bytes, table->info.rows, table->budget.cache_bytes);
  return make_residency(table, error);
}

/* The tables that a table with decoded rows reads, and its scratch memory. */
static void close_decoding(gather_decoded *decoding) {
  if (!decoding) return;
  gather_scratch_clear(decoding);
  for (int32_t i = 0; i < decoding->count; i++) {
    gather_piece *piece = &decoding->pieces[i];
    gather_table_close(piece->data);
    for (int role = 0; role < GATHER_SIDE_COUNT; role++) {
      gather_table_close(piece->side[role].table);
      gather_free(piece->side[role].constant);
    }
  }
  gather_free(decoding->pieces);
  gather_free(decoding);
}

void gather_table_close(gather_table *table) {
  if (!table) return;
  gather_table_enter(table);
  gather_table_end_jobs(table);
  gather_worker_destroy_all(table);
  close_decoding(table->decoding);
  if (table->chunked) table->chunker->close(table);
  for (int32_t i = 0; i < table->source_count; i++) {
    if (table->residency) gather_residency_close(&table->residency[i]);
    gather_table_source_close(&table->sources[i]);
  }
  for (int32_t i = 0; i < table->kept_count; i++) table->keeper->close(table->kept[i]);
  if (table->client) table->network->end(table);
  gather_cache_destroy(table->cache);
  gather_free(table->residency);
  gather_free(table->sources);
  gather_free(table->devices);
  gather_free(table->parts);
  gather_free((void *)table->kept);
  (void)pthread_cond_destroy(&table->changed);
  (void)pthread_mutex_destroy(&table->lock);
  gather_free(table);
}

/* ---- facts about its parts */

bool gather_table_reads(const gather_table *table, const char *path) {
  bool found = false;
  for (int32_t i = 0; table && path && i < table->kept_count && !found; i++) found = table->keeper->reads(table->kept[i], path);
  return found;
}

bool gather_table_part_at(const gather_table *table, int32_t i, gather_table_part *part) {
  if (i < 0 || i >= table->info.parts) return false;
  if (table->decoding) {
    const gather_piece *piece = &table->decoding->pieces[i];
    if (!gather_table_part_at(piece->data, 0, part)) return false;
    part->first = piece->first, part->rows = piece->rows;
    if (piece->by_columns) part->offset = -1;
    return true;
  }
  const gather_part *from = &table->parts[i];
  *part = (gather_table_part){from->path, from->chunks ? -1 : from->offset, from->first, from->rows};
  return true;
}

const gather_table_info *gather_table_describe(const gather_table *table) { return &table->info; }
