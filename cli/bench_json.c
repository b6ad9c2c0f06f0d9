/* SPDX-License-Identifier: MIT
 *
 * bench_json.c: the result of `gather bench` as JSON.
 */
#include <stdio.h>

#include "bench.h"
#include "json.h"

static void json_rate(gather_cli_json *json, const char *key, const double *rounds, int count) {
  gather_cli_bench_rate rate = gather_cli_bench_rate_of(rounds, count);
  gather_cli_json_object(json, key);
  gather_cli_json_double(json, "rows_per_second", rate.middle);
  gather_cli_json_double(json, "least", rate.least);
  gather_cli_json_double(json, "most", rate.most);
  gather_cli_json_double(json, "spread", rate.spread);
  gather_cli_json_object_end(json);
}

static void json_way(gather_cli_json *json, const char *key, const gather_cli_bench *bench, const gather_cli_bench_way *way) {
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
    gather_cli_json_array(json, "devices");
    for (int32_t i = 0; i < way->device_count; i++) gather_cli_json_device(json, &way->devices[i]);
    gather_cli_json_array_end(json);
  }
  json_rate(json, "cold", way->cold, way->rounds);
  if (way->kind == GATHER_CLI_BENCH_LIMIT) {
    json_rate(json, "before", way->cold, GATHER_CLI_BENCH_ROUNDS);
    json_rate(json, "after", way->cold + GATHER_CLI_BENCH_ROUNDS, GATHER_CLI_BENCH_ROUNDS);
  } else {
    gather_cli_json_double(json, "blocks_per_row", way->blocks_per_row);
  }
  gather_cli_json_double(json, "share_of_limit", gather_cli_bench_share(bench, way));
  if (way->warm[0] > 0) json_rate(json, "warm", way->warm, GATHER_CLI_BENCH_ROUNDS);
  gather_cli_json_object_end(json);
}

static void json_ways(gather_cli_json *json, const char *key, const gather_cli_bench *bench, gather_cli_bench_kind kind,
                      gather_cli_bench_kind other) {
  gather_cli_json_array(json, key);
  for (int i = 0; i < bench->way_count; i++)
    if (bench->ways[i].kind == kind || bench->ways[i].kind == other) json_way(json, NULL, bench, &bench->ways[i]);
  gather_cli_json_array_end(json);
}

void gather_cli_bench_answer_json(const gather_cli_bench *bench) {
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
  gather_cli_json_bool(&json, "cold", gather_cli_bench_is_cold(bench));
  gather_cli_json_double(&json, "resident", bench->resident);
  gather_cli_json_int(&json, "block_bytes", bench->block_bytes);
  json_ways(&json, "limits", bench, GATHER_CLI_BENCH_LIMIT, GATHER_CLI_BENCH_LIMIT);
  json_ways(&json, "engines", bench, GATHER_CLI_BENCH_TABLE, GATHER_CLI_BENCH_TABLE);
  json_ways(&json, "plain", bench, GATHER_CLI_BENCH_MMAP, GATHER_CLI_BENCH_PREAD);
  json_ways(&json, "depths", bench, GATHER_CLI_BENCH_SWEEP, GATHER_CLI_BENCH_SWEEP);
  if (bench->best) json_way(&json, "best", bench, bench->best);
  gather_cli_json_string(&json, "verdict", gather_cli_bench_verdict_name(bench->judgement.verdict));
  gather_cli_json_bool(&json, "noisy", bench->judgement.verdict == GATHER_CLI_BENCH_NOISY);
  gather_cli_json_string(&json, "why", bench->judgement.why);
  gather_cli_json_double(&json, "seconds", bench->seconds);
  gather_cli_json_finish(&json);
}
