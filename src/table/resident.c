/* SPDX-License-Identifier: MIT
 *
 * resident.c: finds out which parts of a file are resident, by Linux's cachestat if available: it costs a third of a
 * microsecond for a cold region, and once some microseconds for a resident one. (mincore takes 40 microseconds for a
 * cold region, and test reads of rows cost as much as they save.) Without cachestat, rows are read without waiting, as
 * long as that succeeds.
 */
#include "table/resident.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/system/clock.h"
#include "core/system/pages.h"

/* A region's word: two bits of state, and when it was determined: for resident ones the generation, for others
 * sixteenths of a second. */
enum { UNKNOWN = 0, COLD = 1, MIXED = 2, RESIDENT = GATHER_REGION_RESIDENT, WHAT = 3 };
enum { TICKS_PER_SECOND = 16, TICKS_VALID = 16, PAGE_BYTES = GATHER_PAGE_BYTES };
/* Score of reads without waiting: each success adds, each failure subtracts; below zero only every 64th attempt is
 * made. A failed attempt costs a twentieth of a read. */
enum { MOST_LUCK = 64, LUCK_OF_SUCCESS = 16, TRY_ANYWAY = 64 };
enum { REFUSALS_PER_EVICTION = 4096 };
/* A region is mapped as a whole (40 microseconds) after so many of its rows were wanted; until then each 64 KiB
 * touched costs a page fault (2 to 3 microseconds). */
enum { TOUCHES = 8, MAPPED = GATHER_REGION_MAPPED };

bool gather_residency_open(gather_residency *residency, const gather_table_source *source, gather_map_use *use, bool with_pages) {
  memset(residency, 0, sizeof *residency);
  residency->source = source;
  residency->use = use;
  atomic_init(&residency->can_ask, true);
  residency->region_count = (source->size + GATHER_REGION_BYTES - 1) / GATHER_REGION_BYTES;
  if (residency->region_count == 0) return true;
  residency->regions = gather_alloc(residency->region_count * (int64_t)sizeof *residency->regions);
  residency->touches = gather_alloc(residency->region_count);
  if (with_pages) residency->pages = gather_pages_create(source->size / PAGE_BYTES / 8 + 1);
  return residency->regions && residency->touches && (!with_pages || residency->pages);
}

void gather_residency_close(gather_residency *residency) {
  gather_free((void *)residency->regions);
  gather_free((void *)residency->touches);
  if (residency->pages) gather_pages_destroy((void *)residency->pages, residency->source->size / PAGE_BYTES / 8 + 1);
  residency->regions = NULL;
  residency->touches = NULL;
  residency->pages = NULL;
}

static uint32_t ticks(void) { return (uint32_t)(gather_clock_coarse() / (1000000000 / TICKS_PER_SECOND)); }

/* ---- asking the system */

static int64_t region_bytes(const gather_residency *residency, int64_t region) {
  int64_t left = residency->source->size - region * GATHER_REGION_BYTES;
  return left < GATHER_REGION_BYTES ? left : GATHER_REGION_BYTES;
}

/* The number of resident pages of a region; -1 if the system cannot tell. */
static int64_t cached_pages(gather_residency *residency, int64_t region) {
  int64_t count = -1;
  if (atomic_load_explicit(&residency->can_ask, memory_order_relaxed))
    count = gather_pages_resident(residency->source, region * GATHER_REGION_BYTES, region_bytes(residency, region));
  if (count < 0) atomic_store_explicit(&residency->can_ask, false, memory_order_relaxed);
  return count;
}

/* Reserves so many bytes of mapping; false over the limit. */
static bool reserve(gather_map_use *use, int64_t bytes) {
  int64_t now = atomic_fetch_add_explicit(&use->bytes, bytes, memory_order_relaxed) + bytes;
  int64_t peak = atomic_load_explicit(&use->peak_bytes, memory_order_relaxed);
  if (now > use->most_bytes) {
    atomic_fetch_sub_explicit(&use->bytes, bytes, memory_order_relaxed);
    return false;
  }
  while (peak < now && !atomic_compare_exchange_weak(&use->peak_bytes, &peak, now)) continue;
  return true;
}

static uint32_t word_of(gather_residency *residency, uint32_t what) {
  uint32_t when = what == RESIDENT ? atomic_load_explicit(&residency->generation, memory_order_relaxed) : ticks();
  return when << 2 | what;
}

