/* SPDX-License-Identifier: MIT
 *
 * test_corpus_alloc.c: opening the files of the fuzzer's corpus, good and wrong ones, when memory cannot be had, or bytes cannot be read:
 * each allocation and each read fails once, and that is what is said. GATHER_TEST_CORPUS names the folder that the corpus is in.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <sys/stat.h>

#include "io/format/failing_alloc.h"
#include "io/format/format.h"
#include "support/open_file.h"

/* Those that the build reads; the first ones also without memory, as test_format_alloc.c does for the others. */
static const char *const FOLDERS[] = {"npy",         "npz",   "arrow", "hdf5", "gguf",
#if defined(GATHER_HAVE_JANSSON)
                                      "safetensors",
#endif
#if defined(GATHER_HAVE_NANOPB)
                                      "onnx",        "check",
#endif
#if defined(GATHER_HAVE_EXPAT)
                                      "ir"
#endif
};
enum { WITHOUT_MEMORY = 4 };
static char path[4096];
static int opened;
static int reads, failing_read = -1;

static gather_status open_path(gather_file **file, gather_error *error) { return file_open(file_at(path), file, error); }

/* As a remote file, of which each need is loaded by itself. */
static gather_status read_local(void *context, const gather_map_range *ranges, int64_t count, uint8_t *memory, gather_error *error) {
  const gather_map *map = context;
  if (reads++ == failing_read) return gather_fail_file(error, GATHER_IO_ERROR, path, ranges->offset, "the server is gone");
  for (int64_t i = 0; i < count; i++) memcpy(memory + ranges[i].offset, map->bytes + ranges[i].offset, (size_t)ranges[i].bytes);
  return GATHER_OK;
}

static void keep_open(void *context) { (void)context; }

static gather_status open_remote(gather_file **file, gather_error *error) {
  static gather_map map; /* of the file that is open */
  gather_map_close(&map);
  GATHER_TRY(gather_map_open(path, &map, error));
  const gather_map_source source = {.context = &map, .size = map.size, .read = read_local, .close = keep_open, .exact = true};
  GATHER_TRY(gather_file_from_source(&source, path, file, error));
  const gather_status status = failing_download(*file, error);
  if (status == GATHER_OK) return GATHER_OK;
  gather_file_close(*file);
  *file = NULL;
  return status;
}

static void look(const gather_file *file) {
  opened++;
  assert_true(gather_file_len(file) >= 0);
}

/* Calls it for the paths of all files of a folder; returns the sum of what it returns. */
static int sum_over_folder(const char *name, int (*count)(void)) {
  const char *corpus = getenv("GATHER_TEST_CORPUS");
  char folder[3000];
  int sum = 0;
  assert_non_null(corpus);
  (void)snprintf(folder, sizeof folder, "%s/%s", corpus, name);
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    struct stat about;
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) sum += count();
  }
  (void)closedir(entries);
  return sum;
}

/* ---- memory */

/* A file that is refused asks for memory as well until it is. */
static int fail_allocations_of_path(void) { return (int)failing_each_alloc_of_any(open_path, look); }
static int fail_allocations_of_remote(void) { return (int)failing_each_alloc_of_any(open_remote, look); }

static void fail_in_folders(int (*count)(void)) {
  for (size_t i = 0; i < WITHOUT_MEMORY; i++) {
    opened = 0;
    const int allocations = sum_over_folder(FOLDERS[i], count);
    assert_true(allocations > 100 && opened > 10);
    (void)printf("%s: %d allocations, %d files opened\n", FOLDERS[i], allocations, opened);
  }
}

static void test_local_files(void **state) { fail_in_folders(fail_allocations_of_path); }

static void test_remote_files(void **state) { fail_in_folders(fail_allocations_of_remote); }

/* ---- reads */

/* Whatever the reader was about to say of the file, the read that failed is what is said. Returns how many reads there are. */
static int fail_reads(void) {
  for (int number = 0;; number++) {
    gather_file *file = NULL;
    gather_error error;
    reads = 0, failing_read = number;
    const gather_status status = open_remote(&file, &error);
    failing_read = -1;
    if (reads <= number) {
      if (status == GATHER_OK) look(file);
      gather_file_close(file);
      return number;
    }
    if (status != GATHER_IO_ERROR) fail_msg("%s, read %d: status %d: %s", path, number, (int)status, error.message);
    assert_int_equal(error.status, GATHER_IO_ERROR);
    assert_non_null(strstr(error.message, "the server is gone"));
    assert_null(file);
  }
}

static void test_reads_that_fail(void **state) {
  for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
    opened = 0;
    const int all = sum_over_folder(FOLDERS[i], fail_reads);
    (void)printf("%s: %d reads, %d files opened\n", FOLDERS[i], all, opened);
    assert_true(all > 30 && opened > 2);
  }
}

TESTS(test_local_files, test_remote_files, test_reads_that_fail)
