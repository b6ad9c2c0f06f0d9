/* SPDX-License-Identifier: MIT
 *
 * shuffle_same.c: the identity of a shuffle: everything that decides about its bytes and its steps, one line each. It stands in the
 * journal, and a run that goes on must have the same. Names have no blanks and line breaks: those stand as %20 and %0a.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buffer.h"
#include "report.h"
#include "shuffle.h"
#include "system.h"

static void put_name(gather_cli_buffer *to, const char *name) {
  for (; *name; name++) {
    unsigned char c = (unsigned char)*name;
    if (c <= ' ' || c == '%' || c == 0x7f)
      gather_cli_buffer_print(to, "%%%02x", c);
    else
      gather_cli_buffer_print(to, "%c", c);
  }
}

/* The files that hold the rows, with the signs by which a change of them is seen. */
static gather_status put_data(const gather_cli_shuffle *job, gather_cli_buffer *to, gather_error *error) {
  gather_table_part part;
  for (int32_t i = 0; gather_table_part_at(job->table, i, &part); i++) {
    struct stat about;
    if (part.rows == 0 || job->row_bytes == 0) continue;
    char *whole = realpath(part.path, NULL);
    if (!whole || stat(whole, &about) != 0) {
      int number = errno;
      free(whole);
      return gather_cli_fail_file(error, gather_cli_status_of(number), part.path, -1, "cannot look at it: %s",
                                  strerror(number));
    }
    gather_cli_buffer_print(to, "data of %lld bytes, changed at %lld.%09ld, rows from byte %" PRId64 ", ",
                            (long long)about.st_size, (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec,
                            part.offset);
    put_name(to, whole);
    gather_cli_buffer_print(to, "\n");
    free(whole);
  }
  return GATHER_OK;
}

static void put_rest(const gather_cli_shuffle *job, gather_cli_buffer *to) {
  gather_cli_buffer_print(to, "rows %" PRId64 "\nrow_bytes %" PRId64 "\ntype ", job->rows, job->row_bytes);
  put_name(to, job->info->type_name);
  gather_cli_buffer_print(to, "\noutput ");
  put_name(to, job->target);
  if (gather_cli_out_holds_several(job->out.format)) { /* the name is in the header */
    gather_cli_buffer_print(to, "\ntensor ");
    put_name(to, job->writing.name);
  }
  gather_cli_buffer_print(to, "\nshape");
  for (int32_t i = 0; i < job->writing.rank; i++) gather_cli_buffer_print(to, " %" PRId64, job->out_shape[i]);
  if (job->given)
    gather_cli_buffer_print(to, "\norder %016" PRIx64 "\n", job->order_hash);
  else
    gather_cli_buffer_print(to, "\nseed %" PRId64 "\n", job->seed);
  gather_cli_buffer_print(to, "memory %" PRId64 "\npasses %d\nbucket_rows %" PRId64 "\n", job->options.memory_bytes,
                          job->passes, job->bucket_rows);
}

gather_status gather_cli_shuffle_identity(const gather_cli_shuffle *job, char **text, gather_error *error) {
  gather_cli_buffer to = {0};
  gather_cli_buffer_print(&to, "gather shuffle, journal 1\n");
  gather_status status = put_data(job, &to, error);
  put_rest(job, &to);
  if (status == GATHER_OK && to.failed)
    status = gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the journal");
  *text = status == GATHER_OK ? to.text : NULL;
  if (status != GATHER_OK) free(to.text);
  return status;
}

gather_status gather_cli_shuffle_same_data(const gather_cli_shuffle *job, gather_error *error) {
  char *now = NULL;
  gather_status status = gather_cli_shuffle_identity(job, &now, error);
  if (status == GATHER_OK && strcmp(now, job->identity) != 0)
    status = gather_cli_fail_file(error, GATHER_IO_ERROR, job->args->argument[0], -1,
                                  "it was changed while it was shuffled; -f begins anew");
  free(now);
  return status;
}
