/* SPDX-License-Identifier: MIT
 *
 * arrow_levels.c: the levels of a column in a record batch: its rows, the lists around the elements, the elements. Lists of variable
 * size are rows of a tensor if all of them have one length, which their offsets tell: each is read once, when the file is opened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "io/format/arrow/arrow.h"
#include "io/format/bytes.h"

enum { PAIR_BYTES = 16 };

/* The level that is being looked at. */
typedef struct arrow_level {
  gather_arrow *arrow;
  const gather_arrow_batch *batch;
  gather_arrow_column *column;
  gather_arrow_elements *elements; /* .buffer and .first are those of the level */
  int64_t node;                    /* position of its node */
  int64_t count;                   /* of its values that are used, from number .first on */
  int64_t row_len;                 /* how many of them make a row; 0 also if a list around them has none */
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
  if (batch->compression >= 0 || offset < 0 || bytes < 0 || offset > batch->body_bytes ||
      bytes > batch->body_bytes - offset || bytes <= skipped)
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
  gather_arrow_elements *elements = of->elements;
  if (null_count == 0 || elements->nulls > 0) return;
  const bool all_used = elements->first == 0 && of->count == length;
  int64_t found = of->count == 0 && !all_used ? 0 : first_null(of);
  if (found == of->count && !all_used) return;
  const bool known = found >= 0 && found < of->count && of->row_len > 0;
  elements->nulls = null_count;
  elements->nulls_at = of->node + 8;
  elements->null_row = known ? of->batch->first_row + found / of->row_len : -1;
}

const char *gather_arrow_nulls_text(gather_arrow *arrow, const gather_arrow_elements *elements) {
  char why[160], where[48] = "";
  const bool one = elements->nulls == 1;
  if (elements->null_row >= 0)
    (void)snprintf(where, sizeof where, one ? " (row %" PRId64 ")" : " (the first in row %" PRId64 ")",
                   elements->null_row);
  int length = snprintf(why, sizeof why, "has %" PRId64 " %s, which a tensor cannot%s; fill %s in and write it again",
                        elements->nulls, one ? "null" : "nulls", where, one ? "it" : "them");
  return gather_arena_text(&arrow->file->arena, why, (size_t)length);
}

/* ---- lists of variable size */

static int64_t read_offset(const gather_arrow *arrow, const uint8_t *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)at[arrow->big_endian ? bytes - 1 - i : i] << 8 * i;
  return bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

