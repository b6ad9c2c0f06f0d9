/* SPDX-License-Identifier: MIT
 *
 * format.h: what the files of this folder share: the open file, the table of formats, and what each format brings.
 */
#ifndef GATHER_FORMAT_FORMAT_H
#define GATHER_FORMAT_FORMAT_H

#include "base/arena.h"
#include "base/tensor.h"
#include "format/descr.h"
#include "format/graph.h"
#include "format/map.h"
#include "gather/file.h"

/* ---- reading */

struct gather_file {
  const char *format;
  char *name; /* for messages */
  gather_map map;
  bool no_links; /* files beside it are not opened through links */
  int64_t len;
  gather_file_tensor *tensors;
  void *single;                     /* formats of one tensor: the heap object that holds it, else NULL */
  gather_arena arena;               /* models: the graph, the tensors, and all that they point to but the mappings */
  gather_graph_file *graph;         /* in the arena; NULL in formats without one */
  const char *const *plain_names;   /* models: of each tensor the name without the graphs it stands in; NULL */
  struct gather_other_name *others; /* more names of its tensors, in the arena */
  struct gather_sibling *siblings;  /* other files that are mapped, in the arena */
  struct gather_sibling_branch *sibling_root;  /* by their names; NULL below two */
  const struct gather_file_pieces_row *pieces; /* names that several tensors have together, in the arena */
  int64_t pieces_len;
};

/* A column in several chunks: `count` tensors from number `first` on follow one another along axis 0. */
typedef struct gather_file_pieces_row {
  const char *name;
  int64_t first, count;
} gather_file_pieces_row;

/* How many tensors make up what is called `name`, and the first of them; 0 where there is no such name: a tensor that is whole is
 * found by gather_file_find, and so is one whose own name is that of several others together. NULL or "" names the only one. */
int64_t gather_file_pieces(const gather_file *file, const char *name, int64_t *first);

/* One more name of a tensor, with and without the graphs it stands in. */
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
} gather_sibling;

/* ---- sibling_tree.c */

/* The file that is mapped for that name; NULL. */
gather_sibling *gather_sibling_find(const gather_file *file, const char *location);
/* Adds one of a name that is not there yet. False: no memory. */
bool gather_sibling_add(gather_file *file, gather_sibling *added);

/* ---- sibling.c */

/* Why a tensor's elements cannot be had, in the arena. */
struct gather_unreadable {
  gather_status status;
  const char *file, *message;
  int64_t file_offset;
};

/* Maps the file that `location` names, relative to the file's own folder, for the tensor `name`; each is mapped once. Refused
 * (GATHER_FILE_MALFORMED) is a name that is not in the folder or below it: an empty or absolute one, or one with "..". What
 * stands under a name that is not refused may be a link to anywhere: who owns the folder made it, not the model. Where there is no such file or it cannot be mapped, the tensor is marked
 * unreadable and *map is NULL. file_offset: where the file says it, for the message; -1. */
GATHER_CHECKED gather_status gather_file_sibling(gather_file *file, const char *location, int64_t file_offset,
                                                 const char *name, gather_file_tensor *tensor, const gather_map **map,
                                                 gather_error *error);
/* The path of a file beside the file, in the arena: the file's folder with its slash, then the location. NULL: no memory. */
char *gather_file_beside(gather_file *file, const char *location);
/* Marks a tensor as unreadable. why: filled in by gather_fail_file. */
GATHER_CHECKED gather_status gather_file_unreadable(gather_file *file, const gather_error *why,
                                                    gather_file_tensor *tensor, gather_error *error);

/* The file whose mapping holds the elements of a tensor that has some, that mapping, and the byte in it; NULL where they lie in memory
 * otherwise. */
const char *gather_file_place(const gather_file *file, const gather_file_tensor *tensor, const gather_map **map,
                              int64_t *offset);

/* A file of one tensor: the block behind gather_file.tensors. The text is behind it. */
typedef struct gather_single {
  gather_file_tensor tensor;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  char text[];
} gather_single;

/* Makes a gather_single with room for text_bytes the file's only tensor. */
GATHER_CHECKED gather_status gather_single_create(gather_file *file, int64_t text_bytes, gather_single **single,
                                                  gather_error *error);
/* Points the tensor to its elements at `offset`, or says how many bytes are missing. Shape, type and size are set. */
GATHER_CHECKED gather_status gather_single_place(gather_file *file, gather_single *single, int64_t offset,
                                                 gather_error *error);

