/* SPDX-License-Identifier: MIT
 *
 * arrow.c: Arrow's file format, also known as Feather version 2: a footer gives the positions of the record batches. Streams have none:
 * arrow_stream.c finds their batches. Each column of fixed size is a tensor; a column in several batches is one tensor per batch: NAME@0, NAME@1 and so
 * on.
 * Source: the document "Arrow Columnar Format" and the descriptions that it names.
 */
#include "io/format/arrow/arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "io/format/bytes.h"

static const char MAGIC[] = "ARROW1";
enum { MAGIC_BYTES = 6, START_BYTES = 8, LENGTH_BYTES = 4, END_BYTES = LENGTH_BYTES + MAGIC_BYTES };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };
/* A Block of the footer: offset, metadata length (4 bytes, then 4 unused), body length. */
enum { BLOCK_BYTES = 24, BLOCK_METADATA = 8 };
/* What is read first of a remote file: most footers are shorter. */
enum { TAIL_BYTES = 1 << 16 };
/* Chunk names may use four times the file size and this many bytes more. */
enum { NAMES_FREE = 16 << 20 };

bool gather_arrow_recognise(const gather_map *map) {
  return (map->size >= MAGIC_BYTES && memcmp(map->bytes, MAGIC, MAGIC_BYTES) == 0) || gather_arrow_is_stream(map);
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
  GATHER_TRY(gather_arrow_version_check(arrow, footer.at));
  GATHER_TRY(gather_flat_inner(flat, &footer, FOOTER_SCHEMA, &schema));
  if (schema.at == 0) return GATHER_ARROW_WRONG(arrow, footer.at, "the footer has no schema");
  GATHER_TRY(gather_arrow_schema(arrow, flat, &schema));
  return gather_flat_list(flat, &footer, FOOTER_BATCHES, BLOCK_BYTES, blocks);
}

/* Where the footer says that the batches are. */
static gather_status list_blocks(gather_arrow *arrow, const gather_flat_vector *said, gather_arrow_block **blocks) {
  GATHER_TRY(gather_arrow_take(arrow, said->len, sizeof **blocks, blocks));
  for (int64_t i = 0; i < said->len; i++) {
    int64_t at = said->at + BLOCK_BYTES * i;
    const uint8_t *block = arrow->file->map.bytes + at;
    (*blocks)[i] = (gather_arrow_block){gather_read_i64(block), gather_read_i32(block + BLOCK_METADATA), at};
  }
  return GATHER_OK;
}

/* The metadata of all batches of a remote file, by requests at once. */
static void expect_batches(const gather_arrow *arrow, const gather_arrow_block *blocks, int64_t len) {
  const gather_map *map = &arrow->file->map;
  gather_map_range *ranges = gather_map_wants_hints(map) ? gather_alloc(len * (int64_t)sizeof *ranges) : NULL;
  for (int64_t i = 0; ranges && i < len; i++) ranges[i] = (gather_map_range){blocks[i].at, blocks[i].bytes};
  if (ranges) gather_map_expect_all(map, ranges, len);
  gather_free(ranges);
}

/* Batches may be in any order, but may not share their metadata: otherwise a small file could list more chunks than
 * fit in memory. They end before `end`. */
static gather_status read_batches(gather_arrow *arrow, int64_t end, const gather_arrow_block *blocks, int64_t len,
                                  gather_arrow_batch **batches) {
  int64_t room = arrow->file->map.size, row = 0;
  GATHER_TRY(gather_arrow_take(arrow, len, sizeof **batches, batches));
  for (int64_t i = 0; i < len; i++) {
    const gather_arrow_block *block = &blocks[i];
    if (block->bytes > room)
      return GATHER_ARROW_WRONG(arrow, block->said_at, "the record batches are longer than the file");
    GATHER_TRY(gather_arrow_batch_read(arrow, block, end, &(*batches)[i]));
    room -= block->bytes;
    (*batches)[i].first_row = row;
    if (!gather_add(row, (*batches)[i].rows, &row))
      return GATHER_ARROW_WRONG(arrow, block->said_at, "the row count does not fit in 64 bits");
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
  for (int64_t i = 0; i < arrow->len; i++) {
    GATHER_TRY(gather_arrow_settle(arrow, batches, len, &arrow->columns[i]));
    for (int64_t k = 0; k < each; k++) {
      gather_file_tensor *tensor = &file->tensors[file->len++];
      GATHER_TRY(gather_arrow_chunk(arrow, len > 0 ? &batches[k] : NULL, &arrow->columns[i], tensor));
      if (len > 1) GATHER_TRY(name_chunk(arrow, arrow->columns[i].name, k, tensor));
    }
  }
  return GATHER_OK;
}

static gather_status open_file(gather_arrow *arrow, gather_arrow_block **blocks, int64_t *count, int64_t *end) {
  gather_flat flat;
  gather_flat_vector said;
  GATHER_TRY(open_footer(arrow, &flat));
  GATHER_TRY(read_footer(arrow, &flat, &said));
  GATHER_TRY(list_blocks(arrow, &said, blocks));
  expect_batches(arrow, *blocks, said.len);
  *count = said.len;
  *end = flat.start;
  return GATHER_OK;
}

gather_status gather_arrow_open(gather_file *file, gather_error *error) {
  int64_t size = file->map.size, count = 0, end = size;
  gather_arrow arrow = {.file = file,
                        .error = error,
                        .search_room = size,
                        .offsets_room = size,
                        .remote_room = GATHER_MAP_METADATA_MAX / 4};
  gather_arrow_block *blocks = NULL;
  gather_arrow_batch *batches = NULL;
  if (gather_arrow_is_stream(&file->map))
    GATHER_TRY(gather_arrow_stream(&arrow, &blocks, &count));
  else
    GATHER_TRY(open_file(&arrow, &blocks, &count, &end));
  GATHER_TRY(read_batches(&arrow, end, blocks, count, &batches));
  return list_tensors(&arrow, batches, count);
}
