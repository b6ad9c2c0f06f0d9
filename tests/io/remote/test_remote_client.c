/* SPDX-License-Identifier: MIT
 *
 * test_remote_client.c: a client and a server that does what it should: opens, ranges, many at once, conditions, credentials, documents.
 */
#include "io/remote/remote_support.h"

static void test_open_and_read(void **state) {
  played_server server;
  played_start(&server, played_good, PLAYED_SIZE, "\"v1\"");
  gather_remote_client *client = make_client(NULL);
  gather_remote_object *object = open_object(client, played_url(&server, "/a/b.bin?token=secret#part"));
  int64_t bytes;
  const char *head = gather_remote_object_head(object, &bytes);
  assert_int_equal(bytes, 65536);
  assert_true(played_right(head, 0, bytes));
  assert_int_equal(gather_remote_object_size(object), PLAYED_SIZE);
  assert_string_equal(gather_remote_object_version(object), "\"v1\"");
  assert_string_equal(gather_remote_object_name(object), played_url(&server, "/a/b.bin"));
  assert_int_equal(server.requests, 1);
  assert_int_equal(read_checked(object, 100, 1000, NULL), GATHER_OK); /* of the head */
  assert_int_equal(server.requests, 1);
  for (int i = 0; i < 20; i++) assert_int_equal(read_checked(object, 65530 + i * 40000, 1000 + i, NULL), GATHER_OK);
  assert_int_equal(read_checked(object, PLAYED_SIZE - 1, 1, NULL), GATHER_OK);
  assert_int_equal(server.requests, 22);
  assert_int_equal(server.connections, 1); /* kept alive */
  gather_error error;
  char none;
  assert_int_equal(gather_remote_object_read(object, PLAYED_SIZE, 0, &none, &error), GATHER_OK);
  assert_int_equal(gather_remote_object_read(object, PLAYED_SIZE, 1, &none, &error), GATHER_IO_ERROR);
  assert_int_equal(gather_remote_object_read(object, -1, 1, &none, &error), GATHER_IO_ERROR);
  assert_int_equal(gather_remote_object_read(object, 1, INT64_MAX, &none, &error), GATHER_IO_ERROR);
  gather_remote_statistics counts = counts_of(client);
  assert_int_equal(counts.requests, 22);
  assert_int_equal(counts.connections, 1);
  assert_int_equal(counts.retries, 0);
  assert_true(counts.bytes_read > 65536 + 20000 && counts.bytes_read < 65536 + 22000);
  assert_true(counts.p50 > 0 && counts.p99 >= counts.p50 && counts.latency > 0);
  gather_remote_client_statistics_reset(client);
  counts = counts_of(client);
  assert_int_equal(counts.requests, 0);
  gather_remote_costs costs;
  gather_remote_client_costs(client, &costs);
  assert_true(costs.latency > 0 && costs.bandwidth > 0 && costs.connections >= 16 && costs.rate > 0);
  end_all(object, client, &server);
}

/* Large ranges are read in parts. */
static void test_large(void **state) {
  played_server server;
  int64_t size = 20 << 20;
  played_start(&server, played_good, size, "\"v1\"");
  gather_remote_client *client = make_client(NULL);
  gather_remote_object *object = open_object(client, played_url(&server, "/large"));
  assert_int_equal(read_checked(object, 0, size, NULL), GATHER_OK);
  assert_int_equal(server.requests, 1 + 5);
  end_all(object, client, &server);
}

/* 2000 requests over 8 connections, never more. */
static bool answer_after_a_while(played_request *request) {
  if (request->number > 1) played_sleep(2);
  return played_good(request);
}

