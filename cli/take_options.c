/* SPDX-License-Identifier: MIT
 *
 * take_options.c: the options of `take` and `elements`, before any file is opened.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "take.h"

enum { MOST_THREADS = 1024 };

static const char *op_name(const gather_cli_job *job) {
  return job->args->command->id == GATHER_CLI_COMMAND_ELEMENTS || job->args->value[GATHER_CLI_ELEMENTS]
             ? "GatherElements"
             : "Gather";
}

/* Adds a word to a list with commas between. */
static void add_word(char *list, size_t bytes, const char *word) {
  size_t len = strlen(list);
  snprintf(list + len, bytes - len, "%s%s", len ? ", " : "", word);
}

static gather_status read_rules(gather_cli_job *job, gather_error *error) {
  const char *rules = job->args->value[GATHER_CLI_RULES], *name = op_name(job);
  char known[200] = "";
  job->op = gather_op_find(name, rules ? rules : "onnx-13");
  if (job->op) return GATHER_OK;
  for (size_t i = 0; i < gather_op_count(); i++)
    if (strcmp(gather_op_at(i)->name, name) == 0) add_word(known, sizeof known, gather_op_at(i)->rules);
  return gather_cli_fail(error, GATHER_USAGE, "%s has no rules '%s'; there are %s", name, rules, known);
}

static gather_status read_axes(gather_cli_job *job, gather_error *error) {
  gather_options *options = &job->options;
  GATHER_CLI_TRY(gather_cli_number(job->args, GATHER_CLI_AXIS, INT64_MIN, INT64_MAX, 0, &options->axis, error));
  GATHER_CLI_TRY(gather_cli_number(job->args, GATHER_CLI_BATCH, INT64_MIN, INT64_MAX, 0, &options->batch_dims, error));
  if (options->batch_dims != 0 && !job->op->batch_dims)
    return gather_cli_fail(error, GATHER_USAGE, "%s has no --batch-dims; openvino-7 and openvino-8 have it for take",
                           job->op->document);
  return GATHER_OK;
}

/* promise runs as clamp: the fastest repair, and no memory outside the tensors is touched whatever the indices are. */
static gather_status read_on_bad(gather_cli_job *job, gather_error *error) {
  static const struct {
    const char *name;
    gather_on_bad on_bad;
  } KNOWN[] = {{"error", GATHER_ON_BAD_ERROR},
               {"clamp", GATHER_ON_BAD_CLAMP},
               {"wrap", GATHER_ON_BAD_WRAP},
               {"zero", GATHER_ON_BAD_ZERO},
               {"promise", GATHER_ON_BAD_CLAMP}};
  const char *text = job->args->value[GATHER_CLI_ON_BAD];
  if (!text) return GATHER_OK;
  for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
    if (strcmp(text, KNOWN[i].name) == 0) {
      job->options.on_bad = KNOWN[i].on_bad;
      return GATHER_OK;
    }
  if (strncmp(text, "fill=", 5) != 0)
    return gather_cli_fail(error, GATHER_USAGE, "--on-bad takes error, clamp, wrap, zero, fill=V or promise, not '%s'",
                           text);
  job->options.on_bad = GATHER_ON_BAD_FILL;
  job->fill = text + 5;
  return GATHER_OK;
}

static gather_status read_negative(gather_cli_job *job, gather_error *error) {
  const char *text = job->args->value[GATHER_CLI_NEGATIVE];
  if (!text) return GATHER_OK;
  if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
    return gather_cli_fail(error, GATHER_USAGE, "--negative takes on or off, not '%s'", text);
  job->options.negative = strcmp(text, "on") == 0 ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  return GATHER_OK;
}

/* Whether a list of words with blanks between has that word. */
static bool has_word(const char *list, const char *word) {
  size_t len = strlen(word);
  for (const char *p = list; (p = strstr(p, word)); p += len)
    if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == 0)) return true;
  return false;
}

