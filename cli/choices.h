/* SPDX-License-Identifier: MIT
 *
 * choices.h: the fixed values of options: for messages about a typo and for shell completion.
 */
#ifndef GATHER_CLI_CHOICES_H
#define GATHER_CLI_CHOICES_H

#include "args.h"

/* A value of --on-bad. */
typedef struct gather_cli_policy {
  const char *name; /* as in JSON */
  const char *also; /* Python's name for it, also accepted; or NULL */
  gather_on_bad on_bad;
  bool reads, writes; /* whether commands that gather have it, and those that write by index */
} gather_cli_policy;

/* Policy number i, NULL after the last. fill=V is not among them. */
const gather_cli_policy *gather_cli_policy_at(int i);

/* Whether a command writes by index (`scatter`), or sums rows; false for NULL. */
bool gather_cli_command_writes(const gather_cli_command *command);

/* The command whose rules and policies hold: explain is like take, with --elements like elements, with --nd like nd, with --scatter like
 * scatter; others are what they are. */
const gather_cli_command *gather_cli_rules_command(const gather_cli_args *args);

/* The family that a command runs: that of Gather for `take`, of GatherElements for `elements`, of GatherND for `nd`; 0: none. */
gather_family gather_cli_command_family(const gather_cli_command *command);

/* Whether an operator version is one of those that --rules of a command names. command: NULL = any. */
bool gather_cli_command_has(const gather_cli_command *command, const gather_op *op);

/* Value number i of an option with a fixed set of values, NULL after the last; NULL for i = 0 if it has none. command: NULL =
 * any; --rules depend on it. */
const char *gather_cli_choice(gather_cli_option_id id, const gather_cli_command *command, int i);

/* "; did you mean 'clamp'?" for an invalid value, "" if nothing is near. Returns text. */
char *gather_cli_choice_hint(gather_cli_option_id id, const gather_cli_command *command, const char *value, char *text, size_t bytes);

/* Sets the colour mode of --color. Returns GATHER_USAGE. */
GATHER_CHECKED gather_status gather_cli_colour_option(const gather_cli_args *args, gather_error *error);

#endif
