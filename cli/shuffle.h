/* SPDX-License-Identifier: MIT
 *
 * shuffle.h: what a `gather shuffle` is made of. Rows go to OUT in one pass (each part of OUT is taken from DATA), or in two: the
 * first one reads DATA front to back and puts each row into the bucket of its place, the second one puts each bucket in order.
 *
 * Both work on one file, `rows`, in a folder beside OUT; it becomes OUT by its last rename. Bucket b waits one bucket further
 * behind than the rows of OUT that it becomes, so that writing them destroys only the bucket that was done before:
 *
 *     header | rows of bucket 0 | rows of bucket 1 | ... | rows of the last one |
 *     header |                  | bucket 0         | ... | ...                  | last bucket |
 */
#ifndef GATHER_CLI_SHUFFLE_H
#define GATHER_CLI_SHUFFLE_H

#include "args.h"
#include "gather/file.h"
#include "output_arg.h"
#include "progress.h"
#include "shuffle_permutation.h"
#include "table_arg.h"
#include "tensor_arg.h"

typedef enum gather_cli_shuffle_step {
  GATHER_CLI_SHUFFLE_PAIRS,   /* a given order: which rows go where, sorted roughly by row */
  GATHER_CLI_SHUFFLE_SPREAD,  /* the first of two passes */
  GATHER_CLI_SHUFFLE_COLLECT, /* the second */
  GATHER_CLI_SHUFFLE_TAKE,    /* the only one */
  GATHER_CLI_SHUFFLE_PUBLISH, /* `rows` is finished and gets its name */
  GATHER_CLI_SHUFFLE_STEPS
} gather_cli_shuffle_step;

/* A file of the folder. */
typedef enum gather_cli_shuffle_file {
  GATHER_CLI_SHUFFLE_ROWS,
  GATHER_CLI_SHUFFLE_PLACES,    /* of the rows in their buckets */
  GATHER_CLI_SHUFFLE_PAIRS_FILE /* of a given order */
} gather_cli_shuffle_file;

enum { GATHER_CLI_SHUFFLE_FILES = 3, GATHER_CLI_SHUFFLE_PATH = 4096, GATHER_CLI_SHUFFLE_LAST_PATH = 4096 + 8 };

/* The folder beside OUT. */
typedef struct gather_cli_shuffle_folder {
  char path[GATHER_CLI_SHUFFLE_PATH];
  int fd, lock;
  int file[GATHER_CLI_SHUFFLE_FILES];
} gather_cli_shuffle_folder;

/* One of the pairs of a given order: row `row` of DATA goes to place `place`. */
typedef struct gather_cli_shuffle_pair {
  int64_t row, place;
} gather_cli_shuffle_pair;

typedef struct gather_cli_shuffle {
  const gather_cli_args *args;
  double begin, seconds;

  /* what is asked for */
  gather_cli_table_options options; /* memory_bytes: never 0 */
  bool given, force, resume, dry_run;
  int64_t seed, passes_asked;
  gather_cli_raw data_raw, order_raw;
  gather_cli_input order;
  gather_tensor order_tensor; /* 1-D, where the order is given */
  uint64_t order_hash;

  /* the table, and what will be written */
  gather_table *table;
  const gather_table_info *info;
  char *descr;
  char target[GATHER_CLI_SHUFFLE_PATH]; /* what OUT stands for */
  gather_cli_out out;                   /* of -o */
  gather_writing writing;
  gather_writer *writer; /* to `rows`; it knows the header and the byte order */
  int64_t shape[GATHER_MAX_RANK], out_shape[GATHER_MAX_RANK];
  int64_t rows, row_bytes, out_rows, header_bytes;
  gather_cli_permutation permutation;

  /* how it is done */
  int passes;
  int64_t bucket_rows, buckets, buffer_rows, block_rows, take_rows, chunk_rows;
  int64_t ranges, range_rows, range_buffer, slice_pairs;
  int64_t durable_bytes; /* rows between two moments when they are made durable */
  const gather_executor *executor;
  gather_pool *pool;

  /* what is done */
  gather_cli_shuffle_folder folder;
  char *identity, *journal; /* texts */
  gather_cli_shuffle_step step;
  int64_t at;     /* in its step: rows, buckets or pairs that are durable */
  int64_t *fills; /* records of each bucket or range that are durable */
  int64_t fill_count;
  bool resumed, published;
  bool journal_is_last; /* the journal is all that is left, beside OUT */
  bool made;            /* the folder is this run's */
  bool shown, printed;
  double next_tick;
  int64_t shown_from; /* where this run's step began */
  double step_begin;
} gather_cli_shuffle;

