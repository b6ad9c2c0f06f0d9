/* SPDX-License-Identifier: MIT
 *
 * bench_file.c: what `gather bench` measures: the rows, their files, and the blocks of the files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "fail.h"
#include "source.h"

enum {
  BLOCK = 4096,         /* the unit of disks and page caches */
  MOST_BLOCKS = 1 << 28 /* maximum number of blocks that are counted: a bit each */
};

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

/* The number of the file of that name, which is added if it is new; -1 = out of memory. */
static int32_t number_file(gather_cli_bench *bench, const char *path, int64_t size) {
  for (int32_t i = bench->file_count - 1; i >= 0; i--)
    if (strcmp(bench->files[i].path, path) == 0) return i;
  gather_cli_bench_file *file = &bench->files[bench->file_count];
  *file = (gather_cli_bench_file){.path = copy_text(path), .size = size, .fd = -1};
  if (!file->path) return -1;
  if (!bench->largest || size > bench->largest->size) bench->largest = file;
  return bench->file_count++;
}

static gather_status number_blocks(gather_cli_bench *bench, gather_error *error) {
  for (int32_t i = 0; i < bench->file_count; i++) {
    bench->files[i].first_block = bench->blocks;
    bench->blocks += bench->files[i].size / bench->block_bytes + 1;
  }
  bench->needed_round = -1;
  if (bench->blocks > MOST_BLOCKS) return GATHER_OK; /* so many that rows rarely share one */
  bench->seen = calloc((size_t)(bench->blocks / 8 + 1), 1);
  return bench->seen ? GATHER_OK : gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the blocks of the files");
}

static gather_status describe_files(gather_cli_bench *bench, const gather_table *table, gather_error *error) {
  gather_table_part part;
  const size_t count = (size_t)gather_table_describe(table)->parts;
  bench->files = calloc(count, sizeof *bench->files);
  bench->parts = calloc(count, sizeof *bench->parts);
  if (!bench->files || !bench->parts) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the names of the files");
  for (int32_t i = 0; gather_table_part_at(table, i, &part); i++) {
    struct stat about;
    if (part.offset < 0)
      return gather_cli_fail_file(error, GATHER_UNSUPPORTED, part.path, -1, "its rows are not contiguous, since it is in Fortran order");
    if (stat(part.path, &about) != 0) return gather_cli_fail_file(error, GATHER_IO_ERROR, part.path, -1, "cannot determine its size");
    int32_t file = number_file(bench, part.path, (int64_t)about.st_size);
    if (file < 0) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the name of a file");
    bench->parts[i] = (gather_cli_bench_part){file, part.offset, part.first, part.rows};
    bench->part_count = i + 1;
  }
  return number_blocks(bench, error);
}

static gather_status describe(gather_cli_bench *bench, const gather_table *table, gather_error *error) {
  const gather_table_info *info = gather_table_describe(table);
  bench->type_name = copy_text(info->type_name);
  bench->format = copy_text(info->format);
  if (!bench->type_name || !bench->format) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a name");
  bench->rank = info->tensor.rank;
  memcpy(bench->shape, info->tensor.shape, (size_t)bench->rank * sizeof *bench->shape);
  bench->rows = info->rows;
  bench->row_bytes = info->row_bytes;
  bench->block_bytes = (info->row_bytes + BLOCK - 1) / BLOCK * BLOCK;
  if (bench->rows == 0 || bench->row_bytes == 0)
    return gather_cli_fail(error, GATHER_USAGE, "%s has no rows to measure", bench->args->argument[0]);
  GATHER_CLI_TRY(describe_files(bench, table, error));
  gather_cli_bench_look(bench);
  return GATHER_OK;
}

gather_status gather_cli_bench_describe(gather_cli_bench *bench, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table = NULL;
  options.engine = bench->options.engine;
  options.memory_bytes = bench->options.memory_bytes;
  options.depth = bench->options.depth;
  options.no_links = gather_cli_no_links();
  options.tensor = bench->raw.tensor;
  options.raw = bench->raw.raw.type ? &bench->raw.raw : NULL;
  bench->paths = gather_cli_table_paths(bench->args, bench->args->argument[0], &bench->path_count);
  if (!bench->paths) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the names of the files");
  GATHER_CLI_TRY(gather_table_open_parts(bench->paths, bench->path_count, &options, &table, error));
  gather_status status = describe(bench, table, error);
  gather_table_close(table);
  return status;
}
