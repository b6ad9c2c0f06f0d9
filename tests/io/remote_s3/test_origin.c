/* SPDX-License-Identifier: MIT
 *
 * test_origin.c: what URLs stand for, and who gets credentials.
 */
#include "io/remote/origin.c"
#include "support/unit.h"

static gather_remote_options options_with(const char *endpoint, const char *region, bool virtual_host) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  options.endpoint = endpoint;
  options.region = region;
  options.virtual_host = virtual_host;
  return options;
}

static void assert_origin(const gather_remote_options *options, const char *url, const char *address, const char *name) {
  gather_remote_origin *origin;
  gather_error error;
  if (gather_remote_origin_create(options, url, &origin, &error) != GATHER_OK) fail_msg("%s: %s", url, error.message);
  assert_string_equal(origin->url, address);
  assert_string_equal(origin->name, name);
  gather_remote_origin_destroy(origin);
}

static void assert_refused(const gather_remote_options *options, const char *url, const char *words) {
  gather_remote_origin *origin;
  gather_error error;
  gather_status status = gather_remote_origin_create(options, url, &origin, &error);
  if (status == GATHER_OK) fail_msg("accepted: %s as %s", url, origin->url);
  assert_error(&error, GATHER_USAGE);
  assert_null(origin);
  if (!strstr(error.message, words)) fail_msg("%s: %s", url, error.message);
  assert_null(strstr(error.message, "s3cret"));
}

static void plain(void **state) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  assert_origin(&options, "https://h/a/b?sig=s3cret#x", "https://h/a/b?sig=s3cret#x", "https://h/a/b");
  assert_origin(&options, "HTTP://user:s3cret@h:8080/a", "HTTP://user:s3cret@h:8080/a", "HTTP://h:8080/a");
  assert_refused(&options, "ftp://h/a", "not a URL");
  assert_refused(&options, "https:///a", "without a host");
  assert_refused(&options, "https://h/a b?s3cret", "byte 11");
  assert_refused(&options, "https://h/a\r\nX: s3cret", "byte 11");
}

