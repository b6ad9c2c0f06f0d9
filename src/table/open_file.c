/* SPDX-License-Identifier: MIT
 *
 * open_file.c: opens a table by its paths: which file of which format and which tensor each path is, here or on another machine, and
 * whether its rows are taken as they are, decoded, or assembled from elements.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "table/chunk/chunk.h"
#include "table/layout_file.h"
#include "table/open.h"
#include "table/table_remote.h"

/* ---- names */

/* A name is a URL if the caller allows URLs. */
static bool is_url(const gather_table_options *options, const char *path) { return options->remote && gather_remote_is_url(path); }

/* The file of a path, and the tensor behind it in the same memory, which the caller frees. */
static gather_status split(const gather_table *table, const char *path, char **file, const char **name, gather_error *error) {
  const char *tensor = table->options.tensor;
  const size_t len = strlen(path), more = tensor ? strlen(tensor) + 1 : 0;
  *file = gather_alloc((int64_t)(len + 1 + more));
  if (!*file) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
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

/* All parts are on other machines, or none is: one engine reads them. */
static gather_status check_place(const gather_table *table, const char *path, gather_error *error) {
  if (is_url(&table->options, path) == (table->client != NULL)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "the parts of one table are all URLs or all local files");
}

/* ---- rows as they are */

/* The chunks of a name: a column in several record batches. If a file has only one such column, no name is needed. */
static const gather_file_pieces_row *find_pieces(const gather_file *file, const char *name) {
  bool only = name[0] == '\0' && file->pieces_len == 1 && file->pieces[0].count == file->len;
  for (int64_t i = 0; i < file->pieces_len; i++)
    if (only || strcmp(file->pieces[i].name, name) == 0) return &file->pieces[i];
  return NULL;
}

/* more: as many parts of this file follow. */
static gather_status add_tensor(gather_table *table, const gather_file *file, const gather_file_tensor *found, int64_t more,
                                gather_error *error) {
  gather_stored stored;
  GATHER_TRY(gather_file_rows_check(found, error));
  gather_stored_find(file, found, &stored);
  return gather_table_add(table, &stored, more, error);
}

/* Appends the rows of the tensor `name` of a file ("" = its only tensor). */
static gather_status add_rows(gather_table *table, const gather_file *file, const char *name, gather_error *error) {
  const gather_file_pieces_row *pieces = find_pieces(file, name);
  const gather_file_tensor *found;
  if (!pieces) {
    GATHER_TRY(gather_file_find(file, name, &found, error));
    return add_tensor(table, file, found, 0, error);
  }
  for (int64_t i = 0; i < pieces->count; i++)
    GATHER_TRY(add_tensor(table, file, gather_file_at(file, pieces->first + i), pieces->count - 1 - i, error));
  if (table->kept_count == 1) table->info.name = pieces->name;
  return GATHER_OK;
}

/* ---- decoded rows */

static gather_status add_decoded(gather_table *table, const gather_file *file, const char *name, gather_error *error) {
  const gather_file_tensor *tensor;
  gather_layout layout;
  GATHER_TRY(gather_file_find(file, name, &tensor, error));
  GATHER_TRY(gather_layout_find(file, tensor, table->options.codec, &layout, error));
  return gather_table_add_decoded(table, &layout, error);
}

/* ---- parts in Fortran order, whose rows are not contiguous */

/* Such a table is read as a table of its elements (a piece of table_decode.h without a decoder): the engine, the cache and the memory limit
 * are those of any other table. */

/* Whether the elements have no gaps, the first dimension innermost. */
static bool is_column_major(const gather_tensor *tensor, int64_t item_bytes) {
  int64_t stride = item_bytes; /* in bytes */
  if (!tensor->strides || gather_tensor_is_row_major(tensor) || item_bytes < 1) return false;
  for (int32_t d = 0; d < tensor->rank; d++) {
    if (tensor->strides[d] != stride) return false;
    if (!gather_mul(stride, tensor->shape[d], &stride)) return false;
  }
  return true;
}

static int64_t item_bytes_of(const gather_tensor *tensor) {
  const gather_type_info *type = gather_type_row(tensor->type);
  if (type->kind == GATHER_KIND_STRING || gather_type_is_packed(type)) return 0;
  return type->kind == GATHER_KIND_OPAQUE ? tensor->item_bytes : type->bits / 8;
}

/* Whether a tensor is to be added by add_columns: it is in Fortran order, or an earlier part is. */
static bool wants_columns(const gather_table *table, const gather_file *file, const char *name) {
  const gather_file_tensor *found;
  if (table->decoding) return true;
  return gather_file_find(file, name, &found, NULL) == GATHER_OK && gather_file_rows_check(found, NULL) == GATHER_OK &&
         is_column_major(&found->tensor, item_bytes_of(&found->tensor));
}

static gather_status read_layout(const gather_file *file, const gather_file_tensor *found, gather_layout *layout, gather_error *error) {
  const gather_tensor *tensor = &found->tensor;
  const int64_t item_bytes = item_bytes_of(tensor);
  GATHER_TRY(gather_file_rows_check(found, error));
  if (tensor->rank == 0) return gather_fail_file(error, GATHER_RANK_MISMATCH, file->name, -1, "a tensor of rank 0 has no rows");
  if (item_bytes == 0 || (!gather_tensor_is_row_major(tensor) && !is_column_major(tensor, item_bytes)))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "its rows have no elements of whole bytes");
  *layout = (gather_layout){.from = file, .rank = tensor->rank};
  gather_stored_find(file, found, &layout->data);
  memcpy(layout->shape, tensor->shape, (size_t)tensor->rank * sizeof *layout->shape);
  if (gather_shape_len(tensor->rank - 1, tensor->shape + 1, &layout->row_len) &&
      gather_mul(layout->row_len, item_bytes, &layout->row_bytes))
    return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "the length of a row does not fit in 63 bits");
}

