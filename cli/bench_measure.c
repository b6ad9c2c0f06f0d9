/* SPDX-License-Identifier: MIT
 *
 * bench_measure.c: one measurement of `gather bench`. Each opens its own table: mapped pages cannot be dropped from the
 * page cache. The file is never written.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* MAP_ flags next to posix_fadvise */
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "fail.h"
#include "progress.h"
#include "source.h"
#include "system.h"

/* A plain loop may be a thousand times slower: the maximum time to measure it, in seconds. */
static const double PLAIN_SECONDS = 0.4;
enum { LOOK_EVERY = 16 }; /* rows between two readings of the clock */

/* splitmix64: the same rows for the same seed on every machine. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void make_ids(gather_cli_bench *bench, int64_t rows, int round, int64_t table_rows) {
  uint64_t state = (uint64_t)bench->seed * 1000003u + (uint64_t)round;
  for (int64_t i = 0; i < rows; i++) bench->ids[i] = (int64_t)(next_random(&state) % (uint64_t)table_rows);
}

/* All files as blocks: what the disks deliver. Files of different kinds may lie side by side. */
static gather_status open_blocks(const gather_cli_bench *bench, const gather_table_options *options, gather_table **table,
                                 gather_error *error) {
  const char **paths = calloc((size_t)bench->file_count, sizeof *paths);
  if (!paths) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the names of the files");
  for (int32_t i = 0; i < bench->file_count; i++) paths[i] = bench->files[i].path;
  gather_status status = gather_table_open_parts(paths, bench->file_count, options, table, error);
  free(paths);
  return status;
}

/* The table of a method: for the disk limit all files as blocks. */
static gather_status open_table(const gather_cli_bench *bench, const gather_cli_bench_way *way, bool buffered, gather_table **table,
                                gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  const int64_t shape[2] = {-1, bench->block_bytes};
  const gather_raw blocks = {"uint8", 2, shape, 0, true};
  options.engine = way->engine;
  options.depth = way->depth;
  options.buffered = buffered;
  options.raw = bench->raw.raw.type ? &bench->raw.raw : NULL;
  options.memory_bytes = bench->options.memory_bytes;
  options.no_links = gather_cli_no_links();
  options.tensor = bench->raw.tensor;
  if (way->kind == GATHER_CLI_BENCH_LIMIT) {
    options.raw = &blocks;
    options.tensor = "";
    options.memory_bytes = 0;
    return open_blocks(bench, &options, table, error);
  }
  return gather_table_open_parts(bench->paths, bench->path_count, &options, table, error);
}

/* Takes all rows, as many at a time as fit into the output; *seconds: the time. */
static gather_status take_all(const gather_cli_bench *bench, gather_table *table, int64_t rows, double *seconds, gather_error *error) {
  const gather_table_info *info = gather_table_describe(table);
  int64_t shape[GATHER_MAX_RANK], most = bench->out_bytes / info->row_bytes, len;
  gather_tensor out = info->tensor, indices = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = &len};
  memcpy(shape, info->tensor.shape, (size_t)info->tensor.rank * sizeof *shape);
  out.shape = shape;
  out.strides = NULL;
  out.data = bench->out;
  out.flags &= GATHER_TENSOR_BYTE_SWAPPED;
  double begin = gather_cli_now();
  for (int64_t first = 0; first < rows; first += len) {
    shape[0] = len = rows - first < most ? rows - first : most;
    indices.data = bench->ids + first;
    GATHER_CLI_TRY(gather_table_take(table, &indices, &out, NULL, error));
  }
  *seconds = gather_cli_now() - begin;
  return GATHER_OK;
}

/* The address of a row. */
static const gather_cli_bench_part *part_of(const gather_cli_bench *bench, int64_t id) {
  int32_t low = 0, high = bench->part_count - 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (id < bench->parts[middle].first + bench->parts[middle].rows)
      high = middle;
    else
      low = middle + 1;
  }
  return &bench->parts[low];
}

