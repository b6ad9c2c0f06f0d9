/* SPDX-License-Identifier: MIT
 *
 * take_options.c: the options of `take`, `elements` and `nd`, before any file is opened.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choices.h"
#include "gather/codec.h"
#include "report.h"
#include "take.h"

enum { MOST_THREADS = 1024 };

static const char *op_name(const gather_cli_command *command) { return gather_family_get(gather_cli_command_family(command))->name; }

/* Adds a word to a comma-separated list. */
static void add_word(char *list, size_t bytes, const char *word) {
  size_t len = strlen(list);
  snprintf(list + len, bytes - len, "%s%s", len ? ", " : "", word);
}

/* Hint for rules that only the other command's operator has. */
static gather_status hint_other(const gather_cli_job *job, const gather_cli_command *other, const gather_error *error) {
  const char *rules = job->args->value[GATHER_CLI_RULES], *name = op_name(other);
  if (job->args->command->id != GATHER_CLI_COMMAND_EXPLAIN)
    return gather_cli_hint_set(error, "%s is for %s: gather %s", rules, name, other->name);
  if (other->id == GATHER_CLI_COMMAND_TAKE)
    return gather_cli_hint_set(error, "%s is for %s: leave out --%s", rules, name, gather_cli_rules_command(job->args)->name);
  return gather_cli_hint_set(error, "%s is for %s: give --%s", rules, name, other->name);
}

/* The first other command whose operator has these rules; NULL if there is none. */
static const gather_cli_command *other_command(const gather_cli_command *command, const char *rules) {
  for (int i = 0; i < GATHER_CLI_COMMAND_COUNT; i++) {
    const gather_cli_command *other = gather_cli_command_at((gather_cli_command_id)i);
    if (other == command || gather_cli_command_family(other) == 0) continue;
    if (gather_op_find(op_name(other), rules)) return other;
  }
  return NULL;
}

static gather_status read_rules(gather_cli_job *job, gather_error *error) {
  const gather_cli_command *command = gather_cli_rules_command(job->args);
  const char *rules = job->args->value[GATHER_CLI_RULES], *name = op_name(command);
  char known[200] = "", hint[160] = "";
  job->op = gather_op_find(name, rules ? rules : "onnx-13");
  if (job->op) return GATHER_OK;
  const gather_cli_command *other = other_command(command, rules);
  for (size_t i = 0; gather_op_at(i); i++)
    if (strcmp(gather_op_at(i)->name, name) == 0) add_word(known, sizeof known, gather_op_at(i)->rules);
  if (!other) (void)gather_cli_choice_hint(GATHER_CLI_RULES, command, rules, hint, sizeof hint);
  (void)gather_cli_fail(error, GATHER_USAGE, "%s has no rules '%.100s'; it has %s%s", name, rules, known, hint);
  return other ? hint_other(job, other, error) : GATHER_USAGE;
}

/* The rules of the command's operator that have batch_dims; for elements, which has none, those of take. */
static gather_status fail_batch(const gather_cli_job *job, gather_error *error) {
  const gather_cli_command *command = gather_cli_rules_command(job->args);
  char list[200] = "";
  if (command->id == GATHER_CLI_COMMAND_ELEMENTS) command = gather_cli_command_at(GATHER_CLI_COMMAND_TAKE);
  const gather_op *last = NULL;
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    if (op->family != gather_cli_command_family(command) || !op->batch_dims) continue;
    if (last) add_word(list, sizeof list, last->rules);
    last = op;
  }
  return gather_cli_fail(error, GATHER_USAGE, "%s has no --batch-dims; %s%s%s have it for %s", job->op->document, list,
                         *list ? " and " : "", last ? last->rules : "", command->name);
}

static gather_status read_axes(gather_cli_job *job, gather_error *error) {
  gather_options *options = &job->options;
  GATHER_CLI_TRY(gather_cli_number(job->args, GATHER_CLI_AXIS, INT64_MIN, INT64_MAX, 0, &options->axis, error));
  GATHER_CLI_TRY(gather_cli_number(job->args, GATHER_CLI_BATCH, INT64_MIN, INT64_MAX, 0, &options->batch_dims, error));
  if (options->batch_dims != 0 && !job->op->batch_dims) return fail_batch(job, error);
  return GATHER_OK;
}