/* Unmaps a region's pages to make room for another. They stay in the page cache. */
static void give_up_one(gather_residency *residency) {
  for (int64_t i = 0; i < residency->region_count; i++) {
    int64_t region = atomic_fetch_add_explicit(&residency->hand, 1, memory_order_relaxed) % residency->region_count;
    uint32_t word = atomic_load_explicit(&residency->regions[region], memory_order_relaxed);
    if ((word & WHAT) != RESIDENT || !atomic_compare_exchange_strong(&residency->regions[region], &word, (uint32_t)UNKNOWN)) continue;
    int64_t bytes = region_bytes(residency, region);
    gather_pages_unmap(residency->source, region * GATHER_REGION_BYTES, bytes);
    atomic_store_explicit(&residency->all, 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&residency->use->bytes, bytes, memory_order_relaxed);
    return;
  }
}

/* Rows in regions without room are read without waiting, for two microseconds each. Replacing a region for one row
 * would cost forty times that, so it happens only now and then. */
static bool find_room(gather_residency *residency, int64_t bytes) {
  if (reserve(residency->use, bytes)) return true;
  int64_t refused = atomic_fetch_add_explicit(&residency->use->refused, 1, memory_order_relaxed);
  if (refused % REFUSALS_PER_EVICTION == REFUSALS_PER_EVICTION - 1) give_up_one(residency);
  return false;
}

/* Notes that the pages of the range are resident. */
static void note(gather_residency *residency, int64_t offset, int64_t bytes) {
  if (!residency->pages) return;
  for (int64_t page = offset / PAGE_BYTES; page <= (offset + bytes - 1) / PAGE_BYTES; page++)
    atomic_fetch_or_explicit(&residency->pages[page / 8], (uint8_t)(1u << page % 8), memory_order_relaxed);
}

static void populate(gather_residency *residency, int64_t region) {
  note(residency, region * GATHER_REGION_BYTES, region_bytes(residency, region));
  atomic_store_explicit(&residency->touches[region], (uint8_t)MAPPED, memory_order_relaxed);
  gather_pages_map(residency->source, region * GATHER_REGION_BYTES, region_bytes(residency, region));
}

/* A fully resident region may be read through the mapping, if there is room. */
static bool map_region(gather_residency *residency, int64_t region) {
  if (!residency->source->map || !find_room(residency, region_bytes(residency, region))) return false;
  atomic_store_explicit(&residency->touches[region], (uint8_t)0, memory_order_relaxed);
  if (atomic_load_explicit(&residency->eager, memory_order_relaxed)) populate(residency, region);
  return true;
}

static void touch(gather_residency *residency, int64_t region) {
  if (atomic_load_explicit(&residency->touches[region], memory_order_relaxed) == MAPPED) return;
  if (atomic_fetch_add_explicit(&residency->touches[region], 1, memory_order_relaxed) >= TOUCHES) populate(residency, region);
}

/* Determines the state of a region. A resident one keeps its reserved room: whoever replaces the word releases it. */
static uint32_t look(gather_residency *residency, int64_t region, uint32_t seen) {
  int64_t pages = (region_bytes(residency, region) + PAGE_BYTES - 1) / PAGE_BYTES;
  int64_t cached = cached_pages(residency, region);
  bool was_mapped = (seen & WHAT) == RESIDENT, full = cached >= pages;
  uint32_t what = cached == 0 ? COLD : MIXED;
  if (full && (was_mapped || map_region(residency, region))) what = RESIDENT;
  uint32_t word = word_of(residency, what);
  bool mine = atomic_compare_exchange_strong(&residency->regions[region], &seen, word);
  if (was_mapped && what != RESIDENT && mine) {
    gather_pages_unmap(residency->source, region * GATHER_REGION_BYTES, region_bytes(residency, region));
    atomic_fetch_sub_explicit(&residency->use->bytes, region_bytes(residency, region), memory_order_relaxed);
  } else if (!was_mapped && what == RESIDENT && !mine) {
    atomic_fetch_sub_explicit(&residency->use->bytes, region_bytes(residency, region), memory_order_relaxed);
  }
  return mine ? word : seen;
}

