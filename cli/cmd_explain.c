/* SPDX-License-Identifier: MIT
 *
 * cmd_explain.c: `gather explain`: draws one gather or scatter, in the terminal or as an SVG picture. With an index out of range under a
 * policy of error, the drawing is still made, and the error follows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "explain_command.h"
#include "json.h"
#include "report.h"
#include "system.h"
#include "terminal.h"
#include "writing.h"

/* Whether boxes and arrows are ASCII: if requested, or if the locale has no others. */
static bool use_ascii(const gather_cli_args *args) { return args->value[GATHER_CLI_ASCII] || !gather_cli_terminal_utf8(); }

/* A single argument is a model: DATA needs INDICES. */
static bool is_model(const gather_cli_args *args) { return args->argument_count == 1 && !args->value[GATHER_CLI_DATA]; }

/* A table of --data has a shape and no values. */
static gather_status make_up(gather_cli_explain *ex, gather_error *error) {
  const char *text = ex->job.args->value[GATHER_CLI_DATA];
  gather_raw raw = {.shape = ex->data_shape};
  if (!text) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_shape(text, "data", ex->data_shape, &raw.rank, error));
  ex->job.data.tensor.type_name = "int64";
  ex->job.data.tensor.tensor = (gather_tensor){.type = GATHER_TYPE_INT64, .rank = raw.rank, .shape = ex->data_shape};
  return gather_tensor_check(&ex->job.data.tensor.tensor, error);
}

/* UPDATES, and the options of a scatter. */
static gather_status check_scatter(const gather_cli_args *args, gather_error *error) {
  static const gather_cli_option_id OF_A_SCATTER[] = {GATHER_CLI_REDUCTION, GATHER_CLI_NEUTRAL, GATHER_CLI_UNIQUE};
  const bool writes = args->value[GATHER_CLI_DRAW_SCATTER] != NULL, made_up = args->value[GATHER_CLI_DATA] != NULL;
  for (size_t i = 0; !writes && i < sizeof OF_A_SCATTER / sizeof *OF_A_SCATTER; i++)
    if (args->value[OF_A_SCATTER[i]])
      return gather_cli_fail(error, GATHER_USAGE, "--%s needs --scatter", gather_cli_option_at(OF_A_SCATTER[i])->name);
  if (writes && args->value[GATHER_CLI_BATCH]) return gather_cli_fail(error, GATHER_USAGE, "a scatter has no --batch-dims");
  if (made_up && args->argument_count > 1 + writes)
    return gather_cli_fail(error, GATHER_USAGE, "--data replaces DATA: give only INDICES%s", writes ? " and UPDATES" : "");
  if (!writes && args->argument_count > 2)
    return gather_cli_fail(error, GATHER_USAGE, "a gather has DATA and INDICES; with UPDATES it is a scatter: give --scatter");
  return GATHER_OK;
}

/* Checks of the line that only explain needs. */
static gather_status check_line(const gather_cli_explain *ex, gather_error *error) {
  const gather_cli_args *args = ex->job.args;
  static const gather_cli_option_id OF_A_MODEL[] = {GATHER_CLI_NODE, GATHER_CLI_INPUT, GATHER_CLI_DIM};
  static const gather_cli_option_id OF_FILES[] = {GATHER_CLI_TENSOR, GATHER_CLI_I_TENSOR};
  const char *output = args->value[GATHER_CLI_OUTPUT];
  size_t len = output ? strlen(output) : 0;
  GATHER_CLI_TRY(check_scatter(args, error));
  for (size_t i = 0; !is_model(args) && i < sizeof OF_A_MODEL / sizeof *OF_A_MODEL; i++)
    if (args->value[OF_A_MODEL[i]])
      return gather_cli_fail(error, GATHER_USAGE, "--%s needs a MODEL; it cannot be given with DATA or INDICES",
                             gather_cli_option_at(OF_A_MODEL[i])->name);
  for (size_t i = 0; (is_model(args) || args->value[GATHER_CLI_DATA]) && i < sizeof OF_FILES / sizeof *OF_FILES; i++)
    if (args->value[OF_FILES[i]] && (is_model(args) || OF_FILES[i] == GATHER_CLI_TENSOR))
      return gather_cli_fail(error, GATHER_USAGE, "--%s needs DATA and INDICES that are files", gather_cli_option_at(OF_FILES[i])->name);
  const bool reads = !args->value[GATHER_CLI_DRAW_SCATTER];
  if (reads && args->value[GATHER_CLI_ELEMENTS] && args->value[GATHER_CLI_DRAW_ND])
    return gather_cli_fail(error, GATHER_USAGE, "--elements and --nd are two operators: give one of them");
  if (reads && args->value[GATHER_CLI_AXIS] && args->value[GATHER_CLI_DRAW_ND])
    return gather_cli_fail(error, GATHER_USAGE, "GatherND has no --axis: a tuple indexes the first axes after batch_dims");
  if (output && strcmp(output, "-") != 0 && (len < 4 || strcmp(output + len - 4, ".svg") != 0))
    return gather_cli_fail(error, GATHER_USAGE, "-o %s: a drawing is written as .svg", output);
  return GATHER_OK;
}

static gather_status keep_existing(const gather_cli_args *args, gather_error *error) {
  struct stat there;
  const char *output = args->value[GATHER_CLI_OUTPUT];
  if (!output || strcmp(output, "-") == 0 || args->value[GATHER_CLI_FORCE] || lstat(output, &there) != 0) return GATHER_OK;
  return gather_cli_fail_file(error, GATHER_FILE_EXISTS, output, -1, "the file exists already and is kept");
}

