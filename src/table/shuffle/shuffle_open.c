/* SPDX-License-Identifier: MIT
 *
 * shuffle_open.c: the table that is shuffled, the order, and what will be written. The order of the steps is the order
 * of errors that gather_take documents.
 */
#include <stdio.h>
#include <string.h>

#include "table/shuffle/shuffle_internal.h"
#include "table/table_internal.h"

enum { TABLE_SHARE = 4, WITH_IT = 32 /* bytes, at most, that go with a row in other files */ };

static gather_status fail_open(gather_status status, gather_error *error) {
  if (!error->input) error->input = "data";
  return status;
}

static gather_status fail_columns(const char *path, gather_error *error) {
  return fail_open(gather_fail_file(error, GATHER_UNSUPPORTED, path, -1,
                                    "its rows are not contiguous, since it is in Fortran order; save it with "
                                    "numpy.ascontiguousarray"),
                   error);
}

/* To open such a table may need more memory, which would not help. */
static bool needs_columns(gather_status status, const gather_error *error) {
  return status == GATHER_USAGE && !error->file[0] && strstr(error->message, "rows in Fortran order");
}

gather_status gather_shuffle_open_table(gather_shuffle *job, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  int64_t memory = job->options.memory_bytes / TABLE_SHARE;
  options.memory_bytes = memory > GATHER_TABLE_LEAST_MEMORY ? memory : GATHER_TABLE_LEAST_MEMORY;
  options.engine = job->options.engine;
  options.depth = job->options.depth;
  options.no_links = job->options.no_links;
  options.raw = job->options.raw;
  options.tensor = job->options.tensor;
  gather_status status = gather_table_open_parts(job->paths, job->path_count, &options, &job->table, error);
  if (needs_columns(status, error)) return fail_columns(job->path_count == 1 ? job->paths[0] : "", error);
  if (status != GATHER_OK) return fail_open(status, error);
  gather_table_part part;
  for (int32_t i = 0; gather_table_part_at(job->table, i, &part); i++)
    if (part.offset < 0) return fail_columns(part.path, error);
  job->data = gather_table_describe(job->table);
  job->rows = job->data->rows;
  job->row_bytes = job->data->row_bytes;
  return GATHER_OK;
}

/* The descr that .npy keeps, as for a take. */
static gather_status keep_descr(gather_shuffle *job, gather_error *error) {
  const gather_table_info *data = job->data;
  job->writing.descr = data->descr;
  if (data->descr || data->tensor.type != GATHER_TYPE_OPAQUE) return GATHER_OK;
  const int64_t bytes = (int64_t)strlen(data->type_name) + 3;
  char *descr = gather_arena_take(&job->memory, 1, bytes);
  if (!descr) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a descr");
  (void)snprintf(descr, (size_t)bytes, "'%s'", data->type_name);
  job->writing.descr = descr;
  return GATHER_OK;
}

static gather_status describe_output(gather_shuffle *job, gather_error *error) {
  const gather_table_info *data = job->data;
  job->writing = (gather_writing){.fd = -1,
                                  .path = job->output,
                                  .format = job->format,
                                  .replace = job->options.replace,
                                  .type = data->tensor.type,
                                  .item_bytes = data->tensor.item_bytes,
                                  .byte_swapped = (data->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0,
                                  .name = job->options.name ? job->options.name : data->name,
                                  .rank = data->tensor.rank,
                                  .shape = job->out_shape,
                                  .align_bytes = job->options.align_bytes};
  for (int32_t i = 0; i < data->tensor.rank; i++) job->shape[i] = job->out_shape[i] = data->tensor.shape[i];
  return keep_descr(job, error);
}

/* The shape of the output, and with it whether the order's type and rank are valid. The indices themselves are checked
 * later. */
static gather_status plan_order(gather_shuffle *job, const gather_tensor *order, gather_error *error) {
  static const gather_options OPTIONS = GATHER_OPTIONS_INIT;
  job->out_rows = job->rows;
  if (!order) return GATHER_OK;
  GATHER_TRY(gather_plan_create(gather_op_find("Gather", "onnx-13"), &job->data->tensor, order, NULL, &OPTIONS,
                                &job->plan, error));
  job->writing.rank = gather_plan_shape(job->plan, job->out_shape);
  job->out_rows = gather_tensor_len(order);
  job->order_bytes = gather_tensor_bytes(order);
  if (!order->data && job->out_rows > 0)
    return gather_fail_input(error, GATHER_USAGE, "indices", "the order's data pointer is NULL");
  return GATHER_OK;
}

/* An executor for the check of a long order, which can then be cancelled soon. */
static void run_all(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  gather_shuffle_parallel(context, NULL, count, task, argument);
}

/* More tasks than any memory holds, so that each is as short as a task may be. */
enum { MANY_THREADS = 1 << 24 };

static gather_status check_indices(gather_shuffle *job, gather_error *error) {
  gather_run run = GATHER_RUN_INIT;
  const gather_executor executor = {job, run_all, MANY_THREADS};
  if (!job->plan) return GATHER_OK;
  run.indices = job->order;
  run.executor = job->options.stop ? &executor : NULL;
  const gather_status status = gather_plan_check(job->plan, &run, error);
  GATHER_TRY(gather_shuffle_go_on(job, error)); /* some tasks did not run */
  return status == GATHER_OK ? gather_shuffle_order_check(job, error) : status;
}

/* Rows are read while the output is made, but at the end they would be gone. */
static gather_status spare_inputs(gather_shuffle *job, gather_error *error) {
  if (gather_file_reads(job->order_file, job->output))
    return gather_fail_file(error, GATHER_FILE_EXISTS, job->output, -1,
                            "is the file of the order, which is kept; write to another file");
  if (!gather_table_reads(job->table, job->output)) return GATHER_OK;
  if (gather_table_shares_file(job->table))
    return gather_fail_file(
        error, GATHER_FILE_EXISTS, job->output, -1,
        "is a file of the table that is shuffled, which is kept: it has more than these rows; write to another file");
  job->writing.replace |= job->options.in_place;
  job->options.replace |= job->options.in_place;
  if (job->options.in_place) return GATHER_OK;
  return gather_shuffle_advise(job, GATHER_SHUFFLE_REMEDY_IN_PLACE,
                               gather_fail_file(error, GATHER_FILE_EXISTS, job->output, -1,
                                                "is a file of the table that is shuffled, which is kept"));
}

gather_status gather_shuffle_open_output(gather_shuffle *job, const gather_tensor *order, gather_error *error) {
  GATHER_TRY(describe_output(job, error));
  GATHER_TRY(plan_order(job, order, error));
  if (job->out_rows > 0 && job->row_bytes > INT64_MAX / job->out_rows / 2 - WITH_IT)
    return gather_fail(error, GATHER_OVERFLOW, "the output is larger than any file can be");
  if (job->output && !job->published) GATHER_TRY(spare_inputs(job, error));
  if (job->output && !job->published) GATHER_TRY(gather_writer_check(&job->writing, error));
  GATHER_TRY(check_indices(job, error));
  gather_permutation_make(&job->permutation, (uint64_t)job->seed, (uint64_t)job->rows);
  return GATHER_OK;
}
