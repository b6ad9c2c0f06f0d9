/* SPDX-License-Identifier: MIT
 *
 * scatter_options.c: the options and inputs that `scatter`, `bag` and `explain --scatter` share.
 */
#include <string.h>

#include "choices.h"
#include "report.h"
#include "scatter_job.h"

/* ---- rules */

/* Whether an operator has one of these names. */
static bool is_named(const gather_op *op, const char *const *names) {
  for (int i = 0; names[i]; i++)
    if (strcmp(op->name, names[i]) == 0) return true;
  return false;
}

static const gather_op *find_rules(const char *rules, const char *const *names) {
  for (int i = 0; names[i]; i++)
    if (gather_op_find(names[i], rules)) return gather_op_find(names[i], rules);
  return NULL;
}

static gather_status read_rules(gather_cli_job *job, const char *const *names, gather_error *error) {
  const char *rules = job->args->value[GATHER_CLI_RULES];
  char known[240] = "", hint[160];
  if (!rules) return GATHER_OK;
  job->op = find_rules(rules, names);
  if (job->op) return GATHER_OK;
  for (size_t i = 0, at = 0; gather_op_at(i); i++)
    if (is_named(gather_op_at(i), names) && at < sizeof known)
      at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", gather_op_at(i)->rules);
  return gather_cli_fail(error, GATHER_USAGE, "%s has no rules '%.100s'; it has %s%s", names[0], rules, known,
                         gather_cli_choice_hint(GATHER_CLI_RULES, gather_cli_rules_command(job->args), rules, hint, sizeof hint));
}

/* ---- reductions */

static gather_status read_word(const gather_cli_args *args, gather_cli_option_id id, int *number, gather_error *error) {
  const char *text = args->value[id], *word;
  char hint[160], known[160] = "";
  size_t at = 0;
  if (!text) return GATHER_OK;
  for (int i = 0; (word = gather_cli_choice(id, args->command, i)) != NULL; i++) {
    if (strcmp(text, word) == 0) {
      *number = i;
      return GATHER_OK;
    }
    at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", word);
  }
  return gather_cli_fail(error, GATHER_USAGE, "--%s takes %s, not '%.100s'%s", gather_cli_option_at(id)->name, known, text,
                         gather_cli_choice_hint(id, args->command, text, hint, sizeof hint));
}

/* The names of all documents are accepted: sum and prod too. */
static gather_status read_reduction(const gather_cli_job *job, gather_scatter_options *options, gather_error *error) {
  const char *text = job->args->value[GATHER_CLI_REDUCTION];
  int number = 0, accumulate = -1;
  if (text && !gather_reduction_parse(text, &options->reduction))
    GATHER_CLI_TRY(read_word(job->args, GATHER_CLI_REDUCTION, &number, error));
  GATHER_CLI_TRY(read_word(job->args, GATHER_CLI_ACCUMULATE, &accumulate, error));
  options->accumulate = (gather_accumulate)(accumulate + 1); /* the words are in the order of the enum, behind the default */
  if (text && job->op && !gather_scatter_op_reduces(job->op, options->reduction))
    return gather_cli_fail(error, GATHER_UNSUPPORTED, "%s %s has no reduction \"%s\"", job->op->name, job->op->rules ? job->op->rules : "",
                           gather_reduction_name(options->reduction));
  return GATHER_OK;
}

gather_status gather_cli_scatter_line(gather_cli_job *job, const char *const *names, gather_scatter_options *options, gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  job->options = INIT;
  GATHER_CLI_TRY(read_rules(job, names, error));
  GATHER_CLI_TRY(gather_cli_job_common(job, error));
  GATHER_CLI_TRY(read_reduction(job, options, error));
  options->on_bad = job->options.on_bad;
  options->negative = job->options.negative;
  job->reduction = gather_reduction_name(options->reduction);
  return gather_cli_job_arguments(job, error);
}

/* What an update writes: the operator of no document, and those of documents. */
static const struct {
  const char *op, *names[4];
} FORMS[] = {
    {"scatter", {"ScatterUpdate"}},
    {"scatter_elements", {"ScatterElements", "ScatterElementsUpdate", "Scatter"}},
    {"scatter_nd", {"ScatterND", "ScatterNDUpdate"}},
};

gather_status gather_cli_scatter_read(gather_cli_job *job, gather_scatter_options *options, gather_error *error) {
  const gather_cli_args *args = job->args;
  static const gather_scatter_options INIT = GATHER_SCATTER_OPTIONS_INIT;
  const bool elements = args->value[GATHER_CLI_ELEMENTS] != NULL, tuples = args->value[GATHER_CLI_DRAW_ND] != NULL;
  const int form = elements ? 1 : tuples ? 2 : 0;
  int streams = 0;
  *options = INIT;
  if (elements && tuples) return gather_cli_fail(error, GATHER_USAGE, "--elements and --nd cannot be combined");
  if (tuples && args->value[GATHER_CLI_AXIS])
    return gather_cli_fail(error, GATHER_USAGE, "--nd has no --axis: tuples begin at the first one");
  job->op = gather_scatter_op(FORMS[form].op);
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_AXIS, INT64_MIN, INT64_MAX, 0, &options->axis, error));
  GATHER_CLI_TRY(gather_cli_scatter_line(job, FORMS[form].names, options, error));
  job->options.axis = options->axis; /* a slice of INDICES is one of this axis */
  options->unique = args->value[GATHER_CLI_UNIQUE] != NULL;
  options->neutral = args->value[GATHER_CLI_NEUTRAL] != NULL;
  if (options->neutral && options->reduction == GATHER_REDUCTION_NONE)
    return gather_cli_fail(error, GATHER_USAGE, "--neutral needs a --reduction");
  for (int i = 0; i < args->argument_count; i++) streams += gather_cli_is_stdin(args->argument[i]);
  if (streams < 2) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "only one argument can be standard input");
}

/* ---- inputs */

/* Without options that say what the bytes are or which tensor it is, a literal or a text is DATA too. */
static gather_status open_data(gather_cli_job *job, const char *data, gather_error *error) {
  if (!job->data_raw.raw.type && !job->data_raw.tensor) return gather_cli_input_typed(data, GATHER_TYPE_NONE, "data", &job->data, error);
  GATHER_CLI_TRY(gather_cli_raw_rows(data, &job->data_raw, error));
  GATHER_CLI_TRY(gather_cli_input_tensor(data, &job->data_raw, false, "data", &job->data, error));
  return gather_cli_input_load(&job->data, "data", error);
}

gather_status gather_cli_scatter_open(gather_cli_job *job, gather_error *error) {
  const char *data = gather_cli_job_data(job);
  if (data) GATHER_CLI_TRY(open_data(job, data, error));
  GATHER_CLI_TRY(gather_cli_job_open_indices(job, error));
  return gather_cli_job_describe(job, error);
}

gather_status gather_cli_scatter_input(const gather_cli_job *job, const char *argument, const char *role, gather_cli_input *input,
                                       gather_error *error) {
  const gather_type type = job->data.tensor.tensor.type;
  return gather_cli_input_typed(argument, gather_type_get(type)->kind == GATHER_KIND_OPAQUE ? GATHER_TYPE_NONE : type, role, input, error);
}
