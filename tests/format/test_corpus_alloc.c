/* SPDX-License-Identifier: MIT
 *
 * test_corpus_alloc.c: opening the files of the fuzzer's corpus, good and wrong ones, when memory cannot be had: each allocation fails
 * once, and that is what is said. GATHER_TEST_CORPUS names the folder that the corpus is in.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "format/failing_alloc.h"
#include "format/format_open.h"

static const char *const FOLDERS[] = {"npy", "npz", "arrow"};
static char path[4096];
static int opened;

static gather_status open_path(gather_file **file, gather_error *error) { return gather_file_open(path, file, error); }

/* As a remote file, of which each need is loaded by itself. */
static gather_status read_local(void *context, const gather_map_range *ranges, int64_t count, uint8_t *memory,
                                gather_error *error) {
  const gather_map *map = context;
  (void)error;
  for (int64_t i = 0; i < count; i++)
    memcpy(memory + ranges[i].offset, map->bytes + ranges[i].offset, (size_t)ranges[i].bytes);
  return GATHER_OK;
}

static void keep_open(void *context) { (void)context; }

static gather_status open_remote(gather_file **file, gather_error *error) {
  static gather_map map; /* of the file that is open */
  gather_map_close(&map);
  GATHER_TRY(gather_map_open(path, &map, error));
  const gather_map_source source = {
      .context = &map, .size = map.size, .read = read_local, .close = keep_open, .exact = true};
  return gather_file_from_source(&source, path, file, error);
}

static void look(const gather_file *file) {
  opened++;
  assert_true(gather_file_len(file) >= 0);
}

/* A file that is refused asks for memory as well until it is. */
static int fail_in_folder(const char *corpus, const char *name,
                          gather_status (*open_it)(gather_file **file, gather_error *error)) {
  char folder[3000];
  int allocations = 0;
  (void)snprintf(folder, sizeof folder, "%s/%s", corpus, name);
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    struct stat about;
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) allocations += failing_each_alloc_of_any(open_it, look);
  }
  (void)closedir(entries);
  return allocations;
}

static void fail_in_folders(gather_status (*open_it)(gather_file **file, gather_error *error)) {
  const char *corpus = getenv("GATHER_TEST_CORPUS");
  assert_non_null(corpus);
  for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
    opened = 0;
    int allocations = fail_in_folder(corpus, FOLDERS[i], open_it);
    assert_true(allocations > 100 && opened > 10);
    (void)printf("%s: %d allocations, %d files opened\n", FOLDERS[i], allocations, opened);
  }
}

static void test_local_files(void **state) {
  (void)state;
  fail_in_folders(open_path);
}

static void test_remote_files(void **state) {
  (void)state;
  fail_in_folders(open_remote);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_local_files), cmocka_unit_test(test_remote_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
