/* SPDX-License-Identifier: MIT
 *
 * test_failures.c: a system that fails, one call at a time. Every failure is said, and nothing stays behind.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gather/file.h"
#include "io/format/failing.h"
#include "support/open_file.h"
#include "support/unit.h"

static char folder[64], target[80];

static int enter_folder(void **state) {
  (void)strcpy(folder, "/tmp/gather-test-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(target, sizeof target, "%s/a.npy", folder);
  return 0;
}

static int leave_folder(void **state) {
  (void)failing_clear();
  failing_slow_writes(0);
  failing_unnamed(0);
  failing_group(0);
  (void)unlink(target);
  return rmdir(folder); /* fails where anything else was left */
}

static int count_files(void) {
  DIR *entries = opendir(folder);
  int count = 0;
  assert_non_null(entries);
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) count += entry->d_name[0] != '.';
  /* Temporary files begin with a point too. */
  rewinddir(entries);
  for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) count += strncmp(entry->d_name, ".gather", 7) == 0;
  (void)closedir(entries);
  return count;
}

static const int64_t SHAPE[] = {3};
static const float VALUES[] = {1, 2, 3};

static const gather_writing FLOATS = {.type = GATHER_TYPE_FLOAT32, .rank = 1, .shape = SHAPE};

static gather_file_target floats(bool replace) {
  gather_file_target what = file_to(target, &FLOATS);
  what.format = "npy";
  what.replace = replace;
  return what;
}

static gather_status write_floats(bool replace, gather_error *error) {
  gather_file_target what = floats(replace);
  gather_writer *writer;
  gather_status status = gather_writer_create(&what, &writer, error);
  if (status != GATHER_OK) {
    assert_null(writer);
    return status;
  }
  memcpy(gather_writer_data_at(writer, 0), VALUES, sizeof VALUES);
  return gather_writer_commit(writer, error);
}

static gather_status read_floats(gather_error *error) {
  gather_file *file;
  gather_status status = file_open(file_at(target), &file, error);
  if (status != GATHER_OK) {
    assert_null(file);
    return status;
  }
  assert_memory_equal(gather_file_at(file, 0)->tensor.data, VALUES, sizeof VALUES);
  gather_file_close(file);
  return status;
}

/* The file has them, and there are so many files. */
static void assert_floats_among(int files) {
  assert_int_equal(read_floats(NULL), GATHER_OK);
  assert_int_equal(count_files(), files);
}

static gather_status read_raw(gather_error *error) {
  gather_raw raw = {.type = "|S4", .rank = 1, .shape = SHAPE, .offset = 128, .as_is = true};
  gather_file *file;
  gather_status status = file_open_raw(file_at(target), &raw, &file, error);
  gather_file_close(file);
  return status;
}

static gather_status write_strings(gather_error *error) {
  const gather_writing strings = {.type = GATHER_TYPE_STRING, .rank = 1, .shape = SHAPE};
  gather_file_target what = floats(false);
  what.format = "pb";
  what.tensors = &strings;
  gather_writer *writer;
  gather_status status = gather_writer_create(&what, &writer, error);
  if (status != GATHER_OK) return status;
  ((gather_string *)gather_writer_data_at(writer, 0))[1] = (gather_string){"text", 4};
  return gather_writer_commit(writer, error);
}

static gather_status write_bytes(bool replace, gather_error *error) {
  gather_writer *writer;
  gather_file_target what = file_to(target, NULL);
  what.replace = replace;
  what.bytes = 4;
  gather_status status = gather_writer_create(&what, &writer, error);
  if (status != GATHER_OK) {
    assert_null(writer);
    return status;
  }
  memcpy(gather_writer_data_at(writer, 0), "text", 4);
  return gather_writer_commit(writer, error);
}