/* Reads rows one by one, mapped or by pread, until the time is over; *done: how many. */
static gather_status plain_loop(const gather_cli_bench *bench, int64_t rows, int64_t *done, double *seconds, gather_error *error) {
  const size_t bytes = (size_t)bench->row_bytes;
  double begin = gather_cli_now(), now = begin;
  int64_t i = 0;
  while (i < rows && now - begin < PLAIN_SECONDS) {
    for (int k = 0; k < LOOK_EVERY && i < rows; k++, i++) {
      const gather_cli_bench_part *part = part_of(bench, bench->ids[i]);
      const gather_cli_bench_file *file = &bench->files[part->file];
      const int64_t offset = part->offset + (bench->ids[i] - part->first) * bench->row_bytes;
      char *to = bench->out + i % (bench->out_bytes / bench->row_bytes) * bench->row_bytes;
      if (file->map)
        memcpy(to, file->map + offset, bytes);
      else
        GATHER_CLI_TRY(gather_cli_read_at(file->fd, file->path, to, bench->row_bytes, offset, error));
    }
    now = gather_cli_now();
  }
  *done = i;
  *seconds = now - begin;
  return GATHER_OK;
}

static gather_status open_plain(gather_cli_bench_file *file, bool mapped, gather_error *error) {
  file->fd = gather_cli_open(AT_FDCWD, file->path, O_RDONLY);
  if (file->fd >= 0 && mapped) {
    void *map = mmap(NULL, (size_t)file->size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (map != MAP_FAILED) file->map = map;
  }
  if (file->fd >= 0 && (!mapped || file->map)) return GATHER_OK;
  return gather_cli_fail_errno(error, gather_cli_status_of(errno), errno, file->path, -1, "cannot open it");
}

static void close_plain(gather_cli_bench_file *file) {
  if (file->map) (void)munmap(file->map, (size_t)file->size);
  if (file->fd >= 0) (void)close(file->fd);
  file->map = NULL;
  file->fd = -1;
}

/* A plain loop, once, or twice if the second run counts. */
static gather_status plain(gather_cli_bench *bench, bool mapped, int64_t rows, bool twice, int64_t *done, double *seconds,
                           gather_error *error) {
  gather_status status = GATHER_OK;
  for (int32_t i = 0; i < bench->file_count && status == GATHER_OK; i++) status = open_plain(&bench->files[i], mapped, error);
  for (int k = 0; k <= (int)twice && status == GATHER_OK; k++) status = plain_loop(bench, rows, done, seconds, error);
  for (int32_t i = 0; i < bench->file_count; i++) close_plain(&bench->files[i]);
  return status;
}

static double rate(int64_t rows, double seconds) { return seconds > 0 ? (double)rows / seconds : 0; }

static bool is_plain(const gather_cli_bench_way *way) { return way->kind == GATHER_CLI_BENCH_MMAP || way->kind == GATHER_CLI_BENCH_PREAD; }

/* How many blocks the first `rows` rows need, each counted once. Methods that take the same rows share the count. */
static double count_blocks(gather_cli_bench *bench, int64_t rows, int round) {
  if (!bench->seen || rows == 0) return 1;
  if (bench->needed_rows != rows || bench->needed_round != round) {
    memset(bench->seen, 0, (size_t)bench->blocks / 8 + 1);
    bench->needed = 0;
    for (int64_t i = 0; i < rows; i++) {
      const gather_cli_bench_part *part = part_of(bench, bench->ids[i]);
      const int64_t offset = part->offset + (bench->ids[i] - part->first) * bench->row_bytes;
      const int64_t block = bench->files[part->file].first_block + offset / bench->block_bytes;
      const unsigned bit = 1u << (block % 8);
      bench->needed += !(bench->seen[block / 8] & bit);
      bench->seen[block / 8] = (unsigned char)(bench->seen[block / 8] | bit);
    }
    bench->needed_rows = rows;
    bench->needed_round = round;
  }
  return (double)bench->needed / (double)rows;
}

/* What each device did. The names are kept by `bench`: those of the table end with it. */
static void keep_devices(const gather_cli_bench *bench, const gather_table *table, gather_cli_bench_way *way) {
  gather_table_device device;
  way->device_count = 0;
  while (way->device_count < GATHER_CLI_BENCH_DEVICES && gather_table_device_at(table, way->device_count, &device)) {
    const char *path = NULL;
    for (int32_t i = 0; i < bench->file_count && !path; i++)
      if (strcmp(bench->files[i].path, device.path) == 0) path = bench->files[i].path;
    device.path = path;
    way->devices[way->device_count++] = device;
  }
}

gather_status gather_cli_bench_cold(gather_cli_bench *bench, gather_cli_bench_way *way, int round, int64_t rows, gather_error *error) {
  gather_table *table = NULL;
  double seconds = 0;
  int64_t done = rows;
  gather_status status;
  if (is_plain(way)) {
    make_ids(bench, rows, round, bench->rows);
    GATHER_CLI_TRY(gather_cli_bench_drop(bench, error));
    status = plain(bench, way->kind == GATHER_CLI_BENCH_MMAP, rows, false, &done, &seconds, error);
  } else {
    status = open_table(bench, way, false, &table, error);
    if (status == GATHER_OK) {
      make_ids(bench, rows, round, gather_table_describe(table)->rows);
      status = gather_cli_bench_drop(bench, error);
    }
    if (status == GATHER_OK) status = take_all(bench, table, rows, &seconds, error);
    if (status == GATHER_OK) gather_table_statistics_get(table, &way->statistics), keep_devices(bench, table, way);
    gather_table_close(table);
  }
  GATHER_CLI_TRY(status);
  way->cold[round] = rate(done, seconds);
  way->rounds++;
  if (way->kind != GATHER_CLI_BENCH_LIMIT) way->blocks_per_row = count_blocks(bench, done, round);
  if (!is_plain(way) && way->statistics.bytes_useful > 0)
    way->amplification = (double)way->statistics.bytes_read / (double)way->statistics.bytes_useful;
  return GATHER_OK;
}

gather_status gather_cli_bench_fill(gather_cli_bench *bench, int round, gather_error *error) {
  const gather_cli_bench_way way = {.kind = GATHER_CLI_BENCH_TABLE, .engine = GATHER_ENGINE_PREAD};
  gather_table *table = NULL;
  double seconds;
  make_ids(bench, bench->measured, round, bench->rows);
  GATHER_CLI_TRY(open_table(bench, &way, true, &table, error));
  gather_status status = take_all(bench, table, bench->measured, &seconds, error);
  gather_table_close(table);
  return status;
}

gather_status gather_cli_bench_warm(gather_cli_bench *bench, gather_cli_bench_way *way, int round, gather_error *error) {
  gather_table *table = NULL;
  double seconds = 0;
  int64_t done = bench->measured;
  gather_status status;
  if (is_plain(way)) {
    make_ids(bench, bench->measured, round, bench->rows);
    status = plain(bench, way->kind == GATHER_CLI_BENCH_MMAP, bench->measured, true, &done, &seconds, error);
  } else {
    status = open_table(bench, way, false, &table, error);
    if (status == GATHER_OK) {
      make_ids(bench, bench->measured, round, gather_table_describe(table)->rows);
      /* The first take detects that the pages are resident, the second maps them: from the third on, the speed is constant. */
      for (int take = 0; take < 3 && status == GATHER_OK; take++) status = take_all(bench, table, bench->measured, &seconds, error);
    }
    gather_table_close(table);
  }
  if (status == GATHER_OK) way->warm[round] = rate(done, seconds);
  return status;
}
