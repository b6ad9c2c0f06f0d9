/* SPDX-License-Identifier: MIT
 *
 * test_counted_heap.c: opening and writing files fails cleanly when any one of the allocations fails, also those of the C library, and
 * gives back what it had.
 */
#include <unistd.h>

#include "gather/file.h"
#include "support/fail_each.h"
#include "support/open_file.h"

/* A small .npy file of two float32. */
static size_t make_npy(char *to, size_t room) {
  static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  memset(to, ' ', room);
  memcpy(to, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy(to + 10, header, sizeof header - 1);
  to[127] = '\n';
  memset(to + 128, 0, 8);
  return 136;
}

static char npy[256], npy_path[64], out_path[64];

static gather_status use_file(gather_status status, gather_file *file, gather_error *error) {
  if (status != GATHER_OK) return status;
  const gather_file_tensor *tensor;
  status = gather_file_find(file, "", &tensor, error);
  gather_file_close(file);
  return status;
}

static gather_status make_file(gather_error *error) {
  gather_file *file = NULL;
  gather_status status = file_open(file_at(npy_path), &file, error);
  return use_file(status, file, error);
}

static gather_status make_memory_file(gather_error *error) {
  gather_file *file = NULL;
  gather_status status = file_open(file_in(npy, 136, "name"), &file, error);
  return use_file(status, file, error);
}

static gather_status make_raw_file(gather_error *error) {
  gather_file *file = NULL;
  gather_raw raw = {">f4", 2, DIMS(2, 17), 0, true};
  gather_status status = file_open_raw(file_at(npy_path), &raw, &file, error);
  return use_file(status, file, error);
}

static void files(void **state) {
  assert_true(fail_making(make_file) >= 1);
  assert_true(fail_making(make_memory_file) >= 1);
  assert_true(fail_making(make_raw_file) >= 1);
}

static gather_status write_file(const char *format, gather_error *error) {
  gather_writer *writer = NULL;
  const gather_writing what = {.type = GATHER_TYPE_FLOAT32, .name = "x", .rank = 2, .shape = DIMS(2, 3)};
  gather_file_target target = file_to(out_path, &what);
  target.format = format;
  target.replace = true;
  gather_status status = gather_writer_create(&target, &writer, error);
  return status == GATHER_OK ? gather_writer_commit(writer, error) : status;
}

static gather_status write_npy(gather_error *error) { return write_file("npy", error); }
static gather_status write_raw(gather_error *error) { return write_file("raw", error); }
static gather_status write_pb(gather_error *error) { return write_file("pb", error); }

static gather_status abandon_npy(gather_error *error) {
  gather_writer *writer = NULL;
  const gather_writing what = {.type = GATHER_TYPE_INT8, .rank = 1, .shape = DIMS(3)};
  gather_file_target target = file_to(out_path, &what);
  target.replace = true;
  gather_status status = gather_writer_create(&target, &writer, error);
  gather_writer_abort(writer);
  return status;
}

static void writers(void **state) {
  assert_true(fail_making(write_npy) >= 1);
  assert_true(fail_making(write_raw) >= 1);
  assert_true(fail_making(write_pb) >= 1);
  assert_true(fail_making(abandon_npy) >= 1);
}

static int create_files(void **state) {
  snprintf(npy_path, sizeof npy_path, "gather-test-alloc-%ld.npy", (long)getpid());
  snprintf(out_path, sizeof out_path, "gather-test-alloc-%ld-out.npy", (long)getpid());
  size_t bytes = make_npy(npy, sizeof npy);
  FILE *file = fopen(npy_path, "wb");
  if (!file || fwrite(npy, 1, bytes, file) != bytes) return -1;
  return fclose(file);
}

static int remove_files(void **state) {
  remove(out_path);
  return remove(npy_path);
}

TESTS_WITHIN(create_files, remove_files, files, writers)
