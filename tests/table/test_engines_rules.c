/* SPDX-License-Identifier: MIT
 *
 * test_engines_rules.c: what a take refuses, before anything is read or written; policies; index types, ranks and strides; jobs; parts.
 * Each by every engine.
 */
#include <pthread.h>

#include "table/test_engines.h"

enum { ROW = 24, ROWS = 300, OFFSET = 5 };

static known_file file;

static int make_table(void **unused) {
  file = make_file("rules", OFFSET + (int64_t)ROW * ROWS + 11);
  return 0;
}

static int remove_table(void **unused) {
  remove_file(&file);
  return 0;
}

static gather_table *table_by(gather_engine engine) {
  const setting how = {engine, false, false, 0, -1, 0};
  return open_rows(file.path, ROWS, ROW, OFFSET, &how);
}

static const uint8_t *row_at(int64_t row) { return file.data + OFFSET + row * ROW; }

/* Runs a check by each engine that works here. */
static void by_each_engine(void (*check)(gather_table *table)) {
  for (int engine = 0; engine < 4; engine++) {
    if (!engine_works((gather_engine)engine)) continue;
    gather_table *table = table_by((gather_engine)engine);
    check(table);
    gather_table_close(table);
  }
}

/* ---- bad indices ----------------------------------------------------------------------------------------------------- */

static void complains_about_indices(gather_table *table) {
  const int64_t ids[6] = {7, -ROWS, ROWS, 0, -ROWS - 1, INT64_MIN};
  uint8_t out[6 * ROW], before[6 * ROW];
  gather_error error = dirty_error();
  gather_table_statistics is;
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 2, DIMS(2, 3)), rows = tensor_of(GATHER_TYPE_UINT8, out, 3, DIMS(2, 3, ROW));
  memset(out, 0xEE, sizeof out);
  memset(before, 0xEE, sizeof before);
  assert_status(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_error(&error, GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.position_rank, 2);
  assert_true(error.position[0] == 0 && error.position[1] == 2);
  assert_true(error.value == ROWS && error.low == -ROWS && error.high == ROWS - 1 && error.bad_count == 3);
  assert_int_equal(error.axis, 0);
  assert_memory_equal(out, before, sizeof out);
  gather_table_job *job = (gather_table_job *)&error;
  assert_status(gather_table_submit(table, &indices, &rows, NULL, &job, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_memory_equal(out, before, sizeof out);
  gather_table_statistics_get(table, &is);
  assert_true(is.takes == 0 && is.rows == 0 && is.reads == 0 && is.bytes_read == 0);
}

static void bad_indices_change_nothing(void **unused) { by_each_engine(complains_about_indices); }

/* ---- policies -------------------------------------------------------------------------------------------------------- */

/* What a row of the output must be: a row of the table, or -1 = all `filler`. */
static void check_policy(gather_table *table, gather_on_bad on_bad, gather_negative negative, uint8_t filler, const int64_t *want,
                         int64_t bad) {
  const int64_t ids[6] = {3, -1, ROWS + 2, -ROWS - 2, ROWS - 1, INT64_MAX};
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_error error;
  int64_t count = -7;
  uint8_t out[6 * ROW], filled[ROW];
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(6)), rows = tensor_of(GATHER_TYPE_UINT8, out, 2, DIMS(6, ROW));
  options.on_bad = on_bad;
  options.negative = negative;
  options.fill = &filler;
  options.bad_count = &count;
  memset(filled, filler, sizeof filled);
  for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
    gather_table_job *job = NULL;
    memset(out, 0xEE, sizeof out);
    count = -7;
    if (asynchronous) {
      assert_status(gather_table_submit(table, &indices, &rows, &options, &job, &error), GATHER_OK);
      assert_status(gather_table_wait(job, &error), GATHER_OK);
    } else {
      assert_status(gather_table_take(table, &indices, &rows, &options, &error), GATHER_OK);
    }
    assert_int_equal(count, bad);
    for (int i = 0; i < 6; i++) assert_memory_equal(out + i * ROW, want[i] < 0 ? filled : row_at(want[i]), ROW);
  }
}

/* The true modulo of the index as it was written. */
static int64_t modulo(int64_t index) { return (index % ROWS + ROWS) % ROWS; }

