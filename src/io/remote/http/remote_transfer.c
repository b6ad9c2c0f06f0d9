/* SPDX-License-Identifier: MIT
 *
 * remote_transfer.c: one GET by libcurl, from its socket and its options to the bytes that arrive. The answer is judged when its headers
 * end, before a byte of its body is taken.
 *
 * Sockets are opened here, so that no name, however it resolves, leads to an address that hands out credentials, and no redirect to one
 * that is nearer than the server which sends it.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* SOCK_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/system/clock.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

/* ---- sockets */

/* Other families than those of the internet are refused: libcurl has none here. */
static gather_remote_reach reach_of(const struct curl_sockaddr *address) {
  if (address->family == AF_INET) {
    struct sockaddr_in four;
    memcpy(&four, &address->addr, sizeof four);
    return gather_remote_reach_of((const unsigned char *)&four.sin_addr, 4);
  }
  /* curl_sockaddr has room for longer addresses than its last member says. */
  struct sockaddr_in6 six;
  if (address->family != AF_INET6 || address->addrlen < sizeof six) return GATHER_REMOTE_CREDENTIALS;
  memcpy(&six, (const char *)address + offsetof(struct curl_sockaddr, addr), sizeof six);
  return gather_remote_reach_of((const unsigned char *)&six.sin6_addr, 16);
}

static bool refuses(gather_remote_transfer *transfer, gather_remote_reach reach) {
  if (reach <= transfer->limit) return false;
  transfer->refused_address = true;
  transfer->refused = reach;
  return true;
}

static void remember(gather_remote_client *client, int from, int to) {
  for (size_t i = 0; i < sizeof client->sockets / sizeof *client->sockets; i++)
    if (client->sockets[i] == from) {
      client->sockets[i] = to;
      return;
    }
}

static int make_socket(gather_remote_client *client, int family, int type, int protocol) {
#if defined(SOCK_CLOEXEC)
  int made = socket(family, type | SOCK_CLOEXEC, protocol);
#else
  int made = socket(family, type, protocol);
  if (made >= 0) (void)fcntl(made, F_SETFD, FD_CLOEXEC);
#endif
  if (made < 0) return -1;
  remember(client, -1, made);
  (void)pthread_mutex_lock(&client->lock);
  client->counts.connections++;
  (void)pthread_mutex_unlock(&client->lock);
  return made;
}

static int close_socket(void *client, curl_socket_t socket) {
  remember(client, socket, -1);
  return close(socket);
}

/* ---- sockets that are opened ahead */

void gather_remote_close_ahead(gather_remote_client *client) {
  while (client->ahead.count > 0) (void)close_socket(client, client->ahead.sockets[--client->ahead.count]);
}

/* Connected, and the server has neither closed it nor sent anything. */
static bool is_usable(int socket) {
  struct pollfd polled = {.fd = socket, .events = POLLIN | POLLOUT};
  return poll(&polled, 1, 0) == 1 && polled.revents == POLLOUT;
}

/* One for this address; -1: none. With another address all are closed: there may be no more connections than the options allow. */
static int take_ahead(gather_remote_client *client, const struct curl_sockaddr *address) {
  gather_remote_ahead *ahead = &client->ahead;
  if (address->addrlen != ahead->bytes || memcmp(&address->addr, &ahead->address, ahead->bytes) != 0) gather_remote_close_ahead(client);
  while (ahead->count > 0) {
    const int taken = ahead->sockets[--ahead->count];
    if (is_usable(taken)) return taken;
    (void)close_socket(client, taken);
  }
  return -1;
}

/* The file is being opened, and not by the hub, which redirects. */
static bool is_opening(const gather_remote_transfer *transfer) {
  const gather_remote_object *object = transfer->request->object;
  const bool hub = object->place.origin && object->place.origin->scheme == GATHER_REMOTE_HUB;
  return object->size < 0 && !transfer->request->state.document && transfer->hops == 0 && !hub;
}

