/* SPDX-License-Identifier: MIT
 *
 * arrow_batch.c: the record batches of an Arrow file; each column's chunk is a view of the file, or compressed as a whole
 * (arrow_buffers.c). Lists of variable size are rows of a tensor if all of them have one length, which their offsets tell:
 * each is read once, when the file is opened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/tensor.h"
#include "io/format/arrow/arrow.h"

/* Chunk names may use four times the file size and this many bytes more. */
enum { NAMES_FREE = 16 << 20 };

/* Skips the buffers of the view fields before a column. To be called in column order. */
static void pass_views(const gather_arrow *arrow, gather_arrow_batch *batch, const gather_arrow_column *column) {
  for (; batch->passed < column->views; batch->passed++)
    batch->passed_buffers += gather_read_i64(arrow->file->map.bytes + batch->buffers_of_views + 8 * batch->passed);
}

/* ---- the levels of a column in a batch: its rows, the lists around the elements, the elements */

/* The elements that the rows of a batch are made of. */
typedef struct arrow_elements {
  int64_t buffer;     /* number of theirs in the batch */
  int64_t first;      /* of them in it */
  int64_t nulls;      /* of the outermost level with nulls; 0 = none */
  int64_t null_row;   /* row of the file with the first null; -1 = unknown */
  int64_t nulls_at;   /* where the file says that there are nulls */
  const char *packed; /* why the offsets of its lists cannot be read; NULL */
} arrow_elements;

/* The level that is being looked at. */
typedef struct arrow_level {
  gather_arrow *arrow;
  const gather_arrow_batch *batch;
  gather_arrow_column *column;
  arrow_elements *elements; /* .buffer and .first are those of the level */
  int64_t node;             /* position of its node */
  int64_t count;            /* of its values that are used, from number .first on */
  int64_t row_len;          /* how many of them make a row; 0 also if a list around them has none */
} arrow_level;

/* ---- nulls */

/* A bitmap of a remote file is read for the message if it is short. Many columns with nulls would be many requests. */
static bool may_search(gather_arrow *arrow, int64_t at, int64_t bytes) {
  enum { SHORT = 4096, SEARCHES = 16 };
  const gather_map *map = &arrow->file->map;
  if (!gather_map_has(map, at, bytes) && (bytes > SHORT || arrow->searches++ >= SEARCHES)) return false;
  return gather_map_need(map, at, bytes, NULL) == GATHER_OK;
}

/* The bitmap of a level: where its first bit in use is; false if it cannot be read. *bits: how many can be. */
static bool find_bitmap(const arrow_level *of, int64_t *byte, int64_t *bits) {
  const gather_arrow_batch *batch = of->batch;
  int64_t at = batch->buffers, number = of->elements->buffer, skipped = of->elements->first / 8;
  int64_t offset = gather_arrow_pair(of->arrow, at, number, 0), bytes = gather_arrow_pair(of->arrow, at, number, 1);
  if (batch->compression >= 0 || offset < 0 || bytes < 0 || offset > batch->body_bytes || bytes > batch->body_bytes - offset ||
      bytes <= skipped)
    return false;
  bytes -= skipped;
  int64_t needed = (of->elements->first % 8 + of->count + 7) / 8;
  if (bytes > needed) bytes = needed;
  if (bytes > of->arrow->search_room) bytes = of->arrow->search_room;
  *byte = batch->body + offset + skipped;
  *bits = 8 * bytes;
  return may_search(of->arrow, *byte, bytes);
}

/* The first value of a level that is null, from 0; -1 if unknown, of->count if none of those in use is. */
static int64_t first_null(const arrow_level *of) {
  int64_t byte, bits, start = of->elements->first % 8;
  if (of->count > INT64_MAX - 16 || !find_bitmap(of, &byte, &bits)) return -1;
  const uint8_t *bitmap = of->arrow->file->map.bytes + byte;
  int64_t i = start, end = start + of->count;
  while (i < bits && i < end)
    if (i % 8 == 0 && bitmap[i / 8] == 0xff)
      i += 8;
    else if ((bitmap[i / 8] >> i % 8 & 1) != 0)
      i++;
    else
      break;
  of->arrow->search_room -= i / 8;
  if (i >= end) return of->count;
  return i < bits ? i - start : -1;
}

