/* SPDX-License-Identifier: MIT
 *
 * open.c: opens a table by its paths: which file and which tensor each path is, whether its rows are taken as they are (table.c), decoded,
 * or assembled from elements (table_decode.c), the tables that are read for the latter, and the division of the memory among them.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "io/format/format.h"
#include "table/table_decode.h"

enum {
  BLOCK_BYTES = 1 << 20,         /* of scratch memory: many reads at a time, and it stays in a cache */
  COLUMNS_BLOCK_BYTES = 4 << 20, /* of rows in Fortran order: the more, the more elements of a page are read together */
  REMOTE_BLOCK_BYTES = 32 << 20, /* of rows on other machines: each block waits for its requests */
  MOST_ROWS = 16384,
  SCRATCH_SHARE = 4, /* of the memory limit */
  DATA_WEIGHT = 3    /* of the rest, the quantised rows get so many times the share of a side tensor */
};

/* ---- parts with decoded rows */

/* The first part decides what rows are. */
static gather_status describe_decoded(gather_table *table, const gather_layout *layout, gather_error *error) {
  gather_table_info *info = &table->info;
  info->format = gather_file_format(layout->file);
  info->name = layout->data->name;
  info->codec = layout->codec->name;
  info->type_name = gather_type_get(table->options.decode_as)->name;
  info->tensor = (gather_tensor){.type = table->options.decode_as, .rank = layout->rank, .shape = table->shape};
  memcpy(table->shape, layout->shape, (size_t)layout->rank * sizeof *table->shape);
  table->shape[0] = 0;
  if (gather_tensor_len_bytes(&info->tensor, layout->row_len, &info->row_bytes)) return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, layout->file->name, -1,
                          "the length of a decoded row does not fit in 63 bits");
}

static gather_status check_like_first(const gather_table *table, const gather_layout *layout, gather_error *error) {
  const gather_tensor *first = &table->info.tensor;
  char a[200], b[200];
  if (first->rank == layout->rank &&
      memcmp(first->shape + 1, layout->shape + 1, (size_t)(first->rank - 1) * sizeof *first->shape) == 0)
    return GATHER_OK;
  return gather_fail_file(error, GATHER_SHAPE_MISMATCH, layout->file->name, -1,
                          "its decoded rows have the shape %s, those of the first part %s",
                          gather_shape_text(a, sizeof a, layout->rank - 1, layout->shape + 1),
                          gather_shape_text(b, sizeof b, first->rank - 1, first->shape + 1));
}

