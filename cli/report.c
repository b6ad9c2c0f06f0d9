/* SPDX-License-Identifier: MIT
 *
 * report.c: reports errors as text or JSON, and sets exit codes.
 */
#include "report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gather/file.h"
#include "json.h"
#include "show.h"
#include "signals.h"
#include "system.h"
#include "terminal.h"
#include "wrap.h"

/* In one write: other processes may write to the same terminal or log. */
static void put_line(const char *colour, const char *kind, const char *text) {
  char line[64 + 6 * sizeof((gather_error *)0)->message];
  const size_t room = sizeof line - 1;
  bool coloured = gather_cli_terminal_colour(STDERR_FILENO);
  size_t used = (size_t)snprintf(line, room, "gather: %s%s:%s ", coloured ? colour : "", kind, coloured ? "\033[0m" : "");
  used += gather_text_visible(text, line + used, room - used);
  if (used >= room) used = room - 1;
  line[used++] = '\n';
  gather_cli_say_bytes(stderr, line, used);
}

static void json_position(gather_cli_json *json, const gather_error *error) {
  gather_cli_json_ints(json, "position", error->position_rank, error->position);
  if (error->value_is_unsigned)
    gather_cli_json_uint(json, "value", (uint64_t)error->value);
  else
    gather_cli_json_int(json, "value", error->value);
}

static void json_repeated_error(gather_cli_json *json, const gather_error *error) {
  json_position(json, error);
  gather_cli_json_ints(json, "first_position", error->position_rank, error->first_position);
  gather_cli_json_int(json, "axis", error->axis);
}

static void json_index_error(gather_cli_json *json, const gather_error *error) {
  json_position(json, error);
  gather_cli_json_int(json, "low", error->low);
  gather_cli_json_int(json, "high", error->high);
  gather_cli_json_int(json, "axis", error->axis);
  gather_cli_json_int(json, "bad_count", error->bad_count);
}

void gather_cli_json_error(gather_cli_json *json, const gather_error *error, const char *node, const char *hint) {
  char message[6 * sizeof error->message];
  gather_cli_json_object(json, "error");
  gather_cli_json_string(json, "status", gather_status_name(error->status));
  gather_cli_json_int(json, "code", (int64_t)error->status);
  (void)gather_text_visible(error->message, message, sizeof message); /* one line, even if a file name has line breaks */
  gather_cli_json_string(json, "message", message);
  if (*node) gather_cli_json_string(json, "node", node);
  if (error->op) gather_cli_json_string(json, "op", error->op);
  if (error->rules) gather_cli_json_string(json, "rules", error->rules);
  if (error->status == GATHER_INDEX_OUT_OF_RANGE) json_index_error(json, error);
  if (error->status == GATHER_INDEX_REPEATED) json_repeated_error(json, error);
  if (error->file[0]) gather_cli_json_string(json, "file", error->file);
  if (error->file_offset >= 0) gather_cli_json_int(json, "offset", error->file_offset);
  if (error->status == GATHER_IO_ERROR && error->row >= 0) gather_cli_json_int(json, "row", error->row);
  if (error->input) gather_cli_json_string(json, "input", error->input);
  if (hint[0]) gather_cli_json_string(json, "hint", hint);
  gather_cli_json_object_end(json);
}

static void json_answer(const gather_cli_args *args, const gather_error *error, const char *node, const char *hint) {
  char name[256]; /* which may be anything */
  gather_cli_json json = gather_cli_json_begin(gather_cli_json_stream(args));
  (void)snprintf(name, sizeof name, "%s", args->name);
  gather_cli_hide_secrets(name);
  gather_cli_json_string(&json, "command", name);
  gather_cli_json_error(&json, error, node, hint);
  gather_cli_json_finish(&json);
}

int gather_cli_report(const gather_cli_args *args, const gather_error *error) { return gather_cli_report_node(args, error, ""); }

int gather_cli_report_node(const gather_cli_args *args, const gather_error *error, const char *node) {
  char hint[256];
  gather_error shown = *error;
  gather_cli_hint(args, error, hint, sizeof hint);
  gather_cli_hide_secrets(hint);
  gather_cli_hide_secrets(shown.message);
  gather_cli_hide_secrets(shown.file);
  error = &shown;
  if (args->value[GATHER_CLI_JSON]) {
    json_answer(args, error, node, hint);
  } else {
    put_line("\033[1;31m", "error", error->message);
    if (hint[0]) put_line("\033[1;36m", "hint", hint);
  }
  return gather_cli_exit_code(error->status);
}

int gather_cli_finish(int code) {
  bool failed = ferror(stdout) != 0;
  errno = 0;
  if (fflush(stdout) != 0) failed = true;
  if (!failed || gather_cli_signals_pipe_broken()) return code;
  char text[256];
  snprintf(text, sizeof text, "standard output: %s", errno ? strerror(errno) : "writing failed");
  put_line("\033[1;31m", "error", text);
  return code ? code : gather_cli_exit_code(GATHER_IO_ERROR);
}
