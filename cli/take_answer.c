/* SPDX-License-Identifier: MIT
 *
 * take_answer.c: the answer of `take` and the other commands of take.h on success, as text or JSON.
 */
#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "remote_arg.h"
#include "show.h"
#include "take.h"
#include "wrap.h"

static const char *type_name(const gather_cli_job *job) { return job->data.tensor.type_name; }

/* The limit is that of the whole program; the two parts of the output in memory count too. */
static void table_json(gather_cli_json *json, const gather_cli_job *job) {
  const gather_cli_take_table *through = &job->through;
  gather_table_statistics statistics = through->statistics;
  statistics.memory_peak += 2 * (job->bytes < through->part_bytes ? job->bytes : through->part_bytes);
  if (through->options.memory_bytes > 0) statistics.memory_ceiling = through->options.memory_bytes;
  gather_cli_json_table(json, through->table, &statistics);
  if (through->remote) gather_cli_json_remote(json, &through->network);
}

/* The tuples of INDICES, which have `len` numbers each. */
static int64_t count_tuples(const gather_cli_job *job, int64_t *len) {
  gather_tensor tuples = job->indices.tensor.tensor;
  tuples.rank--;
  *len = tuples.shape[tuples.rank];
  return gather_tensor_len(&tuples);
}

static void count_text(const gather_cli_job *job, FILE *to) {
  int64_t len;
  if (!job->op || !job->op->tuples) {
    gather_cli_say(to, "%" PRId64 " %s", job->index_count, job->index_count == 1 ? "index" : "indices");
    return;
  }
  const int64_t tuples = count_tuples(job, &len);
  gather_cli_say(to, "%" PRId64 " %s of %" PRId64, tuples, tuples == 1 ? "tuple" : "tuples", len);
}

static void answer_json(const gather_cli_job *job) {
  gather_cli_json json = gather_cli_json_begin(gather_cli_json_stream(job->args));
  gather_cli_json_string(&json, "command", job->args->command->name);
  gather_cli_json_string(&json, "rules", job->op ? job->op->rules : NULL);
  if (job->reduction) gather_cli_json_string(&json, "reduction", job->reduction);
  gather_cli_json_string(&json, "type", type_name(job));
  if (job->through.decode_as) gather_cli_json_string(&json, "codec", job->through.codec.codec);
  gather_cli_json_ints(&json, "shape", job->writing.rank, job->shape);
  gather_cli_json_int(&json, "bytes", job->bytes);
  gather_cli_json_string(&json, "output", job->output);
  gather_cli_json_object(&json, "indices");
  int64_t len;
  gather_cli_json_int(&json, "count", job->index_count);
  if (job->slice.text) gather_cli_json_string(&json, "slice", job->slice.text);
  if (job->op && job->op->tuples) gather_cli_json_int(&json, "tuples", count_tuples(job, &len));
  gather_cli_json_int(&json, "bad", job->bad_count);
  gather_cli_json_object_end(&json);
  if (job->through.padded_bytes > job->through.row_bytes) {
    gather_cli_json_object(&json, "padding");
    gather_cli_json_int(&json, "row_bytes", job->through.row_bytes);
    gather_cli_json_int(&json, "padded_bytes", job->through.padded_bytes);
    gather_cli_json_object_end(&json);
  }
  gather_cli_json_string(&json, "plan", job->plan_text);
  gather_cli_json_double(&json, "seconds", job->seconds);
  gather_cli_json_bool(&json, "dry_run", job->args->value[GATHER_CLI_DRY_RUN] != NULL);
  if (job->through.table) table_json(&json, job);
  gather_cli_json_finish(&json);
}

