/* SPDX-License-Identifier: MIT
 *
 * shuffle_answer.c: what `gather shuffle` prints: progress, errors and the answer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "progress.h"
#include "report.h"
#include "shuffle_job.h"
#include "signals.h"
#include "size.h"
#include "terminal.h"
#include "wrap.h"

enum { FIRST_MS = 1000, EVERY_MS = 200, FOLDER_TEXT = 8192 /* bytes of a folder's name when printed */ };

/* ---- while it works */

static const char *step_name(gather_shuffle_step step) {
  switch (step) {
    case GATHER_SHUFFLE_SORT_ORDER:
      return "sorting the order";
    case GATHER_SHUFFLE_FIRST_PASS:
      return "pass 1 of 2";
    case GATHER_SHUFFLE_SECOND_PASS:
      return "pass 2 of 2";
    default:
      return "the only pass";
  }
}

static void begin_step(gather_cli_shuffle *job, const gather_shuffle_progress *progress) {
  job->step = progress->step;
  job->shown = !job->args->value[GATHER_CLI_QUIET] && gather_cli_terminal_live();
  job->step_begin = gather_cli_now();
  job->next_tick = job->begin + (double)FIRST_MS * 1e-3;
  job->shown_from = progress->done;
}

static void show(gather_cli_shuffle *job, const gather_shuffle_progress *progress) {
  const int64_t row_bytes = gather_shuffle_describe(job->shuffle)->row_bytes, done = progress->done;
  double now = job->shown ? gather_cli_now() : 0, seconds = now - job->step_begin;
  if (!job->shown || now < job->next_tick || done <= job->shown_from || seconds <= 0) return;
  double rate = (double)(done - job->shown_from) / seconds;
  job->next_tick = now + (double)EVERY_MS * 1e-3;
  job->printed = true;
  char share[64], left[32], rows[32], speed[40], amount[32];
  const char *const parts[] = {share, left, rows, speed};
  (void)snprintf(share, sizeof share, "%s: %3.0f%%", step_name(progress->step), (double)done / (double)progress->total * 100);
  (void)snprintf(left, sizeof left, "%.0f s left", (double)(progress->total - done) / rate);
  (void)snprintf(rows, sizeof rows, "%.0f rows/s", rate);
  (void)snprintf(speed, sizeof speed, "%s/s", gather_cli_amount(amount, rate * (double)row_bytes));
  gather_cli_progress_show(parts, 4);
}

/* The note that a signal prints on stderr: how to resume. */
static void note(const char *folder) {
  static const char NOTE[] = " contains what is done; --resume resumes it, -f starts again\n";
  char path[FOLDER_TEXT], text[sizeof path + sizeof NOTE + 16];
  (void)gather_text_visible(folder, path, sizeof path);
  (void)snprintf(text, sizeof text, "gather: note: %s%s", path, NOTE);
  gather_cli_signals_note(text);
}

void gather_cli_shuffle_progress(void *context, const gather_shuffle_progress *progress) {
  gather_cli_shuffle *job = context;
  if (progress->step == GATHER_SHUFFLE_PREPARE) {
    note(progress->folder);
  } else if (progress->step == GATHER_SHUFFLE_PUBLISH) {
    gather_cli_signals_note(NULL);
  } else {
    if (progress->step != job->step) begin_step(job, progress);
    show(job, progress);
  }
}

/* ---- errors */

/* The remedy as an option of the line. */
static const char *remedy_text(gather_shuffle_remedy remedy, gather_status status) {
  switch (remedy) {
    case GATHER_SHUFFLE_REMEDY_SEED:
      return "; give --seed";
    case GATHER_SHUFFLE_REMEDY_RESUME:
      return "; --resume resumes it";
    case GATHER_SHUFFLE_REMEDY_REPLACE: /* if the data has changed, --resume cannot use what is left */
      return status == GATHER_IO_ERROR ? "; -f starts again" : "; -f without --resume starts again";
    case GATHER_SHUFFLE_REMEDY_IN_PLACE:
      return "; --in-place replaces it";
    default:
      return "";
  }
}

/* Whether a message begins with the name of an option. */
static bool names_option(const char *message) {
  static const char *const OPTIONS[] = {"memory ", "passes "};
  for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
    if (strncmp(message, OPTIONS[i], strlen(OPTIONS[i])) == 0) return true;
  return false;
}

