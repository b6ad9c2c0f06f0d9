/* SPDX-License-Identifier: MIT
 *
 * test_refusal.c: what refusals mean, in words; and that these words never repeat a secret that a server sends back.
 */
#include "io/remote/origin.h"
#include "support/unit.h"

typedef struct refusal {
  const char *url;
  int status;
  const char *headers; /* "Name: value\n..." */
  const char *body;
  const char *words; /* all of them */
  int again;
} refusal;

#define S3_BODY(code, more) "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" code "</Code>" more "</Error>"

static const refusal S3[] = {
    {"s3://b/k", 403, "", S3_BODY("SignatureDoesNotMatch", "<AWSAccessKeyId>AKID</AWSAccessKeyId><StringToSign>secret</StringToSign>"),
     "the secret (AWS_SECRET_ACCESS_KEY) does not belong to the key id (SignatureDoesNotMatch)", 0},
    {"s3://b/k", 403, "", S3_BODY("InvalidAccessKeyId", ""), "the server does not know the key id (AWS_ACCESS_KEY_ID) (InvalidAccessKeyId)",
     0},
    {"s3://b/k", 400, "", S3_BODY("ExpiredToken", "<Token-0>secret</Token-0>"),
     "the session token (AWS_SESSION_TOKEN) has expired: log in again (ExpiredToken)", 0},
    {"s3://b/k", 403, "", S3_BODY("AccessDenied", ""),
     "access denied: these credentials may not read it, or it does not exist and they may not list the bucket (s3:ListBucket) "
     "(AccessDenied)",
     0},
    {"s3://b/k", 403, "Date: Sun, 30 Aug 2015 12:36:00 GMT\n", S3_BODY("RequestTimeTooSkewed", ""),
     "the clock of this machine is 1000 s ahead of the server's: set it (RequestTimeTooSkewed)", 0},
    {"s3://b/k", 403, "date:Sun, 30 Aug 2015 13:36:00 GMT\n", S3_BODY("RequestTimeTooSkewed", ""),
     "the clock of this machine is 2600 s behind the server's: set it (RequestTimeTooSkewed)", 0},
    {"s3://b/k", 403, "", S3_BODY("RequestTimeTooSkewed", ""),
     "the clock of this machine differs from the server's: set it (RequestTimeTooSkewed)", 0},
    {"s3://b/k", 400, "", S3_BODY("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"),
     "the bucket is in the region eu-west-1, not us-east-1: set AWS_REGION=eu-west-1 (AuthorizationHeaderMalformed)", 0},
    {"s3://b/k", 301, "X-Amz-Bucket-Region: eu-west-2\n", S3_BODY("PermanentRedirect", "<Endpoint>b.evil.org</Endpoint>"),
     "the bucket is in the region eu-west-2, not us-east-1: set AWS_REGION=eu-west-2 (PermanentRedirect)", 0},
    {"s3://b/k", 301, "x-amz-bucket-region: eu-west-2\n", "",
     "the bucket is in the region eu-west-2, not us-east-1: set AWS_REGION=eu-west-2", -1},
    {"s3://b/k", 301, "x-amz-bucket-region: a\033[31m\n", "",
     "the bucket is at another endpoint than that of the region us-east-1: set AWS_REGION", -1},
    {"s3://b/k", 307, "", S3_BODY("TemporaryRedirect", "<Region>us-east-1</Region>"),
     "the bucket is at another endpoint than that of the region us-east-1: set AWS_REGION (TemporaryRedirect)", 0},
    {"s3://b/k", 400, "", S3_BODY("IllegalLocationConstraintException", "<Region>eu-x-1</Region>"),
     "the bucket is in the region eu-x-1, not us-east-1: set AWS_REGION=eu-x-1 (IllegalLocationConstraintException)", 0},
    {"s3://b/k", 403, "Date: Sun, 30 Aug 2015 12:52:39 GMT\n", S3_BODY("RequestExpired", ""),
     "the clock of this machine differs from the server's: set it (RequestExpired)", 0},
    {"s3://b/k", 401, "", "",
     "access denied: these credentials may not read it, or it does not exist and they may not list the bucket (s3:ListBucket)", -1},
    {"s3://b/k", 401, "", S3_BODY("SomethingNew", ""), "the server says SomethingNew", -1},
    {"s3://b/k", 299, "", S3_BODY("SlowDown", ""), "the server asks for fewer requests (SlowDown)", -1},
    {"s3://b/k", 404, "", S3_BODY("NoSuchKey", ""), "no such object in the bucket (NoSuchKey)", 0},
    {"s3://b/k", 404, "", S3_BODY("NoSuchBucket", ""), "no such bucket (NoSuchBucket)", 0},
    {"s3://b/k", 404, "", "", "no such object or bucket", -1},
    {"s3://b/k", 403, "", S3_BODY("InvalidObjectState", ""), "the object is archived: it must be restored first (InvalidObjectState)", 0},
    {"s3://b/k", 503, "", S3_BODY("SlowDown", ""), "the server asks for fewer requests (SlowDown)", 1},
    {"s3://b/k", 400, "", S3_BODY("RequestTimeout", ""), "the server waited too long for the request (RequestTimeout)", 1},
    {"s3://b/k", 400, "", S3_BODY("SomethingNew", ""), "the server says SomethingNew", -1},
    {"s3://b/k", 400, "", S3_BODY("a code with secret", ""), "", -1},
    {"s3://b/k", 418, "", "", "", -1},
    /* Cut off, hostile, or no XML. */
    {"s3://b/k", 403, "", "<Error><Code>ExpiredToken</Code><Mess",
     "the session token (AWS_SESSION_TOKEN) has expired: log in again (ExpiredToken)", 0},
    {"s3://b/k", 403, "", "<!DOCTYPE x [<!ENTITY a \"secret\">]><Error><Code>&a;</Code></Error>",
     "access denied: these credentials may not read it, or it does not exist and they may not list the bucket (s3:ListBucket)", -1},
    {"s3://b/k", 403, "", "<html>secret</html>",
     "access denied: these credentials may not read it, or it does not exist and they may not list the bucket (s3:ListBucket)", -1},
    {"s3://b/k", 403, "", "<a><a><a><a><a><a><a><a><a><a><Error><Code>NoSuchKey</Code>",
     "access denied: these credentials may not read it, or it does not exist and they may not list the bucket (s3:ListBucket)", -1},
    {"s3://b/k", 403, "", "<Other><Code>NoSuchKey</Code></Other>",
     "access denied: these credentials may not read it, or it does not exist and they may not list the bucket (s3:ListBucket)", -1},
};

