/* SPDX-License-Identifier: MIT
 *
 * chunk_file.c: reads chunks that are in files of their own.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/chunks.h"

/* Opens a path name by name. Its text is written to meanwhile, so it is a copy. */
static int open_without_links(const gather_chunk_file *file) {
  const size_t bytes = strlen(file->path) + 1;
  char *path = gather_alloc((int64_t)bytes);
  if (!path) {
    errno = ENOMEM;
    return -1;
  }
  memcpy(path, file->path, bytes);
  const int fd = gather_open_below(path, (size_t)file->folder_bytes), number = errno;
  gather_free(path);
  errno = number;
  return fd;
}

gather_status gather_chunk_file_open(const gather_chunk_file *file, int *fd, gather_error *error) {
  *fd = file->folder_bytes < 0 ? gather_open_file(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0) : open_without_links(file);
  if (*fd >= 0) return GATHER_OK;
  if (errno == ENOMEM) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, file->path, -1, "out of memory while opening it");
  if (errno == ELOOP && file->folder_bytes >= 0)
    return gather_fail_file(error, GATHER_IO_ERROR, file->path, -1, "is reached through a symbolic link, which the options forbid");
  return gather_fail_open(error, file->path, errno);
}

gather_status gather_chunk_file_read(int fd, const gather_chunk_file *file, int64_t offset, int64_t bytes, void *target,
                                     gather_error *error) {
  enum { MOST_BYTES = 1 << 30 }; /* systems read at most about 2 GiB by one call */
  for (int64_t done = 0; done < bytes;) {
    const int64_t left = bytes - done;
    const ssize_t now = pread(fd, (char *)target + done, (size_t)(left < MOST_BYTES ? left : MOST_BYTES), (off_t)(offset + done));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return gather_fail_system(error, file->path, errno, "read it");
    if (now == 0)
      return gather_fail_file(error, GATHER_FILE_MALFORMED, file->path, offset + done,
                              "the file is truncated: a chunk needs %" PRId64 " bytes at byte %" PRId64, bytes, offset);
    done += now;
  }
  return GATHER_OK;
}

gather_status gather_chunk_read(const gather_chunk_place *place, void *stored, gather_error *error) {
  int fd = -1;
  if (place->file->object) return gather_remote_object_read(place->file->object, place->offset, place->bytes, stored, error);
  GATHER_TRY(gather_chunk_file_open(place->file, &fd, error));
  const gather_status status = gather_chunk_file_read(fd, place->file, place->offset, place->bytes, stored, error);
  (void)close(fd);
  return status;
}

/* ---- on other machines */

/* Waits for all requests, also after a failure: they write to our memory. */
static gather_status finish_requests(gather_remote_queue *queue, int64_t count, const gather_chunk_place *places,
                                     const gather_chunk_taker *taker, int64_t *failed, gather_error *error) {
  gather_status status = GATHER_OK;
  for (; count > 0; count--) {
    const gather_remote_request *done = gather_remote_finish(queue);
    const int64_t i = (const gather_chunk_place *)done->owner - places;
    if (status != GATHER_OK) continue;
    status = done->status;
    if (status == GATHER_OK) {
      status = taker->take(taker->context, i, done->data, error);
      if (status == GATHER_OK) continue;
    } else {
      *failed = i;
      if (error) *error = done->error;
    }
    gather_remote_cancel(queue);
  }
  return status;
}

/* Reads places [first, end), whose bytes fit into `stored` together. */
static gather_status read_together(gather_remote_client *client, const gather_chunk_place *places, int64_t first, int64_t end, char *stored,
                                   const gather_chunk_taker *taker, int64_t *failed, gather_error *error) {
  gather_remote_queue *queue = NULL;
  gather_remote_request *requests = gather_alloc((end - first) * (int64_t)sizeof *requests);
  if (!requests) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for requests");
  gather_status status = gather_remote_queue_create(client, &queue, error);
  int64_t begun = 0;
  for (int64_t i = first; i < end && status == GATHER_OK; i++) {
    const gather_chunk_place *place = &places[i];
    if (place->offset < 0 || place->bytes == 0) continue;
    requests[begun] = (gather_remote_request){
        .object = place->file->object, .offset = place->offset, .bytes = place->bytes, .data = stored, .owner = (void *)(uintptr_t)place};
    stored += place->bytes;
    gather_remote_begin(queue, &requests[begun++]);
  }
  if (status == GATHER_OK) status = finish_requests(queue, begun, places, taker, failed, error);
  gather_remote_queue_destroy(queue);
  gather_free(requests);
  return status;
}

gather_status gather_chunks_read_remote(gather_remote_client *client, const gather_chunk_place *places, int64_t count,
                                        const gather_chunk_taker *taker, int64_t *failed, gather_error *error) {
  int64_t room = 0;
  char *stored = NULL;
  gather_status status = GATHER_OK;
  gather_remote_client_enter(client);
  for (int64_t first = 0, end; first < count && status == GATHER_OK; first = end) {
    int64_t bytes = 0;
    for (end = first; end < count; end++) {
      const int64_t more = places[end].offset < 0 ? 0 : places[end].bytes;
      if (end > first && more > GATHER_CHUNKS_TOGETHER - bytes) break;
      bytes += more;
    }
    if (bytes > room) {
      gather_free(stored);
      stored = gather_alloc_unset(bytes);
      room = stored ? bytes : 0;
    }
    status = bytes > room ? gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for chunks of %" PRId64 " bytes", bytes)
                          : read_together(client, places, first, end, stored, taker, failed, error);
  }
  gather_free(stored);
  return status;
}

void gather_chunks_forget(const gather_chunk_place *places, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (places[i].file && places[i].file->object) gather_remote_object_forget(places[i].file->object);
}
