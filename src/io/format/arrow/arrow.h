/* SPDX-License-Identifier: MIT
 *
 * arrow.h: what the readers of Arrow's files and streams share. Numbers of fields, types and units are those of File.fbs,
 * Message.fbs and Schema.fbs (format version 1.5).
 */
#ifndef GATHER_FORMAT_ARROW_H
#define GATHER_FORMAT_ARROW_H

#include "core/base/error.h"
#include "io/format/arrow/flatbuffer.h"

/* Nested lists are read to this depth; with the rows they make the highest rank. */
enum { GATHER_ARROW_DEPTH_MAX = GATHER_MAX_RANK - 1 };

/* Lists around the elements of a column. Those of variable size become rows if all have one length. */
typedef struct gather_arrow_list {
  int64_t length;      /* -1: variable size, and not known yet */
  int8_t offset_bytes; /* of the offsets of lists of variable size; 0 = fixed size */
} gather_arrow_list;

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
  int32_t lists; /* outermost first */
  gather_arrow_list *list;
  bool is_variable, is_settled; /* it has lists of variable size; and their lengths are known */
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
  int64_t offsets_room;    /* likewise, bytes left to read offsets of lists */
  int64_t remote_room;     /* the same, of a remote file: they are downloaded */
  int64_t searches;        /* of remote bitmaps, so far */
} gather_arrow;

/* Fails and reports a byte of the file. */
#define GATHER_ARROW_WRONG(arrow, offset, ...) \
  gather_fail_file((arrow)->error, GATHER_FILE_MALFORMED, (arrow)->file->name, offset, __VA_ARGS__)
#define GATHER_ARROW_REFUSE(arrow, offset, ...) \
  gather_fail_file((arrow)->error, GATHER_UNSUPPORTED, (arrow)->file->name, offset, __VA_ARGS__)

