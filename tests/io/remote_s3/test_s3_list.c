/* SPDX-License-Identifier: MIT
 *
 * test_s3_list.c: listings of S3 and of the hub, good, malformed and hostile.
 */
#include "io/remote/listing.c"
#include "support/unit.h"

#define HEAD "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
#define TAIL "</ListBucketResult>"
#define OBJECT(key, size) "<Contents><Key>" key "</Key><ETag>&quot;e&quot;</ETag><Size>" size "</Size></Contents>"

static gather_remote_origin *origin_of(const char *url) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  gather_remote_origin *origin;
  gather_error error;
  options.endpoint = "http://h";
  if (gather_remote_origin_create(&options, url, &origin, &error) != GATHER_OK) fail_msg("%s", error.message);
  return origin;
}

#ifdef GATHER_HAVE_EXPAT
static gather_status read_list(const char *url, const char *body, size_t bytes, gather_remote_listing *listing, char **token) {
  gather_remote_origin *origin = origin_of(url);
  gather_error error;
  gather_status status = s3_list_read(origin, body, bytes, listing, token, &error);
  if (status != GATHER_OK) assert_error(&error, status);
  gather_remote_origin_destroy(origin);
  return status;
}
#endif

static void assert_address(const char *url, const char *token, const char *want) {
  gather_remote_origin *origin = origin_of(url);
  gather_growing address = {0};
  s3_list_address(origin, token, 1000, &address);
  assert_string_equal(address.text, want);
  gather_growing_clear(&address);
  gather_remote_origin_destroy(origin);
}

static void addresses(void **state) {
  assert_address("s3://b", "", "http://h/b/?delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=");
  assert_address("s3://b/a b/", "", "http://h/b/?delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=a%20b%2F");
  assert_address("s3://b/p/", "t/+=",
                 "http://h/b/"
                 "?continuation-token=t%2F%2B%3D&delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F");
}

#ifdef GATHER_HAVE_EXPAT
static void entries(void **state) {
  static const char BODY[] =
      HEAD "<Name>b</Name><Prefix>a+b%2F</Prefix><KeyCount>4</KeyCount><IsTruncated>true</IsTruncated>" OBJECT("a+b%2F", "0")
          OBJECT("a+b%2Fx%2By.bin", "12345678901") OBJECT("a%20b/%C3%A4&amp;", "0")
              "<CommonPrefixes><Prefix>a+b%2Fdeep%2F</Prefix></CommonPrefixes>"
              "<NextContinuationToken>1/&lt;+=</NextContinuationToken>" TAIL;
  gather_remote_listing listing = {NULL, 0, false, 0};
  char *token;
  assert_status(read_list("s3://b/a b/", BODY, strlen(BODY), &listing, &token), GATHER_OK);
  assert_string_equal(token, "1/<+=");
  gather_text_free(token);
  assert_int_equal(listing.count, 3);
  assert_string_equal(listing.entries[0].name, "x+y.bin");
  assert_int_equal(listing.entries[0].bytes, 12345678901);
  assert_string_equal(listing.entries[1].name, "\xc3\xa4&");
  assert_string_equal(listing.entries[2].name, "deep/");
  assert_true(listing.entries[2].folder);
  assert_false(listing.entries[0].folder);
  gather_remote_listing_clear(&listing);
  assert_int_equal(listing.count, 0);
}