static void repairs(gather_table *table) {
  const int64_t last = ROWS - 1, far = modulo(INT64_MAX);
  check_policy(table, GATHER_ON_BAD_CLAMP, GATHER_NEGATIVE_ON, 0, (const int64_t[]){3, last, last, 0, last, last}, 3);
  check_policy(table, GATHER_ON_BAD_CLAMP, GATHER_NEGATIVE_OFF, 0, (const int64_t[]){3, 0, last, 0, last, last}, 4);
  check_policy(table, GATHER_ON_BAD_WRAP, GATHER_NEGATIVE_ON, 0, (const int64_t[]){3, last, 2, modulo(-ROWS - 2), last, far}, 3);
  check_policy(table, GATHER_ON_BAD_ZERO, GATHER_NEGATIVE_ON, 0, (const int64_t[]){3, last, -1, -1, last, -1}, 3);
  check_policy(table, GATHER_ON_BAD_FILL, GATHER_NEGATIVE_OFF, 0xA7, (const int64_t[]){3, -1, -1, -1, last, -1}, 4);
}

static void bad_indices_are_repaired(void **unused) { by_each_engine(repairs); }

/* Rows that are filled are delivered, and come from nowhere. */
static void counts_filled(gather_table *table) {
  const int64_t ids[4] = {ROWS, 1, ROWS + 1, -ROWS - 1};
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_table_statistics is;
  uint8_t out[4 * ROW];
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(4)), rows = tensor_of(GATHER_TYPE_UINT8, out, 2, DIMS(4, ROW));
  options.on_bad = GATHER_ON_BAD_ZERO;
  assert_status(gather_table_take(table, &indices, &rows, &options, NULL), GATHER_OK);
  gather_table_statistics_get(table, &is);
  assert_int_equal(is.rows, 4);
  assert_int_equal(is.rows_resident + is.rows_cached + is.rows_read, 1);
  assert_int_equal(is.bytes_useful, 4 * ROW);
}

static void filled_rows_are_counted(void **unused) { by_each_engine(counts_filled); }

/* The index rule of each version of Gather, as by gather_apply in memory. */
static void follows_the_rules(gather_table *table) {
  const int64_t ids[5] = {0, -1, ROWS, -ROWS - 1, 17};
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    if (op->family != GATHER_FAMILY_GATHER) continue;
    gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
    uint8_t out[5 * ROW], want[5 * ROW];
    gather_error error, wanted;
    gather_tensor data = tensor_of(GATHER_TYPE_UINT8, file.data + OFFSET, 2, DIMS(ROWS, ROW)),
                  indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(5)), rows = tensor_of(GATHER_TYPE_UINT8, out, 2, DIMS(5, ROW)),
                  rows_wanted = tensor_of(GATHER_TYPE_UINT8, want, 2, DIMS(5, ROW));
    memset(out, 0xEE, sizeof out);
    memset(want, 0xEE, sizeof want);
    options.op = op;
    gather_status status = gather_apply(op, &data, &indices, &rows_wanted, NULL, &wanted);
    assert_status(gather_table_take(table, &indices, &rows, &options, &error), status);
    assert_memory_equal(out, want, sizeof out);
    if (status != GATHER_OK) assert_string_equal(error.message, wanted.message);
  }
}

static void each_version_has_its_rule(void **unused) { by_each_engine(follows_the_rules); }

/* ---- layouts --------------------------------------------------------------------------------------------------------- */

/* What is refused, with the status that says what is wrong. */
static void refuses(gather_table *table) {
  int64_t ids[4] = {1, 2, 3, 4};
  uint8_t out[8 * ROW];
  const int64_t gaps[2] = {2 * ROW, 1};
  gather_error error;
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(4)), good = tensor_of(GATHER_TYPE_UINT8, out, 2, DIMS(4, ROW)),
                rows = good, floats = indices;
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  rows.type = GATHER_TYPE_INT8;
  assert_status(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_TYPE_MISMATCH);
  rows = tensor_of(GATHER_TYPE_UINT8, out, 2, DIMS(3, ROW));
  assert_status(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_SHAPE_MISMATCH);
  rows = tensor_of(GATHER_TYPE_UINT8, out, 1, DIMS(4 * ROW));
  assert_int_not_equal(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_OK);
  rows = good;
  rows.strides = gaps;
  assert_status(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_UNSUPPORTED);
  rows = good;
  rows.flags = GATHER_TENSOR_READ_ONLY;
  assert_int_not_equal(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_OK);
  rows = good;
  rows.data = NULL;
  assert_int_not_equal(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_OK);
  rows = tensor_of(GATHER_TYPE_UINT8, (uint8_t *)ids + 8, 2, DIMS(4, ROW));
  assert_status(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_USAGE);
  floats.type = GATHER_TYPE_FLOAT32;
  assert_status(gather_table_take(table, &floats, &good, NULL, &error), GATHER_TYPE_UNSUPPORTED);
  options.op = op_of("GatherElements", "onnx-13");
  assert_int_not_equal(gather_table_take(table, &indices, &good, &options, &error), GATHER_OK);
}

