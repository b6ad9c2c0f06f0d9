/* SPDX-License-Identifier: MIT
 *
 * Columns of text on a terminal, and which parts of a line of progress fit.
 */
#include "support/unit.h"
#include "terminal.h"

static void test_columns(void **state) {
  assert_int_equal(gather_cli_text_columns(""), 0);
  assert_int_equal(gather_cli_text_columns("abc"), 3);
  assert_int_equal(gather_cli_text_columns("\xc3\xa4"), 1);         /* a with diaeresis */
  assert_int_equal(gather_cli_text_columns("a\xcc\x88"), 1);        /* the same of two characters */
  assert_int_equal(gather_cli_text_columns("\xe8\xa1\xa8"), 2);     /* CJK */
  assert_int_equal(gather_cli_text_columns("\xf0\x9f\x98\x80"), 2); /* emoji */
  assert_int_equal(gather_cli_text_columns("\xe2\x94\x8c"), 1);     /* a box */
  assert_int_equal(gather_cli_text_columns("\xff\xfe"), 2);         /* no UTF-8: bytes */
  assert_int_equal(gather_cli_text_columns("\xe8\xa1"), 2);         /* cut short */
}

static void test_no_character_is_cut(void **state) {
  assert_int_equal(gather_cli_text_fit("abc", 2), 2);
  assert_int_equal(gather_cli_text_fit("abc", 9), 3);
  assert_int_equal(gather_cli_text_fit("\xe8\xa1\xa8\xe8\xa1\xa8", 3), 3);
  assert_int_equal(gather_cli_text_fit("a\xcc\x88", 1), 3);
  assert_int_equal(gather_cli_text_fit("abc", 0), 0);
}

static void join(char *line, int columns) {
  static const char *const PARTS[] = {" 40%", "12 s left", "1.25 GB/s"};
  gather_cli_progress_join(line, 64, columns, PARTS, 3);
}

static void test_what_does_not_fit_is_left_out(void **state) {
  char line[64];
  join(line, 80);
  assert_string_equal(line, " 40%, 12 s left, 1.25 GB/s");
  join(line, 26);
  assert_string_equal(line, " 40%, 12 s left, 1.25 GB/s");
  join(line, 25);
  assert_string_equal(line, " 40%, 12 s left");
  join(line, 14);
  assert_string_equal(line, " 40%");
  join(line, 2);
  assert_string_equal(line, " 4");
  join(line, 0);
  assert_string_equal(line, "");
}

static void test_a_line_has_an_end(void **state) {
  static const char *const PARTS[] = {"abcdef", "g", "hijklmnop"};
  char line[10];
  gather_cli_progress_join(line, sizeof line, 100, PARTS, 3);
  assert_string_equal(line, "abcdef, g");
}

static void test_wide_parts(void **state) {
  static const char *const PARTS[] = {"\xe8\xa1\xa8\xe8\xa1\xa8", "ab"};
  char line[32];
  gather_cli_progress_join(line, sizeof line, 8, PARTS, 2);
  assert_string_equal(line, "\xe8\xa1\xa8\xe8\xa1\xa8, ab");
  gather_cli_progress_join(line, sizeof line, 7, PARTS, 2);
  assert_string_equal(line, "\xe8\xa1\xa8\xe8\xa1\xa8");
  gather_cli_progress_join(line, sizeof line, 3, PARTS, 2);
  assert_string_equal(line, "\xe8\xa1\xa8");
}

TESTS(test_columns, test_no_character_is_cut, test_what_does_not_fit_is_left_out, test_a_line_has_an_end, test_wide_parts)
