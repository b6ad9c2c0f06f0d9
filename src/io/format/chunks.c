/* SPDX-License-Identifier: MIT
 *
 * chunks.c: what tensors in chunks have in common, whatever the format: their sizes, a row out of a chunk, errors, and a whole tensor.
 */
#include "io/format/chunks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"

/* ---- sizes */

static gather_status refuse(const gather_chunks *chunks, const char *name, int64_t at, const char *what, gather_error *error) {
  char shape[160];
  return gather_fail_file(error, GATHER_UNSUPPORTED, chunks->file->name, at, "'%.100s' is stored in chunks of %s: %s", name,
                          gather_shape_text(shape, sizeof shape, chunks->rank, chunks->chunk), what);
}

gather_status gather_chunks_measure(gather_chunks *chunks, const char *name, int64_t at, gather_error *error) {
  char shape[160];
  int64_t count = 1, bytes = chunks->item_bytes;
  for (int32_t d = chunks->rank - 1; d >= 0; d--) {
    if (chunks->chunk[d] < 1)
      return gather_fail_file(error, GATHER_FILE_MALFORMED, chunks->file->name, at, "invalid shape %s of the chunks of '%.100s'",
                              gather_shape_text(shape, sizeof shape, chunks->rank, chunks->chunk), name);
    chunks->grid[d] = chunks->shape[d] / chunks->chunk[d] + (chunks->shape[d] % chunks->chunk[d] != 0);
    chunks->strides[d] = bytes;
    if (!gather_mul(bytes, chunks->chunk[d], &bytes) || bytes > GATHER_CHUNK_BYTES_MAX)
      return refuse(chunks, name, at, "a chunk has more than 1 GiB, which is not supported", error);
    if (!gather_mul(count, chunks->grid[d], &count) || count > GATHER_CHUNKS_MAX)
      return refuse(chunks, name, at, "more than 2147483648 chunks are not supported", error);
  }
  chunks->count = count;
  chunks->raw_bytes = bytes;
  return GATHER_OK;
}

/* ---- a row out of a chunk */

int64_t gather_chunk_box_find(const gather_chunks *chunks, int64_t number, gather_chunk_box *box) {
  int64_t stride = chunks->item_bytes;
  for (int32_t d = chunks->rank - 1; d >= 0; d--) {
    box->first[d] = number % chunks->grid[d] * chunks->chunk[d];
    number /= chunks->grid[d];
    const int64_t left = chunks->shape[d] - box->first[d];
    box->len[d] = left < chunks->chunk[d] ? left : chunks->chunk[d];
    box->row_strides[d] = stride;
    stride *= chunks->shape[d];
  }
  return box->first[0] / chunks->chunk[0];
}

/* What is copied: of which bytes of a row, out of what. */
typedef struct chunk_copy {
  const gather_chunks *chunks;
  const gather_chunk_box *box;
  const gather_plain *plain; /* NULL: the fill value */
  int64_t from, end;         /* bytes of the row */
  char *out;                 /* where byte `from` goes */
} chunk_copy;

/* A run of neighbouring elements: at byte `at` of the row, and byte `from` of the chunk. */
static void copy_run(const chunk_copy *c, int64_t at, int64_t from, int64_t len) {
  const int64_t item = c->chunks->item_bytes, before = at < c->from ? c->from - at : 0;
  int64_t end = at + len * item;
  if (end > c->end) end = c->end;
  at += before, from += before;
  if (at >= end) return;
  char *out = c->out + (at - c->from);
  if (c->plain) {
    gather_plain_copy(c->plain, from, end - at, out);
    return;
  }
  const char *fill = c->chunks->fill;
  if (!fill) memset(out, 0, (size_t)(end - at));
  for (int64_t i = at; fill && i < end; i++) *out++ = fill[i % item];
}

