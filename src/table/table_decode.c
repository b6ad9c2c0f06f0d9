/* SPDX-License-Identifier: MIT
 *
 * table_decode.c: opens a table with decoded rows: its parts, the tables that it reads, and the division of the memory.
 */
#include "table/table_decode.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "io/format/format.h"

enum {
  BLOCK_BYTES = 1 << 20,         /* of scratch memory: many reads at a time, and it stays in a cache */
  COLUMNS_BLOCK_BYTES = 4 << 20, /* of rows in Fortran order: the more, the more elements of a page are read together */
  REMOTE_BLOCK_BYTES = 32 << 20, /* of rows on other machines: each block waits for its requests */
  MOST_ROWS = 16384,
  SCRATCH_SHARE = 4, /* of the memory limit */
  DATA_WEIGHT = 3    /* of the rest, the quantised rows get so many times the share of a side tensor */
};

/* ---- parts */

/* The first part decides what rows are. */
static gather_status describe(gather_table *table, const gather_layout *layout, gather_error *error) {
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

gather_status gather_decoding_add_piece(gather_table *table, const gather_layout *layout, gather_error *error) {
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

gather_status gather_decoding_add(gather_table *table, const gather_file *file, const char *name, gather_error *error) {
  const gather_file_tensor *tensor;
  gather_layout layout;
  GATHER_TRY(gather_file_find(file, name, &tensor, error));
  GATHER_TRY(gather_layout_find(file, tensor, table->options.codec, &layout, error));
  if (!table->decoding) table->decoding = gather_alloc((int64_t)sizeof *table->decoding);
  if (!table->decoding) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a table");
  if (table->decoding->count == 0)
    GATHER_TRY(describe(table, &layout, error));
  else
    GATHER_TRY(check_like_first(table, &layout, error));
  return gather_decoding_add_piece(table, &layout, error);
}

/* ---- what is read, and what is in memory */

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

/* A whole side tensor in memory, in this machine's byte order. */
/* Its elements, which are downloaded if they are on another machine. */
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

/* ---- memory */

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

gather_status gather_decoding_complete(gather_table *table, gather_error *error) {
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
