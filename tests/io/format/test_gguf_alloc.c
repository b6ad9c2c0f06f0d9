/* SPDX-License-Identifier: MIT
 *
 * test_gguf_alloc.c: opening a GGUF file when memory cannot be had: each allocation fails once, and that is what is said.
 */
#include "io/format/failing_alloc.h"
#include "support/open_file.h"

/* Little-endian, version 3: three tensors, sorted neither by name nor by place, of which the last is of a type not known. */
static uint8_t bytes[512];
static size_t size;

static void add_number(uint64_t value, int width) {
  for (int i = 0; i < width; i++) bytes[size++] = (uint8_t)(value >> (8 * i));
}

static void add_tensor(const char *name, uint64_t length, uint32_t type, uint64_t place) {
  add_number(strlen(name), 8);
  memcpy(bytes + size, name, strlen(name));
  size += strlen(name);
  add_number(1, 4);
  add_number(length, 8);
  add_number(type, 4);
  add_number(place, 8);
}

static void make_file(void) {
  size = 0;
  memset(bytes, 0, sizeof bytes);
  memcpy(bytes, "GGUF", 4);
  size = 4;
  add_number(3, 4);
  add_number(3, 8);
  add_number(0, 8);
  add_tensor("b", 3, 24, 32);
  add_tensor("c", 32, 2, 64);
  add_tensor("a", 9, 99, 0);
  size = (size + 31) / 32 * 32 + 64 + 18;
  bytes[size - 18 - 64 + 32] = 7;
}

static gather_status open_file(gather_file **file, gather_error *error) { return file_open(file_in(bytes, size, "a.gguf"), file, error); }

static void look(const gather_file *file) {
  gather_error error;
  assert_int_equal(gather_file_len(file), 3);
  assert_int_equal(*(const uint8_t *)gather_file_at(file, 0)->tensor.data, 7);
  assert_int_equal(gather_file_at(file, 1)->bytes, 18);
  assert_int_equal(gather_file_tensor_check(gather_file_at(file, 2), &error), GATHER_UNSUPPORTED);
}

static void test_each_allocation(void **state) {
  make_file();
  assert_true(failing_each_alloc(open_file, look) >= 14);
}

TESTS(test_each_allocation)
