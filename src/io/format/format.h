/* SPDX-License-Identifier: MIT
 *
 * format.h: what the files of this folder share: the open file, files beside it, where elements are, the table of formats with a reader and
 * a writer of each, and what the writer of files needs.
 */
#ifndef GATHER_FORMAT_FORMAT_H
#define GATHER_FORMAT_FORMAT_H

#include <string.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "gather/file.h"
#include "io/format/graph.h"
#include "io/format/map_remote.h"
#include "io/format/npy/descr.h"

/* ---- reading */

struct gather_file {
  const char *format;
  char *name; /* for messages */
  gather_map map;
  bool no_links;                /* files beside it are not opened through symbolic links */
  gather_remote_client *client; /* reads the file and those beside it, which have URLs; NULL = they are local */
  const char *text_column;      /* as in gather_file_source; the caller's, while the file is opened */
  int64_t download_bytes;       /* most bytes of elements that gather_file_find_whole downloads */
  int64_t len;
  gather_file_tensor *tensors;
  void *single;                                /* formats of one tensor: the heap object with it, else NULL */
  gather_arena arena;                          /* models: the graph, the tensors, and all that they point to except the mappings */
  gather_graph_file *graph;                    /* in the arena; NULL in formats without one */
  const char *const *plain_names;              /* models: each tensor's name without the path of its graph; NULL */
  struct gather_other_name *others;            /* more names of its tensors, in the arena */
  struct gather_sibling *siblings;             /* other mapped files, in the arena */
  struct gather_sibling_branch *sibling_root;  /* tree by name; NULL for fewer than two */
  const struct gather_file_pieces_row *pieces; /* names of several tensors together, in the arena */
  int64_t pieces_len;
  /* Formats whose names are paths: finds a tensor by another path, *tensor stays NULL if there is none; what it needs, in the arena. */
  gather_status (*find_path)(const gather_file *file, const char *path, const gather_file_tensor **tensor, gather_error *error);
  const void *paths;
  /* A table of the tensors' names, each found by its hash: a number plus 1, 0 = empty; NULL: they are few. Its length is a power of two. */
  int64_t *name_slots, name_slot_count;
  bool blocks_swapped;         /* GGUF: the numbers in blocks are big-endian */
  void (*release)(void *held); /* frees what a format keeps outside of the arena; NULL: nothing */
  void *held;
  const gather_unreadable **missing; /* parts of a split model that could not be opened, and why; in the arena */
  int64_t missing_len;
};

/* The first tensor of exactly that name; NULL. */
const gather_file_tensor *gather_file_named(const gather_file *file, const char *name);

/* A column in several chunks: `count` tensors, from number `first`, to be concatenated along axis 0. */
typedef struct gather_file_pieces_row {
  const char *name;
  int64_t first, count;
} gather_file_pieces_row;

/* The number of tensors that make up `name`, and the first of them; 0 if no several tensors have that name together:
 * a single tensor is found by gather_file_find, which comes first. NULL or "" means the only such name. */
GATHER_INLINE int64_t gather_file_pieces(const gather_file *file, const char *name, int64_t *first) {
  bool unnamed = !name || name[0] == '\0';
  for (int64_t i = 0; i < file->pieces_len; i++) {
    if (unnamed ? file->pieces_len > 1 : strcmp(file->pieces[i].name, name) != 0) continue;
    *first = file->pieces[i].first;
    return file->pieces[i].count;
  }
  return 0;
}

/* One more name of a tensor, with and without the path of its graph. */
typedef struct gather_other_name {
  struct gather_other_name *next;
  const char *full, *plain;
  int64_t tensor;
} gather_other_name;

/* ---- files beside the file: external data, the .bin of an .xml */

typedef struct gather_sibling {
  struct gather_sibling *next;
  const char *location, *path;
  gather_map map;
  const gather_unreadable *failure; /* remote: why it could not be opened; it is not asked for again */
} gather_sibling;

