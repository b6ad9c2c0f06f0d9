/* SPDX-License-Identifier: MIT
 *
 * gguf_split.c: opens GGUF files. The tensors of a model in several files, NAME-00001-of-00003.gguf, are those of all files, whichever of
 * them is opened. A part that is missing does not keep the others from being read.
 * Source: gguf-split of llama.cpp (the keys split.no, from 0, and split.count; the names of the files).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "io/format/gguf/gguf.h"

/* "-00001-of-00003.gguf" */
enum { DIGITS = 5, ENDING = 1 + DIGITS + 4 + DIGITS + 5 };

/* The parts of a model. */
typedef struct model {
  gather_gguf *own;
  char *locations; /* of part i at i * location_bytes */
  int64_t location_bytes, count;
  int64_t number; /* of the own part, from 0 */
  gather_gguf *part;
} model;

static gather_status no_memory(const gather_gguf *own) {
  return gather_fail_file(own->error, GATHER_OUT_OF_MEMORY, own->name, -1, "no memory for the parts of the model");
}

static const char *location_of(const model *m, int64_t i) { return m->locations + i * m->location_bytes; }

/* ---- names */

/* Five digits; -1. */
static int64_t read_digits(const char *at) {
  int64_t number = 0;
  for (int i = 0; i < DIGITS; i++) {
    if (at[i] < '0' || at[i] > '9') return -1;
    number = number * 10 + at[i] - '0';
  }
  return number;
}

/* Whether the name is that of part `number` + 1 of `count`. */
static bool read_name(const char *base, int64_t count, int64_t *number) {
  const size_t length = strlen(base);
  if (length <= ENDING) return false;
  const char *ending = base + length - ENDING;
  if (ending[0] != '-' || strncmp(ending + 1 + DIGITS, "-of-", 4) != 0 || strcmp(ending + ENDING - 5, ".gguf") != 0)
    return false;
  *number = read_digits(ending + 1) - 1;
  return read_digits(ending + 1 + DIGITS + 4) == count && *number >= 0 && *number < count;
}

/* Writes the names of all parts. *named: false if the own name is not one of a part. */
static gather_status name_parts(model *m, bool *named) {
  gather_file *file = m->own->file;
  const char *base = gather_file_base(file);
  if (!base) return no_memory(m->own);
  *named = read_name(base, m->count, &m->number);
  if (!*named) return GATHER_OK;
  const size_t stem = strlen(base) - ENDING;
  m->location_bytes = (int64_t)strlen(base) + 1;
  m->locations = gather_arena_take(&file->arena, m->count, m->location_bytes);
  if (!m->locations) return no_memory(m->own);
  for (int64_t i = 0; i < m->count; i++)
    (void)snprintf(m->locations + i * m->location_bytes, (size_t)m->location_bytes, "%.*s-%05d-of-%05d.gguf", (int)stem,
                   base, (int)(i + 1), (int)m->count);
  return GATHER_OK;
}

/* ---- parts */

/* Notes that a part cannot be read. */
static gather_status miss(model *m, const gather_error *why) {
  gather_file *file = m->own->file;
  const gather_unreadable *kept = gather_unreadable_keep(file, why);
  if (!kept) return no_memory(m->own);
  file->missing[file->missing_len++] = kept;
  return GATHER_OK;
}

static gather_status check_part(const model *m, int64_t i, const gather_gguf *part, gather_error *why) {
  if (part->split_count >= 0 && part->split_count != m->count)
    return gather_fail_file(why, GATHER_FILE_MALFORMED, part->name, -1,
                            "it is a part of a model of %" PRId64 " files, not of %" PRId64, part->split_count,
                            m->count);
  if (part->split_no >= 0 && part->split_no != i)
    return gather_fail_file(why, GATHER_FILE_MALFORMED, part->name, -1,
                            "its name says that it is part %" PRId64 ", its metadata that it is part %" PRId64, i + 1,
                            part->split_no + 1);
  if (part->big != m->own->big)
    return gather_fail_file(why, GATHER_UNSUPPORTED, part->name, -1,
                            "it is in another byte order than the other parts");
  return GATHER_OK;
}

