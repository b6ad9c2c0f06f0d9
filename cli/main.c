/* SPDX-License-Identifier: MIT
 *
 * main.c: the command `gather`. No locale is ever set: numbers are read and written the same way everywhere.
 */
#include <string.h>

#include "begin.h"
#include "choices.h"
#include "commands.h"
#include "complete.h"
#include "remote_arg.h"
#include "report.h"
#include "signals.h"
#include "source.h"

/* By command number. */
static int (*const FUNCTIONS[])(const gather_cli_args *args) = {
#define GATHER_CLI_COMMAND(ENUM, name, function, least, most, arguments, help) function,
#include "commands.def"
#undef GATHER_CLI_COMMAND
};

/* `gather` without arguments shows the help, like `gather --help`. */
static int run(const gather_cli_args *args) {
  const gather_cli_command *command = args->command;
  bool help = args->value[GATHER_CLI_HELP] || args->value[GATHER_CLI_MAN];
  if (args->value[GATHER_CLI_VERSION]) return gather_cli_cmd_version(args);
  if (!command) return gather_cli_show_help(args, "");
  if (help && command->id != GATHER_CLI_COMMAND_HELP) return gather_cli_show_help(args, command->name);
  return FUNCTIONS[command->id](args);
}

int main(int argc, char **argv) {
  gather_cli_args args;
  gather_error error;
  gather_cli_begin(&argc, &argv);
  if (argc > 2 && strcmp(argv[1], GATHER_CLI_COMPLETE) == 0) return gather_cli_complete(argc - 2, argv + 2);
  gather_status status = gather_cli_parse(argc, argv, &args, &error);
  if (status == GATHER_OK) status = gather_cli_colour_option(&args, &error);
  if (status == GATHER_OK) status = gather_cli_tune(&error);
  if (status == GATHER_OK) status = gather_cli_remote_start(&args, &error);
  gather_cli_signals_start(&args);
  gather_cli_links_start(&args);
  int code = status == GATHER_OK ? run(&args) : gather_cli_report(&args, &error);
  gather_cli_args_clear(&args);
  return gather_cli_finish(code);
}
