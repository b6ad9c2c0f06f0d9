/* SPDX-License-Identifier: MIT
 *
 * test_remote_faults.c: a client and servers that fail or lie: every byte is right, or there is an exact error, after few requests.
 */
#include "io/remote/remote_support.h"

/* What a server does to the requests after the open: faults[n] to the n-th; the last for ever. */
typedef enum {
  GOOD,
  WHOLE,       /* 200, and bytes without end */
  OTHER_RANGE, /* one byte further */
  SHORTER,     /* a range that is one byte shorter */
  AT_MOST_512, /* no answer has more bytes */
  AT_MOST_1,
  SLOWLY_1, /* the same, and each answer takes its time */
  MULTIPART,
  COMPRESSED,
  WRONG_LENGTH, /* Content-Length and Content-Range differ */
  EXTRA,        /* in chunks: more bytes than the range */
  CUT,          /* half the body, then the end */
  RESET,        /* no answer */
  HALF_A_HEADER,
  NO_HTTP,
  OLD_HTTP, /* bytes without a header, as of 1991 */
  LONG_HEADERS,
  LONG_LINE,
  ENDLESS_HEADERS,
  ZERO_IN_HEADER,
  STATUS_500,
  STATUS_503,
  STATUS_503_LATER, /* Retry-After: 1 */
  STATUS_503_MUCH_LATER,
  STATUS_429,
  STATUS_404,
  STATUS_403,
  STATUS_412,
  STATUS_416,
  OTHER_TAG,
  OTHER_SIZE,
  SILENT,      /* nothing for ever */
  SILENT_BODY, /* nothing after the header */
  DRIPPING,    /* a byte of the body from time to time */
  DRIPPING_HEADER
} fault;

typedef struct {
  fault faults[8];
  atomic_int asked;
  char ranges[64][64]; /* as they were asked for */
} script;

static bool send_many(played_request *request, const char *line, int times) {
  for (int i = 0; i < times; i++)
    if (!played_send(request, line, strlen(line))) return false;
  return true;
}

static bool drip(played_request *request, const char *bytes, size_t count) {
  for (size_t i = 0; i < count && !atomic_load(&request->server->ending); i++) {
    if (!played_send(request, bytes + i, 1)) return false;
    played_sleep(30);
  }
  return true;
}

static bool wait_for_end(played_request *request) {
  while (!atomic_load(&request->server->ending)) played_sleep(10);
  return false;
}

