/* SPDX-License-Identifier: MIT
 *
 * file.c: an open file: begins and ends it, and finds its tensors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "io/format/chunks.h"
#include "io/format/format.h"

/* ---- names for messages: the nearest by edit distance, and the first ones */

/* Of longer names, only the ends are compared, where the names of weights differ. Three suggestions are enough to
 * spot a typo. */
enum { COMPARED = 96, ANSWERS = 3, SHOWN = 8 };

static const char *tail(const char *name, size_t *length) {
  size_t whole = strlen(name);
  *length = whole > COMPARED ? COMPARED : whole;
  return name + (whole - *length);
}

/* The edit distance of two names. */
static size_t distance(const char *a, const char *b) {
  size_t a_len, b_len, row[COMPARED + 1];
  a = tail(a, &a_len);
  b = tail(b, &b_len);
  for (size_t j = 0; j <= b_len; j++) row[j] = j;
  for (size_t i = 1; i <= a_len; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_len; j++) {
      size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = change < shift ? change : shift;
    }
  }
  return row[b_len];
}

/* Writes "; the nearest are 'a', 'b', 'c'" into text, or "" if no name is similar. */
static void write_nearest(const gather_file *file, const char *name, char *text, size_t bytes) {
  const char *best[ANSWERS] = {NULL};
  size_t score[ANSWERS] = {0}, length;
  (void)tail(name, &length);
  for (int64_t i = 0; i < file->len; i++) {
    const char *candidate = file->tensors[i].name;
    size_t far = distance(name, candidate);
    if (far > length / 2 + 1) continue;
    for (int k = 0; k < ANSWERS; k++) {
      if (best[k] && score[k] <= far) continue;
      const char *moved = best[k];
      size_t moved_score = moved ? score[k] : 0;
      best[k] = candidate;
      score[k] = far;
      if (!moved) break;
      candidate = moved;
      far = moved_score;
    }
  }
  size_t at = 0;
  text[0] = '\0';
  for (int k = 0; k < ANSWERS && best[k]; k++) {
    const char *before = k ? ", " : best[1] ? "; the nearest are " : "; the nearest is ";
    int wrote = snprintf(text + at, bytes - at, "%s'%.50s'", before, best[k]);
    at += wrote > 0 ? (size_t)wrote : 0;
    if (at >= bytes) break;
  }
}

/* Writes the first tensors as "'a' float32 [3, 4], 'b' int64 [2] and 7 more" into text (at least 128 bytes), "" if
 * there are none. */
static void write_first(const gather_file *file, char *text, size_t bytes) {
  size_t at = 0;
  int64_t shown = 0;
  text[0] = '\0';
  for (; shown < file->len && shown < SHOWN; shown++) {
    char item[192], shape[96];
    const gather_file_tensor *tensor = &file->tensors[shown];
    (void)gather_shape_text(shape, sizeof shape, tensor->tensor.rank, tensor->tensor.shape);
    int len = snprintf(item, sizeof item, "%s'%.60s' %.24s %s", shown ? ", " : "", tensor->name, tensor->type_name, shape);
    if (len < 0 || at + (size_t)len + 32 > bytes) break; /* space for " and N more" */
    memcpy(text + at, item, (size_t)len + 1);
    at += (size_t)len;
  }
  if (shown > 0 && shown < file->len) (void)snprintf(text + at, bytes - at, " and %" PRId64 " more", file->len - shown);
}

/* ---- the open file */

/* The default of gather_file_source.download_bytes. */
#define DOWNLOAD_BYTES (INT64_C(1) << 30)

gather_status gather_file_make(const char *name, gather_file **file, gather_error *error) {
  size_t length = strlen(name);
  gather_file *made = gather_alloc((int64_t)sizeof **file);
  if (made) made->name = gather_alloc((int64_t)length + 1);
  if (!made || !made->name) {
    gather_free(made);
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "out of memory while opening it");
  }
  made->download_bytes = DOWNLOAD_BYTES;
  memcpy(made->name, name, length);
  *file = made;
  return GATHER_OK;
}

/* ---- tensors by name */

static uint64_t hash(const char *name) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
  return h ^ h >> 32;
}

/* The place of that name, or the empty one for it. */
static int64_t *slot_of(const gather_file *file, const char *name) {
  const uint64_t mask = (uint64_t)file->name_slot_count - 1;
  uint64_t at = hash(name) & mask;
  while (file->name_slots[at] > 0 && strcmp(file->tensors[file->name_slots[at] - 1].name, name) != 0) at = (at + 1) & mask;
  return &file->name_slots[at];
}

