/* SPDX-License-Identifier: MIT
 *
 * table_internal.h: what the files of this folder share: an open table, its parts, its memory budget, its statistics, and one take of it.
 *
 * Each file uses only those before it: table_source; cache, resident, layout, reader_*; reader; memory; taking; miss_plan; worker; scan;
 * take; job; table, table_decode, statistics; open; open_raw, layout_file, table_remote; open_file.
 *
 * Of files and formats most of them know the structs below only: what is stored where (gather_stored), who keeps that
 * (gather_table_keeper), and what is different with files on other machines (gather_table_network). open_file.c fills them in for files of
 * all formats, open_raw.c for raw bytes; so the rest can be built without the former (table/alone).
 */
#ifndef GATHER_TABLE_INTERNAL_H
#define GATHER_TABLE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/plan_indices.h"
#include "gather/table.h"
#include "table/cache.h"
#include "table/reader.h"
#include "table/resident.h"

struct gather_remote_client;
struct gather_remote_object;
struct gather_remote_statistics;
struct gather_misses;
struct gather_chunks;
struct gather_chunked;
struct gather_chunk_worker;

/* A tensor as it is stored. Its pointers are valid as long as what the table's keeper keeps. */
typedef struct gather_stored {
  const char *file;                              /* its name, for messages; NULL = no tensor */
  const char *format, *name, *descr, *type_name; /* as in gather_table_info */
  gather_tensor tensor;                          /* data: the elements, where they are in memory */
  int64_t bytes;                                 /* of the elements */
  const char *path;       /* of the file that holds the elements; NULL = they are in memory that is no file's. Not set if there are none */
  int64_t offset;         /* of the first element in it */
  uint64_t device, inode; /* of that file, and its size, when it was looked into: it may have been replaced since */
  int64_t size;
  struct gather_remote_object *object; /* the file is on another machine; NULL = local */
  const struct gather_chunks *chunks;  /* the elements are in chunks (table/chunk); NULL = they are not */
  /* Finds the elements in memory, for a tensor that is needed as a whole. NULL: they are at tensor.data. */
  gather_status (*load)(const struct gather_stored *stored, const void **elements, gather_error *error);
  const void *load_from;
} gather_stored;

/* What knows the parts of a table, each as an object that it made: open files, or raw bytes. */
typedef struct gather_table_keeper {
  void (*close)(void *kept);
  bool (*reads)(const void *kept, const char *path); /* as gather_table_reads */
  /* Whether the file has more than the rows of a table of so many parts: other tensors, bytes around raw rows. */
  bool (*has_more)(const void *kept, int32_t parts);
} gather_table_keeper;

/* Consecutive rows in one file. */
typedef struct gather_part {
  const char *path; /* of the file that holds them; "" if none */
  int64_t first, rows;
  const char *memory;                 /* elements that no file stores in this form (typed fields of ONNX); else NULL */
  int32_t source;                     /* number of the file, if they are in one */
  int64_t offset;                     /* of the first row in it, in bytes */
  const struct gather_chunks *chunks; /* not NULL: the rows are in chunks */
  int64_t first_chunk;                /* number of its first one among those of all parts */
} gather_part;

/* Queues of a reader. Further devices share them. */
enum { GATHER_MOST_QUEUES = 16 };

/* The files with one device number. */
typedef struct gather_device {
  uint64_t number;
  _Atomic int64_t reads, bytes_read, nanoseconds; /* from begin to end of each read */
  _Atomic int64_t most;                           /* reads that a take had in flight at once */
} gather_device;

/* How the memory is divided; set once. Sizes in bytes. */
typedef struct gather_budget {
  int64_t ceiling; /* 0 = none */
  int32_t workers; /* takes that read at once */
  int32_t queues;  /* of each of them */
  int32_t depth;   /* reads in flight of each queue */
  int64_t slot_bytes;
  int64_t cover_bytes; /* that the client of URLs takes for a read in flight; 0 = none */
  int64_t entries;     /* rows that a worker sorts at a time */
  int64_t cache_bytes;
  int64_t map_bytes; /* that may be mapped; INT64_MAX without a limit */
} gather_budget;

/* A row that must be read, and its position in the output. */
typedef struct gather_entry {
  int64_t row, position;
} gather_entry;

/* What one take needs for reading; idle workers are in a list. */
typedef struct gather_worker {
  struct gather_worker *next;
  gather_reader *reader;
  gather_entry *entries, *spare;      /* the second one for sorting */
  void *network;                      /* what the network's functions keep; NULL unless the files are on other machines */
  struct gather_chunk_worker *chunks; /* of a table of chunks; else NULL */
} gather_worker;

