/* SPDX-License-Identifier: MIT
 *
 * table_open_file.h: descriptors of a table's file, through the page cache and past it.
 */
#ifndef GATHER_TABLE_TABLE_OPEN_FILE_H
#define GATHER_TABLE_TABLE_OPEN_FILE_H

/* open() for reading, with more flags. What turns out to be a pipe is not waited for. Returns -1 and sets errno on failure. */
int gather_table_open_file(const char *path, int more);
/* Reads of it may wait from now on. Regular files do not block, but with the flag io_uring may return EAGAIN. */
void gather_table_let_block(int fd);

#endif