/* Notes the nulls of the outermost level that has any. Values that no row uses may be null. */
static void note_nulls(const arrow_level *of, int64_t length, int64_t null_count) {
  arrow_elements *elements = of->elements;
  if (null_count == 0 || elements->nulls > 0) return;
  const bool all_used = elements->first == 0 && of->count == length;
  int64_t found = of->count == 0 && !all_used ? 0 : first_null(of);
  if (found == of->count && !all_used) return;
  const bool known = found >= 0 && found < of->count && of->row_len > 0;
  elements->nulls = null_count;
  elements->nulls_at = of->node + 8;
  elements->null_row = known ? of->batch->first_row + found / of->row_len : -1;
}

/* The text of an error about nulls, in the arena; NULL: out of memory. */
static const char *nulls_text(gather_arrow *arrow, const arrow_elements *elements) {
  char why[160], where[48] = "";
  const bool one = elements->nulls == 1;
  if (elements->null_row >= 0)
    (void)snprintf(where, sizeof where, one ? " (row %" PRId64 ")" : " (the first in row %" PRId64 ")", elements->null_row);
  int length = snprintf(why, sizeof why, "has %" PRId64 " %s, which a tensor cannot%s; fill %s in and write it again", elements->nulls,
                        one ? "null" : "nulls", where, one ? "it" : "them");
  return gather_arena_text(&arrow->file->arena, why, (size_t)length);
}

/* ---- lists of variable size */

static int64_t read_offset(const gather_arrow *arrow, const uint8_t *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)at[arrow->big_endian ? bytes - 1 - i : i] << 8 * i;
  return bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

/* The number of the first list that is not `length` long; count if all are. Little-endian offsets of 4 bytes are the usual ones. */
static int64_t first_other(const gather_arrow *arrow, const uint8_t *offsets, int bytes, int64_t count, int64_t length) {
  if (bytes == 4 && !arrow->big_endian && length <= INT32_MAX) {
    uint32_t step = (uint32_t)length;
    for (int64_t i = 0; i < count; i++)
      if (gather_read_u32(offsets + 4 * i + 4) - gather_read_u32(offsets + 4 * i) != step) return i;
    return count;
  }
  uint64_t before = (uint64_t)read_offset(arrow, offsets, bytes);
  for (int64_t i = 0; i < count; i++) {
    uint64_t after = (uint64_t)read_offset(arrow, offsets + (i + 1) * bytes, bytes);
    if (after - before != (uint64_t)length) return i;
    before = after;
  }
  return count;
}

/* Counts offsets that are read: small files must not make much work, nor remote ones large downloads. */
static gather_status count_offsets(const arrow_level *of, int64_t start, int64_t bytes) {
  gather_arrow *arrow = of->arrow;
  if (of->column->is_settled) return GATHER_OK;
  if (bytes > arrow->offsets_room) return GATHER_ARROW_WRONG(arrow, start, "the offsets of its lists have more bytes than the file");
  arrow->offsets_room -= bytes;
  if (!arrow->file->map.remote) return GATHER_OK;
  if (bytes > arrow->remote_room)
    of->elements->packed =
        "has lists of variable size, and their offsets are too large to be downloaded; write it as "
        "fixed_size_list (pyarrow: cast(pyarrow.list_(TYPE, LENGTH))), or download the file";
  else
    arrow->remote_room -= bytes;
  return GATHER_OK;
}

/* Offsets that are read. */
typedef struct arrow_offsets {
  const uint8_t *values;
  int64_t at; /* of the first one in the file, for messages; of the buffer if it is compressed */
  int step;   /* from one to the next there; 0 = it is compressed */
} arrow_offsets;

static gather_status refuse_offsets(const arrow_level *of, const char *why) {
  char text[400];
  const int length = snprintf(text, sizeof text,
                              "has lists of variable size, and their compressed offsets cannot be read: %.200s; write it as "
                              "fixed_size_list (pyarrow: cast(pyarrow.list_(TYPE, LENGTH)))",
                              why);
  of->elements->packed = gather_arena_text(&of->arrow->file->arena, text, (size_t)length);
  return of->elements->packed ? GATHER_OK : GATHER_ARROW_NO_MEMORY(of->arrow);
}

