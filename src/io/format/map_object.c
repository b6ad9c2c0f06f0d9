/* SPDX-License-Identifier: MIT
 *
 * map_object.c: maps an object of src/io/remote: its ranges are read by several requests at once.
 */
#include "core/base/alloc.h"
#include "io/format/map_remote.h"

/* PART: the longest request. LEAST_GAP, MOST_GAP: bytes that are read although nobody needs them, to save one request. */
enum { PART = 1 << 23, LEAST_GAP = 1 << 13, MOST_GAP = 1 << 20 };

typedef struct object_context {
  gather_remote_client *client;
  gather_remote_object *object;
} object_context;

/* A request costs its latency; in that time, so many bytes could be read. Requests that are in flight together cost it once, so
 * joining gains little, until there are more of them than connections. */
static int64_t object_gap(void *argument, int64_t count) {
  const object_context *context = argument;
  gather_remote_costs costs;
  gather_remote_client_costs(context->client, &costs);
  double bytes = costs.latency * costs.bandwidth;
  if (count > 1 && count <= costs.connections) return LEAST_GAP;
  if (count > 1 && costs.connections > 1) bytes /= costs.connections;
  return bytes < (double)LEAST_GAP ? LEAST_GAP : bytes < (double)MOST_GAP ? (int64_t)bytes : MOST_GAP;
}

static int64_t count_parts(const gather_map_range *ranges, int64_t count) {
  int64_t parts = 0;
  for (int64_t i = 0; i < count; i++) parts += (ranges[i].bytes - 1) / PART + 1;
  return parts;
}

static void begin_all(const object_context *context, gather_remote_queue *queue, const gather_map_range *ranges,
                      int64_t count, uint8_t *memory, gather_remote_request *requests) {
  for (int64_t i = 0; i < count; i++)
    for (int64_t done = 0; done < ranges[i].bytes; done += PART) {
      int64_t offset = ranges[i].offset + done, left = ranges[i].bytes - done;
      *requests = (gather_remote_request){.object = context->object,
                                          .offset = offset,
                                          .bytes = left < PART ? left : PART,
                                          .data = (char *)memory + offset};
      gather_remote_begin(queue, requests++);
    }
}

/* Waits for all: their memory is ours only then. Keeps the first failure, and ends the others early. */
static gather_status finish_all(gather_remote_queue *queue, int64_t parts, gather_error *error) {
  gather_status status = GATHER_OK;
  for (int64_t i = 0; i < parts; i++) {
    const gather_remote_request *done = gather_remote_finish(queue);
    if (done->status == GATHER_OK || status != GATHER_OK) continue;
    status = done->status;
    if (error) *error = done->error;
    gather_remote_cancel(queue);
  }
  return status;
}

static gather_status object_read(void *argument, const gather_map_range *ranges, int64_t count, uint8_t *memory,
                                 gather_error *error) {
  const object_context *context = argument;
  const int64_t parts = count_parts(ranges, count);
  gather_remote_queue *queue = NULL;
  gather_remote_client_enter(context->client);
  if (parts == 1)
    return gather_remote_object_read(context->object, ranges->offset, ranges->bytes, memory + ranges->offset, error);
  gather_remote_request *requests = gather_alloc(parts * (int64_t)sizeof *requests);
  if (!requests)
    return gather_fail_file(error, GATHER_OUT_OF_MEMORY, gather_remote_object_name(context->object), -1,
                            "no memory to read it");
  gather_status status = gather_remote_queue_create(context->client, &queue, error);
  if (status == GATHER_OK) {
    begin_all(context, queue, ranges, count, memory, requests);
    status = finish_all(queue, parts, error);
    gather_remote_queue_destroy(queue);
  }
  gather_free(requests);
  return status;
}

static void object_close(void *argument) {
  object_context *context = argument;
  gather_remote_object_close(context->object);
  gather_remote_client_release(context->client);
  gather_free(context);
}

gather_status gather_map_open_url(gather_remote_client *client, const char *url, gather_map *map, gather_error *error) {
  gather_remote_object *object = NULL;
  gather_remote_client_enter(client);
  GATHER_TRY(gather_remote_object_open(client, url, &object, error));
  const char *name = gather_remote_object_name(object);
  object_context *context = gather_alloc((int64_t)sizeof *context);
  if (!context) {
    gather_status status = gather_fail_file(error, GATHER_OUT_OF_MEMORY, name, -1, "no memory to read it");
    gather_remote_object_close(object);
    return status;
  }
  *context = (object_context){gather_remote_client_hold(client), object};
  gather_map_source source = {.context = context,
                              .size = gather_remote_object_size(object),
                              .read = object_read,
                              .close = object_close,
                              .gap = object_gap,
                              .object = object};
  source.head = gather_remote_object_head(object, &source.head_bytes);
  return gather_map_open_source(&source, name, map, error);
}
