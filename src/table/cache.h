/* SPDX-License-Identifier: MIT
 *
 * cache.h: rows that were read and may be wanted again. Rows, not blocks: a row of 100 bytes that is wanted often keeps 100 bytes, not
 * the 4096 round it that the page cache would keep.
 */
#ifndef GATHER_TABLE_CACHE_H
#define GATHER_TABLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gather_cache gather_cache;

/* For rows of row_bytes out of `rows`, in at most `bytes` of memory, which is taken as it fills. NULL where it would hold too few rows to
 * be of use, or memory cannot be had. */
gather_cache *gather_cache_create(int64_t row_bytes, int64_t rows, int64_t bytes);
void gather_cache_destroy(gather_cache *cache);
/* Forgets everything, also who holds its locks: in a child of fork(). */
void gather_cache_reset(gather_cache *cache);
/* How many rows it holds at most. */
int64_t gather_cache_rows(const gather_cache *cache);

/* Copies those of `count` rows that it has, row number j to out + j * row_bytes, and writes `found` over their numbers; those below 0 are
 * passed over. Returns how many. Any number of threads may get and put at once. */
int64_t gather_cache_get(gather_cache *cache, int64_t *rows, int64_t count, char *out, int64_t found);
/* Keeps a row. eager: another one makes way for it where there is no room; else that happens now and then, so that of more rows than
 * it can hold it does not forget all. Returns by how many bytes its memory grew. */
int64_t gather_cache_put(gather_cache *cache, int64_t row, const char *data, bool eager);

#endif
