/* SPDX-License-Identifier: MIT
 *
 * take_table.c: whether a take uses a table, how much memory each part of it gets, and the text of the plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "hint.h"
#include "remote_arg.h"
#include "size.h"
#include "source.h"
#include "take.h"

enum {
  PART_BYTES = 16 << 20,          /* of the output, without a memory limit: small enough for the caches, long enough for a disk */
  CHUNKED_PART_BYTES = 512 << 20, /* of rows stored in chunks: each part decodes them anew */
  SHARE = 8,                      /* with a limit, a part takes this share of it: two are in memory, one waits for the disk */
  PARTS_IN_MEMORY = 3,
  MOST_DOUBLINGS = 40
};

int32_t gather_cli_job_selected(const gather_cli_job *job) {
  const gather_tensor *indices = &job->indices.tensor.tensor;
  return job->op->tuples && indices->rank > 0 ? (int32_t)indices->shape[indices->rank - 1] : 1;
}

/* Why tuples cannot be taken from a table; NULL = they can, or are an error, which the plan reports. */
static const char *why_not_tuples(const gather_cli_job *job) {
  const gather_tensor *data = &job->data.tensor.tensor, *indices = &job->indices.tensor.tensor;
  const int64_t selected = indices->rank > 0 ? indices->shape[indices->rank - 1] : 0;
  if (!job->op->tuples) return NULL;
  if (indices->rank == 0 || selected > data->rank) return "the tuples do not fit DATA";
  if (selected == 0) return "tuples without a number select all of DATA";
  return selected > 1 && gather_type_get(data->type)->packing != GATHER_PACKING_BYTES ? "tuples select elements of less than a byte" : NULL;
}

/* Why this job cannot use a table, or needs none; "" = it can. */
static void find_reason(gather_cli_job *job) {
  char *why = job->through.why_not;
  const size_t bytes = sizeof job->through.why_not;
  const gather_tensor *data = &job->data.tensor.tensor;
  const int64_t axis = job->options.axis;
  why[0] = 0;
  if (why_not_tuples(job))
    (void)snprintf(why, bytes, "%s", why_not_tuples(job));
  else if (!job->op->tuples && !gather_family_get(job->op->family)->whole_rows)
    (void)snprintf(why, bytes, "single elements are taken, not rows");
  else if (!job->through.early && (!job->data.file || job->data.memory))
    (void)snprintf(why, bytes, "DATA is not a regular file");
  else if (data->strides && !job->through.options.asked)
    (void)snprintf(why, bytes, "DATA is in Fortran order"); /* rows of a mapping are faster than reads of elements */
  else if (job->options.batch_dims != 0)
    (void)snprintf(why, bytes, "batch_dims is not 0");
  else if (data->rank == 0 || (axis != 0 && axis != -(int64_t)data->rank))
    (void)snprintf(why, bytes, "rows are along axis 0, and the axis is %" PRId64, axis);
}

/* Divides `memory_bytes`: the table gets what the output leaves. */
static int64_t divide_memory(gather_cli_take_table *through, int64_t row_bytes, int64_t memory_bytes) {
  const int64_t most = through->chunked ? CHUNKED_PART_BYTES : PART_BYTES;
  int64_t part = memory_bytes == 0 || memory_bytes / SHARE > most ? most : memory_bytes / SHARE;
  through->part_bytes = part > row_bytes ? part : row_bytes;
  through->window_bytes = memory_bytes ? through->part_bytes : 0;
  if (memory_bytes == 0) return 0;
  bool fits = through->part_bytes < memory_bytes / PARTS_IN_MEMORY;
  int64_t left = fits ? memory_bytes - PARTS_IN_MEMORY * through->part_bytes : 0;
  return left > GATHER_TABLE_LEAST_MEMORY ? left : GATHER_TABLE_LEAST_MEMORY;
}

static int64_t row_bytes_of(const gather_cli_job *job) {
  const gather_tensor *data = &job->data.tensor.tensor;
  int64_t bytes = job->data.tensor.bytes;
  if (data->rank == 0) return 0; /* not known yet */
  for (int32_t d = 0; d < gather_cli_job_selected(job); d++) bytes = data->shape[d] > 0 ? bytes / data->shape[d] : 0;
  return bytes;
}

