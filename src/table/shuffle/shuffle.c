/* SPDX-License-Identifier: MIT
 *
 * shuffle.c: a shuffle, from its options to its end: what is asked for, the table and the output, the plan of the passes, the steps in
 * their order, and the facts.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/struct.h"
#include "core/plan/tasks.h"
#include "core/system/machine.h"
#include "io/format/format.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/table_internal.h"

/* ---- one pass or two, and what each part of the memory is for */

/* The table gets a quarter of the memory limit. The rest, in the first pass: three eighths for the buffers of the
 * buckets, an eighth for the rows that were just read, an eighth for the pairs of a given order and for sorting them.
 * In the second: a half for the bucket, an eighth for what was just read of it. With one pass: a half for the part of
 * the output that is being made. */

enum {
  MIB = 1 << 20,
  LEAST_MEMORY = 4 * MIB,
  ROWS_IN_MEMORY = 32, /* of which each share must hold some */
  PLACE_BYTES = 4,
  PAIR_BYTES = (int)sizeof(gather_shuffle_pair),
  ROW_NUMBER = 8,
  BYTES_PER_RANGE = 1024,
  LEAST_BUFFER = 4096, /* bytes: the least that a disk reads */
  MOST_BUFFER = MIB,   /* bytes: longer writes are no faster */
  FEW_SWEEPS = 2,      /* reading the table so often and writing the output costs no more than two passes, which read and write twice */
  DURABLE_MEMORIES = 2,
  DEFAULT_SHARE = 4
};

/* With many reads in flight a disk reads rows of this length at random nearly as fast as sequentially, and two passes
 * read and write everything twice: 4 GiB in such rows took 15 s in one pass and 59 s in two
 * (tests/cli/measure_shuffle.py measures it). Shorter rows would be faster in one pass on some disks, and far slower on
 * rotating ones. */
static const int64_t LONG_ROW = 64 << 10, LEAST_DURABLE = 8 << 20, MOST_DURABLE = (int64_t)1 << 30, MOST_BUCKET_ROWS = INT32_MAX;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The memory limit by default. */
static int64_t default_memory(void) {
  return larger(smaller(gather_usable_memory() / DEFAULT_SHARE, PTRDIFF_MAX / DEFAULT_SHARE), LEAST_MEMORY);
}

static int64_t up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static gather_status check_memory(const gather_shuffle *job, gather_error *error) {
  char asked[32], enough[32];
  int64_t least = job->row_bytes > INT64_MAX / ROWS_IN_MEMORY / 2 ? INT64_MAX : LEAST_MEMORY + job->row_bytes * ROWS_IN_MEMORY;
  if (job->options.memory_bytes >= least && job->options.memory_bytes <= PTRDIFF_MAX) return GATHER_OK;
  if (job->options.memory_bytes > PTRDIFF_MAX) return gather_fail(error, GATHER_USAGE, "memory exceeds what this program can address");
  return gather_fail(error, GATHER_USAGE, "memory %s is too little for rows of %" PRId64 " bytes; use at least %s",
                     gather_text_bytes(job->options.memory_bytes, asked, sizeof asked), job->row_bytes,
                     gather_text_bytes(least, enough, sizeof enough));
}

/* Whether two passes are possible: each bucket has a buffer that is large enough for a write. */
static bool plan_buckets(gather_shuffle *job) {
  const int64_t memory = job->options.memory_bytes, record = job->row_bytes + PLACE_BYTES;
  job->bucket_rows = smaller(smaller(memory / 2 / job->row_bytes, MOST_BUCKET_ROWS), job->out_rows);
  job->buckets = up(job->out_rows, job->bucket_rows);
  job->buffer_rows = smaller(memory / 8 * 3 / job->buckets / record, job->bucket_rows);
  job->buffer_rows = smaller(job->buffer_rows, larger(1, MOST_BUFFER / record));
  job->chunk_rows = larger(1, memory / 8 / record);
  return job->buffer_rows >= 1 && (job->buffer_rows == job->bucket_rows || job->buffer_rows * record >= LEAST_BUFFER);
}

