/* SPDX-License-Identifier: MIT
 *
 * chunk.h: tables whose parts are tensors in chunks (io/format/chunks.h). A take sorts its rows, finds the chunks that have some of them,
 * reads each of these once, decodes it and copies the rows out: chunk_take.c finds, chunk_queue.c reads and decodes, chunk_cache.c keeps
 * decoded chunks, chunk_part.c adds parts and divides the memory.
 */
#ifndef GATHER_TABLE_CHUNK_H
#define GATHER_TABLE_CHUNK_H

#include "io/format/chunks.h"
#include "table/table_internal.h"

/* ---- chunk_cache.c: decoded chunks, by their number in the table */

typedef struct gather_chunk_cache gather_chunk_cache;

/* A cache for chunks of at most raw_bytes, of which the table has `count`, in at most `bytes` of memory, allocated as it fills. NULL if it
 * would hold none, or out of memory. */
gather_chunk_cache *gather_chunk_cache_create(int64_t raw_bytes, int64_t count, int64_t bytes);
void gather_chunk_cache_destroy(gather_chunk_cache *cache);
/* Empties it and makes its lock anew: for a child of fork(). */
void gather_chunk_cache_reset(gather_chunk_cache *cache);
/* How many chunks it may hold. */
int64_t gather_chunk_cache_room(const gather_chunk_cache *cache);
/* Finds a chunk, which stays until it is released; false: it is not there. *held: for gather_chunk_cache_release. */
bool gather_chunk_cache_hold(gather_chunk_cache *cache, int64_t number, gather_plain *plain, int64_t *held);
/* Whether it is there now. */
bool gather_chunk_cache_has(gather_chunk_cache *cache, int64_t number);
void gather_chunk_cache_release(gather_chunk_cache *cache, int64_t held);
/* Copies a decoded chunk into it. eager: at once; else only a chunk that was decoded before, so that one pass over a table costs nothing.
 * Returns by how many bytes its memory grew. */
int64_t gather_chunk_cache_put(gather_chunk_cache *cache, int64_t number, const gather_plain *plain, bool eager);

/* ---- what a table has */

struct gather_chunked {
  int64_t count;                   /* of chunks in all parts */
  int64_t raw_bytes, stored_bytes; /* of the longest chunk */
  int64_t stored_room;             /* of what is read at once */
  int64_t unfilter_bytes;          /* of what undoes the filters of one */
  int64_t head_bytes;              /* that finding a chunk brings, of any part */
  int64_t jobs_most;               /* that are made at a time: so few that what finding them brings fits into memory */
  _Atomic int32_t luck;            /* of reads without waiting: above 0 they mostly succeed */
  int32_t decoders;                /* of a worker: chunks that one take decodes at once */
  gather_chunk_cache *cache;       /* NULL = none */
  /* Files of stores of many files, which are opened when they are first read: of part p those from first_file[p] on. */
  gather_table_source **files;
  int64_t *first_file;
  int64_t file_count, files_open;
  pthread_mutex_t lock; /* protects the files */
};

/* What one thread of a take needs for a chunk. */
typedef struct gather_chunk_decoder {
  gather_unfilter *unfilter;
  const gather_chunks *made_for; /* whose filters it undoes; NULL = none yet */
  int64_t counted;               /* memory of the former */
  char *stored;                  /* stored_room bytes, for what is not read through the queue; NULL = not needed yet */
} gather_chunk_decoder;

/* Entries of a take whose rows are in one chunk. */
typedef struct gather_chunk_job {
  int64_t first, count; /* entries */
  int32_t part;
  int64_t number;           /* of the chunk in its part */
  gather_chunk_place place; /* of a chunk without filters: of the rows that are wanted */
  bool narrowed;            /* only those are read: from `row` on, a row of the band */
  int64_t row;
  gather_table_source *source; /* NULL: the file is not kept open */
} gather_chunk_job;

/* Jobs that are made at a time, and chunks that are few: the cache keeps room for so many whatever the table's size. */
enum { GATHER_CHUNK_JOBS = 4096, GATHER_CHUNKS_FEW = 8 };

/* What a worker keeps for chunks. */
typedef struct gather_chunk_worker {
  gather_chunk_decoder *decoders;
  gather_chunk_job jobs[GATHER_CHUNK_JOBS];
  int64_t numbers[GATHER_CHUNK_JOBS];
  gather_chunk_place places[GATHER_CHUNK_JOBS];
} gather_chunk_worker;

/* ---- chunk_part.c */

/* As in gather_table_chunker, which chunk_take.c makes of them. */
GATHER_CHECKED gather_status gather_chunk_part_add(gather_table *table, gather_part *part, gather_error *error);
GATHER_CHECKED gather_status gather_chunks_divide(gather_table *table, int64_t bytes, gather_error *error);
gather_chunk_worker *gather_chunk_worker_create(gather_table *table);
void gather_chunk_worker_destroy(gather_table *table, gather_chunk_worker *worker);
void gather_chunks_reset(gather_table *table);
void gather_chunks_close(gather_table *table);

GATHER_INLINE const gather_chunks *gather_part_chunks(const gather_part *part) { return part->chunks; }
/* The open file of a chunk's place, or of the part; NULL: it is read by its path (gather_chunk_read). */
GATHER_CHECKED gather_status gather_chunk_source(gather_table *table, int32_t part, const gather_chunk_place *place,
                                                 gather_table_source **source, gather_error *error);

/* ---- chunk_queue.c */

/* Reads and decodes the chunks of `count` jobs of a worker, and delivers their rows. */
GATHER_CHECKED gather_status gather_chunks_read(const gather_taking *taking, gather_worker *worker, int64_t count, bool eager,
                                                gather_rows_count *rows, gather_error *error);

/* ---- chunk_take.c */

/* The chunker of tables (table_internal.h). */
extern const gather_table_chunker gather_table_chunks;

#endif
