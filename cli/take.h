/* SPDX-License-Identifier: MIT
 *
 * take.h: one gather from the command line to its answer: what the files of `take`, `elements`, `nd`, `tree`, `scatter` and `bag`
 * share.
 */
#ifndef GATHER_CLI_TAKE_H
#define GATHER_CLI_TAKE_H

#include "args.h"
#include "gather/file.h"
#include "output_arg.h"
#include "progress.h"
#include "table_arg.h"
#include "tensor_arg.h"

/* A job that reads rows through a table (table.h) and writes its output part by part. */
typedef struct gather_cli_take_table {
  gather_cli_table_options options;
  gather_table *table;     /* NULL: the job uses no table */
  char why_not[512];       /* then: the reason, as text */
  gather_type decode_as;   /* of --as; GATHER_TYPE_NONE without it */
  gather_file_codec codec; /* with --as: of DATA */
  int64_t rows, row_bytes; /* what the indices select: rows of the table, or what is below a tuple */
  int64_t padded_bytes;    /* of a row in the output, more than row_bytes with --pad-rows */
  int64_t lines;           /* of a row, each of which is padded: products of its dimensions but the last */
  bool chunked;            /* the rows are stored in chunks */
  int64_t part_bytes;      /* of each of the two buffers of the output */
  int64_t window_bytes;    /* of the output, how much may wait for the disk; 0 = up to the system */
  gather_table_statistics statistics;
  bool early;  /* the table of a URL, opened before the memory was divided */
  bool remote; /* DATA is a URL */
  gather_remote_statistics network;
} gather_cli_take_table;

/* One gather. Starts as all zero. */
typedef struct gather_cli_job {
  const gather_cli_args *args;
  /* The command line. */
  const gather_op *op; /* NULL: that of no document (bag) */
  gather_options options;
  const char *reduction; /* of scatter and bag; else NULL */
  const char *fill;      /* the V of fill=V; or NULL */
  int32_t threads;       /* 0 = all CPUs */
  gather_cli_raw data_raw, indices_raw;
  bool literal;           /* INDICES is one */
  gather_cli_slice slice; /* or a slice, which becomes indices when the length of the axis is known */
  gather_cli_out out;     /* of -o, if that is a file */
  const char *output;     /* its path, or "-"; NULL without -o */
  bool to_stdout;         /* -o - */
  const char *format;     /* of the output; NULL without -o */
  /* Open files. */
  gather_cli_input data, indices;
  void *fill_element;
  char *descr; /* made here, if the file has none */
  gather_cli_take_table through;
  gather_plan *plan;
  int64_t shape[GATHER_MAX_RANK];
  gather_writing writing;
  gather_file_target target;
  gather_writer *writer;
  gather_pool *pool;
  gather_cli_progress progress;
  /* Results. */
  int64_t index_count, bad_count, bytes;
  double begin, seconds;
  char plan_text[1536]; /* 12 variants, and the fastest for five orders */
} gather_cli_job;

/* Reads the options; opens no file but parses literals. */
GATHER_CHECKED gather_status gather_cli_job_options(gather_cli_job *job, gather_error *error);
/* The part of it that commands with operators of their own have too: policies, threads, output. */
GATHER_CHECKED gather_status gather_cli_job_common(gather_cli_job *job, gather_error *error);
/* The part of it that is about DATA and INDICES: raw bytes, literals, slices. */
GATHER_CHECKED gather_status gather_cli_job_arguments(gather_cli_job *job, gather_error *error);
/* The arguments DATA (NULL: explain generates it), INDICES (NULL: explain has a MODEL) and UPDATES (NULL: explain generates them). */
const char *gather_cli_job_data(const gather_cli_job *job);
const char *gather_cli_job_updates(const gather_cli_job *job);
const char *gather_cli_job_indices(const gather_cli_job *job);
/* INDICES as a slice of the axis: makes the indices. DATA is open, with all its parts. */
GATHER_CHECKED gather_status gather_cli_job_slice(gather_cli_job *job, gather_error *error);
/* Parses the V of fill=V: the type of data is known. */
GATHER_CHECKED gather_status gather_cli_job_fill(gather_cli_job *job, gather_error *error);
/* Opens the files, and parses the V of fill=V. */
GATHER_CHECKED gather_status gather_cli_job_inputs(gather_cli_job *job, gather_error *error);
/* Opens INDICES. */
GATHER_CHECKED gather_status gather_cli_job_open_indices(gather_cli_job *job, gather_error *error);
/* Opens the files and makes the plan: then types, ranks, axis, batch_dims and shapes are valid, and the output may be
 * written. */
