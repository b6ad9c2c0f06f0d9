/* SPDX-License-Identifier: MIT
 *
 * shuffle_write.c: the output's header and rows, as they are written to the file `rows`. The library's writer knows
 * headers and byte orders; it writes each part at the current file position.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <unistd.h>

#include "core/system/disk.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_system.h"

/* Rows are written in pieces of about so many bytes, so that a cancellation is noticed soon. */
enum { PIECE_BYTES = 64 << 20 };

static gather_status fail(const gather_shuffle *job, gather_error *error) {
  return gather_fail_errno(error, GATHER_IO_ERROR, errno, job->folder.path, -1, "cannot write in it");
}

gather_status gather_shuffle_write_header(gather_shuffle *job, gather_error *error) {
  gather_writing writing = job->writing;
  const int fd = job->folder.file[GATHER_SHUFFLE_FILE_ROWS];
  writing.path = NULL;
  writing.fd = fd;
  GATHER_TRY(gather_writer_create_parts(&writing, 0, &job->writer, error));
  GATHER_TRY(gather_writer_append(job->writer, NULL, 0, error));
  job->header_bytes = (int64_t)lseek(fd, 0, SEEK_CUR);
  return job->header_bytes >= 0 ? GATHER_OK : fail(job, error);
}

gather_status gather_shuffle_write_rows(gather_shuffle *job, int64_t first, void *bytes, int64_t count,
                                        gather_error *error) {
  const int fd = job->folder.file[GATHER_SHUFFLE_FILE_ROWS];
  const int64_t most = PIECE_BYTES / job->row_bytes > 0 ? PIECE_BYTES / job->row_bytes : 1;
  int64_t offset = job->header_bytes + first * job->row_bytes;
  char *from = bytes;
  if (lseek(fd, (off_t)offset, SEEK_SET) < 0) return fail(job, error);
  for (int64_t now; count > 0; count -= now) {
    now = count < most ? count : most;
    const int64_t size = now * job->row_bytes;
    GATHER_TRY(gather_shuffle_go_on(job, error));
    GATHER_TRY(gather_writer_append(job->writer, from, size, error));
    gather_disk_begin(fd, offset, size);
    from += size;
    offset += size;
  }
  return GATHER_OK;
}
