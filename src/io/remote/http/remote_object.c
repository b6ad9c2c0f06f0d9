/* SPDX-License-Identifier: MIT
 *
 * remote_object.c: opens remote files, and reads ranges of them for callers who wait.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

enum { PART = 4 << 20, PARTS = 16 }; /* long ranges are read in parallel parts */

/* address: what is asked for in place of the URL's own; NULL. */
static gather_status make(gather_remote_client *client, const char *url, const char *address,
                          gather_remote_object **object, gather_error *error) {
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

/* Sends one request, and waits. */
static gather_status ask(gather_remote_object *object, gather_remote_request *request, bool document,
                         gather_error *error) {
  gather_remote_queue queue;
  GATHER_TRY(gather_remote_queue_init(object->client, &queue, error));
  request->object = object;
  gather_remote_begin_as(&queue, request, document);
  (void)gather_remote_finish(&queue);
  gather_remote_queue_clear(&queue);
  if (request->status != GATHER_OK && error) *error = request->error;
  return request->status;
}

gather_status gather_remote_object_open(gather_remote_client *client, const char *url, gather_remote_object **object,
                                        gather_error *error) {
  gather_remote_object *made = NULL;
  *object = NULL;
  bool folder;
  GATHER_TRY(gather_remote_find_folder(url, &folder, error));
  if (folder)
    return gather_fail(error, GATHER_USAGE, "%.200s names a folder, not a file: gather info URL lists it", url);
  GATHER_TRY(make(client, url, NULL, &made, error));
  made->head = gather_alloc(made->head_room = GATHER_REMOTE_HEAD_BYTES);
  gather_remote_request request = {.bytes = GATHER_REMOTE_HEAD_BYTES, .data = made->head};
  gather_status status = made->head ? ask(made, &request, false, error)
                                    : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a remote file");
  if (status == GATHER_OK) {
    made->head_bytes = request.bytes;
    gather_remote_cache_head(*object = made);
  } else {
    gather_remote_object_close(made);
  }
  return status;
}

int64_t gather_remote_object_size(const gather_remote_object *object) { return object->size; }
const char *gather_remote_object_name(const gather_remote_object *object) { return object->place.name; }

const char *gather_remote_object_head(const gather_remote_object *object, int64_t *bytes) {
  *bytes = object->head_bytes;
  return object->head;
}

const char *gather_remote_object_version(const gather_remote_object *object) {
  return gather_tag_is_strong(object->etag) ? object->etag : "";
}

/* All requests that begin are finished, even after a failure: they write to the caller's memory. */
static gather_status read_parts(gather_remote_object *object, int64_t offset, int64_t bytes, char *data,
                                gather_error *error) {
  gather_remote_queue queue;
  gather_status status = GATHER_OK;
  gather_remote_request *requests = gather_alloc((int64_t)sizeof *requests * PARTS), *free = NULL;
  if (!requests) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for requests");
  status = gather_remote_queue_init(object->client, &queue, error);
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
      *request =
          (gather_remote_request){.object = object, .offset = offset + begun, .bytes = part, .data = data + begun};
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
  gather_remote_queue_clear(&queue);
  gather_free(requests);
  return status;
}

gather_status gather_remote_object_read(gather_remote_object *object, int64_t offset, int64_t bytes, void *data,
                                        gather_error *error) {
  if (offset < 0 || bytes < 0 || offset > object->size - bytes)
    return gather_fail_file(error, GATHER_IO_ERROR, object->place.name, offset < 0 ? 0 : offset,
                            "the file has only %lld bytes", (long long)object->size);
  if (bytes == 0) return GATHER_OK;
  if (offset + bytes <= object->head_bytes) {
    memcpy(data, object->head + offset, (size_t)bytes);
    return GATHER_OK;
  }
  return read_parts(object, offset, bytes, data, error);
}

gather_status gather_remote_document(gather_remote_client *client, const char *url, const char *address, int64_t limit,
                                     char **text, int64_t *bytes, gather_error *error) {
  gather_remote_object *object = NULL;
  *text = NULL;
  *bytes = 0;
  GATHER_TRY(make(client, url, address, &object, error));
  char *data = limit >= 0 && limit < INT64_MAX ? gather_alloc(limit + 1) : NULL;
  gather_remote_request request = {.bytes = limit, .data = data};
  gather_status status = data ? ask(object, &request, true, error)
                              : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a document");
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
