/* SPDX-License-Identifier: MIT
 *
 * cmd_explain.c: `gather explain`: draws one gather, in the terminal or as an SVG picture. With a bad index under a policy
 * that says error the drawing is made all the same, and the error follows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "commands.h"
#include "explain.h"
#include "json.h"
#include "report.h"
#include "terminal.h"
#include "value.h"

enum { LEAST_COLUMNS = 3, MOST_COLUMNS = 12, SVG_COLUMNS = 8 };

/* Whether boxes and arrows are ASCII: as asked, or in a locale that has no others. */
static bool use_ascii(const gather_cli_args *args) {
  return args->value[GATHER_CLI_ASCII] || !gather_cli_terminal_utf8();
}

/* One argument alone is a model: DATA needs INDICES. */
static bool is_model(const gather_cli_args *args) { return args->argument_count == 1 && !args->value[GATHER_CLI_DATA]; }

/* The made-up table stands nowhere: only its shape does. */
static gather_status make_up(gather_cli_explain *ex, gather_error *error) {
  const char *text = ex->job.args->value[GATHER_CLI_DATA];
  gather_raw raw = {.shape = ex->data_shape};
  if (!text) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_shape(text, "data", ex->data_shape, &raw.rank, error));
  ex->made_up = true;
  ex->job.data.tensor.type_name = "int64";
  ex->job.data.tensor.tensor = (gather_tensor){.type = GATHER_TYPE_INT64, .rank = raw.rank, .shape = ex->data_shape};
  return gather_tensor_check(&ex->job.data.tensor.tensor, error);
}

/* What only explain asks of its line. */
static gather_status check_line(const gather_cli_explain *ex, gather_error *error) {
  const gather_cli_args *args = ex->job.args;
  static const gather_cli_option_id OF_A_MODEL[] = {GATHER_CLI_NODE, GATHER_CLI_INPUT, GATHER_CLI_DIM};
  const char *output = args->value[GATHER_CLI_OUTPUT];
  size_t len = output ? strlen(output) : 0;
  if (args->value[GATHER_CLI_DATA] && args->argument_count > 1)
    return gather_cli_fail(error, GATHER_USAGE, "with --data there is no DATA, only INDICES");
  for (size_t i = 0; !is_model(args) && i < sizeof OF_A_MODEL / sizeof *OF_A_MODEL; i++)
    if (args->value[OF_A_MODEL[i]])
      return gather_cli_fail(error, GATHER_USAGE, "--%s goes with a MODEL alone, not with DATA or INDICES",
                             gather_cli_option_at(OF_A_MODEL[i])->name);
  if (output && strcmp(output, "-") != 0 && (len < 4 || strcmp(output + len - 4, ".svg") != 0))
    return gather_cli_fail(error, GATHER_USAGE, "-o %s: a drawing is written as .svg", output);
  return GATHER_OK;
}

static gather_status keep_existing(const gather_cli_args *args, gather_error *error) {
  struct stat there;
  const char *output = args->value[GATHER_CLI_OUTPUT];
  if (!output || strcmp(output, "-") == 0 || args->value[GATHER_CLI_FORCE] || lstat(output, &there) != 0)
    return GATHER_OK;
  return gather_cli_fail_file(error, GATHER_FILE_EXISTS, output, -1, "the file exists already and is kept");
}

static gather_status take_tensors(gather_cli_explain *ex, gather_error *error) {
  GATHER_CLI_TRY(make_up(ex, error));
  GATHER_CLI_TRY(gather_cli_job_options(&ex->job, error));
  return gather_cli_job_inputs(&ex->job, error);
}

static gather_status prepare(gather_cli_explain *ex, gather_error *error) {
  GATHER_CLI_TRY(check_line(ex, error));
  GATHER_CLI_TRY(is_model(ex->job.args) ? gather_cli_explain_model(ex, error) : take_tensors(ex, error));
  GATHER_CLI_TRY(gather_cli_explain_ready(ex, error));
  return keep_existing(ex->job.args, error);
}