static void test_many(void **state) {
  enum { COUNT = 2000, BYTES = 512 };
  played_server server;
  played_start(&server, answer_after_a_while, PLAYED_SIZE, "\"v1\"");
  gather_remote_options options = quick_options();
  options.connections = 8;
  gather_remote_client *client = make_client(&options);
  gather_remote_object *object = open_object(client, played_url(&server, "/x"));
  gather_remote_queue *queue = NULL;
  assert_int_equal(gather_remote_queue_create(client, &queue, NULL), GATHER_OK);
  gather_remote_request *requests = calloc(COUNT, sizeof *requests);
  char *data = malloc((size_t)COUNT * BYTES);
  assert_true(requests && data);
  for (int64_t i = 0; i < COUNT; i++) {
    requests[i] = (gather_remote_request){
        .object = object, .offset = 65536 + (i * 7919) % 900000, .bytes = BYTES, .data = data + i * BYTES, .owner = &requests[i]};
    gather_remote_begin(queue, &requests[i]);
  }
  for (int i = 0; i < COUNT; i++) {
    gather_remote_request *done = gather_remote_finish(queue);
    assert_non_null(done);
    assert_ptr_equal(done->owner, done);
    assert_int_equal(done->status, GATHER_OK);
    assert_true(played_right(done->data, done->offset, done->bytes));
  }
  assert_null(gather_remote_finish(queue)); /* nothing is left: it does not wait */
  gather_remote_statistics counts = counts_of(client);
  /* A slow one is sent twice, and the loser is dropped, maybe before the server has read it. */
  assert_int_equal(counts.requests, COUNT + 1 + counts.hedges);
  assert_in_range(counts.hedges, 0, counts.requests / 50 + 1);
  assert_in_range(server.requests, COUNT + 1, counts.requests);
  assert_in_range(server.peak, 5, 8);
  assert_in_range(counts.in_flight_peak, 5, 8);
  gather_remote_queue_destroy(queue);
  gather_remote_object_close(object);
  gather_remote_client_release(client);
  free(requests);
  free(data);
  played_end(&server);
}

/* Which headers a request has. */
static bool answer_asked(played_request *request) {
  char *seen = request->server->own;
  (void)snprintf(seen, 8192, "%s", request->text);
  return played_good(request);
}

static void test_headers(void **state) {
  static const struct {
    const char *etag, *condition;
  } CASES[] = {{"\"v1\"", "If-Match: \"v1\"\r\n"},
               {"W/\"v1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"},
               {"W/\"v1\"", NULL},
               {"", NULL}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    char seen[8192];
    played_server server;
    played_start(&server, answer_asked, PLAYED_SIZE, CASES[i].etag);
    server.own = seen;
    gather_remote_client *client = make_client(NULL);
    gather_remote_object *object = open_object(client, played_url(&server, "/a b?x=1"));
    assert_contains(seen, "GET /a%20b?x=1 HTTP/1.1\r\n");
    assert_contains(seen, "Range: bytes=0-65535\r\n");
    assert_contains(seen, "Accept-Encoding: identity\r\n");
    assert_contains(seen, "User-Agent: libgather/");
    assert_null(strstr(seen, "If-"));
    assert_null(strstr(seen, "Authorization"));
    assert_int_equal(read_checked(object, 70000, 100, NULL), GATHER_OK);
    assert_contains(seen, "Range: bytes=70000-70099\r\n");
    if (CASES[i].condition)
      assert_contains(seen, CASES[i].condition);
    else
      assert_null(strstr(seen, "\r\nIf-"));
    assert_string_equal(gather_remote_object_version(object), CASES[i].etag[0] == '"' ? CASES[i].etag : "");
    end_all(object, client, &server);
  }
}

static void test_credentials(void **state) {
  char seen[8192], url[200];
  played_server server;
  played_start(&server, answer_asked, PLAYED_SIZE, "\"v1\"");
  server.own = seen;
  gather_remote_options options = quick_options();
  options.bearer = "abc";
  gather_remote_client *client = make_client(&options);
  gather_remote_object *object = open_object(client, played_url(&server, "/x"));
  assert_contains(seen, "Authorization: Bearer abc\r\n"); /* this machine: nobody listens */
  gather_remote_object_close(object);
  (void)snprintf(url, sizeof url, "http://me:p%%3aq@127.0.0.1:%d/x", server.port);
  object = open_object(client, url);
  assert_contains(seen, "Authorization: Basic bWU6cDpx\r\n");
  assert_null(strstr(seen, "Bearer"));
  assert_null(strstr(gather_remote_object_name(object), "me"));
  assert_int_equal(read_checked(object, 70000, 100, NULL), GATHER_OK);
  assert_contains(seen, "Authorization: Basic bWU6cDpx\r\n");
  end_all(object, client, &server);
}

static bool answer_empty(played_request *request) {
  return played_status(request, played_has(request, "GET /416") ? "416 x\r\nContent-Range: bytes */0" : "200 OK");
}

