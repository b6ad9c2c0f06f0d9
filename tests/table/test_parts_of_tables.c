/* SPDX-License-Identifier: MIT
 *
 * test_parts_of_tables.c: what no take shows by its rows alone: the cache finds every row that it has, memory that cannot be had leaves
 * nothing behind, mapped regions make room for others, and each row of a file that was cut is noticed.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/system/pages.h"
#include "gather/table.h"
#include "support/unit.h"
#include "support/wrapped.h"
#include "table/cache.h"
#include "table/known.h"
#include "table/resident.h"
#include "table/system/table_system.h"

/* ---- what the linker's --wrap puts before the library's own */

static int pages_made, pages_refused = -1; /* the number of the request that fails */

WRAPPED(void *, gather_pages_create, (int64_t bytes)) {
  if (pages_refused-- == 0) return NULL;
  void *pages = REAL(gather_pages_create)(bytes);
  pages_made += pages != NULL;
  return pages;
}

WRAPPED(void, gather_pages_destroy, (void *pages, int64_t bytes)) {
  pages_made -= pages != NULL;
  REAL(gather_pages_destroy)(pages, bytes);
}

/* A system where every page is resident, until it says so no more; and a clock that is set. */
static bool plays_system, is_resident = true;
static int64_t now, mapped_at[8], unmapped_at[8];
static int mapped_len, unmapped_len;

WRAPPED(int64_t, gather_pages_resident, (const gather_table_source *source, int64_t offset, int64_t bytes)) {
  if (!plays_system) return REAL(gather_pages_resident)(source, offset, bytes);
  return is_resident ? (bytes + GATHER_PAGE_BYTES - 1) / GATHER_PAGE_BYTES : 0;
}

WRAPPED(void, gather_pages_map, (const gather_table_source *source, int64_t offset, int64_t bytes)) {
  if (plays_system && mapped_len < 8) mapped_at[mapped_len++] = offset;
  if (!plays_system) REAL(gather_pages_map)(source, offset, bytes);
}

WRAPPED(void, gather_pages_unmap, (const gather_table_source *source, int64_t offset, int64_t bytes)) {
  if (plays_system && unmapped_len < 8) unmapped_at[unmapped_len++] = offset;
  if (!plays_system) REAL(gather_pages_unmap)(source, offset, bytes);
}

WRAPPED(int64_t, gather_clock_coarse, (void)) { return plays_system ? now : REAL(gather_clock_coarse)(); }

/* ---- the cache */

enum { CACHED = 500, CACHE_ROW = 24, MOST = 400, FOUND = -7 };

static void make_row(char *row, int64_t number) {
  for (int i = 0; i < CACHE_ROW; i++) row[i] = (char)(number * 31 + i);
}

/* In batches of every length: also the last of a batch, and none behind it. */
static void test_every_row_is_found(void **state) {
  gather_cache *cache = gather_cache_create(CACHE_ROW, 10000, 1 << 20);
  assert_non_null(cache);
  char row[CACHE_ROW];
  for (int64_t n = 0; n < CACHED; n++) {
    make_row(row, n);
    assert_true(gather_cache_put(cache, n, row, true) > 0);
  }
  for (int64_t count = 1; count <= MOST; count++) {
    int64_t rows[MOST + 1];
    static char out[(MOST + 1) * CACHE_ROW];
    memset(out, 0x55, sizeof out);
    for (int64_t j = 0; j <= count; j++) rows[j] = (j * 7 + count) % CACHED;
    const int64_t behind = rows[count];
    assert_int_equal(gather_cache_get(cache, rows, count, out, FOUND), count);
    for (int64_t j = 0; j < count; j++) {
      make_row(row, (j * 7 + count) % CACHED);
      assert_int_equal(rows[j], FOUND);
      assert_memory_equal(out + j * CACHE_ROW, row, CACHE_ROW);
    }
    assert_int_equal(rows[count], behind);
    for (int i = 0; i < CACHE_ROW; i++) assert_int_equal(out[count * CACHE_ROW + i], 0x55);
  }
  gather_cache_destroy(cache);
}