static void wrong_layouts_are_refused(void **unused) { by_each_engine(refuses); }

/* Indices with strides, backwards, repeated by a stride of 0, of rank 0 and 3. */
static void reads_strides(gather_table *table) {
  int16_t ids[12];
  uint8_t out[24 * ROW];
  const int64_t strides[3] = {-4, 0, 8}; /* bytes: of 2 x 3 x 2 indices */
  gather_tensor single = tensor_of(GATHER_TYPE_INT16, ids + 5, 0, NULL), one = tensor_of(GATHER_TYPE_UINT8, out, 1, DIMS(ROW)),
                wild = tensor_of(GATHER_TYPE_INT16, ids + 2, 3, DIMS(2, 3, 2)),
                rows = tensor_of(GATHER_TYPE_UINT8, out, 4, DIMS(2, 3, 2, ROW));
  for (int i = 0; i < 12; i++) ids[i] = (int16_t)(i * 23 - ROWS / 2);
  wild.strides = strides;
  assert_status(gather_table_take(table, &single, &one, NULL, NULL), GATHER_OK);
  assert_memory_equal(out, row_at((ids[5] + ROWS) % ROWS), ROW);
  assert_status(gather_table_take(table, &wild, &rows, NULL, NULL), GATHER_OK);
  for (int i = 0; i < 12; i++) {
    int16_t id = ids[2 - i / 6 * 2 + i % 2 * 4];
    assert_memory_equal(out + i * ROW, row_at((id + ROWS) % ROWS), ROW);
  }
}

static void indices_may_be_strided(void **unused) { by_each_engine(reads_strides); }

/* ---- jobs ------------------------------------------------------------------------------------------------------------ */

enum { JOBS = 40, JOB_LEN = 100 };

/* Many in flight, waited for in another order than begun, descriptions gone meanwhile; those left over end with the table. */
static void runs_jobs(gather_table *table) {
  static int64_t ids[JOBS][JOB_LEN];
  static uint8_t out[JOBS][JOB_LEN * ROW];
  gather_table_job *jobs[JOBS];
  uint64_t state = 5;
  memset(out, 0xEE, sizeof out);
  for (int j = 0; j < JOBS; j++) {
    for (int i = 0; i < JOB_LEN; i++) ids[j][i] = below(&state, ROWS);
    int64_t shape[2] = {JOB_LEN, ROW};
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids[j], 1, shape), rows = tensor_of(GATHER_TYPE_UINT8, out[j], 2, shape);
    assert_status(gather_table_submit(table, &indices, &rows, NULL, &jobs[j], NULL), GATHER_OK);
    shape[0] = shape[1] = -1;
    memset(&indices, 0, sizeof indices);
    memset(&rows, 0, sizeof rows);
  }
  for (int j = 0; j < JOBS; j++) {
    int at = j * 7 % JOBS;
    gather_error error = dirty_error();
    for (int tries = 0; j % 3 == 0 && !gather_table_job_await(jobs[at], 0) && tries < 5000; tries++) usleep(1000);
    if (j % 3 == 0) assert_true(gather_table_job_await(jobs[at], 0));
    assert_status(gather_table_wait(jobs[at], &error), GATHER_OK);
    assert_int_equal(first_wrong(&file, ROWS, ROW, OFFSET, ids[at], JOB_LEN, out[at]), -1);
  }
}

static void jobs_in_any_order(void **unused) { by_each_engine(runs_jobs); }