/* ---- shuffle_options.c */
GATHER_CHECKED gather_status gather_cli_shuffle_options(gather_cli_shuffle *job, gather_error *error);
/* Takes what the line leaves open from the journal, or chooses it. */
GATHER_CHECKED gather_status gather_cli_shuffle_choose(gather_cli_shuffle *job, gather_error *error);
/* ---- shuffle_open.c: the table, the order, and what is written */
GATHER_CHECKED gather_status gather_cli_shuffle_open(gather_cli_shuffle *job, gather_error *error);
/* ---- shuffle_plan.c */
int64_t gather_cli_shuffle_memory(void); /* what --memory is by itself */
GATHER_CHECKED gather_status gather_cli_shuffle_plan(gather_cli_shuffle *job, gather_error *error);
/* What the folder needs on the disk, OUT with it. */
int64_t gather_cli_shuffle_disk_bytes(const gather_cli_shuffle *job);
/* Of it what is gone in the end. */
int64_t gather_cli_shuffle_temporary_bytes(const gather_cli_shuffle *job);

/* ---- shuffle_order.c */
/* Reads indices number first to first + len - 1 of a given order, counted from the beginning; checked before. */
GATHER_CHECKED gather_status gather_cli_shuffle_order_read(const gather_cli_shuffle *job, int64_t first, int64_t len,
                                                           int64_t *rows, gather_error *error);
GATHER_CHECKED gather_status gather_cli_shuffle_order_check(gather_cli_shuffle *job, gather_error *error);
/* ---- shuffle_pairs.c */
GATHER_CHECKED gather_status gather_cli_shuffle_pairs(gather_cli_shuffle *job, gather_error *error);
/* Where the pairs of each range of rows begin, and in starts[ranges] where the last one ends. */
GATHER_CHECKED gather_status gather_cli_shuffle_range_starts(const gather_cli_shuffle *job, int64_t *starts,
                                                             gather_error *error);
/* Sorts by row; other: as long. The result is in pairs. */
void gather_cli_shuffle_pairs_sort(gather_cli_shuffle_pair *pairs, gather_cli_shuffle_pair *other, int64_t len);

/* ---- shuffle_folder.c */
/* Opens and locks the folder that an earlier run left; folder.fd stays -1 where there is none. Returns GATHER_IO_ERROR, also where
 * another process works in it. */
GATHER_CHECKED gather_status gather_cli_shuffle_folder_find(gather_cli_shuffle *job, gather_error *error);
/* Makes it. One that is there is GATHER_FILE_EXISTS, or removed where that was asked for. */
GATHER_CHECKED gather_status gather_cli_shuffle_folder_make(gather_cli_shuffle *job, gather_error *error);
/* Opens its files, which are made and get their room on the disk where they are new. */
GATHER_CHECKED gather_status gather_cli_shuffle_folder_files(gather_cli_shuffle *job, gather_error *error);
/* Removes what is ours in it, and the folder. Stopped anywhere, what is left has no journal, or can still be resumed. */
GATHER_CHECKED gather_status gather_cli_shuffle_folder_remove(gather_cli_shuffle_folder *folder, gather_error *error);
/* The same where OUT has its name: the journal stays, beside OUT, until gather_cli_shuffle_folder_forget, so that a later run
 * can tell that OUT is complete. */
GATHER_CHECKED gather_status gather_cli_shuffle_folder_finish(gather_cli_shuffle_folder *folder, gather_error *error);
void gather_cli_shuffle_folder_forget(const gather_cli_shuffle *job);
/* The path of that journal. */
void gather_cli_shuffle_folder_last(const gather_cli_shuffle_folder *folder, char path[GATHER_CLI_SHUFFLE_LAST_PATH]);
/* From now on, a signal that ends the program says on stderr how to resume. */
void gather_cli_shuffle_folder_note(const gather_cli_shuffle *job);
void gather_cli_shuffle_folder_close(gather_cli_shuffle_folder *folder);
/* Waits until the disk has a file. */
GATHER_CHECKED gather_status gather_cli_shuffle_sync(const gather_cli_shuffle *job, gather_cli_shuffle_file file,
                                                     gather_error *error);
