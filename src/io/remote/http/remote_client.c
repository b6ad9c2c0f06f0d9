/* SPDX-License-Identifier: MIT
 *
 * remote_client.c: what callers do with a client, on their own threads: clients and their owners, queues of requests, blocks on disk
 * between these and the network, whose thread does not wait for a disk, and objects. A child of fork() abandons here what is its parent's.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/system/clock.h"
#include "core/system/condition.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

/* ---- clients */

/* Guesses of a network in the middle, until it is measured. */
static const double GUESSED_LATENCY = 0.05, GUESSED_BANDWIDTH = 12.5e6;
/* Requests a second that one thread can send and receive, however near the server is. */
static const double MOST_RATE = 20000;

static void init_network(gather_remote_client *client) {
  int64_t now = gather_clock();
  gather_remote_list_init(&client->intake);
  gather_remote_list_init(&client->ready);
  gather_remote_list_init(&client->waiting);
  client->active = client->idle = NULL;
  client->active_count = client->transfer_count = client->polled_count = client->ahead.count = 0;
  client->multi = NULL;
  client->running = client->ending = client->cancelling = client->sleeps_full = false;
  gather_depth_init(&client->depth, client->settings.given.connections, now);
  client->depth_now = client->depth.now;
  client->depth_grows = true;
  client->backoff.state = (uint64_t)now ^ (uint64_t)(uintptr_t)client ^ ((uint64_t)getpid() << 32);
  for (size_t i = 0; i < sizeof client->sockets / sizeof *client->sockets; i++) client->sockets[i] = -1;
}

gather_status gather_remote_client_create(const gather_remote_options *options, gather_remote_client **client, gather_error *error) {
  *client = NULL;
  gather_remote_client *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a client of URLs");
  gather_status status = gather_curl_load(&made->curl, error);
  if (status == GATHER_OK) status = gather_remote_settings_take(options, &made->settings, error);
  const gather_remote_options *given = &made->settings.given;
  if (status == GATHER_OK && given->cache_folder[0])
    status = gather_block_cache_open(given->cache_folder, given->cache_bytes, &made->cache, error);
  const int refused = status == GATHER_OK ? pthread_mutex_init(&made->lock, NULL) : 0;
  if (refused != 0) status = gather_fail(error, GATHER_OUT_OF_MEMORY, "the system refuses a lock for URLs: %s", strerror(refused));
  if (status != GATHER_OK) {
    gather_block_cache_close(made->cache);
    gather_remote_settings_clear(&made->settings);
    gather_free(made);
    return status;
  }
  made->owners = 1;
  atomic_init(&made->process, (int64_t)getpid());
  init_network(made);
  *client = made;
  return GATHER_OK;
}

/* The parent's thread, its handles and what it was doing stay as they are: only the descriptors are closed, which are the child's own
 * copies. Nothing of libcurl may be called with the parent's handles: it would speak on the parent's connections. */
static void abandon(gather_remote_client *client) {
  for (size_t i = 0; i < sizeof client->sockets / sizeof *client->sockets; i++)
    if (client->sockets[i] >= 0) (void)close(client->sockets[i]);
  (void)pthread_mutex_init(&client->lock, NULL);
  init_network(client);
}

void gather_remote_client_enter(gather_remote_client *client) {
  int64_t here = (int64_t)getpid(), seen = atomic_load_explicit(&client->process, memory_order_acquire);
  while (seen != here) {
    /* The negative number marks that a thread of the child is doing this. */
    if (seen != -here && atomic_compare_exchange_strong(&client->process, &seen, -here)) {
      abandon(client);
      atomic_store_explicit(&client->process, here, memory_order_release);
    }
    seen = atomic_load_explicit(&client->process, memory_order_acquire);
  }
}

gather_remote_client *gather_remote_client_hold(gather_remote_client *client) {
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  client->owners++;
  (void)pthread_mutex_unlock(&client->lock);
  return client;
}

void gather_remote_client_release(gather_remote_client *client) {
  if (!client) return;
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  bool last = --client->owners == 0;
  (void)pthread_mutex_unlock(&client->lock);
  if (!last) return;
  gather_remote_network_end(client);
  gather_block_cache_close(client->cache);
  (void)pthread_mutex_destroy(&client->lock);
  gather_remote_settings_clear(&client->settings);
  gather_free(client);
}