static bool connect_one(gather_remote_client *client) {
  gather_remote_ahead *ahead = &client->ahead;
  const int made = make_socket(client, ahead->address.ss_family, SOCK_STREAM, IPPROTO_TCP);
  if (made < 0) return false;
  const int flags = fcntl(made, F_GETFL);
  if (flags < 0 || fcntl(made, F_SETFL, flags | O_NONBLOCK) < 0 ||
      (connect(made, (const struct sockaddr *)&ahead->address, ahead->bytes) != 0 && errno != EINPROGRESS)) {
    (void)close_socket(client, made);
    return false;
  }
  ahead->sockets[ahead->count++] = made;
  return true;
}

/* ---- libcurl's sockets */

/* libcurl's: a socket, unless the address is refused. */
static curl_socket_t open_socket(void *transfer, curlsocktype purpose, struct curl_sockaddr *address) {
  gather_remote_transfer *own = transfer;
  gather_remote_ahead *ahead = &own->client->ahead;
  (void)purpose;
  if (refuses(own, reach_of(address))) return CURL_SOCKET_BAD;
  int made = take_ahead(own->client, address);
  own->connected = made >= 0;
  if (own->connected) return made;
  made = make_socket(own->client, address->family, address->socktype, address->protocol);
  if (made < 0) own->no_descriptor = errno == EMFILE || errno == ENFILE;
  if (made < 0) return CURL_SOCKET_BAD;
  if (!ahead->tried && is_opening(own) && address->addrlen <= sizeof ahead->address)
    memcpy(&ahead->address, &address->addr, ahead->bytes = address->addrlen);
  return made;
}

/* libcurl's: before it connects a socket. */
static int before_connect(void *transfer, curl_socket_t socket, curlsocktype purpose) {
  const gather_remote_transfer *own = transfer;
  (void)socket, (void)purpose;
  return own->connected ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
}

/* libcurl's: before a request is sent on a connection, also one that was opened for another request. 0 sends it, 1 ends the transfer. */
static int before_request(void *transfer, char *there, char *here, int port, int own_port) {
  gather_remote_reach reach = GATHER_REMOTE_CREDENTIALS;
  (void)here, (void)port, (void)own_port;
  (void)gather_remote_reach_named(there, &reach);
  return refuses(transfer, reach);
}

/* CURLOPT_PREREQFUNCTION and its data, since 7.80: older headers have no names for them. Older libraries open a connection for each
 * redirect instead, whose address open_socket sees. False: libcurl refuses. */
static bool set_sockets(gather_remote_transfer *transfer) {
  const gather_curl *curl = transfer->client->curl;
  CURL *easy = transfer->easy;
  int (*checks)(void *, char *, char *, int, int) = before_request;
  bool checked = curl->easy_setopt(easy, (CURLoption)10313, transfer) == CURLE_OK && /* before who needs it */
                 curl->easy_setopt(easy, (CURLoption)20312, checks) == CURLE_OK;
  const long fresh = !checked && transfer->hops > 0;
  return curl->easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, before_connect) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_SOCKOPTDATA, transfer) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, transfer->client) == CURLE_OK;
}

enum { MOST_DISCARDED = 16384 }; /* of the body of an error: so much is read to keep the connection */

/* ---- what arrives */

static gather_remote_question question_of(const gather_remote_transfer *transfer) {
  const gather_remote_object *object = transfer->request->object;
  return (gather_remote_question){.first = transfer->first,
                                  .bytes = transfer->wanted,
                                  .size = object->size,
                                  .etag = object->etag,
                                  .last_modified = object->last_modified,
                                  .whole = transfer->request->state.document,
                                  .whole_bytes = transfer->client->settings.given.whole_bytes,
                                  .unranged = transfer->request->state.unranged,
                                  .tail = transfer->request->state.tail};
}

