/* SPDX-License-Identifier: MIT
 *
 * test_failures_decoded.c: tables whose rows are decoded, and those of files whose elements lie column after column, on a system that
 * fails, in a child of fork(), and with arguments and lengths that are none.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "gather/file.h"
#include "support/open_file.h"
#include "support/skip.h"
#include "support/unit.h"
#include "table/all_engines.h"

enum { ROWS = 600, COLUMNS = 40, IDS = 40 };

#if GATHER_BIG_ENDIAN /* rows have the byte order of their file */
#define F4 ">f4"
#else
#define F4 "<f4"
#endif

static void write_bytes(FILE *file, const void *bytes, size_t count) { assert_int_equal(fwrite(bytes, 1, count, file), count); }

/* FP8 codes with a scale for each row, in bfloat16, or one for all, in float32. */
static const char *write_fp8(const char *name, int scales) {
  const char *path = known_path(name);
  FILE *file = fopen(path, "wb");
  char header[400];
  assert_non_null(file);
  (void)snprintf(header, sizeof header,
                 "{\"b.weight\":{\"dtype\":\"F8_E4M3\",\"shape\":[%d,%d],\"data_offsets\":[0,%d]},\"b.weight_scale\":{\"dtype\":\"%s\",\"s"
                 "hape\":[%d],\"data_offsets\":[%d,%d]}}",
                 ROWS, COLUMNS, ROWS * COLUMNS, scales > 1 ? "BF16" : "F32", scales, ROWS * COLUMNS,
                 ROWS * COLUMNS + (scales > 1 ? 2 * scales : 4));
  const uint64_t length = strlen(header);
  uint8_t little[8];
  for (int i = 0; i < 8; i++) little[i] = (uint8_t)(length >> 8 * i);
  write_bytes(file, little, 8);
  write_bytes(file, header, (size_t)length);
  for (int i = 0; i < ROWS * COLUMNS; i++) (void)fputc(i % 0x70, file);
  for (int i = 0; i < scales; i++) write_bytes(file, scales > 1 ? "\x00\x40" : "\x00\x00\x00\x40", scales > 1 ? 2 : 4);
  assert_int_equal(fclose(file), 0);
  return path;
}

/* A .npy of no more than its header and `bytes` known bytes. */
static const char *write_npy(const char *name, const char *descr, bool columns, const char *shape, int64_t bytes) {
  const char *path = known_path(name);
  FILE *file = fopen(path, "wb");
  char header[128];
  assert_non_null(file);
  int length =
      snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, columns ? "True" : "False", shape);
  memset(header + length, ' ', 118 - (size_t)length);
  header[117] = '\n';
  write_bytes(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  write_bytes(file, header, 118);
  for (int64_t i = 0; i < bytes; i++) (void)fputc((int)(i * 7 + i / 251) & 127, file);
  assert_int_equal(fclose(file), 0);
  return path;
}

typedef struct kind {
  int scales; /* 0: a .npy, column after column */
  gather_engine engine;
} kind;

static const kind KINDS[] = {{ROWS, GATHER_ENGINE_PREAD}, {1, GATHER_ENGINE_MMAP}, {0, GATHER_ENGINE_PREAD}, {0, GATHER_ENGINE_MMAP}};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static const char *write_kind(const kind *what) {
  if (what->scales > 0) return write_fp8("x.safetensors", what->scales);
  char shape[40];
  (void)snprintf(shape, sizeof shape, "(%d, %d)", ROWS, COLUMNS);
  return write_npy("x.npy", F4, true, shape, (int64_t)ROWS * COLUMNS * 4);
}

static gather_status open_kind(const char *path, const kind *what, gather_table **table, gather_error *error) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.engine = what->engine, options.cache_bytes = 1 << 16;
  options.depth = 8; /* few threads, each of whose creations fails in turn */
  if (what->scales > 0) options.decode_as = GATHER_TYPE_FLOAT32, options.tensor = "b.weight";
  return gather_table_open(path, &options, table, error);
}

