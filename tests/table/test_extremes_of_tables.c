/* SPDX-License-Identifier: MIT
 *
 * test_extremes_of_tables.c: raw bytes and tables that are described by numbers at the ends of their types. Under UBSan no arithmetic on
 * them may overflow.
 */
#include <stdio.h>

#include "gather/table.h"
#include "support/extremes.h"
#include "support/open_file.h"

static void raw_bytes(void **unused) {
  static const char *const types[] = {"float32", "int4", "uint3", "|V12", ">i2", "uint1"};
  static char memory[64];
  (void)unused;
  for (int i = 0; i < ROUNDS; i++) {
    int64_t shape[MOST_RANK];
    gather_raw raw = {PICK(types), (int32_t)below(MOST_RANK + 1), shape, PICK(ENDS), below(2) == 0};
    gather_file *file;
    for (int32_t d = 0; d < raw.rank; d++) shape[d] = below(2) ? PICK(LENGTHS) : PICK(ENDS);
    if (file_open_raw(file_in(memory, sizeof memory, "x"), &raw, &file, NULL) == GATHER_OK) gather_file_close(file);
  }
}

static void tables(void **unused) {
  char path[] = "/tmp/gather-extremes-XXXXXX";
  (void)unused;
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *file = fdopen(fd, "wb");
  assert_non_null(file);
  for (int i = 0; i < 4096; i++) fputc(i & 255, file);
  assert_int_equal(fclose(file), 0);
  for (int i = 0; i < 3000; i++) {
    int64_t shape[2] = {below(2) ? -1 : PICK(LENGTHS), PICK(LENGTHS)};
    gather_raw raw = {"uint8", 1 + (int32_t)below(2), shape, PICK(ENDS), true};
    gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
    gather_table *table;
    options.raw = &raw;
    options.memory_bytes = below(2) ? 0 : PICK(ENDS);
    options.cache_bytes = below(2) ? -1 : PICK(ENDS);
    options.depth = below(2) ? 0 : (int32_t)PICK(ENDS);
    options.engine = (gather_engine)below(5);
    if (gather_table_open(path, &options, &table, NULL) == GATHER_OK) gather_table_close(table);
  }
  assert_int_equal(remove(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(raw_bytes), cmocka_unit_test(tables)};
  extremes_seed();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
