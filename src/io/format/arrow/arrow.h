/* SPDX-License-Identifier: MIT
 *
 * arrow.h: what the readers of Arrow's files and streams share. Numbers of fields, types and units are those of File.fbs,
 * Message.fbs and Schema.fbs (format version 1.5).
 */
#ifndef GATHER_FORMAT_ARROW_H
#define GATHER_FORMAT_ARROW_H

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "io/format/chunks.h"
#include "io/format/format.h"

/* ---- FlatBuffers, which hold Arrow's metadata: tables of numbered fields that point to each other. Every offset is checked against the
 * buffer; offsets only point forward, so every traversal ends. Source: the document "FlatBuffers Internals". */

/* A buffer: the bytes [start, end) of a file. All positions count from the file's first byte. */
typedef struct gather_flat {
  const gather_file *file;
  gather_error *error;
  int64_t start, end;
} gather_flat;

typedef struct gather_flat_table {
  int64_t at, bytes;
  int64_t fields_at, fields; /* position and length of its field list; at 0 = no table */
} gather_flat_table;

typedef struct gather_flat_vector {
  int64_t at, len; /* the first item */
} gather_flat_vector;

typedef struct gather_flat_text {
  const char *text; /* UTF-8 without zero bytes, not terminated; NULL = absent */
  int64_t at, bytes;
} gather_flat_text;

/* The root table of the buffer. */
GATHER_CHECKED gather_status gather_flat_root(const gather_flat *flat, gather_flat_table *table);
/* A field that is a table; table->at is 0 if it is absent. */
GATHER_CHECKED gather_status gather_flat_inner(const gather_flat *flat, const gather_flat_table *table, int field,
                                               gather_flat_table *inner);
/* A field that is a signed number of 1, 2, 4 or 8 bytes; *value is unchanged if it is absent. */
GATHER_CHECKED gather_status gather_flat_number(const gather_flat *flat, const gather_flat_table *table, int field, int bytes,
                                                int64_t *value);
/* A field that is a vector of items of that size; empty if it is absent. */
GATHER_CHECKED gather_status gather_flat_list(const gather_flat *flat, const gather_flat_table *table, int field, int64_t item_bytes,
                                              gather_flat_vector *vector);
/* Item i of a vector of tables, whose items have 4 bytes. */
GATHER_CHECKED gather_status gather_flat_item(const gather_flat *flat, const gather_flat_vector *vector, int64_t i,
                                              gather_flat_table *table);
/* A field that is a string. */
GATHER_CHECKED gather_status gather_flat_string(const gather_flat *flat, const gather_flat_table *table, int field, gather_flat_text *text);

/* ---- a file */

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
  int64_t codec;   /* of the first compressed batch: 0 LZ4, 1 Zstandard; -1 = none is compressed */
  gather_arrow_column *columns;
  int64_t len;
  gather_arrow_counts all;          /* of all columns */
  int64_t search_room;              /* bytes left to search for nulls: columns may share them */
  int64_t offsets_room;             /* likewise, bytes left to read offsets of lists */
  int64_t remote_room;              /* the same, of a remote file: they are downloaded */
  int64_t decoded_room;             /* the same of compressed ones, decoded */
  struct gather_unfilter *unfilter; /* has the last decoded ones; NULL */
  int64_t searches;                 /* of remote bitmaps, so far */
} gather_arrow;

/* Fails and reports a byte of the file. */
#define GATHER_ARROW_WRONG(arrow, offset, ...) \
  gather_fail_file((arrow)->error, GATHER_FILE_MALFORMED, (arrow)->file->name, offset, __VA_ARGS__)
#define GATHER_ARROW_REFUSE(arrow, offset, ...) \
  gather_fail_file((arrow)->error, GATHER_UNSUPPORTED, (arrow)->file->name, offset, __VA_ARGS__)

#define GATHER_ARROW_NO_MEMORY(arrow) \
  gather_fail_file((arrow)->error, GATHER_OUT_OF_MEMORY, (arrow)->file->name, -1, "out of memory for its columns")

/* Zeroed memory, owned by the file. */
GATHER_CHECKED gather_status gather_arrow_take(gather_arrow *arrow, int64_t count, size_t bytes, void *memory);

/* Reads the columns of a Schema. */
GATHER_CHECKED gather_status gather_arrow_schema(gather_arrow *arrow, const gather_flat *flat, const gather_flat_table *schema);

/* ---- batches */

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
GATHER_CHECKED gather_status gather_arrow_message_read(gather_arrow *arrow, const gather_arrow_block *block, int64_t end, const char *what,
                                                       gather_arrow_message *message);
/* Makes the tensors of all columns and batches. Batches may be in any order, and end before `end`. */
GATHER_CHECKED gather_status gather_arrow_tensors(gather_arrow *arrow, int64_t end, const gather_arrow_block *blocks, int64_t len);

/* ---- arrow_buffers.c: the buffers of batches */

/* A record batch. */
typedef struct gather_arrow_batch {
  int64_t first_row, rows;         /* first_row: of the file */
  int64_t nodes, buffers;          /* positions of their vectors */
  int64_t views, buffers_of_views; /* number of view fields, and position of their buffer counts */
  int64_t body, body_bytes;
  int64_t compression;            /* -1 = none; 0 = LZ4, 1 = Zstandard */
  int64_t passed, passed_buffers; /* view fields before the next column, and their buffers */
} gather_arrow_batch;

enum { GATHER_ARROW_PAIR_BYTES = 16, GATHER_ARROW_LENGTH_BYTES = 8 };

/* Item i of the pairs at `at`: a node is a length and how many of it are null; a buffer is an offset in the body and a length. */
GATHER_INLINE int64_t gather_arrow_pair(const gather_arrow *arrow, int64_t at, int64_t i, int which) {
  return gather_read_i64(arrow->file->map.bytes + at + GATHER_ARROW_PAIR_BYTES * i + 8 * which);
}

/* Where the contents of a buffer are. */
typedef struct gather_arrow_contents {
  int64_t start, bytes; /* as stored; compressed ones with the length before them */
  int64_t raw_bytes;    /* not compressed, as that length says; -1 = they are not compressed */
} gather_arrow_contents;

/* Where a buffer of a batch is, compressed or not: *start in the file. Fails if it is outside the body. `name`: of the column. */
GATHER_CHECKED gather_status gather_arrow_find_buffer(const gather_arrow *arrow, const gather_arrow_batch *batch, int64_t number,
                                                      const char *name, int64_t *start, int64_t *bytes);
/* The same for its contents. */
GATHER_CHECKED gather_status gather_arrow_open_buffer(const gather_arrow *arrow, const gather_arrow_batch *batch, int64_t number,
                                                      const char *name, gather_arrow_contents *contents);
/* A tensor that cannot be read, because its column is or has what `why` says, at that byte. */
GATHER_CHECKED gather_status gather_arrow_unreadable(gather_arrow *arrow, const gather_arrow_column *column, gather_file_tensor *tensor,
                                                     int64_t at, const char *why);
/* The stored strides of the elements, whose axes are stored in another order. */
void gather_arrow_strides(const gather_arrow_column *column, int64_t *strides);
/* Puts the tensor's elements, which are not none, in a chunk. raw_bytes: of it when it is not compressed, at least those of the elements:
 * writers may pad. */
GATHER_CHECKED gather_status gather_arrow_set_chunk(gather_arrow *arrow, const gather_arrow_column *column, gather_file_tensor *tensor,
                                                    const gather_chunk_place *place, int64_t raw_bytes);

#endif
