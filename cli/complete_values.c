/* SPDX-License-Identifier: MIT
 *
 * complete_values.c: completion of values: fixed choices, files, tensors in a file, and the names of a model's inputs, outputs and nodes.
 * A file that cannot be read gives no names and no message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "complete.h"
#include "gather/file.h"
#include "gather/model.h"
#include "show.h"
#include "source.h"

static void say_tensor(const gather_cli_unfinished *line, const char *at, const char *prefix, const gather_file_tensor *tensor) {
  char text[1024], what[160], shape[96];
  int len = snprintf(text, sizeof text, "%s%s", prefix, tensor->name);
  if (len < 0 || (size_t)len >= sizeof text || !*tensor->name) return;
  (void)snprintf(what, sizeof what, "%.40s %s", tensor->type_name,
                 gather_cli_shape_text(shape, sizeof shape, tensor->tensor.rank, tensor->tensor.shape));
  gather_cli_complete_word(line, at, text, what);
}

/* FILE:NAME for each tensor, if FILE: is in the word already. */
static void say_tensors(const gather_cli_unfinished *line, const char *at, const char *path, const char *name) {
  char prefix[512];
  gather_file *file = NULL;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  size_t before = (size_t)(name - at);
  source.path = path;
  if (before >= sizeof prefix || gather_file_open(&source, &file, NULL) != GATHER_OK) return;
  memcpy(prefix, at, before);
  prefix[before] = 0;
  for (int64_t i = 0; i < gather_file_len(file); i++) say_tensor(line, at, prefix, gather_file_at(file, i));
  gather_file_close(file);
}

/* NAME for each tensor of the line's argument number i. */
static void complete_name(const gather_cli_unfinished *line, int i) {
  gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->value);
  const char *path = i < line->argument_count ? line->argument[i] : "-";
  if (strcmp(path, "-") != 0 && !gather_cli_source_streams(path)) say_tensors(line, line->value, path, line->value);
}

/* The name after the colon of FILE:, if FILE is a regular file; else NULL. */
static const char *name_behind(const char *at, char **path) {
  const char *name;
  gather_error ignored;
  if (gather_cli_source_split(at, NULL, path, &name, &ignored) != GATHER_OK) return NULL;
  bool colon = name > at && name[-1] == ':'; /* "" points elsewhere if there is no colon */
  return *name || (strlen(at) > 0 && at[strlen(at) - 1] == ':' && colon) ? name : NULL;
}

void gather_cli_complete_tensor(const gather_cli_unfinished *line, const char *at) {
  char *path = NULL;
  const char *name = strchr(at, ':') ? name_behind(at, &path) : NULL;
  gather_cli_complete_begin(line, name ? GATHER_CLI_COMPLETE_NONE : GATHER_CLI_COMPLETE_FILES, at);
  if (name && strcmp(path, "-") != 0 && !gather_cli_source_streams(path)) say_tensors(line, at, path, name);
  free(path);
}

/* ---- names of a model */

static gather_model *open_model(const gather_cli_unfinished *line) {
  gather_model *model = NULL;
  const char *path = line->argument_count > 0 ? line->argument[0] : "-";
  if (strcmp(path, "-") == 0 || gather_cli_source_streams(path)) return NULL;
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = path;
  return gather_model_open(&source, &model, NULL) == GATHER_OK ? model : NULL;
}

static void say_pair(const gather_cli_unfinished *line, const char *name) {
  char text[512];
  int len = name ? snprintf(text, sizeof text, "%s=", name) : -1;
  if (len > 0 && (size_t)len < sizeof text) gather_cli_complete_word(line, line->value, text, "");
}

/* NAME=FILE: names of the model's inputs or outputs before the sign, files after it. */
static void complete_pair(const gather_cli_unfinished *line, bool inputs) {
  const char *equals = strchr(line->value, '=');
  if (equals) {
    gather_cli_complete_tensor(line, equals + 1);
    return;
  }
  gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->value);
  gather_model *model = open_model(line);
  if (model) {
    const gather_model_info *info = gather_model_describe(model);
    const int64_t count = inputs ? info->input_count : info->output_count;
    for (int64_t i = 0; i < count; i++) say_pair(line, inputs ? info->inputs[i] : info->outputs[i]);
  }
  gather_model_close(model);
}

static void complete_node(const gather_cli_unfinished *line) {
  gather_check *check = NULL;
  gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->value);
  gather_model *model = open_model(line);
  if (model && gather_model_check(model, NULL, &check, NULL) == GATHER_OK)
    for (int64_t i = 0; i < gather_check_describe(check)->count; i++) {
      const gather_model_node *node = gather_check_at(check, i);
      if (node->name && *node->name) gather_cli_complete_word(line, line->value, node->name, node->op);
    }
  gather_check_destroy(check);
  gather_model_close(model);
}

static void complete_choice(const gather_cli_unfinished *line) {
  gather_cli_option_id id = (gather_cli_option_id)line->option;
  gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->value);
  const gather_cli_command *command = line->scatters ? gather_cli_command_at(GATHER_CLI_COMMAND_SCATTER) : line->command;
  for (int i = 0; gather_cli_choice(id, command, i); i++)
    gather_cli_complete_word(line, line->value, gather_cli_choice(id, command, i), "");
}

void gather_cli_complete_value(const gather_cli_unfinished *line) {
  const bool runs = line->command && line->command->id == GATHER_CLI_COMMAND_RUN;
  switch (line->option) {
    case GATHER_CLI_OUTPUT:
      if (runs)
        complete_pair(line, false);
      else
        gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_FILES, line->value);
      return;
    case GATHER_CLI_INPUT:
      complete_pair(line, true);
      return;
    case GATHER_CLI_PART:
    case GATHER_CLI_ORDER:
    case GATHER_CLI_SEGMENT_IDS:
    case GATHER_CLI_WEIGHTS:
      gather_cli_complete_tensor(line, line->value);
      return;
    case GATHER_CLI_TENSOR:
      complete_name(line, 0);
      return;
    case GATHER_CLI_I_TENSOR:
      complete_name(line, 1);
      return;
    case GATHER_CLI_TEST_DATA:
      gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_FOLDERS, line->value);
      return;
    case GATHER_CLI_NODE:
      complete_node(line);
      return;
    default:
      complete_choice(line);
  }
}
