/* SPDX-License-Identifier: MIT
 *
 * test_remote_ranges.c: servers that answer ranges otherwise than most do, all by RFC 9110: less than was asked for, 416 for a file that
 * is smaller than the open asks for, no length, no ranges at all.
 */
#include "io/remote/remote_support.h"

enum { SMALL = 176, MEDIUM = 100000, LIMIT = 200000 };

/* What a server does; the numbers are in its own. */
typedef enum {
  SHORT,        /* at most `part` bytes */
  REFUSES_END,  /* 416 with the length if the range goes beyond the end */
  REFUSES_MUTE, /* 416 without it, whatever the range is */
  NO_TOTAL,     /* Content-Range ends in "/" "*"; without a range the whole */
  NO_RANGES,    /* 200 with the whole, and its length */
  NO_RANGES_CHUNKED,
  NO_RANGES_CLOSE, /* neither a length nor chunks */
  RANGES_AT_FIRST, /* 206 to the open, 200 afterwards */
  CUT_ONCE,        /* 200, of which the first answer ends in the middle */
  CUT_CHUNKS_ONCE,
  LONGER /* 200 with more bytes than its length */
} manner;

typedef struct {
  manner what;
  int64_t part;
  const char *etag;
} plan;

static bool whole(played_request *request, int64_t size, const char *tag, const char *more) {
  if (*tag && !played_print(request, "HTTP/1.1 200 OK\r\nETag: %s\r\n%s\r\n", tag, more)) return false;
  if (!*tag && !played_print(request, "HTTP/1.1 200 OK\r\n%s\r\n", more)) return false;
  return played_body(request, 0, size - 1);
}

static bool chunks(played_request *request, int64_t size, const char *tag, int64_t last) {
  if (!played_print(request, "HTTP/1.1 200 OK\r\n%s%s%sTransfer-Encoding: chunked\r\n\r\n", *tag ? "ETag: " : "", tag, *tag ? "\r\n" : ""))
    return false;
  for (int64_t at = 0; at < last; at += 5000) {
    int64_t count = last - at < 5000 ? last - at : 5000;
    if (!played_print(request, "%llx\r\n", (unsigned long long)count) || !played_body(request, at, at + count - 1) ||
        !played_print(request, "\r\n"))
      return false;
  }
  return last == size && played_print(request, "0\r\n\r\n");
}

static bool answer(played_request *request) {
  const plan *own = request->server->own;
  const int64_t size = request->server->size;
  char length[80];
  (void)snprintf(length, sizeof length, "Content-Length: %lld\r\n", (long long)size);
  switch (own->what) {
    case SHORT:
      if (request->last >= request->first + own->part) request->last = request->first + own->part - 1;
      return played_good(request);
    case REFUSES_END:
      if (request->last < size) return played_good(request);
      (void)snprintf(length, sizeof length, "416 x\r\nContent-Range: bytes */%lld", (long long)size);
      return played_status(request, length);
    case REFUSES_MUTE:
      return request->first < 0 ? whole(request, size, own->etag, length) : played_status(request, "416 x");
    case NO_TOTAL:
      if (request->first < 0) return whole(request, size, own->etag, length);
      if (request->last >= size) request->last = size - 1;
      (void)played_print(request, "HTTP/1.1 206 x\r\nContent-Range: bytes %lld-%lld/*\r\n\r\n", (long long)request->first,
                         (long long)request->last);
      (void)played_body(request, request->first, request->last);
      return false;
    case CUT_ONCE:
    case CUT_CHUNKS_ONCE:
      if (request->number == 1 && own->what == CUT_CHUNKS_ONCE) return chunks(request, size, own->etag, size / 2) && false;
      if (request->number == 1)
        return played_print(request, "HTTP/1.1 200 OK\r\n%s\r\n", length) && played_body(request, 0, size / 2) && false;
      return whole(request, size, own->etag, length);
    case NO_RANGES:
      return whole(request, size, own->etag, length);
    case NO_RANGES_CHUNKED:
      return chunks(request, size, own->etag, size);
    case NO_RANGES_CLOSE:
      (void)whole(request, size, own->etag, "Connection: close\r\n");
      return false;
    case RANGES_AT_FIRST:
      return request->number == 1 ? played_good(request) : whole(request, size, own->etag, length);
    case LONGER:
      return whole(request, size + 100, own->etag, length);
  }
  return false;
}

