/* SPDX-License-Identifier: MIT
 *
 * node_quantised_rows.c: GatherBlockQuantized whose codes, scales and zero points are in tables: the rows that are asked for are taken
 * out of each, and decoded as a small quantised tensor of these rows alone.
 */
#include <stdlib.h>
#include <string.h>

#include "node_internal.h"

enum { SOURCES = 3, BLOCK_BYTES = 4 << 20 };

/* The codes, the scales and the zero points: rows of each for a block of indices. */
typedef struct source {
  const gather_tensor *whole;
  const ort_rows *rows; /* take is NULL: the host's tensor has the rows */
  gather_tensor block;
  int64_t shape[GATHER_MAX_RANK], row_bytes;
} source;

typedef struct block_work {
  const ort_node *node;
  source sources[SOURCES];
  int count;            /* of the sources */
  int64_t rows, most;   /* of the tensor; of a block */
  int64_t *ids, *place; /* of the rows to be taken; where each index finds its row among these, behind them if it is out of range */
} block_work;

/* Rows begin on whole bytes, and every source has the rows of data. */
static bool add_source(block_work *work, const gather_tensor *whole, const ort_rows *rows) {
  source *added = &work->sources[work->count];
  const gather_type_info *type = gather_type_get(whole->type);
  int64_t len = 1;
  if (whole->rank < 2 || whole->shape[0] != work->rows || !type) return false;
  for (int32_t i = 1; i < whole->rank; i++) len *= whole->shape[i];
  if (len % type->group_len != 0) return false;
  work->count++;
  *added = (source){.whole = whole, .rows = rows, .row_bytes = len / type->group_len * type->group_bytes};
  memcpy(added->shape, whole->shape, (size_t)whole->rank * sizeof added->shape[0]);
  added->block = (gather_tensor){.type = whole->type, .rank = whole->rank, .shape = added->shape};
  return true;
}

static int64_t index_at(const gather_tensor *indices, int64_t i) {
  return indices->type == GATHER_TYPE_INT32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
}

/* Lists the rows of `count` indices from number `first` on. Returns how many these are. */
static int64_t list_rows(const block_work *work, const gather_tensor *indices, int64_t first, int64_t count) {
  int64_t listed = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t index = index_at(indices, first + i);
    if (index < 0) index += work->rows;
    const bool good = index >= 0 && index < work->rows;
    work->place[i] = good ? listed : INT64_MAX;
    if (good) work->ids[listed++] = index;
  }
  return listed;
}

static gather_status take_rows(const ort_node *node, source *from, const gather_tensor *ids, const gather_options *options,
                               gather_error *error) {
  const gather_op *op = gather_op_find("Gather", "onnx-13");
  gather_options plain = GATHER_OPTIONS_INIT;
  gather_status status = GATHER_UNSUPPORTED;
  plain.executor = options->executor;
  from->shape[0] = ids->shape[0];
  if (from->rows->take) status = from->rows->take(from->rows->context, op, ids, &from->block, &plain, error);
  return status == GATHER_UNSUPPORTED ? gather_ort_apply(node, op, from->whole, ids, &from->block, &plain, error) : status;
}

static gather_status decode(block_work *work, int64_t count, const gather_tensor *out, const gather_options *options, gather_error *error) {
  gather_quantized quantized;
  const gather_tensor places = {.data = work->place, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &count};
  gather_status status =
      gather_block_quantized_describe(&work->sources[0].block, &work->sources[1].block, work->count > 2 ? &work->sources[2].block : NULL,
                                      &work->node->quantised, &quantized, error);
  return status == GATHER_OK ? gather_take_quantized(work->node->rules, &quantized, &places, out, options, error) : status;
}

/* count indices from number `first` on; the decoded rows go to out. */
static gather_status take_block(block_work *work, const gather_tensor *indices, int64_t first, int64_t count, const gather_tensor *out,
                                const gather_options *options, gather_error *error) {
  const int64_t listed = list_rows(work, indices, first, count);
  const gather_tensor ids = {.data = work->ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &listed};
  for (int i = 0; i < work->count; i++) {
    gather_status status = take_rows(work->node, &work->sources[i], &ids, options, error);
    if (status != GATHER_OK) return status;
  }
  return decode(work, count, out, options, error);
}