/* The mapped file of that name; NULL. */
gather_sibling *gather_sibling_find(const gather_file *file, const char *location);

/* The path of a file beside the file, in the arena: the file's folder with its slash, then the location. Of a URL, the location is
 * percent-encoded, and the host is that of the file. NULL: out of memory. */
char *gather_file_beside(gather_file *file, const char *location);

/* The last part of the file's name, in the arena; of a URL decoded, since gather_file_beside encodes it again. NULL: out of memory. */
char *gather_file_base(gather_file *file);

/* Maps files beside a remote file, several at once, so that gather_file_sibling finds them; what cannot be opened is kept with its
 * reason. header: loads what the reader needs first; it is called in other threads; NULL: nothing. Names that gather_file_sibling
 * refuses are left out. Does nothing for local files. */
GATHER_CHECKED gather_status gather_siblings_map_urls(gather_file *file, const char *const *locations, int64_t count,
                                                      void (*header)(const gather_map *map), gather_error *error);

/* ---- sibling.c */

/* Why a tensor's elements cannot be read, in the arena. */
struct gather_unreadable {
  gather_status status;
  const char *file, *message;
  int64_t file_offset;
  const gather_map *map;              /* not NULL: they can, but they are in this remote file, at file_offset; message is NULL */
  const struct gather_chunks *chunks; /* not NULL: they can, but they are in chunks; message is NULL */
};

/* Maps the file that `location` names, relative to the file's own folder, for the tensor `name`; each is mapped
 * once. A name that is not in or below that folder is refused (GATHER_FILE_MALFORMED): an empty or absolute one, or
 * one with "..". A name that is accepted may be a symbolic link to anywhere: the owner of the folder made it, not
 * the model. If the file does not exist or cannot be mapped, the tensor is marked unreadable and *map is NULL.
 * file_offset: position of the name in the file, for the message; -1. */
GATHER_CHECKED gather_status gather_file_sibling(gather_file *file, const char *location, int64_t file_offset, const char *name,
                                                 gather_file_tensor *tensor, const gather_map **map, gather_error *error);
/* The same for a name that was checked, and for no tensor: fails if the file cannot be opened. */
GATHER_CHECKED gather_status gather_file_sibling_open(gather_file *file, const char *location, int64_t file_offset, const gather_map **map,
                                                      gather_error *error);

/* Marks a tensor as unreadable. why: filled in by gather_fail_file. */
GATHER_CHECKED gather_status gather_file_unreadable(gather_file *file, const gather_error *why, gather_file_tensor *tensor,
                                                    gather_error *error);
/* Keeps an error in the arena: NULL if out of memory. And returns it again. */
const gather_unreadable *gather_unreadable_keep(gather_file *file, const gather_error *why);
GATHER_CHECKED gather_status gather_unreadable_recall(const gather_unreadable *kept, gather_error *error);

/* ---- place.c */

/* Points a tensor to its elements at `offset` of a mapping, which has all of them; type, shape and size are set. Elements of a remote
 * file are not loaded: the tensor gets no data, and gather_file_place returns where they are. Small ones of models are loaded before
 * the file is open, since they decide shapes and can be indices: they have data, but no bytes yet. */
GATHER_CHECKED gather_status gather_file_point(gather_file *file, const gather_map *map, int64_t offset, gather_file_tensor *tensor,
                                               gather_error *error);
/* The file whose mapping holds a tensor's elements, that mapping, and the offset in it; NULL if they are in other
 * memory. The tensor is not empty. The mapping may be remote: then gather_map_object reads it. */
