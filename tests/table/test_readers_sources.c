/* SPDX-License-Identifier: MIT
 *
 * test_readers_sources.c: opening files to read blocks of, and what is no file to read from.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/unit.h"
#include "table/known.h"
#include "table/table_source.h"

enum { BLOCK = 4096, SIZE = (1 << 20) + 1234 };

static void assert_no_source(const char *path, gather_status status, const char *words) {
  gather_error error = {0};
  gather_table_source source;
  const gather_table_source_wishes wishes = {.direct = true, .mapped = true};
  assert_int_equal(gather_table_source_open(path, &wishes, &source, &error), status);
  if (!strstr(error.message, words)) fail_msg("no \"%s\" in: %s", words, error.message);
  assert_int_equal(source.fd, -1);
  assert_int_equal(source.direct_fd, -1);
  gather_table_source_close(&source); /* does nothing */
}

static void test_no_source(void **state) {
  assert_no_source(known_path("none"), GATHER_FILE_NOT_FOUND, "No such file");
  assert_no_source(known_path("."), GATHER_IO_ERROR, "is a directory; tables are read from regular files");
#if defined(_WIN32)
  assert_no_source("NUL", GATHER_IO_ERROR, "is a device");
#else
  assert_int_equal(mkfifo(known_path("pipe"), 0600), 0);
  assert_no_source(known_path("pipe"), GATHER_IO_ERROR, "is a pipe");
  assert_no_source("/dev/null", GATHER_IO_ERROR, "is a device");
#endif
}

static void test_empty(void **state) {
  gather_table_source source;
  assert_int_equal(gather_table_source_open(known_file("a", 0), &(gather_table_source_wishes){.mapped = true}, &source, NULL), GATHER_OK);
  assert_int_equal(source.size, 0);
  assert_null(source.map);
  gather_table_source_close(&source);
}

static void test_check(void **state) {
  gather_error error = {0};
  gather_table_source source;
  const char *path = known_file("a", SIZE);
  assert_int_equal(gather_table_source_open(path, &(gather_table_source_wishes){.direct = true}, &source, NULL), GATHER_OK);
  assert_true(source.block_bytes >= BLOCK);
  assert_int_equal(gather_table_source_fd(&source), source.direct_fd >= 0 ? source.direct_fd : source.fd);
  assert_int_equal(gather_table_source_check(&source, &error), GATHER_OK);
  assert_int_equal(truncate(path, SIZE + 1), 0);
  assert_int_equal(gather_table_source_check(&source, &error), GATHER_OK);
  assert_int_equal(truncate(path, SIZE - 1), 0);
  assert_int_equal(gather_table_source_check(&source, &error), GATHER_IO_ERROR);
  assert_int_equal(error.file_offset, SIZE - 1);
  assert_non_null(strstr(error.message, "the file ends at byte 1049809: it was truncated while it was open"));
  assert_string_equal(error.file, path);
  gather_table_source_close(&source);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, known_enter, known_leave)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_empty), TEST(test_no_source), TEST(test_check)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
