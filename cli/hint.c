/* SPDX-License-Identifier: MIT
 *
 * hint.c: the second line of an error: what to do about it.
 */
#include "hint.h"
#include "choices.h"
#include "gather/remote.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A hint from the place of the failure, and the message that it belongs to. */
static char advice[256], advised[sizeof((gather_error *)0)->message];

gather_status gather_cli_hint_set(const gather_error *error, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(advice, sizeof advice, format, list);
  va_end(list);
  snprintf(advised, sizeof advised, "%s", error->message);
  return error->status;
}

/* An index out of range: which policy repairs it. An axis of length 0 has no row to use instead. */
static const char *index_hint(const gather_cli_args *args, const gather_error *error) {
  const char *negative = args->value[GATHER_CLI_NEGATIVE];
  if (!(gather_cli_option_at(GATHER_CLI_ON_BAD)->commands >> args->command->id & 1)) return "";
  const char *input = error->input ? error->input : "";
  const bool writes = args->command && gather_cli_command_writes(gather_cli_rules_command(args));
  if (strcmp(input, "offsets") == 0 || strcmp(input, "segment_ids") == 0 || strcmp(input, "default_index") == 0) return ""; /* of bags */
  if (writes && error->low > error->high) return "the axis has no elements; --on-bad skip leaves the updates out";
  if (writes) return "--on-bad clamp or wrap repairs indices out of range; skip leaves out what they select";
  bool below = !error->value_is_unsigned && error->value < 0;
  if (error->low > error->high) return "the axis has no elements; --on-bad zero or fill=V would fill the output";
  if (error->low == 0 && below && !(negative && strcmp(negative, "off") == 0))
    return "--negative on counts indices below 0 from the end; --on-bad clamp, wrap, zero or fill=V repairs indices "
           "out of range";
  return "--on-bad clamp, wrap, zero or fill=V repairs indices out of range";
}

/* Whether the line names a model. */
static bool has_model(const gather_cli_args *args) {
  if (!args->command) return false;
  gather_cli_command_id id = args->command->id;
  return id == GATHER_CLI_COMMAND_RUN || id == GATHER_CLI_COMMAND_CHECK ||
         (id == GATHER_CLI_COMMAND_EXPLAIN && args->argument_count == 1 && !args->value[GATHER_CLI_DATA]);
}

static void unsupported_hint(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes) {
  if (!args->command)
    snprintf(text, bytes, "gather --help lists the commands");
  else if (!error->file[0] || error->file_offset >= 0 || gather_remote_is_url(error->file))
    text[0] = 0; /* what to do about a URL is in the message */
  else if (strstr(error->message, "it is a") || (!strstr(error->message, "unknown format") && strstr(error->message, "; ")))
    text[0] = 0; /* and so it is for a known one */
  else if (has_model(args) && gather_cli_hint_is_file(args->argument[0], error))
    snprintf(text, bytes, "MODEL is an ONNX model, or an OpenVINO IR file (.xml)%s",
             args->command->id == GATHER_CLI_COMMAND_EXPLAIN ? "; with DATA give INDICES too" : "");
  else
    snprintf(text, bytes, "gather info --formats lists the supported formats%s",
             args->command->id != GATHER_CLI_COMMAND_RUN && args->command->id != GATHER_CLI_COMMAND_CHECK
                 ? "; --type and --shape read raw bytes"
                 : "");
}

static void name_hint(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes) {
  if (has_model(args)) {
    snprintf(text, bytes, "gather check MODEL lists the gather nodes of a model, and gather info MODEL its tensors");
    return;
  }
  for (int i = 0; i < args->argument_count; i++)
    if (strcmp(args->argument[i], error->file) == 0) {
      snprintf(text, bytes, "FILE:NAME names a tensor in a file; gather info FILE lists them all");
      return;
    }
  snprintf(text, bytes, "gather info FILE lists the tensors of a file");
}

/* A file with its own type and shape, while the line gives others. "" = another error. */
static const char *raw_hint(const gather_error *error) {
  bool indices = error->input && strcmp(error->input, "indices") == 0;
  if (error->status != GATHER_USAGE || !error->file[0] || !strstr(error->message, "it is not raw bytes")) return "";
  if (strstr(error->message, "it is not raw bytes: ")) /* nor anything else that is read */
    return indices ? "--indices-raw reads the bytes anyway" : "--raw reads the bytes anyway";
  return indices ? "leave out --indices-type, --indices-shape and --indices-offset; --indices-raw reads the bytes "
                   "anyway"
                 : "leave out --type, --shape and --offset (FILE:NAME selects a tensor); --raw reads the bytes anyway";
}

static void usage_hint(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes) {
  if (*raw_hint(error))
    snprintf(text, bytes, "%s", raw_hint(error));
  else if (strncmp(error->message, "GATHER_TUNING", 13) == 0) /* it applies to every command */
    snprintf(text, bytes, "gather help tuning lists the names");
  else if (args->command)
    snprintf(text, bytes, "gather %s --help shows the usage", args->command->name);
  else
    snprintf(text, bytes, "gather --help shows the usage");
}

void gather_cli_hint(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes) {
  text[0] = 0;
  if (*advice && strcmp(advised, error->message) == 0) {
    snprintf(text, bytes, "%s", advice);
    return;
  }
  if (error->file[0] && args->command && gather_cli_hint_output(args, error, text, bytes)) return;
  if (error->status == GATHER_IO_ERROR && gather_cli_hint_system(error, error->file, text, bytes)) return;
  switch (error->status) {
    case GATHER_USAGE:
      usage_hint(args, error, text, bytes);
      return;
    case GATHER_INDEX_OUT_OF_RANGE:
      snprintf(text, bytes, "%s", index_hint(args, error));
      return;
    case GATHER_INDEX_REPEATED:
      if (args->value[GATHER_CLI_UNIQUE]) snprintf(text, bytes, "without --unique its updates are applied one after the other");
      return;
    case GATHER_TYPE_UNSUPPORTED:
      if (error->input && strcmp(error->input, "indices") == 0) snprintf(text, bytes, "indices are integers: any type from int8 to uint64");
      return;
    case GATHER_RANK_MISMATCH:
      if (args->command->id == GATHER_CLI_COMMAND_ELEMENTS)
        snprintf(text, bytes, "elements takes one index per element of the result; use gather take for whole rows");
      else if (args->command->id == GATHER_CLI_COMMAND_ND && error->input && strcmp(error->input, "indices") == 0)
        snprintf(text, bytes, "the last dimension of INDICES has the numbers of a tuple: '[[0, 2]]' is one tuple");
      else if (has_model(args) && args->value[GATHER_CLI_INPUT])
        snprintf(text, bytes, "a literal has as many dimensions as brackets: 3 has none, '[3]' one, '[[3]]' two");
      return;
    case GATHER_UNSUPPORTED:
      unsupported_hint(args, error, text, bytes);
      return;
    case GATHER_FILE_EXISTS:
      if (strstr(error->message, "exists already")) /* an input is kept, also with -f */
        snprintf(text, bytes, "-f replaces it");
      return;
    case GATHER_NAME_NOT_FOUND:
      name_hint(args, error, text, bytes);
      return;
    case GATHER_FILE_NOT_FOUND:
      gather_cli_hint_missing(args, error, has_model(args), text, bytes);
      return;
    case GATHER_OUT_OF_MEMORY:
      if (args->command && args->command->id == GATHER_CLI_COMMAND_RUN && strstr(error->message, "memory limit"))
        snprintf(text, bytes, "--memory SIZE changes the limit");
      return;
    default:
      return;
  }
}
