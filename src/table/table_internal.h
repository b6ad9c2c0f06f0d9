/* SPDX-License-Identifier: MIT
 *
 * table_internal.h: what the files of this folder share: an open table, its parts, its memory budget, and its
 * statistics.
 */
#ifndef GATHER_TABLE_INTERNAL_H
#define GATHER_TABLE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "core/base/error.h"
#include "core/plan/shared.h"
#include "gather/table.h"
#include "io/remote/pace.h"
#include "table/cache.h"
#include "table/reader.h"
#include "table/resident.h"
#include "table/system/guard.h"
#include "table/table_device.h"
#include "table/table_sort.h"
#include "table/table_source.h"

/* Consecutive rows in one file. */
typedef struct gather_part {
  const char *path; /* of the file that holds them; "" if none */
  int64_t first, rows;
  const char *memory; /* elements that no file stores in this form (typed fields of ONNX); else NULL */
  int32_t source;     /* number of the file, if they are in one */
  int64_t offset;     /* of the first row in it, in bytes */
} gather_part;

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

/* What one take needs for reading; idle workers are in a list. */
typedef struct gather_worker {
  struct gather_worker *next;
  gather_reader *reader;
  gather_entry *entries, *spare; /* the second one for sorting */
  gather_remote_gaps *gaps;      /* between the rows; NULL unless the files are on other machines */
} gather_worker;

typedef struct gather_table_counts {
  _Atomic int64_t takes, rows, rows_resident, rows_cached, rows_read, bytes_useful, nanoseconds, nanoseconds_waiting,
      memory, memory_peak;
} gather_table_counts;

/* One take; below. */
struct gather_taking;

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
  gather_device *devices; /* at most one for each source */
  int32_t device_count;

  /* Files on other machines; NULL = all are local. */
  gather_remote_client *client;
  int64_t gap_given;            /* -1 = chosen by the model */
  _Atomic int64_t gap_bytes;    /* of the latest take */
  _Atomic gather_engine engine; /* that reads */
  char why[160];
  gather_budget budget;
  gather_cache *cache; /* NULL = none */
  gather_map_use map_use;
  gather_table_counts counts;
  _Atomic int64_t
      copy_ps[2]; /* cost of a mapped row with the kernel, and with plain copies, in picoseconds; 0 = unknown */
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

  /* A table with decoded rows (decode.h); else NULL. */
  struct gather_decoded *decoding;
  gather_status (*run)(struct gather_taking *taking, gather_error *error); /* instead of take.c; NULL */
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

/* Rows of one take, by where they came from. */
typedef struct gather_rows_count {
  int64_t resident, cached, read;
} gather_rows_count;

/* One take, its arguments checked. Its rows are what an index selects: rows of the table, or, if indices are tuples, `fold` rows of
 * row_bytes in each row of the table, numbered through. Rows in the table's cache are whole: it is not used for others. */
typedef struct gather_taking {
  gather_table *table;
  int64_t row_bytes, fold;
  int64_t count; /* rows to take: numbers or tuples in the indices */
  const gather_plan *plan;
  const char *indices;
  char *out;
  const gather_executor *executor;
  int64_t bad;
  gather_cancel *cancel; /* NULL = not cancellable */
} gather_taking;

/* ---- table_create.c */

/* Creates a table without parts, with room for so many files. options: all fields set. client: for files on other machines, which the
 * table holds; NULL = local ones. */
GATHER_CHECKED gather_status gather_table_create(const gather_table_options *options, gather_remote_client *client,
                                                 int32_t count, gather_table **table, gather_error *error);
/* After the last part. */
GATHER_CHECKED gather_status gather_table_complete(gather_table *table, gather_error *error);

/* ---- parts.c, budget.c */

/* Appends rows that are bytes of a tensor in a file, which must outlive the table. */
GATHER_CHECKED gather_status gather_table_add_bytes(gather_table *table, const gather_file *file,
                                                    const gather_file_tensor *tensor, int64_t rows, int64_t row_bytes,
                                                    gather_error *error);

