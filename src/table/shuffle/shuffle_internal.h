/* SPDX-License-Identifier: MIT
 *
 * shuffle_internal.h: what the files of this folder share. Rows go to the output in one pass (each part of it is taken
 * from the table), or in two: the first one reads the table sequentially and puts each row into the bucket of its
 * place, the second one sorts each bucket.
 *
 * Both work on one file, `rows`, in a folder beside the output; a final rename makes it the output. Bucket b is stored
 * one bucket after the output rows that it becomes, so that writing them overwrites only the bucket that was finished
 * before:
 *
 *     header | rows of bucket 0 | rows of bucket 1 | ... | rows of the last one |
 *     header |                  | bucket 0         | ... | ...                  | last bucket |
 *
 * Each file uses only those before it: permutation, text, advice, layout, progress; system; spread, write, order, read,
 * identity, plan; folder; journal; publish; earlier, open, pairs; first, second, take; run; shuffle.c with the exported
 * functions.
 */
#ifndef GATHER_SHUFFLE_INTERNAL_H
#define GATHER_SHUFFLE_INTERNAL_H

#include <stdatomic.h>

#include "core/base/alloc.h"
#include "core/base/arena.h"
#include "core/base/error.h"
#include "gather/shuffle.h"
#include "table/shuffle/shuffle_permutation.h"

/* A file of the folder. */
typedef enum gather_shuffle_file {
  GATHER_SHUFFLE_FILE_ROWS,
  GATHER_SHUFFLE_FILE_PLACES, /* of the rows in their buckets */
  GATHER_SHUFFLE_FILE_PAIRS   /* of a given order */
} gather_shuffle_file;

enum { GATHER_SHUFFLE_FILES = 3, GATHER_SHUFFLE_PATH = 4096, GATHER_SHUFFLE_LAST_PATH = 4096 + 8 };

/* The folder beside the output. */
typedef struct gather_shuffle_folder {
  char path[GATHER_SHUFFLE_PATH]; /* "" = there is no output */
  int fd, lock;
  int file[GATHER_SHUFFLE_FILES];
} gather_shuffle_folder;

/* One of the pairs of a given order: row `row` of the table goes to place `place`. */
typedef struct gather_shuffle_pair {
  int64_t row, place;
} gather_shuffle_pair;

struct gather_shuffle {
  gather_arena memory; /* of what was copied */

  /* what is asked for */
  gather_shuffle_options options; /* memory_bytes: never 0 once the table is open */
  const char **paths;
  int32_t path_count;
  gather_raw raw;     /* options.raw, where that is not NULL */
  const char *output; /* NULL */
  const char *format; /* of the output */
  int64_t seed, passes_asked;
  bool given;
  const void *order; /* its elements, where it is given */
  int64_t order_bytes;
  const gather_file *order_file; /* whose tensor it is; NULL */
  gather_plan *plan;             /* Gather of the table by the order; NULL without one */
  uint64_t order_hash;

  /* the table, and what will be written */
  gather_table *table;
  const gather_table_info *data;
  char target[GATHER_SHUFFLE_PATH]; /* the file that the output's name resolves to */
  gather_writing writing;
  gather_writer *writer; /* to `rows`; it knows the header and the byte order */
  int64_t shape[GATHER_MAX_RANK], out_shape[GATHER_MAX_RANK];
  int64_t rows, row_bytes, out_rows, header_bytes;
  gather_permutation permutation;

  /* how it is done */
  int32_t passes;
  int64_t bucket_rows, buckets, buffer_rows, block_rows, take_rows, chunk_rows;
  int64_t ranges, range_rows, range_buffer, slice_pairs;
  int64_t durable_bytes; /* rows between two syncs */
  const gather_executor *executor;

  /* what is done */
  bool opened, planned, ended; /* which of the caller's calls were made */
  gather_shuffle_folder folder;
  char *identity, *journal; /* texts */
  gather_shuffle_step step;
  int64_t at;     /* in its step: rows, buckets or pairs that are durable */
  int64_t *fills; /* records of each bucket or range that are durable */
  int64_t fill_count;
  bool resumed, published;
  bool journal_is_last; /* the journal is all that is left, beside the output */
  bool made;            /* the folder is this run's */
  bool noted;           /* the folder may hold work that can be resumed */
  bool finished;        /* the output is complete, and the journal says so */
  atomic_bool stop_flag, *stopped;
  gather_shuffle_info info;
  gather_shuffle_remedy *remedy; /* that of `info`, to be set by functions that take the job as const */
};

