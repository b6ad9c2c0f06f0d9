/* SPDX-License-Identifier: MIT
 *
 * hint_line.c: hints about arguments and options that a command does not have.
 */
#include <string.h>

#include "hint.h"

static bool takes(const gather_cli_args *args, gather_cli_option_id id) {
  return (gather_cli_option_at(id)->commands >> args->command->id & 1) != 0;
}

/* Whether the shell split a literal at its blanks: the last argument begins a list and does not end it. */
static bool is_cut(const gather_cli_args *args) {
  const char *last = args->argument_count > 0 ? args->argument[args->argument_count - 1] : "";
  return last[0] == '[' && last[strlen(last) - 1] != ']';
}

void gather_cli_hint_extra(const gather_cli_args *args, const char *text, const gather_error *error) {
  const char *last = args->argument_count > 0 ? args->argument[args->argument_count - 1] : "";
  if (is_cut(args))
    (void)gather_cli_hint_set(error, "quote a literal that contains spaces: '[0, 2]'");
  else if (gather_cli_is_whole(text) && gather_cli_is_whole(last))
    (void)gather_cli_hint_set(error, "give several indices as one argument: '[%.40s, %.40s]'", last, text);
  else if (strchr(text, '=') && takes(args, GATHER_CLI_INPUT))
    (void)gather_cli_hint_set(error, "give the model a value with --input %.100s", text);
  else if (strchr(text, '.') && takes(args, GATHER_CLI_OUTPUT) && !args->value[GATHER_CLI_OUTPUT])
    (void)gather_cli_hint_set(error, "name the output with -o %.100s", args->command->id == GATHER_CLI_COMMAND_RUN ? "NAME=FILE" : text);
}

void gather_cli_hint_option(const gather_cli_args *args, gather_cli_option_id id, const gather_error *error) {
  /* Commands that read several tensors. */
  const gather_cli_command_id of = args->command->id;
  const bool many = of == GATHER_CLI_COMMAND_TREE || of == GATHER_CLI_COMMAND_RUN || of == GATHER_CLI_COMMAND_CHECK;
  if (many && (id == GATHER_CLI_TENSOR || id == GATHER_CLI_I_TENSOR))
    (void)gather_cli_hint_set(error,
                              "a tensor is named %sFILE:NAME; FILE ends at the first colon behind a file that exists, and "
                              "of a URL behind its extension",
                              of == GATHER_CLI_COMMAND_TREE ? "" : "--input INPUT=");
}
