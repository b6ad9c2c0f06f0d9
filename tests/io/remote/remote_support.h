/* SPDX-License-Identifier: MIT
 *
 * remote_support.h: what the tests of the client share.
 */
#ifndef GATHER_TESTS_IO_REMOTE_REMOTE_SUPPORT_H
#define GATHER_TESTS_IO_REMOTE_REMOTE_SUPPORT_H

#include <time.h>

#include "io/remote/played_server.h"
#include "io/remote/remote_client.h"
#include "support/unit.h"

enum { PLAYED_SIZE = 1000000 };

static inline double seconds_now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Options of an impatient client: the tests must not wait. */
static inline gather_remote_options quick_options(void) {
  gather_remote_options options = GATHER_REMOTE_OPTIONS_INIT;
  options.retries = 3;
  options.try_seconds = 10;
  options.take_seconds = 30;
  return options;
}

static inline gather_remote_client *make_client(const gather_remote_options *options) {
  gather_remote_client *client = NULL;
  gather_error error;
  if (gather_remote_client_create(options, &client, &error) != GATHER_OK) fail_msg("%s", error.message);
  return client;
}

static inline gather_remote_object *open_object(gather_remote_client *client, const char *url) {
  gather_remote_object *object = NULL;
  gather_error error;
  if (gather_remote_object_open(client, url, &object, &error) != GATHER_OK) fail_msg("%s", error.message);
  return object;
}

static inline void end_all(gather_remote_object *object, gather_remote_client *client, played_server *server) {
  gather_remote_object_close(object);
  gather_remote_client_release(client);
  played_end(server);
}

/* Reads, and checks the bytes. */
static inline gather_status read_checked(gather_remote_object *object, int64_t offset, int64_t bytes, gather_error *error) {
  char *data = malloc((size_t)bytes);
  assert_non_null(data);
  gather_status status = gather_remote_object_read(object, offset, bytes, data, error);
  if (status == GATHER_OK && !played_right(data, offset, bytes)) fail_msg("wrong bytes at %lld", (long long)offset);
  free(data);
  return status;
}

static inline gather_remote_statistics counts_of(gather_remote_client *client) {
  gather_remote_statistics statistics;
  gather_remote_client_statistics(client, &statistics);
  return statistics;
}

#define assert_contains(text, part)                                                      \
  do {                                                                                   \
    if (!strstr((text), (part))) fail_msg("'%s' does not contain '%s'", (text), (part)); \
  } while (0)

#endif
