/* SPDX-License-Identifier: MIT
 *
 * test_engines.c: every engine, by settings at random, gives the bytes of the file: rows from 1 byte to 3 MiB, at odd offsets, by
 * ids in every order. GATHER_TEST_ROUNDS=N looks at N times as many settings.
 */
#include "table/test_engines.h"

enum { SETTINGS = 10, OUT_BYTES = 512 * 1024, IDS = 3000 };

static uint64_t seed;
static int64_t rounds;

/* ---- ids ------------------------------------------------------------------------------------------------------------- */

enum { RANDOM, SORTED, REVERSED, CLUSTERED, DUPLICATES, FROM_END, ALL, NONE, ORDERS };

static int upwards(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Ids in one order; returns how many. */
static int64_t make_ids(int order, int64_t rows, int64_t len, int64_t *ids, uint64_t *state) {
  if (order == NONE) return 0;
  if (order == ALL && rows < len) len = rows;
  int64_t start = below(state, rows);
  for (int64_t i = 0; i < len; i++) {
    ids[i] = below(state, rows);
    if (order == ALL) ids[i] = i;
    if (order == CLUSTERED) ids[i] = (start + i / 16 * 37 + below(state, 8)) % rows;
    if (order == DUPLICATES) ids[i] = (start + below(state, 3)) % rows;
    if (order == FROM_END) ids[i] -= rows;
  }
  if (order == SORTED || order == REVERSED) qsort(ids, (size_t)len, sizeof *ids, upwards);
  for (int64_t i = 0; order == REVERSED && i < len / 2; i++) {
    int64_t held = ids[i];
    ids[i] = ids[len - 1 - i];
    ids[len - 1 - i] = held;
  }
  return len;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

/* A table within a known file. */
typedef struct rows_at {
  const known_file *file;
  int64_t rows, row_bytes, offset;
} rows_at;

static void check_take(gather_table *table, const rows_at *at, const setting *how, int order, uint64_t *state, uint8_t *out) {
  static int64_t ids[IDS];
  gather_error error;
  int64_t room = OUT_BYTES / at->row_bytes, wanted = room < 2 ? 2 : room < IDS ? room : IDS;
  int64_t len = make_ids(order, at->rows, wanted, ids, state);
  memset(out, 0xEE, (size_t)(len * at->row_bytes + 8));
  gather_status status = take_rows(table, ids, len, out, &error);
  if (status != GATHER_OK) fail_msg("%s, rows of %lld: %s", setting_text(how), (long long)at->row_bytes, error.message);
  int64_t wrong = first_wrong(at->file, at->rows, at->row_bytes, at->offset, ids, len, out);
  if (wrong >= 0)
    fail_msg("%s, rows of %lld at %lld, order %d: row %lld is wrong", setting_text(how), (long long)at->row_bytes, (long long)at->offset,
             order, (long long)wrong);
  for (int i = 0; i < 8; i++) assert_int_equal(out[len * at->row_bytes + i], 0xEE);
}

/* What the statistics promise whatever happened. */
static void check_sums(const gather_table *table, const setting *how, int64_t takes) {
  gather_table_statistics is;
  gather_table_statistics_get(table, &is);
  assert_int_equal(is.takes, takes);
  if (is.rows != is.rows_resident + is.rows_cached + is.rows_read)
    fail_msg("%s: %lld rows, but %lld resident, %lld cached, %lld read", setting_text(how), (long long)is.rows, (long long)is.rows_resident,
             (long long)is.rows_cached, (long long)is.rows_read);
  assert_int_equal(is.bytes_useful, is.rows * gather_table_describe(table)->row_bytes);
  assert_int_equal(is.memory_ceiling, how->memory_bytes);
  assert_true(is.memory_bytes <= is.memory_peak);
  if (how->memory_bytes && is.memory_peak > how->memory_bytes) fail_msg("%s: peak %lld", setting_text(how), (long long)is.memory_peak);
  assert_true(is.engine != GATHER_ENGINE_AUTO && is.depth >= 1 && memchr(is.why, 0, sizeof is.why) && is.why[0]);
  if (how->depth) assert_true(is.depth <= how->depth);
  if (how->buffered) assert_false(is.direct);
  if (how->engine != GATHER_ENGINE_AUTO && engine_works(how->engine)) assert_int_equal(is.engine, how->engine);
  if (how->keep_signals) assert_int_not_equal(is.engine, GATHER_ENGINE_MMAP);
  if (is.rows_read == 0) assert_int_equal(is.bytes_read, 0);
}

static void check_setting(const rows_at *at, const setting *how, uint64_t *state, uint8_t *out) {
  gather_table *table = open_rows(at->file->path, at->rows, at->row_bytes, at->offset, how);
  const gather_table_info *info = gather_table_describe(table);
  assert_int_equal(info->rows, at->rows);
  assert_int_equal(info->row_bytes, at->row_bytes);
  int64_t takes = 0;
  for (int order = 0; order < ORDERS; order++) {
    if (below(state, 3) != 0) evict(at->file->path);
    check_take(table, at, how, order, state, out);
    takes++;
  }
  check_sums(table, how, takes);
  gather_table_close(table);
}

static void rows_of(int64_t row_bytes) {
  const int64_t offsets[] = {0, 1, 77, 4096 + 13};
  int64_t most = row_bytes < 300 ? 5000 : 2 * MIB / row_bytes, rows = most < 3 ? 3 : most;
  uint64_t state = seed + (uint64_t)row_bytes;
  known_file file = make_file("rows", rows * row_bytes + 4096 + 13);
  uint8_t *out = malloc((size_t)(OUT_BYTES + 3 * row_bytes + 8));
  setting any = {GATHER_ENGINE_AUTO, false, false, 0, 0, 1};
  int64_t least = least_memory(file.path, row_bytes, &any);
  assert_non_null(out);
  for (int64_t i = 0; i < SETTINGS * rounds; i++) {
    rows_at at = {&file, rows, row_bytes, offsets[below(&state, COUNT(offsets))]};
    setting how = some_setting(&state, least + MIB * below(&state, 4));
    how.engine = i < 4 && engine_works((gather_engine)i) ? (gather_engine)i : how.engine;
    how.keep_signals = how.keep_signals && how.engine != GATHER_ENGINE_MMAP;
    check_setting(&at, &how, &state, out);
  }
  free(out);
  remove_file(&file);
}

#define ROWS_OF(bytes)                            \
  static void rows_of_##bytes##_bytes(void **s) { \
    (void)s;                                      \
    rows_of(bytes);                               \
  }
ROWS_OF(1)
ROWS_OF(3)
ROWS_OF(7)
ROWS_OF(64)
ROWS_OF(100)
ROWS_OF(512)
ROWS_OF(4095)
ROWS_OF(4096)
ROWS_OF(4097)
ROWS_OF(65544)
ROWS_OF(3145728)

/* ---- what is at the edges -------------------------------------------------------------------------------------------- */

static void each_engine_is_there_or_said_to_be_missing(void **unused) { assert_int_equal(engine_skips(), 0); }

/* The complaint about a low ceiling names the lowest that would do: that one does, one byte less does not. */
static void the_lowest_ceiling_is_the_lowest(void **unused) {
  static const int64_t lengths[] = {1, 64, 4097, 65544, 3145728};
  known_file file = make_file("least", 8 * MIB);
  for (size_t i = 0; i < COUNT(lengths); i++)
    for (int engine = 0; engine < 4; engine++) {
      setting how = {(gather_engine)engine, false, false, 0, -1, 0};
      gather_table *table = NULL;
      gather_error error;
      if (!engine_works((gather_engine)engine)) continue;
      how.memory_bytes = least_memory(file.path, lengths[i], &how);
      gather_table_close(open_rows(file.path, -1, lengths[i], 0, &how));
      how.memory_bytes--;
      assert_status(try_open(file.path, -1, lengths[i], 0, &how, &table, &error), GATHER_USAGE);
    }
  remove_file(&file);
}

/* shape[0] = -1: as many whole rows as there are. */
static void rows_are_counted(void **unused) {
  known_file file = make_file("counted", 10007);
  setting how = {GATHER_ENGINE_AUTO, false, false, 0, -1, 0};
  gather_table *table = open_rows(file.path, -1, 100, 3, &how);
  gather_table_part part;
  assert_int_equal(gather_table_describe(table)->rows, 100);
  assert_int_equal(gather_table_describe(table)->parts, 1);
  assert_true(gather_table_part_at(table, 0, &part));
  assert_string_equal(part.path, file.path);
  assert_int_equal(part.offset, 3);
  assert_int_equal(part.first, 0);
  assert_int_equal(part.rows, 100);
  assert_false(gather_table_part_at(table, 1, &part));
  assert_false(gather_table_part_at(table, -1, &part));
  gather_table_close(table);
  remove_file(&file);
}

/* Rows without bytes, and no rows at all: nothing is read, and indices are looked at all the same. */
static void nothing_to_read(void **unused) {
  known_file file = make_file("nothing", 4096);
  const int64_t ids[] = {4, 0, -5}, bad[] = {0};
  for (int engine = 0; engine < 4; engine++) {
    setting how = {(gather_engine)engine, false, false, 0, -1, 0};
    gather_error error;
    gather_table_statistics is;
    if (!engine_works((gather_engine)engine)) continue;
    gather_table *table = open_rows(file.path, 5, 0, 4096, &how);
    assert_status(take_rows(table, ids, 3, file.data, &error), GATHER_OK);
    gather_table_statistics_get(table, &is);
    assert_int_equal(is.rows, 3);
    assert_int_equal(is.bytes_read, 0);
    gather_table_close(table);
    table = open_rows(file.path, 0, 64, 17, &how);
    assert_status(take_rows(table, ids, 0, file.data, &error), GATHER_OK);
    assert_status(take_rows(table, bad, 1, file.data, &error), GATHER_INDEX_OUT_OF_RANGE);
    gather_table_close(table);
  }
  remove_file(&file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_engine_is_there_or_said_to_be_missing),
                                     cmocka_unit_test(rows_of_1_bytes),
                                     cmocka_unit_test(rows_of_3_bytes),
                                     cmocka_unit_test(rows_of_7_bytes),
                                     cmocka_unit_test(rows_of_64_bytes),
                                     cmocka_unit_test(rows_of_100_bytes),
                                     cmocka_unit_test(rows_of_512_bytes),
                                     cmocka_unit_test(rows_of_4095_bytes),
                                     cmocka_unit_test(rows_of_4096_bytes),
                                     cmocka_unit_test(rows_of_4097_bytes),
                                     cmocka_unit_test(rows_of_65544_bytes),
                                     cmocka_unit_test(rows_of_3145728_bytes),
                                     cmocka_unit_test(the_lowest_ceiling_is_the_lowest),
                                     cmocka_unit_test(rows_are_counted),
                                     cmocka_unit_test(nothing_to_read)};
  seed = (uint64_t)number_from("GATHER_TEST_SEED", 1);
  rounds = number_from("GATHER_TEST_ROUNDS", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