static void refused(void **state) {
  static const char *const BODIES[] = {
      "",
      "<html></html>",
      HEAD,
      HEAD OBJECT("p/a", "1"),
      HEAD "<IsTruncated>true</IsTruncated>" TAIL, /* it would never end */
      HEAD OBJECT("q/a", "1") TAIL,
      HEAD OBJECT("p/%zz", "1") TAIL,
      HEAD OBJECT("p/%00", "1") TAIL,
      HEAD OBJECT("p/a", "-1") TAIL,
      HEAD OBJECT("p/a", "1x") TAIL,
      HEAD OBJECT("p/a", "") TAIL,
      HEAD OBJECT("p/a", "1234567890123456789012") TAIL,
      HEAD "<Contents><Size>1</Size></Contents>" TAIL,
      HEAD "<Contents><Key>p/a</Key></Contents>" TAIL,
      HEAD "<CommonPrefixes></CommonPrefixes>" TAIL,
      "<!DOCTYPE a [<!ENTITY b \"p/\"><!ENTITY c \"&b;&b;\">]>" HEAD OBJECT("&c;", "1") TAIL,
      HEAD "<a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a>" TAIL,
  };
  for (size_t i = 0; i < COUNT(BODIES); i++) {
    gather_remote_listing listing = {NULL, 0, false, 0};
    char *token;
    if (read_list("s3://b/p/", BODIES[i], strlen(BODIES[i]), &listing, &token) != GATHER_FILE_MALFORMED)
      fail_msg("accepted: %s", BODIES[i]);
    assert_null(token);
    gather_remote_listing_clear(&listing);
  }
}

/* Every beginning of an answer, and an element that never ends. */
static void cut_off(void **state) {
  static const char BODY[] = HEAD "<IsTruncated>false</IsTruncated>" OBJECT("p/a", "1") TAIL;
  for (size_t bytes = 0; bytes < strlen(BODY); bytes++) {
    gather_remote_listing listing = {NULL, 0, false, 0};
    char *token;
    assert_status(read_list("s3://b/p/", BODY, bytes, &listing, &token), GATHER_FILE_MALFORMED);
    gather_remote_listing_clear(&listing);
  }
  gather_growing body = {0};
  gather_growing_text(&body, HEAD "<Contents><Key>");
  for (int i = 0; i < 100000; i++) gather_growing_text(&body, "aaaaaaaaaa");
  gather_remote_listing listing = {NULL, 0, false, 0};
  char *token;
  assert_status(read_list("s3://b/p/", body.text, body.bytes, &listing, &token), GATHER_FILE_MALFORMED);
  gather_growing_clear(&body);
}
#endif

/* ---- the hub */
#define HUB_FILE(path, size) "{\"type\":\"file\",\"path\":\"" path "\",\"size\":" size "}"
#define HUB_FOLDER(path) "{\"type\":\"directory\",\"path\":\"" path "\"}"

static void hub_addresses(void **state) {
  static const struct {
    const char *hub, *url, *want;
  } CASES[] = {{NULL, "hf://o/r", "https://huggingface.co/api/models/o/r/tree/main"},
               {"", "hf://o/r@v/1", "https://huggingface.co/api/models/o/r/tree/v/1"},
               {"http://h:8//", "hf://o/r/a b/", "http://h:8/api/models/o/r/tree/main/a%20b"},
               {"http://h", "hf://datasets/o/r@a%2Fb/d/", "http://h/api/datasets/o/r/tree/a%2Fb/d"},
               {"http://h", "hf://spaces/o/r", "http://h/api/spaces/o/r/tree/main"}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
    gather_remote_origin *origin;
    gather_growing address = {0};
    options.hub = CASES[i].hub;
    assert_status(gather_remote_origin_create(&options, CASES[i].url, &origin, NULL), GATHER_OK);
    hub_list_address(origin, &options, &address);
    assert_string_equal(address.text, CASES[i].want);
    gather_growing_clear(&address);
    gather_remote_origin_destroy(origin);
  }
}

