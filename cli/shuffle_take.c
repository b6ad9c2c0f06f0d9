/* SPDX-License-Identifier: MIT
 *
 * shuffle_take.c: OUT in one pass: part after part of it is taken from the table. Also the writing of OUT's rows and header.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shuffle.h"
#include "shuffle_spread.h"

gather_status gather_cli_shuffle_take_rows(gather_cli_shuffle *job, const int64_t *rows, int64_t len, void *to,
                                           gather_error *error) {
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_tensor indices = {.data = (void *)(uintptr_t)rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &len};
  gather_tensor out = job->info->tensor;
  job->shape[0] = len;
  out.data = to;
  out.shape = job->shape;
  out.strides = NULL;
  out.flags &= GATHER_TENSOR_BYTE_SWAPPED;
  options.executor = job->executor;
  return gather_table_take(job->table, &indices, &out, &options, error);
}

/* The library knows the headers; it writes this one to the file itself, and then each part where the file stands. */
gather_status gather_cli_shuffle_write_header(gather_cli_shuffle *job, gather_error *error) {
  gather_writing writing = job->writing;
  const int fd = job->folder.file[GATHER_CLI_SHUFFLE_ROWS];
  writing.path = NULL;
  writing.fd = fd;
  GATHER_CLI_TRY(gather_writer_create_parts(&writing, 0, &job->writer, error));
  GATHER_CLI_TRY(gather_writer_append(job->writer, NULL, 0, error));
  job->header_bytes = (int64_t)lseek(fd, 0, SEEK_CUR);
  if (job->header_bytes >= 0) return GATHER_OK;
  return gather_cli_fail_file(error, GATHER_IO_ERROR, job->folder.path, -1, "cannot write in it: %s", strerror(errno));
}

gather_status gather_cli_shuffle_write_rows(gather_cli_shuffle *job, int64_t first, void *bytes, int64_t size,
                                            gather_error *error) {
  const int fd = job->folder.file[GATHER_CLI_SHUFFLE_ROWS];
  const int64_t offset = job->header_bytes + first * job->row_bytes;
  if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
    return gather_cli_fail_file(error, GATHER_IO_ERROR, job->folder.path, -1, "cannot write in it: %s",
                                strerror(errno));
  GATHER_CLI_TRY(gather_writer_append(job->writer, bytes, size, error));
  gather_cli_begin_writing(fd, size, offset);
  return GATHER_OK;
}

static gather_status settle(const gather_cli_shuffle *job, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_shuffle_same_data(job, error));
  return gather_cli_shuffle_sync(job, GATHER_CLI_SHUFFLE_ROWS, error);
}

static gather_status take_parts(gather_cli_shuffle *job, int64_t *numbers, char *part, gather_error *error) {
  for (int64_t first = job->at, len; first < job->out_rows; first += len) {
    len = job->out_rows - first < job->take_rows ? job->out_rows - first : job->take_rows;
    if (job->given)
      GATHER_CLI_TRY(gather_cli_shuffle_order_read(job, first, len, numbers, error));
    else
      gather_cli_shuffle_numbers(job, first, len, false, numbers);
    GATHER_CLI_TRY(gather_cli_shuffle_take_rows(job, numbers, len, part, error));
    GATHER_CLI_TRY(gather_cli_shuffle_write_rows(job, first, part, len * job->row_bytes, error));
    gather_cli_shuffle_show(job, first + len, job->out_rows);
    bool due = (first + len - job->at) * job->row_bytes >= job->durable_bytes;
    if (!due || first + len == job->out_rows) continue;
    GATHER_CLI_TRY(settle(job, error));
    GATHER_CLI_TRY(gather_cli_shuffle_journal_write(job, GATHER_CLI_SHUFFLE_TAKE, first + len, error));
  }
  return GATHER_OK;
}

gather_status gather_cli_shuffle_take(gather_cli_shuffle *job, gather_error *error) {
  int64_t *numbers = malloc((size_t)job->take_rows * sizeof *numbers);
  char *part = malloc((size_t)(job->take_rows * job->row_bytes) + 1);
  gather_status status =
      numbers && part ? GATHER_OK : gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a part of OUT");
  if (status == GATHER_OK && job->row_bytes > 0) status = take_parts(job, numbers, part, error);
  if (status == GATHER_OK) status = settle(job, error);
  free(numbers);
  free(part);
  return status;
}