/* ---- writing */

/* The bytes that stand before the elements. */
typedef struct gather_header {
  char *bytes;
  int64_t size;
} gather_header;

/* Where a tensor goes in a file of several. */
typedef struct gather_writing_place {
  const gather_writing *what;
  int64_t number;    /* of the tensor, as the caller counts */
  int64_t at, bytes; /* of its elements, behind the header */
  int64_t swap_unit; /* as gather_swap_unit */
} gather_writing_place;

/* ---- the table */

typedef struct gather_format {
  const char *name, *abilities, *extensions;
  bool (*recognise)(const uint8_t *bytes, int64_t size);
  gather_status (*open)(gather_file *file, gather_error *error);
  bool (*carries)(const gather_type_info *type);
  /* data_bytes: that the elements take; where the header holds them as a length. */
  gather_status (*header)(const gather_writing *what, int64_t data_bytes, gather_header *header, gather_error *error);
  /* order: the `count` tensors in the order in which they follow one another in the file. */
  gather_status (*headers)(const gather_writing *tensors, const gather_writing_place *const *order, int64_t count,
                           gather_header *header, gather_error *error);
} gather_format;

const gather_format *gather_format_at(size_t i); /* NULL behind the last */
/* The format to write of that name, or that has this ending of a file's name; NULL. */
const gather_format *gather_format_named(const char *name);
const gather_format *gather_format_for_path(const char *path);

/* What the bytes look like, whatever their file is said to be: NULL where they look like none of another format. unknown: of one that
 * is not read, a sentence; NULL. */
const char *gather_format_looks(const gather_file *file, const char **unknown);
/* Says what the bytes of no format that is read look like. */
GATHER_CHECKED gather_status gather_format_unknown(const gather_file *file, gather_error *error);

bool gather_npy_recognise(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_npy_open(gather_file *file, gather_error *error);
bool gather_npy_carries(const gather_type_info *type);
GATHER_CHECKED gather_status gather_npy_header(const gather_writing *what, int64_t data_bytes, gather_header *header,
                                               gather_error *error);
bool gather_npz_recognise(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_npz_open(gather_file *file, gather_error *error);
bool gather_arrow_recognise(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_arrow_open(gather_file *file, gather_error *error);
bool gather_raw_carries(const gather_type_info *type);
GATHER_CHECKED gather_status gather_raw_header(const gather_writing *what, int64_t data_bytes, gather_header *header,
                                               gather_error *error);
bool gather_safetensors_recognise(const uint8_t *bytes, int64_t size); /* one of the next two */
bool gather_safetensors_is_file(const uint8_t *bytes, int64_t size);
bool gather_safetensors_is_index(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_safetensors_open(gather_file *file, gather_error *error);
GATHER_CHECKED gather_status gather_safetensors_index_open(gather_file *file, gather_error *error);
bool gather_safetensors_carries(const gather_type_info *type);
GATHER_CHECKED gather_status gather_safetensors_header(const gather_writing *what, int64_t data_bytes,
                                                       gather_header *header, gather_error *error);
GATHER_CHECKED gather_status gather_safetensors_headers(const gather_writing *tensors,
                                                        const gather_writing_place *const *order, int64_t count,
                                                        gather_header *header, gather_error *error);
/* What a tensor is called in the file: "data" where nothing else is said. */
const char *gather_safetensors_name(const gather_writing *what);
bool gather_gguf_recognise(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_gguf_open(gather_file *file, gather_error *error);
bool gather_ir_recognise(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_ir_open(gather_file *file, gather_error *error);
bool gather_onnx_recognise(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_onnx_open(gather_file *file, gather_error *error);
bool gather_pb_recognise(const uint8_t *bytes, int64_t size);
GATHER_CHECKED gather_status gather_pb_open(gather_file *file, gather_error *error);
bool gather_pb_carries(const gather_type_info *type);
GATHER_CHECKED gather_status gather_pb_header(const gather_writing *what, int64_t data_bytes, gather_header *header,
                                              gather_error *error);
/* The bytes that `len` strings take in a TensorProto, -1 where they are too many; and writing them there. */
int64_t gather_pb_strings_bytes(const gather_string *strings, int64_t len);
void gather_pb_strings(const gather_string *strings, int64_t len, char *target);
/* Says whether a TensorProto may have that many bytes. */
GATHER_CHECKED gather_status gather_pb_check_size(int64_t bytes, gather_error *error);

#endif
