/* SPDX-License-Identifier: MIT
 *
 * cmd_bench.c: `gather bench`: how fast this disk delivers rows of a file, with each engine, compared with the disk
 * limit. Rounds are interleaved, so that a slow minute of the machine affects every method.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "commands.h"
#include "progress.h"
#include "report.h"
#include "terminal.h"

enum {
  LIMIT_DEPTH = 128, /* disks are not faster beyond it */
  LEAST_ROWS = 4,
  DENSE = 4, /* more than 1/DENSE of all blocks: many are adjacent, and are read faster than single ones */
  MOST_ROWS = 1 << 24,
  OUT_BYTES = 64 << 20 /* of the rows at most, unless one row is longer */
};

/* The time of one cold measurement: about eighty take about 20 seconds. */
static const double COLD_SECONDS = 0.25;

static const int32_t DEPTHS[GATHER_CLI_BENCH_DEPTHS] = {1, 8, 32, 128};

static gather_status read_options(gather_cli_bench *bench, gather_error *error) {
  const gather_cli_args *args = bench->args;
  GATHER_CLI_TRY(gather_cli_table_options_read(args, &bench->options, error));
  GATHER_CLI_TRY(gather_cli_raw_options(args, GATHER_CLI_TYPE, GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, &bench->raw, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_ROWS, 1, MOST_ROWS, 0, &bench->measured, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_SEED, 0, INT64_MAX, 1, &bench->seed, error));
  bench->rows_given = bench->measured > 0;
  bench->one_engine = args->value[GATHER_CLI_ENGINE] != NULL;
  if (gather_cli_is_stdin(args->argument[0]))
    return gather_cli_fail(error, GATHER_USAGE, "a pipe has no disk to measure: bench takes a file");
  return GATHER_OK;
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
  if (!bench->ids || !bench->out) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the rows");
  return GATHER_OK;
}

/* As many rows as fit into the time, and not many more than the table has. Found in steps: rows may be long, or the disk slow. */
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
  bench->measured = rows > (double)MOST_ROWS ? MOST_ROWS : (int64_t)rows;
  if (bench->measured > bench->rows) bench->measured = bench->rows;
  if (bench->measured > bench->blocks / DENSE) bench->measured = bench->blocks / DENSE;
  if (bench->measured < LEAST_ROWS) bench->measured = LEAST_ROWS;
  bench->resident = 0;
  return make_room(bench, bench->measured, error);
}

/* ---- the methods */

static void add(gather_cli_bench *bench, gather_cli_bench_kind kind, gather_engine engine, int32_t depth) {
  if (gather_engine_check(engine, NULL) != GATHER_OK && !bench->one_engine) return;
  if (kind == GATHER_CLI_BENCH_LIMIT && bench->largest->size < bench->block_bytes) return; /* not one whole block */
  bench->ways[bench->way_count++] = (gather_cli_bench_way){.kind = kind, .engine = engine, .depth = depth};
}

static void add_ways(gather_cli_bench *bench) {
  static const gather_engine ENGINES[] = {GATHER_ENGINE_AUTO, GATHER_ENGINE_MMAP, GATHER_ENGINE_PREAD, GATHER_ENGINE_URING};
  if (gather_engine_check(GATHER_ENGINE_URING, NULL) == GATHER_OK) add(bench, GATHER_CLI_BENCH_LIMIT, GATHER_ENGINE_URING, LIMIT_DEPTH);
  add(bench, GATHER_CLI_BENCH_LIMIT, GATHER_ENGINE_PREAD, LIMIT_DEPTH);
  for (size_t i = 0; i < sizeof ENGINES / sizeof *ENGINES; i++)
    if (!bench->one_engine || ENGINES[i] == bench->options.engine) add(bench, GATHER_CLI_BENCH_TABLE, ENGINES[i], bench->options.depth);
  add(bench, GATHER_CLI_BENCH_MMAP, GATHER_ENGINE_MMAP, 0);
  add(bench, GATHER_CLI_BENCH_PREAD, GATHER_ENGINE_PREAD, 0);
}

static void say(const gather_cli_bench *bench, const gather_cli_bench_way *way, int round) {
  char what[64], rounds[32];
  const char *const parts[] = {what, rounds};
  if (bench->args->value[GATHER_CLI_QUIET] || !gather_cli_terminal_live()) return;
  (void)snprintf(what, sizeof what, "measuring %s", gather_cli_bench_way_name(way));
  (void)snprintf(rounds, sizeof rounds, "%d of %d", round + 1, GATHER_CLI_BENCH_ROUNDS);
  gather_cli_progress_show(parts, 2);
}

/* A low queue depth is slower: as many rows as the time allows. */
static int64_t rows_for(const gather_cli_bench *bench, const gather_cli_bench_way *way) {
  int64_t rows = bench->measured;
  if (way->kind == GATHER_CLI_BENCH_SWEEP && way->depth < DEPTHS[2]) rows = rows * way->depth / DEPTHS[2];
  return rows > LEAST_ROWS ? rows : bench->measured < LEAST_ROWS ? bench->measured : LEAST_ROWS;
}

static gather_status measure_one(gather_cli_bench *bench, gather_cli_bench_way *way, int round, gather_error *error) {
  say(bench, way, round % GATHER_CLI_BENCH_ROUNDS);
  return gather_cli_bench_cold(bench, way, round, rows_for(bench, way), error);
}