/* The first of two transfers with an answer wins; the other is dropped before it can write. */
static void win(gather_remote_transfer *transfer) {
  struct gather_remote_state *state = &transfer->request->state;
  gather_remote_transfer *other = state->transfers[transfer == state->transfers[0]];
  if (other) other->lost = true;
}

static void measure_answer(gather_remote_transfer *transfer) {
  gather_remote_client *client = transfer->client;
  double before = 0;
  long connects = 1;
  transfer->answered = gather_clock();
  (void)client->curl->easy_getinfo(transfer->easy, CURLINFO_PRETRANSFER_TIME, &before);
  (void)client->curl->easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connects);
  transfer->age = connects > 0 && !transfer->connected ? GATHER_REMOTE_NEW : GATHER_REMOTE_USED;
  transfer->asked = transfer->sent + (int64_t)(before * 1e9);
  (void)pthread_mutex_lock(&client->lock);
  gather_remote_measure_wait(&client->measure, transfer->age, transfer->answered - transfer->asked);
  (void)pthread_mutex_unlock(&client->lock);
}

/* Room for the whole of a file that is opened: `bytes`, and no less than for what an open asks for. */
static bool make_head(gather_remote_transfer *transfer, int64_t bytes) {
  gather_remote_object *object = transfer->request->object;
  if (bytes <= object->head_room) return true;
  char *larger = gather_alloc(bytes);
  transfer->no_memory = !larger;
  if (!larger) return false;
  memcpy(larger, object->head, (size_t)transfer->got);
  gather_free(object->head);
  object->head = transfer->request->data = larger;
  object->head_room = bytes;
  return true;
}

/* Prepares for the body of an answer that is taken. */
static bool prepare(gather_remote_transfer *transfer, gather_remote_question *question) {
  if (question->tail) question->first = transfer->first = transfer->request->offset = 0;
  if (transfer->verdict == GATHER_ANSWER_WHOLE) {
    transfer->wanted = transfer->answer.has_length ? transfer->answer.length : -1;
    return make_head(transfer, transfer->wanted);
  }
  if (question->tail) question->first = transfer->first = transfer->request->offset = transfer->answer.first;
  if (!question->whole) gather_answer_span(&transfer->answer, question, &transfer->skip, &transfer->wanted);
  return true;
}

/* libcurl's: one line of the headers. Less than `count` ends the transfer. */
static size_t take_header(char *line, size_t one, size_t count, void *argument) {
  gather_remote_transfer *transfer = argument;
  (void)one;
  const char *colon = memchr(line, ':', count);
  if (colon && !transfer->answer.complete && gather_remote_asks_place(transfer))
    gather_remote_notes_header(&transfer->notes, line, (size_t)(colon - line), colon + 1, count - (size_t)(colon - line) - 1);
  if (transfer->lost || transfer->answer.complete) return transfer->lost ? 0 : count;
  if (!gather_answer_line(&transfer->answer, line, count)) {
    gather_remote_question broken = question_of(transfer);
    transfer->verdict = gather_answer_judge(&transfer->answer, &broken, transfer->why);
    return 0;
  }
  if (!transfer->answer.complete) return count;
  gather_remote_question question = question_of(transfer);
  transfer->verdict = gather_answer_judge(&transfer->answer, &question, transfer->why);
  measure_answer(transfer);
  transfer->window_began = transfer->answered;
  if (!gather_remote_takes_body(transfer)) return transfer->answer.status == 200 || transfer->answer.status == 206 ? 0 : count;
  if (!prepare(transfer, &question)) return 0;
  win(transfer);
  return count;
}

/* A body whose length nobody said. */
static bool grow(gather_remote_transfer *transfer, int64_t count) {
  const int64_t most = transfer->client->settings.given.whole_bytes, room = transfer->request->object->head_room;
  transfer->overflow = count > most - transfer->got;
  if (transfer->overflow) return false;
  return transfer->got + count <= room || make_head(transfer, 2 * room < most ? 2 * room + count : most);
}

