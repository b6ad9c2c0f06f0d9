/* SPDX-License-Identifier: MIT
 *
 * test_safetensors_alloc.c: opening safetensors files when memory cannot be had: each allocation fails once, Jansson's too, and that
 * is what is said.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "io/format/failing_alloc.h"
#include "support/open_file.h"
#include "support/unit.h"

/* Sorted neither by name nor by place; a dtype that is not known, of whole bytes and not. */
static const char HEADER[] =
    "{\"__metadata__\":{\"a\":\"b\"},"
    "\"c\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]},"
    "\"b\":{\"dtype\":\"I24\",\"shape\":[1],\"data_offsets\":[0,3]},"
    "\"a\":{\"dtype\":\"I4\",\"shape\":[3],\"data_offsets\":[5,7]}}";
enum { HEADER_BYTES = (int)sizeof HEADER - 1, FILE_BYTES = 8 + HEADER_BYTES + 7 };

static uint8_t bytes[FILE_BYTES];

static void make_file(void) {
  bytes[0] = (uint8_t)(HEADER_BYTES & 255);
  bytes[1] = (uint8_t)(HEADER_BYTES >> 8);
  memcpy(bytes + 8, HEADER, HEADER_BYTES);
  memcpy(bytes + 8 + HEADER_BYTES, "abcdefg", 7);
}

static void look_at_tensors(const gather_file *file) {
  gather_error error;
  const gather_file_tensor *tensor = NULL;
  assert_int_equal(gather_file_len(file), 3);
  assert_int_equal(gather_file_find(file, "c", &tensor, &error), GATHER_OK);
  assert_memory_equal(tensor->tensor.data, "de", 2);
  assert_int_equal(gather_file_find(file, "b", &tensor, &error), GATHER_OK);
  assert_int_equal(tensor->tensor.item_bytes, 3);
  assert_int_equal(gather_file_find(file, "a", &tensor, &error), GATHER_OK);
  assert_int_equal(gather_file_tensor_check(tensor, &error), GATHER_UNSUPPORTED);
}

static gather_status open_memory(gather_file **file, gather_error *error) {
  return file_open(file_in(bytes, sizeof bytes, "a.safetensors"), file, error);
}

static void test_one_file(void **state) {
  make_file();
  assert_true(failing_each_alloc(open_memory, look_at_tensors) >= 15);
}

/* ---- an index: a file that is there, one that is not */

static char folder[64], path[80], beside[80];

static int enter_folder(void **state) {
  static const char INDEX[] = "{\"metadata\":{},\"weight_map\":{\"c\":\"s\",\"z\":\"missing\",\"b\":\"s\",\"y\":\"s\",\"a\":\"s\"}}";
  (void)strcpy(folder, "/tmp/gather-test-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(path, sizeof path, "%s/i.json", folder);
  (void)snprintf(beside, sizeof beside, "%s/s", folder);
  make_file();
  put_content(path, INDEX, sizeof INDEX - 1);
  put_content(beside, bytes, sizeof bytes);
  return 0;
}

static int leave_folder(void **state) {
  (void)unlink(path);
  (void)unlink(beside);
  return rmdir(folder);
}

static gather_status open_path(gather_file **file, gather_error *error) { return file_open(file_at(path), file, error); }

static void look_at_index(const gather_file *file) {
  gather_error error;
  static const gather_status STATUSES[] = {GATHER_OK, GATHER_FILE_NOT_FOUND, GATHER_OK, GATHER_FILE_MALFORMED, GATHER_UNSUPPORTED};
  assert_int_equal(gather_file_len(file), 5);
  for (int64_t i = 0; i < 5; i++) assert_int_equal(gather_file_tensor_check(gather_file_at(file, i), &error), STATUSES[i]);
  assert_memory_equal(gather_file_at(file, 0)->tensor.data, "de", 2);
}

static void test_an_index(void **state) {
  const long count = failing_each_alloc(open_path, look_at_index);
  assert_true(count >= 40 && count < 60); /* a file that holds several of the tensors is read once */
}

/* ---- Jansson's own allocations */

static void fail_each_of_jansson(failing_open *open, failing_look *look) {
  const long without = failing_each_alloc(open, look);
  json_set_alloc_funcs(failing_take, free);
  assert_true(failing_each_alloc(open, look) > without + 20);
  json_set_alloc_funcs(malloc, free);
}

static void test_jansson(void **state) {
  fail_each_of_jansson(open_memory, look_at_tensors);
  fail_each_of_jansson(open_path, look_at_index);
}

/* Texts for which Jansson's buffer grows, and which are longer in the file than decoded: without memory it drops one of their bytes. */
static const char LONG_TEXTS[] =
    "{\"sixteen bytes and more of them, to be sure \\u00e9\\u20ac\\ud83d\\uDE00\\n\\\\\\u0041\\/\":"
    "{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
    "\"model.layers.11.self_attention.query_key_value.weight\":"
    "{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[2,5]}}";

static gather_status open_long_texts(gather_file **file, gather_error *error) {
  static uint8_t content[8 + sizeof LONG_TEXTS - 1 + 5];
  content[0] = (uint8_t)((sizeof LONG_TEXTS - 1) & 255);
  content[1] = (uint8_t)((sizeof LONG_TEXTS - 1) >> 8);
  memcpy(content + 8, LONG_TEXTS, sizeof LONG_TEXTS - 1);
  return file_open(file_in(content, sizeof content, "long.safetensors"), file, error);
}

static void look_at_long_texts(const gather_file *file) {
  assert_string_equal(gather_file_at(file, 0)->name,
                      "sixteen bytes and more of them, to be sure \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n\\A/");
  assert_string_equal(gather_file_at(file, 1)->name, "model.layers.11.self_attention.query_key_value.weight");
}

static void test_long_texts(void **state) { fail_each_of_jansson(open_long_texts, look_at_long_texts); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_file),
      cmocka_unit_test_setup_teardown(test_an_index, enter_folder, leave_folder),
      cmocka_unit_test_setup_teardown(test_jansson, enter_folder, leave_folder),
      cmocka_unit_test(test_long_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