/* Adds a part that is described by `layout`. */
static gather_status add_piece(gather_table *table, const gather_layout *layout, gather_error *error) {
  gather_decoded *decoding = table->decoding;
  gather_piece *made = gather_alloc((decoding->count + 1) * (int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table of so many parts");
  if (decoding->count > 0) memcpy(made, decoding->pieces, (size_t)decoding->count * sizeof *made);
  gather_free(decoding->pieces);
  decoding->pieces = made;
  gather_piece *piece = &made[decoding->count++];
  piece->layout = *layout;
  piece->first = table->shape[0];
  piece->rows = layout->shape[0];
  int64_t all;
  if (gather_add(piece->first, piece->rows, &table->shape[0]) &&
      gather_tensor_check(&table->info.tensor, NULL) == GATHER_OK &&
      gather_mul(table->shape[0], table->info.row_bytes, &all))
    return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, layout->file->name, -1,
                          "the table is too large: its bytes do not fit in 63 bits");
}

/* Adds a quantised tensor of an open file as the next part. Returns as gather_layout_find; GATHER_SHAPE_MISMATCH (other rows than the
 * first part). */
static gather_status add_decoded(gather_table *table, const gather_file *file, const char *name, gather_error *error) {
  const gather_file_tensor *tensor;
  gather_layout layout;
  GATHER_TRY(gather_file_find(file, name, &tensor, error));
  GATHER_TRY(gather_layout_find(file, tensor, table->options.codec, &layout, error));
  if (!table->decoding) table->decoding = gather_alloc((int64_t)sizeof *table->decoding);
  if (!table->decoding) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  if (table->decoding->count == 0)
    GATHER_TRY(describe_decoded(table, &layout, error));
  else
    GATHER_TRY(check_like_first(table, &layout, error));
  return add_piece(table, &layout, error);
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

static gather_status read_layout(const gather_file *file, const gather_file_tensor *found, gather_layout *layout,
                                 gather_error *error) {
  const gather_tensor *tensor = &found->tensor;
  const int64_t item_bytes = item_bytes_of(tensor);
  GATHER_TRY(gather_file_rows_check(found, error));
  if (tensor->rank == 0)
    return gather_fail_file(error, GATHER_RANK_MISMATCH, file->name, -1, "a tensor of rank 0 has no rows");
  if (item_bytes == 0 || (!gather_tensor_is_row_major(tensor) && !is_column_major(tensor, item_bytes)))
    return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "its rows have no elements of whole bytes");
  *layout = (gather_layout){.file = file, .data = found, .rank = tensor->rank};
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
  const bool first = !table->decoding;
  if (first) {
    table->decoding = gather_alloc((int64_t)sizeof *table->decoding);
    if (!table->decoding) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  }
  GATHER_TRY(gather_table_set_rows(table, first, file, found, layout.row_bytes, error));
  GATHER_TRY(add_piece(table, &layout, error));
  gather_piece *piece = &table->decoding->pieces[table->decoding->count - 1];
  piece->is_elements = true;
  piece->by_columns = !gather_tensor_is_row_major(&found->tensor);
  return GATHER_OK;
}

/* ---- the tables that are read for decoded rows and columns, and what is in memory */

/* Options of the tables that are read: those of the whole, with less memory. */
typedef struct shares {
  gather_table_options data, side;
} shares;

static gather_status open_rows(const gather_table_options *options, gather_remote_client *client,
                               const gather_piece *piece, const gather_file_tensor *tensor, int64_t rows,
                               int64_t row_bytes, gather_table **table, gather_error *error) {
  GATHER_TRY(gather_table_create(options, client, 1, table, error));
  (*table)->rows_before = piece->first;
  GATHER_TRY(gather_table_add_bytes(*table, piece->layout.file, tensor, rows, row_bytes, error));
  return gather_table_complete(*table, error);
}

/* The elements of a side tensor, which are downloaded if they are on another machine. */
static gather_status find_elements(const gather_file *file, const gather_file_tensor *tensor, const void **elements,
                                   gather_error *error) {
  const gather_map *map;
  int64_t at;
  *elements = tensor->tensor.data;
  if (tensor->bytes == 0 || !gather_file_is_remote(tensor)) return GATHER_OK;
  (void)gather_file_place(file, tensor, &map, &at);
  GATHER_TRY(gather_map_fetch(map, at, tensor->bytes, error));
  *elements = map->bytes + at;
  return GATHER_OK;
}

/* A whole side tensor in memory, in this machine's byte order. */
static gather_status load(gather_table *table, const gather_file *file, const gather_file_tensor *tensor,
                          gather_decode_side *side, gather_error *error) {
  const void *elements;
  const int64_t unit = gather_type_get(tensor->tensor.type)->bits / 8;
  if (table->budget.ceiling > 0 && tensor->bytes > table->budget.ceiling / SCRATCH_SHARE)
    return gather_fail(error, GATHER_USAGE,
                       "a memory limit of %" PRId64 " bytes is too small; the %" PRId64
                       " bytes of the side tensor '%.100s' must be in memory",
                       table->budget.ceiling, tensor->bytes, tensor->name);
  GATHER_TRY(find_elements(file, tensor, &elements, error));
  side->constant = gather_alloc(tensor->bytes > 0 ? tensor->bytes : 1);
  if (!side->constant) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for side tensors");
  if (tensor->bytes > 0) memcpy(side->constant, elements, (size_t)tensor->bytes);
  if (tensor->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) gather_swap(side->constant, tensor->bytes, unit);
  gather_table_count_memory(table, tensor->bytes);
  side->tensor = (gather_tensor){.type = tensor->tensor.type, .rank = 1};
  side->shape[0] = gather_tensor_len(&tensor->tensor);
  return GATHER_OK;
}

static bool is_by_rows(const gather_layout *layout, int role) {
  return role < GATHER_ROW_SIDES && layout->rows_per_scale > 0 && !layout->across;
}

static gather_status open_side(gather_table *table, gather_piece *piece, int role, const shares *given,
                               gather_error *error) {
  const gather_layout *layout = &piece->layout;
  const gather_file_tensor *tensor = layout->side[role];
  gather_decode_side *side = &piece->side[role];
  if (!tensor || role == GATHER_SIDE_STATE || role == GATHER_SIDE_TABLE) return GATHER_OK;
  if (!is_by_rows(layout, role)) return load(table, layout->file, tensor, side, error);
  const int64_t each = layout->rows_per_scale, rows = piece->rows / each + (piece->rows % each != 0);
  side->tensor = (gather_tensor){.type = tensor->tensor.type, .rank = 2};
  side->tensor.flags = tensor->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED;
  side->shape[0] = table->decoding->block_rows, side->shape[1] = layout->groups;
  if (!gather_tensor_len_bytes(&tensor->tensor, layout->groups, &side->row_bytes))
    return gather_fail_file(error, GATHER_OVERFLOW, layout->file->name, -1,
                            "the length of a row of scales does not fit in 63 bits");
  GATHER_TRY(open_rows(&given->side, table->client, piece, tensor, rows, side->row_bytes, &side->table, error));
  side->table->rows_each = each;
  return GATHER_OK;
}

/* ---- memory of decoded rows and columns */

/* The bytes of the tables' rows that scratch memory needs are known before they are opened. */
static void measure_sides(gather_decoded *decoding) {
  for (int32_t i = 0; i < decoding->count; i++)
    for (int role = 0; role < GATHER_ROW_SIDES; role++) {
      const gather_layout *layout = &decoding->pieces[i].layout;
      const gather_file_tensor *tensor = layout->side[role];
      if (!tensor || !is_by_rows(layout, role)) continue;
      if (!gather_tensor_len_bytes(&tensor->tensor, layout->groups, &decoding->pieces[i].side[role].row_bytes))
        decoding->pieces[i].side[role].row_bytes = INT64_MAX;
    }
}

static int32_t count_tables(const gather_decoded *decoding) {
  int32_t count = 0;
  for (int32_t i = 0; i < decoding->count; i++) {
    const gather_layout *layout = &decoding->pieces[i].layout;
    count++;
    for (int role = 0; role < GATHER_ROW_SIDES; role++) count += layout->side[role] && is_by_rows(layout, role);
  }
  return count;
}

/* As many rows as fit into a block; at least one. */
static void choose_block(gather_decoded *decoding, int64_t bytes) {
  int64_t rows = MOST_ROWS;
  while (rows > 1 && gather_scratch_bytes(decoding, rows) > bytes) rows /= 2;
  decoding->block_rows = rows;
}

static gather_status fail_memory(const gather_table *table, int64_t constants, gather_error *error) {
  const int64_t tables = count_tables(table->decoding), row = gather_scratch_bytes(table->decoding, 1);
  const int64_t rest = (tables * GATHER_TABLE_LEAST_MEMORY + constants) / (SCRATCH_SHARE - 1) * SCRATCH_SHARE;
  const int64_t scratch = row < INT64_MAX / SCRATCH_SHARE ? row * SCRATCH_SHARE : INT64_MAX;
  return gather_fail(error, GATHER_USAGE,
                     "a memory limit of %" PRId64 " bytes is too small; these %s need at least %" PRId64,
                     table->budget.ceiling, table->options.decode_as ? "decoded rows" : "rows in Fortran order",
                     (scratch > rest ? scratch : rest) + SCRATCH_SHARE);
}

/* The scratch memory gets a share of the limit, each table the least it needs, and the tables of quantised rows more of the rest. */
static gather_status divide_memory(gather_table *table, int64_t constants, shares *made, gather_error *error) {
  enum { MOST_SCRATCH = 32 };
  gather_decoded *decoding = table->decoding;
  const int64_t ceiling = table->budget.ceiling, scratch = ceiling / SCRATCH_SHARE;
  const int64_t tables = count_tables(decoding), least = tables * GATHER_TABLE_LEAST_MEMORY;
  int64_t block_most = table->client ? REMOTE_BLOCK_BYTES : BLOCK_BYTES;
  for (int32_t i = 0; i < decoding->count && !table->client; i++)
    if (decoding->pieces[i].by_columns) block_most = COLUMNS_BLOCK_BYTES;
  choose_block(decoding, ceiling > 0 && scratch < block_most ? scratch : block_most);
  decoding->scratch_most = MOST_SCRATCH;
  made->data = table->options;
  made->data.decode_as = GATHER_TYPE_NONE, made->data.codec = NULL, made->data.raw = NULL;
  made->side = made->data;
  if (made->data.cache_bytes > 0) made->side.cache_bytes = made->data.cache_bytes / SCRATCH_SHARE;
  if (ceiling == 0) return GATHER_OK;
  const int64_t block = gather_scratch_bytes(decoding, decoding->block_rows), rest = ceiling - scratch - constants;
  if (block > scratch || rest < least) return fail_memory(table, constants, error);
  if (scratch / block < MOST_SCRATCH) decoding->scratch_most = (int32_t)(scratch / block);
  const int64_t unit = (rest - least) / (decoding->count * DATA_WEIGHT + (tables - decoding->count));
  made->side.memory_bytes = GATHER_TABLE_LEAST_MEMORY + unit;
  made->data.memory_bytes = GATHER_TABLE_LEAST_MEMORY + unit * DATA_WEIGHT;
  return GATHER_OK;
}

/* The bytes of side tensors that must be in memory. */
static int64_t count_constants(const gather_decoded *decoding) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < decoding->count; i++)
    for (int role = 0; role < GATHER_SIDE_STATE; role++) {
      const gather_layout *layout = &decoding->pieces[i].layout;
      if (!layout->side[role] || is_by_rows(layout, role) || role == GATHER_SIDE_TABLE) continue;
      if (!gather_add(bytes, layout->side[role]->bytes, &bytes)) return INT64_MAX;
    }
  return bytes;
}