/* It has two mappings. Without either of them there is no cache, and nothing is left. */
static void test_mappings_that_are_refused(void **state) {
  for (int refused = 0; refused < 3; refused++) {
    pages_made = 0, pages_refused = refused;
    gather_cache *cache = gather_cache_create(CACHE_ROW, 10000, 1 << 20);
    assert_int_equal(cache != NULL, refused == 2);
    assert_int_equal(pages_made, refused == 2 ? 2 : 0);
    gather_cache_destroy(cache);
    assert_int_equal(pages_made, 0);
    pages_refused = -1;
  }
}

/* ---- mapped regions */

enum { REGIONS = 5, AT_ONCE = 2, REFUSALS = 4096, SECOND = 1000000000 };

static gather_where ask(gather_residency *residency, int region) {
  return gather_residency_ask(residency, (int64_t)region * GATHER_REGION_BYTES + 100, 64);
}

/* Room for two regions of five: the others are read without waiting, and after so many refusals the oldest makes room. */
static void test_regions_make_room(void **state) {
  static char nothing[1];
  gather_map_use use = {.most_bytes = (int64_t)AT_ONCE * GATHER_REGION_BYTES};
  gather_table_source source = {.fd = -1, .direct_fd = -1, .size = (int64_t)REGIONS * GATHER_REGION_BYTES, .map = nothing};
  gather_residency residency;
  plays_system = true, is_resident = true, now = SECOND, unmapped_len = mapped_len = 0;
  assert_true(gather_residency_open(&residency, &source, &use, false));
  assert_int_equal(ask(&residency, 0), GATHER_WHERE_MAPPED);
  assert_int_equal(ask(&residency, 1), GATHER_WHERE_MAPPED);
  assert_int_equal(use.bytes, use.most_bytes);
  for (int64_t i = 0; i < REFUSALS; i++) {
    assert_int_equal(ask(&residency, 2), GATHER_WHERE_PERHAPS);
    assert_int_equal(unmapped_len, i == REFUSALS - 1);
    assert_true(use.bytes <= use.most_bytes);
    now += 2 * (int64_t)SECOND; /* it is asked for again */
  }
  assert_int_equal(unmapped_at[0], 0);
  assert_int_equal(use.bytes, use.most_bytes - GATHER_REGION_BYTES);
  assert_int_equal(use.peak_bytes, use.most_bytes);
  assert_int_equal(ask(&residency, 2), GATHER_WHERE_MAPPED); /* in its place */
  assert_int_equal(use.bytes, use.most_bytes);
  assert_int_equal(ask(&residency, 1), GATHER_WHERE_MAPPED); /* which was not put out */
  assert_int_equal(ask(&residency, 0), GATHER_WHERE_PERHAPS);
  /* The hand goes on from there. */
  for (int64_t i = 1; i < REFUSALS; i++, now += 2 * (int64_t)SECOND) assert_int_equal(ask(&residency, 3), GATHER_WHERE_PERHAPS);
  assert_int_equal(unmapped_len, 2);
  assert_int_equal(unmapped_at[1], GATHER_REGION_BYTES);
  assert_int_equal(ask(&residency, 3), GATHER_WHERE_MAPPED);
  /* What the system took from memory gives its room back, too. */
  is_resident = false;
  gather_residency_doubt(&residency);
  for (int region = 0; region < REGIONS; region++) assert_int_equal(ask(&residency, region), GATHER_WHERE_ELSE);
  assert_int_equal(use.bytes, 0);
  assert_int_equal(use.peak_bytes, use.most_bytes);
  gather_residency_close(&residency);
  plays_system = false;
}

