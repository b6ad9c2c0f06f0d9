/* SPDX-License-Identifier: MIT
 *
 * commands.h: one function per command. Each answers on stdout or reports its failure, and returns the exit code.
 */
#ifndef GATHER_CLI_COMMANDS_H
#define GATHER_CLI_COMMANDS_H

#include "args.h"

int gather_cli_cmd_take(const gather_cli_args *args); /* take, elements and nd */
int gather_cli_cmd_tree(const gather_cli_args *args);
int gather_cli_cmd_scatter(const gather_cli_args *args);
int gather_cli_cmd_bag(const gather_cli_args *args);
int gather_cli_cmd_shuffle(const gather_cli_args *args);
int gather_cli_cmd_check(const gather_cli_args *args);
int gather_cli_cmd_run(const gather_cli_args *args);
int gather_cli_cmd_explain(const gather_cli_args *args);
int gather_cli_cmd_info(const gather_cli_args *args);
int gather_cli_cmd_bench(const gather_cli_args *args);
int gather_cli_cmd_ops(const gather_cli_args *args);
int gather_cli_cmd_completion(const gather_cli_args *args);
int gather_cli_cmd_help(const gather_cli_args *args);
/* The same for NAME: a command, or "" for all. */
int gather_cli_show_help(const gather_cli_args *args, const char *name);
/* gather --version */
int gather_cli_cmd_version(const gather_cli_args *args);

#endif