/* What row `row` holds, from the contents that were written. */
static void assert_row(const kind *what, int64_t row, const float *got) {
  for (int c = 0; c < COLUMNS; c++) {
    float want;
    if (what->scales > 0) {
      const int code = (int)((row * COLUMNS + c) % 0x70), exponent = code >> 3, mantissa = code & 7;
      want = 2 * (exponent > 0 ? (1 + (float)mantissa / 8) : (float)mantissa / 8);
      for (int e = exponent > 0 ? exponent : 1; e < 7; e++) want /= 2;
      for (int e = 7; e < exponent; e++) want *= 2;
    } else {
      uint8_t bytes[4];
      for (int b = 0; b < 4; b++) {
        const int64_t i = (c * ROWS + row) * 4 + b;
        bytes[b] = (uint8_t)((i * 7 + i / 251) & 127);
      }
      memcpy(&want, bytes, 4);
    }
    if (memcmp(&want, &got[c], 4) != 0) fail_msg("row %d, column %d: %g, not %g", (int)row, c, (double)got[c], (double)want);
  }
}

static gather_status take(gather_table *table, const kind *what, bool job, gather_error *error) {
  static float out[IDS][COLUMNS];
  static const int64_t shape[] = {IDS, COLUMNS};
  int64_t ids[IDS];
  const int64_t start = known_random(ROWS);
  for (int i = 0; i < IDS; i++) ids[i] = (start + i * 13) % ROWS; /* no row twice */
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = shape};
  const gather_tensor rows = {.data = out, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = shape};
  gather_status status;
  memset(out, 0, sizeof out);
  if (job) {
    gather_table_job *begun;
    status = gather_table_submit(table, &indices, &rows, NULL, &begun, error);
    if (status == GATHER_OK) status = gather_table_wait(begun, error);
  } else {
    status = gather_table_take(table, &indices, &rows, NULL, error);
  }
  for (int i = 0; status == GATHER_OK && i < IDS; i++) assert_row(what, ids[i], out[i]);
  return status;
}

/* Opens, takes and closes while call number n fails. Returns whether there were so many. */
static bool run(const char *path, const kind *what, const char *call, int number, int n) {
  gather_table *table = NULL;
  gather_error error = {0};
  const int mappings = failing_mappings(), open = known_open_descriptors();
  failing_set(call, n, 1, number);
  gather_status status = open_kind(path, what, &table, &error);
  if (status == GATHER_OK) status = take(table, what, n % 2 == 1, &error);
  const bool reached = failing_calls() > n;
  failing_clear();
  if (status != GATHER_OK) {
    if (!reached) fail_msg("%s: %s", call, error.message);
    if (status != (number == ENOMEM ? GATHER_OUT_OF_MEMORY : GATHER_IO_ERROR)) fail_msg("%s %d: %s", call, n, error.message);
    if (error.message[0] == '\0' || error.status != status) fail_msg("%s %d: no words", call, n);
  }
  if (table && take(table, what, false, &error) != GATHER_OK) fail_msg("after %s %d: %s", call, n, error.message);
  gather_table_close(table);
  assert_int_equal(failing_mappings(), mappings);
  assert_int_equal(known_open_descriptors(), open);
  return reached;
}

static void test_each_call(void **state) {
  static const struct {
    const char *name;
    int number;
  } CALLS[] = {{"gather_alloc", ENOMEM},
               {"open", EIO},
               {"fstat", EIO},
               {"mmap", ENOMEM},
               {"pread", EIO},
               {"pthread_create", EAGAIN},
               {"pthread_mutex_init", ENOMEM},
               {"pthread_cond_init", ENOMEM}};
  for (int k = 0; k < KIND_COUNT; k++) {
    const char *path = write_kind(&KINDS[k]);
    for (size_t c = 0; c < sizeof CALLS / sizeof *CALLS; c++)
      for (int n = 0; run(path, &KINDS[k], CALLS[c].name, CALLS[c].number, n); n++) continue;
  }
}