static void copy_box(const chunk_copy *c, int32_t d, int64_t at, int64_t from) {
  const gather_chunks *chunks = c->chunks;
  const gather_chunk_box *box = c->box;
  const int32_t last = chunks->rank - 1;
  if (d > last) {
    copy_run(c, at, from, 1);
    return;
  }
  at += box->first[d] * box->row_strides[d];
  if (d == last && (chunks->strides[d] == chunks->item_bytes || !c->plain)) {
    copy_run(c, at, from, box->len[d]);
    return;
  }
  for (int64_t i = 0; i < box->len[d]; i++) copy_box(c, d + 1, at + i * box->row_strides[d], from + i * chunks->strides[d]);
}

void gather_chunks_copy(const gather_chunks *chunks, const gather_chunk_box *box, const gather_plain *plain, int64_t row, int64_t from,
                        int64_t bytes, char *out) {
  chunk_copy copy = {.chunks = chunks, .box = box, .plain = plain, .from = from, .end = from + bytes, .out = out};
  copy_box(&copy, 1, 0, row * chunks->strides[0]);
}

bool gather_chunks_has(const gather_chunks *chunks, int64_t number, int64_t from, int64_t bytes) {
  gather_chunk_box box;
  (void)gather_chunk_box_find(chunks, number, &box);
  int64_t first = 0, last = chunks->item_bytes - 1; /* bytes of the row: from the first to the last that the chunk has */
  for (int32_t d = 1; d < chunks->rank; d++) {
    first += box.first[d] * box.row_strides[d];
    last += (box.first[d] + box.len[d] - 1) * box.row_strides[d];
  }
  return first < from + bytes && last >= from;
}

/* ---- errors */

gather_status gather_chunks_blame(const gather_chunks *chunks, int64_t number, const gather_chunk_place *place, int64_t row,
                                  const gather_error *why, gather_error *error) {
  gather_chunk_box box;
  char wanted[64] = "";
  (void)gather_chunk_box_find(chunks, number, &box);
  const char *file = place->file ? place->file->path : chunks->file->name;
  if (row >= 0) (void)snprintf(wanted, sizeof wanted, "; row %" PRId64 " is in it", row);
  (void)gather_fail_file(error, why->status, file, place->offset,
                         "the chunk of rows %" PRId64 " to %" PRId64 " (%" PRId64 " bytes) is corrupt: %.200s%s", box.first[0],
                         box.first[0] + box.len[0] - 1, place->bytes, why->message, wanted);
  if (error) error->row = row;
  return why->status;
}

int64_t gather_chunks_first_row(const gather_chunks *chunks, int64_t number) {
  return number / gather_chunks_across(chunks) * chunks->chunk[0];
}

void gather_chunks_name(const gather_chunks *chunks, int64_t number, gather_error *error) {
  gather_chunk_box box;
  if (!error) return;
  (void)gather_chunk_box_find(chunks, number, &box);
  const size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length, "; needed for the chunk of rows %" PRId64 " to %" PRId64,
                 box.first[0], box.first[0] + box.len[0] - 1);
}

/* ---- that a tensor is in chunks */

gather_status gather_file_set_chunks(gather_file *file, const gather_chunks *chunks, gather_file_tensor *tensor, gather_error *error) {
  gather_unreadable *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  if (!made) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its contents");
  *made = (gather_unreadable){.status = GATHER_UNSUPPORTED, .file = file->name, .file_offset = -1, .chunks = chunks};
  tensor->tensor.data = NULL;
  tensor->unreadable = made;
  return GATHER_OK;
}

const gather_chunks *gather_file_chunks_of(const gather_file_tensor *tensor) {
  return tensor->unreadable ? tensor->unreadable->chunks : NULL;
}