static const refusal HUB[] = {
    {"hf://o/r/f", 401, "X-Error-Code: GatedRepo\nX-Error-Message: secret\n", "secret",
     "access to o/r is granted on request on its page; then set HF_TOKEN to a token of the account that has access", -1},
    {"hf://o/r/f", 401, "X-Error-Code: RepoNotFound\n", "",
     "no such repository, or it is private: set HF_TOKEN to a token that can read it", -1},
    {"hf://o/r/f", 401, "", "", "no such repository, or it is private: set HF_TOKEN to a token that can read it", -1},
    {"hf://o/r@v9/f", 404, "X-Error-Code: RevisionNotFound\n", "", "the repository has no revision 'v9'", -1},
    {"hf://o/r/f", 404, "X-Error-Code: EntryNotFound\n", "", "no such file in the repository", -1},
    {"hf://o/r/f", 403, "", "", "access denied: set HF_TOKEN to a token that can read it", -1},
    {"hf://o/r/f", 429, "", "", "the hub limits requests without a token: set HF_TOKEN", -1},
    {"hf://o/r/f", 404, "", "", "no such file in the repository", -1},
    {"hf://o/r/f", 500, "", "", "", -1},
};

static const refusal PLAIN[] = {{"https://h/f", 401, "", "secret", "access denied", -1},
                                {"https://h/f", 403, "", "secret", "access denied", -1},
                                {"https://h/f", 404, "", "secret", "", -1}};

