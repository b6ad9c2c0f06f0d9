/* SPDX-License-Identifier: MIT
 *
 * complete.h: completions of the last word of an unfinished command line, for shells. The scripts (complete_scripts.c) call
 * `gather __complete WORD...`: the words after the program's name, the last one unfinished.
 *
 * The answer's first line is KIND N: which names the shell adds (files, folders or none) and how many bytes of the last word come
 * before such a name. Each other line is a whole word, and after a tab its description.
 */
#ifndef GATHER_CLI_COMPLETE_H
#define GATHER_CLI_COMPLETE_H

#include "args.h"

#define GATHER_CLI_COMPLETE "__complete"

typedef enum gather_cli_complete_kind {
  GATHER_CLI_COMPLETE_NONE,
  GATHER_CLI_COMPLETE_FILES,
  GATHER_CLI_COMPLETE_FOLDERS
} gather_cli_complete_kind;

/* An unfinished line. */
typedef struct gather_cli_unfinished {
  const gather_cli_command *command; /* NULL: none yet */
  const char *argument[GATHER_CLI_MAX_ARGUMENTS];
  int argument_count; /* before the last word */
  const char *word;   /* the last one */
  int option;         /* the last word is its value; -1 = none */
  const char *value;  /* its value, within word */
  bool ended;         /* "--" comes before it */
  bool scatters;      /* --scatter does: the values are those of the command scatter */
} gather_cli_unfinished;

/* Answers on stdout; words: at least one. Returns the exit code. */
int gather_cli_complete(int count, char **words);

/* Prints the first line. at: where in the word a name begins. */
void gather_cli_complete_begin(const gather_cli_unfinished *line, gather_cli_complete_kind kind, const char *at);
/* Prints a word if it continues the unfinished one: the unfinished one up to `at`, then text. what: its description, or "". */
void gather_cli_complete_word(const gather_cli_unfinished *line, const char *at, const char *text, const char *what);

/* The value of line->option. */
void gather_cli_complete_value(const gather_cli_unfinished *line);
/* Names of files that begin at `at` in the word, and the tensors of FILE: if that is typed already. */
void gather_cli_complete_tensor(const gather_cli_unfinished *line, const char *at);

/* The script of a shell; NULL if there is none. */
const char *gather_cli_complete_script(const char *shell);

#endif
