/* SPDX-License-Identifier: MIT
 *
 * arrow_batch.c: the record batches of an Arrow file; each column's chunk is a view of the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/tensor.h"
#include "format/arrow.h"
#include "format/bytes.h"

enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_BYTES, RECORD_BATCH = 3 };
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VIEWS };
/* A node is a length and how many of it are null; a buffer is an offset in the body and a length. */
enum { PAIR_BYTES = 16, PREFIX_BYTES = 8 };

/* ---- the message */

/* The metadata follow their length; since 0.15 a marker precedes the length. */
static gather_status open_message(gather_arrow *arrow, const gather_arrow_block *block, int64_t end,
                                  gather_flat *flat) {
  int64_t at = block->at, bytes = block->bytes;
  if (at < 0 || bytes < PREFIX_BYTES || at > end || bytes > end - at)
    return GATHER_ARROW_WRONG(arrow, block->said_at,
                              "a record batch is outside the file: %" PRId64 " bytes at byte %" PRId64, bytes, at);
  GATHER_TRY(gather_map_need(&arrow->file->map, at, PREFIX_BYTES, arrow->error));
  const uint8_t *start = arrow->file->map.bytes + at;
  int64_t prefix = gather_read_u32(start) == UINT32_MAX ? PREFIX_BYTES : PREFIX_BYTES / 2;
  int64_t length = gather_read_i32(start + prefix - 4);
  *flat = (gather_flat){arrow->file, arrow->error, at + prefix, at + prefix + length};
  if (length > 0 && length <= bytes - prefix)
    return gather_map_need(&arrow->file->map, at + prefix, length, arrow->error);
  return GATHER_ARROW_WRONG(arrow, at,
                            "the metadata of a record batch are %" PRId64 " bytes long; there is room for %" PRId64,
                            length, bytes - prefix);
}

static gather_status read_compression(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *header,
                                      gather_arrow_batch *batch) {
  gather_flat_table compression;
  int64_t method = 0;
  batch->compression = -1;
  GATHER_TRY(gather_flat_inner(flat, header, BATCH_COMPRESSION, &compression));
  if (compression.at == 0) return GATHER_OK;
  batch->compression = 0;
  GATHER_TRY(gather_flat_number(flat, &compression, 0, 1, &batch->compression));
  GATHER_TRY(gather_flat_number(flat, &compression, 1, 1, &method));
  if ((batch->compression == 0 || batch->compression == 1) && method == 0) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, compression.at, "unknown compression of a record batch");
}

/* Adds up the buffer counts of the view fields, so that the number of buffers can be checked once. */
static gather_status check_views(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *header,
                                 gather_arrow_batch *batch, int64_t *total) {
  gather_flat_vector views;
  GATHER_TRY(gather_flat_list(flat, header, BATCH_VIEWS, 8, &views));
  batch->buffers_of_views = views.at;
  *total = 0;
  if (views.len < arrow->all.views)
    return GATHER_ARROW_WRONG(arrow, header->at, "a record batch describes %" PRId64 " of %" PRId64 " view columns",
                              views.len, arrow->all.views);
  for (int64_t i = 0; i < arrow->all.views; i++) {
    int64_t more = gather_read_i64(arrow->file->map.bytes + views.at + 8 * i);
    if (more < 0 || !gather_add(*total, more, total))
      return GATHER_ARROW_WRONG(arrow, views.at + 8 * i, "invalid number of buffers of a view column: %" PRId64, more);
  }
  return GATHER_OK;
}

static gather_status read_lists(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *header,
                                gather_arrow_batch *batch) {
  gather_flat_vector nodes, buffers;
  int64_t needed;
  GATHER_TRY(gather_flat_list(flat, header, BATCH_NODES, PAIR_BYTES, &nodes));
  GATHER_TRY(gather_flat_list(flat, header, BATCH_BUFFERS, PAIR_BYTES, &buffers));
  GATHER_TRY(check_views(arrow, flat, header, batch, &needed));
  batch->nodes = nodes.at;
  batch->buffers = buffers.at;
  if (nodes.len < arrow->all.nodes)
    return GATHER_ARROW_WRONG(arrow, header->at, "a record batch describes %" PRId64 " of %" PRId64 " fields",
                              nodes.len, arrow->all.nodes);
  if (gather_add(needed, arrow->all.buffers, &needed) && buffers.len >= needed) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, header->at, "a record batch has %" PRId64 " buffers; its columns need more",
                            buffers.len);
}

