/* SPDX-License-Identifier: MIT
 *
 * test_windows_names.c: names of files on Windows: changed and deleted while the file is open, with every character, of any length.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gather/file.h"
#include "platforms/windows_support.h"
#include "support/open_file.h"

enum { ELEMENTS = 6 };

void windows_write(const char *path, bool replace, int32_t first) {
  const int64_t shape[] = {ELEMENTS};
  const gather_writing what = {.type = GATHER_TYPE_INT32, .rank = 1, .shape = shape};
  gather_file_target target = file_to(path, &what);
  gather_writer *writer;
  gather_error error;
  target.replace = replace;
  if (gather_writer_create(&target, &writer, &error) != GATHER_OK) fail_msg("%s", error.message);
  int32_t *elements = gather_writer_data_at(writer, 0);
  for (int32_t i = 0; i < ELEMENTS; i++) elements[i] = first + i;
  if (gather_writer_commit(writer, &error) != GATHER_OK) fail_msg("%s", error.message);
}

int32_t windows_first(const char *path) {
  gather_file *file;
  gather_error error;
  int32_t first;
  if (file_open(file_at(path), &file, &error) != GATHER_OK) fail_msg("%s", error.message);
  memcpy(&first, gather_file_at(file, 0)->tensor.data, sizeof first);
  gather_file_close(file);
  return first;
}

/* The files of a folder whose names begin so. */
static int count_names(const char *folder, const char *begin) {
  DIR *names = opendir(folder);
  int count = 0;
  assert_non_null(names);
  for (struct dirent *entry; (entry = readdir(names)) != NULL;) count += strncmp(entry->d_name, begin, strlen(begin)) == 0;
  assert_int_equal(closedir(names), 0);
  return count;
}

/* Who has the old file open goes on reading it, as on POSIX; nothing is left of it when it is closed. */
void windows_replaces_an_open_file(void **state) {
  int32_t kept;
  (void)state;
  windows_write("open.npy", false, 100);
  int fd = open("open.npy", O_RDONLY);
  assert_true(fd >= 0);
  windows_write("open.npy", true, 200);
  assert_int_equal(windows_first("open.npy"), 200);
  assert_int_equal(pread(fd, &kept, sizeof kept, 128), sizeof kept);
  assert_int_equal(kept, 100);
  assert_int_equal(close(fd), 0);
  assert_int_equal(count_names(".", ".gather"), 0);
  assert_int_equal(unlink("open.npy"), 0);
}

/* Its folder can be deleted at once. */
void windows_deletes_an_open_file(void **state) {
  (void)state;
  assert_int_equal(mkdir("folder", 0700), 0);
  int fd = open("folder/file", O_RDWR | O_CREAT | O_EXCL);
  assert_true(fd >= 0);
  assert_int_equal(unlink("folder/file"), 0);
  assert_int_equal(access("folder/file", F_OK), -1);
  assert_int_equal(rmdir("folder"), 0);
  assert_int_equal(close(fd), 0);
  assert_int_equal(access("folder", F_OK), -1);
  assert_int_equal(count_names(".", ".gather"), 0);
}

void windows_knows_every_character(void **state) {
  static const char NAME[] =
      "gr\xc3\xb6\xc3\x9f"
      "e \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80.npy";
  (void)state;
  windows_write(NAME, false, 7);
  assert_int_equal(windows_first(NAME), 7);
  assert_int_equal(count_names(".", NAME), 1);
  assert_int_equal(unlink(NAME), 0);
  struct stat about;
  assert_int_equal(stat("no\xff"
                        "text",
                        &about),
                   -1);
}

/* 20 folders of 40 characters: more than three times what Windows takes without being told. */
void windows_knows_long_paths(void **state) {
  enum { DEPTH = 20, LENGTH = 40 };
  char path[DEPTH * (LENGTH + 1) + 16] = "";
  (void)state;
  for (int depth = 0; depth < DEPTH; depth++) {
    for (int i = 0; i < LENGTH; i++) (void)snprintf(path + strlen(path), 2, "%c", 'a' + depth);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)strcat(path, "/");
  }
  const size_t folder = strlen(path);
  (void)strcat(path, "t.npy");
  windows_write(path, false, 1);
  windows_write(path, true, 2);
  assert_int_equal(windows_first(path), 2);
  assert_int_equal(unlink(path), 0);
  path[folder] = '\0';
  for (int depth = DEPTH; depth > 0; depth--) {
    path[(size_t)depth * (LENGTH + 1) - 1] = '\0';
    assert_int_equal(rmdir(path), 0);
  }
}

/* The temporary file of an output is in the output's folder, whichever slash leads there. */
void windows_takes_both_slashes(void **state) {
  (void)state;
  assert_int_equal(mkdir("dotted.npz", 0700), 0);
  windows_write("dotted.npz\\t.npy", false, 5);
  assert_int_equal(windows_first("dotted.npz/t.npy"), 5);
  const int64_t shape[] = {ELEMENTS};
  const gather_writing what = {.type = GATHER_TYPE_INT32, .rank = 1, .shape = shape};
  const gather_file_target target = file_to("dotted.npz\\t", &what);
  gather_error error;
  assert_status(gather_writer_check(&target, &error), GATHER_USAGE); /* the name has no extension */
  assert_int_equal(unlink("dotted.npz\\t.npy"), 0);
  assert_int_equal(rmdir("dotted.npz"), 0);
}

/* The lock does not keep anybody from reading. */
void windows_locks_for_one(void **state) {
  char byte;
  (void)state;
  int a = open("locked", O_RDWR | O_CREAT | O_EXCL), b = open("locked", O_RDWR);
  assert_true(a >= 0 && b >= 0);
  assert_int_equal(write(a, "x", 1), 1);
  assert_int_equal(flock(a, LOCK_EX | LOCK_NB), 0);
  assert_int_equal(flock(b, LOCK_EX | LOCK_NB), -1);
  assert_int_equal(flock(b, LOCK_SH | LOCK_NB), -1);
  assert_int_equal(pread(b, &byte, 1, 0), 1);
  assert_int_equal(close(a), 0);
  assert_int_equal(flock(b, LOCK_SH | LOCK_NB), 0);
  assert_int_equal(close(b), 0);
  assert_int_equal(unlink("locked"), 0);
}