typedef struct gather_table_counts {
  _Atomic int64_t takes, rows, rows_resident, rows_cached, rows_read, bytes_useful, nanoseconds, nanoseconds_waiting, memory, memory_peak;
  _Atomic int64_t chunks_read, chunks_cached, bytes_decoded, nanoseconds_decoding;
} gather_table_counts;

/* Rows of one take, by where they came from. */
typedef struct gather_rows_count {
  int64_t resident, cached, read;
} gather_rows_count;

struct gather_taking;

struct gather_table {
  gather_table_info info;
  int64_t shape[GATHER_MAX_RANK];
  gather_table_options options;
  const gather_table_keeper *keeper;
  void **kept; /* the keeper's; they own the names and descriptions */
  int32_t kept_count;
  gather_part *parts;
  int32_t part_count, part_room;
  gather_table_source *sources;
  gather_residency *residency; /* one for each source */
  int32_t source_count;
  gather_device *devices; /* at most one for each source */
  int32_t device_count;

  /* Files on other machines; NULL = all are local. */
  struct gather_remote_client *client;
  const struct gather_table_network *network; /* not NULL if client is not */
  bool kept_on_disk;                          /* what comes from there */
  int64_t gap_given;                          /* -1 = chosen by the model */
  _Atomic int64_t gap_bytes;                  /* of the latest take */
  _Atomic gather_engine engine;               /* that reads */
  char why[160];
  const struct gather_table_chunker *chunker; /* adds parts in chunks; NULL: the opener knows none */
  struct gather_chunked *chunked;             /* its parts are in chunks; NULL: none is */
  gather_budget budget;
  gather_cache *cache; /* NULL = none */
  gather_map_use map_use;
  gather_table_counts counts;
  _Atomic int64_t copy_ps[2]; /* cost of a mapped row with the kernel, and with plain copies, in picoseconds; 0 = unknown */
  _Atomic uint32_t copies;

  /* Protected by the lock: idle workers, and jobs. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  gather_worker *idle;
  int32_t worker_count;
  gather_table_job *queue, **queue_end;
  gather_table_job *running_jobs; /* every job not yet waited for */
  int32_t threads, threads_idle;
  pthread_t thread[16];
  bool closing;
  _Atomic int64_t process; /* the process that owns the table */

  /* A table with decoded rows (table_decode.h), and the function that takes them; else NULL. */
  struct gather_decoded *decoding;
  gather_status (*run)(const struct gather_taking *taking, gather_rows_count *rows, int64_t *bytes_useful, gather_error *error);
  /* A table that such a table reads: what its row 0 and each of its rows are in that one, for errors. */
  int64_t rows_before, rows_each;   /* rows_each 0 = 1 */
  int64_t rows_within, rows_around; /* of elements: so many are a row; so many are one of each row. 0 = no elements */
};

enum { GATHER_MOST_WORKERS = 16 };

/* How a take is cancelled. */
typedef struct gather_cancel {
  bool (*stop)(void *context); /* as in gather_table_take_options */
  void *context;
  atomic_bool stopped; /* it was cancelled */
} gather_cancel;

/* One take, its arguments checked. Its rows are what an index selects: rows of the table, or, if indices are tuples, `fold` rows of
 * row_bytes in each row of the table, numbered through. Rows in the table's cache are whole: it is not used for others. */
typedef struct gather_taking {
  gather_table *table;
  int64_t row_bytes, fold;
  int64_t part_from, part_bytes; /* of a row: only these bytes are wanted */
  int64_t count;                 /* rows to take: numbers or tuples in the indices */
  int64_t rows_to_come;          /* in later takes, as far as the caller knows */
  gather_plan *plan;
  const gather_variant *kernel; /* of the plan, that copies its rows from mapped memory; NULL = none */
  const char *indices;
  char *out;
  const gather_executor *executor;
  int64_t bad;
  gather_cancel *cancel; /* NULL = not cancellable */
} gather_taking;

/* What a table of files on other machines does in other ways (table_remote.c). */
typedef struct gather_table_network {
  void (*begin)(gather_table *table); /* a new table: holds the client, and reads the options for it */
  void (*end)(gather_table *table);
  void (*enter)(gather_table *table); /* in a child of fork() */
  void (*reset)(gather_table *table); /* the statistics */
  /* Divides so many bytes of one worker among its reads, and, when the length of a row is known, makes them longer and fewer. */
  void (*divide)(gather_table *table, int64_t bytes);
  void (*fit)(gather_table *table);
  int64_t worker_bytes; /* of gather_worker.network */
  /* As gather_misses_order, _next and _answered; and whether the row of an entry may share a read with the rows before it, over a gap;
   * joined: the gaps that the read has already. */
  void (*order)(struct gather_misses *misses);
  bool (*next)(struct gather_misses *misses, gather_read *read);
  void (*answered)(struct gather_misses *misses, int64_t bytes);
  bool (*may_join)(const struct gather_misses *misses, int64_t entry, int64_t gap, int64_t joined);
} gather_table_network;