static bool play(played_request *request, fault what) {
  int64_t first = request->first, last = request->last, size = request->server->size;
  long long count = (long long)(last - first + 1);
  static const char MANY[] = "X-Filler: 0123456789012345678901234567890123456789012345678901234567890123456789\r\n";
  switch (what) {
    case GOOD:
      return played_good(request);
    case WHOLE:
      if (!played_print(request, "HTTP/1.1 200 OK\r\nContent-Length: 200000000000\r\n\r\n")) return false;
      while (played_body(request, 0, 99999)) {
      }
      return false;
    case OTHER_RANGE:
      request->first++, request->last++;
      return played_good(request);
    case SHORTER:
      request->last--;
      return played_good(request);
    case AT_MOST_512:
      if (request->last > first + 511) request->last = first + 511;
      return played_good(request);
    case SLOWLY_1:
      played_sleep(30);
      request->last = first;
      return played_good(request);
    case AT_MOST_1:
      request->last = first;
      return played_good(request);
    case MULTIPART:
      return played_print(request, "HTTP/1.1 206 x\r\nContent-Type: multipart/byteranges; boundary=b\r\nContent-Length: 5\r\n\r\n--b--");
    case COMPRESSED:
      return played_print(request, "HTTP/1.1 206 x\r\nContent-Encoding: gzip\r\nContent-Range: bytes %lld-%lld/%lld\r\n\r\n",
                          (long long)first, (long long)last, (long long)size) &&
             played_body(request, first, last) && false;
    case WRONG_LENGTH:
      return played_print(request, "HTTP/1.1 206 x\r\nContent-Length: %lld\r\nContent-Range: bytes %lld-%lld/%lld\r\n\r\n", count - 1,
                          (long long)first, (long long)last, (long long)size) &&
             played_body(request, first, last - 1);
    case EXTRA:
      return played_print(request,
                          "HTTP/1.1 206 x\r\nETag: %s\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes "
                          "%lld-%lld/%lld\r\n\r\n%llx\r\n",
                          request->server->etag, (long long)first, (long long)last, (long long)size, (unsigned long long)count + 1) &&
             played_body(request, first, last + 1) && played_print(request, "\r\n0\r\n\r\n");
    case CUT:
      (void)(played_head(request, NULL) && played_body(request, first, first + count / 2 - 1));
      return false;
    case RESET:
      return false;
    case HALF_A_HEADER:
      return played_print(request, "HTTP/1.1 206 Partial Content\r\nContent-Ra") && false;
    case NO_HTTP:
      return played_print(request, "SSH-2.0-OpenSSH_9\r\n\r\n") && false;
    case OLD_HTTP:
      return played_body(request, first, last) && false;
    case LONG_HEADERS:
      return played_print(request, "HTTP/1.1 206 x\r\n") && send_many(request, MANY, 1000) && played_print(request, "\r\n");
    case LONG_LINE:
      return played_print(request, "HTTP/1.1 206 x\r\nX: ") && send_many(request, "0123456789012345678901234567890123456789", 5000) &&
             played_print(request, "\r\n\r\n");
    case ENDLESS_HEADERS:
      (void)played_print(request, "HTTP/1.1 206 x\r\n");
      return send_many(request, MANY, 1000000) && false;
    case ZERO_IN_HEADER:
      return played_send(request, "HTTP/1.1 206 x\r\nA: \0\r\n\r\n", 24) && false;
    case STATUS_500:
      return played_status(request, "500 Oops");
    case STATUS_503:
      return played_status(request, "503 Slow Down");
    case STATUS_503_LATER:
      return played_status(request, "503 Slow Down\r\nRetry-After: 1");
    case STATUS_503_MUCH_LATER:
      return played_status(request, "503 Slow Down\r\nRetry-After: 3600");
    case STATUS_429:
      return played_status(request, "429 x");
    case STATUS_404:
      return played_status(request, "404 x");
    case STATUS_403:
      return played_status(request, "403 x");
    case STATUS_412:
      return played_status(request, "412 x");
    case STATUS_416:
      return played_status(request, "416 x\r\nContent-Range: bytes */70000");
    case OTHER_TAG:
      return played_head(request, "\"v2\"") && played_body(request, request->first, request->last);
    case OTHER_SIZE:
      return played_print(request, "HTTP/1.1 206 x\r\nContent-Length: %lld\r\nContent-Range: bytes %lld-%lld/%lld\r\n\r\n", count,
                          (long long)first, (long long)last, (long long)size + 1) &&
             played_body(request, first, last);
    case SILENT:
      return wait_for_end(request);
    case SILENT_BODY:
      return played_head(request, NULL) && wait_for_end(request);
    case DRIPPING: {
      char bytes[4096];
      for (int64_t i = 0; i < count && i < 4096; i++) bytes[i] = played_byte(first + i);
      return played_head(request, NULL) && drip(request, bytes, (size_t)(count < 4096 ? count : 4096));
    }
    case DRIPPING_HEADER:
      return drip(request, "HTTP/1.1 206 Partial Content and a long text that never ends, never, never", 70);
  }
  return false;
}

static bool answer(played_request *request) {
  script *own = request->server->own;
  if (request->number == 1) return played_good(request); /* the open */
  int number = atomic_fetch_add(&own->asked, 1);
  if (number < 64)
    (void)snprintf(own->ranges[number], sizeof own->ranges[0], "%lld-%lld", (long long)request->first, (long long)request->last);
  return play(request, own->faults[number < 7 ? number : 7]);
}

/* One read of bytes [100000, 104096) from a server that plays the faults; retries: 3. */
typedef struct {
  gather_status status;
  gather_error error;
  gather_remote_statistics counts;
  int asked;
  long long sent;
  double seconds;
} outcome;