void gather_remote_client_expect_all(gather_remote_client *client) { client->ahead.wanted = true; }

/* What was measured; with the lock held. */
static void take_measured(const gather_remote_client *client, gather_remote_costs *costs) {
  gather_remote_measured(&client->measure, client->depth_grows ? client->settings.given.connections : client->depth_now, costs);
}

void gather_remote_client_costs(gather_remote_client *client, gather_remote_costs *costs) {
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  take_measured(client, costs);
  (void)pthread_mutex_unlock(&client->lock);
  if (costs->latency <= 0) costs->latency = GUESSED_LATENCY;
  if (costs->bandwidth <= 0) costs->bandwidth = GUESSED_BANDWIDTH;
  costs->rate = MOST_RATE;
}

/* With the lock held. */
static void cache_counts(const gather_remote_client *client, gather_remote_statistics *statistics) {
  gather_block_cache_state state;
  const gather_block_cache_state *before = &client->cache_before;
  gather_block_cache_state_get(client->cache, &state);
  statistics->cache_hits = state.hits - before->hits;
  statistics->cache_stored = state.stored - before->stored;
  statistics->cache_failures = state.failures + state.damaged - before->failures - before->damaged;
  memcpy(statistics->cache_why, state.why, sizeof statistics->cache_why);
}

void gather_remote_client_statistics(gather_remote_client *client, gather_remote_statistics *statistics) {
  gather_remote_costs costs;
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  *statistics = client->counts;
  statistics->depth = client->depth_now;
  cache_counts(client, statistics);
  take_measured(client, &costs);
  statistics->latency = costs.latency;
  statistics->bandwidth = costs.bandwidth;
  statistics->p50 = (double)gather_histogram_share(&client->measure.durations, 0.50) * 1e-9;
  statistics->p99 = (double)gather_histogram_share(&client->measure.durations, 0.99) * 1e-9;
  (void)pthread_mutex_unlock(&client->lock);
}

void gather_remote_client_statistics_reset(gather_remote_client *client) {
  gather_remote_client_enter(client);
  (void)pthread_mutex_lock(&client->lock);
  client->counts = (gather_remote_statistics){0};
  client->measure.durations = (gather_histogram){0};
  gather_block_cache_state_get(client->cache, &client->cache_before);
  (void)pthread_mutex_unlock(&client->lock);
}

/* ---- queues */

/* A queue within memory of the caller. */
static gather_status queue_init(gather_remote_client *client, gather_remote_queue *queue, gather_error *error) {
  *queue = (gather_remote_queue){.process = (int64_t)getpid()};
  gather_remote_list_init(&queue->finished);
  if (!gather_condition_init(&queue->changed)) return gather_fail(error, GATHER_OUT_OF_MEMORY, "the system refuses a condition variable");
  queue->client = gather_remote_client_hold(client);
  return GATHER_OK;
}

static void queue_clear(gather_remote_queue *queue) {
  /* The parent's may have threads waiting, as far as the child can see. */
  if (queue->process == (int64_t)getpid()) (void)pthread_cond_destroy(&queue->changed);
  gather_remote_client_release(queue->client);
}

gather_status gather_remote_queue_create(gather_remote_client *client, gather_remote_queue **queue, gather_error *error) {
  *queue = NULL;
  gather_remote_queue *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a queue of requests");
  gather_status status = queue_init(client, made, error);
  if (status == GATHER_OK)
    *queue = made;
  else
    gather_free(made);
  return status;
}

void gather_remote_queue_destroy(gather_remote_queue *queue) {
  if (!queue) return;
  queue_clear(queue);
  gather_free(queue);
}

/* In a child of fork() the requests of a queue are the parent's. */
static void queue_enter(gather_remote_queue *queue) {
  gather_remote_client_enter(queue->client);
  if (queue->process == (int64_t)getpid()) return;
  queue->process = (int64_t)getpid();
  queue->unfinished = 0;
  queue->cancelled = false;
  gather_remote_list_init(&queue->finished);
  queue->cover = NULL;
  (void)gather_condition_init(&queue->changed);
}

