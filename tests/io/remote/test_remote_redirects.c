/* SPDX-License-Identifier: MIT
 *
 * test_remote_redirects.c: who is asked, and who is told what: redirects, addresses that expire, credentials, refused addresses.
 */
#include "io/remote/remote_support.h"

/* Two servers: the hub redirects to the store, whose addresses may expire. */
typedef struct {
  played_server hub, store;
  const char *location; /* instead of the store's; NULL */
  atomic_int version;   /* of the address that is valid */
  atomic_int hub_authorized, store_authorized, store_conditions, hub_conditions;
  const char *status;
} pair;

static bool answer_hub(played_request *request) {
  pair *own = request->server->own;
  char head[600];
  if (played_has(request, "\r\nAuthorization: Bearer abc\r\n")) atomic_fetch_add(&own->hub_authorized, 1);
  if (played_has(request, "\r\nIf-Match")) atomic_fetch_add(&own->hub_conditions, 1);
  if (own->location)
    (void)snprintf(head, sizeof head, "%s\r\nLocation: %s", own->status, own->location);
  else
    (void)snprintf(head, sizeof head, "%s\r\nLocation: http://127.0.0.1:%d/data?signature=%d\r\nETag: \"hub\"", own->status,
                   own->store.port, atomic_load(&own->version));
  return played_status(request, head);
}

static bool answer_store(played_request *request) {
  pair *own = request->server->own;
  char valid[40];
  if (played_has(request, "\r\nAuthorization") || played_has(request, "\r\nCookie")) atomic_fetch_add(&own->store_authorized, 1);
  if (played_has(request, "\r\nIf-Match: \"v1\"")) atomic_fetch_add(&own->store_conditions, 1);
  (void)snprintf(valid, sizeof valid, "signature=%d ", atomic_load(&own->version));
  if (!played_has(request, valid)) return played_status(request, "403 Forbidden");
  return played_good(request);
}

static void start(pair *own) {
  *own = (pair){.status = "302 Found\r\nSet-Cookie: a=b"};
  atomic_init(&own->version, 1);
  played_start(&own->store, answer_store, PLAYED_SIZE, "\"v1\"");
  played_start(&own->hub, answer_hub, PLAYED_SIZE, "\"hub\"");
  own->hub.own = own->store.own = own;
}

static void end(pair *own) {
  played_end(&own->hub);
  played_end(&own->store);
}

static gather_remote_client *client_with_token(void) {
  gather_remote_options options = quick_options();
  options.bearer = "abc";
  return make_client(&options);
}

static void test_followed_once(void **state) {
  static const char *const STATUSES[] = {"301 x", "302 x", "303 x", "307 x", "308 x"};
  for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++) {
    pair own;
    start(&own);
    own.status = STATUSES[i];
    gather_remote_client *client = client_with_token();
    gather_remote_object *object = open_object(client, played_url(&own.hub, "/r"));
    assert_string_equal(gather_remote_object_name(object), played_url(&own.hub, "/r"));
    assert_string_equal(gather_remote_object_version(object), "\"v1\"");
    for (int n = 0; n < 5; n++) assert_int_equal(read_checked(object, 70000 + n, 10, NULL), GATHER_OK);
    assert_int_equal(own.hub.requests, 1); /* the target is kept */
    assert_int_equal(own.store.requests, 6);
    assert_int_equal(own.hub_authorized, 1);
    assert_int_equal(own.store_authorized, 0);
    assert_int_equal(own.store_conditions, 5);
    gather_remote_object_close(object);
    gather_remote_client_release(client);
    end(&own);
  }
}

/* A signed address expires while 40 requests are in flight: one of them renews it. */
static void test_renewed(void **state) {
  enum { COUNT = 40 };
  pair own;
  start(&own);
  gather_remote_client *client = client_with_token();
  gather_remote_object *object = open_object(client, played_url(&own.hub, "/r"));
  gather_remote_queue *queue = NULL;
  assert_int_equal(gather_remote_queue_create(client, &queue, NULL), GATHER_OK);
  static gather_remote_request requests[COUNT];
  static char data[COUNT][100];
  for (int round = 2; round < 5; round++) {
    atomic_store(&own.version, round);
    int hub_before = own.hub.requests, store_before = own.store.requests;
    const int64_t hedges = counts_of(client).hedges;
    for (int i = 0; i < COUNT; i++) {
      requests[i] = (gather_remote_request){.object = object, .offset = 80000 + i * 500, .bytes = 100, .data = data[i]};
      gather_remote_begin(queue, &requests[i]);
    }
    for (int i = 0; i < COUNT; i++) {
      gather_remote_request *done = gather_remote_finish(queue);
      if (done->status != GATHER_OK) fail_msg("%s", done->error.message);
      assert_true(played_right(done->data, done->offset, done->bytes));
    }
    assert_int_equal(own.hub.requests - hub_before, 1);
    /* Each is denied at most once and answered once, and the renewing one answers, too; but a slow one may have been sent twice. */
    assert_in_range(own.store.requests - store_before, COUNT + 1, COUNT * 2 + 2 + (counts_of(client).hedges - hedges));
  }
  assert_int_equal(own.store_authorized, 0);
  assert_int_equal(own.hub_conditions, 0); /* the hub's own version is another one */
  gather_remote_queue_destroy(queue);
  gather_remote_object_close(object);
  gather_remote_client_release(client);
  end(&own);
}

