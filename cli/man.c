/* SPDX-License-Identifier: MIT
 *
 * man.c: the help as a manual page in roff, for man(1).
 */
#include <string.h>

#include "help.h"

/* Escapes a text, so that roff sees no request, escape or typographic minus. */
static void put(FILE *to, const char *text, size_t len) {
  if (len && (*text == '.' || *text == '\'')) fputs("\\&", to);
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\\')
      fputs("\\e", to);
    else if (text[i] == '-')
      fputs("\\-", to);
    else
      fputc(text[i], to);
  }
}

static void put_all(FILE *to, const char *text) { put(to, text, strlen(text)); }

/* Paragraphs, and verbatim lines. */
static void body(FILE *to, const char *text) {
  bool verbatim = false;
  for (const char *p = text; *p;) {
    size_t len = strcspn(p, "\n");
    bool is_verbatim = strncmp(p, "  ", 2) == 0;
    if (is_verbatim && !verbatim) fputs(".PP\n.nf\n", to);
    if (!is_verbatim && verbatim) fputs(".fi\n", to);
    verbatim = is_verbatim;
    if (len == 0)
      fputs(".PP\n", to);
    else
      put(to, p, len), fputc('\n', to);
    p += len + (p[len] == '\n');
  }
  if (verbatim) fputs(".fi\n", to);
}

static void heading(FILE *to, const char *title) {
  fputs(".SH ", to);
  for (; *title; title++) fputc(*title >= 'a' && *title <= 'z' ? *title - 'a' + 'A' : *title, to);
  fputc('\n', to);
}

static void man_option(FILE *to, const gather_cli_option *option) {
  fputs(".TP\n.B ", to);
  if (option->letter) fprintf(to, "\\-%c, ", option->letter);
  fputs("\\-\\-", to);
  put_all(to, option->name);
  if (option->value) fprintf(to, " %s", option->value);
  fputc('\n', to);
  put_all(to, option->help);
  fputc('\n', to);
}

static void man_commands(FILE *to) {
  heading(to, "Commands");
  for (int i = 0; i < GATHER_CLI_COMMAND_COUNT; i++) {
    const gather_cli_command *command = gather_cli_command_at((gather_cli_command_id)i);
    fprintf(to, ".TP\n.B %s\n", command->name);
    put_all(to, command->help);
    fputc('\n', to);
  }
}

static void head(FILE *to, const gather_cli_command *command) {
  const char *dash = command ? "\\-" : "", *name = command ? command->name : "";
  fputs(".TH GATHER", to);
  if (command) fputs("\\-", to);
  for (; *name; name++) fputc(*name - 'a' + 'A', to);
  fprintf(to, " 1 \"\" \"gather %s\" \"gather\"\n.SH NAME\ngather%s%s \\- ", gather_version(), dash, command ? command->name : "");
  put_all(to, command ? command->help : "gather rows or elements of tensors by index");
  fputs("\n.SH SYNOPSIS\n.B gather ", to);
  if (command) {
    fprintf(to, "%s ", command->name);
    put_all(to, command->arguments);
    fputs(*command->arguments ? " [options]\n" : "[options]\n", to);
  } else {
    fputs("COMMAND [arguments] [options]\n", to);
  }
}

void gather_cli_help_man(FILE *to, const gather_cli_command *command) {
  head(to, command);
  if (!command) man_commands(to);
  for (size_t i = 0; gather_cli_section_at(i); i++) {
    const gather_cli_section *section = gather_cli_section_at(i);
    bool topic = !command && section->command <= GATHER_CLI_HELP_EXAMPLES;
    if (!topic && !gather_cli_section_is_for(section, command)) continue;
    heading(to, section->title);
    body(to, section->text);
  }
  heading(to, "Options");
  for (int id = 0; id < GATHER_CLI_OPTION_COUNT; id++) {
    const gather_cli_option *option = gather_cli_option_at((gather_cli_option_id)id);
    if (gather_cli_option_is_for(option, command)) man_option(to, option);
  }
}