bool gather_file_chunks(const gather_file_tensor *tensor, gather_file_chunks_info *info) {
  const gather_chunks *chunks = gather_file_chunks_of(tensor);
  int64_t longest;
  if (!chunks || !info) return chunks != NULL;
  *info = (gather_file_chunks_info){.rank = chunks->rank, .shape = chunks->chunk, .count = chunks->count, .stored_bytes = -1};
  info->across = gather_chunks_across(chunks);
  (void)gather_pipeline_text(&chunks->pipeline, info->filters, sizeof info->filters);
  if (chunks->sizes(chunks, &longest, &info->stored_bytes, NULL) != GATHER_OK) info->stored_bytes = -1;
  return true;
}

/* ---- a whole tensor */

typedef struct whole_load {
  const gather_chunks *chunks;
  gather_unfilter *unfilter;
  char *stored; /* room for stored_room bytes */
  int64_t stored_room, row_bytes;
  char *elements;
} whole_load;

/* The stored bytes of a chunk of the tensor's file. */
static gather_status find_stored(const whole_load *load, const gather_chunk_place *place, const void **stored, gather_error *error) {
  const gather_map *map = load->chunks->map;
  if (place->offset > map->size || place->bytes > map->size - place->offset)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, load->chunks->file->name, map->size,
                            "the file is truncated: a chunk needs %" PRId64 " bytes at byte %" PRId64, place->bytes, place->offset);
  if (map->remote) GATHER_TRY(gather_map_fetch(map, place->offset, place->bytes, error));
  *stored = map->bytes + place->offset;
  return GATHER_OK;
}

/* Those of a chunk in another file. */
static gather_status read_stored(whole_load *load, const gather_chunk_place *place, const void **stored, gather_error *error) {
  if (place->bytes > load->stored_room) {
    gather_free(load->stored);
    load->stored_room = 0;
    load->stored = gather_alloc(place->bytes);
    if (!load->stored) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a chunk of %" PRId64 " bytes", place->bytes);
    load->stored_room = place->bytes;
  }
  *stored = load->stored;
  return gather_chunk_read(place, load->stored, error);
}

/* stored NULL: the chunk is not stored. */
static gather_status decode_chunk(const whole_load *load, int64_t number, const gather_chunk_place *place, const void *stored,
                                  gather_error *error) {
  const gather_chunks *chunks = load->chunks;
  gather_plain plain = {0};
  gather_error why;
  gather_chunk_box box;
  const int64_t band = gather_chunk_box_find(chunks, number, &box);
  char *out = load->elements + band * chunks->chunk[0] * load->row_bytes;
  if (stored && gather_unfilter_run(load->unfilter, stored, place->bytes, place->skipped, chunks->raw_bytes, &plain, &why) != GATHER_OK)
    return gather_chunks_blame(chunks, number, place, -1, &why, error);
  for (int64_t row = 0; row < box.len[0]; row++)
    gather_chunks_copy(chunks, &box, stored ? &plain : NULL, row, 0, load->row_bytes, out + row * load->row_bytes);
  return GATHER_OK;
}

static gather_status load_chunk(whole_load *load, int64_t number, const gather_chunk_place *place, gather_error *error) {
  const void *stored = NULL;
  if (place->offset >= 0) GATHER_TRY(place->file ? read_stored(load, place, &stored, error) : find_stored(load, place, &stored, error));
  return decode_chunk(load, number, place, stored, error);
}

/* Chunks whose places are known. */
enum { AT_ONCE = 256 };

typedef struct load_group {
  whole_load *load;
  int64_t numbers[AT_ONCE], count;
  gather_chunk_place places[AT_ONCE];
} load_group;

static gather_status take_stored(void *context, int64_t i, const void *stored, gather_error *error) {
  const load_group *group = context;
  return decode_chunk(group->load, group->numbers[i], &group->places[i], stored, error);
}

