/* SPDX-License-Identifier: MIT
 *
 * shuffled.c: a table, and shuffles of it.
 */
#include "table/shuffle/shuffled.h"
#include "support/open_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const gather_executor *shuffled_executor;
static char folder[64];

void shuffled_make(const char *path, int32_t first, int32_t rows) {
  const int64_t shape[] = {rows, WIDTH};
  const gather_writing what = {.type = GATHER_TYPE_INT32, .rank = 2, .shape = shape};
  gather_file_target target = file_to(path, &what);
  gather_writer *writer = NULL;
  target.no_sync = true;
  assert_status(gather_writer_create(&target, &writer, NULL), GATHER_OK);
  int32_t *elements = gather_writer_data_at(writer, 0);
  for (int32_t i = 0; i < rows * WIDTH; i++) elements[i] = first * WIDTH + i;
  assert_status(gather_writer_commit(writer, NULL), GATHER_OK);
}

int shuffled_begin(void **state) {
  /* In memory where that can be had: each shuffle waits for the disk several times. */
  (void)snprintf(folder, sizeof folder, "%s/gather-shuffled-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
  shuffled_make("x.npy", 0, ROWS);
  return 0;
}

void shuffled_clean(void) {
  static const char *const FILES[] = {"rows", "places", "pairs", "journal", "journal.new", "lock"};
  char path[64];
  for (size_t i = 0; i < COUNT(FILES); i++) {
    (void)snprintf(path, sizeof path, "%s/%s", FOLDER, FILES[i]);
    (void)unlink(path);
  }
  (void)rmdir(FOLDER);
  (void)unlink(FOLDER ".done");
  (void)unlink("o.npy");
}

int shuffled_end(void **state) {
  shuffled_clean();
  (void)unlink("x.npy");
  return chdir("/") == 0 ? rmdir(folder) : -1;
}

gather_shuffle_options shuffled_options(int64_t seed, int32_t passes) {
  gather_shuffle_options options = GATHER_SHUFFLE_OPTIONS_INIT;
  options.seed = seed;
  options.passes = passes;
  options.memory_bytes = MEMORY;
  options.engine = GATHER_ENGINE_PREAD;
  options.depth = 4; /* the file is in memory: more readers wait for each other longer than for it */
  return options;
}

gather_status shuffled_run(const gather_shuffle_options *options, const gather_tensor *order, gather_shuffle_info *info,
                           gather_error *error) {
  static const char *const PATHS[] = {"x.npy"};
  gather_shuffle *shuffle = NULL;
  gather_status status = gather_shuffle_create(PATHS, 1, "o.npy", options, &shuffle, error);
  if (status != GATHER_OK) return status;
  status = gather_shuffle_plan(shuffle, order, NULL, error);
  if (status == GATHER_OK) status = gather_shuffle_run(shuffle, shuffled_executor, error);
  if (info) *info = *gather_shuffle_describe(shuffle); /* its pointers end here */
  gather_shuffle_close(shuffle);
  return status;
}

void shuffled_check(const int64_t *rows, int64_t len) {
  gather_file *file = NULL;
  const gather_file_tensor *tensor = NULL;
  assert_status(file_open(file_at("o.npy"), &file, NULL), GATHER_OK);
  assert_status(gather_file_find(file, "", &tensor, NULL), GATHER_OK);
  const int32_t *elements = tensor->tensor.data;
  assert_int_equal(gather_tensor_len(&tensor->tensor), len * WIDTH);
  for (int64_t i = 0; i < len; i++)
    for (int64_t j = 0; j < WIDTH; j++)
      if (elements[i * WIDTH + j] != rows[i] * WIDTH + j) fail_msg("row %ld is wrong", (long)i);
  gather_file_close(file);
  assert_int_equal(unlink("o.npy"), 0);
}

void shuffled_check_seed(int64_t seed) {
  static int64_t rows[ROWS];
  assert_status(gather_shuffle_rows(seed, ROWS, 0, ROWS, rows, NULL), GATHER_OK);
  shuffled_check(rows, ROWS);
}

bool shuffled_exists(const char *name) {
  struct stat about;
  return lstat(name, &about) == 0;
}
