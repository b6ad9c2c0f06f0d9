/* SPDX-License-Identifier: MIT
 *
 * test_remote_missing.c: machines without libcurl, or with one that is too old or fails; out of memory; systems that refuse threads.
 */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "io/remote/remote_support.h"
#include "support/fail_each.h"

static atomic_int no_library, bad_function;
static atomic_bool no_thread, no_mutex, no_condition;
static const char *missing_function;
static bool replaced; /* whether dlsym below looks at names: not before main() */

WRAPPED(void *, dlopen, (const char *name, int flags)) { return atomic_load(&no_library) ? NULL : REAL(dlopen)(name, flags); }

enum { TOO_OLD = 1, NO_TLS, NO_START };

/* libcurl 7.58, without curl_multi_poll, or a newer one without TLS. */
static void *bad_version(int age) {
  static struct {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
  } bad;
  bad.version = atomic_load(&bad_function) == TOO_OLD ? "7.58.0" : "8.0.0";
  bad.version_num = atomic_load(&bad_function) == TOO_OLD ? 0x073a00 : 0x080000;
  bad.features = atomic_load(&bad_function) == TOO_OLD ? ~0 : 0;
  return &bad;
}

static int bad_start(long flags) { return 2; /* CURLE_FAILED_INIT */ }

/* ---- libcurl's functions, of which one call fails as it does for want of memory */

static int (*set_option)(void *easy, int option, ...);
static int (*set_multi)(void *multi, int option, ...);
static int (*add_handle)(void *multi, void *easy);
static void *(*make_easy)(void), *(*make_multi)(void), *(*longer_list)(void *list, const char *text);

/* Options below 10000 are numbers, the others pointers. */
#define PASS_OPTION(set, failure)                                                                            \
  va_list more;                                                                                              \
  if (fails_now()) return failure;                                                                           \
  va_start(more, option);                                                                                    \
  int answer = option < 10000 ? set(to, option, va_arg(more, long)) : set(to, option, va_arg(more, void *)); \
  va_end(more);                                                                                              \
  return answer

static int setopt_or_not(void *to, int option, ...) { PASS_OPTION(set_option, 27); }     /* CURLE_OUT_OF_MEMORY */
static int multi_setopt_or_not(void *to, int option, ...) { PASS_OPTION(set_multi, 3); } /* CURLM_OUT_OF_MEMORY */
static int add_or_not(void *multi, void *easy) { return fails_now() ? 3 : add_handle(multi, easy); }
static void *easy_or_not(void) { return fails_now() ? NULL : make_easy(); }
static void *multi_or_not(void) { return fails_now() ? NULL : make_multi(); }
static void *list_or_not(void *list, const char *text) { return fails_now() ? NULL : longer_list(list, text); }

typedef void anything(void);
static const struct {
  const char *name;
  anything **real, *ours;
} FAILING[] = {{"curl_easy_setopt", (anything **)&set_option, (anything *)setopt_or_not},
               {"curl_multi_setopt", (anything **)&set_multi, (anything *)multi_setopt_or_not},
               {"curl_multi_add_handle", (anything **)&add_handle, (anything *)add_or_not},
               {"curl_easy_init", (anything **)&make_easy, (anything *)easy_or_not},
               {"curl_multi_init", (anything **)&make_multi, (anything *)multi_or_not},
               {"curl_slist_append", (anything **)&longer_list, (anything *)list_or_not}};

static void *as_data(anything *function) {
  void *data;
  memcpy(&data, &function, sizeof data);
  return data;
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

WRAPPED(UNTOLD void *, dlsym, (void *library, const char *name)) {
  if (!replaced) return REAL(dlsym)(library, name);
  if (missing_function && strcmp(name, missing_function) == 0) return NULL;
  const int bad = atomic_load(&bad_function);
  if ((bad == TOO_OLD || bad == NO_TLS) && strcmp(name, "curl_version_info") == 0) return as_data((anything *)bad_version);
  if (bad == NO_START && strcmp(name, "curl_global_init") == 0) return as_data((anything *)bad_start);
  void *found = REAL(dlsym)(library, name);
  for (size_t i = 0; found && i < sizeof FAILING / sizeof *FAILING; i++)
    if (strcmp(name, FAILING[i].name) == 0) {
      memcpy(FAILING[i].real, &found, sizeof found);
      return as_data(FAILING[i].ours);
    }
  return found;
}

WRAPPED(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)) {
  return atomic_load(&no_thread) ? EAGAIN : REAL(pthread_create)(thread, attributes, run, argument);
}
WRAPPED(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes)) {
  return atomic_load(&no_mutex) ? ENOMEM : REAL(pthread_mutex_init)(mutex, attributes);
}
WRAPPED(int, pthread_cond_init, (pthread_cond_t * condition, const pthread_condattr_t *attributes)) {
  return atomic_load(&no_condition) ? ENOMEM : REAL(pthread_cond_init)(condition, attributes);
}

