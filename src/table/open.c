/* SPDX-License-Identifier: MIT
 *
 * open.c: opens a table: its options; parts whose rows are decoded or assembled from elements (table_decode.c; table.c adds those that are
 * taken as they are), the tables that are read for them, and the division of the memory among these. What a path is, its opener knows:
 * open_file.c, or open_raw.c.
 */
#include "table/open.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"

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
  info->format = layout->data.format;
  info->name = layout->data.name;
  info->codec = layout->codec->name;
  info->type_name = gather_type_get(table->options.decode_as)->name;
  info->tensor = (gather_tensor){.type = table->options.decode_as, .rank = layout->rank, .shape = table->shape};
  memcpy(table->shape, layout->shape, (size_t)layout->rank * sizeof *table->shape);
  table->shape[0] = 0;
  if (gather_tensor_len_bytes(&info->tensor, layout->row_len, &info->row_bytes)) return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, layout->data.file, -1, "the length of a decoded row does not fit in 63 bits");
}

static gather_status check_like_first(const gather_table *table, const gather_layout *layout, gather_error *error) {
  const gather_tensor *first = &table->info.tensor;
  char a[200], b[200];
  if (first->rank == layout->rank && memcmp(first->shape + 1, layout->shape + 1, (size_t)(first->rank - 1) * sizeof *first->shape) == 0)
    return GATHER_OK;
  return gather_fail_file(error, GATHER_SHAPE_MISMATCH, layout->data.file, -1,
                          "its decoded rows have the shape %s, those of the first part %s",
                          gather_shape_text(a, sizeof a, layout->rank - 1, layout->shape + 1),
                          gather_shape_text(b, sizeof b, first->rank - 1, first->shape + 1));
}

