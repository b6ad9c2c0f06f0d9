/* SPDX-License-Identifier: MIT
 *
 * shuffle_job.h: what the files of `gather shuffle` share: its line, and its output.
 */
#ifndef GATHER_CLI_SHUFFLE_JOB_H
#define GATHER_CLI_SHUFFLE_JOB_H

#include "args.h"
#include "gather/shuffle.h"
#include "output_arg.h"
#include "tensor_arg.h"

typedef struct gather_cli_shuffle {
  const gather_cli_args *args;
  double begin, seconds;
  gather_shuffle *shuffle;

  /* the line */
  bool dry_run;
  int64_t threads; /* 0 = all CPUs */
  gather_shuffle_options options;
  const char **paths; /* of the parts */
  int32_t path_count;
  gather_cli_out out; /* of -o */
  gather_cli_raw data_raw, order_raw;
  gather_cli_input order;
  gather_cli_slice order_slice;

  /* progress */
  gather_shuffle_step step; /* the current step */
  bool shown, printed;
  double next_tick, step_begin;
  int64_t shown_from; /* where this run's step began */
} gather_cli_shuffle;

/* Reads the line. GATHER_USAGE, GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_shuffle_options(gather_cli_shuffle *job, gather_error *error);
/* Frees its result. */
void gather_cli_shuffle_options_clear(gather_cli_shuffle *job);

/* gather_shuffle_options.progress: the line on a terminal, and the note that a signal leaves. context: the job. */
void gather_cli_shuffle_progress(void *context, const gather_shuffle_progress *progress);
/* The answer. */
void gather_cli_shuffle_answer(const gather_cli_shuffle *job);
/* The library's error in the words of the line: options with their dashes. */
void gather_cli_shuffle_reword(const gather_cli_shuffle *job, gather_error *error);

#endif