static gather_status read_on_bad(gather_cli_job *job, gather_error *error) {
  const char *text = job->args->value[GATHER_CLI_ON_BAD];
  const gather_cli_command *command = gather_cli_rules_command(job->args);
  const bool writes = gather_cli_command_writes(command);
  const gather_cli_policy *policy;
  char hint[160];
  if (!text) return GATHER_OK;
  for (int i = 0; (policy = gather_cli_policy_at(i)) != NULL; i++)
    if ((writes ? policy->writes : policy->reads) &&
        (strcmp(text, policy->name) == 0 || (policy->also && strcmp(text, policy->also) == 0))) {
      job->options.on_bad = policy->on_bad;
      return GATHER_OK;
    }
  if (writes || strncmp(text, "fill=", 5) != 0)
    return gather_cli_fail(error, GATHER_USAGE, "--on-bad takes error (raise), clamp (clip), wrap%s, not '%.100s'%s",
                           writes ? " or skip" : ", zero, fill=V or promise", text,
                           gather_cli_choice_hint(GATHER_CLI_ON_BAD, command, text, hint, sizeof hint));
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

static gather_status read_output(gather_cli_job *job, gather_error *error) {
  const char *output = job->output = job->args->value[GATHER_CLI_OUTPUT];
  job->to_stdout = output && strcmp(output, "-") == 0;
  if (job->args->command->id == GATHER_CLI_COMMAND_EXPLAIN) return GATHER_OK; /* it writes no tensor */
  if (!output && job->args->value[GATHER_CLI_DRY_RUN]) return GATHER_OK;
  if (!output) {
    (void)gather_cli_fail(error, GATHER_USAGE, "-o OUT is missing; --dry-run needs none");
    return isatty(STDOUT_FILENO) ? GATHER_USAGE : gather_cli_hint_set(error, "-o - writes to standard output");
  }
  if (job->to_stdout && isatty(STDOUT_FILENO) && !job->args->value[GATHER_CLI_FORCE]) {
    (void)gather_cli_fail(error, GATHER_USAGE, "-o - would write binary data to the terminal");
    return gather_cli_hint_set(error, "write to a file or a pipe, or use -f to write to the terminal anyway");
  }
  job->format = "npy";
  if (job->to_stdout) return GATHER_OK;
  GATHER_CLI_TRY(gather_cli_out_read(output, "-o", &job->out, error));
  job->output = job->out.path;
  job->format = job->out.format;
  return GATHER_OK;
}

const char *gather_cli_job_data(const gather_cli_job *job) { return job->args->value[GATHER_CLI_DATA] ? NULL : job->args->argument[0]; }

const char *gather_cli_job_indices(const gather_cli_job *job) { return job->args->argument[job->args->value[GATHER_CLI_DATA] ? 0 : 1]; }

const char *gather_cli_job_updates(const gather_cli_job *job) { return job->args->argument[job->args->value[GATHER_CLI_DATA] ? 1 : 2]; }

/* --as and --codec. */
static gather_status read_decoding(gather_cli_job *job, gather_error *error) {
  const char *as = job->args->value[GATHER_CLI_AS], *codec = job->args->value[GATHER_CLI_CODEC], *word;
  char hint[160];
  if (!as && codec) return gather_cli_fail(error, GATHER_USAGE, "--codec needs --as TYPE, the type to decode to");
  if (codec && gather_codec_parse(codec) == GATHER_CODEC_NONE && strncmp(codec, "biased:", 7) != 0)
    return gather_cli_fail(error, GATHER_USAGE, "--codec: no such codec '%.60s'%s", codec,
                           gather_cli_choice_hint(GATHER_CLI_CODEC, job->args->command, codec, hint, sizeof hint));
  if (!as) return GATHER_OK;
  for (int i = 0; (word = gather_cli_choice(GATHER_CLI_AS, job->args->command, i)) != NULL; i++)
    if (strcmp(as, word) == 0) job->through.decode_as = gather_type_parse(word);
  if (!job->through.decode_as)
    return gather_cli_fail(error, GATHER_USAGE, "--as takes float32, float16 or bfloat16, not '%.100s'%s", as,
                           gather_cli_choice_hint(GATHER_CLI_AS, job->args->command, as, hint, sizeof hint));
  if (!job->through.options.asked) job->through.options.asked = "as";
  return GATHER_OK;
}

/* What tables do not support is refused before a file is opened. */
static gather_status read_table(gather_cli_job *job, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_table_options_read(job->args, &job->through.options, error));
  GATHER_CLI_TRY(read_decoding(job, error));
  const char *asked = job->through.options.asked, *data = gather_cli_job_data(job);
  if (!asked) return GATHER_OK;
  if (data && gather_cli_is_stdin(data))
    return gather_cli_fail(error, GATHER_USAGE, "--%s needs rows of a file, but DATA is standard input", asked);
  if (job->options.batch_dims != 0)
    return gather_cli_fail(error, GATHER_USAGE, "--%s needs rows of a table, which have no batch_dims", asked);
  return GATHER_OK;
}