static bool is_alnum(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/* Whether a URL is accepted; a refusal is of the usage. */
static bool accepts(const gather_remote_options *options, const char *url) {
  gather_remote_origin *origin;
  gather_error error;
  gather_status status = gather_remote_origin_create(options, url, &origin, &error);
  if (status != GATHER_OK) assert_error(&error, GATHER_USAGE);
  gather_remote_origin_destroy(origin);
  return status == GATHER_OK;
}

/* Where a host name, a path, a bucket, a region, an endpoint or a revision is written, one character after the other. */
static void each_character(void **state) {
  static const gather_remote_options OPTIONS = GATHER_REMOTE_OPTIONS_INIT;
  for (int c = 1; c < 256; c++) {
    char text[64];
    const bool label = is_alnum(c) || c == '-' || c == '_', blank = c <= ' ' || c == 0x7f;
    (void)snprintf(text, sizeof text, "https://h/a%cb", c);
    assert_true(accepts(&OPTIONS, text) == !blank);
    (void)snprintf(text, sizeof text, "s3://a%cb/k", c);
    assert_true(accepts(&OPTIONS, text) == (label || c == '.' || c == '/'));
    (void)snprintf(text, sizeof text, "s3://%c/k", c);
    assert_true(accepts(&OPTIONS, text) == (is_alnum(c) || c == '_'));
    (void)snprintf(text, sizeof text, "hf://o/r/a%cb", c);
    assert_true(accepts(&OPTIONS, text) == (c >= ' ' && c != 0x7f));
    (void)snprintf(text, sizeof text, "hf://o/r@a%%%02xb/f", c);
    assert_true(accepts(&OPTIONS, text) == (c >= ' ' && c != 0x7f && c != '\\'));
    (void)snprintf(text, sizeof text, "a%cb", c);
    const gather_remote_options region = options_with(NULL, text, false);
    assert_true(accepts(&region, "s3://b/k") == label);
    (void)snprintf(text, sizeof text, "https://a%cb", c);
    const gather_remote_options endpoint = options_with(text, NULL, false);
    assert_true(accepts(&endpoint, "s3://b/k") == (!blank && !strchr("@?#\"<>\\^`{|}", c)));
    gather_remote_options secret = OPTIONS;
    secret.bearer = text;
    assert_true(accepts(&secret, "https://h/a") == (!blank && c < 0x7f));
  }
}

/* As long as can be, and longer by one. */
static void lengths(void **state) {
  static const gather_remote_options OPTIONS = GATHER_REMOTE_OPTIONS_INIT;
  static const struct {
    const char *begin, *end;
    int most;
  } CASES[] = {{"s3://", "/k", 255}, {"s3://b/", "", 1024}, {"hf://o/r/", "", 4096 - 4}};
  for (size_t i = 0; i < COUNT(CASES); i++)
    for (int more = 0; more < 2; more++) {
      char text[5000];
      (void)snprintf(text, sizeof text, "%s%0*d%s", CASES[i].begin, CASES[i].most + more, 0, CASES[i].end);
      assert_true(accepts(&OPTIONS, text) == !more);
    }
  for (int more = 0; more < 2; more++) {
    char region[100];
    (void)snprintf(region, sizeof region, "%0*d", 64 + more, 0);
    const gather_remote_options options = options_with(NULL, region, false);
    assert_true(accepts(&options, "s3://b/k") == !more);
  }
}

static void s3_path_style(void **state) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  assert_origin(&options, "s3://b/k", "https://s3.us-east-1.amazonaws.com/b/k", "s3://b/k");
  assert_origin(&options, "s3://b", "https://s3.us-east-1.amazonaws.com/b/", "s3://b/");
  assert_origin(&options, "S3://b/", "https://s3.us-east-1.amazonaws.com/b/", "s3://b/");
  /* Keys are bytes: each is encoded, none is resolved. */
  assert_origin(&options, "s3://b//a//b/../c/./d", "https://s3.us-east-1.amazonaws.com/b//a//b/../c/./d", "s3://b//a//b/../c/./d");
  assert_origin(&options, "s3://b/a b+c%20d?e#f&g=h", "https://s3.us-east-1.amazonaws.com/b/a%20b%2Bc%2520d%3Fe%23f%26g%3Dh",
                "s3://b/a b+c%20d?e#f&g=h");
  assert_origin(&options, "s3://b/\xc3\xa4\x01\x7f\xff~-_.", "https://s3.us-east-1.amazonaws.com/b/%C3%A4%01%7F%FF~-_.",
                "s3://b/\xc3\xa4\x01\x7f\xff~-_.");
  options = options_with("http://127.0.0.1:9000", NULL, false);
  assert_origin(&options, "s3://b/k", "http://127.0.0.1:9000/b/k", "s3://b/k");
  options = options_with("https://gate.example.org/storage/v1/s3/", "eu-west-1", false);
  assert_origin(&options, "s3://b/k", "https://gate.example.org/storage/v1/s3/b/k", "s3://b/k");
  options = options_with(NULL, "cn-north-1", false);
  assert_origin(&options, "s3://b/k", "https://s3.cn-north-1.amazonaws.com.cn/b/k", "s3://b/k");
}

static void s3_virtual_host(void **state) {
  gather_remote_options options = options_with(NULL, "eu-central-1", true);
  assert_origin(&options, "s3://b/k", "https://b.s3.eu-central-1.amazonaws.com/k", "s3://b/k");
  assert_origin(&options, "s3://b", "https://b.s3.eu-central-1.amazonaws.com/", "s3://b/");
  /* No certificate covers these. */
  assert_origin(&options, "s3://a.b/k", "https://s3.eu-central-1.amazonaws.com/a.b/k", "s3://a.b/k");
  assert_origin(&options, "s3://a_b/k", "https://s3.eu-central-1.amazonaws.com/a_b/k", "s3://a_b/k");
  options = options_with("https://s3.test", NULL, true);
  assert_origin(&options, "s3://b/k", "https://b.s3.test/k", "s3://b/k");
  assert_origin(&options, "s3://a.b/k", "https://s3.test/a.b/k", "s3://a.b/k");
  options = options_with("http://s3.test:80", NULL, true);
  assert_origin(&options, "s3://a.b/k", "http://a.b.s3.test:80/k", "s3://a.b/k");
}