static void plan_ranges(gather_shuffle *job) {
  const int64_t memory = job->options.memory_bytes;
  job->slice_pairs = larger(1, memory / 16 / PAIR_BYTES);
  int64_t ranges = up(job->out_rows, larger(1, job->slice_pairs / 2));
  ranges = larger(1, smaller(smaller(ranges, memory / BYTES_PER_RANGE), job->rows));
  job->range_rows = up(larger(1, job->rows), ranges);
  job->ranges = up(larger(1, job->rows), job->range_rows);
  job->range_buffer = larger(1, memory / 2 / job->ranges / PAIR_BYTES);
}

static gather_status choose_passes(gather_shuffle *job, gather_error *error) {
  const int64_t out_bytes = job->out_rows * job->row_bytes, sweep = job->take_rows * job->row_bytes;
  bool possible = out_bytes > 0 && plan_buckets(job);
  bool two = possible && job->row_bytes < LONG_ROW && up(out_bytes, sweep) > FEW_SWEEPS;
  if (job->table->chunked) two = possible && up(out_bytes, sweep) > 1; /* a sweep decodes every chunk */
  if (out_bytes > 0 && job->passes_asked == 2 && !possible)
    return gather_fail(error, GATHER_USAGE, "passes 2 needs more memory: %" PRId64 " buckets have no buffers", job->buckets);
  if (job->passes_asked) two = job->passes_asked == 2 && out_bytes > 0;
  job->passes = two ? 2 : 1;
  return GATHER_OK;
}

static gather_status plan_passes(gather_shuffle *job, gather_error *error) {
  const int64_t memory = job->options.memory_bytes, least = job->row_bytes + ROW_NUMBER;
  GATHER_TRY(check_memory(job, error));
  job->take_rows = larger(1, smaller(memory / 2 / least, larger(1, job->out_rows)));
  job->block_rows = larger(1, memory / 8 / least);
  job->durable_bytes = smaller(larger(memory, LEAST_DURABLE / DURABLE_MEMORIES), MOST_DURABLE) * DURABLE_MEMORIES;
  GATHER_TRY(choose_passes(job, error));
  if (job->passes == 1) job->bucket_rows = job->buckets = 0;
  if (job->given && job->passes == 2) plan_ranges(job);
  return GATHER_OK;
}

/* ---- the table that is shuffled, the order, and what will be written */

/* The order of the steps is the order of errors that gather_take documents. */

enum { TABLE_SHARE = 4, WITH_IT = 32 /* bytes, at most, that go with a row in other files */ };

static gather_status fail_open(gather_status status, gather_error *error) {
  if (!error->input) error->input = "data";
  return status;
}

static gather_status fail_columns(const char *path, gather_error *error) {
  return fail_open(gather_fail_file(error, GATHER_UNSUPPORTED, path, -1,
                                    "its rows are not contiguous, because it is in Fortran order; save it with "
                                    "numpy.ascontiguousarray"),
                   error);
}

/* To open such a table may need more memory, which would not help. */
static bool needs_columns(gather_status status, const gather_error *error) {
  return status == GATHER_USAGE && !error->file[0] && strstr(error->message, "rows in Fortran order");
}

static gather_status open_table(gather_shuffle *job, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  int64_t memory = job->options.memory_bytes / TABLE_SHARE;
  options.memory_bytes = memory > GATHER_TABLE_LEAST_MEMORY ? memory : GATHER_TABLE_LEAST_MEMORY;
  options.engine = job->options.engine;
  options.depth = job->options.depth;
  options.no_links = job->options.no_links;
  options.raw = job->options.raw;
  options.tensor = job->options.tensor;
  gather_status status = gather_table_open_parts(job->paths, job->path_count, &options, &job->table, error);
  if (needs_columns(status, error)) return fail_columns(job->path_count == 1 ? job->paths[0] : "", error);
  if (status != GATHER_OK) return fail_open(status, error);
  gather_table_part part;
  for (int32_t i = 0; gather_table_part_at(job->table, i, &part) && !job->table->chunked; i++)
    if (part.offset < 0) return fail_columns(part.path, error);
  job->data = gather_table_describe(job->table);
  job->rows = job->data->rows;
  job->row_bytes = job->data->row_bytes;
  return GATHER_OK;
}