/* Whether INDICES are numbers of rows: a slice selects along one axis. */
static bool takes_slices(const gather_cli_job *job) {
  const gather_cli_args *args = job->args;
  return gather_cli_rules_command(job->args)->id == GATHER_CLI_COMMAND_TAKE ||
         (gather_cli_command_writes(gather_cli_rules_command(args)) && !args->value[GATHER_CLI_ELEMENTS] &&
          !args->value[GATHER_CLI_DRAW_ND]);
}

static gather_status read_slice(gather_cli_job *job, const char *text, gather_error *error) {
  const gather_cli_command *command = gather_cli_rules_command(job->args);
  GATHER_CLI_TRY(gather_cli_slice_read(text, &job->slice, error));
  if (takes_slices(job)) return GATHER_OK;
  if (gather_cli_command_writes(command))
    return gather_cli_fail(error, GATHER_USAGE, "'%.100s' is a slice of one axis, which --elements and --nd do not take", text);
  (void)gather_cli_fail(error, GATHER_USAGE, "'%.100s' is a slice of one axis, and %s takes %s", text, command->name,
                        command->id == GATHER_CLI_COMMAND_ND ? "tuples" : "one index for each element of the result");
  return gather_cli_hint_set(error, "gather take DATA %.100s takes these rows; write ./%.100s for a file of that name", text, text);
}

gather_status gather_cli_job_arguments(gather_cli_job *job, gather_error *error) {
  const char *data = gather_cli_job_data(job), *indices = gather_cli_job_indices(job);
  GATHER_CLI_TRY(gather_cli_raw_options(job->args, GATHER_CLI_TYPE, GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, &job->data_raw, error));
  GATHER_CLI_TRY(gather_cli_raw_options(job->args, GATHER_CLI_I_TYPE, GATHER_CLI_I_SHAPE, GATHER_CLI_I_OFFSET, &job->indices_raw, error));
  if (!indices) return GATHER_OK; /* the MODEL of explain defines them */
  const bool sliced = gather_cli_is_slice(indices);
  job->literal = gather_cli_is_literal(indices);
  if ((job->literal || sliced) && job->indices_raw.raw.type)
    return gather_cli_fail(error, GATHER_USAGE, "--indices-type needs a file of raw bytes, but '%.100s' is a %s", indices,
                           sliced ? "slice" : "literal");
  if ((job->literal || sliced) && job->indices_raw.tensor)
    return gather_cli_fail(error, GATHER_USAGE, "--indices-tensor needs a file, but '%.100s' is a %s", indices,
                           sliced ? "slice" : "literal");
  if (sliced) return read_slice(job, indices, error);
  if (data && gather_cli_is_stdin(data) && gather_cli_is_stdin(indices))
    return gather_cli_fail(error, GATHER_USAGE, "DATA and INDICES cannot both be standard input");
  return job->literal ? gather_cli_input_literal(indices, &job->indices, error) : GATHER_OK;
}

gather_status gather_cli_job_common(gather_cli_job *job, gather_error *error) {
  int64_t threads = 0;
  GATHER_CLI_TRY(read_on_bad(job, error));
  GATHER_CLI_TRY(read_negative(job, error));
  GATHER_CLI_TRY(gather_cli_number(job->args, GATHER_CLI_THREADS, 1, MOST_THREADS, 0, &threads, error));
  job->threads = (int32_t)threads;
  return read_output(job, error);
}

gather_status gather_cli_job_options(gather_cli_job *job, gather_error *error) {
  static const gather_options INIT = GATHER_OPTIONS_INIT;
  job->options = INIT;
  GATHER_CLI_TRY(read_rules(job, error));
  GATHER_CLI_TRY(read_axes(job, error));
  GATHER_CLI_TRY(gather_cli_job_common(job, error));
  GATHER_CLI_TRY(read_table(job, error));
  return gather_cli_job_arguments(job, error);
}
