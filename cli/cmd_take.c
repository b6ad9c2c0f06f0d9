/* SPDX-License-Identifier: MIT
 *
 * cmd_take.c: `gather take`, `gather elements` and `gather nd`: open, plan, check, gather, write. The order of the steps is the
 * documented order of errors: command line, files, types, ranks, axis, batch_dims, shapes, the existing
 * output, indices.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "report.h"
#include "signals.h"
#include "size.h"
#include "source.h"
#include "take.h"
#include "value.h"
#include "writing.h"

/* Below this size, starting threads takes longer than the work. */
enum { SMALL_BYTES = 1 << 20, SMALL_COUNT = 1 << 17 };

/* Whether the name of a type is an npy descr, which --type also accepts. */
static bool is_descr(const char *name) {
  static const int64_t NOTHING[1] = {0};
  const gather_raw probe = {.type = name, .rank = 1, .shape = NOTHING};
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  gather_file *file = NULL;
  source.memory = "";
  source.raw = &probe;
  gather_status status = gather_file_open(&source, &file, NULL);
  gather_file_close(file);
  return status == GATHER_OK;
}

/* The descr of .npy output: the file's, or for raw bytes of an npy dtype the given one. Types with neither (blocks of
 * quantised numbers) are bytes. */
static gather_status keep_descr(gather_cli_job *job, gather_error *error) {
  const gather_file_tensor *data = &job->data.tensor;
  job->writing.descr = data->descr;
  if (data->descr || data->tensor.type != GATHER_TYPE_OPAQUE) return GATHER_OK;
  size_t bytes = strlen(data->type_name) + 32;
  job->descr = malloc(bytes);
  if (!job->descr) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a descr");
  if (is_descr(data->type_name))
    snprintf(job->descr, bytes, "'%s'", data->type_name);
  else
    snprintf(job->descr, bytes, "'|V%lld'", (long long)data->tensor.item_bytes);
  job->writing.descr = job->descr;
  return GATHER_OK;
}

/* The check of the file name comes after the shapes. Until then it gets a descriptor, and only its result about the type
 * counts. */
gather_status gather_cli_job_describe(gather_cli_job *job, gather_error *error) {
  const gather_file_tensor *data = &job->data.tensor;
  static const gather_file_target INIT = GATHER_FILE_TARGET_INIT;
  job->writing = (gather_writing){.type = data->tensor.type,
                                  .item_bytes = data->tensor.item_bytes,
                                  .byte_swapped = (data->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0,
                                  .name = job->out.name ? job->out.name : data->name,
                                  .rank = 1, /* without elements, until the shape is known */
                                  .shape = job->shape};
  job->target = INIT;
  job->target.fd = STDOUT_FILENO;
  job->target.format = job->format;
  job->target.tensors = &job->writing;
  job->target.no_sync = job->args->value[GATHER_CLI_NO_SYNC] != NULL;
  GATHER_CLI_TRY(gather_cli_size(job->args, GATHER_CLI_ALIGN, 1, 0, &job->target.align_bytes, error));
  GATHER_CLI_TRY(keep_descr(job, error));
  gather_status status = job->format ? gather_writer_check(&job->target, error) : GATHER_OK;
  return job->to_stdout || status == GATHER_UNSUPPORTED || status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
}

/* A tensor in pieces that cannot be read as a table is loaded into memory. */
static gather_status open_whole(gather_cli_job *job, const char *data, gather_error *error) {
  const gather_file_tensor *tensor = NULL;
  const char *name;
  char *path = NULL;
  gather_status status = gather_cli_source_split(data, job->data_raw.tensor, &path, &name, error);
  if (status == GATHER_OK) status = gather_file_find_whole(job->data.file, name, &tensor, error);
  free(path);
  if (status == GATHER_OK) job->data.tensor = *tensor;
  if (status != GATHER_OK) error->input = "data";
  return status;
}

static gather_status open_data(gather_cli_job *job, const char *data, gather_error *error) {
  bool done;
  GATHER_CLI_TRY(gather_cli_job_table_url(job, &done, error));
  if (done) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_raw_rows(data, &job->data_raw, error));
  gather_status status = gather_cli_input_tensor(data, &job->data_raw, false, "data", &job->data, error);
  if (status == GATHER_OK) return gather_cli_job_table_decode(job, error);
  if (status != GATHER_NAME_NOT_FOUND || job->through.decode_as) return status;
  status = gather_cli_job_table_find(job, error);
  return status == GATHER_NAME_NOT_FOUND && job->data.file ? open_whole(job, data, error) : status;
}

static bool is_parquet(const gather_error *error) { return strstr(error->message, "Parquet is not supported") != NULL; }

/* Whether a name needs no quotes in Python and in the shell, and no others around it. */
static bool is_plain(const char *name) {
  return strlen(name) < 60 && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:#")];
}