static void s3_refused(void **state) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  char key[1200] = "s3://b/";
  memset(key + 7, 'k', 1100);
  assert_refused(&options, "s3://", "invalid bucket");
  assert_refused(&options, "s3:///k", "invalid bucket");
  assert_refused(&options, "s3://b@evil/k", "invalid bucket");
  assert_refused(&options, "s3://b:80/k", "invalid bucket");
  assert_refused(&options, "s3://../k", "invalid bucket");
  assert_refused(&options, key, "1024");
  static const char *const ENDPOINTS[] = {"h",           "ftp://h",    "https://",      "https://u:s3cret@h", "https://h?s3cret",
                                          "https://h#x", "http://h\n", "https://h/a b", "https:///x"};
  for (size_t i = 0; i < COUNT(ENDPOINTS); i++) {
    options = options_with(ENDPOINTS[i], NULL, false);
    assert_refused(&options, "s3://b/k", "invalid endpoint");
  }
  static const char *const REGIONS[] = {"evil.example.org/", "a@b", "a b", "x\r\ny", "a#"};
  for (size_t i = 0; i < COUNT(REGIONS); i++) {
    options = options_with(NULL, REGIONS[i], false);
    assert_refused(&options, "s3://b/k", "invalid region");
  }
  options = (gather_remote_options)GATHER_REMOTE_OPTIONS_INIT;
  options.key_id = "AKID";
  assert_refused(&options, "s3://b/k", "the secret is missing");
  options.key_id = "", options.secret = "s3cret";
  assert_refused(&options, "s3://b/k", "the key id is missing");
  options.key_id = "AKID\r\nX-s3cret: 1";
  options.secret = "s3cret";
  assert_refused(&options, "s3://b/k", "the key id has");
  options.key_id = "AKID";
  options.session_token = "a\nb";
  assert_refused(&options, "s3://b/k", "the session token has");
}

static void hub(void **state) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  assert_origin(&options, "hf://o/r/f.bin", "https://huggingface.co/o/r/resolve/main/f.bin", "hf://o/r/f.bin");
  assert_origin(&options, "hf://o/r@main/f", "https://huggingface.co/o/r/resolve/main/f", "hf://o/r/f");
  assert_origin(&options, "hf://o/r@v1.0/a/b c", "https://huggingface.co/o/r/resolve/v1.0/a/b%20c", "hf://o/r@v1.0/a/b c");
  assert_origin(&options, "hf://datasets/o/r/f", "https://huggingface.co/datasets/o/r/resolve/main/f", "hf://datasets/o/r/f");
  assert_origin(&options, "hf://spaces/o/r@x/f", "https://huggingface.co/spaces/o/r/resolve/x/f", "hf://spaces/o/r@x/f");
  assert_origin(&options, "hf://o/r@refs/pr/3/f", "https://huggingface.co/o/r/resolve/refs%2Fpr%2F3/f", "hf://o/r@refs/pr/3/f");
  assert_origin(&options, "hf://datasets/o/r@refs/convert/parquet/d/f",
                "https://huggingface.co/datasets/o/r/resolve/refs%2Fconvert%2Fparquet/d/f", "hf://datasets/o/r@refs/convert/parquet/d/f");
  assert_origin(&options, "hf://o/r@my%2Fbranch/f", "https://huggingface.co/o/r/resolve/my%2Fbranch/f", "hf://o/r@my%2Fbranch/f");
  assert_origin(&options, "hf://o/r@v1..2/.../f..", "https://huggingface.co/o/r/resolve/v1..2/.../f..", "hf://o/r@v1..2/.../f..");
  assert_origin(&options, "hf://o/r/a%20b?c#d@e", "https://huggingface.co/o/r/resolve/main/a%2520b%3Fc%23d%40e", "hf://o/r/a%20b?c#d@e");
  assert_origin(&options, "hf://o/r", "https://huggingface.co/o/r/resolve/main/", "hf://o/r/");
  options.hub = "http://127.0.0.1:81/";
  assert_origin(&options, "hf://o/r/f", "http://127.0.0.1:81/o/r/resolve/main/f", "hf://o/r/f");
}