/* How a file is opened and all of it read, twice. */
static const struct {
  plan plan;
  int64_t size;
  gather_status status;
  int least, most;     /* requests */
  const char *message; /* of a failure */
} CASES[] = {{{SHORT, 10000, "\"v1\""}, MEDIUM, GATHER_OK, 10 + 8, 10 + 10, NULL},
             {{SHORT, 10000, "W/\"v1\""}, MEDIUM, GATHER_OK, 10 + 8, 10 + 10, NULL},
             {{SHORT, 10000, ""}, MEDIUM, GATHER_OK, 10 + 8, 10 + 10, NULL},
             {{SHORT, 65535, "\"v1\""}, MEDIUM, GATHER_OK, 4, 6, NULL},
             {{SHORT, 100, "\"v1\""}, SMALL, GATHER_OK, 2, 2, NULL},
             {{SHORT, 1, "\"v1\""}, SMALL, GATHER_OK, SMALL, SMALL + 4, NULL}, /* of so many, one in 50 may be hedged */
             {{REFUSES_END, 0, "\"v1\""}, SMALL, GATHER_OK, 2, 2, NULL},
             {{REFUSES_END, 0, "\"v1\""}, 1, GATHER_OK, 2, 2, NULL},
             {{REFUSES_END, 0, "\"v1\""}, MEDIUM, GATHER_OK, 2, 3, NULL},
             {{REFUSES_MUTE, 0, "\"v1\""}, SMALL, GATHER_OK, 2, 2, NULL},
             {{REFUSES_MUTE, 0, "\"v1\""}, LIMIT + 1, GATHER_IO_ERROR, 2, 2, "200001 bytes"},
             {{NO_TOTAL, 0, "\"v1\""}, MEDIUM, GATHER_OK, 2, 2, NULL},
             {{NO_TOTAL, 0, ""}, LIMIT + 1, GATHER_IO_ERROR, 2, 2, "option whole (--whole) allows 200000 bytes"},
             {{NO_RANGES, 0, "\"v1\""}, SMALL, GATHER_OK, 1, 1, NULL},
             {{NO_RANGES, 0, "W/\"v1\""}, MEDIUM, GATHER_OK, 1, 1, NULL},
             {{NO_RANGES, 0, ""}, LIMIT, GATHER_OK, 1, 1, NULL},
             {{NO_RANGES, 0, "\"v1\""}, LIMIT + 1, GATHER_IO_ERROR, 1, 1, "whole file of 200001 bytes"},
             {{NO_RANGES_CHUNKED, 0, "\"v1\""}, SMALL, GATHER_OK, 1, 1, NULL},
             {{NO_RANGES_CHUNKED, 0, ""}, LIMIT, GATHER_OK, 1, 1, NULL},
             {{NO_RANGES_CHUNKED, 0, ""}, LIMIT + 1, GATHER_IO_ERROR, 1, 1, "more than the 200000 bytes that the option whole"},
             {{NO_RANGES_CLOSE, 0, ""}, MEDIUM, GATHER_OK, 1, 1, NULL},
             {{RANGES_AT_FIRST, 0, "\"v1\""}, MEDIUM, GATHER_OK, 3, 3, NULL},
             {{RANGES_AT_FIRST, 0, "\"v1\""}, LIMIT + 1, GATHER_IO_ERROR, 2, 2, "whole file of 200001 bytes"},
             {{CUT_ONCE, 0, "\"v1\""}, MEDIUM, GATHER_OK, 2, 2, NULL},
             {{CUT_CHUNKS_ONCE, 0, "\"v1\""}, MEDIUM, GATHER_OK, 2, 2, NULL},
             {{LONGER, 0, "\"v1\""}, SMALL, GATHER_OK, 1, 1, NULL}}; /* libcurl itself reads no more than was announced */

