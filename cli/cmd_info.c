/* SPDX-License-Identifier: MIT
 *
 * cmd_info.c: `gather info`: the contents of a file, the formats, and the version and features of this program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "commands.h"
#include "gather/model.h"
#include "gather/table.h"
#include "info_codec.h"
#include "info_list.h"
#include "info_plugins.h"
#include "json.h"
#include "report.h"
#include "source.h"
#include "tensor_arg.h"
#include "wrap.h"

/* The bytes of a row along axis 0, if the tensor can be a table (table.h); else -1. */
static int64_t row_bytes(const gather_file_tensor *tensor) {
  const gather_tensor *t = &tensor->tensor;
  const int32_t bits = gather_type_get(t->type)->bits;
  if (t->rank == 0 || t->type == GATHER_TYPE_STRING || t->shape[0] == 0) return -1;
  if (tensor->unreadable && !gather_file_is_remote(tensor) && !gather_file_chunks(tensor, NULL)) return -1;
  int64_t elements = 1, item_bytes = t->type == GATHER_TYPE_OPAQUE ? t->item_bytes : bits / 8;
  for (int32_t i = t->rank - 1; i >= 0; i--) {
    if (t->strides && bits >= 8 && t->shape[i] > 1 && t->strides[i] != elements * item_bytes) return -1;
    if (i > 0) elements *= t->shape[i];
  }
  if (t->type == GATHER_TYPE_OPAQUE || bits >= 8) return elements * item_bytes;
  return elements * bits % 8 == 0 ? elements * bits / 8 : -1;
}

static void json_chunks(gather_cli_json *json, const gather_file_tensor *tensor) {
  gather_file_chunks_info chunks;
  (void)gather_file_chunks(tensor, &chunks);
  gather_cli_json_object(json, "chunks");
  gather_cli_json_ints(json, "shape", chunks.rank, chunks.shape);
  gather_cli_json_int(json, "count", chunks.count);
  gather_cli_json_int(json, "across", chunks.across);
  gather_cli_json_string(json, "filters", chunks.filters);
  if (chunks.stored_bytes >= 0) gather_cli_json_int(json, "stored_bytes", chunks.stored_bytes);
  gather_cli_json_object_end(json);
}

/* From so many chunks a row on, a file of rows is worth making. */
enum { MANY_ACROSS = 5 };

static void text_chunks(const gather_file_tensor *tensor) {
  gather_file_chunks_info chunks;
  char shape[512];
  (void)gather_file_chunks(tensor, &chunks);
  gather_cli_say(stdout, "  in %" PRId64 " chunks of %s, %s", chunks.count,
                 gather_cli_shape_text(shape, sizeof shape, chunks.rank, chunks.shape), chunks.filters);
  if (chunks.stored_bytes >= 0) gather_cli_say(stdout, ", %" PRId64 " bytes as stored", chunks.stored_bytes);
  if (chunks.across > 1) gather_cli_say(stdout, "; a row is in %" PRId64 " of them", chunks.across);
  gather_cli_say(stdout, "\n");
  if (chunks.across >= MANY_ACROSS)
    gather_cli_say(
        stdout, "  a few rows need many chunks: `gather shuffle FILE:NAME -o rows.npy` once makes a file whose rows are read one by one\n");
}

static void json_tensor(gather_cli_json *json, const gather_cli_codecs *codecs, const gather_file_tensor *tensor) {
  gather_cli_json_object(json, NULL);
  gather_cli_json_string(json, "name", tensor->name);
  gather_cli_json_string(json, "type", tensor->type_name);
  gather_cli_json_ints(json, "shape", tensor->tensor.rank, tensor->tensor.shape);
  gather_cli_json_int(json, "bytes", tensor->bytes);
  if (!gather_file_chunks(tensor, NULL)) gather_cli_json_int(json, "offset", tensor->offset);
  if (row_bytes(tensor) >= 0) gather_cli_json_int(json, "row_bytes", row_bytes(tensor));
  gather_error why;
  if (gather_file_chunks(tensor, NULL))
    json_chunks(json, tensor);
  else if (gather_file_is_remote(tensor))
    gather_cli_json_bool(json, "remote", true);
  else if (gather_file_tensor_check(tensor, &why) != GATHER_OK)
    gather_cli_json_string(json, "unreadable", why.message);
  gather_cli_codecs_json(codecs, tensor, json);
  gather_cli_json_object_end(json);
}

