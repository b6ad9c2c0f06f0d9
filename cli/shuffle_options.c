/* SPDX-License-Identifier: MIT
 *
 * shuffle_options.c: the command line of `gather shuffle`, and what it leaves open.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "shuffle.h"
#include "system.h"

enum { MOST_THREADS = 1024, FRESH_BITS = 53 }; /* which every reader of JSON keeps exact */

/* A link that may be replaced stays: the file behind it is replaced. */
static gather_status find_target(gather_cli_shuffle *job, const char *output, gather_error *error) {
  errno = 0;
  char *real = job->force ? realpath(output, NULL) : NULL;
  if (errno == ENOMEM || errno == EIO) /* what else is wrong with the name, writing there will say */
    return gather_cli_fail_file(error, gather_cli_status_of(errno), output, -1,
                                "cannot find out what it stands for: %s", strerror(errno));
  const char *target = real ? real : output;
  const size_t len = strlen(target);
  static const char PREFIX[] = ".gather-shuffle-";
  const bool fits = len < sizeof job->target && len + sizeof PREFIX <= sizeof job->folder.path;
  if (fits) {
    const char *slash = strrchr(target, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - target) : 0;
    char *path = job->folder.path;
    memcpy(job->target, target, len + 1);
    memcpy(path, target, folder);
    memcpy(path + folder, PREFIX, sizeof PREFIX - 1);
    memcpy(path + folder + sizeof PREFIX - 1, target + folder, len + 1 - folder);
  }
  free(real);
  if (fits) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "the name of OUT is too long");
}

static gather_status read_output(gather_cli_shuffle *job, gather_error *error) {
  const char *output = job->args->value[GATHER_CLI_OUTPUT];
  if (!output && job->dry_run) return GATHER_OK;
  if (!output) return gather_cli_fail(error, GATHER_USAGE, "-o OUT is missing; --dry-run needs none");
  if (strcmp(output, "-") == 0)
    return gather_cli_fail(error, GATHER_USAGE, "-o -: a shuffle needs a file; gather take can write to a pipe");
  GATHER_CLI_TRY(gather_cli_out_read(output, "-o", &job->out, error));
  return find_target(job, job->out.path, error);
}

static gather_status read_order(gather_cli_shuffle *job, gather_error *error) {
  const char *order = job->args->value[GATHER_CLI_ORDER], *data = job->args->argument[0];
  job->given = order != NULL;
  GATHER_CLI_TRY(gather_cli_raw_options(job->args, GATHER_CLI_I_TYPE, GATHER_CLI_I_SHAPE, GATHER_CLI_I_OFFSET,
                                        &job->order_raw, error));
  if (gather_cli_is_stdin(data))
    return gather_cli_fail(error, GATHER_USAGE, "DATA is standard input, which cannot be read in any order");
  if (!order && job->order_raw.raw.type)
    return gather_cli_fail(error, GATHER_USAGE, "--indices-type is for --order, which is missing");
  if (!order) return GATHER_OK;
  if (job->args->value[GATHER_CLI_SEED])
    return gather_cli_fail(error, GATHER_USAGE, "--seed makes an order, and --order gives one");
  if (gather_cli_is_stdin(order) && job->resume)
    return gather_cli_fail(error, GATHER_USAGE, "--resume needs --order to be a file");
  if (!gather_cli_is_literal(order)) return GATHER_OK;
  if (job->order_raw.raw.type)
    return gather_cli_fail(error, GATHER_USAGE, "--indices-type is for a file of raw bytes, and '%.100s' is a literal",
                           order);
  return gather_cli_input_literal(order, &job->order, error);
}

gather_status gather_cli_shuffle_options(gather_cli_shuffle *job, gather_error *error) {
  const gather_cli_args *args = job->args;
  int64_t threads;
  job->force = args->value[GATHER_CLI_FORCE] != NULL;
  job->resume = args->value[GATHER_CLI_RESUME] != NULL;
  job->dry_run = args->value[GATHER_CLI_DRY_RUN] != NULL;
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_SEED, 0, INT64_MAX, -1, &job->seed, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_PASSES, 1, 2, 0, &job->passes_asked, error));
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_THREADS, 1, MOST_THREADS, 0, &threads, error));
  GATHER_CLI_TRY(read_output(job, error));
  GATHER_CLI_TRY(gather_cli_table_options_read(args, &job->options, error));
  GATHER_CLI_TRY(
      gather_cli_raw_options(args, GATHER_CLI_TYPE, GATHER_CLI_SHAPE, GATHER_CLI_OFFSET, &job->data_raw, error));
  return read_order(job, error);
}

static gather_status fresh_seed(int64_t *seed, gather_error *error) {
  uint64_t number = 0;
  int fd = gather_cli_open(AT_FDCWD, "/dev/urandom", O_RDONLY);
  bool got = fd >= 0 && read(fd, &number, sizeof number) == (ssize_t)sizeof number;
  if (fd >= 0) close(fd);
  *seed = (int64_t)(number >> (64 - FRESH_BITS));
  if (got) return GATHER_OK;
  return gather_cli_fail(error, GATHER_IO_ERROR, "no random number can be had here; --seed gives one");
}

gather_status gather_cli_shuffle_choose(gather_cli_shuffle *job, gather_error *error) {
  int64_t *memory = &job->options.memory_bytes;
  if (*memory == 0 && !gather_cli_shuffle_journal_number(job, "memory", memory)) *memory = gather_cli_shuffle_memory();
  if (job->passes_asked == 0) (void)gather_cli_shuffle_journal_number(job, "passes", &job->passes_asked);
  if (job->passes_asked < 0 || job->passes_asked > 2) job->passes_asked = 0; /* the comparison will say so */
  if (job->given || job->seed >= 0) return GATHER_OK;
  return gather_cli_shuffle_journal_number(job, "seed", &job->seed) && job->seed >= 0 ? GATHER_OK
                                                                                      : fresh_seed(&job->seed, error);
}
