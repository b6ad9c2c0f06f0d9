/* SPDX-License-Identifier: MIT
 *
 * cmd_run.c: `gather run`: open the model and its inputs, run, write the outputs that were asked for, or compare with test data.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "report.h"
#include "run.h"
#include "signals.h"

enum { MOST_THREADS = 1024 };

static int count_of(const gather_cli_args *args, gather_cli_option_id id) {
  int count = 0;
  while (gather_cli_value_at(args, id, count)) count++;
  return count;
}

static gather_status no_memory(gather_error *error) {
  return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the command's arguments");
}

/* NAME=VALUE: the name as a text of its own. */
static gather_status cut_pair(const gather_cli_args *args, gather_cli_option_id id, int i, char **name,
                              const char **value, gather_error *error) {
  size_t bytes;
  const char *text = gather_cli_value_at(args, id, i);
  GATHER_CLI_TRY(gather_cli_pair(text, id, &bytes, value, error));
  *name = malloc(bytes + 1);
  if (!*name) return no_memory(error);
  memcpy(*name, text, bytes);
  (*name)[bytes] = 0;
  return GATHER_OK;
}

/* The extension of every output must say a format. */
static gather_status check_extension(const char *path, gather_error *error) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  char known[200] = "";
  for (size_t i = 0; i < gather_format_count(); i++) {
    const char *extensions = gather_format_extensions(i);
    size_t len = dot ? strlen(dot) : 0;
    if (!strstr(gather_format_abilities(i), "write")) continue;
    for (const char *p = extensions; dot && (p = strstr(p, dot)) != NULL; p += len)
      if (p[len] == 0 || p[len] == ' ') return GATHER_OK;
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", extensions);
  }
  return gather_cli_fail(error, GATHER_USAGE, "--output %.200s: the extension says the format; known are %s", path,
                         known);
}

static gather_status read_outputs(gather_cli_run *run, gather_error *error) {
  int count = count_of(run->args, GATHER_CLI_OUTPUT);
  run->outputs = calloc((size_t)count + 1, sizeof *run->outputs);
  if (!run->outputs) return no_memory(error);
  for (int i = 0; i < count; i++) {
    gather_cli_run_output *output = &run->outputs[i];
    run->output_count = i + 1;
    if (!strchr(gather_cli_value_at(run->args, GATHER_CLI_OUTPUT, i), '='))
      return gather_cli_fail(error, GATHER_USAGE, "--output takes NAME=FILE here, not '%.200s'",
                             gather_cli_value_at(run->args, GATHER_CLI_OUTPUT, i));
    GATHER_CLI_TRY(cut_pair(run->args, GATHER_CLI_OUTPUT, i, &output->name, &output->path, error));
    GATHER_CLI_TRY(check_extension(output->path, error));
  }
  return GATHER_OK;
}

static gather_status read_line(gather_cli_run *run, gather_error *error) {
  const gather_cli_args *args = run->args;
  int64_t threads;
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_THREADS, 1, MOST_THREADS, 0, &threads, error));
  run->threads = (int32_t)threads;
  if (args->value[GATHER_CLI_TEST_DATA] &&
      (args->value[GATHER_CLI_INPUT] || args->value[GATHER_CLI_OUTPUT] || args->value[GATHER_CLI_NODE]))
    return gather_cli_fail(error, GATHER_USAGE, "--test-data brings its own inputs and outputs, for the whole model");
  return read_outputs(run, error);
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

static gather_status find_in_result(const gather_cli_run *run, const char *name, int64_t *number, gather_error *error) {
  for (int64_t i = 0; i < gather_model_result_count(run->result); i++)
    if (strcmp(gather_model_result_at(run->result, i)->name, name) == 0) {
      *number = i;
      return GATHER_OK;
    }
  const gather_model_input *first = gather_model_result_at(run->result, 0);
  return gather_cli_fail(error, GATHER_NAME_NOT_FOUND, "the node has no output '%.100s'; it gives '%.100s'", name,
                         first ? first->name : "");
}

/* Which outputs are meant: before the work where the whole model runs, after it for one node. */
static gather_status find_outputs(gather_cli_run *run, gather_error *error) {
  for (int64_t i = 0; i < run->output_count; i++) {
    gather_cli_run_output *output = &run->outputs[i];
    GATHER_CLI_TRY(run->args->value[GATHER_CLI_NODE]
                       ? find_in_result(run, output->name, &output->number, error)
                       : gather_model_output_find(run->model, output->name, &output->number, error));
    for (int64_t k = 0; k < i; k++)
      if (run->outputs[k].number == output->number)
        return gather_cli_fail(error, GATHER_USAGE, "--output %.100s stands twice", output->name);
  }
  return GATHER_OK;
}

