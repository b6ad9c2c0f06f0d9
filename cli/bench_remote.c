/* SPDX-License-Identifier: MIT
 *
 * bench_remote.c: `gather bench URL`: how fast a server delivers random rows, together and one at a time. The table has no row cache,
 * so every row is asked for again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "fail.h"
#include "json.h"
#include "progress.h"
#include "remote_arg.h"
#include "report.h"
#include "show.h"
#include "size.h"
#include "source.h"
#include "terminal.h"

enum {
  ROUNDS = GATHER_CLI_BENCH_ROUNDS,
  FIRST_ROWS = 256, /* of a first, short take, which also opens the connections */
  LEAST_ROWS = 16,
  MOST_ROWS = 1 << 20,
  OUT_BYTES = 64 << 20, /* of the rows at most, unless one row is longer */
  SINGLE_ROWS = 16      /* taken one at a time */
};

/* The time of one round. */
static const double ROUND_SECONDS = 2;

typedef struct remote_bench {
  const gather_cli_bench *line;
  gather_table *table;
  const gather_table_info *info;
  int64_t *ids;
  char *out;
  int64_t measured;                   /* rows of a round */
  double rate[ROUNDS];                /* rows/s */
  double single;                      /* rows/s, one at a time */
  gather_table_statistics statistics; /* of all rounds */
  gather_remote_statistics network;   /* likewise */
} remote_bench;

static uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Takes random rows, the same for each seed and round; returns the time. */
static gather_status take(remote_bench *bench, int64_t rows, int round, int64_t each, double *seconds, gather_error *error) {
  uint64_t state = (uint64_t)bench->line->seed * 1000003u + (uint64_t)round;
  int64_t shape[GATHER_MAX_RANK], len;
  gather_tensor out = bench->info->tensor, indices = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = &len};
  memcpy(shape, out.shape, (size_t)out.rank * sizeof *shape);
  out.shape = shape, out.strides = NULL, out.data = bench->out;
  out.flags &= GATHER_TENSOR_BYTE_SWAPPED;
  for (int64_t i = 0; i < rows; i++) bench->ids[i] = (int64_t)(next_random(&state) % (uint64_t)bench->info->rows);
  const double begin = gather_cli_now();
  for (int64_t first = 0; first < rows; first += len) {
    shape[0] = len = rows - first < each ? rows - first : each;
    indices.data = bench->ids + first;
    GATHER_CLI_TRY(gather_table_take(bench->table, &indices, &out, NULL, error));
  }
  *seconds = gather_cli_now() - begin;
  return GATHER_OK;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The URL without its query, which may be a secret. */
static const char *name_of(const remote_bench *bench) {
  gather_table_part part;
  return gather_table_part_at(bench->table, 0, &part) && part.path[0] ? part.path : "the URL";
}

static gather_status open_table(remote_bench *bench, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  const char *url = bench->line->args->argument[0];
  gather_cli_raw raw = bench->line->raw;
  raw.raw.shape = raw.shape;
  if (raw.whole) raw.shape[0] = -1;
  options.engine = bench->line->options.engine;
  options.memory_bytes = bench->line->options.memory_bytes;
  options.depth = bench->line->options.depth;
  options.cache_bytes = 0;
  options.no_links = gather_cli_no_links();
  options.tensor = raw.tensor;
  options.raw = raw.raw.type ? &raw.raw : NULL;
  GATHER_CLI_TRY(gather_cli_remote(url, &options.remote, error));
  GATHER_CLI_TRY(gather_table_open(url, &options, &bench->table, error));
  bench->info = gather_table_describe(bench->table);
  if (bench->info->rows > 0 && bench->info->row_bytes > 0) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "%.200s has no rows to measure", name_of(bench)); /* never the query */
}

static gather_status make_room(remote_bench *bench, int64_t *each, gather_error *error) {
  const int64_t row_bytes = bench->info->row_bytes;
  *each = row_bytes > OUT_BYTES ? 1 : OUT_BYTES / row_bytes;
  bench->ids = malloc(MOST_ROWS * sizeof *bench->ids);
  if ((uint64_t)row_bytes <= SIZE_MAX / 2) bench->out = malloc((size_t)(*each * row_bytes));
  if (!bench->ids || !bench->out) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the rows");
  return GATHER_OK;
}

static void say(const remote_bench *bench, int round) {
  char rounds[32];
  const char *const parts[] = {"measuring", rounds};
  if (bench->line->args->value[GATHER_CLI_QUIET] || !gather_cli_terminal_live()) return;
  (void)snprintf(rounds, sizeof rounds, "%d of %d", round + 1, ROUNDS);
  gather_cli_progress_show(parts, 2);
}