/* Decodes a buffer of offsets: *values are valid until the next one is. */
static gather_status decode_offsets(const arrow_level *of, const gather_arrow_contents *contents, const uint8_t **values) {
  gather_arrow *arrow = of->arrow;
  const gather_filter filter = {.kind = of->batch->compression == 0 ? GATHER_FILTER_ARROW_LZ4 : GATHER_FILTER_ARROW_ZSTD};
  const gather_pipeline pipeline = {1, {filter}};
  gather_plain plain;
  gather_error why;
  GATHER_TRY(count_offsets(of, contents->start, contents->bytes));
  if (of->elements->packed) return GATHER_OK;
  if (!of->column->is_settled && contents->raw_bytes > arrow->decoded_room) return refuse_offsets(of, "they are too long");
  if (!of->column->is_settled) arrow->decoded_room -= contents->raw_bytes;
  GATHER_TRY(gather_map_need(&arrow->file->map, contents->start, contents->bytes, arrow->error));
  if (gather_pipeline_check(&pipeline, &why) != GATHER_OK) return refuse_offsets(of, why.message);
  gather_unfilter_destroy(arrow->unfilter);
  arrow->unfilter = NULL;
  GATHER_TRY(gather_unfilter_create(&pipeline, contents->raw_bytes, &arrow->unfilter, arrow->error));
  const gather_status status =
      gather_unfilter_run(arrow->unfilter, arrow->file->map.bytes + contents->start, contents->bytes, 0, contents->raw_bytes, &plain, &why);
  if (status == GATHER_OUT_OF_MEMORY) return GATHER_ARROW_NO_MEMORY(arrow);
  if (status != GATHER_OK)
    return gather_fail_file(arrow->error, status, arrow->file->name, contents->start,
                            "the offsets of the lists of column '%.100s' are corrupt: %.200s", of->column->name, why.message);
  *values = (const uint8_t *)plain.bytes;
  return GATHER_OK;
}

/* The offsets of the lists in use: `first` is theirs. There is at least one list. */
static gather_status find_offsets(const arrow_level *of, int bytes, arrow_offsets *offsets) {
  gather_arrow *arrow = of->arrow;
  int64_t needed, skipped;
  gather_arrow_contents contents;
  GATHER_TRY(gather_arrow_open_buffer(arrow, of->batch, of->elements->buffer + 1, of->column->name, &contents));
  const bool is_compressed = contents.raw_bytes >= 0;
  const int64_t start = contents.start, size = is_compressed ? contents.raw_bytes : contents.bytes;
  if (!gather_mul(of->count, bytes, &needed) || !gather_add(needed, bytes, &needed) || !gather_mul(of->elements->first, bytes, &skipped) ||
      skipped > size || needed > size - skipped)
    return GATHER_ARROW_WRONG(arrow, start, "column '%.100s' has %" PRId64 " bytes of offsets of its lists; expected more",
                              of->column->name, size);
  if (is_compressed) {
    GATHER_TRY(decode_offsets(of, &contents, &offsets->values));
    if (!of->elements->packed) offsets->values += skipped;
    offsets->at = start, offsets->step = 0;
    return GATHER_OK;
  }
  *offsets = (arrow_offsets){arrow->file->map.bytes + start + skipped, start + skipped, bytes};
  if (of->column->is_settled) needed = bytes; /* only the first is read */
  GATHER_TRY(count_offsets(of, start, needed));
  return of->elements->packed ? GATHER_OK : gather_map_need(&arrow->file->map, start + skipped, needed, arrow->error);
}

static gather_status set_why(const arrow_level *of, const char *text, size_t length) {
  of->column->why = gather_arena_text(&of->arrow->file->arena, text, length);
  return of->column->why ? GATHER_OK : GATHER_ARROW_NO_MEMORY(of->arrow);
}