static outcome read_from(script *own, const char *etag, const gather_remote_options *options) {
  played_server server;
  outcome result = {0};
  played_start(&server, answer, PLAYED_SIZE, etag);
  server.own = own;
  gather_remote_client *client = make_client(options);
  gather_remote_object *object = open_object(client, played_url(&server, "/f?key=secret"));
  double began = seconds_now();
  result.status = read_checked(object, 100000, 4096, &result.error);
  result.seconds = seconds_now() - began;
  result.counts = counts_of(client);
  end_all(object, client, &server);
  result.asked = own->asked;
  result.sent = server.sent;
  if (result.status != GATHER_OK) {
    assert_null(strstr(result.error.message, "secret"));
    assert_contains(result.error.message, "/f: ");
    assert_int_equal(result.error.status, result.status);
    assert_in_range(result.error.file_offset, 100000, 104095);
  }
  return result;
}

/* Fails for ever: how it ends, after how many requests. */
static void test_for_ever(void **state) {
  static const struct {
    fault what;
    gather_status status;
    int asked;
    const char *message;
  } CASES[] = {{WHOLE, GATHER_IO_ERROR, 1, "does not serve ranges: it answered 200"},
               {OTHER_RANGE, GATHER_IO_ERROR, 3, "status 206: the server sent bytes 100001-104096, not the requested 100000-104095"},
               {SHORTER, GATHER_IO_ERROR, 4, "malformed; tried 3 times (at byte 104095)"}, /* of one byte nothing is left */
               {MULTIPART, GATHER_IO_ERROR, 3, "several parts"},
               {COMPRESSED, GATHER_IO_ERROR, 3, "compressed"},
               {WRONG_LENGTH, GATHER_IO_ERROR, 3, "4095 bytes"},
               {EXTRA, GATHER_IO_ERROR, 3, "more bytes than"},
               {RESET, GATHER_IO_ERROR, 5, "tried 4 times"}, /* libcurl itself repeats what fails on a connection of before */
               {HALF_A_HEADER, GATHER_IO_ERROR, 4, "tried 4 times"},
               {NO_HTTP, GATHER_IO_ERROR, 3, "tried 3 times"},
               {OLD_HTTP, GATHER_IO_ERROR, 3, "tried 3 times"},
               {LONG_HEADERS, GATHER_IO_ERROR, 3, "64 KiB"},
               {LONG_LINE, GATHER_IO_ERROR, 3, "KB"},
               {ENDLESS_HEADERS, GATHER_IO_ERROR, 3, "64 KiB"},
               {ZERO_IN_HEADER, GATHER_IO_ERROR, 3, "tried 3 times"},
               {STATUS_500, GATHER_IO_ERROR, 4, "status 500; tried 4 times (at byte 100000)"},
               {STATUS_503, GATHER_IO_ERROR, 4, "status 503"},
               {STATUS_503_MUCH_LATER, GATHER_IO_ERROR, 1, "asks to wait for 3600 s"},
               {STATUS_429, GATHER_IO_ERROR, 4, "status 429"},
               {STATUS_404, GATHER_FILE_NOT_FOUND, 1, "404"},
               {STATUS_403, GATHER_IO_ERROR, 1, "403"},
               {STATUS_412, GATHER_IO_ERROR, 1, "changed"},
               {STATUS_416, GATHER_IO_ERROR, 1, "had 1000000 bytes and has 70000"},
               {OTHER_TAG, GATHER_IO_ERROR, 1, "its ETag was \"v1\" and is \"v2\""},
               {OTHER_SIZE, GATHER_IO_ERROR, 1, "1000001"}};
  gather_remote_options options = quick_options();
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    script own = {0};
    for (int n = 0; n < 8; n++) own.faults[n] = CASES[i].what;
    outcome result = read_from(&own, "\"v1\"", &options);
    if (result.status != CASES[i].status && !(CASES[i].what == LONG_LINE && result.status == GATHER_IO_ERROR))
      fail_msg("fault %d: status %d", (int)CASES[i].what, (int)result.status);
    if (!strstr(result.error.message, CASES[i].message)) fail_msg("fault %d: %s", (int)CASES[i].what, result.error.message);
    if (result.asked != CASES[i].asked) fail_msg("fault %d: %d requests, not %d", (int)CASES[i].what, result.asked, CASES[i].asked);
    assert_true(result.counts.bytes_read < 65536 + 4 * 16384 + 16384);
    assert_true(result.sent < 50000000); /* of 200 GB, and of headers without end: what fits into buffers */
  }
}

