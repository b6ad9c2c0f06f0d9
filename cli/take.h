/* SPDX-License-Identifier: MIT
 *
 * take.h: one gather from the command line to its answer: what the files of `take` and `elements` share.
 */
#ifndef GATHER_CLI_TAKE_H
#define GATHER_CLI_TAKE_H

#include "args.h"
#include "gather/file.h"
#include "progress.h"
#include "tensor_arg.h"

/* One gather. Starts as all zero. */
typedef struct gather_cli_job {
  const gather_cli_args *args;
  /* What the command line says. */
  const gather_op *op;
  gather_options options;
  const char *fill; /* the V of fill=V; NULL */
  int32_t threads;  /* 0 = the CPUs */
  gather_cli_raw data_raw, indices_raw;
  bool literal;       /* INDICES is one */
  const char *output; /* NULL without -o */
  bool to_stdout;     /* -o - */
  const char *format; /* of the output; NULL without -o */
  /* What is open. */
  gather_cli_input data, indices;
  void *fill_element;
  char *descr; /* made here, where the file has none */
  gather_plan *plan;
  int64_t shape[GATHER_MAX_RANK];
  gather_writing writing;
  gather_writer *writer;
  gather_pool *pool;
  gather_cli_progress progress;
  /* What came out. */
  int64_t index_count, bad_count, bytes;
  double begin, seconds;
  char plan_text[512];
} gather_cli_job;

/* Reads the options; opens no file but parses literals. */
GATHER_CHECKED gather_status gather_cli_job_options(gather_cli_job *job, gather_error *error);
/* The arguments DATA (NULL: explain has a made-up one) and INDICES (NULL: explain has a MODEL). */
const char *gather_cli_job_data(const gather_cli_job *job);
const char *gather_cli_job_indices(const gather_cli_job *job);
/* Reads the V of fill=V: the type of data is known. */
GATHER_CHECKED gather_status gather_cli_job_fill(gather_cli_job *job, gather_error *error);
/* Opens the files, and reads the V of fill=V. */
GATHER_CHECKED gather_status gather_cli_job_inputs(gather_cli_job *job, gather_error *error);
/* Opens the files and makes the plan: types, ranks, axis, batch_dims and shapes fit then, and the output may be
 * written. */
GATHER_CHECKED gather_status gather_cli_job_prepare(gather_cli_job *job, gather_error *error);
/* Gathers into the output, or only checks the indices with --dry-run. */
GATHER_CHECKED gather_status gather_cli_job_run(gather_cli_job *job, gather_error *error);
/* Says what was done. */
void gather_cli_job_answer(const gather_cli_job *job);
/* Frees everything; a writer that was not committed leaves no file. */
void gather_cli_job_clear(gather_cli_job *job);

#endif
