/* SPDX-License-Identifier: MIT
 *
 * bench_answer.c: the result of `gather bench` as a table for people. Lines have at most 80 columns.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"
#include "show.h"
#include "size.h"

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
    printf("%" PRId32 " files of %s in all on %s\n", bench->file_count, gather_cli_size_text(size, sizeof size, bytes), bench->file_system);
  printf("direct I/O %s; read-ahead %s\n", bench->direct ? "works" : "is not supported",
         bench->read_ahead_bytes < 0 ? "unknown" : gather_cli_size_text(ahead, sizeof ahead, bench->read_ahead_bytes));
  printf("each figure: the median of %d rounds of %" PRId64 " random rows\n", GATHER_CLI_BENCH_ROUNDS, bench->measured);
  gather_error why;
  if (gather_engine_check(GATHER_ENGINE_URING, &why) != GATHER_OK) printf("uring is not available: %s\n", why.message);
}

static void text_cold(const gather_cli_bench *bench) {
  if (bench->in_memory)
    printf("this file system is in memory: it has no disk, so it is never cold\n");
  else if (!gather_cli_bench_is_cold(bench))
    printf(
        "%.0f %% of the file stayed in the page cache (read when it was opened, or mapped\n"
        "by other programs): these figures are not cold\n",
        bench->resident < 1 ? bench->resident * 100 : 100.0);
}

static void text_rate(double rate) {
  if (rate > 0)
    printf(" %11.0f", rate);
  else
    printf(" %11s", "-");
}

static void text_way(const gather_cli_bench *bench, const gather_cli_bench_way *way) {
  gather_cli_bench_rate cold = gather_cli_bench_cold_rate(way);
  char name[40], depth[16] = "-";
  (void)snprintf(name, sizeof name, "%s", gather_cli_bench_way_name(way));
  if (way->kind == GATHER_CLI_BENCH_LIMIT || (way->kind == GATHER_CLI_BENCH_TABLE && way->engine == GATHER_ENGINE_AUTO))
    (void)snprintf(name, sizeof name, "%s (%s)", gather_cli_bench_way_name(way), gather_engine_name(way->statistics.engine));
  if (way->statistics.depth > 0) (void)snprintf(depth, sizeof depth, "%" PRId32, way->statistics.depth);
  printf("%-18s%5s", name, depth);
  text_rate(cold.middle);
  printf(" %4.0f%% %7.1f %7.0f%%", cold.spread * 100, cold.middle > 0 ? 1e6 / cold.middle : 0, gather_cli_bench_share(bench, way) * 100);
  if (way->amplification > 0)
    printf(" %9.1f", way->amplification);
  else
    printf(" %9s", "-");
  text_rate(gather_cli_bench_rate_of(way->warm, way->warm[0] > 0 ? GATHER_CLI_BENCH_ROUNDS : 0).middle);
  putchar('\n');
}

static void text_ways(const gather_cli_bench *bench) {
  printf("\n%-18s%5s %11s %5s %7s %8s %9s %11s\n", "", "depth", "cold rows/s", "+-", "us/row", "of limit", "read/need", "warm rows/s");
  for (int i = 0; i < bench->way_count; i++)
    if (bench->ways[i].kind != GATHER_CLI_BENCH_SWEEP) text_way(bench, &bench->ways[i]);
}

/* What the devices did for the fastest engine, if there are several. */
static void text_devices(const gather_cli_bench *bench) {
  const gather_cli_bench_way *way = bench->best;
  if (!way || way->device_count < 2) return;
  printf("\n%s by device:\n", gather_engine_name(way->statistics.engine));
  for (int32_t i = 0; i < way->device_count; i++) {
    const gather_table_device *device = &way->devices[i];
    printf("%9" PRId64 " reads, %4" PRId32 " in flight at most, %8.0f us each: ", device->reads, device->most_in_flight,
           device->reads > 0 ? device->seconds_reading * 1e6 / (double)device->reads : 0.0);
    gather_cli_put(stdout, device->path ? device->path : "?");
    if (device->files > 1) printf(" and %" PRId32 " more", device->files - 1);
    putchar('\n');
  }
}

static void text_depths(const gather_cli_bench *bench) {
  bool any = false;
  for (int i = 0; i < bench->way_count; i++) {
    const gather_cli_bench_way *way = &bench->ways[i];
    if (way->kind != GATHER_CLI_BENCH_SWEEP) continue;
    if (!any) printf("\n%s, cold rows/s by depth:", gather_engine_name(way->engine));
    printf("%s %" PRId32 ": %.0f", any ? "," : "", way->depth, gather_cli_bench_cold_rate(way).middle);
    any = true;
  }
  if (any) putchar('\n');
}

static void text_limit(const gather_cli_bench *bench) {
  char block[32];
  if (!bench->limit) return;
  printf("disk limit: %.0f blocks of %s/s before each round, %.0f after it\n",
         gather_cli_bench_rate_of(bench->limit->cold, GATHER_CLI_BENCH_ROUNDS).middle,
         gather_cli_size_text(block, sizeof block, bench->block_bytes),
         gather_cli_bench_rate_of(bench->limit->cold + GATHER_CLI_BENCH_ROUNDS, GATHER_CLI_BENCH_ROUNDS).middle);
}

static void text_best(const gather_cli_bench *bench) {
  double naive = gather_cli_bench_cold_rate(bench->naive).middle, best = gather_cli_bench_cold_rate(bench->best).middle;
  printf("\n%s is the fastest cold", gather_engine_name(bench->best->statistics.engine));
  if (bench->limit) printf(": %.0f %% of the disk limit", gather_cli_bench_share(bench, bench->best) * 100);
  if (naive > 0 && best > naive) printf(", %.*f times a plain mmap", best / naive < 10 ? 1 : 0, best / naive);
  printf(".\n");
}

static void text_advice(const gather_cli_bench *bench) {
  const gather_cli_bench_judgement *is = &bench->judgement;
  if (!bench->best) return;
  switch (is->verdict) {
    case GATHER_CLI_BENCH_UNKNOWN:
      printf("\nThe disk could not be measured: %s.\n", is->why);
      return;
    case GATHER_CLI_BENCH_NOISY:
      printf("\nThis run is too noisy to compare the engines:\n%s.\n", is->why);
      printf("Run it again while nothing else uses the disk, or with more --rows.\n");
      return;
    case GATHER_CLI_BENCH_NOTHING:
      text_best(bench);
      return;
    case GATHER_CLI_BENCH_AUTO:
      text_best(bench);
      printf("Leave --engine at auto: %s.\n", is->why);
      return;
    case GATHER_CLI_BENCH_ENGINE:
      text_best(bench);
      printf("If the file is mostly cold, use --engine %s:\n%s.\n", gather_engine_name(bench->best->engine), is->why);
  }
}

void gather_cli_bench_answer(const gather_cli_bench *bench) {
  if (bench->args->value[GATHER_CLI_JSON]) {
    gather_cli_bench_answer_json(bench);
    return;
  }
  text_file(bench);
  text_cold(bench);
  text_ways(bench);
  text_limit(bench);
  text_devices(bench);
  text_depths(bench);
  text_advice(bench);
}
