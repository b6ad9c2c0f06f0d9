/* SPDX-License-Identifier: MIT
 *
 * test_remote_url.c: URLs, taken apart and resolved; what messages show of them; addresses that are never asked.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "gather/remote.h"
#include "remote/remote_options.h"
#include "remote/remote_url.h"

static void test_parts(void **state) {
  static const struct {
    const char *given, *text, *name, *origin, *user;
  } CASES[] = {
      {"https://host/a/b", "https://host/a/b", "https://host/a/b", "https://host:443", NULL},
      {"HTTPS://Host.Example:443/A", "https://host.example/A", "https://host.example/A", "https://host.example:443",
       NULL},
      {"http://host", "http://host/", "http://host/", "http://host:80", NULL},
      {"http://host:8080?x=1#f", "http://host:8080/?x=1", "http://host:8080/", "http://host:8080", NULL},
      {"https://me:p%40ss@host/a?q#f", "https://host/a?q", "https://host/a", "https://host:443", "me:p@ss"},
      {"https://a@b@host/", "https://host/", "https://host/", "https://host:443", "a@b"},
      {"https://host/a b/\xc3\xa4?x y", "https://host/a%20b/%C3%A4?x%20y", "https://host/a%20b/%C3%A4",
       "https://host:443", NULL},
      {"https://host/%41/../b", "https://host/%41/../b", "https://host/%41/../b", "https://host:443", NULL},
      {"https://[2001:DB8::1]:9000/x", "https://[2001:db8::1]:9000/x", "https://[2001:db8::1]:9000/x",
       "https://[2001:db8::1]:9000", NULL},
      {"https://host/a\\b", "https://host/a%5Cb", "https://host/a%5Cb", "https://host:443", NULL},
      {"https://host:/x", "https://host/x", "https://host/x", "https://host:443", NULL},
  };
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_arena arena = {0};
    gather_remote_url url;
    assert_int_equal(gather_remote_url_parse(&arena, CASES[i].given, &url, NULL), GATHER_OK);
    assert_string_equal(url.text, CASES[i].text);
    assert_string_equal(url.name, CASES[i].name);
    assert_string_equal(url.origin, CASES[i].origin);
    if (CASES[i].user)
      assert_string_equal(url.user, CASES[i].user);
    else
      assert_null(url.user);
    gather_arena_clear(&arena);
  }
}

static void test_refused(void **state) {
  static const char *const WRONG[] = {"https://",          "https:///path",        "https://ho st/",
                                      "https://host:0/",   "https://host:99999/",  "https://host:12x/",
                                      "https://h\\ost/",   "https://h\xc3\xb6st/", "https://host%2eorg/",
                                      "https://[::1/",     "https://[::1%25lo]/",  "https://[::1]x/",
                                      "https://host/a\nb", "https://host/\x7f",    "https://a b@host:x/"};
  (void)state;
  gather_arena arena = {0};
  gather_remote_url url;
  gather_error error;
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
    assert_int_equal(gather_remote_url_parse(&arena, WRONG[i], &url, &error), GATHER_USAGE);
    assert_non_null(strstr(error.message, "invalid URL"));
  }
  assert_int_equal(gather_remote_url_parse(&arena, "ftp://host/", &url, &error), GATHER_UNSUPPORTED);
  static char longest[GATHER_REMOTE_URL_BYTES + 2];
  memset(longest, 'a', sizeof longest - 1);
  memcpy(longest, "https://host/", 13);
  assert_int_equal(gather_remote_url_parse(&arena, longest, &url, &error), GATHER_USAGE);
  longest[GATHER_REMOTE_URL_BYTES] = '\0';
  assert_int_equal(gather_remote_url_parse(&arena, longest, &url, &error), GATHER_OK);
  gather_arena_clear(&arena);
}

static void test_references(void **state) {
  static const struct {
    const char *reference, *text;
  } CASES[] = {{"https://other/x", "https://other/x"},
               {"//other:81/x", "http://other:81/x"},
               {"/x?y", "http://host:80/x?y"},
               {"c", "http://host:80/a/c"},
               {"../c", "http://host:80/c"},
               {"../../../c/./d", "http://host:80/c/d"},
               {"./", "http://host:80/a/"},
               {"..", "http://host:80/"},
               {"?n=1", "http://host:80/a/b?n=1"},
               {"", "http://host:80/a/b"},
               {"c/../d/.", "http://host:80/a/d/"},
               {"#f", "http://host:80/a/b"}};
  (void)state;
  gather_arena arena = {0};
  gather_remote_url base, url;
  assert_int_equal(gather_remote_url_parse(&arena, "http://u:p@host:80/a/b?q=secret", &base, NULL), GATHER_OK);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char expected[100] = "";
    const char *port = strstr(CASES[i].text, "host:80");
    if (port)
      (void)snprintf(expected, sizeof expected, "http://host%s", port + 7);
    else
      (void)snprintf(expected, sizeof expected, "%s", CASES[i].text);
    assert_int_equal(gather_remote_url_resolve(&arena, &base, CASES[i].reference, &url, NULL), GATHER_OK);
    assert_string_equal(url.text, expected);
    assert_null(url.user);
  }
  assert_int_equal(gather_remote_url_resolve(&arena, &base, "file:///etc/passwd", &url, NULL), GATHER_UNSUPPORTED);
  assert_int_equal(gather_remote_url_resolve(&arena, &base, "javascript:x", &url, NULL), GATHER_UNSUPPORTED);
  gather_arena_clear(&arena);
}

static void test_shown(void **state) {
  static const struct {
    const char *given, *shown;
  } CASES[] = {{"https://u:p@host/a?token=x#f", "https://host/a"},
               {"https://host?x", "https://host"},
               {"s3://bucket/key", "s3://bucket/key"},
               {"plain", "plain"},
               {"?://", ""},
               {"a/b?sig=s&next=https://u:p@h/c", "a/b"},
               {"https://u:p@x@host/@b", "https://host/@b"}};
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char shown[100];
    gather_remote_url_shown(CASES[i].given, shown, sizeof shown);
    assert_string_equal(shown, CASES[i].shown);
  }
  char few[9];
  gather_remote_url_shown("https://host/a", few, sizeof few);
  assert_string_equal(few, "https://");
}

static void test_addresses(void **state) {
  static const char *const METADATA[] = {"169.254.169.254", "fd00:ec2::254", "fd00:0ec2:0:0:0:0:0:0254",
                                         "::ffff:169.254.169.254", "::ffff:a9fe:a9fe"};
  static const char *const OTHERS[] = {"169.254.169.253", "127.0.0.1", "::1", "fd00:ec2::253", "example.org", ""};
  (void)state;
  for (size_t i = 0; i < sizeof METADATA / sizeof *METADATA; i++)
    assert_true(gather_remote_names_metadata(METADATA[i]));
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) assert_false(gather_remote_names_metadata(OTHERS[i]));
  static const struct {
    const char *url;
    bool loopback;
  } HOSTS[] = {{"http://localhost/", true},     {"http://127.0.0.1:8080/", true}, {"http://[::1]/", true},
               {"http://127.evil.org/", false}, {"http://localhost.org/", false}, {"http://128.0.0.1/", false}};
  for (size_t i = 0; i < sizeof HOSTS / sizeof *HOSTS; i++) {
    gather_arena arena = {0};
    gather_remote_url url;
    assert_int_equal(gather_remote_url_parse(&arena, HOSTS[i].url, &url, NULL), GATHER_OK);
    assert_int_equal(url.loopback, HOSTS[i].loopback);
    gather_arena_clear(&arena);
  }
}

static void test_is_url(void **state) {
  (void)state;
  assert_true(gather_remote_is_url("https://x"));
  assert_true(gather_remote_is_url("HTTP://x"));
  assert_true(gather_remote_is_url("s3://b/k"));
  assert_true(gather_remote_is_url("hf://o/r/f"));
  assert_false(gather_remote_is_url("https:/x"));
  assert_false(gather_remote_is_url("httpsx://x"));
  assert_false(gather_remote_is_url("file.npy"));
  assert_false(gather_remote_is_url("h"));
  assert_false(gather_remote_is_url(""));
  assert_false(gather_remote_is_url(NULL));
}

static void test_options(void **state) {
  (void)state;
  gather_remote_settings settings;
  gather_error error;
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  assert_int_equal(gather_remote_settings_take(NULL, &settings, NULL), GATHER_OK);
  assert_int_equal(settings.given.connections, 64);
  assert_int_equal(settings.given.retries, 8);
  assert_true(settings.given.try_seconds == 20 && settings.given.take_seconds == 60);
  assert_string_equal(settings.given.schemes, gather_remote_schemes());
  gather_remote_settings_clear(&settings);
#define REFUSED(field, value, with)                                                   \
  do {                                                                                \
    gather_remote_options changed = options;                                          \
    changed.field = (value);                                                          \
    assert_int_equal(gather_remote_settings_take(&changed, &settings, &error), with); \
  } while (0)
  REFUSED(size, 8, GATHER_USAGE);
  REFUSED(connections, -1, GATHER_USAGE);
  REFUSED(connections, 1025, GATHER_USAGE);
  REFUSED(retries, 101, GATHER_USAGE);
  REFUSED(try_seconds, -1, GATHER_USAGE);
  REFUSED(take_seconds, 1e30, GATHER_USAGE);
  REFUSED(take_seconds, (double)NAN, GATHER_USAGE);
  REFUSED(gap_bytes, -2, GATHER_USAGE);
  REFUSED(cache_bytes, -1, GATHER_USAGE);
  REFUSED(schemes, "ftp", GATHER_USAGE);
  REFUSED(bearer, "a\r\nX-Other: 1", GATHER_USAGE);
  assert_true(gather_remote_scheme_listed("https,s3", "s3"));
  assert_false(gather_remote_scheme_listed("https,s3", "http"));
  assert_false(gather_remote_scheme_listed("", "http"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts),      cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_references), cmocka_unit_test(test_shown),
                                     cmocka_unit_test(test_addresses),  cmocka_unit_test(test_is_url),
                                     cmocka_unit_test(test_options)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