/* Python reads Parquet: the line that takes the rows. Options of the take are the caller's to add. */
static gather_status hint_parquet(const gather_cli_job *job, const gather_error *error) {
  const char *data = gather_cli_job_data(job), *indices = gather_cli_job_indices(job), *out = job->output;
  const bool take = job->args->command->id == GATHER_CLI_COMMAND_TAKE && data && !job->data_raw.raw.type;
  if (!take || !is_plain(indices)) return gather_cli_hint_set(error, "libgather.read_ids('IDS.parquet:COLUMN') reads them in Python");
  return gather_cli_hint_set(error,
                             "or take the rows in Python: python3 -c \"import libgather as g, numpy; "
                             "numpy.save('%s', g.open('%s').take(g.read_ids('%s')))\"",
                             out && is_plain(out) && strcmp(out, "-") != 0 ? out : "rows.npy", is_plain(data) ? data : "DATA", indices);
}

gather_status gather_cli_job_open_indices(gather_cli_job *job, gather_error *error) {
  const char *indices = gather_cli_job_indices(job);
  if (job->literal || job->slice.text) return GATHER_OK;
  gather_status status = gather_cli_input_tensor(indices, &job->indices_raw, true, "indices", &job->indices, error);
  if (status == GATHER_UNSUPPORTED && is_parquet(error)) return hint_parquet(job, error);
  GATHER_CLI_TRY(status);
  if (job->indices.tensor.tensor.type != GATHER_TYPE_OPAQUE) return GATHER_OK;
  (void)gather_cli_fail(error, GATHER_TYPE_UNSUPPORTED, "indices must be integers, not %.100s", job->indices.tensor.type_name);
  error->input = "indices";
  return GATHER_TYPE_UNSUPPORTED;
}

gather_status gather_cli_job_slice(gather_cli_job *job, gather_error *error) {
  const gather_tensor *data = &job->data.tensor.tensor;
  const int64_t axis = job->options.axis < 0 ? job->options.axis + data->rank : job->options.axis;
  const bool valid = axis >= 0 && axis < data->rank; /* else the plan fails, whatever the indices are */
  if (!job->slice.text) return GATHER_OK;
  gather_status status =
      gather_cli_input_slice(&job->slice, valid ? data->shape[axis] : 0, job->through.options.memory_bytes, &job->indices, error);
  if (status != GATHER_OK) error->input = "indices";
  return status;
}

gather_status gather_cli_job_fill(gather_cli_job *job, gather_error *error) {
  if (!job->fill) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_value(&job->data.tensor, job->fill, &job->fill_element, error));
  job->options.fill = job->fill_element;
  return GATHER_OK;
}

gather_status gather_cli_job_inputs(gather_cli_job *job, gather_error *error) {
  const char *data = gather_cli_job_data(job);
  if (data) GATHER_CLI_TRY(open_data(job, data, error));
  GATHER_CLI_TRY(gather_cli_job_open_indices(job, error));
  return gather_cli_job_fill(job, error);
}

gather_status gather_cli_job_spare(const gather_cli_job *job, gather_error *error) {
  const char *path = job->to_stdout ? NULL : job->output;
  GATHER_CLI_TRY(gather_cli_writing_spare(path, &job->data, "DATA", error));
  GATHER_CLI_TRY(gather_cli_writing_spare(path, &job->indices, "INDICES", error));
  return gather_cli_writing_spare_table(path, job->through.table, error);
}

gather_status gather_cli_job_output(gather_cli_job *job, gather_error *error) {
  if (!job->format || job->to_stdout) return GATHER_OK;
  job->target.path = job->output;
  job->target.replace = job->args->value[GATHER_CLI_FORCE] != NULL;
  GATHER_CLI_TRY(gather_cli_job_spare(job, error));
  return gather_writer_check(&job->target, error);
}

gather_status gather_cli_job_prepare(gather_cli_job *job, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_job_inputs(job, error));
  GATHER_CLI_TRY(gather_cli_job_table_open(job, error));
  if (!job->through.table) GATHER_CLI_TRY(gather_cli_input_load(&job->data, "data", error));
  GATHER_CLI_TRY(gather_cli_job_slice(job, error));
  GATHER_CLI_TRY(gather_cli_job_describe(job, error));
  GATHER_CLI_TRY(
      gather_plan_create(job->op, &job->data.tensor.tensor, &job->indices.tensor.tensor, NULL, &job->options, &job->plan, error));
  GATHER_CLI_TRY(gather_cli_job_table_check(job, error));
  job->writing.rank = gather_plan_shape(job->plan, job->shape);
  GATHER_CLI_TRY(gather_cli_job_pad(job, error));
  gather_tensor out = {.type = job->writing.type, .rank = job->writing.rank, .shape = job->shape, .item_bytes = job->writing.item_bytes};
  job->bytes = gather_tensor_bytes(&out);
  job->index_count = gather_tensor_len(&job->indices.tensor.tensor);
  if (job->through.table) job->through.rows = job->index_count / gather_cli_job_selected(job);
  if (job->through.table)
    gather_cli_job_table_plan(job);
  else
    gather_plan_print(job->plan, job->plan_text, sizeof job->plan_text);
  return gather_cli_job_output(job, error);
}

