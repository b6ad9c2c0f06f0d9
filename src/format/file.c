/* SPDX-License-Identifier: MIT
 *
 * file.c: opening a file by its content, its tensors, and the table of formats.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "format/format.h"
#include "format/nearest.h"
#include "format/open.h"

static const gather_format FORMATS[] = {
#define GATHER_FORMAT(name, abilities, extensions, recognise, open, carries, header, headers) \
  {name, abilities, extensions, recognise, open, carries, header, headers},
#include "format/format.def"
#undef GATHER_FORMAT
};

enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

size_t gather_format_count(void) { return FORMAT_COUNT; }
const gather_format *gather_format_at(size_t i) { return i < FORMAT_COUNT ? &FORMATS[i] : NULL; }
const char *gather_format_name(size_t i) { return i < FORMAT_COUNT ? FORMATS[i].name : NULL; }
const char *gather_format_abilities(size_t i) { return i < FORMAT_COUNT ? FORMATS[i].abilities : NULL; }
const char *gather_format_extensions(size_t i) { return i < FORMAT_COUNT ? FORMATS[i].extensions : NULL; }

const gather_format *gather_format_named(const char *name) {
  for (size_t i = 0; i < FORMAT_COUNT; i++)
    if (FORMATS[i].carries && strcmp(FORMATS[i].name, name) == 0) return &FORMATS[i];
  return NULL;
}

/* Is the word in a list with spaces between? */
static bool lists(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; length > 0 && (at = strstr(at, word)) != NULL; at++)
    if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ')) return true;
  return false;
}

const gather_format *gather_format_for_path(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash ? slash : path, '.');
  if (!dot || strchr(dot, ' ')) return NULL;
  for (size_t i = 0; i < FORMAT_COUNT; i++)
    if (FORMATS[i].carries && lists(FORMATS[i].extensions, dot)) return &FORMATS[i];
  return NULL;
}

/* ---- opening */

gather_status gather_file_make(const char *name, gather_file **file, gather_error *error) {
  size_t length = strlen(name);
  gather_file *made = gather_alloc((int64_t)sizeof **file);
  if (made) made->name = gather_alloc((int64_t)length + 1);
  if (!made || !made->name) {
    gather_free(made);
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory to open it");
  }
  memcpy(made->name, name, length);
  *file = made;
  return GATHER_OK;
}

gather_status gather_file_finish(gather_status status, gather_file *opened, gather_file **file) {
  if (status == GATHER_OK)
    *file = opened;
  else
    gather_file_close(opened);
  return status;
}

static gather_status open_by_content(gather_file *file, gather_error *error) {
  for (size_t i = 0; i < FORMAT_COUNT; i++) {
    const gather_format *format = &FORMATS[i];
    if (!format->recognise || !format->recognise(file->map.bytes, file->map.size)) continue;
    file->format = format->name;
    return format->open(file, error);
  }
  return gather_format_unknown(file, error);
}

gather_status gather_file_open(const char *path, gather_file **file, gather_error *error) {
  return gather_file_open_with(path, NULL, file, error);
}

/* Fields that this version does not know may only be zero; those that a program does not know have their defaults. */
static gather_status read_options(const gather_file_options *given, gather_file_options *options, gather_error *error) {
  *options = (gather_file_options)GATHER_FILE_OPTIONS_INIT;
  if (!given) return GATHER_OK;
  size_t known = given->size < sizeof *options ? given->size : sizeof *options;
  if (known < sizeof given->size)
    return gather_fail(error, GATHER_USAGE, "options.size is %zu; start from GATHER_FILE_OPTIONS_INIT", given->size);
  for (size_t i = sizeof *options; i < given->size; i++)
    if (((const char *)given)[i] != 0)
      return gather_fail(error, GATHER_USAGE, "the options have a field that this version does not know");
  memcpy(options, given, known);
  return GATHER_OK;
}

