/* SPDX-License-Identifier: MIT
 *
 * cmd_bench.c: `gather bench`: how fast this disk gives rows of a file, engine by engine, and how far that is from what the disk
 * gives at all. Rounds are interleaved, so that a slow minute of the machine meets every way.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "commands.h"
#include "progress.h"
#include "report.h"

enum {
  BLOCK = 4096,      /* what disks and page caches deal in */
  LIMIT_DEPTH = 128, /* beyond which disks give no more */
  LEAST_ROWS = 4,
  MOST_ROWS = 1 << 24,
  OUT_BYTES = 64 << 20 /* of the rows, at most, but for longer rows */
};

/* One cold measurement, so that the about forty of them take about 20 seconds. */
static const double COLD_SECONDS = 0.4;

static const int32_t DEPTHS[GATHER_CLI_BENCH_DEPTHS] = {1, 8, 32, 128};

static gather_status read_options(gather_cli_bench *bench, gather_error *error) {
  const gather_cli_args *args = bench->args;
  GATHER_CLI_TRY(gather_cli_table_options_read(args, &bench->options, error));
  GATHER_CLI_TRY(
      gather_cli_raw_options(args, GATHER_CLI_TYPE, GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, &bench->raw, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_ROWS, 1, MOST_ROWS, 0, &bench->measured, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_SEED, 0, INT64_MAX, 1, &bench->seed, error));
  bench->rows_given = bench->measured > 0;
  bench->one_engine = args->value[GATHER_CLI_ENGINE] != NULL;
  if (gather_cli_is_stdin(args->argument[0]))
    return gather_cli_fail(error, GATHER_USAGE, "a pipe has no disk to measure: bench takes a file");
  return GATHER_OK;
}

/* ---- what is measured */

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

/* The number of the file of that name, which is added where it is new; -1 = no memory for it. */
static int32_t number_file(gather_cli_bench *bench, const char *path, int64_t size) {
  for (int32_t i = bench->file_count - 1; i >= 0; i--)
    if (strcmp(bench->files[i].path, path) == 0) return i;
  gather_cli_bench_file *file = &bench->files[bench->file_count];
  *file = (gather_cli_bench_file){.path = copy_text(path), .size = size, .fd = -1};
  if (!file->path) return -1;
  if (!bench->largest || size > bench->largest->size) bench->largest = file;
  return bench->file_count++;
}

static gather_status describe_files(gather_cli_bench *bench, const gather_table *table, gather_error *error) {
  gather_table_part part;
  const size_t count = (size_t)gather_table_describe(table)->parts;
  bench->files = calloc(count, sizeof *bench->files);
  bench->parts = calloc(count, sizeof *bench->parts);
  if (!bench->files || !bench->parts)
    return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the names of the files");
  for (int32_t i = 0; gather_table_part_at(table, i, &part); i++) {
    struct stat about;
    if (stat(part.path, &about) != 0)
      return gather_cli_fail_file(error, GATHER_IO_ERROR, part.path, -1, "cannot find out its size");
    int32_t file = number_file(bench, part.path, (int64_t)about.st_size);
    if (file < 0) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the name of a file");
    bench->parts[i] = (gather_cli_bench_part){file, part.offset, part.first, part.rows};
    bench->part_count = i + 1;
  }
  return GATHER_OK;
}

static gather_status describe(gather_cli_bench *bench, const gather_table *table, gather_error *error) {
  const gather_table_info *info = gather_table_describe(table);
  bench->type_name = copy_text(info->type_name);
  bench->format = copy_text(info->format);
  if (!bench->type_name || !bench->format) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a name");
  bench->rank = info->tensor.rank;
  memcpy(bench->shape, info->tensor.shape, (size_t)bench->rank * sizeof *bench->shape);
  bench->rows = info->rows;
  bench->row_bytes = info->row_bytes;
  bench->block_bytes = (info->row_bytes + BLOCK - 1) / BLOCK * BLOCK;
  if (bench->rows == 0 || bench->row_bytes == 0)
    return gather_cli_fail(error, GATHER_USAGE, "%s: there are no rows to measure", bench->args->argument[0]);
  GATHER_CLI_TRY(describe_files(bench, table, error));
  gather_cli_bench_look(bench);
  return GATHER_OK;
}

