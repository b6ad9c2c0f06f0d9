/* SPDX-License-Identifier: MIT
 *
 * hdf5.c: reads HDF5 files, NetCDF-4, MATLAB 7.3, NWB and .h5ad among them: superblocks 0 to 3, behind a user block or not. Each dataset
 * is a tensor, named by its path without the first slash. Those that are contiguous or compact are read; the others, and objects that
 * are damaged, are listed with the reason. An object with several names is listed once, by the first that a traversal in the order of
 * names finds; every path leads to it, through soft links, too (gather_file.find_path). Links to other files are not followed.
 *
 * Groups are read level by level, each once, so links in circles do not matter. Of a remote file, a level is read by requests at once: what
 * is not loaded is noted, loaded, and the groups that lacked it are read again.
 * Source: the HDF5 File Format Specification, version 3, and where it is open what libhdf5 1.10 to 2.0 wrote.
 */
#include "io/format/hdf5/hdf5.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"

/* Bytes that are read at most, and of paths that are made: so many times the file's size, and this. Bytes are read more than once where
 * objects share them, in real files a few. */
static int64_t limit_of(const gather_file *file) {
  enum { TIMES = 8, LEAST = 1 << 20 };
  int64_t bytes;
  return gather_mul(file->map.size, TIMES, &bytes) && gather_add(bytes, LEAST, &bytes) ? bytes : INT64_MAX;
}

/* ---- the superblock */