gather_status gather_arrow_batch_read(gather_arrow *arrow, const gather_arrow_block *block, int64_t end,
                                      gather_arrow_batch *batch) {
  gather_flat flat;
  gather_flat_table message, header;
  int64_t kind = 0;
  *batch = (gather_arrow_batch){0};
  GATHER_TRY(open_message(arrow, block, end, &flat));
  GATHER_TRY(gather_flat_root(&flat, &message));
  GATHER_TRY(gather_flat_number(&flat, &message, MESSAGE_HEADER_TYPE, 1, &kind));
  GATHER_TRY(gather_flat_number(&flat, &message, MESSAGE_BODY_BYTES, 8, &batch->body_bytes));
  GATHER_TRY(gather_flat_inner(&flat, &message, MESSAGE_HEADER, &header));
  if (kind != RECORD_BATCH || header.at == 0)
    return GATHER_ARROW_WRONG(arrow, message.at, "no record batch at the position given in the footer");
  batch->body = block->at + block->bytes;
  if (batch->body_bytes < 0 || batch->body_bytes > end - batch->body)
    return GATHER_ARROW_WRONG(arrow, message.at,
                              "a record batch of %" PRId64 " bytes at byte %" PRId64 " is outside the file",
                              batch->body_bytes, batch->body);
  GATHER_TRY(gather_flat_number(&flat, &header, BATCH_LENGTH, 8, &batch->rows));
  if (batch->rows < 0) return GATHER_ARROW_WRONG(arrow, header.at, "a record batch has %" PRId64 " rows", batch->rows);
  GATHER_TRY(read_compression(arrow, &flat, &header, batch));
  return read_lists(arrow, &flat, &header, batch);
}

/* ---- chunks */

/* A column's chunk in the current batch. */
typedef struct chunk {
  gather_arrow *arrow;
  gather_arrow_batch *batch;
  const gather_arrow_column *column;
  gather_file_tensor *tensor;
} chunk;

static int64_t pair(const chunk *of, int64_t at, int which) {
  return gather_read_i64(of->arrow->file->map.bytes + at + 8 * which);
}

static gather_status unreadable(const chunk *of, int64_t at, const char *why) {
  gather_error error;
  of->tensor->tensor.data = NULL;
  (void)gather_fail_file(&error, GATHER_UNSUPPORTED, of->arrow->file->name, at, "column '%.100s' %s", of->column->name,
                         why);
  return gather_file_unreadable(of->arrow->file, &error, of->tensor, of->arrow->error);
}

/* Nulls of a chunk: how many, where the file says so, at which level of its lists, and how many values of that level
 * make a row. */
typedef struct chunk_nulls {
  int64_t count, said_at, row_len;
  int32_t level;
} chunk_nulls;

/* The lengths of the lists around the elements, and of the elements, must match the rows. */
static gather_status check_nodes(const chunk *of, chunk_nulls *nulls) {
  int64_t at = of->batch->nodes + PAIR_BYTES * of->column->node, needed = of->batch->rows, row_len = 1;
  for (int32_t level = 0; level <= of->column->lists; level++, at += PAIR_BYTES) {
    int64_t length = pair(of, at, 0), null_count = pair(of, at, 1);
    if (level == 0 ? length != needed : length < needed)
      return GATHER_ARROW_WRONG(of->arrow, at, "column '%.100s' has %" PRId64 " values; its rows need %" PRId64,
                                of->column->name, length, needed);
    if (null_count < 0 || null_count > length)
      return GATHER_ARROW_WRONG(of->arrow, at + 8, "column '%.100s' has %" PRId64 " nulls among %" PRId64 " values",
                                of->column->name, null_count, length);
    if (null_count > 0 && nulls->count == 0) *nulls = (chunk_nulls){null_count, at + 8, row_len, level};
    if (level < of->column->lists && !gather_mul(needed, of->column->list_lengths[level], &needed))
      return GATHER_ARROW_WRONG(of->arrow, at, "the length of column '%.100s' does not fit in 64 bits",
                                of->column->name);
    if (level < of->column->lists) row_len *= of->column->list_lengths[level]; /* at most column->row_len */
  }
  return GATHER_OK;
}

