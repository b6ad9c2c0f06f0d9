/* SPDX-License-Identifier: MIT
 *
 * remote_network.c: the network thread of a client. One turn: take new requests, send what may be sent, wait for sockets, for new requests,
 * or for the next point in time, and act on what ended or took too long.
 *
 * Answers of many connections often arrive together. Each socket is handled alone, and the next request leaves before the next socket is
 * read: a connection does not wait for the others.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>

#include "core/base/error.h"
#include "core/system/clock.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

static const int64_t CHECK_EVERY = 5000000, SECOND = 1000000000; /* nanoseconds */
enum { LEAST_SAMPLES = 32, LONGEST_SLEEP = 1000 };

/* ---- new requests, and those that were cancelled */

static void cancel_in(gather_remote_list *list) {
  gather_remote_list kept;
  gather_remote_list_init(&kept);
  for (gather_remote_request *request; (request = gather_remote_list_take(list)) != NULL;) {
    if (request->queue->cancelled)
      gather_remote_fail(request, GATHER_CANCELLED, "cancelled");
    else
      gather_remote_list_add(&kept, request);
  }
  if (kept.first) {
    list->first = kept.first;
    list->end = kept.end;
  }
}

/* A failed request frees its transfers, which changes the list of them: so it is searched again from its beginning. */
static void cancel_active(gather_remote_client *client) {
  for (gather_remote_transfer *t = client->active; t;) {
    bool cancelled = t->request->queue->cancelled;
    if (cancelled) gather_remote_fail(t->request, GATHER_CANCELLED, "cancelled");
    t = cancelled ? client->active : t->next;
  }
}

/* With the lock held. */
static void take_new(gather_remote_client *client) {
  for (gather_remote_request *request; (request = gather_remote_list_take(&client->intake)) != NULL;)
    gather_remote_list_add(&client->ready, request);
}

/* Returns whether the thread is to end. */
static bool take_in(gather_remote_client *client) {
  (void)pthread_mutex_lock(&client->lock);
  take_new(client);
  bool ending = client->ending, cancelling = client->cancelling;
  client->cancelling = false;
  (void)pthread_mutex_unlock(&client->lock);
  if (cancelling) {
    cancel_in(&client->ready);
    cancel_in(&client->waiting);
    cancel_active(client);
  }
  return ending;
}

/* ---- sending */

/* Whether no time and no other request must pass before a request is sent. */
static bool is_due(const gather_remote_request *request, int64_t now) {
  const gather_remote_request *renewing = request->object->renewing;
  return request->state.not_before <= now && (!renewing || renewing == request);
}

/* Takes the first request of a list that may be sent now. */
static gather_remote_request *take_sendable(gather_remote_list *list, int64_t now) {
  for (gather_remote_request **at = &list->first; *at; at = &(*at)->next) {
    gather_remote_request *request = *at;
    if (!is_due(request, now)) continue;
    *at = request->next;
    if (!*at) list->end = at;
    return request;
  }
  return NULL;
}

static void send_ready(gather_remote_client *client, int64_t now) {
  while (client->active_count < client->depth.now) {
    gather_remote_request *request = client->waiting.first ? take_sendable(&client->waiting, now) : NULL;
    if (!request) request = take_sendable(&client->ready, now);
    if (!request) return;
    gather_error error;
    gather_status status = gather_remote_send(client, request, false, &error);
    if (status == GATHER_OUT_OF_MEMORY && client->active_count > 0) {
      request->state.not_before = now + CHECK_EVERY; /* there may be room when others have finished */
      gather_remote_list_add(&client->waiting, request);
      return;
    }
    if (status != GATHER_OK) gather_remote_fail(request, status, "%s", error.message);
  }
}

/* ---- ends and limits of time */

/* Returns whether any transfer has ended. */
static bool read_ends(gather_remote_client *client) {
  bool any = false;
  int left;
  for (CURLMsg *message; (message = client->curl->multi_info_read(client->multi, &left)) != NULL;) {
    void *private = NULL;
    if (message->msg != CURLMSG_DONE) continue;
    CURLcode code = message->data.result;
    (void)client->curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
    gather_remote_ended(private, code);
    any = true;
  }
  return any;
}

/* The second of two transfers of one request, once the other has its answer. */
static void drop_lost(gather_remote_client *client) {
  for (gather_remote_transfer *t = client->active, *next; t; t = next) {
    next = t->next;
    if (t->lost) gather_remote_drop(t);
  }
}