/* A region is mapped as a whole when so many of its rows were wanted; at once if many are announced. */
static void test_regions_are_mapped(void **state) {
  static char nothing[1];
  gather_map_use use = {.most_bytes = INT64_MAX};
  gather_table_source source = {.fd = -1, .direct_fd = -1, .size = (int64_t)REGIONS * GATHER_REGION_BYTES, .map = nothing};
  for (int eager = 0; eager < 2; eager++) {
    gather_residency residency;
    plays_system = true, is_resident = true, mapped_len = 0;
    assert_true(gather_residency_open(&residency, &source, &use, false));
    residency.eager = eager != 0;
    int asked = 0;
    while (mapped_len == 0 && asked < 100) {
      assert_int_equal(ask(&residency, 3), GATHER_WHERE_MAPPED);
      asked++;
    }
    assert_int_equal(asked, eager ? 1 : 9);
    assert_int_equal(mapped_at[0], (int64_t)3 * GATHER_REGION_BYTES);
    for (int i = 0; i < 300; i++) (void)ask(&residency, 3);
    assert_int_equal(mapped_len, 1);
    gather_residency_close(&residency);
    plays_system = false;
  }
}

/* ---- files that are cut */

#if !defined(_WIN32) /* which does not truncate what is mapped */
enum { ROW = 16, ROWS = 1024, CUT_ROWS = 4, IDS = 200000 };

/* Cut within the last page of the mapping, which then reads as zeros: only a look at the length notices. */
static void take_from_cut(int32_t parts, int64_t memory, int64_t count, int64_t at) {
  static int64_t ids[IDS + 1000];
  static char out[(size_t)IDS * ROW];
  char path[512], first[512];
  (void)snprintf(first, sizeof first, "%s", known_file("first", (int64_t)ROWS * ROW));
  (void)snprintf(path, sizeof path, "%s", known_file("cut", (int64_t)ROWS * ROW));
  const char *const paths[2] = {parts == 2 ? first : path, path};
  const int64_t shape[2] = {ROWS, ROW}, before = parts == 2 ? ROWS : 0;
  const gather_raw raw = {"uint8", 2, shape, 0, true};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table;
  gather_error error;
  options.engine = GATHER_ENGINE_MMAP, options.raw = &raw, options.memory_bytes = memory;
  assert_int_equal(gather_table_open_parts(paths, parts, &options, &table, &error), GATHER_OK);
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = &count};
  const int64_t out_shape[2] = {count, ROW};
  const gather_tensor to = {.data = out, .type = GATHER_TYPE_UINT8, .rank = 2, .shape = out_shape};
  for (int64_t i = 0; i < count; i++) ids[i] = i % (ROWS - CUT_ROWS);
  for (int64_t i = count; i < count + 1000; i++) ids[i] = before + ROWS - 1; /* behind them: not wanted */
  assert_int_equal(gather_table_take(table, &indices, &to, NULL, &error), GATHER_OK);
  assert_int_equal(truncate(path, (off_t)(ROWS - CUT_ROWS) * ROW), 0);
  assert_int_equal(gather_table_take(table, &indices, &to, NULL, &error), GATHER_OK);
  ids[at] = before + ROWS - CUT_ROWS;
  assert_int_equal(gather_table_take(table, &indices, &to, NULL, &error), GATHER_IO_ERROR);
  assert_int_equal(error.row, ids[at]);
  assert_int_equal(error.file_offset, (ROWS - CUT_ROWS) * ROW);
  gather_table_close(table);
}

/* Wherever the row is among the indices: they are looked at 256 at a time, and taken some thousands at a time. */
static void test_each_cut_row_is_noticed(void **state) {
  static const int64_t SOME[] = {0, 1, 255, 256, 257, 300, 511, 512, 599};
  static const int64_t MANY[] = {0, 4095, 4096, 16384, 65535, 65536, 65537, 70000, 131072, 150001, IDS - 1};
  for (int32_t parts = 1; parts <= 2; parts++) {
    for (size_t i = 0; i < sizeof SOME / sizeof *SOME; i++) take_from_cut(parts, 0, 600, SOME[i]);
    for (size_t i = 0; i < sizeof MANY / sizeof *MANY; i++) take_from_cut(parts, 1 << 20, IDS, MANY[i]);
  }
}
#endif

/* ---- several files */

typedef struct npy_part {
  const char *descr, *fortran, *shape; /* as its header has them */
  int64_t rows, columns;
} npy_part;

