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

#include "base/compiler.h"
#include "table/table_source.h"

/* How much of files is mapped and touched, by all sources of a table. */
typedef struct gather_map_use {
  int64_t most_bytes;
  _Atomic int64_t bytes, peak_bytes;
  _Atomic int64_t refused; /* regions that found no room since one was last given up */
} gather_map_use;

typedef struct gather_residency {
  const gather_table_source *source;
  gather_map_use *use;
  int64_t region_count;
  _Atomic uint32_t *regions;   /* what was found, and when */
  _Atomic uint8_t *touches;    /* how often a resident region was wanted, until it is mapped as a whole */
  _Atomic uint8_t *pages;      /* without a ceiling: a bit for each page that was seen in memory; NULL */
  _Atomic uint32_t generation; /* regions that were found resident in an earlier one are looked at again */
  _Atomic uint32_t all;        /* 1 + the generation in which everything that was asked for was resident; 0 = none */
  _Atomic int64_t hand;        /* where the next region is given up */
  _Atomic int32_t luck;        /* how trying to read without waiting has gone */
  atomic_bool can_ask;         /* the system tells what is resident */
  atomic_bool eager;           /* many rows of each region are wanted: it is mapped as a whole when it is found */
} gather_residency;

enum { GATHER_REGION_BYTES = 2 << 20, GATHER_PAGE_BYTES = 4096 };

/* What a region's word and its touches are where it is known to be resident now, and mapped as a whole. */
enum { GATHER_REGION_RESIDENT = 3, GATHER_REGION_MAPPED = UINT8_MAX };

/* Whether all pages of a range were seen in memory. */
GATHER_INLINE bool gather_residency_noted(const gather_residency *residency, int64_t offset, int64_t bytes) {
  const uint64_t last = (uint64_t)(offset + bytes - 1) / GATHER_PAGE_BYTES;
  for (uint64_t page = (uint64_t)offset / GATHER_PAGE_BYTES; page <= last; page++)
    if (!(atomic_load_explicit(&residency->pages[page / 8], memory_order_relaxed) & (1u << page % 8))) return false;
  return true;
}

/* Whether a row may be copied from the mapping: the usual case of a warm table, decided by a load or a few. generation: as it is now. */
GATHER_INLINE bool gather_residency_has(const gather_residency *residency, uint32_t generation, int64_t offset,
                                        int64_t bytes) {
  if (residency->pages) return gather_residency_noted(residency, offset, bytes);
  const uint32_t good = generation << 2 | GATHER_REGION_RESIDENT;
  const int64_t last = (offset + bytes - 1) / GATHER_REGION_BYTES;
  for (int64_t region = offset / GATHER_REGION_BYTES; region <= last; region++)
    if (atomic_load_explicit(&residency->regions[region], memory_order_relaxed) != good ||
        atomic_load_explicit(&residency->touches[region], memory_order_relaxed) != GATHER_REGION_MAPPED)
      return false;
  return true;
}

typedef enum gather_where {
  GATHER_WHERE_ELSE = 0, /* not in memory, or nobody knows */
  GATHER_WHERE_PERHAPS,  /* worth an attempt to read without waiting */
  GATHER_WHERE_MAPPED    /* mapped and resident, as far as anybody knows */
} gather_where;

/* Of an opened source. with_pages: pages are noted one by one. Returns false where there is no memory. */
bool gather_residency_open(gather_residency *residency, const gather_table_source *source, gather_map_use *use,
                           bool with_pages);
void gather_residency_close(gather_residency *residency);

/* Where bytes [offset, offset + bytes) are. */
gather_where gather_residency_ask(gather_residency *residency, int64_t offset, int64_t bytes);
/* Whether every byte of the range, which is always the same one, is in regions that are resident and mapped, as far as is known.
 * ask: the system is asked of those that nothing is known of, up to the first that is not; else only a yes is remembered. */
bool gather_residency_is_all(gather_residency *residency, int64_t offset, int64_t bytes, bool ask);
/* Reads without waiting: true where all bytes were there, which is noted. */
bool gather_residency_try(gather_residency *residency, int64_t offset, int64_t bytes, char *out);
/* Pages of the range are in memory: until there is doubt they are copied from the mapping. */
void gather_residency_note(gather_residency *residency, int64_t offset, int64_t bytes);
/* Takes the pages of the range, and those round it, out of this process; they stay in the page cache. */
void gather_residency_drop(gather_residency *residency, int64_t offset, int64_t bytes);
/* What is known of resident regions is no longer so: rows were waited for that should have been there. */
void gather_residency_doubt(gather_residency *residency);

/* Notices whether this thread had to wait for a disk between two moments, although what it touched was taken to be in memory: then the
 * system has taken it away since. */
typedef struct gather_watch {
  int64_t rows, faults, start;
} gather_watch;

/* rows: how many are copied until gather_watch_waited. */
gather_watch gather_watch_start(int64_t rows);
bool gather_watch_waited(const gather_watch *watch);

#endif
