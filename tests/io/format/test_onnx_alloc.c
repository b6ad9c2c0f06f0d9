/* SPDX-License-Identifier: MIT
 *
 * test_onnx_alloc.c: opening a model when memory cannot be had: each allocation fails once, and that is what is said.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "io/format/failing_alloc.h"
#include "io/format/graph.h"
#define MESSAGE_BYTES 100000
#include "support/message.h"
#include "support/open_file.h"
#include "support/unit.h"

static message table, node, graph, model;

/* A name that is longer than a block of the arena gets one of its own: so more than the first allocation counts. */
static char long_name[20000];

enum { NUMBERS = 9000 };

static void make_table(void) {
  static uint8_t ones[NUMBERS];
  memset(ones, 1, sizeof ones);
  memset(&table, 0, sizeof table);
  add_number(&table, 1, NUMBERS);
  add_number(&table, 2, 7);
  add_block(&table, 7, ones, sizeof ones);
  add_block(&table, 8, long_name, sizeof long_name);
}

static void make_model(void) {
  memset(long_name, 'n', sizeof long_name);
  make_table();
  memset(&node, 0, sizeof node);
  add_block(&node, 1, long_name, sizeof long_name);
  add_block(&node, 2, long_name, sizeof long_name);
  add_block(&node, 4, "Gather", 6);
  memset(&graph, 0, sizeof graph);
  add_block(&graph, 1, node.bytes, node.size);
  add_block(&graph, 5, table.bytes, table.size);
  memset(&model, 0, sizeof model);
  add_number(&model, 1, 8);
  add_block(&model, 7, graph.bytes, graph.size);
}

static gather_status open_model(gather_file **file, gather_error *error) {
  return file_open(file_in(model.bytes, model.size, "model"), file, error);
}

static void look_at_model(const gather_file *file) {
  assert_int_equal(gather_file_len(file), 1);
  const gather_file_tensor *tensor = gather_file_at(file, 0);
  assert_int_equal(((const int64_t *)tensor->tensor.data)[NUMBERS - 1], 1);
  assert_int_equal(gather_file_graph(file)->graph->node_count, 1);
}

static void test_a_model(void **state) {
  make_model();
  assert_true(failing_each_alloc(open_model, look_at_model) >= 6);
}

/* ---- elements of 6 bits: a list, and raw bytes that end before the last group does */

enum { FLOAT6E2M3 = 27 };

static gather_status open_table(gather_file **file, gather_error *error) {
  return file_open(file_in(table.bytes, table.size, "table"), file, error);
}

static void look_at_six_bits(const gather_file *file) {
  static const uint8_t stream[6] = {0x41, 0x30, 0x10, 5};
  const gather_file_tensor *tensor = gather_file_at(file, 0);
  assert_int_equal(tensor->tensor.type, GATHER_TYPE_FLOAT6_E2M3FN);
  assert_int_equal(tensor->bytes, sizeof stream);
  assert_memory_equal(tensor->tensor.data, stream, sizeof stream);
}

static void test_six_bits(void **state) {
  static const uint8_t listed[] = {1, 1, 3, 4, 5}, raw[] = {0x41, 0x30, 0x10, 5};
  for (int is_raw = 0; is_raw < 2; is_raw++) {
    memset(&table, 0, sizeof table);
    add_number(&table, 1, 5);
    add_number(&table, 2, FLOAT6E2M3);
    if (is_raw)
      add_block(&table, 9, raw, sizeof raw);
    else
      add_block(&table, 5, listed, sizeof listed);
    assert_true(failing_each_alloc(open_table, look_at_six_bits) >= 3);
  }
}

/* ---- a table in another file, which is there or not */

static char folder[64], path[80], beside[80];

static int enter_folder(void **state) {
  static message entry;
  (void)strcpy(folder, "/tmp/gather-test-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(path, sizeof path, "%s/m.onnx", folder);
  (void)snprintf(beside, sizeof beside, "%s/w.bin", folder);
  memset(&entry, 0, sizeof entry);
  add_block(&entry, 1, "location", 8);
  add_block(&entry, 2, "w.bin", 5);
  memset(&table, 0, sizeof table);
  add_number(&table, 1, 3);
  add_number(&table, 2, 2);
  add_block(&table, 8, "w", 1);
  add_block(&table, 13, entry.bytes, entry.size);
  add_number(&table, 14, 1);
  memset(&graph, 0, sizeof graph);
  add_block(&graph, 5, table.bytes, table.size);
  memset(&model, 0, sizeof model);
  add_number(&model, 1, 8);
  add_block(&model, 7, graph.bytes, graph.size);
  put_content(path, model.bytes, model.size);
  return 0;
}

static int leave_folder(void **state) {
  (void)unlink(path);
  (void)unlink(beside);
  return rmdir(folder);
}

static gather_status open_path(gather_file **file, gather_error *error) { return file_open(file_at(path), file, error); }

static void look_at_missing(const gather_file *file) {
  gather_error error;
  const gather_file_tensor *tensor = gather_file_at(file, 0);
  assert_null(tensor->tensor.data);
  assert_int_equal(gather_file_tensor_check(tensor, &error), GATHER_FILE_NOT_FOUND);
  assert_string_equal(error.file, beside);
}

static void look_at_outside(const gather_file *file) { assert_memory_equal(gather_file_at(file, 0)->tensor.data, "abc", 3); }

static void test_a_table_outside(void **state) {
  const long missing = failing_each_alloc(open_path, look_at_missing);
  put_content(beside, "abc", 3);
  const long there = failing_each_alloc(open_path, look_at_outside);
  assert_true(missing >= 8 && there >= 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_model),
      cmocka_unit_test(test_six_bits),
      cmocka_unit_test_setup_teardown(test_a_table_outside, enter_folder, leave_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