/* Row r of a table of int32 has the elements 10 r, 10 r + 1 ...; `first`: of the part. */
static void put_part(const char *path, const npy_part *part, int64_t first) {
  char header[128];
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
  const int length = snprintf(header + 10, sizeof header - 10, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", part->descr,
                              part->fortran, part->shape);
  header[10 + length] = ' ';
  header[127] = '\n';
  assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
  const bool by_columns = part->fortran[0] == 'T';
  for (int64_t i = 0; i < part->rows * part->columns; i++) {
    const int64_t row = first + (by_columns ? i % part->rows : i / part->columns);
    const int64_t column = by_columns ? i / part->rows : i % part->columns;
    const int64_t element = 10 * row + column;
    uint8_t bytes[4];
    for (int k = 0; k < 4; k++) bytes[part->descr[0] == '>' ? 3 - k : k] = (uint8_t)(element >> 8 * k);
    assert_int_equal(fwrite(bytes, 1, 4, file), 4);
  }
  assert_int_equal(fclose(file), 0);
}

static int32_t element_at(const gather_tensor *tensor, int64_t at) {
  const uint8_t *bytes = (const uint8_t *)tensor->data + 4 * at;
  const uint16_t one = 1;
  const bool is_big = *(const uint8_t *)&one == 0;
  const bool swapped = ((tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0) != is_big;
  uint32_t value = 0;
  for (int k = 0; k < 4; k++) value |= (uint32_t)bytes[swapped ? 3 - k : k] << 8 * k;
  return (int32_t)value;
}

/* All rows of a table of two parts. */
static void check_rows(gather_table *table, const npy_part parts[2]) {
  const int64_t rows = parts[0].rows + parts[1].rows, columns = parts[0].columns, shape[] = {rows, columns};
  int64_t numbers[16];
  int32_t elements[16 * 8];
  const gather_table_info *info = gather_table_describe(table);
  assert_true(info->rows == rows && rows <= 16 && columns <= 8);
  for (int64_t i = 0; i < rows; i++) numbers[i] = rows - 1 - i;
  gather_tensor indices = {.data = numbers, .type = GATHER_TYPE_INT64, .rank = 1, .shape = shape};
  gather_tensor out = {
      .data = elements, .type = GATHER_TYPE_INT32, .rank = 2, .shape = shape, .flags = info->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED};
  gather_error error;
  if (gather_table_take(table, &indices, &out, NULL, &error) != GATHER_OK) fail_msg("%s", error.message);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < columns; k++) assert_int_equal(element_at(&out, i * columns + k), 10 * (rows - 1 - i) + k);
}

