/* SPDX-License-Identifier: MIT
 *
 * remote_outcome.c: what follows from a transfer that ended: a finished request, another try, another address, or an exact error.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/system/clock.h"
#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

/* ---- ends of requests */

/* Hands a request over to its queue, with its status set. */
static void deliver(gather_remote_client *client, gather_remote_request *request) {
  (void)pthread_mutex_lock(&client->lock);
  gather_remote_list_add(&request->queue->finished, request);
  (void)pthread_cond_signal(&request->queue->changed);
  (void)pthread_mutex_unlock(&client->lock);
}

static void end(gather_remote_request *request, gather_status status) {
  gather_remote_client *client = request->object->client;
  if (request->object->renewing == request) request->object->renewing = NULL;
  for (int i = 0; i < 2; i++)
    if (request->state.transfers[i]) gather_remote_drop(request->state.transfers[i]);
  request->status = status;
  deliver(client, request);
}

void gather_remote_fail(gather_remote_request *request, gather_status status, const char *format, ...) {
  char why[2 * GATHER_ANSWER_WHY], times[48] = "";
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  int64_t byte = request->object->size < 0 ? -1 : request->offset + request->state.arrived;
  if (request->state.tries > 1) (void)snprintf(times, sizeof times, "; tried %d times", (int)request->state.tries);
  (void)gather_fail_file(&request->error, status, request->object->place.name, byte, "%s%s", why, times);
  /* Who has several names, of which one is enough, may go on after a refusal. */
  if (request->state.refused) request->error.system_error = EACCES;
  end(request, status);
}

/* ---- success */

static void measure(gather_remote_transfer *transfer, int64_t now) {
  gather_remote_client *client = transfer->client;
  gather_depth_answered(&client->depth, transfer->got, client->ready.first != NULL, now);
  (void)pthread_mutex_lock(&client->lock);
  gather_remote_measure_answer(&client->measure, transfer->age, transfer->got, now - transfer->asked, now - transfer->request->state.begun);
  (void)pthread_mutex_unlock(&client->lock);
}

/* The place, or where its redirects led, is asked from now on. */
static void adopt_target(gather_remote_transfer *transfer) {
  gather_remote_object *object = transfer->request->object;
  object->redirected = transfer->hops > 0;
  gather_arena_clear(&object->target_arena);
  if (object->redirected) {
    object->target_arena = transfer->arena;
    transfer->arena = (gather_arena){0};
    object->target = transfer->hop;
  } else {
    object->target = object->place.url;
  }
  object->target_limit = transfer->limit;
  object->generation++;
}

static void learn_version(gather_remote_object *object, const gather_remote_transfer *transfer) {
  object->whole = transfer->verdict == GATHER_ANSWER_WHOLE;
  object->size = object->whole ? transfer->got : transfer->verdict == GATHER_ANSWER_EMPTY ? 0 : transfer->answer.size;
  memcpy(object->etag, transfer->answer.etag, sizeof object->etag);
  memcpy(object->last_modified, transfer->answer.last_modified, sizeof object->last_modified);
  memcpy(object->linked_etag, transfer->notes.linked_etag, sizeof object->linked_etag);
}

/* What the hub says about the file that it redirects to must be what is there, and stay so. Returns why not; NULL if it is. */
static const char *hub_differs(const gather_remote_object *object, const gather_remote_transfer *transfer) {
  const gather_remote_notes *notes = &transfer->notes;
  if (!transfer->from_place || transfer->hops == 0) return NULL;
  if (object->size >= 0 && notes->linked_etag[0] && object->linked_etag[0] && strcmp(notes->linked_etag, object->linked_etag) != 0)
    return "the file changed while it was read: the hub reports another ETag";
  const int64_t size = transfer->verdict == GATHER_ANSWER_WHOLE ? transfer->got : transfer->answer.size;
  if (notes->linked_bytes > 0 && size >= 0 && notes->linked_bytes - 1 != size)
    return "the hub and its storage report different sizes of the file";
  return NULL;
}

/* What an answer from the place says about the object. False: it was in vain, and the request has failed. */
static bool learn(gather_remote_transfer *transfer) {
  gather_remote_request *request = transfer->request;
  gather_remote_object *object = request->object;
  gather_error error;
  const char *why = hub_differs(object, transfer);
  if (why) {
    gather_remote_fail(request, GATHER_IO_ERROR, "%s", why);
    return false;
  }
  if (object->size < 0 &&
      gather_remote_place_pin(&transfer->client->settings, &object->arena, &object->place, transfer->notes.commit, &error) != GATHER_OK) {
    gather_remote_fail(request, GATHER_OUT_OF_MEMORY, "%s", error.message);
    return false;
  }
  if (transfer->from_place) adopt_target(transfer);
  if (object->size >= 0) return true;
  learn_version(object, transfer);
  if (object->whole || request->bytes > object->size) request->bytes = object->size; /* an open asks for more */
  return true;
}