/* A child of fork() takes from its parent's tables, and the parent goes on. */
static void test_child(void **state) {
#if defined(GATHER_TEST_EMULATED) || defined(GATHER_TEST_TSAN) || defined(GATHER_TEST_ASAN)
  GATHER_TEST_SKIP("fork", "emulators and sanitizers play no child of a program with threads");
#endif
  for (int k = 0; k < KIND_COUNT; k++) {
    gather_table *table;
    gather_error error = {0};
    int status;
    assert_int_equal(open_kind(write_kind(&KINDS[k]), &KINDS[k], &table, &error), GATHER_OK);
    assert_int_equal(take(table, &KINDS[k], false, &error), GATHER_OK);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      const bool good = take(table, &KINDS[k], false, NULL) == GATHER_OK && take(table, &KINDS[k], true, NULL) == GATHER_OK;
      gather_table_close(table);
      _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(take(table, &KINDS[k], true, &error), GATHER_OK);
    gather_table_close(table);
  }
}

static void test_counts(void **state) {
  for (int k = 0; k < KIND_COUNT; k++) {
    gather_table *table;
    gather_table_statistics counts;
    assert_int_equal(open_kind(write_kind(&KINDS[k]), &KINDS[k], &table, NULL), GATHER_OK);
    assert_int_equal(take(table, &KINDS[k], false, NULL), GATHER_OK);
    gather_table_statistics_get(table, &counts);
    assert_int_equal(counts.rows, IDS);
    assert_true(counts.bytes_read > 0 || counts.rows_resident > 0);
    assert_int_equal(counts.rows_read + counts.rows_cached + counts.rows_resident, IDS);
    if (KINDS[k].engine == GATHER_ENGINE_PREAD) assert_int_equal(counts.rows_read, IDS);
    gather_table_statistics_reset(table);
    gather_table_statistics_get(table, &counts);
    assert_true(counts.rows == 0 && counts.bytes_read == 0 && counts.rows_resident == 0 && counts.rows_read == 0);
    assert_int_equal(take(table, &KINDS[k], false, NULL), GATHER_OK);
    gather_table_statistics_get(table, &counts);
    assert_int_equal(counts.rows, IDS);
    gather_table_close(table);
  }
}

/* Lengths that no file has, in headers of files without rows; in one part, or in all together. */
static void test_lengths(void **state) {
  static const struct {
    const char *descr, *shape;
    bool columns, decoded;
    int32_t parts;
    gather_status status;
    const char *words;
  } CASES[] = {
      {F4, "(0, 4611686018427387904, 4)", false, false, 1, GATHER_OVERFLOW, "the length of a row"},
      {F4, "(0, 4611686018427387904, 4)", true, false, 1, GATHER_OVERFLOW, "the length of a row"},
      {F4, "(0, 4611686018427387904, 4)", false, true, 1, GATHER_OVERFLOW, "the length of a row"},
      {F4, "(0, 4611686018427387904)", false, false, 1, GATHER_OVERFLOW, "the length of a row"},
      {F4, "(0, 4611686018427387904)", true, false, 1, GATHER_OVERFLOW, "the length of a row"},
      {F4, "(0, 4611686018427387904)", false, true, 1, GATHER_OVERFLOW, "the length of a row"},
      {F4, "(4611686018427387904, 0)", false, false, 1, GATHER_OK, ""},
      {F4, "(4611686018427387904, 0)", false, false, 2, GATHER_OVERFLOW, "the row count of all parts"},
      {F4, "(4611686018427387904, 0)", false, true, 2, GATHER_OVERFLOW, "63 bits"},
      {F4, "()", false, false, 1, GATHER_RANK_MISMATCH, "rank 0"},
      {F4, "()", false, true, 1, GATHER_SHAPE_MISMATCH, "rank 1 or more"},
      {F4, "(0,)", false, true, 1, GATHER_OK, ""},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    const char *path = write_npy("lengths.npy", CASES[i].descr, CASES[i].columns, CASES[i].shape, 4);
    const char *paths[] = {path, path};
    gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
    gather_table *table = NULL;
    gather_error error = {0};
    if (CASES[i].decoded) options.decode_as = GATHER_TYPE_FLOAT16;
    gather_status status = gather_table_open_parts(paths, CASES[i].parts, &options, &table, &error);
    if (status != CASES[i].status || !strstr(error.message, CASES[i].words))
      fail_msg("%s: status %d: %s", CASES[i].shape, (int)status, error.message);
    assert_true((table != NULL) == (status == GATHER_OK));
    gather_table_close(table);
  }
}