static void text_tensor(const gather_cli_codecs *codecs, const gather_file_tensor *tensor) {
  char shape[512];
  gather_cli_say_visible(stdout, tensor->name);
  if (*tensor->name) gather_cli_say(stdout, ": ");
  gather_cli_say_visible(stdout, tensor->type_name);
  gather_cli_say(stdout, " %s, %" PRId64 " bytes", gather_cli_shape_text(shape, sizeof shape, tensor->tensor.rank, tensor->tensor.shape),
                 tensor->bytes);
  const bool chunked = gather_file_chunks(tensor, NULL);
  if (!chunked) gather_cli_say(stdout, " at %" PRId64, tensor->offset);
  if (tensor->tensor.rank > 1 && row_bytes(tensor) >= 0) gather_cli_say(stdout, ", rows of %" PRId64 " bytes", row_bytes(tensor));
  gather_cli_say(stdout, "\n");
  gather_cli_codecs_text(codecs, tensor);
  if (chunked) text_chunks(tensor);
  gather_error why;
  if (chunked || gather_file_is_remote(tensor) || gather_file_tensor_check(tensor, &why) == GATHER_OK) return;
  gather_cli_say(stdout, "  cannot be read: ");
  gather_cli_say_visible(stdout, why.message);
  gather_cli_say(stdout, "\n");
}

/* A big model has thousands: print the first few. */
enum { SHOWN = 20 };

static void text_more(int64_t count, const char *what) {
  if (count > SHOWN) gather_cli_say(stdout, "... and %" PRId64 " more %s; --json lists all\n", count - SHOWN, what);
}

/* The path of a node, of any length. */
static void put_node(const gather_model_node *node) {
  gather_cli_say_visible(stdout, node->graph);
  gather_cli_say(stdout, "/");
  gather_cli_say_visible(stdout, *node->name ? node->name : node->op);
  if (!*node->name) gather_cli_say(stdout, "_%" PRId64, node->number);
}

static void text_nodes(const gather_model *model, const gather_check *check) {
  int64_t count = gather_check_describe(check)->count;
  if (count > 0) gather_cli_say(stdout, "%" PRId64 " gather %s\n", count, count == 1 ? "node" : "nodes");
  for (int64_t i = 0; i < count && i < SHOWN; i++) {
    const gather_model_node *node = gather_check_at(check, i);
    put_node(node);
    gather_cli_say(stdout, ": %s %s, ", node->op, node->rules ? node->rules->rules : "of an unknown version");
    gather_cli_say_visible(stdout, node->data.name);
    gather_cli_say(stdout, " by ");
    gather_cli_say_visible(stdout, node->indices.name);
    if (node->axis_known) gather_cli_say(stdout, ", axis %" PRId64, node->axis);
    gather_cli_say(stdout, "\n");
  }
  if (count > SHOWN) gather_cli_say(stdout, "... and %" PRId64 " more gather nodes; gather check --json lists all\n", count - SHOWN);
  gather_cli_put_not_checked(model, ", not covered by gather check\n");
}

/* The parts of a split model that are missing. */
static void text_missing(const gather_file *file) {
  gather_error why;
  for (int64_t i = 0; gather_file_missing_at(file, i, &why); i++) {
    gather_cli_say(stdout, "missing: ");
    gather_cli_say_visible(stdout, why.message);
    gather_cli_say(stdout, "\n");
  }
}

static void json_missing(gather_cli_json *json, const gather_file *file) {
  gather_error why;
  if (!gather_file_missing_at(file, 0, NULL)) return;
  gather_cli_json_array(json, "missing");
  for (int64_t i = 0; gather_file_missing_at(file, i, &why); i++) {
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "file", why.file);
    gather_cli_json_string(json, "status", gather_status_name(why.status));
    gather_cli_json_string(json, "message", why.message);
    gather_cli_json_object_end(json);
  }
  gather_cli_json_array_end(json);
}

static gather_status text_file(const gather_cli_args *args, const gather_file *file, const gather_file_tensor *only,
                               const gather_cli_codecs *codecs, const gather_model *model, const gather_check *check, gather_error *error) {
  int64_t count = gather_file_len(file);
  gather_cli_say_visible(stdout, gather_cli_shown_name(args, file));
  gather_cli_say(stdout, ": %s, %" PRId64 " %s\n", gather_file_format(file), count, count == 1 ? "tensor" : "tensors");
  if (only) {
    text_tensor(codecs, only);
    return GATHER_OK;
  }
  for (int64_t i = 0; i < count && i < SHOWN; i++) text_tensor(codecs, gather_file_at(file, i));
  text_more(count, "tensors");
  text_missing(file);
  if (count > SHOWN) GATHER_CLI_TRY(gather_cli_put_unreadable(file, error));
  if (check) text_nodes(model, check);
  return GATHER_OK;
}

/* A model that runtimes refuse has no list of nodes; refused: why; "". */
static void put_refused(const char *refused) {
  if (!*refused) return;
  gather_cli_say(stdout, "not a valid model: ");
  gather_cli_say_visible(stdout, refused);
  gather_cli_say(stdout, "\n");
}

