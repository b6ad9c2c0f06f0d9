/* SPDX-License-Identifier: MIT
 *
 * test_onnx_alloc.c: opening a model when memory cannot be had: each allocation fails once, and that is what is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/graph.h"
#include "gather/file.h"

void *__real_gather_alloc(int64_t bytes);
void *__wrap_gather_alloc(int64_t bytes);

static int calls, failing_call;

void *__wrap_gather_alloc(int64_t bytes) { return calls++ == failing_call ? NULL : __real_gather_alloc(bytes); }

/* A message while it is made. */
typedef struct message {
  uint8_t bytes[100000];
  size_t size;
} message;

static void add_varint(message *m, uint64_t value) {
  for (; value > 127; value >>= 7) m->bytes[m->size++] = (uint8_t)(value | 128);
  m->bytes[m->size++] = (uint8_t)value;
}

static void add_block(message *m, unsigned field, const void *content, size_t bytes) {
  add_varint(m, field << 3 | 2);
  add_varint(m, bytes);
  memcpy(m->bytes + m->size, content, bytes);
  m->size += bytes;
}

static void add_number(message *m, unsigned field, uint64_t value) {
  add_varint(m, field << 3);
  add_varint(m, value);
}

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

static void test_each_allocation(void **state) {
  (void)state;
  make_model();
  for (failing_call = 0;; failing_call++) {
    gather_file *file;
    gather_error error;
    calls = 0;
    gather_status status = gather_file_from_memory(model.bytes, model.size, "model", &file, &error);
    if (calls <= failing_call) {
      assert_int_equal(status, GATHER_OK);
      assert_int_equal(gather_file_len(file), 1);
      const gather_file_tensor *tensor = gather_file_at(file, 0);
      assert_int_equal(((const int64_t *)tensor->tensor.data)[NUMBERS - 1], 1);
      assert_int_equal(gather_file_graph(file)->graph->node_count, 1);
      gather_file_close(file);
      assert_true(failing_call >= 6);
      return;
    }
    assert_int_equal(status, GATHER_OUT_OF_MEMORY);
    assert_int_equal(error.status, GATHER_OUT_OF_MEMORY);
    assert_true(error.message[0] != '\0');
    assert_null(file);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
