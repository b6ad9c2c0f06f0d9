/* SPDX-License-Identifier: MIT
 *
 * model_given.c: MODEL, and the values of --input and --dim.
 */
#include "model_given.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

static int count_of(const gather_cli_args *args, gather_cli_option_id id) {
  int count = 0;
  while (gather_cli_value_at(args, id, count)) count++;
  return count;
}

static gather_status copy_name(const char *text, size_t bytes, const char **name, gather_error *error) {
  char *copy = malloc(bytes + 1);
  if (!copy) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a name");
  memcpy(copy, text, bytes);
  copy[bytes] = '\0';
  *name = copy;
  return GATHER_OK;
}

static gather_status read_dim(gather_cli_model *model, const char *text, gather_error *error) {
  size_t bytes;
  const char *value, *end;
  bool too_big;
  gather_model_dim *dim = &model->dims[model->dim_count];
  GATHER_CLI_TRY(gather_cli_pair(text, GATHER_CLI_DIM, &bytes, &value, error));
  if (!gather_cli_whole(value, &end, &dim->len, &too_big) || *end != '\0' || dim->len < 0)
    return gather_cli_fail(error, GATHER_USAGE, "--dim takes NAME=N with an integer N of at least 0, not '%s'", text);
  GATHER_CLI_TRY(copy_name(text, bytes, &dim->name, error));
  model->dim_count++;
  return GATHER_OK;
}

static gather_status read_input(gather_cli_model *model, const char *text, const char *node, gather_error *error) {
  size_t bytes;
  const char *value;
  gather_model_input *input = &model->inputs[model->input_count];
  gather_cli_input *file = &model->files[model->input_count];
  GATHER_CLI_TRY(gather_cli_pair(text, GATHER_CLI_INPUT, &bytes, &value, error));
  GATHER_CLI_TRY(copy_name(text, bytes, &input->name, error));
  model->input_count++;
  for (int i = 0; i + 1 < model->input_count; i++)
    if (strcmp(model->inputs[i].name, input->name) == 0)
      return gather_cli_fail(error, GATHER_USAGE, "--input gives '%s' twice", input->name);
  gather_type type = gather_model_value_type(model->model, node, input->name);
  GATHER_CLI_TRY(gather_cli_input_typed(value, type, input->name, file, error));
  input->tensor = file->tensor.tensor;
  return GATHER_OK;
}

/* The whole line first: its mistakes are reported before those of files. */
static gather_status read_line(const gather_cli_args *args, gather_cli_model *model, gather_error *error) {
  int inputs = count_of(args, GATHER_CLI_INPUT), dims = count_of(args, GATHER_CLI_DIM);
  model->files = calloc((size_t)inputs + 1, sizeof *model->files);
  model->inputs = calloc((size_t)inputs + 1, sizeof *model->inputs);
  model->dims = calloc((size_t)dims + 1, sizeof *model->dims);
  if (!model->files || !model->inputs || !model->dims)
    return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the command line");
  for (int i = 0; i < dims; i++) GATHER_CLI_TRY(read_dim(model, gather_cli_value_at(args, GATHER_CLI_DIM, i), error));
  for (int i = 0; i < inputs; i++) {
    size_t bytes;
    const char *value;
    GATHER_CLI_TRY(gather_cli_pair(gather_cli_value_at(args, GATHER_CLI_INPUT, i), GATHER_CLI_INPUT, &bytes, &value, error));
  }
  return GATHER_OK;
}

gather_status gather_cli_model_open(const gather_cli_args *args, gather_cli_model *model, gather_check_options *options,
                                    gather_error *error) {
  static const gather_cli_raw NOT_RAW;
  static const gather_check_options INIT = GATHER_CHECK_OPTIONS_INIT;
  /* A check takes only inputs of the model, whatever the graph of its node calls so. */
  const char *name, *node = args->command->id == GATHER_CLI_COMMAND_CHECK ? NULL : args->value[GATHER_CLI_NODE];
  GATHER_CLI_TRY(read_line(args, model, error));
  GATHER_CLI_TRY(gather_cli_input_open(args->argument[0], &NOT_RAW, false, NULL, &model->file, &name, error));
  if (*name) return gather_cli_fail(error, GATHER_USAGE, "%s takes a whole model, not its tensor '%s'", args->command->name, name);
  GATHER_CLI_TRY(gather_model_from_file(model->file.file, &model->model, error));
  for (int i = 0; gather_cli_value_at(args, GATHER_CLI_INPUT, i); i++)
    GATHER_CLI_TRY(read_input(model, gather_cli_value_at(args, GATHER_CLI_INPUT, i), node, error));
  *options = INIT;
  options->inputs = model->inputs;
  options->input_count = model->input_count;
  options->dims = model->dims;
  options->dim_count = model->dim_count;
  return GATHER_OK;
}

void gather_cli_model_close(gather_cli_model *model) {
  gather_model_close(model->model);
  gather_cli_input_close(&model->file);
  for (int i = 0; i < model->input_count; i++) {
    gather_cli_input_close(&model->files[i]);
    free((void *)(uintptr_t)model->inputs[i].name);
  }
  for (int i = 0; i < model->dim_count; i++) free((void *)(uintptr_t)model->dims[i].name);
  free(model->files);
  free(model->inputs);
  free(model->dims);
}