/* Reads the header of part `i`. */
static gather_status read_part(model *m, int64_t i, gather_error *why) {
  gather_file *file = m->own->file;
  gather_gguf *part = &m->part[i];
  *part = (gather_gguf){.file = file, .error = why};
  GATHER_TRY(gather_file_sibling_open(file, location_of(m, i), -1, &part->map, why));
  part->name = gather_file_beside(file, location_of(m, i));
  if (!part->name)
    return gather_fail_file(why, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for the parts of the model");
  GATHER_TRY(
      gather_map_need(part->map, 0, part->map->size < GATHER_FORMAT_HEAD ? part->map->size : GATHER_FORMAT_HEAD, why));
  if (!gather_gguf_recognise(part->map))
    return gather_fail_file(why, GATHER_UNSUPPORTED, part->name, 0,
                            "it is not a GGUF file, but a part of a model by its name");
  GATHER_TRY(gather_gguf_read(part));
  return check_part(m, i, part, why);
}

static gather_status read_parts(model *m) {
  for (int64_t i = 0; i < m->count; i++) {
    gather_error why;
    if (i == m->number) {
      m->part[i] = *m->own;
      continue;
    }
    const gather_status status = read_part(m, i, &why);
    if (status == GATHER_OK) continue;
    m->part[i].len = 0;
    if (status != GATHER_OUT_OF_MEMORY) {
      GATHER_TRY(miss(m, &why));
      continue;
    }
    if (m->own->error) *m->own->error = why;
    return status;
  }
  return GATHER_OK;
}

/* Parts of a remote model are opened at once. */
static gather_status open_parts(const model *m) {
  if (!m->own->file->client) return GATHER_OK;
  const char **others = gather_alloc(m->count * (int64_t)sizeof *others);
  int64_t len = 0;
  if (!others) return no_memory(m->own);
  for (int64_t i = 0; i < m->count; i++)
    if (i != m->number) others[len++] = location_of(m, i);
  const gather_status status = gather_siblings_map_urls(m->own->file, others, len, NULL, m->own->error);
  gather_free((void *)others);
  return status;
}

/* ---- the model */

/* The tensors of all parts, in their order; a name may be given once. */
static gather_status join_tensors(model *m) {
  gather_file *file = m->own->file;
  gather_file_span *spans;
  const gather_file_span **sorted;
  int64_t len = 0;
  for (int64_t i = 0; i < m->count; i++) len += m->part[i].len;
  gather_file_tensor *tensors = gather_arena_take(&file->arena, len, (int64_t)sizeof *tensors);
  if (!tensors || !gather_file_spans_take(file, len, &spans, &sorted)) return no_memory(m->own);
  int64_t at = 0;
  for (int64_t i = 0; i < m->count; i++)
    for (int64_t k = 0; k < m->part[i].len; k++, at++) {
      tensors[at] = m->part[i].tensors[k];
      spans[at] = (gather_file_span){.tensor = &tensors[at], .said_at = -1};
    }
  gather_file_spans_by_name(sorted, len);
  GATHER_TRY(gather_file_spans_differ(sorted, len, file->name, m->own->error));
  file->tensors = tensors;
  file->len = len;
  return GATHER_OK;
}

static gather_status join(gather_gguf *own) {
  gather_file *file = own->file;
  model m = {.own = own, .count = own->split_count};
  bool named = false;
  file->missing = gather_arena_take(&file->arena, m.count, (int64_t)sizeof *file->missing);
  m.part = gather_arena_take(&file->arena, m.count, (int64_t)sizeof *m.part);
  if (!file->missing || !m.part) return no_memory(own);
  GATHER_TRY(name_parts(&m, &named));
  if (!named) {
    gather_error why;
    (void)gather_fail_file(&why, GATHER_FILE_NOT_FOUND, file->name, -1,
                           "it is one of the %" PRId64
                           " files of a model, but its name does not end in -NNNNN-of-%05d.gguf, "
                           "so the others cannot be found",
                           m.count, (int)m.count);
    return miss(&m, &why);
  }
  GATHER_TRY(check_part(&m, m.number, own, own->error));
  GATHER_TRY(open_parts(&m));
  GATHER_TRY(read_parts(&m));
  return join_tensors(&m);
}

gather_status gather_gguf_open(gather_file *file, gather_error *error) {
  gather_gguf gguf = {.file = file, .map = &file->map, .name = file->name, .error = error};
  GATHER_TRY(gather_gguf_read(&gguf));
  file->blocks_swapped = gguf.big;
  file->tensors = gguf.tensors;
  file->len = gguf.len;
  return gguf.split_count > 1 ? join(&gguf) : GATHER_OK;
}