static void hub_entries(void **state) {
  static const struct {
    const char *url, *body, *names; /* each with a blank; NULL: malformed */
    int64_t bytes;                  /* of all files */
  } CASES[] = {{"hf://o/r", "[]", "", 0},
               {"hf://o/r", "[" HUB_FILE("a", "5") "," HUB_FOLDER("d") "," HUB_FILE("b", "0") "]", "a d/ b ", 5},
               {"hf://o/r/d/", "[" HUB_FILE("d/a", "5") "," HUB_FOLDER("d/e") "]", "a e/ ", 5},
               {"hf://o/r", "{}", NULL, 0},
               {"hf://o/r", "", NULL, 0},
               {"hf://o/r", "[1]", NULL, 0},
               {"hf://o/r", "[{\"type\":\"file\",\"size\":1}]", NULL, 0},
               {"hf://o/r", "[{\"path\":\"a\",\"size\":1}]", NULL, 0},
               {"hf://o/r", "[{\"path\":\"a\",\"type\":\"file\"}]", NULL, 0},
               {"hf://o/r", "[" HUB_FILE("a", "-1") "]", NULL, 0},
               {"hf://o/r", "[" HUB_FILE("a", "1.5") "]", NULL, 0},
               {"hf://o/r", "[" HUB_FILE("a", "\"1\"") "]", NULL, 0},
               {"hf://o/r", "[" HUB_FILE("", "1") "]", NULL, 0},
               {"hf://o/r", "[" HUB_FILE("a", "1") "," HUB_FILE("", "1") "]", NULL, 0},
               {"hf://o/r/d/", "[" HUB_FILE("e/a", "1") "]", NULL, 0},
               {"hf://o/r/d/", "[" HUB_FILE("dd", "1") "]", NULL, 0},
               {"hf://o/r/d/", "[" HUB_FILE("d", "1") "]", NULL, 0},
               {"hf://o/r/d/", "[" HUB_FILE("d/", "1") "]", NULL, 0}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_remote_origin *origin = origin_of(CASES[i].url);
    gather_remote_listing listing = {NULL, 0, false, 0};
    gather_error error = {0};
    char names[100] = "";
    int64_t bytes = 0;
    gather_status status = hub_list_read(origin, CASES[i].body, strlen(CASES[i].body), &listing, &error);
    if (status == GATHER_UNSUPPORTED) { /* a build without JSON */
      gather_remote_origin_destroy(origin);
      return;
    }
    if (status != (CASES[i].names ? GATHER_OK : GATHER_FILE_MALFORMED)) fail_msg("%s: %d", CASES[i].body, (int)status);
    if (status != GATHER_OK) assert_error(&error, status);
    for (int64_t e = 0; e < listing.count; e++) {
      (void)strcat(strcat(names, listing.entries[e].name), " ");
      bytes += listing.entries[e].bytes;
    }
    if (CASES[i].names) assert_string_equal(names, CASES[i].names);
    if (CASES[i].names) assert_int_equal(bytes, CASES[i].bytes);
    gather_remote_listing_clear(&listing);
    gather_remote_origin_destroy(origin);
  }
  gather_remote_listing_clear(NULL);
}

/* What is no folder, and numbers of entries that are none; neither needs a server. */
static void not_listed(void **state) {
  static const char *const URLS[] = {NULL, "", "x", "https://h/", "https://h", "s3://b/k", "hf://o/r/f", "hf://o", "s3://"};
  gather_remote_listing listing;
  gather_error error = {0};
  for (size_t i = 0; i < COUNT(URLS); i++) {
    assert_false(gather_remote_is_folder(URLS[i]));
    assert_status(gather_remote_listing_read(URLS[i], NULL, 5, &listing, &error), GATHER_USAGE);
    assert_non_null(strstr(error.message, "only folders can be listed"));
    assert_int_equal(listing.count, 0);
  }
  static const char *const FOLDERS[] = {"s3://b", "S3://b/", "s3://b/a/", "hf://o/r", "hf://o/r/", "hf://datasets/o/r@v1/d/"};
  for (size_t i = 0; i < COUNT(FOLDERS); i++) {
    assert_true(gather_remote_is_folder(FOLDERS[i]));
    assert_status(gather_remote_listing_read(FOLDERS[i], NULL, 0, &listing, &error), GATHER_USAGE);
    assert_non_null(strstr(error.message, "at least 1"));
  }
}

int main(void) {
  int failed = RUN_TESTS(addresses, hub_addresses, hub_entries, not_listed);
#ifdef GATHER_HAVE_EXPAT
  failed += RUN_TESTS(entries, refused, cut_off);
#endif
  return failed;
}