/* Loads what chunks have in the tensor's own file on another machine, by requests at once; what is wrong is said chunk by chunk. */
static gather_status fetch_group(const load_group *group, gather_error *error) {
  const gather_map *map = group->load->chunks->map;
  gather_map_range ranges[AT_ONCE];
  int64_t count = 0;
  for (int64_t i = 0; i < group->count; i++) {
    const gather_chunk_place *place = &group->places[i];
    if (place->offset < 0 || place->file || place->offset > map->size || place->bytes > map->size - place->offset) continue;
    if (place->bytes > 0) ranges[count++] = (gather_map_range){place->offset, place->bytes};
  }
  return count > 0 ? gather_map_fetch_all(map, ranges, count, error) : GATHER_OK;
}

static gather_status load_remote(load_group *group, gather_error *error) {
  const gather_chunks *chunks = group->load->chunks;
  const gather_chunk_taker taker = {take_stored, group};
  int64_t failed = -1;
  gather_status status = GATHER_OK;
  for (int64_t i = 0; i < group->count && status == GATHER_OK; i++) { /* nothing is requested for these */
    const gather_chunk_place *place = &group->places[i];
    if (place->offset < 0 || place->bytes == 0)
      status = decode_chunk(group->load, group->numbers[i], place, place->offset < 0 ? NULL : "", error);
  }
  if (status == GATHER_OK) status = gather_chunks_read_remote(chunks->file->client, group->places, group->count, &taker, &failed, error);
  if (status != GATHER_OK) gather_chunks_forget(group->places, group->count);
  if (failed >= 0) gather_chunks_name(chunks, group->numbers[failed], error);
  return status;
}

/* Whether chunks are in files on other machines, and so short that a request for each is best: longer ones are read in parts. */
static bool is_remote(const load_group *group) {
  enum { LONG = 4 << 20 };
  bool is_any = false;
  for (int64_t i = 0; i < group->count; i++) {
    const gather_chunk_place *place = &group->places[i];
    if (place->offset < 0) continue;
    if (place->bytes > LONG) return false;
    is_any = is_any || (place->file && place->file->object);
  }
  return is_any;
}

static gather_status load_group_chunks(load_group *group, gather_error *error) {
  const gather_chunks *chunks = group->load->chunks;
  GATHER_TRY(chunks->find(chunks, group->numbers, group->count, group->places, error));
  if (is_remote(group)) return load_remote(group, error);
  if (chunks->map->remote) GATHER_TRY(fetch_group(group, error));
  for (int64_t i = 0; i < group->count; i++) GATHER_TRY(load_chunk(group->load, group->numbers[i], &group->places[i], error));
  return GATHER_OK;
}

static gather_status load_chunks(whole_load *load, gather_error *error) {
  const gather_chunks *chunks = load->chunks;
  load_group group = {.load = load};
  int64_t most = chunks->head_bytes > 0 ? GATHER_CHUNKS_TOGETHER / chunks->head_bytes : AT_ONCE;
  if (most > AT_ONCE) most = AT_ONCE;
  for (int64_t first = 0; first < chunks->count; first += group.count) {
    group.count = chunks->count - first < most ? chunks->count - first : most;
    for (int64_t i = 0; i < group.count; i++) group.numbers[i] = first + i;
    GATHER_TRY(load_group_chunks(&group, error));
  }
  return GATHER_OK;
}

gather_status gather_chunks_load(const gather_chunks *chunks, char *elements, gather_error *error) {
  whole_load load = {.chunks = chunks, .elements = elements, .row_bytes = chunks->item_bytes};
  for (int32_t d = 1; d < chunks->rank; d++) load.row_bytes *= chunks->shape[d];
  if (chunks->count == 0) return GATHER_OK;
  GATHER_TRY(gather_pipeline_check(&chunks->pipeline, error));
  GATHER_TRY(gather_unfilter_create(&chunks->pipeline, chunks->raw_bytes, &load.unfilter, error));
  const gather_status status = load_chunks(&load, error);
  gather_unfilter_destroy(load.unfilter);
  gather_free(load.stored);
  if (status != GATHER_OK && error) error->row = -1; /* it is no row of a table */
  return status;
}