/* Hands a request whose state is set to the network thread. */
static void enqueue(gather_remote_queue *queue, gather_remote_request *request) {
  gather_remote_client *client = queue->client;
  request->queue = queue;
  request->status = GATHER_OK;
  (void)pthread_mutex_lock(&client->lock);
  if (queue->unfinished++ == 0) queue->cancelled = false;
  if (request->state.cover) queue->cover = request;
  gather_status status = gather_remote_network_start(client, &request->error);
  if (status == GATHER_OK) {
    bool sleeps = client->intake.first == NULL && !client->sleeps_full;
    gather_remote_list_add(&client->intake, request);
    if (sleeps) (void)client->curl->multi_wakeup(client->multi);
  } else {
    request->status = status;
    gather_remote_list_add(&queue->finished, request);
  }
  (void)pthread_mutex_unlock(&client->lock);
}

/* Waits for a request that was enqueued; NULL if none was. */
static gather_remote_request *take_finished(gather_remote_queue *queue) {
  gather_remote_client *client = queue->client;
  queue_enter(queue);
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
  queue_enter(queue);
  (void)pthread_mutex_lock(&client->lock);
  while (!queue->finished.first && queue->unfinished > 0 && waiting) waiting = gather_condition_wait(&queue->changed, &client->lock, &end);
  const bool ready = queue->finished.first || queue->unfinished == 0;
  (void)pthread_mutex_unlock(&client->lock);
  return ready;
}

void gather_remote_cancel(gather_remote_queue *queue) {
  gather_remote_client *client = queue->client;
  queue_enter(queue);
  (void)pthread_mutex_lock(&client->lock);
  if (queue->unfinished > 0 && client->running) {
    queue->cancelled = client->cancelling = true;
    (void)client->curl->multi_wakeup(client->multi);
  }
  (void)pthread_mutex_unlock(&client->lock);
}

/* ---- blocks on disk
 *
 * A short range whose blocks are not all on disk becomes a request for these blocks (its cover), into memory that exists from when it is
 * sent until it is stored and copied. The next range of the same queue that lies within it waits for the same cover: readers begin
 * their ranges in the order of the file. Long ranges are fetched as they are, from the first block on that is not on disk. */

static int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t floor_block(int64_t byte) { return byte / GATHER_BLOCK_BYTES * GATHER_BLOCK_BYTES; }

/* Copies from disk what is there, from the first byte on. Returns how much that is. */
static int64_t read_first(const gather_remote_object *object, int64_t offset, int64_t bytes, char *data) {
  int64_t at = offset, end = offset + bytes;
  while (at < end) {
    int64_t stop = minimum(end, floor_block(at) + GATHER_BLOCK_BYTES);
    if (!gather_block_cache_read(object->client->cache, &object->blocks, at / GATHER_BLOCK_BYTES, at % GATHER_BLOCK_BYTES, stop - at,
                                 data + (at - offset)))
      break;
    at = stop;
  }
  return at - offset;
}

static void finish_now(gather_remote_queue *queue, gather_remote_request *request) {
  (void)pthread_mutex_lock(&queue->client->lock);
  request->queue = queue;
  request->status = GATHER_OK;
  if (queue->unfinished++ == 0) queue->cancelled = false;
  gather_remote_list_add(&queue->finished, request);
  (void)pthread_cond_signal(&queue->changed);
  (void)pthread_mutex_unlock(&queue->client->lock);
}

static bool contains(const gather_remote_request *cover, const gather_remote_request *request) {
  return cover->object == request->object && cover->offset <= request->offset + request->state.from_disk &&
         request->offset + request->bytes <= cover->offset + cover->bytes;
}

/* Waits for the cover that the queue began last, if it has what is missing. */
static bool join_cover(gather_remote_queue *queue, gather_remote_request *request) {
  (void)pthread_mutex_lock(&queue->client->lock);
  gather_remote_request *cover = queue->cover;
  bool joins = cover && contains(cover, request);
  if (joins) {
    request->queue = queue;
    request->next = cover->state.covered;
    cover->state.covered = request;
    queue->unfinished++;
  }
  (void)pthread_mutex_unlock(&queue->client->lock);
  return joins;
}

static bool begin_cover(gather_remote_queue *queue, gather_remote_request *request) {
  const gather_remote_object *object = request->object;
  int64_t first = floor_block(request->offset + request->state.from_disk), end = request->offset + request->bytes;
  gather_remote_request *cover = gather_alloc((int64_t)sizeof *cover);
  if (!cover) return false;
  cover->object = request->object;
  cover->offset = first;
  cover->bytes = minimum(object->size, floor_block(end - 1) + GATHER_BLOCK_BYTES) - first;
  cover->state.cover = true;
  cover->state.covered = request;
  request->next = NULL;
  request->queue = queue;
  enqueue(queue, cover);
  return true;
}