static void hub_refused(void **state) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  static const char *const NAMES[] = {
      ITEMS("hf://", "hf://o", "hf://o/", "hf:///r/f", "hf://o/../f", "hf://../r/f", "hf://o/r/../f", "hf://o/r/./f", "hf://o/r//f",
            "hf://o/r@/f", "hf://datasets/", "hf://datasets/o", "hf://o/r@../f", "hf://o/r@./f", "hf://o/r@%2e%2e/f",
            "hf://o/r@..%2F..%2Fapi/f", "hf://o/r@a%2F..%2Fb/f", "hf://o/r@a%2f%2fb/f", "hf://o/r@%2Fa/f", "hf://o/r@a%2F/f",
            "hf://o/r@refs/pr/../f", "hf://o/r@refs/convert/./f", "hf://o/r@a%5C..%5Cb/f", "hf://o/r@%252e%252e/f", "hf://o/r@%2e/f",
            "hf://o/r/%2e%2E/f", "hf://o/r/a/.%2e/f", "hf://../r/f", "hf://o/../f", "hf://%2E%2e/r/f", "hf://o/%2e./f",
            "hf://datasets/o/..@main/f", "hf://o@x/r/f", "hf://o/r@%zz/f", "hf://o/r@%00/f", "hf://o/r/a\nb")};
  for (size_t i = 0; i < COUNT(NAMES); i++) assert_refused(&options, NAMES[i], "invalid name");
  options.hub = "huggingface.co";
  assert_refused(&options, "hf://o/r/f", "invalid hub");
  options.hub = NULL;
  options.bearer = "hf_s3cret\n";
  assert_refused(&options, "hf://o/r/f", "the token has");
}

static void pinned(void **state) {
  static const char COMMIT[] = "0123456789abcdef0123456789abcdef01234567";
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  gather_remote_origin *origin;
  gather_error error;
  assert_status(gather_remote_origin_create(&options, "hf://o/r/d/f", &origin, &error), GATHER_OK);
  /* What is no commit changes nothing. */
  static const char *const OTHERS[] = {"", "main", "0123", "0123456789ABCDEF0123456789abcdef01234567",
                                       "0123456789abcdef0123456789abcdef0123456/"};
  for (size_t i = 0; i < COUNT(OTHERS); i++) {
    assert_status(pin(origin, &options, OTHERS[i], &error), GATHER_OK);
    assert_string_equal(origin->name, "hf://o/r/d/f");
  }
  assert_status(pin(origin, &options, COMMIT, &error), GATHER_OK);
  assert_string_equal(origin->url, "https://huggingface.co/o/r/resolve/0123456789abcdef0123456789abcdef01234567/d/f");
  assert_string_equal(origin->name, "hf://o/r@0123456789abcdef0123456789abcdef01234567/d/f");
  assert_origin(&options, origin->name, origin->url, origin->name);
  gather_remote_origin_destroy(origin);
}

static void same_hosts(void **state) {
  assert_true(same_host("https://h/a", "HTTPS://H?b"));
  assert_true(same_host("https://h:1", "https://h:1/x"));
  static const char *const OTHERS[] = {ITEMS("http://h/a", "https://h:443/a", "https://h.evil/a", "https://evil/https://h/a",
                                             "https://h@evil/", "https://x@h/a", "https://", "h", "https:/h/a", "")};
  for (size_t i = 0; i < COUNT(OTHERS); i++) {
    if (same_host("https://h/a", OTHERS[i])) fail_msg("the same host as %s", OTHERS[i]);
    if (same_host(OTHERS[i], "https://h/a")) fail_msg("the same host as %s", OTHERS[i]);
  }
}

/* The header lines of a request, with newlines for their zero bytes. */
static const char *lines_of(const gather_remote_options *options, const char *url, const char *asked) {
  static char text[4096];
  gather_remote_origin *origin;
  gather_error error;
  gather_growing lines = {0};
  if (gather_remote_origin_create(options, url, &origin, &error) != GATHER_OK) fail_msg("%s", error.message);
  add_proof(origin, options, asked ? asked : origin->url, 1369353600, &lines);
  assert_false(lines.failed);
  assert_true(lines.bytes < sizeof text);
  for (size_t i = 0; i < lines.bytes; i++) text[i] = lines.text[i] ? lines.text[i] : '\n';
  text[lines.bytes] = '\0';
  gather_growing_clear(&lines);
  gather_remote_origin_destroy(origin);
  return text;
}

