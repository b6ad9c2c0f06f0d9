/* SPDX-License-Identifier: MIT
 *
 * known.h: files whose every byte is known from its place, in a folder of the test's own; tables of them, and takes whose every row is
 * looked at.
 */
#ifndef GATHER_TESTS_TABLE_KNOWN_H
#define GATHER_TESTS_TABLE_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "gather/table.h"

/* cmocka's setup and teardown: makes the folder, and removes it with the files in it. A test that hangs is ended. The teardown fails
 * where descriptors were left open. */
int known_enter(void **state);
int known_leave(void **state);

/* The path of a file of `bytes` known bytes in the folder, made anew. Good until the next call. */
const char *known_file(const char *name, int64_t bytes);
/* The path of a name in the folder. */
const char *known_path(const char *name);
/* Puts the known bytes [offset, offset + bytes) into a file. */
void known_write(const char *path, int64_t offset, int64_t bytes);
/* Whether these are the bytes from `offset` on. */
bool known_is(const char *data, int64_t offset, int64_t bytes);
int known_open_descriptors(void);

/* The next number at random below `limit`; the same ones in each run, unless GATHER_TEST_SEED says otherwise. */
int64_t known_random(int64_t limit);

/* ---- tables */

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