/* The temporary file is registered before a signal can arrive, which would leave it behind. */
gather_status gather_cli_job_create_writer(gather_cli_job *job, gather_error *error) {
  gather_cli_writing_hold();
  job->target.parts = job->through.table != NULL;
  job->target.window_bytes = job->through.window_bytes;
  gather_status status = gather_writer_create(&job->target, &job->writer, error);
  gather_cli_writing_begin(job->writer);
  return status;
}

/* Threads if the work is large enough. They inherit the blocked signals: the thread that makes the output handles those. */
gather_status gather_cli_job_workers(gather_cli_job *job, gather_error *error) {
  bool small = job->bytes < SMALL_BYTES && job->index_count < SMALL_COUNT && !job->through.chunked;
  gather_cli_signals_hold();
  gather_status status = !small && job->threads != 1 ? gather_pool_create(job->threads, &job->pool, error) : GATHER_OK;
  gather_cli_signals_release();
  GATHER_CLI_TRY(status);
  gather_cli_progress_start(&job->progress, job->pool ? gather_pool_executor(job->pool) : NULL, job->bytes, job->begin,
                            !job->args->value[GATHER_CLI_QUIET]);
  return GATHER_OK;
}

static gather_status run_plan(gather_cli_job *job, gather_error *error) {
  gather_run run = GATHER_RUN_INIT;
  GATHER_CLI_TRY(gather_cli_job_workers(job, error));
  run.data = job->data.tensor.tensor.data;
  run.indices = job->indices.tensor.tensor.data;
  run.out = job->writer ? gather_writer_data_at(job->writer, 0) : NULL;
  run.executor = &job->progress.executor;
  run.bad_count = &job->bad_count;
  run.fresh_output = true; /* it is removed on an error */
  gather_status status = job->writer ? gather_plan_run(job->plan, &run, error) : gather_plan_check(job->plan, &run, error);
  gather_cli_progress_end(&job->progress);
  gather_plan_print(job->plan, job->plan_text, sizeof job->plan_text); /* now with the fastest variant */
  return status;
}

/* The indices are validated before the output is created, which would use disk space. */
static gather_status run_table(gather_cli_job *job, gather_error *error) {
  const bool writes = !job->args->value[GATHER_CLI_DRY_RUN];
  GATHER_CLI_TRY(gather_cli_job_workers(job, error));
  const gather_executor *executor = job->pool ? gather_pool_executor(job->pool) : NULL;
  GATHER_CLI_TRY(gather_cli_job_table_indices(job, executor, error));
  if (writes) GATHER_CLI_TRY(gather_cli_job_create_writer(job, error));
  gather_status status = writes ? gather_cli_job_table_rows(job, executor, error) : GATHER_OK;
  gather_table_statistics_get(job->through.table, &job->through.statistics);
  job->through.remote = gather_table_remote_statistics(job->through.table, &job->through.network);
  return status;
}

static gather_status run_past_table(gather_cli_job *job, gather_error *error) {
  if (!job->args->value[GATHER_CLI_DRY_RUN]) GATHER_CLI_TRY(gather_cli_job_create_writer(job, error));
  return run_plan(job, error);
}

gather_status gather_cli_job_commit(gather_cli_job *job, gather_error *error) {
  gather_writer *writer = job->writer;
  job->writer = NULL; /* a commit ends the writer, even if it fails */
  if (writer) GATHER_CLI_TRY(gather_cli_writing_end(writer, error));
  job->seconds = gather_cli_now() - job->begin;
  return GATHER_OK;
}

gather_status gather_cli_job_run(gather_cli_job *job, gather_error *error) {
  job->begin = gather_cli_now();
  GATHER_CLI_TRY((job->through.table ? run_table : run_past_table)(job, error));
  return gather_cli_job_commit(job, error);
}

void gather_cli_job_clear(gather_cli_job *job) {
  gather_writer_abort(job->writer);
  gather_pool_destroy(job->pool);
  gather_plan_destroy(job->plan);
  gather_table_close(job->through.table);
  gather_cli_input_close(&job->data);
  gather_cli_input_close(&job->indices);
  gather_cli_out_clear(&job->out);
  free(job->fill_element);
  free(job->descr);
}

int gather_cli_cmd_take(const gather_cli_args *args) {
  static gather_cli_job job; /* large, and used once */
  gather_error error;
  job.args = args;
  gather_status status = gather_cli_job_options(&job, &error);
  if (status == GATHER_OK) status = gather_cli_job_prepare(&job, &error);
  if (status == GATHER_OK) status = gather_cli_job_run(&job, &error);
  if (status == GATHER_OK) gather_cli_job_answer(&job);
  int code = status == GATHER_OK ? 0 : gather_cli_report(args, &error);
  gather_cli_job_clear(&job);
  return code;
}
