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

#include "report.h"
#include "shuffle.h"

static void put_name(FILE *to, const char *name) {
  for (; *name; name++) {
    unsigned char c = (unsigned char)*name;
    if (c <= ' ' || c == '%' || c == 0x7f)
      fprintf(to, "%%%02x", c);
    else
      fputc(c, to);
  }
}

/* The files that hold the rows, with the signs by which a change of them is seen. */
static gather_status put_data(const gather_cli_shuffle *job, FILE *to, gather_error *error) {
  gather_table_part part;
  for (int32_t i = 0; gather_table_part_at(job->table, i, &part); i++) {
    struct stat about;
    if (part.rows == 0 || job->row_bytes == 0) continue;
    char *whole = realpath(part.path, NULL);
    if (!whole || stat(whole, &about) != 0) {
      int number = errno;
      free(whole);
      return gather_cli_fail_file(error, GATHER_IO_ERROR, part.path, -1, "cannot look at it: %s", strerror(number));
    }
    fprintf(to, "data of %lld bytes, changed at %lld.%09ld, rows from byte %" PRId64 ", ", (long long)about.st_size,
            (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec, part.offset);
    put_name(to, whole);
    fputc('\n', to);
    free(whole);
  }
  return GATHER_OK;
}

static void put_rest(const gather_cli_shuffle *job, FILE *to) {
  fprintf(to, "rows %" PRId64 "\nrow_bytes %" PRId64 "\ntype ", job->rows, job->row_bytes);
  put_name(to, job->info->type_name);
  fprintf(to, "\noutput ");
  put_name(to, job->target);
  fprintf(to, "\nshape");
  for (int32_t i = 0; i < job->writing.rank; i++) fprintf(to, " %" PRId64, job->out_shape[i]);
  if (job->given)
    fprintf(to, "\norder %016" PRIx64 "\n", job->order_hash);
  else
    fprintf(to, "\nseed %" PRId64 "\n", job->seed);
  fprintf(to, "memory %" PRId64 "\npasses %d\nbucket_rows %" PRId64 "\n", job->options.memory_bytes, job->passes,
          job->bucket_rows);
}

gather_status gather_cli_shuffle_identity(const gather_cli_shuffle *job, char **text, gather_error *error) {
  size_t bytes;
  *text = NULL;
  FILE *to = open_memstream(text, &bytes);
  if (!to) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the journal");
  fputs("gather shuffle, journal 1\n", to);
  gather_status status = put_data(job, to, error);
  put_rest(job, to);
  if ((fclose(to) != 0 || !*text) && status == GATHER_OK)
    return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the journal");
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