GATHER_CHECKED gather_status gather_cli_job_prepare(gather_cli_job *job, gather_error *error);
/* --pad-rows: lengthens the last axis of the output. */
GATHER_CHECKED gather_status gather_cli_job_pad(gather_cli_job *job, gather_error *error);
/* Moves `count` rows apart, which have room for it, and puts zeros between them. */
void gather_cli_take_spread(const gather_cli_take_table *through, char *rows, int64_t count);
/* DATA is not a single tensor of its file (error says so): opens the table that has all of it, such as a column in many pieces. Returns
 * the status of error if there is none, or not for this job. */
GATHER_CHECKED gather_status gather_cli_job_table_find(gather_cli_job *job, gather_error *error);
/* DATA is a URL: opens its table at once, without opening the file as well, which would cost connections and requests of its own. *done:
 * false if that is not possible: then DATA is to be opened like any other. */
GATHER_CHECKED gather_status gather_cli_job_table_url(gather_cli_job *job, bool *done, gather_error *error);
/* With --as: DATA is its decoded rows from here on. Returns the reason if it cannot be decoded. */
GATHER_CHECKED gather_status gather_cli_job_table_decode(gather_cli_job *job, gather_error *error);
/* Opens the table, with its parts, if the job can use one. */
GATHER_CHECKED gather_status gather_cli_job_table_open(gather_cli_job *job, gather_error *error);
/* How many dimensions of DATA an index selects on: 1, or the numbers of a tuple. INDICES must be open. */
int32_t gather_cli_job_selected(const gather_cli_job *job);
/* Refuses --memory and the other table options for a job without a table, with the reason. */
GATHER_CHECKED gather_status gather_cli_job_table_check(const gather_cli_job *job, gather_error *error);
/* The text of --plan. */
void gather_cli_job_table_plan(gather_cli_job *job);
/* Validates every index; with a memory limit, releases their pages. executor: NULL = the calling thread. */
GATHER_CHECKED gather_status gather_cli_job_table_indices(gather_cli_job *job, const gather_executor *executor, gather_error *error);
/* Describes the output, whose elements are data's, and checks whether its format supports the type. The file name is not checked yet. */
GATHER_CHECKED gather_status gather_cli_job_describe(gather_cli_job *job, gather_error *error);
/* Refuses an output that is the file of an input. */
GATHER_CHECKED gather_status gather_cli_job_spare(const gather_cli_job *job, gather_error *error);
/* Checks whether the output, whose shape is known, can be written under its name. */
GATHER_CHECKED gather_status gather_cli_job_output(gather_cli_job *job, gather_error *error);
/* Starts the threads and the progress line. */
GATHER_CHECKED gather_status gather_cli_job_workers(gather_cli_job *job, gather_error *error);
/* Gives the output its name. */
GATHER_CHECKED gather_status gather_cli_job_commit(gather_cli_job *job, gather_error *error);
/* Makes the writer of the output. */
GATHER_CHECKED gather_status gather_cli_job_create_writer(gather_cli_job *job, gather_error *error);
/* Gathers part by part into the writer, through the table. */
GATHER_CHECKED gather_status gather_cli_job_table_rows(gather_cli_job *job, const gather_executor *executor, gather_error *error);
/* Gathers into the output, or only validates the indices with --dry-run. */
GATHER_CHECKED gather_status gather_cli_job_run(gather_cli_job *job, gather_error *error);
/* Prints the answer. */
void gather_cli_job_answer(const gather_cli_job *job);
/* Frees everything; an uncommitted writer leaves no file. */
void gather_cli_job_clear(gather_cli_job *job);

#endif
