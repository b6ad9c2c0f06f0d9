/* SPDX-License-Identifier: MIT
 *
 * failing_alloc.c: files that are opened while memory fails.
 */
#include "io/format/failing_alloc.h"

#include "io/format/format.h"
#include "support/fail_each.h"

typedef struct looked_at {
  failing_open *open;
  failing_look *look;
} looked_at;

static gather_status open_and_look(const void *context, gather_error *error) {
  const looked_at *file_of = context;
  gather_file *file = NULL;
  const gather_status status = file_of->open(&file, error);
  fail_no_more();
  if (status == GATHER_OK) file_of->look(file);
  if (status != GATHER_OK) assert_null(file);
  gather_file_close(file);
  return status;
}

static long each(failing_open *open, failing_look *look, int how) {
  return fail_each_as(open_and_look, &(looked_at){open, look}, GATHER_OK, FAIL_EVERY | how);
}

void *failing_take(size_t bytes) { return fails_now() ? NULL : malloc(bytes); }

long failing_each_alloc(failing_open *open, failing_look *look) { return each(open, look, 0); }
long failing_each_alloc_of_any(failing_open *open, failing_look *look) { return each(open, look, FAIL_ANY_END); }
long failing_each_alloc_or_without(failing_open *open, failing_look *look) { return each(open, look, FAIL_OR_WITHOUT); }

gather_status failing_download(gather_file *file, gather_error *error) {
  const bool chunks = file->pieces_len > 0;
  for (int64_t i = 0; i < (chunks ? file->pieces_len : gather_file_len(file)); i++) {
    const gather_file_tensor *whole;
    const char *name = chunks ? file->pieces[i].name : gather_file_at(file, i)->name;
    const gather_status status = gather_file_find_whole(file, name, &whole, error);
    if (status != GATHER_OK) assert_null(whole);
    if (status == GATHER_OUT_OF_MEMORY || status == GATHER_IO_ERROR) return status;
  }
  return GATHER_OK;
}