/* No temporary file exists yet, and the table's threads block all signals: one may end the program while a server is silent. */
static gather_status open_with(gather_cli_job *job, int64_t memory_bytes, gather_error *error) {
  gather_cli_take_table *through = &job->through;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_cli_raw raw = job->data_raw;
  int32_t count;
  int64_t row_bytes = row_bytes_of(job);
  raw.raw.shape = raw.shape;
  if (raw.whole) raw.shape[0] = -1; /* each part has its own number of rows */
  if (job->data.file) through->chunked = gather_file_chunks(&job->data.tensor, NULL);
  options.memory_bytes = divide_memory(through, row_bytes, memory_bytes);
  options.engine = through->options.engine;
  options.depth = through->options.depth;
  options.raw = raw.raw.type ? &raw.raw : NULL;
  options.no_links = gather_cli_no_links();
  options.tensor = job->data_raw.tensor;
  options.decode_as = through->decode_as;
  options.codec = job->args->value[GATHER_CLI_CODEC];
  if (memory_bytes > 0 &&
      (row_bytes > memory_bytes / PARTS_IN_MEMORY || through->part_bytes * PARTS_IN_MEMORY + options.memory_bytes > memory_bytes))
    return gather_cli_fail(error, GATHER_USAGE, "too little memory");
  const char **paths = gather_cli_table_paths(job->args, gather_cli_job_data(job), &count);
  if (!paths) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the names of the parts");
  gather_status status = gather_cli_remote_all(paths, count, &options.remote, error);
  if (status == GATHER_OK) status = gather_table_open_parts(paths, count, &options, &through->table, error);
  free(paths);
  return status;
}

/* The library's error for too low a limit is about the table's share. The minimum for the whole is found by trying. */
static gather_status fail_memory(gather_cli_job *job, gather_error *error) {
  char asked[32], enough[32];
  int64_t least = job->through.options.memory_bytes;
  for (int i = 0; i < MOST_DOUBLINGS && least <= INT64_MAX / 2; i++) {
    least *= 2;
    gather_status status = open_with(job, least, error);
    gather_table_close(job->through.table);
    job->through.table = NULL;
    if (status != GATHER_USAGE) break;
  }
  return gather_cli_fail(error, GATHER_USAGE, "--memory %s is too little for rows of %" PRId64 " bytes; at least %s is needed",
                         gather_cli_size_text(asked, sizeof asked, job->through.options.memory_bytes), row_bytes_of(job),
                         gather_cli_size_text(enough, sizeof enough, least));
}

/* The job gathers from the table: with parts it has more rows than DATA alone. */
static void use_table(gather_cli_job *job, const gather_table *table) {
  const gather_table_info *info = gather_table_describe(table);
  job->data.tensor = (gather_file_tensor){.name = info->name,
                                          .tensor = info->tensor,
                                          .descr = info->descr,
                                          .type_name = info->type_name,
                                          .bytes = info->rows * info->row_bytes};
  job->through.row_bytes = row_bytes_of(job);
  if (info->rows == 0) job->through.row_bytes = info->row_bytes; /* of no row */
}

gather_status gather_cli_job_table_decode(gather_cli_job *job, gather_error *error) {
  gather_file_tensor *data = &job->data.tensor;
  gather_file_codec *codec = &job->through.codec;
  if (!job->through.decode_as) return GATHER_OK;
  const gather_status status = gather_file_codec_find(job->data.file, data, job->args->value[GATHER_CLI_CODEC], codec, error);
  if (status != GATHER_OK) {
    if (!error->input) error->input = "data";
    if (status != GATHER_UNSUPPORTED) return status;
    return gather_cli_hint_set(error, job->args->value[GATHER_CLI_CODEC] || gather_file_is_quantised(job->data.file, data)
                                          ? "without --as the rows are taken as they are in the file"
                                          : "--codec NAME says how the rows are quantised, if they contain their scales");
  }
  const gather_tensor decoded = {.type = job->through.decode_as, .rank = codec->rank, .shape = codec->shape};
  *data = (gather_file_tensor){
      .name = data->name, .tensor = decoded, .type_name = gather_type_get(decoded.type)->name, .bytes = gather_tensor_bytes(&decoded)};
  return GATHER_OK;
}

/* Errors that the file would give too, after as many requests. */
static bool is_final(gather_status status) {
  return status == GATHER_FILE_NOT_FOUND || status == GATHER_IO_ERROR || status == GATHER_FILE_MALFORMED || status == GATHER_OUT_OF_MEMORY;
}

gather_status gather_cli_job_table_url(gather_cli_job *job, bool *done, gather_error *error) {
  gather_cli_take_table *through = &job->through;
  const gather_cli_command_id command = job->args->command->id;
  const char *data = gather_cli_job_data(job);
  *done = false;
  if ((command != GATHER_CLI_COMMAND_TAKE && command != GATHER_CLI_COMMAND_ND) || !data || !gather_remote_is_url(data) ||
      job->options.axis != 0 || job->options.batch_dims != 0)
    return GATHER_OK;
  const gather_status status = open_with(job, through->options.memory_bytes, error);
  if (status != GATHER_OK) {
    if (is_final(status) && !error->input) error->input = "data";
    return is_final(status) ? status : GATHER_OK;
  }
  const gather_table_info *info = gather_table_describe(through->table);
  through->early = *done = true;
  through->codec.codec = info->codec;
  job->data.tensor = (gather_file_tensor){.name = info->name,
                                          .tensor = info->tensor,
                                          .descr = info->descr,
                                          .type_name = info->type_name,
                                          .bytes = info->rows * info->row_bytes};
  return GATHER_OK;
}

