/* SPDX-License-Identifier: MIT
 *
 * arrow.h: what the readers of Arrow's file format share. Numbers of fields, types and units are those of File.fbs,
 * Message.fbs and Schema.fbs (format version 1.5).
 */
#ifndef GATHER_FORMAT_ARROW_H
#define GATHER_FORMAT_ARROW_H

#include "base/error.h"
#include "format/flatbuffer.h"

/* Nested lists are read to this depth; with the rows they make the highest rank. */
enum { GATHER_ARROW_DEPTH_MAX = GATHER_MAX_RANK - 1 };

/* A column of the table; each record batch has one chunk of it. */
typedef struct gather_arrow_column {
  const char *name;
  int64_t field; /* position of its Field */
  /* Its tensor. type_name is Arrow's if `why` is not NULL. */
  const char *type_name, *descr;
  gather_type type;
  int64_t item_bytes;
  bool has_order; /* its elements have a byte order */
  int32_t rank;   /* of a row */
  const int64_t *shape;
  const int32_t *order; /* of the axes of a row in memory; NULL = as stored */
  int64_t row_len;
  /* Fixed-size lists around the elements, outermost first. */
  int32_t lists;
  const int64_t *list_lengths;
  /* What precedes it in a batch: nodes, buffers, and view fields, whose number of extra buffers the batch gives. */
  int64_t node, buffer, views;
  const char *why; /* why no batch of it can be read; NULL */
} gather_arrow_column;

/* What fields and their children have in a batch. */
typedef struct gather_arrow_counts {
  int64_t nodes, buffers, views;
} gather_arrow_counts;

/* The state of reading one file. */
typedef struct gather_arrow {
  gather_file *file;
  gather_error *error;
  bool big_endian;
  int64_t version; /* of the metadata, as stored: 3 is V4 */
  gather_arrow_column *columns;
  int64_t len;
  gather_arrow_counts all; /* of all columns */
  int64_t search_room;     /* bytes left to search for nulls: columns may share them */
  int64_t searches;        /* of remote bitmaps, so far */
} gather_arrow;

/* Fails and reports a byte of the file. */
#define GATHER_ARROW_WRONG(arrow, offset, ...) \
  gather_fail_file((arrow)->error, GATHER_FILE_MALFORMED, (arrow)->file->name, offset, __VA_ARGS__)
#define GATHER_ARROW_REFUSE(arrow, offset, ...) \
  gather_fail_file((arrow)->error, GATHER_UNSUPPORTED, (arrow)->file->name, offset, __VA_ARGS__)

/* Numbers of the union Type. */
enum {
  GATHER_ARROW_INT = 2,
  GATHER_ARROW_FLOAT = 3,
  GATHER_ARROW_BOOL = 6,
  GATHER_ARROW_DECIMAL = 7,
  GATHER_ARROW_DATE = 8,
  GATHER_ARROW_TIME = 9,
  GATHER_ARROW_TIMESTAMP = 10,
  GATHER_ARROW_INTERVAL = 11,
  GATHER_ARROW_UNION = 14,
  GATHER_ARROW_BINARY_FIXED = 15,
  GATHER_ARROW_LIST_FIXED = 16,
  GATHER_ARROW_DURATION = 18
};

/* Numbers of a Field's fields. */
enum {
  GATHER_ARROW_FIELD_NAME,
  GATHER_ARROW_FIELD_NULLABLE,
  GATHER_ARROW_FIELD_TYPE_NUMBER,
  GATHER_ARROW_FIELD_TYPE,
  GATHER_ARROW_FIELD_DICTIONARY,
  GATHER_ARROW_FIELD_CHILDREN,
  GATHER_ARROW_FIELD_METADATA
};

GATHER_CHECKED gather_status gather_arrow_no_memory(const gather_arrow *arrow);
/* Zeroed memory, owned by the file. */
GATHER_CHECKED gather_status gather_arrow_take(gather_arrow *arrow, int64_t count, size_t bytes, void *memory);

/* Reads the columns of a Schema. */
GATHER_CHECKED gather_status gather_arrow_schema(gather_arrow *arrow, const gather_flat *flat,
                                                 const gather_flat_table *schema);
/* An Arrow type: its name, and the number of its buffers in a record batch, without its children's. */
typedef struct gather_arrow_layout {
  const char *name;
  int8_t buffers;
  bool views; /* and further ones, counted in the batch */
} gather_arrow_layout;

/* NULL for an unknown number. */
const gather_arrow_layout *gather_arrow_layout_of(int64_t number);
const char *gather_arrow_type_name(int64_t number);
/* Sets a column's element type and row shape, or why it cannot be a tensor. */
GATHER_CHECKED gather_status gather_arrow_column_type(gather_arrow *arrow, const gather_flat *flat,
                                                      const gather_flat_table *field, gather_arrow_column *column);
/* The same for the extension arrow.fixed_shape_tensor, for a column already set up as lists. */
GATHER_CHECKED gather_status gather_arrow_tensor_type(gather_arrow *arrow, const gather_flat *flat,
                                                      const gather_flat_table *field, gather_arrow_column *column);

/* A record batch. */
typedef struct gather_arrow_batch {
  int64_t first_row, rows;         /* first_row: of the file */
  int64_t nodes, buffers;          /* positions of their vectors */
  int64_t views, buffers_of_views; /* number of view fields, and position of their buffer counts */
  int64_t body, body_bytes;
  int64_t compression;            /* -1 = none; 0 = LZ4, 1 = Zstandard */
  int64_t passed, passed_buffers; /* view fields before the next column, and their buffers */
} gather_arrow_batch;

/* Where a batch is, according to the footer at `said_at`: its metadata, then its body. */
typedef struct gather_arrow_block {
  int64_t at, bytes, said_at;
} gather_arrow_block;

/* Reads the message of a batch, which ends before `end`. */
GATHER_CHECKED gather_status gather_arrow_batch_read(gather_arrow *arrow, const gather_arrow_block *block, int64_t end,
                                                     gather_arrow_batch *batch);
/* Makes a tensor of a column's chunk in a batch. To be called in column order. NULL batch: no rows. */
GATHER_CHECKED gather_status gather_arrow_chunk(gather_arrow *arrow, gather_arrow_batch *batch,
                                                const gather_arrow_column *column, gather_file_tensor *tensor);

#endif
