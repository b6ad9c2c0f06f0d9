/* SPDX-License-Identifier: MIT
 *
 * arrow.c: Arrow's file format, also known as Feather version 2: a footer gives the positions of the record batches.
 * Each column of fixed size is a tensor; a column in several batches is one tensor per batch: NAME@0, NAME@1 and so
 * on.
 * Source: the document "Arrow Columnar Format" and the descriptions that it names.
 */
#include "format/arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "format/bytes.h"

static const char MAGIC[] = "ARROW1";
enum { MAGIC_BYTES = 6, START_BYTES = 8, LENGTH_BYTES = 4, END_BYTES = LENGTH_BYTES + MAGIC_BYTES };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };
/* Versions of the metadata: V4 (Arrow 0.8) and V5 (1.0). */
enum { VERSION_LOWEST = 3, VERSION_HIGHEST = 4 };
/* A Block of the footer: offset, metadata length (4 bytes, then 4 unused), body length. */
enum { BLOCK_BYTES = 24, BLOCK_METADATA = 8 };
/* What is read first of a remote file: most footers are shorter. */
enum { TAIL_BYTES = 1 << 16 };
/* Chunk names may use four times the file size and this many bytes more. */
enum { NAMES_FREE = 16 << 20 };

bool gather_arrow_recognise(const gather_map *map) {
  return map->size >= MAGIC_BYTES && memcmp(map->bytes, MAGIC, MAGIC_BYTES) == 0;
}

/* ---- the footer */

static gather_status open_footer(gather_arrow *arrow, gather_flat *flat) {
  const gather_map *map = &arrow->file->map;
  int64_t end = map->size - END_BYTES;
  gather_map_expect(map, map->size - TAIL_BYTES, TAIL_BYTES);
  if (end >= START_BYTES) GATHER_TRY(gather_map_need(map, end, END_BYTES, arrow->error));
  if (end < START_BYTES || memcmp(map->bytes + end + LENGTH_BYTES, MAGIC, MAGIC_BYTES) != 0)
    return GATHER_ARROW_WRONG(arrow, map->size,
                              "it is truncated, or its writer was not closed: an Arrow file ends with %s", MAGIC);
  int64_t bytes = gather_read_i32(map->bytes + end);
  *flat = (gather_flat){arrow->file, arrow->error, end - bytes, end};
  if (bytes > 0 && bytes <= end - START_BYTES) return gather_map_need(map, end - bytes, bytes, arrow->error);
  return GATHER_ARROW_WRONG(arrow, end, "the footer length is %" PRId64 "; only %" PRId64 " bytes are left in the file",
                            bytes, end - START_BYTES);
}

static gather_status read_footer(gather_arrow *arrow, const gather_flat *flat, gather_flat_vector *blocks) {
  gather_flat_table footer, schema;
  GATHER_TRY(gather_flat_root(flat, &footer));
  GATHER_TRY(gather_flat_number(flat, &footer, FOOTER_VERSION, 2, &arrow->version));
  if (arrow->version < VERSION_LOWEST || arrow->version > VERSION_HIGHEST)
    return GATHER_ARROW_REFUSE(arrow, footer.at,
                               "version V%" PRId64 " of Arrow's metadata is not supported; V4 and V5 are",
                               arrow->version + 1);
  GATHER_TRY(gather_flat_inner(flat, &footer, FOOTER_SCHEMA, &schema));
  if (schema.at == 0) return GATHER_ARROW_WRONG(arrow, footer.at, "the footer has no schema");
  GATHER_TRY(gather_arrow_schema(arrow, flat, &schema));
  return gather_flat_list(flat, &footer, FOOTER_BATCHES, BLOCK_BYTES, blocks);
}

/* The metadata of all batches of a remote file, by requests at once. */
static void expect_batches(const gather_arrow *arrow, const gather_flat_vector *blocks) {
  const gather_map *map = &arrow->file->map;
  gather_map_range *ranges = gather_map_wants_hints(map) ? gather_alloc(blocks->len * (int64_t)sizeof *ranges) : NULL;
  for (int64_t i = 0; ranges && i < blocks->len; i++) {
    const uint8_t *said = map->bytes + blocks->at + BLOCK_BYTES * i;
    ranges[i] = (gather_map_range){gather_read_i64(said), gather_read_i32(said + BLOCK_METADATA)};
  }
  if (ranges) gather_map_expect_all(map, ranges, blocks->len);
  gather_free(ranges);
}

