/* SPDX-License-Identifier: MIT
 *
 * resident.h: what of a file lies in memory, so that rows of it can be copied without waiting. The file is looked at in regions of
 * 2 MiB, when rows of them are wanted.
 */
#ifndef GATHER_TABLE_RESIDENT_H
#define GATHER_TABLE_RESIDENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "table/source.h"

/* How much of files is mapped and touched, by all sources of a table. */
typedef struct gather_map_use {
  int64_t most_bytes;
  _Atomic int64_t bytes;
  _Atomic int64_t refused; /* regions that found no room since one was last given up */
} gather_map_use;

typedef struct gather_residency {
  const gather_source *source;
  gather_map_use *use;
  int64_t region_count;
  _Atomic uint32_t *regions;   /* what was found, and when */
  _Atomic uint8_t *pages;      /* mmap alone: a bit for each page that was read through the mapping; NULL */
  _Atomic uint32_t generation; /* regions that were found resident in an earlier one are looked at again */
  _Atomic int64_t resident;    /* regions of this generation that are */
  _Atomic int64_t hand;        /* where the next region is given up */
  _Atomic int32_t luck;        /* how trying to read without waiting has gone */
  bool can_ask;                /* the system tells what is resident */
} gather_residency;

typedef enum gather_where {
  GATHER_WHERE_ELSE = 0, /* not in memory, or nobody knows */
  GATHER_WHERE_PERHAPS,  /* worth an attempt to read without waiting */
  GATHER_WHERE_MAPPED    /* mapped and resident, as far as anybody knows */
} gather_where;

enum { GATHER_REGION_BYTES = 2 << 20 };

/* Of an opened source. with_pages: pages are noted one by one. Returns false where there is no memory. */
bool gather_residency_open(gather_residency *residency, const gather_source *source, gather_map_use *use,
                           bool with_pages);
void gather_residency_close(gather_residency *residency);

/* Where bytes [offset, offset + bytes) are. */
gather_where gather_residency_ask(gather_residency *residency, int64_t offset, int64_t bytes);
/* Whether every byte of the range is in regions that are resident and mapped, as far as is known; ask: the system is asked of those that
 * nothing is known of, up to the first that is not. */
bool gather_residency_is_all(gather_residency *residency, int64_t offset, int64_t bytes, bool ask);
/* Reads without waiting: true where all bytes were there. */
bool gather_residency_try(gather_residency *residency, int64_t offset, int64_t bytes, char *out);
/* Pages of the range have been read through the mapping. */
void gather_residency_note(gather_residency *residency, int64_t offset, int64_t bytes);
/* What is known of resident regions is no longer so: rows were waited for that should have been there. */
void gather_residency_doubt(gather_residency *residency);

/* Page faults of this thread that had to wait for a disk; the difference of two calls tells whether there was one between. */
int64_t gather_major_faults(void);

#endif