/* Fails once: every byte is right in the end. */
static void test_once(void **state) {
  static const fault FAULTS[] = {OTHER_RANGE, SHORTER,         MULTIPART,     COMPRESSED, WRONG_LENGTH, EXTRA,
                                 CUT,         RESET,           HALF_A_HEADER, NO_HTTP,    OLD_HTTP,     LONG_HEADERS,
                                 LONG_LINE,   ENDLESS_HEADERS, STATUS_500,    STATUS_503, STATUS_429,   ZERO_IN_HEADER};
  static const char *const TAGS[] = {"\"v1\"", "W/\"v1\"", ""};
  gather_remote_options options = quick_options();
  for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++)
    for (int tag = 0; tag < 3; tag++) {
      script own = {.faults = {FAULTS[i]}};
      outcome result = read_from(&own, TAGS[tag], &options);
      if (result.status != GATHER_OK) fail_msg("fault %d: %s", (int)FAULTS[i], result.error.message);
      assert_int_equal(result.asked, 2);
      assert_int_equal(result.counts.retries, FAULTS[i] == RESET || FAULTS[i] == SHORTER ? 0 : 1);
      if (FAULTS[i] == SHORTER) assert_string_equal(own.ranges[1], "104095-104095"); /* the rest */
      /* Of a version that is known by its bytes the half that arrived is not asked for again. */
      if (FAULTS[i] == CUT) assert_string_equal(own.ranges[1], tag == 0 ? "102048-104095" : "100000-104095");
    }
}

/* Answers that are shorter than asked are no failed tries, however many there are; but they must bring progress in time. */
static void test_short_answers(void **state) {
  static const struct {
    fault what;
    int asked;
  } CASES[] = {{AT_MOST_512, 8}, {AT_MOST_1, 4096}};
  static const char *const TAGS[] = {"\"v1\"", "W/\"v1\"", ""};
  gather_remote_options options = quick_options();
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (int tag = 0; tag < 3; tag++) {
      script own = {0};
      for (int k = 0; k < 8; k++) own.faults[k] = CASES[i].what;
      options.take_seconds = 60; /* on a busy machine */
      outcome result = read_from(&own, TAGS[tag], &options);
      if (result.status != GATHER_OK) fail_msg("case %d: %s", (int)i, result.error.message);
      assert_in_range(result.asked, CASES[i].asked, CASES[i].asked + result.counts.hedges);
      assert_int_equal(result.counts.retries, 0);
      if (result.counts.hedges > 0) continue; /* on a busy machine: it may be the second */
      assert_string_equal(own.ranges[1], CASES[i].what == AT_MOST_1 ? "100001-104095" : "100512-104095");
    }
  script slow = {0};
  for (int k = 0; k < 8; k++) slow.faults[k] = SLOWLY_1;
  options.take_seconds = 0.5;
  outcome result = read_from(&slow, "\"v1\"", &options);
  assert_int_equal(result.status, GATHER_IO_ERROR);
  assert_contains(result.error.message, "only 1 bytes of a range at a time; no progress for 0.5 s");
  assert_in_range(result.asked, 2, 40);
}

static void test_retry_after(void **state) {
  gather_remote_options options = quick_options();
  script own = {.faults = {STATUS_503_LATER}};
  outcome result = read_from(&own, "\"v1\"", &options);
  assert_int_equal(result.status, GATHER_OK);
  assert_int_equal(result.asked, 2);
  assert_true(result.seconds >= 1 && result.seconds < 10);
  assert_int_equal(result.counts.depth, 32); /* half of 64 */
}

/* All of take_seconds is used: a wait that would go beyond it is shortened, not left out. */
static void test_last_wait(void **state) {
  gather_remote_options options = quick_options();
  options.take_seconds = 2.9; /* the waits are 0.05 to 0.1 s, and twice as long each time: the sixth would end after at least 3.15 s */
  options.retries = 50;
  script own = {0};
  for (int n = 0; n < 8; n++) own.faults[n] = STATUS_503;
  outcome result = read_from(&own, "\"v1\"", &options);
  assert_int_equal(result.status, GATHER_IO_ERROR);
  assert_contains(result.error.message, "no progress for 2.9 s");
  assert_true(result.seconds >= 2.8);
  assert_in_range(result.asked, 5, 10);
}

/* How much longer an answer may take before it counts as slow. */
#if defined(GATHER_TEST_EMULATED)
enum { PATIENCE = 5 };
#else
enum { PATIENCE = 1 };
#endif