static const uint8_t SIGNATURE[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* Where the superblock is: at the beginning, or behind a user block of 512 bytes, or twice as many, ...; -1 = nowhere. Long user blocks are
 * looked for in local files: each place that is not among the first bytes would be a request. */
static int64_t find_superblock(const gather_map *map) {
  enum { MOST_REMOTE = 1 << 15, MOST_LOCAL = 1 << 20 };
  const int64_t most = map->remote ? MOST_REMOTE : MOST_LOCAL;
  for (int64_t at = 0; at <= most && map->size - at >= (int64_t)sizeof SIGNATURE; at = at > 0 ? 2 * at : 512) {
    if (gather_map_need(map, at, sizeof SIGNATURE, NULL) != GATHER_OK) return -1;
    if (memcmp(map->bytes + at, SIGNATURE, sizeof SIGNATURE) == 0) return at;
  }
  return -1;
}

static bool recognise(const gather_map *map) { return find_superblock(map) >= 0; }

/* Sizes of offsets and lengths. */
static gather_status take_widths(gather_hdf5 *h, gather_hdf5_fields *fields) {
  uint64_t width = 0;
  for (int i = 0; i < 2; i++) {
    GATHER_TRY(gather_hdf5_take(fields, 1, &width));
    if (width != 2 && width != 4 && width != 8)
      return GATHER_HDF5_REFUSE(h, fields->at - 1, "%s of %" PRIu64 " bytes are not supported; 2, 4 and 8 are", i ? "lengths" : "offsets",
                                width);
    *(i ? &h->length_bytes : &h->offset_bytes) = (int32_t)width;
  }
  return GATHER_OK;
}

/* Versions 0 and 1: the root group is an entry of a symbol table. */
static gather_status read_old(gather_hdf5 *h, gather_hdf5_fields *fields, int version, int64_t *root) {
  int64_t driver = 0;
  GATHER_TRY(gather_hdf5_skip(fields, 4)); /* versions of parts of the file, all 0 */
  GATHER_TRY(take_widths(h, fields));
  GATHER_TRY(gather_hdf5_skip(fields, version == 1 ? 13 : 9));
  const int64_t bytes = 5 * h->offset_bytes + h->length_bytes;
  GATHER_TRY(gather_hdf5_need(h, fields->at, bytes, fields->what));
  fields->end = fields->at + bytes;
  GATHER_TRY(gather_hdf5_skip(fields, 3 * h->offset_bytes)); /* base, free space, end of the file */
  const int64_t driver_at = fields->at;
  GATHER_TRY(gather_hdf5_take_address(fields, &driver));
  if (driver >= 0)
    return GATHER_HDF5_REFUSE(h, driver_at,
                              "the file is a part of an HDF5 file in several files, which is not supported; join them: h5repack IN OUT "
                              "(IN: 'NAME%%d.h5' for a family, NAME for NAME-m.h5)");
  GATHER_TRY(gather_hdf5_skip(fields, h->length_bytes)); /* the name's offset */
  return gather_hdf5_take_address(fields, root);
}

/* Versions 2 and 3. */
static gather_status read_new(gather_hdf5 *h, gather_hdf5_fields *fields, int64_t *root) {
  const int64_t at = h->base;
  GATHER_TRY(take_widths(h, fields));
  GATHER_TRY(gather_hdf5_skip(fields, 1));
  const int64_t bytes = 12 + 4 * h->offset_bytes;
  GATHER_TRY(gather_hdf5_need(h, at, bytes + 4, fields->what));
  GATHER_TRY(gather_hdf5_verify(h, at, bytes, -1, at + bytes, fields->what));
  fields->end = at + bytes;
  GATHER_TRY(gather_hdf5_skip(fields, 3 * h->offset_bytes)); /* base, extension, end of the file */
  return gather_hdf5_take_address(fields, root);
}

/* The base address in the file is not used: libhdf5, too, counts from the superblock, since a user block may have been added later. */
static gather_status read_superblock(gather_hdf5 *h, int64_t *root) {
  enum { LEAST = 12, HEAD = 28 };
  static const char WHAT[] = "the superblock";
  uint64_t version = 0;
  h->base = find_superblock(&h->file->map);
  if (h->base < 0) return GATHER_HDF5_WRONG(h, 0, "the file has no HDF5 signature");
  GATHER_TRY(gather_hdf5_need(h, h->base, LEAST, WHAT));
  gather_hdf5_fields fields = {h, h->base + (int64_t)sizeof SIGNATURE, h->base + LEAST, WHAT};
  GATHER_TRY(gather_hdf5_take(&fields, 1, &version));
  if (version > 3) return GATHER_HDF5_REFUSE(h, fields.at - 1, "version %" PRIu64 " of the superblock is not supported", version);
  if (version < 2) {
    GATHER_TRY(gather_hdf5_need(h, h->base, HEAD, WHAT));
    fields.end = h->base + HEAD;
  }
  GATHER_TRY(version < 2 ? read_old(h, &fields, (int)version, root) : read_new(h, &fields, root));
  return *root >= 0 ? GATHER_OK : GATHER_HDF5_WRONG(h, fields.at - h->offset_bytes, "the file has no root group");
}

/* ---- objects */

typedef enum object_kind { UNREAD, GROUP, DATASET, OTHER, DAMAGED } object_kind;

typedef struct hdf5_object {
  struct hdf5_object *next; /* in the order in which they were found: nearer to the root first */
  int64_t header;
  object_kind kind;
  const gather_unreadable *why; /* it cannot be read, or, of a group, listed */
  const gather_hdf5_link **links;
  struct hdf5_object **members; /* of each link; NULL: a link that is not hard */
  int64_t len, done;            /* done: links that were named */
  struct hdf5_object *parent;   /* the group in which it was named */
  const char *path;             /* NULL = it has no name yet */
  gather_hdf5_dataset dataset;
  const gather_file_tensor *tensor;
} hdf5_object;

/* All objects, found by the position of their headers. */
typedef struct object_graph {
  gather_hdf5 h;
  hdf5_object *root, *last;
  int64_t count, shown; /* shown: datasets, and what cannot be read */
  hdf5_object **slots;  /* on the heap: a power of two, at most half full */
  int64_t slot_count;
  gather_hdf5_messages messages; /* of the object that is being read */
} object_graph;

static hdf5_object **slot_of(hdf5_object **slots, int64_t slot_count, int64_t header) {
  const uint64_t mask = (uint64_t)slot_count - 1;
  uint64_t at = (uint64_t)header * UINT64_C(0x9e3779b97f4a7c15);
  for (at = (at ^ at >> 32) & mask; slots[at] && slots[at]->header != header;) at = (at + 1) & mask;
  return &slots[at];
}

static gather_status grow_slots(object_graph *graph) {
  enum { FIRST = 64 };
  if (2 * graph->count < graph->slot_count) return GATHER_OK;
  const int64_t count = graph->slot_count > 0 ? 2 * graph->slot_count : FIRST;
  hdf5_object **made = gather_alloc(count * (int64_t)sizeof(hdf5_object *));
  if (!made) return GATHER_HDF5_NO_MEMORY(&graph->h);
  for (hdf5_object *object = graph->root; object; object = object->next) *slot_of(made, count, object->header) = object;
  gather_free((void *)graph->slots);
  graph->slots = made;
  graph->slot_count = count;
  return GATHER_OK;
}

/* The object with that header. */
static gather_status find_object(object_graph *graph, int64_t header, hdf5_object **object) {
  GATHER_TRY(grow_slots(graph));
  hdf5_object **slot = slot_of(graph->slots, graph->slot_count, header);
  if (!*slot) {
    hdf5_object *made = gather_arena_take(&graph->h.file->arena, 1, (int64_t)sizeof *made);
    if (!made) return GATHER_HDF5_NO_MEMORY(&graph->h);
    made->header = header;
    *(graph->last ? &graph->last->next : &graph->root) = made;
    graph->last = *slot = made;
    graph->count++;
  }
  *object = *slot;
  return GATHER_OK;
}

/* Of several messages of a type the first counts. */
static void keep_message(const gather_hdf5_message *message, hdf5_object *object) {
  gather_hdf5_dataset *dataset = &object->dataset;
  gather_hdf5_message *kept = message->type == GATHER_HDF5_DATASPACE        ? &dataset->space
                              : message->type == GATHER_HDF5_DATATYPE       ? &dataset->type
                              : message->type == GATHER_HDF5_LAYOUT         ? &dataset->layout
                              : message->type == GATHER_HDF5_PIPELINE       ? &dataset->pipeline
                              : message->type == GATHER_HDF5_EXTERNAL_FILES ? &dataset->external_files
                              : message->type == GATHER_HDF5_FILL           ? &dataset->fill
                              : message->type == GATHER_HDF5_OLD_FILL       ? &dataset->old_fill
                                                                            : NULL;
  if (kept && kept->at == 0) *kept = *message;
}

static gather_status read_members(object_graph *graph, hdf5_object *object) {
  const gather_hdf5_link **links = NULL;
  int64_t count = 0;
  object->kind = GROUP;
  GATHER_TRY(gather_hdf5_links(&graph->h, &graph->messages, &links, &count));
  hdf5_object **members = gather_arena_take(&graph->h.file->arena, count, (int64_t)sizeof *members);
  if (!members) return GATHER_HDF5_NO_MEMORY(&graph->h);
  for (int64_t i = 0; i < count; i++)
    if (links[i]->kind == GATHER_HDF5_HARD) GATHER_TRY(find_object(graph, links[i]->header, &members[i]));
  object->links = links;
  object->members = members;
  object->len = count;
  return GATHER_OK;
}

/* What an object is, and of a group its links. */
static gather_status read_object(object_graph *graph, hdf5_object *object) {
  object->kind = DAMAGED;
  GATHER_TRY(gather_hdf5_header(&graph->h, object->header, &graph->messages));
  if (gather_hdf5_is_group(&graph->messages)) return read_members(graph, object);
  for (int64_t i = 0; i < graph->messages.len; i++) keep_message(&graph->messages.at[i], object);
  object->kind = object->dataset.layout.at > 0 && object->dataset.type.at > 0 ? DATASET : OTHER;
  return GATHER_OK;
}

/* An error in one object concerns only that object. It stays unread if bytes are not loaded. */
static gather_status try_object(object_graph *graph, hdf5_object *object) {
  gather_hdf5 *h = &graph->h;
  gather_error why, *outer = h->error;
  const int64_t work = h->work;
  h->error = &why;
  h->lacks = false;
  gather_status status = read_object(graph, object);
  h->error = outer;
  if (h->lacks && status != GATHER_OUT_OF_MEMORY) {
    h->work = work;
    object->kind = UNREAD;
    return GATHER_OK;
  }
  if (status == GATHER_OUT_OF_MEMORY && outer) *outer = why;
  if (status == GATHER_OUT_OF_MEMORY) return status;
  if (status != GATHER_OK && !(object->why = gather_unreadable_keep(h->file, &why))) return GATHER_HDF5_NO_MEMORY(h);
  if (object->kind == DATASET || object->why) graph->shown++;
  return GATHER_OK;
}

/* Reads those of a level that were not read. */
static gather_status try_level(object_graph *graph, hdf5_object *first, const hdf5_object *last) {
  for (hdf5_object *object = first;; object = object->next) {
    if (object->kind == UNREAD) GATHER_TRY(try_object(graph, object));
    if (object == last) return GATHER_OK;
  }
}

/* Reads the objects of a level. Of a remote file, each round loads what the last one lacked; the last round waits for each byte. */
static gather_status read_level(object_graph *graph, hdf5_object *first, const hdf5_object *last) {
  enum { MOST_ROUNDS = 64 };
  gather_hdf5 *h = &graph->h;
  h->is_noting = gather_map_wants_hints(&h->file->map);
  for (int round = 0; h->is_noting && round < MOST_ROUNDS; round++) {
    h->noted_len = 0;
    gather_status status = try_level(graph, first, last);
    if (status != GATHER_OK || h->noted_len == 0) {
      h->is_noting = false;
      return status;
    }
    gather_map_expect_all(&h->file->map, h->noted, h->noted_len);
  }
  h->is_noting = false;
  return try_level(graph, first, last);
}

static gather_status read_graph(object_graph *graph, int64_t root_header) {
  hdf5_object *root = NULL;
  GATHER_TRY(find_object(graph, root_header, &root));
  for (hdf5_object *first = root; first;) {
    hdf5_object *last = graph->last;
    GATHER_TRY(read_level(graph, first, last));
    first = last->next;
  }
  if (root->why) return gather_unreadable_recall(root->why, graph->h.error);
  return root->kind == GROUP ? GATHER_OK : GATHER_HDF5_WRONG(&graph->h, root_header, "the root of the file is not a group");
}

/* ---- names */

/* A path of a file whose groups are nested as deeply as its size allows would make it much larger. */
static gather_status name_object(object_graph *graph, const hdf5_object *group, const char *name, int64_t *room, hdf5_object *object) {
  const size_t before = strlen(group->path), length = strlen(name);
  const int64_t bytes = (int64_t)(before + length) + 2;
  if (bytes > *room) return GATHER_HDF5_REFUSE(&graph->h, object->header, "the paths of its datasets are too long");
  *room -= bytes;
  char *path = gather_arena_take(&graph->h.file->arena, bytes, 1);
  if (!path) return GATHER_HDF5_NO_MEMORY(&graph->h);
  memcpy(path, group->path, before);
  if (before > 0) path[before] = '/';
  memcpy(path + before + (before > 0), name, length);
  object->path = path;
  return GATHER_OK;
}

static gather_status give(object_graph *graph, const hdf5_object *object, gather_file_tensor *tensor) {
  gather_hdf5 *h = &graph->h;
  gather_error why, *outer = h->error;
  *tensor = (gather_file_tensor){.name = object->path, .type_name = object->kind == GROUP ? "group" : "unknown", .offset = object->header};
  tensor->tensor = (gather_tensor){.type = GATHER_TYPE_OPAQUE, .flags = GATHER_FILE_VIEW};
  tensor->unreadable = object->why;
  if (object->why) return GATHER_OK;
  h->error = &why;
  const gather_status status = gather_hdf5_describe(h, &object->dataset, tensor);
  h->error = outer;
  if (status == GATHER_OUT_OF_MEMORY && outer) *outer = why;
  if (status == GATHER_OK || status == GATHER_OUT_OF_MEMORY) return status;
  if (gather_tensor_check(&tensor->tensor, NULL) != GATHER_OK) tensor->tensor.rank = 0, tensor->tensor.item_bytes = 0;
  tensor->bytes = gather_tensor_bytes(&tensor->tensor);
  return gather_file_unreadable(h->file, &why, tensor, h->error);
}

/* Names all objects, in the order of names, and makes tensors of those that are shown. */
static gather_status name_all(object_graph *graph) {
  gather_hdf5 *h = &graph->h;
  gather_file *file = h->file;
  int64_t room = limit_of(file);
  file->tensors = gather_arena_take(&file->arena, graph->shown, (int64_t)sizeof *file->tensors);
  if (!file->tensors) return GATHER_HDF5_NO_MEMORY(h);
  graph->root->path = "";
  for (hdf5_object *group = graph->root; group;) {
    if (group->done == group->len) {
      group = group->parent;
      continue;
    }
    hdf5_object *object = group->members[group->done];
    const char *name = group->links[group->done++]->name;
    if (!object || object->path) continue;
    GATHER_TRY(name_object(graph, group, name, &room, object));
    if (object->kind == DATASET || object->why) {
      GATHER_TRY(give(graph, object, &file->tensors[file->len]));
      object->tensor = &file->tensors[file->len++];
    } else if (object->kind == GROUP) {
      object->parent = group;
      group = object;
    }
  }
  return GATHER_OK;
}

/* ---- paths */

/* Soft links that one path may lead through. */
enum { MOST_SOFT = 16 };

typedef struct path_search {
  const gather_file *file;
  const hdf5_object *root;
  int soft; /* links that may still be followed */
  gather_error *error;
} path_search;

/* The number of a link of a group; -1. */
static int64_t find_link(const hdf5_object *group, const char *name, size_t length) {
  int64_t low = 0, high = group->len;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const char *found = group->links[middle]->name;
    const int order = strncmp(found, name, length);
    if (order == 0 && found[length] == '\0') return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

static gather_status follow(path_search *search, const hdf5_object *from, const char *path, const hdf5_object **found);

/* Follows a link that is not hard. */
static gather_status follow_link(path_search *search, const hdf5_object *group, const gather_hdf5_link *link, const hdf5_object **found) {
  const char *file = search->file->name;
  if (link->kind == GATHER_HDF5_OUTSIDE)
    return gather_fail_file(search->error, GATHER_UNSUPPORTED, file, link->said_at,
                            link->path ? "'%.100s' is a link to another file, '%.100s', which is not followed"
                                       : "'%.100s' is a user-defined link, which is not followed",
                            link->name, link->path);
  if (search->soft-- == 0)
    return gather_fail_file(search->error, GATHER_UNSUPPORTED, file, link->said_at, "'%.100s' leads through more than %d soft links",
                            link->name, MOST_SOFT);
  GATHER_TRY(follow(search, group, link->path, found));
  if (*found) return GATHER_OK;
  return gather_fail_file(search->error, GATHER_NAME_NOT_FOUND, file, link->said_at,
                          "'%.100s' is a soft link to '%.100s', which does not exist", link->name, link->path);
}

/* NULL: there is no such object. */
static gather_status follow(path_search *search, const hdf5_object *from, const char *path, const hdf5_object **found) {
  const hdf5_object *at = *path == '/' ? search->root : from;
  *found = NULL;
  for (path += strspn(path, "/"); at && *path; path += strspn(path, "/")) {
    const size_t length = strcspn(path, "/");
    const char *name = path;
    path += length;
    if (length == 1 && *name == '.') continue;
    if (at->why) return gather_unreadable_recall(at->why, search->error);
    const int64_t link = find_link(at, name, length);
    if (link < 0) return GATHER_OK;
    if (at->members[link])
      at = at->members[link];
    else
      GATHER_TRY(follow_link(search, at, at->links[link], &at));
  }
  *found = at;
  return GATHER_OK;
}

/* Sparse matrices of AnnData and SciPy are groups of three datasets. */
static gather_status fail_group(const gather_file *file, const hdf5_object *group, const char *path, gather_error *error) {
  enum { SHOWN = 4, NAME = 40, MOST = SHOWN * (NAME + 4) + 20 };
  char names[MOST] = "";
  size_t bytes = 0;
  if (find_link(group, "data", 4) >= 0 && find_link(group, "indices", 7) >= 0 && find_link(group, "indptr", 6) >= 0)
    return gather_fail_file(
        error, GATHER_NAME_NOT_FOUND, file->name, group->header,
        "'%.60s' is not a dataset but a sparse matrix, which is not supported; its parts are 'data', 'indices' and "
        "'indptr' in it; as .npy: numpy.save('out.npy', anndata.io.sparse_dataset(h5py.File('FILE')['NAME'])[:].toarray())",
        path);
  for (int64_t i = 0; i < group->len && i < SHOWN; i++)
    bytes += (size_t)snprintf(names + bytes, sizeof names - bytes, "%s'%.40s'", i ? ", " : "; it has: ", group->links[i]->name);
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, group->header, "'%.100s' is not a dataset but a group%s%s", path, names,
                          group->len > SHOWN ? ", ..." : "");
}

static gather_status find_path(const gather_file *file, const char *path, const gather_file_tensor **tensor, gather_error *error) {
  path_search search = {.file = file, .root = file->paths, .soft = MOST_SOFT, .error = error};
  const hdf5_object *found = NULL;
  GATHER_TRY(follow(&search, search.root, path, &found));
  *tensor = found ? found->tensor : NULL;
  if (!found || *tensor) return GATHER_OK;
  if (found->kind == GROUP) return fail_group(file, found, path, error);
  return gather_fail_file(error, GATHER_NAME_NOT_FOUND, file->name, found->header, "'%.100s' is not a dataset but a datatype", path);
}

/* ---- the file */

static gather_status read_all(object_graph *graph) {
  int64_t root = 0;
  GATHER_TRY(read_superblock(&graph->h, &root));
  GATHER_TRY(read_graph(graph, root));
  GATHER_TRY(name_all(graph));
  graph->h.file->find_path = find_path;
  graph->h.file->paths = graph->root;
  return GATHER_OK;
}

static gather_status open_file(gather_file *file, gather_error *error) {
  enum { SMALL = 1 << 18, LARGE = 16 << 20 };
  object_graph graph = {.h = {.file = file, .error = error}};
  graph.h.work = limit_of(file);
  if (file->map.size <= SMALL) gather_map_expect(&file->map, 0, file->map.size); /* by one request */
  const bool is_large = file->map.size > LARGE;                                  /* reading ahead would read datasets */
  if (is_large) gather_map_read_ahead(&file->map, false);
  gather_status status = read_all(&graph);
  if (is_large) gather_map_read_ahead(&file->map, true);
  gather_free((void *)graph.slots);
  gather_free(graph.messages.at);
  gather_free(graph.h.noted);
  return status;
}

const gather_format_reader gather_hdf5_reader = {recognise, open_file};
