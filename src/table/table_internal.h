/* SPDX-License-Identifier: MIT
 *
 * table_internal.h: what the files of this folder share: an open table, its parts, what it may use of the memory, and what it has done.
 */
#ifndef GATHER_TABLE_INTERNAL_H
#define GATHER_TABLE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/error.h"
#include "gather/table.h"
#include "plan/shared.h"
#include "table/cache.h"
#include "table/guard.h"
#include "table/reader.h"
#include "table/resident.h"
#include "table/table_sort.h"
#include "table/table_source.h"

/* Rows that follow one another in one file. */
typedef struct gather_part {
  const char *path; /* of the file that holds them; "" where none does */
  int64_t first, rows;
  const char *memory; /* elements that are in no file as they are (typed fields of ONNX); else NULL */
  int32_t source;     /* number of the file, where they are in one */
  int64_t offset;     /* of the first row in it, in bytes */
} gather_part;

/* How the memory is used; set once. All in bytes. */
typedef struct gather_budget {
  int64_t ceiling; /* 0 = none */
  int32_t workers; /* takes that read at once */
  int32_t depth;   /* reads in flight of each */
  int64_t slot_bytes;
  int64_t entries; /* rows that a worker sorts at a time */
  int64_t cache_bytes;
  int64_t map_bytes; /* that may be mapped; INT64_MAX without a ceiling */
} gather_budget;

/* What one take that reads needs; one that is not in use waits in a list. */
typedef struct gather_worker {
  struct gather_worker *next;
  gather_reader *reader;
  gather_entry *entries, *spare; /* the second is for sorting */
} gather_worker;

typedef struct gather_table_counts {
  _Atomic int64_t takes, rows, rows_resident, rows_cached, rows_read, reads, bytes_useful, bytes_read, nanoseconds,
      nanoseconds_waiting, memory, memory_peak;
} gather_table_counts;

struct gather_table {
  gather_table_info info;
  int64_t shape[GATHER_MAX_RANK];
  gather_table_options options;
  gather_file **files; /* they own the names and descriptions */
  int32_t file_count;
  gather_part *parts;
  int32_t part_count, part_room;
  gather_table_source *sources;
  gather_residency *residency; /* one for each source */
  int32_t source_count;

  _Atomic gather_engine engine; /* that reads */
  char why[160];
  gather_budget budget;
  gather_cache *cache; /* NULL = none */
  gather_map_use map_use;
  gather_table_counts counts;
  _Atomic int64_t copy_ps[2]; /* what a mapped row costs by the kernel, and plainly, in picoseconds; 0 = nobody knows */
  _Atomic uint32_t copies;

  /* Behind the lock: workers that wait for work, and jobs. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  gather_worker *idle;
  int32_t worker_count;
  gather_table_job *queue, **queue_end;
  gather_table_job *running_jobs; /* every job that was not waited for */
  int32_t threads, threads_idle;
  pthread_t thread[16];
  bool closing;
  _Atomic int64_t process; /* which process all this belongs to */
};

enum { GATHER_MOST_WORKERS = 16 };

/* How a take is told to end early. */
typedef struct gather_cancel {
  bool (*stop)(void *context); /* as in gather_table_take_options */
  void *context;
  atomic_bool stopped; /* it was told */
} gather_cancel;

/* One take, its arguments checked. */
typedef struct gather_taking {
  gather_table *table;
  const gather_plan *plan;
  const char *indices;
  char *out;
  const gather_executor *executor;
  int64_t bad;
  gather_cancel *cancel; /* NULL = it is not to be cancelled */
} gather_taking;

/* ---- parts.c, budget.c */

/* Adds the rows of what a file calls `name` ("" = its only tensor) behind those that are there. */
GATHER_CHECKED gather_status gather_table_add(gather_table *table, const gather_file *file, const char *name,
                                              gather_error *error);

/* Decides how much memory goes where. Returns GATHER_USAGE where the ceiling is too low. */
GATHER_CHECKED gather_status gather_budget_make(const gather_table_options *options, gather_engine engine,
                                                gather_budget *budget, gather_error *error);

/* ---- statistics.c */

/* Counts memory that was taken (or, negative, given back). */
void gather_table_count_memory(gather_table *table, int64_t bytes);

/* Another engine reads from now on; why: the words of the one that was refused. */
void gather_table_fall_back(gather_table *table, gather_engine engine, const gather_error *why);

/* ---- process.c */

/* In a child of fork(): begins anew with what cannot be shared with the parent. To be called before anything else. */
void gather_table_enter(gather_table *table);

/* ---- cancel.c */

/* Whether a take was told to end, which is asked for each block and each read; no lock may be held, since the caller's function may be
 * asked. */