/* model and check: NULL for files without a model. */
static gather_status print_file(const gather_cli_args *args, const gather_file *file, const gather_file_tensor *only,
                                const gather_cli_codecs *codecs, const gather_model *model, const gather_check *check, const char *refused,
                                gather_error *error) {
  int64_t count = gather_file_len(file);
  if (!args->value[GATHER_CLI_JSON]) {
    GATHER_CLI_TRY(text_file(args, file, only, codecs, model, check, error));
    put_refused(refused);
    return GATHER_OK;
  }
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "info");
  gather_cli_json_string(&json, "file", gather_cli_shown_name(args, file));
  gather_cli_json_string(&json, "format", gather_file_format(file));
  gather_cli_json_array(&json, "tensors");
  for (int64_t i = 0; i < count; i++)
    if (!only || only == gather_file_at(file, i)) json_tensor(&json, codecs, gather_file_at(file, i));
  gather_cli_json_array_end(&json);
  json_missing(&json, file);
  gather_cli_json_int(&json, "gather_nodes", model ? gather_model_describe(model)->node_count : 0);
  if (model) gather_cli_json_not_checked(&json, model);
  if (*refused) gather_cli_json_string(&json, "not_valid", refused);
  gather_cli_json_finish(&json);
  return GATHER_OK;
}

static gather_status answer_file(const gather_cli_args *args, const gather_file *file, const gather_file_tensor *only,
                                 const gather_model *model, const gather_check *check, const char *refused, gather_error *error) {
  gather_cli_codecs codecs = {0};
  const int64_t count = gather_file_len(file);
  const bool all = only || args->value[GATHER_CLI_JSON] || count < SHOWN;
  gather_status status = gather_cli_codecs_find(file, only, all ? count : SHOWN, &codecs, error);
  if (status == GATHER_OK) status = print_file(args, file, only, &codecs, model, check, refused, error);
  gather_cli_codecs_clear(&codecs);
  return status;
}

/* The gather nodes of a file with a model. */
static gather_status info_model(const gather_cli_args *args, const gather_file *file, const gather_file_tensor *only, gather_error *error) {
  gather_model *model = NULL;
  gather_check *check = NULL;
  gather_error why = {.message = ""};
  gather_status status = gather_model_from_file(file, &model, error);
  if (status == GATHER_OK) status = gather_model_check(model, NULL, &check, &why);
  bool tensors_only = !model && status == GATHER_UNSUPPORTED, refused = model && status == GATHER_FILE_MALFORMED;
  if (model && status != GATHER_OK && !refused) *error = why;
  if (status == GATHER_OK || tensors_only || refused)
    status = answer_file(args, file, only, model, check, refused ? why.message : "", error);
  gather_check_destroy(check);
  gather_model_close(model);
  return status;
}

static gather_status info_file(const gather_cli_args *args, gather_cli_input *input, gather_error *error) {
  gather_cli_raw raw;
  const char *name;
  const gather_file_tensor *only = NULL;
  GATHER_CLI_TRY(gather_cli_raw_options(args, GATHER_CLI_TYPE, GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, &raw, error));
  GATHER_CLI_TRY(gather_cli_raw_rows(args->argument[0], &raw, error));
  GATHER_CLI_TRY(gather_cli_input_open(args->argument[0], &raw, false, NULL, input, &name, error));
  if (*name || raw.tensor) GATHER_CLI_TRY(gather_file_find(input->file, name, &only, error));
  return info_model(args, input->file, only, error);
}

static void json_formats(void) {
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "info");
  gather_cli_json_array(&json, "formats");
  for (size_t i = 0; gather_format_at(i); i++) {
    gather_cli_json_object(&json, NULL);
    gather_cli_json_string(&json, "name", gather_format_at(i)->name);
    gather_cli_json_words(&json, "abilities", gather_format_at(i)->abilities);
    gather_cli_json_words(&json, "extensions", gather_format_at(i)->extensions);
    gather_cli_json_object_end(&json);
  }
  gather_cli_json_array_end(&json);
  gather_cli_json_finish(&json);
}

static void text_formats(void) {
  const gather_format_info *format;
  for (size_t i = 0; (format = gather_format_at(i)) != NULL; i++)
    gather_cli_say(stdout, "%-17s %-10s  %s\n", format->name, format->abilities, format->extensions);
  printf(
      "\nThe format of an input file is detected from its content, not from its name; raw\n"
      "bytes need --type and --shape.\n"
      "INDICES may also be a literal, a text file of integers, or FILE:COLUMN of a\n"
      "CSV or TSV file.\n");
}

/* The engines of tables, and why one of them does not work here. */
static const gather_engine ENGINES[] = {GATHER_ENGINE_MMAP, GATHER_ENGINE_PREAD, GATHER_ENGINE_URING, GATHER_ENGINE_HTTP,
                                        GATHER_ENGINE_OVERLAPPED};
