/* SPDX-License-Identifier: MIT
 *
 * table_direct.h: a second descriptor of a table's file, whose reads bypass the page cache.
 */
#ifndef GATHER_TABLE_TABLE_DIRECT_H
#define GATHER_TABLE_TABLE_DIRECT_H

#include <sys/stat.h>

#include "table/table_source.h"

/* Opens it. first: what the descriptor through the page cache said of the file. Sets direct_fd, or direct_errno if that is not possible,
 * and block_bytes. */
void gather_table_source_open_direct(gather_table_source *source, const struct stat *first);

/* How tables are read: block_bytes if nothing else is known, and its limit; sources with longer blocks are read through the page cache. */
enum { GATHER_TABLE_BLOCK_BYTES = 4096, GATHER_TABLE_MOST_BLOCK = 1 << 20 };

#endif
