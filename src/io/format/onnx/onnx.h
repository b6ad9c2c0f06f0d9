/* SPDX-License-Identifier: MIT
 *
 * onnx.h: what the readers of ONNX models and tensors share. Field numbers are those of onnx.proto (ONNX 1.23).
 */
#ifndef GATHER_FORMAT_ONNX_H
#define GATHER_FORMAT_ONNX_H

#include "core/base/error.h"
#include "io/format/format.h"
#include "io/format/onnx/proto.h"

/* Nested graphs are read to this depth. */
enum { GATHER_ONNX_DEPTH_MAX = 64 };

/* A version of an operator set that a model or a function imports. */
typedef struct gather_onnx_import {
  const char *domain;
  int64_t version;
} gather_onnx_import;

typedef struct gather_onnx_imports {
  const gather_onnx_import *rows;
  int64_t count;
} gather_onnx_imports;

/* A graph, and the prefix of its tensors' names in the file's list. */
typedef struct gather_onnx_scope {
  struct gather_onnx_scope *next;
  const gather_graph *graph;
  const char *path;
} gather_onnx_scope;

/* The state of reading one file. */
typedef struct gather_onnx {
  gather_file *file;
  gather_error *error;
  gather_onnx_imports imports; /* of the model or function being read */
  gather_onnx_scope *first, **last;
  int64_t scopes;
  int64_t dense_bytes; /* that its sparse tensors take */
} gather_onnx;

/* Fails and reports a byte of the file. */
#define GATHER_ONNX_WRONG(onnx, offset, ...) \
  gather_fail_file((onnx)->error, GATHER_FILE_MALFORMED, (onnx)->file->name, offset, __VA_ARGS__)

/* Reads the next field; its number is 0 at the end. */
GATHER_CHECKED gather_status gather_onnx_next(gather_onnx *onnx, gather_proto *message, gather_proto_field *field);
/* Fails if a field does not have the wire type of its number. */
GATHER_CHECKED gather_status gather_onnx_is(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire);
/* Zeroed memory, owned by the file. */
GATHER_CHECKED gather_status gather_onnx_take(gather_onnx *onnx, int64_t count, size_t bytes, void *memory);
/* A field's text as UTF-8: invalid bytes and zero bytes become '?'. */
GATHER_CHECKED gather_status gather_onnx_text(gather_onnx *onnx, const gather_proto_field *field, const char **text);
/* The same, with "ai.onnx" as "". */
GATHER_CHECKED gather_status gather_onnx_domain(gather_onnx *onnx, const gather_proto_field *field, const char **text);
/* Counts the fields of each number below `numbers` in the message. */
GATHER_CHECKED gather_status gather_onnx_count(gather_onnx *onnx, gather_proto message, uint32_t numbers,
                                               int64_t *counts);

/* The numbers that a field adds to a list: one, or many if it is packed. NULL values: only counts. */
GATHER_CHECKED gather_status gather_onnx_numbers(gather_onnx *onnx, const gather_proto_field *field,
                                                 gather_proto_wire wire, uint64_t *values, int64_t *count);
/* All numbers of a repeated field of a message. */
GATHER_CHECKED gather_status gather_onnx_list(gather_onnx *onnx, gather_proto message, uint32_t number,
                                              gather_proto_wire wire, uint64_t **values, int64_t *count);

/* The fields of a TensorProto, except for its values. */
typedef struct gather_onnx_parts {
  int64_t offset; /* where it begins */
  const char *name;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  const gather_type_info *type;
  uint64_t type_number;
  int64_t type_offset;
  int64_t counts[12];  /* values in each value field; bytes of raw_data */
  int64_t offsets[12]; /* last position of the field */
  gather_proto view;   /* the content of the last field of packed values or raw data */
  int64_t chunks;      /* number of value fields */
  bool external;
  int64_t external_offset; /* position of the external data entries */
  const char *location;
  int64_t data_offset, data_length; /* -1 = not given */
} gather_onnx_parts;

/* The type of a TensorProto.DataType; NULL if unknown. */
const gather_type_info *gather_onnx_type(uint64_t number);
GATHER_CHECKED gather_status gather_onnx_parts_read(gather_onnx *onnx, gather_proto message, gather_onnx_parts *parts);
/* Reads a TensorProto. */
GATHER_CHECKED gather_status gather_onnx_tensor(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor);
/* Reads a SparseTensorProto, as a dense tensor with the name of its values. */
GATHER_CHECKED gather_status gather_onnx_sparse(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor);
/* Finds the values of a tensor; its type, shape and size are set. */
GATHER_CHECKED gather_status gather_onnx_values(gather_onnx *onnx, gather_proto message, const gather_onnx_parts *parts,
                                                gather_file_tensor *tensor);
GATHER_CHECKED gather_status gather_onnx_external(gather_onnx *onnx, const gather_onnx_parts *parts,
                                                  gather_file_tensor *tensor);
/* The strings of a message's field as an array of gather_string. */
GATHER_CHECKED gather_status gather_onnx_strings(gather_onnx *onnx, gather_proto message, uint32_t number,
                                                 gather_string **strings, int64_t *count);
/* A tensor of values in native byte order in the arena; rank 0 if len is -1. */
GATHER_CHECKED gather_status gather_onnx_made(gather_onnx *onnx, gather_type type, const void *data, int64_t len,
                                              int64_t offset, gather_file_tensor *tensor);

GATHER_CHECKED gather_status gather_onnx_value(gather_onnx *onnx, gather_proto message, gather_value *value);
/* Reads an attribute into one entry, or several: GRAPHS become one for each graph. places: how many; NULL
 * attributes: only counts. */
GATHER_CHECKED gather_status gather_onnx_attribute(gather_onnx *onnx, gather_proto message, gather_graph *parent,
                                                   const char *path, int depth, gather_attribute *attributes,
                                                   int32_t *places);
/* node: its op and domain are used. tensor->name stays NULL if it has no known value. */
GATHER_CHECKED gather_status gather_onnx_constant(gather_onnx *onnx, const gather_node *node,
                                                  gather_file_tensor *tensor);
/* Reads nodes, and appends the constants among them to graph->constants. */
GATHER_CHECKED gather_status gather_onnx_nodes(gather_onnx *onnx, gather_proto message, uint32_t number,
                                               gather_graph *graph, const char *path, int depth);
GATHER_CHECKED gather_status gather_onnx_graph(gather_onnx *onnx, gather_proto message, gather_graph *parent,
                                               const char *path, int depth, gather_graph **graph);
/* Opens the files of external data that the initializers of a remote model name, several at once. */
GATHER_CHECKED gather_status gather_onnx_external_open(const gather_onnx *onnx, gather_proto graph,
                                                       uint32_t initializer);
/* Registers a graph for the file's list of tensors. */
GATHER_CHECKED gather_status gather_onnx_scope_add(gather_onnx *onnx, const gather_graph *graph, const char *path);
/* The graphs' constants as the file's tensors. */
GATHER_CHECKED gather_status gather_onnx_list_tensors(gather_onnx *onnx);
GATHER_CHECKED gather_status gather_onnx_function(gather_onnx *onnx, gather_proto message, gather_function *function);
GATHER_CHECKED gather_status gather_onnx_imports_read(gather_onnx *onnx, gather_proto message, uint32_t number);

#endif