enum { ENGINE_COUNT = sizeof ENGINES / sizeof *ENGINES };

static void json_engines(gather_cli_json *json) {
  gather_error why;
  gather_cli_json_array(json, "engines");
  for (size_t i = 0; i < ENGINE_COUNT; i++) {
    bool works = gather_engine_check(ENGINES[i], &why) == GATHER_OK;
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "name", gather_engine_name(ENGINES[i]));
    gather_cli_json_bool(json, "works", works);
    if (!works) gather_cli_json_string(json, "why", why.message);
    gather_cli_json_object_end(json);
  }
  gather_cli_json_array_end(json);
}

/* Overlapped reads are Windows' only, where they always work. The JSON object lists them everywhere. */
static bool is_of_another_system(gather_engine engine) { return engine == GATHER_ENGINE_OVERLAPPED; }

static void text_engines(void) {
  gather_error why;
  gather_cli_say(stdout, "engines:");
  for (size_t i = 0; i < ENGINE_COUNT; i++)
    if (gather_engine_check(ENGINES[i], NULL) == GATHER_OK) gather_cli_say(stdout, " %s", gather_engine_name(ENGINES[i]));
  gather_cli_say(stdout, "\n");
  for (size_t i = 0; i < ENGINE_COUNT; i++)
    if (gather_engine_check(ENGINES[i], &why) != GATHER_OK && !is_of_another_system(ENGINES[i])) {
      gather_cli_say(stdout, "engine %s is not available: ", gather_engine_name(ENGINES[i]));
      gather_cli_say_visible(stdout, why.message);
      gather_cli_say(stdout, "\n");
    }
}

static void json_program(const char *command) {
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_machine_describe(&machine);
  gather_cli_json_string(&json, "command", command);
  gather_cli_json_string(&json, "version", gather_version());
  gather_cli_json_words(&json, "cpu_features", machine.cpu_features);
  gather_cli_json_string(&json, "kernels", machine.isa);
  gather_cli_json_int(&json, "threads", machine.cpus);
  gather_cli_json_string(&json, "pool", machine.pool);
  json_engines(&json);
  gather_cli_json_finish(&json);
}

int gather_cli_cmd_version(const gather_cli_args *args) {
  if (args->value[GATHER_CLI_JSON]) {
    json_program("version");
    return 0;
  }
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_machine_describe(&machine);
  gather_cli_say(stdout, "gather %s\ncpu features: %s\nkernels: %s\n", gather_version(), machine.cpu_features, machine.isa);
  return 0;
}

static void info_program(const gather_cli_args *args) {
  if (args->value[GATHER_CLI_JSON]) {
    json_program("info");
    return;
  }
  gather_machine machine = GATHER_MACHINE_INIT;
  gather_cli_cmd_version(args);
  gather_machine_describe(&machine);
  gather_cli_say(stdout, "threads: %" PRId32 "\nthread pool: %s\n", machine.cpus, machine.pool);
  text_engines();
}

static gather_status check_line(const gather_cli_args *args, gather_error *error) {
  const char *const *value = args->value;
  const char *list = value[GATHER_CLI_FORMATS] ? "--formats" : value[GATHER_CLI_PLUGINS] ? "--plugins" : NULL;
  if (list && args->argument_count) return gather_cli_fail(error, GATHER_USAGE, "%s takes no FILE", list);
  if (value[GATHER_CLI_FORMATS] && value[GATHER_CLI_PLUGINS])
    return gather_cli_fail(error, GATHER_USAGE, "--formats and --plugins exclude each other");
  if (!args->argument_count && (value[GATHER_CLI_TYPE] || value[GATHER_CLI_SHAPE] || value[GATHER_CLI_OFFSET]))
    return gather_cli_fail(error, GATHER_USAGE, "--type, --shape and --offset need a FILE");
  return GATHER_OK;
}

int gather_cli_cmd_info(const gather_cli_args *args) {
  gather_cli_input input = {0};
  gather_error error;
  gather_status status = check_line(args, &error);
  if (status == GATHER_OK && args->value[GATHER_CLI_FORMATS])
    (args->value[GATHER_CLI_JSON] ? json_formats : text_formats)();
  else if (status == GATHER_OK && args->value[GATHER_CLI_PLUGINS])
    gather_cli_info_plugins(args->value[GATHER_CLI_JSON] != NULL);
  else if (status == GATHER_OK && args->argument_count == 0)
    info_program(args);
  else if (status == GATHER_OK && gather_remote_is_folder(args->argument[0]))
    status = gather_cli_info_list(args, &error);
  else if (status == GATHER_OK)
    status = info_file(args, &input, &error);
  gather_cli_input_close(&input);
  return status == GATHER_OK ? 0 : gather_cli_report(args, &error);
}