static gather_status write_several(gather_error *error) {
  gather_writing both[2] = {FLOATS, FLOATS};
  gather_file_target what = floats(false);
  both[0].name = "a";
  what.format = "safetensors";
  what.tensors = both;
  what.count = 2;
  gather_writer *writer;
  gather_status status = gather_writer_create(&what, &writer, error);
  if (status != GATHER_OK) {
    assert_null(writer);
    return status;
  }
  for (int64_t i = 0; i < 2; i++) memcpy(gather_writer_data_at(writer, i), VALUES, sizeof VALUES);
  return gather_writer_commit(writer, error);
}

/* Text of more numbers than have room at first. */
static gather_status read_text(const char *column, gather_error *error) {
  gather_file *file;
  FILE *text = fopen(target, "w");
  assert_non_null(text);
  (void)fputs("id\n", text);
  for (int i = 0; i < 5000; i++) (void)fprintf(text, "%d\n", i);
  assert_int_equal(fclose(text), 0);
  gather_status status = file_open_text(file_at(target), column, &file, error);
  if (status == GATHER_OK) assert_int_equal(gather_tensor_len(&gather_file_at(file, 0)->tensor), 5000);
  if (status != GATHER_OK) assert_null(file);
  gather_file_close(file);
  return status;
}

static gather_status read_list(gather_error *error) { return read_text(NULL, error); }
static gather_status read_column(gather_error *error) { return read_text("id", error); }

static gather_status write_plain(gather_error *error) { return write_bytes(false, error); }

/* Lets `call` fail the first, the second ... time, until the function works; each failure must be `expected`. */
static void fail_each(const char *call, int number, gather_status expected, gather_status (*function)(gather_error *), bool leaves_file) {
  for (int after = 0;; after++) {
    gather_error error;
    if (leaves_file) (void)unlink(target);
    failing_set(call, after, number);
    gather_status status = function(&error);
    if (failing_clear() <= after) {
      assert_int_equal(status, GATHER_OK);
      assert_true(after > 0);
      return;
    }
    assert_int_equal(status, expected);
    assert_int_equal(error.status, expected);
    assert_true(error.message[0] != '\0');
    if (leaves_file) assert_int_equal(count_files(), 0);
  }
}

/* What a work gives while a call fails as for failing_set, and how often it calls it. */
#define WHILE_FAILING(call, after, number, work, status, times) \
  (failing_set(call, after, number), assert_int_equal(work, status), assert_int_equal(failing_clear(), times))

static gather_status write_new(gather_error *error) { return write_floats(false, error); }

static void test_allocations(void **state) {
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, write_strings, true);
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, write_new, true);
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, write_plain, true);
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, write_several, true);
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, read_list, false);
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, read_column, false);
  (void)unlink(target);
  assert_int_equal(write_new(NULL), GATHER_OK);
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, read_floats, false);
  fail_each("gather_alloc", 0, GATHER_OUT_OF_MEMORY, read_raw, false);
}

static void test_system_calls_of_reading(void **state) {
  assert_int_equal(write_floats(false, NULL), GATHER_OK);
  fail_each("mmap", ENOMEM, GATHER_OUT_OF_MEMORY, read_floats, false);
  fail_each("mmap", EACCES, GATHER_IO_ERROR, read_floats, false);
  fail_each("fstat", EIO, GATHER_IO_ERROR, read_floats, false);
  fail_each("open", EACCES, GATHER_IO_ERROR, read_floats, false);
  fail_each("open", EMFILE, GATHER_IO_ERROR, read_raw, false);
}

static void test_mappings_end(void **state) {
  WHILE_FAILING("munmap", -1, 0, write_floats(false, NULL), GATHER_OK, 1);
  WHILE_FAILING("munmap", -1, 0, read_floats(NULL), GATHER_OK, 1);
}

/* The first one, when the file is complete; those behind it do not matter. */
static void fail_close(gather_status (*function)(gather_error *)) {
  failing_set("close", 0, EIO);
  (void)unlink(target);
  assert_int_equal(function(NULL), GATHER_IO_ERROR);
  (void)failing_clear();
  assert_int_equal(count_files(), 0);
}