/* Appends the rows of the tensor `name` of a file ("" = its only tensor). */
GATHER_CHECKED gather_status gather_table_add(gather_table *table, const gather_file *file, const char *name,
                                              gather_error *error);

/* What the files of a table want of its memory. */
typedef struct gather_budget_wishes {
  int32_t queues;      /* of each worker; fewer if the memory is too little */
  int64_t block_bytes; /* of the longest blocks: reads are at least as long */
  int32_t connections; /* to other machines, which one worker alone may use */
  bool cached;         /* what comes from there is kept on disk */
} gather_budget_wishes;

/* Divides the memory. Returns GATHER_USAGE if the limit is too low. */
GATHER_CHECKED gather_status gather_budget_make(const gather_table_options *options, gather_engine engine,
                                                const gather_budget_wishes *wishes, gather_budget *budget,
                                                gather_error *error);
/* Makes reads from other machines longer and fewer, until a row is one read. */
void gather_budget_fit(gather_budget *budget, int64_t row_bytes);

/* ---- statistics.c */

/* Counts allocated (or, negative, freed) memory. */
void gather_table_count_memory(gather_table *table, int64_t bytes);

/* Switches to another engine; why: the error of the refused one. */
void gather_table_fall_back(gather_table *table, gather_engine engine, const gather_error *why);

/* ---- process.c */

/* In a child of fork(): reinitialises what cannot be shared with the parent. To be called before anything else. */
void gather_table_enter(gather_table *table);

/* ---- cancel.c */

/* Whether a take was cancelled; checked for each block and each read. No lock may be held, since it may call the
 * caller's function. */
bool gather_taking_stopped(const gather_taking *taking);
/* The same as a status: GATHER_CANCELLED. */
GATHER_CHECKED gather_status gather_taking_go_on(const gather_taking *taking, gather_error *error);
/* Initialises the table's lock and condition. */
void gather_table_init_waiting(gather_table *table);
/* Waits for `changed` until that time (gather_condition_end) at most; false on timeout. Call with the lock held. */
bool gather_table_wait_until(gather_table *table, const struct timespec *end);

/* ---- worker.c */

/* Gets an idle worker. *worker is NULL if all are busy and no more may be created, unless wait is set: then it waits
 * until the take is cancelled. */
GATHER_CHECKED gather_status gather_worker_get(const gather_taking *taking, bool wait, gather_worker **worker,
                                               gather_error *error);
/* To be called before its first read: creates the reader. */
GATHER_CHECKED gather_status gather_worker_ready(gather_table *table, gather_worker *worker, gather_error *error);
void gather_worker_put(gather_table *table, gather_worker *worker);
void gather_worker_destroy(gather_table *table, gather_worker *worker);

/* ---- take.c, sweep.c, table_whole.c, miss.c */

/* Checks everything that gather_table_take checks before it reads, and makes the plan. full: the options, all fields
 * set. */
GATHER_CHECKED gather_status gather_taking_prepare(gather_table *table, const gather_tensor *indices,
                                                   const gather_tensor *out, const gather_table_take_options *options,
                                                   gather_table_take_options *full, gather_plan **plan, int64_t *bad,
                                                   gather_error *error);
GATHER_CHECKED gather_status gather_taking_run(gather_taking *taking, gather_error *error);
/* A taking of those arguments. */
void gather_taking_init(gather_taking *taking, gather_table *table, const gather_plan *plan,
                        const gather_tensor *indices, const gather_tensor *out, int64_t bad);
/* gather_table_take, which also says where the rows came from. */
GATHER_CHECKED gather_status gather_table_take_counted(gather_table *table, const gather_tensor *indices,
                                                       const gather_tensor *out,
                                                       const gather_table_take_options *options,
                                                       gather_rows_count *rows, gather_error *error);
/* Counts a take that has ended, and its rows if it succeeded. bytes_useful: of the rows, as they are in the files. */
void gather_taking_count(const gather_taking *taking, int64_t start, gather_status status,
                         const gather_rows_count *rows, int64_t bytes_useful);