/* The table of a URL is open, and the indices are known now: whether the job can use it, within its memory. Else DATA is opened like any
 * other. */
static gather_status settle_early(gather_cli_job *job, gather_error *error) {
  gather_cli_take_table *through = &job->through;
  const int64_t memory = through->options.memory_bytes;
  find_reason(job);
  through->chunked = gather_table_describe(through->table)->chunked;
  const int64_t share = divide_memory(through, 0, memory), before = through->part_bytes;
  use_table(job, through->table);
  (void)divide_memory(through, row_bytes_of(job), memory);
  const bool fits = memory == 0 || through->part_bytes == before || through->part_bytes * PARTS_IN_MEMORY + share <= memory;
  if (!through->why_not[0] && fits) {
    gather_table_statistics_get(through->table, &through->statistics);
    return GATHER_OK;
  }
  gather_table_close(through->table);
  through->table = NULL;
  through->early = false;
  GATHER_CLI_TRY(gather_cli_raw_rows(gather_cli_job_data(job), &job->data_raw, error));
  GATHER_CLI_TRY(gather_cli_input_tensor(gather_cli_job_data(job), &job->data_raw, false, "data", &job->data, error));
  GATHER_CLI_TRY(gather_cli_job_table_decode(job, error));
  return gather_cli_job_table_open(job, error);
}

gather_status gather_cli_job_table_open(gather_cli_job *job, gather_error *error) {
  gather_cli_take_table *through = &job->through;
  if (through->early) return settle_early(job, error);
  if (through->table) return GATHER_OK;
  find_reason(job);
  if (through->why_not[0]) return GATHER_OK;
  gather_status status = open_with(job, through->options.memory_bytes, error);
  if (status == GATHER_USAGE && through->options.memory_bytes > 0 && !error->file[0]) return fail_memory(job, error);
  if (status == GATHER_UNSUPPORTED && !through->decode_as) {
    (void)snprintf(through->why_not, sizeof through->why_not, "%s", error->message);
    return GATHER_OK;
  }
  if (status != GATHER_OK) {
    if (!error->input) error->input = "data";
    return status;
  }
  use_table(job, through->table);
  gather_table_statistics_get(through->table, &through->statistics);
  return GATHER_OK;
}

gather_status gather_cli_job_table_find(gather_cli_job *job, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *whole = NULL;
  options.no_links = gather_cli_no_links();
  options.tensor = job->data_raw.tensor;
  if (job->args->command->id == GATHER_CLI_COMMAND_ELEMENTS) return error->status;
  GATHER_CLI_TRY(gather_cli_remote(gather_cli_job_data(job), &options.remote, error));
  gather_error other;
  gather_status status = gather_table_open(gather_cli_job_data(job), &options, &whole, &other);
  if (status != GATHER_OK) { /* the error of the table is more precise than a missing name */
    if (status != GATHER_NAME_NOT_FOUND) *error = other;
    if (!error->input) error->input = "data";
    return error->status;
  }
  use_table(job, whole); /* sets the length of rows, which dividing the memory needs */
  status = gather_cli_job_table_open(job, &other);
  gather_table_close(whole);
  if (status != GATHER_OK) *error = other;
  return status == GATHER_OK && !job->through.table ? error->status : status;
}

gather_status gather_cli_job_table_check(const gather_cli_job *job, gather_error *error) {
  if (job->through.table || !job->through.options.asked) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "--%s needs rows of a table, and this take does not read any: %s", job->through.options.asked,
                         job->through.why_not);
}

/* The rows of DATA, or of what a tuple selects. */
static int64_t all_rows(const gather_cli_job *job) {
  const gather_file_tensor *data = &job->data.tensor;
  const bool tuples = gather_cli_job_selected(job) > 1;
  if (!tuples) return data->tensor.shape[0];
  return job->through.row_bytes > 0 ? data->bytes / job->through.row_bytes : 0;
}

void gather_cli_job_table_plan(gather_cli_job *job) {
  const gather_cli_take_table *through = &job->through;
  const gather_table_info *info = gather_table_describe(through->table);
  char engine[64], part[32], parts[32] = "", codec[64] = "";
  if (info->codec) (void)snprintf(codec, sizeof codec, " (%s as %s)", info->codec, info->type_name);
  if (info->parts > 1) (void)snprintf(parts, sizeof parts, " in %" PRId32 " files", info->parts);
  (void)snprintf(job->plan_text, sizeof job->plan_text,
                 "%s %s: %" PRId64 " of %" PRId64 " rows x %" PRId64
                 " B%s%s through a table; misses are read by %s "
                 "(%s); the output is written in parts of %s",
                 job->op->name, job->op->rules, through->rows, all_rows(job), through->row_bytes, codec, parts,
                 gather_cli_engine_text(engine, sizeof engine, &through->statistics), through->statistics.why,
                 gather_cli_size_text(part, sizeof part, through->part_bytes));
}