/* Returns false if the network must fetch the range as it is. */
static bool begin_cached(gather_remote_queue *queue, gather_remote_request *request) {
  gather_remote_object *object = request->object;
  if (!object->cached || request->bytes <= 0) return false;
  request->state.from_disk = read_first(object, request->offset, request->bytes, request->data);
  if (request->state.from_disk == request->bytes) {
    finish_now(queue, request);
    return true;
  }
  if (request->bytes < GATHER_BLOCK_COVERED) return join_cover(queue, request) || begin_cover(queue, request);
  request->state.arrived = request->state.from_disk;
  gather_block_cache_state state;
  gather_block_cache_state_get(object->client->cache, &state);
  /* One pass over a file that is larger than the cache would only replace what is in it. */
  request->state.stores = object->size <= state.bytes / 2;
  return false;
}

/* Stores the blocks that lie within a range; the last block of the file is shorter. */
static void store(const gather_remote_object *object, int64_t offset, int64_t bytes, const char *data) {
  int64_t at = floor_block(offset + GATHER_BLOCK_BYTES - 1), end = offset + bytes;
  for (; at < end; at += GATHER_BLOCK_BYTES) {
    int64_t size = minimum(GATHER_BLOCK_BYTES, object->size - at);
    if (at + size > end) return;
    gather_block_cache_write(object->client->cache, &object->blocks, at / GATHER_BLOCK_BYTES, data + (at - offset), size);
  }
}

static void finish_covered(const gather_remote_request *cover, gather_remote_request *request) {
  int64_t from = request->offset + request->state.from_disk;
  request->status = cover->status;
  if (cover->status == GATHER_OK)
    memcpy(request->data + request->state.from_disk, cover->data + (from - cover->offset),
           (size_t)(request->bytes - request->state.from_disk));
  else
    request->error = cover->error;
}

/* Stores what was fetched. If it was fetched for others, these are finished with it: returns the first, and puts the rest into the
 * queue. */
static gather_remote_request *finish_cached(gather_remote_queue *queue, gather_remote_request *request) {
  const gather_remote_object *object = request->object;
  if (request->status == GATHER_OK && (request->state.cover || request->state.stores)) {
    int64_t done = request->state.from_disk;
    store(object, request->offset + done, request->bytes - done, request->data + done);
  }
  if (!request->state.cover) return request;
  gather_remote_request *first = request->state.covered;
  for (gather_remote_request *r = first; r; r = r->next) finish_covered(request, r);
  (void)pthread_mutex_lock(&queue->client->lock);
  for (gather_remote_request *r = first->next, *next; r; r = next) {
    next = r->next;
    gather_remote_list_add(&queue->finished, r);
  }
  if (queue->finished.first) (void)pthread_cond_broadcast(&queue->changed);
  (void)pthread_mutex_unlock(&queue->client->lock);
  first->next = NULL;
  gather_free(request->data);
  gather_free(request);
  return first;
}

/* Copies what the open brought for the first use, from the first byte on, and frees it. Returns how much that is: all or nothing, unless a
 * version is named by its bytes, so that a range is of one version. Blocks on disk have what follows. */
static int64_t use_once(gather_remote_object *object, int64_t offset, int64_t bytes, char *data) {
  int64_t used = 0;
  gather_remote_client_enter(object->client);
  (void)pthread_mutex_lock(&object->client->lock);
  char *head = object->head;
  const int64_t there = head && offset >= object->head_at ? object->head_at + object->head_bytes - offset : 0;
  if (there >= bytes || (gather_tag_is_strong(object->etag) && !object->cached)) used = minimum(there, bytes);
  if (used > 0)
    memcpy(data, head + (offset - object->head_at), (size_t)used);
  else
    used = 0;
  object->head = NULL, object->head_bytes = 0;
  (void)pthread_mutex_unlock(&object->client->lock);
  gather_free(head);
  return used;
}

