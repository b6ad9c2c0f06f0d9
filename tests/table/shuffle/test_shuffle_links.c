/* SPDX-License-Identifier: MIT
 *
 * test_shuffle_links.c: the end of a shuffle on a file system without hard links: an empty file reserves the name of the output.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/wrapped.h"
#include "table/shuffle/shuffled.h"

static bool has_links = true;
static int asked, renames_refused;
static const char *race; /* a file that somebody else makes before the link */

WRAPPED(int, linkat, (int from_folder, const char *from, int to_folder, const char *to, int flags)) {
  asked++;
  if (race) {
    FILE *file = fopen(race, "w");
    assert_non_null(file);
    assert_true(fputs("of somebody else", file) >= 0);
    assert_int_equal(fclose(file), 0);
  }
  if (has_links) return REAL(linkat)(from_folder, from, to_folder, to, flags);
  errno = EPERM;
  return -1;
}

WRAPPED(int, renameat, (int from_folder, const char *from, int to_folder, const char *to)) {
  if (strcmp(from, "rows") != 0 || renames_refused == 0) return REAL(renameat)(from_folder, from, to_folder, to);
  renames_refused--;
  errno = EIO;
  return -1;
}

/* Shuffles, resuming if `resume`; the status and the number of links that were tried. */
static gather_status run(bool resume, bool replace) {
  gather_shuffle_options options = shuffled_options(4, 1);
  gather_error error = dirty_error();
  options.resume = resume, options.replace = replace;
  asked = 0;
  gather_status status = shuffled_run(&options, NULL, NULL, &error);
  if (status != GATHER_OK) assert_error(&error, status);
  return status;
}

static void a_new_file(void **state) {
  for (int links = 0; links < 2; links++) {
    has_links = links != 0;
    assert_status(run(false, false), GATHER_OK);
    assert_int_equal(asked, 1);
    shuffled_check_seed(4);
    assert_false(shuffled_exists(FOLDER));
  }
}

/* It appears while the shuffle runs: it is kept, and the work is not lost. */
static void a_file_of_somebody_else(void **state) {
  for (int links = 0; links < 2; links++) {
    char text[32] = "";
    has_links = links != 0, race = "o.npy";
    assert_status(run(false, false), GATHER_FILE_EXISTS);
    race = NULL;
    int fd = open("o.npy", O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), 16);
    assert_int_equal(close(fd), 0);
    assert_string_equal(text, "of somebody else");
    assert_int_equal(unlink("o.npy"), 0);
    assert_true(shuffled_exists(FOLDER));
    assert_status(run(true, false), GATHER_OK);
    shuffled_check_seed(4);
    assert_false(shuffled_exists(FOLDER));
  }
}

/* The name that was reserved is free again, and the rows are still there. */
static void a_rename_that_fails(void **state) {
  for (int replace = 0; replace < 2; replace++) {
    has_links = false, renames_refused = 1;
    assert_status(run(false, replace != 0), GATHER_IO_ERROR);
    assert_int_equal(renames_refused, 0);
    assert_false(shuffled_exists("o.npy"));
    assert_true(shuffled_exists(FOLDER));
    assert_status(run(true, replace != 0), GATHER_OK);
    shuffled_check_seed(4);
    assert_false(shuffled_exists(FOLDER));
  }
}

/* A program that was killed when the rows had the output's name too: they are the output. Another file in its place is kept. */
static void killed_between_two_names(void **state) {
  enum { RIGHT, COPIED, ELSEWHERE, BOTH, WAYS };
  for (int way = RIGHT; way < WAYS; way++) {
    has_links = false, renames_refused = 1;
    assert_status(run(false, true), GATHER_IO_ERROR);
    assert_true(shuffled_exists(FOLDER "/rows"));
    const char *const name = way == ELSEWHERE ? "second" : "o.npy";
    if (way != COPIED) assert_int_equal(link(FOLDER "/rows", name), 0);
    if (way == BOTH) assert_int_equal(link(FOLDER "/rows", "second"), 0);
    if (way == COPIED) {
      struct stat about;
      assert_int_equal(stat(FOLDER "/rows", &about), 0);
      assert_int_equal(close(open("o.npy", O_WRONLY | O_CREAT, 0600)), 0);
      assert_int_equal(truncate("o.npy", about.st_size), 0);
    }
    static const gather_status STATUSES[] = {GATHER_OK, GATHER_FILE_EXISTS, GATHER_FILE_MALFORMED, GATHER_OK};
    assert_status(run(true, false), STATUSES[way]);
    if (way == RIGHT || way == BOTH) shuffled_check_seed(4);
    if (way == RIGHT || way == BOTH) assert_false(shuffled_exists(FOLDER));
    if (way == COPIED) assert_true(shuffled_exists("o.npy"));
    (void)unlink("second");
    shuffled_clean();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_new_file), cmocka_unit_test(a_file_of_somebody_else),
                                     cmocka_unit_test(a_rename_that_fails), cmocka_unit_test(killed_between_two_names)};
  return cmocka_run_group_tests(tests, shuffled_begin, shuffled_end);
}