/* The descr that .npy keeps, as for a take. */
static gather_status keep_descr(gather_shuffle *job, gather_error *error) {
  const gather_table_info *data = job->data;
  job->writing.descr = data->descr;
  if (data->descr || data->tensor.type != GATHER_TYPE_OPAQUE) return GATHER_OK;
  const int64_t bytes = (int64_t)strlen(data->type_name) + 3;
  char *descr = gather_arena_take(&job->memory, 1, bytes);
  if (!descr) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a descr");
  (void)snprintf(descr, (size_t)bytes, "'%s'", data->type_name);
  job->writing.descr = descr;
  return GATHER_OK;
}

static gather_status describe_output(gather_shuffle *job, gather_error *error) {
  const gather_table_info *data = job->data;
  job->writing = (gather_writing){.type = data->tensor.type,
                                  .item_bytes = data->tensor.item_bytes,
                                  .byte_swapped = (data->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0,
                                  .name = job->options.name ? job->options.name : data->name,
                                  .rank = data->tensor.rank,
                                  .shape = job->out_shape};
  job->file = (gather_file_target)GATHER_FILE_TARGET_INIT;
  job->file.path = job->output;
  job->file.format = job->format;
  job->file.replace = job->options.replace;
  job->file.align_bytes = job->options.align_bytes;
  job->file.tensors = &job->writing;
  for (int32_t i = 0; i < data->tensor.rank; i++) job->shape[i] = job->out_shape[i] = data->tensor.shape[i];
  return keep_descr(job, error);
}

/* The shape of the output, and with it whether the order's type and rank are valid. The indices themselves are checked
 * later. */
static gather_status plan_order(gather_shuffle *job, const gather_tensor *order, gather_error *error) {
  static const gather_options OPTIONS = GATHER_OPTIONS_INIT;
  job->out_rows = job->rows;
  if (!order) return GATHER_OK;
  GATHER_TRY(gather_plan_create(gather_op_find("Gather", "onnx-13"), &job->data->tensor, order, NULL, &OPTIONS, &job->plan, error));
  job->writing.rank = gather_plan_shape(job->plan, job->out_shape);
  job->out_rows = gather_tensor_len(order);
  job->order_bytes = gather_tensor_bytes(order);
  if (!order->data && job->out_rows > 0) return gather_fail_input(error, GATHER_USAGE, "indices", "the order's data pointer is NULL");
  return GATHER_OK;
}

/* An executor for the check of a long order, which can then be cancelled soon. */
static void run_all(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  gather_shuffle_parallel(context, NULL, count, task, argument);
}

/* More tasks than any memory holds, so that each is as short as a task may be. */
enum { MANY_THREADS = 1 << 24 };

static gather_status check_indices(gather_shuffle *job, gather_error *error) {
  gather_run run = GATHER_RUN_INIT;
  const gather_executor executor = {job, run_all, MANY_THREADS};
  if (!job->plan) return GATHER_OK;
  run.indices = job->order;
  run.executor = job->options.stop ? &executor : NULL;
  const gather_status status = gather_plan_check(job->plan, &run, error);
  GATHER_TRY(gather_shuffle_go_on(job, error)); /* some tasks did not run */
  return status;
}

/* Whether its files have more than its rows, or a part is in another file. */
static bool shares_file(const gather_table *table) {
  return table->kept_count != 1 || table->keeper->has_more(table->kept[0], table->info.parts);
}

/* Rows are read while the output is made, but at the end they would be gone. */
static gather_status spare_inputs(gather_shuffle *job, gather_error *error) {
  if (gather_file_reads(job->order_file, job->output))
    return gather_fail_file(error, GATHER_FILE_EXISTS, job->output, -1, "is the file of the order, which is kept; write to another file");
  if (!gather_table_reads(job->table, job->output)) return GATHER_OK;
  if (shares_file(job->table))
    return gather_fail_file(error, GATHER_FILE_EXISTS, job->output, -1,
                            "is a file of the table that is shuffled, which is kept: it has more than these rows; write to another file");
  job->file.replace |= job->options.in_place;
  job->options.replace |= job->options.in_place;
  if (job->options.in_place) return GATHER_OK;
  return gather_shuffle_advise(
      job, GATHER_SHUFFLE_REMEDY_IN_PLACE,
      gather_fail_file(error, GATHER_FILE_EXISTS, job->output, -1, "is a file of the table that is shuffled, which is kept"));
}

/* The order's shape and indices, and what the output will be. */
static gather_status open_output(gather_shuffle *job, const gather_tensor *order, gather_error *error) {
  GATHER_TRY(describe_output(job, error));
  GATHER_TRY(plan_order(job, order, error));
  if (job->out_rows > 0 && job->row_bytes > INT64_MAX / job->out_rows / 2 - WITH_IT)
    return gather_fail(error, GATHER_OVERFLOW, "the output is larger than any file can be");
  if (job->output && !job->published) GATHER_TRY(spare_inputs(job, error));
  if (job->output && !job->published) GATHER_TRY(gather_writer_check(&job->file, error));
  GATHER_TRY(check_indices(job, error));
  return gather_shuffle_order_begin(job, error);
}

/* ---- the steps in sequence, from the beginning or from where an earlier run ended */

static gather_status start_fills(gather_shuffle *job, gather_error *error) {
  job->fill_count = job->passes == 2 ? job->buckets : 0;
  job->fills = gather_alloc((job->fill_count + 1) * (int64_t)sizeof *job->fills);
  return job->fills ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the buckets");
}

/* The first step that keeps anything. */
static gather_shuffle_step first_step(const gather_shuffle *job) {
  if (job->passes == 1) return GATHER_SHUFFLE_ONLY_PASS;
  return job->given ? GATHER_SHUFFLE_SORT_ORDER : GATHER_SHUFFLE_FIRST_PASS;
}

/* From now on an interrupted run leaves something to resume. */
static void note(gather_shuffle *job) {
  job->noted = true;
  gather_shuffle_show(job, GATHER_SHUFFLE_PREPARE, 0, 0);
}

static gather_status begin_anew(gather_shuffle *job, gather_error *error) {
  job->step = first_step(job);
  /* A folder without a journal has no state to resume: its run ended before the first step. */
  if (job->folder.fd >= 0) GATHER_TRY(gather_shuffle_folder_remove(&job->folder, error));
  GATHER_TRY(gather_shuffle_folder_make(job, error));
  job->made = true;
  note(job);
  GATHER_TRY(gather_shuffle_folder_files(job, error));
  return gather_shuffle_journal_write(job, job->step, 0, error);
}

static gather_status begin(gather_shuffle *job, gather_error *error) {
  GATHER_TRY(start_fills(job, error));
  GATHER_TRY(gather_shuffle_identity(job, &job->identity, error));
  if (!job->resumed) return begin_anew(job, error);
  GATHER_TRY(gather_shuffle_journal_use(job, error));
  if (job->published) return GATHER_OK;
  note(job);
  return gather_shuffle_folder_files(job, error);
}

/* Says how much of a step was done before this run. */
static void show_step(const gather_shuffle *job) {
  const int64_t done = job->step == GATHER_SHUFFLE_SECOND_PASS ? job->at * job->bucket_rows : job->at;
  gather_shuffle_show(job, job->step, done, job->out_rows);
}

static gather_status run_steps(gather_shuffle *job, gather_error *error) {
  GATHER_TRY(begin(job, error));
  while (job->step != GATHER_SHUFFLE_PUBLISH && !job->published) {
    show_step(job);
    GATHER_TRY(gather_shuffle_run_step(job, error));
    bool last = job->step == GATHER_SHUFFLE_ONLY_PASS || job->step == GATHER_SHUFFLE_SECOND_PASS;
    gather_shuffle_step next = last ? GATHER_SHUFFLE_PUBLISH : (gather_shuffle_step)(job->step + 1);
    const int64_t at = next == GATHER_SHUFFLE_PUBLISH ? gather_shuffle_out_bytes(job) : 0;
    GATHER_TRY(gather_shuffle_journal_write(job, next, at, error));
  }
  return gather_shuffle_publish(job, error);
}

/* After a failure: a folder without anything that a later run could use is removed. */
static void leave_folder(gather_shuffle *job) {
  gather_error ignored;
  const bool empty = job->made && job->step == first_step(job) && job->at == 0;
  if (job->folder.fd < 0 || !empty) return;
  const gather_status status = gather_shuffle_folder_remove(&job->folder, &ignored);
  (void)status;
  job->noted = false;
}

static gather_status run_all_steps(gather_shuffle *job, gather_error *error) {
  gather_status status = run_steps(job, error);
  job->finished = status == GATHER_OK;
  if (!job->finished) leave_folder(job);
  return status;
}

/* ---- what is asked for */

static gather_status no_memory(gather_error *error) { return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a shuffle"); }

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
  bool kept = job->paths && keep_raw(job) && keep_text(job, &job->options.format) && keep_text(job, &job->options.name) &&
              keep_text(job, &job->options.tensor);
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
    return gather_fail_errno(error, gather_shuffle_status_of(number), number, job->output, -1, "cannot resolve the path");
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
  if (format) job->format = format->info.name;
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
  GATHER_TRY(
      gather_struct_read(&job->options, sizeof job->options, options, "gather_shuffle_options", "GATHER_SHUFFLE_OPTIONS_INIT", error));
  GATHER_TRY(check_options(&job->options, error));
  GATHER_TRY(keep_all(job, paths, error));
  job->seed = job->options.seed;
  job->passes_asked = job->options.passes;
  return find_output(job, error);
}

gather_status gather_shuffle_create(const char *const *paths, int32_t count, const char *output, const gather_shuffle_options *options,
                                    gather_shuffle **shuffle, gather_error *error) {
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
  if (job->options.memory_bytes == 0) job->options.memory_bytes = default_memory();
  GATHER_TRY(open_table(job, error));
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

static gather_status keep_order(gather_shuffle *job, const gather_tensor *order, const gather_file *file, gather_error *error) {
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

static gather_status plan_shuffle(gather_shuffle *job, const gather_tensor *order, const gather_file *file, gather_error *error) {
  GATHER_TRY(keep_order(job, order, file, error));
  if (!job->opened) GATHER_TRY(open_shuffle(job, error));
  GATHER_TRY(gather_shuffle_choose_seed(job, error));
  GATHER_TRY(open_output(job, order, error));
  GATHER_TRY(plan_passes(job, error));
  tell_plan(job);
  job->planned = true;
  return GATHER_OK;
}

gather_status gather_shuffle_plan(gather_shuffle *shuffle, const gather_tensor *order, const gather_file *order_file, gather_error *error) {
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
  const gather_status status = run_all_steps(shuffle, error);
  shuffle->info.folder = shuffle->noted ? shuffle->folder.path : NULL;
  return status;
}

const gather_shuffle_info *gather_shuffle_describe(const gather_shuffle *shuffle) { return &shuffle->info; }

void gather_shuffle_close(gather_shuffle *shuffle) {
  if (!shuffle) return;
  /* A program that is killed before this point resumes to the same result. */
  gather_shuffle_folder_close(&shuffle->folder, shuffle->finished);
  gather_writer_abort(shuffle->writer);
  gather_plan_destroy(shuffle->plan);
  gather_table_close(shuffle->table);
  gather_free(shuffle->identity);
  gather_free(shuffle->journal);
  gather_free(shuffle->fills);
  gather_arena_clear(&shuffle->memory);
  gather_free(shuffle);
}