/* Side tensors are looked up for each tensor. Without memory for the table, a search takes longer. */
static void index_names(gather_file *file) {
  enum { FEW = 16 };
  if (file->len <= FEW) return;
  for (file->name_slot_count = FEW; file->name_slot_count / 2 < file->len;) file->name_slot_count *= 2;
  file->name_slots = gather_arena_take(&file->arena, file->name_slot_count, (int64_t)sizeof *file->name_slots);
  for (int64_t i = 0; file->name_slots && i < file->len; i++) {
    int64_t *slot = slot_of(file, file->tensors[i].name);
    if (*slot == 0) *slot = i + 1;
  }
}

const gather_file_tensor *gather_file_named(const gather_file *file, const char *name) {
  if (file->name_slots) {
    const int64_t number = *slot_of(file, name);
    return number > 0 ? &file->tensors[number - 1] : NULL;
  }
  for (int64_t i = 0; i < file->len; i++)
    if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i];
  return NULL;
}

/* ---- the end of opening */

gather_status gather_file_finish(gather_status status, gather_file *opened, gather_file **file) {
  if (status == GATHER_OK) index_names(opened);
  if (status == GATHER_OK)
    *file = opened;
  else
    gather_file_close(opened);
  return status;
}

gather_status gather_single_create(gather_file *file, int64_t text_bytes, gather_single **single, gather_error *error) {
  *single = gather_alloc((int64_t)sizeof **single + text_bytes);
  if (!*single) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its header");
  (*single)->tensor.name = "";
  (*single)->tensor.tensor.shape = (*single)->shape;
  (*single)->tensor.tensor.flags = GATHER_FILE_VIEW;
  file->tensors = &(*single)->tensor;
  file->single = *single;
  file->len = 1;
  return GATHER_OK;
}

gather_status gather_single_place(gather_file *file, gather_single *single, int64_t offset, gather_error *error) {
  gather_file_tensor *tensor = &single->tensor;
  tensor->offset = offset;
  if (!tensor->type_name) tensor->type_name = gather_type_get(tensor->tensor.type)->name; /* else set by the format */
  /* In this order nothing can overflow. */
  if (offset > file->map.size || tensor->bytes > file->map.size - offset)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, file->map.size,
                            "the file is truncated: %" PRId64 " bytes are needed at byte %" PRId64 ", it has %" PRId64 " bytes in all",
                            tensor->bytes, offset, file->map.size);
  return gather_file_point(file, &file->map, offset, tensor, error);
}

void gather_file_close(gather_file *file) {
  if (!file) return;
  gather_map_close(&file->map);
  for (gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next) gather_map_close(&sibling->map);
  if (file->release) file->release(file->held);
  gather_remote_client_release(file->client);
  gather_arena_clear(&file->arena);
  gather_free(file->single);
  gather_free(file->name);
  gather_free(file);
}

/* ---- which files it reads */

bool gather_file_reads(const gather_file *file, const char *path) {
  gather_map there;
  if (!file || !path || !gather_map_identify(path, &there)) return false;
  bool same = gather_map_is_same(&file->map, &there);
  for (const gather_sibling *other = file->siblings; other && !same; other = other->next) same = gather_map_is_same(&other->map, &there);
  return same;
}

/* ---- what is in it */

bool gather_file_missing_at(const gather_file *file, int64_t i, gather_error *why) {
  if (i < 0 || i >= file->missing_len) return false;
  return gather_unreadable_recall(file->missing[i], why) != GATHER_OK;
}

/* A name that is not found in a model of which parts are missing. */
static gather_status fail_in_missing(const gather_file *file, const char *name, gather_error *error) {
  const gather_status status = gather_unreadable_recall(file->missing[0], error);
  const size_t length = error ? strlen(error->message) : 0;
  if (!error) return status;
  if (file->missing_len > 1)
    (void)snprintf(error->message + length, sizeof error->message - length,
                   "; '%.100s' may be in it, or in %" PRId64 " more parts that are missing", name, file->missing_len - 1);
  else
    (void)snprintf(error->message + length, sizeof error->message - length, "; '%.100s' may be in it", name);
  return status;
}

const char *gather_file_format(const gather_file *file) { return file->format; }

const char *gather_file_name(const gather_file *file) { return file->name; }

int64_t gather_file_len(const gather_file *file) { return file->len; }

const gather_file_tensor *gather_file_at(const gather_file *file, int64_t i) { return i >= 0 && i < file->len ? &file->tensors[i] : NULL; }

/* The tensor of that name, if all graphs of a model have only one; NULL. */
static const gather_file_tensor *find_plain(const gather_file *file, const char *name) {
  const gather_file_tensor *found = NULL;
  for (int64_t i = 0; i < file->len; i++) {
    if (strcmp(file->plain_names[i], name) != 0) continue;
    if (found) return NULL;
    found = &file->tensors[i];
  }
  return found;
}