static void hedge(gather_remote_client *client, gather_remote_transfer *transfer, int64_t now) {
  gather_remote_request *request = transfer->request;
  if (client->hedge_after == 0 || transfer->answer.status || now - transfer->sent < client->hedge_after || request->state.hedged ||
      transfer->from_place || client->active_count >= client->depth.now || client->hedge_count * 50 > client->sent_count)
    return;
  gather_error ignored;
  request->state.hedged = true; /* also if it cannot be sent: once is enough */
  if (gather_remote_send(client, request, true, &ignored) != GATHER_OK) return;
  client->hedge_count++;
  (void)pthread_mutex_lock(&client->lock);
  client->counts.hedges++;
  (void)pthread_mutex_unlock(&client->lock);
}

/* Nanoseconds without progress that end a try: a take that may wait less has shorter ones. */
static int64_t try_limit(const gather_remote_client *client) {
  const gather_remote_options *options = &client->settings.given;
  double seconds = options->try_seconds < options->take_seconds ? options->try_seconds : options->take_seconds;
  return (int64_t)(seconds * (double)SECOND);
}

static bool is_expired(const gather_remote_transfer *transfer, int64_t now, int64_t limit) { return now - transfer->window_began > limit; }

/* What all connections bring together, in fortieths of a second. */
static void measure_window(gather_remote_client *client, int64_t now) {
  const int64_t time = now - client->window_began;
  if (time < SECOND / 40) return;
  (void)pthread_mutex_lock(&client->lock);
  gather_remote_measure_window(&client->measure, client->window_bytes, time);
  (void)pthread_mutex_unlock(&client->lock);
  client->window_bytes = 0;
  client->window_began = now;
}

/* A request that was answered slowly is sent a second time; one that makes no progress is ended. */
static void check_times(gather_remote_client *client, int64_t now) {
  int64_t limit = try_limit(client);
  if (now - client->checked < CHECK_EVERY) return;
  client->checked = now;
  measure_window(client, now);
  (void)pthread_mutex_lock(&client->lock);
  if (client->measure.first_bytes.count >= LEAST_SAMPLES) {
    int64_t middle = gather_histogram_share(&client->measure.first_bytes, 0.5),
            slow = gather_histogram_share(&client->measure.first_bytes, 0.98);
    client->hedge_after = (slow > 2 * middle ? slow : 2 * middle) + CHECK_EVERY;
  }
  (void)pthread_mutex_unlock(&client->lock);
  for (gather_remote_transfer *t = client->active; t;) {
    bool ends = is_expired(t, now, limit);
    if (ends)
      gather_remote_expired(t, now);
    else
      hedge(client, t, now);
    t = ends ? client->active : t->next;
  }
}

/* Milliseconds until something is due. */
static int sleep_time(const gather_remote_client *client, int64_t now) {
  int64_t until = now + (int64_t)LONGEST_SLEEP * 1000000;
  for (const gather_remote_request *r = client->waiting.first; r; r = r->next) {
    if (is_due(r, now) && client->active_count < client->depth.now) return 0; /* such as the rest of a short answer */
    if (r->state.not_before > now && r->state.not_before < until) until = r->state.not_before;
  }
  if (client->active_count > 0) {
    int64_t limit = try_limit(client);
    for (const gather_remote_transfer *t = client->active; t; t = t->next) {
      if (t->window_began + limit < until) until = t->window_began + limit;
      if (client->ahead.wanted && !client->ahead.tried && t->sent + GATHER_REMOTE_FAR > now && t->sent + GATHER_REMOTE_FAR < until)
        until = t->sent + GATHER_REMOTE_FAR;
      if (client->hedge_after > 0 && !t->answer.status && !t->request->state.hedged && t->sent + client->hedge_after > now &&
          t->sent + client->hedge_after < until)
        until = t->sent + client->hedge_after;
    }
  }
  return until <= now ? 0 : (int)((until - now) / 1000000) + 1;
}

/* ---- sockets */

/* libcurl's: what it waits for at a socket. */
static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *argument, void *unused) {
  gather_remote_client *client = argument;
  struct curl_waitfd *polled = client->polled;
  int32_t i = 0;
  (void)easy, (void)unused;
  while (i < client->polled_count && polled[i].fd != socket) i++;
  if (what == CURL_POLL_REMOVE) {
    if (i < client->polled_count) polled[i] = polled[--client->polled_count];
    return 0;
  }
  if (i == GATHER_REMOTE_MOST_POLLED) return -1;
  if (i == client->polled_count) client->polled_count++;
  polled[i] = (struct curl_waitfd){
      .fd = socket, .events = (short)((what & CURL_POLL_IN ? CURL_WAIT_POLLIN : 0) | (what & CURL_POLL_OUT ? CURL_WAIT_POLLOUT : 0))};
  return 0;
}

