/* SPDX-License-Identifier: MIT
 *
 * shuffle_open.c: the table that is shuffled, the order, and what will be written. The order of the steps is the order of
 * complaints that take promises.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "shuffle.h"
#include "signals.h"
#include "size.h"
#include "source.h"

enum { TABLE_SHARE = 4, WITH_IT = 32 /* bytes, at most, that go with a row in other files */ };

static gather_status open_parts(gather_cli_shuffle *job, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  int64_t memory = job->options.memory_bytes / TABLE_SHARE;
  int32_t count = 1;
  options.memory_bytes = memory > GATHER_TABLE_LEAST_MEMORY ? memory : GATHER_TABLE_LEAST_MEMORY;
  options.engine = job->options.engine;
  options.depth = job->options.depth;
  options.no_links = gather_cli_no_links();
  options.raw = job->data_raw.raw.type ? &job->data_raw.raw : NULL;
  const char **paths = calloc((size_t)job->args->given_count + 1, sizeof *paths);
  if (!paths) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the names of the parts");
  paths[0] = job->args->argument[0];
  for (const char *path; (path = gather_cli_value_at(job->args, GATHER_CLI_PART, count - 1)); count++)
    paths[count] = path;
  gather_status status = gather_table_open_parts(paths, count, &options, &job->table, error);
  free(paths);
  return status;
}

/* Threads of the table must not take the signals that end this program. */
static gather_status open_table(gather_cli_shuffle *job, gather_error *error) {
  gather_cli_signals_hold();
  gather_status status = open_parts(job, error);
  gather_cli_signals_release();
  if (status == GATHER_USAGE && !error->file[0] && strstr(error->message, "memory")) {
    char asked[32];
    return gather_cli_fail(error, GATHER_USAGE,
                           "--memory %s is too little for rows of this length; the table gets a quarter of it",
                           gather_cli_size_text(asked, sizeof asked, job->options.memory_bytes));
  }
  if (status != GATHER_OK) {
    if (!error->input) error->input = "data";
    return status;
  }
  job->info = gather_table_describe(job->table);
  job->rows = job->info->rows;
  job->row_bytes = job->info->row_bytes;
  return GATHER_OK;
}

static gather_status open_order(gather_cli_shuffle *job, gather_error *error) {
  if (!job->given || job->order.tensor.tensor.shape) return GATHER_OK;
  return gather_cli_input_tensor(job->args->value[GATHER_CLI_ORDER], &job->order_raw, true, "indices", &job->order,
                                 error);
}

/* The descr that .npy keeps, as take does. */
static gather_status keep_descr(gather_cli_shuffle *job, gather_error *error) {
  const gather_table_info *info = job->info;
  job->writing.descr = info->descr;
  if (info->descr || info->tensor.type != GATHER_TYPE_OPAQUE) return GATHER_OK;
  size_t bytes = strlen(info->type_name) + 3;
  job->descr = malloc(bytes);
  if (!job->descr) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a descr");
  (void)snprintf(job->descr, bytes, "'%s'", info->type_name);
  job->writing.descr = job->descr;
  return GATHER_OK;
}

static gather_status describe_output(gather_cli_shuffle *job, gather_error *error) {
  const gather_table_info *info = job->info;
  job->writing = (gather_writing){.fd = -1,
                                  .path = job->out.path,
                                  .format = job->out.format,
                                  .replace = job->force,
                                  .type = info->tensor.type,
                                  .item_bytes = info->tensor.item_bytes,
                                  .byte_swapped = (info->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0,
                                  .name = job->out.name ? job->out.name : info->name,
                                  .rank = info->tensor.rank,
                                  .shape = job->out_shape};
  for (int32_t i = 0; i < info->tensor.rank; i++) job->shape[i] = job->out_shape[i] = info->tensor.shape[i];
  return keep_descr(job, error);
}

/* The shape of OUT, and with it whether the order's type and rank will do. The indices themselves come later. */
static gather_status plan_order(gather_cli_shuffle *job, gather_plan **plan, gather_error *error) {
  static const gather_options OPTIONS = GATHER_OPTIONS_INIT;
  const gather_op *op = gather_op_find("Gather", "onnx-13");
  job->out_rows = job->rows;
  if (!job->given) return GATHER_OK;
  GATHER_CLI_TRY(gather_plan_create(op, &job->info->tensor, &job->order.tensor.tensor, NULL, &OPTIONS, plan, error));
  job->writing.rank = gather_plan_shape(*plan, job->out_shape);
  job->out_rows = gather_tensor_len(&job->order.tensor.tensor);
  return GATHER_OK;
}

static gather_status check_indices(gather_cli_shuffle *job, const gather_plan *plan, gather_error *error) {
  gather_run run = GATHER_RUN_INIT;
  if (!plan) return GATHER_OK;
  run.indices = job->order.tensor.tensor.data;
  GATHER_CLI_TRY(gather_plan_check(plan, &run, error));
  return gather_cli_shuffle_order_check(job, error);
}

gather_status gather_cli_shuffle_open(gather_cli_shuffle *job, gather_error *error) {
  gather_plan *plan = NULL;
  GATHER_CLI_TRY(open_table(job, error));
  GATHER_CLI_TRY(open_order(job, error));
  GATHER_CLI_TRY(describe_output(job, error));
  gather_status status = plan_order(job, &plan, error);
  if (status == GATHER_OK && job->out_rows > 0 && job->row_bytes > INT64_MAX / job->out_rows / 2 - WITH_IT)
    status = gather_cli_fail(error, GATHER_OVERFLOW, "OUT would be too big for any file");
  if (status == GATHER_OK && job->writing.path && !job->published) status = gather_writer_check(&job->writing, error);
  if (status == GATHER_OK) status = check_indices(job, plan, error);
  gather_plan_destroy(plan);
  if (status == GATHER_OK) gather_cli_permutation_make(&job->permutation, (uint64_t)job->seed, (uint64_t)job->rows);
  return status;
}