/* The tensor that has this as one of its other names; a name without its graphs must be unique. */
static const gather_file_tensor *find_other(const gather_file *file, const char *name) {
  int64_t found = -1;
  bool is_only = true;
  for (const gather_other_name *other = file->others; other; other = other->next) {
    if (strcmp(other->full, name) == 0) return &file->tensors[other->tensor];
    if (strcmp(other->plain, name) != 0) continue;
    is_only = found < 0 || found == other->tensor;
    found = other->tensor;
  }
  return found >= 0 && is_only ? &file->tensors[found] : NULL;
}

static gather_status fail_in_pieces(const gather_file *file, const char *name, int64_t count, gather_error *error) {
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                          "'%.100s' is not a single tensor: it has %" PRId64 " chunks, '%.100s@0' to '%.100s@%" PRId64
                          "', one for each record batch; a table takes all of '%.100s'",
                          name, count, name, name, count - 1, name);
}

static gather_status fail_unnamed(const gather_file *file, gather_error *error) {
  char names[300];
  if (file->len == 0) return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1, "the file has no tensors");
  write_first(file, names, sizeof names);
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1, "the file has %" PRId64 " tensors; name one: %s", file->len, names);
}

gather_status gather_file_find(const gather_file *file, const char *name, const gather_file_tensor **tensor, gather_error *error) {
  *tensor = NULL;
  bool unnamed = !name || name[0] == '\0';
  if (!unnamed) *tensor = gather_file_named(file, name);
  if (unnamed && file->len == 1) *tensor = file->tensors;
  if (!*tensor && !unnamed && file->plain_names) *tensor = find_plain(file, name);
  if (!*tensor && !unnamed) *tensor = find_other(file, name);
  if (!*tensor && !unnamed && file->find_path) GATHER_TRY(file->find_path(file, name, tensor, error));
  if (*tensor) return GATHER_OK;
  if (unnamed) return fail_unnamed(file, error);
  if (file->len == 1 && file->tensors[0].name[0] == '\0')
    return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                            "no such tensor '%.100s'; the file has one tensor, without a name", name);
  if (file->missing_len > 0) return fail_in_missing(file, name, error);
  int64_t first = 0, pieces = gather_file_pieces(file, name, &first);
  if (pieces > 0) return fail_in_pieces(file, name, pieces, error);
  static const char FIRST[] = "; the file has: ";
  char nearest[300];
  write_nearest(file, name, nearest, sizeof nearest);
  if (!*nearest && file->len > 0) {
    memcpy(nearest, FIRST, sizeof FIRST);
    write_first(file, nearest + sizeof FIRST - 1, sizeof nearest - sizeof FIRST + 1);
  }
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1, "no such tensor '%.100s' among %" PRId64 "%s", name, file->len,
                          nearest);
}

/* Decodes the elements of a tensor in chunks: a copy of the tensor with data, which the file owns. */
static gather_status decode(gather_file *file, const gather_file_tensor *tensor, const gather_file_tensor **loaded, gather_error *error) {
  const int64_t most = file->download_bytes;
  char size[32], limit[32];
  if (tensor->bytes > most) /* a file of a few bytes may say so much: chunks that are not stored are the fill value */
    return gather_fail_file(
        error, GATHER_UNSUPPORTED, file->name, -1,
        "'%.100s' is stored in chunks and has %s, more than the %s that are decoded at once; read rows of it as a table "
        "(gather take)",
        tensor->name, gather_text_bytes(tensor->bytes, size, sizeof size), gather_text_bytes(most, limit, sizeof limit));
  gather_file_tensor *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  char *elements = made ? gather_arena_take(&file->arena, tensor->bytes, 1) : NULL;
  if (!elements)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for the elements of '%.100s'", tensor->name);
  GATHER_TRY(gather_chunks_load(gather_file_chunks_of(tensor), elements, error));
  *made = *tensor;
  made->unreadable = NULL;
  made->tensor.data = elements;
  *loaded = made;
  return GATHER_OK;
}

/* Downloads the elements of a remote tensor: a copy of the tensor with data, which the file owns; any other tensor as it is. */
static gather_status download(gather_file *file, const gather_file_tensor *tensor, const gather_file_tensor **loaded, gather_error *error) {
  *loaded = tensor;
  if (gather_file_chunks_of(tensor)) return decode(file, tensor, loaded, error);
  if (!gather_file_is_remote(tensor)) return GATHER_OK;
  const gather_unreadable *at = tensor->unreadable;
  GATHER_TRY(gather_file_check_download(file, tensor->name, tensor->bytes, error));
  gather_file_tensor *made = gather_arena_take(&file->arena, 1, (int64_t)sizeof *made);
  if (!made) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for its contents");
  GATHER_TRY(gather_map_fetch(at->map, at->file_offset, tensor->bytes, error));
  *made = *tensor;
  made->unreadable = NULL;
  made->tensor.data = (void *)(uintptr_t)(at->map->bytes + at->file_offset);
  *loaded = made;
  return GATHER_OK;
}