/* What a table whose parts are in chunks does in other ways (chunk/chunk_part.c). */
typedef struct gather_table_chunker {
  gather_status (*add)(gather_table *table, gather_part *part, gather_error *error); /* a part whose chunks are set: makes table->chunked */
  /* After gather_table_divide_memory: what of so many bytes is for chunks. */
  gather_status (*divide)(gather_table *table, int64_t bytes, gather_error *error);
  struct gather_chunk_worker *(*create_worker)(gather_table *table); /* NULL: out of memory */
  void (*destroy_worker)(gather_table *table, struct gather_chunk_worker *worker);
  void (*reset)(gather_table *table); /* in a child of fork() */
  void (*close)(gather_table *table);
} gather_table_chunker;

/* Counts a read that was begun; flying: how many the take has in flight in this queue. */
GATHER_INLINE void gather_device_count_read(gather_device *device, int64_t bytes, int64_t flying) {
  atomic_fetch_add_explicit(&device->reads, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&device->bytes_read, bytes, memory_order_relaxed);
  int64_t most = atomic_load_explicit(&device->most, memory_order_relaxed);
  while (most < flying && !atomic_compare_exchange_weak(&device->most, &most, flying)) continue;
}

/* ---- table.c */

/* Creates a table without parts, with room for so many kept objects. options: all fields set. client, network: for files on other machines,
 * which the table holds; NULL = local ones. */
GATHER_CHECKED gather_status gather_table_create(const gather_table_options *options, struct gather_remote_client *client,
                                                 const gather_table_network *network, int32_t count, gather_table **table,
                                                 gather_error *error);
/* Says what rows are, by the first part, or checks that a further part has such rows. */
GATHER_CHECKED gather_status gather_table_set_rows(gather_table *table, bool first, const gather_stored *stored, int64_t row_bytes,
                                                   gather_error *error);
/* Appends the rows of a tensor. `more` parts are to follow. */
GATHER_CHECKED gather_status gather_table_add(gather_table *table, const gather_stored *stored, int64_t more, gather_error *error);
/* Appends rows that are bytes of a tensor. */
GATHER_CHECKED gather_status gather_table_add_bytes(gather_table *table, const gather_stored *stored, int64_t rows, int64_t row_bytes,
                                                    gather_error *error);
/* After the last part. */
GATHER_CHECKED gather_status gather_table_complete(gather_table *table, gather_error *error);

/* ---- memory.c */

/* Divides the memory: for a table without parts, and again after the last part. Returns GATHER_USAGE if the limit is too low. */
GATHER_CHECKED gather_status gather_table_divide_memory(gather_table *table, gather_error *error);

/* Counts allocated (or, negative, freed) memory. */
GATHER_INLINE void gather_table_count_memory(gather_table *table, int64_t bytes) {
  gather_table_counts *counts = &table->counts;
  int64_t now = atomic_fetch_add_explicit(&counts->memory, bytes, memory_order_relaxed) + bytes;
  int64_t peak = atomic_load_explicit(&counts->memory_peak, memory_order_relaxed);
  while (peak < now && !atomic_compare_exchange_weak(&counts->memory_peak, &peak, now)) continue;
}

/* ---- taking.c */

/* rows[j] = the row that index number first + j, a number or a tuple, means, counted in row-major order; GATHER_ROW_FILL if it is to be
 * filled. row_bytes: of a row that a tuple selects. The indices were validated. Shared ones are read once, from the caller's memory, and
 * validated again: a bad one that the policy does not repair is noted, and rows[j] is some row of the table. bad: may be NULL. */
void gather_ids_rows(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t first, int64_t count, int64_t *rows,
                     gather_bad *bad);

/* Whether a take was cancelled, by the caller's function or as a job; checked for each block and each read. No lock may be held, since it
 * may call the caller's function. */
