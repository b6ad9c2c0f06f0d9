/* SPDX-License-Identifier: MIT
 *
 * resident_pages.h: what the system knows of a file's pages in the page cache, and which of them are mapped.
 */
#ifndef GATHER_TABLE_RESIDENT_PAGES_H
#define GATHER_TABLE_RESIDENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "table/table_source.h"

enum { GATHER_PAGE_BYTES = 4096 };

/* How many pages (of GATHER_PAGE_BYTES) of a range of a file are in the page cache; -1 if the system cannot tell. */
int64_t gather_pages_resident(const gather_table_source *source, int64_t offset, int64_t bytes);
/* Reads bytes that are in the page cache; false if that would wait, or if the system cannot read so. */
bool gather_pages_read(const gather_table_source *source, int64_t offset, int64_t bytes, char *out);

/* Of the file's mapping: maps the pages of a range at once, instead of one by one when they are touched, where the system can. */
void gather_pages_map(const gather_table_source *source, int64_t offset, int64_t bytes);
/* Unmaps the pages of a range; they are mapped again when they are touched, and stay in the page cache. */
void gather_pages_unmap(const gather_table_source *source, int64_t offset, int64_t bytes);

#endif
