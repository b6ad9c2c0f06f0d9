/* SPDX-License-Identifier: MIT
 *
 * test_status.c: numbers, names and exit codes of the statuses are promises, so they stand here once more.
 */
#include "support/unit.h"

static const struct {
  gather_status status;
  int number;
  const char *name;
  int exit_code;
} promised[] = {
    {GATHER_OK, 0, "ok", 0},
    {GATHER_SHAPE_MISMATCH, 1, "shape_mismatch", 1},
    {GATHER_RANK_MISMATCH, 2, "rank_mismatch", 1},
    {GATHER_AXIS_OUT_OF_RANGE, 3, "axis_out_of_range", 1},
    {GATHER_BATCH_DIMS_OUT_OF_RANGE, 4, "batch_dims_out_of_range", 1},
    {GATHER_INDEX_OUT_OF_RANGE, 5, "index_out_of_range", 1},
    {GATHER_TYPE_UNSUPPORTED, 6, "type_unsupported", 1},
    {GATHER_TYPE_MISMATCH, 7, "type_mismatch", 1},
    {GATHER_OVERFLOW, 8, "overflow", 1},
    {GATHER_OUT_OF_MEMORY, 9, "out_of_memory", 3},
    {GATHER_UNSUPPORTED, 10, "unsupported", 4},
    {GATHER_USAGE, 11, "usage", 2},
    {GATHER_FILE_NOT_FOUND, 12, "file_not_found", 3},
    {GATHER_FILE_EXISTS, 13, "file_exists", 3},
    {GATHER_FILE_MALFORMED, 14, "file_malformed", 3},
    {GATHER_IO_ERROR, 15, "io_error", 3},
    {GATHER_NAME_NOT_FOUND, 16, "name_not_found", 3},
    {GATHER_MISMATCH, 17, "mismatch", 1},
    {GATHER_CANCELLED, 18, "cancelled", 1},
    {GATHER_INDEX_REPEATED, 19, "index_repeated", 1},
};

/* The same from the public table, for programs that want more than the name. */
static const struct {
  int number, exit_code;
  const char *sentence;
} TABLE[] = {
#define GATHER_STATUS(ENUM, number, name, exit_code, sentence) {number, exit_code, sentence},
#include "gather/status.def"
#undef GATHER_STATUS
};

static void statuses_keep_their_meaning(void **state) {
  for (size_t i = 0; i < COUNT(promised); i++) {
    assert_int_equal(promised[i].status, promised[i].number);
    assert_string_equal(gather_status_name(promised[i].status), promised[i].name);
    assert_int_equal(TABLE[i].exit_code, promised[i].exit_code);
    assert_int_equal(TABLE[i].number, promised[i].number);
    assert_true(strlen(TABLE[i].sentence) > 3);
  }
}

/* A row that was added to the table without a line above is found here. */
static void no_status_is_missing_above(void **state) {
  int known = 0;
  for (int number = 0; number < 1000; number++) known += strcmp(gather_status_name((gather_status)number), "unknown") != 0;
  assert_int_equal(known, COUNT(promised));
  assert_int_equal(COUNT(TABLE), COUNT(promised));
}

static void numbers_that_are_no_status(void **state) {
  assert_string_equal(gather_status_name((gather_status)999), "unknown");
  assert_string_equal(gather_status_name((gather_status)-1), "unknown");
}

static void the_version_is_the_header_s(void **state) {
  char text[64];
  snprintf(text, sizeof text, "%d.%d.%d", GATHER_VERSION_MAJOR, GATHER_VERSION_MINOR, GATHER_VERSION_PATCH);
  assert_string_equal(gather_version(), text);
}

TESTS(statuses_keep_their_meaning, no_status_is_missing_above, numbers_that_are_no_status, the_version_is_the_header_s)