/* The new address is denied as well: an error after few requests. */
static void test_renewed_in_vain(void **state) {
  pair own;
  gather_error error;
  start(&own);
  char location[100];
  gather_remote_client *client = client_with_token();
  gather_remote_object *object = open_object(client, played_url(&own.hub, "/r"));
  (void)snprintf(location, sizeof location, "http://127.0.0.1:%d/data?signature=1", own.store.port);
  own.location = location;
  atomic_store(&own.version, 9);
  assert_int_equal(read_checked(object, 70000, 10, &error), GATHER_IO_ERROR);
  assert_contains(error.message, "403");
  assert_null(strstr(error.message, "signature"));
  assert_int_equal(own.hub.requests, 2);
  assert_int_equal(own.store.requests, 3);
  gather_remote_object_close(object);
  gather_remote_client_release(client);
  end(&own);
}

/* A renewed address leads to another version: an error, never both. */
static bool answer_other_version(played_request *request) {
  return played_head(request, "\"v2\"") && played_body(request, request->first, request->last);
}

static void test_renewed_to_another_version(void **state) {
  pair own;
  played_server other;
  gather_error error;
  char location[100];
  start(&own);
  played_start(&other, answer_other_version, PLAYED_SIZE, "\"v2\"");
  gather_remote_client *client = client_with_token();
  gather_remote_object *object = open_object(client, played_url(&own.hub, "/r"));
  (void)snprintf(location, sizeof location, "http://127.0.0.1:%d/data", other.port);
  own.location = location;
  atomic_store(&own.version, 9);
  assert_int_equal(read_checked(object, 70000, 10, &error), GATHER_IO_ERROR);
  assert_contains(error.message, "its ETag was \"v1\" and is \"v2\"");
  end_all(object, client, &other);
  end(&own);
}

/* Redirects that are not followed. */
static void test_refused(void **state) {
  static const struct {
    const char *location, *message;
    int requests;
  } CASES[] = {{"http://169.254.169.254/latest/meta-data", "hands out credentials", 1},
               {"http://[fd00:ec2::254]/x", "hands out credentials", 1},
               {"http://2852039166/x", "hands out credentials", 1}, /* the same address as one number */
               {"http://0xa9.0xfe.0xa9.0xfe/x", "hands out credentials", 1},
               {"file:///etc/passwd", "a redirect leads nowhere", 1},
               {"gopher://127.0.0.1/x", "a redirect leads nowhere", 1},
               {"http://a b\\c/", "a redirect leads nowhere", 1},
               {"http:/x", "a redirect leads nowhere", 1},
               {"?again", "more than 8 redirects", 3 * 9}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    pair own;
    gather_remote_object *object = NULL;
    gather_error error;
    start(&own);
    own.location = CASES[i].location;
    gather_remote_client *client = client_with_token();
    assert_int_equal(gather_remote_object_open(client, played_url(&own.hub, "/r"), &object, &error), GATHER_IO_ERROR);
    if (!strstr(error.message, CASES[i].message)) fail_msg("%s: %s", CASES[i].location, error.message);
    assert_int_equal(own.hub.requests, CASES[i].requests);
    gather_remote_client_release(client);
    end(&own);
  }
}

/* The same host on another port is another server. One on the same port gets the token again. */
static void test_same_origin(void **state) {
  pair own;
  start(&own);
  char location[100];
  gather_remote_client *client = client_with_token();
  (void)snprintf(location, sizeof location, "/moved?n=%d", 1);
  own.location = location;
  gather_remote_object *object = NULL;
  assert_int_equal(gather_remote_object_open(client, played_url(&own.hub, "/r"), &object, NULL), GATHER_IO_ERROR);
  assert_int_equal(own.hub_authorized, own.hub.requests);
  assert_int_equal(own.store.requests, 0);
  gather_remote_client_release(client);
  end(&own);
}

/* Once opened without a redirect, a file whose server begins to redirect is followed once more. */
static atomic_int moved;
static bool answer_then_redirect(played_request *request) {
  pair *own = request->server->own;
  if (!atomic_load(&moved)) return played_good(request);
  char head[200];
  (void)snprintf(head, sizeof head, "307 x\r\nLocation: http://127.0.0.1:%d/data?signature=1", own->store.port);
  return played_status(request, head);
}

static void test_moves_later(void **state) {
  pair own;
  start(&own);
  played_server first;
  atomic_store(&moved, 0);
  played_start(&first, answer_then_redirect, PLAYED_SIZE, "\"v1\"");
  first.own = &own;
  gather_remote_client *client = client_with_token();
  gather_remote_object *object = open_object(client, played_url(&first, "/r"));
  assert_int_equal(read_checked(object, 70000, 10, NULL), GATHER_OK);
  atomic_store(&moved, 1);
  assert_int_equal(read_checked(object, 71000, 10, NULL), GATHER_OK);
  assert_int_equal(read_checked(object, 72000, 10, NULL), GATHER_OK);
  assert_int_equal(first.requests, 4);
  assert_int_equal(own.store.requests, 2);
  assert_int_equal(own.store_authorized, 0);
  end_all(object, client, &first);
  end(&own);
}

TESTS(test_followed_once, test_renewed, test_renewed_in_vain, test_renewed_to_another_version, test_refused, test_same_origin,
      test_moves_later)