static gather_status read_all(gather_remote_client *client, const char *url, int64_t size, gather_error *error) {
  gather_remote_object *object = NULL;
  gather_remote_queue *queue = NULL;
  gather_status status = gather_remote_object_open(client, url, &object, error);
  if (status != GATHER_OK) return status;
  int64_t head;
  const char *bytes = gather_remote_object_head(object, &head);
  assert_int_equal(gather_remote_object_size(object), size);
  assert_true(head >= (size < 65536 ? size : 65536));
  assert_true(played_right(bytes, 0, head));
  status = read_checked(object, 0, size, error);
  /* And by a queue, as tables do. */
  if (status == GATHER_OK && size > 70000) {
    char data[200];
    assert_int_equal(gather_remote_queue_create(client, &queue, NULL), GATHER_OK);
    gather_remote_request request = {.object = object, .offset = size - 200, .bytes = 200, .data = data};
    gather_remote_begin(queue, &request);
    assert_ptr_equal(gather_remote_finish(queue), &request);
    status = request.status;
    if (status != GATHER_OK)
      *error = request.error;
    else
      assert_true(played_right(data, size - 200, 200));
    gather_remote_queue_destroy(queue);
  }
  gather_remote_object_close(object);
  return status;
}

static void test_legal(void **state) {
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    played_server server;
    plan own = CASES[i].plan;
    gather_error error = {0};
    gather_remote_options options = quick_options();
    options.whole_bytes = LIMIT;
    played_start(&server, answer, CASES[i].size, own.etag);
    server.own = &own;
    gather_remote_client *client = make_client(&options);
    gather_status status = read_all(client, played_url(&server, "/f?key=secret"), CASES[i].size, &error);
    gather_remote_client_release(client);
    played_end(&server);
    if (status != CASES[i].status) fail_msg("case %zu: %s", i, error.message);
    if (status != GATHER_OK && !strstr(error.message, CASES[i].message)) fail_msg("case %zu: %s", i, error.message);
    if (status != GATHER_OK) assert_null(strstr(error.message, "secret"));
    if (server.requests < CASES[i].least || server.requests > CASES[i].most) fail_msg("case %zu: %d requests", i, server.requests);
  }
}

/* The default, and none at all. */
static void test_limits(void **state) {
  static const struct {
    int64_t option, size;
    gather_status status;
  } LIMITS[] = {{0, 16 << 20, GATHER_OK}, {0, (16 << 20) + 1, GATHER_IO_ERROR}, {-1, 1, GATHER_IO_ERROR}};
  for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) {
    played_server server;
    plan own = {NO_RANGES, 0, "\"v1\""};
    gather_error error = {0};
    gather_remote_options options = quick_options();
    options.whole_bytes = LIMITS[i].option;
    played_start(&server, answer, LIMITS[i].size, own.etag);
    server.own = &own;
    gather_remote_client *client = make_client(&options);
    gather_status status = read_all(client, played_url(&server, "/f"), LIMITS[i].size, &error);
    if (status != LIMITS[i].status) fail_msg("limit %zu: %s", i, error.message);
    assert_int_equal(server.requests, 1);
    gather_remote_client_release(client);
    played_end(&server);
  }
}

/* A document of a server is no range: the limits above do not hold for it. The version is compared between the parts of one range. */
static atomic_int changing;
static bool answer_changing(played_request *request) {
  if (request->last > request->first + 999) request->last = request->first + 999;
  return played_head(request, atomic_fetch_add(&changing, 1) < 2 ? "\"v1\"" : "\"v2\"") &&
         played_body(request, request->first, request->last);
}

static void test_parts_of_two_versions(void **state) {
  played_server server;
  gather_error error = {0};
  gather_remote_object *object = NULL;
  gather_remote_options options = quick_options();
  atomic_store(&changing, 0);
  played_start(&server, answer_changing, MEDIUM, "\"v1\"");
  gather_remote_client *client = make_client(&options);
  assert_int_equal(gather_remote_object_open(client, played_url(&server, "/f"), &object, &error), GATHER_IO_ERROR);
  assert_contains(error.message, "its ETag was \"v1\" and is \"v2\"");
  gather_remote_client_release(client);
  played_end(&server);
}

TESTS(test_legal, test_limits, test_parts_of_two_versions)
