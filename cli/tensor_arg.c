/* SPDX-License-Identifier: MIT
 *
 * tensor_arg.c: a tensor as named on the command line.
 */
#include "tensor_arg.h"

#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "gather/table.h"
#include "remote_arg.h"
#include "report.h"
#include "source.h"

gather_status gather_cli_shape(const char *text, const char *option, int64_t *shape, int32_t *rank, gather_error *error) {
  const char *p = text;
  while (*p) {
    bool too_big;
    int64_t length;
    const char *begin = p;
    if (*rank == GATHER_MAX_RANK) return gather_cli_fail(error, GATHER_USAGE, "--%s has more than %d lengths", option, GATHER_MAX_RANK);
    bool whole = *begin >= '0' && *begin <= '9' && gather_cli_whole(p, &p, &length, &too_big);
    if (!whole || (*p != 0 && *p != 'x') || (*p == 'x' && p[1] == 0))
      return gather_cli_fail(error, GATHER_USAGE, "--%s takes lengths such as 3x4, not '%s'", option, text);
    shape[(*rank)++] = length;
    if (*p == 'x') p++;
  }
  return GATHER_OK;
}

/* Whether the library knows the type: tries to open zero bytes as the shape [0] of that type. */
static gather_status check_type(const gather_cli_raw *raw, gather_cli_option_id option, gather_error *error) {
  const gather_cli_option *option_at = gather_cli_option_at(option);
  char hint[160];
  static const int64_t NOTHING[1] = {0};
  gather_raw probe = {.type = raw->raw.type, .rank = 1, .shape = NOTHING};
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  gather_file *file = NULL;
  source.memory = "";
  source.name = option_at->name;
  source.raw = &probe;
  gather_status status = gather_file_open(&source, &file, error);
  gather_file_close(file);
  (void)gather_cli_choice_hint(option, NULL, probe.type, hint, sizeof hint);
  if (status != GATHER_USAGE || !*hint) return status;
  return gather_cli_fail(error, GATHER_USAGE, "--%s: no such type '%.100s'%s", option_at->name, probe.type, hint);
}

/* The option "raw" that goes with a type. */
static gather_cli_option_id as_is_of(gather_cli_option_id type) { return type == GATHER_CLI_TYPE ? GATHER_CLI_RAW : GATHER_CLI_I_RAW; }

static gather_cli_option_id tensor_of(gather_cli_option_id type) {
  return type == GATHER_CLI_TYPE ? GATHER_CLI_TENSOR : GATHER_CLI_I_TENSOR;
}

gather_status gather_cli_raw_options(const gather_cli_args *args, gather_cli_option_id type, gather_cli_option_id shape,
                                     gather_cli_option_id offset, gather_cli_raw *raw, gather_error *error) {
  const char *type_name = gather_cli_option_at(type)->name, *shape_name = gather_cli_option_at(shape)->name;
  memset(raw, 0, sizeof *raw);
  raw->tensor = args->value[tensor_of(type)];
  GATHER_CLI_TRY(gather_cli_number(args, offset, 0, INT64_MAX, 0, &raw->raw.offset, error));
  raw->raw.as_is = args->value[as_is_of(type)] != NULL;
  if (!args->value[type] && !args->value[shape] && !args->value[offset] && !raw->raw.as_is) return GATHER_OK;
  if (!args->value[type] || !args->value[shape])
    return gather_cli_fail(error, GATHER_USAGE, "raw bytes need --%s too; other formats need neither", args->value[type] ? shape_name : type_name);
  raw->raw.type = args->value[type];
  raw->raw.shape = raw->shape;
  const char *lengths = args->value[shape];
  raw->whole = shape == GATHER_CLI_SHAPE && strncmp(lengths, "-1", 2) == 0 && (lengths[2] == 0 || lengths[2] == 'x');
  if (raw->whole) {
    raw->shape[raw->raw.rank++] = -1;
    lengths += lengths[2] == 'x' ? 3 : 2;
    if (*lengths == 0 && lengths[-1] == 'x')
      return gather_cli_fail(error, GATHER_USAGE, "--%s takes lengths such as 3x4, not '-1x'", shape_name);
  }
  GATHER_CLI_TRY(gather_cli_shape(lengths, shape_name, raw->shape, &raw->raw.rank, error));
  return check_type(raw, type, error);
}

