/* SPDX-License-Identifier: MIT
 *
 * arrow_batch.c: the record batches of an Arrow file; each column's chunk is a view of the file.
 */
#include <inttypes.h>

#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "io/format/arrow/arrow.h"
#include "io/format/bytes.h"

enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VIEWS };
enum { PAIR_BYTES = 16 };

/* ---- batches */

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
  gather_arrow_message message;
  *batch = (gather_arrow_batch){0};
  GATHER_TRY(gather_arrow_message_read(arrow, block, end, "a record batch", &message));
  const gather_flat_table *header = &message.header;
  if (message.kind != GATHER_ARROW_BATCH || header->at == 0)
    return GATHER_ARROW_WRONG(arrow, message.table.at, "no record batch at the position given in the footer");
  batch->body = block->at + block->bytes;
  batch->body_bytes = message.body_bytes;
  GATHER_TRY(gather_flat_number(&message.flat, header, BATCH_LENGTH, 8, &batch->rows));
  if (batch->rows < 0) return GATHER_ARROW_WRONG(arrow, header->at, "a record batch has %" PRId64 " rows", batch->rows);
  GATHER_TRY(read_compression(arrow, &message.flat, header, batch));
  return read_lists(arrow, &message.flat, header, batch);
}

/* ---- chunks */

/* A column's chunk in the current batch. */
typedef struct chunk {
  gather_arrow *arrow;
  gather_arrow_batch *batch;
  gather_arrow_column *column;
  gather_file_tensor *tensor;
} chunk;

static gather_status unreadable(const chunk *of, int64_t at, const char *why) {
  gather_error error;
  of->tensor->tensor.data = NULL;
  (void)gather_fail_file(&error, GATHER_UNSUPPORTED, of->arrow->file->name, at, "column '%.100s' %s", of->column->name,
                         why);
  return gather_file_unreadable(of->arrow->file, &error, of->tensor, of->arrow->error);
}

/* Points the tensor to the elements. An empty one has no buffer that would be compressed. */
static gather_status place(const chunk *of, const gather_arrow_elements *elements) {
  const gather_arrow *arrow = of->arrow;
  int64_t number = elements->buffer + 1, at = of->batch->buffers + PAIR_BYTES * number, start, bytes, skipped = 0;
  const char *packed = NULL;
  gather_file_tensor *tensor = of->tensor;
  if (tensor->bytes == 0)
    GATHER_TRY(gather_arrow_buffer_find(arrow, of->batch, number, of->column->name, &start, &bytes));
  else
    GATHER_TRY(gather_arrow_buffer(arrow, of->batch, number, of->column->name, &start, &bytes, &packed));
  tensor->offset = start;
  if (packed) return unreadable(of, start - 8, packed);
  if (tensor->bytes == 0) return GATHER_OK;
  if (!gather_mul(elements->first, of->column->item_bytes, &skipped) || skipped > bytes ||
      tensor->bytes > bytes - skipped)
    return GATHER_ARROW_WRONG(arrow, at, "column '%.100s' needs %" PRId64 " bytes; its buffer has %" PRId64,
                              of->column->name, tensor->bytes, bytes);
  tensor->offset = start + skipped;
  return gather_file_point(arrow->file, &arrow->file->map, tensor->offset, tensor, arrow->error);
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

static gather_status has_nulls(const chunk *of, const gather_arrow_elements *elements) {
  const char *why = gather_arrow_nulls_text(of->arrow, elements);
  return why ? unreadable(of, elements->nulls_at, why) : gather_arrow_no_memory(of->arrow);
}

static gather_status read_chunk(const chunk *of) {
  gather_arrow_elements elements;
  GATHER_TRY(gather_arrow_levels(of->arrow, of->batch, of->column, &elements));
  if (elements.nulls > 0 && of->column->is_variable) return has_nulls(of, &elements);
  if (elements.packed) return unreadable(of, of->column->field, elements.packed);
  GATHER_TRY(place(of, &elements));
  bool is_readable = !of->tensor->unreadable || gather_file_is_remote(of->tensor);
  if (elements.nulls > 0 && is_readable) return has_nulls(of, &elements);
  return set_strides(of);
}

gather_status gather_arrow_chunk(gather_arrow *arrow, gather_arrow_batch *batch, gather_arrow_column *column,
                                 gather_file_tensor *tensor) {
  chunk of = {arrow, batch, column, tensor};
  GATHER_TRY(set_shape(&of, batch ? batch->rows : 0));
  if (column->why) return unreadable(&of, column->field, column->why);
  if (!batch) return GATHER_OK;
  gather_arrow_pass_views(arrow, batch, column);
  return read_chunk(&of);
}
