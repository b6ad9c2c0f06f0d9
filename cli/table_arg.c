/* SPDX-License-Identifier: MIT
 *
 * table_arg.c: the options of tables, and their statistics as text and JSON.
 */
#include "table_arg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "fail.h"
#include "json.h"
#include "show.h"
#include "size.h"
#include "wrap.h"

enum { MOST_DEPTH = 4096 };

gather_status gather_cli_table_options_read(const gather_cli_args *args, gather_cli_table_options *options, gather_error *error) {
  static const gather_cli_option_id OURS[] = {GATHER_CLI_MEMORY, GATHER_CLI_ENGINE, GATHER_CLI_DEPTH, GATHER_CLI_PART};
  const char *engine = args->value[GATHER_CLI_ENGINE];
  char hint[160];
  int64_t depth;
  *options = (gather_cli_table_options){.engine = GATHER_ENGINE_AUTO};
  for (size_t i = 0; i < sizeof OURS / sizeof *OURS && !options->asked; i++)
    if (args->value[OURS[i]]) options->asked = gather_cli_option_at(OURS[i])->name;
  GATHER_CLI_TRY(gather_cli_size(args, GATHER_CLI_MEMORY, GATHER_TABLE_LEAST_MEMORY, 0, &options->memory_bytes, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_DEPTH, 1, MOST_DEPTH, 0, &depth, error));
  options->depth = (int32_t)depth;
  if (!engine) return GATHER_OK;
  if (gather_engine_parse(engine, &options->engine, NULL) == GATHER_OK) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "--engine takes auto, mmap, pread, uring, http or overlapped, not '%.100s'%s", engine,
                         gather_cli_choice_hint(GATHER_CLI_ENGINE, args->command, engine, hint, sizeof hint));
}

const char **gather_cli_table_paths(const gather_cli_args *args, const char *first, int32_t *count) {
  const char **paths = calloc((size_t)args->given_count + 1, sizeof *paths);
  if (!paths) return NULL;
  paths[0] = first;
  *count = 1;
  for (const char *path; (path = gather_cli_value_at(args, GATHER_CLI_PART, *count - 1)); ++*count) paths[*count] = path;
  return paths;
}

void gather_cli_json_device(gather_cli_json *json, const gather_table_device *device) {
  const double mean = device->reads > 0 ? device->seconds_reading / (double)device->reads : 0;
  gather_cli_json_object(json, NULL);
  gather_cli_json_string(json, "file", device->path);
  gather_cli_json_int(json, "files", device->files);
  gather_cli_json_bool(json, "direct", device->direct);
  gather_cli_json_int(json, "depth", device->depth);
  gather_cli_json_int(json, "most_in_flight", device->most_in_flight);
  gather_cli_json_int(json, "reads", device->reads);
  gather_cli_json_int(json, "bytes_read", device->bytes_read);
  gather_cli_json_double(json, "seconds_per_read", mean);
  gather_cli_json_object_end(json);
}

void gather_cli_json_table(gather_cli_json *json, const gather_table *table, const gather_table_statistics *statistics) {
  gather_cli_json_object(json, "table");
  gather_cli_json_string(json, "engine", gather_engine_name(statistics->engine));
  gather_cli_json_bool(json, "direct", statistics->direct);
  gather_cli_json_int(json, "depth", statistics->depth);
  gather_cli_json_string(json, "why", statistics->why);
  gather_cli_json_int(json, "rows", statistics->rows);
  gather_cli_json_int(json, "rows_resident", statistics->rows_resident);
  gather_cli_json_int(json, "rows_cached", statistics->rows_cached);
  gather_cli_json_int(json, "rows_read", statistics->rows_read);
  gather_cli_json_int(json, "reads", statistics->reads);
  gather_cli_json_int(json, "bytes_useful", statistics->bytes_useful);
  gather_cli_json_int(json, "bytes_read", statistics->bytes_read);
  gather_cli_json_int(json, "memory_peak", statistics->memory_peak);
  gather_cli_json_int(json, "memory_ceiling", statistics->memory_ceiling);
  if (statistics->chunks_read + statistics->chunks_cached > 0) {
    gather_cli_json_int(json, "chunks_read", statistics->chunks_read);
    gather_cli_json_int(json, "chunks_cached", statistics->chunks_cached);
    gather_cli_json_int(json, "bytes_decoded", statistics->bytes_decoded);
    gather_cli_json_double(json, "seconds_decoding", statistics->seconds_decoding);
  }
  gather_table_device device;
  gather_cli_json_array(json, "devices");
  for (int32_t i = 0; table && gather_table_device_at(table, i, &device); i++) gather_cli_json_device(json, &device);
  gather_cli_json_array_end(json);
  gather_cli_json_object_end(json);
}

char *gather_cli_engine_text(char *text, size_t bytes, const gather_table_statistics *statistics) {
  const char *name = gather_engine_name(statistics->engine);
  (void)snprintf(text, bytes, "%s%s, %" PRId32 " %s in flight", name ? name : "?", statistics->direct ? ", direct I/O" : "",
                 statistics->depth, statistics->depth == 1 ? "read" : "reads");
  return text;
}

void gather_cli_table_note(const gather_cli_args *args, gather_engine asked, const gather_table_statistics *statistics) {
  if (asked == GATHER_ENGINE_AUTO || asked == statistics->engine) return;
  if (args->value[GATHER_CLI_QUIET] || args->value[GATHER_CLI_JSON]) return;
  gather_cli_say(stderr, "gather: note: using %s, not %s: ", gather_engine_name(statistics->engine), gather_engine_name(asked));
  gather_cli_say_visible(stderr, statistics->why);
  gather_cli_say(stderr, "\n");
}