/* No progress for try_seconds ends a try, for take_seconds all of it. */
static void test_slow(void **state) {
  static const struct {
    fault what;
    const char *message;
  } CASES[] = {{SILENT, "no answer in"}, {SILENT_BODY, "only 0 bytes in"}, {DRIPPING, "bytes in"}, {DRIPPING_HEADER, "no answer in"}};
  gather_remote_options options = quick_options();
  char limit[40];
  options.try_seconds = 0.2 * PATIENCE;
  options.take_seconds = 1.2 * PATIENCE;
  options.retries = 50;
  (void)snprintf(limit, sizeof limit, "no progress for %g s", options.take_seconds);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    script own = {0};
    for (int n = 0; n < 8; n++) own.faults[n] = CASES[i].what;
    outcome result = read_from(&own, "W/\"v1\"", &options);
    assert_int_equal(result.status, GATHER_IO_ERROR);
    assert_contains(result.error.message, CASES[i].message);
    assert_contains(result.error.message, limit);
    assert_in_range(result.asked, 2, 7);
    assert_true(result.seconds > 0.5 * PATIENCE && result.seconds < 6 * PATIENCE);
    /* Once: the second try has the rows, unless the machine stands still for as long as a try. */
    for (int n = 0; n == 0 || (n < 10 && result.asked != 2); n++) {
      script once = {.faults = {CASES[i].what}};
      result = read_from(&once, "W/\"v1\"", &options);
    }
    assert_int_equal(result.status, GATHER_OK);
    assert_int_equal(result.asked, 2);
  }
}

/* A few slow answers are asked for a second time. */
static bool answer_slowly(played_request *request) {
  script *own = request->server->own;
  if (request->number == 60 && atomic_fetch_add(&own->asked, 1) == 0)
    for (int i = 0; i < 1000 && !atomic_load(&request->server->ending); i++) played_sleep(10);
  return played_good(request);
}

static void test_hedge(void **state) {
  played_server server;
  script own = {0};
  played_start(&server, answer_slowly, PLAYED_SIZE, "\"v1\"");
  server.own = &own;
  gather_remote_options options = quick_options();
  gather_remote_client *client = make_client(&options);
  gather_remote_object *object = open_object(client, played_url(&server, "/x"));
  double began = seconds_now();
  for (int i = 0; i < 70; i++) assert_int_equal(read_checked(object, 70000 + i * 1000, 1000, NULL), GATHER_OK);
  assert_true(seconds_now() - began < 8); /* the slow one takes 10 s */
  gather_remote_statistics counts = counts_of(client);
  assert_in_range(counts.hedges, 1, 3);
  assert_int_equal(counts.retries, 0);
  assert_int_equal(counts.requests, 71 + counts.hedges);
  end_all(object, client, &server);
}

/* Errors of the open: the byte is not named. */
static bool answer_whole(played_request *request) { return play(request, WHOLE); }
static bool answer_missing(played_request *request) { return played_status(request, "404 x"); }

static void test_open(void **state) {
  static const struct {
    played_answer *answer;
    gather_status status;
    const char *message;
  } CASES[] = {{answer_whole, GATHER_IO_ERROR, "does not serve ranges"}, {answer_missing, GATHER_FILE_NOT_FOUND, "404"}};
  gather_remote_options options = quick_options();
  gather_remote_client *client = make_client(&options);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    played_server server;
    gather_remote_object *object = NULL;
    gather_error error;
    played_start(&server, CASES[i].answer, PLAYED_SIZE, "");
    assert_int_equal(gather_remote_object_open(client, played_url(&server, "/x"), &object, &error), CASES[i].status);
    assert_null(object);
    assert_contains(error.message, CASES[i].message);
    assert_int_equal(error.file_offset, -1);
    assert_int_equal(server.requests, 1);
    played_end(&server);
  }
  gather_remote_object *object = NULL;
  gather_error error;
  assert_int_equal(gather_remote_object_open(client, "http://127.0.0.1:1/x", &object, &error), GATHER_IO_ERROR);
  assert_contains(error.message, "tried 3 times");
  gather_remote_client_release(client);
}

TESTS(test_for_ever, test_once, test_short_answers, test_retry_after, test_slow, test_last_wait, test_hedge, test_open)