static void fail_writing(void) {
  fail_each("open", EMFILE, GATHER_IO_ERROR, write_new, true);
  fail_each("lstat", EIO, GATHER_IO_ERROR, write_new, true);
  fail_each("posix_fallocate", ENOSPC, GATHER_IO_ERROR, write_new, true);
  fail_each("mmap", ENOMEM, GATHER_OUT_OF_MEMORY, write_new, true);
  fail_each("mmap", ENOMEM, GATHER_OUT_OF_MEMORY, write_strings, true);
  fail_each("posix_fallocate", ENOSPC, GATHER_IO_ERROR, write_strings, true);
  fail_close(write_new);
  fail_close(write_several);
  fail_each("mmap", ENOMEM, GATHER_OUT_OF_MEMORY, write_plain, true);
  fail_each("mmap", ENOMEM, GATHER_OUT_OF_MEMORY, write_several, true);
  fail_each("posix_fallocate", ENOSPC, GATHER_IO_ERROR, write_several, true);
  fail_each("posix_fallocate", ENOSPC, GATHER_IO_ERROR, write_plain, true);
  fail_each("open", EMFILE, GATHER_IO_ERROR, write_plain, true);
}

/* With files that have no name before they are complete, and with temporary names. */
static void test_system_calls_of_writing(void **state) {
  fail_writing();
  fail_each("linkat", EIO, GATHER_IO_ERROR, write_new, true);
  failing_unnamed(1);
  fail_writing();
}

static void test_a_directory_that_cannot_be_read(void **state) {
  failing_set("open", 0, EACCES);
  assert_int_equal(write_floats(false, NULL), GATHER_OK);
  (void)failing_clear();
  assert_int_equal(read_floats(NULL), GATHER_OK);
}

/* ---- the disk */

static void test_syncing(void **state) {
  gather_error error;
  for (int named = 0; named < 2; named++) {
    failing_unnamed(named);
    (void)unlink(target);
    WHILE_FAILING("fsync", 0, EIO, write_floats(false, &error), GATHER_IO_ERROR, 1); /* of the file */
    assert_int_equal(count_files(), 0);
    /* Of the directory: the file has its name already. */
    WHILE_FAILING("fsync", 1, ENOSPC, write_floats(false, &error), GATHER_IO_ERROR, 2);
    assert_floats_among(1);
    WHILE_FAILING("fsync", 0, EINVAL, write_floats(true, &error), GATHER_OK, 2); /* a file system that has nothing to sync */
  }
}

static void test_writing_without_syncing(void **state) {
  gather_file_target what = floats(false);
  gather_writer *writer;
  failing_set("fsync", 0, EIO);
  what.no_sync = true;
  assert_int_equal(gather_writer_create(&what, &writer, NULL), GATHER_OK);
  memcpy(gather_writer_data_at(writer, 0), VALUES, sizeof VALUES);
  assert_int_equal(gather_writer_commit(writer, NULL), GATHER_OK);
  assert_int_equal(failing_clear(), 0);
  assert_int_equal(read_floats(NULL), GATHER_OK);
}

/* ---- temporary names */

static void test_a_private_file_stays_private(void **state) {
  struct stat about;
  failing_unnamed(1);
  assert_int_equal(write_floats(false, NULL), GATHER_OK);
  assert_int_equal(chmod(target, 0600), 0);
  mode_t mask = umask(0);
  gather_file_target what = floats(true);
  gather_writer *writer;
  assert_int_equal(gather_writer_create(&what, &writer, NULL), GATHER_OK);
  assert_int_equal(stat(gather_writer_temporary(writer), &about), 0);
  assert_int_equal(about.st_mode & 0777, 0600);
  assert_int_equal(gather_writer_commit(writer, NULL), GATHER_OK);
  (void)umask(mask);
  assert_int_equal(stat(target, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0600);
}

/* A process that ends without a chance to clean up. */
static void leave_behind(void) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    gather_file_target what = floats(true);
    gather_writer *writer;
    _exit(gather_writer_create(&what, &writer, NULL) == GATHER_OK ? 0 : 1);
  }
  int how = -1;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
}

