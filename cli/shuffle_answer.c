/* SPDX-License-Identifier: MIT
 *
 * shuffle_answer.c: what `gather shuffle` says: while it works, and in the end.
 */
#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "report.h"
#include "shuffle.h"
#include "size.h"
#include "terminal.h"

enum { FIRST_MS = 1000, EVERY_MS = 200 };

static const char *step_name(const gather_cli_shuffle *job) {
  switch (job->step) {
    case GATHER_CLI_SHUFFLE_PAIRS:
      return "sorting the order";
    case GATHER_CLI_SHUFFLE_SPREAD:
      return "pass 1 of 2";
    case GATHER_CLI_SHUFFLE_COLLECT:
      return "pass 2 of 2";
    default:
      return "the only pass";
  }
}

void gather_cli_shuffle_step_begin(gather_cli_shuffle *job) {
  job->shown = !job->args->value[GATHER_CLI_QUIET] && gather_cli_terminal_live();
  job->step_begin = gather_cli_now();
  job->next_tick = job->begin + FIRST_MS * 1e-3;
  job->shown_from = job->step == GATHER_CLI_SHUFFLE_COLLECT ? job->at * job->bucket_rows : job->at;
}

void gather_cli_shuffle_show(gather_cli_shuffle *job, int64_t done, int64_t total) {
  double now = job->shown ? gather_cli_now() : 0, seconds = now - job->step_begin;
  if (!job->shown || now < job->next_tick || done <= job->shown_from || seconds <= 0) return;
  double rate = (double)(done - job->shown_from) / seconds;
  job->next_tick = now + EVERY_MS * 1e-3;
  job->printed = true;
  char share[64], left[32], rows[32], speed[32];
  const char *const parts[] = {share, left, rows, speed};
  (void)snprintf(share, sizeof share, "%s: %3.0f%%", step_name(job), (double)done / (double)total * 100);
  (void)snprintf(left, sizeof left, "%.0f s left", (double)(total - done) / rate);
  (void)snprintf(rows, sizeof rows, "%.0f rows/s", rate);
  (void)snprintf(speed, sizeof speed, "%.2f GB/s", rate * (double)job->row_bytes * 1e-9);
  gather_cli_progress_show(parts, 4);
}

static void put_plan(const gather_cli_shuffle *job, char *text, size_t bytes) {
  char memory[32], needs[32];
  (void)gather_cli_size_text(memory, sizeof memory, job->options.memory_bytes);
  (void)gather_cli_size_text(needs, sizeof needs, gather_cli_shuffle_temporary_bytes(job));
  if (job->passes == 1)
    (void)snprintf(text, bytes, "%" PRId64 " rows x %" PRId64 " B in one pass, %" PRId64 " rows at once; memory %s",
                   job->out_rows, job->row_bytes, job->take_rows, memory);
  else
    (void)snprintf(text, bytes,
                   "%" PRId64 " rows x %" PRId64 " B in two passes, %" PRId64
                   " buckets; memory %s, and %s of the disk besides OUT",
                   job->out_rows, job->row_bytes, job->buckets, memory, needs);
}

static void answer_json(const gather_cli_shuffle *job, const char *plan) {
  gather_cli_json json = gather_cli_json_begin(gather_cli_json_stream(job->args));
  gather_cli_json_string(&json, "command", "shuffle");
  gather_cli_json_int(&json, "rows", job->out_rows);
  gather_cli_json_int(&json, "row_bytes", job->row_bytes);
  gather_cli_json_string(&json, "type", job->info->type_name);
  gather_cli_json_ints(&json, "shape", job->writing.rank, job->out_shape);
  if (!job->given) gather_cli_json_int(&json, "seed", job->seed);
  gather_cli_json_int(&json, "passes", job->passes);
  gather_cli_json_int(&json, "buckets", job->buckets);
  gather_cli_json_int(&json, "bytes", job->out_rows * job->row_bytes);
  gather_cli_json_int(&json, "temporary_bytes", gather_cli_shuffle_temporary_bytes(job));
  gather_cli_json_int(&json, "memory", job->options.memory_bytes);
  gather_cli_json_string(&json, "output", job->out.path);
  gather_cli_json_double(&json, "seconds", job->seconds);
  gather_cli_json_bool(&json, "resumed", job->resumed);
  gather_cli_json_bool(&json, "dry_run", job->dry_run);
  gather_cli_json_string(&json, "plan", plan);
  gather_cli_json_finish(&json);
}

static void answer_text(const gather_cli_shuffle *job, const char *plan) {
  char shape[512];
  gather_cli_put(stdout, job->out.path ? job->out.path : "result");
  printf(": %s", job->dry_run ? "would be " : "");
  gather_cli_put(stdout, job->info->type_name);
  printf(" %s; ", gather_cli_shape_text(shape, sizeof shape, job->writing.rank, job->out_shape));
  if (job->given)
    printf("in the order given");
  else
    printf("seed %" PRId64, job->seed);
  if (!job->dry_run) printf("; %.1f s%s", job->seconds, job->resumed ? ", gone on with" : "");
  printf("\n%s%s\n", "plan: ", plan);
}

void gather_cli_shuffle_answer(const gather_cli_shuffle *job) {
  char plan[256];
  put_plan(job, plan, sizeof plan);
  if (job->args->value[GATHER_CLI_JSON])
    answer_json(job, plan);
  else if (!job->args->value[GATHER_CLI_QUIET] || job->dry_run)
    answer_text(job, plan);
}
