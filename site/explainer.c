/* SPDX-License-Identifier: MIT
 *
 * explainer.c: the part of the command `gather` that a web page runs: `gather explain` and `gather ops`. The page gives a command line and
 * receives what the command writes, so that pictures and messages cannot differ from the command's. There is no terminal, no
 * network and no signal, and the only files are those of an empty file system in memory.
 */
#include "choices.h"
#include "commands.h"
#include "report.h"

static int run(const gather_cli_args *args) {
  gather_error error;
  const gather_cli_command *command = args->command;
  if (command && command->id == GATHER_CLI_COMMAND_EXPLAIN) return gather_cli_cmd_explain(args);
  if (command && command->id == GATHER_CLI_COMMAND_OPS) return gather_cli_cmd_ops(args);
  (void)gather_cli_fail(&error, GATHER_USAGE, "only explain and ops are part of this page");
  return gather_cli_report(args, &error);
}

int main(int argc, char **argv) {
  gather_cli_args args;
  gather_error error;
  gather_status status = gather_cli_parse(argc, argv, &args, &error);
  int code = status == GATHER_OK ? run(&args) : gather_cli_report(&args, &error);
  gather_cli_args_clear(&args);
  return gather_cli_finish(code);
}