static void note(gather_remote_notes *notes, const char *headers) {
  while (*headers) {
    size_t line = strcspn(headers, "\n"), name = strcspn(headers, ":");
    gather_remote_notes_header(notes, headers, name, headers + name + 1, line - name - 1);
    headers += line + 1;
  }
}

static void assert_words(const gather_remote_options *options, const refusal *row) {
  gather_remote_origin *origin;
  gather_error error;
  gather_remote_notes notes = {{0}, {0}, {0}, {0}, 0, 0};
  gather_growing words = {0};
  assert_status(gather_remote_origin_create(options, row->url, &origin, &error), GATHER_OK);
  note(&notes, row->headers);
  const int again =
      gather_remote_origin_refusal(origin, options, row->status, &notes, row->body, strlen(row->body), 1440938160 + 1000, &words);
  assert_string_equal(words.text ? words.text : "", row->words);
  assert_int_equal(again, row->again);
  gather_growing_clear(&words);
  gather_remote_origin_destroy(origin);
}

static void s3_words(void **state) {
#ifdef GATHER_HAVE_EXPAT
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  options.key_id = "AKID";
  options.secret = "secret";
  for (size_t i = 0; i < COUNT(S3); i++) assert_words(&options, &S3[i]);
  /* Without credentials, they are what is missing. */
  options.key_id = options.secret = NULL;
  const refusal denied = {ITEMS("s3://b/k", 403, "", S3_BODY("AccessDenied", ""),
                                "access denied: the request was not signed, because there are no credentials (AWS_ACCESS_KEY_ID and "
                                "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE) (AccessDenied)",
                                0)};
  assert_words(&options, &denied);
#else
  (void)S3;
#endif
}

static void hub_words(void **state) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  for (size_t i = 0; i < COUNT(HUB); i++) assert_words(&options, &HUB[i]);
  for (size_t i = 0; i < COUNT(PLAIN); i++) assert_words(&options, &PLAIN[i]);
  options.bearer = "hf_secret";
  const refusal gated = {"hf://o/r/f",
                         403,
                         "X-Error-Code: GatedRepo\n",
                         "",
                         "access to o/r is granted on request on its page; the account of this token (HF_TOKEN) has no access yet",
                         -1};
  const refusal private = {ITEMS("hf://o/r/f", 404, "X-Error-Code: RepoNotFound\n", "",
                                 "no such repository, or it is private: the token (HF_TOKEN) has no access to it", -1)};
  static const refusal WITH_TOKEN[] = {{"hf://o/r/f", 403, "", "", "the token (HF_TOKEN) may not read it", -1},
                                       {"hf://o/r/f", 429, "", "", "the hub limits requests", -1},
                                       {"https://h/f", 401, "", "", "", -1}};
  assert_words(&options, &gated);
  assert_words(&options, &private);
  for (size_t i = 0; i < COUNT(WITH_TOKEN); i++) assert_words(&options, &WITH_TOKEN[i]);
}

