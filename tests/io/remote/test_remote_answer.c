/* SPDX-License-Identifier: MIT
 *
 * test_remote_answer.c: header lines, ranges and dates, and what an answer means.
 */
#include "io/remote/answer.c"
#include "support/unit.h"

/* Feeds header lines, separated by '\n'; returns whether all were taken. */
static bool feed(gather_remote_answer *answer, const char *lines) {
  while (*lines) {
    size_t length = strcspn(lines, "\n");
    char line[300];
    (void)snprintf(line, sizeof line, "%.*s\r\n", (int)length, lines);
    if (!gather_answer_line(answer, line, strlen(line))) return false;
    lines += length + (lines[length] == '\n');
  }
  return gather_answer_line(answer, "\r\n", 2);
}

static const char TAG[] = "\"v1\"", DATE[] = "Sun, 06 Nov 1994 08:49:37 GMT";

/* How a request for bytes 100 to 199 of 1000 is answered. */
static gather_remote_verdict judged(const char *lines, gather_remote_question question, char *why) {
  gather_remote_answer answer = {0};
  (void)feed(&answer, lines);
  gather_remote_verdict verdict = gather_answer_judge(&answer, &question, why);
  gather_answer_clear(&answer);
  return verdict;
}

static void test_judged(void **state) {
#define RANGE "HTTP/1.1 206 Partial\nContent-Range: bytes 100-199/1000\n"
#define DATED "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n"
  static const struct {
    const char *lines, *etag;
    gather_remote_verdict verdict;
    const char *why;
  } CASES[] = {
      {RANGE "Content-Length: 100\nETag: \"v1\"\n", TAG, GATHER_ANSWER_ACCEPTED, ""},
      {RANGE, TAG, GATHER_ANSWER_ACCEPTED, ""},
      {RANGE "ETag: \"v2\"\n", TAG, GATHER_ANSWER_CHANGED, "its ETag was \"v1\" and is \"v2\""},
      {RANGE "ETag: W/\"1\"\n", "W/\"1\"", GATHER_ANSWER_ACCEPTED, ""},
      {RANGE "ETag: W/\"2\"\n", "W/\"1\"", GATHER_ANSWER_CHANGED, "ETag"},
      {RANGE DATED, "", GATHER_ANSWER_ACCEPTED, ""},
      {RANGE "Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT\n", "", GATHER_ANSWER_CHANGED, "last modified"},
      {RANGE "Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT\nETag: \"v1\"\n", TAG, GATHER_ANSWER_ACCEPTED, ""},
      {"HTTP/1.1 206 x\nContent-Range: bytes 100-199/1001\n", "", GATHER_ANSWER_CHANGED, "had 1000 bytes and has 1001"},
      {"HTTP/1.1 206 x\nContent-Range: bytes 100-199/1001\nETag: \"v1\"\n", TAG, GATHER_ANSWER_CHANGED,
       "had 1000 bytes and has 1001"}, /* of another file, whatever its tag */
      {"HTTP/1.1 206 x\nContent-Range: bytes 100-199/*\n", "", GATHER_ANSWER_ACCEPTED, ""},
      {"HTTP/1.1 206 x\nContent-Range: bytes 101-200/1000\n", "", GATHER_ANSWER_DOUBTFUL, "bytes 101-200, not the requested 100-199"},
      {"HTTP/1.1 206 x\nContent-Range: bytes 100-198/1000\n", "", GATHER_ANSWER_ACCEPTED, ""}, /* the rest is asked for */
      {"HTTP/1.1 206 x\nContent-Range: bytes 100-200/1000\n", "", GATHER_ANSWER_DOUBTFUL, "100-200"},
      {"HTTP/1.1 206 x\nContent-Range: bytes 99-199/1000\n", "", GATHER_ANSWER_DOUBTFUL, "99-199"},
      {"HTTP/1.1 206 x\n", "", GATHER_ANSWER_DOUBTFUL, "without a Content-Range"},
      {"HTTP/1.1 206 x\nContent-Type: multipart/byteranges; boundary=x\n", "", GATHER_ANSWER_DOUBTFUL, "several parts"},
      {RANGE "Content-Length: 99\n", "", GATHER_ANSWER_DOUBTFUL, "99 bytes"},
      {RANGE "Content-Encoding: gzip\n", "", GATHER_ANSWER_DOUBTFUL, "compressed"},
      {RANGE "Content-Encoding: identity\n", "", GATHER_ANSWER_ACCEPTED, ""},
      {RANGE "Content-Length: 100\nContent-Length: 5\n", "", GATHER_ANSWER_DOUBTFUL, "two different Content-Length"},
      {RANGE "Content-Range: bytes 100-199/1000\n", "", GATHER_ANSWER_DOUBTFUL, "two Content-Range"},
      {"HTTP/1.1 206 x\nContent-Range: bytes a-b/c\n", "", GATHER_ANSWER_DOUBTFUL, "malformed"},
      {RANGE "Content-Length: \n", "", GATHER_ANSWER_DOUBTFUL, "Content-Length is not a number"},
      {RANGE "Content-Length: 1e2\n", "", GATHER_ANSWER_DOUBTFUL, "Content-Length is not a number"},
      {RANGE "Content-Length: 100\nContent-Length: 100\n", "", GATHER_ANSWER_ACCEPTED, ""},
      {"HTTP/1.1 206 x\nContent-Range: x\nContent-Range: bytes 100-199/1000\n", "", GATHER_ANSWER_DOUBTFUL, "two"},
      {RANGE "Content-Encoding: gzip\nContent-Encoding: identity\n", "", GATHER_ANSWER_DOUBTFUL, "compressed"},
      {RANGE "Content-Encoding:\n", "", GATHER_ANSWER_ACCEPTED, ""},
      {RANGE "ETag: \"v1\"\n", "", GATHER_ANSWER_ACCEPTED, ""},
      {"HTTP/1.1 200 OK\nContent-Length: 1000\n", "", GATHER_ANSWER_REFUSED, "does not serve ranges"},
      {"HTTP/1.1 200 OK\nETag: \"v2\"\n", TAG, GATHER_ANSWER_CHANGED, "ETag"},
      {"HTTP/1.1 200 OK\nContent-Length: 0\n", "", GATHER_ANSWER_REFUSED, "200"},
      {"HTTP/1.1 302 Found\nLocation: /x\n", "", GATHER_ANSWER_REDIRECT, ""},
      {"HTTP/1.1 302 Found\n", "", GATHER_ANSWER_DOUBTFUL, "without a Location"},
      {"HTTP/1.1 304 Not Modified\n", "", GATHER_ANSWER_REFUSED, "status 304"},
      {"HTTP/1.1 401 x\n", "", GATHER_ANSWER_DENIED, "401"},
      {"HTTP/1.1 403 x\n", "", GATHER_ANSWER_DENIED, "403"},
      {"HTTP/1.1 404 x\n", "", GATHER_ANSWER_MISSING, "404"},
      {"HTTP/1.1 410 x\n", "", GATHER_ANSWER_MISSING, "410"},
      {"HTTP/1.1 412 x\n", "", GATHER_ANSWER_CHANGED, "412"},
      {"HTTP/1.1 416 x\nContent-Range: bytes */50\n", "", GATHER_ANSWER_CHANGED, "has 50"},
      {"HTTP/1.1 416 x\nContent-Range: bytes */1000\n", "", GATHER_ANSWER_REFUSED, "416"},
      {"HTTP/1.1 429 x\n", "", GATHER_ANSWER_BUSY, "429"},
      {"HTTP/1.1 503 x\n", "", GATHER_ANSWER_BUSY, "503"},
      {"HTTP/1.1 500 x\n", "", GATHER_ANSWER_AGAIN, "500"},
      {"HTTP/1.1 418 x\n", "", GATHER_ANSWER_REFUSED, "418"},
      {"HTTP/1.1 20\n", "", GATHER_ANSWER_DOUBTFUL, "not a number of three digits"},
      {"HTTP/1.1 2000 x\n", "", GATHER_ANSWER_DOUBTFUL, "not a number of three digits"},
  };
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char why[GATHER_ANSWER_WHY];
    gather_remote_question question = {.first = 100, .bytes = 100, .size = 1000, .etag = CASES[i].etag, .last_modified = DATE};
    gather_remote_verdict verdict = judged(CASES[i].lines, question, why);
    if (verdict != CASES[i].verdict || !strstr(why, CASES[i].why)) fail_msg("%s: verdict %d, why '%s'", CASES[i].lines, (int)verdict, why);
  }
}

