/* SPDX-License-Identifier: MIT
 *
 * shuffle_options.c: the command line of `gather shuffle`.
 */
#include <stdlib.h>
#include <string.h>

#include "gather/remote.h"
#include "report.h"
#include "shuffle_job.h"
#include "size.h"
#include "source.h"
#include "table_arg.h"

enum { MOST_THREADS = 1024 };

static gather_status read_output(gather_cli_shuffle *job, gather_error *error) {
  const char *output = job->args->value[GATHER_CLI_OUTPUT];
  if (!output && job->dry_run) return GATHER_OK;
  if (!output) return gather_cli_fail(error, GATHER_USAGE, "-o OUT is missing; --dry-run needs none");
  if (strcmp(output, "-") == 0)
    return gather_cli_fail(error, GATHER_USAGE, "-o -: a shuffle needs a file; gather take can write to a pipe");
  GATHER_CLI_TRY(gather_cli_out_read(output, "-o", &job->out, error));
  job->options.format = job->out.format;
  job->options.name = job->out.name;
  return GATHER_OK;
}

static gather_status read_order(gather_cli_shuffle *job, gather_error *error) {
  const char *order = job->args->value[GATHER_CLI_ORDER], *data = job->args->argument[0];
  GATHER_CLI_TRY(gather_cli_raw_options(job->args, GATHER_CLI_I_TYPE, GATHER_CLI_I_SHAPE, GATHER_CLI_I_OFFSET, &job->order_raw, error));
  if (gather_cli_is_stdin(data)) return gather_cli_fail(error, GATHER_USAGE, "DATA cannot be standard input: a shuffle needs a file");
  if (!order && job->order_raw.raw.type) return gather_cli_fail(error, GATHER_USAGE, "--indices-type needs --order");
  if (!order && job->order_raw.tensor) return gather_cli_fail(error, GATHER_USAGE, "--indices-tensor needs --order");
  if (!order) return GATHER_OK;
  if (job->args->value[GATHER_CLI_SEED]) return gather_cli_fail(error, GATHER_USAGE, "--seed and --order cannot be combined");
  if (gather_cli_is_stdin(order) && job->options.resume) return gather_cli_fail(error, GATHER_USAGE, "--resume needs --order to be a file");
  const bool sliced = gather_cli_is_slice(order);
  if (!sliced && !gather_cli_is_literal(order)) return GATHER_OK;
  if (job->order_raw.raw.type)
    return gather_cli_fail(error, GATHER_USAGE, "--indices-type needs a file of raw bytes, but '%.100s' is a %s", order,
                           sliced ? "slice" : "literal");
  if (job->order_raw.tensor)
    return gather_cli_fail(error, GATHER_USAGE, "--indices-tensor needs a file, but '%.100s' is a %s", order, sliced ? "slice" : "literal");
  if (sliced) return gather_cli_slice_read(order, &job->order_slice, error);
  return gather_cli_input_literal(order, &job->order, error);
}

/* DATA and each --part. */
static gather_status read_paths(gather_cli_shuffle *job, gather_error *error) {
  job->paths = calloc((size_t)job->args->given_count + 1, sizeof *job->paths);
  if (!job->paths) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the names of the parts");
  job->paths[job->path_count++] = job->args->argument[0];
  for (const char *path; (path = gather_cli_value_at(job->args, GATHER_CLI_PART, job->path_count - 1));)
    job->paths[job->path_count++] = path;
  for (int i = 0; i < job->path_count; i++)
    if (gather_remote_is_url(job->paths[i]))
      return gather_cli_fail(error, GATHER_UNSUPPORTED,
                             "gather shuffle reads every row, from local files only: download the file of the URL first; "
                             "--order may be a URL");
  return GATHER_OK;
}

static gather_status read_table(gather_cli_shuffle *job, gather_error *error) {
  gather_cli_table_options table;
  GATHER_CLI_TRY(gather_cli_table_options_read(job->args, &table, error));
  job->options.memory_bytes = table.memory_bytes;
  job->options.engine = table.engine;
  job->options.depth = table.depth;
  GATHER_CLI_TRY(gather_cli_raw_options(job->args, GATHER_CLI_TYPE, GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, &job->data_raw, error));
  job->options.raw = job->data_raw.raw.type ? &job->data_raw.raw : NULL;
  job->options.no_links = gather_cli_no_links();
  job->options.tensor = job->data_raw.tensor;
  return GATHER_OK;
}

gather_status gather_cli_shuffle_options(gather_cli_shuffle *job, gather_error *error) {
  const gather_cli_args *args = job->args;
  int64_t passes;
  job->options = (gather_shuffle_options)GATHER_SHUFFLE_OPTIONS_INIT;
  job->options.replace = args->value[GATHER_CLI_FORCE] != NULL;
  job->options.in_place = args->value[GATHER_CLI_IN_PLACE] != NULL;
  job->options.resume = args->value[GATHER_CLI_RESUME] != NULL;
  job->options.progress = gather_cli_shuffle_progress;
  job->options.progress_context = job;
  job->dry_run = args->value[GATHER_CLI_DRY_RUN] != NULL;
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_SEED, 0, INT64_MAX, -1, &job->options.seed, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_PASSES, 1, 2, 0, &passes, error));
  job->options.passes = (int32_t)passes;
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_THREADS, 1, MOST_THREADS, 0, &job->threads, error));
  GATHER_CLI_TRY(gather_cli_size(args, GATHER_CLI_ALIGN, 1, 0, &job->options.align_bytes, error));
  GATHER_CLI_TRY(read_output(job, error));
  GATHER_CLI_TRY(read_table(job, error));
  GATHER_CLI_TRY(read_order(job, error));
  return read_paths(job, error);
}

void gather_cli_shuffle_options_clear(gather_cli_shuffle *job) {
  gather_cli_input_close(&job->order);
  gather_cli_out_clear(&job->out);
  free((void *)job->paths);
}