static gather_status add_columns(gather_table *table, const gather_file *file, const char *name, gather_error *error) {
  const gather_file_tensor *found;
  gather_layout layout;
  GATHER_TRY(gather_file_find(file, name, &found, error));
  GATHER_TRY(read_layout(file, found, &layout, error));
  return gather_table_add_elements(table, &layout, error);
}

/* Adds a tensor in Fortran order. The parts before it were added as rows: they are added again. */
static gather_status add_all_columns(gather_table *table, const char *const *paths, const gather_file *file, const char *name,
                                     gather_error *error) {
  const int32_t before = table->decoding ? 0 : table->kept_count - 1;
  table->part_count = 0;
  for (int32_t i = 0; i < before; i++) {
    char *file_name;
    const char *earlier;
    GATHER_TRY(split(table, paths[i], &file_name, &earlier, error));
    gather_free(file_name);
    GATHER_TRY(add_columns(table, table->kept[i], earlier, error));
  }
  return add_columns(table, file, name, error);
}

/* ---- files */

static void close_file(void *kept) { gather_file_close(kept); }

static bool reads(const void *kept, const char *path) { return gather_file_reads(kept, path); }

static bool has_more(const void *kept, int32_t parts) { return gather_file_len(kept) != parts; }

static const gather_table_keeper KEEPER = {.close = close_file, .reads = reads, .has_more = has_more};

static gather_status open_file(const gather_table *table, const char *path, int32_t number, gather_file **file, gather_error *error) {
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  source.no_links = table->options.no_links;
  if (!table->client) return gather_file_open(&source, file, error);
  if (table->options.raw) source.raw = gather_table_raw_of(table, number);
  return gather_file_open_by(table->client, &source, file, error);
}

static gather_status add_file(gather_table *table, const char *const *paths, int32_t number, const char *path, const char *name,
                              gather_error *error) {
  gather_file *file;
  GATHER_TRY(open_file(table, path, number, &file, error));
  table->kept[table->kept_count++] = file;
  table->chunker = &gather_table_chunks;
  return table->options.decode_as           ? add_decoded(table, file, name, error)
         : wants_columns(table, file, name) ? add_all_columns(table, paths, file, name, error)
                                            : add_rows(table, file, name, error);
}

static gather_status add(gather_table *table, const char *const *paths, int32_t number, gather_error *error) {
  char *path;
  const char *name;
  GATHER_TRY(check_place(table, paths[number], error));
  GATHER_TRY(split(table, paths[number], &path, &name, error));
  const gather_status status = add_file(table, paths, number, path, name, error);
  gather_free(path); /* the name may be in it */
  return status;
}

/* A given number of connections is wanted soon: they are opened early. */
static gather_status connect(const gather_table_options *options, const char *path, gather_remote_client **client, gather_error *error) {
  if (!is_url(options, path)) return GATHER_OK;
  GATHER_TRY(gather_remote_client_create(options->remote, client, error));
  if (options->remote->connections > 1) gather_remote_client_expect_all(*client);
  return GATHER_OK;
}

static const gather_table_opener FILES = {
    .keeper = &KEEPER, .add = add, .connect = connect, .disconnect = gather_remote_client_release, .network = &gather_table_remote};

/* ---- raw bytes of local files */

/* Giving a type and a shape for a file that has its own is probably a mistake. */
static gather_status check_raw(const char *path, const char *name, const gather_raw *raw, gather_error *error) {
  static const int64_t NOTHING[] = {0};
  const gather_raw none = {.type = "uint8", .rank = 1, .shape = NOTHING, .as_is = raw->as_is};
  const gather_file_tensor *found;
  gather_file *file;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  source.raw = &none;
  GATHER_TRY(gather_file_open(&source, &file, error));
  const gather_status status = gather_file_find(file, name, &found, error);
  gather_file_close(file);
  return status;
}

static gather_status add_raw(gather_table *table, const char *const *paths, int32_t number, gather_error *error) {
  char *path;
  const char *name;
  GATHER_TRY(check_place(table, paths[number], error));
  GATHER_TRY(split(table, paths[number], &path, &name, error));
  gather_status status = check_raw(path, name, gather_table_raw_of(table, number), error);
  if (status == GATHER_OK) status = gather_table_add_raw(table, path, number, error);
  gather_free(path);
  return status;
}

/* ---- the whole */

static gather_status choose(const gather_table_options *options, const char *path, gather_table_opener *opener, gather_error *error) {
  (void)error;
  *opener = FILES;
  if (!options->raw || is_url(options, path)) return GATHER_OK;
  *opener = gather_table_raw;
  opener->add = add_raw;
  return GATHER_OK;
}

gather_status gather_table_open_parts(const char *const *paths, int32_t count, const gather_table_options *options, gather_table **table,
                                      gather_error *error) {
  return gather_table_open_by(choose, paths, count, options, table, error);
}

gather_status gather_table_open(const char *path, const gather_table_options *options, gather_table **table, gather_error *error) {
  return gather_table_open_by(choose, &path, 1, options, table, error);
}
