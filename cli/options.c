/* SPDX-License-Identifier: MIT
 *
 * options.c: the tables of options and commands, and the options that were given.
 */
#include <string.h>

#include "args.h"
#include "fail.h"
#include "gather/remote.h"

#define BIT(command) (1u << GATHER_CLI_COMMAND_##command)
enum {
  ON_GATHER = BIT(TAKE) | BIT(ELEMENTS) | BIT(ND),
  ON_INFO = BIT(INFO),
  ON_CHECK = BIT(CHECK),
  ON_RUN = BIT(RUN),
  ON_EXPLAIN = BIT(EXPLAIN),
  ON_DRAW = ON_GATHER | ON_EXPLAIN,
  ON_AXIS = BIT(TAKE) | BIT(ELEMENTS) | ON_EXPLAIN,
  ON_TREE = BIT(TREE),
  ON_PUT = BIT(SCATTER) | BIT(BAG),
  ON_WRITE = ON_GATHER | ON_PUT | ON_TREE | ON_RUN,
  ON_BENCH = BIT(BENCH),
  ON_SHUFFLE = BIT(SHUFFLE),
  ON_ROWS = BIT(TAKE) | BIT(ND),
  ON_TABLE = ON_ROWS | ON_SHUFFLE | ON_BENCH,
  ON_GAP = ON_ROWS | ON_BENCH,
  ON_URL = ON_DRAW | ON_PUT | ON_INFO | ON_BENCH | ON_TREE | ON_CHECK | ON_RUN,
  ON_READ = ON_DRAW | ON_PUT | ON_SHUFFLE | ON_INFO | ON_BENCH,
  ON_ANY = ON_READ | ON_TREE | ON_CHECK | ON_RUN | BIT(OPS) | BIT(COMPLETION) | BIT(HELP)
};

static const gather_cli_option OPTIONS[] = {
#define GATHER_CLI_OPTION(ENUM, letter, name, value, commands, help) {name, value, help, commands, letter},
#include "options.def"
#undef GATHER_CLI_OPTION
};

static const gather_cli_command COMMANDS[] = {
#define GATHER_CLI_COMMAND(ENUM, name, function, least, most, arguments, help) \
  {name, arguments, help, GATHER_CLI_COMMAND_##ENUM, least, most},
#include "commands.def"
#undef GATHER_CLI_COMMAND
};

const gather_cli_option *gather_cli_option_at(gather_cli_option_id id) { return &OPTIONS[id]; }
const gather_cli_command *gather_cli_command_at(gather_cli_command_id id) { return &COMMANDS[id]; }

const gather_cli_command *gather_cli_command_find(const char *name) {
  for (int i = 0; i < GATHER_CLI_COMMAND_COUNT; i++)
    if (strcmp(COMMANDS[i].name, name) == 0) return &COMMANDS[i];
  return NULL;
}

const char *gather_cli_value_at(const gather_cli_args *args, gather_cli_option_id id, int i) {
  for (int k = 0; k < args->given_count; k++)
    if (args->given[k].id == id && i-- == 0) return args->given[k].value;
  return NULL;
}

gather_status gather_cli_pair(const char *text, gather_cli_option_id id, size_t *name_bytes, const char **value, gather_error *error) {
  const char *equals = gather_remote_is_url(text) ? NULL : strchr(text, '='); /* that of a query is none */
  if (!equals || equals == text)
    return gather_cli_fail(error, GATHER_USAGE, "--%s takes %s, not '%s'", OPTIONS[id].name, OPTIONS[id].value, text);
  *name_bytes = (size_t)(equals - text);
  *value = equals + 1;
  return GATHER_OK;
}