/* ---- tensors in chunks, such as a column in the record batches of an Arrow file, joined */

/* Chunks of a remote file: downloads all at once. */
static gather_status fetch_pieces(const gather_file *file, const gather_file_tensor *first, int64_t count, const char *name, int64_t bytes,
                                  gather_error *error) {
  if (!file->map.remote) return GATHER_OK;
  GATHER_TRY(gather_file_check_download(file, name, bytes, error));
  gather_map_range *ranges = gather_alloc(count * (int64_t)sizeof *ranges);
  if (!ranges) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for the chunks of '%.100s'", name);
  for (int64_t i = 0; i < count; i++) {
    const gather_chunks *chunks = gather_file_chunks_of(&first[i]);
    int64_t longest, all = -1;
    if (chunks && chunks->count == 1 && chunks->sizes(chunks, &longest, &all, NULL) == GATHER_OK && all >= 0)
      ranges[i] = (gather_map_range){first[i].offset, all};
    if (gather_file_is_remote(&first[i])) ranges[i] = (gather_map_range){first[i].offset, first[i].bytes};
  }
  gather_status status = gather_map_fetch_all(&file->map, ranges, count, error);
  gather_free(ranges);
  return status;
}

/* Concatenates the chunks, decoded. Each is dense, and all have the same strides within a row. */
static gather_status copy_pieces(gather_file *file, const gather_file_tensor *first, int64_t count, int64_t bytes,
                                 gather_file_tensor *whole, gather_error *error) {
  const gather_file_tensor *loaded;
  if (bytes == 0) return GATHER_OK;
  GATHER_TRY(fetch_pieces(file, first, count, whole->name, bytes, error));
  char *to = gather_arena_take(&file->arena, bytes, 1);
  if (!to)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for the %" PRId64 " chunks of '%.100s'", count,
                            whole->name);
  whole->tensor.data = to;
  for (int64_t i = 0; i < count; to += first[i++].bytes) {
    const gather_chunks *chunks = gather_file_chunks_of(&first[i]);
    if (chunks) GATHER_TRY(gather_chunks_load(chunks, to, error));
    if (first[i].bytes == 0 || chunks) continue;
    GATHER_TRY(download(file, &first[i], &loaded, error));
    memcpy(to, loaded->tensor.data, (size_t)first[i].bytes);
    whole->tensor.strides = first[i].tensor.strides;
  }
  return GATHER_OK;
}

static gather_status join(gather_file *file, const char *name, const gather_file_tensor *first, int64_t count,
                          const gather_file_tensor **tensor, gather_error *error) {
  size_t rank = (size_t)first->tensor.rank;
  int64_t bytes = 0, rows = 0, *shape = gather_arena_take(&file->arena, (int64_t)rank, (int64_t)sizeof *shape);
  gather_file_tensor *whole = gather_arena_take(&file->arena, 1, (int64_t)sizeof *whole);
  if (!shape || !whole)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "out of memory for the chunks of '%.100s'", name);
  for (int64_t i = 0; i < count; i++) {
    GATHER_TRY(gather_file_rows_check(&first[i], error));
    if (!gather_add(bytes, first[i].bytes, &bytes) || !gather_add(rows, first[i].tensor.shape[0], &rows))
      return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "the size of '%.100s' does not fit in 64 bits", name);
  }
  memcpy(shape, first->tensor.shape, rank * sizeof *shape);
  shape[0] = rows;
  *whole = *first;
  whole->unreadable = NULL;
  whole->name = name;
  whole->bytes = bytes;
  whole->tensor.shape = shape;
  whole->tensor.data = NULL;
  *tensor = whole;
  return copy_pieces(file, first, count, bytes, whole, error);
}

gather_status gather_file_find_whole(gather_file *file, const char *name, const gather_file_tensor **tensor, gather_error *error) {
  gather_status status = gather_file_find(file, name, tensor, error);
  int64_t first = 0, count = status == GATHER_NAME_NOT_FOUND ? gather_file_pieces(file, name, &first) : 0;
  if (status == GATHER_OK) status = download(file, *tensor, tensor, error);
  if (count == 0) {
    if (status != GATHER_OK) *tensor = NULL;
    return status;
  }
  for (int64_t i = 0; i < file->pieces_len; i++)
    if (file->pieces[i].first == first) name = file->pieces[i].name; /* valid as long as the file */
  status = join(file, name, &file->tensors[first], count, tensor, error);
  if (status != GATHER_OK) *tensor = NULL;
  return status;
}