static void notes(void **state) {
  gather_remote_notes notes = {{0}, {0}, {0}, {0}, 0, 0};
  note(&notes, "X-Repo-Commit: 0123456789abcdef0123456789abcdef01234567\r\nX-Linked-Size: 12345\nX-Linked-ETag: \"abc\"\n");
  assert_string_equal(notes.commit, "0123456789abcdef0123456789abcdef01234567");
  assert_string_equal(notes.linked_etag, "\"abc\"");
  assert_int_equal(notes.linked_bytes, 12346);
  memset(&notes, 0, sizeof notes);
  note(&notes, "X-Repo-Commit: a/../b\nX-Linked-Size: -1\nX-Linked-ETag: W/\"abc\"\nDate: yesterday\nX-Linked-Etag: \"a\"b\"\n");
  assert_string_equal(notes.commit, "");
  assert_string_equal(notes.linked_etag, "");
  assert_int_equal(notes.linked_bytes, 0);
  assert_int_equal(notes.date, 0);
  static const struct {
    const char *text;
    int64_t seconds;
  } DATES[] = {{"Date: Thu, 01 Jan 1970 00:00:01 GMT\n", 1},          {"Date: Tue, 29 Feb 2000 00:00:00 GMT\n", 951782400},
               {"Date: Wed, 01 Mar 2000 00:00:00 GMT\n", 951868800},  {"Date: Mon, 01 Mar 2100 00:00:00 GMT\n", 4107542400},
               {"Date: Tue, 31 Dec 2024 23:59:59 GMT\n", 1735689599}, {"Date: Mon, 01 Jan 2024 00:00:00 GMT\n", 1704067200}};
  for (size_t i = 0; i < COUNT(DATES); i++) {
    note(&notes, DATES[i].text);
    assert_int_equal(notes.date, DATES[i].seconds);
  }
}

static bool is_alnum(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/* What a header may have that messages and requests repeat, character by character. */
static void each_character(void **state) {
  for (int c = 1; c < 256; c++) {
    gather_remote_notes notes = {{0}, {0}, {0}, {0}, 0, 0};
    char value[8];
    (void)snprintf(value, sizeof value, "\"a%cb\"", c);
    gather_remote_notes_header(&notes, "X-Amz-Bucket-Region", 19, value + 1, 3);
    gather_remote_notes_header(&notes, "X-ERROR-CODE", 12, value + 1, 3);
    gather_remote_notes_header(&notes, "x-linked-etag", 13, value, 5);
    assert_true((notes.region[0] != '\0') == (is_alnum(c) || c == '-' || c == '_'));
    assert_true((notes.code[0] != '\0') == is_alnum(c));
    assert_true((notes.linked_etag[0] != '\0') == (c > ' ' && c < 0x7f && c != '"'));
    value[0] = '1', value[1] = (char)c, value[2] = '2';
    gather_remote_notes_header(&notes, "x-linked-size", 13, value, 3);
    assert_int_equal(notes.linked_bytes, c >= '0' && c <= '9' ? 102 + 10 * (c - '0') + 1 : 0);
  }
  /* Lengths: a code of 64 is kept, tags of 3 and more, numbers of 18 digits. */
  char text[400];
  memset(text, '7', sizeof text);
  for (size_t bytes = 0; bytes < 300; bytes++) {
    gather_remote_notes notes = {{0}, {0}, {0}, {0}, 0, 0};
    gather_remote_notes_header(&notes, "x-error-code", 12, text, bytes);
    gather_remote_notes_header(&notes, "x-linked-size", 13, text, bytes);
    gather_remote_notes_header(&notes, "x-linked-etag", 13, text, bytes);
    assert_int_equal(strlen(notes.code), bytes <= 64 ? bytes : 0);
    assert_true((notes.linked_bytes != 0) == (bytes >= 1 && bytes <= 18));
    assert_string_equal(notes.linked_etag, "");
    text[0] = '"', text[bytes > 0 ? bytes - 1 : 0] = '"';
    gather_remote_notes_header(&notes, "x-linked-etag", 13, text, bytes);
    assert_int_equal(strlen(notes.linked_etag), bytes >= 3 && bytes < sizeof notes.linked_etag ? bytes : 0);
    text[0] = '7', text[bytes > 0 ? bytes - 1 : 0] = '7';
  }
  /* A header that is named as none of them changes nothing, nor does a date of another form. */
  gather_remote_notes notes = {{0}, {0}, {0}, {0}, 0, 0}, none = notes;
  note(&notes, "X-Error-Cod: A\nX-Error-Codes: A\nDate: \nDate: Thu, 01 Jan 1970 00:00:01 GMT and more\nDate: 1\n");
  assert_memory_equal(&notes, &none, sizeof notes);
}

TESTS(s3_words, hub_words, notes, each_character)
