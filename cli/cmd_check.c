/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c: `gather check`: every gather node of a model, and what is wrong with its indices.
 */
#include "check.h"

#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "model_given.h"
#include "report.h"
#include "source.h"
#include "terminal.h"
#include "wrap.h"

/* The state of a check. Starts as all zero. */
typedef struct check_call {
  gather_cli_model model;
  gather_check_options options;
  gather_check *check;
  gather_check_advice *advice;
  int64_t node; /* the only one that is shown and judged; -1: all */
} check_call;

/* Sets the number of the node of --node. */
static gather_status choose_node(const gather_cli_args *args, check_call *c, gather_error *error) {
  const gather_model_node *node;
  c->node = -1;
  if (!args->value[GATHER_CLI_NODE]) return GATHER_OK;
  GATHER_CLI_TRY(gather_check_find(c->check, args->value[GATHER_CLI_NODE], &node, error));
  for (c->node = 0; gather_check_at(c->check, c->node) != node;) c->node++;
  return GATHER_OK;
}

static gather_status check_model(const gather_cli_args *args, check_call *c, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_model_open(args, &c->model, &c->options, error));
  GATHER_CLI_TRY(gather_model_check(c->model.model, &c->options, &c->check, error));
  GATHER_CLI_TRY(choose_node(args, c, error));
  return gather_check_advise(c->check, &c->advice, error);
}

/* Of the verdict that a line begins with; NULL if it begins with none. */
static const char *colour_of(const char *line, size_t word) {
  static const char *const COLOURS[] = {[GATHER_VERDICT_UNKNOWN] = "33", [GATHER_VERDICT_OK] = "32", [GATHER_VERDICT_BAD] = "1;31"};
  for (size_t v = 0; v < sizeof COLOURS / sizeof *COLOURS; v++) {
    const char *name = gather_verdict_name((gather_verdict)v);
    if (line[word] == ' ' && strlen(name) == word && memcmp(line, name, word) == 0) return COLOURS[v];
  }
  return NULL;
}

/* Writes lines, whose verdicts are red, yellow or green. */
static void put_lines(const char *text) {
  while (*text) {
    const size_t word = strcspn(text, " \n"), line = word + strcspn(text + word, "\n");
    const char *colour = colour_of(text, word);
    if (colour) gather_cli_say(stdout, "\033[%sm%.*s\033[0m", colour, (int)word, text);
    const size_t from = colour ? word : 0, end = line + (text[line] == '\n');
    gather_cli_say_bytes(stdout, text + from, end - from);
    text += end;
  }
}

static gather_status put_text(const gather_cli_args *args, const check_call *c, gather_error *error) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  char *text = NULL;
  size_t bytes = 0;
  options.name = gather_cli_shown_name(args, gather_model_describe(c->model.model)->file);
  options.advice = c->advice;
  options.writer = gather_cli_advice_write;
  options.only_bad = args->value[GATHER_CLI_QUIET] != NULL;
  if (c->node >= 0) options.node = c->node;
  options.unreadable_all = GATHER_CLI_UNREADABLE_ALL;
  GATHER_CLI_TRY(gather_check_text(c->check, &options, &text, &bytes, error));
  if (gather_cli_terminal_colour(STDOUT_FILENO))
    put_lines(text);
  else
    gather_cli_say_bytes(stdout, text, bytes);
  gather_text_free(text);
  return GATHER_OK;
}

static gather_status answer(const gather_cli_args *args, const check_call *c, gather_error *error) {
  if (!args->value[GATHER_CLI_JSON]) return put_text(args, c, error);
  gather_cli_check_json(args, c->model.model, c->check, c->advice, c->node);
  return GATHER_OK;
}

/* 1 if a node is bad, with --strict also if one is unknown; nodes that are not executed have no verdict. */
static int verdict(const gather_cli_args *args, const check_call *c) {
  for (int64_t i = 0; i < gather_check_describe(c->check)->count; i++) {
    const gather_model_node *node = gather_check_at(c->check, i);
    if (c->node >= 0 && c->node != i) continue;
    if (node->verdict == GATHER_VERDICT_BAD) return 1;
    if (args->value[GATHER_CLI_STRICT] && node->verdict == GATHER_VERDICT_UNKNOWN && !node->not_executed) return 1;
  }
  return 0;
}

int gather_cli_cmd_check(const gather_cli_args *args) {
  check_call c = {0};
  gather_error error;
  gather_status status = check_model(args, &c, &error);
  if (status == GATHER_OK) status = answer(args, &c, &error);
  int code = status == GATHER_OK ? verdict(args, &c) : gather_cli_report(args, &error);
  gather_check_advice_destroy(c.advice);
  gather_check_destroy(c.check);
  gather_cli_model_close(&c.model);
  return code;
}