/* First of all, before it is loaded for good. */
static void test_library(void **state) {
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
  static const char *const WORDS[] = {"", "libcurl 7.58.0 is too old", "this libcurl 8.0.0 has no TLS", "libcurl cannot be started"};
  for (int bad = TOO_OLD; bad <= NO_START; bad++) {
    atomic_store(&bad_function, bad);
    assert_int_equal(gather_remote_check(&error), GATHER_UNSUPPORTED);
    assert_contains(error.message, WORDS[bad]);
  }
  atomic_store(&bad_function, 0);
  assert_int_equal(gather_remote_check(&error), GATHER_OK); /* it is tried again */
}

/* ---- everything that a user does, once */
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
static char cache_folder[] = "/tmp/gather-missing-XXXXXX";

static bool send_text(played_request *request, const char *status, const char *text) {
  (void)played_print(request, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", status, strlen(text), text);
  return true;
}

/* By the path: a redirect, one as the hub sends it, a file whose length nobody says, listings, a bucket in another region; else ranges. */
static bool answer_all(played_request *request) {
  if (played_has(request, "GET /r ")) return played_status(request, "302 x\r\nLocation: /data");
  if (played_has(request, "GET /o/r/resolve/")) return played_status(request, "302 x\r\nX-Repo-Commit: " COMMIT "\r\nLocation: /data");
  if (played_has(request, "GET /whole ")) {
    (void)(played_print(request, "HTTP/1.0 200 OK\r\n\r\n") && played_body(request, 0, request->server->size - 1));
    return false;
  }
  if (played_has(request, "GET /api/models/o/r/tree/"))
    return send_text(request, "200 OK", "[{\"type\":\"directory\",\"path\":\"d\"},{\"type\":\"file\",\"path\":\"f.npy\",\"size\":12}]");
  if (played_has(request, "GET /b/?"))
    return send_text(request, "200 OK",
                     "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>f.npy</Key><Size>12</Size></Contents>"
                     "<CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes></ListBucketResult>");
  if (played_has(request, "GET /b/far "))
    return send_text(request, "400 Bad Request",
                     "<Error><Code>AuthorizationHeaderMalformed</Code><Message>m</Message><Region>eu-x-1</Region></Error>");
  return played_good(request);
}

typedef struct use {
  const char *name; /* a path of the server, or a URL */
  const char *user; /* of the URL */
  bool lists, caches, refused, small;
} use;

static const use USES[] = {{.name = "/r"},
                           {.name = "/data", .user = "u:p@"},
                           {.name = "/data", .caches = true},
                           {.name = "/whole", .small = true},
                           {.name = "s3://b/k.npy"},
                           {.name = "s3://b/far", .refused = true},
                           {.name = "hf://o/r/f.npy"},
                           {.name = "hf://o/r/f.npy", .caches = true},
                           {.name = "s3://b", .lists = true},
                           {.name = "hf://o/r", .lists = true}};
enum { USE_COUNT = sizeof USES / sizeof *USES };

static gather_status read_some(gather_remote_client *client, const char *url, gather_error *error) {
  gather_remote_object *object = NULL;
  gather_remote_queue *queue = NULL;
  char data[1000];
  gather_status status = gather_remote_object_open(client, url, &object, error);
  if (status == GATHER_OK) status = gather_remote_object_read(object, 70000, 1000, data, error);
  if (status == GATHER_OK && !played_right(data, 70000, 1000)) fail_msg("%s: wrong bytes", url);
  if (status == GATHER_OK) status = gather_remote_queue_create(client, &queue, error);
  if (status == GATHER_OK) {
    gather_remote_request request = {.object = object, .offset = 90000, .bytes = 1000, .data = data};
    gather_remote_begin(queue, &request);
    assert_ptr_equal(gather_remote_finish(queue), &request);
    status = request.status;
    if (status != GATHER_OK) *error = request.error;
    if (status == GATHER_OK && !played_right(data, 90000, 1000)) fail_msg("%s: wrong bytes of a request", url);
  }
  gather_remote_queue_destroy(queue);
  gather_remote_object_close(object);
  return status;
}

static gather_status list_some(const gather_remote_options *options, const char *url, gather_error *error) {
  gather_remote_listing listing;
  gather_status status = gather_remote_listing_read(url, options, 10, &listing, error);
  assert_int_equal(listing.count, status == GATHER_OK ? 2 : 0);
  for (int i = 0; i < listing.count; i++) assert_string_equal(listing.entries[i].name, listing.entries[i].folder ? "d/" : "f.npy");
  gather_remote_listing_clear(&listing);
  return status;
}

static gather_status run(played_server *server, const use *what, gather_error *error) {
  gather_remote_options options = quick_options();
  gather_remote_client *client = NULL;
  char host[64], url[200];
  (void)snprintf(host, sizeof host, "http://127.0.0.1:%d", server->port);
  options.endpoint = options.hub = host;
  options.key_id = "AKID", options.secret = "secret", options.session_token = "session", options.bearer = "hf_token";
  options.authorities = "/dev/null";
  if (what->user) options.bearer = NULL;
  if (what->caches) options.cache_folder = cache_folder, options.cache_bytes = 2 << 20;
  if (what->name[0] == '/')
    (void)snprintf(url, sizeof url, "http://%s127.0.0.1:%d%s", what->user ? what->user : "", server->port, what->name);
  else
    (void)snprintf(url, sizeof url, "%s", what->name);
  if (what->lists) return list_some(&options, url, error);
  gather_status status = gather_remote_client_create(&options, &client, error);
  if (status == GATHER_OK) status = read_some(client, url, error);
  gather_remote_client_release(client);
  if (what->caches) {
    char file[100];
    (void)snprintf(file, sizeof file, "%s/gather-blocks", cache_folder);
    (void)unlink(file);
  }
  return status;
}

typedef struct played_use {
  played_server *server;
  const use *what;
} played_use;

static gather_status run_use(const void *context, gather_error *error) {
  const played_use *play = context;
  const gather_status status = run(play->server, play->what, error);
  if (status == GATHER_OUT_OF_MEMORY) assert_contains(error->message, "memory");
  return status;
}

/* Each allocation, and each call of libcurl, fails once: out of memory is what the caller is told, or the work is done without it, and
 * nothing stays behind. */
static void test_allocations(void **state) {
  played_server server;
  assert_non_null(mkdtemp(cache_folder));
  for (int i = 0; i < USE_COUNT; i++) {
    played_start(&server, answer_all, USES[i].small ? 200000 : PLAYED_SIZE, "\"v1\"");
    (void)fail_each_as(run_use, &(played_use){&server, &USES[i]}, USES[i].refused ? GATHER_IO_ERROR : GATHER_OK,
                       FAIL_EVERY | FAIL_OR_WITHOUT);
    if (told_failures < 16) fail_msg("%s: only %ld failures were told", USES[i].name, told_failures);
    played_end(&server);
  }
  assert_int_equal(rmdir(cache_folder), 0);
}

static void test_system(void **state) {
  played_server server;
  gather_error error;
  played_start(&server, answer_all, PLAYED_SIZE, "\"v1\"");
  atomic_bool *const REFUSALS[] = {&no_thread, &no_mutex, &no_condition};
  for (int i = 0; i < 3; i++) {
    atomic_store(REFUSALS[i], true);
    assert_int_equal(run(&server, &USES[0], &error), GATHER_OUT_OF_MEMORY);
    assert_contains(error.message, "the system refuses");
    atomic_store(REFUSALS[i], false);
  }
  assert_int_equal(run(&server, &USES[0], &error), GATHER_OK);
  played_end(&server);
}

int main(void) {
  replaced = true;
  return RUN_TESTS(test_library, test_allocations, test_system);
}