static gather_status open_piece(gather_table *table, gather_piece *piece, const shares *given, gather_error *error) {
  const gather_layout *layout = &piece->layout;
  const int64_t elements = piece->is_elements && layout->row_len > 0 ? layout->row_len : 1;
  GATHER_TRY(open_rows(&given->data, table->client, piece, layout->data, piece->rows * elements,
                       layout->row_bytes / elements, &piece->data, error));
  if (piece->by_columns) piece->data->rows_around = piece->rows;
  if (piece->is_elements && !piece->by_columns) piece->data->rows_within = elements;
  for (int role = 0; role < GATHER_SIDE_COUNT; role++) GATHER_TRY(open_side(table, piece, role, given, error));
  return GATHER_OK;
}

/* After the last part: opens the tables that are read, within the memory limit. */
static gather_status complete_decoded(gather_table *table, gather_error *error) {
  gather_decoded *decoding = table->decoding;
  shares given;
  measure_sides(decoding);
  GATHER_TRY(divide_memory(table, count_constants(decoding), &given, error));
  for (int32_t i = 0; i < decoding->count; i++) GATHER_TRY(open_piece(table, &decoding->pieces[i], &given, error));
  table->info.rows = table->shape[0];
  table->info.parts = decoding->count;
  table->run = gather_decoding_run;
  return GATHER_OK;
}

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
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  source.raw = counted;
  gather_status status = gather_file_open(&source, &one, error);
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
static gather_status open_file(const gather_table *table, const char *path, gather_file **file, gather_error *error) {
  gather_raw counted;
  int64_t shape[GATHER_MAX_RANK];
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  source.raw = table->options.raw;
  source.no_links = table->options.no_links;
  if (table->client) return gather_file_open_by(table->client, &source, file, error);
  if (source.raw) {
    GATHER_TRY(count_rows(path, source.raw, shape, &counted, error));
    source.raw = &counted;
  }
  return gather_file_open(&source, file, error);
}