static gather_status read_output(gather_cli_job *job, gather_error *error) {
  const char *output = job->output = job->args->value[GATHER_CLI_OUTPUT];
  char known[200] = "";
  job->to_stdout = output && strcmp(output, "-") == 0;
  if (job->args->command->id == GATHER_CLI_COMMAND_EXPLAIN) return GATHER_OK; /* it writes no tensor */
  if (!output && job->args->value[GATHER_CLI_DRY_RUN]) return GATHER_OK;
  if (!output) return gather_cli_fail(error, GATHER_USAGE, "-o OUT is missing; --dry-run needs none");
  job->format = job->to_stdout ? "npy" : NULL;
  const char *slash = strrchr(output, '/'), *dot = strrchr(slash ? slash : output, '.');
  for (size_t i = 0; i < gather_format_count() && !job->format; i++) {
    if (!has_word(gather_format_abilities(i), "write")) continue;
    if (dot && has_word(gather_format_extensions(i), dot)) job->format = gather_format_name(i);
    add_word(known, sizeof known, gather_format_extensions(i));
  }
  if (job->format) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "-o %s: the extension says the format; known are %s", output, known);
}

const char *gather_cli_job_data(const gather_cli_job *job) {
  return job->args->value[GATHER_CLI_DATA] ? NULL : job->args->argument[0];
}

const char *gather_cli_job_indices(const gather_cli_job *job) {
  return job->args->argument[job->args->value[GATHER_CLI_DATA] ? 0 : 1];
}

/* What no table is for can be said before a file is opened. */
static gather_status read_table(gather_cli_job *job, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_table_options_read(job->args, &job->through.options, error));
  const char *asked = job->through.options.asked, *data = gather_cli_job_data(job);
  if (!asked) return GATHER_OK;
  if (data && gather_cli_is_stdin(data))
    return gather_cli_fail(error, GATHER_USAGE, "--%s is for rows of a file, and DATA is standard input", asked);
  if (job->options.batch_dims != 0)
    return gather_cli_fail(error, GATHER_USAGE, "--%s is for rows of a table, which have no batch_dims", asked);
  return GATHER_OK;
}

static gather_status read_inputs(gather_cli_job *job, gather_error *error) {
  const char *data = gather_cli_job_data(job), *indices = gather_cli_job_indices(job);
  GATHER_CLI_TRY(
      gather_cli_raw_options(job->args, GATHER_CLI_TYPE, GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, &job->data_raw, error));
  GATHER_CLI_TRY(gather_cli_raw_options(job->args, GATHER_CLI_I_TYPE, GATHER_CLI_I_SHAPE, GATHER_CLI_I_OFFSET,
                                        &job->indices_raw, error));
  if (!indices) return GATHER_OK; /* the MODEL of explain says them */
  job->literal = gather_cli_is_literal(indices);
  if (job->literal && job->indices_raw.raw.type)
    return gather_cli_fail(error, GATHER_USAGE, "--indices-type is for a file of raw bytes, and '%.100s' is a literal",
                           indices);
  if (data && gather_cli_is_stdin(data) && gather_cli_is_stdin(indices))
    return gather_cli_fail(error, GATHER_USAGE, "DATA and INDICES cannot both be standard input");
  return job->literal ? gather_cli_input_literal(indices, &job->indices, error) : GATHER_OK;
}

gather_status gather_cli_job_options(gather_cli_job *job, gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  int64_t threads = 0;
  job->options = INIT;
  GATHER_CLI_TRY(read_rules(job, error));
  GATHER_CLI_TRY(read_axes(job, error));
  GATHER_CLI_TRY(read_on_bad(job, error));
  GATHER_CLI_TRY(read_negative(job, error));
  GATHER_CLI_TRY(gather_cli_number(job->args, GATHER_CLI_THREADS, 1, MOST_THREADS, 0, &threads, error));
  job->threads = (int32_t)threads;
  GATHER_CLI_TRY(read_output(job, error));
  GATHER_CLI_TRY(read_table(job, error));
  return read_inputs(job, error);
}