/* A list of another length than the first one: its number among those in use. */
static gather_status refuse_ragged(const arrow_level *of, int64_t other, int64_t length, int64_t other_length) {
  char why[200];
  int64_t row = of->row_len > 0 ? of->batch->first_row + other / of->row_len : of->batch->first_row;
  int used = snprintf(why, sizeof why,
                      "has lists of different lengths: the first one has %" PRId64 ", one in row %" PRId64 " has %" PRId64
                      "; rows of a tensor have one shape",
                      length, row, other_length);
  return set_why(of, why, (size_t)used);
}

/* Compares the lists with those before, and goes to the first value of the first one. */
static gather_status enter_offsets(const arrow_level *of, gather_arrow_list *list) {
  arrow_offsets found = {0};
  const int bytes = list->offset_bytes;
  GATHER_TRY(find_offsets(of, bytes, &found));
  if (of->elements->packed) return GATHER_OK;
  const uint8_t *offsets = found.values;
  int64_t first = read_offset(of->arrow, offsets, bytes);
  if (!of->column->is_settled) {
    int64_t second = read_offset(of->arrow, offsets + bytes, bytes);
    if (first < 0 || second < first)
      return GATHER_ARROW_WRONG(of->arrow, found.at, "invalid offset of a list in column '%.100s'", of->column->name);
    if (list->length < 0) list->length = second - first;
    int64_t other = first_other(of->arrow, offsets, bytes, of->count, list->length);
    if (other < of->count) {
      int64_t begin = read_offset(of->arrow, offsets + other * bytes, bytes);
      int64_t end = read_offset(of->arrow, offsets + (other + 1) * bytes, bytes);
      if (begin < 0 || end < begin)
        return GATHER_ARROW_WRONG(of->arrow, found.at + other * found.step, "invalid offset of a list in column '%.100s'",
                                  of->column->name);
      return refuse_ragged(of, other, list->length, end - begin);
    }
  }
  of->elements->first = first;
  return GATHER_OK;
}

/* ---- the levels */

/* The values of a level must be as many as those around it need. */
static gather_status check_node(const arrow_level *of, bool is_row, int64_t *length, int64_t *null_count) {
  *length = gather_arrow_pair(of->arrow, of->node, 0, 0);
  *null_count = gather_arrow_pair(of->arrow, of->node, 0, 1);
  int64_t needed;
  if (!gather_add(of->elements->first, of->count, &needed)) needed = INT64_MAX;
  if (is_row ? *length != needed : *length < needed)
    return GATHER_ARROW_WRONG(of->arrow, of->node, "column '%.100s' has %" PRId64 " values; its rows need %" PRId64, of->column->name,
                              *length, needed);
  if (*null_count >= 0 && *null_count <= *length) return GATHER_OK;
  return GATHER_ARROW_WRONG(of->arrow, of->node + 8, "column '%.100s' has %" PRId64 " nulls among %" PRId64 " values", of->column->name,
                            *null_count, *length);
}

/* From a level of lists to their values. */
static gather_status enter(arrow_level *of, gather_arrow_list *list) {
  int64_t at = of->node, length;
  if (list->offset_bytes == 0) {
    if (!gather_mul(of->elements->first, list->length, &of->elements->first)) of->elements->first = INT64_MAX;
  } else if (of->count == 0) {
    of->elements->first = 0; /* its offsets may be absent */
  } else {
    GATHER_TRY(enter_offsets(of, list));
  }
  of->elements->buffer += list->offset_bytes ? 2 : 1;
  of->node += GATHER_ARROW_PAIR_BYTES;
  length = list->length < 0 ? 0 : list->length;
  if (!gather_mul(of->row_len, length, &of->row_len)) of->row_len = 0;
  if (gather_mul(of->count, length, &of->count)) return GATHER_OK;
  return GATHER_ARROW_WRONG(of->arrow, at, "the length of column '%.100s' does not fit in 64 bits", of->column->name);
}