/* Arguments that are none; each is GATHER_USAGE with words. */
static void test_misuse(void **state) {
  gather_table *table = NULL;
  gather_table_job *job = NULL;
  gather_error error = {0};
  gather_engine engine;
  gather_file_codec codec;
  const char *path = write_npy("misuse.npy", F4, false, "(4, 2)", 32), *no_paths[] = {path, NULL};
  gather_table_options odd = GATHER_TABLE_OPTIONS_INIT;
  odd.engine = (gather_engine)99;
  assert_int_equal(gather_table_open(path, NULL, NULL, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "table is NULL"));
  assert_int_equal(gather_table_open_parts(NULL, 1, NULL, &table, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "no path"));
  assert_int_equal(gather_table_open_parts(no_paths, 0, NULL, &table, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "no path"));
  assert_int_equal(gather_table_open_parts(no_paths, 2, NULL, &table, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "a path is NULL"));
  assert_int_equal(gather_table_open(NULL, NULL, &table, &error), GATHER_USAGE);
  assert_int_equal(gather_table_open(path, &odd, &table, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "no such engine: number 99"));
  assert_null(table);
  assert_int_equal(gather_engine_check((gather_engine)99, &error), GATHER_USAGE);
  assert_int_equal(gather_engine_parse(NULL, &engine, &error), GATHER_USAGE);
  assert_int_equal(gather_engine_parse("mmaps", &engine, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "'mmaps'"));
  assert_null(gather_engine_name((gather_engine)-1));
  assert_int_equal(gather_table_wait(NULL, &error), GATHER_USAGE);
  assert_true(gather_table_job_await(NULL, 0) && gather_table_job_await(NULL, 1));
  gather_table_job_cancel(NULL);
  assert_false(gather_table_reads(NULL, path));
  assert_int_equal(gather_table_open(path, NULL, &table, &error), GATHER_OK);
  float out[4];
  int64_t ids[] = {0, 3};
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = (int64_t[]){2}};
  const gather_tensor rows = {.data = out, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = (int64_t[]){2, 2}};
  gather_tensor nowhere = indices;
  nowhere.data = NULL;
  gather_table_take_options wrong = GATHER_TABLE_TAKE_INIT;
  wrong.size = 3;
  const struct {
    gather_table *table;
    const gather_tensor *indices, *out;
    const gather_table_take_options *options;
  } TAKES[] = {{NULL, &indices, &rows, NULL},
               {table, NULL, &rows, NULL},
               {table, &indices, NULL, NULL},
               {table, &nowhere, &rows, NULL},
               {table, &indices, &rows, &wrong}};
  for (size_t i = 0; i < sizeof TAKES / sizeof *TAKES; i++) {
    assert_int_equal(gather_table_take(TAKES[i].table, TAKES[i].indices, TAKES[i].out, TAKES[i].options, &error), GATHER_USAGE);
    assert_int_equal(gather_table_submit(TAKES[i].table, TAKES[i].indices, TAKES[i].out, TAKES[i].options, &job, &error), GATHER_USAGE);
  }
  assert_int_equal(gather_table_submit(table, &indices, &rows, NULL, NULL, &error), GATHER_USAGE);
  assert_int_equal(gather_table_take(table, &indices, &rows, NULL, &error), GATHER_OK);
  gather_table_part part;
  gather_table_device device;
  assert_false(gather_table_part_at(table, 1, &part) || gather_table_part_at(table, -1, &part));
  assert_false(gather_table_device_at(table, 99, &device) || gather_table_device_at(table, -1, &device));
  gather_table_close(table);
  gather_file *file;
  assert_int_equal(file_open(file_at(path), &file, NULL), GATHER_OK);
  const gather_file_tensor *tensor = gather_file_at(file, 0);
  assert_int_equal(gather_file_codec_find(NULL, tensor, NULL, &codec, &error), GATHER_USAGE);
  assert_int_equal(gather_file_codec_find(file, NULL, NULL, &codec, &error), GATHER_USAGE);
  assert_int_equal(gather_file_codec_find(file, tensor, NULL, NULL, &error), GATHER_USAGE);
  gather_file_close(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, all_engines_enter, all_engines_leave)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_each_call), TEST(test_child), TEST(test_counts), TEST(test_lengths), TEST(test_misuse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