GATHER_INLINE bool gather_taking_stopped(const gather_taking *taking) {
  gather_cancel *cancel = taking->cancel;
  if (!cancel) return false;
  if (atomic_load_explicit(&cancel->stopped, memory_order_relaxed)) return true;
  if (!cancel->stop || !cancel->stop(cancel->context)) return false;
  atomic_store_explicit(&cancel->stopped, true, memory_order_relaxed);
  return true;
}
/* The same as a status: GATHER_CANCELLED. */
GATHER_INLINE gather_status gather_taking_go_on(const gather_taking *taking, gather_error *error) {
  return gather_taking_stopped(taking) ? gather_fail(error, GATHER_CANCELLED, "the take was cancelled") : GATHER_OK;
}

/* The part that holds a row of the take. */
const gather_part *gather_taking_find_part(const gather_taking *taking, int64_t row);
/* Where such a row is in the part, in bytes from its first one. */
GATHER_INLINE int64_t gather_taking_offset(const gather_taking *taking, const gather_part *part, int64_t row) {
  return (row - part->first * taking->fold) * taking->row_bytes;
}

/* Fills one row of the output. */
GATHER_INLINE void gather_taking_fill(const gather_taking *taking, char *out) {
  const gather_plan *plan = taking->plan;
  if (!plan->fill) memset(out, 0, (size_t)taking->row_bytes);
  for (int64_t at = 0; plan->fill && at < taking->row_bytes; at += plan->fill_bytes) memcpy(out + at, plan->fill, (size_t)plan->fill_bytes);
}

/* The cache for its rows; NULL = none. */
GATHER_INLINE gather_cache *gather_taking_cache(const gather_taking *taking) { return taking->fold == 1 ? taking->table->cache : NULL; }
/* Stores a row in that cache, which must exist, and counts the memory; eager as in gather_cache_put. */
GATHER_INLINE void gather_taking_keep(const gather_taking *taking, int64_t row, const char *data, bool eager) {
  const int64_t grown = gather_cache_put(taking->table->cache, row, data, eager);
  if (grown > 0) gather_table_count_memory(taking->table, grown);
}

/* Resident rows may have been evicted. */
GATHER_INLINE void gather_table_doubt(gather_table *table) {
  for (int32_t i = 0; table->residency && i < table->source_count; i++) gather_residency_doubt(&table->residency[i]);
}
/* Fails: a byte of a mapped file could not be read. */
GATHER_CHECKED gather_status gather_table_fail_mapped(gather_table *table, int32_t source, int64_t offset, gather_error *error);
/* Appends to an error the row of the table, or a later one that contains the byte of the source which the error names (source -1: not asked
 * for). Returns the status. */
gather_status gather_table_blame_row(const gather_table *table, int64_t row, int32_t source, gather_status status, gather_error *error);

/* ---- worker.c */

/* In a child of fork(): reinitialises what cannot be shared with the parent. To be called before anything else. */
void gather_table_enter(gather_table *table);

/* Gets an idle worker. *worker is NULL if all are busy and no more may be created, unless wait is set: then it waits
 * until the take is cancelled. */
GATHER_CHECKED gather_status gather_worker_get(const gather_taking *taking, bool wait, gather_worker **worker, gather_error *error);
/* To be called before its first read: creates the reader. */
GATHER_CHECKED gather_status gather_worker_ready(gather_table *table, gather_worker *worker, gather_error *error);
/* Reads the `count` rows of the worker's entries, and delivers them. */
GATHER_CHECKED gather_status gather_worker_read(gather_worker *worker, const gather_taking *taking, int64_t count, gather_error *error);
void gather_worker_put(gather_table *table, gather_worker *worker);
/* Destroys the idle ones. */
void gather_worker_destroy_all(gather_table *table);

/* ---- scan.c */

/* Before `misses` of `rows` rows of a take are read: reads a part of their files in order into the page cache, if that is cheaper than what
 * was read row by row and what is known to come. True if anything was read: then some of the rows may be resident. worker: its spare
 * entries are overwritten. */
bool gather_scan_some(const gather_taking *taking, gather_worker *worker, int64_t rows, int64_t misses);

/* ---- take.c */

/* Checks everything that gather_table_take checks before it reads, makes the plan (taking->plan, which the caller destroys) and says how
 * many indices are bad. full: the options, all fields set. */
GATHER_CHECKED gather_status gather_taking_prepare(gather_taking *taking, gather_table *table, const gather_tensor *indices,
                                                   const gather_tensor *out, const gather_table_take_options *options,
                                                   gather_table_take_options *full, gather_error *error);
/* Takes the rows, and counts the take. rows: where they came from. */
GATHER_CHECKED gather_status gather_taking_run(const gather_taking *taking, gather_rows_count *rows, gather_error *error);

/* ---- job.c */

/* Waits for all jobs, and ends the threads. */
void gather_table_end_jobs(gather_table *table);

#endif