static gather_status open_table(gather_cli_bench *bench, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table = NULL;
  options.engine = bench->options.engine;
  options.memory_bytes = bench->options.memory_bytes;
  options.depth = bench->options.depth;
  options.raw = bench->raw.raw.type ? &bench->raw.raw : NULL;
  GATHER_CLI_TRY(gather_table_open(bench->args->argument[0], &options, &table, error));
  gather_status status = describe(bench, table, error);
  gather_table_close(table);
  return status;
}

/* ---- how much */

static gather_status make_room(gather_cli_bench *bench, int64_t rows, gather_error *error) {
  int64_t unit = bench->block_bytes > bench->row_bytes ? bench->block_bytes : bench->row_bytes;
  free(bench->ids);
  free(bench->out);
  bench->out = NULL;
  bench->out_bytes = unit > OUT_BYTES ? unit : OUT_BYTES / unit * unit;
  bench->ids = malloc((size_t)rows * sizeof *bench->ids);
  if ((uint64_t)bench->out_bytes <= SIZE_MAX / 2) bench->out = malloc((size_t)bench->out_bytes);
  if (!bench->ids || !bench->out) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the rows");
  return GATHER_OK;
}

/* As many rows as the disk gives in a moment, and not many more than there are. Found in steps: rows may be long, or a disk slow. */
static gather_status choose_rows(gather_cli_bench *bench, gather_error *error) {
  static const int64_t STEPS[] = {LEAST_ROWS, 64, 2000};
  gather_cli_bench_way way = {.kind = GATHER_CLI_BENCH_TABLE, .engine = bench->options.engine};
  double rows = 0;
  if (bench->rows_given) return make_room(bench, bench->measured, error);
  GATHER_CLI_TRY(make_room(bench, STEPS[2], error));
  for (int i = 0; i < 3 && rows <= (double)MOST_ROWS; i++) {
    if (i > 0 && rows < (double)STEPS[i]) break;
    GATHER_CLI_TRY(gather_cli_bench_cold(bench, &way, i, STEPS[i], error));
    rows = way.cold[i] * COLD_SECONDS;
  }
  bench->measured = rows > MOST_ROWS ? MOST_ROWS : (int64_t)rows;
  if (bench->measured > bench->rows) bench->measured = bench->rows;
  if (bench->measured < LEAST_ROWS) bench->measured = LEAST_ROWS;
  bench->resident = 0;
  return make_room(bench, bench->measured, error);
}

/* ---- the ways */

static void add(gather_cli_bench *bench, gather_cli_bench_kind kind, gather_engine engine, int32_t depth) {
  if (gather_engine_check(engine, NULL) != GATHER_OK && !bench->one_engine) return;
  if (kind == GATHER_CLI_BENCH_LIMIT && bench->largest->size < bench->block_bytes) return; /* there is no whole block */
  bench->ways[bench->way_count++] = (gather_cli_bench_way){.kind = kind, .engine = engine, .depth = depth};
}

static void add_ways(gather_cli_bench *bench) {
  static const gather_engine ENGINES[] = {GATHER_ENGINE_AUTO, GATHER_ENGINE_MMAP, GATHER_ENGINE_PREAD,
                                          GATHER_ENGINE_URING};
  if (gather_engine_check(GATHER_ENGINE_URING, NULL) == GATHER_OK)
    add(bench, GATHER_CLI_BENCH_LIMIT, GATHER_ENGINE_URING, LIMIT_DEPTH);
  add(bench, GATHER_CLI_BENCH_LIMIT, GATHER_ENGINE_PREAD, LIMIT_DEPTH);
  for (size_t i = 0; i < sizeof ENGINES / sizeof *ENGINES; i++)
    if (!bench->one_engine || ENGINES[i] == bench->options.engine)
      add(bench, GATHER_CLI_BENCH_TABLE, ENGINES[i], bench->options.depth);
  add(bench, GATHER_CLI_BENCH_MMAP, GATHER_ENGINE_MMAP, 0);
  add(bench, GATHER_CLI_BENCH_PREAD, GATHER_ENGINE_PREAD, 0);
}

static void say(const gather_cli_bench *bench, const gather_cli_bench_way *way, int round) {
  if (bench->args->value[GATHER_CLI_QUIET] || !isatty(STDERR_FILENO)) return;
  fprintf(stderr, "\rgather: measuring %s, %d of %d\033[K", gather_cli_bench_way_name(way), round + 1,
          GATHER_CLI_BENCH_ROUNDS);
  fflush(stderr);
}