gather_status gather_cli_run_once(gather_cli_run *run, gather_error *error) {
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  options.node = run->args->value[GATHER_CLI_NODE];
  options.executor = run->pool ? gather_pool_executor(run->pool) : NULL;
  options.failed_node = &run->failed_node;
  return gather_model_run(run->model, run->given, run->input_count, &options, &run->result, error);
}

static gather_writing describe(const gather_cli_run *run, const gather_cli_run_output *output) {
  const gather_model_input *made = gather_model_result_at(run->result, output->number);
  return (gather_writing){.path = output->path,
                          .replace = run->args->value[GATHER_CLI_FORCE] != NULL,
                          .type = made->tensor.type,
                          .item_bytes = made->tensor.item_bytes,
                          .byte_swapped = (made->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0,
                          .name = made->name,
                          .rank = made->tensor.rank,
                          .shape = made->tensor.shape};
}

static gather_status write_output(const gather_cli_run *run, const gather_cli_run_output *output, gather_error *error) {
  const gather_tensor *tensor = &gather_model_result_at(run->result, output->number)->tensor;
  gather_writing writing = describe(run, output);
  gather_writer *writer = NULL;
  gather_cli_signals_hold();
  gather_status status = gather_writer_create(&writing, &writer, error);
  if (status == GATHER_OK) gather_cli_signals_temporary(gather_writer_temporary(writer));
  gather_cli_signals_release();
  if (status != GATHER_OK) return status;
  int64_t bytes = gather_tensor_bytes(tensor);
  if (bytes > 0) memcpy(gather_writer_data(writer), tensor->data, (size_t)bytes);
  GATHER_CLI_TRY(gather_writer_commit(writer, error));
  gather_cli_signals_temporary(NULL);
  return GATHER_OK;
}

/* Nothing is written before every output may be. */
static gather_status write_outputs(gather_cli_run *run, gather_error *error) {
  for (int64_t i = 0; i < run->output_count; i++) {
    gather_writing writing = describe(run, &run->outputs[i]);
    GATHER_CLI_TRY(gather_writer_check(&writing, error));
  }
  gather_pool_destroy(run->pool); /* no other thread may be there while signals are held back */
  run->pool = NULL;
  for (int64_t i = 0; i < run->output_count; i++) GATHER_CLI_TRY(write_output(run, &run->outputs[i], error));
  return GATHER_OK;
}

static gather_status run_all(gather_cli_run *run, gather_error *error) {
  bool node = run->args->value[GATHER_CLI_NODE] != NULL;
  GATHER_CLI_TRY(read_line(run, error));
  GATHER_CLI_TRY(gather_model_open(run->args->argument[0], &run->model, error));
  if (!node) GATHER_CLI_TRY(find_outputs(run, error));
  if (!run->args->value[GATHER_CLI_TEST_DATA]) GATHER_CLI_TRY(open_inputs(run, error));
  if (run->threads != 1) GATHER_CLI_TRY(gather_pool_create(run->threads, &run->pool, error));
  if (run->args->value[GATHER_CLI_TEST_DATA]) return gather_cli_run_test_data(run, error);
  GATHER_CLI_TRY(gather_cli_run_once(run, error));
  if (node) GATHER_CLI_TRY(find_outputs(run, error));
  return write_outputs(run, error);
}

static void clear(gather_cli_run *run) {
  gather_model_result_destroy(run->result);
  gather_pool_destroy(run->pool);
  for (int64_t i = 0; i < run->input_count; i++) {
    gather_cli_input_close(&run->inputs[i]);
    free((char *)(uintptr_t)run->given[i].name);
  }
  for (int64_t i = 0; i < run->output_count; i++) free(run->outputs[i].name);
  gather_model_close(run->model);
  free(run->inputs);
  free(run->given);
  free(run->outputs);
  free(run->compared);
}

int gather_cli_cmd_run(const gather_cli_args *args) {
  gather_cli_run run = {.args = args};
  gather_error error;
  gather_status status = run_all(&run, &error);
  bool mismatch = status == GATHER_MISMATCH;
  int code = gather_status_exit_code(status);
  if (status == GATHER_OK || mismatch) gather_cli_run_answer(&run, mismatch ? &error : NULL);
  if (status != GATHER_OK && !(mismatch && args->value[GATHER_CLI_JSON]))
    code = gather_cli_report_node(args, &error, run.failed_node ? run.failed_node : "");
  clear(&run);
  return code;
}
