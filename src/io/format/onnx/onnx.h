/* SPDX-License-Identifier: MIT
 *
 * onnx.h: what the readers of ONNX models and tensors share. Field numbers are those of onnx.proto (ONNX 1.23).
 */
#ifndef GATHER_FORMAT_ONNX_H
#define GATHER_FORMAT_ONNX_H

#include <stddef.h>
#include <string.h>

#include "core/base/error.h"
#include "io/format/format.h"

/* ---- protobuf: iterates over the fields of a message in a mapped file, without generated code. Nothing is copied: strings and
 * submessages are ranges of the file. */

/* The unread rest of a message: bytes [at, end) of the file. */
typedef struct gather_proto {
  const gather_map *map; /* the whole file */
  int64_t at, end;
} gather_proto;

typedef enum gather_proto_wire {
  GATHER_PROTO_VARINT = 0,
  GATHER_PROTO_FIXED64 = 1,
  GATHER_PROTO_BYTES = 2,
  GATHER_PROTO_GROUP = 3, /* already skipped */
  GATHER_PROTO_FIXED32 = 5
} gather_proto_wire;

typedef struct gather_proto_field {
  uint32_t number; /* 0 = end of the message */
  gather_proto_wire wire;
  int64_t offset;     /* of its tag in the file */
  uint64_t value;     /* VARINT, FIXED64, FIXED32 */
  gather_proto inner; /* BYTES: its content */
} gather_proto_field;

/* Reads the next field. Returns NULL, or an error message; message->at is then the wrong byte. The content of BYTES is not loaded. If
 * a need failed, the message is not the reason: gather_map_failure. */
const char *gather_proto_next(gather_proto *message, gather_proto_field *field);
/* Reads the next number of a packed list, which is not at its end. Returns NULL or an error message. */
const char *gather_proto_packed(gather_proto *list, gather_proto_wire wire, uint64_t *value);

/* ---- a model */

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
#define GATHER_ONNX_WRONG(onnx, offset, ...) gather_fail_file((onnx)->error, GATHER_FILE_MALFORMED, (onnx)->file->name, offset, __VA_ARGS__)

/* Reads the next field; its number is 0 at the end. */
GATHER_CHECKED gather_status gather_onnx_next(gather_onnx *onnx, gather_proto *message, gather_proto_field *field);
/* Fails if a field does not have the wire type of its number. */
GATHER_CHECKED gather_status gather_onnx_is(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire);
/* Zeroed memory, owned by the file. */
GATHER_CHECKED gather_status gather_onnx_take(gather_onnx *onnx, int64_t count, size_t bytes, void *memory);
/* A field's text as UTF-8: invalid bytes and zero bytes become '?'. */
GATHER_CHECKED gather_status gather_onnx_text(gather_onnx *onnx, const gather_proto_field *field, const char **text);
/* The same, with "ai.onnx" as "". */
GATHER_INLINE gather_status gather_onnx_domain(gather_onnx *onnx, const gather_proto_field *field, const char **text) {
  GATHER_TRY(gather_onnx_text(onnx, field, text));
  if (strcmp(*text, "ai.onnx") == 0) *text = "";
  return GATHER_OK;
}
/* ---- messages, read by tables of their fields */

/* Fails where it cannot use a field. into: what the message is read into. */
typedef gather_status gather_onnx_use(gather_onnx *onnx, const gather_proto_field *field, void *into);

typedef enum gather_onnx_kind {
  GATHER_ONNX_TEXT,    /* const char * */
  GATHER_ONNX_DOMAIN,  /* const char *: a text with "ai.onnx" as "" */
  GATHER_ONNX_NUMBER,  /* int64_t or uint64_t */
  GATHER_ONNX_FIELD,   /* gather_proto_field: itself, of any wire type */
  GATHER_ONNX_MESSAGE, /* `use` is called; it has bytes */
  GATHER_ONNX_OTHER    /* `use` is called, whatever its wire type is */
} gather_onnx_kind;

/* A field of a message: where in `into` it goes, or the function that is called. A field of a number given twice is used twice: of
 * what is stored the last one counts. */
typedef struct gather_onnx_row {
  uint32_t number; /* 0 ends a table */
  gather_onnx_kind kind;
  size_t offset;
  gather_onnx_use *use;
} gather_onnx_row;

/* Reads the fields of a message in their order; those that the table does not have are skipped. */
GATHER_CHECKED gather_status gather_onnx_read(gather_onnx *onnx, gather_proto message, const gather_onnx_row *rows, void *into);
/* Reads only the submessages of one number. */
GATHER_CHECKED gather_status gather_onnx_each(gather_onnx *onnx, gather_proto message, uint32_t number, gather_onnx_use *use, void *into);

/* Counts the fields of each number below `numbers` in the message. */
GATHER_CHECKED gather_status gather_onnx_count(gather_onnx *onnx, gather_proto message, uint32_t numbers, int64_t *counts);

/* The numbers that a field adds to a list: one, or many if it is packed. NULL values: only counts. */
GATHER_CHECKED gather_status gather_onnx_numbers(gather_onnx *onnx, const gather_proto_field *field, gather_proto_wire wire,
                                                 uint64_t *values, int64_t *count);
/* All numbers of a repeated field of a message. */
GATHER_CHECKED gather_status gather_onnx_list(gather_onnx *onnx, gather_proto message, uint32_t number, gather_proto_wire wire,
                                              uint64_t **values, int64_t *count);

/* Reads a TensorProto. */
GATHER_CHECKED gather_status gather_onnx_tensor(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor);
/* Reads a SparseTensorProto, as a dense tensor with the name of its values. */
GATHER_CHECKED gather_status gather_onnx_sparse(gather_onnx *onnx, gather_proto message, gather_file_tensor *tensor);

/* The strings of a message's field as an array of gather_string. */
GATHER_CHECKED gather_status gather_onnx_strings(gather_onnx *onnx, gather_proto message, uint32_t number, gather_string **strings,
                                                 int64_t *count);
/* A tensor of values in native byte order in the arena; rank 0 if len is -1. */
GATHER_CHECKED gather_status gather_onnx_made(gather_onnx *onnx, gather_type type, const void *data, int64_t len, int64_t offset,
                                              gather_file_tensor *tensor);

GATHER_CHECKED gather_status gather_onnx_value(gather_onnx *onnx, gather_proto message, gather_value *value);

GATHER_CHECKED gather_status gather_onnx_graph(gather_onnx *onnx, gather_proto message, gather_graph *parent, const char *path, int depth,
                                               gather_graph **graph);
/* Opens the files of external data that the initializers of a remote model name, several at once. */
GATHER_CHECKED gather_status gather_onnx_external_open(const gather_onnx *onnx, gather_proto graph, uint32_t initializer);
/* Reads a function; its graph is one of the model's. */
GATHER_CHECKED gather_status gather_onnx_function(gather_onnx *onnx, gather_proto message, gather_function *function);
/* Reads the versions of operator sets that a model or a function imports. */
GATHER_CHECKED gather_status gather_onnx_imports_read(gather_onnx *onnx, gather_proto message, uint32_t number);

#endif
