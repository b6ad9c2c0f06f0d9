/* SPDX-License-Identifier: MIT
 *
 * failing_alloc.c: the functions that the linker's --wrap puts before those that give memory.
 */
#include "io/format/failing_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/arena.h"
#include "io/format/format.h"

static int calls, failing_call = -1;

static int fails(void) { return calls++ == failing_call; }

void *__real_gather_alloc(int64_t bytes);
void *__wrap_gather_alloc(int64_t bytes);
void *__wrap_gather_alloc(int64_t bytes) { return fails() ? NULL : __real_gather_alloc(bytes); }

void *__real_gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes);
void *__wrap_gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes);
void *__wrap_gather_arena_take(gather_arena *arena, int64_t count, int64_t bytes) {
  return fails() ? NULL : __real_gather_arena_take(arena, count, bytes);
}

char *__real_gather_arena_text(gather_arena *arena, const char *text, size_t bytes);
char *__wrap_gather_arena_text(gather_arena *arena, const char *text, size_t bytes);
char *__wrap_gather_arena_text(gather_arena *arena, const char *text, size_t bytes) {
  return fails() ? NULL : __real_gather_arena_text(arena, text, bytes);
}

static int fail_each(failing_open *open, failing_look *look, bool may_be_refused, bool may_do_without) {
  for (int number = 0;; number++) {
    gather_file *file = NULL;
    gather_error error;
    calls = 0;
    failing_call = number;
    gather_status status = open(&file, &error);
    failing_call = -1;
    const bool last = calls <= number;
    if (last || (may_do_without && status == GATHER_OK)) {
      if (!may_be_refused) assert_int_equal(status, GATHER_OK);
      if (status == GATHER_OK) look(file);
      gather_file_close(file);
      if (last) return number;
      continue;
    }
    assert_int_equal(status, GATHER_OUT_OF_MEMORY);
    assert_int_equal(error.status, GATHER_OUT_OF_MEMORY);
    assert_true(error.message[0] != '\0');
    assert_null(file);
  }
}

int failing_each_alloc(failing_open *open, failing_look *look) { return fail_each(open, look, false, false); }
int failing_each_alloc_of_any(failing_open *open, failing_look *look) { return fail_each(open, look, true, false); }
int failing_each_alloc_or_without(failing_open *open, failing_look *look) { return fail_each(open, look, false, true); }

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
