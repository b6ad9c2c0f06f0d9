/* SPDX-License-Identifier: MIT
 *
 * fake_remote.c: see fake_remote.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "io/remote/fake_remote.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"

struct gather_remote_client {
  int owners;
};
struct gather_remote_object {
  const fake_file *file;
};
struct gather_remote_queue {
  gather_remote_request *first; /* unfinished, the latest first */
  bool cancelled;
};

fake_network fake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_begin_files(const fake_file *files, int count) {
  fake = (fake_network){.files = files,
                        .file_count = count,
                        .head = 4096,
                        .costs = {0.04, 125e6, 64, 0, 0, false},
                        .stalled = -1,
                        .broken = -1,
                        .fails_at = -1};
}

void fake_begin(const char *bytes, int64_t size) {
  static fake_file file;
  file = (fake_file){FAKE_URL, bytes, size};
  fake_begin_files(&file, 1);
}

/* Whether this opening or request fails. */
static bool fails(const char *url, gather_error *error) {
  if (fake.asked++ != fake.fails_at) return false;
  (void)gather_fail_file(error, GATHER_IO_ERROR, url, -1, "status 503, 8 tries");
  return true;
}

/* ---- clients */

gather_status gather_remote_client_create(const gather_remote_options *options, gather_remote_client **client, gather_error *error) {
  *client = calloc(1, sizeof **client);
  if (!*client) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a client");
  (*client)->owners = 1;
  if (options->connections > 0) fake.costs.connections = options->connections;
  fake.clients++, fake.clients_open++;
  return GATHER_OK;
}

gather_remote_client *gather_remote_client_hold(gather_remote_client *client) {
  client->owners++;
  return client;
}

void gather_remote_client_release(gather_remote_client *client) {
  if (!client || --client->owners > 0) return;
  free(client);
  fake.clients_open--;
}

void gather_remote_client_enter(gather_remote_client *client) { (void)client; }
void gather_remote_client_expect_all(gather_remote_client *client) { (void)client; }

void gather_remote_client_statistics(gather_remote_client *client, gather_remote_statistics *statistics) {
  *statistics = (gather_remote_statistics){.requests = fake.count, .in_flight_peak = fake.peak};
}

void gather_remote_client_statistics_reset(gather_remote_client *client) { (void)client; }

void gather_remote_client_costs(gather_remote_client *client, gather_remote_costs *costs) {
  *costs = fake.later_from > 0 && fake.count >= fake.later_from ? fake.later : fake.costs;
}

/* ---- objects */

gather_status gather_remote_object_open(gather_remote_client *client, const char *url, gather_remote_object **object, gather_error *error) {
  *object = NULL;
  if (fails(url, error)) return GATHER_IO_ERROR;
  const fake_file *file = fake.files, *end = fake.files + fake.file_count;
  while (file < end && strcmp(url, file->url) != 0) file++;
  if (file == end) return gather_fail_file(error, GATHER_FILE_NOT_FOUND, url, -1, "there is none");
  *object = calloc(1, sizeof **object);
  if (!*object) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for an object");
  (*object)->file = file;
  fake.opened++, fake.objects_open++;
  return GATHER_OK;
}

void gather_remote_object_forget(gather_remote_object *object) { (void)object; }
gather_status gather_remote_object_open_for(gather_remote_client *client, const char *url, const gather_remote_opening *opening,
                                            gather_remote_object **object, gather_error *error) {
  (void)opening;
  return gather_remote_object_open(client, url, object, error);
}

void gather_remote_object_close(gather_remote_object *object) {
  if (!object) return;
  free(object);
  fake.objects_open--;
}

gather_remote_about gather_remote_object_about(const gather_remote_object *object) {
  const fake_file *file = object->file;
  return (gather_remote_about){.size = file->size,
                               .name = file->url,
                               .version = "\"1\"",
                               .head = file->bytes,
                               .head_bytes = file->size < fake.head ? file->size : fake.head};
}