/* Lets libcurl work at a socket; at CURL_SOCKET_TIMEOUT: at new transfers, and at what is due. */
static void act(gather_remote_client *client, curl_socket_t socket, int events) {
  int running;
  (void)client->curl->multi_socket_action(client->multi, socket, events, &running);
}

/* Sends what may be sent until nothing ends at once. */
static void send_and_end(gather_remote_client *client) {
  do {
    if (!client->ready.first) {
      (void)pthread_mutex_lock(&client->lock);
      take_new(client);
      (void)pthread_mutex_unlock(&client->lock);
    }
    send_ready(client, gather_clock());
    act(client, CURL_SOCKET_TIMEOUT, 0);
    drop_lost(client);
  } while (read_ends(client) && client->ready.first);
}

/* Libcurl adds and removes sockets meanwhile. One that is passed over for this reason is still ready the next time. */
static void act_on_ready(gather_remote_client *client) {
  bool any = false;
  for (int32_t i = 0; i < client->polled_count;) {
    struct curl_waitfd *polled = &client->polled[i];
    const short events = polled->revents;
    polled->revents = 0;
    if (events == 0) {
      i++;
      continue;
    }
    any = true;
    act(client, polled->fd, (events & CURL_WAIT_POLLIN ? CURL_CSELECT_IN : 0) | (events & CURL_WAIT_POLLOUT ? CURL_CSELECT_OUT : 0));
    drop_lost(client);
    if (read_ends(client)) send_and_end(client);
  }
  /* An error that is neither of the two: libcurl looks at all sockets. */
  for (int32_t i = 0; !any && i < client->polled_count; i++) act(client, client->polled[i].fd, 0);
}

/* Waits for sockets, for a new request, or until something is due. */
static void wait_and_act(gather_remote_client *client, int milliseconds) {
  int ready = 0;
  for (int32_t i = 0; i < client->polled_count; i++) client->polled[i].revents = 0;
  (void)client->curl->multi_poll(client->multi, client->polled, (unsigned)client->polled_count, milliseconds, &ready);
  if (ready > 0) act_on_ready(client);
}

static void *work(void *argument) {
  gather_remote_client *client = argument;
  while (!take_in(client)) {
    send_and_end(client);
    const int64_t now = gather_clock();
    gather_remote_connect_ahead(client, now);
    check_times(client, now);
    (void)pthread_mutex_lock(&client->lock);
    client->depth_now = client->depth.now;
    client->depth_grows = client->depth.doubling;
    client->sleeps_full = client->active_count >= client->depth.now;
    bool more = client->intake.first != NULL && !client->sleeps_full;
    (void)pthread_mutex_unlock(&client->lock);
    bool sendable = client->ready.first && client->active_count < client->depth.now && !client->ready.first->object->renewing;
    if (!more && !sendable) wait_and_act(client, sleep_time(client, now));
  }
  return NULL;
}

/* ---- starting and ending */

static CURLM *make_multi(gather_remote_client *client) {
  const gather_curl *curl = client->curl;
  long connections = client->settings.given.connections;
  CURLM *multi = curl->multi_init();
  if (!multi) return NULL;
  bool set = curl->multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections) == CURLM_OK &&
             curl->multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections) == CURLM_OK &&
             curl->multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket) == CURLM_OK &&
             curl->multi_setopt(multi, CURLMOPT_SOCKETDATA, client) == CURLM_OK &&
             curl->multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING) == CURLM_OK;
  if (set) return multi;
  (void)curl->multi_cleanup(multi);
  return NULL;
}

/* The program's signals must not run on our thread. SIGPIPE is among them: TLS libraries write to connections that are closed. */
gather_status gather_remote_network_start(gather_remote_client *client, gather_error *error) {
  sigset_t all, before;
  if (client->running) return GATHER_OK;
  client->multi = make_multi(client);
  if (!client->multi) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for connections");
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  client->running = pthread_create(&client->thread, NULL, work, client) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (client->running) return GATHER_OK;
  (void)client->curl->multi_cleanup(client->multi);
  client->multi = NULL;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "the system refuses a thread for the network");
}

void gather_remote_network_end(gather_remote_client *client) {
  (void)pthread_mutex_lock(&client->lock);
  bool running = client->running;
  client->ending = true;
  if (running) (void)client->curl->multi_wakeup(client->multi);
  (void)pthread_mutex_unlock(&client->lock);
  if (!running) return;
  (void)pthread_join(client->thread, NULL);
  gather_remote_free_transfers(client);
  (void)client->curl->multi_cleanup(client->multi);
}

#endif
