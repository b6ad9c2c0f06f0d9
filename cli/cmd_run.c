/* SPDX-License-Identifier: MIT
 *
 * cmd_run.c: `gather run`: opens the model and its inputs, runs it, writes the requested outputs, or compares with test data.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "report.h"
#include "run.h"
#include "size.h"
#include "source.h"
#include "system.h"

enum { MOST_THREADS = 1024 };

static int count_of(const gather_cli_args *args, gather_cli_option_id id) {
  int count = 0;
  while (gather_cli_value_at(args, id, count)) count++;
  return count;
}

static gather_status no_memory(gather_error *error) {
  return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the command's arguments");
}

/* NAME=VALUE: the name as its own string. */
static gather_status cut_pair(const gather_cli_args *args, gather_cli_option_id id, int i, char **name, const char **value,
                              gather_error *error) {
  size_t bytes;
  const char *text = gather_cli_value_at(args, id, i);
  GATHER_CLI_TRY(gather_cli_pair(text, id, &bytes, value, error));
  *name = malloc(bytes + 1);
  if (!*name) return no_memory(error);
  memcpy(*name, text, bytes);
  (*name)[bytes] = 0;
  return GATHER_OK;
}

static gather_status read_line(gather_cli_run *run, gather_error *error) {
  const gather_cli_args *args = run->args;
  int64_t threads;
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_THREADS, 1, MOST_THREADS, 0, &threads, error));
  run->threads = (int32_t)threads;
  GATHER_CLI_TRY(gather_cli_size(args, GATHER_CLI_MEMORY, 1, 0, &run->memory_bytes, error));
  if (args->value[GATHER_CLI_TEST_DATA] &&
      (args->value[GATHER_CLI_INPUT] || args->value[GATHER_CLI_OUTPUT] || args->value[GATHER_CLI_NODE]))
    return gather_cli_fail(error, GATHER_USAGE, "--test-data cannot be combined with --input, --output or --node");
  return gather_cli_run_outputs_read(run, error);
}

static gather_status open_inputs(gather_cli_run *run, gather_error *error) {
  int count = count_of(run->args, GATHER_CLI_INPUT);
  run->inputs = calloc((size_t)count + 1, sizeof *run->inputs);
  run->given = calloc((size_t)count + 1, sizeof *run->given);
  if (!run->inputs || !run->given) return no_memory(error);
  for (int i = 0; i < count; i++) {
    char *name = NULL;
    const char *value;
    run->input_count = i + 1;
    gather_status status = cut_pair(run->args, GATHER_CLI_INPUT, i, &name, &value, error);
    run->given[i].name = name;
    if (status != GATHER_OK) return status;
    gather_type type = gather_model_value_type(run->model, run->args->value[GATHER_CLI_NODE], name);
    GATHER_CLI_TRY(gather_cli_input_typed(value, type, NULL, &run->inputs[i], error));
    run->given[i].tensor = run->inputs[i].tensor.tensor;
  }
  return GATHER_OK;
}

static gather_status run_all(gather_cli_run *run, gather_error *error) {
  bool node = run->args->value[GATHER_CLI_NODE] != NULL;
  GATHER_CLI_TRY(read_line(run, error));
  GATHER_CLI_TRY(gather_cli_file_open(run->args->argument[0], &run->file, error));
  GATHER_CLI_TRY(gather_model_from_file(run->file, &run->model, error));
  if (!node) GATHER_CLI_TRY(gather_cli_run_outputs_find(run, error));
  if (!run->args->value[GATHER_CLI_TEST_DATA]) GATHER_CLI_TRY(open_inputs(run, error));
  GATHER_CLI_TRY(gather_cli_run_outputs_spare(run, error));
  if (run->threads != 1) GATHER_CLI_TRY(gather_pool_create(run->threads, &run->pool, error));
  if (run->args->value[GATHER_CLI_TEST_DATA]) return gather_cli_run_test_data(run, error);
  GATHER_CLI_TRY(gather_cli_run_once(run, error));
  if (node) GATHER_CLI_TRY(gather_cli_run_outputs_find(run, error));
  return gather_cli_run_outputs_write(run, error);
}

static void clear(gather_cli_run *run) {
  gather_model_result_destroy(run->result);
  gather_pool_destroy(run->pool);
  for (int64_t i = 0; i < run->input_count; i++) {
    gather_cli_input_close(&run->inputs[i]);
    free((char *)(uintptr_t)run->given[i].name);
  }
  gather_cli_run_outputs_clear(run);
  gather_model_close(run->model);
  gather_file_close(run->file);
  free(run->inputs);
  free(run->given);
  free(run->compared);
}

int gather_cli_cmd_run(const gather_cli_args *args) {
  gather_cli_run run = {.args = args};
  gather_error error;
  gather_status status = run_all(&run, &error);
  bool mismatch = status == GATHER_MISMATCH;
  int code = gather_cli_exit_code(status);
  if (status == GATHER_OK || mismatch) gather_cli_run_answer(&run, mismatch ? &error : NULL);
  if (status != GATHER_OK && !(mismatch && args->value[GATHER_CLI_JSON]))
    code = gather_cli_report_node(args, &error, run.failed_node ? run.failed_node : "");
  clear(&run);
  return code;
}