gather_status gather_cli_raw_rows(const char *argument, gather_cli_raw *raw, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table = NULL;
  if (!raw->whole) return GATHER_OK;
  if (gather_cli_is_stdin(argument))
    return gather_cli_fail(error, GATHER_USAGE, "the number of rows of standard input is not known: --shape needs it");
  options.raw = &raw->raw;
  options.tensor = raw->tensor;
  options.keep_signals = true;
  options.no_links = gather_cli_no_links();
  GATHER_CLI_TRY(gather_cli_remote(argument, &options.remote, error));
  GATHER_CLI_TRY(gather_table_open(argument, &options, &table, error));
  raw->shape[0] = gather_table_describe(table)->rows;
  gather_table_close(table);
  return GATHER_OK;
}

/* Turns numbers into a tensor that the input owns. */
static void use_elements(gather_cli_input *input, gather_type type) {
  gather_cli_numbers *numbers = &input->numbers;
  const gather_type_info *info = gather_type_get(type);
  input->tensor = (gather_file_tensor){.name = "",
                                       .type_name = info->name,
                                       .bytes = numbers->len * (info->bits / 8),
                                       .tensor = {.data = numbers->at, .type = type, .rank = numbers->rank, .shape = numbers->shape}};
}

static void use_numbers(gather_cli_input *input) { use_elements(input, GATHER_TYPE_INT64); }

gather_status gather_cli_input_literal(const char *text, gather_cli_input *input, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_literal(text, &input->numbers, error));
  use_numbers(input);
  return GATHER_OK;
}

gather_status gather_cli_input_slice(const gather_cli_slice *slice, int64_t len, int64_t memory_bytes, gather_cli_input *input,
                                     gather_error *error) {
  int64_t first, count = gather_cli_slice_len(slice, len, &first);
  if (memory_bytes > 0 && count > memory_bytes / (int64_t)sizeof first)
    return gather_cli_fail(error, GATHER_USAGE,
                           "the slice '%.100s' has %lld indices, which do not fit in --memory; give them in a file (.npy), "
                           "which is mapped",
                           slice->text, (long long)count);
  GATHER_CLI_TRY(gather_cli_slice_numbers(slice, len, &input->numbers, error));
  use_numbers(input);
  return GATHER_OK;
}

/* Numbers in text. */
static gather_status open_text(gather_file_source *source, const char *name, gather_cli_input *input, gather_error *error) {
  source->text = input->text = true;
  source->text_column = name;
  GATHER_CLI_TRY(gather_file_open(source, &input->file, error));
  input->tensor = *gather_file_at(input->file, 0);
  return GATHER_OK;
}

static gather_status open_stream(const char *path, const char *name, const gather_raw *raw, bool text_allowed, gather_cli_input *input,
                                 gather_error *error) {
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  GATHER_CLI_TRY(gather_cli_source_read(path, &input->memory, &input->memory_bytes, error));
  source.memory = input->memory;
  source.bytes = input->memory_bytes;
  source.name = strcmp(path, "-") == 0 ? "standard input" : path;
  source.raw = raw;
  if (!raw && text_allowed && gather_file_is_text(input->memory, input->memory_bytes < 4096 ? input->memory_bytes : 4096))
    return open_text(&source, name, input, error);
  return gather_file_open(&source, &input->file, error);
}

/* Files on other machines: one request also tells whether it is text. */
static gather_status open_url(const char *url, const char *name, const gather_raw *raw, bool text_allowed, gather_cli_input *input,
                              gather_error *error) {
  gather_file_source source;
  GATHER_CLI_TRY(gather_cli_file_source(url, &source, error));
  gather_remote_options remote = *source.remote;
  if (text_allowed) remote.whole_bytes = gather_cli_remote_indices_bytes();
  source.remote = &remote;
  source.raw = raw;
  if (text_allowed) source.text_column = name;
  GATHER_CLI_TRY(gather_file_open(&source, &input->file, error));
  if (raw) return GATHER_OK;
  const char *format = gather_file_format(input->file);
  input->text = text_allowed && (strcmp(format, "text") == 0 || strcmp(format, "csv") == 0);
  if (input->text) input->tensor = *gather_file_at(input->file, 0);
  return GATHER_OK;
}

