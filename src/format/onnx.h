/* SPDX-License-Identifier: MIT
 *
 * onnx.h: what the readers of ONNX models and tensors share. Field numbers are those of onnx.proto (ONNX 1.23).
 */
#ifndef GATHER_FORMAT_ONNX_H
#define GATHER_FORMAT_ONNX_H

#include "base/error.h"
#include "format/format.h"
#include "format/proto.h"

/* Graphs in graphs are read to this depth. */
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

/* A graph that was met, and what stands before the names of its tensors in the file's list. */
typedef struct gather_onnx_scope {
  struct gather_onnx_scope *next;
  const gather_graph *graph;
  const char *path;
} gather_onnx_scope;

/* The reading of one file. */
typedef struct gather_onnx {
  gather_file *file;
  gather_error *error;
  gather_onnx_imports imports; /* of the model or function that is being read */
  gather_onnx_scope *first, **last;
  int64_t scopes;
} gather_onnx;

/* Fails about a byte of the file. */
#define GATHER_ONNX_WRONG(onnx, offset, ...) \
  gather_fail_file((onnx)->error, GATHER_FILE_MALFORMED, (onnx)->file->name, offset, __VA_ARGS__)

/* Takes the next field; its number is 0 at the end. */
GATHER_CHECKED gather_status gather_onnx_next(gather_onnx *onnx, gather_proto *message, gather_proto_field *field);
/* Fails where a field is not of the kind that its number says. */
GATHER_CHECKED gather_status gather_onnx_is(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire);
/* Zeroed memory that the file owns. */
GATHER_CHECKED gather_status gather_onnx_take(gather_onnx *onnx, int64_t count, size_t bytes, void *memory);
/* A field's text as UTF-8: what is no UTF-8, and zero bytes, become '?'. */
GATHER_CHECKED gather_status gather_onnx_text(gather_onnx *onnx, const gather_proto_field *field, const char **text);
/* The same, where "ai.onnx" is "". */
GATHER_CHECKED gather_status gather_onnx_domain(gather_onnx *onnx, const gather_proto_field *field, const char **text);
/* How often fields of each number below `numbers` stand in the message. */
GATHER_CHECKED gather_status gather_onnx_count(gather_onnx *onnx, gather_proto message, uint32_t numbers,
                                               int64_t *counts);

/* Numbers that a field adds to a list: one, or many where it is packed. Values may be NULL: they are counted only. */
GATHER_CHECKED gather_status gather_onnx_numbers(gather_onnx *onnx, const gather_proto_field *field,
                                                 gather_proto_wire wire, uint64_t *values, int64_t *count);
/* All numbers of a message's field. */
GATHER_CHECKED gather_status gather_onnx_list(gather_onnx *onnx, gather_proto message, uint32_t number,
                                              gather_proto_wire wire, uint64_t **values, int64_t *count);

/* What a TensorProto says, its values aside. */
typedef struct gather_onnx_parts {
  int64_t offset; /* where it begins */
  const char *name;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  const gather_type_info *type;
  uint64_t type_number;
  int64_t type_offset;
  int64_t counts[12];  /* of values in each field, where that is a value field; of raw_data the bytes */
  int64_t offsets[12]; /* where the field stands last */
  gather_proto view;   /* the content of the last field of packed values or raw data */
  int64_t chunks;      /* how many fields with values there are */
  bool external;
  int64_t external_offset; /* where external data is spoken of */
  const char *location;
  int64_t data_offset, data_length; /* -1 = not said */
} gather_onnx_parts;

/* The type of a number in TensorProto.DataType; NULL. */
const gather_type_info *gather_onnx_type(uint64_t number);
GATHER_CHECKED gather_status gather_onnx_parts_read(gather_onnx *onnx, gather_proto message, gather_onnx_parts *parts);
/* Reads a TensorProto. */
GATHER_CHECKED gather_status gather_onnx_tensor(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor);
/* Finds the values of a tensor whose type, shape and size are set. */
GATHER_CHECKED gather_status gather_onnx_values(gather_onnx *onnx, gather_proto message, const gather_onnx_parts *parts,
                                                gather_file_tensor *tensor);
GATHER_CHECKED gather_status gather_onnx_external(gather_onnx *onnx, const gather_onnx_parts *parts,
                                                  gather_file_tensor *tensor);
/* The texts of a message's field as an array of gather_string. */
GATHER_CHECKED gather_status gather_onnx_strings(gather_onnx *onnx, gather_proto message, uint32_t number,
                                                 gather_string **strings, int64_t *count);
/* A tensor of values in native order that the arena holds; rank 0 where len is -1. */
GATHER_CHECKED gather_status gather_onnx_made(gather_onnx *onnx, gather_type type, const void *data, int64_t len,
                                              int64_t offset, gather_file_tensor *tensor);

GATHER_CHECKED gather_status gather_onnx_value(gather_onnx *onnx, gather_proto message, gather_value *value);
/* Reads an attribute into its place, or into several: GRAPHS become one for each graph. places: how many there are; NULL
 * attributes: they are counted only. */
GATHER_CHECKED gather_status gather_onnx_attribute(gather_onnx *onnx, gather_proto message, gather_graph *parent,
                                                   const char *path, int depth, gather_attribute *attributes,
                                                   int32_t *places);
/* node: its op and domain are looked at. tensor->name stays NULL where it has no value that could be known. */
GATHER_CHECKED gather_status gather_onnx_constant(gather_onnx *onnx, const gather_node *node,
                                                  gather_file_tensor *tensor);
/* Reads nodes, and the constants among them behind those that graph->constants holds already. */
GATHER_CHECKED gather_status gather_onnx_nodes(gather_onnx *onnx, gather_proto message, uint32_t number,
                                               gather_graph *graph, const char *path, int depth);
GATHER_CHECKED gather_status gather_onnx_graph(gather_onnx *onnx, gather_proto message, gather_graph *parent,
                                               const char *path, int depth, gather_graph **graph);
/* Writes a graph down for the file's list of tensors. */
GATHER_CHECKED gather_status gather_onnx_scope_add(gather_onnx *onnx, const gather_graph *graph, const char *path);
/* The graphs' constants as the file's tensors. */
GATHER_CHECKED gather_status gather_onnx_list_tensors(gather_onnx *onnx);
GATHER_CHECKED gather_status gather_onnx_function(gather_onnx *onnx, gather_proto message, gather_function *function);
GATHER_CHECKED gather_status gather_onnx_imports_read(gather_onnx *onnx, gather_proto message, uint32_t number);

#endif