/* The blocks of the indices. out: row-major; its shape is that of the indices and of a row. */
static gather_status take_blocks(block_work *work, const gather_tensor *indices, int64_t count, const gather_tensor *out,
                                 const gather_options *options, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  const int32_t row_rank = work->sources[0].whole->rank - 1;
  gather_tensor part = {.type = out->type, .rank = row_rank + 1, .shape = shape};
  memcpy(shape + 1, out->shape + indices->rank, (size_t)row_rank * sizeof shape[0]);
  const int64_t row_bytes = gather_tensor_bytes(out) / count;
  for (int64_t first = 0; first < count; first += work->most) {
    shape[0] = count - first < work->most ? count - first : work->most;
    part.data = (char *)out->data + first * row_bytes;
    gather_status status = take_block(work, indices, first, shape[0], &part, options, error);
    if (status != GATHER_OK) return status;
  }
  return GATHER_OK;
}

/* The memory of a block: its ids, their places, the rows of the sources. */
static char *allocate(block_work *work, int64_t count) {
  int64_t bytes = 2 * (int64_t)sizeof(int64_t);
  for (int i = 0; i < work->count; i++) bytes += work->sources[i].row_bytes;
  work->most = BLOCK_BYTES / bytes < 1 ? 1 : BLOCK_BYTES / bytes;
  if (work->most > count) work->most = count;
  if (bytes <= 0 || bytes > PTRDIFF_MAX / work->most) return NULL;
  char *memory = malloc((size_t)bytes * (size_t)work->most), *next = memory;
  if (!memory) return NULL;
  work->ids = (int64_t *)(void *)next, work->place = work->ids + work->most;
  next = (char *)(work->place + work->most);
  for (int i = 0; i < work->count; i++) {
    work->sources[i].block.data = next;
    next += work->sources[i].row_bytes * work->most;
  }
  return memory;
}

/* Whether the table's rows can be used: gathered along the first axis, with scales of their own. */
static bool prepare(block_work *work, const gather_tensor *data, const gather_tensor *scales, const gather_tensor *zero_points) {
  const gather_block_quantized *attributes = &work->node->quantised;
  const int64_t axis = attributes->gather_axis, groups = attributes->quantize_axis;
  if (data->rank < 2 || (axis != 0 && axis != -data->rank) || groups == 0 || groups == -data->rank) return false;
  work->rows = data->shape[0];
  return add_source(work, data, &work->node->rows) && add_source(work, scales, &work->node->side_rows[0]) &&
         (!zero_points || add_source(work, zero_points, &work->node->side_rows[1]));
}

/* An index out of range, where that is an error: the host's tensors are then looked at, and the error found before they are read. */
static bool all_good(const block_work *work, const gather_tensor *indices, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (index_at(indices, i) < -work->rows || index_at(indices, i) >= work->rows) return false;
  return true;
}

gather_status gather_ort_take_quantised_rows(const ort_node *node, const gather_tensor *data, const gather_tensor *scales,
                                             const gather_tensor *zero_points, const gather_tensor *indices, const gather_tensor *out,
                                             const gather_options *options, gather_error *error) {
  block_work work = {.node = node};
  const int64_t count = gather_tensor_len(indices);
  gather_options decoding = *options;
  decoding.axis = 0;
  if (count == 0 || gather_tensor_bytes(out) == 0 || !prepare(&work, data, scales, zero_points)) return GATHER_UNSUPPORTED;
  if (options->on_bad == GATHER_ON_BAD_ERROR && !all_good(&work, indices, count)) return GATHER_UNSUPPORTED;
  char *memory = allocate(&work, count);
  if (!memory) return gather_error_set(error, GATHER_OUT_OF_MEMORY, "out of memory for rows of a quantised table");
  gather_status status = take_blocks(&work, indices, count, out, &decoding, error);
  free(memory);
  return status;
}
