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
 * Each file uses only those before it: order; folder; journal; pass; shuffle.c with the exported functions.
 */
#ifndef GATHER_SHUFFLE_INTERNAL_H
#define GATHER_SHUFFLE_INTERNAL_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/base/alloc.h"
#include "core/base/arena.h"
#include "core/base/compiler.h"
#include "core/base/error.h"
#include "gather/shuffle.h"

/* An order of any number of rows at random, made from a seed, that takes no memory. */
enum { GATHER_PERMUTATION_ROUNDS = 32 };

typedef struct gather_permutation {
  uint64_t rows;
  int left_bits, right_bits, rounds;
  uint64_t key[GATHER_PERMUTATION_ROUNDS];
} gather_permutation;

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
  gather_file_target file;
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

/* ---- what is told to the caller, and what the caller tells */

/* Reports the progress of a step to the caller. */
GATHER_INLINE void gather_shuffle_show(const gather_shuffle *job, gather_shuffle_step step, int64_t done, int64_t total) {
  if (!job->options.progress) return;
  const gather_shuffle_progress progress = {step, done, total, job->noted ? job->folder.path : NULL};
  job->options.progress(job->options.progress_context, &progress);
}

/* Whether the caller has cancelled the work. Any thread may call it. */
GATHER_INLINE bool gather_shuffle_stopped(const gather_shuffle *job) {
  if (atomic_load_explicit(job->stopped, memory_order_relaxed)) return true;
  if (!job->options.stop || !job->options.stop(job->options.stop_context)) return false;
  atomic_store_explicit(job->stopped, true, memory_order_relaxed);
  return true;
}

/* The same as a status: GATHER_CANCELLED. */
GATHER_INLINE gather_status gather_shuffle_go_on(const gather_shuffle *job, gather_error *error) {
  return gather_shuffle_stopped(job) ? gather_fail(error, GATHER_CANCELLED, "the shuffle was cancelled") : GATHER_OK;
}

/* Says which option would help, and returns the status. */
GATHER_INLINE gather_status gather_shuffle_advise(const gather_shuffle *job, gather_shuffle_remedy remedy, gather_status status) {
  *job->remedy = remedy;
  return status;
}

/* The status of an errno where a name that is missing is a fault of its own: GATHER_OUT_OF_MEMORY or GATHER_IO_ERROR. */
GATHER_INLINE gather_status gather_shuffle_failure_of(int number) { return number == ENOMEM ? GATHER_OUT_OF_MEMORY : GATHER_IO_ERROR; }
/* The same where a missing name is GATHER_FILE_NOT_FOUND. */
GATHER_INLINE gather_status gather_shuffle_status_of(int number) {
  return number == ENOENT || number == ENOTDIR ? GATHER_FILE_NOT_FOUND : gather_shuffle_failure_of(number);
}

/* ---- sizes and offsets that follow from the plan */

/* How many rows a bucket has. */
GATHER_INLINE int64_t gather_shuffle_bucket_len(const gather_shuffle *job, int64_t bucket) {
  const int64_t left = job->out_rows - bucket * job->bucket_rows;
  return left < job->bucket_rows ? left : job->bucket_rows;
}

/* Where the bucket (or, before it, the rows of the output) begins in `rows`. */
GATHER_INLINE int64_t gather_shuffle_bucket_offset(const gather_shuffle *job, int64_t bucket) {
  return job->header_bytes + bucket * job->bucket_rows * job->row_bytes;
}

/* The length of the output in bytes. */
GATHER_INLINE int64_t gather_shuffle_out_bytes(const gather_shuffle *job) { return job->header_bytes + job->out_rows * job->row_bytes; }

/* The part of the folder's disk space that is freed at the end. */
GATHER_INLINE int64_t gather_shuffle_temporary_bytes(const gather_shuffle *job) {
  if (job->passes == 1) return 0;
  const int64_t pairs = job->given ? job->out_rows * (int64_t)sizeof(gather_shuffle_pair) : 0;
  return job->bucket_rows * job->row_bytes + job->out_rows * (int64_t)sizeof(uint32_t) + pairs;
}

/* ---- shuffle_order.c */

