/* SPDX-License-Identifier: MIT
 *
 * bench_figures.c: figures that `gather bench` derives from its measurements.
 */
#include "bench.h"

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

gather_cli_bench_rate gather_cli_bench_cold_rate(const gather_cli_bench_way *way) {
  return way ? gather_cli_bench_rate_of(way->cold, way->rounds) : (gather_cli_bench_rate){0};
}

static double cold_of(const gather_cli_bench_way *way) { return gather_cli_bench_cold_rate(way).middle; }

double gather_cli_bench_share(const gather_cli_bench *bench, const gather_cli_bench_way *way) {
  double limit = cold_of(bench->limit), blocks = way->kind == GATHER_CLI_BENCH_LIMIT ? 1 : way->blocks_per_row;
  return limit > 0 ? cold_of(way) * blocks / limit : 0;
}

bool gather_cli_bench_is_cold(const gather_cli_bench *bench) { return bench->resident <= GATHER_CLI_BENCH_STAYS && !bench->in_memory; }
