/* SPDX-License-Identifier: MIT
 *
 * flatbuffer.h: reads FlatBuffers, which hold Arrow's metadata: tables of numbered fields that point to each other.
 * Every offset is checked against the buffer; offsets only point forward, so every traversal ends.
 * Source: the document "FlatBuffers Internals".
 */
#ifndef GATHER_FORMAT_FLATBUFFER_H
#define GATHER_FORMAT_FLATBUFFER_H

#include "io/format/format.h"

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
GATHER_CHECKED gather_status gather_flat_number(const gather_flat *flat, const gather_flat_table *table, int field,
                                                int bytes, int64_t *value);
/* A field that is a vector of items of that size; empty if it is absent. */
GATHER_CHECKED gather_status gather_flat_list(const gather_flat *flat, const gather_flat_table *table, int field,
                                              int64_t item_bytes, gather_flat_vector *vector);
/* Item i of a vector of tables, whose items have 4 bytes. */
GATHER_CHECKED gather_status gather_flat_item(const gather_flat *flat, const gather_flat_vector *vector, int64_t i,
                                              gather_flat_table *table);
/* A field that is a string. */
GATHER_CHECKED gather_status gather_flat_string(const gather_flat *flat, const gather_flat_table *table, int field,
                                                gather_flat_text *text);

#endif
