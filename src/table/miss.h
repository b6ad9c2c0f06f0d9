/* SPDX-License-Identifier: MIT
 *
 * miss.h: the rows of a take that must be read, sorted, and which read comes next: between the worker that reads (worker.c) and the plan of
 * its reads (miss_plan.c).
 */
#ifndef GATHER_TABLE_MISS_H
#define GATHER_TABLE_MISS_H

#include "table/table_internal.h"

/* How far a queue has got: its rows among the sorted entries. */
typedef struct gather_cursor {
  int64_t next, end; /* entries without a read, of rows of the queue without others between them */
  int64_t piece;     /* bytes of the row of `next` that already have a read */
  int64_t flying;    /* reads */
} gather_cursor;

typedef struct gather_misses {
  const gather_taking *taking;
  gather_table *table;
  gather_worker *worker; /* its entries: the rows, in file order */
  int64_t count;
  int64_t join_bytes; /* rows at most so far apart share a read */
  int64_t read_bytes; /* the longest read */
  bool eager;         /* all rows read may evict cached ones; else only rows wanted twice */
  int64_t now;        /* the clock when a read last completed */
  int64_t flying;     /* reads of all queues */
  gather_cursor cursors[GATHER_MOST_QUEUES];
} gather_misses;

/* A read's tag: the number of its first entry, and how many entries it has. */
enum { GATHER_MISS_TAG_BITS = 24 };

/* Marks of entries, in the positions of the worker's spare entries, of files on other machines: it has a request; or a request that is
 * planned begins with it. */
enum { GATHER_MISS_FREE = 0, GATHER_MISS_BEGUN = 1, GATHER_MISS_FIRST = 2 };

/* Where a row of the take is in its file. */
GATHER_INLINE int64_t gather_misses_offset(const gather_taking *taking, const gather_part *part, int64_t row) {
  return part->offset + gather_taking_offset(taking, part, row);
}

/* ---- miss_plan.c */

/* Sorts `count` entries by their rows, which are below `rows`; entries of one row keep their order. *entries and *spare may be swapped. */
void gather_entries_sort(gather_entry **entries, gather_entry **spare, int64_t count, int64_t rows);

/* The next read of a queue at its cursor, in file order; false: it has no more. */
bool gather_misses_form(gather_misses *misses, int32_t queue, gather_read *read);
/* Sorts the worker's entries by their rows, and chooses how rows are joined: files of this machine by a tuning parameter, in file order.
 * Files of others by the model of pace.h, and the longest reads first: they take longest. */
void gather_misses_order(gather_misses *misses);
/* The next read of a queue; false: there is none, or an answer has to come first. */
bool gather_misses_next(gather_misses *misses, int32_t queue, gather_read *read);
/* A read of so many bytes is done: what it tells about the network may join the other rows in another way. Files of this machine:
 * nothing. */
void gather_misses_answered(gather_misses *misses, int64_t bytes);

#endif
