/* SPDX-License-Identifier: MIT
 *
 * test_names.c: what names mean: FILE:TENSOR, files beside a file, names that look like those of something else, and what is there.
 */
#define _XOPEN_SOURCE 700
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "io/format/format.h"
#include "io/format/sibling.c" /* all of it: its inside is looked at, too */
#include "support/open_file.h"
#include "support/unit.h"

static char folder[64];

static void put_file(const char *name) {
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
}

static int enter_folder(void **state) {
  (void)strcpy(folder, "/tmp/gather-names-XXXXXX");
  if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
  return 0;
}

static int leave_folder(void **state) { return chdir("/") == 0 ? rmdir(folder) : -1; }

/* ---- FILE:TENSOR */

static void test_splits(void **state) {
  static const struct {
    const char *path, *file, *name; /* name: NULL = there is none */
    bool urls;
  } CASES[] = {
    {"https://h/a.npy:t", "https://h/a.npy", "t", true},
    {"https://h/a.npy:t:u", "https://h/a.npy", "t:u", true},
    {"https://h/a.npy:", "https://h/a.npy", "", true},
    {"https://h/a:b/c.npy", "https://h/a:b/c.npy", NULL, true},
    {"https://h/13:51.npy", "https://h/13:51.npy", NULL, true},
    {"https://h/13:51.npy:t", "https://h/13:51.npy", "t", true},
    {"https://h/blob:t", "https://h/blob", "t", true},
    {"https://h/a:b/blob:t:u", "https://h/a:b/blob", "t:u", true},
    {"https://h/blob", "https://h/blob", NULL, true},
    {"https://h/a.npy:t?x=1:2", "https://h/a.npy?x=1:2", "t", true},
    {"https://h/a.npy?q=b.onnx:3", "https://h/a.npy?q=b.onnx:3", NULL, true},
    {"https://h/a.npy#b.onnx:3", "https://h/a.npy#b.onnx:3", NULL, true},
    {"https://h:8080/a.npy", "https://h:8080/a.npy", NULL, true},
    {"https://h:8080", "https://h:8080", NULL, true},
    {"https://h:8080?a.npy:t", "https://h:8080?a.npy:t", NULL, true},
    {"https://u:p@h/a.GGUF:t", "https://u:p@h/a.GGUF", "t", true},
    {"https://h/.npy:t", "https://h/.npy", "t", true},
    {"s3://b/a?b.npy:t?", "s3://b/a?b.npy", "t?", true},
    {"S3://b/a#b.npy:t", "S3://b/a#b.npy", "t", true},
    {"hf://o/r/m.onnx:w?x", "hf://o/r/m.onnx", "w?x", true},
    {"s3://b", "s3://b", NULL, true},
    {"a.npy", "a.npy", NULL, false},
    {"a.npy:t", "a.npy", "t", false},
    {"a.npy:t:u", "a.npy", "t:u", false},
    {"a.npy:", "a.npy", "", false},
    {"a+b.npy:x:t", "a+b.npy", "x:t", false},
    {"none:t", "none:t", NULL, false},
    {"none:t:u", "none:t:u", NULL, true},
    {"d:t", "d:t", NULL, false},
    {"a.npy/x:t", "a.npy/x:t", NULL, false},
    {"https://h/a.npy:t", "https://h/a.npy:t", NULL, false},
#if !defined(_WIN32) /* where a colon is no part of a name */
    {"p:q.npy", "p:q.npy", NULL, false},
    {"p:q.npy:t", "p:q.npy", "t", false},
#endif
  };
  put_file("a.npy");
  put_file("a+b.npy");
#if !defined(_WIN32)
  put_file("p:q.npy");
#endif
  assert_int_equal(mkdir("d", 0700), 0);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char file[200];
    const char *name = "unset";
    gather_error error;
    memset(file, 'x', sizeof file);
    assert_int_equal(gather_file_split(CASES[i].path, CASES[i].urls, file, &name, &error), GATHER_OK);
    if (strcmp(file, CASES[i].file) != 0 || !name != !CASES[i].name || (name && strcmp(name, CASES[i].name) != 0))
      fail_msg("'%s': file '%s', tensor '%s'", CASES[i].path, file, name ? name : "(none)");
    if (name) assert_ptr_equal(name, file + strlen(file) + 1);
    assert_int_equal(file[strlen(CASES[i].path) + 1], 'x'); /* no more room than that is used */
  }
  assert_int_equal(unlink("a.npy"), 0);
  assert_int_equal(unlink("a+b.npy"), 0);
#if !defined(_WIN32)
  assert_int_equal(unlink("p:q.npy"), 0);
#endif
  assert_int_equal(rmdir("d"), 0);
}

/* ---- beside a file */