/* libcurl's: bytes of the body. */
static size_t take_body(char *bytes, size_t one, size_t count, void *argument) {
  gather_remote_transfer *transfer = argument;
  (void)one;
  gather_remote_request *request = transfer->request;
  const size_t arrived = count;
  if (transfer->lost) return 0;
  transfer->client->window_bytes += (int64_t)count;
  if (!gather_remote_takes_body(transfer)) {
    if (gather_remote_asks_place(transfer) && transfer->refusal.bytes + count <= GATHER_REMOTE_BODY)
      gather_growing_write(&transfer->refusal, bytes, count);
    transfer->discarded += (int64_t)count;
    return transfer->discarded > MOST_DISCARDED ? 0 : count;
  }
  if (transfer->skip > 0) {
    const size_t skipped = transfer->skip < (int64_t)count ? (size_t)transfer->skip : count;
    transfer->skip -= (int64_t)skipped;
    transfer->discarded += (int64_t)skipped;
    bytes += skipped, count -= skipped;
  }
  if (transfer->wanted < 0) {
    if (!grow(transfer, (int64_t)count)) return 0;
  } else if ((int64_t)count > transfer->wanted - transfer->got) {
    /* Of the whole file in the place of a range the rest is not needed. */
    transfer->overflow = transfer->verdict != GATHER_ANSWER_ACCEPTED || transfer->answer.status != 200 || transfer->request->state.document;
    if (transfer->overflow) return 0;
    count = (size_t)(transfer->wanted - transfer->got);
  }
  if (count > 0) memcpy(request->data + (transfer->first - request->offset) + transfer->got, bytes, count);
  transfer->got += (int64_t)count;
  return transfer->answer.status == 200 && transfer->verdict == GATHER_ANSWER_ACCEPTED && !request->state.document &&
                 transfer->got == transfer->wanted
             ? 0
             : arrived;
}

/* ---- what is sent */

static bool set_always(const gather_remote_transfer *transfer) {
  const gather_curl *curl = transfer->client->curl;
  const gather_remote_options *options = &transfer->client->settings.given;
  CURL *easy = transfer->easy;
  long connect = (long)(options->try_seconds * 1000) + 1;
  const gather_remote_transfer *own = transfer;
  const char *agent = GATHER_REMOTE_AGENT;
  (void)curl->easy_setopt(easy, (CURLoption)322 /* CURLOPT_QUICK_EXIT, 7.87: do not wait for a resolver that hangs */, 1L);
  (void)curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  return curl->easy_setopt(easy, CURLOPT_PRIVATE, own) == CURLE_OK && curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK && curl->easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
         (!options->authorities[0] || curl->easy_setopt(easy, CURLOPT_CAINFO, options->authorities) == CURLE_OK) &&
         curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_BUFFERSIZE, 65536L) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK && curl->easy_setopt(easy, CURLOPT_USERAGENT, agent) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_HEADERDATA, own) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_WRITEDATA, own) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->problem) == CURLE_OK;
}

static bool add_line(gather_remote_transfer *transfer, const char *line) {
  struct curl_slist *longer = transfer->client->curl->slist_append(transfer->headers, line);
  if (longer) transfer->headers = longer;
  return longer != NULL;
}

/* The version that was opened, or none of it: a server that does not look at these lines is found out by its answer. A request that
 * begins at the place asks without them, since a host that only redirects knows no version. */
static bool add_condition(gather_remote_transfer *transfer) {
  const gather_remote_object *object = transfer->request->object;
  char line[GATHER_ANSWER_TAG + 32];
  if (object->size < 0 || transfer->from_place) return true;
  if (gather_tag_is_strong(object->etag))
    (void)snprintf(line, sizeof line, "If-Match: %s", object->etag);
  else if (object->last_modified[0])
    (void)snprintf(line, sizeof line, "If-Unmodified-Since: %s", object->last_modified);
  else
    return true;
  return add_line(transfer, line);
}

