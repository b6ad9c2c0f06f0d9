/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c: `gather check`: every gather node of a model, and what is wrong with its indices.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "commands.h"
#include "report.h"
#include "tensor_arg.h"

/* What was opened for one check. All starts as zero. */
typedef struct check_job {
  gather_cli_input model_file;
  gather_model *model;
  gather_check *check;
  gather_cli_input *files; /* of --input */
  gather_model_input *inputs;
  gather_model_dim *dims;
  int input_count, dim_count;
} check_job;

static int count_of(const gather_cli_args *args, gather_cli_option_id id) {
  int count = 0;
  while (gather_cli_value_at(args, id, count)) count++;
  return count;
}

static gather_status copy_name(const char *text, size_t bytes, const char **name, gather_error *error) {
  char *copy = malloc(bytes + 1);
  if (!copy) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a name");
  memcpy(copy, text, bytes);
  copy[bytes] = '\0';
  *name = copy;
  return GATHER_OK;
}

static gather_status read_dim(check_job *job, const char *text, gather_error *error) {
  size_t bytes;
  const char *value, *end;
  bool too_big;
  gather_model_dim *dim = &job->dims[job->dim_count];
  GATHER_CLI_TRY(gather_cli_pair(text, GATHER_CLI_DIM, &bytes, &value, error));
  if (!gather_cli_whole(value, &end, &dim->len, &too_big) || *end != '\0' || dim->len < 0)
    return gather_cli_fail(error, GATHER_USAGE, "--dim takes NAME=N with a whole number N from 0 on, not '%s'", text);
  GATHER_CLI_TRY(copy_name(text, bytes, &dim->name, error));
  job->dim_count++;
  return GATHER_OK;
}

static gather_status read_input(check_job *job, const char *text, gather_error *error) {
  static const gather_cli_raw NOT_RAW;
  size_t bytes;
  const char *value;
  gather_model_input *input = &job->inputs[job->input_count];
  gather_cli_input *file = &job->files[job->input_count];
  GATHER_CLI_TRY(gather_cli_pair(text, GATHER_CLI_INPUT, &bytes, &value, error));
  GATHER_CLI_TRY(copy_name(text, bytes, &input->name, error));
  job->input_count++;
  for (int i = 0; i + 1 < job->input_count; i++)
    if (strcmp(job->inputs[i].name, input->name) == 0)
      return gather_cli_fail(error, GATHER_USAGE, "--input gives '%s' twice", input->name);
  GATHER_CLI_TRY(gather_cli_is_literal(value)
                     ? gather_cli_input_literal(value, file, error)
                     : gather_cli_input_tensor(value, &NOT_RAW, true, input->name, file, error));
  input->tensor = file->tensor.tensor;
  return GATHER_OK;
}

/* The whole line first: mistakes on it come before those of files. */
static gather_status read_line(const gather_cli_args *args, check_job *job, gather_error *error) {
  int inputs = count_of(args, GATHER_CLI_INPUT), dims = count_of(args, GATHER_CLI_DIM);
  job->files = calloc((size_t)inputs + 1, sizeof *job->files);
  job->inputs = calloc((size_t)inputs + 1, sizeof *job->inputs);
  job->dims = calloc((size_t)dims + 1, sizeof *job->dims);
  if (!job->files || !job->inputs || !job->dims)
    return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the command line");
  for (int i = 0; i < dims; i++) GATHER_CLI_TRY(read_dim(job, gather_cli_value_at(args, GATHER_CLI_DIM, i), error));
  for (int i = 0; i < inputs; i++) {
    size_t bytes;
    const char *value;
    GATHER_CLI_TRY(
        gather_cli_pair(gather_cli_value_at(args, GATHER_CLI_INPUT, i), GATHER_CLI_INPUT, &bytes, &value, error));
  }
  return GATHER_OK;
}

static gather_status check_model(const gather_cli_args *args, check_job *job, gather_error *error) {
  static const gather_cli_raw NOT_RAW;
  const char *name;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  GATHER_CLI_TRY(read_line(args, job, error));
  GATHER_CLI_TRY(gather_cli_input_open(args->argument[0], &NOT_RAW, false, NULL, &job->model_file, &name, error));
  if (*name) return gather_cli_fail(error, GATHER_USAGE, "check takes a whole model, not its tensor '%s'", name);
  GATHER_CLI_TRY(gather_model_from_file(job->model_file.file, &job->model, error));
  for (int i = 0; gather_cli_value_at(args, GATHER_CLI_INPUT, i); i++)
    GATHER_CLI_TRY(read_input(job, gather_cli_value_at(args, GATHER_CLI_INPUT, i), error));
  options.inputs = job->inputs;
  options.input_count = job->input_count;
  options.dims = job->dims;
  options.dim_count = job->dim_count;
  return gather_model_check(job->model, &options, &job->check, error);
}

static void close_job(check_job *job) {
  gather_check_destroy(job->check);
  gather_model_close(job->model);
  gather_cli_input_close(&job->model_file);
  for (int i = 0; i < job->input_count; i++) {
    gather_cli_input_close(&job->files[i]);
    free((void *)(uintptr_t)job->inputs[i].name);
  }
  for (int i = 0; i < job->dim_count; i++) free((void *)(uintptr_t)job->dims[i].name);
  free(job->files);
  free(job->inputs);
  free(job->dims);
}

int gather_cli_cmd_check(const gather_cli_args *args) {
  check_job job = {0};
  gather_error error;
  int code = 0;
  gather_status status = check_model(args, &job, &error);
  if (status == GATHER_OK) {
    (args->value[GATHER_CLI_JSON] ? gather_cli_check_json : gather_cli_check_text)(args, job.model, job.check);
    code = gather_check_verdicts(job.check, GATHER_VERDICT_BAD) > 0;
  } else {
    code = gather_cli_report(args, &error);
  }
  close_job(&job);
  return code;
}