/* Credentials are for one host. */
static void headers(void **state) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  assert_string_equal(lines_of(&options, "s3://b/k", NULL), "");
  options.bearer = "hf_token";
  options.key_id = "AKIAIOSFODNN7EXAMPLE";
  options.secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  assert_string_equal(lines_of(&options, "hf://o/r/f", NULL), "Authorization: Bearer hf_token\n");
  assert_string_equal(lines_of(&options, "hf://o/r/f", "https://huggingface.co/api/x"), "Authorization: Bearer hf_token\n");
  assert_string_equal(lines_of(&options, "hf://o/r/f", "https://cdn.example.org/f?sig"), "");
  assert_string_equal(lines_of(&options, "hf://o/r/f", "http://huggingface.co/o/r"), "");
  assert_string_equal(lines_of(&options, "https://h/f", NULL), "Authorization: Bearer hf_token\n");
  options.bearer = "";
  assert_string_equal(lines_of(&options, "https://h/f", NULL), "");
  options.bearer = "hf_token";
  assert_string_equal(lines_of(&options, "http://h/f", NULL), ""); /* anybody could read it */
  assert_string_equal(lines_of(&options, "s3://b/k", "https://evil.example.org/b/k"), "");
  assert_string_equal(lines_of(&options, "s3://b/k", "https://s3.us-east-1.amazonaws.com.evil.org/b/k"), "");
  const char *lines = lines_of(&options, "s3://b/k", NULL);
  assert_non_null(strstr(lines,
                         "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
                         "aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="));
  assert_non_null(strstr(lines, "\nx-amz-date: 20130524T000000Z\n"));
  assert_null(strstr(lines, "wJalr"));
  assert_null(strstr(lines, "token"));
  /* The host that is signed has no port where that is the scheme's own, and small letters. */
  static const struct {
    const char *one, *other;
    bool same;
  } HOSTS[] = {{"http://h.org", "http://h.org:80", true},     {"https://h.org", "https://h.org:443", true},
               {"http://h.org", "http://h.org:443", false},   {"https://h.org", "https://h.org:80", false},
               {"http://h.org", "http://h.org:8080", false},  {"http://h.org:180", "http://h.org:1", false},
               {"https://h.org", "https://H.ORG:443/", true}, {"https://h.org", "https://h.orh", false}};
  for (size_t i = 0; i < COUNT(HOSTS); i++) {
    char one[4096];
    options.endpoint = HOSTS[i].one;
    (void)snprintf(one, sizeof one, "%s", lines_of(&options, "s3://b/k", NULL));
    options.endpoint = HOSTS[i].other;
    if ((strcmp(one, lines_of(&options, "s3://b/k", NULL)) == 0) != HOSTS[i].same) fail_msg("%s and %s", HOSTS[i].one, HOSTS[i].other);
  }
  options.endpoint = NULL;
  options.session_token = "session";
  lines = lines_of(&options, "s3://b/k", NULL);
  assert_non_null(strstr(lines, ";x-amz-security-token, Signature="));
  assert_non_null(strstr(lines, "\nx-amz-security-token: session\n"));
}

static void percent(void **state) {
  static const struct {
    const char *text, *plain, *plus;
  } CASES[] = {{"a%20b+c", "a b+c", "a b c"},
               {"%2b%2F%c3%A4", "+/\xc3\xa4", "+/\xc3\xa4"},
               {"", "", ""},
               {"%", NULL, NULL},
               {"%2", NULL, NULL},
               {"%zz", NULL, NULL},
               {"%00", NULL, NULL},
               {"%0g", NULL, NULL},
               {"%g0", NULL, NULL},
               {"%/0%0/", NULL, NULL},
               {"%:0", NULL, NULL},
               {"%0:", NULL, NULL},
               {"%@0", NULL, NULL},
               {"%0`", NULL, NULL},
               {"%4a%4A%5f%aF", "JJ_\xaf", "JJ_\xaf"}};
  for (size_t i = 0; i < COUNT(CASES); i++)
    for (int plus = 0; plus < 2; plus++) {
      gather_growing text = {0};
      const char *want = plus ? CASES[i].plus : CASES[i].plain;
      assert_true(gather_percent_decode(&text, CASES[i].text, strlen(CASES[i].text), plus) == (want != NULL));
      if (want) assert_string_equal(text.text ? text.text : "", want);
      gather_growing_clear(&text);
    }
}

TESTS(plain, s3_path_style, s3_virtual_host, s3_refused, hub, hub_refused, pinned, same_hosts, headers, percent, each_character, lengths)