static gather_status add_proof(gather_remote_transfer *transfer, gather_error *error) {
  const gather_remote_object *object = transfer->request->object;
  gather_growing lines = {0};
  if (!transfer->at_place) return GATHER_OK;
  gather_status status =
      gather_remote_sign(&transfer->client->settings, &object->place, &transfer->hop, (int64_t)time(NULL), &lines, error);
  for (size_t at = 0; status == GATHER_OK && at < lines.bytes; at += strlen(lines.text + at) + 1)
    if (!add_line(transfer, lines.text + at)) status = gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a request");
  if (lines.text) memset(lines.text, 0, lines.bytes);
  gather_growing_clear(&lines);
  return status;
}

static void reset(gather_remote_transfer *transfer) {
  gather_answer_clear(&transfer->answer);
  transfer->verdict = GATHER_ANSWER_AGAIN;
  transfer->why[0] = transfer->problem[0] = '\0';
  transfer->overflow = transfer->refused_address = transfer->no_descriptor = transfer->no_memory = false;
  transfer->got = transfer->discarded = transfer->skip = 0;
  gather_growing_clear(&transfer->refusal);
  transfer->client->curl->slist_free_all(transfer->headers);
  transfer->headers = NULL;
}

static gather_status set_this(gather_remote_transfer *transfer, gather_error *error) {
  const gather_curl *curl = transfer->client->curl;
  char range[48];
  if (transfer->request->state.tail)
    (void)snprintf(range, sizeof range, "-%" PRId64, transfer->wanted);
  else
    (void)snprintf(range, sizeof range, "%" PRId64 "-%" PRId64, transfer->first, transfer->first + transfer->wanted - 1);
  const char *asked = transfer->request->state.document || transfer->request->state.unranged ? NULL : range;
  bool set = set_sockets(transfer) && add_line(transfer, "Accept-Encoding: identity") && add_line(transfer, "Accept: */*") &&
             add_condition(transfer);
  if (set) GATHER_TRY(add_proof(transfer, error));
  set = set && curl->easy_setopt(transfer->easy, CURLOPT_URL, transfer->hop.text) == CURLE_OK &&
        curl->easy_setopt(transfer->easy, CURLOPT_RANGE, asked) == CURLE_OK &&
        curl->easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK;
  return set ? GATHER_OK : gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a request");
}

gather_status gather_remote_send_hop(gather_remote_transfer *transfer, gather_error *error) {
  gather_remote_client *client = transfer->client;
  reset(transfer);
  transfer->at_place = strcmp(transfer->hop.origin, transfer->request->object->place.url.origin) == 0;
  GATHER_TRY(set_this(transfer, error));
  transfer->sent = transfer->window_began = gather_clock();
  if (client->curl->multi_add_handle(client->multi, transfer->easy) != CURLM_OK)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a request");
  transfer->is_added = true;
  client->sent_count++;
  (void)pthread_mutex_lock(&client->lock);
  client->counts.requests++;
  if (client->active_count > client->counts.in_flight_peak) client->counts.in_flight_peak = client->active_count;
  (void)pthread_mutex_unlock(&client->lock);
  return GATHER_OK;
}

/* ---- transfers are kept: each has a handle with all its options */

static gather_remote_transfer *make(gather_remote_client *client) {
  gather_remote_transfer *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return NULL;
  made->client = client;
  made->easy = client->curl->easy_init();
  if (made->easy && set_always(made)) return made;
  if (made->easy) client->curl->easy_cleanup(made->easy);
  gather_free(made);
  return NULL;
}