#define UNPACKED "write it with compression='uncompressed' (Feather) or compression=None (IPC)"

/* Each buffer of a compressed batch begins with its length; -1 means not compressed. */
static gather_status look_into(const chunk *of, int64_t *start, int64_t *bytes) {
  const uint8_t *prefix = of->arrow->file->map.bytes + *start;
  if (*bytes < 8)
    return GATHER_ARROW_WRONG(of->arrow, *start, "a compressed buffer is too short: %" PRId64 " bytes", *bytes);
  GATHER_TRY(gather_map_need(&of->arrow->file->map, *start, 8, of->arrow->error));
  *start += 8;
  *bytes -= 8;
  of->tensor->offset = *start;
  if (gather_read_i64(prefix) == -1) return GATHER_OK;
  return unreadable(of, *start - 8,
                    of->batch->compression == 0 ? "is compressed (lz4); " UNPACKED : "is compressed (zstd); " UNPACKED);
}

/* Points the tensor to the elements' buffer, which follows those of the lists and the elements' validity bitmap. */
static gather_status place(const chunk *of) {
  const gather_arrow_column *column = of->column;
  int64_t number = column->buffer + of->batch->passed_buffers + column->lists + 1;
  int64_t at = of->batch->buffers + PAIR_BYTES * number, offset = pair(of, at, 0), bytes = pair(of, at, 1);
  if (offset < 0 || bytes < 0 || offset > of->batch->body_bytes || bytes > of->batch->body_bytes - offset)
    return GATHER_ARROW_WRONG(of->arrow, at,
                              "a buffer of column '%.100s' is outside its record batch: %" PRId64
                              " bytes at byte %" PRId64 " of the batch",
                              column->name, bytes, offset);
  int64_t start = of->batch->body + offset;
  of->tensor->offset = start;
  if (of->tensor->bytes == 0) return GATHER_OK;
  if (of->batch->compression >= 0) GATHER_TRY(look_into(of, &start, &bytes));
  if (of->tensor->unreadable) return GATHER_OK; /* compressed */
  if (of->tensor->bytes > bytes)
    return GATHER_ARROW_WRONG(of->arrow, at, "column '%.100s' needs %" PRId64 " bytes; its buffer has %" PRId64,
                              column->name, of->tensor->bytes, bytes);
  return gather_file_point(of->arrow->file, &of->arrow->file->map, start, of->tensor, of->arrow->error);
}

/* The strides of elements whose axes are stored in another order. */
static gather_status set_strides(const chunk *of) {
  const gather_arrow_column *column = of->column;
  int64_t *strides = NULL, step = column->item_bytes, stored[GATHER_ARROW_DEPTH_MAX], steps[GATHER_ARROW_DEPTH_MAX];
  if (!column->order || of->tensor->bytes == 0) return GATHER_OK;
  GATHER_TRY(gather_arrow_take(of->arrow, column->rank + 1, sizeof *strides, &strides));
  for (int32_t i = 0; i < column->rank; i++) stored[column->order[i]] = column->shape[i];
  for (int32_t i = column->rank - 1; i >= 0; step *= stored[i], i--) steps[i] = step; /* at most the tensor's bytes */
  strides[0] = step;
  for (int32_t i = 0; i < column->rank; i++) strides[i + 1] = steps[column->order[i]];
  of->tensor->tensor.strides = strides;
  return GATHER_OK;
}

static gather_status set_shape(const chunk *of, int64_t rows) {
  const gather_arrow_column *column = of->column;
  int64_t *shape = NULL, len;
  bool is_tensor = !column->why;
  int32_t rank = is_tensor ? column->rank : 0;
  GATHER_TRY(gather_arrow_take(of->arrow, rank + 1, sizeof *shape, &shape));
  shape[0] = rows;
  for (int32_t i = 0; i < rank; i++) shape[i + 1] = column->shape[i];
  *of->tensor = (gather_file_tensor){.name = column->name, .type_name = column->type_name};
  of->tensor->tensor = (gather_tensor){.type = is_tensor ? column->type : GATHER_TYPE_OPAQUE,
                                       .item_bytes = is_tensor ? column->item_bytes : 0,
                                       .rank = rank + 1,
                                       .shape = shape,
                                       .flags = GATHER_FILE_VIEW};
  if (!is_tensor) return GATHER_OK;
  of->tensor->descr = column->descr;
  if (column->has_order && of->arrow->big_endian != (GATHER_BIG_ENDIAN != 0))
    of->tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  if (gather_shape_len(rank + 1, shape, &len) && gather_mul(len, column->item_bytes, &of->tensor->bytes))
    return GATHER_OK;
  return GATHER_ARROW_WRONG(of->arrow, column->field, "the size of column '%.100s' does not fit in 64 bits",
                            column->name);
}