/* A file of that name; a remote one has some client, which nobody asks. */
static gather_file named(char *name, bool is_remote) {
  static int client;
  return (gather_file){.name = name, .client = is_remote ? (gather_remote_client *)(void *)&client : NULL};
}

static void test_names_beside(void **state) {
  static const char PLAIN[] = "AZaz09-._~/!$&'()*+,;=:@";
  static const struct {
    const char *file, *location, *beside;
    bool is_remote;
  } CASES[] = {
      {"https://h/d/m.onnx", "w.bin", "https://h/d/w.bin", true},
      {"https://h", "w.bin", "https://h/w.bin", true},
      {"https://h/", "w.bin", "https://h/w.bin", true},
      {"https://h/m.onnx", PLAIN, "https://h/AZaz09-._~/!$&'()*+,;=:@", true},
      {"https://h/m", " %?#[]\"<>\\^`{|}\x7f\xc3\xa9\1", "https://h/%20%25%3F%23%5B%5D%22%3C%3E%5C%5E%60%7B%7C%7D%7F%C3%A9%01", true},
      {"https://h/m", "/@AZ[`az{", "https://h//@AZ%5B%60az%7B", true},
      {"s3://b/d/m.onnx", "w x%", "s3://b/d/w x%", true},
      {"s3://b", "w", "s3://b/w", true},
      {"hf://o/r/m.onnx", "w?", "hf://o/r/w?", true},
      {"m.onnx", "w x", "w x", false},
      {"/d/m.onnx", "w%", "/d/w%", false},
      {"http://h/m.onnx", "w x", "http://h/w x", false}, /* a folder named so */
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char name[100];
    (void)strcpy(name, CASES[i].file);
    gather_file file = named(name, CASES[i].is_remote);
    assert_string_equal(gather_file_beside(&file, CASES[i].location), CASES[i].beside);
    gather_arena_clear(&file.arena);
  }
}

static void test_last_parts(void **state) {
  static const struct {
    const char *file, *base;
    bool is_remote;
  } CASES[] = {
      {"https://h/d%20/a%20b%2Fc%2f%c3%A9.gguf", "a b/c/\xc3\xa9.gguf", true},
      {"https://h/%00%zz%4z%4%%41%", "%00%zz%4z%4%A%", true},
      {"https://h/%G0%g0%/0%:0%@0%`0%0/", "", true},
      {"https://h/%G0%g0%.0%:0%@0%`0", "%G0%g0%.0%:0%@0%`0", true},
      {"https://h/%0G%0g%0.%0:%0@%0`%0A%0f", "%0G%0g%0.%0:%0@%0`\n\x0f", true},
      {"s3://b/a%20b", "a%20b", true},
      {"/d/a%20b", "a%20b", false},
      {"a", "a", false},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char name[100];
    (void)strcpy(name, CASES[i].file);
    gather_file file = named(name, CASES[i].is_remote);
    assert_string_equal(gather_file_base(&file), CASES[i].base);
    gather_arena_clear(&file.arena);
  }
}

