/* SPDX-License-Identifier: MIT
 *
 * replay.c: main() for the fuzz targets without a fuzzer: runs every file of the folders named as arguments through the target,
 * and every beginning of it. A folder without files is a failure. GATHER_TEST_HOSTILE=n, for slow emulators: beginnings n times as
 * far apart; whole files are all run.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

/* Beginnings of longer files are only taken in steps, so that a replay takes seconds. */
enum { EVERY_BEGINNING = 2048, STEP = 97 };

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
  long length = ftell(file);
  uint8_t *bytes = length < 0 ? NULL : malloc((size_t)length + 1);
  *size = 0;
  if (bytes && fseek(file, 0, SEEK_SET) == 0) *size = fread(bytes, 1, (size_t)length, file);
  (void)fclose(file);
  return bytes && *size == (size_t)length ? bytes : NULL;
}

/* Each beginning in memory of exactly its size: reading behind it is seen by a sanitizer. */
static void run_beginning(const uint8_t *bytes, size_t size) {
  uint8_t *exact = malloc(size ? size : 1);
  if (!exact) abort();
  for (size_t i = 0; i < size; i++) exact[i] = bytes[i];
  (void)LLVMFuzzerTestOneInput(exact, size);
  free(exact);
}

static size_t sparser(void) {
  const char *text = getenv("GATHER_TEST_HOSTILE");
  const long n = text ? strtol(text, NULL, 10) : 0;
  return n > 1 ? (size_t)n : 1;
}

static bool run_file(const char *path, size_t step) {
  size_t size;
  uint8_t *bytes = read_file(path, &size);
  if (!bytes) return false;
  for (size_t part = 0; part < size; part += step * (part < EVERY_BEGINNING ? 1 : STEP)) run_beginning(bytes, part);
  run_beginning(bytes, size);
  free(bytes);
  return true;
}

static int run_folder(const char *folder) {
  DIR *entries = opendir(folder);
  const size_t step = sparser();
  int count = 0;
  if (!entries) return -1;
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
    char path[4096];
    struct stat about;
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) continue;
    if (!run_file(path, step)) return -1;
    count++;
  }
  (void)closedir(entries);
  return count;
}

int main(int argc, char **argv) {
  int total = 0;
  for (int i = 1; i < argc; i++) {
    int count = run_folder(argv[i]);
    if (count <= 0) {
      (void)fprintf(stderr, "%s: no files, or one that cannot be read\n", argv[i]);
      return 1;
    }
    total += count;
  }
  (void)printf("%d files and their beginnings\n", total);
  return total > 0 ? 0 : 1;
}