bool gather_taking_stopped(const gather_taking *taking);
/* The same as a status: GATHER_CANCELLED. */
GATHER_CHECKED gather_status gather_taking_go_on(const gather_taking *taking, gather_error *error);
/* Makes the table's lock, and what is waited for behind it. */
void gather_table_init_waiting(gather_table *table);
/* The end of a wait of so many nanoseconds that begins now. */
struct timespec gather_table_end_of(int64_t nanoseconds);
/* Waits for `changed`, but not beyond that end; false where it came to it. Behind the lock. */
bool gather_table_wait_until(gather_table *table, const struct timespec *end);

/* ---- worker.c */

/* A worker that nobody has. *worker is NULL where all are at work and there can be no more, unless wait says to wait for one: until
 * the take is cancelled. */
GATHER_CHECKED gather_status gather_worker_get(const gather_taking *taking, bool wait, gather_worker **worker,
                                               gather_error *error);
/* Before its first read: the reader is made when it is needed. */
GATHER_CHECKED gather_status gather_worker_ready(gather_table *table, gather_worker *worker, gather_error *error);
void gather_worker_put(gather_table *table, gather_worker *worker);
void gather_worker_destroy(gather_table *table, gather_worker *worker);

/* ---- take.c, sweep.c, table_whole.c, miss.c */

/* Checks all that gather_table_take promises to check before it reads, and makes the plan. full: the options, all fields set. */
GATHER_CHECKED gather_status gather_taking_prepare(gather_table *table, const gather_tensor *indices,
                                                   const gather_tensor *out, const gather_table_take_options *options,
                                                   gather_table_take_options *full, gather_plan **plan, int64_t *bad,
                                                   gather_error *error);
GATHER_CHECKED gather_status gather_taking_run(gather_taking *taking, gather_error *error);
/* Of the worker of a sweep: none is wanted yet, somebody gets it, it is there, all are at work, none can be had. */
enum { GATHER_WORKER_NONE = 0, GATHER_WORKER_COMING, GATHER_WORKER_THERE, GATHER_WORKER_BUSY, GATHER_WORKER_REFUSED };

/* One chunk of a take's indices. */
typedef struct gather_sweep {
  const gather_taking *taking;
  gather_worker *worker; /* its entries become the rows that are to be read; see state */
  atomic_int state;      /* GATHER_WORKER_... */
  gather_error why;      /* of GATHER_WORKER_REFUSED */
  int64_t first;         /* number of the chunk's first index */
  _Atomic int64_t misses, resident, cached;
  gather_bad bad; /* indices that became bad after they were checked */
  /* The first mapped byte that could not be had. */
  atomic_bool broken;
  int32_t source;
  int64_t offset;
} gather_sweep;

/* Copies the rows of `count` indices that are in memory, and counts and notes the others. */
GATHER_CHECKED gather_status gather_sweep_run(gather_sweep *sweep, int64_t count, gather_error *error);
/* Where the rows begin if all of them are in memory; NULL. */
const char *gather_whole_find(const gather_taking *taking);
/* Takes all rows from there. *done: false where they turned out to be no longer in memory; then nothing is said of the output. */
GATHER_CHECKED gather_status gather_whole_take(const gather_taking *taking, const char *data, bool *done,
                                               gather_error *error);
/* After rows were copied from a mapping: whether the files still held those of `count` indices. */
GATHER_CHECKED gather_status gather_table_check_cut(const gather_taking *taking, int64_t first, int64_t count,
                                                    gather_error *error);
/* Says how many rows a take wants. */
void gather_table_expect(gather_table *table, int64_t rows);
/* Reads `count` rows of the worker's entries and delivers them. */
GATHER_CHECKED gather_status gather_taking_read(const gather_taking *taking, gather_worker *worker, int64_t count,
                                                gather_error *error);

/* The part that holds a row. */
const gather_part *gather_table_find_part(const gather_table *table, int64_t row);

/* ---- table_row.c */

/* Puts a row into the cache, which there is, and counts the memory; eager as in gather_cache_put. */
void gather_table_keep_row(gather_table *table, int64_t row, const char *data, bool eager);
/* What was resident may be so no longer. */
void gather_table_doubt(gather_table *table);
/* A byte of a mapped file could not be had. */
GATHER_CHECKED gather_status gather_table_fail_mapped(gather_table *table, int32_t source, int64_t offset,
                                                      gather_error *error);
/* The row that has a byte of a source; -1. */
int64_t gather_table_row_at(const gather_table *table, int32_t source, int64_t offset);
/* Names the row in an error; returns the status. */
gather_status gather_table_blame_row(int64_t row, gather_status status, gather_error *error);

/* ---- job.c */

void gather_table_end_jobs(gather_table *table);

#endif