static void test_what_was_left_behind(void **state) {
  failing_unnamed(1);
  leave_behind();
  assert_int_equal(count_files(), 1);
  assert_int_equal(write_floats(false, NULL), GATHER_OK);
  assert_int_equal(count_files(), 1);
}

static void test_what_others_are_writing_stays(void **state) {
  failing_unnamed(1);
  gather_file_target what = floats(true);
  gather_writer *first;
  assert_int_equal(gather_writer_create(&what, &first, NULL), GATHER_OK);
  memcpy(gather_writer_data_at(first, 0), VALUES, sizeof VALUES);
  assert_int_equal(write_bytes(true, NULL), GATHER_OK);
  failing_unnamed(0);
  assert_int_equal(write_bytes(true, NULL), GATHER_OK);
  assert_int_equal(access(gather_writer_temporary(first), F_OK), 0);
  assert_int_equal(gather_writer_commit(first, NULL), GATHER_OK);
  assert_floats_among(1);
}

static void test_file_systems_that_cannot_reserve(void **state) {
  const int numbers[] = {EOPNOTSUPP, EINVAL, EINTR};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    WHILE_FAILING("posix_fallocate", 0, numbers[i], write_floats(true, NULL), GATHER_OK, numbers[i] == EINTR ? 2 : 1);
    assert_int_equal(read_floats(NULL), GATHER_OK);
  }
}

static void test_file_systems_without_second_names(void **state) {
  gather_error error;
  failing_unnamed(1);
  WHILE_FAILING("link", 0, EPERM, write_floats(false, &error), GATHER_OK, 1);
  assert_floats_among(1);
}

/* The name that was reserved is free again. */
static void test_rename_that_fails_without_second_names(void **state) {
  gather_error error;
  struct stat about;
  failing_unnamed(1);
  failing_links(1);
  WHILE_FAILING("rename", 0, EIO, write_floats(false, &error), GATHER_IO_ERROR, 1);
  assert_int_equal(stat(target, &about), -1);
  assert_int_equal(count_files(), 0);
  assert_int_equal(write_floats(false, &error), GATHER_OK);
  assert_floats_among(1);
  failing_links(0);
}

static void test_race_without_second_names(void **state) {
  gather_error error;
  gather_writer *writer;
  gather_file_target what = floats(false);
  failing_unnamed(1);
  assert_int_equal(gather_writer_create(&what, &writer, &error), GATHER_OK);
  FILE *other = fopen(target, "w");
  assert_non_null(other);
  (void)fclose(other);
  WHILE_FAILING("link", 0, EPERM, gather_writer_commit(writer, &error), GATHER_FILE_EXISTS, 1);
  struct stat about;
  assert_int_equal(stat(target, &about), 0);
  assert_int_equal(about.st_size, 0);
  assert_int_equal(count_files(), 1);
}

static void fail_replacing(const char *call, int after) {
  gather_error error;
  failing_set(call, after, EIO);
  assert_int_equal(write_floats(true, &error), GATHER_IO_ERROR);
  assert_true(failing_clear() > after);
  failing_set(call, after, EIO);
  assert_int_equal(write_bytes(true, &error), GATHER_IO_ERROR);
  assert_true(failing_clear() > after);
  assert_floats_among(1);
}

static void test_replacing_that_fails_keeps_the_old_file(void **state) {
  const char *const calls[] = {"rename", "fchmod", "posix_fallocate", "close", "mmap", "fsync"};
  assert_int_equal(write_floats(false, NULL), GATHER_OK);
  fail_replacing("linkat", 0);
  fail_replacing("linkat", 1);
  for (int named = 0; named < 2; named++) {
    failing_unnamed(named);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) fail_replacing(calls[i], 0);
  }
}

