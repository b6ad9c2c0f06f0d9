/* SPDX-License-Identifier: MIT
 *
 * help_made.c: the sections of the help that are generated from the library's tables, and which command each section belongs to.
 */
#include <stdio.h>
#include <string.h>

#include "choices.h"
#include "gather/scatter.h"
#include "help.h"

static const char *off_axis_words(const gather_op *op) {
  switch (op->off_axis) {
    case GATHER_OFF_AXIS_EQUAL:
      return "; INDICES = DATA off the axis";
    case GATHER_OFF_AXIS_AT_MOST:
      return "; INDICES <= DATA off the axis";
    default:
      return "";
  }
}

/* The rules of one family, from the library's table, so that a new row needs no text here. */
static const char *rules_words(gather_family family) {
  static char text[2048];
  size_t at = 0;
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    if (op->family != family || at >= sizeof text / 2) continue;
    if (strcmp(op->name, gather_family_get(family)->name) != 0) continue; /* it does more than its family */
    at += (size_t)snprintf(text + at, sizeof text - at, "  %-11s negative %s, out of range %s%s%s%s\n", op->rules,
                           op->negative ? "on" : "off", op->on_bad == GATHER_ON_BAD_ZERO ? "gives zero" : "is an error",
                           op->batch_dims ? "; has batch_dims" : "", op->fused_batch ? ", fused" : "", off_axis_words(op));
  }
  (void)snprintf(text + at, sizeof text - at,
                 "\nThe default is onnx-13. Every operator version accepts every element type;\n"
                 "gather ops shows what each document lists.\n");
  return text;
}

/* The rules of a command that writes: the operator of each, and its reductions. */
static const char *rules_of_command(const gather_cli_command *command) {
  static char text[2560];
  size_t at = 0;
  for (size_t i = 0; gather_op_at(i) && at < sizeof text / 2; i++) {
    const gather_op *op = gather_op_at(i);
    if (!gather_cli_command_has(command, op)) continue;
    at += (size_t)snprintf(text + at, sizeof text - at, "  %-11s %-22s", op->rules, op->name);
    for (int r = 0; gather_reduction_name((gather_reduction)r); r++)
      if (gather_scatter_op_reduces(op, (gather_reduction)r))
        at += (size_t)snprintf(text + at, sizeof text - at, " %s", gather_reduction_name((gather_reduction)r));
    at += (size_t)snprintf(text + at, sizeof text - at, "\n");
  }
  (void)snprintf(text + at, sizeof text - at,
                 "\nWithout --rules, no document applies, and all reductions are supported. gather\n"
                 "ops shows how each treats negative indices, and which types its document lists.\n");
  return text;
}

/* The names of the library's table, in lines of at most 80 columns. */
static const char *tuning_words(void) {
  static char text[2048];
  size_t at = 0, column = 0;
  at += (size_t)snprintf(text, sizeof text,
                         "The environment variable GATHER_TUNING is a comma-separated list of name=N,\n"
                         "such as isa=0,variant=2. These tuning parameters decide how a gather runs,\n"
                         "never its result. isa limits the instruction set (0 = plain C), variant selects\n"
                         "a variant. All names with their defaults:\n"
                         "\n");
  for (int32_t i = 0; gather_tuning_at(i) && at < sizeof text / 2; i++) {
    const gather_tuning *number = gather_tuning_at(i);
    char item[80];
    int wide = snprintf(item, sizeof item, " %s=%lld", number->name, (long long)number->initial);
    const char *before = column == 0 ? " " : column + (size_t)wide > 78 ? "\n " : "";
    column = *before ? 1 + (size_t)wide : column + (size_t)wide;
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", before, item);
  }
  (void)snprintf(text + at, sizeof text - at, "\n");
  return text;
}

const gather_cli_section *gather_cli_section_at(size_t i) {
  static gather_cli_section made;
  const gather_cli_section *written = gather_cli_section_written(i);
  if (!written || written->text) return written;
  made = *written;
  if (made.command == GATHER_CLI_HELP_TUNING)
    made.text = tuning_words();
  else if (gather_cli_command_writes(gather_cli_command_at((gather_cli_command_id)made.command)))
    made.text = rules_of_command(gather_cli_command_at((gather_cli_command_id)made.command));
  else
    made.text = rules_words(gather_cli_command_family(gather_cli_command_at((gather_cli_command_id)made.command)));
  return &made;
}

const char *gather_cli_topic_at(int i) {
  static const char *const TOPICS[] = {"examples", "exit-codes", "environment", "tuning"};
  return i < GATHER_CLI_TOPICS ? TOPICS[i] : NULL;
}

const gather_cli_section *gather_cli_topic_find(const char *name) {
  for (int topic = 0; topic < GATHER_CLI_TOPICS; topic++) {
    if (strcmp(gather_cli_topic_at(topic), name) != 0) continue;
    for (size_t i = 0; gather_cli_section_at(i); i++)
      if (gather_cli_section_at(i)->command == GATHER_CLI_HELP_EXAMPLES - topic) return gather_cli_section_at(i);
  }
  return NULL;
}

bool gather_cli_section_is_for(const gather_cli_section *section, const gather_cli_command *command) {
  if (!command) return section->command == GATHER_CLI_HELP_MAIN;
  const bool gathers = gather_cli_command_family(command) != 0;
  if (section->command == GATHER_CLI_HELP_GATHER) return gathers;
  if (section->command == GATHER_CLI_HELP_FILES) return gathers || gather_cli_command_writes(command);
  return section->command == (int)command->id;
}

bool gather_cli_option_is_for(const gather_cli_option *option, const gather_cli_command *command) {
  if (command) return option->commands >> command->id & 1;
  return (option->commands >> GATHER_CLI_COMMAND_OPS & 1) != 0; /* options of the smallest command: every command has them */
}