/* A bitmap of a remote file is read for the message if it is short. Many columns with nulls would be many requests. */
static bool may_search(const chunk *of, int64_t at, int64_t bytes) {
  enum { SHORT = 4096, SEARCHES = 16 };
  gather_arrow *arrow = of->arrow;
  const gather_map *map = &arrow->file->map;
  if (!gather_map_has(map, at, bytes) && (bytes > SHORT || arrow->searches++ >= SEARCHES)) return false;
  return gather_map_need(map, at, bytes, NULL) == GATHER_OK;
}

/* The row of the file with the first null, from the validity bitmap; -1 if unknown. */
static int64_t first_null(const chunk *of, const chunk_nulls *nulls) {
  const gather_arrow_batch *batch = of->batch;
  int64_t number = of->column->buffer + batch->passed_buffers + nulls->level, rows = batch->rows;
  int64_t at = batch->buffers + PAIR_BYTES * number, offset = pair(of, at, 0), bytes = pair(of, at, 1);
  if (batch->compression >= 0 || offset < 0 || bytes < 0 || offset > batch->body_bytes ||
      bytes > batch->body_bytes - offset || nulls->row_len == 0)
    return -1;
  const uint8_t *bits = of->arrow->file->map.bytes + batch->body + offset;
  if (bytes > of->arrow->search_room) bytes = of->arrow->search_room;
  if (!may_search(of, batch->body + offset, bytes)) return -1;
  int64_t i = 0;
  while (i < bytes && bits[i] == 0xff) i++;
  of->arrow->search_room -= i;
  if (i == bytes) return -1;
  int bit = 0;
  while ((bits[i] >> bit & 1) != 0) bit++;
  int64_t row = (i * 8 + bit) / nulls->row_len;
  return row < rows ? batch->first_row + row : -1;
}

static gather_status has_nulls(const chunk *of, const chunk_nulls *nulls) {
  char why[160], where[48] = "";
  int64_t row = first_null(of, nulls);
  bool one = nulls->count == 1;
  if (row >= 0)
    (void)snprintf(where, sizeof where, one ? " (row %" PRId64 ")" : " (the first in row %" PRId64 ")", row);
  (void)snprintf(why, sizeof why, "has %" PRId64 " %s, which a tensor cannot%s; fill %s in and write it again",
                 nulls->count, one ? "null" : "nulls", where, one ? "it" : "them");
  return unreadable(of, nulls->said_at, why);
}

static gather_status read_chunk(const chunk *of) {
  chunk_nulls nulls = {.count = 0};
  GATHER_TRY(check_nodes(of, &nulls));
  GATHER_TRY(place(of));
  bool is_readable = !of->tensor->unreadable || gather_file_is_remote(of->tensor);
  if (nulls.count > 0 && is_readable) return has_nulls(of, &nulls);
  return set_strides(of);
}

/* Skips the buffers of the view fields before a column. */
static void pass_views(gather_arrow *arrow, gather_arrow_batch *batch, const gather_arrow_column *column) {
  for (; batch->passed < column->views; batch->passed++)
    batch->passed_buffers += gather_read_i64(arrow->file->map.bytes + batch->buffers_of_views + 8 * batch->passed);
}

gather_status gather_arrow_chunk(gather_arrow *arrow, gather_arrow_batch *batch, const gather_arrow_column *column,
                                 gather_file_tensor *tensor) {
  chunk of = {arrow, batch, column, tensor};
  GATHER_TRY(set_shape(&of, batch ? batch->rows : 0));
  if (column->why) return unreadable(&of, column->field, column->why);
  if (!batch) return GATHER_OK;
  pass_views(arrow, batch, column);
  return read_chunk(&of);
}