void gather_remote_begin(gather_remote_queue *queue, gather_remote_request *request) {
  queue_enter(queue);
  request->state = (struct gather_remote_state){.document = false};
  if (request->object->once) request->state.arrived = use_once(request->object, request->offset, request->bytes, request->data);
  if (request->state.arrived > 0) {
    (request->state.arrived == request->bytes ? finish_now : enqueue)(queue, request);
    return;
  }
  if (request->object->whole) {
    memcpy(request->data, request->object->head + request->offset, (size_t)request->bytes);
    finish_now(queue, request);
    return;
  }
  if (!begin_cached(queue, request)) enqueue(queue, request);
}

gather_remote_request *gather_remote_finish(gather_remote_queue *queue) {
  gather_remote_request *request = take_finished(queue);
  return request && (request->state.cover || request->state.stores) ? finish_cached(queue, request) : request;
}

/* ---- objects */

/* PART, PARTS: long ranges are read in parallel parts. LEAST_HEAD: of an open that is for size and version alone. */
enum { PART = 4 << 20, PARTS = 16, LEAST_HEAD = 512 };

/* address: what is asked for in place of the URL's own; NULL. */
static gather_status make(gather_remote_client *client, const char *url, const char *address, gather_remote_object **object,
                          gather_error *error) {
  gather_remote_object *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a remote file");
  *object = NULL;
  made->size = -1;
  made->client = gather_remote_client_hold(client);
  gather_status status = gather_remote_locate(&client->settings, &made->arena, url, &made->place, error);
  if (status == GATHER_OK && address) status = gather_remote_url_parse(&made->arena, address, &made->place.url, error);
  if (status == GATHER_OK)
    *object = made;
  else
    gather_remote_object_close(made);
  return status;
}

void gather_remote_object_close(gather_remote_object *object) {
  if (!object) return;
  gather_remote_origin_destroy(object->place.origin);
  gather_arena_clear(&object->arena);
  gather_arena_clear(&object->target_arena);
  gather_free(object->head);
  gather_remote_client_release(object->client);
  gather_free(object);
}

/* Sends one request, whose state says what it asks for, and waits. Of a document request->bytes becomes how many it has. */
static gather_status ask(gather_remote_object *object, gather_remote_request *request, gather_error *error) {
  gather_remote_queue queue;
  GATHER_TRY(queue_init(object->client, &queue, error));
  request->object = object;
  enqueue(&queue, request);
  (void)gather_remote_finish(&queue);
  queue_clear(&queue);
  if (request->status != GATHER_OK && error) *error = request->error;
  return request->status;
}

/* Decides whether an object that was opened is cached, and stores its head. */
static void cache_head(gather_remote_object *object) {
  gather_remote_client *client = object->client;
  if (!client->cache || object->whole || !gather_tag_is_strong(object->etag) || object->size <= 0) return;
  /* The hub's address names a commit, so it names the content; where it redirects to may change. */
  bool hub = object->place.origin && object->place.origin->scheme == GATHER_REMOTE_HUB;
  gather_block_file_set(&object->blocks, object->place.url.text, object->redirected && !hub ? object->target.text : "", object->etag);
  object->cached = true;
  if (object->head_at == 0 && object->head_bytes == minimum(object->size, GATHER_BLOCK_BYTES))
    gather_block_cache_write(client->cache, &object->blocks, 0, object->head, object->head_bytes);
}

gather_status gather_remote_object_open_for(gather_remote_client *client, const char *url, const gather_remote_opening *opening,
                                            gather_remote_object **object, gather_error *error) {
  gather_remote_object *made = NULL;
  *object = NULL;
  bool folder;
  GATHER_TRY(gather_remote_find_folder(url, &folder, error));
  if (folder) return gather_fail(error, GATHER_USAGE, "%.200s names a folder, not a file: gather info URL lists it", url);
  GATHER_TRY(make(client, url, NULL, &made, error));
  /* What is used once is better read by blocks, if these are kept on disk: the next time the open alone is a request. */
  const int64_t bytes = opening->once && client->cache ? minimum(opening->bytes, LEAST_HEAD) : opening->bytes;
  made->head = gather_alloc(made->head_room = bytes);
  gather_remote_request request = {.bytes = bytes, .data = made->head, .state = {.tail = opening->tail}};
  gather_status status =
      made->head ? ask(made, &request, error) : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a remote file");
  if (status == GATHER_OK) {
    made->head_at = request.offset, made->head_bytes = request.bytes;
    made->once = opening->once;
    made->whole = made->whole && !made->once; /* a server without ranges is asked again */
    cache_head(*object = made);
  } else {
    gather_remote_object_close(made);
  }
  return status;
}

