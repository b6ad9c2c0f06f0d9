/* SPDX-License-Identifier: MIT
 *
 * help.h: the words of the help and of the man pages: one source for both.
 */
#ifndef GATHER_CLI_HELP_H
#define GATHER_CLI_HELP_H

#include <stdio.h>

#include "args.h"

/* A section of the help. Lines that begin with two blanks are verbatim; an empty line ends a paragraph. */
typedef struct gather_cli_section {
  int command; /* a gather_cli_command_id, or one of those below */
  const char *title;
  const char *text; /* NULL in the table: generated on demand */
} gather_cli_section;

enum {
  GATHER_CLI_HELP_MAIN = -1,   /* gather --help */
  GATHER_CLI_HELP_GATHER = -2, /* take, elements and nd */
  GATHER_CLI_HELP_FILES = -7,  /* these, scatter and bag */
  /* Topics, in the order of gather_cli_topic_at: gather help TOPIC. The manual page of gather contains all of them. */
  GATHER_CLI_HELP_EXAMPLES = -3,
  GATHER_CLI_HELP_EXIT_CODES = -4,
  GATHER_CLI_HELP_ENVIRONMENT = -5,
  GATHER_CLI_HELP_TUNING = -6,
  GATHER_CLI_TOPICS = 4
};

/* Section number i as written in help_words.c, NULL after the last; its text is NULL if it is generated. */
const gather_cli_section *gather_cli_section_written(size_t i);
/* Section number i, NULL after the last; the next call may overwrite what it points to. */
const gather_cli_section *gather_cli_section_at(size_t i);
/* The name of topic number i, NULL after the last. */
const char *gather_cli_topic_at(int i);
/* The section of a topic; NULL if there is none of that name. */
const gather_cli_section *gather_cli_topic_find(const char *name);
/* Whether a section belongs to the help of a command (NULL = gather --help). */
bool gather_cli_section_is_for(const gather_cli_section *section, const gather_cli_command *command);
/* The same for an option. */
bool gather_cli_option_is_for(const gather_cli_option *option, const gather_cli_command *command);

/* The whole help as text, or as a manual page. */
void gather_cli_help_text(FILE *to, const gather_cli_command *command);
void gather_cli_help_man(FILE *to, const gather_cli_command *command);

#endif