void gather_remote_connect_ahead(gather_remote_client *client, int64_t now) {
  static const int64_t UNUSED = 5000000000;
  gather_remote_ahead *ahead = &client->ahead;
  if (ahead->count > 0 && now - ahead->opened > UNUSED) gather_remote_close_ahead(client);
  if (!ahead->wanted || ahead->tried || ahead->bytes == 0) return;
  for (const gather_remote_transfer *t = client->active; t && !ahead->tried; t = t->next) {
    double connected = 0;
    if (!is_opening(t) || t->answer.status || now - t->sent < GATHER_REMOTE_FAR) continue;
    (void)client->curl->easy_getinfo(t->easy, CURLINFO_CONNECT_TIME, &connected);
    ahead->tried = connected > 0;
  }
  if (!ahead->tried) return;
  ahead->opened = now;
  while (ahead->count < client->depth.now - client->active_count && ahead->count < GATHER_REMOTE_MOST_AHEAD && connect_one(client))
    continue;
}

static gather_remote_transfer *take_idle(gather_remote_client *client) {
  gather_remote_transfer *taken = client->idle;
  if (taken)
    client->idle = taken->next;
  else
    taken = make(client);
  if (!taken) return NULL;
  taken->next = client->active;
  client->active = taken;
  client->active_count++;
  return taken;
}

/* A request for whole blocks has its memory from when it is sent. */
static bool make_room(gather_remote_request *request) {
  if (request->state.cover && !request->data) request->data = gather_alloc(request->bytes);
  return !request->state.cover || request->data;
}

gather_status gather_remote_send(gather_remote_client *client, gather_remote_request *request, bool is_hedge, gather_error *error) {
  gather_remote_object *object = request->object;
  if (!make_room(request)) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a block");
  gather_remote_transfer *transfer = take_idle(client);
  if (!transfer) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a request");
  transfer->request = request;
  transfer->is_hedge = is_hedge;
  transfer->lost = false;
  transfer->hops = 0;
  transfer->notes = (gather_remote_notes){{0}, {0}, {0}, {0}, 0, 0};
  transfer->generation = object->generation;
  transfer->from_place = object->size < 0 || request->state.document || request->state.renews;
  transfer->hop = transfer->from_place ? object->place.url : object->target;
  transfer->farthest = GATHER_REMOTE_LOOPBACK;
  transfer->limit = transfer->from_place ? GATHER_REMOTE_LOOPBACK : object->target_limit;
  if (client->settings.given.any_address) transfer->limit = GATHER_REMOTE_CREDENTIALS;
  transfer->first = request->offset + request->state.arrived;
  transfer->wanted = request->bytes - request->state.arrived;
  request->state.transfers[is_hedge] = transfer;
  gather_status status = gather_remote_send_hop(transfer, error);
  if (status != GATHER_OK) gather_remote_drop(transfer);
  if (status == GATHER_OK && request->state.begun == 0) request->state.begun = request->state.progress = transfer->sent;
  return status;
}

void gather_remote_drop(gather_remote_transfer *transfer) {
  gather_remote_client *client = transfer->client;
  if (transfer->is_added) (void)client->curl->multi_remove_handle(client->multi, transfer->easy);
  transfer->is_added = false;
  (void)pthread_mutex_lock(&client->lock);
  client->counts.bytes_read += transfer->got + transfer->discarded;
  (void)pthread_mutex_unlock(&client->lock);
  reset(transfer);
  gather_arena_clear(&transfer->arena);
  transfer->request->state.transfers[transfer->is_hedge] = NULL;
  transfer->request = NULL;
  gather_remote_transfer **at = &client->active;
  while (*at != transfer) at = &(*at)->next;
  *at = transfer->next;
  transfer->next = client->idle;
  client->idle = transfer;
  client->active_count--;
}

void gather_remote_free_transfers(gather_remote_client *client) {
  while (client->active) gather_remote_drop(client->active);
  gather_remote_close_ahead(client);
  for (gather_remote_transfer *t = client->idle, *next; t; t = next) {
    next = t->next;
    client->curl->easy_cleanup(t->easy);
    gather_free(t);
  }
  client->idle = NULL;
}

#endif