static gather_status measure(remote_bench *bench, gather_error *error) {
  int64_t each, first = least(FIRST_ROWS, bench->line->rows_given ? bench->line->measured : FIRST_ROWS);
  double seconds;
  GATHER_CLI_TRY(open_table(bench, error));
  GATHER_CLI_TRY(make_room(bench, &each, error));
  GATHER_CLI_TRY(take(bench, first, -1, each, &seconds, error));
  bench->measured = seconds > 0 ? least((int64_t)((double)first / seconds * ROUND_SECONDS), MOST_ROWS) : MOST_ROWS;
  bench->measured = least(bench->measured, bench->info->rows);
  if (bench->measured < LEAST_ROWS) bench->measured = LEAST_ROWS;
  if (bench->line->rows_given) bench->measured = least(bench->line->measured, MOST_ROWS);
  const int64_t single = least(SINGLE_ROWS, bench->measured);
  GATHER_CLI_TRY(take(bench, single, -2, 1, &seconds, error));
  bench->single = seconds > 0 ? (double)single / seconds : 0;
  gather_table_statistics_reset(bench->table);
  for (int round = 0; round < ROUNDS; round++) {
    say(bench, round);
    GATHER_CLI_TRY(take(bench, bench->measured, round, each, &seconds, error));
    bench->rate[round] = seconds > 0 ? (double)bench->measured / seconds : 0;
  }
  gather_table_statistics_get(bench->table, &bench->statistics);
  (void)gather_table_remote_statistics(bench->table, &bench->network);
  return GATHER_OK;
}

static void answer_json(const remote_bench *bench, double seconds) {
  const gather_cli_bench_rate rate = gather_cli_bench_rate_of(bench->rate, ROUNDS);
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "bench");
  gather_cli_json_string(&json, "format", bench->info->format);
  gather_cli_json_string(&json, "type", bench->info->type_name);
  gather_cli_json_ints(&json, "shape", bench->info->tensor.rank, bench->info->tensor.shape);
  gather_cli_json_int(&json, "row_bytes", bench->info->row_bytes);
  gather_cli_json_int(&json, "rows", bench->measured);
  gather_cli_json_int(&json, "rounds", ROUNDS);
  gather_cli_json_int(&json, "seed", bench->line->seed);
  gather_cli_json_double(&json, "rows_per_second", rate.middle);
  gather_cli_json_double(&json, "least", rate.least);
  gather_cli_json_double(&json, "most", rate.most);
  gather_cli_json_double(&json, "rows_per_second_one_at_a_time", bench->single);
  gather_cli_json_table(&json, NULL, &bench->statistics);
  gather_cli_json_remote(&json, &bench->network);
  gather_cli_json_double(&json, "seconds", seconds);
  gather_cli_json_finish(&json);
}

static void answer_text(const remote_bench *bench) {
  char shape[512], row[32];
  const gather_cli_bench_rate rate = gather_cli_bench_rate_of(bench->rate, ROUNDS);
  gather_cli_put(stdout, name_of(bench));
  printf(": %s ", bench->info->format);
  gather_cli_put(stdout, bench->info->type_name);
  printf(" %s, rows of %s\n", gather_cli_shape_text(shape, sizeof shape, bench->info->tensor.rank, bench->info->tensor.shape),
         gather_cli_size_text(row, sizeof row, bench->info->row_bytes));
  printf("%.0f rows/s (%.0f to %.0f): the median of %d rounds of %" PRId64 " random rows\n", rate.middle, rate.least, rate.most, ROUNDS,
         bench->measured);
  printf("%.0f rows/s if each row is a separate take\n", bench->single);
  gather_cli_remote_text(stdout, &bench->network);
}

int gather_cli_bench_remote(const gather_cli_bench *line) {
  remote_bench bench = {.line = line};
  gather_error error;
  const double begin = gather_cli_now();
  const gather_status status = measure(&bench, &error);
  if (gather_cli_terminal_live() && !line->args->value[GATHER_CLI_QUIET]) gather_cli_progress_wipe();
  if (status == GATHER_OK && line->args->value[GATHER_CLI_JSON])
    answer_json(&bench, gather_cli_now() - begin);
  else if (status == GATHER_OK)
    answer_text(&bench);
  const int code = status == GATHER_OK ? 0 : gather_cli_report(line->args, &error);
  gather_table_close(bench.table);
  free(bench.ids);
  free(bench.out);
  return code;
}
