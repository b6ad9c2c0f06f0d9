/* SPDX-License-Identifier: MIT
 *
 * remote_queue.c: requests on their way between callers and the network thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/system/condition.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

void gather_remote_list_init(gather_remote_list *list) {
  list->first = NULL;
  list->end = &list->first;
}

void gather_remote_list_add(gather_remote_list *list, gather_remote_request *request) {
  request->next = NULL;
  *list->end = request;
  list->end = &request->next;
}

gather_remote_request *gather_remote_list_take(gather_remote_list *list) {
  gather_remote_request *first = list->first;
  if (first) list->first = first->next;
  if (!list->first) list->end = &list->first;
  return first;
}

gather_status gather_remote_queue_init(gather_remote_client *client, gather_remote_queue *queue, gather_error *error) {
  *queue = (gather_remote_queue){.process = (int64_t)getpid()};
  gather_remote_list_init(&queue->finished);
  if (!gather_condition_init(&queue->changed))
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "the system refuses a condition variable");
  queue->client = gather_remote_client_hold(client);
  return GATHER_OK;
}

void gather_remote_queue_clear(gather_remote_queue *queue) {
  /* The parent's may have threads waiting, as far as the child can see. */
  if (queue->process == (int64_t)getpid()) (void)pthread_cond_destroy(&queue->changed);
  gather_remote_client_release(queue->client);
}

gather_status gather_remote_queue_create(gather_remote_client *client, gather_remote_queue **queue,
                                         gather_error *error) {
  *queue = NULL;
  gather_remote_queue *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a queue of requests");
  gather_status status = gather_remote_queue_init(client, made, error);
  if (status == GATHER_OK)
    *queue = made;
  else
    gather_free(made);
  return status;
}

void gather_remote_queue_destroy(gather_remote_queue *queue) {
  if (!queue) return;
  gather_remote_queue_clear(queue);
  gather_free(queue);
}

/* In a child of fork() the requests of a queue are the parent's. */
void gather_remote_queue_enter(gather_remote_queue *queue) {
  gather_remote_client_enter(queue->client);
  if (queue->process == (int64_t)getpid()) return;
  queue->process = (int64_t)getpid();
  queue->unfinished = 0;
  queue->cancelled = false;
  gather_remote_list_init(&queue->finished);
  queue->cover = NULL;
  (void)gather_condition_init(&queue->changed);
}

void gather_remote_enqueue(gather_remote_queue *queue, gather_remote_request *request) {
  gather_remote_client *client = queue->client;
  request->queue = queue;
  request->status = GATHER_OK;
  (void)pthread_mutex_lock(&client->lock);
  if (queue->unfinished++ == 0) queue->cancelled = false;
  if (request->state.cover) queue->cover = request;
  gather_status status = gather_remote_network_start(client, &request->error);
  if (status == GATHER_OK) {
    bool sleeps = client->intake.first == NULL;
    gather_remote_list_add(&client->intake, request);
    if (sleeps) (void)client->curl->multi_wakeup(client->multi);
  } else {
    request->status = status;
    gather_remote_list_add(&queue->finished, request);
  }
  (void)pthread_mutex_unlock(&client->lock);
}

void gather_remote_begin_as(gather_remote_queue *queue, gather_remote_request *request, bool document) {
  gather_remote_queue_enter(queue);
  request->state = (struct gather_remote_state){.document = document};
  gather_remote_enqueue(queue, request);
}

gather_remote_request *gather_remote_take_finished(gather_remote_queue *queue) {
  gather_remote_client *client = queue->client;
  gather_remote_queue_enter(queue);
  (void)pthread_mutex_lock(&client->lock);
  while (!queue->finished.first && queue->unfinished > 0) (void)pthread_cond_wait(&queue->changed, &client->lock);
  gather_remote_request *request = gather_remote_list_take(&queue->finished);
  if (request) queue->unfinished--;
  if (request == queue->cover) queue->cover = NULL;
  (void)pthread_mutex_unlock(&client->lock);
  return request;
}

bool gather_remote_await(gather_remote_queue *queue, int64_t nanoseconds) {
  gather_remote_client *client = queue->client;
  const struct timespec end = gather_condition_end(nanoseconds);
  bool waiting = true;
  gather_remote_queue_enter(queue);
  (void)pthread_mutex_lock(&client->lock);
  while (!queue->finished.first && queue->unfinished > 0 && waiting)
    waiting = gather_condition_wait(&queue->changed, &client->lock, &end);
  const bool ready = queue->finished.first || queue->unfinished == 0;
  (void)pthread_mutex_unlock(&client->lock);
  return ready;
}

void gather_remote_cancel(gather_remote_queue *queue) {
  gather_remote_client *client = queue->client;
  gather_remote_queue_enter(queue);
  (void)pthread_mutex_lock(&client->lock);
  if (queue->unfinished > 0 && client->running) {
    queue->cancelled = client->cancelling = true;
    (void)client->curl->multi_wakeup(client->multi);
  }
  (void)pthread_mutex_unlock(&client->lock);
}

void gather_remote_deliver(gather_remote_client *client, gather_remote_request *request) {
  (void)pthread_mutex_lock(&client->lock);
  gather_remote_list_add(&request->queue->finished, request);
  (void)pthread_cond_signal(&request->queue->changed);
  (void)pthread_mutex_unlock(&client->lock);
}

#endif
