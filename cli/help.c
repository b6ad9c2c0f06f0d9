/* SPDX-License-Identifier: MIT
 *
 * help.c: the help as text, and the commands that show it.
 */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "memory_stream.h"
#include "report.h"

enum { INDENT = 26, WIDTH = 80 };

/* Prints the words of a text from column INDENT on; the line is at column `column`. */
static void wrapped(FILE *to, const char *text, int column) {
  while (*text) {
    int len = (int)strcspn(text, " ");
    if (column + len + 1 > WIDTH || column < 0) {
      fprintf(to, "\n%*s", INDENT, "");
      column = INDENT;
    }
    column += fprintf(to, "%s%.*s", column > INDENT ? " " : "", len, text);
    text += len;
    text += strspn(text, " ");
  }
  fputc('\n', to);
}

static void text_option(FILE *to, const gather_cli_option *option) {
  char name[64], letter[8] = "    ";
  if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
  snprintf(name, sizeof name, "%s--%s %s", letter, option->name, option->value ? option->value : "");
  int used = fprintf(to, "  %-*s", INDENT - 2, name);
  wrapped(to, option->help, used > INDENT ? -1 : INDENT);
}

static void text_commands(FILE *to) {
  fputs("\nCommands:\n", to);
  for (int i = 0; i < GATHER_CLI_COMMAND_COUNT; i++) {
    const gather_cli_command *command = gather_cli_command_at((gather_cli_command_id)i);
    fprintf(to, "  %-10s %s\n", command->name, command->help);
  }
}

/* One line. */
static void text_topics(FILE *to) {
  fputs("\nMore: gather help COMMAND; gather help ", to);
  for (int i = 0; gather_cli_topic_at(i); i++) fprintf(to, "%s%s", i ? "|" : "", gather_cli_topic_at(i));
  fputc('\n', to);
}

/* Bytes of the first argument of a usage line; one in brackets is whole. */
static int argument_len(const char *arguments) {
  int len = 0;
  for (int depth = 0; arguments[len] && (depth > 0 || arguments[len] != ' '); len++)
    depth += arguments[len] == '[' ? 1 : arguments[len] == ']' ? -1 : 0;
  return len;
}

/* Writes an argument of a usage line, on a new line if this one has no room. */
static void put_argument(FILE *to, const char *text, int len, int indent, int *column) {
  if (*column + 1 + len > WIDTH) *column = fprintf(to, "\n%*s", indent - 1, "") - 1;
  *column += fprintf(to, " %.*s", len, text);
}

static void text_usage(FILE *to, const char *name, const char *arguments) {
  int column = fprintf(to, "\nUsage: gather %s", name);
  const int indent = column - 1 < 20 ? column : 20;
  while (*arguments) {
    const int len = argument_len(arguments);
    put_argument(to, arguments, len, indent, &column);
    arguments += len;
    arguments += strspn(arguments, " ");
  }
  put_argument(to, "[options]", (int)strlen("[options]"), indent, &column);
  fputc('\n', to);
}

void gather_cli_help_text(FILE *to, const gather_cli_command *command) {
  if (command) {
    fprintf(to, "gather %s: %s\n", command->name, command->help);
    text_usage(to, command->name, command->arguments);
  } else {
    fputs("gather: gather rows or elements of tensors by index\n\nUsage: gather COMMAND [arguments] [options]\n", to);
    text_commands(to);
  }
  for (size_t i = 0; gather_cli_section_at(i); i++) {
    const gather_cli_section *section = gather_cli_section_at(i);
    if (gather_cli_section_is_for(section, command)) fprintf(to, "\n%s:\n%s", section->title, section->text);
  }
  fputs("\nOptions:\n", to);
  for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++) {
    const gather_cli_option *option = gather_cli_option_at((gather_cli_option_id)id);
    if (gather_cli_option_is_for(option, command) && (command || id != GATHER_CLI_MAN)) text_option(to, option);
  }
  if (!command) text_topics(to);
}

static void show_topic(FILE *to, const gather_cli_section *section) { fprintf(to, "%s:\n%s", section->title, section->text); }

/* topic: NULL = the help of command. The text is made in memory of a fixed size: a growing stream would silently drop text when out of
 * memory. */
static int show_json(const gather_cli_args *args, const gather_cli_command *command, const char *topic,
                     void (*render)(FILE *to, const gather_cli_command *command)) {
  static char text[1 << 16];
  gather_error error;
  FILE *memory = gather_cli_memory_open(text, sizeof text);
  if (memory && topic) show_topic(memory, gather_cli_topic_find(topic));
  if (memory && !topic) render(memory, command);
  if (!memory || !gather_cli_memory_close(memory, text, sizeof text)) {
    (void)gather_cli_fail(&error, GATHER_OUT_OF_MEMORY, "out of memory for the help");
    return gather_cli_report(args, &error);
  }
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "help");
  gather_cli_json_string(&json, "topic", topic ? topic : command ? command->name : NULL);
  gather_cli_json_string(&json, "text", text);
  gather_cli_json_finish(&json);
  return 0;
}

int gather_cli_show_help(const gather_cli_args *args, const char *name) {
  const gather_cli_command *command = *name ? gather_cli_command_find(name) : NULL;
  if (*name && !command) {
    gather_error error;
    (void)gather_cli_no_command(name, true, &error);
    return gather_cli_report(args, &error);
  }
  void (*render)(FILE * to, const gather_cli_command *command) = args->value[GATHER_CLI_MAN] ? gather_cli_help_man : gather_cli_help_text;
  if (args->value[GATHER_CLI_JSON]) return show_json(args, command, NULL, render);
  render(stdout, command);
  return 0;
}

int gather_cli_cmd_help(const gather_cli_args *args) {
  const char *name = args->argument_count ? args->argument[0] : "";
  const gather_cli_section *topic = gather_cli_topic_find(name);
  if (!topic) return gather_cli_show_help(args, name);
  if (args->value[GATHER_CLI_MAN]) return gather_cli_show_help(args, ""); /* the page with the topics */
  if (args->value[GATHER_CLI_JSON]) return show_json(args, NULL, name, NULL);
  show_topic(stdout, topic);
  return 0;
}