/* Numbers of the union Type. */
enum {
  GATHER_ARROW_NULL = 1,
  GATHER_ARROW_INT = 2,
  GATHER_ARROW_FLOAT = 3,
  GATHER_ARROW_BOOL = 6,
  GATHER_ARROW_DECIMAL = 7,
  GATHER_ARROW_DATE = 8,
  GATHER_ARROW_TIME = 9,
  GATHER_ARROW_TIMESTAMP = 10,
  GATHER_ARROW_INTERVAL = 11,
  GATHER_ARROW_LIST = 12,
  GATHER_ARROW_STRUCT = 13,
  GATHER_ARROW_UNION = 14,
  GATHER_ARROW_BINARY_FIXED = 15,
  GATHER_ARROW_LIST_FIXED = 16,
  GATHER_ARROW_MAP = 17,
  GATHER_ARROW_DURATION = 18,
  GATHER_ARROW_LIST_LARGE = 21,
  GATHER_ARROW_RUN_END = 22,
  GATHER_ARROW_LIST_VIEW = 25,
  GATHER_ARROW_LIST_VIEW_LARGE = 26
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

/* ---- batches */

/* A record batch. */
typedef struct gather_arrow_batch {
  int64_t first_row, rows;         /* first_row: of the file */
  int64_t nodes, buffers;          /* positions of their vectors */
  int64_t views, buffers_of_views; /* number of view fields, and position of their buffer counts */
  int64_t body, body_bytes;
  int64_t compression;            /* -1 = none; 0 = LZ4, 1 = Zstandard */
  int64_t passed, passed_buffers; /* view fields before the next column, and their buffers */
} gather_arrow_batch;

/* Where a batch is, according to the bytes at `said_at`: its metadata with their length, then its body. */
typedef struct gather_arrow_block {
  int64_t at, bytes, said_at;
} gather_arrow_block;

/* The metadata of a message. */
typedef struct gather_arrow_message {
  gather_flat flat;
  gather_flat_table table, header;
  int64_t version, kind; /* as stored; kind: of the header */
  int64_t body_bytes;
} gather_arrow_message;

/* Kinds of messages. */
enum { GATHER_ARROW_SCHEMA = 1, GATHER_ARROW_DICTIONARY = 2, GATHER_ARROW_BATCH = 3 };

/* Bytes of the marker and the length before the metadata of a message. */
enum { GATHER_ARROW_PREFIX_BYTES = 8 };

/* Reads the metadata of a message, which ends before `end`. what: it should be, for errors. */
GATHER_CHECKED gather_status gather_arrow_message_read(gather_arrow *arrow, const gather_arrow_block *block,
                                                       int64_t end, const char *what, gather_arrow_message *message);
/* Fails for versions of the metadata that are not supported; at: of the version. */
GATHER_CHECKED gather_status gather_arrow_version_check(const gather_arrow *arrow, int64_t at);
/* Reads the message of a batch, which ends before `end`. */
GATHER_CHECKED gather_status gather_arrow_batch_read(gather_arrow *arrow, const gather_arrow_block *block, int64_t end,
                                                     gather_arrow_batch *batch);
/* Skips the buffers of the view fields before a column. To be called in column order. */
void gather_arrow_pass_views(const gather_arrow *arrow, gather_arrow_batch *batch, const gather_arrow_column *column);
/* Item i of the pairs at `at`: a node is a length and how many of it are null; a buffer is an offset in the body and a length. */
int64_t gather_arrow_pair(const gather_arrow *arrow, int64_t at, int64_t i, int which);
/* Where a buffer of a batch is, compressed or not: *start in the file. Fails if it is outside the body. `name`: of the column. */
GATHER_CHECKED gather_status gather_arrow_buffer_find(const gather_arrow *arrow, const gather_arrow_batch *batch,
                                                      int64_t number, const char *name, int64_t *start, int64_t *bytes);
/* The same for its contents: *start in the file. Fails if it is outside the body. Of a compressed batch, *packed says why it cannot
 * be read (NULL: it can), and *start is after its length. `name`: of the column. */
GATHER_CHECKED gather_status gather_arrow_buffer(const gather_arrow *arrow, const gather_arrow_batch *batch,
                                                 int64_t number, const char *name, int64_t *start, int64_t *bytes,
                                                 const char **packed);
/* Makes a tensor of a column's chunk in a batch. To be called in column order. NULL batch: no rows. */
GATHER_CHECKED gather_status gather_arrow_chunk(gather_arrow *arrow, gather_arrow_batch *batch,
                                                gather_arrow_column *column, gather_file_tensor *tensor);

/* ---- arrow_levels.c: the lists of a column in a batch */

/* The elements that the rows of a batch are made of. */
typedef struct gather_arrow_elements {
  int64_t buffer;     /* number of theirs in the batch */
  int64_t first;      /* of them in it */
  int64_t nulls;      /* of the outermost level with nulls; 0 = none */
  int64_t null_row;   /* row of the file with the first null; -1 = unknown */
  int64_t nulls_at;   /* where the file says that there are nulls */
  const char *packed; /* why the offsets of its lists cannot be read; NULL */
} gather_arrow_elements;

/* Finds the elements of a chunk of a column, whose lists are settled. */
GATHER_CHECKED gather_status gather_arrow_levels(gather_arrow *arrow, const gather_arrow_batch *batch,
                                                 gather_arrow_column *column, gather_arrow_elements *elements);
/* Settles the lengths of a column's lists of variable size, from all batches, or sets column->why. Sets the shape of a row. */
GATHER_CHECKED gather_status gather_arrow_settle(gather_arrow *arrow, gather_arrow_batch *batches, int64_t count,
                                                 gather_arrow_column *column);
/* The text of an error about nulls, in the arena; NULL: out of memory. */
const char *gather_arrow_nulls_text(gather_arrow *arrow, const gather_arrow_elements *elements);

/* ---- arrow_stream.c: the streaming format */

bool gather_arrow_is_stream(const gather_map *map);
/* Reads the schema of a stream, and finds its batches: *blocks has *count, in the arena. */
GATHER_CHECKED gather_status gather_arrow_stream(gather_arrow *arrow, gather_arrow_block **blocks, int64_t *count);

#endif