/* State of a sweep's worker: not needed yet, being obtained, present, all busy, cannot be created. */
enum { GATHER_WORKER_NONE = 0, GATHER_WORKER_COMING, GATHER_WORKER_THERE, GATHER_WORKER_BUSY, GATHER_WORKER_REFUSED };

/* One chunk of a take's indices. */
typedef struct gather_sweep {
  const gather_taking *taking;
  gather_worker *worker; /* its entries are the rows to read; see state */
  atomic_int state;      /* GATHER_WORKER_... */
  gather_error why;      /* of GATHER_WORKER_REFUSED */
  int64_t first;         /* number of the chunk's first index */
  _Atomic int64_t misses, resident, cached;
  gather_bad bad; /* indices that became bad after validation */
  /* The first mapped byte that could not be read. */
  atomic_bool broken;
  int32_t source;
  int64_t offset;
} gather_sweep;

/* Copies the resident and cached rows of `count` indices, and counts and notes the others. */
GATHER_CHECKED gather_status gather_sweep_run(gather_sweep *sweep, int64_t count, gather_error *error);
/* The address of the first row if all rows are resident; NULL. */
const char *gather_whole_find(const gather_taking *taking);
/* Takes all rows from there. *done: false if they turn out to be no longer resident; the output is then unspecified. */
GATHER_CHECKED gather_status gather_whole_take(const gather_taking *taking, const char *data, bool *done,
                                               gather_error *error);
/* After rows were copied from a mapping: fails if the files no longer contain those of `count` indices. */
GATHER_CHECKED gather_status gather_table_check_cut(const gather_taking *taking, int64_t first, int64_t count,
                                                    gather_error *error);
/* Announces how many rows a take wants. */
void gather_table_expect(gather_table *table, int64_t rows);
/* Reads `count` rows of the worker's entries and delivers them. */
GATHER_CHECKED gather_status gather_taking_read(const gather_taking *taking, gather_worker *worker, int64_t count,
                                                gather_error *error);

/* The part that holds a row of the table. */
const gather_part *gather_table_find_part(const gather_table *table, int64_t row);
/* Whether its files have more than its rows: other tensors, bytes around raw rows, or a part in another file. */
bool gather_table_shares_file(const gather_table *table);
/* The part that holds a row of the take, and where the row is in it, in bytes from its first one. */
GATHER_INLINE const gather_part *gather_taking_find_part(const gather_taking *taking, int64_t row) {
  return gather_table_find_part(taking->table, taking->fold == 1 ? row : row / taking->fold);
}
GATHER_INLINE int64_t gather_taking_offset(const gather_taking *taking, const gather_part *part, int64_t row) {
  return (row - part->first * taking->fold) * taking->row_bytes;
}
/* The cache for its rows; NULL = none. */
GATHER_INLINE gather_cache *gather_taking_cache(const gather_taking *taking) {
  return taking->fold == 1 ? taking->table->cache : NULL;
}

/* ---- table_row.c */

/* Stores a row in the cache, which must exist, and counts the memory; eager as in gather_cache_put. */
void gather_table_keep_row(gather_table *table, int64_t row, const char *data, bool eager);
/* Resident rows may have been evicted. */
void gather_table_doubt(gather_table *table);
/* Fails: a byte of a mapped file could not be read. */
GATHER_CHECKED gather_status gather_table_fail_mapped(gather_table *table, int32_t source, int64_t offset,
                                                      gather_error *error);
/* The row that contains a byte of a source; -1. */
int64_t gather_table_row_at(const gather_table *table, int32_t source, int64_t offset);
/* Appends the row to an error; returns the status. */
gather_status gather_table_blame_row(const gather_table *table, int64_t row, gather_status status, gather_error *error);
/* Fills one row of the output. */
void gather_taking_fill(const gather_taking *taking, char *out);

/* ---- job.c */

void gather_table_end_jobs(gather_table *table);

#endif