static bool answer_in_chunks(played_request *request) {
  char head[200];
  (void)snprintf(head, sizeof head,
                 "HTTP/1.1 206 x\r\nETag: \"c\"\r\nContent-Range: bytes %lld-%lld/70000\r\nTransfer-Encoding: chunked\r\n\r\n",
                 (long long)request->first, (long long)(request->last < 70000 ? request->last : 69999));
  if (!played_send(request, head, strlen(head))) return false;
  int64_t last = request->last < 70000 ? request->last : 69999;
  for (int64_t at = request->first; at <= last; at += 1000) {
    int64_t to = at + 999 < last ? at + 999 : last;
    if (!played_print(request, "%llx;x=y\r\n", (unsigned long long)(to - at + 1)) || !played_body(request, at, to) ||
        !played_print(request, "\r\n"))
      return false;
  }
  return played_print(request, "0\r\nETag: \"other\"\r\n\r\n");
}

static void test_small(void **state) {
  played_server server;
  int64_t bytes;
  played_start(&server, answer_empty, 0, "");
  gather_remote_client *client = make_client(NULL);
  static const char *const PATHS[] = {"/416", "/200"};
  for (int i = 0; i < 2; i++) {
    gather_remote_object *object = open_object(client, played_url(&server, PATHS[i]));
    assert_int_equal(gather_remote_object_size(object), 0);
    (void)gather_remote_object_head(object, &bytes);
    assert_int_equal(bytes, 0);
    gather_remote_object_close(object);
  }
  played_end(&server);
  played_start(&server, played_good, 3, "\"v\"");
  gather_remote_object *object = open_object(client, played_url(&server, "/3"));
  assert_true(played_right(gather_remote_object_head(object, &bytes), 0, 3) && bytes == 3);
  gather_remote_object_close(object);
  played_end(&server);
  played_start(&server, answer_in_chunks, 70000, "\"c\"");
  object = open_object(client, played_url(&server, "/chunks"));
  assert_int_equal(gather_remote_object_size(object), 70000);
  assert_int_equal(read_checked(object, 60000, 10000, NULL), GATHER_OK);
  end_all(object, client, &server);
}

static bool answer_document(played_request *request) {
  if (request->first >= 0) return played_status(request, "400 no range here");
  if (played_has(request, "GET /known")) return played_print(request, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  (void)played_print(request, "HTTP/1.1 200 OK\r\n\r\nhello");
  return false;
}

static void test_document(void **state) {
  played_server server;
  gather_error error;
  char *text = NULL;
  int64_t bytes;
  played_start(&server, answer_document, 0, "");
  gather_remote_client *client = make_client(NULL);
  static const char *const PATHS[] = {"/known", "/unknown"};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(gather_remote_document(client, played_url(&server, PATHS[i]), NULL, 5, &text, &bytes, &error), GATHER_OK);
    assert_int_equal(bytes, 5);
    assert_string_equal(text, "hello");
    free(text);
    assert_int_equal(gather_remote_document(client, played_url(&server, PATHS[i]), NULL, 4, &text, &bytes, &error), GATHER_IO_ERROR);
    assert_contains(error.message, "that are read");
    assert_null(text);
  }
  gather_remote_client_release(client);
  played_end(&server);
}

static void test_names(void **state) {
  gather_remote_options options = quick_options();
  options.schemes = "https";
  gather_remote_client *client = make_client(&options);
  gather_remote_object *object = NULL;
  gather_error error;
  assert_int_equal(gather_remote_object_open(client, "http://127.0.0.1:1/x", &object, &error), GATHER_UNSUPPORTED);
  assert_contains(error.message, "http://");
  assert_int_equal(gather_remote_object_open(client, "ftp://127.0.0.1/x", &object, &error), GATHER_USAGE);
  assert_int_equal(gather_remote_object_open(client, "x.npy", &object, &error), GATHER_USAGE);
  assert_int_equal(gather_remote_object_open(client, "https://a b c/x", &object, &error), GATHER_USAGE);
  gather_remote_client_release(client);
  assert_int_equal(gather_remote_check(&error), GATHER_OK);
}

TESTS(test_open_and_read, test_large, test_many, test_headers, test_credentials, test_small, test_document, test_names)