static void answer_text(const gather_cli_job *job, FILE *to) {
  char shape[512];
  bool dry = job->args->value[GATHER_CLI_DRY_RUN] != NULL;
  gather_cli_say_visible(to, job->to_stdout ? "standard output" : job->output ? job->output : "result");
  gather_cli_say(to, ": %s", dry ? "would be " : "");
  gather_cli_say_visible(to, type_name(job));
  gather_cli_say(to, " %s, %" PRId64 " %s; ", gather_cli_shape_text(shape, sizeof shape, job->writing.rank, job->shape), job->bytes,
                 job->bytes == 1 ? "byte" : "bytes");
  count_text(job, to);
  if (job->bad_count)
    gather_cli_say(to, ", %" PRId64 " out of range and %s", job->bad_count,
                   job->options.on_bad == GATHER_ON_BAD_SKIP ? "skipped" : "repaired");
  if (job->through.padded_bytes > job->through.row_bytes)
    gather_cli_say(to, "; rows padded with zeros from %" PRId64 " to %" PRId64 " bytes", job->through.row_bytes, job->through.padded_bytes);
  gather_cli_say(to, "\n");
}

/* What each device did, if there are several. */
static void devices_text(const gather_table *table) {
  gather_table_device device;
  if (!gather_table_device_at(table, 1, &device)) return;
  for (int32_t i = 0; gather_table_device_at(table, i, &device); i++) {
    gather_cli_say(stderr, "device %" PRId32 " (", i);
    gather_cli_say_visible(stderr, device.path);
    if (device.files > 1) gather_cli_say(stderr, " and %" PRId32 " more", device.files - 1);
    gather_cli_say(stderr, "): %" PRId64 " reads, %" PRId64 " bytes read, %" PRId32 " in flight at most, %.0f us each\n", device.reads,
                   device.bytes_read, device.most_in_flight, device.reads > 0 ? device.seconds_reading * 1e6 / (double)device.reads : 0.0);
  }
}

static void table_text(const gather_table_statistics *s) {
  gather_cli_say(stderr,
                 "table: %" PRId64 " rows resident, %" PRId64 " cached, %" PRId64 " read; %" PRId64 " reads, %" PRId64
                 " bytes read for %" PRId64 " needed\n",
                 s->rows_resident, s->rows_cached, s->rows_read, s->reads, s->bytes_read, s->bytes_useful);
  if (s->chunks_read + s->chunks_cached > 0)
    gather_cli_say(stderr, "chunks: %" PRId64 " read, %" PRId64 " cached; %" PRId64 " bytes decoded in %.3f s of all threads\n",
                   s->chunks_read, s->chunks_cached, s->bytes_decoded, s->seconds_decoding);
}

/* Chunks that were decoded again and again would have been worth converting. */
static void chunks_note(const gather_cli_job *job) {
  const gather_table_statistics *s = &job->through.statistics;
  const gather_table_info *info = job->through.table ? gather_table_describe(job->through.table) : NULL;
  if (!info || s->bytes_decoded / 2 <= info->rows * info->row_bytes) return;
  gather_cli_say(stderr,
                 "gather: note: chunks were decoded several times, more than twice the table; `gather shuffle DATA --order INDICES -o OUT` "
                 "decodes each once\n");
}

void gather_cli_job_answer(const gather_cli_job *job) {
  const gather_cli_args *args = job->args;
  bool plan = args->value[GATHER_CLI_PLAN] || args->value[GATHER_CLI_DRY_RUN];
  /* With -o - the result itself is on stdout; then only requested text is printed, on stderr. */
  FILE *to = gather_cli_json_stream(args);
  if (args->value[GATHER_CLI_JSON]) {
    answer_json(job);
    return;
  }
  if (args->value[GATHER_CLI_QUIET]) return;
  if (job->through.table) gather_cli_table_note(args, job->through.options.engine, &job->through.statistics);
  chunks_note(job);
  if (job->through.remote && !args->value[GATHER_CLI_PLAN]) gather_cli_remote_note(args, &job->through.network);
  if (!job->to_stdout || args->value[GATHER_CLI_DRY_RUN]) answer_text(job, to);
  if (plan) gather_cli_say(to, "plan: %s\n", job->plan_text);
  if (args->value[GATHER_CLI_PLAN] && job->through.table && !args->value[GATHER_CLI_DRY_RUN])
    table_text(&job->through.statistics), devices_text(job->through.table);
  if (args->value[GATHER_CLI_PLAN] && job->through.remote && !args->value[GATHER_CLI_DRY_RUN])
    gather_cli_remote_text(stderr, &job->through.network);
}
