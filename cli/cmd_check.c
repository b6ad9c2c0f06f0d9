/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c: `gather check`: every gather node of a model, and what is wrong with its indices.
 */
#include "commands.h"
#include "report.h"

int gather_cli_cmd_check(const gather_cli_args *args) {
  gather_error error;
  gather_cli_fail(&error, GATHER_UNSUPPORTED, "this version does not have the command 'check'");
  return gather_cli_report(args, &error);
}