gather_status gather_file_open_with(const char *path, const gather_file_options *options, gather_file **file,
                                    gather_error *error) {
  gather_file_options full;
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_open: file is NULL");
  *file = NULL;
  if (!path) return gather_fail(error, GATHER_USAGE, "gather_file_open: path is NULL");
  GATHER_TRY(read_options(options, &full, error));
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(path, &made, error));
  made->no_links = full.no_links;
  gather_status status = gather_map_open(path, &made->map, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_from_memory(const void *memory, size_t bytes, const char *name, gather_file **file,
                                      gather_error *error) {
  if (!file) return gather_fail(error, GATHER_USAGE, "gather_file_from_memory: file is NULL");
  *file = NULL;
  gather_file *made = NULL;
  GATHER_TRY(gather_file_make(name ? name : "memory", &made, error));
  gather_status status = gather_file_use_memory(made, memory, bytes, error);
  if (status == GATHER_OK) status = open_by_content(made, error);
  return gather_file_finish(status, made, file);
}

gather_status gather_file_use_memory(gather_file *file, const void *memory, size_t bytes, gather_error *error) {
  if (bytes > PTRDIFF_MAX) return gather_fail_file(error, GATHER_OVERFLOW, file->name, -1, "its size does not fit");
  if (bytes > 0 && !memory) return gather_fail_file(error, GATHER_USAGE, file->name, -1, "memory is NULL");
  file->map = (gather_map){.bytes = memory, .size = (int64_t)bytes};
  return GATHER_OK;
}

gather_status gather_single_create(gather_file *file, int64_t text_bytes, gather_single **single, gather_error *error) {
  *single = gather_alloc((int64_t)sizeof **single + text_bytes);
  if (!*single) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->name, -1, "no memory for its header");
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
  if (!tensor->type_name) tensor->type_name = gather_type_get(tensor->tensor.type)->name; /* else the format's own */
  /* Compared this way round, nothing can overflow. */
  if (offset > file->map.size || tensor->bytes > file->map.size - offset)
    return gather_fail_file(error, GATHER_FILE_MALFORMED, file->name, file->map.size,
                            "it is cut short: %" PRId64 " bytes from byte %" PRId64 " on are needed, it has %" PRId64
                            " bytes in all",
                            tensor->bytes, offset, file->map.size);
  if (tensor->bytes > 0) tensor->tensor.data = (void *)(uintptr_t)(file->map.bytes + offset);
  return GATHER_OK;
}

/* ---- what is in it */

const char *gather_file_format(const gather_file *file) { return file->format; }
int64_t gather_file_len(const gather_file *file) { return file->len; }
const gather_file_tensor *gather_file_at(const gather_file *file, int64_t i) {
  return i >= 0 && i < file->len ? &file->tensors[i] : NULL;
}

/* The only tensor of that name in all graphs of a model; NULL. */
static const gather_file_tensor *find_plain(const gather_file *file, const char *name) {
  const gather_file_tensor *found = NULL;
  for (int64_t i = 0; i < file->len; i++) {
    if (strcmp(file->plain_names[i], name) != 0) continue;
    if (found) return NULL;
    found = &file->tensors[i];
  }
  return found;
}

/* The tensor that has this as one of its other names; without the graphs it stands in only if it is the only one. */
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

int64_t gather_file_pieces(const gather_file *file, const char *name, int64_t *first) {
  bool unnamed = !name || name[0] == '\0';
  for (int64_t i = 0; i < file->pieces_len; i++) {
    if (unnamed ? file->pieces_len > 1 : strcmp(file->pieces[i].name, name) != 0) continue;
    *first = file->pieces[i].first;
    return file->pieces[i].count;
  }
  return 0;
}

static gather_status fail_in_pieces(const gather_file *file, const char *name, int64_t count, gather_error *error) {
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                          "'%.100s' is no single tensor: it is in %" PRId64 " pieces, '%.100s@0' to '%.100s@%" PRId64
                          "', one for each record batch; tables take '%.100s' whole",
                          name, count, name, name, count - 1, name);
}

static gather_status fail_unnamed(const gather_file *file, gather_error *error) {
  char names[300];
  if (file->len == 0) return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1, "it holds no tensors");
  gather_first_names(file, names, sizeof names);
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1, "it holds %" PRId64 " tensors; name one of %s",
                          file->len, names);
}

gather_status gather_file_find(const gather_file *file, const char *name, const gather_file_tensor **tensor,
                               gather_error *error) {
  *tensor = NULL;
  bool unnamed = !name || name[0] == '\0';
  for (int64_t i = 0; i < file->len && !*tensor; i++)
    if (unnamed ? file->len == 1 : strcmp(file->tensors[i].name, name) == 0) *tensor = &file->tensors[i];
  if (!*tensor && !unnamed && file->plain_names) *tensor = find_plain(file, name);
  if (!*tensor && !unnamed) *tensor = find_other(file, name);
  if (*tensor) return GATHER_OK;
  if (unnamed) return fail_unnamed(file, error);
  if (file->len == 1 && file->tensors[0].name[0] == '\0')
    return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                            "there is no tensor '%.100s': it holds one tensor, which has no name", name);
  int64_t first = 0, pieces = gather_file_pieces(file, name, &first);
  if (pieces > 0) return fail_in_pieces(file, name, pieces, error);
  static const char FIRST[] = "; it has ";
  char nearest[300];
  gather_nearest_names(file, name, nearest, sizeof nearest);
  if (!*nearest && file->len > 0) {
    memcpy(nearest, FIRST, sizeof FIRST);
    gather_first_names(file, nearest + sizeof FIRST - 1, sizeof nearest - sizeof FIRST + 1);
  }
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, -1,
                          "there is no tensor '%.100s' among its %" PRId64 "%s", name, file->len, nearest);
}

void gather_file_close(gather_file *file) {
  if (!file) return;
  gather_map_close(&file->map);
  for (gather_sibling *sibling = file->siblings; sibling; sibling = sibling->next) gather_map_close(&sibling->map);
  gather_arena_clear(&file->arena);
  gather_free(file->single);
  gather_free(file->name);
  gather_free(file);
}