/* ---- shuffle_publish.c */
/* How long OUT is. */
int64_t gather_cli_shuffle_out_bytes(const gather_cli_shuffle *job);
/* Whether an earlier run ended between giving OUT its name and its own end. */
bool gather_cli_shuffle_is_published(const gather_cli_shuffle *job);
GATHER_CHECKED gather_status gather_cli_shuffle_publish(gather_cli_shuffle *job, gather_error *error);

/* ---- shuffle_journal.c */
/* Reads the journal of the folder that was found, or (last) the one that is left when the folder goes; job->journal stays NULL
 * where there is none. */
GATHER_CHECKED gather_status gather_cli_shuffle_journal_read(gather_cli_shuffle *job, bool last, gather_error *error);
/* A number that stands in it behind `key`; otherwise false. */
bool gather_cli_shuffle_journal_number(const gather_cli_shuffle *job, const char *key, int64_t *number);
/* Says what this job is, as text; and whether the journal is about the same. */
GATHER_CHECKED gather_status gather_cli_shuffle_identity(const gather_cli_shuffle *job, char **text,
                                                         gather_error *error);
GATHER_CHECKED gather_status gather_cli_shuffle_journal_use(gather_cli_shuffle *job, gather_error *error);
/* Writes that `at` of a step is durable. */
GATHER_CHECKED gather_status gather_cli_shuffle_journal_write(gather_cli_shuffle *job, gather_cli_shuffle_step step,
                                                              int64_t at, gather_error *error);
/* ---- shuffle_same.c: whether DATA is still what it was */
GATHER_CHECKED gather_status gather_cli_shuffle_same_data(const gather_cli_shuffle *job, gather_error *error);

/* ---- shuffle_read.c: DATA front to back */
typedef struct gather_cli_shuffle_reading {
  gather_table_part part;
  int32_t number; /* of the part; -1 */
  int fd;
} gather_cli_shuffle_reading;
/* Reads rows first to first + len - 1. */
GATHER_CHECKED gather_status gather_cli_shuffle_read(const gather_cli_shuffle *job, gather_cli_shuffle_reading *reading,
                                                     int64_t first, int64_t len, char *to, gather_error *error);
void gather_cli_shuffle_read_end(gather_cli_shuffle_reading *reading);
/* The rows that stand at places first to first + len - 1 of the shuffled table, or the places of these rows. */
void gather_cli_shuffle_numbers(const gather_cli_shuffle *job, int64_t first, int64_t len, bool places, int64_t *to);

/* ---- the steps: shuffle_first.c, shuffle_second.c, shuffle_take.c */
GATHER_CHECKED gather_status gather_cli_shuffle_spread(gather_cli_shuffle *job, gather_error *error);
GATHER_CHECKED gather_status gather_cli_shuffle_collect(gather_cli_shuffle *job, gather_error *error);
GATHER_CHECKED gather_status gather_cli_shuffle_take(gather_cli_shuffle *job, gather_error *error);
/* Begins `rows` with the header of OUT, and finds out how long that is. */
GATHER_CHECKED gather_status gather_cli_shuffle_write_header(gather_cli_shuffle *job, gather_error *error);
/* Takes rows of the table by their numbers. */
GATHER_CHECKED gather_status gather_cli_shuffle_take_rows(gather_cli_shuffle *job, const int64_t *rows, int64_t len,
                                                          void *to, gather_error *error);
/* Writes rows of OUT at their place; they may be turned to its byte order where they are. */
GATHER_CHECKED gather_status gather_cli_shuffle_write_rows(gather_cli_shuffle *job, int64_t first, void *bytes,
                                                           int64_t size, gather_error *error);
/* How many rows a bucket has. */
int64_t gather_cli_shuffle_bucket_len(const gather_cli_shuffle *job, int64_t bucket);
/* Where the bucket (or, before it, the rows of OUT) begins in `rows`. */
int64_t gather_cli_shuffle_bucket_offset(const gather_cli_shuffle *job, int64_t bucket);

/* ---- shuffle_answer.c */
void gather_cli_shuffle_step_begin(gather_cli_shuffle *job);
void gather_cli_shuffle_show(gather_cli_shuffle *job, int64_t done, int64_t total);
void gather_cli_shuffle_answer(const gather_cli_shuffle *job);

#endif