/* Adds a part that is described by `layout`. */
static gather_status add_piece(gather_table *table, const gather_layout *layout, gather_error *error) {
  gather_decoded *decoding = table->decoding;
  gather_piece *made = gather_alloc((decoding->count + 1) * (int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the parts of the table");
  if (decoding->count > 0) memcpy(made, decoding->pieces, (size_t)decoding->count * sizeof *made);
  gather_free(decoding->pieces);
  decoding->pieces = made;
  gather_piece *piece = &made[decoding->count++];
  piece->layout = *layout;
  piece->first = table->shape[0];
  piece->rows = layout->shape[0];
  int64_t all;
  if (gather_add(piece->first, piece->rows, &table->shape[0]) && gather_tensor_check(&table->info.tensor, NULL) == GATHER_OK &&
      gather_mul(table->shape[0], table->info.row_bytes, &all))
    return GATHER_OK;
  return gather_fail_file(error, GATHER_OVERFLOW, layout->data.file, -1, "the table is too large: its bytes do not fit in 63 bits");
}

static gather_status make_decoding(gather_table *table, gather_error *error) {
  if (!table->decoding) table->decoding = gather_alloc((int64_t)sizeof *table->decoding);
  return table->decoding ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a table");
}

gather_status gather_table_add_decoded(gather_table *table, const gather_layout *layout, gather_error *error) {
  GATHER_TRY(make_decoding(table, error));
  if (table->decoding->count == 0)
    GATHER_TRY(describe_decoded(table, layout, error));
  else
    GATHER_TRY(check_like_first(table, layout, error));
  return add_piece(table, layout, error);
}

gather_status gather_table_add_elements(gather_table *table, const gather_layout *layout, gather_error *error) {
  const bool first = !table->decoding;
  GATHER_TRY(make_decoding(table, error));
  GATHER_TRY(gather_table_set_rows(table, first, &layout->data, layout->row_bytes, error));
  GATHER_TRY(add_piece(table, layout, error));
  gather_piece *piece = &table->decoding->pieces[table->decoding->count - 1];
  piece->is_elements = true;
  piece->by_columns = !gather_tensor_is_row_major(&layout->data.tensor);
  return GATHER_OK;
}

/* ---- the tables that are read for decoded rows and columns, and what is in memory */

/* Options of the tables that are read: those of the whole, with less memory. */
typedef struct shares {
  gather_table_options data, side;
} shares;

static gather_status open_rows(const gather_table_options *options, const gather_table *whole, const gather_piece *piece,
                               const gather_stored *tensor, int64_t rows, int64_t row_bytes, gather_table **table, gather_error *error) {
  GATHER_TRY(gather_table_create(options, whole->client, whole->network, 1, table, error));
  (*table)->rows_before = piece->first;
  (*table)->chunker = whole->chunker;
  GATHER_TRY(gather_table_add_bytes(*table, tensor, rows, row_bytes, error));
  return gather_table_complete(*table, error);
}

/* A whole side tensor in memory, in this machine's byte order. */
static gather_status load(gather_table *table, const gather_stored *tensor, gather_decode_side *side, gather_error *error) {
  const void *elements = tensor->tensor.data;
  const int64_t unit = gather_type_get(tensor->tensor.type)->bits / 8;
  if (table->budget.ceiling > 0 && tensor->bytes > table->budget.ceiling / SCRATCH_SHARE)
    return gather_fail(error, GATHER_USAGE,
                       "a memory limit of %" PRId64 " bytes is too small; the %" PRId64
                       " bytes of the side tensor '%.100s' must be in memory",
                       table->budget.ceiling, tensor->bytes, tensor->name);
  if (tensor->load) GATHER_TRY(tensor->load(tensor, &elements, error));
  side->constant = gather_alloc(tensor->bytes > 0 ? tensor->bytes : 1);
  if (!side->constant) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for side tensors");
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

static gather_status open_side(gather_table *table, gather_piece *piece, int role, const shares *given, gather_error *error) {
  const gather_layout *layout = &piece->layout;
  const gather_stored *tensor = &layout->side[role];
  gather_decode_side *side = &piece->side[role];
  if (!tensor->file || role == GATHER_SIDE_STATE || role == GATHER_SIDE_TABLE) return GATHER_OK;
  if (!is_by_rows(layout, role)) return load(table, tensor, side, error);
  const int64_t each = layout->rows_per_scale, rows = piece->rows / each + (piece->rows % each != 0);
  side->tensor = (gather_tensor){.type = tensor->tensor.type, .rank = 2};
  side->tensor.flags = tensor->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED;
  side->shape[0] = table->decoding->block_rows, side->shape[1] = layout->groups;
  if (!gather_tensor_len_bytes(&tensor->tensor, layout->groups, &side->row_bytes))
    return gather_fail_file(error, GATHER_OVERFLOW, layout->data.file, -1, "the length of a row of scales does not fit in 63 bits");
  GATHER_TRY(open_rows(&given->side, table, piece, tensor, rows, side->row_bytes, &side->table, error));
  side->table->rows_each = each;
  return GATHER_OK;
}

/* ---- memory of decoded rows and columns */

/* The bytes of the tables' rows that scratch memory needs are known before they are opened. */
static void measure_sides(gather_decoded *decoding) {
  for (int32_t i = 0; i < decoding->count; i++)
    for (int role = 0; role < GATHER_ROW_SIDES; role++) {
      const gather_layout *layout = &decoding->pieces[i].layout;
      const gather_stored *tensor = &layout->side[role];
      if (!tensor->file || !is_by_rows(layout, role)) continue;
      if (!gather_tensor_len_bytes(&tensor->tensor, layout->groups, &decoding->pieces[i].side[role].row_bytes))
        decoding->pieces[i].side[role].row_bytes = INT64_MAX;
    }
}

static int32_t count_tables(const gather_decoded *decoding) {
  int32_t count = 0;
  for (int32_t i = 0; i < decoding->count; i++) {
    const gather_layout *layout = &decoding->pieces[i].layout;
    count++;
    for (int role = 0; role < GATHER_ROW_SIDES; role++) count += layout->side[role].file && is_by_rows(layout, role);
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
  return gather_fail(error, GATHER_USAGE, "a memory limit of %" PRId64 " bytes is too small; these %s need at least %" PRId64,
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
      if (!layout->side[role].file || is_by_rows(layout, role) || role == GATHER_SIDE_TABLE) continue;
      if (!gather_add(bytes, layout->side[role].bytes, &bytes)) return INT64_MAX;
    }
  return bytes;
}

static gather_status open_piece(gather_table *table, gather_piece *piece, const shares *given, gather_error *error) {
  const gather_layout *layout = &piece->layout;
  const int64_t elements = piece->is_elements && layout->row_len > 0 ? layout->row_len : 1;
  GATHER_TRY(
      open_rows(&given->data, table, piece, &layout->data, piece->rows * elements, layout->row_bytes / elements, &piece->data, error));
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

/* ---- the whole */

static gather_status read_options(const gather_table_options *given, int32_t count, gather_table_options *options, gather_error *error) {
  enum { MOST_DEPTH = 4096 };
  static const gather_type DECODED[] = {GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT16, GATHER_TYPE_BFLOAT16};
  *options = (gather_table_options)GATHER_TABLE_OPTIONS_INIT;
  GATHER_TRY(gather_struct_read(options, sizeof *options, given, "gather_table_options", "GATHER_TABLE_OPTIONS_INIT", error));
  if (!gather_engine_name(options->engine)) return gather_fail(error, GATHER_USAGE, "no such engine: number %d", (int)options->engine);
  if (options->raw_count < 0 || (options->raw_count > 0 && (!options->raw || options->raw_count != count)))
    return gather_fail(error, GATHER_USAGE, "raw_count is %d; it must be 0, or %d, the number of paths", (int)options->raw_count,
                       (int)count);
  if (options->depth < 0 || options->depth > MOST_DEPTH)
    return gather_fail(error, GATHER_USAGE, "invalid depth %d; 1 to %d reads, or 0 to choose automatically", (int)options->depth,
                       (int)MOST_DEPTH);
  if (options->memory_bytes < 0 || options->cache_bytes < -1)
    return gather_fail(error, GATHER_USAGE, "memory_bytes or cache_bytes is negative");
  if (options->keep_signals && options->engine == GATHER_ENGINE_MMAP)
    return gather_fail(error, GATHER_USAGE, "the engine mmap needs a SIGBUS handler, which keep_signals forbids");
  if (options->codec && options->codec[0] && options->decode_as == GATHER_TYPE_NONE)
    return gather_fail(error, GATHER_USAGE, "a codec needs decode_as, the type to decode to");
  if (options->decode_as == GATHER_TYPE_NONE) return GATHER_OK;
  for (size_t i = 0; i < sizeof DECODED / sizeof *DECODED; i++)
    if (options->decode_as == DECODED[i]) return GATHER_OK;
  return gather_fail(error, GATHER_TYPE_UNSUPPORTED, "quantised rows are decoded to float32, float16 or bfloat16, not to type number %d",
                     (int)options->decode_as);
}

static gather_status add_all(gather_table *table, const gather_table_opener *opener, const char *const *paths, int32_t count,
                             gather_error *error) {
  table->keeper = opener->keeper;
  for (int32_t i = 0; i < count; i++) {
    if (!paths[i]) return gather_fail(error, GATHER_USAGE, "gather_table_open: a path is NULL");
    GATHER_TRY(opener->add(table, paths, i, error));
  }
  return table->decoding ? complete_decoded(table, error) : gather_table_complete(table, error);
}

/* The caller's, which a table has only while it is opened. */
static void forget(gather_table_options *options) {
  options->raw = NULL, options->codec = NULL, options->remote = NULL, options->tensor = NULL;
}

gather_status gather_table_open_by(gather_table_choose *choose, const char *const *paths, int32_t count,
                                   const gather_table_options *options, gather_table **table, gather_error *error) {
  gather_table_options full;
  gather_table_opener opener;
  gather_table *made;
  struct gather_remote_client *client = NULL;
  if (!table) return gather_fail(error, GATHER_USAGE, "gather_table_open: table is NULL");
  *table = NULL;
  if (!paths || count < 1) return gather_fail(error, GATHER_USAGE, "gather_table_open: no path");
  GATHER_TRY(read_options(options, count, &full, error));
  if (!paths[0]) return gather_fail(error, GATHER_USAGE, "gather_table_open: a path is NULL");
  GATHER_TRY(choose(&full, paths[0], &opener, error));
  if (opener.connect) GATHER_TRY(opener.connect(&full, paths[0], &client, error));
  gather_status status = gather_table_create(&full, client, opener.network, count, &made, error);
  if (client) opener.disconnect(client); /* the table holds it */
  GATHER_TRY(status);
  status = add_all(made, &opener, paths, count, error);
  forget(&made->options);
  if (status == GATHER_OK)
    *table = made;
  else
    gather_table_close(made);
  return status;
}