static void succeed(gather_remote_transfer *transfer) {
  gather_remote_request *request = transfer->request;
  measure(transfer, gather_clock());
  if (request->state.document)
    request->bytes = transfer->got;
  else if (!learn(transfer))
    return;
  end(request, GATHER_OK);
}

/* ---- another try */

enum { MOST_ASKED = 86400 }; /* seconds; no take waits for longer */

static void count_retry(gather_remote_client *client) {
  (void)pthread_mutex_lock(&client->lock);
  client->counts.retries++;
  (void)pthread_mutex_unlock(&client->lock);
}

/* What arrived of a version that is known by its bytes need not be asked for again. */
static void keep_arrived(gather_remote_transfer *transfer, int64_t now) {
  gather_remote_request *request = transfer->request;
  if (!gather_remote_takes_body(transfer) || transfer->overflow) return;
  if (transfer->got + transfer->discarded - transfer->window_got >= GATHER_REMOTE_LEAST_PROGRESS) request->state.progress = now;
  if (request->object->size >= 0 && gather_tag_is_strong(request->object->etag)) request->state.arrived += transfer->got;
}

/* Tries again later: after `asked` seconds at least, if the server said so. */
static void again(gather_remote_transfer *transfer, bool is_doubtful, int64_t asked, const char *why) {
  gather_remote_request *request = transfer->request;
  gather_remote_client *client = transfer->client;
  const gather_remote_options *options = &client->settings.given;
  int64_t now = gather_clock();
  request->state.tries++;
  request->state.doubts += is_doubtful;
  if (request->state.transfers[!transfer->is_hedge] && !request->state.transfers[!transfer->is_hedge]->lost) {
    gather_remote_drop(transfer); /* the other one may still do it */
    return;
  }
  keep_arrived(transfer, now);
  gather_remote_drop(transfer);
  int64_t wait = gather_backoff_wait(&client->backoff, request->state.tries, asked);
  /* A wait that is longer than the time that is left is shortened, so that a try comes before the end; but not below what the server
   * asked for, since asking earlier is of no use. */
  const int64_t left = request->state.progress + (int64_t)(options->take_seconds * 1e9) - now;
  const int64_t least = asked > 0 ? (asked < MOST_ASKED ? asked : MOST_ASKED) * 1000000000 : 0;
  const int64_t most = left - left / 8 < least ? left : left - left / 8;
  const bool too_late = left < GATHER_REMOTE_LEAST_LEFT || least > left;
  if (wait > most) wait = most;
  if (request->state.tries > options->retries || request->state.doubts > GATHER_REMOTE_MOST_DOUBTS) {
    gather_remote_fail(request, GATHER_IO_ERROR, "%s", why);
  } else if (too_late && asked > 0) {
    gather_remote_fail(request, GATHER_IO_ERROR, "%s; it asks to wait for %" PRId64 " s, and no progress for %g s ends a read", why, asked,
                       options->take_seconds);
  } else if (too_late) {
    gather_remote_fail(request, GATHER_IO_ERROR, "%s; no progress for %g s", why, options->take_seconds);
  } else {
    count_retry(client);
    request->state.not_before = now + wait;
    gather_remote_list_add(&client->waiting, request);
  }
}

/* ---- other addresses */

static void send_now(gather_remote_request *request) {
  request->state.not_before = 0;
  gather_remote_list_add(&request->object->client->waiting, request);
}

/* Sends a request once more, now. */
static void send_again(gather_remote_transfer *transfer) {
  gather_remote_request *request = transfer->request;
  for (int i = 0; i < 2; i++)
    if (request->state.transfers[i]) gather_remote_drop(request->state.transfers[i]);
  send_now(request);
}

/* The address that redirects led to is not served any more: one request asks at the place again; the others wait for it. */
static void renew(gather_remote_transfer *transfer, const char *why) {
  gather_remote_request *request = transfer->request;
  gather_remote_object *object = request->object;
  bool is_old = transfer->generation != object->generation;
  if (!is_old && !object->renewing && request->state.renewed) {
    request->state.tries++;
    gather_remote_fail(request, GATHER_IO_ERROR, "%s, also after its address was renewed", why);
    return;
  }
  if (!is_old && !object->renewing) {
    request->state.renews = request->state.renewed = true;
    request->state.tries++;
    object->renewing = request;
    count_retry(transfer->client);
  }
  send_again(transfer);
}

