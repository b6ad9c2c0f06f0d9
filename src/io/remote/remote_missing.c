/* SPDX-License-Identifier: MIT
 *
 * remote_missing.c: in the place of the client in builds without libcurl: every URL is an error that says what is missing.
 */
#include "io/remote/remote_client.h"

#include <string.h>

#include "core/base/error.h"

#if !defined(GATHER_HAVE_CURL)

static gather_status missing(gather_error *error) {
  return gather_fail(error, GATHER_UNSUPPORTED,
                     "URLs are not supported in this build: it was made without libcurl's headers, or with -DGATHER_HTTP=OFF");
}

gather_status gather_remote_check(gather_error *error) { return missing(error); }

gather_status gather_remote_client_create(const gather_remote_options *options, gather_remote_client **client, gather_error *error) {
  (void)options;
  *client = NULL;
  return missing(error);
}

/* No client exists, so nobody calls those below with one. */
gather_remote_client *gather_remote_client_hold(gather_remote_client *client) { return client; }
void gather_remote_client_release(gather_remote_client *client) { (void)client; }
void gather_remote_client_enter(gather_remote_client *client) { (void)client; }
void gather_remote_client_expect_all(gather_remote_client *client) { (void)client; }
void gather_remote_client_statistics(gather_remote_client *client, gather_remote_statistics *statistics) {
  (void)client;
  *statistics = (gather_remote_statistics){0};
}
void gather_remote_client_statistics_reset(gather_remote_client *client) { (void)client; }
void gather_remote_client_costs(gather_remote_client *client, gather_remote_costs *costs) {
  (void)client;
  *costs = (gather_remote_costs){0};
}

gather_status gather_remote_object_open(gather_remote_client *client, const char *url, gather_remote_object **object, gather_error *error) {
  (void)client, (void)url;
  *object = NULL;
  return missing(error);
}
gather_status gather_remote_object_open_for(gather_remote_client *client, const char *url, const gather_remote_opening *opening,
                                            gather_remote_object **object, gather_error *error) {
  (void)opening;
  return gather_remote_object_open(client, url, object, error);
}
void gather_remote_object_close(gather_remote_object *object) { (void)object; }
void gather_remote_object_forget(gather_remote_object *object) { (void)object; }
gather_remote_about gather_remote_object_about(const gather_remote_object *object) {
  (void)object;
  return (gather_remote_about){.name = "", .version = "", .head = ""};
}
gather_status gather_remote_object_read(gather_remote_object *object, int64_t offset, int64_t bytes, void *data, gather_error *error) {
  (void)object, (void)offset, (void)bytes, (void)data;
  return missing(error);
}
gather_status gather_remote_document(gather_remote_client *client, const char *url, const char *address, int64_t limit, char **text,
                                     int64_t *bytes, gather_error *error) {
  (void)client, (void)url, (void)address, (void)limit;
  *text = NULL;
  *bytes = 0;
  return missing(error);
}

gather_status gather_remote_queue_create(gather_remote_client *client, gather_remote_queue **queue, gather_error *error) {
  (void)client;
  *queue = NULL;
  return missing(error);
}
void gather_remote_queue_destroy(gather_remote_queue *queue) { (void)queue; }
void gather_remote_begin(gather_remote_queue *queue, gather_remote_request *request) {
  (void)queue;
  request->status = missing(&request->error);
}
gather_remote_request *gather_remote_finish(gather_remote_queue *queue) {
  (void)queue;
  return NULL;
}
bool gather_remote_await(gather_remote_queue *queue, int64_t nanoseconds) {
  (void)queue, (void)nanoseconds;
  return true;
}
void gather_remote_cancel(gather_remote_queue *queue) { (void)queue; }

#endif
