/* SPDX-License-Identifier: MIT
 *
 * names.c: unknown names of commands and options, and the names that were probably meant.
 */
#include <string.h>

#include "args.h"
#include "help.h"
#include "report.h"

/* If the command is known, only its own options. */
static const char *option_name(const void *command, int i) {
  const gather_cli_command *of = command;
  const gather_cli_option *option = gather_cli_option_at((gather_cli_option_id)i);
  return !of || (option->commands >> of->id & 1) ? option->name : NULL;
}

/* Commands, then the topics of the help if requested. */
static const char *command_name(const void *context, int i) {
  (void)context;
  return i < GATHER_CLI_COMMAND_COUNT ? gather_cli_command_at((gather_cli_command_id)i)->name
                                      : gather_cli_topic_at(i - GATHER_CLI_COMMAND_COUNT);
}

/* Our name for another program's option; or NULL. */
static const char *other_name(const char *name) {
  static const char *const OTHERS[][2] = {
      {"mode", "on-bad"},     {"fill", "on-bad"},   {"fill-value", "on-bad"}, {"dtype", "type"}, {"decode", "as"},
      {"decode-as", "as"},    {"dequantize", "as"}, {"dequantise", "as"},     {"cast", "as"},    {"indices-dtype", "indices-type"},
      {"overwrite", "force"}, {"colour", "color"},  {"o", "output"}};
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
    if (strcmp(OTHERS[i][0], name) == 0) return OTHERS[i][1];
  return NULL;
}

const char *gather_cli_nearest_option(const char *name, const gather_cli_command *command) {
  const char *other = other_name(name);
  for (int i = 0; other && i < GATHER_CLI_OPTION_COUNT; i++) {
    const char *known = option_name(command, i);
    if (known && strcmp(known, other) == 0) return known;
  }
  return gather_cli_nearest(name, GATHER_CLI_OPTION_COUNT, option_name, command);
}

gather_status gather_cli_no_command(const char *name, bool topics, gather_error *error) {
  const int names = GATHER_CLI_COMMAND_COUNT + (topics ? GATHER_CLI_TOPICS : 0);
  const char *nearest = gather_cli_nearest(name, names, command_name, NULL);
  const char *option = gather_cli_nearest(name, GATHER_CLI_OPTION_COUNT, option_name, NULL);
  if (nearest) return gather_cli_fail(error, GATHER_USAGE, "no such command '%.200s'; did you mean '%s'?", name, nearest);
  if (option && strcmp(option, name) == 0)
    return gather_cli_fail(error, GATHER_USAGE, "no such command '%s'; did you mean --%s?", name, option);
  (void)gather_cli_fail(error, GATHER_USAGE, "no such command '%.200s'", name);
  if (!strpbrk(name, "./")) return GATHER_USAGE;
  return gather_cli_hint_set(error, "the command comes first: gather info FILE, gather take DATA INDICES -o OUT");
}
