/* SPDX-License-Identifier: MIT
 *
 * args.c: the command line as a structure: `--name value`, `--name=value`, `-o value`, `-ovalue`, `--` ends the
 * options, and a word that begins with a minus and a digit is an argument. Options may come before, between and after the
 * arguments.
 */
#include "args.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "hint.h"
#include "literal.h"

static const gather_cli_option *option(int id) { return gather_cli_option_at((gather_cli_option_id)id); }

/* The state of the parser. */
typedef struct reader {
  int argc;
  char **argv;
  int next;     /* the argument to read next */
  bool no_more; /* "--" was read */
  gather_cli_args *args;
  gather_error *error; /* the first mistake */
  gather_status status;
} reader;

/* Records a mistake; only the first one is reported. */
#define MISTAKE(r, ...)                                                                                 \
  do {                                                                                                  \
    if ((r)->status == GATHER_OK) (r)->status = gather_cli_fail((r)->error, GATHER_USAGE, __VA_ARGS__); \
  } while (0)

/* Whether an option may be repeated. */
static bool repeats(const reader *r, int id) {
  bool run = r->args->command && r->args->command->id == GATHER_CLI_COMMAND_RUN;
  return id == GATHER_CLI_INPUT || id == GATHER_CLI_DIM || id == GATHER_CLI_PART || (run && id == GATHER_CLI_OUTPUT);
}

static void set(reader *r, int id, const char *value) {
  if (option(id)->value && r->args->given) r->args->given[r->args->given_count++] = (gather_cli_given){(gather_cli_option_id)id, value};
  if (r->args->value[id] && !repeats(r, id))
    MISTAKE(r, "--%s is given twice", option(id)->name);
  else
    r->args->value[id] = value;
}

/* The value of option `id` in the next argument. A word that begins with two dashes is the next option: a file of
 * such a name needs an equals sign. */
static void take_next(reader *r, int id) {
  if (r->next < r->argc && strncmp(r->argv[r->next], "--", 2) != 0)
    set(r, id, r->argv[r->next++]);
  else
    MISTAKE(r, "--%s needs a value: --%s %s", option(id)->name, option(id)->name, option(id)->value);
}

static void unknown_option(reader *r, const char *text, const char *name) {
  const char *nearest = gather_cli_nearest_option(name, r->args->command);
  if (nearest)
    MISTAKE(r, "no such option %s; did you mean --%s?", text, nearest);
  else
    MISTAKE(r, "no such option %s", text);
}

static void read_long(reader *r, const char *text) {
  char name[32] = "";
  const char *equals = strchr(text, '=');
  size_t len = equals ? (size_t)(equals - text) : strlen(text);
  if (len - 2 < sizeof name) memcpy(name, text + 2, len - 2);
  for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++) {
    if (strcmp(option(id)->name, name) != 0) continue;
    if (!option(id)->value && equals)
      MISTAKE(r, "--%s takes no value", name);
    else if (!option(id)->value)
      set(r, id, "");
    else if (equals)
      set(r, id, equals + 1);
    else
      take_next(r, id);
    return;
  }
  unknown_option(r, text, name);
}

static int letter_id(char letter) {
  for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++)
    if (option(id)->letter && option(id)->letter == letter) return id;
  return -1;
}

/* -q, -qf, -oOUT, -o OUT */
static void read_letters(reader *r, const char *text) {
  for (const char *p = text + 1; *p; p++) {
    int id = letter_id(*p);
    if (id < 0) {
      unknown_option(r, text, text + 1);
      return;
    }
    if (option(id)->value) {
      if (p[1])
        set(r, id, p + 1 + (p[1] == '=')); /* -o=OUT means --output=OUT */
      else
        take_next(r, id);
      return;
    }
    set(r, id, "");
  }
}

/* The first argument is the command. Arguments of an unknown command are ignored. */
static void read_argument(reader *r, const char *text) {
  gather_cli_args *args = r->args;
  if (!*args->name && !args->command) {
    args->name = text;
    args->command = gather_cli_command_find(text);
    if (!args->command && r->status == GATHER_OK) r->status = gather_cli_no_command(text, false, r->error);
  } else if (args->command && args->argument_count < args->command->most) {
    args->argument[args->argument_count++] = text;
  } else {
    bool first = r->status == GATHER_OK;
    MISTAKE(r, "one argument too many: '%.200s'", text);
    if (first && args->command) gather_cli_hint_extra(args, text, r->error);
  }
}

static void read_one(reader *r) {
  const char *text = r->argv[r->next++];
  bool option = !r->no_more && text[0] == '-' && text[1] != 0 && text[1] != ':' && !gather_cli_is_whole(text) && !gather_cli_is_slice(text);
  if (option && strcmp(text, "--") == 0)
    r->no_more = true;
  else if (option && text[1] == '-')
    read_long(r, text);
  else if (option)
    read_letters(r, text);
  else
    read_argument(r, text);
}

/* Checks that need the whole line. */
static void check_line(reader *r) {
  const gather_cli_args *args = r->args;
  const gather_cli_command *command = args->command;
  bool help = args->value[GATHER_CLI_HELP] || args->value[GATHER_CLI_MAN] || args->value[GATHER_CLI_VERSION];
  if (help) return;
  if (!command) {
    for (int id = 0; id < GATHER_CLI_OPTION_COUNT && !*args->name; id++)
      if (args->value[id] && !(option(id)->commands >> GATHER_CLI_COMMAND_HELP & 1))
        MISTAKE(r, "--%s without a command: gather COMMAND [arguments] [options]", option(id)->name);
    return;
  }
  for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++)
    if (args->value[id] && !(option(id)->commands >> command->id & 1)) {
      const bool first = r->status == GATHER_OK;
      MISTAKE(r, "gather %s has no option --%s", command->name, option(id)->name);
      if (first) gather_cli_hint_option(args, (gather_cli_option_id)id, r->error);
    }
  if (args->argument_count < command->least) MISTAKE(r, "too few arguments: gather %s %s", command->name, command->arguments);
}

gather_status gather_cli_parse(int argc, char **argv, gather_cli_args *args, gather_error *error) {
  *args = (gather_cli_args){.name = "", .given = calloc((size_t)argc + 1, sizeof *args->given)};
  reader r = {.argc = argc, .argv = argv, .next = 1, .args = args, .error = error, .status = GATHER_OK};
  /* The line is read anyway: --json decides how the error is reported. */
  if (!args->given) r.status = gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the command line");
  while (r.next < argc) read_one(&r);
  if (r.status == GATHER_OK) check_line(&r);
  return r.status;
}

void gather_cli_args_clear(gather_cli_args *args) {
  free(args->given);
  args->given = NULL;
  args->given_count = 0;
}
