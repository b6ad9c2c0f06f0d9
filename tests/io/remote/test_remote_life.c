/* SPDX-License-Identifier: MIT
 *
 * test_remote_life.c: clients that are cancelled, shared by threads, forked, and released.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "io/remote/remote_support.h"
#include "support/skip.h"

/* Seconds of a machine that others use. Who waited for the end of a try would need 10. */
enum { SOON = 8 };

static bool answer_open_only(played_request *request) {
  if (request->number == 1 || request->first == 90001) return played_good(request);
  while (!atomic_load(&request->server->ending)) played_sleep(10);
  return false;
}

/* Some requests are in flight, some wait for their turn, one waits after an error: all end at once. */
static bool answer_open_and_503(played_request *request) {
  return request->number == 2 ? played_status(request, "503 x\r\nRetry-After: 20") : answer_open_only(request);
}

static void test_cancel(void **state) {
  static played_answer *const ANSWERS[] = {answer_open_only, answer_open_and_503};
  for (int which = 0; which < 2; which++) {
    enum { COUNT = 60 };
    played_server server;
    played_start(&server, ANSWERS[which], PLAYED_SIZE, "\"v1\"");
    gather_remote_client *client = make_client(NULL);
    gather_remote_object *object = open_object(client, played_url(&server, "/x"));
    gather_remote_queue *queue = NULL, *other = NULL;
    assert_int_equal(gather_remote_queue_create(client, &queue, NULL), GATHER_OK);
    assert_int_equal(gather_remote_queue_create(client, &other, NULL), GATHER_OK);
    static gather_remote_request requests[COUNT], alone;
    static char data[COUNT + 1][100];
    for (int i = 0; i < COUNT; i++) {
      requests[i] = (gather_remote_request){.object = object, .offset = 80000 + i * 500, .bytes = 100, .data = data[i]};
      gather_remote_begin(queue, &requests[i]);
    }
    for (int i = 0; i < 3000 && server.requests < 9; i++) played_sleep(10);
    assert_true(server.requests >= 9);
    double began = seconds_now();
    gather_remote_cancel(queue);
    for (int i = 0; i < COUNT; i++) {
      gather_remote_request *done = gather_remote_finish(queue);
      assert_int_equal(done->status, GATHER_CANCELLED);
    }
    assert_true(seconds_now() - began < SOON);
    gather_remote_cancel(queue); /* nothing to cancel: the next request is not */
    /* Another queue goes on; so does this one. */
    alone = (gather_remote_request){.object = object, .offset = 90001, .bytes = 100, .data = data[COUNT]};
    gather_remote_begin(which ? queue : other, &alone);
    assert_ptr_equal(gather_remote_finish(which ? queue : other), &alone);
    assert_int_equal(alone.status, GATHER_OK);
    gather_remote_queue_destroy(queue);
    gather_remote_queue_destroy(other);
    gather_remote_object_close(object);
    began = seconds_now();
    gather_remote_client_release(client);
    assert_true(seconds_now() - began < SOON);
    played_end(&server);
  }
}

/* Several threads share one client. */
typedef struct {
  gather_remote_client *client;
  gather_remote_object *object;
  int seed;
  bool right;
} reader;

static void *read_some(void *argument) {
  reader *own = argument;
  char data[3000];
  own->right = true;
  for (int i = 0; i < 50; i++) {
    int64_t offset = (int64_t)(own->seed * 7919 + i * 104729) % 990000, bytes = 1 + (i * 61) % 3000;
    gather_error error;
    own->right &= gather_remote_object_read(own->object, offset, bytes, data, &error) == GATHER_OK && played_right(data, offset, bytes);
    gather_remote_statistics counts = counts_of(own->client);
    own->right &= counts.requests > 0;
  }
  return NULL;
}