/* Makes the order at random of the job's seed, or reads a given order once, for its hash. */
GATHER_CHECKED gather_status gather_shuffle_order_begin(gather_shuffle *job, gather_error *error);
/* Runs tasks on an executor (NULL: the calling thread). After a cancellation the remaining tasks are not run: check
 * gather_shuffle_go_on. */
void gather_shuffle_parallel(const gather_shuffle *job, const gather_executor *executor, int64_t count,
                             void (*task)(void *argument, int64_t i), void *argument);
/* The rows at places first to first + len - 1 of the shuffled table, or the places of these rows. */
void gather_shuffle_numbers(const gather_shuffle *job, int64_t first, int64_t len, bool places, int64_t *to);
/* Reads indices number first to first + len - 1 of a given order, counted from the beginning; checked before. */
GATHER_CHECKED gather_status gather_shuffle_order_read(const gather_shuffle *job, int64_t first, int64_t len, int64_t *rows,
                                                       gather_error *error);

/* ---- shuffle_folder.c */

/* openat() with O_CLOEXEC, tried again where a signal interrupts it (network file systems). folder: a descriptor, or AT_FDCWD. A
 * file that O_CREAT makes has what the umask leaves of `mode`. Returns a descriptor, or -1 with errno set. */
int gather_shuffle_open_at(int folder, const char *path, int flags, unsigned mode);
/* Of the journal and the other files beside the rows, which nobody else is to read: at the end the journal gets a name beside the output.
 * */
enum { GATHER_SHUFFLE_PRIVATE = 0600 };

/* Opens and locks the folder that an earlier run left; folder.fd stays -1 where there is none. Returns GATHER_IO_ERROR,
 * also if another shuffle is using it. */
GATHER_CHECKED gather_status gather_shuffle_folder_find(gather_shuffle *job, gather_error *error);
/* Makes the folder. An existing one is GATHER_FILE_EXISTS, or is removed if the caller asked for that. */
GATHER_CHECKED gather_status gather_shuffle_folder_make(gather_shuffle *job, gather_error *error);
/* Opens its files; creates missing ones and reserves their disk space. */
GATHER_CHECKED gather_status gather_shuffle_folder_files(gather_shuffle *job, gather_error *error);
/* Gives the finished file the name of the output, and removes the folder. */
GATHER_CHECKED gather_status gather_shuffle_publish(gather_shuffle *job, gather_error *error);
/* Removes our files in it, and the folder. If interrupted, what is left has no journal, or can still be resumed. */
GATHER_CHECKED gather_status gather_shuffle_folder_remove(gather_shuffle_folder *folder, gather_error *error);
/* Closes it. finished: the journal that gather_shuffle_publish left beside the output is removed. */
void gather_shuffle_folder_close(gather_shuffle_folder *folder, bool finished);
/* The path of that journal. */
GATHER_INLINE void gather_shuffle_last_path(const gather_shuffle_folder *folder, char path[GATHER_SHUFFLE_LAST_PATH]) {
  (void)snprintf(path, GATHER_SHUFFLE_LAST_PATH, "%s.done", folder->path);
}

/* ---- shuffle_journal.c */

/* Finds the state of an earlier run that is to be resumed, and takes from it the memory and the passes that the caller
 * left open. */
GATHER_CHECKED gather_status gather_shuffle_find_earlier(gather_shuffle *job, gather_error *error);
/* The seed, where neither it nor an order was given: that of the earlier run, or a new one. */
GATHER_CHECKED gather_status gather_shuffle_choose_seed(gather_shuffle *job, gather_error *error);
/* Writes the identity of this job as text; and checks that the table has not changed since. */
GATHER_CHECKED gather_status gather_shuffle_identity(const gather_shuffle *job, char **text, gather_error *error);
GATHER_CHECKED gather_status gather_shuffle_identity_check(const gather_shuffle *job, gather_error *error);
/* Whether the journal belongs to this job; takes over its progress. */
GATHER_CHECKED gather_status gather_shuffle_journal_use(gather_shuffle *job, gather_error *error);
/* Records that `at` of a step is durable. */
GATHER_CHECKED gather_status gather_shuffle_journal_write(gather_shuffle *job, gather_shuffle_step step, int64_t at, gather_error *error);

/* ---- shuffle_pass.c */

/* Runs job->step, from where job->at says. */
GATHER_CHECKED gather_status gather_shuffle_run_step(gather_shuffle *job, gather_error *error);

#endif