/* Finds the elements of a chunk of a column, whose lists are settled. */
static gather_status find_elements(gather_arrow *arrow, const gather_arrow_batch *batch, gather_arrow_column *column,
                                   arrow_elements *elements) {
  *elements = (arrow_elements){.buffer = column->buffer + batch->passed_buffers, .null_row = -1};
  arrow_level of = {arrow, batch, column, elements, batch->nodes + GATHER_ARROW_PAIR_BYTES * column->node, batch->rows, 1};
  for (int32_t i = 0;; i++) {
    int64_t length, null_count;
    GATHER_TRY(check_node(&of, i == 0, &length, &null_count));
    note_nulls(&of, length, null_count);
    if (i == column->lists) return GATHER_OK;
    /* A list that is null may have any length, so the batch tells nothing more. */
    if (elements->nulls > 0 && column->is_variable && column->list[i].offset_bytes) return GATHER_OK;
    GATHER_TRY(enter(&of, &column->list[i]));
    if (column->why || elements->packed) return GATHER_OK;
  }
}

/* ---- all batches */

/* The first `most` bytes of a buffer of a column in a remote file, in all batches: by requests at once.
 * of_column: the number among those of the column. */
static void expect_buffers(const gather_arrow *arrow, const gather_arrow_batch *batches, int64_t count, const gather_arrow_column *column,
                           int64_t of_column, int64_t most) {
  const gather_map *map = &arrow->file->map;
  int64_t total = 0;
  gather_map_range *ranges = gather_alloc(count * (int64_t)sizeof *ranges);
  for (int64_t i = 0; ranges && i < count; i++) {
    int64_t number = column->buffer + batches[i].passed_buffers + of_column;
    int64_t offset = gather_arrow_pair(arrow, batches[i].buffers, number, 0);
    int64_t size = gather_arrow_pair(arrow, batches[i].buffers, number, 1), body = batches[i].body_bytes;
    bool inside = offset >= 0 && size >= 0 && offset <= body && size <= body - offset;
    ranges[i] = (gather_map_range){batches[i].body + (inside ? offset : 0), !inside ? 0 : size < most ? size : most};
    if (!gather_add(total, ranges[i].bytes, &total)) total = INT64_MAX;
  }
  if (ranges && total <= arrow->remote_room) gather_map_expect_all(map, ranges, count);
  gather_free(ranges);
}

/* The offsets of the outermost lists. */
static void expect_offsets(const gather_arrow *arrow, const gather_arrow_batch *batches, int64_t count, const gather_arrow_column *column) {
  if (gather_map_wants_hints(&arrow->file->map) && column->list[0].offset_bytes)
    expect_buffers(arrow, batches, count, column, 1, INT64_MAX);
}

/* The lengths before compressed elements. */
static void expect_lengths(gather_arrow *arrow, gather_arrow_batch *batches, int64_t count, const gather_arrow_column *column) {
  int64_t number = 1;
  if (arrow->codec < 0 || count == 0 || column->why || !gather_map_wants_hints(&arrow->file->map)) return;
  for (int64_t i = 0; i < count; i++) pass_views(arrow, &batches[i], column);
  for (int32_t i = 0; i < column->lists; i++) number += column->list[i].offset_bytes ? 2 : 1;
  expect_buffers(arrow, batches, count, column, number, GATHER_ARROW_LENGTH_BYTES);
}

/* What the batches have told. A length of which there was no list is 0. */
static gather_status keep(gather_arrow *arrow, gather_arrow_column *column) {
  int64_t *shape = NULL;
  column->row_len = 1;
  column->is_settled = true;
  GATHER_TRY(gather_arrow_take(arrow, column->lists, sizeof *shape, &shape));
  for (int32_t i = 0; i < column->lists; i++) {
    if (column->list[i].length < 0) column->list[i].length = 0;
    shape[i] = column->list[i].length;
    if (!gather_mul(column->row_len, shape[i], &column->row_len))
      return GATHER_ARROW_WRONG(arrow, column->field, "the length of a column's rows does not fit in 64 bits");
  }
  column->shape = shape;
  return GATHER_OK;
}

static bool is_known(const gather_arrow_column *column) {
  for (int32_t i = 0; i < column->lists; i++)
    if (column->list[i].length < 0) return false;
  return true;
}