static void test_files_that_are_one_table(void **state) {
#define C_ORDER "False"
#define F_ORDER "True"
  static const struct {
    npy_part parts[2];
    gather_status status;
    const char *words;
  } CASES[] = {
      {{{"<i4", C_ORDER, "(2, 3)", 2, 3}, {"<i4", C_ORDER, "(4, 3)", 4, 3}}, GATHER_OK, NULL},
      {{{">i4", C_ORDER, "(2, 3)", 2, 3}, {">i4", C_ORDER, "(4, 3)", 4, 3}}, GATHER_OK, NULL},
      {{{"<i4", C_ORDER, "(0, 3)", 0, 3}, {"<i4", C_ORDER, "(4, 3)", 4, 3}}, GATHER_OK, NULL},
      {{{"<i4", F_ORDER, "(2, 3)", 2, 3}, {"<i4", F_ORDER, "(4, 3)", 4, 3}}, GATHER_OK, NULL},
      {{{"<i4", F_ORDER, "(2, 3)", 2, 3}, {"<i4", C_ORDER, "(4, 3)", 4, 3}}, GATHER_OK, NULL},
      {{{"<i4", C_ORDER, "(2, 3)", 2, 3}, {"<i4", F_ORDER, "(4, 3)", 4, 3}}, GATHER_OK, NULL},
      {{{"<i4", C_ORDER, "(2, 3)", 2, 3}, {"<i2", C_ORDER, "(2, 6)", 2, 3}},
       GATHER_TYPE_MISMATCH,
       "its element type is int16, that of the first part is int32"},
      {{{"<i4", C_ORDER, "(2, 3)", 2, 3}, {">i4", C_ORDER, "(2, 3)", 2, 3}}, GATHER_TYPE_MISMATCH, " in the other byte order"},
      {{{"|S4", C_ORDER, "(2, 3)", 2, 3}, {"|S3", C_ORDER, "(2, 4)", 2, 3}}, GATHER_TYPE_MISMATCH, "that of the first part is |S4"},
      {{{"<i4", C_ORDER, "(2, 3)", 2, 3}, {"<i4", C_ORDER, "(2, 4)", 2, 4}},
       GATHER_SHAPE_MISMATCH,
       "rows have the shape [4], those of the first part [3]"},
      {{{"<i4", C_ORDER, "(2, 3)", 2, 3}, {"<i4", C_ORDER, "(2, 3, 1)", 2, 3}},
       GATHER_SHAPE_MISMATCH,
       "rows have the shape [3, 1], those of the first part [3]"},
      {{{"<i4", C_ORDER, "()", 1, 1}, {"<i4", C_ORDER, "(2, 3)", 2, 3}}, GATHER_RANK_MISMATCH, "rank 0 has no rows"},
      {{{"<i4", C_ORDER, "(2, 3)", 2, 3}, {"<i4", C_ORDER, "()", 1, 1}}, GATHER_RANK_MISMATCH, "rank 0 has no rows"},
      {{{"<i4", F_ORDER, "(2, 3)", 2, 3}, {"<i2", F_ORDER, "(4, 3)", 2, 3}},
       GATHER_TYPE_MISMATCH,
       "its element type is int16, that of the first part is int32"},
      {{{"<i4", F_ORDER, "(2, 3)", 2, 3}, {">i4", F_ORDER, "(2, 3)", 2, 3}}, GATHER_TYPE_MISMATCH, " in the other byte order"},
      {{{"<i4", F_ORDER, "(2, 3)", 2, 3}, {"<i4", F_ORDER, "(2, 4)", 2, 4}},
       GATHER_SHAPE_MISMATCH,
       "rows have the shape [4], those of the first part [3]"},
      {{{"<i4", F_ORDER, "(2, 3)", 2, 3}, {"<i4", F_ORDER, "(2, 3, 2)", 4, 3}},
       GATHER_SHAPE_MISMATCH,
       "rows have the shape [3, 2], those of the first part [3]"},
      {{{"<i4", F_ORDER, "(2, 3)", 2, 3}, {"<i4", C_ORDER, "()", 1, 1}}, GATHER_RANK_MISMATCH, "rank 0 has no rows"},
  };
  char folder[] = "/tmp/gather-parts-XXXXXX", paths[2][64];
  assert_non_null(mkdtemp(folder));
  const char *const names[] = {paths[0], paths[1]};
  for (int i = 0; i < 2; i++) (void)snprintf(paths[i], sizeof paths[i], "%s/%d.npy", folder, i);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_table *table = NULL;
    gather_error error;
    put_part(paths[0], &CASES[i].parts[0], 0);
    put_part(paths[1], &CASES[i].parts[1], CASES[i].parts[0].rows);
    const gather_status status = gather_table_open_parts(names, 2, NULL, &table, &error);
    if (status != CASES[i].status || (CASES[i].words && !strstr(error.message, CASES[i].words)))
      fail_msg("case %zu: status %d: %s", i, (int)status, status == GATHER_OK ? "" : error.message);
    if (status == GATHER_OK) check_rows(table, CASES[i].parts);
    if (status != GATHER_OK) assert_null(table);
    gather_table_close(table);
  }
  for (int i = 0; i < 2; i++) assert_int_equal(unlink(paths[i]), 0);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_files_that_are_one_table),
    cmocka_unit_test(test_every_row_is_found),
    cmocka_unit_test(test_mappings_that_are_refused),
    cmocka_unit_test(test_regions_make_room),
    cmocka_unit_test(test_regions_are_mapped),
#if !defined(_WIN32)
    cmocka_unit_test(test_each_cut_row_is_noticed),
#endif
  };
  return cmocka_run_group_tests(tests, known_enter, known_leave);
}
