/* SPDX-License-Identifier: MIT
 *
 * test_remote_build.c: what a build that lacks schemes of URLs says of them, and a machine that lacks libcurl. BUILD_SCHEMES is what
 * CMake was asked for; nothing here goes over a network.
 */
#include "gather/file.h"
#include "gather/table.h"
#include "io/remote/origin.h"
#include "io/remote/remote_client.h"
#include "support/open_file.h"
#include "support/unit.h"

static const char *const URLS[] = {"https://127.0.0.1:9/x.npy", "http://127.0.0.1:9/x.npy", "s3://bucket/x.npy", "hf://owner/repo/x.npy"};
static const char *const NAMES[] = {"https", "http", "s3", "hf"};
enum { COUNT = sizeof URLS / sizeof *URLS };

static const gather_remote_options WANTED = GATHER_REMOTE_OPTIONS_INIT;

/* What must be said of a URL that cannot be read; NULL: it can. */
static const char *reason(const char *scheme) {
  gather_error error;
  if (!BUILD_SCHEMES[0]) return "URLs are not supported in this build: it was made without libcurl's headers";
  if (gather_remote_check(&error) != GATHER_OK) return "URLs need libcurl";
  return gather_remote_scheme_listed(BUILD_SCHEMES, scheme) ? NULL : "this build of libgather reads no ";
}

static void refused(gather_status status, const gather_error *error, const char *why, const char *scheme) {
  char with[16] = "";
  (void)strcat(strcat(with, scheme), "://");
  if (status != GATHER_UNSUPPORTED || !strstr(error->message, why)) fail_msg("%d: %s", (int)status, error->message);
  if (strstr(why, "reads no ") && BUILD_SCHEMES[0] && !strstr(error->message, with)) fail_msg("%s", error->message);
}

static void test_schemes(void **state) {
  assert_string_equal(gather_remote_schemes(), BUILD_SCHEMES);
  for (int i = 0; i < COUNT; i++) assert_true(gather_remote_is_url(URLS[i])); /* whether it is there or not */
}

static void test_check(void **state) {
  gather_error error;
  gather_status status = gather_remote_check(&error);
  if (status == GATHER_OK)
    assert_true(BUILD_SCHEMES[0] != '\0');
  else
    refused(status, &error, BUILD_SCHEMES[0] ? "URLs need libcurl" : "not supported in this build", "");
}

static void test_files_and_tables(void **state) {
  for (int i = 0; i < COUNT; i++) {
    const char *why = reason(NAMES[i]);
    if (!why) continue;
    gather_error error;
    gather_file *file = NULL;
    gather_table *table = NULL;
    gather_file_source source = file_at(URLS[i]);
    gather_table_options of_table = GATHER_TABLE_OPTIONS_INIT;
    source.remote = of_table.remote = &WANTED;
    refused(gather_file_open(&source, &file, &error), &error, why, NAMES[i]);
    assert_null(file);
    refused(gather_table_open(URLS[i], &of_table, &table, &error), &error, why, NAMES[i]);
    assert_null(table);
  }
}

static void test_listings(void **state) {
  static const char *const FOLDERS[] = {"s3://bucket", "hf://owner/repo"};
  for (int i = 0; i < 2; i++) {
    const char *why = reason(NAMES[2 + i]);
    gather_remote_listing listing = {0};
    gather_error error;
    if (!why) continue;
    refused(gather_remote_listing_read(FOLDERS[i], &WANTED, 10, &listing, &error), &error, why, NAMES[2 + i]);
    assert_null(listing.entries);
  }
}

/* A list of the caller's that has what the build has not. */
static void test_lists(void **state) {
  for (int i = 0; i < COUNT; i++) {
    gather_remote_options options = WANTED;
    gather_remote_client *client = NULL;
    gather_error error;
    const char *why = reason(NAMES[i]);
    if (!why) continue;
    options.schemes = NAMES[i];
    refused(gather_remote_client_create(&options, &client, &error), &error, why, NAMES[i]);
    assert_null(client);
  }
}

/* Without `remote`, a URL is the name of a file that does not exist, in every build. */
static void test_names(void **state) {
  for (int i = 0; i < COUNT; i++) {
    gather_error error;
    gather_file *file = NULL;
    assert_int_equal(file_open(file_at(URLS[i]), &file, &error), GATHER_FILE_NOT_FOUND);
  }
}

TESTS(test_schemes, test_check, test_files_and_tables, test_listings, test_lists, test_names)