/* Settles the lengths of a column's lists of variable size, from all batches, or sets column->why. Sets the shape of a row. */
static gather_status settle(gather_arrow *arrow, gather_arrow_batch *batches, int64_t count, gather_arrow_column *column) {
  static const char *const NAMES[] = {"fixed_size_list", "list", "large_list"};
  const char *nulls = NULL;
  if (column->is_settled || column->why) return GATHER_OK;
  for (int64_t i = 0; i < count; i++) pass_views(arrow, &batches[i], column);
  expect_offsets(arrow, batches, count, column);
  for (int64_t i = 0; i < count && !column->why; i++) {
    arrow_elements elements;
    GATHER_TRY(find_elements(arrow, &batches[i], column, &elements));
    if (elements.packed) column->why = elements.packed;
    if (elements.nulls > 0 && !nulls && !(nulls = nulls_text(arrow, &elements))) return GATHER_ARROW_NO_MEMORY(arrow);
  }
  if (!column->why && nulls && !is_known(column)) column->why = nulls;
  if (column->why) column->type_name = NAMES[column->list[0].offset_bytes / 4];
  return column->why ? GATHER_OK : keep(arrow, column);
}

enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VIEWS };

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
  if (arrow->codec < 0) arrow->codec = batch->compression;
  if ((batch->compression == 0 || batch->compression == 1) && method == 0) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, compression.at, "unknown compression of a record batch: codec %" PRId64 ", method %" PRId64,
                            batch->compression, method);
}

/* Adds up the buffer counts of the view fields, so that the number of buffers can be checked once. */
static gather_status check_views(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *header, gather_arrow_batch *batch,
                                 int64_t *total) {
  gather_flat_vector views;
  GATHER_TRY(gather_flat_list(flat, header, BATCH_VIEWS, 8, &views));
  batch->buffers_of_views = views.at;
  *total = 0;
  if (views.len < arrow->all.views)
    return GATHER_ARROW_WRONG(arrow, header->at, "a record batch describes %" PRId64 " of %" PRId64 " view columns", views.len,
                              arrow->all.views);
  for (int64_t i = 0; i < arrow->all.views; i++) {
    int64_t more = gather_read_i64(arrow->file->map.bytes + views.at + 8 * i);
    if (more < 0 || !gather_add(*total, more, total))
      return GATHER_ARROW_WRONG(arrow, views.at + 8 * i, "invalid number of buffers of a view column: %" PRId64, more);
  }
  return GATHER_OK;
}

static gather_status read_lists(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *header, gather_arrow_batch *batch) {
  gather_flat_vector nodes, buffers;
  int64_t needed;
  GATHER_TRY(gather_flat_list(flat, header, BATCH_NODES, GATHER_ARROW_PAIR_BYTES, &nodes));
  GATHER_TRY(gather_flat_list(flat, header, BATCH_BUFFERS, GATHER_ARROW_PAIR_BYTES, &buffers));
  GATHER_TRY(check_views(arrow, flat, header, batch, &needed));
  batch->nodes = nodes.at;
  batch->buffers = buffers.at;
  if (nodes.len < arrow->all.nodes)
    return GATHER_ARROW_WRONG(arrow, header->at, "a record batch describes %" PRId64 " of %" PRId64 " fields", nodes.len, arrow->all.nodes);
  if (gather_add(needed, arrow->all.buffers, &needed) && buffers.len >= needed) return GATHER_OK;
  return GATHER_ARROW_WRONG(arrow, header->at, "a record batch has %" PRId64 " buffers; its columns need more", buffers.len);
}

