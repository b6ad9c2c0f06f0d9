/* SPDX-License-Identifier: MIT
 *
 * shuffle.c: the exported functions: options, the order of the calls, and the facts.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "table/shuffle/shuffle_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/struct.h"
#include "core/plan/tasks.h"
#include "io/format/format.h"
#include "table/shuffle/shuffle_system.h"

/* ---- what is asked for */

static gather_status no_memory(gather_error *error) {
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a shuffle");
}

/* Replaces a text of the caller's, which may be NULL, by a copy. */
static bool keep_text(gather_shuffle *job, const char **text) {
  if (!*text) return true;
  *text = gather_arena_text(&job->memory, *text, strlen(*text));
  return *text != NULL;
}

static bool keep_raw(gather_shuffle *job) {
  if (!job->options.raw) return true;
  job->raw = *job->options.raw;
  const bool known = job->raw.rank > 0 && job->raw.rank <= GATHER_MAX_RANK && job->raw.shape;
  int64_t *shape = gather_arena_take(&job->memory, known ? job->raw.rank : 1, (int64_t)sizeof *shape);
  if (!shape || !keep_text(job, &job->raw.type)) return false;
  if (known) memcpy(shape, job->raw.shape, (size_t)job->raw.rank * sizeof *shape);
  job->raw.shape = known ? shape : NULL; /* opening the table refuses it then */
  job->options.raw = &job->raw;
  return true;
}

static gather_status keep_all(gather_shuffle *job, const char *const *paths, gather_error *error) {
  job->paths = gather_arena_take(&job->memory, job->path_count, (int64_t)sizeof *job->paths);
  bool kept = job->paths && keep_raw(job) && keep_text(job, &job->options.format) &&
              keep_text(job, &job->options.name) && keep_text(job, &job->options.tensor);
  for (int32_t i = 0; i < job->path_count && kept; i++) {
    job->paths[i] = paths[i];
    kept = keep_text(job, &job->paths[i]);
  }
  return kept && keep_text(job, &job->output) ? GATHER_OK : no_memory(error);
}

/* If the output is a link, its target is replaced, not the link. */
static gather_status find_target(gather_shuffle *job, gather_error *error) {
  static const char PREFIX[] = ".gather-shuffle-";
  char *path = job->folder.path;
  errno = 0;
  char *real = job->options.replace || job->options.in_place ? realpath(job->output, NULL) : NULL;
  const int number = errno;
  if (number == ENOMEM || number == EIO) /* writing reports other errors of the name */
    return gather_fail_errno(error, gather_shuffle_status_of(number), number, job->output, -1,
                             "cannot resolve the path");
  const char *target = real ? real : job->output, *slash = gather_path_slash(target);
  const size_t len = strlen(target), folder = slash ? (size_t)(slash + 1 - target) : 0;
  const bool fits = len < sizeof job->target && len + sizeof PREFIX <= sizeof job->folder.path;
  if (fits) {
    memcpy(job->target, target, len + 1);
    memcpy(path, target, folder);
    memcpy(path + folder, PREFIX, sizeof PREFIX - 1);
    memcpy(path + folder + sizeof PREFIX - 1, target + folder, len + 1 - folder);
  }
  gather_free(real);
  return fits ? GATHER_OK : gather_fail(error, GATHER_USAGE, "the name of the output is too long");
}

static gather_status find_output(gather_shuffle *job, gather_error *error) {
  const gather_format *format = NULL;
  job->format = job->options.format;
  if (!job->output) return GATHER_OK;
  if (!job->format) format = gather_format_for_path(job->output);
  if (format) job->format = format->name;
  return find_target(job, error);
}

static gather_status check_options(const gather_shuffle_options *options, gather_error *error) {
  if (options->seed < -1) return gather_fail(error, GATHER_USAGE, "seed is below 0");
  if (options->passes < 0 || options->passes > 2) return gather_fail(error, GATHER_USAGE, "passes must be 1 or 2");
  if (options->memory_bytes < 0) return gather_fail(error, GATHER_USAGE, "memory is below 0");
  return GATHER_OK;
}

