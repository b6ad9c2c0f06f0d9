/* SPDX-License-Identifier: MIT
 *
 * reader_http.c: ranges of files on other machines. The client's thread does the work; a read is one request of it.
 */
#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/remote_client.h"
#include "table/reader.h"

typedef struct http_reader {
  gather_remote_queue *queue;
  gather_remote_request *requests; /* one for each slot */
} http_reader;

static gather_status create(gather_reader *reader, gather_error *error) {
  http_reader *own = gather_alloc((int64_t)sizeof *own);
  if (own) own->requests = gather_alloc(reader->slot_count * (int64_t)sizeof *own->requests);
  gather_status status = own && own->requests ? gather_remote_queue_create(reader->plan.client, &own->queue, error)
                                              : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for requests");
  if (status == GATHER_OK) {
    reader->own = own;
    return GATHER_OK;
  }
  if (own) gather_free(own->requests);
  gather_free(own);
  return status;
}

/* In a child of fork() the queue knows that its requests are the parent's. */
static void destroy(gather_reader *reader) {
  http_reader *own = reader->own;
  gather_remote_queue_destroy(own->queue);
  gather_free(own->requests);
  gather_free(own);
}

static gather_status begin(gather_reader *reader, int32_t slot, gather_error *error) {
  http_reader *own = reader->own;
  const gather_read *read = &reader->slots[slot].read;
  (void)error;
  own->requests[slot] = (gather_remote_request){.object = read->source->object,
                                                .offset = read->offset,
                                                .bytes = read->needed,
                                                .data = reader->slots[slot].data,
                                                .owner = &reader->slots[slot]};
  gather_remote_begin(own->queue, &own->requests[slot]);
  return GATHER_OK;
}

static int32_t finish(gather_reader *reader) {
  http_reader *own = reader->own;
  gather_remote_request *request = gather_remote_finish(own->queue);
  gather_slot *slot = request->owner;
  slot->result = request->status == GATHER_OK ? GATHER_READ_FINE : GATHER_READ_FAILED;
  slot->done = request->status == GATHER_OK ? request->bytes : 0;
  return (int32_t)(slot - reader->slots);
}

static bool await(gather_reader *reader, int64_t nanoseconds) {
  http_reader *own = reader->own;
  return gather_remote_await(own->queue, nanoseconds);
}

static gather_status fail(const gather_reader *reader, int32_t slot, gather_error *error) {
  const http_reader *own = reader->own;
  const gather_remote_request *request = &own->requests[slot];
  if (error) *error = request->error;
  return request->status;
}

/* All of them still arrive, at once. */
static int32_t cancel(gather_reader *reader) {
  http_reader *own = reader->own;
  if (reader->flying > 0) gather_remote_cancel(own->queue);
  return 0;
}

static gather_status probe(gather_error *error) { return gather_remote_check(error); }

const gather_reader_engine gather_reader_http = {.buffers = true,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .abandon = destroy,
                                                 .begin = begin,
                                                 .finish = finish,
                                                 .await = await,
                                                 .fail = fail,
                                                 .cancel = cancel,
                                                 .probe = probe};