/* Batches may be in any order, but may not share their metadata: otherwise a small file could list more chunks than
 * fit in memory. */
static gather_status read_batches(gather_arrow *arrow, const gather_flat *flat, const gather_flat_vector *blocks,
                                  gather_arrow_batch **batches) {
  int64_t room = arrow->file->map.size, row = 0;
  GATHER_TRY(gather_arrow_take(arrow, blocks->len, sizeof **batches, batches));
  expect_batches(arrow, blocks);
  for (int64_t i = 0; i < blocks->len; i++) {
    int64_t at = blocks->at + BLOCK_BYTES * i;
    const uint8_t *said = arrow->file->map.bytes + at;
    gather_arrow_block block = {gather_read_i64(said), gather_read_i32(said + BLOCK_METADATA), at};
    if (block.bytes > room) return GATHER_ARROW_WRONG(arrow, at, "the record batches are longer than the file");
    GATHER_TRY(gather_arrow_batch_read(arrow, &block, flat->start, &(*batches)[i]));
    room -= block.bytes;
    (*batches)[i].first_row = row;
    if (!gather_add(row, (*batches)[i].rows, &row))
      return GATHER_ARROW_WRONG(arrow, at, "the row count does not fit in 64 bits");
  }
  return GATHER_OK;
}

/* ---- tensors */

/* The name of a chunk of a column. */
static gather_status name_chunk(gather_arrow *arrow, const char *column, int64_t i, gather_file_tensor *tensor) {
  size_t bytes = strlen(column) + 24;
  char *name = NULL;
  GATHER_TRY(gather_arrow_take(arrow, (int64_t)bytes, 1, &name));
  (void)snprintf(name, bytes, "%s@%" PRId64, column, i);
  tensor->name = name;
  return GATHER_OK;
}

static gather_status check_names(gather_arrow *arrow, int64_t batches) {
  int64_t room = 4 * arrow->file->map.size + NAMES_FREE, bytes;
  for (int64_t i = 0; i < arrow->len; i++) {
    if (!gather_mul((int64_t)strlen(arrow->columns[i].name), batches, &bytes) || bytes > room)
      return GATHER_ARROW_REFUSE(arrow, arrow->columns[i].field,
                                 "the column names are too long for %" PRId64 " record batches", batches);
    room -= bytes;
  }
  return GATHER_OK;
}

static gather_status list_pieces(gather_arrow *arrow, int64_t batches) {
  gather_file_pieces_row *rows = NULL;
  if (batches < 2) return GATHER_OK;
  GATHER_TRY(check_names(arrow, batches));
  GATHER_TRY(gather_arrow_take(arrow, arrow->len, sizeof *rows, &rows));
  for (int64_t i = 0; i < arrow->len; i++)
    rows[i] = (gather_file_pieces_row){arrow->columns[i].name, i * batches, batches};
  arrow->file->pieces = rows;
  arrow->file->pieces_len = arrow->len;
  return GATHER_OK;
}

/* The chunks of a column are consecutive. Without a batch, a column is a tensor of 0 rows. */
static gather_status list_tensors(gather_arrow *arrow, gather_arrow_batch *batches, int64_t len) {
  gather_file *file = arrow->file;
  int64_t each = len > 0 ? len : 1, all;
  if (!gather_mul(arrow->len, each, &all)) all = -1;
  GATHER_TRY(list_pieces(arrow, len));
  GATHER_TRY(gather_arrow_take(arrow, all, sizeof *file->tensors, &file->tensors));
  for (int64_t i = 0; i < arrow->len; i++)
    for (int64_t k = 0; k < each; k++) {
      gather_file_tensor *tensor = &file->tensors[file->len++];
      GATHER_TRY(gather_arrow_chunk(arrow, len > 0 ? &batches[k] : NULL, &arrow->columns[i], tensor));
      if (len > 1) GATHER_TRY(name_chunk(arrow, arrow->columns[i].name, k, tensor));
    }
  return GATHER_OK;
}

gather_status gather_arrow_open(gather_file *file, gather_error *error) {
  gather_arrow arrow = {.file = file, .error = error, .search_room = file->map.size};
  gather_flat flat;
  gather_flat_vector blocks;
  gather_arrow_batch *batches = NULL;
  GATHER_TRY(open_footer(&arrow, &flat));
  GATHER_TRY(read_footer(&arrow, &flat, &blocks));
  GATHER_TRY(read_batches(&arrow, &flat, &blocks, &batches));
  return list_tensors(&arrow, batches, blocks.len);
}