static void test_locations(void **state) {
  static const struct {
    const char *location, *why; /* NULL = it is allowed */
    bool remote_only;
  } CASES[] = {
      {"w.bin", NULL, false},
      {"d/w.bin", NULL, false},
      {"..w", NULL, false},
      {"w..", NULL, false},
      {"a..b/..c/d..", NULL, false},
      {"...", NULL, false},
      {"", "it is empty", false},
      {"/w", "not below the directory", false},
      {"..", "not below the directory", false},
      {"../w", "not below the directory", false},
      {"..\\w", "not below the directory", false},
      {"d/..", "not below the directory", false},
      {"d/../w", "not below the directory", false},
      {"d\\..\\w", "not below the directory", false},
      {"a../../w", "not below the directory", false},
      {"https://h/w", "not below the directory", true},
      {"s3://b/w", "not below the directory", true},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (int is_remote = 0; is_remote < 2; is_remote++) {
      char name[] = "https://h/m.onnx";
      const gather_file file = named(name, is_remote != 0);
      gather_error error = {.status = GATHER_OK};
#if defined(_WIN32) /* a colon names a disk, or a stream of a file */
      const bool refused = CASES[i].why != NULL;
#else
      const bool refused = CASES[i].why && (is_remote || !CASES[i].remote_only);
#endif
      const gather_status status = check_location(&file, CASES[i].location, 7, &error);
      if (status != (refused ? GATHER_FILE_MALFORMED : GATHER_OK)) fail_msg("'%s': %d", CASES[i].location, (int)status);
      if (!refused) continue;
      assert_non_null(strstr(error.message, CASES[i].why));
      assert_int_equal(error.file_offset, 7);
    }
}

/* ---- names of what is not there */

static void test_addresses_that_are_not_read(void **state) {
  static const struct {
    const char *path, *words, *shown; /* shown: as the file of the error; NULL = the path */
  } CASES[] = {
      {"file:///tmp/none", "write the path without file://", NULL},
      {"FILE:///tmp/none", "write the path without file://", NULL},
      {"s3a://b/k", "write s3:// for s3a://", NULL},
      {"S3N://b/k", "write s3:// for s3n://", NULL},
      {"gs://b/k?token=SECRET", "https://storage.googleapis.com/BUCKET/OBJECT", "gs://b/k"},
      {"abfss://user:SECRET@h/k#SECRET", "blob.core.windows.net", "abfss://h/k"},
      {"gopher://a@b@h/k", "; URLs that are read begin with https://", "gopher://h/k"},
      {"a1+.-://x", "; URLs that are read begin with https://", NULL},
      {"https:/h/SECRET@k", "a URL has two slashes after https:", "https:/h/SECRET@k"},
      {"HTTP:/u:SECRET@h/k", "a URL has two slashes after http:", "HTTP:/h/k"},
      {"s3:/b/k", "a URL has two slashes after s3:", NULL},
      {"https/none", NULL, NULL},
      {"gs:/b/k", NULL, NULL},
      {"x:/none", NULL, NULL}, /* a drive */
      {"none", NULL, NULL},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_file *file = NULL;
    gather_error error;
    assert_int_equal(file_open(file_at(CASES[i].path), &file, &error), GATHER_FILE_NOT_FOUND);
    assert_string_equal(error.file, CASES[i].shown ? CASES[i].shown : CASES[i].path);
    if (!CASES[i].words) assert_null(strchr(error.message, ';'));
    if (CASES[i].words && !strstr(error.message, CASES[i].words)) fail_msg("%s: %s", CASES[i].path, error.message);
    assert_int_equal(file_open(file_at(CASES[i].path), &file, NULL), GATHER_FILE_NOT_FOUND);
  }
}

#if !defined(_WIN32)

/* ---- what is no file, and folders that are something else */

static void test_what_is_there(void **state) {
  static const struct {
    const char *in_folder, *words;
  } FOLDERS[] = {{"saved_model.pb", "a TensorFlow SavedModel"},
                 {"model.safetensors.index.json", "the model in it is model.safetensors.index.json"},
                 {"model.safetensors", "the model in it is model.safetensors"},
                 {"dataset_info.json", "the tables of a dataset"},
                 {"x", "is a directory, not a file"}};
  gather_file *file = NULL;
  gather_error error;
  for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
    char path[100];
    (void)snprintf(path, sizeof path, "d/%s", FOLDERS[i].in_folder);
    assert_int_equal(mkdir("d", 0700), 0);
    put_file(path);
    assert_int_equal(file_open(file_at("d"), &file, &error), GATHER_IO_ERROR);
    if (!strstr(error.message, FOLDERS[i].words)) fail_msg("%s: %s", path, error.message);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir("d"), 0);
  }
  assert_int_equal(mkfifo("pipe", 0600), 0);
  assert_int_equal(symlink("nowhere", "link"), 0);
  assert_int_equal(symlink("../.git/annex/objects/ab/cd/k/k", "annexed"), 0);
  assert_int_equal(symlink("loop", "loop"), 0);
  static const struct {
    const char *name, *words;
    gather_status status;
  } CASES[] = {{"pipe", "is a pipe; only regular files", GATHER_IO_ERROR},
               {"/dev/null", "is a device; only regular files", GATHER_IO_ERROR},
               {"link", "it is a link to nowhere, which does not exist", GATHER_FILE_NOT_FOUND},
               {"annexed", "'git annex get' downloads it", GATHER_FILE_NOT_FOUND},
               {"loop", "cannot open it", GATHER_IO_ERROR},
               {"pipe/x", "cannot open it", GATHER_FILE_NOT_FOUND}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    const gather_status status = file_open(file_at(CASES[i].name), &file, &error);
    if (status != CASES[i].status || !strstr(error.message, CASES[i].words))
      fail_msg("%s: status %d: %s", CASES[i].name, (int)status, error.message);
    assert_null(file);
  }
  static const char *const MADE[] = {"pipe", "link", "annexed", "loop"};
  for (size_t i = 0; i < sizeof MADE / sizeof *MADE; i++) assert_int_equal(unlink(MADE[i]), 0);
}

#endif

int main(void) {
  int failed = RUN_TESTS_WITHIN(enter_folder, leave_folder, test_splits, test_names_beside, test_last_parts, test_locations,
                                test_addresses_that_are_not_read);
#if !defined(_WIN32)
  failed += RUN_TESTS_WITHIN(enter_folder, leave_folder, test_what_is_there);
#endif
  return failed;
}