/* All parts are on other machines, or none is: one engine reads them. */
static gather_status check_place(const gather_table *table, const char *path, gather_error *error) {
  if (is_url(&table->options, path) == (table->client != NULL)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "the parts of one table are all URLs or all local files");
}

/* Adds a tensor in Fortran order. The parts before it were added as rows: they are added again. */
static gather_status add_all_columns(gather_table *table, const char *const *paths, const gather_file *file,
                                     const char *name, gather_error *error) {
  const int32_t before = table->decoding ? 0 : table->file_count - 1;
  table->part_count = 0;
  for (int32_t i = 0; i < before; i++) {
    char *file_name;
    const char *earlier;
    GATHER_TRY(split(table, paths[i], &file_name, &earlier, error));
    gather_free(file_name);
    GATHER_TRY(add_columns(table, table->files[i], earlier, error));
  }
  return add_columns(table, file, name, error);
}

static gather_status add_path(gather_table *table, const char *const *paths, int32_t number, gather_error *error) {
  char *file_name;
  const char *name, *path = paths[number];
  gather_file **file = &table->files[table->file_count];
  GATHER_TRY(check_place(table, path, error));
  GATHER_TRY(split(table, path, &file_name, &name, error));
  gather_status status = open_file(table, file_name, file, error);
  if (status == GATHER_OK) {
    table->file_count++;
    status = table->options.decode_as            ? add_decoded(table, *file, name, error)
             : wants_columns(table, *file, name) ? add_all_columns(table, paths, *file, name, error)
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
  return table->decoding ? complete_decoded(table, error) : gather_table_complete(table, error);
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
