/* SPDX-License-Identifier: MIT
 *
 * known_table.h: tables of known bytes, and takes whose every row is looked at.
 */
#ifndef GATHER_TESTS_TABLE_KNOWN_TABLE_H
#define GATHER_TESTS_TABLE_KNOWN_TABLE_H

#include "gather/table.h"

#define KNOWN_WRONG ((gather_status)-1)

enum { KNOWN_ROWS = 1000, KNOWN_ROW_BYTES = 300, KNOWN_IDS = 150 };

/* The path of a new file with that many rows. */
const char *known_table_file(const char *name);
/* Takes it out of the page cache, as far as the system wants, so that there is something to read. */
void known_table_forget(const char *path);
gather_status known_table_open(const char *path, gather_engine engine, bool buffered, gather_table **table, gather_error *error);
/* Takes KNOWN_IDS rows at random of [first, last), by a job or not. Where that goes well, the rows have to be right: else the status is
 * KNOWN_WRONG, which the library never gives. */
gather_status known_table_take(gather_table *table, bool job, int64_t first, int64_t last, gather_error *error);

#endif