gather_status gather_remote_object_read(gather_remote_object *object, int64_t offset, int64_t bytes, void *data, gather_error *error) {
  if (fails(object->file->url, error)) return GATHER_IO_ERROR;
  memcpy(data, object->file->bytes + offset, (size_t)bytes);
  return GATHER_OK;
}

/* ---- requests */

gather_status gather_remote_queue_create(gather_remote_client *client, gather_remote_queue **queue, gather_error *error) {
  *queue = calloc(1, sizeof **queue);
  if (!*queue) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a queue");
  (void)pthread_mutex_lock(&lock);
  fake.queues_open++;
  (void)pthread_mutex_unlock(&lock);
  return GATHER_OK;
}

void gather_remote_queue_destroy(gather_remote_queue *queue) {
  if (!queue) return;
  if (queue->first) abort();
  free(queue);
  (void)pthread_mutex_lock(&lock);
  fake.queues_open--;
  (void)pthread_mutex_unlock(&lock);
}

void gather_remote_begin(gather_remote_queue *queue, gather_remote_request *request) {
  if (request->offset < 0 || request->bytes < 1 || request->offset + request->bytes > request->object->file->size) abort();
  (void)pthread_mutex_lock(&lock);
  queue->cancelled = false;
  request->next = queue->first;
  queue->first = request;
  fake.offset[fake.count % FAKE_MOST_REQUESTS] = request->offset;
  fake.length[fake.count % FAKE_MOST_REQUESTS] = request->bytes;
  fake.count++;
  if (++fake.in_flight > fake.peak) fake.peak = fake.in_flight;
  (void)pthread_mutex_unlock(&lock);
}

static bool contains(const gather_remote_request *request, int64_t byte) {
  return byte >= request->offset && byte < request->offset + request->bytes;
}

/* The link to the request that is answered next; NULL if all are stalled. */
static gather_remote_request **next_link(gather_remote_queue *queue) {
  gather_remote_request **found = NULL;
  for (gather_remote_request **link = &queue->first; *link; link = &(*link)->next) {
    if (!queue->cancelled && contains(*link, fake.stalled)) continue;
    if (!found || !fake.last_first) found = link;
  }
  return found;
}

bool gather_remote_await(gather_remote_queue *queue, int64_t nanoseconds) {
  (void)pthread_mutex_lock(&lock);
  const bool ready = next_link(queue) != NULL;
  fake.waits += !ready;
  (void)pthread_mutex_unlock(&lock);
  const struct timespec pause = {.tv_nsec = (long)(nanoseconds % 1000000000)};
  if (!ready) (void)nanosleep(&pause, NULL);
  return ready;
}

static void answer(gather_remote_request *request, bool cancelled) {
  const fake_file *file = request->object->file;
  request->status = GATHER_OK;
  if (cancelled)
    request->status = gather_fail(&request->error, GATHER_CANCELLED, "the request was cancelled");
  else if (fails(file->url, &request->error))
    request->status = GATHER_IO_ERROR;
  else if (contains(request, fake.broken))
    request->status = gather_fail_file(&request->error, GATHER_IO_ERROR, file->url, fake.broken, "status 500, 8 tries");
  else
    memcpy(request->data, file->bytes + request->offset, (size_t)request->bytes);
}

gather_remote_request *gather_remote_finish(gather_remote_queue *queue) {
  (void)pthread_mutex_lock(&lock);
  gather_remote_request **link = next_link(queue);
  if (!link) abort(); /* it would wait for ever */
  gather_remote_request *request = *link;
  *link = request->next;
  fake.in_flight--;
  fake.cancelled += queue->cancelled;
  answer(request, queue->cancelled);
  (void)pthread_mutex_unlock(&lock);
  return request;
}

void gather_remote_cancel(gather_remote_queue *queue) {
  (void)pthread_mutex_lock(&lock);
  queue->cancelled = true;
  (void)pthread_mutex_unlock(&lock);
}