gather_status gather_remote_object_open(gather_remote_client *client, const char *url, gather_remote_object **object, gather_error *error) {
  static const gather_remote_opening FIRST = {.bytes = GATHER_REMOTE_HEAD_BYTES};
  return gather_remote_object_open_for(client, url, &FIRST, object, error);
}

void gather_remote_object_forget(gather_remote_object *object) {
  char *head = NULL;
  gather_remote_client_enter(object->client);
  (void)pthread_mutex_lock(&object->client->lock);
  if (!object->whole) {
    head = object->head;
    object->head = NULL, object->head_bytes = 0;
  }
  (void)pthread_mutex_unlock(&object->client->lock);
  gather_free(head);
}

gather_remote_about gather_remote_object_about(const gather_remote_object *object) {
  const bool has_head = object->head_at == 0 && !object->once;
  return (gather_remote_about){.size = object->size,
                               .name = object->place.name,
                               .version = gather_tag_is_strong(object->etag) ? object->etag : "",
                               .head = has_head ? object->head : NULL,
                               .head_bytes = has_head ? object->head_bytes : 0};
}

/* All requests that begin are finished, even after a failure: they write to the caller's memory. */
static gather_status read_parts(gather_remote_object *object, int64_t offset, int64_t bytes, char *data, gather_error *error) {
  gather_remote_queue queue;
  gather_status status = GATHER_OK;
  gather_remote_request *requests = gather_alloc((int64_t)sizeof *requests * PARTS), *free = NULL;
  if (!requests) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for requests");
  status = queue_init(object->client, &queue, error);
  if (status != GATHER_OK) {
    gather_free(requests);
    return status;
  }
  int64_t begun = 0;
  int flying = 0, used = 0;
  while (flying > 0 || (begun < bytes && status == GATHER_OK)) {
    if (begun < bytes && status == GATHER_OK && flying < PARTS) {
      int64_t part = bytes - begun < PART ? bytes - begun : PART;
      gather_remote_request *request = free ? free : &requests[used++];
      *request = (gather_remote_request){.object = object, .offset = offset + begun, .bytes = part, .data = data + begun};
      free = NULL;
      gather_remote_begin(&queue, request);
      begun += part;
      flying++;
      continue;
    }
    free = gather_remote_finish(&queue);
    flying--;
    if (free->status == GATHER_OK || status != GATHER_OK) continue;
    status = free->status;
    if (error) *error = free->error;
    gather_remote_cancel(&queue);
  }
  queue_clear(&queue);
  gather_free(requests);
  return status;
}

gather_status gather_remote_object_read(gather_remote_object *object, int64_t offset, int64_t bytes, void *data, gather_error *error) {
  if (offset < 0 || bytes < 0 || offset > object->size - bytes)
    return gather_fail_file(error, GATHER_IO_ERROR, object->place.name, offset < 0 ? 0 : offset, "the file has only %lld bytes",
                            (long long)object->size);
  if (bytes == 0) return GATHER_OK;
  if (object->once) {
    const int64_t used = use_once(object, offset, bytes, data);
    return used == bytes ? GATHER_OK : read_parts(object, offset + used, bytes - used, (char *)data + used, error);
  }
  if (offset >= object->head_at && offset + bytes <= object->head_at + object->head_bytes) {
    memcpy(data, object->head + (offset - object->head_at), (size_t)bytes);
    return GATHER_OK;
  }
  return read_parts(object, offset, bytes, data, error);
}

gather_status gather_remote_document(gather_remote_client *client, const char *url, const char *address, int64_t limit, char **text,
                                     int64_t *bytes, gather_error *error) {
  gather_remote_object *object = NULL;
  *text = NULL;
  *bytes = 0;
  GATHER_TRY(make(client, url, address, &object, error));
  char *data = limit >= 0 && limit < INT64_MAX ? gather_alloc(limit + 1) : NULL;
  gather_remote_request request = {.bytes = limit, .data = data, .state = {.document = true}};
  gather_status status = data ? ask(object, &request, error) : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a document");
  gather_remote_object_close(object);
  if (status == GATHER_OK) {
    data[request.bytes] = '\0';
    *text = data;
    *bytes = request.bytes;
  } else {
    gather_free(data);
  }
  return status;
}

#endif