/* Measures the disk limit, number `round` of the limits. */
static gather_status measure_limits(gather_cli_bench *bench, int round, gather_error *error) {
  for (int i = 0; i < bench->way_count; i++)
    if (bench->ways[i].kind == GATHER_CLI_BENCH_LIMIT) GATHER_CLI_TRY(measure_one(bench, &bench->ways[i], round, error));
  return GATHER_OK;
}

/* Each round begins with another method, between two measurements of the limits: a disturbance affects all methods, and is visible. */
static gather_status measure(gather_cli_bench *bench, int first, bool limits, gather_error *error) {
  const int count = bench->way_count - first;
  for (int round = 0; round < GATHER_CLI_BENCH_ROUNDS; round++) {
    if (limits) GATHER_CLI_TRY(measure_limits(bench, round, error));
    for (int i = 0; i < count; i++) {
      gather_cli_bench_way *way = &bench->ways[first + (i + round) % count];
      if (way->kind != GATHER_CLI_BENCH_LIMIT) GATHER_CLI_TRY(measure_one(bench, way, round, error));
    }
    if (limits) GATHER_CLI_TRY(measure_limits(bench, GATHER_CLI_BENCH_ROUNDS + round, error));
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

/* The fastest cold one of a kind; or NULL. */
static const gather_cli_bench_way *fastest(const gather_cli_bench *bench, gather_cli_bench_kind kind) {
  const gather_cli_bench_way *best = NULL;
  double most = 0;
  for (int i = 0; i < bench->way_count; i++) {
    const gather_cli_bench_way *way = &bench->ways[i];
    double middle = gather_cli_bench_cold_rate(way).middle;
    if (way->kind != kind || middle <= most) continue;
    best = way;
    most = middle;
  }
  return best;
}

/* Computes the verdict. */
static void judge(gather_cli_bench *bench) {
  double limit[2 * GATHER_CLI_BENCH_ROUNDS];
  gather_cli_bench_figures figures = {.cold = gather_cli_bench_is_cold(bench),
                                      .one_engine = bench->one_engine,
                                      .dense = bench->needed * DENSE > bench->blocks,
                                      .rounds = GATHER_CLI_BENCH_ROUNDS};
  for (int i = 0; bench->limit && i < GATHER_CLI_BENCH_ROUNDS; i++) { /* in order of time */
    limit[2 * i] = bench->limit->cold[i];
    limit[2 * i + 1] = bench->limit->cold[GATHER_CLI_BENCH_ROUNDS + i];
  }
  figures.limit = bench->limit ? limit : NULL;
  figures.limit_count = bench->limit ? 2 * GATHER_CLI_BENCH_ROUNDS : 0;
  for (int i = 0; i < bench->way_count && figures.engine_count < GATHER_CLI_BENCH_MOST_ENGINES; i++) {
    const gather_cli_bench_way *way = &bench->ways[i];
    if (way->kind != GATHER_CLI_BENCH_TABLE) continue;
    figures.engine[figures.engine_count++] = (gather_cli_bench_engine){
        gather_cli_bench_way_name(way), gather_engine_name(way->statistics.engine), way->cold, gather_cli_bench_share(bench, way)};
  }
  bench->judgement = gather_cli_bench_judge(&figures);
}

static gather_status measure_all(gather_cli_bench *bench, gather_error *error) {
  add_ways(bench);
  GATHER_CLI_TRY(measure(bench, 0, true, error));
  GATHER_CLI_TRY(measure_warm(bench, error));
  bench->limit = fastest(bench, GATHER_CLI_BENCH_LIMIT);
  bench->best = fastest(bench, GATHER_CLI_BENCH_TABLE);
  bench->naive = fastest(bench, GATHER_CLI_BENCH_MMAP);
  int first = bench->way_count;
  if (bench->options.depth == 0 && bench->best)
    for (int i = 0; i < GATHER_CLI_BENCH_DEPTHS; i++) add(bench, GATHER_CLI_BENCH_SWEEP, bench->best->statistics.engine, DEPTHS[i]);
  GATHER_CLI_TRY(measure(bench, first, false, error));
  judge(bench);
  return GATHER_OK;
}

static void clear(gather_cli_bench *bench) {
  for (int32_t i = 0; i < bench->file_count; i++) free(bench->files[i].path);
  free(bench->files);
  free(bench->paths);
  free(bench->parts);
  free(bench->type_name);
  free(bench->format);
  free(bench->ids);
  free(bench->seen);
  free(bench->out);
}

int gather_cli_cmd_bench(const gather_cli_args *args) {
  static gather_cli_bench bench; /* large, and used once */
  gather_error error;
  bench.args = args;
  double begin = gather_cli_now();
  gather_status status = read_options(&bench, &error);
  if (status == GATHER_OK && gather_remote_is_url(args->argument[0])) return gather_cli_bench_remote(&bench);
  if (status == GATHER_OK) status = gather_cli_bench_describe(&bench, &error);
  if (status == GATHER_OK) status = choose_rows(&bench, &error);
  if (status == GATHER_OK) status = measure_all(&bench, &error);
  if (gather_cli_terminal_live() && !args->value[GATHER_CLI_QUIET]) gather_cli_progress_wipe();
  bench.seconds = gather_cli_now() - begin;
  if (status == GATHER_OK) gather_cli_bench_answer(&bench);
  int code = status == GATHER_OK ? 0 : gather_cli_report(args, &error);
  clear(&bench);
  return code;
}