/* ---- shuffle_progress.c */
/* Reports the progress of a step to the caller. */
void gather_shuffle_show(const gather_shuffle *job, gather_shuffle_step step, int64_t done, int64_t total);
/* Whether the caller has cancelled the work. Any thread may call it. */
bool gather_shuffle_stopped(const gather_shuffle *job);
/* The same as a status: GATHER_CANCELLED. */
GATHER_CHECKED gather_status gather_shuffle_go_on(const gather_shuffle *job, gather_error *error);
/* Runs tasks on an executor (NULL: the calling thread). After a cancellation the remaining tasks are not run: check
 * gather_shuffle_go_on. */
void gather_shuffle_parallel(const gather_shuffle *job, const gather_executor *executor, int64_t count,
                             void (*task)(void *argument, int64_t i), void *argument);

/* ---- shuffle_layout.c: sizes and offsets that follow from the plan */
/* How many rows a bucket has. */
int64_t gather_shuffle_bucket_len(const gather_shuffle *job, int64_t bucket);
/* Where the bucket (or, before it, the rows of the output) begins in `rows`. */
int64_t gather_shuffle_bucket_offset(const gather_shuffle *job, int64_t bucket);
/* The length of the output in bytes. */
int64_t gather_shuffle_out_bytes(const gather_shuffle *job);
/* The disk space that the folder needs, with the output; and the part of it that is freed at the end. */
int64_t gather_shuffle_disk_bytes(const gather_shuffle *job);
int64_t gather_shuffle_temporary_bytes(const gather_shuffle *job);

/* ---- shuffle_write.c: the output's bytes in `rows` */
/* Begins `rows` with the header of the output, and finds out how long that is. */
GATHER_CHECKED gather_status gather_shuffle_write_header(gather_shuffle *job, gather_error *error);
/* Writes rows of the output at their place; they may be byte-swapped in place. */
GATHER_CHECKED gather_status gather_shuffle_write_rows(gather_shuffle *job, int64_t first, void *bytes, int64_t count,
                                                       gather_error *error);

/* ---- shuffle_order.c */
/* Reads indices number first to first + len - 1 of a given order, counted from the beginning; checked before. */
GATHER_CHECKED gather_status gather_shuffle_order_read(const gather_shuffle *job, int64_t first, int64_t len,
                                                       int64_t *rows, gather_error *error);
GATHER_CHECKED gather_status gather_shuffle_order_check(gather_shuffle *job, gather_error *error);

/* ---- shuffle_read.c: rows of the table */
typedef struct gather_shuffle_reading {
  gather_table_part part;
  int32_t number; /* of the part; -1 */
  int fd;
} gather_shuffle_reading;
/* Reads rows first to first + len - 1, sequentially. */
GATHER_CHECKED gather_status gather_shuffle_read(const gather_shuffle *job, gather_shuffle_reading *reading,
                                                 int64_t first, int64_t len, char *to, gather_error *error);
void gather_shuffle_read_end(gather_shuffle_reading *reading);
/* Takes rows by their numbers. */
GATHER_CHECKED gather_status gather_shuffle_take_rows(gather_shuffle *job, const int64_t *rows, int64_t len, void *to,
                                                      gather_error *error);
/* The rows at places first to first + len - 1 of the shuffled table, or the places of these rows. */
void gather_shuffle_numbers(const gather_shuffle *job, int64_t first, int64_t len, bool places, int64_t *to);

/* ---- shuffle_folder.c */
/* Opens and locks the folder that an earlier run left; folder.fd stays -1 where there is none. Returns GATHER_IO_ERROR,
 * also if another shuffle is using it. */
GATHER_CHECKED gather_status gather_shuffle_folder_find(gather_shuffle *job, gather_error *error);
/* Makes the folder. An existing one is GATHER_FILE_EXISTS, or is removed if the caller asked for that. */
GATHER_CHECKED gather_status gather_shuffle_folder_make(gather_shuffle *job, gather_error *error);
/* Opens its files; creates missing ones and reserves their disk space. */
GATHER_CHECKED gather_status gather_shuffle_folder_files(gather_shuffle *job, gather_error *error);
/* Removes our files in it, and the folder. If interrupted, what is left has no journal, or can still be resumed. */
GATHER_CHECKED gather_status gather_shuffle_folder_remove(gather_shuffle_folder *folder, gather_error *error);
/* The same where the output has its name: the journal stays, beside the output, until gather_shuffle_folder_forget, so that a later
 * run can tell that the output is complete. */