/* Reads the message of a batch, which ends before `end`. */
static gather_status read_batch(gather_arrow *arrow, const gather_arrow_block *block, int64_t end, gather_arrow_batch *batch) {
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

/* The elements of a compressed buffer. They begin with it, except in lists of variable size. */
static gather_status place_compressed(const chunk *of, const arrow_elements *elements, const gather_arrow_contents *contents) {
  const gather_chunk_place place = {.offset = contents->start, .bytes = contents->bytes};
  if (elements->first > 0)
    return gather_arrow_unreadable(of->arrow, of->column, of->tensor, contents->start,
                                   "is compressed, and its lists do not begin with their first value, which is not supported");
  if (of->arrow->codec != of->batch->compression)
    return gather_arrow_unreadable(of->arrow, of->column, of->tensor, contents->start, "is compressed in two ways, which is not supported");
  if (of->tensor->bytes > contents->raw_bytes)
    return GATHER_ARROW_WRONG(of->arrow, contents->start, "column '%.100s' needs %" PRId64 " bytes; its buffer has %" PRId64,
                              of->column->name, of->tensor->bytes, contents->raw_bytes);
  return gather_arrow_set_chunk(of->arrow, of->column, of->tensor, &place, contents->raw_bytes);
}

/* Points the tensor to the elements. An empty one has no buffer that would be compressed. */
static gather_status place(const chunk *of, const arrow_elements *elements) {
  const gather_arrow *arrow = of->arrow;
  int64_t number = elements->buffer + 1, at = of->batch->buffers + GATHER_ARROW_PAIR_BYTES * number, skipped = 0;
  gather_arrow_contents contents = {.raw_bytes = -1};
  gather_file_tensor *tensor = of->tensor;
  if (tensor->bytes == 0)
    GATHER_TRY(gather_arrow_find_buffer(arrow, of->batch, number, of->column->name, &contents.start, &contents.bytes));
  else
    GATHER_TRY(gather_arrow_open_buffer(arrow, of->batch, number, of->column->name, &contents));
  tensor->offset = contents.start;
  if (tensor->bytes == 0) return GATHER_OK;
  if (contents.raw_bytes >= 0) return place_compressed(of, elements, &contents);
  if (!gather_mul(elements->first, of->column->item_bytes, &skipped) || skipped > contents.bytes ||
      tensor->bytes > contents.bytes - skipped)
    return GATHER_ARROW_WRONG(arrow, at, "column '%.100s' needs %" PRId64 " bytes; its buffer has %" PRId64, of->column->name,
                              tensor->bytes, contents.bytes);
  tensor->offset = contents.start + skipped;
  return gather_file_point(arrow->file, &arrow->file->map, tensor->offset, tensor, arrow->error);
}

/* The strides of elements whose axes are stored in another order. */
static gather_status set_strides(const chunk *of) {
  const gather_arrow_column *column = of->column;
  int64_t *strides = NULL;
  if (!column->order || of->tensor->bytes == 0 || gather_file_chunks_of(of->tensor)) return GATHER_OK;
  GATHER_TRY(gather_arrow_take(of->arrow, column->rank + 1, sizeof *strides, &strides));
  gather_arrow_strides(column, strides);
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
  if (column->has_order && of->arrow->big_endian != (GATHER_BIG_ENDIAN != 0)) of->tensor->tensor.flags |= GATHER_TENSOR_BYTE_SWAPPED;
  if (gather_shape_len(rank + 1, shape, &len) && gather_mul(len, column->item_bytes, &of->tensor->bytes)) return GATHER_OK;
  return GATHER_ARROW_WRONG(of->arrow, column->field, "the size of column '%.100s' does not fit in 64 bits", column->name);
}

static gather_status has_nulls(const chunk *of, const arrow_elements *elements) {
  const char *why = nulls_text(of->arrow, elements);
  return why ? gather_arrow_unreadable(of->arrow, of->column, of->tensor, elements->nulls_at, why) : GATHER_ARROW_NO_MEMORY(of->arrow);
}

static gather_status read_chunk(const chunk *of) {
  arrow_elements elements;
  GATHER_TRY(find_elements(of->arrow, of->batch, of->column, &elements));
  if (elements.nulls > 0 && of->column->is_variable) return has_nulls(of, &elements);
  if (elements.packed) return gather_arrow_unreadable(of->arrow, of->column, of->tensor, of->column->field, elements.packed);
  GATHER_TRY(place(of, &elements));
  if (elements.nulls > 0 && gather_file_rows_check(of->tensor, NULL) == GATHER_OK) return has_nulls(of, &elements);
  return set_strides(of);
}

/* Makes a tensor of a column's chunk in a batch. To be called in column order. NULL batch: no rows. */
static gather_status read_tensor(gather_arrow *arrow, gather_arrow_batch *batch, gather_arrow_column *column, gather_file_tensor *tensor) {
  chunk of = {arrow, batch, column, tensor};
  GATHER_TRY(set_shape(&of, batch ? batch->rows : 0));
  if (column->why) return gather_arrow_unreadable(arrow, column, tensor, column->field, column->why);
  if (!batch) return GATHER_OK;
  pass_views(arrow, batch, column);
  return read_chunk(&of);
}

/* ---- all of them */

/* Batches may be in any order, but may not share their metadata: otherwise a small file could list more chunks than
 * fit in memory. They end before `end`. */
static gather_status read_batches(gather_arrow *arrow, int64_t end, const gather_arrow_block *blocks, int64_t len,
                                  gather_arrow_batch **batches) {
  int64_t room = arrow->file->map.size, row = 0;
  GATHER_TRY(gather_arrow_take(arrow, len, sizeof **batches, batches));
  for (int64_t i = 0; i < len; i++) {
    const gather_arrow_block *block = &blocks[i];
    if (block->bytes > room)
      return GATHER_ARROW_WRONG(arrow, block->said_at, "the metadata of the record batches has more bytes than the file");
    GATHER_TRY(read_batch(arrow, block, end, &(*batches)[i]));
    room -= block->bytes;
    (*batches)[i].first_row = row;
    if (!gather_add(row, (*batches)[i].rows, &row))
      return GATHER_ARROW_WRONG(arrow, block->said_at, "the row count does not fit in 64 bits");
  }
  return GATHER_OK;
}

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
      return GATHER_ARROW_REFUSE(arrow, arrow->columns[i].field, "the column names are too long for %" PRId64 " record batches", batches);
    room -= bytes;
  }
  return GATHER_OK;
}

