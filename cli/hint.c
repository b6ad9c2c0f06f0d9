/* SPDX-License-Identifier: MIT
 *
 * hint.c: the second line of an error: what to do about it.
 */
#include <string.h>

#include "report.h"

/* A bad index: which policy would go on. An axis of length 0 has no row that could stand in. */
static const char *index_hint(const gather_cli_args *args, const gather_error *error) {
  const char *negative = args->value[GATHER_CLI_NEGATIVE];
  if (!(gather_cli_option_at(GATHER_CLI_ON_BAD)->commands >> args->command->id & 1)) return "";
  bool below = !error->value_is_unsigned && error->value < 0;
  if (error->low > error->high) return "the axis has no elements; --on-bad zero or fill=V would fill the output";
  if (error->low == 0 && below && !(negative && strcmp(negative, "off") == 0))
    return "--negative on counts indices below 0 from the end; --on-bad clamp, wrap, zero or fill=V repairs bad ones";
  return "--on-bad clamp, wrap, zero or fill=V goes on and repairs bad indices";
}

/* Whether the line names a model. */
static bool has_model(const gather_cli_args *args) {
  if (!args->command) return false;
  gather_cli_command_id id = args->command->id;
  return id == GATHER_CLI_COMMAND_RUN || id == GATHER_CLI_COMMAND_CHECK ||
         (id == GATHER_CLI_COMMAND_EXPLAIN && args->argument_count == 1 && !args->value[GATHER_CLI_DATA]);
}

/* What is missing may be the model, or what --input names. */
static const char *model_hint(const gather_cli_args *args, const gather_error *error) {
  switch (error->status) {
    case GATHER_FILE_NOT_FOUND:
      return strstr(args->argument[0], error->file) != NULL /* of a long name, the end stands there */
                 ? "MODEL is an ONNX model, or an OpenVINO IR file (.xml beside its .bin)"
                 : "--input takes NAME=FILE, NAME=FILE:TENSOR, or a literal such as NAME='[0, 2]'";
    case GATHER_NAME_NOT_FOUND:
      return "gather check MODEL lists the gather nodes of a model, and gather info MODEL its tensors";
    default:
      return "";
  }
}

static const char *file_hint(const gather_error *error) {
  bool indices = error->input && strcmp(error->input, "indices") == 0;
  switch (error->status) {
    case GATHER_FILE_NOT_FOUND:
      return indices ? "INDICES is a file, FILE:NAME, - (standard input), or a literal such as '[0, 2]'"
                     : "a tensor is given as FILE, FILE:NAME, or - (standard input)";
    case GATHER_NAME_NOT_FOUND:
      return "gather info FILE lists the tensors of a file";
    default:
      return "";
  }
}

static const char *general_hint(const gather_cli_args *args, const gather_error *error) {
  switch (error->status) {
    case GATHER_INDEX_OUT_OF_RANGE:
      return index_hint(args, error);
    case GATHER_TYPE_UNSUPPORTED:
      return error->input && strcmp(error->input, "indices") == 0
                 ? "indices are whole numbers: any type from int8 to uint64"
                 : "";
    case GATHER_UNSUPPORTED:
      if (!args->command) return "gather --help lists the commands";
      return error->file[0] && error->file_offset < 0 ? "gather info --formats lists what can be read and written" : "";
    case GATHER_FILE_EXISTS:
      return "-f replaces it";
    default:
      return has_model(args) ? model_hint(args, error) : file_hint(error);
  }
}

void gather_cli_hint(const gather_cli_args *args, const gather_error *error, char *text, size_t bytes) {
  if (error->status != GATHER_USAGE)
    snprintf(text, bytes, "%s", general_hint(args, error));
  else if (args->command && strncmp(error->message, "GATHER_TUNING", 13) != 0) /* that one concerns every command */
    snprintf(text, bytes, "gather %s --help shows how it is used", args->command->name);
  else
    snprintf(text, bytes, "gather --help shows how it is used");
}