GATHER_CHECKED gather_status gather_shuffle_folder_finish(gather_shuffle_folder *folder, gather_error *error);
void gather_shuffle_folder_forget(const gather_shuffle_folder *folder);
/* The path of that journal. */
void gather_shuffle_folder_last(const gather_shuffle_folder *folder, char path[GATHER_SHUFFLE_LAST_PATH]);
void gather_shuffle_folder_close(gather_shuffle_folder *folder);
/* Syncs a file to disk. */
GATHER_CHECKED gather_status gather_shuffle_sync(const gather_shuffle *job, gather_shuffle_file file,
                                                 gather_error *error);

/* ---- shuffle_journal.c */
/* Reads the journal of the folder that was found, or (last) the one that is left when the folder is removed;
 * job->journal stays NULL where there is none. */
GATHER_CHECKED gather_status gather_shuffle_journal_read(gather_shuffle *job, bool last, gather_error *error);
/* The number after `key` in it; false if there is none. */
bool gather_shuffle_journal_number(const gather_shuffle *job, const char *key, int64_t *number);
/* Whether the journal belongs to this job; takes over its progress. */
GATHER_CHECKED gather_status gather_shuffle_journal_use(gather_shuffle *job, gather_error *error);
/* Records that `at` of a step is durable. */
GATHER_CHECKED gather_status gather_shuffle_journal_write(gather_shuffle *job, gather_shuffle_step step, int64_t at,
                                                          gather_error *error);

/* ---- shuffle_publish.c */
/* Whether an earlier run ended between giving the output its name and its own end. */
bool gather_shuffle_is_published(const gather_shuffle *job);
GATHER_CHECKED gather_status gather_shuffle_run_publish(gather_shuffle *job, gather_error *error);

/* ---- shuffle_identity.c */
/* Writes the identity of this job as text; and checks that the table has not changed since. */
GATHER_CHECKED gather_status gather_shuffle_identity(const gather_shuffle *job, char **text, gather_error *error);
GATHER_CHECKED gather_status gather_shuffle_identity_check(const gather_shuffle *job, gather_error *error);

/* ---- shuffle_earlier.c */
/* Finds the state of an earlier run that is to be resumed, and takes from it the memory and the passes that the caller
 * left open. */
GATHER_CHECKED gather_status gather_shuffle_find_earlier(gather_shuffle *job, gather_error *error);
/* The seed, where neither it nor an order was given: that of the earlier run, or a new one. */
GATHER_CHECKED gather_status gather_shuffle_choose_seed(gather_shuffle *job, gather_error *error);

/* ---- shuffle_open.c: the table, and what is written */
GATHER_CHECKED gather_status gather_shuffle_open_table(gather_shuffle *job, gather_error *error);
/* The order's shape and indices, and what the output will be. */
GATHER_CHECKED gather_status gather_shuffle_open_output(gather_shuffle *job, const gather_tensor *order,
                                                        gather_error *error);

/* ---- shuffle_plan.c */
int64_t gather_shuffle_memory(void); /* the memory limit by default */
GATHER_CHECKED gather_status gather_shuffle_plan_passes(gather_shuffle *job, gather_error *error);

/* ---- the steps: shuffle_pairs.c, shuffle_first.c, shuffle_second.c, shuffle_take.c; shuffle_run.c runs them */
GATHER_CHECKED gather_status gather_shuffle_run_pairs(gather_shuffle *job, gather_error *error);
/* Where the pairs of each range of rows begin, and in starts[ranges] where the last one ends. */
GATHER_CHECKED gather_status gather_shuffle_range_starts(const gather_shuffle *job, int64_t *starts,
                                                         gather_error *error);
/* Sorts by row; other: scratch of the same length. The result is in pairs. */
void gather_shuffle_pairs_sort(gather_shuffle_pair *pairs, gather_shuffle_pair *other, int64_t len);
GATHER_CHECKED gather_status gather_shuffle_run_spread(gather_shuffle *job, gather_error *error);
GATHER_CHECKED gather_status gather_shuffle_run_collect(gather_shuffle *job, gather_error *error);
GATHER_CHECKED gather_status gather_shuffle_run_take(gather_shuffle *job, gather_error *error);
GATHER_CHECKED gather_status gather_shuffle_run_steps(gather_shuffle *job, gather_error *error);

/* Says which option would help, and returns the status. */
static inline gather_status gather_shuffle_advise(const gather_shuffle *job, gather_shuffle_remedy remedy,
                                                  gather_status status) {
  *job->remedy = remedy;
  return status;
}

#endif