static gather_status list_pieces(gather_arrow *arrow, int64_t batches) {
  gather_file_pieces_row *rows = NULL;
  if (batches < 2) return GATHER_OK;
  GATHER_TRY(check_names(arrow, batches));
  GATHER_TRY(gather_arrow_take(arrow, arrow->len, sizeof *rows, &rows));
  for (int64_t i = 0; i < arrow->len; i++) rows[i] = (gather_file_pieces_row){arrow->columns[i].name, i * batches, batches};
  arrow->file->pieces = rows;
  arrow->file->pieces_len = arrow->len;
  return GATHER_OK;
}

/* Readers want all pieces of a column in chunks or none: those that are not compressed become chunks, too, without the filter. */
static gather_status unify(gather_arrow *arrow, int64_t len, const gather_arrow_column *column, gather_file_tensor *first) {
  bool is_in_chunks = false;
  for (int64_t i = 0; i < len; i++) is_in_chunks = is_in_chunks || gather_file_chunks_of(&first[i]) != NULL;
  for (int64_t i = 0; i < len && is_in_chunks; i++) {
    const gather_file_tensor *tensor = &first[i];
    const gather_chunk_place place = {.offset = tensor->offset, .bytes = tensor->bytes, .skipped = 1};
    if (tensor->bytes == 0 || gather_file_chunks_of(tensor) || gather_file_rows_check(tensor, NULL) != GATHER_OK) continue;
    GATHER_TRY(gather_arrow_set_chunk(arrow, column, &first[i], &place, tensor->bytes));
  }
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
    GATHER_TRY(settle(arrow, batches, len, &arrow->columns[i]));
    expect_lengths(arrow, batches, len, &arrow->columns[i]);
    for (int64_t k = 0; k < each; k++) {
      gather_file_tensor *tensor = &file->tensors[file->len++];
      GATHER_TRY(read_tensor(arrow, len > 0 ? &batches[k] : NULL, &arrow->columns[i], tensor));
      if (len > 1) GATHER_TRY(name_chunk(arrow, arrow->columns[i].name, k, tensor));
    }
    GATHER_TRY(unify(arrow, len, &arrow->columns[i], &file->tensors[file->len - each]));
  }
  return GATHER_OK;
}

gather_status gather_arrow_tensors(gather_arrow *arrow, int64_t end, const gather_arrow_block *blocks, int64_t len) {
  gather_arrow_batch *batches = NULL;
  GATHER_TRY(read_batches(arrow, end, blocks, len, &batches));
  return list_tensors(arrow, batches, len);
}