static bool is_valid(gather_residency *residency, uint32_t word) {
  switch (word & WHAT) {
    case RESIDENT:
      return word >> 2 == (atomic_load_explicit(&residency->generation, memory_order_relaxed) & (UINT32_MAX >> 2));
    case UNKNOWN:
      return false;
    default:
      return (((ticks() & (UINT32_MAX >> 2)) - (word >> 2)) & (UINT32_MAX >> 2)) < TICKS_VALID;
  }
}

static uint32_t region_at(gather_residency *residency, int64_t region) {
  uint32_t word = atomic_load_explicit(&residency->regions[region], memory_order_relaxed);
  return is_valid(residency, word) ? word : look(residency, region, word);
}

/* ---- queries */

gather_where gather_residency_ask(gather_residency *residency, int64_t offset, int64_t bytes) {
  int64_t first = offset / GATHER_REGION_BYTES, last = (offset + bytes - 1) / GATHER_REGION_BYTES;
  gather_where where = GATHER_WHERE_MAPPED;
  if (residency->pages && gather_residency_noted(residency, offset, bytes)) return GATHER_WHERE_MAPPED;
  for (int64_t region = first; region <= last && where != GATHER_WHERE_ELSE; region++) {
    uint32_t what = region_at(residency, region) & WHAT;
    if (what == MIXED) where = GATHER_WHERE_PERHAPS;
    if (what == COLD) where = GATHER_WHERE_ELSE;
    if (what == RESIDENT) touch(residency, region);
  }
  return where;
}

bool gather_residency_is_all(gather_residency *residency, int64_t offset, int64_t bytes, bool ask) {
  uint32_t generation = atomic_load_explicit(&residency->generation, memory_order_relaxed);
  if (atomic_load_explicit(&residency->all, memory_order_relaxed) == generation + 1) return true;
  if (!ask) return false;
  for (int64_t region = offset / GATHER_REGION_BYTES; region <= (offset + bytes - 1) / GATHER_REGION_BYTES; region++)
    if ((region_at(residency, region) & WHAT) != RESIDENT) return false;
  atomic_store_explicit(&residency->all, generation + 1, memory_order_relaxed);
  return true;
}

bool gather_residency_try(gather_residency *residency, int64_t offset, int64_t bytes, char *out) {
  int32_t luck = atomic_load_explicit(&residency->luck, memory_order_relaxed);
  if (luck < 0 && luck % TRY_ANYWAY != 0) {
    atomic_fetch_sub_explicit(&residency->luck, 1, memory_order_relaxed);
    return false;
  }
  bool got = gather_pages_read(residency->source, offset, bytes, out);
  int32_t next = luck > MOST_LUCK ? MOST_LUCK : got && luck < 0 ? 0 : got ? luck + LUCK_OF_SUCCESS : luck - 1;
  if (next < -TRY_ANYWAY * TRY_ANYWAY) next = -1;
  atomic_store_explicit(&residency->luck, next, memory_order_relaxed);
  if (got) note(residency, offset, bytes);
  return got;
}

/* Unmaps the pages of the range and those around it. */
static void drop(gather_residency *residency, int64_t offset, int64_t bytes) {
  int64_t first = offset / GATHER_REGION_BYTES, last = (offset + bytes - 1) / GATHER_REGION_BYTES;
  for (int64_t region = first; region <= last; region++) {
    uint32_t word = atomic_load_explicit(&residency->regions[region], memory_order_relaxed);
    if ((word & WHAT) == RESIDENT) continue; /* it has its room already */
    gather_pages_unmap(residency->source, region * GATHER_REGION_BYTES, region_bytes(residency, region));
  }
}

void gather_residency_settle(gather_residency *residency, int64_t offset, int64_t bytes, bool keep) {
  if (keep)
    note(residency, offset, bytes);
  else
    drop(residency, offset, bytes);
}

void gather_residency_forget(gather_residency *residency, int64_t region) {
  uint32_t word = atomic_load_explicit(&residency->regions[region], memory_order_relaxed);
  if ((word & WHAT) != RESIDENT) (void)atomic_compare_exchange_strong(&residency->regions[region], &word, (uint32_t)UNKNOWN);
}

void gather_residency_doubt(gather_residency *residency) {
  atomic_fetch_add_explicit(&residency->generation, 1, memory_order_relaxed);
  if (residency->pages)
    for (int64_t i = 0; i <= residency->source->size / PAGE_BYTES / 8; i++)
      atomic_store_explicit(&residency->pages[i], (uint8_t)0, memory_order_relaxed);
}