static gather_status open_path(const char *path, const char *name, const gather_raw *raw, bool text_allowed, gather_cli_input *input,
                               gather_error *error) {
  if (gather_remote_is_url(path)) return open_url(path, name, raw, text_allowed, input, error);
  if (gather_cli_source_streams(path)) return open_stream(path, name, raw, text_allowed, input, error);
  gather_file_source source;
  bool text = false;
  GATHER_CLI_TRY(gather_cli_file_source(path, &source, error));
  source.raw = raw;
  if (!raw && text_allowed) GATHER_CLI_TRY(gather_cli_source_is_text(path, &text, error));
  if (text) return open_text(&source, name, input, error);
  return gather_file_open(&source, &input->file, error);
}

gather_status gather_cli_input_open(const char *argument, const gather_cli_raw *raw, bool text_allowed, const char *role,
                                    gather_cli_input *input, const char **name, gather_error *error) {
  char *path = NULL;
  gather_status status = gather_cli_source_split(argument, raw->tensor, &path, name, error);
  if (status == GATHER_OK) status = open_path(path, *name, raw->raw.type ? &raw->raw : NULL, text_allowed, input, error);
  free(path);
  if (status != GATHER_OK) error->input = role;
  return status;
}

/* Whether a tensor has elements that are not in memory. */
static bool is_to_load(const gather_file_tensor *tensor) { return gather_file_is_remote(tensor) || gather_file_chunks(tensor, NULL); }

gather_status gather_cli_input_tensor(const char *argument, const gather_cli_raw *raw, bool text_allowed, const char *role,
                                      gather_cli_input *input, gather_error *error) {
  const char *name;
  const gather_file_tensor *tensor = NULL;
  GATHER_CLI_TRY(gather_cli_input_open(argument, raw, text_allowed, role, input, &name, error));
  if (input->text) return GATHER_OK;
  gather_status status =
      text_allowed ? gather_file_find_whole(input->file, name, &tensor, error) : gather_file_find(input->file, name, &tensor, error);
  /* Rows of DATA that is remote or in chunks are read by a table; if not, gather_cli_input_load downloads or decodes it. */
  if (status == GATHER_OK && !is_to_load(tensor)) status = gather_file_tensor_check(tensor, error);
  if (status == GATHER_OK)
    input->tensor = *tensor;
  else
    error->input = role;
  return status;
}

gather_status gather_cli_input_load(gather_cli_input *input, const char *role, gather_error *error) {
  const gather_file_tensor *tensor = NULL;
  if (!input->file || !is_to_load(&input->tensor)) return GATHER_OK;
  const char *name = input->tensor.name;
  gather_status status = gather_file_find_whole(input->file, name, &tensor, error);
  if (status == GATHER_OK)
    input->tensor = *tensor;
  else
    error->input = role;
  return status;
}

gather_status gather_cli_input_typed(const char *argument, gather_type type, const char *role, gather_cli_input *input,
                                     gather_error *error) {
  static const gather_cli_raw NOT_RAW;
  if (type == GATHER_TYPE_NONE) type = GATHER_TYPE_INT64;
  gather_status status;
  if (gather_cli_is_literal_of(type, argument)) {
    status = gather_cli_literal_typed(argument, type, &input->numbers, error);
  } else {
    status = gather_cli_input_tensor(argument, &NOT_RAW, true, role, input, error);
    if (status == GATHER_FILE_NOT_FOUND && type == GATHER_TYPE_BOOL)
      (void)gather_cli_hint_set(error, "the input is bool: true, false, a list of them, or a FILE");
    if (status != GATHER_OK || !input->text || type == GATHER_TYPE_INT64) return status; /* other files have their own type */
    const gather_tensor *text = &input->tensor.tensor;
    status = gather_cli_numbers_copy(text->data, gather_tensor_len(text), &input->numbers, error);
    input->numbers.rank = text->rank;
    memcpy(input->numbers.shape, text->shape, (size_t)text->rank * sizeof *text->shape);
    if (status == GATHER_OK) status = gather_cli_numbers_retype(&input->numbers, type, error);
  }
  if (status == GATHER_OK) use_elements(input, type);
  return status;
}

void gather_cli_input_close(gather_cli_input *input) {
  gather_file_close(input->file);
  gather_cli_numbers_clear(&input->numbers);
  free(input->memory);
  memset(input, 0, sizeof *input);
}

bool gather_cli_is_stdin(const char *argument) { return argument[0] == '-' && (argument[1] == 0 || argument[1] == ':'); }
