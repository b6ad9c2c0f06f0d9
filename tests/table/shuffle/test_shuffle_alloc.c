/* SPDX-License-Identifier: MIT
 *
 * test_shuffle_alloc.c: each allocation of a shuffle fails once, and calls of the system do: the status says so, nothing leaks, nothing
 * that is left is wrong, and what is left can be resumed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "support/fail_each.h"
#include "table/shuffle/shuffled.h"

/* ---- calls of the system */

static struct {
  const char *name;
  int number;
  atomic_int calls, at; /* the call that fails, from 0; -1 = none */
} failing = {.at = -1};

static bool fails(const char *name) {
  if (!failing.name || strcmp(failing.name, name) != 0) return false;
  if (atomic_fetch_add(&failing.calls, 1) != atomic_load(&failing.at)) return false;
  errno = failing.number;
  return true;
}

FAILING64(ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
FAILING64(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
FAILING(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes))
FAILING(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes))
FAILING64(int, fstat, (int fd, struct stat *about), (fd, about))
FAILING64(int, stat, (const char *path, struct stat *about), (path, about))
FAILING64(int, ftruncate, (int fd, off_t bytes), (fd, bytes))
FAILING64(off_t, lseek, (int fd, off_t at, int from), (fd, at, from))
FAILING(int, fsync, (int fd), (fd))
FAILING(int, fdatasync, (int fd), (fd))
FAILING(int, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(int, rmdir, (const char *path), (path))
FAILING(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
FAILING(int, linkat, (int from_folder, const char *from, int folder, const char *to, int flags), (from_folder, from, folder, to, flags))
FAILING(int, renameat, (int from_folder, const char *from, int folder, const char *to), (from_folder, from, folder, to))

/* With ENOSPC the disk is full, with EDOM its size is not known; else the call fails. */
WRAPPED64(int, fstatvfs, (int fd, struct statvfs *about)) {
  const bool refused = fails("fstatvfs");
  const int result = REAL64(fstatvfs)(fd, about);
  if (!refused) return result;
  if (failing.number == ENOSPC) about->f_bavail = 1;
  if (failing.number == EDOM) about->f_blocks = 0;
  return failing.number == ENOSPC || failing.number == EDOM ? result : -1;
}

/* The descriptor is closed all the same. */
WRAPPED(int, close, (int fd)) {
  const int result = REAL(close)(fd);
  return fails("close") ? -1 : result;
}

/* This one returns its error. */
WRAPPED64(int, posix_fallocate, (int fd, off_t at, off_t bytes)) {
  return fails("posix_fallocate") ? failing.number : REAL64(posix_fallocate)(fd, at, bytes);
}

WRAPPED64(int, openat, (int folder, const char *path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
  va_end(more);
  return fails("openat") ? -1 : REAL64(openat)(folder, path, flags, mode);
}

WRAPPED64(int, fcntl, (int fd, int command, ...)) {
  va_list more;
  va_start(more, command);
  void *argument = va_arg(more, void *); /* all commands of the library have one */
  va_end(more);
  return fails("fcntl") ? -1 : REAL64(fcntl)(fd, command, argument);
}

/* GATHER_TEST_HOSTILE=n: one in n of what can fail. */
static int sparser(void) {
  const char *text = getenv("GATHER_TEST_HOSTILE");
  const int n = text ? atoi(text) : 1;
  return n > 1 ? n : 1;
}

/* ---- allocations */

typedef struct ordered_shuffle {
  const gather_shuffle_options *options;
  const gather_tensor *order;
  const int64_t *rows;
} ordered_shuffle;

/* What is there is right; without memory, nothing, or what can be resumed. */
static gather_status shuffle_or_resume(const void *context, gather_error *error) {
  const ordered_shuffle *s = context;
  const gather_status status = shuffled_run(s->options, s->order, NULL, error);
  fail_no_more();
  if (status != GATHER_OK) {
    assert_false(shuffled_exists("o.npy"));
    if (!shuffled_exists(FOLDER)) return status;
    gather_shuffle_options again = *s->options;
    again.resume = true;
    assert_status(shuffled_run(&again, s->order, NULL, NULL), GATHER_OK);
  }
  shuffled_check(s->rows, ROWS);
  assert_false(shuffled_exists(FOLDER));
  return status;
}

static long fail_shuffle(const gather_shuffle_options *options, const gather_tensor *order, const int64_t *rows) {
  const ordered_shuffle context = {options, order, rows};
  return fail_each_as(shuffle_or_resume, &context, GATHER_OK, FAIL_OR_WITHOUT | (sparser() > 1 ? 0 : FAIL_EVERY));
}

static void allocations(void **state) {
  static int64_t rows[ROWS];
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  assert_status(gather_shuffle_rows(4, ROWS, 0, ROWS, rows, NULL), GATHER_OK);
  for (int32_t passes = 1; passes <= 2; passes++) {
    gather_shuffle_options options = shuffled_options(4, passes);
    options.replace = true; /* which asks for the real path */
    assert_true(fail_shuffle(&options, NULL, rows) > 10);
    options.seed = -1;
    assert_true(fail_shuffle(&options, &order, rows) > 10);
  }
}

/* The least descriptor that is free. */
static int least_free(void) {
  int fd = dup(0);
  assert_true(fd >= 0 && close(fd) == 0);
  return fd;
}

/* What a shuffle that ended so has left: all of it, what can be resumed, or nothing. */
static void assert_left(const gather_shuffle_options *options, const gather_tensor *order, const int64_t *rows, gather_status status,
                        const gather_error *error) {
  gather_error again_error = dirty_error();
  if (status != GATHER_OK) {
    assert_error(error, status);
    assert_null(strstr(error->message, strerror(EBADF))); /* what could not be opened is not used */
    if (status != GATHER_IO_ERROR && status != GATHER_OUT_OF_MEMORY && status != GATHER_FILE_EXISTS && status != GATHER_FILE_NOT_FOUND)
      fail_msg("%s %d: status %d: %s", failing.name, atomic_load(&failing.at), (int)status, error->message);
  }
  if (shuffled_exists("o.npy")) {
    shuffled_check(rows, ROWS);
    shuffled_clean();
    return;
  }
  assert_true(status != GATHER_OK);
  gather_shuffle_options again = *options;
  again.resume = shuffled_exists(FOLDER);
  if (shuffled_run(&again, order, NULL, &again_error) != GATHER_OK)
    fail_msg("after %s %d (%s): %s", failing.name, atomic_load(&failing.at), error->message, again_error.message);
  shuffled_check(rows, ROWS);
  assert_false(shuffled_exists(FOLDER));
}

static bool in_second_pass;

static void note_step(void *context, const gather_shuffle_progress *progress) {
  (void)context;
  in_second_pass = progress->step == GATHER_SHUFFLE_SECOND_PASS && progress->done > 0;
}

static bool stops(void *context) {
  (void)context;
  return in_second_pass;
}

/* A run that was stopped, and the options that resume it. */
static void leave(gather_shuffle_options *options) {
  gather_shuffle_options stopped = *options;
  in_second_pass = false;
  stopped.progress = note_step, stopped.stop = stops;
  assert_status(shuffled_run(&stopped, NULL, NULL, NULL), GATHER_CANCELLED);
  options->resume = true;
}

/* Of the calls of a mode, so many fail each, and some of the others. */
#if defined(GATHER_TEST_EMULATED)
enum { MOST_EACH = 2 };
#else
enum { MOST_EACH = 20 };
#endif

static void system_calls(void **state) {
  const int most_each = MOST_EACH / sparser();
  /* SEED: one pass; ORDER: two passes, which read and write more; BOTH: two passes of a seed; AGAIN: the rest of such a run. */
  enum { SEED = 1, ORDER = 2, BOTH = 4, AGAIN = 8, MODES_END = 16 };
  static const struct {
    const char *name;
    int number;
    bool no_matter; /* the shuffle does without */
    int modes;
  } CALLS[] = {{"pread", EIO, false, SEED | ORDER},
               {"pread", EINTR, true, SEED | ORDER},
               {"pwrite", ENOSPC, false, SEED | ORDER | BOTH},
               {"pwrite", EINTR, true, SEED | ORDER},
               {"read", EIO, false, SEED | AGAIN},
               {"read", EINTR, true, SEED | AGAIN},
               {"write", ENOSPC, false, SEED},
               {"write", EINTR, true, SEED},
               {"fstat", EIO, false, SEED | AGAIN},
               {"stat", EIO, false, SEED},
               {"fstatvfs", EIO, true, SEED},
               {"fstatvfs", EDOM, true, SEED},
               {"fstatvfs", ENOSPC, false, SEED},
               {"ftruncate", EIO, false, SEED},
               {"ftruncate", EINTR, true, SEED},
               {"lseek", EIO, false, SEED},
               {"fsync", EINTR, true, SEED},
               {"fdatasync", EIO, false, SEED | ORDER | BOTH},
               {"fdatasync", EINTR, true, SEED},
               {"fdatasync", EINVAL, true, SEED},
               {"fsync", EIO, false, SEED | BOTH},
               {"fsync", EINVAL, true, SEED},
               {"mkdir", EIO, false, SEED},
               {"rmdir", EIO, false, SEED},
               {"unlinkat", EIO, false, SEED},
               {"linkat", EIO, true, SEED},
               {"renameat", EIO, false, SEED},
               {"openat", EMFILE, false, SEED | BOTH | AGAIN},
               {"openat", ENOENT, false, SEED | BOTH},
               {"openat", EINTR, true, SEED},
               {"close", EIO, false, BOTH},
               {"close", EINTR, true, BOTH},
               {"fcntl", EIO, false, SEED},
               {"fcntl", EINVAL, true, SEED | AGAIN},
               {"fcntl", EAGAIN, false, AGAIN},
               {"fcntl", EACCES, false, SEED},
               {"posix_fallocate", ENOSPC, false, SEED | ORDER},
               {"posix_fallocate", EOPNOTSUPP, true, SEED | ORDER}};
  static int64_t rows[ROWS];
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  assert_status(gather_shuffle_rows(4, ROWS, 0, ROWS, rows, NULL), GATHER_OK);
  for (int mode = SEED; mode < MODES_END; mode *= 2)
    for (size_t c = 0; c < COUNT(CALLS); c++)
      for (int n = 0; CALLS[c].modes & mode; n += mode == BOTH && !CALLS[c].no_matter && n < most_each ? 1 : 1 + n) {
        const gather_tensor *given = mode == ORDER ? &order : NULL;
        gather_shuffle_options options = shuffled_options(given ? -1 : 4, mode == SEED ? 1 : 2);
        gather_error error = dirty_error();
        if (mode == AGAIN) leave(&options);
        const long before = atomic_load(&alive);
        const int descriptors = least_free();
        failing.name = CALLS[c].name, failing.number = CALLS[c].number;
        atomic_store(&failing.calls, 0);
        atomic_store(&failing.at, n);
        const gather_status status = shuffled_run(&options, given, NULL, &error);
        const bool reached = atomic_load(&failing.calls) > n;
        atomic_store(&failing.calls, n + 1); /* no more of them */
        assert_int_equal(atomic_load(&alive), before);
        assert_int_equal(least_free(), descriptors);
        if (CALLS[c].no_matter && status != GATHER_OK) fail_msg("%s: %s", CALLS[c].name, error.message);
        assert_left(&options, given, rows, status, &error);
        failing.name = NULL;
        if (reached) continue;
        assert_true(status == GATHER_OK);
        break;
      }
}

/* Without a seed the system is asked for one; without an answer the caller must give it. */
static void no_random_numbers(void **state) {
  static const char *const CALLS[] = {"openat", "read"};
  for (size_t c = 0; c < COUNT(CALLS); c++) {
    int told = 0;
    for (int n = 0; n < 8; n++) {
      gather_shuffle_options options = shuffled_options(-1, 1);
      gather_shuffle_info info;
      gather_error error = dirty_error();
      failing.name = CALLS[c], failing.number = EACCES;
      atomic_store(&failing.calls, 0);
      atomic_store(&failing.at, n);
      const gather_status status = shuffled_run(&options, NULL, &info, &error);
      failing.name = NULL;
      shuffled_clean();
      if (status == GATHER_OK || !strstr(error.message, "no source of random numbers")) continue;
      assert_status(status, GATHER_IO_ERROR);
      assert_int_equal(info.remedy, GATHER_SHUFFLE_REMEDY_SEED);
      told++;
    }
    assert_int_equal(told, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(allocations), cmocka_unit_test(system_calls), cmocka_unit_test(no_random_numbers)};
  return cmocka_run_group_tests(tests, shuffled_begin, shuffled_end);
}