/* Why nobody asks at an address. */
static const char *why_not_there(gather_remote_reach reach) {
  if (reach == GATHER_REMOTE_CREDENTIALS)
    return "the address is link-local, or one that hands out credentials: only the option any_address (--any-address) "
           "allows it";
  return reach == GATHER_REMOTE_LOOPBACK ? "a redirect from another machine to this one is not followed: only the "
                                           "option any_address (--any-address) allows it"
                                         : "a redirect from outside to a private network is not followed: only the "
                                           "option any_address (--any-address) allows it";
}

/* Why a redirect is not followed; NULL if it is. Of a host that is a name the socket's address decides. */
static const char *why_not(const gather_remote_transfer *transfer, const gather_remote_url *to) {
  gather_remote_reach reach;
  if (transfer->hop.https && !to->https) return "a redirect from https to http is not followed";
  if (gather_remote_reach_named(to->host, &reach) && reach > transfer->limit) return why_not_there(reach);
  return NULL;
}

/* How near the server is that a transfer is connected to; GATHER_REMOTE_PUBLIC if that is not known. */
static gather_remote_reach reach_connected(const gather_remote_transfer *transfer) {
  const char *address = NULL;
  gather_remote_reach reach = GATHER_REMOTE_PUBLIC;
  if (transfer->client->curl->easy_getinfo(transfer->easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK && address)
    (void)gather_remote_reach_named(address, &reach);
  return reach;
}

static void follow(gather_remote_transfer *transfer) {
  gather_remote_request *request = transfer->request;
  gather_remote_client *client = transfer->client;
  gather_remote_url to;
  gather_error error;
  if (++transfer->hops > GATHER_REMOTE_MOST_HOPS) {
    again(transfer, true, -1, "more than 8 redirects in a row");
    return;
  }
  gather_status status = gather_remote_url_resolve(&transfer->arena, &transfer->hop, transfer->answer.location.text, &to, &error);
  if (status != GATHER_OK) {
    gather_remote_fail(request, status == GATHER_OUT_OF_MEMORY ? status : GATHER_IO_ERROR, "a redirect leads nowhere: %s", error.message);
    return;
  }
  const gather_remote_reach here = reach_connected(transfer);
  if (here < transfer->farthest) transfer->farthest = here;
  if (!client->settings.given.any_address) transfer->limit = transfer->farthest;
  const char *why = why_not(transfer, &to);
  if (why) {
    gather_remote_fail(request, GATHER_IO_ERROR, "%s", why);
    return;
  }
  transfer->hop = to;
  (void)client->curl->multi_remove_handle(client->multi, transfer->easy);
  transfer->is_added = false;
  status = gather_remote_send_hop(transfer, &error);
  if (status != GATHER_OK) gather_remote_fail(request, status, "%s", error.message);
}

/* ---- transfers without an answer */

static void unanswered(gather_remote_transfer *transfer, CURLcode code) {
  char why[GATHER_ANSWER_WHY];
  /* The protocol of the URL is one that is spoken: this is said of an answer without a status. */
  const char *text = code == CURLE_UNSUPPORTED_PROTOCOL ? "the answer is not one of HTTP/1" : transfer->client->curl->easy_strerror(code);
  bool is_open = transfer->request->object->size < 0;
  switch (code) {
    case CURLE_OUT_OF_MEMORY: /* it says so of a line above 100 KB, too */
      again(transfer, true, -1, "out of memory for the answer, or one of its headers is longer than 100 KB");
      return;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      for (char *c = transfer->problem; *c; c++)
        if ((unsigned char)*c < 0x20) *c = ' ';
      gather_remote_fail(transfer->request, GATHER_IO_ERROR, "%s", transfer->problem[0] ? transfer->problem : text);
      return;
    case CURLE_COULDNT_CONNECT:
    case CURLE_ABORTED_BY_CALLBACK:
      if (transfer->refused_address) {
        gather_remote_fail(transfer->request, GATHER_IO_ERROR, "%s", why_not_there(transfer->refused));
        return;
      }
      if (transfer->no_descriptor) {
        again(transfer, is_open, -1, "this process may open no more files: raise the limit (ulimit -n), or use fewer connections");
        return;
      }
      break;
    default:
      break;
  }
  bool is_doubtful = (is_open && (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST)) ||
                     code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_SSL_CONNECT_ERROR;
  (void)snprintf(why, sizeof why, "%s", code == CURLE_OK ? "the server closed the connection without an answer" : text);
  again(transfer, is_doubtful, -1, why);
}

/* ---- transfers with one */

/* Whether an answer to a range has all that is left of it. */
static bool is_all(const gather_remote_transfer *transfer) {
  const gather_remote_request *request = transfer->request;
  const int64_t size = request->object->size < 0 ? transfer->answer.size : request->object->size;
  const int64_t end = request->offset + request->bytes;
  return transfer->first + transfer->got >= (end < size ? end : size);
}

/* A server may send less than it was asked for (RFC 9110, 15.3.7), however little: that is no failed try. But answers of a few bytes have
 * to add up to progress in time, so that no server can keep a client busy for ever. */
static void ask_for_rest(gather_remote_transfer *transfer) {
  gather_remote_request *request = transfer->request;
  const gather_remote_options *options = &transfer->client->settings.given;
  if (!learn(transfer)) return;
  if (request->object->renewing == request) request->object->renewing = NULL;
  request->state.renews = false;
  request->state.arrived += transfer->got;
  request->state.news += transfer->got;
  const int64_t now = gather_clock();
  if (request->state.news >= GATHER_REMOTE_LEAST_PROGRESS) {
    request->state.progress = now;
    request->state.news = 0;
  }
  if (now - request->state.progress > (int64_t)(options->take_seconds * 1e9))
    gather_remote_fail(request, GATHER_IO_ERROR, "the server sends only %" PRId64 " bytes of a range at a time; no progress for %g s",
                       transfer->got, options->take_seconds);
  else
    send_again(transfer);
}

/* The open asks once more: for less, or without a range. */
static void ask_otherwise(gather_remote_transfer *transfer) {
  gather_remote_request *request = transfer->request;
  if (transfer->verdict == GATHER_ANSWER_UNTAILED)
    request->state.tail = false, request->offset = 0;
  else if (transfer->verdict == GATHER_ANSWER_SMALLER)
    request->bytes = transfer->answer.size;
  else
    request->state.unranged = true;
  send_again(transfer);
}

static void accepted(gather_remote_transfer *transfer, CURLcode code) {
  char why[GATHER_ANSWER_WHY];
  bool document = transfer->request->state.document, unknown = transfer->wanted < 0;
  if (transfer->no_memory) {
    gather_remote_fail(transfer->request, GATHER_OUT_OF_MEMORY, "out of memory for the whole file");
  } else if (transfer->overflow && unknown) {
    gather_remote_fail(transfer->request, GATHER_IO_ERROR,
                       "the server does not serve ranges, and the whole file has more than the %" PRId64
                       " bytes that the option whole (--whole) allows",
                       transfer->client->settings.given.whole_bytes);
  } else if (transfer->overflow && document) {
    gather_remote_fail(transfer->request, GATHER_IO_ERROR, "the document has more than the %" PRId64 " bytes that are read",
                       transfer->wanted);
  } else if (transfer->overflow) {
    again(transfer, true, -1, "the server sent more bytes than it announced");
  } else if (document || unknown ? code == CURLE_OK : transfer->got == transfer->wanted) {
    if (document || transfer->verdict == GATHER_ANSWER_WHOLE || is_all(transfer))
      succeed(transfer);
    else
      ask_for_rest(transfer);
  } else if (unknown) {
    again(transfer, false, -1, transfer->client->curl->easy_strerror(code));
  } else {
    (void)snprintf(why, sizeof why, "the answer ended after %" PRId64 " of %" PRId64 " bytes (%s)", transfer->got, transfer->wanted,
                   code == CURLE_OK ? "without an error" : transfer->client->curl->easy_strerror(code));
    again(transfer, false, -1, why);
  }
}

/* ---- why S3 and the hub refuse a request, from the headers and the body of their answers */

/* What such a refusal means, in the place of a sentence about its status. Returns what gather_remote_origin_refusal does. */
static int explain(gather_remote_transfer *transfer, char why[GATHER_ANSWER_WHY]) {
  const gather_remote_place *place = &transfer->request->object->place;
  gather_growing words = {0};
  int status = transfer->answer.status;
  if (status < 300 || !gather_remote_asks_place(transfer)) return -1;
  if (transfer->verdict == GATHER_ANSWER_CHANGED || transfer->answer.broken) return -1;
  const int again = gather_remote_origin_refusal(place->origin, &transfer->client->settings.given, status, &transfer->notes,
                                                 transfer->refusal.text ? transfer->refusal.text : "", transfer->refusal.bytes,
                                                 (int64_t)time(NULL), &words);
  if (words.bytes > 0 && !words.failed) (void)snprintf(why, GATHER_ANSWER_WHY, "status %d: %s", status, words.text);
  gather_growing_clear(&words);
  return again;
}

/* A refusal that may pass by its status. says_again: as gather_remote_origin_refusal returns it: S3 refuses with 400 what may pass, and
 * with 503 what does not. */
static void refused_for_now(gather_remote_transfer *transfer, int says_again, const char *why) {
  if (says_again == 0)
    gather_remote_fail(transfer->request, GATHER_IO_ERROR, "%s", why);
  else
    again(transfer, false, gather_answer_wait(&transfer->answer), why);
}

void gather_remote_ended(gather_remote_transfer *transfer, CURLcode code) {
  gather_remote_request *request = transfer->request;
  char why[GATHER_ANSWER_WHY];
  if (!transfer->answer.complete && !transfer->answer.broken) {
    unanswered(transfer, code);
    return;
  }
  (void)snprintf(why, sizeof why, "%s", transfer->why);
  request->state.refused = transfer->answer.status == 401 || transfer->answer.status == 403;
  const int says_again = explain(transfer, why);
  bool is_open = request->object->size < 0 || request->state.document;
  switch (transfer->verdict) {
    case GATHER_ANSWER_ACCEPTED:
    case GATHER_ANSWER_WHOLE:
      accepted(transfer, code);
      return;
    case GATHER_ANSWER_EMPTY:
      succeed(transfer);
      return;
    case GATHER_ANSWER_SMALLER:
    case GATHER_ANSWER_UNRANGED:
    case GATHER_ANSWER_UNTAILED:
      ask_otherwise(transfer);
      return;
    case GATHER_ANSWER_REDIRECT:
      /* A signature is for one host, and S3 redirects to other regions. */
      if (request->object->place.origin && request->object->place.origin->scheme == GATHER_REMOTE_S3)
        gather_remote_fail(request, GATHER_IO_ERROR, "%s", why[0] ? why : "the server redirects, which S3 does not");
      else if (transfer->from_place)
        follow(transfer);
      else
        renew(transfer, "the server redirects");
      return;
    case GATHER_ANSWER_DENIED:
      if (says_again == 1)
        again(transfer, false, -1, why);
      else if (!is_open && !transfer->from_place && request->object->redirected)
        renew(transfer, why);
      else
        gather_remote_fail(request, GATHER_IO_ERROR, "%s", why);
      return;
    case GATHER_ANSWER_BUSY:
      gather_depth_refused(&transfer->client->depth, transfer->sent, gather_clock());
      refused_for_now(transfer, says_again, why);
      return;
    case GATHER_ANSWER_AGAIN:
      refused_for_now(transfer, says_again, why);
      return;
    case GATHER_ANSWER_DOUBTFUL:
      again(transfer, true, -1, why);
      return;
    case GATHER_ANSWER_MISSING:
      gather_remote_fail(request, GATHER_FILE_NOT_FOUND, "%s", why);
      return;
    case GATHER_ANSWER_CHANGED:
    case GATHER_ANSWER_REFUSED:
      gather_remote_fail(request, GATHER_IO_ERROR, "%s", why);
      return;
  }
}

void gather_remote_expired(gather_remote_transfer *transfer, int64_t now) {
  char why[GATHER_ANSWER_WHY];
  double seconds = (double)(now - transfer->window_began) * 1e-9;
  int64_t news = transfer->got + transfer->discarded - transfer->window_got;
  if (!transfer->answer.complete) {
    (void)snprintf(why, sizeof why, "no answer in %.3g s", seconds);
    again(transfer, false, -1, why);
  } else if (!gather_remote_takes_body(transfer)) {
    gather_remote_ended(transfer, CURLE_OPERATION_TIMEDOUT); /* only its reasons are slow */
  } else if (news >= GATHER_REMOTE_LEAST_PROGRESS) {
    transfer->window_began = transfer->request->state.progress = now;
    transfer->window_got = transfer->got + transfer->discarded;
  } else {
    (void)snprintf(why, sizeof why, "only %" PRId64 " bytes in %.3g s", news, seconds);
    again(transfer, false, -1, why);
  }
}

#endif