/* Jobs that nobody waits for are finished and freed by the close. */
static void forgotten_jobs_are_finished(void **unused) {
  static int64_t ids[JOBS][JOB_LEN];
  static uint8_t out[JOBS][JOB_LEN * ROW];
  uint64_t state = 9;
  for (int engine = 0; engine < 4; engine++) {
    if (!engine_works((gather_engine)engine)) continue;
    gather_table *table = table_by((gather_engine)engine);
    evict(file.path);
    memset(out, 0xEE, sizeof out);
    for (int j = 0; j < JOBS; j++) {
      gather_table_job *job = NULL;
      for (int i = 0; i < JOB_LEN; i++) ids[j][i] = below(&state, ROWS);
      gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids[j], 1, DIMS(JOB_LEN)),
                    rows = tensor_of(GATHER_TYPE_UINT8, out[j], 2, DIMS(JOB_LEN, ROW));
      assert_status(gather_table_submit(table, &indices, &rows, NULL, &job, NULL), GATHER_OK);
    }
    gather_table_close(table);
    for (int j = 0; j < JOBS; j++) assert_int_equal(first_wrong(&file, ROWS, ROW, OFFSET, ids[j], JOB_LEN, out[j]), -1);
  }
}

/* ---- parts ----------------------------------------------------------------------------------------------------------- */

/* Parts of 0, 7, 1, 0 and 292 rows, each at an odd place of the file; rows that lie in one block, but in two parts. */
static void rows_come_from_parts(void **unused) {
  static const int64_t lens[] = {0, 7, 1, 0, 292};
  char names[COUNT(lens)][64];
  const char *paths[COUNT(lens)];
  int64_t ids[ROWS], at = 0;
  static uint8_t out[ROWS * ROW];
  uint64_t state = 3;
  for (size_t p = 0; p < COUNT(lens); p++) {
    snprintf(names[p], sizeof names[p], "part-%ld-%zu.bin", (long)getpid(), p);
    paths[p] = names[p];
    static uint8_t content[OFFSET + ROWS * ROW];
    memcpy(content + OFFSET, file.data + OFFSET + at * ROW, (size_t)(lens[p] * ROW));
    write_whole(names[p], content, OFFSET + lens[p] * ROW);
    at += lens[p];
  }
  for (int engine = 0; engine < 4; engine++) {
    const int64_t shape[] = {-1, ROW};
    const gather_raw raw = {"uint8", 2, shape, OFFSET, true};
    gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
    gather_table *table = NULL;
    gather_error error = dirty_error();
    options.engine = (gather_engine)engine;
    options.raw = &raw;
    if (!engine_works(options.engine)) continue;
    if (gather_table_open_parts(paths, (int32_t)COUNT(paths), &options, &table, &error) != GATHER_OK) fail_msg("%s", error.message);
    assert_int_equal(gather_table_describe(table)->rows, ROWS);
    assert_int_equal(gather_table_describe(table)->parts, COUNT(paths));
    int64_t first = 0;
    for (int32_t p = 0; p < (int32_t)COUNT(paths); p++) {
      gather_table_part part;
      assert_true(gather_table_part_at(table, p, &part));
      if (part.first != first || part.rows != lens[p] || (part.rows > 0 && part.offset != OFFSET))
        fail_msg("part %d: rows %lld to %lld at %lld", p, (long long)part.first, (long long)(part.first + part.rows),
                 (long long)part.offset);
      first += part.rows;
    }
    for (int round = 0; round < 6; round++) {
      for (int i = 0; i < ROWS; i++) ids[i] = round ? below(&state, 2 * ROWS) - ROWS : i;
      if (take_rows(table, ids, ROWS, out, &error) != GATHER_OK) fail_msg("%s", error.message);
      assert_int_equal(first_wrong(&file, ROWS, ROW, OFFSET, ids, ROWS, out), -1);
    }
    gather_table_close(table);
  }
  for (size_t p = 0; p < COUNT(lens); p++) unlink(names[p]);
}

/* Three parts of one file, which are in another order in it: rows 200 to 299 (as many as there are), 0 to 119, 120 to 199. */
enum { SHARDS = 3 };
static const int64_t SHARD_FIRST[SHARDS] = {200, 0, 120}, SHARD_ROWS[SHARDS] = {-1, 120, 80};

static gather_status open_shards(const gather_raw *raws, int32_t count, gather_engine engine, gather_table **table, gather_error *error) {
  const char *paths[SHARDS] = {file.path, file.path, file.path};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.engine = engine;
  options.raw = raws, options.raw_count = count;
  return gather_table_open_parts(paths, SHARDS, &options, table, error);
}