const char *gather_file_place(const gather_file *file, const gather_file_tensor *tensor, const gather_map **map, int64_t *offset);
/* gather_file_tensor_check, for callers that read rows of remote tensors and of those in chunks: GATHER_OK for these. */
GATHER_INLINE gather_status gather_file_rows_check(const gather_file_tensor *tensor, gather_error *error) {
  const gather_unreadable *why = tensor->unreadable;
  return why && (why->map || why->chunks) ? GATHER_OK : gather_file_tensor_check(tensor, error);
}
/* text_file.c: reads a path block by block as text, or the mapped file (path NULL); `column` as text_column of gather_file_source. */
GATHER_CHECKED gather_status gather_text_open(gather_file *file, const char *path, const char *column, gather_error *error);
/* Fails if so many bytes of elements may not be downloaded. name: of the tensor. */
GATHER_CHECKED gather_status gather_file_check_download(const gather_file *file, const char *name, int64_t bytes, gather_error *error);
/* A file of one tensor: the block that gather_file.tensors points to, followed by its text. */
typedef struct gather_single {
  gather_file_tensor tensor;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  char text[];
} gather_single;

/* Makes a gather_single with room for text_bytes the file's only tensor. */
GATHER_CHECKED gather_status gather_single_create(gather_file *file, int64_t text_bytes, gather_single **single, gather_error *error);
/* Points the tensor to its elements at `offset`; fails if the file is too short. Shape, type and size are set. */
GATHER_CHECKED gather_status gather_single_place(gather_file *file, gather_single *single, int64_t offset, gather_error *error);

/* ---- opening */

/* A file without content. gather_file_finish hands it over, or closes it if the status is not GATHER_OK. */
GATHER_CHECKED gather_status gather_file_make(const char *name, gather_file **file, gather_error *error);
GATHER_CHECKED gather_status gather_file_finish(gather_status status, gather_file *opened, gather_file **file);

/* gather_file_open of a URL, source->path, by a client that the caller has, which gets one more owner: files of one table share its
 * connections. source->remote is ignored; source->raw->shape[0] may be -1: as many rows as there are after the offset. */
GATHER_CHECKED gather_status gather_file_open_by(gather_remote_client *client, const gather_file_source *source, gather_file **file,
                                                 gather_error *error);
/* Opens a file whose bytes come from a source, which it owns, also on failure. For tests: no file beside it is opened. */
GATHER_CHECKED gather_status gather_file_from_source(const gather_map_source *source, const char *name, gather_file **file,
                                                     gather_error *error);

/* ---- substitute.c: files that hold something in place of the file whose name they have: pointers, web pages, error answers */

enum { GATHER_SUBSTITUTE_TEXT = 480 };

/* Whether the first `size` bytes of a file of file_bytes are those of a substitute; up to 1 KiB is looked at. text: what it is, and what to
 * do. name: of the file, for advice. */
bool gather_substitute_is(const void *bytes, int64_t size, int64_t file_bytes, const char *name, bool is_url, char *text,
                          size_t text_bytes);
/* The same for a mapped file, of which little is read. False also if it cannot be read. */
bool gather_substitute_find(const gather_map *map, const char *name, bool is_url, char *text, size_t bytes);
/* Fails for a substitute (GATHER_UNSUPPORTED). */
GATHER_INLINE gather_status gather_substitute_refuse(const gather_map *map, const char *name, bool is_url, gather_error *error) {
  char text[GATHER_SUBSTITUTE_TEXT];
  if (!gather_substitute_find(map, name, is_url, text, sizeof text)) return GATHER_OK;
  return gather_fail_file(error, GATHER_UNSUPPORTED, name, -1, "%s", text);
}
/* Appends to the error of a URL that could not be opened what to write instead, if it is the address of a page. */
void gather_substitute_advise(const char *url, gather_error *error);

/* ---- writing */

/* The bytes that precede the elements. */
typedef struct gather_header {
  char *bytes;
  int64_t size;
} gather_header;

/* Where a tensor goes in a file of several. */
typedef struct gather_writing_place {
  const gather_writing *what;
  int64_t number;    /* of the tensor, in the caller's order */
  int64_t at, bytes; /* of its elements, from the end of the header */
  int64_t swap_unit; /* 0 = the elements are written unchanged */
} gather_writing_place;

