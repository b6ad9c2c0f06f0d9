/* SPDX-License-Identifier: MIT
 *
 * table_system.h: what tables and shuffles ask of the operating system and each system does in a way of its own: guarded reads of mapped
 * files, pages of files in memory, reads past the page cache, advice.
 */
#ifndef GATHER_TABLE_SYSTEM_H
#define GATHER_TABLE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "table/table_source.h"

/* ---- guard.c: reads mapped files safely. A page that the system cannot read (disk error, truncated file) raises SIGBUS; within a guard
 * this becomes a return value. */

/* Calls body(argument) and returns true; false if it touched a byte of a source's mapping that cannot be read:
 * *source and *offset say which; *source is -1 if memory for the guard itself is missing. body is then left by a jump: it must hold no lock
 * and no memory. */
bool gather_guard_run(const gather_table_source *sources, int32_t count, void (*body)(void *argument), void *argument, int32_t *source,
                      int64_t *offset);
/* Installs the handler once. To be called before the first guard. */
GATHER_CHECKED gather_status gather_guard_install(gather_error *error);

/* The source whose mapping has the address, and where; for the handlers. */
GATHER_INLINE bool gather_guard_find(const gather_table_source *sources, int32_t count, const char *address, int32_t *source,
                                     int64_t *offset) {
  for (int32_t i = 0; i < count; i++) {
    const gather_table_source *at = &sources[i];
    if (!at->map || address < at->map || address - at->map >= at->size) continue;
    *source = i, *offset = address - at->map;
    return true;
  }
  return false;
}

/* ---- resident_pages.c: what the system knows of a file's pages in the page cache, and which of them are mapped */

enum { GATHER_PAGE_BYTES = 4096 };

/* How many pages (of GATHER_PAGE_BYTES) of a range of a file are in the page cache; -1 if the system cannot tell. */
int64_t gather_pages_resident(const gather_table_source *source, int64_t offset, int64_t bytes);
/* Reads bytes that are in the page cache; false if that would wait, or if the system cannot read so. */
bool gather_pages_read(const gather_table_source *source, int64_t offset, int64_t bytes, char *out);

/* Of the file's mapping: maps the pages of a range at once, instead of one by one when they are touched, where the system can. */
void gather_pages_map(const gather_table_source *source, int64_t offset, int64_t bytes);
/* Unmaps the pages of a range; they are mapped again when they are touched, and stay in the page cache. */
void gather_pages_unmap(const gather_table_source *source, int64_t offset, int64_t bytes);

/* ---- table_direct.c: a second descriptor of a table's file, whose reads bypass the page cache */

/* How tables are read: block_bytes if nothing else is known, and its limit; sources with longer blocks are read through the page cache. */
enum { GATHER_TABLE_BLOCK_BYTES = 4096, GATHER_TABLE_MOST_BLOCK = 1 << 20 };

/* Makes the reads of source->direct_fd, opened for it with O_DIRECT where the system has that flag, bypass the page cache, and sets
 * block_bytes. Returns an errno if that is not possible. */
int gather_direct_begin(gather_table_source *source);

/* ---- shuffle_advice.c: hints about coming reads. The system may ignore them. */

/* Tells the system that these bytes will be read soon. */
void gather_shuffle_read_ahead(int fd, int64_t size, int64_t offset);
/* Tells the system that a file is read sequentially. */
void gather_shuffle_read_in_order(int fd);

#endif
