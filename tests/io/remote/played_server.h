/* SPDX-License-Identifier: MIT
 *
 * played_server.h: an HTTP server on 127.0.0.1, in threads of the test, that answers what a function of the test says: good answers, and
 * any other bytes.
 */
#ifndef GATHER_TESTS_PLAYED_SERVER_H
#define GATHER_TESTS_PLAYED_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct played_server played_server;

/* One request. */
typedef struct played_request {
  played_server *server;
  int socket;
  int number;          /* from 1, of all connections */
  int64_t first, last; /* its range; -1 without one */
  char text[8192];     /* its header */
} played_request;

/* Answers one request, on a thread of its connection. Returns whether the connection stays open. */
typedef bool played_answer(played_request *request);

struct played_server {
  played_answer *answer;
  int64_t size;
  const char *etag;
  void *own; /* the test's */
  int listener, port;
  atomic_int requests, connections, peak; /* peak: open at once, see played_open */
  atomic_llong sent;
  atomic_bool ending;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_t threads[256];
  int sockets[256];
  int thread_count;
};

void played_start(played_server *server, played_answer *answer, int64_t size, const char *etag);
/* Ends all connections and threads. */
void played_end(played_server *server);

/* The connections that neither side has closed; the server's own threads notice that a client has gone only later. */
int played_open(played_server *server);

/* "http://127.0.0.1:PORT" and a path, in memory that the next calls but seven use again. */
const char *played_url(const played_server *server, const char *path);
/* Whether the header has this text. */
bool played_has(const played_request *request, const char *text);
/* The byte of every played file at a place. */
char played_byte(int64_t at);
bool played_right(const char *data, int64_t offset, int64_t bytes);

/* Sends; false if the client has gone. */
bool played_send(played_request *request, const void *bytes, size_t count);
bool played_print(played_request *request, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes [first, last] of the file. */
bool played_body(played_request *request, int64_t first, int64_t last);
/* The header of a good 206, and the whole of it; tag: NULL = the server's. */
bool played_head(played_request *request, const char *tag);
bool played_good(played_request *request);
/* A status without a body. */
bool played_status(played_request *request, const char *status_and_headers);
void played_sleep(int milliseconds);

#endif