/* The drawing as text in memory. */
static gather_status render(gather_cli_explain *ex, bool svg, gather_cli_buffer *buffer, gather_error *error) {
  if (svg)
    gather_cli_explain_svg(ex, buffer);
  else
    gather_cli_explain_text(ex, buffer, use_ascii(ex->job.args), gather_cli_terminal_colour(STDOUT_FILENO));
  if (!buffer->failed) return GATHER_OK;
  gather_cli_buffer_clear(buffer);
  return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the drawing");
}

/* The longest line of the boxes on a screen; the sentences above them may fold. Colours take no room. */
static int widest(const char *text) {
  int most = 0, columns = 0;
  const char *boxes = strstr(text, "\n\n");
  for (text = boxes ? boxes : text; *text; text++) {
    if (*text == '\033') {
      text += strcspn(text, "m");
      continue;
    }
    columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xc0) != 0x80);
    if (columns > most) most = columns;
  }
  return most;
}

/* Draws with fewer and fewer columns until the terminal is wide enough. */
static gather_status draw_text(gather_cli_explain *ex, gather_error *error) {
  int width = gather_cli_terminal_width(STDOUT_FILENO);
  for (int columns = MOST_COLUMNS;; columns--) {
    gather_cli_buffer buffer = {0};
    GATHER_CLI_TRY(gather_cli_explain_layout(ex, columns, error));
    GATHER_CLI_TRY(render(ex, false, &buffer, error));
    bool fits = columns == LEAST_COLUMNS || widest(buffer.text) <= width;
    if (fits) fwrite(buffer.text, 1, buffer.bytes, stdout);
    gather_cli_buffer_clear(&buffer);
    if (fits) return GATHER_OK;
  }
}

static gather_status draw_svg(gather_cli_explain *ex, gather_error *error) {
  gather_cli_buffer buffer = {0};
  const gather_cli_args *args = ex->job.args;
  gather_status status = render(ex, true, &buffer, error);
  if (status == GATHER_OK && ex->job.to_stdout)
    fwrite(buffer.text, 1, buffer.bytes, stdout);
  else if (status == GATHER_OK)
    status = gather_cli_explain_write(args, ex->job.output, buffer.text, buffer.bytes, error);
  gather_cli_buffer_clear(&buffer);
  return status;
}

static gather_status draw(gather_cli_explain *ex, gather_error *error) {
  const gather_cli_args *args = ex->job.args;
  if (!ex->job.output && !args->value[GATHER_CLI_JSON]) {
    GATHER_CLI_TRY(draw_text(ex, error));
    if (ex->node && ex->failed) {
      puts("\nWhat a runtime does with a bad index here:");
      gather_cli_put_bad(ex->node, 2);
    }
    return GATHER_OK;
  }
  GATHER_CLI_TRY(gather_cli_explain_layout(ex, SVG_COLUMNS, error));
  if (ex->job.output) GATHER_CLI_TRY(draw_svg(ex, error));
  if (args->value[GATHER_CLI_JSON]) gather_cli_explain_json(ex, gather_cli_json_stream(args));
  return GATHER_OK;
}

int gather_cli_cmd_explain(const gather_cli_args *args) {
  static gather_cli_explain ex; /* large, and needed once */
  gather_error error;
  ex.job.args = args;
  gather_status status = prepare(&ex, &error);
  if (status == GATHER_OK) status = draw(&ex, &error);
  int code = status == GATHER_OK ? 0 : gather_cli_report(args, &error);
  if (status == GATHER_OK && ex.failed) {
    (void)fflush(stdout); /* the error comes behind the drawing, whatever the two streams are */
    code = args->value[GATHER_CLI_JSON] ? gather_status_exit_code(ex.error.status) : gather_cli_report(args, &ex.error);
  }
  gather_cli_explain_clear(&ex);
  return code;
}
