/* SPDX-License-Identifier: MIT
 *
 * resident.h: which parts of a file are resident, so that their rows can be copied without waiting. The file is
 * examined in regions of 2 MiB, when their rows are wanted.
 */
#ifndef GATHER_TABLE_RESIDENT_H
#define GATHER_TABLE_RESIDENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "table/system/table_system.h"
#include "table/table_source.h"

/* How much of all files of a table is mapped and touched. */
typedef struct gather_map_use {
  int64_t most_bytes;
  _Atomic int64_t bytes, peak_bytes;
  _Atomic int64_t refused; /* regions that found no room since one was last replaced */
} gather_map_use;

/* What was spent on reading a file row by row, and how far it is read in order since (scan.c). */
typedef struct gather_scan {
  _Atomic int64_t cost;  /* of the reads of rows since it was last read in order, as bytes of such reading */
  _Atomic int32_t count; /* how often it was read in order, to its end */
  atomic_bool busy;      /* a thread reads; it owns `next` */
  int64_t next;          /* the next region */
} gather_scan;

typedef struct gather_residency {
  const gather_table_source *source;
  gather_map_use *use;
  int64_t region_count;
  _Atomic uint32_t *regions;   /* state, and when it was determined */
  _Atomic uint8_t *touches;    /* how many rows of a resident region were wanted, until it is mapped as a whole */
  _Atomic uint8_t *pages;      /* without a memory limit: a bit for each page seen resident; NULL */
  _Atomic uint32_t generation; /* regions found resident in an earlier generation are checked again */
  _Atomic uint32_t all;        /* 1 + the generation in which the whole queried range was resident; 0 = none */
  _Atomic int64_t hand;        /* clock hand: the next region to replace */
  _Atomic int32_t luck;        /* score of reads without waiting */
  atomic_bool can_ask;         /* the system can tell what is resident */
  atomic_bool eager;           /* many rows of each region are wanted: it is mapped as a whole at once */
  gather_scan scan;
} gather_residency;

enum { GATHER_REGION_BYTES = 2 << 20 };

/* The state of a region known to be resident, and the touches of one mapped as a whole. */
enum { GATHER_REGION_RESIDENT = 3, GATHER_REGION_MAPPED = UINT8_MAX };

/* Whether all pages of a range were seen resident. */
GATHER_INLINE bool gather_residency_noted(const gather_residency *residency, int64_t offset, int64_t bytes) {
  const uint64_t last = (uint64_t)(offset + bytes - 1) / GATHER_PAGE_BYTES;
  for (uint64_t page = (uint64_t)offset / GATHER_PAGE_BYTES; page <= last; page++)
    if (!(atomic_load_explicit(&residency->pages[page / 8], memory_order_relaxed) & (1u << page % 8))) return false;
  return true;
}

/* Whether a row may be copied from the mapping: the usual case of a warm table, decided by a few loads. generation:
 * the current one. */
GATHER_INLINE bool gather_residency_has(const gather_residency *residency, uint32_t generation, int64_t offset, int64_t bytes) {
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
  GATHER_WHERE_ELSE = 0, /* not resident, or unknown */
  GATHER_WHERE_PERHAPS,  /* perhaps resident: try to read without waiting */
  GATHER_WHERE_MAPPED    /* mapped and resident, as far as known */
} gather_where;

/* For an opened source. with_pages: residency is noted for each page. Returns false if out of memory. */
bool gather_residency_open(gather_residency *residency, const gather_table_source *source, gather_map_use *use, bool with_pages);
void gather_residency_close(gather_residency *residency);

/* Where bytes [offset, offset + bytes) are. */
gather_where gather_residency_ask(gather_residency *residency, int64_t offset, int64_t bytes);
/* Whether every byte of the range, the same in each call, is in resident and mapped regions, as far as known. ask:
 * queries the system about unknown regions, up to the first that is not resident; else only a remembered yes counts. */
bool gather_residency_is_all(gather_residency *residency, int64_t offset, int64_t bytes, bool ask);
/* Reads without waiting: true if all bytes were resident, which is noted. */
bool gather_residency_try(gather_residency *residency, int64_t offset, int64_t bytes, char *out);
/* Pages of the range were read through the mapping. keep: they are copied from it until gather_residency_doubt; else they and those around
 * them are unmapped, and stay in the page cache. */
void gather_residency_settle(gather_residency *residency, int64_t offset, int64_t bytes, bool keep);
/* Invalidates what is known of a region that is not resident: it was read into the page cache. */
void gather_residency_forget(gather_residency *residency, int64_t region);
/* Invalidates what is known of resident regions: a copy had to wait for rows that should have been resident. */
void gather_residency_doubt(gather_residency *residency);

#endif