static void describe_shards(gather_raw *raws, int64_t shapes[][2]) {
  for (int p = 0; p < SHARDS; p++) {
    shapes[p][0] = SHARD_ROWS[p], shapes[p][1] = ROW;
    raws[p] = (gather_raw){"uint8", 2, shapes[p], OFFSET + SHARD_FIRST[p] * ROW, true};
  }
}

static void parts_have_offsets_of_their_own(void **unused) {
  static uint8_t out[ROWS * ROW];
  int64_t ids[ROWS], shapes[SHARDS][2];
  gather_raw raws[SHARDS];
  (void)unused;
  describe_shards(raws, shapes);
  for (int i = 0; i < ROWS; i++) ids[i] = (i * 7 + 3) % ROWS;
  for (int engine = 0; engine < 4; engine++) {
    gather_table *table = NULL;
    gather_table_part part;
    gather_error error = dirty_error();
    if (!engine_works((gather_engine)engine)) continue;
    if (open_shards(raws, SHARDS, (gather_engine)engine, &table, &error) != GATHER_OK) fail_msg("%s", error.message);
    assert_int_equal(gather_table_describe(table)->rows, ROWS);
    assert_true(gather_table_reads(table, file.path));
    assert_false(gather_table_reads(table, "."));
    for (int32_t p = 0; p < SHARDS; p++) {
      assert_true(gather_table_part_at(table, p, &part));
      assert_int_equal(part.offset, raws[p].offset);
    }
    if (take_rows(table, ids, ROWS, out, &error) != GATHER_OK) fail_msg("%s", error.message);
    for (int i = 0; i < ROWS; i++) assert_memory_equal(out + i * ROW, row_at(ids[i] < 100 ? 200 + ids[i] : ids[i] - 100), ROW);
    gather_table_close(table);
  }
}

static void raws_of_parts_are_checked(void **unused) {
  int64_t shapes[SHARDS][2];
  gather_raw raws[SHARDS];
  gather_table *table = NULL;
  gather_error error;
  (void)unused;
  describe_shards(raws, shapes);
  assert_status(open_shards(raws, 2, GATHER_ENGINE_AUTO, &table, &error), GATHER_USAGE);
  assert_status(open_shards(raws, -1, GATHER_ENGINE_AUTO, &table, &error), GATHER_USAGE);
  assert_status(open_shards(NULL, SHARDS, GATHER_ENGINE_AUTO, &table, &error), GATHER_USAGE);
  raws[2].type = "int8";
  assert_status(open_shards(raws, SHARDS, GATHER_ENGINE_AUTO, &table, &error), GATHER_TYPE_MISMATCH);
  raws[2].type = "uint8", shapes[2][1] = ROW + 1;
  assert_status(open_shards(raws, SHARDS, GATHER_ENGINE_AUTO, &table, &error), GATHER_SHAPE_MISMATCH);
  shapes[2][1] = ROW, raws[2].offset = OFFSET + (ROWS - 80) * ROW;
  assert_status(open_shards(raws, SHARDS, GATHER_ENGINE_AUTO, &table, &error), GATHER_OK);
  gather_table_close(table);
  raws[2].offset += 12; /* 11 bytes follow the rows */
  assert_status(open_shards(raws, SHARDS, GATHER_ENGINE_AUTO, &table, &error), GATHER_FILE_MALFORMED);
  raws[2].offset = OFFSET + (int64_t)ROWS * ROW + 12, shapes[2][0] = -1;
  assert_status(open_shards(raws, SHARDS, GATHER_ENGINE_AUTO, &table, &error), GATHER_FILE_MALFORMED);
  assert_null(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bad_indices_change_nothing), cmocka_unit_test(bad_indices_are_repaired),
                                     cmocka_unit_test(filled_rows_are_counted),    cmocka_unit_test(each_version_has_its_rule),
                                     cmocka_unit_test(wrong_layouts_are_refused),  cmocka_unit_test(indices_may_be_strided),
                                     cmocka_unit_test(jobs_in_any_order),          cmocka_unit_test(forgotten_jobs_are_finished),
                                     cmocka_unit_test(rows_come_from_parts),       cmocka_unit_test(parts_have_offsets_of_their_own),
                                     cmocka_unit_test(raws_of_parts_are_checked)};
  return cmocka_run_group_tests(tests, make_table, remove_table);
}
