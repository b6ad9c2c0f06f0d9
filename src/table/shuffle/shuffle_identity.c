/* SPDX-License-Identifier: MIT
 *
 * shuffle_identity.c: the identity of a shuffle: everything that determines its bytes and its steps, one line each. It
 * is in the journal; a run can resume only with the same identity. Blanks and line breaks in names are written as %20
 * and %0a.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__APPLE__)
#define CHANGED st_mtimespec
#else
#define CHANGED st_mtim
#endif

#include "core/base/growing.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_system.h"
#include "table/shuffle/shuffle_text.h"

static void put_name(gather_growing *to, const char *name) {
  for (; *name; name++) {
    unsigned char c = (unsigned char)*name;
    if (c <= ' ' || c == '%' || c == 0x7f)
      gather_growing_print(to, "%%%02x", c);
    else
      gather_growing_print(to, "%c", c);
  }
}

/* The files that hold the rows, with what reveals a change of them. */
static gather_status put_data(const gather_shuffle *job, gather_growing *to, gather_error *error) {
  gather_table_part part;
  for (int32_t i = 0; gather_table_part_at(job->table, i, &part); i++) {
    struct stat about;
    if (part.rows == 0 || job->row_bytes == 0) continue;
    char *whole = realpath(part.path, NULL);
    if (!whole || stat(whole, &about) != 0) {
      int number = errno;
      gather_free(whole);
      return gather_fail_errno(error, gather_shuffle_status_of(number), number, part.path, -1, "cannot inspect it");
    }
    gather_growing_print(to, "data of %lld bytes, changed at %lld.%09ld, rows from byte %" PRId64 ", ",
                         (long long)about.st_size, (long long)about.CHANGED.tv_sec, about.CHANGED.tv_nsec, part.offset);
    put_name(to, whole);
    gather_growing_print(to, "\n");
    gather_free(whole);
  }
  return GATHER_OK;
}

static void put_rest(const gather_shuffle *job, gather_growing *to) {
  gather_growing_print(to, "rows %" PRId64 "\nrow_bytes %" PRId64 "\ntype ", job->rows, job->row_bytes);
  put_name(to, job->data->type_name);
  gather_growing_print(to, "\noutput ");
  put_name(to, job->target);
  if (strcmp(job->format, "safetensors") == 0) { /* of several tensors: the name is in the header */
    gather_growing_print(to, "\ntensor ");
    put_name(to, job->writing.name);
  }
  if (job->writing.align_bytes > 0) gather_growing_print(to, "\nalign %" PRId64, job->writing.align_bytes);
  gather_growing_print(to, "\nshape");
  for (int32_t i = 0; i < job->writing.rank; i++) gather_growing_print(to, " %" PRId64, job->out_shape[i]);
  if (job->given)
    gather_growing_print(to, "\norder %016" PRIx64 "\n", job->order_hash);
  else
    gather_growing_print(to, "\nseed %" PRId64 "\n", job->seed);
  gather_growing_print(to, "memory %" PRId64 "\npasses %d\nbucket_rows %" PRId64 "\n", job->options.memory_bytes,
                       job->passes, job->bucket_rows);
}

gather_status gather_shuffle_identity(const gather_shuffle *job, char **text, gather_error *error) {
  gather_growing to = {0};
  gather_growing_print(&to, "gather shuffle, journal 1\n");
  gather_status status = put_data(job, &to, error);
  put_rest(job, &to);
  if (status == GATHER_OK && to.failed)
    status = gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the journal");
  *text = status == GATHER_OK ? to.text : NULL;
  if (status != GATHER_OK) gather_growing_clear(&to);
  return status;
}

gather_status gather_shuffle_identity_check(const gather_shuffle *job, gather_error *error) {
  char *now = NULL;
  gather_status status = gather_shuffle_identity(job, &now, error);
  if (status == GATHER_OK && strcmp(now, job->identity) != 0)
    status = gather_shuffle_advise(
        job, GATHER_SHUFFLE_REMEDY_REPLACE,
        gather_fail_file(error, GATHER_IO_ERROR, job->paths[0], -1, "it changed during the shuffle"));
  gather_free(now);
  return status;
}