/* ---- systems that refuse what the writer can do without */

static void write_new_and_old(void) {
  gather_error error;
  for (int replace = 0; replace < 2; replace++) {
    if (!replace) (void)unlink(target);
    if (write_floats(replace != 0, &error) != GATHER_OK) fail_msg("%s", error.message);
    assert_floats_among(1);
  }
}

static void test_what_is_done_without(void **state) {
  const int unnamed[] = {EOPNOTSUPP, EISDIR, EINVAL, ENOENT, ENOSYS};
  for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed; i++) {
    failing_unnamed(unnamed[i]);
    write_new_and_old();
  }
  failing_unnamed(EMFILE);
  assert_int_equal(write_floats(true, NULL), GATHER_IO_ERROR);
  failing_unnamed(0);
  failing_always("flock", ENOLCK); /* network file systems may have no locks */
  write_new_and_old();
  failing_unnamed(1);
  write_new_and_old();
  (void)failing_clear();
  failing_unnamed(0);
  int without = 0;
  for (int n = 0; n < 4; n++) { /* no folder to write to; no /proc, by which a file without a name gets one */
    gather_error error;
    (void)unlink(target);
    failing_set("stat", n, ENOENT);
    const gather_status status = write_floats(false, &error);
    const bool reached = failing_clear() > n;
    assert_int_equal(count_files(), status == GATHER_OK);
    if (status == GATHER_OK) assert_int_equal(read_floats(NULL), GATHER_OK);
    if (status != GATHER_OK) assert_non_null(strstr(error.message, "write into its folder"));
    without += reached && status == GATHER_OK;
  }
  assert_true(without > 0);
}

/* A temporary name is somebody else's, or somebody else has just taken the new file for one that was left behind. */
static void test_temporary_names_of_others(void **state) {
  char temporary[200];
  gather_file_target what = floats(true);
  gather_writer *writer;
  failing_unnamed(1);
  assert_int_equal(gather_writer_create(&what, &writer, NULL), GATHER_OK);
  (void)snprintf(temporary, sizeof temporary, "%s", gather_writer_temporary(writer));
  gather_writer_abort(writer);
  for (int way = 0; way < 3; way++) {
    if (way == 0) assert_int_equal(mkdir(temporary, 0700), 0);
    if (way == 1) assert_int_equal(symlink("nowhere", temporary), 0);
    if (way == 2) assert_int_equal(mkfifo(temporary, 0600), 0);
    for (int named = 0; named < 2; named++) {
      failing_unnamed(named);
      assert_int_equal(write_floats(true, NULL), GATHER_OK);
      assert_floats_among(2);
    }
    assert_int_equal(way == 0 ? rmdir(temporary) : unlink(temporary), 0);
  }
  failing_unnamed(1);
  WHILE_FAILING("flock", 0, EWOULDBLOCK, write_floats(true, NULL), GATHER_OK, 2);
  assert_int_equal(read_floats(NULL), GATHER_OK);
  assert_int_equal(count_files(), 2); /* the other one removes what it took */
  assert_int_equal(unlink(temporary), 0);
}

/* A directory that cannot be read is synced with its whole file system. */
static void test_a_file_system_that_cannot_be_synced(void **state) {
#if defined(__linux__)
  failing_set("open", 0, EACCES);
  failing_always("syncfs", EIO);
  assert_int_equal(write_floats(false, NULL), GATHER_IO_ERROR);
  (void)failing_clear();
  assert_int_equal(read_floats(NULL), GATHER_OK); /* it has its name already */
#endif
}

/* ---- permissions */

static mode_t mode_of_target(void) {
  struct stat about;
  assert_int_equal(stat(target, &about), 0);
  return about.st_mode & 0777;
}

