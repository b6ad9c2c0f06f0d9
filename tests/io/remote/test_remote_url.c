/* SPDX-License-Identifier: MIT
 *
 * test_remote_url.c: URLs, taken apart and resolved; what messages show of them; addresses that are never asked.
 */
#include <math.h>

#include "core/base/arena.h"
#include "gather/remote.h"
#include "io/remote/origin.h"
#include "support/unit.h"

static void test_parts(void **state) {
  static const struct {
    const char *given, *text, *name, *origin, *user;
  } CASES[] = {
      {"https://host/a/b", "https://host/a/b", "https://host/a/b", "https://host:443", NULL},
      {"HTTPS://Host.Example:443/A", "https://host.example/A", "https://host.example/A", "https://host.example:443", NULL},
      {"http://host", "http://host/", "http://host/", "http://host:80", NULL},
      {"http://host:8080?x=1#f", "http://host:8080/?x=1", "http://host:8080/", "http://host:8080", NULL},
      {"https://me:p%40ss@host/a?q#f", "https://host/a?q", "https://host/a", "https://host:443", "me:p@ss"},
      {"https://a@b@host/", "https://host/", "https://host/", "https://host:443", "a@b"},
      {"https://host/a b/\xc3\xa4?x y", "https://host/a%20b/%C3%A4?x%20y", "https://host/a%20b/%C3%A4", "https://host:443", NULL},
      {"https://host/%41/../b", "https://host/%41/../b", "https://host/%41/../b", "https://host:443", NULL},
      {"https://[2001:DB8::1]:9000/x", "https://[2001:db8::1]:9000/x", "https://[2001:db8::1]:9000/x", "https://[2001:db8::1]:9000", NULL},
      {"https://host/a\\b", "https://host/a%5Cb", "https://host/a%5Cb", "https://host:443", NULL},
      {"https://host:/x", "https://host/x", "https://host/x", "https://host:443", NULL},
  };
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
  static const char *const WRONG[] = {
      "https://",          "https:///path",        "https://ho st/",      "https://host:0/", "https://host:99999/", "https://host:12x/",
      "https://h\\ost/",   "https://h\xc3\xb6st/", "https://host%2eorg/", "https://[::1/",   "https://[::1%25lo]/", "https://[::1]x/",
      "https://host/a\nb", "https://host/\x7f",    "https://a b@host:x/"};
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

/* Hosts and ports, one character after the other; ports up to the last. */
static void test_each_character(void **state) {
  for (int c = 1; c < 256; c++) {
    const bool digit = c >= '0' && c <= '9', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    const struct {
      const char *format;
      bool good;
    } CASES[] = {{"https://h%ct/p", letter || digit || strchr("-._/?#@", c)},
                 {"https://[:%c:]/p", hex || c == ':' || c == '.'},
                 {"https://h:8%c8/p", digit || strchr("/?#@", c)},
                 {"https://h/a%cb", c >= ' ' && c != 0x7f}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
      char text[40];
      gather_arena arena = {0};
      gather_remote_url url;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      (void)snprintf(text, sizeof text, CASES[i].format, c);
#pragma GCC diagnostic pop
      const gather_status status = gather_remote_url_parse(&arena, text, &url, NULL);
      if (status != (CASES[i].good ? GATHER_OK : GATHER_USAGE)) fail_msg("%s: %d", text, (int)status);
      gather_arena_clear(&arena);
    }
  }
  static const struct {
    const char *port;
    bool good;
  } PORTS[] = {{"65535", true}, {"65536", false}, {"00080", true}, {"000080", true}, {"0000080", false}, {"1", true}};
  for (size_t i = 0; i < sizeof PORTS / sizeof *PORTS; i++) {
    char text[40];
    gather_arena arena = {0};
    gather_remote_url url;
    (void)snprintf(text, sizeof text, "https://h:%s/", PORTS[i].port);
    assert_int_equal(gather_remote_url_parse(&arena, text, &url, NULL), PORTS[i].good ? GATHER_OK : GATHER_USAGE);
    gather_arena_clear(&arena);
  }
  for (int bytes = 255; bytes <= 256; bytes++) {
    char text[300];
    gather_arena arena = {0};
    gather_remote_url url;
    (void)snprintf(text, sizeof text, "https://%0*d/", bytes, 0);
    assert_int_equal(gather_remote_url_parse(&arena, text, &url, NULL), bytes < 256 ? GATHER_OK : GATHER_USAGE);
    gather_arena_clear(&arena);
  }
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
  static const struct {
    int reach; /* -1: a name */
    const char *hosts[20];
  } ADDRESSES[] = {
      /* link-local, and those of clouds */
      {GATHER_REMOTE_CREDENTIALS,
       {ITEMS("169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.0", "169.254.255.255", "100.100.100.200", "168.63.129.16",
              "192.0.0.192", "fd00:ec2::254", "fd00:0ec2:0:0:0:0:0:0254", "fd00:ec2::23", "FD20:CE::254", "fe80::1", "febf:ffff::1")}},
      /* the same one, as libcurl and inet_aton read it */
      {GATHER_REMOTE_CREDENTIALS,
       {ITEMS("2852039166", "0xa9fea9fe", "0XA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376", "025177524776", "169.16689662", "169.254.43518",
              "0xa9.0376.43518", "169.254.169.254.")}},
      /* embedded in IPv6 */
      {GATHER_REMOTE_CREDENTIALS,
       {ITEMS("::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::169.254.169.254", "::ffff:0:169.254.169.254", "64:ff9b::169.254.169.254",
              "64:ff9b:1::169.254.169.254", "64:ff9b:1:a9fe:a9:fe00::", "2002:a9fe:a9fe::1", "2001:0:808:808:0:0:5601:5601",
              "2001:0:a9fe:a9fe::", "2001:db8::5efe:169.254.169.254", "2001:db8::200:5efe:6464:64c8", "::ffff:168.63.129.16")}},
      /* this machine */
      {GATHER_REMOTE_LOOPBACK,
       {ITEMS("127.0.0.1", "127.255.255.254", "127.1", "0x7f000001", "0", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
              "2002:7f00:1::")}},
      /* private */
      {GATHER_REMOTE_PRIVATE,
       {ITEMS("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fc00::1", "fd00:ec3::254", "fec0::1",
              "::ffff:10.0.0.1", "64:ff9b::192.168.0.1")}},
      /* neighbours of all those */
      {GATHER_REMOTE_PUBLIC,
       {ITEMS("169.253.255.255", "169.255.0.0", "168.63.129.17", "192.0.0.191", "128.0.0.1", "1.0.0.0", "11.0.0.0", "172.15.255.255",
              "172.32.0.0", "192.167.1.1", "100.128.0.0", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
              "2001:1::a9fe:a9fe")}},
      /* names, and what no resolver reads as an address */
      {-1,
       {ITEMS("example.org", "", "localhost", "169.254.169.256", "169.254.169.254.1", "169..254", "4294967296", "0xg", "08", "1.2.3.4x",
              ":::1")}},
  };
  for (size_t i = 0; i < COUNT(ADDRESSES); i++)
    for (const char *const *host = ADDRESSES[i].hosts; *host; host++) {
      gather_remote_reach reach = GATHER_REMOTE_PUBLIC;
      bool known = gather_remote_reach_named(*host, &reach);
      if (known != (ADDRESSES[i].reach >= 0) || (known && (int)reach != ADDRESSES[i].reach))
        fail_msg("%s: %d %d, not %d", *host, known, (int)reach, ADDRESSES[i].reach);
    }
  assert_int_equal(gather_remote_reach_of((const unsigned char *)"", 1), GATHER_REMOTE_CREDENTIALS);
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
  REFUSED(size, 0, GATHER_USAGE);
  REFUSED(size, sizeof(size_t) + 2, GATHER_USAGE);
  REFUSED(connections, -1, GATHER_USAGE);
  REFUSED(connections, 1025, GATHER_USAGE);
  REFUSED(retries, 101, GATHER_USAGE);
  REFUSED(retries, -2, GATHER_USAGE);
  REFUSED(try_seconds, 86401, GATHER_USAGE);
  REFUSED(take_seconds, -1, GATHER_USAGE);
  REFUSED(bearer, "a\x7f", GATHER_USAGE);
  REFUSED(try_seconds, -1, GATHER_USAGE);
  REFUSED(take_seconds, 1e30, GATHER_USAGE);
  REFUSED(take_seconds, (double)NAN, GATHER_USAGE);
  REFUSED(gap_bytes, -2, GATHER_USAGE);
  REFUSED(cache_bytes, -1, GATHER_USAGE);
  REFUSED(whole_bytes, -2, GATHER_USAGE);
  REFUSED(schemes, "ftp", GATHER_USAGE);
  REFUSED(bearer, "a\r\nX-Other: 1", GATHER_USAGE);
  /* A program of 0.2 has not the members since 0.3. */
  options.size = offsetof(gather_remote_options, whole_bytes);
  options.whole_bytes = -2;
  options.any_address = true;
  assert_int_equal(gather_remote_settings_take(&options, &settings, &error), GATHER_OK);
  assert_int_equal(settings.given.whole_bytes, 16 << 20);
  assert_false(settings.given.any_address);
  gather_remote_settings_clear(&settings);
  assert_true(gather_remote_scheme_listed("https,s3", "s3"));
  assert_false(gather_remote_scheme_listed("https,s3", "http"));
  assert_false(gather_remote_scheme_listed("", "http"));
}

TESTS(test_parts, test_refused, test_references, test_shown, test_addresses, test_is_url, test_options, test_each_character)
