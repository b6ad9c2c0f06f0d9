/* SPDX-License-Identifier: MIT
 *
 * remote_cached.c: between a client and its blocks on disk. All on the callers' threads: the network does not wait for a disk.
 *
 * A short range whose blocks are not all on disk becomes a request for these blocks (its cover), into memory that exists from when it is
 * sent until it is stored and copied. The next range of the same queue that lies within it waits for the same cover: readers begin
 * their ranges in the order of the file. Long ranges are fetched as they are, from the first block on that is not on disk.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

static int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t floor_block(int64_t byte) { return byte / GATHER_BLOCK_BYTES * GATHER_BLOCK_BYTES; }

void gather_remote_cache_head(gather_remote_object *object) {
  gather_remote_client *client = object->client;
  if (!client->cache || object->whole || !gather_tag_is_strong(object->etag) || object->size <= 0) return;
  /* The hub's address names a commit, so it names the content; where it redirects to may change. */
  bool hub = object->place.origin && object->place.origin->scheme == GATHER_REMOTE_HUB;
  gather_block_file_set(&object->blocks, object->place.url.text, object->redirected && !hub ? object->target.text : "",
                        object->etag);
  object->cached = true;
  if (object->head_bytes == minimum(object->size, GATHER_BLOCK_BYTES))
    gather_block_cache_write(client->cache, &object->blocks, 0, object->head, object->head_bytes);
}

/* Copies from disk what is there, from the first byte on. Returns how much that is. */
static int64_t read_first(const gather_remote_object *object, int64_t offset, int64_t bytes, char *data) {
  int64_t at = offset, end = offset + bytes;
  while (at < end) {
    int64_t stop = minimum(end, floor_block(at) + GATHER_BLOCK_BYTES);
    if (!gather_block_cache_read(object->client->cache, &object->blocks, at / GATHER_BLOCK_BYTES,
                                 at % GATHER_BLOCK_BYTES, stop - at, data + (at - offset)))
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
  gather_remote_enqueue(queue, cover);
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
    gather_block_cache_write(object->client->cache, &object->blocks, at / GATHER_BLOCK_BYTES, data + (at - offset),
                             size);
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

/* Stores what was fetched. If it was fetched for others, these are finished with it: returns the first, and puts the rest into the queue. */
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

void gather_remote_begin(gather_remote_queue *queue, gather_remote_request *request) {
  gather_remote_queue_enter(queue);
  request->state = (struct gather_remote_state){.document = false};
  if (request->object->whole) {
    memcpy(request->data, request->object->head + request->offset, (size_t)request->bytes);
    finish_now(queue, request);
    return;
  }
  if (!begin_cached(queue, request)) gather_remote_enqueue(queue, request);
}

gather_remote_request *gather_remote_finish(gather_remote_queue *queue) {
  gather_remote_request *request = gather_remote_take_finished(queue);
  return request && (request->state.cover || request->state.stores) ? finish_cached(queue, request) : request;
}

#endif