static void test_threads(void **state) {
  played_server server;
  played_start(&server, played_good, PLAYED_SIZE, "\"v1\"");
  gather_remote_options options = quick_options();
  options.connections = 4;
  gather_remote_client *client = make_client(&options);
  gather_remote_object *object = open_object(client, played_url(&server, "/x"));
  reader readers[6];
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) {
    readers[i] = (reader){.client = client, .object = object, .seed = i};
    assert_int_equal(pthread_create(&threads[i], NULL, read_some, &readers[i]), 0);
  }
  for (int i = 0; i < 6; i++) {
    (void)pthread_join(threads[i], NULL);
    assert_true(readers[i].right);
  }
  assert_true(server.peak <= 4);
  end_all(object, client, &server);
}

/* A child reads on connections of its own; the parent's stay as they were. */
static int child(gather_remote_client *client, gather_remote_object *object, gather_remote_queue *queue) {
  char data[1000];
  gather_error error;
  for (int i = 0; i < 5; i++)
    if (gather_remote_object_read(object, 200000 + i * 1000, 1000, data, &error) != GATHER_OK ||
        !played_right(data, 200000 + i * 1000, 1000))
      return 1;
  gather_remote_request request = {.object = object, .offset = 300000, .bytes = 1000, .data = data};
  gather_remote_begin(queue, &request);
  if (gather_remote_finish(queue) != &request || request.status != GATHER_OK || !played_right(data, 300000, 1000)) return 2;
  gather_remote_queue_destroy(queue);
  gather_remote_object_close(object);
  gather_remote_client_release(client);
  return 0;
}

static bool answer_first_two(played_request *request) {
  if (request->first == 400000) /* the parent's, answered after the child has ended */
    for (int i = 0; i < 1000 && !request->server->own; i++) played_sleep(10);
  return played_good(request);
}

#if defined(GATHER_TEST_TSAN)
#define WITHOUT_FORK "ThreadSanitizer does not follow threads into a child"
#elif defined(GATHER_TEST_EMULATED)
#define WITHOUT_FORK "qemu plays no child of a program with threads"
#endif

static void test_fork(void **state) {
#if defined(WITHOUT_FORK)
  GATHER_TEST_SKIP("fork", WITHOUT_FORK);
#endif
  played_server server;
  played_start(&server, answer_first_two, PLAYED_SIZE, "\"v1\"");
  gather_remote_client *client = make_client(NULL);
  gather_remote_object *object = open_object(client, played_url(&server, "/x"));
  gather_remote_queue *queue = NULL;
  assert_int_equal(gather_remote_queue_create(client, &queue, NULL), GATHER_OK);
  static char data[1000];
  gather_remote_request request = {.object = object, .offset = 400000, .bytes = 1000, .data = data};
  gather_remote_begin(queue, &request);
  for (int i = 0; i < 3000 && server.requests < 2; i++) played_sleep(10);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) _exit(child(client, object, queue));
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  server.own = &server;
  assert_ptr_equal(gather_remote_finish(queue), &request);
  assert_int_equal(request.status, GATHER_OK);
  assert_true(played_right(data, 400000, 1000));
  int connections = server.connections;
  assert_int_equal(read_checked(object, 500000, 1000, NULL), GATHER_OK);
  assert_int_equal(server.connections, connections); /* still alive */
  gather_remote_queue_destroy(queue);
  end_all(object, client, &server);
}

/* Clients without a request have no thread; many come and go. */
static void test_release(void **state) {
  played_server server;
  played_start(&server, played_good, PLAYED_SIZE, "\"v1\"");
  for (int i = 0; i < 20; i++) {
    gather_remote_client *client = make_client(NULL);
    if (i % 2) {
      gather_remote_object *object = open_object(client, played_url(&server, "/x"));
      gather_remote_client_release(client); /* the object holds it */
      assert_int_equal(read_checked(object, 70000, 10, NULL), GATHER_OK);
      gather_remote_object_close(object);
    } else {
      assert_ptr_equal(gather_remote_client_hold(client), client);
      gather_remote_client_release(client);
      gather_remote_client_release(client);
    }
  }
  gather_remote_client_release(NULL);
  gather_remote_object_close(NULL);
  gather_remote_queue_destroy(NULL);
  for (int i = 0; i < 3000 && played_open(&server) > 0; i++) played_sleep(10);
  assert_int_equal(played_open(&server), 0);
  played_end(&server);
}

TESTS(test_cancel, test_threads, test_fork, test_release)