void gather_cli_shuffle_reword(const gather_cli_shuffle *job, gather_error *error) {
  const bool dashes = error->status == GATHER_USAGE && !error->file[0] && names_option(error->message);
  const gather_shuffle_remedy remedy = gather_shuffle_describe(job->shuffle)->remedy;
  char message[sizeof error->message];
  memcpy(message, error->message, sizeof message);
  (void)snprintf(error->message, sizeof error->message, "%s%.*s%s", dashes ? "--" : "", (int)(sizeof message - 64), message,
                 remedy_text(remedy, error->status));
}

/* ---- the answer */

static void put_plan(const gather_cli_shuffle *job, char *text, size_t bytes) {
  const gather_shuffle_info *info = gather_shuffle_describe(job->shuffle);
  char memory[32], needs[32];
  (void)gather_cli_size_text(memory, sizeof memory, info->memory_bytes);
  (void)gather_cli_size_text(needs, sizeof needs, info->temporary_bytes);
  if (info->passes == 1)
    (void)snprintf(text, bytes, "%" PRId64 " rows x %" PRId64 " B in one pass, %" PRId64 " rows at once; memory %s", info->rows,
                   info->row_bytes, info->part_rows, memory);
  else
    (void)snprintf(text, bytes,
                   "%" PRId64 " rows x %" PRId64 " B in two passes, %" PRId64 " buckets; memory %s, and %s of the disk besides OUT",
                   info->rows, info->row_bytes, info->buckets, memory, needs);
}

static void answer_json(const gather_cli_shuffle *job, const char *plan) {
  const gather_shuffle_info *info = gather_shuffle_describe(job->shuffle);
  gather_cli_json json = gather_cli_json_begin(gather_cli_json_stream(job->args));
  gather_cli_json_string(&json, "command", "shuffle");
  gather_cli_json_int(&json, "rows", info->rows);
  gather_cli_json_int(&json, "row_bytes", info->row_bytes);
  gather_cli_json_string(&json, "type", gather_table_describe(info->table)->type_name);
  gather_cli_json_ints(&json, "shape", info->rank, info->shape);
  if (!info->given) gather_cli_json_int(&json, "seed", info->seed);
  gather_cli_json_int(&json, "passes", info->passes);
  gather_cli_json_int(&json, "buckets", info->buckets);
  gather_cli_json_int(&json, "bytes", info->rows * info->row_bytes);
  gather_cli_json_int(&json, "temporary_bytes", info->temporary_bytes);
  gather_cli_json_int(&json, "memory", info->memory_bytes);
  gather_cli_json_string(&json, "output", job->out.path);
  gather_cli_json_double(&json, "seconds", job->seconds);
  gather_cli_json_bool(&json, "resumed", info->resumed);
  gather_cli_json_bool(&json, "dry_run", job->dry_run);
  gather_cli_json_string(&json, "plan", plan);
  gather_cli_json_finish(&json);
}

static void answer_text(const gather_cli_shuffle *job, const char *plan) {
  const gather_shuffle_info *info = gather_shuffle_describe(job->shuffle);
  char shape[512];
  gather_cli_say_visible(stdout, job->out.path ? job->out.path : "result");
  gather_cli_say(stdout, ": %s", job->dry_run ? "would be " : "");
  gather_cli_say_visible(stdout, gather_table_describe(info->table)->type_name);
  gather_cli_say(stdout, " %s; ", gather_cli_shape_text(shape, sizeof shape, info->rank, info->shape));
  if (info->given)
    gather_cli_say(stdout, "in the given order");
  else
    gather_cli_say(stdout, "seed %" PRId64, info->seed);
  if (!job->dry_run) gather_cli_say(stdout, "; %.1f s%s", job->seconds, info->resumed ? ", resumed" : "");
  gather_cli_say(stdout, "\n%s%s\n", "plan: ", plan);
}

void gather_cli_shuffle_answer(const gather_cli_shuffle *job) {
  char plan[256];
  put_plan(job, plan, sizeof plan);
  if (job->args->value[GATHER_CLI_JSON])
    answer_json(job, plan);
  else if (!job->args->value[GATHER_CLI_QUIET] || job->dry_run)
    answer_text(job, plan);
}
