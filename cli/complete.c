/* SPDX-License-Identifier: MIT
 *
 * complete.c: `gather __complete`: commands, options and arguments, from the tables that the parser and the help read. An unfinished
 * line is not parsed as a command line: mistakes are ignored.
 */
#include "complete.h"

#include <stdio.h>
#include <string.h>

#include "choices.h"
#include "commands.h"
#include "help.h"
#include "json.h"
#include "report.h"

static const char *const SHELLS[] = {"bash", "zsh", "fish"};
enum { SHELL_COUNT = sizeof SHELLS / sizeof *SHELLS };

/* ---- reading the line */

static int long_id(const char *text, const char **value) {
  const char *equals = strchr(text, '=');
  size_t len = equals ? (size_t)(equals - text) - 2 : strlen(text) - 2;
  *value = equals ? equals + 1 : NULL;
  for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++) {
    const gather_cli_option *option = gather_cli_option_at((gather_cli_option_id)id);
    if (strncmp(option->name, text + 2, len) == 0 && option->name[len] == 0) return option->value ? id : -1;
  }
  return -1;
}

/* -o OUT, -qo OUT, -oOUT: *value is NULL if the value is the next word. */
static int letters_id(const char *text, const char **value) {
  for (const char *p = text + 1; *p; p++)
    for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++) {
      const gather_cli_option *option = gather_cli_option_at((gather_cli_option_id)id);
      if (!option->letter || option->letter != *p || !option->value) continue;
      *value = p[1] ? p + 1 + (p[1] == '=') : NULL;
      return id;
    }
  return -1;
}

static bool is_option(const gather_cli_unfinished *line, const char *word) {
  return !line->ended && word[0] == '-' && word[1] != 0 && !gather_cli_is_whole(word);
}

/* Reads a finished word. */
static void take_word(gather_cli_unfinished *line, const char *word) {
  const char *value = NULL;
  if (line->option >= 0) {
    line->option = -1;
  } else if (is_option(line, word)) {
    if (strcmp(word, "--") == 0) line->ended = true;
    if (strcmp(word, "--scatter") == 0) line->scatters = true;
    if (strcmp(word, "--") != 0) line->option = word[1] == '-' ? long_id(word, &value) : letters_id(word, &value);
    if (value) line->option = -1;
  } else if (!line->command) {
    line->command = gather_cli_command_find(word);
  } else if (line->argument_count < GATHER_CLI_MAX_ARGUMENTS) {
    line->argument[line->argument_count++] = word;
  }
}

/* Whether the last word is an option with its value: --rules=on, -oOU. */
static void find_value(gather_cli_unfinished *line) {
  line->value = line->word;
  if (line->option >= 0 || !is_option(line, line->word)) return;
  const char *value = NULL;
  int id = line->word[1] == '-' ? long_id(line->word, &value) : letters_id(line->word, &value);
  if (!value) return;
  line->option = id;
  line->value = value;
}

/* ---- answers */

/* The first words of a help text: up to a bracket, a colon or a semicolon, and at most a line. */
static void say_option(const gather_cli_unfinished *line, const gather_cli_option *option) {
  char name[64], what[72];
  size_t len = strcspn(option->help, "(;:");
  if (len >= sizeof what)
    for (len = sizeof what - 1; len > 0 && option->help[len] != ' ';) len--;
  while (len > 0 && option->help[len - 1] == ' ') len--;
  (void)snprintf(name, sizeof name, "--%s", option->name);
  (void)snprintf(what, sizeof what, "%.*s", (int)len, option->help);
  gather_cli_complete_word(line, line->word, name, what);
}

static void complete_option(const gather_cli_unfinished *line) {
  gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->word);
  for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++) {
    const gather_cli_option *option = gather_cli_option_at((gather_cli_option_id)id);
    if (gather_cli_option_is_for(option, line->command)) say_option(line, option);
  }
}

static void complete_command(const gather_cli_unfinished *line, bool topics) {
  gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->word);
  for (int i = 0; i < GATHER_CLI_COMMAND_COUNT; i++) {
    const gather_cli_command *command = gather_cli_command_at((gather_cli_command_id)i);
    gather_cli_complete_word(line, line->word, command->name, command->help);
  }
  for (int i = 0; topics && gather_cli_topic_at(i); i++) gather_cli_complete_word(line, line->word, gather_cli_topic_at(i), "topic");
}

static void complete_argument(const gather_cli_unfinished *line) {
  if (line->argument_count >= line->command->most) {
    gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->word);
    return;
  }
  switch (line->command->id) {
    case GATHER_CLI_COMMAND_HELP:
      complete_command(line, true);
      return;
    case GATHER_CLI_COMMAND_COMPLETION:
      gather_cli_complete_begin(line, GATHER_CLI_COMPLETE_NONE, line->word);
      for (int i = 0; i < SHELL_COUNT; i++) gather_cli_complete_word(line, line->word, SHELLS[i], "");
      return;
    default:
      gather_cli_complete_tensor(line, line->word);
  }
}

int gather_cli_complete(int count, char **words) {
  gather_cli_unfinished line = {.word = words[count - 1], .option = -1};
  for (int i = 0; i + 1 < count; i++) take_word(&line, words[i]);
  find_value(&line);
  if (line.option >= 0)
    gather_cli_complete_value(&line);
  else if (!line.ended && line.word[0] == '-' && !gather_cli_is_whole(line.word))
    complete_option(&line);
  else if (!line.command)
    complete_command(&line, false);
  else
    complete_argument(&line);
  return gather_cli_finish(0);
}

int gather_cli_cmd_completion(const gather_cli_args *args) {
  const char *script = gather_cli_complete_script(args->argument[0]);
  gather_error error;
  if (!script) {
    (void)gather_cli_fail(&error, GATHER_USAGE, "no completion for '%.40s'; supported are bash, zsh and fish", args->argument[0]);
    return gather_cli_report(args, &error);
  }
  if (args->value[GATHER_CLI_JSON]) {
    gather_cli_json json = gather_cli_json_begin(stdout);
    gather_cli_json_string(&json, "command", "completion");
    gather_cli_json_string(&json, "shell", args->argument[0]);
    gather_cli_json_string(&json, "script", script);
    gather_cli_json_finish(&json);
  } else {
    fputs(script, stdout);
  }
  return 0;
}
