/* SPDX-License-Identifier: MIT
 *
 * duck_tables.h: the tables that a database has open. They are opened at their first use, kept, and shared by all threads; a table whose
 * file has changed is opened again. All are closed with the database.
 */
#ifndef GATHER_PLUGIN_DUCK_TABLES_H
#define GATHER_PLUGIN_DUCK_TABLES_H

#include "duck_options.h"
#include "duck_rows.h"

/* The tables of one database. */
typedef struct duck_tables duck_tables;

/* One open table. */
typedef struct duck_open {
  gather_table *table;
  duck_layout layout;
  duck_options options;
  const char *file, *tensor; /* for messages, as SQL gave them, but URLs without user and query; tensor: "" in the form with one name */
} duck_open;

/* A text of SQL: not terminated. */
typedef struct duck_name {
  const char *text;
  size_t bytes;
} duck_name;

/* What SQL says about a table: file, tensor ("" = the only one, or FILE:TENSOR), options. */
typedef struct duck_key {
  duck_name file, tensor, options;
} duck_key;

/* Whether two keys are the same. */
bool gather_duck_same_key(const duck_key *a, const duck_key *b);

/* Creates an empty set with one reference; NULL: out of memory. */
duck_tables *gather_duck_tables_create(void);
/* One more owner. */
void gather_duck_tables_share(duck_tables *tables);
/* One owner less. The last one closes every table, which ends their threads. Suits duck_delete. */
void gather_duck_tables_release(void *tables);

/* The table of a key, opened if it is not open, or if its file has changed since. It stays open at least until gather_duck_put_back.
 * Returns the errors of gather_table_open, GATHER_USAGE (options, a name with a zero byte). Threads: any; those that want a table that
 * another one is opening wait for it, others do not. */
gather_status gather_duck_open(duck_tables *tables, const duck_key *key, duck_open **open, gather_error *error);
/* status: how reading it ended; after an error of a file the table is opened again at its next use, because a URL may have another
 * version, or need another signature. */
void gather_duck_put_back(duck_tables *tables, duck_open *open, gather_status status);

/* Reads rows: `count` row numbers, each in range, to `len` elements each of `target` (not VARCHAR, not BLOB) at `to`. to_come: rows
 * that later reads want, as far as known. Threads: any. */
gather_status gather_duck_read(const duck_open *open, const int64_t *rows, int64_t count, int64_t to_come, duck_target target, void *to,
                               gather_error *error);
/* The same, as bytes of the file. */
gather_status gather_duck_read_bytes(const duck_open *open, const int64_t *rows, int64_t count, int64_t to_come, void *to,
                                     gather_error *error);

/* The row of an id, which may count from the end; -1: there is none, and ids out of range are to give NULL. is_unsigned: of UBIGINT.
 * Returns GATHER_INDEX_OUT_OF_RANGE with the id, the range and the table. */
gather_status gather_duck_row(const duck_open *open, int64_t id, bool is_unsigned, int64_t *row, gather_error *error);

#endif