static gather_status read_options(gather_shuffle *job, const char *const *paths, const gather_shuffle_options *options,
                                  gather_error *error) {
  job->options = (gather_shuffle_options)GATHER_SHUFFLE_OPTIONS_INIT;
  GATHER_TRY(gather_struct_read(&job->options, sizeof job->options, options, "gather_shuffle_options",
                                "GATHER_SHUFFLE_OPTIONS_INIT", error));
  GATHER_TRY(check_options(&job->options, error));
  GATHER_TRY(keep_all(job, paths, error));
  job->seed = job->options.seed;
  job->passes_asked = job->options.passes;
  return find_output(job, error);
}

gather_status gather_shuffle_create(const char *const *paths, int32_t count, const char *output,
                                    const gather_shuffle_options *options, gather_shuffle **shuffle,
                                    gather_error *error) {
  if (!shuffle) return gather_fail(error, GATHER_USAGE, "gather_shuffle_create: the place for the shuffle is NULL");
  *shuffle = NULL;
  if (!paths || count < 1) return gather_fail(error, GATHER_USAGE, "a shuffle needs at least one file");
  for (int32_t i = 0; i < count; i++)
    if (!paths[i]) return gather_fail(error, GATHER_USAGE, "the path of a part is NULL");
  gather_shuffle *job = gather_alloc((int64_t)sizeof *job);
  if (!job) return no_memory(error);
  job->path_count = count;
  job->output = output;
  job->folder.fd = job->folder.lock = -1;
  for (int i = 0; i < GATHER_SHUFFLE_FILES; i++) job->folder.file[i] = -1;
  atomic_init(&job->stop_flag, false);
  job->stopped = &job->stop_flag;
  job->remedy = &job->info.remedy;
  const gather_status status = read_options(job, paths, options, error);
  if (status == GATHER_OK)
    *shuffle = job;
  else
    gather_shuffle_close(job);
  return status;
}

/* ---- the calls, in their order */

/* Begins a call: an error of an earlier call is permanent. */
static gather_status enter(gather_shuffle *job, const char *call, gather_error *error) {
  if (!job) return gather_fail(error, GATHER_USAGE, "%s: the shuffle is NULL", call);
  if (job->ended) return gather_fail(error, GATHER_USAGE, "%s: the shuffle has already run or failed", call);
  return GATHER_OK;
}

static gather_status open_shuffle(gather_shuffle *job, gather_error *error) {
  GATHER_TRY(gather_shuffle_find_earlier(job, error));
  GATHER_TRY(gather_shuffle_open_table(job, error));
  job->opened = true;
  job->info.table = job->table;
  job->info.resumed = job->resumed;
  job->info.memory_bytes = job->options.memory_bytes;
  return GATHER_OK;
}

gather_status gather_shuffle_open(gather_shuffle *shuffle, gather_error *error) {
  gather_error local;
  if (!error) error = &local; /* some errors are reworded */
  GATHER_TRY(enter(shuffle, "gather_shuffle_open", error));
  if (shuffle->opened) return gather_fail(error, GATHER_USAGE, "gather_shuffle_open: the shuffle is already open");
  const gather_status status = open_shuffle(shuffle, error);
  shuffle->ended = status != GATHER_OK;
  return status;
}

static gather_status keep_order(gather_shuffle *job, const gather_tensor *order, const gather_file *file,
                                gather_error *error) {
  job->given = order != NULL;
  if (!order) return GATHER_OK;
  if (job->options.seed >= 0) return gather_fail(error, GATHER_USAGE, "seed and an order are both given");
  job->order = order->data;
  job->order_file = file;
  return GATHER_OK;
}

static void tell_plan(gather_shuffle *job) {
  gather_shuffle_info *info = &job->info;
  info->given = job->given;
  info->seed = job->given ? -1 : job->seed;
  info->rows = job->out_rows;
  info->row_bytes = job->row_bytes;
  info->rank = job->writing.rank;
  info->shape = job->out_shape;
  info->passes = job->passes;
  info->buckets = job->buckets;
  info->part_rows = job->passes == 1 ? job->take_rows : 0;
  info->temporary_bytes = gather_shuffle_temporary_bytes(job);
}

