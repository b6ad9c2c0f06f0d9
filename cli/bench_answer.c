/* SPDX-License-Identifier: MIT
 *
 * bench_answer.c: what `gather bench` found, as a table for people and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "json.h"
#include "report.h"
#include "size.h"

/* Shares of a file that stay in memory beyond this make "cold" a wrong word. */
static const double STAYS = 0.01;
/* What differs by less is the same. */
static const double NEAR = 0.9;

const char *gather_cli_bench_way_name(const gather_cli_bench_way *way) {
  switch (way->kind) {
    case GATHER_CLI_BENCH_LIMIT:
      return "disk limit";
    case GATHER_CLI_BENCH_MMAP:
      return "plain mmap";
    case GATHER_CLI_BENCH_PREAD:
      return "plain pread";
    default:
      return gather_engine_name(way->engine);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

gather_cli_bench_rate gather_cli_bench_rate_of(const double *rounds, int count) {
  double sorted[GATHER_CLI_BENCH_ROUNDS];
  if (count == 0) return (gather_cli_bench_rate){0};
  memcpy(sorted, rounds, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  return (gather_cli_bench_rate){sorted[count / 2], sorted[0], sorted[count - 1]};
}

static double cold_of(const gather_cli_bench_way *way) {
  return way ? gather_cli_bench_rate_of(way->cold, way->rounds).middle : 0;
}

static double share_of_limit(const gather_cli_bench *bench, const gather_cli_bench_way *way) {
  double limit = cold_of(bench->limit);
  return limit > 0 ? cold_of(way) / limit : 0;
}

static bool is_cold(const gather_cli_bench *bench) { return bench->resident <= STAYS && !bench->in_memory; }

/* ---- text */

static void text_file(const gather_cli_bench *bench) {
  char shape[512], row[32], size[32], ahead[32];
  int64_t bytes = 0;
  for (int32_t i = 0; i < bench->file_count; i++) bytes += bench->files[i].size;
  gather_cli_put(stdout, bench->args->argument[0]);
  printf(": %s ", bench->format);
  gather_cli_put(stdout, bench->type_name);
  printf(" %s, rows of %s, ", gather_cli_shape_text(shape, sizeof shape, bench->rank, bench->shape),
         gather_cli_size_text(row, sizeof row, bench->row_bytes));
  if (bench->file_count == 1)
    printf("a file of %s on %s\n", gather_cli_size_text(size, sizeof size, bytes), bench->file_system);
  else
    printf("%" PRId32 " files of %s in all on %s\n", bench->file_count, gather_cli_size_text(size, sizeof size, bytes),
           bench->file_system);
  printf("direct I/O %s; read-ahead %s\n", bench->direct ? "works" : "does not work here",
         bench->read_ahead_bytes < 0 ? "unknown" : gather_cli_size_text(ahead, sizeof ahead, bench->read_ahead_bytes));
  printf("each figure: the middle of %d rounds of %" PRId64 " rows at random\n", GATHER_CLI_BENCH_ROUNDS,
         bench->measured);
  gather_error why;
  if (gather_engine_check(GATHER_ENGINE_URING, &why) != GATHER_OK) printf("uring is not here: %s\n", why.message);
}

static void text_cold(const gather_cli_bench *bench) {
  if (bench->in_memory)
    printf("this file system is in memory: there is no disk, and nothing is ever cold\n");
  else if (!is_cold(bench))
    printf(
        "%.0f %% of the file stayed in memory (what opening it reads, what other programs have mapped): these figures"
        " are not cold\n",
        bench->resident < 1 ? bench->resident * 100 : 100.0);
}

static void text_rate(double rate) {
  if (rate > 0)
    printf(" %12.0f", rate);
  else
    printf(" %12s", "-");
}

static void text_way(const gather_cli_bench *bench, const gather_cli_bench_way *way) {
  gather_cli_bench_rate cold = gather_cli_bench_rate_of(way->cold, way->rounds);
  char name[40], depth[16] = "-";
  (void)snprintf(name, sizeof name, "%s", gather_cli_bench_way_name(way));
  if (way->kind == GATHER_CLI_BENCH_LIMIT || (way->kind == GATHER_CLI_BENCH_TABLE && way->engine == GATHER_ENGINE_AUTO))
    (void)snprintf(name, sizeof name, "%s (%s)", gather_cli_bench_way_name(way),
                   gather_engine_name(way->statistics.engine));
  if (way->statistics.depth > 0) (void)snprintf(depth, sizeof depth, "%" PRId32, way->statistics.depth);
  printf("%-18s %5s", name, depth);
  text_rate(cold.middle);
  printf(" %5.0f %% %10.1f %6.0f %%", cold.middle > 0 ? (cold.most - cold.least) / cold.middle * 50 : 0,
         cold.middle > 0 ? 1e6 / cold.middle : 0, share_of_limit(bench, way) * 100);
  if (way->amplification > 0)
    printf(" %10.1f", way->amplification);
  else
    printf(" %10s", "-");
  text_rate(gather_cli_bench_rate_of(way->warm, way->warm[0] > 0 ? way->rounds : 0).middle);
  putchar('\n');
}

static void text_ways(const gather_cli_bench *bench) {
  printf("\n%-18s %5s %12s %7s %10s %8s %10s %12s\n", "", "depth", "cold rows/s", "+-", "us/row", "of limit",
         "read/need", "warm rows/s");
  for (int i = 0; i < bench->way_count; i++)
    if (bench->ways[i].kind != GATHER_CLI_BENCH_SWEEP) text_way(bench, &bench->ways[i]);
}

static void text_depths(const gather_cli_bench *bench) {
  bool any = false;
  for (int i = 0; i < bench->way_count; i++) {
    const gather_cli_bench_way *way = &bench->ways[i];
    if (way->kind != GATHER_CLI_BENCH_SWEEP) continue;
    if (!any) printf("\n%s, reads at once and cold rows/s:", gather_engine_name(way->engine));
    printf("%s %" PRId32 ": %.0f", any ? "," : "", way->depth, cold_of(way));
    any = true;
  }
  if (any) putchar('\n');
}

/* Whether the rounds of auto reach what the fastest has: then nothing is gained by naming that one. */
static bool auto_is_as_good(const gather_cli_bench *bench) {
  for (int i = 0; i < bench->way_count; i++) {
    const gather_cli_bench_way *way = &bench->ways[i];
    if (way->kind == GATHER_CLI_BENCH_TABLE && way->engine == GATHER_ENGINE_AUTO)
      return gather_cli_bench_rate_of(way->cold, way->rounds).most >= cold_of(bench->best) * NEAR;
  }
  return false;
}

static void text_advice(const gather_cli_bench *bench) {
  char block[32];
  if (!bench->best) return;
  if (!is_cold(bench)) {
    printf("\nNothing can be said of the disk: the file is small, or stays in memory.\n");
    return;
  }
  const char *engine = gather_engine_name(bench->best->statistics.engine);
  double naive = cold_of(bench->naive), best = cold_of(bench->best);
  printf("\n%s is the fastest cold: %.0f %% of what this disk gives of blocks of %s at random", engine,
         share_of_limit(bench, bench->best) * 100, gather_cli_size_text(block, sizeof block, bench->block_bytes));
  if (naive > 0 && best > naive) printf(", %.*f times a plain mmap", best / naive < 10 ? 1 : 0, best / naive);
  printf(".\n");
  if (bench->one_engine) return;
  printf("%s\n", auto_is_as_good(bench)
                     ? "Leave --engine at auto."
                     : "Where the file is mostly cold, that engine is worth naming here (--engine).");
}

/* ---- JSON */

static void json_rate(gather_cli_json *json, const char *key, const double *rounds, int count) {
  gather_cli_bench_rate rate = gather_cli_bench_rate_of(rounds, count);
  gather_cli_json_object(json, key);
  gather_cli_json_double(json, "rows_per_second", rate.middle);
  gather_cli_json_double(json, "least", rate.least);
  gather_cli_json_double(json, "most", rate.most);
  gather_cli_json_object_end(json);
}

static void json_way(gather_cli_json *json, const char *key, const gather_cli_bench *bench,
                     const gather_cli_bench_way *way) {
  const bool plain = way->kind == GATHER_CLI_BENCH_MMAP || way->kind == GATHER_CLI_BENCH_PREAD;
  gather_cli_json_object(json, key);
  gather_cli_json_string(json, "way", gather_cli_bench_way_name(way));
  if (!plain) {
    gather_cli_json_string(json, "engine", gather_engine_name(way->statistics.engine));
    gather_cli_json_bool(json, "direct", way->statistics.direct);
    gather_cli_json_int(json, "depth", way->statistics.depth);
    gather_cli_json_string(json, "why", way->statistics.why);
    gather_cli_json_double(json, "bytes_read_per_useful", way->amplification);
    gather_cli_json_int(json, "memory_peak", way->statistics.memory_peak);
  }
  json_rate(json, "cold", way->cold, way->rounds);
  gather_cli_json_double(json, "share_of_limit", share_of_limit(bench, way));
  if (way->warm[0] > 0) json_rate(json, "warm", way->warm, way->rounds);
  gather_cli_json_object_end(json);
}

static void json_ways(gather_cli_json *json, const char *key, const gather_cli_bench *bench, gather_cli_bench_kind kind,
                      gather_cli_bench_kind other) {
  gather_cli_json_array(json, key);
  for (int i = 0; i < bench->way_count; i++)
    if (bench->ways[i].kind == kind || bench->ways[i].kind == other) json_way(json, NULL, bench, &bench->ways[i]);
  gather_cli_json_array_end(json);
}

static void answer_json(const gather_cli_bench *bench) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < bench->file_count; i++) bytes += bench->files[i].size;
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "bench");
  gather_cli_json_string(&json, "file", bench->args->argument[0]);
  gather_cli_json_string(&json, "format", bench->format);
  gather_cli_json_string(&json, "type", bench->type_name);
  gather_cli_json_ints(&json, "shape", bench->rank, bench->shape);
  gather_cli_json_int(&json, "row_bytes", bench->row_bytes);
  gather_cli_json_int(&json, "file_bytes", bytes);
  gather_cli_json_string(&json, "file_system", bench->file_system);
  gather_cli_json_bool(&json, "direct", bench->direct);
  gather_cli_json_int(&json, "read_ahead_bytes", bench->read_ahead_bytes);
  gather_cli_json_int(&json, "rows", bench->measured);
  gather_cli_json_int(&json, "rounds", GATHER_CLI_BENCH_ROUNDS);
  gather_cli_json_int(&json, "seed", bench->seed);
  gather_cli_json_bool(&json, "cold", is_cold(bench));
  gather_cli_json_double(&json, "resident", bench->resident);
  gather_cli_json_int(&json, "block_bytes", bench->block_bytes);
  json_ways(&json, "limits", bench, GATHER_CLI_BENCH_LIMIT, GATHER_CLI_BENCH_LIMIT);
  json_ways(&json, "engines", bench, GATHER_CLI_BENCH_TABLE, GATHER_CLI_BENCH_TABLE);
  json_ways(&json, "plain", bench, GATHER_CLI_BENCH_MMAP, GATHER_CLI_BENCH_PREAD);
  json_ways(&json, "depths", bench, GATHER_CLI_BENCH_SWEEP, GATHER_CLI_BENCH_SWEEP);
  if (bench->best) json_way(&json, "best", bench, bench->best);
  gather_cli_json_double(&json, "seconds", bench->seconds);
  gather_cli_json_finish(&json);
}

void gather_cli_bench_answer(const gather_cli_bench *bench) {
  if (bench->args->value[GATHER_CLI_JSON]) {
    answer_json(bench);
    return;
  }
  text_file(bench);
  text_cold(bench);
  text_ways(bench);
  text_depths(bench);
  text_advice(bench);
}