/* The number of the first list that is not `length` long; count if all are. Little-endian offsets of 4 bytes are the usual ones. */
static int64_t first_other(const gather_arrow *arrow, const uint8_t *offsets, int bytes, int64_t count,
                           int64_t length) {
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
  if (bytes > arrow->offsets_room)
    return GATHER_ARROW_WRONG(arrow, start, "the offsets of its lists are longer than the file");
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

/* Where the offsets of the lists in use are: `first` is theirs. There is at least one list. */
static gather_status find_offsets(const arrow_level *of, int bytes, const uint8_t **offsets) {
  gather_arrow *arrow = of->arrow;
  int64_t start, size, needed, skipped;
  GATHER_TRY(gather_arrow_buffer(arrow, of->batch, of->elements->buffer + 1, of->column->name, &start, &size,
                                 &of->elements->packed));
  if (of->elements->packed) return GATHER_OK;
  if (!gather_mul(of->count, bytes, &needed) || !gather_add(needed, bytes, &needed) ||
      !gather_mul(of->elements->first, bytes, &skipped) || skipped > size || needed > size - skipped)
    return GATHER_ARROW_WRONG(arrow, start,
                              "column '%.100s' has %" PRId64 " bytes of offsets of its lists; expected more",
                              of->column->name, size);
  *offsets = arrow->file->map.bytes + start + skipped;
  if (of->column->is_settled) needed = bytes; /* only the first is read */
  GATHER_TRY(count_offsets(of, start, needed));
  return of->elements->packed ? GATHER_OK : gather_map_need(&arrow->file->map, start + skipped, needed, arrow->error);
}

static gather_status set_why(const arrow_level *of, const char *text, size_t length) {
  of->column->why = gather_arena_text(&of->arrow->file->arena, text, length);
  return of->column->why ? GATHER_OK : gather_arrow_no_memory(of->arrow);
}

/* A list of another length than the first one: its number among those in use. */
static gather_status refuse_ragged(const arrow_level *of, int64_t other, int64_t length, int64_t other_length) {
  char why[200];
  int64_t row = of->row_len > 0 ? of->batch->first_row + other / of->row_len : of->batch->first_row;
  int used = snprintf(why, sizeof why,
                      "has lists of different lengths: the first one has %" PRId64 ", one in row %" PRId64
                      " has %" PRId64 "; rows of a tensor have one shape",
                      length, row, other_length);
  return set_why(of, why, (size_t)used);
}

/* Compares the lists with those before, and goes to the first value of the first one. */
static gather_status enter_offsets(const arrow_level *of, gather_arrow_list *list) {
  const uint8_t *offsets = NULL;
  const int bytes = list->offset_bytes;
  GATHER_TRY(find_offsets(of, bytes, &offsets));
  if (of->elements->packed) return GATHER_OK;
  int64_t first = read_offset(of->arrow, offsets, bytes);
  if (!of->column->is_settled) {
    int64_t second = read_offset(of->arrow, offsets + bytes, bytes);
    if (first < 0 || second < first)
      return GATHER_ARROW_WRONG(of->arrow, offsets - of->arrow->file->map.bytes,
                                "invalid offset of a list in column '%.100s'", of->column->name);
    if (list->length < 0) list->length = second - first;
    int64_t other = first_other(of->arrow, offsets, bytes, of->count, list->length);
    if (other < of->count) {
      int64_t begin = read_offset(of->arrow, offsets + other * bytes, bytes);
      int64_t end = read_offset(of->arrow, offsets + (other + 1) * bytes, bytes);
      if (begin < 0 || end < begin)
        return GATHER_ARROW_WRONG(of->arrow, offsets + other * bytes - of->arrow->file->map.bytes,
                                  "invalid offset of a list in column '%.100s'", of->column->name);
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
    return GATHER_ARROW_WRONG(of->arrow, of->node, "column '%.100s' has %" PRId64 " values; its rows need %" PRId64,
                              of->column->name, *length, needed);
  if (*null_count >= 0 && *null_count <= *length) return GATHER_OK;
  return GATHER_ARROW_WRONG(of->arrow, of->node + 8, "column '%.100s' has %" PRId64 " nulls among %" PRId64 " values",
                            of->column->name, *null_count, *length);
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
  of->node += PAIR_BYTES;
  length = list->length < 0 ? 0 : list->length;
  if (!gather_mul(of->row_len, length, &of->row_len)) of->row_len = 0;
  if (gather_mul(of->count, length, &of->count)) return GATHER_OK;
  return GATHER_ARROW_WRONG(of->arrow, at, "the length of column '%.100s' does not fit in 64 bits", of->column->name);
}

gather_status gather_arrow_levels(gather_arrow *arrow, const gather_arrow_batch *batch, gather_arrow_column *column,
                                  gather_arrow_elements *elements) {
  *elements = (gather_arrow_elements){.buffer = column->buffer + batch->passed_buffers, .null_row = -1};
  arrow_level of = {arrow, batch, column, elements, batch->nodes + PAIR_BYTES * column->node, batch->rows, 1};
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

/* The offsets of the outermost lists in a remote file: by requests at once. */
static void expect_offsets(const gather_arrow *arrow, const gather_arrow_batch *batches, int64_t count,
                           const gather_arrow_column *column) {
  const gather_map *map = &arrow->file->map;
  int64_t total = 0;
  if (!gather_map_wants_hints(map) || column->list[0].offset_bytes == 0) return;
  gather_map_range *ranges = gather_alloc(count * (int64_t)sizeof *ranges);
  for (int64_t i = 0; ranges && i < count; i++) {
    int64_t number = column->buffer + batches[i].passed_buffers + 1;
    int64_t offset = gather_arrow_pair(arrow, batches[i].buffers, number, 0);
    int64_t size = gather_arrow_pair(arrow, batches[i].buffers, number, 1), body = batches[i].body_bytes;
    bool inside = offset >= 0 && size >= 0 && offset <= body && size <= body - offset;
    ranges[i] = (gather_map_range){batches[i].body + (inside ? offset : 0), inside ? size : 0};
    if (!gather_add(total, ranges[i].bytes, &total)) total = INT64_MAX;
  }
  if (ranges && total <= arrow->remote_room) gather_map_expect_all(map, ranges, count);
  gather_free(ranges);
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

gather_status gather_arrow_settle(gather_arrow *arrow, gather_arrow_batch *batches, int64_t count,
                                  gather_arrow_column *column) {
  static const char *const NAMES[] = {"fixed_size_list", "list", "large_list"};
  const char *nulls = NULL;
  if (column->is_settled || column->why) return GATHER_OK;
  for (int64_t i = 0; i < count; i++) gather_arrow_pass_views(arrow, &batches[i], column);
  expect_offsets(arrow, batches, count, column);
  for (int64_t i = 0; i < count && !column->why; i++) {
    gather_arrow_elements elements;
    GATHER_TRY(gather_arrow_levels(arrow, &batches[i], column, &elements));
    if (elements.packed) column->why = elements.packed;
    if (elements.nulls > 0 && !nulls && !(nulls = gather_arrow_nulls_text(arrow, &elements)))
      return gather_arrow_no_memory(arrow);
  }
  if (!column->why && nulls && !is_known(column)) column->why = nulls;
  if (column->why) column->type_name = NAMES[column->list[0].offset_bytes / 4];
  return column->why ? GATHER_OK : keep(arrow, column);
}
