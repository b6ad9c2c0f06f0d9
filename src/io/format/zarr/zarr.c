/* SPDX-License-Identifier: MIT
 *
 * zarr.c: opens stores of Zarr 2 and 3 that are directories or zip files. Each array is a tensor, named by its path in the store. If the
 * metadata are consolidated, only those are read; else directories are, as far as groups go, or all members. An array that is not supported
 * is listed with the reason.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "io/format/zarr/zarr.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/growing.h"
#include "core/base/path.h"
#include "io/format/span.h"

/* What says that a directory is a store. */
enum { VERSION_3, CONSOLIDATED, ARRAY, GROUP, METADATA };

static const char *const NAMES[METADATA] = {"zarr.json", ".zmetadata", ".zarray", ".zgroup"};

/* Whether there is a file at folder/name. */
static bool has(const char *folder, size_t folder_bytes, const char *name) {
  enum { MOST_PATH = 4096 };
  char path[MOST_PATH];
  struct stat about;
  const int length = snprintf(path, sizeof path, "%.*s/%s", (int)folder_bytes, folder, name);
  return length > 0 && length < MOST_PATH && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool gather_zarr_is_store(const char *path) {
  const size_t bytes = strlen(path);
  for (int i = 0; i < METADATA && bytes < INT32_MAX; i++)
    if (has(path, bytes, NAMES[i])) return true;
  return false;
}

bool gather_zarr_is_mark(const char *name) {
  int which = 0;
  while (which < METADATA && strcmp(name, NAMES[which]) != 0) which++;
  return which < METADATA;
}

bool gather_zarr_is_url(const char *url) {
  static const char ENDING[] = ".zarr";
  const size_t bytes = sizeof ENDING - 1;
  const char *last = NULL, *slash = strrchr(url, '/');
  if (strpbrk(url, "?#")) return false;
  for (const char *at = url; (at = strstr(at, ENDING)) != NULL; at += bytes)
    if (at[bytes] == '\0' || at[bytes] == '/') last = at + bytes;
  return last && (slash < last || !strchr(slash, '.'));
}

#ifdef GATHER_HAVE_JANSSON

/* ---- what was found */

/* An array; those of a store are a list in the file's arena. */
typedef struct zarr_node {
  struct zarr_node *next;
  gather_file_tensor tensor;
} zarr_node;

/* The state of opening a store. */
typedef struct zarr_reading {
  gather_file *file;
  gather_error *error;
  gather_zarr_store *store;
  const gather_zarr_zip *zip; /* NULL: it is a directory */
  const char *root;           /* its path, with a slash; "" in a zip file */
  size_t root_bytes;
  zarr_node *nodes;
  int64_t len, entries; /* entries: of directories */
} zarr_reading;

static gather_status no_memory(const zarr_reading *z) {
  return gather_fail_file(z->error, GATHER_OUT_OF_MEMORY, z->file->name, -1, "out of memory for its contents");
}

/* A description that is being read; its map is closed afterwards. */
typedef struct zarr_text {
  gather_map map;
  gather_json json;
} zarr_text;

/* Opens a file of metadata. path: room that is written to meanwhile. */
static gather_status open_text(const zarr_reading *z, char *path, zarr_text *text) {
  text->map = (gather_map){0};
  GATHER_TRY(z->file->no_links ? gather_map_open_below(path, z->root_bytes, &text->map, z->error)
                               : gather_map_open(path, &text->map, z->error));
  text->json = (gather_json){z->file, path, text->map.bytes, z->error};
  const gather_status status = gather_zarr_check_text(&text->json, text->map.size);
  if (status != GATHER_OK) gather_map_close(&text->map);
  return status;
}

static gather_json_part whole_of(const zarr_text *text) { return (gather_json_part){0, text->map.size}; }

/* ---- an array */

/* Keeps why an array cannot be read. */
static gather_status keep_failure(const zarr_reading *z, const gather_error *why, gather_file_tensor *tensor) {
  gather_tensor *view = &tensor->tensor;
  if (gather_tensor_check(view, NULL) != GATHER_OK) view->rank = 0, view->type = GATHER_TYPE_OPAQUE, view->item_bytes = 0;
  tensor->bytes = gather_tensor_bytes(view);
  return gather_file_unreadable(z->file, why, tensor, z->error);
}

/* Adds an array whose description cannot be read. path: in the arena. */
static gather_status add_failure(zarr_reading *z, const gather_error *why, const char *path) {
  zarr_node *node = gather_arena_take(&z->file->arena, 1, (int64_t)sizeof *node);
  if (!node) return no_memory(z);
  node->tensor =
      (gather_file_tensor){.name = path, .type_name = "unknown", .tensor = {.type = GATHER_TYPE_OPAQUE, .flags = GATHER_FILE_VIEW}};
  node->next = z->nodes;
  z->nodes = node;
  z->len++;
  return keep_failure(z, why, &node->tensor);
}

/* The directory of a path in the store, with its slash; NULL: out of memory. */
static char *folder_of(const zarr_reading *z, const char *path) {
  const size_t bytes = strlen(path);
  char *folder = gather_arena_take(&z->file->arena, (int64_t)(z->root_bytes + bytes) + 2, 1);
  if (!folder) return NULL;
  memcpy(folder, path, bytes);
  if (bytes > 0) folder[bytes] = '/';
  if (z->file->client && !z->zip) return gather_file_beside(z->file, folder); /* percent-encoded */
  memmove(folder + z->root_bytes, folder, bytes + 1);
  memcpy(folder, z->root, z->root_bytes);
  return folder;
}

/* Adds an array. path: in the arena; "" is the store itself. */
static gather_status add_array(zarr_reading *z, const gather_json *json, int version, gather_json_part object, const char *path) {
  gather_arena *arena = &z->file->arena;
  gather_error why;
  zarr_node *node = gather_arena_take(arena, 1, (int64_t)sizeof *node);
  gather_zarr_array *array = gather_arena_take(arena, 1, (int64_t)sizeof *array);
  char *folder = folder_of(z, path);
  if (!node || !array || !folder) return no_memory(z);
  array->is_remote = z->file->client != NULL && !z->zip;
  array->zip = z->zip;
  array->folder = folder;
  array->folder_bytes = z->file->no_links ? (int64_t)z->root_bytes : -1;
  node->tensor = (gather_file_tensor){.name = path, .type_name = "unknown"};
  node->tensor.tensor = (gather_tensor){.type = GATHER_TYPE_OPAQUE, .flags = GATHER_FILE_VIEW};
  node->next = z->nodes;
  z->nodes = node;
  z->len++;
  gather_zarr_reading r = {.json = *json, .array = array, .tensor = &node->tensor};
  r.json.error = &why;
  const gather_status status = gather_zarr_describe(&r, version, object);
  if (status == GATHER_OUT_OF_MEMORY && z->error) *z->error = why;
  if (status == GATHER_OUT_OF_MEMORY) return status;
  if (status != GATHER_OK) return keep_failure(z, &why, &node->tensor);
  if (node->tensor.bytes == 0) return GATHER_OK;
  gather_zarr_store_add(z->store, array);
  return gather_file_set_chunks(z->file, &array->chunks, &node->tensor, z->error);
}

/* ---- consolidated metadata */

/* Fails for a path that does not lead to a directory in the store. */
static gather_status check_path(const gather_json *json, gather_json_part key, const char *path) {
  for (const char *at = path; *at;) {
    const size_t bytes = strcspn(at, "/");
    const bool is_dots = (bytes == 1 && at[0] == '.') || (bytes == 2 && at[0] == '.' && at[1] == '.');
    const char *separator = strpbrk(at, GATHER_PATH_ENDS_FOLDER);
    if (bytes == 0 || is_dots || (separator && separator < at + bytes) || (at[bytes] == '/' && at[bytes + 1] == '\0'))
      return GATHER_JSON_WRONG(json, key.at, "'%.100s' is not a path in the store", path);
    at += bytes + (at[bytes] == '/');
  }
  return GATHER_OK;
}

/* zarr_format and node_type; -1: it has none. */
static gather_status read_kind(gather_json *json, gather_json_part object, int64_t *version, bool *is_array, gather_json_part *inner) {
  gather_zarr_member of[] = {{"zarr_format", {0}}, {"node_type", {0}}, {"consolidated_metadata", {0}}};
  const char *text = (const char *)json->bytes;
  GATHER_TRY(gather_zarr_members(json, object, false, of, 3));
  const gather_json_part format = of[0].part, node = of[1].part;
  *version = format.end - format.at == 1 ? text[format.at] - '0' : -1;
  *is_array = node.end - node.at == 7 && memcmp(text + node.at, "\"array\"", 7) == 0;
  *inner = of[2].part;
  if (format.end == 0) return GATHER_JSON_WRONG(json, object.at, "the zarr_format is missing");
  if (*version != 2 && *version != 3)
    return gather_fail_file(json->error, GATHER_UNSUPPORTED, json->name, format.at, "this zarr_format is not supported; 2 and 3 are");
  if (*version == 2 || *is_array || (node.end - node.at == 7 && memcmp(text + node.at, "\"group\"", 7) == 0)) return GATHER_OK;
  return GATHER_JSON_WRONG(json, node.at, "the node_type is neither array nor group");
}

/* Version 2 has ".zarray" behind the paths, and groups and attributes beside them. */
static gather_status read_entry_2(zarr_reading *z, gather_json *json, const gather_json_walk *walk) {
  static const char END[] = ".zarray";
  const int64_t end_bytes = (int64_t)sizeof END - 1;
  const char *path = NULL;
  int64_t version;
  bool is_array;
  gather_json_part inner;
  if (walk->key.end - walk->key.at < end_bytes + 2 || memcmp(json->bytes + walk->key.end - 1 - end_bytes, END, (size_t)end_bytes) != 0)
    return GATHER_OK;
  GATHER_TRY(gather_json_text(json, walk->key, "a path", &path));
  const size_t bytes = strlen(path) - (size_t)end_bytes;
  if (bytes > 0 && path[bytes - 1] != '/') return GATHER_OK; /* "x.zarray" */
  char *shorter = gather_arena_text(&z->file->arena, path, bytes > 0 ? bytes - 1 : 0);
  if (!shorter) return no_memory(z);
  GATHER_TRY(check_path(json, walk->key, shorter));
  GATHER_TRY(read_kind(json, walk->value, &version, &is_array, &inner));
  if (version != 2) return GATHER_JSON_WRONG(json, walk->value.at, "the zarr_format of a .zarray is not 2");
  return add_array(z, json, 2, walk->value, shorter);
}

static gather_status read_entry_3(zarr_reading *z, gather_json *json, const gather_json_walk *walk) {
  const char *path = NULL;
  int64_t version;
  bool is_array;
  gather_json_part inner;
  GATHER_TRY(gather_json_text(json, walk->key, "a path", &path));
  GATHER_TRY(check_path(json, walk->key, path));
  GATHER_TRY(read_kind(json, walk->value, &version, &is_array, &inner));
  if (version != 3) return GATHER_JSON_WRONG(json, walk->value.at, "the zarr_format is not 3, as that of the store is");
  return is_array ? add_array(z, json, 3, walk->value, path) : GATHER_OK;
}

/* The member "metadata" of an object: descriptions by their paths. */
static gather_status read_consolidated(zarr_reading *z, gather_json *json, gather_json_part object,
                                       gather_status (*read)(zarr_reading *z, gather_json *json, const gather_json_walk *walk)) {
  gather_zarr_member metadata = {"metadata", {0}};
  GATHER_TRY(gather_zarr_members(json, object, false, &metadata, 1));
  if (metadata.part.end == 0) return GATHER_JSON_WRONG(json, object.at, "the consolidated metadata are missing");
  gather_json_walk walk = {.rest = metadata.part};
  for (;;) {
    GATHER_TRY(gather_json_next(json, &walk));
    if (walk.ended) return gather_json_end(json, &walk);
    GATHER_TRY(read(z, json, &walk));
  }
}

/* ---- directories */

/* The path of a directory in the store: what is being visited. */
typedef struct zarr_visit {
  gather_growing path; /* from the root on */
  size_t at;           /* where its part in the store begins */
  int depth;
} zarr_visit;

/* Cuts the path to a length. */
static void cut(zarr_visit *visit, size_t bytes) {
  visit->path.bytes = bytes;
  visit->path.text[bytes] = '\0';
}

static gather_status visit_folder(zarr_reading *z, zarr_visit *visit);

/* Visits what is in a directory, if that is a directory, too. */
static gather_status visit_entry(zarr_reading *z, zarr_visit *visit, const char *name) {
  enum { MOST_ENTRIES = 100000 };
  struct stat about;
  const size_t before = visit->path.bytes;
  gather_status status = GATHER_OK;
  if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return GATHER_OK;
  if (++z->entries > MOST_ENTRIES)
    return gather_fail_file(z->error, GATHER_UNSUPPORTED, z->file->name, -1,
                            "more than %d files and directories; consolidate its metadata (zarr.consolidate_metadata)", MOST_ENTRIES);
  gather_growing_text(&visit->path, name);
  if (visit->path.failed) return no_memory(z);
  const bool found = (z->file->no_links ? lstat(visit->path.text, &about) : stat(visit->path.text, &about)) == 0;
  if (found && S_ISDIR(about.st_mode)) {
    gather_growing_char(&visit->path, '/');
    status = visit->path.failed ? no_memory(z) : visit_folder(z, visit);
  }
  if (!visit->path.failed) cut(visit, before);
  return status;
}

static gather_status visit_entries(zarr_reading *z, zarr_visit *visit) {
  enum { MOST_DEPTH = 32 };
  if (visit->depth == MOST_DEPTH)
    return gather_fail_file(z->error, GATHER_UNSUPPORTED, visit->path.text, -1, "groups nested deeper than %d levels", MOST_DEPTH);
  DIR *folder = opendir(visit->path.text);
  if (!folder) return gather_fail_system(z->error, visit->path.text, errno, "list it");
  gather_status status = GATHER_OK;
  visit->depth++;
  for (const struct dirent *entry; status == GATHER_OK && (entry = readdir(folder)) != NULL;) status = visit_entry(z, visit, entry->d_name);
  visit->depth--;
  (void)closedir(folder);
  return status;
}

/* The path in the store, without its last slash, in the arena. */
static char *path_of(zarr_reading *z, const zarr_visit *visit, size_t bytes) {
  const size_t length = bytes - visit->at;
  return gather_arena_text(&z->file->arena, visit->path.text + visit->at, length > 0 ? length - 1 : 0);
}

/* An object of version 3, or an array of version 2. is_group: what is in it is to be visited. */
static gather_status read_text(zarr_reading *z, const zarr_visit *visit, size_t folder_bytes, zarr_text *text, bool *is_group) {
  gather_json *json = &text->json;
  gather_json_part inner;
  int64_t version;
  bool is_array;
  char *path = path_of(z, visit, folder_bytes);
  if (!path) return no_memory(z);
  GATHER_TRY(read_kind(json, whole_of(text), &version, &is_array, &inner));
  *is_group = version == 3 && !is_array;
  if (!*is_group) return add_array(z, json, (int)version, whole_of(text), path);
  const bool is_root = path[0] == '\0';
  if (!is_root || inner.end == 0 || json->bytes[inner.at] != '{') return GATHER_OK;
  *is_group = false;
  return read_consolidated(z, json, inner, read_entry_3);
}

/* Reads one file of metadata in a directory. */
static gather_status read_file(zarr_reading *z, zarr_visit *visit, int which, bool *is_group) {
  const size_t folder_bytes = visit->path.bytes;
  zarr_text text;
  gather_growing_text(&visit->path, NAMES[which]);
  if (visit->path.failed) return no_memory(z);
  gather_status status = open_text(z, visit->path.text, &text);
  if (status == GATHER_OK) {
    status = which == CONSOLIDATED ? read_consolidated(z, &text.json, whole_of(&text), read_entry_2)
                                   : read_text(z, visit, folder_bytes, &text, is_group);
    gather_map_close(&text.map);
  }
  cut(visit, folder_bytes);
  return status;
}

/* Reads a directory of the store; one without metadata is none of its groups. A damaged object is listed, unless it is the root. */
static gather_status visit_folder(zarr_reading *z, zarr_visit *visit) {
  const bool is_root = visit->depth == 0;
  bool is_group = false;
  int which = 0;
  while (which < METADATA && ((which == CONSOLIDATED && !is_root) || !has(visit->path.text, visit->path.bytes - 1, NAMES[which]))) which++;
  if (which == METADATA) return GATHER_OK;
  if (which == GROUP) return visit_entries(z, visit);
  gather_error why, *outer = z->error;
  const int64_t len = z->len;
  z->error = &why;
  gather_status status = read_file(z, visit, which, &is_group);
  z->error = outer;
  if (status == GATHER_OK) return is_group ? visit_entries(z, visit) : GATHER_OK;
  if (status == GATHER_OUT_OF_MEMORY || is_root || z->len != len) {
    if (outer) *outer = why;
    return status;
  }
  const char *path = path_of(z, visit, visit->path.bytes);
  return path ? add_failure(z, &why, path) : no_memory(z);
}

/* ---- members of a zip file */

/* Reads a member with metadata. */
static gather_status open_member(const zarr_reading *z, const gather_zarr_entry *entry, zarr_text *text) {
  const gather_map *map = &z->file->map;
  const size_t before = strlen(z->file->name), bytes = strlen(entry->name);
  char *name = gather_arena_take(&z->file->arena, (int64_t)(before + bytes) + 2, 1);
  if (!name) return no_memory(z);
  memcpy(name, z->file->name, before);
  name[before] = '/';
  memcpy(name + before + 1, entry->name, bytes);
  if (entry->why) return gather_fail_file(z->error, GATHER_UNSUPPORTED, name, -1, "%s", entry->why);
  GATHER_TRY(gather_map_need(map, entry->at, entry->bytes, z->error));
  text->map = (gather_map){.bytes = map->bytes + entry->at, .size = entry->bytes};
  text->json = (gather_json){z->file, name, text->map.bytes, z->error};
  return gather_zarr_check_text(&text->json, text->map.size);
}

/* Reads an array's member, of either version; *is_done: it is the root's, and all arrays are known. */
static gather_status read_member(zarr_reading *z, const gather_zarr_entry *entry, bool *is_done) {
  const char *slash = strrchr(entry->name, '/');
  const size_t bytes = slash ? (size_t)(slash - entry->name) : 0;
  char *path = gather_arena_text(&z->file->arena, entry->name, bytes);
  zarr_text text;
  bool is_array = false;
  int64_t version = 0;
  gather_json_part inner = {0};
  if (!path) return no_memory(z);
  GATHER_TRY(open_member(z, entry, &text));
  GATHER_TRY(read_kind(&text.json, whole_of(&text), &version, &is_array, &inner));
  if (version == 2 || is_array) return add_array(z, &text.json, (int)version, whole_of(&text), path);
  if (slash || inner.end == 0 || text.json.bytes[inner.at] != '{') return GATHER_OK;
  *is_done = true;
  return read_consolidated(z, &text.json, inner, read_entry_3);
}

/* A damaged member is listed, unless it is the root's. */
static gather_status try_member(zarr_reading *z, const gather_zarr_entry *entry, bool *is_done) {
  const char *slash = strrchr(entry->name, '/');
  const int64_t len = z->len;
  gather_error why, *outer = z->error;
  z->error = &why;
  const gather_status status = read_member(z, entry, is_done);
  z->error = outer;
  if (status == GATHER_OK) return GATHER_OK;
  if (status != GATHER_OUT_OF_MEMORY && slash && z->len == len) {
    const char *path = gather_arena_text(&z->file->arena, entry->name, (size_t)(slash - entry->name));
    return path ? add_failure(z, &why, path) : no_memory(z);
  }
  if (outer) *outer = why;
  return status;
}

static bool ends_in_array(const char *name) {
  const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
  return strcmp(last, NAMES[VERSION_3]) == 0 || strcmp(last, NAMES[ARRAY]) == 0;
}

static gather_status read_members(zarr_reading *z) {
  const gather_zarr_entry *root = gather_zarr_zip_find(z->zip, NAMES[VERSION_3]);
  const gather_zarr_entry *consolidated = root ? NULL : gather_zarr_zip_find(z->zip, NAMES[CONSOLIDATED]);
  bool is_done = false;
  zarr_text text;
  if (consolidated) {
    GATHER_TRY(open_member(z, consolidated, &text));
    return read_consolidated(z, &text.json, whole_of(&text), read_entry_2);
  }
  if (root) GATHER_TRY(try_member(z, root, &is_done));
  for (int64_t i = 0; i < z->zip->len && !is_done; i++)
    if (&z->zip->entries[i] != root && ends_in_array(z->zip->entries[i].name)) GATHER_TRY(try_member(z, &z->zip->entries[i], &is_done));
  return GATHER_OK;
}

/* ---- the store */

static bool comes_before(const void *a, const void *b) {
  return strcmp(((const zarr_node *)a)->tensor.name, ((const zarr_node *)b)->tensor.name) < 0;
}

/* Gives the arrays to the file, in the order of their names. */
static gather_status give(zarr_reading *z) {
  gather_file *file = z->file;
  const void **sorted = gather_alloc((z->len + 1) * (int64_t)sizeof *sorted);
  file->tensors = gather_arena_take(&file->arena, z->len + 1, (int64_t)sizeof *file->tensors);
  if (!sorted || !file->tensors) {
    gather_free((void *)sorted);
    return no_memory(z);
  }
  int64_t count = 0;
  for (const zarr_node *node = z->nodes; node; node = node->next) sorted[count++] = node;
  gather_sort_pointers(sorted, count, comes_before);
  gather_status status = GATHER_OK;
  for (int64_t i = 0; i < count; i++) file->tensors[i] = ((const zarr_node *)sorted[i])->tensor;
  for (int64_t i = 1; i < count && status == GATHER_OK; i++)
    if (strcmp(file->tensors[i - 1].name, file->tensors[i].name) == 0)
      status =
          gather_fail_file(z->error, GATHER_FILE_MALFORMED, file->name, -1, "the array '%.100s' is described twice", file->tensors[i].name);
  file->len = status == GATHER_OK ? count : 0;
  gather_free((void *)sorted);
  return status;
}

/* An array by its path with slashes around it. */
static gather_status find_path(const gather_file *file, const char *path, const gather_file_tensor **tensor, gather_error *error) {
  (void)error;
  path += strspn(path, "/");
  size_t bytes = strlen(path);
  while (bytes > 0 && path[bytes - 1] == '/') bytes--;
  *tensor = NULL;
  for (int64_t i = 0; i < file->len && !*tensor; i++)
    if (strlen(file->tensors[i].name) == bytes && memcmp(file->tensors[i].name, path, bytes) == 0) *tensor = &file->tensors[i];
  return GATHER_OK;
}

gather_status gather_zarr_open(gather_file *file, gather_error *error) {
  zarr_reading z = {.file = file, .error = error};
  zarr_visit visit = {.depth = 0};
  const size_t bytes = strlen(file->name);
  file->format = "zarr";
  file->find_path = find_path;
  GATHER_TRY(gather_zarr_store_create(file, &z.store, error));
  gather_growing_text(&visit.path, file->name);
  if (bytes > 0 && !strchr(GATHER_PATH_SEPARATORS, file->name[bytes - 1])) gather_growing_char(&visit.path, '/');
  if (!visit.path.failed) z.root = gather_arena_text(&file->arena, visit.path.text, visit.path.bytes);
  z.root_bytes = visit.at = visit.path.bytes;
  gather_status status = z.root ? visit_folder(&z, &visit) : no_memory(&z);
  gather_growing_clear(&visit.path);
  return status == GATHER_OK ? give(&z) : status;
}

gather_status gather_zarr_open_zip(gather_file *file, const gather_zarr_zip *zip, gather_error *error) {
  zarr_reading z = {.file = file, .error = error, .zip = zip, .root = ""};
  file->format = "zarr";
  file->find_path = find_path;
  GATHER_TRY(gather_zarr_store_create(file, &z.store, error));
  GATHER_TRY(read_members(&z));
  return give(&z);
}

/* ---- on another machine */

static bool is_absent(gather_status status, const gather_error *why) {
  return status == GATHER_FILE_NOT_FOUND || (status == GATHER_IO_ERROR && why->system_error == EACCES);
}

/* Opens the first of the files that say what is there. One that is refused may be one that there is not: so S3 answers who may not list a
 * bucket. If none opens, the refusal is what is said. */
static gather_status open_first(zarr_reading *z, const char *url, int *which, gather_map *map) {
  static const int TRIED[] = {VERSION_3, CONSOLIDATED, ARRAY};
  gather_error why = {0}, refusal = {0};
  gather_growing path = {0};
  gather_status status = GATHER_FILE_NOT_FOUND;
  size_t bytes = strlen(url);
  while (bytes > 0 && url[bytes - 1] == '/') bytes--;
  for (size_t i = 0; i < sizeof TRIED / sizeof *TRIED && is_absent(status, &why); i++) {
    *which = TRIED[i];
    path.bytes = 0;
    gather_growing_write(&path, url, bytes);
    gather_growing_char(&path, '/');
    gather_growing_text(&path, NAMES[*which]);
    status = path.failed ? no_memory(z) : gather_map_open_url(z->file->client, path.text, map, &why);
    if (status == GATHER_IO_ERROR && refusal.status == GATHER_OK) refusal = why;
  }
  if (status != GATHER_OK && is_absent(status, &why) && refusal.status != GATHER_OK) why = refusal, status = refusal.status;
  if (status != GATHER_OK && !path.failed && z->error) *z->error = why;
  gather_growing_clear(&path);
  return status;
}

/* Names the file after the store, without what may be a secret. */
static gather_status name_store(zarr_reading *z, const gather_map *map, const char *last) {
  const char *name = gather_remote_object_name(gather_map_object(map));
  const size_t bytes = strlen(name) - strlen(last);
  char *copy = gather_alloc((int64_t)bytes + 1);
  if (!copy) return no_memory(z);
  memcpy(copy, name, bytes);
  gather_free(z->file->name);
  z->file->name = copy;
  return GATHER_OK;
}

static gather_status read_remote(zarr_reading *z, int which, zarr_text *text) {
  enum { MOST_BYTES = 16 << 20 };
  bool is_array = false;
  int64_t version = 0;
  gather_json_part inner = {0};
  if (text->map.size <= MOST_BYTES) GATHER_TRY(gather_map_need(&text->map, 0, text->map.size, z->error));
  GATHER_TRY(gather_zarr_check_text(&text->json, text->map.size));
  if (which == CONSOLIDATED) return read_consolidated(z, &text->json, whole_of(text), read_entry_2);
  GATHER_TRY(read_kind(&text->json, whole_of(text), &version, &is_array, &inner));
  if (version == 2 || is_array) return add_array(z, &text->json, (int)version, whole_of(text), "");
  if (inner.end > 0 && text->json.bytes[inner.at] == '{') return read_consolidated(z, &text->json, inner, read_entry_3);
  return gather_fail_file(
      z->error, GATHER_UNSUPPORTED, text->json.name, -1,
      "the group has no consolidated metadata (zarr.consolidate_metadata), and a server does not list its arrays; open one "
      "by its own URL");
}

gather_status gather_zarr_open_url(gather_file *file, gather_remote_client *client, const char *url, gather_error *error) {
  zarr_reading z = {.file = file, .error = error};
  zarr_text text = {.map = {0}};
  int which = 0;
  file->client = gather_remote_client_hold(client);
  file->format = "zarr";
  file->find_path = find_path;
  GATHER_TRY(gather_zarr_store_create(file, &z.store, error));
  GATHER_TRY(open_first(&z, url, &which, &text.map));
  gather_status status = name_store(&z, &text.map, NAMES[which]);
  const char *name = gather_remote_object_name(gather_map_object(&text.map));
  text.json = (gather_json){file, name, text.map.bytes, error};
  if (status == GATHER_OK) status = read_remote(&z, which, &text);
  gather_map_close(&text.map);
  return status == GATHER_OK ? give(&z) : status;
}

#else

gather_status gather_zarr_open_url(gather_file *file, gather_remote_client *client, const char *url, gather_error *error) {
  (void)client, (void)url;
  return gather_zarr_open(file, error);
}

gather_status gather_zarr_open_zip(gather_file *file, const gather_zarr_zip *zip, gather_error *error) {
  (void)zip;
  return gather_zarr_open(file, error);
}

gather_status gather_zarr_open(gather_file *file, gather_error *error) {
  return gather_fail_file(error, GATHER_UNSUPPORTED, file->name, -1, "Zarr is not supported in this build: it has no Jansson");
}

#endif