static gather_status plan_shuffle(gather_shuffle *job, const gather_tensor *order, const gather_file *file,
                                  gather_error *error) {
  GATHER_TRY(keep_order(job, order, file, error));
  if (!job->opened) GATHER_TRY(open_shuffle(job, error));
  GATHER_TRY(gather_shuffle_choose_seed(job, error));
  GATHER_TRY(gather_shuffle_open_output(job, order, error));
  GATHER_TRY(gather_shuffle_plan_passes(job, error));
  tell_plan(job);
  job->planned = true;
  return GATHER_OK;
}

gather_status gather_shuffle_plan(gather_shuffle *shuffle, const gather_tensor *order, const gather_file *order_file,
                                  gather_error *error) {
  gather_error local;
  if (!error) error = &local;
  GATHER_TRY(enter(shuffle, "gather_shuffle_plan", error));
  if (shuffle->planned) return gather_fail(error, GATHER_USAGE, "gather_shuffle_plan: the shuffle is already planned");
  const gather_status status = plan_shuffle(shuffle, order, order_file, error);
  shuffle->ended = status != GATHER_OK;
  return status;
}

gather_status gather_shuffle_run(gather_shuffle *shuffle, const gather_executor *executor, gather_error *error) {
  GATHER_TRY(enter(shuffle, "gather_shuffle_run", error));
  if (!shuffle->planned) return gather_fail(error, GATHER_USAGE, "gather_shuffle_run: the shuffle is not planned");
  if (!shuffle->output) return gather_fail(error, GATHER_USAGE, "gather_shuffle_run: no output was named");
  GATHER_TRY(gather_executor_check(executor, error));
  shuffle->ended = true;
  shuffle->executor = executor;
  const gather_status status = gather_shuffle_run_steps(shuffle, error);
  shuffle->info.folder = shuffle->noted ? shuffle->folder.path : NULL;
  return status;
}

const gather_shuffle_info *gather_shuffle_describe(const gather_shuffle *shuffle) { return &shuffle->info; }

void gather_shuffle_close(gather_shuffle *shuffle) {
  if (!shuffle) return;
  /* A program that is killed before this point resumes to the same result. */
  if (shuffle->finished) gather_shuffle_folder_forget(&shuffle->folder);
  gather_shuffle_folder_close(&shuffle->folder);
  gather_writer_abort(shuffle->writer);
  gather_plan_destroy(shuffle->plan);
  gather_table_close(shuffle->table);
  gather_free(shuffle->identity);
  gather_free(shuffle->journal);
  gather_free(shuffle->fills);
  gather_arena_clear(&shuffle->memory);
  gather_free(shuffle);
}

/* ---- the order of a seed */

static gather_status number(int64_t seed, int64_t rows, int64_t first, int64_t len, bool places, int64_t *to,
                            gather_error *error) {
  gather_permutation permutation;
  if (seed < 0) return gather_fail(error, GATHER_USAGE, "seed is below 0");
  if (first < 0 || len < 0 || first > rows || len > rows - first || (len > 0 && !to))
    return gather_fail(error, GATHER_USAGE, "the rows are outside [0, rows), or the place for their numbers is NULL");
  gather_permutation_make(&permutation, (uint64_t)seed, (uint64_t)rows);
  gather_permutation_numbers(&permutation, first, len, places, to);
  return GATHER_OK;
}

gather_status gather_shuffle_rows(int64_t seed, int64_t rows, int64_t first, int64_t len, int64_t *to,
                                  gather_error *error) {
  return number(seed, rows, first, len, false, to, error);
}

gather_status gather_shuffle_places(int64_t seed, int64_t rows, int64_t first, int64_t len, int64_t *to,
                                    gather_error *error) {
  return number(seed, rows, first, len, true, to, error);
}