static void test_judged_at_open(void **state) {
  static const struct {
    const char *lines;
    gather_remote_verdict verdict;
  } CASES[] = {{"HTTP/1.1 206 x\nContent-Range: bytes 0-99/1000\n", GATHER_ANSWER_ACCEPTED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 0-49/50\n", GATHER_ANSWER_ACCEPTED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 0-48/50\n", GATHER_ANSWER_ACCEPTED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 0-99/*\n", GATHER_ANSWER_REFUSED},
               {"HTTP/1.1 416 x\nContent-Range: bytes */0\n", GATHER_ANSWER_EMPTY},
               {"HTTP/1.1 416 x\nContent-Range: bytes */7\n", GATHER_ANSWER_SMALLER},
               {"HTTP/1.1 416 x\nContent-Range: bytes */100\n", GATHER_ANSWER_REFUSED},
               {"HTTP/1.1 200 x\nContent-Length: 0\n", GATHER_ANSWER_EMPTY},
               {"HTTP/1.1 200 x\nContent-Length: 1\n", GATHER_ANSWER_REFUSED},
               {"HTTP/1.1 200 x\n", GATHER_ANSWER_REFUSED}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char why[GATHER_ANSWER_WHY];
    gather_remote_question question = {.first = 0, .bytes = 100, .size = -1, .etag = "", .last_modified = ""};
    assert_int_equal(judged(CASES[i].lines, question, why), CASES[i].verdict);
  }
  char why[GATHER_ANSWER_WHY];
  gather_remote_question whole = {.bytes = 100, .size = -1, .etag = "", .last_modified = "", .whole = true};
  assert_int_equal(judged("HTTP/1.1 200 x\n", whole, why), GATHER_ANSWER_ACCEPTED);
  assert_int_equal(judged("HTTP/1.1 200 x\nContent-Length: 100\n", whole, why), GATHER_ANSWER_ACCEPTED);
  assert_int_equal(judged("HTTP/1.1 200 x\nContent-Length: 101\n", whole, why), GATHER_ANSWER_REFUSED);
  assert_int_equal(judged("HTTP/1.1 200 x\nContent-Encoding: br\n", whole, why), GATHER_ANSWER_DOUBTFUL);
  assert_int_equal(judged("HTTP/1.1 206 x\nContent-Range: bytes 0-9/10\n", whole, why), GATHER_ANSWER_DOUBTFUL);
}

/* Of the last bytes nothing may be missing, since it would be at their beginning. Whatever else a server makes of that range, the first
 * bytes are asked for. */
static void test_judged_tails(void **state) {
  static const struct {
    const char *lines;
    gather_remote_verdict verdict;
  } CASES[] = {{"HTTP/1.1 206 x\nContent-Range: bytes 900-999/1000\n", GATHER_ANSWER_ACCEPTED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 900-999/1000\nContent-Length: 100\n", GATHER_ANSWER_ACCEPTED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 0-49/50\n", GATHER_ANSWER_ACCEPTED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 0-99/100\n", GATHER_ANSWER_ACCEPTED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 900-999/1000\nContent-Length: 99\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 901-999/1000\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 899-999/1000\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 900-998/1000\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 0-99/1000\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 900-999/*\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes */1000\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: x\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 900-999/1000\nContent-Encoding: gzip\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 206 x\nContent-Range: bytes 900-999/1000\nContent-Type: multipart/byteranges\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 416 x\nContent-Range: bytes */0\n", GATHER_ANSWER_EMPTY},
               {"HTTP/1.1 416 x\nContent-Range: bytes */7\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 416 x\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 400 x\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 501 x\n", GATHER_ANSWER_UNTAILED},
               {"HTTP/1.1 403 x\n", GATHER_ANSWER_DENIED},
               {"HTTP/1.1 404 x\n", GATHER_ANSWER_MISSING},
               {"HTTP/1.1 503 x\n", GATHER_ANSWER_BUSY},
               {"HTTP/1.1 500 x\n", GATHER_ANSWER_AGAIN},
               {"HTTP/1.1 302 x\nLocation: /x\n", GATHER_ANSWER_REDIRECT},
               {"HTTP/1.1 200 x\nContent-Length: 0\n", GATHER_ANSWER_EMPTY},
               {"HTTP/1.1 200 x\nContent-Length: 150\n", GATHER_ANSWER_WHOLE},
               {"HTTP/1.1 200 x\n", GATHER_ANSWER_WHOLE},
               {"HTTP/1.1 200 x\nContent-Length: 201\n", GATHER_ANSWER_UNTAILED}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char why[GATHER_ANSWER_WHY];
    gather_remote_question question = {.bytes = 100, .size = -1, .etag = "", .last_modified = "", .whole_bytes = 200, .tail = true};
    const gather_remote_verdict verdict = judged(CASES[i].lines, question, why);
    if (verdict != CASES[i].verdict) fail_msg("%s: verdict %d, why '%s'", CASES[i].lines, (int)verdict, why);
  }
}

/* Each clause of RFC 9110 on ranges that concerns a client that asks for one range, and what it makes of the answer. The first request is
 * for bytes 0 to 99 of a file that is opened, the others for bytes 100 to 199 of one of 1000. */
static void test_by_every_clause(void **state) {
#define OPEN -1, false
#define AGAIN -1, true
#define READ 1000, false
#define PART(range) "HTTP/1.1 206 x\nContent-Range: " range "\n"
  static const struct {
    const char *clause, *lines;
    int64_t size;
    bool unranged;
    gather_remote_verdict verdict;
    int64_t skip, bytes; /* of an accepted one */
  } CASES[] = {          /* 14.2: a server may ignore Range. */
               {"14.2 whole", "HTTP/1.1 200 x\nContent-Length: 176\n", OPEN, GATHER_ANSWER_WHOLE, 0, 0},
               {"14.2 whole, unknown length", "HTTP/1.1 200 x\nTransfer-Encoding: chunked\n", OPEN, GATHER_ANSWER_WHOLE, 0, 0},
               {"14.2 whole, at the limit", "HTTP/1.1 200 x\nContent-Length: 2000\n", OPEN, GATHER_ANSWER_WHOLE, 0, 0},
               {"14.2 whole, beyond the limit", "HTTP/1.1 200 x\nContent-Length: 2001\n", OPEN, GATHER_ANSWER_REFUSED, 0, 0},
               {"14.2 empty", "HTTP/1.1 200 x\nContent-Length: 0\n", OPEN, GATHER_ANSWER_EMPTY, 0, 0},
               {"14.2 later", "HTTP/1.1 200 x\nContent-Length: 1000\nETag: \"v1\"\n", READ, GATHER_ANSWER_ACCEPTED, 100, 100},
               {"14.2 later, unknown length", "HTTP/1.1 200 x\n", READ, GATHER_ANSWER_ACCEPTED, 100, 100},
               {"14.2 later, another file", "HTTP/1.1 200 x\nContent-Length: 999\n", READ, GATHER_ANSWER_CHANGED, 0, 0},
               {"14.2 later, another tag", "HTTP/1.1 200 x\nETag: \"v2\"\n", READ, GATHER_ANSWER_CHANGED, 0, 0},
               {"14.2 encoded", "HTTP/1.1 200 x\nContent-Length: 50\nContent-Encoding: gzip\n", OPEN, GATHER_ANSWER_DOUBTFUL, 0, 0},
               /* 14.3: a server says that it has no ranges; it need not, and its word decides nothing. */
               {"14.3 none", "HTTP/1.1 200 x\nAccept-Ranges: none\nContent-Length: 9\n", OPEN, GATHER_ANSWER_WHOLE, 0, 0},
               {"14.3 none, yet one", PART("bytes 0-99/1000") "Accept-Ranges: none\n", OPEN, GATHER_ANSWER_ACCEPTED, 0, 100},
               {"14.3 another unit", "HTTP/1.1 200 x\nAccept-Ranges: rows\nContent-Length: 9\n", OPEN, GATHER_ANSWER_WHOLE, 0, 0},
               /* 14.4: Content-Range. It means nothing but with 206 and 416. */
               {"14.4 exact", PART("bytes 0-99/1000"), OPEN, GATHER_ANSWER_ACCEPTED, 0, 100},
               {"14.4 to the end", PART("bytes 0-49/50"), OPEN, GATHER_ANSWER_ACCEPTED, 0, 50},
               {"14.4 unknown length at the open", PART("bytes 0-99/*"), OPEN, GATHER_ANSWER_UNRANGED, 0, 0},
               {"14.4 unknown length", PART("bytes 100-199/*"), READ, GATHER_ANSWER_ACCEPTED, 0, 100},
               {"14.4 another unit", PART("rows 100-199/1000"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"14.4 last before first", PART("bytes 199-100/1000"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"14.4 last beyond the length", PART("bytes 100-199/199"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"14.4 no number", PART("bytes 100-199/"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"14.4 unsatisfied in 206", PART("bytes */1000"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"14.4 malformed in 200", "HTTP/1.1 200 x\nContent-Length: 9\nContent-Range: rows a-b\n", OPEN, GATHER_ANSWER_WHOLE, 0, 0},
               {"14.4 two in 200", "HTTP/1.1 200 x\nContent-Range: bytes 0-1/2\nContent-Range: bytes 0-1/2\n", READ, GATHER_ANSWER_ACCEPTED,
                100, 100},
               {"14.4 malformed in 503", "HTTP/1.1 503 x\nContent-Range: x\n", READ, GATHER_ANSWER_BUSY, 0, 0},
               {"14.4 of another length in 404", "HTTP/1.1 404 x\nContent-Range: bytes 0-1/2\n", READ, GATHER_ANSWER_MISSING, 0, 0},
               /* 15.3.7: less than was asked for; 15.3.7.1: one part; 15.3.7.2: several, which only a request for several may get. */
               {"15.3.7 shorter at the open", PART("bytes 0-9/1000"), OPEN, GATHER_ANSWER_ACCEPTED, 0, 10},
               {"15.3.7 one byte", PART("bytes 100-100/1000") "Content-Length: 1\n", READ, GATHER_ANSWER_ACCEPTED, 0, 1},
               {"15.3.7 shorter", PART("bytes 100-149/1000") "Content-Length: 50\n", READ, GATHER_ANSWER_ACCEPTED, 0, 50},
               {"15.3.7.1 length", PART("bytes 100-149/1000") "Content-Length: 100\n", READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"15.3.7.1 beginning later", PART("bytes 101-199/1000"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"15.3.7.1 beginning earlier", PART("bytes 0-199/1000"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"15.3.7.1 longer", PART("bytes 100-200/1000"), READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"15.3.7.1 none", "HTTP/1.1 206 x\nContent-Length: 100\n", READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"15.3.7.2 several", "HTTP/1.1 206 x\nContent-Type: multipart/byteranges; boundary=b\n", READ, GATHER_ANSWER_DOUBTFUL, 0, 0},
               {"15.3.7.3 another strong tag", PART("bytes 100-199/1000") "ETag: \"v2\"\n", READ, GATHER_ANSWER_CHANGED, 0, 0},
               {"15.3.7.3 the same, but weak", PART("bytes 100-199/1000") "ETag: W/\"v1\"\n", READ, GATHER_ANSWER_CHANGED, 0, 0},
               {"15.3.7.3 no tag", PART("bytes 100-199/1000"), READ, GATHER_ANSWER_ACCEPTED, 0, 100},
               {"15.3.7.3 another length", PART("bytes 100-199/1001"), READ, GATHER_ANSWER_CHANGED, 0, 0},
               {"15.3.7 without a range", PART("bytes 0-9/10"), AGAIN, GATHER_ANSWER_DOUBTFUL, 0, 0},
               /* 15.5.17: a range is refused; 14.4: best with the length. */
               {"15.5.17 small file", "HTTP/1.1 416 x\nContent-Range: bytes */76\n", OPEN, GATHER_ANSWER_SMALLER, 0, 0},
               {"15.5.17 empty file", "HTTP/1.1 416 x\nContent-Range: bytes */0\n", OPEN, GATHER_ANSWER_EMPTY, 0, 0},
               {"15.5.17 contradiction", "HTTP/1.1 416 x\nContent-Range: bytes */100\n", OPEN, GATHER_ANSWER_REFUSED, 0, 0},
               {"15.5.17 no length", "HTTP/1.1 416 x\n", OPEN, GATHER_ANSWER_UNRANGED, 0, 0},
               {"15.5.17 malformed", "HTTP/1.1 416 x\nContent-Range: bytes */*\n", OPEN, GATHER_ANSWER_UNRANGED, 0, 0},
               {"15.5.17 a range", "HTTP/1.1 416 x\nContent-Range: bytes 0-1/2\n", OPEN, GATHER_ANSWER_UNRANGED, 0, 0},
               {"15.5.17 without a range", "HTTP/1.1 416 x\n", AGAIN, GATHER_ANSWER_REFUSED, 0, 0},
               {"15.5.17 later", "HTTP/1.1 416 x\nContent-Range: bytes */1000\n", READ, GATHER_ANSWER_REFUSED, 0, 0},
               {"15.5.17 a shorter file", "HTTP/1.1 416 x\nContent-Range: bytes */150\n", READ, GATHER_ANSWER_CHANGED, 0, 0},
               /* 13.1.1: If-Match; no request has If-Range, so 13.1.5 does not arise. */
               {"13.1.1 failed", "HTTP/1.1 412 x\n", READ, GATHER_ANSWER_CHANGED, 0, 0}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char why[GATHER_ANSWER_WHY];
    gather_remote_question question = {ITEMS(.first = CASES[i].size < 0 ? 0 : 100, .bytes = 100, .size = CASES[i].size,
                                             .etag = CASES[i].size < 0 ? "" : TAG, .last_modified = "", .whole_bytes = 2000,
                                             .unranged = CASES[i].unranged)};
    gather_remote_answer answer = {0};
    if (!feed(&answer, CASES[i].lines)) fail_msg("%s: %s", CASES[i].clause, answer.broken);
    gather_remote_verdict verdict = gather_answer_judge(&answer, &question, why);
    if (verdict != CASES[i].verdict) fail_msg("%s: verdict %d, why '%s'", CASES[i].clause, (int)verdict, why);
    int64_t skip = 0, bytes = 0;
    if (verdict == GATHER_ANSWER_ACCEPTED) gather_answer_span(&answer, &question, &skip, &bytes);
    if (skip != CASES[i].skip || bytes != CASES[i].bytes) fail_msg("%s: %d bytes behind %d", CASES[i].clause, (int)bytes, (int)skip);
    gather_answer_clear(&answer);
  }
}

static void test_ranges(void **state) {
  static const struct {
    const char *text;
    int64_t first, last, size;
  } CASES[] = {
      {"bytes 0-0/1", 0, 0, 1},
      {"Bytes  5-9/*", 5, 9, -1},
      {"bytes 999999999999999998-999999999999999998/999999999999999999", 999999999999999998, 999999999999999998, 999999999999999999}};
  static const char *const WRONG[] = {ITEMS("bytes 0-9/9", "bytes 9-0/10", "bytes -1-0/10", "bytes 0-1/10 ", "bytes 0-1", "bytes=0-1/2",
                                            "bytes */*", "bytes */*5", "bytes 0-1/9999999999999999999", "rows 0-1/10", "bytes 0x0-1/10",
                                            "")};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_remote_answer answer = {0};
    assert_true(content_range(CASES[i].text, &answer));
    assert_int_equal(answer.first, CASES[i].first);
    assert_int_equal(answer.last, CASES[i].last);
    assert_int_equal(answer.size, CASES[i].size);
  }
  for (size_t i = 0; i < COUNT(WRONG); i++) {
    gather_remote_answer answer = {0};
    if (content_range(WRONG[i], &answer)) fail_msg("a range: %s", WRONG[i]);
  }
}

static void test_dates(void **state) {
  static const char *const WRONG[] = {
      "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",      "Sun, 06 Nov 1994 08:49:37 UTC",  "Sun, 06 Nox 1994 08:49:37 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT",  "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMTx", ""};
  int64_t seconds = -1;
  assert_true(gather_http_date(DATE, &seconds));
  assert_int_equal(seconds, 784111777);
  assert_true(gather_http_date("Thu, 01 Jan 1970 00:00:00 GMT", &seconds));
  assert_int_equal(seconds, 0);
  assert_true(gather_http_date("Tue, 29 Feb 2028 23:59:59 GMT", &seconds));
  assert_int_equal(seconds, 1835481599);
  assert_true(gather_http_date("Fri, 31 Dec 9999 23:59:59 GMT", &seconds));
  assert_int_equal(seconds, 253402300799);
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) assert_false(gather_http_date(WRONG[i], &seconds));
  /* Each character but those of the day's name is needed as it is: a letter, a blank or a digit in its place is no date. */
  for (size_t at = 3; at < strlen(DATE); at++)
    for (const char *other = "x /:\t"; *other; other++) {
      char text[40];
      (void)snprintf(text, sizeof text, "%s", DATE);
      if (text[at] == *other) continue;
      text[at] = *other;
      if (gather_http_date(text, &seconds)) fail_msg("a date: %s", text);
    }
  static const struct {
    const char *text;
    bool good;
  } BOUNDS[] = {{"Sun, 31 Dec 1969 23:59:59 GMT", false}, {"Sun, 01 Nov 1994 00:00:00 GMT", true},
                {"Sun, 31 Oct 1994 23:59:60 GMT", true},  {"Sun, 32 Oct 1994 08:49:37 GMT", false},
                {"Sun, 06 Nov 1994 08:60:37 GMT", false}, {"Sun, 06 Nov 1994 08:49:61 GMT", false}};
  for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++) assert_int_equal(gather_http_date(BOUNDS[i].text, &seconds), BOUNDS[i].good);
  for (int month = 0; month < 12; month++) {
    char text[40];
    (void)snprintf(text, sizeof text, "Sun, 01 %.3s 2001 00:00:00 GMT", &"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * month]);
    static const int BEFORE[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    assert_true(gather_http_date(text, &seconds));
    assert_int_equal(seconds, 978307200 + 86400 * BEFORE[month]);
  }
}

static int64_t wait_of(const char *lines) {
  gather_remote_answer answer = {0};
  assert_true(feed(&answer, lines));
  int64_t wait = gather_answer_wait(&answer);
  gather_answer_clear(&answer);
  return wait;
}

static void test_retry_after(void **state) {
  assert_int_equal(wait_of("HTTP/1.1 503 x\nRetry-After: 7\n"), 7);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nretry-after:\t0 \n"), 0);
  assert_int_equal(wait_of("HTTP/1.1 503 x\n"), -1);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nRetry-After: soon\n"), -1);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nRetry-After: -5\n"), -1);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nRetry-After: 5 6\n"), -1);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nRetry-After: 7\t \t\n"), 7);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nRetry-After: 99999999999999999999\n"), -1);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nDate: Sun, 06 Nov 1994 08:49:30 GMT\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\n"), 7);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nDate: Sun, 06 Nov 1994 08:50:30 GMT\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\n"), 0);
  assert_int_equal(wait_of("HTTP/1.1 503 x\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\n"), -1);
}

/* Tags that are not well-formed, or too long to be kept, are as none. */
static void test_tags(void **state) {
  static const struct {
    const char *line, *tag;
  } CASES[] = {{"ETag: \"a\"\n", "\"a\""}, {"etag: W/\"a\" \n", "W/\"a\""}, {"ETag: a\n", ""},       {"ETag: \"\n", ""},
               {"ETag: \"a\"b\"\n", ""},   {"ETag: \"\"\n", "\"\""},        {"ETag: w/\"a\"\n", ""}, {"ETag: \"a\x01\"\n", ""}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_remote_answer answer = {0};
    assert_true(feed(&answer, "HTTP/1.1 206 x\n") || true);
    gather_answer_clear(&answer);
    assert_true(feed(&answer, CASES[i].line) || true);
    assert_string_equal(answer.etag, CASES[i].tag);
    gather_answer_clear(&answer);
  }
  char line[400] = "ETag: \"";
  memset(line + 7, 'x', 300);
  (void)snprintf(line + 307, 3, "\"");
  gather_remote_answer answer = {0};
  assert_true(gather_answer_line(&answer, line, strlen(line)));
  assert_string_equal(answer.etag, "");
  assert_true(gather_tag_is_strong("\"a\""));
  assert_false(gather_tag_is_strong("W/\"a\""));
  assert_false(gather_tag_is_strong(""));
}

static void test_blocks(void **state) {
  gather_remote_answer answer = {0};
  /* An informational answer is not the answer, and its headers are forgotten. */
  assert_true(gather_answer_line(&answer, "HTTP/1.1 100 Continue\r\n", 23));
  assert_true(gather_answer_line(&answer, "ETag: \"x\"\r\n", 11));
  assert_true(gather_answer_line(&answer, "\r\n", 2));
  assert_false(answer.complete);
  assert_true(gather_answer_line(&answer, "HTTP/1.1 206 x\r\n", 16));
  assert_string_equal(answer.etag, "");
  assert_true(gather_answer_line(&answer, "no colon\r\n", 10));
  assert_true(gather_answer_line(&answer, "\r\n", 2));
  assert_true(answer.complete);
  /* What follows a body in chunks changes nothing. */
  assert_true(gather_answer_line(&answer, "ETag: \"y\"\r\n", 11));
  assert_string_equal(answer.etag, "");
  gather_answer_clear(&answer);
  assert_false(gather_answer_line(&answer, "A: \0b\r\n", 7));
  assert_non_null(strstr(answer.broken, "zero byte"));
  gather_answer_clear(&answer);
  static char line[GATHER_ANSWER_HEADER_BYTES + 1];
  memset(line, 'x', sizeof line);
  assert_false(gather_answer_line(&answer, line, GATHER_ANSWER_LINE_BYTES + 1));
  gather_answer_clear(&answer);
  int taken = 0;
  while (gather_answer_line(&answer, line, 1000)) taken++;
  assert_int_equal(taken, GATHER_ANSWER_HEADER_BYTES / 1000);
  assert_false(gather_answer_line(&answer, "", 0)); /* and it stays so */
  gather_answer_clear(&answer);
}

TESTS(test_judged, test_judged_at_open, test_judged_tails, test_by_every_clause, test_ranges, test_dates, test_retry_after, test_tags,
      test_blocks)