/* Where the group or the list of a file cannot be kept, the group gets no more than all others have. */
static void test_permissions_that_cannot_be_kept(void **state) {
  static const struct {
    bool group; /* it differs */
    const char *first, *second;
    int first_number, second_number;
    mode_t mode; /* of a file that had 0674 */
  } CASES[] = {
    {false, "none", "none", 0, 0, 0674},
    {true, "fchown", "none", EPERM, 0, 0644},
#if defined(__linux__)
    {false, "getxattr", "fremovexattr", ENODATA, ENODATA, 0674},
    {false, "getxattr", "fremovexattr", ENOTSUP, ENOTSUP, 0674},
    {false, "getxattr", "fremovexattr", ENODATA, EPERM, 0644},
    {false, "getxattr", "none", EACCES, 0, 0644},
    {false, "getxattr", "fsetxattr", EEXIST, EPERM, 0644},
#endif
  };
  assert_int_equal(write_floats(false, NULL), GATHER_OK);
  for (int named = 0; named < 2; named++)
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
      failing_unnamed(named);
      assert_int_equal(chmod(target, 0674), 0);
      failing_group(CASES[i].group);
      failing_always(CASES[i].first, CASES[i].first_number);
      failing_set(CASES[i].second, 0, CASES[i].second_number);
      assert_int_equal(write_floats(true, NULL), GATHER_OK);
      (void)failing_clear();
      failing_group(0);
      if (mode_of_target() != CASES[i].mode) fail_msg("case %zu: %o", i, (unsigned)mode_of_target());
      assert_int_equal(read_floats(NULL), GATHER_OK);
    }
}

/* ---- other outputs */

static gather_status write_to(int fd, gather_error *error) {
  gather_file_target what = floats(false);
  what.path = NULL;
  what.fd = fd;
  gather_writer *writer;
  gather_status status = gather_writer_create(&what, &writer, error);
  if (status != GATHER_OK) return status;
  assert_string_equal(gather_writer_temporary(writer), "");
  memcpy(gather_writer_data_at(writer, 0), VALUES, sizeof VALUES);
  return gather_writer_commit(writer, error);
}

static void test_short_and_interrupted_writes(void **state) {
  int fd = open(target, O_WRONLY | O_CREAT, 0600);
  failing_slow_writes(1);
  assert_int_equal(write_to(fd, NULL), GATHER_OK);
  failing_slow_writes(0);
  assert_int_equal(close(fd), 0);
  assert_int_equal(read_floats(NULL), GATHER_OK);
}

static void test_writes_that_fail(void **state) {
  gather_error error;
  const int numbers[] = {ENOSPC, EPIPE, EIO};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    for (int after = 0; after < 2; after++) {
      int fd = open(target, O_WRONLY | O_CREAT, 0600);
      WHILE_FAILING("write", after, numbers[i], write_to(fd, &error), GATHER_IO_ERROR, after + 1);
      assert_int_equal(close(fd), 0);
    }
}

static void test_elements_in_memory_that_is_not_there(void **state) {
  gather_error error;
  WHILE_FAILING("mmap", 0, ENOMEM, write_to(STDOUT_FILENO, &error), GATHER_OUT_OF_MEMORY, 1);
}

TESTS_EACH(enter_folder, leave_folder, test_allocations, test_system_calls_of_reading, test_mappings_end, test_system_calls_of_writing,
           test_a_directory_that_cannot_be_read, test_syncing, test_writing_without_syncing, test_a_private_file_stays_private,
           test_what_was_left_behind, test_what_others_are_writing_stays, test_file_systems_that_cannot_reserve,
           test_file_systems_without_second_names, test_rename_that_fails_without_second_names, test_race_without_second_names,
           test_replacing_that_fails_keeps_the_old_file, test_what_is_done_without, test_temporary_names_of_others,
           test_a_file_system_that_cannot_be_synced, test_permissions_that_cannot_be_kept, test_short_and_interrupted_writes,
           test_writes_that_fail, test_elements_in_memory_that_is_not_there)
