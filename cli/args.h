/* SPDX-License-Identifier: MIT
 *
 * args.h: the command line as a structure. The tables are options.def and commands.def.
 */
#ifndef GATHER_CLI_ARGS_H
#define GATHER_CLI_ARGS_H

#include "gather/gather.h"

typedef enum gather_cli_option_id {
#define GATHER_CLI_OPTION(ENUM, letter, name, value, commands, help) GATHER_CLI_##ENUM,
#include "options.def"
#undef GATHER_CLI_OPTION
  GATHER_CLI_OPTION_COUNT
} gather_cli_option_id;

typedef enum gather_cli_command_id {
#define GATHER_CLI_COMMAND(ENUM, name, function, least, most, arguments, help) GATHER_CLI_COMMAND_##ENUM,
#include "commands.def"
#undef GATHER_CLI_COMMAND
  GATHER_CLI_COMMAND_COUNT
} gather_cli_command_id;

typedef struct gather_cli_option {
  const char *name;  /* without the dashes */
  const char *value; /* the name of its value; NULL = a flag */
  const char *help;
  unsigned commands; /* bit c is set if command number c takes it */
  char letter;       /* 0 = none */
} gather_cli_option;

enum { GATHER_CLI_MAX_ARGUMENTS = 4 };

struct gather_cli_command;

/* An option with its value, as given. */
typedef struct gather_cli_given {
  gather_cli_option_id id;
  const char *value;
} gather_cli_given;

/* A parsed command line. All strings are the caller's argv. */
typedef struct gather_cli_args {
  const struct gather_cli_command *command;   /* NULL: none was given, or an unknown one */
  const char *name;                           /* the command as typed; or "" */
  const char *value[GATHER_CLI_OPTION_COUNT]; /* NULL = not given; "" for a flag */
  const char *argument[GATHER_CLI_MAX_ARGUMENTS];
  int argument_count;
  gather_cli_given *given; /* every option with a value, in the line's order, with repetitions */
  int given_count;
} gather_cli_args;

typedef struct gather_cli_command {
  const char *name, *arguments, *help;
  gather_cli_command_id id;
  int least, most; /* number of arguments */
} gather_cli_command;

const gather_cli_option *gather_cli_option_at(gather_cli_option_id id);
const gather_cli_command *gather_cli_command_at(gather_cli_command_id id);
/* NULL if there is none of that name. */
const gather_cli_command *gather_cli_command_find(const char *name);

/* Fails with "no such command" (GATHER_USAGE). topics: also suggest topics of the help. */
gather_status gather_cli_no_command(const char *name, bool topics, gather_error *error);

/* Reads the command line. Reports the first mistake, but reads all of it, so that --json and -o work anywhere.
 * Returns GATHER_OK, GATHER_USAGE, or GATHER_UNSUPPORTED for a command that is not in this version. */
GATHER_CHECKED gather_status gather_cli_parse(int argc, char **argv, gather_cli_args *args, gather_error *error);

/* Frees the result of gather_cli_parse, also after a failure. */
void gather_cli_args_clear(gather_cli_args *args);

/* The value of occurrence number i of an option that may be repeated; NULL after the last. */
const char *gather_cli_value_at(const gather_cli_args *args, gather_cli_option_id id, int i);
/* Splits "NAME=VALUE" at the first equals sign: *value is the text after it, *name_bytes the length of the name. GATHER_USAGE
 * if there is no name or no equals sign. */
GATHER_CHECKED gather_status gather_cli_pair(const char *text, gather_cli_option_id id, size_t *name_bytes, const char **value,
                                             gather_error *error);

/* The value of a number option, `otherwise` if it was not given. GATHER_USAGE unless it is a decimal integer in
 * [least, most]. */
GATHER_CHECKED gather_status gather_cli_number(const gather_cli_args *args, gather_cli_option_id id, int64_t least, int64_t most,
                                               int64_t otherwise, int64_t *number, gather_error *error);

/* Whether `text` (to its end) is a decimal integer with an optional sign. */
bool gather_cli_is_whole(const char *text);
/* Reads a decimal integer at text; *end points after it. Returns false if there is none, or
 * (*too_big) if it does not fit; then *end points after the digits. */
bool gather_cli_whole(const char *text, const char **end, int64_t *number, bool *too_big);

/* Edit distance: insertions, deletions, changes and swaps of neighbours that turn a into b; ignores case. */
int gather_cli_distance(const char *a, const char *b);
/* The one of `count` names that is nearest to `name`, ignoring case; NULL if none is near. names: called with
 * context and 0 .. count-1; NULL answers are skipped. */
const char *gather_cli_nearest(const char *name, int count, const char *(*names)(const void *context, int i), const void *context);

/* The option that a name probably means: one of `command` (NULL: of any); NULL if none is near. */
const char *gather_cli_nearest_option(const char *name, const gather_cli_command *command);

/* Sets the tuning parameters that the environment variable GATHER_TUNING names. */
gather_status gather_cli_tune(gather_error *error);

#endif
