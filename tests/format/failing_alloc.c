/* SPDX-License-Identifier: MIT
 *
 * failing_alloc.c: the functions that the linker's --wrap puts before those that give memory.
 */
#include "format/failing_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

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

static int fail_each(failing_open *open, failing_look *look, bool may_be_refused) {
  for (int number = 0;; number++) {
    gather_file *file = NULL;
    gather_error error;
    calls = 0;
    failing_call = number;
    gather_status status = open(&file, &error);
    failing_call = -1;
    if (calls <= number) {
      if (!may_be_refused) assert_int_equal(status, GATHER_OK);
      if (status == GATHER_OK) look(file);
      gather_file_close(file);
      return number;
    }
    assert_int_equal(status, GATHER_OUT_OF_MEMORY);
    assert_int_equal(error.status, GATHER_OUT_OF_MEMORY);
    assert_true(error.message[0] != '\0');
    assert_null(file);
  }
}

int failing_each_alloc(failing_open *open, failing_look *look) { return fail_each(open, look, false); }
int failing_each_alloc_of_any(failing_open *open, failing_look *look) { return fail_each(open, look, true); }
