/* SPDX-License-Identifier: MIT
 *
 * test_remote_missing.c: machines without libcurl, or with one that is too old; out of memory; systems that refuse threads.
 */
#include <dlfcn.h>
#include <errno.h>

#include "remote/remote_support.h"

static atomic_int no_library, bad_function, calls, fail_at;
static atomic_bool no_thread, no_mutex, no_condition;
static const char *missing_function;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags) {
  return atomic_load(&no_library) ? NULL : __real_dlopen(name, flags);
}
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);

/* libcurl 7.58, without curl_multi_poll. */
static void *old_version(int age) {
  static struct {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
  } old = {0, "7.58.0", 0x073a00, "", ~0};
  (void)age;
  return &old;
}

/* ThreadSanitizer's runtime, which is linked with the test, calls it before it can be told of anything. */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define UNTOLD __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#if !defined(UNTOLD)
#define UNTOLD
#endif

UNTOLD void *__wrap_dlsym(void *library, const char *name) {
  if (missing_function && strcmp(name, missing_function) == 0) return NULL;
  if (atomic_load(&bad_function) && strcmp(name, "curl_version_info") == 0) {
    void *function;
    void *(*old)(int) = old_version;
    memcpy(&function, &old, sizeof function);
    return function;
  }
  return __real_dlsym(library, name);
}

void *__real_gather_alloc(int64_t bytes);
void *__wrap_gather_alloc(int64_t bytes);
void *__wrap_gather_alloc(int64_t bytes) {
  int number = atomic_fetch_add(&calls, 1) + 1;
  return number == atomic_load(&fail_at) ? NULL : __real_gather_alloc(bytes);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  return atomic_load(&no_thread) ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}
int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  return atomic_load(&no_mutex) ? ENOMEM : __real_pthread_mutex_init(mutex, attributes);
}
int __real_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
  return atomic_load(&no_condition) ? ENOMEM : __real_pthread_cond_init(condition, attributes);
}

/* First of all, before it is loaded for good. */
static void test_library(void **state) {
  (void)state;
  gather_error error;
  gather_remote_client *client = NULL;
  atomic_store(&no_library, 1);
  assert_int_equal(gather_remote_check(&error), GATHER_UNSUPPORTED);
  assert_contains(error.message, "URLs need libcurl, which cannot be loaded here: install it");
  assert_contains(error.message, "libcurl4");
  assert_int_equal(gather_remote_client_create(NULL, &client, &error), GATHER_UNSUPPORTED);
  assert_null(client);
  atomic_store(&no_library, 0);
  missing_function = "curl_multi_wakeup";
  assert_int_equal(gather_remote_check(&error), GATHER_UNSUPPORTED);
  assert_contains(error.message, "no function curl_multi_wakeup");
  missing_function = NULL;
  atomic_store(&bad_function, 1);
  assert_int_equal(gather_remote_check(&error), GATHER_UNSUPPORTED);
  assert_contains(error.message, "libcurl 7.58.0 is too old");
  atomic_store(&bad_function, 0);
  assert_int_equal(gather_remote_check(&error), GATHER_OK); /* it is tried again */
}

/* Everything that a user does, once. */
static bool answer_with_a_redirect(played_request *request) {
  if (played_has(request, "GET /r ")) return played_status(request, "302 x\r\nLocation: /data");
  return played_good(request);
}

static gather_status use(played_server *server, gather_error *error) {
  gather_remote_client *client = NULL;
  gather_remote_object *object = NULL;
  gather_remote_queue *queue = NULL;
  char data[1000];
  gather_status status = gather_remote_client_create(NULL, &client, error);
  if (status != GATHER_OK) return status;
  status = gather_remote_object_open(client, played_url(server, "/r"), &object, error);
  if (status == GATHER_OK) status = gather_remote_object_read(object, 70000, 1000, data, error);
  if (status == GATHER_OK && !played_right(data, 70000, 1000)) fail_msg("wrong bytes");
  if (status == GATHER_OK) status = gather_remote_queue_create(client, &queue, error);
  if (status == GATHER_OK) {
    gather_remote_request request = {.object = object, .offset = 90000, .bytes = 1000, .data = data};
    gather_remote_begin(queue, &request);
    assert_ptr_equal(gather_remote_finish(queue), &request);
    status = request.status;
    if (status != GATHER_OK) *error = request.error;
  }
  gather_remote_queue_destroy(queue);
  gather_remote_object_close(object);
  gather_remote_client_release(client);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  played_server server;
  gather_error error;
  played_start(&server, answer_with_a_redirect, PLAYED_SIZE, "\"v1\"");
  int failed = 0;
  for (int at = 1;; at++) {
    atomic_store(&calls, 0);
    atomic_store(&fail_at, at);
    gather_status status = use(&server, &error);
    if (atomic_load(&calls) < at) {
      assert_int_equal(status, GATHER_OK);
      break;
    }
    if (status == GATHER_OK) continue; /* tried again */
    if (status != GATHER_OUT_OF_MEMORY) fail_msg("allocation %d: status %d: %s", at, (int)status, error.message);
    assert_contains(error.message, "memory");
    failed++;
  }
  atomic_store(&fail_at, 0);
  assert_true(failed > 10);
  played_end(&server);
}

static void test_system(void **state) {
  (void)state;
  played_server server;
  gather_error error;
  played_start(&server, played_good, PLAYED_SIZE, "\"v1\"");
  atomic_bool *const REFUSALS[] = {&no_thread, &no_mutex, &no_condition};
  for (int i = 0; i < 3; i++) {
    atomic_store(REFUSALS[i], true);
    assert_int_equal(use(&server, &error), GATHER_OUT_OF_MEMORY);
    assert_contains(error.message, "the system refuses");
    atomic_store(REFUSALS[i], false);
  }
  assert_int_equal(use(&server, &error), GATHER_OK);
  played_end(&server);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_library), cmocka_unit_test(test_allocations),
                                     cmocka_unit_test(test_system)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