/* ---- the table */

/* What a recogniser may read without asking for it. */
enum { GATHER_FORMAT_HEAD = 16 };

/* Reads files of one format. */
typedef struct gather_format_reader {
  bool (*recognise)(const gather_map *map); /* its first 16 bytes are loaded */
  gather_status (*open)(gather_file *file, gather_error *error);
} gather_format_reader;

typedef struct gather_format_writer {
  bool (*carries)(const gather_type_info *type);
  /* align_bytes: as in gather_file_target. data_bytes: size of the elements, for headers that contain it. */
  gather_status (*header)(const gather_writing *what, int64_t align_bytes, int64_t data_bytes, gather_header *header, gather_error *error);
  /* The same for several tensors in one file; NULL if a file holds one. order: the `count` tensors in file order. */
  gather_status (*headers)(const gather_writing *tensors, const gather_writing_place *const *order, int64_t count, gather_header *header,
                           gather_error *error);
} gather_format_writer;

/* A row of format.def. */
typedef struct gather_format {
  gather_format_info info;
  const gather_format_reader *reader; /* NULL if bytes cannot tell (raw), or the format is only written */
  const gather_format_writer *writer; /* NULL if it is only read */
} gather_format;

const gather_format *gather_format_row(size_t i); /* NULL after the last */
/* The writable format of that file extension; NULL. */
const gather_format *gather_format_for_path(const char *path);

/* The format of a file, whose first 16 bytes are loaded. Fails if it is of no supported one, with a message about what it seems to be. */
GATHER_CHECKED gather_status gather_format_recognise(const gather_file *file, const gather_format **format, gather_error *error);

/* The format that the bytes seem to have, whatever the caller says they are; NULL if they seem to have none.
 * unknown: what the file is if it is of no supported format, or a substitute for another file; else "". */
const char *gather_format_looks(const gather_file *file, char *unknown, size_t bytes);

/* ---- the formats. Without the library that it needs, a reader cannot open (safetensors, ir), or there is none (onnx, pb). */

extern const gather_format_reader gather_arrow_reader, gather_gguf_reader, gather_hdf5_reader, gather_ir_reader, gather_npy_reader,
    gather_npz_reader, gather_onnx_reader, gather_pb_reader, gather_safetensors_reader, gather_safetensors_index_reader;
extern const gather_format_writer gather_npy_writer, gather_pb_writer, gather_safetensors_writer;

/* Whether bytes begin with the magic bytes; also those that end within them. */
GATHER_INLINE bool gather_npy_begins(const uint8_t *bytes, int64_t size) {
  return size > 0 && memcmp(bytes, "\x93NUMPY", size < 6 ? (size_t)size : 6) == 0;
}
/* Reads the .npy at [start, end) of the file; its tensor has no name. Byte positions in messages count from the
 * start of the file. */
GATHER_CHECKED gather_status gather_npy_read(gather_file *file, int64_t start, int64_t end, gather_file_tensor *tensor,
                                             gather_error *error);
/* What a zip file is that has no arrays, and what to do; NULL: it has some, or cannot be read. file: only its map is read, and its tensors
 * are of no use afterwards. */
const char *gather_npz_other(gather_file *file);
/* The tensor's name in the file; "data" if it has none. */
GATHER_INLINE const char *gather_safetensors_name(const gather_writing *what) {
  return what->name && what->name[0] != '\0' ? what->name : "data";
}
/* The bytes that `len` strings take in a TensorProto behind its header; fails if they are too many. And writes them. */
GATHER_CHECKED gather_status gather_pb_strings_size(const gather_string *strings, int64_t len, int64_t header_bytes, int64_t *bytes,
                                                    gather_error *error);
void gather_pb_strings(const gather_string *strings, int64_t len, char *target);

#endif
