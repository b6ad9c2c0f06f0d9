/* SPDX-License-Identifier: MIT
 *
 * played_server.c: a thread that accepts, and one for each connection.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "io/remote/played_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  played_server *server;
  int socket;
} connection;

/* Reads one header; false at the end of the connection. */
static bool read_request(played_request *request) {
  size_t used = 0;
  while (used + 1 < sizeof request->text) {
    ssize_t count = recv(request->socket, request->text + used, 1, 0);
    if (count <= 0) return false;
    request->text[++used] = '\0';
    if (used >= 4 && memcmp(request->text + used - 4, "\r\n\r\n", 4) == 0) break;
  }
  long long first = -1, last = -1;
  const char *range = strcasestr(request->text, "\r\nRange: bytes=");
  if (range) (void)sscanf(range + 15, "%lld-%lld", &first, &last);
  request->first = first, request->last = last;
  return true;
}

static void *serve(void *argument) {
  connection *own = argument;
  played_server *server = own->server;
  played_request request = {.server = server, .socket = own->socket};
  bool open = true;
  while (open && !atomic_load(&server->ending) && read_request(&request)) {
    request.number = atomic_fetch_add(&server->requests, 1) + 1;
    open = server->answer(&request);
  }
  (void)shutdown(own->socket, SHUT_RDWR);
  free(own);
  return NULL;
}

/* With the lock. */
static int count_open(const played_server *server) {
  int count = 0;
  for (int i = 0; i < server->thread_count; i++) {
    struct pollfd one = {.fd = server->sockets[i], .events = POLLRDHUP};
    if (poll(&one, 1, 0) == 0) count++;
  }
  return count;
}

int played_open(played_server *server) {
  (void)pthread_mutex_lock(&server->lock);
  int count = count_open(server);
  (void)pthread_mutex_unlock(&server->lock);
  return count;
}

static void *accept_all(void *argument) {
  played_server *server = argument;
  while (!atomic_load(&server->ending)) {
    int socket = accept(server->listener, NULL, NULL);
    if (socket < 0) break;
    int one = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    atomic_fetch_add(&server->connections, 1);
    connection *own = malloc(sizeof *own);
    if (!own || server->thread_count == 256) abort();
    *own = (connection){server, socket};
    (void)pthread_mutex_lock(&server->lock);
    server->sockets[server->thread_count] = socket;
    int now = count_open(server) + 1;
    if (now > atomic_load(&server->peak)) atomic_store(&server->peak, now);
    if (pthread_create(&server->threads[server->thread_count++], NULL, serve, own) != 0) abort();
    (void)pthread_mutex_unlock(&server->lock);
  }
  return NULL;
}

void played_start(played_server *server, played_answer *answer, int64_t size, const char *etag) {
  memset(server, 0, sizeof *server);
  server->answer = answer;
  server->size = size;
  server->etag = etag;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t bytes = sizeof address;
  server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(server->listener, 128) != 0 || getsockname(server->listener, (struct sockaddr *)&address, &bytes) != 0 ||
      pthread_mutex_init(&server->lock, NULL) != 0)
    abort();
  server->port = ntohs(address.sin_port);
  if (pthread_create(&server->thread, NULL, accept_all, server) != 0) abort();
}

void played_end(played_server *server) {
  atomic_store(&server->ending, true);
  (void)shutdown(server->listener, SHUT_RDWR);
  (void)pthread_join(server->thread, NULL);
  for (int i = 0; i < server->thread_count; i++) (void)shutdown(server->sockets[i], SHUT_RDWR);
  for (int i = 0; i < server->thread_count; i++) (void)pthread_join(server->threads[i], NULL);
  for (int i = 0; i < server->thread_count; i++) (void)close(server->sockets[i]);
  (void)close(server->listener);
  (void)pthread_mutex_destroy(&server->lock);
}

const char *played_url(const played_server *server, const char *path) {
  static char texts[8][300];
  static atomic_uint next;
  char *text = texts[atomic_fetch_add(&next, 1) % 8];
  (void)snprintf(text, sizeof texts[0], "http://127.0.0.1:%d%s", server->port, path);
  return text;
}

bool played_has(const played_request *request, const char *text) { return strcasestr(request->text, text) != NULL; }

char played_byte(int64_t at) { return (char)(at * 7 + (at >> 8) * 3 + (at >> 16)); }

bool played_right(const char *data, int64_t offset, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++)
    if (data[i] != played_byte(offset + i)) return false;
  return true;
}

bool played_send(played_request *request, const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0) {
    ssize_t sent = send(request->socket, at, count, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    atomic_fetch_add(&request->server->sent, sent);
    at += sent;
    count -= (size_t)sent;
  }
  return true;
}

bool played_print(played_request *request, const char *format, ...) {
  char text[8192];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return played_send(request, text, (size_t)length);
}

bool played_body(played_request *request, int64_t first, int64_t last) {
  char bytes[4096];
  while (first <= last) {
    size_t count = 0;
    while (count < sizeof bytes && first <= last) bytes[count++] = played_byte(first++);
    if (!played_send(request, bytes, count)) return false;
  }
  return true;
}

static void clip(played_request *request) {
  if (request->last >= request->server->size) request->last = request->server->size - 1;
}

bool played_head(played_request *request, const char *tag) {
  clip(request);
  if (!tag) tag = request->server->etag;
  return played_print(request, "HTTP/1.1 206 Partial Content\r\n%s%s%sContent-Range: bytes %lld-%lld/%lld\r\nContent-Length: %lld\r\n\r\n",
                      *tag ? "ETag: " : "", tag, *tag ? "\r\n" : "", (long long)request->first, (long long)request->last,
                      (long long)request->server->size, (long long)(request->last - request->first + 1));
}

bool played_good(played_request *request) { return played_head(request, NULL) && played_body(request, request->first, request->last); }

bool played_status(played_request *request, const char *status_and_headers) {
  return played_print(request, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status_and_headers);
}

void played_sleep(int milliseconds) {
  struct timespec t = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  (void)nanosleep(&t, NULL);
}
