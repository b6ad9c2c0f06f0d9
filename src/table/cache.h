/* SPDX-License-Identifier: MIT
 *
 * cache.h: caches rows that were read. Rows, not blocks: a hot row of 100 bytes takes 100 bytes, not the 4096 of its
 * page in the page cache.
 */
#ifndef GATHER_TABLE_CACHE_H
#define GATHER_TABLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gather_cache gather_cache;

/* A cache for rows of row_bytes out of `rows`, in at most `bytes` of memory, allocated as it fills. NULL if it would
 * hold too few rows to be useful, or out of memory. */
gather_cache *gather_cache_create(int64_t row_bytes, int64_t rows, int64_t bytes);
void gather_cache_destroy(gather_cache *cache);
/* Empties it and reinitialises its locks: for a child of fork(). */
void gather_cache_reset(gather_cache *cache);
/* The maximum number of rows. */
int64_t gather_cache_rows(const gather_cache *cache);

/* Copies the cached ones of `count` rows, rows[j] to out + j * row_bytes, and sets their rows[j] to `found`;
 * negative ones are skipped. Returns how many were copied. Any number of threads may get and put at once. */
int64_t gather_cache_get(gather_cache *cache, int64_t *rows, int64_t count, char *out, int64_t found);
/* Stores a row. eager: evicts another row if it is full; else does so only now and then, so that more rows than fit
 * do not evict everything. Returns by how many bytes its memory grew. */
int64_t gather_cache_put(gather_cache *cache, int64_t row, const char *data, bool eager);

#endif
