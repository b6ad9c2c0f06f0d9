/* SPDX-License-Identifier: MIT
 *
 * complete_answer.c: the lines that `gather __complete` prints.
 */
#include <stdio.h>
#include <string.h>

#include "complete.h"

void gather_cli_complete_begin(const gather_cli_unfinished *line, gather_cli_complete_kind kind, const char *at) {
  static const char *const KINDS[] = {"none", "files", "folders"};
  printf("%s %zu\n", KINDS[kind], (size_t)(at - line->word));
}

/* A name with a control character could look like several lines, or change the terminal. */
static bool is_plain(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) return false;
  return true;
}

void gather_cli_complete_word(const gather_cli_unfinished *line, const char *at, const char *text, const char *what) {
  if (strncmp(text, at, strlen(at)) != 0 || !is_plain(text)) return;
  const bool told = *what && is_plain(what); /* it may come from a file, too */
  printf("%.*s%s%s%s\n", (int)(at - line->word), line->word, text, told ? "\t" : "", told ? what : "");
}