/* A few reads at once take longer: as many rows as the time allows. */
static int64_t rows_for(const gather_cli_bench *bench, const gather_cli_bench_way *way) {
  int64_t rows = bench->measured;
  if (way->kind == GATHER_CLI_BENCH_SWEEP && way->depth < DEPTHS[2]) rows = rows * way->depth / DEPTHS[2];
  return rows > LEAST_ROWS ? rows : bench->measured < LEAST_ROWS ? bench->measured : LEAST_ROWS;
}

static gather_status measure(gather_cli_bench *bench, int first, gather_error *error) {
  for (int round = 0; round < GATHER_CLI_BENCH_ROUNDS; round++)
    for (int i = first; i < bench->way_count; i++) {
      say(bench, &bench->ways[i], round);
      GATHER_CLI_TRY(gather_cli_bench_cold(bench, &bench->ways[i], round, rows_for(bench, &bench->ways[i]), error));
    }
  return GATHER_OK;
}

static gather_status measure_warm(gather_cli_bench *bench, gather_error *error) {
  for (int round = 0; round < GATHER_CLI_BENCH_ROUNDS; round++) {
    GATHER_CLI_TRY(gather_cli_bench_fill(bench, round, error));
    for (int i = 0; i < bench->way_count; i++)
      if (bench->ways[i].kind != GATHER_CLI_BENCH_LIMIT && bench->ways[i].kind != GATHER_CLI_BENCH_SWEEP)
        GATHER_CLI_TRY(gather_cli_bench_warm(bench, &bench->ways[i], round, error));
  }
  return GATHER_OK;
}

/* The fastest cold one of a kind; NULL. */
static const gather_cli_bench_way *fastest(const gather_cli_bench *bench, gather_cli_bench_kind kind) {
  const gather_cli_bench_way *best = NULL;
  double most = 0;
  for (int i = 0; i < bench->way_count; i++) {
    const gather_cli_bench_way *way = &bench->ways[i];
    double middle = gather_cli_bench_rate_of(way->cold, way->rounds).middle;
    if (way->kind != kind || middle <= most) continue;
    best = way;
    most = middle;
  }
  return best;
}

static gather_status measure_all(gather_cli_bench *bench, gather_error *error) {
  add_ways(bench);
  GATHER_CLI_TRY(measure(bench, 0, error));
  GATHER_CLI_TRY(measure_warm(bench, error));
  bench->limit = fastest(bench, GATHER_CLI_BENCH_LIMIT);
  bench->best = fastest(bench, GATHER_CLI_BENCH_TABLE);
  bench->naive = fastest(bench, GATHER_CLI_BENCH_MMAP);
  int first = bench->way_count;
  if (bench->options.depth == 0 && bench->best)
    for (int i = 0; i < GATHER_CLI_BENCH_DEPTHS; i++)
      add(bench, GATHER_CLI_BENCH_SWEEP, bench->best->statistics.engine, DEPTHS[i]);
  return measure(bench, first, error);
}

static void clear(gather_cli_bench *bench) {
  for (int32_t i = 0; i < bench->file_count; i++) free(bench->files[i].path);
  free(bench->files);
  free(bench->parts);
  free(bench->type_name);
  free(bench->format);
  free(bench->ids);
  free(bench->out);
}

int gather_cli_cmd_bench(const gather_cli_args *args) {
  static gather_cli_bench bench; /* large, and needed once */
  gather_error error;
  bench.args = args;
  double begin = gather_cli_now();
  gather_status status = read_options(&bench, &error);
  if (status == GATHER_OK) status = open_table(&bench, &error);
  if (status == GATHER_OK) status = choose_rows(&bench, &error);
  if (status == GATHER_OK) status = measure_all(&bench, &error);
  if (isatty(STDERR_FILENO) && !args->value[GATHER_CLI_QUIET]) fputs("\r\033[K", stderr);
  bench.seconds = gather_cli_now() - begin;
  if (status == GATHER_OK) gather_cli_bench_answer(&bench);
  int code = status == GATHER_OK ? 0 : gather_cli_report(args, &error);
  clear(&bench);
  return code;
}