static gather_status explain_tensors(gather_cli_explain *ex, gather_error *error) {
  gather_explain_options told = GATHER_EXPLAIN_OPTIONS_INIT;
  GATHER_CLI_TRY(make_up(ex, error));
  GATHER_CLI_TRY(gather_cli_job_options(&ex->job, error));
  GATHER_CLI_TRY(gather_cli_job_inputs(&ex->job, error));
  GATHER_CLI_TRY(gather_cli_job_slice(&ex->job, error));
  gather_cli_explain_policy(ex);
  told.data_type = ex->job.data.tensor.type_name;
  told.indices_type = ex->job.indices.tensor.type_name;
  told.fill_text = ex->job.fill;
  return gather_explain_create(ex->job.op, &ex->job.data.tensor.tensor, &ex->job.indices.tensor.tensor, &ex->job.options, &told,
                               &ex->drawing, error);
}

static gather_status explain_scatter(gather_cli_explain *ex, gather_error *error) {
  gather_cli_job *job = &ex->job;
  const char *updates = gather_cli_job_updates(job);
  gather_explain_options told = GATHER_EXPLAIN_OPTIONS_INIT;
  GATHER_CLI_TRY(make_up(ex, error));
  GATHER_CLI_TRY(gather_cli_scatter_read(job, &ex->scatter, error));
  GATHER_CLI_TRY(gather_cli_scatter_open(job, error));
  if (updates) {
    GATHER_CLI_TRY(gather_cli_scatter_input(job, updates, "updates", &ex->updates, error));
    GATHER_CLI_TRY(gather_cli_writing_spare(job->to_stdout ? NULL : job->output, &ex->updates, "UPDATES", error));
    told.updates = &ex->updates.tensor.tensor;
  }
  GATHER_CLI_TRY(gather_cli_job_slice(job, error));
  told.data_type = job->data.tensor.type_name;
  told.indices_type = job->indices.tensor.type_name;
  told.scatter = &ex->scatter;
  return gather_explain_create(job->op, &job->data.tensor.tensor, &job->indices.tensor.tensor, NULL, &told, &ex->drawing, error);
}

static gather_status create(gather_cli_explain *ex, gather_error *error) {
  if (is_model(ex->job.args)) return gather_cli_explain_model(ex, error);
  return ex->job.args->value[GATHER_CLI_DRAW_SCATTER] ? explain_scatter(ex, error) : explain_tensors(ex, error);
}

static gather_status prepare(gather_cli_explain *ex, gather_error *error) {
  GATHER_CLI_TRY(check_line(ex, error));
  GATHER_CLI_TRY(create(ex, error));
  GATHER_CLI_TRY(gather_cli_job_spare(&ex->job, error));
  return keep_existing(ex->job.args, error);
}

static gather_status draw_text(const gather_cli_explain *ex, gather_error *error) {
  gather_explain_text_options options = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
  char *text = NULL;
  size_t bytes = 0;
  options.width = gather_cli_terminal_width(STDOUT_FILENO);
  options.ascii = use_ascii(ex->job.args);
  options.colour = gather_cli_terminal_colour(STDOUT_FILENO);
  GATHER_CLI_TRY(gather_explain_text(ex->drawing, &options, &text, &bytes, error));
  fwrite(text, 1, bytes, stdout);
  gather_text_free(text);
  return GATHER_OK;
}

static gather_status draw_svg(const gather_cli_explain *ex, gather_error *error) {
  char *text = NULL;
  size_t bytes = 0;
  gather_status status = gather_explain_svg(ex->drawing, &text, &bytes, error);
  if (status == GATHER_OK && ex->job.to_stdout)
    fwrite(text, 1, bytes, stdout);
  else if (status == GATHER_OK)
    status = gather_cli_explain_write(ex->job.args, ex->job.output, text, bytes, error);
  gather_text_free(text);
  return status;
}

static gather_status draw(const gather_cli_explain *ex, gather_error *error) {
  const gather_cli_args *args = ex->job.args;
  if (!ex->job.output && !args->value[GATHER_CLI_JSON]) return draw_text(ex, error);
  if (ex->job.output) GATHER_CLI_TRY(draw_svg(ex, error));
  if (args->value[GATHER_CLI_JSON]) gather_cli_explain_json(ex, gather_cli_json_stream(args));
  return GATHER_OK;
}

/* The exit code after a drawing: the error of an index out of range follows it. */
static int report_bad(const gather_cli_explain *ex) {
  const gather_cli_args *args = ex->job.args;
  const gather_error *bad = gather_explain_facts_of(ex->drawing)->error;
  if (!bad) return 0;
  (void)fflush(stdout); /* before stderr, wherever the two streams go */
  return args->value[GATHER_CLI_JSON] ? gather_cli_exit_code(bad->status) : gather_cli_report(args, bad);
}

int gather_cli_cmd_explain(const gather_cli_args *args) {
  static gather_cli_explain ex; /* large, and used once */
  gather_error error;
  ex.job.args = args;
  gather_status status = prepare(&ex, &error);
  if (status == GATHER_OK) status = draw(&ex, &error);
  int code = status == GATHER_OK ? report_bad(&ex) : gather_cli_report(args, &error);
  gather_explain_destroy(ex.drawing);
  gather_cli_input_close(&ex.updates);
  gather_cli_job_clear(&ex.job);
  gather_model_operands_destroy(ex.operands);
  gather_cli_model_close(&ex.model);
  return code;
}
