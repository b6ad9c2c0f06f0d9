/* SPDX-License-Identifier: MIT
 *
 * known.h: files whose every byte is known from its place, in a folder of the test's own.
 */
#ifndef GATHER_TESTS_TABLE_KNOWN_H
#define GATHER_TESTS_TABLE_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
